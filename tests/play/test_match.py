"""A person at the table: nothing hidden is told, matches are recorded and played on; hints look ahead."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import ACTIONS, Deal, RecordError, action
from mahjong_env.drawing.table import HIDDEN, seen_table
from mahjong_env.engine.outcome import hand_info
from mahjong_env.observation.acceptance import look_ahead
from mahjong_env.play.hints import advice, prospects, win_now
from mahjong_env.play.match import PersonsMatch, PlayError, StaleError
from mahjong_env.records import replay_points
from mahjong_env.viewer.story import frames_of
from support.marks import variants
from support.playing import Throws, match_of, paid_late


def play(match, rng, choose=None):
    """Answer to the end, and yield every state on the way."""
    while True:
        yield match.state()
        if match.waits_for == "over":
            return
        if match.waits_for == "next":
            match.next_hand(match.position)
        else:
            match.answer(match.position, (choose or rng.choice)(match.legal()))


def hinted(match):
    return lambda legal: match.hint(match.position)["advice"]


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_what_is_sent_depends_on_what_the_person_sees_alone(variant):
    """Everything hidden is dealt anew at every question: the table that is sent would have been the same."""
    rng = np.random.default_rng(1)
    match = match_of(variant, seed=4)
    questions = 0
    for state in play(match, rng):
        for frame in state["frames"]:
            own, *others = [place for place in frame["table"]["places"] if place is not None]
            assert own["person"] == match.person
            if frame["event"]["type"] != "end":
                assert all(set(place["hand"]) == {HIDDEN} and place["drawn"] is None for place in others)
                assert frame["event"]["type"] != "pass"
        json.dumps(state)
        if state["waitsFor"] == "answer":
            questions += 1
            other = match.engine.select([0])
            other.resample_hidden(match.person, rng)
            last = state["frames"][-1]
            assert last["event"]["type"] == "asked"
            assert json.loads(json.dumps(last["table"])) == json.loads(
                json.dumps(asdict(seen_table(other.view(seats=match.person))))
            )
    assert questions > 5


def test_concealed_kongs_of_others_stay_hidden():
    class Kongs:
        def act(self, view, rng):
            kongs = view.action_mask[:, 34:68]
            return np.where(kongs.any(axis=1), 34 + kongs.argmax(axis=1), view.action_mask.argmax(axis=1))

    deal = Deal(hands=("147m 258p 369s 1234z 5m", "7777z 66z 258m 258s 9p", "1m"), draws="9s 8m 8m", dealer=0)
    match = match_of("hebei", agent=Kongs(), deal=deal)
    match.answer(match.position, "discard 1m")
    events = {frame["event"]["type"]: frame["event"] for frame in match.state()["frames"]}
    assert events["concealed kong"] == {"type": "concealed kong", "person": 1, "tile": -1}


@pytest.mark.parametrize(
    ("variant", "person"), [("fuzhou", 0), ("hangzhou", 3), ("hebei", 2), ("taiwan", 1), ("wuhan", 0)]
)
def test_points_and_frames_lead_to_the_record(variant, person):
    kept = []
    match = match_of(variant, person=person, num_hands=2, seed=9, write=kept.append)
    states = list(play(match, np.random.default_rng(2), hinted(match)))
    paid = np.zeros(match.rules.people, int)
    seen = [frame for state in states for frame in state["frames"]]
    for frame in {id(frame): frame for frame in seen}.values():
        paid += frame.get("paid", 0)
    start = np.array(match.points_by_hand[0])
    assert (start + paid == match.points_by_hand[-1]).all()
    assert kept == [match.record]
    assert replay_points(match.record) == tuple(match.points_by_hand[-1])
    assert match.record.agents[person] == "you"
    assert [state["legal"] for state in states if state["waitsFor"] == "next"] == [[]]  # after the first hand
    ends = [frame["event"] for state in states for frame in state["frames"] if frame["event"]["type"] == "end"]
    assert all(sum(event["payments"]) == 0 for event in ends)
    for event in ends:
        for amount, (word, _) in zip(event["payments"], event["reasons"], strict=True):
            assert bool(amount) == bool(word)


def test_a_match_whose_record_cannot_be_written_is_over_all_the_same():
    def write(record):
        raise RecordError("the disk is full")

    match = match_of("hebei", seed=9, write=write)
    with pytest.raises(PlayError, match="the disk is full") as unwritten:
        list(play(match, np.random.default_rng(2), hinted(match)))
    state = match.state()
    assert (unwritten.value.code, state["waitsFor"], state["afterwards"]["match"]) == ("unwritten", "over", None)
    assert state["frames"][-1]["event"]["type"] == "end"
    assert replay_points(match.played()) == tuple(match.points_by_hand[-1])
    match.leave()  # which has nothing left to write


def test_a_kong_that_may_be_robbed_is_paid_when_it_stands():
    match = paid_late()
    wanted = ("discard 5s", "discard 6z", "pass")
    states = list(play(match, None, lambda legal: next(one for one in wanted if one in legal)))
    seen = {id(frame): frame for state in states for frame in state["frames"]}.values()
    told = [(frame["event"]["type"], frame["points"], frame.get("paid")) for frame in seen][-4:]
    assert told == [
        ("added kong", [50, 50, 50], None),
        ("asked", [50, 50, 50], None),
        ("kong paid", [49, 52, 49], [-1, 2, -1]),
        ("end", [45, 60, 45], [-4, 8, -4]),
    ]
    plates = [[place["points"] for place in frame["table"]["places"] if place] for frame in seen]
    assert plates == [frame["points"] for frame in seen]
    # For the third person, too, whose match begins when that one has passed and the first one is asked.
    played = match.record.actions.index(action("added kong 5s")) + 2
    other = PersonsMatch(match.rules, [Throws(), Throws(), None], seed=1, begun=(match.record, played))
    assert [frame["points"] for frame in other.frames[:2]] == [[50, 50, 50], [49, 52, 49]]


def test_the_last_discard_of_a_drawn_hand_is_shown():
    match = match_of("wuhan", seed=1, agent=Throws())
    list(play(match, None, lambda legal: "pass" if "pass" in legal else legal[0]))
    discards = sum(ACTIONS[number].startswith("discard ") for number in match.record.actions)
    for end in (match.frames[-1], list(frames_of(match.record))[-1]):
        places = end["table"]["places"]
        assert end["event"]["winner"] < 0
        assert end["event"]["last"]["type"] == "discard"
        assert sum(len(place["river"]) for place in places) == discards
        assert [(len(place["hand"]), place["drawn"]) for place in places] == [(13, None)] * 4


def test_an_agent_that_fails_leaves_no_question_to_answer_for_it():
    class Fails:
        def act(self, view, rng):
            raise ZeroDivisionError

    match = match_of("hebei", seed=2)
    match.agents = [None, Fails(), Fails()]
    with pytest.raises(ZeroDivisionError):
        for _ in play(match, np.random.default_rng(0)):
            pass
    if match.waits_for == "answer":
        assert match.state()["legal"] == []
        with pytest.raises(StaleError, match="not your turn"):
            match.answer(match.position, "pass")


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_a_match_is_played_on_from_anywhere(variant):
    rules, rng = mahjong_env.rules(variant), np.random.default_rng(2)
    match = PersonsMatch(rules, [Throws(), None, *[Throws()] * (rules.people - 2)], seed=5, num_hands=2)
    with pytest.raises(StaleError, match="when the match is over"):
        match.play_on(0)

    def choose(legal):
        return "pass" if "pass" in legal else legal[0]

    list(play(match, rng, choose))
    last = len(match.record.actions) - 1
    for played in (0, last // 3, last // 2):
        on = match.play_on(played)
        assert on.frames[0]["event"]["type"] == "resumed"
        list(play(on, rng, choose))
        assert on.record == match.record  # the same cards, and what was played before is a part of it
        assert on.points_by_hand == match.points_by_hand
    assert match.play_on(last).position == 0
    for played in (-1, last + 1):
        with pytest.raises(RecordError, match=f"fewer than its {last + 1} actions, not after {played}"):
            match.play_on(played)


def test_a_match_that_is_over_by_then_is_not_played_on():
    match = match_of("hebei")
    list(play(match, np.random.default_rng(2), lambda legal: legal[0]))
    over = replace(match.record, is_complete=False)
    with pytest.raises(RecordError, match="the match is over by then"):
        PersonsMatch(match.rules, [Throws(), None, Throws()], seed=5, begun=(over, len(over.actions)))


def test_a_scene_is_played_on_with_its_own_tiles():
    match = match_of("hebei", deal=Deal(hands=("123456789m 11p 55s 5s", "", ""), dealer=0))
    before = match.legal()
    match.answer(0, "discard 5s")
    match.leave()
    assert match.play_on(0).legal() == before
    assert "win" in before


# --- Hints, against the agents' own lookahead and what the engine pays ------------------------------------------------


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_prospects_are_those_of_the_lookahead(variant):
    engine, rng, agent = mahjong_env.make_engine(variant, 1, seed=11), np.random.default_rng(11), make_agent("greedy")
    compared = 0
    while engine.seat_to_act[0] >= 0 and compared < 40:
        view = engine.view()
        ahead = look_ahead(view)
        for one in prospects(view):
            number = action(one.action)
            assert one.distance == ahead.distance[0, number], one
            # Those of the least distance: a claim counts what helps with its best discard only, and no more.
            if one.distance == ahead.distance[0].min():
                known = int(ahead.help[0, number])
                assert one.tiles <= known if one.then else one.tiles == known, one
            compared += 1
        engine.step(agent.act(view, rng))
    assert compared >= 40


def test_the_best_prospect_comes_first():
    engine = mahjong_env.make_engine("hebei", 1, seed=1)
    engine.reset(deals=Deal(hands=("123456m 123p 55s 78s 1z",), dealer=0))
    first, *others = prospects(engine.view())
    assert (first.action, first.distance) == ("discard 1z", 1)
    assert {kind for kind, _ in first.helps} == {mahjong_env.action("discard 6s"), mahjong_env.action("discard 9s")}
    assert all(other.distance >= 1 for other in others)


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_a_win_is_worth_what_it_pays(variant):
    wins = 0
    for seed in range(4):
        engine, rng = mahjong_env.make_engine(variant, 1, seed=seed), np.random.default_rng(seed)
        agent = make_agent("greedy")
        while engine.seat_to_act[0] >= 0:
            told = win_now(engine)
            choice = int(agent.act(engine.view(), rng)[0])
            assert (told is not None) == (choice == action("win"))
            result = engine.step([choice])
            if told is not None:
                wins += 1
                really = hand_info(result.outcome, 0)
                assert {name: told[name] for name in ("winner", "value", "rows", "payments")} == {
                    name: really[name] for name in ("winner", "value", "rows", "payments")
                }
    assert wins


def test_asking_changes_nothing():
    engine = mahjong_env.make_engine("wuhan", 1, seed=2)
    before = engine.snapshot().to_bytes()
    name, said = advice(make_agent("greedy"), engine)
    assert name == "greedy"
    assert engine.action_mask[0, ACTIONS.index(said)]
    prospects(engine.view())
    assert engine.snapshot().to_bytes() == before
