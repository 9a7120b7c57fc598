"""Work that is shared out: the same bytes from one process and from two, and nothing played twice."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from mahjong_training.errors import TrainingError, WorkerError
from mahjong_training.runtime.executors import new_executor
from support.spread_commands import COMMANDS, found_by


def power(exponent, base):
    return base**exponent


def two():
    return 2


def refused(state, task):
    raise TrainingError(f"{state} {task}")


def ends(state, task):
    os._exit(task)


def takes_an_hour(folder, task):
    (folder / str(task)).touch()
    time.sleep(3600)


BUSY = """
import operator, time
from mahjong_training.runtime.executors import new_executor
if __name__ == "__main__":
    executor = new_executor(2)
    executor.gather(executor.submit(operator.call, time.sleep, [0, 0]))
    executor.submit(operator.call, time.sleep, [3600, 3600])
    print("busy", flush=True)
    time.sleep(3600)
"""


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.thorough)])
def executor(request):
    with new_executor(request.param) as executor:
        yield executor


class TestExecutors:
    def test_every_task_is_carried_out_once(self, executor):
        assert sorted(executor.map(power, 2, range(5), two)) == [(place, place**2) for place in range(5)]
        assert sorted(executor.map(power, 3, range(3))) == [(place, place**3) for place in range(3)]
        assert executor.gather(executor.submit(power, 2, [3, 1, 2])) == [9, 1, 4]

    def test_errors_of_the_work_arrive(self, executor):
        with pytest.raises(TrainingError, match="what 7"):
            list(executor.map(refused, "what", [7]))

    def test_what_nobody_waits_for_is_not_begun(self):
        begun = []
        results = new_executor().map(lambda state, task: begun.append(task), None, range(9))
        next(results)
        results.close()
        assert begun == [0]

    @pytest.mark.parametrize("ray", [None, "local"])
    def test_without_a_task_nothing_is_started(self, ray):
        with new_executor(2, ray) as executor:
            assert list(executor.map(power, 2, [])) == []
        assert multiprocessing.active_children() == []

    def test_a_state_that_cannot_be_sent(self):
        with new_executor(2) as executor, pytest.raises(TrainingError, match="cannot be sent to worker processes"):
            list(executor.map(power, (line for line in "abc"), [1]))

    @pytest.mark.thorough
    def test_a_worker_that_dies_is_said_so(self):
        with (
            new_executor(2) as executor,
            pytest.raises(WorkerError, match="a worker process ended before its work was done"),
        ):
            list(executor.map(ends, None, [1]))
        assert multiprocessing.active_children() == []

    def test_closing_ends_what_has_begun(self, tmp_path, capfd, monkeypatch):
        monkeypatch.delenv("PYTHONWARNDEFAULTENCODING", raising=False)  # torch warns of itself in each new process
        with new_executor(2) as executor:
            executor.submit(takes_an_hour, tmp_path, range(4))
            while len(list(tmp_path.iterdir())) < 2:
                time.sleep(0.1)
        assert multiprocessing.active_children() == []
        assert len(list(tmp_path.iterdir())) == 2
        assert capfd.readouterr().err == ""

    @pytest.mark.thorough
    @pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")
    def test_workers_end_with_a_main_process_that_is_killed(self):
        with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout.readline() == "busy\n"
            running.kill()
            assert running.communicate(timeout=300) == ("", None)  # no end before all who hold it have ended


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_two_processes_find_the_same_as_one(name, tmp_path):
    assert found_by(name, tmp_path / "one") == found_by(name, tmp_path / "two", "--processes", "2")
