"""Wuhan mahjong (武汉麻将 Wǔhàn májiàng).

Its rules, written for players, are the page `wuhan.md` beside this file; docs/rules has it with the default knobs.
Version 0: first release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, GREEN, IS_TERMINAL, NORTH, NUM_ALL_KINDS, NUM_KINDS, RANK, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array
from mahjong_env.hands.codes import SUIT, encode
from mahjong_env.hands.summaries import (
    pairs,
    pairs_of_one,
    short_of_sets_and_258,
    short_of_sets_and_pair,
    suit_summaries,
)
from mahjong_env.ruleset.questions import Circumstance, ShortOfOne, knob
from mahjong_env.scoring.arithmetic import Arithmetic, Term
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.patterns import SuitRows, count_melds, on_kong_draw, open_melds, suit_rows, suits_present
from mahjong_env.scoring.payments import Payer, Payment
from mahjong_env.scoring.readings import SETS_AND_PAIR, Concealed, Readings, Shape
from mahjong_env.scoring.rows import ByKnob, Restriction, Row, names
from mahjong_env.scoring.wins import Wins
from mahjong_env.state.arrays import NO_SEAT, State

_RED_DISCARDS = 0
"""The index of the only mark of a seat: Red Dragons that it has discarded."""
_NUM_WILDS, _NATURAL_PAIRS, _NOBODY = np.int8(4), np.int8(5), np.int8(NO_SEAT)
_IS_258 = np.isin(RANK[:NUM_KINDS], (2, 5, 8))
_IS_RED = np.arange(NUM_ALL_KINDS) == RED
_NO_TERMINAL = np.where(IS_TERMINAL[:NUM_KINDS], np.int8(0), np.int8(-1))  # all bits, or none
_WINDS, _DRAGONS = slice(EAST, NORTH + 1), slice(WHITE, RED + 1)
_HANDS_PER_ROUND = 4


# --- Wild Card Seven Pairs --------------------------------------------------------------------------------------------


def is_wild_card_seven_pairs(wins: Wins) -> BoolArray:
    """Return [n] whether hands are four wild tiles and five natural pairs; four alike count as two of these."""
    possible = (wins.own_melds == 0) & (wins.wilds == _NUM_WILDS)
    return possible & ~(wins.counts & 1).any(axis=1) if possible.any() else possible


def _short_of_wild_card_seven_pairs(tiles: Concealed) -> Int8Array:
    """Return [...] the natural pairs that are lacking, a tile for each, and the four wild tiles."""
    return np.maximum(_NATURAL_PAIRS - pairs(tiles.summaries, tiles.total), 0) + _NUM_WILDS


def _read_wild_card_seven_pairs(shape: Shape, wins: Wins, which: Games) -> list[Readings]:
    """Return four readings of each hand: the wild tiles are of each suit in turn, or the tiles that they are."""
    owner = which.compress(is_wild_card_seven_pairs(wins).take(which)).repeat(4)
    taken_as = np.arange(len(owner)) % 4
    present = suits_present(wins.natural.take(owner, axis=0))
    own_group = SUIT[wins.wild.take(owner)]
    present[np.arange(len(owner)), np.where(taken_as == 3, own_group, taken_as)] = True
    return [Readings(wins, shape, owner, suits=suit_rows(present))]


WILD_CARD_SEVEN_PAIRS = Shape(
    "Wild Card Seven Pairs",
    _short_of_wild_card_seven_pairs,
    _read_wild_card_seven_pairs,
    concealed=True,
    short_of_one=lambda codes, total, with_pair, wilds: max(5 - pairs_of_one(total), 0) + 4,
)


# --- Rows that some reading has, found without reading ----------------------------------------------------------------


def _suits_of_naturals(wins: Wins) -> SuitRows:
    """Return the suit rows of the melds and the natural tiles; wild tiles can always stay within them."""
    return suit_rows(suits_present(wins.melded.tiles + wins.natural))


def _can_be_all_triplets(wins: Wins) -> BoolArray:
    beyond = wins.natural % 3
    lacking = np.where(beyond > 0, 3 - beyond, 0).sum(axis=1)
    # The pair is made of a kind that has tiles to spare, where it saves one tile, or else of two new ones.
    lacking += np.where(beyond.any(axis=1), -1, 2)
    return (lacking <= wins.jokers) & ~wins.melded.chows.any(axis=1)


def _can_be_big_three_dragons(wins: Wins) -> BoolArray:
    """Return [n] whether the dragons can be triplets and the rest complete."""
    possible = np.zeros(len(wins), np.bool_)
    natural = wins.natural
    wanted = np.where(wins.melded.triplets[:, _DRAGONS] > 0, 0, 3)
    taken = np.minimum(natural[:, _DRAGONS], wanted)
    left = wins.jokers - (wanted - taken).sum(axis=1)
    enough = np.flatnonzero(left >= 0)
    if enough.size:
        rest = natural[enough]
        rest[:, _DRAGONS] -= taken[enough].astype(np.int8)
        possible[enough] = short_of_sets_and_pair(suit_summaries(encode(rest))) <= left[enough]
    return possible


# --- Rows and restrictions --------------------------------------------------------------------------------------------


def _wild_kongs(wins: Wins) -> Any:
    """Return [n] the number of declared kongs of the wild tiles."""
    is_concealed = wins.own_type == int(MeldType.CONCEALED_KONG)
    return (is_concealed & (wins.own_kind == wins.wild[:, None])).sum(axis=1)


# fmt: off
LARGE = (
    Row("All Triplets", "碰碰胡 pèng pèng hú", 10, "every set is a triplet or kong",
        shape=SETS_AND_PAIR, per_reading=lambda reading: reading.all_pungs, in_some_reading=_can_be_all_triplets),
    # Among readings worth the same, Pure One Suit comes first, because the seat responsible for it pays at least as
    # much as would be paid otherwise.
    Row("Pure One Suit", "清一色 qīng yī sè", 10, "one suit, no honours",
        per_reading=lambda reading: reading.suits.pure,
        in_some_reading=lambda win: win.once(_suits_of_naturals).pure, preference=8),
    Row("Mixed One Suit", "混一色 hùn yī sè", 10, "one suit and honours",
        per_reading=lambda reading: reading.suits.mixed,
        in_some_reading=lambda win: win.once(_suits_of_naturals).mixed),
    Row("Terminals Only", "清老头 qīng lǎo tóu", 10, "ones and nines only",
        per_reading=lambda reading: ~(reading.tiles & _NO_TERMINAL).any(axis=1),
        comes_with="All Triplets", preference=1),
    Row("All Honors", "字一色 zì yī sè", 10, "winds and dragons only",
        per_reading=lambda reading: reading.suits.honours, comes_with="All Triplets", preference=2),
    Row("Full Demand", "全求人 quán qiú rén", 10, "four open melds, one tile in hand",
        per_hand=lambda win: open_melds(win) == 4),
    Row("Fishing the Bottom", "海底捞 hǎi dǐ lāo", 10, "self-drawn with the last tile of the wall",
        per_hand=lambda win: win.drawn & win.last_tile),
    Row("Kong Bloom", "杠上开花 gàng shàng kāi huā", 10, "self-drawn with the replacement tile of a kong",
        per_hand=on_kong_draw),
    Row("Robbing a Kong", "抢杠 qiǎng gàng", 10, "won with the tile that another player adds to their pung",
        per_hand=lambda win: win.robbed_kong),
    Row("Wild Card Seven Pairs", "七皮四赖 qī pí sì lài", 10, "the four wild tiles and five natural pairs",
        shape=WILD_CARD_SEVEN_PAIRS, in_some_reading=is_wild_card_seven_pairs),
    Row("Big Three Dragons", "大三元 dà sān yuán", 10, "triplets or kongs of White, Green and Red",
        shape=SETS_AND_PAIR, per_reading=lambda reading: (reading.triplets[:, _DRAGONS] > 0).all(axis=1),
        in_some_reading=_can_be_big_three_dragons),
    Row("Big Four Winds", "大四喜 dà sì xǐ", 10, "triplets or kongs of all four winds",
        shape=SETS_AND_PAIR, per_reading=lambda reading: (reading.triplets[:, _WINDS] > 0).all(axis=1),
        comes_with="All Triplets"),
)
FLAT = Row("Flat Hand", "平胡 píng hú", 1, "none of the Large rows below", unless=names(*LARGE))
FACTORS = (
    Row("Open Mouth", "开口翻 kāi kǒu fān", 2, "for each chow, pung, exposed kong and added kong",
        per_hand=open_melds),
    Row("Dealer", "庄家 zhuāng jiā", 2, "the winner is the dealer",
        per_hand=lambda win: win.by_dealer),
    Row("Self-Draw", "自摸 zì mō", 1.5, "won with a tile drawn by the winner",
        per_hand=lambda win: win.drawn),
    Row("Hard Win", "硬胡 yìng hú", 2, "no wild tile stands for another kind",
        per_reading=lambda reading: reading.wilds_are_themselves, preference=4),
    Row("Soft Win", "软胡 ruǎn hú", 1, "a wild tile stands for another kind",
        unless=("Hard Win",)),
    Row("Exposed Kong", "明杠 míng gàng", 2, "for each kong made with a discard",
        per_hand=lambda win: count_melds(win, MeldType.EXPOSED_KONG)),
    Row("Added Kong", "加杠 jiā gàng", 2, "for each pung with the fourth tile added",
        per_hand=lambda win: count_melds(win, MeldType.ADDED_KONG)),
    Row("Concealed Kong", "暗杠 àn gàng", 4, "for each kong of four tiles from the hand",
        per_hand=lambda win: count_melds(win, MeldType.CONCEALED_KONG) - _wild_kongs(win)),
    Row("Wild Card Kong", "癞子杠 lài zi gàng", ByKnob("wild_kong_multiplier"), "a kong of the four wild tiles",
        per_hand=lambda win: _wild_kongs(win) > 0),
    Row("Red Dragon", "红中杠 hóng zhōng gàng", 2, "for each Red Dragon that the winner has discarded",
        per_hand=lambda win: win.own_marks[:, _RED_DISCARDS]),
)
RESTRICTIONS = (  # wuhan.md#a-hand-that-may-win
    Restriction("nobody can claim a discarded wild tile, not even to win",
                per_hand=lambda win: ~win.drawn & (win.winning_tile == win.wild)),
    Restriction("nobody can claim a discarded Red Dragon, not even to win",
                per_hand=lambda win: ~win.drawn & (win.winning_tile == RED)),
    Restriction("a hand with a wild tile can only be won by self-draw",
                per_hand=lambda win: ~win.drawn & (win.wilds > 0) & (not win.rules.wild_hand_discard_win)),
    Restriction("the hand has no open meld (chow, pung, exposed or added kong)",
                per_hand=lambda win: open_melds(win) == 0, waived_by=("Wild Card Seven Pairs",)),
    Restriction("a Red Dragon in hand bars every win but Big Three Dragons",
                per_hand=lambda win: win.counts[:, RED] > 0, waived_by=("Big Three Dragons",)),
    Restriction("a small hand may hold one wild tile at most",
                per_hand=lambda win: win.wilds > 1, waived_by=names(*LARGE)),
    Restriction("the pair of a small hand must be 2, 5 or 8",
                per_reading=lambda reading: ~_IS_258.take(reading.pair),
                in_every_reading=lambda win: (
                    short_of_sets_and_258(win.suit_summaries, win.sum_of_summaries) > win.jokers),
                waived_by=names(*LARGE)),
)
# fmt: on
_ROWS = (FLAT, *LARGE, *FACTORS)
_NAMES = names(*_ROWS)


@dataclass(frozen=True, kw_only=True)
class Wuhan(ScoredRules):
    """The rules of Wuhan mahjong; the fields are its knobs."""

    name: ClassVar[str] = "wuhan"
    title: ClassVar[str] = "Wuhan"
    chinese: ClassVar[str] = "武汉麻将"
    shapes: ClassVar[tuple[Shape, ...]] = (SETS_AND_PAIR, WILD_CARD_SEVEN_PAIRS)
    rows: ClassVar[tuple[Row, ...]] = _ROWS
    # The sum of the base points times the product of the factors (wuhan.md#what-a-hand-is-worth).
    arithmetic: ClassVar[Arithmetic] = Arithmetic(
        (Term(added=slice(1 + len(LARGE)), multiplied=slice(1 + len(LARGE), None)),), at_most=ByKnob("cap")
    )
    restrictions: ClassVar[tuple[Restriction, ...]] = RESTRICTIONS
    payment: ClassVar[Payment] = Payment(
        draw=Payer.ALL_PAY,
        discard=ByKnob("discard_payers", {"all": Payer.ALL_PAY, "discarder": Payer.GIVER_PAYS}),
        robbed_kong=Payer.GIVER_PAYS_FOR_ALL,
    )
    circumstances: ClassVar[tuple[Circumstance, ...]] = (
        Circumstance(
            "red_discards",
            "Red Dragons that the winner has discarded",
            discarded=RED,
            words=("Red Dragons discarded", "打出红中"),
            after_discard=lambda red, kind, wild: red + (kind == RED),
        ),
    )
    has_wild: ClassVar[bool] = True
    wild_words: ClassVar[tuple[str, str]] = "wild card", "癞子"
    unclaimable_kinds: ClassVar[tuple[int, ...]] = (RED,)
    hides_concealed_kongs: ClassVar[bool] = False
    turns_indicator = True  # the tile after the deal (wuhan.md#which-tile-is-wild)
    never_melded = _IS_RED  # wuhan.md#red-dragons

    initial_points: int = knob(500, about="points of each person when a match begins", chinese="一场开始时每人的分数")
    cap: int | None = knob(
        500, minimum=1, none=True, about="the most that one payer owes for a hand", chinese="每家所付的封顶"
    )
    discard_payers: str = knob(
        "all",
        choices=("all", "discarder"),
        about="who pays for a win on a discard; Full Responsibility goes before it",
        chinese="点炮谁付（承包优先）：各家 / 点炮者",
    )
    dealer_rule: str = knob(
        "retain_else_next",
        choices=("retain_else_next", "winner_becomes", "always_next", "retain_on_draw"),
        about="who deals next: the dealer after winning, else the next seat; the winner; always the next seat; "
        "the dealer also after a draw",
        chinese="下一局谁坐庄：庄家胡则连庄，否则下家 / 胡家 / 总是下家 / 流局也连庄",
    )
    wild_kong_multiplier: int = knob(2, choices=(2, 4), about="the factor of a Wild Card Kong", chinese="癞子杠的倍数")
    wild_hand_discard_win: bool = knob(
        True,
        about="whether a hand with wild tiles may win on a discard or a robbed kong",
        chinese="有癞子的牌能不能点炮胡或抢杠",
    )
    red_indicator: str = knob(
        "white",
        choices=("white", "green"),
        about="the wild kind when a Red Dragon is turned up",
        chinese="翻开红中时哪种牌是癞子：白板 / 发财",
    )

    @property
    def sigma(self) -> float:
        """See `Rules.sigma`; a power of the cap, which agrees with what was measured with several caps to a fifth."""
        return 450.0 if self.cap is None else min(2.095 * self.cap**0.7, 450.0)

    def wild_kinds(self, indicator: Int8Array) -> Int8Array:
        """Return [n] the successors of the tiles turned up."""
        successor = np.arange(NUM_KINDS, dtype=np.int8) + np.int8(1)
        successor[8:EAST:9] -= np.int8(9)
        successor[GREEN] = EAST
        successor[RED] = WHITE if self.red_indicator == "white" else GREEN
        return successor[indicator]

    def concealed_kong_kinds(self, state: State, games: Games, counts: Int8Array) -> BoolArray:
        """Allow any kind but Red, the wild one included (wuhan.md#what-a-wild-tile-may-do, wuhan.md#red-dragons)."""
        return (counts == 4) & ~_IS_RED[:NUM_KINDS]

    def tiles_short(self, codes: Int32Array, wilds: Any, melds: Any) -> Int8Array:
        """Return the tiles short: sets and a pair need a meld on the table, Wild Card Seven Pairs must have none."""
        tiles = Concealed.of(codes, wilds, melds)
        seven_pairs = _short_of_wild_card_seven_pairs(tiles)
        return np.where(melds == 0, seven_pairs, short_of_sets_and_pair(tiles.summaries, tiles.total))

    def tiles_short_of_one(self) -> ShortOfOne | None:
        """Return `tiles_short` for one hand in plain numbers."""
        seven_pairs = WILD_CARD_SEVEN_PAIRS.short_of_one
        assert seven_pairs is not None
        return lambda codes, total, with_pair, wilds, melds: (
            with_pair if melds else seven_pairs(codes, total, with_pair, wilds)
        )

    def liable(self, wins: Wins, counts: Int8Array) -> Int8Array:
        """Return [n] the fully responsible seat, apart from one whose kong is robbed (wuhan.md#full-responsibility)."""
        full_demand = counts[:, _NAMES.index("Full Demand")] > 0
        liable = np.where(wins.on_discard & full_demand, wins.from_seat, _NOBODY)
        pure = counts[:, _NAMES.index("Pure One Suit")] > 0
        if pure.any():
            third = _third_feeder(wins)
            liable = np.where(pure & (third >= 0), third, liable)
        return liable

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
    """Return [n] the seat whose discard made the winner's third claimed meld, -1 for none."""
    claimed = (wins.own_type != int(MeldType.NONE)) & (wins.own_type != int(MeldType.CONCEALED_KONG))
    is_third = claimed & (claimed.cumsum(axis=1) == 3)
    feeder = wins.own_from[np.arange(len(wins)), is_third.argmax(axis=1)]
    return np.where(is_third.any(axis=1), feeder, _NOBODY)


RULES = Wuhan()
