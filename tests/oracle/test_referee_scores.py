"""Hands worked out by hand from the documents, a few for each variant, given to the referee's `score`."""

import pytest

from oracle.referee import score


def check(variant, rows, points, payments, **arguments):
    verdict = score(variant, **arguments)
    assert verdict.legal, verdict.reason
    assert sorted(f"{name} {value}" for name, value in verdict.rows) == sorted(rows)
    assert verdict.points == points
    assert verdict.payments == payments


def refused(variant, **arguments):
    legal, rows, points, payments = score(variant, **arguments)
    assert (legal, rows, points, set(payments)) == (False, [], 0, {0})
    return True


# --- Wuhan ------------------------------------------------------------------------------------------


def test_wuhan_flat_hand_on_a_discard():
    """1 x 2 (open) x 2 (hard) = 4 from each of three (wuhan.md#factors, wuhan.md#who-pays)."""
    hand = {"hand": "456s 234p 78p 55m", "melds": ["chow 123s@3"], "winning_tile": "9p", "wild": "7m"}
    rows = ["Flat Hand 1", "Open Mouth 2", "Hard Win 2"]
    check("wuhan", rows, 4, [12, -4, -4, -4], source="discard", from_seat=3, dealer=1, **hand)
    payers = {"discard_payers": "discarder", "source": "discard", "from_seat": 3, "dealer": 1}
    check("wuhan", rows, 4, [4, 0, 0, -4], **payers, **hand)


def test_wuhan_soft_dealer_self_draw_with_two_reds():
    """1 x 2 x 2 (dealer) x 1.5 x 1 (soft) x 2 x 2 = 24."""
    rows = ["Flat Hand 1", "Open Mouth 2", "Dealer 2", "Self-Draw 1.5", "Soft Win 1", "Red Dragon 2", "Red Dragon 2"]
    hand = {"hand": "456s 234p 7m 8p 55m", "melds": ["chow 123s@3"], "winning_tile": "9p", "wild": "7m"}
    check("wuhan", rows, 24, [72, -24, -24, -24], red_discards=2, **hand)


def test_wuhan_258_pair_open_meld_wild_limit_and_red():
    hand = {"hand": "456s 234p 78p 55m", "melds": ["chow 123s@3"], "winning_tile": "9p", "wild": "1z"}
    assert score("wuhan", **hand).legal
    assert refused("wuhan", **hand | {"hand": "456s 234p 78p 44m"})  # wuhan.md#the-pair-of-2-5-or-8
    assert refused("wuhan", **hand | {"hand": "123456s 234p 78p 55m", "melds": []})  # wuhan.md#an-open-meld
    assert refused("wuhan", **hand | {"hand": "123456s 78p 55m", "melds": ["kong 2222p"]})  # wuhan.md#an-open-meld
    assert refused("wuhan", **hand | {"hand": "456s 23p 1z 78p 5m 1z"})  # wuhan.md#one-wild-tile-at-most
    assert refused("wuhan", **hand | {"hand": "456s 777z 78p 55m"})  # wuhan.md#no-red-dragon-in-hand
    # wuhan.md#what-a-wild-tile-may-do
    assert refused("wuhan", **hand | {"winning_tile": "1z"}, source="discard", from_seat=2)


def test_wuhan_natural_wild_is_hard_and_counts_towards_the_limit():
    hand = {"melds": ["chow 123s@3"], "winning_tile": "9p", "wild": "7p", "dealer": 1}
    rows = ["Flat Hand 1", "Open Mouth 2", "Self-Draw 1.5", "Hard Win 2"]
    check("wuhan", rows, 6, [18, -6, -6, -6], hand="456s 234p 78p 55m", **hand)
    assert refused("wuhan", hand="456s 678p 7p 8p 55m", **hand)


def test_wuhan_full_demand_by_a_discard_is_paid_by_the_discarder():
    """(Full Demand 10 + All Triplets 10) x 2^4 x 2 = 640, cut to 500; the discarder pays 3 x 500.

    wuhan.md#full-responsibility.
    """
    hand = {
        "hand": "3m",
        "melds": ["pung 111m@1", "pung 444p@2", "pung 777s@3", "pung 222z@1"],
        "winning_tile": "3m",
        "wild": "1z",
        "dealer": 1,
    }
    rows = ["Full Demand 10", "All Triplets 10", *["Open Mouth 2"] * 4, "Hard Win 2"]
    check("wuhan", rows, 500, [1500, 0, -1500, 0], source="discard", from_seat=2, **hand)
    check("wuhan", rows, 640, [1920, 0, -1920, 0], source="discard", from_seat=2, cap=None, **hand)
    check("wuhan", [*rows, "Self-Draw 1.5"], 960, [2880, -960, -960, -960], cap=None, **hand)


def test_wuhan_third_claimed_meld_of_a_pure_suit_is_liable():
    """10 x 2^3 x 1.5 x 2 x 4 = 960, cut to 500; seat 3 gave the third claimed meld (wuhan.md#full-responsibility)."""
    melds = ["chow 123s@3", "pung 555s@1", "kong 6666s", "chow 789s@3"]
    rows = ["Pure One Suit 10", *["Open Mouth 2"] * 3, "Self-Draw 1.5", "Hard Win 2", "Concealed Kong 4"]
    check("wuhan", rows, 500, [1500, 0, 0, -1500], hand="4s", winning_tile="4s", melds=melds, dealer=1)


def test_wuhan_wild_card_seven_pairs():
    """10 x 1.5 x 2 (hard) = 30, closed (wuhan.md#an-open-meld); with one suit 20 x 3 = 60."""
    rows = ["Wild Card Seven Pairs 10", "Self-Draw 1.5", "Hard Win 2"]
    hand = {"winning_tile": "9p", "wild": "7m", "dealer": 1}
    check("wuhan", rows, 30, [90, -30, -30, -30], hand="7777m 22p 33s 44p 11z 9p", **hand)
    rows.append("Pure One Suit 10")
    check("wuhan", rows, 60, [180, -60, -60, -60], hand="7777m 22p 33p 4444p 9p", **hand)
    assert refused("wuhan", hand="777m 22p 33s 44p 11z 66s", **hand)


def test_wuhan_big_three_dragons_with_wild_reds():
    """Big Three Dragons may hold Reds, and a wild may be the third (wuhan.md#big-three-dragons)."""
    rows = ["Big Three Dragons 10", "Open Mouth 2", "Self-Draw 1.5", "Soft Win 1"]
    hand = {"hand": "77z 7m 666z 23p 44s", "melds": ["pung 555z@1"], "winning_tile": "4p", "wild": "7m"}
    check("wuhan", rows, 30, [90, -30, -30, -30], dealer=1, **hand)


# --- Hangzhou ---------------------------------------------------------------------------------------


def test_hangzhou_printed_examples():
    """Pure seven pairs by the dealer at 3 Lao is 32 each; explosive gambit at 2 Lao is 16.

    hangzhou.md#what-a-hand-is-worth.
    """
    rows = ["Base Score 1", "Seven Pairs 2", "Pure Seven Pairs 2"]
    hand = {"hand": "11m 33m 55p 77p 99s 22z 4z", "winning_tile": "4z", "wild": "3z"}
    check("hangzhou", rows, 4, [96, -32, -32, -32], dealer_streak=2, **hand)
    rows = ["Base Score 1", "Explosive Pair 2", "Fortune Gambit 2"]
    hand = {"hand": "123m 456p 789s 444z 3z", "winning_tile": "8p", "wild": "3z", "gambits": 1}
    check("hangzhou", rows, 4, [48, -16, -16, -16], dealer_streak=1, **hand)


def test_hangzhou_who_may_win_on_a_discard():
    hand = {"hand": "123m 456p 789s 44z 11p", "winning_tile": "4z", "wild": "3z", "source": "discard"}
    assert refused("hangzhou", from_seat=1, dealer=0, dealer_streak=1, **hand)
    assert refused("hangzhou", from_seat=1, dealer=2, dealer_streak=2, **hand)
    check("hangzhou", ["Base Score 1"], 1, [8, -8, 0, 0], from_seat=1, dealer=0, dealer_streak=2, **hand)
    check("hangzhou", ["Base Score 1"], 1, [1, -1, 0, 0], from_seat=1, dealer=1, dealer_streak=2, **hand)


def test_hangzhou_self_draw_kong_capture_and_penalties():
    hand = {"hand": "44z 11p", "winning_tile": "4z", "wild": "3z"}
    three = {"melds": ["chow 123m@3", "chow 456p@3", "pung 999s@3"]}
    two = {"melds": ["chow 123m@3", "chow 456p@3", "pung 999s@2"]}
    base = ["Base Score 1"]
    check("hangzhou", base, 1, [4, -2, -1, -1], dealer=1, **hand, **two)
    check("hangzhou", base, 1, [8, 0, 0, -8], dealer=1, **hand, **three)  # 2 x (2 + 1 + 1)
    reverse = {1: ["pung 222m@0", "pung 333p@0", "kong 7777s@0"]}
    both = {"dealer": 2, "other_melds": reverse}
    check("hangzhou", base, 1, [16, -8, 0, -8], **hand, **three, **both)  # combined, hangzhou.md#three-meld-penalty
    captured = {"source": "kong", "from_seat": 1, "dealer": 1, "dealer_streak": 2}
    run = hand | {"hand": "56s 11p", "winning_tile": "4s"}
    check("hangzhou", base, 1, [3, -3, 0, 0], **run, **two, **captured)
    check("hangzhou", base, 1, [6, 0, 0, -6], **run, **three, **captured)  # replaces the capture


def test_hangzhou_cap_cuts_shares_and_floor_cuts_payments():
    hand = {"hand": "1111m 3333m 5555p 9s", "winning_tile": "9s", "wild": "3z"}
    rows = ["Base Score 1", "Seven Pairs 2", "Pure Seven Pairs 2", *["Luxury Pairs 2"] * 3]
    check("hangzhou", rows, 32, [384, -128, -128, -128], dealer_streak=1, **hand)
    capped = {"dealer_streak": 1, "cap": 64}
    check("hangzhou", rows, 32, [192, -64, -64, -64], **capped, **hand)
    rest = {"running_points": [50, 0, 30, 100]}
    check("hangzhou", rows, 32, [94, 0, -30, -64], **capped, **rest, **hand)
    check("hangzhou", rows, 32, [192, -64, -64, -64], points_floor=False, **capped, **rest, **hand)


def test_hangzhou_explosive_seven_pairs_and_kong_blossom():
    rows = ["Base Score 1", "Explosive Pair 2", "Seven Pairs 2"]
    hand = {"hand": "11m 33m 55p 77p 99s 22z 3z", "winning_tile": "4z", "wild": "3z", "dealer": 1}
    check("hangzhou", rows, 4, [16, -8, -4, -4], **hand)
    rows = ["Base Score 1", "Explosive Pair 2", "Kong Blossom 2", "Kong Blossom 2"]
    hand = {"hand": "123m 456p 3z", "winning_tile": "8p", "wild": "3z", "melds": ["kong 1111z", "kong 2222z@2"]}
    check("hangzhou", rows, 8, [48, -16, -16, -16], kong_draws=2, **hand)


# --- Hebei ------------------------------------------------------------------------------------------


def test_hebei_printed_example():
    """Dealer, closed, all pungs: 12 by the table, 8 with All Pungs x2 (hebei.md#all-pungs-two-or-three).

    hebei.md#what-a-hand-is-worth.
    """
    hand = {"hand": "111m 222p 333s 444z 5p", "winning_tile": "5p"}
    check("hebei", ["Dealer Win 2", "All Pungs 3", "Closed Hand 2"], 12, [24, -12, -12], **hand)
    rows = ["Dealer Win 2", "All Pungs 2", "Closed Hand 2"]
    check("hebei", rows, 8, [24, -8, -8, -8], all_pungs=2, players=4, **hand)


def test_hebei_ping_hu_wins_by_self_draw_only():
    hand = {"hand": "456s 23p 789p 55m", "melds": ["chow 123s@2"], "winning_tile": "4p"}
    check("hebei", ["Ping Hu 1"], 1, [2, -1, -1], dealer=1, **hand)
    check("hebei", ["Ping Hu 1", "Dealer Win 2"], 2, [4, -2, -2], **hand)
    assert refused("hebei", source="discard", from_seat=1, **hand)
    robbed = {"source": "kong", "from_seat": 1, "dealer": 1}
    check("hebei", ["Robbing a Kong 2"], 2, [2, -2, 0], **robbed, **hand)


@pytest.mark.parametrize(
    ("hand", "last", "rows", "points"),
    [
        ("11m 33m 55p 77p 99s 22z 4z", "4z", ["Seven Pairs 2"], 4),
        ("11m 33m 55m 77m 99m 22z 4z", "4z", ["Mixed Seven Pairs 4"], 8),
        ("11m 33m 55m 77m 99m 22m 4m", "4m", ["Pure Seven Pairs 5"], 10),
        ("1111m 55p 77p 99s 22z 4z", "4z", ["Luxurious Seven Pairs 8"], 16),
        ("1111m 5555m 99m 22z 4z", "4z", ["Double Luxurious Seven Pairs 16", "Mixed One Suit 2"], 64),
        ("1111m 5555m 9999m 4m", "4m", ["Triple Luxurious Seven Pairs 32", "Pure One Suit 3"], 192),
        ("19m 19p 19s 1234567z", "7z", ["Thirteen Orphans 10"], 20),
        ("123m 456m 789m 44p 55z", "4p", ["One Dragon 2"], 4),
        ("123m 456p 789s 44p 55z", "4p", ["Flower Dragon 5"], 10),
        ("111z 222z 333z 444z 5z", "5z", ["All Pungs 3"], 6),
    ],
)
def test_hebei_closed_patterns(hand, last, rows, points):
    payments = [2 * points, -points, -points]
    check("hebei", [*rows, "Closed Hand 2"], points, payments, hand=hand, winning_tile=last, dealer=1)


def test_hebei_single_hanging():
    hand = {"hand": "7p", "winning_tile": "7p", "dealer": 1, "source": "discard", "from_seat": 2}
    melds = ["chow 123s@2", "chow 456s@2", "kong 1111m", "pung 555z@1"]
    check("hebei", ["Single Hanging Tile 2"], 2, [2, 0, -2], melds=melds, **hand)
    edge = {"hand": "12p 99m 456s", "winning_tile": "3p", "melds": ["chow 123s@2", "pung 555z@1"], "dealer": 1}
    check("hebei", ["Ping Hu 1"], 1, [2, -1, -1], **edge)
    check("hebei", ["Single Hanging Tile 2"], 2, [4, -2, -2], single_hanging="any_single_wait", **edge)


# --- Taiwan -----------------------------------------------------------------------------------------


def test_taiwan_peaceful_win_and_the_dealers_tai():
    """2 + 1 + 1 = 4 tai: 3 + 4 from a non-dealer, 3 + 4 + 1 + 2 x 2 from the dealer after two repeats."""
    hand = {"hand": "123m 456m 789p 34s 55s", "melds": ["chow 456p@3"], "winning_tile": "5s", "source": "discard"}
    rows = ["Peaceful Win 2", "No Characters 1", "No Flowers 1"]
    check("taiwan", rows, 4, [7, 0, 0, -7], from_seat=3, dealer=1, dealer_streak=2, **hand)
    check("taiwan", rows, 4, [12, -12, 0, 0], from_seat=1, dealer=1, dealer_streak=2, **hand)
    check("taiwan", rows, 4, [7, -7, 0, 0], from_seat=1, dealer=1, dealer_bonus=False, **hand)


def test_taiwan_honours_and_pungs_self_drawn():
    """House and round wind, a dragon, pungs all over; self-drawn by the dealer: everybody pays 3 + tai + 1."""
    hand = {"hand": "111z 555z 22s 33s", "melds": ["pung 444m@1", "pung 888p@2"], "winning_tile": "3s"}
    rows = ["House Wind 1", "Round Wind 1", "Dragon 1", "All Pungs 4", "Three Hidden Triples 2", "Self-Touch 1"]
    check("taiwan", [*rows, "Own Flower 1", "Own Flower 1"], 12, [48, -16, -16, -16], flowers="F1 S1 F3", **hand)
    rows = ["House Wind 1", "Round Wind 1", "Dragon 1", "All Pungs 4", "No Flowers 1"]
    check("taiwan", rows, 8, [12, -12, 0, 0], source="discard", from_seat=1, **hand)


def test_taiwan_heaven_earth_and_eight_flowers():
    hand = {"hand": "123m 456m 789p 34s 55s 456p", "winning_tile": "2s"}
    rows = ["Heaven 24", "No Characters 1", "No Flowers 1"]
    check("taiwan", rows, 26, [90, -30, -30, -30], first_draw=True, **hand)
    rows[0] = "Earth 16"
    check("taiwan", rows, 18, [64, -22, -21, -21], first_draw=True, dealer=1, **hand)
    flowers = "F1 F2 F3 F4 S1 S2 S3 S4"
    payments = [34, -12, -11, -11]
    check("taiwan", ["Eight Flowers 8"], 8, payments, source="flowers", flowers=flowers, dealer=1, hand="123m")


def test_taiwan_winds_and_dragons_replace_their_triples():
    """8 + 4 + 1 + 2 + 1 + 1 = 17 tai, the house and the round wind not added; dragons likewise."""
    hand = {"hand": "111z 222z 333z 44z 78p", "melds": ["pung 555z@1"], "winning_tile": "9p"}
    rows = ["Little Four Winds 8", "Mixed One Suit 4", "Dragon 1", "Three Hidden Triples 2"]
    check("taiwan", [*rows, "Self-Touch 1", "No Flowers 1"], 17, [63, -21, -21, -21], **hand)
    big = {"hand": "555z 666z 234m 67m 99s", "melds": ["pung 777z@1"], "winning_tile": "8m"}
    check("taiwan", ["Big Three Dragons 8", "Self-Touch 1", "No Flowers 1"], 10, [42, -14, -14, -14], **big)
    little = {"hand": "55z 666z 234m 67m 999s", "melds": ["pung 777z@1"], "winning_tile": "8m"}
    check("taiwan", ["Little Three Dragons 4", "Self-Touch 1", "No Flowers 1"], 6, [30, -10, -10, -10], **little)


def test_taiwan_waiting_for_one_leaves_out_a_kind_held_four_times():
    """56p waits for 4p and 7p; with all four 4p in a hidden gang, for 7p alone (taiwan.md#waiting-for-one)."""
    hand = {"hand": "123m 456m 789s 56p 99s", "winning_tile": "7p"}
    rows = ["Hidden Gang 2", "No Characters 1", "No Flowers 1", "Pure Self-Touch 3"]
    check("taiwan", [*rows, "Waiting for One 1"], 8, [36, -12, -12, -12], melds=["kong 4444p"], **hand)
    check("taiwan", rows, 7, [33, -11, -11, -11], melds=["kong 1111p"], **hand)


def test_taiwan_full_beggars_hand_needs_a_discard_and_no_hidden_gang():
    melds = ["chow 123m@3", "chow 456m@3", "pung 999s@1", "pung 222s@2", "kong 3333p+@2"]
    hand = {"hand": "5p", "winning_tile": "5p", "from_seat": 1}
    rows = ["Waiting for One 1", "Exposed Gang 1", "No Characters 1", "No Flowers 1"]
    full = [*rows, "Full Beggar's Hand 2"]
    check("taiwan", full, 6, [10, -10, 0, 0], melds=melds, source="discard", **hand)
    with pytest.raises(ValueError, match="robbed kong"):  # a pair would be of its kind
        score("taiwan", melds=melds, source="kong", **hand)
    rows[1] = "Hidden Gang 2"
    check("taiwan", rows, 5, [9, -9, 0, 0], melds=[*melds[:4], "kong 3333p"], source="discard", **hand)


def test_taiwan_a_triple_completed_by_a_discard_is_hidden_only_if_the_tile_fits_elsewhere():
    """44s 456s and a 4s: the discarded 4s may go into the run, which leaves 444s hidden."""
    rows = ["Three Hidden Triples 2", "No Characters 1", "No Flowers 1", "Pure Hand 1"]
    hand = {"hand": "111m 333p 444s 56s 789p 99m", "winning_tile": "4s", "source": "discard", "from_seat": 2}
    verdict = score("taiwan", **hand)
    assert ("Three Hidden Triples", 2) in verdict.rows
    rows = {name for name, _ in score("taiwan", **hand | {"hand": "111m 333p 44s 678s 789p 99m"}).rows}
    assert "Three Hidden Triples" not in rows
    assert "Pure Hand" in rows


# --- Fuzhou -----------------------------------------------------------------------------------------


def test_fuzhou_printed_example():
    """(5 + 6 + 1) x 2 + All Sequences: 34 by the table, 39 with 15 (fuzhou.md#all-sequences-10-or-15).

    fuzhou.md#what-a-hand-is-worth.
    """
    hand = {"hand": "123m 456m 789p 34s 55s 45p 9m", "winning_tile": "5s", "wild": "9m", "dealer": 1}
    hand["flowers"] = "1z 2z 3z F1 F2 S1"
    rows = ["Base Points 5", *["Flower Points 1"] * 6, "Gold Points 1"]
    check("fuzhou", [*rows, "All Sequences 10"], 34, [102, -34, -34, -34], **hand)
    check("fuzhou", [*rows, "All Sequences 15"], 39, [117, -39, -39, -39], all_sequences=15, **hand)


def test_fuzhou_golds_together_and_apart():
    """(5 + golds) x 2 + the best starred row, which does not stack with the others (fuzhou.md#special-hands)."""
    hand = {"winning_tile": "5s", "wild": "9m", "dealer": 1}
    golds = ["Base Points 5", *["Gold Points 1"] * 3]
    dragon, apart = "123m 456m 789p 345s 5s 999m", "123m 456m 79p 35s 12p 5s 999m"
    check("fuzhou", [*golds, "Golden Dragon 40"], 56, [168, -56, -56, -56], hand=dragon, **hand)
    claimed = {"source": "discard", "from_seat": 2}
    check("fuzhou", [*golds, "Golden Dragon 40"], 56, [56, 0, -56, 0], hand=dragon, **claimed, **hand)
    everyone = claimed | {"discard_payers": "all"}
    check("fuzhou", [*golds, "Golden Dragon 40"], 56, [168, -56, -56, -56], hand=dragon, **everyone, **hand)
    check("fuzhou", [*golds, "Three Gold Knockdown 30"], 46, [138, -46, -46, -46], hand=apart, **hand)
    pair = hand | {"hand": "123m 456m 789p 345s 68s 99m", "winning_tile": "7s"}
    check("fuzhou", [*golds[:3], "Golden Pair 20"], 34, [102, -34, -34, -34], **pair)


def test_fuzhou_robbing_the_gold_takes_it_as_itself():
    """(5 + 1) x 2 + 10 + 50; a second gold that is wild must leave the robbed one its own kind.

    fuzhou.md#before-the-first-turn, fuzhou.md#when-the-gold-can-be-robbed.
    """
    robbing = {"winning_tile": "9m", "wild": "9m", "robbing_gold": True, "dealer": 1}
    rows = ["Base Points 5", "Gold Points 1", "All Sequences 10", "Robbing the Gold 50"]
    check("fuzhou", rows, 72, [216, -72, -72, -72], hand="123m 456m 789p 345s 55s 78m", **robbing)
    assert refused("fuzhou", hand="123m 456m 789p 345s 55s 78s", **robbing)
    assert score("fuzhou", hand="123m 456m 789p 345s 55s 7m 9m", **robbing).legal
    assert refused("fuzhou", hand="123m 456m 789p 345s 55s 7s 9m", **robbing)


def test_fuzhou_blessings_and_one_flower():
    hand = {"hand": "111m 456m 789p 345s 55s 78p", "winning_tile": "9p", "wild": "9m", "first_draw": True}
    rows = ["Base Points 5", "Flower Points 1", "One Flower 15"]
    check("fuzhou", [*rows, "Blessing of Heaven 50"], 77, [231, -77, -77, -77], flowers="1z", **hand)
    check("fuzhou", [*rows, "Blessing of Earth 40"], 67, [201, -67, -67, -67], flowers="1z", dealer=1, **hand)
    late = {"flowers": "1z", "dealer": 1, "flower_draw": True}
    check("fuzhou", rows, 27, [81, -27, -27, -27], **late, **hand)


def test_fuzhou_kongs_full_bloom_continuation_and_the_self_draw_lock():
    """(5 + 4 + 6 + 1 + 2 + 3) x 2 = 42; with the other knobs (5 + 4 + 2 + 1 + 1 + 3) x 2 = 32."""
    hand = {"hand": "456m 789p 55s 78p", "winning_tile": "9p", "melds": ["kong 1111m+@3", "kong 2222s"]}
    hand |= {"flowers": "2z 2z 2z 2z", "dealer_streak": 3, "wild": "9m"}
    rows = ["Base Points 5", *["Flower Points 1"] * 4, "Dealer Continuation 3", "Open Kong 1"]
    check("fuzhou", [*rows, "Full Bloom 6", "Concealed Kong 2"], 42, [126, -42, -42, -42], **hand)
    knobs = {"full_bloom": "total", "concealed_kong": 1}
    check("fuzhou", [*rows, "Full Bloom 2", "Concealed Kong 1"], 32, [96, -32, -32, -32], **knobs, **hand)
    assert refused("fuzhou", source="discard", from_seat=2, discarded_wild=True, **hand)
    robbed = hand | {"winning_tile": "6p", "source": "kong", "from_seat": 2}
    assert refused("fuzhou", **robbed)
    assert score("fuzhou", rob_kong=True, **robbed).legal


# --- what cannot be described -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("fifth", {"hand": "9999p 234p 55m 9p"}),
        ("tiles", {"hand": "456s 234p 78p 5m"}),
        ("itself", {"melds": ["pung 111m@0"]}),
        ("chow", {"melds": ["chow 123s@1"]}),
        ("chow", {"melds": ["chow 124s@2"]}),
        ("from_seat", {"source": "discard"}),
        ("gambits", {"gambits": 1}),
        ("unknown", {"colour": "blue"}),
    ],
)
def test_contradictions_are_errors(words, change):
    hand = {"hand": "456s 234p 78p 55m", "melds": ["pung 111m@1"], "winning_tile": "9p"}
    assert score("hebei", **hand).legal
    with pytest.raises(ValueError, match=words):
        score("hebei", **hand | change)
