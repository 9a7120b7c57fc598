"""The data sheet of a dataset: README.md in its folder, with a head for Hugging Face's hub."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from mahjong_env.basics.memory import size_text
from mahjong_training.datasets.exports import parquet_columns
from mahjong_training.datasets.layout import (
    DECISION_COLUMNS,
    PARQUET_COLUMNS,
    Column,
    Settings,
    hand_columns,
    shard_file,
)


def card_text(settings: Settings, folder: Path) -> str:
    """Return the data sheet of a complete dataset; it depends only on the settings and the shards."""
    rules = settings.rules
    hands = [np.load(shard_file(folder, "hands", shard), mmap_mode="r") for shard in range(settings.shards)]
    decisions = sum(int(part["decisions"].sum()) for part in hands)
    points = np.concatenate([part["points"] for part in hands])
    won = float(np.mean(np.concatenate([part["winner"] for part in hands]) >= 0))
    size = sum(path.stat().st_size for path in folder.glob("*-[0-9]*.*"))
    agents = "\n".join(f"{number}. `{spec}`" for number, spec in enumerate(settings.agents))
    knobs = ", ".join(f"{name}={value}" for name, value in settings.knobs.items()) or "none"
    versions = ", ".join(f"{name} {version}" for name, version in settings.versions.items())
    head, parquet, hugging_face = "", "", ""
    if files := sorted(folder.glob("decisions-*.parquet")):
        head = "configs:\n- config_name: default\n  data_files: decisions-*.parquet\n"
        parquet = f"\n### Parquet\n\n{_parquet_table(files[0])}\n"
        hugging_face = _HUGGING_FACE
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
{head}---

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
| observations for numpy | {"kept" if settings.observations else "not kept; rebuilt by replay, when they are read"} |
| licence | CC0 1.0: the games were made by a program; do with them what you like |

Agents, by their number in the column `agent`:

{agents}

Each seat of each game is played by one of them, all equally likely. Made, and to be made again, with:

```sh
{_command(settings)}
```

Game number g is dealt like game number g of an
engine with the seed; the agents' own chance follows from the seed and the number of the shard. The same settings and
versions give the same bytes.

## Files

* `dataset.json`: the settings.
* `decisions-*.npy`: a row for each decision; the rows of a hand stand one after another.
* `hands-*.npy`: a row for each hand.
* `records-*.jsonl` (if they are kept): the same games as records, a line each, in order (`mahjong-env show FILE`).
* `observations-*.npy` (if they are kept): [decisions, C, 34] int8, a row for each decision.
* `decisions-*.parquet` (if they are kept): the decisions for other libraries, those of a shard in a file.

A shard is whole where its `hands-*.npy` is. The tables are numpy's structured arrays, to be mapped with
`numpy.load(path, mmap_mode="r")`.

### Decisions

{_table(DECISION_COLUMNS)}

Returns are undiscounted and end with the hand. What a person was paid in a hand before its first decision is in
`points` of the hand, and in no decision's `return`.

### Hands

{_table(hand_columns(rules.people))}
{parquet}
## Reading

FOLDER is this folder. What was seen is rebuilt by replay, which is faster than to read it; `docs/datasets.md` has torch
and Minari too.

```python
from mahjong_training.datasets import open_dataset

data = open_dataset("FOLDER")
first = next(data.batches(256, inputs=lambda view: view.observation))
```
{hugging_face}"""


_PARQUET: Final = {
    "agent": "who decides",
    "mask": "the legal actions, in the order of `mahjong_env.ACTIONS`",
    "variant": "what is played",
    **PARQUET_COLUMNS,
}


_HUGGING_FACE: Final = """
With Hugging Face's datasets, which on the hub take the name of the repository in place of FOLDER:

```python
from datasets import load_dataset

data = load_dataset("FOLDER", split="train", streaming=True).with_format("numpy")
first = next(data.select_columns(["mask", "action"]).iter(batch_size=256))
```
"""


def _parquet_table(path: Path) -> str:
    lines = ["| column | type | meaning |", "|---|---|---|"]
    for name, kind in parquet_columns(path).items():
        meaning = _PARQUET.get(name.partition("_")[0]) or DECISION_COLUMNS[name].meaning
        lines.append(f"| `{name}` | {kind} | {meaning} |")
    return "\n".join(lines)


def _command(settings: Settings) -> str:
    """Return the command that reproduces a dataset."""
    given = {
        "--variant": [settings.variant],
        "--knob": [f"{name}={value}" for name, value in settings.knobs.items()],
        "--agents": settings.agents,
        "--hands": [settings.hands],
        "--num-hands": [settings.num_hands],
        "--seed": [settings.seed],
        "--shard-games": [settings.shard_games],
    }
    words = ["mahjong-env", "record", *(word for name, values in given.items() if values for word in (name, *values))]
    words += ["--observations"] * settings.observations + ["--no-records"] * (not settings.records)
    words += [] if settings.parquet is None else ["--parquet", *settings.parquet]
    return shlex.join([*map(str, words), "--out", "FOLDER"])


def _table(columns: Mapping[str, Column]) -> str:
    lines = ["| column | type | meaning |", "|---|---|---|"]
    for name, one in columns.items():
        kind = np.dtype(one.kind).name
        shown = kind if one.values is None else f"{kind} [{one.values}]"
        lines.append(f"| `{name}` | {shown} | {one.meaning} |")
    return "\n".join(lines)
