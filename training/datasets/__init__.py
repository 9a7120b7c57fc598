"""Datasets of recorded games: written by ``python -m training record``, read lazily by numpy and torch.

`training.datasets.torch_data` has the classes for torch, `training.datasets.exports` other formats.
"""

from training.datasets.layout import Settings
from training.datasets.playing import Shard, play_shard
from training.datasets.reading import Batch, Decisions, open_dataset
from training.datasets.writing import write_dataset, write_shard

__all__ = ["Batch", "Decisions", "Settings", "Shard", "open_dataset", "play_shard", "write_dataset", "write_shard"]
