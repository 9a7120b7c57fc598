"""RLlib: the example learns behind a batch of tables, and RLlib's own wrapper plays; run by `make distributed`."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_env import hebei_v0
from support.cluster import REASON, small_cluster
from tools.readme import code_blocks

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("ray"), reason=REASON),
    pytest.mark.thorough,
    pytest.mark.distributed,
]


@pytest.fixture
def example(monkeypatch):
    """The example, with small updates; by its name, as RLlib's processes import it too."""
    monkeypatch.syspath_prepend(str(ROOT / "notebooks" / "examples"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "notebooks" / "examples"), prepend=os.pathsep)
    module = importlib.import_module("rllib_ppo")
    monkeypatch.setattr(module, "BATCH", 256)
    return module


@pytest.mark.parametrize("shaping", [0.0, 1.0])
def test_tables_pay_all_points_and_a_potential(example, monkeypatch, shaping):
    """What shaping pays over a hand is the person's distance at its beginning, whatever is played."""
    monkeypatch.setattr(example, "SHAPING", shaping)
    tables, rng = example.Tables("hebei", 8, seed=1), np.random.default_rng(0)
    shown, _ = tables.reset()
    total, paid = np.zeros((8, 3)), []
    for _ in range(300):
        before = tables.engine.seat_to_act.copy()
        for table, seen in enumerate(shown):
            person = before[table]
            assert seen.keys() == (set(tables.names) if person < 0 else {f"player_{person}"})
            assert all(tables.single_observation_spaces[name].contains(one) for name, one in seen.items())
        actions = [
            {name: rng.choice(np.flatnonzero(one["action_mask"])) for name, one in seen.items()} if person >= 0 else {}
            for seen, person in zip(shown, before, strict=True)
        ]
        shown, rewards, ends, _, _ = tables.step(actions)
        total += [list(each.values()) for each in rewards]
        for table in np.flatnonzero([end["__all__"] for end in ends]):
            assert not any(one["action_mask"].any() for one in shown[table].values())
            paid.append(total[table].copy())
            total[table] = 0
    paid = np.array(paid)
    assert len(paid) > 8
    assert paid.any()
    sums = paid.sum(axis=1)
    np.testing.assert_allclose(sums, np.round(sums) * bool(shaping), atol=1e-5)
    assert (sums >= -1e-5).all()
    assert not shaping or 6 < sums.mean() < 15


def test_the_module_never_chooses_what_the_mask_forbids(example):
    import torch
    from ray.rllib.core.columns import Columns

    tables = example.Tables("hebei", 8, seed=1)
    module = example.ppo("hebei").get_multi_rl_module_spec(env=tables).build()[example.LEARNER]
    seen = [next(iter(shown.values())) for shown in tables.reset()[0]]
    batch = {Columns.OBS: {key: torch.as_tensor(np.stack([one[key] for one in seen])) for key in seen[0]}}
    mask = batch[Columns.OBS]["action_mask"].bool()
    for forward in (module.forward_exploration, module.forward_inference, module.forward_train):
        probability = torch.softmax(forward(batch)[Columns.ACTION_DIST_INPUTS], dim=1)
        assert (probability[~mask] == 0).all()
        assert (probability[mask] > 0).all()


def test_the_example_goes_on_where_it_was_stopped(example, tmp_path, capsys, monkeypatch):
    count, begun = example.decisions_of, []

    def one_update(found):
        if begun:
            raise KeyboardInterrupt
        begun.append(found)
        return count(found)

    with small_cluster(1):
        with monkeypatch.context() as patch:
            patch.setattr(example, "decisions_of", one_update)
            with pytest.raises(KeyboardInterrupt):
                example.learn("hebei", 60, tmp_path / "p.zip", runners=0, tables=8)
        (tmp_path / "p.checkpoints" / "new").mkdir()  # another one was being written
        (kept,) = (tmp_path / "p.checkpoints").glob("[0-9]*")
        decisions, seconds = map(int, kept.name.split("-"))
        found = example.learn("hebei", (seconds + 2) / 60, tmp_path / "p.zip", runners=0, tables=8)
    assert f"going on after {seconds} s and {decisions:,} decisions" in capsys.readouterr().out
    assert PolicyFile.read(tmp_path / "p.zip").training["steps"] == found > decisions >= 256
    assert [path.name for path in tmp_path.iterdir()] == ["p.zip"]
    assert make_agent(f"policy:{tmp_path}/p.zip").variant == "hebei"


def test_a_runner_that_is_killed_is_replaced(example):
    """RLlib starts it again, and it is dealt other hands than before."""

    def runner():
        look = lambda one: (os.getpid(), int(one.env.engine.state.seed[0]))  # noqa: E731
        (found,) = algorithm.env_runner_group.foreach_env_runner(look, local_env_runner=False)
        return found

    with small_cluster(2):
        settings = example.ppo("hebei", tables=16)
        algorithm = settings.training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1).build_algo()
        first = runner()
        algorithm.train()
        os.kill(first[0], signal.SIGKILL)
        end = time.monotonic() + 300
        while not example.decisions_of(algorithm.train()) and time.monotonic() < end:
            time.sleep(1)  # it is being started
        second = runner()
        assert example.decisions_of(algorithm.train()) >= 256
        algorithm.stop()
    assert all(one != other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("is_parallel", [False, True])
def test_rllibs_own_wrapper_plays_whole_games_and_passes_the_check(is_parallel):
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel
    from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    bare, rng = hebei_v0.env(on_illegal="end"), np.random.default_rng(1)
    env = ParallelPettingZooEnv(turn_based_aec_to_parallel(bare)) if is_parallel else PettingZooEnv(bare)
    greedy, paid = make_agent("greedy"), Counter()
    for seed in range(4):
        shown, _ = env.reset(seed=seed)
        ends, hand = {"__all__": False}, Counter()
        while not ends["__all__"]:
            (name,) = (name for name, seen in shown.items() if seen["action_mask"].any())
            assert env.observation_space[name].contains(shown[name])
            chosen = int(greedy.act(bare.unwrapped.view(name), rng)[0])
            shown, rewards, ends, truncated, _ = env.step(dict.fromkeys(shown, 0) | {name: chosen})
            assert not truncated["__all__"]
            hand.update(rewards)
        assert set(ends) == {*env.possible_agents, "__all__"}
        assert sum(hand.values()) == 0
        paid.update({name: abs(points) for name, points in hand.items()})
    assert min(paid.values()) > 0
    check_multiagent_environments(env)


def test_what_the_page_says_learns():
    (block,) = code_blocks("python", ROOT / "docs" / "cluster.md")
    names = {"__name__": "cluster"}
    with small_cluster(1):
        exec(compile(block, "docs/cluster.md", "exec"), names)
    found = names["result"]["env_runners"]
    assert found["num_env_steps_sampled"] >= 512
    assert found["episode_len_mean"] > 30  # nobody plays what ends a game
