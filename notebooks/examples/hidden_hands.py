"""What do the others hold? A model learned from recorded games: `python notebooks/examples/hidden_hands.py DATASET`.

Record games first: `mahjong-env record --variant hebei --agents greedy --hands 20000 --out DATASET`. The network sees
what a seat sees and predicts, for each other seat and kind, how likely that seat is to hold the tile. One game in ten
is held out. There the log loss of the network is measured, beside that of a baseline that only knows how many tiles of
the kind are unseen.
"""

from __future__ import annotations

import sys

import numpy as np
import torch
from torch.nn import functional

from mahjong_env import Hidden, View
from mahjong_training.datasets import Decisions, open_dataset

UNSEEN = 5  # 0 to 4 tiles of a kind may be unseen


def columns(view: View, hidden: Hidden) -> dict[str, np.ndarray]:
    """Return what the network is shown of n seats [n, C * 34], and which kinds each other seat holds [n, 3, 34]."""
    return {"inputs": view.observation.reshape(len(view), -1), "unseen": view.unseen, "held": hidden.hand[:, 1:] > 0}


def tensors(data: Decisions, size: int, seed: int | None = None):
    for batch in data.batches(size, inputs=columns, hidden=True, seed=seed):
        yield (torch.from_numpy(np.ascontiguousarray(batch[name])) for name in ("inputs", "unseen", "held"))


def learn(
    data: Decisions, *, width: int = 256, epochs: int = 1, size: int = 1024
) -> tuple[torch.nn.Module, torch.Tensor]:
    """Fit the network, and count how often a kind is held, by seat and by how many of it are unseen: [3, 5]."""
    network, seen, held = None, torch.zeros(3, UNSEEN), torch.zeros(3, UNSEEN)
    for epoch in range(epochs):
        for inputs, unseen, target in tensors(data, size, seed=epoch):
            if network is None:
                layers = (torch.nn.Linear(inputs.shape[1], width), torch.nn.ReLU(), torch.nn.Linear(width, 3 * 34))
                network = torch.nn.Sequential(*layers)
                optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
            loss = functional.binary_cross_entropy_with_logits(network(inputs.float()).view(-1, 3, 34), target.float())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            for count in range(UNSEEN):
                seen[:, count] += (unseen == count).sum()
                held[:, count] += (target & (unseen == count)[:, None]).sum(dim=(0, 2))
    return network, (held + 0.5) / (seen + 1)


def measure(data: Decisions, network: torch.nn.Module, share: torch.Tensor) -> tuple[float, float]:
    """Return the log loss per kind and seat, of the network and of the counts alone."""
    losses, others = [], []
    with torch.inference_mode():
        for inputs, unseen, target in tensors(data, 4096):
            logits = network(inputs.float()).view(-1, 3, 34)
            losses.append(functional.binary_cross_entropy_with_logits(logits, target.float(), reduction="none"))
            base = share[:, unseen.long()].transpose(0, 1)
            others.append(functional.binary_cross_entropy(base, target.float(), reduction="none"))
    return tuple(float(torch.cat(part).mean()) for part in (losses, others))


def main(folder: str) -> None:
    torch.set_num_threads(1)
    data = open_dataset(folder)
    kept = (data.where(rows=lambda rows: rows["game"] % 10 == 0), data.where(rows=lambda rows: rows["game"] % 10 > 0))
    network, base = measure(kept[0], *learn(kept[1]))
    print(f"log loss of a kind in a hand: {network:.4f}; by what is unseen alone: {base:.4f}")


if __name__ == "__main__":
    main(sys.argv[1])
