"""Guangdong push-down mahjong (广东推倒胡 Guǎngdōng tuī dǎo hú); its rules for players are in guangdong.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR, WHITE
from mahjong_env.ruleset.questions import knob
from mahjong_env.scoring.arithmetic import product_of_rows
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import on_kong_draw, suits_of
from mahjong_env.scoring.payments import Payer, Payment, paid_by
from mahjong_env.scoring.readings import SETS_AND_PAIR, SEVEN_PAIRS, THIRTEEN_ORPHANS
from mahjong_env.scoring.rows import Restriction, Row, names

_KONGS = {MeldType.CONCEALED_KONG: 2, MeldType.EXPOSED_KONG: 3, MeldType.ADDED_KONG: 1}

PATTERNS = (
    Row(
        "All Pungs",
        "碰碰胡 pèng pèng hú",
        2,
        "every set is a pung or kong",
        per_reading=lambda reading: reading.all_pungs,
        shape=SETS_AND_PAIR,
    ),
    Row("Mixed One Suit", "混一色 hùn yī sè", 2, "one suit and honours", per_hand=lambda win: suits_of(win).mixed),
    Row("Pure One Suit", "清一色 qīng yī sè", 4, "one suit, no honours", per_hand=lambda win: suits_of(win).pure),
    Row("Seven Pairs", "七对 qī duì", 4, "seven pairs, four alike being two", shape=SEVEN_PAIRS),
    Row("Thirteen Orphans", "十三幺 shí sān yāo", 8, "each one, nine and honour, one doubled", shape=THIRTEEN_ORPHANS),
    Row("Kong-Drawn Win", "杠上开花 gàng shàng kāi huā", 2, "won with a kong's replacement", per_hand=on_kong_draw),
    Row(
        "Robbing a Kong",
        "抢杠胡 qiǎng gàng hú",
        2,
        "won with the tile that another player adds to his pung",
        per_hand=lambda win: win.robbed_kong,
    ),
)
"""Rows that are multiplied with each other."""
CHICKEN = Row("Chicken Hand", "鸡胡 jī hú", 1, "none of the rows above", unless=names(*PATTERNS))


def _horses(wins: Any) -> Any:
    """[n] tiles turned up that are the winner's: 1, 5, 9, East if he deals, 2, 6, South for the next, and so on."""
    tile = wins.turned_up.astype(np.intp)
    rank = np.where(tile < FIRST_HONOUR, tile % 9, tile - FIRST_HONOUR)
    owner = np.where(tile < WHITE, rank % 4, -1)  # dragons belong to nobody
    seat = (wins.seat - wins.dealer) % 4
    return ((owner == seat[:, None]) & (tile >= 0)).sum(axis=1)


HORSE = Row("Horse", "马 mǎ", 1, "each tile turned up after the win that is the winner's", per_hand=_horses)


@dataclass(frozen=True, kw_only=True)
class Guangdong(ScoredRules):
    """The rules of Guangdong push-down mahjong; the fields are its knobs."""

    name: ClassVar[str] = "guangdong"
    title: ClassVar[str] = "Guangdong"
    chinese: ClassVar[str] = "广东推倒胡"
    shapes: ClassVar[Any] = (SETS_AND_PAIR, SEVEN_PAIRS, THIRTEEN_ORPHANS)
    rows: ClassVar[tuple[Row, ...]] = (*PATTERNS, CHICKEN, HORSE)
    restrictions: ClassVar[tuple[Restriction, ...]] = (
        Restriction(
            "a discard does not win at this table",
            per_hand=lambda win: win.on_discard & (not win.rules.discards_win),
        ),
    )
    payment: ClassVar[Payment] = Payment(robbed_kong=Payer.GIVER_PAYS_FOR_ALL)

    discards_win: bool = knob(True, choices=(True, False), about="whether a hand may win with a discard")
    horses: int = knob(2, choices=(2, 4, 6, 0), about="tiles that are turned up after a win")
    base_score: int = knob(1, minimum=1, about="what the rows multiply")
    initial_points: int = knob(0, minimum=0, about="points of each person when a match begins")

    @property
    def sigma(self) -> float:
        """Measured with two horses."""
        return 2.7 * self.base_score

    @property
    def claims_chows(self) -> bool:
        """No discard is claimed for a run."""
        return False

    @property
    def turned_up_after_win(self) -> int:
        """The horses."""
        return self.horses

    def worth(self, counts: Any, values: Any) -> Any:
        """[m] the product of the rows, once more for each horse."""
        return product_of_rows(counts, values) * (1 + counts[:, -1].astype(np.int64))

    def points(self, worth: Any) -> Any:
        """[n] times the base score."""
        return worth * self.base_score

    def kong_payments(self, state: Any, seats: Any, meld_type: int, from_seat: Any) -> Any:
        """At once: 2 from everybody for a concealed kong, 1 for an added one, 3 from the discarder for an exposed."""
        payers = np.arange(self.seats) != seats.seat[:, None]
        if meld_type == MeldType.EXPOSED_KONG:
            payers = np.arange(self.seats) == np.asarray(from_seat)[:, None]
        return paid_by(payers, np.full(len(seats), _KONGS[MeldType(meld_type)]), seats.seat)


RULES = Guangdong()
