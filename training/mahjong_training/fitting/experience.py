"""Afterstates of played hands, with what came of them: what `mahjong_training.fitting.value_model` learns from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent
from mahjong_agents.lookahead import CONCEALED_KONG, WIN
from mahjong_agents.value.afterstates import Afterstates, actions_but_wins
from mahjong_env import Rules, View, make_engine
from mahjong_training.evaluation.matches import sigma
from mahjong_training.seeds import training_seed

_GAMES: Final = 2048
"""Games that are played at once, so that memory stays small."""
_SHARE: Final = 0.5
"""Of the decisions that are kept: those of one hand have much in common."""
_STEP_BACK: Final = 0.25
"""Of the explored decisions, those that may leave the hand farther from a win than it could be."""


@dataclass(frozen=True)
class Experience:
    """m decisions.

    Attributes:
        numbers: [m, F] float16, see `mahjong_agents.value.afterstates.Afterstates.numbers`.
        win: [m] bool the seat won the hand.
        points_of_win: [m] float32 sigma that its win brought, 0 without one.
        deal_in: [m] bool the discard was won on at once.
        points: [m] float32 sigma from there to the end of the hand.
        hand: [m] int64 number of the hand.
    """

    numbers: NDArray[np.float16]
    win: NDArray[np.bool_]
    points_of_win: NDArray[np.float32]
    deal_in: NDArray[np.bool_]
    points: NDArray[np.float32]
    hand: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Experience]) -> Experience:
        """Return several as one."""
        return cls(*(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(cls)))


def collect(rules: Rules, agent: Agent, *, hands: int, seed: int, explored: float) -> Iterator[Experience]:
    """Play hands with one agent in all seats, and keep half of its decisions.

    Args:
        rules: what is played.
        agent: who plays.
        hands: how many hands, at least.
        seed: of the deals and all choices.
        explored: share of the decisions at which some other near action is played, so that what is usually not done
            is known too.

    Yields:
        The decisions of 2048 hands at a time.
    """
    unit = sigma(rules)
    for number in range(-(-hands // _GAMES)):
        yield _play(rules, agent, np.random.default_rng([seed, number]), number * _GAMES, unit, explored, seed + number)


class _Kept:
    """Decisions of a batch of games, as they are made."""

    def __init__(self, games: int) -> None:
        self.numbers: list[NDArray[np.float16]] = []
        self.game, self.person, self.before = ([np.zeros(0, np.int64)] for _ in range(3))
        self.deal_ins: list[NDArray[np.intp]] = []
        self._latest = np.full(games, -1)  # the number of the decision that each game's last discard was, if it is kept
        self._size = 0

    def add(
        self, left: Afterstates, games: NDArray[np.intp], person: NDArray[np.intp], before: NDArray[np.int64]
    ) -> None:
        self.numbers.append(left.numbers().astype(np.float16))
        self.game.append(games)
        self.person.append(person)
        self.before.append(before)
        discards = np.flatnonzero(left.type == 0)
        self._latest[games[discards]] = self._size + discards
        self._size += len(games)

    def discarded(self, games: NDArray[np.intp]) -> None:
        self._latest[games] = -1

    def won_on(self, games: NDArray[np.intp]) -> None:
        self.deal_ins.append(self._latest[games][self._latest[games] >= 0])


def _play(
    rules: Rules, agent: Agent, rng: np.random.Generator, first: int, unit: float, explored: float, seed: int
) -> Experience:
    engine = make_engine(rules, _GAMES, seed=training_seed(seed))
    kept, live = _Kept(_GAMES), np.arange(_GAMES)
    points, won = np.zeros((2, _GAMES, rules.people), np.int64)
    while live.size:
        view, person = engine.view(games=live), engine.seat_to_act[live].astype(np.intp)
        actions = agent.act(view, rng)
        _explore(view, actions, rng, explored)
        kept.discarded(live[actions < CONCEALED_KONG])
        asked = (view.action_mask.sum(axis=1) > 1) & (actions != WIN) & (rng.random(len(live)) < _SHARE)
        some = np.flatnonzero(asked)
        if some.size:
            kept.add(Afterstates(view, some, actions[some]), live[some], person[some], points[live[some], person[some]])
        result = engine.step(actions, games=live)
        points[live] += result.rewards
        ended = result.outcome
        by = np.flatnonzero(ended.winner >= 0)
        won[ended.game[by], ended.winner[by]] = ended.payments[by, ended.winner[by]]
        kept.won_on(ended.game[ended.source == "discard"])
        live = live[~result.done]
    game, person, before = (np.concatenate(parts) for parts in (kept.game, kept.person, kept.before))
    deal_in = np.zeros(len(game), np.bool_)
    deal_in[np.concatenate(kept.deal_ins)] = True
    gained, of_win = points[game, person] - before, won[game, person]
    return Experience(
        np.concatenate(kept.numbers),
        of_win > 0,
        (of_win / unit).astype(np.float32),
        deal_in,
        (gained / unit).astype(np.float32),
        game + first,
    )


def _explore(view: View, actions: NDArray[np.int64], rng: np.random.Generator, share: float) -> None:
    """Replace a share of the actions by others that leave the hand as near, seldom by those that leave it farther."""
    mask = view.action_mask
    rows = np.flatnonzero((rng.random(len(view)) < share) & ~mask[:, WIN] & (mask.sum(axis=1) > 1))
    if not rows.size:
        return
    left = actions_but_wins(view, rows)
    nearest = np.full(len(view), np.iinfo(np.int8).max, np.int8)
    np.minimum.at(nearest, left.row, left.distance)
    steps_back = (left.distance - nearest[left.row]) * (rng.random(len(view)) < 1 - _STEP_BACK)[left.row]
    lot = rng.random(len(left.row)) - 2 * steps_back
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, left.row, lot)
    at = np.flatnonzero(lot == best[left.row])
    actions[left.row[at]] = left.action[at]
