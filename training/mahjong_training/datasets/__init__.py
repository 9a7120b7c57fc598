"""Datasets of recorded games: written by ``mahjong-env record``, read lazily by numpy and torch."""

from mahjong_training.datasets.layout import Settings
from mahjong_training.datasets.reading import Batch, Decisions, open_dataset
from mahjong_training.datasets.recording import Shard, play_shard, write_dataset, write_shard

__all__ = ["Batch", "Decisions", "Settings", "Shard", "open_dataset", "play_shard", "write_dataset", "write_shard"]
