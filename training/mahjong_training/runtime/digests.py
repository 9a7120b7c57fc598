"""What results depend on: the versions and code of this process, the rules, and the files behind agents' choices.

Kept results, the ledger of blind tests and the nodes of a cluster are compared by these.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import all_suffixes
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final
from warnings import catch_warnings

from mahjong_agents import Agent, PolicyFileError, agent_names
from mahjong_agents.control_variates import WEIGHTS_FILE
from mahjong_agents.policy.critic import CRITICS_PATH
from mahjong_agents.policy.file import SHIPPED, find_policy
from mahjong_agents.search.opponent_hands import COUNTS_PATH
from mahjong_agents.value.agent import NUMBERS_PATH
from mahjong_agents.value.folding import NUMBERS_PATH as FOLDING_PATH
from mahjong_env import AgentError, Rules, __version__
from mahjong_env.environments.agents import KIND, parse_address
from mahjong_env.environments.isolated import PREFIX, IsolatedAgent

Versions = Mapping[str, str]
"""Versions by the name of the package; "" for a package that is not installed."""

OURS: Final = ("mahjong_env", "mahjong_agents", "mahjong_training")
CODE: Final = "code of mahjong_env"
_CODE_FILES: Final = {".py", ".npz", ".json", ".zip"}
_OTHERS: Final = ("numpy", "torch")
"""Packages whose versions may affect numerical results."""
_INTERPRETER: Final = re.compile(
    r"(python|pypy|py|node|deno|bun|java|ruby|perl|lua|julia|Rscript|bash|sh)[\d.]*(\.exe)?"
)
"""Programs that run the file named after them."""
_BEFORE_THE_FILE: Final = re.compile(r"run|-[^mcep]|-jar|-cp|--(?!(eval|print|run|module|test)(=|$))\S+")
"""Words that may stand between an interpreter and its file; not those that make it run something else."""
_DATA_OF_ONNX: Final = re.compile(rb"\n\x08location\x12([\x80-\xff]?)([\x00-\x7f])")
"""What stands in an ONNX model before the name of a file with its weights: how long that is, in one byte or two."""
_IMPORTED: Final = (".py", ".pyc", ".so", ".pyd")
"""How the names of files end that Python imports."""
_SOURCE: Final = re.compile(r"(?P<file>.+\.py):[^:]+|(?P<module>[A-Za-z_][\w.]*):[A-Za-z_][\w.]*")


@cache
def versions() -> Versions:
    """Return the versions in this process: of Python, of this package and its code, of numpy and of torch."""
    found = {"Python": f"{sys.version_info.major}.{sys.version_info.minor}", "mahjong_env": __version__, CODE: _code()}
    return found | {name: installed(name) for name in _OTHERS}


def differences(expected: Versions, found: Versions) -> list[str]:
    """Return a message for each version that is not as expected; empty expected versions are not compared."""
    return [
        f"{name} is {found.get(name) or 'missing'} and not {wanted}"
        for name, wanted in expected.items()
        if wanted and found.get(name) != wanted
    ]


def installed(name: str) -> str:
    """Return the version of a distribution; "" if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _code() -> str:
    """Return a digest of the code that is installed here; two checkouts with the same version may still differ."""
    specs = map(find_spec, OURS)
    return code_of(Path(folder) for spec in specs if spec for folder in sorted(spec.submodule_search_locations or ()))


def code_of(folders: Iterable[Path]) -> str:
    """Return a digest of the source in some folders, and of the numbers and policies that it reads.

    It leaves out hidden folders, in which commands keep results, and the file of ceilings, which are results as well.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(path for path in folder.rglob("*") if path.suffix in _CODE_FILES):
            place = file.relative_to(folder)
            if place.name == "ceilings.json" or any(part.startswith(".") for part in place.parts):
                continue
            digest.update(place.as_posix().encode())
            digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:12]


# --- Rules and agents --------------------------------------------------------------------------------------------


def provenance(rules: Rules, **more: Any) -> dict[str, Any]:
    """Return the origin of a kept number: the date, the versions of this package and of the rules, and ``more``."""
    return {"date": time.strftime("%Y-%m-%d"), "mahjong_env": __version__, "version": rules.version, **more}


def rules_identity(rules: Rules) -> list[Any]:
    """Return what identifies rules: name, version and knobs, and digests of the source of rules from other packages."""
    knobs = {name: str(value) for name, value in rules.knobs.items()}
    return [rules.name, rules.version, knobs, [*map(_digest, _source_of(type(rules).__module__))]]


def agent_digests(spec: str, agent: Agent, rules: Rules) -> list[str]:
    """Return digests that identify an agent by what its choices depend on, whatever its name.

    For agents of this package, these are the class and the digests of the policies and numbers that it reads (among
    shipped policies, the one for these rules). For other agents, they are digests of the source: of the file and the
    files beside it that it imports, or of the whole package that it belongs to. What the text names is always among
    them, as an isolated agent tells by itself which class it has.

    Args:
        spec: the text that the agent is made from.
        agent: the agent.
        rules: the rules that it plays by.
    """
    if isinstance(agent, IsolatedAgent):  # identified as the agent inside, whose source is not loaded in this process
        (module, name), source = agent.kind, _source(Path(agent.file)) if agent.file else []
    else:
        module, name = type(agent).__module__, type(agent).__qualname__
        source = _source_of(module)
    own = [f"{module}.{name}"] if module.partition(".")[0] in OURS else []
    return [*own, *_digests([*([] if own else source), *_named(spec, rules)])]


def replaced(known: Mapping[str, Sequence[str]], now: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the texts of agents whose digests now differ from the known ones."""
    return [spec for spec, digests in now.items() if spec in known and [*known[spec]] != [*digests]]


def named_digests(spec: str, rules: Rules) -> list[str]:
    """Return the digests of the files that the text of an agent names, without loading any of them.

    They are included in those of `agent_digests`. A digest is "" if there is no such file, or if the text does not say
    what plays, as in ``command:python -m bot``.
    """
    return _digests(_named(spec, rules))


def _named(spec: str, rules: Rules) -> Iterator[Path]:
    """Yield the files that the text of an agent names or implies, including those of agents in its options."""
    try:
        address, options = parse_address(KIND, spec.strip().removeprefix(PREFIX))
    except AgentError:  # the text of an object, not an address
        return
    name, _, place = (part.strip() for part in address.partition(":"))
    if KIND.is_command(name):
        yield from _of_a_command(place)
    elif name == "policy" and place:
        with suppress(PolicyFileError):
            yield find_policy(place)
    elif name in ("policy", "search"):
        yield SHIPPED / f"{rules.name}.zip"
        if name == "search":
            yield from (CRITICS_PATH, COUNTS_PATH, WEIGHTS_FILE)
    elif name in ("value", "folding"):
        yield NUMBERS_PATH if name == "value" else FOLDING_PATH
    elif name in agent_names():  # such as text:file.py:function
        yield from _named(place, rules)
    elif match := _SOURCE.fullmatch(address.strip()):
        yield from _source(Path(match["file"])) if match["file"] else _source_named(match["module"])
    for file in (address, place):
        if os.path.isfile(file):
            yield Path(file)
            yield from _data_of(Path(file))
    for option in options.values():
        yield from _named(option, rules)


def _of_a_command(command: str) -> Iterator[Path]:
    """Yield the files that a command names, and `Path()`, which has no digest, if what plays is not among them.

    What plays is either a program of somebody's own, named by its path, or the file behind an interpreter. A program
    that the system finds by its name alone, such as ``env``, might run anything. A file may also be the value of an
    option, as in ``--weights=FILE``.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # a quotation that does not end
        words = []
    values = [word.partition("=")[2] for word in words]
    if words and _INTERPRETER.fullmatch(Path(words[0]).name):  # it is another one on every machine, and has no digest
        words = [*dropwhile(lambda word: _BEFORE_THE_FILE.fullmatch(word) and not os.path.exists(word), words[1:])]
    elif words:
        program, by_name = (shutil.which(name) or "" for name in (words[0], Path(words[0]).name))
        if os.path.realpath(program) == os.path.realpath(by_name):
            yield Path()
        words[0] = program
    if not words or not os.path.isfile(words[0]):
        yield Path()
    for number, word in enumerate([*words, *values]):
        if os.path.isfile(word):
            yield Path(word)
            if not number or word.endswith(".py"):
                yield from _source(Path(word))


def _data_of(file: Path) -> Iterator[Path]:
    """Yield the files of an ONNX model's weights, where these are not in the file of the model itself."""
    if file.suffix != ".onnx":
        return
    told = b""
    with suppress(OSError):
        told = file.read_bytes()
    for found in _DATA_OF_ONNX.finditer(told):
        size = found[2][0] << 7 | found[1][0] & 0x7F if found[1] else found[2][0]
        yield file.parent / os.fsdecode(told[found.end() : found.end() + size])


def _source_of(module: str) -> list[Path]:
    file = getattr(sys.modules.get(module), "__file__", None)
    return [] if file is None or module.partition(".")[0] in OURS else _source(Path(file))


def _source_named(module: str) -> list[Path]:
    """Return the files of a module, or of the whole package that it belongs to; the module is not loaded."""
    top = module.partition(".")[0]
    if top in OURS:
        return []
    try:
        spec = find_spec(top)
    except ValueError:  # __main__
        spec = None
    if spec and spec.submodule_search_locations:
        return [file for folder in spec.submodule_search_locations for file in _code_in(Path(folder))]
    return _source(Path(spec.origin)) if spec and spec.has_location and spec.origin else [Path()]


def _source(file: Path) -> list[Path]:
    """Return the files of a file's package, or the file and those beside it that it imports; nothing is loaded."""
    file = file.expanduser().resolve()
    packages = [folder for folder in file.parents if (folder / "__init__.py").is_file()]
    if packages:
        return _code_in(packages[-1])
    found, todo = {file}, [file]
    while todo:
        beside = {one for name in _imported(todo.pop()) for one in _beside(file.parent, name) if one.is_file()} - found
        found |= beside
        todo += beside
    return sorted(found)


def _beside(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files in a folder that importing this name might load; of packages all, with an __init__.py or not."""
    yield from (folder / f"{name}{suffix}" for suffix in all_suffixes())
    yield from _code_in(folder / name)


def _code_in(folder: Path) -> list[Path]:
    """Return the files in a folder, and in those below it, that may be imported; where links lead counts as well."""
    found, known = list[Path](), set[str]()
    for place, below, names in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in known:  # a link that leads back
            below.clear()
            continue
        known.add(real)
        below[:] = sorted(name for name in below if name != "__pycache__")
        found += [Path(place, name) for name in names if name.endswith(_IMPORTED)]
    return sorted(found)


def _imported(file: Path) -> set[str]:
    """Return the names of the modules and packages that a file imports; none if it is not a file of Python."""
    names: set[str] = set()
    with suppress(Exception), catch_warnings(action="ignore"):  # what cannot be read or parsed imports nothing
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names |= {one.name for one in node.names}
    return {name.partition(".")[0] for name in names} - {*OURS}


def _digests(files: Iterable[Path]) -> list[str]:
    """Return the digests of files, one for each file even if it is named in several ways."""
    return [*map(_digest, dict.fromkeys(file.resolve() for file in files))]


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
