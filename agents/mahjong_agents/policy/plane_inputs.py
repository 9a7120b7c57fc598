"""What a network over planes is shown: the observation, and how each action would change the distance to a win.

Numpy only, and the same for every variant; `mahjong_agents.policy.plane_network` turns these small integers into
floating-point numbers.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, NUM_ACTIONS, OBSERVATION_FACTS, OBSERVATION_PIECES, OBSERVATION_VERSION, View
from mahjong_env.basics.actions import CHOW_LOW
from mahjong_env.observation.acceptance import FAR, Lookahead

# Names of things (kinds in rivers and melds) are not amounts that a network could weigh; what lies there is counted by
# kind in `table`. Which discards and kongs are legal is known from the other inputs, which claims are is added to them.
PIECES: Final = tuple(piece for piece in OBSERVATION_PIECES if not piece.is_code and piece.name != "legal_actions")
"""The pieces of the observation that are inputs, in order."""

_PLANES: Final = np.repeat([piece in PIECES for piece in OBSERVATION_PIECES], [p.planes for p in OBSERVATION_PIECES])
OBSERVATION_SIZE: Final = int(_PLANES.sum()) * 34 + NUM_ACTIONS - CHOW_LOW
"""The numbers of these pieces, and of the claims."""
SIZE: Final = OBSERVATION_SIZE + 2 * NUM_ACTIONS + 1
"""F, the length of one row of inputs."""

INPUTS_VERSION: Final = 2
"""Raised when the meaning of the inputs changes, so that older policy files are refused."""

BEHIND_LIMIT: Final = 4
"""Actions that leave the hand this many tiles or more behind the best action look alike."""
NEAREST_LIMIT: Final = 8
_HELP_LIMIT: Final = 120


def policy_inputs(view: View, ahead: Lookahead) -> NDArray[np.int8]:
    """Put the inputs of a network together.

    Args:
        view: what n seats see.
        ahead: `mahjong_agents.look_ahead` of the same view.

    Returns:
        [n, F] int8, a fresh array: the planes of `PIECES` one after another; 1 at each legal claim, win and pass;
        for each action how many tiles further from a win it leaves the hand than the best action does (0 to
        `BEHIND_LIMIT`); for each action the tiles not seen yet that would help after it; the distance that the best
        action leaves.
    """
    nearest = ahead.distance.min(axis=1, keepdims=True)
    behind = np.minimum(ahead.distance - nearest, BEHIND_LIMIT)
    behind[ahead.distance == FAR] = BEHIND_LIMIT
    help_ = np.minimum(ahead.help, _HELP_LIMIT).astype(np.int8)
    observation = view.observation[:, _PLANES].reshape(len(view), -1)
    claims = view.action_mask[:, CHOW_LOW:]
    return np.concatenate([observation, claims, behind, help_, np.minimum(nearest, NEAREST_LIMIT)], axis=1)


def inputs_fingerprint() -> str:
    """Return a short text that changes whenever the layout of the inputs does: planes, actions, or this module."""
    pieces = [(piece.name, piece.planes, piece.scale) for piece in PIECES]
    facts = [fact.name for fact in OBSERVATION_FACTS]
    layout = repr((OBSERVATION_VERSION, INPUTS_VERSION, pieces, facts, ACTIONS)).encode()
    return hashlib.sha256(layout).hexdigest()[:16]
