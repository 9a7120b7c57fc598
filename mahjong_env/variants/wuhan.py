"""Wuhan mahjong (武汉麻将 Wǔhàn májiàng).

Its rules, written for players, are the page `wuhan.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, GREEN, NUM_ALL_KINDS, NUM_KINDS, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, UInt32Array
from mahjong_env.hands import short_of_sets_and_pair, sum_summaries
from mahjong_env.ruleset.circumstances import Circumstance
from mahjong_env.ruleset.questions import ShortOfOne, knob
from mahjong_env.scoring.driver import ScoredRules, product_of_rows
from mahjong_env.scoring.payments import Payer, Payment
from mahjong_env.scoring.readings import SETS_AND_PAIR, Shape
from mahjong_env.scoring.rows import Restriction, Row, by_knob
from mahjong_env.scoring.wins import Wins
from mahjong_env.state.arrays import NO_SEAT, State
from mahjong_env.variants._wuhan_hands import FACTORS, FLAT, LARGE, RESTRICTIONS, WILD_CARD_SEVEN_PAIRS

_ROWS = (FLAT, *LARGE, *FACTORS)
_NAMES = [row.name for row in _ROWS]
_BASE = slice(0, 1 + len(LARGE))
_FACTORS = slice(1 + len(LARGE), None)
_NOBODY = np.int8(NO_SEAT)
_IS_RED = np.arange(NUM_ALL_KINDS) == RED
_HANDS_PER_ROUND = 4


@dataclass(frozen=True, kw_only=True)
class Wuhan(ScoredRules):
    """The rules of Wuhan mahjong; the fields are its knobs."""

    name: ClassVar[str] = "wuhan"
    title: ClassVar[str] = "Wuhan"
    chinese: ClassVar[str] = "武汉麻将"
    shapes: ClassVar[tuple[Shape, ...]] = (SETS_AND_PAIR, WILD_CARD_SEVEN_PAIRS)
    rows: ClassVar[tuple[Row, ...]] = _ROWS
    restrictions: ClassVar[tuple[Restriction, ...]] = RESTRICTIONS
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY,
        discard=by_knob("discard_payers", {"all": Payer.ALL_PAY, "discarder": Payer.GIVER_PAYS}),
        robbed_kong=Payer.GIVER_PAYS_FOR_ALL,
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "red_discards",
            "Red Dragons that the winner has discarded",
            discarded=RED,
            chinese="打出红中",
            after_discard=lambda red, kind, wild: red + (kind == RED),
        ),
    )
    has_wild: ClassVar[bool] = True
    unclaimable_kinds: ClassVar[tuple[int, ...]] = (RED,)
    hides_concealed_kongs: ClassVar[bool] = False

    initial_points: int = knob(500, minimum=0, about="points of each person when a match begins")
    cap: int | None = knob(500, minimum=1, none=True, about="the most that one payer owes for a hand")
    discard_payers: str = knob(
        "all",
        choices=("all", "discarder"),
        about="who pays for a win on a discard; Full Responsibility goes before it",
    )
    dealer_rule: str = knob(
        "retain_else_next",
        choices=("retain_else_next", "winner_becomes", "always_next", "retain_on_draw"),
        about="who deals next: the dealer if he won, else the next seat; the winner; always the next seat; "
        "the dealer also after a draw",
    )
    wild_kong_multiplier: int = knob(2, choices=(2, 4), about="the factor of a Wild Card Kong")
    wild_hand_discard_win: bool = knob(
        True, choices=(True, False), about="whether a hand with wild tiles may win on a discard or a robbed kong"
    )
    red_indicator: str = knob("white", choices=("white", "green"), about="the wild kind when a Red Dragon is turned up")

    @property
    def sigma(self) -> float:
        """Measured; a power of the cap follows what was measured with several to a fifth."""
        return 450.0 if self.cap is None else min(2.2 * self.cap**0.7, 450.0)

    # --- The wild tile and the Reds ---------------------------------------------------------------------------
    @property
    def turns_indicator(self) -> bool:
        """The tile after the deal is turned up (wuhan.md#which-tile-is-wild)."""
        return True

    def wild_kinds(self, indicator: Int8Array) -> Int8Array:
        """[n] the successors of the tiles turned up."""
        successor = np.arange(NUM_KINDS, dtype=np.int8) + np.int8(1)
        successor[8:EAST:9] -= np.int8(9)
        successor[GREEN] = EAST
        successor[RED] = WHITE if self.red_indicator == "white" else GREEN
        return successor[indicator]

    @property
    def never_melded(self) -> BoolArray:
        """Red Dragons (wuhan.md#red-dragons)."""
        return _IS_RED

    def concealed_kong_kinds(self, state: State, games: Games, counts: Int8Array) -> BoolArray:
        """Any kind but Red, the wild one included (wuhan.md#what-a-wild-tile-may-do, wuhan.md#red-dragons)."""
        return (counts == 4) & ~_IS_RED[:NUM_KINDS]

    # --- Scoring ----------------------------------------------------------------------------------------------
    def tiles_short(self, summaries: UInt32Array, wilds: Any, melds: Any) -> Int8Array:
        """Sets and a pair need a meld on the table, which Wild Card Seven Pairs must not have."""
        total = sum_summaries(summaries)
        seven_pairs = WILD_CARD_SEVEN_PAIRS.short_of(summaries, melds, total, wilds)
        return np.where(melds == 0, seven_pairs, short_of_sets_and_pair(summaries, total))

    def tiles_short_of_one(self) -> ShortOfOne | None:
        """The same for one hand in plain numbers."""
        seven_pairs = WILD_CARD_SEVEN_PAIRS.short_of_one
        assert seven_pairs is not None
        return lambda total, with_pair, wilds, melds: with_pair if melds else seven_pairs(total, with_pair, wilds)

    def worth(self, counts: Int8Array, values: Any) -> Int64Array:
        """The sum of the base points times the product of the factors (wuhan.md#what-a-hand-is-worth)."""
        base = (counts[:, _BASE] * values[:, _BASE]).sum(axis=1)
        # Multiples of a half, far below 2**52: floats are exact.
        return np.ceil(base * product_of_rows(counts[:, _FACTORS], values[:, _FACTORS])).astype(np.int64)

    def points(self, worth: Int64Array) -> Int64Array:
        """The amount that one payer owes, at most the cap."""
        return worth if self.cap is None else np.minimum(worth, self.cap)

    def liable(self, wins: Wins, counts: Int8Array) -> Int8Array:
        """[n] the fully responsible seat, beside a player whose kong is robbed (wuhan.md#full-responsibility)."""
        full_demand = counts[:, _NAMES.index("Full Demand")] > 0
        liable = np.where(wins.on_discard & full_demand, wins.from_seat, _NOBODY)
        pure = counts[:, _NAMES.index("Pure One Suit")] > 0
        if pure.any():
            third = _third_feeder(wins)
            liable = np.where(pure & (third >= 0), third, liable)
        return liable

    # --- The next hand ----------------------------------------------------------------------------------------
    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """Pass the deal on by `dealer_rule` (wuhan.md#who-deals-next); the round wind changes every four hands."""
        stays = winner == state.dealer[games]
        if self.dealer_rule == "retain_on_draw":
            stays |= winner < 0
        elif self.dealer_rule == "always_next":
            stays[:] = False
        self.pass_deal(state, games, stays)
        if self.dealer_rule == "winner_becomes":
            won = winner >= 0
            state.dealer[games[won]] = winner[won]
        begins_round = state.hand_in_match[games] % _HANDS_PER_ROUND == 0
        state.round_wind[games] = (state.round_wind[games] + begins_round) % 4


def _third_feeder(wins: Wins) -> Int8Array:
    """[n] the seat whose discard made the winner's third claimed meld, -1 for none."""
    claimed = (wins.own_type != int(MeldType.NONE)) & (wins.own_type != int(MeldType.CONCEALED_KONG))
    is_third = claimed & (claimed.cumsum(axis=1) == 3)
    feeder = wins.own_from[np.arange(len(wins)), is_third.argmax(axis=1)]
    return np.where(is_third.any(axis=1), feeder, _NOBODY)


RULES = Wuhan()
