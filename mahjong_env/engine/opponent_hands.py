"""Opponents' hands in determinizations (`View.worlds`): as near to a win as such hands usually are by then.

If unseen tiles are dealt at random, the hands are as far from a win as right after the deal, however late it is.
`OpponentHands` holds a prior of their distances. `bring_nearer` exchanges tiles of hidden hands with tiles of the wall,
one that can be spared for one that helps, until each hand is as near as the prior has drawn. The prior that is shipped,
counted from played hands, is `mahjong_agents.search.opponent_hands`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import ViewError
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games
from mahjong_env.hands.codes import encode, split_wilds
from mahjong_env.hands.distance import Cheapest, cheapest_hands, kinds_that_help, kinds_to_spare
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import State

_MOST_EXCHANGES: Final = 9


@dataclass(frozen=True)
class OpponentHands:
    """A prior of how far opponents' hands are from a win.

    Attributes:
        chances: [T, M, D] float64, the probability that a hand lacks D tiles of sets and a pair after T discards of
            its seat and with M melds. Later turns are treated like the last one; the last axis sums to 1.
    """

    chances: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check that the chances are probabilities."""
        chances = self.chances
        is_array = isinstance(chances, np.ndarray) and chances.ndim == 3 and chances.dtype.kind in "fiu"
        if not is_array or not chances.size or not np.isfinite(chances).all() or (chances < 0).any():
            raise ViewError("chances of opponent_hands are an array [turns, melds, distances] of numbers from 0 to 1")
        if not np.allclose(chances.sum(axis=2), 1):
            raise ViewError("chances of opponent_hands sum to 1 over the distances")

    def draw(self, turns: NDArray[Any], melds: NDArray[Any], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw [n] distances for hands after [n] turns and with [n] melds."""
        last_turn, last_meld = self.chances.shape[0] - 1, self.chances.shape[1] - 1
        upto = self.chances[np.minimum(turns, last_turn), np.minimum(melds, last_meld)].cumsum(axis=1)
        drawn: NDArray[np.intp] = (upto[:, :-1] <= rng.random(len(turns))[:, None]).sum(axis=1)
        return drawn


def bring_nearer(
    state: State, rules: Rules, games: Games, kept: BoolArray, opponent_hands: OpponentHands, rng: np.random.Generator
) -> None:
    """Exchange tiles of hands with the wall, in place, until the hands are as near to a win as drawn.

    The caller has to update the codes of the hands.

    Args:
        state: the games, whose hidden tiles have already been drawn anew.
        rules: the rules played.
        games: [n] games.
        kept: [n, S] hands that stay as they are.
        opponent_hands: the prior of the distances of the other hands.
        rng: the source of randomness.
    """
    for seat in range(state.num_seats):
        row = np.flatnonzero(~kept[:, seat])
        game = games[row]
        target = opponent_hands.draw(state.river_size[game, seat], state.num_melds[game, seat], rng)
        _exchange(state, rules, game, seat, target, rng)


def distances_of_hands(state: State, rules: Rules, games: Games, seats: Games) -> NDArray[np.int8]:
    """Return [n] the number of tiles of sets and a pair that hands lack."""
    short, wilds = _nearest(state, rules, games, seats)
    return np.maximum(short.short - wilds, np.int8(0))


def _nearest(state: State, rules: Rules, games: Games, seats: Any) -> tuple[Cheapest, NDArray[np.int8]]:
    """Return the cheapest hands [n], and the wild tiles [n] that they do not count."""
    sets = np.maximum(rules.sets - state.num_melds[games, seats].astype(np.intp), 0)
    natural, wilds = split_wilds(state.hand[games, seats], state.wild[games])
    return cheapest_hands(encode(natural).T, sets), wilds


def _exchange(
    state: State, rules: Rules, game: Games, seat: int, target: NDArray[np.intp], rng: np.random.Generator
) -> None:
    """Exchange a tile at a time, until hands are no farther than their targets or nothing in the wall helps."""
    for _ in range(_MOST_EXCHANGES):
        hands, wilds = _nearest(state, rules, game, seat)
        far = np.flatnonzero(hands.short - wilds > target)
        game, target = game[far], target[far]
        wall = state.wall[game]
        length, is_left = wall.shape[1], state.undrawn(game)
        helps, spare = (unpack(kinds[far]) for kinds in (kinds_that_help(hands), kinds_to_spare(hands)))
        is_wanted = is_left & (wall < NUM_KINDS) & np.take_along_axis(helps, np.clip(wall, 0, NUM_KINDS - 1), axis=1)
        spares = spare * state.hand[game, seat]
        is_wild = np.flatnonzero(state.wild[game] >= 0)
        spares[is_wild, state.wild[game[is_wild]]] = 0
        possible = np.flatnonzero(is_wanted.any(axis=1) & (spares > 0).any(axis=1))
        if not possible.size:
            return
        game, target, every = game[possible], target[possible], np.arange(len(possible))
        taken = (is_wanted[possible] * rng.random((len(possible), length))).argmax(axis=1)
        given = (spares[possible] * rng.random((len(possible), NUM_KINDS))).argmax(axis=1)
        state.hand[game, seat, given] -= 1
        state.hand[game, seat, wall[possible[every], taken]] += 1
        state.wall[game, taken] = given
