"""Scenes played by the referee alone: who is asked, in which order, what is paid when, and how hands end."""

import random

from oracle.referee import Referee, Start
from oracle.referee.bots import greedy_action, shuffled_start
from oracle.referee.tiles import is_flower_or_season, tiles_from


def arranged(variant, hands, draws="", replacements="", indicators="", left=None, num_hands=1, knobs=None, **facts):
    """A Referee at a deal with these hands and draws; the rest of the wall is filled from a shuffle."""
    referee = Referee(variant, knobs=knobs, num_hands=num_hands)
    named = [tiles_from(text) for text in (*hands, draws, replacements, indicators)]
    rest = list(referee.variant.tiles)
    for tile in [tile for tiles in named for tile in tiles]:
        rest.remove(tile)
    random.Random(5).shuffle(rest)
    if referee.variant.flower_kinds:  # none by surprise among the next tiles
        rest.sort(key=lambda tile: tile in referee.variant.flower_kinds)
        half = len(rest) // 2
        rest = rest[:half:2] + rest[half:] + rest[1:half:2]
    *hands, front, back, turned = named
    if left is not None:
        wanted = left + referee.variant.reserve() - len(front) - len(back)
        rest = rest[:wanted]
    referee.deal(Start(hands, [*front, *rest, *reversed(back)], turned, **facts))
    return referee


def play(referee, *steps):
    """Each step is "seat action"; the rewards of the last one."""
    rewards = None
    for step in steps:
        seat, action = step.split(" ", 1)
        assert referee.to_act == int(seat), f"{referee.to_act} is asked, before {step!r}"
        rewards = referee.apply(action)
    return rewards


# --- claims, with Hebei at four ---------------------------------------------------------------------

FOUR = {"players": 4}
CLAIMS = [
    "3m 147p 147s 1122334z",  # the dealer: 14 tiles, 3m will be discarded
    "12m 58p 369s 555z 6z 99p",  # chow
    "33m 258s 369p 3z 4z 667z",  # pung
    "456m 123p 789p 456s 3m",  # win: a pair of 3m
]


def test_the_winner_is_asked_first_and_who_cannot_outrank_is_not_asked():
    referee = arranged("hebei", CLAIMS, knobs=FOUR)
    play(referee, "0 discard 3m")
    assert (referee.to_act, referee.legal()) == (3, {"win", "pass"})
    assert play(referee, "3 win") == [-2, 0, 0, 2]  # Closed Hand
    assert referee.result.rows == [("Closed Hand", 2)]
    assert "3m" not in referee.discards[0]


def test_pung_before_chow_and_the_turn_goes_on_from_the_claimer():
    referee = arranged("hebei", CLAIMS, knobs=FOUR)
    play(referee, "0 discard 3m", "3 pass")
    assert (referee.to_act, referee.legal()) == (2, {"pung", "pass"})
    play(referee, "2 pung")
    assert referee.to_act == 2
    assert all(action.startswith("discard") for action in referee.legal())
    assert referee.melds[2] == [("pung", ["3m"] * 3, 0)]
    referee = arranged("hebei", CLAIMS, knobs=FOUR)
    play(referee, "0 discard 3m", "3 pass", "2 pass")
    assert (referee.to_act, referee.legal()) == (1, {"chow high", "pass"})
    play(referee, "1 chow high")
    assert referee.melds[1] == [("chow", ["1m", "2m", "3m"], 0)]


def test_a_lower_claim_is_granted_when_nobody_can_outrank_it():
    hands = list(CLAIMS)
    hands[2] = "1m 258s 369p 4m 3z 4z 667z"
    hands[3] = "33m 44s 456m 123p 789p"  # win or pung on 3m
    referee = arranged("hebei", hands, knobs=FOUR)
    play(referee, "0 discard 3m")
    assert referee.legal() == {"win", "pung", "pass"}
    play(referee, "3 pung")
    assert referee.to_act == 3
    assert not referee.hand_over


# --- Hebei: kongs -----------------------------------------------------------------------------------

ROBBING = ["123p 456p 789p 1122z 5m", "55m 19p 19s 19m 33445z", "46m 123s 456s 789s 77z"]
ROBBING_DRAWS = "9p 8s 5m"


def test_an_exposed_kong_is_paid_by_the_discarder_and_replaced():
    hands = ["123m 456m 789m 11p 22p 9s", "999s 147m 258p 1234z", "147s 369p 5677z 123p"]
    referee = arranged("hebei", hands, replacements="1z")
    assert referee.left == 84
    play(referee, "0 discard 9s")
    assert referee.legal() == {"pung", "kong", "pass"}
    assert play(referee, "1 kong") == [-2, 2, 0]
    assert referee.left == 83
    assert referee.hands[1].count("1z") == 2
    assert referee.points == [48, 52, 50]


def to_the_added_kong():
    referee = arranged("hebei", ROBBING, draws=ROBBING_DRAWS, replacements="6z")
    play(referee, "0 discard 5m")
    assert (referee.to_act, referee.legal()) == (2, {"win", "pass"})
    play(referee, "2 pass", "1 pung", "1 discard 9m", "2 discard 9p", "0 pass", "0 discard 8s")
    assert "added kong 5m" in referee.legal()
    assert play(referee, "1 added kong 5m") == [0, 0, 0]  # paid after the window only
    assert (referee.to_act, referee.legal()) == (2, {"win", "pass"})
    return referee


def test_a_robbed_kong_is_not_made_and_the_konger_alone_pays():
    referee = to_the_added_kong()
    assert play(referee, "2 win") == [0, -8, 8]
    assert referee.result.rows == [("Closed Hand", 2), ("Robbing a Kong", 2), ("One Dragon", 2)]
    assert referee.melds[1] == [("pung", ["5m"] * 3, 0)]


def test_an_added_kong_that_nobody_robs_is_paid_by_all():
    referee = to_the_added_kong()
    assert play(referee, "2 pass") == [-1, 2, -1]
    assert referee.melds[1] == [("added kong", ["5m"] * 4, 0)]
    assert referee.to_act == 1
    assert "6z" in referee.hands[1]


def test_the_last_discard_can_only_be_won_on():
    hands = ["123m 456m 789m 11p 22p 9s", "999s 147m 258p 1234z", "88s 369p 5677z 1235p"]
    referee = arranged("hebei", hands, draws="8s", left=1)
    play(referee, "0 discard 9s", "1 pass")
    assert referee.left == 0
    assert not any("kong" in action for action in referee.legal())
    play(referee, "1 discard 8s")  # seat 2 holds a pair of it, but the wall is empty
    assert referee.match_over
    assert referee.result.winner is None


def test_the_winner_sits_out_and_the_deal_stays_with_the_seat():
    hands = ["123m 456m 789m 11p 222p", "999s 147m 58p 12344z", "147s 369p 5677z 134p"]
    referee = arranged("hebei", hands, knobs={"rotation": True}, num_hands=2)
    assert play(referee, "0 win") == [16, -8, -8, 0]  # dealer, closed, one dragon
    assert (referee.wants_deal, referee.dealer, referee.streak) == (True, 3, 1)
    wall = list(referee.variant.tiles)
    referee.deal(Start([wall[:14], wall[14:27], wall[27:40]], wall[40:]))
    assert referee.to_act == 3
    assert referee.hands[0] == []


# --- Wuhan ------------------------------------------------------------------------------------------


def test_wild_and_red_tiles_are_claimed_by_nobody_and_four_wilds_are_a_kong():
    hands = ["7777m 77z 147p 258s 12z", "77z 99m 22p 33p 44s 66s 1z", "123m 369p 258p 1345z", "1234m 123p 147s 666z"]
    referee = arranged("wuhan", hands, indicators="6m", draws="9s")
    assert referee.wild == "7m"
    assert {a for a in referee.legal() if "kong" in a} == {"concealed kong 7m"}
    play(referee, "0 discard 7z")
    assert referee.to_act == 1  # nobody was asked about the Red; seat 1 has drawn
    assert referee.hands[1].count("9s") == 1
    hands[0], hands[1] = "777m 77z 147p 258s 123z", "89m 7z 99m 22p 33p 4s 66s 1z"
    referee = arranged("wuhan", hands, indicators="6m", draws="7z")
    play(referee, "0 discard 7m")
    assert referee.to_act == 1
    assert referee.hands[1].count("7z") == 2


# --- Hangzhou ---------------------------------------------------------------------------------------


def test_a_gambit_locks_the_others_until_the_gambiters_next_discard():
    hands = ["5z 147m 258p 369s 1234z", "66z 1346m 1346p 134s", "77z 99m 79s 22p 666s 19p", "369m 147p 258s 1234z"]
    referee = arranged("hangzhou", hands, indicators="5z", draws="7z 8m 5s 9m")
    assert referee.left == 63
    play(referee, "0 discard 5z", "1 discard 7z", "2 discard 8m", "3 discard 5s")
    assert (referee.to_act, referee.legal()) == (0, {"discard 9m"})
    play(referee, "0 discard 9m")
    assert (referee.to_act, referee.legal()) == (2, {"pung", "pass"})


def test_a_gambit_won_on_the_next_turn():
    """Fortune discarded, then self-drawn: 1 x 2, the dealer at 1 Lao doubles: 4 each."""
    hands = ["123m 456m 789s 11p 44z 5z", "346p 1346m 1345s 66z", "77z 99m 79s 22p 666s 19p", "369m 147p 258s 123z 6z"]
    referee = arranged("hangzhou", hands, indicators="5z", draws="7z 8m 5s 4z", num_hands=2)
    play(referee, "0 discard 5z", "1 discard 7z", "2 discard 8m", "3 discard 5s")
    assert referee.legal() == {"discard 4z", "win"}
    assert play(referee, "0 win") == [12, -4, -4, -4]
    assert referee.result.rows == [("Base Score", 1), ("Fortune Gambit", 2)]
    assert (referee.dealer, referee.streak) == (0, 1)


# --- Taiwan -----------------------------------------------------------------------------------------

SIXTEEN = ["5m 147p 147s 112233z 9m 6z 2m", "55m 258p 258s 1345z 6789p", "369p 369s 123z 8m 3m 9s 8s 5z 6z 4z"]
SIXTEEN.append("1m 4m 7m 1p 4p 7p 1s 4s 7s 77z 66z 55z 9s")


def test_a_discard_may_be_added_to_an_exposed_pung():
    for knobs, options in (({}, {"kong", "pass"}), ({"add_discard_to_pung": False}, None)):
        referee = arranged("taiwan", SIXTEEN, draws="2m 5m 9s", replacements="2s", knobs=knobs)
        assert referee.left == 144 - 64 - 16 - 1
        play(referee, "0 discard 5m", "1 pung", "1 discard 9p")
        play(referee, "2 discard 5m")
        if options is None:
            assert referee.to_act == 3
            continue
        assert (referee.to_act, referee.legal()) == (1, options)
        play(referee, "1 kong")
        assert referee.melds[1] == [("added kong", ["5m"] * 4, 0)]
        assert referee.to_act == 1


def test_eight_flowers_are_asked_in_the_turn_in_which_the_eighth_is_exposed():
    """8 tai paid as self-touch: 3 + 8, and 1 more by the dealer; he may also play on, and is not asked again."""
    hands = list(SIXTEEN)
    hands[1] = "F1234 S123 1345z 6789p 2s"
    for answer, rewards in (("win", [-12, 34, -11, -11]), ("discard 7z", [0] * 4)):
        referee = arranged("taiwan", hands, draws="2m S4", replacements="258p 58s 55m 7z")
        play(referee, "0 discard 9m")
        assert referee.to_act == 1
        assert {"win", "discard 7z"} <= referee.legal()
        assert "pass" not in referee.legal()
        assert len(referee.hands[1]) == 17
        assert play(referee, f"1 {answer}") == rewards
        if answer == "win":
            assert referee.result.rows == [("Eight Flowers", 8)]
        while not referee.hand_over and referee.to_act != 1:
            referee.apply("pass" if "pass" in referee.legal() else f"discard {referee.drawn}")
        assert "win" not in referee.legal()


def test_the_round_wind_advances_when_all_four_have_lost_the_deal():
    referee = Referee("taiwan", num_hands=30)
    rng = random.Random(2)
    passes = 0
    while not referee.match_over:
        if referee.wants_deal:
            start = shuffled_start(referee, rng)
            start.house_dice = 7
            referee.deal(start)
            dealer = referee.dealer
            # a 7 makes the player across East (taiwan.md#house-winds)
            assert referee.house_winds[(dealer + 2) % 4] == "1z"
        else:
            referee.apply(greedy_action(referee, rng))
        if referee.hand_over and referee.wants_deal:
            dealer_stays = referee.result.winner in (None, dealer)
            passes += not dealer_stays
            assert referee.dealer == (dealer if dealer_stays else (dealer + 1) % 4)
            assert referee.round_wind == ["1z", "2z", "3z", "4z"][passes // 4 % 4]
    assert passes > 8


# --- Fuzhou -----------------------------------------------------------------------------------------

LOOSE = ["147p 258p 369p 11s 44s 7s 9s 9p", "12478m 123456p 88p 236s"]
WAITS_FOR_9M = "123m 456m 777s 888s 78m 99s"


def test_the_order_of_questions_at_the_reveal():
    """Heaven, then robbers from the dealer's right, then the dealer's first turn, which is still Heaven."""
    hands = ["123m 456m 789p 123s 456s 55s", LOOSE[0], WAITS_FOR_9M, LOOSE[1]]
    referee = arranged("fuzhou", hands, indicators="9m")
    assert (referee.to_act, referee.legal()) == (0, {"win", "pass"})
    play(referee, "0 pass")
    assert (referee.to_act, referee.legal()) == (2, {"win", "pass"})
    play(referee, "2 pass")
    assert referee.to_act == 0
    assert "win" in referee.legal()
    assert "pass" not in referee.legal()
    play(referee, "0 win")
    assert ("Blessing of Heaven", 50) in referee.result.rows


def test_robbing_by_another_and_by_the_dealers_swap():
    hands = ["123m 456m 78m 123s 456s 55s 1p", LOOSE[0], WAITS_FOR_9M, LOOSE[1]]
    referee = arranged("fuzhou", hands, indicators="1z 9m")
    assert referee.flowers[0] == ["1z"]
    assert (referee.to_act, referee.legal()) == (2, {"win", "pass"})
    play(referee, "2 pass")
    assert (referee.to_act, referee.legal()) == (0, {"win", "pass"})
    play(referee, "0 win")
    rows = [("Base Points", 5), ("Flower Points", 1), ("Gold Points", 1)]
    assert referee.result.rows == [*rows, ("All Sequences", 10), ("One Flower", 15), ("Robbing the Gold", 50)]
    assert referee.indicators == ["1p"]
    assert "1p" not in referee.hands[0]
    assert referee.result.payments == [267, -89, -89, -89]


def test_kongs_make_the_reserve_grow_and_may_end_the_hand():
    hands = ["1111m 3333m 147p 258p 369s", LOOSE[0], "147s 258s 369s 257m 3478p", "999m 22m 6m 58s 37s 134567p"]
    referee = arranged("fuzhou", hands, indicators="8m", left=8, replacements="7m 4s")
    while "pass" in referee.legal():
        referee.apply("pass")
    assert referee.left == 8
    play(referee, "0 concealed kong 1m")
    assert referee.left == 5
    assert not referee.last_discard
    play(referee, "0 concealed kong 3m")
    assert referee.left == 2
    play(referee, "0 discard 9s")
    assert referee.match_over
    assert referee.result.winner is None


def test_no_flower_lies_in_a_hand_after_the_opening():
    referee = Referee("fuzhou")
    wall = list(referee.variant.tiles)
    random.Random(8).shuffle(wall)
    hands = [wall[:17], wall[17:33], wall[33:49], wall[49:65]]
    gold = next(tile for tile in wall[65:] if tile[1] in "mps" and not is_flower_or_season(tile))
    rest = wall[65:]
    rest.remove(gold)
    referee.deal(Start(hands, rest, [gold]))
    assert sum(len(flowers) for flowers in referee.flowers) > 8
    assert all(tile[1] in "mps" for hand in referee.hands for tile in hand if not is_flower_or_season(tile))
