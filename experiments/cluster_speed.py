"""Two workers of a local Ray cluster against one process, on the same work: the figures of docs/cluster.md.

`PYTHONPATH=tests python -m experiments.cluster_speed` in the environment of `make distributed`, on a machine with two
free cores. Both take turns; medians count. The cluster is up before the clock starts, and has done each piece of work
once.
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch

from mahjong_env import rules
from mahjong_training.config import EvaluateConfig, RecordConfig, TrainConfig
from mahjong_training.datasets.command import settings_of
from mahjong_training.datasets.recording import write_dataset
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning.ppo import Learner
from mahjong_training.learning.self_play import Common, Trajectories, play_part
from mahjong_training.runtime.ray_cluster import connected
from mahjong_training.runtime.workers import new_executor

VARIANT = "hebei"
RUNS = 3
PARTS = 4


def processor() -> float:
    """Seconds of the processor that this process and all below it have used, Ray's own among them."""
    import psutil  # Ray brings it along, and shows it once it is imported itself

    found = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        found += times.user + times.system
    return found


def compare(name: str, unit: str, work: Callable[[str | None], int]) -> None:
    """Let one process and the cluster do the same work in turns; print how many units of it they do a second."""
    work(None)
    work("local")
    took: dict[str | None, list[tuple[float, float]]] = {None: [], "local": []}
    amount = 0
    for _ in range(RUNS):
        for where, found in took.items():
            begin, used = time.perf_counter(), processor()
            amount = work(where)
            found.append((time.perf_counter() - begin, processor() - used))
    (one, one_used), (two, two_used) = (
        (median(seconds for seconds, _ in found), median(used for _, used in found)) for found in took.values()
    )
    print(
        f"{name}: {amount:,} {unit}; one process {amount / one:,.0f}/s, two workers {amount / two:,.0f}/s "
        f"(x {one / two:.2f}); seconds of the processor {one_used:.2f} and {two_used:.2f}",
        flush=True,
    )


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
    """Collecting for an update, learning from it, and both at the same time."""
    config, played = TrainConfig(variant=VARIANT), rules(VARIANT)
    learner = Learner(config, people=played.people, unit=sigma(played), claims=True)
    executors = {where: new_executor(ray=where) for where in (None, "local")}

    def begin(where: str | None, update: int = 0) -> list[object]:
        weights = learner.weights()
        common = Common(played, weights, [], [], 4096, PARTS, 0.0)
        return executors[where].submit(play_part, common, [(1, update, part) for part in range(PARTS)])

    def collect(where: str | None) -> int:
        return len(Trajectories.joined(executors[where].gather(begin(where))))

    compare("ppo, collecting", "decisions", collect)
    number = 0

    def learn(where: str | None) -> int:
        """An update as ``ppo --ahead`` makes it: the next hands are played while it learns."""
        nonlocal number, ahead
        if where is None:
            hands = Trajectories.joined(executors[None].gather(begin(None)))
        else:
            hands = Trajectories.joined(executors[where].gather(ahead or begin(where)))
            ahead = begin(where)
        number += 1
        start = time.process_time()
        learner.update(hands, number=number, progress=0.0)
        learned.append(len(hands) / (time.process_time() - start))
        return len(hands)

    ahead: list[object] = []
    learned: list[float] = []
    compare("ppo --ahead, playing and learning", "decisions", learn)
    print(f"the learner alone: {median(learned):,.0f} decisions/s of a core")
    for one in executors.values():
        one.close()


if __name__ == "__main__":
    torch.set_num_threads(1)
    with connected("local", workers=2):
        compare("evaluation", "hands", evaluation)
        compare("recording", "hands", recording)
        learning()
