"""What does not fit into memory; numbers that are too large: tests/test_bad_input.py."""

from __future__ import annotations

import pytest

from mahjong_env.cli import main

EVALUATE = ("evaluate", "--variant", "hebei", "--agents", "random")


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
