"""Datasets for torch: a stream of batches whose inputs are rebuilt by replay.

For random access by number, torch can read `Decisions` directly.
"""

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
    """The batches of `Decisions.batches` as tensors, for ``DataLoader(stream, batch_size=None, num_workers=2)``.

    Several workers share the games among themselves; ``inputs`` must then be picklable. Set ``seed`` anew before every
    pass.

    Attributes:
        decisions: the decisions to read.
        seed: the seed of the random order; None for the order in which the games were recorded.
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
        """Set up a stream of batches of ``size`` decisions; the other arguments are those of `Decisions.batches`."""
        self.decisions, self.seed = decisions, seed
        self._batches = partial(decisions.batches, size, inputs=inputs, hidden=hidden)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Iterate once over the decisions."""
        worker = get_worker_info()
        share = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for batch in self._batches(seed=self.seed, share=share):
            yield {name: torch.as_tensor(column) for name, column in batch.items()}
