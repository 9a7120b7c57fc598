"""Whatever stands in a file: policies, benchmark records, run folders; nothing but the documented errors.

``FUZZ=50 pytest tests/fuzz/test_fuzz_files.py`` tries fifty times as many examples, other ones each time.
"""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import chdir
from dataclasses import asdict, fields
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from mahjong_agents import AgentError, PolicyFileError, make_agent
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.plane_network import NetworkSpec, PolicyNetwork, weights_of
from mahjong_env import Deal, RecordError, make_engine
from mahjong_env.records import GameRecord, Recorder, RecordWriter, read_records
from mahjong_env.viewer import viewer_html
from support.fuzz_strategies import DAMAGES, JSON_TEXTS, JSONS, TEXTS, VALUES, damaged, examples

SPEC = NetworkSpec(width=2, layers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


# --- Policy files ------------------------------------------------------------------------------------------------


class Right:
    """A policy that can be read: its header, its weights, its bytes."""

    def __init__(self, folder):
        torch.manual_seed(1)
        saved = PolicyFile("hebei", 0, asdict(SPEC), weights_of(PolicyNetwork(SPEC)))
        self.weights = saved.weights
        self.header = {"format": 1} | {key: value for key, value in vars(saved).items() if key != "weights"}
        saved.write(folder / "right.zip")
        self.data = (folder / "right.zip").read_bytes()

    def __repr__(self):  # all of it would be printed for every failure
        return "right"


@pytest.fixture(scope="module")
def right(folder):
    return Right(folder)


VIEW = make_engine("hebei", 3, seed=1).view()


def check_plays_or_refused(path):
    """The agent of a file, which plays legally; or None if the file is refused."""
    try:
        agent = make_agent(f"policy:{path}")
    except PolicyFileError as error:
        assert str(path) in str(error)  # noqa: PT017
        return None
    try:
        actions = agent.act(VIEW, np.random.default_rng(0))
    except PolicyFileError:
        assert agent.variant != "hebei"
        return agent
    assert VIEW.action_mask[np.arange(len(VIEW)), actions].all()
    return agent


def write_policy(path, header, weights):
    """Any text as header, any bytes as weights."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("policy.json", header)
        archive.writestr("weights.npz", weights)


def npz(**arrays):
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


@pytest.mark.thorough
@examples(150)
@given(DAMAGES)
def test_damaged_policies(folder, right, damages):
    """What can still be read is the whole of what was written."""

    path = folder / "damaged.zip"
    path.write_bytes(damaged(right.data, damages))
    agent = check_plays_or_refused(path)
    if agent is not None:
        for name, array in weights_of(agent.network).items():
            np.testing.assert_array_equal(array, right.weights[name])


@pytest.mark.thorough
@examples(60)
@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_zips_and_bytes_that_are_no_policy(folder, data, header, weights):
    path = folder / "foreign.zip"
    path.write_bytes(data)
    assert check_plays_or_refused(path) is None
    write_policy(path, header, weights)
    assert check_plays_or_refused(path) is None
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", data)
    assert check_plays_or_refused(path) is None


HEADER_FIELDS = ["format", *(item.name for item in fields(PolicyFile) if item.name != "weights")]


@pytest.mark.thorough
@examples(120)
@given(st.dictionaries(st.sampled_from([*HEADER_FIELDS, "weights", "more"]), JSONS, min_size=1, max_size=2))
@example({"variant": ["hebei"]})
@example({"network": {"width": 10**5, "layers": 1}})
@example({"network": {"width": 10**12, "layers": 1}})
@example({"network": {"width": 2, "layers": 10**9}})
@example({"network": {"width": 10**30, "layers": 1}})
@example({"network": {"width": "2", "layers": True}})
def test_headers_with_anything_in_them(folder, right, changes):
    path, header = folder / "header.zip", right.header | changes
    write_policy(path, json.dumps(header), npz(**right.weights))
    if check_plays_or_refused(path) is not None:
        assert {**header, "knobs": {}, "training": {}} == right.header


@pytest.mark.thorough
@examples(80)
@given(st.one_of(JSON_TEXTS, JSONS.map(json.dumps), TEXTS))
@example("[" * 100_000)
@example('{"format": 1, "variant": ' + "[" * 100_000)
@example("7")
@example("[]")
@example('"policy"')
@example("null")
def test_headers_of_anything(folder, right, header):
    path = folder / "header.zip"
    write_policy(path, header, npz(**right.weights))
    assert check_plays_or_refused(path) is None


WEIGHT_ARRAYS = arrays_of.arrays(
    st.one_of(arrays_of.scalar_dtypes(), arrays_of.unicode_string_dtypes(max_len=3)),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@pytest.mark.thorough
@examples(120)
@given(st.data())
def test_weights_of_any_shape_and_type(folder, right, data):
    weights = dict(right.weights)
    name = data.draw(st.sampled_from([*sorted(weights), "more"]))
    kind = data.draw(st.sampled_from(["any", "gone", "cast", "special"]))
    if kind == "any":
        weights[name] = data.draw(WEIGHT_ARRAYS)
    elif kind == "gone":
        weights.pop(name, None)
    elif name in weights:
        weights[name] = weights[name].copy()
        if kind == "cast":
            weights[name] = weights[name].astype(
                data.draw(arrays_of.scalar_dtypes().filter(lambda t: t.kind not in "mM"))
            )
        else:
            weights[name].flat[0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3e38]))
    path = folder / "weights.zip"
    write_policy(path, json.dumps(right.header), npz(**weights))
    agent = check_plays_or_refused(path)
    assert agent is None or all(parameter.isfinite().all() for parameter in agent.network.parameters())


@pytest.mark.thorough
@examples(80)
@given(st.data())
def test_damaged_arrays_in_a_sound_zip(folder, right, data):
    """The zip's own sums are right: what is wrong is inside."""
    with zipfile.ZipFile(io.BytesIO(npz(**right.weights))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(members)))
    members[name] = damaged(members[name], data.draw(DAMAGES))
    if data.draw(st.booleans()):
        members[name] = members[name][: data.draw(st.integers(0, 128))] + data.draw(st.binary(max_size=20))
    weights = io.BytesIO()
    with zipfile.ZipFile(weights, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    path = folder / "inside.zip"
    write_policy(path, json.dumps(right.header), weights.getvalue())
    check_plays_or_refused(path)


ARRAY = "{'descr': '<f4', 'fortran_order': False, 'shape': "
ARRAY_HEADERS = (
    *("(" * 5000, "[" * 9, "'''", "\\", "{'descr': '|O'}", ARRAY + "("),
    *(ARRAY + shape + "}" for shape in ("(1000000000000,)", "(1000000000000, 1000000)", "(-3,)", "3", "()")),
    ARRAY.replace("'<f4'", "['<f4']") + "(3,)}",
)


@pytest.mark.parametrize("text", ARRAY_HEADERS, ids=[text[-24:] for text in ARRAY_HEADERS])
@pytest.mark.parametrize("version", [1, 2, 3, 9])
def test_headers_of_arrays(folder, right, text, version):
    """numpy's reader of them raises whatever Python's parser does."""
    length = len(text).to_bytes(2 if version == 1 else 4, "little")
    weights = io.BytesIO()
    with zipfile.ZipFile(weights, "w") as archive:
        archive.writestr("dense.bias.npy", b"\x93NUMPY" + bytes([version, 0]) + length + text.encode())
    path = folder / "inside.zip"
    write_policy(path, json.dumps(right.header), weights.getvalue())
    assert check_plays_or_refused(path) is None


@pytest.mark.thorough
@examples(100)
@given(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["", ".", "..", "/", "~", "\0", "a\0b", "x" * 300, "x/" * 3000, "/dev/null", "/proc/self/mem"]),
    )
)
@example("\udcff")
@example("\ud800")
def test_places_of_policies(folder, place):
    (folder / "empty").mkdir(exist_ok=True)
    with chdir(folder / "empty"), pytest.raises(AgentError):
        make_agent(f"policy:{place}")


# --- Records -----------------------------------------------------------------------------------------------------


@cache
def a_record():
    """The line of a hand that was played at random, with a scene and a note."""
    engine, lines, rng = make_engine("hebei", 1, seed=3), [], np.random.default_rng(3)
    recorder = Recorder(engine, lambda *ended: lines.extend(ended), agents=["random"] * 3)
    recorder.reset(seed=3, deals=Deal(hands=("123m",), running_points=(1, 2, 3)))
    while engine.seat_to_act[0] >= 0:
        recorder.step([rng.choice(np.flatnonzero(engine.action_mask[0]))], notes=[{"value": 1.0}])
    return lines[0].to_json()


def check_replayed_or_refused(folder, text):
    """A line is a record, which can be played, shown and written again, or is refused with file and line."""
    path = folder / "games.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass") + b"\n")
    try:
        for record in read_records(path):
            assert GameRecord.from_json(record.to_json()) == record
            viewer_html(record).encode()
    except RecordError as error:
        assert "games.jsonl" in str(error)  # noqa: PT017
        assert len(str(error)) < 1000  # noqa: PT017
        return
    with RecordWriter(path) as writer:  # what can be read can be added to
        writer.write()


FIELDS = sorted(json.loads(a_record()))
ODD_NUMBERS = ("9" * 5000, "1" + "0" * 400, "-1", "1.0", "1e400", "NaN", "32768", str(2**31), str(2**63), str(2**64))


@pytest.mark.thorough
@examples(100)
@given(DAMAGES)
def test_damaged_records(folder, damages):
    check_replayed_or_refused(folder, damaged(a_record().encode(), damages).decode("utf-8", "surrogateescape"))


@pytest.mark.thorough
@examples(150)
@given(st.sampled_from(FIELDS), st.one_of(JSONS.map(json.dumps), JSON_TEXTS, st.sampled_from(ODD_NUMBERS)))
@example("knobs", '{"variant":"x"}')
@example("knobs", '{"rules":"x","self":1}')
@example("deal", '{"hands":{"1m":1}}')
@example("deal", '{"house_winds":7,"draws":[]}')
def test_records_with_anything_in_a_field(folder, field, text):
    told = json.loads(a_record()) | {field: "HERE"}
    check_replayed_or_refused(folder, json.dumps(told).replace('"HERE"', text))


@pytest.mark.thorough
@examples(100)
@given(
    st.one_of(st.integers(-1, 60).map(str), st.sampled_from(["00", "9" * 5000, "\u0663", "1.0", ""])),
    st.sampled_from(["value", "probabilities", "values", "intervals", "mine", "\ud800"]),
    st.one_of(JSONS.map(json.dumps), st.sampled_from(["[" * depth + "]" * depth for depth in (1, 17, 300, 10**5)])),
)
@example("0", "value", "1" + "0" * 400)
@example("0", "intervals", '{"pass":[0,1,1%s]}' % ("0" * 400))
@example("0", "mine", '"\\ud800"')
def test_records_with_any_notes(folder, number, key, text):
    told = json.loads(a_record()) | {"notes": {number: {key: "HERE"}}}
    check_replayed_or_refused(folder, json.dumps(told).replace('"HERE"', text))


# --- Agents by name ----------------------------------------------------------------------------------------------


@pytest.mark.thorough
@examples(100)
@given(st.one_of(VALUES, st.from_regex(r"(random|greedy|nobody)(:[a-z./]*)?(\?[a-z=&0-9]*)?", fullmatch=True)))
def test_agents_by_name(spec):
    try:
        agent = make_agent(spec)
    except AgentError:
        return
    assert str(spec).partition("?")[0].partition(":")[0].strip() == agent.name
