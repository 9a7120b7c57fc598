"""Whatever stands in a run folder or in a benchmark's record; nothing but the documented errors.

``FUZZ=50 pytest tests/test_fuzz_runs.py`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
from pathlib import Path

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz_strategies import DAMAGES, JSON_TEXTS, JSONS, TEXTS, damaged, examples
from mahjong_env.bench import BenchFileError, against_text, read_record, report_json
from mahjong_env.bench.timing import Contender, Reading, Result
from training.__main__ import main
from training.run_folder import RunFolder

STEPS = "32"
SMALL = (
    *("--tables", "2", "--width", "2", "--layers", "1", "--warm-start-steps", "0", "--evaluations", "1"),
    *("--evaluation-deals", "1", "--evaluation-agents", "random", "--opponents", "random", "--teachers", "random"),
    *("--reward-scale", "0.5"),
)


def train(out, *arguments):
    """The exit status of a training command, and what it said on stderr."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        status = main(["train", "--variant", "hebei", "--out", str(out), "--total-steps", STEPS, *arguments])
    return status, said.getvalue()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A small finished run."""
    out = tmp_path_factory.mktemp("runs") / "small"
    assert train(out, *SMALL) == (0, "")
    assert train(out, "--resume") == (0, "")
    return RunFolder(out)


@contextlib.contextmanager
def changed(run, path, content):
    """A copy of the run in which one file holds something else."""
    with tempfile.TemporaryDirectory() as folder:
        copy = RunFolder(Path(shutil.copytree(run.path, Path(folder) / "run")))
        (copy.path / path.name).write_bytes(content)
        yield copy


def check_resumed_or_refused(run):
    """What is wrong is told in one line, and nothing has changed then."""
    before = {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    status, said = train(run.path, "--resume")
    if status == 0:
        return True
    assert status == 2
    assert said.startswith("error: ")
    assert {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()} == before
    return False


# --- config.json -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{"tables": -1}, {"tables": 3}, {"seed": -1}, {"seed": 10**30}, {"deals": 1}])
def test_settings_that_cannot_be(run, changes):
    settings = json.loads(run.config.read_text())
    with changed(run, run.config, json.dumps(settings | changes).encode()) as run:
        assert not check_resumed_or_refused(run) or changes == {"tables": 3}


@pytest.mark.parametrize("changes", [{"batch_size": 0}, {"steps_per_table": 0}, {"steps_per_table": -1}, {"epochs": 0}])
def test_counts_of_ppo_that_cannot_be(run, changes):
    settings = json.loads(run.config.read_text())
    settings["optimisation"] |= changes
    with changed(run, run.config, json.dumps(settings).encode()) as run:
        assert not check_resumed_or_refused(run)


# --- The checkpoint ----------------------------------------------------------------------------------------------


@examples(40)
@given(DAMAGES)
def test_damaged_checkpoints(run, damages):
    with changed(run, run.checkpoint, damaged(run.checkpoint.read_bytes(), damages)) as run:
        check_resumed_or_refused(run)


@examples(40)
@given(
    st.dictionaries(
        st.sampled_from(["network", "optimiser", "steps", "seconds", "best_points", "warm_started"]),
        JSONS,
        min_size=1,
        max_size=2,
    )
)
@example({"steps": "32"})
@example({"steps": None})
@example({"steps": -1})
@example({"seconds": "long"})
def test_checkpoints_with_anything_in_them(run, changes):
    state = torch.load(run.checkpoint, weights_only=True)
    data = io.BytesIO()
    torch.save(state | changes, data)
    with changed(run, run.checkpoint, data.getvalue()) as run:
        check_resumed_or_refused(run)


# --- Records of benchmarks ---------------------------------------------------------------------------------------

HOW = {"clock": "cpu", "knob": []}


def result(name, rate, **facts):
    runs = (Reading(rate=rate, hands=10.0, agent=1e-6, dealing=None),)
    return Result(Contender(name, lambda seed: None, 1, (), facts), runs)


RESULTS = [result("peer", 4.0), result("engine", 8.0, variant="hebei")]
RECORD = report_json(RESULTS, HOW)


def check_compared_or_refused(path, text):
    """What can be read can be compared with."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
    try:
        record = read_record(path, HOW)
    except BenchFileError as error:
        assert str(path) in str(error)  # noqa: PT017
        return
    assert against_text(RESULTS, record)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("records") / "earlier.json"


@examples(150)
@given(st.dictionaries(st.sampled_from([*RECORD, "more"]), JSONS, min_size=1, max_size=2))
def test_records_with_anything_in_them(path, changes):
    check_compared_or_refused(path, json.dumps(RECORD | changes))


@examples(150)
@given(
    st.lists(
        st.one_of(
            JSONS,
            st.fixed_dictionaries(
                {}, optional={"name": st.one_of(JSONS, st.just("engine")), "decisions_per_second": JSONS}
            ),
        ),
        max_size=3,
    )
)
@example([{"name": "engine", "decisions_per_second": 5e-324}, {"name": "peer", "decisions_per_second": 1e308}])
def test_records_with_any_results(path, results):
    check_compared_or_refused(path, json.dumps(RECORD | {"results": results}))


@examples(100)
@given(st.one_of(JSON_TEXTS, JSONS.map(json.dumps), TEXTS, st.binary(max_size=20)))
def test_records_of_anything(path, text):
    check_compared_or_refused(path, text)


@examples(100)
@given(DAMAGES)
def test_damaged_records(path, damages):
    check_compared_or_refused(path, damaged(json.dumps(RECORD).encode(), damages))
