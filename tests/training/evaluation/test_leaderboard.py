"""The standing table: rows that depend on an agent and the levels alone, and that are not played twice."""

from __future__ import annotations

import json

import pytest

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_env import VARIANTS, rules
from mahjong_env.cli import main
from mahjong_training.config import LeaderboardConfig
from mahjong_training.evaluation import leaderboard
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure

AGENT_FILE = """
class Last:
    name = "last"

    def act(self, view, rng):
        return view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)
"""


def test_rows_are_kept_and_agents_of_ones_own_join_them(tmp_path, monkeypatch, capsys):
    readme, own = tmp_path / "README.md", tmp_path / "mine.py"
    readme.write_text(f"before\n{leaderboard.START}\nold\n{leaderboard.END}\nafter\n", encoding="utf-8")
    own.write_text(AGENT_FILE, encoding="utf-8")
    words = ["leaderboard", "--variants", "hebei", "--levels", "0", "2", "--deals", "4", "--out", str(tmp_path / "out")]
    assert main([*words, "--readme", str(readme)]) == 0
    told = capsys.readouterr().out
    assert "| 0: random | " in told
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{leaderboard.START}\nPoints a hand in sigma")
    assert text.endswith(f"{leaderboard.END}\nafter\n")
    assert "old" not in text
    (one,) = json.loads((tmp_path / "out" / "leaderboard.json").read_text(encoding="utf-8"))["variants"]
    expected = measure(
        rules("hebei"),
        [make_agent("random"), make_agent("greedy")],
        one_against_copies(0, 1, 3),
        deals=4,
        seed=50_000,
        control_variates=True,
    )
    assert one["rows"][0]["against"]["greedy"]["points"]["mean"] == expected.of(0).points.mean
    assert one["overall"]["random"]["mean"]["mean"] == pytest.approx(expected.of(0).points.mean)
    assert one["overall"]["greedy"]["nash_share"]["mean"] == pytest.approx(1)
    assert (tmp_path / "out" / "payoffs.png").read_bytes().startswith(b"\x89PNG")
    assert "| Nash rating |" in (tmp_path / "out" / "leaderboard.md").read_text(encoding="utf-8")
    played = []
    plain = leaderboard.play_block
    monkeypatch.setattr(leaderboard, "play_block", lambda *given: played.append(given) or plain(*given))
    assert main([*words, "--agents", f"{own}:Last"]) == 0
    assert len(played) == 2  # the new agent against both levels; the rest was there
    (again,) = json.loads((tmp_path / "out" / "leaderboard.json").read_text(encoding="utf-8"))["variants"]
    assert again["rows"][:2] == one["rows"]
    assert (tmp_path / "out" / "leaderboard.md").read_text(encoding="utf-8").count("mine.py:Last") == 3


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_luck_is_taken_off_where_it_is_worthwhile(variant, monkeypatch, tmp_path):
    """As `ppo` asks, and the page on evaluation advises: everywhere but in Wuhan."""
    played = []

    def interrupted(rules, agents, block, seed):
        played.append(block)
        raise KeyboardInterrupt

    monkeypatch.setattr(leaderboard, "play_block", interrupted)
    words = ("--variants", variant, "--levels", "0", "2", "--deals", "40", "--out", str(tmp_path))
    assert main(["leaderboard", *words]) == 130
    assert [block.control_variates for block in played] == [useful_weights(rules(variant)) is not None]
    assert played[0].control_variates == (variant != "wuhan")


def test_rows_come_in_the_order_of_levels():
    config = LeaderboardConfig(levels=(2,), agents=("policy:wuhan", "value", "random"))
    assert list(leaderboard._agents(config)) == ["random", "greedy", "value", "policy:wuhan"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--levels", "99"), "there is no level 99"),
        (("--variants", "nowhere"), "nowhere"),
        (("--deals", "0"), "--deals must be at least 1"),
        (("--agents", "nobody"), "nobody"),
        (("--readme", "README.md"), "nothing shows where the table goes"),
    ],
)
def test_bad_input_is_named_before_anything_is_played(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(leaderboard, "play_block", lambda *_: pytest.fail("has begun to play"))
    assert main(["leaderboard", "--levels", "0", *words]) == 2
    assert message in capsys.readouterr().err
