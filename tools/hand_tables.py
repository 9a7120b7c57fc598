"""Builds the tables of hand mathematics: ``python -m tools.hand_tables``.

Each table holds the cheapest ways to cover the tiles of one suit with sets. Go through the ranks from 1 to 9: earlier
ranks affect later ones only by how many runs were started at the last two ranks, since those runs still need a tile
here. So a dynamic programme over the ranks keeps the fewest missing tiles so far, for each number of runs ``new``
started at the last rank and ``old`` started at the rank before it. At most two equal runs are ever needed: three of
them are three triplets of the same tiles.

"Missing" is the number of tiles to add. Any number of tiles of a kind may be added, even beyond four copies, because a
wild tile may stand for a fifth one.

Two programmes are built:

* facts: every tile is used. Fewest missing for sets alone, for sets and one pair, for sets and a pair of 2, 5 or 8.
* distance: other tiles may be thrown away. Fewest missing for each number of sets, with or without a pair.

A suit has 5**9 possible hands, but after each rank only a few hundred (at most a few thousand) different arrays of
costs occur. The tables therefore store an automaton over distinct arrays: for each rank, the number of the next state
by count and state. `mahjong_env.hands.tables` expands it into one entry per code. Honours are the same without runs.

After the last rank very few states are left (21 for the facts of a suit, 163 for the distance of suits and honours
together). One more table joins two groups, from two states to one, and a last one holds the distance of every two joint
groups.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import NUM_HONOURS, RANKS
from mahjong_env.hands.tables import PATH

MAX_SETS = 5  # sixteen-tile hands have five sets

Costs = NDArray[np.uint8]
Table = NDArray[np.uint16] | NDArray[np.uint8]
Step = Callable[[Costs, int, int, int], Costs]

_NATURAL_COUNTS = range(5)
_COUNTS_WITH_WILDS = range(9)
_IMPOSSIBLE = 60  # above any real cost, and small enough that sums of a few stay in uint8
_RUNS = 3  # 0, 1 or 2 equal runs
_NO_PAIR, _ANY_PAIR, _PAIR_258 = range(3)
_GROUPS = {"suit": (RANKS, RANKS - 3), "honours": (NUM_HONOURS, -1)}  # kinds, last rank where a run may start


def build() -> dict[str, Table]:
    """Return the arrays of ``tables.npz`` by name.

    For each programme ("facts", "distance") and each kind of group ("suit", "honours") there are the automaton's steps,
    ``{programme}_{group}_{rank}`` [counts, states before] uint16. Counts are 0 to 8 for the facts, since four wild
    tiles may join four natural ones, and 0 to 4 for the distance. There are also:

    * ``facts_{group}_values`` [states, 3] uint8: missing for sets, for sets and a pair, for sets and a 2-5-8 pair.
    * ``distance_joined`` [states, states] uint16: the state of two groups together.
    * ``distance_missing`` [joint states, joint states, 6] uint8: tiles missing to have a pair and 0 to 5 sets.
    * ``distance_costs`` [states, 2, 6] uint8: tiles missing in one group, without and with a pair, for 0 to 5 sets.
    * ``distance_rest`` [states, joint states] uint16: the joint state of a group and two joined groups.
    * ``distance_shares`` [joint states, states, 6] uint16: what a group may contribute to a cheapest hand when the
      other three are in a joint state, see `mahjong_env.hands.distance`.
    """
    return _facts_tables() | _distance_tables()


def _facts_tables() -> dict[str, Table]:
    """Return the tables of the facts programme."""
    start = np.full((3, _RUNS, _RUNS), _IMPOSSIBLE, np.uint8)
    start[_NO_PAIR, 0, 0] = 0
    tables: dict[str, Table] = {}
    for group, (kinds, last_run_start) in _GROUPS.items():
        step = partial(_use_every, pairs_258=(1, 4, 7) if group == "suit" else ())
        steps, values = _automaton(start, step, kinds, last_run_start, _COUNTS_WITH_WILDS)
        tables |= {f"facts_{group}_{rank}": after for rank, after in enumerate(steps)}
        tables[f"facts_{group}_values"] = values
    return tables


def _distance_tables() -> dict[str, Table]:
    """Return the tables of the distance programme; suits and honours share their last states."""
    start = np.full((2, MAX_SETS + 1, _RUNS, _RUNS), _IMPOSSIBLE, np.uint8)
    start[0, 0, 0, 0] = 0
    suit_steps, suit_values = _automaton(start, _pick_tiles, *_GROUPS["suit"], _NATURAL_COUNTS)
    honour_steps, honour_values = _automaton(start, _pick_tiles, *_GROUPS["honours"], _NATURAL_COUNTS)
    by_state, shared = _distinct(np.concatenate([suit_values, honour_values]))
    suit_steps[-1] = shared[suit_steps[-1]]
    honour_steps[-1] = shared[honour_steps[-1] + len(suit_values)]

    tables: dict[str, Table] = {f"distance_suit_{rank}": after for rank, after in enumerate(suit_steps)}
    tables |= {f"distance_honours_{rank}": after for rank, after in enumerate(honour_steps)}
    tables["distance_joined"], by_joint_state = _join_groups(by_state, by_state)
    tables["distance_missing"] = _missing_for_sets_and_pair(by_joint_state)
    tables["distance_costs"] = by_state
    tables["distance_rest"], by_rest = _join_groups(by_state, by_joint_state)
    tables["distance_shares"] = _cheapest_shares(by_state, by_rest)
    return tables


def _distinct(rows: Costs) -> tuple[Costs, NDArray[np.uint16]]:
    """Return the distinct rows [...] of costs [n, ...], and [n] the number of the distinct row of each."""
    distinct, which = np.unique(rows.reshape(len(rows), -1), axis=0, return_inverse=True)
    return distinct.reshape(-1, *rows.shape[1:]), which.reshape(-1).astype(np.uint16)


def _join_groups(by_state: Costs, by_other_state: Costs) -> tuple[NDArray[np.uint16], Costs]:
    """Distribute the sets and the pair over two groups in the cheapest way.

    Args:
        by_state: [states, 2, 6] tiles missing without and with a pair, by number of sets.
        by_other_state: [other states, 2, 6] the same for the other group.

    Returns:
        [states, other states] the joint state of two groups, and [joint states, 2, 6] its missing tiles.
    """
    sizes = len(by_state), len(by_other_state)
    joint = np.full((*sizes, 2, MAX_SETS + 1), _IMPOSSIBLE, np.uint8)
    for sets in range(MAX_SETS + 1):
        for own in range(sets + 1):
            one, other = by_state[:, None, :, own], by_other_state[None, :, :, sets - own]
            best = joint[..., sets]
            np.minimum(best[..., 0], one[..., 0] + other[..., 0], out=best[..., 0])
            np.minimum(best[..., 1], one[..., 1] + other[..., 0], out=best[..., 1])
            np.minimum(best[..., 1], one[..., 0] + other[..., 1], out=best[..., 1])
    by_joint_state, which = _distinct(joint.reshape(-1, 2, MAX_SETS + 1))
    return which.reshape(sizes), by_joint_state


def _missing_for_sets_and_pair(by_joint_state: Costs) -> Costs:
    """Return [joint states, joint states, 6] tiles missing for a pair and 0 to 5 sets in the whole hand."""
    joint, by_pair = _join_groups(by_joint_state, by_joint_state)
    return np.ascontiguousarray(by_pair[:, 1][joint])


def _cheapest_shares(by_state: Costs, by_rest: Costs) -> NDArray[np.uint16]:
    """Return what a group may contribute to the cheapest hands, given the joint state of the other three groups.

    Returns:
        [joint states, states, 6] by number of sets of the whole hand: bit ``6 * pair + sets`` is set if some cheapest
        hand has this number of its sets in this group, with or without the pair.
    """
    shares = np.zeros((len(by_rest), len(by_state), MAX_SETS + 1), np.uint16)
    for wanted in range(MAX_SETS + 1):
        cost = {
            (pair, sets): by_rest[:, None, 1 - pair, wanted - sets] + by_state[None, :, pair, sets]
            for pair in range(2)
            for sets in range(wanted + 1)
        }
        cheapest = np.minimum.reduce(list(cost.values()))
        for (pair, sets), total in cost.items():
            shares[..., wanted] |= (total == cheapest).astype(np.uint16) << (pair * (MAX_SETS + 1) + sets)
    return shares


def _automaton(
    start: Costs, step: Step, length: int, last_run_start: int, counts: range
) -> tuple[list[NDArray[np.uint16]], Costs]:
    """Run a programme over all counts of the kinds of a group, keeping each distinct array of costs once.

    Args:
        start: [..., 3, 3] the costs before the first kind.
        step: one kind of the programme.
        length: the number of kinds.
        last_run_start: the last rank at which a run may start, -1 for none.
        counts: the possible counts of a kind.

    Returns:
        For each rank [counts, states before] the next state; and [states, ...] the costs with no run left open.
    """
    costs = start[None]
    steps = []
    for rank in range(length):
        most_new_runs = _RUNS - 1 if rank <= last_run_start else 0
        after = np.concatenate([step(costs, rank, count, most_new_runs) for count in counts])
        if rank == length - 1:
            after = after[..., 0, 0]
        costs, state = _distinct(after)
        steps.append(state.reshape(len(counts), -1))
    return steps, costs


def _runs_through(most_new_runs: int) -> Iterator[tuple[int, int, int]]:
    """Yield every combination of the numbers of runs that start here, one rank before and two ranks before."""
    for new in range(most_new_runs + 1):
        for old in range(_RUNS):
            for older in range(_RUNS):
                yield new, old, older


def _missing_to_use_all(count: int, runs: int, pairs: int) -> int:
    """Return the fewest tiles to add to one kind so that runs, pairs and triplets use all its tiles exactly."""
    left_over = count - runs - 2 * pairs
    return -left_over % 3 if left_over >= 0 else -left_over


def _use_every(costs: Costs, rank: int, count: int, most_new_runs: int, *, pairs_258: tuple[int, ...]) -> Costs:
    """Return the costs after one more kind in the facts programme.

    Costs are [states, pair (none, any, 2-5-8), new runs, old runs]; ``pairs_258`` are the ranks whose pair is one of 2,
    5 or 8.
    """
    after = np.full_like(costs, _IMPOSSIBLE)
    for new, old, older in _runs_through(most_new_runs):
        before, best = costs[..., old, older], after[..., new, old]
        runs = new + old + older
        np.minimum(best, before + _missing_to_use_all(count, runs, pairs=0), out=best)
        with_pair_here = before[:, _NO_PAIR] + _missing_to_use_all(count, runs, pairs=1)
        for pair in (_ANY_PAIR, _PAIR_258) if rank in pairs_258 else (_ANY_PAIR,):
            np.minimum(best[:, pair], with_pair_here, out=best[:, pair])
    return np.minimum(after, _IMPOSSIBLE)


def _pick_tiles(costs: Costs, rank: int, count: int, most_new_runs: int) -> Costs:
    """Return the costs after one more kind in the distance programme.

    Costs are [states, pair or not, sets, new runs, old runs]. Two triplets of a kind are enough: a third one takes
    three added tiles, and so does any set elsewhere.
    """
    del rank
    after = np.full_like(costs, _IMPOSSIBLE)
    for new, old, older in _runs_through(most_new_runs):
        for triplets in range(3):
            for pair in range(2):
                used = new + old + older + 3 * triplets + 2 * pair
                sets = new + triplets
                before = costs[:, : 2 - pair, : MAX_SETS + 1 - sets, old, older]
                best = after[:, pair:, sets:, new, old]
                np.minimum(best, before + max(0, used - count), out=best)
    return np.minimum(after, _IMPOSSIBLE)


def main() -> None:
    """Write ``tables.npz`` of `mahjong_env.hands`, and print its size."""
    np.savez_compressed(PATH, **build())
    print(f"{PATH.name}: {PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
