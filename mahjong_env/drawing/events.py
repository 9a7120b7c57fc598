"""What has happened last at a table, read off the state: nobody has to remember it, and a restored game knows it."""

from __future__ import annotations

import numpy as np

from mahjong_env.basics.notation import MeldType
from mahjong_env.drawing.words import Reader
from mahjong_env.engine.batch import Engine
from mahjong_env.state.arrays import CLAIMED, LATEST, Phase

_MADE = {MeldType.CHOW: "chow", MeldType.PUNG: "pung"}


def last_event(engine: Engine, game: int = 0, reader: Reader | None = None) -> str:
    """The last action that all could see, and what has been drawn since then, in one line.

    Args:
        engine: the games.
        game: which one.
        reader: for whom. A person who is not asked may not see what has been drawn: give spectators, or whoever is
            to act.

    Returns:
        For example "player_1 discards 5m; player_2 draws 9s"; empty when the match is over.
    """
    state, reader = engine.state, reader or Reader()
    phase, turn = int(state.phase[game]), int(state.turn[game])
    if phase == Phase.OVER:
        return ""
    who = _Names(engine, game, reader)
    offered, giver = int(state.offered[game]), int(state.offered_by[game])
    if phase == Phase.ROB:
        return f"{who.does(giver, 'add')} {reader.tiles([offered])} to {'your' if who.is_you(giver) else 'a'} pung"
    if phase == Phase.OPENING:
        return "the hand has been dealt"
    told = _last_discard(engine, game, who)
    drawn, is_seen = int(state.drawn[game]), reader.person is None or who.is_you(turn)
    if phase != Phase.TURN or drawn < 0:
        return told
    tile = f" {reader.tiles([drawn])}" if is_seen else ""
    if state.kong_draws[game]:
        draws = f"{who.verb(turn, 'draw')}{tile or ' a tile'} from the end of the wall"
        return f"{who.does(turn, 'declare')} a kong and {draws}"
    replaced = " in place of a flower" if state.flower_draw[game] else ""
    return f"{told}; {who.does(turn, 'draw')}{tile or ' a tile'}{replaced}"


class _Names:
    """Who sits where, and what the reader calls them."""

    def __init__(self, engine: Engine, game: int, reader: Reader) -> None:
        self.persons, self.reader = engine.state.person_at[game].tolist(), reader

    def is_you(self, seat: int) -> bool:
        return self.persons[seat] == self.reader.person

    def name(self, seat: int) -> str:
        return self.reader.name(self.persons[seat])

    def does(self, seat: int, verb: str) -> str:
        return self.reader.does(self.persons[seat], verb)

    def verb(self, seat: int, verb: str) -> str:
        return self.reader.verb(self.persons[seat], verb)


def _last_discard(engine: Engine, game: int, who: _Names) -> str:
    """The last discard of the hand and, if it was claimed, what was made of it."""
    state = engine.state
    number = int(state.num_discards[game])
    if not number:
        return "the hand has been dealt"
    seat, kind = (int(place[0]) for place in np.nonzero(state.public[game, :, LATEST] == number))
    tile, last = who.reader.tiles([kind]), int(state.river_size[game, seat]) - 1
    if state.river[game, seat, last] <= CLAIMED:
        return f"{who.does(seat, 'discard')} {tile}"
    claimer = int(state.turn[game])
    place = max(int(state.num_melds[game, claimer]) - 1, 0)
    made = _MADE.get(MeldType(int(state.meld_type[game, claimer, place])), "kong")
    return f"{who.does(claimer, 'claim')} {tile} from {who.name(seat)}: {made}"
