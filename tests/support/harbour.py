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

from mahjong_env.basics.tiles import EAST, NORTH, NUM_KINDS, SOUTH
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.hands import substitutions
from mahjong_env.ruleset.questions import Rules, knob
from mahjong_env.scoring.patterns import best_forms, everyone, only, paid_by, read
from mahjong_env.scoring.rows import Row
from mahjong_env.scoring.wins import Scores, Source, Wins
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

ROWS = (
    Row("Landing", "靠岸 kào àn", 2, "every hand"),
    Row("Pennant", "旗 qí", 1, "each exposed flower or season"),
    Row("Fair Wind", "顺风 shùn fēng", 1, "each South, West or North that the winner has discarded, three at most"),
    Row("Still Water", "静水 jìng shuǐ", 3, "no lighthouse in the hand"),
    Row("Twin Piers", "双码头 shuāng mǎ tóu", 5, "two runs alike"),
    Row("Stacked Crates", "叠箱 dié xiāng", 6, "every set is a pung or kong"),
)
_PLACE = {row.name: place for place, row in enumerate(ROWS)}
_VALUES = np.array([row.value for row in ROWS], np.int32)
_WINDS_CAST = 0  # the mark


@dataclass(frozen=True, kw_only=True)
class Harbour(Rules):
    """The rules of harbour mahjong; the fields are its knobs."""

    name: ClassVar[str] = "harbour"
    title: ClassVar[str] = "Harbour"
    chinese: ClassVar[str] = "海港麻将"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    reasons: ClassVar[tuple[str, ...]] = (
        "",
        "the tiles are not a complete hand",
        "a hand that is worth so little can only be won by self-draw",
    )
    marks: ClassVar[tuple[str, ...]] = ("winds_cast",)
    has_wild: ClassVar[bool] = True
    uses_flowers: ClassVar[bool] = True
    hides_concealed_kongs: ClassVar[bool] = False

    across: int = knob(2, choices=(2, 1), about="how often the player across pays for a self-draw")
    toll: int = knob(1, minimum=0, about="what every other player pays for a kong, at once")
    least_on_discard: int = knob(6, minimum=0, about="the least value that may be won with another player's tile")
    initial_points: int = knob(100, minimum=0, about="points of each person when a match begins")

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

    def score(self, wins: Wins) -> Scores:
        """The best reading of each hand, over everything that its lighthouses may stand for."""
        n = len(wins)
        common = self._common_rows(wins)
        complete = np.flatnonzero(self.complete(wins))
        any_kind = np.ones(NUM_KINDS, np.bool_)
        found = substitutions(wins.natural[complete], wins.wilds[complete], any_kind)
        forms = read(wins.take(complete[found.owner]), found.counts.astype(np.int8))
        owner = complete[found.owner[forms.owner]]
        rows = common[owner]
        rows[:, _PLACE["Twin Piers"]] = (forms.runs >= 2).any(axis=1)
        rows[:, _PLACE["Stacked Crates"]] = forms.all_triplets
        best = best_forms(owner, rows @ _VALUES, n)
        counts = np.zeros((n, len(ROWS)), np.int8)
        counts[complete] = rows[best[complete]]

        is_complete = best >= 0
        worth = counts @ _VALUES
        too_little = is_complete & (wins.source != Source.DRAW) & (worth < self.least_on_discard)
        legal = is_complete & ~too_little
        counts[~legal] = 0
        points = np.where(legal, worth, 0).astype(np.int64)
        return Scores(
            legal=legal,
            reason=np.select([~is_complete, too_little], [1, 2], 0).astype(np.int8),
            row_count=counts,
            row_value=np.broadcast_to(_VALUES, counts.shape),
            points=points,
            payments=self._payments(wins, points),
        )

    def _common_rows(self, wins: Wins) -> Int8Array:
        """[n, rows] entries that do not depend on how the tiles are read."""
        rows = np.zeros((len(wins), len(ROWS)), np.int8)
        rows[:, _PLACE["Landing"]] = 1
        rows[:, _PLACE["Pennant"]] = wins.flowers.sum(axis=1)
        rows[:, _PLACE["Fair Wind"]] = np.minimum(wins.own_marks[:, _WINDS_CAST], 3)
        rows[:, _PLACE["Still Water"]] = wins.wilds == 0
        return rows

    def _payments(self, wins: Wins, points: Any) -> Int32Array:
        """[n, S] the player across pays `across` times for a self-draw; who gives a tile pays for all three."""
        drawn = wins.source == Source.DRAW
        is_across = np.arange(self.seats) == ((wins.seat + 2) % self.seats)[:, None]
        shares = np.where(drawn[:, None], np.where(is_across, self.across, 1), 2 + self.across)
        payers: BoolArray = np.where(drawn[:, None], everyone(wins), only(wins, wins.from_seat))
        return paid_by(payers, shares * points[:, None], wins.seat)

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """The winner deals next; after a drawn hand the dealer stays."""
        dealer = state.dealer[games]
        stays = (winner == dealer) | (winner < 0)
        self.pass_deal(state, games, stays)
        state.dealer[games] = np.where(stays, dealer, winner)


RULES = Harbour()
