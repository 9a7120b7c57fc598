"""The engine of an environment: it can be copied, and it reports when other code changes its games."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mahjong_env.basics.types import Seeds
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.engine.snapshot import Snapshot
from mahjong_env.records import Recorder, RecordWriter
from mahjong_env.ruleset.questions import Rules


class HeldEngine(Engine):
    """The games of an environment, as an engine.

    The environment itself plays with `play` and `deal_anew`. If other code calls `step`, `reset`, `restore` or `put`,
    the games change behind the environment's back; the environment is told, and continues from there. Matches
    interrupted by such a change or by `resample_hidden` are not recorded, and copies of the engine do not record.

    Attributes:
        tell: called when other code has changed the games.
    """

    tell: Callable[[], None] | None = None
    _recorder: Recorder | None = None
    _writer: RecordWriter | None = None

    def record_to(self, path: str | os.PathLike[str], agents: Callable[[int], Sequence[str]] = lambda game: ()) -> None:
        """Append the record of every match that ends to a file, starting with the matches that are just beginning.

        Args:
            path: the file; see `RecordWriter`.
            agents: a function from the number of a game to the names of its players, by person.

        Raises:
            RecordError: the file cannot be written, or holds something other than records.
        """
        self._writer = RecordWriter(path)
        self._recorder = Recorder(self, self._writer.write, agents=agents)

    def close_record(self) -> None:
        """Append what has been played of unfinished matches, and close the file, if there is one."""
        if self._recorder is not None and self._writer is not None:
            self._recorder.close()
            self._writer.close()
            self._recorder = self._writer = None

    def play(self, actions: Any, games: Any = None, *, out: Mapping[str, Any] | None = None) -> StepResult:
        """See `Engine.step`."""
        if self._recorder is None:
            return super().step(actions, games, out=out)
        return self._recorder.note_step(lambda: super(HeldEngine, self).step(actions, games, out=out), actions, games)

    def play_one(self, action: Any) -> StepResult | None:
        """Play an action in the only game; None means that nothing was paid and no hand ended (see `Engine.step`)."""
        if isinstance(action, np.integer):
            action = int(action)
        if self._recorder is None and self._play_quietly(action):
            return None
        return self.play([action])

    def deal_anew(self, seed: Seeds = None, deals: Deal | Sequence[Deal] | None = None, games: Any = None) -> None:
        """See `Engine.reset`."""
        if self._recorder is None:
            super().reset(seed, deals, games)
        else:
            self._recorder.note_reset(lambda: super(HeldEngine, self).reset(seed, deals, games), deals, games)

    def step(self, actions: Any, games: Any = None, *, out: Mapping[str, Any] | None = None) -> StepResult:
        """See `Engine.step`."""
        result = self.play(actions, games, out=out)
        self._tell()
        return result

    def reset(self, seed: Seeds = None, deals: Deal | Sequence[Deal] | None = None, games: Any = None) -> None:
        """See `Engine.reset`."""
        self.deal_anew(seed, deals, games)
        self._tell()

    def restore(self, snapshot: Snapshot, games: Any = None) -> None:
        """See `Engine.restore`."""
        super().restore(snapshot, games)
        self._forget_records(games)
        self._tell()

    def put(self, games: Any, other: Engine, rows: Any = None) -> None:
        """See `Engine.put`."""
        super().put(games, other, rows)
        self._forget_records(games)
        self._tell()

    def resample_hidden(self, seats: Any, rng: np.random.Generator, games: Any = None) -> None:
        """See `Engine.resample_hidden`."""
        super().resample_hidden(seats, rng, games)
        self._forget_records(games)

    def _forget_records(self, games: Any) -> None:
        if self._recorder is not None:
            self._recorder.forget(games)

    def _tell(self) -> None:
        if self.tell is not None:
            self.tell()

    # A copy belongs to another environment, which sets ``tell`` itself.
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
