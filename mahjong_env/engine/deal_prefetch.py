"""Matches that are dealt ahead, many at once: dealing one game costs nearly as much as dealing fifty.

A first hand is a function of the seed, the game and the number of the hand (basics/chance.py), so it does not matter
when it is dealt. The later hands of a match depend on those before them, so they are dealt when they begin. In large
batches enough hands end in every step, and dealing ahead would cost memory for little gain.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.arguments import axes_of
from mahjong_env.engine.phases import deal
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.state.arrays import State

MOST_GAMES: Final = 1024
"""The largest batch that deals ahead."""
_AT_ONCE: Final = 32
"""Small batches deal about this many matches ahead, over all of their games."""


class DealPrefetch:
    """The next matches of the games of a batch, as far as they have been dealt."""

    def __init__(self, context: StepContext, *, at_random: bool) -> None:
        """Start with no match dealt.

        Args:
            context: the batch.
            at_random: how matches begin; see `Rules.begin_match`.
        """
        self._state, self._at_random = context.state, at_random
        number = len(self._state.seed)
        self._all_games, self._depth = np.arange(number), max(1, _AT_ONCE // number)
        dealt = State.allocate(axes_of(context.rules, number * self._depth))
        self._dealt = StepContext(dealt, context.rules, context.several_hands)
        self._packed: Int8Array | None = None

    def begin(self, games: Games) -> None:
        """Begin the next matches of these games."""
        if not self._are_dealt(games).all():
            self._deal(self._all_games[~self._are_dealt(self._all_games)])
        if self._packed is None:
            self._state.copy_games(games, self._dealt.state, self._rows(games))
        else:
            self._state.unpack(self._packed[self._rows(games)[0]])

    def _rows(self, games: Games) -> Games:
        """[n] where the next matches of games stand among those dealt."""
        return games * self._depth + self._state.hands_dealt[games] % self._depth

    def _are_dealt(self, games: Games) -> BoolArray:
        """[n] whether the next matches of games have been dealt."""
        state, dealt, rows = self._state, self._dealt.state, self._rows(games)
        is_next: BoolArray = dealt.hands_dealt[rows] == state.hands_dealt[games] + 1
        return is_next & (dealt.seed[rows] == state.seed[games]) & (dealt.stream[rows] == state.stream[games])

    def _deal(self, games: Games) -> None:
        """Deal the next matches of these games, all that there is room for."""
        state, dealt = self._state, self._dealt.state
        hand = state.hands_dealt[games][:, None] + np.arange(self._depth)
        rows = (games[:, None] * self._depth + hand % self._depth).reshape(-1)
        dealt.seed[rows] = state.seed[games].repeat(self._depth)
        dealt.stream[rows] = state.stream[games].repeat(self._depth)
        dealt.hands_dealt[rows] = hand.reshape(-1)
        deal.begin_matches(self._dealt, rows, at_random=self._at_random)
        deal.deal_hands(self._dealt, rows)
        if len(self._all_games) == 1:
            self._packed = dealt.packed()
