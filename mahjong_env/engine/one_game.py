"""The common way through a step of few games in plain Python: there a call of numpy takes longer than the work.

Discards, passes, chows and pungs, and the draws that follow, on the same memory as the phases. A game whose step could
lead to anything else (a kong, a complete hand, the end of a hand, a question that only some variants ask) is left
untouched, and goes the way of the phases (`mahjong_env.engine.step`). So nothing is scored, dealt or ended here.

What is said twice stands in the phases as the rule, and here as its copy: what a discard, a draw and a claim write
(`phases.turn`, `draw`, `claims`, `grants`, and the verbs of `State`), and which actions are legal (`phases.masks`). Who
may claim what is read from the tables of `claim_rules`, and what a variant says of marks and shapes from its own
declarations. `tests/engine/test_one_game.py` and ``make proof`` play both ways and compare all arrays.

A variant that answers a question of this way with code of its own is played by the phases alone (`can_play`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, NUM_ACTIONS, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Games, Int64Array
from mahjong_env.engine.claim_rules import (
    ARE_NEIGHBOURS,
    MAY_CHOW_HIGH,
    MAY_CHOW_LOW,
    MAY_CHOW_MIDDLE,
    MAY_KONG,
    NEIGHBOURS,
    RANK_OF_ACTION,
    RANK_OF_OPTIONS,
    SETS_OF_EQUALS,
)
from mahjong_env.engine.phases.context import StepContext
from mahjong_env.engine.phases.judge import judge_turn
from mahjong_env.engine.phases.masks import MASKS_OF_OPTIONS, write_masks
from mahjong_env.hands.codes import POWER, SUIT
from mahjong_env.hands.summaries import FIRST_HONOUR_FACTS, facts_for_one, sum_of_one
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import (
    CLAIMED,
    DISCARDED,
    LATEST,
    MAX_DISCARDS,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NO_SEAT,
    NUM_PLANES,
    SLOT_OF_OFFSET,
    Phase,
)

MOST_GAMES: Final = 16
"""The largest batches that are played like this; in larger ones numpy is faster."""

NOT_ASKED: Final = ("on_discard", "limit_claims", "limit_turn", "may_win_at_once", "unclaimable")
"""Questions that are not asked on this way, or only where a seat has a mark (`only_with_marks`).

`tiles_short` is asked as `Rules.tiles_short_of_one`; `on_flower` and `concealed_kong_kinds` are asked as they are.
"""

_TURN: Final = Phase.TURN
_CLAIM: Final = Phase.CLAIM
_SUIT: Final = SUIT.tolist()
_POWER: Final = POWER.tolist()
_SEEN: Final = NUM_PLANES * NUM_KINDS  # numbers of a seat in `State.public`
_SLOTS: Final = {seats: slots.tolist() for seats, slots in SLOT_OF_OFFSET.items()}
_RANKS: Final = RANK_OF_OPTIONS.tolist()
_RANK_OF_CLAIM: Final = dict(enumerate(RANK_OF_ACTION.tolist(), CHOW_LOW))
_SETS: Final = SETS_OF_EQUALS.tolist()
_MAY_KONG: Final = int(MAY_KONG)
_NO_FLOWERS: Final = memoryview(bytes(NUM_ALL_KINDS)).cast("b")
# By kind: the two tiles that make a run with it, and the option bit.
_PAIRS_BESIDE: Final = ((0, 1, MAY_CHOW_HIGH), (1, 2, MAY_CHOW_MIDDLE), (2, 3, MAY_CHOW_LOW))
_RUNS: Final = [
    [
        (int(NEIGHBOURS[one, kind]), int(NEIGHBOURS[other, kind]), int(option))
        for one, other, option in _PAIRS_BESIDE
        if ARE_NEIGHBOURS[one, kind] and ARE_NEIGHBOURS[other, kind]
    ]
    for kind in range(NUM_KINDS)
]
# By the tiles of a kind that are held: whether it may be discarded.
_MAY_DISCARD: Final = bytes([0, *[1] * 255])
_ONLY_DISCARDS: Final = bytes(NUM_ACTIONS - NUM_KINDS)
_MASKS: Final = [mask.tobytes() for mask in MASKS_OF_OPTIONS]
_NOTHING_LEFT: Final[tuple[Games, Int64Array]] = np.zeros(0, np.intp), np.zeros(0, np.int64)


def can_play(rules: Rules) -> bool:
    """Whether the variant leaves the questions of this way alone, or has declared what it answers."""
    kind = type(rules)
    for name in NOT_ASKED:
        answer = getattr(kind, name)
        if answer is not getattr(Rules, name) and not getattr(answer, "only_with_marks", False):
            return False
    return _answers_both(kind, "tiles_short", "tiles_short_of_one") and rules.tiles_short_of_one() is not None


def _answers_both(kind: type[Rules], question: str, of_one: str) -> bool:
    """Whether the second question is answered where the first one is, or later."""
    answers = [name for base in kind.__mro__ for name in (of_one, question) if name in vars(base)]
    return answers[0] == of_one


class FewGames:
    """The games of a small batch, one by one, in plain Python.

    All methods take the number of the game (``g``); ``at`` is the number of a seat in the batch.
    """

    def __init__(self, context: StepContext) -> None:
        """Look at the memory of the games, whose rules `can_play`."""
        state, rules, self._context = context.state, context.rules, context
        self._state, self._rules, self._words = state, rules, facts_for_one()
        short_of_one = rules.tiles_short_of_one()
        assert short_of_one is not None
        self._short_of_one = short_of_one
        self._seats, self._wall_size = state.num_seats, state.wall.shape[1]
        self._slots = _SLOTS[self._seats]
        self._nothing = bytes(self._seats)
        self._all = range(len(state.phase))

        self._has_wild, self._chows = rules.has_wild, rules.claims_chows
        self._adds_discards = rules.adds_discards
        self._dead = bytes(kind in rules.unclaimable_kinds for kind in range(NUM_KINDS))
        self._is_flower = bytes(context.is_flower.tolist())
        self._num_marks = len(rules.marks)
        self._after_discard = rules.marks_after_discard
        self._limits_claims, self._limits_turns, self._wins_at_once, self._answers_flowers = (
            getattr(type(rules), name) is not getattr(Rules, name)
            for name in ("limit_claims", "limit_turn", "may_win_at_once", "on_flower")
        )
        self._no_marks = bytes(2 * self._num_marks * self._seats)

        memory = state.memory
        self._hand, self._public, self._river, self._mask, self._options = (
            memory(name, np.uint8) for name in ("hand", "public", "river", "mask", "options")
        )
        self._code, self._open_pung, self._is_tenpai = memory("code"), memory("open_pung"), memory("is_tenpai")
        self._num_melds, self._meld_type, self._meld_kind = (
            memory("num_melds"),
            memory("meld_type"),
            memory("meld_kind"),
        )
        self._meld_from, self._meld_claimed = memory("meld_from"), memory("meld_claimed")
        self._river_size, self._river_claimed, self._turns = (
            memory("river_size"),
            memory("river_claimed"),
            memory("turns"),
        )
        self._wall, self._front, self._back, self._reserve = (
            memory("wall"),
            memory("front"),
            memory("back"),
            memory("reserve"),
        )
        self._left_before_draw, self._wild, self._closing = (
            memory("left_before_draw"),
            memory("wild"),
            memory("closing"),
        )
        self._phase, self._actor, self._turn, self._drawn = (
            memory("phase"),
            memory("actor"),
            memory("turn"),
            memory("drawn"),
        )
        self._kong_draws, self._flower_draw, self._can_win = (
            memory("kong_draws"),
            memory("flower_draw"),
            memory("can_win"),
        )
        self._undisturbed, self._num_discards = memory("undisturbed"), memory("num_discards")
        self._offered, self._offered_by = memory("offered"), memory("offered_by")
        self._best_precedence, self._best_seat, self._best_action = (
            memory("best_precedence"),
            memory("best_seat"),
            memory("best_action"),
        )
        self._flowers, self._fresh_flowers = memory("flowers"), memory("fresh_flowers")
        self._marks = self._marks_before_flowers = memoryview(b"")
        if self._num_marks:
            self._marks, self._marks_before_flowers = memory("marks"), memory("marks_before_flowers")

    # --- Steps ----------------------------------------------------------------------------------------------------

    def read(self, actions: Any, games: Any) -> list[tuple[int, int]] | None:
        """The games that are not over, and their actions, if all is as it should be; None: look closer."""
        if type(actions) is np.ndarray and actions.ndim == 1 and actions.dtype.kind in "iu":
            actions = actions.tolist()
        elif type(actions) is not list:
            return None
        numbers = self._all
        if games is not None:
            if type(games) is not np.ndarray or games.ndim != 1 or games.dtype.kind not in "iu":
                return None
            numbers = games.tolist()
            if len(set(numbers)) < len(numbers):
                return None
        if len(actions) != len(numbers):
            return None
        chosen = []
        for g, action in zip(numbers, actions, strict=True):
            if type(action) is not int or g not in self._all:
                return None
            if self._actor[g] < 0:
                continue
            if not (0 <= action < NUM_ACTIONS and self._mask[g * NUM_ACTIONS + action]):
                return None
            chosen.append((g, action))
        return chosen

    def play(self, chosen: list[tuple[int, int]]) -> tuple[Games, Int64Array]:
        """Play one legal action in each game, and give those back that were left alone: [n] games and [n] actions.

        Args:
            chosen: games that are not over, and an action for each.
        """
        left = [(g, action) for g, action in chosen if not self._play(g, action)]
        if not left:
            return _NOTHING_LEFT
        games, actions = zip(*left, strict=True)
        return np.array(games, np.intp), np.array(actions, np.int64)

    def _play(self, g: int, action: int) -> bool:
        """Whether the game was played; else it is untouched."""
        phase = self._phase[g]
        if phase == _TURN:
            return action < CONCEALED_KONG and self._discard(g, action)
        return bool(phase == _CLAIM) and action != WIN and action != KONG and self._answer(g, action)

    def _discard(self, g: int, kind: int) -> bool:
        """`phases.turn._discard` and `phases.claims.offer_discards`."""
        seats, hand = self._seats, self._hand
        seat, base = self._actor[g], g * seats
        at, wild = base + seat, self._wild[g]
        left = self._wall_size - self._front[g] - self._back[g] - self._reserve[g]
        if left <= 0 or self._closing[g] or not hand[at * NUM_KINDS + kind]:
            return False
        wanted: bytes | None = b""
        if kind != wild and not self._dead[kind]:
            wanted = self._options_of_others(base, seat, kind, wild)
            if wanted is None:
                return False
        before = self._mark_discard(at, kind, wild)
        if wanted and self._limits_claims and self._has_marks(g):
            wanted = self._limited(g, base, seat, wanted)
        following = seat + 1 if seat + 1 < seats else 0
        tile = -1
        if not wanted:
            tile = self._tile_to_come(g, base + following, wild)
            if tile < 0:
                for place, mark in before:
                    self._marks[place] = mark
                return False

        hand[at * NUM_KINDS + kind] -= 1
        if kind != wild:
            self._code[at * 4 + _SUIT[kind]] -= _POWER[kind]
        number = self._num_discards[g] + 1
        self._num_discards[g] = number
        seen = at * _SEEN + kind
        self._public[seen + DISCARDED * NUM_KINDS] += 1
        self._public[seen + LATEST * NUM_KINDS] = number
        size = self._river_size[at]
        self._river[at * MAX_DISCARDS + size] = kind + 1
        self._river_size[at] = size + 1
        self._drawn[g] = -1
        self._can_win[g] = 0
        wilds = self._wilds(at, wild)
        self._is_tenpai[at] = self._short(at, wilds) <= wilds + 1
        self._offered_by[g] = seat
        if wanted:
            self._options[base : base + seats] = wanted
            self._offered[g], self._best_precedence[g] = kind, 0
            self._phase[g], self._actor[g] = _CLAIM, self._asked_first(base, seat)[0]
            self._write_question(g, base)
        else:
            self._draw(g, base, following, tile)
        return True

    def _mark_discard(self, at: int, kind: int, wild: int) -> list[tuple[int, int]]:
        """`Rules.on_discard`; the marks that it may have changed: where they stand, and what they were."""
        before = []
        for number, after in self._after_discard:
            place = at * self._num_marks + number
            mark = self._marks[place]
            before.append((place, mark))
            self._marks[place] = after(mark, kind, wild)
        return before

    def _has_marks(self, g: int) -> bool:
        size = self._num_marks * self._seats
        return self._marks[g * size : (g + 1) * size].tobytes() != self._no_marks

    def _limited(self, g: int, base: int, giver: int, wanted: bytes) -> bytes:
        """What `Rules.limit_claims` leaves of the options of all seats."""
        others = self._state.seats_after(np.array([g]), np.array([giver]), self._seats - 1)
        options = np.frombuffer(wanted, np.int8)[others.seat]
        self._rules.limit_claims(self._state, others, options)
        if not options.any():
            return b""
        limited = np.zeros(self._seats, np.int8)
        limited[others.seat] = options
        return limited.tobytes()

    def _options_of_others(self, base: int, giver: int, kind: int, wild: int) -> bytes | None:
        """The options of all seats when a tile is discarded, empty for none; None if the tile completes a hand.

        `phases.claims._sets_wanted` and `claim_rules.sets_wanted`.
        """
        seats, hand = self._seats, self._hand
        wanted = None
        for row in range(1, seats):
            seat = giver + row
            if seat >= seats:
                seat -= seats
            at = base + seat
            if self._is_tenpai[at]:
                wilds = self._wilds(at, wild)
                if self._short(at, wilds, kind) <= wilds:
                    return None
            first = at * NUM_KINDS
            may = _SETS[hand[first + kind]]
            if row == 1 and self._chows:
                for one, other, option in _RUNS[kind]:
                    if hand[first + one] and hand[first + other] and one != wild and other != wild:
                        may |= option
            if self._adds_discards and self._open_pung[first + kind]:
                may |= _MAY_KONG
            if may:
                if wanted is None:
                    wanted = bytearray(seats)
                wanted[seat] = may
        return b"" if wanted is None else bytes(wanted)

    def _asked_first(self, base: int, giver: int) -> tuple[int, int]:
        """The seat that is asked next, and the precedence of its best option; -1 and 0 for nobody.

        `claim_rules.seats_to_ask_first`.
        """
        seats, first, best = self._seats, NO_SEAT, 0
        for row in range(seats):
            seat = giver + 1 + row
            if seat >= seats:
                seat -= seats
            options = self._options[base + seat]
            if options:
                could = _RANKS[options] * 4 + 3 - row
                if could > best:
                    first, best = seat, could
        return first, best

    def _answer(self, g: int, action: int) -> bool:
        """`phases.claims.take_answers`."""
        seats, options = self._seats, self._options
        base, seat, giver = g * seats, self._actor[g], self._offered_by[g]
        heard = 0 if action == PASS else _RANK_OF_CLAIM[action] * 4 + 3 - (seat - giver - 1) % seats
        before = self._best_precedence[g]
        best = heard if heard > before else before
        own = options[base + seat]
        options[base + seat] = 0
        asked, could = self._asked_first(base, giver)
        is_decided, tile = could <= best, -1
        following = giver + 1 if giver + 1 < seats else 0
        if is_decided:
            if best == 0:
                left = self._wall_size - self._front[g] - self._back[g] - self._reserve[g]
                if left > 0 and not self._closing[g]:
                    tile = self._tile_to_come(g, base + following, self._wild[g])
                is_common = tile >= 0
            else:
                is_common = heard > before or self._best_action[g] <= PUNG
            if not is_common:
                options[base + seat] = own
                return False
        if heard > before:
            self._best_precedence[g], self._best_seat[g], self._best_action[g] = heard, seat, action
        if not is_decided:
            self._actor[g] = asked
            self._write_question(g, base)
            return True
        kind = self._offered[g]
        self._offered[g], self._best_precedence[g] = -1, 0
        options[base : base + seats] = self._nothing
        if tile >= 0:
            self._draw(g, base, following, tile)
        else:
            self._grant(g, base, giver, kind)
        return True

    def _grant(self, g: int, base: int, giver: int, kind: int) -> None:
        """A chow or pung: `phases.grants`, `State.take_discard` and `State.lay_meld`."""
        hand, code, public, slots = self._hand, self._code, self._public, self._slots
        claimer, action = self._best_seat[g], self._best_action[g]
        at, other = base + claimer, base + giver
        public[other * _SEEN + DISCARDED * NUM_KINDS + kind] -= 1
        size = self._river_size[other]
        latest = other * MAX_DISCARDS + size - 1
        self._river[latest] += CLAIMED
        self._river_claimed[latest] = slots[(claimer - giver) % self._seats]
        self._undisturbed[g] = 0
        melded = at * _SEEN + MELDED * NUM_KINDS
        if action == PUNG:
            lowest, meld_type = kind, int(MeldType.PUNG)
            hand[at * NUM_KINDS + kind] -= 2
            code[at * 4 + _SUIT[kind]] -= 2 * _POWER[kind]
            public[melded + kind] += 3
            self._open_pung[at * NUM_KINDS + kind] = 1
        else:
            lowest, meld_type = kind - (action - CHOW_LOW), int(MeldType.CHOW)
            for part in range(lowest, lowest + 3):
                public[melded + part] += 1
                if part != kind:
                    hand[at * NUM_KINDS + part] -= 1
                    code[at * 4 + _SUIT[part]] -= _POWER[part]
        number = self._num_melds[at]
        self._num_melds[at] = number + 1
        place = at * MAX_MELDS + number
        self._meld_type[place], self._meld_kind[place] = meld_type, lowest
        self._meld_from[place], self._meld_claimed[place] = giver, kind
        listed = at * _SEEN + MELD_LIST * NUM_KINDS + number * MELD_PLACES
        public[listed], public[listed + 1] = meld_type, lowest + 1
        public[listed + 2] = slots[(giver - claimer) % self._seats]
        public[listed + 3], public[listed + 4] = kind + 1, size

        self._turn[g] = claimer
        self._left_before_draw[g] = self._wall_size - self._front[g] - self._back[g] - self._reserve[g]
        self._drawn[g], self._can_win[g], self._kong_draws[g], self._flower_draw[g] = -1, 0, 0, 0
        self._phase[g], self._actor[g] = _TURN, claimer
        self._write_turn(g, base + claimer, may_kong=False)

    # --- Drawing --------------------------------------------------------------------------------------------------

    def _tile_to_come(self, g: int, at: int, wild: int) -> int:
        """The tile that a seat is about to draw, flowers replaced; -1 if that is a matter for the phases."""
        tile = self._wall[g * self._wall_size + self._front[g]]
        if self._is_flower[tile]:
            back, end = self._back[g], (g + 1) * self._wall_size
            left = self._wall_size - self._front[g] - 1 - back - self._reserve[g]
            while self._is_flower[tile]:
                if left <= 0:
                    return -1
                back, left = back + 1, left - 1
                tile = self._wall[end - back]
        if self._is_tenpai[at]:
            wilds = self._wilds(at, wild) + (tile == wild)
            if self._short(at, wilds, tile if tile != wild else -1) <= wilds:
                return -1
        return tile

    def _draw(self, g: int, base: int, seat: int, tile: int) -> None:
        """A turn begins with the draw of a tile (see `_tile_to_come`): `phases.draw`."""
        at, front = base + seat, self._front[g]
        self._left_before_draw[g] = self._wall_size - front - self._back[g] - self._reserve[g]
        self._turn[g], self._kong_draws[g], self._flower_draw[g] = seat, 0, 0
        self._turns[at] += 1
        self._front[g] = front + 1
        drawn = self._wall[g * self._wall_size + front]
        if self._is_flower[drawn]:
            self._replace_flowers(g, at, drawn)
        self._drawn[g] = tile
        self._hand[at * NUM_KINDS + tile] += 1
        if tile != self._wild[g]:
            self._code[at * 4 + _SUIT[tile]] += _POWER[tile]
        self._phase[g], self._actor[g], self._can_win[g] = _TURN, seat, 0
        if self._wins_at_once and self._has_marks(g):
            judge_turn(self._context, self._state.seats_to_act(np.array([g])))
        self._write_turn(g, at, may_kong=self._wall_size - front - 1 - self._back[g] > self._reserve[g])

    def _replace_flowers(self, g: int, at: int, tile: int) -> None:
        """`phases.draw._replace_flowers`."""
        fresh, number = g * NUM_ALL_KINDS, self._num_marks
        self._fresh_flowers[fresh : fresh + NUM_ALL_KINDS] = _NO_FLOWERS
        if number:
            self._marks_before_flowers[g * number : (g + 1) * number] = self._marks[at * number : (at + 1) * number]
        self._flower_draw[g] = 1
        while self._is_flower[tile]:
            self._flowers[at * NUM_ALL_KINDS + tile] += 1
            self._fresh_flowers[fresh + tile] += 1
            if self._answers_flowers:
                self._rules.on_flower(self._state, self._state.seats(np.array([g]), np.array([at % self._seats])))
            self._back[g] += 1
            tile = self._wall[(g + 1) * self._wall_size - self._back[g]]

    # --- Hands and masks ------------------------------------------------------------------------------------------

    def _wilds(self, at: int, wild: int) -> int:
        return self._hand[at * NUM_KINDS + wild] if wild >= 0 else 0

    def _short(self, at: int, wilds: int, kind: int = -1) -> int:
        """Tiles that a hand lacks, with one more natural tile where given (`Rules.tiles_short`)."""
        code, words, first = self._code, self._words, at * 4
        one, two, three, four = code[first : first + 4]
        if kind >= 0:
            suit = _SUIT[kind]
            if suit == 0:
                one += _POWER[kind]
            elif suit == 1:
                two += _POWER[kind]
            elif suit == 2:
                three += _POWER[kind]
            else:
                four += _POWER[kind]
        total, with_pair = sum_of_one(words[one], words[two], words[three], words[four + FIRST_HONOUR_FACTS])
        return self._short_of_one(total, with_pair, wilds, self._num_melds[at])

    def _write_question(self, g: int, base: int) -> None:
        """`phases.masks._write_questions`."""
        mask = _MASKS[self._options[base + self._actor[g]]]
        self._mask[g * NUM_ACTIONS : (g + 1) * NUM_ACTIONS] = mask

    def _write_turn(self, g: int, at: int, *, may_kong: bool) -> None:
        """`phases.masks._write_turns`."""
        if (self._limits_turns or self._can_win[g]) and self._has_marks(g):
            write_masks(self._context, np.array([g]))
            return
        mask, first = self._mask, g * NUM_ACTIONS
        held = self._hand[at * NUM_KINDS : (at + 1) * NUM_KINDS].tobytes()
        mask[first : first + NUM_ACTIONS] = held.translate(_MAY_DISCARD) + _ONLY_DISCARDS
        if not may_kong:
            return
        if 4 in held:
            counts = np.frombuffer(held, np.int8)[None]
            kinds = self._rules.concealed_kong_kinds(self._state, np.array([g]), counts)
            mask[first + CONCEALED_KONG : first + ADDED_KONG] = kinds.tobytes()
        if self._num_melds[at]:
            pungs = self._open_pung[at * NUM_KINDS : (at + 1) * NUM_KINDS].tobytes()
            kind = pungs.find(1)
            while kind >= 0:
                if held[kind]:
                    mask[first + ADDED_KONG + kind] = 1
                kind = pungs.find(1, kind + 1)
