"""A warm start: the network imitates a teacher, and learns to predict the returns of its hands, before PPO begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from tqdm import tqdm

from mahjong_agents import Agent
from mahjong_agents.policy.plane_network import PolicyNetwork
from mahjong_env import Rules, make_engine
from mahjong_training.config import TrainSb3Config
from mahjong_training.datasets.reading import Decisions, Inputs, open_dataset
from mahjong_training.errors import DatasetError
from mahjong_training.evaluation.matches import play_out
from mahjong_training.sb3.shards import ShardedVecEnv
from mahjong_training.sb3.vec_env import TableVecEnv
from mahjong_training.seeds import training_seed

_MOST_DECISIONS: Final = 200_000
"""Decisions that are kept at once, so that memory stays small."""
_MASKED: Final = -1e8

Progress = Callable[[int], object]
"""Is given the number of decisions that were made since its last call."""


def no_progress(decisions: int) -> None:
    """Show nothing; a `Progress`."""


def progress_bar(title: str, total: int, done: int = 0) -> tqdm[Any]:
    """Return a bar that counts decisions, with the time that is left; nothing is drawn where there is no terminal."""
    return tqdm(total=total, initial=done, desc=title, unit=" decisions", disable=None, smoothing=0.1, leave=False)


# --- Choosing a teacher ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Trial:
    """The mean and the standard deviation of a player's points in a hand, at the learner's tables."""

    player: Agent
    points: float
    spread: float


def try_out(rules: Rules, player: Agent, others: Sequence[Agent], *, seed: int, hands: int = 1200) -> Trial:
    """Let a player play hands against opponents drawn from others, its seat moving on from hand to hand.

    Args:
        rules: what is played.
        player: whose points are counted.
        others: the opponents, all equally likely at every other seat.
        seed: of the deals and all choices.
        hands: how many.
    """
    rng = np.random.default_rng(seed)
    engine = make_engine(rules, hands, seed=training_seed(seed))
    seat = np.arange(hands) % engine.num_people
    who = rng.integers(1, len(others) + 1, size=(hands, engine.num_people))
    who[np.arange(hands), seat] = 0
    points = play_out(engine, [player, *others], who, rng).points[np.arange(hands), seat]
    return Trial(player, float(points.mean()), float(points.std()))


def recorded_games(config: TrainSb3Config, rules: Rules) -> Decisions | None:
    """Return the recorded games that a run imitates; None if its teacher plays at the tables.

    Raises:
        DatasetError: they are of other rules, or do not fit the other settings.
    """
    if not config.dataset:
        return None
    found = open_dataset(*config.dataset)
    for part in found.parts:
        if part.settings.rules != rules:
            played = part.settings.rules
            raise DatasetError(
                f"{part.folder}: games of {played.name} with the house rules {dict(played.knobs)}; "
                f"the run plays {rules.name} with {dict(rules.knobs)}"
            )
    if config.shaping or config.gamma != 1 or config.reward != "points":
        raise DatasetError(
            "--dataset has undiscounted returns of points: it goes without --shaping and --reward, and with --gamma 1"
        )
    if config.teacher is not None and config.teacher not in found.agents:
        raise DatasetError(f"--teacher {config.teacher} is not in the dataset; there are {', '.join(found.agents)}")
    return found


def teachers_in(recorded: Decisions, teachers: Sequence[str]) -> tuple[str, ...]:
    """Return those teachers whose games are recorded; all agents that were recorded, if none of them is."""
    return tuple(spec for spec in teachers if spec in recorded.agents) or recorded.agents


# --- Its demonstrations ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Demonstrations:
    """m decisions of a teacher.

    Attributes:
        inputs: [m, F] int8 what it saw.
        masks: [m, 109] bool legal actions.
        actions: [m] int64 what it did.
        returns: [m] float32 the sum of the rewards from there to the end of the hand.
    """

    inputs: NDArray[np.int8]
    masks: NDArray[np.bool_]
    actions: NDArray[np.int64]
    returns: NDArray[np.float32]

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.actions)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Demonstrations:
        """Some of the decisions."""
        return Demonstrations(self.inputs[rows], self.masks[rows], self.actions[rows], self.returns[rows])


def collect(
    env: TableVecEnv | ShardedVecEnv,
    teacher: Agent,
    decisions: int,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Demonstrations:
    """Let a teacher play the learners' seats.

    Args:
        env: the tables; dealt anew.
        teacher: who plays.
        decisions: how many, rounded up as `num_collected` says.
        rng: where the teacher's chance comes from.
        progress: told of every decision.

    Returns:
        The decisions of hands that came to their end.
    """
    if isinstance(env, ShardedVecEnv):
        share = -(-decisions // env.processes)
        parts = env.apply(_collect_share, teacher, share, int(rng.integers(2**63)))
        progress(num_collected(env, decisions))
        return Demonstrations(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
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
    return Demonstrations(seen[complete], masks[complete], actions[complete], returns[complete])


def num_collected(env: TableVecEnv | ShardedVecEnv, decisions: int) -> int:
    """Return how many decisions `collect` lets a teacher make: whole rows of tables, in every process as many."""
    processes = 1 if isinstance(env, TableVecEnv) else env.processes
    tables, share = env.num_envs // processes, -(-decisions // processes)
    return -(-share // tables) * tables * processes


def _collect_share(
    tables: TableVecEnv, number: int, teacher: Agent, decisions: int, seed: int
) -> tuple[NDArray[Any], ...]:
    """Collect one worker's part, which travels as plain arrays."""
    found = collect(tables, teacher, decisions, np.random.default_rng([seed, number]))
    return found.inputs, found.masks, found.actions, found.returns


def returns_to_go(
    rewards: NDArray[np.float32], dones: NDArray[np.bool_], discount: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Add up the rewards from each step to the end of its episode.

    Args:
        rewards: [steps, B] of each step.
        dones: [steps, B] whether an episode ended with the step.
        discount: of a reward, for each further step.

    Returns:
        [steps, B] float32 the returns, and [steps, B] bool whether the end of the episode was seen.
    """
    returns = np.zeros_like(rewards)
    complete = np.zeros_like(dones)
    later, ends = np.zeros(rewards.shape[1], np.float32), np.zeros(rewards.shape[1], np.bool_)
    for step in range(len(rewards))[::-1]:
        later = rewards[step] + discount * np.where(dones[step], np.float32(0), later)
        ends = ends | dones[step]
        returns[step], complete[step] = later, ends
    return returns, complete


def read_demonstrations(
    decisions: Decisions, inputs: Inputs, scale: float, *, size: int, seed: int
) -> Iterator[Demonstrations]:
    """Return recorded decisions, again and again, in another order each time.

    Args:
        decisions: what was recorded.
        inputs: what the network is shown of a view.
        scale: what a point is worth to the learner; returns are undiscounted.
        size: decisions at once; the last ones of a pass may be fewer.
        seed: of the order.

    Raises:
        DatasetError: there are none, or they cannot be played here.
    """
    if not len(decisions):
        raise DatasetError("the dataset has no decisions of this teacher")
    while True:
        for batch in decisions.batches(size, inputs=inputs, seed=seed):
            returns = batch["return"] * np.float32(scale)
            yield Demonstrations(batch["inputs"], batch["mask"], batch["action"], returns)
        seed += 1


# --- Imitation ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Fit:
    """How well a network agrees with the teacher after a pass: means over the batches of the pass."""

    cross_entropy: float
    value_loss: float


def warm_start(
    network: PolicyNetwork,
    env: TableVecEnv | ShardedVecEnv,
    teacher: Agent,
    *,
    decisions: int,
    epochs: int,
    learning_rate: float,
    value_weight: float,
    batch_size: int,
    seed: int,
    recorded: Decisions | None = None,
) -> list[Fit]:
    """Fit a network to a teacher's decisions and to the returns of its hands; in several rounds if they are many.

    Args:
        network: what learns, with an optimiser of its own: PPO begins with a fresh one.
        env: the tables.
        teacher: who is imitated.
        decisions: how many are learned from.
        epochs: passes over them.
        learning_rate: of Adam.
        value_weight: of the value loss beside that of imitation.
        batch_size: decisions in a minibatch.
        seed: of all choices.
        recorded: decisions that the teacher has made already, which are read instead of letting it play.

    Returns:
        One fit for each pass.
    """
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    read: Iterator[Demonstrations] | None = None
    if recorded is not None:
        order, most = int(rng.integers(2**31)), min(decisions, _MOST_DECISIONS)
        read = read_demonstrations(recorded, network.inputs, env.reward.scale, size=most, seed=order)
    fits = []
    for start in range(0, decisions, _MOST_DECISIONS):
        size = min(_MOST_DECISIONS, decisions - start)
        if read is not None:
            with progress_bar(f"reading {teacher.name}'s games", size) as bar:
                shown = next(read)[:size]
                bar.update(len(shown))
        else:
            with progress_bar(f"collecting games of {teacher.name}", num_collected(env, size)) as bar:
                shown = collect(env, teacher, size, rng, bar.update)
        if not len(shown):
            continue
        for epoch in range(1, epochs + 1):
            batch = min(batch_size, len(shown))
            with progress_bar(f"imitating it, pass {epoch} of {epochs}", len(shown) // batch * batch) as bar:
                fits.append(_one_pass(network, optimiser, shown, batch, value_weight, rng, bar.update))
    return fits


def _one_pass(
    network: PolicyNetwork,
    optimiser: torch.optim.Optimizer,
    shown: Demonstrations,
    batch_size: int,
    value_weight: float,
    rng: np.random.Generator,
    progress: Progress,
) -> Fit:
    """Go over all decisions once, in random order; a last batch that is not full is left out."""
    losses, device = [], network.scale.device
    order = rng.permutation(len(shown))
    for start in range(0, len(shown) - batch_size + 1, batch_size):
        batch = shown[order[start : start + batch_size]]
        arrays = (batch.inputs, batch.masks, batch.actions, batch.returns)
        inputs, masks, actions, returns = (torch.from_numpy(array).to(device) for array in arrays)
        logits, values = network(inputs.float())
        logits = logits.masked_fill(~masks, _MASKED)
        imitation = functional.cross_entropy(logits, actions)
        value = functional.mse_loss(values[:, 0], returns)
        optimiser.zero_grad()
        (imitation + value_weight * value).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
        optimiser.step()
        losses.append((imitation.item(), value.item()))
        progress(batch_size)
    return Fit(*np.mean(losses, axis=0).tolist())
