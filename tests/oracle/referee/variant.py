"""What a variant has to answer, with the answer that applies unless it says otherwise (docs/rules/common.md)."""

from .hands import readings
from .tiles import KINDS, WINDS


class Variant:
    """The common defaults. Everything here speaks of seats at the table, not of persons."""

    name = ""
    sets = 4  # sets in a complete hand, beside the pair
    seats = 4  # players who are dealt tiles
    tiles = KINDS * 4
    flower_kinds = frozenset()  # tiles that are exposed and replaced
    has_indicator = False
    eight_flowers_win = False
    knob_defaults: dict = {}  # noqa: RUF012

    def __init__(self, knobs=None):
        self.knobs = self.knob_defaults | (knobs or {})

    # --- the match --------------------------------------------------------------------------------

    @property
    def people(self):
        return self.seats

    @property
    def initial_points(self):
        return self.knobs["initial_points"]

    def next_dealer(self, table, winner):
        """The seat that deals next, after a win of this seat or a draw (None).

        Hebei, Fuzhou and Taiwan (#the-dealer): the dealer stays after his own win, after a draw by `dealer_on_draw`,
        else the next seat deals.
        """
        stays = self.knobs.get("dealer_on_draw", "stay") == "stay" if winner is None else winner == table.dealer_seat
        return table.dealer_seat if stays else (table.dealer_seat + 1) % self.seats

    def next_round_wind(self, table):
        """The round wind of the next hand; called after the dealer has changed."""
        return table.round_wind

    def is_match_over(self, table, winner, dealer):
        """Whether the match ends after this hand, won by this seat (None: draw) under this dealer."""
        return table.hands_played >= table.num_hands

    def swap_sitter(self, table, winner):
        """Let a person sit out and another in (Hebei's rotation)."""

    # --- the deal ---------------------------------------------------------------------------------

    @property
    def private_walls(self):
        """Whether each seat draws from a wall of its own."""
        return self.knobs.get("private_walls", False)

    @property
    def fixed_wild(self):
        return None

    def wild_from(self, indicator):
        return None

    def reserve(self):
        """Tiles of the wall that are never drawn, at the start of the hand."""
        return 0

    def east_house(self, dealer, dice):
        """The seat whose house wind is East."""
        return dealer

    def opening(self, table):
        """From the dealt tiles to the first decision."""
        table.open_with_dealers_last_tile()

    # --- play -------------------------------------------------------------------------------------

    def may_meld(self, table, kind):
        """Whether this kind may be in a declared meld at all: a wild tile may not (common.md#wild-tiles)."""
        return kind != table.wild

    def may_conceal_kong(self, table, kind):
        return self.may_meld(table, kind)

    def may_answer(self, table, seat, tile):
        """Whether this seat may use the tile that another has discarded or adds to a pung, for anything."""
        return tile != table.wild  # common.md#wild-tiles: a discarded wild is claimed by nobody

    def restricted_turn(self, table, seat, options):
        """The options of a turn after what only this variant forbids."""
        return options

    def may_rob(self):
        return True

    def adds_discard_to_pung(self):
        return False

    def kong_payments(self, table, seat, meld_type, from_seat):
        """{paying seat: points} owed at once to the seat that made the kong."""
        return {}

    def reserve_growth(self, meld_type):
        """By how many tiles a kong of this type makes the undrawn part of the wall grow."""
        return 0

    def ends_after_kong(self, table):
        """Whether the hand ends with the discard that follows this kong."""
        return False

    def extra_facts(self, table, seat, tile):
        """Facts of the Situation that only this variant asks for; the tile is the winning tile."""
        return {}

    # --- winning ----------------------------------------------------------------------------------

    def score(self, situation):
        """The Verdict on a described win."""
        raise NotImplementedError

    def standard_readings(self, situation):
        """Readings of the concealed tiles as sets and a pair, the melds not repeated."""
        plain, jokers = situation.without_wilds(situation.concealed)
        return readings(plain, jokers, self.sets - len(situation.melds))


def next_wind(wind):
    return WINDS[(WINDS.index(wind) + 1) % 4]


def split_pair(reading):
    """(the sets, the pair) of a reading."""
    return [group for group in reading if group.type != "pair"], next(g for g in reading if g.type == "pair")


def all_tiles(reading, melds):
    """The tiles of a reading (jokers as what they stand for) and of the melds, together."""
    return [tile for group in reading for tile in group.tiles] + [tile for meld in melds for tile in meld.tiles]


def set_kinds(reading, melds):
    """The kinds of which the hand has a triplet or a kong."""
    kinds = {group.tiles[0] for group in reading if group.type == "triplet"}
    return kinds | {meld.tiles[0] for meld in melds if not meld.is_run}


def runs_in(reading, melds):
    """The runs of the hand, melds too, each as a sorted tuple."""
    return [group.tiles for group in reading if group.type == "run"] + [
        tuple(sorted(meld.tiles)) for meld in melds if meld.is_run
    ]
