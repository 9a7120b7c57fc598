"""What work on a cluster costs to send: bytes, and the processor's time beside the work itself.

`PYTHONPATH=tests python -m experiments.cluster_costs` prints the figures of docs/cluster.md. Only the processor's time
is measured, so that a machine that others use too gives about the same.
"""

import pickle
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import torch

from mahjong_agents import make_agent
from mahjong_agents.policy.network import ActionNetwork
from mahjong_env import rules
from mahjong_training.config import TrainConfig
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import block_cache, blocks, play_block, sigma
from mahjong_training.learning.ppo import Learner
from mahjong_training.learning.self_play import play_hands


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds of the processor: the median of three times, after one that does not count."""
    took = []
    for _ in range(4):
        begin = process_time()
        result = work()
        took.append(process_time() - begin)
    return result, median(took[1:])


def sent(result: Any) -> tuple[int, float]:
    """Bytes of a result as it travels, and the seconds that it takes to write and to read it."""
    data, writing = timed(lambda: pickle.dumps(result, protocol=5))
    _, reading = timed(lambda: pickle.loads(data))
    return len(data), writing + reading


def evaluation(variant: str) -> None:
    played = rules(variant)
    agents = [make_agent("greedy"), make_agent("random")]
    lineup = one_against_copies(0, 1, played.people)
    (block,) = blocks(lineup, 1500)
    result, seconds = timed(lambda: play_block(played, agents, block, 1))
    size, sending = sent(result)
    hands = int(result.hands.sum())
    with TemporaryDirectory() as folder:
        kept = block_cache(Path(folder), played, ["greedy", "random"], agents, 1)
        _, keeping = timed(lambda: kept.put(block, result))
    print(
        f"{variant}, evaluation: {hands / seconds:,.0f} hands/s, {size / hands:.0f} bytes a hand, "
        f"{sending / (seconds + sending):.2%} of the time for sending, {keeping / seconds:.2%} of it for keeping"
    )


def learning(variant: str) -> None:
    config = TrainConfig(variant=variant)
    played = rules(variant)
    learner = Learner(config, people=played.people, unit=sigma(played), claims=True)
    weights = learner.weights()
    hands, seconds = timed(lambda: play_hands(played, ActionNetwork(weights), [], tables=2048, share=0, seed=(1, 2)))
    size, sending = sent(hands)
    _, update = timed(lambda: learner.update(hands, number=1, progress=0.0))
    n = len(hands)
    print(
        f"{variant}, learning: an actor {n / (seconds + sending):,.0f} decisions/s, {size / n:.0f} bytes a decision, "
        f"{sending / (seconds + sending):.2%} of its time for sending; the learner {n / update:,.0f} decisions/s; "
        f"weights {len(pickle.dumps(weights)):,} bytes"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in ("hebei", "wuhan"):
        evaluation(name)
        learning(name)
