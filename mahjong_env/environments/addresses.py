"""Things of the user's own, named by an address: ``module:Name`` or ``file.py:Name``, with options behind it.

Agents, rewards and added inputs are found here; each says what it is called in messages, and what counts as one.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from mahjong_env.basics.errors import MahjongError

_IN_A_FILE = re.compile(r"(?P<place>.+\.py):(?P<path>[^:]+)")
_IN_A_MODULE = re.compile(r"(?P<place>[A-Za-z_][\w.]*):(?P<path>[A-Za-z_][\w.]*)")

Maker = Callable[..., Any]


@dataclass(frozen=True)
class Kind:
    """What is looked for.

    Attributes:
        word: what messages call it, such as "agent".
        article: the same with its article, such as "an agent".
        error: the class of the errors.
        method: the name of a method that classes of this kind have.
        is_made: whether an object is one already, rather than something that makes one.
        valid: says which texts are valid.
    """

    word: str
    article: str
    error: type[MahjongError]
    method: str
    is_made: Callable[[Any], bool]
    valid: Callable[[], str]


def find_maker(kind: Kind, text: str, address: str) -> Maker | None:
    """What an address names: something to be called. None: it is no address of a module or a file.

    Raises:
        MahjongError: there is no such module, file or name, or it cannot be loaded.
    """
    for pattern, load in ((_IN_A_FILE, _load_file), (_IN_A_MODULE, _load_module)):
        match = pattern.fullmatch(address)
        if match:
            return _attribute(kind, text, load(kind, text, match["place"]), match["path"])
    if (place := address.removesuffix(":")).endswith(".py"):
        offered = _offered(kind, _load_file(kind, text, place))
        raise kind.error(f"{kind.word} {text!r}: a class is missing: write {place}:NAME; it offers {offered}")
    return None


def make(kind: Kind, text: str, maker: Maker, argument: str | None, options: Mapping[str, str]) -> Any:
    """What a maker makes of the argument and the options behind its name.

    Raises:
        MahjongError: it does not take them, or fails; its own errors of this class pass through.
    """
    arguments, keywords = Signature(kind, text, maker).fit(argument, options)
    try:
        return maker(*arguments, **keywords)
    except (MahjongError, KeyboardInterrupt):
        raise
    except Exception as error:  # somebody else's code may raise anything
        raise kind.error(f"{kind.word} {text!r} cannot be made: {type(error).__name__}: {error}") from error


def parse_address(kind: Kind, text: str) -> tuple[str, dict[str, str]]:
    """Read ``ADDRESS?option=value&option=value``.

    Returns:
        The address, and the options as they are written.

    Raises:
        MahjongError: options that are written otherwise, or twice.
    """
    address, _, query = text.partition("?")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise kind.error(f"{kind.word} {text!r}: options are written ?option=value&option=value, not {part!r}")
        if key in options:
            raise kind.error(f"{kind.word} {text!r}: the option {key!r} is given twice")
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


def _load_module(kind: Kind, text: str, place: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except Exception as error:  # somebody else's code may raise anything
        missing = isinstance(error, ModuleNotFoundError) and place.startswith(error.name or "?")
        if missing:
            raise kind.error(
                f"no {kind.word} is called {text!r}, and there is no module {place}; valid are {kind.valid()}"
            ) from None
        raise kind.error(
            f"{kind.word} {text!r}: {place} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _load_file(kind: Kind, text: str, place: str) -> ModuleType:
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise kind.error(f"{kind.word} {text!r}: there is no file {place}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        # By its own name if that leads there: processes that are sent such an agent can then import it as well.
        found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
        if found is not None and found.origin is not None and Path(found.origin).resolve() == path:
            return importlib.import_module(path.stem)
        return _load_apart(path)
    except Exception as error:  # somebody else's code may raise anything
        raise kind.error(f"{kind.word} {text!r}: {place} cannot be run: {type(error).__name__}: {error}") from error


def _load_apart(path: Path) -> ModuleType:
    """Load a file whose name another module bears, under a name of its own."""
    name = f"found_in_{re.sub(r'[^0-9A-Za-z]', '_', str(path))}"
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


def _attribute(kind: Kind, text: str, module: ModuleType, path: str) -> Maker:
    found: Any = module
    for name in path.strip().split("."):
        if not hasattr(found, name):
            raise kind.error(
                f"{kind.word} {text!r}: {module.__name__} has no {name!r}; it offers {_offered(kind, module)}"
            )
        found = getattr(found, name)
    if kind.is_made(found):
        return _Ready(found)
    if callable(found):
        return found
    raise kind.error(f"{kind.word} {text!r}: {path} is {found!r}, not a class or a function that makes {kind.article}")


class _Ready:
    """What has been made already: called without arguments, it is there."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def __call__(self) -> Any:
        return self._found


def _offered(kind: Kind, module: ModuleType) -> str:
    return ", ".join(key for key, value in vars(module).items() if _offers(kind, module, key, value)) or "none"


def _offers(kind: Kind, module: ModuleType, key: str, value: Any) -> bool:
    own = getattr(value, "__module__", None) == module.__name__
    return own and not key.startswith("_") and (hasattr(value, kind.method) or inspect.isfunction(value))


# --- Arguments and options --------------------------------------------------------------------------------------


class Signature:
    """What somebody's maker takes, against which the text behind a name is checked."""

    def __init__(self, kind: Kind, text: str, maker: Maker) -> None:
        self._kind, self._text = kind, text
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
                raise self._kind.error(
                    f"{self._kind.word} {self._text!r}: nothing is expected behind the colon, not {argument!r}"
                )
            first = self._positional[0]
            arguments.append(self._value(first.name, argument, first.annotation, plain=True))
            if first.name in given:
                raise self._kind.error(f"{self._kind.word} {self._text!r}: {first.name!r} is given twice")
            given.add(first.name)
        unknown = [name for name in options if name not in self._named]
        if unknown and not self._takes_any:
            valid = ", ".join(self._named) or "none"
            raise self._kind.error(
                f"{self._kind.word} {self._text!r} has no option {unknown[0]!r}; its options are: {valid}"
            )
        for name, parameter in self._named.items():
            if parameter.default is inspect.Parameter.empty and name not in given:
                raise self._kind.error(
                    f"{self._kind.word} {self._text!r}: it needs {name!r}, as in {self._example(name)}"
                )
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
        raise self._kind.error(f"{self._kind.word} {self._text!r}: {name!r} is {valid}, not {text!r}")


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
    return True, value  # a type of its own: it checks its values itself
