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
    """Decisions per second, beside other mahjong environments in the same run."""

    variant: tuple[str, ...] = tuple(sorted(VARIANTS))
    """The variants."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE, for every variant named; `python -m mahjong_env rules --variant VARIANT` lists them.
    --knob is the same, and either may be given several times."""
    batches: tuple[int, ...] = (256, 4096)
    """Games at once."""
    play: tuple[str, ...] = ("random", "greedy")
    """Who plays the batches; the time in which agents choose is shown apart. Other environments play at random."""
    runs: int = 3
    """How often everything is measured; medians count."""
    seconds: float = 0.5
    """Timed seconds of each in each run."""
    peers: bool = True
    """Also measure other environments; they need the extra bench."""
    footprint: bool = True
    """Also measure memory and the time to start, in processes of their own."""
    json: Path | None = None
    """File for all that was measured."""


@dataclass(frozen=True, kw_only=True)
class BenchLearningConfig(VariantConfig):
    """Measure how many decisions of a learner a second are played and learned from, beside one table at a time."""

    opponents: tuple[str, ...] = ("random", "greedy")
    """Who sits at all other seats; each of them is measured by itself."""
    tables: tuple[int, ...] = (512,)
    """Tables that are played at once, each number measured by itself."""
    threads: tuple[int, ...] = (1,)
    """Threads of torch, each number measured by itself."""
    self_play_tables: int = 1024
    """Tables of the fast path (`mahjong-env train`), which plays and learns in one process; 0: without it."""
    one_table: bool = True
    """Also measure a Gymnasium environment in Stable-Baselines3's DummyVecEnv, one table at a time."""
    runs: int = 3
    """How often everything is measured; medians count."""
    seconds: float = 3.0
    """How long each measurement takes at least, of the time that passes."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    width: int = 256
    """Units of each hidden layer."""
    layers: int = 2
    """Hidden layers."""
    json: Path | None = None
    """File for all that was measured."""
    n_steps: int = 16
    """Decisions of MaskablePPO at each table between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""


bench: Final = Command(BenchConfig, "mahjong_benchmarks.speed")
bench_learning: Final = Command(BenchLearningConfig, "mahjong_benchmarks.learning")
