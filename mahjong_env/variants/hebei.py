"""Hebei mahjong (河北麻将 Héběi májiàng).

Source: 002, "Hebei Mahjong". Version 0: first release.

**What is played.** 136 tiles, three players (four with `players=4`; four people of whom one sits out with
`rotation=True`). 13 tiles each, the dealer 14; the last twelve tiles of the wall are never drawn. Chows from the
previous player, pungs and kongs from anybody; kongs are paid at once. A hand is four sets and a pair, seven pairs
(four alike are two pairs), or thirteen orphans. A hand with none of the rows below but Dealer Win is a Ping Hu and
may only be won by self-draw.

**Payment.** The hand's value is the base point times the product of its rows. Self-draw: every other player pays it;
a discard: the discarder alone; a robbed kong: the konger alone. Kongs at once: concealed, every other player pays
2; from a discard, the discarder pays 2; added, every other player pays 1, also if nobody wins the hand.

**Readings and deviations**

====================================  ================================================================================
question                              here
====================================  ================================================================================
All Pungs x3 in the table, x2 in the  x3 (`all_pungs=2` for the other)
worked example
"add up all the multipliers"          their product, as the formula and the worked example have it
"the highest winning hand will be 8   no cap: the table itself goes to x32 (`cap=8` for that sentence)
times the lowest"
Single Hanging Tile stands twice      counted once: four melds on the table and one tile in hand
                                      (`single_hanging="any_single_wait"` for any wait on a single kind)
second "Double Luxurious" (x32)       three quads
the dealer after a draw               stays (`dealer_on_draw="next"`)
who pays for a discard                the discarder alone (`discard_payers="all"`)
discards are scattered, so that       observations show every discard with its owner and order: a player with perfect
players must remember them            memory
the replacement for an exposed kong   drawn, as for every kong: the sentence is missing in the source
====================================  ================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.errors import RulesError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int16Array, Int32Array, UInt32Array
from mahjong_env.hands import short_of_sets_and_pair, sum_summaries
from mahjong_env.ruleset.questions import Rules, knob
from mahjong_env.scoring.patterns import (
    SuitRows,
    all_tiles,
    best_forms,
    everyone,
    first_failed,
    is_closed,
    is_seven_pairs,
    is_thirteen_orphans,
    only,
    paid_by,
    read,
    short_of_seven_pairs,
    short_of_thirteen_orphans,
    suit_rows,
    suits_present,
    waits_for_one,
)
from mahjong_env.scoring.wins import Row, Scores, Wins
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

ROWS = (
    Row("Dealer Win", "庄家 zhuāng jiā", 2, "the winner is the dealer"),
    Row("All Pungs", "碰碰胡 pèng pèng hú", "3 (knob all_pungs)", "every set is a pung or kong"),
    Row("Closed Hand", "门清 mén qīng", 2, "nothing claimed; concealed kongs are allowed"),
    Row("Robbing a Kong", "抢杠胡 qiǎng gàng hú", 2, "won with the tile that another player adds to his pung"),
    Row(
        "Kong-Drawn Win",
        "杠上开花 gàng shàng kāi huā",
        2,
        "won with the replacement tile of a kong, once however many kongs",
    ),
    Row(
        "Single Hanging Tile",
        "大吊车 dà diào chē",
        2,
        "four melds on the table, one tile in hand (knob single_hanging)",
    ),
    Row("Pure One Suit", "清一色 qīng yī sè", 3, "one suit, no honours"),
    Row("Mixed One Suit", "混一色 hùn yī sè", 2, "one suit and honours"),
    Row("One Dragon", "一条龙 yī tiáo lóng", 2, "runs 123, 456 and 789 of one suit"),
    Row("Flower Dragon", "花龙 huā lóng", 5, "runs 123, 456 and 789, each of another suit"),
    Row("Seven Pairs", "七对 qī duì", 2, "seven pairs"),
    Row("Mixed Seven Pairs", "混七对 hùn qī duì", 4, "seven pairs of one suit and honours"),
    Row("Pure Seven Pairs", "清七对 qīng qī duì", 5, "seven pairs of one suit"),
    Row("Luxurious Seven Pairs", "豪华七对 háo huá qī duì", 8, "seven pairs with four alike once"),
    Row("Double Luxurious Seven Pairs", "双豪华七对 shuāng háo huá qī duì", 16, "seven pairs with four alike twice"),
    Row("Triple Luxurious Seven Pairs", "三豪华七对 sān háo huá qī duì", 32, "seven pairs with four alike three times"),
    Row("Thirteen Orphans", "十三幺 shí sān yāo", 10, "one of each one, nine and honour, and one of them doubled"),
    Row("Ping Hu", "平胡 píng hú", 1, "none of the rows above but Dealer Win"),
)
_PLACE = {row.name: place for place, row in enumerate(ROWS)}
_LUXURIES = ("Luxurious Seven Pairs", "Double Luxurious Seven Pairs", "Triple Luxurious Seven Pairs")
_PATTERNS = slice(_PLACE["Dealer Win"] + 1, _PLACE["Ping Hu"])
"""The rows that make a hand more than a Ping Hu."""
_SUIT_STARTS = np.array([[0, 3, 6], [9, 12, 15], [18, 21, 24]])
_MIXED_STARTS = np.array([[0, 12, 24], [0, 15, 21], [3, 9, 24], [3, 15, 18], [6, 9, 21], [6, 12, 18]])


@dataclass(frozen=True, kw_only=True)
class Hebei(Rules):
    """The rules of Hebei mahjong; the fields are its knobs."""

    name: ClassVar[str] = "hebei"
    title: ClassVar[str] = "Hebei"
    chinese: ClassVar[str] = "河北麻将"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    reasons: ClassVar[tuple[str, ...]] = (
        "",
        "the tiles are not a complete hand",
        "a hand without any scoring pattern (Ping Hu) can only be won by self-draw",
    )

    base_score: int = knob(1, minimum=1, about="the base point that multipliers multiply")
    initial_points: int = knob(50, minimum=0, about="points of each person when a match begins")
    players: int = knob(3, choices=(3, 4), about="players at the table")
    rotation: bool = knob(
        False,
        choices=(False, True),
        about="four people, three play: the winner of a hand makes room for the one who sat out",
    )
    all_pungs: int = knob(3, choices=(3, 2), about="the multiplier of All Pungs")
    cap: int | None = knob(None, minimum=1, none=True, about="the product of multipliers is cut to it")
    single_hanging: str = knob(
        "four_melds_out",
        choices=("four_melds_out", "any_single_wait"),
        about="what Single Hanging Tile wants: four melds, or one winning kind",
    )
    discard_payers: str = knob("discarder", choices=("discarder", "all"), about="who pays for a win on a discard")
    closed_hand_on_discard: bool = knob(
        True, choices=(True, False), about="whether Closed Hand counts unless self-drawn"
    )
    dealer_on_draw: str = knob("stay", choices=("stay", "next"), about="who deals after a drawn hand")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotation and self.players != 3:
            raise RulesError("hebei: rotation=True needs players=3 (four people, of whom three play)")

    @property
    def seats(self) -> int:
        """Players at the table."""
        return self.players

    @property
    def people(self) -> int:
        """Players, and the person who sits out in a rotation."""
        return 4 if self.rotation else self.players

    @property
    def reserve(self) -> int:
        """Twelve tiles are never drawn (002 §Breaking the Wall)."""
        return 12

    # --- Shapes and scoring -----------------------------------------------------------------------------------
    def tiles_short(self, words: UInt32Array, wilds: Any, melds: Any) -> Int8Array:
        """Four sets and a pair, seven pairs, or thirteen orphans (002 §Winning)."""
        total = sum_summaries(words)
        standard = short_of_sets_and_pair(words, total)
        if np.all(melds):
            return standard
        other = np.minimum(short_of_seven_pairs(words, melds, total), short_of_thirteen_orphans(words, melds, total))
        return np.minimum(standard, other)

    def score(self, wins: Wins) -> Scores:
        """The best form of each hand: base point times the product of its rows (002 §Winning Hand Payout Formula)."""
        n = len(wins)
        owner, forms = self._forms(wins)
        forms |= self._common_rows(wins).take(owner, axis=0)
        forms[:, _PLACE["Ping Hu"]] = ~forms[:, _PATTERNS].any(axis=1)
        product = np.where(forms, self._row_values, 1).prod(axis=1, dtype=np.int64)
        best = best_forms(owner, product, n)
        complete = best >= 0
        rows, value = np.zeros((n, len(ROWS)), np.bool_), np.zeros(n, np.int64)
        rows[complete] = forms.take(best[complete], axis=0)
        value[complete] = product.take(best[complete])
        if self.cap is not None:
            value = np.minimum(value, self.cap)

        reason = first_failed(~complete, rows[:, _PLACE["Ping Hu"]] & ~wins.drawn)
        legal = reason == 0
        points = self.base_score * value * legal
        return Scores(
            legal=legal,
            reason=reason,
            row_count=(rows & legal[:, None]).astype(np.int8),
            row_value=self._row_values[None].repeat(n, axis=0),
            points=points,
            payments=paid_by(self._payers(wins), points, wins.seat),
        )

    def legal(self, wins: Wins) -> BoolArray:
        """All complete hands but a Ping Hu that is not self-drawn.

        Every pattern multiplies, so that a hand that has one in any form is not scored as a Ping Hu.
        """
        legal = wins.drawn | self._common_rows(wins)[:, _PATTERNS].any(axis=1)
        unsure = np.flatnonzero(~legal)
        if unsure.size:
            owner, forms = self._forms(wins.take(unsure))
            legal[unsure.take(owner.compress(forms[:, _PATTERNS].any(axis=1)))] = True
        return legal

    @cached_property
    def _row_values(self) -> Int32Array:
        return np.array([self.all_pungs if row.name == "All Pungs" else row.value for row in ROWS], np.int32)

    def _common_rows(self, wins: Wins) -> BoolArray:
        """[n, rows] the rows that do not depend on how the tiles are read."""
        rows = np.zeros((len(wins), len(ROWS)), np.bool_)
        rows[:, _PLACE["Dealer Win"]] = wins.by_dealer
        rows[:, _PLACE["Closed Hand"]] = is_closed(wins) & (wins.drawn | self.closed_hand_on_discard)
        rows[:, _PLACE["Robbing a Kong"]] = wins.robs_kong
        rows[:, _PLACE["Kong-Drawn Win"]] = wins.drawn & (wins.kong_draws > 0)
        rows[:, _PLACE["Single Hanging Tile"]] = self._hangs(wins)
        return rows

    def _hangs(self, wins: Wins) -> BoolArray:
        if self.single_hanging == "four_melds_out":
            return wins.own_melds == 4
        return waits_for_one(wins, self.tiles_short)

    def _forms(self, wins: Wins) -> tuple[Games, BoolArray]:
        """Every form of every hand: [m] its owner, and [m, rows] the rows that the form brings."""
        suits = suit_rows(suits_present(all_tiles(wins)))
        standard = read(wins)
        rows = np.zeros((len(standard), len(ROWS)), np.bool_)
        rows[:, _PLACE["Pure One Suit"]] = suits.pure.take(standard.owner)
        rows[:, _PLACE["Mixed One Suit"]] = suits.mixed.take(standard.owner)
        rows[:, _PLACE["All Pungs"]] = standard.all_triplets
        rows[:, _PLACE["One Dragon"]] = _has_runs(standard.runs, _SUIT_STARTS)
        rows[:, _PLACE["Flower Dragon"]] = _has_runs(standard.runs, _MIXED_STARTS)
        if wins.own_melds.all():
            return standard.owner, rows
        parts = [(standard.owner, rows), *_forms_without_melds(wins, suits)]
        owners, forms = zip(*parts, strict=True)
        return np.concatenate(owners), np.concatenate(forms)

    def _payers(self, wins: Wins) -> BoolArray:
        by_all = wins.drawn
        if self.discard_payers == "all":
            by_all = by_all | wins.on_discard
        return np.where(by_all[:, None], everyone(wins), only(wins, wins.from_seat))

    # --- Kongs, deal, rotation --------------------------------------------------------------------------------
    def kong_payments(self, state: State, seats: Seats, meld_type: int, from_seat: Any) -> Int32Array:
        """002 §Instant Payout Table; not scaled by the base point."""
        others = np.arange(self.seats) != seats.seat[:, None]
        amount = {MeldType.CONCEALED_KONG: 2, MeldType.EXPOSED_KONG: 2, MeldType.ADDED_KONG: 1}[MeldType(meld_type)]
        if meld_type == MeldType.EXPOSED_KONG:
            others = np.arange(self.seats) == np.asarray(from_seat)[:, None]
        return paid_by(others, np.full(len(seats), amount), seats.seat)

    def succeed(self, state: State, games: Games, winner: Int16Array | Int8Array) -> None:
        """The dealer stays if he wins, and by default after a draw; else the next seat deals."""
        stays = winner == state.dealer[games]
        if self.dealer_on_draw == "stay":
            stays = stays | (winner < 0)
        self.pass_deal(state, games, stays)

    def rotate(self, state: State, games: Games, winner: Int8Array) -> None:
        """The winner makes room for the person who sat out, who takes his seat; after a draw nobody moves."""
        if not self.rotation:
            return
        won = games[winner >= 0]
        seat = winner[winner >= 0]
        sits_out = (6 - state.person_at[won].sum(axis=1)).astype(np.int8)
        state.person_at[won, seat] = sits_out


def _forms_without_melds(wins: Wins, suits: SuitRows) -> list[tuple[Games, BoolArray]]:
    """The forms of seven pairs and of thirteen orphans, as `Hebei._forms` returns them, in parts."""
    parts: list[tuple[Games, BoolArray]] = []

    def add_form(who: BoolArray, *names: str) -> None:
        owner = np.flatnonzero(who)
        form = np.zeros((len(owner), len(ROWS)), np.bool_)
        form[:, [_PLACE[name] for name in names]] = True
        parts.append((owner, form))

    # The best of the family counts; neither Pure nor Mixed Seven Pairs is multiplied with its suit (rulebook 3A.9).
    seven = is_seven_pairs(wins)
    if seven.any():
        quads = (wins.counts == 4).sum(axis=1)
        add_form(seven, "Seven Pairs")
        add_form(seven & suits.mixed, "Mixed Seven Pairs")
        add_form(seven & suits.pure, "Pure Seven Pairs")
        for number, luxury in enumerate(_LUXURIES, start=1):
            has_quads = seven & (quads == number)
            add_form(has_quads & ~suits.pure & ~suits.mixed, luxury)
            add_form(has_quads & suits.mixed, luxury, "Mixed One Suit")
            add_form(has_quads & suits.pure, luxury, "Pure One Suit")
    orphans = is_thirteen_orphans(wins)
    if orphans.any():
        add_form(orphans, "Thirteen Orphans")
    return parts


def _has_runs(runs: Int8Array, starts: Any) -> BoolArray:
    """[m] whether all runs of one of the groups of starts ([groups, runs]) are there."""
    return np.any(np.all(runs[:, starts] > 0, axis=2), axis=1)


RULES = Hebei()
