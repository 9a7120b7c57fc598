"""A warm start: imitate a teacher, and learn to foresee what its hands bring, before PPO begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from mahjong_agents import Agent
from mahjong_agents.policy.plane_network import PolicyNetwork
from mahjong_env import Rules, make_engine
from mahjong_training.datasets import Decisions
from mahjong_training.datasets.reading import Inputs
from mahjong_training.errors import DatasetError
from mahjong_training.evaluation.matches import play_out
from mahjong_training.sb3.shards import ShardedVecEnv
from mahjong_training.sb3.vec_env import TableVecEnv
from mahjong_training.seeds import training_seed

_MOST_DECISIONS: Final = 200_000
"""Decisions that are kept at once, so that memory stays small."""
_MASKED: Final = -1e8

Progress = Callable[[int], object]
"""Told how many more decisions were watched, or gone over."""
Stage = Callable[[str, int], AbstractContextManager[Progress]]
"""Begins something that takes a while: its name, and how many decisions it will be in all."""


@contextmanager
def untold(title: str, total: int) -> Iterator[Progress]:
    """Tell nobody; see `Stage`."""
    yield lambda decisions: None


@dataclass(frozen=True)
class Lessons:
    """m decisions of a teacher.

    Attributes:
        inputs: [m, F] int8 what it saw.
        masks: [m, 109] bool what was legal.
        actions: [m] what it did.
        returns: [m] float32 the sum of the rewards from there to the end of the hand.
    """

    inputs: NDArray[np.int8]
    masks: NDArray[np.bool_]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.actions)

    def first(self, number: int) -> Lessons:
        """Return the first of them."""
        return Lessons(self.inputs[:number], self.masks[:number], self.actions[:number], self.returns[:number])

    def num_in_batches(self, size: int) -> int:
        """Return how many decisions are in the batches of `batches`."""
        size = min(size, len(self))
        return len(self) // size * size

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Lessons]:
        """Return all decisions in random order, in batches; a last one that is not full is left out."""
        order = rng.permutation(len(self))
        size = min(size, len(self))
        for start in range(0, len(self) - size + 1, size):
            chosen = order[start : start + size]
            yield Lessons(self.inputs[chosen], self.masks[chosen], self.actions[chosen], self.returns[chosen])


@dataclass(frozen=True)
class Fit:
    """How well a network agrees with the teacher after a pass: means over the batches of the pass."""

    cross_entropy: float
    value_loss: float


def num_watched(env: TableVecEnv | ShardedVecEnv, decisions: int) -> int:
    """Return how many decisions `watch` will watch: whole rows of tables, in every process as many."""
    processes = 1 if isinstance(env, TableVecEnv) else env.processes
    tables, share = env.num_envs // processes, -(-decisions // processes)
    return -(-share // tables) * tables * processes


def watch(
    env: TableVecEnv | ShardedVecEnv, teacher: Agent, decisions: int, rng: np.random.Generator, progress: Progress
) -> Lessons:
    """Collect lessons wherever the tables are played; the arguments are those of `collect`."""
    if isinstance(env, TableVecEnv):
        return collect(env, teacher, decisions, rng, progress)
    share = -(-decisions // env.processes)
    shares = env.apply(_collect_share, teacher, share, int(rng.integers(2**63)))
    progress(num_watched(env, decisions))
    return Lessons(*(np.concatenate(arrays) for arrays in zip(*shares, strict=True)))


def _collect_share(
    tables: TableVecEnv, number: int, teacher: Agent, decisions: int, seed: int
) -> tuple[NDArray[Any], ...]:
    """Collect one worker's part of the lessons."""
    lessons = collect(tables, teacher, decisions, np.random.default_rng([seed, number]), lambda _: None)
    return lessons.inputs, lessons.masks, lessons.actions, lessons.returns


def collect(env: TableVecEnv, teacher: Agent, decisions: int, rng: np.random.Generator, progress: Progress) -> Lessons:
    """Let a teacher play the learners' seats.

    Args:
        env: the tables; dealt anew.
        teacher: who plays.
        decisions: how many decisions to watch, rounded up to whole rows of tables.
        rng: where the teacher's chance comes from.
        progress: told how many decisions were made.

    Returns:
        The decisions of hands that came to their end.
    """
    inputs: Any = env.reset()
    steps = -(-decisions // env.num_envs)
    seen = np.zeros((steps, *inputs.shape), np.int8)
    masks = np.zeros((steps, *env.action_masks().shape), np.bool_)
    actions = np.zeros((steps, env.num_envs), np.int64)
    rewards = np.zeros((steps, env.num_envs), np.float32)
    dones = np.zeros((steps, env.num_envs), np.bool_)
    for step in range(steps):
        seen[step], masks[step] = inputs, env.action_masks()
        actions[step] = teacher.act(env.engine.view(), rng)
        inputs, rewards[step], dones[step], _ = env.step(actions[step])
        progress(env.num_envs)
    returns, complete = returns_to_go(rewards, dones, env.reward.discount)
    return Lessons(seen[complete], masks[complete], actions[complete], returns[complete])


def returns_to_go(
    rewards: NDArray[np.float32], dones: NDArray[np.bool_], discount: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return [steps, B] the rewards from each step to the end of its episode, and whether that end was seen."""
    returns = np.zeros_like(rewards)
    complete = np.zeros_like(dones)
    later, ends = np.zeros(rewards.shape[1], np.float32), np.zeros(rewards.shape[1], np.bool_)
    for step in range(len(rewards))[::-1]:
        later = rewards[step] + discount * np.where(dones[step], np.float32(0), later)
        ends = ends | dones[step]
        returns[step], complete[step] = later, ends
    return returns, complete


def read_lessons(decisions: Decisions, inputs: Inputs, scale: float, *, size: int, seed: int) -> Iterator[Lessons]:
    """Return lessons from recorded games, again and again, in another order each time.

    Args:
        decisions: the recorded decisions.
        inputs: what the network is shown of a view.
        scale: what a point is worth to the learner; returns are undiscounted.
        size: how many lessons at once; the last ones of a pass may be fewer.
        seed: of the order.

    Raises:
        DatasetError: there are none, or they cannot be played here.
    """
    if not len(decisions):
        raise DatasetError("the dataset has no decisions of this teacher")
    while True:
        for batch in decisions.batches(size, inputs=inputs, seed=seed):
            returns = batch["return"] * np.float32(scale)
            yield Lessons(batch["inputs"], batch["mask"], batch["action"], returns)
        seed += 1


@dataclass(frozen=True)
class Trial:
    """How a player does at the learner's tables: mean and standard deviation of its points in a hand."""

    player: Agent
    points: float
    spread: float


def try_out(rules: Rules, player: Agent, others: Sequence[Agent], *, seed: int, hands: int = 1200) -> Trial:
    """Let a player play some hands against opponents drawn from ``others``, its seat moving on from hand to hand."""
    rng = np.random.default_rng(seed)
    engine = make_engine(rules, hands, seed=training_seed(seed))
    seat = np.arange(hands) % engine.num_people
    who = rng.integers(1, len(others) + 1, size=(hands, engine.num_people))
    who[np.arange(hands), seat] = 0
    points = play_out(engine, [player, *others], who, rng).points[np.arange(hands), seat]
    return Trial(player, float(points.mean()), float(points.std()))


class WarmStart:
    """Fits a network to a teacher's decisions and to the returns of its hands."""

    def __init__(
        self, network: PolicyNetwork, *, learning_rate: float, value_weight: float, batch_size: int, seed: int
    ) -> None:
        """Prepare an optimiser of its own; PPO begins with a fresh one."""
        self._network = network
        self._optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
        self._value_weight = value_weight
        self._batch_size = batch_size
        self._rng = np.random.default_rng(seed)

    def run(
        self,
        env: TableVecEnv | ShardedVecEnv,
        teacher: Agent,
        *,
        decisions: int,
        epochs: int,
        recorded: Decisions | None = None,
        stage: Stage = untold,
    ) -> list[Fit]:
        """Watch the teacher, then go over its decisions; in several rounds if they are very many.

        Args:
            env: the tables.
            teacher: who is imitated.
            decisions: how many decisions to learn from.
            epochs: passes over them.
            recorded: decisions that the teacher has made already, which are read instead of watching it.
            stage: told what is being done, and how far it is.

        Returns:
            One fit for each pass.
        """
        fits = []
        most = min(decisions, _MOST_DECISIONS)
        scale, seed = env.reward.scale, int(self._rng.integers(2**31)) if recorded is not None else 0
        kept = None if recorded is None else read_lessons(recorded, self._network.inputs, scale, size=most, seed=seed)
        for start in range(0, decisions, _MOST_DECISIONS):
            size = min(_MOST_DECISIONS, decisions - start)
            if kept is not None:
                with stage(f"reading {teacher.name}'s games", size) as progress:
                    lessons = next(kept).first(size)
                    progress(len(lessons))
            else:
                with stage(f"watching {teacher.name}", num_watched(env, size)) as progress:
                    lessons = watch(env, teacher, size, self._rng, progress)
            if not len(lessons):
                continue
            for number in range(1, epochs + 1):
                total = lessons.num_in_batches(self._batch_size)
                with stage(f"imitating it, pass {number} of {epochs}", total) as progress:
                    fits.append(self._pass_over(lessons, progress))
        return fits

    def _pass_over(self, lessons: Lessons, progress: Progress) -> Fit:
        losses, device = [], self._network.scale.device
        for batch in lessons.batches(self._batch_size, self._rng):
            arrays = (batch.inputs, batch.masks, batch.actions, batch.returns)
            inputs, masks, actions, returns = (torch.from_numpy(array).to(device) for array in arrays)
            logits, values = self._network(inputs.float())
            logits = logits.masked_fill(~masks, _MASKED)
            imitation = functional.cross_entropy(logits, actions)
            value = functional.mse_loss(values[:, 0], returns)
            self._optimiser.zero_grad()
            (imitation + self._value_weight * value).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self._network.parameters(), 0.5)
            self._optimiser.step()
            losses.append((imitation.item(), value.item()))
            progress(len(batch))
        return Fit(*np.mean(losses, axis=0).tolist())
