"""Many learning seats at once as a Gymnasium vector environment."""

from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mahjong_env
from mahjong_env import NUM_ACTIONS, Deal, IllegalActionError
from mahjong_env.environments.agents import RandomAgent, choose_at_random
from mahjong_env.environments.registration import ENTRY_MODULES, gymnasium_id

IDS = sorted(gymnasium_id(*entry) for entry in ENTRY_MODULES.values())
HEBEI = "mahjong_env/Hebei-v0"

pytestmark = pytest.mark.filterwarnings("error")


def legal(envs, rng):
    return choose_at_random(envs.unwrapped.action_masks(), rng)


@pytest.mark.parametrize("name", IDS)
def test_answers_are_laid_out_as_gymnasium_does(name):
    """The batched environment against Gymnasium's own loop over single ones, in the same mode."""
    batched = gymnasium.make_vec(name, num_envs=6)
    looped = gymnasium.make_vec(
        name, num_envs=6, vectorization_mode="sync", vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP}
    )
    assert batched.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    for space in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(batched, space) == getattr(looped, space)

    def layout(answer):
        if isinstance(answer, dict):
            return {key: layout(value) for key, value in answer.items() if "outcome" not in key}
        return (answer.dtype, answer.shape) if isinstance(answer, np.ndarray) else type(answer)

    layouts = []
    for envs in (batched, looped):
        rng = np.random.default_rng(0)
        _, infos = envs.reset(seed=1)
        first = layout(infos)
        while "final_obs" not in infos:
            answers = envs.step(choose_at_random(infos["action_mask"].astype(bool), rng))
            infos = answers[-1]
        is_final = infos["_final_obs"]
        assert is_final.tolist() == (answers[2] | answers[3]).tolist() == infos["_final_info"].tolist()
        assert all(envs.single_observation_space.contains(seen) for seen in infos["final_obs"][is_final])
        assert all(seen is None for seen in infos["final_obs"][~is_final])
        layouts.append((first, [layout(answer) for answer in answers]))
    assert layouts[0] == layouts[1]


@pytest.mark.parametrize("name", IDS)
def test_returns_are_points(name):
    """What the learning seats are paid is what their persons have in the end."""
    n = 8
    envs = gymnasium.make_vec(name, num_envs=n, seat=0)
    rng = np.random.default_rng(1)
    envs.reset(seed=2)
    total = np.zeros(n)
    for _ in range(300):
        observations, rewards, terminations, truncations, infos = envs.step(legal(envs, rng))
        assert envs.observation_space.contains(observations)
        assert rewards.dtype == np.float64
        assert infos["action_mask"].any(axis=1).all(), "every table waits for its learning seat"
        assert (envs.unwrapped.engine.seat_to_act == infos["seat"]).all()
        total += rewards
        for game in np.flatnonzero(terminations | truncations):
            points = infos["final_info"]["outcome"][game]["points"]
            assert total[game] == points[0] - envs.unwrapped.engine.rules.starting_points
            assert not infos["final_info"]["action_mask"][game].any()
            total[game] = 0


def test_same_seed_same_games():
    answers = []
    for _ in range(2):
        envs = gymnasium.make_vec(HEBEI, num_envs=5)
        observations, infos = envs.reset(seed=9)
        rng = np.random.default_rng(9)
        seen = [observations, infos["seat"]]
        for _ in range(100):
            observations, rewards, *_ = envs.step(legal(envs, rng))
            seen += [observations, rewards]
        answers.append(seen)
    assert all(np.array_equal(a, b) for a, b in zip(*answers, strict=True))
    assert not np.array_equal(gymnasium.make_vec(HEBEI, num_envs=5).reset(seed=10)[0], answers[0][0])


def test_deals_differ_between_tables_and_not_with_their_number():
    few = gymnasium.make_vec(HEBEI, num_envs=3, seat=0)
    many = gymnasium.make_vec(HEBEI, num_envs=7, seat=0)
    few.reset(seed=1)
    many.reset(seed=1)
    walls = many.unwrapped.engine.state.wall
    assert np.array_equal(few.unwrapped.engine.state.wall, walls[:3])
    assert len(np.unique(walls, axis=0)) == 7


def test_arrays_are_fresh():
    envs = gymnasium.make_vec(HEBEI, num_envs=4)
    rng = np.random.default_rng(0)
    envs.reset(seed=1)
    kept = []
    for _ in range(120):
        answer = envs.step(legal(envs, rng))
        arrays = [*answer[:4], *(part for part in answer[4].values() if isinstance(part, np.ndarray))]
        parts = [part for part in arrays if part.dtype != object]
        kept.append([(part, part.copy()) for part in parts])
    for step in kept:
        for part, copy in step:
            assert np.array_equal(part, copy)
    for one, other in pairwise(kept):
        assert not any(np.shares_memory(a, b) for a, _ in one for b, _ in other)


def test_opponents_answer_in_batches():
    class Counting(RandomAgent):
        sizes = ()

        def act(self, view, rng):
            self.sizes += (len(view),)
            return super().act(view, rng)

    first, second = Counting(), Counting()
    envs = gymnasium.make_vec(HEBEI, num_envs=64, seat=0, opponents=[first, second])
    envs.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        envs.step(legal(envs, rng))
    for agent in (first, second):
        assert max(agent.sizes) > 16
        assert len(agent.sizes) < 20 * 10, "far fewer calls than decisions"


def test_illegal_actions_end_their_episodes_alone():
    envs = gymnasium.make_vec(HEBEI, num_envs=6, illegal_reward=-2)
    _, infos = envs.reset(seed=1)
    actions = legal(envs, np.random.default_rng(0))
    actions[2] = int(np.flatnonzero(infos["action_mask"][2] == 0)[0])
    actions[4] = NUM_ACTIONS + 5
    _, rewards, terminations, truncations, infos = envs.step(actions)
    assert rewards[[2, 4]].tolist() == [-2 * mahjong_env.rules("hebei").sigma] * 2
    assert terminations[[2, 4]].all()
    assert not truncations.any()
    assert infos["final_info"]["illegal_action"][[2, 4]].all()
    assert not infos["final_info"]["action_mask"][[2, 4]].any()
    assert infos["action_mask"].any(axis=1).all(), "new episodes have begun"
    others = [0, 1, 3, 5]
    assert not infos["final_info"]["illegal_action"][others].any()
    assert (rewards[others] == 0).any()


def test_illegal_actions_raise_where_that_is_wanted():
    envs = gymnasium.make_vec(HEBEI, num_envs=3, on_illegal="raise")
    _, infos = envs.reset(seed=1)
    before = envs.unwrapped.engine.snapshot().to_bytes()
    actions = legal(envs, np.random.default_rng(0))
    actions[1] = int(np.flatnonzero(infos["action_mask"][1] == 0)[0])
    with pytest.raises(IllegalActionError, match="game 1"):
        envs.step(actions)
    assert envs.unwrapped.engine.snapshot().to_bytes() == before


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float64), np.zeros(4, np.int64), 0])
def test_actions_are_one_integer_for_each_table(wrong):
    envs = gymnasium.make_vec(HEBEI, num_envs=3)
    envs.reset(seed=1)
    with pytest.raises(mahjong_env.ActionError, match="3 integers"):
        envs.step(wrong)


def test_learning_seats_are_drawn_anew():
    envs = gymnasium.make_vec(HEBEI, num_envs=60)
    _, infos = envs.reset(seed=1)
    assert set(infos["seat"].tolist()) == {0, 1, 2}
    rng = np.random.default_rng(0)
    changed = 0
    for _ in range(60):
        before = infos["seat"]
        infos = envs.step(legal(envs, rng))[-1]
        is_new = infos.get("_final_obs", np.zeros(60, bool))
        assert (infos["seat"] == before)[~is_new].all(), "a person learns through a whole episode"
        changed += (infos["seat"] != before).sum()
    assert changed > 10


def test_gymnasium_s_statistics_take_it():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(gymnasium.make_vec(HEBEI, num_envs=8))
    envs.reset(seed=1)
    rng = np.random.default_rng(0)
    lengths = []
    for _ in range(80):
        *_, infos = envs.step(legal(envs, rng))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert len(lengths) > 5
    assert min(lengths) > 0


def test_infos_can_be_listed():
    envs = gymnasium.wrappers.vector.DictInfoToList(gymnasium.make_vec(HEBEI, num_envs=4))
    _, infos = envs.reset(seed=1)
    assert [sorted(info) for info in infos] == [["action_mask", "seat"]] * 4
    rng = np.random.default_rng(0)
    while not any("final_info" in info for info in infos):
        *_, infos = envs.step(legal(envs, rng))
    (final, *_) = (info["final_info"] for info in infos if "final_info" in info)
    assert final["outcome"]["points"]


def test_actions_can_be_sampled_with_masks():
    envs = gymnasium.make_vec(HEBEI, num_envs=4)
    _, infos = envs.reset(seed=1)
    sampled = envs.action_space.sample(mask=tuple(infos["action_mask"]))
    assert infos["action_mask"][np.arange(4), sampled].all()


def test_deals_and_rendering():
    envs = gymnasium.make_vec(HEBEI, num_envs=2, seat=0, render_mode="ansi")
    envs.reset(seed=1, options={"deal": Deal(hands=("1122334455667m",), dealer=0)})
    texts = envs.render()
    assert len(texts) == 2
    assert all("hand     1122334455667m" in text for text in texts)
    with pytest.raises(ValueError, match="'ansi', 'rgb_array' and None"):
        gymnasium.make_vec(HEBEI, num_envs=2, render_mode="human")


def test_each_table_may_have_a_seed_of_its_own():
    envs = gymnasium.make_vec(HEBEI, num_envs=3, seat=0)
    seeds = [7, None, 3]
    envs.reset(seed=1)
    wall = envs.unwrapped.engine.state.wall
    before = wall.copy()
    envs.reset(seed=seeds)
    for number, seed in enumerate(seeds):
        alone = gymnasium.make(HEBEI, seat=0)
        alone.reset(seed=seed)
        is_the_same = (wall[number] == alone.unwrapped.engine.state.wall[0]).all()
        assert is_the_same if seed is not None else not (wall[number] == before[number]).all()
    after = wall.copy()
    envs.reset(seed=1)
    envs.reset(seed=seeds)
    assert (wall == after).all()
    mask = np.array([False, True, False])
    envs.reset(seed=[1, 2, 3], options={"reset_mask": mask})
    assert ((wall == after).all(axis=1) == ~mask).all()
