"""JSON that is written, read again and compared with."""

import json

import pytest

from mahjong_benchmarks import BenchFileError, against_text, read_record, report_json
from mahjong_benchmarks.timing import Contender, Reading, Result
from mahjong_env import MahjongError

SETTINGS = {"clock": "cpu", "knob": []}


def result(name, *rates, times=None, **facts):
    runs = tuple(Reading(rate=rate, hands=10.0, agent=1e-6, with_choosing=rate, dealing=None) for rate in rates)
    return Result(Contender(name, lambda seed: None, 1, (), facts), runs, times or {})


def own(name, *rates, times=None):
    return result(name, *rates, times=times, variant="hebei", batch=1, kind="step+mask", play="random")


@pytest.fixture
def written(tmp_path):
    def write(record):
        path = tmp_path / "earlier.json"
        path.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
        return path

    return write


def test_what_is_written_is_read_again(written):
    results = [result("peer", 4.0, 5.0, kind="step"), own("engine", 8.0, 20.0, times={"peer": (2.0, 4.0)})]
    record = report_json(results, SETTINGS)
    assert read_record(written(record), SETTINGS) == record
    peer, engine = record["results"]
    assert (peer["decisions_per_second"], peer["times_faster_than"]) == (4.5, {})
    assert (engine["variant"], engine["kind"], engine["decisions_per_second"]) == ("hebei", "step+mask", 14.0)
    assert engine["times_faster_than"] == {"peer": {"median": 3.0, "runs": [2.0, 4.0]}}
    assert engine["runs"][1] == {"rate": 20.0, "hands": 10.0, "agent": 1e-6, "with_choosing": 20.0, "dealing": None}


def test_every_line_of_both_is_compared(written):
    then = report_json([result("peer", 4.0), own("engine", 8.0), own("gone", 1.0)], SETTINGS)
    now = [result("peer", 8.0), own("engine", 32.0), own("new", 2.0), own("newer", 2.0)]
    told = [line.split() for line in against_text(now, read_record(written(then), SETTINGS)).splitlines()]
    assert told[0] == ["then", "now", "now/then", "beside", "the", "peers"]
    assert told[1] == ["peer", "4", "8", "2.00"]
    assert told[2] == ["engine", "8", "32", "4.00", "2.00"]
    assert " ".join(told[3]) == "the peers were 2.00 times as fast as then"
    assert " ".join(told[4]) == "measured only then: 1 lines; only now: 2 lines"
    assert len(told) == 5


def test_without_peers_machines_are_not_compared():
    told = against_text([own("engine", 32.0)], report_json([own("engine", 8.0)], SETTINGS)).splitlines()
    assert told[1].split() == ["engine", "8", "32", "4.00"]
    assert told[2] == "no peer was measured both times: the machines may differ"


GOOD = report_json([own("engine", 8.0)], SETTINGS)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("speed: 7", "is not JSON"),
        ("[1, 2]", "holds a JSON list"),
        ({"machine": {}, "settings": {}, "results": []}, "format is None.*an older version wrote it"),
        ({"format": "other", "version": 1}, "format is 'other', not 'mahjong_env.bench'; measure again"),
        ({**GOOD, "version": 99}, "version is 99, this is version 1"),
        ({**GOOD, "results": {}, "settings": 1}, "'settings' is not a JSON dict; 'results' is not a JSON list"),
        ({**GOOD, "results": [7, {}]}, "result 0 has no name; result 1 has no name"),
        ({**GOOD, "results": [{"name": "x"}]}, "'x' has decisions_per_second None"),
        ({**GOOD, "results": [{"name": "x", "decisions_per_second": True}]}, "decisions_per_second True"),
        ({**GOOD, "results": [{"name": "x", "decisions_per_second": -1}]}, "decisions_per_second -1"),
        ({**GOOD, "results": [{"name": "x", "decisions_per_second": float("nan")}]}, "decisions_per_second nan"),
        ({**GOOD, "results": GOOD["results"] * 2}, "'engine' is there twice"),
        ({**GOOD, "settings": {"clock": "wall", "knob": []}}, "measured with --clock 'wall', this run with 'cpu'"),
        ({**GOOD, "settings": {"clock": "cpu", "knob": ["players=4"]}}, "measured with --knob .'players=4'."),
        ({**GOOD, "settings": {}}, "--clock None, this run with 'cpu'; it was measured with --knob None"),
    ],
)
def test_files_that_cannot_be_compared_with(written, record, message):
    with pytest.raises(BenchFileError, match=message) as caught:
        read_record(written(record), SETTINGS)
    assert "earlier.json" in str(caught.value)
    assert isinstance(caught.value, MahjongError)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(BenchFileError, match="cannot be read: No such file"):
        read_record(tmp_path / "absent.json", SETTINGS)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(BenchFileError, match="is not JSON"):
        read_record(tmp_path / "binary.json", SETTINGS)
