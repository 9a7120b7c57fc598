"""Blind tests: deals that nothing else is played on, each of them once for the same agents.

An agent that was kept because it did best of many on some deals has been fitted to those deals. The deals of
a blind test come from seeds that no option reaches (`mahjong_training.seeds`), and a file of lines of JSON,
`blind_tests.jsonl` in the current folder, says which agents have seen which of them: commit it with the results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mahjong_env import Rules
from mahjong_training.errors import BlindSeedError, TrainingError
from mahjong_training.runtime.digests import provenance
from mahjong_training.runtime.folders import check_file, naming

LEDGER: Final = Path("blind_tests.jsonl")
BEGUN, FINISHED = "begun", "finished"


@dataclass(frozen=True)
class BlindTest:
    """One blind test of some agents.

    Two agents are the same if their names are, or if their choices come from the same files: neither a new name for a
    policy nor a change in the source of this package makes another agent. A test was played by the same agents if each
    of its agents was among those of then, and each of those is among its own.

    ``agents`` are their names; ``digests`` (`mahjong_training.runtime.digests`) are empty where nothing is known.
    """

    number: int
    rules: Rules
    agents: tuple[str, ...]
    digests: tuple[tuple[str, ...], ...]
    ledger: Path = LEDGER

    def begin(self, *, again: bool = False) -> None:
        """Record that the test begins (again, although these agents have played it).

        A BlindSeedError if the same agents have finished it; one that was interrupted may be gone on with.
        """
        before = [line for line in self._lines() if line["state"] == FINISHED and self._is_same(line)]
        if before and not again:
            agents = ", ".join(before[-1]["agents"])
            raise BlindSeedError(
                f"--blind {self.number} was played in {self.rules.name} by {agents} on {before[-1]['date']} "
                f"({self.ledger}): what is chosen by a blind test that was seen is not blind. Use another number, "
                "or --blind-again, and say so"
            )
        self._write(self._line(BEGUN) | ({"again": True} if before else {}))

    def finish(self) -> None:
        """Record that the results were seen."""
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
        check_file(self.ledger)
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
    """Whether two agents are the same, by their names or by their files; files that cannot be read say nothing."""
    (name, files), (other_name, other_files) = one, other
    return name == other_name or (files == other_files and bool(files) and "" not in files)
