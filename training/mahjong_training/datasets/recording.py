"""``mahjong-env record``: play the shards of a dataset and write those that are missing."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import make_agent
from mahjong_agents.base import GAMES_AT_ONCE, games_at_once
from mahjong_env.environments.agents import choose_actions, play_to_end
from mahjong_env.observation.planes import SHAPE
from mahjong_env.records import GameRecord, Recorder
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import RecordConfig
from mahjong_training.datasets import layout
from mahjong_training.datasets.card import card_text
from mahjong_training.datasets.exports import arrow, write_parquet
from mahjong_training.datasets.layout import DECISION, SETTINGS, Settings, Tables, is_whole, shard_file
from mahjong_training.datasets.reading import Part, deal_shard
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.console import kept_in, saying_what_is_kept, time_left
from mahjong_training.runtime.digests import agent_digests
from mahjong_training.runtime.executors import new_executor, set_threads
from mahjong_training.runtime.folders import alone_in, make_folder, write_bytes, write_text
from mahjong_training.runtime.limits import check_settings

_GAMES: Final = 16384
_GAMES_WITH_OBSERVATIONS: Final = 4096


class Shard(NamedTuple):
    """The tables of a range of games (`mahjong_training.datasets.layout.tables_of`) and their records as JSON."""

    tables: Tables
    records: tuple[str, ...]


def play_shard(settings: Settings, shard: int) -> Shard:
    """Play a shard; the result depends only on the arguments, so that it can be played on any machine.

    Raises:
        DatasetError: there is no such shard.
        MahjongError: an agent cannot be made, or its answer cannot be played.
    """
    games, num_hands = settings.games_of(shard), settings.num_hands
    players = [make_agent(spec) for spec in settings.agents]
    engine = deal_shard(settings, games)
    rng = np.random.default_rng(np.random.SeedSequence([settings.seed, shard]))
    who = np.zeros((len(games), engine.num_people), np.intp)
    if len(players) > 1:
        who = rng.integers(len(players), size=who.shape)
    records: list[GameRecord] = []
    step = Recorder(engine, lambda *ended: records.extend(ended)).step if settings.records else engine.step

    decisions: list[NDArray[Any]] = [np.zeros(0, DECISION)]  # each array holds the decisions of one step
    before: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]  # the points of the person who decides
    seen: list[NDArray[np.int8]] = [np.zeros((0, *SHAPE), np.int8)]
    hands = np.zeros(len(games) * num_hands, layout.tables_of(settings)["hands"][0])
    hands["hand"] = np.arange(len(hands)) + games.start * num_hands
    hands["game"], hands["hand_in_game"] = np.divmod(hands["hand"], num_hands)
    hands["agents"] = np.repeat(who, num_hands, axis=0)
    hands["dealer"] = -1
    final = np.zeros((len(hands), engine.num_people), np.int32)
    current = np.arange(0, len(hands), num_hands)  # [games] the row of each game's current hand

    def choose(live: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        acting = who[live, seats]
        actions = choose_actions(engine, live, players, acting, rng)
        rows = np.zeros(len(live), DECISION)
        rows["hand"] = current[live]  # its number in the shard, for now
        rows["seat"], rows["agent"], rows["action"] = seats, acting, actions
        rows["mask"] = np.packbits(engine.action_mask[live], axis=1)
        decisions.append(rows)
        before.append(engine.points[live, seats])
        hands["dealer"][current[live]] = engine.dealer[live]
        if settings.observations:
            seen.append(engine.observe(live))
        return actions

    for turn in play_to_end(engine, choose, step):
        ended = turn.result.outcome
        if not len(ended):
            continue
        hand = current[ended.game]
        for name in ("value", "winner", "from_seat", "tile"):
            hands[name][hand] = getattr(ended, name)
        hands["source"][hand] = (ended.source[:, None] == np.array(layout.SOURCES)).argmax(axis=1)
        final[hand] = ended.points
        current[ended.game] += 1

    rows = np.concatenate(decisions)
    order = np.argsort(rows["hand"], kind="stable")
    rows = rows[order]
    hand = rows["hand"].astype(np.intp)
    hands["decisions"] = np.bincount(hand, minlength=len(hands))
    hands["first"] = np.cumsum(hands["decisions"]) - hands["decisions"]
    begin = np.full_like(final, settings.rules.starting_points)
    later = np.flatnonzero(hands["hand_in_game"])
    begin[later] = final[later - 1]
    hands["points"] = final - begin
    rows["step"] = np.arange(len(rows)) - hands["first"][hand]
    rows["return"] = final[hand, rows["seat"]] - np.concatenate(before)[order]
    rows["reward"] = rows["return"] - _next_of_same(hand * final.shape[1] + rows["seat"], rows["return"])
    rows["game"], rows["hand"] = hands["game"][hand], hands["hand"][hand]

    tables = {"decisions": rows, "hands": hands}
    if settings.observations:
        tables["observations"] = np.concatenate(seen)[order]
    lines = []
    for record in sorted(records, key=lambda record: record.stream):
        names = tuple(players[number].name for number in who[record.stream - games.start])
        lines.append(replace(record, agents=names).to_json())
    return Shard(tables, tuple(lines))


def _next_of_same(key: NDArray[np.intp], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return [n], for each row, the value of the next row with the same key, or 0 where there is none."""
    order = np.argsort(key, kind="stable")
    following = np.zeros_like(values)
    same = key[order][1:] == key[order][:-1]
    following[order[:-1][same]] = values[order[1:][same]]
    return following


def write_shard(settings: Settings, folder: Path, shard: int) -> None:
    """Play a shard and write its files; the one that marks it as complete is written last.

    The folder is made if it does not exist. Different shards may be written at the same time, in any processes.

    Raises:
        MahjongError: an agent fails, or a file cannot be written.
    """
    settings.games_of(shard)  # refuses a shard that there is not before a folder is made
    make_folder(folder)
    played = play_shard(settings, shard)
    shard_file(folder, "hands", shard).unlink(missing_ok=True)
    if settings.records:
        write_text(shard_file(folder, "records", shard), "".join(f"{line}\n" for line in played.records))
    if settings.parquet is not None:
        write_parquet(Part(folder, settings, shard, played.tables))
    for name in layout.tables_of(settings):
        data = io.BytesIO()
        np.save(data, played.tables[name], allow_pickle=False)
        write_bytes(shard_file(folder, name, shard), data.getvalue())


def write_dataset(
    settings: Settings,
    folder: Path,
    processes: int = 1,
    threads: int = 1,
    ray: str | None = None,
    *,
    progress: Callable[[int], object] = lambda games: None,
) -> int:
    """Write the missing shards of a dataset, with several processes or on a cluster whose nodes share the folder.

    A dataset that is already in the folder must have the same settings; only its number of games may be smaller. One
    that ended before its first shard was complete is replaced.

    Args:
        settings: the settings of the dataset.
        folder: the folder of the dataset.
        processes: the number of processes.
        threads: the number of torch threads in each process.
        ray: the address of a Ray cluster; None for none.
        progress: called first with the number of games that existed, and then with the number of games in each shard
            that is written.

    Returns:
        The number of shards written.

    Raises:
        DatasetError: another dataset or a README.md is in the folder, or the nodes of a cluster do not share it.
        WriteError: a file cannot be written, for example because the disk is full; earlier shards are complete.
        WorkerError: a process ended before its work was done.
    """
    with alone_in(folder):
        _check_settings(settings, folder)
        missing = [shard for shard in range(settings.shards) if not is_whole(settings, folder, shard)]
        write_text(folder / SETTINGS, settings.to_json())
        progress(settings.games - sum(len(settings.games_of(shard)) for shard in missing))
        set_threads(threads)
        state = settings, folder.resolve()
        with (
            new_executor(processes, ray, threads) as executor,
            closing(executor.map(_write_shard, state, missing)) as each,
        ):
            for position, _ in each:
                shard = missing[position]
                if ray is not None and not is_whole(settings, folder, shard):
                    why = "was written on another machine and cannot be seen here"
                    raise DatasetError(f"{folder}: shard {shard} {why}; --out must name a folder that all nodes share")
                progress(len(settings.games_of(shard)))
        write_text(folder / layout.CARD, card_text(settings, folder))
    return len(missing)


def _write_shard(state: tuple[Settings, Path], shard: int) -> None:
    settings, folder = state
    write_shard(settings, folder, shard)


def _check_settings(settings: Settings, folder: Path) -> None:
    """Check that a folder has a dataset that these settings continue with at least as many games, or room for one."""
    if not (folder / SETTINGS).exists():
        if (folder / layout.CARD).exists():
            raise DatasetError(f"{folder}: the {layout.CARD} here is not that of a dataset; choose another --out")
        return
    kept = Settings.read(folder)
    if not any(shard_file(folder, "hands", shard).exists() for shard in range(kept.shards)):
        return  # it ended before its first shard was complete, perhaps because an agent failed
    if settings.games < kept.games:
        raise DatasetError(f"{folder}: there is a dataset of {kept.hands} hands already; --hands cannot be less")
    ours, theirs = (json.loads(one.to_json()) for one in (replace(settings, games=kept.games), kept))
    for name, value in ours.items():
        if value != theirs[name]:
            raise DatasetError(
                f"{folder}: there is another dataset already, whose {name} is {theirs[name]!r}, not {value!r}; "
                "choose another --out"
            )


# --- The command -----------------------------------------------------------------------------------------------------


def settings_of(config: RecordConfig) -> Settings:
    """Return the settings of the dataset that a command asks for.

    Raises:
        MahjongError: the settings or agents cannot be used.
    """
    check_settings(config)
    if config.hands % config.num_hands:
        raise DatasetError(f"--hands {config.hands} is not a multiple of --num-hands {config.num_hands}")
    rules = read_rules(config.variant, config.knobs)
    if not rules.ends_by_hands:
        raise DatasetError(f"with these house rules a game of {rules.title} does not end after --num-hands hands")
    agents = [make_agent(spec) for spec in config.agents]
    shard_games = config.shard_games
    if shard_games is None:
        shard_games = _GAMES if config.parquet is None and not config.observations else _GAMES_WITH_OBSERVATIONS
        if (slow := games_at_once(agents)) < GAMES_AT_ONCE:
            shard_games = min(shard_games, slow)
    versions = layout.default_versions()
    if config.parquet is not None:
        if unknown := set(config.parquet) - layout.PARQUET_COLUMNS.keys():
            raise DatasetError(f"--parquet has no {min(unknown)!r}; there are {', '.join(layout.PARQUET_COLUMNS)}")
        versions["pyarrow"] = str(arrow().__version__)
    return Settings(
        variant=rules.name,
        rules_version=rules.version,
        knobs=rules.changed_knobs,
        agents=config.agents,
        digests=tuple(tuple(agent_digests(*one, rules)) for one in zip(config.agents, agents, strict=True)),
        games=config.hands // config.num_hands,
        num_hands=config.num_hands,
        seed=config.seed,
        shard_games=shard_games,
        observations=config.observations,
        records=config.records,
        parquet=config.parquet,
        versions=versions,
    )


def run(config: RecordConfig) -> None:
    """Record a dataset; shards that are in the folder already are not played again.

    Raises:
        MahjongError: see `settings_of` and `write_dataset`.
        InterruptedRunError: Ctrl-C or SIGTERM; the shards written so far are complete.
    """
    settings, out, start = settings_of(config), config.out, time.monotonic()
    found = list[int]()  # hands that existed, then the hands of each shard written

    def kept() -> str:
        return kept_in(out, f"{sum(found):,} of {settings.hands:,} hands")

    with saying_what_is_kept(kept) as tell:

        def progress(games: int) -> None:
            found.append(games * settings.num_hands)
            left = time_left(start, sum(found[1:]), settings.hands - found[0])
            tell(f"recording: {sum(found):,} of {settings.hands:,} hands{left}")

        shards = write_dataset(settings, out, config.processes, config.threads, config.ray, progress=progress)
    if not shards:
        print(f"{out}: has {settings.hands:,} hands already; nothing to do")
        return
    hands, seconds = sum(found[1:]), max(time.monotonic() - start, 1e-9)
    print(f"{out}: {hands:,} hands in {seconds:.0f} s ({hands / seconds:,.0f} a second); see {out / layout.CARD}")
