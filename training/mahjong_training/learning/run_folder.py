"""A run's folder: its settings, its policies, its learning curve, and what is needed to go on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.references import CLONE, INITIAL
from mahjong_training.runtime.folders import LOCK, locked, make_folder, write_text

# What may differ between a run and its continuation.
_FREE: Final = ("resume", "out", "total_steps", "hands", "processes", "threads", "device", "record")

# Of the learning curve's columns, those that are drawn.
_CURVE_NUMBERS: Final = ("points", "points_low", "points_high", "wins")

# A setting that only runs of this kind have, and whose runs they are, as users name them.
_MARKS: Final = {TrainSb3Config: "total_steps", TrainConfig: "hands"}
_COMMANDS: Final = {TrainSb3Config: "`train-sb3` (METHOD=sb3)", TrainConfig: "`train` (METHOD=ppo)"}

_Settings = TypeVar("_Settings", TrainSb3Config, TrainConfig)
_Run = TypeVar("_Run", TrainSb3Config, TrainConfig)


@dataclass(frozen=True)
class RunFolder:
    """The files of a run.

    Attributes:
        path: the folder.
    """

    path: Path

    @property
    def config(self) -> Path:
        """Every setting of the run, and the versions it was made with."""
        return self.path / "config.json"

    @property
    def best(self) -> Path:
        """The policy that measured best."""
        return self.path / "best.zip"

    @property
    def last(self) -> Path:
        """The policy as it is now."""
        return self.path / "last.zip"

    @property
    def checkpoint(self) -> Path:
        """Weights and the optimiser's state, from which ``--resume`` goes on."""
        return self.path / "checkpoint.pt"

    @property
    def clone(self) -> Path:
        """The policy as the warm start left it, before it learned."""
        return self.path / CLONE

    @property
    def initial(self) -> Path:
        """The policy as it began, before it learned."""
        return self.path / INITIAL

    @property
    def policies(self) -> Path:
        """The policies on the way, one for each measurement."""
        return self.path / "policies"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's event files."""
        return self.path / "tensorboard"

    @property
    def curve(self) -> Path:
        """The measurements, a line for each opponent."""
        return self.path / "learning_curve.csv"

    @property
    def curve_plot(self) -> Path:
        """The same as a picture."""
        return self.path / "learning_curve.png"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the folder, which exists.

        Raises:
            TrainingError: another run is at work in it, or it cannot be written.
        """
        with locked(self.path / LOCK) as left_by:
            if left_by is not None:
                print(f"{self.path}: taken over from {left_by}, which ended without finishing")
            yield

    def check_kind(self, kind: type[TrainSb3Config | TrainConfig]) -> None:
        """Check that the run in the folder, if there is one, is of this kind.

        Raises:
            TrainingError: it is of the other one.
        """
        if not self.config.exists():
            return
        settings, other = self._settings(), TrainConfig if kind is TrainSb3Config else TrainSb3Config
        if _MARKS[other] in settings:
            raise TrainingError(
                f"{self.path}: the run in this folder is one of {_COMMANDS[other]}, not of {_COMMANDS[kind]}; "
                "choose another --out (RUN= of make)"
            )

    def check_is_free(self) -> None:
        """Check that there is no run in the folder.

        Raises:
            TrainingError: there is.
        """
        if self.config.exists():
            raise TrainingError(
                f"{self.path}: there is a run in this folder already; go on with it (--resume) or choose another --out"
            )

    def check_is_run(self) -> None:
        """Check that there is a run in the folder.

        Raises:
            TrainingError: there is none.
        """
        if not self.config.exists():
            raise TrainingError(f"{self.path}: there is no run to resume (no {self.config.name})")

    def begin(self, config: TrainSb3Config | TrainConfig, versions: dict[str, str]) -> None:
        """Write down the settings of a new run.

        Raises:
            TrainingError: there is a run already, or the folder cannot be written.
        """
        self.check_is_free()
        make_folder(self.policies)
        settings = asdict(config) | {"out": str(self.path)}
        write_text(self.config, json.dumps(settings | {"versions": versions}, indent=2))

    def resumed_config(self, config: _Run) -> _Run:
        """Return the settings with which an existing run goes on: its own, up to the total that is asked for now.

        Raises:
            TrainingError: there is no run, its files are damaged, or a setting contradicts the run's own.
        """
        self.check_is_run()
        kind = type(config)
        saved = self._saved_config(kind)
        default = kind(variant=saved.variant)
        free = [item.name for item in fields(kind) if item.name in _FREE]
        for item in fields(kind):
            asked, kept = getattr(config, item.name), getattr(saved, item.name)
            if item.name not in free and asked not in (kept, getattr(default, item.name)):
                raise TrainingError(
                    f"{self.path}: a resumed run keeps its settings: {item.name} is {kept!r}, not {asked!r}"
                )
        if config.variant != saved.variant:
            raise TrainingError(f"{self.path}: this is a run for {saved.variant}, not for {config.variant}")
        self.read_curve()  # it is read at every measurement, when there is something to lose
        make_folder(self.policies)
        return replace(saved, **{name: getattr(config, name) for name in free})

    def _saved_config(self, kind: type[_Run]) -> _Run:
        settings = self._settings()
        try:
            settings.pop("versions", None)
            settings["out"] = self.path
            lists = {key: tuple(value) for key, value in settings.items() if isinstance(value, list)}
            return _typed(kind(**settings | lists))
        except (ValueError, KeyError, TypeError) as error:
            raise self._unreadable(error) from error

    def _settings(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self.config.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> TrainingError:
        return TrainingError(f"{self.config}: the settings of this run cannot be read ({error})")

    def append_to_curve(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add lines to the learning curve."""
        self._write_curve([*self.read_curve(), *rows])

    def truncate_after(self, steps: int) -> None:
        """Remove what was measured later than the checkpoint that a run goes on from: it will be measured again.

        Args:
            steps: the checkpoint's decisions; -1: there is none, and nothing is kept.
        """
        rows = self.read_curve()
        kept = [row for row in rows if int(row["steps"]) <= steps]
        if rows and not kept:
            self.curve.unlink()
        elif kept != rows:
            self._write_curve(kept)
        for policy in self.policies.glob("*.zip"):
            if policy.stem.isdecimal() and int(policy.stem) > steps:
                policy.unlink()

    def _write_curve(self, rows: Sequence[Mapping[str, Any]]) -> None:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[-1])
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.curve, text.getvalue())

    def read_curve(self) -> list[dict[str, str]]:
        """Return the lines of the learning curve, none if there is none.

        Raises:
            TrainingError: it cannot be read, or a line lacks numbers.
        """
        if not self.curve.exists():
            return []
        try:
            with self.curve.open(newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                rows = list(reader)
            if lacking := {"against", "steps", *_CURVE_NUMBERS} - set(reader.fieldnames or ()):
                raise ValueError(f"no columns {', '.join(sorted(lacking))}")
            for row in rows:
                is_whole = bool(row["against"]) and None not in row
                if not is_whole or not 0 <= int(row["steps"]) < 2**53:
                    raise ValueError(f"a line {list(row.values())}")
                for name in _CURVE_NUMBERS:
                    float(row[name])
        except (OSError, ValueError, TypeError, csv.Error) as error:
            raise TrainingError(f"{self.curve}: damaged; mend or remove it ({error})") from error
        return rows


def _typed(settings: _Settings) -> _Settings:
    """Return settings that were read from a file, once every value is known to be of its type."""
    hints = get_type_hints(type(settings))
    for name, kind in ((item.name, hints[item.name]) for item in fields(settings)):
        value = getattr(settings, name)
        if kind == tuple[str, ...]:
            fits = isinstance(value, tuple) and all(isinstance(text, str) for text in value)
        else:
            fits = isinstance(value, kind) or (kind in (float, float | None) and isinstance(value, int))
        if not fits:
            raise TypeError(f"{name} is {value!r}")
    return settings
