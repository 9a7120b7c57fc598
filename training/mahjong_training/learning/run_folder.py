"""The folder of a run: settings, policies, learning curve (as lines and as a picture), and the checkpoint."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from mahjong_agents.policy.file import PolicyFile
from mahjong_env import MissingExtraError
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.references import INITIAL
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.runtime.console import any_letters
from mahjong_training.runtime.digests import replaced
from mahjong_training.runtime.folders import make_folder, write_bytes, write_text

MEAN_PLACE: Final = "mean_place"
"""The column of the learning curve for the mean place, in runs that play matches.

Its interval is in the columns "mean_place_low" and "mean_place_high".
"""
_BEFORE: Final = "totals before"
"""The key of the totals that a run had before it was resumed with another total; how it learned depends on them."""
_OF_NO_SETTING: Final = ("versions", "digests", _BEFORE)
_FREE: Final = ("resume", "out", "total_steps", "hands", "processes", "ray", "threads", "device", "record")
"""The settings that may differ when a run is resumed."""
_CURVE_NUMBERS: Final = ("points", "points_low", "points_high", "wins")
"""The columns of the learning curve that are drawn."""
_COMMANDS: Final = {"total_steps": "`train-sb3` (METHOD=sb3)", "hands": "`train` (METHOD=ppo)"}
"""The training commands as users name them, by a setting that only that command has."""

Config = TypeVar("Config", TrainSb3Config, TrainConfig)


class RunFolder:
    """The files of a run.

    Attributes:
        path: the folder.
        config: the file of all settings of the run, and of the versions it was made with.
        best: the policy that measured best.
        last: the policy as of the last measurement.
        initial: the policy before it learned.
        policies: a folder of the policies on the way, one for each measurement.
        checkpoint: the file from which ``--resume`` goes on.
        tensorboard: the folder of TensorBoard's event files.
        curve: the learning curve: a line for each opponent in each measurement.
        curve_plot: the learning curve as a picture.
    """

    def __init__(self, path: Path) -> None:
        """Set the paths of the files; nothing is made or read."""
        self.path = path
        self.config = path / "config.json"
        self.best, self.last, self.initial = path / "best.zip", path / "last.zip", path / INITIAL
        self.policies = path / "policies"
        self.checkpoint = path / "checkpoint.pt"
        self.tensorboard = path / "tensorboard"
        self.curve, self.curve_plot = path / "learning_curve.csv", path / "learning_curve.png"

    @property
    def has_gained(self) -> bool:
        """Whether a gate has been passed, so that ``best`` differs from ``initial``."""
        found, wanted = (PolicyFile.read(path).weights for path in (self.best, self.initial))
        return any(not np.array_equal(array, wanted[name]) for name, array in found.items())

    # --- Settings -----------------------------------------------------------------------------------------------
    def check(self, config: TrainSb3Config | TrainConfig) -> None:
        """Check that the folder has a run of the same command if that is to be resumed, and no run otherwise.

        Raises:
            TrainingError: there is no run to resume, there is already a run, or it is one of the other command.
        """
        if not self.config.exists():
            if config.resume:
                raise TrainingError(f"{self.path}: there is no run to resume (no {self.config.name})")
            return
        own = _total(config)
        (other,) = _COMMANDS.keys() - {own}
        if other in self._settings():
            raise TrainingError(
                f"{self.path}: the run in this folder is one of {_COMMANDS[other]}, not of {_COMMANDS[own]}; "
                "choose another --out (RUN= of make)"
            )
        if not config.resume:
            raise TrainingError(
                f"{self.path}: there is a run in this folder already; resume it (--resume) or choose another --out"
            )

    def begin(
        self,
        config: TrainSb3Config | TrainConfig,
        versions: Mapping[str, str],
        digests: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Write the settings of a new run, with the versions of packages and the digests of the agents it meets.

        Raises:
            TrainingError: there is a run already, or the folder cannot be written to.
        """
        self.check(config)
        make_folder(self.policies)
        settings = asdict(config) | {"out": str(self.path), "versions": dict(versions), "digests": digests}
        write_text(self.config, json.dumps(settings | {_total(config): config.goal}, indent=2))

    def go_on(self, config: TrainSb3Config | TrainConfig, digests: Mapping[str, Sequence[str]]) -> None:
        """Write the total of a resumed run and the digests of the agents it meets, if they have changed.

        The digest of a reward of your own may have changed, if you corrected it before anything was learned with it.
        """
        settings, total = self._settings(), _total(config)
        known = settings | {"digests": {name: [*one] for name, one in digests.items()}}
        if settings[total] != config.goal:
            known |= {_BEFORE: [*settings.get(_BEFORE, []), settings[total]], total: config.goal}
        if known != settings:
            write_text(self.config, json.dumps(known, indent=2))

    def resumed_config(self, config: Config) -> Config:
        """Return the settings with which a run is resumed: its own, with the total that is asked for now.

        Raises:
            TrainingError: a file of the run is damaged, or a setting contradicts the run's own.
        """
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
        self.read_curve()  # checked now, as later, at a measurement, an error would lose something
        make_folder(self.policies)
        asked = {name: getattr(config, name) for name in free}
        return replace(
            saved, **{name: value for name, value in asked.items() if not (name in _COMMANDS and value is None)}
        )

    def check_met(self, digests: Mapping[str, Sequence[str]]) -> None:
        """Check that the agents that a run has met, and the user's own code that it began with, have not changed.

        Raises:
            TrainingError: one of them has another version, or is a policy that has been replaced.
        """
        known = self._settings().get("digests") or {}  # old runs have no digests
        for agent in replaced(known, digests):
            raise TrainingError(f"{self.path}: {agent} has changed since this run met it")

    def _settings(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self.config.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise self._unreadable(error) from error

    def _saved_config(self, kind: type[Config]) -> Config:
        settings = self._settings() | {"out": self.path}
        for name in _OF_NO_SETTING:
            settings.pop(name, None)
        hints = get_type_hints(kind)
        try:
            lists: dict[str, Any] = {key: tuple(value) for key, value in settings.items() if isinstance(value, list)}
            saved = kind(**settings | lists)
            for item in fields(kind):
                value, wanted = getattr(saved, item.name), hints[item.name]
                if get_origin(wanted) is tuple:
                    fits = isinstance(value, tuple) and all(isinstance(one, get_args(wanted)[0]) for one in value)
                else:
                    fits = isinstance(value, wanted) or (wanted is float and isinstance(value, int))
                if not fits:
                    raise TypeError(f"{item.name} is {value!r}")
        except (ValueError, KeyError, TypeError) as error:
            raise self._unreadable(error) from error
        return saved

    def _unreadable(self, error: Exception) -> TrainingError:
        return TrainingError(f"{self.config}: the settings of this run cannot be read ({error})")

    # --- The learning curve -------------------------------------------------------------------------------------
    def append_to_curve(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append lines to the learning curve."""
        self._write_curve([*self.read_curve(), *rows])

    def truncate_after(self, steps: int) -> None:
        """Remove the measurements after a number of steps, that of the checkpoint; -1 removes all of them.

        These will be measured again.
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
        writer = csv.DictWriter(text, rows[-1], restval="nan")
        writer.writeheader()
        writer.writerows(rows)
        write_text(self.curve, text.getvalue())

    def read_curve(self) -> list[dict[str, str]]:
        """Return the lines of the learning curve; empty if there is no curve yet.

        Raises:
            TrainingError: the file cannot be read, or a line lacks numbers.
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
                if not row["against"] or not 0 <= int(row["steps"]) < 2**53 or None in row:
                    raise ValueError(f"a line {list(row.values())}")
                for name in (*_CURVE_NUMBERS, *(name for name in row if name.startswith(MEAN_PLACE))):
                    float(row[name])
        except (OSError, ValueError, TypeError, csv.Error) as error:
            raise TrainingError(f"{self.curve}: damaged; mend or remove it ({error})") from error
        return rows


def _total(config: TrainSb3Config | TrainConfig) -> str:
    """Return the name of the setting that gives the total to learn from."""
    return next(name for name in _COMMANDS if hasattr(config, name))


# --- The contents of the learning curve ----------------------------------------------------------------------------


def curve_row(result: LineupResult, judge: int, against: str) -> dict[str, Any]:
    """Return the curve's line for agent 0, the learner, against copies of agent ``judge``, named ``against``."""
    own, their = result.of(0), result.of(judge)
    numbers = {
        "points": own.points.mean,
        "points_low": own.points.low,
        "points_high": own.points.high,
        "wins": own.wins.mean,
        "self_draws": own.self_draws.mean,
        "deal_ins": own.deal_ins.mean,
        "their_wins": their.wins.mean,
        "draws": result.draws.mean,
    }
    if result.places:
        place = result.mean_place(0)
        numbers |= {MEAN_PLACE: place.mean, f"{MEAN_PLACE}_low": place.low, f"{MEAN_PLACE}_high": place.high}
    return {"against": against} | {name: round(number, 4) for name, number in numbers.items()}


def describe(row: Mapping[str, Any]) -> str:
    """Describe one line of the learning curve in words."""
    points = Estimate(row["points"], row["points_low"], row["points_high"])
    place = ""
    if MEAN_PLACE in row:
        of_matches = Estimate(row[MEAN_PLACE], row[f"{MEAN_PLACE}_low"], row[f"{MEAN_PLACE}_high"])
        place = f"mean place {of_matches.text(2)}, "
    return (
        f"against {row['against']}: {place}{points.text(2, sign='+')} points a hand, "
        f"wins {100 * row['wins']:.1f} % of hands (each opponent {100 * row['their_wins']:.1f} %)"
    )


def plot_curve(rows: Sequence[Mapping[str, str]], title: str, path: Path, *, people: int) -> None:
    """Draw the points (in matches, the mean place) and the wins over the number of decisions learned from.

    Args:
        rows: the lines of the learning curve.
        title: the title of the picture.
        path: the file to write.
        people: the number of persons, which determines the mean place of equal players.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("the learning curve needs matplotlib: pip install 'mahjong-env[evaluate]'") from error
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    is_of_matches = any(MEAN_PLACE in row for row in rows)
    counts = MEAN_PLACE if is_of_matches else "points"
    for number, name in enumerate(dict.fromkeys(row["against"] for row in rows)):
        of_name = [row for row in rows if row["against"] == name]
        steps = [int(row["steps"]) for row in of_name]
        means, low, high, wins = (
            [float(row[key]) for row in of_name] for key in (counts, f"{counts}_low", f"{counts}_high", "wins")
        )
        colour = f"C{number}"
        left.plot(steps, means, color=colour, marker=".", label=f"against {name}")
        left.fill_between(steps, low, high, color=colour, alpha=0.2)
        right.plot(steps, [100 * win for win in wins], color=colour, marker=".", label=f"against {name}")
    left.axhline((people + 1) / 2 if is_of_matches else 0, color="black", linewidth=0.8)
    left.set_ylabel(f"{'mean place in matches' if is_of_matches else 'points per hand'}, 95 % intervals")
    if is_of_matches:
        left.invert_yaxis()  # the first place is at the top
    right.set_ylabel("hands won, %")
    for axes in (left, right):
        axes.set_xlabel("decisions learned from (0: before learning)")
        axes.grid(alpha=0.3)
    for text in left.legend().get_texts():
        text.set_parse_math(False)  # names come from folders, in which "$" has no special meaning
    figure.suptitle(title, parse_math=False)
    data = io.BytesIO()
    with any_letters():
        figure.savefig(data, format="png", dpi=120)
    write_bytes(path, data.getvalue())
