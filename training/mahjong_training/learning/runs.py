"""A run of learning in its folder, from the beginning or from where it was interrupted, whatever learns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, TypeVar

from mahjong_env import __version__
from mahjong_training.config import TrainConfig, TrainSb3Config
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.folders import check_folder, make_folder
from mahjong_training.runtime.interrupts import stopping_in_order

_Config = TypeVar("_Config", TrainSb3Config, TrainConfig)


class _Run(Protocol[_Config]):
    """What a run of a kind of learning can do."""

    config: _Config

    def load(self) -> None:
        """Go on from the checkpoint."""

    def run(self) -> None:
        """Learn to the end."""

    def close(self) -> None:
        """Let go of processes and files."""


def carry_out(
    config: _Config,
    new_run: Callable[[_Config, RunFolder], _Run[_Config]],
    check: Callable[[_Config], None],
    packages: Sequence[str],
) -> RunFolder:
    """Learn, and leave everything in the run folder.

    Args:
        config: the settings.
        new_run: makes a run of settings in a folder, and writes nothing yet.
        check: raises a `TrainingError` for settings that cannot be used.
        packages: those whose versions are written beside the settings.

    Raises:
        MahjongError: settings, agents or folders that cannot be used; nothing has been learned then.
    """
    folder = RunFolder(config.out or Path("runs") / f"{config.variant}{config.folder_suffix}")
    check(config)
    folder.check_kind(type(config))
    with stopping_in_order():
        if config.resume:
            folder.check_is_run()
            with folder.locked():
                config = folder.go_on(config)
                check(config)
                with closing(new_run(config, folder)) as going_on:
                    going_on.load()
                    going_on.run()
            return folder
        folder.check_is_free()
        check_folder(folder.path)
        with closing(new_run(config, folder)) as fresh:
            make_folder(folder.path)
            with folder.locked():
                folder.begin(fresh.config, {"mahjong_env": __version__} | {name: version(name) for name in packages})
                fresh.run()
    return folder
