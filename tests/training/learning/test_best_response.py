"""Learning against chosen opponents: best responses to one agent, and rounds against a pool."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.file import SHIPPED
from mahjong_env import rules
from mahjong_training.config import BestResponseConfig, PsroConfig, TrainConfig
from mahjong_training.errors import InterruptedRunError, TrainingError
from mahjong_training.evaluation import matches, standing
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.learning import best_response, psro, run
from mahjong_training.learning import run as ppo_run
from mahjong_training.learning.best_response import FILE
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.console import resume_hint
from mahjong_training.seeds import USER_SEEDS, response_seed

CONFIG = BestResponseConfig(variant="hebei", agent="closed-greedy", hands=64, deals=30, start="greedy")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A run of learning that takes a second."""

    def settings(**given):
        sizes = {"tables": 16, "critic_hands": 16, "evaluations": 1, "evaluation_deals": 2, "gate_deals": 30}
        return TrainConfig(**given | sizes)

    settings.width = TrainConfig.width
    monkeypatch.setattr(best_response, "TrainConfig", settings)
    monkeypatch.setattr(run, "_TRIAL_DEALS", 40)
    for module in (best_response, run):
        monkeypatch.setattr(module, "sigma", lambda rules: 3.7)


@pytest.fixture
def tests(monkeypatch):
    """What was played in tests of responses, and not while learning: agents, lineups, and so on."""
    played, play, contests = [], matches.play_block, best_response.play_contests
    monkeypatch.setattr(matches, "play_block", lambda *given: played.append(given) or play(*given))
    monkeypatch.setattr(best_response, "play_contests", lambda *given: played.clear() or contests(*given))
    return played


def found_in(folder):
    found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    return {name: value for name, value in found.items() if name != "seconds"}


@pytest.mark.thorough
def test_it_learns_from_the_agent_and_is_judged_against_it_alone(tmp_path, monkeypatch, tests):
    gates, plays = [], []
    gate, part = run.gate, run.play_part
    monkeypatch.setattr(run, "gate", lambda *given, **rest: gates.extend(given[3]) or gate(*given, **rest))
    monkeypatch.setattr(run, "play_part", lambda common, seed: plays.append(common) or part(common, seed))
    found = best_response.run(replace(CONFIG, out=tmp_path / "run", seed=3))
    assert set(gates) == {(1.0, "closed-greedy")}
    assert {(tuple(common.named), common.share) for common in plays} == {(("closed-greedy",), 1.0)}
    assert {(agents[1].name, seed) for _, agents, _, seed in tests} == {("closed-greedy", response_seed(3))}
    assert found.hands == 64
    assert found.points.low < found.points.mean < found.points.high
    kept = found_in(tmp_path / "run")
    assert (kept["agent"], kept["start"], kept["deals"]) == ("closed-greedy", "greedy", 30)
    assert kept["points"]["mean"] == found.points.mean


@pytest.mark.thorough
def test_it_goes_on_where_it_stopped(tmp_path, capsys):
    whole = best_response.run(replace(CONFIG, out=tmp_path / "run"))
    first = found_in(tmp_path / "run")
    with pytest.raises(TrainingError, match="--resume"):
        best_response.run(replace(CONFIG, out=tmp_path / "run"))
    assert found_in(tmp_path / "run") == first
    best_response.run(replace(CONFIG, out=tmp_path / "run", resume=True))
    assert found_in(tmp_path / "run") == first
    assert "nothing to do" in capsys.readouterr().out
    with pytest.raises(TrainingError, match="keeps its settings"):
        best_response.run(replace(CONFIG, agent="greedy", out=tmp_path / "run", resume=True))
    with pytest.raises(TrainingError, match="keeps its settings: seed is 0, not 3"):
        best_response.run(replace(CONFIG, seed=3, out=tmp_path / "run", resume=True))
    assert whole.points.mean == first["points"]["mean"]


def test_it_is_tested_by_the_rules_and_the_seed_that_it_learned_with(tmp_path, monkeypatch):
    asked, folder = replace(CONFIG, resume=True, out=tmp_path), RunFolder(tmp_path)
    folder.begin(best_response._settings(replace(CONFIG, knobs=("players=4",), seed=3), tmp_path), {})
    folder.last.write_bytes((SHIPPED / "hebei.zip").read_bytes())
    monkeypatch.setattr(best_response.learning, "run", lambda config: None)
    monkeypatch.setattr(
        best_response, "_tested", lambda rules, config, folder: sys.exit(f"{rules.people} players, {config.seed}")
    )
    with pytest.raises(SystemExit, match="4 players, 3"):
        best_response.run(asked)
    with pytest.raises(TrainingError, match="not those of --knobs players=4"):
        best_response.run(replace(asked, kept=tmp_path / "standings.json"))


@pytest.mark.thorough
def test_what_was_not_learned_is_worth_nothing_more_and_played_once(tmp_path, tests):
    """While no gate has been passed, the response is what it began as."""
    found = best_response.run(replace(CONFIG, hands=17, out=tmp_path / "run"))
    assert found.learned.mean == 0
    assert len(tests) == 1


@pytest.mark.thorough
def test_it_goes_on_against_the_same_agent(tmp_path, monkeypatch):
    own = tmp_path / "own.py"
    own.write_text("from mahjong_agents import GreedyAgent as Mine\n", encoding="utf-8")
    config = replace(CONFIG, agent=f"{own}:Mine", out=tmp_path / "run", start="greedy")
    best_response.run(config)
    own.write_text("from mahjong_agents import RandomAgent as Mine\n", encoding="utf-8")
    with pytest.raises(TrainingError, match="Mine has changed since this run met it"):
        best_response.run(replace(config, resume=True))


def test_an_interrupted_test_says_that_what_was_learned_is_kept(tmp_path, monkeypatch):
    for file in (RunFolder(tmp_path).best, RunFolder(tmp_path).initial):
        file.write_bytes((SHIPPED / "hebei.zip").read_bytes())

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(best_response, "play_contests", interrupted)
    with pytest.raises(InterruptedRunError, match=r"interrupted; what was learned is kept in .*; resume with --resume"):
        best_response._tested(rules("hebei"), CONFIG, RunFolder(tmp_path))


def test_what_cannot_be_is_found_before_it_learns(tmp_path, monkeypatch):
    monkeypatch.setattr(best_response.learning, "run", lambda config: pytest.fail("has begun to learn"))
    with pytest.raises(TrainingError, match=r"--start is one of greedy, .*, policy:NAME .*, not 'value'"):
        best_response.run(replace(CONFIG, out=tmp_path / "run", start="value"))
    (tmp_path / "kept.json").write_text("[]", encoding="utf-8")
    for name, wrong in (("kept.json", "cannot be read as standings"), ("kept.json/of.json", "cannot be written")):
        with pytest.raises(TrainingError, match=wrong):
            best_response.run(replace(CONFIG, out=tmp_path / "run", kept=tmp_path / name))


def test_standings_keep_what_a_response_wins(tmp_path):
    kept = tmp_path / "standings.json"
    found = best_response.run(replace(CONFIG, hands=17, out=tmp_path / "run", kept=kept))
    rows = standing.Kept.read(kept).rows
    assert rows["hebei"]["closed-greedy"]["response"]["mean"] == pytest.approx(found.points.mean / found.sigma)
    assert "(17 hands, 1 min; from greedy) |" in standing.page(rows)
    with pytest.raises(TrainingError, match="not those of --knobs cap=8"):
        best_response.run(replace(CONFIG, knobs=("cap=8",), out=tmp_path / "other", kept=kept))


class TestStart:
    def test_is_who_wins_most_from_the_agent(self, capsys):
        candidates = [*run.TEACHERS, "policy:hebei"]
        assert run.best_start(rules("hebei"), "random", candidates, 0) == "policy:hebei"
        assert "points a hand from random: the learner begins as policy:hebei" in capsys.readouterr().out

    @pytest.mark.parametrize("spec", ["greedy", "policy:hebei", "policy:wuhan", "value"])
    def test_is_the_agent_itself_if_nobody_wins_and_a_network_can_begin_as_it(self, spec, tmp_path, monkeypatch):
        lost = SimpleNamespace(of=lambda agent: SimpleNamespace(points=best_response.Estimate(-1.0, -2.0, 0.0)))
        monkeypatch.setattr(run, "measure", lambda *given, **rest: lost)
        begun = []
        monkeypatch.setattr(run, "run", lambda config: begun.append(config.teacher) or sys.exit())
        with pytest.raises(SystemExit):
            best_response.run(replace(CONFIG, agent=spec, start=None, out=tmp_path / "run"))
        assert begun == ["greedy" if spec == "value" else spec]


# --- Learning against a pool, whose matrix says who is drawn ----------------------------------------------------------


POOL = PsroConfig(variant="hebei", pool=("random", "greedy", "closed-greedy"), rounds=2, hands=24, deals=30)
ADDED = ("closed-greedy", "folding")


@pytest.fixture
def rounds(monkeypatch):
    """Rounds that take a second, in which every gate is passed."""
    trained = []

    def settings(**given):
        trained.append(TrainConfig(**given | {"tables": 12, "critic_hands": 12, "width": 8, "parts": 1}))
        return replace(trained[-1], evaluations=1, evaluation_deals=2, gate_deals=2, ema_decay=0)

    monkeypatch.setattr(psro, "TrainConfig", settings)
    monkeypatch.setattr(psro, "sigma", lambda rules: 4.0)
    monkeypatch.setattr(ppo_run, "sigma", lambda rules: 4.0)
    monkeypatch.setattr(ppo_run, "gate", lambda *given, **rest: (Estimate(1.0, 0.5, 1.5), 2))
    return trained


@pytest.mark.thorough
def test_rounds_learn_from_the_mixture_and_go_on_where_they_stopped(tmp_path, monkeypatch, rounds):
    config = replace(POOL, out=tmp_path / "pool")
    one, two, end = psro.run(config)
    assert one.pool == POOL.pool
    assert two.pool == (*one.pool, one.added)
    assert end.pool == (*two.pool, two.added)
    assert end.added is None
    checked, *rounds = rounds
    assert checked.opponents == POOL.pool[:1]
    for now, trained in zip((one, two), rounds, strict=True):
        drawn = dict(zip(trained.opponents, trained.opponent_odds, strict=True))
        wanted = {spec: share for spec, share in zip(now.pool, now.mixture, strict=True) if share >= 0.01}
        assert drawn == pytest.approx(wanted, abs=0.02)
        assert "random" not in drawn  # it loses to everybody
        assert (np.array(now.matrix) != 0).sum() == len(now.pool) * (len(now.pool) - 1)
        low, high = np.moveaxis(np.array(now.intervals), 2, 0)
        assert ((low < now.matrix) & (high > now.matrix) | np.eye(len(now.pool), dtype=bool)).all()
    assert [trained.teacher for trained in rounds] == ["greedy", one.added]
    assert make_agent(two.added).name.endswith("best")
    played, learned = [], []
    play, update = matches.play_block, ppo_run.PpoRun.update
    monkeypatch.setattr(matches, "play_block", lambda *given: played.append(given) or play(*given))
    monkeypatch.setattr(ppo_run.PpoRun, "update", lambda run: learned.append(run) or update(run))
    before = json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8"))
    assert psro.run(config)[-1] == end
    assert (played, learned) == ([], [])
    assert json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8")) == before
    with pytest.raises(TrainingError, match="another --deals: 30"):
        psro.run(replace(config, deals=31))


def test_a_round_goes_on_with_the_same_odds_on_another_processor(tmp_path, monkeypatch):
    """Which sums to other last bits; a run keeps its settings."""
    begun = []
    monkeypatch.setattr(psro.learning, "run", lambda config: begun.append(config) or SimpleNamespace(has_gained=False))
    for bits in (0, 1e-11):
        mixture = np.array([0.341741946438 + bits, 0.653258053562 - bits, 0.005])
        psro._response(POOL, tmp_path, ("greedy", "value", "random"), mixture, [])
    assert begun[0] == begun[1]
    assert begun[0].opponents == ("greedy", "value")
    assert sum(begun[0].opponent_odds) == pytest.approx(1)


def test_rounds_and_judges_have_seeds_of_their_own():
    runs = [replace(POOL, seed=seed) for seed in (0, 1, 2, USER_SEEDS - 1)]
    seeds = [psro._seed(run, number, is_judge=judge) for run in runs for number in range(20) for judge in (False, True)]
    assert len({*seeds}) == len(seeds)
    assert all(0 <= seed < USER_SEEDS for seed in seeds)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"start": "value"}, "--start is one of greedy, closed-greedy, policy:NAME"),
        ({"opponent_share": 1.5}, "--opponent-share is at most 1, not 1.5"),
        ({"evaluations": 2000}, "--evaluations is at most 1024, not 2000"),
    ],
)
def test_a_wrong_setting_of_rounds_is_found_before_anything_is_played(wrong, told, tmp_path, monkeypatch):
    monkeypatch.setattr(psro, "_payoffs", lambda *given: pytest.fail("has begun to play"))
    with pytest.raises(TrainingError, match=told):
        psro.run(replace(POOL, out=tmp_path / "pool", **wrong))
    assert not (tmp_path / "pool" / psro._SETTINGS).exists()


def test_before_its_first_round_a_run_gives_way_to_another(tmp_path):
    """An agent that failed in the matrix can be mended."""
    psro._keep_settings(POOL, {"mine": ["one"]}, tmp_path)
    psro._keep_settings(replace(POOL, deals=31), {"mine": ["two"]}, tmp_path)
    first = RunFolder(psro._round_folder(tmp_path, 1))
    first.path.mkdir()
    first.config.touch()
    with pytest.raises(TrainingError, match="mine has changed since the run began"):
        psro._keep_settings(replace(POOL, deals=31), {"mine": ["one"]}, tmp_path)
    with pytest.raises(TrainingError, match="another --deals: 31"):
        psro._keep_settings(POOL, {"mine": ["two"]}, tmp_path)


def test_its_rounds_are_resumed_with_the_same_command(tmp_path, monkeypatch):
    """It has no --resume."""
    monkeypatch.setattr(psro, "_payoffs", lambda *given: sys.exit(f"resume with {resume_hint()}"))
    with pytest.raises(SystemExit, match="resume with the same command"):
        psro.run(replace(POOL, out=tmp_path / "pool"))
    assert resume_hint() == "--resume"


def test_it_does_not_go_on_with_other_seeds(tmp_path):
    psro._keep_settings(POOL, {}, tmp_path)
    path = tmp_path / psro._SETTINGS
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings[psro._SEEDS]
    path.write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(TrainingError, match="an older version began this run, with other seeds; choose another --out"):
        psro._keep_settings(POOL, {}, tmp_path)


@pytest.mark.thorough
@pytest.mark.usefixtures("rounds")
def test_best_responses_judge_the_first_and_the_last(tmp_path, monkeypatch):
    begun = []

    def config_of(**given):
        begun.append(BestResponseConfig(**given | {"deals": 30}))
        return begun[-1]

    monkeypatch.setattr(psro, "BestResponseConfig", config_of)
    monkeypatch.setattr(psro, "_response", lambda config, folder, pool, mixture, rounds: ADDED[len(rounds)])
    monkeypatch.setattr(run, "best_start", lambda *given: "greedy")
    config = replace(POOL, pool=("random", "greedy"), start="closed-greedy", judge_hands=24, out=tmp_path / "pool")
    psro.run(config)
    found = json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8"))["exploitability"]
    assert [*found] == ["start", "round_2"]
    assert [(one["agent"], one["hands"]) for one in found.values()] == [("closed-greedy", 24), ("folding", 24)]
    for name, one in found.items():
        kept = found_in(tmp_path / "pool" / f"response_to_{name}")
        assert one["response"]["mean"] == pytest.approx(kept["points"]["mean"] / kept["sigma"])
    psro.run(config)
    assert [one.resume for one in begun] == [False, False, True, True]
    assert json.loads((tmp_path / "pool" / psro.FILE).read_text(encoding="utf-8"))["exploitability"] == found


@pytest.mark.usefixtures("rounds")
def test_it_ends_where_nothing_beats_the_mixture(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(psro, "_response", lambda *given: None)
    (only,) = psro.run(replace(POOL, pool=("random", "greedy"), out=tmp_path / "pool"))
    assert only.added is None
    assert only.mixture == pytest.approx([0, 1], abs=1e-3)
    assert only.nash_ratings[0][0] < only.nash_ratings[0][2] < 0
    assert "| 1: greedy | " in capsys.readouterr().out
