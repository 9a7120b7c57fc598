"""Wins and their scores: the batches that pass between engine, `score` and variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.lazy import Answers, lazy
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array, Int64Array, UInt32Array
from mahjong_env.hands.codes import encode
from mahjong_env.hands.summaries import suit_summaries, sum_summaries
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

if TYPE_CHECKING:
    from mahjong_env.ruleset.questions import Rules
    from mahjong_env.scoring.rows import Row


class Source(IntEnum):
    """The source of the winning tile; the numbers are those of `Wins.source`."""

    DRAW = 0
    DISCARD = 1
    ROBBED_KONG = 2
    """The tile that another seat was adding to its pung (抢杠 qiǎng gàng)."""
    FLOWERS = 3
    """No tile: a win by exposed flowers alone."""

    @property
    def word(self) -> str:
        """The word that `score` and outcomes use: "draw", "discard", "kong" or "flowers"."""
        return "kong" if self is Source.ROBBED_KONG else self.name.lower()

    @classmethod
    def of_word(cls, word: str) -> Source:
        """Return the source that `score` and outcomes call by this word."""
        return next(source for source in cls if source.word == word)


_OTHERS: Final = 3  # of a kind
# numpy compares with plain integers four times faster than with members of an enumeration.
_DRAW, _DISCARD, _ROBBED_KONG = (int(source) for source in (Source.DRAW, Source.DISCARD, Source.ROBBED_KONG))


def _of_winner(name: str) -> Any:
    """Return a property with the winner's part [n, ...] of an array [n, S, ...]."""

    def part(wins: Wins) -> NDArray[Any]:
        by_seat = getattr(wins, name)
        return by_seat.reshape(wins.num_melds.size, *by_seat.shape[2:]).take(wins._seat_index, axis=0)

    return lazy(part)


@dataclass
class Wins(Answers):
    """n wins, or hands of which it is asked whether they may win, one in each row.

    Axes: n wins, S seats, T 34 kinds, A 42 kinds, M melds, K marks. Everything is indexed by table seat.
    """

    counts: Int8Array  # [n, T] concealed tiles with the winning tile, wild tiles as what they are
    winning_tile: Int8Array  # [n]
    source: Int8Array  # [n] Source
    seat: Int8Array  # [n] the winner
    from_seat: Int8Array  # [n] who gave the winning tile, -1 on a draw
    dealer: Int8Array  # [n]
    streak: Int16Array  # [n] hands for which the dealer has already kept the deal
    wild: Int8Array  # [n] -1 for none
    num_melds: Int8Array  # [n, S]
    meld_type: Int8Array  # [n, S, M]
    meld_kind: Int8Array  # [n, S, M]
    meld_from: Int8Array  # [n, S, M]
    flowers: Int8Array  # [n, A] exposed by the winner
    kong_draws: Int8Array  # [n] kongs in an unbroken row before a drawn winning tile
    flower_draw: BoolArray  # [n] the winning tile replaced a flower
    last_tile: BoolArray  # [n] no drawable tile is left
    fourth_tile: BoolArray  # [n] the three others of the winning kind lie open, where that is asked
    first_draw: BoolArray  # [n] the winner's first draw, nobody having claimed a tile or declared a kong
    opening: BoolArray  # [n] a win before the first turn, by a tile that is turned up
    marks: Int16Array  # [n, S, K] see Rules.marks
    round_wind: Int8Array  # [n] 0 East .. 3 North
    house_wind: Int8Array  # [n] of the winner
    dice: Int8Array  # [n] what the variant threw for this hand
    points: Int32Array  # [n, S] running points before the hand
    floor: BoolArray  # [n] whether running points limit what is paid
    turned_up: Int8Array  # [n, X] tiles turned up after the win (Rules.turned_up_after_win), -1 where there is none
    rules: Any = None  # the rules by which they are scored, for rows that ask about knobs

    def __len__(self) -> int:
        """The number of wins."""
        return len(self.seat)

    def take(self, which: Any) -> Wins:
        """Return some of the wins; ``which`` is a boolean mask, or indices with repeats allowed."""
        index = np.asarray(which)
        index = index.nonzero()[0] if index.dtype == np.bool_ else index
        taken = Wins(*(getattr(self, name).take(index, axis=0) for name in _FIELDS))
        taken.rules = self.rules
        return taken

    @classmethod
    def join(cls, parts: list[Wins]) -> Wins:
        """Return all wins of several batches, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))

    # What follows from the arrays is worked out once, so nothing in them may change after it has been asked for.

    @lazy
    def drawn(self) -> BoolArray:
        """[n] whether the winner drew the winning tile."""
        return self.source == _DRAW

    @lazy
    def on_discard(self) -> BoolArray:
        """[n] whether the winning tile is a discard."""
        return self.source == _DISCARD

    @lazy
    def robbed_kong(self) -> BoolArray:
        """[n] whether the winning tile is one that another seat was adding to its pung."""
        return self.source == _ROBBED_KONG

    @lazy
    def by_dealer(self) -> BoolArray:
        """[n] whether the winner is the dealer."""
        return self.seat == self.dealer

    @lazy
    def _seat_index(self) -> Games:
        """[n] the winner's index among all seats of all wins."""
        return np.arange(len(self)) * self.num_melds.shape[1] + self.seat

    own_type = _of_winner("meld_type")  # [n, M]
    own_kind = _of_winner("meld_kind")  # [n, M]
    own_from = _of_winner("meld_from")  # [n, M] the seats that they were claimed from
    own_melds = _of_winner("num_melds")  # [n]
    own_marks = _of_winner("marks")  # [n, K]

    @lazy
    def melded(self) -> Melded:
        """The winner's melds, counted."""
        # numpy 1 would keep int8, which has no room for the product.
        meld = np.multiply(self.own_type, NUM_KINDS + 1, dtype=np.intp) + self.own_kind + 1
        each = _melds().take(meld[:, : max(1, self.own_melds.max(initial=0))].T, axis=0)
        counted = np.add.reduce(each, axis=0, dtype=np.int8)
        chows, triplets, kongs, tiles = (counted[:, start : start + NUM_KINDS] for start in _MELDED_STARTS)
        return Melded(chows, triplets, kongs, tiles, types=counted[:, -_TYPES:])

    @lazy
    def tiles(self) -> Int8Array:
        """[n, T] concealed and melded tiles, kongs counted as three, wild tiles as what they are."""
        return self.counts + self.melded.tiles

    @property
    def _may_have_wilds(self) -> bool:
        return self.rules is None or self.rules.has_wild

    @lazy
    def wilds(self) -> Int8Array:
        """[n] tiles of the wild kind among the concealed tiles, the winning tile included."""
        if not self._may_have_wilds:
            return np.zeros(len(self), np.int8)
        held = self.counts.reshape(-1).take(np.arange(len(self)) * NUM_KINDS + np.maximum(self.wild, 0))
        return held * (self.wild >= 0)

    @lazy
    def jokers(self) -> Int8Array:
        """[n] those of the `wilds` that may stand for any tile: all but one that was turned up and won with."""
        return self.wilds - self.opening if self._may_have_wilds and self.opening.any() else self.wilds

    @lazy
    def natural(self) -> Int8Array:
        """[n, T] concealed tiles without the `jokers`; read-only."""
        counts = self.counts.view()
        if self._may_have_wilds:
            counts = counts.copy()
            some = (self.wild >= 0).nonzero()[0]
            wild = self.wild[some]
            counts[some, wild] = self.opening[some]
        counts.flags.writeable = False
        return counts

    @lazy
    def codes(self) -> Int32Array:
        """[n, 4] codes of the `natural` tiles."""
        return encode(self.natural)

    @lazy
    def suit_summaries(self) -> UInt32Array:
        """[n, 4] `hands.summaries.suit_summaries` of `codes`."""
        return suit_summaries(self.codes)

    @lazy
    def sum_of_summaries(self) -> UInt32Array:
        """[n] the sum of the `suit_summaries`."""
        return sum_summaries(self.suit_summaries)


_FIELDS: Final = tuple(item.name for item in fields(Wins) if item.name != "rules")


class Melded(NamedTuple):
    """The winner's melds, counted."""

    chows: Int8Array  # [n, T] chows by their lowest tile
    triplets: Int8Array  # [n, T] pungs and kongs of each kind
    kongs: Int8Array  # [n, T] kongs of each kind
    tiles: Int8Array  # [n, T] tiles, kongs counted as three
    types: Int8Array  # [n, 6] melds of each MeldType; those of NONE mean nothing


_TYPES: Final = len(MeldType)
_MELDED_STARTS: Final = range(0, 4 * NUM_KINDS, NUM_KINDS)


@cache
def _melds() -> Int8Array:
    """Return [types * 35, 142] a description of each meld: a row of `Melded` for each type and each kind from -1 on."""
    rows = np.zeros((_TYPES, NUM_KINDS + 1, 4 * NUM_KINDS + _TYPES), np.int8)
    for meld_type in MeldType:
        rows[meld_type, :, 4 * NUM_KINDS + meld_type] = 1
    chows, triplets, kongs, tiles = (rows[:, 1:, start : start + NUM_KINDS] for start in _MELDED_STARTS)
    one = np.eye(NUM_KINDS, dtype=np.int8)
    chows[MeldType.CHOW] = one
    tiles[MeldType.CHOW] = one + np.eye(NUM_KINDS, k=1, dtype=np.int8) + np.eye(NUM_KINDS, k=2, dtype=np.int8)
    triplets[MeldType.PUNG :] = one
    tiles[MeldType.PUNG :] = 3 * one
    kongs[MeldType.EXPOSED_KONG :] = one
    return rows.reshape(-1, rows.shape[2])


@dataclass
class Scores:
    """The scores of n wins.

    ``row_count`` says how many entries of each row of `Rules.rows` a win has, ``row_value`` what one entry is worth.
    Wins that are not legal have no rows, 0 points and payments of 0.
    """

    legal: BoolArray  # [n]
    reason: Int8Array  # [n] index in Rules.reasons; 0 where legal
    row_count: Int8Array  # [n, rows]
    row_value: NDArray[Any]  # [n, rows] floats where a factor is not whole
    points: Int64Array  # [n] the value of the hand
    payments: Int32Array  # [n, S] what each table seat receives; sums to zero
    source: Int8Array | None = None  # [n] Source as it was scored, where that may differ from what was asked
    wins: Wins | None = None  # what was scored

    def rows_of(self, win: int, rows: Sequence[Row]) -> list[tuple[str, int | float]]:
        """Return the entries of one win in the order of the table: (row name, value); whole values are integers."""
        entries: list[tuple[str, int | float]] = []
        count, value = self.row_count[win].tolist(), self.row_value[win].tolist()
        for row, times in enumerate(count):
            if times:
                worth = int(value[row]) if value[row] == int(value[row]) else value[row]
                entries += [(rows[row].name, worth)] * times
        return entries


def wins_from_state(rules: Rules, state: State, seats: Seats, tile: Any, source: Source, from_seat: Any) -> Wins:
    """Describe wins that are possible in running games.

    Args:
        rules: the rules by which they are scored.
        state: the games.
        seats: [n] who would win; repeats of games allowed (several seats may want the same tile).
        tile: [n] the winning tiles. Each is added to the hand, except for draws, where it is there already.
        source: where the tile comes from.
        from_seat: [n] the seats that give the tiles, or -1.
    """
    n, games = len(seats), seats.game
    nothing = np.zeros(n, np.int8)
    counts = seats.of(state.hand)
    by_draw = source is Source.DRAW
    if not by_draw:
        counts[np.arange(n), tile] += 1
    persons = state.points.shape[1]
    return Wins(
        counts=counts,
        winning_tile=np.asarray(tile, np.int8),
        source=nothing + np.int8(source),
        seat=nothing + np.asarray(seats.seat, np.int8),
        from_seat=nothing + np.asarray(from_seat, np.int8),
        dealer=state.dealer.take(games),
        streak=state.streak.take(games),
        wild=state.wild.take(games),
        num_melds=state.num_melds.take(games, axis=0),
        meld_type=state.meld_type.take(games, axis=0),
        meld_kind=state.meld_kind.take(games, axis=0),
        meld_from=state.meld_from.take(games, axis=0),
        flowers=seats.of(state.flowers),
        kong_draws=state.kong_draws.take(games) if by_draw else nothing,
        flower_draw=state.flower_draw.take(games) if by_draw else nothing > 0,
        last_tile=state.left_to_next(games) <= 0,
        fourth_tile=(
            state.lying_open(games, tile) == _OTHERS + (source is Source.DISCARD)
            if rules.asks_fourth_tile
            else nothing > 0
        ),
        first_draw=(seats.of(state.turns) == 1) & state.undisturbed.take(games) if by_draw else nothing > 0,
        opening=nothing > 0,
        marks=state.marks.take(games, axis=0),
        round_wind=state.round_wind.take(games),
        house_wind=seats.of(state.house_wind),
        dice=state.dice.take(games),
        points=state.points.reshape(-1).take((games * persons)[:, None] + state.person_at.take(games, axis=0)),
        floor=state.floored.take(games),
        turned_up=np.zeros((n, 0), np.int8),
        rules=rules,
    )
