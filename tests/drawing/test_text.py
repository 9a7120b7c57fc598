"""The table as text: 80 columns, aligned with Chinese characters too, in colour where the terminal has it."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import Deal
from mahjong_env.basics.tiles import GLYPHS
from mahjong_env.drawing.text import (
    WIDTH,
    columns,
    has_colour,
    last_event,
    paint,
    table_text,
)
from mahjong_env.engine.outcome import hand_info
from mahjong_env.environments.agents import choose_at_random
from support.marks import variants

ESCAPES = re.compile(r"\x1b\[[\d;]*m")
# What stands in the right half begins at the same column in every line of every side.
SIDE = re.compile(r"^[> ] .*?(?=hand |melds |flowers |discards |counted )")


def moments(variant, seed, greedy=False):
    """A whole match: the engine before every action, and the hand that has just ended."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed, num_hands=2), np.random.default_rng(seed)
    agent, outcome = make_agent("greedy"), None
    while True:
        yield engine, outcome
        if engine.seat_to_act[0] < 0:
            return
        choice = agent.act(engine.view(), rng) if greedy else choose_at_random(engine.action_mask, rng)
        result = engine.step(choice)
        outcome = hand_info(result.outcome, 0) if result.hand_over[0] else None


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
@pytest.mark.parametrize("greedy", [False, True])
def test_every_line_of_whole_games_fits_and_is_aligned(variant, greedy):
    count = 0
    for number, (engine, outcome) in enumerate(moments(variant, 5, greedy)):
        if number % 3 and not outcome:
            continue
        for person, unicode in ((None, False), (None, True), (0, False)):
            lines = table_text(engine, person=person, unicode=unicode, outcome=outcome).splitlines()
            assert max(map(columns, lines)) <= WIDTH, lines
            starts = {columns(found[0]) for line in lines if (found := SIDE.match(line))}
            assert starts == {22}
            narrow = table_text(engine, person=person, unicode=unicode, outcome=outcome, width=40).splitlines()
            assert max(map(columns, narrow)) <= 40, narrow
            held = sum(line.startswith("  hand ") for line in narrow)
            assert held == engine.rules.seats
            count += 1
    assert count > 50


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_colours_change_nothing_but_colours(variant):
    for number, (engine, outcome) in enumerate(moments(variant, 6)):
        if number % 7 == 0 or outcome:
            for unicode in (False, True):
                plain = table_text(engine, unicode=unicode, outcome=outcome)
                coloured = table_text(engine, unicode=unicode, outcome=outcome, colour=True)
                assert "\x1b" not in plain
                assert coloured != plain
                assert ESCAPES.sub("", coloured) == plain


def test_the_dealers_hands_in_a_row_are_called_as_the_variant_does():
    for streak, words in ((0, "1 Lao 1 老"), (1, "2 Lao 2 老"), (7, "3 Lao 3 老")):
        engine = mahjong_env.make_engine("hangzhou", 1, seed=1)
        engine.reset(deals=Deal(dealer_streak=streak))
        assert words in table_text(engine)


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_the_last_event_is_what_was_done_last(variant):
    """Against the actions themselves, through a whole game."""
    engine, rng, agent = mahjong_env.make_engine(variant, 1, seed=2), np.random.default_rng(2), make_agent("greedy")
    seen = set()
    while engine.seat_to_act[0] >= 0:
        seat, chosen = int(engine.seat_to_act[0]), int(agent.act(engine.view(), rng)[0])
        name, melds = mahjong_env.ACTIONS[chosen], int(engine.state.num_melds[0].sum())
        engine.step([chosen])
        told = last_event(engine)
        if engine.seat_to_act[0] < 0:
            assert told == ""
        elif name.startswith("discard"):
            seen.add("discard")
            assert told.startswith(f"player_{seat} discards {name.split()[1]}")
        elif name in ("pung", "chow low", "chow middle", "chow high") and engine.state.num_melds[0].sum() > melds:
            seen.add("claim")
            assert told.startswith(f"player_{seat} claims ")
            assert f": {name.split()[0]} " in told
        elif "kong" in name and engine.state.kong_draws[0]:
            seen.add("kong")
            assert told.startswith(f"player_{seat} ")
            assert "kong" in told.partition(";")[0] or " to the pung" in told
            assert told.endswith(" from the end of the wall")
    assert {"discard", "claim"} <= seen


def test_wild_tiles_stand_out():
    assert paint("345m 5p", wild=4).replace("\x1b[0m", "]") == "\x1b[31m34]\x1b[1;97;41m5]\x1b[31mm] \x1b[36m5p]"
    assert "41m" in paint(GLYPHS[4], wild=4)
    assert "41m" not in paint(GLYPHS[5], wild=4)


@pytest.mark.parametrize(
    ("settings", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
    ],
)
def test_an_environment_writes_colours_where_there_are_some(settings, terminal, wanted, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    assert has_colour() == wanted
    env = mahjong_env.wuhan_v0.env(render_mode="ansi")
    env.reset(seed=1)
    assert ("\x1b[" in env.render()) == wanted
