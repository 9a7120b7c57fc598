"""The package's own contenders: games that are everywhere in their hands, agents, observations."""

import numpy as np
import pytest

from mahjong_benchmarks.own import AECPlayer, EnginePlayer, WarmGames, choose, own_contenders
from mahjong_benchmarks.timing import Meter
from mahjong_env import Engine, MahjongError, rules
from mahjong_env.environments.agents import RandomAgent


def ends(engine, steps):
    """[steps] hands that end in each step of random play."""
    agent, rng = RandomAgent(), np.random.default_rng(1)
    return np.array([engine.step(choose(engine, agent, rng)).hand_over.sum() for _ in range(steps)])


def test_hands_do_not_end_in_waves():
    dealt_at_once = ends(Engine(rules("hebei"), 2048, seed=0, auto_reset=True), 120)
    assert dealt_at_once[:60].sum() < 0.01 * dealt_at_once.sum()
    in_tens = ends(WarmGames(rules("hebei"), 2048, "random").copy(2048), 120).reshape(-1, 10).sum(axis=1)
    assert in_tens.min() > 0.7 * in_tens.mean()
    assert in_tens.max() < 1.3 * in_tens.mean()


def test_copies_leave_the_warm_games_alone():
    source = WarmGames(rules("wuhan"), 8, "random")
    one = source.copy(4)
    masks = one.action_mask.copy()
    ends(one, 20)
    assert one.num_games == 4
    assert (source.copy(4).action_mask == masks).all()


@pytest.mark.parametrize("play", ["random", "greedy"])
@pytest.mark.parametrize("observes", [False, True])
def test_engines_are_played(play, observes):
    pytest.importorskip("agents")
    player = EnginePlayer(WarmGames(rules("fuzhou"), 8, play), 8, observes=observes, seed=1)
    meter = Meter()
    player.play(400, meter)
    assert meter.decisions == 400
    assert 0 < meter.hands < 100
    assert player.dealing_share(meter) > 0
    assert meter.environment.seconds > 0
    assert meter.agent.seconds > 0


def test_dealing_is_nothing_where_no_hand_ends():
    player = EnginePlayer(WarmGames(rules("hebei"), 2, "random"), 2, observes=False, seed=1)
    meter = Meter()
    player.play(2, meter)
    meter.hands = 0
    assert player.dealing_share(meter) == 0


def test_one_game_is_played_through_env():
    player, meter = AECPlayer(rules("hebei"), 0), Meter()
    player.play(300, meter)
    assert meter.decisions == 300
    assert meter.hands >= 2
    assert player.dealing_share(meter) is None


def test_contenders_have_names_of_their_own():
    contenders = own_contenders(rules("hebei"), [1, 4], ["random", "random?"], [False, True])
    names = [contender.name for contender in contenders]
    assert len(names) == len(set(names)) == 9
    compared = {contender.facts["play"]: len(contender.compared_with) for contender in contenders[:-1]}
    assert compared == {"random": 2, "random?": 0}
    assert [own_contenders(rules("hebei"), [1], ["random?"], [True])[0].facts["kind"]] == ["step+mask+observe"]


def test_unknown_agents_are_an_error():
    with pytest.raises(MahjongError, match="no agent is called 'nobody'"):
        own_contenders(rules("hebei"), [1], ["nobody"])
