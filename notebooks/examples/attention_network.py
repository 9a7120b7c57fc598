"""A network with memory, attention over the events of the hand. Train it by self-play, then measure it:

    mahjong-env train --variant hebei --network notebooks/examples/attention_network.py:Attention
    mahjong-env evaluate --variant hebei --agents greedy \
        "policy:runs/hebei/best.zip?network=notebooks/examples/attention_network.py:Attention"

Each legal action attends to everything that has happened (`view.events`: draws, discards and whether they had just been
drawn, claims, kongs, flowers). The action itself and the table are described by the strong inputs of the small network;
see docs/rewards_and_features.md.

The memory is the hand so far, and a view holds all of it. Nothing is carried from one decision to the next, so
decisions can be shuffled, and batched on any device.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from mahjong_agents.policy.inputs import Inputs, action_inputs
from mahjong_agents.policy.network import FACT_SCALES, prior, table_scales
from mahjong_env import EVENTS
from mahjong_env.basics.tiles import NUM_ALL_KINDS
from mahjong_env.state.arrays import Event

LENGTH = 96  # events that are read, the latest ones; few hands have more in Fuzhou, most have in MCR


class Attention(nn.Module):
    """Scores legal actions by their facts, the table, and the events that they attend to."""

    def __init__(self, width: int = 32, heads: int = 2) -> None:
        """Build a network that plays like greedy: everything that is added to the prior begins at zero."""
        super().__init__()
        self.register_buffer("fact_scales", torch.from_numpy(FACT_SCALES.copy()))
        self.register_buffer("table_scales", torch.from_numpy(table_scales().copy()))
        self.event, self.slot, self.giver = (nn.Embedding(size, width) for size in (len(EVENTS), 5, 5))
        self.kind, self.detail = nn.Embedding(NUM_ALL_KINDS + 1, width), nn.Embedding(NUM_ALL_KINDS + 4, width)
        self.age = nn.Linear(2, width)
        self.query = nn.Linear(len(FACT_SCALES), width)
        self.table = nn.Linear(len(table_scales()), width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.out = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, 1))
        nn.init.zeros_(self.out[2].weight)
        nn.init.zeros_(self.out[2].bias)
        self.prior = nn.Parameter(torch.from_numpy(prior(claims=True)))

    def inputs(self, view) -> Inputs:
        """Return the strong inputs, and the last events as [n, 96, 5]; see `mahjong_env.EVENTS`."""
        inputs = action_inputs(view)
        return replace(inputs, per_decision={**inputs.per_decision, "events": view.recent_events(LENGTH)})

    def scores(self, inputs: Inputs) -> Tensor:
        """Return [m] logits of the legal actions."""
        facts = inputs.per_action["facts"].float() * self.fact_scales
        table = torch.relu(self.table(inputs.per_decision["table"].float() * self.table_scales))
        event, slot, kind, detail, giver = inputs.per_decision["events"].int().unbind(dim=2)
        n, length = event.shape
        # The fourth number of an event is a claimed kind; of a discard, it says whether the tile had just been drawn.
        detail = torch.where(event == Event.DISCARD, detail + NUM_ALL_KINDS + 2, detail + 1)
        is_empty = event == 0
        age = (~is_empty).sum(dim=1, keepdim=True) - torch.arange(length, device=event.device)  # 1: the last event
        age = age.clamp(min=1).float()[..., None]
        tokens = self.event(event) + self.slot(slot + 1) + self.kind(kind + 1) + self.detail(detail)
        tokens = tokens + self.giver(giver + 1) + self.age(torch.cat([age / 10, age.log()], dim=2))
        # The first token is the table, so that there is something to attend to before the first event.
        tokens = torch.cat([table[:, None], tokens], dim=1)
        is_empty = torch.cat([torch.zeros_like(is_empty[:, :1]), is_empty], dim=1)
        # The legal actions of a decision side by side: [n, most, width]. Results in the places left over are not used.
        first = torch.searchsorted(inputs.row, torch.arange(n, device=event.device))
        column = torch.arange(len(inputs.row), device=event.device) - first[inputs.row]
        queries = facts.new_zeros(n, int(column.max()) + 1, self.query.out_features)
        queries[inputs.row, column] = self.query(facts)
        found, _ = self.attention(queries, tokens, tokens, key_padding_mask=is_empty, need_weights=False)
        known = torch.cat([self.query(facts), found[inputs.row, column], table[inputs.row]], dim=1)
        return self.out(known)[:, 0] + facts @ self.prior
