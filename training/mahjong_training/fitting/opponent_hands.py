"""``mahjong-env fit-opponent-hands``: count the distances of hands from a win, by turns and melds, for search."""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents.greedy import reference_agent
from mahjong_agents.search.opponent_hands import COUNTS_PATH
from mahjong_env import VARIANTS, Engine, Rules, make_engine
from mahjong_env.engine.opponent_hands import distances_of_hands
from mahjong_env.environments.agents import play_to_end
from mahjong_training.config import OpponentHandsConfig
from mahjong_training.runtime.folders import check_file, write_bytes
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.seeds import training_seed

_GAMES: Final = 1024
_TURNS, _MELDS, _DISTANCES = 25, 6, 10


def count(rules: Rules, *, hands: int, seed: int) -> NDArray[np.int64]:
    """Count the opponents' hands at each turn: [25, 6, 10] by discards, melds and tiles short."""
    counts = np.zeros((_TURNS, _MELDS, _DISTANCES), np.int64)
    for part in range(-(-hands // _GAMES)):
        engine = make_engine(rules, _GAMES, seed=training_seed(seed, part))
        _count(engine, np.random.default_rng([seed, part]), counts)
    return counts


def _count(engine: Engine, rng: np.random.Generator, counts: NDArray[np.int64]) -> None:
    """Play games to their end, and add what is counted to `counts`."""
    rules, state = engine.rules, engine.state
    policy, seats, most = reference_agent(rules), np.arange(rules.seats), np.array(counts.shape) - 1

    def choose(live: NDArray[np.intp], _: NDArray[np.int8]) -> NDArray[np.int64]:
        view = engine.view(games=live)
        games = live[view.action_mask[:, :34].any(axis=1) & (view.num_discards > 0)]
        game, seat = np.nonzero(state.turn[games][:, None] != seats)
        game = games[game]
        found = [
            state.river_size[game, seat],
            state.num_melds[game, seat],
            distances_of_hands(state, rules, game, seat),
        ]
        np.add.at(counts, tuple(np.minimum(np.stack(found, axis=1), most).T), 1)
        return policy.act(view, rng)

    for _ in play_to_end(engine, choose):
        pass


def run(config: OpponentHandsConfig) -> None:
    """Count for every variant, and write.

    Raises:
        MahjongError: settings that cannot be used.
    """
    check_counts(hands=config.hands)
    check_seed(config.seed)
    out = config.out or COUNTS_PATH
    check_file(out)
    counts: dict[str, Any] = {}
    for name, rules in VARIANTS.items():
        counts[name] = count(rules, hands=config.hands, seed=config.seed).astype(np.uint32)
        print(f"{rules.title}: {counts[name].sum():,} hands seen")
    data = io.BytesIO()
    np.savez_compressed(data, **counts)
    write_bytes(out, data.getvalue())
