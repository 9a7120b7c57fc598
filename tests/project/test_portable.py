"""Modules that one system only has are imported where their absence is caught, and nothing forks.

Text in the system's encoding is found by running the tests: with ``PYTHONWARNDEFAULTENCODING=1``, as ``make test`` and
CI set it, Python warns of it, and a warning of the packages is an error.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("mahjong_env", "agents", "training", "benchmarks", "tools", "experiments", "notebooks", "docs")
ONE_SYSTEM = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty", "msvcrt", "winreg", "winsound"}
ONE_SYSTEM |= {"os.fork", "os.killpg", "os.setsid", "signal.pause", "get_context('fork')", "set_start_method('fork')"}


def problems(source):
    """What a source would not do on another system; a sentence each."""
    if not any(name.partition("(")[0].rpartition(".")[2] in source for name in ONE_SYSTEM):
        return  # parsing takes longer
    tree = ast.parse(source)
    guarded = {id(node) for found in ast.walk(tree) if isinstance(found, ast.Try) for node in ast.walk(found)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in guarded:
            names = [getattr(node, "module", None), *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Attribute | ast.Call):
            names = [ast.unparse(node), ast.unparse(node).rpartition(".")[2]]
        yield from (f"line {node.lineno}: {name} is not on every system" for name in ONE_SYSTEM & set(names))


def test_no_source_depends_on_the_system():
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(sources) > 200
    assert {str(path): found for path in sources if (found := list(problems(path.read_text(encoding="utf-8"))))} == {}


def test_what_depends_on_the_system_is_found():
    bad = "import fcntl\nfrom pwd import getpwnam\nmultiprocessing.get_context('fork')\nos.fork()"
    assert sorted({problem.partition(":")[0] for problem in problems(bad)}) == [f"line {n}" for n in (1, 2, 3, 4)]
    good = "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None\nmultiprocessing.get_context('spawn')"
    assert list(problems(good)) == []
