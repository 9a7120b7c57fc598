"""A referee that counts what it meets, and asks the engine's `score` about every complete hand that it judges."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import Any

import mahjong_env
from oracle.referee import Referee
from oracle.referee.hands import is_complete, is_seven_pairs, is_thirteen_orphans
from oracle.referee.situation import Meld, Situation, Verdict
from proof.payments import payment_rules

CHOWS = {"chow low", "chow middle", "chow high"}
PLACE = attrgetter("place")


class ScoreDifferenceError(AssertionError):
    """`mahjong_env.score` and the referee value a described hand differently."""


def tally_of(variant: str) -> type[Watched]:
    """A class of referees that count into one tally of its own, ``tally``."""
    return type(f"Watched_{variant}", (Watched,), {"tally": Counter()})


class Watched(Referee):
    """Counts rows, refusals, payment rules and rules of play; it decides nothing otherwise than the referee."""

    tally: Counter[str]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.plain_score = self.variant.score
        self.variant.score = self.watched_score

    def note(self, what: str) -> None:
        self.tally[what] += 1

    # --- scoring --------------------------------------------------------------------------------------------
    def watched_score(self, situation: Situation) -> Verdict:
        verdict = self.plain_score(situation)
        verdict.situation = situation
        if verdict.legal or (verdict.reason != "not complete" and has_shape(self.variant, situation)):
            described = ask_engine(self.variant, situation)
            compare_scores(described, situation, verdict)
            if not verdict.legal:
                self.note(f"refused: {described.reason}")
        return verdict

    def end_with_win(self, seat: int, verdict: Verdict, source: str, from_seat: int | None) -> None:
        for name, _ in verdict.rows:
            self.note(f"row: {name}")
        for rule in payment_rules(self, verdict.situation, verdict):
            self.note(f"paid: {rule}")
        self.note(f"play: won by {source}")
        if source == "draw" and self.eighth_flower:
            self.note("play: tiles worth more than Eight Flowers")
        late = self.players[seat].draws == 1 and self.claims_or_kongs > 0 and seat != self.dealer_seat
        if source == "draw" and late and self.variant.name in ("taiwan", "fuzhou"):
            self.note("play: a first draw after a claim or kong is no Earth")
        super().end_with_win(seat, verdict, source, from_seat)

    def deal(self, start: Any) -> None:
        self.instant_kongs = 0
        self.ends_gambit = False
        if start.lao_dice and self.variant.knobs.get("lao_dice"):
            self.note("play: dice made it 3 Lao")
        if self.variant.name == "wuhan":
            if start.indicators[-1] == "7z":
                self.note("play: a Red Dragon is turned up")
            elif start.indicators[-1] in ("9m", "9p", "9s", "4z", "6z"):
                self.note("play: the successor goes round")
        if len(start.indicators) > 1:
            self.note("play: a flower is turned up before the gold")
        if self.variant.name == "hebei" and self.variant.seats == 4:
            self.note("play: four at the table")
        super().deal(start)

    # --- how hands end ----------------------------------------------------------------------------------------
    def replace_flower(self) -> None:
        if self.left == 0:
            self.note("play: drawn, a flower could not be replaced")
        super().replace_flower()

    def end_with_draw(self) -> None:
        self.note("play: drawn, too few tiles after a kong" if self.last_discard else "play: drawn, no tile left")
        if self.instant_kongs:
            self.note("paid: kong of a drawn hand")
        super().end_with_draw()

    def end_hand(self, winner: int | None) -> None:
        persons = list(self.person_of)
        wind, dealer = self.round_wind, self.dealer_seat
        super().end_hand(winner)
        if self.match_over:
            if self.variant.knobs.get("match_end") == "points":
                self.note("play: match ended by points")
            return
        self.note("play: dealer stays" if self.dealer_seat == dealer else "play: deal passes on")
        if self.round_wind != wind:
            self.note("play: round wind changes")
        if self.person_of != persons:
            self.note("play: a person sits out")
        self._note_next_dealer(winner, dealer, rotates=self.people > self.variant.seats)

    def _note_next_dealer(self, winner: int | None, dealer: int, *, rotates: bool) -> None:
        """Who deals after what: ``dealer`` is the seat that dealt the hand that has ended."""
        if winner is None:
            stays = self.dealer_seat == dealer
            self.note("play: dealer stays after a draw" if stays else "play: deal passes after a draw")
            if rotates:
                self.note("play: nobody sits out after a draw")
            return
        if self.dealer_seat == winner not in (dealer, (dealer + 1) % self.variant.seats):
            self.note("play: deal passes to the winner, not to the next seat")
        if rotates and winner == dealer == self.dealer_seat:
            self.note("play: the winning dealer sits out, his seat deals again")
        if self.variant.knobs.get("match_end") == "points" and winner == dealer and min(self.points) <= 0:
            self.note("play: somebody is out, the dealer's win lets the match go on")

    # --- rules of play ----------------------------------------------------------------------------------------
    def finish_kong(self, meld_type: str, from_seat: int | None) -> None:
        player = self.players[self.turn]
        self.note(f"play: {meld_type}")
        owed = self.variant.kong_payments(self, self.turn, meld_type, from_seat)
        if owed:
            self.instant_kongs += 1
            self.note(f"paid: {meld_type} at once")
        if self.kong_draws:
            self.note("play: several kongs in one turn")
        if self.left == 1:
            self.note("play: a kong takes the last tile")
        if meld_type == "concealed kong" and self.wild in player.melds[-1].tiles:
            self.note("play: Wild Card Kong")
        super().finish_kong(meld_type, from_seat)

    def ask_turn(self) -> None:
        super().ask_turn()
        player = self.players[self.turn]
        kongs = self.self_kongs(player)
        if self.drawn is None:
            if kongs:
                self.note("play: no kong right after a claim")
            if is_shape(self.variant, player.hand, player.melds, self.wild):
                self.note("play: no win right after a claim")
        else:
            if kongs and self.left == 0:
                self.note("play: no kong without a replacement")
            if self.variant.name == "hangzhou" and self.variant.gambit(self, self.turn):
                self.note("play: gambiter's turn")
                if any(kong.startswith("added") for kong in kongs):
                    self.note("play: no added kong in a gambit")
                if any(kong.startswith("concealed") for kong in kongs) and self.left:
                    self.note("play: concealed kong in a gambit")
                if sum(self.variant.gambit(self, seat) > 0 for seat in range(4)) > 1:
                    self.note("play: several gambits at once")
        four = [tile for tile in set(player.hand) if player.hand.count(tile) == 4]
        if any(not self.variant.may_conceal_kong(self, tile) for tile in four):
            self.note("play: four alike that may be no kong")

    def discard(self, tile: str) -> None:
        self.ends_gambit = (
            self.variant.name == "hangzhou" and tile != self.wild and self.variant.gambit(self, self.turn) > 0
        )
        super().discard(tile)

    def claim_options(self, seat: int, tile: str, discarder: int) -> set[str]:
        options = super().claim_options(seat, tile, discarder)
        wanted = self.wanted(seat, tile, discarder)
        if not self.variant.may_answer(self, seat, tile):
            self._note_barred(seat, tile, discarder, bool(wanted))
        elif self.left == 0 or self.last_discard:
            if wanted:
                self.note("play: the last discard may only be won on")
            if "win" in options:
                self.note("play: the last discard is won on")
        pung = self.pung_of(seat, tile)
        if pung is not None and self.left and not self.last_discard:
            added = "kong" in options
            self.note("play: discard added to a pung" if added else "play: discard not added to a pung")
        if self.wild is not None and wanted - options and self.variant.may_answer(self, seat, tile) and self.left:
            self.note("play: no chow with a wild tile in hand")
        return options

    def _note_barred(self, seat: int, tile: str, discarder: int, wanted: bool) -> None:
        """A seat may not answer at all: to a wild tile or a Red, or because of a gambit."""
        player = self.players[seat]
        completes = is_shape(self.variant, [*player.hand, tile], player.melds, self.wild)
        if tile == self.wild or self.variant.name == "wuhan":
            if wanted:
                self.note(f"play: no claim of {'a wild tile' if tile == self.wild else 'a Red Dragon'}")
            if completes:
                self.judge(seat, "discard", tile, discarder)
            return
        why = "by the gambiter" if self.variant.gambit(self, seat) else "during a gambit"
        if wanted:
            self.note(f"play: no claim {why}")
        if completes:
            self.note(f"play: no win on a discard {why}")

    def declare_added_kong(self, tile: str) -> None:
        konger = self.turn
        others = [seat for seat in range(self.variant.seats) if seat != konger]
        for seat in others:
            player = self.players[seat]
            if is_shape(self.variant, [*player.hand, tile], player.melds, self.wild):
                if not self.variant.may_rob():
                    self.judge(seat, "kong", tile, konger)
                elif not self.variant.may_answer(self, seat, tile):
                    self.note("play: no robbing during a gambit")
        super().declare_added_kong(tile)

    def wanted(self, seat: int, tile: str, discarder: int) -> set[str]:
        """Claims that the tiles alone would allow."""
        player = self.players[seat]
        claims = {"pung"} if player.hand.count(tile) >= 2 else set()
        if seat == (discarder + 1) % self.variant.seats:
            for name, run in self.chows(tile).items():
                if all(other in player.hand for other in run if other != tile):
                    claims.add(name)
        return claims

    def ask(self, questions: list[Any], finish: Any) -> None:
        winners = sum("win" in question.options for question in questions)
        if winners > 1:
            self.note("play: several could win")
        if winners and any("pung" in q.options or "kong" in q.options for q in questions if "win" not in q.options):
            self.note("play: win before pung")
        if any("pung" in q.options for q in questions) and any(
            q.options & CHOWS and "pung" not in q.options for q in questions
        ):
            self.note("play: pung before chow")
        if any("kong" in q.options for q in questions) and any(
            q.options & CHOWS and not q.options & {"kong", "pung"} for q in questions
        ):
            self.note("play: kong before chow")
        if self.offered is not None and questions:
            self.note("play: a kong could be robbed")
            if winners > 1:
                self.note("play: several could rob a kong")
        if self.offered is None and self.ends_gambit and questions:
            self.note("play: the discard that ends a gambit may be claimed")
        opening = self.turn is None and self.claims_or_kongs == 0 and not any(p.thrown for p in self.players)
        if opening and questions:
            self._note_opening(questions)
        could_win = [question.seat for question in sorted(questions, key=PLACE) if "win" in question.options]

        def answered(best: Any) -> None:
            if best is not None and best != self.answers[0]:
                self.note("play: an answer is outranked by a later one")
            if best is not None and best[2] == "win" and best[1] != could_win[0]:
                self.note("play: the nearer one lets the farther one win")
            finish(best)

        super().ask(questions, answered)

    def _note_opening(self, questions: list[Any]) -> None:
        """Questions before the first turn: in Fuzhou Heaven, the robbers of the gold, the dealer's swap."""
        self.note("play: asked before the first turn")
        dealer = self.dealer_seat
        if sum(question.seat != dealer for question in questions) > 1:
            self.note("play: several could rob the gold")
        if sum(question.seat == dealer for question in questions) > 1:
            self.note("play: the dealer is asked for Heaven and for the swap")

    def ask_next(self) -> None:
        best = min(self.answers, default=None)
        if self.questions and best is not None and self.questions[0].place >= best[0]:
            self.note("play: who could not outrank is not asked")
        super().ask_next()

    def ask_eight_flowers(self, seat: int, when_passed: Any) -> None:
        self.note("play: asked for Eight Flowers")

        def passed() -> None:
            self.note("play: Eight Flowers passed")
            when_passed()

        super().ask_eight_flowers(seat, passed)

    def apply(self, action: str) -> list[int]:
        if action == "pass" and "win" in self.options:
            self.note("play: a win is passed")
        return super().apply(action)


# --- shapes and descriptions -----------------------------------------------------------------------------------


def has_shape(variant: Any, situation: Situation) -> bool:
    """Whether the described tiles are complete, whatever else would forbid the win."""
    if situation.source == "flowers":
        return False
    if situation.robbing_gold:
        plain, golds = situation.without_wilds(situation.hand)
        return is_complete([*plain, situation.wild], golds, variant.sets - len(situation.melds))
    return is_shape(variant, situation.concealed, situation.melds, situation.wild)


def is_shape(variant: Any, tiles: list[str], melds: list[Meld], wild: str | None) -> bool:
    plain = [tile for tile in tiles if tile != wild]
    jokers = len(tiles) - len(plain)
    if is_complete(plain, jokers, variant.sets - len(melds)):
        return True
    if melds or variant.name not in ("hangzhou", "hebei", "wuhan"):
        return False
    if variant.name == "wuhan":
        return jokers == 4 and is_seven_pairs(plain, 0)
    return is_seven_pairs(plain, jokers) or (variant.name == "hebei" and is_thirteen_orphans(tiles))


def meld_text(meld: Meld) -> str:
    """A meld as `mahjong_env.score` reads it."""
    ranks = "".join(tile[0] for tile in meld.tiles)
    word = meld.type if meld.type in ("chow", "pung") else "kong"
    origin = "" if meld.from_seat is None else f"@{meld.from_seat}"
    return f"{word} {ranks}{meld.tiles[0][1]}{'+' if meld.type == 'added kong' else ''}{origin}"


def ask_engine(variant: Any, situation: Situation) -> mahjong_env.HandScore:
    """What `mahjong_env.score` says about a situation of the referee."""
    facts: dict[str, Any] = {
        name: getattr(situation, name)
        for name in (
            *("source", "from_seat", "seat", "dealer", "dealer_streak", "kong_draws", "last_tile", "first_draw"),
            *("robbing_gold", "flower_draw", "discarded_wild", "red_discards", "gambits", "round_wind"),
            *("house_wind", "running_points"),
        )
    }
    if situation.robbing_gold:
        facts["first_draw"] = False  # it is before every draw
    return mahjong_env.score(
        variant.name,
        "".join(situation.hand),
        winning_tile=situation.winning_tile,
        melds=[meld_text(meld) for meld in situation.melds],
        other_melds={seat: [meld_text(meld) for meld in melds] for seat, melds in situation.other_melds.items()},
        wild=situation.wild,
        flowers="".join(situation.flowers),
        **facts,
        **variant.knobs,
    )


def compare_scores(ours: mahjong_env.HandScore, situation: Situation, verdict: Verdict) -> None:
    """Raise if the engine's score of a described hand is not the referee's."""
    same = ours.legal == verdict.legal
    if same and ours.legal:
        tied = [sorted(rows) for rows in verdict.tied_rows]
        same = (
            ours.points == verdict.points
            and list(ours.payments) == list(verdict.payments)
            and sorted(ours.rows) in tied
        )
    if not same:
        facts = {name: value for name, value in vars(situation).items() if name not in ("melds", "other_melds")}
        melds = {seat: [meld_text(m) for m in melds] for seat, melds in situation.other_melds.items()}
        raise ScoreDifferenceError(
            f"score\n  engine:  {ours}\n  referee: {verdict}\n  hand: {facts}\n"
            f"  melds {[meld_text(meld) for meld in situation.melds]}, others {melds}"
        )
