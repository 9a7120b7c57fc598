"""Writes a dataset shard by shard; what was interrupted goes on with the shards that are missing."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.memory import size_text
from mahjong_env.observation.planes import SHAPE
from mahjong_training.datasets import card, layout
from mahjong_training.datasets.layout import Settings
from mahjong_training.datasets.playing import play_shard
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import make_folder, write_bytes, write_text
from mahjong_training.runtime.lock import alone_in
from mahjong_training.runtime.workers import new_executor

Progress = Callable[[int], object]
"""Told of how many more games a shard has been written."""


def write_shard(settings: Settings, folder: Path, shard: int) -> int:
    """Play a shard and write its files, the one that says that it is whole last.

    It may be called anywhere, for different shards at the same time.

    Returns:
        Bytes written.

    Raises:
        MahjongError: an agent that fails, or a file that cannot be written.
    """
    played = play_shard(settings, shard)
    layout.hands_file(folder, shard).unlink(missing_ok=True)
    written = 0
    if settings.records:
        text = "".join(f"{line}\n" for line in played.records).encode()
        write_bytes(layout.records_file(folder, shard), text)
        written += len(text)
    if played.observations is not None:
        written += _write_table(layout.observations_file(folder, shard), played.observations)
    written += _write_table(layout.decisions_file(folder, shard), played.decisions)
    written += _write_table(layout.hands_file(folder, shard), played.hands)
    return written


def _write_table(path: Path, table: NDArray[Any]) -> int:
    data = io.BytesIO()
    np.save(data, table, allow_pickle=False)
    write_bytes(path, data.getvalue())
    return data.tell()


def write_dataset(
    settings: Settings,
    folder: Path,
    *,
    processes: int = 1,
    threads: int = 1,
    ray: str | None = None,
    progress: Progress = lambda games: None,
) -> int:
    """Write the shards of a dataset that are missing.

    Args:
        settings: of the dataset; if there is one in the folder, it must have the same, but for fewer games.
        folder: where it is, or is to be.
        processes: how many processes play.
        threads: threads of torch in each of them.
        ray: the address of a Ray cluster that plays; its nodes write to the same folder.
        progress: told of how many more games a shard has been written.

    Returns:
        How many shards have been written.

    Raises:
        DatasetError: another dataset is in the folder, or the disk has too little room.
        WriteError: a file cannot be written; what was written before is whole.
        WorkerError: a process ended before its work was done.
    """
    check_settings(settings, folder)
    found = len(list(folder.glob(layout.hands_file(folder, 0).name.replace("00000", "*")))) * settings.shard_games
    check_room(settings, folder, (settings.games - found) * settings.num_hands)
    missing = missing_shards(settings, folder)
    with alone_in(folder):
        check_settings(settings, folder)
        write_text(folder / layout.SETTINGS, settings.to_json())
        left = sum(len(settings.games_of(shard)) for shard in missing)
        progress(settings.games - left)
        set_threads(threads)
        state = settings, folder.resolve()
        with (
            new_executor(processes, ray, threads) as executor,
            closing(executor.map(_write_shard, state, missing)) as each,
        ):
            for position, written in each:
                shard = missing[position]
                if ray is not None and not is_whole(settings, folder, shard):
                    raise DatasetError(
                        f"{folder}: shard {shard} was written on another machine and cannot be seen here; --out must "
                        "name a folder that all nodes share"
                    )
                games = len(settings.games_of(shard))
                left -= games
                progress(games)
                _check_free(folder, int(written / games * left))
        card.write(settings, folder)
    return len(missing)


def missing_shards(settings: Settings, folder: Path) -> list[int]:
    """Return the shards of which there is no whole one in the folder."""
    return [shard for shard in range(settings.shards) if not is_whole(settings, folder, shard)]


def is_whole(settings: Settings, folder: Path, shard: int) -> bool:
    """Whether every file of a shard is there, with as many rows as it must have."""
    try:
        _, decisions = open_shard(settings, folder, shard)
        if settings.observations:
            open_observations(settings, folder, shard, len(decisions))
    except DatasetError:
        return False
    return not settings.records or layout.records_file(folder, shard).is_file()


def open_shard(settings: Settings, folder: Path, shard: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Map the tables of a shard into memory: its hands and its decisions.

    Raises:
        DatasetError: a table is missing, damaged, or does not fit the other one.
    """
    path = layout.hands_file(folder, shard)
    hands = layout.map_table(path, layout.hand_dtype(settings.rules.people))
    decisions = layout.map_table(layout.decisions_file(folder, shard), layout.DECISION)
    expected = len(settings.games_of(shard)) * settings.num_hands
    if len(hands) != expected:
        raise DatasetError(f"{path}: it has {len(hands)} hands; the settings of the dataset give it {expected}")
    if int(hands["first"][-1]) + int(hands["decisions"][-1]) != len(decisions):
        raise DatasetError(f"{path}: its hands do not fit the {len(decisions)} decisions beside it")
    return hands, decisions


def open_observations(settings: Settings, folder: Path, shard: int, decisions: int) -> NDArray[np.int8]:
    """Map the observations of a shard into memory.

    Raises:
        DatasetError: they are missing, damaged, or of another number.
    """
    path = layout.observations_file(folder, shard)
    found = layout.map_table(path, np.dtype(np.int8), SHAPE)
    if len(found) != decisions:
        raise DatasetError(f"{path}: it has {len(found)} observations; there are {decisions} decisions")
    return found


def check_settings(settings: Settings, folder: Path) -> None:
    """Check that a folder has no dataset, or one that these settings continue.

    Raises:
        DatasetError: the settings differ in more than a greater number of games, or the dataset cannot be read.
    """
    if not (folder / layout.SETTINGS).exists():
        return
    kept = Settings.read(folder)
    if settings.games < kept.games:
        raise DatasetError(f"{folder}: there is a dataset of {kept.hands} hands already; --hands cannot be less")
    ours, theirs = (asdict(replace(one, games=kept.games)) for one in (settings, kept))
    for name, value in ours.items():
        # As JSON keeps them: lists and tuples are the same there.
        if _plain(value) != _plain(theirs[name]):
            raise DatasetError(
                f"{folder}: there is another dataset already, whose {name} is {theirs[name]!r}, not {value!r}; "
                "choose another --out"
            )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def check_room(settings: Settings, folder: Path, hands: int) -> None:
    """Check that the disk has room for so many hands, as far as that is known before they are played.

    Raises:
        DatasetError: it has not.
    """
    _check_free(folder, hands * layout.bytes_of_hand(settings, decisions=20))


def _check_free(folder: Path, needed: int) -> None:
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if needed > free:
        raise DatasetError(
            f"{folder}: about {size_text(needed)} are still needed, and {size_text(free)} are free on this disk; "
            "the shards that were written are whole: make room, and give the same command again"
        )


def _write_shard(state: tuple[Settings, Path], shard: int) -> int:
    """A task of an executor: on a cluster the folder may not have been seen yet where it is carried out."""
    settings, folder = state
    make_folder(folder)
    return write_shard(settings, folder, shard)
