"""Results that are kept, what they depend on, and when they are used again: never for other code, and never twice."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import mahjong_agents
from mahjong_agents import make_agent
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_env.records import read_records
from mahjong_training.config import EvaluateConfig
from mahjong_training.datasets.layout import Settings
from mahjong_training.datasets.recording import write_dataset
from mahjong_training.errors import DatasetError
from mahjong_training.evaluation import command as evaluate
from mahjong_training.evaluation import leaderboard, matches
from mahjong_training.runtime import cache
from mahjong_training.runtime.cache import ResultCache
from mahjong_training.runtime.digests import agent_digests, code_of, differences, named_digests, versions
from support.marks import everyday
from support.spread_commands import found_by

PAIRS = ("--deals", "2", "--mixed-deals", "0", "--matches", "0")
LEADERBOARD = ("leaderboard", "--variants", "hebei", "--levels", "1", "2", *PAIRS, "--out")
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
    """Sigma takes a second."""
    for module in (evaluate, leaderboard):
        monkeypatch.setattr(module, "sigma", lambda rules: 3.5)


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
        played = counted(monkeypatch, matches)
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert len(played) == 2
        monkeypatch.setattr(cache, "versions", lambda: OTHER_CODE)
        assert main([*LEADERBOARD, str(tmp_path)]) == 0
        assert len(played) == 4

    def test_a_dataset_of_other_code_is_not_gone_on_with(self, tmp_path, monkeypatch):
        settings = Settings(variant="hebei", rules_version=0, agents=("random",), games=2, seed=1, shard_games=2)
        write_dataset(settings, tmp_path)
        write_dataset(replace(settings, games=4), tmp_path)
        monkeypatch.setattr("mahjong_training.datasets.layout.versions", lambda: OTHER_CODE)
        settings = Settings(variant="hebei", rules_version=0, agents=("random",), games=6, seed=1, shard_games=2)
        with pytest.raises(DatasetError, match="another dataset already, whose versions"):
            write_dataset(settings, tmp_path)


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
        kept, put = [], ResultCache.put

        def interrupted(*given):
            put(*given)
            kept.append(given)
            if len(kept) > moment:
                raise KilledError

        with monkeypatch.context() as patch:
            patch.setattr(ResultCache, "put", interrupted)
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


@pytest.mark.parametrize("name", everyday(("evaluate", "review", "rule-values"), ["evaluate"]))
def test_an_interrupted_command_goes_on_with_what_it_has(name, tmp_path, monkeypatch, capsys):
    whole, kept, put = found_by(name, tmp_path / "whole"), [], ResultCache.put

    def second_is_interrupted(cache, part, result):
        kept.append(part)
        if len(kept) == 2:
            raise KeyboardInterrupt
        put(cache, part, result)

    monkeypatch.setattr(ResultCache, "put", second_is_interrupted)
    capsys.readouterr()
    found_by(name, tmp_path / "out", status=130)
    said = rf"interrupted; 1 of \d+ parts are kept in {tmp_path / 'out'}: run the same command again to resume\n"
    assert re.fullmatch(said, capsys.readouterr().err)
    assert found_by(name, tmp_path / "out") == whole
    assert len(kept) - 1 == len(set(kept)), "but for the one that was interrupted nothing was played twice"
    assert contents(tmp_path / "out").keys() == contents(tmp_path / "whole").keys()


def test_a_part_that_is_damaged_or_would_fill_the_memory_is_played_again(tmp_path, monkeypatch):
    kept = ResultCache(tmp_path, "any", "settings")
    for part in ("one", "two"):
        kept.put(part, {"points": np.zeros(10**6, np.int8)})
    next(tmp_path.rglob("two.npz")).write_bytes(b"damaged")
    assert kept.get("two") is None
    assert kept.get("one")["points"].size == 10**6
    monkeypatch.setattr("mahjong_training.runtime.cache._MOST_BYTES", 10**5)
    assert kept.get("one") is None


# --- What results depend on -------------------------------------------------------------------------------------------


class TestAgentsFiles:
    def differs(self, spec, file, new=b"other"):
        agent = make_agent(spec)
        before = agent_digests(spec, agent, HEBEI)
        assert agent_digests(spec, agent, HEBEI) == before
        file.write_bytes(new)
        return agent_digests(spec, agent, HEBEI) != before

    @pytest.fixture
    def own(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "path", [*sys.path])  # the folder of a file that was loaded stays at its end
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

    @pytest.mark.parametrize(
        "text", ["from kept_folder.core import act", "import kept_folder.core", "from kept_folder import core"]
    )
    def test_folders_beside_it_that_are_packages_without_saying_so(self, text, own):
        (own / "kept_folder").mkdir()
        (own / "kept_folder" / "core.py").write_text("from kept_distant import act\n", encoding="utf-8")
        (own / "kept_distant.py").write_text("def act(self, view, rng): pass\n", encoding="utf-8")
        (own / "kept_mine.py").write_text(
            f"{text}\nfrom . import nothing\nfrom kept_beside import act", encoding="utf-8"
        )
        spec = f"{own / 'kept_mine.py'}:act"
        before = named_digests(spec, HEBEI)
        assert len(before) == 5  # without the stranger
        for name in ("kept_distant.py", "kept_folder/core.py", "kept_beside.py"):
            (own / name).write_text("1", encoding="utf-8")
            assert before != (before := named_digests(spec, HEBEI)), name

    @pytest.mark.parametrize(
        "spec", ["{}/kept_mine.py:Mine", "{}/kept_package/agent.py:Mine", "kept_package.agent:Mine"]
    )
    @pytest.mark.parametrize("name", ["linked/core.py", "core.pyc", "core.abi3.so", "core.pyd"])
    def test_whatever_a_package_may_import(self, name, spec, own, monkeypatch):
        """Its folders may be links to others, and its modules compiled."""
        monkeypatch.syspath_prepend(str(own))
        (own / "kept_mine.py").write_text("from kept_package.agent import Mine\n", encoding="utf-8")
        for folder in ("kept_package/__pycache__", "elsewhere"):
            (own / folder).mkdir(parents=True)
        for file in ("kept_package/__init__.py", "kept_package/agent.py", "elsewhere/core.py"):
            (own / file).write_text("", encoding="utf-8")
        (own / "kept_package" / "linked").symlink_to(own / "elsewhere")
        (own / "elsewhere" / "back").symlink_to(own / "kept_package")
        (own / "kept_package" / name).write_bytes(b"1")
        before = named_digests(spec.format(own), HEBEI)
        (own / "kept_package" / "__pycache__" / "agent.cpython-311.pyc").write_bytes(b"2")
        assert named_digests(spec.format(own), HEBEI) == before
        (own / "kept_package" / name).write_bytes(b"2")
        assert named_digests(spec.format(own), HEBEI) != before

    def test_modules_that_are_not_loaded(self, own, monkeypatch):
        """An agent's class may say that it belongs to another module: what the text names counts as well."""
        monkeypatch.syspath_prepend(str(own))
        (own / "kept_folder").mkdir()
        (own / "kept_folder" / "core.py").write_text("", encoding="utf-8")
        for spec, name in (
            ("kept_mine:Mine", "kept_further.py"),
            ("kept_folder.core:make", "kept_folder/core.py"),
            ("text:kept_mine:act", "kept_beside.py"),
            (f"text:{own}/kept_mine.py:act", "kept_mine.py"),
        ):
            before = named_digests(spec, HEBEI)
            assert "" not in before
            (own / name).write_text("1", encoding="utf-8")
            assert named_digests(spec, HEBEI) != before, spec
        assert not [name for name in sys.modules if name.startswith("kept_")]
        assert named_digests("kept_nowhere:Mine", HEBEI) == named_digests("sys:exit", HEBEI) == [""]
        assert named_digests("mahjong_agents.greedy:GreedyAgent", HEBEI) == []

    @pytest.mark.parametrize("spec", ["policy:{}", "search?base=policy:{}", "search?base=reference&others=policy:{}"])
    def test_policies_wherever_they_are_named(self, spec, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "policy" / "weights" / "hebei.zip", tmp_path / "mine.zip")
        assert self.differs(spec.format(tmp_path / "mine.zip"), tmp_path / "mine.zip")

    @pytest.mark.parametrize("name", ["numbers", f"{'long' * 40}.data"])
    def test_weights_of_an_onnx_model_in_a_file_of_their_own(self, name, tmp_path):
        weights = onnx.numpy_helper.from_array(np.zeros((34, 109), np.float32), "weights")
        shown, given = (onnx.helper.make_tensor_value_info(one, 1, ["n", 34]) for one in ("shown", "given"))
        multiplied = onnx.helper.make_node("MatMul", ["shown", "weights"], ["given"])
        model = onnx.helper.make_model(onnx.helper.make_graph([multiplied], "linear", [shown], [given], [weights]))
        path = tmp_path / "mine.onnx"
        onnx.save_model(model, path, save_as_external_data=True, location=name, size_threshold=0)
        (tmp_path / "stranger").write_bytes(b"")
        for spec in (f"onnx:{path}", f"mine.py:Mine?weights={path}"):
            before = named_digests(spec, HEBEI)
            (tmp_path / "stranger").write_bytes(spec.encode())
            assert named_digests(spec, HEBEI) == before
            (tmp_path / name).write_bytes(spec.encode())
            assert named_digests(spec, HEBEI) != before

    def test_programs(self, tmp_path):
        """A bot is another one if a file that its command names has changed, or what that imports from beside it."""
        text = "import json; from kept_beside import name; print(json.dumps({'type': 'ready', 'name': name})); input()"
        (tmp_path / "bot.py").write_text(text, encoding="utf-8")
        (tmp_path / "kept_beside.py").write_text("name = 'mine'", encoding="utf-8")
        (tmp_path / "numbers").write_text("1", encoding="utf-8")
        spec = f"command:{sys.executable} {tmp_path / 'bot.py'} --why? {tmp_path / 'numbers'}?games=5"
        assert self.differs(spec, tmp_path / "numbers")
        assert self.differs(spec, tmp_path / "kept_beside.py", b"name = 'other'")

    @pytest.mark.parametrize("words", ["./bot --weights={}", "python3 bot weights={}", "node --require={} bot"])
    def test_files_that_options_of_programs_name(self, words, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for name in ("bot", "numbers"):
            (tmp_path / name).write_text(name, encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        found = named_digests(f"command:{words.format('numbers')}", HEBEI)
        assert found == [hashlib.sha256(name).hexdigest() for name in (b"bot", b"numbers")]

    def test_the_interpreter_of_a_program_is_none_of_it(self, tmp_path, monkeypatch):
        """Everybody has another one; whoever checks an entry runs the same file by his own."""
        monkeypatch.chdir(tmp_path)
        for name in ("bot.py", "bot", "python3.99"):
            (tmp_path / name).write_text("", encoding="utf-8")
            (tmp_path / name).chmod(0o755)
        one, *others = [
            named_digests(f"command:{words}", HEBEI)
            for words in (f"{sys.executable} bot.py", f"{tmp_path}/python3.99 -u bot.py", "./bot.py")
        ]
        assert one == others[0] == others[1]
        assert len(one) == 1
        for words in (
            "python3 -m bot bot.py",
            "python3 -Bm bot",
            "python3 -Bmbot bot.py",
            "python3 -cpass bot.py",
            "python3 away.py",
            "./away bot.py",
            "bot bot.py",
            "node --eval=require('./bot') bot.py",
            "node --print bot.py",
            "node -p bot.py",
            "env python3 -m bot bot.py",
            f"{shutil.which('nice')} python3 -m bot bot.py",
            "'",
            "",
        ):
            assert "" in named_digests(f"command:{words}", HEBEI), words
        for words in ("java -jar bot", "deno run --allow-read bot", "python3 -u -O bot", "node --prefix=a bot"):
            assert len(named_digests(f"command:{words}", HEBEI)) == 1
            assert "" not in named_digests(f"command:{words}", HEBEI)
        (tmp_path / "run").mkdir()
        assert "" in named_digests("command:python3 run bot.py", HEBEI)
        (tmp_path / "bot.py").write_text("1", encoding="utf-8")
        assert len(named_digests("command:./bot bot.py", HEBEI)) == 2

    @pytest.mark.thorough
    def test_agents_that_are_isolated(self, own, monkeypatch):
        """They are the agents that they are without, and their files are not loaded here."""
        spec = f"isolated:{own / 'kept_mine.py'}:Mine"
        assert self.differs(spec, own / "kept_further.py", b"def act(self, view, rng): return None\n")
        assert not {"kept_mine", "kept_beside", "kept_further"} & set(sys.modules)
        apart = agent_digests(spec, make_agent(spec), HEBEI)
        assert apart == agent_digests(spec.removeprefix("isolated:"), make_agent(spec.removeprefix("isolated:")), HEBEI)
        assert agent_digests("isolated:greedy", make_agent("isolated:greedy"), HEBEI) == agent_digests(
            "greedy", make_agent("greedy"), HEBEI
        )
        monkeypatch.syspath_prepend(str(own))
        (own / "kept_maker.py").write_text("from mahjong_agents import GreedyAgent as make\n", encoding="utf-8")
        assert self.differs("isolated:kept_maker:make", own / "kept_maker.py")
        (own / "kept_package").mkdir()
        mine = "from . import two\nclass Mine:\n    name = 'mine'\n    def act(self, view, rng): pass\n"
        for name, text in (("__init__", ""), ("one", mine), ("two", "")):
            (own / "kept_package" / f"{name}.py").write_text(text, encoding="utf-8")
        assert self.differs("isolated:kept_package.one:Mine", own / "kept_package" / "two.py")

    def test_numbers(self, tmp_path):
        shutil.copy(Path(mahjong_agents.__file__).parent / "value" / "model.npz", tmp_path / "mine.npz")
        assert self.differs(f"value?numbers={tmp_path / 'mine.npz'}", tmp_path / "mine.npz")


def test_another_process_has_the_same_versions():
    command = [sys.executable, "-m", "mahjong_training.runtime"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    assert said.startswith(f"Python {sys.version_info.major}.{sys.version_info.minor}, mahjong_env ")
    assert all(f"{name} {number or 'not installed'}" in said for name, number in versions().items())
    assert all(versions()[name] for name in ("mahjong_env", "code of mahjong_env", "numpy"))


def test_differences_are_named():
    ours = {"Python": "3.11", "numpy": "2.4.6", "torch": ""}
    assert differences(ours, ours) == []
    assert differences(ours, {**ours, "torch": "2.13.0"}) == []  # what we lack nobody else needs
    assert differences(ours, {"Python": "3.12", "numpy": ""}) == [
        "Python is 3.12 and not 3.11",
        "numpy is missing and not 2.4.6",
    ]


@pytest.mark.parametrize("name", ["module.py", "folder/module.py", "table.npz", "weights.json", "policy.zip"])
def test_the_digest_of_code_holds_source_and_data(name, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.md").write_text("words", encoding="utf-8")
    before = code_of([tmp_path])
    (tmp_path / "page.md").write_text("other words", encoding="utf-8")
    assert code_of([tmp_path]) == before
    (tmp_path / name).write_bytes(b"1\n")
    after = code_of([tmp_path])
    assert after != before
    (tmp_path / name).write_bytes(b"2\n")
    assert code_of([tmp_path]) not in (before, after)


@pytest.mark.parametrize("name", [".ceilings-0123/0.npz", "evaluation/ceilings.json"])
def test_results_that_a_command_keeps_among_the_code_are_none_of_it(name, tmp_path):
    before = code_of([tmp_path])
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_bytes(b"1")
    assert code_of([tmp_path]) == before
