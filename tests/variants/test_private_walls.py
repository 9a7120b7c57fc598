"""Walls of each seat's own, as MCR is played on Botzone."""

import numpy as np
import pytest

import mahjong_env
from mahjong_agents.control_variates import Luck, weights_of
from mahjong_agents.search.opponent_hands import shipped_opponent_hands
from mahjong_env import Deal, DealError, RulesError, make_engine, testing
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.text import marks_in_words, table_text
from mahjong_env.environments.agents import find_agent
from mahjong_env.records import Recorder, RecordWriter, read_records, replay_points
from mahjong_env.testing.engine_checks import require_tiles
from support.duel import choose_random

MCR = mahjong_env.rules("mcr")
PRIVATE_WALLS = {"private_walls": True, "flower_tiles": False}


def play(engine, agent, steps, seed=1):
    """Play with one agent in all seats; every step's result."""
    rng, agent = np.random.default_rng(seed), find_agent(agent)
    for _ in range(steps):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        if not live.size:
            return
        yield engine.step(agent.act(engine.view(live), rng), games=live)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "check",
    [testing.check_tiles_conserved, testing.check_legal_actions, testing.check_no_leak, testing.check_resampling],
    ids=lambda check: check.__name__.removeprefix("check_"),
)
def test_they_pass_too(check):
    check(lambda games, **options: make_engine("mcr", games, **PRIVATE_WALLS, **options), games=8, seed=3)


def test_they_are_of_34_tiles_without_flowers():
    with pytest.raises(RulesError, match="private_walls=True needs flower_tiles=False"):
        mahjong_env.rules("mcr", private_walls=True)
    with pytest.raises(RulesError, match="private_walls=True needs flower_tiles=False"):
        mahjong_env.rules(mahjong_env.VARIANTS.preset("botzone"), flower_tiles=True)


def test_a_seat_draws_the_tiles_of_its_own_wall_alone():
    """Whatever is claimed: what lies in a seat's wall at the deal is what it draws, in that order."""
    engine = make_engine("mcr", 16, seed=4, **PRIVATE_WALLS)
    hidden = engine.hidden(seats=0)
    assert (hidden.wall_order[:, 83:] == -1).all()
    sizes = engine.view(seats=0).walls
    walls = [
        [order[start : start + size].tolist() for start, size in zip(np.cumsum(row) - row, row, strict=True)]
        for order, row in zip(hidden.wall_order, sizes, strict=True)
    ]
    drawn = [[[] for _ in range(4)] for _ in walls]
    before, skipped = engine.state.front.copy(), 0
    for _ in play(engine, "random", 10_000):
        state = engine.state
        for game in np.flatnonzero((state.front > before) & (engine.seat_to_act >= 0)):
            drawn[game][state.turn[game]].append(int(state.drawn[game]))
        before = state.front.copy()
    for wall, tiles in zip(walls, drawn, strict=True):
        assert [one[: len(other)] for one, other in zip(wall, tiles, strict=True)] == tiles
        skipped += len({len(one) for one in tiles}) > 2
    assert skipped > 8


def test_worlds_redraw_private_walls_and_keep_their_lengths():
    engine = make_engine("mcr", 8, seed=6, **PRIVATE_WALLS)
    for _ in play(engine, "random", 60):
        pass
    live = np.flatnonzero(engine.seat_to_act >= 0)
    view, hidden = engine.view(live), engine.hidden(live)
    for prior in (None, shipped_opponent_hands(MCR)):
        worlds = view.worlds(4, np.random.default_rng(0), prior)
        assert (worlds.view().walls == view.walls.repeat(4, axis=0)).all()
        assert (worlds.hidden().wall_order != hidden.wall_order.repeat(4, axis=0)).any(axis=1).all()
        require_tiles(worlds)


def test_luck_counts_the_tiles_of_all_private_walls():
    """Nobody knows in whose wall a tile lies: each that is left is as likely to be drawn."""
    engine = make_engine("mcr", 4, seed=2, **PRIVATE_WALLS)
    luck = Luck(engine, weights_of(engine.rules))
    for _ in play(engine, "random", 40):
        luck.add(np.flatnonzero(engine.seat_to_act >= 0))
    latest = luck._waiting[-1]
    left = engine.hidden(latest.games).wall_counts[:, :34].sum(axis=1)
    assert (latest.wall.sum(axis=1) == left + 1).all()
    assert luck.sums.any()


@pytest.mark.parametrize(
    ("deal", "what"),
    [
        ({"draws": ["1m", "2m"], "replacements": "3m"}, "replacements are drawn from private walls"),
        ({"draws": ["1m"] * 5}, "draws are one text, or one for each of 4 seats"),
        ({"draws": ["123456789m 123456789p 123s"]}, "seat 0 draws 21 tiles: its wall has 20"),
        ({"draws": ["1m"], "dealer": None}, "draws of each seat need a dealer"),
        ({"draws": ["11m", "1m", "11m"]}, "5 tiles 1m"),
    ],
)
def test_a_deal_of_private_walls_that_cannot_be(deal, what):
    engine = make_engine("mcr", 1, seed=1, **PRIVATE_WALLS)
    with pytest.raises(DealError, match=what):
        engine.reset(deals=Deal(**deal))
    with pytest.raises(DealError, match="draws are one text, not"):
        make_engine("mcr", 1, seed=1).reset(deals=Deal(draws=["1m", "2m"]))


def test_they_are_recorded_and_shown(tmp_path):
    path, engine = tmp_path / "games.jsonl", make_engine("mcr", 1, seed=1, **PRIVATE_WALLS)
    with RecordWriter(path) as file:
        recorder = Recorder(engine, file.write)
        recorder.reset(deals=Deal(draws=["1m", "2m", "3m", "4m"]))
        assert "left in wall 20" in table_text(engine)
        assert read_table(engine).places[1].counters == (("left_in_wall", 21),)
        rng = np.random.default_rng(0)
        while engine.seat_to_act[0] >= 0:
            recorder.step(choose_random(engine, rng))
    (record,) = read_records(path)
    assert record.deal.draws == ("1m", "2m", "3m", "4m")
    assert replay_points(record) == record.points == tuple(engine.points[0])
    assert marks_in_words(engine.rules)["left_in_wall"] == ("left in the wall", "牌墙余张")
