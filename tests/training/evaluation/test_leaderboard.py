"""The standing table: rows that depend on an agent and the levels alone; ceilings, and matrices of who beats whom."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from mahjong_agents import make_agent, reference_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_env import VARIANTS, ViewError, make_engine, rules
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_env.cli import main
from mahjong_training.config import LeaderboardConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import ceilings, leaderboard, matches, standing
from mahjong_training.evaluation.ceilings import NeverDealsIn, SightedSearch, shuffle_walls, waits_of_others
from mahjong_training.evaluation.estimates import Estimate, ratio
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Block, measure, play_block
from mahjong_training.evaluation.payoffs import Payoffs, alpha_rank, antisymmetric, nash_mixture, picture
from mahjong_training.runtime.digests import agent_digests
from support.own_agents import LAST_LEGAL
from support.positions import in_mid_hand


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
    assert len(played) == 3  # the new agent against both levels and the reference agent; the rest was there
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
    for met in ("folding", "closed-greedy"):
        assert kept.pop(met).keys() == {"digests"}  # it was only met; its replacement will be noticed
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
    assert set(again) == {"random", "greedy", "closed-greedy", "folding"}


def test_a_smaller_matrix_leaves_a_larger_one_as_it_was():
    def met(*others):
        return {"duels": dict.fromkeys(others, one), "nash_share": one}

    one = {"mean": 1.0, "low": 0.5, "high": 1.5}

    def matrix(*agents):
        return {agent: met(*(other for other in agents if other != agent)) for agent in agents}

    kept, digests = standing.Kept(Path(), {}), {name: ["a"] for name in ("random", "greedy", "policy", "value")}
    assert kept.add("hebei", digests, matrix("random", "greedy", "policy"))
    others = matrix("random", "greedy", "value")  # whose equilibrium is another one
    others["greedy"] |= {"points": one}
    assert not kept.add("hebei", digests, others)
    rows = kept.rows["hebei"]
    assert rows["policy"] == {"digests": ["a"]} | met("random", "greedy")
    assert rows["greedy"] == {"digests": ["a"], "points": one} | met("random", "policy")
    assert rows["value"] == {"digests": ["a"]}
    assert kept.add("hebei", digests, matrix("random", "greedy", "policy", "value"))
    assert rows["greedy"] == {"digests": ["a"], "points": one} | met("random", "policy", "value")
    assert rows["value"] == {"digests": ["a"]} | met("random", "greedy", "policy")


def test_a_replaced_agent_takes_along_what_was_found_against_it_and_beside_it():
    one = {"mean": 1.0, "low": 0.5, "high": 1.5}
    reference, pool = {"points": one, "how": {}, "against": "closed-greedy"}, {"pool": ["reference", "value"]}
    beside = {"mixed": one, "how_mixed": pool, "places": [one], "mean_place": one, "how_places": pool}
    alone = {"response": one, "how_response": {}}

    def after(agent):
        kept = standing.Kept(Path(), {"hebei": {"policy": reference | beside | alone, "greedy": {"digests": ["a"]}}})
        for name in ("closed-greedy", "value", agent):
            kept.make_room("hebei", name, ["b"])
        kept.make_room("hebei", agent, ["another"])
        return kept.rows["hebei"]["policy"]

    assert after("greedy") == reference | beside | alone  # it was not met
    assert after("value") == reference | alone
    assert after("closed-greedy") == alone  # Hebei's reference agent


def test_another_version_of_the_rules_begins_anew():
    one = {"mean": 1.0, "low": 0.5, "high": 1.5}
    kept = standing.Kept(Path(), {})
    of_old = {"points": one, "how": {"version": VARIANTS["hebei"].version - 1}}
    of_now = {"points": one, "how": {"version": VARIANTS["hebei"].version}}
    kept.add("hebei", {"greedy": ["a"], "value": ["b"]}, {"greedy": of_old, "value": of_old})
    kept.add("hebei", {"greedy": ["a"]}, {"greedy": of_now})
    assert kept.rows["hebei"] == {"greedy": {"digests": ["a"]} | of_now, "value": {}}


def test_who_is_met_at_mixed_tables_leaves_no_former_row(tmp_path):
    """Of which the standings know that it was another agent."""
    one = {"mean": 0.5, "low": 0.4, "high": 0.6}
    kept = standing.Kept(tmp_path / "kept.json", {"hebei": {"value": {"digests": ["former"], "mixed": one}}})
    kept.write()
    words = "--variants hebei --levels 0 --deals 0 --mixed-deals 3 --matches 0 --pool greedy closed-greedy value"
    assert made(f"{words} --kept {kept.path} --out", tmp_path / "out") == 0
    rows = standing.Kept.read(kept.path).rows["hebei"]
    assert rows["value"] == {"digests": agent_digests("value", make_agent("value"), rules("hebei"))}
    assert rows["random"]["how_mixed"]["pool"] == ["greedy", "closed-greedy", "value"]


def test_where_nothing_can_be_kept_nothing_is_played(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setattr(leaderboard, "play_contests", lambda *_, **__: pytest.fail("has begun to play"))
    assert made("--variants hebei --levels 0 --out", tmp_path, "--kept", tmp_path / "file" / "kept.json") == 2
    assert "cannot be written" in capsys.readouterr().err


CEILINGS = standing.CEILINGS.read_text(encoding="utf-8")
OTHER_ROWS = ["3", '{"points": {}}', '{"mixed": 3}', '{"nash_share": {"mean": 1}}']


@pytest.mark.parametrize("text", [*(f'{{"hebei": {{"value": {row}}}}}' for row in OTHER_ROWS), CEILINGS])
def test_rows_of_another_kind_are_named(text, tmp_path):
    (tmp_path / "kept.json").write_text(text, encoding="utf-8")
    with pytest.raises(TrainingError, match=r"kept\.json: cannot be read as standings"):
        standing.Kept.read(tmp_path / "kept.json")


@pytest.mark.parametrize("known", [{"deals": 100}, {"hebei": {"value": {"points": {"mean": 0, "low": 0, "high": 0}}}}])
def test_ceilings_are_not_added_to_another_file(known, tmp_path, monkeypatch, capsys):
    out = tmp_path / "kept.json"
    out.write_text(json.dumps(known), encoding="utf-8")
    monkeypatch.setattr(ceilings, "measured", lambda *_: pytest.fail("has begun to play"))
    assert main(["ceilings", "--variants", "hebei", "--bases", "reference", "--out", str(out)]) == 2
    assert f"{out}: cannot be read as ceilings" in capsys.readouterr().err
    assert json.loads(out.read_text(encoding="utf-8")) == known


def test_tables_say_who_else_sat_there():
    one = {"mean": 0.5, "low": 0.4, "high": 0.6}
    usual, other = ("reference", "folding?caution=2", "value"), ("random", "greedy")
    pools = {"random": usual, "greedy": usual, "value": other}
    rows = {agent: {"mixed": one, "how_mixed": {"pool": [*pool]}} for agent, pool in pools.items()}
    text = standing.page({"hebei": rows})
    assert "with others drawn from the reference agent, folding and value, points" in text
    assert "| 2: greedy | **+0.500 ± 0.100** |\n| 5: value | **+0.500 ± 0.100** (with random and greedy) |" in text


def test_the_page_has_shares_by_alpha_rank_where_they_are_known():
    """OpenSpiel finds them, which may not be installed."""
    one = {"mean": 0.5, "low": 0.4, "high": 0.6}
    row = {"duels": {}, "nash_rating": one, "nash_share": one}
    shown = standing.page({"hebei": {"greedy": row | {"alpha_rank": 0.25}, "value": row | {"alpha_rank": None}}})
    assert "| 2: greedy | +0.500 ± 0.100 (50 %; 25 %) |\n| 5: value | +0.500 ± 0.100 (50 %) |" in shown


@pytest.mark.parametrize("known", ["points", "duels", "mixed", "mean_place", "response"])
def test_tables_of_a_policy_that_has_not_played_everything(known):
    """What was known of the one before it goes at once."""
    one = {"mean": 0.5, "low": 0.4, "high": 0.6}
    found = {"response": one, "how_response": {"hands": 3, "seconds": 0, "start": "greedy"}}
    found |= {"points": one, "against": "greedy", "duels": {"greedy": one, "value": one}}
    found |= {"mixed": one, "mean_place": one}
    assert standing.card({"policy": {"digests": ["today"]} | found}, "wuhan").count("0.50") == 5
    del found[known]
    rows = {"wuhan": {"policy": {"digests": ["today"]} | found}}
    assert standing.card(rows["wuhan"], "wuhan").count("0.50") == 4
    assert ("Wuhan" in standing.policies(rows)) == (known in ("duels", "response"))
    assert standing.card({}, "wuhan").count("\n") == standing.policies({"mars": rows["wuhan"]}).count("\n") == 1


def test_nothing_stays_of_an_agent_whose_name_another_one_bears():
    """A policy that replaces another one; what was known of others is theirs."""
    one = {"mean": 1.0, "low": 0.5, "high": 1.5}
    kept = standing.Kept(Path(), {})
    for agent in ("policy", "greedy"):
        kept.add("hebei", {agent: ["before"]}, {agent: {"points": one, "response": one}})
    kept.add("hebei", {"policy": ["today"]}, {"policy": {"points": one}})
    assert kept.rows["hebei"]["policy"] == {"digests": ["today"], "points": one}
    assert kept.rows["hebei"]["greedy"] == {"digests": ["before"], "points": one, "response": one}
    met = {"duels": {"policy": one, "value": one}, "nash_rating": one, "nash_share": one, "alpha_rank": 0.25}
    mixed = {"mixed": one, "how_mixed": {"pool": ["policy", "value"]}}
    met |= mixed | {"places": [one], "how_places": {"pool": ["value"]}}
    kept.add("hebei", {"greedy": ["before"]}, {"greedy": met})
    kept.add("hebei", {"policy": ["tomorrow"]}, {"policy": {"points": one}})
    assert kept.rows["hebei"]["greedy"] == {
        **{"digests": ["before"], "points": one, "response": one, "duels": {"value": one}},
        **{"places": [one], "how_places": {"pool": ["value"]}},
    }
    of_others = {"value, never deals in": {"digests": ["a"]}, "policy, searching": {"digests": ["today"]}}
    found = {"policy, never deals in": {"digests": ["today"]}}
    former = {"policy, never": {"digests": ["before"]}, "policy, of a file without digests": {}}
    rules = VARIANTS["hebei"]
    assert ceilings._still_true(former, {}, rules) == former
    former |= {"value, never": {"digests": ["a"], "version": rules.version - 1}}
    assert ceilings._still_true(of_others | former, found, rules) == of_others


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_what_is_kept_is_of_the_agents_that_are_shipped(variant):
    """A policy that is replaced takes its numbers with it: `mahjong-env leaderboard`, `ceilings`, `best-response`."""
    played = rules(variant)
    rows = standing.Kept.read(Path(__file__).parents[3] / "docs" / "standings.json").rows[variant]
    sights = json.loads(standing.CEILINGS.read_text(encoding="utf-8"))[variant]
    known = [*rows.items(), *((name.partition(", ")[0], one) for name, one in sights.items())]
    for agent, one in known:
        assert one["digests"] == agent_digests(agent, make_agent(agent), played), f"{agent} of {variant}"


def test_few_matches_have_no_interval_and_say_how_many_they_are():
    def shown(deals):
        places = np.tile([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]], (deals // 2, 1))
        *shares, mean = (ratio(one, np.ones(deals)) for one in [*places.T, places @ [1, 2, 3]])
        found = {"places": shares, "mean_place": mean, "how_places": {"deals": deals}}
        kept = standing.Kept(Path(), {})
        kept.add("hebei", {"greedy": []}, {"greedy": found})
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


def test_points_stand_with_their_unit_and_what_sight_wins():
    won = {"mean": 0.1, "low": 0.09, "high": 0.11}
    found = {"points": won, "against": "closed-greedy", "how": {"sigma": 3.6}}
    _, table, said, sighted = standing.page({"hebei": {"policy": found}}).split("\n\n")
    assert "| *points in a sigma* | *3.60* |" in table.splitlines()
    assert said.startswith("What agents win that see all hands")
    name, best = standing.ceiling("hebei")
    assert any(line.startswith(f"| {name} | {standing.cell(best)}") for line in sighted.splitlines())
    elsewhere = standing.page({"hebei": {"policy": found | {"against": "greedy"}}})
    assert "see all hands" not in elsewhere  # which was measured against the reference agent


def test_ratings_follow_who_comes_before_whom():
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


# --- Ceilings: agents that see all hands ------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["reference", "policy"])
def test_who_sees_the_waits_never_deals_in(base):
    forced = 0

    class Watched(NeverDealsIn):
        def act(self, view, rng):
            nonlocal forced
            actions, waited = super().act(view, rng), waits_of_others(self.tables, view)
            for row in np.flatnonzero(actions < CONCEALED_KONG):
                if waited[row, actions[row]]:
                    assert not (view.action_mask[row, :CONCEALED_KONG] & ~waited[row]).any()
                    forced += 1
            return actions

    def seated(table):
        return [Watched(make_agent(base), table), reference_agent(table.rules)]

    played = play_block(rules("hebei"), seated, Block((0, 1, 1), 0, 0, 30), 3)
    deal_ins = played.deal_ins.reshape(30, 3, 3)
    own = deal_ins[:, np.arange(3), np.arange(3)]  # the first order has the agent in the first seat, and so on
    assert own.sum() <= forced <= 1  # where everything that may be discarded is waited for
    assert deal_ins.sum() > 10


def test_waits_are_those_of_this_table_and_no_other():
    engine, other = in_mid_hand("taiwan", 40, 60, "reference", auto_reset=False), make_engine("taiwan", 1)
    live = np.flatnonzero(engine.seat_to_act >= 0)
    view = engine.view(games=live)
    found = waits_of_others([other, engine], view)
    hidden = engine.hidden(live, engine.seat_to_act[live])
    np.testing.assert_array_equal(found, hidden.waits[:, 1:].any(axis=1))
    assert found.any()
    with pytest.raises(ViewError, match="not of any of the tables"):
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
    assert found["reference, never deals in, searching"]["rollouts"] == 2
    agent, points = standing.ceiling("fuzhou", out)
    assert (agent, points.mean) == ("reference, never deals in", best["points"]["mean"])
    assert standing.ceiling("hebei", out) is None
    gains_nothing = {"points": {"mean": 1.0, "low": 0.9, "high": 1.1}, "more": {"mean": 0, "low": -0.1, "high": 0.1}}
    stronger = tmp_path / "stronger.json"
    stronger.write_text(json.dumps({"fuzhou": found | {"policy, never deals in": gains_nothing}}), encoding="utf-8")
    assert standing.ceiling("fuzhou", stronger) is None  # whoever plays for more needs no sight
    plain = standing.ceiling
    monkeypatch.setattr(standing, "ceiling", lambda variant: plain(variant, out))
    half = {"mean": points.mean / 2, "low": 0.01, "high": points.mean}
    shown = standing.page(
        {"fuzhou": {"policy": {"points": half, "against": "greedy"}, "greedy": {"against": "greedy"}}}
    )
    assert "(50 %) |" in shown
    assert "| *with sight of all hands* | *+0." in shown


def test_what_an_interrupted_command_has_played_of_ceilings_is_kept(tmp_path, monkeypatch, capsys):
    out = tmp_path / "ceilings.json"
    words = ["ceilings", "--variants", "fuzhou", "wuhan", "--bases", "reference", "--deals", "8", "--out", str(out)]
    played, plain = [], ceilings._play

    def play(state, task):
        if len(played) == 5:  # three of Fuzhou: with each of the sights, and without; two of Wuhan
            raise KeyboardInterrupt
        played.append(state[0].name)
        return plain(state, task)

    monkeypatch.setattr(ceilings, "_play", play)
    assert main(words) != 0
    assert f"2 of 3 parts are kept in {tmp_path}: run the same command again to resume" in capsys.readouterr().err
    assert [*json.loads(out.read_text(encoding="utf-8"))] == ["fuzhou"]
    played.clear()
    assert main(words) == 0
    assert played == ["wuhan"]
    assert [*json.loads(out.read_text(encoding="utf-8"))] == ["fuzhou", "wuhan"]
    assert [file.name for file in tmp_path.iterdir()] == ["ceilings.json"]


# --- Pay-off matrices -------------------------------------------------------------------------------------------------


ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
DOMINATED = np.array([[0.0, 0.3, 0.9], [-0.2, 0, 0.5], [-0.8, -0.6, 0]])


def with_copy(matrix, number):
    """The same agents, and one of them once more."""
    order = [*range(len(matrix)), number]
    return matrix[np.ix_(order, order)]


class TestNash:
    def test_of_a_cycle_is_all_alike(self):
        assert nash_mixture(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-4)

    def test_is_the_agent_that_beats_all_others(self):
        assert nash_mixture(DOMINATED) == pytest.approx([1, 0, 0], abs=1e-6)

    def test_weighs_what_a_cycle_pays(self):
        """Rock wins twice as much from scissors: the one that rock loses to is then chosen half of the time."""
        paid = ROCK_PAPER_SCISSORS * np.array([[1, 1, 2], [1, 1, 1], [2, 1, 1]])
        assert nash_mixture(paid) == pytest.approx([1 / 4, 1 / 2, 1 / 4], abs=1e-4)

    @pytest.mark.parametrize("matrix", [ROCK_PAPER_SCISSORS, DOMINATED])
    @pytest.mark.parametrize("number", range(3))
    def test_a_copy_shares_and_changes_no_rating(self, matrix, number):
        before, after = nash_mixture(matrix), nash_mixture(with_copy(matrix, number))
        assert after[number] + after[3] == pytest.approx(before[number], abs=1e-4)
        assert after[number] == pytest.approx(after[3], abs=1e-4)
        ratings = antisymmetric(matrix) @ before
        assert (antisymmetric(with_copy(matrix, number)) @ after)[:3] == pytest.approx(ratings, abs=1e-4)

    def test_nobody_wins_from_it(self):
        rng = np.random.default_rng(5)
        for size in (2, 4, 7, 11):
            matrix = rng.normal(size=(size, size)) * rng.choice([0.01, 1, 50])
            mixture = nash_mixture(matrix)
            assert mixture.sum() == pytest.approx(1)
            assert (antisymmetric(matrix) @ mixture).max() < 1e-5 * np.abs(matrix).max()


class TestAlphaRank:
    @pytest.fixture(autouse=True)
    def installed(self):
        pytest.importorskip("open_spiel.python.egt.alpharank", reason="needs OpenSpiel")

    def test_of_a_cycle_is_all_alike(self):
        assert alpha_rank(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-3)

    def test_is_the_agent_that_beats_all_others(self):
        assert alpha_rank(DOMINATED) == pytest.approx([1, *[0] * (len(DOMINATED) - 1)], abs=1e-3)


class TestIntervals:
    def payoffs(self, deals):
        rng = np.random.default_rng(3)
        by_deal = rng.normal(1.0, 4.0, (3, 3, deals)) * ~np.eye(3, dtype=bool)[:, :, None]
        return Payoffs(("a", "b", "c"), by_deal)

    def test_of_means_are_those_of_the_sampling_error(self):
        payoffs = self.payoffs(2000)
        mean = payoffs.summary()["a"]["mean"]
        assert mean.mean == pytest.approx(payoffs.matrix[0].sum() / 2)
        error = payoffs.by_deal[0].sum(axis=0).std() / 2 / np.sqrt(2000)
        assert (mean.high - mean.low) / 2 == pytest.approx(1.96 * error, rel=0.2)
        low, high = payoffs.intervals()[0, 1]
        assert low < payoffs.matrix[0, 1] < high
        assert (high - low) / 2 == pytest.approx(1.96 * payoffs.by_deal[0, 1].std() / np.sqrt(2000), rel=0.1)

    def test_of_few_deals_are_none(self):
        mean = self.payoffs(20).summary()["a"]["mean"]
        assert (mean.low, mean.high) == (-np.inf, np.inf)
        assert (self.payoffs(20).intervals() == [-np.inf, np.inf]).all()


DUELS = {"Hebei $": {("a", "b"): Estimate(0.2, 0.1, 0.3), ("b", "a"): Estimate(-0.1, -0.3, 0.1)}}


class TestPicture:
    def test_names_agents_and_says_what_is_clear(self):
        drawn = picture(DUELS, "light")
        assert re.search(r"weight: 700[^>]*>\+0.20<", drawn)
        assert re.search(r">-0.10<|>\u22120.10<", drawn)
        assert not re.search(r"weight: 700[^>]*>.0.10<", drawn)
        assert {"a", "b", "Hebei $"} <= set(re.findall(r">([^<>]+)</text>", drawn))

    def test_who_beats_the_best_stands_above_who_wins_more_from_the_weak(self):
        wins = {("best", "good"): 0.1, ("best", "bully"): 0.2, ("good", "bully"): 0.1}
        wins |= {("best", "weak"): 0.3, ("good", "weak"): 0.3, ("bully", "weak"): 0.9}
        both = wins | {(other, one): -points for (one, other), points in wins.items()}
        agents = ("weak", "bully", "good", "best")
        table = {pair: Estimate(both[pair], both[pair], both[pair]) for pair in permutations(agents, 2)}
        drawn = picture({"Hebei": table}, "light")
        assert [one for one in re.findall(r">([a-z]+)</text>", drawn) if one in agents] == 2 * [*agents[::-1]]

    def test_is_the_same_every_time_and_has_no_ground(self):
        light, dark = (picture(DUELS, theme) for theme in ("light", "dark"))
        assert light == picture(DUELS, "light")
        assert "#cfd3da" in dark
        assert "#cfd3da" not in light
        assert 'style="fill: #ffffff; ' not in dark.partition('<g id="axes_1"')[0]


def test_a_matrix_is_of_those_who_have_all_met():
    met, half = Estimate(0.1, 0.0, 0.2), {"mean": 0.1, "low": 0.0, "high": 0.2}
    rows = {"hebei": {"greedy": {"duels": {"random": half}}, "random": {"duels": {"greedy": half}}, "value": {}}}
    assert standing.matrices(rows) == {"Hebei": {("greedy", "random"): met, ("random", "greedy"): met}}
    rows["hebei"]["value"] = {"duels": {"greedy": half}}
    assert set(standing.matrices(rows)["Hebei"]) == {("greedy", "random"), ("random", "greedy")}
