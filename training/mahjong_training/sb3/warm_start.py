"""The warm start: before PPO begins, the network imitates a teacher and learns to predict the returns of its hands.

Decisions are arrays by name, as in datasets: ``inputs`` [m, F] int8, ``mask`` [m, 109] bool, ``action`` [m], and
``return`` [m] float32, the sum of the discounted rewards from there to the end of the hand.
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
    """Return the teacher of a run that imitates recorded games, and the teacher's decisions in these games.

    Raises:
        DatasetError: the games were played by other rules, or do not fit the other settings.
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
        raise DatasetError("--dataset has undiscounted returns of points: leave out --reward, and give --gamma 1")
    teacher = config.teacher or found.agents[0]
    if teacher not in found.agents:
        raise DatasetError(f"--teacher {teacher} is not in the dataset; there are {', '.join(found.agents)}")
    return teacher, found.where(agents=[teacher])


def read_decisions(recorded: Decisions, network: PolicyNetwork, number: int, seed: int) -> dict[str, NDArray[Any]]:
    """Return at most ``number`` recorded decisions in random order, with returns in points.

    Raises:
        DatasetError: there are no decisions, or the games cannot be replayed here.
    """
    if not len(recorded):
        raise DatasetError("the dataset has no decisions of this teacher")
    return next(recorded.batches(min(number, len(recorded)), inputs=network.inputs, seed=seed))


def play_decisions(env: TableVecEnv, teacher: Agent, number: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """Let a teacher play the learners' seats, and return its decisions in the hands that were played to their end.

    Args:
        env: the tables, which are dealt anew.
        teacher: the agent that plays.
        number: the number of decisions to play, rounded up to a multiple of the number of tables.
        rng: the source of the teacher's randomness.
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
    """Sum the discounted rewards from each step to the end of its episode.

    Args:
        rewards: [steps, B] the reward of each step.
        dones: [steps, B] whether an episode ended with the step.
        gamma: the discount of a reward for each further step.

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
        network: the network to fit. The optimiser is used here only; PPO begins with a fresh one.
        decisions: the decisions; for the arrays see the docstring of this module.
        epochs: the number of passes over the decisions, in random order. A last batch that is not full is left out.
        learning_rate: the learning rate of Adam.
        vf_coef: the weight of the value loss, added to the loss of imitation.
        batch_size: the number of decisions in a minibatch.
        rng: the source of the random order.

    Returns:
        For each pass, the means over its batches of the cross-entropy and of the value loss.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    number, device, fits = len(decisions["action"]), network.scale.device, []
    batch_size = min(batch_size, number)
    for epoch in range(epochs if number else 0):  # there may be no decision, if no hand was played to its end
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
