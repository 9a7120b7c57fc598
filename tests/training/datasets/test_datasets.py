"""Datasets: what is written is what was played, however often it was interrupted, and what is read is what is there."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mahjong_env import make_engine
from mahjong_env.cli import main
from mahjong_env.records import read_records, replay_points
from mahjong_training.config import RecordConfig
from mahjong_training.datasets import Settings, open_dataset, play_shard, reading, recording, write_dataset, write_shard
from mahjong_training.datasets.layout import DECISION, SOURCES, dtype_of, hand_columns
from mahjong_training.datasets.recording import settings_of
from mahjong_training.datasets.torch_data import DecisionStream
from mahjong_training.errors import DatasetError
from support.marks import variants

TWO = ("--agents", "greedy", "random")


def settings(variant="hangzhou", **changes):
    config = {"variant": variant, "out": "nowhere", "hands": 24, "shard_games": 16, "seed": 5, **changes}
    return settings_of(RecordConfig(**config))


def record(out, *arguments, variant="hebei"):
    small = ["--hands", "24", "--shard-games", "10", "--seed", "3"]
    return main(["record", "--variant", variant, "--out", str(out), *small, *map(str, arguments)])


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A small finished dataset, for tests that only look at it."""
    out = tmp_path_factory.mktemp("datasets") / "hebei"
    assert record(out, *TWO) == 0
    return out


@pytest.fixture
def copy(dataset, tmp_path):
    return shutil.copytree(dataset, tmp_path / "copy")


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_rows_are_what_was_played(variant):
    """Games are played again one by one, in an engine of their own that deals from the seed."""
    made = settings(variant, agents=("greedy", "random"), num_hands=2, observations=True, shard_games=8)
    shard = play_shard(made, 1)
    rows, hands = shard.tables["decisions"], shard.tables["hands"]
    assert rows.dtype == DECISION
    assert hands.dtype == dtype_of(hand_columns(made.rules.people))
    assert hands["game"].tolist() == [8, 8, 9, 9, 10, 10, 11, 11]
    assert (hands["first"][1:] == np.cumsum(hands["decisions"])[:-1]).all()
    masks = np.unpackbits(rows["mask"], axis=-1, count=109)
    for game in (8, 11):
        engine = make_engine(made.rules, game + 1, seed=made.seed, num_hands=2).select([game])
        own = np.flatnonzero(rows["game"] == game)
        paid = []
        for row in own:
            assert engine.seat_to_act[0] == rows["seat"][row]
            assert (engine.action_mask[0] == masks[row]).all()
            assert (engine.observe()[0] == shard.tables["observations"][row]).all()
            assert rows["agent"][row] == hands["agents"][rows["hand"][row] - 16, rows["seat"][row]]
            paid.append(engine.points[0])
            engine.step([rows["action"][row]])
        final = engine.points[0]
        assert engine.seat_to_act[0] == -1
        of_game = hands[hands["game"] == game]
        assert (of_game["points"].sum(axis=0) == final - made.rules.starting_points).all()
        begin = np.zeros_like(final) + made.rules.starting_points
        for hand in of_game:
            end = begin + hand["points"]
            for row, before in zip(own, paid, strict=True):
                if rows["hand"][row] == hand["hand"]:
                    assert rows["return"][row] == (end - before)[rows["seat"][row]]
            begin = end


def test_rewards_of_a_seat_sum_to_its_return():
    rows = play_shard(settings("hebei"), 0).tables["decisions"]
    key = rows["hand"] * 4 + rows["seat"]
    for one in np.unique(key):
        own = rows[key == one]
        assert (own["reward"][::-1].cumsum()[::-1] == own["return"]).all()
        assert (np.diff(own["step"].astype(int)) > 0).all()
    assert rows["reward"].any()
    assert (rows["step"][np.flatnonzero(np.diff(rows["hand"].astype(int))) + 1] == 0).all()


def test_hands_say_how_they_ended():
    made = settings("taiwan", hands=60, shard_games=60)
    shard = play_shard(made, 0)
    hands = shard.tables["hands"]
    for line, hand in zip(shard.records, hands, strict=True):
        told = json.loads(line)
        assert (told["stream"], told["agents"]) == (hand["game"], ["greedy"] * 4)
        assert (np.array(told["points"]) - made.rules.starting_points == hand["points"]).all()
    won, drawn = hands[hands["winner"] >= 0], hands[hands["winner"] < 0]
    assert len(won) > 10
    assert (won["points"][np.arange(len(won)), won["winner"]] > 0).all()
    assert ((won["from_seat"] >= 0) == np.isin(won["source"], [SOURCES.index("discard"), SOURCES.index("kong")])).all()
    assert not drawn["source"].any()
    assert not drawn["value"].any()


def test_a_shard_is_a_picklable_function_of_settings_and_number(tmp_path):
    made, play = pickle.loads(pickle.dumps((settings(), play_shard)))
    one, other = play(made, 1), play_shard(settings(), 1)
    assert (one.tables["decisions"] == other.tables["decisions"]).all()
    assert one.records == other.records
    write_shard(made, tmp_path, 1)
    assert sorted(files(tmp_path)) == ["decisions-00001.npy", "hands-00001.npy", "records-00001.jsonl"]


def test_shards_that_are_written_one_by_one_make_a_dataset(dataset, tmp_path):
    """As on several machines: the first shard makes the folder, and `write_dataset` finds all of them."""
    folder, asked = tmp_path / "new" / "hebei", Settings.read(dataset)
    for shard in range(asked.shards):
        write_shard(asked, folder, shard)
    assert write_dataset(asked, folder) == 0
    assert files(folder) == files(dataset)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"games": 0}, "games of a dataset is an integer from 1, not 0"),
        ({"games": 2**31, "num_hands": 3}, "at most 4,294,967,296 hands, as it numbers them, not 6,442,450,944"),
        ({"shard_games": 0}, "shard_games of a dataset is an integer from 1, not 0"),
        ({"num_hands": True}, "num_hands of a dataset is an integer from 1, not True"),
        ({"seed": None}, "seed of a dataset is an integer from 0, not None"),
        ({"seed": -1}, "seed of a dataset is an integer from 0, not -1"),
        ({"agents": ()}, r"agents of a dataset are 1 to 256 texts, not \(\)"),
        ({"agents": "greedy"}, "agents of a dataset are 1 to 256 texts, not 'greedy'"),
        ({"agents": ("random",) * 257}, "agents of a dataset are 1 to 256 texts, not"),
    ],
)
def test_settings_that_cannot_be_are_named(change, told):
    with pytest.raises(DatasetError, match=told):
        replace(settings(), **change)


def test_agents_are_drawn_for_each_seat_of_each_game():
    hands = play_shard(settings(agents=("greedy", "random"), hands=200, shard_games=200), 0).tables["hands"]
    assert set(np.unique(hands["agents"])) == {0, 1}
    assert abs(hands["agents"].mean() - 0.5) < 0.1


class TestCommand:
    def test_leaves_a_dataset(self, dataset):
        made = Settings.read(dataset)
        assert (made.games, made.shards, made.agents) == (24, 3, ("greedy", "random"))
        assert len(list(dataset.iterdir())) == 3 * 3 + 2
        records = [each for path in sorted(dataset.glob("*.jsonl")) for each in read_records(path)]
        assert [each.stream for each in records] == list(range(24))
        for each in records[:5]:
            assert replay_points(each) == each.points
        sheet = (dataset / "README.md").read_text(encoding="utf-8")
        for said in ("24 games of 1; 24 hands", "0. `greedy`", "1. `random`", "licence | CC0", "| seed | 3 |"):
            assert said in sheet
        assert all(f"| `{name}` |" in sheet for name in (*DECISION.names[:-1], *hand_columns(3)))

    def test_the_same_seed_gives_the_same_bytes(self, dataset, tmp_path):
        assert record(tmp_path / "again", *TWO) == 0
        assert files(tmp_path / "again") == files(dataset)

    def test_missing_damaged_and_torn_shards_are_played_again(self, dataset, copy, capsys):
        (copy / "hands-00000.npy").unlink()
        torn = copy / "decisions-00001.npy"
        torn.write_bytes(torn.read_bytes()[:-100])
        records = copy / "records-00002.jsonl"
        records.write_bytes(records.read_bytes()[:-100])
        (copy / f".decisions-00001.npy.{2**22 + 1}.partial").write_bytes(b"left by a writer that was killed")
        assert record(copy, *TWO) == 0
        assert files(copy) == files(dataset)
        capsys.readouterr()
        assert record(copy, *TWO) == 0
        assert "nothing to do" in capsys.readouterr().out

    @pytest.mark.parametrize("name", ["hands-00000.npy", "decisions-00001.npy", "records-00001.jsonl"])
    @pytest.mark.parametrize("left", [0, 15, 40, 100])
    def test_damage_is_found_wherever_it_is(self, dataset, copy, name, left):
        (copy / name).write_bytes((copy / name).read_bytes()[:left])
        with pytest.raises(DatasetError, match=r"shard \d of 3 is missing or damaged; run the same `record` command"):
            open_dataset(copy)

    def test_headers_that_are_no_python_are_damage_too(self, copy):
        path = copy / "decisions-00001.npy"
        for wrong in (b"{'descr': [(", b"\0\0\0\0", b"("):
            path.write_bytes(path.read_bytes()[:10] + wrong.ljust(118) + path.read_bytes()[128:])
            with pytest.raises(DatasetError, match="shard 1 of 3 is missing or damaged"):
                open_dataset(copy)

    def test_a_page_that_is_not_a_dataset_s_is_not_replaced(self, tmp_path, capsys):
        page = tmp_path / "README.md"
        page.write_text("mine", encoding="utf-8")
        assert record(tmp_path) == 2
        assert "the README.md here is not that of a dataset; choose another --out" in capsys.readouterr().err
        assert files(tmp_path) == {"README.md": b"mine"}

    def test_an_interrupted_command_goes_on_with_whole_shards(self, dataset, tmp_path, monkeypatch, capsys):
        def interrupted(made, folder, shard):
            if shard == 1:
                raise KeyboardInterrupt
            write_shard(made, folder, shard)

        with monkeypatch.context() as patch:
            patch.setattr(recording, "write_shard", interrupted)
            assert record(tmp_path / "run", *TWO) == 130
        told = capsys.readouterr().err
        assert "10 of 24 hands" in told
        assert len(told.splitlines()) == 1
        assert len(list((tmp_path / "run").glob("hands-*"))) == 1
        assert record(tmp_path / "run", *TWO) == 0
        assert files(tmp_path / "run") == files(dataset)

    def test_more_hands_make_it_longer(self, dataset, tmp_path):
        for hands in ("12", "24"):
            assert record(tmp_path / "grown", *TWO, "--hands", hands) == 0
        assert files(tmp_path / "grown") == files(dataset)

    @pytest.mark.thorough
    def test_several_processes_write_the_same(self, dataset, tmp_path):
        assert record(tmp_path / "two", *TWO, "--processes", "2") == 0
        assert files(tmp_path / "two") == files(dataset)

    def test_another_dataset_is_never_mixed_in(self, copy, capsys):
        before = files(copy)
        for arguments, told in (
            (("--agents", "greedy"), "whose agents is ['greedy', 'random'], not ['greedy']"),
            ((*TWO, "--seed", "4"), "whose seed is 3"),
            ((*TWO, "--hands", "20"), "cannot be less"),
        ):
            assert record(copy, *arguments) == 2
            assert told in capsys.readouterr().err
        assert files(copy) == before

    def test_one_whose_agent_failed_at_once_leaves_nothing_behind(self, tmp_path, capsys):
        agent, out = tmp_path / "mine.py", tmp_path / "hands"
        agent.write_text("class Mine:\n    name = 'mine'\n    def act(self, view, rng): pass\n", encoding="utf-8")
        assert record(out, "--agents", f"{agent}:Mine") == 2
        assert "0 of 24 hands are kept" in capsys.readouterr().err
        assert record(out, "--agents", "random") == 0  # anything else, be it the same agent, mended

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("{", "cannot be read"),
            ("[]", "it has format and version (None, None); this package reads ('mahjong_env.dataset', 2)"),
            ('{"format": "mahjong_env.dataset", "format_version": 99}', "version ('mahjong_env.dataset', 99)"),
            ('{"format": "mahjong_env.dataset", "format_version": 2}', "it has [] and should have"),
        ],
    )
    def test_foreign_and_damaged_settings_are_refused(self, tmp_path, capsys, text, told):
        (tmp_path / "dataset.json").write_text(text, encoding="utf-8")
        assert record(tmp_path) == 2
        assert told in capsys.readouterr().err


def test_slow_agents_have_small_shards(tmp_path):
    for agents, games in ((("greedy",), 16384), (("greedy", "value"), 1000)):
        assert settings_of(RecordConfig(variant="hebei", out=tmp_path, agents=agents)).shard_games == games
    chosen = RecordConfig(variant="hebei", out=tmp_path, agents=("value",), shard_games=50)
    assert settings_of(chosen).shard_games == 50


# --- Reading: by number, as a stream and through torch, and what the seats saw by replay ------------------------------


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


def test_rows_by_a_mask(hebei):
    data = open_dataset(hebei)
    mask = np.arange(len(data)) % 7 == 5
    same(data.take(mask), data.take(np.flatnonzero(mask)))
    for wrong in ([1.9], mask[:-1], ["1"]):
        with pytest.raises(IndexError, match="numbered by integers"):
            data.take(wrong)


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


def test_each_choice_narrows_the_one_before(hebei):
    data = open_dataset(hebei)
    assert len(data.where(seats=[0, 1]).where(seats=[1, 2])) == len(data.where(seats=1))
    assert len(data.where(seats=[0]).where(seats=[1])) == len(data.where(seats=[])) == len(data.where(variants=[])) == 0
    assert len(data.where(agents="greedy")) == len(data.where(agents=["greedy"])) > 0
    assert len(data.where(agents="greedy").where(agents=["greedy", "random"])) == len(data.where(agents="greedy"))
    assert len(data.where(agents="greedy").where(agents="random")) == 0
    for wrong in (9, [0, 3], "0", -1, 1.5):
        with pytest.raises(DatasetError, match=r"no person .* is in this dataset; there are 0, 1, 2$"):
            data.where(seats=wrong)


LOTS = np.random.default_rng(0)
CONDITIONS = {
    "tenth": lambda rows: np.arange(len(rows)) % 10 == 0,
    "longest": lambda rows: rows["step"] == rows["step"].max(),
    "half": lambda rows: LOTS.random(len(rows)) < 0.5,
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_chooses_the_same_rows_however_they_are_read(name, hebei, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_GAMES", 2)
    data = open_dataset(hebei).where(rows=CONDITIONS[name])
    kept = data.take(np.arange(len(data)))
    kept.pop("observation")
    assert same(joined(data.batches(7)), kept)
    assert same(ordered(joined(data.batches(7, seed=1))), kept)
    shares = [batch for k in range(2) for batch in data.batches(7, share=(k, 2))]
    assert same(ordered(joined(shares)), kept)


@pytest.mark.parametrize(
    "condition", [lambda rows: rows["return"], lambda rows: True, lambda rows: np.ones(3, np.bool_), lambda rows: None]
)
def test_what_is_no_condition_is_refused(condition, hebei):
    data = open_dataset(hebei).where(rows=condition)
    for read in (lambda: len(data), lambda: next(data.batches(9))):
        with pytest.raises(DatasetError, match=r"a condition returns \[\d+\] booleans, one for each row, not "):
            read()


def changing(*made):
    """Makes the columns of the first call, then those of the second."""
    calls = iter(made)
    return lambda view: {name: np.full(len(view), value) for name, value in next(calls).items()}


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        (changing({"a": 1, "b": 1}, {"a": 1}), r"the columns a \(n, \) int64, b \(n, \) int64, and in a later call a "),
        (changing({"a": 1}, {"a": 0.5}), r"int64, and in a later call a \(n, \) float64"),
        (lambda view: np.zeros((len(view), view.events.shape[1])), r"inputs \(n, \d+\) float64, and in a later call"),
        (lambda view: {"action": np.zeros(len(view))}, "inputs made a column 'action', which the dataset has already"),
    ],
)
def test_columns_are_the_same_in_every_call(inputs, told, hebei):
    with pytest.raises(DatasetError, match=told):
        joined(open_dataset(hebei).batches(50, inputs=inputs))


def test_columns_are_the_same_in_every_chunk(hebei, monkeypatch):
    monkeypatch.setattr(reading, "CHUNK_GAMES", 2)
    data, first = open_dataset(hebei), open_dataset(hebei).parts[0]
    types = [np.int8] * sum(1 for _ in first.replay(first.games[:2])) + [np.int16]
    with pytest.raises(DatasetError, match=r"inputs \(n, 34\) int8, and in a later call inputs \(n, 34\) int16"):
        joined(data.batches(9, inputs=lambda view: view.hand.astype(types.pop(0))))
    assert not types


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        *[({"size": size}, "the size of a batch is an integer from 1, not") for size in (0, 1.5, "2", True)],
        *[({"seed": seed}, "the seed is an integer from 0, or None, not") for seed in (-1, 0.5)],
        *[({"share": share}, "k from 0 to n - 1, not") for share in ((0, 0), (3, 2), (2, 2), (-1, 2), (0, 1.5), (0,))],
    ],
)
def test_bad_arguments_of_batches_are_named(arguments, told, hebei):
    with pytest.raises(DatasetError, match=told):
        next(open_dataset(hebei).batches(**{"size": 9, **arguments}))


@pytest.mark.parametrize("shard", [-1, 2, 1.0])
def test_a_shard_that_there_is_not_is_named(shard, tmp_path):
    for play in (lambda: play_shard(settings(), shard), lambda: write_shard(settings(), tmp_path, shard)):
        with pytest.raises(DatasetError, match=f"there is no shard {shard}; shards are 0 to 1"):
            play()
    assert not files(tmp_path)


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
def spoilt(hangzhou, tmp_path):
    return Path(shutil.copytree(hangzhou, tmp_path / "copy"))


class TestWhatCannotBeRead:
    def test_nothing_there(self, tmp_path):
        with pytest.raises(DatasetError, match="no dataset here"):
            open_dataset(tmp_path)
        with pytest.raises(DatasetError, match="at least one folder"):
            open_dataset()

    def test_one_folder_twice(self, hangzhou):
        with pytest.raises(DatasetError, match=f"{hangzhou.name}: this folder is named twice"):
            open_dataset(hangzhou, hangzhou / ".." / hangzhou.name)

    def test_a_shard_is_missing(self, spoilt):
        (spoilt / "decisions-00001.npy").unlink()
        with pytest.raises(DatasetError, match="shard 1 of 2 is missing or damaged"):
            open_dataset(spoilt)

    def test_another_version_of_the_rules(self, spoilt):
        settings = (spoilt / "dataset.json").read_text(encoding="utf-8")
        settings = settings.replace('"rules_version": 0', '"rules_version": 7')
        (spoilt / "dataset.json").write_text(settings, encoding="utf-8")
        with pytest.raises(DatasetError, match="version 7 of hangzhou"):
            open_dataset(spoilt)

    @pytest.mark.parametrize(
        ("column", "told"),
        [
            *[
                ("action", "copy: shard 0 cannot be replayed: game"),
                ("seat", "copy: shard 0 cannot be replayed: another seat, or other actions"),
                ("mask", "or other actions"),
            ],
            *[("agent", "an agent that is not named"), ("points", "game 2 of the dataset pays differently")],
            *[
                ("reward", "game 0 of the dataset pays differently"),
                ("return", "game 0 of the dataset pays differently"),
            ],
        ],
    )
    def test_tables_that_do_not_replay(self, spoilt, column, told):
        path = spoilt / ("hands-00000.npy" if column == "points" else "decisions-00000.npy")
        table = np.load(path)
        wrong = {"action": 107, "seat": 9, "mask": 0, "agent": 200}
        table[column][2] = wrong.get(column, table[column][2] + 1)
        np.save(path, table)
        with pytest.raises(DatasetError, match=told):
            joined(open_dataset(spoilt).batches(64, inputs=observe))

    def test_points_that_were_moved_from_hand_to_hand(self, spoilt):
        table = np.load(spoilt / "hands-00000.npy")
        table["points"][:2, 0] += 1, -1
        np.save(spoilt / "hands-00000.npy", table)
        with pytest.raises(DatasetError, match="game 0 of the dataset pays differently"):
            joined(open_dataset(spoilt).batches(64, inputs=observe))

    def test_hands_that_do_not_follow_each_other(self, spoilt):
        table = np.load(spoilt / "hands-00000.npy")
        table["first"][1] += 1
        np.save(spoilt / "hands-00000.npy", table)
        with pytest.raises(DatasetError, match="missing or damaged"):
            open_dataset(spoilt).take([0])

    @pytest.mark.parametrize(
        "change", [{"knobs": {"variant": "hebei"}}, {"knobs": None}, {"agents": "random"}], ids=str
    )
    def test_settings_of_another_kind(self, spoilt, change):
        settings = json.loads((spoilt / "dataset.json").read_text(encoding="utf-8"))
        (spoilt / "dataset.json").write_text(json.dumps(settings | change), encoding="utf-8")
        with pytest.raises(DatasetError):
            open_dataset(spoilt)
