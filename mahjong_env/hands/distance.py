"""Distances of hands from sets and a pair, the tiles that bring them nearer, and the tiles that they can spare.

The distance is shanten + 1: 0 is complete, 1 waits for one tile. It is the fewest tiles to add, without a limit of four
copies per kind, so that the hand contains the wanted sets and a pair; a wild tile makes it one less. Every code leads
to one of 163 states, two states to a joint state, two joint states and a number of sets to the distance (see
`tools/hand_tables.py`). These tables, about 3 MB, are loaded when they are first needed.

A cheapest hand is one of the nearest complete hands: sets and a pair for which the fewest tiles are missing. A *share*
is what one group of kinds contributes to it: with or without the pair, and a number of sets. A tile helps if it lowers
the cost of a share that its group has in some cheapest hand, and can be spared if its loss leaves the cost of such a
share as it is. Both are known for each code and share, so that the answer for all 34 kinds is the union over the
group's shares:

* `_ShareTables.lowers` and `_ShareTables.spares` keep for each code the kinds of every share side by side in two
  numbers, one for the shares without the pair and one for those with it: nine bits, one for each kind of the group, for
  each number of sets.
* `_ShareTables.chosen` turns the group's shares into masks over these numbers.

These tables, about 65 MB, are worked out when they are first needed, in about half a second.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mahjong_env.hands.codes import BASE, NUM_GROUPS, NUM_HONOURS, RANKS, SUIT_CODES, TABLE_OFFSET
from mahjong_env.hands.kind_sets import KindSets
from mahjong_env.hands.tables import load_steps, load_table, states_by_code

_SHARES: Final = 12
_SETS: Final = 6  # shares of 0 to 5 sets
_FIELD: Final = np.uint64(RANKS)  # bits of a share in a number
_OFFSETS: Final = TABLE_OFFSET[:, None]
_THREE_FIELDS, _TWO_FIELDS, _ONE_FIELD = (np.uint64(number) * _FIELD for number in (3, 2, 1))
_KINDS_OF_GROUP: Final = np.uint64(2**RANKS - 1)
_GROUP_SHIFTS: Final = tuple(np.uint64(RANKS * group) for group in range(NUM_GROUPS))


class _DistanceTables(NamedTuple):
    """The distance tables, flat, with the lengths of the axes that they stand for."""

    state: NDArray[np.uint8]  # [suit codes + honour codes]
    joined: NDArray[np.uint16]  # [states, states]
    missing: NDArray[np.int8]  # [joint states, joint states, sets]
    states: int
    joint_states: int
    sets: int


@cache
def _distance_tables() -> _DistanceTables:
    """Load and expand the tables, once."""
    state = np.concatenate([states_by_code(load_steps("distance", group)) for group in ("suit", "honours")])
    joined, missing = load_table("distance_joined"), load_table("distance_missing")
    return _DistanceTables(
        state.astype(np.uint8),
        joined.ravel(),
        missing.astype(np.int8).ravel(),
        len(joined),
        *missing.shape[1:],
    )


def distance_to_sets_and_pair(codes: NDArray[Any], sets: ArrayLike, wilds: ArrayLike = 0) -> NDArray[np.int8]:
    """Return the distance to sets and a pair.

    Args:
        codes: [..., 4] integers, the concealed tiles without wild ones.
        sets: [...] or one integer, 0 to 5: how many sets the concealed tiles must form.
        wilds: [...] or one integer: wild tiles held.

    Returns:
        [...] int8, 0 for a complete hand.
    """
    tables = _distance_tables()
    state = tables.state.take(codes + TABLE_OFFSET).astype(np.intp)
    joint = tables.joined.take(state[..., ::2] * tables.states + state[..., 1::2]).astype(np.intp)
    place = (joint[..., 0] * tables.joint_states + joint[..., 1]) * tables.sets + np.asarray(sets, np.intp)
    return np.maximum(tables.missing.take(place) - np.asarray(wilds, np.int8), np.int8(0))


class _ShareTables(NamedTuple):
    """Flat tables; the pairs of arrays are those without and with the pair of the hand."""

    rest: NDArray[np.uint16]  # [states, joint states] the joint state of three groups
    shares: NDArray[np.uint16]  # [joint states, states, 6] shares of a group in cheapest hands, by sets wanted
    lowers: tuple[KindSets, KindSets]  # [suit codes + honour codes]
    spares: tuple[KindSets, KindSets]  # [suit codes + honour codes]
    chosen: tuple[KindSets, KindSets]  # [sets of shares]


@cache
def _share_tables() -> _ShareTables:
    costs = load_table("distance_costs").reshape(-1, _SHARES)
    lowered = costs[None, :] < costs[:, None]  # [state, state with one tile more, share]
    suits, honours = _distance_tables().state[:SUIT_CODES], _distance_tables().state[SUIT_CODES:]
    every_set_of_shares = (np.arange(1 << _SHARES)[:, None] >> np.arange(_SHARES) & 1).astype(np.bool_)
    without_pair, with_pair = _spread(every_set_of_shares)
    return _ShareTables(
        load_table("distance_rest").reshape(-1),
        load_table("distance_shares").reshape(-1),
        _by_code(suits, honours, _spread(lowered), held=0),
        _by_code(suits, honours, _spread(~lowered), held=1),
        (without_pair * _KINDS_OF_GROUP, with_pair * _KINDS_OF_GROUP),
    )


def _spread(flags: NDArray[np.bool_]) -> tuple[KindSets, KindSets]:
    """Put flags [..., 12], one a share, at the first bit of the share's field: two arrays [...] uint64."""
    fields = flags.astype(np.uint64).reshape(*flags.shape[:-1], 2, _SETS) << np.arange(_SETS, dtype=np.uint64) * _FIELD
    by_pair = np.bitwise_or.reduce(fields, axis=-1)
    return by_pair[..., 0], by_pair[..., 1]


def _by_code(
    suits: NDArray[np.uint8], honours: NDArray[np.uint8], of_states: tuple[KindSets, KindSets], held: int
) -> tuple[KindSets, KindSets]:
    """Collect what is known of a state and the state with one tile more, for every code and each kind.

    Args:
        suits: [suit codes] states.
        honours: [honour codes] states.
        of_states: [state, state with one tile more] fields with one bit a share, twice.
        held: 0: write what is known to the code without the tile; 1: to the code with it.
    """
    found = tuple(np.zeros(len(suits) + len(honours), np.uint64) for _ in of_states)
    for states, first, ranks in ((suits, 0, RANKS), (honours, SUIT_CODES, NUM_HONOURS)):
        for rank in range(ranks):
            by_count = states.reshape(-1, BASE, BASE**rank).astype(np.intp)
            index = by_count[:, :-1] * len(of_states[0]) + by_count[:, 1:]
            for kinds, fields in zip(found, of_states, strict=True):
                of_code = kinds[first : first + len(states)].reshape(by_count.shape)
                of_code[:, held : held + BASE - 1] |= fields.reshape(-1).take(index) << np.uint64(rank)
    return found[0], found[1]


class Cheapest(NamedTuple):
    """The cheapest hands of m hands; from `cheapest_hands`.

    Attributes:
        short: [m] int8 tiles missing, wild tiles not counted.
        places: [4, m] intp where the groups stand in the tables.
        shares: [4, m] uint16 the shares of each group, a bit for each.
    """

    short: NDArray[np.int8]
    places: NDArray[np.intp]
    shares: NDArray[np.uint16]


def cheapest_hands(codes: NDArray[Any], sets: NDArray[Any]) -> Cheapest:
    """Find how far hands are from sets and a pair, and what their groups contribute to the nearest ones.

    Args:
        codes: [4, m] integers, the codes of characters, dots, bamboo and honours: groups first, as `codes.T` has them.
        sets: [m] integers, 0 to 5: how many sets the concealed tiles must form.
    """
    near, far = _share_tables(), _distance_tables()
    places = codes + _OFFSETS
    state = far.state.take(places).astype(np.intp)
    joint = far.joined.take(state[::2] * far.states + state[1::2]).astype(np.intp)
    others = state[[1, 0, 3, 2]] * far.joint_states + joint[[1, 1, 0, 0]]
    shares = near.shares.take((near.rest.take(others).astype(np.intp) * far.states + state) * _SETS + sets)
    short = far.missing.take((joint[0] * far.joint_states + joint[1]) * far.sets + sets)
    return Cheapest(short, places, shares)


def kinds_that_help(hands: Cheapest) -> KindSets:
    """Return the kinds whose draw lowers `Cheapest.short`: [m] uint64, none of which the hand holds all four."""
    return _kinds(hands, _share_tables().lowers)


def kinds_to_spare(hands: Cheapest) -> KindSets:
    """Return the kinds of which a tile may go without raising `Cheapest.short`: [m] uint64, all of them held."""
    return _kinds(hands, _share_tables().spares)


def _kinds(hands: Cheapest, by_code: tuple[KindSets, KindSets]) -> KindSets:
    """Join the kinds of the shares of all groups."""
    chosen = _share_tables().chosen
    kinds = by_code[0].take(hands.places)
    kinds &= chosen[0].take(hands.shares)
    with_pair = by_code[1].take(hands.places)
    with_pair &= chosen[1].take(hands.shares)
    kinds |= with_pair
    kinds |= kinds >> _THREE_FIELDS  # six fields become three, then one
    kinds |= (kinds >> _ONE_FIELD) | (kinds >> _TWO_FIELDS)
    kinds &= _KINDS_OF_GROUP
    for group, shift in zip(kinds[1:], _GROUP_SHIFTS[1:], strict=True):
        group <<= shift
    return (kinds[0] | kinds[1]) | (kinds[2] | kinds[3])
