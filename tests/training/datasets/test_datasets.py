"""Datasets: what is written is what was played, whoever plays it and however often it was interrupted."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

from mahjong_env import make_engine
from mahjong_env.cli import main
from mahjong_env.records import read_records, replay_points
from mahjong_training.config import RecordConfig
from mahjong_training.datasets import Settings, play_shard, recording, write_shard
from mahjong_training.datasets.layout import DECISION, SOURCES, dtype_of, hand_columns
from mahjong_training.datasets.recording import settings_of
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
        (copy / "records-00002.jsonl").unlink()
        (copy / f".decisions-00001.npy.{2**22 + 1}.partial").write_bytes(b"left by a writer that was killed")
        assert record(copy, *TWO) == 0
        assert files(copy) == files(dataset)
        capsys.readouterr()
        assert record(copy, *TWO) == 0
        assert "nothing to do" in capsys.readouterr().out

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
