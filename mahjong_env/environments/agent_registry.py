"""Agents by name: the built-in one, those that distributions register, and classes of the user's own.

A distribution registers an agent in the entry-point group `mahjong_env.agents`, under the name that users write::

    [project.entry-points."mahjong_env.agents"]
    cautious = "cautious_mahjong:CautiousAgent"

This is the only place that knows names: environments, command lines, training and `agents.make_agent` all ask here.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from mahjong_env.basics import plugins
from mahjong_env.basics.errors import AgentError, MahjongError
from mahjong_env.environments.players import Opponent, RandomAgent, agent_name

ENTRY_POINTS: Final = "mahjong_env.agents"
"""The entry-point group in which distributions register agents."""

# What needs no distribution at all.
_BUILT_IN: Final[Mapping[str, Callable[..., Opponent]]] = {RandomAgent.name: RandomAgent}

_IN_A_FILE = re.compile(r"(?P<place>.+\.py):(?P<path>[^:]+)")
_IN_A_MODULE = re.compile(r"(?P<place>[A-Za-z_][\w.]*):(?P<path>[A-Za-z_][\w.]*)")

Maker = Callable[..., Any]


def agent_names() -> tuple[str, ...]:
    """The names that `find_agent` knows, sorted; nothing is loaded."""
    return tuple(sorted({*_BUILT_IN, *plugins.installed(ENTRY_POINTS)}))


def find_agent(agent: Any) -> Opponent:
    """The agent that a text describes, or the object itself.

    Args:
        agent: an object with ``act(view, rng)``, or one of these texts, any of them with ``?option=value&option=value``
            behind it:

            * ``NAME`` or ``NAME:ARGUMENT``, as in "random", "greedy?claims=false" or "policy:runs/x/best.zip";
            * ``module:Class``, a class (or a function) that makes an agent, in a module that can be imported;
            * ``file.py:Class``, the same in a file. The file's folder is put at the end of ``sys.path``, so that it
              can import its neighbours.

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


def parse_agent(text: str) -> tuple[str, dict[str, str]]:
    """Read ``ADDRESS?option=value&option=value``.

    Returns:
        The address, and the options as they are written.

    Raises:
        AgentError: options that are written otherwise, or twice.
    """
    address, _, query = text.partition("?")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise AgentError(f"agent {text!r}: options are written ?option=value&option=value, not {part!r}")
        if key in options:
            raise AgentError(f"agent {text!r}: the option {key!r} is given twice")
        options[key] = value
    return address.strip(), options


def read_value(text: str) -> Any:
    """A value that is written as text: None, true, false, a number, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


# --- Finding what makes an agent ------------------------------------------------------------------------------


def _make(text: str) -> Opponent:
    address, options = parse_agent(text)
    maker, argument = _maker(text, address)
    arguments, keywords = _Signature(text, maker).fit(argument, options)
    try:
        agent = maker(*arguments, **keywords)
    except (MahjongError, KeyboardInterrupt):
        raise
    except Exception as error:  # somebody else's code may raise anything
        raise AgentError(f"agent {text!r} cannot be made: {type(error).__name__}: {error}") from error
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
    for pattern, load in ((_IN_A_FILE, _load_file), (_IN_A_MODULE, _load_module)):
        match = pattern.fullmatch(address)
        if match:
            return _attribute(text, load(text, match["place"]), match["path"]), None
    raise AgentError(f"no agent is called {text!r}; valid are {_valid()}")


def _valid() -> str:
    return f"{', '.join(agent_names())}, module:Class, file.py:Class, and in Python objects with act(view, rng)"


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


def _load_module(text: str, place: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except Exception as error:  # somebody else's code may raise anything
        missing = isinstance(error, ModuleNotFoundError) and place.startswith(error.name or "?")
        if missing:
            raise AgentError(
                f"no agent is called {text!r}, and there is no module {place}; valid are {_valid()}"
            ) from None
        raise AgentError(f"agent {text!r}: {place} cannot be imported: {type(error).__name__}: {error}") from error


def _load_file(text: str, place: str) -> ModuleType:
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise AgentError(f"agent {text!r}: there is no file {place}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        # By its own name if that leads there: processes that are sent such an agent can then import it as well.
        found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
        if found is not None and found.origin is not None and Path(found.origin).resolve() == path:
            return importlib.import_module(path.stem)
        return _load_apart(path)
    except Exception as error:  # somebody else's code may raise anything
        raise AgentError(f"agent {text!r}: {place} cannot be run: {type(error).__name__}: {error}") from error


def _load_apart(path: Path) -> ModuleType:
    """Load a file whose name another module bears, under a name of its own."""
    name = f"agent_in_{re.sub(r'[^0-9A-Za-z]', '_', str(path))}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{path} is no Python file")
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def _attribute(text: str, module: ModuleType, path: str) -> Maker:
    found: Any = module
    for name in path.strip().split("."):
        if not hasattr(found, name):
            offered = [key for key, value in vars(module).items() if _offers(module, key, value)]
            raise AgentError(
                f"agent {text!r}: {module.__name__} has no {name!r}; it offers {', '.join(offered) or 'no agents'}"
            )
        found = getattr(found, name)
    if callable(found):
        return found
    if isinstance(found, Opponent):
        return lambda: found
    raise AgentError(f"agent {text!r}: {path} is {found!r}, not a class or a function that makes an agent")


def _offers(module: ModuleType, key: str, value: Any) -> bool:
    own = getattr(value, "__module__", None) == module.__name__
    return own and not key.startswith("_") and (hasattr(value, "act") or inspect.isfunction(value))


# --- Arguments and options --------------------------------------------------------------------------------------


class _Signature:
    """What an agent's maker takes, against which the text behind a name is checked."""

    def __init__(self, text: str, maker: Maker) -> None:
        self._text = text
        try:
            parameters = list(_parameters(maker))
        except (TypeError, ValueError):  # written in C: it says itself what it does not like
            parameters = [inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)]
            parameters.append(inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD))
        self._positional = [each for each in parameters if each.kind <= inspect.Parameter.VAR_POSITIONAL]
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        self._named = {each.name: each for each in parameters if each.kind in by_name}
        self._takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)

    def fit(self, argument: str | None, options: Mapping[str, str]) -> tuple[list[Any], dict[str, Any]]:
        """The argument and the options, as values of the types that are asked for."""
        arguments, given = [], set(options)
        if argument is not None:
            if not self._positional:
                raise AgentError(f"agent {self._text!r}: nothing is expected behind the colon, not {argument!r}")
            first = self._positional[0]
            arguments.append(self._value(first.name, argument, first.annotation, plain=True))
            if first.name in given:
                raise AgentError(f"agent {self._text!r}: {first.name!r} is given twice")
            given.add(first.name)
        unknown = [name for name in options if name not in self._named]
        if unknown and not self._takes_any:
            valid = ", ".join(self._named) or "none"
            raise AgentError(f"agent {self._text!r} has no option {unknown[0]!r}; its options are: {valid}")
        for name, parameter in self._named.items():
            if parameter.default is inspect.Parameter.empty and name not in given:
                raise AgentError(f"agent {self._text!r}: it needs {name!r}, as in {self._example(name)}")
        empty = inspect.Parameter.empty
        wanted = {name: self._named[name].annotation if name in self._named else empty for name in options}
        return arguments, {name: self._value(name, text, wanted[name]) for name, text in options.items()}

    def _example(self, name: str) -> str:
        address = self._text.partition("?")[0]
        is_first = bool(self._positional) and self._positional[0].name == name
        return f"{address}:{name.upper()}" if is_first else f"{address}?{name}=..."

    def _value(self, name: str, text: str, wanted: Any, *, plain: bool = False) -> Any:
        if wanted is inspect.Parameter.empty:
            return text if plain else read_value(text)
        kinds = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
        for kind in sorted(kinds, key=lambda kind: kind in (str, Path)):  # anything can be read as these
            is_known, value = _read_as(text, kind)
            if is_known:
                return value
        valid = " or ".join(_IN_WORDS.get(kind, _choices(kind)) for kind in kinds)
        raise AgentError(f"agent {self._text!r}: {name!r} is {valid}, not {text!r}")


def _parameters(maker: Maker) -> Any:
    try:
        return inspect.signature(maker, eval_str=True).parameters.values()
    except NameError:  # types that are imported for the type checker alone
        found = inspect.signature(maker).parameters.values()
        empty = inspect.Parameter.empty
        return [each.replace(annotation=empty) if isinstance(each.annotation, str) else each for each in found]


_IN_WORDS: Final[Mapping[Any, str]] = {bool: "true or false", int: "an integer", float: "a number", NoneType: "none"}


def _choices(kind: Any) -> str:
    return " or ".join(map(str, get_args(kind))) if get_origin(kind) is Literal else "a text"


def _read_as(text: str, kind: Any) -> tuple[bool, Any]:
    """Whether a text can be read as a value of this type, and the value."""
    if kind in (str, Path):
        return True, kind(text)
    value = read_value(text)
    if get_origin(kind) is Literal:
        fitting = [choice for choice in get_args(kind) if str(choice) == text or (choice is None and value is None)]
        return bool(fitting), fitting[0] if fitting else None
    if kind is float and type(value) is int:
        return True, float(value)
    if kind in _IN_WORDS:
        return type(value) is kind, value
    return True, value  # a type of the agent's own: it checks its values itself
