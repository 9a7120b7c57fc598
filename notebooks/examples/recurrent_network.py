"""A network with memory, a GRU that reads the events of the hand. Train it by self-play, then measure it:

    mahjong-env train --variant hebei --network notebooks/examples/recurrent_network.py:Recurrent
    mahjong-env evaluate --variant hebei --agents greedy \
        "policy:runs/hebei/best.zip?network=notebooks/examples/recurrent_network.py:Recurrent"

It has no strong inputs: it sees the hand and what has happened (`view.events`), and scores all 109 actions, of which
the illegal ones are left out. It begins with random weights, so train it for long; attention_network.py is a network
that begins as greedy.

It reads the latest events anew at every decision. No state is kept between decisions, so none can be stale.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from mahjong_env import ACTIONS, EVENTS
from mahjong_env.basics.tiles import NUM_ALL_KINDS
from mahjong_env.state.arrays import Event

LENGTH = 96  # events that are read, the latest ones; few hands have more in Fuzhou, most have in MCR


class Recurrent(nn.Module):
    """Scores all actions by the hand and what a GRU remembers of the events."""

    def __init__(self, width: int = 32) -> None:
        """Build a network of this width."""
        super().__init__()
        self.event, self.slot, self.giver = (nn.Embedding(size, width) for size in (len(EVENTS), 5, 5))
        self.kind, self.detail = nn.Embedding(NUM_ALL_KINDS + 1, width), nn.Embedding(NUM_ALL_KINDS + 4, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.hand = nn.Linear(2 * 34, width)
        self.out = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, len(ACTIONS)))

    def inputs(self, view) -> dict[str, np.ndarray]:
        """Return the last events [n, 96, 5] (see `mahjong_env.EVENTS`), and the hand with the tile that is offered."""
        offered = np.eye(35, dtype=np.int8)[np.maximum(view.offered, view.drawn)][:, :34]  # -1 is the last: no kind
        return {"events": view.recent_events(LENGTH), "hand": np.concatenate([view.hand, offered], axis=1)}

    def scores(self, inputs) -> Tensor:
        """Return [n, 109] logits of all actions."""
        event, slot, kind, detail, giver = inputs.per_decision["events"].int().unbind(dim=2)
        # The fourth number of an event is a claimed kind; of a discard, it says whether the tile had just been drawn.
        detail = torch.where(event == Event.DISCARD, detail + NUM_ALL_KINDS + 2, detail + 1)
        tokens = self.event(event) + self.slot(slot + 1) + self.kind(kind + 1) + self.detail(detail)
        tokens = tokens + self.giver(giver + 1)
        length = (event > 0).sum(dim=1)
        # A sequence ends with its last event, not with the padding behind it; an empty one has one padding token.
        packed = pack_padded_sequence(tokens, length.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        _, memory = self.gru(packed)
        hand = torch.relu(self.hand(inputs.per_decision["hand"].float()))
        return self.out(torch.cat([hand, memory[0]], dim=1))
