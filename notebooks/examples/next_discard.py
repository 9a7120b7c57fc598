"""Does the sequence help? Guess greedy's next discard: `python notebooks/examples/next_discard.py hebei 200`.

The seat before a greedy player guesses that player's next discard. It does so with two networks of the same class and
size. One reads the events of the hand in their order, and which discards had just been drawn; the other sees the events
as a set. Both know the guesser's own hand and what lies where. They are compared on one hand in five, which is held
out; docs/research/learning.md has a result.
"""

import sys

import numpy as np
import torch
from torch import Tensor, nn

from mahjong_agents import make_agent
from mahjong_env import EVENTS, View, make_engine
from mahjong_env.state.arrays import Event, Phase
from mahjong_training.evaluation.estimates import ratio

KINDS, LENGTH, COUNTS = 34, 96, 340  # kinds that are discarded; most events; numbers that have no order


def what_is_seen(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return [n, 340] int8 what has no order, and [n, 96, 4] int8 events: type, slot, kind + 1, just drawn + 1."""
    events = view.recent_events(2 * LENGTH)
    events[events[..., 0] == Event.DRAW] = 0  # draws go without saying: the other events move forward
    order = np.argsort(events[..., 0] == 0, axis=1, kind="stable")[:, :LENGTH, None]
    events = np.take_along_axis(events[..., :4], order, axis=1)
    events[..., 2] += 1
    events[..., 3] = np.where(events[..., 0] == Event.DISCARD, events[..., 3] + 1, 0)
    planes = np.concatenate([view.unseen[:, None], view.hand[:, None], view.discards, view.melded], axis=1)
    return planes.reshape(len(view), COUNTS), events


def positions(variant: str, hands: int, seed: int = 1) -> list[np.ndarray]:
    """Play greedy hands; for every discard return its hand, its kind, and what the seat before the player saw."""
    engine, rng, agent = make_engine(variant, hands, seed=seed), np.random.default_rng(seed), make_agent("greedy")
    found = []
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(live)
        action = agent.act(view, rng)
        at = np.flatnonzero((view.phase == Phase.TURN) & (action < KINDS))
        found.append((live[at], action[at], *what_is_seen(engine.view(live[at], view.person[at, 3]))))
        engine.step(action, games=live)
    return [np.concatenate(column) for column in zip(*found, strict=True)]


class Guess(nn.Module):
    """Attends to the events of a hand; with ``ordered=False`` as a set, with the same number of weights."""

    def __init__(self, *, ordered: bool, width: int = 64) -> None:
        super().__init__()
        self.ordered = ordered
        self.counts = nn.Sequential(nn.Linear(COUNTS, width), nn.ReLU(), nn.Linear(width, width))
        self.event, self.slot = nn.Embedding(len(EVENTS), width), nn.Embedding(4, width)
        self.kind, self.drawn, self.age = nn.Embedding(KINDS + 9, width), nn.Embedding(3, width), nn.Linear(2, width)
        self.layer = nn.TransformerEncoderLayer(width, 2, 2 * width, dropout=0, batch_first=True, norm_first=True)
        self.out = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, KINDS))

    def forward(self, counts: Tensor, events: Tensor) -> Tensor:
        event, slot, kind, drawn = events.int().unbind(dim=2)
        exists, known = event > 0, self.counts(counts.float() / 2)
        tokens = self.event(event) + self.slot(slot.clamp(min=0)) + self.kind(kind)
        if self.ordered:
            age = exists.flip(1).cumsum(1).flip(1).float()[..., None]  # 1: the last event
            tokens = tokens + self.drawn(drawn) + self.age(torch.cat([age / 10, age.clamp(min=1).log()], dim=2))
        tokens = torch.cat([known[:, None], tokens], dim=1)
        read = self.layer(tokens, src_key_padding_mask=nn.functional.pad(~exists, (1, 0)))[:, 0]
        return self.out(torch.cat([known, read], dim=1)).masked_fill(counts[:, :KINDS] == 0, -1e9)


def batches(data: list[np.ndarray], size: int, rng: np.random.Generator):
    """Yield rows, and tensors of their discards, counts and events; sequences of similar length share a batch."""
    length = (data[3][..., 0] > 0).sum(axis=1)
    order = np.argsort(length + rng.random(len(length)), kind="stable")
    for start in rng.permutation(np.arange(0, len(order), size)):
        rows = order[start : start + size]
        discard, counts, events = (torch.from_numpy(column[rows]) for column in data[1:])
        yield rows, discard, counts, events[:, : max(1, length[rows].max())]


def learn(data: list[np.ndarray], *, ordered: bool, seed: int, epochs: int = 2, width: int = 64) -> Guess:
    """Fit a network; both kinds of network see the same batches in the same order."""
    torch.manual_seed(seed)
    network, rng = Guess(ordered=ordered, width=width), np.random.default_rng(seed)
    optimiser, steps = torch.optim.Adam(network.parameters(), lr=2e-3), epochs * -(-len(data[0]) // 512)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    for _, discard, counts, events in (batch for _ in range(epochs) for batch in batches(data, 512, rng)):
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(counts, events), discard).backward()
        optimiser.step()
        schedule.step()
    return network


def main(variant: str, hands: int, seeds: int = 3, **sizes: int) -> dict[str, float]:
    """Print how good every guess is on the held-out hands; return the log losses by name."""
    data = positions(variant, hands)
    known, new = ([column[(data[0] % 5 == 0) == is_kept] for column in data] for is_kept in (False, True))
    unseen, often = new[2][:, :KINDS] > 0, np.bincount(known[1], minlength=KINDS)
    at, hand = np.arange(len(unseen)), np.unique(new[0], return_inverse=True)[1]
    weights = {"any kind unseen": unseen.astype(float), "as often as greedy discards it": unseen * (often + 1e-9)}
    found = {name: [np.log(np.maximum(one, 1e-9) / one.sum(1, keepdims=True))] for name, one in weights.items()}
    for name, ordered in (("as a set", False), ("in order", True)):
        found[name] = [np.empty((len(at), KINDS), np.float32) for _ in range(seeds)]
        for seed, guesses in enumerate(found[name]):
            network = learn(known, ordered=ordered, seed=seed, **sizes)
            for rows, _, counts, events in batches(new, 1024, np.random.default_rng(0)):
                guesses[rows] = network(counts, events).log_softmax(dim=1).detach().numpy()
    losses = {name: np.array([-one[at, new[1]] for one in several]) for name, several in found.items()}
    hits = {name: np.array([one.argmax(1) == new[1] for one in several], float) for name, several in found.items()}
    for what, scores in (("log loss", losses), ("right", hits)):
        for name, values in (scores | {"in order less as a set": scores["in order"] - scores["as a set"]}).items():
            one, *seeds_of = (ratio(np.bincount(hand, each), np.bincount(hand)) for each in (values.mean(0), *values))
            print(f"{what}, {name}: {one.text(4)}; seeds {', '.join(each.text(4) for each in seeds_of)}")
    return {name: float(loss.mean()) for name, loss in losses.items()}


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
