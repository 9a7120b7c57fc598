"""Hebei mahjong (河北麻将 Héběi májiàng).

Its rules, written for players, are the page `hebei.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.errors import RulesError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.ruleset.questions import knob
from mahjong_env.scoring.arithmetic import EVERY_ROW, Arithmetic, Term
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import is_closed, on_kong_draw, suits_of, waits_for_one
from mahjong_env.scoring.payments import Payer, Payment, paid_by
from mahjong_env.scoring.readings import SETS_AND_PAIR, SEVEN_PAIRS, THIRTEEN_ORPHANS, Readings, Shape
from mahjong_env.scoring.rows import ByKnob, Restriction, Row, names
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

_SUIT_STARTS = np.array([[0, 3, 6], [9, 12, 15], [18, 21, 24]])
_MIXED_STARTS = np.array([[0, 12, 24], [0, 15, 21], [3, 9, 24], [3, 15, 18], [6, 9, 21], [6, 12, 18]])

# fmt: off
DEALER_WIN = Row("Dealer Win", "庄家 zhuāng jiā", 2, "the winner is the dealer",
                 per_hand=lambda win: win.by_dealer)
# The rows that make a hand more than a Ping Hu.
PATTERNS = (
    Row("All Pungs", "碰碰胡 pèng pèng hú", ByKnob("all_pungs"), "every set is a pung or kong",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.all_pungs),
    Row("Closed Hand", "门清 mén qīng", 2,
        "nothing claimed; concealed kongs are allowed (elsewhere called Pure Hand)",
        per_hand=lambda win: is_closed(win) & (win.drawn | win.rules.closed_hand_on_discard)),
    Row("Robbing a Kong", "抢杠胡 qiǎng gàng hú", 2, "won with the tile that another player adds to their pung",
        per_hand=lambda win: win.robbed_kong),
    Row("Kong-Drawn Win", "杠上开花 gàng shàng kāi huā", 2,
        "won with the replacement tile of a kong; once, however many kongs",
        per_hand=on_kong_draw),
    Row("Single Hanging Tile", "大吊车 dà diào chē", 2,
        "four melds on the table, one tile in hand (knob single_hanging)",
        per_hand=lambda win: (
            win.own_melds == 4 if win.rules.single_hanging == "four_melds_out" else waits_for_one(win))),
    Row("Pure One Suit", "清一色 qīng yī sè", 3, "one suit, no honours",
        per_hand=lambda win: suits_of(win).pure),
    Row("Mixed One Suit", "混一色 hùn yī sè", 2, "one suit and honours",
        per_hand=lambda win: suits_of(win).mixed),
    Row("One Dragon", "一条龙 yī tiáo lóng", 2, "runs 123, 456 and 789 of one suit",
        shape=SETS_AND_PAIR, per_reading=lambda reading: _has_runs(reading, _SUIT_STARTS)),
    Row("Flower Dragon", "花龙 huā lóng", 5, "runs 123, 456 and 789, each of a different suit",
        shape=SETS_AND_PAIR, per_reading=lambda reading: _has_runs(reading, _MIXED_STARTS)),
    # The best of the family counts; neither Pure nor Mixed Seven Pairs is multiplied with its suit
    # (hebei.md#the-seven-pairs-family).
    Row("Seven Pairs", "七对 qī duì", 2, "seven pairs",
        shape=SEVEN_PAIRS),
    Row("Mixed Seven Pairs", "混七对 hùn qī duì", 4, "seven pairs of one suit and honours",
        shape=SEVEN_PAIRS, per_reading=lambda reading: reading.of(suits_of(reading.wins).mixed),
        replaces=("Seven Pairs", "Mixed One Suit")),
    Row("Pure Seven Pairs", "清七对 qīng qī duì", 5, "seven pairs of one suit",
        shape=SEVEN_PAIRS, per_reading=lambda reading: reading.of(suits_of(reading.wins).pure),
        replaces=("Seven Pairs", "Pure One Suit")),
    Row("Luxurious Seven Pairs", "豪华七对 háo huá qī duì", 8, "seven pairs with four alike once",
        shape=SEVEN_PAIRS, per_reading=lambda reading: _number_of_quads(reading) == 1,
        replaces=("Seven Pairs", "Mixed Seven Pairs", "Pure Seven Pairs")),
    Row("Double Luxurious Seven Pairs", "双豪华七对 shuāng háo huá qī duì", 16, "seven pairs with four alike twice",
        shape=SEVEN_PAIRS, per_reading=lambda reading: _number_of_quads(reading) == 2,
        replaces=("Seven Pairs", "Mixed Seven Pairs", "Pure Seven Pairs")),
    Row("Triple Luxurious Seven Pairs", "三豪华七对 sān háo huá qī duì", 32,
        "seven pairs with four alike three times",
        shape=SEVEN_PAIRS, per_reading=lambda reading: _number_of_quads(reading) == 3,
        replaces=("Seven Pairs", "Mixed Seven Pairs", "Pure Seven Pairs")),
    Row("Thirteen Orphans", "十三幺 shí sān yāo", 10, "one of each one, nine and honour, and one of them doubled",
        shape=THIRTEEN_ORPHANS),
)
PING_HU = Row("Ping Hu", "平胡 píng hú", 1, "none of the other rows but Dealer Win",
              unless=names(*PATTERNS))
# fmt: on


@dataclass(frozen=True, kw_only=True)
class Hebei(ScoredRules):
    """The rules of Hebei mahjong; the fields are its knobs."""

    name: ClassVar[str] = "hebei"
    title: ClassVar[str] = "Hebei"
    chinese: ClassVar[str] = "河北麻将"
    shapes: ClassVar[tuple[Shape, ...]] = (SETS_AND_PAIR, SEVEN_PAIRS, THIRTEEN_ORPHANS)
    rows: ClassVar[tuple[Row, ...]] = (DEALER_WIN, *PATTERNS, PING_HU)
    # The base point times the product of the rows, which may have a cap (hebei.md#what-a-hand-is-worth).
    arithmetic: ClassVar[Arithmetic] = Arithmetic(
        (Term(multiplied=EVERY_ROW),), at_most=ByKnob("cap"), times=ByKnob("base_score")
    )
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "a hand without any scoring pattern (Ping Hu) can only be won by self-draw",
            per_hand=lambda win: ~win.drawn,
            waived_by=names(*PATTERNS),
        ),
    )
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY,
        discard=ByKnob("discard_payers", {"discarder": Payer.GIVER_PAYS, "all": Payer.ALL_PAY}),
        robbed_kong=Payer.GIVER_PAYS,
    )

    reserve = 12  # tiles that are never drawn (hebei.md#the-wall)

    base_score: int = knob(
        1, minimum=1, about="the base point, which the multipliers multiply", chinese="底分，番种乘它"
    )
    initial_points: int = knob(50, about="points of each person when a match begins", chinese="一场开始时每人的分数")
    players: int = knob(3, choices=(3, 4), about="players at the table", chinese="同桌人数")
    rotation: bool = knob(
        False,
        about="four people, of whom three play: the winner of a hand makes room for the one who sat out",
        chinese="四人参加，三人打：胡牌的人下桌，换轮空的人上",
    )
    all_pungs: int = knob(3, choices=(3, 2), about="the multiplier of All Pungs", chinese="碰碰胡的倍数")
    cap: int | None = knob(
        None,
        minimum=1,
        none=True,
        about="the limit to which the product of the multipliers is cut",
        chinese="番种乘积的封顶",
    )
    single_hanging: str = knob(
        "four_melds_out",
        choices=("four_melds_out", "any_single_wait"),
        about="what Single Hanging Tile requires: four melds, or only one winning kind",
        chinese="大吊车要求什么：四副面子都在桌上，还是只等一种牌：四副落地 / 只等一种",
    )
    discard_payers: str = knob(
        "discarder",
        choices=("discarder", "all"),
        about="who pays for a win on a discard",
        chinese="点炮谁付：点炮者 / 各家",
    )
    closed_hand_on_discard: bool = knob(
        True, about="whether Closed Hand counts in a hand that is not self-drawn", chinese="点炮时门清算不算"
    )
    dealer_on_draw: str = knob(
        "stay", choices=("stay", "next"), about="who deals after a drawn hand", chinese="流局之后谁坐庄：连庄 / 下家"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotation and self.players != 3:
            raise RulesError("hebei: rotation=True needs players=3 (four people, of whom three play)")

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; measured in proportion to the base score, which multiplies everything."""
        return 3.6 * self.base_score

    @property
    def seats(self) -> int:
        """The number of players at the table."""
        return self.players

    @property
    def people(self) -> int:
        """The number of persons: the players, and the one who sits out in a rotation."""
        return 4 if self.rotation else self.players

    def kong_payments(self, state: State, seats: Seats, meld_type: int, from_seat: Any) -> Int32Array:
        """Return the payments for kongs, which the base point does not scale (hebei.md#kongs-are-paid-at-once)."""
        others = np.arange(self.seats) != seats.seat[:, None]
        amount = {MeldType.CONCEALED_KONG: 2, MeldType.EXPOSED_KONG: 2, MeldType.ADDED_KONG: 1}[MeldType(meld_type)]
        if meld_type == MeldType.EXPOSED_KONG:
            others = np.arange(self.seats) == np.asarray(from_seat)[:, None]
        return paid_by(others, np.full(len(seats), amount), seats.seat)

    def rotate(self, state: State, games: Games, winner: Int8Array) -> None:
        """Seat the person who sat out in the winner's place; after a drawn hand nobody moves."""
        if not self.rotation:
            return
        won = games[winner >= 0]
        seat = winner[winner >= 0]
        sits_out = (6 - state.person_at[won].sum(axis=1)).astype(np.int8)
        state.person_at[won, seat] = sits_out


def _number_of_quads(reading: Readings) -> Any:
    """Return [m] the number of kinds of which the hand has all four."""
    return reading.of(reading.wins.counts == 4).sum(axis=1)


def _has_runs(reading: Readings, starts: Any) -> BoolArray:
    """Return [m] whether all runs of one of the groups of starts ([groups, runs]) are there."""
    return np.any(np.all(reading.runs[:, starts] > 0, axis=2), axis=1)


RULES = Hebei()
