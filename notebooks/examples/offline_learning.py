"""Behaviour cloning and a value fit from recorded games: `python notebooks/examples/offline_learning.py DATASET`.

Record games first: `mahjong-env record --variant hebei --agents greedy --hands 20000 --out DATASET`. One hand in ten is
held out. There the script measures how often the network chooses as the players did, and what share of the variance of
the returns it explains.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import torch
from torch.nn import functional

from mahjong_agents import look_ahead
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_env import View
from mahjong_training.datasets import Decisions, open_dataset
from mahjong_training.datasets.torch_data import DecisionStream


def network_inputs(view: View) -> np.ndarray:
    """Return what the network is shown of n seats: [n, F] int8."""
    return policy_inputs(view, look_ahead(view))


def learn(decisions: Decisions, network: PolicyNetwork, *, scale: float, size: int = 1024, epochs: int = 1) -> None:
    """Fit the policy to the actions that were chosen, and the value to the returns that followed."""
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for batch in DecisionStream(decisions, size, inputs=network_inputs, seed=epoch):
            logits, values = network(batch["inputs"].float())
            logits = logits.masked_fill(~batch["mask"], -1e8)
            cloning = functional.cross_entropy(logits, batch["action"])
            foresight = functional.mse_loss(values[:, 0], batch["return"] * scale)
            optimiser.zero_grad()
            (cloning + 0.5 * foresight).backward()
            optimiser.step()


def measure(decisions: Decisions, network: PolicyNetwork, *, scale: float) -> tuple[float, float]:
    """Return how often the network chooses as the players did, and the share of the returns' variance it explains."""
    alike, values, returns = [], [], []
    with torch.inference_mode():
        for batch in DecisionStream(decisions, 4096, inputs=network_inputs, seed=None):
            logits, value = network(batch["inputs"].float())
            alike.append((logits.masked_fill(~batch["mask"], -1e8).argmax(dim=1) == batch["action"]).numpy())
            values.append(value[:, 0].numpy())
            returns.append(batch["return"].numpy() * scale)
    missed = np.concatenate(returns) - np.concatenate(values)
    return float(np.concatenate(alike).mean()), float(1 - missed.var() / np.concatenate(returns).var())


def main(arguments: list[str]) -> None:
    """Learn from a dataset and print what was learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", help="folders that `mahjong-env record` wrote")
    parser.add_argument("--epochs", type=int, default=1, help="passes over the decisions")
    parser.add_argument("--width", type=int, default=256, help="units of each hidden layer")
    chosen = parser.parse_args(arguments)
    data = open_dataset(*chosen.datasets)
    scale = 1 / float(np.concatenate([part.tables["hands"]["points"] for part in data.parts]).std())
    known = data.where(rows=lambda rows: rows["hand"] % 10 > 0)
    new = data.where(rows=lambda rows: rows["hand"] % 10 == 0)
    torch.manual_seed(0)
    network = PolicyNetwork(NetworkSpec(width=chosen.width))
    learn(known, network, scale=scale, epochs=chosen.epochs)
    alike, explained = measure(new, network, scale=scale)
    print(f"learned from {len(known):,} decisions; on {len(new):,} of other hands:")
    print(f"  {alike:.1%} of the decisions are the players' own")
    print(f"  {explained:.1%} of the variance of what is to come is explained")


if __name__ == "__main__":
    main(sys.argv[1:])
