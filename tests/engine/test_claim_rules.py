"""The rules of claims against a slow reading of them: one seat, one tile, one answer at a time."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mahjong_env.basics.actions import ACTIONS, CHOW_LOW, PASS
from mahjong_env.engine.claim_rules import (
    MAY_WIN,
    OPTION_ACTIONS,
    precedence,
    precedence_of_answer,
    seats_not_yet_asked,
    seats_to_ask_first,
    sets_wanted,
)

RANK = {"win": 3, "kong": 2, "pung": 2, "chow high": 1, "chow middle": 1, "chow low": 1, "pass": 0}


def named(options):
    """The claims that option bits stand for."""
    return {ACTIONS[action] for bit, action in enumerate(OPTION_ACTIONS) if int(options) >> bit & 1}


def best(claims):
    return max((RANK[claim] for claim in claims), default=0)


# --- Who may claim --------------------------------------------------------------------------------------------------


def slow_sets(place, held, beside, may_add):
    two_below, below, above, two_above = beside
    claims = set()
    if place == 0:
        claims |= {"chow low"} if above and two_above else set()
        claims |= {"chow middle"} if below and above else set()
        claims |= {"chow high"} if two_below and below else set()
    if held >= 2:
        claims.add("pung")
    if held >= 3 or may_add:
        claims.add("kong")
    return claims


def test_every_way_to_hold_tiles():
    cases = list(product(range(5), range(5), range(2), product((False, True), repeat=4)))
    held = np.array([[next_held, other, 0] for next_held, other, _, _ in cases], np.int8).T
    beside = np.array([around for *_, around in cases]).T
    may_add = np.array([[False, adds > 0, adds > 0] for _, _, adds, _ in cases]).T
    with_adding, without = sets_wanted(held, beside, may_add), sets_wanted(held, beside)
    no_chows = sets_wanted(held, None)
    for column, (*_, around) in enumerate(cases):
        for place in range(3):
            wanted = slow_sets(place, held[place, column], around, may_add[place, column])
            assert named(with_adding[place, column]) == wanted
            wanted = slow_sets(place, held[place, column], around, may_add=False)
            assert named(without[place, column]) == wanted
            assert named(no_chows[place, column]) == {claim for claim in wanted if "chow" not in claim}


# --- Who is heard first ---------------------------------------------------------------------------------------------


def test_precedence_is_rank_then_nearness():
    claims = [(rank, place) for rank in range(4) for place in range(4)]
    numbers = precedence(*(np.array(column, np.int8) for column in zip(*claims, strict=True)))
    for (rank, place), number in zip(claims, numbers, strict=True):
        assert (number == 0) == (rank == 0)
        for (other_rank, other_place), other in zip(claims, numbers, strict=True):
            if rank and other_rank:
                assert (number > other) == ((rank, -place) > (other_rank, -other_place))


def slow_claims(options, answers):
    """Ask for one tile: the places asked in their order, and the place and claim that is granted (None for nobody)."""
    unasked = {place: claims for place, claims in enumerate(options) if claims}
    asked, granted = [], None
    while unasked:
        place = min(unasked, key=lambda place: (-best(unasked[place]), place))
        could_be_heard = (best(unasked.pop(place)), -place)
        if granted is not None and could_be_heard <= (RANK[granted[1]], -granted[0]):
            break
        asked.append(place)
        answer = answers[place]
        if answer != "pass" and (granted is None or (RANK[answer], -place) > (RANK[granted[1]], -granted[0])):
            granted = place, answer
    return asked, granted


def fast_claims(options, answers):
    """The same for n tiles at once, with the functions of the module; options [m, n], answers [m, n] actions."""
    options, (seats, tiles) = options.copy(), options.shape
    column = np.arange(tiles)
    best_so_far, claims = np.zeros(tiles, np.int8), np.full((tiles, 2), -1)
    asked = [[] for _ in column]
    for _ in range(seats):
        row, could_be_heard = seats_to_ask_first(options)
        asks = could_be_heard > best_so_far
        for tile in np.flatnonzero(asks):
            asked[tile].append(int(row[tile]))
        answer = answers[row, column]
        heard = np.where(asks, precedence_of_answer(answer, row), 0)
        improves = heard > best_so_far
        best_so_far = np.where(improves, heard, best_so_far)
        claims[improves] = np.stack([row, answer], axis=1)[improves]
        options[row, column] = np.where(asks, 0, options[row, column])
    return asked, claims


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_who_is_asked_and_who_gets_the_tile(seats):
    rng = np.random.default_rng(seats)
    options = rng.integers(0, 64, (seats, 6000)).astype(np.int8) * (rng.random((seats, 6000)) < 0.7)
    options[1:] &= ~np.int8(7)  # chows are the next player's
    answers = np.full(options.shape, PASS)
    for place, tile in np.argwhere((options > 0) & (rng.random(options.shape) < 0.8)):
        answers[place, tile] = rng.choice(
            [action for action in OPTION_ACTIONS if ACTIONS[action] in named(options[place, tile])]
        )
    asked, claims = fast_claims(options, answers)
    several = 0
    for tile in range(options.shape[1]):
        wanted, granted = slow_claims(
            [named(bits) for bits in options[:, tile]], [ACTIONS[action] for action in answers[:, tile]]
        )
        assert asked[tile] == wanted
        place, action = claims[tile].tolist()
        assert granted == (None if place < 0 else (place, ACTIONS[action]))
        several += len(wanted) > 1
    assert several > 1000


def test_each_seat_is_asked_once_and_a_low_answer_is_outranked():
    """The next player takes the chow although he could win; the seat across may still pung, and is heard."""
    options = np.array([[MAY_WIN | 1], [8], [0]], np.int8)
    pung = ACTIONS.index("pung")
    asked, claims = fast_claims(options, np.array([[CHOW_LOW], [pung], [PASS]]))
    assert asked == [[0, 1]]
    assert claims.tolist() == [[1, pung]]


# --- What others cannot know ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_seats_before_the_one_that_is_asked_have_passed(seats):
    rng = np.random.default_rng(seats)
    options = rng.integers(0, 64, (seats, 3000)).astype(np.int8)
    asked_place = rng.integers(0, seats, 3000)
    options[asked_place, np.arange(3000)] |= 8
    left = seats_not_yet_asked(options, np.arange(seats)[:, None] == asked_place)
    for tile in range(3000):
        asked = asked_place[tile]
        heard = [(best(named(bits)), -place) for place, bits in enumerate(options[:, tile])]
        for place in range(seats):
            expected = 0 if heard[place] > heard[asked] else options[place, tile]
            assert left[place, tile] == expected
