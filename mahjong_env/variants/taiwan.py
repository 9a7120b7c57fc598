"""Taiwanese 16-tile mahjong (台灣十六張麻將 Táiwān shíliù zhāng májiàng).

Its rules, written for players, are the page `taiwan.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from mahjong_env.basics.chance import draw_numbers
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, UInt64Array
from mahjong_env.ruleset.circumstances import Circumstance
from mahjong_env.ruleset.questions import knob, only_with_marks
from mahjong_env.scoring.driver import ScoredRules, sum_of_rows
from mahjong_env.scoring.payments import Payer, Payment
from mahjong_env.scoring.readings import Readings
from mahjong_env.scoring.rows import Restriction, Row
from mahjong_env.scoring.wins import Scores, Source, Wins, wins_from_state
from mahjong_env.state.arrays import NO_SEAT, State
from mahjong_env.state.seats import Seats
from mahjong_env.variants._taiwan_rows import ALONE, EIGHT_FLOWERS, ROWS, has_all_flowers

_EIGHT_FLOWERS_MARK: Final = 0
"""The index of the only mark of a seat: 1 in the turn in which it has exposed its eighth flower."""
_MOST_DEAD_TILES: Final = 71
"""The tiles of the wall of 144 after the deal of 65 and eight replacements."""


@dataclass(frozen=True, kw_only=True)
class Taiwan(ScoredRules):
    """The rules of Taiwanese 16-tile mahjong; the fields are its knobs."""

    name: ClassVar[str] = "taiwan"
    title: ClassVar[str] = "Taiwanese 16-tile"
    chinese: ClassVar[str] = "台灣十六張麻將"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "a win by flowers needs all eight flowers and seasons exposed",
            per_hand=lambda win: (win.source == int(Source.FLOWERS)) & ~has_all_flowers(win.flowers),
        ),
    )
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY, discard=Payer.GIVER_PAYS, robbed_kong=Payer.GIVER_PAYS, flowers=Payer.ALL_PAY
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "eight_flowers",
            "1 in the turn in which the winner has exposed the eighth flower",
            chinese="八仙過海",
            # Eight Flowers that were not said in their turn are gone (taiwan.md#eight-flowers).
            after_discard=lambda has, kind, wild: 0,
        ),
    )
    wins_by_flowers: ClassVar[bool] = True
    hand_size: ClassVar[int] = 16
    uses_flowers: ClassVar[bool] = True
    dealer_draws_last: ClassVar[bool] = True
    opening_stages: ClassVar[int] = 1

    base_score: int = knob(3, minimum=0, about="what a payer pays beside the tai")
    unit: int = knob(1, minimum=1, about="points for one tai")
    dealer_bonus: bool = knob(
        True,
        choices=(True, False),
        about="1 + 2N tai more between the dealer and each player he pays or is paid by",
    )
    add_discard_to_pung: bool = knob(
        True, choices=(True, False), about="whether a discard may be added to an exposed pung"
    )
    dead_tiles: int = knob(
        16, minimum=0, maximum=_MOST_DEAD_TILES, about="tiles at the end of the wall that are never drawn"
    )
    dealer_is_east: bool = knob(
        False, choices=(False, True), about="the dealer is East House, instead of the player whom three dice name"
    )
    strict_peaceful: bool = knob(False, choices=(False, True), about="Peaceful Win needs a hand without flowers")

    @property
    def sigma(self) -> float:
        """Measured: what every payer pays, and the tai."""
        return 1.03 * self.base_score + 5.3 * self.unit

    @property
    def reserve(self) -> int:
        """The dead tiles; replacements move their boundary (taiwan.md#the-dead-tiles)."""
        return self.dead_tiles

    # --- Match and deal ---------------------------------------------------------------------------------------
    def begin_hand(self, state: State, games: Games, keys: UInt64Array) -> None:
        """Three dice, counted counter-clockwise from the dealer as one, name the East House (taiwan.md#house-winds)."""
        if self.dealer_is_east:
            super().begin_hand(state, games, keys)
            return
        state.dice[games] = sum(draw_numbers(keys, 200 + die, 6) + 1 for die in range(3))
        east = state.dealer[games] + state.dice[games] - 1
        state.house_wind[games] = (np.arange(self.seats, dtype=np.int8) - east[:, None]) % self.seats

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """The dealer stays if he wins and after a draw; the round ends when all have lost the deal.

        taiwan.md#the-dealer, taiwan.md#the-round-wind.
        """
        self.pass_deal(state, games, (winner == state.dealer[games]) | (winner < 0))
        state.round_wind[games] = state.turnover[games] // self.seats % 4

    # --- Eight Flowers ----------------------------------------------------------------------------------------
    def on_flower(self, state: State, seats: Seats) -> None:
        """Mark the eighth flower of a seat in its turn; the opening is asked about by `opening_options`."""
        eighth = has_all_flowers(seats.of(state.flowers)) & state.flower_draw[seats.game]
        state.marks[seats.game[eighth], seats.seat[eighth], _EIGHT_FLOWERS_MARK] = 1

    @only_with_marks
    def may_win_at_once(self, state: State, seats: Seats) -> BoolArray:
        """A seat that has exposed its eighth flower in this turn may win with any hand (taiwan.md#eight-flowers)."""
        return seats.of(state.marks)[:, _EIGHT_FLOWERS_MARK] > 0

    def opening_options(self, state: State, games: Games, stage: int) -> tuple[BoolArray, Int8Array]:
        """A seat that has exposed all eight flowers in the opening; the dealer would be asked first.

        If the seventeenth tile of the dealer was a flower, the eighth is a matter of his turn.
        """
        may_win = has_all_flowers(state.flowers[games]) & ~state.flower_draw[games, None]
        return may_win, (state.dealer[games] - 1) % self.seats

    def take_opening(self, state: State, seats: Seats, stage: Int8Array) -> Wins:
        """Eight Flowers in the opening: no tile is moved."""
        no_tile = np.full(len(seats), NO_TILE, np.int8)
        wins = wins_from_state(state, seats, no_tile, Source.DRAW, NO_SEAT)
        wins.source[:] = Source.FLOWERS
        return wins

    # --- Claims -----------------------------------------------------------------------------------------------
    @property
    def adds_discards(self) -> bool:
        """Jia gang: a discard may be added to an exposed pung (taiwan.md#adding-a-discard-to-a-pung)."""
        return self.add_discard_to_pung

    # --- Scoring ----------------------------------------------------------------------------------------------
    def readings_without_tiles(self, wins: Wins, which: Games) -> Readings:
        """Eight Flowers, beside whatever the hand may be worth (taiwan.md#eight-flowers)."""
        exposed_in_turn = has_all_flowers(wins.flowers) & (wins.own_marks[:, _EIGHT_FLOWERS_MARK] > 0)
        by_flowers = (wins.source == int(Source.FLOWERS)) | exposed_in_turn
        return Readings(wins, EIGHT_FLOWERS, which.compress(by_flowers.take(which)))

    def worth(self, counts: Int8Array, values: Any) -> Int64Array:
        """The tai of all rows (taiwan.md#scoring-table)."""
        return sum_of_rows(counts, values)

    def shares(self, wins: Wins, points: Int64Array) -> Int64Array:
        """[n, S] base + tai x unit, with the dealer's tai where he pays or is paid (taiwan.md#the-dealers-tai)."""
        concerns_dealer = wins.by_dealer[:, None] | (np.arange(self.seats) == wins.dealer[:, None])
        dealers_tai = (1 + 2 * wins.streak.astype(np.int64)) * self.dealer_bonus
        return self.base_score + self.unit * (points[:, None] + dealers_tai[:, None] * concerns_dealer)

    def score(self, wins: Wins) -> Scores:
        """As the rows say; a hand that is worth less than Eight Flowers is a win by flowers."""
        scores = super().score(wins)
        by_flowers = scores.row_count[:, ROWS.index(ALONE)] > 0
        scores.source = np.where(by_flowers, np.int8(Source.FLOWERS), wins.source)
        return scores


RULES = Taiwan()
