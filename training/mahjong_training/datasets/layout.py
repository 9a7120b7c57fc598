"""The format of datasets: settings, files, and the columns of the tables; docs/datasets.md describes it for users.

A dataset is a folder of shards. A shard is a range of games, and depends only on the settings and its number
(`mahjong_training.datasets.recording`). Its tables are plain ``.npy`` files, which numpy maps into memory without
reading them. Writing, reading, the data sheet and exports all follow the columns that are declared here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_env import NUM_ACTIONS, OBSERVATION_VERSION, MahjongError, Rules, __version__
from mahjong_env import rules as find_rules
from mahjong_env.basics.types import is_integer
from mahjong_env.observation.planes import SHAPE
from mahjong_env.scoring.wins import Source
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.digests import CODE, versions

FORMAT: Final = "mahjong_env.dataset"
FORMAT_VERSION: Final = 2  # 1: the same seed dealt other cards
SETTINGS: Final = "dataset.json"
CARD: Final = "README.md"

_MOST_AGENTS: Final = 256
_MOST_HANDS: Final = 2**32
"""The most agents and hands that the columns of the tables can number."""

PARQUET_COLUMNS: Final[Mapping[str, str]] = {
    "observation": "what the seat saw, by `mahjong_env.OBSERVATION_PIECES`",
    "events": "the hand as a sequence, its last 240 events, by `mahjong_env.EVENTS`",
    "hidden": "what the seat could not see: the array of this name in `mahjong_env.Hidden`",
}
"""The columns that Parquet files may have in addition to those of the decisions, with their meanings."""

Tables = Mapping[str, NDArray[Any]]
"""The tables of a shard by name; see `tables_of`."""


class Column(NamedTuple):
    """A column of a table: its type, its meaning, and the number of values in a row (None for a single value)."""

    kind: str
    meaning: str
    values: int | None = None


DECISION_COLUMNS: Final[Mapping[str, Column]] = {
    "game": Column("<u4", "number of the game in the dataset, from 0; an engine with the seed deals it the same cards"),
    "hand": Column("<u4", "number of the hand in the dataset, from 0"),
    "reward": Column("<i4", "points that the seat receives from this decision until its next one, or the hand's end"),
    "return": Column("<i4", "points that the seat receives from this decision until the hand ends; undiscounted"),
    "step": Column("<u2", "number of the decision in its hand, over all seats, from 0"),
    "seat": Column("u1", "who decides (the person, 0 to P-1)"),
    "agent": Column("u1", "number of the agent that decides, in the list of agents"),
    "action": Column("u1", "the action, 0 to 108, in the order of `mahjong_env.ACTIONS`"),
    "mask": Column(
        "u1", "the legal actions as 109 bits, `numpy.unpackbits(mask, axis=-1, count=109)`", -(-NUM_ACTIONS // 8)
    ),
}
"""The columns of the table of decisions, in which the rows of a hand are adjacent and in the order of play."""

SOURCES: Final = ("", *(source.word for source in Source))
"""The meanings of the numbers in the column ``source``."""


def hand_columns(people: int) -> dict[str, Column]:
    """Return the columns of the table of hands, which has a row for each hand, in order."""
    sources = ", ".join(f"{number} {word!r}" for number, word in enumerate(SOURCES))
    return {
        "game": Column("<u4", "number of the game in the dataset"),
        "hand": Column("<u4", "number of the hand in the dataset"),
        "first": Column("<u4", "row of its first decision in the shard's table of decisions"),
        "decisions": Column("<u4", "how many decisions were made in it (0 if it ended before anybody was asked)"),
        "value": Column("<i4", "value of the winning hand, 0 after a draw"),
        "points": Column("<i4", "points of each person in the hand, those before its first decision included", people),
        "hand_in_game": Column("<u2", "number of the hand in its game, from 0"),
        "agents": Column("u1", "number of the agent that plays for each person", people),
        "dealer": Column("i1", "who deals, -1 if nobody was asked in the hand"),
        "winner": Column("i1", "who won, -1 after a draw"),
        "source": Column("i1", f"where the winning tile came from: {sources}"),
        "from_seat": Column("i1", "who gave the winning tile, -1 for nobody"),
        "tile": Column("i1", "kind of the winning tile, -1 for none"),
    }


def dtype_of(columns: Mapping[str, Column]) -> np.dtype[Any]:
    """Return the numpy type of a table's rows."""
    named: list[Any] = [
        (name, one.kind) if one.values is None else (name, one.kind, (one.values,)) for name, one in columns.items()
    ]
    return np.dtype(named)


DECISION: Final = np.dtype([*dtype_of(DECISION_COLUMNS).descr, ("_", "u1")])
"""The type of a decision's row, padded to a multiple of four bytes, as torch requires of every column."""


def default_versions() -> dict[str, Any]:
    """Return the versions on which the bytes of every dataset depend."""
    known = {"mahjong_env": __version__, "code": versions()[CODE], "numpy": np.__version__}
    return known | {"observation": OBSERVATION_VERSION}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that determine the contents of a dataset.

    Attributes:
        variant: the name of the variant.
        rules_version: the version of its rules.
        knobs: the knobs that differ from their defaults.
        agents: the agents that play, as texts for `mahjong_agents.make_agent`.
        digests: for each agent, the digests of the files on which its choices depend.
        games: the number of games.
        num_hands: hands in each game.
        seed: the seed of the deals and of the agents' choices.
        shard_games: games in a shard; the last shard may have fewer.
        observations: whether observations are stored.
        records: whether the games are also stored as records.
        parquet: which of `PARQUET_COLUMNS` the Parquet files have; None if there are no such files.
        versions: the versions on which the bytes depend.

    Raises:
        DatasetError: a number is not an integer or out of range, or the agents are not texts.
    """

    variant: str
    rules_version: int
    knobs: Mapping[str, Any] = field(default_factory=dict)
    agents: tuple[str, ...]
    digests: tuple[tuple[str, ...], ...] = ()
    games: int
    num_hands: int = 1
    seed: int
    shard_games: int
    observations: bool = False
    records: bool = True
    parquet: tuple[str, ...] | None = None
    versions: Mapping[str, Any] = field(default_factory=default_versions)

    def __post_init__(self) -> None:
        for name in ("games", "num_hands", "shard_games", "seed"):
            number, least = getattr(self, name), int(name != "seed")
            if not isinstance(number, int) or isinstance(number, bool) or number < least:
                raise DatasetError(f"{name} of a dataset is an integer from {least}, not {number!r}")
        if self.hands > _MOST_HANDS:
            raise DatasetError(f"a dataset has at most {_MOST_HANDS:,} hands, as it numbers them, not {self.hands:,}")
        is_list = not isinstance(self.agents, str) and all(isinstance(agent, str) for agent in self.agents)
        if not is_list or not 0 < len(self.agents) <= _MOST_AGENTS:
            raise DatasetError(f"agents of a dataset are 1 to {_MOST_AGENTS} texts, not {self.agents!r}")

    @property
    def rules(self) -> Rules:
        """The rules that were played; a `DatasetError` if they are unknown here or have another version."""
        try:
            played = find_rules(self.variant, **self.knobs)
        except (MahjongError, TypeError) as error:
            raise DatasetError(f"the dataset cannot be played here: {error}") from None
        if played.version != self.rules_version:
            known = f"here it has version {played.version}"
            raise DatasetError(f"the dataset is of version {self.rules_version} of {self.variant}; {known}")
        return played

    @property
    def hands(self) -> int:
        """The number of hands."""
        return self.games * self.num_hands

    @property
    def shards(self) -> int:
        """The number of shards."""
        return -(-self.games // self.shard_games)

    def games_of(self, shard: int) -> range:
        """Return the games of a shard; a `DatasetError` if there is no such shard."""
        if not is_integer(shard) or not 0 <= shard < self.shards:
            raise DatasetError(f"there is no shard {shard!r}; shards are 0 to {self.shards - 1}")
        return range(shard * self.shard_games, min((shard + 1) * self.shard_games, self.games))

    def to_json(self) -> str:
        """Return the settings as the text of the file `SETTINGS`."""
        told = {"format": FORMAT, "format_version": FORMAT_VERSION} | asdict(self)
        return json.dumps(told, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """Read the settings of a dataset; a `DatasetError` if they are missing, damaged or foreign."""
        path, names = folder / SETTINGS, {item.name for item in fields(cls)}
        if not path.exists():
            raise DatasetError(f"{folder}: there is no dataset here (no {SETTINGS})")
        try:
            told = dict(json.loads(path.read_text(encoding="utf-8")))
            known = told.pop("format", None), told.pop("format_version", None)
            if known != (FORMAT, FORMAT_VERSION):
                raise ValueError(f"it has format and version {known}; this package reads {FORMAT, FORMAT_VERSION}")
            if {"parquet", *told} != names:  # datasets of earlier code lack "parquet"
                raise ValueError(f"it has {sorted(told)} and should have {sorted(names)}")
            if not isinstance(told["agents"], list):
                raise TypeError("agents are a list")
            told |= {"agents": tuple(map(str, told["agents"])), "digests": tuple(map(tuple, told["digests"]))}
            told["parquet"] = None if told.get("parquet") is None else tuple(told["parquet"])
            settings = cls(**told)
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise DatasetError(f"{path}: the settings of this dataset cannot be read: {error}") from error
        return settings


def tables_of(settings: Settings) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    """Return the tables of a shard by name, with the type and the shape of a row, in the order of writing.

    The table of hands is written last, so that its presence shows that the shard is complete. All other tables have a
    row for each decision.
    """
    observations = {"observations": (np.dtype(np.int8), SHAPE)} if settings.observations else {}
    hands = dtype_of(hand_columns(settings.rules.people))
    return {**observations, "decisions": (DECISION, ()), "hands": (hands, ())}


def shard_file(folder: Path, table: str, shard: int) -> Path:
    """Return the path of a shard's file: a table, "records" (JSON lines) or "parquet" (the decisions)."""
    name, suffix = {"records": ("records", "jsonl"), "parquet": ("decisions", "parquet")}.get(table, (table, "npy"))
    return folder / f"{name}-{shard:05d}.{suffix}"


def open_shard(settings: Settings, folder: Path, shard: int) -> Tables:
    """Map the tables of a shard into memory without reading them.

    Raises:
        DatasetError: a table is missing, damaged, or does not fit the others.
    """
    tables = {}
    for name, (dtype, shape) in tables_of(settings).items():
        path = shard_file(folder, name, shard)
        try:
            table: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
        except Exception as error:  # numpy reads headers by Python's parser, whose errors are of many kinds
            raise DatasetError(f"{path}: missing or damaged ({error}); run the same `record` command again") from error
        if table.dtype != dtype or table.shape[1:] != shape or not table.ndim:
            raise DatasetError(f"{path}: not a table of this format: {table.dtype} of shape {table.shape}")
        tables[name] = table
    hands = tables["hands"]
    expected = dict.fromkeys(tables, int(hands["first"][-1:].sum() + hands["decisions"][-1:].sum()))
    expected["hands"] = len(settings.games_of(shard)) * settings.num_hands
    found = {name: len(table) for name, table in tables.items()}
    ends = hands["first"].astype(np.int64) + hands["decisions"]
    if (hands["first"][1:] != ends[:-1]).any() or hands["first"][:1].any():
        raise DatasetError(f"{path}: the hands of this shard do not follow each other")
    if found != expected:
        raise DatasetError(f"{path}: the tables of this shard have {found} rows, not {expected}")
    return tables


def is_whole(settings: Settings, folder: Path, shard: int) -> bool:
    """Return whether every file of a shard exists and is complete."""
    try:
        tables = open_shard(settings, folder, shard)
        if settings.records:
            # A game in which nobody was asked has no record.
            games = np.count_nonzero(tables["hands"]["decisions"].reshape(-1, settings.num_hands).any(axis=1))
            *lines, after = shard_file(folder, "records", shard).read_bytes().split(b"\n")
            if len(lines) != games or after:
                return False
        decisions = len(tables["decisions"])
        has_parquet = settings.parquet is not None and decisions > 0
        return not has_parquet or _has_rows(shard_file(folder, "parquet", shard), decisions)
    except Exception:  # damaged files bring about errors of every kind
        return False


def _has_rows(path: Path, rows: int) -> bool:
    """Return whether a Parquet file has this many rows; without pyarrow, which no reader needs, whether it exists."""
    try:
        from pyarrow.parquet import read_metadata
    except ImportError:
        return path.is_file()
    return bool(read_metadata(path).num_rows == rows)
