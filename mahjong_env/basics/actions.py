"""The one table of actions, the same for every variant; an action's number is its place in the table.

The numbers never change within ``v0``, so that policies carry over between variants. Nothing here decides what is
legal.
"""

from __future__ import annotations

from typing import Final

from mahjong_env.basics.errors import NotationError, did_you_mean
from mahjong_env.basics.tiles import KIND_NAMES, NUM_KINDS

_HAND_KINDS = KIND_NAMES[:NUM_KINDS]

DISCARD: Final = 0
CONCEALED_KONG: Final = DISCARD + NUM_KINDS
ADDED_KONG: Final = CONCEALED_KONG + NUM_KINDS
CHOW_LOW: Final = ADDED_KONG + NUM_KINDS
PUNG: Final = CHOW_LOW + 3
KONG: Final = CHOW_LOW + 4
WIN: Final = CHOW_LOW + 5
PASS: Final = CHOW_LOW + 6
NUM_ACTIONS: Final = CHOW_LOW + 7

ACTIONS: Final[tuple[str, ...]] = (
    *(f"discard {kind}" for kind in _HAND_KINDS),
    *(f"concealed kong {kind}" for kind in _HAND_KINDS),
    *(f"added kong {kind}" for kind in _HAND_KINDS),
    *("chow low", "chow middle", "chow high", "pung", "kong", "win", "pass"),
)
"""The 109 names. ``chow low`` claims the tile that stands lowest in the run, and so on."""

CHOW_STEPS: Final = ((1, 2), (-1, 1), (-2, -1))
"""The two tiles of the hand that "chow low", "chow middle" and "chow high" use, as steps from the claimed one."""

_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}


def action(name: str) -> int:
    """The number, 0 to 108, of one of `ACTIONS`, such as ``"discard 5m"``.

    Raises:
        NotationError: there is no such action.
    """
    number = _NUMBERS.get(" ".join(str(name).lower().split()))
    if number is None:
        raise NotationError(
            f"no action is called {name!r}; valid are 'discard 1m' to 'discard 7z', 'concealed kong <tile>', "
            "'added kong <tile>', 'chow low', 'chow middle', 'chow high', 'pung', 'kong', 'win', 'pass'"
            f"{did_you_mean(name, ACTIONS)}"
        )
    return number
