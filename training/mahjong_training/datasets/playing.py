"""Plays a shard of a dataset: a function of the settings and the number of the shard alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_env import Engine, StepResult
from mahjong_env.basics.chance import fold_seed
from mahjong_env.environments.agents import choose_actions
from mahjong_env.records import GameRecord, Recorder, deal_again
from mahjong_training.datasets.layout import DECISION, SOURCES, Settings, hand_dtype


@dataclass(frozen=True)
class Shard:
    """A range of games as tables.

    Attributes:
        decisions: [n] `DECISION`.
        hands: [h] `hand_dtype`.
        observations: [n, C, 34] int8, None if they are not kept.
        records: [games] lines of JSON, none if they are not kept.
    """

    decisions: NDArray[Any]
    hands: NDArray[Any]
    observations: NDArray[np.int8] | None
    records: tuple[str, ...]


def deal_shard(settings: Settings, games: Sequence[int]) -> Engine:
    """Return an engine with these games of a dataset, as they were dealt: that depends on the seed alone."""
    engine = Engine(settings.rules, len(games), seed=settings.seed, num_hands=settings.num_hands)
    deal_again(engine, fold_seed(settings.seed), np.asarray(games))
    return engine


def play_shard(settings: Settings, shard: int, agents: Sequence[Agent] | None = None) -> Shard:
    """Play a shard; everything in it follows from the arguments, so that it may be played anywhere.

    Args:
        settings: of the dataset.
        shard: number of the shard.
        agents: the agents that the settings name, if they have been made already.

    Raises:
        MahjongError: an agent cannot be made or has answered what cannot be played.
    """
    players = [make_agent(spec) for spec in settings.agents] if agents is None else list(agents)
    games = settings.games_of(shard)
    engine = deal_shard(settings, games)
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, shard]))
    who = rng.integers(len(players), size=(len(games), engine.num_people)) if len(players) > 1 else None
    log = _Log(engine, settings, games, who)
    numbers = np.zeros((len(games), engine.num_people), np.intp) if who is None else who
    while True:
        seat = engine.seat_to_act
        live = np.flatnonzero(seat >= 0)
        if not live.size:
            return log.shard([agent.name for agent in players])
        acting = numbers[live, seat[live]]
        actions = choose_actions(engine, live, players, acting, rng)
        log.step(live, seat[live], acting, actions)


class _Log:
    """What happens in a shard while it is played, by step; put into the order of hands at the end."""

    def __init__(self, engine: Engine, settings: Settings, games: range, who: NDArray[np.intp] | None) -> None:
        self._engine, self._settings, self._games, self._who = engine, settings, games, who
        self._records: list[GameRecord] = []
        self._play = Recorder(engine, self._keep).step if settings.records else engine.step
        self._rows: list[NDArray[Any]] = []
        self._before: list[NDArray[np.int32]] = []  # the running points of who decides, before the decision
        self._seen: list[NDArray[np.int8]] = []
        hands = len(games) * settings.num_hands
        self._hands = np.zeros(hands, hand_dtype(engine.num_people))
        self._hands["hand"] = np.arange(hands) + games.start * settings.num_hands
        self._hands["game"] = self._hands["hand"] // settings.num_hands
        self._hands["hand_in_game"] = self._hands["hand"] % settings.num_hands
        self._hands["dealer"] = -1
        self._final = np.zeros((hands, engine.num_people), np.int32)
        self._running = np.arange(0, hands, settings.num_hands)  # [games] the row of the hand that each game is at

    def _keep(self, *records: GameRecord) -> None:
        self._records.extend(records)

    def step(
        self, games: NDArray[np.intp], seat: NDArray[np.int8], agent: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> None:
        """Note these decisions, and play them."""
        engine = self._engine
        rows = np.zeros(len(games), DECISION)
        rows["hand"] = self._running[games]  # of the shard, for now
        rows["seat"], rows["agent"], rows["action"] = seat, agent, actions
        rows["mask"] = np.packbits(engine.action_mask[games], axis=1)
        self._rows.append(rows)
        self._before.append(engine.points[games, seat])
        self._hands["dealer"][rows["hand"]] = engine.dealer[games]
        if self._settings.observations:
            self._seen.append(engine.observe(games))
        self._end_hands(self._play(actions, games=games))

    def _end_hands(self, result: StepResult) -> None:
        ended = result.outcome
        if not len(ended):
            return
        hand = self._running[ended.game]
        for name in ("value", "winner", "from_seat", "tile"):
            self._hands[name][hand] = getattr(ended, name)
        self._hands["source"][hand] = (ended.source[:, None] == _SOURCES).argmax(axis=1)
        self._final[hand] = ended.points
        self._running[ended.game] += 1

    def shard(self, names: Sequence[str]) -> Shard:
        """Return everything in the order of hands."""
        rows = np.concatenate(self._rows) if self._rows else np.zeros(0, DECISION)
        order = np.argsort(rows["hand"], kind="stable")
        rows, hands = rows[order], self._hands
        hand = rows["hand"].astype(np.intp)
        hands["decisions"] = np.bincount(hand, minlength=len(hands))
        hands["first"] = np.cumsum(hands["decisions"]) - hands["decisions"]
        begin = np.zeros_like(self._final) + self._settings.rules.starting_points
        later = hands["hand_in_game"] > 0
        begin[later] = self._final[np.flatnonzero(later) - 1]
        hands["points"] = self._final - begin
        hands["agents"] = 0 if self._who is None else np.repeat(self._who, self._settings.num_hands, axis=0)
        rows["step"] = np.arange(len(rows)) - hands["first"][hand]
        before = np.concatenate(self._before)[order] if self._before else np.zeros(0, np.int32)
        rows["return"] = self._final[hand, rows["seat"]] - before
        rows["reward"] = rows["return"] - _next_of_same(hand * hands["points"].shape[1] + rows["seat"], rows["return"])
        rows["game"] = hands["game"][hand]
        rows["hand"] = hands["hand"][hand]
        return Shard(rows, hands, np.concatenate(self._seen)[order] if self._seen else None, self._lines(names))

    def _lines(self, names: Sequence[str]) -> tuple[str, ...]:
        first = self._games.start
        found = {record.stream: record for record in self._records}
        people = self._engine.num_people
        lines = []
        for game in sorted(found):
            who = (0,) * people if self._who is None else self._who[game - first]
            lines.append(replace(found[game], agents=tuple(names[number] for number in who)).to_json())
        return tuple(lines)


def _next_of_same(key: NDArray[np.intp], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return [n] for each row the value of the next row with the same key, 0 where there is none."""
    order = np.argsort(key, kind="stable")
    following = np.zeros_like(values)
    same = key[order][1:] == key[order][:-1]
    following[order[:-1][same]] = values[order[1:][same]]
    return following


_SOURCES = np.array(SOURCES)
