"""``mahjong-env fit-control-variates``: fit the weights of the control variates to hands of greedy players.

The hands are dealt from a seed that nothing else uses (`mahjong_training.seeds`), so that the weights are fixed before
any test.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, ClosedGreedyAgent, GreedyAgent
from mahjong_agents.control_variates import FEATURES, WEIGHTS_FILE, Luck
from mahjong_env import Rules, __version__, make_engine
from mahjong_env.environments.agents import choose_actions, play_to_end
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import ControlVariatesConfig
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.console import status
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import LUCK_SEED

_FOLDS: Final = 4
_PENALTIES: Final = tuple(10.0**power for power in np.arange(-3, 1.01, 0.5))
_GAMES: Final = 1000


def run(config: ControlVariatesConfig) -> None:
    """Fit the weights of a variant, and write them to the file that also holds those of the other variants.

    The weights come from a ridge regression, whose penalty is a share of the variance of each innovation. The penalty
    is chosen that leaves the least variance of points on held-out hands.

    Raises:
        MahjongError: a setting cannot be used, or the file cannot be written or is not one of weights; nothing has been
            played then.
    """
    check_settings(config)
    rules, path, hands = read_rules(config.variant, ()), config.out or WEIGHTS_FILE, max(config.hands, _FOLDS)
    check_file(path)
    known = _known(path)
    folds = np.zeros((_FOLDS, len(FEATURES) + 1, len(FEATURES) + 1))
    size = min(_GAMES, hands // _FOLDS)
    with status() as tell:
        for number, first in enumerate(range(0, hands, size)):
            tell(f"{rules.title}: {first:,} of {hands:,} hands")
            folds[number % _FOLDS] += _products(rules, range(first, min(first + size, hands)))
    every = folds.sum(axis=0)
    others = [np.delete(folds, place, axis=0).sum(axis=0) for place in range(_FOLDS)]
    left = {
        penalty: float(
            np.mean([_left(fold, _weights(rest, penalty)) for fold, rest in zip(folds, others, strict=True)])
        )
        for penalty in _PENALTIES
    }
    penalty = min(left, key=lambda penalty: left[penalty])
    command = "mahjong-env fit-control-variates --variant VARIANT; see mahjong_agents/control_variates.py"
    known["about"] = f"{command}. mahjong_env {__version__}"
    found = zip(FEATURES, _weights(every, penalty), strict=True)
    weights = {name: float(f"{weight:.4g}") for name, weight in found if weight}
    fit = {"hands": hands, "left": round(left[penalty], 4), "penalty": round(penalty, 6), "weights": weights}
    known["variants"][rules.name] = fit
    known["variants"] = dict(sorted(known["variants"].items()))
    write_text(path, json.dumps(known, indent=1) + "\n")
    print(
        f"{rules.title}: luck leaves {100 * left[penalty]:.1f} % of the variance of a seat's points, "
        f"on hands other than those that its weights were fitted on; {hands:,} hands; written: {path}"
    )


def _known(path: Path) -> dict[str, Any]:
    """Return what a file of weights holds; a TrainingError if the file is not one."""
    if not path.exists():
        return {"variants": {}}
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise TrainingError(f"{path}: not a file of weights ({error}); choose another --out") from None
    if not isinstance(known, dict) or not isinstance(known.get("variants"), dict):
        raise TrainingError(f"{path}: not a file of weights, which has weights by variant; choose another --out")
    return known


def _products(rules: Rules, deals: range) -> NDArray[np.float64]:
    """Play hands; return [F + 1, F + 1] the sums of products of a seat's F innovations and its points (the last entry).

    For every seat, a greedy agent with or without claims is drawn.
    """
    agents: list[Agent] = [GreedyAgent(), ClosedGreedyAgent()]
    engine = make_engine(rules, deals.stop, seed=LUCK_SEED).select(np.arange(deals.start, deals.stop))
    rng = np.random.default_rng([LUCK_SEED, deals.start])
    who = rng.integers(0, len(agents), (engine.num_games, engine.num_people))
    luck, before = Luck(engine), engine.points
    choose = lambda games, seats: choose_actions(engine, games, agents, who[games, seats], rng)  # noqa: E731
    for turn in play_to_end(engine, choose):
        luck.add(turn.games)
    points = np.take_along_axis(engine.points - before, engine.state.person_at.astype(np.intp), axis=1)
    both = np.column_stack([luck.sums.reshape(-1, len(FEATURES)), points.reshape(-1)])
    return both.T @ both


def _weights(products: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    """Return [F] the weight of each innovation, in points, or 0 for innovations that never differed from 0."""
    spread = np.diag(products)[:-1]
    seen = np.flatnonzero(spread)
    weights = np.zeros(len(spread))
    ridge = products[np.ix_(seen, seen)] + penalty * np.diag(spread[seen])
    weights[seen] = np.linalg.solve(ridge, products[seen, -1])
    return weights


def _left(products: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the share of the sum of squared points that these weights leave."""
    rest = np.append(-weights, 1.0)
    return float(rest @ products @ rest / products[-1, -1])
