"""Action values: every legal action is played on the same hidden worlds, to the end of the hand.

`evaluate_actions` takes positions of an engine and returns arrays, `ActionValues`. The command makes tables, sentences
and pages of them, and reviews whole games: `mahjong_training.analysis.review`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.shared_chance import pair
from mahjong_env import ACTIONS, Engine, Rules
from mahjong_env.environments.agents import choose_actions
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import student_t

ENDS: Final = ("drawn", "won by draw", "won on another's tile", "dealt in", "won by others")
"""The ways in which a hand ends for the person who acted; "won by others": not with a tile of this person."""

DRAWN: Final = 0
SELF_DRAWN: Final = 1
WON_ON_TILE: Final = 2
DEALT_IN: Final = 3
OTHERS_WON: Final = 4

_CONFIDENCE: Final = 0.95
MOST_GAMES: Final = 8192
"""Games that are played at once, so that memory stays small."""
FIRST_WORLDS: Final = 64
"""Worlds of the first round where time or the width of intervals is the budget; each round doubles them."""
MOST_WORLDS: Final = 1_000_000
_CHOICE, _WORLDS, _LOTS = range(3)  # what chance is drawn for


@dataclass(frozen=True)
class Comparison:
    """Paired differences of m actions.

    Attributes:
        mean: [m] float64.
        low, high: [m] float64 the ends of 95 % intervals.
        error: [m] float64 standard errors of the means.
    """

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    error: NDArray[np.float64]

    @property
    def half_width(self) -> NDArray[np.float64]:
        """[m] half the length of the intervals."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class ActionValues:
    """The m legal actions of n positions, each played on the worlds of its position.

    Attributes:
        rules: what is played.
        seat: [n] int8 the person who is to act.
        taken: [n] int64 the action that the others are compared with: the one that was played, or else the agent's.
        worlds: [n] int64 worlds that were played.
        position: [m] intp positions, ascending.
        action: [m] int64 actions, ascending within a position.
        points: [m, W] int32 what the person gained from here to the end of the hand; world w is the same for all
            actions of a position. Only the first ``worlds`` of a position count; behind them stand zeros.
        end: [m, W] int8 how the hand ended for the person, see `ENDS`; -1 behind the last world.
    """

    rules: Rules
    seat: NDArray[np.int8]
    taken: NDArray[np.int64]
    worlds: NDArray[np.int64]
    position: NDArray[np.intp]
    action: NDArray[np.int64]
    points: NDArray[np.int32]
    end: NDArray[np.int8]

    @property
    def reference(self) -> NDArray[np.intp]:
        """[m] for each action the place of the action of its position that was taken."""
        of_position = np.flatnonzero(self.action == self.taken[self.position])
        return of_position[self.position]

    @property
    def wins(self) -> NDArray[np.bool_]:
        """[m, W] whether the person won."""
        won: NDArray[np.bool_] = (self.end == SELF_DRAWN) | (self.end == WON_ON_TILE)
        return won

    def mean(self) -> NDArray[np.float64]:
        """[m] mean points from here to the end of the hand."""
        means: NDArray[np.float64] = self.points.sum(axis=1) / self.worlds[self.position]
        return means

    def share(self, *ends: int) -> NDArray[np.float64]:
        """[m] share of worlds that ended in one of these ways."""
        shares: NDArray[np.float64] = np.isin(self.end, ends).sum(axis=1) / self.worlds[self.position]
        return shares

    def against_taken(self, values: NDArray[Any] | None = None) -> Comparison:
        """Compare every action with the one that was taken, world by world.

        Args:
            values: [m, W] what is compared, zero behind the last world; None: points.

        Returns:
            [m] differences (zero for the action taken) with 95 % intervals by Student's t, each for itself.
        """
        of_action = np.asarray(self.points if values is None else values, np.float64)
        differences = of_action - of_action[self.reference]
        number = self.worlds[self.position]
        mean = differences.sum(axis=1) / number
        squares = (differences**2).sum(axis=1) - number * mean**2
        error = np.sqrt(np.maximum(squares, 0) / np.maximum(number - 1, 1) / number)
        reach = np.array([student_t(max(int(n) - 1, 1), _CONFIDENCE) for n in number])
        half = np.where(number > 1, reach * error, np.inf)
        half[np.arange(len(half)) == self.reference] = 0
        return Comparison(mean, mean - half, mean + half, error)

    def against_best(self) -> Comparison:
        """Compare every action with the best of the others of its position; a position of one action with itself.

        Which action is best is not known but estimated from the same worlds. So each interval holds whichever it is:
        it is put together from the differences to all other actions, at 95 % for all of them at once (Bonferroni).
        It is wider than one between two actions that were named before.

        Returns:
            [m] points less those of the best other action: positive for the best. ``error`` is the standard error of
            the difference to the action that the others' best seems to be.
        """
        mean, low, high, error = np.zeros((4, len(self.action)))
        starts = np.searchsorted(self.position, np.arange(len(self.taken) + 1))
        for first, last, worlds in zip(starts[:-1], starts[1:], self.worlds, strict=True):
            if last - first > 1:
                own = slice(first, last)
                mean[own], low[own], high[own], error[own] = _against_best(self.points[own, :worlds])
        return Comparison(mean, low, high, error)

    def differences(self) -> NDArray[np.float64]:
        """[n, 109] paired mean differences of points to the action taken, NaN where an action is not legal."""
        table = np.full((len(self.taken), len(ACTIONS)), np.nan)
        table[self.position, self.action] = self.against_taken().mean
        return table


def join(parts: list[ActionValues]) -> ActionValues:
    """Return the positions of several results as one, in order."""
    most = max(part.points.shape[1] for part in parts)
    starts = np.cumsum([0, *(len(part.taken) for part in parts)])

    def wide(values: NDArray[Any], fill: int) -> NDArray[Any]:
        return np.pad(values, ((0, 0), (0, most - values.shape[1])), constant_values=fill)

    return ActionValues(
        rules=parts[0].rules,
        seat=np.concatenate([part.seat for part in parts]),
        taken=np.concatenate([part.taken for part in parts]),
        worlds=np.concatenate([part.worlds for part in parts]),
        position=np.concatenate([part.position + start for part, start in zip(parts, starts, strict=False)]),
        action=np.concatenate([part.action for part in parts]),
        points=np.concatenate([wide(part.points, 0) for part in parts]),
        end=np.concatenate([wide(part.end, -1) for part in parts]),
    )


def _against_best(points: NDArray[np.int32]) -> tuple[NDArray[np.float64], ...]:
    """Return mean, low, high and error [k] for the actions of one position, whose points [k, W] are given."""
    number, worlds = points.shape
    mean = points.mean(axis=1)
    centred = points - mean[:, None]
    products = centred @ centred.T / max(worlds - 1, 1)
    spread = np.diag(products)
    error = np.sqrt(np.maximum(spread[:, None] + spread - 2 * products, 0) / worlds)
    difference = mean[:, None] - mean
    if worlds > 1:  # 5 % are shared among the differences of an action to all others
        half = student_t(worlds - 1, 1 - (1 - _CONFIDENCE) / (number - 1)) * error
    else:
        half = np.full_like(error, np.inf)
    itself = np.eye(number, dtype=np.bool_)
    low, high = (np.where(itself, np.inf, difference + sign * half).min(axis=1) for sign in (-1, 1))
    best = np.where(itself, np.inf, difference).argmin(axis=1)
    every = np.arange(number)
    return difference[every, best], low, high, error[every, best]


# --- Playing ---------------------------------------------------------------------------------------------------------


def evaluate_actions(
    engine: Engine,
    games: Any = None,
    *,
    worlds: int = 256,
    agents: str | Agent | Sequence[str | Agent] = "greedy",
    taken: Any = None,
    hindsight: bool = False,
    width: float | None = None,
    milliseconds: float | None = None,
    seed: int = 0,
    tell: Callable[[str], object] = lambda line: None,
) -> ActionValues:
    """Play every legal action of some positions on the same hidden worlds, and then agents at all seats.

    Worlds are drawn from what the person to act can see (`mahjong_env.View.worlds`): the true hidden tiles have no
    part in them. The same lots are drawn in the same world after each action, so that the differences have little
    noise. A hand counts to its end, the rest of a match does not.

    Args:
        engine: the positions; it is left as it is.
        games: [n] its games; None: all. Each must wait for an action.
        worlds: worlds for each position; with ``width`` or ``milliseconds`` the most.
        agents: who plays on at all seats; or one for each person.
        taken: [n] actions that the others are compared with; None: what the person's agent would choose.
        hindsight: keep the true hidden tiles and the true wall, to teach from hindsight. What differs between worlds
            is then the agents' chance alone.
        width: stop a position once no interval against the action taken reaches further than this many points to
            either side.
        milliseconds: stop a position after about so much time; what is found then depends on the machine.
        seed: of worlds and lots.
        tell: told how far it is.

    Returns:
        What every action brought in each world.

    Raises:
        TrainingError: a budget that is not above 0, a game that is over, an action that is not legal, as many agents
            as neither 1 nor persons.
    """
    _check_budget(worlds, width, milliseconds, seed)
    which = np.arange(engine.num_games) if games is None else np.atleast_1d(np.asarray(games))
    start = _start(engine, which, _read_agents(agents, engine), taken, seed)
    played = _Played(start, worlds if width is None and milliseconds is None else FIRST_WORLDS)
    open_ = np.ones(len(which), np.bool_)
    batch = min(worlds, FIRST_WORLDS) if width is not None or milliseconds is not None else worlds
    spent = np.zeros(len(which))
    while open_.any():
        for positions, number in _batches(start, np.flatnonzero(open_), batch):
            tell(f"{int(open_.sum())} of {len(which)} positions, {int(played.worlds[positions[0]])} worlds so far")
            begun = perf_counter()
            played.add(positions, *_play(start, positions, number, hindsight, played.next_seed()))
            spent[positions] += (perf_counter() - begun) / len(positions)
        open_ &= played.worlds < worlds
        if milliseconds is not None:
            open_ &= spent * 1000 < milliseconds
        if width is not None:
            half = played.values().against_taken().half_width
            widest = np.zeros(len(which))
            np.maximum.at(widest, start.position, half)
            open_ &= widest > width
        if open_.any():
            batch = int(min(played.worlds[open_].max(), worlds - played.worlds[open_].max()))
    return played.values()


@dataclass(frozen=True)
class _Start:
    """The positions and their legal actions; see `ActionValues`."""

    engine: Engine
    games: NDArray[np.intp]
    agents: tuple[Agent, ...]
    seat: NDArray[np.int8]
    taken: NDArray[np.int64]
    position: NDArray[np.intp]
    action: NDArray[np.int64]
    seed: int


def _start(engine: Engine, games: NDArray[np.intp], agents: tuple[Agent, ...], taken: Any, seed: int) -> _Start:
    view = engine.view(games)
    idle = np.flatnonzero(~view.action_mask.any(axis=1))
    if not len(games) or idle.size:
        where = f"game {games[idle[0]]} is over" if idle.size else "no position is named"
        raise TrainingError(f"{where}; every position must wait for an action")
    seat = engine.seat_to_act[games]
    if taken is None:
        rng = np.random.default_rng([seed, _CHOICE])
        taken = choose_actions(engine, games, agents, _who(agents, seat), rng)
    chosen = np.asarray(taken)
    if chosen.shape != games.shape or chosen.dtype.kind not in "iu":
        raise TrainingError(f"the actions taken are {len(games)} integers, one for each position")
    inside = (chosen >= 0) & (chosen < len(ACTIONS))
    legal = inside & view.action_mask[np.arange(len(games)), np.where(inside, chosen, 0)]
    if not legal.all():
        wrong = int(legal.argmin())
        raise TrainingError(f"position {wrong}: the action taken, {chosen[wrong]}, is not legal there")
    position, action = view.action_mask.nonzero()
    return _Start(engine, games, agents, seat, chosen.astype(np.int64), position, action, seed)


def _who(agents: tuple[Agent, ...], seat: NDArray[np.int8]) -> NDArray[np.intp]:
    return seat.astype(np.intp) if len(agents) > 1 else np.zeros(len(seat), np.intp)


class _Played:
    """The worlds that have been played so far."""

    def __init__(self, start: _Start, room: int) -> None:
        self._start, self._batches = start, 0
        self.worlds = np.zeros(len(start.games), np.int64)
        self._points = np.zeros((len(start.action), room), np.int32)
        self._end = np.full((len(start.action), room), -1, np.int8)

    def next_seed(self) -> tuple[int, int]:
        """Return a seed for the next batch."""
        self._batches += 1
        return self._start.seed, self._batches

    def add(self, positions: NDArray[np.intp], points: NDArray[np.int32], end: NDArray[np.int8]) -> None:
        """Add worlds [actions of the positions, worlds] of some positions."""
        number = points.shape[1]
        most = int(self.worlds[positions].max()) + number
        more = max(0, most - self._points.shape[1])
        if more:
            more = max(more, self._points.shape[1])
            self._points = np.pad(self._points, ((0, 0), (0, more)))
            self._end = np.pad(self._end, ((0, 0), (0, more)), constant_values=-1)
        rows = np.flatnonzero(np.isin(self._start.position, positions))
        places = self.worlds[self._start.position[rows]][:, None] + np.arange(number)
        self._points[rows[:, None], places] = points
        self._end[rows[:, None], places] = end
        self.worlds[positions] += number

    def values(self) -> ActionValues:
        start, most = self._start, int(self.worlds.max())
        return ActionValues(
            start.engine.rules,
            start.seat,
            start.taken,
            self.worlds.copy(),
            start.position,
            start.action,
            self._points[:, :most].copy(),
            self._end[:, :most].copy(),
        )


def _batches(start: _Start, positions: NDArray[np.intp], worlds: int) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Share out worlds of some positions into batches that are played at once: positions and a number of worlds."""
    actions = np.bincount(start.position, minlength=len(start.games))
    first = 0
    while first < len(positions):
        games = (actions[positions[first:]] * worlds).cumsum()
        last = first + max(1, int(np.searchsorted(games, MOST_GAMES, side="right")))
        some = positions[first:last]
        at_once = max(1, MOST_GAMES // int(actions[some].sum()))
        for done in range(0, worlds, at_once):
            yield some, min(at_once, worlds - done)
        first = last


def _play(
    start: _Start, positions: NDArray[np.intp], worlds: int, hindsight: bool, seed: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Play all actions of some positions: points and ends [actions, worlds]."""
    games = start.games[positions]
    if hindsight:
        drawn = start.engine.select(np.repeat(games, worlds))
        drawn.auto_reset = False
    else:
        drawn = start.engine.view(games).worlds(worlds, np.random.default_rng([*seed, _WORLDS]))
    rows = np.flatnonzero(np.isin(start.position, positions))
    world = np.searchsorted(positions, start.position[rows])[:, None] * worlds + np.arange(worlds)
    world = world.reshape(-1)
    lots = int(np.random.SeedSequence([*seed, _LOTS]).generate_state(1, np.uint64)[0])
    engine = drawn.select(world)
    points, end = _play_out(engine, np.repeat(start.action[rows], worlds), start.agents, world, lots)
    return points.reshape(len(rows), worlds), end.reshape(len(rows), worlds)


def _play_out(
    engine: Engine, actions: NDArray[np.int64], agents: tuple[Agent, ...], world: NDArray[np.intp], seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Play these actions first and then agents, to the end of the hand: points [games] and ends [games]."""
    person = engine.seat_to_act.astype(np.intp)
    points = np.zeros(engine.num_games, np.int32)
    end = np.full(engine.num_games, DRAWN, np.int8)
    paired = pair(engine, agents, world, seed)
    rng = np.random.default_rng(seed)  # `PairedAgent` has its own
    live, chosen = np.arange(engine.num_games), actions
    while live.size:
        result = engine.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        ended, of_ended = result.outcome, person[result.outcome.game]
        is_own, is_given = ended.winner == of_ended, ended.from_seat == of_ended
        end[ended.game] = np.select(
            [ended.winner < 0, is_own & (ended.from_seat < 0), is_own, is_given],
            [DRAWN, SELF_DRAWN, WON_ON_TILE, DEALT_IN],
            OTHERS_WON,
        )
        live = live[~result.hand_over]
        if live.size:
            chosen = choose_actions(engine, live, paired, _who(agents, engine.seat_to_act[live]), rng)
    return points, end


def _read_agents(agents: str | Agent | Sequence[str | Agent], engine: Engine) -> tuple[Agent, ...]:
    listed = list(agents) if isinstance(agents, Sequence) and not isinstance(agents, str) else [agents]
    if len(listed) not in (1, engine.num_people):
        raise TrainingError(
            f"agents are one for all seats, or {engine.num_people} (one for each person), not {len(listed)}"
        )
    return tuple(make_agent(agent) for agent in listed)


def _check_budget(worlds: int, width: float | None, milliseconds: float | None, seed: int) -> None:
    is_number = isinstance(worlds, int | np.integer) and not isinstance(worlds, bool)
    if not is_number or not 1 <= worlds <= MOST_WORLDS:
        raise TrainingError(f"worlds are an integer from 1 to {MOST_WORLDS:,}, not {worlds!r}")
    for name, budget in (("width", width), ("milliseconds", milliseconds)):
        if budget is not None and not 0 < budget < np.inf:
            raise TrainingError(f"{name} is a number above 0, not {budget!r}")
    if seed < 0:
        raise TrainingError(f"the seed is an integer from 0, not {seed}")
