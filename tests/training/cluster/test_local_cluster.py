"""Work on a local cluster of two workers: the same bytes as anywhere else, also when workers and drivers die."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mahjong_env import MahjongError
from mahjong_env.cli import main
from mahjong_training.cluster import do_shards
from mahjong_training.errors import TrainingError
from support.cluster import REASON
from support.spread_commands import COMMANDS, found_by

pytest.importorskip("ray", reason=REASON)
pytestmark = [pytest.mark.distributed, pytest.mark.usefixtures("cluster")]

WORDS = ("evaluate", "--variant", "hebei", "--agents", "random", "greedy", "closed-greedy", "--deals", "30")


def evaluate(out, *more):
    assert main([*WORDS, "--out", str(out), *more]) == 0
    return (out / "evaluation.json").read_bytes()


@pytest.mark.thorough
def test_the_json_is_that_of_one_process_and_of_two(tmp_path):
    found = {
        evaluate(tmp_path / "one"),
        evaluate(tmp_path / "two", "--processes", "2"),
        evaluate(tmp_path / "ray", "--ray", "local"),
    }
    assert len(found) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "evaluate"])
def test_other_commands_find_the_same_as_in_one_process(name, tmp_path):
    assert found_by(name, tmp_path / "one") == found_by(name, tmp_path / "ray", "--ray", "local")


@pytest.mark.thorough
def test_agents_of_the_user_need_no_file_on_the_nodes(tmp_path, agents, monkeypatch):
    """The worker cannot import the file: it is gone before anything is played."""
    words = ["evaluate", "--variant", "hebei", "--deals", "3", "--agents", f"{agents}:First", "random"]
    assert main([*words, "--out", str(tmp_path / "here")]) == 0
    from mahjong_training.evaluation import command

    prepare = command._prepare

    def prepare_and_forget(config):
        plan = prepare(config)
        os.unlink(agents)
        return plan

    monkeypatch.setattr(command, "_prepare", prepare_and_forget)
    assert main([*words, "--out", str(tmp_path / "there"), "--ray", "local"]) == 0
    found = [(tmp_path / name / "evaluation.json").read_bytes() for name in ("here", "there")]
    assert found[0] == found[1]


@pytest.mark.thorough
def test_a_worker_that_is_killed_is_replaced_and_its_shard_played_again(tmp_path, agents):
    words = ["evaluate", "--variant", "hebei", "--deals", "3"]
    fatal = f"{agents}:Fatal?marker={tmp_path}/killed"
    assert main([*words, "--agents", f"{agents}:First", "random", "--out", str(tmp_path / "calm")]) == 0
    assert main([*words, "--agents", fatal, "random", "--out", str(tmp_path / "killed"), "--ray", "local"]) == 0
    assert (tmp_path / "killed0").exists()
    found = [(tmp_path / name / "evaluation.json").read_bytes() for name in ("calm", "killed")]
    assert found[0] == found[1]


@pytest.mark.thorough
def test_a_worker_that_is_killed_in_a_study_of_rules(tmp_path, agents):
    words = ["rule-values", "--variant", "hebei", "--knobs", "cap=none", "--deals", "4"]
    assert main([*words, "--agents", f"{agents}:First", "--out", str(tmp_path / "calm")]) == 0
    fatal = f"{agents}:Fatal?marker={tmp_path}/killed"
    assert main([*words, "--agents", fatal, "--out", str(tmp_path / "killed"), "--ray", "local"]) == 0
    assert (tmp_path / "killed0").exists()
    found = [(tmp_path / name / "rules.json").read_bytes() for name in ("calm", "killed")]
    assert found[0] == found[1]


@pytest.mark.thorough
def test_a_shard_that_kills_every_worker_is_given_up(tmp_path, agents, capsys):
    fatal = f"{agents}:Fatal?marker={tmp_path}/killed&times=99"
    assert main(["evaluate", "--variant", "hebei", "--deals", "2", "--agents", fatal, "--ray", "local"]) == 2
    assert "could not be done in 5 attempts" in capsys.readouterr().err
    assert len(list(tmp_path.glob("killed*"))) == 5


@pytest.mark.thorough
def test_an_error_in_a_worker_comes_back_with_its_traceback(agents, capsys):
    words = ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", f"{agents}:Broken", "--ray", "local"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: in a worker, at Block(")
    assert "ZeroDivisionError: on purpose" in said


FILL = """
import numpy as np

from mahjong_training.cluster import connected, do_shards

def big(common, shard):
    return np.full(30 * 2**20, shard, np.uint8)

with connected("local", workers=1, store=80 * 2**20) as ray:
    kept = [result for _, result in do_shards(ray, big, None, range(9))]
"""


def big(common, shard):
    return np.full(30 * 2**20, common + shard, np.uint8)


def shouts(common, shard):
    raise MahjongError(f"{common} {shard}")


class TestShards:
    @pytest.mark.thorough
    def test_a_full_object_store_spills_and_nothing_is_lost(self, cluster):
        """Four results of 30 MiB are ready or on their way at any time, in a store of 80."""
        found = {}
        for place, result in do_shards(cluster, big, 1, range(9)):
            assert result.shape == (30 * 2**20,)
            assert place not in found
            found[place] = {int(result.min()), int(result.max())}
            time.sleep(0.3)
        assert found == {place: {place + 1} for place in range(9)}

    @pytest.mark.thorough
    def test_our_own_errors_arrive_as_they_are(self, cluster):
        with pytest.raises(MahjongError, match=r"^what 3$"):
            list(do_shards(cluster, shouts, "what", [3]))

    @pytest.mark.thorough
    def test_what_cannot_be_sent(self, cluster):
        with pytest.raises(TrainingError, match="cannot be sent to the nodes"):
            list(do_shards(cluster, big, (line for line in "abc"), [1]))

    @pytest.mark.thorough
    def test_no_shards(self, cluster):
        assert list(do_shards(cluster, big, 1, [])) == []


@pytest.mark.thorough
def test_when_the_disk_is_full_too_an_error_says_so(tmp_path):
    """In a process of its own, for whose cluster every disk counts as full."""
    script = tmp_path / "fill.py"
    script.write_text(FILL, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "RAY_local_fs_capacity_threshold": "0.0001"}
    words = [sys.executable, str(script)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, encoding="utf-8", timeout=480)
    assert "WorkerError: the object store and the disk behind it are full, at " in done.stderr, done.stderr


class TestRecording:
    @pytest.mark.thorough
    def test_the_files_are_those_of_one_process_also_when_a_worker_is_killed(self, tmp_path, agents):
        words = ["record", "--variant", "hebei", "--hands", "60", "--shard-games", "20", "--out"]
        fatal = f"{agents}:Fatal?marker={tmp_path}/killed"
        assert main([*words, str(tmp_path / "calm"), "--agents", f"{agents}:First"]) == 0
        assert main([*words, str(tmp_path / "run"), "--agents", fatal, "--ray", "local"]) == 0
        assert (tmp_path / "killed0").exists()
        tables = sorted(path.name for path in (tmp_path / "calm").glob("*.npy"))
        assert len(tables) == 6
        for name in tables:
            assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "calm" / name).read_bytes()
