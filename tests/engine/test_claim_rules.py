"""What the seats that are asked about a tile know of each other; who is asked and heard: tests/engine/test_duel.py."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.engine.claim_rules import OPTION_ACTIONS, seats_not_yet_asked

RANK = {"win": 3, "kong": 2, "pung": 2, "chow high": 1, "chow middle": 1, "chow low": 1}


def best(options):
    """The rank of the best claim among option bits."""
    claims = [ACTIONS[action] for bit, action in enumerate(OPTION_ACTIONS) if int(options) >> bit & 1]
    return max((RANK[claim] for claim in claims), default=0)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_seats_before_the_one_that_is_asked_have_passed(seats):
    rng = np.random.default_rng(seats)
    options = rng.integers(0, 64, (seats, 3000)).astype(np.int8)
    asked_place = rng.integers(0, seats, 3000)
    options[asked_place, np.arange(3000)] |= 8
    left = seats_not_yet_asked(options, np.arange(seats)[:, None] == asked_place)
    for tile in range(3000):
        asked = asked_place[tile]
        heard = [(best(bits), -place) for place, bits in enumerate(options[:, tile])]
        for place in range(seats):
            expected = 0 if heard[place] > heard[asked] else options[place, tile]
            assert left[place, tile] == expected
