"""What results depend on: the digests of agents, which change with whatever their choices come from; versions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mahjong_agents
from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training.runtime.digests import agent_digests, code_of, differences, versions

HEBEI = rules("hebei")


class TestAgentsFiles:
    def differs(self, spec, file, new=b"other"):
        agent = make_agent(spec)
        before = agent_digests(spec, agent, HEBEI)
        assert agent_digests(spec, agent, HEBEI) == before
        file.write_bytes(new)
        return agent_digests(spec, agent, HEBEI) != before

    @pytest.fixture
    def own(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "path", [*sys.path])  # the folder of a file that was loaded stays at its end
        text = "from kept_beside import act\nclass Mine:\n    name = 'mine'\n    act = act\n"
        (tmp_path / "kept_mine.py").write_text(text, encoding="utf-8")
        (tmp_path / "kept_beside.py").write_text("from kept_further import act\n", encoding="utf-8")
        (tmp_path / "kept_further.py").write_text("def act(self, view, rng): pass\n", encoding="utf-8")
        (tmp_path / "kept_stranger.py").write_text("", encoding="utf-8")
        yield tmp_path
        for name in [name for name in sys.modules if name.startswith("kept_")]:
            del sys.modules[name]

    @pytest.mark.parametrize("name", ["kept_mine.py", "kept_beside.py", "kept_further.py"])
    def test_a_file_of_ones_own_and_what_it_imports_from_beside_it(self, name, own):
        spec = f"{own / 'kept_mine.py'}:Mine"
        assert not self.differs(spec, own / "kept_stranger.py")
        assert self.differs(spec, own / name)

    def test_a_file_that_makes_somebody_elses_agent(self, own):
        file = own / "kept_maker.py"
        file.write_text("from mahjong_agents import GreedyAgent as make\n", encoding="utf-8")
        assert self.differs(f"{file}:make", file)

    @pytest.mark.parametrize("spec", ["policy:{}", "search?base=policy:{}", "search?base=reference&others=policy:{}"])
    def test_policies_wherever_they_are_named(self, spec, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "policy" / "weights" / "hebei.zip", tmp_path / "mine.zip")
        assert self.differs(spec.format(tmp_path / "mine.zip"), tmp_path / "mine.zip")

    def test_programs(self, tmp_path):
        """A bot is another one if a file that its command names has changed, or what that imports from beside it."""
        text = "import json; from kept_beside import name; print(json.dumps({'type': 'ready', 'name': name})); input()"
        (tmp_path / "bot.py").write_text(text, encoding="utf-8")
        (tmp_path / "kept_beside.py").write_text("name = 'mine'", encoding="utf-8")
        (tmp_path / "numbers").write_text("1", encoding="utf-8")
        spec = f"command:{sys.executable} {tmp_path / 'bot.py'} --why? {tmp_path / 'numbers'}?games=5"
        assert self.differs(spec, tmp_path / "numbers")
        assert self.differs(spec, tmp_path / "kept_beside.py", b"name = 'other'")

    @pytest.mark.thorough
    def test_agents_that_are_isolated(self, own, monkeypatch):
        """They are the agents that they are without, and their files are not loaded here."""
        spec = f"isolated:{own / 'kept_mine.py'}:Mine"
        assert self.differs(spec, own / "kept_further.py", b"def act(self, view, rng): return None\n")
        assert not {"kept_mine", "kept_beside", "kept_further"} & set(sys.modules)
        apart = agent_digests(spec, make_agent(spec), HEBEI)
        assert apart == agent_digests(spec.removeprefix("isolated:"), make_agent(spec.removeprefix("isolated:")), HEBEI)
        assert agent_digests("isolated:greedy", make_agent("isolated:greedy"), HEBEI) == agent_digests(
            "greedy", make_agent("greedy"), HEBEI
        )
        (own / "kept_package").mkdir()
        mine = "from . import two\nclass Mine:\n    name = 'mine'\n    def act(self, view, rng): pass\n"
        for name, text in (("__init__", ""), ("one", mine), ("two", "")):
            (own / "kept_package" / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(own))
        assert self.differs("isolated:kept_package.one:Mine", own / "kept_package" / "two.py")

    def test_numbers(self, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "value" / "model.npz", tmp_path / "mine.npz")
        assert self.differs(f"value?numbers={tmp_path / 'mine.npz'}", tmp_path / "mine.npz")


def test_another_process_has_the_same_versions():
    command = [sys.executable, "-m", "mahjong_training.runtime"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    assert said.startswith(f"Python {sys.version_info.major}.{sys.version_info.minor}, mahjong_env ")
    assert all(f"{name} {number or 'not installed'}" in said for name, number in versions().items())
    assert all(versions()[name] for name in ("mahjong_env", "code of mahjong_env", "numpy"))


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
