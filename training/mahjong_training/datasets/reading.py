"""Lazy reading of datasets: tables are mapped into memory, and what the seats saw is rebuilt by replay."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import NUM_ACTIONS, Engine, IllegalActionError
from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.types import is_integer
from mahjong_env.records import deal_again
from mahjong_training.datasets.layout import DECISION_COLUMNS, Settings, Tables, is_whole, open_shard
from mahjong_training.errors import DatasetError

Batch = dict[str, NDArray[Any]]
"""n decisions by column.

``mask`` is [n, 109] bool, ``reward`` and ``return`` are [n] float32 (points), and ``action``, ``seat``, ``agent``,
``step``, ``hand``, ``game`` and ``dataset`` are [n] int64. Further columns may be computed from what the seats saw; see
`Inputs`.
"""

Inputs = Callable[..., NDArray[Any] | Mapping[str, NDArray[Any]]]
"""A function that computes columns of a batch from the view of n seats.

It returns an array [n, ...], which becomes the column ``inputs``, or several arrays by column, with names other than
those of `Batch`. Names, types and shapes [...] must be the same in every call. With ``hidden``, the function also gets
what the seats may not see (`mahjong_env.Hidden`), for labels.
"""

Condition = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""A function that chooses rows of the table of decisions (`mahjong_training.datasets.layout.DECISION_COLUMNS`).

It is called once for each shard with all n rows, and returns [n] booleans.
"""

CHUNK_GAMES: Final = 1024
"""The number of games that are replayed at once."""
_POOL: Final = 3
"""The number of chunks that are shuffled together."""


def deal_shard(settings: Settings, games: Sequence[int]) -> Engine:
    """Return an engine with these games of a dataset as they were dealt, which depends on the seed alone."""
    engine = Engine(settings.rules, len(games), seed=settings.seed, num_hands=settings.num_hands)
    deal_again(engine, fold_seed(settings.seed), np.asarray(games))
    return engine


class Part:
    """A shard of a dataset.

    Attributes:
        folder: the folder of the dataset.
        settings: the settings of the dataset.
        number: the number of the shard.
        games: the numbers of its games in the dataset.
    """

    def __init__(self, folder: Path, settings: Settings, number: int, tables: Tables | None = None) -> None:
        """Take the tables if they are in memory already; otherwise they are opened on first use."""
        self.folder, self.settings, self.number = folder, settings, number
        self.games = settings.games_of(number)
        if tables is not None:
            self.tables = tables

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the tables; a copy maps the files for itself."""
        return {name: value for name, value in vars(self).items() if name != "tables"}

    @cached_property
    def tables(self) -> Tables:
        """The tables by name, mapped into memory; see `mahjong_training.datasets.layout.tables_of`."""
        return open_shard(self.settings, self.folder, self.number)

    def hands_of(self, games: range) -> NDArray[Any]:
        """Return [games, hands of a game] the rows of the table of hands for some games."""
        num_hands = self.settings.num_hands
        first = (games.start - self.games.start) * num_hands
        return self.tables["hands"][first : first + len(games) * num_hands].reshape(len(games), num_hands)

    def replay(self, games: range) -> Iterator[tuple[Engine, NDArray[np.intp], NDArray[np.int64]]]:
        """Replay some games, stopping before each decision.

        Yields:
            An engine, [n] the numbers of the games in it that wait for their next decision, and [n] the rows of these
            decisions in the table of decisions.

        Raises:
            DatasetError: a game cannot be replayed as it was recorded, or pays other points.
        """
        hands, decisions = self.hands_of(games), self.tables["decisions"]
        actions = decisions["action"]
        first, length = hands["first"][:, 0].astype(np.int64), hands["decisions"].sum(axis=1)
        engine = deal_shard(self.settings, games)
        # [games, hands, P] the points after each hand, [games] the current hand of each game, and [games, P] the return
        # that each seat's next decision in that hand must have, NaN before its first.
        after = self.settings.rules.starting_points + hands["points"].astype(np.int64).cumsum(axis=1)
        current, following = np.zeros(len(games), np.intp), np.full(after[:, 0].shape, np.nan)
        for step in range(int(length.max(initial=0))):
            live = np.flatnonzero(length > step)
            rows = first[live] + step
            told, legal = decisions["seat"][rows], np.packbits(engine.action_mask[live], axis=-1)
            if (told != engine.seat_to_act[live]).any() or (decisions["mask"][rows] != legal).any():
                why = "another seat, or other actions"
                raise DatasetError(f"{self.folder}: shard {self.number} cannot be replayed: {why}")
            returns, due = decisions["return"][rows], following[live, told]
            is_paid = returns == after[live, current[live], told] - engine.points[live, told]
            self._check(is_paid & (np.isnan(due) | (due == returns)), "pays", games, live)
            following[live, told] = returns - decisions["reward"][rows].astype(np.int64)
            yield engine, live, rows
            try:
                ended = engine.step(actions[rows].astype(np.int64), games=live).outcome
            except IllegalActionError as error:
                raise DatasetError(f"{self.folder}: shard {self.number} cannot be replayed: {error}") from error
            is_paid = (ended.points == after[ended.game, current[ended.game]]).all(axis=1)
            nothing_follows = ~np.nan_to_num(following[ended.game]).any(axis=1)
            self._check(is_paid & nothing_follows, "pays", games, ended.game)
            current[ended.game] += 1
            following[ended.game] = np.nan
        points = self.settings.rules.starting_points + hands["points"].sum(axis=1)
        self._check(
            (engine.seat_to_act < 0) & (engine.points == points).all(axis=1), "ends", games, np.arange(len(games))
        )

    @staticmethod
    def _check(is_right: NDArray[np.bool_], does: str, games: range, which: NDArray[np.intp]) -> None:
        """Raise `DatasetError` unless ``is_right`` [n] holds for all; ``which`` [n] are positions in ``games``."""
        if not is_right.all():
            game, why = games[int(which[is_right.argmin()])], "the tables are damaged, or were made by other rules"
            raise DatasetError(f"game {game} of the dataset {does} differently from what was recorded: {why}")


class Decisions:
    """The decisions of one or more datasets, or a selection of them, as a sequence.

    Only what you ask for is read. Copies may be sent to other processes, and torch's ``DataLoader`` accepts the object
    directly.

    Attributes:
        parts: the shards that contain the decisions.
        agents: the agents that decided, by the texts that made them; the column ``agent`` of a batch is an index into
            this list.
        variants: the variants that were played.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        seats: Sequence[int] | None = None,
        agents: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
    ) -> None:
        """Wrap shards; use `open_dataset` to find them and `where` to select decisions."""
        self.parts = tuple(parts)
        self.agents = tuple(dict.fromkeys(spec for part in self.parts for spec in part.settings.agents))
        self.variants = tuple(dict.fromkeys(part.settings.variant for part in self.parts))
        self._seats, self._agents, self._conditions = seats, agents, tuple(conditions)
        self._folders = tuple(dict.fromkeys(part.folder for part in self.parts))

    def where(
        self,
        *,
        seats: int | Sequence[int] | None = None,
        agents: str | Sequence[str] | None = None,
        variants: str | Sequence[str] | None = None,
        rows: Condition | None = None,
    ) -> Decisions:
        """Select decisions by person, agent or variant, or by a condition on their rows.

        Args:
            seats: the persons who decide; None for all.
            agents: the agents that decide, as the dataset names them; None for all.
            variants: the variants; None for all.
            rows: a further condition, such as ``lambda rows: rows["return"] > 0``.

        Returns:
            The decisions that fulfil all of these conditions.

        Raises:
            DatasetError: a person, an agent or a variant is not in the dataset.
        """
        seats, agents, variants = _listed(seats), _listed(agents), _listed(variants)
        people = max((part.settings.rules.people for part in of_each_folder(self.parts)), default=0)
        known: Iterable[tuple[str, Any, Any]] = (
            ("person", seats, range(people)),
            ("agent", agents, self.agents),
            ("variant", variants, self.variants),
        )
        for name, asked, there in known:
            for one in asked or ():
                if one not in there:
                    valid = ", ".join(map(str, there))
                    raise DatasetError(f"no {name} {one!r} is in this dataset; there are {valid}")
        return Decisions(
            [part for part in self.parts if variants is None or part.settings.variant in variants],
            _both(self._seats, seats),
            _both(self._agents, agents),
            self._conditions if rows is None else (*self._conditions, rows),
        )

    def _wanted(self, part: Part) -> NDArray[np.uint32] | None:
        """Return [k] the numbers of the selected rows of a part; None if all rows are selected."""
        if self._seats is None and self._agents is None and not self._conditions:
            return None
        table = part.tables["decisions"]
        wanted = np.ones(len(table), np.bool_)
        if self._seats is not None:
            wanted &= np.isin(table["seat"], self._seats)
        if self._agents is not None:
            numbers = [number for number, spec in enumerate(part.settings.agents) if spec in self._agents]
            wanted &= np.isin(table["agent"], numbers)
        for condition in self._conditions:
            chosen = np.asarray(condition(table))
            if chosen.dtype != np.bool_ or chosen.shape != wanted.shape:
                found = f"{chosen.dtype} of shape {chosen.shape}"
                raise DatasetError(f"a condition returns [{len(table)}] booleans, one for each row, not {found}")
            wanted &= chosen
        return np.flatnonzero(wanted).astype(np.uint32)  # as the table of hands numbers them

    @cached_property
    def _rows(self) -> list[NDArray[np.uint32] | None]:
        """The selected rows [k] of each part, None for all rows; conditions are evaluated only once."""
        return [self._wanted(part) for part in self.parts]

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        sizes = [
            len(part.tables["decisions"] if rows is None else rows)
            for part, rows in zip(self.parts, self._rows, strict=True)
        ]
        return np.cumsum(sizes, dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of decisions."""
        return int(self._ends[-1]) if self.parts else 0

    def __getitem__(self, number: Any) -> dict[str, Any]:
        """Return one decision by its number, or a batch of several; see `take`."""
        batch = self.take(number)
        return batch if np.ndim(number) else {name: column[0] for name, column in batch.items()}

    def take(self, numbers: Any) -> Batch:
        """Return decisions by their numbers in the sequence.

        Args:
            numbers: [n] numbers from 0 to ``len(self) - 1``, in any order, or a boolean mask with an entry for each
                decision.

        Returns:
            A batch. It has the column ``observation``, with what the seats saw, if all of the datasets store it.

        Raises:
            IndexError: there is no decision with one of these numbers.
            DatasetError: a shard is damaged.
        """
        asked = np.atleast_1d(np.asarray(numbers))
        if asked.dtype == np.bool_ and asked.shape == (len(self),):
            asked = np.flatnonzero(asked)
        if asked.size and (asked.dtype.kind not in "iu" or asked.ndim > 1):
            raise IndexError(f"decisions are numbered by integers [n], or chosen by [{len(self)}] booleans")
        numbers = asked.astype(np.int64)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(self)):
            raise IndexError(f"decisions are numbered 0 to {len(self) - 1}")
        place, order, batches = np.searchsorted(self._ends, numbers, side="right"), [], []
        for which in np.unique(place).tolist() or [0]:
            order.append(np.flatnonzero(place == which))
            rows = numbers[order[-1]] - (self._ends[which - 1] if which else 0)
            part, wanted = self.parts[which], self._rows[which]
            rows = rows if wanted is None else wanted[rows]
            batches.append(self._batch(part, rows))
            if all(one.settings.observations for one in self.parts):
                batches[-1]["observation"] = part.tables["observations"][rows]
        back = np.argsort(np.concatenate(order))
        return {name: column[back] for name, column in _joined(batches).items()}

    def _batch(self, part: Part, rows: NDArray[Any]) -> Batch:
        table = part.tables["decisions"][rows]
        batch: Batch = {name: table[name].astype(np.int64) for name in DECISION_COLUMNS if name != "mask"}
        batch |= {name: batch[name].astype(np.float32) for name in ("reward", "return")}
        batch["mask"] = np.unpackbits(table["mask"], axis=-1, count=NUM_ACTIONS).view(np.bool_)
        if (batch["agent"] >= len(part.settings.agents)).any():
            raise DatasetError(f"{part.folder}: a decision of an agent that is not named; the tables are damaged")
        batch["agent"] = np.array([self.agents.index(spec) for spec in part.settings.agents])[batch["agent"]]
        batch["dataset"] = np.full(len(rows), self._folders.index(part.folder))
        return batch

    def batches(
        self,
        size: int,
        *,
        inputs: Inputs | None = None,
        hidden: bool = False,
        seed: int | None = None,
        share: tuple[int, int] = (0, 1),
    ) -> Iterator[Batch]:
        """Iterate once over the decisions, with what the seats saw rebuilt by replay.

        Games are replayed chunk by chunk, at the engine's speed. With a seed, the chunks come in random order and the
        decisions of a few chunks (three thousand games) are shuffled together.

        Args:
            size: the number of decisions in a batch; the last batch may have fewer.
            inputs: a function that computes columns from what n seats see (a `mahjong_env.View`). It returns an array
                [n, ...], which becomes the column ``inputs``, or several arrays by column. None for no such columns.
            hidden: whether to call ``inputs(view, hidden)``, for labels of what the seats cannot see (a
                `mahjong_env.Hidden`).
            seed: the seed of the random order; None for the order in which the decisions were recorded.
            share: (k, n), to yield only the k-th of n parts of the stream, with k from 0 to n - 1, for several workers.

        Yields:
            Batches of decisions.

        Raises:
            DatasetError: a shard is damaged or cannot be replayed here, the size, seed or share is not valid, or
                ``inputs`` or a condition returns something other than `Inputs` and `Condition` require.
        """
        if not is_integer(size) or size < 1:
            raise DatasetError(f"the size of a batch is an integer from 1, not {size!r}")
        if seed is not None and (not is_integer(seed) or seed < 0):
            raise DatasetError(f"the seed is an integer from 0, or None, not {seed!r}")
        if len(share) != 2 or not all(map(is_integer, share)) or not 0 <= share[0] < share[1]:
            raise DatasetError(f"a share is (k, n), the k-th of n parts with k from 0 to n - 1, not {share!r}")
        rng = None if seed is None else np.random.default_rng([seed, *share])
        pool: list[Batch] = []
        kinds: _Kinds = {}
        for which, games in self._chunks(seed)[share[0] :: share[1]]:
            batch = self._chunk(which, games, inputs, hidden, kinds)
            if batch is None:
                continue
            pool.append(batch)
            if rng is None or len(pool) > _POOL:
                pool = [(yield from _cut(_joined(pool), size, rng))]
        if pool:
            rest = yield from _cut(_joined(pool), size, rng)
            if len(rest["action"]):
                yield rest

    def _chunks(self, seed: int | None) -> list[tuple[int, range]]:
        """Return the chunks, each as the number of a part and some of its games."""
        chunks = [
            (which, part.games[start : start + CHUNK_GAMES])
            for which, part in enumerate(self.parts)
            for start in range(0, len(part.games), CHUNK_GAMES)
        ]
        order = range(len(chunks)) if seed is None else np.random.default_rng(seed).permutation(len(chunks))
        return [chunks[place] for place in order]

    def _chunk(self, which: int, games: range, inputs: Inputs | None, hidden: bool, kinds: _Kinds) -> Batch | None:
        """Return the selected decisions of some games of part number ``which``; None if there are none."""
        part, chosen = self.parts[which], self._rows[which]
        hands = part.hands_of(games).reshape(-1)
        start, stop = int(hands["first"][0]), int(hands["first"][-1]) + int(hands["decisions"][-1])
        if chosen is None:
            wanted = np.arange(start, stop)
        else:
            wanted = chosen[slice(*np.searchsorted(chosen, (start, stop)))].astype(np.intp)
        if not wanted.size:
            return None
        batch = self._batch(part, wanted)
        return batch if inputs is None else batch | _rebuilt(part, games, wanted, inputs, hidden, kinds, batch)


def open_dataset(*folders: str | Path) -> Decisions:
    """Open one or more datasets that ``mahjong-env record`` wrote.

    Args:
        *folders: the folders of the datasets.

    Returns:
        All decisions of the datasets, as one sequence.

    Raises:
        DatasetError: a folder is named twice, or has no dataset, or one of another version, or one that is not
            complete.
    """
    if not folders:
        raise DatasetError("name at least one folder of a dataset")
    named = [Path(folder).resolve() for folder in folders]
    if twice := [str(folder) for folder in named if named.count(folder) > 1]:
        raise DatasetError(f"{twice[0]}: this folder is named twice; name each dataset once")
    parts = []
    for folder in map(Path, folders):
        settings = Settings.read(folder)
        settings.rules  # noqa: B018  rules that do not fit raise an error of their own here, not one about damage
        for number in range(settings.shards):
            if not is_whole(settings, folder, number):
                why = "is missing or damaged; run the same `record` command to play it again"
                raise DatasetError(f"{folder}: shard {number} of {settings.shards} {why}")
            parts.append(Part(folder, settings, number))
    return Decisions(parts)


_Kinds = dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
"""The type and the shape [...] of each column that ``inputs`` returns, as of its first call."""


def _rebuilt(
    part: Part, games: range, wanted: NDArray[np.intp], inputs: Inputs, hidden: bool, kinds: _Kinds, recorded: Batch
) -> Batch:
    """Return the columns that ``inputs`` computes from what the seats saw.

    Args:
        part: the shard.
        games: the games to replay.
        wanted: [k] the selected rows of the shard, ascending, all of them of these games.
        inputs: see `Decisions.batches`.
        hidden: see `Decisions.batches`.
        kinds: the types and shapes of the columns; filled in by the first call.
        recorded: the columns that exist already.

    Raises:
        DatasetError: the shard is damaged, or a column has another type or shape than before or the name of a recorded
            column.
    """
    columns: Batch = {}
    for engine, live, rows in part.replay(games):
        place = np.searchsorted(wanted, rows)
        chosen = np.flatnonzero(wanted[np.minimum(place, len(wanted) - 1)] == rows)
        if not chosen.size:
            continue
        view = engine.view(games=live[chosen])
        made = inputs(view, engine.hidden(games=live[chosen])) if hidden else inputs(view)
        named = made if isinstance(made, Mapping) else {"inputs": made}
        arrays = {name: np.asarray(column) for name, column in named.items()}
        for name, array in arrays.items():
            if array.shape[:1] != chosen.shape:
                raise DatasetError(f"{name} of {chosen.size} seats must be [{chosen.size}, ...], not {array.shape}")
            if name in recorded:
                raise DatasetError(f"inputs made a column {name!r}, which the dataset has already; choose another")
        found = {name: (array.dtype, array.shape[1:]) for name, array in arrays.items()}
        if not kinds:
            kinds.update(found)
        if found != kinds:
            raise DatasetError(f"inputs made the columns {_told(kinds)}, and in a later call {_told(found)}")
        columns = columns or {name: np.empty((len(wanted), *shape), dtype) for name, (dtype, shape) in kinds.items()}
        for name, array in arrays.items():
            columns[name][place[chosen]] = array
    return columns


def _told(kinds: _Kinds) -> str:
    """Return a description of columns, for messages."""
    return ", ".join(f"{name} (n, {', '.join(map(str, shape))}) {dtype}" for name, (dtype, shape) in kinds.items())


def _listed(asked: Any) -> tuple[Any, ...] | None:
    """Return a selection as a tuple; a text or a number counts as one item, and None stays None."""
    if asked is None:
        return None
    return (asked,) if isinstance(asked, str) or not isinstance(asked, Iterable) else tuple(asked)


def _both(one: Sequence[Any] | None, other: Sequence[Any] | None) -> Sequence[Any] | None:
    """Return the items that are in both lists, where None stands for everything."""
    if one is None or other is None:
        return other if one is None else one
    return [each for each in one if each in other]


def of_each_folder(parts: Iterable[Part]) -> list[Part]:
    """Return one part of each dataset, in order."""
    return list({part.folder: part for part in parts}.values())


def _joined(pool: Sequence[Batch]) -> Batch:
    return {name: np.concatenate([batch[name] for batch in pool]) for name in pool[-1]}


def _cut(batch: Batch, size: int, rng: np.random.Generator | None) -> Generator[Batch, None, Batch]:
    """Yield the decisions in batches of a fixed size; return the remaining ones."""
    number = len(batch["action"])
    order = np.arange(number) if rng is None else rng.permutation(number)
    whole = number // size * size
    for start in range(0, whole, size):
        yield {name: column[order[start : start + size]] for name, column in batch.items()}
    return {name: column[order[whole:]] for name, column in batch.items()}
