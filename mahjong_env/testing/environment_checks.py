"""Checks of the environments around a variant: copies continue as the originals do, and the official kits pass."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence

from mahjong_env.environments.aec import Guarded, MahjongAEC
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.testing.play import ConformanceError

_WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}
_STEPS: Final = 60  # steps played in environments that never end
_MOST_STEPS: Final = 600  # steps played in a match at most; some matches go on for hundreds of hands
_CYCLES: Final = 120
# PettingZoo warns of every observation that is a dictionary, and takes two axes with negative numbers, such as points,
# for a picture.
_UNAVOIDABLE: Final = (
    "probably should be gymnasium.spaces.box",
    "Observation is not a NumPy array",
    "contains negative numbers and is in the shape of a graphical observation",
)


def check_environment_copies(make_env: Callable[[], Any], *, seed: int = 0, every: int = 5) -> None:
    """Check that copies of an environment, deep ones and pickled ones, continue as the original does.

    A match is played at random, up to its end or for several hundred actions. From its first moment on, and across
    the end of each hand, copies are taken and played with the same actions as the original, and everything that they
    return is compared. The original must not be affected by its copies.

    Args:
        make_env: makes a PettingZoo environment, a Gymnasium one, or a Gymnasium vector environment.
        seed: the seed of the cards and the actions.
        every: actions between two copies, and actions for which each copy is followed.

    Raises:
        ConformanceError: a copy differs, or cannot be made.
    """
    env = make_env()
    play = _play_aec if hasattr(env, "agent_iter") else _play_seats
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    copies: list[tuple[str, Any]] = []
    for played in range(_STEPS if hasattr(env, "num_envs") else _MOST_STEPS):
        if played % every == 0:
            copies = []
            for way, make_copy in _WAYS.items():
                try:
                    copies.append((f"{way} after {played} actions", make_copy(env)))
                except Exception as error:  # an environment that cannot be copied may raise anything
                    raise ConformanceError(
                        f"{way} of the environment fails: {type(error).__name__}: {error}"
                    ) from error
        chance = float(rng.random())
        told, is_over = play(env, chance)
        for which, twin in copies:
            try:
                other, _ = play(twin, chance)
            except Exception as error:  # a copy that is in another state may raise anything
                raise ConformanceError(f"{which} cannot be played on: {type(error).__name__}: {error}") from error
            for name, one in told.items():
                if not data_equivalence(one, other.get(name), exact=True):
                    raise ConformanceError(f"{which}: after {played + 1} its {name} differs")
        if is_over:
            return


def _play_aec(env: Any, chance: float) -> tuple[dict[str, Any], bool]:
    """Play one action of a PettingZoo environment; return what it then says, and whether all agents are gone."""
    bare, agent = env.unwrapped, env.agent_selection
    is_dead = env.terminations[agent] or env.truncations[agent]
    env.step(None if is_dead else _chosen(env.observe(agent)["action_mask"], chance))
    told = {name: copy.copy(getattr(bare, name)) for name in ("agents", "rewards", "terminations", "truncations")}
    told |= {"infos": dict(bare.infos), "cumulative rewards": dict(bare._cumulative_rewards), "state": bare.state()}
    if bare.agents:
        told |= {"agent_selection": bare.agent_selection, "observation": bare.observe(bare.agent_selection)}
    return told, not bare.agents


def _play_seats(env: Any, chance: float) -> tuple[dict[str, Any], bool]:
    """Play one action of a Gymnasium environment (or each in a vector); return what it says, and whether it is over."""
    masks = env.unwrapped.action_masks()
    is_vector = masks.ndim == 2
    actions = np.array([_chosen(mask, chance) for mask in masks]) if is_vector else _chosen(masks, chance)
    names = ("observation", "reward", "terminated", "truncated", "info")
    told = dict(zip(names, env.step(actions), strict=True)) | {"action_masks": env.unwrapped.action_masks()}
    return told, not is_vector and bool(told["terminated"] or told["truncated"])


def _chosen(mask: Any, chance: float) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[int(chance * len(legal))]) if legal.size else 0


def check_copies_of_environments(variant: str | Rules) -> None:
    """Run `check_environment_copies` on each of the environments around a variant."""
    check_environment_copies(lambda: MahjongAEC(variant, num_hands=2))
    check_environment_copies(lambda: Guarded(MahjongAEC(variant)))
    check_environment_copies(lambda: SingleSeatEnv(variant, num_hands=2))
    check_environment_copies(lambda: MahjongVectorEnv(3, variant))


def check_pettingzoo(make_env: Callable[[], Any]) -> None:
    """Run PettingZoo's ``api_test`` and ``seed_test``; warnings fail, except those meant for boxes and pictures.

    Raises:
        ConformanceError: PettingZoo finds something.
    """
    # Imported only here, because it loads PettingZoo's own games.
    from pettingzoo.test.api_test import api_test
    from pettingzoo.test.seed_test import seed_test

    with _quietly("PettingZoo", ignored=_UNAVOIDABLE):
        api_test(make_env(), num_cycles=_CYCLES)  # type: ignore[no-untyped-call]
        seed_test(make_env, num_cycles=_CYCLES)  # type: ignore[no-untyped-call]


def check_gymnasium(make_env: Callable[[], Any]) -> None:
    """Run Gymnasium's ``check_env``; warnings fail.

    Raises:
        ConformanceError: Gymnasium finds something.
    """
    with _quietly("Gymnasium", ignored=("without a spec", "env.spec")):
        check_env(make_env(), skip_render_check=True)


def check_official(variant: str | Rules, **knobs: Any) -> None:
    """Run both official kits and the check of copies on the environments of a variant; see `check_variant`."""
    played = rules(variant, **knobs)
    check_pettingzoo(lambda: Guarded(MahjongAEC(played)))
    check_gymnasium(lambda: SingleSeatEnv(played))
    check_copies_of_environments(played)


@contextmanager
def _quietly(kit: str, *, ignored: tuple[str, ...]) -> Iterator[None]:
    """Turn what a kit finds, warnings included, into `ConformanceError`, and drop what it prints."""
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:  # the kits use assertions, and pass on anything that the environment raises
            raise ConformanceError(f"{kit}: {type(error).__name__}: {error}") from error
    found = [str(one.message) for one in caught if not any(known in str(one.message) for known in ignored)]
    if found:
        raise ConformanceError(f"{kit} warns: {found[0]}")
