"""``mahjong-env bench``: what is timed, what is counted, and what is printed."""

import contextlib
import functools
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import mahjong_env
from mahjong_benchmarks import contenders, timing
from mahjong_benchmarks.contenders import WarmGames, choose, many_games, play_engine, play_env, play_learner
from mahjong_benchmarks.footprint import held_arrays, measure_memory, measure_start
from mahjong_benchmarks.speed import report_text
from mahjong_benchmarks.timing import TURNS, Contender, measure
from mahjong_env import Engine, MahjongError, hebei_v0, rules
from mahjong_env.cli import main
from mahjong_env.environments.agents import RandomAgent

QUICK = "bench --variant hebei --seconds 0.005 --runs 1 --no-peers --no-footprint --batches 4"
HOME = Path(mahjong_env.__file__).parent


def run(capsys, command):
    """The exit status of a command line, and what it printed on stdout and on stderr."""
    status = main(shlex.split(command))
    return status, *capsys.readouterr()


class TestTiming:
    @pytest.fixture
    def measured(self, monkeypatch):
        """Three players on a clock of their own: choosing takes 5 s, a decision of the environment some time."""
        now, self.order = [0.0], []
        monkeypatch.setattr(timing, "process_time", lambda: now[0])

        def contender(name, seconds_each, *peers, counts_choosing=False):
            def start(seed):  # a run's number is its seed: each is slower than the one before
                def play(decisions, choosing):
                    self.order.append(name)
                    with choosing:
                        now[0] += 5
                    now[0] += decisions * seconds_each * (seed + 1)
                    return decisions, 1

                return play

            return Contender(name, start, 10, peers, counts_choosing=counts_choosing)

        slow, fast = contender("slow", 0.5), contender("fast", 0.125, "slow", "absent")
        return measure([[slow, fast], [slow, contender("loop", 0.5, "slow", counts_choosing=True)]], 20, 3)

    def test_the_agents_time_does_not_count_but_in_loops(self, measured):
        slow, fast, loop = measured
        assert [reading.rate for reading in slow.readings] == pytest.approx([2, 2, 1, 1, 2 / 3, 2 / 3])
        assert [reading.rate for reading in fast.readings] == pytest.approx([8, 4, 8 / 3])
        assert [reading.with_choosing for reading in slow.readings][:2] == pytest.approx([1, 1])
        assert [reading.rate for reading in loop.readings] == pytest.approx([1, 2 / 3, 0.5])
        assert fast.readings[0].hands == 100

    def test_ratios_are_of_the_same_run(self, measured):
        assert [result.times for result in measured[:2]] == [{}, {"slow": pytest.approx([4, 4, 4])}]
        alone, loops = report_text(measured).split("\n\n")
        fast = " ".join(alone.splitlines()[2].split())
        assert fast == "fast 4 [3, 8] 1 [1, 2] 100.0 4.00 [4.00, 4.00] x slow"
        assert loops.splitlines()[1].startswith("loop ")

    def test_contenders_of_a_group_play_by_turns(self, measured):
        last = [name for name, before in zip(self.order, [None, *self.order], strict=False) if name != before]
        assert last[-2 * TURNS :] == ["slow", "loop"] * TURNS


def test_hands_do_not_end_in_waves():
    def ends(engine):
        agent, rng = RandomAgent(), np.random.default_rng(1)
        return np.array([engine.step(choose(engine, agent, rng)).hand_over.sum() for _ in range(120)])

    dealt_at_once = ends(Engine(rules("hebei"), 2048, seed=0, auto_reset=True))
    assert dealt_at_once[:60].sum() < 0.01 * dealt_at_once.sum()
    source = WarmGames(rules("hebei"), 2048, "random")
    in_tens = ends(source.copy(2048)).reshape(-1, 10).sum(axis=1)
    assert 0.7 * in_tens.mean() < in_tens.min() <= in_tens.max() < 1.3 * in_tens.mean()
    masks = source.copy(4).action_mask
    ends(source.copy(4))
    np.testing.assert_array_equal(source.copy(4).action_mask, masks)


@pytest.mark.parametrize("play", ["random", "greedy"])
def test_batches_count_every_decision(play):
    for contender in many_games(rules("fuzhou"), (8, 8), play):
        decisions, hands = contender.start(1)(400, contextlib.nullcontext())
        assert decisions == 400
        assert 0 < hands < 100


class TestLoops:
    def test_env_and_the_engine_count_the_same_hands(self):
        """All loops draw alike; every hand of `env()` is played to its end, which is counted by itself here."""
        env = hebei_v0.env()
        env.reset(seed=3)
        rng, expected = np.random.default_rng(3), 0
        decisions, hands = play_env(rules("hebei"), 3)(150, contextlib.nullcontext())
        for _ in range(hands):
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                legal = np.flatnonzero(observation["action_mask"])
                over = terminated or truncated
                env.step(None if over else int(legal[int(rng.random() * len(legal))]))
                expected += not over
        assert decisions == expected >= 150
        assert play_engine(rules("hebei"), 3)(300, contextlib.nullcontext())[1] >= 2

    def test_gymnasium_counts_the_decisions_of_all_players(self):
        own = []

        class Choosing(contextlib.nullcontext):
            def __enter__(self):
                own.append(1)

        decisions, hands = play_learner(rules("hebei", players=4), 3)(400, Choosing())
        assert hands >= 2
        assert len(own) * 3 < decisions < len(own) * 5  # four play, and claims are asked of some more often


class TestFootprint:
    def test_arrays_are_found_where_they_are_held(self):
        array = np.zeros(100, np.int8)
        assert list(held_arrays([{"a": [array[:50], (array[50:], {1: array})]}]).values()) == [100]

        @functools.cache
        def table():
            return np.zeros(7, np.int64)

        assert held_arrays([[table]]) == {}
        table()
        assert list(held_arrays([[table]]).values()) == [56]
        engine = mahjong_env.make_engine("hebei", 16, seed=0)
        held = sum(held_arrays([engine]).values())
        assert held >= sum(array.nbytes for array in engine.state.arrays().values())

    @pytest.mark.thorough
    def test_memory_and_start(self):
        small, large = (measure_memory(rules("hebei", players=4), batch) for batch in (64, 1024))
        assert large.array_bytes > max(small.array_bytes, 1_000_000)
        assert large.table_bytes >= small.table_bytes > 1e6  # few games win nothing, and read no hands
        start = measure_start(rules("wuhan"), 2)
        assert min(start.import_seconds + start.env_seconds) > 0

    def test_a_process_that_fails_says_why(self, monkeypatch):
        monkeypatch.setattr("mahjong_benchmarks.footprint._START", "raise ValueError('no luck')")
        with pytest.raises(MahjongError, match="a process of the benchmark failed: ValueError: no luck"):
            measure_start(rules("wuhan"), 1)


class TestCommand:
    @pytest.fixture(autouse=True)
    def short_head_starts(self, monkeypatch):
        monkeypatch.setattr(contenders, "HEAD_START", 2)

    @pytest.mark.thorough
    def test_all_tables(self, capsys, tmp_path):
        command = f"{QUICK} --play random greedy --json {tmp_path}/speed.json --knob players=4"
        status, printed, _ = run(capsys, command.replace("--no-footprint", ""))
        alone, loops, memory, start = printed.strip().split("\n\n")
        assert status == 0
        assert [line.split("  ")[0] for line in alone.splitlines()[1:]] == [
            f"hebei: 4 games, masks{seen}, {play} play" for play in ("random", "greedy") for seen in ("", SEEN)
        ]
        assert [line.split("  ")[0] for line in loops.splitlines()[1:]] == LOOPS
        assert memory.splitlines()[1].startswith("hebei: 4 games")
        assert start.splitlines()[1].startswith("hebei: a new process")
        written = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
        assert len(written["results"]) == 7
        assert all(result["decisions_per_second"] > 0 for result in written["results"])
        assert (written["settings"]["batches"], written["machine"]["numpy"]) == ([4], np.__version__)

    def test_beside_peers(self, capsys):
        pytest.importorskip("rlcard")
        pytest.importorskip("riichienv")
        status, printed, _ = run(capsys, f"{QUICK} --play random greedy".replace("--no-peers", ""))
        alone, loops = (table.splitlines() for table in printed.strip().split("\n\n"))
        assert status == 0
        assert re.search(r"masks, random .* [\d.]+ x RLCard mahjong, [\d.]+ x RiichiEnv$", alone[4])
        assert re.search(r"random .* x RLCard mahjong, [\d.]+ x RiichiEnv, mask and observation$", alone[5])
        assert re.search(r"greedy play .* x RLCard mahjong with choosing$", alone[6])
        assert [re.split(r"  +[\d.]+ x ", line)[-1] for line in loops[3:]] == [
            "RLCard mahjong (loop)",
            "RiichiEnv, mask and observation (loop)",
            "hebei: env()",
        ]

    def test_missing_peers_are_an_error_that_names_the_remedy(self, capsys, monkeypatch):
        monkeypatch.setitem(sys.modules, "rlcard", None)
        status, printed, said = run(capsys, "bench --variant hebei")
        assert (status, printed) == (2, "")
        assert "pip install 'mahjong-env[bench]'" in said

    def test_wrong_options_are_refused_before_anything_is_measured(self, capsys, monkeypatch):
        """More of them stand in tests/test_bad_input.py."""
        monkeypatch.setattr("mahjong_benchmarks.speed.measure", lambda *_: pytest.fail("measured"))
        status, printed, said = run(capsys, f"{QUICK} --runs 0")
        assert (status, printed) == (2, "")
        assert "--batches and --runs are integers from 1" in said


SEEN = " and observations"
LOOPS = ["hebei: env()", "hebei: engine, 1 game", "hebei: gymnasium.make()"]
