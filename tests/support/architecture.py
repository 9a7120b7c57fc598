"""What the packages must look like, decided from their syntax trees; nothing is imported.

Every check takes the folder that holds the packages and returns its violations, sentences that begin with
`file:line`, so that it can be shown to fail on a small made-up tree. `PYTHONPATH=tests python -m support.architecture`
prints all violations.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

# Each package may import those before it, and nothing after it.
LAYERS = ("mahjong_env", "mahjong_agents", "mahjong_training", "mahjong_benchmarks")
# The folder of the repository that each lies in.
HOMES = dict(zip(LAYERS, (".", "agents", "training", "benchmarks"), strict=True))

# The modules of mahjong_env (and packages, with all that is inside) that may know gymnasium and pettingzoo,
# beside every `<variant>_v0`. All others are the engine, which needs numpy alone and knows no shell.
SHELLS = {
    "mahjong_env",
    "mahjong_env.__main__",
    "mahjong_env.drawing",
    "mahjong_env.environments",
    "mahjong_env.testing",
    "mahjong_env.viewer",
    "mahjong_env.play",
    "mahjong_env.cli",
}
# The folders of mahjong_env, from what everything stands on to what stands on everything: each may import those
# before it. First the game (rules and hands), then the batch that plays it, then the shells around it.
GROUPS = (
    *("basics", "hands", "state", "ruleset", "scoring", "variants", "rulebook"),
    *("observation", "engine", "records", "drawing", "viewer"),
    *("environments", "play", "testing", "cli"),
)

ENGINE_NEEDS = {"numpy"}
CORE_NEEDS = ENGINE_NEEDS | {"gymnasium", "pettingzoo"}

VARIANTS = {"wuhan", "hangzhou", "hebei", "taiwan", "fuzhou"}

# How arrays lie in memory: a module, and the attribute of a state that holds it.
STATE = "mahjong_env.state"
FLAT, FLAT_ATTRIBUTE = f"{STATE}.flat", "_flat"

# Modules that say rules on plain arrays, without games.
PURE = {"mahjong_env.engine.claim_rules"}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Module:
    """One source file: where it lies, its dotted name, its tree."""

    path: PurePosixPath  # relative to the root
    name: str
    is_package: bool
    lines: int
    tree: ast.Module

    @property
    def layer(self) -> str:
        return self.name.partition(".")[0]

    @property
    def is_variant_entry(self) -> bool:
        return self.layer == "mahjong_env" and self.name.endswith("_v0")

    @property
    def is_shell(self) -> bool:
        inside = any(self.name.startswith(f"{shell}.") for shell in SHELLS - {self.layer})
        return self.name in SHELLS or inside or self.is_variant_entry

    def at(self, node: ast.AST) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


def modules(root: Path) -> list[Module]:
    """All modules of the packages under `root`."""
    found = []
    for home, file in sorted(
        (HOMES[layer], path) for layer in LAYERS for path in (root / HOMES[layer] / layer).rglob("*.py")
    ):
        path = PurePosixPath(file.relative_to(root).as_posix())
        parts = path.relative_to(home).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        text = file.read_text(encoding="utf-8")
        found.append(Module(path, name, is_package, len(text.splitlines()), ast.parse(text, str(path))))
    return found


# --- imports ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Import:
    """One imported module, `a.b` for `from a import b` as well: b may be a module."""

    name: str
    node: ast.AST
    is_lazy: bool  # inside a function or for the type checker only: importing the module does not need it
    is_for_types: bool  # for the type checker only

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


def imports(module: Module) -> Iterator[Import]:
    """Every import statement, and every import_module("...") and __import__("...") with a literal name."""
    for_types = {
        id(inner)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    in_functions = {
        id(inner) for node in ast.walk(module.tree) if isinstance(node, FUNCTIONS) for inner in ast.walk(node)
    }
    for node in ast.walk(module.tree):
        for name in imported_names(module, node):
            yield Import(name, node, id(node) in for_types | in_functions, id(node) in for_types)


def imported_names(module: Module, node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        package = module.name.split(".")
        climbed = package[: len(package) - node.level + module.is_package] if node.level else []
        origin = ".".join([*climbed, *([node.module] if node.module else [])])
        return [f"{origin}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in {"import_module", "__import__"} and isinstance(node.args[0].value, str):
            return [node.args[0].value]
    return []


def imports_against_the_layers(root: Path) -> list[str]:
    """`mahjong_training -> mahjong_agents -> mahjong_env`, never the other way."""
    return [
        f"{module.at(imported.node)} {module.layer} imports {imported.name}"
        for module in modules(root)
        for imported in imports(module)
        if imported.top in LAYERS[LAYERS.index(module.layer) + 1 :]
    ]


def imports_against_the_groups(root: Path) -> list[str]:
    """Within mahjong_env each folder imports those before it in `GROUPS`; what only types need may go both ways."""
    every = modules(root)
    names = {module.name for module in every}
    found = []
    for module in every:
        own = group_of(module.name)
        for imported in imports(module):
            other = group_of(defining_module(imported.name, names))
            if own and other and not imported.is_for_types and GROUPS.index(other) > GROUPS.index(own):
                found.append(f"{module.at(imported.node)} {own} imports {imported.name}")
    return found


def group_of(name: str) -> str | None:
    """The folder of mahjong_env that a module lies in, None for those that lie in no folder."""
    layer, _, inside = name.partition(".")
    folder = inside.partition(".")[0]
    return folder if layer == "mahjong_env" and folder in GROUPS else None


def folders_without_a_place(root: Path) -> list[str]:
    """Every folder of mahjong_env has its place in `GROUPS`."""
    folders = {path.parent.name for path in (root / "mahjong_env").glob("*/__init__.py")}
    return [f"mahjong_env/{folder}:1 has no place in GROUPS" for folder in sorted(folders - set(GROUPS))]


def circles_of_imports(root: Path) -> list[str]:
    """No module needs itself by way of those that it imports."""
    every = {module.name: module for module in modules(root)}
    needs = {
        name: {
            defining_module(imported.name, set(every))
            for imported in imports(module)
            if not imported.is_for_types and defining_module(imported.name, set(every)) in every
        }
        - {name}
        for name, module in every.items()
        if name not in LAYERS
    }
    found = []
    while needs:
        ready = {name for name, needed in needs.items() if not needed & set(needs)}
        if not ready:
            name = min(needs)
            found.append(f"{every[name].path}:1 is in a circle of imports, or behind one: {', '.join(sorted(needs))}")
            break
        needs = {name: needed for name, needed in needs.items() if name not in ready}
    return found


def engine_imports_beyond_numpy(root: Path) -> list[str]:
    """An engine module imports the standard library, numpy and engine modules."""
    every = modules(root)
    shells = {module.name for module in every if module.is_shell} | {"mahjong_env"}
    names = {module.name for module in every}
    found = []
    for module in every:
        if module.layer != "mahjong_env" or module.is_shell:
            continue
        for imported in imports(module):
            if imported.top == "mahjong_env":
                if defining_module(imported.name, names) in shells:
                    found.append(f"{module.at(imported.node)} an engine module imports the shell {imported.name}")
            elif imported.top not in sys.stdlib_module_names | ENGINE_NEEDS:
                found.append(f"{module.at(imported.node)} an engine module imports {imported.name}")
    return found


def defining_module(imported: str, names: set[str]) -> str:
    """The module that `imported` is, or is a part of."""
    while imported not in names and "." in imported:
        imported = imported.rpartition(".")[0]
    return imported


def core_imports_beyond_its_requirements(root: Path) -> list[str]:
    """A shell needs numpy, gymnasium and pettingzoo; what belongs to an extra it imports inside functions."""
    return [
        f"{module.at(imported.node)} {imported.name} is imported when the module is, but belongs to an extra"
        for module in modules(root)
        if module.is_shell
        for imported in imports(module)
        if not imported.is_lazy and imported.top not in sys.stdlib_module_names | CORE_NEEDS | set(LAYERS)
    ]


def flat_memory_elsewhere(root: Path) -> list[str]:
    """Seats and the verbs of the state are the one way to its arrays; how those lie in memory is its own."""
    found = []
    for module in modules(root):
        if module.name == STATE or module.name.startswith(f"{STATE}."):
            continue
        found += [
            f"{module.at(imported.node)} {imported.name} is private to {STATE}"
            for imported in imports(module)
            if imported.name == FLAT or imported.name.startswith(f"{FLAT}.")
        ]
        found += [
            f"{module.at(node)} .{node.attr} is private to {STATE}"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute) and node.attr == FLAT_ATTRIBUTE
        ]
    return found


def pure_modules_that_know_games(root: Path) -> list[str]:
    """Rules that stand on plain arrays import nothing that holds games."""
    return [
        f"{module.at(imported.node)} {module.name} imports {imported.name}"
        for module in modules(root)
        if module.name in PURE
        for imported in imports(module)
        if imported.top == "mahjong_env" and not imported.name.startswith("mahjong_env.basics.")
    ]


# --- variants -----------------------------------------------------------------------------------------------


def variants_named_elsewhere(root: Path) -> list[str]:
    """Only `variants/<variant>` and `<variant>_v0` name a variant; prose (docstrings, comments) may.

    `mahjong_env/__init__.py` may name the modules `<variant>_v0`, which users import from it.
    """
    every = modules(root)
    variants = VARIANTS | {module.name.rpartition(".")[2][:-3] for module in every if module.is_variant_entry}
    found = []
    for module in every:
        forbidden = variants - own_variants(module, variants)
        pattern = re.compile("|".join(sorted(forbidden)) or r"(?!)", re.IGNORECASE)
        entries = {f"{variant}_v0" for variant in variants} if module.name == "mahjong_env" else set()
        found += [
            f"{module.at(node)} names a variant: {text!r}"
            for node, text in words(module.tree)
            if pattern.search(text) and text.removeprefix("mahjong_env.") not in entries
        ]
    return found


def own_variants(module: Module, variants: set[str]) -> set[str]:
    """The variants that this module is about: all of them in the registry, one in its own file."""
    parts = module.name.split(".")
    if parts == ["mahjong_env", "variants"]:
        return variants
    if parts[:2] == ["mahjong_env", "variants"] or module.is_variant_entry:
        return {part.removesuffix("_v0") for part in parts} & variants
    return set()


def words(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every identifier, and every text that is not a docstring."""
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in prose:
                yield node, node.value
            continue
        # Names stand in fields of many node types (id, attr, name, asname, arg, module, names, rest, ...),
        # always as plain text; nothing else in a tree does, but for type comments.
        for field, value in ast.iter_fields(node):
            texts = value if isinstance(value, list) else [value]
            yield from ((node, text) for text in texts if isinstance(text, str) and field != "type_comment")


# --- documentation and names --------------------------------------------------------------------------------


def public_without_docstring(root: Path) -> list[str]:
    """Modules, and public classes, functions and methods, say what they are for."""
    found = [f"{module.path}:1 has no docstring" for module in modules(root) if not ast.get_docstring(module.tree)]
    for module in modules(root):
        found += [
            f"{module.at(node)} {node.name} has no docstring"
            for node in public_definitions(module.tree)
            if not ast.get_docstring(node) and not is_described_elsewhere(node)
        ]
    return found


def public_definitions(parent: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Public functions and classes, and the public methods and classes inside those."""
    for node in parent.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node)


def is_described_elsewhere(node: Definition) -> bool:
    """Whether it is an overload, an override or a setter: the docstring stands at its first definition."""
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(decorators & {"overload", "override", "setter"})


def modules_named_like_functions(root: Path) -> list[str]:
    """No module bears the name of something else a package offers: importing one would hide the other."""
    every = modules(root)
    names = {module.name for module in every}
    return [
        f"{package.at(node)} {package.name} offers {name}, but {clash} is a module"
        for package in every
        if package.is_package
        for name, node in offered(package, names)
        for clash in sorted(names)
        if clash.startswith(f"{package.name}.") and clash.rpartition(".")[2] == name
    ]


def offered(package: Module, names: set[str]) -> Iterator[tuple[str, ast.AST]]:
    """What the `__init__` of a package defines or imports, other than modules."""
    for node in package.tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        elif isinstance(node, ast.ImportFrom):
            for alias, name in zip(node.names, imported_names(package, node), strict=True):
                if name not in names:
                    yield alias.asname or alias.name, node


CHECKS = (
    imports_against_the_layers,
    imports_against_the_groups,
    folders_without_a_place,
    circles_of_imports,
    engine_imports_beyond_numpy,
    core_imports_beyond_its_requirements,
    flat_memory_elsewhere,
    pure_modules_that_know_games,
    variants_named_elsewhere,
    public_without_docstring,
    modules_named_like_functions,
)


if __name__ == "__main__":
    here = Path(__file__).parents[2]
    violations = [violation for check in CHECKS for violation in check(here)]
    print("\n".join(violations))
    sys.exit(bool(violations))
