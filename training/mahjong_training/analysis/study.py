"""The driver of `review` and `rule-values`: it plays the parts of a study, keeps them, and writes the report."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from numpy.typing import NDArray

from mahjong_agents import make_agent
from mahjong_env import MissingExtraError, Rules, __version__
from mahjong_training.evaluation.estimates import plain_json
from mahjong_training.runtime.cache import ResultCache, fill
from mahjong_training.runtime.console import saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, rules_identity
from mahjong_training.runtime.executors import new_executor
from mahjong_training.runtime.folders import alone_in, check_file, write_text

try:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text
except ImportError as error:
    raise MissingExtraError(f"a study needs {error.name}: pip install 'mahjong-env[evaluate]'") from error

__all__ = ["Arrays", "Study", "Text", "csv_text", "new_console", "new_table"]

Arrays = dict[str, NDArray[Any]]

_NARROWEST, _WIDEST = 80, 100
_NO_PART_IN_RESULTS: Final = ("out", "notes", "processes", "ray", "threads")


class Study(ABC):
    """A study: parts that are played independently of each other, and a report of all of them.

    Attributes:
        kind: the prefix of the name of the folder in which finished parts are kept.
        tasks: the parts to play.
        files: the files to which the report is written.
        about: plain data on which the result depends, in addition to the settings, rules and agents.
    """

    kind: ClassVar[str]
    tasks: Sequence[Any]
    files: list[Path]
    about: Any = None

    def __init__(self, config: Any, rules: Rules) -> None:
        """Make the agents that the settings name."""
        self.config, self.rules = config, rules
        self.agents = tuple(make_agent(spec) for spec in config.agents)

    @abstractmethod
    def play(self, task: Any) -> Arrays:
        """Play one part; this may happen in any process."""

    @abstractmethod
    def report(self, played: list[Arrays]) -> list[str]:
        """Print the results, and return the contents of `files`."""

    def in_folder(self, *names: str) -> list[Path]:
        """Return paths in the output folder; none if the settings name no folder."""
        return [] if self.config.out is None else [self.config.out / name for name in names]

    def run(self) -> None:
        """Play the parts that are not in the cache, print the report and write its files.

        Raises:
            MahjongError: an agent fails, or a file cannot be written (which is checked before anything is played).
            InterruptedRunError: Ctrl-C or SIGTERM. With an output folder, finished parts are kept in it.
        """
        for file in self.files:
            check_file(file)
        out, config = self.config.out, asdict(self.config)
        settings = {name: value for name, value in config.items() if name not in _NO_PART_IN_RESULTS}
        digests = [agent_digests(*one, self.rules) for one in zip(config["agents"], self.agents, strict=True)]
        depends_on = [rules_identity(self.rules), settings, digests, self.about]
        cache = ResultCache(out, self.kind, depends_on)
        tasks = [(cache, str(number), task) for number, task in enumerate(self.tasks)]
        make, work = partial(type(self), self.config), type(self).play
        with alone_in(out):
            with (
                saying_what_is_kept(lambda: cache.how_far(len(tasks))) as tell,
                new_executor(self.config.processes, self.config.ray, self.config.threads) as executor,
            ):
                fill(executor, work, self, tasks, make, progress=tell)
            played = [dict(cache[name]) for _, name, _ in tasks]
            for path, content in zip(self.files, self.report(played), strict=True):
                write_text(path, content)
            if self.files:
                print(f"written: {', '.join(map(str, self.files))}")
            cache.remove()

    def json_text(self, found: Mapping[str, Any]) -> str:
        """Return the results as JSON, together with the rules; infinite ends of intervals are null."""
        rules = self.rules
        played = {"variant": rules.name, "variant_version": rules.version, "knobs": rules.knobs}
        return plain_json({"mahjong_env": __version__, **played, **found}) + "\n"


def csv_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines, which must all have the same keys, as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def new_console() -> Console:
    """Return a console for the terminal, with a width that suits the tables."""
    return Console(width=max(_NARROWEST, min(Console().width, _WIDEST)), highlight=False, markup=False)


def new_table(heading: str, *headings: str) -> Table:
    """Return an empty table with a column of names and columns of numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, overflow="fold", min_width=12, max_width=34)
    for other in headings:
        table.add_column(other, justify="right", no_wrap=True)
    return table
