"""A table as text of 80 columns: for spectators with all hands open, or as one person sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from mahjong_env.basics.notation import Meld, MeldType
from mahjong_env.drawing.events import last_event
from mahjong_env.drawing.seen import seen_table
from mahjong_env.drawing.table import HIDDEN, WINDS, Place, ShownMeld, Table, read_table
from mahjong_env.drawing.text import columns, folded, joined, padded, paint
from mahjong_env.drawing.words import Reader, legal_text, outcome_text
from mahjong_env.engine.batch import Engine
from mahjong_env.state.arrays import NO_SEAT, Phase

WIDTH: Final = 80
"""Columns of a table."""
_LEFT, _LABEL = 22, 9
_WINDS_IN_CHINESE: Final = dict(zip(WINDS, "东南西北", strict=True))


def table_text(
    engine: Engine,
    game: int = 0,
    *,
    person: int | None = None,
    unicode: bool = False,
    outcome: Mapping[str, Any] | None = None,
    colour: bool = False,
) -> str:
    """One game of an engine as text.

    Args:
        engine: the games.
        game: which one.
        person: through whose eyes: he is called "you", and the others' tiles and hidden kongs are not shown; None:
            everything is.
        unicode: tiles as Unicode characters instead of notation ("123m").
        outcome: the hand that has just ended, if any (see `hand_info.hand_info`): its result comes first.
        colour: write colours, as ANSI sequences.

    Returns:
        Several lines of at most `WIDTH` columns without a newline at the end.
    """
    reader = Reader(person, unicode)
    table = read_table(engine, game) if person is None else seen_table(engine.view([game], seats=person))
    lines = [] if outcome is None else outcome_text(outcome, reader, engine.rules).splitlines()
    lines += _headlines(table, reader)
    actor = int(engine.state.actor[game])
    is_asked = actor >= 0 and person in (None, int(engine.state.person_at[game, actor]))
    event = last_event(engine, game, reader) if is_asked else ""
    lines += [f"last: {event}"] if event else []
    rule = "-" * WIDTH  # box drawings take two columns on some Chinese terminals
    lines.append(rule)
    for slot, place in enumerate(table.places):
        if place is not None:
            lines += _side(table, slot, place, reader)
    lines += [f"{reader.does(absent, 'sit')} out  {points} points" for absent, points in _absent(engine, game)]
    lines += [rule, _question(engine, game, reader)]
    text = "\n".join(part for line in lines for part in folded(line, WIDTH))
    return paint(text, table.wild) if colour else text


def meld_text(engine: Engine, game: int, seat: int, place: int, unicode: bool = False) -> str:
    """One open meld of a table seat, as in "chow 123s@3 (2s)": claimed from person 3, who had discarded 2s."""
    table = read_table(engine, game)
    slot = [slot for slot, shown in enumerate(table.places) if shown is not None][seat]
    shown = table.places[slot]
    assert shown is not None
    return _meld(table, slot, shown.melds[place], Reader(unicode=unicode))


def _headlines(table: Table, reader: Reader) -> Iterator[str]:
    of = f" of {table.num_hands}" if table.num_hands is not None else ""
    facts = [f"hand {table.hand_number}{of}", f"{_wind(table.round_wind)} round", f"{table.tiles_left} tiles left"]
    facts += [" ".join(table.deal_words)] if table.deal_words[0] else []
    facts += [f"dice {table.dice}"] if table.dice else []
    facts += [f"wild {reader.tiles([table.wild])}"] if table.wild >= 0 else []
    facts += [f"turned up {reader.tiles([table.indicator])}"] if table.indicator >= 0 else []
    title = f"{table.title} {table.chinese}".rstrip()
    yield from joined([f"{title}: {facts[0]}", *facts[1:]], WIDTH, ", ")


def _wind(name: str) -> str:
    return f"{name} {_WINDS_IN_CHINESE[name]}"


def _side(table: Table, slot: int, place: Place, reader: Reader) -> list[str]:
    """Who sits there on the left, what lies there on the right."""
    mark = "> " if table.turn == slot else "  "
    left = [
        f"{mark}{reader.name(place.person)}",
        f"  {_wind(place.wind)}{'  dealer 庄' if place.is_dealer else ''}",
        f"  {place.points} points",
    ]
    room = WIDTH - _LEFT - _LABEL
    melds = [_meld(table, slot, meld, reader) for meld in place.melds]
    rows = [
        ("hand", joined(_hand(place, reader), room, "  ")),
        ("melds", joined(melds, room, ", ")),
        ("flowers", joined((reader.tiles([kind]) for kind in place.flowers), room)),
        ("discards", joined((reader.tiles([kind]) for kind in place.river), room) or ["-"]),
        ("counted", joined((f"{name.replace('_', ' ')} {value}" for name, value in place.counters), room, ", ")),
    ]
    right = [
        padded("" if number else label, _LABEL) + line for label, lines in rows for number, line in enumerate(lines)
    ]
    return [
        (padded(one, _LEFT) + other).rstrip() if columns(one) < _LEFT else f"{one} {other}"
        for one, other in zip_longest(left, right, fillvalue="")
    ]


def _hand(place: Place, reader: Reader) -> list[str]:
    if HIDDEN in place.hand:
        return [f"{len(place.hand) + (place.drawn is not None)} tiles"]
    drawn = [f"drew {reader.tiles([place.drawn])}"] if place.drawn is not None else []
    return [reader.tiles(place.hand), *drawn]


def _meld(table: Table, slot: int, meld: ShownMeld, reader: Reader) -> str:
    """A meld in notation, with the person whose discard made it, and of a chow which tile that was."""
    kind = max(meld.tiles)
    if kind == HIDDEN:
        return "kong hidden"
    giver = table.giver_of(slot, meld)
    text = str(Meld(meld.type, min(meld.tiles) if meld.type is MeldType.CHOW else kind, -1 if giver is None else giver))
    if reader.unicode:
        verb, _, rest = text.partition(" ")
        kinds = meld.tiles if meld.type is MeldType.CHOW else [kind] * len(meld.tiles)
        text = f"{verb} {reader.tiles(kinds)}{''.join(rest.partition('@')[1:])}"
    return f"{text} ({reader.tiles([meld.claimed])})" if meld.type is MeldType.CHOW else text


def _absent(engine: Engine, game: int) -> list[tuple[int, int]]:
    present = engine.state.person_at[game].tolist()
    points = engine.state.points[game].tolist()
    return [(person, points[person]) for person in range(engine.num_people) if person not in present]


def _question(engine: Engine, game: int, reader: Reader) -> str:
    """What the game waits for; what may be answered is known to the seat that is asked alone."""
    state, persons = engine.state, engine.state.person_at[game].tolist()
    if int(state.phase[game]) == Phase.OVER:
        return "the match is over"
    actor = persons[int(state.actor[game])]
    if reader.person not in (None, actor):
        return "it is not your turn"
    offered, giver = int(state.offered[game]), int(state.offered_by[game])
    text = ""
    if offered >= 0 and giver != NO_SEAT:
        adds = state.phase[game] == Phase.ROB
        does = reader.does(persons[giver], "add" if adds else "have")
        text = f"{does}{'' if adds else ' discarded'} {reader.tiles([offered])}; "
    legal = legal_text(np.flatnonzero(state.mask[game]), reader.unicode)
    return f"{text}{reader.name(actor)} may {legal}"
