"""`evaluate`: own agents, bots, policies beside their teachers and what they were; what was played before an error."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import AgentError, RandomAgent, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import ARCHITECTURE, prior, shapes
from mahjong_env.cli import main
from mahjong_training.config import EvaluateConfig
from mahjong_training.evaluation import command as evaluation_command
from mahjong_training.evaluation import report
from mahjong_training.evaluation.command import evaluate, run
from mahjong_training.evaluation.references import with_references
from mahjong_training.runtime import cache
from support.own_agents import LAST_LEGAL

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


class TestOwnAgents:
    @pytest.mark.thorough
    def test_classes_in_files_and_objects_take_part(self, tmp_path, capsys):
        words = ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", f"{LAST_LEGAL}?name=mine", "random"]
        for processes in ("1", "2"):
            assert main([*words, "--processes", processes, "--out", str(tmp_path / processes)]) == 0
        found = [(tmp_path / processes / "evaluation.json").read_text(encoding="utf-8") for processes in ("1", "2")]
        assert found[0] == found[1]
        assert "2 x random" in capsys.readouterr().out
        config = EvaluateConfig(variant="hebei", deals=2)
        as_objects = evaluate(config, agents=[make_agent(LAST_LEGAL), RandomAgent()])
        assert as_objects.agents == ("last", "random")
        by_name = json.loads(found[0])["lineups"][0]["standings"][0]["points"]["mean"]
        assert as_objects.against(0, 1).of(0).points.mean == by_name

    @pytest.mark.thorough
    def test_they_are_opponents_and_teachers(self, tmp_path):
        words = ["train-sb3", "--variant", "hebei", "--out", str(tmp_path / "run"), "--total-steps", "16", *TINY]
        assert (
            main([*words, "--teacher", LAST_LEGAL, "--opponents", LAST_LEGAL, "--evaluation-agents", LAST_LEGAL]) == 0
        )
        assert ",last," in (tmp_path / "run" / "learning_curve.csv").read_text(encoding="utf-8")


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


EVALUATE = ("evaluate", "--variant", "hebei", "--agents", "random")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError("Unable to allocate 8 TiB"), 2),
        (RuntimeError("can't allocate memory: you tried to allocate 8 bytes.\nMore"), 2),
        (RuntimeError("something else"), None),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(error, status, monkeypatch, capsys):
    def fails(config):
        raise error

    monkeypatch.setattr("mahjong_training.evaluation.command.run", fails)
    if status is None:
        with pytest.raises(RuntimeError):
            main(list(EVALUATE))
    else:
        assert main(list(EVALUATE)) == status
        said = str(error).splitlines()[0]
        assert capsys.readouterr().err == f"error: out of memory ({said})\n"


# --- Bots: what they fail to decide is counted, and nothing that was played is lost ---------------------------------


EXAMPLE = Path(__file__).parents[3] / "notebooks" / "examples" / "bots" / "bot.py"
# The example, which ends instead of answering in mid-evaluation, as long as a file is there.
ENDING = textwrap.dedent(
    """
    import os, runpy, sys
    lines = sys.stdin
    def some():
        for number, line in enumerate(lines):
            if number > 1200 and os.path.exists(sys.argv[2]): sys.exit("no more")
            yield line
    sys.stdin = some()
    runpy.run_path(sys.argv[1])
    """
)


@pytest.fixture
def bot(tmp_path):
    (tmp_path / "ending.py").write_text(ENDING, encoding="utf-8")
    (tmp_path / "end").mkdir()  # no file: the same bot is asked with it and without
    words = [sys.executable, str(tmp_path / "ending.py"), str(EXAMPLE), str(tmp_path / "end")]
    return f"command:{shlex.join(words)}"


def settings(agent, **more):
    return EvaluateConfig(variant="hebei", agents=(agent, "greedy"), deals=12, seed=3, **more)


@pytest.mark.thorough
def test_failures_are_counted_and_named_at_the_end(bot, tmp_path, capsys, caplog):
    found = run(settings(f"{bot}?failures=1000", out=tmp_path / "out"))
    number = found.failures()["command:simple-python"]
    assert number == len(caplog.records) > 0
    assert f"command:simple-python failed: {number} decisions were made for it" in capsys.readouterr().out
    assert "no more" in caplog.text
    csv = (tmp_path / "out" / "evaluation.csv").read_text("utf-8").splitlines()
    assert "failed_decisions" in csv[0]
    (tmp_path / "end").rmdir()
    assert evaluate(settings(bot)).failures() == {}


@pytest.mark.thorough
def test_what_was_played_before_a_failure_is_kept(bot, tmp_path):
    config = settings(f"{bot}?failures=0&games=6", out=tmp_path / "out")
    with pytest.raises(AgentError, match=r"(?s)no more.*[1-9]\d* of 12 parts are kept in"):
        run(config)
    (tmp_path / "end").rmdir()
    assert run(config) == evaluate(replace(config, out=None))


# --- References of trained policies: who comes with them, and what is said of them ------------------------------------


def write(path, *, steps, **training):
    """Write a small policy with a header of a run."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(4).items()} | {"prior": prior(claims=True)}
    header = {"steps": steps, "teacher": "greedy", "teachers": ["greedy", "closed-greedy"]} | training
    rules = mahjong_env.rules("hebei")
    path.parent.mkdir(exist_ok=True)
    PolicyFile(
        rules.name, rules.version, {"width": 4}, weights, rules.knobs, training=header, architecture=ARCHITECTURE
    ).write(path)
    return f"policy:{path}"


def roles(spec, rules=None):
    return [entrant.role for entrant in with_references([spec], rules)]


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("ppo", ("having begun as", "plays like", "the agent that {} began as", "not what {} began as")),
        (None, ("after imitating", "imitates", "the teacher that {} imitated", "not what {} imitated")),
    ],
)
def test_a_policy_comes_with_what_it_was_and_its_teachers(method, words, tmp_path):
    """A policy of the fast path has imitated nobody."""
    after, plays, teacher, other = words
    clone = write(tmp_path / "initial.zip", steps=0, method=method)
    best = write(tmp_path / "best.zip", steps=64, method=method)
    assert roles(best) == [
        f"learned from 64 decisions, {after} greedy",
        f"the same policy before learning, which {plays} greedy",
        teacher.format(f"{tmp_path.name}/best"),
        other.format(f"{tmp_path.name}/best"),
    ]
    assert [one.spec for one in with_references([best])] == [best, clone, "greedy", "closed-greedy"]
    assert roles(clone)[0].startswith(f"{plays} greedy; what the policies of its run were")
    on_the_way = write(tmp_path / "policies" / "64.zip", steps=64, method=method)
    assert with_references([on_the_way])[0].clone == clone


def test_agents_that_are_named_are_not_named_twice(tmp_path):
    clone, best = write(tmp_path / "initial.zip", steps=0), write(tmp_path / "best.zip", steps=64)
    specs = ["greedy", best, clone, "greedy"]
    entrants = with_references(specs)
    assert [entrant.spec for entrant in entrants] == [*specs, "closed-greedy"]
    assert entrants[1].clone == clone
    assert [entrant.role for entrant in entrants][0::3] == [f"the teacher that {tmp_path.name}/best imitated"] * 2
    assert [entrant.role for entrant in with_references(["random", "greedy"])] == ["", ""]
    alone = with_references(["random", clone])
    assert [entrant.spec for entrant in alone] == ["random", clone, "greedy", "closed-greedy"]


@pytest.mark.parametrize("method", ["ppo", None])
def test_where_learning_brought_nothing_better_the_last_policy_stands_beside(method, tmp_path):
    last = write(tmp_path / "last.zip", steps=64, method=method)
    best = write(tmp_path / "best.zip", steps=0, method=method)
    own, later, *_ = with_references([best])
    words = "plays like" if method else "imitates"
    assert own.role == f"{words} greedy; nothing that was learned later measured better"
    assert later == (last, "the latest policy of the same run, after 64 decisions", best)


@pytest.mark.parametrize(("steps", "other"), [(64, "initial"), (0, "last")])
def test_policies_of_the_same_run_are_loaded_with_the_same_options(steps, other, tmp_path):
    best, kin = (write(tmp_path / f"{name}.zip", steps=at) for name, at in (("best", steps), (other, 64 - steps)))
    options = "?features=mine.py:Late&sample=true"
    own, beside, *_ = with_references([best + options])
    assert (own.spec, beside.spec) == (best + options, kin + options)
    assert own.clone == (kin + options if steps else "")


@pytest.mark.parametrize("address", ["command:touch {}/made", "{}/own.py:Mine", "value?weights={}/w", "policy:{}/gone"])
def test_a_policy_does_not_choose_what_runs_here(address, tmp_path):
    """Its teacher is named by a file that may be a stranger's, and may not be at hand."""
    (tmp_path / "own.py").write_text(f"open({str(tmp_path / 'made')!r}, 'w')", encoding="utf-8")
    teacher = address.format(tmp_path)
    spec = write(tmp_path / "best.zip", steps=64, teacher=teacher, teachers=["greedy", teacher])
    found = evaluate(EvaluateConfig(variant="hebei", agents=(spec, "random"), deals=2))
    assert not (tmp_path / "made").exists()
    own, _, greedy = with_references([spec, "random"])
    assert own.role.endswith(f"; {teacher} is not played, unless --agents names it")
    assert (greedy.spec, len(found.agents)) == ("greedy", 3)


def test_policies_without_a_teacher_come_alone(tmp_path):
    assert roles(write(tmp_path / "best.zip", steps=64, teacher="")) == [""]


def test_the_shipped_policies_did_not_imitate():
    for name in mahjong_env.VARIANTS:
        assert not any("imitat" in role for role in roles(f"policy:{name}"))


def test_other_house_rules_than_it_was_trained_with_are_said():
    asked = mahjong_env.rules("hebei", players=4, cap=8)
    first = roles("policy:hebei", asked)[0]
    assert first.endswith("; trained with other house rules: players=3, cap=None")
    assert "house rules" not in roles("policy:hebei", mahjong_env.rules("hebei"))[0]
    assert "house rules" not in roles("policy:hebei?any_variant=true", mahjong_env.rules("wuhan"))[0]
