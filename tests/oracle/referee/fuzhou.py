"""Fuzhou (docs/rules/fuzhou.md).

Doubts, and what is done here:

* Rows listed are the rows that count: the best starred row alone, or the others (fuzhou.md#special-hands); with
  `specials=highest` the single best row.
* Blessing of Heaven is for the dealer's own seventeen tiles: a swap for the gold is not Heaven, nor is a
  win after a concealed kong in the first turn.
* The replacement of a kong, and the replacements of flowers drawn as replacements, are drawn before the
  reserve grows (fuzhou.md#the-reserve).
* A konger who has left too few tiles may declare further kongs in that turn as long as a tile is left; his
  next discard is the last.
* A wild tile may stand for any suit tile; standing for an honour could never help, since honours are
  flowers.
* The dealer may swap away a gold for the gold; between swaps of equal value the first tile in sorted order
  is given.
"""

from .hands import readings
from .records import Question
from .situation import Verdict, not_legal, paid_to
from .tiles import FLOWERS, HONOURS, KINDS, NUMBERED, SEASONS, in_order
from .variant import Variant, runs_in, split_pair


class Fuzhou(Variant):
    name = "fuzhou"
    sets = 5
    tiles = KINDS * 4 + FLOWERS + SEASONS
    flower_kinds = frozenset(FLOWERS + SEASONS + HONOURS)  # fuzhou.md#tiles-and-deal
    has_indicator = True
    knob_defaults = {  # noqa: RUF012
        "base_score": 5,
        "initial_points": 50,
        "all_sequences": 10,
        "concealed_kong": 2,
        "full_bloom": "on_top",
        "specials": "starred_or_sum",
        "discard_payers": "discarder",
        "dealer_on_draw": "next",
        "rob_kong": False,
    }

    # --- the match and the deal -------------------------------------------------------------------

    def reserve(self):
        return 17  # fuzhou.md#the-reserve: eighteen with the indicator, which is no longer in the wall

    def reserve_growth(self, meld_type):
        return 2 if meld_type == "concealed kong" else 1  # fuzhou.md#the-reserve

    def ends_after_kong(self, table):
        return table.left < 4  # fuzhou.md#when-a-kong-ends-the-hand: cannot support all players to draw

    def wild_from(self, indicator):
        if indicator in self.flower_kinds:
            raise ValueError("the last tile turned up must be a suit tile")
        return indicator

    def may_rob(self):
        return self.knobs["rob_kong"]

    def extra_facts(self, table, seat, tile):
        return {"discarded_wild": table.wild in table.players[seat].thrown}

    def opening(self, table):
        """Flowers, the gold, Heaven, the robbers, the dealer's swap, his first turn.

        fuzhou.md#flowers, fuzhou.md#the-gold, fuzhou.md#before-the-first-turn.
        """
        if not table.replace_opening_flowers():
            return
        dealer = table.players[table.dealer_seat]
        for flower in table.indicators[:-1]:
            if flower not in self.flower_kinds:
                raise ValueError("only flowers are passed over for the gold")
            dealer.flowers.append(flower)
        del table.indicators[:-1]
        dealer.draws = 1
        table.drawn = dealer.hand[-1]
        self.ask_at_the_reveal(table)

    def ask_at_the_reveal(self, table):
        """Each question has its place; a win ends the hand at once."""
        asked = []  # (seat, verdict, what to do with the tiles)
        heaven = table.judge(table.dealer_seat, "draw")
        if heaven.legal:
            asked.append((table.dealer_seat, heaven, None))
        for distance in range(1, 4):
            seat = (table.dealer_seat + distance) % 4
            verdict = table.judge(seat, "draw", table.wild, robbing_gold=True)
            if verdict.legal:
                asked.append((seat, verdict, "takes the gold"))
        swap, swapped = self.best_swap(table)
        if swap is not None:
            asked.append((table.dealer_seat, swap, swapped))

        def answered(best):
            if best is None:
                table.open_with_dealers_last_tile()
                return
            seat, verdict, what = asked[best[0][1]]
            if what is not None:
                winner = table.players[seat]
                winner.hand.append(table.indicators.pop())
                if what != "takes the gold":
                    winner.hand.remove(what)
                    table.indicators.append(what)  # it lies where the indicator lay
            table.end_with_win(seat, verdict, "draw", None)

        table.ask([Question(seat, {"win", "pass"}, 0, n) for n, (seat, _, _) in enumerate(asked)], answered)

    def best_swap(self, table):
        """(Verdict, tile given away) of the dealer's best swap for the gold; (None, None) if none."""
        seat = table.dealer_seat
        best, given = None, None
        for tile in in_order(set(table.players[seat].hand)):
            hand = list(table.players[seat].hand)
            hand.remove(tile)
            verdict = table.judge(seat, "draw", table.wild, robbing_gold=True, hand=hand)
            if verdict.legal and (best is None or verdict.points > best.points):
                best, given = verdict, tile
        return best, given

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        refusal = self.refusal(situation)
        if refusal:
            return not_legal(situation, refusal)
        every = self.readings(situation)
        if not every:
            return not_legal(situation, "not complete")
        plain_rows = self.rows_times_two(situation)
        doubled = 2 * sum(value for _, value in plain_rows)
        choices = [rows for reading in every for rows in self.special_choices(situation, reading)]
        best = max(sum(value for _, value in rows) for rows in choices)
        tied = []
        for rows in choices:
            if sum(value for _, value in rows) == best and plain_rows + rows not in tied:
                tied.append(plain_rows + rows)
        points = doubled + best
        return Verdict(True, tied[0], points, self.payments(situation, points), tied_rows=tied)

    def refusal(self, situation):
        if situation.robbing_gold and (situation.source != "draw" or situation.winning_tile != situation.wild):
            raise ValueError("robbing the gold: the winning tile is the gold, not claimed from a seat")
        if situation.source == "kong" and not self.knobs["rob_kong"]:
            return "a kong cannot be robbed"  # fuzhou.md#whether-kongs-are-robbed
        if situation.source in ("discard", "kong"):
            if situation.winning_tile == situation.wild:
                return "a discarded gold cannot be claimed"  # fuzhou.md#discarding-a-gold
            if situation.discarded_wild:
                return "who has discarded a gold wins by self-draw only"  # fuzhou.md#discarding-a-gold
        return None

    def readings(self, situation):
        """A robbed gold is its natural kind, golds in the hand are wild.

        fuzhou.md#before-the-first-turn, fuzhou.md#when-the-gold-can-be-robbed.
        """
        sets = 5 - len(situation.melds)
        if not situation.robbing_gold:
            plain, golds = situation.without_wilds(situation.concealed)
            return readings(plain, golds, sets, kinds=NUMBERED)
        plain, golds = situation.without_wilds(situation.hand)
        return readings([*plain, situation.winning_tile], golds, sets, kinds=NUMBERED)

    def rows_times_two(self, situation):
        """fuzhou.md#what-a-hand-is-worth: what stands in the bracket of the formula."""
        rows = [("Base Points", self.knobs["base_score"])]
        rows += [("Flower Points", 1) for _ in situation.flowers]
        bloom = 6 if self.knobs["full_bloom"] == "on_top" else 2
        sets_of_four = [FLOWERS, SEASONS, *([honour] * 4 for honour in HONOURS)]
        rows += [
            ("Full Bloom", bloom)
            for four in sets_of_four
            if all(situation.flowers.count(tile) >= four.count(tile) for tile in four)
        ]
        rows += [("Gold Points", 1) for _ in range(self.golds(situation))]
        if situation.seat == situation.dealer and situation.dealer_streak > 0:
            rows.append(("Dealer Continuation", situation.dealer_streak))
        for meld in situation.melds:
            if meld.is_kong:
                open_or_not = ("Open Kong", 1), ("Concealed Kong", self.knobs["concealed_kong"])
                rows.append(open_or_not[0] if meld.is_open else open_or_not[1])
        return rows

    def golds(self, situation):
        """Golds in the winning hand, a robbed one included (fuzhou.md#before-the-first-turn)."""
        return situation.concealed.count(situation.wild)

    def special_choices(self, situation, reading):
        """The special rows that may count for a reading: one starred row alone, or all others.

        fuzhou.md#special-hands.
        """
        starred, others = self.starred_rows(situation, reading), self.other_rows(situation, reading)
        if self.knobs["specials"] == "highest":
            return [[row] for row in starred + others] or [[]]
        return [[row] for row in starred] + [others]

    def starred_rows(self, situation, reading):
        sets, pair = split_pair(reading)
        rows = []
        if self.is_all_gold(situation, pair):
            rows.append(("Golden Pair", 20))
        if self.golds(situation) >= 3:
            rows.append(("Three Gold Knockdown", 30))
        if any(self.is_all_gold(situation, group) for group in sets):
            rows.append(("Golden Dragon", 40))
        return rows

    def is_all_gold(self, situation, group):
        """Whether every tile of the group is really a gold: a wild one, or the robbed one as itself."""
        return all(joker or kind == situation.wild for kind, joker in zip(group.tiles, group.jokers, strict=True))

    def other_rows(self, situation, reading):
        rows = []
        if len(runs_in(reading, situation.melds)) == 5:
            rows.append(("All Sequences", self.knobs["all_sequences"]))
        if len(situation.flowers) == 1:
            rows.append(("One Flower", 15))
        if situation.robbing_gold:
            rows.append(("Robbing the Gold", 50))
        elif situation.first_draw and situation.self_drawn and not situation.melds and not situation.kong_draws:
            if situation.seat == situation.dealer:
                rows.append(("Blessing of Heaven", 50))
            elif not situation.flower_draw:
                rows.append(("Blessing of Earth", 40))  # lost when the tile drawn was a flower to replace
        return rows

    def payments(self, situation, points):
        """fuzhou.md#who-pays; a robbed kong is paid as a discard (fuzhou.md#robbing-a-kong-a-house-rule)."""
        if situation.self_drawn or self.knobs["discard_payers"] == "all":
            return paid_to(situation, dict.fromkeys(situation.others, points))
        return paid_to(situation, {situation.from_seat: points})
