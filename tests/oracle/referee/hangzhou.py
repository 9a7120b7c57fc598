"""Hangzhou (docs/rules/hangzhou.md).

Doubts, and what is done here:

* `match_end="points"` goes on until its own condition, at most 200 hands, whatever `num_hands` is; such a
  match is more than one hand, so the floor applies in it.
* Of two shapes worth the same, sets and a pair is listed.
* `lao_dice` makes the hand 3 Lao for the points and for who may win on a discard; the dealer's own streak
  goes on from what it was.
* After a discard that ends his gambit, a gambiter counts as out of it at once: the discard is free for all
  whom no other gambit locks (hangzhou.md#who-may-claim-the-tile-that-ends-a-gambit).
"""

from collections import Counter
from math import prod

from .hands import divides, is_complete, is_only_pairs, is_seven_pairs, quads
from .situation import Verdict, not_legal, paid_to
from .tiles import in_order
from .variant import Variant

DEALER_FACTOR = {1: 2, 2: 4, 3: 8}  # by Lao (hangzhou.md#who-pays)
LONGEST_POINTS_MATCH = 200


class Hangzhou(Variant):
    name = "hangzhou"
    knob_defaults = {  # noqa: RUF012
        "base_score": 1,
        "fortune": "indicator",
        "cap": None,
        "initial_points": 50,
        "points_floor": True,
        "lao_dice": False,
        "dealer_loss": "double",
        "discard_payment": "own_share",
        "kong_capture": "gated",
        "match_end": "hands",
    }

    # --- the match and the deal -------------------------------------------------------------------

    @property
    def fixed_wild(self):
        return "5z" if self.knobs["fortune"] == "white" else None

    @property
    def has_indicator(self):
        return self.knobs["fortune"] == "indicator"

    def wild_from(self, indicator):
        return indicator  # hangzhou.md#fortunes: its three other copies

    def reserve(self):
        return 19 if self.has_indicator else 20  # hangzhou.md#the-wall; the indicator is the twentieth dead tile

    def next_dealer(self, table, winner):
        return table.dealer_seat if winner is None else winner  # hangzhou.md#the-dealer

    def is_match_over(self, table, winner, dealer):
        """hangzhou.md#the-end-of-a-match."""
        if self.knobs["match_end"] == "hands":
            return table.hands_played >= table.num_hands
        someone_is_out = min(table.points) <= 0
        return (winner != dealer and someone_is_out) or table.hands_played >= LONGEST_POINTS_MATCH

    # --- play -------------------------------------------------------------------------------------

    def gambit(self, table, seat):
        """How many fortunes the seat has discarded in a row up to now; above 0 it is in a gambit.

        hangzhou.md#fortune-gambit-the-play.
        """
        count = 0
        for tile in reversed(table.players[seat].thrown):
            if tile != table.wild:
                break
            count += 1
        return count

    def may_answer(self, table, seat, tile):
        """A gambiter is never asked; a gambit locks all who are not in one themselves.

        hangzhou.md#fortune-gambit-the-play.
        """
        if tile == table.wild:
            return False
        return not any(self.gambit(table, other) for other in range(4))

    def restricted_turn(self, table, seat, options):
        """A gambiter wins, declares a concealed kong, or discards the tile just drawn.

        hangzhou.md#fortune-gambit-the-play.
        """
        if not self.gambit(table, seat):
            return options
        allowed = {"win", f"discard {table.drawn}"}
        return {o for o in options if o in allowed or o.startswith("concealed kong")}

    def extra_facts(self, table, seat, tile):
        floor = table.floor_applies or self.knobs["match_end"] == "points"
        by_dice = table.lao_dice and self.knobs["lao_dice"]
        return {
            "gambits": self.gambit(table, seat),
            "dealer_streak": max(table.streak, 2) if by_dice else table.streak,
            "running_points": [table.points[person] for person in table.person_of] if floor else None,
        }

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        refusal = self.refusal(situation)
        if refusal:
            return not_legal(situation, refusal)
        shapes = []
        plain, fortunes = situation.without_wilds(situation.concealed)
        if is_complete(plain, fortunes, 4 - len(situation.melds)):
            shapes.append(self.standard_rows(situation))
        if not situation.melds and is_seven_pairs(plain, fortunes):
            shapes.append(self.seven_pairs_rows(situation))
        if not shapes:
            return not_legal(situation, "not complete")
        points = max(prod(value for _, value in rows) for rows in shapes)
        tied = [rows for rows in shapes if prod(value for _, value in rows) == points]
        return Verdict(True, tied[0], points, self.payments(situation, points), tied_rows=tied)

    def lao(self, situation):
        return min(3, situation.dealer_streak + 1)  # hangzhou.md#the-dealer

    def refusal(self, situation):
        """hangzhou.md#how-a-win-may-be-made; why this win may not be made in this way, or None."""
        if situation.self_drawn:
            return None
        if situation.winning_tile == situation.wild:
            return "a discarded fortune cannot be claimed"  # hangzhou.md#winning-on-a-discarded-fortune
        if situation.source == "kong" and self.knobs["kong_capture"] == "always":
            return None
        if self.lao(situation) < 3:
            return "below 3 Lao only self-draw wins"
        if situation.dealer not in (situation.seat, situation.from_seat):
            return "a non-dealer never wins on a non-dealer: self-draw only"
        return None

    def standard_rows(self, situation):
        plain, fortunes = situation.without_wilds(situation.hand)
        rest_is_complete = fortunes > 0 and divides(tuple(in_order(plain)), fortunes - 1, 4 - len(situation.melds), 0)
        return self.common_rows(situation, rest_is_complete)

    def seven_pairs_rows(self, situation):
        """A fortune pairs any tile, four alike are natural tiles only (hangzhou.md#luxury-pairs).

        hangzhou.md#scoring-table.
        """
        plain, fortunes = situation.without_wilds(situation.hand)
        rest_is_complete = fortunes > 0 and is_only_pairs(plain, fortunes - 1, 6)
        rows = [*self.common_rows(situation, rest_is_complete), ("Seven Pairs", 2)]
        if situation.wild not in situation.concealed:
            rows.append(("Pure Seven Pairs", 2))
        natural, _ = situation.without_wilds(situation.concealed)
        return rows + [("Luxury Pairs", 2)] * min(3, quads(natural))

    def common_rows(self, situation, rest_is_complete):
        """Base and what the last draw earns; Explosive Kong and Kong Gambit are only products.

        hangzhou.md#scoring-table.
        """
        rows = [("Base Score", self.knobs["base_score"])]
        if situation.self_drawn:
            if rest_is_complete:
                rows.append(("Explosive Pair", 2))  # one fortune set aside, the rest complete before the draw
            rows += [("Fortune Gambit", 2)] * min(4, situation.gambits)
            rows += [("Kong Blossom", 2)] * situation.kong_draws
        return rows

    # --- payment ----------------------------------------------------------------------------------

    def payments(self, situation, points):
        owed = self.shares(situation, points)
        penalised = self.penalised_seats(situation)
        if penalised:
            total = sum(owed.values())
            # hangzhou.md#three-meld-penalty; replaces a captured kong's payment
            owed = dict.fromkeys(penalised, 2 * total)
        if situation.running_points is not None and self.knobs["points_floor"]:
            owed = {payer: min(debt, max(0, situation.running_points[payer])) for payer, debt in owed.items()}
        return paid_to(situation, owed)  # hangzhou.md#nobody-pays-more-than-he-has: the shortfall is the winner's loss

    def shares(self, situation, points):
        """{payer: points} before penalties (hangzhou.md#who-pays, hangzhou.md#kong-capture, hangzhou.md#the-cap)."""
        share = {seat: self.share(situation, points, seat) for seat in situation.others}
        if situation.self_drawn:
            return share
        pays_all = situation.source == "kong" or self.knobs["discard_payment"] == "all_shares"
        return {situation.from_seat: sum(share.values()) if pays_all else share[situation.from_seat]}

    def share(self, situation, points, payer):
        """What one payer owes; the dealer's doubling as a loser is for self-draws only.

        hangzhou.md#a-discarding-dealer.
        """
        factor, by_lao = 1, DEALER_FACTOR[self.lao(situation)]
        if situation.seat == situation.dealer:
            factor = by_lao
        elif payer == situation.dealer and situation.self_drawn:
            factor = 2 if self.knobs["dealer_loss"] == "double" else by_lao
        cap = self.knobs["cap"]
        return points * factor if cap is None else min(cap, points * factor)

    def penalised_seats(self, situation):
        """Three Meld Penalty, plain and reverse (hangzhou.md#three-meld-penalty): those who each pay twice the sum."""
        gave_three = {
            seat for seat, count in claimed_from(situation.melds).items() if count >= 3 and seat != situation.seat
        }
        took_three = {seat for seat, melds in situation.other_melds.items() if claimed_from(melds)[situation.seat] >= 3}
        return sorted(gave_three | took_three)


def claimed_from(melds):
    """Melds claimed from each seat; a pung made a kong is still one, concealed kongs are none.

    hangzhou.md#what-counts-as-a-claimed-meld.
    """
    return Counter(meld.from_seat for meld in melds if meld.from_seat is not None)
