"""Many learning seats at once as a Gymnasium vector environment: autoreset modes, forms of an observation, seeds."""

from __future__ import annotations

from itertools import pairwise

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mahjong_env
from mahjong_env import NUM_ACTIONS, Deal, rules
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.environments.registration import ENTRY_MODULES, gymnasium_id
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv

IDS = sorted(gymnasium_id(*entry) for entry in ENTRY_MODULES.values())
HEBEI = "mahjong_env/Hebei-v0"

pytestmark = pytest.mark.filterwarnings("error")


def chosen(envs, rng):
    masks = envs.unwrapped.action_masks()
    actions = np.zeros(len(masks), np.int64)
    asked = masks.any(axis=1)
    actions[asked] = choose_at_random(masks[asked], rng)
    return actions


def test_same_seed_same_games():
    answers = []
    for _ in range(2):
        envs = gymnasium.make_vec(HEBEI, num_envs=5)
        observations, infos = envs.reset(seed=9)
        rng = np.random.default_rng(9)
        seen = [observations, infos["seat"]]
        for _ in range(100):
            observations, rewards, *_ = envs.step(chosen(envs, rng))
            seen += [observations, rewards]
        answers.append(seen)
    assert all(np.array_equal(a, b) for a, b in zip(*answers, strict=True))
    assert not np.array_equal(gymnasium.make_vec(HEBEI, num_envs=5).reset(seed=10)[0], answers[0][0])


def test_arrays_are_fresh():
    envs = gymnasium.make_vec(HEBEI, num_envs=4)
    rng = np.random.default_rng(0)
    envs.reset(seed=1)
    kept = []
    for _ in range(120):
        answer = envs.step(chosen(envs, rng))
        arrays = [*answer[:4], *(part for part in answer[4].values() if isinstance(part, np.ndarray))]
        parts = [part for part in arrays if part.dtype != object]
        kept.append([(part, part.copy()) for part in parts])
    for step in kept:
        for part, copy in step:
            assert np.array_equal(part, copy)
    for one, other in pairwise(kept):
        assert not any(np.shares_memory(a, b) for a, _ in one for b, _ in other)


def after_illegal_actions(mode, tables=3, wrong=(1,), **settings):
    """Tables at the first step of which illegal actions were taken at some; and what they answered."""
    envs = gymnasium.make_vec(HEBEI, num_envs=tables, autoreset_mode=mode, **settings)
    envs.reset(seed=1)
    actions = chosen(envs, np.random.default_rng(0))
    actions[list(wrong)] = NUM_ACTIONS
    answer = envs.step(actions)
    assert not answer[3].any()
    return envs, actions, *answer[1:3], answer[4]


def test_illegal_actions_end_their_episodes_alone():
    _, _, rewards, terminations, infos = after_illegal_actions("same_step", 6, (2, 4), illegal_reward=-2)
    assert rewards[[2, 4]].tolist() == [-2 * mahjong_env.rules("hebei").sigma] * 2
    assert terminations[[2, 4]].all()
    assert infos["final_info"]["illegal_action"][[2, 4]].all()
    assert not infos["final_info"]["action_mask"][[2, 4]].any()
    assert infos["action_mask"].any(axis=1).all(), "new episodes have begun"
    others = [0, 1, 3, 5]
    assert not infos["final_info"]["illegal_action"][others].any()
    assert (rewards[others] == 0).any()


def test_learning_seats_are_drawn_anew():
    envs = gymnasium.make_vec(HEBEI, num_envs=60)
    _, infos = envs.reset(seed=1)
    assert set(infos["seat"].tolist()) == {0, 1, 2}
    rng = np.random.default_rng(0)
    changed = 0
    for _ in range(60):
        before = infos["seat"]
        infos = envs.step(chosen(envs, rng))[-1]
        assert (envs.unwrapped.engine.seat_to_act == infos["seat"]).all(), "every table waits for its learning seat"
        assert infos["action_mask"].any(axis=1).all()
        is_new = infos.get("_final_obs", np.zeros(60, bool))
        assert (infos["seat"] == before)[~is_new].all(), "a person learns through a whole episode"
        changed += (infos["seat"] != before).sum()
    assert changed > 10


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


MODES = [mode.name.lower() for mode in AutoresetMode]
PLANES = mahjong_env.make_engine("hebei").observation_shape
FORMS = {"flat": (PLANES[0] * PLANES[1],), "planes": PLANES, "dict": PLANES}


def layout(answer):
    if isinstance(answer, dict):
        return {key: layout(answer[key]) for key in sorted(answer) if "outcome" not in key}
    return (answer.dtype, answer.shape) if isinstance(answer, np.ndarray) else type(answer)


@pytest.mark.parametrize(
    ("name", "mode", "form"),
    [
        *((name, AutoresetMode.SAME_STEP, "flat") for name in IDS),
        *((HEBEI, mode, form) for mode in AutoresetMode for form in FORMS),
    ],
)
def test_answers_are_laid_out_as_gymnasium_does(name, mode, form):
    """The batched environment against Gymnasium's own loop over single ones, in the same mode."""
    asked = {"num_envs": 4, "observation": form, "privileged": form == "planes"}
    batched = gymnasium.make_vec(name, autoreset_mode=mode, **asked)
    looped = gymnasium.make_vec(name, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}, **asked)
    assert batched.metadata["autoreset_mode"] is looped.metadata["autoreset_mode"] is mode
    for space in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(batched, space) == getattr(looped, space)
    ours, theirs = layouts(batched, mode), layouts(looped, mode)
    assert ours == theirs
    assert {is_over for is_over, _ in ours} == {True, False}


def layouts(envs, mode):
    """Plays at random; how answers look in which nothing ends, and in which something does."""
    rng, over = np.random.default_rng(0), np.zeros(4, bool)
    seen = {(False, str(layout(envs.reset(seed=1)[1])))}
    for _ in range(80):
        was_over = over
        masks = masks_of(envs)
        actions = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else 0 for mask in masks])
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        over = terminations | truncations
        assert envs.observation_space.contains(observations)
        if mode is AutoresetMode.NEXT_STEP:
            assert not (over & was_over).any()
            assert (rewards[was_over] == 0).all()
        assert (not masks_of(envs)[over].any()) == (mode is not AutoresetMode.SAME_STEP) or not over.any()
        if "final_obs" in infos:
            assert infos["_final_obs"].tolist() == over.tolist() == infos["_final_info"].tolist()
            assert all(envs.single_observation_space.contains(one) for one in infos["final_obs"][over])
            assert all(one is None for one in infos["final_obs"][~over])
        answer = [observations, rewards, terminations, truncations, infos]
        seen.add((bool(over.any()), str([layout(part) for part in answer])))
        if mode is AutoresetMode.DISABLED and over.any():
            after, infos = envs.reset(options={"reset_mask": over})
            assert infos["_action_mask"].tolist() == over.tolist()
            assert_same_rows(observations, after, ~over)
            seen.add((True, str(layout(infos))))
    return seen


def masks_of(envs):
    if isinstance(envs.unwrapped, MahjongVectorEnv):
        return envs.unwrapped.action_masks()
    return np.array(envs.unwrapped.call("action_masks"))


def assert_same_rows(one, other, rows):
    if isinstance(one, dict):
        for name in one:
            assert np.array_equal(one[name][rows], other[name][rows])
    else:
        assert np.array_equal(one[rows], other[rows])


@pytest.mark.parametrize("mode", MODES)
def test_critics_are_told_what_lies_behind_every_observation(mode):
    envs = gymnasium.make_vec(HEBEI, num_envs=6, privileged=True, autoreset_mode=mode)
    engine, ended, told, infos = envs.unwrapped.engine, 0, np.ones(6, bool), envs.reset(seed=5)[1]
    for _ in range(120):
        assert infos["_privileged"].tolist() == told.tolist()
        shown = engine.observe(told.nonzero()[0], infos["seat"][told], privileged=True)
        assert np.array_equal(infos["privileged"][told], shown)
        _, _, terminations, truncations, infos = envs.step(envs.unwrapped.action_masks().argmax(axis=1))
        over, told = terminations | truncations, np.ones(6, bool)
        ended += over.sum()
        if "final_info" in infos:
            assert infos["final_info"]["_privileged"].tolist() == over.tolist()
        if mode == "disabled" and over.any():
            told, infos = over, envs.reset(options={"reset_mask": over})[1]
    assert ended > 3


def test_a_final_info_tells_of_the_table_that_is_over():
    same, kept = (
        gymnasium.make_vec(HEBEI, num_envs=1, seat=0, privileged=True, autoreset_mode=mode)
        for mode in ("same_step", "disabled")
    )
    told = [envs.reset(seed=4)[1] for envs in (same, kept)]
    while "final_info" not in told[0]:
        told = [envs.step(envs.unwrapped.action_masks().argmax(axis=1))[4] for envs in (same, kept)]
    assert np.array_equal(told[0]["final_info"]["privileged"], told[1]["privileged"])
    assert told[0]["final_info"]["outcome"][0] == told[1]["outcome"][0]
    assert not told[0]["final_info"]["action_mask"].any()
    assert not np.array_equal(told[0]["privileged"], told[1]["privileged"])


def test_only_the_tables_of_a_mask_are_reset():
    for mode in MODES:
        envs = gymnasium.make_vec(HEBEI, num_envs=6, seat=0, autoreset_mode=mode)
        envs.reset(seed=1)
        rng = np.random.default_rng(0)
        for _ in range(5):
            observations, *_ = envs.step(chosen(envs, rng))
        engine = envs.unwrapped.engine
        before, dealt = engine.select(np.arange(6)), engine.state.hands_dealt.copy()
        mask = np.array([False, True, False, False, True, False])
        after, infos = envs.reset(options={"reset_mask": mask, "deal": Deal(hands=("1122334455667m",), dealer=0)})
        for name, array in engine.state.arrays().items():
            assert np.array_equal(array[~mask], before.state.arrays()[name][~mask]), name
        assert (engine.state.hands_dealt > dealt).tolist() == mask.tolist()
        assert np.array_equal(after[~mask], observations[~mask])
        assert not np.array_equal(after[mask], observations[mask])
        for name in ("action_mask", "seat"):
            assert infos[f"_{name}"].tolist() == mask.tolist()
        assert not infos["action_mask"][~mask].any()
        envs.step(chosen(envs, rng))


def test_the_first_reset_is_one_of_all_tables():
    envs = gymnasium.make_vec(HEBEI, num_envs=2)
    with pytest.raises(gymnasium.error.ResetNeeded, match="no table has begun"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"reset\(\)"):
        envs.step([0, 0])


def test_without_autoreset_a_table_that_is_over_is_not_played():
    envs, actions, rewards, terminations, infos = after_illegal_actions("disabled")
    assert terminations.tolist() == [False, True, False]
    assert rewards[1] == pytest.approx(-3 * rules("hebei").sigma)
    assert infos["illegal_action"].tolist() == infos["_illegal_action"].tolist() == [False, True, False]
    assert not infos["action_mask"][1].any()
    assert "final_obs" not in infos
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episodes at the tables 1 are over"):
        envs.step(actions)
    envs.reset(options={"reset_mask": terminations})
    _, _, terminations, _, infos = envs.step(chosen(envs, np.random.default_rng(0)))
    assert not terminations[1]
    assert "illegal_action" not in infos


def test_in_the_next_step_an_action_is_ignored():
    envs, actions, _, terminations, _ = after_illegal_actions("next_step")
    assert terminations[1]
    observations, rewards, terminations, _, infos = envs.step(actions)
    assert (rewards[1], terminations[1]) == (0, False)
    assert infos["action_mask"][1].any()
    assert np.array_equal(observations[1], envs.unwrapped.engine.observe(games=[1], seats=[infos["seat"][1]]).ravel())
    with pytest.raises(mahjong_env.ActionError, match="3 integers"):
        envs.step(actions[:2])


@pytest.mark.parametrize("mode", [*AutoresetMode, "NextStep", "NEXT_STEP", "disabled"])
def test_a_mode_may_be_written(mode):
    assert isinstance(
        gymnasium.make_vec(HEBEI, num_envs=2, autoreset_mode=mode).metadata["autoreset_mode"], AutoresetMode
    )
    assert MahjongVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP, "the class keeps its own"


# --- Forms of an observation ------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_forms_are_the_same_observation(form):
    flat, other = SingleSeatEnv("hebei", seat=1), SingleSeatEnv("hebei", seat=1, observation=form)
    answers = [flat.reset(seed=1), other.reset(seed=1)]
    for _ in range(12):
        (expected, info), (observation, _) = answers
        assert other.observation_space.contains(observation)
        planes = observation
        if form == "dict":
            assert observation["action_mask"].tolist() == info["action_mask"].tolist()
            planes = observation["observation"]
        assert planes.shape == FORMS[form]
        assert np.array_equal(planes.ravel(), expected)
        action = int(info["action_mask"].argmax())
        steps = [flat.step(action), other.step(action)]
        if steps[0][2]:
            break
        answers = [(step[0], step[-1]) for step in steps]
