"""Distance to a win: how many tiles is a hand short, if others may be thrown away?

The distance is shanten + 1: 0 is complete, 1 waits for one tile. It is the fewest tiles to add, without a
limit of four copies per kind, so that the hand contains the wanted sets and a pair; a wild tile makes it one
less.

Every code leads to one of 163 states, two states to a joint state, two joint states and a number of sets to
the distance (see `mahjong_env.hands.build`). The tables, about 3 MB, are loaded when they are first needed.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mahjong_env.hands.codes import NUM_KINDS, POWER, SUIT, TABLE_OFFSET, decode
from mahjong_env.hands.tables import load_steps, load_table, states_by_code

NOT_HELD = 127
"""What `distance_after_discard` says of kinds that are not in the hand."""

ORPHANS = np.array([0, 8, 9, 17, 18, 26, *range(27, NUM_KINDS)])
"""The kinds of thirteen orphans: ones, nines and honours."""
ORPHANS.flags.writeable = False
_OFFSET_OF_KIND = TABLE_OFFSET[SUIT]
_GROUP_OF_KIND = SUIT.astype(np.intp)


class DistanceTables(NamedTuple):
    """The distance tables, flat, with the lengths of the axes that they stand for."""

    state: NDArray[np.uint8]  # [suit codes + honour codes]
    joined: NDArray[np.uint16]  # [states, states]
    missing: NDArray[np.int8]  # [joint states, joint states, sets]
    states: int
    joint_states: int
    sets: int


@cache
def distance_tables() -> DistanceTables:
    """Load and expand the tables, once."""
    state = np.concatenate([states_by_code(load_steps("distance", group)) for group in ("suit", "honours")])
    joined, missing = load_table("distance_joined"), load_table("distance_missing")
    return DistanceTables(
        state.astype(np.uint8),
        joined.ravel(),
        missing.astype(np.int8).ravel(),
        len(joined),
        *missing.shape[1:],
    )


def _joint(tables: DistanceTables, one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.intp]:
    """Return the joint states of two groups."""
    joint: NDArray[np.intp] = tables.joined.take(one.astype(np.intp) * tables.states + other).astype(np.intp)
    return joint


def _missing(
    tables: DistanceTables, one: NDArray[np.intp], other: NDArray[np.intp], sets: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Return the distance of two joint states, without wild tiles."""
    return tables.missing.take((one * tables.joint_states + other) * tables.sets + sets)


def distance_to_sets_and_pair(codes: NDArray[Any], sets: ArrayLike, wilds: ArrayLike = 0) -> NDArray[np.int8]:
    """Return the distance to sets and a pair.

    Args:
        codes: [..., 4] integers, the concealed tiles without wild ones.
        sets: [...] or one integer, 0 to 5: how many sets the concealed tiles must form.
        wilds: [...] or one integer: wild tiles held.

    Returns:
        [...] int8, 0 for a complete hand.
    """
    tables = distance_tables()
    state = tables.state.take(codes + TABLE_OFFSET)
    one = _joint(tables, state[..., 0], state[..., 1])
    other = _joint(tables, state[..., 2], state[..., 3])
    return _less_wilds(_missing(tables, one, other, np.asarray(sets, np.intp)), wilds)


def _less_wilds(missing: NDArray[np.int8], wilds: ArrayLike) -> NDArray[np.int8]:
    """Let each wild tile stand for a missing one."""
    return np.maximum(missing - np.asarray(wilds, np.int8), np.int8(0))


def distance_after_discard(
    codes: NDArray[Any], counts: NDArray[Any], sets: ArrayLike, wilds: ArrayLike = 0
) -> NDArray[np.int8]:
    """Return the distance that each discard would leave.

    Discarding a wild tile is not among them: it leaves ``distance_to_sets_and_pair(codes, sets, wilds - 1)``.

    Args:
        codes: [n, 4] integers, the concealed tiles without wild ones.
        counts: [n, 34] integers, the same tiles by kind.
        sets: [n] or one integer, 0 to 5: how many sets the concealed tiles must form.
        wilds: [n] or one integer: wild tiles held.

    Returns:
        [n, 34] int8, `NOT_HELD` for kinds that are not in the hand.
    """
    counts = np.asarray(counts)
    hand, kind = np.nonzero(counts)
    after = np.full(counts.shape, NOT_HELD, np.int8)
    after[hand, kind] = _missing_with_changed_code(codes, hand, kind, -POWER[kind], sets, wilds)
    return after


def helping_kinds(codes: NDArray[Any], sets: ArrayLike, wilds: ArrayLike = 0) -> NDArray[np.bool_]:
    """Return the kinds whose draw lowers the distance.

    Args:
        codes: [n, 4] integers, the concealed tiles without wild ones.
        sets: [n] or one integer, 0 to 5: how many sets the concealed tiles must form.
        wilds: [n] or one integer: wild tiles held.

    Returns:
        [n, 34] bool, False for kinds of which the hand holds all four. A wild tile, which always lowers the
        distance, counts here only as what it shows.
    """
    now = distance_to_sets_and_pair(codes, sets, wilds)
    hand, kind = np.nonzero(decode(codes) < 4)
    helps = np.zeros((len(codes), NUM_KINDS), np.bool_)
    after = _missing_with_changed_code(codes, hand, kind, POWER[kind], sets, wilds)
    helps[hand, kind] = after < now[hand]
    return helps


def _missing_with_changed_code(
    codes: NDArray[Any],
    hand: NDArray[np.intp],
    kind: NDArray[np.intp],
    change: NDArray[np.int32],
    sets: ArrayLike,
    wilds: ArrayLike,
) -> NDArray[np.int8]:
    """Return the distance of m variations of n hands.

    Args:
        codes: [n, 4] integers, the hands.
        hand: [m] which hand is varied.
        kind: [m] the kind whose count changes.
        change: [m] what this adds to the code of its group.
        sets: [n] or one integer.
        wilds: [n] or one integer.

    Returns:
        [m] int8.
    """
    tables = distance_tables()
    state = tables.state.take(codes + TABLE_OFFSET).astype(np.intp)
    # The groups are joined as 0 with 1 and 2 with 3: the changed group meets its partner, then the other two.
    joint = _joint(tables, state[:, ::2], state[:, 1::2])
    group = _GROUP_OF_KIND[kind]
    place = hand * 4 + group
    changed = tables.state.take(codes.ravel().take(place) + change + _OFFSET_OF_KIND[kind])
    own = _joint(tables, changed, state.ravel().take(place ^ 1))
    others = joint.ravel().take(place // 2 ^ 1)
    sets, wilds = (np.broadcast_to(x, len(codes)).astype(np.intp)[hand] for x in (sets, wilds))
    return _less_wilds(_missing(tables, own, others, sets), wilds)


def distance_to_seven_pairs(counts: NDArray[Any], wilds: ArrayLike = 0) -> NDArray[np.int8]:
    """Return the distance to seven pairs, four of a kind being two pairs.

    Args:
        counts: [..., 34] integers, tiles of each kind without wild ones.
        wilds: [...] or one integer: wild tiles held.

    Returns:
        [...] int8, 0 for a complete hand.
    """
    return seven_pairs_short((counts >> 1).sum(axis=-1), (counts & 1).sum(axis=-1), wilds)


def seven_pairs_short(pairs: NDArray[Any], singles: NDArray[Any], wilds: ArrayLike) -> NDArray[np.int8]:
    """Return the distance to seven pairs of hands with so many pairs and kinds with a single tile: [...] int8."""
    without_a_single = np.maximum(7 - pairs - singles, 0)
    return _less_wilds(np.asarray(7 - pairs + without_a_single).astype(np.int8), wilds)


def distance_to_thirteen_orphans(counts: NDArray[Any]) -> NDArray[np.int8]:
    """Return the distance to thirteen orphans: each one, nine and honour, and a second copy of one of them.

    Args:
        counts: [..., 34] integers, tiles of each kind.

    Returns:
        [...] int8, 0 for a complete hand.
    """
    orphans = np.asarray(counts)[..., ORPHANS]
    missing = 14 - (orphans > 0).sum(axis=-1) - (orphans > 1).any(axis=-1)
    return np.asarray(missing).astype(np.int8)
