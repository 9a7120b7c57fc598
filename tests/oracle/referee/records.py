"""Small records of the table: the chance of a hand, a player, a question, a result."""

from dataclasses import dataclass, field


@dataclass
class Start:
    """All the chance of one hand. Tiles are names; fields below the line count for the first hand only."""

    hands: list  # by seat, before flowers are replaced; the dealer's last tile is his first draw
    wall: list  # front draws from the left, replacements from the right; private walls: a list for each seat
    indicators: list = field(default_factory=list)  # turned up, in order; not in the wall
    house_dice: int | None = None  # Taiwan: sum of three dice
    lao_dice: bool = False  # Hangzhou: doubles or a 12
    # ----------------------------------------------
    dealer: int = 0
    dealer_streak: int = 0
    round_wind: str = "1z"
    house_winds: list | None = None  # by seat; a later hand takes them from `house_dice`
    running_points: list | None = None


class Player:
    """What lies before one seat."""

    def __init__(self, hand):
        self.hand = list(hand)
        self.melds = []
        self.flowers = []
        self.discards = []  # still lying there
        self.thrown = []  # everything ever discarded in this hand, claimed or not
        self.draws = 0  # draws from the front of the wall, the dealer's opening tile too


class Question:
    """A seat that is asked out of turn, and what it may answer."""

    def __init__(self, seat, options, rank, distance):
        self.seat = seat
        self.options = options
        self.place = (rank, distance)  # asked in this order; the answer with the lowest place is granted


@dataclass
class Result:
    """How a hand ended; everything by person. `winner` is None after a draw."""

    winner: int | None
    source: str | None
    from_seat: int | None
    rows: list
    points: int
    payments: list
    tied_rows: list


RANK = {"win": 0, "kong": 1, "pung": 1, "chow low": 2, "chow middle": 2, "chow high": 2}  # common.md#order-of-claims
