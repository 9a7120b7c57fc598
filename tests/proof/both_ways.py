"""Small batches are played in plain Python as the phases would have played them.

Every batch of the proof (random, greedy and steered play, with knobs at random) is played twice, with the same
actions: as small batches are (engine/one_game.py), and by the phases alone. After every step all arrays, the results
and what the seats to act see have to be equal. Observations are compared with those of a view, which numpy writes.
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

import numpy as np

import mahjong_env
from mahjong_env.engine.outcome import StepResult
from mahjong_env.testing.play import ConformanceError, require_same_states
from proof.batches import MOST_HANDS, Batch, Played, ProofError, chooser, make_batch, most_games

GAMES = 6


class WaysDifferError(AssertionError):
    """The two ways differ; the message says where."""


def _engine(batch: Batch, games: int, plain: bool) -> mahjong_env.Engine:
    engine = mahjong_env.make_engine(
        batch.variant, games, seed=batch.number, num_hands=batch.num_hands, start=batch.start, **batch.knobs
    )
    if batch.steered:
        engine.reset(deals=[mahjong_env.Deal(dealer=None) if one is None else one.deal for one in batch.steered])
    if not plain:
        with most_games(0):
            assert engine._few_games is None  # it is asked once
    return engine


def play_both_ways(batch: Batch, games: int = GAMES, most_hands: int = MOST_HANDS) -> tuple[int, int, int]:
    """Play a batch both ways.

    Returns:
        The hands that ended, the actions, and how many of these the phases had to play although the batch is small.

    Raises:
        WaysDifferError: they differ.
    """
    plain, phases = (_engine(batch, games, plain) for plain in (True, False))
    choose, rng = chooser(batch), np.random.default_rng([batch.number, 7])
    hands = actions = left = step = 0
    for step in count():
        live = np.flatnonzero(phases.seat_to_act >= 0)
        if hands >= most_hands or not live.size:
            return hands, actions, left
        _compare_states(batch, step, plain, phases, live)
        if step % 3 == 0 and live.size < games:
            chosen, which = choose(phases, rng)[live], live
        else:
            chosen, which = choose(phases, rng), None
        played = _count_left(plain)
        one, other = plain.step(chosen, which), phases.step(chosen, which)
        left += played()
        _compare_results(batch, step, one, other)
        hands += len(other.outcome)
        actions += live.size
    raise AssertionError


def _count_left(engine: mahjong_env.Engine) -> Any:
    """Counts the games of the next step that plain Python leaves alone."""
    few, found = engine._few_games, [0]
    if few is None:
        return lambda: 0
    play = type(few).play

    def counting(chosen: Any) -> Any:
        left, last = play(few, chosen)
        found[0] += len(left)
        return left, last

    few.play = counting
    return lambda: found[0]


def _compare_states(batch: Batch, step: int, plain: mahjong_env.Engine, phases: mahjong_env.Engine, live: Any) -> None:
    try:
        require_same_states(phases, plain, np.arange(plain.num_games), f"batch {batch}, step {step}")
    except ConformanceError as error:
        raise WaysDifferError(str(error)) from error
    if not np.array_equal(plain.observe(live), phases.view(live).observation):
        raise WaysDifferError(f"batch {batch}, step {step}: observations differ")


def _compare_results(batch: Batch, step: int, one: StepResult, other: StepResult) -> None:
    for name in ("rewards", "hand_over", "done", "truncated"):
        if not np.array_equal(getattr(one, name), getattr(other, name)):
            raise WaysDifferError(f"batch {batch}, step {step}: {name} differ")
    for name in ("game", "winner", "source", "from_seat", "tile", "value", "payments", "points"):
        if not np.array_equal(getattr(one.outcome, name), getattr(other.outcome, name)):
            raise WaysDifferError(f"batch {batch}, step {step}: {name} of outcomes differ")
    if one.outcome.rows != other.outcome.rows:
        raise WaysDifferError(f"batch {batch}, step {step}: rows of outcomes differ")


def play_ways(variant: str, number: int) -> Played:
    """A batch both ways, as `play_both_ways`.

    Raises:
        ProofError: the two ways differ.
    """
    try:
        hands, actions, left = play_both_ways(make_batch(variant, number, GAMES))
    except WaysDifferError as error:
        raise ProofError("ways", variant, number, str(error)) from error
    return Played(hands, Counter({"actions": actions, "actions that the phases played": left}))
