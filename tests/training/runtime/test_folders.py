"""Folders that commands write to: one command at a time."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time

import pytest

from mahjong_env.cli import main
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.folders import LOCK, alone_in
from support.marks import everyday


class TestLock:
    def test_a_second_run_is_refused_and_named(self, tmp_path):
        path = tmp_path / "run.lock"
        with alone_in(tmp_path):
            this = rf"at work in .*: process {os.getpid()} on {platform.node()}"
            with pytest.raises(TrainingError, match=this), alone_in(tmp_path):
                pytest.fail("both are in")
            assert path.exists()
        assert not path.exists()

    def test_a_lock_whose_process_was_killed_is_taken_over(self, tmp_path, capsys):
        code = "import sys, time; from pathlib import Path; from mahjong_training.runtime.folders import alone_in\n"
        code += "with alone_in(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
        path = tmp_path / "run.lock"
        with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as holder:
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(TrainingError, match=f"process {holder.pid} on"), alone_in(tmp_path):
                pass
            holder.kill()
            holder.wait()
        with alone_in(tmp_path):
            assert f"taken over from process {holder.pid} on {platform.node()}" in capsys.readouterr().out
        assert not path.exists()

    def test_of_another_machine_nothing_is_known(self, tmp_path):
        holder = tmp_path / "run.holder"
        holder.write_text(json.dumps({"pid": 1, "host": "elsewhere"}), encoding="utf-8")
        said = r"process 1 on elsewhere.*if it has ended, remove .*run\.holder"
        with pytest.raises(TrainingError, match=said), alone_in(tmp_path):
            pytest.fail("taken over")
        assert holder.exists()

    @pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff"])
    def test_a_lock_without_a_name_is_taken_over(self, content, tmp_path, capsys):
        (tmp_path / "run.lock").touch()
        (tmp_path / "run.holder").write_bytes(content)
        with alone_in(tmp_path):
            assert not capsys.readouterr().out
        assert not list(tmp_path.iterdir())

    def test_a_process_that_waited_for_a_removed_lock_does_not_hold_it(self, tmp_path):
        """The lock of a file that has no name any more would keep nobody out."""
        code = "import os, sys, time, filelock\n"
        code += "lock = filelock.FileLock(sys.argv[1]); print('ready', flush=True); lock.acquire()\n"
        code += "print(os.path.exists(sys.argv[1]), flush=True)"
        with alone_in(tmp_path):
            words = [sys.executable, "-c", code, str(tmp_path / LOCK)]
            waiting = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, encoding="utf-8")
            assert waiting.stdout.readline() == "ready\n"
            time.sleep(0.2)
        assert waiting.communicate(timeout=60)[0] == "True\n"

    @pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
    @pytest.mark.parametrize("name", [LOCK, "run.holder"])
    def test_a_lock_that_is_a_link_is_not_followed(self, name, tmp_path):
        precious, out = tmp_path / "precious", tmp_path / "out"
        out.mkdir()
        precious.write_bytes(b"precious")
        (out / name).symlink_to(precious)
        with pytest.raises(TrainingError, match=rf"{name}: a lock is a file, but this is a link"), alone_in(out):
            pytest.fail("the link was followed")
        assert precious.read_bytes() == b"precious"


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


COMMANDS = {
    "evaluate": ("evaluate", "--variant", "hebei", "--agents", "random", "greedy", "--deals", "6"),
    "leaderboard": ("leaderboard", "--variants", "hebei", "--levels", "1", "2", "--deals", "2"),
    "rules": ("rule-values", "--variant", "wuhan", "--rows", "Pure One Suit", "--deals", "2"),
    "review": ("review", "--variant", "hebei", "--worlds", "2"),
    "record": ("record", "--variant", "hebei", "--hands", "2"),
    "train": ("train", "--variant", "hebei"),
    "train-sb3": ("train-sb3", "--variant", "hebei"),
}


class TestTwoAtOnce:
    @pytest.mark.parametrize("name", everyday(COMMANDS, ["evaluate", "leaderboard", "train", "train-sb3"]))
    def test_one_folder_has_one_command(self, name, tmp_path, capsys):
        with alone_in(tmp_path):
            before = contents(tmp_path)
            assert main([*COMMANDS[name], "--out", str(tmp_path)]) == 2
            assert contents(tmp_path) == before
        said = f"error: {tmp_path}: another run is at work in this folder: process {os.getpid()} on "
        assert capsys.readouterr().err.startswith(said)
