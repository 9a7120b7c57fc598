"""Datasets for torch: decisions by number, or a stream whose inputs are rebuilt by replay. Needs torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mahjong_env import MissingExtraError
from mahjong_training.datasets.reading import Batch, Decisions, Inputs

try:
    import torch
    from torch import Tensor
    from torch.utils.data import Dataset, IterableDataset, get_worker_info
except ImportError as error:
    raise MissingExtraError("tensors need torch: pip install 'mahjong-env[train]'") from error


class DecisionRows(Dataset[dict[str, Tensor]]):
    """Decisions by number, read when they are asked for: the columns of `Decisions.take` as tensors.

    An index may be a list of numbers: with ``DataLoader(rows, batch_size=None, sampler=BatchSampler(...))`` a batch is
    read at once.
    """

    def __init__(self, decisions: Decisions, *, observation: bool = False) -> None:
        """Take decisions.

        Args:
            decisions: see `mahjong_training.datasets.open_dataset`.
            observation: also return what was seen, which the dataset must keep.
        """
        self.decisions, self._observation = decisions, observation

    def __len__(self) -> int:
        """The number of decisions."""
        return len(self.decisions)

    def __getitem__(self, number: Any) -> dict[str, Tensor]:
        """Return one decision, or several as a batch."""
        batch = self.decisions.take(number, observation=self._observation)
        return as_tensors(batch if np.ndim(number) else {name: column[0] for name, column in batch.items()})


class DecisionStream(IterableDataset[dict[str, Tensor]]):
    """Batches of `Decisions.batches` as tensors: ``DataLoader(stream, batch_size=None, num_workers=2)``.

    Several workers share the games out among themselves.

    Attributes:
        decisions: the decisions.
        seed: of the order; give every pass another one, before it begins. None: the order in which they were recorded.
    """

    def __init__(self, decisions: Decisions, size: int, *, inputs: Inputs | None = None, seed: int | None = 0) -> None:
        """Take decisions.

        Args:
            decisions: see `mahjong_training.datasets.open_dataset`.
            size: decisions of a batch.
            inputs: see `Decisions.batches`; with several workers it must be picklable.
            seed: of the order of the first pass.
        """
        self.decisions, self._size, self._inputs, self.seed = decisions, size, inputs, seed

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        """Go once over the decisions."""
        worker = get_worker_info()
        share = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for batch in self.decisions.batches(self._size, inputs=self._inputs, seed=self.seed, share=share):
            yield as_tensors(batch)


def as_tensors(batch: Batch) -> dict[str, Tensor]:
    """Return the columns of a batch as tensors of the same types."""
    return {name: torch.as_tensor(column) for name, column in batch.items()}
