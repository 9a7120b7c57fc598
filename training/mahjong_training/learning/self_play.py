"""Hands that a network plays at all seats, or against others, and the trajectories that it can learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, AgentError, make_agent
from mahjong_agents.control_variates import UNIT, Luck
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.custom_features import Features, find_features
from mahjong_agents.policy.inputs import TABLE_FACTS, Inputs, action_inputs
from mahjong_agents.policy.network import ActionNetwork, Network, draw, log_probabilities
from mahjong_env import Rules, View, make_engine
from mahjong_env.environments.agents import choose_actions
from mahjong_training.learning.rewards import Paid, Reward, find_reward, pay, potential
from mahjong_training.seeds import training_seed

Weights = dict[str, NDArray[Any]]

LEARNER: Final = 0
"""The number of the learner among those who play."""

PRIVILEGED_FEATURES: Final[Mapping[str, float]] = {
    "best help": TABLE_FACTS["best help"],
    "closed": TABLE_FACTS["closed"],
    "wilds": TABLE_FACTS["wilds"],
    "distance to one suit and honours": TABLE_FACTS["distance to one suit and honours"],
    "distance to pungs": TABLE_FACTS["distance to pungs"],
    "distance": 0.3,
}
"""What a critic may know of each other seat, by name, with scales: H in all. The distance comes last."""

_TABLE = list(TABLE_FACTS)
_PRIVILEGED_COLUMNS = [_TABLE.index(name) for name in PRIVILEGED_FEATURES if name in _TABLE]
_DISTANCES = [column for column, name in enumerate(_TABLE) if name.startswith("distance ") and name[-1].isdigit()]
_LEAST_PROBABILITY: Final = 1e-3
"""Actions of a smaller probability are not learned from, unless they were chosen: most legal ones are so bad that all
they would do is take time."""
_UNKNOWN: Final = 8  # the distance of a seat that has not decided anything yet


@dataclass(frozen=True)
class Trajectories:
    """The learner's n decisions in some hands, among m likely actions, in the order of play.

    The decisions of one seat in one hand are a trajectory.

    Attributes:
        inputs: what the network was shown of the likely actions; the probabilities of those of a decision sum to 1.
        chosen: [n] intp which of its likely actions was chosen.
        log_probability: [n] float32 with which it was drawn.
        critic_inputs: [n, C + (P - 1) * H] int8 the table (`TABLE_FACTS`, added inputs behind them), and the
            privileged features of the other seats when they last decided, next seat first. Hidden from players.
        trajectory: [n] intp its trajectory: hand * P + person.
        reward: [n] float32 points from the decision to the next one of its trajectory, or to the end of the hand, less
            the luck of the draws in between; or what a reward of a user's own makes of them.
        learner: [hands, P] bool persons that the learner played for.
        points: [hands, P] int64 points of the hands.
    """

    inputs: Inputs
    chosen: NDArray[np.intp]
    log_probability: NDArray[np.float32]
    critic_inputs: NDArray[np.int8]
    trajectory: NDArray[np.intp]
    reward: NDArray[np.float32]
    learner: NDArray[np.bool_]
    points: NDArray[np.int64]

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.trajectory)

    @classmethod
    def joined(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """Return several parts as one."""
        arrays = {item.name: [getattr(part, item.name) for part in parts] for item in fields(cls)}
        firsts = np.cumsum([0, *(part.points.size for part in parts)])
        arrays["trajectory"] = [
            trajectory + first for trajectory, first in zip(arrays["trajectory"], firsts, strict=False)
        ]
        inputs = Inputs.joined(arrays.pop("inputs"), [len(part) for part in parts])
        return cls(inputs=inputs, **{name: np.concatenate(of_parts) for name, of_parts in arrays.items()})


def play_hands(
    rules: Rules,
    network: Network,
    others: Sequence[Agent],
    *,
    tables: int,
    share: float,
    seed: Sequence[int],
    luck_weights: NDArray[np.float64] | None = None,
    reward: Reward | None = None,
    gamma: float = 1.0,
    features: Features | None = None,
) -> Trajectories:
    """Play one hand at each table to its end.

    Args:
        rules: what is played, one hand a game.
        network: the learner's.
        others: who else may play.
        tables: hands.
        share: of the tables, from 0 to 1, at which the learner has one seat, and one of the others, the same at all of
            these tables, all other seats; at the rest it has all seats.
        seed: of the deals and of all choices.
        luck_weights: [F] of the control variates that are taken off the rewards (`mahjong_agents.control_variates`);
            None: off nothing.
        reward: what is made of the points, luck and all; None: they are the reward.
        gamma: discount of the potential that shapes a reward.
        features: what adds inputs of a researcher's own to the table.

    Raises:
        RewardError: the reward returns something else than it should.
        AgentError: the network is shown something else than it should be.
    """
    rng = np.random.default_rng(np.random.SeedSequence(list(seed)))
    who = _seating(tables, rules.people, len(others), share, rng)
    engine = make_engine(rules, tables, seed=training_seed(*seed))
    learner = _Learner(network, reward, features)
    agents = (learner, *others)
    points = np.zeros((tables, rules.people), np.int64)
    luck = None if luck_weights is None else Luck(engine, luck_weights)
    paid = np.zeros((tables, rules.people))
    privileged = np.zeros((tables, rules.people, len(PRIVILEGED_FEATURES)), np.int8)
    privileged[:, :, -1] = _UNKNOWN
    steps = np.arange(1, rules.people)
    inputs: list[Inputs] = []
    columns: list[tuple[NDArray[Any], ...]] = []
    while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
        persons = engine.seat_to_act[games].astype(np.intp)
        playing = who[games, persons]
        actions = choose_actions(engine, games, agents, playing, rng)
        mine = np.flatnonzero(playing == LEARNER)
        if mine.size:
            game, person = games[mine], persons[mine]
            of_others = privileged[game[:, None], (person[:, None] + steps) % rules.people].reshape(len(game), -1)
            critic_inputs = np.concatenate([learner.table, of_others], axis=1)
            distance = learner.table[:, _DISTANCES].argmax(axis=1).astype(np.int8)
            privileged[game, person] = np.column_stack([learner.table[:, _PRIVILEGED_COLUMNS], distance])
            inputs.append(learner.inputs)
            decided = learner.chosen, learner.log_probability, critic_inputs, game * rules.people + person
            columns.append((*decided, paid[game, person], points[game], learner.potential))
        points[games] += engine.step(actions, games=games).rewards
        paid[games] = points[games]
        if luck is not None:
            luck.add(games)
            paid[games] -= luck.by_person()[games] / UNIT
    joined = Inputs.joined(inputs, [len(column[0]) for column in columns])
    chosen, log_probability, critic_inputs, trajectory, paid_before, points_before, potential_before = (
        np.concatenate(column) for column in zip(*columns, strict=True)
    )
    order = np.argsort(trajectory, kind="stable")
    ends = np.empty(len(trajectory), np.bool_)
    ends[order] = np.append(np.diff(trajectory[order]) > 0, True)

    def at_next_decision(before: NDArray[Any], at_the_end: NDArray[Any]) -> NDArray[Any]:
        """Return [n, ...] what is known before a decision as it is before the next one of its trajectory."""
        after = np.empty_like(before)
        after[order] = np.roll(before[order], -1, axis=0)
        after[ends] = at_the_end[ends]
        return after

    if reward is None:
        rewards = (at_next_decision(paid_before, paid.ravel()[trajectory]) - paid_before).astype(np.float32)
    else:
        hand, person = np.divmod(trajectory, rules.people)
        totals = at_next_decision(points_before, points[hand])
        received = (totals - points_before)[np.arange(len(person)), person]
        rewards = pay(reward, Paid(rules, received, totals, person, ends))
        potential_after = at_next_decision(potential_before, np.zeros_like(potential_before))
        rewards += gamma * potential_after - potential_before
    return Trajectories(
        joined, chosen, log_probability, critic_inputs, trajectory, rewards, learner=who == LEARNER, points=points
    )


class Common(NamedTuple):
    """What all parts of an update's hands have in common; see `play_hands`.

    Rewards, added inputs and networks are named by texts, or are the objects themselves for machines that may not have
    their files.
    """

    rules: Rules
    weights: Weights
    named: Sequence[Agent | str]
    snapshots: Sequence[Weights]
    tables: int
    parts: int
    share: float
    luck: NDArray[np.float64] | None = None
    reward: Reward | str | None = None
    gamma: float = 1.0
    features: Features | str | None = None
    network: Any = None
    device: str = "cpu"


def play_part(common: Common, seed: tuple[int, ...]) -> Trajectories:
    """Play one of the parts of an update's hands: the last number of the seed says which."""
    tables = common.tables // common.parts + (seed[-1] < common.tables % common.parts)
    features = None if common.features is None else find_features(common.features)
    past = (network_of(weights, common.network, features, common.device) for weights in common.snapshots)
    others = [*map(make_agent, common.named), *(PolicyAgent.playing(one, name="past", sample=True) for one in past)]
    return play_hands(
        common.rules,
        network_of(common.weights, common.network, features, common.device),
        others,
        tables=tables,
        share=common.share,
        seed=seed,
        luck_weights=common.luck,
        reward=None if common.reward is None else find_reward(common.reward),
        gamma=common.gamma,
        features=features,
    )


def network_of(weights: Weights, network: Any = None, features: Features | None = None, device: Any = "cpu") -> Network:
    """Return the network of some weights, ready to play.

    Args:
        weights: arrays by name.
        network: a torch module of a researcher's own or its address; None: the small network.
        features: what adds inputs to the small network.
        device: where torch computes.
    """
    if network is None:
        return ActionNetwork(weights, features)
    from mahjong_agents.policy.torch_network import TorchNetwork, find_network, load_arrays

    module = find_network(network)
    load_arrays(module, weights)
    return TorchNetwork(module.to(device).eval())


def _seating(tables: int, people: int, others: int, share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return [tables, P] the number of the agent that plays for each person."""
    who = np.full((tables, people), LEARNER, np.intp)
    if others:
        some = rng.permutation(tables)[: round(share * tables)]
        # One of them at all of these tables: many small batches, one for each, would take most of the time.
        who[some] = 1 + rng.integers(others)
        who[some, rng.integers(people, size=len(some))] = LEARNER
    return who


class _Learner:
    """Draws actions, and keeps what belongs to the trajectories of the last call; the arrays are those of them.

    Attributes:
        inputs: of the likely actions.
        chosen: [n] intp.
        log_probability: [n] float32.
        table: [n, C] int8, see `TABLE_FACTS`; added inputs behind them.
        potential: [n] float32 of the reward there; zero without one.
    """

    name = "learner"
    inputs: Inputs
    chosen: NDArray[np.intp]
    log_probability: NDArray[np.float32]
    table: NDArray[np.int8]
    potential: NDArray[np.float32]

    def __init__(self, network: Network, reward: Reward | None, features: Features | None) -> None:
        self._network, self._reward, self._features = network, reward, features

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        inputs = self._network.inputs(view)
        scores = self._network.scores(inputs)
        if not np.isfinite(scores).all():
            raise AgentError("the network's scores are no finite numbers")
        best = draw(scores, inputs.row, rng)
        is_likely = log_probabilities(scores, inputs.row) > np.log(_LEAST_PROBABILITY)
        is_likely[best] = True
        likely = np.flatnonzero(is_likely)
        self.inputs = inputs.of_actions(likely)
        count = np.bincount(self.inputs.row, minlength=len(view))
        chosen = np.searchsorted(likely, best)
        self.chosen = chosen - (np.cumsum(count) - count)
        self.log_probability = log_probabilities(scores[likely], self.inputs.row)[chosen]
        # A network that is shown the strong inputs has worked out the critic's as well.
        table = inputs.per_decision.get("table")
        columns = len(_TABLE) + (0 if self._features is None else len(self._features.facts))
        if table is None or table.shape[1:] != (columns,) or table.dtype != np.int8:
            table = action_inputs(view, self._features).per_decision["table"]
        self.table = table
        found = None if self._reward is None else potential(self._reward, view)
        self.potential = np.zeros(len(view), np.float32) if found is None else found
        return inputs.action[best].astype(np.int64)
