"""Chinese regional mahjong for reinforcement learning: exact rules, a vectorised engine, standard interfaces."""

from mahjong_env.actions import ACTIONS, NUM_ACTIONS, action
from mahjong_env.engine import Engine, make_engine
from mahjong_env.errors import (
    ActionError,
    DealError,
    HandError,
    IllegalActionError,
    MahjongError,
    MissingExtraError,
    NotationError,
    RulesError,
    SnapshotError,
)
from mahjong_env.hand_score import HandScore, score
from mahjong_env.observation import PIECES as OBSERVATION_PIECES
from mahjong_env.outcome import Outcome, StepResult
from mahjong_env.ruleset import Rules
from mahjong_env.scene import Deal
from mahjong_env.snapshot import Snapshot
from mahjong_env.variants import VARIANTS, rules
from mahjong_env.view import View

__version__ = "0.1.0"

__all__ = [
    "ACTIONS",
    "NUM_ACTIONS",
    "OBSERVATION_PIECES",
    "VARIANTS",
    "ActionError",
    "Deal",
    "DealError",
    "Engine",
    "HandError",
    "HandScore",
    "IllegalActionError",
    "MahjongError",
    "MissingExtraError",
    "NotationError",
    "Outcome",
    "Rules",
    "RulesError",
    "Snapshot",
    "SnapshotError",
    "StepResult",
    "View",
    "action",
    "make_engine",
    "rules",
    "score",
]
