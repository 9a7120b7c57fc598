"""PPO for a small network that looks at one action at a time, by self-play: read it from top to bottom.

An update plays one hand at each of a few thousand tables to its end (`mahjong_training.learning.self_play`), with every
seat's decisions, estimates how much better each decision was than expected (a critic, and generalised advantage
estimation along what one seat decides in one hand), and moves the probabilities of the actions accordingly, a little at
a time (the clipped objective of PPO).

What made it work, and what did not, stands in docs/learning.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from mahjong_agents.policy.custom_features import Features
from mahjong_agents.policy.network import FACT_SCALES, prior, shapes, table_scales
from mahjong_training.config import TrainConfig
from mahjong_training.learning.base_run import find_device
from mahjong_training.learning.self_play import HINTS, Hands

_CRITIC_WIDTHS: Final = (128, 64)
_CRITIC_RATE: Final = 1e-3
_CRITIC_BATCH: Final = 4096
_CRITIC_EPOCHS: Final = 2
_LARGEST_GRADIENT: Final = 0.5
_LAST_RATE: Final = 0.1  # what the learning rate falls to


# --- Networks ----------------------------------------------------------------------------------------------------
class Actor(nn.Module):
    """`mahjong_agents.policy.network.ActionNetwork` with weights that can be moved; the arrays have the same names."""

    fact_scales: Tensor
    table_scales: Tensor

    def __init__(
        self, width: int, *, claims: bool, generator: torch.Generator, features: Features | None = None
    ) -> None:
        """Build a network that plays like the greedy agents: everything but the prior begins near nothing."""
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

    def forward(self, facts: Tensor, table: Tensor, row: Tensor) -> Tensor:
        """Return [m] logits, for facts [m, A] of actions in rows [m] of tables [n, C]."""
        weights = dict(self.named_parameters())
        scaled = facts.float() * self.fact_scales
        of_table = (table.float() * self.table_scales) @ weights["table"] + weights["bias"]
        hidden = torch.relu(scaled @ weights["facts"] + of_table[row])
        hidden = torch.relu(hidden @ weights["hidden"] + weights["hidden_bias"])
        return hidden @ weights["out"] + scaled @ weights["prior"]

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the weights, as `ActionNetwork` takes them."""
        return {name: array.detach().cpu().numpy().copy() for name, array in self.named_parameters()}


class Critic(nn.Module):
    """Foresees what a seat will be paid, in sigma; it may know what the other seats know of their hands."""

    scales: Tensor

    def __init__(self, others: int, features: Features | None = None) -> None:
        """Build it for so many other seats."""
        super().__init__()
        scales = [*table_scales(features).tolist(), *others * [*HINTS.values()]]
        self.register_buffer("scales", torch.tensor(scales), persistent=False)
        sizes = [len(scales), *_CRITIC_WIDTHS]
        layers: list[nn.Module] = []
        for size, width in zip(sizes, _CRITIC_WIDTHS, strict=False):
            layers += [nn.Linear(size, width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(sizes[-1], 1))

    def forward(self, seen: Tensor) -> Tensor:
        """Return [n] values, for [n, C + others * H] numbers."""
        found: Tensor = self.layers(seen.float() * self.scales)
        return found[:, 0]


# --- What was better than expected ---------------------------------------------------------------------------------
def chain_ends(chain: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return [n] an order that puts decisions of a chain behind each other, and where in it chains begin and end."""
    order = np.argsort(chain, kind="stable")
    is_first = np.diff(chain[order], prepend=-1) > 0
    first = np.flatnonzero(is_first)
    return order, first, np.append(first[1:], len(chain)) - 1


def advantages(
    chain: NDArray[np.intp], reward: NDArray[np.float32], value: NDArray[np.float32], decay: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Estimate by how much decisions were better than expected; hands end, and nothing is discounted.

    Args:
        chain: [n] the chain of each decision, in the order of play.
        reward: [n] what it brought until the next one of its chain.
        value: [n] what was expected before it.
        decay: lambda of generalised advantage estimation.

    Returns:
        [n] advantages, and [n] what was paid from there to the end of the hand.
    """
    order, first, last = chain_ends(chain)
    paid, expected = reward[order], value[order]
    ahead = np.append(expected[1:], 0)
    ahead[last] = 0
    surprise = paid + ahead - expected
    better, returns = np.empty_like(surprise), np.empty_like(surprise)
    of_chain, paid_in_chain = np.zeros((2, len(first)), np.float32)
    for step in range(int((last - first).max(initial=-1)) + 1):
        going = np.flatnonzero(last - step >= first)
        at = last[going] - step
        of_chain[going] = surprise[at] + decay * of_chain[going]
        paid_in_chain[going] += paid[at]
        better[at], returns[at] = of_chain[going], paid_in_chain[going]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return better[back], returns[back]


# --- Learning -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Batch:
    """Some decisions, as tensors; `Hands` says what they are."""

    facts: Tensor
    table: Tensor
    row: Tensor
    chosen: Tensor
    log_probability: Tensor
    advantage: Tensor


class Learner:
    """The networks, their optimisers, and what is done with the hands of an update."""

    def __init__(
        self,
        config: TrainConfig,
        *,
        people: int,
        unit: float,
        claims: bool,
        start: dict[str, NDArray[np.float32]] | None = None,
        features: Features | None = None,
    ) -> None:
        """Build fresh networks.

        Args:
            config: the settings of the run.
            people: persons at a table.
            unit: of the rewards, which are divided by it; sigma for points.
            claims: whether the actor begins as greedy, or as greedy that keeps its hand closed.
            start: the weights that it begins with instead.
            features: what adds inputs of a researcher's own.
        """
        generator = torch.Generator().manual_seed(config.seed)
        torch.manual_seed(config.seed)
        self.config, self.unit = config, unit
        self.device = find_device(config.device)
        actors = [Actor(config.width, claims=claims, generator=generator, features=features) for _ in range(3)]
        self.actor, self.reference, self.average = (actor.to(self.device) for actor in actors)
        if start is not None:
            self.actor.load_state_dict({name: torch.from_numpy(array) for name, array in start.items()})
        for copy in (self.reference, self.average):
            copy.load_state_dict(self.actor.state_dict())
        self.critic = Critic(people - 1, features).to(self.device)
        self.actor_optimiser = torch.optim.Adam(self.actor.parameters(), lr=config.learning_rate, eps=1e-5)
        self.critic_optimiser = torch.optim.Adam(self.critic.parameters(), lr=_CRITIC_RATE)

    def update(self, hands: Hands, *, number: int, progress: float, critic_updates: int = 0) -> dict[str, float]:
        """Learn from hands.

        Args:
            hands: what was played with the actor as it is.
            number: of the update; the order of the minibatches follows from it and from the seed.
            progress: share of the run that is done, 0 to 1.
            critic_updates: so many updates come first, which leave the actor as it is.

        Returns:
            What there is to say of it, by name.
        """
        generator = torch.Generator().manual_seed(self.config.seed * 1_000_003 + number)
        only_critic = number < critic_updates
        limit = self.config.reward_limit
        reward = np.clip(hands.reward / self.unit, -limit, limit).astype(np.float32)
        seen = self._tensor(np.concatenate([hands.table, hands.others], axis=1))
        value = self._values(seen)
        better, returns = advantages(hands.chain, reward, value, self.config.gae_lambda)
        said = {
            "critic/explained": 1 - float(np.mean((returns - value) ** 2) / max(float(returns.var()), 1e-12)),
            "critic/noise": float(better.std()),
            "hands/decisions": len(hands) / hands.points.size,
        }
        # Until the critic has learned something, it learns from what was really paid.
        self._fit_critic(seen, self._tensor(returns if only_critic else better + value), generator)
        if not only_critic:
            said |= self._improve(hands, better, generator, progress)
            self._add_to_average(number - critic_updates)
        return said

    def _add_to_average(self, updates: int) -> None:
        # Of the first updates a plain mean: what the actor began as would count for most of a short run.
        kept = min(self.config.ema_decay, updates / (updates + 1))
        with torch.no_grad():
            for mean, now in zip(self.average.parameters(), self.actor.parameters(), strict=True):
                mean.lerp_(now, 1 - kept)

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def _shuffled(self, number: int, size: int, generator: torch.Generator) -> Iterator[Tensor]:
        """Return the numbers below one in random order, a batch at a time."""
        order = torch.randperm(number, generator=generator).to(self.device)
        yield from torch.split(order, size)

    def _values(self, seen: Tensor) -> NDArray[np.float32]:
        with torch.no_grad():
            return torch.cat([self.critic(part) for part in torch.split(seen, 16 * _CRITIC_BATCH)]).cpu().numpy()

    def _fit_critic(self, seen: Tensor, target: Tensor, generator: torch.Generator) -> None:
        for _ in range(_CRITIC_EPOCHS):
            for some in self._shuffled(len(seen), _CRITIC_BATCH, generator):
                loss = ((self.critic(seen[some]) - target[some]) ** 2).mean()
                self.critic_optimiser.zero_grad()
                loss.backward()
                self.critic_optimiser.step()

    def _improve(
        self, hands: Hands, better: NDArray[np.float32], generator: torch.Generator, progress: float
    ) -> dict[str, float]:
        config = self.config
        for group in self.actor_optimiser.param_groups:
            group["lr"] = config.learning_rate * max(_LAST_RATE, 1 - progress)
        advantage = (better - better.mean()) / (better.std() + 1e-8)
        said: list[dict[str, float]] = []
        for _ in range(config.n_epochs):
            for batch in self._batches(hands, advantage, generator):
                loss, numbers = self._loss(batch)
                self.actor_optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(self.actor.parameters(), _LARGEST_GRADIENT)
                self.actor_optimiser.step()
                said.append(numbers)
        return {f"actor/{name}": float(np.mean([numbers[name] for numbers in said])) for name in said[0]}

    def _batches(self, hands: Hands, advantage: NDArray[np.float32], generator: torch.Generator) -> Iterator[Batch]:
        """Return all decisions in random order, each with its legal actions."""
        facts, table, count = (self._tensor(array) for array in (hands.facts, hands.table, hands.count))
        chosen, log_probability, gain = (
            self._tensor(array) for array in (hands.chosen, hands.log_probability, advantage)
        )
        first = torch.cumsum(count, 0) - count
        # Where one action alone was likely there is nothing to choose.
        choices = torch.nonzero(count > 1)[:, 0]
        for some in self._shuffled(len(choices), self.config.batch_size, generator):
            some = choices[some]
            number = count[some]
            row = torch.repeat_interleave(torch.arange(len(some), device=self.device), number)
            start = torch.cumsum(number, 0) - number
            action = torch.arange(len(row), device=self.device) + (first[some] - start)[row]
            yield Batch(facts[action], table[some], row, start + chosen[some], log_probability[some], gain[some])

    def _loss(self, batch: Batch) -> tuple[Tensor, dict[str, float]]:
        """Return PPO's loss with a penalty on the divergence from the reference, and what there is to say of it."""
        config, rows = self.config, len(batch.table)
        log_probability = log_softmax(self.actor(batch.facts, batch.table, batch.row), batch.row, rows)
        change = log_probability[batch.chosen] - batch.log_probability
        ratio = change.exp()
        kept = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
        loss = -torch.min(ratio * batch.advantage, kept * batch.advantage).mean()
        probability = log_probability.exp()
        entropy = -(probability * log_probability).sum() / rows
        loss = loss - config.ent_coef * entropy
        said = {"entropy": entropy.item(), "divergence": (ratio - 1 - change).mean().item()}
        if config.kl_coef > 0:
            with torch.no_grad():
                of_reference = log_softmax(self.reference(batch.facts, batch.table, batch.row), batch.row, rows)
            divergence = (probability * (log_probability - of_reference)).sum() / rows
            loss = loss + config.kl_coef * divergence
            said["divergence from the reference"] = divergence.item()
        return loss, said

    def refresh_reference(self) -> None:
        """Stay near the actor as it is now, from now on."""
        self.reference.load_state_dict(self.average.state_dict())

    # --- Going on later ---------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """Return all that there is to go on from."""
        return {name: part.state_dict() for name, part in self._parts().items()}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned."""
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def _parts(self) -> dict[str, Any]:
        return {
            "actor": self.actor,
            "reference": self.reference,
            "average": self.average,
            "critic": self.critic,
            "actor_optimiser": self.actor_optimiser,
            "critic_optimiser": self.critic_optimiser,
        }


def log_softmax(logits: Tensor, row: Tensor, rows: int) -> Tensor:
    """Return [m] logarithms of the probabilities that logits [m] give the actions of each row [m]."""
    greatest = torch.full((rows,), -torch.inf, device=logits.device)
    greatest = greatest.scatter_reduce(0, row, logits.detach(), "amax")
    shifted = logits - greatest[row]
    total = torch.zeros(rows, device=logits.device).index_add(0, row, shifted.exp())
    return shifted - total.log()[row]
