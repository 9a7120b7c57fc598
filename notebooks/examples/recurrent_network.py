"""A recurrent network that reads the discards in their order, to be trained by self-play:

    mahjong-env train --variant hebei --network notebooks/examples/recurrent_network.py:Recurrent
    mahjong-env evaluate --variant hebei --agents greedy \
        "policy:hebei?network=notebooks/examples/recurrent_network.py:Recurrent"

It has no strong inputs: it sees the hand and the discards, and scores all 109 actions, of which the illegal ones are
left out. It begins at random; train it for long, or see attention_network.py for one that begins as greedy.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from mahjong_env import ACTIONS

KINDS = 69  # 0: nothing there; 1 to 34: a discard; 35 to 68: one that was claimed


class Recurrent(nn.Module):
    """Scores all actions by the hand and what a GRU remembers of the discards of each slot."""

    def __init__(self, width: int = 32) -> None:
        """Build a network of this width."""
        super().__init__()
        self.kind = nn.Embedding(KINDS, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.hand = nn.Linear(2 * 34, width)
        self.out = nn.Sequential(nn.Linear(5 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, len(ACTIONS)))

    def inputs(self, view) -> dict[str, np.ndarray]:
        """Return [n, 4, R] the discards of each slot in their order, and the hand and the tile that is offered."""
        offered = np.eye(35, dtype=np.int8)[np.maximum(view.offered, view.drawn)][:, :34]  # kind -1 is the last: none
        return {"river": view.river, "hand": np.concatenate([view.hand, offered], axis=1)}

    def scores(self, inputs) -> Tensor:
        """Return [n, 109] logits of all actions."""
        river = inputs.per_decision["river"].flatten(0, 1).long()  # a sequence for each slot
        length = (river > 0).sum(dim=1)
        # Each sequence ends with its last discard, not with the padding behind it; an empty one has one padding token.
        packed = pack_padded_sequence(
            self.kind(river), length.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        _, memory = self.gru(packed)
        hand = torch.relu(self.hand(inputs.per_decision["hand"].float()))
        return self.out(torch.cat([hand, memory[0].view(len(hand), -1)], dim=1))
