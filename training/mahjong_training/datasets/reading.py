"""Reads datasets lazily: tables are mapped into memory, and what the seats saw is rebuilt by replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import NUM_ACTIONS, Engine, IllegalActionError, View
from mahjong_training.datasets.layout import Settings, is_whole, open_observations, open_shard
from mahjong_training.datasets.recording import deal_shard
from mahjong_training.errors import DatasetError

Batch = dict[str, NDArray[Any]]
"""n decisions by column: ``mask`` [n, 109] bool, ``reward`` and ``return`` float32 (points), ``action``, ``seat``,
``agent``, ``step``, ``hand``, ``game`` and ``dataset`` int64; ``inputs`` or ``observation`` if they are asked for."""

Inputs = Callable[[View], NDArray[Any]]
"""Makes an array [n, ...] of the view of n seats."""

Moment = tuple[Engine, NDArray[np.intp], NDArray[np.int64]]
"""Games that are waiting for their next decision: the engine, the numbers of those games in it, and the rows of these
decisions in the shard's table."""

CHUNK_GAMES: Final = 1024
"""Games that are played again at once."""
_POOL: Final = 3
"""Chunks that are shuffled together."""
_NUMBERS: Final = ("action", "seat", "agent", "step", "hand", "game")


class Part:
    """A shard of a dataset.

    Attributes:
        folder: the dataset's folder.
        settings: its settings.
        number: number of the shard.
    """

    def __init__(self, folder: Path, settings: Settings, number: int) -> None:
        """Name a shard; nothing is opened."""
        self.folder, self.settings, self.number = folder, settings, number

    @cached_property
    def _tables(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return open_shard(self.settings, self.folder, self.number)

    @property
    def hands(self) -> NDArray[Any]:
        """The table of hands, mapped into memory."""
        return self._tables[0]

    @property
    def decisions(self) -> NDArray[Any]:
        """The table of decisions, mapped into memory."""
        return self._tables[1]

    @cached_property
    def observations(self) -> NDArray[np.int8]:
        """[decisions, C, 34] int8 what was seen, mapped into memory.

        Raises:
            DatasetError: the dataset does not keep them.
        """
        if not self.settings.observations:
            raise DatasetError(
                f"{self.folder}: it keeps no observations (record --observations does); "
                "batches(inputs=...) rebuilds them by replay"
            )
        return open_observations(self.settings, self.folder, self.number, len(self.decisions))

    @property
    def games(self) -> range:
        """The games of the shard, by their numbers in the dataset."""
        return self.settings.games_of(self.number)

    def __getstate__(self) -> dict[str, Any]:
        """Copies map the files themselves."""
        return {"folder": self.folder, "settings": self.settings, "number": self.number}


@dataclass(frozen=True)
class Choice:
    """Which decisions are wanted.

    Attributes:
        seats: the persons who decide; None: all.
        agents: the agents, as they were named; None: all.
        rows: functions of rows of the table of decisions, each of which says which are wanted.
    """

    seats: tuple[int, ...] | None = None
    agents: tuple[str, ...] | None = None
    rows: tuple[Callable[[NDArray[Any]], NDArray[np.bool_]], ...] = ()

    def of(self, rows: NDArray[Any], agents: Sequence[str]) -> NDArray[np.bool_]:
        """[n] which of these rows, of a dataset with these agents, are wanted."""
        wanted = np.ones(len(rows), np.bool_)
        if self.seats is not None:
            wanted &= np.isin(rows["seat"], self.seats)
        if self.agents is not None:
            wanted &= np.isin(rows["agent"], [number for number, spec in enumerate(agents) if spec in self.agents])
        for condition in self.rows:
            wanted &= condition(rows)
        return wanted


class Decisions:
    """The decisions of one or more datasets, or some of them, as a sequence.

    Nothing is read but what is asked for. Copies may be sent to other processes.

    Attributes:
        parts: the shards that they are in.
        agents: who decided, as they were named; the column ``agent`` of a batch counts in this list.
        variants: the variants that were played.
    """

    def __init__(self, parts: Sequence[Part], choice: Choice | None = None) -> None:
        """Take shards; `open_dataset` finds them."""
        self.parts = tuple(parts)
        self.choice = choice or Choice()
        self.agents = tuple(dict.fromkeys(spec for part in self.parts for spec in part.settings.agents))
        self.variants = tuple(dict.fromkeys(part.settings.variant for part in self.parts))
        self._folders = tuple(dict.fromkeys(part.folder for part in self.parts))

    def where(
        self,
        *,
        seats: Sequence[int] | None = None,
        agents: Sequence[str] | None = None,
        variants: Sequence[str] | None = None,
        rows: Callable[[NDArray[Any]], NDArray[np.bool_]] | None = None,
    ) -> Decisions:
        """Return those decisions of certain seats, agents or variants.

        Args:
            seats: the persons who decide.
            agents: the agents, as the dataset names them.
            variants: the variants.
            rows: a function of [n] rows of the table of decisions (`mahjong_training.datasets.layout.COLUMNS`) that
                returns [n] bool, such as ``lambda rows: rows["return"] > 0``.

        Raises:
            DatasetError: an agent or a variant that there is not; the message lists those that there are.
        """
        for name, asked, there in (("agent", agents, self.agents), ("variant", variants, self.variants)):
            for one in asked or ():
                if one not in there:
                    raise DatasetError(f"no {name} {one!r} is in this dataset; there are {', '.join(there)}")
        choice = replace(
            self.choice,
            seats=self.choice.seats if seats is None else tuple(seats),
            agents=self.choice.agents if agents is None else tuple(agents),
            rows=self.choice.rows if rows is None else (*self.choice.rows, rows),
        )
        return Decisions([part for part in self.parts if not variants or part.settings.variant in variants], choice)

    # --- As a sequence ----------------------------------------------------------------------------------------------
    @cached_property
    def _wanted(self) -> list[NDArray[np.intp] | None]:
        """For each shard the rows that are wanted, None for all."""
        if self.choice == Choice():
            return [None] * len(self.parts)
        return [np.flatnonzero(self.choice.of(part.decisions, part.settings.agents)) for part in self.parts]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        sizes = [
            len(part.decisions) if rows is None else len(rows)
            for part, rows in zip(self.parts, self._wanted, strict=True)
        ]
        return np.cumsum(sizes, dtype=np.int64)

    def __len__(self) -> int:
        """The number of decisions."""
        return int(self._ends[-1]) if self.parts else 0

    def take(self, numbers: Any, *, observation: bool = False) -> Batch:
        """Return decisions by their numbers in the sequence.

        Args:
            numbers: [n] integers from 0 to ``len(self) - 1``, in any order.
            observation: also return what was seen, which the dataset must keep.

        Raises:
            IndexError: a number that there is not.
            DatasetError: a damaged shard, or one without observations.
        """
        numbers = np.atleast_1d(np.asarray(numbers, np.int64))
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self)):
            raise IndexError(f"decisions are numbered 0 to {len(self) - 1}")
        place = np.searchsorted(self._ends, numbers, side="right")
        found: Batch | None = None
        for which in np.unique(place).tolist():
            at = np.flatnonzero(place == which)
            rows = numbers[at] - (self._ends[which - 1] if which else 0)
            wanted = self._wanted[which]
            rows = rows if wanted is None else wanted[rows]
            batch = self._batch(self.parts[which], rows)
            if observation:
                batch["observation"] = self.parts[which].observations[rows]
            if found is None:
                found = {
                    name: np.empty((len(numbers), *column.shape[1:]), column.dtype) for name, column in batch.items()
                }
            for name, column in batch.items():
                found[name][at] = column
        return self._batch(self.parts[0], np.zeros(0, np.intp)) if found is None else found

    def _batch(self, part: Part, rows: NDArray[Any]) -> Batch:
        table = part.decisions[rows]
        batch: Batch = {name: table[name].astype(np.int64) for name in _NUMBERS}
        batch["agent"] = np.array([self.agents.index(spec) for spec in part.settings.agents])[batch["agent"]]
        batch["dataset"] = np.full(len(rows), self._folders.index(part.folder))
        batch["mask"] = np.unpackbits(table["mask"], axis=-1, count=NUM_ACTIONS).view(np.bool_)
        for name in ("reward", "return"):
            batch[name] = table[name].astype(np.float32)
        return batch

    # --- As a stream ------------------------------------------------------------------------------------------------
    def batches(
        self,
        size: int,
        *,
        inputs: Inputs | None = None,
        seed: int | None = None,
        share: tuple[int, int] = (0, 1),
        chunk_games: int = CHUNK_GAMES,
    ) -> Iterator[Batch]:
        """Go once over the decisions, with what the seats saw rebuilt by replay.

        Games are played again chunk by chunk, at the engine's speed; with a seed the chunks come in random order and
        the decisions of a few of them (three thousand games) are shuffled together. So neighbours in a batch come from
        different games, and memory stays small.

        Args:
            size: decisions of a batch; the last one may have fewer.
            inputs: makes the column ``inputs`` of what n seats see (a `mahjong_env.View`): [n, ...]. None: no column.
            seed: of the order; None: the order in which they were recorded.
            share: (k, n): the k-th of n parts of the stream, for several workers.
            chunk_games: games that are played again at once.

        Raises:
            DatasetError: a damaged shard, or one that cannot be played here.
        """
        if size < 1 or chunk_games < 1:
            raise DatasetError(f"a batch has at least 1 decision and a chunk 1 game, not {size} and {chunk_games}")
        rng = None if seed is None else np.random.default_rng([seed, *share])
        pool: list[Batch] = []
        for part, games in self._chunks(seed, share, chunk_games):
            batch = self._chunk(part, games, inputs)
            if batch is None:
                continue
            pool.append(batch)
            if rng is None or len(pool) > _POOL:
                pool = [(yield from _cut(_joined(pool), size, rng))]
        if pool:
            rest = yield from _cut(_joined(pool), size, rng)
            if len(rest["action"]):
                yield rest

    def _chunks(self, seed: int | None, share: tuple[int, int], chunk_games: int) -> list[tuple[Part, range]]:
        chunks = [
            (part, part.games[start : start + chunk_games])
            for part in self.parts
            for start in range(0, len(part.games), chunk_games)
        ]
        if seed is not None:
            order = np.random.default_rng(seed).permutation(len(chunks))
            chunks = [chunks[place] for place in order]
        return chunks[share[0] :: share[1]]

    def _chunk(self, part: Part, games: range, inputs: Inputs | None) -> Batch | None:
        first = (games.start - part.games.start) * part.settings.num_hands
        hands = part.hands[first : first + len(games) * part.settings.num_hands]
        rows = slice(int(hands["first"][0]), int(hands["first"][-1]) + int(hands["decisions"][-1]))
        wanted = self.choice.of(part.decisions[rows], part.settings.agents)
        if not wanted.any():
            return None
        batch = self._batch(part, np.flatnonzero(wanted) + rows.start)
        if inputs is not None:
            batch["inputs"] = rebuild(part.settings, part.hands, part.decisions, games, wanted, inputs)
        return batch


def open_dataset(*folders: str | Path) -> Decisions:
    """Open one or more datasets; tables are mapped when they are asked for.

    Args:
        folders: what ``mahjong-env record`` wrote.

    Raises:
        DatasetError: a folder without a dataset, one of another version, or one that was not finished.
    """
    if not folders:
        raise DatasetError("name at least one folder of a dataset")
    parts = []
    for folder in map(Path, folders):
        settings = Settings.read(folder)
        settings.rules  # noqa: B018  other rules are no damage: they say so themselves
        for number in range(settings.shards):
            if not is_whole(settings, folder, number):
                raise DatasetError(
                    f"{folder}: shard {number} of {settings.shards} is missing or damaged; the same `record` command "
                    "plays it again"
                )
            parts.append(Part(folder, settings, number))
    return Decisions(parts)


def _joined(pool: Sequence[Batch]) -> Batch:
    return {name: np.concatenate([batch[name] for batch in pool]) for name in pool[-1]}


def _cut(batch: Batch, size: int, rng: np.random.Generator | None) -> Any:
    """Yield the decisions in batches of a size; return those that are left over."""
    number = len(batch["action"])
    order = np.arange(number) if rng is None else rng.permutation(number)
    whole = number // size * size
    for start in range(0, whole, size):
        yield {name: column[order[start : start + size]] for name, column in batch.items()}
    return {name: column[order[whole:]] for name, column in batch.items()}


# --- Replay ---------------------------------------------------------------------------------------------------------


def replay(settings: Settings, hands: NDArray[Any], decisions: NDArray[Any], games: range) -> Iterator[Moment]:
    """Play some games of a shard again, up to each decision and past it.

    Args:
        settings: of the dataset.
        hands: the shard's table of hands.
        decisions: its table of decisions.
        games: the games, by their numbers in the dataset.

    Yields:
        Every decision, before it is made; those of several games at once.

    Raises:
        DatasetError: a game cannot be played as it was, or ends with other points: the tables are damaged, or were made
            by other rules.
    """
    first_hand = (games.start - int(hands["game"][0])) * settings.num_hands
    own = hands[first_hand : first_hand + len(games) * settings.num_hands].reshape(len(games), settings.num_hands)
    first = own["first"][:, 0].astype(np.int64)
    length = own["decisions"].sum(axis=1)
    engine = deal_shard(settings, games)
    for step in range(int(length.max(initial=0))):
        live = np.flatnonzero(length > step)
        rows = first[live] + step
        yield engine, live, rows
        try:
            engine.step(decisions["action"][rows].astype(np.int64), games=live)
        except IllegalActionError as error:
            raise DatasetError(f"a shard of the dataset cannot be played as it was: {error}") from error
    points = settings.rules.starting_points + own["points"].sum(axis=1)
    wrong = np.flatnonzero((engine.seat_to_act >= 0) | (engine.points != points).any(axis=1))
    if wrong.size:
        raise DatasetError(
            f"game {games[int(wrong[0])]} of the dataset ends otherwise than it did: the tables are damaged, or "
            "were made by other rules"
        )


def rebuild(
    settings: Settings,
    hands: NDArray[Any],
    decisions: NDArray[Any],
    games: range,
    wanted: NDArray[np.bool_],
    inputs: Callable[[View], NDArray[Any]],
) -> NDArray[Any]:
    """Return [k, ...] what ``inputs`` makes of what the seats saw, for the wanted ones of the decisions of these games.

    Args:
        settings: of the dataset.
        hands: the shard's table of hands.
        decisions: its table of decisions.
        games: the games, by their numbers in the dataset; their decisions are n rows, one after another.
        wanted: [n] which of these are wanted, k of them.
        inputs: a function of a view of m seats that returns [m, ...].

    Raises:
        DatasetError: see `replay`; or ``inputs`` returns something else.
    """
    if not wanted.any():
        return np.zeros(0)
    place = wanted.cumsum() - 1
    begin: int | None = None
    out: NDArray[Any] | None = None
    for engine, live, rows in replay(settings, hands, decisions, games):
        begin = int(rows[0]) if begin is None else begin  # the first decision of the first game that has any
        chosen = np.flatnonzero(wanted[rows - begin])
        if not chosen.size:
            continue
        made = np.asarray(inputs(engine.view(games=live[chosen])))
        if made.shape[:1] != chosen.shape:
            raise DatasetError(f"inputs of {chosen.size} seats are [{chosen.size}, ...], not of shape {made.shape}")
        if out is None:
            out = np.empty((int(wanted.sum()), *made.shape[1:]), made.dtype)
        out[place[rows[chosen] - begin]] = made
    assert out is not None  # at least one decision was wanted
    return out
