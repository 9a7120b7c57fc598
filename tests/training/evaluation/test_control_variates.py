"""Control variates: innovations have mean zero whoever plays, luck narrows intervals, shipped weights were fitted."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

from mahjong_agents import AgentError, GreedyAgent, RandomAgent, make_agent
from mahjong_agents import control_variates as luck_module
from mahjong_agents.control_variates import (
    FEATURES,
    UNIT,
    WEIGHTS_FILE,
    Luck,
    innovations,
    useful_weights,
    weights_of,
)
from mahjong_env import VARIANTS, make_engine, rules
from mahjong_env.cli import main
from mahjong_env.environments.agents import choose_actions
from mahjong_training.evaluation.matches import measure
from support.marks import everyday, variants

WORTHWHILE = sorted(name for name in VARIANTS if useful_weights(rules(name)) is not None)


def play(variant, agents, games, seed, weights=None, each=lambda engine, luck: None, **knobs):
    engine = make_engine(rules(variant, **knobs), games, seed=seed)
    rng = np.random.default_rng(seed)
    who = rng.integers(0, len(agents), (games, engine.num_people))
    luck = Luck(engine, weights)
    before = engine.points
    while (live := np.flatnonzero((seats := engine.seat_to_act) >= 0)).size:
        engine.step(choose_actions(engine, live, agents, who[live, seats[live]], rng), games=live)
        luck.add(live)
        each(engine, luck)
    return engine.points - before, luck


class TestInnovations:
    @pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
    def test_every_tile_of_the_wall_is_as_likely(self, variant, monkeypatch):
        """The one thing that makes them unbiased: over all tiles that could have been drawn, each has mean zero."""
        checked = 0

        def with_every_tile(draws, weights):
            nonlocal checked
            found = innovations(draws)
            if checked < 6:
                _check_mean(draws, found)
                of_variant = weights_of(rules(variant))
                np.testing.assert_allclose(innovations(draws, of_variant), found @ of_variant, rtol=1e-9, atol=1e-9)
                checked += 1
            return found

        monkeypatch.setattr(luck_module, "innovations", with_every_tile)
        monkeypatch.setattr(luck_module, "_DRAWS_AT_ONCE", 1)  # while the table is as it was when the tile was drawn
        play(variant, [GreedyAgent(), RandomAgent()], 3, 5)
        assert checked == 6

    @pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
    def test_they_sum_to_zero_over_the_seats(self, variant):
        _, luck = play(variant, [GreedyAgent()], 8, 7)
        assert np.abs(luck.sums).max() > 0.5
        np.testing.assert_allclose(luck.sums.sum(axis=1), 0, atol=1e-9 * np.abs(luck.sums).max())

    @pytest.mark.slow
    @pytest.mark.parametrize("agent", ["greedy", "random", "value"])
    @pytest.mark.parametrize("variant", sorted(VARIANTS))
    def test_they_have_mean_zero_whoever_plays(self, variant, agent):
        _, luck = play(variant, [make_agent(agent)], 300 if agent == "value" else 1500, 8)
        spread = luck.sums.std(axis=0)
        seen = (luck.sums != 0).sum(axis=0) > 50  # fewer are not normal
        z = luck.sums.mean(axis=0)[seen] / (spread[seen] / np.sqrt(len(luck.sums)))
        assert seen.sum() > 100
        assert np.abs(z).max() < 4.8  # of some 400
        assert 0.7 < z.std() < 1.3


def _check_mean(draws, found):
    """Put each kind into the place of the drawn one, and weigh what the innovations then are by how many there are."""
    state, seat, rows = draws.engine.state, draws.seat, np.arange(len(draws.games))
    total = np.zeros_like(found)
    for kind in range(34):
        at = np.full(len(rows), kind)
        hand = draws.hand.copy()
        hand[rows, at] += 1
        kept_hand, kept_drawn = state.hand[draws.games, seat], state.drawn[draws.games]
        state.hand[draws.games, seat], state.drawn[draws.games] = hand, at
        other = copy.copy(draws)
        other.kind = at
        other._find_wins()
        total += innovations(other) * draws.wall[:, kind, None, None]
        state.hand[draws.games, seat], state.drawn[draws.games] = kept_hand, kept_drawn
    np.testing.assert_allclose(
        total / draws.wall.sum(axis=1)[:, None, None], 0, atol=1e-6 * max(1, np.abs(found).max())
    )


class TestLuck:
    @pytest.mark.parametrize("knobs", [{}, {"players": 4}, {"rotation": True}])
    def test_it_belongs_to_persons_and_sums_to_zero(self, knobs):
        _, luck = play("hebei", [GreedyAgent()], 6, 3, weights_of(rules("hebei")), **knobs)
        by_person = luck.by_person()
        assert by_person.shape == (6, luck._engine.num_people)
        assert np.abs(by_person.sum(axis=1)).max() <= 4  # rounded
        assert np.abs(by_person).max() > UNIT / 10

    def test_nor_on_how_many_draws_are_looked_at_at_once(self, monkeypatch):
        found = []
        for at_once in (1, 50, 10**6):
            monkeypatch.setattr(luck_module, "_DRAWS_AT_ONCE", at_once)
            noted = []

            def note(engine, luck, noted=noted):
                games = np.arange(0, engine.num_games, 2)
                luck.note(games, games % engine.num_people)
                noted.append(luck.by_person()[games, games % engine.num_people] if at_once == 1 else None)  # noqa: B023

            _, luck = play("taiwan", [GreedyAgent()], 12, 3, weights_of(rules("taiwan")), each=note)
            found.append((luck.sums, luck.noted(), noted))
        np.testing.assert_array_equal(found[0][1], np.concatenate(found[0][2]))
        for sums, noted, _ in found[1:]:
            np.testing.assert_array_equal(sums, found[0][0])
            np.testing.assert_array_equal(noted, found[0][1])
        assert len(np.unique(found[0][1])) > 100

    def test_it_does_not_depend_on_the_batch(self):
        weights = weights_of(rules("wuhan"))
        engine = make_engine("wuhan", 6, seed=3)
        parts = [engine.select(np.arange(6)), engine.select(np.arange(2, 3))]
        found = []
        for part, games in zip(parts, (np.arange(6), np.array([2])), strict=True):
            luck = Luck(part, weights)
            while (live := np.flatnonzero(part.seat_to_act >= 0)).size:
                part.step(part.action_mask[live].argmax(axis=1), games=live)
                luck.add(live)
            found.append(dict(zip(games.tolist(), luck.by_person().tolist(), strict=True)))
        assert found[0][2] == found[1][2]

    @pytest.mark.parametrize("variant", everyday(WORTHWHILE, ["hebei"]))
    def test_it_narrows_intervals(self, variant):
        """By how much depends on the variant and the agents: docs/evaluation.md has what was measured."""
        table = rules(variant)
        lineup = (0, *[1] * (table.people - 1))
        agents = [GreedyAgent(claims=False), GreedyAgent()]
        found = measure(table, agents, lineup, deals=250, seed=9, control_variates=True).of(0)
        assert found.points.half_width < 0.92 * found.with_luck.half_width
        assert abs(found.points.mean - found.with_luck.mean) < 2.5 * found.with_luck.half_width

    def test_points_come_with_and_without(self):
        table, agents = rules("hebei"), [GreedyAgent(), RandomAgent()]
        plain = measure(table, agents, (0, 1, 1), deals=20, seed=4)
        found = measure(table, agents, (0, 1, 1), deals=20, seed=4, control_variates=True)
        assert plain.of(0).with_luck is None
        assert found.of(0).with_luck == plain.of(0).points
        assert found.of(0).points != plain.of(0).points
        assert found.of(0).wins == plain.of(0).wins
        assert sum(one.points.mean * one.seats for one in found.standings) == pytest.approx(0, abs=1e-5)


class TestWeights:
    def test_every_variant_has_some(self):
        known = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))["variants"]
        assert sorted(known) == sorted(VARIANTS)
        for variant, one in known.items():
            assert one["hands"] >= 1000
            assert one["left"] < 0.95
            assert set(one["weights"]) <= set(FEATURES)
            assert weights_of(rules(variant)).shape == (len(FEATURES),)
        assert WEIGHTS_FILE.stat().st_size < 60_000

    def test_a_variant_without_is_a_named_error(self, monkeypatch):
        monkeypatch.setattr(luck_module, "_fitted", dict)
        with pytest.raises(AgentError, match="mahjong-env fit-control-variates --variant hebei"):
            weights_of(rules("hebei"))

    def test_the_command_fits_them_again(self, tmp_path, capsys):
        path = tmp_path / "weights.json"
        for variant in ("taiwan", "hebei"):
            words = ["fit-control-variates", "--variant", variant, "--hands", "20", "--out", str(path)]
            assert main(words) == 0
        assert "luck leaves" in capsys.readouterr().out
        known = json.loads(path.read_text(encoding="utf-8"))["variants"]
        assert sorted(known) == ["hebei", "taiwan"]
        first = path.read_text(encoding="utf-8")
        assert main(words) == 0
        assert path.read_text(encoding="utf-8") == first

    def test_a_file_that_cannot_be_written(self, tmp_path, capsys):
        assert main(["fit-control-variates", "--variant", "hebei", "--hands", "4", "--out", str(tmp_path)]) == 2
        assert "cannot be written" in capsys.readouterr().err

    @pytest.mark.parametrize("text", ["# notes", "[]", '{"format": "mahjong_env.dataset"}', '{"variants": []}'])
    def test_a_file_of_something_else_is_left_alone(self, text, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr("mahjong_training.fit_control_variates.make_engine", None)  # nothing is played
        path = tmp_path / "notes"
        path.write_text(text, encoding="utf-8")
        assert main(["fit-control-variates", "--variant", "hebei", "--hands", "4", "--out", str(path)]) == 2
        assert f"error: {path}: not a file of weights" in capsys.readouterr().err
        assert path.read_text(encoding="utf-8") == text
