"""`score`: what one described hand is worth, and who pays; the same code settles games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mahjong_env.basics.errors import HandError
from mahjong_env.basics.notation import Meld, MeldType, check_supply, count_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.basics.tiles import EAST, KIND_NAMES, NO_TILE, NORTH, NUM_ALL_KINDS, NUM_KINDS, RED
from mahjong_env.basics.types import Int8Array
from mahjong_env.ruleset.questions import MOST_POINTS, Rules, are_points
from mahjong_env.ruleset.registry import rules
from mahjong_env.scoring.wins import Source, Wins
from mahjong_env.state.arrays import MAX_MELDS

_MOST_COUNTED = 1000
"""The most kongs in a row, hands of a streak and the like: more than any game has."""


@dataclass(frozen=True)
class HandScore:
    """What a hand is worth.

    Attributes:
        legal: whether it may win.
        reason: why it may not, in words; empty if it may.
        rows: the rows scored as (name, value), one entry per meld, kong, flower or the like that has a value of
            its own.
        points: the value of the hand; 0 if it may not win.
        payments: what each seat receives; sums to zero.
    """

    legal: bool
    reason: str
    rows: tuple[tuple[str, int | float], ...]
    points: int
    payments: tuple[int, ...]


@dataclass(frozen=True)
class _Situation:
    """The arguments of `score` other than hand, melds and knobs."""

    source: str
    from_seat: int | None
    seat: int
    dealer: int
    dealer_streak: int
    wild: str | None
    flowers: str
    kong_draws: int
    flower_draw: bool
    last_tile: bool
    first_draw: bool
    robbing_gold: bool
    discarded_wild: bool
    red_discards: int
    gambits: int
    round_wind: str
    house_wind: str | None
    running_points: Sequence[int] | None
    marks: Mapping[str, Any]  # what the variant counts for the winner, beyond the fields above


def score(
    variant: str | Rules,
    hand: str,
    *,
    winning_tile: str | None = None,
    melds: Sequence[str] = (),
    other_melds: Mapping[int, Sequence[str]] | None = None,
    source: str,
    from_seat: int | None = None,
    seat: int = 0,
    dealer: int = 0,
    dealer_streak: int = 0,
    wild: str | None = None,
    flowers: str = "",
    kong_draws: int = 0,
    flower_draw: bool = False,
    last_tile: bool = False,
    first_draw: bool = False,
    robbing_gold: bool = False,
    discarded_wild: bool = False,
    red_discards: int = 0,
    gambits: int = 0,
    round_wind: str = "1z",
    house_wind: str | None = None,
    running_points: Sequence[int] | None = None,
    **knobs: Any,
) -> HandScore:
    """What is this hand worth, and who pays?

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        hand: the concealed tiles before the winning tile, such as ``"456s 234p 55m"``.
        winning_tile: the tile that completes it; None only for wins by flowers alone.
        melds: the winner's, in the order they were made: ``"chow 123s@3"``, ``"pung 444p@2"``, ``"kong 1111s@2"``
            (from a discard), ``"kong 1111s+@2"`` (a pung from seat 2 with the fourth tile added), ``"kong 1111s"``
            (concealed).
        other_melds: other seats' melds, where a liability depends on them.
        source: "draw", "discard", "kong" (robbed) or "flowers".
        from_seat: who gave the tile; wanted for discard and kong, and only there.
        seat: the winner.
        dealer: the dealer's seat.
        dealer_streak: hands for which the dealer has already kept the deal.
        wild: the wild kind; None: no tile is wild, unless a knob fixes it.
        flowers: exposed by the winner, such as ``"F1 S2 1z"``.
        kong_draws: the winning tile is the replacement after this many kongs in a row.
        flower_draw: it replaced a flower.
        last_tile: no drawable tile is left.
        first_draw: the winner's first draw, nobody having claimed a tile or declared a kong.
        robbing_gold: won with the tile turned up before the first turn.
        discarded_wild: the winner has discarded a wild tile in this hand.
        red_discards: Red Dragons that the winner has discarded.
        gambits: wild tiles that the winner has discarded in a row, up to now.
        round_wind: "1z" to "4z".
        house_wind: the winner's wind; None: as if the dealer were East.
        running_points: points of each seat before the hand; None: they limit nothing.
        **knobs: house rules of the variant, and what it counts for each seat (`Rules.marks`), for the winner.

    Returns:
        The score; hands that may not win have ``legal=False``, the reason, no rows and no payments.

    Raises:
        HandError: the description contradicts itself, is impossible, or says something that the variant does not know.
        NotationError: a text is not tile or meld notation.
        RulesError: unknown variant, knob or value.
    """
    marks = {name: knobs.pop(name) for name in rules(variant).marks if name in knobs}
    played = rules(variant, **knobs)
    situation = _Situation(
        source,
        from_seat,
        seat,
        dealer,
        dealer_streak,
        wild,
        flowers,
        kong_draws,
        flower_draw,
        last_tile,
        first_draw,
        robbing_gold,
        discarded_wild,
        red_discards,
        gambits,
        round_wind,
        house_wind,
        running_points,
        marks,
    )
    _check_types(situation)
    _check_situation(played, situation)
    all_melds = _read_melds(played, seat, melds, {} if other_melds is None else other_melds)
    if first_draw and any(all_melds):
        raise HandError("first_draw says that nobody has claimed a tile or declared a kong, but there are melds")
    kongs = sum(meld.type not in (MeldType.CHOW, MeldType.PUNG) for meld in all_melds[seat])
    if kong_draws > kongs:
        raise HandError(f"kong_draws={kong_draws}, but the winner has {kongs} kongs")
    concealed = _read_tiles(played, hand, winning_tile, all_melds[seat], situation)
    wins = _describe(played, concealed, winning_tile, all_melds, situation)
    scores = played.score(wins)
    return HandScore(
        legal=bool(scores.legal[0]),
        reason=played.reasons[int(scores.reason[0])],
        rows=tuple(scores.rows_of(0, played.rows)),
        points=int(scores.points[0]),
        payments=tuple(int(amount) for amount in scores.payments[0]),
    )


def _check_types(told: _Situation) -> None:
    counted = {name: getattr(told, name) for name in ("kong_draws", "dealer_streak", "red_discards", "gambits")}
    for name, value in {**counted, **told.marks}.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= _MOST_COUNTED:
            raise HandError(f"{name} is an integer from 0 to {_MOST_COUNTED}, not {value!r}")
    for name in ("flower_draw", "last_tile", "first_draw", "robbing_gold", "discarded_wild"):
        if not isinstance(getattr(told, name), bool | np.bool_):
            raise HandError(f"{name} is True or False, not {getattr(told, name)!r}")
    for name in ("source", "flowers"):
        if not isinstance(getattr(told, name), str):
            raise HandError(f"{name} is a text, not {getattr(told, name)!r}")


def _check_situation(rules: Rules, told: _Situation) -> None:
    words = [source.word for source in Source]
    if told.source not in words:
        raise HandError(f"source={told.source!r} is not valid; valid are {', '.join(words)}")
    for name in ("seat", "dealer"):
        _check_seat(rules, name, getattr(told, name))
    gives = told.source in ("discard", "kong")
    if gives:
        if told.from_seat is None:
            raise HandError(f"source={told.source!r} needs from_seat, the seat that gave the tile")
        _check_seat(rules, "from_seat", told.from_seat)
        if told.from_seat == told.seat:
            raise HandError(f"from_seat={told.from_seat} is the winner himself")
    elif told.from_seat is not None:
        raise HandError(f"source={told.source!r} has no from_seat")
    if told.source != "draw" and (told.kong_draws or told.flower_draw or told.first_draw or told.robbing_gold):
        raise HandError(
            "kong_draws, flower_draw, first_draw and robbing_gold are about tiles drawn by oneself (source='draw')"
        )
    if told.flower_draw and not told.flowers and rules.uses_flowers:
        raise HandError("flower_draw says that a flower was replaced, but flowers names none")
    if told.robbing_gold and (told.kong_draws or told.flower_draw or told.first_draw or told.discarded_wild):
        raise HandError(
            "robbing_gold is before the first turn: without kong_draws, flower_draw, first_draw and discarded_wild"
        )
    unknown = {
        "wild": told.wild is not None and not rules.has_wild,
        "flowers": bool(told.flowers) and not rules.uses_flowers,
        "flower_draw": told.flower_draw and not rules.uses_flowers,
        "source='flowers'": told.source == "flowers" and "source='flowers'" not in rules.score_arguments,
        "robbing_gold": told.robbing_gold and "robbing_gold" not in rules.score_arguments,
        **{
            name: bool(getattr(told, name)) and name not in rules.marks
            for name in ("discarded_wild", "red_discards", "gambits")
        },
    }
    for name, is_unknown in unknown.items():
        if is_unknown:
            raise HandError(f"{rules.name} knows no {name}")
    points = told.running_points
    if points is not None and not are_points(points, rules.seats):
        raise HandError(
            f"running_points are {rules.seats} integers, one for each seat, from {-MOST_POINTS} to {MOST_POINTS}, "
            f"not {points!r}"
        )


def _check_seat(rules: Rules, name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < rules.seats:
        raise HandError(f"{name} is a seat from 0 to {rules.seats - 1}, not {value!r}")


def _read_melds(
    rules: Rules, seat: int, melds: Sequence[str], other_melds: Mapping[int, Sequence[str]]
) -> list[list[Meld]]:
    """The melds of each seat; `HandError` for those that nobody could have made."""
    texts: list[Sequence[str]] = [()] * rules.seats
    texts[seat] = melds
    if not isinstance(other_melds, Mapping):
        raise HandError(f"other_melds are lists of melds by seat, such as {{2: ['pung 111m@0']}}, not {other_melds!r}")
    for other, its_melds in other_melds.items():
        _check_seat(rules, "a seat in other_melds", other)
        if other == seat:
            raise HandError(f"other_melds names seat {seat}, the winner; his melds are the argument melds")
        texts[other] = its_melds
    read = []
    for owner, listed in enumerate(texts):
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise HandError(f"melds are a list of texts, not {listed!r}")
        parsed = [parse_meld(text) for text in listed]
        if len(parsed) > rules.sets:
            raise HandError(f"seat {owner} has {len(parsed)} melds; a hand has {rules.sets} sets")
        for meld in parsed:
            _check_origin(rules, owner, meld)
        read.append(parsed)
    return read


def _check_origin(rules: Rules, owner: int, meld: Meld) -> None:
    if meld.type is MeldType.CONCEALED_KONG:
        return
    _check_seat(rules, f"the origin of the meld '{meld}'", meld.from_seat)
    if meld.from_seat == owner:
        raise HandError(f"the meld '{meld}' of seat {owner} comes from the seat itself")
    left = (owner - 1) % rules.seats
    if meld.type is MeldType.CHOW and meld.from_seat != left:
        raise HandError(
            f"the chow '{meld}' of seat {owner} does not come from the left: only seat {left}'s discards can be chowed"
        )


def _read_tiles(rules: Rules, hand: str, winning_tile: str | None, melds: list[Meld], told: _Situation) -> list[int]:
    """The concealed kinds with the winning tile."""
    concealed = parse_tiles(hand)
    wanted = rules.hand_size - 3 * len(melds)
    if winning_tile is None and told.source != "flowers":
        raise HandError(f"source={told.source!r} needs a winning_tile")
    allowed = (wanted, wanted + 1) if winning_tile is None else (wanted,)
    if len(concealed) not in allowed:
        raise HandError(
            f"the hand has {len(concealed)} tiles; with {len(melds)} melds it has {wanted} before the winning tile"
        )
    if winning_tile is not None:
        concealed = [*concealed, parse_kind(winning_tile)]
    for kind in concealed:
        if rules.flower_kinds[kind] or kind >= NUM_KINDS:
            raise HandError(
                f"{KIND_NAMES[kind]} is a flower in {rules.name}: flowers are laid open and cannot be in the hand; "
                "name them in flowers="
            )
    return concealed


def _describe(
    rules: Rules, concealed: list[int], winning_tile: str | None, melds: list[list[Meld]], told: _Situation
) -> Wins:
    """One win as a batch of one."""
    flowers = parse_tiles(told.flowers)
    if any(not rules.flower_kinds[kind] for kind in flowers):
        raise HandError(f"flowers={told.flowers!r} names tiles that are no flowers in {rules.name}")
    wild = _wild_kind(rules, told)
    _check_robbing(told, winning_tile, wild)
    if wild == NO_TILE and (told.gambits or told.discarded_wild):
        raise HandError("discarded_wild and gambits are about wild tiles, and no kind is wild")
    melded = [kind for owner in melds for meld in owner for kind in meld.tiles]
    turned = _turned_up(rules, wild, told)
    discarded = [RED] * told.red_discards + [wild] * max(told.gambits, int(told.discarded_wild))
    check_supply([*concealed, *melded, *flowers, *turned, *discarded], rules.deck, "the description", HandError)
    _check_melds(melds, rules, wild)

    shape = (1, rules.seats, MAX_MELDS)
    meld_type, meld_kind, meld_from = (
        np.zeros(shape, np.int8),
        np.full(shape, NO_TILE, np.int8),
        np.full(shape, -1, np.int8),
    )
    for owner, listed in enumerate(melds):
        for place, meld in enumerate(listed):
            meld_type[0, owner, place] = meld.type
            meld_kind[0, owner, place] = meld.kind
            meld_from[0, owner, place] = meld.from_seat
    marks = np.zeros((1, rules.seats, len(rules.marks)), np.int16)
    for place, name in enumerate(rules.marks):
        marks[0, told.seat, place] = told.marks[name] if name in told.marks else getattr(told, name, 0)
    house = (told.seat - told.dealer) % rules.seats if told.house_wind is None else _wind("house_wind", told.house_wind)

    def one(value: Any, dtype: Any = np.int8) -> Any:
        return np.array([value], dtype)

    return Wins(
        counts=count_tiles(concealed)[None],
        winning_tile=one(NO_TILE if winning_tile is None else parse_kind(winning_tile)),
        source=one(Source.of_word(told.source)),
        seat=one(told.seat),
        from_seat=one(-1 if told.from_seat is None else told.from_seat),
        dealer=one(told.dealer),
        streak=one(told.dealer_streak, np.int16),
        wild=one(wild),
        num_melds=np.array([[len(listed) for listed in melds]], np.int8),
        meld_type=meld_type,
        meld_kind=meld_kind,
        meld_from=meld_from,
        flowers=count_tiles(flowers, NUM_ALL_KINDS)[None],
        kong_draws=one(told.kong_draws),
        flower_draw=one(told.flower_draw, np.bool_),
        last_tile=one(told.last_tile, np.bool_),
        first_draw=one(told.first_draw, np.bool_),
        opening=one(told.robbing_gold, np.bool_),
        marks=marks,
        round_wind=one(_wind("round_wind", told.round_wind)),
        house_wind=one(house),
        dice=one(0),
        points=one([0] * rules.seats if told.running_points is None else told.running_points, np.int32),
        floor=one(told.running_points is not None, np.bool_),
        turned_up=np.zeros((1, 0), np.int8),
    )


def _wild_kind(rules: Rules, told: _Situation) -> int:
    fixed = rules.fixed_wild
    if told.wild is None:
        return NO_TILE if fixed is None else fixed
    kind = parse_kind(told.wild)
    if rules.flower_kinds[kind] or (fixed is not None and kind != fixed):
        raise HandError(f"wild={told.wild!r} cannot be the wild kind here")
    if fixed is None and kind not in rules.wild_kinds(np.flatnonzero(~rules.flower_kinds[:NUM_KINDS]).astype(np.int8)):
        raise HandError(f"wild={told.wild!r} is never wild in {rules.name}")
    return kind


def _check_robbing(told: _Situation, winning_tile: str | None, wild: int) -> None:
    if told.robbing_gold and (winning_tile is None or parse_kind(winning_tile) != wild):
        raise HandError(f"robbing_gold: the winning tile is the gold, which wild= names, not {winning_tile!r}")


def _turned_up(rules: Rules, wild: int, told: _Situation) -> list[int]:
    """The indicator, where the wild kind leaves no doubt about it; a robbed gold is the winning tile itself."""
    if wild == NO_TILE or not rules.turns_indicator or told.robbing_gold:
        return []
    kinds = np.flatnonzero(~rules.flower_kinds[:NUM_KINDS]).astype(np.int8)
    leads: Int8Array = kinds[rules.wild_kinds(kinds) == wild]
    return [int(leads[0])] if len(leads) == 1 else []


def _check_melds(melds: list[list[Meld]], rules: Rules, wild: int) -> None:
    for listed in melds:
        for meld in listed:
            if rules.never_melded[meld.tiles].any():
                raise HandError(f"the meld '{meld}' cannot be made in {rules.name}")
            if wild in meld.tiles and meld.type is not MeldType.CONCEALED_KONG:
                raise HandError(f"the meld '{meld}' contains the wild tile, which is never claimed nor claims")


def _wind(name: str, text: str) -> int:
    kind = parse_kind(text)
    if not EAST <= kind <= NORTH:
        raise HandError(f"{name} is '1z', '2z', '3z' or '4z', not {text!r}")
    return kind - EAST
