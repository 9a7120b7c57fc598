"""Ship the policy of a run: copy it to agents/policies, and measure what its card says.

`PYTHONPATH=tests python -m scripts.ship_policy VARIANT RUN` plays it against copies of
every level on deals that no run, gate or evaluation has played, and writes agents/policies/VARIANT.zip and .md.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from agents import make_agent
from agents.policy_file import SHIPPED, PolicyFile
from mahjong_env import VARIANTS, Rules
from training.config import PpoConfig
from training.lineups import measure, one_against_copies
from training.sigma import sigma

SEED = 3_900_000_000
"""Below the seeds of `training.gate`, far above those of anything else."""
LEVELS = ("random", "greedy?claims=false", "greedy", "value")
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
    parser.add_argument("run", type=Path, help="the run folder")
    parser.add_argument("--many", nargs="+", default=["greedy"], help="levels that it is measured against thoroughly")
    parser.add_argument("--deals", type=int, default=5000, help="deals against these")
    parser.add_argument("--few", type=int, default=300, help="deals against the other levels")
    parser.add_argument("--value-deals", type=int, default=50, help="deals against value, which is slow")
    parser.add_argument("--notes", default="", help="what did not work")
    parser.add_argument("--seeds", default="one", help="how many runs of other seeds there were")
    arguments = parser.parse_args()
    rules, policy = VARIANTS[arguments.variant], arguments.run / "best.zip"
    saved = PolicyFile.read(policy)
    deals = dict.fromkeys(LEVELS, arguments.few) | dict.fromkeys(arguments.many, arguments.deals)
    deals["value"] = arguments.value_deals
    config = json.loads((arguments.run / "config.json").read_text(encoding="utf-8"))
    trained = saved.training
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
        sigma=sigma(rules),
        rows="\n".join(_rows(rules, f"policy:{policy}", deals)),
        notes=arguments.notes,
    )
    SHIPPED.mkdir(exist_ok=True)
    (SHIPPED / f"{rules.name}.md").write_text(card, encoding="utf-8")
    shutil.copy(policy, SHIPPED / f"{rules.name}.zip")


def _rows(rules: Rules, spec: str, deals: dict[str, int]) -> list[str]:
    """Measure a policy against every level."""
    agent, unit, rows = make_agent(spec), sigma(rules), []
    for level in LEVELS:
        other, number = make_agent(level), deals[level]
        if not number:
            continue
        result = measure(rules, [agent, other], one_against_copies(0, 1, rules.people), deals=number, seed=SEED)
        points, wins, their = result.of(0).points, result.of(0).wins.mean, result.of(1).wins.mean
        cells = [
            other.name,
            f"{result.hands:,}",
            f"{points.mean:+.2f} ± {points.half_width:.2f}",
            f"{points.mean / unit:+.3f} ± {points.half_width / unit:.3f}",
            f"{100 * wins:.1f} % ({100 * their:.1f} %)",
        ]
        rows.append(f"| {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return rows


def _command(config: dict) -> str:
    """Return the command line that repeats a run."""
    default = asdict(PpoConfig(variant=config["variant"]))
    free = ("variant", "out", "resume", "processes", "threads", "device")
    words = ["python -m training ppo", f"--variant {config['variant']}"]
    for name, usual in default.items():
        value = tuple(config[name]) if isinstance(config[name], list) else config[name]
        if name not in free and value != usual:
            text = " ".join(value) if isinstance(value, tuple) else str(value)
            words.append(f"--{name.replace('_', '-')} {text}")
    return " ".join(words)


if __name__ == "__main__":
    main()
