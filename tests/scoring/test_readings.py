"""Readings of hands: those of a hand are the same, whichever hands stand beside it."""

import numpy as np
import pytest

from mahjong_env import VARIANTS, make_engine
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.scoring.wins import Source, Wins, wins_from_state

OTHER_SHAPES = (
    [1, 1, 3, 3, 5, 5, 10, 10, 12, 12, 14, 14, 19, 19],
    [0, 8, 9, 17, 18, 26, *range(27, 34), 33],
    [0, 3, 6, 10, 13, 16, 20, 23, 26, 1, 1, 1, 15, 15],
    [0, 3, 6, 10, 13, 16, 20, *range(27, 34)],
)
"""Kinds of fourteen tiles: seven pairs, thirteen orphans, a knitted straight, honors and knitted tiles."""


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_hands_of_the_same_tiles_are_read_once_and_scored_as_if_alone(variant):
    """Hands that are made complete, by a draw and on a discard, beside each other, apart, and one by one."""
    rules, rng = VARIANTS[variant], np.random.default_rng(0)
    engine = make_engine(variant, 40, seed=2)
    for _ in range(30):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        engine.step(RandomAgent().act(engine.view(live), rng), live)
    games = np.flatnonzero(engine.seat_to_act >= 0)
    seats = engine.state.seats(games, np.zeros(len(games), np.intp))
    parts = [
        wins_from_state(rules, engine.state, seats, np.zeros(len(games), np.int8), source, from_seat)
        for source, from_seat in ((Source.DRAW, -1), (Source.DISCARD, 1))
    ]
    sets = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [10, 11, 12], [20, 21, 22]])
    for part in parts:
        part.counts[:] = 0
        for number, row in enumerate(part.counts):
            np.add.at(row, sets[: rules.sets - part.num_melds[number, 0]].ravel(), 1)
            row[15] = 2
            if rules.has_wild and number % 2:
                row[15], row[part.wild[number]] = 1, row[part.wild[number]] + 1
            if rules.sets == 4 and number % 3 and not part.num_melds[number, 0]:
                row[:] = np.bincount(OTHER_SHAPES[number % 4], minlength=len(row))
    both = Wins.join(parts)
    beside = both.take(np.arange(len(both)).reshape(2, -1).T.ravel())
    whole = rules.score(beside)
    assert whole.legal.sum() > 10
    shapes = {"hangzhou": 2, "hebei": 3, "mcr": 5}
    assert len(rules.taken(beside).readings.shapes) >= shapes.get(variant, 1)
    for number in range(len(beside)):
        alone = rules.score(beside.take([number]))
        for name in ("legal", "row_count", "row_value", "points", "payments"):
            np.testing.assert_array_equal(getattr(whole, name)[number], getattr(alone, name)[0])
