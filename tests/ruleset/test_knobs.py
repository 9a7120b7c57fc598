"""Knobs: as they are written on command lines, and as Python values."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mahjong_env import RulesError, rules, score
from mahjong_env.cli import main
from mahjong_env.ruleset.knobs import gather, read_rules


@pytest.mark.parametrize(
    ("texts", "knobs"),
    [
        ([], {}),
        (["cap=none"], {"cap": None}),
        (["cap=None"], {"cap": None}),
        (["cap=8", "rotation=true"], {"cap": 8, "rotation": True}),
        ([" players = 4 ", "rotation=FALSE"], {"players": 4, "rotation": False}),
        (["discard_payers=all", "initial_points=0"], {"discard_payers": "all", "initial_points": 0}),
    ],
)
def test_they_are_read_by_what_the_knob_can_be(texts, knobs):
    assert read_rules("hebei", texts) == rules("hebei", **knobs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cap", "a knob is written NAME=VALUE, such as cap=none or players=4, not 'cap'"),
        ("=3", "a knob is written NAME=VALUE"),
        ("lid=3", "hebei has no knob 'lid'; its knobs are: base_score"),
        ("cap=", "cap='' is not valid; valid are None, any integer from 1 to 100000"),
        ("cap=true", "cap='true' is not valid"),
        ("cap=8.0", "cap='8.0' is not valid"),
        ("rotation=1", "rotation=1 is not valid; valid are False, True"),
        ("players=none", "players=None is not valid; valid are 3, 4"),
        (f"cap={'9' * 5000}", "is not valid"),
    ],
)
def test_others_are_refused(text, message):
    with pytest.raises(RulesError) as caught:
        read_rules("hebei", [text])
    assert message in str(caught.value)


def test_a_knob_is_given_once():
    with pytest.raises(RulesError, match="the knob 'cap' is given twice"):
        read_rules("hebei", ["cap=8", "cap=9"])
    with pytest.raises(RulesError, match="the knob 'preset' is given twice"):
        read_rules("mcr", ["preset=botzone", "preset=botzone"])


@pytest.mark.parametrize(
    "options",
    ["--knob cap=2 all_pungs=2", "--knobs cap=2 --knob all_pungs=2", "--knob=cap=2 --knobs=all_pungs=2"],
)
def test_command_lines_take_both_spellings_several_times(options, capsys):
    hand = "score --variant hebei --hand 111222333m444p5p --winning-tile 5p --source draw"
    assert main([*hand.split(), *options.split()]) == 0
    assert re.search(r"^All Pungs 碰碰胡 +2$", capsys.readouterr().out, re.MULTILINE)


def test_gathered_for_parsers_that_take_an_option_once():
    assert gather(["train", "--variant", "x", "--out", "y"]) == ["train", "--variant", "x", "--out", "y"]
    assert gather(["train", "--knob", "a=1", "b=2", "--out", "y"]) == ["train", "--out", "y", "--knobs", "a=1", "b=2"]
    assert gather(["train", "--knob=a=1", "--knobs", "b=2"]) == ["train", "--knobs", "a=1", "b=2"]
    assert gather(["train", "--knob=a=1", "--out", "y"]) == ["train", "--out", "y", "--knobs", "a=1"]
    assert gather(["train", "--knob"]) == ["train", "--knobs"]


def test_elements_of_arrays_are_values():
    played = rules("hebei", cap=np.int64(8), rotation=np.True_, discard_payers=np.str_("all"), players=np.int8(3))
    assert played == rules("hebei", cap=8, rotation=True, discard_payers="all")
    assert [type(value) for value in played.knobs.values()] == [type(v) for v in rules("hebei", cap=8).knobs.values()]
    with pytest.raises(RulesError, match=r"cap=8\.0 is not valid"):
        rules("hebei", cap=np.float64(8))
    with pytest.raises(RulesError, match="players=5 is not valid"):
        rules("hebei", players=np.int64(5))
    hand = {"hand": "123456789m11p55s", "winning_tile": "1p", "source": "draw"}
    assert score("hebei", **hand, cap=np.int64(2)).points == 2


def test_a_preset_stands_for_its_knobs():
    house = read_rules("mcr", ["preset=Botzone"])
    assert house == rules("mcr", **house.presets["botzone"]) != rules("mcr")
    assert read_rules("mcr", ["shows_drawn=true", "preset=botzone"]) == rules(house, shows_drawn=True)
    with pytest.raises(RulesError, match="mcr has no preset 'other'; it has: botzone"):
        read_rules("mcr", ["preset=other"])
    with pytest.raises(RulesError, match="hebei has no knob 'preset'"):
        read_rules("hebei", ["preset=botzone"])
