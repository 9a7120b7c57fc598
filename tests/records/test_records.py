"""Records: whole matches are written while batches play, read again, and replayed to the last point."""

import errno
import gc
import json
import os
import re
from dataclasses import replace
from functools import cache, partial
from importlib import resources

import numpy as np
import pytest

import mahjong_env
from mahjong_env import ActionError, Deal, RecordError
from mahjong_env.engine.arguments import MOST_HANDS
from mahjong_env.records import (
    FORMAT_VERSION,
    GameRecord,
    RecordWriter,
    Replay,
    nth_record,
    read_records,
    replay_points,
)
from mahjong_env.state.arrays import Event
from mahjong_env.testing import random_actions
from support.recorded import Collector, recorded

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = json.loads(resources.files("mahjong_env.records").joinpath("record.schema.json").read_text("utf-8"))


def play(engine, recorder, matches, seed=3):
    rng = np.random.default_rng(seed)
    while len(recorder.collected) < matches:
        recorder.step(random_actions(engine.action_mask, rng))


record_of_one_match = cache(partial(recorded, "hebei"))


@pytest.mark.thorough
@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
@pytest.mark.parametrize("num_hands", [1, 3])
def test_batches_are_recorded_and_replayed_to_the_last_point(variant, num_hands):
    engine = mahjong_env.make_engine(variant, 32, seed=11, num_hands=num_hands, auto_reset=True)
    recorder = Collector(engine, agents=["random"] * engine.num_people)
    play(engine, recorder, 60)
    assert len(recorder.collected) >= 60
    for record in recorder.collected:
        line = record.to_json()
        assert GameRecord.from_json(line) == record
        jsonschema.validate(json.loads(line), SCHEMA)
        assert replay_points(record) == record.points
    assert len({(record.stream, record.hand) for record in recorder.collected}) == len(recorder.collected)
    assert 200 < np.mean([len(record.to_json()) for record in recorder.collected]) / num_hands < 700


def test_knobs_scenes_and_notes_are_kept():
    engine = mahjong_env.make_engine("hebei", 1, seed=1, players=4, cap=8)
    recorder = Collector(engine)
    deal = Deal(hands=("123m456m789m11p55s",), dealer=1, running_points=(10, 20, 30, 40))
    recorder.reset(seed=5, deals=deal)
    rng = np.random.default_rng(1)
    thought = {"probabilities": {"discard 1m": 0.75}, "value": 1.5}
    recorder.step(random_actions(engine.action_mask, rng), notes=[thought])
    while engine.seat_to_act[0] >= 0:
        recorder.step(random_actions(engine.action_mask, rng))
    (record,) = recorder.collected
    again = GameRecord.from_json(record.to_json())
    assert again == record
    assert (again.knobs, again.deal, again.notes) == ({"players": 4, "cap": 8}, deal, {0: thought})
    jsonschema.validate(json.loads(record.to_json()), SCHEMA)
    assert replay_points(again) == again.points


def test_some_games_may_be_stepped_at_a_time():
    engine = mahjong_env.make_engine("wuhan", 4, seed=2)
    recorder, rng = Collector(engine), np.random.default_rng(2)
    while (engine.seat_to_act >= 0).any():
        some = np.flatnonzero(rng.random(4) < 0.5)
        recorder.step(random_actions(engine.action_mask, rng)[some], some)
    assert sorted(record.stream for record in recorder.collected) == [0, 1, 2, 3]
    assert all(replay_points(record) == record.points for record in recorder.collected)


@pytest.mark.parametrize("games", [1, np.int64(1), (1,), [1], np.array([1]), [False, True]], ids=repr)
def test_games_are_named_as_for_the_engine(games):
    engine, rng = mahjong_env.make_engine("hebei", 2, seed=1), np.random.default_rng(1)
    recorder = Collector(engine)
    recorder.step(random_actions(engine.action_mask[1:], rng), games)
    recorder.step([], np.array([]))
    assert [len(record.actions) for record in recorder.so_far()] == [0, 1]
    recorder.forget(np.array([]))
    recorder.forget(games)
    assert [record.stream for record in recorder.so_far()] == [0]


@pytest.mark.parametrize("notes", [[7, None], [{}], [{}] * 3, "ab", {0: {}, 1: {}}], ids=str)
def test_notes_that_are_not_one_for_each_action_are_refused_before_anything_is_played(notes):
    engine, rng = mahjong_env.make_engine("hebei", 2, seed=1), np.random.default_rng(1)
    recorder, actions = Collector(engine), random_actions(engine.action_mask, rng)
    before = engine.moves(None).tolist()
    with pytest.raises(RecordError, match=r"notes are one for each of the 2 actions|a note is a mapping or None, not"):
        recorder.step(actions, notes=notes)
    assert engine.moves(None).tolist() == before
    recorder.step(actions, notes=[None, {"value": 1}])
    assert [(len(record.actions), record.notes) for record in recorder.so_far()] == [(1, {}), (1, {0: {"value": 1}})]


def test_matches_that_have_not_ended_are_recorded_as_unfinished():
    engine = mahjong_env.make_engine("fuzhou", 2, seed=4)
    recorder, rng = Collector(engine), np.random.default_rng(4)
    for _ in range(5):
        recorder.step(random_actions(engine.action_mask, rng))
    recorder.close()
    assert [record.is_complete for record in recorder.collected] == [False, False]
    for record in recorder.collected:
        assert replay_points(record) == record.points
    other = Collector(engine)
    other.reset(seed=9)
    other.step(random_actions(engine.action_mask, rng))
    other.reset(seed=10)
    assert [len(record.actions) for record in other.collected] == [1, 1]


def test_a_replay_goes_step_by_step_and_back():
    record = record_of_one_match()
    replay = Replay(record)
    first = np.array(replay.engine.observe())
    results = list(replay)
    assert len(results) == replay.position == len(record.actions)
    assert results[-1].done[0]
    replay.rewind()
    assert (replay.engine.observe() == first).all()


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_events_follow_from_the_record_alone(variant):
    record = GameRecord.from_json(recorded(variant, num_hands=3).to_json())
    replay, person, hands, seen = Replay(record), 1, [], []
    whole = list(Replay(record).hand_events(person))
    while replay.position < len(record.actions):
        seen.append(replay.engine.view(seats=person).events[0])
        ended = replay.step()
        if ended.hand_over[0]:
            outcome = ended.outcome
            hands.append((seen, int(outcome.winner[0]) if outcome.winner[0] >= 0 else None))
            seen = []
    assert len(whole) == len(hands) == 3
    for events, (seen, winner) in zip(whole, hands, strict=True):
        for before in seen:
            assert np.array_equal(events[: len(before), :2], before[:, :2])
        assert (events[-1, 0] == Event.DRAWN_HAND) == (winner is None)
        if winner is not None:
            assert events[-1, 0] in (Event.WIN, Event.WIN_FROM)
            assert (events[-1, 1] == 0) == (winner == person)
        assert len(events) > len(seen[-1])
    assert np.array_equal(whole[-1], replay.engine.view(seats=person).events[0])


def test_events_of_a_match_that_was_cut_off_go_as_far_as_it_does():
    record = record_of_one_match(num_hands=2)
    replay, half = Replay(record), len(record.actions) // 2
    for _ in range(half):
        replay.step()
    points = tuple(replay.engine.points[0].tolist())
    cut = replace(record, actions=record.actions[:half], is_complete=False, points=points)
    *_, last = Replay(cut).hand_events(2)
    assert np.array_equal(last, replay.engine.view(seats=2).events[0])
    with pytest.raises(ActionError):
        next(replay.hand_events(7))


def test_files_are_appended_and_read(tmp_path):
    path = tmp_path / "games.jsonl"
    records = [record_of_one_match(seed=seed) for seed in range(3)]
    with RecordWriter(path) as writer:
        writer.write(*records[:2])
        assert writer.written == 2
    with RecordWriter(path) as writer:
        writer.write(records[2])
    assert list(read_records(path)) == records


@pytest.mark.parametrize("kept", [30, 40, 300])
def test_a_torn_last_line_is_cut_off(tmp_path, kept):
    path = tmp_path / "games.jsonl"
    records = [record_of_one_match(seed=seed) for seed in range(2)]
    lines = [f"{record.to_json()}\n" for record in records]
    path.write_text(lines[0] + lines[1][:kept], encoding="utf-8")
    with RecordWriter(path) as writer:
        writer.write(records[1])
    assert list(read_records(path)) == records
    path.write_text(lines[0][:kept], encoding="utf-8")
    with RecordWriter(path) as writer:
        writer.write(records[0])
    assert list(read_records(path)) == records[:1]


def test_a_whole_last_line_that_is_no_record_is_not_cut_off(tmp_path):
    path, record = tmp_path / "games.jsonl", record_of_one_match()
    line = record.to_json()
    for last, said in (
        (changed(record, version=1), "a record of version 1, whose seeds dealt other cards"),
        (changed(record, points=["x"]), "the record's points is "),
        ("17", "not a record"),
        ('{"format":"other"', None),
    ):
        text = f"{line}\n{last}"
        path.write_text(text, encoding="utf-8")
        if said is None:  # torn, whatever it was
            RecordWriter(path).close()
            text = f"{line}\n"
        else:
            with pytest.raises(RecordError, match=f"is not a file of records, and is left as it is: {said}"):
                RecordWriter(path)
        assert path.read_text(encoding="utf-8") == text


def test_a_last_line_that_lacks_its_newline_alone_stays(tmp_path):
    path = tmp_path / "games.jsonl"
    records = [record_of_one_match(seed=seed) for seed in range(2)]
    for number in (1, 2):
        path.write_text("\n".join(record.to_json() for record in records[:number]), encoding="utf-8")
        with RecordWriter(path) as writer:
            assert list(read_records(path)) == records[:number]
            writer.write(records[0])
        assert list(read_records(path)) == [*records[:number], records[0]]
        with pytest.raises(RecordError, match="has been closed"):
            writer.write(records[0])


def test_a_record_that_cannot_be_written_spoils_no_later_one():
    class Full(list):
        full = True

        def write(self, *records):
            if self.full and records:
                raise RecordError("the disk is full")
            self.extend(records)

    engine, rng = mahjong_env.make_engine("hebei", 2, seed=1, auto_reset=True), np.random.default_rng(1)
    written = Full()
    recorder = mahjong_env.records.Recorder(engine, written.write)
    failed = 0
    while failed < 3:
        try:
            recorder.step(random_actions(engine.action_mask, rng))
        except RecordError:
            failed += 1
    written.full = False
    while len(written) < 3:
        recorder.step(random_actions(engine.action_mask, rng))
    recorder.close()
    for record in written:
        assert replay_points(record) == record.points
    # What is played after the end of the recording is in no record.
    before = len(written)
    while not recorder.step(random_actions(engine.action_mask, rng)).done.all() and recorder.so_far() == []:
        pass
    assert all(replay_points(record) == record.points for record in written[before:])


def test_a_game_that_waits_keeps_no_steps():
    engine, rng = mahjong_env.make_engine("hebei", 2, seed=1, auto_reset=True), np.random.default_rng(1)
    records = []
    recorder = mahjong_env.records.Recorder(engine, lambda *ended: records.extend(ended))
    for _ in range(4500):
        recorder.step(random_actions(engine.action_mask[:1], rng), games=[0])
    assert len(recorder._steps) < 4500
    while len(records) < 200:
        recorder.step(random_actions(engine.action_mask, rng))
    assert all(replay_points(record) == record.points for record in records)
    with pytest.raises(ActionError):
        recorder.reset(games=[2])


def test_running_matches_are_whole_beside_a_game_that_was_never_stepped():
    engine, rng = mahjong_env.make_engine("hebei", 2, seed=1, auto_reset=True), np.random.default_rng(1)
    recorder = mahjong_env.records.Recorder(engine, lambda *ended: None)
    while not recorder._dropped or recorder._lengths[0] < 5:
        recorder.step(random_actions(engine.action_mask[:1], rng), games=[0])
    stepped, waiting = recorder.so_far()
    assert (len(stepped.actions), waiting.actions) == (int(recorder._lengths[0]), ())
    for record in (stepped, waiting):
        assert replay_points(record) == record.points


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    record = record_of_one_match()
    with RecordWriter(path) as writer:
        writer.write(record)
        whole, room = os.write, [50]

        def until_full(file, block):
            if not room:
                raise OSError(errno.ENOSPC, "No space left on device")
            return whole(file, block[: room.pop()])

        monkeypatch.setattr(os, "write", until_full)
        with pytest.raises(RecordError, match=r"records cannot be written to .*games\.jsonl: No space left"):
            writer.write(record)
        monkeypatch.undo()
        assert path.read_text(encoding="utf-8") == f"{record.to_json()}\n"
        writer.write(record)
    assert len(list(read_records(path))) == 2


@pytest.mark.parametrize("shown", [0, 1, 2.5, 3])
def test_lines_that_were_interrupted_are_completed(shown, tmp_path):
    path, record = tmp_path / "games.jsonl", record_of_one_match()
    lines = [f"{replace(record, stream=number).to_json()}\n" for number in (1, 2, 3)]
    there = lines[1] + "".join(lines)[: int(shown * len(lines[0]))]
    path.write_text(there, encoding="utf-8")
    with RecordWriter(path) as writer:
        writer.complete("".join(lines).encode())
        assert writer.written == 3 - int(shown)
        writer.complete(b"")
    assert path.read_text(encoding="utf-8") == lines[1] + "".join(lines)


def test_foreign_files_are_left_as_they_are(tmp_path):
    path = tmp_path / "notes.txt"
    for text in ("milk\n", "milk", '{"format":"other"}\n', "{", '{"format":"mahj'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(RecordError, match="is not a file of records"):
            RecordWriter(path)
        assert path.read_text(encoding="utf-8") == text
    with pytest.raises(RecordError, match=r"records cannot be written to .*: No such file or directory"):
        RecordWriter(tmp_path / "nowhere" / "games.jsonl")
    with pytest.raises(RecordError, match=r"records cannot be read from .*: No such file or directory"):
        list(read_records(tmp_path / "nothing.jsonl"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="it is not text"):
        list(read_records(tmp_path / "binary"))


def changed(record, **values):
    return json.dumps({**json.loads(record.to_json()), **values})


@pytest.mark.parametrize("line", ["", "{", "[]", "17", "null", "[" * 100_000, "\ud800", '{"format":1,"format":1}'])
def test_what_is_no_record_is_refused(line):
    with pytest.raises(RecordError):
        GameRecord.from_json(line)


SHORT_OF = "; this package reads 2"
# The field, the text that takes the place of its value, what is said of it, and whether the schema is content with it.
NO_RECORDS = [
    ("format", '"mjai"', "not a record: it must be an object whose format is 'mahjong_env.record'", False),
    ("version", "3", f"a record of version 3{SHORT_OF}", False),
    ("version", "1", f"version 1, whose seeds dealt other cards: it cannot be played here{SHORT_OF}", False),
    ("version", "true", "a record of version True", False),
    ("version", f"{FORMAT_VERSION}.0", "a record of version", True),
    ("extra", "1", "missing: none, unknown: extra", False),
    ("num_hands", "0", "num_hands is 0, and should be: Hands of the match", False),
    ("num_hands", "32768", "num_hands is 32768, .*'minimum': 1, 'maximum': 32767", False),
    ("start", '"last"', "start is 'last', .*'first', 'random'", False),
    ("seed", "-1", "seed is -1, and should be: The 64 bits", False),
    ("seed", "9" * 5000, "seed|digits", None),
    ("hand", str(2**31), "hand is 2147483648, .*'maximum': 2147418112", False),
    ("actions", "[0, 109]", "actions is .* should be: The actions in order", False),
    ("actions", "[true]", "actions is .* should be: The actions in order", False),
    ("points", '["1"]', "points is .* should be: Points of each person", False),
    ("deal", '{"hand":""}', "deal has hand, which mahjong_env.Deal does not have", True),
    ("deal", '{"hands":7}', "the record's deal cannot be dealt: hands are a list", True),
    ("deal", '{"running_points":[1%s,0,0]}' % ("0" * 400), "deal cannot be dealt", True),
    ("knobs", '{"variant":"x"}', "hebei has no knob 'variant'", True),
    ("knobs", '{"cap":[[]]}', "cap", True),
    ("agents", "[1]", "agents is .* should be: Who played", False),
    ("agents", '["\\ud800"]', "agents is .* should be: Who played", True),
    ("variant", '"\\udc00"', "variant is .* should be: The variant's name", True),
    ("notes", '{"x":{}}', "notes is .* should be: By number of the action", False),
    ("notes", '{"0":{"mine":%s}}' % ("9" * 5000), "notes|digits", None),
    ("notes", '{"0":{"value":1%s}}' % ("0" * 400), "notes is ", True),
    ("notes", '{"0":{"values":{"discard 8z":1}}}', "notes is ", False),
    ("notes", '{"0":{"probabilities":{"pass":1%s}}}' % ("0" * 400), "notes is ", True),
    ("notes", '{"0":{"intervals":{"pass":[0,0,1%s]}}}' % ("0" * 400), "notes is ", True),
    ("notes", '{"0":{"value":NaN}}', "notes is ", True),
    ("notes", '{"0":{"mine":[NaN]}}', "notes is ", True),
    ("agents", '["a"]', r"the record names 1 agents: \('a',\); it has 3 persons", True),
    ("notes", '{"0":{},"00":{}}', "notes is ", False),
    ("notes", '{"\u0663":{}}', "notes is ", None),
    ("notes", '{"100000":{}}', "the record has a note for action 100000", True),
    ("notes", '{"0":{"why":"\\ud800"}}', "notes is ", True),
    ("notes", '{"0":{"\\ud800":1}}', "notes is ", True),
    ("notes", '{"0":{"deep":%s}}' % ("[" * 400 + "]" * 400), "notes is ", None),
    ("notes", '{"0":{"deep":%s}}' % ("[" * 100_000 + "]" * 100_000), "not a line of JSON", None),
]


@pytest.mark.parametrize(("field", "text", "message", "fits_schema"), NO_RECORDS, ids=lambda value: str(value)[:30])
def test_whatever_is_no_record_is_refused_with_its_file_and_line(field, text, message, fits_schema, tmp_path):
    line = json.dumps(json.loads(record_of_one_match().to_json()) | {field: "HERE"}).replace('"HERE"', text)
    path = tmp_path / "games.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(RecordError, match=rf"games\.jsonl, line 2: .*({message})") as refused:
        replay_points(nth_record(path))
    assert len(str(refused.value)) < 1500
    if fits_schema is not None:
        assert jsonschema.Draft202012Validator(SCHEMA).is_valid(json.loads(line)) == fits_schema


def test_the_schema_knows_what_the_engine_counts():
    fields = SCHEMA["properties"]
    assert fields["actions"]["items"]["maximum"] == len(mahjong_env.ACTIONS) - 1
    assert fields["num_hands"]["maximum"] == MOST_HANDS
    named = re.compile(SCHEMA["$defs"]["action"]["pattern"])
    assert all(map(named.fullmatch, mahjong_env.ACTIONS))
    assert not any(map(named.fullmatch, ("discard 8z", "discard", "added kong 0m", "chow", "kong 1m")))


def test_notes_may_be_of_the_decision_after_the_last_action():
    record = record_of_one_match()
    after = len(record.actions)
    assert GameRecord.from_json(changed(record, notes={str(after): {"value": 1}})).notes == {after: {"value": 1}}
    with pytest.raises(RecordError, match=f"the record has a note for action {after + 1}"):
        GameRecord.from_json(changed(record, notes={str(after + 1): {"value": 1}}))


def test_a_field_that_is_given_twice_is_refused():
    line = record_of_one_match().to_json()
    for field in ("seed", "format"):
        twice = f'{{"{field}":{json.dumps(json.loads(line)[field])},{line[1:]}'
        with pytest.raises(RecordError, match=f"'{field}' is given twice"):
            GameRecord.from_json(twice)


def test_records_made_by_hand_are_played_or_refused():
    record = record_of_one_match()
    for values in ({"hand": 2**31}, {"stream": -(2**70)}, {"num_hands": 10**6}, {"seed": "x"}, {"knobs": {1: 2}}):
        with pytest.raises(RecordError):
            replay_points(replace(record, **values))


def test_a_record_that_no_file_can_hold_is_not_written(tmp_path):
    path, record = tmp_path / "games.jsonl", record_of_one_match()
    with RecordWriter(path) as writer:
        for values in ({"agents": ("\ud800",) * 3}, {"notes": {0: {"why": object()}}}, {"notes": {0: {1: np.int8(1)}}}):
            with pytest.raises(RecordError, match=r"cannot be written as JSON|agents is .*, and should be"):
                writer.write(record, replace(record, **values))
        writer.write(record)
    assert list(read_records(path)) == [record]


@pytest.mark.parametrize(
    "values",
    [
        {"agents": (1, 2, 3)},
        {"seed": -1},
        {"points": (1.5, 2, 3)},
        {"actions": (200,)},
        {"actions": (True,)},
        {"num_hands": 0},
        {"knobs": [1]},
        {"start": "middle"},
        {"is_complete": 2},
    ],
    ids=str,
)
def test_a_record_that_could_not_be_read_again_is_not_written(values, tmp_path):
    with RecordWriter(tmp_path / "games.jsonl") as writer:
        with pytest.raises(RecordError, match=f"the record's {next(iter(values))} is .*, and should be: "):
            writer.write(replace(record_of_one_match(), **values))
        writer.write(replace(record_of_one_match(), agents=tuple(np.array(["a", "b", "c"]))))
    assert len(list(read_records(tmp_path / "games.jsonl"))) == 1


@pytest.mark.parametrize(
    "note",
    [
        {"value": float("nan")},
        {"value": float("inf")},
        {"value": True},
        {"value": "3"},
        {"value": np.float32(3)},
        {"values": {"pass": -np.inf}},
        {"mine": [float("nan")]},
        {"mine": {1: 0, "1": 0}},
        {"mine": "\ud800"},
        {"probabilities": {"dicard 1m": 0.5}},
        {"intervals": {"pass": (0, 1)}},
        7,
    ],
    ids=str,
)
def test_a_note_that_could_not_be_read_again_is_not_written(note, tmp_path):
    path, record = tmp_path / "games.jsonl", record_of_one_match()
    good = {0: {"values": {"pass": np.float64(1)}, "intervals": {"pass": (0, 1, 2)}, "mine": [None]}}
    with RecordWriter(path) as writer:
        writer.write(replace(record, notes=good))
        with pytest.raises(RecordError, match=r"notes is \{'3': |note of action 3 cannot|given twice"):
            writer.write(record, replace(record, notes=good | {3: note}))
        with pytest.raises(RecordError, match=r"the record has a note for action 99999"):
            writer.write(replace(record, notes={99999: {}}))
    assert [len(one.notes) for one in read_records(path)] == [1]


def test_agents_are_one_for_each_person(tmp_path):
    engine, record = mahjong_env.make_engine("hebei", 1, seed=1), record_of_one_match()
    for names in (["a"], ["a"] * 4, [1, 2, 3]):
        with pytest.raises(RecordError, match=f"3 names, one text for each person, not {re.escape(str(names))}"):
            Collector(engine, agents=names)
    for names in (["a"], ["a"] * 4):
        with RecordWriter(tmp_path / "games.jsonl") as writer, pytest.raises(RecordError, match="it has 3 persons"):
            writer.write(replace(record, agents=tuple(names)))
    assert (tmp_path / "games.jsonl").read_bytes() == b""


def test_a_writer_that_is_dropped_lets_go_of_its_file(tmp_path, monkeypatch):
    closed, close = [], os.close
    monkeypatch.setattr(os, "close", lambda file: (closed.append(file), close(file)))
    writer = RecordWriter(tmp_path / "games.jsonl")
    file = writer._file
    del writer
    gc.collect()
    assert closed.count(file) == 1
    with RecordWriter(tmp_path / "games.jsonl") as writer:
        file = writer._file
        closed.clear()
        writer.close()
    writer.close()
    assert closed.count(file) == 1


def test_a_file_may_begin_with_empty_lines(tmp_path):
    path, record = tmp_path / "games.jsonl", record_of_one_match()
    for text in ("\n", f"\n \n{record.to_json()}\n"):
        path.write_text(text, encoding="utf-8")
        with RecordWriter(path) as writer:
            writer.write(record)
        assert list(read_records(path)) == [record] * (1 + text.count('{"format'))
    path.write_text("\nmilk\n", encoding="utf-8")
    with pytest.raises(RecordError, match="is not a file of records"):
        RecordWriter(path)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"variant": "atlantis"}, "the record cannot be played here: there is no variant 'atlantis'"),
        ({"knobs": {"cape": 1}}, "hebei has no knob 'cape'"),
        ({"rules_version": 7}, "the record is of version 7 of hebei; here it has version 0"),
        ({"points": [1, 2, 3]}, r"the match ends with the points .*, but \(1, 2, 3\) are recorded"),
        ({"is_complete": False}, "has ended although it is recorded as unfinished"),
        ({"seed": 5}, "action .* of the record|the match ends with|the match has not ended"),
        ({"deal": {"hands": ["11111m"]}}, "the record's deal cannot be dealt"),
    ],
)
def test_records_that_cannot_be_played_say_why(values, message):
    record = GameRecord.from_json(changed(record_of_one_match(), **values))
    with pytest.raises(RecordError, match=message):
        replay_points(record)


def test_actions_after_the_end_and_too_few_are_found():
    record = record_of_one_match()
    told = json.loads(record.to_json())
    with pytest.raises(RecordError, match="comes after the end of the match"):
        replay_points(GameRecord.from_json(changed(record, actions=[*told["actions"], 0])))
    with pytest.raises(RecordError, match="the match has not ended"):
        replay_points(GameRecord.from_json(changed(record, actions=told["actions"][:-1])))


def test_long_play_forgets_steps_that_nobody_needs(monkeypatch):
    monkeypatch.setattr("mahjong_env.records.recorder._MOST_STEPS_KEPT", 50)
    engine = mahjong_env.make_engine("hangzhou", 4, seed=8, auto_reset=True)
    recorder = Collector(engine)
    play(engine, recorder, 60)
    assert len(recorder._steps) < 600
    assert all(replay_points(record) == record.points for record in recorder.collected)
