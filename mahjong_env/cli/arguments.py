"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence
from typing import Any

from mahjong_env.basics.errors import MahjongError, RulesError
from mahjong_env.environments.opponents import Opponent, agent_names, find_agent, read_value
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS, rules


def add_rules(parser: argparse.ArgumentParser) -> None:
    """--variant and --knob."""
    parser.add_argument("--variant", required=True, choices=sorted(VARIANTS), help="what is played")
    parser.add_argument(
        "--knob", action="append", default=[], metavar="NAME=VALUE", help="a house rule; may be given several times"
    )


def read_rules(chosen: argparse.Namespace) -> Rules:
    """The rules that were named; `RulesError` for an unknown knob or value."""
    return rules(chosen.variant, **read_knobs(chosen.knob))


def read_knobs(listed: Sequence[str]) -> dict[str, Any]:
    """Knobs as they are written on a command line: ``cap=None``, ``players=4``, ``discard_payers=all``."""
    knobs: dict[str, Any] = {}
    for text in listed:
        name, equals, value = text.partition("=")
        if not equals:
            raise RulesError(f"a knob is written NAME=VALUE, such as cap=None, not {text!r}")
        knobs[name.strip()] = read_value(value.strip())
    return knobs


def add_game(parser: argparse.ArgumentParser) -> None:
    """--seed, --num-hands and --unicode."""
    parser.add_argument("--seed", type=int, help="of the cards and of chance (default: drawn, and printed)")
    parser.add_argument("--num-hands", type=int, default=1, help="hands of the match (default: 1)")
    parser.add_argument("--unicode", action="store_true", help="tiles as Unicode characters")


def read_seed(chosen: argparse.Namespace) -> int:
    """The seed that was given, or a new one."""
    if chosen.seed is None:
        return secrets.randbits(31)
    if chosen.seed < 0:
        raise MahjongError(f"--seed is an integer from 0, not {chosen.seed}")
    return int(chosen.seed)


def add_agents(parser: argparse.ArgumentParser, who: str) -> None:
    """--agents."""
    parser.add_argument(
        "--agents",
        nargs="+",
        default=["random"],
        metavar="AGENT",
        help=f"{who}: one for all, or one for each (default: random; there are {', '.join(agent_names())})",
    )


def read_agents(names: Sequence[str], number: int) -> list[Opponent]:
    """One agent for each of ``number`` persons."""
    if len(names) == 1:
        return [find_agent(names[0])] * number
    if len(names) != number:
        raise MahjongError(f"--agents names one agent, or {number} (one for each person), not {len(names)}")
    return [find_agent(name) for name in names]
