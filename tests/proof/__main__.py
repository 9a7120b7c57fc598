"""``python -m proof``: see the package."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path

from tqdm import tqdm

from oracle.referee import VARIANTS
from proof.batches import Played, ProofError, play_batch
from proof.watch import missing, report, required

OUTSIDE = {"mcr": "mcr-wins"}
"""Variants that a library from outside scores as well, and the name under which random wins are kept (`proof.wins`)."""
ENOUGH = 20_000
"""Hands of a variant that meet everything that is looked for; what fewer have not met says nothing yet."""
DIFFERENT, UNMET = 1, 3
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".proof"


@cache
def fingerprint() -> str:
    """A short text that changes with the code of engine, referee and comparison."""
    digest = hashlib.sha256()
    patterns = ("mahjong_env/**/*.py", "tests/oracle/referee/*.py", "tests/support/duel.py", "tests/proof/wins.py")
    for path in sorted(path for pattern in patterns for path in ROOT.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Ledger:
    """The batches of a variant that have been played without a difference: one line of JSON each.

    Attributes:
        hands: hands compared in all of them.
        current: of these, hands compared with the code as it is now.
        tally: how often each thing was met.
        batches: their numbers.
    """

    def __init__(self, variant: str) -> None:
        self.path = FOLDER / f"{variant}.jsonl"
        self.hands = self.current = 0
        self.tally: Counter[str] = Counter()
        self.batches: set[int] = set()
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            try:
                self._count(json.loads(line))
            except json.JSONDecodeError:
                continue  # a line that was being written when the machine stopped

    def _count(self, entry: dict) -> None:
        if entry["batch"] not in self.batches:
            self.batches.add(entry["batch"])
            self.hands += entry["hands"]
            self.current += entry["hands"] * (entry["code"] == fingerprint())
            self.tally.update(entry["tally"])

    def add(self, batch: int, played: Played) -> None:
        """Write a batch down, on a line of its own even behind one that was not finished."""
        self.path.parent.mkdir(exist_ok=True)
        entry = {"batch": batch, "hands": played.hands, "code": fingerprint(), "tally": dict(played.tally)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps(entry) + "\n")
        self._count(entry)

    def prove(self, name: str, hands: int, jobs: int) -> None:
        """Play batches that have not been played, the smallest numbers first, until there are enough hands.

        Raises:
            ProofError: engine and referee differ.
        """
        numbers = (number for number in count() if number not in self.batches)
        bar = tqdm(total=hands, initial=min(hands, self.hands), desc=f"{name:>9}", unit=" hands", mininterval=2)
        with bar, ProcessPoolExecutor(jobs) as pool:
            run = map if jobs == 1 else pool.map
            while self.hands < hands:
                some = list(islice(numbers, jobs))
                for number, played in zip(some, run(partial(play, name), some), strict=True):
                    self.add(number, played)
                    bar.update(played.hands)


def play(name: str, number: int) -> Played:
    """A batch of hands of a variant, or of random wins."""
    if name not in OUTSIDE.values():
        return play_batch(name, number)
    from proof.wins import play_wins  # needs PyMahjongGB

    return play_wins(number)


def main(words: Sequence[str] | None = None) -> int:
    """Run the proof.

    Returns:
        0 if nothing differs; `DIFFERENT` if engine and referee differ; `UNMET` if they do not, but if something was
        never met in as many hands as should be enough.
    """
    variants = sorted(VARIANTS)
    parser = argparse.ArgumentParser(prog="python -m proof", description="Compare engine and referee hand by hand.")
    parser.add_argument("--hands", type=int, default=20_000, help="hands of each variant, with those of earlier runs")
    parser.add_argument(
        "--wins", type=int, default=1_000_000, help="random wins, where a library from outside scores them"
    )
    parser.add_argument("--variant", choices=variants, help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--fresh", action="store_true", help="forget earlier runs")
    parser.add_argument("--replay", metavar="VARIANT:BATCH", help="play one batch again")
    chosen = parser.parse_args(words)
    asked = [chosen.variant] if chosen.variant else variants
    try:
        if chosen.replay:
            variant, _, number = chosen.replay.partition(":")
            print(f"{play(variant, int(number)).hands} hands, no difference")
            return 0
        outside = [OUTSIDE[variant] for variant in asked if variant in OUTSIDE and find_spec("MahjongGB")]
        for name in (*asked, *outside):
            if chosen.fresh:
                (FOLDER / f"{name}.jsonl").unlink(missing_ok=True)
            Ledger(name).prove(name, chosen.wins if name in outside else chosen.hands, chosen.jobs)
    except ProofError as error:
        FOLDER.mkdir(exist_ok=True)
        path = FOLDER / f"difference-{error.batch.variant}-{error.batch.number}.txt"
        again = f"to play it again: make proof REPLAY={error.batch.variant}:{error.batch.number}"
        path.write_text(f"{error}\n\n{again}\n", encoding="utf-8")
        print(f"{error}\n\n{again}\nwritten to {path}", file=sys.stderr)
        return DIFFERENT
    for name in outside:
        known = Ledger(name)
        print("\n".join(f"    {times:>9}  {what}" for what, times in known.tally.most_common()))
        print(f"{name}: no difference between package, referee and PyMahjongGB in {known.hands} wins\n")
    return max(_sum_up(variant, Ledger(variant)) for variant in asked)


def _sum_up(variant: str, known: Ledger) -> int:
    """Print what the hands of a variant have shown; returns the exit status."""
    print(report(variant, known.hands, known.tally))
    print(f"  of these hands, {known.current} were compared with the code as it is now\n")
    print(f"{variant}: no difference between engine and referee in {known.hands} hands")
    unmet, number = missing(variant, known.tally), len(required(variant))
    if not unmet:
        print(f"{variant}: all {number} rows, refusals, rules and knob values were met")
        return 0
    is_enough = known.hands >= ENOUGH
    why = "although there were enough hands" if is_enough else f"too few hands; {ENOUGH} are enough"
    print(f"{variant}: {len(unmet)} of {number} were not met ({why}): {'; '.join(unmet)}")
    return UNMET if is_enough else 0


if __name__ == "__main__":
    sys.exit(main())
