"""What cannot be done, on every public entry, and the message that each gives: a table.

An error is a `MahjongError` (or what gymnasium, pettingzoo and argparse say themselves), names what is wrong and what
would be valid, and comes before anything has been done. That no value of another kind brings about another error is
shown by tests/fuzz/test_fuzz_values.py.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
import pytest

import mahjong_env
from mahjong_env import (
    ActionError,
    AgentError,
    Deal,
    DealError,
    HandError,
    IllegalActionError,
    MahjongError,
    NotationError,
    OpponentPool,
    RecordError,
    RulesError,
    Snapshot,
    SnapshotError,
    hebei_v0,
    make_engine,
    rules,
    score,
)
from mahjong_env.basics.errors import OptionError, ViewError
from mahjong_env.cli import main
from mahjong_env.engine.batch import Engine
from mahjong_env.environments.agents import find_agent
from mahjong_env.records import FORMAT_VERSION, GameRecord
from mahjong_env.testing import check_variant
from mahjong_env.testing.play import changed_array, frozen_arrays

RNG = np.random.default_rng(0)


def engine(**options):
    return make_engine("hebei", **{"num_games": 2, "seed": 1, **options})


def observe_into_masked():
    return engine().observe(out=np.ma.zeros((2, *engine().observation_shape), np.int8))


def resample(rng, games=(0,)):
    return engine().resample_hidden(0, rng, games=games)


def restore(arrays=None, **header):
    taken = engine().snapshot()
    return engine().restore(Snapshot({**taken.header, **header}, taken.arrays if arrays is None else arrays))


def deal(**facts):
    return engine().reset(deals=Deal(**facts))


def gold(**facts):
    return make_engine("fuzhou", 2, seed=1).reset(deals=Deal(**facts))


def worth(**changes):
    hand = {"hand": "456p 678s 55m 23p", "melds": ["chow 234m@2"], "winning_tile": "1p", "source": "draw"}
    return score("hebei", **{**hand, **changes})


def table(**options):
    env = hebei_v0.env(**options)
    env.reset(seed=1)
    return env


def seat(**options):
    env = gymnasium.make("mahjong_env/Hebei-v0", **options)
    env.reset(seed=1)
    return env


def seats(num_envs=2, **options):
    envs = gymnasium.make_vec("mahjong_env/Hebei-v0", num_envs=num_envs, **options)
    envs.reset(seed=1)
    return envs


def reset_some(mask):
    return seats().reset(options={"reset_mask": mask})


def flipped():
    data = bytearray(engine().snapshot().to_bytes())
    data[len(data) // 2] ^= 1
    return Snapshot.from_bytes(bytes(data))


MANY = np.broadcast_to(0, 2**40)
LONG = "123456789m" * 3 + "12346789m" + "123456789p" * 4 + "123456s"
"""77 tiles."""
HIGH = np.full(2, 2**64 - 1, np.uint64)
MASKED = np.ma.array([0, 0], mask=[True, False])
"""Numpy would take what is masked for 0."""


def set_opponents(envs, opponents):
    envs.unwrapped.opponents = opponents


RULES = [
    ("another variant", lambda: rules("bridge"), RulesError, "no variant 'bridge'; valid are fuzhou, hangzhou, hebei"),
    ("a class", lambda: rules(type(rules("hebei"))), RulesError, "no variant <class"),
    ("an environment", lambda: make_engine("hebei_v0"), RulesError, "Did you mean 'hebei'?"),
    ("a slip", lambda: rules("hebei", base_scores=2), RulesError, "Did you mean 'base_score'?"),
    ("an action elsewhere", lambda: mahjong_env.action("pong"), NotationError, "Did you mean 'pung'?"),
    ("another knob", lambda: rules("hebei", lid=3), RulesError, "no knob 'lid'; its knobs are: base_score (any"),
    ("another value", lambda: rules("hebei", cap="x"), RulesError, "cap='x' is not valid; valid are None, any integer"),
    ("a knob too large", lambda: rules("hebei", cap=10**6), RulesError, "any integer from 1 to 100000"),
    ("a wall of dead tiles", lambda: rules("taiwan", dead_tiles=72), RulesError, "any integer from 0 to 71"),
    ("a truth for a number", lambda: rules("hebei", cap=True), RulesError, "cap=True is not valid"),
    ("the kit on nothing", lambda: check_variant("bridge"), RulesError, "no variant 'bridge'"),
    ("an unknown action", lambda: mahjong_env.action("discard 9z"), NotationError, "no action is called 'discard 9z'"),
]

ENGINE = [
    ("no games", lambda: engine(num_games=0), RulesError, "num_games is an integer from 1, not 0"),
    ("True games", lambda: engine(num_games=True), RulesError, "num_games is an integer from 1, not True"),
    ("a billion games", lambda: engine(num_games=10**11), RulesError, "100000000000 games would take about"),
    ("no hands", lambda: engine(num_hands=0), RulesError, "num_hands is an integer from 1 to 32767, not 0"),
    ("another start", lambda: engine(start="middle"), RulesError, "start='middle' is not valid; valid are 'first'"),
    ("a word for a flag", lambda: engine(auto_reset="no"), RulesError, "auto_reset is True or False, not 'no'"),
    ("a seed below 0", lambda: engine(seed=-1), MahjongError, "a seed is an integer from 0 or None, not -1"),
    ("reset: no such game", lambda: engine().reset(games=[5]), ActionError, "there is no game 5; games are 0 to 1"),
    ("reset: one twice", lambda: engine().reset(games=[0, 0]), ActionError, "games must not be named twice"),
    ("step: too few", lambda: engine().step([1]), ActionError, "actions are 2 integers (one for each game), not"),
    ("step: fractions", lambda: engine().step([1.0, 2.0]), ActionError, "actions are 2 integers"),
    (
        "step: ragged",
        lambda: engine().step([[1], [1, 2]]),
        ActionError,
        "actions must be one number, or one for each game",
    ),
    ("step: illegal", lambda: engine().step([108, 108]), IllegalActionError, "game 0, seat 0: the action 'pass' (108)"),
    ("step: masked", lambda: engine().step(MASKED), ActionError, "actions are a plain array, not a masked one"),
    ("step: masked games", lambda: engine().step([0, 0], MASKED), ActionError, "games are a plain array, not a masked"),
    ("view: masked seats", lambda: engine().view(seats=MASKED), ActionError, "seats are a plain array, not a masked"),
    ("observe: a masked buffer", lambda: observe_into_masked(), ActionError, "int8 to be filled, not MaskedArray"),
    ("step: out of bounds", lambda: engine().step([109, 0]), IllegalActionError, "the action 109 is not legal"),
    ("step: below 0", lambda: engine().step([-1, -1]), IllegalActionError, "the action -1 is not legal"),
    ("step: 64 bits", lambda: engine().step(HIGH), IllegalActionError, "the action 18446744073709551615 is not legal"),
    ("observe: no such seat", lambda: engine().observe(seats=7), ActionError, "seats are integers from 0 to 2, not 7"),
    ("observe: too many", lambda: engine().observe(seats=[0, 1, 2]), ActionError, "seats are one for all games or 2"),
    ("view: two axes", lambda: engine().view(games=[[0]]), ActionError, "games are a one-dimensional array"),
    ("select: no room", lambda: engine().select(MANY), RulesError, "1099511627776 games would take about"),
    ("select: a word", lambda: engine().select("a"), ActionError, "games are a one-dimensional array"),
    ("resample: a number", lambda: resample(5), ActionError, "rng is a numpy.random.Generator, such as"),
    ("resample: one twice", lambda: resample(RNG, [1, 1]), ActionError, "games must not be named twice"),
    ("resample: more games than there are", lambda: resample(RNG, MANY), ActionError, "must not be named twice"),
    ("take: no such row", lambda: engine().view().take([99]), ViewError, "there is no row 99; the view has 2"),
    ("take: from the end", lambda: engine().view().take([-1]), ViewError, "there is no row -1; the view has 2"),
    ("take: a fraction", lambda: engine().view().take([0.5]), ViewError, "a boolean mask or indices, not float64"),
    ("take: a short mask", lambda: engine().view().take([True]), ViewError, "has shape (2,), not (1,)"),
    ("take: ragged", lambda: engine().view().take([[0], [0, 1]]), ViewError, "rows of a view are a boolean mask"),
    ("take: of a copy", lambda: copy.copy(engine().view()).take([2]), ViewError, "there is no row 2; the view has 2"),
    ("events: below 0", lambda: engine().view().recent_events(-1), ViewError, "length is an integer from 0, not -1"),
    ("events: a fraction", lambda: engine().view().recent_events(1.5), ViewError, "length is an integer from 0, not"),
    ("games of: a number", lambda: engine().games_of(3), ViewError, "knows the games of a View, not of int"),
    ("moves: no such game", lambda: engine().moves([99]), ActionError, "there is no game 99; games are 0 to 1"),
    ("moves: below 0", lambda: engine().moves([-1]), ActionError, "there is no game -1; games are 0 to 1"),
    ("worlds: none", lambda: engine().view().worlds(0, RNG), ViewError, "worlds is an integer from 1, not 0"),
    ("worlds: a number", lambda: engine().view().worlds(1, 5), ViewError, "a numpy.random.Generator, not with"),
    ("snapshot: one bit", flipped, SnapshotError, "not a snapshot, or are damaged"),
    ("snapshot: text", lambda: Snapshot.from_bytes(b"x"), SnapshotError, "bytes are not a snapshot, or are damaged"),
    ("snapshot: None", lambda: Snapshot.from_bytes(None), SnapshotError, "read from bytes, not from NoneType"),
    ("restore: an array", lambda: restore(num_games=np.arange(2)), SnapshotError, "num_games is array([0, 1]), not 2"),
    ("restore: a knob", lambda: restore(knobs={"cap": np.arange(2)}), SnapshotError, "its knobs is {"),
    ("restore: no arrays", lambda: restore(5), SnapshotError, "has no arrays"),
    ("restore: a number", lambda: engine().restore(5), SnapshotError, "are restored from a Snapshot, not from int"),
    ("restore: a variant", lambda: restore(variant="wuhan"), SnapshotError, "its variant is 'wuhan', not 'hebei'"),
    ("restore: another size", lambda: restore(num_games=3), SnapshotError, "its num_games is 3, not 2"),
]

DEALS = [
    ("a fifth tile", lambda: deal(hands=("11111m",)), DealError, "the deal names 5 tiles 1m (a fifth tile)"),
    ("no tile", lambda: deal(hands=("1x",)), NotationError, "cannot read '1x' in '1x' as tiles; valid are"),
    ("too many tiles", lambda: deal(hands=("", "123456789m 123456789p")), DealError, "tiles"),
    ("a long streak", lambda: deal(dealer_streak=2**31 - 1), DealError, "from 0 to 1000 or None, not 2147483647"),
    ("points of one", lambda: deal(running_points=[1]), DealError, "3 integers, one for each person, from"),
    ("no wind", lambda: deal(round_wind="5z"), DealError, "a wind is '1z', '2z', '3z' or '4z', not '5z'"),
    ("a wild tile", lambda: deal(wild="1m"), DealError, "hebei turns up no tile"),
    ("too many", lambda: engine().reset(deals=[Deal()] * 3), DealError, "deals are one Deal, or a list of 2"),
    ("a second flower", lambda: deal(hands=("F1",)), DealError, "1 tiles F1"),
    ("too many hands", lambda: deal(hands=("1m",) * 4), DealError, "at most 3 hands"),
    ("a draw of another", lambda: deal(hands=("123456789m 12345p",), dealer=1), DealError, "seat 0 names 14 tiles"),
    ("two draws", lambda: deal(hands=("123456789m 123456p",)), DealError, "may name at most 14"),
    ("no such dealer", lambda: deal(dealer=3), DealError, "dealer is an integer from 0 to 2"),
    ("an indicator", lambda: deal(indicator="1m"), DealError, "turns up no tile"),
    ("a long wall", lambda: deal(tiles_left=85), DealError, "tiles_left is an integer from 0 to 84"),
    ("flowers in the way", lambda: gold(indicator="F1 F2 5m", draws=LONG), DealError, "the wall has 76 tiles"),
    ("a wind twice", lambda: deal(house_winds="1z 1z 2z"), DealError, "house_winds names each"),
]

ROBBED = {"hand": "123m 456p 789m 345s 3s", "melds": [], "winning_tile": "3s", "source": "kong", "from_seat": 1}
SCORES = [
    ("a robbed kong of which one holds a tile", lambda: worth(**ROBBED), HandError, "3s"),
    ("too few tiles", lambda: worth(hand="1m"), HandError, "with 1 melds it has 10 before the winning tile"),
    ("no tiles", lambda: worth(hand="qq"), NotationError, "cannot read 'qq' in 'qq' as tiles; valid are"),
    ("no winning tile", lambda: worth(winning_tile=None), HandError, "source='draw' needs a winning_tile"),
    ("another source", lambda: worth(source="gift"), HandError, "valid are draw, discard, kong, flowers"),
    ("a discard of nobody", lambda: worth(source="discard"), HandError, "source='discard' needs from_seat"),
    ("a draw of somebody", lambda: worth(from_seat=1), HandError, "source='draw' has no from_seat"),
    ("a discard of oneself", lambda: worth(source="discard", from_seat=0), HandError, "from_seat=0 is the winner"),
    ("a meld of gaps", lambda: worth(melds=["chow 135m@2"]), NotationError, "is not three tiles in a row of one suit"),
    ("a chow from the right", lambda: worth(melds=["chow 234m@1"]), HandError, "does not come from the left"),
    ("a truth for a seat", lambda: worth(seat=True), HandError, "seat is a seat from 0 to 2, not True"),
    ("a long streak", lambda: worth(dealer_streak=2**31 - 1), HandError, "an integer from 0 to 1000, not 2147483647"),
    ("a number for a flag", lambda: worth(last_tile=1), HandError, "last_tile is True or False, not 1"),
    ("a situation not known", lambda: worth(robbing_gold=True), MahjongError, "robbing_gold"),
    ("no wind", lambda: worth(round_wind="5z"), HandError, "round_wind is '1z', '2z', '3z' or '4z', not '5z'"),
    ("points of one", lambda: worth(running_points=[1]), HandError, "3 integers, one for each seat, from"),
]

ENVIRONMENTS = [
    ("aec: render mode", lambda: table(render_mode="rgb"), MahjongError, "valid are 'ansi'"),
    ("aec: a knob", lambda: table(colour=3), RulesError, "neither an argument nor a knob 'colour'"),
    ("aec: out of bounds", lambda: table().step(999), AssertionError, "action is not in action space"),
    ("aec: a truth", lambda: table().step(True), ActionError, "not bool of shape"),
    ("aec: a truth, with end", lambda: table(on_illegal="end").step(True), ActionError, "not bool of shape"),
    ("aec: illegal", lambda: table().step(108), IllegalActionError, "the action 'pass' (108) is not legal; legal are"),
    ("aec: no such agent", lambda: table().observe("me"), MahjongError, "no agent 'me'; the agents are player_0"),
    ("aec: no agent's space", lambda: table().action_space("bob"), MahjongError, "no agent 'bob'; the agents are"),
    ("aec: agents", lambda: table().observe(["player_0"]), MahjongError, "no agent ['player_0']; the agents are"),
    ("aec: view", lambda: table().view(["player_0"]), MahjongError, "no agent ['player_0']; the agents are"),
    ("aec: in parallel", lambda: hebei_v0.parallel_env(), AttributeError, "turn_based_aec_to_parallel(env())"),
    ("aec: another function", lambda: hebei_v0.environment(), AttributeError, "no attribute 'environment'"),
    ("aec: no deal", lambda: table().reset(options={"deal": 5}), DealError, "is a mahjong_env.Deal, not 5"),
    ("aec: a list", lambda: table().reset(options=[1]), OptionError, "options are a dictionary"),
    ("seat: a slip", lambda: seat(opponent="random"), RulesError, "Did you mean 'opponents'?"),
    ("seat: a number as a file", lambda: seat(record=1.5), RecordError, "is named by its path, not by 1.5"),
    ("seat: no such seat", lambda: seat(seat=9), RulesError, "seat=9 is not valid; valid are 0 to 2, None"),
    ("seat: True", lambda: seat(seat=True), RulesError, "seat=True is not valid"),
    ("seat: no number", lambda: seat(illegal_reward=np.nan), RulesError, "illegal_reward is a finite number, not nan"),
    ("seat: on_illegal", lambda: seat(on_illegal="explode"), RulesError, "valid are 'end', 'raise'"),
    ("seat: an opponent", lambda: seat(opponents="nobody"), AgentError, "no agent is called 'nobody'; valid are"),
    ("seat: one of two", lambda: seat(opponents=["random"]), AgentError, "one agent, or a list of 2"),
    ("seat: a list", lambda: seat().unwrapped.reset(options=[1]), OptionError, "options are a dictionary"),
    ("seat: a slip in reset", lambda: seat().reset(options={"dael": 1}), OptionError, "no option 'dael'; its"),
    ("seats: none", lambda: seats(0), RulesError, "num_envs is an integer from 1, not 0"),
    ("seats: a billion", lambda: seats(10**11), RulesError, "TiB of memory"),
    ("seats: seeds", lambda: seats().reset(seed=[1]), MahjongError, "one for each of the 2 games, not [1]"),
    ("seats: a seed", lambda: seats().reset(seed=[1, "x"]), MahjongError, "from 0 or None, not 'x'"),
    ("seats: masked", lambda: seats().step(MASKED), ActionError, "actions are a plain array, not a masked one"),
    ("seats: a masked mask", lambda: reset_some(np.ma.array([True, True])), OptionError, "booleans, not a masked one"),
    ("seats: no path", lambda: seats(record="a\0b"), RecordError, "records cannot be written to a"),
    ("seat: privileged", lambda: seat(privileged=1), RulesError, "privileged is True or False, not 1"),
    (
        "aec: on_illegal",
        lambda: table(on_illegal="stop"),
        RulesError,
        "on_illegal='stop' is not valid; valid are 'end'",
    ),
    ("seat: a form", lambda: seat(observation="pixels"), RulesError, "valid are 'flat', 'planes', 'dict'"),
    (
        "seats: a picture that is shown",
        lambda: seats(render_mode="human"),
        MahjongError,
        "'ansi', 'rgb_array' and None",
    ),
    (
        "seats: a mode",
        lambda: seats(autoreset_mode="never"),
        RulesError,
        "valid are 'next_step', 'same_step', 'disabled'",
    ),
    (
        "seats: no table",
        lambda: seats().reset(options={"reset_mask": np.zeros(2, bool)}),
        OptionError,
        "names no table",
    ),
    (
        "seats: numbers",
        lambda: seats().reset(options={"reset_mask": np.ones(2, int)}),
        OptionError,
        "not int64 of shape",
    ),
    ("seats: no order", lambda: seats().reset(options={"reset_mask": "all"}), OptionError, "2 booleans, not 'all'"),
    ("seats: a mask", lambda: seats().reset(options={"reset_mask": [True]}), OptionError, "an array of 2 booleans"),
    ("seats: a slip in reset", lambda: seats().reset(options={"mask": 1}), OptionError, "reset has no option 'mask'"),
    ("seats: opponents", lambda: set_opponents(seats(), "nobody"), AgentError, "no agent is called 'nobody'"),
]

# How agents are found, and what is said of what they answer, is shown by tests/environments/test_agents.py.
AGENTS = [
    ("a slip", lambda: find_agent("gredy"), AgentError, "Did you mean 'greedy'?"),
    ("no policy", lambda: find_agent("policy:/nowhere"), AgentError, "no policy '/nowhere'"),
    ("no pool", lambda: OpponentPool([]), AgentError, "a pool of opponents has at least one agent"),
    ("a pool of letters", lambda: OpponentPool("random"), AgentError, "a pool is made of a list of agents"),
    ("endless rollouts", lambda: find_agent(f"search?rollouts={'9' * 50}"), AgentError, "from 1 to 1000000, not 9999"),
]

EVERY = {"rules": RULES, "engine": ENGINE, "deal": DEALS, "score": SCORES, "environment": ENVIRONMENTS, "agent": AGENTS}


@pytest.mark.filterwarnings("ignore:.*The environment is being initialised with render_mode")
@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        pytest.param(call, kind, text, id=f"{where}: {what}")
        for where, rows in EVERY.items()
        for what, call, kind, text in rows
    ],
)
def test_a_call_that_cannot_be(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value), str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.step([108, 108]),
        lambda engine: engine.reset(seed=2, games=[5]),
        lambda engine: engine.reset(deals=[Deal(), Deal(hands=("11111m",))]),
        lambda engine: engine.resample_hidden(0, 5),
        lambda engine: engine.restore(make_engine("wuhan", 2).snapshot()),
    ],
)
def test_what_is_refused_changes_nothing(call):
    one = engine()
    before = frozen_arrays(one)
    with pytest.raises(MahjongError):
        call(one)
    assert changed_array(one, before) is None


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="PettingZoo has a registry from 1.27 on")
def test_pettingzoo_s_registry_passes_our_errors_on():
    with pytest.raises(RulesError, match="nor a knob 'colour'"):
        pettingzoo.make("aec", "mahjong_env/hebei-v0", colour=3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rules("x" * 3000),
        lambda: engine().reset(deals=[Deal(hands=("1m" * 2000,))] * 3),
        lambda: deal(hands=("1x" * 3000,)),
        lambda: mahjong_env.action("x" * 10**6),
        lambda: find_agent("x" * 3000),
        lambda: seats().reset(options={"reset_mask": [0] * 10**5}),
        lambda: GameRecord.from_json(f'{{"format":"mahjong_env.record","version":{FORMAT_VERSION},"{"x" * 3000}":1}}'),
    ],
)
def test_long_arguments_are_quoted_in_part(call):
    with pytest.raises(MahjongError) as refused:
        call()
    assert " [...] " in str(refused.value)
    assert len(str(refused.value)) < 1000


def test_what_makes_sense_is_taken():
    """Elements of arrays as numbers, and nothing to do."""
    assert rules("hebei", cap=np.int64(8)).knobs["cap"] == 8
    assert engine(num_games=np.int64(3), num_hands=np.int8(2), auto_reset=np.True_).num_games == 3
    assert seats(np.int8(3)).num_envs == 3
    assert worth(dealer_streak=np.int64(1), seat=np.int64(0)).legal
    assert engine().view().take(1).hand.shape == (1, 34)
    one = engine()
    before = frozen_arrays(one)
    result = one.step([], [])
    assert result.rewards.shape == (0, 3)
    assert one.observe([], []).shape == (0, *one.observation_shape)
    assert len(one.view([], [])) == 0
    one.resample_hidden([], RNG, [])
    one.restore(Snapshot.from_bytes(one.snapshot([]).to_bytes()), [])
    assert changed_array(one, before) is None


# --- Command lines ---------------------------------------------------------------------------------------------

HAND = "score --variant hebei --hand 456p678s55m23p --meld chow_234m@2 --winning-tile 1p --source draw"
QUICK = "bench --variant hebei --no-peers --no-footprint --batches 1 --seconds 0.01 --runs 1"
COMMANDS = [
    ("", "the following arguments are required: command"),
    ("fly", "invalid choice: 'fly' (choose from"),
    ("show", "name a variant to play (--variant), or a file of recorded games"),
    ("show nothing.jsonl", "records cannot be read from nothing.jsonl: No such file or directory"),
    ("show blocked", "blocked, line 1: not a line of JSON"),
    ("show blocked --variant hebei", "a recorded game has its own rules"),
    ("show blocked --match 0", "--match is an integer from 1, not 0"),
    ("show --variant hebei --html nowhere/x.html", "there is no folder nowhere"),
    ("show --variant hebei --record nowhere/x.jsonl", "there is no folder nowhere"),
    ("play --variant hebei --thoughts", "name a file for it (--record FILE)"),
    ("show --varient hebei", "unrecognized arguments: --varient. Did you mean '--variant'?"),
    ("score --hnad 1m", "the following arguments are required"),
    ("show --variant bridge", "invalid choice: 'bridge' (choose from"),
    ("show --variant hebei --knob lid=3", "has no knob 'lid'; its knobs are"),
    ("show --variant hebei --knob cap", "a knob is written NAME=VALUE, such as cap=none or players=4, not 'cap'"),
    ("show --variant hebei --agents nobody", "no agent is called 'nobody'; valid are"),
    ("show --variant hebei --agents random random", "--agents names one agent, or 3"),
    ("show --variant hebei --agents greedy?claims=maybe", "'claims' is true or false, not 'maybe'"),
    ("show --variant hebei --seed -1", "--seed is an integer from 0, not -1"),
    ("show --variant hebei --seed x", "argument --seed: invalid int value: 'x'"),
    ("show --variant hebei --num-hands 1000000", "num_hands is an integer from 1 to 32767, not 1000000"),
    ("play --variant hebei --seat 3", "--seat is a person from 0 to 2, not 3"),
    ("play --variant hebei --hints nobody", "no agent is called 'nobody'"),
    ("rules --variant bridge", "invalid choice: 'bridge' (choose from"),
    ("rules --variant hebei --knobs cap=x", "cap='x' is not valid; valid are None, any integer"),
    (f"{HAND} --dealer-streak 99999", "dealer_streak is an integer from 0 to 1000, not 99999"),
    (f"{HAND} --from-seat 1", "source='draw' has no from_seat"),
    (f"{HAND} --other-meld chow", "--other-meld is written SEAT:MELD"),
    (f"{HAND} --source gift", "valid are draw, discard, kong, flowers"),
    (f"{QUICK} --batches 100000000000", "100000000000 games would take about"),
    (f"{QUICK} --batches 0", "--batches and --runs are integers from 1"),
    (f"{QUICK} --seconds nan", "--seconds is a number above 0"),
    (f"{QUICK} --seconds inf", "--seconds is a number above 0"),
    (f"{QUICK} --play nobody", "no agent is called 'nobody'"),
    (f"{QUICK} --knob lid=3", "has no knob 'lid'"),
    (f"{QUICK} --json nowhere/x.json", "there is no folder nowhere"),
    (f"{QUICK} --json {{folder}}", "cannot be written: it is a folder"),
    (f"{QUICK} --json {{unwritable}}/x.json", "cannot be written: "),
]
EXAMPLES = Path(__file__).parents[1] / "notebooks" / "examples"
NETWORK = f"train --variant hebei --network {EXAMPLES}/recurrent_network.py:Recurrent"
OF_OTHERS = [
    ("train-sb3 --variant hebie", "Did you mean 'hebei'?"),
    ("train-sb3 --variant bridge", "there is no variant 'bridge'; valid are"),
    ("train-sb3 --variant hebei --knob lid=3", "has no knob 'lid'; its knobs are"),
    ("train-sb3 --variant hebei --knobs cap", "a knob is written NAME=VALUE, such as cap=none or players=4, not 'cap'"),
    ("train-sb3 --variant hebei --reward place", "--reward place needs matches"),
    ("train-sb3 --variant hebei --opponents nobody", "no agent is called 'nobody'"),
    ("train-sb3 --variant hebei --tables 1000000000 --total-steps 1000000000", "of memory"),
    ("train --variant hebei --processes 5000", "--processes must be at most"),
    ("train-sb3 --variant hebei --threads 99999999999", "--threads must be at most"),
    ("leaderboard --variants hebei --match-hands 32768", "--match-hands must be at most 32,767, not 32768"),
    ("record --variant hebei --out run --hands 65536 --num-hands 32768", "must be at most 32,767, not 32768"),
    ("train-sb3 --variant hebei --threads 0", "--threads must be at least 1, not 0"),
    (f"train-sb3 --variant hebei --tables {10**20}", f"--tables must be at most 1,000,000,000,000,000, not {10**20}"),
    ("train-sb3 --variant hebei --seed -1", "--seed must be from 0 to 4294967295, not -1"),
    ("train-sb3 --variant hebei --tables x", "--tables"),
    ("train-sb3 --variant hebei --out run --teacher policy:nowhere", "no policy 'nowhere'"),
    ("train-sb3 --variant hebei --out run --resume", "there is no run to resume"),
    ("train-sb3 --variant hebei --out run --tables 32 --total-steps 31", "--total-steps 31 is less than --tables 32"),
    ("evaluate --variant bridge", "there is no variant 'bridge'"),
    ("evaluate --variant hebei --agents nobody", "no agent is called 'nobody'"),
    ("evaluate --variant hebei --agents policy:nowhere", "no policy 'nowhere'"),
    ("evaluate --variant hebei --deals 0", "--deals must be at least 1, not 0"),
    ("evaluate --variant hebei --processes 5000", "--processes must be at most"),
    ("evaluate --variant hebei --threads 99999999999", "--threads must be at most"),
    (f"evaluate --variant hebei --deals {10**20}", "--deals must be at most"),
    (f"evaluate --variant hebei --seed {10**20}", "--seed must be from 0 to 4294967295"),
    ("evaluate --variant hebei --seed -1", "--seed must be from 0 to 4294967295, not -1"),
    ("evaluate --variant hebei --knob players=7", "players=7 is not valid; valid are 3, 4"),
    ("evaluate --variant hebei --deals 2 --agents random --out {unwritable}", "cannot"),
    ("bench-learning --variant hebei --tables 1000000000", "of memory"),
    ("bench-learning --variant hebei --seconds nan", "--seconds"),
    ("bench-learning --variant hebei --knob players=7", "players=7 is not valid; valid are 3, 4"),
    ("bench-learning --variant hebei --tables 1", "--tables at least 2"),
    ("bench-learning --variant hebei --runs 0", "--runs must be at least 1, not 0"),
    ("bench-learning --variant hebei --self-play-tables -1", "--self-play-tables"),
    ("bench-learning --variant hebei --threads 99999999999", "--threads must be at most"),
    ("bench-learning --variant hebei --seed -1", "--seed must be from 0 to"),
    ("bench --no-peers --no-footprint --batches 1 --variant", "--variant names at least one variant"),
    ("bench-learning --variant hebei --threads 0", "--threads must be at least 1, not 0"),
    ("bench-learning --variant hebei --n-steps 0", "--n-steps must be at least 1, not 0"),
    ("bench-learning --variant hebei --batch-size 1", "--batch-size must be at least 2, not 1"),
    ("rule-values --variant hebei --deals 0", "--deals must be at least 1"),
    ("rule-values --variant hebei --deals 1", "--deals must be at least 2"),
    ("rule-values --variant hebei --hands 0", "--hands must be at least 1"),
    ("rule-values --variant hebei --knobs cap", "a knob is written"),
    ("rule-values --variant hebei --knobs colour=red", "colour"),
    ("rule-values --variant hebei --rows Nothing", "hebei has no row 'Nothing'; there are Dealer Win"),
    ("rule-values --variant hebei --together", "--together makes one change"),
    ("rule-values --variant hebei --all-rows --rows Nothing", "--all-rows strikes out every row: leave out --rows"),
    ("rule-values --variant hebei --all-knobs --knobs cap=2", "--all-knobs turns each knob by itself"),
    ("rule-values --variant hebei --agents greedy greedy", "--agents names one agent, or 3"),
    ("rule-values --variant hebei --agents nobody", "nobody"),
    ("rule-values --variant hebei --seed -1", "--seed must be from 0"),
    ("record --variant hebei --out data --hands 0", "--hands must be at least 1"),
    ("record --variant hebei --out data --hands 5 --num-hands 2", "not a multiple"),
    ("record --variant hebei --out data --agents nobody", "no agent is called 'nobody'"),
    ("record --variant hebei --out data --seed -1", "--seed must be"),
    ("record --variant hebei --out data --shard-games 0", "--shard-games must be at least 1"),
    ("record --variant hebei --out data --hands 1000000000000000", "at most 4,294,967,296"),
    ("record --variant hangzhou --out data --knob match_end=points", "does not end after"),
    ("record --variant hebei --out data --parquet future", "has no 'future'; there are observation, events, hidden"),
    ("train-sb3 --variant hebei --device tpu", "device is auto, cpu or cuda, not 'tpu'"),
    ("train --variant hebei --device tpu", "device is auto, cpu or cuda, not 'tpu'"),
    ("train --variant hebei --teacher greedy --features late", "no class of added inputs is called 'late'"),
    ("train --variant hebei --teacher greedy --reward nothing", "no reward is called 'nothing'"),
    ("train --variant hebei --reward place", "--match-hands"),
    ("train --variant hangzhou --knobs match_end=points", "a match that ends by points, not after a hand"),
    ("evaluate --variant hangzhou --knobs match_end=points --agents greedy", "a match that ends by points"),
    ("train --variant hebei --parts 0", "--parts must be at least 1"),
    ("train --variant hebei --critic-hands 128 --hands 128", "--critic-hands 128 leaves nothing of --hands 128"),
    ("train --variant hebei --opponent-share 1.5", "at most 1"),
    ("train --variant hebei --teacher value", "--teacher is one of greedy, closed-greedy"),
    ("train --variant hebei --learning-rate nan", "--learning-rate must be from 0 to 1e+30"),
    ("train --variant hebei --learning-rate 1e300", "--learning-rate must be from 0 to 1e+30"),
    ("train --variant hebei --evaluation-agents", "--evaluation-agents"),
    ("train --variant hebei --hands 0", "--hands must be at least 1"),
    ("train --variant hebei --opponents greedy random --opponent-odds 1.0", "one number for each"),
    ("train --variant hebei --opponents snapshot --opponent-odds 1.0", "snapshot"),
    ("train --variant hebei --opponents greedy random --opponent-odds 0.5 0.6", "sum to 1"),
    ("train --variant hebei --opponents greedy --opponent-odds 1.0 --gate-against random", "leave out --gate-against"),
    (f"{NETWORK}?depth=4", "has no option 'depth'"),
    (f"{NETWORK}?width=4 --teacher greedy", "--teacher is one of policy:NAME, not 'greedy'"),
    (f"{NETWORK}?width=4 --teacher policy:hebei", "--teacher policy:hebei: not a policy of --network"),
    (f"{NETWORK}?width=4 --features {EXAMPLES}/my_features.py:Late", "--features adds inputs to the small network"),
    ("train --variant hebei --device cuda", "device cuda: torch finds no such device"),
    ("train-sb3 --variant hebei --device cuda", "device cuda: torch finds no such device"),
    ("best-response --variant hebei --out run --agent nobody", "nobody"),
    ("psro --variant hebei --out run --pool greedy greedy", "at least two"),
    ("psro --variant hebei --out run --rounds 0", "--rounds"),
    ("psro --variant hebei --out run --judge-hands -1", "--judge-hands"),
    ("evaluate --variant hebei --blind -1", "--blind must be from 0"),
    ("evaluate --variant hebei --blind 3 --seed 4", "--blind deals from a seed of its own"),
    ("evaluate --variant hebei --blind 1000000", "--blind must be from 0"),
    *((f"evaluate --variant hebei --until {wrong}", "--until is a number of sigma") for wrong in ("0", "-1", "nan")),
    ("evaluate --variant hebei --agents random --lineups league", "a league takes"),
    ("evaluate --variant hebei --ray host:6379 --processes 2", "--processes 2 goes with --ray local"),
    ("leaderboard --out . --levels 99", "there is no level 99"),
    ("leaderboard --out . --variants nowhere", "nowhere"),
    ("leaderboard --out . --deals -1", "--deals must be at least 0, not -1"),
    ("leaderboard --out . --pool greedy greedy", "--pool has 1 agents"),
    ("leaderboard --out . --agents nobody", "nobody"),
    ("leaderboard --out . --readme blocked", "nothing shows where the table goes"),
    ("leaderboard submit --variant hebei --out . --agent greedy --name a/b", "--name may have letters"),
    ("leaderboard submit --variant hebei --out . --agent nobody --name mine", "nobody"),
    ("leaderboard submit --variant hebei --out . --agent greedy --name mine --deals 0", "--deals"),
    ("leaderboard submit --variant hebei --out . --agent greedy --name mine --beacon=", "--beacon is a text that"),
    ("ceilings --bases nobody", "nobody"),
    ("ceilings --search-near", "--search-near is about the search, which --search-deals 0 leaves out"),
    ("ceilings --deals 0", "--deals and --search-deals are both 0"),
]


def refusal(call, line, folder, capsys):
    """What a command line that must be refused says: its last line, on stderr, nothing on stdout."""
    blocked = folder / "blocked"
    blocked.write_text("a file, where a folder would have to be", encoding="utf-8")
    # Root may write everywhere but below a file, and into the system's own folders.
    places = {"folder": folder, "unwritable": "/proc" if sys.platform == "linux" else blocked}
    words = [word.format(**places).replace("_", " ") if "@" in word else word.format(**places) for word in line.split()]
    try:
        status = call(words)
    except SystemExit as left:
        status = left.code
    printed, said = capsys.readouterr()
    assert (status, printed) == (2, "")
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize(("line", "text"), [*COMMANDS, *OF_OTHERS], ids=lambda words: words or "nothing")
def test_a_command_that_cannot_be(line, text, tmp_path, monkeypatch, capsys):
    if (line, text) in OF_OTHERS:
        pytest.importorskip("tyro")
        pytest.importorskip("sb3_contrib")
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        monkeypatch.setattr("mahjong_training.learning.run.sigma", lambda rules: 4.0)  # which is measured first
        monkeypatch.setattr(Engine, "step", lambda *_, **__: pytest.fail("has begun to play"))
    monkeypatch.chdir(tmp_path)
    said = refusal(main, line, tmp_path, capsys)
    assert text in (said if (line, text) in OF_OTHERS else said.splitlines()[-1])
    assert {path.name for path in tmp_path.iterdir()} == {"blocked"}
