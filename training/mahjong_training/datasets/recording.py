"""Recording: plays the shards of a dataset and writes those that are missing.

A shard is a function of the settings and its number alone, so that it may be played anywhere; what was interrupted goes
on with the shards that are missing.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, make_agent
from mahjong_env import Engine, StepResult
from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.memory import size_text
from mahjong_env.environments.agents import choose_actions, play_to_end
from mahjong_env.records import GameRecord, Recorder, deal_again
from mahjong_training.datasets import card, layout
from mahjong_training.datasets.layout import DECISION, SOURCES, Settings, hand_dtype, is_whole, shard_file
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, make_folder, write_bytes, write_text
from mahjong_training.runtime.workers import new_executor

_SOURCES = np.array(SOURCES)


@dataclass(frozen=True)
class Shard:
    """A range of games as tables.

    Attributes:
        decisions: [n] `DECISION`.
        hands: [h] `hand_dtype`.
        observations: [n, C, 34] int8, None if they are not kept.
        records: [games] lines of JSON, none if they are not kept.
    """

    decisions: NDArray[Any]
    hands: NDArray[Any]
    observations: NDArray[np.int8] | None
    records: tuple[str, ...]


def deal_shard(settings: Settings, games: Sequence[int]) -> Engine:
    """Return an engine with these games of a dataset, as they were dealt: that depends on the seed alone."""
    engine = Engine(settings.rules, len(games), seed=settings.seed, num_hands=settings.num_hands)
    deal_again(engine, fold_seed(settings.seed), np.asarray(games))
    return engine


def play_shard(settings: Settings, shard: int, agents: Sequence[Agent] | None = None) -> Shard:
    """Play a shard; everything in it follows from the arguments, so that it may be played anywhere.

    Args:
        settings: of the dataset.
        shard: number of the shard.
        agents: the agents that the settings name, if they have been made already.

    Raises:
        MahjongError: an agent cannot be made or has answered what cannot be played.
    """
    players = [make_agent(spec) for spec in settings.agents] if agents is None else list(agents)
    games = settings.games_of(shard)
    engine = deal_shard(settings, games)
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, shard]))
    who = rng.integers(len(players), size=(len(games), engine.num_people)) if len(players) > 1 else None
    log = _Log(engine, settings, games, who)
    numbers = np.zeros((len(games), engine.num_people), np.intp) if who is None else who

    def choose(live: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        acting = numbers[live, seats]
        actions = choose_actions(engine, live, players, acting, rng)
        log.add(live, seats, acting, actions)
        return actions

    for turn in play_to_end(engine, choose, log.step):
        log.end_hands(turn.result)
    return log.shard([agent.name for agent in players])


class _Log:
    """The log of a shard while it is played, by step; put into the order of hands at the end."""

    def __init__(self, engine: Engine, settings: Settings, games: range, who: NDArray[np.intp] | None) -> None:
        self._engine, self._settings, self._games, self._who = engine, settings, games, who
        self._records: list[GameRecord] = []
        self.step: Callable[..., StepResult] = Recorder(engine, self._keep).step if settings.records else engine.step
        self._rows: list[NDArray[Any]] = []
        self._before: list[NDArray[np.int32]] = []  # the running points of who decides, before the decision
        self._seen: list[NDArray[np.int8]] = []
        hands = len(games) * settings.num_hands
        self._hands = np.zeros(hands, hand_dtype(engine.num_people))
        self._hands["hand"] = np.arange(hands) + games.start * settings.num_hands
        self._hands["game"] = self._hands["hand"] // settings.num_hands
        self._hands["hand_in_game"] = self._hands["hand"] % settings.num_hands
        self._hands["dealer"] = -1
        self._final = np.zeros((hands, engine.num_people), np.int32)
        self._running = np.arange(0, hands, settings.num_hands)  # [games] the row of the hand that each game is at

    def _keep(self, *records: GameRecord) -> None:
        self._records.extend(records)

    def add(
        self, games: NDArray[np.intp], seat: NDArray[np.int8], agent: NDArray[np.intp], actions: NDArray[np.int64]
    ) -> None:
        """Note these decisions, before they are played."""
        engine = self._engine
        rows = np.zeros(len(games), DECISION)
        rows["hand"] = self._running[games]  # of the shard, for now
        rows["seat"], rows["agent"], rows["action"] = seat, agent, actions
        rows["mask"] = np.packbits(engine.action_mask[games], axis=1)
        self._rows.append(rows)
        self._before.append(engine.points[games, seat])
        self._hands["dealer"][rows["hand"]] = engine.dealer[games]
        if self._settings.observations:
            self._seen.append(engine.observe(games))

    def end_hands(self, result: StepResult) -> None:
        """Note the hands that a step has ended."""
        ended = result.outcome
        if not len(ended):
            return
        hand = self._running[ended.game]
        for name in ("value", "winner", "from_seat", "tile"):
            self._hands[name][hand] = getattr(ended, name)
        self._hands["source"][hand] = (ended.source[:, None] == _SOURCES).argmax(axis=1)
        self._final[hand] = ended.points
        self._running[ended.game] += 1

    def shard(self, names: Sequence[str]) -> Shard:
        """Return everything in the order of hands."""
        rows = np.concatenate(self._rows) if self._rows else np.zeros(0, DECISION)
        order = np.argsort(rows["hand"], kind="stable")
        rows, hands = rows[order], self._hands
        hand = rows["hand"].astype(np.intp)
        hands["decisions"] = np.bincount(hand, minlength=len(hands))
        hands["first"] = np.cumsum(hands["decisions"]) - hands["decisions"]
        begin = np.zeros_like(self._final) + self._settings.rules.starting_points
        later = hands["hand_in_game"] > 0
        begin[later] = self._final[np.flatnonzero(later) - 1]
        hands["points"] = self._final - begin
        hands["agents"] = 0 if self._who is None else np.repeat(self._who, self._settings.num_hands, axis=0)
        rows["step"] = np.arange(len(rows)) - hands["first"][hand]
        before = np.concatenate(self._before)[order] if self._before else np.zeros(0, np.int32)
        rows["return"] = self._final[hand, rows["seat"]] - before
        rows["reward"] = rows["return"] - _next_of_same(hand * hands["points"].shape[1] + rows["seat"], rows["return"])
        rows["game"] = hands["game"][hand]
        rows["hand"] = hands["hand"][hand]
        return Shard(rows, hands, np.concatenate(self._seen)[order] if self._seen else None, self._lines(names))

    def _lines(self, names: Sequence[str]) -> tuple[str, ...]:
        first = self._games.start
        found = {record.stream: record for record in self._records}
        people = self._engine.num_people
        lines = []
        for game in sorted(found):
            who = (0,) * people if self._who is None else self._who[game - first]
            lines.append(replace(found[game], agents=tuple(names[number] for number in who)).to_json())
        return tuple(lines)


def _next_of_same(key: NDArray[np.intp], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return [n] for each row the value of the next row with the same key, 0 where there is none."""
    order = np.argsort(key, kind="stable")
    following = np.zeros_like(values)
    same = key[order][1:] == key[order][:-1]
    following[order[:-1][same]] = values[order[1:][same]]
    return following


# --- Files ----------------------------------------------------------------------------------------------------------


def write_shard(settings: Settings, folder: Path, shard: int) -> int:
    """Play a shard and write its files, the one that says that it is whole last.

    It may be called anywhere, for different shards at the same time.

    Returns:
        Bytes written.

    Raises:
        MahjongError: an agent that fails, or a file that cannot be written.
    """
    played = play_shard(settings, shard)
    shard_file(folder, "hands", shard).unlink(missing_ok=True)
    written = 0
    if settings.records:
        text = "".join(f"{line}\n" for line in played.records).encode()
        write_bytes(shard_file(folder, "records", shard), text)
        written += len(text)
    if played.observations is not None:
        written += _write_table(shard_file(folder, "observations", shard), played.observations)
    written += _write_table(shard_file(folder, "decisions", shard), played.decisions)
    written += _write_table(shard_file(folder, "hands", shard), played.hands)
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
    progress: Callable[[int], object] = lambda games: None,
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
    found = len(list(folder.glob("hands-*.npy"))) * settings.shard_games
    hands = (settings.games - found) * settings.num_hands
    _check_free(folder, hands * layout.bytes_of_hand(settings, decisions=20))
    missing = [shard for shard in range(settings.shards) if not is_whole(settings, folder, shard)]
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
