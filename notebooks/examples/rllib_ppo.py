"""RLlib's PPO learns a variant, in the environment of `make distributed`:

    python notebooks/examples/rllib_ppo.py hebei 10 runs/rllib.zip

It learns for ten minutes, leaves a policy file and says what that wins from random agents. Stopped, the same command
goes on with the latest checkpoint, which lies beside the policy.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import mahjong_env
from mahjong_agents import make_agent
from mahjong_training import measure, one_against_copies, sigma
from mahjong_training.rllib.learning import decisions_of, ppo, write_policy
from mahjong_training.runtime.ray_cluster import connected
from mahjong_training.seeds import training_seed


def learn(variant: str, minutes: float, out: Path, *, runners: int = 1, tables: int = 64) -> int:
    """Learn, and write the policy; return the decisions that it has learned from."""
    rules = mahjong_env.rules(variant)
    folder = out.with_suffix(".checkpoints")
    whole = sorted(folder.glob("[0-9]*"))  # named by the decisions and the seconds until then
    decisions, seconds = map(int, whole[-1].name.split("-")) if whole else (0, 0)
    seed = training_seed(0, decisions) % 2**31  # a resumed run is dealt other hands
    config = ppo(variant, scale=1 / sigma(rules), runners=runners, tables=tables, seed=seed)
    algorithm = config.build_algo()
    if whole:
        algorithm.restore_from_path(str(whole[-1].absolute()))
        print(f"going on after {seconds} s and {decisions:,} decisions", flush=True)
    start = time.monotonic() - seconds
    while (seconds := int(time.monotonic() - start)) < 60 * minutes:
        if not (made := decisions_of(algorithm.train())):
            time.sleep(1)  # every runner has died, and is being started again
            continue
        decisions += made
        shutil.rmtree(folder / "new", ignore_errors=True)
        algorithm.save_to_path(str((folder / "new").absolute()))
        (folder / "new").rename(folder / f"{decisions:012d}-{int(time.monotonic() - start)}")
        for old in sorted(folder.glob("[0-9]*"))[:-1]:
            shutil.rmtree(old)
        print(f"{seconds:6} s  {decisions:9,} decisions", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_policy(algorithm, variant, out, decisions=decisions)
    algorithm.stop()
    shutil.rmtree(folder)
    return decisions


if __name__ == "__main__":
    variant, minutes, out = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    with connected("local", workers=2):
        decisions = learn(variant, minutes, out)
    rules, agents = mahjong_env.rules(variant), [make_agent(f"policy:{out}"), make_agent("random")]
    found = measure(rules, agents, one_against_copies(0, 1, rules.people), deals=1000, seed=0)
    print(f"{decisions:,} decisions: {found.of(0).points.text(3, sign='+')} points a hand against random agents")
