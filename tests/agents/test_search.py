"""Search: it sees nothing hidden, keeps to its budget, and takes what is clearly better."""

from __future__ import annotations

import numpy as np
import pytest

from mahjong_agents import AgentError, make_agent
from mahjong_agents.control_variates import Luck, weights_of
from mahjong_agents.policy.critic import shipped_critic
from mahjong_agents.search.agent import NO_PLAN, Candidates, SearchAgent, _better_half, _Tries, candidates, play_out
from mahjong_env import rules as make_rules
from mahjong_env.testing import random_actions
from support.marks import variants
from support.positions import in_mid_hand


@pytest.mark.parametrize("variant", variants("hebei", "wuhan"))
def test_hidden_tiles_change_nothing(variant):
    engine = in_mid_hand(variant, 3, 40)
    agent = SearchAgent(rollouts=16)
    chosen = agent.act(engine.view(), np.random.default_rng(2))
    assert engine.action_mask[np.arange(engine.num_games), chosen].all()
    before = engine.state.hand.copy()
    engine.resample_hidden(engine.seat_to_act, np.random.default_rng(3))
    assert (engine.state.hand != before).any()
    np.testing.assert_array_equal(agent.act(engine.view(), np.random.default_rng(2)), chosen)


@pytest.mark.parametrize("settings", [{"horizon": 1}, {"horizon": 2, "others": "reference"}])
def test_hidden_tiles_change_nothing_where_a_critic_is_told_of_other_hands(settings):
    engine = in_mid_hand("hebei", 3, 40)
    agent = SearchAgent(rollouts=16, clear=0, **settings)
    chosen = agent.act(engine.view(), np.random.default_rng(2))
    assert engine.action_mask[np.arange(engine.num_games), chosen].all()
    engine.resample_hidden(engine.seat_to_act, np.random.default_rng(3))
    np.testing.assert_array_equal(agent.act(engine.view(), np.random.default_rng(2)), chosen)


def test_the_games_it_looks_at_are_left_as_they_are():
    engine = in_mid_hand("hebei", 3, 40)
    before = engine.snapshot()
    SearchAgent(rollouts=16).act(engine.view(), np.random.default_rng(2))
    for name, array in engine.snapshot().arrays.items():
        np.testing.assert_array_equal(array, before.arrays[name])


def test_a_time_for_each_decision():
    engine = in_mid_hand("taiwan", 1, 40)
    chosen = SearchAgent(milliseconds=1).act(engine.view(), np.random.default_rng(0))
    assert engine.action_mask[0, chosen[0]]


@pytest.mark.parametrize(("settings", "rounds"), [({}, [40]), ({"milliseconds": 1}, [16])])
def test_few_decisions_are_played_out_on_all_worlds_at_once_but_for_a_time(settings, rounds):
    class Counting(SearchAgent):
        def copies(self, view, worlds, world, rng):
            played.append(worlds)
            return super().copies(view, worlds, world, rng)

    played = []
    agent = Counting(rollouts=40, base="greedy", **settings)
    agent.act(in_mid_hand("hebei", 1, 40).view(), np.random.default_rng(0))
    assert played == rounds


def test_noise_and_differences():
    tries = _Tries(2)
    differences = np.random.default_rng(0).normal([[0.0], [3.0]], 5.0, (2, 400))
    for part in np.split(differences, 4, axis=1):
        tries.add(np.arange(2), part)
    np.testing.assert_allclose(tries.mean(), differences.mean(axis=1))
    np.testing.assert_allclose(tries.error(), differences.std(axis=1, ddof=1) / 20)


def test_the_better_half_goes_on():
    row = np.array([0, 0, 0, 1, 1])
    keep = _better_half(row, np.array([1.0, 3.0, 2.0, -1.0, -2.0]), np.array([True, True, True, True, False]))
    np.testing.assert_array_equal(keep, [False, True, True, True, False])


def test_the_best_of_what_is_clearly_better_is_played():
    row, action = np.array([0, 0, 0, 1, 1]), np.array([5, 6, 7, 5, 6])
    means = np.array([0.0, 2.0, 3.0, 0.0, 0.5])
    tries = _Tries(5)
    tries.add(np.arange(5), means[:, None] + np.array([-4.0, 4.0] * 8))  # errors of about 1
    chosen = SearchAgent()._best(np.array([5, 5]), Candidates(row, action, np.full(5, NO_PLAN)), tries)
    assert chosen.tolist() == [7, 5]


@pytest.mark.parametrize("name", ["rollouts", "milliseconds", "actions", "plans", "likely", "horizon"])
@pytest.mark.parametrize("value", [-1, 10**50, True, "many"])
def test_settings_that_cannot_be(name, value):
    with pytest.raises(AgentError, match=f"{name} is (an integer|a probability) from"):
        SearchAgent(**{name: value})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({name: None}, f"{name} is an integer from") for name in ("rollouts", "actions", "plans")),
        *(({"clear": value}, "clear is a finite number from 0") for value in ("2", True, -3, np.nan, np.inf)),
    ],
)
def test_settings_of_the_wrong_kind(settings, message):
    with pytest.raises(AgentError, match=message):
        SearchAgent(**settings)


@pytest.mark.parametrize("base", ["reference", "greedy", "policy:wuhan"])
def test_any_agent_can_be_its_base(base):
    engine = in_mid_hand("wuhan", 3, 40)
    chosen = SearchAgent(rollouts=4, base=base, plans=2).act(engine.view(), np.random.default_rng(0))
    assert engine.action_mask[np.arange(engine.num_games), chosen].all()


def test_where_nothing_could_be_clear_the_base_plays():
    engine = in_mid_hand("wuhan", 6, 40)
    base = make_agent("policy:wuhan").act(engine.view(), np.random.default_rng(0))
    found = SearchAgent(rollouts=16, clear=1e9).act(engine.view(), np.random.default_rng(0))
    np.testing.assert_array_equal(found, base)  # the shipped policy is the base, if there is one


def test_the_usual_action_comes_first_and_all_are_legal():
    engine = in_mid_hand("wuhan", 40, 40)
    view, rng = engine.view(), np.random.default_rng(0)
    base = make_agent("policy:wuhan")
    usual = base.act(view, rng)
    tried = candidates(view, usual, base, 3, 4, rng)
    first = np.unique(tried.row, return_index=True)[1]
    np.testing.assert_array_equal(tried.action[first], usual)
    assert view.action_mask[tried.row, tried.action].all()
    assert (np.diff(tried.row) >= 0).all()
    planned = tried.plan != NO_PLAN
    assert planned.any()
    assert (tried.action[planned] != usual[tried.row[planned]]).all()
    assert (np.bincount(tried.row, planned) <= 4).all()


def test_games_of_a_world_that_begin_alike_go_alike():
    worlds = in_mid_hand("hebei", 3, 40).view().worlds(8, np.random.default_rng(0))
    world = np.tile(np.arange(24), 2)
    games = worlds.select(world)
    actions = games.action_mask.argmax(axis=1)
    points = play_out(games, actions, np.full(48, NO_PLAN), world, make_agent("greedy"), np.random.default_rng(1))
    np.testing.assert_array_equal(points[:24], points[24:])
    assert len(np.unique(points)) > 1


class Asked:
    """A critic that says seven, and what it has been shown."""

    def __init__(self):
        self.shown = []

    def __call__(self, critic_inputs):
        self.shown.append(critic_inputs)
        return np.full(len(critic_inputs), 7.0)


@pytest.mark.parametrize("base", ["greedy", "policy:hebei"])
def test_a_critic_says_what_the_rest_of_a_hand_brings(base):
    engine, agent, critics = in_mid_hand("hebei", 3, 40), make_agent(base), (None, Asked(), Asked())
    plan, world = np.repeat([NO_PLAN, 0], 12), np.arange(24)
    brought = []
    for critic, horizon in zip(critics, (0, 1000, 2), strict=True):
        games = engine.view().worlds(8, np.random.default_rng(0))
        first, rng = games.action_mask.argmax(axis=1), np.random.default_rng(1)
        brought.append(play_out(games, first, plan, world, agent, rng, critic=critic, horizon=horizon))
    to_the_end, never_asked, soon = brought
    np.testing.assert_array_equal(to_the_end, never_asked)
    asked = np.concatenate(critics[2].shown)
    assert not sum(map(len, critics[1].shown))
    assert 0 < len(asked) <= 24
    # Hebei pays nobody before the end of the hand: a game either ended or was cut off with the critic's seven.
    cut = soon == 7
    assert cut.sum() == len(asked)
    np.testing.assert_array_equal(soon[~cut], to_the_end[~cut])
    assert asked.shape[1] == len(shipped_critic(engine.rules).weights[0])


def test_where_no_critic_is_shipped_worlds_are_played_to_their_end():
    engine = in_mid_hand(make_rules("hebei", players=4), 2, 40)
    assert shipped_critic(engine.rules) is None
    to_the_end, cut = (
        SearchAgent(rollouts=4, horizon=horizon).act(engine.view(), np.random.default_rng(0)) for horizon in (0, 1)
    )
    np.testing.assert_array_equal(to_the_end, cut)


class Told:
    """Greedy, and who has asked it."""

    def __init__(self):
        self.name, self.asked, self._greedy = "told", [], make_agent("greedy")

    def act(self, view, rng):
        self.asked += view.person[:, 0].tolist()
        return self._greedy.act(view, rng)


def test_the_other_seats_may_be_taken_for_another_agent():
    engine = in_mid_hand("hebei", 1, 40)
    who = int(engine.seat_to_act[0])
    games = engine.view().worlds(8, np.random.default_rng(0))
    base, others, plan = Told(), Told(), np.full(8, NO_PLAN)
    play_out(games, games.action_mask.argmax(axis=1), plan, np.arange(8), base, np.random.default_rng(1), None, others)
    assert set(base.asked) == {who}
    assert len(set(others.asked)) > 1
    assert who not in others.asked
    chosen = SearchAgent(rollouts=4, others="reference").act(engine.view(), np.random.default_rng(0))
    assert engine.action_mask[0, chosen[0]]


def test_the_critic_is_asked_after_as_many_decisions_of_the_seat():
    engine = in_mid_hand("hebei", 1, 3)
    who = int(engine.seat_to_act[0])
    games = engine.view().worlds(8, np.random.default_rng(0))
    base, critic = Told(), Asked()
    first, plan = games.action_mask.argmax(axis=1), np.full(8, NO_PLAN)
    play_out(games, first, plan, np.arange(8), base, np.random.default_rng(1), critic=critic, horizon=2)
    assert sum(map(len, critic.shown)) == 8  # no hand ends so soon
    assert base.asked.count(who) == 8 * 3  # two that are played, and one that is left to the critic


def test_what_the_base_is_sure_of_is_not_tried():
    view, rng = in_mid_hand("wuhan", 40, 40).view(), np.random.default_rng(0)
    base = make_agent("policy:wuhan")
    usual, scores = base.act(view, rng), base.scores(view)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    tried = candidates(view, usual, base, 3, 4, rng, likely=0.1)
    others = tried.action != usual[tried.row]
    assert others.any()
    assert (shares[tried.row, tried.action][others] >= 0.1).all()
    assert set(tried.row) == set(range(40))  # what the base would play comes first all the same
    every = candidates(view, usual, base, 3, 4, rng)
    assert (shares[every.row, every.action] < 0.1).any()
    # Of others than policies no probabilities are known.
    greedy = make_agent("greedy")
    assert len(candidates(view, usual, greedy, 3, 0, rng, likely=0.1).row) == len(
        candidates(view, usual, greedy, 3, 0, rng).row
    )


def test_the_policy_for_the_rules_that_are_played_says_what_it_likes():
    view = in_mid_hand("wuhan", 3, 40).view()
    np.testing.assert_array_equal(make_agent("policy").scores(view), make_agent("policy:wuhan").scores(view))


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["hebei", "taiwan"])
def test_luck_is_taken_off_worlds_without_moving_their_mean(variant):
    engine = in_mid_hand(variant, 2, 24)
    engine.step(random_actions(engine.action_mask, np.random.default_rng(3)))
    view = engine.view()
    rules, number = view.rules, 400
    found = []
    for weights in (None, weights_of(rules)):
        worlds = view.worlds(number, np.random.default_rng(0))
        chosen = make_agent("greedy").act(worlds.view(), np.random.default_rng(1))
        plan, world = np.full(len(chosen), NO_PLAN), np.arange(len(chosen))
        rng = np.random.default_rng(1)
        points = play_out(worlds, chosen, plan, world, make_agent("greedy"), rng, weights)
        found.append(points.reshape(2, number))
    plain, less = found
    error = np.sqrt((plain - less).var(axis=1) / number)
    assert (np.abs(plain.mean(axis=1) - less.mean(axis=1)) < 4 * error).all()
    assert less.var(axis=1).mean() < 0.7 * plain.var(axis=1).mean()


def test_the_deal_of_the_next_hand_is_no_luck_of_this_one(monkeypatch):
    games = in_mid_hand("hebei", 4, 30, num_hands=2).view().worlds(4, np.random.default_rng(0))
    hand = games.state.hand_in_match.copy()

    class Watched(Luck):
        def add(self, games):
            assert (self._state.hand_in_match[games] == hand[games]).all()
            super().add(games)

    monkeypatch.setattr("mahjong_agents.search.agent.Luck", Watched)
    plan, weights = np.full(16, NO_PLAN), weights_of(games.rules)
    first, rng = games.action_mask.argmax(axis=1), np.random.default_rng(1)
    play_out(games, first, plan, np.arange(16), make_agent("greedy"), rng, weights)
    assert (games.state.hand_in_match > hand).any()
