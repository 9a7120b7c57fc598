"""Hands that a small network plays at all seats, or against others, and everything that it can learn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import UNIT, Luck
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.custom_features import Features, find_features
from mahjong_agents.policy.inputs import TABLE_FACTS, ActionInputs
from mahjong_agents.policy.network import ActionNetwork, draw, log_probabilities
from mahjong_env import Rules, View, make_engine
from mahjong_env.environments.agents import choose_actions
from mahjong_training.learning.rewards import Paid, Reward, find_reward, pay, potential
from mahjong_training.seeds import training_seed

Weights = dict[str, NDArray[np.float32]]

LEARNER: Final = 0
"""The number of the learner among those who play."""

HINTS: Final[Mapping[str, float]] = {
    "best help": TABLE_FACTS["best help"],
    "closed": TABLE_FACTS["closed"],
    "wilds": TABLE_FACTS["wilds"],
    "distance to one suit and honours": TABLE_FACTS["distance to one suit and honours"],
    "distance to pungs": TABLE_FACTS["distance to pungs"],
    "distance": 0.3,
}
"""What a critic may know of each other seat, by name, with scales: H in all. The distance comes last."""

_TABLE = list(TABLE_FACTS)
_HINT_COLUMNS = [_TABLE.index(name) for name in HINTS if name in _TABLE]
_DISTANCES = [place for place, name in enumerate(_TABLE) if name.startswith("distance ") and name[-1].isdigit()]
_RARE: Final = 1e-3
"""Actions of a smaller probability are not learned from, unless they were chosen: most legal ones are so bad that all
they would do is take time."""
_UNKNOWN: Final = 8  # the distance of a seat that has not decided anything yet


@dataclass(frozen=True)
class Hands:
    """What the learner decided in some hands: n decisions among m likely actions, in the order of play.

    What one seat decides in one hand is a *chain*.

    Attributes:
        facts: [m, A] int8 what was known of the actions.
        table: [n, C] int8 what was known of the table, added inputs behind it.
        count: [n] intp likely actions of each decision; their probabilities sum to 1.
        chosen: [n] intp which of these was chosen.
        log_probability: [n] float32 with which it was drawn.
        others: [n, (P - 1) * H] int8 what the other seats knew of their hands when they last decided, next seat first.
            Hidden from players: for critics alone.
        chain: [n] intp the chain: hand * P + person.
        reward: [n] float32 points from the decision to the next one of its chain, or to the end of the hand, less the
            luck of the draws in between; or what a reward of a user's own makes of them.
        learner: [hands, P] bool persons that the learner played for.
        points: [hands, P] int64 points of the hands.
    """

    facts: NDArray[np.int8]
    table: NDArray[np.int8]
    count: NDArray[np.intp]
    chosen: NDArray[np.intp]
    log_probability: NDArray[np.float32]
    others: NDArray[np.int8]
    chain: NDArray[np.intp]
    reward: NDArray[np.float32]
    learner: NDArray[np.bool_]
    points: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.chain)

    @classmethod
    def joined(cls, parts: Sequence[Hands]) -> Hands:
        """Return several parts as one."""
        arrays = {item.name: [getattr(part, item.name) for part in parts] for item in fields(cls)}
        chains = np.cumsum([0, *(part.points.size for part in parts)])
        arrays["chain"] = [chain + first for chain, first in zip(arrays["chain"], chains, strict=False)]
        return cls(**{name: np.concatenate(of_parts) for name, of_parts in arrays.items()})


def play_hands(
    rules: Rules,
    network: ActionNetwork,
    others: Sequence[Agent],
    *,
    tables: int,
    share: float,
    seed: Sequence[int],
    luck_weights: NDArray[np.float64] | None = None,
    reward: Reward | None = None,
) -> Hands:
    """Play one hand at each table to its end.

    Args:
        rules: what is played, one hand a game.
        network: the learner's.
        others: who else may play.
        tables: hands.
        share: at so many of the tables, from 0 to 1, the learner has one seat, and one of the others, the same at all
            of these tables, all other seats; at the rest it has all seats.
        seed: of the deals and of all choices.
        luck_weights: [F] of the control variates that are taken off the rewards (`mahjong_agents.control_variates`);
            None: off nothing.
        reward: what is made of the points, luck and all; None: they are the reward.

    Raises:
        RewardError: the reward returns something else than it should.
    """
    rng = np.random.default_rng(np.random.SeedSequence(list(seed)))
    who = _seating(tables, rules.people, len(others), share, rng)
    engine = make_engine(rules, tables, seed=training_seed(*seed))
    learner = _Learner(network, reward)
    agents = (learner, *others)
    points = np.zeros((tables, rules.people), np.int64)
    luck = None if luck_weights is None else Luck(engine, luck_weights)
    paid = np.zeros((tables, rules.people))
    hints = np.zeros((tables, rules.people, len(HINTS)), np.int8)
    hints[:, :, -1] = _UNKNOWN
    steps = np.arange(1, rules.people)
    kept: list[tuple[NDArray[np.generic], ...]] = []
    while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
        persons = engine.seat_to_act[games].astype(np.intp)
        playing = who[games, persons]
        actions = choose_actions(engine, games, agents, playing, rng)
        mine = np.flatnonzero(playing == LEARNER)
        if mine.size:
            game, person = games[mine], persons[mine]
            others_know = hints[game[:, None], (person[:, None] + steps) % rules.people].reshape(len(game), -1)
            hints[game, person] = _hints(learner.decided.table)
            decided = (getattr(learner.decided, name) for name in _DECIDED)
            before = (paid[game, person], points[game], learner.potential)
            kept.append((*decided, others_know, game * rules.people + person, *before))
        points[games] += engine.step(actions, games=games).rewards
        paid[games] = points[games]
        if luck is not None:
            luck.add(games)
            paid[games] -= luck.by_person()[games] / UNIT
    columns = [np.concatenate(column) for column in zip(*kept, strict=True)]
    decided_in_all: dict[str, Any] = dict(zip((*_DECIDED, "others"), columns, strict=False))
    chain, paid_before, points_before, potential_before = columns[-4:]
    chains = _Chains(chain)
    if reward is None:
        amounts = (chains.until_next(paid_before, paid.ravel()[chain]) - paid_before).astype(np.float32)
    else:
        amounts = pay(reward, _paid(rules, chains, points_before, points))
        amounts += chains.until_next(potential_before, np.zeros_like(potential_before)) - potential_before
    return Hands(**decided_in_all, chain=chain, reward=amounts, learner=who == LEARNER, points=points)


class Common(NamedTuple):
    """What all parts of an update's hands have in common; see `play_hands`."""

    rules: Rules
    weights: Weights
    named: Sequence[Agent | str]
    snapshots: Sequence[Weights]
    tables: int
    parts: int
    share: float
    luck: NDArray[np.float64] | None
    reward: Reward | str | None
    features: Features | str | None


def play_part(common: Common, seed: tuple[int, ...]) -> Hands:
    """Play one of the parts of an update's hands: the last number of the seed says which."""
    tables = common.tables // common.parts + (seed[-1] < common.tables % common.parts)
    features = None if common.features is None else find_features(common.features)
    past = (agent_of(weights, sample=True, features=features) for weights in common.snapshots)
    others = [*map(make_agent, common.named), *past]
    return play_hands(
        common.rules,
        ActionNetwork(common.weights, features),
        others,
        tables=tables,
        share=common.share,
        seed=seed,
        luck_weights=common.luck,
        reward=None if common.reward is None else find_reward(common.reward),
    )


def agent_of(weights: Weights, *, sample: bool = False, features: Features | None = None) -> PolicyAgent:
    """Return the agent that plays by these weights: the likeliest action, or one drawn by its probability."""
    return PolicyAgent.playing(ActionNetwork(weights, features), name="learner", sample=sample)


class _Chains:
    """The chains of n decisions that are in the order of play.

    Attributes:
        chain: [n] of each decision.
        ends: [n] bool: its last one.
    """

    def __init__(self, chain: NDArray[np.intp]) -> None:
        self.chain = chain
        self._order = np.argsort(chain, kind="stable")
        self.ends = np.empty(len(chain), np.bool_)
        self.ends[self._order] = np.append(np.diff(chain[self._order]) > 0, True)

    def until_next(self, before: NDArray[Any], at_the_end: NDArray[Any]) -> NDArray[Any]:
        """Return [n, ...] what is known before a decision as it is before the next one, or at the end of the hand."""
        after = np.empty_like(before)
        after[self._order] = np.roll(before[self._order], -1, axis=0)
        after[self.ends] = at_the_end[self.ends]
        return after


def _paid(rules: Rules, chains: _Chains, before: NDArray[np.int64], at_the_end: NDArray[np.int64]) -> Paid:
    """Return what was paid after each decision; points [n, P] before it, and [hands, P] at the end."""
    hand, person = np.divmod(chains.chain, rules.people)
    totals = chains.until_next(before, at_the_end[hand])
    points = (totals - before)[np.arange(len(person)), person]
    return Paid(rules, points, totals, person, chains.ends)


def _seating(tables: int, people: int, others: int, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return [tables, P] the number of the agent that plays for each person."""
    who = np.full((tables, people), LEARNER, np.intp)
    if others:
        some = rng.permutation(tables)[: round(share * tables)]
        # One of them at all of these tables: many small batches, one for each, would take most of the time.
        who[some] = 1 + rng.integers(others)
        who[some, rng.integers(people, size=len(some))] = LEARNER
    return who


def _hints(table: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return [n, H] what seats know of their hands."""
    distance = table[:, _DISTANCES].argmax(axis=1).astype(np.int8)
    return np.concatenate([table[:, _HINT_COLUMNS], distance[:, None]], axis=1)


@dataclass(frozen=True)
class _Decided:
    """What was decided in a call; the arrays are those of `Hands`."""

    facts: NDArray[np.int8]
    table: NDArray[np.int8]
    count: NDArray[np.intp]
    chosen: NDArray[np.intp]
    log_probability: NDArray[np.float32]


_DECIDED: Final = tuple(item.name for item in fields(_Decided))


class _Learner:
    """Draws actions, and keeps what the network was shown.

    Attributes:
        decided: in the last call.
        potential: [n] float32 of the reward there; zero without one.
    """

    name = "learner"
    decided: _Decided
    potential: NDArray[np.float32]

    def __init__(self, network: ActionNetwork, reward: Reward | None) -> None:
        self._network, self._reward = network, reward

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        inputs = self._network.inputs(view)
        scores = self._network.scores(inputs)
        best = draw(scores, inputs.row, rng)
        self.decided = _likely(inputs, scores, best)
        found = None if self._reward is None else potential(self._reward, view)
        self.potential = np.zeros(len(view), np.float32) if found is None else found
        return inputs.action[best].astype(np.int64)


def _likely(inputs: ActionInputs, scores: NDArray[np.float32], best: NDArray[np.intp]) -> _Decided:
    """Keep the likely actions alone."""
    is_kept = log_probabilities(scores, inputs.row) > np.log(_RARE)
    is_kept[best] = True
    kept = np.flatnonzero(is_kept)
    row = inputs.row[kept]
    chosen = np.searchsorted(kept, best)
    count = np.bincount(row, minlength=len(inputs.table))
    first = np.cumsum(count) - count
    log_probability = log_probabilities(scores[kept], row)[chosen]
    return _Decided(inputs.facts[kept], inputs.table, count, chosen - first, log_probability)
