"""Evaluations: trained policies beside their teachers and what they were; tables that fit; errors before the work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mahjong_agents import RandomAgent, make_agent
from mahjong_env.cli import main
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation import command as evaluation_command
from mahjong_training.evaluation import report
from mahjong_training.evaluation.command import evaluate
from mahjong_training.runtime import cache

TINY = (
    *("--tables", "4", "--width", "4", "--layers", "1", "--warm-start-steps", "64", "--warm-start-epochs", "1"),
    *("--evaluations", "1", "--evaluation-deals", "1", "--evaluation-agents", "random", "--opponents", "random"),
)
TRIO = ("random", "greedy", "closed-greedy")


@pytest.mark.thorough
def test_a_trained_policy_comes_with_its_teachers_and_what_it_was(tmp_path, capsys):
    run = tmp_path / "small"
    words = ["train-sb3", "--variant", "hebei", "--out", str(run), "--total-steps", "64", *TINY]
    assert main([*words, "--teacher", "closed-greedy"]) == 0
    config = EvaluateConfig(variant="hebei", agents=(f"policy:{run}/last.zip", "random"), deals=3)
    found = evaluate(config)
    assert found.agents == ("small/last", "random", "small/initial", "greedy", "closed-greedy")
    assert found.clones == ((0, 2),)
    assert [found.agents[gain.against] for gain in found.gains()] == ["random", "greedy", "closed-greedy"]
    capsys.readouterr()
    report.print_tables(found)
    told = capsys.readouterr().out
    for name, role in zip(found.agents, found.roles, strict=True):
        assert not role or f"{name}: {role}" in told
    assert "what learning added" in told
    data = found.as_json()
    assert data["roles"]["small/initial"] == found.roles[2]
    assert [gain["against"] for gain in data["learning_added"]] == ["random", "greedy", "closed-greedy"]
    assert evaluate(replace(config, teachers=False)).agents == ("small/last", "random")
    # The agents that were named still sit at one table.
    assert evaluate(replace(config, agents=(*config.agents, "greedy"), deals=1)).results[-1].lineup == (0, 1, 2)


AGENT_FILE = """
class Passes:
    '''Takes the last action that is legal, which is to pass wherever that is.'''

    def __init__(self, name="passes"):
        self.name = name

    def act(self, view, rng):
        return view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)
"""


class TestOwnAgents:
    @pytest.mark.thorough
    def test_classes_in_files_and_objects_take_part(self, tmp_path, capsys):
        (tmp_path / "mine.py").write_text(AGENT_FILE, encoding="utf-8")
        spec = f"{tmp_path}/mine.py:Passes"
        words = ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", f"{spec}?name=mine", "random"]
        for processes in ("1", "2"):
            assert main([*words, "--processes", processes, "--out", str(tmp_path / processes)]) == 0
        found = [(tmp_path / processes / "evaluation.json").read_text(encoding="utf-8") for processes in ("1", "2")]
        assert found[0] == found[1]
        assert "2 x random" in capsys.readouterr().out
        config = EvaluateConfig(variant="hebei", deals=2)
        as_objects = evaluate(config, agents=[make_agent(spec), RandomAgent()])
        assert as_objects.agents == ("passes", "random")
        by_name = json.loads(found[0])["lineups"][0]["standings"][0]["points"]["mean"]
        assert as_objects.against(0, 1).of(0).points.mean == by_name

    @pytest.mark.thorough
    def test_they_are_opponents_and_teachers(self, tmp_path):
        (tmp_path / "mine.py").write_text(AGENT_FILE, encoding="utf-8")
        spec = f"{tmp_path}/mine.py:Passes"
        words = ["train-sb3", "--variant", "hebei", "--out", str(tmp_path / "run"), "--total-steps", "16", *TINY]
        assert main([*words, "--teacher", spec, "--opponents", spec, "--evaluation-agents", spec]) == 0
        assert ",passes," in (tmp_path / "run" / "learning_curve.csv").read_text(encoding="utf-8")


def test_nothing_is_written_unless_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "--variant", "taiwan", "--agents", "random", "--deals", "2"]) == 0
    assert "4 x random" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


class TestErrorsBeforeTheWork:
    @pytest.mark.parametrize("name", ["evaluation.json", "evaluation.csv", "evaluation.html"])
    def test_files_that_cannot_be_written(self, name, tmp_path, monkeypatch, capsys):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(evaluation_command, "play_block", lambda *_: pytest.fail("has begun to play"))
        words = ["evaluate", "--variant", "hebei", "--agents", "random", "--out", str(tmp_path)]
        assert main(words) == 2
        assert f"{tmp_path / name}: cannot be written (it is a folder)" in capsys.readouterr().err


class LosesItsWay:
    """Plays the first legal action, and after a while none."""

    name = "lost"
    games_at_once = 6

    def __init__(self) -> None:
        self.calls = 0

    def act(self, view, rng):
        self.calls += 1
        return view.action_mask.argmax(axis=1) if self.calls < 200 else np.full(len(view), np.nan)


class TestInterrupted:
    def test_a_bad_answer_names_the_deal_and_what_was_played_is_kept(self, tmp_path, capsys):
        words = ["evaluate", "--variant", "hebei", "--deals", "20", "--out", str(tmp_path), "--agents", "random"]
        assert main([*words, f"{__name__}:LosesItsWay"]) == 2
        said = " ".join(capsys.readouterr().err.split())
        found = re.search(
            r"'lost' answered nan in game \d+, seat \d.* It is deal (\d+) of seed 20000, with .*lost", said
        )
        assert found
        kept = re.search(r"(\d+) of 20 parts are kept", said)
        assert kept
        assert int(kept[1]) == int(found[1]) // 2 > 0

    def test_ctrl_c_in_an_evaluation(self, tmp_path, monkeypatch, capsys):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(evaluation_command, "play_block", interrupted)
        assert main(["evaluate", "--variant", "hebei", "--agents", "random"]) == 130
        assert capsys.readouterr().err == "interrupted\n"

    def test_the_time_that_is_left(self, monkeypatch):
        """Of three line-ups: 100 s for the first part, 60 s for the second."""
        monkeypatch.setattr(evaluation_command, "sigma", lambda rules: 40.0)
        told, now = [], iter([0.0, 100.0, 160.0, 200.0])
        monkeypatch.setattr(cache.time, "monotonic", lambda: next(now))
        evaluate(EvaluateConfig(variant="wuhan", agents=TRIO, deals=1, lineups="pairs"), told.append)
        assert told[1:] == [
            "3 parts",
            "part 1 of 3: random, random, greedy, greedy; about 3 min left",
            "part 2 of 3: random, random, closed-greedy, closed-greedy; about 80 s left",
            "part 3 of 3: greedy, greedy, closed-greedy, closed-greedy; about 0 s left",
        ]


@pytest.mark.thorough
def test_the_command_needs_its_own_extra_only():
    code = "import sys\n"
    code += "class Lacking:\n"
    code += "    def find_spec(self, name, path=None, target=None):\n"
    code += "        if name in sys.argv[2].split(): raise ModuleNotFoundError(name, name=name)\n"
    code += "sys.meta_path.insert(0, Lacking())\n"
    code += "from mahjong_env.cli import main\nsys.exit(main(sys.argv[3:]))"
    words = ["evaluate", "--variant", "hebei", "--agents", "random", "--deals", "2"]
    call = [sys.executable, "-c", code, "-", "torch stable_baselines3 sb3_contrib tensorboard matplotlib", *words]
    done = subprocess.run(call, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
