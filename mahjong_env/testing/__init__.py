"""The conformance kit: checks that every variant, and every engine built on one, has to pass.

Each check plays games, at random and towards wins, and raises `ConformanceError` with the game, the seat and what was
found. ``make`` is anything that makes an engine: ``make(num_games, seed=..., **options)``. Run all checks with
`check_variant`::

    from mahjong_env.testing import check_variant
    check_variant("hebei", cap=8)

Written cases (hands and scenes in files that a player can read) are run by `mahjong_env.testing.cases`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.types import is_integer
from mahjong_env.engine.batch import make_engine
from mahjong_env.ruleset.questions import Rules
from mahjong_env.testing.cases import check_cases, check_complete, check_hand, check_scene
from mahjong_env.testing.engine_checks import (
    check_batch_independent,
    check_bookkeeping,
    check_copies,
    check_deals,
    check_legal_actions,
    check_length,
    check_mask_exact,
    check_no_leak,
    check_observation,
    check_resampling,
    check_scores,
    check_seeds,
    check_snapshots,
    check_tiles_conserved,
    check_zero_sum,
    count_all_tiles,
)
from mahjong_env.testing.environment_checks import (
    check_copies_of_environments,
    check_environment_copies,
    check_gymnasium,
    check_official,
    check_pettingzoo,
)
from mahjong_env.testing.play import ConformanceError, MakeEngine, eager_actions, random_actions

CHECKS: Final[tuple[Callable[..., None], ...]] = (
    check_tiles_conserved,
    check_bookkeeping,
    check_zero_sum,
    check_scores,
    check_mask_exact,
    check_legal_actions,
    check_length,
    check_seeds,
    check_batch_independent,
    check_observation,
    check_no_leak,
    check_resampling,
    check_snapshots,
    check_copies,
    check_deals,
)
"""Every check of the engine: ``check(make, games=..., seed=...)``."""

__all__ = [
    "CHECKS",
    "ConformanceError",
    "MakeEngine",
    "check_batch_independent",
    "check_bookkeeping",
    "check_cases",
    "check_complete",
    "check_copies",
    "check_copies_of_environments",
    "check_deals",
    "check_environment_copies",
    "check_gymnasium",
    "check_hand",
    "check_legal_actions",
    "check_length",
    "check_mask_exact",
    "check_no_leak",
    "check_observation",
    "check_official",
    "check_pettingzoo",
    "check_resampling",
    "check_scene",
    "check_scores",
    "check_seeds",
    "check_snapshots",
    "check_tiles_conserved",
    "check_variant",
    "check_zero_sum",
    "count_all_tiles",
    "eager_actions",
    "random_actions",
]


def check_variant(variant: str | Rules, *, games: int = 32, seed: int = 0, official: bool = True, **knobs: Any) -> None:
    """Run every check of the kit on a variant; on a terminal, print which one is running.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        games: the number of games that each check plays, at least 2.
        seed: the seed of their cards.
        official: whether to run the kits of PettingZoo and Gymnasium as well.
        **knobs: house rules.

    Raises:
        ConformanceError: a check fails; the first one that does is reported.
        MahjongError: there is no such variant or knob, or another number of games or another seed is needed.
    """
    if not is_integer(games) or games < 2:  # a game alone is played at random, and hardly ever won
        raise MahjongError(f"games is an integer from 2, not {games!r}")
    if not is_integer(seed) or seed < 0:  # without one, no two games would be the same
        raise MahjongError(f"seed is an integer from 0, not {seed!r}")
    checks = [
        (check, partial(check, partial(make_engine, variant, **knobs), games=games, seed=seed)) for check in CHECKS
    ]
    if official:
        checks.append((check_official, partial(check_official, variant, **knobs)))
    tells = sys.stderr.isatty()  # the checks take half a minute, for which a person waits
    for number, (check, run) in enumerate(checks, 1):
        if tells:
            print(f"{number} of {len(checks)}: {check.__name__}", file=sys.stderr)
        run()
    if tells:
        print("nothing was found", file=sys.stderr)
