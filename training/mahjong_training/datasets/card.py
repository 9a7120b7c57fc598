"""The data sheet of a dataset, README.md in its folder; its head is what Hugging Face's hub reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mahjong_env.basics.memory import size_text
from mahjong_training.datasets.layout import DECISION_COLUMNS, Column, Settings, hand_columns, shard_file


def card_text(settings: Settings, folder: Path) -> str:
    """Return the data sheet of a dataset whose shards are whole; it follows from the settings and the shards alone."""
    rules = settings.rules
    hands = [np.load(shard_file(folder, "hands", shard), mmap_mode="r") for shard in range(settings.shards)]
    decisions = sum(int(part["decisions"].sum()) for part in hands)
    points = np.concatenate([part["points"] for part in hands])
    won = float(np.mean(np.concatenate([part["winner"] for part in hands]) >= 0))
    size = sum(path.stat().st_size for path in folder.glob("*-[0-9]*.*"))
    agents = "\n".join(f"{number}. `{spec}`" for number, spec in enumerate(settings.agents))
    knobs = ", ".join(f"{name}={value}" for name, value in settings.knobs.items()) or "none"
    versions = ", ".join(f"{name} {version}" for name, version in settings.versions.items())
    return f"""---
license: cc0-1.0
pretty_name: {rules.title}, {settings.hands} hands of {", ".join(settings.agents)}
task_categories:
- reinforcement-learning
tags:
- mahjong
- offline-rl
- imitation-learning
- multi-agent
---

# {rules.title}: {settings.hands:,} hands of {", ".join(settings.agents)}

Played by `mahjong_env`; described in its documentation (`docs/datasets.md`).

| | |
|---|---|
| variant | {settings.variant}, version {settings.rules_version} of its rules |
| house rules other than the defaults | {knobs} |
| games, hands | {settings.games:,} games of {settings.num_hands}; {settings.hands:,} hands |
| decisions | {decisions:,} ({decisions / settings.hands:.1f} a hand, over all {rules.people} persons) |
| hands that were won | {won:.1%} |
| standard deviation of a person's points in a hand | {points.std():.3f} |
| size | {size_text(size)} in {settings.shards} shards of {settings.shard_games:,} games |
| seed | {settings.seed} |
| versions | {versions} |
| observations | {"kept" if settings.observations else "not kept; rebuilt by replay, when they are read"} |
| licence | CC0 1.0: the games were made by a program; do with them what you like |

Agents, by their number in the column `agent`:

{agents}

Each seat of each game is played by one of them, all equally likely. Game number g is dealt like game number g of an
engine with the seed; the agents' own chance follows from the seed and the number of the shard. The same settings and
versions give the same bytes.

## Files

* `dataset.json`: the settings.
* `decisions-*.npy`: a row for each decision; the rows of a hand stand one after another.
* `hands-*.npy`: a row for each hand.
* `records-*.jsonl` (if they are kept): the same games as records, a line each, in order (`mahjong-env show FILE`).
* `observations-*.npy` (if they are kept): [decisions, C, 34] int8, a row for each decision.

A shard is whole where its `hands-*.npy` is. The tables are numpy's structured arrays, to be mapped with
`numpy.load(path, mmap_mode="r")`.

### Decisions

{_table(DECISION_COLUMNS)}

Returns are undiscounted and end with the hand. What a person was paid in a hand before its first decision is in
`points` of the hand, and in no decision's `return`.

### Hands

{_table(hand_columns(rules.people))}
"""


def _table(columns: Mapping[str, Column]) -> str:
    lines = ["| column | type | meaning |", "|---|---|---|"]
    for name, one in columns.items():
        kind = np.dtype(one.kind).name
        shown = kind if one.values is None else f"{kind} [{one.values}]"
        lines.append(f"| `{name}` | {shown} | {one.meaning} |")
    return "\n".join(lines)
