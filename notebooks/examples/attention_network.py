"""A network with attention over the discards in their order, to be trained by self-play:

    mahjong-env train --variant hebei --network notebooks/examples/attention_network.py:Attention
    mahjong-env evaluate --variant hebei --agents greedy \
        "policy:hebei?network=notebooks/examples/attention_network.py:Attention"

Each legal action asks the discards of all slots which of them matter to it. What is known of the action and of the
table are the strong inputs of the small network; see docs/rewards_and_features.md.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from mahjong_agents.policy.inputs import Inputs, action_inputs
from mahjong_agents.policy.network import FACT_SCALES, prior, table_scales

KINDS = 69  # 0: nothing there; 1 to 34: a discard; 35 to 68: one that was claimed


class Attention(nn.Module):
    """Scores legal actions by their facts, the table, and the discards that they attend to."""

    def __init__(self, width: int = 32, heads: int = 2) -> None:
        """Build a network that plays like greedy: behind the prior everything begins at zero."""
        super().__init__()
        self.register_buffer("fact_scales", torch.from_numpy(FACT_SCALES.copy()))
        self.register_buffer("table_scales", torch.from_numpy(table_scales().copy()))
        self.kind, self.slot = nn.Embedding(KINDS, width), nn.Embedding(4, width)
        self.age = nn.Linear(1, width)
        self.query = nn.Linear(len(FACT_SCALES), width)
        self.table = nn.Linear(len(table_scales()), width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.out = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, 1))
        nn.init.zeros_(self.out[2].weight)
        nn.init.zeros_(self.out[2].bias)
        self.prior = nn.Parameter(torch.from_numpy(prior(claims=True)))

    def inputs(self, view) -> Inputs:
        """Return the strong inputs and [n, 4, R] the discards of each slot in their order."""
        inputs = action_inputs(view)
        return replace(inputs, per_decision={**inputs.per_decision, "river": view.river})

    def scores(self, inputs: Inputs) -> Tensor:
        """Return [m] logits of the legal actions."""
        facts = inputs.per_action["facts"].float() * self.fact_scales
        table = torch.relu(self.table(inputs.per_decision["table"].float() * self.table_scales))
        river = inputs.per_decision["river"].long()
        n, slots, length = river.shape
        count = (river > 0).sum(dim=2, keepdim=True)
        age = (count - torch.arange(length, device=river.device)).float() / 10  # discards since then, of this slot
        owner = torch.arange(slots, device=river.device)[None, :, None].expand_as(river)
        tokens = self.kind(river) + self.slot(owner) + self.age(age[..., None])
        # The first token is the table, so that there is something to attend to before the first discard.
        tokens = torch.cat([table[:, None], tokens.flatten(1, 2)], dim=1)
        is_empty = torch.cat([torch.zeros_like(river[:, 0, :1]), river.flatten(1) == 0], dim=1).bool()
        # The legal actions of a decision beside each other: [n, most, width]; what is left over is asked for nothing.
        first = torch.searchsorted(inputs.row, torch.arange(n, device=river.device))
        column = torch.arange(len(inputs.row), device=river.device) - first[inputs.row]
        queries = facts.new_zeros(n, int(column.max()) + 1, self.query.out_features)
        queries[inputs.row, column] = self.query(facts)
        found, _ = self.attention(queries, tokens, tokens, key_padding_mask=is_empty, need_weights=False)
        known = torch.cat([self.query(facts), found[inputs.row, column], table[inputs.row]], dim=1)
        return self.out(known)[:, 0] + facts @ self.prior
