"""A cache of observations: what stays the same in the course of a hand is kept, so that only the rest is written.

For every seat its observation is kept as far as it stays the same until a hand is dealt, somebody is paid or a kong is
declared (`Piece.stays`, `Fact.stays`). Looking is then one copy, into which the rest is written. That pays for few
games, where every numpy call counts; many games take more memory than processors keep at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from mahjong_env.basics.types import Int8Array
from mahjong_env.observation.planes import LAYOUT, SHAPE
from mahjong_env.observation.visibility import VisibleState
from mahjong_env.state.arrays import State

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules

FEW_GAMES: Final = 8
"""The largest batch whose observations are kept."""


class ObservationCache:
    """The observations of all seats of a batch, as far as they stay."""

    def __init__(self, state: State, rules: Rules, num_hands: int) -> None:
        """Keep nothing yet; ``num_hands`` are the hands of a match."""
        self._state, self._rules, self._num_hands = state, rules, num_hands
        games, seats = state.person_at.shape
        self._seats = np.arange(seats)
        self._kept: Int8Array = np.zeros((games * seats, *SHAPE), np.int8)  # [B * S, C, 34]
        state.note_change(slice(None))

    def observe(self, seen: VisibleState, out: Int8Array | None = None) -> Int8Array:
        """[n, C, 34] int8 what seats see all of which are asked: ``out``, or a fresh array."""
        if np.count_nonzero(self._state.has_changed):
            self._catch_up()
        written: Int8Array = self._kept.take(seen.own.index, axis=0, out=out, mode="clip")
        LAYOUT.renew(seen, written)
        return written

    def _catch_up(self) -> None:
        """Write the games again in which something has changed that usually stays."""
        changed = self._state.has_changed.nonzero()[0]
        self._state.has_changed[changed] = False
        games, seat = changed.repeat(len(self._seats)), np.tile(self._seats, len(changed))
        seen = VisibleState(self._state, self._rules, games, seat, np.ones(len(games), np.bool_), self._num_hands)
        written = np.zeros((len(games), *SHAPE), np.int8)
        LAYOUT.write_what_stays(seen, written)
        self._kept[seen.own.index] = written
