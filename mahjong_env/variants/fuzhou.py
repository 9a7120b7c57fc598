"""Fuzhou mahjong (福州麻将 Fúzhōu májiàng).

Its rules, written for players, are the page `fuzhou.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import FIRST_HONOUR, FLOWERS, NO_TILE, NUM_ALL_KINDS, NUM_KINDS, SEASONS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.hands.codes import POWER, SUIT
from mahjong_env.ruleset.questions import THE_WILD_KIND, Circumstance, knob
from mahjong_env.scoring.arithmetic import Arithmetic, Term
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import count_melds
from mahjong_env.scoring.payments import Payer, Payment
from mahjong_env.scoring.readings import SETS_AND_PAIR, SETS_AND_PAIR_AS_ONE, Readings, Shape, best_readings
from mahjong_env.scoring.rows import ByHand, ByKnob, Restriction, Row
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from mahjong_env.state.arrays import State
from mahjong_env.state.seats import Seats

_DISCARDED_GOLD = 0
"""The index of the only mark of a seat: whether it has discarded a gold."""
_SUITED_KINDS = np.arange(FIRST_HONOUR)
_HEAVEN, _ROBBERY = range(2)


def _read_where_it_matters(shape: Shape, wins: Wins, which: Games) -> list[Readings]:
    """Read fully the hands for which the reading matters; for all others any reading is worth the same.

    It matters for All Sequences, which allows no melded pung, and for Golden Pair and Golden Dragon, which need two
    golds.
    """
    matters = (~wins.melded.triplets.any(axis=1) | (wins.wilds >= 2)).take(which)
    read = SETS_AND_PAIR.readings(wins, which.compress(matters)) if matters.any() else []
    return read + SETS_AND_PAIR_AS_ONE.readings(wins, which.compress(~matters))


SETS_WITH_GOLDS = replace(SETS_AND_PAIR, read=_read_where_it_matters)

# fmt: off
# The rows before the special hands, whose sum is doubled.
BASIC = (
    Row("Base Points", "底分 dǐ fēn", ByKnob("base_score"), "every hand",
        per_hand=lambda win: 1),
    Row("Flower Points", "花分 huā fēn", 1, "each flower laid open, honours included",
        per_hand=lambda win: win.flowers.sum(axis=1)),
    Row("Full Bloom", "花杠 huā gàng", ByKnob("full_bloom", {"on_top": 6, "total": 2}),
        "all four flowers, seasons, or tiles of an honour",
        per_hand=lambda win: _full_sets_of_flowers(win.flowers)),
    Row("Gold Points", "金分 jīn fēn", 1, "each gold in the hand",
        per_hand=lambda win: win.wilds),
    Row("Dealer Continuation", "连庄 lián zhuāng", ByHand("1 a hand", lambda win: win.streak),
        "a dealer who wins: each hand for which the deal has already been kept",
        per_hand=lambda win: win.by_dealer & (win.streak > 0)),
    Row("Open Kong", "明杠 míng gàng", 1, "each exposed or added kong",
        per_hand=lambda win: count_melds(win, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG)),
    Row("Concealed Kong", "暗杠 àn gàng", ByKnob("concealed_kong"), "each concealed kong",
        per_hand=lambda win: count_melds(win, MeldType.CONCEALED_KONG)),
)
SPECIAL = (
    Row("All Sequences", "平胡 píng hú", ByKnob("all_sequences"), "every set is a run, melds included",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.all_runs),
    Row("One Flower", "只有一张花 zhǐ yǒu yī zhāng huā", 15, "exactly one flower laid open",
        per_hand=lambda win: win.flowers.sum(axis=1) == 1),
    Row("Golden Pair", "金雀 jīn què", 20, "the pair is two golds; does not stack",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.wild_as[np.arange(len(reading)), reading.pair] >= 2),
    Row("Three Gold Knockdown", "三金倒 sān jīn dǎo", 30, "three golds in the hand; does not stack",
        per_hand=lambda win: win.wilds >= 3),
    Row("Golden Dragon", "金龙 jīn lóng", 40, "three golds as a triplet; does not stack",
        shape=SETS_AND_PAIR,
        per_reading=lambda reading: ((reading.hidden_triplets > 0) & (reading.wild_as >= 3)).any(axis=1)),
    Row("Robbing the Gold", "抢金 qiǎng jīn", 50, "won with the gold that was turned up",
        per_hand=lambda win: win.opening),
    Row("Blessing of Earth", "地和 dì hé", 40, "a player other than the dealer wins on their first draw",
        per_hand=lambda win: win.first_draw & ~win.opening & ~win.by_dealer & ~win.flower_draw),
    Row("Blessing of Heaven", "天和 tiān hé", 50, "the dealer wins with the first 17 tiles",
        per_hand=lambda win: win.first_draw & ~win.opening & win.by_dealer),
)
RESTRICTIONS = (
    Restriction("a kong cannot be robbed (rob_kong=True allows it)",
                per_hand=lambda win: win.robbed_kong & (not win.rules.rob_kong)),
    Restriction("a discarded gold cannot be claimed, not even to win",
                per_hand=lambda win: ~win.drawn & (win.winning_tile == win.wild)),
    Restriction("a player who has discarded a gold can only win by self-draw",
                per_hand=lambda win: ~win.drawn & (win.own_marks[:, _DISCARDED_GOLD] > 0)),
)
# fmt: on
_NAMES = [row.name for row in (*BASIC, *SPECIAL)]
_IS_SPECIAL = np.isin(_NAMES, [row.name for row in SPECIAL])
_DOES_NOT_STACK = np.isin(_NAMES, ("Golden Pair", "Three Gold Knockdown", "Golden Dragon"))


@dataclass(frozen=True, kw_only=True)
class Fuzhou(ScoredRules):
    """The rules of Fuzhou mahjong; the fields are its knobs."""

    name: ClassVar[str] = "fuzhou"
    title: ClassVar[str] = "Fuzhou"
    chinese: ClassVar[str] = "福州麻将"
    shapes: ClassVar[tuple[Shape, ...]] = (SETS_WITH_GOLDS,)
    rows: ClassVar[tuple[Row, ...]] = (*BASIC, *SPECIAL)
    # The sum of the rows before the special hands is doubled (fuzhou.md#what-a-hand-is-worth).
    arithmetic: ClassVar[Arithmetic] = Arithmetic((Term(slice(len(BASIC)), times=2), Term(slice(len(BASIC), None))))
    restrictions: ClassVar[tuple[Restriction, ...]] = RESTRICTIONS
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY,
        discard=ByKnob("discard_payers", {"discarder": Payer.GIVER_PAYS, "all": Payer.ALL_PAY}),
        robbed_kong=ByKnob("discard_payers", {"discarder": Payer.GIVER_PAYS, "all": Payer.ALL_PAY}),
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "discarded_wild",
            "the winner has discarded a gold in this hand",
            type=bool,
            discarded=THE_WILD_KIND,
            words=("gold discarded", "打出金牌"),
            after_discard=lambda has, kind, wild: has | (kind == wild),  # fuzhou.md#discarding-a-gold
        ),
        Circumstance(
            "robbing_gold",
            "won before the first turn, with the gold that is turned up",
            type=bool,
            sets="opening",
            excludes=("kong_draws", "flower_draw", "first_draw", "discarded_wild"),
        ),
    )
    hand_size: ClassVar[int] = 16
    has_wild: ClassVar[bool] = True
    wild_words: ClassVar[tuple[str, str]] = "gold", "金"
    uses_flowers: ClassVar[bool] = True
    hides_concealed_kongs: ClassVar[bool] = False  # fuzhou.md#who-sees-a-concealed-kong
    opening_stages: ClassVar[int] = 2
    flower_kinds = np.arange(NUM_ALL_KINDS) >= FIRST_HONOUR  # and all honours (fuzhou.md#tiles-and-deal)
    reserve = 17  # with the gold, which is the last tile of the dead wall, 18 tiles (fuzhou.md#the-reserve)
    turns_indicator = True  # the gold, which is itself of the wild kind

    base_score: int = knob(5, minimum=1, about="the base points of every hand", chinese="每手牌的底分")
    initial_points: int = knob(50, about="points of each person when a match begins", chinese="一场开始时每人的分数")
    all_sequences: int = knob(10, choices=(10, 15), about="the value of All Sequences", chinese="平胡的分数")
    concealed_kong: int = knob(2, choices=(2, 1), about="the points of a concealed kong", chinese="暗杠的分数")
    full_bloom: str = knob(
        "on_top",
        choices=("on_top", "total"),
        about="a full set of flowers: 6 more than its flower points, or 6 in all",
        chinese="一套花齐：花分之外再加 6，还是总共 6：另加 / 总共",
    )
    specials: str = knob(
        "starred_or_sum",
        choices=("starred_or_sum", "highest"),
        about="special hands: the best that does not stack or the sum of the others, or the single best of all",
        chinese="特殊牌型：不叠加的最好一种与其余之和取大，还是只取最好一种：取大 / 只取一种",
    )
    discard_payers: str = knob(
        "discarder",
        choices=("discarder", "all"),
        about="who pays for a win on a discard",
        chinese="点炮谁付：点炮者 / 各家",
    )
    dealer_on_draw: str = knob(
        "next", choices=("next", "stay"), about="who deals after a drawn hand", chinese="流局之后谁坐庄：下家 / 连庄"
    )
    rob_kong: bool = knob(False, about="whether the tile added to a pung can be won", chinese="能不能抢杠")

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; measured as a part that grows with the base points and a constant part."""
        return 2.06 * self.base_score + 24.21

    @property
    def may_rob_kongs(self) -> bool:
        """See `Rules.may_rob_kongs`; a house rule."""
        return self.rob_kong

    def opening_options(self, state: State, games: Games, stage: int) -> tuple[BoolArray, Int8Array]:
        """Offer Heaven to the dealer; then offer robbing the gold, from the dealer's right on, to the dealer last."""
        dealer = state.dealer[games]
        rows = np.arange(len(games))
        may_win = np.zeros((len(games), self.seats), np.bool_)
        if stage == _HEAVEN:
            dealers = state.seats(games, dealer)
            golds = state.wilds_held(dealers)
            may_win[rows, dealer] = self.tiles_short(dealers.of(state.code), golds, 0) <= golds
            return may_win, dealer
        with_gold, golds = _with_gold(state, games)
        may_win[:] = self.tiles_short(with_gold, golds, 0) <= golds
        may_win[rows, dealer] = self._swaps(state, games).any(axis=1)
        return may_win, dealer

    def _swaps(self, state: State, games: Games) -> BoolArray:
        """Return [n, 27] tiles that the dealer may give up for a complete hand that has the gold as itself."""
        dealer, gold = state.dealer[games], state.wild[games]
        codes, golds = _with_gold(state, games)
        codes, golds = codes[np.arange(len(games)), dealer], golds[np.arange(len(games)), dealer]
        swaps = np.zeros((len(games), len(_SUITED_KINDS)), np.bool_)
        # The tile given up could have been part of a set with two tiles more.
        near = np.flatnonzero(self.tiles_short(codes, golds, 0) <= golds + 2)
        if not near.size:
            return swaps
        holds = state.hand[games[near], dealer[near], :FIRST_HONOUR] > 0
        is_gold = gold[near, None] == _SUITED_KINDS
        without = np.repeat(codes[near, None], len(_SUITED_KINDS), axis=1)
        without[:, _SUITED_KINDS, SUIT[_SUITED_KINDS]] -= np.where(holds & ~is_gold, POWER[_SUITED_KINDS], 0)
        golds_left = golds[near, None] - is_gold.astype(np.int8)
        swaps[near] = holds & (self.tiles_short(without, golds_left, 0) <= golds_left)
        return swaps

    def opening_tiles(self, state: State, seats: Seats, stage: Int8Array) -> tuple[Any, Any]:
        """Return the gold where it may be robbed, and the tile that the dealer gives up for it."""
        robs = stage == _ROBBERY
        return np.where(robs, state.wild[seats.game], np.int8(NO_TILE)), self._given(state, seats, robs)

    def take_opening(self, state: State, seats: Seats, stage: Int8Array) -> Wins:
        """Carry out the wins: a robbed gold joins the hand, and a tile that the dealer gives up takes its place.

        Heaven moves no tile.
        """
        games, robs = seats.game, stage == _ROBBERY
        gold, given = state.wild[games], self._given(state, seats, robs)
        swaps = given != NO_TILE
        state.remove_tiles(seats.take(swaps), given[swaps])
        state.add_tile(seats.take(robs), gold[robs])
        state.indicator[games[robs]] = given[robs]
        wins = wins_from_state(self, state, seats, np.where(robs, gold, state.drawn[games]), Source.DRAW, -1)
        wins.opening = robs
        return wins

    def _given(self, state: State, seats: Seats, robs: BoolArray) -> Int8Array:
        """Return [n] the tile that the dealer gives up for a robbed gold so that the hand is worth most; else -1."""
        given = np.full(len(seats), NO_TILE, np.int8)
        swaps = np.flatnonzero(robs & (seats.seat == state.dealer[seats.game]))
        if swaps.size:
            games = seats.game[swaps]
            game, kind = np.nonzero(self._swaps(state, games))
            g, each = games[game], np.arange(len(game))
            wins = wins_from_state(self, state, state.seats(g, state.dealer[g]), state.wild[g], Source.DRAW, -1)
            wins.counts[each, kind] -= 1
            wins.counts[each, state.wild[g]] += 1
            wins.opening[:] = True
            given[swaps] = kind[best_readings(game, self.score(wins).points, len(games))]
        return given

    def after_kong(self, state: State, seats: Seats, meld_type: int) -> None:
        """Enlarge the reserve; if fewer tiles than players are then left to draw, the hand is about to end.

        See fuzhou.md#the-reserve and fuzhou.md#when-a-kong-ends-the-hand.
        """
        games = seats.game
        state.reserve[games] += 2 if meld_type == MeldType.CONCEALED_KONG else 1
        state.closing[games] |= state.left(games) < self.seats

    def rows_that_count(self, counts: Int8Array, values: Any) -> Int8Array:
        """Keep of the special hands the best that does not stack or the sum of the others; or just the single best."""
        special = counts * values * _IS_SPECIAL
        lone = special if self.specials == "highest" else special * _DOES_NOT_STACK
        others = special - lone
        is_best = np.arange(len(self.rows)) == lone.argmax(axis=1)[:, None]
        use_best = lone.max(axis=1) > others.sum(axis=1)
        counted = np.where(use_best[:, None], is_best, others > 0)
        return counts * (counted | ~_IS_SPECIAL)


def _with_gold(state: State, games: Games) -> tuple[Int32Array, Int8Array]:
    """Return [n, S, 4] codes of all hands with the gold turned up, as the tile that it is, and [n, S] golds held."""
    gold = state.wild[games]
    codes = state.code[games]
    codes[np.arange(len(games)), :, SUIT[gold]] += POWER[gold][:, None]
    return codes, state.hand[games, :, gold]


def _full_sets_of_flowers(flowers: Int8Array) -> Int8Array:
    """Return [n] the sets of four flowers, four seasons, or four of an honour, among the flowers laid open [n, 42]."""
    four_alike = (flowers[:, FIRST_HONOUR:NUM_KINDS] == 4).sum(axis=1, dtype=np.int8)
    return four_alike + flowers[:, FLOWERS:SEASONS].all(axis=1) + flowers[:, SEASONS:].all(axis=1)


RULES = Fuzhou()
