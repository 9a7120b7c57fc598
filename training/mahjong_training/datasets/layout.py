"""The format of datasets: settings, files, and the columns of the tables. Described for users in docs/datasets.md.

A dataset is a folder of shards. A shard is a range of games, and a function of the settings and its number alone
(`mahjong_training.datasets.recording`). Its tables are plain ``.npy`` files of named columns, which numpy maps into
memory without reading them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import NUM_ACTIONS, OBSERVATION_VERSION, MahjongError, Rules, __version__
from mahjong_env import rules as find_rules
from mahjong_env.observation.planes import SHAPE
from mahjong_env.scoring.wins import Source
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.versions import CODE, versions

FORMAT: Final = "mahjong_env.dataset"
FORMAT_VERSION: Final = 2  # 1: the same seed dealt other cards
SETTINGS: Final = "dataset.json"
CARD: Final = "README.md"

MASK_BYTES: Final = -(-NUM_ACTIONS // 8)

DECISION: Final = np.dtype(
    [
        ("game", "<u4"),
        ("hand", "<u4"),
        ("reward", "<i4"),
        ("return", "<i4"),
        ("step", "<u2"),
        ("seat", "u1"),
        ("agent", "u1"),
        ("action", "u1"),
        ("mask", "u1", (MASK_BYTES,)),
        ("_", "u1"),  # so that a row is a multiple of four bytes, which torch wants of every column
    ]
)
"""A row for each decision, those of a hand one after another in the order in which they were made."""

COLUMNS: Final[Mapping[str, str]] = {
    "game": "number of the game in the dataset, from 0; it is dealt like game number `game` of an engine with the seed",
    "hand": "number of the hand in the dataset, from 0",
    "reward": "points that the seat receives from this decision until its next one, or until the hand ends",
    "return": "points that the seat receives from this decision until the hand ends; undiscounted",
    "step": "number of the decision in its hand, over all seats, from 0",
    "seat": "who decides (the person, 0 to P-1)",
    "agent": "number of the agent that decides, in the list of agents",
    "action": "the action, 0 to 108, in the order of `mahjong_env.ACTIONS`",
    "mask": "the legal actions as 109 bits, `numpy.unpackbits(mask, axis=-1, count=109)`",
}

SOURCES: Final = ("", *(source.word for source in Source))
"""The meaning of the numbers in the column ``source``."""


def hand_dtype(people: int) -> np.dtype[Any]:
    """Return the columns of the table of hands: a row for each hand, in their order."""
    return np.dtype(
        [
            ("game", "<u4"),
            ("hand", "<u4"),
            ("first", "<u4"),
            ("decisions", "<u4"),
            ("value", "<i4"),
            ("points", "<i4", (people,)),
            ("hand_in_game", "<u2"),
            ("agents", "u1", (people,)),
            ("dealer", "i1"),
            ("winner", "i1"),
            ("source", "i1"),
            ("from_seat", "i1"),
            ("tile", "i1"),
        ]
    )


HAND_COLUMNS: Final[Mapping[str, str]] = {
    "game": "number of the game in the dataset",
    "hand": "number of the hand in the dataset",
    "first": "row of its first decision in the shard's table of decisions",
    "decisions": "how many decisions were made in it (0 if it ended before anybody was asked)",
    "value": "value of the winning hand, 0 after a draw",
    "points": "[P] points that each person won or lost in the hand, those before its first decision included",
    "hand_in_game": "number of the hand in its game, from 0",
    "agents": "[P] number of the agent that plays for each person",
    "dealer": "who deals, -1 if nobody was asked in the hand",
    "winner": "who won, -1 after a draw",
    "source": f"where the winning tile came from: {', '.join(f'{i} {word!r}' for i, word in enumerate(SOURCES))}",
    "from_seat": "who gave the winning tile, -1 for nobody",
    "tile": "kind of the winning tile, -1 for none",
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that the contents of a dataset follow from.

    Attributes:
        variant: the variant's name.
        rules_version: its version.
        knobs: the knobs that differ from their defaults.
        agents: who plays, as `mahjong_agents.make_agent` takes them.
        digests: of each agent the digests of the files that its choices come from.
        games: games in all.
        num_hands: hands of a game.
        seed: of the deals and all choices.
        shard_games: games in a shard; the last one may have fewer.
        observations: whether observations are kept.
        records: whether records are kept.
        versions: of mahjong_env and its code, of numpy and of the observation.
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
    versions: Mapping[str, Any] = field(
        default_factory=lambda: {
            "mahjong_env": __version__,
            "code": versions()[CODE],
            "numpy": np.__version__,
            "observation": OBSERVATION_VERSION,
        }
    )

    @property
    def rules(self) -> Rules:
        """The rules that were played.

        Raises:
            DatasetError: the variant or a knob is not known here, or has another version.
        """
        try:
            played = find_rules(self.variant, **self.knobs)
        except MahjongError as error:
            raise DatasetError(f"the dataset cannot be played here: {error}") from None
        if played.version != self.rules_version:
            raise DatasetError(
                f"the dataset is of version {self.rules_version} of {self.variant}; "
                f"here it has version {played.version}"
            )
        return played

    @property
    def hands(self) -> int:
        """Hands in all."""
        return self.games * self.num_hands

    @property
    def shards(self) -> int:
        """Shards in all."""
        return -(-self.games // self.shard_games)

    def games_of(self, shard: int) -> range:
        """Return the games of a shard."""
        return range(shard * self.shard_games, min((shard + 1) * self.shard_games, self.games))

    def to_json(self) -> str:
        """Return the text of `SETTINGS`."""
        told = {"format": FORMAT, "format_version": FORMAT_VERSION} | asdict(self)
        return json.dumps(told, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Settings:
        """Read the settings of a dataset.

        Raises:
            DatasetError: there is none, or it is damaged, foreign or of another version.
        """
        path = folder / SETTINGS
        try:
            told = dict(json.loads(path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise DatasetError(f"{folder}: there is no dataset here (no {SETTINGS})") from None
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise DatasetError(f"{path}: the settings of this dataset cannot be read ({error})") from error
        if told.pop("format", None) != FORMAT:
            raise DatasetError(f"{path}: not the settings of a dataset (no format {FORMAT!r})")
        version = told.pop("format_version", None)
        if version != FORMAT_VERSION:
            raise DatasetError(f"{path}: a dataset of version {version!r}; this package reads {FORMAT_VERSION}")
        names = {item.name for item in fields(cls)}
        if set(told) != names:
            raise DatasetError(f"{path}: damaged; it has {sorted(told)} and should have {sorted(names)}")
        try:
            settings = cls(
                **told
                | {"agents": tuple(map(str, told["agents"])), "digests": tuple(tuple(one) for one in told["digests"])}
            )
            counts = (settings.games, settings.num_hands, settings.shard_games)
            if not all(isinstance(number, int) and number >= 1 for number in counts):
                raise ValueError(f"games, num_hands and shard_games are {counts}")
        except (TypeError, ValueError) as error:
            raise DatasetError(f"{path}: damaged ({error})") from error
        return settings


def shard_file(folder: Path, table: str, shard: int) -> Path:
    """Return a file of a shard.

    Args:
        folder: the dataset's.
        table: "decisions", "hands", "observations" ([decisions, C, 34] int8) or "records" (lines of JSON). The hands
            are written last: where they are, the shard is whole.
        shard: its number.
    """
    return folder / f"{table}-{shard:05d}.{'jsonl' if table == 'records' else 'npy'}"


def map_table(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...] = ()) -> NDArray[Any]:
    """Map a table into memory; nothing is read yet.

    Args:
        path: the file.
        dtype: what its rows are.
        shape: what comes behind the rows.

    Raises:
        DatasetError: it is missing, cut short, or of another kind.
    """
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise DatasetError(f"{path}: missing; the same `record` command plays the shard again") from None
    except (OSError, ValueError, EOFError) as error:
        raise DatasetError(f"{path}: damaged ({error}); remove it, and the same `record` command mends it") from error
    if found.dtype != dtype or found.shape[1:] != shape or not found.ndim:
        raise DatasetError(f"{path}: not a table of this format: {found.dtype} of shape {found.shape}")
    return found


def is_whole(settings: Settings, folder: Path, shard: int) -> bool:
    """Return True if every file of a shard is there, with as many rows as it must have."""
    try:
        _, decisions = open_shard(settings, folder, shard)
        if settings.observations:
            open_observations(settings, folder, shard, len(decisions))
    except DatasetError:
        return False
    return not settings.records or shard_file(folder, "records", shard).is_file()


def open_shard(settings: Settings, folder: Path, shard: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Map the tables of a shard into memory: its hands and its decisions.

    Raises:
        DatasetError: a table is missing, damaged, or does not fit the other one.
    """
    path = shard_file(folder, "hands", shard)
    hands = map_table(path, hand_dtype(settings.rules.people))
    decisions = map_table(shard_file(folder, "decisions", shard), DECISION)
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
    path = shard_file(folder, "observations", shard)
    found = map_table(path, np.dtype(np.int8), SHAPE)
    if len(found) != decisions:
        raise DatasetError(f"{path}: it has {len(found)} observations; there are {decisions} decisions")
    return found


def bytes_of_hand(settings: Settings, decisions: float = 64) -> int:
    """Return about how many bytes a hand takes on disk; 64 decisions are more than any variant has."""
    row = DECISION.itemsize + (SHAPE[0] * SHAPE[1] if settings.observations else 0)
    return int(decisions * row + hand_dtype(settings.rules.people).itemsize + (450 if settings.records else 0))
