"""Seats say whose tiles are meant. What the verbs of the state move together, the kit checks (`check_bookkeeping`)."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import make_engine
from mahjong_env.state.seats import Seats


@pytest.fixture(params=["hebei", "wuhan"])
def state(request):
    return make_engine(request.param, 6, seed=3).state


GAMES = np.array([4, 0, 5])


class TestSeats:
    def test_gather_what_an_index_of_two_axes_gathers(self, state):
        seats = state.seats(GAMES, np.array([2, 0, 1], np.int8))
        assert np.array_equal(seats.index, GAMES * state.num_seats + [2, 0, 1])
        for name in ("hand", "meld_type", "is_tenpai", "turns", "marks", "public"):
            array = getattr(state, name)
            assert np.array_equal(seats.of(array), array[GAMES, [2, 0, 1]])
        assert np.array_equal(state.hands(seats), state.hand[GAMES, [2, 0, 1]])

    def test_what_is_gathered_is_a_copy(self, state):
        seats = state.seats(GAMES, 1)
        before = state.hand.copy()
        seats.of(state.hand)[...] = 9
        state.hands(seats)[...] = 9
        state.codes(seats)[...] = 9
        assert np.array_equal(state.hand, before)

    @pytest.mark.parametrize("which", [[2, 0], [True, False, True]])
    def test_some_of_them(self, state, which):
        seats = state.seats(GAMES, np.array([2, 0, 1]))
        some = seats.take(np.array(which))
        assert np.array_equal(some.game, GAMES[which])
        assert np.array_equal(some.index, seats.index[which])
        assert len(some) == 2

    def test_seats_after_another_in_their_order(self, state):
        number = state.num_seats
        after = state.seats_after(GAMES, np.array([2, 0, 1]), number)
        assert after.seat.T.tolist() == [
            [(first + step) % number for step in range(1, number + 1)] for first in (2, 0, 1)
        ]
        assert np.array_equal(after.row(0).index, state.next_seats(state.seats(GAMES, np.array([2, 0, 1]))).index)
        row = np.array([1, 0, 2])
        assert np.array_equal(after.choose(row).index, after.index[row, np.arange(3)])
        place = np.array([4, 4, 0])  # row by row: the second seat after of the second game, twice
        assert np.array_equal(after.pick(place).game, GAMES[[1, 1, 0]])
        assert np.array_equal(after.pick(place).index, after.index.reshape(-1)[place])
        assert np.array_equal(after.take(np.array([1])).index, after.index[:, [1]])

    def test_joined_in_order_and_without_empty_parts(self, state):
        one, other = state.seats(GAMES[:2], 1), state.seats(GAMES[2:], 2)
        nobody = one.take(np.zeros(2, np.bool_))
        joined = Seats.join([None, one, nobody, other])
        assert joined.game.tolist() == GAMES.tolist()
        assert joined.seat.tolist() == [1, 1, 2]
        assert Seats.join([None, nobody]) is None
        assert Seats.join([None, one]) is one
