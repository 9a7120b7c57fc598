"""How likely a discard is to be won on, from what everybody can see.

A logistic model of the chance that one certain opponent wins with a discard. It was fitted to a million discards of
greedy players in Hebei, Taiwan and Fuzhou; its coefficients hardly differ between them. What tells most: a kind that
somebody has thrown since the opponent's own last discard is safe, because he let it go by and his hand is still the same.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import View
from mahjong_env.hands.codes import FIRST_HONOUR, NUM_KINDS, RANKS

_CONSTANT: Final = -9.8
_DRAWN: Final = 15.7  # share of the wall that has been drawn
_DRAWN_SQUARED: Final = -9.3
_MELD: Final = 0.43  # each meld of the opponent
_SAFE: Final = -6.3  # thrown since the opponent's last discard
_THROWN_BY_HIM: Final = -2.4
_THROWN: Final = -0.75
_DEAD_HONOUR: Final = -6.0  # one left at most: no pair of it can be completed
_RANK = np.arange(NUM_KINDS) % RANKS
_IS_HONOUR = np.arange(NUM_KINDS) >= FIRST_HONOUR
_FROM_EDGE = np.minimum(_RANK, RANKS - 1 - _RANK)
_BY_KIND = np.where(_IS_HONOUR, -1.3, np.select([_FROM_EDGE == 0, _FROM_EDGE >= 2], [-0.35, 0.25]))


def drawn_share(view: View) -> NDArray[np.float64]:
    """Return [n] the share of the wall that has been drawn, 0 to 1."""
    rules = view.rules
    drawable = rules.deck.sum() - rules.reserve - rules.seats * rules.hand_size
    return np.clip(1 - view.left / drawable, 0, 1)


def danger(view: View) -> NDArray[np.float64]:
    """Return [n, 34] the chance that a discard of each kind is won on by somebody."""
    drawn = drawn_share(view)[:, None]
    dead_honour = _IS_HONOUR & (view.unseen <= 1)
    thrown = view.latest.max(axis=1)
    common = _CONSTANT + _DRAWN * drawn + _DRAWN_SQUARED * drawn**2
    common = common + _BY_KIND + _DEAD_HONOUR * dead_honour + _THROWN * (thrown > 0)
    lets_go = np.ones(view.unseen.shape)
    for slot in (1, 2, 3) if view.rules.seats == 4 else (1, 3):
        own = view.latest[:, slot]
        last = own.max(axis=1)[:, None]
        logit = common + _MELD * view.num_melds[:, slot, None] + _THROWN_BY_HIM * (own > 0)
        logit = logit + _SAFE * ((thrown > 0) & (thrown >= last))
        lets_go *= 1 - 1 / (1 + np.exp(-logit))
    return 1 - lets_go
