"""The agent that comes nearer to a win with every action, whatever the win is worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.lookahead import CHOW, CONCEALED_KONG, FAR, KONG, PUNG, WIN, Lookahead, look_ahead
from mahjong_env import ACTIONS, View

# At the same distance a kong, which brings a tile more, comes before discards and passes, and these before
# other claims.
_RANK = np.full(len(ACTIONS), 1, np.int32)
_RANK[CONCEALED_KONG:CHOW] = _RANK[KONG] = 0
_RANK[CHOW : PUNG + 1] = 2
_RANKS: Final = 3
_MOST_HELP: Final = 200  # more than the tiles of any set
_HAS_WON: Final = -1
_NEVER: Final = (FAR + 1) * _RANKS * _MOST_HELP


class GreedyAgent:
    """Fewest tiles from a win, then most unseen tiles that help; the rest is chance.

    It always wins when it may, claims a chow or pung only if that lowers the distance, and declares a kong unless that
    raises it. It sees neither what a hand is worth nor what the others may be waiting for. See `agents.lookahead` for
    what it takes for a win.

    Attributes:
        name: "greedy", or "closed greedy" if it does not claim.
    """

    def __init__(self, *, claims: bool = True) -> None:
        """Choose the manner.

        Args:
            claims: False: it never claims a tile but to win, so that its hand stays closed.
        """
        self.name = "greedy" if claims else "closed greedy"
        self._claims = claims

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Choose the nearest way; see `agents.Agent.act`."""
        best = best_actions(view, look_ahead(view), claims=self._claims)
        return _one_of(best, rng)


def _one_of(best: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return one of the best in each row; a number for every action is drawn, so that seeds keep giving their games."""
    lots = rng.random(best.shape, np.float32)
    lots[~best] = -1.0
    return lots.argmax(axis=1)


def best_actions(view: View, ahead: Lookahead, *, claims: bool = True) -> NDArray[np.bool_]:
    """Return [n, 109] bool the actions between which `GreedyAgent` sees no difference."""
    cost = (ahead.distance.astype(np.int32) * _RANKS + _RANK) * _MOST_HELP - ahead.help
    cost[:, WIN] = _HAS_WON
    if not claims:
        cost[:, CHOW : KONG + 1] = _NEVER
    cost[~view.action_mask] = _NEVER
    best: NDArray[np.bool_] = cost == cost.min(axis=1, keepdims=True)
    return best
