"""The shared vocabulary of scoring: predicates about hands and melds, without prices.

`Forms` are the ways to read n hands: every reading of a hand as sets and a pair with its melds, and one form for
each other shape. A variant prices forms; `best_forms` keeps the best one of each hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahjong_env.hands import POWER, SUIT, encode, look_up, orphan_kinds, pairs, readings
from mahjong_env.notation import MeldType
from mahjong_env.scoring import Wins
from mahjong_env.tiles import HONOURS, NUM_KINDS
from mahjong_env.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, UInt32Array

_IMPOSSIBLE = np.int8(99)


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
        return ~np.any(self.runs, axis=1)

    @property
    def all_runs(self) -> BoolArray:
        """[m] every set is a run."""
        return ~np.any(self.triplets, axis=1)


def read(wins: Wins, counts: Int8Array | None = None) -> Forms:
    """Every way to read the hands as sets and a pair.

    Args:
        wins: the hands.
        counts: [n, 34] concealed tiles if they are not to be taken as they are (wild tiles replaced).
    """
    found = readings(wins.counts if counts is None else counts)
    chows, triplets = melded_sets(wins)
    hidden_triplets = found.triplets.astype(np.int8)
    hidden_runs = found.runs.astype(np.int8)
    return Forms(
        owner=found.owner,
        pair=found.pair,
        triplets=hidden_triplets + triplets[found.owner],
        hidden_triplets=hidden_triplets,
        runs=hidden_runs + chows[found.owner],
        hidden_runs=hidden_runs,
    )


def melded_sets(wins: Wins) -> tuple[Int8Array, Int8Array]:
    """[n, 34] chows by their lowest tile, and [n, 34] pungs and kongs, among the winner's melds."""
    types, kinds = wins.own_type, wins.own_kind
    hand, place = np.nonzero(types)
    is_triplet = types[hand, place] > MeldType.CHOW
    cell = (is_triplet * len(wins) + hand) * NUM_KINDS + kinds[hand, place]
    sets = np.bincount(cell, minlength=2 * len(wins) * NUM_KINDS).astype(np.int8).reshape(2, len(wins), NUM_KINDS)
    return sets[0], sets[1]


def all_tiles(wins: Wins, counts: Int8Array | None = None) -> Int8Array:
    """[n, 34] concealed and melded tiles, kongs counted as three."""
    chows, triplets = melded_sets(wins)
    tiles = (wins.counts if counts is None else counts) + 3 * triplets + chows
    tiles[:, 1:] += chows[:, :-1]
    tiles[:, 2:] += chows[:, :-2]
    return tiles


def suits_present(tiles: Int8Array) -> BoolArray:
    """[n, 4] whether there are tiles of each suit, and honours."""
    suits = tiles[:, :HONOURS].reshape(-1, 3, 9).any(axis=2)
    return np.column_stack([suits, tiles[:, HONOURS:].any(axis=1)])


def is_pure_one_suit(tiles: Int8Array) -> BoolArray:
    """[n] one suit, no honours (清一色 qīng yī sè)."""
    present = suits_present(tiles)
    return (present[:, :3].sum(axis=1) == 1) & ~present[:, 3]


def is_mixed_one_suit(tiles: Int8Array) -> BoolArray:
    """[n] one suit and honours (混一色 hùn yī sè)."""
    present = suits_present(tiles)
    return (present[:, :3].sum(axis=1) == 1) & present[:, 3]


def is_all_honours(tiles: Int8Array) -> BoolArray:
    """[n] honours only (字一色 zì yī sè)."""
    return ~np.any(suits_present(tiles)[:, :3], axis=1)


def count_melds(wins: Wins, *types: MeldType) -> Int8Array:
    """[n] how many of the winner's melds are of these types."""
    return np.isin(wins.own_type, types).sum(axis=1).astype(np.int8)


def is_closed(wins: Wins) -> BoolArray:
    """[n] nothing was claimed: concealed kongs are the only melds (门清 mén qīng)."""
    return count_melds(wins, MeldType.CONCEALED_KONG) == wins.own_melds


def count_kongs(wins: Wins) -> Int8Array:
    """[n, 34] kongs of each kind among the winner's melds."""
    types, kinds = wins.own_type, wins.own_kind
    hand, place = np.nonzero(types >= MeldType.EXPOSED_KONG)
    cell = hand * NUM_KINDS + kinds[hand, place]
    return np.bincount(cell, minlength=len(wins) * NUM_KINDS).astype(np.int8).reshape(-1, NUM_KINDS)


def waits_for_one(wins: Wins, missing: Callable[[UInt32Array, Any, Any], Int8Array]) -> BoolArray:
    """[n] before the winning tile came, exactly one kind completed the hand (独听 dú tīng).

    Kinds of which the player himself holds all four, melds included, do not count.

    Args:
        wins: complete hands without wild tiles.
        missing: `Rules.missing` of the variant; the hand may be read in all shapes that it knows.
    """
    before = wins.counts.copy()
    before[np.arange(len(wins)), wins.winning_tile] -= 1
    held = before + all_tiles(wins, np.zeros_like(before)) + count_kongs(wins)
    codes = np.repeat(encode(before)[:, None], NUM_KINDS, axis=1)
    codes[:, np.arange(NUM_KINDS), SUIT] += np.where(before < 4, POWER, 0)
    completes = missing(look_up(codes), 0, wins.own_melds[:, None]) <= 0
    return (completes & (held < 4)).sum(axis=1) == 1


# --- Shapes other than sets and a pair: how many tiles they lack (see Rules.missing) --------------------------------


def seven_pairs_missing(words: UInt32Array, melds: Any) -> Int8Array:
    """[...] tiles that seven pairs still lack; four alike are two pairs. Impossible with melds."""
    return np.where(melds == 0, 7 - pairs(words), _IMPOSSIBLE).astype(np.int8)


def thirteen_orphans_missing(words: UInt32Array, melds: Any) -> Int8Array:
    """[...] tiles that the thirteen ones, nines and honours with one doubled still lack, in hands of 13 or 14 tiles."""
    kinds = orphan_kinds(words)
    near = (kinds >= 12) & (melds == 0)
    if not near.any():
        return np.full(near.shape, _IMPOSSIBLE)
    # With 12 kinds or 13 in a hand of 13 or 14 tiles, a pair can only be a pair of one of them.
    lacking = 13 - kinds + (pairs(words) == 0)
    return np.where(near, lacking, _IMPOSSIBLE).astype(np.int8)


def is_seven_pairs(wins: Wins) -> BoolArray:
    """[n] seven natural pairs."""
    return (wins.own_melds == 0) & ((wins.counts % 2) == 0).all(axis=1) & (wins.counts.sum(axis=1) == 14)


def is_thirteen_orphans(wins: Wins) -> BoolArray:
    """[n] one of each one, nine and honour, and one of them doubled."""
    return thirteen_orphans_missing(look_up(wins.codes), wins.own_melds) <= 0


# --- Choosing --------------------------------------------------------------------------------------------------------


def best_forms(owner: Games, value: Int64Array | Int32Array, n: int) -> Games:
    """For each of n hands the form of the highest value, the first of equals; -1 where a hand has no form.

    Args:
        owner: [m] the hand that a form belongs to.
        value: [m] what the form is worth.
        n: the number of hands.
    """
    best = np.full(n, -1, np.intp)
    order = np.lexsort((-np.arange(len(owner)), value))
    best[owner[order]] = order
    return best


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
    per_seat = amount[:, None] if amount.ndim == 1 else amount
    payments = np.where(payers, -per_seat, 0).astype(np.int32)
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
