"""The referee by itself: whole games of its own shuffling, for crashes, conservation and endings."""

import random
from collections import Counter

import pytest

from oracle.referee import Referee
from oracle.referee.bots import any_action, greedy_action, shuffled_start
from oracle.referee.tiles import ACTIONS

SETTINGS = [
    ("wuhan", {}),
    ("wuhan", {"cap": None, "discard_payers": "discarder", "dealer_rule": "winner_becomes"}),
    ("wuhan", {"wild_hand_discard_win": False, "red_indicator": "green", "dealer_rule": "retain_on_draw"}),
    ("hangzhou", {}),
    ("hangzhou", {"fortune": "white", "cap": 64, "lao_dice": True, "discard_payment": "all_shares"}),
    ("hangzhou", {"match_end": "points", "initial_points": 40, "kong_capture": "always", "dealer_loss": "lao"}),
    ("hebei", {}),
    ("hebei", {"rotation": True, "dealer_on_draw": "next"}),
    ("hebei", {"players": 4, "single_hanging": "any_single_wait", "cap": 8, "discard_payers": "all"}),
    ("taiwan", {}),
    ("taiwan", {"dealer_is_east": True, "add_discard_to_pung": False, "dead_tiles": 14, "unit": 2}),
    ("fuzhou", {}),
    ("fuzhou", {"rob_kong": True, "specials": "highest", "full_bloom": "total", "dealer_on_draw": "stay"}),
]


def tiles_on_the_table(referee):
    lying = list(referee.wall) + list(referee.indicators)
    for person in range(referee.people):
        lying += referee.hands[person] + referee.flowers[person] + referee.discards[person]
        for _, tiles, _ in referee.melds[person]:
            lying += tiles
    return lying + [referee.offered] * (referee.offered is not None)


def check_table(referee):
    assert Counter(tiles_on_the_table(referee)) == Counter(referee.variant.tiles)
    assert sum(referee.points) == sum(referee.start_points)
    assert referee.legal() <= set(ACTIONS)
    if referee.to_act is None:
        assert referee.match_over or referee.wants_deal
        assert not referee.legal()
        return
    assert referee.legal()
    seat = referee.person_of.index(referee.to_act)
    sizes = [len(player.hand) + 3 * len(player.melds) for player in referee.players]
    dealt = 3 * referee.variant.sets + 1
    extra = [size - dealt for size in sizes]
    if not referee.questions:
        assert extra == [int(other == seat) for other in range(len(sizes))]
    else:
        # the dealer at Fuzhou's reveal holds his seventeen; who has drawn an eighth flower has not replaced it yet
        assert all(more in (0, 1) for more in extra)


def play_match(variant, knobs, act, seed, num_hands):
    rng = random.Random(seed)
    referee = Referee(variant, knobs=knobs, num_hands=num_hands)
    referee.start_points = list(referee.points)
    results, steps = [], 0
    while not referee.match_over:
        if referee.wants_deal:
            referee.deal(shuffled_start(referee, rng))
        else:
            before = list(referee.points)
            rewards = referee.apply(act(referee, rng))
            assert sum(rewards) == 0
            assert [b + r for b, r in zip(before, rewards, strict=True)] == referee.points
            steps += 1
        if referee.hand_over:
            results.append(referee.result)
            assert sum(referee.result.payments) == 0
        check_table(referee)
        assert steps < 1000 * 200
    assert results
    return referee, results


@pytest.mark.parametrize(("variant", "knobs"), SETTINGS)
def test_random_games_end_and_lose_nothing(variant, knobs):
    num_hands = 1 if knobs.get("match_end") == "points" else 6
    _, results = play_match(variant, knobs, any_action, seed=1, num_hands=num_hands)
    assert len(results) >= num_hands


@pytest.mark.parametrize(("variant", "knobs"), SETTINGS)
def test_greedy_games_are_won_and_lose_nothing(variant, knobs):
    winners = []
    for seed in range(4):
        referee, results = play_match(variant, knobs, greedy_action, seed, num_hands=5)
        winners += [result.winner for result in results if result.winner is not None]
        if knobs.get("match_end") == "points":
            assert min(referee.points) <= 0 or len(results) == 200
    assert winners


def test_a_refused_action_changes_nothing():
    referee = Referee("hebei")
    referee.start_points = list(referee.points)
    referee.deal(shuffled_start(referee, random.Random(3)))
    before = referee.hands, referee.left, referee.legal()
    with pytest.raises(ValueError, match="may not"):
        referee.apply("pass")
    assert (referee.hands, referee.left, referee.legal()) == before
