"""Count how near to a win hands are, by turns and melds, for search.

Run as ``python -m mahjong_training.fitting.opponent_hands``.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import reference_agent
from mahjong_agents.search.opponent_hands import COUNTS_PATH
from mahjong_env import VARIANTS, Rules, make_engine
from mahjong_env.cli.terminal import as_long_as_read
from mahjong_env.engine.opponent_hands import distances_of_hands
from mahjong_training.runtime.folders import check_file, write_bytes
from mahjong_training.runtime.interrupts import status_of
from mahjong_training.runtime.sizes import check_counts, check_seed
from mahjong_training.seeds import training_seed

_GAMES: Final = 1024
_TURNS, _MELDS, _DISTANCES = 25, 6, 10


@dataclass(frozen=True, kw_only=True)
class OpponentHandsConfig:
    """Count the distances from a win of the reference agent's hands, in every variant."""

    hands: int = 4096
    """Hands for each variant."""
    seed: int = 0
    """Of the deals and choices."""
    out: Path = COUNTS_PATH
    """File for the counts."""


def count(rules: Rules, *, hands: int, seed: int) -> NDArray[np.int64]:
    """Count the opponents' hands at each turn: [25, 6, 10] by discards, melds and tiles short."""
    policy, counts = reference_agent(rules), np.zeros((_TURNS, _MELDS, _DISTANCES), np.int64)
    most = np.array(counts.shape) - 1
    for part in range(-(-hands // _GAMES)):
        rng = np.random.default_rng([seed, part])
        engine, live = make_engine(rules, _GAMES, seed=training_seed(seed, part)), np.arange(_GAMES)
        while live.size:
            view = engine.view(games=live)
            in_turn = view.action_mask[:, :34].any(axis=1) & (view.num_discards > 0)
            games = live[in_turn]
            seats, state = np.arange(rules.seats), engine.state
            game, seat = np.nonzero(state.turn[games][:, None] != seats)
            game = games[game]
            found = [
                state.river_size[game, seat],
                state.num_melds[game, seat],
                distances_of_hands(state, rules, game, seat),
            ]
            np.add.at(counts, tuple(np.minimum(np.stack(found, axis=1), most).T), 1)
            result = engine.step(policy.act(view, rng), games=live)
            live = live[~result.done]
    return counts


def run(config: OpponentHandsConfig) -> None:
    """Count for every variant, and write.

    Raises:
        MahjongError: settings that cannot be used.
    """
    check_counts(hands=config.hands)
    check_seed(config.seed)
    check_file(config.out)
    counts: dict[str, Any] = {}
    for name, rules in VARIANTS.items():
        counts[name] = count(rules, hands=config.hands, seed=config.seed).astype(np.uint32)
        print(f"{rules.title}: {counts[name].sum():,} hands seen")
    data = io.BytesIO()
    np.savez_compressed(data, **counts)
    write_bytes(config.out, data.getvalue())


def main() -> int:
    """Run the command line."""
    import tyro

    settings = partial(
        tyro.cli, OpponentHandsConfig, prog="python -m mahjong_training.fitting.opponent_hands", description=__doc__
    )
    return as_long_as_read(lambda: status_of(lambda: run(settings())))


if __name__ == "__main__":
    sys.exit(main())
