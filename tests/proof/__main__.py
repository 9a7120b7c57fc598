"""``python -m proof``: see the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count, islice

from tqdm import tqdm

from oracle.referee import VARIANTS
from proof.batches import Played, ProofError, play_batch
from proof.both_ways import play_ways
from proof.described import play_wins
from proof.watch import missing, report, required

PLAY = {"hands": play_batch, "wins": play_wins, "ways": play_ways}
ENOUGH = 20_000
"""Hands of a variant that meet everything that is looked for; what fewer have not met says nothing yet."""
DIFFERENT, UNMET = 1, 3


def prove(kind: str, variant: str, number: int, jobs: int, first: int) -> Played:
    """Play batches until there are enough hands (or wins).

    Raises:
        ProofError: engine and referee differ.
    """
    played, numbers = Played.nothing(), count(first)
    bar = tqdm(total=number, desc=f"{variant:>9}", unit=f" {kind}", mininterval=2)
    with bar, ProcessPoolExecutor(jobs) as pool:
        run = map if jobs == 1 else pool.map
        while played.hands < number:
            for one in run(partial(PLAY[kind], variant), list(islice(numbers, jobs))):
                played += one
                bar.update(one.hands)
    return played


def main(words: Sequence[str] | None = None) -> int:
    """Run the proof.

    Returns:
        0 if nothing differs; `DIFFERENT` if engine and referee differ; `UNMET` if they do not, but if something was
        never met in as many hands as should be enough.
    """
    parser = argparse.ArgumentParser(prog="python -m proof", description="Compare engine and referee hand by hand.")
    parser.add_argument("--hands", type=int, default=20_000, help="hands of each variant")
    parser.add_argument("--wins", type=int, default=20_000, help="random wins of each variant")
    parser.add_argument("--variant", choices=sorted(VARIANTS), help="only this one")
    parser.add_argument("--kinds", nargs="+", choices=sorted(PLAY), default=["hands", "wins"], help="what is compared")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--first", type=int, default=0, help="number of the first batch")
    parser.add_argument("--replay", metavar="KIND:VARIANT:BATCH", help="play one batch again")
    chosen = parser.parse_args(words)
    status = 0
    try:
        if chosen.replay:
            kind, variant, number = chosen.replay.split(":")
            print(f"{PLAY[kind](variant, int(number)).hands} {kind}, no difference")
            return 0
        for variant in [chosen.variant] if chosen.variant else sorted(VARIANTS):
            for kind in chosen.kinds:
                wanted = chosen.wins if kind == "wins" else chosen.hands
                status = max(status, _sum_up(kind, variant, prove(kind, variant, wanted, chosen.jobs, chosen.first)))
    except ProofError as error:
        print(f"{error}\n\nto play it again: make proof REPLAY={error.batch}", file=sys.stderr)
        return DIFFERENT
    return status


def _sum_up(kind: str, variant: str, played: Played) -> int:
    """Print what the hands of a variant have shown; returns the exit status."""
    names = required(variant) if kind == "hands" else []
    print(report(names, played.tally))
    print(f"{variant}: no difference in {played.hands} {kind}")
    unmet = missing(names, played.tally)
    if not unmet:
        return 0
    is_enough = played.hands >= ENOUGH
    why = "although there were enough hands" if is_enough else f"too few hands; {ENOUGH} are enough"
    print(f"{variant}: {len(unmet)} of {len(names)} were not met ({why}): {'; '.join(unmet)}")
    return UNMET if is_enough else 0


if __name__ == "__main__":
    sys.exit(main())
