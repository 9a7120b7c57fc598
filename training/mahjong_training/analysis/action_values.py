"""Action values: what each legal action of a position is worth, played out in the same hidden worlds.

`evaluate_actions` takes positions of an engine and returns arrays, `ActionValues`. ``mahjong-env review`` turns these
into sentences and pages (`mahjong_training.analysis.review`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from itertools import count
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.shared_chance import pair
from mahjong_env import ACTIONS, Engine, Rules
from mahjong_env.basics.types import is_integer
from mahjong_env.engine.arguments import game_numbers
from mahjong_env.environments.agents import choose_actions
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, student_t


class End(IntEnum):
    """How a hand ends for the person who acted; with ``OTHERS_WON``, not on a tile of this person."""

    DRAWN, SELF_DRAWN, WON_ON_TILE, DEALT_IN, OTHERS_WON = range(5)


_CONFIDENCE: Final = 0.95
_MOST_GAMES: Final = 8192
"""The most games that are played at once, which keeps memory small."""
_FIRST_WORLDS: Final = 64
"""The worlds of the first round where the budget is time or an interval's width; each round doubles their number."""
_MOST_WORLDS: Final = 1_000_000
_CHOICE, _WORLDS, _LOTS = range(3)  # the uses of randomness, each with a stream of its own


@dataclass(frozen=True)
class Comparison:
    """The paired differences of m actions: means, ends of 95 % intervals and standard errors, each [m]."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    error: NDArray[np.float64]

    def of(self, action: int) -> Estimate:
        """Return the difference of one of the m actions with its interval."""
        return Estimate(float(self.mean[action]), float(self.low[action]), float(self.high[action]))


@dataclass(frozen=True)
class ActionValues:
    """The results of the m legal actions of n positions, each played in the worlds of its position.

    Attributes:
        rules: the rules that were played.
        seat: [n] int8 the person who is to act.
        taken: [n] int64 the action that the others are compared with: the one that was played, or else the agent's.
        worlds: [n] int64 the number of worlds that were played.
        position: [m] intp the position of each action, ascending.
        action: [m] int64 the actions, ascending within a position.
        points: [m, W] int32 the points that the person gained from here to the end of the hand. World w is the same for
            all actions of a position. Only the first ``worlds`` entries of a position count; the rest are zeros.
        end: [m, W] int8 how the hand ended for the person, see `End`; -1 after the last world.
    """

    rules: Rules
    seat: NDArray[np.int8]
    taken: NDArray[np.int64]
    worlds: NDArray[np.int64]
    position: NDArray[np.intp]
    action: NDArray[np.int64]
    points: NDArray[np.int32]
    end: NDArray[np.int8]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name; ``ActionValues(rules, **arrays)`` restores the object."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "rules"}

    @property
    def reference(self) -> NDArray[np.intp]:
        """The index, among the m actions, of the action taken at the same position: [m] intp."""
        of_position = np.flatnonzero(self.action == self.taken[self.position])
        return of_position[self.position]

    def mean(self) -> NDArray[np.float64]:
        """Return [m] the mean points of each action, from here to the end of the hand."""
        means: NDArray[np.float64] = self.points.sum(axis=1) / self.worlds[self.position]
        return means

    def share(self, *ends: int) -> NDArray[np.float64]:
        """Return [m] the share of worlds that ended in one of these ways."""
        shares: NDArray[np.float64] = np.isin(self.end, ends).sum(axis=1) / self.worlds[self.position]
        return shares

    def against_taken(self, values: NDArray[Any] | None = None) -> Comparison:
        """Compare every action with the one that was taken, world by world.

        Args:
            values: [m, W] the values to compare, zero after the last world; None for points.

        Returns:
            [m] differences, zero for the action taken. Each has a 95 % interval of its own, by Student's t.
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
        """Compare every action with the best other action of its position.

        Which action is best is not known; it is estimated from the same worlds. Each interval is therefore valid
        whichever action is best: it combines the differences to all other actions, at 95 % for all of them jointly
        (Bonferroni). It is wider than an interval between two actions that were chosen beforehand.

        Returns:
            [m] the points of each action less those of the best other action, positive for the best action and 0 where
            a position has a single action. ``error`` is the standard error of the difference to the action that seems
            to be the best of the others.
        """
        found = np.zeros((4, len(self.action)))
        starts = np.searchsorted(self.position, np.arange(len(self.taken) + 1))
        for first, last, worlds in zip(starts[:-1], starts[1:], self.worlds, strict=True):
            points, number = self.points[first:last, :worlds], last - first
            if number == 1:
                continue
            mean = points.mean(axis=1)
            centred = points - mean[:, None]
            products = centred @ centred.T / max(worlds - 1, 1)
            spread = np.diag(products)
            error = np.sqrt(np.maximum(spread[:, None] + spread - 2 * products, 0) / worlds)
            difference = mean[:, None] - mean
            half = np.full_like(error, np.inf)
            if worlds > 1:  # 5 % are shared among the differences of an action to all others
                half = student_t(int(worlds) - 1, 1 - (1 - _CONFIDENCE) / (number - 1)) * error
            itself, every = np.eye(number, dtype=np.bool_), np.arange(number)
            low, high = (np.where(itself, np.inf, difference + sign * half).min(axis=1) for sign in (-1, 1))
            best = np.where(itself, np.inf, difference).argmin(axis=1)
            found[:, first:last] = difference[every, best], low, high, error[every, best]
        return Comparison(*found)

    def gain(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Estimate what better choices would have gained: chosen in one half of the worlds, measured in the other.

        The action that is best in some worlds looks better in these worlds than it is, but not in others. Each half
        chooses once, and the result is the mean of both. (With five parts, of which four choose, the errors come out
        too small.)

        Returns:
            [n] the points gained over the actions taken, and [n] their standard errors, which are independent of each
            other and infinite with fewer than four worlds.
        """
        mean, variance = np.zeros(len(self.taken)), np.full(len(self.taken), np.inf)
        starts = np.searchsorted(self.position, np.arange(len(self.taken) + 1))
        for place, (first, last, worlds) in enumerate(zip(starts[:-1], starts[1:], self.worlds, strict=True)):
            if worlds < 4:
                continue
            points = self.points[first:last, :worlds].astype(np.int64)
            differences = points - points[self.reference[first] - first]
            halves, variance[place] = (differences[:, ::2], differences[:, 1::2]), 0
            for chooses, measures in (halves, halves[::-1]):
                means = chooses.mean(axis=1)
                if means.max() > 0:  # otherwise the action taken is chosen, with a difference of zero
                    measured = measures[means.argmax()]
                    mean[place] += measured.mean() / 2
                    variance[place] += measured.var(ddof=1) / len(measured) / 4
        return mean, np.sqrt(variance)

    def differences(self) -> NDArray[np.float64]:
        """Return [n, 109] the paired mean differences of points to the action taken, NaN for illegal actions."""
        table = np.full((len(self.taken), len(ACTIONS)), np.nan)
        table[self.position, self.action] = self.against_taken().mean
        return table


def join(parts: Sequence[ActionValues]) -> ActionValues:
    """Join several results into one, with their positions in order."""
    most = max(part.points.shape[1] for part in parts)
    starts = np.cumsum([0, *(len(part.taken) for part in parts)])
    joined = {name: [part.arrays()[name] for part in parts] for name in parts[0].arrays()}
    joined["position"] = [position + start for position, start in zip(joined["position"], starts, strict=False)]
    for name, fill in (("points", 0), ("end", -1)):
        wide = [((0, 0), (0, most - array.shape[1])) for array in joined[name]]
        joined[name] = [
            np.pad(array, width, constant_values=fill) for array, width in zip(joined[name], wide, strict=True)
        ]
    return ActionValues(parts[0].rules, **{name: np.concatenate(arrays) for name, arrays in joined.items()})


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
) -> ActionValues:
    """Play every legal action of some positions in the same hidden worlds, with agents at all seats afterwards.

    Worlds are drawn from what the person to act can see (`mahjong_env.View.worlds`); they do not use the true hidden
    tiles. In each world the same random numbers are used after every action, so that the differences have little noise.
    Points count to the end of the hand; the rest of a match does not.

    Args:
        engine: the positions; it is not changed.
        games: [n] games of the engine, by number or by a mask [B], each of which must wait for an action; None for
            all games.
        worlds: the number of worlds for each position; with ``width`` or ``milliseconds``, the most worlds.
        agents: the agent that plays on at all seats, or one agent for each person.
        taken: [n] the actions that the others are compared with; None for those that the person's agent would choose.
        hindsight: whether to keep the true hidden tiles and the true wall, so that worlds differ only by the agents'
            randomness.
        width: stop a position as soon as no interval against the action taken extends further than this to either
            side, in points.
        milliseconds: stop a position after about this time; the results then depend on the machine.
        seed: the seed of the worlds and of all other random numbers.

    Returns:
        The results of all legal actions of the n positions.

    Raises:
        TrainingError: a budget is not above 0, a game is over, an action is not legal, or the number of agents is
            neither 1 nor the number of persons.
        ActionError: there are no such games.
    """
    if not is_integer(worlds) or not 1 <= worlds <= _MOST_WORLDS:
        raise TrainingError(f"worlds are an integer from 1 to {_MOST_WORLDS:,}, not {worlds!r}")
    for name, budget in (("width", width), ("milliseconds", milliseconds)):
        if budget is not None and not (isinstance(budget, int | float | np.number) and 0 < budget < np.inf):
            raise TrainingError(f"{name} is a number above 0, not {budget!r}")
    if not is_integer(seed) or seed < 0:
        raise TrainingError(f"the seed is an integer from 0, not {seed!r}")
    listed = list(agents) if isinstance(agents, Sequence) and not isinstance(agents, str) else [agents]
    if len(listed) not in (1, engine.num_people):
        raise TrainingError(
            f"agents are one for all seats, or {engine.num_people} (one for each person), not {len(listed)}"
        )
    players = tuple(make_agent(agent) for agent in listed)
    which = game_numbers(np.arange(engine.num_games) if games is None else games, engine.num_games, repeats=True)
    chosen = _actions_taken(engine, which, players, taken, seed)
    in_rounds = width is not None or milliseconds is not None
    seat = engine.seat_to_act[which]
    position, action = engine.view(which).action_mask.nonzero()
    number = np.zeros(len(which), np.int64)  # worlds played so far
    spent = np.zeros(len(which))  # seconds spent so far
    points = np.zeros((len(action), 0), np.int32)
    end = np.zeros(points.shape, np.int8)

    def found() -> ActionValues:
        return ActionValues(engine.rules, seat, chosen, number.copy(), position, action, points, end)

    batches, batch = count(1), min(worlds, _FIRST_WORLDS) if in_rounds else worlds
    is_open = np.ones(len(which), np.bool_)
    while is_open.any():
        for some, more in _batches(position, np.flatnonzero(is_open), batch):
            begun = perf_counter()
            if (missing := int(number[some].max()) + more - points.shape[1]) > 0:
                points = np.pad(points, ((0, 0), (0, missing)))
                end = np.pad(end, ((0, 0), (0, missing)), constant_values=-1)
            rows = np.flatnonzero(np.isin(position, some))
            here = rows[:, None], number[position[rows]][:, None] + np.arange(more)
            world = np.searchsorted(some, position[rows])[:, None] * more + np.arange(more)
            lots = (seed, next(batches))
            points[here], end[here] = _play(engine, which[some], action[rows], world, players, hindsight, lots)
            number[some] += more
            spent[some] += (perf_counter() - begun) / len(some)
        is_open &= number < worlds
        if milliseconds is not None:
            is_open &= spent * 1000 < milliseconds
        if width is not None:
            widest = np.zeros(len(which))
            compared = found().against_taken()
            np.maximum.at(widest, position, (compared.high - compared.low) / 2)
            is_open &= widest > width
        if is_open.any():
            batch = int(min(number[is_open].max(), worlds - number[is_open].max()))
    return found()


def _batches(
    position: NDArray[np.intp], positions: NDArray[np.intp], worlds: int
) -> Iterator[tuple[NDArray[np.intp], int]]:
    """Yield the batches to play at once: [k] some of the positions, and how many worlds each of them gets."""
    actions = np.bincount(position)
    first = 0
    while first < len(positions):
        games = (actions[positions[first:]] * worlds).cumsum()
        last = first + max(1, int(np.searchsorted(games, _MOST_GAMES, side="right")))
        some = positions[first:last]
        at_once = max(1, _MOST_GAMES // int(actions[some].sum()))
        for done in range(0, worlds, at_once):
            yield some, min(at_once, worlds - done)
        first = last


def _play(
    engine: Engine,
    games: NDArray[np.intp],
    actions: NDArray[np.int64],
    world: NDArray[np.intp],
    agents: tuple[Agent, ...],
    hindsight: bool,
    seed: tuple[int, int],
) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Play actions [k] of some games, each in the worlds with these numbers [k, w]; return [k, w] points and ends."""
    worlds = world.shape[1]
    if hindsight:
        drawn = engine.select(np.repeat(games, worlds))
        drawn.auto_reset = False
    else:
        drawn = engine.view(games).worlds(worlds, np.random.default_rng([*seed, _WORLDS]))
    played = drawn.select(world.reshape(-1))
    person = played.seat_to_act.astype(np.intp)
    points = np.zeros(played.num_games, np.int32)
    end = np.full(played.num_games, End.DRAWN, np.int8)
    lots = int(np.random.SeedSequence([*seed, _LOTS]).generate_state(1, np.uint64)[0])
    paired = pair(played, agents, world.reshape(-1), lots)
    rng = np.random.default_rng(lots)  # not used by `PairedAgent`, which has its own
    live, chosen = np.arange(played.num_games), np.repeat(actions, worlds)
    while live.size:
        result = played.step(chosen, games=live)
        points[live] += result.rewards[np.arange(len(live)), person[live]]
        ended, of_ended = result.outcome, person[result.outcome.game]
        is_own, is_given = ended.winner == of_ended, ended.from_seat == of_ended
        end[ended.game] = np.select(
            [ended.winner < 0, is_own & (ended.from_seat < 0), is_own, is_given],
            [End.DRAWN, End.SELF_DRAWN, End.WON_ON_TILE, End.DEALT_IN],
            End.OTHERS_WON,
        )
        live = live[~result.hand_over]
        if live.size:
            chosen = choose_actions(played, live, paired, _who(agents, played.seat_to_act[live]), rng)
    return points.reshape(world.shape), end.reshape(world.shape)


def _who(agents: tuple[Agent, ...], seat: NDArray[np.int8]) -> NDArray[np.intp]:
    return seat.astype(np.intp) if len(agents) > 1 else np.zeros(len(seat), np.intp)


def _actions_taken(
    engine: Engine, games: NDArray[np.intp], agents: tuple[Agent, ...], taken: Any, seed: int
) -> NDArray[np.int64]:
    """Check or choose the actions that the others are compared with: [n]."""
    mask = engine.view(games).action_mask
    idle = np.flatnonzero(~mask.any(axis=1))
    if not len(games) or idle.size:
        where = f"game {games[idle[0]]} is over" if idle.size else "no position is named"
        raise TrainingError(f"{where}; every position must wait for an action")
    if taken is None:
        rng = np.random.default_rng([seed, _CHOICE])
        return choose_actions(engine, games, agents, _who(agents, engine.seat_to_act[games]), rng)
    chosen = np.asarray(taken)
    if chosen.shape != games.shape or chosen.dtype.kind not in "iu":
        raise TrainingError(f"the actions taken are {len(games)} integers, one for each position")
    legal = [action in np.flatnonzero(row) for action, row in zip(chosen, mask, strict=True)]
    if not all(legal):
        wrong = legal.index(False)
        raise TrainingError(f"position {wrong}: the action taken, {chosen[wrong]}, is not legal there")
    return chosen.astype(np.int64)
