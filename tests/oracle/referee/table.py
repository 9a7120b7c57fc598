"""The match around the hands: dealing, what others read, the end of a hand and of a match.

Inside, everything is by *seat* at the table. What others read (`hands`, `rewards`, `dealer`, ...) is by
*person*, which differs only where people take turns sitting out (hebei.md#rotation). After a win on a discard
or by robbing a kong the tile lies in the winner's hand and no longer among the discards (common.md#robbing-a-kong).
"""

from .play import Play
from .records import Player, Result


class Referee(Play):
    """One match of one variant, one action at a time."""

    def __init__(self, variant, knobs=None, num_hands=1):
        from . import VARIANTS

        self.variant = VARIANTS[variant](knobs)
        self.people = self.variant.people
        self.num_hands = num_hands
        self.hands_played = 0
        self.points = [self.variant.initial_points] * self.people
        self.person_of = list(range(self.variant.seats))  # by seat
        self.dealer_passes = 0
        self.floor_applies = num_hands > 1
        self.players = [Player([]) for _ in range(self.variant.seats)]
        self.wall, self.reserve, self.indicators, self.wild = [], 0, [], None
        self.house_winds, self.round_wind, self.lao_dice = None, "1z", False
        self.dealer_seat = self.streak = 0
        self.rewards = [0] * self.people
        self.match_over, self.wants_deal, self.hand_over, self.result = False, True, False, None
        self.turn, self.drawn, self.offered = None, None, None
        self.questions, self.answers, self.finish, self.options = [], [], None, set()

    # --- what others read, by person --------------------------------------------------------------

    @property
    def left(self):
        """Tiles that can still be drawn."""
        if self.variant.private_walls:
            return sum(map(len, self.wall))
        return max(0, len(self.wall) - self.reserve)

    def left_to(self, seat):
        """Tiles that this seat can still draw."""
        return len(self.wall[seat]) if self.variant.private_walls else self.left

    def is_last(self, seat):
        """Whether the seat after this one, whose turn it is, has nothing to draw (common.md#after-the-last-tile)."""
        return self.left_to((seat + 1) % self.variant.seats) == 0

    @property
    def dealer(self):
        return self.person_of[self.dealer_seat]

    @property
    def to_act(self):
        """The person who must answer; None between hands and when the match is over."""
        if self.questions:
            return self.person_of[self.questions[0].seat]
        return None if self.turn is None else self.person_of[self.turn]

    def legal(self):
        """The names of the actions that `to_act` may take."""
        return set(self.options)

    # --- dealing ----------------------------------------------------------------------------------

    def deal(self, start):
        """Begin a hand."""
        if self.hands_played == 0:
            self.dealer_seat, self.streak, self.round_wind = (
                start.dealer,
                start.dealer_streak,
                start.round_wind,
            )
            if start.running_points is not None:
                self.points, self.floor_applies = list(start.running_points), True
        self.lao_dice = start.lao_dice
        self.house_winds = self._house_winds(start)
        self.players = [Player(hand) for hand in start.hands]
        self.wall, self.indicators = list(start.wall), list(start.indicators)
        if self.variant.private_walls:
            self.wall = [list(tiles) for tiles in start.wall]
        self.reserve = self.variant.reserve()
        self.wild = self.variant.fixed_wild
        if self.variant.has_indicator and self.wild is None:
            self.wild = self.variant.wild_from(self.indicators[-1])
        self.turn, self.drawn, self.offered = None, None, None
        self.questions, self.answers, self.finish, self.options = [], [], None, set()
        self.kong_draws, self.flower_draw = 0, False
        self.eighth_flower = False  # exposed in this turn: the seat may win with any hand (taiwan.md#eight-flowers)
        self.claims_or_kongs = 0  # declared by anybody in this hand
        self.pending_growth = None  # what a kong adds to the reserve, once its replacement is drawn
        self.last_discard = False  # the hand ends with the next discard
        self.rewards = [0] * self.people
        self.wants_deal, self.hand_over = False, False
        self.variant.opening(self)

    def _house_winds(self, start):
        if start.house_winds is not None and (self.hands_played == 0 or start.house_dice is None):
            return list(start.house_winds)
        east = self.variant.east_house(self.dealer_seat, start.house_dice)
        return [["1z", "2z", "3z", "4z"][(seat - east) % self.variant.seats] for seat in range(self.variant.seats)]

    def open_with_dealers_last_tile(self):
        """The dealer plays first; the last tile dealt to him counts as drawn.

        common.md#the-opening-tile-of-the-dealer.
        """
        dealer = self.players[self.dealer_seat]
        dealer.draws = 1
        self.turn, self.drawn = self.dealer_seat, dealer.hand[-1]
        self.ask_turn()

    def replace_opening_flowers(self):
        """Dealer first until clean, then the next seat; False when the wall ran out.

        taiwan.md#flowers, fuzhou.md#flowers.
        """
        for step in range(self.variant.seats):
            player = self.players[(self.dealer_seat + step) % self.variant.seats]
            while any(tile in self.variant.flower_kinds for tile in player.hand):
                flower = next(tile for tile in player.hand if tile in self.variant.flower_kinds)
                player.hand.remove(flower)
                player.flowers.append(flower)
                if self.left == 0:
                    self.end_with_draw()  # common.md#a-flower-that-cannot-be-replaced
                    return False
                player.hand.append(self.wall.pop())
        return True

    # --- the end ----------------------------------------------------------------------------------

    def end_with_win(self, seat, verdict, source, from_seat):
        if not verdict.legal:
            raise AssertionError(f"granted an illegal win: {verdict.reason}")
        self.pay(verdict.payments)
        by_person = [0] * self.people
        for other, amount in enumerate(verdict.payments):
            by_person[self.person_of[other]] = amount
        self.result = Result(
            winner=self.person_of[seat],
            source=source,
            from_seat=None if from_seat is None else self.person_of[from_seat],
            rows=verdict.rows,
            points=verdict.points,
            payments=by_person,
            tied_rows=verdict.tied_rows,
        )
        self.end_hand(seat)

    def end_with_draw(self):
        self.result = Result(None, None, None, [], 0, [0] * self.people, [[]])
        self.end_hand(None)

    def end_hand(self, winner):
        """Count the hand; the next dealer, or the end of the match."""
        self.turn, self.drawn, self.offered = None, None, None
        self.questions, self.options = [], set()
        self.hands_played += 1
        self.hand_over = True
        if self.variant.is_match_over(self, winner, self.dealer_seat):
            self.match_over = True
            return
        self.wants_deal = True
        next_dealer = self.variant.next_dealer(self, winner)
        if next_dealer == self.dealer_seat:
            self.streak += 1
        else:
            self.streak = 0
            self.dealer_passes += 1
        self.dealer_seat = next_dealer
        self.round_wind = self.variant.next_round_wind(self)
        self.variant.swap_sitter(self, winner)
