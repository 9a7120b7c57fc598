"""Wuhan mahjong (武汉麻将 Wǔhàn májiàng), also Wild Red Dragon Mahjong (红中赖子杠) or Open Mouth Mahjong (开口翻).

Source: 000, "Beginner's Guide to Wuhan Mahjong". Version 0: first release.

**What is played.** 136 tiles, four players, 13 tiles each, the dealer 14. Then one tile is turned up: its successor
(9 is followed by 1, North by White, Green by East) is the wild kind, of which all four tiles are in play; the other 82
tiles are drawn to the last. A wild tile stands for any tile of a winning hand. It never claims and is never claimed,
not even to win; four of them may be declared as a Wild Card Kong. Red Dragons are never claimed and never declared,
bar a win while one is in hand (but for Big Three Dragons), and each one that the winner has discarded doubles.

A hand is four sets and a pair, of which one set at least is open: a chow, a pung, or a kong that is not concealed. A
small hand needs a pair of 2, 5 or 8 and holds at most one wild tile; a hand with a Large row is free of both. The
other shape is Wild Card Seven Pairs: the four wild tiles and five natural pairs, nothing declared.

**Payment.** P = base x product of the factors, at most 500 (knob `cap`). The base is 1, or 10 for each Large row. Each
of the three others pays P, on a self-draw and on a discard. Full Responsibility (承包 chéng bāo): one player
pays all three shares alone, namely, the first of these that applies: whose discard made the third claimed meld of a
Pure One Suit; whose kong is robbed; who discards the winning tile of a Full Demand.

**Readings and deviations**

====================================  ==================================================================================
question                              here
====================================  ==================================================================================
who deals next: three sentences that  the dealer stays if he wins, else the next seat (`dealer_rule` for the others)
contradict each other
who pays for a discard: not said      every loser pays P (`discard_payers="discarder"`: he alone)
Wild Card Kong x4 in the text, x2 in  x2, and never x4 as a concealed kong besides (`wild_kong_multiplier=4`)
the table
Red turned up: not in the cycle       White is wild, as for North (`red_indicator="green"`)
wilds cannot be used for "winning by  a discarded wild is never won on (`wild_hand_discard_win=False`: a hand that holds
discard from others"                  one is not won on a discard or a robbed kong either)
"more than one Wild Card tile"        counts the tiles held, also those that stand as themselves, the winning tile
                                      included; those in a declared Wild Card Kong do not count
Terminals Only "from a single suit"   of any suits: one suit has too few
rows that imply each other            each is scored; only Pure One Suit, Mixed One Suit and All Honors exclude each
                                      other
Full Demand, Fishing the Bottom, Kong  free the pair and lift the limit of wild tiles: they are Large rows
Bloom, Robbing a Kong
must a Large hand be open             yes, all but Wild Card Seven Pairs
hard or soft seven pairs              hard, whatever suit rows the wild tiles help to
the cap "per hand"                    for each payer
several readings of one hand          the highest before the cap; of equals Pure One Suit first, then hard ones
round wind                            changes every four hands, and means nothing for the points
discards lie in an unorganised pile   observations show every discard with its owner and order: a player with perfect
                                      memory
====================================  ==================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mahjong_env.hands import look_up, pairs, sets_and_pair_missing, substitutions
from mahjong_env.notation import MeldType
from mahjong_env.patterns import (
    all_tiles,
    best_forms,
    count_melds,
    everyone,
    is_all_honours,
    is_mixed_one_suit,
    is_pure_one_suit,
    only,
    paid_by,
    read,
)
from mahjong_env.ruleset import Rules, knob
from mahjong_env.scoring import Row, Scores, Source, Wins
from mahjong_env.state import State
from mahjong_env.tiles import EAST, GREEN, IS_TERMINAL, NORTH, NUM_ALL_KINDS, NUM_KINDS, RANK, RED, WHITE
from mahjong_env.types import BoolArray, Float64Array, Games, Int8Array, Int16Array, Int64Array, UInt32Array

ROWS = (
    Row("Flat Hand", "平胡 píng hú", 1, "none of the Large rows below"),
    Row("All Triplets", "碰碰胡 pèng pèng hú", 10, "every set is a triplet or kong"),
    Row("Pure One Suit", "清一色 qīng yī sè", 10, "one suit, no honours"),
    Row("Mixed One Suit", "混一色 hùn yī sè", 10, "one suit and honours"),
    Row("Terminals Only", "清老头 qīng lǎo tóu", 10, "ones and nines only"),
    Row("All Honors", "字一色 zì yī sè", 10, "winds and dragons only"),
    Row("Full Demand", "全求人 quán qiú rén", 10, "four open melds, one tile in hand"),
    Row("Fishing the Bottom", "海底捞 hǎi dǐ lāo", 10, "self-drawn with the last tile of the wall"),
    Row("Kong Bloom", "杠上开花 gàng shàng kāi huā", 10, "self-drawn with the replacement tile of a kong"),
    Row("Robbing a Kong", "抢杠 qiǎng gàng", 10, "won with the tile that another player adds to his pung"),
    Row("Wild Card Seven Pairs", "七皮四赖 qī pí sì lài", 10, "the four wild tiles and five natural pairs"),
    Row("Big Three Dragons", "大三元 dà sān yuán", 10, "triplets or kongs of White, Green and Red"),
    Row("Big Four Winds", "大四喜 dà sì xǐ", 10, "triplets or kongs of all four winds"),
    Row("Open Mouth", "开口翻 kāi kǒu fān", 2, "for each chow, pung, exposed kong and added kong"),
    Row("Dealer", "庄家 zhuāng jiā", 2, "the winner is the dealer"),
    Row("Self-Draw", "自摸 zì mō", 1.5, "won with a tile drawn by oneself"),
    Row("Hard Win", "硬胡 yìng hú", 2, "no wild tile stands for another kind"),
    Row("Soft Win", "软胡 ruǎn hú", 1, "a wild tile stands for another kind"),
    Row("Exposed Kong", "明杠 míng gàng", 2, "for each kong made with a discard"),
    Row("Added Kong", "加杠 jiā gàng", 2, "for each pung with the fourth tile added"),
    Row("Concealed Kong", "暗杠 àn gàng", 4, "for each kong of four tiles of the hand"),
    Row("Wild Card Kong", "癞子杠 lài zi gàng", "2 (knob wild_kong_multiplier)", "a kong of the four wild tiles"),
    Row("Red Dragon", "红中杠 hóng zhōng gàng", 2, "for each Red Dragon that the winner has discarded"),
)
_PLACE = {row.name: place for place, row in enumerate(ROWS)}
_LARGE = slice(_PLACE["All Triplets"], _PLACE["Open Mouth"])
_LARGE_BASE = 10
_FACTORS = slice(_PLACE["Open Mouth"], len(ROWS))

# Of readings that are worth the same, the one that comes first here is taken; the others follow the order of the search.
_TIES = {"Pure One Suit": 8, "Hard Win": 4, "All Honors": 2, "Terminals Only": 1}

_OPEN_MELDS = (MeldType.CHOW, MeldType.PUNG, MeldType.EXPOSED_KONG, MeldType.ADDED_KONG)
_ANY_KIND = np.ones(NUM_KINDS, np.bool_)
_IS_RED = np.arange(NUM_ALL_KINDS) == RED
_IS_258 = np.isin(RANK[:NUM_KINDS], (2, 5, 8))
_NO_TERMINALS = ~IS_TERMINAL[:NUM_KINDS]
_WINDS = np.arange(EAST, NORTH + 1)
_DRAGONS = np.array([WHITE, GREEN, RED])
_WILDS_OF_PAIRS, _PAIRS_BESIDE_WILDS = 4, 5
_HANDS_PER_ROUND = 4
_RED_DISCARDS = 0  # among the marks

REASONS = (
    "",
    "the tiles are not a complete hand",
    "a discarded wild tile can be claimed by nobody, not even to win",
    "a discarded Red Dragon can be claimed by nobody, not even to win",
    "a hand with a wild tile can only be won by self-draw",
    "the hand has no open meld (chow, pung, exposed or added kong)",
    "a Red Dragon in hand bars every win but Big Three Dragons",
    "a small hand may hold one wild tile at most",
    "the pair of a small hand must be 2, 5 or 8",
)
_INCOMPLETE, _WILD_CLAIMED, _RED_CLAIMED, _WILD_NOT_DRAWN, _NOT_OPEN, _HOLDS_RED, _TOO_MANY_WILDS, _WRONG_PAIR = range(1, 9)


class _Forms(NamedTuple):
    """m ways to read hands, in whatever shape."""

    owner: Games  # [m] which hand
    rows: BoolArray  # [m, rows] Large rows by the tiles, Hard Win or Soft Win
    pair_is_258: BoolArray  # [m]


@dataclass(frozen=True, kw_only=True)
class Wuhan(Rules):
    """The rules of Wuhan mahjong; the fields are its knobs."""

    name: ClassVar[str] = "wuhan"
    title: ClassVar[str] = "Wuhan"
    chinese: ClassVar[str] = "武汉麻将"
    rows: ClassVar[tuple[Row, ...]] = ROWS
    reasons: ClassVar[tuple[str, ...]] = REASONS
    marks: ClassVar[tuple[str, ...]] = ("red_discards",)
    has_wild: ClassVar[bool] = True
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

    # --- The wild tile and the Reds ---------------------------------------------------------------------------
    @property
    def turns_indicator(self) -> bool:
        """The tile after the deal is turned up (000 §Determining the Wild Card)."""
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
        """Red Dragons (000 §The Cursed Red Dragon Tile)."""
        return _IS_RED

    def unclaimable(self, state: State, games: Games) -> BoolArray:
        """Wild tiles and Red Dragons."""
        offered = state.offered[games]
        return (offered == state.wild[games]) | (offered == RED)

    def konged_in_hand(self, state: State, games: Games, counts: Int8Array) -> BoolArray:
        """Any kind but Red, the wild one included (rulebook 1A.6, 1A.7)."""
        return (counts == 4) & ~_IS_RED[:NUM_KINDS]

    def on_discard(self, state: State, games: Games, seat: Int8Array, kind: Int8Array) -> None:
        """Count the Red Dragons that each seat discards."""
        state.marks[games, seat, _RED_DISCARDS] += kind == RED

    # --- Shapes -----------------------------------------------------------------------------------------------
    def missing(self, words: UInt32Array, wilds: Any, melds: Any) -> Int8Array:
        """Sets and a pair need a meld on the table, which Wild Card Seven Pairs must not have."""
        pairs_missing = np.maximum(_PAIRS_BESIDE_WILDS - pairs(words), 0) + _WILDS_OF_PAIRS
        return np.where(np.asarray(melds) == 0, pairs_missing, sets_and_pair_missing(words)).astype(np.int8)

    # --- Scoring ----------------------------------------------------------------------------------------------
    def score(self, wins: Wins) -> Scores:
        """The best form of each hand: base times the product of the factors (000 §Winning Hand Payout Formula)."""
        n = len(wins)
        counts = self._situation(wins)
        seven_pairs = _is_wild_card_seven_pairs(wins)
        reason = self._barred(wins, seven_pairs)
        forms = _join(_seven_pairs(wins, (reason == 0) & seven_pairs), _sets_and_pair(wins, (reason == 0) & ~seven_pairs))

        large = forms.rows[:, _LARGE] | (counts[forms.owner, _LARGE] > 0)
        base = np.maximum(_LARGE_BASE * large.sum(axis=1), 1)
        values = self._row_values()
        # Multiples of a half far below 2**52: floats are exact.
        product = (values[_FACTORS] ** counts[:, _FACTORS]).prod(axis=1)
        hard = np.where(forms.rows[:, _PLACE["Hard Win"]], values[_PLACE["Hard Win"]], 1)
        value = np.ceil(base * product[forms.owner] * hard).astype(np.int64)

        obstacle = _obstacle(wins, forms, large.any(axis=1))
        best = best_forms(forms.owner, np.where(obstacle == 0, value * 16 + _tie_break(forms), -obstacle), n)
        read_ = np.flatnonzero(best >= 0)
        reason[read_] = obstacle[best[read_]]
        won = read_[reason[read_] == 0]
        rows = np.zeros(counts.shape, np.int8)
        rows[won] = counts[won] + forms.rows[best[won]]
        rows[won, _PLACE["Flat Hand"]] = ~rows[won, _LARGE].any(axis=1)
        points = np.zeros(n, np.int64)
        points[won] = value[best[won]] if self.cap is None else np.minimum(value[best[won]], self.cap)
        return Scores(
            legal=reason == 0,
            reason=reason,
            row_count=rows,
            row_value=np.broadcast_to(values, rows.shape),
            points=points,
            payments=self._payments(wins, points, rows),
        )

    def _row_values(self) -> Float64Array:
        return np.array(
            [self.wild_kong_multiplier if isinstance(row.value, str) else row.value for row in ROWS], np.float64
        )

    def _situation(self, wins: Wins) -> Int8Array:
        """[n, rows] entries of the rows that do not depend on how the tiles are read."""
        counts = np.zeros((len(wins), len(ROWS)), np.int8)
        drawn = wins.source == Source.DRAW
        is_concealed = wins.own_type == MeldType.CONCEALED_KONG
        is_wild = is_concealed & (wins.own_kind == wins.wild[:, None])
        open_melds = count_melds(wins, *_OPEN_MELDS)
        counts[:, _PLACE["Full Demand"]] = open_melds == 4
        counts[:, _PLACE["Fishing the Bottom"]] = drawn & wins.last_tile
        counts[:, _PLACE["Kong Bloom"]] = drawn & (wins.kong_draws > 0)
        counts[:, _PLACE["Robbing a Kong"]] = wins.source == Source.KONG
        counts[:, _PLACE["Open Mouth"]] = open_melds
        counts[:, _PLACE["Dealer"]] = wins.seat == wins.dealer
        counts[:, _PLACE["Self-Draw"]] = drawn
        counts[:, _PLACE["Exposed Kong"]] = count_melds(wins, MeldType.EXPOSED_KONG)
        counts[:, _PLACE["Added Kong"]] = count_melds(wins, MeldType.ADDED_KONG)
        counts[:, _PLACE["Concealed Kong"]] = (is_concealed & ~is_wild).sum(axis=1)
        counts[:, _PLACE["Wild Card Kong"]] = is_wild.any(axis=1)
        counts[:, _PLACE["Red Dragon"]] = wins.own_marks[:, _RED_DISCARDS]
        return counts

    def _barred(self, wins: Wins, seven_pairs: BoolArray) -> Int8Array:
        """[n] what bars a win however the tiles are read, 0 for nothing."""
        reason = np.zeros(len(wins), np.int8)
        claimed = wins.source != Source.DRAW
        opened = count_melds(wins, *_OPEN_MELDS) > 0
        reason[~opened & ~seven_pairs] = _NOT_OPEN
        if not self.wild_hand_discard_win:
            reason[claimed & (wins.wilds > 0)] = _WILD_NOT_DRAWN
        reason[claimed & (wins.winning_tile == RED)] = _RED_CLAIMED
        reason[claimed & (wins.winning_tile == wins.wild)] = _WILD_CLAIMED
        reason[(sets_and_pair_missing(look_up(wins.codes)) > wins.wilds) & ~seven_pairs] = _INCOMPLETE
        return reason

    def _payments(self, wins: Wins, points: Int64Array, rows: Int8Array) -> Any:
        """Everybody pays, or the discarder alone, or whoever is fully responsible (rulebook 1A.14, 1A.15)."""
        discard = wins.source == Source.DISCARD
        robbed = wins.source == Source.KONG
        fed = robbed | (discard & (rows[:, _PLACE["Full Demand"]] > 0))
        third = _third_feeder(wins)
        fed_suit = (rows[:, _PLACE["Pure One Suit"]] > 0) & (third >= 0)
        responsible = np.where(fed_suit, third, np.where(fed, wins.from_seat, -1))
        alone = responsible if self.discard_payers == "all" else np.where(fed_suit | ~discard, responsible, wins.from_seat)
        payers = np.where(alone[:, None] >= 0, only(wins, alone), everyone(wins))
        shares = np.where(responsible >= 0, self.seats - 1, 1)
        return paid_by(payers, points * shares, wins.seat)

    # --- The next hand ----------------------------------------------------------------------------------------
    def succeed(self, state: State, games: Games, winner: Int16Array | Int8Array) -> None:
        """Pass the deal on by `dealer_rule`; the round wind changes every four hands (rulebook 1A.2, 1A.3)."""
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
        state.round_wind[games] = (state.round_wind[games] + begins_round) % len(_WINDS)


# --- Ways to read a hand ---------------------------------------------------------------------------------------------


def _is_wild_card_seven_pairs(wins: Wins) -> BoolArray:
    """[n] four wild tiles and five natural pairs, four alike being two of them."""
    even = (wins.counts % 2 == 0).all(axis=1)
    return even & (wins.own_melds == 0) & (wins.wilds == _WILDS_OF_PAIRS)


def _seven_pairs(wins: Wins, which: BoolArray) -> _Forms:
    """The one form of each Wild Card Seven Pairs: hard, with the suit rows of its five natural pairs."""
    owner = np.flatnonzero(which)
    rows = np.zeros((len(owner), len(ROWS)), np.bool_)
    _mark_suits(rows, wins.take(owner).natural)
    rows[:, _PLACE["Wild Card Seven Pairs"]] = True
    rows[:, _PLACE["Hard Win"]] = True
    return _Forms(owner, rows, np.zeros(len(owner), np.bool_))


def _sets_and_pair(wins: Wins, which: BoolArray) -> _Forms:
    """Every reading as sets and a pair, for everything that the wild tiles may stand for."""
    hands = np.flatnonzero(which)
    if not hands.size:
        return _Forms(hands, np.zeros((0, len(ROWS)), np.bool_), np.zeros(0, np.bool_))
    held = wins.take(hands)
    found = substitutions(held.natural, held.wilds, _ANY_KIND)
    completed = held.take(found.owner)
    counts = found.counts.astype(np.int8)
    of_tiles = np.zeros((len(counts), len(ROWS)), np.bool_)
    _mark_suits(of_tiles, all_tiles(completed, counts))
    stand_as_themselves = found.wild_as[np.arange(len(counts)), completed.wild] == completed.wilds
    hard = stand_as_themselves | (completed.wilds == 0)
    of_tiles[:, _PLACE["Hard Win"]] = hard
    of_tiles[:, _PLACE["Soft Win"]] = ~hard

    forms = read(completed, counts)
    rows = of_tiles[forms.owner]
    rows[:, _PLACE["All Triplets"]] = forms.all_triplets
    rows[:, _PLACE["Big Three Dragons"]] = (forms.triplets[:, _DRAGONS] > 0).all(axis=1)
    rows[:, _PLACE["Big Four Winds"]] = (forms.triplets[:, _WINDS] > 0).all(axis=1)
    return _Forms(hands[found.owner[forms.owner]], rows, _IS_258[forms.pair])


def _mark_suits(rows: BoolArray, tiles: Int8Array) -> None:
    """Set the rows that look at the tiles alone."""
    rows[:, _PLACE["Pure One Suit"]] = is_pure_one_suit(tiles)
    rows[:, _PLACE["Mixed One Suit"]] = is_mixed_one_suit(tiles)
    rows[:, _PLACE["Terminals Only"]] = ~tiles[:, _NO_TERMINALS].any(axis=1)
    rows[:, _PLACE["All Honors"]] = is_all_honours(tiles)


def _join(*parts: _Forms) -> _Forms:
    return _Forms(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _obstacle(wins: Wins, forms: _Forms, large: BoolArray) -> Int8Array:
    """[m] what bars a win with this reading, 0 for nothing (rulebook 1A.9 b to d)."""
    obstacle = np.zeros(len(forms.owner), np.int8)
    obstacle[~large & ~forms.pair_is_258] = _WRONG_PAIR
    obstacle[~large & (wins.wilds[forms.owner] > 1)] = _TOO_MANY_WILDS
    holds_red = wins.counts[forms.owner, RED] > 0
    obstacle[holds_red & ~forms.rows[:, _PLACE["Big Three Dragons"]]] = _HOLDS_RED
    return obstacle


def _tie_break(forms: _Forms) -> Int64Array:
    """[m] integers below 16."""
    return sum((weight * forms.rows[:, _PLACE[name]] for name, weight in _TIES.items()), np.zeros(1, np.int64))


def _third_feeder(wins: Wins) -> Int8Array:
    """[n] the seat whose discard made the winner's third claimed meld, -1 for none."""
    claimed = np.isin(wins.own_type, _OPEN_MELDS)
    is_third = claimed & (claimed.cumsum(axis=1) == 3)
    feeder = wins.own_from[np.arange(len(wins)), is_third.argmax(axis=1)]
    return np.where(is_third.any(axis=1), feeder, -1).astype(np.int8)


RULES = Wuhan()
