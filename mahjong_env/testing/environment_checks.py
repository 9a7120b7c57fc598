"""Checks of the environments around a variant: copies go on as they do, and the official kits pass."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import numpy as np
from gymnasium.utils.env_checker import check_env
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from mahjong_env.environments.aec import MahjongAEC, wrapped
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.testing.play import ConformanceError

Play = Callable[[Any, float], tuple[dict[str, Any], bool]]

_WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}
_EVERY: Final = 5  # actions between two copies, and actions for which each copy is followed
_STEPS: Final = 60  # of environments that never end
_MOST_STEPS: Final = 600  # of a match: some go on for hundreds of hands
_HANDS: Final = 2


def check_environment_copies(make_env: Callable[[], Any], *, seed: int = 0, every: int = _EVERY) -> None:
    """Copies of an environment, deep ones and pickled ones, go on as the original does.

    A match is played at random, up to its end or for several hundred actions. From its first moment on, and through
    the end of each hand, copies are taken and played with the same actions as the original; all that they tell is
    compared. The original is unmoved by them.

    Args:
        make_env: makes a PettingZoo environment, a Gymnasium one, or a Gymnasium vector environment.
        seed: where the cards and the actions come from.
        every: actions between two copies, and actions for which each copy is followed.

    Raises:
        ConformanceError: a copy differs, or cannot be made.
    """
    env = make_env()
    play = _play_aec if hasattr(env, "agent_iter") else _play_seats
    most = _STEPS if hasattr(env, "num_envs") else _MOST_STEPS
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    copies: list[tuple[str, int, Any]] = []
    is_over = False
    for played in range(most):
        if is_over:
            return
        if played % every == 0:
            copies = [(way, played, _copied(env, way, make_copy)) for way, make_copy in _WAYS.items()]
        lots = float(rng.random())
        told, is_over = play(env, lots)
        for way, taken, twin in copies:
            difference = _difference(told, twin, play, lots)
            if difference:
                raise ConformanceError(f"{way} after {taken} actions: after {played + 1} {difference}")


def check_copies_of_environments(variant: Any) -> None:
    """`check_environment_copies` for each of the environments around a variant, a name or rules."""
    for make_env in (
        lambda: MahjongAEC(variant, num_hands=_HANDS),
        lambda: wrapped(MahjongAEC(variant)),
        lambda: SingleSeatEnv(variant, num_hands=_HANDS),
        lambda: MahjongVectorEnv(3, variant),
    ):
        check_environment_copies(make_env)


def _copied(env: Any, way: str, make_copy: Callable[[Any], Any]) -> Any:
    try:
        return make_copy(env)
    except Exception as error:  # whatever an environment raises that cannot be copied
        raise ConformanceError(f"{way} of the environment fails: {type(error).__name__}: {error}") from error


def _difference(told: dict[str, Any], twin: Any, play: Play, lots: float) -> str:
    """The first difference between a copy and the original after the same action, in words."""
    try:
        other, _ = play(twin, lots)
    except Exception as error:  # whatever a copy raises that is not in the same place
        return f"it cannot be played on: {type(error).__name__}: {error}"
    return next((f"its {name} differs" for name in told if not _same(told[name], other.get(name))), "")


def _play_aec(env: Any, lots: float) -> tuple[dict[str, Any], bool]:
    """One action of a PettingZoo environment: what it tells then, and whether all agents are gone."""
    bare, agent = env.unwrapped, env.agent_selection
    is_dead = env.terminations[agent] or env.truncations[agent]
    env.step(None if is_dead else _chosen(env.observe(agent)["action_mask"], lots))
    told = {name: copy.copy(getattr(bare, name)) for name in ("agents", "rewards", "terminations", "truncations")}
    told |= {"infos": dict(bare.infos), "cumulative rewards": dict(bare._cumulative_rewards), "state": bare.state()}
    if bare.agents:
        told |= {"agent_selection": bare.agent_selection, "observation": bare.observe(bare.agent_selection)}
    return told, not bare.agents


def _play_seats(env: Any, lots: float) -> tuple[dict[str, Any], bool]:
    """One action of a Gymnasium environment, or of all in a vector: what it tells, and whether the episode is over."""
    masks = env.unwrapped.action_masks()
    is_vector = masks.ndim == 2
    actions = np.array([_chosen(mask, lots) for mask in masks]) if is_vector else _chosen(masks, lots)
    observation, reward, terminated, truncated, info = env.step(actions)
    told = {"observation": observation, "reward": reward, "terminated": terminated, "truncated": truncated}
    told |= {"info": info, "action_masks": env.unwrapped.action_masks()}
    return told, not is_vector and bool(terminated or truncated)


def _chosen(mask: Any, lots: float) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[int(lots * len(legal))]) if legal.size else 0


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        same_keys = isinstance(other, dict) and one.keys() == other.keys()
        return same_keys and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return len(one) == len(other) and all(_same(each, twin) for each, twin in zip(one, other, strict=True))
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return type(one) is type(other) and bool(one == other)


_CYCLES: Final = 120
# PettingZoo warns of every observation that is a dictionary, and of two axes with a number below zero, such as points,
# as if they were a picture.
_UNAVOIDABLE: Final = (
    "probably should be gymnasium.spaces.box",
    "Observation is not a NumPy array",
    "contains negative numbers and is in the shape of a graphical observation",
)


def check_pettingzoo(make_env: Callable[[], Any]) -> None:
    """PettingZoo's ``api_test`` and ``seed_test``, with no warning but those that are meant for boxes and pictures.

    Args:
        make_env: makes the PettingZoo environment that is checked.

    Raises:
        ConformanceError: what PettingZoo finds.
    """
    # Imported when asked for: it comes with games of its own.
    from pettingzoo.test.api_test import api_test
    from pettingzoo.test.seed_test import seed_test

    with _quietly("PettingZoo", ignored=_UNAVOIDABLE):
        api_test(make_env(), num_cycles=_CYCLES)  # type: ignore[no-untyped-call]
        seed_test(make_env, num_cycles=_CYCLES)  # type: ignore[no-untyped-call]


def check_gymnasium(make_env: Callable[[], Any]) -> None:
    """Gymnasium's ``check_env`` without a warning.

    Args:
        make_env: makes the Gymnasium environment that is checked.

    Raises:
        ConformanceError: what Gymnasium finds.
    """
    with _quietly("Gymnasium", ignored=("without a spec", "env.spec")):
        check_env(make_env(), skip_render_check=True)


def check_official(variant: str | Rules, **knobs: Any) -> None:
    """Run both kits on the environments of a variant, and the check of copies; see `check_variant`."""
    played = rules(variant, **knobs)
    check_pettingzoo(lambda: OrderEnforcingWrapper(AssertOutOfBoundsWrapper(MahjongAEC(played))))
    check_gymnasium(lambda: SingleSeatEnv(played))
    check_copies_of_environments(played)


@contextmanager
def _quietly(kit: str, *, ignored: tuple[str, ...]) -> Iterator[None]:
    """Turn what a kit finds, warnings included, into `ConformanceError`; what it prints is dropped."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:  # the kits use assertions, and pass on whatever the environment raises
            raise ConformanceError(f"{kit}: {type(error).__name__}: {error}") from error
    found = [str(one.message) for one in caught if not any(known in str(one.message) for known in ignored)]
    if found:
        raise ConformanceError(f"{kit} warns: {found[0]}")
