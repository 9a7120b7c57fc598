"""Hebei (docs/rules/hebei.md).

Doubts, and what is done here:

* `dealer_streak` has no effect on points; under the rotation it counts the hands for which the *seat* has
  kept the deal, since "the deal belongs to the seat".
* `any_single_wait`: the wait is judged by shape alone (sets and a pair, seven pairs, thirteen orphans), not
  by whether the Ping Hu rule would let that tile be won on.
* Where several rows of the seven-pairs family tie, the first in the order of the table is listed.
* Between readings that the cap makes equal, the one worth more before the cap is listed.
"""

from math import prod

from .hands import is_complete, is_seven_pairs, is_thirteen_orphans, quads
from .situation import Verdict, not_legal, paid_to
from .tiles import KINDS, is_honour, suits_in
from .variant import Variant, all_tiles, runs_in

# hebei.md#scoring-table; the third row is printed as a second "Double" (hebei.md#double-luxurious-stands-twice)
LUXURIOUS = {
    1: ("Luxurious Seven Pairs", 8),
    2: ("Double Luxurious Seven Pairs", 16),
    3: ("Triple Luxurious Seven Pairs", 32),
}


class Hebei(Variant):
    name = "hebei"
    knob_defaults = {  # noqa: RUF012
        "base_score": 1,
        "initial_points": 50,
        "players": 3,
        "rotation": False,
        "all_pungs": 3,
        "cap": None,
        "single_hanging": "four_melds_out",
        "discard_payers": "discarder",
        "closed_hand_on_discard": True,
        "dealer_on_draw": "stay",
    }

    def __init__(self, knobs=None):
        super().__init__(knobs)
        self.seats = self.knobs["players"]

    @property
    def people(self):
        return 4 if self.knobs["rotation"] else self.seats

    def reserve(self):
        return 12  # hebei.md#the-wall

    def swap_sitter(self, table, winner):
        """hebei.md#rotation: the person who wins leaves his seat to the one who sat out; after a draw nobody."""
        if self.knobs["rotation"] and winner is not None:
            (sitter,) = set(range(self.people)) - set(table.person_of)
            table.person_of[winner] = sitter

    def kong_payments(self, table, seat, meld_type, from_seat):
        """hebei.md#kongs-are-paid-at-once, not scaled by `base_score`."""
        if meld_type == "exposed kong":
            return {from_seat: 2}
        each = 2 if meld_type == "concealed kong" else 1
        return {other: each for other in range(self.seats) if other != seat}

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        best = []  # (product, rows) of every reading
        every = list(self.pattern_rows_of_each_reading(situation))
        for patterns in every:
            if not patterns and not situation.self_drawn:
                continue  # hebei.md#ping-hu: a Ping Hu is won by self-draw only
            rows = patterns or [("Ping Hu", 1)]
            if situation.seat == situation.dealer:
                rows = [("Dealer Win", 2), *rows]
            best.append((prod(value for _, value in rows), rows))
        if not best:
            return not_legal(situation, "a ping hu wins by self-draw only" if every else "not complete")
        highest = max(product for product, _ in best)
        tied = [rows for product, rows in best if product == highest]
        cap = self.knobs["cap"]
        points = self.knobs["base_score"] * (highest if cap is None else min(cap, highest))
        return Verdict(True, tied[0], points, self.payments(situation, points), tied_rows=tied)

    def payments(self, situation, points):
        """hebei.md#who-pays; `discard_payers=all` does not touch a robbed kong."""
        everyone = situation.source == "draw" or (
            situation.source == "discard" and self.knobs["discard_payers"] == "all"
        )
        payers = situation.others if everyone else [situation.from_seat]
        return paid_to(situation, dict.fromkeys(payers, points))

    def pattern_rows_of_each_reading(self, situation):
        """For each way to read the hand, its pattern rows: all rows but Dealer Win (hebei.md#ping-hu)."""
        if not self.completes(situation, situation.winning_tile):
            return
        anyhow = self.rows_of_any_shape(situation)
        for reading in self.standard_readings(situation):
            yield anyhow + self.standard_rows(situation, reading)
        if not situation.melds and is_seven_pairs(situation.concealed):
            for rows in self.seven_pairs_rows(situation.concealed):
                yield anyhow + rows
        if not situation.melds and is_thirteen_orphans(situation.concealed):
            yield [*anyhow, ("Thirteen Orphans", 10)]

    def rows_of_any_shape(self, situation):
        rows = []
        if not situation.open_melds and (situation.self_drawn or self.knobs["closed_hand_on_discard"]):
            rows.append(("Closed Hand", 2))
        if situation.source == "kong":
            rows.append(("Robbing a Kong", 2))
        if situation.self_drawn and situation.kong_draws > 0:
            rows.append(("Kong-Drawn Win", 2))  # once, however many kongs (hebei.md#kong-drawn-win)
        if self.is_single_hanging(situation):
            rows.append(("Single Hanging Tile", 2))
        return rows

    def is_single_hanging(self, situation):
        if self.knobs["single_hanging"] == "four_melds_out":
            return len(situation.melds) == 4  # concealed kongs included (hebei.md#single-hanging-tile)
        held = situation.hand + [tile for meld in situation.melds for tile in meld.tiles]
        waits = [kind for kind in KINDS if held.count(kind) < 4 and self.completes(situation, kind)]
        return len(waits) == 1

    def completes(self, situation, tile):
        tiles = [*situation.hand, tile]
        if situation.melds:
            return is_complete(tiles, 0, 4 - len(situation.melds))
        return is_complete(tiles, 0, 4) or is_seven_pairs(tiles) or is_thirteen_orphans(tiles)

    def standard_rows(self, situation, reading):
        rows = []
        runs = runs_in(reading, situation.melds)
        if not runs:
            rows.append(("All Pungs", self.knobs["all_pungs"]))
        rows += suit_rows(all_tiles(reading, situation.melds))
        if any(
            {(f"1{s}", f"2{s}", f"3{s}"), (f"4{s}", f"5{s}", f"6{s}"), (f"7{s}", f"8{s}", f"9{s}")} <= set(runs)
            for s in "mps"
        ):
            rows.append(("One Dragon", 2))
        if any(
            {(f"1{a}", f"2{a}", f"3{a}"), (f"4{b}", f"5{b}", f"6{b}"), (f"7{c}", f"8{c}", f"9{c}")} <= set(runs)
            for a in "mps"
            for b in "mps"
            for c in "mps"
            if len({a, b, c}) == 3
        ):
            rows.append(("Flower Dragon", 5))
        return rows

    def seven_pairs_rows(self, tiles):
        """hebei.md#the-seven-pairs-family: each of the choices; the best is taken with the rest of the rows."""
        suit = suit_rows(tiles)
        four_alike = quads(tiles)
        choices = []
        if four_alike:
            choices.append([LUXURIOUS[four_alike], *suit])
        if suit == [("Pure One Suit", 3)]:
            choices.append([("Pure Seven Pairs", 5)])
        if suit == [("Mixed One Suit", 2)]:
            choices.append([("Mixed Seven Pairs", 4)])
        choices.append([("Seven Pairs", 2)])
        return choices


def suit_rows(tiles):
    """A hand of honours only has no suit row (hebei.md#mixed-one-suit)."""
    if len(suits_in(tiles)) != 1:
        return []
    return [("Mixed One Suit", 2)] if any(is_honour(tile) for tile in tiles) else [("Pure One Suit", 3)]
