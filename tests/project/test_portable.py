"""What would work on one system only is found by reading the sources: encodings left to the system, POSIX modules."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("mahjong_env", "agents", "training", "benchmarks", "tools", "experiments", "tests", "notebooks", "docs")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
OTHER_OPENS = ("os", "Image", "zipfile", "archive", "webbrowser")  # functions of this name that open no text file
POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}
WINDOWS_ONLY = {"msvcrt", "winreg", "winsound"}
TEXT_FILES = {"read_text": 1, "write_text": 2}  # places of arguments up to the encoding


def problems(source, *, is_test=False):
    """What a source would do differently, or not at all, on another system; a sentence each."""
    tree = ast.parse(source)
    guarded = {id(node) for found in ast.walk(tree) if isinstance(found, ast.Try) for node in ast.walk(found)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in guarded:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            for name in set(names) & (POSIX_ONLY | WINDOWS_ONLY):
                yield f"line {node.lineno}: {name} is not on every system: import it where ImportError is caught"
        if isinstance(node, ast.Call):
            yield from call_problems(node, is_test=is_test)


def call_problems(call, *, is_test):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    given = {keyword.arg for keyword in call.keywords}
    if "encoding" in given or None in given:
        return
    text = [keyword.value for keyword in call.keywords if keyword.arg in ("text", "universal_newlines")]
    if any(isinstance(value, ast.Constant) and value.value is True for value in text):
        yield f"line {call.lineno}: text of a process in the system's encoding: encoding='utf-8'"
    if name in TEXT_FILES and len(call.args) < TEXT_FILES[name]:
        yield f"line {call.lineno}: {name} in the system's encoding: encoding='utf-8'"
    if name == "open" and owner not in OTHER_OPENS and is_text_mode(call, owner):
        yield f"line {call.lineno}: open in the system's encoding: encoding='utf-8'"
    if not is_test and (owner, name) in (("os", "fork"), ("os", "killpg"), ("os", "setsid"), ("signal", "pause")):
        yield f"line {call.lineno}: {owner}.{name} is not on every system"
    if name in ("get_context", "set_start_method") and [ast.unparse(argument) for argument in call.args] == ["'fork'"]:
        yield f"line {call.lineno}: Windows and macOS do not fork"


def is_text_mode(call, owner):
    """Whether a call of `open` reads or writes text; only those whose mode is written down can be told."""
    place = 1 if not owner else 0
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[place : place + 1]
    if not modes:
        return not owner
    return isinstance(modes[0], ast.Constant) and isinstance(modes[0].value, str) and "b" not in modes[0].value


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_source_does_not_depend_on_the_system(path):
    is_test = path.is_relative_to(ROOT / "tests")
    assert list(problems(path.read_text(encoding="utf-8"), is_test=is_test)) == []


BAD = """import fcntl
from pwd import getpwnam
open('a')
open('a', 'w')
path.open('w')
path.read_text()
path.write_text('a')
subprocess.run(['a'], text=True)
multiprocessing.get_context('fork')
os.fork()"""
GOOD = """try:
    import fcntl
except ImportError:
    fcntl = None
open('a', 'rb')
open('a', encoding='utf-8')
path.open('ab')
path.read_text('utf-8')
subprocess.run(['a'], text=True, encoding='utf-8')
os.open('a', os.O_RDWR)
multiprocessing.get_context('spawn')"""


def test_what_depends_on_the_system_is_found():
    assert {problem.partition(":")[0] for problem in problems(BAD)} == {f"line {n + 1}" for n in range(10)}
    assert list(problems(GOOD)) == []
