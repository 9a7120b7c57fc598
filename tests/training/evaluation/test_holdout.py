"""Blind tests: deals that nothing else reaches, and a record of who has seen them."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from mahjong_agents import make_agent
from mahjong_agents.policy.file import SHIPPED
from mahjong_env import rules
from mahjong_env.cli import main
from mahjong_training import config as settings
from mahjong_training.config import EvaluateConfig
from mahjong_training.errors import BlindSeedError, TrainingError, WriteError
from mahjong_training.evaluation import command as evaluation_command
from mahjong_training.evaluation.command import evaluate
from mahjong_training.evaluation.holdout import LEDGER, BlindTest
from mahjong_training.runtime.digests import agent_digests
from mahjong_training.runtime.limits import check_seed
from mahjong_training.seeds import USER_SEEDS, blind_seed
from support.marks import everyday

CONFIG = EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=2, blind=1)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def ledger():
    return [json.loads(line) for line in Path(LEDGER).read_text(encoding="utf-8").splitlines()]


class TestSeeds:
    def test_no_option_reaches_the_seeds_of_blind_tests(self):
        for seed in (USER_SEEDS, blind_seed(0), blind_seed(7)):
            with pytest.raises(TrainingError):
                check_seed(seed)
        for kind in vars(settings).values():
            if isinstance(kind, type) and kind.__name__.endswith("Config"):
                for item in fields(kind):
                    if item.name == "seed":
                        check_seed(item.default)

    def test_they_are_other_deals(self):
        seen = [evaluate(replace(CONFIG, blind=number, deals=5)).results[0] for number in (None, 1, 2)]
        assert len({result.of(0).points.mean for result in seen}) == 3


class TestRecord:
    def test_the_same_agents_play_a_test_once(self, capsys):
        words = ["evaluate", "--variant", "hebei", "--agents", "greedy", "random", "--deals", "2", "--blind", "1"]
        assert main(words) == 0
        capsys.readouterr()
        assert main(words) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert "--blind 1 was played in hebei by greedy, random on " in told.err
        assert "--blind-again" in told.err
        assert [line["state"] for line in ledger()] == ["begun", "finished"]
        assert main([*words, "--blind-again"]) == 0
        assert [line.get("again") for line in ledger()] == [None, None, True, None]

    @pytest.mark.parametrize(
        "other",
        everyday(
            [{"blind": 2}, {"variant": "wuhan"}, {"knobs": ("players=4",)}, {"agents": ("greedy",)}], [{"blind": 2}]
        ),
    )
    def test_other_tests_are_other_tests(self, other):
        evaluate(CONFIG)
        evaluate(replace(CONFIG, **other))

    def test_an_interrupted_test_may_be_gone_on_with(self, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(evaluation_command, "play_block", interrupted)
            with pytest.raises(KeyboardInterrupt):
                evaluate(CONFIG)
        assert [line["state"] for line in ledger()] == ["begun"]
        evaluate(CONFIG)
        with pytest.raises(BlindSeedError):
            evaluate(CONFIG)


class TestTheSameAgents:
    """By name or by file, agent by agent."""

    THEN = (("policy:a.zip", ("PolicyAgent", "1")), ("greedy", ("GreedyAgent",)), ("mine.py:A", ("2",)))

    def blind(self, *agents):
        return BlindTest(1, rules("hebei"), tuple(name for name, _ in agents), tuple(files for _, files in agents))

    @pytest.fixture(autouse=True)
    def _played(self):
        self.blind(*self.THEN).begin()
        self.blind(*self.THEN).finish()

    @pytest.mark.parametrize(
        "again",
        [
            THEN[::-1],
            (("policy:b.zip", ("PolicyAgent", "1")), ("greedy", ("GreedyAgent", "new")), ("mine.py:A", ("3",))),
            (("policy:a.zip", ("PolicyAgent", "9")), ("closed-greedy", ("GreedyAgent",)), ("other.py:A", ("2",))),
            (*THEN, ("policy:b.zip", ("PolicyAgent", "1"))),
        ],
    )
    def test_no_new_name_and_no_change_of_a_file_makes_them_others(self, again):
        with pytest.raises(BlindSeedError):
            self.blind(*again).begin()

    @pytest.mark.parametrize(
        "others",
        [
            THEN[:2],
            (*THEN, ("random", ("RandomAgent",))),
            (("policy:b.zip", ("PolicyAgent", "2")), *THEN[1:]),
            (*THEN[:2], ("other.py:A", ("",))),
        ],
    )
    def test_others(self, others):
        self.blind(*others).begin()

    def test_what_cannot_be_read_is_not_the_same(self):
        for _ in range(2):
            self.blind(("one", ("",)), ("two", ())).finish()
            self.blind(("three", ("",)), ("four", ())).begin()

    def test_an_agent_of_this_package_is_known_without_its_source(self, tmp_path):
        shutil.copy(SHIPPED / "hebei.zip", tmp_path / "mine.zip")
        found = [agent_digests(spec, make_agent(spec), rules("hebei")) for spec in ("policy:mine.zip", "policy:hebei")]
        assert found[0] == found[1]
        source = {hashlib.sha256(file.read_bytes()).hexdigest() for file in SHIPPED.parent.glob("*.py")}
        assert not source & set(found[0])


class TestErrors:
    @pytest.mark.parametrize("text", ["{}\n", "not json\n", "[1]\n", '{"agents": ["a"], "digests": []}\n'])
    def test_a_damaged_record(self, text):
        Path(LEDGER).write_text(text, encoding="utf-8")
        with pytest.raises(TrainingError, match=r"blind_tests\.jsonl, line 1"):
            evaluate(CONFIG)
        assert Path(LEDGER).read_text(encoding="utf-8") == text

    def test_a_record_that_cannot_be_written_is_named(self, tmp_path):
        (tmp_path / "file").touch()
        test = BlindTest(1, rules("hebei"), ("greedy",), ((),), tmp_path / "file" / "blind.jsonl")
        with pytest.raises(WriteError, match=r"blind\.jsonl: cannot be written \([^)]*\)$"):
            test.begin()
