"""What all environments promise: PettingZoo's, Gymnasium's of one seat, and the vector environment."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import re
import warnings
from functools import partial

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils import EzPickle
from gymnasium.utils.env_checker import check_env

import mahjong_env
from mahjong_agents import GreedyAgent
from mahjong_env import (
    NUM_ACTIONS,
    VARIANTS,
    Deal,
    DealError,
    Hidden,
    IllegalActionError,
    MahjongError,
    OpponentPool,
    RulesError,
    action,
    make_engine,
)
from mahjong_env.engine.phases import settle
from mahjong_env.environments.aec import Guarded, MahjongAEC
from mahjong_env.environments.agents import RandomAgent, choose_at_random
from mahjong_env.environments.registration import ENTRY_MODULES, gymnasium_id, pettingzoo_id
from mahjong_env.environments.single_seat import SingleSeatEnv
from mahjong_env.environments.vector_env import MahjongVectorEnv
from mahjong_env.observation.privileged import LAYOUT
from mahjong_env.testing import (
    ConformanceError,
    check_environment_copies,
)
from support.marks import variants
from support.own_agents import LastLegal

HEBEI = "mahjong_env/Hebei-v0"
IDS = {variant: gymnasium_id(variant, version) for variant, version in ENTRY_MODULES.values()}

ROTATION = {"rotation": True}

every_variant = pytest.mark.parametrize("variant", sorted(IDS))


class Aec:
    """PettingZoo's environment."""

    def __init__(self, **arguments):
        self.env = mahjong_env.hebei_v0.env(**arguments)

    @property
    def bare(self):
        return self.env.unwrapped

    def observe(self):
        return self.env.observe(self.env.agent_selection)

    def mask(self):
        return self.observe()["action_mask"]

    def step(self, chosen):
        self.env.step(chosen)


class Seat(Aec):
    """The environment of one seat."""

    def __init__(self, **arguments):
        self.env = gymnasium.make(HEBEI, observation="dict", on_illegal="raise", seat=2, **arguments)

    def observe(self):
        return {"observation": self.bare._seats.observe(np.zeros(1, int)), "action_mask": self.bare.action_masks()}


class Seats(Seat):
    """The vector environment, with one table."""

    def __init__(self, **arguments):
        self.env = gymnasium.make_vec(HEBEI, num_envs=1, on_illegal="raise", seat=2, **arguments)

    def mask(self):
        return self.bare.action_masks()[0]

    def step(self, chosen):
        self.env.step([chosen])


SHELLS = (Aec, Seat, Seats)
every_shell = pytest.mark.parametrize("shell", SHELLS)


def legal(shell):
    return int(np.flatnonzero(shell.mask())[0])


def play(env, rng, until=10**9):
    """Plays a PettingZoo environment at random; yields (agent, reward, info) as each agent is told."""
    for _, agent in zip(range(until), env.agent_iter(), strict=False):
        observation, reward, terminated, truncated, info = env.last()
        yield agent, reward, info
        is_over = terminated or truncated
        env.step(None if is_over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))


# --- The tests of others, and registries -----------------------------------------------------------------------------


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
def test_checkers_of_gymnasium_and_stable_baselines(variant):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in ("flat", "planes", "dict"):
            check_env(gymnasium.make(IDS[variant], observation=form).unwrapped, skip_render_check=form != "flat")
        pytest.importorskip("stable_baselines3.common.env_checker").check_env(gymnasium.make(IDS[variant]).unwrapped)


def test_every_variant_has_its_module_and_ids():
    assert {variant for variant, _ in ENTRY_MODULES.values()} == set(VARIANTS)
    for name, (variant, version) in ENTRY_MODULES.items():
        assert version == VARIANTS[variant].version
        assert getattr(mahjong_env, name).raw_env().metadata["name"] == name
        if hasattr(pettingzoo, "make"):  # PettingZoo has a registry from 1.27 on
            env = pettingzoo.make("aec", pettingzoo_id(variant, version), num_hands=2)
            assert (env.unwrapped.metadata["name"], env.unwrapped.engine.num_hands) == (name, 2)
    with pytest.raises(AttributeError, match="nothing_v0"):
        mahjong_env.nothing_v0  # noqa: B018 the look-up is what is tested


def made(env):
    env.reset(seed=1)
    return env


SHOWN = {
    "engine": (lambda: make_engine("hebei", 20, seed=1), "<Engine of hebei: 20 games, 20 of them under way>"),
    "view": (lambda: make_engine("hebei", 20, seed=1).view(), "<View of hebei: 20 rows, seen by the persons "),
    "AEC": (lambda: made(mahjong_env.hebei_v0.env()), "<hebei_v0: player_"),
    "AEC, not begun": (mahjong_env.hebei_v0.raw_env, "<hebei_v0: to be reset>"),
    "one seat": (lambda: made(gymnasium.make(HEBEI)).unwrapped, "<SingleSeatEnv of hebei: player_"),
    "many": (lambda: gymnasium.make_vec(HEBEI, num_envs=3), "<MahjongVectorEnv of hebei: 3 tables>"),
}


@pytest.mark.parametrize(("make", "shown"), SHOWN.values(), ids=SHOWN)
def test_they_are_shown_in_a_line(make, shown):
    text = repr(make())
    assert text.startswith(shown)
    assert len(text) < 120


# --- In every shell --------------------------------------------------------------------------------------------------


@every_shell
def test_an_illegal_action_raises_where_that_is_wanted_and_changes_nothing(shell):
    one = shell()
    one.env.reset(seed=1)
    before, seen = one.bare.engine.snapshot().to_bytes(), one.observe()
    with pytest.raises(IllegalActionError, match=r"game 0, seat \d.*is not legal; legal are 'discard"):
        one.step(int(np.flatnonzero(one.mask() == 0)[0]))
    assert one.bare.engine.snapshot().to_bytes() == before
    for name, array in one.observe().items():
        assert np.array_equal(array, seen[name])
    one.step(legal(one))


@every_shell
@pytest.mark.parametrize("wrong", [1.0, "discard 1m", None, [3, 4]])
def test_an_action_is_one_integer(shell, wrong):
    one = shell()
    one.env.reset(seed=1)
    one.env = one.bare  # PettingZoo's wrappers refuse them in their own words
    with pytest.raises(mahjong_env.ActionError, match="1 integers"):
        one.step(wrong)


@every_shell
def test_deals(shell):
    one = shell()
    options = {"deal": Deal(hands=("123456789m 1122z",) * 2, dealer=2)}
    one.env.reset(seed=1, options=options)
    assert sorted(one.bare.engine.state.hand[0, 0].nonzero()[0]) == [*range(9), 27, 28]
    before = one.bare.engine.snapshot().to_bytes()
    for wrong, message in (({"dealer": 1}, r"mahjong_env\.Deal"), (Deal(hands=("11111m",)), "fifth")):
        with pytest.raises(DealError, match=message):
            one.env.reset(options={"deal": wrong})
        assert one.bare.engine.snapshot().to_bytes() == before, "a refused deal changes nothing"
    one.step(legal(one))


@every_shell
def test_resetting_again_deals_the_next_hand(shell):
    one, dealt = shell(), []
    for seed in (7, None, 7, None):
        one.env.reset(seed=seed)
        dealt.append(one.bare.engine.state.wall.tobytes())
    assert dealt[0] == dealt[2] != dealt[1] == dealt[3]


@every_shell
def test_observations_are_fresh(shell):
    one = shell()
    one.env.reset(seed=1)
    seen = one.observe()
    kept = {name: array.copy() for name, array in seen.items()}
    for array in seen.values():
        array[:] = 1
    for name, array in one.observe().items():
        assert np.array_equal(array, kept[name])


@every_shell
def test_rendering(shell, capsys):
    for mode in ("ansi", "human") if shell is not Seats else ("ansi",):
        one = shell(render_mode=mode)
        one.env.reset(seed=1)
        shown = one.env.render()
        assert "player_2" in "".join([*(shown or ()), capsys.readouterr().out])
    with pytest.warns(UserWarning, match="render_mode"):
        assert made(shell().bare).render() is None


@every_shell
def test_rendered_wins_add_up(shell):
    """The hand by its sets, and the calculation of its value."""
    one, greedy, rng = shell(render_mode="ansi", num_hands=3), GreedyAgent(), np.random.default_rng(0)
    one.env.reset(seed=1)
    for _ in range(600):
        if one.bare.engine.seat_to_act[0] < 0:
            one.env.reset(seed=int(rng.integers(1000)))
        one.step(int(greedy.act(one.bare.engine.view(), rng)[0]))
        shown = "".join(one.env.render())
        if "    rows      " in shown:
            assert re.search(r"    hand      \S+.*\n    rows      \S+", shown)
            return
    raise AssertionError("nobody has won")


# --- PettingZoo ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "knobs"), [*((variant, {}) for variant in sorted(IDS)), ("hebei", ROTATION)])
def test_is_the_engine_s_game(variant, knobs):
    env = importlib.import_module(f"mahjong_env.{variant}_v0").env(num_hands=2, **knobs)
    env.reset(seed=11)
    engine = make_engine(variant, 1, num_hands=2, seed=11, **knobs)
    rng, states = np.random.default_rng(0), set()
    told = np.zeros(engine.num_people, np.int64)
    for agent in env.agent_iter():
        person = int(agent.removeprefix("player_"))
        observation, reward, terminated, truncated, _ = env.last()
        told[person] += reward
        assert env.unwrapped.state_space.contains(env.state())
        states.add(env.state().tobytes())
        if terminated or truncated:
            env.step(None)
            continue
        assert person == engine.seat_to_act[0]
        assert env.agents == env.possible_agents, "who sits out stays"
        assert observation["action_mask"].tolist() == engine.action_mask[0].tolist()
        for other, name in enumerate(env.possible_agents):
            assert np.array_equal(env.observe(name)["observation"], engine.observe(seats=other)[0])
            assert env.observe(name)["action_mask"].any() == (other == person)
        chosen = int(GreedyAgent().act(engine.view(), rng)[0])
        env.step(chosen)
        assert list(env.rewards.values()) == engine.step([chosen]).rewards[0].tolist()
    assert engine.seat_to_act[0] == -1
    assert told.tolist() == (engine.points[0] - engine.rules.starting_points).tolist()
    assert told.any(), "of hands in which nobody is paid nothing is learned"
    assert len(states) > 30


def test_a_match_goes_on_after_a_hand():
    env = mahjong_env.hebei_v0.env(num_hands=3)
    env.reset(seed=2)
    hands = {agent: [] for agent in env.possible_agents}
    for agent, _, info in play(env, np.random.default_rng(2)):
        if "outcome" in info:
            hands[agent].append(info["outcome"])
    told = next(iter(hands.values()))
    assert len(told) == 3
    assert all(seen == told for seen in hands.values()), "each person is told of each hand once"
    assert told[-1]["points"] == env.unwrapped.engine.points[0].tolist()


def test_an_outcome_says_who_won():
    env = mahjong_env.hebei_v0.env()
    env.reset(seed=3, options={"deal": Deal(hands=("1112223334445m5m", "", ""), dealer=0)})
    env.step(action("win"))
    outcome = env.infos["player_1"]["outcome"]
    assert (outcome["winner"], outcome["source"], outcome["from_seat"]) == (0, "draw", -1)
    assert dict(outcome["rows"])["All Pungs"] == 3
    assert outcome["payments"] == list(env.rewards.values())
    assert sum(outcome["payments"]) == 0 < outcome["value"]


def test_a_match_that_is_cut_short_is_truncated(monkeypatch):
    monkeypatch.setattr(settle, "CUT_AFTER", 2)
    env = mahjong_env.hangzhou_v0.env(match_end="points", initial_points=10_000)
    env.reset(seed=1)
    for _ in play(env, np.random.default_rng(1), until=2000):
        if any(env.truncations.values()):
            break
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}


@every_variant
def test_the_state_knows_what_observations_hide(variant):
    env = MahjongAEC(variant)
    env.reset(seed=6)
    for _ in play(env, np.random.default_rng(6), until=20):
        pass
    engine = env.engine
    seat = int(engine.seat_to_act[0])
    seen, state = env.observe(f"player_{seat}"), env.state()
    for person in range(engine.num_people):
        block = np.concatenate([engine.observe(seats=person)[0], engine.observe(seats=person, privileged=True)[0]])
        assert np.array_equal(state[person], block)
    engine.resample_hidden(seat, np.random.default_rng(0))
    assert np.array_equal(seen["observation"], env.observe(f"player_{seat}")["observation"])
    assert not np.array_equal(state, env.state())


# --- One seat --------------------------------------------------------------------------------------------------------


@every_variant
def test_what_the_seat_may_not_see_is_told_where_it_is_wanted(variant):
    env = gymnasium.make(IDS[variant], privileged=True, num_hands=2)
    engine, (_, info), over, rng = env.unwrapped.engine, env.reset(seed=3), False, np.random.default_rng(3)
    while True:
        assert info["privileged"].dtype == np.int8
        hidden = engine.hidden(seats=info["seat"])
        assert np.array_equal(info["privileged"][LAYOUT.planes("hands")], hidden.hand[0, 1:])
        assert np.array_equal(info["privileged"], engine.observe(seats=info["seat"], privileged=True)[0])
        if over:
            break
        _, _, terminated, truncated, info = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        over = terminated or truncated


@pytest.mark.parametrize("shell", [Seat, Seats])
def test_nothing_is_looked_up_where_nobody_wants_it(shell, monkeypatch):
    def refuse(seen):
        raise AssertionError("hidden tiles are looked up")

    monkeypatch.setattr(Hidden, "of", refuse)
    env = shell().bare
    _, info = env.reset(seed=1)
    for _ in range(60):
        masks = env.action_masks()
        *_, info = env.step(masks.argmax(axis=-1))
        if isinstance(env, SingleSeatEnv) and not env.action_masks().any():
            env.reset()
        assert "privileged" not in info
        assert "privileged" not in info.get("final_info", {})
    with pytest.raises(AssertionError, match="are looked up"):
        shell(privileged=True).bare.reset(seed=1)


@every_variant
def test_returns_are_the_points_of_the_person(variant):
    env = gymnasium.make(IDS[variant], num_hands=2)
    env.action_space.seed(3)
    engine = env.unwrapped.engine
    for episode in range(5):
        observation, info = env.reset(seed=3 if episode == 0 else None)
        total, over = 0.0, False
        while not over:
            seat = info["seat"]
            assert seat == engine.seat_to_act[0]
            assert observation.tolist() == engine.observe(seats=seat)[0].ravel().tolist()
            assert info["action_mask"].dtype == np.int8
            assert env.unwrapped.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
            observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            total, over = total + reward, terminated or truncated
        assert total == engine.points[0, info["seat"]] - engine.rules.starting_points
        assert info["outcome"]["points"] == engine.points[0].tolist()
        assert not info["action_mask"].any()


def test_the_seat_is_drawn_for_each_episode_or_fixed():
    for arguments, seats in (({}, {0, 1, 2}), ({"seat": 2}, {2}), (ROTATION, {0, 1, 2})):
        env = gymnasium.make(HEBEI, **arguments)
        env.reset(seed=1)
        assert {env.reset()[1]["seat"] for _ in range(40)} == seats, "a person who sits out is never asked"
    with pytest.raises(ValueError, match="0 to 2"):
        gymnasium.make(HEBEI, rotation=True, seat=3)
    env = gymnasium.make(HEBEI, rotation=True, seat=3, num_hands=4, opponents=LastLegal())
    assert env.reset(seed=1)[1]["seat"] == 3, "in a match he comes in when somebody has won"
    assert env.unwrapped.engine.state.hand_in_match[0] > 0


def test_pettingzoos_game_ends_by_an_illegal_action_where_that_is_wanted():
    env = mahjong_env.hebei_v0.env(on_illegal="end")
    env.reset(seed=1)
    agent = env.agent_selection
    env.step(int(env.observe(agent)["action_mask"].argmin()))
    assert all(env.terminations.values())
    assert not any(env.observe(each)["action_mask"].any() for each in env.agents)
    assert env.last()[1] == pytest.approx(-3 * env.unwrapped.engine.rules.sigma)
    for other in env.agents:
        assert other == agent or env._cumulative_rewards[other] == 0
    for _ in env.agent_iter():
        env.step(None)
    assert env.agents == []


def test_after_a_restore_the_legal_actions_are_those_of_the_snapshot():
    env = mahjong_env.hebei_v0.env(on_illegal="end")
    env.reset(seed=7)
    snapshot = env.unwrapped.engine.snapshot()
    before = env.last()[0]["action_mask"]
    env.step(int(before.argmax()))
    after = env.last()[0]["action_mask"]
    env.unwrapped.engine.restore(snapshot)
    env.step(int((before & ~after).argmax()))
    assert not any(env.terminations.values())
    env.unwrapped.engine.restore(snapshot)
    env.step(int((1 - before).argmax()))
    assert all(env.terminations.values())


def test_an_illegal_action_ends_the_episode():
    env = gymnasium.make(HEBEI, illegal_reward=-2)
    _, info = env.reset(seed=1)
    observation, reward, terminated, truncated, after = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert (reward, terminated, truncated) == (-2 * mahjong_env.rules("hebei").sigma, True, False)
    assert after["illegal_action"] is True
    assert not after["action_mask"].any()
    assert env.observation_space.contains(observation)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(0)
    _, info = env.reset()
    assert "illegal_action" not in info
    assert info["action_mask"].any()


@pytest.mark.parametrize("make", [gymnasium.make, partial(gymnasium.make_vec, num_envs=2)])
def test_after_a_deal_that_is_refused_chance_goes_on_as_it_would_have(make):
    env, twin = make(HEBEI, opponents="random"), make(HEBEI, opponents="random")
    env.reset(seed=1)
    twin.reset(seed=1)
    with pytest.raises(DealError):
        env.reset(seed=2, options={"deal": Deal(hands=("11111m",))})
    for _ in range(3):
        mine, theirs = env.reset()[0], twin.reset()[0]
        np.testing.assert_array_equal(mine, theirs)
    assert env.unwrapped.np_random.random() == twin.unwrapped.np_random.random()


@pytest.mark.parametrize("seed", [True, "a", np.array(3)])
@pytest.mark.parametrize("make", [gymnasium.make, partial(gymnasium.make_vec, num_envs=2)])
def test_a_seed_that_is_refused_changes_nothing(make, seed):
    env = make(HEBEI)
    env.reset(seed=1)
    before = env.unwrapped.np_random.bit_generator.state
    with pytest.raises(MahjongError, match="seed is an integer from 0"):
        env.unwrapped.reset(seed=seed)
    assert env.unwrapped.np_random.bit_generator.state == before


@pytest.mark.parametrize(
    ("make", "wrong", "meant"),
    [
        (mahjong_env.hebei_v0.env, "on_ilegal", "on_illegal"),
        (mahjong_env.hebei_v0.raw_env, "num_hand", "num_hands"),
        (partial(gymnasium.make, "mahjong_env/Hebei-text-v0"), "trys", "tries"),
        (partial(gymnasium.make, HEBEI), "observations", "observation"),
    ],
)
def test_a_misspelt_argument_is_named_beside_the_right_one(make, wrong, meant):
    with pytest.raises(RulesError, match=f"neither an argument nor a knob {wrong!r}. Did you mean {meant!r}"):
        make(**{wrong: 1})


def test_the_signature_of_an_environment_of_ones_own_has_its_arguments():
    class Mine(SingleSeatEnv):
        def __init__(self, variant, *, bonus=0, seat=2, **others):
            super().__init__(variant, seat=seat, **others)

    found = inspect.signature(Mine).parameters
    assert [found["bonus"].default, found["seat"].default, found["opponents"].default] == [0, 2, "random"]


def test_a_deal_that_the_seat_never_sees_is_refused():
    env = gymnasium.make(HEBEI, seat=1, opponents=LastLegal())
    with pytest.raises(DealError, match="had a decision"):
        env.reset(seed=1, options={"deal": Deal(hands=("111222333444m 55m",), dealer=0)})


class Keeps(RandomAgent):
    """Plays at random, and keeps the views it was given."""

    def __init__(self):
        self.views = []

    def act(self, view, rng):
        self.views.append(view)
        return super().act(view, rng)


def test_a_list_names_the_agent_of_each_other_seat():
    first, second = Keeps(), Keeps()
    env = gymnasium.make(HEBEI, seat=2, opponents=[first, second])
    env.reset(seed=1, options={"deal": Deal(hands=("1m" * 4, "2m" * 4, "3m" * 4), dealer=0)})
    env.step(int(np.flatnonzero(env.unwrapped.action_masks())[0]))
    assert first.views[0].hand[0, 0] == 4, "seat 0 comes after seat 2"
    assert second.views[0].hand[0, 1] == 4
    assert all(len(view) == 1 and view.action_mask.any() for view in first.views + second.views)


def test_random_choice_is_uniform_among_legal_actions():
    mask = np.zeros((30_000, NUM_ACTIONS), np.bool_)
    mask[:, [3, 50, 108]] = True
    mask[::2, 3] = False
    chosen = choose_at_random(mask, np.random.default_rng(0))
    assert mask[np.arange(len(mask)), chosen].all()
    assert np.allclose(np.bincount(chosen[1::2], minlength=NUM_ACTIONS)[[3, 50, 108]] / 15_000, 1 / 3, atol=0.02)
    assert np.allclose(np.bincount(chosen[::2], minlength=NUM_ACTIONS)[[50, 108]] / 15_000, 1 / 2, atol=0.02)
    with pytest.raises(mahjong_env.ActionError, match="row 1"):
        choose_at_random(np.array([[True], [False]]), np.random.default_rng(0))


# --- Copies ----------------------------------------------------------------------------------------------------------


OTHERS = {
    "agents": lambda: gymnasium.make(HEBEI, opponents=[GreedyAgent(), "random"], num_hands=2),
    "rotation": lambda: gymnasium.make(HEBEI, observation="dict", num_hands=3, **ROTATION),
    "a pool": lambda: MahjongVectorEnv(
        3, "hebei", autoreset_mode="next_step", opponents=OpponentPool(["random", "greedy"])
    ),
    "vector": lambda: gymnasium.make_vec(HEBEI, num_envs=3, observation="planes", num_hands=2),
    "match": lambda: mahjong_env.hangzhou_v0.env(num_hands=3, start="random"),
}


@pytest.mark.parametrize("make_env", OTHERS.values(), ids=OTHERS)
def test_copies_of_other_settings(make_env):
    check_environment_copies(make_env, every=9)


@pytest.mark.parametrize("make", ["env", "raw_env"])
@pytest.mark.parametrize("way", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_an_environment_that_was_not_reset_can_be_copied(make, way):
    env = way(getattr(mahjong_env.hebei_v0, make)(num_hands=3, all_pungs=2, render_mode="ansi"))
    env.reset(seed=1)
    bare = env.unwrapped
    assert (bare.engine.num_hands, bare.engine.rules.all_pungs, bare.render_mode) == (3, 2, "ansi")
    twin, before = copy.deepcopy(bare), bare.state()
    for _ in range(5):
        twin.step(int(np.flatnonzero(twin.observe(twin.agent_selection)["action_mask"])[0]))
    assert np.array_equal(bare.state(), before), "a copy is a game of its own"
    twin.engine.restore(bare.engine.snapshot())
    assert twin.agent_selection == bare.agent_selection, "the copy's engine tells the copy"


class MadeAnew(MahjongAEC, EzPickle):
    """Copies are made anew from the arguments: without the game."""

    def __init__(self, variant):
        EzPickle.__init__(self, variant)
        MahjongAEC.__init__(self, variant)

    __getstate__, __setstate__ = EzPickle.__getstate__, EzPickle.__setstate__


class ForgetsPayments(MahjongAEC):
    def __setstate__(self, state):
        super().__setstate__(state)
        self._cumulative_rewards = dict.fromkeys(self._cumulative_rewards, 0)


class SharesTheGame(MahjongAEC):
    def __deepcopy__(self, memo):
        twin = copy.copy(self)
        twin.infos = copy.deepcopy(self.infos)
        return twin


class CannotBePickled(MahjongAEC):
    def __init__(self, variant):
        super().__init__(variant)
        self.hook = lambda: None


class ForgetsChance(SingleSeatEnv):
    def __setstate__(self, state):
        self.__dict__ |= state
        self.np_random = np.random.default_rng(0)


class ForgetsWhoLearns(MahjongVectorEnv):
    def __setstate__(self, state):
        self.__dict__ |= state
        self._seats.learner = np.roll(self._seats.learner, 1)


@pytest.mark.parametrize(
    ("make_env", "message"),
    [
        (lambda: MadeAnew("hebei"), "copy.deepcopy"),
        (lambda: Guarded(MadeAnew("hebei")), "copy.deepcopy"),
        (lambda: ForgetsPayments("fuzhou"), "its cumulative rewards differs"),
        (lambda: SharesTheGame("hebei"), "copy.deepcopy after"),
        (lambda: CannotBePickled("hebei"), "pickle of the environment fails"),
        (lambda: ForgetsChance("hebei"), " differs"),
        (lambda: ForgetsWhoLearns(3, "hebei"), " differs"),
    ],
)
def test_faults_of_copies_are_found(make_env, message):
    def check():
        for seed in range(8):
            check_environment_copies(make_env, seed=seed)

    with pytest.raises(ConformanceError, match=message):
        check()


# --- Going back to a snapshot of the engine --------------------------------------------------------------------------


def test_a_restored_engine_takes_its_environment_along():
    env = mahjong_env.hebei_v0.env()
    env.reset(seed=1)
    engine = env.unwrapped.engine

    def play_on(steps):
        seen = []
        for _ in range(steps):
            agent = env.agent_selection
            observation, _, terminated, truncated, _ = env.last()
            seen.append((agent, observation["observation"].tobytes(), observation["action_mask"].tobytes(), terminated))
            is_over = terminated or truncated
            env.step(None if is_over else int(np.flatnonzero(observation["action_mask"])[0]))
        return seen

    play_on(10)
    snapshot = engine.snapshot()
    first = play_on(30)
    engine.restore(snapshot)
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}"
    assert set(env.rewards.values()) == {0}
    assert play_on(30) == first
    while engine.seat_to_act[0] >= 0:
        play_on(1)
    end = engine.snapshot()
    while env.agents:
        play_on(1)
    engine.restore(snapshot)
    assert play_on(30) == first, "from the end of a match as well"
    engine.step([int(np.flatnonzero(engine.action_mask[0])[0])])
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}", "and after a step behind its back"
    engine.reset(seed=3)
    assert env.agent_selection == f"player_{engine.seat_to_act[0]}"
    engine.restore(end)
    assert all(env.terminations.values()), "an engine set to the end of a match ends it"
    for _ in range(3):
        env.step(None)
    assert env.agents == []
