"""The shared vocabulary of scoring: predicates about hands and melds, without prices.

`Forms` are the ways to read n hands: every reading of a hand as sets and a pair with its melds, and one form for
each other shape. A variant prices forms; `best_forms` keeps the best one of each hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, UInt32Array
from mahjong_env.hands import POWER, SUIT, encode, orphan_kinds, pairs, readings, suit_summaries
from mahjong_env.scoring.wins import Wins

# Arrays, as numpy turns plain numbers into arrays in every call.
_NONE, _SEVEN, _NEARLY_ALL, _IMPOSSIBLE = (np.array(number, np.int8) for number in (0, 7, 12, 99))


@dataclass
class Forms:
    """m readings of hands as sets and a pair, melds included.

    Attributes:
        owner: [m] which hand.
        pair: [m] kind of the pair.
        triplets: [m, 34] triplets and kongs of each kind, melds included.
        hidden_triplets: [m, 34] triplets among the concealed tiles.
        runs: [m, 34] runs by their lowest tile, melds included.
        hidden_runs: [m, 34] runs among the concealed tiles.
    """

    owner: Games
    pair: Int8Array
    triplets: Int8Array
    hidden_triplets: Int8Array
    runs: Int8Array
    hidden_runs: Int8Array

    def __len__(self) -> int:
        """The number of readings."""
        return len(self.owner)

    @property
    def all_triplets(self) -> BoolArray:
        """[m] no set is a run."""
        return ~np.logical_or.reduce(self.runs, axis=1)

    @property
    def all_runs(self) -> BoolArray:
        """[m] every set is a run."""
        return ~np.logical_or.reduce(self.triplets, axis=1)


def read(wins: Wins, counts: Int8Array | None = None, hands: Games | None = None) -> Forms:
    """Every way to read hands as sets and a pair.

    Args:
        wins: the hands.
        counts: [m, 34] concealed tiles if they are not to be taken as they are (wild tiles replaced).
        hands: [m] whose they are; by default one row a hand.

    Returns:
        The readings; their owners are rows of ``counts``.
    """
    found = readings(wins.counts if counts is None else counts)
    owner = found.owner if hands is None else hands.take(found.owner)
    hidden_triplets, hidden_runs = found.triplets.view(np.int8), found.runs.view(np.int8)
    return Forms(
        owner=found.owner,
        pair=found.pair,
        triplets=hidden_triplets + wins.melded.triplets.take(owner, axis=0),
        hidden_triplets=hidden_triplets,
        runs=hidden_runs + wins.melded.chows.take(owner, axis=0),
        hidden_runs=hidden_runs,
    )


def all_tiles(wins: Wins, counts: Int8Array | None = None) -> Int8Array:
    """[n, 34] concealed and melded tiles, kongs counted as three; ``counts`` as for `read`, one row a hand."""
    return wins.melded.tiles + (wins.counts if counts is None else counts)


def suits_present(tiles: Int8Array) -> BoolArray:
    """[n, 4] whether there are tiles of each suit, and honours."""
    return encode(tiles) > 0  # a code is 0 where there are none


class SuitRows(NamedTuple):
    """Which hands are of one suit, or of none; [n] each, and no hand is two of them."""

    pure: BoolArray  # one suit, no honours (清一色 qīng yī sè)
    mixed: BoolArray  # one suit and honours (混一色 hùn yī sè)
    honours: BoolArray  # honours only (字一色 zì yī sè)


def suit_rows(present: BoolArray) -> SuitRows:
    """What `suits_present` makes of hands."""
    one, two, three, honours = present.T
    suits = one + two.astype(np.int8) + three
    one_suit = suits == 1
    return SuitRows(one_suit & ~honours, one_suit & honours, suits == 0)


def suits_of(wins: Wins) -> SuitRows:
    """Which hands are of one suit, or of none, wild tiles being the tiles that they are; [n] each."""
    return wins.once(_suits_of)


def _suits_of(wins: Wins) -> SuitRows:
    return suit_rows(suits_present(all_tiles(wins)))


def open_melds(wins: Wins) -> Int8Array:
    """[n] how many chows, pungs, exposed kongs and added kongs the winner has; all of them were claimed."""
    return wins.own_melds - count_melds(wins, MeldType.CONCEALED_KONG)


def count_melds(wins: Wins, *types: MeldType) -> Int8Array:
    """[n] how many of the winner's melds are of these types."""
    counts = wins.melded.types[:, types[0]]
    for meld_type in types[1:]:
        counts = counts + wins.melded.types[:, meld_type]
    return counts


def is_closed(wins: Wins) -> BoolArray:
    """[n] nothing was claimed: concealed kongs are the only melds (门清 mén qīng)."""
    return open_melds(wins) == 0


def on_kong_draw(wins: Wins) -> BoolArray:
    """[n] self-drawn with the replacement tile of a kong (杠上开花 gàng shàng kāi huā)."""
    return wins.drawn & (wins.kong_draws > 0)


def waits_for_one(wins: Wins) -> BoolArray:
    """[n] before the winning tile came, exactly one kind completed the hand (独听 dú tīng), in any shape.

    Kinds of which the player himself holds all four, melds included, do not count. For hands without wild tiles.
    """
    n = len(wins)
    before = wins.counts.copy()
    before[np.arange(n), wins.winning_tile] -= 1
    held = before + wins.melded.tiles + wins.melded.kongs
    codes = encode(before).repeat(NUM_KINDS, axis=0)  # a row for each kind that might come
    group = np.arange(0, codes.size, codes.shape[1]).reshape(n, NUM_KINDS) + SUIT
    codes.reshape(-1)[group] += np.where(before < 4, POWER, 0)
    completes = wins.rules.tiles_short(suit_summaries(codes), 0, wins.own_melds.repeat(NUM_KINDS)) <= 0
    return np.count_nonzero(completes.reshape(n, NUM_KINDS) & (held < 4), axis=1) == 1


# --- Shapes other than sets and a pair: how many tiles they lack (see Rules.tiles_short) ---


def short_of_seven_pairs(words: UInt32Array, melds: Any, total: UInt32Array | None = None) -> Int8Array:
    """[...] tiles that seven pairs still lack; four alike are two pairs. Impossible with melds.

    Args:
        words: [..., 4] see `Rules.tiles_short`.
        melds: [...] melds of the seat.
        total: [...] `hands.sum_summaries` of the words, where it is known already.
    """
    return np.where(melds == _NONE, _SEVEN - pairs(words, total), _IMPOSSIBLE)


def short_of_thirteen_orphans(words: UInt32Array, melds: Any, total: UInt32Array | None = None) -> Int8Array:
    """[...] tiles that the thirteen ones, nines and honours with one doubled still lack, in hands of 13 or 14 tiles.

    Arguments as for `short_of_seven_pairs`.
    """
    kinds = orphan_kinds(words, total)
    near = (kinds >= _NEARLY_ALL) & (melds == _NONE)
    if not np.count_nonzero(near):
        return np.full(near.shape, _IMPOSSIBLE)
    # With 12 kinds or 13 in a hand of 13 or 14 tiles, a pair can only be a pair of one of them.
    lacking = 13 - kinds + (pairs(words, total) == 0)
    return np.where(near, lacking, _IMPOSSIBLE).astype(np.int8)


def is_seven_pairs(wins: Wins) -> BoolArray:
    """[n] seven natural pairs."""
    return (wins.own_melds == 0) & ~(wins.counts & 1).any(axis=1) & (wins.counts.sum(axis=1) == 14)


def is_thirteen_orphans(wins: Wins) -> BoolArray:
    """[n] one of each one, nine and honour, and one of them doubled."""
    return short_of_thirteen_orphans(wins.suit_summaries, wins.own_melds) <= 0


# --- Choosing --------------------------------------------------------------------------------------------------------


def best_forms(owner: Games, value: Int64Array | Int32Array, n: int) -> Games:
    """For each of n hands the form of the highest value, the first of equals; -1 where a hand has no form.

    Args:
        owner: [m] the hand that a form belongs to.
        value: [m] what the form is worth.
        n: the number of hands.
    """
    best = np.full(n, -1, np.intp)
    # Where an owner is written several times, what is written last stays: the greatest value, its first form.
    order = len(owner) - 1 - np.argsort(value[::-1], kind="stable")
    best[owner.take(order)] = order
    return best


def first_failed(*bars: BoolArray) -> Int8Array:
    """[n] number of the first bar that holds, from 1; 0 where none does. ``bars``: [n] each."""
    never = np.zeros(len(bars[0]), np.bool_)
    return np.array([never, *bars]).argmax(axis=0).astype(np.int8)


# --- Paying ----------------------------------------------------------------------------------------------------------


def paid_by(payers: BoolArray, amount: Any, winner: Any) -> Int32Array:
    """Everyone who pays, pays ``amount`` to the winner.

    Args:
        payers: [n, S] who pays; the winner never does.
        amount: [n] or [n, S] what each payer pays.
        winner: [n] table seat.

    Returns:
        [n, S] int32, each row sums to zero.
    """
    amount = np.asarray(amount)
    payments = payers * (-amount[:, None] if amount.ndim == 1 else -amount).astype(np.int32)
    rows = np.arange(len(winner))
    payments[rows, winner] = 0
    payments[rows, winner] = -payments.sum(axis=1)
    return payments


def everyone(wins: Wins) -> BoolArray:
    """[n, S] all seats but the winner's."""
    return np.arange(wins.num_melds.shape[1]) != wins.seat[:, None]


def only(wins: Wins, seat: Any) -> BoolArray:
    """[n, S] one seat a win; nobody where the seat is -1."""
    return np.arange(wins.num_melds.shape[1]) == np.asarray(seat)[:, None]
