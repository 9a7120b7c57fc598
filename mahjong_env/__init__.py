"""Chinese regional mahjong for reinforcement learning: exact rules, a vectorised engine, standard interfaces."""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType

from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS, action
from mahjong_env.basics.errors import (
    ActionError,
    AgentError,
    DealError,
    HandError,
    IllegalActionError,
    MahjongError,
    MissingExtraError,
    NotationError,
    OptionError,
    RecordError,
    RenderModeError,
    RulesError,
    SnapshotError,
    ViewError,
)
from mahjong_env.engine.batch import Engine, make_engine
from mahjong_env.engine.outcome import Outcome, StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.environments.agents import OpponentPool
from mahjong_env.observation.events import EVENTS
from mahjong_env.observation.facts import FACTS as OBSERVATION_FACTS
from mahjong_env.observation.planes import OBSERVATION_VERSION
from mahjong_env.observation.planes import PIECES as OBSERVATION_PIECES
from mahjong_env.observation.privileged import PIECES as PRIVILEGED_PIECES
from mahjong_env.observation.privileged import Hidden
from mahjong_env.observation.view import View
from mahjong_env.rulebook.page import describe_rules
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS, rules
from mahjong_env.scoring.described import HandScore, score

__version__ = "0.1.0"

__all__ = [
    "ACTIONS",
    "EVENTS",
    "NUM_ACTIONS",
    "OBSERVATION_FACTS",
    "OBSERVATION_PIECES",
    "OBSERVATION_VERSION",
    "PRIVILEGED_PIECES",
    "VARIANTS",
    "ActionError",
    "AgentError",
    "Deal",
    "DealError",
    "Engine",
    "HandError",
    "HandScore",
    "Hidden",
    "IllegalActionError",
    "MahjongError",
    "MissingExtraError",
    "NotationError",
    "OpponentPool",
    "OptionError",
    "Outcome",
    "RecordError",
    "RenderModeError",
    "Rules",
    "RulesError",
    "Snapshot",
    "SnapshotError",
    "StepResult",
    "View",
    "ViewError",
    "action",
    "describe_rules",
    "make_engine",
    "rules",
    "score",
]

# Last, because the registry looks at this package.
from mahjong_env.environments import notebook as _notebook
from mahjong_env.environments import registration as _registration

_notebook.show_tables()
_registration.register_all()


def __getattr__(name: str) -> _ModuleType:
    """Make ``mahjong_env.<variant>_v0`` reachable without importing it first."""
    if name in _registration.ENTRY_MODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
