"""Records written by environments, evaluation and training: each is the game that was played, to the last point."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, Deal, RecordError
from mahjong_env.cli import main
from mahjong_env.records import read_records, replay_points


def checked(path):
    """The records of a file, each of which has been played again."""
    records = list(read_records(path))
    for record in records:
        assert replay_points(record) == record.points
    return records


def play_aec(env, rng):
    for agent in env.agent_iter():
        observation, _, termination, truncation, _ = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))


@pytest.mark.parametrize("variant", VARIANTS)
def test_aec(variant, tmp_path):
    path = tmp_path / "games.jsonl"
    env = __import__(f"mahjong_env.{variant}_v0", fromlist=["env"]).env(num_hands=2, record=path)
    for seed in (1, 2):
        env.reset(seed=seed)
        play_aec(env, seed)
        assert len(checked(path)) == seed
    points = tuple(int(each) for each in env.unwrapped.engine.points[0])
    assert checked(path)[-1].points == points
    env.close()
    env.close()


def test_a_deal_drawn_with_numpy_is_recorded(tmp_path):
    env = mahjong_env.hebei_v0.raw_env(record=tmp_path / "games.jsonl")
    points = np.array([40, 50, 60])
    env.reset(seed=3, options={"deal": Deal(dealer=np.int64(2), tiles_left=np.int64(3), running_points=points)})
    play_aec(env, 1)
    env.close()
    (record,) = checked(tmp_path / "games.jsonl")
    assert (record.deal.dealer, list(record.deal.running_points)) == (2, [40, 50, 60])


def test_a_match_that_has_not_ended_is_recorded_as_it_stands(tmp_path):
    env = mahjong_env.hebei_v0.raw_env(record=tmp_path / "games.jsonl")
    env.reset(seed=3)
    env.step(env.observe(env.agent_selection)["action_mask"].argmax())
    env.reset(seed=4)
    for _ in range(2):
        env.step(env.observe(env.agent_selection)["action_mask"].argmax())
    env.close()
    first, second = checked(tmp_path / "games.jsonl")
    assert (len(first.actions), len(second.actions)) == (1, 2)
    assert not first.is_complete
    assert first.seed != second.seed


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_environment_whose_record_cannot_be_written_ends_all_the_same():
    env = mahjong_env.wuhan_v0.env(record="/dev/full")
    env.reset(seed=1)
    with pytest.raises(RecordError, match="cannot be written"):
        play_aec(env, 1)
    assert all(env.terminations.values())
    env.reset(seed=2)  # the match before is over, and is not written again
    assert not any(env.terminations.values())


def test_the_start_of_a_hand_that_was_set_is_recorded(tmp_path):
    env = mahjong_env.hebei_v0.raw_env(record=tmp_path / "games.jsonl")
    deal = mahjong_env.Deal(hands=("123m 456m 789m 22p 55s", "", ""))
    env.reset(seed=3, options={"deal": deal})
    play_aec(env, 3)
    env.close()
    (record,) = checked(tmp_path / "games.jsonl")
    assert record.deal == deal


def test_gymnasium(tmp_path):
    env = gymnasium.make("mahjong_env/Hangzhou-v0", opponents="greedy", record=tmp_path / "games.jsonl")
    _, info = env.reset(seed=1)
    for _ in range(3):
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            over = terminated or truncated
        _, info = env.reset()
    env.close()
    records = checked(tmp_path / "games.jsonl")
    assert sum(record.is_complete for record in records) >= 3
    for record in records:
        assert Counter(record.agents) == {"learner": 1, "greedy": 3}


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_vector(mode, tmp_path):
    path = tmp_path / "games.jsonl"
    envs = gymnasium.make_vec("mahjong_env/Hebei-v0", num_envs=6, opponents="greedy", autoreset_mode=mode, record=path)
    _, infos = envs.reset(seed=1)
    rng, ended, paid = np.random.default_rng(1), 0, 0
    for _ in range(60):
        mask = infos["action_mask"]
        _, rewards, terminated, _, infos = envs.step((rng.random(mask.shape) * mask).argmax(axis=1))
        ended += int(terminated.sum())
        paid += rewards.sum()
    whole = len(checked(path))
    assert whole >= ended > 10
    envs.close()
    records = checked(path)
    assert sum(record.is_complete for record in records) == whole
    begin = mahjong_env.rules("hebei").starting_points
    earned = sum(record.points[record.agents.index("learner")] - begin for record in records)
    # What running matches have paid is told with their learners' next decisions.
    assert abs(earned - paid) <= 6 * 50
    assert {record.stream for record in records} == set(range(6))


def test_what_was_changed_otherwise_is_not_recorded(tmp_path):
    env = mahjong_env.hebei_v0.raw_env(record=tmp_path / "games.jsonl")
    env.reset(seed=3)
    snapshot = env.engine.snapshot()
    env.step(env.observe(env.agent_selection)["action_mask"].argmax())
    env.engine.restore(snapshot)
    play_aec(env, 1)
    env.reset(seed=3)
    env.engine.resample_hidden(int(env.engine.seat_to_act[0]), np.random.default_rng(1))
    play_aec(env, 1)
    env.reset(seed=5)
    play_aec(env, 1)
    env.close()
    assert len(checked(tmp_path / "games.jsonl")) == 1


def test_copies_do_not_record(tmp_path):
    env = mahjong_env.hebei_v0.raw_env(record=tmp_path / "games.jsonl")
    env.reset(seed=3)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        play_aec(twin, 1)
        twin.close()
    assert not checked(tmp_path / "games.jsonl")
    play_aec(env, 1)
    assert len(checked(tmp_path / "games.jsonl")) == 1


def test_recording_changes_nothing(tmp_path):
    plain, recorded = (
        gymnasium.make_vec("mahjong_env/Wuhan-v0", num_envs=4, **more) for more in ({}, {"record": tmp_path / "games"})
    )
    seen = [envs.reset(seed=2) for envs in (plain, recorded)]
    for _ in range(30):
        actions = seen[0][1]["action_mask"].argmax(axis=1)
        seen = [envs.step(actions)[0::4] for envs in (plain, recorded)]
        assert (seen[0][0] == seen[1][0]).all()
    recorded.close()


@pytest.mark.thorough
def test_evaluation_with_what_agents_thought(tmp_path, capsys):
    command = ["evaluate", "--variant", "wuhan", "--deals", "1", "--agents", "policy:wuhan", "random", "--no-teachers"]
    silent, told = tmp_path / "silent.jsonl", tmp_path / "told.jsonl"
    assert main([*command, "--record", str(silent)]) == 0
    assert main([*command, "--record", str(told), "--thoughts"]) == 0
    assert [record.actions for record in checked(told)] == [record.actions for record in checked(silent)]
    assert not any(record.notes for record in read_records(silent))
    for record in read_records(told):
        policies = [name for name in record.agents if name != "random"]
        assert bool(record.notes) == bool(policies)
        assert all("probabilities" in note for note in record.notes.values())
    assert main([*command, "--thoughts"]) == 2
    assert "--record" in capsys.readouterr().err


@pytest.mark.thorough
def test_training(tmp_path):
    path = tmp_path / "games.jsonl"
    small = ["--tables", "8", "--width", "16", "--warm-start-steps", "0", "--reward", "points?scale=1"]
    few = ["--evaluations", "1", "--evaluation-deals", "2", "--evaluation-agents", "random", "--record", str(path)]
    out = ["--out", str(tmp_path / "run"), "--total-steps", "256"]
    assert main(["train-sb3", "--variant", "hebei", *out, *small, *few]) == 0
    records = checked(path)
    assert len(records) > 8
    assert all(record.agents.count("learner") == 1 for record in records)
