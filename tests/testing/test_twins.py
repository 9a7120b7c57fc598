"""Every check of the kit refuses twins of engines and rules with one planted fault each."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mahjong_env import NUM_ACTIONS, Engine, IllegalActionError, Snapshot, make_engine, rules, testing
from mahjong_env.basics.actions import PASS, PUNG, WIN
from mahjong_env.engine.claim_rules import MAY_PUNG
from mahjong_env.observation.planes import plane
from mahjong_env.state.arrays import DISCARDED, MELD_LIST, Phase
from mahjong_env.testing import ConformanceError
from mahjong_env.variants.hebei import Hebei

TWINS = []
"""A check, what makes the engines that it has to refuse, words of what it says, and the name of the fault."""


def planted(check, make, words, name):
    TWINS.append(pytest.param(check, make, words, id=f"{check.__name__.removeprefix('check_')}-{name}"))


def broken(base, method, found):
    """Plant the decorated function, which describes a fault, as a method of rules or engines.

    ``found``: the checks that have to refuse the twin, and words of what they say.
    """

    def plant(function):
        name = getattr(function, "fget", function).__name__
        twin = type(name, (base,), {method: function})
        is_engine = issubclass(base, Engine)
        make = (lambda n, **options: twin(rules("hebei"), n, **options)) if is_engine else partial(make_engine, twin())
        for check, words in found.items():
            planted(check, make, words, name)
        return twin

    return plant


def after_step(found):
    """Plant the decorated function behind each step; what it returns takes the place of the result."""

    def plant(function):
        def step(self, actions, games=None):
            result = Engine.step(self, actions, games)
            other = function(self, result)
            return result if other is None else other

        step.__name__ = function.__name__
        return broken(Engine, "step", found)(step)

    return plant


# --- Tiles and books -------------------------------------------------------------------------------------------------


@broken(Hebei, "on_discard", {testing.check_tiles_conserved: "instead of"})
def the_next_tile_of_the_wall_turns_into_another(self, state, seats, kind):
    state.wall[seats.game, state.front[seats.game]] = kind


@broken(Hebei, "on_discard", {testing.check_tiles_conserved: "tiles instead of 1"})
def a_seat_that_discards_hands_a_tile_to_the_next(self, state, seats, kind):
    given = seats.of(state.hand).argmax(axis=1)
    state.remove_tiles(seats, given)
    state.add_tile(state.next_seats(seats), given)


@broken(Hebei, "on_discard", {testing.check_bookkeeping: "code"})
def a_tile_is_changed_for_the_next_of_the_wall_and_only_the_counts_know(self, state, seats, kind):
    given, front = seats.of(state.hand).argmax(axis=1), state.front[seats.game]
    taken = state.wall[seats.game, front]
    state.hand[seats.game, seats.seat, given] -= 1
    state.hand[seats.game, seats.seat, taken] += 1
    state.wall[seats.game, front] = given


@broken(Hebei, "on_discard", {testing.check_bookkeeping: "public"})
def a_discard_is_missing_in_the_public_planes(self, state, seats, kind):
    state.public[seats.game, seats.seat, DISCARDED, kind] -= 1


@broken(Hebei, "on_discard", {testing.check_bookkeeping: "is_tenpai"})
def nobody_is_flagged_as_one_tile_away(self, state, seats, kind):
    state.is_tenpai[seats.game] = False


@after_step({testing.check_bookkeeping: r"river \(claimed discards\)"})
def who_has_claimed_a_discard_is_not_noted(self, result):
    self.state.river_claimed[:] = 0


@after_step({testing.check_bookkeeping: r"public \(claimed discards\)"})
def melds_point_to_the_discard_after_the_claimed_one(self, result):
    listed = self.state.public[:, :, MELD_LIST, 4:30:6]
    listed[listed > 0] = 42


# --- Points ----------------------------------------------------------------------------------------------------------


def scores(found):
    """Plant the decorated function, which changes what hands score."""

    def plant(change):
        def score(self, wins):
            scored = Hebei.score(self, wins)
            change(scored, wins)
            return scored

        score.__name__ = change.__name__
        return broken(Hebei, "score", found)(score)

    return plant


@scores({testing.check_zero_sum: "do not sum to zero", testing.check_scores: "do not sum to zero"})
def the_winner_is_paid_a_point_too_much(scored, wins):
    scored.payments[np.arange(len(wins)), wins.seat] += 1


@scores({testing.check_scores: "may not win has points"})
def hands_that_may_not_win_have_points(scored, wins):
    scored.points = scored.points + ~scored.legal


@scores({testing.check_scores: "depends on the hands beside it"})
def all_hands_of_a_batch_are_worth_what_the_best_is(scored, wins):
    scored.points = np.where(scored.legal, scored.points.max(initial=0), 0)


@scores({testing.check_scores: "the winner pays"})
def the_winner_pays(scored, wins):
    scored.payments = -scored.payments


@scores({testing.check_scores: "a reason against it, or neither"})
def nobody_is_told_why_a_hand_may_not_win(scored, wins):
    scored.reason = np.zeros_like(scored.reason)


@broken(Hebei, "legal", {testing.check_scores: "may win with a hand that is not|legal.. and score"})
def whether_a_hand_may_win_is_asked_of_its_shape_alone(self, wins):
    return self.complete(wins)


@after_step({testing.check_scores: "may not win with a hand that is complete"})
def nobody_is_offered_a_win_on_a_draw(self, result):
    self.state.mask[self.state.phase == Phase.TURN, WIN] = False


@after_step({testing.check_zero_sum: "points .* are not those paid"})
def what_is_paid_is_not_told(self, result):
    return replace(result, rewards=np.zeros_like(result.rewards))


@after_step({testing.check_zero_sum: "other points than the game"})
def an_outcome_has_the_points_from_before_the_last_payment(self, result):
    outcome = result.outcome
    return replace(result, outcome=replace(outcome, points=outcome.points - outcome.payments))


@after_step({testing.check_zero_sum: "no winner"})
def hands_that_were_won_are_reported_as_drawn(self, result):
    return replace(result, outcome=replace(result.outcome, winner=np.full_like(result.outcome.winner, -1)))


# --- Legal actions ---------------------------------------------------------------------------------------------------


@broken(Engine, "action_mask", {testing.check_mask_exact: "was not refused"})
@property
def one_action_too_few(self):
    mask = Engine.action_mask.fget(self).copy()
    several = np.flatnonzero(mask.sum(axis=1) > 1)
    mask[several, mask[several].argmax(axis=1)] = False
    return mask


@broken(Engine, "action_mask", {testing.check_mask_exact: "an action in the mask was refused"})
@property
def a_pass_in_every_turn(self):
    mask = Engine.action_mask.fget(self).copy()
    mask[self.state.phase == Phase.TURN, PASS] = True
    return mask


@broken(Engine, "step", {testing.check_mask_exact: "changed num_discards"})
def a_refused_action_counts_as_a_discard(self, actions, games=None):
    try:
        return Engine.step(self, actions, games)
    except IllegalActionError:
        self.state.num_discards += 1
        raise


@broken(Engine, "step", {testing.check_mask_exact: "among legal actions changed"})
def of_a_batch_with_an_illegal_action_the_legal_ones_are_played(self, actions, games=None):
    try:
        return Engine.step(self, actions, games)
    except IllegalActionError:
        if games is None:
            legal = self.state.mask[np.arange(self.num_games), np.clip(actions, 0, NUM_ACTIONS - 1)]
            Engine.step(self, np.asarray(actions)[legal], np.flatnonzero(legal))
        raise


@broken(Engine, "step", {testing.check_mask_exact: "'pung' changes nothing"})
def a_pung_is_accepted_and_nothing_happens(self, actions, games=None):
    before = self.state.rows(np.arange(self.num_games))
    result = Engine.step(self, actions, games)
    numbers = np.arange(self.num_games) if games is None else np.asarray(games)
    idle = numbers[np.asarray(actions) == PUNG]
    for name, array in self.state.arrays().items():
        array[idle] = getattr(before, name)[idle]
    return result


BORROWED = {testing.check_mask_exact: "-1 tiles 7z", testing.check_legal_actions: "7z' is legal, but not possible"}


@broken(Hebei, "limit_turn", BORROWED)
def a_red_dragon_may_be_discarded_without_having_one(self, state, seats):
    state.mask[seats.game, 33] = True


@broken(Hebei, "limit_turn", {testing.check_legal_actions: "may discard nothing"})
def in_its_turn_a_seat_may_only_win(self, state, seats):
    drawn = seats.game[state.drawn[seats.game] >= 0]
    state.mask[drawn, :WIN] = False
    state.mask[drawn, WIN] = True


@broken(Hebei, "limit_claims", {testing.check_legal_actions: "'pung' is legal, but not possible"})
def a_seat_that_may_claim_anything_may_pung(self, state, seats, options):
    options[options > 0] |= MAY_PUNG


@after_step({testing.check_legal_actions: "'pung' is possible, but not legal"})
def a_seat_that_may_do_something_else_is_not_offered_a_pung(self, result):
    several = (self.state.phase == Phase.CLAIM) & (self.state.mask.sum(axis=1) > 2)
    self.state.mask[several, PUNG] = False


@after_step({testing.check_legal_actions: "'discard .*' is possible, but not legal"})
def the_first_tile_of_a_hand_may_not_be_discarded(self, result):
    in_turn = np.flatnonzero((self.state.phase == Phase.TURN) & (self.state.mask[:, :34].sum(axis=1) > 1))
    self.state.mask[in_turn, self.state.mask[in_turn].argmax(axis=1)] = False


@after_step({testing.check_legal_actions: "'concealed kong .*' is possible, but not legal"})
def four_tiles_alike_may_not_be_declared(self, result):
    self.state.mask[:, 34:68] = False


# --- Ends ------------------------------------------------------------------------------------------------------------


@broken(Hebei, "limit_turn", {testing.check_length: "has no legal action"})
def late_in_the_hand_nobody_may_do_anything(self, state, seats):
    state.mask[seats.game[state.left(seats.game) < 20]] = False


class WithoutClaims(Hebei):
    """Nobody claims or wins."""

    def tiles_short(self, codes, wilds, melds):
        return np.full(codes.shape[:-1], 14, np.int8)

    def limit_claims(self, state, seats, options):
        options[:] = 0


@broken(WithoutClaims, "on_discard", {testing.check_length: "does not end within"})
def discards_go_back_to_the_front_of_the_wall(self, state, seats, kind):
    state.front[seats.game] -= 1
    state.wall[seats.game, state.front[seats.game]] = kind
    state.river_size[seats.game, seats.seat] = 0
    state.num_discards[seats.game] = 1


@after_step({testing.check_length: "done and waits"})
def nobody_is_told_that_a_match_is_over(self, result):
    return replace(result, done=np.zeros_like(result.done))


# --- Seeds, batches, copies, snapshots, deals ------------------------------------------------------------------------

other_seeds = iter(range(100, 1000))


def another_seed_each_time(num_games, *, seed, **options):
    return make_engine("hebei", num_games, seed=next(other_seeds), **options)


def no_seed_at_all(num_games, *, seed, **options):
    return make_engine("hebei", num_games, seed=0, **options)


planted(testing.check_seeds, another_seed_each_time, "the same seed: ", "another_seed_each_time")
planted(testing.check_seeds, no_seed_at_all, "another seed deals the same cards", "no_seed_at_all")


@broken(Engine, "reset", {testing.check_seeds: "two games of a seed"})
def all_games_are_dealt_what_the_first_is(self, seed=None, deals=None, games=None):
    Engine.reset(self, seed, deals, games)
    for array in self.state.arrays().values():
        array[:] = array[:1]


@broken(Engine, "reset", {testing.check_seeds: "the next hands of a seed are the same"})
def the_next_hands_of_a_seed_are_its_first(self, seed=None, deals=None, games=None):
    self.first_seed = seed = getattr(self, "first_seed", seed) if seed is None else seed
    Engine.reset(self, seed, deals, games)


@broken(Engine, "reset", {testing.check_batch_independent: "dealt anew"})
def dealing_some_games_deals_all_of_them(self, seed=None, deals=None, games=None):
    Engine.reset(self, seed, deals)


@broken(Hebei, "on_discard", {testing.check_batch_independent: "alone|part at a time"})
def where_several_games_discard_the_next_tiles_change_places(self, state, seats, kind):
    if len(seats) > 1:
        games = seats.game
        front = state.front[games]
        behind = np.minimum(front + 1, state.wall.shape[1] - 1)
        state.wall[games, front], state.wall[games, behind] = state.wall[games, behind], state.wall[games, front]


@broken(Engine, "restore", {testing.check_snapshots: "river differs"})
def discards_are_not_put_back(self, snapshot):
    river = self.state.river.copy()
    Engine.restore(self, snapshot)
    self.state.river[:] = river


@broken(Engine, "snapshot", {testing.check_snapshots: "went back to a snapshot"})
def a_snapshot_goes_on_with_its_games(self):
    return Snapshot(Engine.snapshot(self).header, self.state.arrays())


@broken(Engine, "snapshot", {testing.check_snapshots: "cannot be restored"})
def a_snapshot_lacks_the_discards(self):
    taken = Engine.snapshot(self)
    return Snapshot(taken.header, {name: array for name, array in taken.arrays.items() if name != "river"})


@broken(Engine, "select", {testing.check_copies: "gives a Engine"})
def copies_are_plain_engines(self, games):
    twin = Engine.select(self, games)
    twin.__class__ = Engine
    return twin


@broken(Engine, "select", {testing.check_copies: "a copied game"})
def copies_come_in_the_order_of_their_games(self, games):
    return Engine.select(self, np.sort(games))


class CountsForItsOrigin(Engine):
    """A step is counted in the games that these are copies of."""

    origin = None

    def step(self, actions, games=None):
        if self.origin is not None:
            self.origin.state.turnover += 1
        return super().step(actions, games)


@broken(CountsForItsOrigin, "select", {testing.check_copies: "changed turnover"})
def copies_count_their_steps_in_the_games_that_they_come_from(self, games):
    twin = Engine.select(self, games)
    twin.origin = self
    return twin


@broken(Engine, "reset", {testing.check_deals: "is not as the deal names it"})
def a_deal_names_draws_in_vain(self, seed=None, deals=None, games=None):
    Engine.reset(self, seed, deals and [replace(deal, draws="") for deal in deals], games)


@broken(Engine, "reset", {testing.check_deals: "is refused as a deal"})
def deals_are_refused(self, seed=None, deals=None, games=None):
    Engine.reset(self, seed, deals and [replace(deal, tiles_left=1000) for deal in deals], games)


# --- Observations ----------------------------------------------------------------------------------------------------


@broken(Engine, "observe", {testing.check_observation: "int16"})
def observations_are_of_another_type_than_their_space(self, games=None, seats=None):
    return Engine.observe(self, games, seats).astype(np.int16)


@broken(Engine, "observe", {testing.check_observation: "observation and view differ in drawn"})
def what_is_observed_is_not_what_the_view_shows(self, games=None, seats=None):
    seen = Engine.observe(self, games, seats)
    seen[:, plane("drawn")] = 0
    return seen


@broken(Engine, "view", {testing.check_no_leak: "cannot know, in unseen"})
def the_view_counts_the_tiles_that_are_left_in_another_way(self, games=None, seats=None):
    seen = Engine.view(self, games, seats)
    numbers = np.arange(self.num_games) if games is None else np.asarray(games)
    return replace(seen, unseen=seen.unseen + self.state.hand[numbers, 0])


class Observes(Engine):
    """Observations and views are changed in the same way: ``change(observations, games)``, in place."""

    def observe(self, games=None, seats=None):
        seen = super().observe(games, seats)
        self.change(seen, np.arange(self.num_games) if games is None else np.asarray(games))
        return seen

    def view(self, games=None, seats=None):
        view = super().view(games, seats)
        seen = view.observation.copy()
        self.change(seen, np.arange(self.num_games) if games is None else np.asarray(games))
        return replace(view, observation=seen)


@broken(Observes, "change", {testing.check_observation: "differ in hand"})
def each_tile_of_the_hand_is_shown_as_its_neighbour(self, seen, games):
    seen[:, plane("hand")] = np.roll(seen[:, plane("hand")], 1, axis=2)


@broken(Observes, "change", {testing.check_observation: "points is not within its range, or a place that means"})
def places_that_mean_nothing_are_filled(self, seen, games):
    seen[:, plane("points"), 30] = 1


# What is written into a place of what everybody observes.
SEEN = {
    "the_wall": lambda state, games: state.wall[games, state.front[games]],
    "hands": lambda state, games: state.hand[games, :, 33].sum(axis=1),
    "answers_before_they_are_granted": lambda state, games: state.best_precedence[games],
    "who_is_asked": lambda state, games: state.actor[games],
    "what_another_has_drawn": lambda state, games: state.drawn[games],
    "how_many_are_one_tile_away": lambda state, games: state.is_tenpai[games].sum(axis=1),
    "kinds_of_concealed_kongs": lambda state, games: np.where(
        state.meld_type[games] == 5, state.meld_kind[games], 0
    ).sum(axis=(1, 2)),
    "that_somebody_is_asked": lambda state, games: state.phase[games],
    "draws_before_others_act": lambda state, games: state.left(games),
}
SEEN_AS = {
    "that_somebody_is_asked": "cannot know|others have passed",
    "draws_before_others_act": "others have passed",
}
for name, told in SEEN.items():

    def change(self, seen, games, told=told):
        seen[:, plane("facts").stop - 1, 33] = told(self.state, games)

    change.__name__ = f"seen_{name}"
    broken(Observes, "change", {testing.check_no_leak: SEEN_AS.get(name, "cannot know")})(change)


@broken(
    Hebei, "limit_turn", {testing.check_no_leak: "whether person . may 'discard .*' depends on what it cannot know"}
)
def discards_are_limited_by_what_the_next_seat_holds(self, state, seats):
    held = state.next_seats(seats).of(state.hand) > 1
    some = np.flatnonzero((state.mask[seats.game, :34] & ~held).any(axis=1))
    state.mask[seats.game[some], :34] &= ~held[some]


@broken(Hebei, "limit_claims", {testing.check_no_leak: "whether person . may 'pung' depends on what it cannot know"})
def no_pung_of_a_tile_of_which_its_giver_has_another(self, state, seats, options):
    game = seats.game
    has_another = state.hand[game, state.offered_by[game], state.offered[game]] > 0
    options[:, has_another] &= ~MAY_PUNG


@broken(Engine, "resample_hidden", {testing.check_resampling: "changes nothing"})
def what_is_hidden_stays_where_it_is(self, seats, rng, games=None):
    pass


@broken(Engine, "resample_hidden", {testing.check_resampling: "cannot know"})
def what_the_next_person_has_not_seen_is_redistributed(self, seats, rng, games=None):
    Engine.resample_hidden(self, (np.asarray(seats) + 1) % self.num_people, rng, games)


@broken(Engine, "resample_hidden", {testing.check_resampling: "-1 tiles|cannot know"})
def the_mask_stays_that_of_the_hands_before(self, seats, rng, games=None):
    mask = self.state.mask.copy()
    Engine.resample_hidden(self, seats, rng, games)
    self.state.mask[:] = mask


@broken(Engine, "resample_hidden", {testing.check_resampling: "instead of"})
def a_tile_of_the_wall_becomes_another(self, seats, rng, games=None):
    Engine.resample_hidden(self, seats, rng, games)
    front = self.state.front.clip(max=self.state.wall.shape[1] - 1)
    self.state.wall[np.arange(self.num_games), front] += 1


# --- The tests ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("check", "make", "words"), TWINS)
def test_a_broken_twin_is_refused(check, make, words):
    with pytest.raises(ConformanceError, match=words):
        check(make, games=16, seed=1)


def test_every_check_has_a_twin():
    assert {twin.values[0] for twin in TWINS} == set(testing.CHECKS)
