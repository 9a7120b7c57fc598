"""New episodes in the same step, in the next one, or when asked for; and the three forms of an observation."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import mahjong_env
from mahjong_env import NUM_ACTIONS, Deal, OptionError, RulesError, rules
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv

HEBEI = "mahjong_env/Hebei-v0"
MODES = [mode.name.lower() for mode in AutoresetMode]
PLANES = mahjong_env.make_engine("hebei").observation_shape
FORMS = {"flat": (PLANES[0] * PLANES[1],), "planes": PLANES, "dict": PLANES}

pytestmark = pytest.mark.filterwarnings("error")


def chosen(envs, rng):
    masks = envs.unwrapped.action_masks()
    actions = np.zeros(len(masks), np.int64)
    asked = masks.any(axis=1)
    actions[asked] = choose_at_random(masks[asked], rng)
    return actions


def layout(answer):
    if isinstance(answer, dict):
        return {key: layout(answer[key]) for key in sorted(answer) if "outcome" not in key}
    return (answer.dtype, answer.shape) if isinstance(answer, np.ndarray) else type(answer)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_answers_are_laid_out_as_gymnasium_does(mode, form):
    """The batched environment against Gymnasium's own loop over single ones, in the same mode."""
    batched = gymnasium.make_vec(HEBEI, num_envs=4, observation=form, autoreset_mode=mode)
    looped = gymnasium.make_vec(
        HEBEI, num_envs=4, observation=form, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
    )
    assert batched.metadata["autoreset_mode"] is looped.metadata["autoreset_mode"] is mode
    assert batched.observation_space == looped.observation_space
    ours, theirs = layouts(batched, mode), layouts(looped, mode)
    assert ours == theirs
    assert {is_over for is_over, _ in ours} == {True, False}


def layouts(envs, mode):
    """Plays at random; how answers look in which nothing ends, and in which something does."""
    rng, over = np.random.default_rng(0), np.zeros(4, bool)
    seen = {(False, str(layout(envs.reset(seed=1)[1])))}
    for _ in range(60):
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


def test_a_seed_for_some_tables_deals_their_cards_of_that_seed():
    envs = gymnasium.make_vec(HEBEI, num_envs=4, seat=0)
    envs.reset(seed=5)
    walls = envs.unwrapped.engine.state.wall.copy()
    envs.reset(seed=1)
    mask = np.array([True, False, True, False])
    envs.reset(seed=5, options={"reset_mask": mask})
    same = (envs.unwrapped.engine.state.wall == walls).all(axis=1)
    assert same.tolist() == mask.tolist()


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros(4, bool), "names no table"),
        (np.ones(3, bool), r"array of 4 booleans, not bool of shape \(3,\)"),
        (np.ones(4, np.int64), "array of 4 booleans, not int64"),
        ([1, 0, 0, 0], r"array of 4 booleans, not \[1, 0, 0, 0\]"),
        (2, "array of 4 booleans, not 2"),
        ("all", "array of 4 booleans, not 'all'"),
    ],
)
def test_a_mask_is_an_array_of_booleans(mask, message):
    envs = gymnasium.make_vec(HEBEI, num_envs=4)
    envs.reset(seed=1)
    before = envs.unwrapped.engine.snapshot().to_bytes()
    with pytest.raises(OptionError, match=message):
        envs.reset(options={"reset_mask": mask})
    assert envs.unwrapped.engine.snapshot().to_bytes() == before
    envs.reset(options={"reset_mask": [True, False, False, True]})


def test_the_first_reset_is_one_of_all_tables():
    envs = gymnasium.make_vec(HEBEI, num_envs=2)
    with pytest.raises(gymnasium.error.ResetNeeded, match="no table has begun"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"reset\(\)"):
        envs.step([0, 0])


def test_without_autoreset_a_table_that_is_over_is_not_played():
    envs = gymnasium.make_vec(HEBEI, num_envs=3, autoreset_mode="disabled")
    envs.reset(seed=1)
    actions = chosen(envs, np.random.default_rng(0))
    actions[1] = NUM_ACTIONS
    _, rewards, terminations, _, infos = envs.step(actions)
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
    envs = gymnasium.make_vec(HEBEI, num_envs=3, autoreset_mode="next_step")
    envs.reset(seed=1)
    actions = chosen(envs, np.random.default_rng(0))
    actions[1] = NUM_ACTIONS
    _, _, terminations, _, infos = envs.step(actions)
    assert terminations[1]
    actions = chosen(envs, np.random.default_rng(0))
    actions[1] = NUM_ACTIONS
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


@pytest.mark.parametrize("wrong", ["never", 3, None, True])
def test_a_wrong_mode_names_the_valid_ones(wrong):
    with pytest.raises(RulesError, match="'next_step', 'same_step', 'disabled'"):
        MahjongVectorEnv(2, "hebei", autoreset_mode=wrong)


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


@pytest.mark.parametrize("form", FORMS)
def test_checkers_take_every_form(form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(HEBEI, observation=form).unwrapped, skip_render_check=True)
    envs = gymnasium.make_vec(HEBEI, num_envs=3, observation=form)
    observations, infos = envs.reset(seed=1)
    for _ in range(30):
        assert envs.observation_space.contains(observations)
        if form == "dict":
            assert np.array_equal(observations["action_mask"], infos["action_mask"])
        observations, _, terminations, _, infos = envs.step(chosen(envs, np.random.default_rng(0)))
        for game in np.flatnonzero(terminations):
            last = infos["final_obs"][game]
            assert envs.single_observation_space.contains(last)
            assert form != "dict" or not last["action_mask"].any()
