"""A win described in full (`Situation`), what a variant says about it (`Verdict`), and text."""

import re

from .tiles import tiles_from


class Meld:
    """A declared set: type, tiles, and the seat whose discard it was claimed from (None if concealed)."""

    def __init__(self, type_, tiles, from_seat=None):
        self.type = type_  # "chow", "pung", "exposed kong", "added kong", "concealed kong"
        self.tiles = list(tiles)
        self.from_seat = from_seat

    @property
    def is_open(self):
        return self.type != "concealed kong"

    @property
    def is_kong(self):
        return self.type.endswith("kong")

    @property
    def is_run(self):
        return self.type == "chow"


class Situation:
    """Everything that the worth of a win depends on. Seats are seats at the table, tiles are names.

    `hand` holds the concealed tiles without `winning_tile` (which is None only for a win by flowers).
    """

    def __init__(self, seats, **facts):
        self.seats = seats
        self.hand = []
        self.melds = []
        self.other_melds = {}
        self.winning_tile = None
        self.source = "draw"
        self.from_seat = None
        self.seat = 0
        self.dealer = 0
        self.dealer_streak = 0
        self.wild = None
        self.flowers = []
        self.kong_draws = 0
        self.flower_draw = False
        self.last_tile = False
        self.first_draw = False
        self.robbing_gold = False
        self.discarded_wild = False
        self.red_discards = 0
        self.gambits = 0
        self.fourth_tile = False
        self.round_wind = "1z"
        self.house_wind = None
        self.running_points = None
        vars(self).update(facts)

    @property
    def concealed(self):
        """The concealed tiles with the winning tile."""
        return [*self.hand, self.winning_tile]

    @property
    def self_drawn(self):
        return self.source == "draw"

    @property
    def others(self):
        return [seat for seat in range(self.seats) if seat != self.seat]

    @property
    def open_melds(self):
        return [meld for meld in self.melds if meld.is_open]

    def without_wilds(self, tiles):
        """(the tiles that are not wild, how many are)."""
        plain = [tile for tile in tiles if tile != self.wild]
        return plain, len(tiles) - len(plain)


class Verdict:
    """Whether a hand may win, and what it is then worth; unpacks as (legal, rows, points, payments).

    `tied_rows` lists every list of rows that reaches the same value (the chosen one included): where several
    readings are worth the same, any of them is right.
    """

    def __init__(self, legal, rows, points, payments, reason="", tied_rows=None):
        self.legal = legal
        self.rows = rows
        self.points = points
        self.payments = payments
        self.reason = reason
        self.tied_rows = [rows]
        for other in tied_rows or []:
            if sorted(other) not in [sorted(known) for known in self.tied_rows]:
                self.tied_rows.append(other)

    def __iter__(self):
        return iter((self.legal, self.rows, self.points, self.payments))

    def __repr__(self):
        return f"Verdict({self.legal}, {self.rows}, {self.points}, {self.payments}, {self.reason!r})"


def not_legal(situation, reason):
    return Verdict(False, [], 0, [0] * situation.seats, reason)


def paid_to(situation, owed):
    """One signed number per seat from {paying seat: what it pays the winner}; sums to zero."""
    payments = [0] * situation.seats
    for payer, amount in owed.items():
        payments[payer] -= amount
        payments[situation.seat] += amount
    return payments


def meld_from(text):
    """A meld from "chow 123s@3", "pung 444p@2", "kong 1111s@2", "kong 1111s+@2" or "kong 1111s"."""
    word, tiles, plus, from_seat = re.fullmatch(r"(chow|pung|kong) (\S+?)(\+?)(?:@(\d))?", text).groups()
    if word == "kong":
        word = "concealed kong" if from_seat is None else "added kong" if plus else "exposed kong"
    return Meld(word, tiles_from(tiles), None if from_seat is None else int(from_seat))


def situation_from_text(variant, *, hand="", melds=(), other_melds=None, winning_tile=None, wild=None, **facts):
    """A Situation from the arguments of `score`, which describe a hand that can be."""
    return Situation(
        variant.seats,
        hand=tiles_from(hand),
        melds=[meld_from(text) for text in melds],
        other_melds={int(seat): [meld_from(text) for text in texts] for seat, texts in (other_melds or {}).items()},
        winning_tile=winning_tile,
        wild=variant.fixed_wild or wild,
        **facts | {"flowers": tiles_from(facts.get("flowers", ""))},
    )
