"""Rules with one planted fault each, for the conformance kit to find (test_testing)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mahjong_env.basics.actions import WIN
from mahjong_env.engine.claim_rules import MAY_PUNG
from mahjong_env.state.arrays import DISCARDED
from mahjong_env.variants.hebei import Hebei


@dataclass(frozen=True, kw_only=True)
class VanishingTile(Hebei):
    """The next tile of the wall turns into another one."""

    def on_discard(self, state, seats, kind):
        state.wall[seats.game, state.front[seats.game]] = kind


@dataclass(frozen=True, kw_only=True)
class GivenTile(Hebei):
    """Whoever discards hands another tile to the next player."""

    def on_discard(self, state, seats, kind):
        given = state.hands(seats).argmax(axis=1)
        state.remove_tiles(seats, given)
        state.add_tile(state.next_seats(seats), given)


@dataclass(frozen=True, kw_only=True)
class StaleCode(Hebei):
    """Whoever discards changes a tile for the next one of the wall, and only the counts know it."""

    def on_discard(self, state, seats, kind):
        given, front = state.hands(seats).argmax(axis=1), state.front[seats.game]
        taken = state.wall[seats.game, front]
        state.hand[seats.game, seats.seat, given] -= 1
        state.hand[seats.game, seats.seat, taken] += 1
        state.wall[seats.game, front] = given


@dataclass(frozen=True, kw_only=True)
class UnseenDiscard(Hebei):
    """A discard is missing in the public planes."""

    def on_discard(self, state, seats, kind):
        state.public[seats.game, seats.seat, DISCARDED, kind] -= 1


@dataclass(frozen=True, kw_only=True)
class NeverReady(Hebei):
    """Nobody is ever flagged as one tile away."""

    def on_discard(self, state, seats, kind):
        state.is_tenpai[seats.game] = False


@dataclass(frozen=True, kw_only=True)
class KongsFromTheBank(Hebei):
    """Kongs are paid by nobody."""

    def kong_payments(self, state, seats, meld_type, from_seat):
        amounts = super().kong_payments(state, seats, meld_type, from_seat)
        return np.maximum(amounts, 0)


@dataclass(frozen=True, kw_only=True)
class WinsFromTheBank(Hebei):
    """The winner is paid a point too much."""

    def score(self, wins):
        scores = super().score(wins)
        scores.payments[np.arange(len(wins)), wins.seat] += 1
        return scores


@dataclass(frozen=True, kw_only=True)
class LegalByShape(Hebei):
    """Whether a hand may win is asked of its shape alone."""

    def legal(self, wins):
        return self.complete(wins)


@dataclass(frozen=True, kw_only=True)
class PaidAnyway(Hebei):
    """Hands that may not win have points."""

    def score(self, wins):
        scores = super().score(wins)
        scores.points = scores.points + ~scores.legal
        return scores


@dataclass(frozen=True, kw_only=True)
class SharedPrice(Hebei):
    """All hands of a batch are worth what the best one is."""

    def score(self, wins):
        scores = super().score(wins)
        scores.points = np.where(scores.legal, scores.points.max(initial=0), 0)
        return scores


@dataclass(frozen=True, kw_only=True)
class PaidBackwards(Hebei):
    """The winner pays."""

    def score(self, wins):
        scores = super().score(wins)
        scores.payments = -scores.payments
        return scores


@dataclass(frozen=True, kw_only=True)
class WithoutReason(Hebei):
    """Nobody is told why a hand may not win."""

    def score(self, wins):
        scores = super().score(wins)
        scores.reason = np.zeros_like(scores.reason)
        return scores


@dataclass(frozen=True, kw_only=True)
class BorrowedDiscard(Hebei):
    """A Red Dragon may be discarded without having one."""

    def limit_turn(self, state, seats):
        state.mask[seats.game, 33] = True


@dataclass(frozen=True, kw_only=True)
class NothingButWins(Hebei):
    """In its turn a seat may only win."""

    def limit_turn(self, state, seats):
        drawn = seats.game[state.drawn[seats.game] >= 0]
        state.mask[drawn, :WIN] = False
        state.mask[drawn, WIN] = True


@dataclass(frozen=True, kw_only=True)
class BorrowedPung(Hebei):
    """Whoever may claim anything may pung."""

    def limit_claims(self, state, seats, options):
        options[options > 0] |= MAY_PUNG


@dataclass(frozen=True, kw_only=True)
class Stuck(Hebei):
    """Late in the hand nobody may do anything."""

    def limit_turn(self, state, seats):
        state.mask[seats.game[state.left(seats.game) < 20]] = False


@dataclass(frozen=True, kw_only=True)
class Endless(Hebei):
    """Every discard goes back to the front of the wall, where the next player draws it; nobody claims or wins."""

    def tiles_short(self, words, wilds, melds):
        return np.full(words.shape[:-1], 14, np.int8)

    def limit_claims(self, state, seats, options):
        options[:] = 0

    def on_discard(self, state, seats, kind):
        state.front[seats.game] -= 1
        state.wall[seats.game, state.front[seats.game]] = kind
        state.river_size[seats.game, seats.seat] = 0
        state.num_discards[seats.game] = 1


@dataclass(frozen=True, kw_only=True)
class DependsOnNeighbours(Hebei):
    """If several games discard at once, each next tile goes under the one after it."""

    def on_discard(self, state, seats, kind):
        if len(seats) > 1:
            games = seats.game
            front = state.front[games]
            last = state.wall.shape[1] - 1
            behind = np.minimum(front + 1, last)
            state.wall[games, front], state.wall[games, behind] = state.wall[games, behind], state.wall[games, front]


@dataclass(frozen=True, kw_only=True)
class LimitedByTheNextHand(Hebei):
    """What a seat may discard depends on what the next one holds."""

    def limit_turn(self, state, seats):
        held = state.hands(state.next_seats(seats)) > 1
        some = np.flatnonzero((state.mask[seats.game, :34] & ~held).any(axis=1))
        state.mask[seats.game[some], :34] &= ~held[some]


@dataclass(frozen=True, kw_only=True)
class ClaimsByTheGiversHand(Hebei):
    """No pung of a tile of which its giver has another one."""

    def limit_claims(self, state, seats, options):
        game = seats.game
        has_another = state.hand[game, state.offered_by[game], state.offered[game]] > 0
        options[:, has_another] &= ~MAY_PUNG
