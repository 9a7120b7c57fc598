"""Keys of hands: seed, game and hand each go their own way into them."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_env import make_engine
from mahjong_env.basics.chance import draw_numbers, fold_seed, hand_keys
from mahjong_env.state.arrays import State


def keys(seeds, games, hands=(0,)):
    """[seeds, games, hands] keys."""
    folded = np.array([fold_seed(seed) for seed in seeds], np.uint64)
    return hand_keys(folded[:, None, None], np.asarray(games)[:, None], np.asarray(hands))


def is_distinct(found):
    return len(np.unique(found)) == found.size


class TestKeys:
    @pytest.mark.thorough
    def test_of_2000_seeds_and_2000_games_are_distinct(self):
        found = keys(range(2000), np.arange(2000))
        assert is_distinct(found)
        assert (found[..., 0] != found[..., 0].T).sum() == 2000 * 1999  # (a, b) is not (b, a)

    def test_of_seeds_games_and_hands_are_distinct(self):
        assert is_distinct(keys(range(100), np.arange(200), np.arange(100)))

    def test_of_long_seeds_are_distinct(self):
        seeds = [base + number for base in (0, 2**32, 2**40, 2**56, 2**64, 2**128) for number in range(50)]
        assert is_distinct(keys(seeds, np.arange(200)))

    def test_are_not_those_of_what_a_hand_draws(self):
        """Nor do hands that follow each other share what they draw."""
        hands = keys(range(20), np.arange(20), np.arange(20)).reshape(-1)
        drawn = [draw_numbers(hands, place, 2**62) for place in range(1, 20)]
        assert is_distinct(np.stack(drawn))


class TestDeals:
    def test_game_k_of_seed_0_is_not_game_0_of_seed_k(self):
        batch = make_engine("hebei", 1000, seed=0).state.wall
        alone = np.concatenate([make_engine("hebei", 1, seed=k).state.wall for k in range(1000)])
        assert (batch == alone).all(axis=1).nonzero()[0].tolist() == [0]  # game 0 of seed 0 is what it is

    def test_the_same_number_of_seed_and_game_is_nothing_special(self):
        walls = [make_engine("hebei", k + 1, seed=k).state.wall[k] for k in range(50)]
        assert len(np.unique(walls, axis=0)) == 50

    @pytest.mark.thorough
    def test_a_million_are_distinct(self):
        """Found symmetric keys once: of 25 seeds, 20,000 games and 2 hands 648 were dealt twice."""
        found = []
        for seed in range(25):
            engine = make_engine("hebei", 20_000, seed=seed)
            for _ in range(2):
                found.append(engine.state.wall.view(f"V{engine.state.wall.shape[1]}").ravel().copy())
                engine.reset()
        assert len(np.unique(np.concatenate(found))) == 1_000_000

    def test_dice_fall_as_dice_do(self):
        """Taiwan throws three and counts from the dealer as one; Hangzhou two, of which doubles are told."""
        state = make_engine("taiwan", 4096, seed=5).state
        sums = [a + b + c for a in range(1, 7) for b in range(1, 7) for c in range(1, 7)]
        expected = np.bincount(sums) * 4096 / 216
        assert (abs(np.bincount(state.dice, minlength=19) - expected) <= 5 * expected**0.5).all()
        east = (state.dealer + state.dice - 1) % 4
        np.testing.assert_array_equal(state.house_wind, (np.arange(4) - east[:, None]) % 4)
        plain = make_engine("taiwan", 64, seed=5, dealer_is_east=True).state
        assert not plain.dice.any()
        np.testing.assert_array_equal(plain.house_wind, (np.arange(4) - plain.dealer[:, None]) % 4)
        dice = make_engine("hangzhou", 600, seed=6, lao_dice=True).state.dice
        assert 70 < (dice > 0).sum() < 130
        assert set(dice.tolist()) == {0, 2, 4, 6, 8, 10, 12}
        assert not make_engine("hangzhou", 600, seed=6).state.dice.any()


class TestWorlds:
    def test_have_hands_to_come_of_their_own(self):
        engine = make_engine("hebei", 500, seed=3)
        worlds = engine.view().worlds(40, np.random.default_rng(3))
        assert is_distinct(next_keys(worlds.state))
        assert not np.isin(next_keys(worlds.state), next_keys(engine.state)).any()


def next_keys(state: State):
    return hand_keys(state.seed, state.stream, state.hands_dealt)
