"""Agents by name: the built-in one, those that distributions register, and classes of the user's own.

A distribution registers an agent in the entry-point group `mahjong_env.agents`, under the name that users write::

    [project.entry-points."mahjong_env.agents"]
    cautious = "cautious_mahjong:CautiousAgent"

This is the only place that knows names: environments, command lines, training and `mahjong_agents.make_agent` all ask
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mahjong_env.basics import plugins
from mahjong_env.basics.errors import AgentError, did_you_mean
from mahjong_env.environments.addresses import Kind, Maker, find_maker, make, parse_address
from mahjong_env.environments.players import Opponent, RandomAgent, agent_name

ENTRY_POINTS: Final = "mahjong_env.agents"
"""The entry-point group in which distributions register agents."""

# What needs no distribution at all.
_BUILT_IN: Final[Mapping[str, Callable[..., Opponent]]] = {RandomAgent.name: RandomAgent}


def agent_names() -> tuple[str, ...]:
    """The names that `find_agent` knows, sorted; nothing is loaded."""
    return tuple(sorted({*_BUILT_IN, *plugins.installed(ENTRY_POINTS)}))


def find_agent(agent: Any) -> Opponent:
    """The agent that a text describes, or the object itself.

    Args:
        agent: an object with ``act(view, rng)``, or one of these texts, any of them with ``?option=value&option=value``
            behind it:

            * ``NAME`` or ``NAME:ARGUMENT``, as in "random", "search?rollouts=64" or "policy:runs/x/best.zip";
            * ``module:Class``, a class (or a function) that makes an agent, in a module that can be imported;
            * ``file.py:Class``, the same in a file. The file's folder is put at the end of ``sys.path``, so that it
              can import its neighbours;
            * ``isolated:AGENT``, any of these in a process of its own, to which only what a seat may see goes over
              (`mahjong_env.environments.isolated`).

            A registered name comes first, where a module is called the same. Options are checked against the types in
            the signature.

    Raises:
        AgentError: there is no such agent, it cannot be loaded, or it does not take what is behind its name; the
            message lists what is valid. An agent's own errors (`MahjongError`) pass through.
    """
    if isinstance(agent, str):
        return _make(agent)
    if isinstance(agent, type):
        raise AgentError(f"{agent.__name__} is a class; give an agent, such as {agent.__name__}()")
    if not isinstance(agent, Opponent):
        raise AgentError(f"{agent!r} is no agent; valid are {_valid()}")
    return agent


# --- Finding what makes an agent ------------------------------------------------------------------------------


def _make(text: str) -> Opponent:
    if text.strip().startswith("isolated:"):
        from mahjong_env.environments.isolated import PREFIX, IsolatedAgent  # processes are for those who ask for them

        return IsolatedAgent(text.strip().removeprefix(PREFIX), find_agent)
    address, options = parse_address(KIND, text)
    maker, argument = _maker(text, address)
    agent = make(KIND, text, maker, argument, options)
    if isinstance(agent, type) or not isinstance(agent, Opponent):
        raise AgentError(f"agent {text!r}: {agent!r} is no agent, it has no act(view, rng)")
    if not isinstance(getattr(agent, "name", None), str):  # tables and plots ask for one
        setattr(agent, "name", agent_name(agent))  # noqa: B010 the protocol does not promise it
    return agent


def _maker(text: str, address: str) -> tuple[Maker, str | None]:
    """What makes the agent, and the argument behind its name, if there is one."""
    name, colon, argument = address.partition(":")
    installed = plugins.installed(ENTRY_POINTS)
    if name in installed or name in _BUILT_IN:
        return _registered(name, installed.get(name, [])), argument if colon else None
    maker = find_maker(KIND, text, address)
    if maker is not None:
        return maker, None
    raise AgentError(f"no agent is called {text!r}; valid are {_valid()}{did_you_mean(name, agent_names())}")


def _valid() -> str:
    texts = ", ".join((*agent_names(), "module:Class", "file.py:Class", "isolated:AGENT"))
    return f"{texts}, and in Python objects with act(view, rng)"


def _registered(name: str, entries: list[Any]) -> Maker:
    owners = [f"{plugins.distribution(entry)} ({entry.value})" for entry in entries]
    if name in _BUILT_IN:
        owners.insert(0, "mahjong_env itself")
    if len(owners) > 1:
        raise AgentError(
            f"the agent {name!r} is registered more than once, by {' and by '.join(owners)}; "
            "uninstall all but one of them"
        )
    maker: Maker = _BUILT_IN[name] if name in _BUILT_IN else plugins.load(entries[0], AgentError)
    if not callable(maker):
        raise AgentError(f"the agent {name!r} of {owners[0]} is made by calling {maker!r}, which cannot be called")
    return maker


def _is_agent(one: Any) -> bool:
    return isinstance(one, Opponent) and not isinstance(one, type)


KIND: Final = Kind("agent", "an agent", AgentError, "act", _is_agent, _valid)
"""What messages call agents, and what counts as one."""
