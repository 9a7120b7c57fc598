"""Tables at which several agents play hands to their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from mahjong_env import Engine
from mahjong_env.environments.players import choose_actions


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
    """

    hands: NDArray[np.int64]
    points: NDArray[np.int64]
    wins: NDArray[np.int64]
    self_draws: NDArray[np.int64]
    deal_ins: NDArray[np.int64]
    draws: NDArray[np.int64]


def play_out(engine: Engine, agents: Sequence[Agent], who: NDArray[np.intp], rng: np.random.Generator) -> Played:
    """Play all games of an engine to their end.

    Args:
        engine: freshly dealt games; none of them may be dealt anew by itself.
        agents: who plays.
        who: [B, P] number of the agent that plays for a person.
        rng: where the agents' chance comes from.

    Returns:
        What happened.
    """
    games, people = who.shape
    points, wins, self_draws, deal_ins = np.zeros((4, games, people), np.int64)
    hands, draws = np.zeros((2, games), np.int64)
    while True:
        seat = engine.seat_to_act
        live = np.flatnonzero(seat >= 0)
        if not live.size:
            return Played(hands, points, wins, self_draws, deal_ins, draws)
        actions = choose_actions(engine, live, agents, who[live, seat[live]], rng)
        result = engine.step(actions, games=live)
        points[live] += result.rewards
        ended = result.outcome
        won, given = ended.winner >= 0, ended.from_seat >= 0
        hands[ended.game] += 1
        draws[ended.game[~won]] += 1
        wins[ended.game[won], ended.winner[won]] += 1
        alone = won & ~given
        self_draws[ended.game[alone], ended.winner[alone]] += 1
        deal_ins[ended.game[given], ended.from_seat[given]] += 1
