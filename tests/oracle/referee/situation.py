"""A win described in full (`Situation`), what a variant says about it (`Verdict`), and text."""

import re
from collections import Counter

from .tiles import FLOWERS, HONOURS, KINDS, SEASONS, is_flower_or_season, one_tile_from, tiles_from


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
        self.round_wind = "1z"
        self.house_wind = None
        self.running_points = None
        unknown = facts.keys() - vars(self).keys()
        if unknown:
            raise ValueError(f"unknown argument {min(unknown)!r}")
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


def meld_from(text, owner, seats):
    """A meld from "chow 123s@3", "pung 444p@2", "kong 1111s@2", "kong 1111s+@2" or "kong 1111s"."""
    match = re.fullmatch(r"\s*(chow|pung|kong)\s+(\S+?)(\+?)(?:@(\d))?\s*", text)
    if match is None:
        raise ValueError(f"cannot read the meld {text!r}")
    word, tile_text, plus, from_text = match.groups()
    tiles = tiles_from(tile_text)
    from_seat = None if from_text is None else int(from_text)
    if word == "chow":
        ranks = sorted(int(tile[0]) for tile in tiles if tile[1] in "mps")
        if len({tile[1] for tile in tiles}) != 1 or len(ranks) != 3 or ranks != list(range(ranks[0], ranks[0] + 3)):
            raise ValueError(f"not a chow: {text!r}")
    elif len(set(tiles)) != 1 or len(tiles) != (3 if word == "pung" else 4):
        raise ValueError(f"not a {word}: the wrong tiles in {text!r}")
    if (from_seat is None and (word != "kong" or plus)) or (plus and word != "kong"):
        raise ValueError(f"a {word} is claimed from a seat: {text!r}")
    if from_seat is not None:
        if from_seat >= seats or from_seat == owner:
            raise ValueError(f"a meld is claimed from another seat, not from itself or from nobody: {text!r}")
        if word == "chow" and from_seat != (owner - 1) % seats:
            raise ValueError(f"a chow is claimed from the seat on the left: {text!r}")
    if word != "kong":
        return Meld(word, tiles, from_seat)
    if from_seat is None:
        return Meld("concealed kong", tiles)
    return Meld("added kong" if plus else "exposed kong", tiles, from_seat)


def situation_from_text(
    variant, *, hand="", melds=(), other_melds=None, winning_tile=None, wild=None, flowers="", **facts
):
    """A Situation from the arguments of `score`; ValueError for what cannot be."""
    seats = variant.seats
    seat = facts.get("seat", 0)
    if not 0 <= seat < seats or not 0 <= facts.get("dealer", 0) < seats:
        raise ValueError(f"seats are 0 to {seats - 1}")
    situation = Situation(
        seats,
        hand=tiles_from(hand),
        melds=[meld_from(text, seat, seats) for text in melds],
        other_melds={
            int(other): [meld_from(text, int(other), seats) for text in texts]
            for other, texts in (other_melds or {}).items()
        },
        winning_tile=None if winning_tile is None else one_tile_from(winning_tile),
        wild=None if wild is None else one_tile_from(wild),
        flowers=tiles_from(flowers),
        **facts,
    )
    situation.wild = variant.fixed_wild or situation.wild
    check_possible(variant, situation)
    return situation


def check_possible(variant, situation):
    """ValueError when the described hand contradicts itself or the variant."""
    for name, neutral in variant.unknown_facts.items():
        if getattr(situation, name) != neutral:
            raise ValueError(f"{variant.name} does not know the argument {name!r}")
    if situation.source not in ("draw", "discard", "kong", "flowers"):
        raise ValueError(f"unknown source {situation.source!r}")
    if situation.source == "flowers" and not variant.eight_flowers_win:
        raise ValueError(f"{variant.name} does not know the source 'flowers'")
    if situation.source in ("discard", "kong"):
        if situation.from_seat is None or situation.from_seat == situation.seat:
            raise ValueError("from_seat must name another seat for a discard or a robbed kong")
        if not 0 <= situation.from_seat < situation.seats:
            raise ValueError(f"from_seat is 0 to {situation.seats - 1}")
    elif situation.from_seat is not None:
        raise ValueError("from_seat is for a discard or a robbed kong")
    if situation.source != "flowers":
        if situation.winning_tile is None:
            raise ValueError("winning_tile is missing")
        expected = 3 * (variant.sets - len(situation.melds)) + 1
        if len(situation.hand) != expected:
            raise ValueError(f"wrong number of tiles: {expected} in hand expected, not {len(situation.hand)}")
    check_counts(variant, situation)


def check_counts(variant, situation):
    """ValueError for a fifth tile, a second flower, a tile where it cannot be, a wild tile in a meld."""
    held = list(situation.hand) + [situation.winning_tile] * (situation.winning_tile is not None)
    for tile in held:
        if tile in variant.flower_kinds or is_flower_or_season(tile):
            raise ValueError(f"{tile} cannot be among the tiles of a hand")
    for meld in situation.melds + [meld for melds in situation.other_melds.values() for meld in melds]:
        if situation.wild in meld.tiles and not variant.may_declare_wild_kong(meld):
            raise ValueError("a wild tile cannot be in a meld")
        if any(tile in variant.flower_kinds for tile in meld.tiles):
            raise ValueError("a flower cannot be in a meld")
        held += meld.tiles
    check_robbed_kong(situation, held)
    for tile in situation.flowers:
        if tile not in variant.flower_kinds:
            raise ValueError(f"{tile} is no flower in {variant.name}")
    counts = Counter(held + situation.flowers)
    limits = dict.fromkeys(KINDS, 4) | dict.fromkeys(FLOWERS + SEASONS, 1)
    if situation.wild is not None:
        if situation.wild not in KINDS or (variant.honours_are_flowers and situation.wild in HONOURS):
            raise ValueError(f"{situation.wild} cannot be wild")
        limits[situation.wild] = variant.live_wilds(situation)
    for tile, count in counts.items():
        if count > limits[tile]:
            raise ValueError(f"a fifth tile: {count} of {tile}, at most {limits[tile]} can be there")


def check_robbed_kong(situation, held):
    """ValueError when a robbed kong would have a fifth tile: the robbed player has three, the winner the fourth."""
    if situation.source != "kong":
        return
    robbed = [meld for meld in situation.other_melds.get(situation.from_seat, []) if meld.type == "pung"]
    accounted = 1 + sum(meld.tiles.count(situation.winning_tile) for meld in robbed)
    if held.count(situation.winning_tile) > accounted:
        raise ValueError(f"the robbed kong has the three other {situation.winning_tile}: nobody else can have one")
