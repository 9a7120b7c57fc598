"""The start of a hand: shuffled wall, hands, opening flowers, the tile turned up, questions before the first turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mahjong_env.basics.chance import hand_keys, shuffle
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.engine.phases import claims, masks
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.engine.phases.judge import judge_turn, update_tenpai
from mahjong_env.hands.codes import encode
from mahjong_env.state.arrays import Phase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mahjong_env.engine.scene import Scene


def begin_matches(context: StepContext, games: Games, *, at_random: bool) -> None:
    """Start new matches: set points, seats and the first dealer."""
    state, rules = context.state, context.rules
    state.hand_in_match[games] = 0
    state.points[games] = rules.starting_points
    state.floored[games] = context.several_hands
    state.person_at[games] = np.arange(rules.seats, dtype=np.int8)
    keys = hand_keys(state.seed[games], state.stream[games], state.hands_dealt[games])
    rules.begin_match(state, games, keys, at_random=at_random)


def deal_hands(context: StepContext, games: Games, scenes: Sequence[Scene] = ()) -> None:
    """Deal the next hand of these games, up to the first decision.

    Args:
        context: the batch.
        games: [n] games to deal.
        scenes: [n] how their hands are to begin; empty if everything is left to chance.
    """
    if not games.size:
        return
    state, rules = context.state, context.rules
    keys = hand_keys(state.seed[games], state.stream[games], state.hands_dealt[games])
    state.hands_dealt[games] += 1
    state.empty_hands(games)
    walls = shuffle(keys, context.tiles)
    for row, scene in enumerate(scenes):
        scene.set_match(state, games[row])
        walls[row] = scene.arrange(walls[row])
    rules.begin_hand(state, games, keys)
    for game, scene in zip(games, scenes, strict=False):
        scene.set_winds(state, game)
    state.wall[games] = walls
    state.reserve[games] = rules.reserve
    _take_hands(context, games, walls)
    if rules.uses_flowers:
        _replace_opening_flowers(context, games)
    if rules.turns_indicator:
        _turn_indicator(context, games)
    if rules.dealer_draws_last:
        _replace_dealers_extra(context, games)
    for game, scene in zip(games, scenes, strict=False):
        scene.shorten(state, game)
    _open(context, games)
    masks.write_masks(context, games)


def _take_hands(context: StepContext, games: Games, walls: Int8Array) -> None:
    """Deal the hands: seat s gets the s-th block of ``hand_size`` tiles; the dealer draws the tile after all blocks."""
    state, rules = context.state, context.rules
    n, seats, size = len(games), rules.seats, rules.hand_size
    dealt = walls[:, : seats * size].reshape(n, seats, size)
    cell = (np.arange(n)[:, None, None] * seats + np.arange(seats)[:, None]) * NUM_ALL_KINDS + dealt
    counts = np.bincount(cell.ravel(), minlength=n * seats * NUM_ALL_KINDS)
    counts = counts.reshape(n, seats, NUM_ALL_KINDS).astype(np.int8)
    state.drawn[games] = walls[:, seats * size]
    if not rules.dealer_draws_last:
        counts[np.arange(n), state.dealer[games], state.drawn[games]] += 1
    flowered = np.where(context.is_flower, counts, np.int8(0))
    state.flowers[games] = flowered
    state.hand[games] = (counts - flowered)[..., :NUM_KINDS]
    state.front[games] = seats * size + 1
    state.turn[games] = state.dealer[games]


def _replace_opening_flowers(context: StepContext, games: Games) -> None:
    """Replace the opening flowers seat by seat, from the dealer on, until nobody holds any (fuzhou.md#flowers)."""
    state, rules = context.state, context.rules
    n, seats = len(games), rules.seats
    order = (state.dealer[games, None] + np.arange(seats)) % seats
    dealer_has_extra = not rules.dealer_draws_last
    lacking = rules.hand_size - state.hand[games[:, None], order].sum(axis=2)
    lacking[:, 0] += dealer_has_extra
    wanted = lacking.cumsum(axis=1)  # tiles that each seat and those before it need

    wall = state.wall[games, : seats * rules.hand_size : -1]  # from the back of the wall to the tiles dealt
    keeps = ~context.is_flower.take(wall)
    kept_before = keeps.cumsum(axis=1, dtype=np.int16) - keeps
    place = (kept_before < wanted[:, -1:]).reshape(-1).nonzero()[0]
    row = place // wall.shape[1]
    turn = (kept_before.reshape(-1)[place] >= wanted.T.take(row, axis=1)).sum(axis=0)
    index = row * seats + order.reshape(-1)[row * seats + turn]
    counts = np.bincount(index * NUM_ALL_KINDS + wall.reshape(-1)[place], minlength=n * seats * NUM_ALL_KINDS)
    counts = counts.reshape(n, seats, NUM_ALL_KINDS).astype(np.int8)
    flowered = np.where(context.is_flower, counts, np.int8(0))
    state.flowers[games] += flowered
    state.hand[games] += (counts - flowered)[..., :NUM_KINDS]
    state.back[games] += np.bincount(row, minlength=n).astype(np.int16)
    if dealer_has_extra:  # the last tile dealt to the dealer counts as drawn (common.md#the-opening-tile-of-the-dealer)
        replaced = np.flatnonzero(lacking[:, 0])
        last = (keeps & (kept_before == wanted[:, :1] - 1))[replaced].argmax(axis=1)
        state.drawn[games[replaced]] = wall[replaced, last]
    for step in range(seats):
        rules.on_flower(state, state.seats(games, order[:, step]))


def _turn_indicator(context: StepContext, games: Games) -> None:
    """Turn up the tile that names the wild kind; flowers turned up before it go to the dealer (fuzhou.md#the-gold)."""
    state = context.state
    while games.size:
        tile = state.wall[games, state.front[games]]
        state.front[games] += 1
        flower = context.is_flower[tile]
        state.flowers[games[flower], state.dealer[games[flower]], tile[flower]] += 1
        turned = games[~flower]
        state.indicator[turned] = tile[~flower]
        games = games[flower]


def _replace_dealers_extra(context: StepContext, games: Games) -> None:
    """Draw the dealer's extra tile, after all flowers have been replaced; replace it for as long as it is a flower."""
    state, rules = context.state, context.rules
    while games.size:
        tile, dealer = state.drawn[games], state.dealer[games]
        flower = context.is_flower[tile]
        state.hand[games[~flower], dealer[~flower], tile[~flower]] += 1
        games, tile, dealer = games[flower], tile[flower], dealer[flower]
        state.flowers[games, dealer, tile] += 1
        state.flower_draw[games] = True
        rules.on_flower(state, state.seats(games, dealer))
        state.drawn[games] = state.take_back(state.seats(games, dealer))


def _open(context: StepContext, games: Games) -> None:
    """Encode the hands, then ask the questions before the first turn, or begin that turn."""
    state, rules = context.state, context.rules
    dealer = state.dealer[games]
    if rules.has_wild:
        state.wild[games] = rules.wild_kinds(state.indicator[games])
    state.code[games] = encode(state.natural_hands(games))
    state.turns[games, dealer] = 1
    # The dealer, who has an extra tile, is judged when the first turn begins.
    update_tenpai(context, state.seats(games, np.arange(rules.seats)[:, None]))
    state.left_before_draw[games] = state.left(games)
    open_hands(context, games)


def open_hands(context: StepContext, games: Games) -> None:
    """Go on to the next question before the first turn, or to the dealer's first turn."""
    if not games.size:
        return
    games = claims.offer_opening(context, games)
    if games.size:
        dealers = context.state.seats(games, context.state.dealer[games])
        context.state.wait_for(dealers, Phase.TURN)
        judge_turn(context, dealers, unflagged=True)
