"""`View.events`: the hand as all could see it, in order."""

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import make_engine
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.observation.planes import plane
from mahjong_env.state.arrays import CLAIMED, Event, Phase
from support.marks import everyday, variants

EVERY = pytest.mark.parametrize("variant", variants("hebei", "taiwan"))


def rows_of(events):
    """The events of one seat, without what stands behind the last one."""
    return [tuple(event) for event in events.tolist() if event[0]]


def walk(variant, games=17, agent="random", **knobs):
    """Engines in play, step by step; games end where they end."""
    engine, rng, player = make_engine(variant, games, seed=5, **knobs), np.random.default_rng(5), make_agent(agent)
    for _ in range(400):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        yield engine
        if not live.size:
            return
        engine.step(player.act(engine.view(live), rng), games=live)


@EVERY
@pytest.mark.parametrize("games", [5, 17])
def test_the_events_add_up_to_what_lies_on_the_table(variant, games):
    codes = set()
    for engine in walk(variant, games):
        for person in range(engine.num_people):
            view = engine.view(seats=person)
            for row, events in enumerate(view.events):
                seen = rows_of(events)
                codes |= {event[0] for event in seen}
                for slot in range(4):
                    own = [event for event in seen if event[1] == slot]
                    discards = [event[2] for event in own if event[0] == Event.DISCARD]
                    river = view.river[row, slot]
                    assert discards == ((river[river > 0] - 1) % CLAIMED).tolist()
                    flowers = [event[2] for event in own if event[0] == Event.FLOWER]
                    assert np.bincount(flowers, minlength=42).tolist() == view.flowers[row, slot].tolist()
                    melds = [event[2] for event in own if event[0] <= MeldType.CONCEALED_KONG and event[0] != 4]
                    assert melds == view.meld_kind[row, slot, : view.num_melds[row, slot]].tolist()
    assert codes >= {Event.DRAW, Event.DISCARD, Event.PUNG, Event.CHOW}


@EVERY
def test_the_draws_are_the_tiles_that_left_the_wall(variant):
    at_first = None
    for engine in walk(variant):
        view = engine.view(seats=0)
        drawn = (view.events[..., 0] == Event.DRAW).sum(axis=1)
        used = engine.state.front.astype(int) + engine.state.back
        used = np.where((view.phase == 0) & (engine.state.phase == Phase.TURN), -1, used)
        at_first = used if at_first is None else np.where(at_first < 0, used - drawn, at_first)
        known = (used >= 0) & (at_first >= 0)
        np.testing.assert_array_equal((used - drawn)[known], at_first[known])


@EVERY
def test_what_was_seen_stays_as_the_hand_goes_on(variant):
    before = {}
    for engine in walk(variant):
        for person in range(engine.num_people):
            for row, events in enumerate(engine.view(seats=person).events):
                now = rows_of(events)
                known = before.get((person, row), [])
                assert [(*event[:2], 0) for event in now[: len(known)]] == [(*event[:2], 0) for event in known]
                before[person, row] = now


@EVERY
@pytest.mark.parametrize("shows_drawn", [True, False])
def test_a_discard_says_whether_it_had_just_been_drawn_where_that_is_seen(variant, shows_drawn):
    engine = make_engine(variant, 40, seed=3, auto_reset=True, shows_drawn=shows_drawn)
    rng, told = np.random.default_rng(3), []
    for _ in range(60):
        actions = make_agent("random").act(engine.view(), rng)
        discards = np.flatnonzero((engine.state.phase == Phase.TURN) & (actions < CONCEALED_KONG))
        drawn = engine.state.drawn[discards].copy()
        over = engine.step(actions).hand_over[discards]
        events = engine.view(discards, np.zeros(len(discards), np.intp)).events
        for row in np.flatnonzero(~over):
            last = [event for event in rows_of(events[row]) if event[0] == Event.DISCARD][-1]
            just_drawn = int(actions[discards[row]] == drawn[row])
            assert last[2:4] == (actions[discards[row]], just_drawn if shows_drawn else -1)
            told.append(just_drawn)
    assert 0.02 < np.mean(told) < 0.98
    assert (engine.observe()[:, plane("river")] < 0).any() == shows_drawn


@pytest.mark.parametrize("games", [8, 40])
def test_where_it_is_hidden_nothing_shows_it(games):
    """Two batches that differ in that alone look alike to everybody; where it is shown they do not."""
    for shows_drawn in (True, False):
        engine = make_engine("hebei", games, seed=1, shows_drawn=shows_drawn)
        for _ in range(20):
            engine.step(make_agent("random").act(engine.view(), np.random.default_rng(0)))
        twin = engine.select(np.arange(games))
        np.negative(twin.state.river, out=twin.state.river)
        one, other = engine.view(seats=1), twin.view(seats=1)
        same = [np.array_equal(getattr(one, name), getattr(other, name)) for name in (*one.array_names(), "events")]
        assert all(same) is not shows_drawn
        assert np.array_equal(engine.observe(seats=1), twin.observe(seats=1)) is not shows_drawn


@pytest.mark.parametrize("variant", everyday(["wuhan", "taiwan"], ["taiwan"]))
def test_a_kong_that_is_robbed_is_followed_by_the_win(variant):
    engine, rng = make_engine(variant, 1500, seed=2), np.random.default_rng(2)
    robbed = {}
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        mask = engine.action_mask[live]
        actions = make_agent("greedy").act(engine.view(live), rng)
        actions = np.where(mask[:, PUNG], PUNG, actions)
        added = mask[:, ADDED_KONG:CHOW_LOW]
        actions = np.where(added.any(axis=1), ADDED_KONG + added.argmax(axis=1), actions)
        actions = np.where(mask[:, WIN], WIN, actions)
        for game in live[(engine.state.phase[live] == Phase.ROB) & mask[:, WIN]].tolist():
            robbed[game] = int(engine.state.offered[game])
            for seat in range(engine.num_seats):
                assert rows_of(engine.view([game], seat).events[0])[-1][:3:2] == (Event.ADDED_KONG, robbed[game])
        engine.step(actions, games=live)
    assert robbed
    for game, kind in robbed.items():
        kong, win = rows_of(engine.view([game], 0).events[0])[-2:]
        assert kong[:1] + kong[2:3] == (Event.ADDED_KONG, kind)
        assert win[:1] + win[2:] == (Event.WIN_FROM, kind, -1, kong[1])


def test_a_discard_that_joins_a_pung_is_a_kong():
    engine, rng = make_engine("taiwan", 80, seed=2), np.random.default_rng(2)
    joined = 0
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        view, seats = engine.view(live), engine.seat_to_act[live]
        actions = np.where(view.action_mask[:, PUNG], PUNG, make_agent("greedy").act(view, rng))
        actions = np.where(view.action_mask[:, KONG], KONG, actions)
        asked = np.flatnonzero(actions == KONG)
        pungs = (view.meld_type[asked, 0] == MeldType.PUNG) & (view.meld_kind[asked, 0] == view.offered[asked, None])
        engine.step(actions, games=live)
        joins = pungs & (engine.view(live[asked], seats[asked]).meld_type[:, 0] == MeldType.ADDED_KONG)
        for row in asked[joins.any(axis=1)].tolist():
            seat, giver, kind = int(seats[row]), int(view.offered_from[row]), int(view.offered[row])
            for looker in range(4):
                told = rows_of(engine.view([live[row]], looker).events[0])
                slot = (seat - looker) % 4
                kong = (Event.ADDED_KONG, slot, kind, kind, (slot + giver) % 4)
                where = told.index(kong)
                assert told[where - 1][:3] == (Event.DISCARD, (slot + giver) % 4, kind)
                more = {event[:2] for event in told[where + 1 :]} - {(Event.DRAWN_HAND, (0 - looker) % 4)}
                assert more <= {(Event.DRAW, slot), (Event.FLOWER, slot)}
            joined += 1
    assert joined > 3


def test_a_view_that_was_kept_has_the_events_of_its_time():
    engine = make_engine("fuzhou", 6, seed=1)
    for _ in range(12):
        engine.step(make_agent("greedy").act(engine.view(), np.random.default_rng(0)))
    kept, asked = engine.view(), engine.view().events
    engine.step(make_agent("greedy").act(kept, np.random.default_rng(0)))
    assert np.array_equal(kept.events, asked)
    some = kept.take([2, 0]).events
    assert np.array_equal(some, asked[[2, 0], : some.shape[1]])
