"""The tables of docs/wrappers.md, row by row: what is said to work works, and the rest fails."""

import importlib
import importlib.util
import re
import warnings
from functools import partial
from pathlib import Path

import gymnasium
import gymnasium.wrappers
import gymnasium.wrappers.vector
import numpy as np
import pytest
from gymnasium.spaces import Box

import mahjong_env
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv

# Older ones lack some of the wrappers, and others of theirs behaved differently.
pytestmark = pytest.mark.skipif(
    tuple(map(int, gymnasium.__version__.split(".")[:2])) < (1, 4), reason="the page is about Gymnasium 1.4"
)

HEBEI = "mahjong_env/Hebei-v0"
PAGE = (Path(__file__).parents[2] / "docs" / "wrappers.md").read_text(encoding="utf-8")
STEPS, PICTURES = 60, 3
SHAPE = mahjong_env.make_engine("hebei").observation_shape
SIZE = SHAPE[0] * SHAPE[1]
ANSWERS = {"yes", "no"}


def table(title):
    """The rows under a heading: code, what is said of it, note."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    assert lines, title
    for line in lines:
        code, *said, note = (cell.strip() for cell in line.strip("|").split(" |"))
        assert set(said) <= ANSWERS, line
        yield pytest.param(code.strip("`"), said, note, id=re.match(r"\w+", code.strip("`"))[0])


SINGLE, VECTOR = list(table("Gymnasium, one environment")), list(table("Gymnasium, vector environments"))
SUPERSUIT = list(table("SuperSuit, PettingZoo environments"))


def check_row(code, module, names, play, said, note):
    """Runs a row; what is said to work must, and what is said not to must fail."""
    for name in re.findall(r"`(\w+)`", note.partition("needs ")[2]):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            illegal = play(
                eval(code, offered(module, code) | {"np": np, "Box": Box, "SHAPE": SHAPE, "SIZE": SIZE} | names)
            )
        except Exception as error:
            if said == "yes":
                pytest.fail(f"{code}: {type(error).__name__}: {error}")
            return
    assert said == ("no" if illegal else "yes"), f"{code}: {illegal} illegal actions were played"


def offered(module, code):
    """What a module offers of the names in a row; some of Gymnasium's wrappers are loaded when they are asked for."""
    known = {*vars(module), *vars(module).get("__all__", ())}
    return {name: getattr(module, name) for name in re.findall(r"\w+", code) if name in known}


def choose(mask, rng):
    return int(rng.choice(np.flatnonzero(mask))) if np.any(mask) else 0


def steps_of(code):
    """How long a row is played: pictures take their time."""
    return PICTURES if "rgb_array" in code else STEPS


def play_single(env, steps=STEPS):
    rng, illegal = np.random.default_rng(0), 0
    observation, _ = env.reset(seed=1)
    for _ in range(steps):
        assert is_inside(observation, env.observation_space)
        observation, _, terminated, truncated, info = env.step(choose(env.unwrapped.action_masks(), rng))
        illegal += bool(info.get("illegal_action", False))
        if (terminated or truncated) and "Autoreset" not in str(env):
            observation, _ = env.reset()
    return illegal


def play_vector(envs, steps=STEPS):
    rng, ended = np.random.default_rng(0), 0
    envs.reset(seed=1)
    for _ in range(steps):
        actions = np.array([choose(mask, rng) for mask in envs.unwrapped.action_masks()])
        observations, _, terminations, truncations, _ = envs.step(actions)
        ended += int((terminations | truncations).sum())
        assert is_inside(observations, envs.observation_space)
    assert ended > 0 or steps == PICTURES, "no episode has ended: nothing was shown"
    return 0


def play_pettingzoo(env):
    if not hasattr(env, "agent_iter"):
        env.reset()
        return 0
    rng = np.random.default_rng(0)
    env.reset(seed=1)
    for agent in env.agent_iter(STEPS):
        observation, _, terminated, truncated, _ = env.last()
        assert is_inside(observation, env.observation_space(agent))
        mask = env.unwrapped.observe(agent)["action_mask"]
        env.step(None if terminated or truncated else choose(mask, rng))
    return 0


def is_inside(observation, space):
    return type(observation).__module__.startswith("torch") or space.contains(observation)


@pytest.mark.parametrize(("code", "said", "note"), SINGLE)
def test_a_wrapper_of_one_environment(code, said, note, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    names = {"make": partial(gymnasium.make, HEBEI)}
    check_row(code, gymnasium.wrappers, names, partial(play_single, steps=steps_of(code)), said[0], note)


@pytest.mark.parametrize(("code", "said", "note"), VECTOR)
@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_a_wrapper_of_vector_environments(mode, code, said, note, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def make(**more):
        return gymnasium.make_vec(HEBEI, num_envs=3, autoreset_mode=mode, **more)

    names = {"make": make, "single": gymnasium.wrappers}
    check_row(
        code,
        gymnasium.wrappers.vector,
        names,
        partial(play_vector, steps=steps_of(code)),
        said[mode == "next_step"],
        note,
    )


@pytest.mark.parametrize(("code", "said", "note"), SUPERSUIT)
def test_a_wrapper_of_supersuit(code, said, note):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        supersuit = pytest.importorskip("supersuit", exc_type=ImportError)
    names = {"gymnasium": gymnasium}
    exec(re.search(r"```python\n(import supersuit\n.*?)```", PAGE, re.DOTALL)[1], names)  # makes env and planes
    check_row(code, supersuit, names, play_pettingzoo, said[0], note)


@pytest.mark.parametrize("rows", [SINGLE, VECTOR], ids=["one environment", "vector"])
def test_every_wrapper_of_gymnasium_has_a_row(rows):
    module = gymnasium.wrappers if rows is SINGLE else gymnasium.wrappers.vector
    names = {name for name in module.__all__ if name != "vector"}
    assert names <= {row.id for row in rows}


def test_every_wrapper_of_supersuit_has_a_row():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        supersuit = pytest.importorskip("supersuit", exc_type=ImportError)
    names = {name for name in dir(supersuit) if re.search(r"_v\d+$", name)}
    # For Stable-Baselines before version 3, which nobody can install any more.
    assert names - {"stable_baselines_vec_env_v0"} <= {row.id for row in SUPERSUIT}


@pytest.mark.parametrize(
    ("code", "said", "message"),
    [
        ("RepeatAction(make(), 2)", "yes", "illegal actions were played"),
        ("ClipReward(make(), -8, 8)", "no", "0 illegal actions"),
        ("ClipAction(make())", "yes", "ClipAction.*TypeError"),
    ],
)
def test_a_wrong_row_is_found(code, said, message):
    with pytest.raises((AssertionError, pytest.fail.Exception), match=message):
        check_row(code, gymnasium.wrappers, {"make": partial(gymnasium.make, HEBEI)}, play_single, said, "")


def test_the_example_of_own_inputs_and_rewards_runs():
    example = PAGE.partition("## Inputs and rewards of your own")[2].partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(example, names)
    assert names["observation"].shape == (34,)
    assert names["observation"].sum() % 3 in (1, 2)
    env = names["env"]
    for seed in range(3):  # shaping changes no sum by more than the first distance
        _, info = env.reset(seed=seed)
        first, total, over = env.before, 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            total, over = total + reward, terminated or truncated
        engine = env.unwrapped.engine
        points = engine.points[0, info["seat"]] - engine.rules.starting_points
        assert total == pytest.approx(points + 0.1 * first)


# --- Stable-Baselines3's own entries ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*render_mode:UserWarning")
def test_stable_baselines3_takes_the_ids():
    env_util = pytest.importorskip("stable_baselines3.common.env_util", exc_type=ImportError)
    sb3_contrib = pytest.importorskip("sb3_contrib", exc_type=ImportError)
    envs = env_util.make_vec_env(HEBEI, 2)
    assert envs.reset().shape == (2, SIZE)
    model = sb3_contrib.MaskablePPO("MlpPolicy", HEBEI, n_steps=16, batch_size=16, device="cpu")
    model.learn(16)
    envs = env_util.make_vec_env(HEBEI, 2, env_kwargs={"observation": "dict"})
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", envs, n_steps=16, batch_size=16, device="cpu")
    model.learn(16)


def test_a_render_mode_that_there_is_not_is_both_a_value_error_and_a_type_error():
    for make in (mahjong_env.hebei_v0.env, partial(SingleSeatEnv, "hebei"), partial(MahjongVectorEnv, 2, "hebei")):
        with pytest.raises(mahjong_env.RenderModeError, match="valid are 'ansi'") as caught:
            make(render_mode="depth_array")
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, TypeError)
