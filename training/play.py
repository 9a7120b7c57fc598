"""Tables at which several agents play hands to their end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import Agent, RandomAgent
from agents.random_agent import choose_among
from mahjong_env import Engine


def choose_actions(
    engine: Engine,
    games: NDArray[np.intp],
    agents: Sequence[Agent],
    who: NDArray[np.intp],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Let the seat to act in each game be played by its agent, one call for each agent.

    Args:
        engine: the tables.
        games: [n] games that wait for an action.
        agents: who plays.
        who: [n] number of the agent that plays in a game.
        rng: where chance comes from.

    Returns:
        [n] actions.
    """
    actions = np.zeros(len(games), np.int64)
    for number, agent in enumerate(agents):
        rows = np.flatnonzero(who == number)
        if rows.size:
            # Each agent is shown its own games only: one view of all would be made, and then copied in parts.
            actions[rows] = _ask(agent, engine, games[rows], rng)
    return actions


def _ask(agent: Agent, engine: Engine, games: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    if type(agent) is RandomAgent:
        # What it would do with a view, without making one.
        return choose_among(engine.action_mask[games], rng)
    return agent.act(engine.view(games=games), rng)


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
