"""Work that is shared out: the same bytes from one process and from two, and nothing played twice."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mahjong_env.cli import main
from mahjong_training.analysis.rule_values import command as rules_command
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.spread import check_workers, spread
from support.spread_commands import COMMANDS, found_by


@dataclass(frozen=True)
class Workers:
    processes: int = 1
    threads: int = 1
    ray: str | None = None


def power(common, shard):
    return shard**common


def two(config):
    return 2


class TestSpread:
    @pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.thorough)])
    def test_every_shard_is_done_once(self, processes):
        found = list(spread(Workers(processes), power, 2, range(5), two))
        assert sorted(found) == [(place, place**2) for place in range(5)]

    def test_nothing_to_do(self):
        assert list(spread(Workers(2, ray="local"), power, 2, [], two)) == []

    @pytest.mark.parametrize(
        ("workers", "message"),
        [
            (Workers(0), "--processes must be at least 1"),
            (Workers(threads=0), "--threads must be from 1"),
            (Workers(ray="somewhere"), "is no address of a cluster"),
            (Workers(2, ray="host:6379"), "--processes 2 goes with --ray local"),
        ],
    )
    def test_bad_input_is_named(self, workers, message):
        with pytest.raises(TrainingError, match=message):
            check_workers(workers)


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_two_processes_find_the_same_as_one(name, tmp_path):
    assert found_by(name, tmp_path / "one") == found_by(name, tmp_path / "two", "--processes", "2")


@pytest.mark.thorough
def test_an_interrupted_study_of_rules_goes_on(tmp_path, monkeypatch, capsys):
    whole = found_by("rule-values", tmp_path / "whole")
    play, played = rules_command.play_of, []

    def play_some(study, block):
        played.append(block)
        if len(played) == 4:
            raise KeyboardInterrupt
        return play(study, block)

    monkeypatch.setattr(rules_command, "play_of", play_some)
    words = ["rule-values", *COMMANDS["rule-values"][0], "--out", str(tmp_path / "again")]
    assert main(words) == 130
    assert "interrupted; 3 parts are kept: the same command goes on with them" in capsys.readouterr().err
    assert found_by("rule-values", tmp_path / "again") == whole
    assert len(played) == len(set(played)) + 1  # but for the one that was interrupted
    assert [path.name for path in (tmp_path / "again").glob(".*")] == []
