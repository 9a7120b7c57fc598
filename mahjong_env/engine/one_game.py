"""The fast path of a step for few games, in plain Python: there, one call of numpy takes longer than the work itself.

It plays discards, passes, chows, pungs and the draws that follow, on the same memory as the phases. A game whose step
could lead to anything else (a kong, a complete hand, a question that only some variants ask) is left untouched and
takes the way of the phases (`mahjong_env.engine.step`). So nothing is scored or dealt here; of the end of a hand, only
the last discard is played.

Some rules therefore exist twice. The phases define what a discard, a draw and a claim write (`phases.turn`, `draw`,
`claims`, `grants`, and the verbs of `State`) and which actions are legal (`phases.masks`); the code here is a copy. Who
may claim what is read from the tables of `claim_rules`, and a variant's marks and shapes from its own declarations.
`tests/engine/test_one_game.py` and ``make proof`` play both ways and compare all arrays.

A variant that answers one of the questions of this path with code of its own is played by the phases alone
(`can_play`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, NUM_ACTIONS, PASS, PUNG, WIN
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_ALL_KINDS, NUM_KINDS
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
from mahjong_env.observation.one_seat import games_named
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import (
    CLAIMED,
    DISCARDED,
    EXPOSED_EVENT,
    EXPOSED_SEAT,
    EXPOSED_WHAT,
    FEW_GAMES,
    LATEST,
    MAX_DISCARDS,
    MAX_EXPOSED,
    MAX_MELDS,
    MELD_LIST,
    MELD_PLACES,
    MELDED,
    NO_SEAT,
    NUM_PLANES,
    SLOT_OF_OFFSET,
    Event,
    Phase,
)

MOST_GAMES: Final = FEW_GAMES
"""The largest batch that is played like this; in larger ones numpy is faster."""

NOT_ASKED: Final = ("on_discard", "limit_claims", "limit_turn", "may_win_at_once", "unclaimable")
"""Questions that are not asked on this path, or only where a seat has a mark (`only_with_marks`).

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
# By kind: the two tiles that make a run with it, and the option bit of that chow.
_PAIRS_BESIDE: Final = ((0, 1, MAY_CHOW_HIGH), (1, 2, MAY_CHOW_MIDDLE), (2, 3, MAY_CHOW_LOW))
_RUNS: Final = [
    [
        (int(NEIGHBOURS[one, kind]), int(NEIGHBOURS[other, kind]), int(option))
        for one, other, option in _PAIRS_BESIDE
        if ARE_NEIGHBOURS[one, kind] and ARE_NEIGHBOURS[other, kind]
    ]
    for kind in range(NUM_KINDS)
]
# By the number of tiles of a kind in the hand: whether it may be discarded.
_MAY_DISCARD: Final = bytes([0, *[1] * 255])
_ONLY_DISCARDS: Final = bytes(NUM_ACTIONS - NUM_KINDS)
_MASKS: Final = [mask.tobytes() for mask in MASKS_OF_OPTIONS]


def can_play(rules: Rules) -> bool:
    """Whether there is one wall, and the variant leaves the questions of this path alone or declares its answers."""
    kind = type(rules)
    if rules.has_private_walls:
        return False
    for name in NOT_ASKED:
        answer = getattr(kind, name)
        if answer is not getattr(Rules, name) and not getattr(answer, "only_with_marks", False):
            return False
    return _answers_both(kind, "tiles_short", "tiles_short_of_one") and rules.tiles_short_of_one() is not None


def _answers_both(kind: type[Rules], question: str, of_one: str) -> bool:
    """Whether the second question is answered by the class that answers the first one, or by a subclass of it."""
    answers = [name for base in kind.__mro__ for name in (of_one, question) if name in vars(base)]
    return answers[0] == of_one


class FewGames:
    """The games of a small batch, played one by one in plain Python.

    Methods take the number of the game (``g``); ``at`` is the number of a seat in the batch.
    """

    def __init__(self, context: StepContext) -> None:
        """Look at the memory of the games, whose rules must be ones that `can_play` accepts."""
        state, rules, self._context = context.state, context.rules, context
        self._state, self._rules, self._words = state, rules, facts_for_one()
        short_of_one = rules.tiles_short_of_one()
        assert short_of_one is not None
        self._short_of_one = short_of_one
        self._seats, self._wall_size = state.num_seats, state.wall.shape[1]
        self._slots = _SLOTS[self._seats]
        self._no_options = memoryview(bytes(self._seats)).cast("b")
        self._all = range(len(state.phase))

        self._chows, self._adds_discards = rules.claims_chows, rules.adds_discards
        self._dead = bytes(kind in rules.unclaimable_kinds for kind in range(NUM_KINDS))
        self._is_flower = bytes(context.is_flower.tolist())
        self._num_marks = len(rules.marks)
        self._after_discard = rules.marks_after_discard
        self._limits_claims, self._limits_turns, self._wins_at_once, self._answers_flowers = (
            getattr(type(rules), name) is not getattr(Rules, name)
            for name in ("limit_claims", "limit_turn", "may_win_at_once", "on_flower")
        )
        self._no_marks = bytes(2 * self._num_marks * self._seats)
        self._lines = state.lines()

    # --- Steps ----------------------------------------------------------------------------------------------------

    def read(self, actions: Any, games: Any) -> list[tuple[int, int]] | None:
        """Return the games that are not over, with their actions; None where the arguments need a closer check."""
        if type(actions) is np.ndarray and actions.ndim == 1 and actions.dtype.kind in "iu":
            actions = actions.tolist()
        elif type(actions) is not list:
            return None
        numbers = games_named(games, self._all)
        if numbers is None or not len(set(numbers)) == len(numbers) == len(actions):
            return None
        lines, chosen = self._lines, []
        for g, action in zip(numbers, actions, strict=True):
            if type(action) is not int:
                return None
            if lines.actor[g] < 0:
                continue
            if not (0 <= action < NUM_ACTIONS and lines.mask[g * NUM_ACTIONS + action]):
                return None
            chosen.append((g, action))
        return chosen

    def play(self, chosen: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[int]]:
        """Play one legal action in each of these games, which are not over.

        Returns:
            The games and actions that were left alone, and the games whose hand ends with the discard just played.
        """
        ended: list[int] = []
        return [each for each in chosen if not self._play(*each, ended)], ended

    def play_one(self, action: int) -> bool:
        """Play a legal action in the first game if this path can and no hand ends; return whether it was played."""
        return 0 <= action < NUM_ACTIONS and bool(self._lines.mask[action]) and self._play(0, action, None)

    def _play(self, g: int, action: int, ended: list[int] | None) -> bool:
        """Play an action and return whether it was played; else the game is untouched. ``ended``: see `_discard`."""
        phase = self._lines.phase[g]
        if phase == _TURN:
            return action < CONCEALED_KONG and self._discard(g, action, ended)
        return bool(phase == _CLAIM) and action != WIN and action != KONG and self._answer(g, action)

    def _discard(self, g: int, kind: int, ended: list[int] | None) -> bool:
        """See `phases.turn._discard` and `phases.claims.offer_discards`.

        A game whose hand ends is added to ``ended``; with None, no hand may end.
        """
        lines, seats = self._lines, self._seats
        seat, base, wild = lines.actor[g], g * seats, lines.wild[g]
        at, left = base + seat, self._left(g)
        held = at * NUM_KINDS + kind
        is_last = left <= 0 or lines.closing[g]
        if not lines.hand[held] or (is_last and ended is None):
            return False
        wanted: bytes | None = b""
        if kind != wild and not self._dead[kind]:
            wanted = self._options_of_others(base, seat, kind, wild)
            if wanted is None:
                return False
            if is_last:  # the last discard can only be won
                wanted = b""
        following = seat + 1 if seat + 1 < seats else 0
        tile = -1
        if not is_last and (not wanted or self._limits_claims):
            tile = self._tile_to_come(g, base + following, wild, left)
            if tile < 0:
                return False

        for number, after in self._after_discard:  # `Rules.on_discard`
            place = at * self._num_marks + number
            lines.marks[place] = after(lines.marks[place], kind, wild)
        if wanted and self._limits_claims and self._has_marks(g):
            wanted = self._limited(g, base, seat, wanted)
        lines.hand[held] -= 1
        if kind != wild:
            lines.code[at * 4 + _SUIT[kind]] -= _POWER[kind]
        number = lines.num_discards[g] + 1
        lines.num_discards[g] = number
        seen = at * _SEEN + kind
        lines.public[seen + DISCARDED * NUM_KINDS] += 1
        lines.public[seen + LATEST * NUM_KINDS] = number
        size = lines.river_size[at]
        turned = at * MAX_DISCARDS + size
        lines.river[turned] = -1 - kind if kind == lines.drawn[g] else kind + 1
        lines.river_number[turned] = number
        lines.river_size[at] = size + 1
        wilds = self._wilds(at, wild)
        lines.is_tenpai[at] = self._short(at, wilds) <= wilds + 1
        lines.offered_by[g] = seat
        if wanted:
            lines.options[base : base + seats] = memoryview(wanted).cast("b")
            lines.drawn[g], lines.can_win[g] = -1, 0
            lines.offered[g], lines.best_precedence[g] = kind, 0
            lines.phase[g] = _CLAIM
            self._ask(g, base, self._asked_first(base, seat)[0])
        elif ended is not None and is_last:
            lines.drawn[g], lines.can_win[g] = -1, 0
            lines.left_before_draw[g] = left
            ended.append(g)
        else:
            self._draw(g, base, following, tile, left)
        return True

    def _left(self, g: int) -> int:
        """See `State.left`."""
        lines = self._lines
        return self._wall_size - lines.front[g] - lines.back[g] - lines.reserve[g]

    def _has_marks(self, g: int) -> bool:
        size = self._num_marks * self._seats
        return self._lines.marks[g * size : (g + 1) * size].tobytes() != self._no_marks

    def _limited(self, g: int, base: int, giver: int, wanted: bytes) -> bytes:
        """Return the options of all seats that `Rules.limit_claims` leaves."""
        others = self._state.seats_after(np.array([g]), np.array([giver]), self._seats - 1)
        options = np.frombuffer(wanted, np.int8)[others.seat]
        self._rules.limit_claims(self._state, others, options)
        if not options.any():
            return b""
        limited = np.zeros(self._seats, np.int8)
        limited[others.seat] = options
        return limited.tobytes()

    def _options_of_others(self, base: int, giver: int, kind: int, wild: int) -> bytes | None:
        """Return the options of all seats on a discard, empty for none; None if the tile completes a hand.

        See `phases.claims._sets_wanted` and `claim_rules.sets_wanted`.
        """
        lines, seats = self._lines, self._seats
        if 1 in lines.is_tenpai[base : base + seats].tobytes():
            for seat in range(seats):
                if lines.is_tenpai[base + seat] and seat != giver:
                    wilds = self._wilds(base + seat, wild)
                    if self._short(base + seat, wilds, kind) <= wilds:
                        return None
        first = base * NUM_KINDS
        following = giver + 1 if giver + 1 < seats else 0
        wanted: bytearray | None = None
        if self._chows:
            held = first + following * NUM_KINDS
            for one, other, option in _RUNS[kind]:
                if lines.hand[held + one] and lines.hand[held + other] and one != wild and other != wild:
                    wanted = wanted or bytearray(seats)
                    wanted[following] |= option
        for seat, count in enumerate(lines.hand[first + kind : first + seats * NUM_KINDS : NUM_KINDS].tobytes()):
            if count > 1 and seat != giver:
                wanted = wanted or bytearray(seats)
                wanted[seat] |= _SETS[count]
        if self._adds_discards:
            for seat in range(seats):
                if lines.open_pung[(base + seat) * NUM_KINDS + kind] and seat != giver:
                    wanted = wanted or bytearray(seats)
                    wanted[seat] |= _MAY_KONG
        return b"" if wanted is None else bytes(wanted)

    def _asked_first(self, base: int, giver: int) -> tuple[int, int]:
        """Return the seat that is asked next, and the precedence of its best option; -1 and 0 for nobody.

        See `claim_rules.seats_to_ask_first`.
        """
        seats, first, best = self._seats, NO_SEAT, 0
        for seat, options in enumerate(self._lines.options[base : base + seats]):
            if options:
                could = _RANKS[options] * 4 + 3 - (seat - giver - 1) % seats
                if could > best:
                    first, best = seat, could
        return first, best

    def _ask(self, g: int, base: int, seat: int) -> None:
        """Wait for the answer of a seat; for its mask see `phases.masks._write_questions`."""
        lines, mask = self._lines, g * NUM_ACTIONS
        lines.actor[g] = seat
        lines.mask[mask : mask + NUM_ACTIONS] = _MASKS[lines.options[base + seat]]

    def _answer(self, g: int, action: int) -> bool:
        """See `phases.claims.take_answers`."""
        lines, seats = self._lines, self._seats
        base, seat, giver = g * seats, lines.actor[g], lines.offered_by[g]
        heard = 0 if action == PASS else _RANK_OF_CLAIM[action] * 4 + 3 - (seat - giver - 1) % seats
        before = lines.best_precedence[g]
        best = heard if heard > before else before
        own = lines.options[base + seat]
        lines.options[base + seat] = 0
        asked, could = self._asked_first(base, giver)
        is_decided, tile, left = could <= best, -1, self._left(g)
        following = giver + 1 if giver + 1 < seats else 0
        if is_decided:
            if best == 0:
                if left > 0 and not lines.closing[g]:
                    tile = self._tile_to_come(g, base + following, lines.wild[g], left)
                is_common = tile >= 0
            else:
                is_common = heard > before or lines.best_action[g] <= PUNG
            if not is_common:
                lines.options[base + seat] = own
                return False
        if heard > before:
            lines.best_precedence[g], lines.best_seat[g] = heard, seat
            lines.best_action[g] = action
        if not is_decided:
            self._ask(g, base, asked)
            return True
        kind = lines.offered[g]
        lines.offered[g], lines.best_precedence[g] = -1, 0
        lines.options[base : base + seats] = self._no_options
        if tile >= 0:
            self._draw(g, base, following, tile, left)
        else:
            self._grant(g, base, giver, kind, left)
        return True

    def _grant(self, g: int, base: int, giver: int, kind: int, left: int) -> None:
        """Carry out a chow or pung; see `phases.grants`, `State.take_discard` and `State.lay_meld`."""
        lines, slots = self._lines, self._slots
        claimer, action = lines.best_seat[g], lines.best_action[g]
        at, other = base + claimer, base + giver
        lines.public[other * _SEEN + DISCARDED * NUM_KINDS + kind] -= 1
        size = lines.river_size[other]
        latest = other * MAX_DISCARDS + size - 1
        lines.river[latest] += CLAIMED if lines.river[latest] > 0 else -CLAIMED
        lines.river_claimed[latest] = slots[(claimer - giver) % self._seats]
        lines.undisturbed[g] = 0
        held, code, melded = at * NUM_KINDS, at * 4, at * _SEEN + MELDED * NUM_KINDS
        if action == PUNG:
            lowest, meld_type = kind, int(MeldType.PUNG)
            lines.hand[held + kind] -= 2
            lines.code[code + _SUIT[kind]] -= 2 * _POWER[kind]
            lines.public[melded + kind] += 3
            lines.open_pung[held + kind] = 1
        else:
            lowest, meld_type = kind - (action - CHOW_LOW), int(MeldType.CHOW)
            for part in range(lowest, lowest + 3):
                lines.public[melded + part] += 1
                if part != kind:
                    lines.hand[held + part] -= 1
                    lines.code[code + _SUIT[part]] -= _POWER[part]
        number = lines.num_melds[at]
        lines.num_melds[at] = number + 1
        place = at * MAX_MELDS + number
        lines.meld_type[place], lines.meld_kind[place] = meld_type, lowest
        lines.meld_from[place], lines.meld_claimed[place] = giver, kind
        listed = at * _SEEN + MELD_LIST * NUM_KINDS + number * MELD_PLACES
        lines.public[listed], lines.public[listed + 1] = meld_type, lowest + 1
        lines.public[listed + 2] = slots[(giver - claimer) % self._seats]
        lines.public[listed + 3], lines.public[listed + 4] = kind + 1, size

        self._begin_turn(g, claimer, -1, left)
        self._write_turn(g, at, may_kong=False)

    def _begin_turn(self, g: int, seat: int, drawn: int, left: int) -> None:
        """Begin a turn after a draw or a claim; ``left`` is the number of drawable tiles before the draw."""
        lines = self._lines
        lines.left_before_draw[g] = left
        lines.phase[g], lines.actor[g], lines.turn[g] = _TURN, seat, seat
        lines.drawn[g], lines.can_win[g] = drawn, 0
        lines.kong_draws[g], lines.flower_draw[g] = 0, 0

    def _note(self, g: int, seat: int, event: int, what: int) -> None:
        """See `State.note`."""
        lines = self._lines
        number = lines.num_exposed[g]
        lines.num_exposed[g] = number + 1
        entry = EXPOSED_SEAT * seat + EXPOSED_EVENT * event + EXPOSED_WHAT * (what + 1)
        lines.exposed[g * MAX_EXPOSED + number] = entry + lines.num_discards[g]

    # --- Drawing --------------------------------------------------------------------------------------------------

    def _tile_to_come(self, g: int, at: int, wild: int, left: int) -> int:
        """Return the tile that a seat is about to draw, after flowers; -1 where only the phases can tell."""
        lines, wall = self._lines, g * self._wall_size
        tile = lines.wall[wall + lines.front[g]]
        if self._is_flower[tile]:
            back, left, end = lines.back[g], left - 1, wall + self._wall_size
            while self._is_flower[tile]:
                if left <= 0:
                    return -1
                back, left = back + 1, left - 1
                tile = lines.wall[end - back]
        if lines.is_tenpai[at]:
            wilds = self._wilds(at, wild) + (tile == wild)
            if self._short(at, wilds, tile if tile != wild else -1) <= wilds:
                return -1
        return tile

    def _draw(self, g: int, base: int, seat: int, tile: int, left: int) -> None:
        """Begin a turn with the draw of a tile (see `_tile_to_come`); see `phases.draw`."""
        lines, at = self._lines, base + seat
        front = lines.front[g]
        self._begin_turn(g, seat, tile, left)
        lines.turns[at] += 1
        lines.front[g] = front + 1
        drawn = lines.wall[g * self._wall_size + front]
        if self._is_flower[drawn]:
            left -= self._replace_flowers(g, at, drawn)
        lines.hand[at * NUM_KINDS + tile] += 1
        if tile != lines.wild[g]:
            lines.code[at * 4 + _SUIT[tile]] += _POWER[tile]
        if self._wins_at_once and self._has_marks(g):
            judge_turn(self._context, self._state.seats_to_act(np.array([g])))
        self._write_turn(g, at, may_kong=left > 1)

    def _replace_flowers(self, g: int, at: int, tile: int) -> int:
        """Replace flowers and return how many there were; see `phases.draw._replace_flowers`."""
        lines, number = self._lines, self._num_marks
        fresh, end = g * NUM_ALL_KINDS, (g + 1) * self._wall_size
        lines.fresh_flowers[fresh : fresh + NUM_ALL_KINDS] = _NO_FLOWERS
        lines.marks_before_flowers[g * number : (g + 1) * number] = lines.marks[at * number : (at + 1) * number]
        lines.flower_draw[g] = 1
        replaced = 0
        while self._is_flower[tile]:
            lines.flowers[at * NUM_ALL_KINDS + tile] += 1
            lines.fresh_flowers[fresh + tile] += 1
            self._note(g, at % self._seats, Event.FLOWER, tile)
            if self._answers_flowers:
                self._rules.on_flower(self._state, self._state.seats(np.array([g]), np.array([at % self._seats])))
            lines.back[g] += 1
            tile = lines.wall[end - lines.back[g]]
            replaced += 1
        return replaced

    # --- Hands and masks ------------------------------------------------------------------------------------------

    def _wilds(self, at: int, wild: int) -> int:
        return self._lines.hand[at * NUM_KINDS + wild] if wild >= 0 else 0

    def _short(self, at: int, wilds: int, kind: int = -1) -> int:
        """Return the tiles that a hand lacks, with one more natural tile where given (`Rules.tiles_short`)."""
        lines, words = self._lines, self._words
        codes = lines.code[at * 4 : at * 4 + 4].tolist()
        if kind >= 0:
            codes[_SUIT[kind]] += _POWER[kind]
        one, two, three, four = codes
        total, with_pair = sum_of_one(words[one], words[two], words[three], words[four + FIRST_HONOUR_FACTS])
        return self._short_of_one((one, two, three, four), total, with_pair, wilds, lines.num_melds[at])

    def _write_turn(self, g: int, at: int, *, may_kong: bool) -> None:
        """See `phases.masks._write_turns`."""
        lines = self._lines
        if (self._limits_turns or lines.can_win[g]) and self._has_marks(g):
            write_masks(self._context, np.array([g]))
            return
        first, hand = g * NUM_ACTIONS, at * NUM_KINDS
        held = lines.hand[hand : hand + NUM_KINDS].tobytes()
        lines.mask[first : first + NUM_ACTIONS] = held.translate(_MAY_DISCARD) + _ONLY_DISCARDS
        if not may_kong:
            return
        if 4 in held:
            counts = np.frombuffer(held, np.int8)[None]
            kinds = self._rules.concealed_kong_kinds(self._state, np.array([g]), counts)
            lines.mask[first + CONCEALED_KONG : first + ADDED_KONG] = kinds.tobytes()
        if lines.num_melds[at]:
            pungs = lines.open_pung[hand : hand + NUM_KINDS].tobytes()
            kind = pungs.find(1)
            while kind >= 0:
                if held[kind]:
                    lines.mask[first + ADDED_KONG + kind] = 1
                kind = pungs.find(1, kind + 1)
