"""Builds the tables of hand mathematics: ``python -m mahjong_env.hands.build``.

Everything the tables know is a cheapest way to cover the tiles of one suit with sets. Going through the ranks
from 1 to 9, the only thing that earlier ranks decide about later ones is how many runs were started at the
last two ranks, since those runs still need a tile here. So a dynamic programme over the ranks keeps, for each
number of runs ``new`` started at the last rank and ``old`` started at the rank before it, the fewest missing
tiles so far. At most two equal runs are ever needed: three of them are three triplets of the same tiles.

"Missing" is the number of tiles to add; a kind may be added without end, also beyond four copies, because a
wild tile may stand for a fifth one.

Two programmes are built:

* facts: every tile is used. Fewest missing for sets alone, for sets and one pair, for sets and a pair of 2, 5
  or 8.
* distance: other tiles may be thrown away. Fewest missing for exactly so many sets, with or without a pair.

A suit has 5**9 possible hands, but after each rank only a few hundred (at most a few thousand) different
arrays of costs occur. The builder therefore works on distinct arrays, and what it stores is an automaton: for
each rank, the number of the next state by count and state. `mahjong_env.hands.tables` expands it into one
entry per code. Honours are the same without runs.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.hands.codes import NUM_HONOURS, RANKS

TABLES_PATH = Path(__file__).with_name("tables.npz")
MAX_SETS = 5  # sixteen-tile hands have five sets

Costs = NDArray[np.uint8]
Step = Callable[[Costs, int, int, int], Costs]

_COUNTS = range(5)
_IMPOSSIBLE = 60  # above any real cost, and small enough that sums of a few stay in uint8
_RUNS = 3  # 0, 1 or 2 equal runs
_NO_PAIR, _ANY_PAIR, _PAIR_258 = range(3)


def build() -> dict[str, NDArray[np.uint16] | NDArray[np.uint8]]:
    """Return the content of ``tables.npz`` by array name.

    For each programme ("facts", "distance") and each kind of group ("suit", "honours") there are the
    automaton's steps, ``{programme}_{group}_{rank}`` [5, states before] uint16, and what its last states are
    worth, ``{programme}_{group}_values``: [states, 3] uint8 for facts (sets; sets and pair; sets and 2-5-8
    pair) and [states, 2, 6] uint8 for distance (pair or not, number of sets).
    """
    facts_start = np.full((3, _RUNS, _RUNS), _IMPOSSIBLE, np.uint8)
    facts_start[_NO_PAIR, 0, 0] = 0
    distance_start = np.full((2, MAX_SETS + 1, _RUNS, _RUNS), _IMPOSSIBLE, np.uint8)
    distance_start[0, 0, 0, 0] = 0

    arrays: dict[str, NDArray[np.uint16] | NDArray[np.uint8]] = {}
    for group, length, last_run_start in (("suit", RANKS, RANKS - 3), ("honours", NUM_HONOURS, -1)):
        for programme, start, step in (
            ("facts", facts_start, _use_every_tile if group == "suit" else _use_every_honour),
            ("distance", distance_start, _pick_tiles),
        ):
            steps, values = _automaton(start, step, length, last_run_start)
            arrays |= {f"{programme}_{group}_{rank}": table for rank, table in enumerate(steps)}
            arrays[f"{programme}_{group}_values"] = values
    return arrays


def _automaton(
    start: Costs, step: Step, length: int, last_run_start: int
) -> tuple[list[NDArray[np.uint16]], Costs]:
    """Run a programme over all counts of ``length`` kinds, keeping each distinct array of costs once.

    Args:
        start: [..., 3, 3] costs before the first kind.
        step: ``step(costs[states, ...], rank, count, most_new_runs)``, the costs after a kind with ``count``
            tiles.
        length: number of kinds.
        last_run_start: the last rank (from 0) at which a run may start, -1 for none.

    Returns:
        For each rank [5, states before] the next state, and [states, ...] the costs with no run left open.
    """
    costs = start[None]
    steps = []
    for rank in range(length):
        most_new_runs = _RUNS - 1 if rank <= last_run_start else 0
        after = np.concatenate([step(costs, rank, count, most_new_runs) for count in _COUNTS])
        if rank == length - 1:
            after = after[..., 0, 0]
        rows, state = np.unique(after.reshape(len(after), -1), axis=0, return_inverse=True)
        steps.append(state.reshape(len(_COUNTS), -1).astype(np.uint16))
        costs = rows.reshape(-1, *after.shape[1:])
    return steps, costs


def _runs_through(most_new_runs: int) -> Iterator[tuple[int, int, int]]:
    """Yield every (runs started here, one rank before, two ranks before)."""
    for new in range(most_new_runs + 1):
        for old in range(_RUNS):
            for older in range(_RUNS):
                yield new, old, older


def _missing_to_use_all(count: int, runs: int, pairs: int) -> int:
    """Return the fewest tiles to add to one kind so that runs, pairs and triplets use exactly all of it."""
    left_over = count - runs - 2 * pairs
    return -left_over % 3 if left_over >= 0 else -left_over


def _use_every_tile(costs: Costs, rank: int, count: int, most_new_runs: int) -> Costs:
    """One rank of the facts programme; costs are [states, pair (none, any, 2-5-8), new runs, old runs]."""
    return _use_every(costs, count, most_new_runs, natural_pair=rank % 3 == 1)


def _use_every_honour(costs: Costs, rank: int, count: int, most_new_runs: int) -> Costs:
    """The same for an honour, which is never a 2, 5 or 8."""
    del rank
    return _use_every(costs, count, most_new_runs, natural_pair=False)


def _use_every(costs: Costs, count: int, most_new_runs: int, *, natural_pair: bool) -> Costs:
    """One kind of the facts programme; ``natural_pair`` says whether the kind is a 2, 5 or 8."""
    after = np.full_like(costs, _IMPOSSIBLE)
    for new, old, older in _runs_through(most_new_runs):
        before, best = costs[..., old, older], after[..., new, old]
        runs = new + old + older
        np.minimum(best, before + _missing_to_use_all(count, runs, pairs=0), out=best)
        with_pair_here = before[:, _NO_PAIR] + _missing_to_use_all(count, runs, pairs=1)
        for pair in (_ANY_PAIR, _PAIR_258) if natural_pair else (_ANY_PAIR,):
            np.minimum(best[:, pair], with_pair_here, out=best[:, pair])
    return np.minimum(after, _IMPOSSIBLE)


def _pick_tiles(costs: Costs, rank: int, count: int, most_new_runs: int) -> Costs:
    """One kind of the distance programme; costs are [states, pair or not, sets, new runs, old runs].

    Two triplets of a kind are enough: a third one is three added tiles, and so is any set elsewhere.
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
    """Write ``tables.npz`` beside this file and say how big it is."""
    arrays: dict[str, Any] = dict(build())
    np.savez_compressed(TABLES_PATH, **arrays)
    print(f"{TABLES_PATH.name}: {TABLES_PATH.stat().st_size} bytes")


if __name__ == "__main__":
    main()
