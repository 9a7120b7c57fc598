"""Checks of the architecture of the packages, made on their syntax trees; nothing is imported.

Every check takes the modules below a folder and yields its violations, sentences that begin with `file:line`. Tests can
therefore show that it fails on a small made-up tree.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# The packages, with the folder of the repository in which each lies. Each may import those before it, but none after.
LAYERS = {"mahjong_env": ".", "mahjong_agents": "agents", "mahjong_training": "training"}
LAYERS |= {"mahjong_benchmarks": "benchmarks"}
# The folders of mahjong_env, from the most basic one up: each may import those before it. The game comes first (rules
# and hands), then the batch that plays it, then the shells around it.
GROUPS = (
    *("basics", "hands", "state", "ruleset", "scoring", "variants", "rulebook"),
    *("observation", "engine", "records", "drawing", "viewer"),
    *("environments", "play", "testing", "cli"),
)
# The folders that may import gymnasium and pettingzoo, as `mahjong_env` itself and every `<variant>_v0` may. All others
# belong to the engine, which needs only numpy.
SHELLS = {"drawing", "viewer", "environments", "play", "testing", "cli"}
CORE_NEEDS = {"numpy", "gymnasium", "pettingzoo"}
VARIANTS = {"wuhan", "hangzhou", "hebei", "taiwan", "fuzhou", "mcr"}
# The layout of arrays in memory: a module, and the attribute of a state that holds it; both are private to the folder.
STATE, FLAT, FLAT_ATTRIBUTE = "mahjong_env.state", "mahjong_env.state.flat", "_flat"
# Modules that define rules on plain arrays, without games.
PURE = {"mahjong_env.engine.claim_rules"}


class Import(NamedTuple):
    """One imported module, `a.b` for `from a import b` as well: b may be a module."""

    name: str
    at: str  # file:line
    is_lazy: bool  # inside a function: importing the module does not need it
    is_for_types: bool  # only for the type checker


@dataclass(frozen=True)
class Module:
    """One source file: its path and name, its syntax tree, and its imports."""

    path: str
    name: str
    tree: ast.Module
    imports: list[Import]

    @property
    def layer(self) -> str:
        """The package."""
        return self.name.partition(".")[0]

    @property
    def group(self) -> str:
        """The folder of mahjong_env in which it lies, "" for others."""
        return group_of(self.name)

    @property
    def is_shell(self) -> bool:
        """Whether it may import gymnasium and pettingzoo."""
        return self.group in SHELLS or (self.layer == "mahjong_env" and self.name.count(".") < 2 and not self.group)

    def at(self, node: ast.AST) -> str:
        """Return the place of a node in the source."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


def group_of(name: str) -> str:
    """Return the folder of mahjong_env in which a module of this name lies, "" for others."""
    layer, _, inside = name.partition(".")
    folder = inside.partition(".")[0]
    return folder if layer == "mahjong_env" and folder in GROUPS else ""


def modules(root: Path) -> list[Module]:
    """Return all modules of the packages under `root`."""
    found = []
    for layer, home in LAYERS.items():
        for file in sorted((root / home / layer).rglob("*.py")):
            path, tree = file.relative_to(root).as_posix(), ast.parse(file.read_text(encoding="utf-8"))
            parts = list(file.relative_to(root / home).with_suffix("").parts)
            package = parts[:-1]
            name = ".".join(package if parts[-1] == "__init__" else parts)
            found.append(Module(path, name, tree, list(_imports(tree, path, package))))
    return found


def _imports(tree: ast.AST, path: str, package: list[str], lazy: bool = False, types: bool = False) -> Iterator[Import]:
    """Yield every import statement, and every import_module("...") with a literal name."""
    for node in ast.iter_child_nodes(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            climbed = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*climbed, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
        yield from (Import(name, f"{path}:{node.lineno}", lazy, types) for name in names)
        in_function = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for_types = types or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        yield from _imports(node, path, package, in_function or for_types, for_types)


# --- Imports ---------------------------------------------------------------------------------------------------------
def imports_upwards(every: list[Module]) -> Iterator[str]:
    """Check that packages import only those before them in `LAYERS`, and folders only those before them in `GROUPS`.

    Imports for types alone may go both ways between folders.
    """
    order = list(LAYERS)
    for module in every:
        for one in module.imports:
            other = group_of(one.name)
            if one.name.partition(".")[0] in order[order.index(module.layer) + 1 :]:
                yield f"{one.at} {module.layer} imports {one.name}"
            if module.group and other and not one.is_for_types and GROUPS.index(other) > GROUPS.index(module.group):
                yield f"{one.at} {module.group} imports {one.name}"
        if module.name.startswith("mahjong_env.") and "/__init__" in module.path and not module.group:
            yield f"{module.path}:1 has no place in GROUPS"


def needs_too_much(every: list[Module]) -> Iterator[str]:
    """Check that engine modules import only numpy and each other, and shells import extras only inside functions."""
    names, shells = {module.name for module in every}, {module.name for module in every if module.is_shell}
    for module in every:
        for one in module.imports if module.layer == "mahjong_env" else ():
            known = sys.stdlib_module_names | LAYERS.keys() | (CORE_NEEDS if module.is_shell else {"numpy"})
            if one.name.partition(".")[0] not in known and not (module.is_shell and one.is_lazy):
                yield f"{one.at} {one.name} is not required by the core, or not by the engine"
            own = one.name if one.name in names else one.name.rpartition(".")[0]
            if not module.is_shell and own in shells:
                yield f"{one.at} an engine module imports the shell {own}"


def private_memory(every: list[Module]) -> Iterator[str]:
    """Check that the state's arrays are used only through its methods, and that rules on plain arrays know no games."""
    for module in every:
        outside = not f"{module.name}.".startswith(f"{STATE}.")
        for one in module.imports:
            if outside and f"{one.name}.".startswith(f"{FLAT}."):
                yield f"{one.at} {one.name} is private to {STATE}"
            if module.name in PURE and one.name.startswith("mahjong_env.") and group_of(one.name) != "basics":
                yield f"{one.at} {module.name} imports {one.name}"
        for node in ast.walk(module.tree):
            if outside and isinstance(node, ast.Attribute) and node.attr == FLAT_ATTRIBUTE:
                yield f"{module.at(node)} .{node.attr} is private to {STATE}"


# --- Names -----------------------------------------------------------------------------------------------------------
def variants_named_elsewhere(every: list[Module]) -> Iterator[str]:
    """Check that only `variants/<variant>` and `<variant>_v0` name a variant outside docstrings and comments.

    `mahjong_env/__init__.py` may name the modules `<variant>_v0`, which users import from it.
    """
    entries = {module.name.rpartition(".")[2] for module in every if re.fullmatch(r"mahjong_env\.\w+_v0", module.name)}
    variants = VARIANTS | {entry.removesuffix("_v0") for entry in entries}
    for module in every:
        own = {part.removesuffix("_v0") for part in module.name.split(".")} & variants
        if module.name == "mahjong_env.variants":
            own = variants
        pattern = re.compile("|".join(sorted(variants - own)) or r"(?!)", re.IGNORECASE)
        for node, text in words(module.tree):
            is_entry = module.name == "mahjong_env" and text.removeprefix("mahjong_env.") in entries
            if pattern.search(text) and not is_entry:
                yield f"{module.at(node)} names a variant: {text!r}"


def words(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every identifier, and every text that is not a docstring."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        # Many node types have fields with names (id, attr, name, asname, arg, module, names, value, ...).
        for _, value in ast.iter_fields(node) if id(node) not in prose else ():
            yield from (
                (node, text) for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
            )


def modules_named_like_functions(every: list[Module]) -> Iterator[str]:
    """Check that no module has the name of something that its package offers: importing one would hide the other."""
    names = {module.name for module in every}
    for module in every:
        for node in module.tree.body if "/__init__" in module.path else ():
            offered = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
            if isinstance(node, ast.ImportFrom):
                origins = [one.name for one in module.imports if one.at == module.at(node)]
                pairs = zip(node.names, origins, strict=True)
                offered = [alias.asname or alias.name for alias, origin in pairs if origin not in names]
            for name in offered:
                if f"{module.name}.{name}" in names:
                    yield f"{module.at(node)} {module.name} offers {name}, which is a module, too"


CHECKS = (imports_upwards, needs_too_much, private_memory, variants_named_elsewhere, modules_named_like_functions)
