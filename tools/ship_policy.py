"""Ship a policy: copy it to agents/mahjong_agents/policy/weights, and measure what its card says.

`PYTHONPATH=tests python -m tools.ship_policy VARIANT RUN --blind N` plays best.zip (or --file) of a run against
copies of four agents on the deals of blind test N, records that in
agents/mahjong_agents/policy/weights/blind_tests.jsonl, and writes agents/mahjong_agents/policy/weights/VARIANT.zip and
.md. --notes is the section of the card that compares the policy with others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.policy.file import SHIPPED, PolicyFile
from mahjong_env import VARIANTS, Rules
from mahjong_training.config import TrainConfig
from mahjong_training.evaluation.estimates import mean
from mahjong_training.evaluation.holdout import BlindTest
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import blocks, play_block, sigma
from mahjong_training.evaluation.results import shares_of_places, summarise
from mahjong_training.learning.run import TEACHERS
from mahjong_training.seeds import blind_seed

LEDGER = SHIPPED / "blind_tests.jsonl"
OPPONENTS = ("random", "closed-greedy", "greedy", "value")
CARD = """# {title}: the shipped policy

`make_agent("policy:{variant}")` plays {title} with a network of {weights:,} weights over the strong inputs of
`agents/mahjong_agents/policy/inputs.py`. It was trained with PPO (`mahjong-env train`) and began as {trained[teacher]}.

## How it was trained

```sh
{command}
```

| | |
|---|---|
| seed | {trained[seed]} |
| learned from | {trained[hands]:,} hands, {trained[steps]:,} decisions, {minutes:.0f} minutes of a busy machine |
| began as | {trained[teacher]} |
| seeds trained | {seeds} |

## Measured strength

The standings are the leaderboard's: every deal is played from every seat, on deals that are the same for all agents
(`docs/standings.json`; `make readme` writes this table). Where there is a ceiling (what the best agent with sight of
all hands wins, `docs/leaderboard.md`), the share of it is in brackets.

<!-- table: card-{variant} -->
<!-- end -->

What follows is a blind test, which was played once. One seat plays against copies of another agent, every deal from
every seat. Means and 95 % intervals are over the deals of blind test {blind}{luck}. Sigma, the
spread of a hand's points among greedy players, is {sigma:.2f} points. The mean rank is the place by points in a hand,
1 the best, ties shared; among equals it is {level}.

| against copies of | hands | points a hand | in sigma | wins (each of them) | mean rank |
|---|---|---|---|---|---|
{rows}

## Compared with the previous policy and other seeds

{notes}

## What it can do

* Play {title} under its default rules, in any seat. It needs NumPy alone and takes the legal action that it scores
  highest; `policy:{variant}?sample=true` draws actions by their probabilities.
* Begin a training run (`--teacher policy:{variant}`), sit among its opponents
  (`--opponents greedy policy:{variant}`), or be the base of `search`.
* Go elsewhere as an ONNX model: `mahjong-env export --policy {variant} --out {variant}.onnx`.

## Known limits

* It was trained under the default rules. Under house rules `policy` plays as the reference agent instead, and
  `policy:{variant}`, asked for by name, plays as it learned (`docs/research/learning.md` has measurements).
* The best response is a lower bound of what can be won from it. +0.000 ± 0.000 says that no gate was passed within the
  budget, so the response is the policy itself; another learner, or a longer run, may win more.

What did not work is in `docs/research/learning.md`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("run", type=Path, help="the run folder")
    parser.add_argument("--blind", type=int, required=True, help="number of a blind test that has not been played")
    parser.add_argument("--file", default="best.zip", help="which of its policies")
    parser.add_argument("--deals", type=int, default=5000, help="deals against greedy and closed-greedy")
    parser.add_argument("--few", type=int, default=300, help="deals against random")
    parser.add_argument("--value-deals", type=int, default=500, help="deals against value, which is slow")
    parser.add_argument("--notes", default="", help="the comparison with other policies; a text, or a file of it")
    parser.add_argument("--seeds", default="one", help="which seeds were trained")
    parser.add_argument("--command", default="", help="how it was trained, if not by one command: one a line")
    for unit in ("hands", "decisions", "minutes"):
        parser.add_argument(f"--{unit}", type=int, default=0, help=f"{unit} of the earlier stages")
    parser.add_argument("--teacher", default="", help="agent that the first stage began as")
    chosen = parser.parse_args()
    rules, policy = VARIANTS[chosen.variant], chosen.run / chosen.file
    saved, begun = PolicyFile.read(policy), time.monotonic()
    trained = saved.training
    if chosen.hands:  # what is shipped says all that it was learned from
        teacher = chosen.teacher or trained["teacher"]
        stages = {"hands": chosen.hands, "steps": chosen.decisions, "seconds": 60 * chosen.minutes}
        trained = trained | {name: trained[name] + before for name, before in stages.items()}
        trained |= {"teacher": teacher, "teachers": list(dict.fromkeys([teacher, *TEACHERS]))}
    config = json.loads((chosen.run / "config.json").read_text(encoding="utf-8"))
    deals = dict(zip(OPPONENTS, (chosen.few, chosen.deals, chosen.deals, chosen.value_deals), strict=True))
    notes = Path(chosen.notes).read_text(encoding="utf-8") if Path(chosen.notes).is_file() else chosen.notes
    card = CARD.format(
        title=rules.title,
        variant=rules.name,
        weights=sum(array.size for array in saved.weights.values()),
        command=chosen.command or _command(config),
        trained=trained,
        minutes=trained["seconds"] / 60,
        seeds=chosen.seeds,
        blind=chosen.blind,
        luck=", luck taken off the points" if useful_weights(rules) is not None else "",
        sigma=sigma(rules),
        level=(rules.people + 1) / 2,
        rows="\n".join(_rows(rules, f"policy:{policy}", deals, chosen.blind)),
        notes=notes.strip(),
    )
    SHIPPED.mkdir(exist_ok=True)
    (SHIPPED / f"{rules.name}.md").write_text(card, encoding="utf-8")
    replace(saved, training=trained).write(SHIPPED / f"{rules.name}.zip")
    print(f"measured in {time.monotonic() - begun:.0f} s; {SHIPPED / rules.name}.zip")


def _rows(rules: Rules, spec: str, deals: dict[str, int], blind: int) -> list[str]:
    """Measure a policy against each of `OPPONENTS`."""
    agent, unit, rows = make_agent(spec), sigma(rules), []
    digest = hashlib.sha256(Path(spec.removeprefix("policy:")).read_bytes()).hexdigest()
    for opponent in OPPONENTS:
        other, number = make_agent(opponent), deals[opponent]
        if not number:
            continue
        test = BlindTest(blind, rules, (f"policy:{rules.name}", opponent), ((digest,), ()), LEDGER)
        test.begin()
        agents, lineup = [agent, other], one_against_copies(0, 1, rules.people)
        every = blocks(lineup, number, agents=agents, control_variates=useful_weights(rules) is not None)
        parts = [play_block(rules, agents, block, blind_seed(blind)) for block in every]
        result, places = summarise(rules, lineup, parts), shares_of_places(lineup, parts, "all")
        rank = mean(places @ np.arange(1, rules.people + 1))
        test.finish()
        points, wins, their = result.of(0).points, result.of(0).wins.mean, result.of(1).wins.mean
        won, sigmas = f"{100 * wins:.1f} % ({100 * their:.1f} %)", points.text(3, unit, "+")
        cells = [other.name, f"{result.hands:,}", points.text(2, sign="+"), sigmas, won, rank.text(3)]
        rows.append(f"| {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return rows


def _command(config: dict) -> str:
    """Return the command line that repeats a run."""
    if "totals before" in config:
        raise SystemExit("the run was resumed up to more hands, which no single command repeats: say --command")
    words = ["mahjong-env train", f"--variant {config['variant']}"]
    for name, usual in asdict(TrainConfig(variant=config["variant"])).items():
        if name not in config:
            raise SystemExit(f"the run is of an earlier version (it has no {name}): say --command")
        value = tuple(config[name]) if isinstance(config[name], list) else config[name]
        if name not in ("variant", "out", "resume", "processes", "threads", "device") and value != usual:
            option = name.replace("_", "-")
            text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words.append(f"--{'' if value else 'no-'}{option}" if isinstance(value, bool) else f"--{option} {text}")
    return " ".join(words)


if __name__ == "__main__":
    main()
