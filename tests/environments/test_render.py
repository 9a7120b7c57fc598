"""The table as text, as pixels, and drawn on a terminal."""

from __future__ import annotations

import io
import re
import unicodedata

import gymnasium
import numpy as np
import pytest

import mahjong_env
from mahjong_env import Deal, MissingExtraError, action, hebei_v0, make_engine
from mahjong_env.basics.notation import parse_tiles
from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES
from mahjong_env.drawing.text import legal_text, outcome_text, table_text, tiles_text
from mahjong_env.engine.outcome import hand_info
from mahjong_env.environments import render as screen
from mahjong_env.environments.agents import choose_at_random
from mahjong_env.environments.render import RENDER_FPS
from support.marks import variants

HEBEI = "mahjong_env/Hebei-v0"
SCENE = Deal(
    hands=("1111m 258p 369s 1234z", "555m 147p 147s 5667z", "34m 2225p 258s 6777z"),
    draws="9s 8m",
    replacements="5m",
    dealer=0,
    dealer_streak=2,
    round_wind="2z",
)


@pytest.fixture
def engine():
    engine = make_engine("hebei", 1, seed=1)
    engine.reset(deals=SCENE)
    return engine


def test_a_table_in_the_middle_of_a_hand(engine):
    for name in ("concealed kong 1m", "discard 5m", "pung", "discard 5z", "pass"):
        if action(name) != action("pass") or engine.action_mask[0, action("pass")]:
            engine.step([action(name)])
    assert table_text(engine).splitlines() == [
        "Hebei 河北麻将: hand 1 of 1, South 南 round, 82 tiles left,",
        "dealer's streak 2 连庄 2",
        "last: player_1 discards 5z; player_2 draws 9s",
        "-" * 80,
        "  player_0            hand     258p 369s 1234z",
        "  East 东  dealer 庄  melds    kong 1111m",
        "  54 points           discards -",
        "  player_1            hand     5m 147p 147s 667z",
        "  South 南            melds    pung 555m@0",
        "  48 points           discards 5z",
        "> player_2            hand     34m 2225p 258s 6777z  drew 9s",
        "  West 西             discards -",
        "  48 points",
        "-" * 80,
        "player_2 may discard 34m 25p 2589s 67z",
    ]


def test_one_person_s_view_hides_the_others(engine):
    engine.step([action("concealed kong 1m")])
    engine.step([action("discard 5m")])
    text = table_text(engine, person=1)
    assert "hand     13 tiles" in text
    assert "hand     10 tiles" in text
    assert "kong hidden" in text
    assert "258p" not in text
    assert text.endswith("player_0 has discarded 5m; you may pung; kong; pass")
    assert table_text(engine, person=2).endswith("it is not your turn")
    assert "kong 1111m" in table_text(engine, person=0)
    engine.step([action("pass")])
    assert "player_2 has" not in table_text(engine, person=0)


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_a_person_s_text_depends_on_what_that_person_sees_alone(variant):
    """Everything hidden is dealt anew: the text stays, and the spectators' text does not."""
    engine = make_engine(variant, 1, seed=4)
    rng = np.random.default_rng(4)
    for _ in range(60):
        person = int(engine.seat_to_act[0])
        other = engine.select([0])
        other.resample_hidden(person, rng)
        assert table_text(engine, person=person) == table_text(other, person=person)
        assert table_text(engine) != table_text(other)
        engine.step(choose_at_random(engine.action_mask, rng))
        if engine.seat_to_act[0] < 0:
            break


def test_a_rotation_names_persons(engine):
    engine = make_engine("hebei", 1, seed=1, rotation=True, num_hands=2)
    engine.reset(deals=Deal(hands=("111222333444m 55m",), dealer=0))
    assert "player_3 sits out  50 points" in table_text(engine)
    engine.step([action("win")])
    text = table_text(engine)
    assert re.search("player_3 .*\n  East 东  dealer 庄 .*\n  50 points", text)
    assert "player_0 sits out" in text


def test_wins_and_draws_in_words(engine):
    engine.reset(deals=Deal(hands=("111222333444m 5m", "", "5m"), dealer=2))
    engine.step([action("discard 5m")])
    result = engine.step([action("win")])
    text = outcome_text(hand_info(result.outcome, 0))
    assert text.splitlines() == [
        "player_0 wins with 5m, discarded by player_2: 18",
        "    rows      All Pungs 3, Closed Hand 2, Pure One Suit 3",
        "    payments  player_0 +18, player_1 +0, player_2 -18",
        "    points    player_0 68, player_1 50, player_2 32",
    ]
    after = table_text(engine, outcome=hand_info(result.outcome, 0))
    assert after.startswith(outcome_text(hand_info(result.outcome, 0), rules=engine.rules))
    assert "All Pungs 碰碰胡 3" in after
    assert after.endswith("the match is over")
    engine.reset(deals=Deal(tiles_left=0, dealer=0, hands=("1m",)))
    for _ in range(10):
        if engine.seat_to_act[0] >= 0:
            choice = action("pass") if engine.action_mask[0, action("pass")] else int(engine.action_mask[0].argmax())
            result = engine.step([choice])
    assert outcome_text(hand_info(result.outcome, 0)).startswith("the hand is drawn")


def test_robbed_kongs_in_words():
    info = {
        "winner": 1,
        "source": "kong",
        "from_seat": 2,
        "tile": 0,
        "value": 4,
        "payments": [4, -4],
        "points": [4, -4],
    }
    assert outcome_text(info | {"rows": ()}).startswith("player_1 wins with 1m, robbed from player_2's kong: 4")
    flowers = {"source": "flowers", "tile": -1, "from_seat": -1, "rows": (("Eight Flowers", 8),)}
    assert outcome_text(info | flowers).startswith("player_1 wins by flowers: 4\n    rows      Eight Flowers 8")


def test_tiles():
    kinds = parse_tiles("19m 1p 55z F1 S4")
    assert tiles_text(kinds) == "19m 1p 55z F1 S4"
    assert tiles_text(kinds, unicode=True) == "🀇 🀏 🀙 🀆 🀆 🀢 🀩"
    assert tiles_text([]) == "-"
    assert sorted(GLYPHS) == [chr(0x1F000 + place) for place in range(42)]
    # The names that Unicode gives the characters, as a check of the whole table.
    numbers = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE")
    suits = {"m": "CHARACTERS", "p": "CIRCLES", "s": "BAMBOOS"}
    honours = ("EAST WIND", "SOUTH WIND", "WEST WIND", "NORTH WIND", "WHITE DRAGON", "GREEN DRAGON", "RED DRAGON")
    extra = ("PLUM", "ORCHID", "BAMBOO", "CHRYSANTHEMUM", "SPRING", "SUMMER", "AUTUMN", "WINTER")
    for kind, name in enumerate(KIND_NAMES):
        if kind < 27:
            wanted = f"{numbers[int(name[0]) - 1]} OF {suits[name[1]]}"
        else:
            wanted = (honours + extra)[kind - 27]
        assert unicodedata.name(GLYPHS[kind]) == f"MAHJONG TILE {wanted}"


def test_actions():
    numbers = [action(name) for name in ("discard 1m", "discard 5p", "discard 6p", "added kong 1m", "win")]
    assert legal_text(numbers) == "discard 1m 56p; added kong 1m; win"
    assert legal_text([action("chow low"), action("kong"), action("pass")]) == "chow low; kong; pass"


@pytest.mark.parametrize(
    ("terminal", "name", "is_cleared"), [(True, "xterm", True), (True, "dumb", False), (False, "xterm", False)]
)
def test_a_terminal_is_drawn_in_its_place_and_given_time(terminal, name, is_cleared, monkeypatch):
    """A file, or a terminal that cannot be cleared, gets one table after the other."""
    pauses = []
    monkeypatch.setattr(screen.time, "sleep", pauses.append)
    monkeypatch.setattr("sys.stdout", stream := io.StringIO())
    monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    for colours in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(colours, raising=False)
    monkeypatch.setenv("TERM", name)
    env = gymnasium.make(HEBEI, render_mode="human")
    env.reset(seed=2)
    for _ in range(3):
        env.step(env.unwrapped.action_masks().argmax())
    shown = stream.getvalue()
    assert shown.count("Hebei 河北麻将: hand 1") == 4
    assert shown.count("\x1b[H\x1b[J") == 4 * is_cleared
    assert is_cleared or "\x1b" not in shown
    assert len(pauses) == 4 * terminal
    assert not terminal or 0.5 / RENDER_FPS < max(pauses) <= 1 / RENDER_FPS


pytest.importorskip("resvg_py")


def is_picture(frame):
    return frame.dtype == np.uint8 and frame.shape == (804, 750, 3) and len(np.unique(frame)) > 50


def test_each_interface_renders_pixels():
    env = hebei_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    assert is_picture(env.render())
    single = gymnasium.make(HEBEI, render_mode="rgb_array")
    single.reset(seed=1)
    assert is_picture(single.render())
    envs = gymnasium.make_vec(HEBEI, num_envs=2, render_mode="rgb_array")
    envs.reset(seed=1)
    assert [is_picture(frame) for frame in envs.render()] == [True, True]


def test_without_the_extra_only_rendering_fails(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "resvg_py", None)
    env = mahjong_env.wuhan_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    with pytest.raises(MissingExtraError, match=r"pip install 'mahjong-env\[render\]'"):
        env.render()


def test_a_notebook_shows_the_table():
    env, single = hebei_v0.env(), gymnasium.make(HEBEI).unwrapped
    for shown in (env, env.unwrapped, single):
        assert shown._repr_html_().startswith("<svg")  # before the first reset, too
        shown.reset(seed=1)
        before = shown._repr_html_()
        assert "<title>Hebei mahjong, hand 1</title>" in before
        mask = single.action_masks() if shown is single else shown.observe(shown.agent_selection)["action_mask"]
        shown.step(int(mask.argmax()))
        assert shown._repr_html_() != before


def test_a_notebook_shows_the_first_game_of_an_engine_and_what_a_view_sees_of_it():
    view = (engine := make_engine("hebei", 3, seed=1)).view()
    hands, seen, nothing = engine._repr_html_(), view.take([1])._repr_html_(), view.take([])._repr_html_()
    assert "3 games" in hands
    assert "<title>Hebei mahjong, hand 1</title>" in hands
    assert '-back"' in seen
    assert '-back"' not in hands
    assert "0 rows" in nothing
    assert "<svg" not in nothing
    assert engine.select([])._repr_html_() == "<p>&lt;Engine of hebei: 0 games, 0 of them under way&gt;</p>"
