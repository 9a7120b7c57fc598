"""``mahjong-env fit-control-variates``: fit the weights of the control variates on greedy hands, and write them down.

The hands are dealt from seeds that nothing else uses (`mahjong_training.seeds`), so that weights are fixed before any
test.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
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
from mahjong_training.runtime.console import status
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_counts
from mahjong_training.seeds import LUCK_SEED

_FOLDS: Final = 4
_PENALTIES: Final = tuple(10.0**power for power in np.arange(-3, 1.01, 0.5))
_GAMES: Final = 1000


@dataclass(frozen=True)
class Fit:
    """Weights of the innovations.

    Attributes:
        weights: [F] points for each.
        hands: how many hands they were fitted on.
        left: the share of the variance of a seat's points that they leave, on hands that were left out.
        penalty: of the ridge regression, as a share of the variance of each innovation; chosen on hands left out.
    """

    weights: NDArray[np.float64]
    hands: int
    left: float
    penalty: float


@dataclass
class _Moments:
    """Sums over hands: of products of innovations, of innovations and points, of squared points."""

    xx: NDArray[np.float64]
    xy: NDArray[np.float64]
    yy: float
    rows: int

    @classmethod
    def of(cls, found: NDArray[np.float64], points: NDArray[np.float64]) -> _Moments:
        return cls(found.T @ found, found.T @ points, float(points @ points), len(points))

    @classmethod
    def total(cls, parts: Sequence[_Moments]) -> _Moments:
        return cls(*(sum(getattr(part, item.name) for part in parts) for item in fields(cls)))

    def weights(self, penalty: float) -> NDArray[np.float64]:
        spread = np.diag(self.xx)
        seen = spread > 0
        weights = np.zeros(len(spread))
        ridge = self.xx[np.ix_(seen, seen)] + penalty * np.diag(spread[seen])
        weights[seen] = np.linalg.solve(ridge, self.xy[seen])
        return weights

    def left(self, weights: NDArray[np.float64]) -> float:
        """Return the share of the points' squares that remains."""
        return float((self.yy - 2 * weights @ self.xy + weights @ self.xx @ weights) / self.yy)


def fit(rules: Rules, hands: int, *, progress: Any = lambda line: None) -> Fit:
    """Fit weights for a variant: greedy players with and without claims, drawn for every seat.

    Args:
        rules: what is played.
        hands: how many hands, at least 4.
        progress: told how far it is.
    """
    agents: list[Agent] = [GreedyAgent(), ClosedGreedyAgent()]
    folds: list[list[_Moments]] = [[] for _ in range(_FOLDS)]
    size = min(_GAMES, max(1, hands // _FOLDS))
    for number, first in enumerate(range(0, hands, size)):
        progress(f"{rules.title}: {first:,} of {hands:,} hands")
        folds[number % _FOLDS].append(_play(rules, agents, range(first, min(first + size, hands))))
    known = [_Moments.total(fold) for fold in folds if fold]
    others = [_Moments.total(known[:place] + known[place + 1 :]) for place in range(len(known))]
    left = {
        penalty: float(np.mean([fold.left(rest.weights(penalty)) for fold, rest in zip(known, others, strict=True)]))
        for penalty in _PENALTIES
    }
    best = min(left, key=lambda penalty: left[penalty])
    return Fit(_Moments.total(known).weights(best), hands, left[best], best)


def _play(rules: Rules, agents: list[Agent], deals: range) -> _Moments:
    engine = make_engine(rules, deals.stop, seed=LUCK_SEED).select(np.arange(deals.start, deals.stop))
    rng = np.random.default_rng([LUCK_SEED, deals.start])
    who = rng.integers(0, len(agents), (engine.num_games, engine.num_people))
    luck = Luck(engine)
    before = engine.points
    choose = lambda games, seats: choose_actions(engine, games, agents, who[games, seats], rng)  # noqa: E731
    for turn in play_to_end(engine, choose):
        luck.add(turn.games)
    points = np.take_along_axis(engine.points - before, engine.state.person_at.astype(np.intp), axis=1)
    return _Moments.of(luck.sums.reshape(-1, len(FEATURES)), points.reshape(-1).astype(np.float64))


def run(config: ControlVariatesConfig) -> Fit:
    """Fit the weights of a variant and put them into the file, beside those of the others.

    Raises:
        MahjongError: settings that cannot be used, a file that cannot be written.
    """
    check_counts(hands=config.hands)
    rules, path = read_rules(config.variant, ()), config.out or WEIGHTS_FILE
    check_file(path)
    with status() as progress:
        found = fit(rules, max(config.hands, _FOLDS), progress=progress)
    write_text(path, _with(path, rules, found))
    print(
        f"{rules.title}: luck leaves {100 * found.left:.1f} % of the variance of a seat's points, "
        f"on hands other than those that its weights were fitted on; {found.hands:,} hands; written: {path}"
    )
    return found


def _with(path: Path, rules: Rules, found: Fit) -> str:
    """Return the text of the file with the weights of one more variant."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"variants": {}}
    known["about"] = (
        "mahjong-env fit-control-variates --variant VARIANT; see mahjong_agents/control_variates.py. "
        f"mahjong_env {__version__}"
    )
    weights = {name: float(f"{weight:.4g}") for name, weight in zip(FEATURES, found.weights, strict=True) if weight}
    known["variants"][rules.name] = {
        "hands": found.hands,
        "left": round(found.left, 4),
        "penalty": round(found.penalty, 6),
        "weights": weights,
    }
    known["variants"] = dict(sorted(known["variants"].items()))
    return json.dumps(known, indent=1) + "\n"
