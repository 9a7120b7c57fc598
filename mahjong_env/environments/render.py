"""The table as text: for spectators with all hands open, or as one person sees it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.errors import RenderModeError
from mahjong_env.basics.notation import Meld, MeldType, format_tiles
from mahjong_env.basics.tiles import GLYPHS, KIND_NAMES, NUM_ALL_KINDS
from mahjong_env.drawing.picture import table_svg
from mahjong_env.drawing.raster import pixels
from mahjong_env.drawing.table import WINDS, event_text, person_name, read_table
from mahjong_env.engine.batch import Engine
from mahjong_env.state.arrays import NO_SEAT, Phase

_HOW = {
    "draw": "with {tile}, drawn",
    "discard": "with {tile}, discarded by {giver}",
    "kong": "with {tile}, robbed from {giver's} kong",
    "flowers": "by flowers",
}


@dataclass(frozen=True)
class Reader:
    """For whom a text is written.

    Attributes:
        person: who is called "you", and whose tiles alone are shown where a text hides any; None: a spectator.
        unicode: tiles as Unicode characters instead of notation ("123m").
    """

    person: int | None = None
    unicode: bool = False

    def name(self, person: int) -> str:
        """A person: "player_0", or "you"."""
        return "you" if person == self.person else person_name(person)

    def names(self, person: int) -> str:
        """Whose something is: "player_0's", or "your"."""
        return "your" if person == self.person else f"{person_name(person)}'s"

    def verb(self, person: int, verb: str) -> str:
        """What somebody does: "discards", "passes", "has"; or "discard", where it is "you" who does it."""
        return verb if person == self.person else {"have": "has", "pass": "passes"}.get(verb, f"{verb}s")

    def does(self, person: int, verb: str) -> str:
        """Somebody does something: "player_0 discards", or "you discard"."""
        return f"{self.name(person)} {self.verb(person, verb)}"

    def tiles(self, kinds: Iterable[int]) -> str:
        """Tiles in the given order; "-" for none."""
        return tiles_text(kinds, self.unicode)


def check_render_mode(mode: str | None, valid: Sequence[str]) -> None:
    """Raise `RenderModeError` if a render mode is not None and not among the valid ones."""
    if mode is not None and not (isinstance(mode, str) and mode in valid):
        raise RenderModeError(f"render_mode={mode!r} is not valid; valid are {', '.join(map(repr, valid))} and None")


def warn_without_render_mode() -> None:
    """What environments say when they are asked to render without a mode."""
    warnings.warn(
        'render() shows nothing without a render mode: give render_mode="ansi", "rgb_array" or "human"', stacklevel=4
    )


RENDER_MODES: Final = ("ansi", "rgb_array", "human")
"""What environments of one game can render: text, pixels, and text that is printed."""
RENDER_FPS: Final = 2
"""Frames a second that a person can follow."""
_PICTURE_WIDTH: Final = 750


def render_game(
    engine: Engine, game: int, mode: str | None, outcome: Mapping[str, Any] | None
) -> str | NDArray[np.uint8] | None:
    """What `render` of an environment gives, all hands open.

    Args:
        engine: the games.
        game: which one.
        mode: one of `RENDER_MODES`, or None.
        outcome: the hand that has just ended, if any (see `hand_info.hand_info`).

    Returns:
        Text for "ansi"; [804, 750, 3] uint8 for "rgb_array"; None for "human", which prints the text, and for None,
        which warns.

    Raises:
        MissingExtraError: "rgb_array" without the extra `render`.
    """
    if mode is None:
        warn_without_render_mode()
        return None
    if mode == "rgb_array":
        return pixels(table_svg(read_table(engine, game), event=event_text(outcome)), _PICTURE_WIDTH)
    text = table_text(engine, game, outcome=outcome)
    if mode == "human":
        print(text)
        return None
    return text


def table_text(
    engine: Engine,
    game: int = 0,
    *,
    person: int | None = None,
    unicode: bool = False,
    outcome: Mapping[str, Any] | None = None,
) -> str:
    """One game of an engine as text.

    Args:
        engine: the games.
        game: which one.
        person: through whose eyes: he is called "you", and the others' tiles and hidden kongs are not shown; None:
            everything is.
        unicode: tiles as Unicode characters instead of notation ("123m").
        outcome: the hand that has just ended, if any (see `hand_info.hand_info`): its result comes first.

    Returns:
        Several lines without a newline at the end.
    """
    reader = Reader(person, unicode)
    drawing = _Drawing(engine, game, reader)
    lines = [] if outcome is None else outcome_text(outcome, reader).splitlines()
    lines.append(drawing.headline())
    for seat in range(engine.num_seats):
        lines += drawing.seat_lines(seat)
    lines += [f"{reader.does(absent, 'sit')} out  {drawing.points(absent)}" for absent in drawing.absent()]
    lines.append(drawing.question())
    return "\n".join(lines)


def outcome_text(outcome: Mapping[str, Any], reader: Reader | None = None) -> str:
    """How a hand ended: who won by what, the rows scored, payments and points.

    Args:
        outcome: see `hand_info.hand_info`.
        reader: for whom; None: for spectators.
    """
    reader = reader or Reader()
    if outcome["winner"] < 0:
        first = ["the hand is drawn: nobody wins"]
    else:
        giver = outcome["from_seat"]
        known = {"tile": reader.tiles([outcome["tile"]]), "giver": reader.name(giver), "giver's": reader.names(giver)}
        how = _HOW[outcome["source"]].format(**known)
        first = [
            f"{reader.does(outcome['winner'], 'win')} {how}: {outcome['value']}",
            f"    rows      {rows_text(outcome['rows'])}",
        ]
    payments = ", ".join(f"{reader.name(person)} {paid:+d}" for person, paid in enumerate(outcome["payments"]))
    points = ", ".join(f"{reader.name(person)} {held}" for person, held in enumerate(outcome["points"]))
    return "\n".join([*first, f"    payments  {payments}", f"    points    {points}"])


def rows_text(rows: Iterable[tuple[str, int]]) -> str:
    """Scored rows with their values, as in "Closed Hand 2, Pure One Suit 3"."""
    return ", ".join(f"{name} {value}" for name, value in rows)


def tiles_text(kinds: Iterable[int], unicode: bool = False) -> str:
    """Tiles in the given order, in notation ("123m 55z") or as Unicode characters; "-" for none, -1 is none."""
    listed = [int(kind) for kind in kinds if kind >= 0]
    if not listed:
        return "-"
    if unicode:
        return " ".join(GLYPHS[kind] for kind in listed)
    return re.sub(r"(?<=[mpsz])(?=\d)|(?<=\w)(?=[FS])", " ", format_tiles(listed))


def legal_text(numbers: Iterable[int], unicode: bool = False) -> str:
    """Legal actions in words, those with a tile gathered, as in "discard 1m 55p; concealed kong 5p; win"."""
    gathered: dict[str, list[int]] = {}
    for number in numbers:
        verb, _, kind = ACTIONS[number].rpartition(" ")
        if kind in KIND_NAMES:
            gathered.setdefault(verb, []).append(KIND_NAMES.index(kind))
        else:
            gathered[ACTIONS[number]] = []
    return "; ".join(f"{verb} {tiles_text(kinds, unicode)}" if kinds else verb for verb, kinds in gathered.items())


def meld_text(engine: Engine, game: int, seat: int, place: int, unicode: bool = False) -> str:
    """One open meld of a table seat, as in "chow 123s@3 (2s)": claimed from person 3, who had discarded 2s."""
    return _Drawing(engine, game, Reader(unicode=unicode)).meld(seat, place)


class _Drawing:
    """One game, read for drawing."""

    def __init__(self, engine: Engine, game: int, reader: Reader) -> None:
        self.engine, self.state, self.rules = engine, engine.state, engine.rules
        self.game, self.reader, self.tiles = game, reader, reader.tiles
        self.persons = self.state.person_at[game].tolist()
        self.is_over = int(self.state.phase[game]) == Phase.OVER

    def sees(self, seat: int) -> bool:
        """Whether the tiles of a seat are shown."""
        return self.reader.person in (None, self.persons[seat])

    def absent(self) -> list[int]:
        return [person for person in range(self.engine.num_people) if person not in self.persons]

    def points(self, person: int) -> str:
        return f"{self.state.points[self.game, person]} points"

    def headline(self) -> str:
        state, game = self.state, self.game
        hand = int(state.hand_in_match[game]) + 1
        of = f" of {self.engine.num_hands}" if self.rules.ends_by_hands else ""
        left = int(state.left(np.array([game]))[0])
        facts = [f"hand {hand}{of}", f"{WINDS[state.round_wind[game]]} round", f"{left} tiles left"]
        if state.streak[game]:
            facts.append(f"dealer's streak {state.streak[game]}")
        if state.dice[game]:
            facts.append(f"dice {state.dice[game]}")
        if state.wild[game] >= 0:
            facts.append(f"wild {self.tiles([state.wild[game]])}")
        if state.indicator[game] >= 0:
            facts.append(f"turned up {self.tiles([state.indicator[game]])}")
        return f"{self.rules.title}: {', '.join(facts)}"

    def seat_lines(self, seat: int) -> list[str]:
        state, game = self.state, self.game
        head = [self.reader.name(self.persons[seat]), WINDS[state.house_wind[game, seat]]]
        if state.dealer[game] == seat:
            head.append("dealer")
        head.append(self.points(self.persons[seat]))
        marks = zip(self.rules.marks, state.marks[game, seat].tolist(), strict=True)
        head += [f"{name} {value}" for name, value in marks if value]
        lines = ["  ".join(head), f"    hand      {self.hand(seat)}"]
        melds = [self.meld(seat, place) for place in range(int(state.num_melds[game, seat]))]
        if melds:
            lines.append(f"    melds     {', '.join(melds)}")
        flowers = np.repeat(np.arange(NUM_ALL_KINDS), state.flowers[game, seat])
        if flowers.size:
            lines.append(f"    flowers   {self.tiles(flowers)}")
        lines.append(f"    discards  {self.tiles(state.lying_discards(game, seat))}")
        return lines

    def hand(self, seat: int) -> str:
        counts = self.state.hand[self.game, seat].copy()
        if not self.sees(seat):
            return f"{counts.sum()} tiles"
        drawn = int(self.state.drawn[self.game])
        has_drawn = drawn >= 0 and self.state.turn[self.game] == seat and not self.is_over
        if has_drawn:
            counts[drawn] -= 1
        text = self.tiles(np.repeat(np.arange(len(counts)), counts))
        return f"{text}  drew {self.tiles([drawn])}" if has_drawn else text

    def meld(self, seat: int, place: int) -> str:
        at = self.game, seat, place
        kind = MeldType(int(self.state.meld_type[at]))
        is_shown = self.sees(seat) or self.is_over or not self.rules.hides_concealed_kongs
        if kind is MeldType.CONCEALED_KONG and not is_shown:
            return "kong hidden"
        giver = int(self.state.meld_from[at])
        meld = Meld(kind, int(self.state.meld_kind[at]), -1 if giver < 0 else self.persons[giver])
        text = str(meld)
        if self.reader.unicode:
            verb, _, rest = text.partition(" ")
            text = f"{verb} {self.tiles(meld.tiles)}{''.join(rest.partition('@')[1:])}"
        return f"{text} ({self.tiles([self.state.meld_claimed[at]])})" if kind is MeldType.CHOW else text

    def question(self) -> str:
        """What the game waits for; what may be answered is known to the seat that is asked alone."""
        state, game = self.state, self.game
        if self.is_over:
            return "the match is over"
        offered, giver = int(state.offered[game]), int(state.offered_by[game])
        text = ""
        if offered >= 0 and giver != NO_SEAT:
            adds = state.phase[game] == Phase.ROB
            does = self.reader.does(self.persons[giver], "add" if adds else "have")
            text = f"{does}{'' if adds else ' discarded'} {self.tiles([offered])}; "
        actor = int(state.actor[game])
        if not self.sees(actor):
            in_turn = state.phase[game] == Phase.TURN
            return f"{text}{person_name(self.persons[actor])} is to act" if in_turn else f"{text}claims are asked"
        legal = legal_text(np.flatnonzero(state.mask[game]), self.reader.unicode)
        return f"{text}{self.reader.name(self.persons[actor])} may {legal}"
