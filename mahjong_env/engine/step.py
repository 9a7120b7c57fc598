"""One step of the batch, from the actions of the seats to the points that they are paid."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.phases import claims, deal, draw, grants, kongs, settle, turn
from mahjong_env.engine.phases.claims import NO_ANSWERS, Answered
from mahjong_env.engine.phases.context import Ended, StepContext
from mahjong_env.engine.phases.draw import NOBODY_STRANDED, StrandedAnswers
from mahjong_env.engine.phases.turn import Acted
from mahjong_env.state.arrays import Phase
from mahjong_env.state.seats import Seats

# Arrays, as numpy turns plain numbers into arrays in every call.
_TURN, _STRANDED = (np.array(phase, np.int8) for phase in (Phase.TURN, Phase.STRANDED))


def take_step(context: StepContext, games: Games, actions: Int64Array) -> list[Ended]:
    """Carry out one action in each game, and all that follows before somebody has to decide again.

    Each phase hands on what it leaves to the next one; no game is in two of the values that are handed on at once.

    Args:
        context: the batch.
        games: [n] games that are not over.
        actions: [n] legal actions of the seats to act.

    Returns:
        The hands that ended; `settle.next_hands` and `deal` begin the next ones.
    """
    # Act: seats in their turn discard, declare kongs or win; seats that were asked answer.
    acted, answered, stranded = _act(context, games, actions)

    # Claim: what was answered is granted; what was discarded or added to a pung is offered to the others.
    granted = grants.grant(context, answered.granted)
    unclaimed = Seats.join([claims.offer_discards(context, acted.discards), answered.unclaimed])
    unrobbed = claims.offer_added_tiles(context, acted.added)

    # Draw: a replacement for every kong that stands, a tile for the next seat where nobody claims the discard.
    added = kongs.add_to_pungs(context, (granted.added, unrobbed, answered.unrobbed))
    no_flower_left = draw.replace_kongs(context, [*acted.kongs, *granted.kongs, *added])
    no_tile_left = draw.begin_turns(context, unclaimed)
    deal.open_hands(context, answered.opened)

    # Settle: wins and drawn hands become points.
    won = [*acted.wins, *stranded.wins, *granted.wins]
    return settle.settle(context, won, [*stranded.passed, *no_flower_left, *no_tile_left])


def _act(context: StepContext, games: Games, actions: Int64Array) -> tuple[Acted, Answered, StrandedAnswers]:
    """Carry out the action that each game was waiting for."""
    phase = context.state.phase[games]
    is_turn, is_stranded = phase == _TURN, phase == _STRANDED
    in_turn = is_turn.nonzero()[0]
    if in_turn.size == len(games):
        return turn.act(context, games, actions), NO_ANSWERS, NOBODY_STRANDED
    asked, stranded = (~(is_turn | is_stranded)).nonzero()[0], is_stranded.nonzero()[0]
    return (
        turn.act(context, games.take(in_turn), actions.take(in_turn)),
        claims.take_answers(context, games.take(asked), actions.take(asked)),
        draw.take_stranded(context, games.take(stranded), actions.take(stranded)),
    )
