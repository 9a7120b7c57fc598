"""``python -m proof``: see the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice

from tqdm import tqdm

import mahjong_env
from proof import ledger
from proof.batches import Played, ProofError, play_batch
from proof.coverage import missing, report, required
from proof.ledger import Ledger

ENOUGH = 20_000
"""Hands of a variant that meet everything that is looked for; what fewer have not met says nothing yet."""
DIFFERENT, UNMET = 1, 3


def main(words: Sequence[str] | None = None) -> int:
    """Run the proof.

    Returns:
        0 if nothing differs; `DIFFERENT` if engine and referee differ; `UNMET` if they do not, but if something was
        never met in as many hands as should be enough.
    """
    arguments = _read_arguments(words)
    if arguments.replay:
        variant, _, number = arguments.replay.partition(":")
        try:
            played = play_batch(variant, int(number))
        except ProofError as error:
            return _tell(error)
        print(f"{played.hands} hands, no difference")
        return 0
    variants = [arguments.variant] if arguments.variant else sorted(mahjong_env.VARIANTS)
    if arguments.fresh:
        for variant in variants:
            Ledger(variant).path.unlink(missing_ok=True)
    for variant in variants:
        try:
            _prove(variant, arguments.hands, arguments.jobs)
        except ProofError as error:
            return _tell(error)
    shown = {variant: Ledger(variant) for variant in variants}
    for variant, known in shown.items():
        print(report(variant, known.hands, known.tally))
        print(f"  of these hands, {known.current} were compared with the code as it is now\n")
    return max(_sum_up(variant, known) for variant, known in shown.items())


def _sum_up(variant: str, known: Ledger) -> int:
    """Say what the hands of a variant have shown, in a line or two; returns the exit status."""
    unmet, number = missing(variant, known.tally), len(required(variant))
    print(f"{variant}: no difference between engine and referee in {known.hands} hands")
    if not unmet:
        print(f"{variant}: all {number} rows, refusals, payments, rules and knob values were met")
        return 0
    is_enough = known.hands >= ENOUGH
    why = "although there were enough hands" if is_enough else f"too few hands; {ENOUGH} are enough"
    print(f"{variant}: {len(unmet)} of {number} were not met ({why}): {'; '.join(unmet)}")
    return UNMET if is_enough else 0


def _read_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof", description="Compare engine and referee hand by hand.")
    parser.add_argument(
        "--hands", type=int, default=20_000, help="hands of each variant, those of earlier runs included"
    )
    parser.add_argument("--variant", choices=sorted(mahjong_env.VARIANTS), help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    parser.add_argument("--replay", metavar="VARIANT:BATCH", help="play one batch again")
    return parser.parse_args(words)


def _prove(variant: str, hands: int, jobs: int) -> None:
    known = Ledger(variant)
    with tqdm(total=hands, initial=min(hands, known.hands), desc=f"{variant:>9}", unit=" hands", mininterval=2) as bar:
        if known.hands >= hands:
            return
        for number, played in _played(variant, iter(known.next_batches()), jobs):
            known.add(number, played)
            bar.update(played.hands)
            if known.hands >= hands:
                return


def _played(variant: str, numbers: Iterator[int], jobs: int) -> Iterator[tuple[int, Played]]:
    """Batches as they are done."""
    if jobs == 1:
        for number in numbers:
            yield number, play_batch(variant, number)
    with ProcessPoolExecutor(jobs) as pool:
        try:
            running = {pool.submit(play_batch, variant, number): number for number in islice(numbers, jobs)}
            while True:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    number = running.pop(future)
                    following = next(numbers)
                    running[pool.submit(play_batch, variant, following)] = following
                    yield number, future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _tell(error: ProofError) -> int:
    ledger.FOLDER.mkdir(exist_ok=True)
    path = ledger.FOLDER / f"difference-{error.batch.variant}-{error.batch.number}.txt"
    again = f"to play it again: make proof REPLAY={error.batch.variant}:{error.batch.number}"
    path.write_text(f"{error}\n\n{again}\n", encoding="utf-8")
    print(f"{error}\n\n{again}\nwritten to {path}", file=sys.stderr)
    return DIFFERENT


if __name__ == "__main__":
    sys.exit(main())
