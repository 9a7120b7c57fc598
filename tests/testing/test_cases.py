"""The runner of written cases: right ones pass, and each kind of wrong one is refused with what is wrong."""

from __future__ import annotations

import pytest

from mahjong_env.testing import ConformanceError
from mahjong_env.testing.cases import check_cases, check_complete, check_hand, check_scene, read_hands

HAND = {
    "name": "Ping Hu",
    "why": "drawn",
    "hand": "456p 678s 55m 23p",
    "melds": ["chow 234m@2"],
    "winning_tile": "1p",
    "source": "draw",
    "dealer": 1,
    "rows": ["Ping Hu 1"],
    "points": 1,
    "payments": [2, -1, -1],
}
DISCARDED = {"source": "discard", "from_seat": 2}
SCENE = {
    "deal": {"hands": ["147m 258p 369s 1234z 9p", "258m 369p 147s 1567z", "369m 147p 258s 2345z"], "draws": "2m"},
    "play": "0 discard 9p\nrewards 0 0 0  # nothing is paid\nleft 83\nnot over",
}


def without(case, *keys):
    return {key: value for key, value in case.items() if key not in keys}


def refused(case):
    return without({**HAND, **case}, "rows", "points", "payments")


@pytest.mark.parametrize(
    "case",
    [
        HAND,
        without(HAND, "points"),
        {**HAND, "cap": "none"},
        refused({**DISCARDED, "illegal": "self-draw"}),
        refused({"hand": "456p", "error": "10 before"}),
    ],
)
def test_right_hands_pass(case):
    check_hand("hebei", case)


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({**HAND, "rows": ["Ping Hu 2"]}, r"the rows are \['Ping Hu 1'\], not \['Ping Hu 2'\]"),
        ({**HAND, "points": 2}, "it is worth 1 points, not 2"),
        ({**HAND, "payments": [2, -2, 0]}, r"the payments are \[2, -1, -1\], not \[2, -2, 0\]"),
        ({**HAND, **DISCARDED}, "may not win: .*self-draw"),
        ({**HAND, "wall": "9p"}, "RulesError: .*wall"),
        (refused({"illegal": "self-draw"}), "may win: HandScore"),
        (refused({**DISCARDED, "illegal": "locked"}), "the reason .*self-draw.* should mention 'locked'"),
        (refused({"error": "10 before"}), "no error that mentions '10 before'"),
        (refused({"hand": "456p", "error": "dragons"}), "HandError: "),
        (without(HAND, "rows"), r"a hand that may win has rows: \(\('Ping Hu', 1\),\)"),
        (without(HAND, "hand", "source"), "a hand has no hand and no source"),
        ({**HAND, "rows": "Ping Hu 1"}, "rows is a list of texts, not 'Ping Hu 1'"),
        ({**HAND, "payments": 2}, "payments are a list of integers, not 2"),
        ({**HAND, **DISCARDED, "illegal": "self-draw"}, "only one of rows and illegal can be expected"),
        (refused({**DISCARDED, "illegal": ""}), "illegal is text, not ''"),
        (refused({"hand": "456p", "error": ""}), "error is text, not ''"),
        ({**HAND, "other_melds": {"east": []}}, "other_melds are lists by the number of the seat"),
    ],
)
def test_wrong_hands_are_refused(case, message):
    with pytest.raises(ConformanceError, match=message):
        check_hand("hebei", case)


def test_right_scenes_pass():
    check_scene("hebei", SCENE)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 discard 2m", "the seat to act: 0, not 1"),
        ("0 discard 5m", "not legal"),
        ("0 may pung", "legal are discard 1m"),
        ("0 may only discard 9p", "legal are discard 1m"),
        ("0 may not discard 9p", "legal are discard 1m"),
        ("0 may fly", "there are no such actions: fly"),
        ("rewards 1 0 0", "the rewards: .*not"),
        ("wins 0", "no hand has ended"),
        ("rows Ping Hu 1", "no hand has ended"),
        ("dealer 1", "the dealer: 0, not 1"),
        ("streak 4", "the streak: 0, not 4"),
        ("points 1 1 1", r"the points: \[50, 50, 50\], not \[1, 1, 1\]"),
        ("left 3", "left are: 84, not 3"),
        ("wild 5z", "the wild kind"),
        ("hand 0 1m", "the hand: 147m2589p369s1234z, not 1m"),
        ("flowers 0 F1", "the flowers"),
        ("over", "the seat to act is 0"),
        ("play until over\nnot over", "the seat to act is -1"),
        ("play until over\nplay until over", "the match is over"),
        ("shuffle", "there is no such line; lines begin with a seat, rewards, wins"),
    ],
)
def test_wrong_scenes_are_refused_with_line_and_table(line, message):
    with pytest.raises(ConformanceError, match=message) as caught:
        check_scene("hebei", {**SCENE, "play": f"# at once\n{line}", "start": "first"})
    assert str(caught.value).startswith(("line 2: ", "line 3: "))
    assert "player_0" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plays": "over"}, "a scene has no plays; its keys are name, why, deal"),
        ({"play": None}, "a scene has a script, play, which is text"),
        ({"deal": {"hand": "1m"}}, "a deal has no hand; its keys are hands, draws"),
        ({"deal": {"hands": ["11111m"]}}, r"DealError: .* \(a fifth tile\)"),
        ({"deal": "1m"}, "deal and knobs are tables"),
        ({"knobs": {"lid": 1}}, "RulesError: hebei has no knob 'lid'"),
        ({"play": "hand 3 1m"}, r"line 1: hand 3 1m\nseats are 0 to 2, not '3'"),
        ({"play": "hand -1 1m"}, r"line 1: hand -1 1m\nseats are 0 to 2, not '-1'"),
    ],
)
def test_scenes_that_cannot_be_played(changes, message):
    with pytest.raises(ConformanceError, match=message):
        check_scene("hebei", {**SCENE, **changes})


def test_completeness():
    with pytest.raises(ConformanceError) as caught:
        check_complete("hebei", [HAND, HAND, {"name": "mute", "illegal": "self-draw"}])
    said = str(caught.value)
    assert "'Ping Hu' names several cases" in said
    assert "'mute' does not say why" in said
    assert "no case shows the row 'Seven Pairs'" in said
    assert "no case shows the row 'Ping Hu'" not in said
    assert "no case is refused because the tiles are not a complete hand" in said
    assert said.count("no case is refused") == 1


def test_files(tmp_path):
    path = tmp_path / "cases.toml"
    path.write_text(
        '[[scene]]\nname = "a"\nplay = "over"\n[[case]]\nname = "b"\nhand = "1m"\nsource = "draw"\n', encoding="utf-8"
    )
    with pytest.raises(ConformanceError) as caught:
        check_cases("hebei", path)
    said = str(caught.value)
    assert "a: line 1: over" in said
    assert "b: HandError" in said
    assert "'a' does not say why" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[case]", "cases.toml cannot be read: "),
        (
            '[[scenes]]\nplay = "over"',
            r"a file has no scenes; its tables are \[\[case\]\], \[\[group\]\], \[\[scene\]\]",
        ),
        ("[case]", r"a case begins with \[\[case\]\]"),
        ("[[group]]\nname = 'Winds'", "a group has a name and lines, both text, not only name"),
        (
            "[[group]]\nname = 'a'\nlines = '1m + 2m | | drawn | Winds | '",
            "a 1: rows and their sum, as in .*, not 'Winds'",
        ),
        ("[[group]]\nname = 'a'\nlines = '1m + 2m | | from x | no: x | '", "a 1: a hand has no source"),
    ],
)
def test_files_that_cannot_be_read(text, message, tmp_path):
    (tmp_path / "cases.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConformanceError, match=message):
        check_cases("hebei", tmp_path / "cases.toml")
    with pytest.raises(ConformanceError, match=r"none\.toml cannot be read"):
        check_cases("hebei", tmp_path / "none.toml")


def test_a_scene_that_cannot_be_dealt_is_listed_with_the_other_cases(tmp_path):
    path = tmp_path / "cases.toml"
    path.write_text(
        "[[scene]]\nname = 'a'\nplay = 'over'\ndeal = { dealer = 9 }\n[[case]]\nname = 'b'\n", encoding="utf-8"
    )
    with pytest.raises(ConformanceError, match=r"(?s)b: a hand has no hand.*\na: DealError: .*'b' does not say why"):
        check_cases("hebei", path)


GROUP = """
[[group]]
name = "Winds"
why = "taiwan.md#house-wind"
dealer_is_east = true
lines = '''
# the dealer is seat 0
456m 345p 22z 67s 111z + 8s | chow 234m@3 | from 2, round S, F2 | House Wind 1 = 1 | own East
456m 345p 22z 67s 111z + 8s | chow 234m@3 | drawn, round E, F2 | House Wind 1, Round Wind 1, Self-Touch 1 = 3 |
456m 345p 22z 67s 111z + 8s | kong 2222m@1 | drawn, last tile, after a kong, F1 S1 | no: not a complete | ROWS
'''
"""


def test_groups_hold_a_hand_in_each_line(tmp_path):
    path = tmp_path / "cases.toml"
    own = "Exposed Gang 1, Gang Blossom 1, House Wind 1, Last Tile 1, Own Flower 1 x 2, Round Wind 1, Self-Touch 1 = 8"
    path.write_text(GROUP.replace("no: not a complete | ROWS", f"{own} |"), encoding="utf-8")
    hands = read_hands(path)
    assert [hand["name"] for hand in hands] == ["Winds 1: own East", "Winds 2", "Winds 3"]
    for hand in hands:
        check_hand("taiwan", hand)
        with pytest.raises(ConformanceError, match="it is worth"):
            check_hand("taiwan", hand | {"points": 0})
    path.write_text(GROUP, encoding="utf-8")
    with pytest.raises(ConformanceError, match="may win"):
        check_hand("taiwan", read_hands(path)[2])
    path.write_text(GROUP.replace(" | own East", ""), encoding="utf-8")
    with pytest.raises(ConformanceError, match=r"Winds 1: tiles \+ winning tile \| .* not '456m"):
        read_hands(path)
