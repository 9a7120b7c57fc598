"""Work on a Ray cluster: the same bytes as anywhere else, also when workers, drivers and heads die.

Without Ray, only what is looked at before Ray is asked for.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents.policy.file import PolicyFile
from mahjong_env import MahjongError, MissingExtraError
from mahjong_env.cli import main
from mahjong_training.errors import TrainingError
from mahjong_training.runtime import ray_cluster
from mahjong_training.runtime.digests import versions
from mahjong_training.runtime.ray_cluster import RayExecutor, check_address, connected
from support.cluster import AGENTS, REASON, left_behind, small_cluster
from support.spread_commands import COMMANDS, found_by
from training.learning import test_run as learning

ROOT = Path(__file__).parents[3]
PATHS = os.pathsep.join(str(ROOT / name) for name in (".", "agents", "training", "benchmarks"))


def on_ray(tests):
    """Mark a class of tests that need Ray."""
    here = importlib.util.find_spec("ray") is not None
    for mark in (pytest.mark.skipif(not here, reason=REASON), pytest.mark.distributed, pytest.mark.thorough):
        tests = mark(tests)
    return tests


@pytest.fixture(scope="class")
def cluster():
    """A cluster of two workers, to which every command of this process connects."""
    with small_cluster(2) as ray:
        yield ray


@pytest.fixture
def agents(tmp_path):
    """A file of agents, see `support.cluster.AGENTS`."""
    (tmp_path / "on_the_cluster.py").write_text(AGENTS, encoding="utf-8")
    return f"{tmp_path}/on_the_cluster.py"


class TestAddresses:
    @pytest.mark.parametrize("address", ["", "here", "host", "host:port", "a b:1", "http://host:8265", "host:1234567"])
    def test_what_is_no_address(self, address):
        with pytest.raises(TrainingError, match="is not the address of a cluster; valid are local"):
            check_address(address)

    def test_rays_client_is_not_supported(self):
        with pytest.raises(
            TrainingError, match=r"^--ray ray://host:10001: Ray's client is not supported; run this command"
        ):
            check_address("ray://host:10001")

    def test_a_cluster_has_the_workers_that_it_has(self):
        with pytest.raises(TrainingError, match="--processes 4 goes with --ray local"):
            check_address("host:6379", processes=4)

    def test_an_address_where_nobody_answers(self, capsys):
        pytest.importorskip("ray", reason="without Ray its absence is said first")
        words = ["evaluate", "--variant", "hebei", "--agents", "random", "--deals", "2", "--ray", "127.0.0.1:9"]
        assert main(words) == 2
        assert "there is no cluster at this address (Connection refused)" in capsys.readouterr().err

    def test_a_cluster_that_cannot_be_begun_is_an_error_in_words(self):
        class Ray:
            @staticmethod
            def init(**settings):
                raise Exception("The current node timed out during startup.\nMore.")  # noqa: TRY002 Ray has it so

        with pytest.raises(TrainingError, match=r"^--ray local: no connection .*\(The current node timed out"):
            ray_cluster._begin(Ray, "local", 1, None)

    def test_a_missing_ray_is_named_before_anything_is_played(self, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "ray", None)
        with pytest.raises(
            MissingExtraError, match=r"make distributed, .* pip install 'mahjong-env\[distributed,train,evaluate\]'"
        ):
            check_address("local")
        assert main(["evaluate", "--variant", "hebei", "--ray", "local"]) == 2
        assert capsys.readouterr().err.startswith("error: --ray needs Ray")

    def test_a_node_of_another_version_says_what_it_has(self):
        assert ray_cluster.answer_of(dict(versions())) == ("value", None)
        _, (_, wrong) = ray_cluster.answer_of({**versions(), "mahjong_env": "9"})
        assert wrong == f"has other versions: mahjong_env is {versions()['mahjong_env']} and not 9"

    def test_a_task_is_done_in_the_drivers_folder_where_the_node_has_it(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)  # and back at the end
        there = tmp_path / "there"
        there.mkdir()
        for number, folder in enumerate((there, tmp_path / "elsewhere")):
            task = f"folder {number}", pickle.dumps((where, None, None)), None
            assert ray_cluster.answer_of(dict(versions()), str(folder), *task) == ("value", there)


@on_ray
@pytest.mark.usefixtures("cluster")
class TestCommands:
    @pytest.mark.parametrize("name", COMMANDS)
    def test_find_the_same_as_in_one_process(self, name, tmp_path):
        assert found_by(name, tmp_path / "one") == found_by(name, tmp_path / "ray", "--ray", "local")

    def test_agents_of_the_user_need_no_file_on_the_nodes(self, tmp_path, agents, monkeypatch):
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

    @pytest.mark.parametrize(
        ("words", "files"),
        [
            ("evaluate --variant hebei --deals 3", ("evaluation.json",)),
            ("rule-values --variant hebei --knobs cap=none --deals 4", ("rules.json",)),
            ("record --variant hebei --hands 60 --shard-games 20", ("decisions-00000.npy", "hands-00002.npy")),
        ],
    )
    def test_a_task_whose_worker_is_killed_is_done_again(self, words, files, tmp_path, agents):
        for name, agent, more in (("calm", "First", ()), ("killed", "Fatal?marker={}/died", ("--ray", "local"))):
            agent = f"{agents}:{agent.format(tmp_path)}"
            assert main([*words.split(), "--agents", agent, "--out", str(tmp_path / name), *more]) == 0
        assert (tmp_path / "died0").exists()
        for file in files:
            assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "calm" / file).read_bytes()

    def test_files_are_named_from_the_folder_of_the_command(self, tmp_path, agents, monkeypatch):
        """The workers were started in another folder, and the agents of a recording are made by them."""
        monkeypatch.chdir(tmp_path)
        words = ["record", "--variant", "hebei", "--hands", "3", "--agents", f"{Path(agents).name}:First"]
        for name, more in (("here", ()), ("there", ("--ray", "local"))):
            assert main([*words, "--out", name, *more]) == 0
        assert Path("here/hands-00000.npy").read_bytes() == Path("there/hands-00000.npy").read_bytes()

    def test_a_task_that_kills_every_worker_is_given_up(self, tmp_path, agents, capsys):
        fatal = f"{agents}:Fatal?marker={tmp_path}/killed&times=99"
        assert main(["evaluate", "--variant", "hebei", "--deals", "2", "--agents", fatal, "--ray", "local"]) == 2
        assert "could not be done in 5 attempts" in capsys.readouterr().err
        assert len(list(tmp_path.glob("killed*"))) == 5

    def test_an_error_in_a_worker_comes_back_with_its_traceback(self, agents, capsys):
        words = ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", f"{agents}:Broken", "--ray", "local"]
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.startswith("error: in a worker, at Block(")
        assert "ZeroDivisionError: on purpose" in said


FILL = """
import numpy as np

from mahjong_training.runtime.ray_cluster import RayExecutor, connected

def big(state, task):
    return np.full(30 * 2**20, task, np.uint8)

with connected("local", workers=1, store=80 * 2**20), RayExecutor("local") as executor:
    kept = [result for _, result in executor.map(big, None, range(9))]
"""


def big(state, task):
    return np.full(30 * 2**20, state + task, np.uint8)


def where(state, task):
    return Path.cwd()


def shouts(state, task):
    raise MahjongError(f"{state} {task}")


@on_ray
@pytest.mark.usefixtures("cluster")
class TestTasks:
    @pytest.fixture
    def executor(self, cluster):
        with RayExecutor("local") as executor:
            yield executor

    def test_a_full_object_store_spills_and_nothing_is_lost(self, executor):
        """Four results of 30 MiB are ready or on their way at any time, in a store of 80."""
        found = {}
        for place, result in executor.map(big, 1, range(9)):
            assert result.shape == (30 * 2**20,)
            assert place not in found
            found[place] = {int(result.min()), int(result.max())}
            time.sleep(0.3)
        assert found == {place: {place + 1} for place in range(9)}

    def test_results_are_gathered_in_order(self, executor):
        assert executor.workers == 2
        assert [int(result[0]) for result in executor.gather(executor.submit(big, 1, [3, 1, 2]))] == [4, 2, 3]

    def test_our_own_errors_arrive_as_they_are(self, executor):
        with pytest.raises(MahjongError, match=r"^what 3$"):
            list(executor.map(shouts, "what", [3]))

    def test_what_cannot_be_sent(self, executor):
        with pytest.raises(TrainingError, match="cannot be sent to the nodes"):
            list(executor.map(big, (line for line in "abc"), [1]))

    def test_when_the_disk_is_full_too_an_error_says_so(self, tmp_path):
        """In a process of its own, for whose cluster every disk counts as full."""
        script = tmp_path / "fill.py"
        script.write_text(FILL, encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": PATHS, "RAY_local_fs_capacity_threshold": "0.0001"}
        words = [sys.executable, str(script)]
        done = subprocess.run(words, env=env, capture_output=True, text=True, encoding="utf-8", timeout=480)
        assert "WorkerError: the object store and the disk behind it are full, at " in done.stderr, done.stderr


# --- Nodes -------------------------------------------------------------------------------------------------------

# Python runs these at its start, in whatever process has their folder on its path.
LACKING = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mahjong_env", "mahjong_agents", "mahjong_training"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Lacking())
"""
OTHER = """
import mahjong_env

mahjong_env.__version__ = "0.0.7"
"""


@on_ray
class TestNodes:
    def test_those_that_differ_are_refused_by_name(self, tmp_path):
        from ray.cluster_utils import Cluster

        size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
        nodes = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
        try:
            for name, code in (("lacking", LACKING), ("other", OTHER)):
                folder = tmp_path / name
                folder.mkdir()
                (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
                path = f"{folder}{os.pathsep}{PATHS}"
                nodes.add_node(**size, env_vars={"PYTHONPATH": path, "RAY_worker_niceness": "0"})
            with pytest.raises(TrainingError) as refused, connected(nodes.address):
                pytest.fail("connected")
        finally:
            nodes.shutdown()
        said = str(refused.value)
        assert said.startswith("2 of 3 nodes cannot be used: ")
        assert "lacks mahjong_env (No module named" in said
        assert f"mahjong_env is 0.0.7 and not {versions()['mahjong_env']}" in said
        assert said.count(", node ") == 2


# --- Drivers -----------------------------------------------------------------------------------------------------


def words_of(tmp_path, agents):
    slow = (f"{agents}:Slow", f"{agents}:First", "random")
    return ["evaluate", "--variant", "hebei", "--deals", "2", "--agents", *slow, "--out", str(tmp_path / "out")]


def begin(tmp_path, words, *more, **env):
    """Start a driver, and wait until it has kept two parts."""
    started = subprocess.Popen(
        [sys.executable, "-m", "mahjong_env", *words, *more],
        env={**os.environ, "PYTHONPATH": PATHS, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        encoding="utf-8",
    )
    end = time.monotonic() + 300
    while len(parts(tmp_path)) < 2 and started.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert started.poll() is None, started.communicate()
    return started


def parts(tmp_path):
    return list((tmp_path / "out").glob(".parts-*/*.npz"))


def check_that_it_goes_on(tmp_path, words, *more):
    """The rest is played, and all of it is what one process would have found."""
    assert main([*words, *more]) == 0
    alone = [*words[:-1], str(tmp_path / "alone")]
    assert main(alone) == 0
    found = [(tmp_path / name / "evaluation.json").read_bytes() for name in ("out", "alone")]
    assert found[0] == found[1]
    assert json.loads(found[0])["deals"] == 2


@on_ray
class TestDrivers:
    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
    def test_one_that_is_stopped_goes_on(self, number, cluster, tmp_path, agents):
        words = words_of(tmp_path, agents)
        driver = begin(tmp_path, words, "--ray", "local", "--processes", "2")
        driver.send_signal(number)
        _, said = driver.communicate(timeout=60)
        kept = len(parts(tmp_path))
        assert kept >= 2, said
        if number != signal.SIGKILL:
            assert f"interrupted; {kept} of" in said
            assert len(said.strip().splitlines()) == 1, said
        assert left_behind(driver.pid) == []
        check_that_it_goes_on(tmp_path, words, "--ray", "local")

    def test_one_whose_head_dies_ends_and_goes_on_elsewhere(self, tmp_path, agents):
        from ray.cluster_utils import Cluster

        size = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "include_dashboard": False}
        head = Cluster(initialize_head=True, head_node_args=size)
        try:
            words = words_of(tmp_path, agents)
            # Ray's own patience with a head that does not answer is a minute.
            driver = begin(tmp_path, words, "--ray", head.address, RAY_gcs_rpc_server_reconnect_timeout_s="3")
            head.head_node.kill_gcs_server()
            _, said = driver.communicate(timeout=120)
            assert driver.returncode != 0
            assert "Failed to connect to GCS" in said
            assert len(parts(tmp_path)) >= 2
        finally:
            head.shutdown()
        check_that_it_goes_on(tmp_path, words)


# --- Training ----------------------------------------------------------------------------------------------------

CONFIG = replace(learning.CONFIG, hands=64, evaluations=1, opponent_share=0.5)


def weights(config):
    from mahjong_training.learning import run as ppo_run

    return PolicyFile.read(ppo_run.run(config).last).weights


def same(one, other):
    return all(np.array_equal(array, other[name]) for name, array in one.items())


@on_ray
class TestTraining:
    def test_workers_play_the_same_hands_also_when_one_is_killed(self, cluster, agents, tmp_path):
        # Once when it is tried before the run begins, and once in play.
        first, fatal = (f"{agents}:{name}" for name in ("First", f"Fatal?marker={tmp_path}/killed&times=2"))
        calm = weights(replace(CONFIG, opponents=(first,), out=tmp_path / "calm"))
        killed = weights(replace(CONFIG, opponents=(fatal,), out=tmp_path / "run", ray="local"))
        assert (tmp_path / "killed1").exists()
        assert same(calm, killed)

    def test_one_update_ahead_is_the_same_on_a_cluster(self, cluster, tmp_path):
        config = replace(CONFIG, opponents=("greedy",), ahead=True)
        here = weights(replace(config, out=tmp_path / "here"))
        assert same(here, weights(replace(config, out=tmp_path / "there", ray="local")))
