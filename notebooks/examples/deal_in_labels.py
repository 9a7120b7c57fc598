"""Who would win on which discard? Labels for models of danger: `python notebooks/examples/deal_in_labels.py hebei 200`.

Every legal discard of every position is made in a copy of the game, and the engine says who may then win. So the labels
hold under all rules of the variant. The script prints how often a discard deals in, and how often it completes a hand
at all.
"""

from __future__ import annotations

import sys

import numpy as np

from mahjong_agents import make_agent
from mahjong_env import Engine, make_engine
from mahjong_env.engine.claim_rules import MAY_WIN
from mahjong_env.state.arrays import SLOT_OF_OFFSET, Phase

KINDS = 34


def deal_ins(engine: Engine, games: np.ndarray) -> np.ndarray:
    """Return [n, 4, 34] bool: which slots could win on which discard of the seats to act, all in their turn."""
    found = np.zeros((len(games), 4, KINDS), np.bool_)
    seats = engine.num_seats
    for kind in range(KINDS):
        row = np.flatnonzero(engine.action_mask[games, kind])
        if not row.size:
            continue
        copies = engine.select(games[row])
        actor = copies.state.actor.copy()
        copies.auto_reset = False
        copies.step(np.full(len(row), kind))
        options = copies.state.options * (copies.state.phase == Phase.CLAIM)[:, None]
        at, seat = np.nonzero(options & MAY_WIN)
        found[row[at], SLOT_OF_OFFSET[seats][(seat - actor[at]) % seats], kind] = True
    return found


def main(variant: str, games: int) -> None:
    engine, rng, agent = make_engine(variant, games, seed=1), np.random.default_rng(1), make_agent("greedy")
    discards = dealt_in = waited_for = 0
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view = engine.view(live)
        in_turn = live[(view.phase == Phase.TURN)]
        if in_turn.size:
            legal = engine.action_mask[in_turn, :KINDS]
            discards += legal.sum()
            dealt_in += (deal_ins(engine, in_turn).any(axis=1) & legal).sum()
            waited_for += (engine.hidden(in_turn).waits[:, 1:].any(axis=1) & legal).sum()
        engine.step(agent.act(view, rng), games=live)
    print(
        f"{variant}: {discards:,} legal discards; {100 * dealt_in / discards:.2f} % deal in, "
        f"{100 * waited_for / discards:.2f} % complete somebody's hand"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
