"""Reading datasets: the same rows by number, as a stream and through torch, and what the seats saw by replay."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from mahjong_training.config import RecordConfig
from mahjong_training.datasets import open_dataset, reading, write_dataset
from mahjong_training.datasets.recording import settings_of
from mahjong_training.datasets.torch_data import DecisionStream
from mahjong_training.errors import DatasetError


def observe(view):
    return view.observation


def written(folder, variant, **changes):
    config = {"variant": variant, "out": folder, "hands": 8, "shard_games": 3, "seed": 3, "num_hands": 2, **changes}
    write_dataset(settings_of(RecordConfig(**config)), Path(folder))
    return folder


@pytest.fixture(scope="module")
def hebei(tmp_path_factory):
    """Two hands a game, observations kept."""
    folder = tmp_path_factory.mktemp("datasets") / "hebei"
    return written(folder, "hebei", agents=("greedy", "random"), observations=True)


@pytest.fixture(scope="module")
def hangzhou(tmp_path_factory):
    """One hand a game, no observations, no records."""
    folder = tmp_path_factory.mktemp("datasets") / "hangzhou"
    return written(folder, "hangzhou", num_hands=1, records=False, hands=6)


def same(one, other):
    return one.keys() == other.keys() and all((one[name] == other[name]).all() for name in one)


def joined(batches):
    batches = list(batches)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def ordered(batch):
    order = np.lexsort((batch["step"], batch["hand"], batch["dataset"]))
    return {name: column[order] for name, column in batch.items()}


def test_rows_by_number(hebei):
    data = open_dataset(hebei)
    table = np.concatenate([np.load(path) for path in sorted(hebei.glob("decisions-*"))])
    assert len(data) == len(table)
    assert data.variants == ("hebei",)
    assert data.agents == ("greedy", "random")
    numbers = np.array([len(data) - 1, 0, len(data) // 2, 0])
    batch = data.take(numbers)
    for name in ("action", "seat", "agent", "step", "hand", "game", "reward", "return"):
        assert (batch[name] == table[name][numbers]).all()
    assert batch["mask"].shape == (4, 109)
    assert batch["mask"][np.arange(4), batch["action"]].all()
    assert data.take([]).keys() == batch.keys()
    with pytest.raises(IndexError):
        data.take([len(data)])


def test_observations_are_rebuilt_as_they_were(hebei, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_GAMES", 2)
    data = open_dataset(hebei)
    kept = data.take(np.arange(len(data)))
    rebuilt = joined(data.batches(50, inputs=observe))
    assert (rebuilt.pop("inputs") == kept.pop("observation")).all()
    assert same(rebuilt, kept)


def test_several_columns_are_made_at_once(hebei):
    data = open_dataset(hebei).where(seats=[1])
    found = joined(data.batches(50, inputs=lambda view: {"planes": view.observation, "tiles": view.hand}))
    assert (found["planes"] == joined(data.batches(50, inputs=observe))["inputs"]).all()
    assert found["tiles"].shape == (len(data), 34)
    assert "inputs" not in found
    with pytest.raises(DatasetError, match="tiles of"):
        next(data.batches(50, inputs=lambda view: {"tiles": view.hand[1:]}))


def test_a_shuffled_stream_has_the_same_rows_in_another_order(hebei, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_GAMES", 2)
    data = open_dataset(hebei).where(seats=[1])
    straight = joined(data.batches(64, inputs=observe))
    shuffled = joined(data.batches(64, inputs=observe, seed=1))
    assert len(data) == len(straight["action"])
    assert (straight["seat"] == 1).all()
    assert not same(straight, shuffled)
    assert same(straight, ordered(shuffled))
    assert same(shuffled, joined(data.batches(64, inputs=observe, seed=1)))
    assert not same(shuffled, joined(data.batches(64, inputs=observe, seed=2)))
    shares = [joined(data.batches(64, inputs=observe, seed=1, share=(k, 2))) for k in range(2)]
    assert same(straight, ordered(joined(shares)))


def test_decisions_are_chosen(hebei, hangzhou):
    data = open_dataset(hebei, hangzhou)
    assert data.variants == ("hebei", "hangzhou")
    greedy = data.where(agents=["greedy"], variants=["hebei"])
    assert set(greedy.take(np.arange(len(greedy)))["agent"]) == {data.agents.index("greedy")}
    assert len(greedy) + len(data.where(agents=["random"])) == len(data.where(variants=["hebei"]))
    won = data.where(rows=lambda rows: rows["return"] > 0).where(seats=[2])
    batch = won.take(np.arange(len(won)))
    assert (batch["return"] > 0).all()
    assert set(batch["seat"]) == {2}
    assert set(batch["dataset"]) == {0, 1}
    for choice, told in (({"agents": ["nobody"]}, "greedy, random"), ({"variants": ["wuhan"]}, "hebei, hangzhou")):
        with pytest.raises(DatasetError, match=told):
            data.where(**choice)


def test_copies_map_the_files_themselves(hebei):
    data = open_dataset(hebei).where(seats=[0])
    data.take([0])
    copy = pickle.dumps(data)
    assert len(copy) < 20_000
    assert same(pickle.loads(copy).take([0, 3]), data.take([0, 3]))


def test_torch_reads_rows_and_streams(hebei, hangzhou):
    from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

    data = open_dataset(hebei)
    one = data[5]
    assert one["observation"].shape == (38, 34)
    assert one["action"].shape == ()
    batch = next(iter(DataLoader(data, batch_size=None, sampler=BatchSampler(SequentialSampler(data), 7, False))))
    assert (batch["action"].numpy() == data.take(np.arange(7))["action"]).all()
    usual = next(iter(DataLoader(data, batch_size=7)))
    assert (usual["mask"] == batch["mask"]).all()
    assert "observation" not in open_dataset(hebei, hangzhou)[5]  # where not all have it
    stream = DecisionStream(data, 30, inputs=observe, seed=4)
    first, again = list(stream), list(stream)
    assert sum(len(part["action"]) for part in first) == len(data)
    assert (first[0]["inputs"] == again[0]["inputs"]).all()
    stream.seed = 5
    assert (next(iter(stream))["hand"] != first[0]["hand"]).any()


@pytest.fixture
def copy(hangzhou, tmp_path):
    return Path(shutil.copytree(hangzhou, tmp_path / "copy"))


class TestWhatCannotBeRead:
    def test_nothing_there(self, tmp_path):
        with pytest.raises(DatasetError, match="no dataset here"):
            open_dataset(tmp_path)
        with pytest.raises(DatasetError, match="at least one folder"):
            open_dataset()

    def test_a_shard_is_missing(self, copy):
        (copy / "decisions-00001.npy").unlink()
        with pytest.raises(DatasetError, match="shard 1 of 2 is missing or damaged"):
            open_dataset(copy)

    def test_another_version_of_the_rules(self, copy):
        settings = (copy / "dataset.json").read_text(encoding="utf-8")
        settings = settings.replace('"rules_version": 0', '"rules_version": 7')
        (copy / "dataset.json").write_text(settings, encoding="utf-8")
        with pytest.raises(DatasetError, match="version 7 of hangzhou"):
            open_dataset(copy)

    @pytest.mark.parametrize(("column", "told"), [("action", "cannot be played"), ("points", "ends otherwise")])
    def test_tables_that_do_not_replay(self, copy, column, told):
        path = copy / ("decisions-00000.npy" if column == "action" else "hands-00000.npy")
        table = np.load(path)
        table[column][2] = 107 if column == "action" else table[column][2] + 1
        np.save(path, table)
        with pytest.raises(DatasetError, match=told):
            joined(open_dataset(copy).batches(64, inputs=observe))
