"""The agent that tries its actions out on determinizations, played on for a while or to the end of the hand."""

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
"""Games that are played out at once, so that memory stays small."""
_FIRST_WORLDS: Final = 16
_FULL: Final = 1024
"""Games with which a batch is full; a smaller one takes little less time, so a round has more worlds where they fit."""
_CLEAR: Final = 2.0
_LIKELY: Final = 0.05
_HORIZON: Final = 4
_SCARCE: Final = 8
"""With ``likely``, few decisions are searched: this factor more are looked at together, or batches are small."""
_MOST: Final = 1_000_000  # of every budget
_MOST_WORLDS: Final = 4096  # of one decision, when time is the budget
_REACH: Final = 2
"""Plans at most this many tiles farther than the nearest shape are tried."""
NO_PLAN: Final = -1
"""The base plays on."""


class SearchAgent:
    """Plays promising actions out on the same worlds, and leaves its base's choice only for a clear gain.

    For every decision it draws worlds (determinizations): hands of the others and a wall that agree with what its
    seat has seen. In each of them it plays every promising action and then the base (the other seats may be taken for
    another agent), up to the end of the hand, or for a few decisions of its own, after which a critic foresees what the
    rest is worth; with ``plans`` it also begins plans (one suit, pungs, seven pairs), which are followed as long.
    Differences to the base's own choice, world by world, decide: they have less noise than the points. After each round
    the worse half of the candidates is given up (successive halving), and all that look no better than the base's
    choice; the others are tried on twice as many new worlds. Where few decisions are searched at once, rounds are
    larger, so that a batch is full: most of them are then decided in the first.

    It knows what its view shows; what is hidden in the real game is drawn anew.

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
        """Choose the budget, and who plays where nothing is clearly better.

        Args:
            rollouts: worlds for each decision, at most.
            milliseconds: time for each row of a view instead; what is chosen then depends on the machine.
            clear: standard errors by which an action must be better than the base's own choice; None: 2.
            nearness: whether the hands of the others are drawn as near to a win as such hands are by then
                (`mahjong_agents.search.opponent_hands`); False: uniformly, so that they are as far away as at the deal.
            luck: whether the luck of the draws is taken off the points (`mahjong_agents.control_variates`) where that
                narrows them: about half of the variance of a difference is left. None: it is, but for ``clear`` as with
                ``likely``.
            base: the agent, or its text, that plays after the action that is tried. "policy" is the policy that is
                shipped for these very rules, and "reference" where there is none.
            others: the agent that the other seats are taken for; None: the base as well. A search is only as good as
                that guess.
            actions: how many actions are tried, the base's own among them.
            plans: how many plans are tried beside them.
            likely: the least probability, 0 to 1, that a policy as the base gives an action (or the first action of a
                plan) that is tried: what it is sure of is not searched, and the time goes to what it doubts. Without
                effect on bases that give no probabilities. None: 0.05; but 0 where ``clear`` is given, as it was when
                the first levels got their names (`mahjong_agents.levels`).
            horizon: how many more decisions of the seat are played in a world; then the critic of the shipped policy's
                hands says what the rest of the hand will bring (truncated rollouts, Tesauro and Galperin, 1996), which
                takes less time, and needs fewer worlds. 0: worlds are played to the end of the hand, as they are where
                no critic is shipped for the rules. None: 4; but 0 where ``clear`` is given.

        Raises:
            AgentError: a budget that is not a number above 0, a ``clear`` below 0, a base that is none.
        """
        budgets = {"rollouts": rollouts, "milliseconds": milliseconds, "actions": actions}
        for what, budget in (budgets | {"plans": plans, "horizon": horizon}).items():
            least, is_number = int(what in budgets), isinstance(budget, int) and not isinstance(budget, bool)
            if budget is None and what in ("milliseconds", "horizon"):
                continue
            if budget is None or not (is_number and least <= budget <= _MOST):
                raise AgentError(f"search: {what} is an integer from {least} to {_MOST}, not {budget!r}")
        as_first = clear is not None  # texts of the first levels play as they did
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
        # About a minute: with fewer games, worlds are drawn and played out in batches too small for numpy.
        at_once = 6400 // rollouts if milliseconds is None else 3000 // milliseconds
        self.games_at_once = max(1, at_once * (_SCARCE if likely else 1))

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the base's action, or one that is clearly better; see `mahjong_agents.Agent.act`."""
        return self._play(view, rng, None)

    def explain(self, view: View, rng: np.random.Generator) -> tuple[NDArray[np.int64], list[Annotation | None]]:
        """Choose, and tell what each action that was tried brought more than the base's own, which is 0.

        See `mahjong_env.environments.agents.ExplainingAgent`.
        """
        notes: list[Annotation | None] = [None] * len(view)
        return self._play(view, rng, notes), notes

    def _play(self, view: View, rng: np.random.Generator, notes: list[Annotation | None] | None) -> NDArray[np.int64]:
        """Return [n] actions; ``notes`` [n] are filled in where they are wanted."""
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
        """Try candidates: what they were, and what they brought."""
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
        """Return [k, worlds] what the candidates ``now`` [k] of the rows of a view bring, on the same new worlds."""
        first = np.searchsorted(rows, tried.row[now]) * worlds
        world = (first[:, None] + np.arange(worlds)).reshape(-1)
        action, plan = np.repeat(tried.action[now], worlds), np.repeat(tried.plan[now], worlds)
        weights = useful_weights(view.rules) if self._luck else None
        engine = self.copies(view, worlds, world, rng)
        critic = shipped_critic(view.rules) if self._horizon else None
        points = play_out(engine, action, plan, world, self._base, rng, weights, self._others, critic, self._horizon)
        return points.reshape(len(now), worlds)

    def copies(self, view: View, worlds: int, world: NDArray[np.intp], rng: np.random.Generator) -> Engine:
        """Return [m] games of ``worlds`` new worlds for each of n rows, by the numbers [m] of these worlds."""
        near = shipped_opponent_hands(view.rules) if self._nearness else None
        return view.worlds(worlds, rng, near).select(world)

    def _best(self, usual: NDArray[np.int64], tried: Candidates, tries: _Tries) -> NDArray[np.int64]:
        """Return [n] the usual actions, but for those than which another one is clearly better."""
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
        """Add differences [m, worlds] of some of them."""
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
    """Return [k] which candidates are not below the median of those alive in their row; one is always left."""
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
        action: [k] int64 what is played now.
        plan: [k] intp what is played for afterwards (`mahjong_agents.plans`), or `NO_PLAN`.
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
    """Return what is worth a try.

    Args:
        view: what n seats see.
        usual: [n] what the base plays; it comes first in every row.
        base: who plays.
        actions: how many actions of a row are tried at most, the usual one among them.
        plans: how many plans at most.
        rng: what decides between equally good discards of a plan.
        likely: the least probability that a policy as the base gives an action that is tried.
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
        # A plan that begins with what the base plays anyway can wait for the next decision.
        other = np.flatnonzero((begun != usual[planned_row]) & possible[planned_row, begun])
        row, action = np.concatenate([row, planned_row[other]]), np.concatenate([action, begun[other]])
        plan = np.concatenate([plan, planned[other]])
    by_row = np.argsort(row, kind="stable")
    return Candidates(row[by_row], action[by_row], plan[by_row])


def _plans_to_try(view: View, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return [k] rows and [k] plans, ``most`` for a row: any shape with claims and without, then the nearest others."""
    hands = replace(concealed(view, np.arange(len(view))), counts=count_planes(view.natural_hand))
    found = plans_within_reach(hands, view.meld_type[:, 0], view.meld_kind[:, 0], other_shapes(view.rules), _REACH)
    found = found.take(np.flatnonzero(found.plan != ANY))
    found = found.take(np.lexsort((found.plan, found.distance, found.hand)))
    # With claims or without is asked where there is something to claim.
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
    """Play to the end of the hand, or until a critic foresees it.

    Games of the same world draw the same lots at every move: they differ by what was played first, and by little else.

    Args:
        engine: the games.
        actions: [games] what is played first.
        plan: [games] what those who act first play for afterwards, or `NO_PLAN`.
        world: [games] the number of the world that a game is a copy of.
        policy: who plays otherwise.
        rng: where the lots come from.
        luck_weights: [F] of the control variates that are taken off what it brings (`mahjong_agents.control_variates`);
            None: off nothing.
        others: who plays at the seats of those who did not act first; None: the policy as well.
        critic: what foresees the rest of a hand; None: hands are played to their end.
        horizon: further decisions of those who act first that are played before the critic is asked.

    Returns:
        [games] what it brings those who act first.
    """
    luck = None if luck_weights is None else Luck(engine, luck_weights, engine.rules.drawable)
    games = np.arange(engine.num_games)
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games)
    number = int(world.max(initial=-1)) + 1
    followed, decisions = CriticInputs(len(games), engine.rules.people), np.zeros(len(games), np.intp)
    live, chosen = games, actions
    while live.size:
        result = engine.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        live = live[~result.hand_over & ~result.done]
        if not live.size:
            break
        if luck is not None:
            luck.add(live)  # of hands that go on: where one has ended, a match has dealt the next
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
                del view  # the engine would keep what it shows through the next step
        if critic is not None:
            followed.note(live, seat, table)
            decisions[live] += own
            is_over = own & (decisions[live] > horizon) & (chosen != WIN)
            over = live[is_over]
            if over.size:
                points[over] += critic(followed.of(over, person[over], table[is_over]))
                live, chosen = live[~is_over], chosen[~is_over]
    return points if luck is None else points - luck.by_person()[games, person] / UNIT
