"""Hangzhou: payments against the referee, gambits in play, dice, matches by points."""

from __future__ import annotations

import random

import numpy as np
import pytest

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env import Deal, make_engine
from mahjong_env.state.arrays import Phase
from mahjong_env.testing import random_actions
from oracle.referee import score as referee_score

WHITE = 31


# --- Payments --------------------------------------------------------------------------------------------------------


CHOWS = ["456m", "789m", "123p", "456p", "789p"]
PUNGS = [*(f"{rank}s" for rank in range(1, 10)), "1z", "2z", "4z", "6z", "7z"]


def random_situation(rng):
    """Any kind of win with the same simple hand: melds between all seats, running points, knobs."""
    chows, pungs = rng.sample(CHOWS, len(CHOWS)), rng.sample(PUNGS, len(PUNGS))
    melds = {owner: [] for owner in range(4)}
    for owner in range(4):
        favourite = rng.choice([other for other in range(4) if other != owner])
        for _ in range(rng.choice([0, 3, 4])):
            giver = favourite if rng.random() < 0.8 else rng.choice([other for other in range(4) if other != owner])
            if giver == (owner - 1) % 4 and chows and rng.random() < 0.7:
                melds[owner].append(f"chow {chows.pop()}@{giver}")
            elif pungs:
                rank, suit = pungs.pop()
                texts = [f"pung {rank * 3}{suit}@{giver}"] * 4
                texts += [f"kong {rank * 4}{suit}@{giver}", f"kong {rank * 4}{suit}+@{giver}", f"kong {rank * 4}{suit}"]
                melds[owner].append(rng.choice(texts))
    seat = rng.randrange(4)
    own = melds.pop(seat)
    source = rng.choice(["draw", "draw", "discard", "kong"])
    return {
        "hand": "123m " * (4 - len(own)) + "5z",
        "winning_tile": "3z",
        "wild": "5z",
        "seat": seat,
        "melds": own,
        "other_melds": melds,
        "source": source,
        "from_seat": None if source == "draw" else rng.choice([other for other in range(4) if other != seat]),
        "dealer": rng.randrange(4),
        "dealer_streak": rng.randrange(5),
        "gambits": rng.choice([0, 0, 1, 2]) if source == "draw" else 0,
        "running_points": rng.choice([None, [rng.randrange(0, 60) for _ in range(4)], [rng.randrange(-5, 9)] * 4]),
        "base_score": rng.choice([1, 2, 3, 5]),
        "cap": rng.choice([None, None, 64, 128, 256]),
        "points_floor": rng.random() < 0.8,
        "dealer_loss": rng.choice(["double", "lao"]),
        "discard_payment": rng.choice(["own_share", "all_shares"]),
        "kong_capture": rng.choice(["gated", "always"]),
    }


def test_payments_are_the_referees():
    rng = random.Random(11)
    penalised = legal = 0
    for _ in range(400):
        situation = random_situation(rng)
        ours = mahjong_env.score("hangzhou", **situation)
        theirs = referee_score("hangzhou", **situation)
        assert ours.legal == theirs.legal, f"{situation}: {ours.reason!r} or {theirs.reason!r}"
        assert list(ours.payments) == list(theirs.payments), f"{situation}: {ours}"
        assert sum(ours.payments) == 0
        legal += ours.legal
        penalised += ours.legal and 0 in ours.payments and situation["source"] == "draw"
    assert legal > 180
    assert penalised > 25


# --- Play ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fortune", "live"), [("indicator", 3), ("white", 4)])
def test_fortunes_and_dead_wall(fortune, live):
    engine = make_engine("hangzhou", 50, seed=2, fortune=fortune)
    state = engine.state
    games = np.arange(50)
    assert (state.left(games) == 63).all()
    places = np.arange(136)
    in_play = (places < 53) | ((places >= state.front[:, None]) & (places < 136))
    assert (((state.wall == state.wild[:, None]) & in_play).sum(axis=1) == live).all()
    if fortune == "white":
        assert (state.wild == WHITE).all()
        assert (state.indicator == -1).all()
    else:
        assert (state.indicator == state.wild).all()
        assert len(np.unique(state.wild)) > 10


def test_gambits_in_random_play():
    """What hangzhou.md#fortune-gambit-the-play says of every moment of a gambit, over whole matches."""
    engine = make_engine("hangzhou", 200, seed=4, num_hands=2)
    state, rng, every = engine.state, np.random.default_rng(4), np.arange(200)
    own_turns = several = locked_turns = 0
    while (engine.seat_to_act >= 0).any():
        mask, actor, wild = engine.action_mask, state.actor.copy(), np.maximum(state.wild, 0)
        gambits = state.marks[:, :, 0].copy()
        running = np.flatnonzero((gambits > 0).any(axis=1) & (actor >= 0))
        assert (state.phase[running] == Phase.TURN).all(), "somebody is asked for a claim or a robbery"
        own = running[gambits[running, actor[running]] > 0]
        assert (mask[own, :34].sum(axis=1) == 1).all()
        assert mask[own, state.drawn[own]].all()
        assert not mask[own, 68:102].any(), "a gambiter may add to a pung"
        others = np.setdiff1d(running, own)
        assert (mask[others, :34] == (state.hand[others, actor[others]] > 0)).all()
        own_turns, locked_turns = own_turns + len(own), locked_turns + len(others)
        several += int(((gambits > 0).sum(axis=1) > 1).sum())

        # Fortunes are thrown half of the time: long gambits are rare otherwise.
        throws = mask[every, wild] & (rng.random(200) < 0.5)
        actions = np.where(throws, wild, random_actions(mask, rng))
        discards = (actor >= 0) & (state.phase == Phase.TURN) & (actions < 34)
        result = engine.step(actions)
        gambits[discards, actor[discards]] = np.where(actions == wild, gambits[every, actor] + 1, 0)[discards]
        on = ~result.hand_over & (actor >= 0)
        assert (state.marks[on, :, 0] == gambits[on]).all()
    assert min(own_turns, locked_turns) > 500
    assert several > 50


def test_dice_make_one_hand_in_six_3_lao():
    """Seat 1 waits for 6m, which the dealer discards at 1 Lao: asked only where the dice showed doubles."""
    hands = ["147m 258p 369s 1234z 6m", "123m 456p 678s 45m 11z", "258m 369p 147s 6677z", "369m 147p 258s 3366z"]
    deal = Deal(hands=hands, indicator="5z", dealer=0, dealer_streak=0)
    engine = make_engine("hangzhou", 600, seed=6, lao_dice=True)
    engine.reset(deals=deal)
    dice = engine.state.dice.copy()
    assert 70 < (dice > 0).sum() < 130
    assert set(dice.tolist()) == {0, 2, 4, 6, 8, 10, 12}
    engine.step(np.full(600, mahjong_env.action("discard 6m")))
    asked = engine.action_mask[:, mahjong_env.action("win")]
    assert (asked == (dice > 0)).all()
    result = engine.step(
        np.where(asked, mahjong_env.action("win"), random_actions(engine.action_mask, np.random.default_rng(0)))
    )
    assert (result.rewards[dice > 0] == [-1, 1, 0, 0]).all()

    plain = make_engine("hangzhou", 600, seed=6)
    plain.reset(deals=deal)
    assert not plain.state.dice.any()


def play_matches(games, **options):
    """Play matches with an agent that wins now and then; yields each step, and dealers and streaks before it."""
    engine = make_engine("hangzhou", games, **options)
    agent, rng = make_agent("greedy"), np.random.default_rng(1)
    while (live := np.flatnonzero(engine.seat_to_act >= 0)).size:
        actions = np.zeros(games, np.int64)
        actions[live] = agent.act(engine.view(live), rng)
        dealer, streak = engine.dealer, engine.state.streak.copy()
        yield engine, dealer, streak, engine.step(actions)


def test_matches_by_points_with_a_floor():
    ended = 0
    for engine, dealer, _, result in play_matches(8, seed=5, match_end="points", initial_points=6):
        assert (engine.points >= 0).all()
        assert (engine.points.sum(axis=1) == 24).all()
        for game, winner, points in zip(result.outcome.game, result.outcome.winner, result.outcome.points, strict=True):
            over = winner != dealer[game] and (points <= 0).any()
            assert result.done[game] == (over or result.truncated[game])
            ended += over
    assert ended == 8
    assert (engine.seat_to_act == -1).all()


# --- What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("situation", "words"),
    [
        ({"gambits": 4}, "fifth"),
        ({"wild": None, "gambits": 1}, "no kind is wild"),
        ({"red_discards": 1}, "red_discards"),
        ({"melds": ["pung 555z@1"], "hand": "123m 456p 678s 1z"}, "wild"),
        ({"fortune": "white", "wild": "1m"}, "wild"),
    ],
)
def test_impossible_descriptions(situation, words):
    simple = {"hand": "123m 456p 678s 45m 11z", "winning_tile": "6m", "source": "draw", "wild": "5z"}
    with pytest.raises(ValueError, match=words):
        mahjong_env.score("hangzhou", **simple | situation)


@pytest.mark.parametrize("source", ["discard", "kong"])
def test_a_gambiter_does_not_win_with_the_tile_of_another(source):
    dealer = {"hand": "123m 456p 678s 45m 11z", "winning_tile": "6m", "wild": "5z", "dealer_streak": 2}
    result = mahjong_env.score("hangzhou", **dealer, source=source, from_seat=2, gambits=1)
    assert not result.legal
    assert "Gambit" in result.reason
    assert mahjong_env.score("hangzhou", **dealer, source=source, from_seat=2).legal
