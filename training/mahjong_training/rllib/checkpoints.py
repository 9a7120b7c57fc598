"""Checkpoints of a run of RLlib, so that it goes on after any end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mahjong_training.errors import TrainingError
from mahjong_training.runtime.folders import make_folder, write_text

_STATE: Final = "run.json"
"""Written last: a folder without it is no whole checkpoint."""


@dataclass(frozen=True)
class Checkpoint:
    """How far a run has come.

    Attributes:
        path: the folder that RLlib has written.
        seconds: how long it has learned.
        decisions: how many decisions it has learned from.
    """

    path: Path
    seconds: float
    decisions: int


class Checkpoints:
    """The checkpoints of a run, each in a folder of its own in a common one; only the latest is kept."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """Look where they would be.

        Args:
            folder: the common folder.
            settings: what a run that goes on must have in common with the one that began.
        """
        self.folder, self._settings = folder, dict(settings)

    def latest(self) -> Checkpoint | None:
        """Return the latest whole checkpoint; None if there is none.

        Raises:
            TrainingError: it is of other settings, which are named.
        """
        whole = sorted(self.folder.glob(f"*/{_STATE}"))
        if not whole:
            return None
        state = json.loads(whole[-1].read_text(encoding="utf-8"))
        for name, value in self._settings.items():
            if state["settings"].get(name) != value:
                raise TrainingError(
                    f"{self.folder} has checkpoints of a run with --{name} {state['settings'].get(name)}, not {value}: "
                    "choose another --out, or delete that folder"
                )
        return Checkpoint(whole[-1].parent, state["seconds"], state["decisions"])

    def write(self, algorithm: Any, seconds: float, decisions: int) -> None:
        """Write a checkpoint, and then delete those before it.

        Args:
            algorithm: of RLlib.
            seconds: how long it has learned.
            decisions: how many decisions it has learned from.
        """
        before = list(self.folder.glob("*"))
        new = self.folder / f"{decisions:012d}"
        make_folder(self.folder)
        algorithm.save_to_path(str(new.absolute()))
        state = {"settings": self._settings, "seconds": seconds, "decisions": decisions}
        write_text(new / _STATE, json.dumps(state) + "\n")
        for old in before:
            shutil.rmtree(old, ignore_errors=True)

    def remove(self) -> None:
        """Forget them: the run is finished."""
        shutil.rmtree(self.folder, ignore_errors=True)
