"""The arguments that several commands share."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.files import replacing
from mahjong_env.environments.agents import Opponent, agent_names, find_agent
from mahjong_env.records import RecordWriter
from mahjong_env.ruleset import knobs
from mahjong_env.ruleset.knobs import OPTIONS
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS


def add_rules(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add --variant and --knob."""
    parser.add_argument("--variant", required=required, choices=sorted(VARIANTS), help="the variant whose rules apply")
    about = "house rules to change, such as cap=none; `python -m mahjong_env rules --variant VARIANT` lists them"
    parser.add_argument(*OPTIONS, nargs="+", action="extend", default=[], dest="knob", metavar="NAME=VALUE", help=about)


def add_game(parser: argparse.ArgumentParser, who: str) -> None:
    """Add the arguments of commands that play: the agents, which the help calls ``who``, the game, and its record."""
    agents = f"{who}, one for all or one for each (default: random; known agents are {', '.join(agent_names())})"
    parser.add_argument("--agents", nargs="+", default=["random"], metavar="AGENT", help=agents)
    parser.add_argument(
        "--seed", type=int, help="seed of the cards and of all random choices (default: drawn, and printed)"
    )
    parser.add_argument("--num-hands", type=int, default=1, help="number of hands in the match (default: 1)")
    parser.add_argument("--unicode", action="store_true", help="write tiles as Unicode characters")
    parser.add_argument("--record", metavar="FILE", help="append the match to this file of records (JSON lines)")
    parser.add_argument(
        "--thoughts",
        action="store_true",
        help="also record what the agents thought of their choices, which the viewer shows: the probabilities of "
        "policies, and what each action promises to value and search",
    )


def read_rules(chosen: argparse.Namespace) -> Rules:
    """The rules that were named; `RulesError` for an unknown knob or value."""
    return knobs.read_rules(chosen.variant, chosen.knob)


def read_seed(chosen: argparse.Namespace) -> int:
    """The seed that was given, or a new one."""
    if chosen.seed is None:
        return secrets.randbits(31)
    if chosen.seed < 0:
        raise MahjongError(f"--seed is an integer from 0, not {chosen.seed}")
    return int(chosen.seed)


def read_agents(names: Sequence[str], number: int) -> list[Opponent]:
    """One agent for each of ``number`` persons."""
    if len(names) == 1:
        return [find_agent(names[0])] * number
    if len(names) != number:
        raise MahjongError(f"--agents names one agent, or {number} (one for each person), not {len(names)}")
    return [find_agent(name) for name in names]


def check_record(chosen: argparse.Namespace, page: str | None = None) -> None:
    """Raise `MahjongError` before any work if the file of records cannot be appended to, or thoughts have no place.

    Args:
        chosen: the arguments.
        page: the page that is written, which shows thoughts too.
    """
    if chosen.thoughts and chosen.record is None and page is None:
        raise MahjongError("--thoughts adds to the record: name a file for it (--record FILE)")
    if chosen.record is not None:
        path = Path(chosen.record)
        check_writable(path)
        if path.is_file():  # one that is not there is made when there is something to write
            RecordWriter(path).close()


def check_left_out(chosen: argparse.Namespace, why: str, **defaults: Any) -> None:
    """Raise `MahjongError` if an option is given that has no effect here.

    Args:
        chosen: the arguments.
        why: why the options have no effect.
        **defaults: the options, each with its value where it is not given.
    """
    given = [f"--{name.replace('_', '-')}" for name, default in defaults.items() if getattr(chosen, name) != default]
    if given:
        raise MahjongError(f"{why}: leave out {', '.join(given)}")


# --- Files -----------------------------------------------------------------------------------------------------------


def check_distinct(files: Mapping[str, str | Path | None]) -> None:
    """Raise `MahjongError` if two options, by which the files are listed, name one file: it would be overwritten."""
    named = [(option, Path(file)) for option, file in files.items() if file is not None]
    for (one, file), (other, again) in combinations(named, 2):
        if file.resolve() == again.resolve():
            raise MahjongError(f"{one} and {other} name the same file, {file}: name another one for {other}")


def check_writable(path: Path) -> None:
    """Raise `MahjongError` if a file cannot be written, so that this is found before any work is done for it."""
    if not path.parent.is_dir():
        raise MahjongError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise MahjongError(f"{path}: cannot be written: it is a folder")
    try:
        if path.exists():
            path.open("ab").close()
        else:
            TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise MahjongError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file; if that fails after all, as on a full disk, raise `MahjongError` and keep what was there."""
    try:
        with replacing(path.resolve()) as file:  # a link that the user has named stays one
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise MahjongError(f"{path}: cannot be written: {error.strerror or error}") from error
