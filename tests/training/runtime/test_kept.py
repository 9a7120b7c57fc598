"""What is kept, and when it is used again: never for other code, never twice, never by two at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mahjong_agents
import mahjong_env
import mahjong_training
from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_env.records import read_records
from mahjong_training.config import EvaluateConfig
from mahjong_training.datasets.layout import Settings
from mahjong_training.datasets.recording import write_dataset
from mahjong_training.errors import DatasetError, TrainingError
from mahjong_training.evaluation import command as evaluate
from mahjong_training.evaluation import leaderboard
from mahjong_training.evaluation.parts import digests
from mahjong_training.runtime import kept
from mahjong_training.runtime.kept import Kept
from mahjong_training.runtime.lock import LOCK, locked
from mahjong_training.runtime.versions import versions
from support.marks import everyday

LEADERBOARD = ("leaderboard", "--variants", "hebei", "--levels", "1", "2", "--deals", "2", "--out")
EVALUATE = ("evaluate", "--variant", "hebei", "--agents", "random", "greedy", "--deals", "6", "--out")
OTHER_CODE = {**versions(), "code of mahjong_env": "another"}
HEBEI = rules("hebei")


SLOW = """
from mahjong_agents import RandomAgent
class Slow(RandomAgent):
    name = "slow"
    games_at_once = 18
"""


class KilledError(BaseException):
    """Ends a command as SIGKILL does: it cannot say or tidy up anything."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Sigma takes a second, and pictures another one."""
    for module in (evaluate, leaderboard):
        monkeypatch.setattr(module, "sigma", lambda rules: 3.5)
    monkeypatch.setattr(evaluate.report, "draw", lambda found: b"a picture")


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of three deals, so that little makes several; returns those that were played."""
    monkeypatch.setattr("mahjong_training.evaluation.matches.games_at_once", lambda agents: 9)
    return counted(monkeypatch, evaluate)


def counted(monkeypatch, module):
    played, plain = [], module.play_block
    monkeypatch.setattr(module, "play_block", lambda *given, **more: played.append(given[2]) or plain(*given, **more))
    return played


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class TestCode:
    def test_what_other_code_has_played_is_played_again(self, tmp_path, monkeypatch, capsys):
        played = counted(monkeypatch, leaderboard)
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert len(played) == 2
        monkeypatch.setattr(kept, "versions", lambda: OTHER_CODE)
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert len(played) == 4

    def test_old_points_are_not_divided_by_a_new_unit(self, tmp_path, monkeypatch, capsys):
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        before = contents(tmp_path)
        monkeypatch.setattr(leaderboard, "sigma", lambda rules: 1.0)
        monkeypatch.setattr(
            "mahjong_training.evaluation.matches.sigma", lambda rules: 1.0
        )  # wherever else it may be asked
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert contents(tmp_path) == before

    def test_everything_that_is_kept_depends_on_the_code(self, tmp_path, monkeypatch):
        Kept(tmp_path, "any", "settings").put("part", {})
        monkeypatch.setattr(kept, "versions", lambda: OTHER_CODE)
        assert Kept(tmp_path, "any", "settings").get("part") is None

    def test_a_dataset_of_other_code_is_not_gone_on_with(self, tmp_path, monkeypatch):
        settings = Settings(variant="hebei", rules_version=0, agents=("random",), games=2, seed=1, shard_games=2)
        write_dataset(settings, tmp_path)
        write_dataset(replace(settings, games=4), tmp_path)
        monkeypatch.setattr("mahjong_training.datasets.layout.versions", lambda: OTHER_CODE)
        settings = Settings(variant="hebei", rules_version=0, agents=("random",), games=6, seed=1, shard_games=2)
        with pytest.raises(DatasetError, match="another dataset already, whose versions"):
            write_dataset(settings, tmp_path)

    @pytest.mark.thorough
    def test_a_change_far_from_the_agents_own_file(self, tmp_path):
        """What looks ahead is in no file of greedy's class; and the points of before meet no unit of after."""
        for package in (mahjong_env, mahjong_agents, mahjong_training):
            source = Path(package.__file__).parent
            shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))

        def found(out):
            command = [sys.executable, "-m", "mahjong_env", *LEADERBOARD, str(tmp_path / out)]
            there = {**os.environ, "PYTHONPATH": str(tmp_path)}
            subprocess.run(command, cwd=tmp_path, env=there, check=True, capture_output=True)
            return json.loads((tmp_path / out / "leaderboard.json").read_text(encoding="utf-8"))["variants"]

        before = found("out")
        file = tmp_path / "mahjong_env" / "observation" / "acceptance.py"
        text = file.read_text(encoding="utf-8")
        changed = text.replace("np.where(must_lose, legal, spare), legal)", "legal, legal)", 1)
        assert changed != text
        file.write_text(changed, encoding="utf-8")
        again = found("out")
        assert again == found("fresh")
        assert again != before


class TestAgentsFiles:
    def differs(self, spec, file, new=b"other"):
        agent = make_agent(spec)
        before = digests(spec, agent, HEBEI)
        assert digests(spec, agent, HEBEI) == before
        file.write_bytes(new)
        return digests(spec, agent, HEBEI) != before

    @pytest.fixture
    def own(self, tmp_path):
        text = "from kept_beside import act\nclass Mine:\n    name = 'mine'\n    act = act\n"
        (tmp_path / "kept_mine.py").write_text(text, encoding="utf-8")
        (tmp_path / "kept_beside.py").write_text("from kept_further import act\n", encoding="utf-8")
        (tmp_path / "kept_further.py").write_text("def act(self, view, rng): pass\n", encoding="utf-8")
        (tmp_path / "kept_stranger.py").write_text("", encoding="utf-8")
        yield tmp_path
        for name in [name for name in sys.modules if name.startswith("kept_")]:
            del sys.modules[name]

    @pytest.mark.parametrize("name", ["kept_mine.py", "kept_beside.py", "kept_further.py"])
    def test_a_file_of_ones_own_and_what_it_imports_from_beside_it(self, name, own):
        spec = f"{own / 'kept_mine.py'}:Mine"
        assert not self.differs(spec, own / "kept_stranger.py")
        assert self.differs(spec, own / name)

    def test_a_file_that_makes_somebody_elses_agent(self, own):
        file = own / "kept_maker.py"
        file.write_text("from mahjong_agents import GreedyAgent as make\n", encoding="utf-8")
        assert self.differs(f"{file}:make", file)

    @pytest.mark.parametrize("spec", ["policy:{}", "search?base=policy:{}", "search?base=usual&others=policy:{}"])
    def test_policies_wherever_they_are_named(self, spec, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "policy" / "weights" / "hebei.zip", tmp_path / "mine.zip")
        assert self.differs(spec.format(tmp_path / "mine.zip"), tmp_path / "mine.zip")

    @pytest.mark.thorough
    def test_agents_that_are_isolated(self, own, monkeypatch):
        """They are the agents that they are without, and their files are not loaded here."""
        spec = f"isolated:{own / 'kept_mine.py'}:Mine"
        assert self.differs(spec, own / "kept_further.py", b"def act(self, view, rng): return None\n")
        assert not {"kept_mine", "kept_beside", "kept_further"} & set(sys.modules)
        apart = digests(spec, make_agent(spec), HEBEI)
        assert apart == digests(spec.removeprefix("isolated:"), make_agent(spec.removeprefix("isolated:")), HEBEI)
        assert digests("isolated:greedy", make_agent("isolated:greedy"), HEBEI) == digests(
            "greedy", make_agent("greedy"), HEBEI
        )
        (own / "kept_package").mkdir()
        mine = "from . import two\nclass Mine:\n    name = 'mine'\n    def act(self, view, rng): pass\n"
        for name, text in (("__init__", ""), ("one", mine), ("two", "")):
            (own / "kept_package" / f"{name}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(own))
        assert self.differs("isolated:kept_package.one:Mine", own / "kept_package" / "two.py")

    def test_numbers(self, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "value" / "model.npz", tmp_path / "mine.npz")
        assert self.differs(f"value?numbers={tmp_path / 'mine.npz'}", tmp_path / "mine.npz")


class TestRecords:
    @pytest.fixture
    def whole(self, tmp_path, small_parts):
        """The records of an evaluation that nothing happened to."""
        path = tmp_path / "whole.jsonl"
        config = EvaluateConfig(variant="hebei", agents=("random", "greedy"), deals=6, record=path)
        evaluate.evaluate(config)
        small_parts.clear()
        return path.read_bytes()

    def killed_at(self, moment, words, monkeypatch):
        count = []

        def interrupted(*given):
            if len(count) == moment:
                raise KilledError
            count.append(given)

        with monkeypatch.context() as patch:
            patch.setattr(evaluate._Clock, "end", interrupted)
            with pytest.raises(KilledError):
                main(words)

    @pytest.mark.parametrize("moment", everyday((0, 2, 3), [2]))
    def test_killed_and_given_again_every_hand_is_there_once(self, moment, whole, tmp_path, small_parts, monkeypatch):
        path, out = tmp_path / "games.jsonl", tmp_path / "out"
        words = [*EVALUATE, str(out), "--record", str(path)]
        self.killed_at(moment, words, monkeypatch)
        assert path.read_bytes() == b""
        assert main(words) == 0
        assert path.read_bytes() == whole
        assert len(list(read_records(path))) == 6 * 3 * 2
        assert len(small_parts) == 4  # nothing that was kept has been played again
        assert sorted(file.name for file in out.iterdir()) == sorted(evaluate._FILES)

    @pytest.mark.thorough
    def test_killed_without_a_folder(self, whole, tmp_path, small_parts, monkeypatch):
        words = [*EVALUATE[:-1], "--record", str(tmp_path / "games.jsonl")]
        self.killed_at(2, words, monkeypatch)
        assert main(words) == 0
        assert (tmp_path / "games.jsonl").read_bytes() == whole

    @pytest.mark.parametrize("share", everyday((0.0, 0.3, 0.5, 1.0), [0.5]))
    def test_killed_while_the_records_were_written(self, share, whole, tmp_path):
        path = tmp_path / "games.jsonl"
        before = whole[whole.rindex(b"\n", 0, -1) + 1 :]  # of somebody else
        path.write_bytes(before * 2 + whole[: int(share * len(whole))])
        assert main([*EVALUATE, str(tmp_path / "out"), "--record", str(path)]) == 0
        assert path.read_bytes() == before * 2 + whole

    @pytest.mark.thorough
    def test_parts_that_were_played_without_records_do_not_pass_for_others(self, whole, tmp_path, monkeypatch):
        path, out = tmp_path / "games.jsonl", tmp_path / "out"
        self.killed_at(2, [*EVALUATE, str(out)], monkeypatch)
        assert main([*EVALUATE, str(out), "--record", str(path)]) == 0
        assert path.read_bytes() == whole

    @pytest.mark.thorough
    def test_several_processes_write_the_same_bytes(self, tmp_path):
        words = ["evaluate", "--variant", "hebei", "--agents", "random", "greedy", "closed-greedy"]
        words += ["--deals", "3", "--seatings", "turns", "--thoughts"]
        for name, more in (("one", []), ("two", ["--processes", "2"])):
            assert main([*words, "--record", str(tmp_path / name), *more]) == 0
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    @pytest.mark.thorough
    @pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")
    def test_sigkill_and_again(self, tmp_path):
        (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
        words = ["evaluate", "--variant", "hebei", "--agents", f"{tmp_path / 'slow.py'}:Slow", "random"]
        words += ["--deals", "60", "--out"]

        def command(name):
            more = [str(tmp_path / name), "--record", str(tmp_path / f"{name}.jsonl")]
            return [sys.executable, "-m", "mahjong_env", *words, *more]

        assert subprocess.run(command("whole"), check=False).returncode == 0
        with subprocess.Popen(command("out")) as running:
            while not list((tmp_path / "out").glob(".parts-*/*.npz")) and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGKILL)
        assert running.returncode == -signal.SIGKILL
        assert list((tmp_path / "out").glob(".parts-*/*.npz"))
        assert subprocess.run(command("out"), check=False).returncode == 0
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")
        assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


COMMANDS = {
    "evaluate": EVALUATE[:-1],
    "leaderboard": LEADERBOARD[:-1],
    "rules": ("rule-values", "--variant", "wuhan", "--rows", "Pure One Suit", "--deals", "2"),
    "record": ("record", "--variant", "hebei", "--hands", "2"),
}


class TestTwoAtOnce:
    @pytest.mark.parametrize("name", everyday(COMMANDS, ["evaluate", "leaderboard"]))
    def test_one_folder_has_one_command(self, name, tmp_path, capsys):
        with locked(tmp_path / LOCK):
            before = contents(tmp_path)
            assert main([*COMMANDS[name], "--out", str(tmp_path)]) == 2
            assert contents(tmp_path) == before
        said = f"error: {tmp_path}: another run is at work in this folder: process {os.getpid()} on "
        assert capsys.readouterr().err.startswith(said)

    @pytest.mark.thorough
    def test_a_review(self, tmp_path, capsys):
        with locked(tmp_path / LOCK):
            assert main(["review", "--variant", "hebei", "--worlds", "2", "--out", str(tmp_path)]) == 2
        assert "another run is at work" in capsys.readouterr().err

    @pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
    def test_a_lock_that_is_a_link_is_not_followed(self, tmp_path):
        precious, out = tmp_path / "precious", tmp_path / "out"
        out.mkdir()
        precious.write_bytes(b"precious")
        (out / LOCK).symlink_to(precious)
        with pytest.raises(TrainingError, match=rf"{LOCK}: a lock is a file, and this is a link"), locked(out / LOCK):
            pytest.fail("the link was followed")
        assert precious.read_bytes() == b"precious"


def test_a_part_that_would_fill_the_memory_is_played_again(tmp_path, monkeypatch):
    kept = Kept(tmp_path, "parts", {})
    kept.put("one", {"points": np.zeros(10**6, np.int8)})
    assert kept.get("one")["points"].size == 10**6
    monkeypatch.setattr("mahjong_training.runtime.kept._MOST_BYTES", 10**5)
    assert kept.get("one") is None
