"""To break the rules never pays: what an illegal action costs, against what random legal play loses."""

import gymnasium
import numpy as np
import pytest

from mahjong_agents import make_agent
from mahjong_env import Rules, RulesError, make_engine, rules
from mahjong_env.environments.agents import RandomAgent
from mahjong_env.environments.learning_seats import LearningSeats
from mahjong_env.environments.registration import ENTRY_MODULES, gymnasium_id
from mahjong_env.ruleset.registry import VARIANTS
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.matches import measured_sigma, play_out, sigma
from support.house_rules import with_needed
from support.marks import variants

HEBEI = "mahjong_env/Hebei-v0"
NAMES = {variant: gymnasium_id(variant, version) for variant, version in ENTRY_MODULES.values()}
STAKES = {
    "hebei": [{"base_score": 20}],
    "taiwan": [{"base_score": 0}, {"base_score": 40}, {"unit": 7}],
    "hangzhou": [{"base_score": 5}],
    "fuzhou": [{"base_score": 1}, {"base_score": 60}],
}
HOUSE_RULES = [
    *((variant, knobs) for variant, listed in STAKES.items() for knobs in listed),
    *(
        (variant, with_needed({name: value}))
        for variant in VARIANTS
        for name, values in rules(variant).knob_choices().items()
        for value in values
        if value != rules(variant).knobs[name] and value != "points"  # these end when somebody has lost all
    ),
    *(("wuhan", {"cap": cap}) for cap in (None, 1, 20, 2000)),
    *(("hebei", {"cap": cap}) for cap in (1, 8)),
    *(("taiwan", {"dead_tiles": tiles}) for tiles in (0, 60)),
]


@pytest.fixture(scope="module")
def greedy():
    return make_agent("greedy")


def forfeit(variant, **arguments):
    """The reward of an illegal action as the first one of an episode."""
    env = gymnasium.make(NAMES[variant], **arguments)
    _, info = env.reset(seed=1)
    _, reward, terminated, _, info = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert terminated
    assert info["illegal_action"] is True
    return reward


def random_among_greedy(played, greedy, matches, hands=1):
    """What one seat of random legal play wins in a match against greedy players, with its 95 % interval."""
    who = np.ones((matches, played.people), np.intp)
    learner = np.arange(matches), np.arange(matches) % played.people
    who[learner] = 0
    engine = make_engine(played, matches, seed=41, num_hands=hands)
    points = play_out(engine, [RandomAgent(), greedy], who, np.random.default_rng(1)).points[learner]
    half = 1.96 * points.std() / matches**0.5
    return Estimate(points.mean(), points.mean() - half, points.mean() + half)


@pytest.mark.parametrize("variant", variants("hebei", "wuhan"))
def test_random_legal_play_earns_more_than_an_illegal_action(variant, greedy):
    assert random_among_greedy(rules(variant), greedy, 120).low > 0.5 * forfeit(variant)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
def test_so_it_does_in_matches(variant, greedy):
    assert random_among_greedy(rules(variant), greedy, 40, hands=16).low > 0.5 * forfeit(variant, num_hands=16)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "knobs"), HOUSE_RULES, ids=str)
def test_so_it_does_by_house_rules(variant, knobs, greedy):
    assert random_among_greedy(rules(variant, **knobs), greedy, 400).low > 0.5 * forfeit(variant, **knobs)


@pytest.mark.thorough
@pytest.mark.parametrize(("variant", "knobs"), HOUSE_RULES[: sum(map(len, STAKES.values()))], ids=str)
def test_the_declared_sigma_is_about_what_greedy_play_measures(variant, knobs):
    played = rules(variant, **knobs)
    assert played.sigma == pytest.approx(sigma(played), rel=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", NAMES)
def test_without_house_rules_it_is_what_greedy_play_measures(variant):
    """It is the unit of all strength; an interval of 99.9 % of twenty thousand deals holds it."""
    found = measured_sigma(rules(variant), 20_000)
    assert abs(rules(variant).sigma - found.mean) < 1.7 * found.half_width


def test_it_is_counted_in_sigma_for_each_hand_that_is_not_played():
    sigma_of = rules("hebei").sigma
    assert forfeit("hebei", illegal_reward=-2) == -2 * sigma_of
    assert forfeit("hebei", illegal_reward=-2, num_hands=5) == -2 * 5 * sigma_of
    assert forfeit("hebei", illegal_reward=-2, base_score=10) == pytest.approx(-20 * sigma_of)
    assert forfeit("hangzhou", illegal_reward=-1, match_end="points") == -200 * rules("hangzhou").sigma


def test_hands_that_have_been_played_do_not_count():
    envs = gymnasium.make_vec(HEBEI, num_envs=8, num_hands=4, illegal_reward=-1)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=1)
    engine = envs.unwrapped.engine
    while not (engine.state.hand_in_match >= 1).any():
        legal = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        *_, infos = envs.step(legal)
    left = 4 - engine.state.hand_in_match.astype(int)
    _, rewards, terminations, _, infos = envs.step(np.full(8, 200))
    assert terminations.all()
    assert rewards.tolist() == (-left * rules("hebei").sigma).tolist()
    assert len(set(rewards)) > 1


def test_rules_that_declare_no_sigma_say_so():
    class Undeclared(type(rules("hebei"))):
        sigma = Rules.sigma

    with pytest.raises(RulesError, match="sigma"):
        LearningSeats(Undeclared(), 1)
    LearningSeats(Undeclared(), 1, on_illegal="raise")
