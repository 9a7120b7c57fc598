"""Datasets for torch: a stream of batches whose inputs are rebuilt by replay. By number, torch reads `Decisions`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mahjong_env import MissingExtraError
from mahjong_training.datasets.reading import Decisions, Inputs

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ImportError as error:
    raise MissingExtraError("tensors need torch: pip install 'mahjong-env[train]'") from error


class DecisionStream(IterableDataset[dict[str, torch.Tensor]]):
    """Batches of `Decisions.batches` as tensors: ``DataLoader(stream, batch_size=None, num_workers=2)``.

    Several workers share the games out among themselves; ``inputs`` must then be picklable. Set ``seed`` anew before
    every pass: it is that of the order, None for the order in which games were recorded.
    """

    def __init__(
        self,
        decisions: Decisions,
        size: int,
        *,
        inputs: Inputs | None = None,
        hidden: bool = False,
        seed: int | None = 0,
    ) -> None:
        """Take decisions, to be read in batches of a size; ``inputs`` and ``hidden`` as of `Decisions.batches`."""
        self.decisions, self.seed = decisions, seed
        self._batches = partial(decisions.batches, size, inputs=inputs, hidden=hidden)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Go once over the decisions."""
        worker = get_worker_info()
        share = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for batch in self._batches(seed=self.seed, share=share):
            yield {name: torch.as_tensor(column) for name, column in batch.items()}
