"""Plays every legal action of many positions on the same worlds, to the end of the hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.shared_chance import pair
from mahjong_env import ACTIONS, Engine
from mahjong_env.environments.agents import choose_actions
from mahjong_training.analysis.action_values.branches import (
    DEALT_IN,
    DRAWN,
    OTHERS_WON,
    SELF_DRAWN,
    WON_ON_TILE,
    Branches,
)
from mahjong_training.errors import TrainingError

MOST_GAMES: Final = 8192
"""Games that are played at once, so that memory stays small."""
FIRST_WORLDS: Final = 64
"""Worlds of the first round where time or the width of intervals is the budget; each round doubles them."""
MOST_WORLDS: Final = 1_000_000
_CHOICE, _WORLDS, _LOTS = range(3)  # what chance is drawn for


def branch(
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
) -> Branches:
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
            half = played.branches().against_taken().half_width
            widest = np.zeros(len(which))
            np.maximum.at(widest, start.position, half)
            open_ &= widest > width
        if open_.any():
            batch = int(min(played.worlds[open_].max(), worlds - played.worlds[open_].max()))
    return played.branches()


@dataclass(frozen=True)
class _Start:
    """The positions and their legal actions; see `Branches`."""

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
        raise TrainingError(f"branch: {where}; every position must wait for an action")
    seat = engine.seat_to_act[games]
    if taken is None:
        rng = np.random.default_rng([seed, _CHOICE])
        taken = choose_actions(engine, games, agents, _who(agents, seat), rng)
    chosen = np.asarray(taken)
    if chosen.shape != games.shape or chosen.dtype.kind not in "iu":
        raise TrainingError(f"branch: the actions taken are {len(games)} integers, one for each position")
    inside = (chosen >= 0) & (chosen < len(ACTIONS))
    legal = inside & view.action_mask[np.arange(len(games)), np.where(inside, chosen, 0)]
    if not legal.all():
        wrong = int(legal.argmin())
        raise TrainingError(f"branch: position {wrong}: the action taken, {chosen[wrong]}, is not legal there")
    position, action = view.action_mask.nonzero()
    return _Start(engine, games, agents, seat, chosen.astype(np.int64), position, action, seed)


def _who(agents: tuple[Agent, ...], seat: NDArray[np.int8]) -> NDArray[np.intp]:
    return seat.astype(np.intp) if len(agents) > 1 else np.zeros(len(seat), np.intp)


class _Played:
    """What has been played so far."""

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

    def branches(self) -> Branches:
        start, most = self._start, int(self.worlds.max())
        return Branches(
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
            f"branch: agents are one for all seats, or {engine.num_people} (one for each person), not {len(listed)}"
        )
    return tuple(make_agent(agent) for agent in listed)


def _check_budget(worlds: int, width: float | None, milliseconds: float | None, seed: int) -> None:
    is_number = isinstance(worlds, int | np.integer) and not isinstance(worlds, bool)
    if not is_number or not 1 <= worlds <= MOST_WORLDS:
        raise TrainingError(f"branch: worlds are an integer from 1 to {MOST_WORLDS:,}, not {worlds!r}")
    for name, budget in (("width", width), ("milliseconds", milliseconds)):
        if budget is not None and not 0 < budget < np.inf:
            raise TrainingError(f"branch: {name} is a number above 0, not {budget!r}")
    if seed < 0:
        raise TrainingError(f"branch: the seed is an integer from 0, not {seed}")
