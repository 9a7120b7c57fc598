"""What a drawn tile may be good for, as surprises: numbers with mean zero over the tiles that may be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import Engine
from mahjong_env.hands.codes import NUM_KINDS
from mahjong_env.hands.kind_sets import (
    ALL_KINDS,
    BIT_OF_KIND,
    CountPlanes,
    KindSets,
    count_planes,
    count_tiles,
    members,
    pack,
)
from mahjong_env.scoring.wins import Source, wins_from_state

FAR: Final = 5
"""Hands this many tiles or more from a win count alike."""
PARTS: Final = 3
"""Parts of a hand, by the tiles that can still be drawn."""
_HONOURS: Final = ALL_KINDS ^ np.uint64(2**27 - 1)
_MANY_PAIRS: Final = 4
_NO_KIND: Final = np.uint64(0)

# Surprises at which the drawer gains what the others lose in equal shares, with the number of each: one for each
# distance from a win (FAR), for each part of the hand (PARTS), or for each of both.
_OWN: Final = {
    "nearer": FAR * PARTS,
    "nearer, tiles that help": FAR,
    "nearer, dealer": FAR,
    "nearer, no melds": FAR,
    "nearer, wild tiles": FAR,
    "nearer, others wait": FAR,
    "nearer, one suit": FAR,
    "nearer, pairs": FAR,
    "nearer, melds": FAR,
    "wild tile": FAR,
    "wild tile, others held": 1,
    "fourth tile": PARTS,
    "fourth tile of a pung": 1,
    "third tile": FAR,
    "second tile": 1,
    "honour": 1,
}
# At the cost of some of the others rather than of the rest.
_COST: Final = {"nearer, cost of who waits": FAR, "nearer, cost of the dealer": FAR}
# Another seat could use the tile.
_WANTED: Final = {"wanted by the next": FAR - 1, "wanted by another": FAR - 1}
_RISK: Final = {"risk": 2, "lost": 2}
# What the variant pays for the wins that the tile makes possible: of the drawer, of others who wait for a tile that the
# drawer cannot use, and of others who wait for one that it can.
_PAY: Final = {"own win": PARTS, "win with a useless tile": PARTS, "win with a useful tile": PARTS}
FEATURES: Final = tuple(
    f"{name} {number}"
    for part in (_OWN, _COST, _WANTED, _RISK, _PAY)
    for name, size in part.items()
    for number in range(size)
)


@dataclass(frozen=True)
class Draws:
    """Draws of one tile in each of n games.

    Attributes:
        engine: the games, after the draw.
        games: [n] their numbers.
        seat: [n] who drew.
        kind: [n] what.
        hand: [n, 34] the drawer's concealed tiles before.
        wall: [n, 34] the tiles that might have been drawn, flowers left out.
        left: [n] share of the drawable tiles that is left.
        helps: [n, S] the kinds that bring each hand nearer to a win, the drawer's as it was before.
        distance: [n, S] how far each hand is from a win.
    """

    engine: Engine
    games: NDArray[np.intp]
    seat: NDArray[np.intp]
    kind: NDArray[np.intp]
    hand: NDArray[np.int8]
    wall: NDArray[np.int8]
    left: NDArray[np.float64]
    helps: KindSets
    distance: NDArray[np.int8]

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """[n] 0, 1, 2, ..."""
        return np.arange(len(self.games))

    @cached_property
    def chance(self) -> NDArray[np.float64]:
        """[n, 34] the chance of each kind."""
        return self.wall / self.wall.sum(axis=1)[:, None]

    def surprise(self, kinds: KindSets) -> NDArray[np.float64]:
        """Return [n] whether the tile was one of these kinds [n], less the chance of that."""
        drawn: NDArray[np.bool_] = kinds & BIT_OF_KIND[self.kind] != _NO_KIND
        return drawn - count_tiles(kinds, self._planes) / self._total

    def tiles(self, kinds: KindSets) -> NDArray[np.float64]:
        """Return [n] the share of these kinds [n] among the tiles that might have been drawn."""
        return np.asarray(count_tiles(kinds, self._planes) / self._total)

    @cached_property
    def _planes(self) -> CountPlanes:
        return count_planes(self.wall)

    @cached_property
    def _total(self) -> NDArray[np.float64]:
        return self.wall.sum(axis=1).astype(np.float64)

    @cached_property
    def far(self) -> NDArray[np.intp]:
        """[n] how far the drawer was, from 0 for one tile on."""
        return np.clip(self.distance[self.rows, self.seat], 1, FAR).astype(np.intp) - 1

    @cached_property
    def part(self) -> NDArray[np.intp]:
        """[n] the part of the hand."""
        return np.clip((PARTS * (1 - self.left)).astype(np.intp), 0, PARTS - 1)

    @cached_property
    def waits(self) -> NDArray[np.bool_]:
        """[n, S] who is one tile from a win, the drawer left out."""
        waits = self.distance <= 1
        waits[self.rows, self.seat] = False
        return waits


def surprises(draws: Draws) -> NDArray[np.float64]:
    """Return [n, S, F] for every draw and seat the surprises named by `FEATURES`; over the seats they sum to zero."""
    own = np.concatenate(list(_own(draws)), axis=1)
    parts = [_gain(draws, draws.seat)[:, :, None] * own[:, None], _cost(draws), *_others(draws), _payments(draws)]
    return np.concatenate(parts, axis=2)


def _gain(draws: Draws, seat: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return [n, S] 1 for a seat [n], and what the others pay for it in equal shares."""
    seats = draws.helps.shape[1]
    gain = np.full((len(seat), seats), -1 / (seats - 1))
    gain[draws.rows, seat] = 1
    return gain


def _column(draws: Draws, size: int, number: NDArray[np.intp], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return [n, size] a value [n] in the column of its number [n], 0 elsewhere."""
    block = np.zeros((len(draws.rows), size))
    block[draws.rows, number] = value
    return block


def _own(draws: Draws) -> Iterator[NDArray[np.float64]]:
    """Yield [n, size] what the tile does for the drawer, in the order of `_OWN`."""
    state, rows, games, hand = draws.engine.state, draws.rows, draws.games, draws.hand
    helps = draws.helps[rows, draws.seat]
    nearer = draws.surprise(helps)
    wild = state.wild[games].astype(np.intp)
    has_wild = wild >= 0
    held = np.where(has_wild, hand[rows, wild], 0)
    natural = hand * (np.arange(NUM_KINDS) != wild[:, None])
    melds = state.num_melds[games, draws.seat]
    suits = natural[:, :27].reshape(-1, 3, 9).sum(axis=2)
    is_one_suit = suits.max(axis=1) >= suits.sum(axis=1) - 1
    has_pairs = (natural // 2).sum(axis=1) >= _MANY_PAIRS
    yield _column(draws, FAR * PARTS, draws.far * PARTS + draws.part, nearer)
    by_far = (
        10 * draws.tiles(helps),
        state.dealer[games] == draws.seat,
        melds == 0,
        held,
        draws.waits.sum(axis=1),
        is_one_suit,
        has_pairs,
        melds,
    )
    for factor in by_far:
        yield _column(draws, FAR, draws.far, nearer * factor)
    wild_tile = draws.surprise(np.where(has_wild, BIT_OF_KIND[wild], _NO_KIND))
    yield _column(draws, FAR, draws.far, wild_tile)
    yield (wild_tile * held)[:, None]
    yield _column(draws, PARTS, draws.part, draws.surprise(pack(hand == 3)))
    yield draws.surprise(pack(state.open_pung[games, draws.seat]))[:, None]
    yield _column(draws, FAR, draws.far, draws.surprise(pack(hand == 2)))
    yield draws.surprise(pack(hand == 1))[:, None]
    yield draws.surprise(np.full(len(rows), _HONOURS))[:, None]


def _cost(draws: Draws) -> NDArray[np.float64]:
    """Return [n, S, 2 FAR] who of the others loses more, and who less, if the drawer comes nearer."""
    rows, seats = draws.rows, draws.helps.shape[1]
    nearer = draws.surprise(draws.helps[rows, draws.seat])
    cost = np.zeros((len(rows), seats, 2 * FAR))
    is_dealer = np.arange(seats) == draws.engine.state.dealer[draws.games][:, None]
    is_dealer[rows, draws.seat] = False
    for first, who in ((0, draws.waits), (FAR, is_dealer)):
        more = who - who.sum(axis=1, keepdims=True) / (seats - 1)
        more[rows, draws.seat] = 0
        cost[rows, :, first + draws.far] = -more * nearer[:, None]
    return cost


def _others(draws: Draws) -> Iterator[NDArray[np.float64]]:
    """Yield [n, S, size] what the tile does for others who could use it, in the order of `_WANTED` and `_RISK`."""
    rows, seats = draws.rows, draws.helps.shape[1]
    helps = draws.helps[rows, draws.seat]
    wanted = np.zeros((len(rows), seats, 2 * (FAR - 1)))
    risk = np.zeros((len(rows), seats, 4))
    for ahead in range(1, seats):
        seat = (draws.seat + ahead) % seats
        waits, wants = draws.waits[rows, seat], draws.helps[rows, seat]
        useless, useful = draws.surprise(wants & ~helps), draws.surprise(wants & helps)
        gain = _gain(draws, seat)
        far = np.clip(draws.distance[rows, seat], 2, FAR) - 2 + (0 if ahead == 1 else FAR - 1)
        wanted += gain[:, :, None] * _column(draws, wanted.shape[2], far, useless * ~waits)[:, None]
        given = np.zeros_like(gain)
        given[rows, seat], given[rows, draws.seat] = 1, -1
        surprise = np.stack([useless * waits, useful * waits], axis=1)[:, None]
        risk += np.concatenate([given[:, :, None] * surprise, gain[:, :, None] * surprise], axis=2)
    yield wanted
    yield risk


def _payments(draws: Draws) -> NDArray[np.float64]:
    """Return [n, S, 3 PARTS] what the wins pay that the tile makes possible, less what was to be expected of it."""
    rows, seats = draws.rows, draws.helps.shape[1]
    helps = draws.helps[rows, draws.seat]
    paid = np.zeros((len(rows), seats, 3 * PARTS))
    own = np.flatnonzero(draws.far == 0)
    _add_wins(draws, paid[:, :, :PARTS], own, draws.seat[own], helps[own], Source.DRAW)
    for ahead in range(1, seats):
        seat = (draws.seat + ahead) % seats
        at = np.flatnonzero(draws.waits[rows, seat])
        wants, own_use = draws.helps[at, seat[at]], helps[at]
        _add_wins(draws, paid[:, :, PARTS : 2 * PARTS], at, seat[at], wants & ~own_use, Source.DISCARD)
        _add_wins(draws, paid[:, :, 2 * PARTS :], at, seat[at], wants & own_use, Source.DISCARD)
    return paid


def _add_wins(
    draws: Draws,
    paid: NDArray[np.float64],
    rows: NDArray[np.intp],
    seat: NDArray[np.intp],
    kinds: KindSets,
    source: Source,
) -> None:
    """Add the payments of wins of some seats [k], in the games of these rows [k], with each of their kinds [k]."""
    which, kind = members(kinds)
    possible = draws.wall[rows[which], kind] > 0
    which, kind = which[possible], kind[possible]
    if not which.size:
        return
    row, winner = rows[which], seat[which]
    state, rules = draws.engine.state, draws.engine.rules
    by_draw = source is Source.DRAW
    wins = wins_from_state(
        state,
        state.seats(draws.games[row], winner),
        kind.astype(np.int8),
        source,
        -1 if by_draw else draws.seat[row],
    )
    if by_draw:  # another tile lies there already
        wins.counts[np.arange(len(row)), draws.kind[row]] -= 1
        wins.counts[np.arange(len(row)), kind] += 1
    scores = rules.score(wins)
    payments = np.where(scores.legal[:, None], scores.payments, 0)
    surprise = (kind == draws.kind[row]) - draws.chance[row, kind]
    np.add.at(paid, (row[:, None], np.arange(paid.shape[1]), draws.part[row][:, None]), payments * surprise[:, None])
