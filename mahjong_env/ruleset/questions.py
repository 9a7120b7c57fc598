"""The questions that a variant answers, each with a neutral default, its knobs, and the circumstances it asks for.

The engine never asks which variant it plays. It asks the questions of `Rules`, and a variant overrides those that it
answers differently. All questions are about arrays of games: ``games`` [n] are the numbers of the games concerned, and
``seats`` is one seat in each of n games (`mahjong_env.state.seats`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np

from mahjong_env.basics.chance import draw_numbers
from mahjong_env.basics.errors import RulesError, did_you_mean
from mahjong_env.basics.tiles import NO_TILE, NUM_ALL_KINDS, deck
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, UInt64Array, is_integer
from mahjong_env.hands.summaries import short_of_sets_and_pair, suit_summaries
from mahjong_env.state.arrays import MAX_MARKS

if TYPE_CHECKING:
    from mahjong_env.hands.aims import Aims
    from mahjong_env.scoring.rows import Row
    from mahjong_env.scoring.wins import Scores, Wins
    from mahjong_env.state.arrays import State
    from mahjong_env.state.seats import Seats

THE_WILD_KIND: Final = -1
MOST: Final = 1000
"""The greatest count of kongs in a row, hands of a streak, discards of a kind and the like: more than any game has.

Longer streaks are not counted: they would overflow 16 bits, and before that the payments for them in Taiwan would
overflow 32.
"""


def is_count(value: Any) -> bool:
    """Whether this is an integer from 0 to `MOST`."""
    return is_integer(value) and bool(0 <= value <= MOST)


@dataclass(frozen=True)
class Circumstance:
    """Something that a variant asks about a win: an argument of `score`, an option of the command line.

    Attributes:
        name: the name of the argument.
        about: what it means, for users.
        type: ``int``, a count from 0, or ``bool``.
        sets: the field of `Wins` that holds it: "opening", a win before the first turn with the tile that is turned up,
            or "fourth_tile". Empty if it is counted for each seat while a hand is played (`Rules.marks`).
        discarded: the kind of which the winner has discarded that many, or `THE_WILD_KIND`.
        excludes: arguments of `score` that contradict it.
        words: what pages call it beside its count at a seat, if it is a mark, in English and in Chinese.
        after_discard: returns the mark once its seat has discarded a tile, from the mark before, the kind, and the wild
            kind, all arrays or plain numbers. None if a discard does not change it.
    """

    name: str
    about: str
    type: type[int] | type[bool] = int
    sets: str = ""
    discarded: int | None = None
    excludes: tuple[str, ...] = ()
    words: tuple[str, str] = ("", "")
    after_discard: Callable[[Any, Any, Any], Any] | None = None

    @property
    def is_mark(self) -> bool:
        """Whether it is a mark, counted for each seat."""
        return not self.sets

    def accepts(self, value: Any) -> bool:
        """Whether it can have this value."""
        return isinstance(value, bool | np.bool_) if self.type is bool else is_count(value)

    @property
    def valid(self) -> str:
        """The values that it can have, in words."""
        return "True or False" if self.type is bool else f"an integer from 0 to {MOST}"


MOST_POINTS: Final = 100_000_000
"""The most points that anybody may have or owe, so that they fit into 32 bits."""


def are_points(value: Any, number: int) -> bool:
    """Whether these are ``number`` running points: integers within `MOST_POINTS`, in a list or an array."""
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(listed, list | tuple) or len(listed) != number:
        return False
    integers = all(is_integer(points) for points in listed)
    return integers and all(-MOST_POINTS <= points <= MOST_POINTS for points in listed)


MOST_OF_A_KNOB: Final = 100_000
"""The greatest value of knobs that are integers, so that payments fit into 32 bits."""


def knob(
    default: Any,
    *,
    choices: tuple[Any, ...] | None = None,
    minimum: int = 0,
    maximum: int = MOST_OF_A_KNOB,
    none: bool = False,
    about: str,
    chinese: str = "",
) -> Any:
    """Declare a knob of a variant: a truth value, one of some choices, or an integer.

    Args:
        default: its value unless the user gives another.
        choices: all valid values. None means any integer within the limits, or True and False if the default is one of
            them.
        minimum: the smallest valid integer.
        maximum: the greatest valid integer.
        none: whether None is valid in addition to integers.
        about: what it does, for users.
        chinese: the same in Chinese; words for the choices may follow: "点炮谁付：点炮者 / 各家".
    """
    if isinstance(default, bool):
        choices = (default, not default)
    limits = {"minimum": minimum, "maximum": maximum, "none": none}
    return field(default=default, metadata={"choices": choices, "about": about, "chinese": chinese or about, **limits})


def knob_fields(rules: Any) -> list[Field[Any]]:
    """Return the declarations of a variant's knobs: its own, then those that all variants have."""
    common = {item.name for item in fields(Rules)}
    return sorted(fields(rules), key=lambda item: item.name in common)


ShortOfOne: TypeAlias = Callable[[tuple[int, int, int, int], int, int, int, int], int]
"""`Rules.tiles_short` of one hand: from its codes, the two numbers of `sum_of_one`, its wild tiles, and its melds."""

_Answer = TypeVar("_Answer", bound=Callable[..., Any])


def only_with_marks(answer: _Answer) -> _Answer:
    """Declare that a variant's answer matters only where a seat of the game has a mark (`State.marks`).

    Small batches then do not ask where nobody has a mark, which makes them faster (engine/one_game.py). `limit_claims`
    may then look only at the marks.
    """
    answer.only_with_marks = True  # type: ignore[attr-defined]
    return answer


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one variant, with their knobs as fields.

    Raises:
        RulesError: a knob has a value that it cannot have.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    chinese: ClassVar[str] = ""
    version: ClassVar[int] = 0
    """Incremented only when the same actions on the same deal would lead to another result."""
    rows: ClassVar[tuple[Row, ...]] = ()
    """The scoring table."""
    reasons: ClassVar[tuple[str, ...]] = ("", "the tiles are not a complete hand")
    """Reasons why a hand may not win, in words; 0 is "it may", 1 "it is not complete"."""
    circumstances: ClassVar[tuple[Circumstance, ...]] = ()
    """Facts that the variant asks about a win, beyond those that all variants ask about."""
    marks_after_discard: ClassVar[tuple[tuple[int, Callable[[Any, Any, Any], Any]], ...]] = ()
    """The marks that a discard may change, by number, and how; derived from `circumstances`."""
    wins_by_flowers: ClassVar[bool] = False
    """Whether exposed flowers alone can win a hand."""
    turned_up_after_win: ClassVar[int] = 0
    """The number of tiles turned up after a win because they change what it pays (`Wins.turned_up`)."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named sets of house rules, such as those of a platform: the knobs that differ."""
    hand_size: ClassVar[int] = 13
    """Concealed tiles between turns."""
    has_wild: ClassVar[bool] = False
    wild_words: ClassVar[tuple[str, str]] = "wild", "癞子"
    """What wild tiles are called, in English and in Chinese."""
    uses_flowers: ClassVar[bool] = False
    hides_concealed_kongs: ClassVar[bool] = True
    """Whether only its owner sees the kind of a concealed kong until the hand ends (common.md#concealed-kongs)."""
    has_private_walls: ClassVar[bool] = False
    """Whether each seat is dealt and draws from its own equal part of the tiles; without flowers or an indicator."""
    dealer_draws_last: ClassVar[bool] = False
    """Whether the dealer's extra tile is drawn after the opening flowers are replaced, instead of before."""
    opening_stages: ClassVar[int] = 0
    """The number of questions before the first turn (`opening_options`)."""
    unclaimable_kinds: ClassVar[tuple[int, ...]] = ()
    """Kinds that nobody may claim for anything when they are discarded, besides the wild one (`unclaimable`)."""

    # --- Knobs and marks --------------------------------------------------------------------------------------
    shows_drawn: bool = knob(
        True,
        choices=(True, False),
        about="whether all see that a discard is the tile that was just drawn",
        chinese="打出的牌是不是刚摸的那张，各家看得见",
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for value in vars(cls).values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False  # all engines share it, and agents see it
        marks = [item for item in cls.circumstances if item.is_mark]
        if len(marks) + (cls.has_private_walls is not False) > MAX_MARKS:
            raise RulesError(
                f"{cls.__name__} counts {len(marks)} marks for each seat ({', '.join(item.name for item in marks)}); "
                f"observations have places for {MAX_MARKS}, of which private walls take one"
            )
        after = enumerate(item.after_discard for item in marks)
        cls.marks_after_discard = tuple((number, how) for number, how in after if how is not None)

    def __post_init__(self) -> None:
        for item in fields(self):
            value, limits = getattr(self, item.name), item.metadata
            if isinstance(value, np.generic):  # an element of an array, which is as good as a Python value
                value = value.item()
                object.__setattr__(self, item.name, value)
            if limits["choices"] is not None:
                valid = any(type(value) is type(choice) and value == choice for choice in limits["choices"])
            elif value is None:
                valid = limits["none"]
            else:
                is_integer = isinstance(value, int) and not isinstance(value, bool)
                valid = is_integer and limits["minimum"] <= value <= limits["maximum"]
            if not valid:
                listed = _valid_values(limits)
                raise RulesError(f"{self.name}: {item.name}={value!r} is not valid; valid are {listed}")

    @property
    def knobs(self) -> dict[str, Any]:
        """The knobs and their values."""
        return {item.name: getattr(self, item.name) for item in knob_fields(self)}

    @property
    def changed_knobs(self) -> dict[str, Any]:
        """The knobs that differ from their defaults, and their values."""
        return {
            item.name: getattr(self, item.name)
            for item in knob_fields(self)
            if getattr(self, item.name) != item.default
        }

    @classmethod
    def knob_help(cls, language: str = "en") -> dict[str, tuple[Any, str, str]]:
        """Return the default, the valid values and the meaning of each knob, in English ("en") or Chinese ("zh")."""
        return {
            item.name: (
                None if item.default is MISSING else item.default,
                _valid_values(item.metadata, language),
                item.metadata["chinese" if language == "zh" else "about"],
            )
            for item in knob_fields(cls)
        }

    @classmethod
    def knob_choices(cls) -> dict[str, tuple[Any, ...]]:
        """Return the valid values of each knob; empty for a knob whose value is an integer."""
        return {item.name: item.metadata["choices"] or () for item in knob_fields(cls)}

    @cached_property
    def marks(self) -> tuple[str, ...]:
        """The counters of each seat during a hand, seen by all (the K axis of `State.marks`)."""
        return tuple(item.name for item in self.circumstances if item.is_mark)

    # --- The table --------------------------------------------------------------------------------------------
    @property
    def seats(self) -> int:
        """The number of players at the table (S)."""
        return 4

    @property
    def people(self) -> int:
        """The number of persons who take part, including those who sit out (P)."""
        return self.seats

    @property
    def people_move(self) -> bool:
        """Whether people change seats, or sit out, in later hands of a match (`rotate`)."""
        return self.people > self.seats

    @property
    def sets(self) -> int:
        """The number of sets of a complete hand, in addition to the pair."""
        return self.hand_size // 3

    @property
    def starting_points(self) -> int:
        """The points that each person has when a match begins."""
        return int(getattr(self, "initial_points", 0))

    @property
    def sigma(self) -> float:
        """The standard deviation of the points that a seat wins in a hand among greedy players, stakes included.

        Variants declare it. Without house rules it is measured (`mahjong_training.measured_sigma`), to about a
        hundredth; with house rules it is roughly what the stakes alone make of that. It is the unit of the reward for
        an illegal action, and of strength.

        Raises:
            RulesError: the variant does not declare it.
        """
        raise RulesError(
            f"{self.name} declares no sigma, the unit of illegal_reward (Rules.sigma): declare it, or choose "
            "on_illegal='raise'"
        )

    @property
    def asks_fourth_tile(self) -> bool:
        """Whether the variant asks of a win whether the three other tiles of the winning kind lie open."""
        return any(item.sets == "fourth_tile" for item in self.circumstances)

    @property
    def deck(self) -> Int8Array:
        """The number of tiles of each kind in the set: [42] int8."""
        return deck(flowers=self.uses_flowers)

    @property
    def flower_kinds(self) -> BoolArray:
        """The kinds that are laid open and replaced when they are drawn: [42] bool."""
        return np.arange(NUM_ALL_KINDS) >= (NUM_ALL_KINDS - 8 if self.uses_flowers else NUM_ALL_KINDS)

    @property
    def reserve(self) -> int:
        """The number of tiles that are never drawn, not counting a turned-up indicator."""
        return 0

    @property
    def turns_indicator(self) -> bool:
        """Whether a tile is turned up after the deal."""
        return False

    @property
    def drawable(self) -> int:
        """The number of tiles left to draw after the deal, if nobody was dealt a flower."""
        dealt = self.seats * self.hand_size + 1
        return int(self.deck.sum()) - dealt - self.reserve - self.turns_indicator

    def wild_kinds(self, indicator: Int8Array) -> Int8Array:
        """Return [n] the wild kind that follows from the tile turned up (-1 if none is); asked only if `has_wild`."""
        return indicator if self.fixed_wild is None else np.full_like(indicator, self.fixed_wild)

    @property
    def fixed_wild(self) -> int | None:
        """The wild kind if it is the same in every hand, otherwise None."""
        return None

    @property
    def never_melded(self) -> BoolArray:
        """The kinds that no declared meld can contain: [42] bool."""
        return self.flower_kinds

    def unclaimable(self, state: State, games: Games) -> BoolArray | None:
        """Return [n] offered tiles that nobody may claim for anything; None for none. Wild tiles never can be claimed.

        See common.md#wild-tiles.
        """
        offered = state.offered[games]
        dead = offered == state.wild[games] if self.has_wild else None
        for kind in self.unclaimable_kinds:
            dead = offered == kind if dead is None else dead | (offered == kind)
        return dead

    # --- The start of a match and of a hand ----------------------------------------------------------------------
    def begin_match(self, state: State, games: Games, keys: UInt64Array, *, at_random: bool) -> None:
        """Set dealer, streak and round wind of new matches; ``keys`` feed `chance.draw_numbers` (places 100-199)."""
        state.dealer[games] = draw_numbers(keys, 100, self.seats)
        state.streak[games] = draw_numbers(keys, 101, 3) if at_random else 0
        state.turnover[games] = draw_numbers(keys, 102, 4 * self.seats) if at_random else 0
        state.round_wind[games] = state.turnover[games] // self.seats

    def begin_hand(self, state: State, games: Games, keys: UInt64Array) -> None:
        """Throw the dice of each hand, if any, and seat the winds (places 200 and up of `chance.draw_numbers`)."""
        seats = np.arange(self.seats, dtype=np.int8)
        state.house_wind[games] = (seats - state.dealer[games][:, None]) % self.seats

    def opening_options(self, state: State, games: Games, stage: int) -> tuple[BoolArray, Int8Array]:
        """Return [n, S] the seats that may win before the first turn, and [n] the seat that is asked last."""
        raise NotImplementedError

    def opening_tiles(self, state: State, seats: Seats, stage: Int8Array) -> tuple[Any, Any]:
        """Return the kinds that seats are offered before the first turn, and those that they would give up for them.

        Each is [n] or one for all; -1 for none.
        """
        return NO_TILE, NO_TILE

    def take_opening(self, state: State, seats: Seats, stage: Int8Array) -> Wins:
        """Carry out opening wins that were declared: move the tiles, and describe the wins."""
        raise NotImplementedError

    def deal_words(self, streak: int, dice: int) -> tuple[str, str]:
        """Return how the table says for how long the dealer has kept the deal, in English and Chinese, or empty texts.

        ``streak`` counts the hands for which the dealer has already kept it; ``dice`` is what was thrown for the hand,
        0 for nothing.
        """
        return (f"dealer's streak {streak}", f"连庄 {streak}") if streak else ("", "")

    # --- Drawing, the turn ------------------------------------------------------------------------------------
    def on_flower(self, state: State, seats: Seats) -> None:
        """Respond to a flower that a seat has just exposed, in its turn or in the opening."""

    def may_win_at_once(self, state: State, seats: Seats) -> BoolArray | None:
        """Return [n] seats that may win in their turn whatever their hand is; None for none."""
        return None

    def limit_turn(self, state: State, seats: Seats) -> None:
        """Take actions out of `State.mask` of seats in their turn."""

    def concealed_kong_kinds(self, state: State, games: Games, counts: Int8Array) -> BoolArray:
        """Return [n, 34] kinds of which a concealed kong may be declared, given that its four tiles are held."""
        kongs = counts == 4
        if self.has_wild:
            some = np.flatnonzero(state.wild[games] >= 0)
            kongs[some, state.wild[games][some]] = False
        return kongs

    def on_discard(self, state: State, seats: Seats, kind: Int64Array) -> None:
        """Respond to a tile that has just been discarded, before claims are asked; marks change as they declare."""
        for number, after in self.marks_after_discard:
            before = seats.of(state.marks)[:, number]
            state.marks[seats.game, seats.seat, number] = after(before, kind, state.wild[seats.game])

    # --- Claims and kongs -------------------------------------------------------------------------------------
    def limit_claims(self, state: State, seats: Seats, options: Int8Array) -> None:
        """Take away options of the seats that could claim a discard or rob a tile.

        Args:
            state: the games.
            seats: [m, n] the m other seats of n games in which a tile is on offer.
            options: [m, n] int8 option bits (engine/claim_rules.py), 0 for a seat without options; changed in place.
        """

    @property
    def claims_chows(self) -> bool:
        """Whether the next player may claim a discard for a chow."""
        return True

    @property
    def adds_discards(self) -> bool:
        """Whether a discard may be claimed and added to the claimer's own open pung."""
        return False

    @property
    def may_rob_kongs(self) -> bool:
        """Whether the tile added to a pung can be won on."""
        return True

    def kong_payments(self, state: State, seats: Seats, meld_type: int, from_seat: Any) -> Int32Array | None:
        """Return [n, S] payments made at once for kongs that stand; None for none."""
        return None

    def after_kong(self, state: State, seats: Seats, meld_type: int) -> None:
        """Respond to a kong once its replacement tile has been drawn."""

    # --- The end of a hand ------------------------------------------------------------------------------------
    def tiles_short(self, codes: Int32Array, wilds: Any, melds: Any) -> Int8Array:
        """Return the fewest tiles that the best complete shape still lacks, counting wild tiles as lacking: [...] int8.

        The hand is complete if it has the right number of tiles and this number is at most ``wilds``.

        Args:
            codes: [..., 4] codes of the concealed tiles without wild ones (`mahjong_env.hands.codes`).
            wilds: [...] wild tiles among them.
            melds: [...] melds of the seat.
        """
        return short_of_sets_and_pair(suit_summaries(codes))

    def tiles_short_of_one(self) -> ShortOfOne | None:
        """Return `tiles_short` for one hand in plain numbers; None if small batches are to be played as large ones.

        A class that overrides `tiles_short` must override this too; otherwise it is not used.
        """
        return lambda codes, total, with_pair, wilds, melds: with_pair

    @property
    def aims(self) -> Aims | None:
        """The hands that are worth enough to win, for agents and hints; None if any complete hand is.

        It decides nothing in the game; `score` does.
        """
        return None

    def complete(self, wins: Wins) -> BoolArray:
        """Return [n] whether the tiles are a complete hand in one of the variant's shapes."""
        return self.tiles_short(wins.codes, wins.jokers, wins.own_melds) <= wins.jokers

    def score(self, wins: Wins) -> Scores:
        """Score hands: legality, value and payments. This is the only place that settles wins."""
        raise NotImplementedError

    def legal(self, wins: Wins) -> BoolArray:
        """Return [n] whether complete hands may win, as `score` says; variants may know it without pricing hands."""
        return self.score(wins).legal

    @property
    def judges_by_score(self) -> bool:
        """Whether `score_and_judge` takes less time than `score` and `legal` one after the other."""
        return False

    def score_and_judge(self, wins: Wins, asked: Wins) -> tuple[Scores, BoolArray]:
        """Return `score` of wins, and `legal` of other complete hands."""
        return self.score(wins), self.legal(asked)

    def succeed(self, state: State, games: Games, winner: Int8Array) -> None:
        """Set dealer, streak, turnover and round wind for the next hand; ``winner`` is a table seat, -1 after a draw.

        The dealer stays after winning, and also after a draw if there is a knob ``dealer_on_draw`` that says "stay".
        """
        stays = winner == state.dealer[games]
        if getattr(self, "dealer_on_draw", "next") == "stay":
            stays = stays | (winner < 0)
        self.pass_deal(state, games, stays)

    def pass_deal(self, state: State, games: Games, stays: BoolArray) -> None:
        """Let the dealer keep the deal where ``stays``, else pass it to the next seat; streaks count to `MOST`."""
        state.streak[games] = np.where(stays, np.minimum(state.streak[games] + 1, MOST), 0)
        state.turnover[games] += ~stays
        state.dealer[games] = np.where(stays, state.dealer[games], (state.dealer[games] + 1) % self.seats)

    def rotate(self, state: State, games: Games, winner: Int8Array) -> None:
        """Change who sits where before the next hand."""

    def match_over(self, state: State, games: Games, winner: Int8Array) -> BoolArray | None:
        """Return [n] matches that end whatever `num_hands` is, asked before `succeed`; None if it alone ends them."""
        return None

    @property
    def ends_by_hands(self) -> bool:
        """Whether a match ends after `num_hands` hands; otherwise `match_over` decides, with a cut after 200 hands."""
        return True


_INTEGERS: Final = {"en": "any integer from {minimum} to {maximum}", "zh": "{minimum} 到 {maximum} 的整数"}


def _valid_values(limits: Any, language: str = "en") -> str:
    if limits["choices"] is not None:
        return ", ".join(repr(choice) for choice in limits["choices"])
    integers = _INTEGERS[language].format(**limits)
    return f"None, {integers}" if limits["none"] else integers


def with_knobs(rules: Rules, knobs: dict[str, Any]) -> Rules:
    """Return the same variant with other knobs.

    Raises:
        RulesError: there is no such knob, or it cannot have this value; the message lists what is valid.
    """
    known = rules.knob_help()
    for name in knobs:
        if name not in known:
            listed = "; ".join(f"{knob_name} ({valid})" for knob_name, (_, valid, _) in known.items())
            close = did_you_mean(name, known)
            raise RulesError(f"{rules.name} has no knob {name!r}; its knobs are: {listed}{close}")
    return type(rules)(**(rules.knobs | knobs))
