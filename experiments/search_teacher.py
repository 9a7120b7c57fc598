"""Test search as a teacher of the policy.

Run, for instance, `python -m experiments.search_teacher hebei --decisions 20000 --out runs/search-teacher`. Copies of
the shipped policy play, and draw each action. Where the policy has more than one likely action, search estimates what
each of them gains over the likeliest, on two independent halves of the worlds. The same network, which starts as the
policy, then moves its probabilities towards the actions that gain most. Decisions of other hands test whether it has
learned this. Search results are kept in --out; after an interruption, run the same command again to continue.
"""

from __future__ import annotations

import argparse
import copy
import io
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from mahjong_agents.control_variates import useful_weights
from mahjong_agents.policy.agent import shipped_policy
from mahjong_agents.policy.critic import shipped_critic
from mahjong_agents.policy.file import PolicyFile, find_policy
from mahjong_agents.policy.inputs import Inputs
from mahjong_agents.policy.network import draw, greatest_of_rows
from mahjong_agents.search.agent import NO_PLAN, SearchAgent, candidates, play_out
from mahjong_env import VARIANTS, Rules, make_engine
from mahjong_env.basics.actions import WIN
from mahjong_training.evaluation.estimates import ratio
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.ppo import Actor, log_softmax
from mahjong_training.runtime.cache import key_of
from mahjong_training.runtime.folders import write_bytes

SEED = 71_000
HANDS = 256  # hands that are played at the same time, and kept together
AT_ONCE = 24  # decisions that are searched at the same time
ACTIONS = 4
BATCH = 512
PARTS = (0.6, 0.8)  # where the hands are divided: to learn from, to choose when to stop, to test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--worlds", type=int, default=64)
    parser.add_argument("--likely", type=float, default=0.02, help="the least probability of an action that is tried")
    parser.add_argument("--horizon", type=int, default=4)
    parser.add_argument("--temperatures", type=float, nargs="*", default=[0.3, 0.1, 0.03], help="sigma")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("runs/search-teacher"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rules = VARIANTS[arguments.variant]
    searched = collect(rules, arguments)
    learn(rules, searched, arguments)


# --- Search ------------------------------------------------------------------------------------------------------
def collect(rules: Rules, arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    """Search until there are enough decisions, and read those that have been searched already."""
    parts: list[dict[str, np.ndarray]] = []
    found = 0
    while found < arguments.decisions:
        how = key_of([SEED, HANDS, ACTIONS, arguments.worlds, arguments.likely, arguments.horizon])
        path = arguments.out / f"{rules.name}-{how[:12]}-{len(parts)}.npz"
        if not path.exists():
            begun = time.process_time()
            part = search_hands(rules, len(parts), arguments)
            data = io.BytesIO()
            np.savez_compressed(data, **part)
            write_bytes(path, data.getvalue())
            seconds = time.process_time() - begun
            print(f"{path.name}: {len(part['chosen']):,} of {part['played']:,} decisions, {seconds:.0f} s", flush=True)
        with np.load(path) as arrays:
            parts.append(dict(arrays))
        found += len(parts[-1]["chosen"])
    return joined(parts)


def search_hands(rules: Rules, number: int, arguments: argparse.Namespace) -> dict[str, np.ndarray]:
    """Play some hands, and search the decisions of which the policy is not sure."""
    policy = shipped_policy(rules)
    search = SearchAgent(base=policy)
    rng = np.random.default_rng([SEED, number])
    engine = make_engine(rules, HANDS, seed=SEED + number)
    unit, worth = sigma(rules), (useful_weights(rules), None, shipped_critic(rules), arguments.horizon)
    live = np.arange(HANDS)
    kept: list[dict[str, np.ndarray]] = []
    played = 0
    while live.size:
        view = engine.view(games=live)
        usual, inputs = policy.decide(view, rng)
        scores = policy.network.scores(inputs)
        tried = candidates(view, usual, policy, ACTIONS, 0, rng, arguments.likely)
        doubtful = np.flatnonzero((np.bincount(tried.row, minlength=len(view)) > 1) & ~view.action_mask[:, WIN])
        played += int((view.action_mask.sum(axis=1) > 1).sum())
        for some in np.array_split(doubtful, -(-len(doubtful) // AT_ONCE)) if doubtful.size else ():
            asked = view.take(some)
            tried = candidates(asked, usual[some], policy, ACTIONS, 0, rng, arguments.likely)
            world = (tried.row[:, None] * arguments.worlds + np.arange(arguments.worlds)).reshape(-1)
            first, no_plan = np.repeat(tried.action, arguments.worlds), np.full(len(world), NO_PLAN)
            engine_of_worlds = search.copies(asked, arguments.worlds, world, rng)
            brought = play_out(engine_of_worlds, first, no_plan, world, policy, rng, *worth)
            points = brought.reshape(len(tried.row), -1) / unit
            own = tried.action == usual[some][tried.row]
            base = np.zeros((len(some), arguments.worlds))
            base[tried.row[own]] = points[own]
            gain = points - base[tried.row]
            halves = gain.reshape(len(gain), 2, -1).mean(axis=2)
            which = np.isin(inputs.row, some)
            row = np.searchsorted(some, inputs.row[which])
            action = inputs.action[which]
            of_action = np.full((len(action), 2), np.nan)
            at = np.searchsorted(row * 1000 + action, tried.row * 1000 + tried.action)
            of_action[at] = halves
            kept.append(
                {
                    "count": np.bincount(row, minlength=len(some)),
                    "action": action,
                    "facts": inputs.per_action["facts"][which],
                    "table": inputs.per_decision["table"][some],
                    "gain": of_action.astype(np.float32),
                    "chosen": usual[some],
                    "hand": live[some] + HANDS * number,
                }
            )
        drawn = inputs.action[draw(scores, inputs.row, rng)]
        del view
        result = engine.step(drawn, games=live)
        live = live[~result.hand_over & ~result.done]
    return {name: np.concatenate([one[name] for one in kept]) for name in kept[0]} | {"played": np.array(played)}


def joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0] if name != "played"}
    played = sum(int(part["played"]) for part in parts)
    doubted = len(together["chosen"])
    hands = HANDS * len(parts)
    print(f"{doubted:,} of {played:,} decisions of {hands:,} hands were searched, {doubted / hands:.2f} a hand")
    return together


# --- Learning ----------------------------------------------------------------------------------------------------
class Searched:
    """Searched decisions, as tensors."""

    def __init__(self, found: dict[str, np.ndarray], which: np.ndarray) -> None:
        of_action = np.repeat(which, found["count"])
        self.count = torch.from_numpy(found["count"][which])
        self.rows = len(self.count)
        self.first = torch.cumsum(self.count, 0) - self.count
        self.facts = torch.from_numpy(found["facts"][of_action])
        self.table = torch.from_numpy(found["table"][which])
        gain = torch.from_numpy(found["gain"][of_action])
        self.is_tried = ~gain[:, 0].isnan()
        self.gain = torch.nan_to_num(gain)
        self.hand = found["hand"][which]

    def batch(self, some: Tensor) -> tuple[Inputs, Tensor]:
        """Return the inputs of some decisions, and the numbers of their actions among all."""
        number = self.count[some]
        row = torch.repeat_interleave(torch.arange(len(some)), number)
        which = torch.arange(len(row)) + (self.first[some] - (torch.cumsum(number, 0) - number))[row]
        return Inputs(row, which, {"facts": self.facts[which]}, {"table": self.table[some]}), which

    def all(self) -> tuple[Inputs, Tensor]:
        return self.batch(torch.arange(self.rows))


def learn(rules: Rules, found: dict[str, np.ndarray], arguments: argparse.Namespace) -> None:
    torch.manual_seed(0)
    hands = found["hand"].max() + 1
    lot = np.random.default_rng(0).random(hands)[found["hand"]]
    to_learn, to_stop, to_test = (
        Searched(found, part) for part in (lot < PARTS[0], (lot >= PARTS[0]) & (lot < PARTS[1]), lot >= PARTS[1])
    )
    shipped = PolicyFile.read(find_policy(rules.name))
    searched = told(to_test, chosen_by_search(to_test), slice(1, 2))
    print(f"search itself, chosen on one half of its worlds and told by the other: {searched}")
    best = (-np.inf, None, 0.0)
    for temperature in arguments.temperatures:
        actor = Actor(len(shipped.weights["bias"]), claims=True, generator=torch.Generator())
        actor.load_state_dict({name: torch.from_numpy(array) for name, array in shipped.weights.items()})
        before = copy.deepcopy(actor)
        optimiser = torch.optim.Adam(actor.parameters(), lr=3e-4)
        stopped = (value_of(to_stop, actor), copy.deepcopy(actor.state_dict()), 0)
        for epoch in range(arguments.epochs):
            for some in torch.split(torch.randperm(to_learn.rows), BATCH):
                inputs, which = to_learn.batch(some)
                logs = log_softmax(actor.scores(inputs), inputs.row, len(some))
                with torch.no_grad():
                    of_before = log_softmax(before.scores(inputs), inputs.row, len(some))
                shares = logs.exp()
                # Untried actions count as no better than the policy's own, and the divergence holds them in place.
                gained = (shares * to_learn.gain[which].mean(dim=1)).sum() / len(some)
                divergence = (shares * (logs - of_before)).sum() / len(some)
                loss = temperature * divergence - gained
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            value = value_of(to_stop, actor)
            if value > stopped[0]:
                stopped = (value, copy.deepcopy(actor.state_dict()), epoch + 1)
        actor.load_state_dict(stopped[1])
        name = f"temperature {temperature}, stopped after epoch {stopped[2]}"
        print(f"{name}: of what it learned from {told(to_learn, likeliest(to_learn, actor))}")
        print(f"    test: {told(to_test, likeliest(to_test, actor))}")
        if stopped[0] > best[0]:
            best = (stopped[0], stopped[1], temperature)
    weights = {name: array.numpy() for name, array in best[1].items() if name in shipped.weights}
    path = arguments.out / f"{rules.name}.zip"
    training = {**shipped.training, "method": "search as teacher", "temperature": best[2]}
    replace(shipped, weights=weights, training=training).write(path)
    print(f"temperature {best[2]} was best where learning stopped; {path}")


@torch.no_grad()
def likeliest(searched: Searched, actor: Actor) -> Tensor:
    """Return [n] the index of the likeliest action of each decision."""
    inputs, _ = searched.all()
    return torch.from_numpy(greatest_of_rows(actor.scores(inputs).numpy(), inputs.row.numpy()))


def chosen_by_search(searched: Searched) -> Tensor:
    """Return [n] the index of the action that is best in the first half of the worlds."""
    inputs, _ = searched.all()
    gain = torch.where(searched.is_tried, searched.gain[:, 0], -torch.inf)
    return torch.from_numpy(greatest_of_rows(gain.numpy(), inputs.row.numpy()))


def value_of(searched: Searched, actor: Actor) -> float:
    return float(searched.gain[likeliest(searched, actor)].mean())


def told(searched: Searched, chosen: Tensor, halves: slice = slice(0, 2)) -> str:
    """Return as text what choices gain in sigma per decision, by some halves of the worlds, clustered by hand."""
    gain = searched.gain[chosen, halves].mean(dim=1).numpy()
    _, of_hand = np.unique(searched.hand, return_inverse=True)
    found = ratio(np.bincount(of_hand, gain), np.bincount(of_hand).astype(np.float64))
    changed = float((searched.gain[chosen, 0] != 0).float().mean())
    return f"{found.text(4, sign='+')} sigma a decision, {100 * changed:.1f} % of {searched.rows:,} changed"


if __name__ == "__main__":
    main()
