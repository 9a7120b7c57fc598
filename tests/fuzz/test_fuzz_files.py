"""Whatever stands in a file: snapshots, policies, records, settings of runs; nothing but the documented errors.

``FUZZ=50 pytest tests/fuzz`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from mahjong_agents import PolicyFileError, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork
from mahjong_agents.policy.torch_network import arrays_of as weights_of
from mahjong_env import Deal, MahjongError, RecordError, Snapshot, SnapshotError, make_engine
from mahjong_env.records import GameRecord, Recorder, RecordWriter, read_records
from mahjong_env.testing import eager_actions
from mahjong_env.testing.play import changed_array, frozen_arrays
from mahjong_env.viewer import viewer_html
from mahjong_training.config import TrainSb3Config
from mahjong_training.learning.run_folder import RunFolder
from support.fuzz_strategies import DAMAGES, INTEGERS, JSON_TEXTS, JSONS, TEXTS, damaged, examples

# A kind of file is a class with the bytes of a sound one, and `check`, which reads any bytes in its place: they are
# used as they stand (True), or refused with the documented error that names the file (False). Where it holds JSON,
# `parts` names places of it, as templates in which anything is written for HERE.


class SnapshotFile:
    """A snapshot that can be read and restored in spite of damage is the whole one."""

    def __init__(self, folder):
        engine, rng = make_engine("hangzhou", 2, seed=5), np.random.default_rng(5)
        for _ in range(30):
            engine.step(eager_actions(engine, rng))
        self.data = engine.snapshot().to_bytes()

    def check(self, data):
        engine = make_engine("hangzhou", 2, seed=6)
        before = frozen_arrays(engine)
        try:
            engine.restore(Snapshot.from_bytes(data))
        except SnapshotError:
            assert changed_array(engine, before) is None
            return False
        assert engine.snapshot().to_bytes() == self.data
        return True


def with_part(told, part, text):
    """The JSON of a dictionary with any text at a place; no field is given twice."""
    name = json.loads(f"{{{part.replace('HERE', '0')}}}").popitem()[0]
    kept = json.dumps({key: value for key, value in told.items() if key != name}).removesuffix("}")
    return f"{kept},{part.replace('HERE', text)}}}".encode("utf-8", "surrogatepass")


class JsonFile:
    """A file that holds an object of JSON."""

    def with_part(self, part, text):
        return with_part(json.loads(self.data), part, text)


VIEW = make_engine("hebei", 3, seed=1).view()


class PolicyZip:
    """A policy that can be read is whole, and plays legally."""

    parts = tuple(f'"{name}":HERE' for name in ("format", *(item.name for item in fields(PolicyFile)), "more"))
    spec = NetworkSpec(width=2, layers=1)

    def __init__(self, folder):
        torch.manual_seed(1)
        saved = PolicyFile("hebei", 0, asdict(self.spec), weights_of(PolicyNetwork(self.spec)))
        self.path, self.weights, self.data = folder / "policy.zip", saved.weights, saved.to_bytes()
        self.header = {"format": 1} | {key: value for key, value in vars(saved).items() if key != "weights"}

    def check(self, data):
        self.path.write_bytes(data)
        agent = self.plays()
        if agent is not None:
            for name, array in weights_of(agent.network.module).items():
                np.testing.assert_array_equal(array, self.weights[name])
        return agent is not None

    def with_part(self, part, text):
        return self.written(header=with_part(self.header, part, text)).path.read_bytes()

    def written(self, header=None, weights=None):
        """The file with any text as header, or with any bytes as weights."""
        with zipfile.ZipFile(self.path, "w") as archive:
            archive.writestr("policy.json", json.dumps(self.header) if header is None else header)
            archive.writestr("weights.npz", npz(**self.weights) if weights is None else weights)
        return self

    def plays(self):
        """The agent of the file, or None if the file is refused."""
        try:
            agent = make_agent(f"policy:{self.path}")
        except PolicyFileError as error:
            assert str(self.path) in str(error)  # noqa: PT017
            return None
        try:
            actions = agent.act(VIEW, np.random.default_rng(0))
        except PolicyFileError:
            assert agent.variant != "hebei"
            return agent
        assert VIEW.action_mask[np.arange(len(VIEW)), actions].all()
        return agent


def npz(**arrays):
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


class RecordFile(JsonFile):
    """A line is a record, which can be played, shown and written again, or is refused with file and line."""

    parts = (
        *(f'"{name}":HERE' for name in ("format", "version", "variant", "knobs", "deal", "actions", "agents", "seed")),
        *('"notes":HERE', '"more":HERE', '"notes":{"HERE":{"value":1}}'),
        *(f'"notes":{{"0":{{"{key}":HERE}}}}' for key in ("value", "probabilities", "values", "intervals", "mine")),
    )

    def __init__(self, folder):
        self.path = folder / "games.jsonl"
        engine, lines, rng = make_engine("hebei", 1, seed=3), [], np.random.default_rng(3)
        recorder = Recorder(engine, lambda *ended: lines.extend(ended), agents=["random"] * 3)
        recorder.reset(seed=3, deals=Deal(hands=("123m",), running_points=(1, 2, 3)))
        while engine.seat_to_act[0] >= 0:
            recorder.step([rng.choice(np.flatnonzero(engine.action_mask[0]))], notes=[{"value": 1.0}])
        self.data = lines[0].to_json().encode()

    def check(self, data):
        self.path.write_bytes(data + b"\n")
        found = 0
        try:
            for found, record in enumerate(read_records(self.path), start=1):  # noqa: B007
                assert GameRecord.from_json(record.to_json()) == record
                viewer_html(record).encode()
        except RecordError as error:
            assert "games.jsonl" in str(error)  # noqa: PT017
            assert len(str(error)) < 1000  # noqa: PT017
            return False
        if found:  # what can be read can be added to
            with RecordWriter(self.path) as writer:
                writer.write()
        return found > 0


class ConfigFile(JsonFile):
    """The settings of a run: it goes on with them, or what is wrong with them is told."""

    parts = tuple(f'"{name}":HERE' for name in (*(item.name for item in fields(TrainSb3Config)), "versions", "more"))

    def __init__(self, folder):
        self.run, self.config = RunFolder(folder / "config"), TrainSb3Config(variant="hebei", out=folder / "config")
        self.run.begin(self.config, {})
        self.data = self.run.config.read_bytes()

    def check(self, data):
        self.run.config.write_bytes(data)
        try:
            self.run.resumed_config(replace(self.config, resume=True))
        except MahjongError as error:
            assert str(self.run.path) in str(error) or "variant" in str(error)  # noqa: PT017
            return False
        return True


KINDS = (SnapshotFile, PolicyZip, RecordFile, ConfigFile)
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
known: dict = {}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The file of a kind, made once."""
    folder = tmp_path_factory.mktemp("sound")
    return lambda kind: known.get(kind) or known.setdefault(kind, kind(folder))


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


@pytest.mark.thorough
@every_kind
@examples(60)
@given(DAMAGES)
def test_damage(sound, kind, damages):
    file = sound(kind)
    file.check(damaged(file.data, damages))


OTHER = ("[" * 100_000, "7", "[]", '"text"', "null", b"\xff", "x" * 200_000, b"\0", "")


@pytest.mark.thorough
@every_kind
@examples(60)
@given(st.one_of(JSON_TEXTS, JSONS.map(json.dumps), TEXTS, st.binary(max_size=60), st.sampled_from(OTHER)))
def test_other_content_is_refused(sound, kind, content):
    assert not sound(kind).check(as_bytes(content))


# --- Parts of files --------------------------------------------------------------------------------------------------

# What has been found by fuzzing, or by thinking, beside what is drawn; that of records: tests/records/test_records.py.
ODD_NUMBERS = ("9" * 5000, "1" + "0" * 400, "-1", "1.0", "1e400", "NaN", "32768", str(2**31), str(2**63), str(2**64))
ODD_PARTS = {
    PolicyZip: [
        ('"variant":HERE', '["hebei"]'),
        *(
            ('"network":HERE', json.dumps({"width": width, "layers": layers}))
            for width, layers in ((10**5, 1), (10**12, 1), (2, 10**9), (10**30, 1), ("2", True))
        ),
        ('"more":HERE', "[" * 100_000),
    ],
    ConfigFile: [
        *(('"tables":HERE', '"2"'), ('"knobs":HERE', "5"), ('"opponents":HERE', "[5]")),
        *(('"seed":HERE', "1.5"), ('"learning_rate":HERE', '"fast"'), ('"learning_rate":HERE', "null")),
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.__name__)
@examples(100)
@given(st.data())
def test_anything_in_a_part(sound, kind, data):
    file = sound(kind)
    texts = st.one_of(
        JSONS.map(json.dumps), JSON_TEXTS, st.sampled_from(ODD_NUMBERS), INTEGERS.map(str), TEXTS.map(json.dumps)
    )
    drawn = st.tuples(st.sampled_from(file.parts), texts)
    part, text = data.draw(st.one_of(drawn, st.sampled_from(ODD_PARTS[kind])) if kind in ODD_PARTS else drawn)
    file.check(file.with_part(part, text))


# --- Arrays of policies ----------------------------------------------------------------------------------------------

WEIGHT_ARRAYS = arrays_of.arrays(
    st.one_of(arrays_of.scalar_dtypes(), arrays_of.unicode_string_dtypes(max_len=3)),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@pytest.mark.thorough
@examples(120)
@given(st.data())
def test_weights_of_any_shape_and_type(sound, data):
    file = sound(PolicyZip)
    weights = dict(file.weights)
    name = data.draw(st.sampled_from([*sorted(weights), "more"]))
    kind = data.draw(st.sampled_from(["any", "gone", "cast", "special"]))
    if kind == "any":
        weights[name] = data.draw(WEIGHT_ARRAYS)
    elif kind == "gone":
        weights.pop(name, None)
    elif name in weights and kind == "cast":
        weights[name] = weights[name].astype(data.draw(arrays_of.scalar_dtypes().filter(lambda t: t.kind not in "mM")))
    elif name in weights:
        weights[name] = weights[name].copy()
        weights[name].flat[0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3e38]))
    agent = file.written(weights=npz(**weights)).plays()
    assert agent is None or all(parameter.isfinite().all() for parameter in agent.network.module.parameters())
