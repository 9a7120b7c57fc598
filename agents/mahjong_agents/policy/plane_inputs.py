"""Inputs of a network over planes: the observation, and how each action would change the distance from a win.

They need only numpy, and are the same for every variant. `mahjong_agents.policy.plane_network` turns these small
integers into floating-point numbers.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import ACTIONS, NUM_ACTIONS, OBSERVATION_FACTS, OBSERVATION_PIECES, OBSERVATION_VERSION, View
from mahjong_env.basics.actions import CHOW_LOW
from mahjong_env.observation.acceptance import FAR, Lookahead

# Codes (kinds in rivers and melds) are not amounts that a network could weigh; `table` counts by kind what lies there.
# Which discards and kongs are legal follows from the other inputs; which claims are legal is added to them.
PIECES: Final = tuple(piece for piece in OBSERVATION_PIECES if not piece.is_code and piece.name != "legal_actions")
"""The pieces of the observation that are inputs, in their order."""

_PLANES: Final = np.repeat([piece in PIECES for piece in OBSERVATION_PIECES], [p.planes for p in OBSERVATION_PIECES])
OBSERVATION_SIZE: Final = int(_PLANES.sum()) * 34 + NUM_ACTIONS - CHOW_LOW
"""How many numbers these pieces and the claims, wins and passes take."""
SIZE: Final = OBSERVATION_SIZE + 2 * NUM_ACTIONS + 1
"""F, the length of one row of inputs."""

INPUTS_VERSION: Final = 2
"""The version of the inputs. Raise it when their meaning changes, so that older policy files are refused."""

BEHIND_LIMIT: Final = 4
"""Actions that leave the hand at least this many tiles behind the best action look alike."""
NEAREST_LIMIT: Final = 8
_HELP_LIMIT: Final = 120


def policy_inputs(view: View, ahead: Lookahead) -> NDArray[np.int8]:
    """Return the inputs of a network over planes.

    Args:
        view: what n seats see.
        ahead: `mahjong_agents.look_ahead` of the same view.

    Returns:
        [n, F] int8, a new array of: the planes of `PIECES` one after another; 1 for each legal claim, win and pass;
        for each action, how many tiles farther from a win it leaves the hand than the best action does (0 to
        `BEHIND_LIMIT`); for each action, the number of unseen tiles that would help after it; the distance that the
        best action leaves.
    """
    nearest = ahead.distance.min(axis=1, keepdims=True)
    behind = np.minimum(ahead.distance - nearest, BEHIND_LIMIT)
    behind[ahead.distance == FAR] = BEHIND_LIMIT
    help_ = np.minimum(ahead.help, _HELP_LIMIT).astype(np.int8)
    observation = view.observation[:, _PLANES].reshape(len(view), -1)
    claims = view.action_mask[:, CHOW_LOW:]
    return np.concatenate([observation, claims, behind, help_, np.minimum(nearest, NEAREST_LIMIT)], axis=1)


def inputs_fingerprint() -> str:
    """Return a short text that changes whenever the layout of the inputs changes: planes, actions, or this module."""
    pieces = [(piece.name, piece.planes, piece.scale) for piece in PIECES]
    facts = [fact.name for fact in OBSERVATION_FACTS]
    layout = repr((OBSERVATION_VERSION, INPUTS_VERSION, pieces, facts, ACTIONS)).encode()
    return hashlib.sha256(layout).hexdigest()[:16]
