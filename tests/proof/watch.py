"""A referee that counts what it meets, and asks the engine's `score` about every complete hand that it judges."""

from __future__ import annotations

from collections import Counter
from typing import Any

import mahjong_env
from oracle.referee import Referee
from oracle.referee.hands import is_complete, is_seven_pairs, is_thirteen_orphans
from oracle.referee.situation import Meld, Situation, Verdict
from support.duel import DisagreementError

# For knobs that are any integer: values among which one is drawn, as far as the variant allows it.
NUMBERS: dict[str, tuple[int | None, ...]] = {
    "cap": (None, 1, 8, 24, 60, 500, 2000),
    "initial_points": (0, 1, 20, 50, 500),
    "base_score": (0, 1, 3, 5, 10),
    "unit": (1, 2, 10),
    "dead_tiles": (0, 8, 14, 16, 40, 71),
    "minimum_points": (0, 1, 6, 8, 9, 24),
    "base": (0, 1, 8, 20),
}
# Reasons that hands in play are never refused for: the table does not ask.
NOT_JUDGED = {
    "during his own Fortune Gambit a player wins by self-draw only",
    "while another player's Fortune Gambit lasts, hands are won by self-draw only",
    "a win by flowers needs all eight flowers and seasons exposed",
}
EVERYWHERE = (
    *("won by draw", "won by discard", "drawn, no tile left", "dealer stays", "deal passes on", "a win is passed"),
    *("exposed kong", "added kong", "concealed kong", "several kongs in one turn", "a kong takes the last tile"),
    *("the last discard is won on", "several could win", "win before pung", "pung before chow", "kong before chow"),
    *("an answer is outranked by a later one", "who could not outrank is not asked", "dealer stays after a draw"),
    *("the nearer one lets the farther one win", "won by kong", "a kong could be robbed", "several could rob a kong"),
)
NEVER = {"mcr": ("dealer stays", "dealer stays after a draw")}
OF_VARIANT: dict[str, tuple[str, ...]] = {
    "wuhan": ("Wild Card Kong", "round wind changes", "deal passes after a draw"),
    "hangzhou": ("dice made it 3 Lao", "match ended by points", "several gambits at once", "payments are cut"),
    "hebei": ("people move", "four at the table", "deal passes after a draw", "paid for a kong at once"),
    "mcr": (
        *("drawn, a flower could not be replaced", "round wind changes", "deal passes after a draw", "people move"),
        *("drawn, other private walls have tiles left", "a kong lacks a tile of its private wall"),
    ),
    "taiwan": (
        *("won by flowers", "asked for Eight Flowers", "tiles worth more than Eight Flowers", "round wind changes"),
        *("drawn, a flower could not be replaced", "discard added to a pung"),
    ),
    "fuzhou": (
        *("asked before the first turn", "several could rob the gold", "drawn, too few tiles after a kong"),
        *("the dealer is asked for Heaven and for the swap", "drawn, a flower could not be replaced"),
        *("deal passes after a draw", "a flower is turned up before the gold"),
    ),
}


# --- What must have been met -----------------------------------------------------------------------------------------
def knob_values(variant: str, name: str) -> tuple[Any, ...]:
    """The values of a knob that the proof draws from."""
    about = type(mahjong_env.VARIANTS[variant]).__dataclass_fields__[name].metadata
    if about["choices"] is not None:
        return tuple(about["choices"])
    return tuple(value for value in NUMBERS[name] if value is None or value >= about["minimum"])


def required(variant: str) -> list[str]:
    """The names in a tally that may not stand at zero, in the order of the summary."""
    rules = mahjong_env.VARIANTS[variant]
    return [
        *(f"row: {row.name}" for row in rules.rows),
        *(f"refused: {reason}" for reason in rules.reasons[2:] if reason not in NOT_JUDGED),
        *(f"play: {name}" for name in (*EVERYWHERE, *OF_VARIANT[variant]) if name not in NEVER.get(variant, ())),
        *(f"knob: {name}={value}" for name in rules.knobs for value in knob_values(variant, name)),
        *(f"style: {style}" for style in ("random", "greedy", "steered")),
    ]


def missing(names: list[str], tally: Counter[str]) -> list[str]:
    """What stands at zero."""
    return [name for name in names if not tally[name]]


def report(names: list[str], tally: Counter[str]) -> str:
    """How often each thing was met: what had to be, and everything else."""
    return "\n".join(f"    {tally[name]:>9}  {name}" for name in [*names, *sorted(set(tally) - set(names))])


# --- Counting --------------------------------------------------------------------------------------------------------
def tally_of(variant: str) -> type[Watched]:
    """A class of referees that count into one tally of its own, ``tally``."""
    return type(f"Watched_{variant}", (Watched,), {"tally": Counter()})


class Watched(Referee):
    """Counts rows, refusals and rules of play; it decides nothing otherwise than the referee."""

    tally: Counter[str]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.plain_score = self.variant.score
        self.variant.score = self.watched_score

    def note(self, what: str, holds: object = True) -> None:
        """Count a rule of play, if it has been met."""
        self.tally[f"play: {what}"] += bool(holds)

    def watched_score(self, situation: Situation) -> Verdict:
        """The referee's verdict, which has to be what the engine's `score` says of the described hand."""
        verdict = self.plain_score(situation)
        if verdict.legal or (verdict.reason != "not complete" and has_shape(self.variant, situation)):
            described = ask_engine(self.variant, situation)
            compare_scores(described, situation, verdict)
            if not verdict.legal:
                self.tally[f"refused: {described.reason}"] += 1
        return verdict

    # --- how hands begin and end ------------------------------------------------------------------------------
    def deal(self, start: Any) -> None:
        knobs = self.variant.knobs
        self.note("dice made it 3 Lao", start.lao_dice and knobs.get("lao_dice"))
        self.note("a flower is turned up before the gold", len(start.indicators) > 1)
        self.note("four at the table", self.variant.name == "hebei" and self.variant.seats == 4)
        super().deal(start)

    def end_with_win(self, seat: int, verdict: Verdict, source: str, from_seat: int | None) -> None:
        for name, _ in verdict.rows:
            self.tally[f"row: {name}"] += 1
        self.note(f"won by {source}")
        self.note("the last discard is won on", source == "discard" and self.is_last(from_seat))
        self.note("tiles worth more than Eight Flowers", source == "draw" and self.eighth_flower)
        self.note("payments are cut", any(points == 0 for points in self.points) and self.floor_applies)
        super().end_with_win(seat, verdict, source, from_seat)

    def replace_flower(self) -> None:
        self.note("drawn, a flower could not be replaced", self.left == 0)
        super().replace_flower()

    def end_with_draw(self) -> None:
        self.note("drawn, too few tiles after a kong" if self.last_discard else "drawn, no tile left")
        self.note("drawn, other private walls have tiles left", self.variant.private_walls and self.left > 0)
        super().end_with_draw()

    def end_hand(self, winner: int | None) -> None:
        persons, wind, dealer = list(self.person_of), self.round_wind, self.dealer_seat
        super().end_hand(winner)
        self.note("match ended by points", self.match_over and self.variant.knobs.get("match_end") == "points")
        if not self.match_over:
            stays = self.dealer_seat == dealer
            self.note("dealer stays" if stays else "deal passes on")
            self.note("dealer stays after a draw" if stays else "deal passes after a draw", winner is None)
            self.note("round wind changes", self.round_wind != wind)
            self.note("people move", self.person_of != persons)

    # --- play -------------------------------------------------------------------------------------------------
    def finish_kong(self, meld_type: str, from_seat: int | None) -> None:
        melds = self.players[self.turn].melds
        self.note(meld_type)
        self.note("paid for a kong at once", self.variant.kong_payments(self, self.turn, meld_type, from_seat))
        self.note("several kongs in one turn", self.kong_draws)
        self.note("a kong takes the last tile", self.left_to(self.turn) == 1)
        self.note("Wild Card Kong", meld_type == "concealed kong" and self.wild in melds[-1].tiles)
        self.note("discard added to a pung", meld_type == "exposed kong" and melds[-1].type == "added kong")
        super().finish_kong(meld_type, from_seat)

    def claim_options(self, seat: int, tile: str, discarder: int) -> set[str]:
        lacks_a_tile = self.left_to(seat) == 0 and not self.is_last(discarder)
        self.note("a kong lacks a tile of its private wall", lacks_a_tile and self.players[seat].hand.count(tile) == 3)
        if tile == self.wild or (tile == "7z" and self.variant.name == "wuhan"):
            self.judge(seat, "discard", tile, discarder)  # it may not be claimed: `score` has to say so, too
        return super().claim_options(seat, tile, discarder)

    def declare_added_kong(self, tile: str) -> None:
        if not self.variant.may_rob():
            for seat in range(self.variant.seats):
                if seat != self.turn:
                    self.judge(seat, "kong", tile, self.turn)
        super().declare_added_kong(tile)

    def discard(self, tile: str) -> None:
        if self.variant.name == "hangzhou":
            self.note("several gambits at once", sum(self.variant.gambit(self, seat) > 0 for seat in range(4)) > 1)
        super().discard(tile)

    def ask(self, questions: list[Any], finish: Any) -> None:
        may = [question.options for question in sorted(questions, key=lambda question: question.place)]
        could_win = [options for options in may if "win" in options]
        others = [options for options in may if "win" not in options]
        chows = [options for options in others if not options & {"pung", "kong"} and options != {"pass"}]
        robbing, opening = self.offered is not None, self.turn is None and not any(p.thrown for p in self.players)
        self.note("several could win", len(could_win) > 1)
        self.note("win before pung", could_win and any(options & {"pung", "kong"} for options in others))
        self.note("pung before chow", chows and any("pung" in options for options in may))
        self.note("kong before chow", chows and any("kong" in options for options in may))
        self.note("a kong could be robbed", robbing and questions)
        self.note("several could rob a kong", robbing and len(could_win) > 1)
        if opening:
            of_dealer = sum(question.seat == self.dealer_seat for question in questions)
            self.note("asked before the first turn", questions)
            self.note("several could rob the gold", len(questions) - of_dealer > 1)
            self.note("the dealer is asked for Heaven and for the swap", of_dealer > 1)
        first = min((question.place for question in questions if "win" in question.options), default=None)

        def answered(best: Any) -> None:
            self.note("an answer is outranked by a later one", best is not None and best != self.answers[0])
            won = best is not None and best[2] == "win"
            self.note("the nearer one lets the farther one win", won and first is not None and best[0][1] != first[1])
            finish(best)

        super().ask(questions, answered)

    def ask_next(self) -> None:
        best = min(self.answers, default=None)
        outranked = self.questions and best is not None and self.questions[0].place >= best[0]
        self.note("who could not outrank is not asked", outranked)
        super().ask_next()

    def ask_eight_flowers(self, seat: int, when_passed: Any) -> None:
        self.note("asked for Eight Flowers")
        super().ask_eight_flowers(seat, when_passed)

    def apply(self, action: str) -> list[int]:
        self.note("a win is passed", action == "pass" and "win" in self.options)
        return super().apply(action)


# --- Described hands -------------------------------------------------------------------------------------------------
def has_shape(variant: Any, situation: Situation) -> bool:
    """Whether the described tiles may be complete, whatever else would forbid the win."""
    if situation.source == "flowers":
        return False
    tiles = situation.concealed
    plain, jokers = situation.without_wilds(tiles)
    of_sets = is_complete(plain, jokers, variant.sets - len(situation.melds))
    return of_sets or is_seven_pairs(plain, jokers) or is_thirteen_orphans(tiles)


def meld_text(meld: Meld) -> str:
    """A meld as `mahjong_env.score` reads it."""
    ranks = "".join(tile[0] for tile in meld.tiles)
    word = meld.type if meld.type in ("chow", "pung") else "kong"
    origin = "" if meld.from_seat is None else f"@{meld.from_seat}"
    return f"{word} {ranks}{meld.tiles[0][1]}{'+' if meld.type == 'added kong' else ''}{origin}"


def ask_engine(variant: Any, situation: Situation) -> mahjong_env.HandScore:
    """What `mahjong_env.score` says about a situation of the referee."""
    facts = {name: value for name, value in vars(situation).items() if name != "seats"}
    facts["first_draw"] &= not situation.robbing_gold  # which is before every draw
    facts |= {
        "hand": "".join(situation.hand),
        "melds": [meld_text(meld) for meld in situation.melds],
        "other_melds": {seat: [meld_text(meld) for meld in melds] for seat, melds in situation.other_melds.items()},
        "flowers": "".join(situation.flowers),
    }
    said = {name: value for name, value in facts.items() if value is not False}
    return mahjong_env.score(variant.name, **said, **variant.knobs)


def same_score(ours: mahjong_env.HandScore, verdict: Verdict) -> bool:
    """Whether the package says of a described hand what the referee says; of readings worth the same, any will do."""
    paid = ours.points == verdict.points and list(ours.payments) == list(verdict.payments)
    same = ours.legal == verdict.legal and paid
    return same and sorted(ours.rows) in [sorted(rows) for rows in verdict.tied_rows]


def compare_scores(ours: mahjong_env.HandScore, situation: Situation, verdict: Verdict) -> None:
    """Raise if the engine's score of a described hand is not the referee's."""
    if not same_score(ours, verdict):
        facts = {name: value for name, value in vars(situation).items() if name not in ("melds", "other_melds")}
        melds = {seat: [meld_text(m) for m in melds] for seat, melds in situation.other_melds.items()}
        raise DisagreementError(
            f"score\n  engine:  {ours}\n  referee: {verdict}\n  hand: {facts}\n"
            f"  melds {[meld_text(meld) for meld in situation.melds]}, others {melds}"
        )
