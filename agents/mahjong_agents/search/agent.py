"""The agent that tries its actions out: on worlds that agree with what it has seen, played to the end of the hand."""

from __future__ import annotations

from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import annotations as thoughts
from mahjong_agents.annotations import Note
from mahjong_agents.base import Agent, AgentError
from mahjong_agents.control_variates import worthwhile_weights
from mahjong_agents.lookahead import WIN
from mahjong_agents.registry import make_agent
from mahjong_agents.search.candidates import NO_PLAN, Candidates, candidates
from mahjong_agents.search.opponent_hands import shipped_nearness
from mahjong_agents.search.rollouts import play_out
from mahjong_env import View

_MOST_GAMES: Final = 8192
"""Games that are played out at once, so that memory stays small."""
_FIRST_WORLDS: Final = 16
_MOST: Final = 1_000_000  # of every budget
_MOST_WORLDS: Final = 4096  # of one decision, when time is the budget
_FORMER: Final = {"shipped": "policy", "usual": "reference"}
"""Names that bases had before, understood as ever."""
_CLEAR: Final = 1.0  # standard errors by which an action must be better than the base's own


class SearchAgent:
    """Plays promising actions out on the same worlds, and leaves its base's choice only for a clear gain.

    For every decision it draws worlds: the hands of the others and the wall as they may be. In each of them it plays
    every promising action and then the base (the other seats may be taken for another agent), up to the end of the
    hand; with ``plans`` it also begins plans (one suit, pungs, seven pairs), which are then followed to the end. The
    differences to the base's own choice, world by world, are what counts: they have less noise than the points. After
    each round the worse half of the candidates is given up (successive halving), and whatever looks no better than the
    base's choice; the others are tried on twice as many new worlds.

    It knows what its view shows; what is hidden in the real game is drawn anew.

    Attributes:
        name: "search".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    def __init__(
        self,
        *,
        rollouts: int = 256,
        milliseconds: int | None = None,
        clear: float = _CLEAR,
        nearness: bool = True,
        luck: bool = False,
        base: str | Agent = "policy",
        others: str | Agent | None = None,
        actions: int = 3,
        plans: int = 3,
        likely: float = 0.0,
    ) -> None:
        """Choose the budget, and who plays where nothing is clearly better.

        Args:
            rollouts: worlds for each decision, at most.
            milliseconds: time for each row of a view instead; what is chosen then depends on the machine.
            clear: standard errors by which an action must be better than the base's own choice.
            nearness: whether the hands of the others are drawn as near to a win as such hands are by then
                (`mahjong_agents.search.opponent_hands`); False: uniformly, so that they are as far away as at the deal.
            luck: whether the luck of the draws is taken off what the worlds bring (`mahjong_agents.control_variates`),
                where that narrows
                it: about half of the variance of a difference is left.
            base: the agent, or its text, that plays after the action that is tried. "policy" is the policy that is
                shipped for these very rules, and "reference" where there is none.
            others: the agent that the other seats are taken for; None: the base as well. A search is only as good as
                that guess.
            actions: how many actions are tried, the base's own among them.
            plans: how many plans are tried beside them.
            likely: the least probability, 0 to 1, that a policy as the base gives an action (or the first action of a
                plan) that is tried: what it is sure of is not searched, and the time goes to what it doubts. Without
                effect on bases that give no probabilities.

        Raises:
            AgentError: a budget that is not a number above 0, a base that is none.
        """
        for what, budget, least in (
            ("rollouts", rollouts, 1),
            ("milliseconds", milliseconds, 1),
            ("actions", actions, 1),
            ("plans", plans, 0),
        ):
            is_number = isinstance(budget, int) and not isinstance(budget, bool)
            if budget is not None and not (is_number and least <= budget <= _MOST):
                raise AgentError(f"search: {what} is an integer from {least} to {_MOST}, not {budget!r}")
        if isinstance(likely, bool) or not isinstance(likely, int | float) or not 0 <= likely <= 1:
            raise AgentError(f"search: likely is a probability from 0 to 1, not {likely!r}")
        self.name = "search"
        self._rollouts, self._milliseconds, self._clear = rollouts, milliseconds, clear
        self._nearness, self._luck, self._actions, self._plans = nearness, luck, actions, plans
        self._likely = likely
        self._base = make_agent(_FORMER.get(base, base) if isinstance(base, str) else base)
        self._others = None
        if others is not None:
            self._others = make_agent(_FORMER.get(others, others) if isinstance(others, str) else others)
        # About a minute: with fewer games, worlds are drawn and played out in batches too small for numpy.
        at_once = 6400 // rollouts if milliseconds is None else 3000 // milliseconds
        self.games_at_once = max(1, 4 * at_once if likely else at_once)

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the base's action, or one that is clearly better; see `mahjong_agents.Agent.act`."""
        return self._play(view, rng)

    def think(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Note | None]]:
        """Choose, and tell what each action that was tried brought more than the base's own, which is 0.

        See `mahjong_env.environments.agents.Thinker`.
        """
        notes: list[Note | None] = [None] * len(view)
        return self._play(view, rng, notes), notes

    def _play(self, view: View, rng: np.random.Generator, notes: list[Note | None] | None = None) -> NDArray[np.int64]:
        """Return [n] actions; ``notes`` [n] are filled in where they are wanted."""
        base = self._base
        chosen = np.array(base.act(view, rng), np.int64)
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
        size = max(1, _MOST_GAMES // (_FIRST_WORLDS * (self._actions + self._plans)))
        for start in range(0, len(doubtful), size):
            rows = doubtful[start : start + size]
            tried, tries = self._search(view.take(rows), chosen[rows], base, rng)
            if notes is not None:
                told = thoughts.values(len(rows), tried.row, tried.action, tries.mean())
                for at, note in zip(rows, told, strict=True):
                    notes[at] = note
            chosen[rows] = self._best(chosen[rows], tried, tries)
        return chosen

    def _search(
        self, view: View, usual: NDArray[np.int64], base: Agent, rng: np.random.Generator
    ) -> tuple[Candidates, _Tries]:
        """Try candidates in a few rows: what they were, and what they brought."""
        tried = candidates(view, usual, base, self._actions, self._plans, rng, self._likely)
        own = (tried.action == usual[tried.row]) & (tried.plan == NO_PLAN)
        tries = _Tries(len(tried.row))
        alive = np.ones(len(tried.row), np.bool_)
        worlds, played, started = _FIRST_WORLDS, 0, perf_counter()
        while True:
            worlds = min(worlds, self._worlds_left(played))
            rows = np.unique(tried.row[alive & ~own])
            if worlds < 1 or not rows.size:
                break
            self._try(view, rows, tried, alive, own, worlds, tries, base, rng)
            played += worlds
            promising = alive & ~own & (tries.mean() > 0)
            alive = own | _better_half(tried.row, tries.mean(), promising)
            if self._milliseconds is not None and (perf_counter() - started) * 1000 > self._milliseconds * len(view):
                break
            worlds *= 2
        return tried, tries

    def _best(self, usual: NDArray[np.int64], tried: Candidates, tries: _Tries) -> NDArray[np.int64]:
        """Return [n] the usual actions, but for those than which another one is clearly better."""
        is_better = (tried.action != usual[tried.row]) & (tries.mean() > self._clear * tries.error())
        gain = np.where(is_better, tries.mean(), 0.0)
        best = usual.copy()
        for number in np.argsort(gain, kind="stable"):
            if gain[number] > 0:
                best[tried.row[number]] = tried.action[number]
        return best

    def _worlds_left(self, played: int) -> int:
        return (self._rollouts if self._milliseconds is None else _MOST_WORLDS) - played

    def _try(
        self,
        view: View,
        rows: NDArray[np.intp],
        tried: Candidates,
        alive: NDArray[np.bool_],
        own: NDArray[np.bool_],
        worlds: int,
        tries: _Tries,
        base: Agent,
        rng: np.random.Generator,
    ) -> None:
        """Play the candidates that are alive in some rows, each on the same new worlds."""
        row = tried.row
        size = max(1, _MOST_GAMES // (worlds * (self._actions + self._plans)))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            engine = view.take(part).worlds(worlds, rng, shipped_nearness(view.rules) if self._nearness else None)
            now = np.flatnonzero(alive & np.isin(row, part))
            first = np.searchsorted(part, row[now]) * worlds
            world = (first[:, None] + np.arange(worlds)).reshape(-1)
            action, plan = np.repeat(tried.action[now], worlds), np.repeat(tried.plan[now], worlds)
            weights = worthwhile_weights(view.rules) if self._luck else None
            points = play_out(engine.select(world), action, plan, world, base, rng, weights, self._others)
            points = points.reshape(len(now), worlds)
            of_own = np.zeros((len(view), worlds))
            of_own[row[now[own[now]]]] = points[own[now]]
            tries.add(now, points - of_own[row[now]])


class _Tries:
    """Means of differences, and their standard errors, for k actions."""

    def __init__(self, number: int) -> None:
        self._number, self._sum, self._squares = np.zeros((3, number))

    def add(self, which: NDArray[np.intp], differences: NDArray[np.float64]) -> None:
        """Add differences [m, worlds] of some actions."""
        self._number[which] += differences.shape[1]
        self._sum[which] += differences.sum(axis=1)
        self._squares[which] += (differences**2).sum(axis=1)

    def mean(self) -> NDArray[np.float64]:
        """Return [k]."""
        return self._sum / np.maximum(self._number, 1)

    def error(self) -> NDArray[np.float64]:
        """Return [k] standard errors."""
        number = np.maximum(self._number, 2)
        variance = np.maximum(self._squares / number - self.mean() ** 2, 0) * number / (number - 1)
        return np.sqrt(variance / number)


def _better_half(row: NDArray[np.intp], mean: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which actions are not below the median of those of their row that are alive; one always is left."""
    keep = np.zeros(len(row), np.bool_)
    for number in np.unique(row[alive]):
        at = np.flatnonzero(alive & (row == number))
        keep[at[np.argsort(-mean[at], kind="stable")[: (len(at) + 1) // 2]]] = True
    return keep
