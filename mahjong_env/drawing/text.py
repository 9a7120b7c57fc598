"""Games in words: tiles, actions, events and results, and the table as text of 80 columns.

Every text is written for a `Reader`, a spectator or one person at the table. Chinese characters take two columns.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.notation import Meld, MeldType, format_tiles
from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES, NUM_KINDS
from mahjong_env.drawing.table import (
    HIDDEN,
    PRIVATE_WALL,
    WINDS,
    Place,
    ShownMeld,
    Table,
    person_name,
    read_table,
    seen_table,
)
from mahjong_env.drawing.tiles import tile_name
from mahjong_env.engine.batch import Engine
from mahjong_env.observation.view import View
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.receipt import Group, Receipt, rows_text
from mahjong_env.state.arrays import Event, Phase

# The colours of the suits (m, p, s), honours, flowers and seasons, as SGR numbers; wild tiles have a red background.
_COLOURS: Final = {"m": "31", "p": "36", "s": "32", "z": "33", "F": "35", "S": "35"}
_WILD: Final = "\x1b[1;97;41m{}\x1b[0m"
_TILES: Final = re.compile(r"(?<![\w.:])(?:(?P<ranks>[1-9]+)(?P<suit>[mpsz])|(?P<flower>[FS])[1-4])(?![\w.])")
_GLYPH: Final = re.compile(f"[{GLYPHS[27]}-{chr(ord(GLYPHS[27]) + 41)}]")
_YOU: Final = re.compile(r"^you\b|(?<=; )you\b|(?<=^> )\w+|(?<=^  )you\b", re.MULTILINE)


def columns(text: str) -> int:
    """Return the number of columns that a text takes: two for a Chinese character, none for a combining one."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(map(bool, map(unicodedata.combining, text)))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, "1 tile" or "2 tiles"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def padded(text: str, width: int) -> str:
    """Return a line padded with spaces to a number of columns."""
    return text + " " * (width - columns(text))


def joined(parts: Iterable[str], width: int, between: str = " ") -> list[str]:
    """Join parts into as many lines as they need; a part wider than a line is broken, at its spaces if it has any."""
    lines: list[str] = []
    for part in parts:
        if lines and columns(lines[-1] + between + part) <= width:
            lines[-1] += between + part
            continue
        if lines:
            lines[-1] += between.rstrip()
        if columns(part) <= width:
            lines.append(part)
        elif " " in part:
            lines += joined(part.split(), width)
        else:
            lines.append("")
            for character in part:
                if lines[-1] and columns(lines[-1] + character) > width:
                    lines.append("")
                lines[-1] += character
    return lines


def folded(text: str, width: int) -> list[str]:
    """Return a line unchanged if it fits, else broken at its spaces, with later lines indented by four columns."""
    if columns(text) <= width:
        return [text]
    margin = " " * (len(text) - len(text.lstrip()))
    first, *others = joined(text.split(), width - len(margin) - 4)
    return [margin + first, *(f"{margin}    {line}" for line in others)]


def has_colour() -> bool:
    """Return whether to write colours: only to a terminal that has them, and not with NO_COLOR (https://no-color.org).

    FORCE_COLOR asks for colours elsewhere, too.
    """
    if sys.stdout is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def paint(text: str, wild: int = -1) -> str:
    """Return a text with tiles in the colours of their suits, and with "you" and the player to act in bold.

    Args:
        text: any lines.
        wild: the wild kind, whose tiles stand out; -1 for none.
    """
    wild_name = KIND_NAMES[wild] if wild >= 0 else ""

    def coloured(match: re.Match[str]) -> str:
        colour = f"\x1b[{_COLOURS[match['suit'] or match['flower']]}m"
        if not wild_name or match["suit"] != wild_name[1]:
            return f"{colour}{match[0]}\x1b[0m"
        runs = re.findall(f"{wild_name[0]}+|[^{wild_name[0]}]+", match["ranks"])
        painted = [_WILD.format(run) if run[0] == wild_name[0] else f"{colour}{run}\x1b[0m" for run in runs]
        return f"{''.join(painted)}{colour}{match['suit']}\x1b[0m"

    def coloured_glyph(match: re.Match[str]) -> str:
        kind = GLYPHS.index(match[0])
        name = KIND_NAMES[kind]
        colour = _COLOURS.get(name[0], _COLOURS.get(name[1], ""))
        return _WILD.format(match[0]) if kind == wild else f"\x1b[{colour}m{match[0]}\x1b[0m"

    bold = _YOU.sub(lambda match: f"\x1b[1m{match[0]}\x1b[0m", text)
    return _GLYPH.sub(coloured_glyph, _TILES.sub(coloured, bold))


WIDTH: Final = 80
"""The number of columns of a table."""

_HOW = {
    "draw": "with {tile}, drawn",
    "discard": "with {tile}, discarded by {giver}",
    "kong": "with {tile}, robbed from {giver's} kong",
    "flowers": "by flowers",
}


@dataclass(frozen=True)
class Reader:
    """The reader for whom a text is written.

    Attributes:
        person: the person who is called "you", and whose tiles are the only ones shown in texts that hide any; None for
            a spectator.
        unicode: whether tiles are Unicode characters instead of notation ("123m").
        width: the number of columns of a table.
    """

    person: int | None = None
    unicode: bool = False
    width: int = WIDTH

    def name(self, person: int) -> str:
        """Return the name of a person: "player_0", or "you"."""
        return "you" if person == self.person else person_name(person)

    def names(self, person: int) -> str:
        """Return the possessive of a person: "player_0's", or "your"."""
        return "your" if person == self.person else f"{person_name(person)}'s"

    def verb(self, person: int, verb: str) -> str:
        """Return the form of a verb for a person: "discards", "passes", "has", or "discard" for "you"."""
        return verb if person == self.person else {"have": "has", "pass": "passes"}.get(verb, f"{verb}s")

    def does(self, person: int, verb: str) -> str:
        """Return a person with a verb: "player_0 discards", or "you discard"."""
        return f"{self.name(person)} {self.verb(person, verb)}"

    def tiles(self, kinds: Iterable[int]) -> str:
        """Return tiles in the given order; "-" for none."""
        return tiles_text(kinds, self.unicode)

    def deed(self, event: int, person: int, kind: int, detail: int = -1, giver: int = -1) -> str:
        """Return what a person has done, to follow the name: "discards 5m", "claims 5m from you: pung 555m@0".

        Args:
            event: a discard, a meld or a flower, as the first number of `View.events`.
            person: the person who has done it.
            kind: as in `View.events`.
            detail: as in `View.events`.
            giver: the person who gave the tile of a meld, -1 for nobody.
        """
        tile, source = self.tiles([kind]), f" from {self.name(giver)}" if giver >= 0 and detail >= 0 else ""
        if event == Event.DISCARD:
            return f"{self.verb(person, 'discard')} {tile}"
        if event == Event.FLOWER:
            return f"{self.verb(person, 'lay')} open {tile}"
        if event == Event.CONCEALED_KONG:
            return f"{self.verb(person, 'declare')} a concealed kong{f' of {tile}' if kind >= 0 else ''}"
        if event == Event.ADDED_KONG:
            return f"{self.verb(person, 'add')} {tile}{source} to {'your' if person == self.person else 'the'} pung"
        meld = _meld_text(Meld(MeldType(event), kind, giver), self)
        return f"{self.verb(person, 'claim')} {self.tiles([detail])}{source}: {meld}"


def outcome_text(
    outcome: Mapping[str, Any],
    reader: Reader | None = None,
    rules: Rules | None = None,
    receipt: Receipt | None = None,
) -> str:
    """Return the end of a hand as text: the winner, the winning tile, the rows scored, payments and points.

    Args:
        outcome: the result of the hand, from `mahjong_env.engine.outcome.hand_info`.
        reader: the reader; None for spectators.
        rules: the rules by which it was played; with them, rows have their Chinese names, too.
        receipt: the receipt of the win; with it, the text has the hand by its sets, and how the points add up.
    """
    reader = reader or Reader()
    if outcome["winner"] < 0:
        first = ["the hand is drawn: nobody wins"]
    else:
        giver = outcome["from_seat"]
        known = {"tile": reader.tiles([outcome["tile"]]), "giver": reader.name(giver), "giver's": reader.names(giver)}
        how = _HOW[outcome["source"]].format(**known)
        hand = groups_text(receipt.groups, reader.unicode) if receipt is not None else ""
        worth = receipt.formula[0] if receipt is not None else ""
        first = [
            f"{reader.does(outcome['winner'], 'win')} {how}: {outcome['value']}",
            *([f"    hand      {hand}"] if hand else []),
            f"    rows      {rows_text(outcome['rows'], chinese_names(rules) if rules is not None else None)}",
            *([f"    worth     {worth}"] if worth else []),
        ]
    shares = (
        [share for share, _ in receipt.shares]
        if receipt is not None and receipt.shares
        else [""] * len(outcome["payments"])
    )
    payments = ", ".join(
        f"{reader.name(person)} {paid:+d}{f' ({share})' if share and paid else ''}"
        for person, (paid, share) in enumerate(zip(outcome["payments"], shares, strict=True))
    )
    points = ", ".join(f"{reader.name(person)} {held}" for person, held in enumerate(outcome["points"]))
    return "\n".join([*first, f"    payments  {payments}", f"    points    {points}"])


def kong_text(paid: Sequence[int], reader: Reader) -> str:
    """Return in one line of text what is paid at once for a kong.

    Args:
        paid: [P] the points that each person receives or, below 0, pays.
        reader: the reader.
    """
    told = (f"{reader.name(person)} {amount:+d}" for person, amount in enumerate(paid) if amount)
    return f"paid at once for the kong: {', '.join(told)}"


def event_text(outcome: Mapping[str, Any] | None) -> str:
    """Return the end of the last hand in one line, for `table_svg`; empty if none has ended."""
    if outcome is None:
        return ""
    paid = ", ".join(f"{amount:+d}" for amount in outcome["payments"])
    return f"{outcome_text(outcome).splitlines()[0]} ({paid})"


def standings(points: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the standings, the best first: (place from 1, person, points); equal points share a place."""
    order = sorted(range(len(points)), key=lambda person: -points[person])
    return [(1 + sum(other > points[person] for other in points), person, points[person]) for person in order]


def standings_text(points: Sequence[int], reader: Reader) -> str:
    """Return the standings in one line of text."""
    told = (f"{place}. {reader.name(person)} {held}" for place, person, held in standings(points))
    return f"final standings: {', '.join(told)}"


def chinese_names(rules: Rules) -> dict[str, str]:
    """Return the Chinese name of each row of the scoring table, by its name; empty for rows that have none."""
    return {row.name: row.chinese.split(" ")[0] for row in rules.rows}


def marks_in_words(rules: Rules) -> dict[str, tuple[str, str]]:
    """Return the words, in English and Chinese, for each counter of the seats (`table.Place.counters`), by name."""
    words = {item.name: item.words for item in rules.circumstances if item.is_mark and item.words[0]}
    return words | {PRIVATE_WALL: ("left in the wall", "牌墙余张")} if rules.has_private_walls else words


def tiles_text(kinds: Iterable[int], unicode: bool = False) -> str:
    """Return tiles in the given order, in notation ("123m 55z") or as Unicode characters; "-" for none, -1 is none."""
    listed = [int(kind) for kind in kinds if kind >= 0]
    if not listed:
        return "-"
    if unicode:
        return " ".join(GLYPHS[kind] for kind in listed)
    return re.sub(r"(?<=[mpsz])(?=\d)|(?<=\w)(?=[FS])", " ", format_tiles(listed))


def groups_text(groups: Iterable[Group], unicode: bool = False) -> str:
    """Return a winning hand by its sets, with the winning tile behind a plus: "123m 13p+2p 55s"."""
    return "  ".join("+".join(tiles_text(kinds, unicode) for kinds in group.parts) for group in groups)


def legal_text(numbers: Iterable[int], unicode: bool = False) -> str:
    """Return legal actions in words, with tiles gathered by verb: "discard 1m 55p; concealed kong 5p; win"."""
    gathered: dict[str, list[int]] = {}
    for number in numbers:
        verb, _, kind = ACTIONS[number].rpartition(" ")
        if kind in KIND_NAMES:
            gathered.setdefault(verb, []).append(KIND_NAMES.index(kind))
        else:
            gathered[ACTIONS[number]] = []
    return "; ".join(f"{verb} {tiles_text(kinds, unicode)}" if kinds else verb for verb, kinds in gathered.items())


Deed = tuple[int, int, int, int, int]
"""The arguments of `Reader.deed`."""
_DEEDS: Final = (Event.DISCARD, Event.FLOWER, *map(int, list(MeldType)[1:]))


def deeds(view: View) -> list[Deed]:
    """Return what all have seen of the hand in a view of one row: discards, melds and flowers in order."""
    persons = [*view.person[0].tolist(), -1]  # slot -1 stands for nobody
    listed = view.events[0][np.isin(view.events[0, :, 0], _DEEDS)].tolist()
    return [(event, persons[slot], kind, detail, persons[giver]) for event, slot, kind, detail, giver in listed]


def last_event(engine: Engine, game: int = 0, reader: Reader | None = None) -> str:
    """Return the last action that all could see, and what has been drawn since then, in one line.

    Args:
        engine: the games.
        game: the number of the game.
        reader: a spectator, or the person who is to act; nobody else may see what has been drawn.

    Returns:
        For example "player_1 discards 5m; player_2 draws 9s"; empty when the match is over.
    """
    state, reader = engine.state, reader or Reader()
    if state.phase[game] == Phase.OVER:
        return ""
    told = "the hand has been dealt"
    if done := [deed for deed in deeds(engine.view([game])) if deed[0] != Event.FLOWER]:
        told = f"{reader.name(done[-1][1])} {reader.deed(*done[-1])}"
    drawn = int(state.drawn[game])
    if state.phase[game] != Phase.TURN or drawn < 0:
        return told
    drawer = reader.does(int(engine.seat_to_act[game]), "draw")
    after_flower = " in place of a flower" if state.flower_draw[game] else ""
    where = " from the end of the wall" if state.kong_draws[game] else after_flower
    return f"{told}; {drawer} {reader.tiles([drawn])}{where}"


_LEFT, _LABEL, _NARROW = 22, 9, 60
_WINDS_IN_CHINESE: Final = dict(zip(WINDS, "东南西北", strict=True))


def table_text(
    engine: Engine,
    game: int = 0,
    *,
    person: int | None = None,
    unicode: bool = False,
    outcome: Mapping[str, Any] | None = None,
    receipt: Receipt | None = None,
    colour: bool = False,
    width: int = WIDTH,
) -> str:
    """Return one game of an engine as text.

    Args:
        engine: the games.
        game: the number of the game.
        person: the person who reads it: this person is called "you", and the others' tiles and hidden kongs are not
            shown. None shows everything.
        unicode: whether tiles are Unicode characters instead of notation ("123m").
        outcome: the hand that has just ended, if any (`mahjong_env.engine.outcome.hand_info`); its result comes first.
        receipt: the receipt of that hand, which tells how its points add up.
        colour: whether to write colours, as ANSI sequences.
        width: the number of columns; in a narrow table, the names of the players are above the tiles, not beside them.

    Returns:
        Several lines of at most ``width`` columns without a newline at the end.
    """
    reader = Reader(person, unicode, width)
    table = read_table(engine, game) if person is None else seen_table(engine.view([game], seats=person))
    lines = [] if outcome is None else outcome_text(outcome, reader, engine.rules, receipt).splitlines()
    seat = int(engine.state.actor[game])
    actor = int(engine.state.person_at[game, seat]) if seat >= 0 else None
    is_told = actor is not None and person in (None, actor)
    lines += _lines(table, reader, last_event(engine, game, reader) if is_told else "")
    lines.append(_question(table, reader, actor, np.flatnonzero(engine.state.mask[game])))
    text = "\n".join(part for line in lines for part in folded(line, width))
    return paint(text, table.wild) if colour else text


def _lines(table: Table, reader: Reader, event: str = "") -> Iterator[str]:
    """Yield the lines of a table from its headline up to the question that it waits for."""
    rule = "-" * reader.width  # box drawings take two columns on some Chinese terminals
    yield from _headlines(table, reader)
    if event:
        yield f"last: {event}"
    yield rule
    for slot, place in enumerate(table.places):
        if place is not None:
            yield from _side(table, slot, place, reader)
    for name, points in table.sits_out:
        is_you = reader.person is not None and name == person_name(reader.person)
        yield f"{'you sit' if is_you else f'{name} sits'} out  {counted(points, 'point')}"
    yield rule


def seat_text(view: View, row: int = 0) -> str:
    """Return what one seat of a view sees, written for the person who sits there; nothing else is read.

    Returns:
        The table as in `table_text`, what has happened in this hand, and the seat's own tiles in words.
    """
    view = view.take([row])
    you = int(view.own_person[0])
    reader, table, done = Reader(you), seen_table(view), deeds(view)
    # Laying a flower open is not a choice, so that it does not count as a move.
    own = max(
        (number for number, (event, who, *_) in enumerate(done, 1) if who == you and event != Event.FLOWER), default=0
    )
    told = [
        f"{reader.name(who)} {reader.deed(event, who, kind, detail, giver)}"
        f"{' (just drawn)' if event == Event.DISCARD and detail == 1 else ''}"
        for event, who, kind, detail, giver in done
    ]
    parts = (("up to your last move", told[:own]), ("since then" if own else "so far", told[own:]))
    lines = [part for line in _lines(table, reader) for part in folded(line, WIDTH)]
    lines += [f"{when}: {'; '.join(some)}" for when, some in parts if some]
    held = np.repeat(np.arange(NUM_KINDS), view.hand[0])
    lines.append(f"your tiles in words: {', '.join(map(tile_name, held.tolist()))}")
    return "\n".join(lines)


def _headlines(table: Table, reader: Reader) -> Iterator[str]:
    of = f" of {table.num_hands}" if table.num_hands is not None else ""
    left = f"{counted(table.tiles_left, 'tile')} left"
    facts = [f"hand {table.hand_number}{of}", f"{_wind(table.round_wind)} round", left]
    facts += [" ".join(table.deal_words)] if table.deal_words[0] else []
    facts += [f"dice {table.dice}"] if table.dice else []
    facts += [f"wild {reader.tiles([table.wild])}"] if table.wild >= 0 else []
    facts += [f"turned up {reader.tiles([table.indicator])}"] if table.indicator >= 0 else []
    title = f"{table.title} {table.chinese}".rstrip()
    yield from joined([f"{title}: {facts[0]}", *facts[1:]], reader.width, ", ")


def _wind(name: str) -> str:
    return f"{name} {_WINDS_IN_CHINESE[name]}"


def _side(table: Table, slot: int, place: Place, reader: Reader) -> list[str]:
    """Return the lines of one side: the person on the left, the tiles on the right."""
    mark = "> " if table.turn == slot else "  "
    left = [
        f"{mark}{reader.name(place.person)}",
        f"  {_wind(place.wind)}{'  dealer 庄' if place.is_dealer else ''}",
        f"  {counted(place.points, 'point')}",
    ]
    is_narrow = reader.width < _NARROW
    room = reader.width - _LABEL - (2 if is_narrow else _LEFT)
    melds = [_meld(table, slot, meld, reader) for meld in place.melds]
    rows = [
        ("hand", joined(_hand(place, reader), room, "  ")),
        ("melds", joined(melds, room, ", ")),
        ("flowers", joined((reader.tiles([kind]) for kind in place.flowers), room)),
        ("discards", joined((reader.tiles([one.kind]) for one in place.river if not one.taken), room) or ["-"]),
        ("counted", joined((f"{name.replace('_', ' ')} {value}" for name, value in place.counters), room, ", ")),
    ]
    right = [
        padded("" if number else label, _LABEL) + line for label, lines in rows for number, line in enumerate(lines)
    ]
    if is_narrow:
        return [*joined([left[0], *map(str.strip, left[1:])], reader.width, "  "), *(f"  {line}" for line in right)]
    return [
        (padded(one, _LEFT) + other).rstrip() if columns(one) < _LEFT else f"{one} {other}"
        for one, other in zip_longest(left, right, fillvalue="")
    ]


def _hand(place: Place, reader: Reader) -> list[str]:
    if HIDDEN in place.hand:
        return [counted(len(place.hand) + (place.drawn is not None), "tile")]
    drawn = [f"drew {reader.tiles([place.drawn])}"] if place.drawn is not None else []
    return [reader.tiles(place.hand), *drawn]


def _meld(table: Table, slot: int, meld: ShownMeld, reader: Reader) -> str:
    """Return a meld in notation, with the person whose discard was claimed, and for a chow the claimed tile."""
    kind = max(meld.tiles)
    if kind == HIDDEN:
        return "kong hidden"
    giver = table.giver_of(slot, meld)
    is_chow = meld.type is MeldType.CHOW
    text = _meld_text(Meld(meld.type, min(meld.tiles) if is_chow else kind, -1 if giver is None else giver), reader)
    return f"{text} ({reader.tiles([meld.claimed])})" if is_chow else text


def _meld_text(meld: Meld, reader: Reader) -> str:
    verb, _, rest = str(meld).partition(" ")
    shown = reader.tiles(meld.tiles) + "".join(rest.partition("@")[1:]) if reader.unicode else rest
    return f"{verb} {shown}"


def _question(table: Table, reader: Reader, actor: int | None, legal: Iterable[int]) -> str:
    """Return the question that a game waits for; only the person who is asked, or a spectator, reads the choices."""
    if actor is None:
        return "the match is over"
    if reader.person not in (None, actor):
        return "it is not your turn"
    return f"{offer_text(table, reader)}{reader.name(actor)} may {legal_text(legal, reader.unicode)}"


def offer_text(table: Table, reader: Reader) -> str:
    """Return the tile that somebody is asked about, such as "player_1 has discarded 5m; "; empty for none."""
    offered, slot = table.offered
    giver = None if slot is None else table.places[slot]
    if offered < 0 or giver is None:
        return ""
    does = reader.does(giver.person, "add" if table.is_robbed else "have")
    return f"{does}{'' if table.is_robbed else ' discarded'} {reader.tiles([offered])}; "
