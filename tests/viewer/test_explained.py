"""A described hand explained: text, picture and page say the same, and why everybody pays."""

import xml.etree.ElementTree as ET

import pytest

import mahjong_env
from mahjong_env import MahjongError, score
from mahjong_env.cli import main
from mahjong_env.viewer import Explained
from mahjong_env.viewer.story import NOTHING, REASONS, reason_in_words, reasons_of_a_kong, reasons_of_a_win

COMMAND = "score --variant hebei --hand 123456789m1p --winning-tile 1p --source discard --from-seat 2"


def explained(variant="hebei", **described):
    rules = mahjong_env.rules(variant)
    return Explained(rules, score(rules, **described), described)


def test_picture_and_page_show_the_tiles_and_the_same_words():
    situation = {"winning_tile": "1p", "source": "draw", "dealer": 1, "wild": "3p", "flowers": ""}
    hand = explained("hangzhou", hand="123456789m1p", melds=["kong 5555s"], **situation)
    assert ET.fromstring(hand.svg()).get("viewBox")
    assert hand.svg() != hand.svg("dark")
    page = hand.page()
    for words in (
        "Base Score",
        "底分",
        "everybody pays for a self-draw; the dealer&#x27;s share differs",
        "自摸 各家都付",
        "<td>+4</td>",
        'class="tile winning"',
    ):
        assert words in page
    assert "prefers-color-scheme: dark" in page
    assert "<rect width" not in page  # no ground of its own, in whatever scheme
    assert "default-src 'none'" in page
    assert "9 of Characters" in page
    with pytest.raises(MahjongError, match="no theme 'sepia'"):
        hand.svg("sepia")


def test_why_a_hand_may_not_win_is_said_everywhere():
    hand = explained(hand="1234567m125p123s", winning_tile="1z", source="draw")
    assert hand.text().endswith("may not win: the tiles are not a complete hand")
    assert "May not win: the tiles are not a complete hand." in hand.page()
    assert hand.svg().startswith("<svg")


def test_the_command_writes_both(tmp_path, capsys):
    command = [*COMMAND.split(), "--meld", "pung 555s@2"]
    page, picture = tmp_path / "hand.html", tmp_path / "hand.svg"
    assert main([*command, "--html", str(page), "--svg", str(picture)]) == 0
    assert "One Dragon 一条龙" in capsys.readouterr().out
    assert "One Dragon" in page.read_text("utf-8")
    ET.parse(picture)
    assert main([*command, "--html", str(tmp_path / "none" / "hand.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err


HELD = {0: 50, 1: 50, 2: 50, 3: 50}


@pytest.mark.parametrize(
    ("payments", "source", "giver", "held", "words"),
    [
        ([6, -2, -2, -2], "draw", -1, HELD, ["winner", "draw", "draw", "draw"]),
        ([6, -2, -2, -2], "flowers", -1, HELD, ["winner", "flowers", "flowers", "flowers"]),
        ([6, 0, -6, 0], "discard", 2, HELD, ["winner", "", "gave", ""]),
        ([6, 0, -6, 0], "kong", 2, HELD, ["winner", "", "robbed", ""]),
        ([6, -1, -4, -1], "discard", 2, HELD, ["winner", "everyone", "gave", "everyone"]),
        ([6, -6, 0, 0], "discard", 2, HELD, ["winner", "responsible", "", ""]),
        ([6, -6, 0, 0], "draw", -1, HELD, ["winner", "responsible", "", ""]),
        ([6, -6, 0, 0], "draw", -1, dict.fromkeys(range(4), 0), ["winner", "responsible", "", ""]),
        ([6, -6, 0, 0], "draw", -1, {0: 50, 1: 50, 2: 0, 3: 0}, ["winner", "draw", "", ""]),  # the others had nothing
    ],
)
def test_reasons(payments, source, giver, held, words):
    assert [word for word, _ in reasons_of_a_win(payments, 0, source, giver, 3, held)] == words
    assert {word for word in words if word} <= set(REASONS)


def test_the_dealers_share_is_told_where_it_differs():
    told = reasons_of_a_win([8, -2, -2, -4], 0, "draw", -1, 3, HELD)
    assert [reason_in_words(reason) for reason in told[2:]] == [
        "everybody pays for a self-draw",
        "everybody pays for a self-draw; the dealer's share differs",
    ]
    assert reason_in_words(told[3], 1) == "自摸 各家都付 (庄家的份不同)"
    assert reasons_of_a_win([0] * 4, -1, "", -1, 0, HELD) == [NOTHING] * 4


def test_reasons_of_kongs():
    reasons = [word for word, _ in reasons_of_a_kong([-1, 3, -1, -1], {"type": "concealed kong"})]
    assert reasons == ["for kong", "kong", "for kong", "for kong"]
    assert reasons_of_a_kong([-3, 3, 0, 0], {"type": "claimed kong"})[0] == ("gave kong", False)
