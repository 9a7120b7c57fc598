"""Memory and start: counted from what is held, measured in new processes."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import mahjong_env
from mahjong_benchmarks import footprint, memory_text, start_text
from mahjong_benchmarks.footprint import Memory, held_arrays, measure_memory, measure_start, process_bytes
from mahjong_env import MahjongError, make_engine


def test_arrays_are_found_where_they_are_held():
    array = np.zeros(100, np.int8)
    views = {"a": [array[:50], (array[50:], {1: array})]}
    assert list(held_arrays([views]).values()) == [100]

    @functools.cache
    def table():
        return np.zeros(7, np.int64)

    assert held_arrays([[table]]) == {}
    table()
    assert list(held_arrays([[table]]).values()) == [56]


def test_only_objects_of_the_package_are_looked_into():
    @dataclass
    class Foreign:
        array: np.ndarray

    assert held_arrays([Foreign(np.zeros(5))]) == {}
    engine = make_engine("hebei", 16, seed=0)
    held = sum(held_arrays([engine]).values())
    assert held >= sum(array.nbytes for array in engine.state.arrays().values())


def test_memory_of_an_engine():
    small, large = (measure_memory("hebei", {"players": 4}, batch) for batch in (16, 1024))
    assert (large.variant, large.batch) == ("hebei", 1024)
    assert large.array_bytes > 50 * small.array_bytes
    assert large.table_bytes >= small.table_bytes > 1e6  # few games win nothing, and read no hands
    if process_bytes()[0] is not None:
        assert large.process_peak_bytes >= large.process_bytes > large.table_bytes / 2


def test_start_of_a_process():
    start = measure_start("wuhan", {}, 2)
    assert len(start.import_seconds) == len(start.env_seconds) == len(start.both_seconds) == 2
    assert start.both_seconds[0] == start.import_seconds[0] + start.env_seconds[0]
    assert min(start.import_seconds + start.env_seconds) > 0
    with pytest.raises(MahjongError, match="no variant 'nowhere'"):
        measure_start("nowhere", {}, 1)


def test_a_process_that_fails_says_why():
    with pytest.raises(MahjongError, match="nor a knob"):
        measure_start("hebei", {"colour": 3}, 1)


def test_systems_without_proc(monkeypatch):
    class Nowhere:
        def __init__(self, *_):
            pass

        def read_text(self, encoding):
            raise FileNotFoundError

    monkeypatch.setattr(footprint, "Path", Nowhere)
    assert process_bytes() == (None, None)


def test_texts():
    memory = Memory("hebei", 4, 2_000_000, 3_000_000, None, 7_000_000)
    assert memory_text([memory]).splitlines()[1].split()[-5:] == ["2.0", "3.0", "5.0", "?", "7.0"]
    start = footprint.Start("hebei", (0.1, 0.3, 0.2), (0.01, 0.02, 0.03))
    assert start_text([start]).splitlines()[1].split("  ")[1:] == [
        "0.200 [0.100, 0.300]",
        "0.020 [0.010, 0.030]",
        "0.230 [0.110, 0.320]",
    ]
    assert mahjong_env.__name__ == footprint.PACKAGE
