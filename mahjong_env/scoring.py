"""What describes a win, and what scoring it gives: the batches that pass between engine, `score` and variants."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from mahjong_env.hands import encode
from mahjong_env.state import State
from mahjong_env.types import BoolArray, Float64Array, Games, Int8Array, Int16Array, Int32Array, Int64Array


class Source(IntEnum):
    """Where the winning tile came from; the numbers are those of `Wins.source`."""

    DRAW = 0
    DISCARD = 1
    KONG = 2
    """The tile that another seat was adding to its pung (抢杠 qiǎng gàng)."""
    FLOWERS = 3
    """No tile: a win by exposed flowers alone."""

    @property
    def word(self) -> str:
        """The word that `score` and outcomes use."""
        return self.name.lower()


class Row(NamedTuple):
    """One row of a variant's scoring table.

    Attributes:
        name: as in scores, outcomes and case files.
        chinese: the Chinese name, with its reading.
        value: what one entry is worth as printed in the table; entries whose value depends on the hand say so in words.
        meaning: when it is scored.
    """

    name: str
    chinese: str
    value: int | float | str
    meaning: str


@dataclass
class Wins:
    """n wins (or hands that ask whether they may win), one a row.

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
    first_draw: BoolArray  # [n] the winner's first draw, nobody having claimed a tile or declared a kong
    opening: BoolArray  # [n] a win before the first turn, by a tile that is turned up
    marks: Int16Array  # [n, S, K] see Rules.marks
    round_wind: Int8Array  # [n] 0 East .. 3 North
    house_wind: Int8Array  # [n] of the winner
    dice: Int8Array  # [n] what the variant threw for this hand
    points: Int32Array  # [n, S] running points before the hand
    floor: BoolArray  # [n] whether running points limit what is paid

    def __len__(self) -> int:
        """The number of wins."""
        return len(self.seat)

    def take(self, which: Any) -> Wins:
        """Some of them: a boolean mask or indices, repeats allowed."""
        return Wins(**{item.name: getattr(self, item.name)[which] for item in fields(self)})

    @classmethod
    def join(cls, parts: list[Wins]) -> Wins:
        """All wins of several batches, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{item.name: np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(cls)})

    @property
    def own_type(self) -> Int8Array:
        """[n, M] types of the winner's melds."""
        return self.meld_type[np.arange(len(self)), self.seat]

    @property
    def own_kind(self) -> Int8Array:
        """[n, M] kinds of the winner's melds."""
        return self.meld_kind[np.arange(len(self)), self.seat]

    @property
    def own_from(self) -> Int8Array:
        """[n, M] the seats that the winner's melds were claimed from."""
        return self.meld_from[np.arange(len(self)), self.seat]

    @property
    def own_melds(self) -> Int8Array:
        """[n] how many melds the winner has."""
        return self.num_melds[np.arange(len(self)), self.seat]

    @property
    def own_marks(self) -> Int16Array:
        """[n, K] the winner's marks."""
        return self.marks[np.arange(len(self)), self.seat]

    @property
    def wilds(self) -> Int8Array:
        """[n] wild tiles among the concealed tiles, the winning tile included."""
        return np.where(self.wild >= 0, self.counts[np.arange(len(self)), self.wild], 0)

    @property
    def natural(self) -> Int8Array:
        """[n, T] concealed tiles without the wild ones."""
        counts = self.counts.copy()
        some = np.flatnonzero(self.wild >= 0)
        counts[some, self.wild[some]] = 0
        return counts

    @property
    def codes(self) -> Int32Array:
        """[n, 4] codes of the concealed tiles without the wild ones."""
        return encode(self.natural)


@dataclass
class Scores:
    """The scores of n wins.

    ``row_count`` says how many entries of each row of `Rules.rows` a win has, ``row_value`` what one entry is worth.
    Wins that are not legal have no rows, 0 points and payments of 0.
    """

    legal: BoolArray  # [n]
    reason: Int8Array  # [n] place in Rules.reasons; 0 where legal
    row_count: Int8Array  # [n, rows]
    row_value: Int32Array | Float64Array  # [n, rows] floats where a factor is not whole
    points: Int64Array  # [n] the value of the hand
    payments: Int32Array  # [n, S] what each table seat receives; sums to zero
    source: Int8Array | None = None  # [n] Source as it was scored, where that may differ from what was asked

    def rows_of(self, place: int, rows: tuple[Row, ...]) -> list[tuple[str, int | float]]:
        """The entries of one win in the order of the table: (row name, value); whole values are integers."""
        entries: list[tuple[str, int | float]] = []
        for row in np.flatnonzero(self.row_count[place]):
            value = float(self.row_value[place, row])
            entry = (rows[row].name, int(value) if value.is_integer() else value)
            entries += [entry] * int(self.row_count[place, row])
        return entries


def wins_from_state(state: State, games: Games, seat: Any, tile: Any, source: Source, from_seat: Any) -> Wins:
    """Describe wins that are possible in running games.

    Args:
        state: the games.
        games: [n] which of them; repeats allowed (several seats may want the same tile).
        seat: [n] who would win.
        tile: [n] with which tile. It is added to the hand, except for draws, where it lies there already.
        source: where the tile comes from.
        from_seat: [n] or -1.
    """
    n = len(games)
    rows = np.arange(n)
    counts = state.hand[games, seat]
    if source is not Source.DRAW:
        counts[rows, tile] += 1
    seats = np.broadcast_to(np.asarray(seat, np.int8), n)
    by_draw = source is Source.DRAW
    return Wins(
        counts=counts,
        winning_tile=np.asarray(tile, np.int8),
        source=np.full(n, source, np.int8),
        seat=seats,
        from_seat=np.broadcast_to(np.asarray(from_seat, np.int8), n),
        dealer=state.dealer[games],
        streak=state.streak[games],
        wild=state.wild[games],
        num_melds=state.num_melds[games],
        meld_type=state.meld_type[games],
        meld_kind=state.meld_kind[games],
        meld_from=state.meld_from[games],
        flowers=state.flowers[games, seats],
        kong_draws=state.kong_draws[games] if by_draw else np.zeros(n, np.int8),
        flower_draw=state.flower_draw[games] if by_draw else np.zeros(n, np.bool_),
        last_tile=state.left(games) <= 0,
        first_draw=(state.turns[games, seats] == 1) & state.undisturbed[games] & by_draw,
        opening=np.zeros(n, np.bool_),
        marks=state.marks[games],
        round_wind=state.round_wind[games],
        house_wind=state.house_wind[games, seats],
        dice=state.dice[games],
        points=np.take_along_axis(state.points[games], state.person_at[games].astype(np.intp), axis=1),
        floor=state.floored[games],
    )
