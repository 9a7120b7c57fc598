"""Evaluations in several processes: Python's own pool, whose workers each make the agents for themselves."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from agents import Agent, make_agent
from mahjong_env import Rules
from mahjong_env.ruleset.knobs import read_rules
from training.config import EvaluateConfig
from training.errors import WorkerError
from training.lineups import Block, play_block
from training.play import Played

_made: tuple[Rules, list[Agent]]
"""In a worker: what is played, and who may play."""


def play_in_processes(config: EvaluateConfig, blocks: Sequence[Block]) -> Iterator[Played]:
    """Play blocks in ``config.processes`` processes, as `play_block` would here.

    Args:
        config: what is played by whom; looked at before, so that nothing in it can fail.
        blocks: what to play.

    Yields:
        What happened in each block, in their order.

    Raises:
        MahjongError: an agent cannot play.
        WorkerError: a worker ended before its work was done.
    """
    # Not forked: threads of torch do not survive that.
    pool = ProcessPoolExecutor(
        min(config.processes, len(blocks)), multiprocessing.get_context("spawn"), _begin, (config,)
    )
    try:
        yield from pool.map(_play, blocks, [config.seed] * len(blocks))
    except BrokenProcessPool as error:
        raise WorkerError("a worker process ended before its work was done: killed, or out of memory") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(config: EvaluateConfig) -> None:
    global _made
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits, which then ends this one
    set_threads(config.threads)
    _made = read_rules(config.variant, config.knobs), [make_agent(spec) for spec in config.agents]


def _play(block: Block, seed: int) -> Played:
    return play_block(*_made, block, seed)


def set_threads(threads: int) -> None:
    """Limit torch's threads, if torch is installed: evaluating agents without it needs none."""
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(threads)
