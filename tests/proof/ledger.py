"""What earlier runs of the proof have shown: one line of JSON for each batch, in ``.proof/<variant>.jsonl``."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cache
from pathlib import Path

from proof.batches import Played

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".proof"
_CODE = ("mahjong_env/**/*.py", "tests/oracle/referee/*.py", "tests/support/duel.py")


@cache
def fingerprint() -> str:
    """A short text that changes with the code of engine, referee and comparison."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in _CODE for path in ROOT.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class Ledger:
    """The batches of one variant that have been played without a difference.

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
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # a line that was being written when the machine stopped
            if entry["batch"] not in self.batches:
                self._count(entry["batch"], entry["hands"], entry["tally"], entry["code"] == fingerprint())

    def _count(self, batch: int, hands: int, tally: dict[str, int], is_current: bool) -> None:
        self.batches.add(batch)
        self.hands += hands
        self.current += hands * is_current
        self.tally.update(tally)

    def add(self, batch: int, played: Played) -> None:
        """Write a batch down."""
        self.path.parent.mkdir(exist_ok=True)
        entry = {"batch": batch, "hands": played.hands, "code": fingerprint(), "tally": dict(played.tally)}
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" * self._is_torn() + json.dumps(entry) + "\n")
        self._count(batch, played.hands, dict(played.tally), is_current=True)

    def _is_torn(self) -> bool:
        """Whether the last line was not finished."""
        if not self.path.exists() or not self.path.stat().st_size:
            return False
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read() != b"\n"

    def next_batches(self) -> list[int]:
        """Numbers that have not been played, the smallest first; more of them than can be needed."""
        most = max(self.batches, default=-1) + 1
        return [number for number in range(most) if number not in self.batches] + list(range(most, most + 100_000))
