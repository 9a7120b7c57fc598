"""Tables at which several agents play hands to their end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent
from mahjong_agents.control_variates import Luck
from mahjong_env import Engine, Rules, StepResult, make_engine
from mahjong_env.basics.chance import fold_seed
from mahjong_env.environments.agents import Note, agent_name, ask, choose_actions
from mahjong_env.records import Recorder, deal_again
from mahjong_training.evaluation.hand_statistics import HandStatistics
from mahjong_training.evaluation.shared_chance import SharedChance, decision_keys
from mahjong_training.seeds import evaluation_seed

_COUNTS: Final = "counts."


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
        counts: [B, P] arrays by name, see `mahjong_training.evaluation.hand_statistics.HandStatistics`.
        rows: [B, R] rows scored by the hand that won.
        records: bytes, the lines of `mahjong_env.records` of the games, in the order in which they ended; empty if they
            were not asked for.
    """

    hands: NDArray[np.int64]
    points: NDArray[np.int64]
    wins: NDArray[np.int64]
    self_draws: NDArray[np.int64]
    deal_ins: NDArray[np.int64]
    draws: NDArray[np.int64]
    counts: dict[str, NDArray[np.int64]]
    rows: NDArray[np.int64]
    records: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    def part(self, first: int, last: int) -> Played:
        """Return what happened in some of the games, ``last`` not among them; without their records."""
        names = [item.name for item in fields(self) if item.name not in ("counts", "records")]
        arrays = {name: getattr(self, name)[first:last] for name in names}
        return Played(**arrays, counts={name: array[first:last] for name, array in self.counts.items()})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays by name, for a file."""
        own = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "counts"}
        return own | {_COUNTS + name: array for name, array in self.counts.items()}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Played:
        """Return what `arrays` has given.

        Raises:
            KeyError: something is missing.
        """
        counts = {name.removeprefix(_COUNTS): array for name, array in arrays.items() if name.startswith(_COUNTS)}
        return cls(**{item.name: arrays[item.name] for item in fields(cls) if item.name != "counts"}, counts=counts)

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


def deal(rules: Rules, deals: NDArray[np.int64], seed: int, hands: int = 1) -> Engine:
    """Return an engine with these deals of a seed; each of them is the same wherever it is dealt, with what others.

    Args:
        rules: what is played.
        deals: [B] their numbers, which may be repeated.
        seed: of the deals; those of users are dealt from the range of evaluations (`mahjong_training.seeds`).
        hands: that are played in each game; of several the first is that of a new match.
    """
    numbers, places = np.unique(deals, return_inverse=True)
    engine = make_engine(rules, len(numbers), seed=0, num_hands=hands)
    deal_again(engine, fold_seed(evaluation_seed(seed)), numbers)
    return engine.select(places)  # fresh games, that have not moved yet


class Chance:
    """What games of the same deal have in common while they are played."""

    def __init__(self, engine: Engine, rng: np.random.Generator, deals: NDArray[np.uint64]) -> None:
        if not isinstance(rng, SharedChance):
            raise TypeError(f"games with common chance take a SharedChance, not {type(rng).__name__}")
        self._engine, self._rng, self._deals = engine, rng, deals
        self._decisions = np.zeros((engine.num_games, engine.num_people), np.int64)

    def choose(
        self,
        games: NDArray[np.intp],
        seats: NDArray[np.int8],
        agents: Sequence[Agent],
        who: NDArray[np.intp],
        thoughts: MutableMapping[int, Note] | None = None,
    ) -> NDArray[np.int64]:
        """Let the seats to act be played by their agents; see `mahjong_env.environments.agents.choose_actions`."""
        keys = decision_keys(self._deals[games], seats, self._decisions[games, seats])
        self._decisions[games, seats] += 1
        actions = np.zeros(len(games), np.int64)
        for number, agent in enumerate(agents):
            rows = np.flatnonzero(who == number)
            if rows.size:
                actions[rows] = ask(agent, self._engine, games[rows], self._rng.decide(keys[rows]), thoughts)
        return actions


def play_out(
    engine: Engine,
    agents: Sequence[Agent],
    who: NDArray[np.intp],
    rng: np.random.Generator,
    deals: NDArray[np.uint64] | None = None,
    weights: NDArray[np.float64] | None = None,
    record: Callable[..., None] | None = None,
    *,
    thoughts: bool = False,
) -> Played:
    """Play all games of an engine to their end.

    Args:
        engine: freshly dealt games; none of them may be dealt anew by itself.
        agents: who plays.
        who: [B, P] number of the agent that plays for a person.
        rng: where the agents' chance comes from.
        deals: [B] keys of the deals. With them games of the same deal have as much chance in common as can be: `rng`
            is then a `mahjong_training.evaluation.shared_chance.SharedChance`.
        weights: [F] of control variates: then ``counts["luck"]`` says how lucky everybody was, see
            `mahjong_agents.control_variates`.
        record: takes the record of every game when it has ended, as `RecordWriter.write` does.
        thoughts: whether these also say what agents thought of their choices.

    Returns:
        What happened.
    """
    step: Callable[..., StepResult] = engine.step
    told: MutableMapping[int, Note] | None = None
    if record is not None:
        names = [agent_name(agent) for agent in agents]
        seated = lambda game: [names[number] for number in who[game]]  # noqa: E731
        recorder = Recorder(engine, record, agents=seated, thoughts=thoughts)
        step, told = recorder.step, recorder.thoughts
    statistics = HandStatistics(engine)
    games, people = who.shape
    points = np.zeros((games, people), np.int64)
    hands, draws = np.zeros((2, games), np.int64)
    chance = None if deals is None else Chance(engine, rng, deals)
    luck = None if weights is None else Luck(engine, weights)
    while True:
        seat = engine.seat_to_act
        live = np.flatnonzero(seat >= 0)
        if not live.size:
            break
        seats = seat[live]
        if chance is None:
            actions = choose_actions(engine, live, agents, who[live, seats], rng, told)
        else:
            actions = chance.choose(live, seats, agents, who[live, seats], told)
        result = step(actions, games=live)
        statistics.add(live, seats, actions, result)
        if luck is not None:
            luck.add(live)
        points[live] += result.rewards
        ended = result.outcome
        hands[ended.game] += 1
        draws[ended.game[ended.winner < 0]] += 1
    statistics.end()
    counts = statistics.counts
    if luck is not None:
        counts["luck"] = luck.by_person()
    wins, self_draws, deal_ins = (counts.pop(name) for name in ("wins", "self_draws", "deal_ins"))
    return Played(hands, points, wins, self_draws, deal_ins, draws, counts, statistics.rows)
