"""The standing table: rows that depend on an agent and the levels alone, and that are not played twice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_env import VARIANTS, rules
from mahjong_env.cli import main
from mahjong_training.config import LeaderboardConfig
from mahjong_training.evaluation import leaderboard, matches, standing
from mahjong_training.evaluation.estimates import ratio
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import measure
from support.own_agents import LAST_LEGAL


def made(words, *more):
    """The exit status of the command, with some words and more of them."""
    return main(["leaderboard", *words.split(), *map(str, more)])


def test_rows_are_kept_and_agents_of_ones_own_join_them(tmp_path, monkeypatch, capsys):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{standing.START}\nold\n{standing.END}\nafter\n", encoding="utf-8")
    words = "--variants hebei --levels 0 2 --deals 4 --mixed-deals 0 --matches 0 --out"
    assert made(words, tmp_path / "out", "--readme", readme) == 0
    told = capsys.readouterr().out
    assert "| 0: random | " in told
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{standing.START}\nPoints a hand in sigma")
    assert text.endswith(f"{standing.END}\nafter\n")
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
    assert (tmp_path / "out" / "payoffs-dark.svg").read_text(encoding="utf-8").count("<svg") == 1
    assert 'srcset="payoffs-dark.svg"' in text  # beside the page
    assert (tmp_path / "payoffs-light.svg").exists()
    assert "| Nash rating |" in (tmp_path / "out" / "leaderboard.md").read_text(encoding="utf-8")
    played = []
    plain = matches.play_block
    monkeypatch.setattr(matches, "play_block", lambda *given: played.append(given) or plain(*given))
    assert made(words, tmp_path / "out", "--agents", LAST_LEGAL) == 0
    assert len(played) == 2  # the new agent against both levels; the rest was there
    (again,) = json.loads((tmp_path / "out" / "leaderboard.json").read_text(encoding="utf-8"))["variants"]
    assert again["rows"][:2] == one["rows"]
    assert (tmp_path / "out" / "leaderboard.md").read_text(encoding="utf-8").count("own_agents.py:LastLegal") == 2


@pytest.mark.thorough
def test_mixed_tables_matches_and_what_is_kept_of_them(tmp_path, capsys):
    """Three others of a pool of four sit beside an agent, each as often; a file keeps what several runs found."""
    words = "--variants fuzhou --pool random greedy closed-greedy folding --match-hands 2"
    out = ("--out", tmp_path, "--kept", tmp_path / "kept.json")
    assert made(f"{words} --levels 2 --deals 1 --mixed-deals 40 --matches 32 --agents random", *out) == 0
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))["fuzhou"]
    assert kept["random"]["mixed"]["high"] < 0 < kept["greedy"]["mixed"]["low"]
    assert kept["greedy"]["how_mixed"]["deals"] == 40
    for found in kept.values():
        places = [one["mean"] for one in found["places"]]
        assert sum(places) == pytest.approx(1)
        assert found["mean_place"]["mean"] == pytest.approx(sum((1 + at) * share for at, share in enumerate(places)))
    assert kept["greedy"]["mean_place"]["mean"] < kept["random"]["mean_place"]["mean"]
    assert "Whole matches" in capsys.readouterr().out
    agents = {name: make_agent(name) for name in ("random", "greedy", "closed-greedy", "folding")}
    tables = leaderboard.mixed(rules("fuzhou"), agents, "greedy", list(agents), range(40))
    assert [table.agents for table in tables][-1] == ("greedy", "closed-greedy", "folding")  # with a copy of itself
    dealt = [(one.first, one.last) for table in tables for one in table.blocks]
    assert dealt == [(0, 10), (10, 20), (20, 30), (30, 40)]
    assert made(f"{words} --levels 1 --deals 0 --mixed-deals 0 --matches 0", *out) == 0
    again = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))["fuzhou"]
    assert again["greedy"] == kept["greedy"]
    assert set(again) == {"random", "greedy", "closed-greedy"}


def test_few_matches_have_no_interval_and_say_how_many_they_are():
    def shown(deals):
        places = np.tile([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], (deals // 2, 1))
        *shares, mean = (ratio(one, np.ones(deals)) for one in [*places.T, places @ [1, 2, 3]])
        found = {"places": shares, "mean_place": mean, "how_places": {"deals": deals}}
        kept = standing.Kept(Path(), {})
        kept.add("hebei", "greedy", found)
        return standing.page(kept.rows)

    assert "| 38 38 25; 1.88 (24 deals: too few for ±) |" in shown(24)
    assert "| 38 38 25; 1.88 ± 0.05 |" in shown(30)


def test_best_responses_stand_with_their_interval_and_their_budget():
    how = {"hands": 320_000, "seconds": 1350, "start": "closed-greedy"}
    found = {"response": {"mean": 0.05, "low": 0.03, "high": 0.071}, "how_response": how}
    (said, table) = standing.page({"hebei": {"policy": found}, "wuhan": {"policy": {}}}).split("\n\n")
    assert said.startswith("What a best response wins from copies of them")
    assert table.splitlines()[2:] == [
        "| 7: policy | **+0.050 ± 0.021** (320,000 hands, 22 min; from closed-greedy) |  |"
    ]


def test_ratings_follow_who_comes_before_whom():
    pytest.importorskip("openskill")
    agents = {name: make_agent(name) for name in ("random", "greedy", "folding")}
    played = rules("hebei")
    tables = leaderboard.mixed(played, agents, "random", ("greedy", "folding"), range(40))
    config = LeaderboardConfig()
    found = leaderboard.ratings([*matches.play_contests(tables, agents, config, 3)])
    assert found["random"] < min(found["greedy"], found["folding"])


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_luck_is_taken_off_where_it_is_worthwhile(variant, monkeypatch, tmp_path):
    """As `ppo` asks, and the page on evaluation advises: everywhere but in Wuhan."""
    played = []

    def interrupted(rules, agents, block, seed):
        played.append(block)
        raise KeyboardInterrupt

    monkeypatch.setattr(matches, "play_block", interrupted)
    words = f"--variants {variant} --levels 0 2 --deals 40 --mixed-deals 0 --matches 0 --out"
    assert made(words, tmp_path) == 130
    assert [block.control_variates for block in played] == [useful_weights(rules(variant)) is not None]
    assert played[0].control_variates == (variant != "wuhan")
