"""Blind tests: deals that are used for nothing else, and that the same agents play only once.

If you try many agents on some deals and keep the best, you have fitted it to those deals. A blind test deals from seeds
that no option reaches (`mahjong_training.seeds`). The file `blind_tests.jsonl` in the current folder, of JSON lines,
records which agents have played which test; commit it with the results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mahjong_env import Rules
from mahjong_training.errors import BlindSeedError, TrainingError
from mahjong_training.runtime.digests import provenance
from mahjong_training.runtime.folders import naming

LEDGER: Final = Path("blind_tests.jsonl")
BEGUN, FINISHED = "begun", "finished"


@dataclass(frozen=True)
class BlindTest:
    """One blind test of some agents.

    Two agents count as the same if they have the same name, or if their choices come from the same files. So neither a
    new name for a policy nor a change in the source of this package makes a new agent. Two tests are of the same agents
    if each agent of the one is the same as some agent of the other, and the other way round.

    Attributes:
        number: the number of the test, which determines its deals.
        rules: the rules to play by.
        agents: the names of the agents.
        digests: the digests of each agent (`mahjong_training.runtime.digests`), empty where nothing is known.
        ledger: the file in which tests are recorded.
    """

    number: int
    rules: Rules
    agents: tuple[str, ...]
    digests: tuple[tuple[str, ...], ...]
    ledger: Path = LEDGER

    def begin(self, *, again: bool = False) -> None:
        """Record that the test begins.

        A test that was interrupted may be resumed.

        Args:
            again: whether to allow a test that the same agents have already finished.

        Raises:
            BlindSeedError: the same agents have already finished the test.
        """
        before = [line for line in self._lines() if line["state"] == FINISHED and self._is_same(line)]
        if before and not again:
            agents = ", ".join(before[-1]["agents"])
            raise BlindSeedError(
                f"--blind {self.number} was played in {self.rules.name} by {agents} on {before[-1]['date']} "
                f"({self.ledger}): a test whose results have been seen is no longer blind. Use another number, "
                "or --blind-again, and say so where you report it"
            )
        self._write(self._line(BEGUN) | ({"again": True} if before else {}))

    def finish(self) -> None:
        """Record that the test is finished and its results are known."""
        self._write(self._line(FINISHED))

    def _line(self, state: str) -> dict[str, Any]:
        return {
            "number": self.number,
            "state": state,
            **provenance(self.rules),
            "variant": self.rules.name,
            "knobs": {name: str(value) for name, value in self.rules.knobs.items()},
            "agents": list(self.agents),
            "digests": [list(one) for one in self.digests],
        }

    def _write(self, line: dict[str, Any]) -> None:
        with naming(self.ledger), self.ledger.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _is_same(self, line: dict[str, Any]) -> bool:
        this = self._line(FINISHED)
        if any(line[name] != this[name] for name in ("number", "variant", "version", "knobs")):
            return False
        ours, theirs = (list(zip(one["agents"], one["digests"], strict=True)) for one in (this, line))
        pairs = [[_are_same(one, other) for other in theirs] for one in ours]
        return all(map(any, pairs)) and all(map(any, zip(*pairs, strict=True)))

    def _lines(self) -> list[dict[str, Any]]:
        if not self.ledger.exists():
            return []
        try:
            text = self.ledger.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TrainingError(f"{self.ledger}: cannot be read ({error})") from error
        lines = []
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                found = json.loads(line)
                lines.append({key: found[key] for key in self._line(FINISHED)})
                if len(found["agents"]) != len(found["digests"]):
                    raise ValueError("every agent has its digests")
            except (ValueError, TypeError, KeyError) as error:
                raise TrainingError(
                    f"{self.ledger}, line {number}: not a record of a blind test; mend the file or move it away"
                ) from error
        return lines


def _are_same(one: tuple[str, list[str]], other: tuple[str, list[str]]) -> bool:
    """Return whether two agents have the same name or the same files; files that cannot be read do not count."""
    (name, files), (other_name, other_files) = one, other
    return name == other_name or (files == other_files and bool(files) and "" not in files)
