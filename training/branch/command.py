"""``python -m training branch``: what is each action worth here? For a position, or for all decisions of a player."""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents import Agent, make_agent
from mahjong_env import Deal, __version__
from mahjong_env.records import GameRecord
from mahjong_env.ruleset.knobs import read_rules
from mahjong_env.viewer import viewer_html
from training.branch import page, results
from training.branch.branches import Branches, join
from training.branch.playing import branch
from training.branch.positions import Positions, dealt, decisions_of, read_record, recorded
from training.branch.results import Findings
from training.errors import InterruptedRunError, TrainingError
from training.folders import check_file, make_folder, write_bytes, write_text
from training.interrupts import exit_status, stopping_in_order
from training.laboratories import BranchConfig, DealConfig
from training.parts import digests
from training.progress import status

_FILES: Final = ("branch.json", "branch.csv", "branch.html", page.MATCH)
_AT_ONCE: Final = 4
"""Decisions that are played together and kept together; what is found depends on it, so it stays as it is."""


def run(config: BranchConfig) -> Findings:
    """Play, print, and write what was asked for.

    Raises:
        MahjongError: settings, records, deals or agents that cannot be used; files that cannot be written are found
            before anything is played.
        InterruptedRunError: Ctrl-C or SIGTERM; with a folder, the decisions that were played are kept in it.
    """
    agents = tuple(make_agent(spec) for spec in config.agents)
    positions = find_positions(config)
    for file in _files(config):
        check_file(file)
    kept = _Kept(config, positions.record, agents)
    try:
        with stopping_in_order(), status() as tell:
            found = _play(config, positions, agents, kept, tell)
    except KeyboardInterrupt as interrupt:
        raise InterruptedRunError(kept.how_far(len(positions.decision)), exit_status(interrupt)) from None
    page.print_findings(found)
    _write(config, found)
    kept.remove()
    return found


def find_positions(config: BranchConfig) -> Positions:
    """Return the decisions that the settings name.

    Raises:
        MahjongError: they name none, or one that is not there.
    """
    if config.record is None:
        if config.variant is None:
            raise TrainingError("name a recorded game (--record FILE), or a variant to be dealt (--variant)")
        if config.decisions or config.review or config.seat is not None or config.match != 1:
            raise TrainingError("--decisions, --review, --seat and --match are about a recorded game (--record)")
        return dealt(read_rules(config.variant, config.knobs), _deal(config.deal), config.actions, config.seed)
    if config.variant is not None or config.knobs or config.actions or _deal(config.deal) is not None:
        raise TrainingError(
            "a recorded game has its own rules and cards: --variant, --knobs, --deal and --actions go without --record"
        )
    record = read_record(config.record, config.match)
    if config.review:
        decisions = decisions_of(record, config.seat)
        if config.decisions:
            raise TrainingError("--review looks at all decisions: it goes without --decisions")
        if not decisions:
            raise TrainingError(f"person {config.seat} had nothing to decide in this match")
        return recorded(record, decisions)
    if config.seat is not None:
        raise TrainingError("--seat says whose decisions --review looks at; --decisions names them by number")
    if not config.decisions:
        last = len(record.actions) - 1
        raise TrainingError(f"name decisions of the match (--decisions, 0 to {last}), or look at all (--review)")
    return recorded(record, sorted(set(config.decisions)))


def _deal(config: DealConfig) -> Deal | None:
    """Return the deal that is described; None if nothing is."""
    if config == DealConfig():
        return None
    told = {item.name: getattr(config, item.name) for item in fields(DealConfig)}
    return Deal(**{name: value for name, value in told.items() if value is not None})


def _play(
    config: BranchConfig, positions: Positions, agents: tuple[Agent, ...], kept: _Kept, tell: Callable[[str], object]
) -> Findings:
    parts, fresh = [], 0
    number, begun = len(positions.decision), time.monotonic()
    for block, first in enumerate(range(0, number, _AT_ONCE)):
        some = positions.take(np.arange(first, min(first + _AT_ONCE, number)))
        part = kept.get(block, some)
        if part is None:
            seconds = (time.monotonic() - begun) / fresh * (number - first) if fresh else 0.0
            tell(f"decision {first + 1} of {number}" + (f"; about {seconds:.0f} s left" if fresh else ""))
            part = branch(
                some.engine,
                worlds=config.worlds,
                agents=agents,
                taken=some.taken,
                hindsight=config.hindsight,
                width=config.width,
                milliseconds=config.milliseconds,
                seed=_seed_of(config.seed, block),
            )
            kept.put(block, part)
            fresh += len(some.decision)
        parts.append(part)
    return results.findings(positions, join(parts), _settings(config, agents))


def _seed_of(seed: int, block: int) -> int:
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def _settings(config: BranchConfig, agents: tuple[Agent, ...]) -> dict[str, Any]:
    return {
        "agents": [agent.name for agent in agents],
        "seed": config.seed,
        "hindsight": config.hindsight,
        "most_worlds": config.worlds,
        "width": config.width,
        "milliseconds": config.milliseconds,
    }


def _files(config: BranchConfig) -> Iterator[Path]:
    if config.out is not None:
        yield from (config.out / name for name in _FILES)
    if config.notes is not None:
        yield config.notes


def _write(config: BranchConfig, found: Findings) -> None:
    written = list(_files(config))
    if config.out is not None:
        pages = page.html_text(found), viewer_html(results.annotated(found))
        texts = results.json_text(found), results.csv_text(found), *pages
        for name, text in zip(_FILES, texts, strict=True):
            write_text(config.out / name, text)
    if config.notes is not None:
        write_text(config.notes, results.annotated(found).to_json() + "\n")
    if written:
        print(f"written: {', '.join(map(str, written))}")


class _Kept:
    """Decisions that have been played, kept until all are: an interrupted review goes on with them."""

    _ARRAYS = ("seat", "taken", "worlds", "position", "action", "points", "end")

    def __init__(self, config: BranchConfig, record: GameRecord, agents: tuple[Agent, ...]) -> None:
        told = asdict(config)
        for name in ("out", "notes"):
            told.pop(name)
        files = [digests(spec, agent) for spec, agent in zip(config.agents, agents, strict=True)]
        depends_on = [__version__, np.__version__, record.to_json(), files, told]
        name = hashlib.sha256(json.dumps(depends_on, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self._rules = record.rules
        self._folder = None if config.out is None else config.out / f".branch-{name}"

    def get(self, block: int, positions: Positions) -> Branches | None:
        """Return what was found; None if nothing was, or if the file is damaged."""
        if self._folder is None:
            return None
        try:
            with np.load(self._folder / f"{block}.npz", allow_pickle=False) as arrays:
                found = Branches(self._rules, **{name: arrays[name] for name in self._ARRAYS})
        except Exception:  # zipfile, zlib and numpy have a dozen kinds; what cannot be read is played again
            return None
        return found if len(found.taken) == len(positions.decision) else None

    def put(self, block: int, found: Branches) -> None:
        """Keep what was found."""
        if self._folder is None:
            return
        data = io.BytesIO()
        np.savez_compressed(data, **{name: getattr(found, name) for name in self._ARRAYS})
        make_folder(self._folder)
        write_bytes(self._folder / f"{block}.npz", data.getvalue())

    def how_far(self, decisions: int) -> str:
        """Say what an interrupted review has kept."""
        if self._folder is None:
            return "interrupted"
        done = min(decisions, _AT_ONCE * len(list(self._folder.glob("*.npz"))))
        return f"interrupted; {done} of {decisions} decisions are kept: the same command goes on with them"

    def remove(self) -> None:
        """Forget them: all is written."""
        if self._folder is not None and self._folder.is_dir():
            for file in self._folder.iterdir():
                file.unlink(missing_ok=True)
            self._folder.rmdir()
