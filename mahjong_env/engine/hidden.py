"""Redistribution of the tiles that a seat has not seen, for search and for the test that nothing leaks."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NO_TILE, NUM_KINDS
from mahjong_env.basics.types import BoolArray, Games, Int8Array
from mahjong_env.engine.opponent_hands import OpponentHands, bring_nearer
from mahjong_env.engine.phases import claims, masks
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.engine.phases.judge import judge_turn, update_tenpai
from mahjong_env.hands.codes import encode
from mahjong_env.observation.visibility import VisibleState, over_slots
from mahjong_env.state.arrays import MAX_MELDS, NO_SEAT, Phase


def resample(
    context: StepContext,
    games: Games,
    seats: Games,
    present: BoolArray,
    rng: np.random.Generator,
    opponent_hands: OpponentHands | None = None,
    copies: int = 1,
) -> None:
    """Give every tile that seat ``seats[i]`` of game i has not seen another place, uniformly among those possible.

    Where ``present[i]`` is False, a person who sits out looks from that seat and has not seen its hand either. With
    ``opponent_hands``, the hands that change are then brought as near to a win as drawn from that prior. Every
    ``copies`` games in a row are copies of one position.

    Hidden concealed kongs of others get a kind of which the seat has seen no tile. Seats that may already have been
    asked, which the looking seat cannot know, count as having passed. Another seat that is being asked right now keeps
    its hand, because being asked reveals something about it. The looking seat keeps its own answer to an open question
    if it is the best so far. If another's answer was better, it has overwritten the own one, and all answers are
    forgotten.
    """
    if not games.size:
        return
    state = context.state
    kept, tiles = _unseen(context, games[::copies], seats[::copies], present[::copies])
    kept, tiles = kept.repeat(copies, axis=0), tiles.repeat(copies, axis=0)
    _redraw_hidden_kongs(context, games, seats, present, tiles, rng)
    _redistribute(context, games, kept, tiles, rng)
    if opponent_hands is not None:
        bring_nearer(state, context.rules, games, kept, opponent_hands, rng)
    # The old seed, stream and hand number would reveal all cards, so they are replaced.
    state.seed[games] = rng.integers(0, 2**63, len(games), dtype=np.uint64)
    state.stream[games], state.hands_dealt[games] = 0, 0
    # Nobody knows what the others have answered.
    is_own = present & (state.best_seat[games] == seats) & (state.best_precedence[games] > 0)
    others = games[~is_own]
    state.best_precedence[others], state.best_seat[others], state.best_action[others] = 0, NO_SEAT, 0
    _follow_up(context, games, kept, rng)
    masks.write_masks(context, games)


def _unseen(context: StepContext, games: Games, seats: Games, present: BoolArray) -> tuple[BoolArray, Int8Array]:
    """Return [n, S] hands that stay, and [n, 42] the tiles of each kind in other hands, hidden kongs or the wall."""
    state = context.state
    is_own = (np.arange(state.num_seats) == seats[:, None]) & present[:, None]
    kept = is_own.copy()
    asked = (state.phase[games] != Phase.TURN) & (state.phase[games] != Phase.OVER)
    kept[asked, state.actor[games[asked]]] = True
    sight = VisibleState(state, context.rules, games, seats, present)
    tiles = sight.unseen_tiles
    if context.rules.uses_flowers:
        # Flowers stay where they are, also those that another seat has just laid open and this one has not seen yet.
        tiles = tiles + over_slots(sight.flowers) - state.flowers[games].sum(axis=1, dtype=np.int8)
    row, other = np.nonzero(kept & ~is_own)  # at most one in each row
    tiles[row, :NUM_KINDS] -= state.hand[games[row], other]
    return kept, tiles


def _redraw_hidden_kongs(
    context: StepContext,
    games: Games,
    seats: Games,
    present: BoolArray,
    unseen: Int8Array,
    rng: np.random.Generator,
) -> None:
    state = context.state
    if not context.rules.hides_concealed_kongs:
        return
    row, seat, place = np.nonzero(state.meld_type[games] == MeldType.CONCEALED_KONG)
    is_others = (seat != seats[row]) | ~present[row]
    row, hidden = row[is_others], seat[is_others] * MAX_MELDS + place[is_others]
    for number in np.unique(hidden):  # one kong of each game at a time
        at = row[hidden == number]
        g = games[at]
        possible = unseen[at, :NUM_KINDS] == 4
        wild = np.flatnonzero(state.wild[g] >= 0)
        possible[wild, state.wild[g[wild]]] = False
        kind = np.where(possible, rng.random(possible.shape), -1).argmax(axis=1).astype(np.int8)
        state.meld_kind[g, number // MAX_MELDS, number % MAX_MELDS] = kind
        unseen[at, kind] -= 4


def _redistribute(
    context: StepContext, games: Games, kept: BoolArray, unseen: Int8Array, rng: np.random.Generator
) -> None:
    """Deal the unseen tiles to the hands that change, then to the wall from its front to its back."""
    state, is_flower = context.state, context.rules.flower_kinds
    n, length, seats = len(games), state.wall.shape[1], state.num_seats
    hands = state.hand[games]
    upto = np.where(kept, 0, hands.sum(axis=2, dtype=np.int8)).cumsum(axis=1, dtype=np.int16)
    keys = _keys(unseen[:, ~is_flower], np.flatnonzero(~is_flower), rng)  # flowers are in no hand
    tiles, place = _tiles(keys), np.arange(keys.shape[1], dtype=np.int16)
    # All hands are counted at once. Tiles beyond the hands count for one extra seat; absent tiles (-1) for none.
    in_hand = int(upto[:, -1].max(initial=0))
    owner = np.zeros((n, in_hand), np.int8)
    for seat in range(seats):
        owner += place[:in_hand] >= upto[:, seat, None]
    cell = np.arange(0, n * (seats + 1), seats + 1)[:, None] + owner
    cell *= NUM_KINDS + 1
    cell += tiles[:, :in_hand]
    counts = np.bincount(cell.ravel(), minlength=n * (seats + 1) * (NUM_KINDS + 1))
    dealt = counts.reshape(n, seats + 1, NUM_KINDS + 1)[:, :seats, :NUM_KINDS].astype(np.int8)
    dealt[kept] = hands[kept]
    state.hand[games] = dealt

    is_rest = (place >= upto[:, -1:]) & (tiles != NO_TILE)
    if is_flower.any():
        # Numbers behind the last one dealt are uniform from there on, so flowers with such numbers mix in evenly.
        last = np.where(upto[:, -1] > 0, keys[np.arange(n), upto[:, -1] - 1] >> np.uint64(8), 0)
        flowers = _keys(unseen[:, is_flower], np.flatnonzero(is_flower), rng, above=last / _NUMBERS)
        keys[~is_rest] = _ABSENT
        tiles = _tiles(np.sort(np.concatenate([keys, flowers], axis=1), axis=1))
        is_rest = tiles != NO_TILE
    is_left = state.undrawn(games)
    walls = np.full((n, length), NO_TILE, np.int8)  # the drawn part is erased, as it would show who was dealt what
    walls[is_left] = tiles[is_rest]
    state.wall[games] = walls


_NUMBERS: Final = 2**52
_ABSENT: Final = np.iinfo(np.uint64).max


def _keys(
    counts: Int8Array, kinds: NDArray[np.intp], rng: np.random.Generator, above: NDArray[np.float64] | None = None
) -> NDArray[np.uint64]:
    """Shuffle many short rows of tiles at once: each tile is the low byte of a random number, and numbers are sorted.

    Args:
        counts: [n, k] how many tiles of each kind there are.
        kinds: [k] the kinds.
        rng: the source of randomness.
        above: [n] the numbers of each row are uniform from here to 1; None: from 0.

    Returns:
        [n, m] the numbers, times 2**52, above the tile's kind; `_ABSENT` behind those of shorter rows.
    """
    tiles = np.tile(kinds.astype(np.uint8), len(counts)).repeat(counts.reshape(-1))
    number = counts.sum(axis=1, dtype=np.int16)
    if above is None:
        numbers = rng.integers(0, 2**64, len(tiles), dtype=np.uint64)
        numbers >>= np.uint64(12)
    else:
        above = above.repeat(number)
        numbers = ((above + (1 - above) * rng.random(len(tiles))) * _NUMBERS).astype(np.uint64)
    numbers <<= np.uint64(8)
    numbers |= tiles
    keys = np.full((len(counts), number.max(initial=0)), _ABSENT)
    keys[np.arange(keys.shape[1], dtype=np.int16) < number[:, None]] = numbers
    keys.sort(axis=1)
    return keys


def _tiles(keys: NDArray[np.uint64]) -> Int8Array:
    """[n, m] int8 the tiles of `_keys`; `NO_TILE` where there is none."""
    return keys.astype(np.uint8).view(np.int8)


def _follow_up(context: StepContext, games: Games, kept: BoolArray, rng: np.random.Generator) -> None:
    """Update what follows from the hands: codes, flags, the drawn tile, who may be asked."""
    state = context.state
    state.code[games] = encode(state.natural_hands(games))
    row, seat = np.nonzero(~kept)
    update_tenpai(context, state.seats(games[row], seat))
    # A seat in its turn holds its drawn tile, so whether it was one tile away before is judged without the flag.
    phase = state.phase[games]
    in_turn = (phase == Phase.TURN) | (phase == Phase.OPENING)
    turns = games[in_turn & ~kept[np.arange(len(games)), state.turn[games]]]
    if turns.size:
        _redraw(context, turns, rng)
    asked = (phase == Phase.CLAIM) | (phase == Phase.ROB) | (phase == Phase.OPENING)
    if asked.any():
        claims.ask_again(context, games[asked])


def _redraw(context: StepContext, games: Games, rng: np.random.Generator) -> None:
    """Choose which tile of its new hand the seat in its turn has drawn."""
    state = context.state
    g = games[state.drawn[games] >= 0]
    seat = state.turn[g]
    upto = state.hand[g, seat].cumsum(axis=1)
    state.drawn[g] = (upto > rng.integers(0, upto[:, -1])[:, None]).argmax(axis=1)
    begun = state.phase[g] == Phase.TURN
    judge_turn(context, state.seats(g[begun], seat[begun]), unflagged=True)
