"""RLlib's environments, module and PPO: masks respected, rewards complete, and one variant learned a little."""

from __future__ import annotations

import importlib
import os
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_env import VARIANTS, IllegalActionError, hebei_v0, rules
from mahjong_training.rllib.tables import Tables
from support.cluster import REASON, small_cluster
from tools.readme import code_blocks

EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples"
HEBEI = {"variant": "hebei", "seed": 3, "scale": 0.5, "shaping": 0.3}


def play(tables, steps, rng):
    """Random legal play, dealt anew where a hand is over; [B, P] what everybody was paid in the hands that ended."""
    now, paid, closer = tables.observe(), [], []
    total = np.zeros((tables.number, tables.rules.people))
    shaped = np.zeros_like(total)
    for _ in range(steps):
        live = np.flatnonzero(now.person >= 0)
        actions = np.array([rng.choice(np.flatnonzero(now.masks[game])) for game in live], np.int64)
        gained, over = tables.act(live, actions)
        total[live] += gained
        shaped[live] += gained
        ended = live[over]
        paid += list(total[ended])
        closer += list(shaped[ended])
        total[ended] = shaped[ended] = 0
        if ended.size:
            tables.deal(ended)
        now = tables.observe()
        games = np.flatnonzero(now.person >= 0)
        shaped[games, now.person[games]] += now.closer[games]
    return np.array(paid), np.array(closer)


class TestTables:
    def test_without_shaping_everybody_is_paid_the_points(self):
        paid, _ = play(Tables(rules("hebei"), 8, seed=1, scale=0.5), 300, np.random.default_rng(0))
        assert len(paid) > 8
        np.testing.assert_allclose(paid.sum(axis=1), 0)
        assert (paid * 2 == np.round(paid * 2)).all()
        assert paid.any()

    def test_shaping_pays_in_all_the_distance_at_the_beginning(self):
        """A potential: what it pays over a hand depends on the deal alone, whatever is played."""
        tables = Tables(rules("hebei"), 8, seed=1, scale=0.0, shaping=1.0)
        _, shaped = play(tables, 300, np.random.default_rng(0))
        assert len(shaped) > 8
        assert (shaped == np.round(shaped)).all()
        assert (shaped >= 0).all()
        assert (shaped <= 8).all()
        assert 2 < shaped.mean() < 5

    def test_what_is_over_shows_nothing(self):
        tables = Tables(rules("hebei"), 2, seed=1)
        rng = np.random.default_rng(0)
        now = tables.observe()
        while (now.person >= 0).all():
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in now.masks], np.int64)
            tables.act(np.arange(2), actions)
            now = tables.observe()
        assert not now.masks[now.person < 0].any()
        assert now.masks[now.person >= 0].any(axis=1).all()


ray = pytest.mark.skipif(not __import__("importlib.util").util.find_spec("ray"), reason=REASON)


def legal(shown, rng):
    return {name: int(rng.choice(np.flatnonzero(seen["action_mask"]))) for name, seen in shown.items()}


@ray
@pytest.mark.thorough
@pytest.mark.distributed
class TestEnvironments:
    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_every_variant_is_registered(self, variant):
        from ray.tune.registry import ENV_CREATOR, _global_registry

        from mahjong_training.rllib.environments import register

        assert f"mahjong_env/{variant}" in register()
        env = _global_registry.get(ENV_CREATOR, f"mahjong_env/{variant}")({"seed": 2})
        rng, hands = np.random.default_rng(1), 0
        shown, _ = env.reset(seed=5)
        while hands < 2:
            (name,) = shown
            assert env.observation_spaces[name].contains(shown[name])
            shown, rewards, ends, truncated, _ = env.step(legal(shown, rng))
            assert set(rewards) == set(env.possible_agents)
            assert truncated == {"__all__": False}
            if ends["__all__"]:
                hands += 1
                assert set(shown) == set(env.possible_agents)
                shown, _ = env.reset()

    def test_a_batch_plays_as_its_tables_would(self):
        from mahjong_training.rllib.environments import BatchedTables, TableEnv

        batch, one = BatchedTables(HEBEI, 4), TableEnv(HEBEI)
        shown = batch.reset(seed=9)[0]
        np.testing.assert_equal(shown[0], one.reset(seed=9)[0])
        rng, is_over, ended = np.random.default_rng(1), False, 0
        for _ in range(400):
            actions = [legal(seen, rng) if len(seen) == 1 else {} for seen in shown]
            result = batch.step(actions)
            if is_over:
                found = (one.reset()[0], {}, {"__all__": False})
            else:
                found = one.step(actions[0])[:3]
            shown, rewards, ends = result[0], result[1], result[2]
            assert ends[0] == found[2]
            np.testing.assert_equal(shown[0], found[0])
            if not is_over:
                assert rewards[0] == pytest.approx(found[1])
            is_over = ends[0]["__all__"]
            ended += is_over
        assert ended > 2

    def test_an_illegal_action_raises(self):
        from mahjong_training.rllib.environments import TableEnv

        env = TableEnv(HEBEI)
        shown, _ = env.reset()
        ((name, seen),) = shown.items()
        with pytest.raises(IllegalActionError):
            env.step({name: int(np.flatnonzero(seen["action_mask"] == 0)[0])})


@ray
@pytest.mark.thorough
@pytest.mark.distributed
class TestRllibsOwnWrapper:
    @pytest.mark.parametrize("is_parallel", [False, True])
    def test_it_plays_whole_games_and_passes_the_check(self, is_parallel):
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

    def test_what_the_page_says_learns(self):
        (block,) = code_blocks("python", EXAMPLES.parents[1] / "docs" / "cluster.md")
        names = {"__name__": "cluster"}
        with small_cluster(1):
            exec(compile(block, "docs/cluster.md", "exec"), names)
        found = names["result"]["env_runners"]
        assert found["num_env_steps_sampled"] >= 512
        assert found["episode_len_mean"] > 30  # nobody plays what ends a game


def ppo_of(*, runners):
    """A small configuration."""
    from mahjong_training.rllib.learning import ppo

    settings = ppo("hebei", scale=0.3, runners=runners, tables=16)
    return settings.training(train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1)


def runner_of(algorithm):
    """The process of the only runner, and the seed of its hands."""

    def look(runner):
        return {"pid": os.getpid(), "seed": int(runner.env.tables.engine.state.seed[0])}

    (found,) = algorithm.env_runner_group.foreach_env_runner(look, local_env_runner=False)
    return found


@ray
@pytest.mark.thorough
@pytest.mark.distributed
class TestLearning:
    def test_the_module_never_chooses_what_the_mask_forbids(self):
        import torch
        from ray.rllib.core.columns import Columns

        from mahjong_training.rllib.environments import BatchedTables
        from mahjong_training.rllib.learning import LEARNER, ppo

        env = BatchedTables(HEBEI, 8)
        spec = ppo("hebei", scale=1.0).get_multi_rl_module_spec(env=env)
        module = spec.build()[LEARNER]
        seen = [next(iter(shown.values())) for shown in env.reset(seed=1)[0]]
        batch = {
            Columns.OBS: {key: torch.as_tensor(np.stack([one[key] for one in seen])) for key in seen[0]},
        }
        mask = batch[Columns.OBS]["action_mask"].bool()
        for forward in (module.forward_exploration, module.forward_inference, module.forward_train):
            probability = torch.softmax(forward(batch)[Columns.ACTION_DIST_INPUTS], dim=1)
            assert (probability[~mask] == 0).all()
            assert (probability[mask] > 0).all()

    def test_a_runner_that_is_killed_is_replaced(self):
        """RLlib starts it again, and it is dealt other hands than before."""
        from mahjong_training.rllib.learning import decisions_of

        with small_cluster(2):
            settings = ppo_of(runners=1)
            algorithm = settings.build_algo()
            first = runner_of(algorithm)
            algorithm.train()
            os.kill(first["pid"], signal.SIGKILL)
            end = time.monotonic() + 300
            while not decisions_of(algorithm.train()) and time.monotonic() < end:
                time.sleep(1)  # it is being started
            second = runner_of(algorithm)
            assert decisions_of(algorithm.train()) >= 256
            algorithm.stop()
        assert second["pid"] != first["pid"]
        assert second["seed"] != first["seed"]

    def test_the_example_goes_on_where_it_was_stopped(self, tmp_path, capsys, monkeypatch):
        from mahjong_training.rllib import learning

        monkeypatch.syspath_prepend(str(EXAMPLES))
        monkeypatch.setattr(learning, "BATCH", 256)
        example = importlib.import_module("rllib_ppo")
        begun = []

        def one_update(found):
            if begun:
                raise KeyboardInterrupt
            begun.append(found)
            return learning.decisions_of(found)

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

    def test_ppo_learns_with_a_batch_and_leaves_a_policy(self, tmp_path):
        from mahjong_training.rllib.learning import LEARNER, write_policy

        with small_cluster(1):
            algorithm = ppo_of(runners=0).build_algo()
            before = {name: array.clone() for name, array in algorithm.get_module(LEARNER).state_dict().items()}
            found = algorithm.train()
            assert found["env_runners"]["num_env_steps_sampled_lifetime"] >= 256
            after = algorithm.get_module(LEARNER).state_dict()
            assert any((after[name] != array).any() for name, array in before.items())
            write_policy(algorithm, "hebei", tmp_path / "p.zip", decisions=512)
            algorithm.stop()
        assert make_agent(f"policy:{tmp_path}/p.zip").variant == "hebei"
