"""Ceilings: agents that see all hands are given just that, and what they win is kept and shared out in standings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mahjong_agents import make_agent, reference_agent
from mahjong_env import ViewError, make_engine, rules
from mahjong_env.cli import main
from mahjong_training.evaluation import standing
from mahjong_training.evaluation.ceilings import NeverDealsIn, SightedSearch, shuffle_walls, waits_of_others
from mahjong_training.evaluation.matches import Block, play_block
from support.positions import in_mid_hand


@pytest.mark.parametrize("base", ["reference", "policy"])
def test_who_sees_the_waits_never_deals_in(base):
    def seated(table):
        return [NeverDealsIn(make_agent(base), table), reference_agent(table.rules)]

    played = play_block(rules("hebei"), seated, Block((0, 1, 1), 0, 0, 30), 3)
    deal_ins = played.deal_ins.reshape(30, 3, 3)
    own = deal_ins[:, np.arange(3), np.arange(3)]  # the first order has the agent in the first seat, and so on
    assert own.sum() == 0
    assert deal_ins.sum() > 10


def test_waits_are_those_of_this_table_and_no_other():
    engine, other = in_mid_hand("taiwan", 40, 60, "reference", auto_reset=False), make_engine("taiwan", 1)
    live = np.flatnonzero(engine.seat_to_act >= 0)
    view = engine.view(games=live)
    found = waits_of_others([other, engine], view)
    hidden = engine.hidden(live, engine.seat_to_act[live])
    np.testing.assert_array_equal(found, hidden.waits[:, 1:].any(axis=1))
    assert found.any()
    with pytest.raises(ViewError, match="none of the tables"):
        waits_of_others([other], view)


def test_copies_have_the_hands_of_the_table_and_other_walls():
    engine = in_mid_hand("hangzhou", 40, 60, "reference", auto_reset=False)
    live = np.flatnonzero(engine.seat_to_act >= 0)
    sighted = NeverDealsIn(make_agent("reference"), engine)
    search = SightedSearch(sighted, engine, rollouts=4, actions=2)
    world = np.repeat(np.arange(4 * len(live)), 2)
    copies = search.copies(engine.view(games=live), 4, world, np.random.default_rng(0))
    games = live[world // 4]
    np.testing.assert_array_equal(copies.state.hand, engine.state.hand[games])
    seen, true = copies.hidden(), engine.hidden(games, engine.seat_to_act[games])
    np.testing.assert_array_equal(seen.wall_counts, true.wall_counts)
    np.testing.assert_array_equal(seen.wall_order[::2], seen.wall_order[1::2])  # of the same world
    assert (seen.wall_order != true.wall_order).any(axis=1).mean() > 0.95
    before = engine.state.wall.copy()
    shuffle_walls(copies, np.random.default_rng(1))
    np.testing.assert_array_equal(engine.state.wall, before)


def test_what_is_measured_is_kept_and_standings_show_shares_of_it(tmp_path, monkeypatch, capsys):
    out = tmp_path / "ceilings.json"
    words = ["ceilings", "--variants", "fuzhou", "--bases", "reference", "--out", str(out)]
    assert main([*words, "--deals", "60", "--search-deals", "1", "--rollouts", "2"]) == 0
    assert "never deals in: +0." in capsys.readouterr().out
    found = json.loads(out.read_text(encoding="utf-8"))["fuzhou"]
    best = found["reference, never deals in"]
    assert best["more"] == pytest.approx(best["points"])  # the reference agent wins nothing from its copies
    assert best["points"]["low"] > 0
    assert best["deal_ins"]["mean"] == 0
    assert found["reference, search"]["rollouts"] == 2
    agent, points = standing.ceiling("fuzhou", out)
    assert (agent, points.mean) == ("reference, never deals in", best["points"]["mean"])
    assert standing.ceiling("hebei", out) is None
    plain = standing.ceiling
    monkeypatch.setattr(standing, "ceiling", lambda variant: plain(variant, out))
    half = {"mean": points.mean / 2, "low": 0.01, "high": points.mean}
    shown = standing.page(
        {"fuzhou": {"policy": {"points": half, "against": "greedy"}, "greedy": {"against": "greedy"}}}
    )
    assert "(50 %) |" in shown
    assert "| *with sight of all hands* | *+0." in shown
