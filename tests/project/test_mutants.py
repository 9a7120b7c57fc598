"""The planted faults: each can still be planted, and one that no test finds is told."""

from __future__ import annotations

import ast
import re

import pytest

from mutants import FAULTS, ROOT, Fault, main, planted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_they_can_be_planted(fault):
    """Where the code has moved on, the fault moves with it: another piece of text, or another fault."""
    assert ast.dump(ast.parse(planted(fault))) != ast.dump(ast.parse((ROOT / fault.file).read_text(encoding="utf-8")))
    names = re.findall(r"(?:def|class) (\w+)", (ROOT / fault.tests).read_text(encoding="utf-8"))
    assert fault.which
    assert any(fault.which in name for name in names), "no test of that name would be run"


def test_their_names_are_different():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\nmarkers = ["slow", "thorough"]\n', "utf-8")
    (tmp_path / "sums.py").write_text("def add(a, b):\n    return a + b\n", encoding="utf-8")
    test = "from sums import add\n\n\ndef test_{}():\n    assert add({}, 2) == {}\n"
    (tmp_path / "tests" / "test_strong.py").write_text(test.format("strong", 3, 5), encoding="utf-8")
    (tmp_path / "tests" / "test_weak.py").write_text(test.format("weak", 2, 4), encoding="utf-8")
    return tmp_path


@pytest.mark.thorough
def test_a_fault_is_found_or_survives(tree, capsys):
    faults = [Fault("sums.py", f"tests/test_{name}.py", name, "a + b", "a * b", name) for name in ("strong", "weak")]
    assert main(["--jobs", "1"], faults, tree) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].split() == ["strong", "sums.py", "tests/test_strong.py::test_strong"]
    assert told[1].split() == ["weak", "sums.py", "SURVIVED"]
    assert told[2] == "1 of 2 planted faults were found"
    assert (tree / "sums.py").read_text(encoding="utf-8").endswith("a + b\n")


@pytest.mark.thorough
def test_what_shows_nothing_is_an_error(tree, capsys):
    assert main([], [Fault("sums.py", "tests/test_weak.py", "gone", "a - b", "a", "weak")], tree) == 1
    assert "gone: 'a - b' occurs 0 times in sums.py, not once" in capsys.readouterr().out
    (tree / "sums.py").write_text("def add(a, b):\n    return 5\n", encoding="utf-8")
    assert main([], [Fault("sums.py", "tests/test_weak.py", "red", "5", "6", "weak")], tree) == 1
    assert "without a fault tests/test_weak.py::test_weak fails already" in capsys.readouterr().out
