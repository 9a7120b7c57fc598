"""One step of the batch, from the actions of the seats to the points that they are paid."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.phases import claims, deal, draw, grants, masks, settle, turn
from mahjong_env.engine.phases.context import Ended, StepContext
from mahjong_env.state.arrays import Phase

# Kept as arrays: numpy would convert a plain number in every call.
_TURN, _STRANDED = (np.array(phase, np.int8) for phase in (Phase.TURN, Phase.STRANDED))


def take_step(context: StepContext, games: Games, actions: Int64Array, last: Games) -> list[Ended]:
    """Carry out one action in each game, and everything that follows before a seat has to decide again.

    Args:
        context: the batch.
        games: [n] games that are not over.
        actions: [n] legal actions of the seats to act.
        last: other games, whose hands have already ended with a discard on which nobody can win (`one_game`).

    Returns:
        The hands that ended; `settle.next_hands` and `deal` begin the next ones.
    """
    context.begin_step()
    if last.size:
        context.drawn.append(last)
    if not games.size:
        return settle.settle(context)
    # Act: seats in their turn discard, declare kongs or win; seats that were asked answer.
    phase = context.state.phase[games]
    is_turn = phase == _TURN
    in_turn = is_turn.nonzero()[0]
    if in_turn.size == len(games):
        discards, added = turn.act(context, games, actions)
    else:
        is_stranded = phase == _STRANDED
        asked, stranded = (~(is_turn | is_stranded)).nonzero()[0], is_stranded.nonzero()[0]
        discards, added = turn.act(context, games.take(in_turn), actions.take(in_turn))
        granted, opened = claims.take_answers(context, games.take(asked), actions.take(asked))
        draw.take_stranded(context, games.take(stranded), actions.take(stranded))
        grants.grant(context, granted)
        deal.open_hands(context, opened)

    # Claim: what was discarded or is being added to a pung is offered to the others.
    claims.offer_discards(context, discards)
    claims.offer_added_tiles(context, added)

    # Draw: a replacement for every kong that stands, a tile for the next seat where nobody claims the discard.
    draw.replace_kongs(context)
    draw.begin_turns(context)

    # Settle: wins and drawn hands become points.
    ended = settle.settle(context)
    masks.write_masks(context, games)
    return ended
