"""Blind tests: deals that nothing else reaches, and a record of who has seen them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from training import config as settings
from training import evaluate as evaluation_command
from training.__main__ import main
from training.blind import LEDGER
from training.config import EvaluateConfig
from training.errors import BlindSeedError, TrainingError
from training.evaluate import evaluate
from training.seeds import BLIND_SEEDS, LUCK_SEED, USER_SEEDS, blind_seed
from training.sizes import check_seed

CONFIG = EvaluateConfig(variant="hebei", agents=("greedy", "random"), deals=2, blind=1)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def ledger():
    return [json.loads(line) for line in Path(LEDGER).read_text(encoding="utf-8").splitlines()]


class TestSeeds:
    def test_no_option_reaches_the_seeds_of_blind_tests(self):
        assert USER_SEEDS <= LUCK_SEED < BLIND_SEEDS == blind_seed(0)
        for seed in (USER_SEEDS, blind_seed(0), blind_seed(7)):
            with pytest.raises(TrainingError):
                check_seed(seed)
        for kind in vars(settings).values():
            if isinstance(kind, type) and kind.__name__.endswith("Config"):
                for item in fields(kind):
                    if item.name == "seed":
                        check_seed(item.default)

    def test_they_are_other_deals(self):
        seen = [evaluate(replace(CONFIG, blind=number, deals=20)).results[0] for number in (None, 1, 2)]
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
        "other", [{"blind": 2}, {"variant": "wuhan"}, {"knobs": ("players=4",)}, {"agents": ("greedy",)}]
    )
    def test_other_tests_are_other_tests(self, other):
        evaluate(CONFIG)
        evaluate(replace(CONFIG, **other))

    def test_agents_are_known_again(self, tmp_path):
        evaluate(CONFIG)
        for same in (("random", "greedy"), ("greedy", "random", "greedy")):
            with pytest.raises(BlindSeedError, match="was played in hebei"):
                evaluate(replace(CONFIG, agents=same))

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

    def test_results_name_the_test(self, tmp_path, capsys):
        words = ["evaluate", "--variant", "hebei", "--agents", "random", "--deals", "2", "--blind", "3"]
        assert main([*words, "--out", str(tmp_path / "out")]) == 0
        assert json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))["blind"] == 3
        assert "blind test 3" in (tmp_path / "out" / "evaluation.html").read_text(encoding="utf-8")


class TestErrors:
    @pytest.mark.parametrize("number", [-1, 10**6])
    def test_numbers_that_are_none(self, number):
        with pytest.raises(TrainingError, match="--blind must be from 0"):
            evaluate(replace(CONFIG, blind=number))
        assert not Path(LEDGER).exists()

    @pytest.mark.parametrize("text", ["{}\n", "not json\n", "[1]\n"])
    def test_a_damaged_record(self, text):
        Path(LEDGER).write_text(text, encoding="utf-8")
        with pytest.raises(TrainingError, match=r"blind_tests\.jsonl, line 1"):
            evaluate(CONFIG)
        assert Path(LEDGER).read_text(encoding="utf-8") == text

    def test_a_record_that_cannot_be_written(self):
        Path(LEDGER).mkdir()
        with pytest.raises(TrainingError, match=r"blind_tests\.jsonl"):
            evaluate(CONFIG)
