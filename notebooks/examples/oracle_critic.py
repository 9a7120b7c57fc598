"""A critic with sight: how much of a hand's result does it foresee? `python notebooks/examples/oracle_critic.py hebei`.

Two critics learn from the same games of greedy players what a seat will still be paid in the hand. One is shown what
the seat sees; the other is shown the privileged planes as well (without the order of the wall, which is luck). In an
actor-critic, the second critic takes noise off the advantages, while the actor still sees only what a player may. This
is called oracle guiding.
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from mahjong_agents import make_agent
from mahjong_env import PRIVILEGED_PIECES, make_engine

PLANES = sum(piece.planes for piece in PRIVILEGED_PIECES if piece.name != "wall_order")


def play(variant: str, hands: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what seats saw [n, C, 34] and could not see [n, C', 34], and what they were still paid [n], in sigma."""
    engine, rng = make_engine(variant, hands, seed=seed), np.random.default_rng(seed)
    agent, seen, hidden, game, person, paid = make_agent("greedy"), [], [], [], [], []
    so_far = np.zeros((hands, engine.num_people), np.int64)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        keep = live[rng.random(len(live)) < 0.1]  # decisions of one hand are much alike
        seen.append(engine.observe(keep))
        hidden.append(engine.observe(keep, privileged=True)[:, :PLANES])
        game.append(keep)
        person.append(engine.seat_to_act[keep])
        paid.append(so_far[keep, person[-1]])
        so_far[live] += engine.step(agent.act(engine.view(live), rng), games=live).rewards
    game, person = np.concatenate(game), np.concatenate(person)
    returns = (so_far[game, person] - np.concatenate(paid)) / engine.rules.sigma
    return np.concatenate(seen), np.concatenate(hidden), returns.astype(np.float32)


def explained(inputs: tuple[np.ndarray, np.ndarray], returns: tuple[np.ndarray, np.ndarray], epochs: int = 6) -> float:
    """Learn on the first arrays, and return the share of variance explained on the second ones."""
    torch.manual_seed(0)
    flat = [torch.from_numpy(part.reshape(len(part), -1)).float() / 4 for part in inputs]
    wanted = [torch.from_numpy(part) for part in returns]
    critic = torch.nn.Sequential(torch.nn.Linear(flat[0].shape[1], 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))
    optimiser = torch.optim.Adam(critic.parameters(), lr=3e-4, weight_decay=1e-4)
    for _ in range(epochs):
        for rows in torch.randperm(len(flat[0])).split(512):
            loss = (critic(flat[0][rows])[:, 0] - wanted[0][rows]).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    with torch.inference_mode():
        missed = wanted[1] - critic(flat[1])[:, 0]
    return float(1 - missed.var() / wanted[1].var())


def main(variant: str, hands: int = 6000) -> tuple[float, float]:
    torch.set_num_threads(1)
    seen, hidden, returns = zip(play(variant, hands, 1), play(variant, hands // 2, 2), strict=True)
    both = tuple(np.concatenate(part, axis=1) for part in zip(seen, hidden, strict=True))
    blind, sighted = explained(seen, returns), explained(both, returns)
    print(
        f"{variant}: of the returns' variance the critic explains {100 * blind:.1f} %, with sight {100 * sighted:.1f} %"
    )
    return blind, sighted


if __name__ == "__main__":
    main(sys.argv[1])
