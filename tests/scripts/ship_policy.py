"""Ship the policy of a run: copy it to agents/policies, and measure what its card says.

`PYTHONPATH=tests python -m scripts.ship_policy VARIANT RUN --deals 1000 --value-deals 50` plays it against copies of
every level on deals that no run, gate or evaluation has played, and writes agents/policies/VARIANT.zip and .md.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from agents import make_agent
from agents.policy_file import SHIPPED, PolicyFile
from mahjong_env import VARIANTS
from training.lineups import measure, one_against_copies
from training.sigma import sigma

SEED = 3_900_000_000
"""Below the seeds of `training.gate`, far above those of anything else."""
LEVELS = ("random", "greedy?claims=false", "greedy", "value")
SLOW = {"value"}
CARD = """# {title}: the shipped policy

`make_agent("policy:{variant}")`; {weights:,} weights over the strong inputs of `agents/action_inputs.py`.

| | |
|---|---|
| trained by | `{command}` |
| seed | {seed} |
| learned from | {hands:,} hands, {decisions:,} decisions, {minutes:.0f} minutes of a busy machine |
| began as | {teacher} |
| seeds trained | {seeds} |

One seat against copies of another agent, every deal from every seat; means and 95 % intervals over deals that nothing
was chosen on (seed {measured_seed}); sigma is {sigma:.2f} points.

| against copies of | hands | points a hand | in sigma | wins (each of them) |
|---|---|---|---|---|
{rows}

{notes}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("run", type=Path, help="the run folder, or a policy file")
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--value-deals", type=int, default=50)
    parser.add_argument("--notes", default="")
    parser.add_argument("--seeds", default="one")
    arguments = parser.parse_args()
    rules, folder = VARIANTS[arguments.variant], arguments.run
    policy = folder if folder.is_file() else folder / "best.zip"
    saved = PolicyFile.read(policy)
    config = json.loads((policy.parent / "config.json").read_text())
    agent = make_agent(f"policy:{policy}")
    unit, rows = sigma(rules), []
    for spec in LEVELS:
        deals = arguments.value_deals if spec in SLOW else arguments.deals
        if not deals:
            continue
        other = make_agent(spec)
        result = measure(rules, [agent, other], one_against_copies(0, 1, rules.people), deals=deals, seed=SEED)
        own = result.of(0)
        points, half = own.points.mean, own.points.half_width
        rows.append(
            f"| {other.name} | {result.hands:,} | {points:+.2f} ± {half:.2f} | {points / unit:+.3f} ± {half / unit:.3f} "
            f"| {100 * own.wins.mean:.1f} % ({100 * result.of(1).wins.mean:.1f} %) |"
        )
        print(rows[-1], flush=True)
    trained = saved.training
    SHIPPED.mkdir(exist_ok=True)
    card = CARD.format(
        title=rules.title,
        variant=rules.name,
        weights=sum(array.size for array in saved.weights.values()),
        command=_command(config),
        seed=trained["seed"],
        hands=trained["hands"],
        decisions=trained["steps"],
        minutes=trained["seconds"] / 60,
        teacher=trained["teacher"],
        seeds=arguments.seeds,
        measured_seed=SEED,
        sigma=unit,
        rows="\n".join(rows),
        notes=arguments.notes,
    )
    (SHIPPED / f"{rules.name}.md").write_text(card, encoding="utf-8")
    shutil.copy(policy, SHIPPED / f"{rules.name}.zip")


def _command(config: dict) -> str:
    """Return the command line that repeats a run."""
    from training.config import PpoConfig

    default = PpoConfig(variant=config["variant"])
    words = ["python -m training ppo", f"--variant {config['variant']}"]
    for name in PpoConfig.__dataclass_fields__:
        value = config[name]
        kept = getattr(default, name)
        if name in ("variant", "out", "resume", "processes", "threads", "device") or value in (
            kept,
            list(kept or ()) if isinstance(kept, tuple) else kept,
        ):
            continue
        text = " ".join(value) if isinstance(value, list) else str(value)
        words.append(f"--{name.replace('_', '-')} {text}")
    return " ".join(words)


if __name__ == "__main__":
    main()
