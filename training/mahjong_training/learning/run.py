"""``mahjong-env train``: PPO by self-play in a run folder, with opponents, measurements and gates; runs can resume."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.policy.custom_features import find_features
from mahjong_agents.policy.file import TORCH, PolicyFile
from mahjong_agents.policy.network import ARCHITECTURE, ActionNetwork, widened
from mahjong_env import MahjongError, MissingExtraError, Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, confidence, looks, mean, weighted
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import begin_to_measure, measure, sigma
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.base_run import BaseRun, run_or_resume
from mahjong_training.learning.rewards import find_reward, try_reward
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.learning.self_play import Common, LearnerAgent, Trajectories, Weights, play_part
from mahjong_training.runtime.executors import Executor, LocalExecutor, new_executor
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import gate_seed, training_seed

try:
    import torch

    from mahjong_agents.policy.torch_network import TorchNetwork, arrays_of, find_device, network_header
    from mahjong_training.learning.ppo import WIDTH, Learner
except ImportError as error:
    if isinstance(error, MissingExtraError):
        raise
    raise MissingExtraError(f"training needs {error.name}: pip install 'mahjong-env[train,evaluate]'") from error

SNAPSHOT: Final = "snapshot"
TEACHERS: Final = {"greedy": True, "closed-greedy": False}
"""The greedy agents that a learner may begin as, and whether each of them claims tiles."""
_POLICY: Final = "policy:"
_POINTS: Final = "points"
_PLACE: Final = "place"
_STANDING: Final = "mahjong_agents.policy.standing_inputs:Standing"
_MOST_SNAPSHOTS: Final = 4
_TRIAL_DEALS: Final = 1000
_NO_UPDATE: Final = 2**32 - 1  # the trial is played with other deals than any update
_FEWEST: Final = 2  # parts that are played at the same time by default, even with a single process
_MOST_CRITIC_HANDS: Final = 12_288
_ROUNDING: Final = 1e-6
_UPDATES_TO_DOUBLE: Final = 8  # an update grows to one in this many of the hands learned from before it, ...
_GROWTH: Final = 2  # ... but to no more than this many times --tables (with 4, one long run ended weaker), ...
_FEWEST_UPDATES: Final = 32  # ... nor beyond one in this many of all hands: a short run needs all of its updates
_LOOKS: Final = 3  # the looks of a gate, each after twice as many deals
_MOST_GATES: Final = 1024  # of a run; higher numbers are for gates against further agents


def run(config: TrainConfig) -> RunFolder:
    """Train a policy, and write everything to the run folder.

    Returns:
        The run folder.

    Raises:
        MahjongError: settings, agents or folders cannot be used; nothing has been learned then.
    """
    return run_or_resume(PpoRun, config)


class PpoRun(BaseRun[TrainConfig]):
    """A training run by self-play: the learner, its opponents, and its measurements."""

    unit = "hands"

    @staticmethod
    def check(config: TrainConfig) -> None:
        """Check settings; see `BaseRun.check`."""
        check_settings(config, zero=("critic_hands",))
        find_device(config.device)
        for name in ("opponent_share", "gae_lambda", "gamma", "ema_decay"):
            if (share := getattr(config, name)) > 1:
                raise TrainingError(f"--{name.replace('_', '-')} is at most 1, not {share}")
        if config.evaluations > _MOST_GATES:
            raise TrainingError(f"--evaluations is at most {_MOST_GATES}, not {config.evaluations}")
        if not config.resume and (config.critic_hands or 0) >= config.goal:
            raise TrainingError(
                f"--critic-hands {config.critic_hands} leaves nothing of --hands {config.goal} for the policy"
            )
        teacher = str(config.teacher)
        named = TEACHERS if config.network is None else {}
        if config.teacher is not None and teacher not in named and not teacher.startswith(_POLICY):
            valid = ", ".join([*named, f"{_POLICY}NAME"])
            raise TrainingError(f"--teacher is one of {valid}, not {config.teacher!r}")
        if config.network is not None and config.features is not None:
            raise TrainingError("--features adds inputs to the small network; a --network of your own chooses its own")
        if config.reward == _PLACE and config.match_hands == 1:
            raise TrainingError("--reward place needs matches; give their number of hands, such as --match-hands 16")
        odds = config.opponent_odds
        if odds and (SNAPSHOT in config.opponents or len(odds) != len(config.opponents)):
            raise TrainingError(f"--opponent-odds are one number for each of --opponents, none of them {SNAPSHOT!r}")
        if odds and not (min(odds) >= 0 and abs(sum(odds) - 1) < _ROUNDING):
            raise TrainingError(f"--opponent-odds must be 0 or more and sum to 1, not {odds}")
        if odds and config.gate_against is not None:
            raise TrainingError("--opponent-odds says whom gates are played against; leave out --gate-against")
        if not config.evaluation_agents:
            raise TrainingError("--evaluation-agents must name at least one agent")
        try_reward(config.reward, read_rules(config.variant, config.knobs), config.match_hands)

    def __init__(self, config: TrainConfig, folder: RunFolder) -> None:
        """Choose the teacher and build the networks; nothing is written.

        Raises:
            MahjongError: a variant, knob or agent is unknown, or a policy file cannot be used.
        """
        super().__init__(config, folder)
        others = [(spec, make_agent(spec)) for spec in config.opponents if spec != SNAPSHOT]
        mark = reference_agent(self.rules) if config.gate_against is None else make_agent(config.gate_against)
        self.met |= dict(others) | ({} if config.gate_against is None else {config.gate_against: mark})
        teacher = config.teacher
        if teacher is None and config.network is None:
            teacher = best_start(self.rules, "closed-greedy", TEACHERS, config.seed)
        if config.reward == _PLACE and config.features is None and config.network is None:
            # The text is stored in policy files, and a player of the policy makes the inputs from it.
            config = replace(config, features=f"{_STANDING}?unit={sigma(self.rules):.4g}")
        critic_hands = config.critic_hands
        if critic_hands is None:
            critic_hands = min(_MOST_CRITIC_HANDS, config.goal // 4)
        is_policy, width = str(teacher).startswith(_POLICY), config.width
        if width is None:
            begun = small_network(str(teacher)) if is_policy and config.network is None else None
            width = WIDTH if begun is None else len(begun.weights["bias"])
        # These are stored, so that a run that is resumed elsewhere, or taken further, stays the same run.
        config = self.config = replace(config, teacher=teacher, critic_hands=critic_hands, width=width)
        self.critic_hands, self.match_hands = critic_hands, config.match_hands
        features = None if config.features is None else find_features(config.features)
        self._facts = {} if features is None else {**features.facts}
        self._added = len(self._facts)
        plain = config.reward == _POINTS
        reward = None if plain else find_reward(config.reward)
        # A run that goes on has weights of its own, whatever has become of its teacher.
        begins = not (config.resume and folder.checkpoint.exists())
        try:
            self.learner = Learner(
                self.config,
                seats=self.rules.seats,
                unit=sigma(self.rules) if plain else 1.0,
                claims=TEACHERS.get(str(teacher), True),
                start=_weights_of(str(teacher), config, self._facts) if is_policy and begins else None,
                features=features,
            )
        except MahjongError:
            raise
        except ValueError as error:
            raise TrainingError(f"--teacher {teacher}: not a policy of --network {config.network} ({error})") from error
        of_network = self.learner.actor.named_modules()
        if other := [name or type(part).__name__ for name, part in of_network if _learns_otherwise(part)]:
            raise TrainingError(
                f"--network {config.network}: {other[0]} (dropout or batch norm) behaves differently in learning "
                "and in play, and PPO compares the two; leave it out, or use a layer norm"
            )
        luck = useful_weights(self.rules) if config.control_variates and plain and config.match_hands == 1 else None
        self.control_variates = luck is not None
        self.updates = self.hands = self.measurements = 0
        self.best = self.learner.weights()
        self.snapshots: list[Weights] = []
        # A network on a GPU plays in this process, which cannot learn at the same time.
        is_batched = config.network is not None and config.ray is None and self.learner.device.type != "cpu"
        ahead = config.ahead and not is_batched
        at_once = 2 if ahead else 1
        processes = config.processes if config.parts is None else min(config.processes, config.parts * at_once)
        self.executor = new_executor(1 if is_batched else processes, config.ray, config.threads)
        # A process plays all of its parts at once, so that fewer and larger parts take less time.
        workers = max(_FEWEST, processes, self.executor.workers)
        self.parts = config.parts or (1 if is_batched else -(-workers // at_once))
        self.config = replace(self.config, parts=self.parts, ahead=ahead)
        asked, busy = max(config.processes, self.executor.workers), self.parts * at_once
        if asked > busy:
            print(
                f"{asked - busy} of {asked} processes have nothing to play: the hands of an update are played in "
                f"{self.parts} parts (--parts, which a run keeps)"
            )
        named = [self.sent(*one) for one in others]
        odds = [(share, one) for share, one in zip(config.opponent_odds, named, strict=False) if share > 0]
        self._references = odds or [(1.0, self.sent(config.gate_against or mark, mark))]
        self._common = Common(
            rules=self.rules,
            weights=self.best,
            named=named,
            snapshots=[],
            tables=config.tables,
            parts=self.parts,
            share=config.opponent_share,
            luck=luck,
            reward=None if plain else self.sent(config.reward, reward),
            gamma=config.gamma,
            features=None if config.features is None else self.sent(config.features, features),
            network=None if config.network is None else self.sent(config.network, self.learner.average),
            device="cpu" if config.ray or self.executor.workers > 1 else str(self.learner.device),
            match_hands=config.match_hands,
            odds=config.opponent_odds or None,
        )
        self._begun: list[list[Any]] = []
        self._hands_begun = 0  # hands of all updates whose playing has begun

    @property
    def total(self) -> int:
        """The number of hands to learn from in all."""
        return self.config.goal

    # --- Learning -----------------------------------------------------------------------------------------------
    def _next_tables(self, hands: int) -> int:
        """Return the number of tables for the update that begins after a number of hands.

        The remaining hands are shared out evenly among the remaining updates. Updates grow in the course of a run, as
        steps of many tables take little longer than steps of few, and a policy that has learned from many hands changes
        little. In a short run they stay small, as it would have too few of them otherwise. While only the critic
        learns, they have their greatest size from the beginning, as the policy that plays does not change.
        """
        config, is_alone = self.config, hands < self.critic_hands
        goal = self.critic_hands if is_alone else config.goal
        left = -(-(min(goal, config.goal) - hands) // config.match_hands)
        most = _GROWTH * config.tables
        grown = min(hands // _UPDATES_TO_DOUBLE, config.goal // _FEWEST_UPDATES)
        most = most if is_alone else min(max(config.tables, grown), most)
        return -(-left // -(-left // max(1, most // config.match_hands)))

    @property
    def _critic_updates(self) -> int:
        """The number of updates, at the beginning, from which only the critic learns."""
        hands = updates = 0
        while hands < min(self.critic_hands, self.config.goal):
            hands += self._next_tables(hands) * self.config.match_hands
            updates += 1
        return updates

    def update(self) -> None:
        """Play the hands of one update, and learn from them."""
        config = self.config
        while len(self._begun) < 1 + config.ahead and self._hands_begun < config.goal:
            snapshots = self.snapshots if SNAPSHOT in config.opponents else []
            self._begin(self._common._replace(weights=self.learner.weights(), snapshots=snapshots))
        hands = Trajectories.joined(self.executor.gather(self._begun.pop(0)))
        metrics = self.learner.update(
            hands,
            number=self.updates,
            progress=float(self.progress(self.hands)),
            critic_updates=self._critic_updates,
        )
        self.updates += 1
        self.hands += len(hands.points)
        self.steps += len(hands)
        metrics["hands/updates behind"] = float(self.config.ahead and self.updates > 1)
        metrics["hands/points in sigma"] = float(hands.points[hands.learner].mean()) / sigma(self.rules)
        for name, number in metrics.items():
            self.log(name, number)

    def _begin(self, common: Common) -> None:
        """Begin to play the hands of the next update."""
        config, tables, update = self.config, self._next_tables(self._hands_begun), self.updates + len(self._begun)
        parts = min(self.parts, tables)
        self._common = common._replace(tables=tables, parts=parts)
        # A process plays all of its parts at once; a cluster gets single parts, one of which is lost with a worker.
        groups = np.array_split(np.arange(parts), parts if config.ray else min(parts, self.executor.workers))
        tasks = [(config.seed, update, *group.tolist()) for group in groups]
        self._begun.append(self.executor.submit(play_part, self._common, tasks))
        self._hands_begun += tables * config.match_hands

    # --- Measuring and saving -----------------------------------------------------------------------------------
    def player(self) -> Agent:
        """Return the agent that plays with the averaged weights."""
        return self._player_of(self.learner.average_weights())

    def _player_of(self, weights: Weights) -> Agent:
        common = self._common
        return LearnerAgent(weights, common.network, common.features, common.device)

    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Let the learner try a gate, except in the first measurement; see `BaseRun.judge`.

        Afterwards the learner as it is now becomes one of the snapshots. If it has passed the gate, it also becomes the
        best policy, and the reference near which it is held.
        """
        config, number = self.config, self.measurements
        self.measurements += 1
        stale = config.ahead and self.updates > 1
        remarks = ["the last hands were played with weights one update old"] if stale else []
        if not number:
            return True, remarks
        gain, deals = gate(
            self.rules,
            learner,
            self._player_of(self.best),
            self._references,
            deals=self.games(config.gate_deals),
            seed=config.seed,
            number=number,
            hands=config.match_hands,
            control_variates=self.control_variates,
            executor=self.executor,
        )
        is_best = gain.low > 0
        kept = "it is best.zip now" if is_best else "best.zip stays, as that is not clearly more"
        unit = "points a hand more" if config.match_hands == 1 else "places nearer to the first"
        remarks.append(f"gate, on {deals} other deals: {gain.text(2, sign='+')} {unit} than best.zip; {kept}")
        measured = self.learner.average_weights()
        self.snapshots = [*self.snapshots, measured][-_MOST_SNAPSHOTS:]
        if is_best:
            self.best = measured
            self.learner.refresh_reference()
        return is_best, remarks

    def policy_file(self) -> PolicyFile:
        """Return a policy file with the averaged weights."""
        config = self.config
        own = None if config.network is None else network_header(config.network)
        return PolicyFile(
            variant=self.rules.name,
            variant_version=self.rules.version,
            network=own
            or {"width": config.width, "added": self._added} | ({"facts": self._facts} if self._added else {}),
            weights=self.learner.average_weights(),
            knobs=self.rules.knobs,
            architecture=ARCHITECTURE if own is None else TORCH,
            training={
                "mahjong_env": __version__,
                "method": "ppo",
                "steps": self.steps,
                "hands": self.hands,
                "seconds": round(self.seconds),
                "teacher": config.teacher,
                "teachers": list(dict.fromkeys([config.teacher, *TEACHERS])) if config.teacher else [],
                "reward": config.reward,
                "features": config.features,
                "seed": config.seed,
                **({} if config.match_hands == 1 else {"match_hands": config.match_hands}),
            },
        )

    def state(self) -> dict[str, Any]:
        """Return the contents of a checkpoint; hands that are being played now will be played again."""
        counts = {"updates": self.updates, "hands": self.hands, "decisions": self.steps, "measured": self.measurements}
        state = self.learner.state() | counts
        state |= {"best": _tensors(self.best), "snapshots": [_tensors(weights) for weights in self.snapshots]}
        if self._begun:
            state["begun with"] = [*map(_tensors, [self._common.weights, *self._common.snapshots])]
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned; see `BaseRun.restore`."""
        self.learner.load(state)
        self.updates, self.hands = int(state["updates"]), int(state["hands"])
        self._hands_begun = self.hands
        self.steps, self.measurements = int(state["decisions"]), int(state["measured"])
        self.best = _arrays(state["best"])
        self.snapshots = [_arrays(weights) for weights in state["snapshots"]]
        begun = [_arrays(weights) for weights in state.get("begun with", ())]
        if begun and self.config.ahead and self.hands < self.total:  # these hands are played again
            self._begin(self._common._replace(weights=begun[0], snapshots=begun[1:]))


def gate(
    rules: Rules,
    candidate: Agent | str,
    best: Agent | str,
    references: Sequence[tuple[float, Agent | str]],
    *,
    deals: int,
    seed: int,
    number: int,
    hands: int = 1,
    control_variates: bool = False,
    executor: Executor | None = None,
) -> tuple[Estimate, int]:
    """Compare a candidate with the best policy so far, on new deals.

    The candidate passes the gate if the interval of the difference is above zero. The difference is also looked at
    after a quarter and after a half of the deals. The gate stops there if the candidate has passed, or if it does not
    win more than the best. The interval is wider to allow for these looks, so that it holds wherever the gate stops.

    Args:
        rules: the rules to play by.
        candidate: the agent that tries the gate.
        best: the best policy so far.
        references: pairs of a share of the deals and the agent that has all other seats there; the shares sum to 1.
        deals: the most deals to play. Both agents play the same deals from every seat; every gate has new ones.
        seed: the seed of the run.
        number: the number of the gate in the run, which determines its deals.
        hands: hands in a match; 1 if single hands are played.
        control_variates: whether to subtract luck from the points; see `mahjong_training.evaluation.matches.measure`.
        executor: where the deals are played; None for this process.

    Returns:
        How many points a hand the candidate wins more than the best (in matches, by how much its mean place is nearer
        to the first), and the number of deals played.
    """
    where, lineup = executor or LocalExecutor(), one_against_copies(0, 1, rules.people)
    settings: dict[str, Any] = {"control_variates": control_variates, "hands": hands}
    planned = tuple(reversed(looks(deals)[::-2][:_LOOKS]))
    gains: list[list[NDArray[Any]]] = [[] for _ in references]
    before = [0] * len(references)
    for look in planned:
        until = [max(FEWEST, round(share * look)) if len(references) > 1 else look for share, _ in references]
        # An opponent with a small share may have had all of its deals by an earlier look.
        due = [place for place in range(len(references)) if before[place] < until[place]]
        begun = [
            begin_to_measure(
                where,
                rules,
                [agent, references[place][1]],
                lineup,
                deals=range(before[place], until[place]),
                seed=gate_seed(seed, number + _MOST_GATES * place),
                **settings,
            )
            for place in due
            for agent in (candidate, best)
        ]
        results = [wait() for wait in begun]
        for place, one, other in zip(due, results[::2], results[1::2], strict=True):
            gains[place].append(
                other.places_by_deal(0) - one.places_by_deal(0)
                if hands > 1
                else one.points_per_hand(0) - other.points_per_hand(0)
            )
        joined = [np.concatenate(of_reference) for of_reference in gains]
        of_each = [mean(gain, confidence(planned)) for gain in joined]
        found = weighted([(share, one) for (share, _), one in zip(references, of_each, strict=True)])
        if found.mean <= 0 or found.low > 0:
            break
        before = until
    return found, sum(map(len, joined))


def _tensors(weights: Weights) -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in weights.items()}


def _arrays(weights: dict[str, Any]) -> Weights:
    return {name: array.numpy() for name, array in weights.items()}


def _learns_otherwise(part: torch.nn.Module) -> bool:
    """Return whether a part of a network behaves differently in torch's training mode."""
    drops = getattr(part, "dropout", 0.0)  # a number in recurrent and attention layers
    return (
        isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
        or (isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.p > 0)
        or (isinstance(drops, float) and drops > 0)
    )


def _weights_of(spec: str, config: TrainConfig, facts: Mapping[str, float]) -> Weights:
    """Return the weights of a policy to begin with.

    If the learner's small network has added inputs and the policy has none, their weights are zero.

    Raises:
        MahjongError: there is no such policy, or it is of another kind or size.
    """
    if config.network is not None:
        own = getattr(make_agent(spec), "network", None)
        return {} if not isinstance(own, TorchNetwork) else arrays_of(own.module)
    network = small_network(spec)
    if network is None or len(network.weights["bias"]) != config.width:
        raise TrainingError(f"--teacher {spec}: not a policy of `mahjong-env train` with --width {config.width}")
    its = {} if network.features is None else {**network.features.facts}
    if its and its != {**facts}:
        raise TrainingError(
            f"--teacher {spec}: its added inputs are {its}, those of the learner would be {dict(facts)}"
        )
    return widened(network.weights, len(facts))


def small_network(spec: str) -> ActionNetwork | None:
    """Return the small network of an agent given by its text; None if the agent is not such a policy."""
    network = getattr(make_agent(spec), "network", None)
    return network if isinstance(network, ActionNetwork) else None


def best_start(rules: Rules, spec: str, candidates: Collection[str], seed: int) -> str:
    """Choose the agent that a learner begins as: the candidate that wins most from a given agent on training hands.

    If no candidate wins from that agent, and it is a candidate itself, it is chosen. The choice is printed.

    Args:
        rules: the rules to play by.
        spec: the agent to win from, which may be one of the candidates.
        candidates: the agents to choose from.
        seed: the seed of the run.

    Returns:
        The text of the agent chosen.
    """
    lineup, dealt = one_against_copies(0, 1, rules.people), training_seed(seed, _NO_UPDATE)
    won = {
        one: measure(rules, [make_agent(one), make_agent(spec)], lineup, deals=_TRIAL_DEALS, seed=dealt).of(0).points
        for one in candidates
        if one != spec
    }
    best = max(won, key=lambda one: won[one].mean)
    start = spec if spec in candidates and won[best].mean <= 0 else best
    print(f"{best} wins {won[best].text(2, sign='+')} points a hand from {spec}: the learner begins as {start}")
    return start
