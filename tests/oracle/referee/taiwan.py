"""Taiwanese 16-tile (docs/rules/taiwan.md).

Doubts, and what is done here:

* Eight Flowers in play: "asked in the turn in which the eighth is exposed" means that the player may win in that
  turn, having replaced the flower, until he discards; with a complete hand he wins by what is worth more tai, the
  hand if they tie. In the opening it is a question of its own, after all flowers have been replaced and the dealer
  has drawn his seventeenth tile (only one player can have all eight). A player who passes there is not asked again.
* The round wind advances after every four passes of the deal, counted from the first hand of the match,
  whoever dealt it.
* With `house_dice` unknown the dealer is East.
* Eight Flowers has one row and, `points` being without the dealer's tai, is 8 points.
* A gang made by adding a discard to an exposed pung keeps its place and the seat of its pung.
"""

from .hands import is_complete
from .situation import Verdict, not_legal, paid_to
from .tiles import DRAGONS, FLOWERS, KINDS, SEASONS, WINDS, is_honour, suits_in
from .variant import (
    Variant,
    all_tiles,
    next_wind,
    runs_in,
    set_kinds,
    split_pair,
)

HIDDEN_TRIPLES = {
    3: ("Three Hidden Triples", 2),
    4: ("Four Hidden Triples", 5),
    5: ("Five Hidden Triples", 8),
}


class Taiwan(Variant):
    name = "taiwan"
    sets = 5
    tiles = KINDS * 4 + FLOWERS + SEASONS
    flower_kinds = frozenset(FLOWERS + SEASONS)
    eight_flowers_win = True
    initial_points = 0  # taiwan.md#points
    knob_defaults = {  # noqa: RUF012
        "base_score": 3,
        "unit": 1,
        "dealer_bonus": True,
        "add_discard_to_pung": True,
        "dead_tiles": 16,
        "dealer_is_east": False,
        "strict_peaceful": False,
    }

    # --- the match and the deal -------------------------------------------------------------------

    def reserve(self):
        return self.knobs["dead_tiles"]  # taiwan.md#the-dead-tiles; replacements come from the end, so the count stays

    def next_round_wind(self, table):
        """taiwan.md#the-round-wind: after all four have lost the deal."""
        has_just_passed = table.streak == 0
        return next_wind(table.round_wind) if has_just_passed and table.dealer_passes % 4 == 0 else table.round_wind

    def opening(self, table):
        """The dealer replaces first, then to the right; then the dealer draws his seventeenth tile.

        taiwan.md#flowers.
        """
        if not table.replace_opening_flowers():
            return
        owners = [seat for seat, player in enumerate(table.players) if len(player.flowers) == 8]
        table.begin_turn(table.dealer_seat)
        if owners and not table.hand_over:  # taiwan.md#eight-flowers
            table.ask_eight_flowers(owners[0], table.ask_turn)

    def east_house(self, dealer, dice):
        """taiwan.md#house-winds, taiwan.md#who-is-east-house: the dealer counts three dice from himself as 1."""
        return dealer if dice is None or self.knobs["dealer_is_east"] else (dealer + dice - 1) % 4

    def adds_discard_to_pung(self):
        return self.knobs["add_discard_to_pung"]  # taiwan.md#adding-a-discard-to-a-pung

    def extra_facts(self, table, seat, tile):
        return {"house_wind": None if self.knobs["dealer_is_east"] else table.house_winds[seat]}

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        if situation.source == "flowers":
            if set(situation.flowers) != self.flower_kinds:
                return not_legal(situation, "not all eight flowers")
            return self.verdict(situation, [[("Eight Flowers", 8)]])  # alone (taiwan.md#eight-flowers)
        every = self.standard_readings(situation)
        if not every:
            return not_legal(situation, "not complete")
        waits_for_one = self.waits_for_one(situation)
        return self.verdict(situation, [self.rows(situation, reading, waits_for_one) for reading in every])

    def verdict(self, situation, choices):
        """The best of these lists of rows (taiwan.md#scoring-table: as many as apply)."""
        points = max(sum(value for _, value in rows) for rows in choices)
        tied = [rows for rows in choices if sum(value for _, value in rows) == points]
        return Verdict(True, tied[0], points, self.payments(situation, points), tied_rows=tied)

    def payments(self, situation, tai):
        """taiwan.md#the-dealers-tai, taiwan.md#who-pays: the dealer's tai count only between the dealer and another."""
        payers = [situation.from_seat] if situation.source in ("discard", "kong") else situation.others
        dealer_tai = 1 + 2 * situation.dealer_streak if self.knobs["dealer_bonus"] else 0
        owed = {}
        for payer in payers:
            involves_dealer = situation.dealer in (situation.seat, payer)
            owed[payer] = self.knobs["base_score"] + (tai + dealer_tai * involves_dealer) * self.knobs["unit"]
        return paid_to(situation, owed)

    def waits_for_one(self, situation):
        """Exactly one kind completes the hand; one of which he holds all four does not count.

        taiwan.md#waiting-for-one.
        """
        held = situation.hand + [tile for meld in situation.melds for tile in meld.tiles]
        sets = 5 - len(situation.melds)
        waits = [k for k in KINDS if held.count(k) < 4 and is_complete([*situation.hand, k], 0, sets)]
        return len(waits) == 1

    def rows(self, situation, reading, waits_for_one):
        heavenly = situation.first_draw and situation.self_drawn and not situation.melds and not situation.kong_draws
        rows = self.rows_of_the_win(situation, waits_for_one, heavenly)
        rows += self.gang_rows(situation) + self.flower_rows(situation)
        rows += self.honour_rows(situation, reading)
        rows += self.suit_rows(situation, reading)
        rows += self.set_rows(situation, reading, waits_for_one)
        return rows

    def rows_of_the_win(self, situation, waits_for_one, heavenly):
        """How the hand was completed."""
        rows = []
        claimed_nothing = not situation.open_melds
        if heavenly:  # replaces Self-Touch, Pure Self-Touch, Pure Hand and Waiting for One (taiwan.md#heaven)
            rows.append(("Heaven", 24) if situation.seat == situation.dealer else ("Earth", 16))
        else:
            if situation.self_drawn and claimed_nothing:
                rows.append(("Pure Self-Touch", 3))
            elif situation.self_drawn:
                rows.append(("Self-Touch", 1))
            elif claimed_nothing:
                rows.append(("Pure Hand", 1))
            if waits_for_one:
                rows.append(("Waiting for One", 1))
        if situation.self_drawn and (situation.kong_draws > 0 or situation.flower_draw):
            rows.append(("Gang Blossom", 1))
        if situation.self_drawn and situation.last_tile:
            rows.append(("Last Tile", 1))
        if situation.source == "kong":
            rows.append(("Robbing the Gang", 1))
        everything_claimed = len(situation.open_melds) == 5  # so no hidden gang (taiwan.md#full-beggars-hand)
        if everything_claimed and situation.source == "discard":
            rows.append(("Full Beggar's Hand", 2))
        return rows

    def gang_rows(self, situation):
        gangs = [meld for meld in situation.melds if meld.is_kong]
        return [("Exposed Gang", 1) if gang.is_open else ("Hidden Gang", 2) for gang in gangs]

    def house_wind(self, situation):
        """As if the dealer were East, where nothing else is said."""
        if self.knobs["dealer_is_east"] or situation.house_wind is None:
            return WINDS[(situation.seat - situation.dealer) % 4]
        return situation.house_wind

    def flower_rows(self, situation):
        """Own flowers by house wind: 1 East, 2 South, 3 West, 4 North (taiwan.md#own-flower)."""
        if not situation.flowers:
            return [("No Flowers", 1)]
        own = str(WINDS.index(self.house_wind(situation)) + 1)
        rows = [("Own Flower", 1) for flower in situation.flowers if flower[1] == own]
        if set(FLOWERS) <= set(situation.flowers):
            rows.append(("Four Flowers", 2))
        if set(SEASONS) <= set(situation.flowers):
            rows.append(("Four Seasons", 2))
        return rows

    def honour_rows(self, situation, reading):
        """Dragons and winds; single triples are not added to a Three Dragons or Four Winds row."""
        triples = set_kinds(reading, situation.melds)
        _, pair = split_pair(reading)
        rows = []
        dragons = [kind for kind in DRAGONS if kind in triples]
        if len(dragons) == 3:
            rows.append(("Big Three Dragons", 8))
        elif len(dragons) == 2 and pair.tiles[0] in DRAGONS:
            rows.append(("Little Three Dragons", 4))
        else:
            rows += [("Dragon", 1) for _ in dragons]
        winds = [kind for kind in WINDS if kind in triples]
        if len(winds) == 4:
            rows.append(("Big Four Winds", 16))
        elif len(winds) == 3 and pair.tiles[0] in WINDS:
            rows.append(("Little Four Winds", 8))
        else:
            rows += [("House Wind", 1)] * (self.house_wind(situation) in winds)
            rows += [("Round Wind", 1)] * (situation.round_wind in winds)
        return rows

    def suit_rows(self, situation, reading):
        tiles = all_tiles(reading, situation.melds)
        has_honours = any(is_honour(tile) for tile in tiles)
        rows = [] if has_honours else [("No Characters", 1)]
        if len(suits_in(tiles)) == 1:
            rows.append(("Mixed One Suit", 4) if has_honours else ("Pure One Suit", 8))
        if not suits_in(tiles):
            rows.append(("All Honors", 8))
        return rows

    def set_rows(self, situation, reading, waits_for_one):
        """Rows about the kinds of sets."""
        rows = []
        runs = runs_in(reading, situation.melds)
        _, pair = split_pair(reading)
        is_peaceful = len(runs) == 5 and not is_honour(pair.tiles[0]) and not waits_for_one
        if self.knobs["strict_peaceful"] and situation.flowers:
            is_peaceful = False
        if is_peaceful and not situation.self_drawn:
            rows.append(("Peaceful Win", 2))
        if not runs:
            rows.append(("All Pungs", 4))
        hidden = self.hidden_triples(situation, reading)
        if hidden in HIDDEN_TRIPLES:
            rows.append(HIDDEN_TRIPLES[hidden])
        return rows

    def hidden_triples(self, situation, reading):
        """A triple completed by another's tile is not hidden; that tile may go into any group it fits."""
        sets, pair = split_pair(reading)
        triples = [group.tiles[0] for group in sets if group.type == "triplet"]
        hidden = len(triples) + sum(meld.type == "concealed kong" for meld in situation.melds)
        fits_elsewhere = any(situation.winning_tile in g.tiles for g in [*sets, pair] if g.type != "triplet")
        if not situation.self_drawn and situation.winning_tile in triples and not fits_elsewhere:
            hidden -= 1
        return hidden
