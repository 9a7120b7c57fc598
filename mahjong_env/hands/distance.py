"""The nearest complete hands of sets and a pair: how far they are, the tiles that help, and those that can be spared.

The distance is shanten + 1: 0 is complete, 1 waits for one tile. It is the fewest tiles to add, without a limit of four
copies per kind, so that the hand contains the wanted sets and a pair; a wild tile makes it one less. Every code leads
to one of 163 states, two states lead to a joint state, and two joint states with a number of sets to the distance (see
`tools/hand_tables.py`).

A cheapest hand is one of the nearest complete hands: sets and a pair for which the fewest tiles are missing. A *share*
is what one group of kinds contributes to it: a number of sets, with or without the pair. A tile helps if it lowers the
cost of a share that its group has in some cheapest hand, and can be spared if the cost of such a share stays the same
without it. Both are tabulated for each code and share, so the kinds of a group are the union over its shares. For each
code there are two numbers, one for the shares without the pair and one for those with it. Each holds nine bits, one for
each kind of the group, for every number of sets.

The tables take about 70 MB. They are worked out when they are first needed, in about half a second.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class _Tables(NamedTuple):
    """Flat tables with the lengths of their axes; pairs of arrays are for shares without and with the hand's pair."""

    state: NDArray[np.uint8]  # [suit codes + honour codes]
    joined: NDArray[np.uint16]  # [states, states] the joint state of two groups
    missing: NDArray[np.int8]  # [joint states, joint states, sets]
    states: int
    joint_states: int
    sets: int
    rest: NDArray[np.uint16]  # [states, joint states] the joint state of three groups
    shares: NDArray[np.uint16]  # [joint states, states, 6] shares of a group in cheapest hands, by sets wanted
    lowers: tuple[KindSets, KindSets]  # [suit codes + honour codes] kinds whose draw lowers the cost of each share
    spares: tuple[KindSets, KindSets]  # [suit codes + honour codes] kinds whose loss leaves it unchanged
    chosen: tuple[KindSets, KindSets]  # [sets of shares] masks over these numbers


@cache
def _tables() -> _Tables:
    states = np.concatenate([states_by_code(load_steps("distance", group)) for group in ("suit", "honours")])
    state = states.astype(np.uint8)
    joined, missing = load_table("distance_joined"), load_table("distance_missing")
    costs = load_table("distance_costs").reshape(-1, _SHARES)
    lowered = costs[None, :] < costs[:, None]  # [state, state with one tile more, share]
    every_set_of_shares = (np.arange(1 << _SHARES)[:, None] >> np.arange(_SHARES) & 1).astype(np.bool_)
    without_pair, with_pair = _spread(every_set_of_shares)
    return _Tables(
        state,
        joined.ravel(),
        missing.astype(np.int8).ravel(),
        len(joined),
        len(missing),
        missing.shape[2],
        load_table("distance_rest").reshape(-1),
        load_table("distance_shares").reshape(-1),
        _by_code(state, _spread(lowered), held=0),
        _by_code(state, _spread(~lowered), held=1),
        (without_pair * _KINDS_OF_GROUP, with_pair * _KINDS_OF_GROUP),
    )


def _spread(flags: NDArray[np.bool_]) -> tuple[KindSets, KindSets]:
    """Put flags [..., 12], one for each share, at the first bit of its field; return two arrays [...] uint64."""
    fields = flags.astype(np.uint64).reshape(*flags.shape[:-1], 2, _SETS) << np.arange(_SETS, dtype=np.uint64) * _FIELD
    by_pair = np.bitwise_or.reduce(fields, axis=-1)
    return by_pair[..., 0], by_pair[..., 1]


def _by_code(state: NDArray[np.uint8], of_states: tuple[KindSets, KindSets], held: int) -> tuple[KindSets, KindSets]:
    """Collect, for every code and kind, what is known of a state and the state with one tile more.

    Args:
        state: [suit codes + honour codes] the state of each code.
        of_states: two arrays [state, state with one tile more] of fields with one bit for each share.
        held: 0 to store this for the code without the tile, 1 for the code with it.
    """
    found = tuple(np.zeros(len(state), np.uint64) for _ in of_states)
    for codes, ranks in ((slice(SUIT_CODES), RANKS), (slice(SUIT_CODES, None), NUM_HONOURS)):
        for rank in range(ranks):
            by_count = state[codes].reshape(-1, BASE, BASE**rank).astype(np.intp)
            index = by_count[:, :-1] * len(of_states[0]) + by_count[:, 1:]
            for kinds, fields in zip(found, of_states, strict=True):
                of_code = kinds[codes].reshape(by_count.shape)
                of_code[:, held : held + BASE - 1] |= fields.reshape(-1).take(index) << np.uint64(rank)
    return found[0], found[1]


class Cheapest(NamedTuple):
    """The cheapest hands of m hands, as `cheapest_hands` finds them."""

    short: NDArray[np.int8]  # [m] tiles missing, wild tiles not counted
    places: NDArray[np.intp]  # [4, m] where the groups stand in the tables
    shares: NDArray[np.uint16]  # [4, m] the shares of each group, a bit for each


def cheapest_hands(codes: NDArray[Any], sets: NDArray[Any]) -> Cheapest:
    """Find how far hands are from sets and a pair, and what their groups contribute to the nearest ones.

    Args:
        codes: [4, m] integers, the codes of characters, dots, bamboo and honours: groups first, as `codes.T` has them.
        sets: [m] integers, 0 to 5: how many sets the concealed tiles must form.
    """
    tables = _tables()
    places = codes + _OFFSETS
    state = tables.state.take(places).astype(np.intp)
    joint = tables.joined.take(state[::2] * tables.states + state[1::2]).astype(np.intp)
    others = state[[1, 0, 3, 2]] * tables.joint_states + joint[[1, 1, 0, 0]]
    shares = tables.shares.take((tables.rest.take(others).astype(np.intp) * tables.states + state) * _SETS + sets)
    short = tables.missing.take((joint[0] * tables.joint_states + joint[1]) * tables.sets + sets)
    return Cheapest(short, places, shares)


def short(codes: NDArray[Any], sets: NDArray[Any]) -> NDArray[np.int8]:
    """Return [m] int8 how far hands are from sets and a pair: only `Cheapest.short`, for the same arguments."""
    tables = _tables()
    state = tables.state.take(codes + _OFFSETS).astype(np.intp)
    joint = tables.joined.take(state[::2] * tables.states + state[1::2]).astype(np.intp)
    return tables.missing.take((joint[0] * tables.joint_states + joint[1]) * tables.sets + sets)


def with_shares(codes: NDArray[Any], shares: NDArray[np.uint16]) -> Cheapest:
    """Return hands [4, m] whose groups contribute given shares [4, m], a bit for each; their distance is left at 0."""
    return Cheapest(np.zeros(codes.shape[1], np.int8), codes + _OFFSETS, shares)


def kinds_that_help(hands: Cheapest) -> KindSets:
    """Return [m] uint64 the kinds whose draw lowers `Cheapest.short`, without kinds that the hand holds four times."""
    return _kinds(hands, _tables().lowers)


def kinds_to_spare(hands: Cheapest) -> KindSets:
    """Return [m] uint64 the held kinds of which a tile can be spared without raising `Cheapest.short`."""
    return _kinds(hands, _tables().spares)


def _kinds(hands: Cheapest, by_code: tuple[KindSets, KindSets]) -> KindSets:
    """Join the kinds of the shares of all groups."""
    chosen = _tables().chosen
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
