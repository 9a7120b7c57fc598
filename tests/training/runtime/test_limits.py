"""Numbers that users give: those that cannot be are refused before anything is played."""

from __future__ import annotations

import pytest

from mahjong_env.cli import main

TRAIN = ("train-sb3", "--variant", "hebei", "--out", "run")
EVALUATE = ("evaluate", "--variant", "hebei", "--agents", "random")
BENCH = ("bench-learning", "--variant", "hebei")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*TRAIN, "--tables", f"{10**20}"), f"--tables must be at most 1,000,000,000,000,000, not {10**20}"),
        ((*TRAIN, "--threads", "99999999999"), ", not 99999999999"),
        ((*TRAIN, "--threads", "0"), "--threads must be at least 1, not 0"),
        ((*EVALUATE, "--processes", "99999"), "--processes must be at most"),
        ((*TRAIN, "--seed", "-1"), "--seed must be from 0 to 4294967295, not -1"),
        ((*EVALUATE, "--deals", f"{10**20}"), "--deals must be at most"),
        ((*EVALUATE, "--threads", "99999999999"), "--threads must be at most"),
        ((*EVALUATE, "--seed", f"{10**20}"), "--seed must be from 0 to 4294967295"),
        ((*BENCH, "--threads", "99999999999"), "--threads must be at most"),
        ((*BENCH, "--seed", "-1"), "--seed must be from 0 to"),
    ],
    ids=lambda value: " ".join(value[3:])[:60] if isinstance(value, tuple) else "",
)
def test_numbers_that_cannot_be(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(list(words)) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert said in error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (MemoryError("Unable to allocate 8 TiB"), 2),
        (RuntimeError("can't allocate memory: you tried to allocate 8 bytes.\nMore"), 2),
        (RuntimeError("something else"), None),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(error, status, monkeypatch, capsys):
    def fails(config):
        raise error

    monkeypatch.setattr("mahjong_training.evaluation.command.run", fails)
    if status is None:
        with pytest.raises(RuntimeError):
            main(list(EVALUATE))
    else:
        assert main(list(EVALUATE)) == status
        said = str(error).splitlines()[0]
        assert capsys.readouterr().err == f"error: out of memory ({said})\n"
