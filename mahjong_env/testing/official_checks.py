"""The official kits of PettingZoo and Gymnasium, run on the environments around a variant."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

from gymnasium.utils.env_checker import check_env
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.testing.environment_checks import check_copies_of_environments
from mahjong_env.testing.play import ConformanceError

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
