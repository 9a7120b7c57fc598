"""Completions are complete and priced by the variant; next draws against an enumeration; plans and their distances."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import look_ahead
from mahjong_agents.plans import (
    CLOSED,
    FAR_PLANS,
    IMPOSSIBLE,
    KINDS_OF_PLAN,
    NUM_PLANS,
    OPEN,
    PAIRS,
    PUNGS,
    Melds,
    far_plans,
    follow_plans,
)
from mahjong_agents.value.completions import (
    _paid_for_wins,
    complete,
    declined_wins,
    lay_open,
    next_draws,
    price,
    unit,
)
from mahjong_env import VARIANTS, Deal, action, make_engine, score
from mahjong_env.basics.actions import PASS, WIN
from mahjong_env.basics.notation import MeldType, count_tiles, parse_kind, parse_tiles
from mahjong_env.hands.codes import encode
from mahjong_env.hands.distance import cheapest_hands
from mahjong_env.hands.kind_sets import unpack
from mahjong_env.hands.shanten import Hands
from mahjong_env.hands.summaries import short_of_sets_and_pair, suit_summaries
from mahjong_env.scoring.wins import Source
from support.positions import asked_in_mid_hand

TILES = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)] + [f"{rank}z" for rank in range(1, 8)]


def looked_at(view):
    row, legal = np.nonzero(view.action_mask)
    distance = look_ahead(view).distance
    nearest = distance.min(axis=1)[row] == distance[row, legal]
    return row, legal, distance[row, legal], next_draws(view, row, legal, distance[row, legal], nearest)


def short(natural, wilds, sets):
    """Tiles that natural tiles and wild ones lack of sets and a pair."""
    return max(int(cheapest_hands(encode(natural[None]).T, np.array([sets])).short[0]) - wilds, 0)


def parts(view, row, discard):
    natural = view.hand[row].copy()
    natural[discard] -= 1
    wild = int(view.wild[row])
    wilds = int(natural[wild]) if wild >= 0 else 0
    if wild >= 0:
        natural[wild] = 0
    return natural, wilds, wild, view.rules.sets - int(view.num_melds[row, 0])


def drawn(view, row, natural, wilds, wild):
    """Yield every kind that may be drawn, with the hand that it makes."""
    for kind in np.flatnonzero((view.unseen[row] > 0) & ~np.asarray(view.rules.flower_kinds[:34], bool)):
        after = natural.copy()
        if kind != wild:
            after[kind] += 1
        yield kind, after, wilds + (kind == wild)


def help_after_two(view, row, discard):
    """Return twice the mean of what the best discard will then wait for; sets and a pair alone."""
    natural, wilds, wild, sets = parts(view, row, discard)
    total = weight = 0
    for kind, after, more in drawn(view, row, natural, wilds, wild):
        if short(after, more, sets) != 1:
            continue
        best = 0
        for spare in np.flatnonzero(after):
            rest = after.copy()
            rest[spare] -= 1
            if short(rest, more, sets) != 1:
                continue
            waits = [k for k, won, w in drawn(view, row, rest, more, wild) if short(won, w, sets) == 0]
            best = max(best, int(view.unseen[row, waits].sum()))
        total += best * int(view.unseen[row, kind])
        weight += int(view.unseen[row, kind])
    return round(2 * total / weight) if weight else 0


@pytest.mark.parametrize("variant", ["taiwan", "fuzhou", "wuhan"])
def test_help_after_the_next_draw_is_that_of_an_enumeration(variant):
    view = asked_in_mid_hand(variant, 400, 16 if variant == "fuzhou" else 50, "greedy", seed=11, auto_reset=False)
    row, legal, distance, found = looked_at(view)
    some = np.flatnonzero((legal < 34) & (distance == 2) & (found.next_help > 0) & (view.wild[row] != legal))
    assert len(some) > 10
    for at in some[:: max(len(some) // 12, 1)]:
        assert found.next_help[at] == min(help_after_two(view, row[at], legal[at]), 127)


def test_waits_are_worth_their_tiles_times_what_they_pay():
    view = asked_in_mid_hand("hangzhou", 400, 50, "greedy", seed=11, auto_reset=False)
    row, legal, distance, found = looked_at(view)
    seen = 0
    may_win, choices = view.action_mask[:, action("win")], view.action_mask.sum(axis=1)
    closed = (view.num_melds[row, 0] == 0) & ~may_win[row] & (choices[row] > 1)
    for at in np.flatnonzero((legal < 34) & (distance == 1) & closed):
        natural, wilds, wild, _ = parts(view, row[at], legal[at])
        held = np.flatnonzero(np.bincount([legal[at]], minlength=34) * -1 + view.hand[row[at]])
        tiles = "".join(TILES[kind] * int(natural[kind] + wilds * (kind == wild)) for kind in {*held, wild} - {-1})
        worth = 0
        for kind in np.flatnonzero(view.unseen[row[at]] > 0):
            won = score(
                "hangzhou",
                hand=tiles,
                winning_tile=TILES[kind],
                source="draw",
                wild=TILES[wild],
                dealer=int(view.dealer[row[at]]),
                dealer_streak=int(view.streak[row[at]]),
            )
            if won.legal:
                worth += int(view.unseen[row[at], kind]) * won.payments[0]
        expected = min(round(10 * (worth / unit(view.rules)) ** 0.5), 127)
        assert found.by_draw[at] == expected
        seen += worth > 0
    assert seen > 5


def test_the_fourth_tile_counts_when_the_three_others_lie_open():
    """In MCR, where 5 points are too few for a win and the fourth tile brings 4 more."""
    waiting = "123m 567m 78p 234s 99s"
    engine = make_engine("mcr", 1, seed=0, flower_tiles=False)
    others = ["9p 147m 258s 112233z", "9p 147m 258s 112233z", "9p 147m 369s 445566z"]
    engine.reset(deals=Deal(hands=(f"{waiting} 7z", *others), dealer=0))
    counts = np.bincount(parse_tiles(f"{waiting} 9p"), minlength=34).astype(np.int8)[None]
    nobody = Melds(*(np.full((1, 5), empty, np.int8) for empty in (0, -1, -1)))
    nothing, row, last = np.zeros(1, np.int8), np.zeros(1, np.intp), np.array([TILES.index("9p")])
    paid = []
    for discard in ("7z", "9p", "9p", "9p", None):
        if engine.seat_to_act[0] == 0 and engine.action_mask[0, PASS]:
            engine.step([PASS])
        if engine.seat_to_act[0] == 0:
            paid.append(price(engine.view(), row, counts, nothing, last, nobody, Source.DISCARD)[0])
        if discard is not None:
            engine.step([action(f"discard {discard}")])
    told = {"hand": waiting, "winning_tile": "9p", "source": "discard", "from_seat": 1, "flower_tiles": False}
    first, won = (score("mcr", fourth_tile=lies_open, **told) for lies_open in (False, True))
    assert not first.legal
    assert paid == [0, won.payments[0]]


def test_a_wait_that_may_not_be_won_on_a_discard_is_worth_nothing_there():
    view = asked_in_mid_hand("hangzhou", 400, 50, "greedy", seed=11, auto_reset=False)
    row, _, distance, found = looked_at(view)
    is_early = (view.streak[row] < 2) & (distance == 1) & (found.by_draw > 0)
    assert is_early.sum() > 5
    assert (found.by_discard[is_early] == 0).all()


def test_imagined_hands_are_complete_and_keep_to_their_plan():
    rng = np.random.default_rng(1)
    natural = np.zeros((90, 34), np.int8)
    for row in natural:
        np.add.at(row, rng.permutation(np.repeat(np.arange(34), 4))[:13], 1)
    plan = np.arange(90) % NUM_PLANS
    wilds = (np.arange(90) % 3).astype(np.int8)
    sets = np.full(90, 4)
    counts, last = complete(natural, wilds, sets, plan, 4 - natural, rng)
    np.testing.assert_array_equal(counts.sum(axis=1), 14 - wilds)
    assert (counts * ~unpack(KINDS_OF_PLAN)[plan] == 0).all()
    assert (counts[np.arange(90), last] > 0).all() or (wilds > 0).any()
    by_sets = plan <= PUNGS
    assert (short_of_sets_and_pair(suit_summaries(encode(counts[by_sets]))) <= wilds[by_sets]).all()
    assert ((counts[plan == PAIRS] % 2).sum(axis=1) <= wilds[plan == PAIRS]).all()


def test_a_fifth_tile_is_never_imagined():
    """Two 1m and 89m, two sets wanted, one suit: with both other 1m, the fourth would wait for a fifth."""
    natural = np.zeros((500, 34), np.int8)
    natural[:, [0, 7, 8]] = [2, 1, 1]
    characters = np.full(500, 1)
    nothing, sets, unseen = np.zeros(500, np.int8), np.full(500, 2), np.zeros((500, 34), np.int8)
    unseen[:, 0] = 2  # so that hardly anything else is drawn
    counts, _ = complete(natural, nothing, sets, characters, unseen, np.random.default_rng(0))
    np.testing.assert_array_equal(counts.sum(axis=1), 8)
    assert counts.max() <= 4
    assert (short_of_sets_and_pair(suit_summaries(encode(counts))) == 0).all()


def test_prices_are_those_of_the_scoring():
    view = make_engine("hebei", 1, seed=0).view()
    counts = np.zeros((1, 34), np.int8)
    counts[0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]] = 1
    counts[0, 13] = 2
    nobody = Melds(*(np.full((1, 5), empty, np.int8) for empty in (0, -1, -1)))
    nothing, row = np.zeros(1, np.int8), np.zeros(1, np.intp)
    paid = price(view, row, counts, nothing, np.array([8]), nobody, Source.DRAW)
    described = score(
        "hebei",
        hand="12345678m 123p 55p",
        winning_tile="9m",
        source="draw",
        dealer=[0, 1, None, 2][view.dealer[0]],
    )
    assert paid.tolist() == [described.payments[0]]
    opened, laid, some = lay_open(counts, nothing, np.array([4]), nobody, np.random.default_rng(0))
    assert some.all()
    assert opened.sum() == 11
    assert laid.type[0, 0] == 1
    assert price(view, row, opened, nothing, opened.argmax(axis=1), laid, Source.DRAW) < paid


def paid_and_priced(engine):
    """Return what a win of the seat to act in the only game is priced at, and what it pays when it is played."""
    priced = _paid_for_wins(engine.view(), np.zeros(1, np.intp))[0]
    outcome = engine.step([WIN]).outcome
    return priced, outcome.payments[0][outcome.winner[0]]


def test_wins_are_priced_by_the_dice_of_the_hand():
    """In Hangzhou with dice a double makes it 3 Lao."""
    engine = make_engine("hangzhou", 1, lao_dice=True)
    hand = Deal(hands=["123m 456m 789m 123p 55p"], dealer=0, wild="1z")
    seed = next(seed for seed in range(100) if engine.reset(seed=seed, deals=hand) or engine.state.dice[0] > 0)
    assert engine.action_mask[0, WIN], seed
    priced, paid = paid_and_priced(engine)
    assert priced == paid > 0


@pytest.mark.parametrize("settings", [{"num_hands": 2}, {"match_end": "points"}, {}])
def test_wins_of_a_match_are_priced_by_what_the_others_have_left(settings):
    """In Hangzhou nobody pays more than he has, but a hand that is played alone has no floor."""
    engine = make_engine("hangzhou", 1, seed=0, **settings)
    engine.reset(deals=Deal(hands=["123m 456m 789m 123p 55p"], dealer=0, wild="1z"))
    engine.state.points[:] = [97, 1, 1, 1]
    priced, paid = paid_and_priced(engine)
    assert priced == paid
    assert (paid == 3) == bool(settings)


def test_the_last_tile_of_private_walls_is_that_of_the_next_seat():
    """Seats 1 and 2 could draw one tile each, but seat 3, who is next after the claim of seat 2, has none."""
    engine = make_engine("mcr", 1, private_walls=True, flower_tiles=False, minimum_points=0)
    others = ["147m 258p 147s 1347z", "55z 3s 69m 69p 69s 3467z", "147m 258p 147s 1346z"]
    engine.reset(deals=Deal(hands=["123m 456p 789s 22z 45s 5z", *others], dealer=0, tiles_left=2))
    for what in ("discard 5z", "pung", "discard 3s"):
        engine.step([action(what)])
    assert (engine.seat_to_act[0], engine.view().left[0]) == (0, 2)
    priced, paid = paid_and_priced(engine)
    assert priced == paid > 0


@pytest.mark.parametrize(("left", "closing", "hopes"), [(20, False, True), (0, False, False), (20, True, False)])
def test_a_declined_win_is_worth_nothing_where_nothing_more_is_drawn(left, closing, hopes):
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("123m 456m 789m 123p 55p", "", ""), dealer=0, tiles_left=left))
    engine.state.closing[:] = closing  # the hand ends with the next discard
    view = engine.view()
    row, legal = np.nonzero(view.action_mask)
    pays, declined = declined_wins(view, row, legal, look_ahead(view).distance[row, legal])
    assert pays[legal == WIN] > 0
    assert (declined > 0).any() == hopes


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_no_hands_have_no_prices(variant):
    """As where nobody who is asked has a hand that is closed."""
    none = np.zeros(0, np.intp)
    nobody = Melds(*(np.zeros((0, 5), np.int8) for _ in range(3)))
    view = make_engine(variant, 1, seed=0).view()
    assert price(view, none, np.zeros((0, 34), np.int8), none, none, nobody, Source.DISCARD).shape == (0,)


# --- Plans are followed; distances, on hands to be checked by eye -----------------------------------------------------


def stand(tiles, *, wilds=0, melds=(), has_wild=False):
    """Return distances and spare kinds of one hand; melds are (type, lowest kind)."""
    natural = count_tiles(parse_tiles(tiles))[None].astype(np.int8)
    types, kinds = np.zeros((1, 5), np.int8), np.zeros((1, 5), np.int8)
    for place, (of, kind) in enumerate(melds):
        types[0, place], kinds[0, place] = of, parse_kind(kind)
    hands = Hands(
        encode(natural).T.astype(np.intp),
        np.array([wilds], np.int8),
        np.array([4 - len(melds)]),
        np.array([not melds]),
        None,
    )
    found = far_plans(hands, natural, types, kinds, has_wild=has_wild)
    return dict(zip(FAR_PLANS, found.distance[0].tolist(), strict=True)), {
        plan: np.flatnonzero(unpack(found.spare[:, place])[0]) for place, plan in enumerate(FAR_PLANS)
    }


@pytest.mark.parametrize(
    ("tiles", "plan", "distance"),
    [
        ("123456789m 11p 23s", "one dragon", 1),  # a set lacks a tile
        ("123456789m 111p 2s", "one dragon", 1),  # the pair lacks one
        ("12456789m 111p 22s", "one dragon", 1),
        ("123m 456p 789s 11z 234s", "flower dragon", 0),
        ("13m 456p 789s 11z 23m 5z", "flower dragon", 2),
        ("123s 456m 78p 11z 23m 5z", "flower dragon", 2),
    ],
)
def test_distances_of_dragons(tiles, plan, distance):
    assert stand(tiles)[0][plan] == distance


def test_a_run_that_is_laid_open_belongs_to_its_dragon_and_another_shuts_it_out():
    chow = [(MeldType.CHOW, "1m")]
    assert stand("456789m 234p 5z", melds=chow)[0]["one dragon"] == 1
    beside = [(MeldType.CHOW, "2m"), (MeldType.PUNG, "1z")]
    assert stand("456789m 5z", melds=beside)[0]["one dragon"] == IMPOSSIBLE


def test_what_a_dragon_can_spare():
    _, spare = stand("123456789m 11p 23s 9p")
    assert parse_kind("9p") in spare["one dragon"]
    assert parse_kind("5m") not in spare["one dragon"]


def test_a_wild_tile_that_waits_for_its_pair():
    sets = "123m 456p 789s 111z"
    assert stand(sets, wilds=1, has_wild=True)[0]["a wild pair"] == 0
    assert stand(sets, has_wild=True)[0]["a wild pair"] == 1  # the wild tile itself
    assert stand("123m 456p 789s 11z", wilds=2, has_wild=True)[0]["a wild pair"] == 0
    assert stand("123m 456p 789s 55z", wilds=1, has_wild=True)[0]["a wild pair"] == 1
    assert stand(sets, wilds=1)[0]["a wild pair"] == IMPOSSIBLE


def test_plans_are_followed():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("11m 33m 55p 77p 99s 2s 4s 6s 1z", "", ""), dealer=0))
    view, rng = engine.view(), np.random.default_rng(0)
    kept = {action(f"discard {tile}") for tile in ("1m", "3m", "5p", "7p", "9s")}
    for plan in (PUNGS, PAIRS):
        assert int(follow_plans(view, np.array([plan]), rng)[0]) not in kept


def test_claiming_or_not_is_a_plan():
    engine = make_engine("hebei", 1, seed=0)
    engine.reset(deals=Deal(hands=("1m", "11m 234p 567p 23s 99s 5z", ""), dealer=0))
    engine.step(np.array([action("discard 1m")]))
    view, rng = engine.view(), np.random.default_rng(0)
    assert int(follow_plans(view, np.array([CLOSED]), rng)[0]) == action("pass")
    assert int(follow_plans(view, np.array([PUNGS]), rng)[0]) == action("pung")
    assert int(follow_plans(view, np.array([OPEN]), rng)[0]) in (action("pung"), action("pass"))
