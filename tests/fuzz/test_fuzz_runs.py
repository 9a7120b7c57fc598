"""Whatever stands in a run folder or in a benchmark's record; nothing but the documented errors.

``FUZZ=50 pytest tests/fuzz/test_fuzz_runs.py`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tempfile
from dataclasses import fields
from pathlib import Path

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from mahjong_benchmarks import BenchFileError, against_text, read_record, report_json
from mahjong_benchmarks.timing import Contender, Reading, Result
from mahjong_env.cli import main
from mahjong_training.config import PpoSettings, TrainSb3Config
from mahjong_training.errors import TrainingError
from mahjong_training.learning.curve import plot_curve
from mahjong_training.learning.run_folder import RunFolder
from support.fuzz_strategies import DAMAGES, INTEGERS, JSON_TEXTS, JSONS, TEXTS, damaged, examples

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
        status = main(["train-sb3", "--variant", "hebei", "--out", str(out), "--total-steps", STEPS, *arguments])
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

SETTINGS = [item.name for item in fields(TrainSb3Config)]
# Sizes are kept small: whoever asks for more memory than there is gets no error of ours.
SMALL_JSONS = JSONS.filter(lambda value: not isinstance(value, int) or value < 100)


@pytest.mark.thorough
@examples(60)
@given(st.dictionaries(st.sampled_from([*SETTINGS, "versions", "more"]), SMALL_JSONS, min_size=1, max_size=2))
@example({"tables": "2"})
@example({"tables": -1})
@example({"knobs": 5})
@example({"seed": -1})
@example({"seed": 10**30})
@example({"tables": 3})
@example({"opponents": [5]})
@example({"opponents": "random"})
def test_settings_with_anything_in_them(run, changes):
    settings = json.loads(run.config.read_text(encoding="utf-8"))
    with changed(run, run.config, json.dumps(settings | changes).encode()) as run:
        check_resumed_or_refused(run)


@pytest.mark.thorough
@examples(60)
@given(st.dictionaries(st.sampled_from([item.name for item in fields(PpoSettings)]), SMALL_JSONS, min_size=1))
@example({"batch_size": 0})
@example({"batch_size": 1})
@example({"n_epochs": 0})
@example({"clip_range": -1.0})
@example({"gamma": float("nan")})
@example({"n_steps": 0})
@example({"n_steps": -1})
@example({"learning_rate": "fast"})
@example({"gamma": -5})
def test_settings_of_ppo_with_anything_in_them(run, changes):
    settings = json.loads(run.config.read_text(encoding="utf-8"))
    with changed(run, run.config, json.dumps(settings | changes).encode()) as run:
        check_resumed_or_refused(run)


@pytest.mark.thorough
@examples(60)
@given(st.one_of(JSON_TEXTS, JSONS.map(json.dumps), TEXTS, st.binary(max_size=20)))
@example("[" * 100_000)
@example("7")
@example("[]")
@example('"settings"')
def test_settings_of_anything(run, text):
    with changed(run, run.config, text if isinstance(text, bytes) else text.encode("utf-8", "replace")) as run:
        assert not check_resumed_or_refused(run)


# --- The checkpoint ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
@examples(40)
@given(DAMAGES)
def test_damaged_checkpoints(run, damages):
    with changed(run, run.checkpoint, damaged(run.checkpoint.read_bytes(), damages)) as run:
        check_resumed_or_refused(run)


@pytest.mark.thorough
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


# --- The learning curve ------------------------------------------------------------------------------------------


def check_drawn_or_refused(run):
    try:
        rows = run.read_curve()
    except TrainingError as error:
        assert str(run.curve) in str(error)  # noqa: PT017
        assert not check_resumed_or_refused(run)
        return
    if rows:
        plot_curve(rows, "a run", run.curve_plot)


@pytest.mark.thorough
@examples(25)
@given(DAMAGES)
def test_damaged_curves(run, damages):
    with changed(run, run.curve, damaged(run.curve.read_bytes(), damages)) as run:
        check_drawn_or_refused(run)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:Glyph")
@examples(25)
@given(st.data())
def test_curves_with_anything_in_them(run, data):
    lines = run.curve.read_text(encoding="utf-8").splitlines()
    text = data.draw(st.one_of(TEXTS, INTEGERS.map(str), st.floats().map(str)))
    cells = lines[-1].split(",")
    cells[data.draw(st.integers(0, len(cells) - 1))] = text
    with changed(run, run.curve, "\n".join([*lines, ",".join(cells), ""]).encode("utf-8", "replace")) as run:
        check_drawn_or_refused(run)


@pytest.mark.thorough
def test_a_dollar_in_a_name_is_only_a_character(run):
    header, line = run.curve.read_bytes().splitlines()[:2]
    cells = line.split(b",")
    cells[header.split(b",").index(b"against")] = b"$x_$"
    with changed(run, run.curve, b"\n".join([header, b",".join(cells), b""])) as run:
        plot_curve(run.read_curve(), "$x_$", run.curve_plot)


@pytest.mark.thorough
@pytest.mark.parametrize("content", [b"", b"\xff", b"steps\n", b"a,b\n1,2\n", b"x" * 200_000, b"\0", b"half a line"])
def test_curves_of_anything(run, content):
    with changed(run, run.curve, run.curve.read_bytes() + content) as run:
        check_drawn_or_refused(run)
        run.curve.write_bytes(content)
        check_drawn_or_refused(run)


# --- Records of benchmarks ---------------------------------------------------------------------------------------

HOW = {"clock": "cpu", "knob": []}


def result(name, rate, **facts):
    runs = (Reading(rate=rate, hands=10.0, agent=1e-6, with_choosing=rate, dealing=None),)
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


@pytest.mark.thorough
@examples(150)
@given(st.dictionaries(st.sampled_from([*RECORD, "more"]), JSONS, min_size=1, max_size=2))
def test_records_with_anything_in_them(path, changes):
    check_compared_or_refused(path, json.dumps(RECORD | changes))


@pytest.mark.thorough
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
@example([{"name": "engine", "decisions_per_second": 10**400}])
@example([{"name": "engine", "decisions_per_second": 5e-324}, {"name": "peer", "decisions_per_second": 1e308}])
def test_records_with_any_results(path, results):
    check_compared_or_refused(path, json.dumps(RECORD | {"results": results}))


@pytest.mark.thorough
@examples(100)
@given(st.one_of(JSON_TEXTS, JSONS.map(json.dumps), TEXTS, st.binary(max_size=20)))
@example("[" * 100_000)
def test_records_of_anything(path, text):
    check_compared_or_refused(path, text)


@pytest.mark.thorough
@examples(100)
@given(DAMAGES)
def test_damaged_records(path, damages):
    check_compared_or_refused(path, damaged(json.dumps(RECORD).encode(), damages))
