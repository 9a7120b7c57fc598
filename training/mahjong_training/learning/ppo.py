"""Proximal policy optimisation (PPO) by self-play, written to be read from top to bottom.

An update has three steps:

1. Play one hand to its end at each of a few thousand tables (`mahjong_training.learning.self_play`).
2. Estimate the advantage of each decision, with a critic and generalised advantage estimation along the trajectory of a
   seat in a hand.
3. Move the probabilities of the actions accordingly, a little at a time (the clipped objective).

The network that acts is the small one of `mahjong_agents.policy.network`, or any torch module
(`mahjong_agents.policy.torch_network`). docs/research/learning.md says what made it work, and what did not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mahjong_agents.policy.critic import critic_scales
from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.network import FACT_SCALES, log_probabilities, prior, shapes, table_scales
from mahjong_agents.policy.torch_network import (
    TorchNetwork,
    arrays_of,
    find_device,
    find_network,
    load_arrays,
    score_actions,
)
from mahjong_training.config import TrainConfig
from mahjong_training.learning.self_play import Trajectories, Weights

Result = TypeVar("Result")

WIDTH: Final = 64
"""The default number of units in a layer of the small network."""
_CRITIC_WIDTHS: Final = (128, 64)
_CRITIC_LEARNING_RATE: Final = 1e-3
_CRITIC_BATCH_SIZE: Final = 1024  # one pass with this batch size teaches more than two passes with four times that
_MAX_GRAD_NORM: Final = 0.5
_LAST_LEARNING_RATE: Final = 0.1  # the learning rate falls to this share of its initial value
_MICROBATCH_SIZE: Final = 2048
"""The number of decisions whose gradients are computed at once, and then summed over a minibatch.

What the small network needs for so few decisions stays in a processor's cache.
"""


# --- Networks ----------------------------------------------------------------------------------------------------
class Actor(nn.Module):
    """The small network as a torch module that can learn, with the same arrays as `ActionNetwork`."""

    fact_scales: Tensor
    table_scales: Tensor

    def __init__(
        self, width: int, *, claims: bool, generator: torch.Generator, features: Features | None = None
    ) -> None:
        """Build a network that plays like a greedy agent, as everything except the prior begins near zero.

        Args:
            width: units of each hidden layer.
            claims: whether the greedy agent claims tiles; otherwise it keeps its hand closed.
            generator: the source of the random initial weights.
            features: adds inputs of the user's own.
        """
        super().__init__()
        scales = table_scales(features)
        for name, shape in shapes(width, len(scales) - len(table_scales())).items():
            array = torch.zeros(shape)
            if len(shape) == 2:
                array = torch.randn(shape, generator=generator) * (2 / shape[0]) ** 0.5
            self.register_parameter(name, nn.Parameter(array))
        self.get_parameter("prior").data.copy_(torch.from_numpy(prior(claims=claims)))
        self.register_buffer("fact_scales", torch.from_numpy(FACT_SCALES.copy()), persistent=False)
        self.register_buffer("table_scales", torch.from_numpy(scales.copy()), persistent=False)

    def scores(self, inputs: Inputs) -> Tensor:
        """Return [m] the logits of the legal actions."""
        weights = dict(self.named_parameters())
        facts, table = inputs.per_action["facts"].float(), inputs.per_decision["table"].float()
        table = torch.addmm(weights["bias"], table, weights["table"] * self.table_scales[:, None])
        hidden = torch.addmm(
            table.index_select(0, inputs.row), facts, weights["facts"] * self.fact_scales[:, None]
        ).relu_()
        hidden = torch.addmm(weights["hidden_bias"], hidden, weights["hidden"]).relu_()
        return torch.addmv(facts @ (weights["prior"] * self.fact_scales), hidden, weights["out"])


class Critic(nn.Module):
    """The network that predicts a seat's pay in the rest of the hand; it may see privileged features of other seats."""

    scales: Tensor

    def __init__(self, others: int, features: Features | None = None) -> None:
        """Build a critic for a table with this number of other seats."""
        super().__init__()
        scales = torch.from_numpy(critic_scales(others, features))
        self.register_buffer("scales", scales, persistent=False)
        sizes = [len(scales), *_CRITIC_WIDTHS]
        layers: list[nn.Module] = []
        for size, width in zip(sizes, _CRITIC_WIDTHS, strict=False):
            layers += [nn.Linear(size, width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], 1))

    def forward(self, critic_inputs: Tensor) -> Tensor:
        """Return [n] values for [n, C + others * H] inputs."""
        values: Tensor = self.layers(critic_inputs.float() * self.scales)
        return values[:, 0]


# --- Advantages --------------------------------------------------------------------------------------------------
def advantages_and_returns(
    trajectory: NDArray[np.intp],
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    gamma: float,
    gae_lambda: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimate advantages (by generalised advantage estimation) and returns; every trajectory ends with its hand.

    Args:
        trajectory: [n] the trajectory of each decision, in the order of play.
        rewards: [n] the reward from each decision to the next one of its trajectory.
        values: [n] the critic's value of each decision.
        gamma: the discount for each further decision of the trajectory.
        gae_lambda: the lambda of the estimation; the greater it is, the further ahead advantages look.

    Returns:
        [n] float64 advantages, and [n] float64 discounted returns to the end of the hand.
    """
    order = np.argsort(trajectory, kind="stable")  # makes the decisions of a trajectory adjacent
    first = np.flatnonzero(np.diff(trajectory[order], prepend=-1) > 0)
    last = np.append(first[1:], len(trajectory)) - 1
    ordered_rewards, ordered_values = rewards[order], values[order]
    next_values = np.append(ordered_values[1:].astype(np.float64), 0)
    next_values[last] = 0
    deltas = ordered_rewards + gamma * next_values - ordered_values
    advantages, returns = np.empty_like(deltas), np.empty_like(deltas)
    advantage, rest = np.zeros((2, len(first)), np.float32)
    for step in range(int((last - first).max(initial=-1)) + 1):  # from the ends of all trajectories backwards
        running = np.flatnonzero(last - step >= first)
        at = last[running] - step
        advantage[running] = deltas[at] + gamma * gae_lambda * advantage[running]
        rest[running] = ordered_rewards[at] + gamma * rest[running]
        advantages[at], returns[at] = advantage[running], rest[running]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return advantages[back], returns[back]


# --- Learning ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Minibatch:
    """A minibatch, or a part of it: n decisions with m likely actions in all, as tensors.

    Attributes:
        inputs: the inputs of the actor.
        chosen: [n] the index, among the m actions, of the action chosen.
        log_probability: [n] the log-probability with which it was drawn.
        proximal: [n] the log-probability that the actor gave it at the beginning of the update.
        advantage: [n] the normalised advantages.
    """

    inputs: Inputs
    chosen: Tensor
    log_probability: Tensor
    proximal: Tensor
    advantage: Tensor


@contextmanager
def _threads(number: int) -> Iterator[None]:
    """Let torch use this number of threads inside the ``with`` block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Begin(Protocol):
    """A function that begins some work, possibly in another thread."""

    def __call__(self, work: Callable[..., Result], *arguments: Any) -> Callable[[], Result]:
        """Begin ``work(*arguments)``; return a function that waits for its result."""
        ...


def _carry_out(work: Callable[..., Result], *arguments: Any) -> Callable[[], Result]:
    result = work(*arguments)
    return lambda: result


class Learner:
    """The networks and their optimisers, with the method that updates them.

    Attributes:
        config: the settings of the run.
        unit: the number by which rewards are divided.
        device: the device on which torch computes.
        actor: the network that acts.
        reference: the actor as it began, or as it was when it last passed a gate; ``kl_coef`` holds the actor near it.
        average: the network with the exponential moving average of the actor's weights, which is measured and saved.
        critic: the network that predicts the values of decisions.
        actor_optimiser: the optimiser of the actor.
        critic_optimiser: the optimiser of the critic.
    """

    def __init__(
        self,
        config: TrainConfig,
        *,
        seats: int,
        unit: float,
        claims: bool = True,
        start: Weights | None = None,
        features: Features | None = None,
    ) -> None:
        """Build fresh networks.

        Args:
            config: the settings of the run.
            seats: the number of seats at a table.
            unit: the number by which rewards are divided; sigma if rewards are points.
            claims: whether the small network begins as the greedy agent; otherwise as the one that keeps its hand
                closed.
            start: weights with which the actor begins instead.
            features: adds inputs of the user's own to the small network and the critic.

        Raises:
            AgentError: the network of the settings cannot be made.
            ValueError: the weights do not fit the network.
        """
        torch.manual_seed(config.seed)
        self.config, self.unit = config, unit
        self.device = find_device(config.device)
        actor: nn.Module
        if config.network is None:
            generator = torch.Generator().manual_seed(config.seed)
            actor = Actor(config.width or WIDTH, claims=claims, generator=generator, features=features)
        else:
            actor = find_network(config.network)
        if start is not None:
            load_arrays(actor, start)
        self.actor = actor.to(self.device)
        self.reference, self.average = deepcopy(self.actor), deepcopy(self.actor)
        self.critic = Critic(seats - 1, features).to(self.device)
        self.actor_optimiser = torch.optim.Adam(self.actor.parameters(), lr=config.learning_rate, eps=1e-5)
        self.critic_optimiser = torch.optim.Adam(self.critic.parameters(), lr=_CRITIC_LEARNING_RATE)

    def update(
        self, trajectories: Trajectories, *, number: int, progress: float, critic_updates: int = 0
    ) -> dict[str, float]:
        """Update the networks from some trajectories.

        Args:
            trajectories: the trajectories of the hands of the update.
            number: the number of the update, from which, with the seed, the order of the minibatches follows.
            progress: the share of the run that is done, 0 to 1.
            critic_updates: how many updates at the beginning leave the actor unchanged.

        Returns:
            Metrics by name.
        """
        config = self.config
        with self._at_once() as begin:
            generator = torch.Generator().manual_seed(config.seed * 1_000_003 + number)
            only_critic = number < critic_updates
            rewards = np.clip(trajectories.reward / self.unit, -config.reward_limit, config.reward_limit)
            rewards = rewards.astype(np.float32)
            critic_inputs = self._tensor(trajectories.critic_inputs)
            values = self._values(critic_inputs)
            advantages, returns = advantages_and_returns(
                trajectories.trajectory, rewards, values, config.gamma, config.gae_lambda
            )
            explained = 1 - float(np.mean((returns - values) ** 2) / max(float(returns.var()), 1e-12))
            metrics = {
                "critic/explained_variance": explained,
                "critic/advantage_std": float(advantages.std()),
                "hands/decisions": len(trajectories) / trajectories.points.size,
            }
            # Until the critic has learned something, it is fitted to the returns that were really paid.
            targets = self._tensor(returns if only_critic else advantages + values)
            order = torch.randperm(len(targets), generator=generator)
            fitted = begin(self._fit_critic, critic_inputs, targets, order)
            if not only_critic:
                metrics |= self._improve(trajectories, advantages, generator, progress, begin)
                self._average_weights(number - critic_updates)
            fitted()
        return metrics

    @contextmanager
    def _at_once(self) -> Iterator[Begin]:
        """Yield a function that begins work: at once if there is one thread, otherwise in one of several threads.

        The results are the same. With the small network, each microbatch and the critic gets one thread at a time. A
        network of the user's own gets half of the threads, and the critic the other half.
        """
        threads = self.config.threads
        of_each = 1 if self._is_small else max(1, threads // 2)
        with _threads(of_each):
            if threads == 1:
                yield _carry_out
                return
            workers = threads if self._is_small else 2
            with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(of_each,)) as pool:
                yield lambda work, *arguments: pool.submit(work, *arguments).result

    @property
    def _is_small(self) -> bool:
        return self.config.network is None and self.device.type == "cpu"

    def _average_weights(self, updates: int) -> None:
        # A plain mean over the first updates; otherwise the initial actor would dominate the average of a short run.
        decay = min(self.config.ema_decay, updates / (updates + 1))
        with torch.no_grad():
            for mean, now in zip(self.average.parameters(), self.actor.parameters(), strict=True):
                mean.lerp_(now, 1 - decay)
            for kept, buffer in zip(self.average.buffers(), self.actor.buffers(), strict=True):
                kept.copy_(buffer)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def _values(self, critic_inputs: Tensor) -> NDArray[np.float32]:
        with torch.no_grad():
            parts = torch.split(critic_inputs, _CRITIC_BATCH_SIZE)
            return torch.cat([self.critic(part) for part in parts]).cpu().numpy()

    def _fit_critic(self, critic_inputs: Tensor, targets: Tensor, order: Tensor) -> None:
        for some in torch.split(order.to(self.device), _CRITIC_BATCH_SIZE):
            loss = ((self.critic(critic_inputs.index_select(0, some)) - targets[some]) ** 2).mean()
            self.critic_optimiser.zero_grad()
            loss.backward()
            self.critic_optimiser.step()

    def _improve(
        self,
        trajectories: Trajectories,
        advantages: NDArray[np.float64],
        generator: torch.Generator,
        progress: float,
        begin: Begin,
    ) -> dict[str, float]:
        config = self.config
        for group in self.actor_optimiser.param_groups:
            group["lr"] = config.learning_rate * max(_LAST_LEARNING_RATE, 1 - progress)
        normalised = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        metrics: list[dict[str, float]] = []
        shares: list[float] = []
        proximal = self._proximal(trajectories) if config.ahead else trajectories.log_probability
        for _ in range(config.n_epochs):
            for microbatches in self._minibatches(trajectories, normalised, generator, proximal):
                self.actor_optimiser.zero_grad()
                begun = [(share, begin(self._gradients, share, batch)) for share, batch in microbatches]
                for share, wait in begun:  # summed in this order, whichever is ready first
                    gradients, found = wait()
                    for parameter, gradient in gradients:
                        parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad.add_(gradient)
                    metrics.append(found)
                    shares.append(share)
                nn.utils.clip_grad_norm_(self.actor.parameters(), _MAX_GRAD_NORM)
                self.actor_optimiser.step()
        return {
            f"actor/{name}": float(np.average([found[name] for found in metrics], weights=shares))
            for name in metrics[0]
        }

    def _gradients(self, share: float, batch: Minibatch) -> tuple[list[tuple[nn.Parameter, Tensor]], dict[str, float]]:
        """Return pairs of a parameter and its gradient, for a share of the loss, and metrics."""
        loss, found = self._loss(batch)
        moved = [parameter for parameter in self.actor.parameters() if parameter.requires_grad]
        gradients = torch.autograd.grad(share * loss, moved, allow_unused=True)
        return [pair for pair in zip(moved, gradients, strict=True) if pair[1] is not None], found

    def _proximal(self, trajectories: Trajectories) -> NDArray[np.float32]:
        """Return [n] the present actor's log-probabilities of the chosen actions, which an older one may have drawn."""
        row, chosen = trajectories.inputs.row, trajectories.chosen
        found = log_probabilities(TorchNetwork(self.actor).scores(trajectories.inputs), row)
        return found[np.searchsorted(row, np.arange(len(chosen))) + chosen]

    def _minibatches(
        self,
        trajectories: Trajectories,
        advantages: NDArray[np.float64],
        generator: torch.Generator,
        proximal: NDArray[np.float32],
    ) -> Iterator[Iterator[tuple[float, Minibatch]]]:
        """Yield minibatches of all decisions with several likely actions, in random order.

        Each minibatch is an iterator over its parts, with the share of the minibatch that each part is.
        """
        inputs = trajectories.inputs.map(self._tensor)
        chosen, log_probability, began, advantage = (
            self._tensor(array) for array in (trajectories.chosen, trajectories.log_probability, proximal, advantages)
        )
        count = torch.bincount(inputs.row, minlength=len(trajectories))
        first = torch.cumsum(count, 0) - count
        choices = torch.nonzero(count > 1)[:, 0]

        def microbatch(some: Tensor) -> Minibatch:
            number = count[some]
            row = torch.repeat_interleave(torch.arange(len(some), device=self.device), number)
            start = torch.cumsum(number, 0) - number
            which = torch.arange(len(row), device=self.device) + (first[some] - start)[row]
            per_action = {name: array.index_select(0, which) for name, array in inputs.per_action.items()}
            per_decision = {name: array.index_select(0, some) for name, array in inputs.per_decision.items()}
            part = Inputs(row, inputs.action[which], per_action, per_decision)
            return Minibatch(part, start + chosen[some], log_probability[some], began[some], advantage[some])

        size = _MICROBATCH_SIZE if self._is_small else self.config.batch_size
        order = torch.randperm(len(choices), generator=generator).to(self.device)
        for some in torch.split(order, self.config.batch_size):
            yield ((len(part) / len(some), microbatch(choices[part])) for part in torch.split(some, size))

    def _loss(self, batch: Minibatch) -> tuple[Tensor, dict[str, float]]:
        """Return PPO's loss, with entropy bonus and penalty on the divergence (KL) from the reference, and metrics."""
        config, row, rows = self.config, batch.inputs.row, len(batch.chosen)
        logs = log_softmax(score_actions(self.actor, batch.inputs), row, rows)
        log_ratio = logs[batch.chosen] - batch.proximal
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
        # Decoupled from the actor that played, in case it is older (Hilton, Cobbe and Schulman, 2021); else factor 1.
        weighted = (batch.proximal - batch.log_probability).exp() * batch.advantage
        loss = -torch.min(ratio * weighted, clipped * weighted).mean()
        probabilities = logs.exp()
        entropy = -(probabilities * logs).sum() / rows
        loss = loss - config.ent_coef * entropy
        metrics = {"entropy": entropy.item(), "approx_kl": (ratio - 1 - log_ratio).mean().item()}
        if config.kl_coef > 0:
            with torch.no_grad():
                of_reference = log_softmax(score_actions(self.reference, batch.inputs), row, rows)
            # Among the likely actions only, like the rest of the loss; decisions with a single one are left out.
            divergence = (probabilities * (logs - of_reference)).sum() / rows
            loss = loss + config.kl_coef * divergence
            metrics["kl_from_reference"] = divergence.item()
        return loss, metrics

    def refresh_reference(self) -> None:
        """Make the present average the reference near which the actor is held."""
        self.reference.load_state_dict(self.average.state_dict())

    def weights(self) -> Weights:
        """Return copies of the actor's arrays, by name."""
        return arrays_of(self.actor)

    def average_weights(self) -> Weights:
        """Return copies of the average's arrays, by name."""
        return arrays_of(self.average)

    # --- Checkpoints ------------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Return the state of all networks and optimisers."""
        return {name: part.state_dict() for name, part in self._parts().items()}

    def load(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def _parts(self) -> dict[str, Any]:
        names = ("actor", "reference", "average", "critic", "actor_optimiser", "critic_optimiser")
        return {name: getattr(self, name) for name in names}


def log_softmax(logits: Tensor, row: Tensor, rows: int) -> Tensor:
    """Return [m] the log-probabilities of actions, given their logits [m] and their rows [m]."""
    greatest = torch.full((rows,), -torch.inf, device=logits.device)
    greatest = greatest.scatter_reduce(0, row, logits.detach(), "amax")
    shifted = logits - greatest[row]
    total = torch.zeros(rows, device=logits.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]
