"""Datasets: what is written is what was played, whoever plays it and however often it was interrupted."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import VARIANTS, make_engine
from mahjong_env.cli import main
from mahjong_env.records import read_records, replay_points
from mahjong_training.config import RecordConfig
from mahjong_training.datasets import Settings, play_shard, write_shard
from mahjong_training.datasets.command import settings_of
from mahjong_training.datasets.layout import DECISION, SOURCES, hand_dtype


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
    assert record(out, "--agents", "greedy", "random") == 0
    return out


def played_one_by_one(made, game, agents):
    """The same game, played again decision by decision in an engine of its own; what each decision saw."""
    engine = make_engine(made.rules, game + 1, seed=made.seed, num_hands=made.num_hands).select([game])
    for action in agents:
        yield engine
        engine.step([action])
    yield engine


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_are_what_was_played(variant):
    made = settings(variant, agents=("greedy", "random"), num_hands=2, observations=True)
    shard = play_shard(made, 0)
    rows, hands = shard.decisions, shard.hands
    assert rows.dtype == DECISION
    assert hands.dtype == hand_dtype(made.rules.people)
    assert len(hands) == 24
    assert (hands["first"][1:] == np.cumsum(hands["decisions"])[:-1]).all()
    masks = np.unpackbits(rows["mask"], axis=-1, count=109)
    for game in (0, 11):
        own = np.flatnonzero(rows["game"] == game)
        engines = played_one_by_one(made, game, rows["action"][own])
        paid = []
        for row, engine in zip(own, engines, strict=False):
            assert engine.seat_to_act[0] == rows["seat"][row]
            assert (engine.action_mask[0] == masks[row]).all()
            assert (engine.observe()[0] == shard.observations[row]).all()
            assert rows["agent"][row] == hands["agents"][rows["hand"][row], rows["seat"][row]]
            paid.append(engine.points[0])
        final = next(engines, engine).points[0]
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
    rows = play_shard(settings("hebei"), 0).decisions
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
    for line, hand in zip(shard.records, shard.hands, strict=True):
        told = json.loads(line)
        assert told["stream"] == hand["game"]
        assert told["agents"] == ["greedy"] * 4
        assert (np.array(told["points"]) - made.rules.starting_points == hand["points"]).all()
    won = shard.hands[shard.hands["winner"] >= 0]
    assert len(won) > 10
    assert (won["points"][np.arange(len(won)), won["winner"]] > 0).all()
    assert ((won["from_seat"] >= 0) == np.isin(won["source"], [SOURCES.index("discard"), SOURCES.index("kong")])).all()
    drawn = shard.hands[shard.hands["winner"] < 0]
    assert (drawn["source"] == 0).all()
    assert (drawn["value"] == 0).all()


def test_a_shard_is_a_picklable_function_of_settings_and_number(tmp_path):
    made, play = pickle.loads(pickle.dumps((settings(), play_shard)))
    one, other = play(made, 1), play_shard(settings(), 1)
    assert (one.decisions == other.decisions).all()
    assert one.records == other.records
    assert (play_shard(settings(), 0).decisions["action"][:20] != one.decisions["action"][:20]).any()
    assert write_shard(made, tmp_path, 1) == sum(len(data) for data in files(tmp_path).values())


def test_deals_are_those_of_an_engine_with_the_seed():
    rows = play_shard(settings(seed=8, hands=40, shard_games=20), 1).decisions
    engine = make_engine("hangzhou", 40, seed=8)
    first = rows[rows["step"] == 0]
    assert (first["game"] == np.arange(20, 40)).all()
    assert (np.unpackbits(first["mask"], axis=-1, count=109) == engine.action_mask[20:]).all()


def test_agents_are_drawn_for_each_seat_of_each_game():
    hands = play_shard(settings(agents=("greedy", "random"), hands=200, shard_games=200), 0).hands
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

    def test_its_data_sheet_says_what_is_in_it(self, dataset):
        sheet = (dataset / "README.md").read_text(encoding="utf-8")
        for said in ("24 games of 1; 24 hands", "0. `greedy`", "1. `random`", "licence | CC0", "| seed | 3 |"):
            assert said in sheet
        assert all(f"| `{name}` |" in sheet for name in (*DECISION.names, *hand_dtype(3).names) if name != "_")

    def test_the_same_seed_gives_the_same_bytes(self, dataset, tmp_path):
        assert record(tmp_path / "again", "--agents", "greedy", "random") == 0
        assert files(tmp_path / "again") == files(dataset)
        assert record(tmp_path / "other", "--agents", "greedy", "random", "--processes", "1", variant="wuhan") == 0
        assert files(tmp_path / "other") != files(dataset)

    def test_missing_damaged_and_torn_shards_are_played_again(self, dataset, tmp_path, capsys):
        copy = tmp_path / "copy"
        shutil.copytree(dataset, copy)
        (copy / "hands-00000.npy").unlink()
        torn = copy / "decisions-00001.npy"
        torn.write_bytes(torn.read_bytes()[:-100])
        (copy / "records-00002.jsonl").unlink()
        (copy / f".decisions-00001.npy.{2**22 + 1}.partial").write_bytes(b"left by a writer that was killed")
        assert record(copy, "--agents", "greedy", "random") == 0
        assert files(copy) == files(dataset)
        capsys.readouterr()
        assert record(copy, "--agents", "greedy", "random") == 0
        assert "nothing to do" in capsys.readouterr().out

    def test_an_interrupted_command_goes_on_with_whole_shards(self, dataset, tmp_path, monkeypatch, capsys):
        from mahjong_training.datasets import recording

        def interrupted(made, folder, shard):
            if shard == 1:
                raise KeyboardInterrupt
            return write_shard(made, folder, shard)

        with monkeypatch.context() as patch:
            patch.setattr(recording, "write_shard", interrupted)
            assert record(tmp_path / "run", "--agents", "greedy", "random") == 130
        told = capsys.readouterr().err
        assert "10 of 24 hands" in told
        assert len(told.splitlines()) == 1
        assert len(list((tmp_path / "run").glob("hands-*"))) == 1
        assert record(tmp_path / "run", "--agents", "greedy", "random") == 0
        assert files(tmp_path / "run") == files(dataset)

    def test_more_hands_make_it_longer(self, dataset, tmp_path):
        out = tmp_path / "grown"
        for hands in ("12", "24"):
            assert record(out, "--agents", "greedy", "random", "--hands", hands) == 0
        assert files(out) == files(dataset)

    @pytest.mark.thorough
    def test_several_processes_write_the_same(self, dataset, tmp_path):
        assert record(tmp_path / "two", "--agents", "greedy", "random", "--processes", "2") == 0
        assert files(tmp_path / "two") == files(dataset)

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("--hands", "0"), "--hands must be at least 1"),
            (("--hands", "5", "--num-hands", "2"), "no multiple"),
            (("--agents", "nobody"), "no agent is called 'nobody'"),
            (("--seed", "-1"), "--seed must be"),
            (("--shard-games", "0"), "--shard-games must be at least 1"),
            (("--hands", "1000000000000000"), "at most 4,294,967,296"),
            (("--hands", "4000000000", "--shard-games", "100"), "are still needed"),
        ],
    )
    def test_wrong_settings_are_refused_before_anything_is_written(self, tmp_path, capsys, arguments, told):
        assert record(tmp_path / "none", *arguments) == 2
        assert told in capsys.readouterr().err
        assert not (tmp_path / "none").exists()

    def test_games_that_end_by_points_are_refused(self, tmp_path, capsys):
        assert record(tmp_path / "none", "--knob", "match_end=points", variant="hangzhou") == 2
        assert "does not end after" in capsys.readouterr().err

    def test_another_dataset_is_never_mixed_in(self, dataset, tmp_path, capsys):
        copy = tmp_path / "copy"
        shutil.copytree(dataset, copy)
        before = files(copy)
        for arguments, told in (
            (("--agents", "greedy"), "whose agents is ('greedy', 'random')"),
            (("--agents", "greedy", "random", "--seed", "4"), "whose seed is 3"),
            (("--agents", "greedy", "random", "--hands", "20"), "cannot be less"),
        ):
            assert record(copy, *arguments) == 2
            assert told in capsys.readouterr().err
        assert files(copy) == before

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("{", "cannot be read"),
            ("[]", "not the settings of a dataset"),
            ('{"format": "other"}', "not the settings of a dataset"),
            ('{"format": "mahjong_env.dataset", "format_version": 99}', "of version 99"),
            ('{"format": "mahjong_env.dataset", "format_version": 1}', "damaged"),
        ],
    )
    def test_foreign_and_damaged_settings_are_refused(self, tmp_path, capsys, text, told):
        (tmp_path / "dataset.json").write_text(text, encoding="utf-8")
        assert record(tmp_path) == 2
        assert told in capsys.readouterr().err


def test_an_agent_that_fails_leaves_whole_shards(tmp_path):
    class Fails:
        name = "fails"

        def act(self, view, rng):
            return np.full(len(view), 108)

    from mahjong_env import AgentError

    with pytest.raises(AgentError, match="fails"):
        play_shard(settings(), 0, [Fails()])
    assert make_agent("greedy").name == "greedy"


def test_slow_agents_have_small_shards(tmp_path):
    for agents, games in ((("greedy",), 16384), (("greedy", "value"), 1000)):
        assert settings_of(RecordConfig(variant="hebei", out=tmp_path, agents=agents)).shard_games == games
    chosen = RecordConfig(variant="hebei", out=tmp_path, agents=("value",), shard_games=50)
    assert settings_of(chosen).shard_games == 50
