"""What recorded games are good for: a warm start, learning offline, and the formats of other libraries."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import shlex
import shutil
import sys
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from mahjong_agents import look_ahead
from mahjong_agents.policy.plane_inputs import policy_inputs
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_env import VARIANTS, MissingExtraError, rules
from mahjong_env.cli import main
from mahjong_env.observation.planes import SHAPE
from mahjong_training.config import RecordConfig, TrainSb3Config
from mahjong_training.datasets import open_dataset, write_dataset
from mahjong_training.datasets.exports import _EVENTS, episodes, observe, to_minari, to_parquet, write_parquet
from mahjong_training.datasets.layout import DECISION
from mahjong_training.datasets.reading import Part
from mahjong_training.datasets.recording import settings_of
from mahjong_training.errors import DatasetError
from mahjong_training.sb3.warm_start import read_decisions, recorded_games
from support.house_rules import HOUSES, with_needed
from tools.readme import code_blocks


def network_inputs(view):
    return policy_inputs(view, look_ahead(view))


ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "notebooks" / "examples" / "offline_learning.py"


@pytest.fixture(scope="module")
def hebei(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets") / "hebei"
    config = RecordConfig(variant="hebei", out=folder, hands=80, agents=("greedy", "random"), seed=3)
    write_dataset(settings_of(config), folder)
    return folder


def train(out, *arguments, steps=64):
    small = ("--tables", "8", "--width", "16", "--evaluations", "1", "--evaluation-deals", "2")
    sizes = ("--warm-start-steps", "500", "--warm-start-epochs", "1", "--evaluation-agents", "random")
    command = ["train-sb3", "--variant", "hebei", "--out", str(out), "--total-steps", str(steps), *small, *sizes]
    return main([*command, *map(str, arguments)])


def test_what_is_imitated_is_what_was_recorded(hebei):
    data, network = open_dataset(hebei).where(agents=["greedy"]), PolicyNetwork(NetworkSpec(width=8))
    shown, some = (read_decisions(data, network, number, seed=1) for number in (10**6, 50))
    assert len(shown["action"]) == len(data)
    assert len(some["action"]) == 50
    assert shown["mask"][np.arange(len(data)), shown["action"]].all()
    assert sorted(shown["return"]) == sorted(data.take(np.arange(len(data)))["return"])
    other = read_decisions(data, network, 10**6, seed=2)
    assert (shown["action"] != other["action"]).any()
    with pytest.raises(DatasetError, match="no decisions"):
        read_decisions(data.where(rows=lambda rows: rows["step"] > 9999), network, 9, seed=1)


@pytest.mark.thorough
def test_a_warm_start_imitates_recorded_games(hebei, tmp_path, capsys):
    assert train(tmp_path / "run", "--dataset", hebei) == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    assert (config["teacher"], config["dataset"]) == ("greedy", [str(hebei)])
    assert (tmp_path / "run" / "initial.zip").exists()
    assert train(tmp_path / "run", "--dataset", hebei, "--resume", steps=128) == 0
    capsys.readouterr()


def test_a_dataset_does_not_choose_what_runs_here(hebei, tmp_path, monkeypatch):
    """Who was recorded has played: neither a command line nor an address in a dataset is followed."""
    other = tmp_path / "other"
    shutil.copytree(hebei, other)
    text = (other / "dataset.json").read_text(encoding="utf-8")
    (other / "dataset.json").write_text(text.replace('"greedy"', f'"command:touch {tmp_path}/made"'), encoding="utf-8")
    assert train(tmp_path / "run", "--dataset", other) == 0
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--reward", "sigma"), "leave out --reward"),
        (("--teacher", "value"), "not in the dataset; there are greedy, random"),
        (("--knob", "players=4"), "games of hebei with the house rules"),
        (("--dataset", "nowhere"), "no dataset here"),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused(hebei, tmp_path, capsys, arguments, told):
    assert train(tmp_path / "run", "--dataset", hebei, *arguments) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_teacher_is_one_of_those_that_were_recorded(hebei):
    for named, teacher in ((None, "greedy"), ("random", "random")):
        config = TrainSb3Config(variant="hebei", dataset=(str(hebei),), teacher=named)
        found, decisions = recorded_games(config, rules("hebei"))
        assert found == teacher
        assert len(decisions) == len(open_dataset(hebei).where(agents=[teacher]))


@pytest.mark.thorough
def test_the_example_learns_offline(hebei, capsys):
    example = runpy.run_path(str(EXAMPLE))
    data = open_dataset(hebei).where(agents=["greedy"])
    torch.manual_seed(1)
    network = PolicyNetwork(NetworkSpec(width=32))
    before, _ = example["measure"](data, network, scale=0.3)
    example["learn"](data, network, scale=0.3, size=128, epochs=3)
    after, explained = example["measure"](data, network, scale=0.3)
    assert after > max(0.6, before)
    assert explained > 0.02
    example["main"]([str(hebei), "--width", "16"])
    assert "of the decisions are the players' own" in capsys.readouterr().out


def test_an_episode_for_each_seat_of_each_hand(hebei):
    data = open_dataset(hebei).where(rows=lambda rows: rows["hand"] < 4)
    batch = next(data.batches(10**6, inputs=observe))
    found = list(episodes(data))
    assert len(found) == len(np.unique(batch["hand"] * 8 + batch["seat"]))
    assert sum(len(episode["actions"]) for episode in found) == len(data)
    for episode in found:
        seen, masks = episode["observations"]["observation"], episode["observations"]["action_mask"]
        assert len(seen) == len(masks) == len(episode["actions"]) + 1
        assert masks[np.arange(len(masks) - 1), episode["actions"]].all()
        assert not seen[-1].any()
        assert episode["terminations"].tolist() == [False] * (len(seen) - 2) + [True]
    first = (batch["hand"] == batch["hand"][0]) & (batch["seat"] == batch["seat"].min())
    mine = next(e for e in found if e["actions"].tolist() == batch["action"][first].tolist())
    assert (mine["observations"]["observation"][:-1] == batch["inputs"][first]).all()
    assert mine["rewards"].sum() == batch["return"][first][0]


def test_parquet(hebei, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    data = open_dataset(hebei).where(seats=[1])
    assert to_parquet(data, tmp_path / "some.parquet", inputs=network_inputs) == len(data)
    table = parquet.read_table(tmp_path / "some.parquet")
    batch = next(data.batches(10**6, inputs=network_inputs))
    assert table.num_rows == len(data)
    assert table["action"].to_pylist() == batch["action"].tolist()
    assert table["mask"].to_pylist() == batch["mask"].tolist()
    assert table["inputs"][7].as_py() == batch["inputs"][7].tolist()
    assert set(table["agent"].to_pylist()) == {"greedy", "random"}
    assert set(table["variant"].to_pylist()) == {"hebei"}
    assert [path.name for path in tmp_path.iterdir()] == ["some.parquet"]


COLUMNS = ("observation", "events", "hidden")
KEPT = ("--hands", "6", "--shard-games", "4", "--seed", "3", "--agents", "greedy", "random", "--parquet", *COLUMNS)


def record(out, *arguments):
    return main(["record", "--variant", "hebei", "--out", str(out), *KEPT, *map(str, arguments)])


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("datasets") / "parquet"
    assert record(folder) == 0
    return folder


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_parquet_has_what_seats_saw_and_what_they_could_not_see(parquet):
    arrow = importlib.import_module("pyarrow.parquet")
    table = arrow.read_table(sorted(map(str, parquet.glob("decisions-*.parquet")))).to_pydict()
    assert len(list(parquet.glob("decisions-*.parquet"))) == 2
    data, row = open_dataset(parquet), 0
    for part in data.parts:
        rows = part.tables["decisions"]
        for engine, live, where in part.replay(part.games):
            view, hidden = engine.view(live), engine.hidden(live)
            for at, number in enumerate(row + where):
                events = np.array(table["events"][number])
                seen = view.events[at][view.events[at, :, 0] > 0]
                assert np.array_equal(table["observation"][number], view.observation[at])
                assert np.array_equal(events[: len(seen)], seen)
                assert not events[len(seen) :, 0].any()
                for name, array in vars(hidden).items():
                    assert np.array_equal(table[f"hidden_{name}"][number], array[at]), name
                assert table["action"][number] == rows["action"][where[at]]
                assert np.flatnonzero(table["mask"][number]).tolist() == np.flatnonzero(view.action_mask[at]).tolist()
        row += len(rows)
    assert row == len(table["action"]) == len(data)


@pytest.mark.parametrize("shard", [0, 1])
@pytest.mark.parametrize("left", [None, 500, -9])
def test_a_missing_or_damaged_parquet_file_is_written_again(parquet, tmp_path, shard, left):
    copy = Path(shutil.copytree(parquet, tmp_path / "copy"))
    file = copy / f"decisions-0000{shard}.parquet"
    whole = file.read_bytes()
    file.unlink()
    if left is not None:
        file.write_bytes(whole[:left])
    with pytest.raises(DatasetError, match=f"shard {shard} of 2 is missing or damaged"):
        open_dataset(copy)
    assert record(copy) == 0
    assert files(copy) == files(parquet)


@pytest.mark.parametrize("name", ["variant", "dataset"])
def test_a_column_that_the_file_has_already_is_refused(name, hebei, tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(DatasetError, match=f"inputs made a column '{name}', which the .* has already"):
        to_parquet(open_dataset(hebei), tmp_path / "some.parquet", inputs=lambda view: {name: view.points[:, 0]})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", range(2))
def test_the_data_sheet_says_how_to_read_it(parquet, place, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    pytest.importorskip(("mahjong_training", "datasets")[place])
    sheet, found = (parquet / "README.md").read_text(encoding="utf-8"), {}
    assert "configs:\n- config_name: default\n  data_files: decisions-*.parquet\n---" in sheet
    assert "| `observation` | int8 [38, 34] |" in sheet
    again = shlex.split(re.search("```sh\n(.*?)\n```", sheet)[1])
    assert again[:2] == ["mahjong-env", "record"]
    with pytest.raises(SystemExit):
        main([*again[1:], "--help"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries
        code = re.findall("```python\n(.*?)```", sheet, re.DOTALL)[place]
        exec(code.replace("FOLDER", str(parquet)), found)
    first = found["first"]
    assert len(first["action"]) == 256
    assert first["mask"][np.arange(256), first["action"]].all()


@pytest.mark.parametrize(("package", "call"), [("pyarrow", to_parquet), ("minari", to_minari)])
def test_no_decisions_are_not_written(hebei, tmp_path, package, call):
    pytest.importorskip(package)
    path = tmp_path / "new" / "none.parquet"
    with pytest.raises(DatasetError, match="no decisions were chosen: there is nothing to write"):
        call(open_dataset(hebei).where(seats=[]), path)
    assert not path.parent.exists()


def test_a_shard_without_decisions_has_no_parquet_file(hebei, tmp_path):
    pytest.importorskip("pyarrow")
    (part, *_) = open_dataset(hebei).parts
    tables = {"decisions": part.tables["decisions"][:0], "hands": part.tables["hands"]}
    write_parquet(Part(tmp_path, part.settings, part.number, tables))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_events_of_a_parquet_file_are_whole_by_all_house_rules(variant):
    """A draw and what follows it, a claim and what follows it, flowers that were dealt, and the winners."""
    for knobs in ({}, {"players": 3}, HOUSES[variant], {"flower_tiles": True, "private_walls": False}):
        knobs = {name: value for name, value in knobs.items() if name in rules(variant).knobs}
        played = rules(variant, **with_needed(knobs))
        drawn = int(played.deck.sum()) - played.seats * played.hand_size
        dealt = int(played.deck[played.flower_kinds].sum())
        assert 2 * drawn + 2 * played.seats * played.sets + dealt + played.seats - 1 <= _EVENTS


@pytest.mark.parametrize(("package", "call"), [("pyarrow", to_parquet), ("minari", to_minari)])
def test_a_missing_package_is_named(hebei, tmp_path, monkeypatch, package, call):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="pip install"):
        call(open_dataset(hebei), str(tmp_path / "file"))


@pytest.fixture
def minari(monkeypatch):
    """A module in the place of Minari."""
    package = ModuleType("minari")
    package.data_collector = ModuleType("minari.data_collector")
    package.data_collector.EpisodeBuffer = dict
    monkeypatch.setitem(sys.modules, "minari", package)
    monkeypatch.setitem(sys.modules, "minari.data_collector", package.data_collector)
    return package


def test_minari_without_pyarrow_is_a_missing_extra(hebei, minari, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"need minari and pyarrow: pip install 'mahjong-env\[datasets\]'"):
        to_minari(open_dataset(hebei), "mine-v0")


def test_what_minari_refuses_is_an_error_about_the_dataset(hebei, minari):
    pytest.importorskip("pyarrow")

    def refuses(*arguments, **more):
        raise ValueError("A Minari dataset with ID mine-v0 already exists")

    minari.create_dataset_from_buffers = refuses
    with pytest.raises(DatasetError, match=r"Minari refuses 'mine-v0': .* already exists"):
        to_minari(open_dataset(hebei).where(seats=[0]), "mine-v0")


def test_the_page_says_how_much_an_observation_takes():
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    assert f"{SHAPE[0] * SHAPE[1] / 1000:.1f} kB, {SHAPE[0] * SHAPE[1] / DECISION.itemsize:.0f} times as much" in page


@pytest.mark.thorough
def test_blocks_of_the_page_on_datasets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    page = ROOT / "docs" / "datasets.md"
    for block in code_blocks("sh", page):
        for words in map(shlex.split, block.splitlines()):
            if words[:2] == ["mahjong-env", "record"]:
                assert main([word.replace("1000000", "60") for word in words[1:]]) == 0
    names = {"network_inputs": lambda view: view.observation, "__name__": "page"}
    ran = 0
    for number, block in enumerate(code_blocks("python", page)):
        try:
            exec(compile(block.replace("num_workers=2", "num_workers=0"), f"datasets.md block {number}", "exec"), names)
            ran += 1
        except (ImportError, MissingExtraError) as error:
            if not any(library in str(error) for library in ("datasets", "minari", "pyarrow", "torch")):
                raise
    assert ran >= 4
