"""Export of datasets to the formats of other libraries: Parquet, which Hugging Face's datasets read, and Minari.

The packages are imported only when they are needed; the error for a missing one names the ``pip install`` line.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary
from numpy.typing import NDArray

from mahjong_env import ACTIONS, NUM_ACTIONS, Hidden, MissingExtraError, View
from mahjong_env.basics.files import replacing
from mahjong_env.observation.planes import SHAPE
from mahjong_training.datasets.layout import shard_file
from mahjong_training.datasets.reading import Decisions, Inputs, Part, of_each_folder
from mahjong_training.errors import DatasetError
from mahjong_training.runtime.folders import make_folder, naming

_ROWS: Final = 8192
"""The number of decisions in a row group of a Parquet file."""
_EVENTS: Final = 240
"""The number of events in a row; no hand of a shipped variant has as many."""


def arrow() -> Any:
    """Return pyarrow; a `MissingExtraError` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet files need pyarrow: pip install 'mahjong-env[datasets]'") from error
    return pyarrow


def observe(view: View) -> NDArray[np.int8]:
    """Return [n, C, 34] the observations of a view."""
    return view.observation


def write_parquet(part: Part) -> None:
    """Write the Parquet file of a shard, with the columns that its settings ask for.

    A shard without decisions gets no such file.

    Raises:
        MahjongError: see `to_parquet`.
    """
    asked = part.settings.parquet or ()

    def inputs(view: View, hidden: Hidden | None = None) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {"observation": view.observation} if "observation" in asked else {}
        if "events" in asked:
            columns["events"] = view.recent_events(_EVENTS)
        if hidden is not None:
            columns |= {f"hidden_{name}": array for name, array in vars(hidden).items()}
        return columns

    if not len(part.tables["decisions"]):
        return
    path = shard_file(part.folder, "parquet", part.number)
    to_parquet(Decisions([part]), path, inputs=inputs if asked else None, hidden="hidden" in asked)


def parquet_columns(path: Path) -> dict[str, str]:
    """Return the type and shape of each column of a Parquet file, such as "int8 [38, 34]"."""
    columns = {}
    for column in arrow().parquet.read_schema(path):
        kind, shape = column.type, []
        while hasattr(kind, "list_size"):
            shape.append(kind.list_size)
            kind = kind.value_type
        columns[column.name] = " ".join(
            ["float32" if kind == "float" else str(kind), *map(str, [shape] if shape else [])]
        )
    return columns


def to_parquet(decisions: Decisions, path: str | Path, *, inputs: Inputs | None = None, hidden: bool = False) -> int:
    """Write decisions as one Parquet file, which ``datasets.load_dataset("parquet", data_files=...)`` reads.

    The columns are those of `Decisions.batches` with these ``inputs``, such as `observe`. The agent and the variant are
    given by name, and arrays as nested lists of the same shape.

    Args:
        decisions: the decisions to write.
        path: the file, which is replaced at the end.
        inputs: see `Decisions.batches`.
        hidden: see `Decisions.batches`.

    Returns:
        The number of rows written.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DatasetError: there are no decisions, they cannot be read (see `Decisions.batches`), or ``inputs`` make a column
            ``variant``.
        WriteError: the file cannot be written.
    """
    package = arrow()
    _refuse_none(decisions)
    path, rows, writer = Path(path), 0, None
    variants = np.array([part.settings.variant for part in of_each_folder(decisions.parts)])
    make_folder(path.parent)
    with naming(path), ExitStack() as stack:
        for batch in decisions.batches(_ROWS, inputs=inputs, hidden=hidden):
            if "variant" in batch:
                raise DatasetError("inputs made a column 'variant', which the file has already; choose another")
            batch["agent"] = np.array(decisions.agents)[batch["agent"]]
            batch["variant"] = variants[batch.pop("dataset")]
            columns = {name: package.array(column.reshape(-1)) for name, column in batch.items()}
            for name, column in batch.items():
                for size in column.shape[:0:-1]:
                    columns[name] = package.FixedSizeListArray.from_arrays(columns[name], size)
            table = package.table(columns)
            if writer is None:
                file = stack.enter_context(replacing(path))
                writer = stack.enter_context(package.parquet.ParquetWriter(file, table.schema, compression="zstd"))
            writer.write_table(table)
            rows += len(table)
    return rows


def _refuse_none(decisions: Decisions) -> None:
    if not len(decisions):
        raise DatasetError("no decisions were chosen: there is nothing to write")


def to_minari(decisions: Decisions, dataset_id: str, **about: Any) -> Any:
    """Make a Minari dataset, with an episode for each seat of each hand, as a Minari episode has a single agent.

    Observations are ``{"observation": int8 [C, 34], "action_mask": int8 [109]}``, as in the environments. Minari needs
    one more observation after the last action; it is all zeros. Everything is held in memory, so choose a few thousand
    hands.

    Args:
        decisions: the decisions to write; they must include all decisions of a seat in a hand.
        dataset_id: the name of the dataset, such as "mahjong_env/hebei-greedy-v0", under which Minari stores it.
        **about: further arguments of ``minari.create_dataset_from_buffers``, such as ``author``.

    Returns:
        The Minari dataset.

    Raises:
        MissingExtraError: Minari or pyarrow is not installed.
        DatasetError: there are no decisions, they cannot be read (see `Decisions.batches`), or Minari refuses the
            dataset, as it does where the name is taken.
    """
    try:
        import minari
        import pyarrow  # noqa: F401  # with which Minari writes what follows
        from minari.data_collector import EpisodeBuffer
    except ImportError as error:
        raise MissingExtraError(
            "Minari datasets need minari and pyarrow: pip install 'mahjong-env[datasets]' minari"
        ) from error
    _refuse_none(decisions)
    space = Dict({"observation": Box(-128, 127, SHAPE, np.int8), "action_mask": MultiBinary(NUM_ACTIONS)})
    buffers = [EpisodeBuffer(id=number, **episode) for number, episode in enumerate(episodes(decisions))]
    spaces = {"observation_space": space, "action_space": Discrete(len(ACTIONS)), "data_format": "arrow"}
    try:
        return minari.create_dataset_from_buffers(dataset_id, buffers, **(spaces | about))
    except ValueError as error:
        raise DatasetError(f"Minari refuses {dataset_id!r}: {error}") from error


def episodes(decisions: Decisions) -> Iterator[dict[str, Any]]:
    """Yield an episode for each seat of each hand in Minari's form, with t + 1 observations for t decisions."""
    # One batch, so that hands are whole.
    for batch in decisions.batches(max(1, len(decisions)), inputs=lambda view: view.observation):
        key = (batch["dataset"] << 40) + batch["hand"] * 8 + batch["seat"]
        order = np.argsort(key, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            seen, masks = batch["inputs"][rows], batch["mask"][rows].astype(np.int8)
            yield {
                "observations": {
                    "observation": np.concatenate([seen, np.zeros_like(seen[:1])]),
                    "action_mask": np.concatenate([masks, np.zeros_like(masks[:1])]),
                },
                "actions": batch["action"][rows],
                "rewards": batch["reward"][rows],
                "terminations": np.arange(len(rows)) == len(rows) - 1,
                "truncations": np.zeros(len(rows), np.bool_),
            }
