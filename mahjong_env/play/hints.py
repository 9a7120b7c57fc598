"""Hints for a person: how far from a win each action leaves the hand, what would help then, what a win is worth now.

All of it follows from what the person sees: the hand, the tiles not seen yet, and for a win the rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import ACTIONS, CHOW_LOW, CONCEALED_KONG, PUNG, WIN
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import hand_info
from mahjong_env.environments.agents import Opponent, agent_name, ask_alone
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shanten import Hands
from mahjong_env.observation.acceptance import concealed, hands_after, kinds_wanted, tiles_after
from mahjong_env.observation.view import View
from mahjong_env.ruleset.shapes import shanten


@dataclass(frozen=True)
class Prospect:
    """The hand after an action.

    Attributes:
        action: its name.
        distance: tiles that the hand lacks after it (after a chow or pung: after the best discard that follows).
        helps: (kind, unseen tiles of it) for the kinds whose draw would lower the distance.
        then: the name of that discard, empty where none follows.
    """

    action: str
    distance: int
    helps: tuple[tuple[int, int], ...]
    then: str = ""

    @property
    def tiles(self) -> int:
        """The number of tiles that would help: the acceptance."""
        return sum(count for _, count in self.helps)


def prospects(view: View) -> list[Prospect]:
    """Return the prospects of all legal actions but a win, the best first; ``view`` of one person who is to act.

    Best is the least distance, then the most tiles that help. What a hand is worth, and whether its shape may be won
    in every way, is not asked.
    """
    legal = np.flatnonzero(view.action_mask[0])
    discards, others = legal[legal < CONCEALED_KONG], legal[(legal >= CONCEALED_KONG) & (legal != WIN)]
    found = _after_discards(view, concealed(view, discards * 0), discards)
    for number, action in enumerate(others):
        hand = hands_after(view, others * 0, others).take(np.array([number]))
        if CHOW_LOW <= action <= PUNG:
            held = np.flatnonzero(tiles_after(view, others[[number]] * 0, others[[number]])[0])
            best = min(_after_discards(view, hand.take(held * 0), held), key=_rank)
            found.append(Prospect(ACTIONS[action], best.distance, best.helps, best.action))
        else:
            found += _prospects(view, hand, [action])
    return sorted(found, key=_rank)


def _rank(prospect: Prospect) -> tuple[int, int]:
    return prospect.distance, -prospect.tiles


def _after_discards(view: View, hands: Hands, kinds: NDArray[np.intp]) -> list[Prospect]:
    """Return the prospects of [m] hands that discard one tile each, of kinds [m]."""
    return _prospects(view, hands.without(kinds, kinds == view.wild[0]), kinds)


def _prospects(view: View, hands: Hands, actions: Iterable[int]) -> list[Prospect]:
    """Return the prospects of the hands [m] that actions [m] leave."""
    found = shanten(hands, view.rules)
    wild = np.repeat(view.wild, len(hands.sets)) if view.rules.has_wild else None
    wanted = unpack(kinds_wanted(found, found.distance, wild, view.rules)) & (view.unseen > 0)
    return [
        Prospect(
            ACTIONS[action],
            int(distance),
            tuple((int(kind), int(view.unseen[0, kind])) for kind in np.flatnonzero(kinds)),
        )
        for action, distance, kinds in zip(actions, found.distance, wanted, strict=True)
    ]


def win_now(engine: Engine) -> dict[str, Any] | None:
    """Return the worth of the win that may be declared now, as `hand_info` and its ``receipt``; None if none may.

    None also where tiles are turned up after a win because they change what it pays: nobody knows them yet.
    """
    if not engine.action_mask[0, WIN] or engine.rules.turned_up_after_win:
        return None
    # In a world of this person's own: what he has not seen is drawn anew, so that nothing hidden can be told.
    world = engine.view().worlds(1, np.random.default_rng(0))
    result = world.step([WIN])
    outcome = result.outcome
    return hand_info(outcome, 0) | {"receipt": outcome.receipts[0]} if result.hand_over[0] else None


def advice(agent: Opponent, engine: Engine) -> tuple[str, str]:
    """Return the name of an agent, and of the action that it would choose for the seat to act.

    Chance comes from a generator of its own: whether a hint was asked for changes nothing in the game.
    """
    return agent_name(agent), ACTIONS[ask_alone(agent, engine, np.random.default_rng(0))]
