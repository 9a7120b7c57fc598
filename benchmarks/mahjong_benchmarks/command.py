"""The commands ``mahjong-env bench`` and ``bench-learning``, and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mahjong_env.ruleset.registry import VARIANTS
from mahjong_training.commands import Command
from mahjong_training.config import VariantConfig


@dataclass(frozen=True, kw_only=True)
class BenchConfig:
    """Measure decisions per second, memory and the time to start, and compare other mahjong environments."""

    variant: tuple[str, ...] = tuple(sorted(VARIANTS))
    """The variants to measure. By default all of them."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE, which apply to every variant measured. By default each variant's own rules apply.
    `python -m mahjong_env rules --variant VARIANT` lists all house rules.
    --knob is an alias, and either option may be given several times."""
    batches: tuple[int, ...] = (256, 4096)
    """Numbers of games that are played at once. Each is measured by itself."""
    play: tuple[str, ...] = ("random", "greedy")
    """Agents that play the batches. The time that they take to choose is shown in a column of its own.
    Other environments always play at random."""
    runs: int = 3
    """Number of times that everything is measured. The tables show the medians."""
    seconds: float = 0.5
    """Seconds for which each line is timed in each run."""
    peers: bool = True
    """Also measure other environments. They need the extra bench: pip install 'mahjong-env[bench]'."""
    footprint: bool = True
    """Also measure memory and the time to start, each in processes of their own."""
    json: Path | None = None
    """File to which all measurements are written, as JSON. By default none is written."""


@dataclass(frozen=True, kw_only=True)
class BenchLearningConfig(VariantConfig):
    """Measure how many decisions of a learner are played and learned from per second, with many tables and with one."""

    opponents: tuple[str, ...] = ("random", "greedy")
    """Agents that sit at all other seats. Each is measured by itself."""
    tables: tuple[int, ...] = (512,)
    """Numbers of tables that are played at once. Each is measured by itself."""
    threads: tuple[int, ...] = (1,)
    """Numbers of torch threads. Each is measured by itself."""
    self_play_tables: int = 1024
    """Number of tables of the fast path (`mahjong-env train`), which plays and learns in one process.
    With 0, it is left out."""
    one_table: bool = True
    """Also measure a Gymnasium environment in Stable-Baselines3's DummyVecEnv, one table at a time."""
    runs: int = 3
    """Number of times that everything is measured. The tables show the medians."""
    seconds: float = 3.0
    """Least duration of each measurement, in seconds of elapsed time."""
    seed: int = 0
    """Seed of the deals, the initial weights and all random choices."""
    width: int = 256
    """Number of units in each hidden layer of MaskablePPO's network."""
    layers: int = 2
    """Number of hidden layers of MaskablePPO's network."""
    json: Path | None = None
    """File to which all measurements are written, as JSON. By default none is written."""
    n_steps: int = 16
    """Number of MaskablePPO's decisions at each table between two updates."""
    batch_size: int = 2048
    """Number of decisions in a minibatch of MaskablePPO."""


bench: Final = Command(BenchConfig, "mahjong_benchmarks.speed", extras="bench")
bench_learning: Final = Command(BenchLearningConfig, "mahjong_benchmarks.learning", extras="train")
