"""One hand at the table: turns, claims, kongs; the same for all variants.

Everything here is by *seat* at the table. While a kong may still be robbed, its fourth tile is out of the
hand and not yet in the meld: `offered` holds it.
"""

from .records import RANK, Question
from .situation import Meld, Situation


class Play:
    """The course of a hand, from the first decision until `end_with_win` or `end_with_draw` (docs/rules/common.md)."""

    # --- one step ---------------------------------------------------------------------------------

    def apply(self, action):
        """Let `to_act` take this action; the points that change hands in this step, by person."""
        if action not in self.options:
            raise ValueError(f"person {self.to_act} may not {action!r}, only {sorted(self.options)}")
        self.rewards = [0] * self.people
        self.options = set()
        if self.questions:
            question = self.questions.pop(0)
            if action != "pass":
                self.answers.append(((RANK[action], question.place[1]), question.seat, action))
            self.ask_next()
        elif action == "win":
            self.win_in_turn()
        else:
            verb, tile = action.rsplit(" ", 1)
            {
                "discard": self.discard,
                "concealed kong": self.declare_concealed_kong,
                "added kong": self.declare_added_kong,
            }[verb](tile)
        return list(self.rewards)

    def win_in_turn(self):
        """By the tiles, or by the eighth flower exposed in this turn where that is worth more.

        taiwan.md#eight-flowers.
        """
        seat = self.turn
        verdict = self.judge(seat, "draw") if self.drawn is not None else None
        if self.eighth_flower:
            by_flowers = self.judge(seat, "flowers")
            if verdict is None or not verdict.legal or verdict.points < by_flowers.points:
                self.end_with_win(seat, by_flowers, "flowers", None)
                return
        self.end_with_win(seat, verdict, "draw", None)

    def pay(self, payments):
        """Move points at once; payments by seat."""
        for seat, amount in enumerate(payments):
            self.points[self.person_of[seat]] += amount
            self.rewards[self.person_of[seat]] += amount

    # --- the turn ---------------------------------------------------------------------------------

    def begin_turn(self, seat):
        """Draw from the front of the wall, or end the hand."""
        if self.left_to(seat) == 0 or self.last_discard:
            self.end_with_draw()
            return
        self.turn, self.drawn = seat, None
        self.kong_draws, self.flower_draw, self.eighth_flower = 0, False, False
        self.players[seat].draws += 1
        self.receive((self.wall[seat] if self.variant.private_walls else self.wall).pop(0))

    def receive(self, tile):
        """The seat whose turn it is takes this tile; a flower is exposed and replaced."""
        player = self.players[self.turn]
        if tile in self.variant.flower_kinds:
            player.flowers.append(tile)
            self.flower_draw = True
            if self.variant.eight_flowers_win and len(player.flowers) == 8:
                self.eighth_flower = True
            self.replace_flower()
            return
        player.hand.append(tile)
        self.drawn = tile
        if self.pending_growth is not None:
            self.reserve += self.pending_growth  # fuzhou.md#the-reserve: the replacement comes first
            self.pending_growth = None
            self.last_discard = self.last_discard or self.variant.ends_after_kong(self)
        self.ask_turn()

    def replace_flower(self):
        if self.left == 0 and self.eighth_flower:
            self.ask_eight_flowers(self.turn, self.end_with_draw)  # asked first, then a draw (taiwan.md#eight-flowers)
        elif self.left == 0:
            self.end_with_draw()  # common.md#a-flower-that-cannot-be-replaced
        else:
            self.receive(self.wall.pop())

    def ask_eight_flowers(self, seat, when_passed):
        """A question of its own: before the first turn, or where the eighth flower cannot be replaced."""

        def answered(best):
            if best is None:
                when_passed()
            else:
                self.end_with_win(seat, self.judge(seat, "flowers"), "flowers", None)

        self.ask([Question(seat, {"win", "pass"}, 0, 0)], answered)

    def ask_turn(self):
        """What the seat whose turn it is may do: after a draw everything, after a claim discards only."""
        seat, player = self.turn, self.players[self.turn]
        options = {f"discard {tile}" for tile in player.hand}
        if self.drawn is not None:  # common.md#when-a-kong-may-be-declared: self kongs (and a win) only after a draw
            if not self.is_last(seat) and self.left_to(seat) > 0:
                options |= self.self_kongs(player)
            if self.eighth_flower or self.judge(seat, "draw").legal:
                options.add("win")
        self.options = self.variant.restricted_turn(self, seat, options)

    def self_kongs(self, player):
        concealed = {
            f"concealed kong {tile}"
            for tile in player.hand
            if player.hand.count(tile) == 4 and self.variant.may_conceal_kong(self, tile)
        }
        added = {
            f"added kong {meld.tiles[0]}"
            for meld in player.melds
            if meld.type == "pung" and meld.tiles[0] in player.hand
        }
        return concealed | added

    def discard(self, tile):
        seat, player = self.turn, self.players[self.turn]
        player.hand.remove(tile)
        player.discards.append(tile)
        player.thrown.append(tile)
        self.turn, self.drawn = None, None
        self.ask_claims(tile, seat)

    # --- claims -----------------------------------------------------------------------------------

    def ask(self, questions, finish):
        """Ask these seats, best place first; then call `finish` with the answer granted, or None."""
        self.questions = sorted(questions, key=lambda question: question.place)
        self.answers, self.finish = [], finish
        self.ask_next()

    def ask_next(self):
        """Ask on, unless no seat that is left could outrank the best answer so far."""
        best = min(self.answers, default=None)
        if self.questions and (best is None or self.questions[0].place < best[0]):
            self.options = self.questions[0].options
            return
        self.questions = []
        self.finish(best)

    def ask_claims(self, tile, discarder):
        seats = self.variant.seats
        questions = []
        for distance in range(1, seats):
            seat = (discarder + distance) % seats
            options = self.claim_options(seat, tile, discarder)
            if options:
                questions.append(Question(seat, options | {"pass"}, min(RANK[o] for o in options), distance))

        def answered(best):
            if best is None:
                self.begin_turn((discarder + 1) % seats)
            else:
                self.grant(best[1], best[2], tile, discarder)

        self.ask(questions, answered)

    def claim_options(self, seat, tile, discarder):
        """What a seat may do with a discard, `pass` left out."""
        if not self.variant.may_answer(self, seat, tile):
            return set()
        options = set()
        if self.judge(seat, "discard", tile, discarder).legal:
            options.add("win")
        if self.is_last(discarder) or self.last_discard or not self.variant.may_meld(self, tile):
            return options  # common.md#after-the-last-tile: the last discard can only be won on
        player = self.players[seat]
        if player.hand.count(tile) >= 2:
            options.add("pung")
        makes_kong = player.hand.count(tile) >= 3 or (self.variant.adds_discard_to_pung() and self.pung_of(seat, tile))
        if makes_kong and self.left_to(seat) > 0:
            options.add("kong")
        if seat == (discarder + 1) % self.variant.seats:  # common.md#chows
            options |= {name for name, run in self.chows(tile).items() if self.has_rest_of_run(player, tile, run)}
        return options

    def chows(self, tile):
        """{action: run} for the runs that a suit tile can be in."""
        if tile[1] not in "mps":
            return {}
        rank, suit = int(tile[0]), tile[1]
        lows = {"chow low": rank, "chow middle": rank - 1, "chow high": rank - 2}
        return {
            name: [f"{low}{suit}", f"{low + 1}{suit}", f"{low + 2}{suit}"]
            for name, low in lows.items()
            if 1 <= low <= 7
        }

    def has_rest_of_run(self, player, tile, run):
        return all(other in player.hand and self.variant.may_meld(self, other) for other in run if other != tile)

    def pung_of(self, seat, tile):
        """The seat's open pung of this kind, or None."""
        for meld in self.players[seat].melds:
            if meld.type == "pung" and meld.tiles[0] == tile:
                return meld
        return None

    def grant(self, seat, action, tile, discarder):
        """Give a discard to the seat whose claim stands."""
        player = self.players[seat]
        if action == "win":
            verdict = self.judge(seat, "discard", tile, discarder)
            self.players[discarder].discards.pop()
            player.hand.append(tile)
            self.end_with_win(seat, verdict, "discard", discarder)
            return
        self.players[discarder].discards.pop()
        self.claims_or_kongs += 1
        self.turn, self.drawn = seat, None
        self.kong_draws, self.flower_draw, self.eighth_flower = 0, False, False
        if action == "kong":
            own_pung = self.pung_of(seat, tile)
            if own_pung is not None:
                own_pung.type = "added kong"
                own_pung.tiles.append(tile)
            else:
                self.take(player, [tile] * 3)
                player.melds.append(Meld("exposed kong", [tile] * 4, discarder))
            self.finish_kong("exposed kong", discarder)
            return
        if action == "pung":
            self.take(player, [tile] * 2)
            player.melds.append(Meld("pung", [tile] * 3, discarder))
        else:
            run = self.chows(tile)[action]
            self.take(player, [other for other in run if other != tile])
            player.melds.append(Meld("chow", run, discarder))
        self.ask_turn()

    def take(self, player, tiles):
        for tile in tiles:
            player.hand.remove(tile)

    # --- kongs ------------------------------------------------------------------------------------

    def declare_concealed_kong(self, tile):
        player = self.players[self.turn]
        self.take(player, [tile] * 4)
        player.melds.append(Meld("concealed kong", [tile] * 4))
        self.claims_or_kongs += 1
        self.finish_kong("concealed kong", None)

    def declare_added_kong(self, tile):
        """Only an added kong can be robbed (common.md#robbing-a-kong)."""
        konger, seats = self.turn, self.variant.seats
        self.take(self.players[konger], [tile])
        self.offered = tile
        questions = []
        if self.variant.may_rob():
            for distance in range(1, seats):
                seat = (konger + distance) % seats
                may_answer = self.variant.may_answer(self, seat, tile)
                if may_answer and self.judge(seat, "kong", tile, konger).legal:
                    questions.append(Question(seat, {"win", "pass"}, 0, distance))

        def answered(best):
            self.offered = None
            if best is not None:
                robber = best[1]
                verdict = self.judge(robber, "kong", tile, konger)
                self.players[robber].hand.append(tile)
                self.end_with_win(robber, verdict, "kong", konger)
                return
            pung = self.pung_of(konger, tile)
            pung.type = "added kong"
            pung.tiles.append(tile)
            self.claims_or_kongs += 1
            self.finish_kong("added kong", None)

        self.ask(questions, answered)

    def finish_kong(self, meld_type, from_seat):
        """Pay what the kong is worth at once, and draw the replacement."""
        seat = self.turn
        owed = self.variant.kong_payments(self, seat, meld_type, from_seat)
        payments = [-owed.get(payer, 0) for payer in range(self.variant.seats)]
        payments[seat] = sum(owed.values())
        self.pay(payments)
        self.kong_draws += 1
        self.flower_draw = False
        self.pending_growth = self.variant.reserve_growth(meld_type)
        self.receive(self.wall[seat].pop(0) if self.variant.private_walls else self.wall.pop())

    # --- winning and the end ----------------------------------------------------------------------

    def judge(self, seat, source, tile=None, from_seat=None, robbing_gold=False, hand=None):
        """The variant's Verdict on a win of this seat now."""
        player = self.players[seat]
        hand = list(player.hand if hand is None else hand)
        if source == "draw" and not robbing_gold:
            tile = self.drawn
            hand.remove(tile)
        facts = {
            "hand": hand,
            "melds": player.melds,
            "other_melds": {s: p.melds for s, p in enumerate(self.players) if s != seat},
            "winning_tile": tile,
            "source": source,
            "from_seat": from_seat,
            "seat": seat,
            "dealer": self.dealer_seat,
            "dealer_streak": self.streak,
            "wild": self.wild,
            "flowers": player.flowers,
            "kong_draws": self.kong_draws if source == "draw" else 0,
            "flower_draw": self.flower_draw if source == "draw" else False,
            "last_tile": self.is_last(seat if source == "draw" or from_seat is None else from_seat),
            "first_draw": source == "draw" and player.draws == 1 and self.claims_or_kongs == 0,
            "robbing_gold": robbing_gold,
            "round_wind": self.round_wind,
        }
        facts.update(self.variant.extra_facts(self, seat, tile))
        return self.variant.score(Situation(self.variant.seats, **facts))
