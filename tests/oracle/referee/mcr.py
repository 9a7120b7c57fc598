"""MCR, the Mahjong Competition Rules (docs/rules/mcr.md).

A reading of a hand is one division into sets; every fan that holds is written down, then what "not with" names is
struck. Nothing here is fast: the account-once principle, the waits and all six knitted straights are tried out.
"""

from itertools import combinations, pairwise, permutations
from typing import NamedTuple

from .hands import is_complete, is_seven_pairs, is_thirteen_orphans, quads, readings
from .situation import Verdict, not_legal, paid_to
from .tiles import DRAGONS, FLOWERS, HONOURS, KINDS, SEASONS, WINDS, is_honour, is_terminal, suits_in
from .variant import Variant, next_wind

POINTS = {
    **dict.fromkeys(("Big Four Winds", "Big Three Dragons", "All Green", "Nine Gates", "Four Kongs"), 88),
    **dict.fromkeys(("Seven Shifted Pairs", "Thirteen Orphans"), 88),
    **dict.fromkeys(("All Terminals", "Little Four Winds", "Little Three Dragons", "All Honors"), 64),
    **dict.fromkeys(("Four Concealed Pungs", "Pure Terminal Chows"), 64),
    **dict.fromkeys(("Quadruple Chow", "Four Pure Shifted Pungs"), 48),
    **dict.fromkeys(("Four Pure Shifted Chows", "Three Kongs", "All Terminals and Honors"), 32),
    **dict.fromkeys(("Seven Pairs", "Greater Honors and Knitted Tiles", "All Even Pungs", "Full Flush"), 24),
    **dict.fromkeys(("Pure Triple Chow", "Pure Shifted Pungs", "Upper Tiles", "Middle Tiles", "Lower Tiles"), 24),
    **dict.fromkeys(("Pure Straight", "Three-Suited Terminal Chows", "Pure Shifted Chows", "All Fives"), 16),
    **dict.fromkeys(("Triple Pung", "Three Concealed Pungs"), 16),
    **dict.fromkeys(("Lesser Honors and Knitted Tiles", "Knitted Straight", "Upper Four", "Lower Four"), 12),
    "Big Three Winds": 12,
    **dict.fromkeys(("Mixed Straight", "Reversible Tiles", "Mixed Triple Chow", "Mixed Shifted Pungs"), 8),
    **dict.fromkeys(("Chicken Hand", "Last Tile Draw", "Last Tile Claim", "Out with Replacement Tile"), 8),
    "Robbing the Kong": 8,
    **dict.fromkeys(("All Pungs", "Half Flush", "Mixed Shifted Chows", "All Types", "Melded Hand"), 6),
    **dict.fromkeys(("Two Concealed Kongs", "Two Dragon Pungs"), 6),
    "Melded and Concealed Kongs": 5,
    **dict.fromkeys(("Outside Hand", "Fully Concealed Hand", "Two Melded Kongs", "Last Tile"), 4),
    **dict.fromkeys(("Dragon Pung", "Prevalent Wind", "Seat Wind", "Concealed Hand", "All Chows"), 2),
    **dict.fromkeys(("Tile Hog", "Double Pung", "Two Concealed Pungs", "Concealed Kong", "All Simples"), 2),
    **dict.fromkeys(("Pure Double Chow", "Mixed Double Chow", "Short Straight", "Two Terminal Chows"), 1),
    **dict.fromkeys(("Pung of Terminals or Honors", "Melded Kong", "One Voided Suit", "No Honors"), 1),
    **dict.fromkeys(("Edge Wait", "Closed Wait", "Single Wait", "Self-Drawn", "Flower Tiles"), 1),
}

WAITS = ("Edge Wait", "Closed Wait", "Single Wait")
PUNG = "Pung of Terminals or Honors"
NOT_WITH = {
    "Big Four Winds": ("Big Three Winds", "All Pungs", "Prevalent Wind", "Seat Wind", PUNG),
    "Big Three Dragons": ("Two Dragon Pungs", "Dragon Pung"),
    "All Green": ("Half Flush",),
    "Nine Gates": ("Full Flush", "Concealed Hand", "No Honors"),
    "Four Kongs": ("All Pungs", *WAITS),
    "Seven Shifted Pairs": ("Seven Pairs", "Full Flush", "No Honors", "Concealed Hand"),
    "Thirteen Orphans": ("All Types", "All Terminals and Honors", "Concealed Hand"),
    "All Terminals": ("All Terminals and Honors", "All Pungs", "Outside Hand", PUNG, "Double Pung", "No Honors"),
    "Little Four Winds": ("Big Three Winds", PUNG),
    "Little Three Dragons": ("Two Dragon Pungs", "Dragon Pung"),
    "All Honors": ("All Terminals and Honors", "All Pungs", "Outside Hand", PUNG),
    "Four Concealed Pungs": ("All Pungs", "Concealed Hand"),
    "Pure Terminal Chows": ("Full Flush", "All Chows", "No Honors"),
    "Quadruple Chow": ("Tile Hog",),
    "Four Pure Shifted Pungs": ("All Pungs",),
    "All Terminals and Honors": ("All Pungs", "Outside Hand", PUNG),
    "Seven Pairs": ("Concealed Hand",),
    "Greater Honors and Knitted Tiles": ("All Types", "Concealed Hand"),
    "All Even Pungs": ("All Pungs", "All Simples", "No Honors"),
    "Full Flush": ("No Honors",),
    "Upper Tiles": ("Upper Four", "No Honors"),
    "Middle Tiles": ("All Simples", "No Honors"),
    "Lower Tiles": ("Lower Four", "No Honors"),
    "Three-Suited Terminal Chows": ("All Chows", "No Honors"),
    "All Fives": ("All Simples", "No Honors"),
    "Triple Pung": ("Double Pung",),
    "Lesser Honors and Knitted Tiles": ("All Types", "Concealed Hand"),
    "Upper Four": ("No Honors",),
    "Lower Four": ("No Honors",),
    "Reversible Tiles": ("One Voided Suit",),
    "Last Tile Draw": ("Self-Drawn",),
    "Out with Replacement Tile": ("Self-Drawn",),
    "Robbing the Kong": ("Last Tile",),
    "Melded Hand": ("Single Wait",),
    "Fully Concealed Hand": ("Self-Drawn",),
    "All Chows": ("No Honors",),
    "All Simples": ("No Honors",),
}
"""The column "not with" of the table, but for what sets say of each other: see the functions of chows, pungs, kongs."""

ALWAYS_CONCEALED = {"Nine Gates", "Seven Shifted Pairs", "Thirteen Orphans", "Four Concealed Pungs", "Seven Pairs"}
ALWAYS_CONCEALED |= {"Greater Honors and Knitted Tiles", "Lesser Honors and Knitted Tiles"}

GREEN = {"2s", "3s", "4s", "6s", "8s", "6z"}
REVERSIBLE = {f"{rank}p" for rank in "1234589"} | {f"{rank}s" for rank in "245689"} | {"5z"}
STRAIGHTS = [[f"{rank}{suit}" for suit, low in zip(suits, (1, 2, 3), strict=True) for rank in range(low, 10, 3)]
             for suits in permutations("mps")]  # fmt: skip


class Part(NamedTuple):
    """A set: a "chow" named by its lowest tile, or a "pung", which may be a kong."""

    type: str
    tile: str
    in_hand: bool = True
    is_kong: bool = False

    @property
    def tiles(self):
        rank, suit = int(self.tile[0]), self.tile[1]
        return [f"{rank + step}{suit}" for step in range(3)] if self.type == "chow" else [self.tile] * 3


class Reading(NamedTuple):
    """A hand as sets and a pair, or as one of the shapes that have none."""

    shape: str  # "plain", "knitted" (a knitted straight, a set, a pair), "pairs", "orphans", "honours and knitted"
    sets: list
    pair: str | None = None

    def of(self, type_):
        return [part for part in self.sets if part.type == type_]


class Mcr(Variant):
    name = "mcr"
    tiles = KINDS * 4 + FLOWERS + SEASONS
    flower_kinds = frozenset(FLOWERS + SEASONS)
    knob_defaults = {  # noqa: RUF012
        "minimum_points": 8,
        "base": 8,
        "mixed_kongs": 5,
        "flower_tiles": True,  # no rule depends on it: without flowers there are none to draw
        "private_walls": False,
        "flower_points": 1,
        "change_seats": False,
        "initial_points": 0,
    }

    # --- the match and the deal -------------------------------------------------------------------

    def opening(self, table):
        if table.replace_opening_flowers():
            table.open_with_dealers_last_tile()

    def next_dealer(self, table, winner):
        return (table.dealer_seat + 1) % 4  # nobody keeps the deal

    def next_round_wind(self, table):
        return next_wind(table.round_wind) if table.dealer_passes % 4 == 0 else table.round_wind

    def swap_sitter(self, table, winner):
        """The seat that deals first in each round is East; people go from seat to seat between rounds."""
        rounds, hand = divmod(table.dealer_passes, 4)
        if self.knobs["change_seats"] and hand == 0 and rounds % 4:
            east, south, west, north = ((table.dealer_seat + place) % 4 for place in range(4))
            goes_to = {east: south, south: east, west: north, north: west}
            if rounds % 4 == 2:
                goes_to = {east: west, south: north, west: south, north: east}
            before = list(table.person_of)
            for seat, to in goes_to.items():
                table.person_of[to] = before[seat]

    def extra_facts(self, table, seat, tile):
        """Last Tile: the other three lie open; what is discarded now lies open as well."""
        open_tiles = [t for p in table.players for t in p.discards]
        open_tiles += [t for p in table.players for meld in p.melds if meld.is_open for t in meld.tiles]
        if table.turn is None:
            open_tiles.remove(tile)
        return {"fourth_tile": open_tiles.count(tile) == 3}

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        every = self.every_reading(situation)
        if not every:
            return not_legal(situation, "not complete")
        choices = [self.priced(names) for reading in every for names in self.fan(situation, reading)]
        points = max(sum(value for _, value in rows) for rows in choices)
        if points < self.knobs["minimum_points"]:
            return not_legal(situation, f"worth {points} without flowers")
        flowers = self.priced(["Flower Tiles"] * len(situation.flowers))
        tied = [rows + flowers for rows in choices if sum(value for _, value in rows) == points]
        points = sum(value for _, value in tied[0])
        return Verdict(True, tied[0], points, self.payments(situation, points), tied_rows=tied)

    def priced(self, names):
        knobs = {"Melded and Concealed Kongs": "mixed_kongs", "Flower Tiles": "flower_points"}
        return [(name, self.knobs[knobs[name]] if name in knobs else POINTS[name]) for name in names]

    def payments(self, situation, points):
        """Everybody pays 8; the points are paid by all after a draw, else by the one who gave the tile."""
        owed = {}
        for payer in situation.others:
            pays_points = situation.self_drawn or payer == situation.from_seat
            owed[payer] = self.knobs["base"] + points * pays_points
        return paid_to(situation, owed)

    def every_reading(self, situation):
        melds = [
            Part(
                "chow" if meld.is_run else "pung",
                min(meld.tiles),
                in_hand=meld.type == "concealed kong",
                is_kong=meld.is_kong,
            )
            for meld in situation.melds
        ]
        tiles = situation.concealed
        every = [self.with_sets("plain", reading, melds) for reading in self.standard_readings(situation)]
        if len(melds) <= 1:
            every += [
                self.with_sets("knitted", reading, melds)
                for straight in STRAIGHTS
                if set(straight) <= set(tiles)
                for reading in readings(without(tiles, straight), 0, 1 - len(melds))
            ]
        if not melds:
            every += [Reading("pairs", [])] * is_seven_pairs(tiles)
            every += [Reading("orphans", [])] * is_thirteen_orphans(tiles)
            every += [Reading("honours and knitted", [])] * is_honours_and_knitted(tiles)
        return every

    def with_sets(self, shape, reading, melds):
        types = {"run": "chow", "triplet": "pung"}
        sets = [Part(types[group.type], group.tiles[0]) for group in reading if group.type != "pair"]
        pair = next(group.tiles[0] for group in reading if group.type == "pair")
        return Reading(shape, sets + melds, pair)

    # --- all fan of a reading ---------------------------------------------------------------------

    def fan(self, situation, reading):
        """Lists of the names that are left when what may not stand together is struck.

        Several where chows can be combined in several ways.
        """
        held = self.of_the_win(situation) + self.of_the_tiles(situation) + self.of_the_shape(situation, reading)
        held += self.of_kongs_and_hidden_pungs(situation, reading)
        held += self.of_pungs(situation, reading)
        held += self.wait(situation, reading)
        return [self.struck([*held, *chows]) for chows in chow_fan(reading)]

    def struck(self, held):
        if ALWAYS_CONCEALED & set(held):
            held = ["Self-Drawn" if name == "Fully Concealed Hand" else name for name in held]
        if "Nine Gates" in held and PUNG in held:
            held.remove(PUNG)  # one of them
        gone = {other for name in held for other in NOT_WITH.get(name, ())}
        return [name for name in held if name not in gone] or ["Chicken Hand"]

    def of_the_win(self, situation):
        """Where the tile came from."""
        names, claimed = [], situation.open_melds
        if situation.self_drawn:
            names.append("Self-Drawn" if claimed else "Fully Concealed Hand")
            names += ["Last Tile Draw"] * situation.last_tile
            names += ["Out with Replacement Tile"] * (situation.kong_draws > 0 and not situation.flower_draw)
        else:
            names += ["Concealed Hand"] * (not claimed) + ["Melded Hand"] * (len(claimed) == 4)
            names += ["Robbing the Kong"] * (situation.source == "kong")
            names += ["Last Tile Claim"] * (situation.source == "discard" and situation.last_tile)
        own_open = [tile for meld in claimed for tile in meld.tiles]
        if situation.fourth_tile or own_open.count(situation.winning_tile) == 3:
            names.append("Last Tile")
        return names

    def of_the_tiles(self, situation):
        """What the tiles are, however they are read."""
        tiles = situation.concealed + [tile for meld in situation.melds for tile in meld.tiles]
        kongs = {meld.tiles[0] for meld in situation.melds if meld.is_kong}
        kinds, suits = set(tiles), suits_in(tiles)
        ranks = {int(tile[0]) for tile in kinds if not is_honour(tile)}
        honours = {tile for tile in kinds if is_honour(tile)}
        numbered = not honours
        holds = {
            "All Green": kinds <= GREEN,
            "Reversible Tiles": kinds <= REVERSIBLE,
            "All Terminals": numbered and ranks <= {1, 9},
            "All Honors": not ranks,
            "All Terminals and Honors": honours and ranks and ranks <= {1, 9},
            "Full Flush": numbered and len(suits) == 1,
            "Half Flush": honours and len(suits) == 1,
            "Upper Tiles": numbered and ranks <= {7, 8, 9},
            "Middle Tiles": numbered and ranks <= {4, 5, 6},
            "Lower Tiles": numbered and ranks <= {1, 2, 3},
            "Upper Four": numbered and ranks <= {6, 7, 8, 9},
            "Lower Four": numbered and ranks <= {1, 2, 3, 4},
            "All Simples": numbered and not ranks & {1, 9},
            "All Types": len(suits) == 3 and honours & set(WINDS) and honours & set(DRAGONS),
            "One Voided Suit": len(suits) == 2,
            "No Honors": numbered,
        }
        hogs = quads([tile for tile in tiles if tile not in kongs])
        return [name for name, condition in holds.items() if condition] + ["Tile Hog"] * hogs

    def of_the_shape(self, situation, reading):
        tiles, names = situation.concealed, []
        if reading.shape == "orphans":
            return ["Thirteen Orphans"]
        if reading.shape == "pairs":
            ranks = sorted({int(tile[0]) for tile in tiles})
            in_a_row = len(ranks) == 7 and ranks[-1] - ranks[0] == 6
            is_shifted = in_a_row and len(suits_in(tiles)) == 1 and not any(map(is_honour, tiles))
            return ["Seven Shifted Pairs" if is_shifted else "Seven Pairs"]
        if reading.shape == "honours and knitted":
            names.append(("Greater" if set(HONOURS) <= set(tiles) else "Lesser") + " Honors and Knitted Tiles")
            return names + ["Knitted Straight"] * any(set(straight) <= set(tiles) for straight in STRAIGHTS)
        chows, pungs, pair = reading.of("chow"), reading.of("pung"), reading.pair
        names += ["All Chows"] * (not pungs and not is_honour(pair))
        if reading.shape == "knitted":
            return ["Knitted Straight", *names]
        groups = [part.tiles for part in reading.sets] + [[pair]]
        names += ["All Pungs"] * (not chows)
        names += ["All Even Pungs"] * (not chows and all(g[0][0] in "2468" and not is_honour(g[0]) for g in groups))
        names += ["Outside Hand"] * all(any(is_honour(t) or is_terminal(t) for t in group) for group in groups)
        names += ["All Fives"] * all(any(t in ("5m", "5p", "5s") for t in group) for group in groups)
        hand = situation.hand
        names += ["Nine Gates"] * (
            len(hand) == 13 and len({t[1] for t in hand}) == 1 and sorted(t[0] for t in hand) == list("1112345678999")
            and not is_honour(hand[0])
        )  # fmt: skip
        return names

    # --- pungs and kongs --------------------------------------------------------------------------

    def of_kongs_and_hidden_pungs(self, situation, reading):
        """Kongs count once, concealed pungs count once; two concealed kongs alone are not concealed pungs as well."""
        pungs = reading.of("pung")
        hidden = sum(part.in_hand for part in pungs)
        completed = Part("pung", situation.winning_tile)
        fits_chow = any(situation.winning_tile in part.tiles for part in reading.of("chow") if part.in_hand)
        if not situation.self_drawn and completed in pungs and not fits_chow:
            hidden -= 1
        kongs = [part for part in pungs if part.is_kong]
        dark = sum(part.in_hand for part in kongs)
        names = ["Four Concealed Pungs"] * (hidden == 4) + ["Three Concealed Pungs"] * (hidden == 3)
        names += ["Two Concealed Pungs"] * (hidden == 2 and (len(kongs), dark) != (2, 2))
        names += ["Four Kongs"] * (len(kongs) == 4) + ["Three Kongs"] * (len(kongs) == 3)
        if len(kongs) == 2:
            names.append(("Two Melded Kongs", "Melded and Concealed Kongs", "Two Concealed Kongs")[dark])
        elif len(kongs) == 1:
            names.append("Concealed Kong" if dark else "Melded Kong")
        return names

    def of_pungs(self, situation, reading):
        kinds = [part.tile for part in reading.of("pung")]
        return self.honour_pungs(situation, kinds, reading.pair) + rank_fan([k for k in kinds if not is_honour(k)])

    def honour_pungs(self, situation, kinds, pair):
        names = [PUNG for kind in kinds if is_terminal(kind)]
        dragons, winds = [k for k in kinds if k in DRAGONS], [k for k in kinds if k in WINDS]
        if len(dragons) == 2 and pair in DRAGONS:
            names.append("Little Three Dragons")
        elif dragons:
            names.append(("Dragon Pung", "Two Dragon Pungs", "Big Three Dragons")[len(dragons) - 1])
        if len(winds) == 4:
            names.append("Big Four Winds")
        elif len(winds) == 3:
            names.append("Little Four Winds" if pair in WINDS else "Big Three Winds")
        own = situation.house_wind or WINDS[(situation.seat - situation.dealer) % 4]
        names += ["Prevalent Wind"] * (situation.round_wind in winds) + ["Seat Wind"] * (own in winds)
        if len(winds) < 3:
            names += [PUNG for wind in winds if wind not in (situation.round_wind, own)]
        return names

    # --- waits ------------------------------------------------------------------------------------

    def wait(self, situation, reading):
        """At most one, and none unless one kind alone, by form, could complete the hand."""
        if reading.shape not in ("plain", "knitted"):
            return []
        tile, chows = situation.winning_tile, [part for part in reading.of("chow") if part.in_hand]
        if any((part.tile[0], tile) in (("1", part.tiles[2]), ("7", part.tiles[0])) for part in chows):
            found = ["Edge Wait"]
        elif any(part.tiles[1] == tile for part in chows):
            found = ["Closed Wait"]
        else:
            found = ["Single Wait"] * (reading.pair == tile)
        return found if found and self.waits_for_one(situation, reading.shape) else []

    def waits_for_one(self, situation, shape):
        hand, sets = situation.hand, 4 - len(situation.melds)
        if shape == "plain":
            kinds = [k for k in KINDS if is_complete([*hand, k], 0, sets) or (sets == 4 and is_seven_pairs([*hand, k]))]
        else:
            kinds = [k for k in KINDS if is_knitted_hand([*hand, k], sets - 3)]
        return len(kinds) == 1


# --- shapes -----------------------------------------------------------------------------------------------


def without(tiles, taken):
    """The tiles after these are taken out, each once."""
    left = list(tiles)
    for tile in taken:
        left.remove(tile)
    return left


def is_knitted_hand(tiles, sets):
    return any(set(s) <= set(tiles) and is_complete(without(tiles, s), 0, sets) for s in STRAIGHTS)


def is_honours_and_knitted(tiles):
    """Fourteen different tiles: honours, and the rest from one knitted straight."""
    numbered = {tile for tile in tiles if not is_honour(tile)}
    return len(tiles) == len(set(tiles)) == 14 and any(numbered <= set(straight) for straight in STRAIGHTS)


# --- fan of several sets ----------------------------------------------------------------------------------

TWO_CHOWS = ("Pure Double Chow", "Mixed Double Chow", "Short Straight", "Two Terminal Chows")


def in_suits(tiles):
    """(ranks in order, how many suits) of some tiles."""
    return sorted(int(tile[0]) for tile in tiles), len({tile[1] for tile in tiles})


def steps(ranks):
    return {high - low for low, high in pairwise(ranks)}


def two_chows(first, second):
    """The one fan that two chows make, or None."""
    ranks, suits = in_suits((first, second))
    distance = ranks[1] - ranks[0]
    if suits == 2:
        return "Mixed Double Chow" if distance == 0 else None
    return {0: "Pure Double Chow", 3: "Short Straight", 6: "Two Terminal Chows"}.get(distance)


def three_chows(chows):
    """The one fan that three chows make, or None."""
    ranks, suits = in_suits(chows)
    if suits == 2:
        return None
    pure, step = suits == 1, steps(ranks)
    if ranks == [1, 4, 7]:
        return "Pure Straight" if pure else "Mixed Straight"
    if step == {0}:
        return "Pure Triple Chow" if pure else "Mixed Triple Chow"
    if step == {1} or (pure and step == {2}):
        return "Pure Shifted Chows" if pure else "Mixed Shifted Chows"
    return None


def four_chows(chows, pair):
    ranks, suits = in_suits(chows)
    step = steps(ranks)
    if suits == 1 and step == {0}:
        return "Quadruple Chow"
    if suits == 1 and step in ({1}, {2}):
        return "Four Pure Shifted Chows"
    if ranks == [1, 1, 7, 7] and pair[0] == "5":
        of_each_suit = {suit: sorted(c[0] for c in chows if c[1] == suit) for suit in "mps"}
        of_each_suit[pair[1]] = [*of_each_suit.get(pair[1], []), "pair"]
        if of_each_suit[pair[1]] == ["1", "1", "7", "7", "pair"]:
            return "Pure Terminal Chows"
        if sorted(of_each_suit.values()) == [["1", "7"], ["1", "7"], ["pair"]]:
            return "Three-Suited Terminal Chows"
    return None


def chow_fan(reading):
    """Every way to combine the chows that the principles allow, as lists of names."""
    chows = [part.tile for part in reading.of("chow")]
    if len(chows) == 4:
        of_four = four_chows(chows, reading.pair)
        if of_four:
            return [[of_four]]
    ways = []
    for three in combinations(range(len(chows)), 3):
        of_three = three_chows([chows[place] for place in three])
        if of_three:
            # the fourth is combined once with one of the three
            fourth = [chow for place, chow in enumerate(chows) if place not in three]
            found = [two_chows(chow, chows[place]) for chow in fourth for place in three]
            ways.append([of_three, *[name for name in TWO_CHOWS if name in found][:1]])
    return ways or [pairs_of_chows(chows)]


def pairs_of_chows(chows):
    """The fan of two chows that may stand: each set that is added is combined once with one that is there."""
    related = [(a, b) for a, b in combinations(range(len(chows)), 2) if two_chows(chows[a], chows[b])]
    names = [two_chows(chows[a], chows[b]) for a, b in related]
    group = list(range(len(chows)))  # chows that are connected have the same number
    for a, b in related:
        group = [group[a] if number == group[b] else number for number in group]
    most = len(chows) - len(set(group))
    for fewest in (1, 0):
        for name in reversed(TWO_CHOWS):
            while len(names) > most and names.count(name) > fewest:
                names.remove(name)
    return names


def rank_fan(kinds):
    """Pungs of suits by their ranks: all four, else three and one Double Pung at most, else Double Pungs."""
    ranks, suits = in_suits(kinds)
    if len(kinds) == 4 and suits == 1 and steps(ranks) == {1}:
        return ["Four Pure Shifted Pungs"]
    doubles = sum(a[0] == b[0] for a, b in combinations(kinds, 2))
    for three in combinations(kinds, 3):
        of_three, suits = in_suits(three)
        if steps(of_three) == {0}:
            return ["Triple Pung"]
        if steps(of_three) == {1} and suits != 2:
            return ["Pure Shifted Pungs" if suits == 1 else "Mixed Shifted Pungs"] + ["Double Pung"] * min(doubles, 1)
    return ["Double Pung"] * doubles
