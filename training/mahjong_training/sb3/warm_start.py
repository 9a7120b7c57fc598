"""A warm start: the network imitates a teacher, and learns to predict the returns of its hands, before PPO begins.

Decisions are arrays by name, as data sets have them: ``inputs`` [m, F] int8, ``mask`` [m, 109] bool, ``action`` [m],
and ``return`` [m] float32, the rewards from there to the end of the hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from tqdm import tqdm

from mahjong_agents import Agent
from mahjong_agents.policy.plane_network import PolicyNetwork
from mahjong_env import Rules
from mahjong_training.config import TrainSb3Config
from mahjong_training.datasets.reading import Decisions, open_dataset
from mahjong_training.errors import DatasetError
from mahjong_training.sb3.vec_env import TableVecEnv

_MASKED: Final = -1e8


def recorded_games(config: TrainSb3Config, rules: Rules) -> tuple[str, Decisions]:
    """Return the teacher of a run that imitates recorded games, and its decisions there.

    Raises:
        DatasetError: they are of other rules, or do not fit the other settings.
    """
    found = open_dataset(*config.dataset)
    for part in found.parts:
        if part.settings.rules != rules:
            played = part.settings.rules
            raise DatasetError(
                f"{part.folder}: games of {played.name} with the house rules {dict(played.knobs)}; "
                f"the run plays {rules.name} with {dict(rules.knobs)}"
            )
    if config.gamma != 1 or config.reward != "points":
        raise DatasetError("--dataset has undiscounted returns of points: it goes without --reward, and with --gamma 1")
    teacher = config.teacher or found.agents[0]
    if teacher not in found.agents:
        raise DatasetError(f"--teacher {teacher} is not in the dataset; there are {', '.join(found.agents)}")
    return teacher, found.where(agents=[teacher])


def read_decisions(recorded: Decisions, network: PolicyNetwork, number: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return recorded decisions in random order, ``number`` at most, with returns in points.

    Raises:
        DatasetError: there are none, or they cannot be played here.
    """
    if not len(recorded):
        raise DatasetError("the dataset has no decisions of this teacher")
    return next(recorded.batches(min(number, len(recorded)), inputs=network.inputs, seed=seed))


def play_decisions(env: TableVecEnv, teacher: Agent, number: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Let a teacher play the learners' seats, and return its decisions in hands that came to their end.

    Args:
        env: the tables; dealt anew.
        teacher: who plays.
        number: decisions to play, rounded up to whole rows of tables.
        rng: where the teacher's chance comes from.
    """
    inputs: Any = env.reset()
    steps = -(-number // env.num_envs)
    seen = np.zeros((steps, *inputs.shape), np.int8)
    masks = np.zeros((steps, *env.action_masks().shape), np.bool_)
    actions = np.zeros((steps, env.num_envs), np.int64)
    rewards = np.zeros((steps, env.num_envs), np.float32)
    dones = np.zeros((steps, env.num_envs), np.bool_)
    for step in tqdm(range(steps), desc=f"hands of {teacher.name}", disable=None, leave=False):
        seen[step], masks[step] = inputs, env.action_masks()
        actions[step] = teacher.act(env.engine.view(), rng)
        inputs, rewards[step], dones[step], _ = env.step(actions[step])
    returns, complete = returns_to_go(rewards, dones, env.gamma)
    arrays = {"inputs": seen, "mask": masks, "action": actions, "return": returns}
    return {name: array[complete] for name, array in arrays.items()}


def returns_to_go(
    rewards: NDArray[np.float32], dones: NDArray[np.bool_], gamma: float
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Add up the rewards from each step to the end of its episode.

    Args:
        rewards: [steps, B] of each step.
        dones: [steps, B] whether an episode ended with the step.
        gamma: discount of a reward, for each further step.

    Returns:
        [steps, B] float32 the returns, and [steps, B] bool whether the end of the episode was seen.
    """
    returns = np.zeros_like(rewards)
    complete = np.zeros_like(dones)
    later, ends = np.zeros(rewards.shape[1], np.float32), np.zeros(rewards.shape[1], np.bool_)
    for step in range(len(rewards))[::-1]:
        later = rewards[step] + gamma * np.where(dones[step], np.float32(0), later)
        ends = ends | dones[step]
        returns[step], complete[step] = later, ends
    return returns, complete


def imitate(
    network: PolicyNetwork,
    decisions: Mapping[str, NDArray[Any]],
    *,
    epochs: int,
    learning_rate: float,
    vf_coef: float,
    batch_size: int,
    rng: np.random.Generator,
) -> list[tuple[float, float]]:
    """Fit a network to a teacher's decisions and to the returns of its hands.

    Args:
        network: what learns, with an optimiser of its own: PPO begins with a fresh one.
        decisions: see the module.
        epochs: passes over them, in random order; a last batch that is not full is left out.
        learning_rate: of Adam.
        vf_coef: weight of the value loss beside that of imitation.
        batch_size: decisions in a minibatch.
        rng: where the order comes from.

    Returns:
        For each pass the cross-entropy and the value loss, means over its batches.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    number, device, fits = len(decisions["action"]), network.scale.device, []
    batch_size = min(batch_size, number)
    for epoch in range(epochs if number else 0):  # few tables may have seen no hand to its end
        losses, order = [], rng.permutation(number)
        starts = range(0, number - batch_size + 1, batch_size)
        for start in tqdm(starts, desc=f"imitation, pass {epoch + 1} of {epochs}", disable=None, leave=False):
            at = order[start : start + batch_size]
            batch = {name: torch.from_numpy(array[at]).to(device) for name, array in decisions.items()}
            logits, values = network(batch["inputs"].float())
            imitation = functional.cross_entropy(logits.masked_fill(~batch["mask"], _MASKED), batch["action"].long())
            value = functional.mse_loss(values[:, 0], batch["return"].float())
            optimiser.zero_grad()
            (imitation + vf_coef * value).backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 0.5)
            optimiser.step()
            losses.append((imitation.item(), value.item()))
        fits.append(tuple(np.mean(losses, axis=0).tolist()))
    return fits
