"""Hands that a network plays at all seats or against other agents, and the trajectories from which it can learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, AgentError, make_agent
from mahjong_agents.control_variates import UNIT, Luck
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.critic import CriticInputs, table_rows
from mahjong_agents.policy.custom_features import Features, find_features
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.network import ActionNetwork, Network, draw, log_probabilities
from mahjong_env import Engine, Rules, View, make_engine
from mahjong_env.environments.agents import agent_name, ask, choose_actions
from mahjong_training.learning.rewards import Paid, Reward, find_reward, pay, potential
from mahjong_training.seeds import training_seed

Weights = dict[str, NDArray[Any]]

LEARNER: Final = 0
"""The number of the learner among the agents that play."""

_LEAST_PROBABILITY: Final = 1e-2
"""Actions with a smaller probability are not learned from, unless they were chosen.

Most legal actions are so bad that learning from them would only take time.
"""


@dataclass(frozen=True)
class Trajectories:
    """The learner's n decisions in some hands, among m likely actions in all, in the order of play.

    The decisions of one seat in one hand form a trajectory.

    Attributes:
        inputs: the network's inputs for the likely actions. The probabilities of a decision's likely actions sum to 1.
        chosen: [n] intp the index of the chosen action among the decision's likely actions.
        log_probability: [n] float32 the log-probability with which it was drawn.
        critic_inputs: [n, C + (S - 1) * H] int8 the table (`TABLE_FACTS`, followed by added inputs), and the privileged
            features of the other seats when they last decided, the next seat first. Players do not see these features.
        trajectory: [n] intp the number of the decision's trajectory: hand * P + person.
        reward: [n] float32 the points from the decision to the next one of its trajectory, or to the end of the hand,
            less the luck of the draws in between; or what a reward of the user's own makes of them.
        learner: [hands, P] bool the persons for whom the learner played.
        points: [hands, P] int64 the points of the hands.
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
        """Return the number of decisions."""
        return len(self.trajectory)

    @classmethod
    def joined(cls, parts: Sequence[Trajectories]) -> Trajectories:
        """Return several parts joined into one."""
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
    beside: Sequence[tuple[int, Sequence[int]]] = (),
    luck_weights: NDArray[np.float64] | None = None,
    reward: Reward | None = None,
    gamma: float = 1.0,
    features: Features | None = None,
    match_hands: int = 1,
    odds: Sequence[float] | None = None,
) -> Trajectories:
    """Play one hand, or one match of several hands, at each table to its end.

    Args:
        rules: the rules to play by.
        network: the learner's network.
        others: the other agents that may play.
        tables: the number of tables, at each of which a hand or a match is played.
        share: the share of the tables, from 0 to 1, at which the learner has one seat and one of the others has all
            other seats; it is the same agent at all of these tables. At the rest, the learner has all seats.
        seed: the seed of the deals and of all choices.
        beside: pairs of the number of tables and the seed of further parts. The results are as if each part were played
            alone, but all are played at once, which takes less time. Their decisions follow, part after part.
        luck_weights: [F] weights of the control variates that are subtracted from the rewards
            (`mahjong_agents.control_variates`); None subtracts nothing.
        reward: computes rewards from the points, luck included; None makes the points the reward.
        gamma: the discount of the potential that shapes a reward.
        features: adds inputs of the user's own to the table.
        match_hands: hands in a match, in which the persons at a table stay the same and everything that a match
            carries over is carried over. Each hand has trajectories of its own. Luck is subtracted only in single
            hands.
        odds: the probability of each of the others to be drawn, up to a common factor; None for equal ones.

    Returns:
        The learner's decisions, and the points of the hands.

    Raises:
        RewardError: the reward does not return what it should.
        AgentError: the network's scores are not finite, or its inputs are not valid.
    """
    sizes, seeds = zip((tables, seed), *beside, strict=True)
    starts, tables = np.cumsum([0, *sizes]), sum(sizes)
    parts = [_Part(np.random.default_rng(np.random.SeedSequence(list(of_part)))) for of_part in seeds]
    learner = _Learner(network, reward, features, parts)
    agents: list[Agent] = [learner]
    seating: list[NDArray[np.intp]] = []
    for part, size in zip(parts, sizes, strict=True):
        of_part = _seating(size, rules, match_hands, len(others), share, part.rng, odds)
        if of_part.any():  # one of the others plays; in this list it gets the next number
            agents.append(_OfPart(others[of_part.max() - 1], part.rng))
            of_part[of_part != LEARNER] = len(agents) - 1
        seating.append(of_part)
    who = np.concatenate(seating)
    engine = _deal(rules, sizes, seeds, match_hands)
    points = np.zeros((tables * match_hands, rules.people), np.int64)
    luck = None if luck_weights is None or match_hands > 1 else Luck(engine, luck_weights)
    playing_hand = np.arange(tables) * match_hands  # the current hand at each table, a row of `points`
    last_hand = playing_hand + match_hands - 1
    critic_inputs = CriticInputs(tables, rules.seats)
    decided = 0
    while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
        persons = engine.seat_to_act[games].astype(np.intp)
        playing = who[games, persons]
        mine = np.flatnonzero(playing == LEARNER)
        learner.bounds = np.searchsorted(games[mine], starts)
        actions = choose_actions(engine, games, agents, playing, parts[0].rng)
        if mine.size:
            game, person = games[mine], persons[mine]
            seat = engine.state.actor[game].astype(np.intp)  # persons may have changed seats
            shown = critic_inputs.of(game, seat, learner.table)
            critic_inputs.note(game, seat, learner.table)
            here, numbers = playing_hand[game], np.arange(decided, decided + len(mine))
            decided += len(mine)
            found = shown, here * rules.people + person, points[here], learner.potential, numbers
            for part, start, stop in zip(parts, learner.bounds[:-1], learner.bounds[1:], strict=True):
                part.columns += [tuple(column[start:stop] for column in found)] if stop > start else []
            if luck is not None:
                luck.note(game, person)
        result, here = engine.step(actions, games=games), playing_hand[games]
        points[here] += result.rewards
        if luck is not None:
            luck.add(games)
        if match_hands > 1:
            last_hand[games[result.done]] = here[result.done]
            going_on = games[result.hand_over & ~result.done]
            playing_hand[going_on] += 1
            critic_inputs.forget(going_on)
    choices = [choice for part in parts for choice in part.choices]
    joined = Inputs.joined([choice.inputs for choice in choices], [len(choice.chosen) for choice in choices])
    chosen, log_probability = (
        np.concatenate([getattr(choice, name) for choice in choices]) for name in ("chosen", "log_probability")
    )
    shown, trajectory, points_before, potential_before, numbers = (
        np.concatenate(column) for column in zip(*(column for part in parts for column in part.columns), strict=True)
    )
    order = np.argsort(trajectory, kind="stable")
    ends = np.empty(len(trajectory), np.bool_)
    ends[order] = np.append(np.diff(trajectory[order]) > 0, True)

    def at_next_decision(before: NDArray[Any], at_the_end: NDArray[Any]) -> NDArray[Any]:
        """Return [n, ...] a quantity known before each decision, as of the next decision of the same trajectory."""
        after = np.empty_like(before)
        after[order] = np.roll(before[order], -1, axis=0)
        after[ends] = at_the_end[ends]
        return after

    hand, person = np.divmod(trajectory, rules.people)
    decisions = np.arange(len(person))
    if reward is None:
        paid, paid_before = points.astype(np.float64), points_before[decisions, person].astype(np.float64)
        if luck is not None:
            paid -= luck.by_person() / UNIT
            paid_before -= luck.noted()[numbers] / UNIT
        rewards = (at_next_decision(paid_before, paid.ravel()[trajectory]) - paid_before).astype(np.float32)
    else:
        totals = at_next_decision(points_before, points[hand])
        received = (totals - points_before)[decisions, person]
        of_match: dict[str, Any] = {}
        if match_hands > 1:
            by_match = points.reshape(tables, match_hands, rules.people)
            so_far = (by_match.cumsum(axis=1) - by_match).reshape(points.shape)
            of_match = {"before": so_far[hand], "hands_to_come": last_hand[hand // match_hands] - hand}
        rewards = pay(reward, Paid(rules, received, totals, person, ends, **of_match))
        potential_after = at_next_decision(potential_before, np.zeros_like(potential_before))
        rewards += gamma * potential_after - potential_before
    return Trajectories(
        joined,
        chosen,
        log_probability,
        shown,
        trajectory,
        rewards,
        learner=np.repeat(who == LEARNER, match_hands, axis=0),
        points=points,
    )


class Common(NamedTuple):
    """What all parts of an update have in common; see `play_hands`.

    Rewards, added inputs and networks are given as texts, or as the objects themselves for machines that may lack their
    files.
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
    match_hands: int = 1
    odds: Sequence[float] | None = None


def play_part(common: Common, seed: tuple[int, ...]) -> Trajectories:
    """Play some parts of an update; their numbers are the entries of ``seed`` from the third one on."""
    sizes = [common.tables // common.parts + (part < common.tables % common.parts) for part in seed[2:]]
    features = None if common.features is None else find_features(common.features)
    past = (network_of(weights, common.network, features, common.device) for weights in common.snapshots)
    others = [*map(make_agent, common.named), *(PolicyAgent.playing(one, name="past", sample=True) for one in past)]
    return play_hands(
        common.rules,
        network_of(common.weights, common.network, features, common.device),
        others,
        tables=sizes[0],
        share=common.share,
        seed=seed[:3],
        beside=[(size, (*seed[:2], part)) for size, part in zip(sizes[1:], seed[3:], strict=True)],
        luck_weights=common.luck,
        reward=None if common.reward is None else find_reward(common.reward),
        gamma=common.gamma,
        features=features,
        match_hands=common.match_hands,
        odds=common.odds,
    )


def network_of(weights: Weights, network: Any = None, features: Features | None = None, device: Any = "cpu") -> Network:
    """Return a network with these weights, ready to play.

    Args:
        weights: the weights as arrays by name.
        network: a torch module of the user's own, or its address; None for the small network.
        features: adds inputs to the small network.
        device: the device on which torch computes.
    """
    if network is None:
        return ActionNetwork(weights, features)
    from mahjong_agents.policy.torch_network import TorchNetwork, find_network, load_arrays

    module = find_network(network)
    load_arrays(module, weights)
    return TorchNetwork(module.to(device).eval())


class LearnerAgent(PolicyAgent):
    """An agent that plays the best action by a learner's network; it is pickled as what the network is made of."""

    def __init__(
        self, weights: Weights, network: Any = None, features: Features | str | None = None, device: Any = "cpu"
    ) -> None:
        """Make the network; the arguments are those of `network_of`, but ``features`` may also be a text."""
        self._made_of = weights, network, features, str(device)
        self.name, self.variant, self._sample = "learner", None, False
        added = None if features is None else find_features(features)
        self.network = network_of(weights, network, added, device)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes the same agent."""
        return type(self), self._made_of


def _seating(
    tables: int,
    rules: Rules,
    match_hands: int,
    others: int,
    share: float,
    rng: np.random.Generator,
    odds: Sequence[float] | None,
) -> NDArray[np.intp]:
    """Return [tables, P] the number of the agent that plays for each person."""
    who = np.full((tables, rules.people), LEARNER, np.intp)
    sitting = rules.seats if match_hands == 1 else rules.people  # the last person sits out the first hand
    if others:
        some = rng.permutation(tables)[: round(share * tables)]
        # One opponent at all of these tables: many small batches, one for each agent, would take most of the time.
        likely = None if odds is None else np.array(odds) / sum(odds)  # numpy requires a sum of 1 to eight digits
        who[some] = 1 + (rng.integers(others) if odds is None else rng.choice(others, p=likely))
        who[some, rng.integers(sitting, size=len(some))] = LEARNER
    return who


def _deal(rules: Rules, sizes: Sequence[int], seeds: Sequence[Any], match_hands: int) -> Engine:
    """Return an engine with the tables of all parts, each dealt from its part's seed."""
    dealt = [
        make_engine(rules, size, seed=training_seed(*seed), num_hands=match_hands)
        for size, seed in zip(sizes, seeds, strict=True)
    ]
    if len(dealt) == 1:
        return dealt[0]
    engine, first = dealt[0].select(np.zeros(sum(sizes), np.intp)), 0
    for part in dealt:
        engine.put(np.arange(first, first + part.num_games), part)
        first += part.num_games
    return engine


class _Choices(NamedTuple):
    """The learner's choices in n decisions of a part; see `Trajectories`."""

    inputs: Inputs
    chosen: NDArray[np.intp]
    log_probability: NDArray[np.float32]


@dataclass
class _Part:
    """One of the parts that are played at the same time: its randomness, and the decisions at its tables.

    Attributes:
        rng: the source of all randomness of the part.
        choices: the choices of each step.
        columns: further arrays about these decisions, for each step.
    """

    rng: np.random.Generator
    choices: list[_Choices] = field(default_factory=list)
    columns: list[tuple[NDArray[Any], ...]] = field(default_factory=list)


class _OfPart:
    """An agent at the tables of one part, which uses the randomness of that part."""

    def __init__(self, agent: Agent, rng: np.random.Generator) -> None:
        self.name, self._agent, self._rng = agent_name(agent), agent, rng

    def act(self, view: View, rng: np.random.Generator) -> Any:
        return self._agent.act(view, self._rng)


class _Learner:
    """The learner as an agent: it draws actions, and adds its choices to the parts.

    Attributes:
        bounds: [parts + 1] where the rows of each part begin and end in the next view; set before every call.
        table: [n, C] int8 the table in the last view (see `TABLE_FACTS`), followed by added inputs.
        potential: [n] float32 the reward's potential in the last view; zero if it has none.
    """

    name = "learner"
    bounds: NDArray[np.intp]
    table: NDArray[np.int8]
    potential: NDArray[np.float32]

    def __init__(
        self, network: Network, reward: Reward | None, features: Features | None, parts: Sequence[_Part]
    ) -> None:
        self._network, self._reward, self._features, self._parts = network, reward, features, parts

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        inputs = self._network.inputs(view)
        self.table = table_rows(inputs, view, self._features)
        found = None if self._reward is None else potential(self._reward, view)
        self.potential = np.zeros(len(view), np.float32) if found is None else found
        return np.concatenate(
            [
                self._choose(part, inputs.of_decisions(start, stop))
                for part, start, stop in zip(self._parts, self.bounds[:-1], self.bounds[1:], strict=True)
                if stop > start
            ]
        )

    def _choose(self, part: _Part, inputs: Inputs) -> NDArray[np.int64]:
        scores = self._network.scores(inputs)
        if not np.isfinite(scores).all():
            raise AgentError("the network's scores are not finite numbers")
        best = draw(scores, inputs.row, part.rng)
        is_likely = log_probabilities(scores, inputs.row) > np.log(_LEAST_PROBABILITY)
        is_likely[best] = True
        likely = np.flatnonzero(is_likely)
        shown = inputs.of_actions(likely)
        count = np.bincount(shown.row)
        chosen = np.searchsorted(likely, best)
        log_probability = log_probabilities(scores[likely], shown.row)[chosen]
        part.choices.append(_Choices(shown, chosen - (np.cumsum(count) - count), log_probability))
        return inputs.action[best].astype(np.int64)


def try_agent(common: tuple[Rules, Sequence[str | Agent]], number: int) -> None:
    """Ask one of several agents for a decision; see `BaseRun.try_agents`.

    Args:
        common: the rules, and the agents. They are not the task, as only the state takes code of users to a cluster.
        number: which of the agents.
    """
    rules, agents = common
    ask(make_agent(agents[number]), make_engine(rules, 1, seed=0), np.arange(1), np.random.default_rng(0))
