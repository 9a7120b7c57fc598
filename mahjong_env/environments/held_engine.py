"""An engine in the hands of an environment: it can be copied, and it tells when somebody else changes its games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.ruleset.questions import Rules


class HeldEngine(Engine):
    """The games of an environment, as an engine.

    The environment plays with `play` and `deal_anew`. Whoever calls `step`, `reset` or `restore` instead changes the
    games behind its back; it is told, and goes on from there.

    Attributes:
        tell: called when somebody else has changed the games.
    """

    tell: Callable[[], None] | None = None
    play = Engine.step
    deal_anew = Engine.reset

    def step(self, actions: Any, games: Any = None, *, out: Mapping[str, Any] | None = None) -> StepResult:
        """See `Engine.step`; the environment is told."""
        result = super().step(actions, games, out=out)
        self._tell()
        return result

    def reset(self, seed: int | None = None, deals: Deal | Sequence[Deal] | None = None, games: Any = None) -> None:
        """See `Engine.reset`; the environment is told."""
        super().reset(seed, deals, games)
        self._tell()

    def restore(self, snapshot: Snapshot) -> None:
        """See `Engine.restore`; the environment is told."""
        super().restore(snapshot)
        self._tell()

    def _tell(self) -> None:
        if self.tell is not None:
            self.tell()

    # The environment that holds the copy says itself what it wants to be told.
    def __deepcopy__(self, memo: dict[int, Any]) -> HeldEngine:
        twin = self.select(np.arange(self.num_games))
        assert isinstance(twin, HeldEngine)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        settings = {"num_hands": self.num_hands, "auto_reset": self.auto_reset, "start": self.start}
        arrays = {name: array.copy() for name, array in self.state.arrays().items()}
        return _with_games, (self.rules, self.num_games, settings, arrays)


def _with_games(
    rules: Rules, num_games: int, settings: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> HeldEngine:
    engine = HeldEngine(rules, num_games, seed=0, **settings)
    for name, array in engine.state.arrays().items():
        array[...] = arrays[name]
    return engine
