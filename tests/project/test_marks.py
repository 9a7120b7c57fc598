"""Tests that are left out of the everyday ones are marked one by one, and no file of `tests/training` has only such."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
LEFT_OUT = {"thorough", "slow"}
# What it shows of real matches test_lineups shows of made-up ones.
HAS_NO_QUICK_TEST = {TESTS / "training" / "test_coverage.py"}


def marks(node):
    """The names of the marks in an expression or in the decorators of a definition, those of parameters left out."""
    for one in getattr(node, "decorator_list", [node]):
        if not (isinstance(one, ast.Call) and ast.unparse(one.func).endswith("parametrize")):
            yield from (name.attr for name in ast.walk(one) if isinstance(name, ast.Attribute))


def is_left_out(node):
    return bool(LEFT_OUT & set(marks(node)))


def problems(source, *, needs_quick_tests=True):
    """What is wrong with the marks of a file of tests; a sentence each."""
    tree = ast.parse(source)
    of_file = {
        mark
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
        for mark in marks(node.value)
    }
    if found := of_file & LEFT_OUT:
        yield f"is {' and '.join(sorted(found))} as a whole: mark the tests that take long, one by one"
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and not is_left_out(node))]
    functions = [node for scope in scopes for node in scope.body if isinstance(node, ast.FunctionDef)]
    tests = [node for node in functions if node.name.startswith("test_")]
    if needs_quick_tests and "distributed" not in of_file and all(map(is_left_out, tests)):
        yield "has no test that is run every day: add a small one"


def test_files_of_tests_are_not_left_out_as_a_whole():
    found = {
        f"{path.relative_to(TESTS)} {problem}"
        for path in TESTS.rglob("test_*.py")
        for problem in problems(
            path.read_text(encoding="utf-8"),
            needs_quick_tests=path.is_relative_to(TESTS / "training") and path not in HAS_NO_QUICK_TEST,
        )
    }
    assert not found


def test_such_files_are_found():
    quick, long = "def test_a():\n    pass\n", "@pytest.mark.thorough\ndef test_b():\n    pass\n"
    of_case = "@pytest.mark.parametrize('a', [pytest.param(1, marks=pytest.mark.slow)])\n" + quick
    of_class = "@pytest.mark.slow\nclass TestOne:\n    def test_c(self):\n        pass\n"
    assert not [*problems(quick + long), *problems(of_case), *problems(long, needs_quick_tests=False)]
    for source, said in (
        ("pytestmark = [pytest.mark.xdist_group('x'), pytest.mark.thorough]\n" + quick, "is thorough as a whole"),
        (long, "has no test that is run every day"),
        (of_class, "has no test that is run every day"),
    ):
        (problem,) = problems(source)
        assert problem.startswith(said)
