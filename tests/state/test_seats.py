"""Seats say whose tiles are meant; the verbs of the state move tiles, codes and what all see together."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import make_engine
from mahjong_env.basics.notation import MeldType
from mahjong_env.hands.codes import encode
from mahjong_env.state.arrays import CLAIMED, DISCARDED, LATEST, MELDED, State
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


def codes_follow(state: State) -> bool:
    natural = state.natural_hands(np.arange(len(state.hand)))
    return np.array_equal(state.code, encode(natural))


class TestVerbs:
    def test_tiles_enter_and_leave_hands_with_their_codes(self, state):
        seats = state.seats(GAMES, np.array([0, 1, 2]))
        kind = state.hands(seats).argmax(axis=1)
        before = state.held(seats, kind)
        state.remove_tiles(seats, kind)
        assert np.array_equal(state.held(seats, kind), before - 1)
        assert codes_follow(state)
        with_it = state.codes_with(seats, kind)
        state.add_tile(seats, kind)
        assert np.array_equal(state.held(seats, kind), before)
        assert np.array_equal(state.codes(seats), with_it)
        assert codes_follow(state)

    def test_a_discard_and_its_claim(self, state):
        givers = state.seats(GAMES, np.array([0, 1, 2]))
        kind = state.hands(givers).argmax(axis=1)
        state.discard(givers, kind)
        state.discard(givers, state.hands(givers).argmax(axis=1))
        assert (givers.of(state.river_size) == 2).all()
        assert (givers.of(state.public)[np.arange(3), LATEST].max(axis=1) == 2).all()
        assert (givers.of(state.river)[:, 0] == kind + 1).all()
        claimed = givers.of(state.river)[:, 1] - np.int8(1)
        lying = givers.of(state.public)[:, DISCARDED].sum(axis=1)
        state.take_discard(givers, claimed, np.array([1, 2, 0], np.int8))
        assert (givers.of(state.public)[:, DISCARDED].sum(axis=1) == lying - 1).all()
        assert (givers.of(state.river)[:, 1] == claimed + 1 + CLAIMED).all()
        assert (givers.of(state.river_claimed)[np.arange(3), 1] > 0).all()
        assert not state.undisturbed[GAMES].any()
        assert codes_follow(state)

    @pytest.mark.parametrize(
        ("meld_type", "tiles"), [(MeldType.CHOW, [1, 1, 1]), (MeldType.PUNG, [3]), (MeldType.EXPOSED_KONG, [4])]
    )
    def test_melds_show_their_tiles(self, state, meld_type, tiles):
        seats, kind = state.seats(GAMES, np.array([0, 1, 2])), np.array([3, 10, 19], np.int8)
        giver = np.array([1, 2, 0], np.int8)
        state.lay_meld(seats, meld_type, kind, giver, kind)
        assert (state.melds_made(seats) == 1).all()
        shown = seats.of(state.public)[:, MELDED]
        for row in range(3):
            assert shown[row, kind[row] : kind[row] + len(tiles)].tolist() == tiles
            assert shown[row].sum() == sum(tiles)
        assert (state.has_open_pung(seats, kind) == (meld_type == MeldType.PUNG)).all()
        assert np.array_equal(seats.of(state.meld_from)[:, 0], giver)

    def test_the_fourth_tile_joins_its_own_pung(self, state):
        seats, kind = state.seats(GAMES, 0), np.array([3, 10, 19], np.int8)
        state.lay_meld(seats, MeldType.PUNG, kind + np.int8(1), np.array([1, 1, 1], np.int8), kind + np.int8(1))
        state.lay_meld(seats, MeldType.PUNG, kind, np.array([2, 1, 2], np.int8), kind)
        assert state.add_to_pung(seats, kind).tolist() == [2, 1, 2]
        assert seats.of(state.meld_type)[:, :2].tolist() == [[MeldType.PUNG, MeldType.ADDED_KONG]] * 3
        assert not state.has_open_pung(seats, kind).any()
        assert state.has_open_pung(seats, kind + 1).all()

    def test_a_concealed_kong_is_hidden_where_it_must_be(self, state):
        seats, kind = state.seats(GAMES, 0), np.array([3, 10, 19], np.int8)
        state.lay_meld(seats, MeldType.CONCEALED_KONG, kind, shown=False)
        assert not seats.of(state.public)[:, MELDED].any()
        assert (seats.of(state.meld_kind)[:, 0] == kind).all()

    def test_walls_give_their_first_and_their_last_tiles(self, state):
        left = state.left(GAMES)
        first, last = state.front[GAMES], state.wall.shape[1] - 1 - state.back[GAMES]
        assert np.array_equal(state.take_front(GAMES), state.wall[GAMES, first])
        assert np.array_equal(state.take_back(GAMES), state.wall[GAMES, last])
        assert np.array_equal(state.left(GAMES), left - 2)
