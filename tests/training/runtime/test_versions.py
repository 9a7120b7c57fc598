"""The versions that results depend on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mahjong_training.runtime.versions import code_of, differences, main, versions


def test_those_of_this_process():
    found = versions()
    assert found["Python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert all(found[name] for name in ("mahjong_env", "code of mahjong_env", "numpy"))


def test_another_process_finds_the_same(capsys):
    command = [sys.executable, "-m", "mahjong_training.runtime"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    main()
    assert said == capsys.readouterr().out
    assert said.startswith(f"Python {versions()['Python']}, mahjong_env ")


def test_differences_are_named():
    ours = {"Python": "3.11", "numpy": "2.4.6", "torch": ""}
    assert differences(ours, ours) == []
    assert differences(ours, {**ours, "torch": "2.13.0"}) == []  # what we lack nobody else needs
    assert differences(ours, {"Python": "3.12", "numpy": ""}) == [
        "Python is 3.12 and not 3.11",
        "numpy is missing and not 2.4.6",
    ]


@pytest.mark.parametrize("name", ["module.py", "folder/module.py", "table.npz", "weights.json", "policy.zip"])
def test_the_digest_of_code_holds_source_and_data(name, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.md").write_text("words", encoding="utf-8")
    before = code_of([tmp_path])
    (tmp_path / "page.md").write_text("other words", encoding="utf-8")
    assert code_of([tmp_path]) == before
    (tmp_path / name).write_bytes(b"1\n")
    after = code_of([tmp_path])
    assert after != before
    (tmp_path / name).write_bytes(b"2\n")
    assert code_of([tmp_path]) not in (before, after)
