"""Observations: each number, read off the state by a second, slow reading; what is asked; how pieces are declared."""

from __future__ import annotations

import numpy as np
import pytest

import mahjong_env
from mahjong_env import OBSERVATION_FACTS, OBSERVATION_PIECES, VARIANTS, Deal, RulesError, View, action, make_engine
from mahjong_env.observation.declaration import Layout, lay_out_facts
from mahjong_env.observation.planes import FACT_PLACES, plane
from mahjong_env.ruleset.questions import Circumstance
from mahjong_env.state.arrays import Phase
from mahjong_env.variants.hebei import Hebei
from support.positions import positions as mid_games

ALL = sorted(VARIANTS)
PRIVATE_WALLS = {"private_walls": True, "flower_tiles": False}
SLOTS = {3: (0, 1, 3), 4: (0, 1, 2, 3)}
CLAIMED, RIVER_PLACES = 34, 42


def positions(variant, *, games=40, steps=60, num_hands=3, **options):
    return mid_games(variant, games=games, steps=steps, num_hands=num_hands, **options)


# --- A second reading ---------------------------------------------------------------------------------------------


class Reading:
    """What the seat to act sees in one game, written from the tables of docs/reference, number by number."""

    def __init__(self, engine, game):
        self.engine, self.state, self.rules, self.game = engine, engine.state, engine.rules, game
        self.seat, self.seats = int(engine.state.actor[game]), engine.num_seats
        self.at = {self.slot_of(seat): seat for seat in range(self.seats)}

    def of(self, name, *index):
        return getattr(self.state, name)[(self.game, *index)]

    def slot_of(self, seat, of=None):
        return SLOTS[self.seats][(seat - (self.seat if of is None else of)) % self.seats] if seat >= 0 else -1

    def steps(self, person):
        return (person - self.of("person_at", self.seat)) % self.rules.people + 1

    def sits_out(self):
        return next(p for p in range(self.rules.people) if p not in self.of("person_at"))

    def pieces(self):
        """[34] or [planes * 34] numbers of each piece; at the end of a piece zeros may be left out."""
        one = lambda kind: [int(place == kind) for place in range(34)]  # noqa: E731
        types, kinds = self.of("meld_type", self.seat), self.of("meld_kind", self.seat)
        hidden = {int(k) for t, k in zip(types, kinds, strict=True) if t == 5 and self.rules.hides_concealed_kongs}
        robs_gold = self.of("phase") == Phase.OPENING and self.rules.name == "fuzhou" and self.of("stage") == 1
        slots = [self.at.get(slot) for slot in range(4)]
        nothing, points = [0] * 34, [0] * 34
        for slot, seat in self.at.items():
            points[slot:20:4] = digits(self.of("points", self.of("person_at", seat)))
        if self.rules.people > self.seats:
            points[20:25] = digits(self.of("points", self.sits_out()))
        rivers = [[0] * RIVER_PLACES if seat is None else self.of("river", seat).tolist() for seat in slots]
        return {
            "hand": self.of("hand", self.seat).tolist(),
            "drawn": one(self.of("drawn") if self.of("turn") == self.seat else -1),
            "offered": one(self.of("wild") if robs_gold else self.of("offered")),
            "wild": one(self.of("wild")),
            "indicator": one(self.of("indicator")),
            "hidden_kongs": [4 * (place in hidden) for place in range(34)],
            "table": [n for seat in slots for n in self.table(seat)],
            "river": [number for river in rivers for number in river],
            "flowers": [n for seat in slots for n in (nothing if seat is None else self.flowers(seat))],
            "melds": [n for seat in slots for n in (nothing if seat is None else self.melds(seat))],
            "facts": [max(min(int(value), 127), -127) for fact in OBSERVATION_FACTS for value in self.values(fact)],
            "points": points,
            "legal_actions": self.of("mask").astype(int).tolist(),
        }

    def table(self, seat):
        return [0] * 102 if seat is None else self.of("public", seat)[:3].ravel().tolist()

    def flowers(self, seat):
        exposed = self.of("flowers", seat).tolist()
        return [*exposed[34:], *[0] * 19, *exposed[27:34]]

    def melds(self, owner):
        row = [0] * 34
        for place in range(5):
            meld_type, kind = int(self.of("meld_type", owner, place)), self.of("meld_kind", owner, place)
            giver, claimed = self.of("meld_from", owner, place), int(self.of("meld_claimed", owner, place))
            if meld_type:
                is_hidden = meld_type == 5 and self.rules.hides_concealed_kongs
                row[6 * place : 6 * place + 2] = [meld_type, 0 if is_hidden else int(kind) + 1]
            if meld_type and giver >= 0:
                number = self.number(owner, place, giver, claimed)
                row[6 * place + 2 : 6 * place + 5] = [self.slot_of(giver, owner), claimed + 1, number]
        return row

    def number(self, owner, place, giver, claimed):
        """The claimed discard in its owner's river: the one of those that fit with the right number among its likes."""
        codes, claimers = np.abs(self.of("river", giver)), self.of("river_claimed", giver)
        slot = self.slot_of(owner, giver)
        fitting = [n for n in range(RIVER_PLACES) if codes[n] == claimed + 1 + CLAIMED and claimers[n] == slot]
        earlier = [
            other
            for other in range(place)
            if self.of("meld_from", owner, other) == giver and self.of("meld_claimed", owner, other) == claimed
        ]
        return fitting[len(earlier)] + 1

    def values(self, fact):
        if fact.by_slot:
            return [self.of_seat(fact.name, self.at[slot]) if slot in self.at else 0 for slot in range(4)]
        after = (self.of("offered_by") + 1) % self.seats
        to_come = self.engine.num_hands - 1 - self.of("hand_in_match")
        told = {
            "left": lambda: len(self.state.wall[0]) - self.of("front") - self.of("back") - self.of("reserve"),
            "num_discards": lambda: (self.of("river") != 0).sum(),
            "round_wind": lambda: self.of("round_wind") + 1,
            "deals_passed_on": lambda: self.of("turnover") % self.seats,
            "offered_from": lambda: self.slot_of(self.of("offered_by")) + 1 if self.of("offered") >= 0 else 0,
            "turn": lambda: self.slot_of(after if self.of("phase") == Phase.CLAIM else self.of("turn")) + 1,
            "opening": lambda: (self.of("stage") + 1) * (self.of("phase") == Phase.OPENING),
            "hands_to_come": lambda: to_come if self.rules.ends_by_hands else 0,
            "sitting_out": lambda: self.steps(self.sits_out()) if self.rules.people > self.seats else 0,
        }
        return [told.get(fact.name, lambda: self.of(fact.name))()]

    def of_seat(self, name, seat):
        if name.startswith("mark_"):
            number = int(name.removeprefix("mark_"))
            if number == len(self.rules.marks) and self.rules.has_private_walls:
                kongs = sum(int(self.of("meld_type", seat, place)) > 2 for place in range(5))
                return 34 - 13 - self.of("turns", seat) - kongs
            return self.of("marks", seat, number) if number < len(self.rules.marks) else 0
        return {
            "is_dealer": lambda: self.of("dealer") == seat,
            "house_wind": lambda: self.of("house_wind", seat) + 1,
            "person": lambda: self.steps(self.of("person_at", seat)) if self.rules.people_move else 0,
        }[name]()


def digits(points):
    sign, rest, found = (1 if points >= 0 else -1), abs(int(points)), []
    for _ in range(5):
        rest, digit = divmod(rest, 100)
        found.append(sign * digit)
    return found


@pytest.mark.parametrize(
    ("variant", "knobs"),
    [
        *((variant, {}) for variant in ALL),
        ("hebei", {"rotation": True}),
        ("hebei", {"players": 4}),
        ("mcr", {"change_seats": True, "start": "random", "steps": 300}),
        ("mcr", PRIVATE_WALLS | {"steps": 90}),
    ],
)
def test_every_number_is_what_the_table_says(variant, knobs):
    engine = positions(variant, **knobs)
    if engine.rules.people == engine.num_seats:
        assert (engine.state.person_at != np.arange(engine.num_seats)).any() == engine.rules.people_move
    engine.state.points[::3] *= 7919  # so large that all digits matter
    seen = engine.observe()
    phases = set()
    for game in range(engine.num_games):
        phases.add(int(engine.state.phase[game]))
        read = Reading(engine, game).pieces()
        assert set(read) == {piece.name for piece in OBSERVATION_PIECES}
        for name, numbers in read.items():
            found = seen[game, plane(name)].ravel()
            if name == "offered":  # a tile that would be given up is looked at below
                found = np.maximum(found, 0)
            assert found[: len(numbers)].tolist() == numbers, f"game {game}, {name}"
            assert not found[len(numbers) :].any(), f"game {game}, {name}"
    assert {Phase.TURN, Phase.CLAIM} <= phases


# --- What is seen, and what is not --------------------------------------------------------------------------------


def hot_window():
    """Seat 2 is asked about a discard of seat 0; the twin's seat 2 holds nothing that fits, so that nobody is asked."""
    hands = ["123m 456p 789s 1122z 5z", "147m 258p 369s 1234z", "55z 147m 258p 369s 67z"]
    cold = ["123m 456p 789s 1122z 5z", "147m 258p 369s 1234z", "566z 147m 258p 369s 7z"]
    engines = []
    for dealt in (hands, cold):
        engine = make_engine("hebei", 1, seed=3)
        engine.reset(deals=Deal(hands=dealt, draws="5z 9p 8p", dealer=0))
        engine.step([action("discard 5z")])
        engines.append(engine)
    return engines


def test_whoever_is_not_asked_sees_no_question():
    asked, unasked = hot_window()
    assert asked.state.phase[0] == Phase.CLAIM
    assert unasked.state.phase[0] == Phase.TURN
    assert asked.view(seats=0).observation.tolist() == unasked.view(seats=0).observation.tolist()
    view = asked.view(seats=0)
    assert (view.phase[0], view.offered[0], view.turn[0]) == (0, -1, 1)
    before = asked.view(seats=0)
    asked.step([action("pass")])
    assert asked.state.phase[0] == Phase.TURN
    for name in View.array_names():
        np.testing.assert_array_equal(getattr(before, name), getattr(asked.view(seats=0), name), err_msg=name)


def test_a_draw_of_others_is_seen_with_their_next_action():
    engine = make_engine("hebei", 1, seed=3)
    left = engine.view().left[0]
    engine.step([int(engine.action_mask[0].argmax())])
    while engine.state.phase[0] != Phase.TURN:
        engine.step([action("pass")])
    actor = int(engine.seat_to_act[0])
    assert engine.view().left[0] == left - 1
    assert engine.view(seats=(actor + 1) % 3).left[0] == left
    engine.step([int(engine.action_mask[0].argmax())])
    assert engine.view(seats=(actor + 1) % 3).left[0] <= left - 1


def test_a_private_wall_is_seen_to_shrink_with_the_next_action():
    engine = make_engine("mcr", 1, seed=3, **PRIVATE_WALLS)
    engine.reset(seed=3, deals=Deal(dealer=0))
    assert engine.view().walls.tolist() == [[20, 21, 21, 21]]
    engine.step([int(engine.action_mask[0].argmax())])
    while engine.state.phase[0] != Phase.TURN:
        engine.step([action("pass")])
    assert engine.seat_to_act[0] == 1
    assert engine.view().walls.tolist() == [[20, 21, 21, 20]]
    assert engine.view(seats=0).walls.tolist() == [[20, 21, 21, 21]]
    shown = engine.observe()[0, plane("facts")].reshape(-1)[FACT_PLACES["mark_0"]]
    assert shown.tolist() == [20, 21, 21, 20]


def test_one_wall_is_the_wall_of_all():
    view = positions("hebei", games=8).view()
    assert (view.walls[:, [0, 1, 3]] == view.left[:, None]).all()
    assert not view.walls[:, 2].any()
    view = make_engine("mcr", 1, seed=3).view()
    assert view.walls.tolist() == [view.left.tolist() * 4]


def test_fuzhou_tells_heaven_from_the_swap():
    engine = make_engine("fuzhou", 3000, seed=1)
    view = engine.view()
    dealer = view.dealer == 0
    swaps = np.flatnonzero((view.opening == 2) & dealer)
    robs = np.flatnonzero((view.opening == 2) & ~dealer)
    assert swaps.size
    assert robs.size
    assert (view.offered[robs] == view.wild[robs]).all()
    assert (view.given_up[robs] == -1).all()
    for row in swaps:
        given = int(view.given_up[row])
        assert view.hand[row, given] > 0
        assert view.offered[row] == view.wild[row]
        numbers = view.observation[row, plane("offered")][0]
        assert numbers[view.wild[row]] == (1 if given != view.wild[row] else -1)
        assert numbers[given] == -1
        seat = int(engine.seat_to_act[row])
        engine.step([action("win")], games=[row])
        assert engine.state.indicator[row] == given or engine.seat_to_act[row] != seat


def test_who_sits_out_is_seen_with_his_points():
    engine = positions("hebei", games=30, num_hands=8, rotation=True, steps=400)
    assert (engine.state.person_at != [0, 1, 2]).any()
    for person in range(4):
        view = engine.view(seats=person)
        out = np.array([set(range(4)).difference(row).pop() for row in engine.state.person_at.tolist()])
        assert view.sitting_out.tolist() == out.tolist()
        assert view.points_sitting_out.tolist() == engine.points[np.arange(30), out].tolist()
        assert (view.own_person == person).all()
        places = view.observation[:, plane("facts")].reshape(30, -1)
        assert places[:, FACT_PLACES["sitting_out"]].ravel().tolist() == ((out - person) % 4 + 1).tolist()


def test_views_have_an_array_for_every_fact():
    assert {fact.name for fact in OBSERVATION_FACTS} - {"is_dealer"} - {f"mark_{number}" for number in range(4)} <= set(
        View.array_names()
    )


# --- How pieces are declared --------------------------------------------------------------------------------------


def test_two_pieces_and_two_facts_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two pieces of the observation are called 'hand'"):
        Layout([*OBSERVATION_PIECES, OBSERVATION_PIECES[0]])
    with pytest.raises(ValueError, match="two facts of the observation are called 'phase'"):
        lay_out_facts([*OBSERVATION_FACTS, OBSERVATION_FACTS[0]], "")


def test_there_is_no_fifth_mark():
    with pytest.raises(RulesError, match=r"FiveMarks counts 5 marks .* places for 4"):

        class FiveMarks(Hebei):
            """One mark more than observations can show."""

            circumstances = tuple(Circumstance(name, "counted") for name in "abcde")


def test_an_unknown_piece_is_an_error_that_lists_the_known():
    with pytest.raises(KeyError, match="no piece of the observation is called 'hands'; valid are hand, drawn"):
        plane("hands")
    assert mahjong_env.OBSERVATION_VERSION == 2
