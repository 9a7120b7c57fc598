"""Limits of settings: what cannot fit into memory is refused before anything is dealt, learned or played."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from mahjong_agents.base import GAMES_AT_ONCE
from mahjong_agents.policy.plane_inputs import NUM_ACTIONS, SIZE
from mahjong_env import Rules
from mahjong_env.basics.memory import free_memory, size_text
from mahjong_env.observation.planes import SHAPE
from mahjong_training.config import (
    EvaluateConfig,
    RecordConfig,
    TrainConfig,
    TrainSb3Config,
)
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.lineups import orders_of_a_deal

LARGEST: Final = 10**15
"""No count may be larger: all of them then stay exact wherever they are kept."""
_MOST_THREADS: Final = 256
"""More than this, and more than there are cores, is a slip of the keyboard."""

# Measured, in bytes, and rounded up: they decide between what fits and what never could.
_GAME: Final = 16_000
"""A game in an engine, its view and its step included."""
_PROCESS: Final = 200 * 2**20
"""A worker process, which has torch and numpy for itself."""
_FLOAT: Final = 4
_COPIES_OF_A_WEIGHT: Final = 6
"""A weight, its gradient, Adam's two moments, and a checkpoint that is being written (two copies)."""
_DECISIONS_OF_A_HAND: Final = 64
"""Over all seats, where the players are greedy."""
_LIKELY_ACTIONS: Final = 5
_DECISION: Final = 1_500
"""A decision with what was known of its likely actions, twice while parts are joined
(`mahjong_training.learning.self_play`)."""
_MOST_LESSONS: Final = 200_000
"""Decisions of a teacher that are kept at once (`mahjong_training.sb3.warm_start`)."""


def check_training(config: TrainSb3Config) -> None:
    """Check that a run fits.

    Raises:
        TrainingError: it does not; the message says what it would take, what for, and what is free.
    """
    lessons = min(config.warm_start_steps, _MOST_LESSONS)
    check_memory(
        memory_of_tables(config.tables, config.n_steps)
        | memory_of_network(config.width, config.layers, config.batch_size)
        | memory_of_processes(config.processes)
        | {f"--warm-start-steps {config.warm_start_steps}": 2 * lessons * (SIZE + NUM_ACTIONS)}
        | _deals(config.evaluation_deals, people=4, option="--evaluation-deals")
    )


def check_ppo(config: TrainConfig) -> None:
    """Check that a run by self-play fits; see `check_training`."""
    units = config.batch_size * _LIKELY_ACTIONS * config.width * 6  # what goes forwards and backwards
    check_memory(
        {
            f"--tables {config.tables}": config.tables * (_GAME + _DECISIONS_OF_A_HAND * _DECISION),
            f"--width {config.width}": (config.width**2 * _COPIES_OF_A_WEIGHT + units) * _FLOAT,
        }
        | memory_of_processes(config.processes)
        | _deals(max(config.evaluation_deals, config.gate_deals), people=4, option="--evaluation-deals")
    )


def check_evaluation(config: EvaluateConfig) -> None:
    """Check what an evaluation takes before its agents are made; see `check_training`."""
    check_memory(memory_of_processes(config.processes))


def check_lineups(config: EvaluateConfig, rules: Rules, lineups: Sequence[Sequence[int]]) -> None:
    """Check that what is kept of all line-ups fits; see `check_training`."""
    most = max(orders_of_a_deal(lineup, config.seatings) for lineup in lineups)
    check_memory(
        _deals(config.deals, people=rules.people, option="--deals", orders=most) | memory_of_processes(config.processes)
    )


def check_recording(config: RecordConfig, shard_games: int) -> None:
    """Check that the shards that are played at once fit; see `check_training`."""
    seen = 2 * _DECISIONS_OF_A_HAND * SHAPE[0] * SHAPE[1] if config.observations else 0
    each = _GAME + config.num_hands * (_DECISIONS_OF_A_HAND * 200 + seen)
    shards = max(1, min(config.processes, -(-config.hands // config.num_hands // shard_games)))
    games = min(shard_games, config.hands // config.num_hands)
    check_memory({f"--shard-games {shard_games}": shards * games * each} | memory_of_processes(config.processes))


def check_counts(**numbers: float) -> None:
    """Check counts given by users.

    Raises:
        TrainingError: one of them is below 1, or larger than any could be.
    """
    for name, number in numbers.items():
        option = f"--{name.replace('_', '-')}"
        if number < 1:
            raise TrainingError(f"{option} must be at least 1, not {number}")
        if number > LARGEST:
            raise TrainingError(f"{option} must be at most {LARGEST:,}, not {number}")


def check_threads(threads: int) -> None:
    """Check a number of threads.

    Raises:
        TrainingError: below 1, or far more than there are cores.
    """
    most = max(_MOST_THREADS, os.cpu_count() or 1)
    if not 1 <= threads <= most:
        raise TrainingError(
            f"--threads must be from 1 to {most}, not {threads}; this machine has {os.cpu_count()} cores, "
            "and more threads than cores only wait for each other"
        )


def check_seed(seed: int) -> None:
    """Check a seed.

    Raises:
        TrainingError: it is negative, or larger than Stable-Baselines3 takes.
    """
    if not 0 <= seed < 2**32:
        raise TrainingError(f"--seed must be from 0 to {2**32 - 1}, not {seed}")


def check_memory(parts: Mapping[str, int]) -> None:
    """Check that something fits into the memory that is free.

    Args:
        parts: for each thing that takes memory, named by the option that sets its size: bytes.

    Raises:
        TrainingError: it does not fit.
    """
    free, needed = free_memory(), sum(parts.values())
    if free is None or needed <= free:
        return
    largest = max(parts, key=lambda name: parts[name])
    raise TrainingError(
        f"this would take about {size_text(needed)} of memory, {size_text(parts[largest])} of it for {largest}; "
        f"{size_text(free)} is free"
    )


# --- The parts ---------------------------------------------------------------------------------------------------


def memory_of_tables(tables: int, n_steps: int, shown: str | None = None) -> dict[str, int]:
    """Return the bytes that batched tables and their rollouts take, for `check_memory`."""
    a_decision = SIZE + NUM_ACTIONS * (_FLOAT + 1) + 8 * _FLOAT
    each = _GAME + n_steps * a_decision
    steps = f"--n-steps {n_steps}"
    return {f"--tables {shown or tables} with {steps}": tables * each}


def memory_of_network(width: int, layers: int, batch: int) -> dict[str, int]:
    """Return the bytes that a network over planes takes while it learns, for `check_memory`."""
    weights = width * (2 * SIZE + 2 * NUM_ACTIONS) + (layers - 1) * width * width
    activations = 3 * batch * (width * layers + 2 * SIZE)
    return {f"--width {width} and --layers {layers}": weights * _FLOAT * _COPIES_OF_A_WEIGHT + activations * _FLOAT}


def memory_of_processes(processes: int) -> dict[str, int]:
    """Return the bytes that worker processes take, for `check_memory`."""
    return {f"--processes {processes}": processes * _PROCESS if processes > 1 else 0}


def _deals(deals: int, *, people: int, option: str, orders: int = 8) -> dict[str, int]:
    """What is kept of every deal, and the games that are played at once."""
    kept = deals * orders * 8 * (2 + 50 * people)
    return {f"{option} {deals}": kept + min(deals * orders, GAMES_AT_ONCE) * _GAME}
