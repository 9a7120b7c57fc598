"""Wuhan: the best reading against a slow search, what may win, the wild tile, the next hand, and whole matches."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

import mahjong_env
from mahjong_env.basics.notation import format_counts, format_tiles
from mahjong_env.testing import check_variant, count_all_tiles
from mahjong_env.variants.wuhan import Wuhan
from oracle.wuhan_readings import FIRST_HONOUR, RED, Hand, payments, readings

MELD_TEXTS = {
    "chow": "chow {}@{}",
    "pung": "pung {}@{}",
    "exposed": "kong {}@{}",
    "added": "kong {}+@{}",
    "concealed": "kong {}",
}
KNOBS = {
    "cap": (500, None),
    "discard_payers": ("all", "discarder"),
    "wild_kong_multiplier": (2, 4),
    "wild_hand_discard_win": (True, False),
}
PREFERENCE = ("Pure One Suit", "Hard Win", "All Honors", "Terminals Only")


# --- Random hands ----------------------------------------------------------------------------------------------------


def random_hand(rng, wilds):
    """A hand with so many wild tiles, complete in some way (nine times of ten), which may win or not."""
    while True:
        hand = _try_hand(rng, wilds)
        if hand is not None and _is_possible(hand):
            return hand


def _try_hand(rng, wilds):
    kinds = _theme(rng)
    wild = rng.choice([kind for kind in (kinds if rng.random() < 0.4 else range(34)) if kind != RED] or [0])
    if wilds == 4 and rng.random() < 0.1:
        naturals = [kind for kind in kinds if kind != wild]
        concealed = Counter({wild: 4}) + Counter(kind for _ in range(5) for kind in [rng.choice(naturals)] * 2)
        return _in_a_situation(rng, concealed, [], wild)
    sets = [_random_set(rng, kinds) for _ in range(4)]
    if rng.random() < 0.15:
        sets[:3] = [[31] * 3, [32] * 3, [RED] * 3]
    rng.shuffle(sets)
    # Red Dragons are never declared.
    declared = [RED not in tiles and rng.random() < 0.5 for tiles in sets]
    melds = [_as_meld(rng, tiles) for tiles, out in zip(sets, declared, strict=True) if out]
    concealed = Counter(kind for tiles, out in zip(sets, declared, strict=True) if not out for kind in tiles)
    concealed.update([rng.choice(kinds)] * 2)
    spare = [kind for kind in concealed.elements() if kind != wild]
    missing = wilds - concealed[wild]
    if not 0 <= missing <= len(spare):
        return None
    concealed.subtract(rng.sample(spare, missing))
    concealed[wild] += missing
    if rng.random() < 0.1:
        concealed[rng.choice([kind for kind in concealed.elements() if kind != wild] or [wild])] -= 1
        concealed[rng.choice([kind for kind in range(34) if kind != wild])] += 1
    return _in_a_situation(rng, +concealed, melds, wild)


def _theme(rng):
    suit = 9 * rng.randrange(3)
    one_suit = [*range(suit, suit + 9)]
    ones_and_nines = [kind for kind in range(27) if kind % 9 in (0, 8)]
    some = rng.randrange(7) + suit
    themes = [
        [*range(34)],
        one_suit,
        [*one_suit, *range(27, 33)],
        [*range(27, 33)],
        ones_and_nines,
        [*range(27, 31), some],
        [31, 32, 33, some, some + 1, some + 2],
        [*range(suit, suit + 5), 31, 32, 33],
        [*range(some, some + 3), *range(9)],
    ]
    return rng.choice(themes)


def _random_set(rng, kinds):
    runs = [kind for kind in kinds if kind < FIRST_HONOUR and kind % 9 <= 6 and {kind + 1, kind + 2} <= {*kinds}]
    if runs and rng.random() < 0.6:
        low = rng.choice(runs)
        return [low, low + 1, low + 2]
    return [rng.choice(kinds)] * 3


def _as_meld(rng, tiles):
    if tiles[0] != tiles[1]:
        return ("chow", tiles[0], 3)
    word = rng.choice(["pung", "pung", "pung", "exposed", "added", "concealed"])
    return (word, tiles[0], None if word == "concealed" else rng.randrange(1, 4))


def _in_a_situation(rng, concealed, melds, wild):
    kongs = sum(word in ("exposed", "added", "concealed") for word, _, _ in melds)
    source = rng.choice(["draw", "draw", "discard", "discard", "kong"])
    return Hand(
        concealed=concealed,
        winning_tile=rng.choice([*concealed.elements()]),
        melds=melds,
        wild=wild,
        source=source,
        from_seat=None if source == "draw" else rng.randrange(1, 4),
        dealer=rng.randrange(4),
        kong_draws=rng.randrange(kongs + 1) if source == "draw" and rng.random() < 0.5 else 0,
        last_tile=rng.random() < 0.1,
        red_discards=rng.choice([0, 0, 0, 1, 2]),
    )


def _is_possible(hand):
    """Four tiles of a kind at most, the tile turned up included, and no claimed wild tiles."""
    tiles = hand.concealed + Counter({RED: hand.red_discards})
    for word, kind, _ in hand.melds:
        tiles.update(meld_tiles(word, kind))
        if hand.wild in meld_tiles(word, kind) and word != "concealed":
            return False
    if hand.wild != 31:  # White: the tile turned up may be North or Red
        tiles[hand.wild - 1 if hand.wild not in (0, 9, 18, 27) else {27: 32}.get(hand.wild, hand.wild + 8)] += 1
    if hand.source == "kong" and tiles[hand.winning_tile] > 1:  # the robbed player has the three others
        return False
    return max(tiles.values()) <= 4


def meld_tiles(word, kind):
    return [kind, kind + 1, kind + 2] if word == "chow" else [kind] * (3 if word == "pung" else 4)


def described(hand):
    """The hand as arguments of `mahjong_env.score`."""
    before = hand.concealed - Counter([hand.winning_tile])
    return {
        "hand": format_counts([before[kind] for kind in range(34)]),
        "winning_tile": format_tiles([hand.winning_tile]),
        "melds": [MELD_TEXTS[word].format(format_tiles(meld_tiles(word, kind)), who) for word, kind, who in hand.melds],
        "wild": format_tiles([hand.wild]),
        "source": hand.source,
        "from_seat": hand.from_seat,
        "dealer": hand.dealer,
        "kong_draws": hand.kong_draws,
        "last_tile": hand.last_tile,
        "red_discards": hand.red_discards,
    }


# --- The best reading ------------------------------------------------------------------------------------------------


def compare_with_slow_search(hands, wilds, seed):
    """Score random hands both ways; returns how many may win, and how many had readings of different worth."""
    rng = random.Random(seed)
    wins = matters = 0
    for _ in range(hands):
        hand = random_hand(rng, wilds)
        told = described(hand)
        knobs = {name: rng.choice((values[0], values[0], values[1])) for name, values in KNOBS.items()}
        verdict = mahjong_env.score("wuhan", **told, **knobs)
        found = readings(
            hand,
            wild_hand_discard_win=knobs["wild_hand_discard_win"],
            wild_kong_multiplier=knobs["wild_kong_multiplier"],
        )
        assert verdict.legal == bool(found), (told, knobs, verdict, found)
        if not found:
            continue
        most = max(value for value, _ in found)
        best = [rows for value, rows in found if value == most]
        rows = sorted(verdict.rows)
        points = most if knobs["cap"] is None else min(most, 500)
        assert verdict.points == points, (told, knobs, verdict, best)
        assert rows in best, (told, knobs, verdict, best)
        assert preference(rows) == max(map(preference, best)), (told, knobs, verdict, best)
        paid = payments(hand, rows, points, discard_payers=knobs["discard_payers"])
        assert verdict.payments == paid, (told, knobs, verdict, paid)
        wins += 1
        matters += len({value for value, _ in found}) > 1
    return wins, matters


def preference(rows):
    names = {name for name, _ in rows}
    return [name in names for name in PREFERENCE]


@pytest.mark.thorough
@pytest.mark.parametrize(("wilds", "hands"), [(0, 400), (1, 600), (2, 150), (3, 20), (4, 4)])
def test_best_reading_is_that_of_an_exhaustive_search(wilds, hands):
    wins, _ = compare_with_slow_search(hands, wilds, seed=1)
    assert wins > hands / 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wilds", "hands", "often"), [(0, 20_000, 2), (1, 20_000, 300), (2, 2_000, 100), (3, 200, 20), (4, 40, 4)]
)
def test_best_reading_is_that_of_an_exhaustive_search_at_length(wilds, hands, often):
    """``often``: how many hands at least can be read in ways of different worth."""
    wins, matters = compare_with_slow_search(hands, wilds, seed=2)
    assert wins > hands / 5
    assert matters > often


@dataclass(frozen=True, kw_only=True)
class _Listening(Wuhan):
    """Wuhan that keeps the wins it was asked about."""

    def score(self, wins):
        heard.append(wins)
        return super().score(wins)


heard: list = []


@pytest.mark.parametrize(("wilds", "hands"), [(0, 300), (1, 300), (2, 300), (3, 200), (4, 60)])
def test_what_may_win_is_known_without_pricing_and_mostly_without_reading(wilds, hands):
    """`legal` finds out without reading hands what reading them says; hands are priced one by one as in a batch."""
    rng = random.Random(10 + wilds)
    told = [described(random_hand(rng, wilds)) for _ in range(hands)]
    heard.clear()
    verdicts = [mahjong_env.score(_Listening(), **one) for one in told]
    batch = join(heard)
    rules = Wuhan()
    legal = rules.complete(batch) & rules.legal(batch)
    np.testing.assert_array_equal(legal, [verdict.legal for verdict in verdicts])
    scores = rules.score(batch)
    np.testing.assert_array_equal(scores.legal, legal)
    np.testing.assert_array_equal(scores.points, [verdict.points for verdict in verdicts])
    np.testing.assert_array_equal(scores.payments, [verdict.payments for verdict in verdicts])
    assert [tuple(scores.rows_of(place, rules.rows)) for place in range(hands)] == [one.rows for one in verdicts]


def join(wins):
    return type(wins[0]).join(wins)


# --- The wild tile, the Reds -----------------------------------------------------------------------------------------


def test_wild_kinds_follow_their_indicators():
    state = mahjong_env.make_engine("wuhan", 2048, seed=3).state
    follows = {indicator: int(state.wild[game]) for game, indicator in enumerate(state.indicator.tolist())}
    assert len(follows) == 34
    cycle = {27: 28, 28: 29, 29: 30, 30: 31, 31: 32, 32: 27, 33: 31}
    expected = {kind: cycle.get(kind, kind // 9 * 9 + (kind + 1) % 9) for kind in range(34)}
    assert follows == expected
    assert (state.left(np.arange(2048)) == 82).all()


@pytest.mark.parametrize("meld", ["pung 777z@2", "kong 7777z@1", "kong 7777z+@3", "kong 7777z"])
def test_a_meld_of_reds_is_refused(meld):
    with pytest.raises(ValueError, match="cannot be made"):
        mahjong_env.score("wuhan", "34s 456p 123m 55m", melds=[meld], winning_tile="2s", source="draw")


def test_reds_in_hand_and_discarded_are_four_at_most():
    told = {"melds": ["pung 555z@1", "pung 666z@2"], "winning_tile": "2m", "source": "draw"}
    assert mahjong_env.score("wuhan", "777z 34m 88p", red_discards=1, **told).legal
    with pytest.raises(ValueError, match="fifth"):
        mahjong_env.score("wuhan", "777z 34m 88p", red_discards=2, **told)


def test_red_is_never_wild():
    with pytest.raises(ValueError, match="never wild"):
        mahjong_env.score(
            "wuhan", "34456p 789s 55m", melds=["chow 123m@3"], winning_tile="5p", source="draw", wild="7z"
        )


# --- The next hand ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("winner", [0, 2, -1])
@pytest.mark.parametrize("dealer_rule", ["retain_else_next", "winner_becomes", "always_next", "retain_on_draw"])
def test_round_wind_changes_every_four_hands_whoever_deals(dealer_rule, winner):
    engine = mahjong_env.make_engine("wuhan", 1, seed=1, num_hands=40, dealer_rule=dealer_rule, start="first")
    state, game = engine.state, np.array([0])
    winds = [int(state.round_wind[0])]
    for hand in range(1, 20):
        state.hand_in_match[0] = hand
        engine.rules.succeed(state, game, np.array([winner], np.int8))
        winds.append(int(state.round_wind[0]))
    assert winds == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [0] * 4


def test_the_streak_counts_hands_that_the_dealer_has_kept():
    engine = mahjong_env.make_engine("wuhan", 1, seed=1, num_hands=40, start="first")
    state, game, seen = engine.state, np.array([0]), []
    first = int(state.dealer[0])
    for winner in (first, first, (first + 2) % 4, -1):
        engine.rules.succeed(state, game, np.array([winner], np.int8))
        seen.append(((int(state.dealer[0]) - first) % 4, int(state.streak[0])))
    assert seen == [(0, 1), (0, 2), (1, 0), (2, 0)]


# --- Whole matches ---------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    "knobs", [{}, {"wild_hand_discard_win": False, "discard_payers": "discarder", "dealer_rule": "winner_becomes"}]
)
def test_conformance(knobs):
    check_variant("wuhan", games=16, seed=4, **knobs)


def eager_actions(mask, rng):
    """Random, but wins and declares kongs where it may: more hands end with a winner."""
    wish = rng.random(mask.shape) + 2.0 * (np.arange(mask.shape[1]) == mahjong_env.action("win"))
    wish[:, mahjong_env.action("concealed kong 1m") : mahjong_env.action("chow low")] += 1.0
    return np.where(mask, wish, -1.0).argmax(axis=1)


def test_random_matches_to_the_end():
    """Tiles are conserved, payments sum to zero, somebody can act, Reds and wild tiles stay out of claims."""
    games = 96
    engine = mahjong_env.make_engine("wuhan", games, seed=11, num_hands=6)
    rng = np.random.default_rng(11)
    hands, steps, wins = np.zeros(games, int), 0, 0
    while (engine.seat_to_act >= 0).any():
        live = engine.seat_to_act >= 0
        assert engine.action_mask.any(axis=1)[live].all()
        result = engine.step(eager_actions(engine.action_mask, rng))
        assert not result.rewards.sum(axis=1).any()
        hands[result.hand_over] += 1
        outcome = result.outcome
        wins += (outcome.winner >= 0).sum()
        assert (outcome.value <= 500).all()
        assert ((outcome.payments == 0).all(axis=1) == (outcome.winner < 0)).all()
        if steps % 20 == 0:
            check_table(engine)
        steps += 1
        assert steps < 3000
    assert (hands == 6).all()
    assert wins > 30
    np.testing.assert_array_equal(engine.points.sum(axis=1), 4 * 500)


def check_table(engine):
    state = engine.state
    live = np.flatnonzero(engine.seat_to_act >= 0)
    np.testing.assert_array_equal(count_all_tiles(engine)[live], np.broadcast_to(engine.rules.deck, (len(live), 42)))
    melded = state.meld_kind == RED
    assert not melded.any()
    row, seat, place = np.nonzero(state.meld_kind == state.wild[:, None, None])
    claimed = np.isin(state.meld_type[row, seat, place], (2, 3, 4))
    assert not claimed.any()
    # What lies before a seat is all that it has discarded of the Reds: nobody can take them away.
    in_river = (state.river == RED + 1).sum(axis=2)
    np.testing.assert_array_equal(in_river[live], state.marks[live, :, 0])
