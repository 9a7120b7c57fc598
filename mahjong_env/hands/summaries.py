"""Facts about concealed tiles: whether a hand is complete, and how many tiles it is short.

Each group's facts are packed into one 32-bit word. The words of a hand's four groups can be added for the
fields that add up over groups, and compared for the field that the best group decides:

====== ================ =====================================================================================
bits   combined by      meaning
====== ================ =====================================================================================
0-5    sum              missing: fewest tiles to add so that all tiles form sets
6-10   sum              pairs: two of a kind, four of a kind being two
11-14  sum              quads: four of a kind
15-19  sum              orphan kinds: different ones, nines and honours present
20-23  sum              doubled orphans: different ones, nines and honours held twice or more
24-27  minimum          8 + the change in missing when one pair is wanted too and it is a 2, 5 or 8 of this suit
28-31  minimum          8 + the change in missing when one pair is wanted too and it is in this group
====== ================ =====================================================================================

Sums stay inside their fields for every hand of up to 18 tiles. Missing tiles are counted without a limit of
four copies per kind, because a wild tile may stand for a fifth copy: a hand with ``w`` wild tiles, which are
left out of its code, is complete when its number of tiles is right and it misses at most ``w``.

Functions take the words [..., 4] of hands, and ``total``, their sum, where it is known (`sum_summaries`).
"""

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import HONOUR_GROUP, NUM_GROUPS, NUM_HONOURS, POWER, RANKS, SUIT, SUIT_CODES, TABLE_OFFSET
from mahjong_env.hands.tables import load_steps, load_table, states_by_code

Words = NDArray[np.uint32]

_SETS_MASK = 0x3F
_PAIRS_SHIFT, _PAIRS_MASK = 6, 0x1F
_QUADS_SHIFT, _QUADS_MASK = 11, 0xF
_ORPHANS_SHIFT, _ORPHANS_MASK = 15, 0x1F
_DOUBLED_SHIFT, _DOUBLED_MASK = 20, 0xF
_PAIR_258_SHIFT, _PAIR_SHIFT = 24, 28
_BIAS = 8
_NO_SUCH_PAIR = 7

# Shifts and masks are kept as arrays: numpy would convert plain numbers in every call.
_SETS = np.array(0, np.uint32), np.array(_SETS_MASK, np.uint32)
_PAIRS = np.array(_PAIRS_SHIFT, np.uint32), np.array(_PAIRS_MASK, np.uint32)
_QUADS = np.array(_QUADS_SHIFT, np.uint32), np.array(_QUADS_MASK, np.uint32)
_ORPHANS = np.array(_ORPHANS_SHIFT, np.uint32), np.array(_ORPHANS_MASK, np.uint32)
_DOUBLED = np.array(_DOUBLED_SHIFT, np.uint32), np.array(_DOUBLED_MASK, np.uint32)
_TOP, _UP_TO_TOP = np.array(_PAIR_SHIFT, np.uint32), np.array(_PAIR_SHIFT - _PAIR_258_SHIFT, np.uint32)
_UNBIAS = np.array(_BIAS, np.uint32)
_GROUP = SUIT.astype(np.intp)


@cache
def facts() -> Words:
    """Return [1 953 125 + 78 125] uint32 the words of every suit code, then of every honour code; read-only."""
    words = np.concatenate([_group_words("suit"), _group_words("honours")])
    words.flags.writeable = False
    return words


def _group_words(group: str) -> Words:
    sets, with_pair, with_258 = load_table(f"facts_{group}_values").astype(np.int32).T
    pair_change = with_pair - sets
    change_258 = np.minimum(with_258 - sets, _NO_SUCH_PAIR)
    packed = sets | (change_258 + _BIAS) << _PAIR_258_SHIFT
    of_state = packed.astype(np.uint32) | (pair_change + _BIAS).astype(np.uint32) << np.uint32(_PAIR_SHIFT)
    # Pairs, quads, orphan kinds and doubled ones are sums over the kinds of what each count is worth.
    count = np.arange(5)
    repeats = count // 2 << _PAIRS_SHIFT | (count == 4) << _QUADS_SHIFT
    orphan = repeats | (count > 0) << _ORPHANS_SHIFT | (count > 1) << _DOUBLED_SHIFT
    fields = np.zeros(1, np.uint32)
    for worth in [orphan, *[repeats] * (RANKS - 2), orphan] if group == "suit" else [orphan] * NUM_HONOURS:
        fields = np.add.outer(worth.astype(np.uint32), fields).reshape(-1)
    words: Words = of_state[states_by_code(load_steps("facts", group))] + fields
    return words


def suit_summaries(codes: NDArray[Any]) -> Words:
    """Return [..., 4] uint32 the words of each group, for codes [..., 4]."""
    # The groups come first in memory, so that the words of one group are added and compared without gaps.
    places = codes.reshape(-1, NUM_GROUPS).T.astype(np.intp, order="C")
    places[HONOUR_GROUP] += SUIT_CODES
    return facts().take(places).T.reshape(codes.shape)


def sum_summaries(words: Words) -> Words:
    """Return [...] uint32 the sum of the words of the four groups; only fields combined by a sum are valid in it."""
    total: Words = words[..., 0] + words[..., 1] + words[..., 2] + words[..., 3]
    return total


def _field(words: Words, total: Words | None, shift: Words, mask: Words) -> NDArray[np.int8]:
    field = (sum_summaries(words) if total is None else total) >> shift & mask
    return field.astype(np.int8)


def _with_pair(words: Words, total: Words | None, pair_words: Words) -> NDArray[np.int8]:
    """Return [...] int8 the missing tiles when a pair is wanted too, whose field is on top of ``pair_words``."""
    smallest = np.minimum.reduce(pair_words, axis=-1)
    missing = ((sum_summaries(words) if total is None else total) & _SETS[1]) + (smallest >> _TOP) - _UNBIAS
    return missing.astype(np.int8)


def short_of_sets(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the fewest tiles to add so that all tiles form sets."""
    return _field(words, total, *_SETS)


def is_group_complete(words: Words) -> NDArray[np.bool_]:
    """Return [..., 4] whether all tiles of each group form sets, or sets and one pair."""
    missing = words & _SETS_MASK
    return np.asarray((missing == 0) | (missing + (words >> _PAIR_SHIFT) == _BIAS))


def short_of_sets_and_pair(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the fewest tiles to add so that all form sets and one pair."""
    return _with_pair(words, total, words)


def short_with_each(codes: NDArray[Any]) -> NDArray[np.int8]:
    """Return [n, 34] int8 `short_of_sets_and_pair` of hands, codes [n, 4], with one more tile of each kind.

    Entries of kinds that are held four times mean nothing.
    """
    words = suit_summaries(codes)
    missing, pair = words & _SETS[1], words.T >> _TOP
    others = missing.sum(axis=1, keepdims=True, dtype=np.uint32) - missing - _UNBIAS
    of_two = np.minimum(pair[::2], pair[1::2])
    pair_elsewhere = np.minimum(pair[[1, 0, 3, 2]], of_two[[1, 1, 0, 0]]).T
    with_kind = facts().take((codes + TABLE_OFFSET).take(_GROUP, axis=1) + POWER, mode="clip")
    short = np.minimum(pair_elsewhere.take(_GROUP, axis=1), with_kind >> _TOP)
    with_kind &= _SETS[1]
    short += with_kind
    short += others.take(_GROUP, axis=1)
    return short.astype(np.int8)


def short_of_sets_and_258(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the fewest tiles to add so that all form sets and a 2-5-8 pair."""
    pair_258_on_top: Words = words << _UP_TO_TOP
    return _with_pair(words, total, pair_258_on_top)


def pairs(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the number of pairs; four of a kind count as two."""
    return _field(words, total, *_PAIRS)


def quads(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the number of kinds held four times."""
    return _field(words, total, *_QUADS)


def orphan_kinds(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the number of different ones, nines and honours."""
    return _field(words, total, *_ORPHANS)


def doubled_orphans(words: Words, total: Words | None = None) -> NDArray[np.int8]:
    """Return [...] int8 the number of different ones, nines and honours held twice or more."""
    return _field(words, total, *_DOUBLED)


# The same for one hand in plain numbers, where a call of numpy would take longer than the work.

FIRST_HONOUR_FACTS: Final = SUIT_CODES
"""The place in `facts` where the words of the honour codes begin."""


@cache
def facts_for_one() -> memoryview:
    """Return the words of every suit code, then of every honour code, in the form that plain Python reads."""
    return facts().data


def sum_of_one(one: int, two: int, three: int, four: int) -> tuple[int, int]:
    """Return the sum of the words of a hand, and its `short_of_sets_and_pair`."""
    total = one + two + three + four
    return total, (total & _SETS_MASK) + (min(one, two, three, four) >> _PAIR_SHIFT) - _BIAS


def pairs_of_one(total: int) -> int:
    """Return `pairs` of one hand."""
    return total >> _PAIRS_SHIFT & _PAIRS_MASK


def orphan_kinds_of_one(total: int) -> int:
    """Return `orphan_kinds` of one hand."""
    return total >> _ORPHANS_SHIFT & _ORPHANS_MASK


def doubled_orphans_of_one(total: int) -> int:
    """Return `doubled_orphans` of one hand."""
    return total >> _DOUBLED_SHIFT & _DOUBLED_MASK
