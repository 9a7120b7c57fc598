"""The agent that tries its actions out: on worlds that agree with what it has seen, played to the end of the hand."""

from __future__ import annotations

from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents import thoughts
from agents.base import Agent, AgentError
from agents.greedy import GreedyAgent
from agents.lookahead import WIN, look_ahead
from agents.nearness import shipped_nearness
from agents.promise import pays_to_stay_closed
from agents.thoughts import Note
from mahjong_env import Engine, View

_MOST_GAMES: Final = 8192
"""Games that are played out at once, so that memory stays small."""
_MOST_ACTIONS: Final = 5
_FIRST_WORLDS: Final = 16
_MOST_WORLDS: Final = 4096  # of one decision, when time is the budget
_CLEAR: Final = 2.0  # standard errors by which an action must be better than the policy's own


class SearchAgent:
    """Plays promising actions out on the same worlds, and leaves its policy's choice only for a clear gain.

    For every decision it draws worlds: the hands of the others and the wall as they may be. In each of them it plays
    every promising action and then the policy at all seats, up to the end of the hand. The differences to the policy's
    own choice, world by world, are what counts: they have far less noise than the points. After each round the worse
    half of the actions is given up (successive halving), and the others are tried on twice as many new worlds.

    It knows what its view shows; what is hidden in the real game is drawn anew.

    Attributes:
        name: "search".
        games_at_once: see `agents.base.games_at_once`.
    """

    def __init__(
        self, *, rollouts: int = 64, milliseconds: int | None = None, clear: float = _CLEAR, nearness: bool = True
    ) -> None:
        """Choose the budget.

        Args:
            rollouts: worlds for each decision, at most.
            milliseconds: time for each row of a view instead; what is chosen then depends on the machine.
            clear: standard errors by which an action must be better than the policy's own choice.
            nearness: whether the hands of the others are drawn as near to a win as such hands are by then
                (`agents.nearness`); False: uniformly, so that they are as far away as at the deal.

        Raises:
            AgentError: a budget that is not a number above 0.
        """
        for what, budget in (("rollouts", rollouts), ("milliseconds", milliseconds)):
            if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
                raise AgentError(f"search: {what} is an integer from 1, not {budget!r}")
        self.name = "search"
        self._rollouts, self._milliseconds, self._clear = rollouts, milliseconds, clear
        self._nearness = nearness
        # About a minute: with fewer games, worlds are drawn and played out in batches too small for numpy.
        self.games_at_once = max(1, 6400 // rollouts if milliseconds is None else 3000 // milliseconds)

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the policy's action, or one that is clearly better; see `agents.Agent.act`."""
        return self._play(view, rng)

    def think(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Note | None]]:
        """Choose, and tell what each action that was tried brought more than the policy's own, which is 0.

        See `mahjong_env.environments.players.Thinker`.
        """
        notes: list[Note | None] = [None] * len(view)
        return self._play(view, rng, notes), notes

    def _play(self, view: View, rng: np.random.Generator, notes: list[Note | None] | None = None) -> NDArray[np.int64]:
        """Return [n] actions; ``notes`` [n] are filled in where they are wanted."""
        policy: Agent = GreedyAgent(claims=not pays_to_stay_closed(view.rules))
        chosen = np.array(policy.act(view, rng), np.int64)
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
        size = max(1, _MOST_GAMES // (_FIRST_WORLDS * _MOST_ACTIONS))
        for start in range(0, len(doubtful), size):
            rows = doubtful[start : start + size]
            row, action, tries = self._search(view.take(rows), chosen[rows], policy, rng)
            if notes is not None:
                for at, note in zip(rows, thoughts.values(len(rows), row, action, tries.mean()), strict=True):
                    notes[at] = note
            chosen[rows] = self._best(chosen[rows], row, action, tries)
        return chosen

    def _search(
        self, view: View, usual: NDArray[np.int64], policy: Agent, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.int64], _Tries]:
        """Try actions in a few rows: the row and the action of each, and what they brought."""
        row, action = _promising(view, usual)
        own = action == usual[row]
        tries = _Tries(len(row))
        alive = np.ones(len(row), np.bool_)
        worlds, played, started = _FIRST_WORLDS, 0, perf_counter()
        while True:
            worlds = min(worlds, self._worlds_left(played))
            rows = np.unique(row[alive & ~own])
            if worlds < 1 or not rows.size:
                break
            self._try(view, rows, row, action, alive, own, worlds, tries, policy, rng)
            played += worlds
            alive = own | (alive & _better_half(row, tries.mean(), alive & ~own))
            if self._milliseconds is not None and (perf_counter() - started) * 1000 > self._milliseconds * len(view):
                break
            worlds *= 2
        return row, action, tries

    def _best(
        self, usual: NDArray[np.int64], row: NDArray[np.intp], action: NDArray[np.int64], tries: _Tries
    ) -> NDArray[np.int64]:
        """Return [n] the usual actions, but for those than which another one is clearly better."""
        is_better = (action != usual[row]) & (tries.mean() > self._clear * tries.error())
        gain = np.where(is_better, tries.mean(), 0.0)
        best = usual.copy()
        for number in np.argsort(gain, kind="stable"):
            if gain[number] > 0:
                best[row[number]] = action[number]
        return best

    def _worlds_left(self, played: int) -> int:
        return (self._rollouts if self._milliseconds is None else _MOST_WORLDS) - played

    def _try(
        self,
        view: View,
        rows: NDArray[np.intp],
        row: NDArray[np.intp],
        action: NDArray[np.int64],
        alive: NDArray[np.bool_],
        own: NDArray[np.bool_],
        worlds: int,
        tries: _Tries,
        policy: Agent,
        rng: np.random.Generator,
    ) -> None:
        """Play the actions that are alive in some rows, each on the same new worlds."""
        size = max(1, _MOST_GAMES // (worlds * _MOST_ACTIONS))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            engine = view.take(part).worlds(worlds, rng, shipped_nearness(view.rules) if self._nearness else None)
            tried = np.flatnonzero(alive & np.isin(row, part))
            first = np.searchsorted(part, row[tried]) * worlds
            games = first[:, None] + np.arange(worlds)
            points = _play_out(engine.select(games.reshape(-1)), np.repeat(action[tried], worlds), policy, rng)
            points = points.reshape(len(tried), worlds)
            of_own = np.zeros((len(view), worlds))
            of_own[row[tried[own[tried]]]] = points[own[tried]]
            tries.add(tried, points - of_own[row[tried]])


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


def _promising(view: View, usual: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return rows and actions worth a try: the usual one and those that leave the hand nearest, with most help."""
    ahead = look_ahead(view)
    order = ahead.distance.astype(np.float64) - ahead.help / 1000
    order[~view.action_mask] = np.inf
    order[np.arange(len(view)), usual] = -np.inf
    ranked = np.argsort(order, axis=1, kind="stable")[:, :_MOST_ACTIONS]
    row = np.repeat(np.arange(len(view)), ranked.shape[1])
    action = ranked.reshape(-1)
    legal = view.action_mask[row, action]
    return row[legal], action[legal].astype(np.int64)


def _better_half(row: NDArray[np.intp], mean: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which actions are not below the median of those of their row that are alive; one always is left."""
    keep = np.zeros(len(row), np.bool_)
    for number in np.unique(row[alive]):
        at = np.flatnonzero(alive & (row == number))
        keep[at[np.argsort(-mean[at], kind="stable")[: (len(at) + 1) // 2]]] = True
    return keep


def _play_out(
    engine: Engine, actions: NDArray[np.int64], policy: Agent, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Play first these actions and then the policy, to the end of the hand.

    Returns:
        [games] what it brings those who act first.
    """
    games = np.arange(engine.num_games)
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games)
    live, chosen = games, actions
    while live.size:
        result = engine.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        live = live[~result.hand_over & ~result.done]
        if live.size:
            chosen = policy.act(engine.view(games=live), rng)
    return points
