"""Chinese regional mahjong for reinforcement learning: exact rules, a vectorised engine, standard interfaces."""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

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
from mahjong_env.rule_sheet import describe_rules
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
    "describe_rules",
    "make_engine",
    "rules",
    "score",
]

# Last, because the registry looks at this package.
from mahjong_env import registration as _registration

_registration.register_all()


def __getattr__(name: str) -> _ModuleType:
    """Make ``mahjong_env.<variant>_v0`` reachable without importing it first."""
    if name in _registration.ENTRY_MODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
