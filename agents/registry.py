"""Agents by name: the built-in ones, and those that other distributions add to the entry-point group."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from agents.base import Agent, AgentError
from mahjong_env.basics.errors import MahjongError
from mahjong_env.environments.opponents import ENTRY_POINTS, parse_agent

GROUP: Final = ENTRY_POINTS

# Modules are imported when their agent is asked for: torch, say, is needed by policies only.
_BUILT_IN: Final[Mapping[str, str]] = {
    "random": "agents.random_agent:RandomAgent",
    "greedy": "agents.greedy:GreedyAgent",
    "policy": "agents.policy:PolicyAgent",
}


def agent_names() -> list[str]:
    """The names that `make_agent` knows, installed ones included."""
    return sorted({*_BUILT_IN, *(entry.name for entry in entry_points(group=GROUP))})


def make_agent(spec: str) -> Agent:
    """Make an agent from a short text.

    Args:
        spec: ``NAME``, ``NAME:ARGUMENT``, either with ``?option=value&option=value`` behind it: "random", "greedy",
            "policy:runs/hebei/best.zip", "policy:runs/hebei?sample=true". Values are taken as booleans and numbers
            where they read like them.

    Returns:
        The agent.

    Raises:
        AgentError: no agent has this name, or it does not take this argument or option.
        PolicyFileError: the policy file cannot be used.
        MissingExtraError: the agent needs packages that are not installed; the message names the ``pip install`` line.
    """
    try:
        name, arguments, options = parse_agent(str(spec))
    except MahjongError as error:
        raise AgentError(str(error)) from None
    factory = _find(name)
    try:
        inspect.signature(factory).bind(*arguments, **options)
    except TypeError as error:
        raise AgentError(f"agent {spec!r}: {error}; {name} takes {inspect.signature(factory)}") from None
    return factory(*arguments, **options)


def _find(name: str) -> Callable[..., Agent]:
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        factory: Callable[..., Agent] = getattr(import_module(module), attribute)
        return factory
    if name in installed:
        return _load(installed[name])
    raise AgentError(f"no agent is called {name!r}; valid are {', '.join(agent_names())}")


def _load(entry: EntryPoint) -> Callable[..., Agent]:
    try:
        factory: Callable[..., Agent] = entry.load()
    except (ImportError, AttributeError) as error:
        raise AgentError(f"agent {entry.name!r} is installed as {entry.value} but cannot be loaded: {error}") from error
    return factory
