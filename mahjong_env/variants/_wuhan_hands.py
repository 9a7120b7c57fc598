"""Wuhan mahjong: the scoring table, whether a hand may win, and the ways to read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import EAST, IS_TERMINAL, NORTH, NUM_KINDS, RANK, RED, WHITE
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.hands import encode, short_of_sets_and_258, short_of_sets_and_pair, substitutions, suit_summaries
from mahjong_env.scoring.patterns import count_melds, first_failed, read, suit_rows, suits_present
from mahjong_env.scoring.rows import Row
from mahjong_env.scoring.wins import Wins

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
PLACE = {row.name: place for place, row in enumerate(ROWS)}
LARGE = slice(PLACE["All Triplets"], PLACE["Open Mouth"])
"""The Large rows."""
FACTORS = slice(PLACE["Open Mouth"], len(ROWS))

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
(
    _INCOMPLETE,
    _WILD_CLAIMED,
    _RED_CLAIMED,
    _WILD_NOT_DRAWN,
    _NOT_OPEN,
    _HOLDS_RED,
    _TOO_MANY_WILDS,
    _WRONG_PAIR,
) = (np.int8(reason) for reason in range(1, len(REASONS)))

NUM_WILDS = 4
NATURAL_PAIRS = 5
"""Pairs of Wild Card Seven Pairs beside the wild tiles."""
RED_DISCARDS = 0
"""The place of the only mark of a seat: Red Dragons that it has discarded."""

_ANY_KIND = np.ones(NUM_KINDS, np.bool_)
_IS_258 = np.isin(RANK[:NUM_KINDS], (2, 5, 8))
_NO_TERMINAL = np.where(IS_TERMINAL[:NUM_KINDS], np.int8(0), np.int8(-1))  # all bits, or none
_WINDS = slice(EAST, NORTH + 1)
_DRAGONS = slice(WHITE, RED + 1)

# Of readings that are worth the same, the one with the greatest sum of these is taken. Pure One Suit comes first:
# whoever is responsible for it pays at least as much as would be paid otherwise.
_TIES = {"Pure One Suit": 8, "Hard Win": 4, "All Honors": 2, "Terminals Only": 1}
TIES = sum(_TIES.values()) + 1
_TIE_WEIGHTS = np.array([_TIES.get(row.name, 0) for row in ROWS], np.int8)


class Forms(NamedTuple):
    """m ways to read hands, in whatever shape."""

    owner: Games  # [m] which hand
    rows: BoolArray  # [m, rows] the Large rows that the tiles bring, Hard Win or Soft Win

    @property
    def preference(self) -> Int8Array:
        """[m] 0 to `TIES` - 1, the greater the better among readings of the same value."""
        return self.rows @ _TIE_WEIGHTS


# --- May it win? -----------------------------------------------------------------------------------------------------


def open_melds(wins: Wins) -> Int8Array:
    """[n] how many chows, pungs, exposed kongs and added kongs the winner has; all of them were claimed."""
    return wins.own_melds - count_melds(wins, MeldType.CONCEALED_KONG)


def situational_rows(wins: Wins) -> dict[str, BoolArray]:
    """[n] for each Large row that does not look at the tiles."""
    return {
        "Full Demand": open_melds(wins) == 4,
        "Fishing the Bottom": wins.drawn & wins.last_tile,
        "Kong Bloom": wins.drawn & (wins.kong_draws > 0),
        "Robbing a Kong": wins.robs_kong,
    }


def why_not(wins: Wins, *, wild_hand_discard_win: bool) -> Int8Array:
    """What bars each hand from winning (rulebook 1A.6, 1A.7, 1A.9).

    Args:
        wins: the hands.
        wild_hand_discard_win: the knob.

    Returns:
        [n] place in `REASONS`, 0 where the hand may win.
    """
    reason = why_not_read(wins, wild_hand_discard_win=wild_hand_discard_win)
    unbarred = np.flatnonzero((reason == 0) & ~is_wild_card_seven_pairs(wins))
    if unbarred.size:
        reason[unbarred] = why_no_reading(wins, unbarred)
    return reason


def why_not_read(wins: Wins, *, wild_hand_discard_win: bool) -> Int8Array:
    """`why_not`, as far as it is the same in all readings of a hand."""
    seven_pairs, claimed = is_wild_card_seven_pairs(wins), ~wins.drawn
    return first_failed(
        ~seven_pairs & (short_of_sets_and_pair(wins.suit_summaries) > wins.wilds),
        claimed & (wins.winning_tile == wins.wild),
        claimed & (wins.winning_tile == RED),
        claimed & (wins.wilds > 0) & (not wild_hand_discard_win),
        ~seven_pairs & (open_melds(wins) == 0),
        seven_pairs & (wins.counts[:, RED] > 0),
    )


def is_wild_card_seven_pairs(wins: Wins) -> BoolArray:
    """[n] four wild tiles and five natural pairs, four alike being two of them."""
    possible = (wins.own_melds == 0) & (wins.wilds == NUM_WILDS)
    return possible & ~(wins.counts & 1).any(axis=1) if possible.any() else possible


def why_no_reading(wins: Wins, hands: Games) -> Int8Array:
    """[m] what bars every reading of these hands, complete as sets and a pair; found without reading them."""
    wilds = wins.wilds.take(hands)
    reds = wins.counts[:, RED].take(hands) > 0
    small = (wilds <= 1) & (short_of_sets_and_258(wins.suit_summaries.take(hands, axis=0)) <= wilds)
    large = is_large_by_situation(wins).take(hands)
    reason = np.where(wilds > 1, _TOO_MANY_WILDS, _WRONG_PAIR)
    reason[reds] = _HOLDS_RED
    reason[~reds & (small | large)] = 0
    unsure = np.flatnonzero(reason)
    if not unsure.size:
        return reason

    hands, wilds = hands.take(unsure), wilds.take(unsure)
    naturals = wins.natural.take(hands, axis=0)
    # Wild tiles of a hand of one suit, or of one suit and honours, can always stay within it.
    large = suits_present(wins.melded.tiles.take(hands, axis=0) + naturals)[:, :3].sum(axis=1) <= 1
    no_runs = ~wins.melded.chows.take(hands, axis=0).any(axis=1)
    large |= no_runs & (_triplets_and_pair_missing(naturals) <= wilds)
    may_win = large & ~reds.take(unsure)
    left = np.flatnonzero(~may_win)
    triplets = wins.melded.triplets.take(hands.take(left), axis=0)
    may_win[left] = _can_be_big_three_dragons(naturals.take(left, axis=0), triplets, wilds.take(left))
    reason[unsure.compress(may_win)] = 0
    return reason


def is_large_by_situation(wins: Wins) -> BoolArray:
    """[n] any of the Large rows that do not look at the tiles."""
    return np.logical_or.reduce(list(situational_rows(wins).values()))


def _triplets_and_pair_missing(counts: Int8Array) -> Int8Array:
    """[n] fewest tiles to add to [n, 34] so that all form triplets and one pair."""
    beyond = counts % 3
    missing = np.where(beyond > 0, 3 - beyond, 0).sum(axis=1)
    # The pair is made of a kind that has tiles to spare, where it saves one tile, or else of two new ones.
    return (missing + np.where(beyond.any(axis=1), -1, 2)).astype(np.int8)


def _can_be_big_three_dragons(counts: Int8Array, melded: Int8Array, wilds: Int8Array) -> BoolArray:
    """[n] whether the dragons can be triplets and the rest complete.

    Args:
        counts: [n, 34] concealed tiles without wild ones.
        melded: [n, 34] pungs and kongs.
        wilds: [n] concealed wild tiles.
    """
    possible = np.zeros(len(counts), np.bool_)
    wanted = np.where(melded[:, _DRAGONS] > 0, 0, 3)
    taken = np.minimum(counts[:, _DRAGONS], wanted)
    left = wilds - (wanted - taken).sum(axis=1)
    enough = np.flatnonzero(left >= 0)
    if enough.size:
        rest = counts[enough]
        rest[:, _DRAGONS] -= taken[enough].astype(np.int8)
        possible[enough] = short_of_sets_and_pair(suit_summaries(encode(rest))) <= left[enough]
    return possible


# --- Ways to read it --------------------------------------------------------------------------------------------------


def legal_forms(wins: Wins, which: BoolArray) -> Forms:
    """Every reading with which these hands may win.

    Args:
        wins: the hands.
        which: [n] those that are to be read.
    """
    seven_pairs = is_wild_card_seven_pairs(wins)
    forms = _read_sets_and_pair(wins, np.flatnonzero(which & ~seven_pairs))
    pairs = np.flatnonzero(which & seven_pairs)
    if not pairs.size:
        return forms
    parts = zip(_read_seven_pairs(wins, pairs), forms, strict=True)
    return Forms(*(np.concatenate(arrays) for arrays in parts))


def _read_seven_pairs(wins: Wins, hands: Games) -> Forms:
    """The one form of each Wild Card Seven Pairs: hard, with the suit rows of its five natural pairs."""
    rows = _rows_of_tiles(wins.natural.take(hands, axis=0))
    rows[:, PLACE["Wild Card Seven Pairs"]] = True
    rows[:, PLACE["Hard Win"]] = True
    return Forms(hands, rows)


def _read_sets_and_pair(wins: Wins, hands: Games) -> Forms:
    """Every reading as sets and a pair, for everything that the wild tiles may stand for."""
    found = substitutions(wins.natural.take(hands, axis=0), wins.wilds.take(hands), _ANY_KIND)
    owner = hands.take(found.owner)
    counts = found.counts.view(np.int8)
    rows_of_tiles = _rows_of_tiles(wins.melded.tiles.take(owner, axis=0) + counts)
    wilds, wild = wins.wilds.take(owner), wins.wild.take(owner)
    as_themselves = np.where(wilds > 0, found.wild_as[np.arange(len(counts)), wild], 0)
    rows_of_tiles[:, PLACE["Hard Win"]] = as_themselves == wilds
    rows_of_tiles[:, PLACE["Soft Win"]] = as_themselves != wilds

    forms = read(wins, counts, owner)
    owner = owner.take(forms.owner)
    rows = rows_of_tiles.take(forms.owner, axis=0)
    rows[:, PLACE["All Triplets"]] = forms.all_triplets
    rows[:, PLACE["Big Three Dragons"]] = (forms.triplets[:, _DRAGONS] > 0).all(axis=1)
    rows[:, PLACE["Big Four Winds"]] = (forms.triplets[:, _WINDS] > 0).all(axis=1)

    small_is_legal = (wins.wilds.take(owner) <= 1) & _IS_258.take(forms.pair)
    large = rows[:, LARGE].any(axis=1) | is_large_by_situation(wins).take(owner)
    no_reds = wins.counts[:, RED].take(owner) == 0
    legal = np.flatnonzero((no_reds | rows[:, PLACE["Big Three Dragons"]]) & (large | small_is_legal))
    return Forms(owner.take(legal), rows.take(legal, axis=0))


def _rows_of_tiles(tiles: Int8Array) -> BoolArray:
    """[n, rows] the rows that look at nothing but the tiles."""
    rows = np.zeros((len(tiles), len(ROWS)), np.bool_)
    suits = suit_rows(suits_present(tiles))
    rows[:, PLACE["Pure One Suit"]] = suits.pure
    rows[:, PLACE["Mixed One Suit"]] = suits.mixed
    rows[:, PLACE["Terminals Only"]] = ~(tiles & _NO_TERMINAL).any(axis=1)
    rows[:, PLACE["All Honors"]] = suits.honours
    return rows
