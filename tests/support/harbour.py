"""Harbour mahjong: a variant made up to show that a variant is its difference, and nothing else.

**What is played.** 144 tiles, four players, 13 tiles each, the dealer 14; the last 14 tiles of the wall are never
drawn. East is the lighthouse: its four tiles are always wild. Flowers and seasons are laid open and replaced. Chows
from the previous player, pungs and kongs from anybody; every kong is paid a toll at once. A hand is four sets and a
pair. One that is worth less than `least_on_discard` can only be won by self-draw.

**Payment.** The values of the rows add up. Self-draw: both neighbours pay the sum, the player across the harbour pays
it `across` times. A discard, or a robbed kong: who gave the tile pays for all three.

Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.tiles import EAST, NORTH, SOUTH
from mahjong_env.basics.types import Games, Int8Array, Int32Array, Int64Array
from mahjong_env.ruleset.questions import Circumstance, knob
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.payments import Payer, Payment, paid_by
from mahjong_env.scoring.rows import Restriction, Row
from mahjong_env.scoring.wins import Wins
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

_WINDS_CAST = 0  # the mark

ROWS = (
    Row("Landing", "靠岸 kào àn", 2, "every hand", per_hand=lambda win: 1),
    Row("Pennant", "旗 qí", 1, "each exposed flower or season", per_hand=lambda win: win.flowers.sum(axis=1)),
    Row(
        "Fair Wind",
        "顺风 shùn fēng",
        1,
        "each South, West or North that the winner has discarded, three at most",
        per_hand=lambda win: np.minimum(win.own_marks[:, _WINDS_CAST], 3),
    ),
    Row("Still Water", "静水 jìng shuǐ", 3, "no lighthouse in the hand", per_hand=lambda win: win.wilds == 0),
    Row(
        "Twin Piers",
        "双码头 shuāng mǎ tóu",
        5,
        "two runs alike",
        per_reading=lambda reading: (reading.runs >= 2).any(axis=1),
    ),
    Row(
        "Stacked Crates",
        "叠箱 dié xiāng",
        6,
        "every set is a pung or kong",
        per_reading=lambda reading: reading.all_pungs,
    ),
)


@dataclass(frozen=True, kw_only=True)
class Harbour(ScoredRules):
    """The rules of harbour mahjong; the fields are its knobs."""

    name: ClassVar[str] = "harbour"
    title: ClassVar[str] = "Harbour"
    chinese: ClassVar[str] = "海港麻将"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "a hand that is worth so little can only be won by self-draw",
            per_hand=lambda win: ~win.drawn,
            per_reading=lambda reading: reading.worth < reading.wins.rules.least_on_discard,
        ),
    )
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY, discard=Payer.GIVER_PAYS_FOR_ALL, robbed_kong=Payer.GIVER_PAYS_FOR_ALL
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance("winds_cast", "South, West and North tiles that the winner has discarded"),
    )
    has_wild: ClassVar[bool] = True
    uses_flowers: ClassVar[bool] = True
    hides_concealed_kongs: ClassVar[bool] = False

    across: int = knob(2, choices=(2, 1), about="how often the player across pays for a self-draw")
    toll: int = knob(1, minimum=0, about="what every other player pays for a kong, at once")
    least_on_discard: int = knob(6, minimum=0, about="the least value that may be won with another player's tile")
    initial_points: int = knob(100, minimum=0, about="points of each person when a match begins")

    @property
    def sigma(self) -> float:
        """Measured."""
        return 17.0

    @property
    def fixed_wild(self) -> int:
        """East, the lighthouse."""
        return EAST

    @property
    def reserve(self) -> int:
        """Fourteen tiles stay in the wall."""
        return 14

    def on_discard(self, state: State, seats: Seats, kind: Int8Array) -> None:
        """Winds that are cast off are counted."""
        is_wind = (kind >= SOUTH) & (kind <= NORTH)
        state.marks[seats.game[is_wind], seats.seat[is_wind], _WINDS_CAST] += 1

    def kong_payments(self, state: State, seats: Seats, meld_type: int, from_seat: Any) -> Int32Array:
        """The toll, for kongs of all types."""
        others = np.arange(self.seats) != seats.seat[:, None]
        return paid_by(others, np.full(len(seats), self.toll), seats.seat)

    def shares(self, wins: Wins, points: Int64Array) -> Int64Array:
        """[n, S] the player across owes `across` times what the neighbours owe."""
        is_across = np.arange(self.seats) == ((wins.seat + 2) % self.seats)[:, None]
        return np.where(is_across, self.across, 1) * points[:, None]

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """The winner deals next; after a drawn hand the dealer stays."""
        dealer = state.dealer[games]
        stays = (winner == dealer) | (winner < 0)
        self.pass_deal(state, games, stays)
        state.dealer[games] = np.where(stays, dealer, winner)


RULES = Harbour()
