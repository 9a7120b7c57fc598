"""``mahjong-env train``: PPO by self-play in a run folder, with opponents, measurements, a gate, and resumption."""

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
from mahjong_training.config import TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import FEWEST, Estimate, confidence, looks, ratio, weighted
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import begin_to_measure, measure, sigma
from mahjong_training.evaluation.results import LineupResult
from mahjong_training.learning.base_run import BaseRun, run_or_resume
from mahjong_training.learning.rewards import find_reward
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
"""As whom a learner may begin, and whether that one claims."""
_POLICY: Final = "policy:"
_POINTS: Final = "points"
_PLACE: Final = "place"
_STANDING: Final = "mahjong_agents.policy.standing_inputs:Standing"
_MOST_SNAPSHOTS: Final = 4
_TRIAL_DEALS: Final = 1000
_FEWEST: Final = 2  # parts that are played at the same time
_MOST_CRITIC_HANDS: Final = 12_288
_ROUNDING: Final = 1e-6
_UPDATES_TO_DOUBLE: Final = 8  # an update is no more than this part of what has been learned from before it ...
_GROWTH: Final = 2  # ... and this many times --tables at most; with 4, one long run ended weaker
_FEWEST_UPDATES: Final = 32  # of a run with updates that have grown: a short one needs all that it has
_LOOKS: Final = 3  # of a gate, each after twice as many deals
_MOST_GATES: Final = 1024  # of a run; those against several agents have other numbers beyond


def run(config: TrainConfig) -> RunFolder:
    """Learn, and leave everything in the run folder.

    Raises:
        MahjongError: settings, agents or folders that cannot be used; nothing has been learned then.
    """
    return run_or_resume(PpoRun, config)


class PpoRun(BaseRun[TrainConfig]):
    """A run of self-play: the learner, the agents that it plays against, and the measurements."""

    unit = "hands"

    @staticmethod
    def check(config: TrainConfig) -> None:
        """Check settings; see `BaseRun.check`."""
        check_settings(config, zero=("critic_hands",))
        find_device(config.device)
        if max(config.opponent_share, config.gae_lambda, config.gamma, config.ema_decay) > 1:
            raise TrainingError("--opponent-share, --gamma, --gae-lambda and --ema-decay are at most 1")
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
            raise TrainingError("--features adds inputs to the small network; one of your own reads what it likes")
        if config.reward == _PLACE and config.match_hands == 1:
            raise TrainingError("--reward place is of matches; --match-hands says of how many hands, such as 16")
        odds = config.opponent_odds
        if odds and (SNAPSHOT in config.opponents or len(odds) != len(config.opponents)):
            raise TrainingError(f"--opponent-odds are one number for each of --opponents, none of them {SNAPSHOT!r}")
        if odds and not (min(odds) >= 0 and abs(sum(odds) - 1) < _ROUNDING):
            raise TrainingError(f"--opponent-odds are from 0 on and sum to 1, not {odds}")
        if odds and config.gate_against is not None:
            raise TrainingError("--opponent-odds says whom gates are played against; leave --gate-against away")
        if not config.evaluation_agents:
            raise TrainingError("--evaluation-agents must name at least one agent")

    def __init__(self, config: TrainConfig, folder: RunFolder) -> None:
        """Choose the teacher and build the networks; nothing is written.

        Raises:
            MahjongError: unknown variant, knob or agent, or a policy file that cannot be used.
        """
        super().__init__(config, folder)
        others = [(spec, make_agent(spec)) for spec in config.opponents if spec != SNAPSHOT]
        mark = reference_agent(self.rules) if config.gate_against is None else make_agent(config.gate_against)
        self.met |= dict(others) | ({} if config.gate_against is None else {config.gate_against: mark})
        teacher = config.teacher
        if teacher is None and config.network is None:
            teacher = best_start(self.rules, "closed-greedy", TEACHERS, config.seed)
        if config.reward == _PLACE and config.features is None and config.network is None:
            # The text stands in policy files: who plays with one names it again.
            config = replace(config, features=f"{_STANDING}?unit={sigma(self.rules):.4g}")
        critic_hands = config.critic_hands
        if critic_hands is None:
            critic_hands = min(_MOST_CRITIC_HANDS, config.goal // 4)
        begun = small_network(str(teacher)) if str(teacher).startswith(_POLICY) and config.network is None else None
        width = config.width or (WIDTH if begun is None else len(begun.weights["bias"]))
        # Written down: a run that goes on elsewhere, or further, is the same run.
        config = self.config = replace(config, teacher=teacher, critic_hands=critic_hands, width=width)
        self.critic_hands, self.match_hands = critic_hands, config.match_hands
        features = None if config.features is None else find_features(config.features)
        self._facts = {} if features is None else {**features.facts}
        self._added = len(self._facts)
        plain = config.reward == _POINTS
        reward = None if plain else find_reward(config.reward)
        try:
            self.learner = Learner(
                self.config,
                people=self.rules.people,
                unit=sigma(self.rules) if plain else 1.0,
                claims=TEACHERS.get(str(teacher), True),
                start=_weights_of(teacher, config, self._facts) if teacher and teacher.startswith(_POLICY) else None,
                features=features,
            )
        except MahjongError:
            raise
        except ValueError as error:
            raise TrainingError(f"--teacher {teacher}: not a policy of --network {config.network} ({error})") from error
        of_network = self.learner.actor.named_modules()
        if other := [name or type(part).__name__ for name, part in of_network if _learns_otherwise(part)]:
            raise TrainingError(
                f"--network {config.network}: {other[0]} (dropout or batch norm) does something else while it learns "
                "than while it plays, and PPO compares the two; leave it out, or take a layer norm"
            )
        luck = useful_weights(self.rules) if config.control_variates and plain and config.match_hands == 1 else None
        self.control_variates = luck is not None
        self.updates = self.hands = self.measurements = 0
        self.best = self.learner.weights()
        self.snapshots: list[Weights] = []
        # A network on a GPU plays in this process, which then does not learn meanwhile.
        is_batched = config.network is not None and config.ray is None and self.learner.device.type != "cpu"
        ahead = config.ahead and not is_batched
        at_once = 2 if ahead else 1
        processes = config.processes if config.parts is None else min(config.processes, config.parts * at_once)
        self.executor = new_executor(1 if is_batched else processes, config.ray, config.threads)
        # What one process plays it plays at once: the fewer and larger the parts, the less time they take.
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
        self._hands_begun = 0  # of all updates that have been begun

    @property
    def total(self) -> int:
        """Hands that are to be learned from."""
        return self.config.goal

    # --- Learning -----------------------------------------------------------------------------------------------
    def _next_tables(self, hands: int) -> int:
        """Return at how many tables the update after a number of hands plays: what is left, shared out evenly.

        Updates grow: the steps of many tables take little longer than those of few, and a policy that has learned
        from many hands changes little. A short run would have too few of them, and has them small. While the critic
        learns alone, nothing changes that would play.
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
        """The number of first updates that only the critic learns from."""
        hands = updates = 0
        while hands < min(self.critic_hands, self.config.goal):
            hands += self._next_tables(hands) * self.config.match_hands
            updates += 1
        return updates

    def update(self) -> None:
        """Play hands, and learn from them once."""
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
        """Let the hands of the next update that has not been begun be played."""
        config, tables, update = self.config, self._next_tables(self._hands_begun), self.updates + len(self._begun)
        parts = min(self.parts, tables)
        self._common = common._replace(tables=tables, parts=parts)
        # What one process plays it plays at once; a cluster loses and hands out single parts.
        groups = np.array_split(np.arange(parts), parts if config.ray else min(parts, self.executor.workers))
        tasks = [(config.seed, update, *group.tolist()) for group in groups]
        self._begun.append(self.executor.submit(play_part, self._common, tasks))
        self._hands_begun += tables * config.match_hands

    # --- Measuring and saving -----------------------------------------------------------------------------------
    def player(self) -> Agent:
        """Return the agent that plays by the averaged weights."""
        return self._player_of(self.learner.average_weights())

    def _player_of(self, weights: Weights) -> Agent:
        common = self._common
        return LearnerAgent(weights, common.network, common.features, common.device)

    def judge(self, learner: Agent, results: Sequence[LineupResult]) -> tuple[bool, list[str]]:
        """Let the learner try to pass the gate, which the first policy need not; see `BaseRun.judge`.

        Behind the gate it is an opponent as it is now; if it has passed, the reference that it is held near as well.
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
        """Return the policy of the averaged weights."""
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
        """Return what a checkpoint holds; the hands that are being played are played again."""
        counts = {"updates": self.updates, "hands": self.hands, "decisions": self.steps, "measured": self.measurements}
        state = self.learner.state() | counts
        state |= {"best": _tensors(self.best), "snapshots": [_tensors(weights) for weights in self.snapshots]}
        if self._begun:
            state["begun with"] = [*map(_tensors, [self._common.weights, *self._common.snapshots])]
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what `state` returned."""
        self.learner.load(state)
        self.updates, self.hands = int(state["updates"]), int(state["hands"])
        self._hands_begun = self.hands
        self.steps, self.measurements = int(state["decisions"]), int(state["measured"])
        self.best = _arrays(state["best"])
        self.snapshots = [_arrays(weights) for weights in state["snapshots"]]
        begun = [_arrays(weights) for weights in state.get("begun with", ())]
        if begun and self.config.ahead and self.hands < self.total:  # they are played again
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
    """Return how many points a hand a candidate wins more than the best so far, and the deals that this took.

    Of matches it is how much nearer to the first its mean place is. The candidate passes the gate if the interval is
    above zero, which is looked at after a quarter and a half of the deals, too: the interval is so much wider that it
    holds wherever one stops. A candidate that does not win more by then has not passed.

    Args:
        rules: what is played.
        candidate: who wants to be best.
        best: who is.
        references: shares of the deals, which sum to 1, and who has all other seats there.
        deals: how many deals both play at most, the same ones, from every seat: new ones for every gate.
        seed: of the run.
        number: of the gate in the run; another number is other deals.
        hands: of a match; 1: single hands are played.
        control_variates: take luck off the points, see `mahjong_training.evaluation.matches.measure`.
        executor: where both are played; None: here.
    """
    where, lineup = executor or LocalExecutor(), one_against_copies(0, 1, rules.people)
    settings: dict[str, Any] = {"control_variates": control_variates, "hands": hands}
    planned = tuple(reversed(looks(deals)[::-2][:_LOOKS]))
    gains: list[list[NDArray[Any]]] = [[] for _ in references]
    before = [0] * len(references)
    for look in planned:
        until = [max(FEWEST, round(share * look)) if len(references) > 1 else look for share, _ in references]
        # An opponent with a small share may have had all of its deals at an earlier look.
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
        of_each = [ratio(gain, np.ones(len(gain)), confidence(planned)) for gain in joined]
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
    """Return whether a part of a network does something else in torch's mode of training."""
    drops = getattr(part, "dropout", 0.0)  # of recurrent and attention layers a number
    return (
        isinstance(part, torch.nn.modules.batchnorm._BatchNorm)
        or (isinstance(part, torch.nn.modules.dropout._DropoutNd) and part.p > 0)
        or (isinstance(drops, float) and drops > 0)
    )


def _weights_of(spec: str, config: TrainConfig, facts: Mapping[str, float]) -> Weights:
    """Return the weights of a policy; of the small network with none on added inputs if it has no such inputs itself.

    Raises:
        MahjongError: there is none, or it is of another kind or size.
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
    """Return the network of a policy of `mahjong-env train` by its text; None: the agent has none of that kind."""
    network = getattr(make_agent(spec), "network", None)
    return network if isinstance(network, ActionNetwork) else None


def best_start(rules: Rules, spec: str, candidates: Collection[str], seed: int) -> str:
    """Return and print who of some agents wins most from another, on hands of training; itself if nobody wins.

    Args:
        rules: what is played.
        spec: the other one, who may be one of them.
        candidates: who may be chosen.
        seed: of the run.
    """
    lineup, dealt = one_against_copies(0, 1, rules.people), training_seed(seed)
    won = {
        one: measure(rules, [make_agent(one), make_agent(spec)], lineup, deals=_TRIAL_DEALS, seed=dealt).of(0).points
        for one in candidates
        if one != spec
    }
    best = max(won, key=lambda one: won[one].mean)
    start = spec if spec in candidates and won[best].mean <= 0 else best
    print(f"{best} wins {won[best].text(2, sign='+')} points a hand from {spec}: the learner begins as {start}")
    return start
