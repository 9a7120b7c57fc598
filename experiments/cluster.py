"""Two workers of a local Ray cluster against one process, and what is sent: the figures of docs/research/clusters.md.

`PYTHONPATH=tests python -m experiments.cluster` in the environment of `make distributed`, on a machine with two free
cores. Both take turns; medians count. The cluster is up before the clock starts, and has done each piece of work once.
"""

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import torch

from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_training.config import EvaluateConfig, RecordConfig, TrainConfig
from mahjong_training.datasets.command import settings_of
from mahjong_training.datasets.recording import write_dataset
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import blocks, play_block, sigma
from mahjong_training.learning.ppo import Learner
from mahjong_training.learning.self_play import Common, Trajectories, play_part
from mahjong_training.runtime.ray_cluster import connected
from mahjong_training.runtime.workers import new_executor

VARIANT, RUNS, PARTS = "hebei", 3, 4


def compare(name: str, unit: str, work: Callable[[str | None], int]) -> None:
    """Let one process and the cluster do the same work in turns; print how many units of it they do a second."""
    took: dict[str | None, list[float]] = {None: [], "local": []}
    for run in range(RUNS + 1):
        for where, found in took.items():
            begin = time.perf_counter()
            amount = work(where)
            found += [time.perf_counter() - begin] * (run > 0)
    one, two = (amount / median(found) for found in took.values())
    print(
        f"{name}: {amount:,} {unit}; one process {one:,.0f}/s, two workers {two:,.0f}/s (x {two / one:.2f})", flush=True
    )


def sent(name: str, result: Any, number: int, played: float) -> None:
    """Print the bytes of a result as it travels, and the share of the time for writing and reading it."""
    begin = time.process_time()
    data = pickle.dumps(result, protocol=5)
    pickle.loads(data)
    spent = time.process_time() - begin
    print(f"{name}: {len(data) / number:.0f} bytes each, {spent / (played + spent):.2%} of the time for sending")


def evaluation(where: str | None) -> int:
    config = EvaluateConfig(variant=VARIANT, agents=("greedy", "random"), deals=6000, ray=where)
    return sum(result.hands for result in evaluate(config).results)


def recording(where: str | None) -> int:
    with TemporaryDirectory() as folder:
        config = RecordConfig(variant=VARIANT, out=Path(folder), hands=32_768, shard_games=4096, ray=where)
        settings = settings_of(config)
        write_dataset(settings, config.out, ray=where)
        return settings.hands


def learning() -> None:
    """Collecting for an update, and collecting the next one while this one is learned from."""
    played = rules(VARIANT)
    learner = Learner(TrainConfig(variant=VARIANT), people=played.people, unit=sigma(played), claims=True)
    executors = {where: new_executor(ray=where) for where in (None, "local")}
    ahead: list[object] = []

    def begin(where: str | None) -> list[object]:
        common = Common(played, learner.weights(), [], [], 4096, PARTS, 0.0)
        return executors[where].submit(play_part, common, [(1, 0, part) for part in range(PARTS)])

    def collect(where: str | None) -> int:
        return len(Trajectories.joined(executors[where].gather(begin(where))))

    def learn(where: str | None) -> int:
        nonlocal ahead
        hands = Trajectories.joined(executors[where].gather(ahead if where and ahead else begin(where)))
        ahead = begin(where) if where else ahead
        learner.update(hands, number=1, progress=0.0)
        return len(hands)

    compare("train, collecting", "decisions", collect)
    compare("train --ahead, playing and learning", "decisions", learn)
    start = time.process_time()
    hands = Trajectories.joined(executors[None].gather(begin(None)))
    sent("train, a decision", hands, len(hands), time.process_time() - start)
    print(f"the weights: {len(pickle.dumps(learner.weights())):,} bytes")
    for one in executors.values():
        one.close()


def main() -> None:
    torch.set_num_threads(1)
    with connected("local", workers=2):
        compare("evaluation", "hands", evaluation)
        compare("recording", "hands", recording)
        learning()
    played, agents = rules(VARIANT), [make_agent("greedy"), make_agent("random")]
    (block,) = blocks(one_against_copies(0, 1, played.people), 1500)
    start = time.process_time()
    result = play_block(played, agents, block, 1)
    sent("evaluation, a hand", result, int(result.hands.sum()), time.process_time() - start)


if __name__ == "__main__":
    main()
