"""Compare two workers of a local Ray cluster with one process, and measure what is sent.

Run `PYTHONPATH=tests python -m experiments.cluster` in the environment of `make distributed`, on a machine with two
free cores, for the figures of docs/research/clusters.md. The two ways take turns, and figures are medians. The cluster
is up before the clock starts, and has done each piece of work once. With the argument `sent`, only what is sent is
measured, which needs no cluster.
"""

import pickle
import sys
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
from mahjong_training.datasets.recording import settings_of, write_dataset
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import block_cache, blocks, play_block, sigma
from mahjong_training.learning.ppo import Learner
from mahjong_training.learning.self_play import Common, Trajectories, play_part
from mahjong_training.runtime.executors import new_executor
from mahjong_training.runtime.ray_cluster import connected

VARIANT, RUNS, PARTS = "hebei", 3, 4
SENT = ("hebei", "wuhan")


def compare(name: str, unit: str, work: Callable[[str | None], int]) -> None:
    """Let one process and the cluster do the same work in turns, and print how many units each does per second."""
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


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of some work and the processor seconds that it takes, the median of three runs."""
    found, took = None, []
    for _ in range(RUNS):
        begin = time.process_time()
        found = work()
        took.append(time.process_time() - begin)
    return found, median(took)


def sent(name: str, play: Callable[[], Any], count: Callable[[Any], int]) -> tuple[Any, float]:
    """Print the speed of some work, the bytes of its result when it is sent, and the share of time that sending takes.

    Args:
        name: the name of what is counted.
        play: does the work.
        count: returns how many units a result holds.

    Returns:
        The result, and the seconds that it took.
    """
    result, seconds = timed(play)
    _, sending = timed(lambda: pickle.loads(pickle.dumps(result, protocol=5)))
    size, number = len(pickle.dumps(result, protocol=5)), count(result)
    print(
        f"{name}: {number / seconds:,.0f}/s of a core, {size / number:,.0f} bytes each, {sending / seconds:.1%} of the "
        "time for writing and reading them"
    )
    return result, seconds


def sending(variant: str) -> None:
    """Print what is sent and how long that takes, measured in one process without a cluster."""
    played, agents = rules(variant), [make_agent("greedy"), make_agent("random")]
    (block,) = blocks(one_against_copies(0, 1, played.people), 1500)
    result, seconds = sent(
        f"{variant}, hands of an evaluation", lambda: play_block(played, agents, block, 1), lambda one: one.hands.sum()
    )
    with TemporaryDirectory() as folder:
        cache = block_cache(Path(folder), played, ["greedy", "random"], agents, 1)
        _, keeping = timed(lambda: cache.put(block.name, result.arrays()))
    weights = Learner(TrainConfig(variant=variant), seats=played.seats, unit=sigma(played), claims=True).weights()
    common = Common(played, weights, [], [], 2048, 1, 0.0)
    sent(f"{variant}, decisions of train", lambda: play_part(common, (1, 0, 0)), len)
    print(f"{variant}: {keeping / seconds:.1%} for keeping (--out); weights of {len(pickle.dumps(weights)):,} bytes")


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
    """Compare collecting for an update, and collecting for the next update while learning from this one."""
    played = rules(VARIANT)
    learner = Learner(TrainConfig(variant=VARIANT), seats=played.seats, unit=sigma(played), claims=True)
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
    for one in executors.values():
        one.close()


def main() -> None:
    torch.set_num_threads(1)
    for variant in SENT:
        sending(variant)
    if "sent" in sys.argv[1:]:
        return
    with connected("local", workers=2):
        compare("evaluation", "hands", evaluation)
        compare("recording", "hands", recording)
        learning()


if __name__ == "__main__":
    main()
