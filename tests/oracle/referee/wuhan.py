"""Wuhan (docs/rules/wuhan.md).

Doubts, and what is done here:

* Which reading: the one worth most before the cap (so that it also decides who is liable, wuhan.md#the-cap); between
  equals the one that brings the winner more, then one with Pure One Suit. The last can matter only for who
  is liable, when a pair of wild tiles may as well be honours (Mixed One Suit) as tiles of the suit (Pure
  One Suit).
* A declared Wild Card Kong is a kong of its own kind in every row and is used as itself (Hard).
* Wild Card Seven Pairs takes the rows about what the tiles are: Pure One Suit and Mixed One Suit may take the
  wild tiles as any suit; for All Honors and Terminals Only they are the tiles that they are. The four wilds
  stay Hard.
* Full Demand and the responsibility for it need a discard; a self-drawn Full Demand is paid by all three.
* `dealer_streak` counts the hands for which the dealer has kept the deal, under every `dealer_rule`.
"""

from collections import Counter
from fractions import Fraction
from math import ceil, prod

from .situation import Verdict, not_legal, paid_to
from .tiles import RED, WINDS, is_honour, is_terminal, suits_in
from .variant import (
    Variant,
    all_tiles,
    next_wind,
    runs_in,
    set_kinds,
    split_pair,
)

LARGE = 10  # base points of each Large row (wuhan.md#large-rows)


class Wuhan(Variant):
    name = "wuhan"
    has_indicator = True
    knob_defaults = {  # noqa: RUF012
        "initial_points": 500,
        "cap": 500,
        "discard_payers": "all",
        "dealer_rule": "retain_else_next",
        "wild_kong_multiplier": 2,
        "wild_hand_discard_win": True,
        "red_indicator": "white",
    }

    # --- the match and the deal -------------------------------------------------------------------

    def next_dealer(self, table, winner):
        """wuhan.md#who-deals-next and the knob `dealer_rule` (wuhan.md#three-rules-for-the-next-dealer)."""
        dealer, rule = table.dealer_seat, self.knobs["dealer_rule"]
        after = (dealer + 1) % 4
        if rule == "always_next":
            return after
        if rule == "winner_becomes":
            return after if winner is None else winner
        if winner is None:
            return dealer if rule == "retain_on_draw" else after
        return dealer if winner == dealer else after

    def next_round_wind(self, table):
        """wuhan.md#the-round-wind: every four hands, also when the dealer stays."""
        return next_wind(table.round_wind) if table.hands_played % 4 == 0 else table.round_wind

    def wild_from(self, indicator):
        """The successor; E S W N White Green in a circle; Red is not in it (wuhan.md#red-turned-up).

        wuhan.md#which-tile-is-wild.
        """
        if indicator == RED:
            return {"white": "5z", "green": "6z"}[self.knobs["red_indicator"]]
        rank, suit = int(indicator[0]), indicator[1]
        return f"{rank % (6 if suit == 'z' else 9) + 1}{suit}"

    # --- play -------------------------------------------------------------------------------------

    def may_meld(self, table, kind):
        return kind not in (table.wild, RED)  # wuhan.md#what-a-wild-tile-may-do, wuhan.md#red-dragons

    def may_conceal_kong(self, table, kind):
        # wuhan.md#claiming-reds-for-big-three-dragons; four wilds are a kong: wuhan.md#kongs-with-wild-tiles
        return kind != RED

    def may_answer(self, table, seat, tile):
        # wuhan.md#what-a-wild-tile-may-do, wuhan.md#red-dragons: claimed by nobody, also not to win
        return tile not in (table.wild, RED)

    def extra_facts(self, table, seat, tile):
        return {"red_discards": table.players[seat].thrown.count(RED)}

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        refusal = self.refusal(situation)
        if refusal:
            return not_legal(situation, refusal)
        open_hand = bool(situation.open_melds)  # wuhan.md#an-open-meld; seven pairs are exempt
        candidates = [
            candidate
            for reading in (self.standard_readings(situation) if open_hand else [])
            if (candidate := self.judge_reading(situation, reading)) is not None
        ]
        if self.is_wild_seven_pairs(situation):
            candidates += [self.judge_wild_seven_pairs(situation, suit) for suit in (None, "m", "p", "s")]
        if not candidates:
            return not_legal(
                situation, "not complete, or no 2, 5 or 8 pair, too many wild tiles, a red or no open meld"
            )
        best = max(self.preference(situation, rows) for rows in candidates)[:2]
        tied = sorted(
            (rows for rows in candidates if self.preference(situation, rows)[:2] == best),
            key=lambda rows: self.preference(situation, rows),
            reverse=True,
        )
        rows = tied[0]
        return Verdict(
            True,
            shown(rows),
            self.capped(rows),
            self.payments(situation, rows),
            tied_rows=[shown(r) for r in tied],
        )

    def preference(self, situation, rows):
        names = [name for name, _, _ in rows]
        return (self.value(rows), self.payments(situation, rows)[situation.seat], "Pure One Suit" in names)

    def refusal(self, situation):
        """Why the winning tile may not be won on, or None."""
        if situation.self_drawn:
            return None
        if situation.winning_tile in (situation.wild, RED):
            # wuhan.md#what-a-wild-tile-may-do, wuhan.md#red-dragons
            return "a discarded wild tile or red dragon cannot be claimed"
        if not self.knobs["wild_hand_discard_win"] and situation.wild in situation.hand:
            return "a hand with a wild tile wins by self-draw only"  # wuhan.md#wild-tiles-and-winning-by-discard
        return None

    def judge_reading(self, situation, reading):
        """All rows of a reading as sets and a pair; None where it may not win (wuhan.md#a-hand-that-may-win)."""
        large = self.large_rows(situation, reading)
        names = [name for name, _, _ in large]
        _, pair = split_pair(reading)
        if not large:
            if pair.tiles[0] not in [f"{rank}{suit}" for rank in "258" for suit in "mps"]:
                return None  # wuhan.md#the-pair-of-2-5-or-8
            if situation.concealed.count(situation.wild) > 1:
                return None  # wuhan.md#one-wild-tile-at-most: counted as held, a declared Wild Card Kong not included
            large = [("Flat Hand", 1, "base")]
        if RED in situation.concealed and "Big Three Dragons" not in names:
            return None  # wuhan.md#no-red-dragon-in-hand
        jokers = [kind for group in reading for kind, joker in zip(group.tiles, group.jokers, strict=True) if joker]
        is_hard = all(kind == situation.wild for kind in jokers)
        return large + self.factors(situation, is_hard)

    def large_rows(self, situation, reading):
        """wuhan.md#large-rows, each satisfied row (wuhan.md#rows-that-imply-each-other)."""
        melds, source = situation.melds, situation.source
        tiles = all_tiles(reading, melds)
        triplets = set_kinds(reading, melds)
        rows = [] if runs_in(reading, melds) else ["All Triplets"]
        rows += composition_rows(tiles)
        if len(situation.open_melds) == 4:
            rows.append("Full Demand")  # four open melds, one tile in hand (wuhan.md#full-demand-and-concealed-kongs)
        if source == "draw" and situation.last_tile:
            rows.append("Fishing the Bottom")
        if source == "draw" and situation.kong_draws > 0:
            rows.append("Kong Bloom")
        if source == "kong":
            rows.append("Robbing a Kong")
        if {"5z", "6z", "7z"} <= triplets:
            rows.append("Big Three Dragons")
        if set(WINDS) <= triplets:
            rows.append("Big Four Winds")
        return [(row, LARGE, "base") for row in rows]

    def is_wild_seven_pairs(self, situation):
        """No melds: the four wilds and five natural pairs; four alike are two pairs.

        wuhan.md#wild-card-seven-pairs.
        """
        plain, wilds = situation.without_wilds(situation.concealed)
        is_paired = all(count % 2 == 0 for count in Counter(plain).values())
        return not situation.melds and wilds == 4 and is_paired and RED not in plain

    def judge_wild_seven_pairs(self, situation, wilds_taken_as):
        """Rows with the wild tiles as a suit, or as themselves (None)."""
        rows = ["Wild Card Seven Pairs"]
        if wilds_taken_as is None:
            rows += composition_rows(situation.concealed)
        else:
            plain, _ = situation.without_wilds(situation.concealed)
            suits = suits_in(plain) | {wilds_taken_as}
            if len(suits) == 1:
                rows.append("Mixed One Suit" if any(is_honour(tile) for tile in plain) else "Pure One Suit")
            if all(is_terminal(tile) for tile in situation.concealed):
                rows.append("Terminals Only")
        if situation.self_drawn and situation.last_tile:
            rows.append("Fishing the Bottom")
        if situation.source == "kong":
            rows.append("Robbing a Kong")
        # wuhan.md#is-wild-card-seven-pairs-hard
        return [(row, LARGE, "base") for row in rows] + self.factors(situation, is_hard=True)

    def factors(self, situation, is_hard):
        """wuhan.md#factors."""
        rows = [("Open Mouth", 2, "factor") for _ in situation.open_melds]
        if situation.seat == situation.dealer:
            rows.append(("Dealer", 2, "factor"))
        if situation.self_drawn:
            rows.append(("Self-Draw", Fraction(3, 2), "factor"))
        rows.append(("Hard Win", 2, "factor") if is_hard else ("Soft Win", 1, "factor"))
        for meld in situation.melds:
            if meld.type == "exposed kong":
                rows.append(("Exposed Kong", 2, "factor"))
            elif meld.type == "added kong":
                rows.append(("Added Kong", 2, "factor"))
            elif meld.type == "concealed kong" and situation.wild in meld.tiles:
                rows.append(("Wild Card Kong", self.knobs["wild_kong_multiplier"], "factor"))
            elif meld.type == "concealed kong":
                rows.append(("Concealed Kong", 4, "factor"))
        return rows + [("Red Dragon", 2, "factor") for _ in range(situation.red_discards)]

    def value(self, rows):
        """Base points times factors, before rounding and the cap (wuhan.md#the-cap)."""
        base = sum(value for _, value, use in rows if use == "base")
        return base * prod((value for _, value, use in rows if use == "factor"), start=Fraction(1))

    def capped(self, rows):
        points, cap = ceil(self.value(rows)), self.knobs["cap"]
        return points if cap is None else min(cap, points)

    def payments(self, situation, rows):
        """wuhan.md#who-pays, and Full Responsibility: one payer for all three shares (wuhan.md#full-responsibility)."""
        points = self.capped(rows)
        liable = self.liable_seat(situation, [name for name, _, _ in rows])
        if liable is not None:
            return paid_to(situation, {liable: 3 * points})
        if situation.source == "discard" and self.knobs["discard_payers"] == "discarder":
            return paid_to(situation, {situation.from_seat: points})
        return paid_to(situation, dict.fromkeys(situation.others, points))

    def liable_seat(self, situation, names):
        """wuhan.md#full-responsibility, in the order Pure One Suit, Robbing, Full Demand."""
        claimed = [meld for meld in situation.melds if meld.from_seat is not None]
        if "Pure One Suit" in names and len(claimed) >= 3:
            return claimed[2].from_seat
        if situation.source == "kong":
            return situation.from_seat
        if "Full Demand" in names and situation.source == "discard":
            return situation.from_seat
        return None


def composition_rows(tiles):
    """The Large rows about what the tiles are; the suit rows exclude each other (wuhan.md#large-rows)."""
    rows, honours = [], [tile for tile in tiles if is_honour(tile)]
    if len(suits_in(tiles)) == 1:
        rows.append("Mixed One Suit" if honours else "Pure One Suit")
    if not suits_in(tiles):
        rows.append("All Honors")
    if all(is_terminal(tile) for tile in tiles):
        rows.append("Terminals Only")  # from any suits (wuhan.md#terminals-only-from-a-single-suit)
    return rows


def shown(rows):
    """(name, value) with plain numbers."""
    return [(name, 1.5 if value == Fraction(3, 2) else int(value)) for name, value, _ in rows]
