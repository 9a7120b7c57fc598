"""Settings that no machine could hold, on every command: refused at once, with what they would take."""

from __future__ import annotations

import pytest

from mahjong_agents.policy.plane_inputs import SIZE
from mahjong_env.basics.memory import free_of_group
from mahjong_env.cli import main
from mahjong_training.errors import TrainingError
from mahjong_training.runtime import limits

TRAIN = ("train-sb3", "--variant", "hebei", "--out", "run")
EVALUATE = ("evaluate", "--variant", "hebei", "--agents", "random")
BENCH = ("bench-learning", "--variant", "hebei")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (*TRAIN, "--tables", "1000000000"),
            "TiB of memory, * of it for --tables 1000000000 with --n-steps*; * is free",
        ),
        ((*TRAIN, "--tables", f"{10**20}"), f"--tables must be at most 1,000,000,000,000,000, not {10**20}"),
        ((*TRAIN, "--width", "100000000"), "of memory, * of it for --width 100000000 and --layers 2"),
        ((*TRAIN, "--layers", "1000000000"), "of memory, * of it for --width 256 and --layers 1000000000"),
        ((*TRAIN, "--processes", "5000", "--tables", "5000"), "GiB of memory, * of it for --processes 5000"),
        ((*TRAIN, "--threads", "99999999999"), "--threads must be from 1 to *, not 99999999999; this machine has"),
        ((*TRAIN, "--threads", "0"), "--threads must be from 1 to"),
        ((*TRAIN, "--total-steps", f"{10**20}"), "--total-steps must be at most 1,000,000,000,000,000"),
        ((*TRAIN, "--evaluation-deals", "1000000000"), "of memory, * of it for --evaluation-deals 1000000000"),
        ((*TRAIN, "--seed", "-1"), "--seed must be from 0 to 4294967295, not -1"),
        ((*TRAIN, "--batch-size", f"{10**15}"), "of memory, "),
        ((*EVALUATE, "--deals", "1000000000"), "of memory, * of it for --deals 1000000000"),
        ((*EVALUATE, "--deals", f"{10**20}"), "--deals must be at most"),
        ((*EVALUATE, "--processes", "5000"), "of memory, * of it for --processes 5000"),
        ((*EVALUATE, "--threads", "99999999999"), "--threads must be from 1 to"),
        ((*EVALUATE, "--seed", "-1"), "--seed must be from 0 to 4294967295, not -1"),
        ((*EVALUATE, "--seed", f"{10**20}"), "--seed must be from 0 to 4294967295"),
        ((*BENCH, "--tables", "512", "1000000000"), "of memory, * of it for --tables 1000000000"),
        ((*BENCH, "--width", "100000000"), "of memory, * of it for --width 100000000"),
        ((*BENCH, "--processes", "5000", "--tables", "5000", "--threads", "1"), "of memory, "),
        ((*BENCH, "--threads", "99999999999"), "--threads must be from 1 to"),
        ((*BENCH, "--seconds", "nan"), "--seconds must be above 0"),
        ((*BENCH, "--seed", "-1"), "--seed must be from 0 to"),
    ],
    ids=lambda value: " ".join(value[3:])[:60] if isinstance(value, tuple) else "",
)
def test_what_cannot_fit_is_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(limits, "free_memory", lambda: 16 * 2**30)
    assert main(list(words)) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    place = 0
    for part in said.split("*"):
        place = error.find(part, place)
        assert place >= 0, (part, error)
    assert not list(tmp_path.iterdir())


def test_what_fits_is_not_refused(monkeypatch):
    """The settings of the README, on a machine of two gigabytes."""
    monkeypatch.setattr(limits, "free_memory", lambda: 2 * 2**30)
    limits.check_training(limits.TrainSb3Config(variant="hebei"))
    limits.check_training(limits.TrainSb3Config(variant="hebei", processes=2, tables=1024))


def test_the_estimate_is_about_what_the_rollouts_take():
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

    from mahjong_training.sb3.vec_env import learner_spaces

    buffer = MaskableRolloutBuffer(16, *learner_spaces(), n_envs=32)
    buffer.reset()
    taken = sum(array.nbytes for array in vars(buffer).values() if hasattr(array, "nbytes"))
    (estimated,) = limits.memory_of_tables(32, 16).values()
    assert taken < estimated < 2.5 * taken + 32 * limits._GAME
    assert taken > 16 * 32 * SIZE


def test_memory_is_read_where_the_system_tells_it(tmp_path, monkeypatch):
    assert limits.free_memory() is None or limits.free_memory() > 2**20
    group = tmp_path / "memory.max"
    group.write_text("3000000\n", encoding="utf-8")
    (tmp_path / "memory.current").write_text("2000000\n", encoding="utf-8")
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 500000\nactive_file 7\n", encoding="utf-8")
    assert free_of_group(tmp_path) == 1_500_000
    group.write_text("max\n", encoding="utf-8")
    assert free_of_group(tmp_path) is None
    monkeypatch.setattr(limits, "free_memory", lambda: None)
    limits.check_memory({"anything": 10**30})
    monkeypatch.setattr(limits, "free_memory", lambda: 999)
    limits.check_memory({"a": 500, "b": 499})
    with pytest.raises(TrainingError, match="about 1000 bytes of memory, 500 bytes of it for a; 999 bytes is free"):
        limits.check_memory({"a": 500, "b": 500})
