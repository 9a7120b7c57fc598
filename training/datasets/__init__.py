"""Datasets of recorded games: written by ``python -m training record``, read lazily by numpy and torch."""

from training.datasets.layout import Settings
from training.datasets.playing import Shard, play_shard
from training.datasets.writing import write_dataset, write_shard

__all__ = ["Settings", "Shard", "play_shard", "write_dataset", "write_shard"]
