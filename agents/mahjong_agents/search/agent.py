"""The agent that tries actions out in determinizations, played on for some decisions or to the end of the hand."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.base import Agent, AgentError, Annotation, annotate, make_agent
from mahjong_agents.control_variates import UNIT, Luck, useful_weights
from mahjong_agents.plans import ANY, CLOSED, OPEN, follow_plans, plans_within_reach
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.critic import Critic, CriticInputs, shipped_critic, table_rows
from mahjong_agents.policy.inputs import TABLE_FACTS
from mahjong_agents.search.opponent_hands import shipped_opponent_hands
from mahjong_agents.shared_chance import RowChance
from mahjong_env import Engine, View
from mahjong_env.basics.actions import CONCEALED_KONG, WIN
from mahjong_env.hands.kind_sets import count_planes
from mahjong_env.observation.acceptance import concealed, look_ahead
from mahjong_env.ruleset.shapes import other_shapes

_MOST_GAMES: Final = 4096
"""The most games that are played out at once, which keeps memory small."""
_FIRST_WORLDS: Final = 16
_FULL: Final = 1024
"""The number of games that fills a batch. Smaller ones take little less time, so rounds get more worlds up to it."""
_CLEAR: Final = 2.0
_LIKELY: Final = 0.05
_HORIZON: Final = 4
_SCARCE: Final = 8
"""With ``likely`` few decisions are searched, so this many times as many games are played at once to fill batches."""
_MOST: Final = 1_000_000  # the greatest value of every budget
_MOST_WORLDS: Final = 4096  # the most worlds for one decision when time is the budget
_REACH: Final = 2
"""Plans for shapes that are at most this many tiles farther than the nearest one are tried."""
NO_PLAN: Final = -1
"""No plan: the base plays on."""


class SearchAgent:
    """Plays promising actions out in the same worlds, and departs from its base's choice only for a clear gain.

    For every decision the agent draws worlds (determinizations): hands of the others and a wall that agree with what
    its seat has seen. In each world it plays every promising action and then lets the base play on. The other seats
    are played by the base too, or by another agent (``others``). Play goes on to the end of the hand, or for a few
    decisions of the own seat, after which a critic estimates the rest. With ``plans`` it also tries plans (one suit,
    pungs, seven pairs), which are followed for just as long.

    What decides are the differences to the base's own choice, world by world, which have less noise than the points
    themselves. After each round, the agent gives up the worse half of the candidates (successive halving) and all that
    look no better than the base's choice; the others are tried in twice as many new worlds. Where few decisions are
    searched at once, rounds are larger, so that a batch is full; most decisions are then made in the first round.

    The agent knows only what its view shows; whatever is hidden in the real game is drawn anew.

    Attributes:
        name: "search".
        games_at_once: see `mahjong_agents.base.games_at_once`.
    """

    name = "search"

    def __init__(
        self,
        *,
        rollouts: int = 256,
        milliseconds: int | None = None,
        clear: float | None = None,
        nearness: bool = True,
        luck: bool | None = None,
        base: str | Agent = "policy",
        others: str | Agent | None = None,
        actions: int = 3,
        plans: int = 3,
        likely: float | None = None,
        horizon: int | None = None,
    ) -> None:
        """Choose the budget, and the agent that plays where nothing is clearly better.

        Args:
            rollouts: the most worlds for each decision.
            milliseconds: a time for each row of a view, instead of ``rollouts``; the choices then depend on the
                machine.
            clear: by how many standard errors an action must be better than the base's own choice; None for 2.
            nearness: whether the hands of the others are drawn as near to a win as such hands are by then
                (`mahjong_agents.search.opponent_hands`). False draws them uniformly, so that they are as far away as
                right after the deal.
            luck: whether the luck of the draws is subtracted from the points (`mahjong_agents.control_variates`) where
                that narrows them; about half of the variance of a difference is left. None means True, but False where
                ``clear`` is given, for the same reason as with ``likely``.
            base: the agent, or its text, that plays after the action that is tried. "policy" is the policy that is
                shipped for exactly these rules, and "reference" where there is none.
            others: the agent that is assumed at the other seats; None for the base. A search is only as good as that
                assumption.
            actions: how many actions are tried, the base's own included.
            plans: how many plans are tried in addition.
            likely: the smallest probability, 0 to 1, that a policy as the base must give an action (or the first
                action of a plan) for it to be tried. Decisions of which the policy is sure are then not searched, and
                the time goes to those that it doubts. It has no effect on bases that give no probabilities. None means
                0.05, but 0 where ``clear`` is given, as it was when the first levels got their names
                (`mahjong_agents.levels`).
            horizon: how many more decisions of the seat are played in a world. Then a critic, learned from the shipped
                policy's hands, estimates what the rest of the hand will bring (truncated rollouts, Tesauro and
                Galperin, 1996), which takes less time and needs fewer worlds. 0 plays worlds to the end of the hand, as
                also happens where no critic is shipped for the rules. None means 4, but 0 where ``clear`` is given.

        Raises:
            AgentError: a budget is not a number above 0, ``clear`` is below 0, or the base is not an agent.
        """
        budgets = {"rollouts": rollouts, "milliseconds": milliseconds, "actions": actions}
        for what, budget in (budgets | {"plans": plans, "horizon": horizon}).items():
            least, is_number = int(what in budgets), isinstance(budget, int) and not isinstance(budget, bool)
            if budget is None and what in ("milliseconds", "horizon"):
                continue
            if budget is None or not (is_number and least <= budget <= _MOST):
                raise AgentError(f"search: {what} is an integer from {least} to {_MOST}, not {budget!r}")
        as_first = clear is not None  # the texts of the first levels give it, and play as they did then
        likely = (0.0 if as_first else _LIKELY) if likely is None else likely
        horizon = (0 if as_first else _HORIZON) if horizon is None else horizon
        if clear is not None and (
            isinstance(clear, bool) or not isinstance(clear, int | float) or not 0 <= clear < np.inf
        ):
            raise AgentError(f"search: clear is a finite number from 0 on, not {clear!r}")
        if isinstance(likely, bool) or not isinstance(likely, int | float) or not 0 <= likely <= 1:
            raise AgentError(f"search: likely is a probability from 0 to 1, not {likely!r}")
        self._rollouts, self._milliseconds, self._likely = rollouts, milliseconds, likely
        self._clear = _CLEAR if clear is None else clear
        self._nearness, self._luck = nearness, not as_first if luck is None else luck
        self._actions, self._plans, self._horizon = actions, plans, horizon
        self._base = make_agent(base)
        self._others = None if others is None else make_agent(others)
        # About a minute of play; with fewer games, batches would be too small for numpy to be fast.
        at_once = 6400 // rollouts if milliseconds is None else 3000 // milliseconds
        self.games_at_once = max(1, at_once * (_SCARCE if likely else 1))

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the base's action, or one that is clearly better; see `mahjong_agents.Agent.act`."""
        return self._play(view, rng, None)

    def explain(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Annotation | None]]:
        """Choose as `act` does, and give for each action that was tried its gain over the base's own, which has 0.

        See `mahjong_env.environments.agents.ExplainingAgent`.
        """
        notes: list[Annotation | None] = [None] * len(view)
        return self._play(view, rng, notes), notes

    def _play(self, view: View, rng: np.random.Generator, notes: list[Annotation | None] | None) -> NDArray[np.int64]:
        """Return [n] actions; fill in ``notes`` [n] if they are wanted."""
        chosen = np.array(self._base.act(view, rng), np.int64)
        doubtful = np.flatnonzero(~view.action_mask[:, WIN] & (view.action_mask.sum(axis=1) > 1))
        if not doubtful.size:
            return chosen
        tried, tries = self._search(view.take(doubtful), chosen[doubtful], rng)
        if notes is not None:
            told = annotate("values", len(doubtful), tried.row, tried.action, tries.mean())
            for at, note in zip(doubtful, told, strict=True):
                notes[at] = note
        chosen[doubtful] = self._best(chosen[doubtful], tried, tries)
        return chosen

    def _search(self, view: View, usual: NDArray[np.int64], rng: np.random.Generator) -> tuple[Candidates, _Tries]:
        """Try candidates; return them and what they brought."""
        tried = candidates(view, usual, self._base, self._actions, self._plans, rng, self._likely)
        own = (tried.action == usual[tried.row]) & (tried.plan == NO_PLAN)
        tries = _Tries(len(tried.row))
        alive = np.ones(len(tried.row), np.bool_)
        budget = self._rollouts if self._milliseconds is None else _MOST_WORLDS
        worlds, played, started = _FIRST_WORLDS, 0, perf_counter()
        while played < budget:
            rows = np.unique(tried.row[alive & ~own])
            if not rows.size:
                break
            games = np.bincount(tried.row[alive], minlength=len(view))[rows].cumsum()
            if self._milliseconds is None:
                worlds = max(worlds, _FULL // int(games[-1]))
            worlds = min(worlds, budget - played)
            part = games * worlds // _MOST_GAMES
            for number in np.unique(part):
                some = rows[part == number]
                now = np.flatnonzero(alive & np.isin(tried.row, some))
                points = self._play_out(view.take(some), some, tried, now, worlds, rng)
                of_own = np.zeros((len(view), worlds))
                of_own[tried.row[now[own[now]]]] = points[own[now]]
                tries.add(now, points - of_own[tried.row[now]])
            alive = own | _better_half(tried.row, tries.mean(), alive & ~own & (tries.mean() > 0))
            if self._milliseconds is not None and (perf_counter() - started) * 1000 > self._milliseconds * len(view):
                break
            played += worlds
            worlds *= 2
        return tried, tries

    def _play_out(
        self,
        view: View,
        rows: NDArray[np.intp],
        tried: Candidates,
        now: NDArray[np.intp],
        worlds: int,
        rng: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Return [k, worlds] what the candidates ``now`` [k] of the rows of a view bring, in the same new worlds."""
        first = np.searchsorted(rows, tried.row[now]) * worlds
        world = (first[:, None] + np.arange(worlds)).reshape(-1)
        action, plan = np.repeat(tried.action[now], worlds), np.repeat(tried.plan[now], worlds)
        weights = useful_weights(view.rules) if self._luck else None
        engine = self.copies(view, worlds, world, rng)
        critic = shipped_critic(view.rules) if self._horizon else None
        points = play_out(engine, action, plan, world, self._base, rng, weights, self._others, critic, self._horizon)
        return points.reshape(len(now), worlds)

    def copies(self, view: View, worlds: int, world: NDArray[np.intp], rng: np.random.Generator) -> Engine:
        """Draw ``worlds`` new worlds for each of n rows; return [m] copies of them, chosen by their numbers [m]."""
        near = shipped_opponent_hands(view.rules) if self._nearness else None
        return view.worlds(worlds, rng, near).select(world)

    def _best(self, usual: NDArray[np.int64], tried: Candidates, tries: _Tries) -> NDArray[np.int64]:
        """Return [n] the usual actions, except where another one is clearly better."""
        is_better = (tried.action != usual[tried.row]) & (tries.mean() > self._clear * tries.error())
        gain = np.where(is_better, tries.mean(), 0.0)
        best = usual.copy()
        for number in np.argsort(gain, kind="stable"):
            if gain[number] > 0:
                best[tried.row[number]] = tried.action[number]
        return best


class _Tries:
    """Means of differences, and their standard errors, for k candidates."""

    def __init__(self, number: int) -> None:
        self._number, self._sum, self._squares = np.zeros((3, number))

    def add(self, which: NDArray[np.intp], differences: NDArray[np.float64]) -> None:
        """Add differences [m, worlds] of some candidates."""
        self._number[which] += differences.shape[1]
        self._sum[which] += differences.sum(axis=1)
        self._squares[which] += (differences**2).sum(axis=1)

    def mean(self) -> NDArray[np.float64]:
        """Return [k] means."""
        return self._sum / np.maximum(self._number, 1)

    def error(self) -> NDArray[np.float64]:
        """Return [k] standard errors."""
        number = np.maximum(self._number, 2)
        variance = np.maximum(self._squares / number - self.mean() ** 2, 0) * number / (number - 1)
        return np.sqrt(variance / number)


def _better_half(row: NDArray[np.intp], mean: NDArray[np.float64], alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return [k] which candidates are not below the median of those alive in their row; one always remains."""
    keep = np.zeros(len(row), np.bool_)
    for number in np.unique(row[alive]):
        at = np.flatnonzero(alive & (row == number))
        keep[at[np.argsort(-mean[at], kind="stable")[: (len(at) + 1) // 2]]] = True
    return keep


# --- Candidates -----------------------------------------------------------------------------------------------
class Candidates(NamedTuple):
    """k things to try in n rows, ascending by row.

    Attributes:
        row: [k] intp rows.
        action: [k] int64 the action played now.
        plan: [k] intp the plan followed afterwards (`mahjong_agents.plans`), or `NO_PLAN`.
    """

    row: NDArray[np.intp]
    action: NDArray[np.int64]
    plan: NDArray[np.intp]


def candidates(
    view: View,
    usual: NDArray[np.int64],
    base: Agent,
    actions: int,
    plans: int,
    rng: np.random.Generator,
    likely: float = 0.0,
) -> Candidates:
    """Return the actions and plans that are worth trying.

    Args:
        view: what n seats see.
        usual: [n] the actions of the base; they come first in every row.
        base: the agent that plays on.
        actions: how many actions of a row are tried at most, the usual one included.
        plans: how many plans of a row are tried at most.
        rng: the source of randomness, which decides between equally good discards of a plan.
        likely: the smallest probability that a policy as the base must give an action for it to be tried.
    """
    possible = view.action_mask
    scores = base.scores(view) if hasattr(base, "scores") else None
    if scores is None:  # the nearest hand comes first, then the one with most acceptance
        ahead = look_ahead(view)
        order = -np.where(view.action_mask, ahead.help / 1000 - ahead.distance, -np.inf)
    else:
        order = -scores
        if likely > 0:
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            possible = shares >= likely * shares.sum(axis=1, keepdims=True)
    order[np.arange(len(view)), usual] = -np.inf
    ranked = np.argsort(order, axis=1, kind="stable")[:, :actions]
    row, action = np.repeat(np.arange(len(view)), ranked.shape[1]), ranked.reshape(-1)
    tried = possible[row, action] | (action == usual[row])
    row, action = row[tried], action[tried].astype(np.int64)
    plan = np.full(len(row), NO_PLAN, np.intp)
    if plans:
        planned_row, planned = _plans_to_try(view, plans)
        begun = follow_plans(view.take(planned_row), planned, rng)
        # A plan that begins with the base's action can wait for the next decision.
        other = np.flatnonzero((begun != usual[planned_row]) & possible[planned_row, begun])
        row, action = np.concatenate([row, planned_row[other]]), np.concatenate([action, begun[other]])
        plan = np.concatenate([plan, planned[other]])
    by_row = np.argsort(row, kind="stable")
    return Candidates(row[by_row], action[by_row], plan[by_row])


def _plans_to_try(view: View, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return [k] rows and plans, ``most`` for a row: any shape with and without claims, then the nearest shapes."""
    hands = replace(concealed(view, np.arange(len(view))), counts=count_planes(view.natural_hand))
    found = plans_within_reach(hands, view.meld_type[:, 0], view.meld_kind[:, 0], other_shapes(view.rules), _REACH)
    found = found.take(np.flatnonzero(found.plan != ANY))
    found = found.take(np.lexsort((found.plan, found.distance, found.hand)))
    # Playing with or without claims is a question only where there is something to claim.
    asked = np.flatnonzero(~view.action_mask[:, :CONCEALED_KONG].any(axis=1))
    row = np.concatenate([asked, asked, found.hand])
    plan = np.concatenate([np.repeat([OPEN, CLOSED], len(asked)), found.plan])
    order = np.argsort(row, kind="stable")
    row, plan = row[order], plan[order]
    kept = np.arange(len(row)) - np.searchsorted(row, row) < most
    return row[kept], plan[kept]


# --- Rollouts -------------------------------------------------------------------------------------------------
def play_out(
    engine: Engine,
    actions: NDArray[np.int64],
    plan: NDArray[np.intp],
    world: NDArray[np.intp],
    policy: Agent,
    rng: np.random.Generator,
    luck_weights: NDArray[np.float64] | None = None,
    others: Agent | None = None,
    critic: Critic | None = None,
    horizon: int = 0,
) -> NDArray[np.float64]:
    """Play to the end of the hand, or until a critic estimates the rest.

    Games of the same world get the same random numbers at every move, so that they differ by what was played first,
    and by little else.

    Args:
        engine: the games.
        actions: [games] the actions played first.
        plan: [games] the plans that the seats acting first follow afterwards, or `NO_PLAN`.
        world: [games] the number of the world that a game is a copy of.
        policy: the agent that plays otherwise.
        rng: the source of randomness.
        luck_weights: [F] weights of the control variates that are subtracted from the results
            (`mahjong_agents.control_variates`); None subtracts nothing.
        others: the agent at the seats that did not act first; None for the policy.
        critic: estimates the rest of a hand; None plays hands to their end.
        horizon: further decisions of the seats acting first that are played before the critic is asked.

    Returns:
        [games] the points that each game brings the seat acting first.
    """
    luck = None if luck_weights is None else Luck(engine, luck_weights, engine.rules.drawable)
    games = np.arange(engine.num_games)
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games)
    number = int(world.max(initial=-1)) + 1
    followed, decisions = CriticInputs(len(games), engine.rules.seats), np.zeros(len(games), np.intp)
    live, chosen = games, actions
    while live.size:
        result = engine.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        live = live[~result.hand_over & ~result.done]
        if not live.size:
            break
        if luck is not None:
            luck.add(live)  # only hands that go on: where one has ended, the next one has been dealt in a match
        bits = np.random.SFC64(int(rng.integers(2**63)))
        seat = engine.seat_to_act[live].astype(np.intp)
        own = seat == person[live]
        planned = own & (plan[live] != NO_PLAN)
        by_policy = ~planned if others is None else own & ~planned
        chosen, table = np.zeros(len(live), np.int64), np.zeros((len(live), len(TABLE_FACTS)), np.int8)
        for who, which in ((policy, by_policy), (None, planned), (others, ~by_policy & ~planned)):
            rows = np.flatnonzero(which)
            if rows.size:
                view, chance = engine.view(games=live[rows]), RowChance(bits, world[live[rows]], number)
                inputs = None
                if who is None:
                    chosen[rows] = follow_plans(view, plan[live[rows]], chance)
                elif isinstance(who, PolicyAgent):
                    chosen[rows], inputs = who.decide(view, chance)
                else:
                    chosen[rows] = who.act(view, chance)
                if critic is not None:
                    table[rows] = table_rows(inputs, view)
                del view  # otherwise the engine would keep what it shows through the next step
        if critic is not None:
            followed.note(live, seat, table)
            decisions[live] += own
            is_over = own & (decisions[live] > horizon) & (chosen != WIN)
            over = live[is_over]
            if over.size:
                points[over] += critic(followed.of(over, person[over], table[is_over]))
                live, chosen = live[~is_over], chosen[~is_over]
    return points if luck is None else points - luck.by_person()[games, person] / UNIT
