"""The conformance kit: every variant passes, and every check of it refuses twins with one planted fault."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, Engine, make_engine, rules, testing
from mahjong_env.basics.notation import Meld, format_counts
from mahjong_env.environments.aec import MahjongAEC
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.testing import ConformanceError, check_official, copy_checks
from support import broken_engines, broken_rules

# House rules that change how a game goes, or who pays.
KNOBS = {
    "wuhan": {"discard_payers": "discarder", "dealer_rule": "winner_becomes", "wild_hand_discard_win": False},
    "hangzhou": {"fortune": "white", "lao_dice": True, "kong_capture": "always", "match_end": "points"},
    "hebei": {"players": 3, "rotation": True, "single_hanging": "any_single_wait", "discard_payers": "all"},
    "taiwan": {"dealer_is_east": True, "add_discard_to_pung": False, "dead_tiles": 0, "base_score": 0},
    "fuzhou": {"rob_kong": True, "specials": "highest", "dealer_on_draw": "stay", "discard_payers": "all"},
}
# The checks that look at what knobs change; `pytest -m slow` runs all of them.
QUICK = (
    testing.check_tiles_conserved,
    testing.check_bookkeeping,
    testing.check_zero_sum,
    testing.check_scores,
    testing.check_legal_actions,
    testing.check_length,
    testing.check_deals,
)


def name_of(check):
    return check.__name__.removeprefix("check_")


def engines(variant, **knobs):
    def make(num_games, *, seed, **options):
        return make_engine(variant, num_games, seed=seed, **options, **knobs)

    return make


# --- Every variant passes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", testing.CHECKS, ids=name_of)
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_variant_passes(variant, check):
    check(engines(variant), games=8, seed=1)


@pytest.mark.thorough
@pytest.mark.parametrize("check", QUICK, ids=name_of)
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_variant_passes_with_house_rules(variant, check):
    check(engines(variant, **KNOBS.get(variant, {})), games=8, seed=2)


def test_a_person_who_sits_out_does_not_see_who_is_asked():
    """He looks at the table from a seat that is not his; the kit found that he saw when that seat was asked."""
    testing.check_no_leak(engines("hebei", rotation=True), games=12, seed=549339)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_a_variant_passes_at_large(variant, seed):
    testing.check_variant(variant, games=64, seed=seed)
    testing.check_variant(variant, games=64, seed=seed, official=False, **KNOBS.get(variant, {}))


@pytest.mark.thorough
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_the_official_kits_pass(variant):
    check_official(variant, **KNOBS.get(variant, {}))


def test_check_variant_runs_every_check(monkeypatch):
    run = []
    recorders = [lambda make, *, games, seed, check=check: run.append((check, games, seed)) for check in testing.CHECKS]
    expected = [*((check, 3, 4) for check in testing.CHECKS), ("hebei", {"cap": 8})]
    monkeypatch.setattr(testing, "CHECKS", tuple(recorders))
    monkeypatch.setattr(testing, "check_official", lambda variant, **knobs: run.append((variant, knobs)))
    testing.check_variant("hebei", games=3, seed=4, cap=8)
    assert run == expected


def test_it_says_at_a_terminal_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(testing, "CHECKS", (lambda make, **numbers: None,))
    testing.check_variant("hebei", official=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    testing.check_variant("hebei", official=False)
    assert capsys.readouterr().err == "1 of 1: <lambda>\nnothing was found\n"


def test_every_check_of_the_kit_is_listed():
    apart = {"check_variant", "check_official", "check_pettingzoo", "check_gymnasium"}
    apart |= {"check_cases", "check_complete", "check_hand", "check_scene"}  # of written cases
    apart |= {"check_copies_of_environments", "check_environment_copies"}  # of environments
    assert {name for name in testing.__all__ if name.startswith("check_")} - apart == {
        check.__name__ for check in testing.CHECKS
    }


# --- Every check refuses its twins ----------------------------------------------------------------------------------


def another_seed_each_time():
    seeds = iter(range(100, 1000))

    def make(num_games, *, seed, **options):
        return make_engine("hebei", num_games, seed=next(seeds), **options)

    return make


def no_seed_at_all(num_games, *, seed, **options):
    return make_engine("hebei", num_games, seed=0, **options)


# For each check its twins: rules, engines, or functions that make engines; and words of what the check says.
TWINS = {
    testing.check_tiles_conserved: {
        broken_rules.VanishingTile: "instead of",
        broken_rules.GivenTile: "tiles instead of 1",
    },
    testing.check_bookkeeping: {
        broken_rules.StaleCode: "code",
        broken_rules.UnseenDiscard: "public",
        broken_rules.NeverReady: "is_tenpai",
        broken_engines.ForgetsClaimers: r"river \(claimed discards\)",
        broken_engines.NotesAnotherDiscard: r"public \(claimed discards\)",
    },
    testing.check_zero_sum: {
        broken_rules.KongsFromTheBank: "do not sum to zero",
        broken_rules.WinsFromTheBank: "do not sum to zero",
        broken_engines.UnbookedPoints: "points .* are not those paid",
        broken_engines.LatePoints: "other points than the game",
        broken_engines.DrawnByAWinner: "no winner",
    },
    testing.check_scores: {
        broken_rules.LegalByShape: "may win with a hand that is not|legal.. and score",
        broken_rules.PaidAnyway: "may not win has points",
        broken_rules.SharedPrice: "depends on the hands beside it",
        broken_rules.PaidBackwards: "the winner pays",
        broken_rules.WithoutReason: "a reason against it, or neither",
        broken_rules.WinsFromTheBank: "do not sum to zero",
        broken_engines.ForgetsWins: "may not win with a hand that is complete",
    },
    testing.check_mask_exact: {
        broken_engines.OneActionTooFew: "was not refused",
        broken_engines.OneActionTooMany: "an action in the mask was refused",
        broken_engines.RefusalCounts: "changed num_discards",
        broken_engines.RefusesHalf: "changed .* in the batch",
        broken_engines.IdlePung: "'pung' changes nothing",
        broken_rules.BorrowedDiscard: "-1 tiles 7z",
    },
    testing.check_legal_actions: {
        broken_rules.BorrowedDiscard: "'discard 7z' is legal, but not possible",
        broken_rules.NothingButWins: "may discard nothing",
        broken_rules.BorrowedPung: "'pung' is legal, but not possible",
        broken_engines.ForgetsPungs: "'pung' is possible, but not legal",
        broken_engines.ForgetsADiscard: "'discard .*' is possible, but not legal",
        broken_engines.ForgetsConcealedKongs: "'concealed kong .*' is possible, but not legal",
    },
    testing.check_length: {
        broken_rules.Stuck: "has no legal action",
        broken_rules.Endless: "does not end within",
        broken_engines.NeverDone: "wait for an action|wait for none",
        broken_engines.OneHandMore: "goes on|wait for",
    },
    testing.check_seeds: {
        no_seed_at_all: "another seed deals the same cards",
        another_seed_each_time(): "the same seed: ",
        broken_engines.OneDealForAll: "two games of a seed",
        broken_engines.SameHandAgain: "the next hands of a seed are the same",
    },
    testing.check_batch_independent: {
        broken_rules.DependsOnNeighbours: "alone|part at a time",
        broken_engines.ResetsAll: "dealt anew",
    },
    testing.check_observation: {
        broken_engines.ObservesInShorts: "int16",
        broken_engines.ObservesFiveTiles: "hand is not within its range",
        broken_engines.ObservesAnotherHand: "differ in hand",
        broken_engines.ObservesClutter: "points is not within its range, or a place that means nothing",
        broken_engines.ObservesEveryOption: "differ in legal_actions",
        broken_engines.ObservesBesideItsView: "view and observe differ",
    },
    testing.check_no_leak: {
        broken_engines.SeesTheWall: "cannot know",
        broken_engines.SeesHands: "cannot know",
        broken_engines.SeesAnswers: "cannot know",
        broken_engines.SeesWhoIsAsked: "cannot know",
        broken_engines.SeesTheDraw: "cannot know",
        broken_engines.SeesPasses: "cannot know|others have passed",
        broken_engines.SeesDrawsAtOnce: "others have passed",
        broken_rules.LimitedByTheNextHand: "whether person . may 'discard .*' depends on what it cannot know",
        broken_rules.ClaimsByTheGiversHand: "whether person . may 'pung' depends on what it cannot know",
        broken_engines.SeesWaits: "cannot know",
        broken_engines.SeesHiddenKongs: "cannot know",
        broken_engines.ViewsMore: "cannot know, in unseen",
    },
    testing.check_resampling: {
        broken_engines.ResamplesNothing: "changes nothing",
        broken_engines.ResamplesOthersKnowledge: "cannot know",
        broken_engines.ResamplesWithoutMasks: "-1 tiles|cannot know",
        broken_engines.ResamplesIntoThinAir: "instead of",
    },
    testing.check_snapshots: {
        broken_engines.RestoreForgets: "river differs",
        broken_engines.SnapshotLives: "went back to a snapshot",
        broken_engines.SnapshotForgets: "cannot be restored",
    },
    testing.check_copies: {
        broken_engines.CopyOfAnotherKind: "gives a Engine",
        broken_engines.SortedCopies: "a copied game",
        broken_engines.SharedCopies: "changed turnover",
    },
    testing.check_deals: {
        broken_engines.ForgetsDraws: "is not as the deal names it",
        broken_engines.RefusesDeals: "is refused as a deal",
    },
}


def makes(twin):
    """What makes the engines of a twin."""
    if not isinstance(twin, type):
        return twin
    if issubclass(twin, Engine):
        return lambda num_games, *, seed, **options: twin(rules("hebei"), num_games, seed=seed, **options)
    return engines(twin())


@pytest.mark.parametrize(
    ("check", "twin", "words"),
    [
        pytest.param(check, twin, words, id=f"{name_of(check)}-{twin.__name__}")
        for check, twins in TWINS.items()
        for twin, words in twins.items()
    ],
)
def test_a_broken_twin_is_refused(check, twin, words):
    with pytest.raises(ConformanceError, match=words):
        check(makes(twin), games=16, seed=1)


def test_every_check_has_a_twin():
    assert set(TWINS) | {testing.check_notation} == set(testing.CHECKS)


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda meld, text: text.partition("@")[0], "cannot be read"),
        (lambda meld, text: text.replace("@0", "@1"), "does not read as it was written"),
        (lambda meld, text: text.replace("+", ""), "does not read as it was written"),
    ],
    ids=["without its source", "from another seat", "without the added tile"],
)
def test_notation_that_loses_something_of_a_meld_is_refused(monkeypatch, write, words):
    written = Meld.__str__
    monkeypatch.setattr(Meld, "__str__", lambda meld: write(meld, written(meld)))
    with pytest.raises(ConformanceError, match=words):
        testing.check_notation(engines("hebei"), games=32, seed=5)


def test_notation_that_loses_a_tile_is_refused(monkeypatch):
    monkeypatch.setattr(copy_checks, "format_counts", lambda counts: format_counts(np.minimum(counts, 2)))
    with pytest.raises(ConformanceError, match="do not read as they were written"):
        testing.check_notation(engines("hebei"), games=8, seed=1)


def test_an_action_that_reads_as_another_is_refused(monkeypatch):
    monkeypatch.setattr(copy_checks, "action", lambda name: max(mahjong_env.action(name) - 1, 0))
    with pytest.raises(ConformanceError, match="the action 'discard 2m' reads as 0"):
        testing.check_notation(engines("hebei"), games=8, seed=1)


class ForgetsItsSeed(MahjongAEC):
    """Every game is another one, whatever the seed."""

    def reset(self, seed=None, options=None):
        super().reset(None, options)


class WithoutMask(MahjongAEC):
    """The mask is missing in observations."""

    def observe(self, agent):
        return {"observation": super().observe(agent)["observation"]}


class LargeNumbers(SingleSeatEnv):
    """Observations are no longer in their space."""

    def reset(self, *, seed=None, options=None):
        seen, info = super().reset(seed=seed, options=options)
        return seen.astype(np.int32) + 1000, info


@pytest.mark.parametrize("twin", [ForgetsItsSeed, WithoutMask])
def test_what_pettingzoo_refuses_is_refused(twin):
    with pytest.raises(ConformanceError, match="PettingZoo: "):
        testing.check_pettingzoo(lambda: twin("hebei"))


def test_what_gymnasium_refuses_is_refused():
    with pytest.raises(ConformanceError, match="Gymnasium: "):
        testing.check_gymnasium(lambda: LargeNumbers("hebei"))


# --- What the kit itself relies on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_eager_play_wins_and_random_play_does_not(variant):
    wins = {}
    for name in ("random", "eager"):
        engine, rng, wins[name] = make_engine(variant, 32, seed=3), np.random.default_rng(3), 0
        while (engine.seat_to_act >= 0).any():
            eager = testing.eager_actions(engine, rng)
            actions = eager if name == "eager" else testing.random_actions(engine.action_mask, rng)
            wins[name] += int((engine.step(actions).outcome.winner >= 0).sum())
    assert wins["eager"] >= 16 > 8 >= wins["random"]
