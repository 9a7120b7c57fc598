"""``mahjong-env record``: games of any agents as records and as arrays."""

from __future__ import annotations

import time
from typing import Any, Final

from mahjong_agents import make_agent
from mahjong_agents.base import GAMES_AT_ONCE, games_at_once
from mahjong_env import MissingExtraError
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import RecordConfig
from mahjong_training.datasets.exports import arrow_version
from mahjong_training.datasets.layout import PARQUET_COLUMNS, Settings, default_versions
from mahjong_training.datasets.recording import write_dataset
from mahjong_training.errors import DatasetError, InterruptedRunError
from mahjong_training.runtime.console import exit_status, stopping_in_order
from mahjong_training.runtime.digests import agent_digests
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.runtime.workers import check_workers

try:
    from tqdm import tqdm
except ImportError as error:
    raise MissingExtraError(f"recording needs {error.name}: pip install 'mahjong-env[evaluate]'") from error

_GAMES: Final = 16384
_GAMES_WITH_OBSERVATIONS: Final = 4096
_MOST_AGENTS: Final = 256
_MOST_HANDS: Final = 2**32


def settings_of(config: RecordConfig) -> Settings:
    """Return the settings of the dataset that a command asks for.

    Raises:
        MahjongError: settings or agents that cannot be used.
    """
    check_counts(hands=config.hands, num_hands=config.num_hands)
    check_workers(config)
    check_seed(config.seed)
    if not 0 < len(config.agents) <= _MOST_AGENTS:
        raise DatasetError(f"--agents names 1 to {_MOST_AGENTS} agents, not {len(config.agents)}")
    if config.hands > _MOST_HANDS:
        raise DatasetError(f"--hands {config.hands:,}: a dataset has at most {_MOST_HANDS:,}, as it numbers them")
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
    check_counts(shard_games=shard_games)
    versions = default_versions()
    if config.parquet is not None:
        if unknown := set(config.parquet) - PARQUET_COLUMNS.keys():
            raise DatasetError(f"--parquet has no {min(unknown)!r}; there are {', '.join(PARQUET_COLUMNS)}")
        versions["pyarrow"] = arrow_version()
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
    """Record, with a progress bar; what is in the folder already is not played again.

    Raises:
        MahjongError: see `settings_of` and `mahjong_training.datasets.recording.write_dataset`.
        InterruptedRunError: Ctrl-C or SIGTERM; the shards that were written are whole.
    """
    settings = settings_of(config)
    start, found = time.monotonic(), list[int]()  # hands that were there, and then those of each shard
    bar: tqdm[Any] = tqdm(total=settings.hands, desc="recording", unit=" hands", disable=None, leave=False)

    def progress(games: int) -> None:
        found.append(games * settings.num_hands)
        bar.update(found[-1])

    try:
        with bar, stopping_in_order():
            shards = write_dataset(
                settings, config.out, config.processes, config.threads, config.ray, progress=progress
            )
    except KeyboardInterrupt as interrupt:
        kept = f"{sum(found):,} of {settings.hands:,} hands, which are kept"
        text = f"{config.out}: interrupted with {kept}; the same command goes on with them"
        raise InterruptedRunError(text, exit_status(interrupt)) from None
    if not shards:
        print(f"{config.out}: has {settings.hands:,} hands already; nothing to do")
        return
    hands, seconds = sum(found[1:]), max(time.monotonic() - start, 1e-9)
    rate = hands / seconds
    print(f"{config.out}: {hands:,} hands in {seconds:.0f} s ({rate:,.0f} a second); see {config.out / 'README.md'}")
