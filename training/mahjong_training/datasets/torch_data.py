"""Datasets for torch: a stream of batches whose inputs are rebuilt by replay. Needs torch.

By number, `mahjong_training.datasets.Decisions` is itself what torch's ``DataLoader`` takes.
"""

from __future__ import annotations

from collections.abc import Iterator

from mahjong_env import MissingExtraError
from mahjong_training.datasets.reading import Decisions, Inputs

try:
    import torch
    from torch import Tensor
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError as error:
    raise MissingExtraError("tensors need torch: pip install 'mahjong-env[train]'") from error


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
            yield {name: torch.as_tensor(column) for name, column in batch.items()}
