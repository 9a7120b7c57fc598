"""Tables at which several agents play hands to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from mahjong_env import Engine, StepResult
from mahjong_env.environments.players import agent_name, choose_actions
from mahjong_env.records import Recorder
from training.hand_statistics import HandStatistics


@dataclass(frozen=True)
class Played:
    """What happened in B games, by person (P).

    Attributes:
        hands: [B] hands that were played.
        points: [B, P] points won.
        wins: [B, P] hands won, however.
        self_draws: [B, P] hands won with a tile that nobody gave.
        deal_ins: [B, P] hands in which the person gave the winning tile.
        draws: [B] hands that nobody won.
        counts: [B, P] arrays by name, see `training.hand_statistics.HandStatistics`.
        rows: [B, R] rows scored by the hand that won.
    """

    hands: NDArray[np.int64]
    points: NDArray[np.int64]
    wins: NDArray[np.int64]
    self_draws: NDArray[np.int64]
    deal_ins: NDArray[np.int64]
    draws: NDArray[np.int64]
    counts: dict[str, NDArray[np.int64]]
    rows: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Played]) -> Played:
        """Return several parts as one, in order."""
        arrays = {
            item.name: np.concatenate([getattr(part, item.name) for part in parts])
            for item in fields(cls)
            if item.name != "counts"
        }
        counts = {name: np.concatenate([part.counts[name] for part in parts]) for name in parts[0].counts}
        return cls(**arrays, counts=counts)


def play_out(
    engine: Engine,
    agents: Sequence[Agent],
    who: NDArray[np.intp],
    rng: np.random.Generator,
    record: Callable[..., None] | None = None,
) -> Played:
    """Play all games of an engine to their end.

    Args:
        engine: freshly dealt games; none of them may be dealt anew by itself.
        agents: who plays.
        who: [B, P] number of the agent that plays for a person.
        rng: where the agents' chance comes from.
        record: takes the record of every game when it has ended, as `RecordWriter.write` does.

    Returns:
        What happened.
    """
    step: Callable[..., StepResult] = engine.step
    if record is not None:
        names = [agent_name(agent) for agent in agents]
        step = Recorder(engine, record, agents=lambda game: [names[number] for number in who[game]]).step
    statistics = HandStatistics(engine)
    games, people = who.shape
    points, self_draws = np.zeros((2, games, people), np.int64)
    hands, draws = np.zeros((2, games), np.int64)
    while True:
        seat = engine.seat_to_act
        live = np.flatnonzero(seat >= 0)
        if not live.size:
            break
        seats = seat[live]
        actions = choose_actions(engine, live, agents, who[live, seats], rng)
        result = step(actions, games=live)
        statistics.add(live, seats, actions, result)
        points[live] += result.rewards
        ended = result.outcome
        hands[ended.game] += 1
        draws[ended.game[ended.winner < 0]] += 1
        alone = (ended.winner >= 0) & (ended.from_seat < 0)
        self_draws[ended.game[alone], ended.winner[alone]] += 1
    statistics.end()
    counts = statistics.counts
    wins, deal_ins = counts.pop("wins"), counts.pop("deal_ins")
    return Played(hands, points, wins, self_draws, deal_ins, draws, counts, statistics.rows)
