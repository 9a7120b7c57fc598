"""MCR in play: seats and winds of a match, the fourth tile, and legality without reading every shape."""

import numpy as np
import pytest

import mahjong_env
from mahjong_agents.control_variates import Luck, weights_of
from mahjong_agents.search.opponent_hands import shipped_opponent_hands
from mahjong_env import Deal, DealError, RulesError, make_engine, testing
from mahjong_env.basics.notation import MeldType
from mahjong_env.drawing.table import read_table
from mahjong_env.drawing.text import marks_in_words, table_text
from mahjong_env.engine.phases import claims, judge
from mahjong_env.environments.agents import find_agent
from mahjong_env.records import Recorder, RecordWriter, read_records, replay_points
from mahjong_env.scoring.driver import ScoredRules
from mahjong_env.scoring.wins import Source, Wins, wins_from_state
from mahjong_env.testing.engine_checks import require_tiles
from support.duel import choose_random, duel

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
def test_private_walls_pass_too(check):
    check(lambda games, **options: make_engine("mcr", games, **PRIVATE_WALLS, **options), games=8, seed=3)


def test_private_walls_are_played_by_the_referee_too():
    assert duel("mcr", 6, seed=9, choose=choose_random, **PRIVATE_WALLS) == 6


def test_private_walls_are_of_34_tiles_without_flowers():
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
    live = np.flatnonzero(engine.seat_to_act >= 0)
    assert live.size
    assert (luck._in_wall[live] == engine.hidden(live).wall_counts).all()
    assert luck.sums[live].any()


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


def test_private_walls_are_recorded_and_shown(tmp_path):
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


def hands(engine):
    """Play a match with random agents; the number of each hand, at its beginning."""
    yield 0
    number = 0
    for _ in play(engine, "random", 10_000):
        if engine.seat_to_act[0] >= 0 and engine.state.hand_in_match[0] > number:
            number += 1
            yield number


def test_nobody_keeps_the_deal_and_winds_change_every_four_hands():
    engine = make_engine("mcr", 1, seed=3, num_hands=17)
    first, seen = int(engine.dealer[0]), []
    for _ in hands(engine):
        seen.append((int(engine.dealer[0]), int(engine.state.round_wind[0])))
        assert engine.state.streak[0] == 0
    assert seen == [((first + hand) % 4, hand // 4 % 4) for hand in range(17)]


SEATS = {"E": "ESNW", "S": "SEWN", "W": "WNES", "N": "NWSE"}
"""Where people sit in the four rounds, by where they began."""


@pytest.mark.parametrize("changes", [True, False])
def test_people_change_seats_after_each_round(changes):
    engine = make_engine("mcr", 1, seed=3, num_hands=20, change_seats=changes)
    first, played = int(engine.state.dealer[0]), 0
    names = {(first + place) % 4: "ESWN"[place] for place in range(4)}  # of persons, by where they began
    for hand in hands(engine):
        played += 1
        turn = hand // 4 if hand < 16 else 3  # before the seventeenth hand nobody moves
        for place in range(4):
            seat = (first + place) % 4
            person = int(engine.state.person_at[0, seat])
            assert "ESWN"[place] == (SEATS[names[person]][turn] if changes else names[person])
            view = engine.view([0], person)
            assert (view.hand[0] == engine.state.hand[0, seat]).all()
            assert view.points[0, 0] == engine.points[0, person]
            assert (engine.seat_to_act[0] == person) == (engine.state.actor[0] == seat)
    assert played == 20


def test_the_fourth_tile_is_counted_in_games(monkeypatch):
    """Compared with a count of the discards that lie there and the melds that are open, one by one."""
    seen = {False: 0, True: 0}

    def counted(rules, state, seats, tile, source, from_seat):
        wins = wins_from_state(rules, state, seats, tile, source, from_seat)
        for number, (game, kind) in enumerate(zip(seats.game, np.asarray(tile), strict=True)):
            lying = sum(state.lying_discards(game, seat).tolist().count(kind) for seat in range(4))
            for seat, meld in np.argwhere(state.meld_type[game] != MeldType.NONE):
                of_type, lowest = state.meld_type[game, seat, meld], state.meld_kind[game, seat, meld]
                if of_type == MeldType.CHOW:
                    lying += lowest <= kind < lowest + 3
                elif of_type != MeldType.CONCEALED_KONG and lowest == kind:
                    lying += 3 + (of_type != MeldType.PUNG)
            if source is not Source.ROBBED_KONG:
                assert wins.fourth_tile[number] == (lying - (source is Source.DISCARD) == 3)
                seen[bool(wins.fourth_tile[number])] += 1
        return wins

    monkeypatch.setattr(claims, "wins_from_state", counted)
    monkeypatch.setattr(judge, "wins_from_state", counted)
    for _ in play(make_engine("mcr", 300, seed=2, auto_reset=True), "greedy", 120):
        pass
    assert min(seen.values()) > 20


def test_legality_is_what_the_score_says():
    kept = []

    class Noted(type(MCR)):
        def legal(self, wins):
            kept.append(wins)
            return super().legal(wins)

    engine = make_engine(Noted(), 300, seed=2, auto_reset=True)
    for _ in play(engine, "greedy", 90):
        pass
    wins = Wins.join(kept)
    for least in (8, 0, 13, 30):
        rules = mahjong_env.rules("mcr", minimum_points=least)
        legal = rules.score(wins.take(np.arange(len(wins)))).legal
        assert (rules.legal(wins.take(np.arange(len(wins)))) == legal).all()
        assert (ScoredRules.legal(rules, wins.take(np.arange(len(wins)))) == legal).all()
    assert 0.05 < MCR.score(wins).legal.mean() < 0.95
