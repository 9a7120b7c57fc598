"""`score`: the value of one described hand, and who pays; the same code settles games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from mahjong_env.basics.errors import HandError, RulesError
from mahjong_env.basics.notation import Meld, MeldType, check_supply, count_tiles, parse_kind, parse_meld, parse_tiles
from mahjong_env.basics.tiles import EAST, KIND_NAMES, NO_TILE, NORTH, NUM_ALL_KINDS, NUM_KINDS
from mahjong_env.basics.types import Int8Array, is_integer
from mahjong_env.ruleset.questions import MOST, MOST_POINTS, THE_WILD_KIND, Circumstance, Rules, are_points, is_count
from mahjong_env.ruleset.registry import VARIANTS, rules
from mahjong_env.scoring.receipt import Receipt, receipt
from mahjong_env.scoring.wins import Source, Wins
from mahjong_env.state.arrays import MAX_MELDS


def take_circumstances(rules: Rules, given: dict[str, Any]) -> dict[str, Any]:
    """Take the circumstances out of keyword arguments, so that the knobs are left.

    Circumstances of other variants are dropped if they say nothing (0 or False); otherwise they raise `HandError`.
    """
    own = {item.name: item for item in rules.circumstances}
    taken = {}
    for name in [name for name in given if name not in rules.knobs]:
        items = [own[name]] if name in own else [*known_circumstances().get(name, {}).values()]
        if not items:
            continue
        value = given.pop(name)
        if not any(item.accepts(value) for item in items):
            raise HandError(f"{name} is {items[0].valid}, not {value!r}")
        if name in own:
            taken[name] = value
        elif value:
            raise HandError(f"{rules.name} does not use {name}")
    return taken


def known_circumstances() -> dict[str, dict[str, Circumstance]]:
    """Return the circumstances of all variants: for each name, how each variant that knows it declares it.

    Variants that cannot be loaded are left out.
    """
    known: dict[str, dict[str, Circumstance]] = {}
    for variant in VARIANTS:
        try:
            items = VARIANTS[variant].circumstances
        except RulesError:
            continue  # a user who asks for that variant learns why
        for item in items:
            known.setdefault(item.name, {})[variant] = item
    return known


@dataclass(frozen=True)
class HandScore:
    """The score of a described hand.

    Attributes:
        legal: whether the hand may win.
        reason: why it may not, in words; empty if it may.
        rows: the rows scored as (name, value), one entry per meld, kong, flower or the like that has a value of
            its own.
        points: the value of the hand; 0 if it may not win.
        payments: what each seat receives; sums to zero.
        receipt: how the points add up, and the hand split into its sets; None if it may not win.
    """

    legal: bool
    reason: str
    rows: tuple[tuple[str, int | float], ...]
    points: int
    payments: tuple[int, ...]
    receipt: Receipt | None = None


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
    turned_up: str = "",
    round_wind: str = "1z",
    house_wind: str | None = None,
    running_points: Sequence[int] | None = None,
    **more: Any,
) -> HandScore:
    """Score a described hand: its value, and who pays.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        hand: the concealed tiles before the winning tile, such as ``"456s 234p 55m"``.
        winning_tile: the tile that completes the hand; None only for wins by flowers alone.
        melds: the winner's, in the order they were made: ``"chow 123s@3"``, ``"pung 444p@2"``, ``"kong 1111s@2"``
            (from a discard), ``"kong 1111s+@2"`` (a pung from seat 2 with the fourth tile added), ``"kong 1111s"``
            (concealed).
        other_melds: the melds of other seats by seat, where a liability depends on them.
        source: "draw", "discard", "kong" (robbed) or "flowers".
        from_seat: the seat that gave the tile; required for discard and kong, and allowed only there.
        seat: the winner's seat.
        dealer: the dealer's seat.
        dealer_streak: hands for which the dealer has already kept the deal.
        wild: the wild kind; None if no tile is wild or a knob fixes it.
        flowers: the flowers that the winner has exposed, such as ``"F1 S2 1z"``.
        kong_draws: the number of kongs in a row just before the winning tile, which replaces the last of them.
        flower_draw: whether the winning tile replaced a flower.
        last_tile: whether no drawable tile is left.
        first_draw: whether this is the winner's first draw and nobody has claimed a tile or declared a kong.
        turned_up: tiles turned up after the win, where they change what it pays (`Rules.turned_up_after_win`).
        round_wind: the wind of the round, "1z" to "4z".
        house_wind: the winner's wind, "1z" to "4z"; None counts from the dealer as East.
        running_points: the points of each seat before the hand; None if they limit nothing.
        **more: house rules of the variant (knobs), and facts that only some variants ask about a win
            (`Rules.circumstances`), such as gambits, red_discards, discarded_wild or robbing_gold.

    Returns:
        The score. Hands that may not win have ``legal=False``, the reason, no rows and no payments.

    Raises:
        HandError: the description contradicts itself, is impossible, or says something that the variant does not know.
        NotationError: a text is not tile or meld notation.
        RulesError: unknown variant, knob or value.
    """
    told = SimpleNamespace(**locals())  # the arguments by name
    told.circumstances = take_circumstances(rules(variant), more)
    played = rules(variant, **more)
    _check_situation(played, told)
    told.seat, told.dealer = int(seat), int(dealer)  # numpy's unsigned integers overflow in differences
    all_melds = _read_melds(played, told)
    if first_draw and any(all_melds):
        raise HandError("first_draw says that nobody has claimed a tile or declared a kong, but there are melds")
    if kong_draws > (most := _most_kongs_in_a_row(all_melds[seat])):
        raise HandError(
            f"kong_draws={kong_draws}, but of the winner's melds at most {most} can be kongs of one turn: a kong of a "
            "discard begins its turn"
        )
    concealed = _read_tiles(played, told, all_melds[seat])
    tile = NO_TILE if winning_tile is None else parse_kind(winning_tile)
    wild_kind = _wild_kind(played, wild)
    _check_tiles(played, told, concealed, tile, wild_kind, all_melds)
    scores = played.score(_describe(played, told, concealed, tile, wild_kind, all_melds))
    return HandScore(
        legal=bool(scores.legal[0]),
        reason=played.reasons[int(scores.reason[0])],
        rows=tuple(scores.rows_of(0, played.rows)),
        points=int(scores.points[0]),
        payments=tuple(int(amount) for amount in scores.payments[0]),
        receipt=receipt(scores, 0) if scores.legal[0] else None,
    )


# --- Reading the description ------------------------------------------------------------------------------------------


_TYPES: Final[tuple[tuple[tuple[str, ...], Callable[[Any], bool], str], ...]] = (
    (("kong_draws", "dealer_streak"), is_count, f"an integer from 0 to {MOST}"),
    (("flower_draw", "last_tile", "first_draw"), lambda value: isinstance(value, bool | np.bool_), "True or False"),
    (("source", "flowers", "turned_up"), lambda value: isinstance(value, str), "a text"),
)


def _check_situation(rules: Rules, told: Any) -> None:
    """Raise `HandError` for arguments of `score` that contradict each other or that these rules do not know."""
    for names, is_valid, what in _TYPES:
        for name in names:
            if not is_valid(getattr(told, name)):
                raise HandError(f"{name} is {what}, not {getattr(told, name)!r}")
    _check_source(rules, told)
    for item in rules.circumstances:
        if not told.circumstances.get(item.name, 0):
            continue
        if item.sets == "opening" and told.source != Source.DRAW.word:
            raise HandError(f"{item.name} is about a tile that is turned up (source='draw')")
        for other in item.excludes:
            if getattr(told, other, told.circumstances.get(other, 0)):
                raise HandError(f"{item.name} and {other} contradict each other: {item.about}")
    unknown = {
        "wild": told.wild is not None and not rules.has_wild,
        "flowers": bool(told.flowers) and not rules.uses_flowers,
        "flower_draw": told.flower_draw and not rules.uses_flowers,
        "source='flowers'": told.source == Source.FLOWERS.word and not rules.wins_by_flowers,
        "turned_up": bool(told.turned_up) and not rules.turned_up_after_win,
    }
    for name, is_unknown in unknown.items():
        if is_unknown:
            raise HandError(f"{rules.name} does not use {name}")
    if told.running_points is not None and not are_points(told.running_points, rules.seats):
        raise HandError(
            f"running_points are {rules.seats} integers, one for each seat, from {-MOST_POINTS} to {MOST_POINTS}, "
            f"not {told.running_points!r}"
        )


def _check_source(rules: Rules, told: Any) -> None:
    words = [source.word for source in Source]
    if told.source not in words:
        raise HandError(f"source={told.source!r} is not valid; valid are {', '.join(words)}")
    _check_seat(rules, "seat", told.seat)
    _check_seat(rules, "dealer", told.dealer)
    if told.source in (Source.DISCARD.word, Source.ROBBED_KONG.word):
        if told.from_seat is None:
            raise HandError(f"source={told.source!r} needs from_seat, the seat that gave the tile")
        _check_seat(rules, "from_seat", told.from_seat)
        if told.from_seat == told.seat:
            raise HandError(f"from_seat={told.from_seat} is the winner himself")
    elif told.from_seat is not None:
        raise HandError(f"source={told.source!r} has no from_seat")
    for name in ("kong_draws", "flower_draw", "first_draw"):
        if getattr(told, name) and told.source != Source.DRAW.word:
            raise HandError(f"{name} is about a tile drawn by oneself (source='draw')")
    if told.last_tile and told.source == Source.ROBBED_KONG.word:
        raise HandError("after the last tile no kong can be added, so that none can be robbed")
    if told.flower_draw and not told.flowers and rules.uses_flowers:
        raise HandError("flower_draw says that a flower was replaced, but flowers names none")


def _check_seat(rules: Rules, name: str, value: Any) -> None:
    if not is_integer(value) or not 0 <= value < rules.seats:
        raise HandError(f"{name} is a seat from 0 to {rules.seats - 1}, not {value!r}")


def _wind_number(name: str, text: str) -> int:
    kind = parse_kind(text)
    if not EAST <= kind <= NORTH:
        raise HandError(f"{name} is '1z', '2z', '3z' or '4z', not {text!r}")
    return kind - EAST


def _read_melds(rules: Rules, told: Any) -> list[list[Meld]]:
    """Return the melds of each seat; raise `HandError` for melds that nobody could have made."""
    texts: list[Sequence[str]] = [()] * rules.seats
    texts[told.seat] = told.melds
    others = {} if told.other_melds is None else told.other_melds
    if not isinstance(others, Mapping):
        raise HandError(f"other_melds are lists of melds by seat, such as {{2: ['pung 111m@0']}}, not {others!r}")
    for other, its_melds in others.items():
        _check_seat(rules, "a seat in other_melds", other)
        if other == told.seat:
            raise HandError(f"other_melds names seat {other}, the winner; his melds are the argument melds")
        texts[other] = its_melds
    read = []
    for owner, listed in enumerate(texts):
        if isinstance(listed, str) or not isinstance(listed, Sequence):
            raise HandError(f"melds are a list of texts, not {listed!r}")
        parsed = [parse_meld(text) for text in listed]
        if len(parsed) > rules.sets:
            raise HandError(f"seat {owner} has {len(parsed)} melds; a hand has {rules.sets} sets")
        left = (owner - 1) % rules.seats
        for meld in parsed:
            if meld.type is not MeldType.CONCEALED_KONG:
                _check_seat(rules, f"the origin of the meld '{meld}'", meld.from_seat)
            if meld.from_seat == owner:
                raise HandError(f"the meld '{meld}' of seat {owner} comes from the seat itself")
            if meld.type is MeldType.CHOW and meld.from_seat != left:
                raise HandError(
                    f"the chow '{meld}' of seat {owner} does not come from the left: only seat {left}'s discards can "
                    "be chowed"
                )
        read.append(parsed)
    return read


def _most_kongs_in_a_row(melds: list[Meld]) -> int:
    """Return how many of a seat's melds can be kongs of one turn, in whatever order they are named."""
    types = [meld.type for meld in melds]
    own = types.count(MeldType.ADDED_KONG) + types.count(MeldType.CONCEALED_KONG)
    return own + (MeldType.EXPOSED_KONG in types)


def _read_tiles(rules: Rules, told: Any, melds: list[Meld]) -> list[int]:
    """Return the concealed kinds with the winning tile."""
    concealed = parse_tiles(told.hand)
    wanted = rules.hand_size - 3 * len(melds)
    if told.winning_tile is None and told.source != Source.FLOWERS.word:
        raise HandError(f"source={told.source!r} needs a winning_tile")
    if len(concealed) != wanted and (told.winning_tile is not None or len(concealed) != wanted + 1):
        raise HandError(
            f"the hand has {len(concealed)} tiles; with {len(melds)} melds it has {wanted} before the winning tile"
        )
    if told.winning_tile is not None:
        concealed.append(parse_kind(told.winning_tile))
    for kind in concealed:
        if rules.flower_kinds[kind] or kind >= NUM_KINDS:
            raise HandError(
                f"{KIND_NAMES[kind]} is a flower in {rules.name}: flowers are laid open and cannot be in the hand; "
                "name them in flowers="
            )
    return concealed


def _wild_kind(rules: Rules, wild: str | None) -> int:
    fixed = rules.fixed_wild
    if wild is None:
        return NO_TILE if fixed is None else fixed
    kind = parse_kind(wild)
    if rules.flower_kinds[kind] or (fixed is not None and kind != fixed):
        raise HandError(f"wild={wild!r} cannot be the wild kind here")
    if fixed is None and kind not in rules.wild_kinds(np.flatnonzero(~rules.flower_kinds[:NUM_KINDS]).astype(np.int8)):
        raise HandError(f"wild={wild!r} is never wild in {rules.name}")
    return kind


# --- Checking the tiles -----------------------------------------------------------------------------------------------


def _check_tiles(rules: Rules, told: Any, concealed: list[int], tile: int, wild: int, melds: list[list[Meld]]) -> None:
    """Raise `HandError` for tiles that cannot lie where they are said to lie."""
    flowers = parse_tiles(told.flowers)
    if any(not rules.flower_kinds[kind] for kind in flowers):
        raise HandError(f"flowers={told.flowers!r} names tiles that are not flowers in {rules.name}")
    melded = [kind for owner in melds for meld in owner for kind in meld.tiles]
    known = [*concealed, *melded, *flowers, *parse_tiles(told.turned_up)]
    known += _discarded(rules, told, wild) + _indicator(rules, told, tile, wild)
    check_supply(known, rules.deck, "the description", HandError)
    for item in rules.circumstances:
        if item.sets == "fourth_tile" and told.circumstances.get(item.name) and concealed.count(tile) > 1:
            raise HandError(f"{item.name}: {item.about}, but one is in the hand")
    if told.source == Source.ROBBED_KONG.word and told.from_seat is not None:
        robbed = [kind for meld in melds[told.from_seat] if meld.type is MeldType.PUNG for kind in meld.tiles]
        if known.count(tile) > 1 + robbed.count(tile):
            raise HandError(
                f"the robbed kong of seat {told.from_seat} has three {KIND_NAMES[tile]} beside the winning tile: "
                "no other can be in the hand, the melds or elsewhere"
            )
        if not robbed.count(tile) and len(melds[told.from_seat]) == rules.sets:
            raise HandError(
                f"seat {told.from_seat} has {rules.sets} melds, but no pung of {KIND_NAMES[tile]} to which the robbed "
                "tile could be added"
            )
    for meld in (meld for listed in melds for meld in listed):
        if rules.never_melded[meld.tiles].any():
            raise HandError(f"the meld '{meld}' cannot be made in {rules.name}")
        if wild in meld.tiles and meld.type is not MeldType.CONCEALED_KONG:
            raise HandError(f"the meld '{meld}' contains the wild tile, which is never claimed nor claims")


def _discarded(rules: Rules, told: Any, wild: int) -> list[int]:
    """Return the tiles that the winner has discarded, as far as the circumstances say."""
    discarded = []
    for item in rules.circumstances:
        number = int(told.circumstances.get(item.name, 0))
        if not number or item.discarded is None:
            continue
        if item.discarded == THE_WILD_KIND and wild == NO_TILE:
            raise HandError(f"{item.name} is about wild tiles, and no kind is wild")
        discarded += [wild if item.discarded == THE_WILD_KIND else item.discarded] * number
    return discarded


def _indicator(rules: Rules, told: Any, tile: int, wild: int) -> list[int]:
    """Return the tile turned up at the deal, if the wild kind determines it and it has not become the winning tile."""
    for item in rules.circumstances:
        if item.sets == "opening" and told.circumstances.get(item.name, False):
            if tile != wild:
                raise HandError(f"{item.name}: the winning tile is the one turned up, which wild= names")
            return []
    if wild == NO_TILE or not rules.turns_indicator:
        return []
    kinds = np.flatnonzero(~rules.flower_kinds[:NUM_KINDS]).astype(np.int8)
    leads: Int8Array = kinds[rules.wild_kinds(kinds) == wild]
    return [int(leads[0])] if len(leads) == 1 else []


# --- The description as a batch of one win ----------------------------------------------------------------------------


def _describe(rules: Rules, told: Any, concealed: list[int], tile: int, wild: int, melds: list[list[Meld]]) -> Wins:
    seat, house_wind, points = told.seat, told.house_wind, told.running_points
    house = (seat - told.dealer) % rules.seats if house_wind is None else _wind_number("house_wind", house_wind)
    shape = (1, rules.seats, MAX_MELDS)
    meld_type, meld_kind, meld_from = (np.full(shape, empty, np.int8) for empty in (MeldType.NONE, NO_TILE, -1))
    for owner, listed in enumerate(melds):
        for number, meld in enumerate(listed):
            at = 0, owner, number
            meld_type[at], meld_kind[at], meld_from[at] = meld.type, meld.kind, meld.from_seat
    marks = np.zeros((1, rules.seats, len(rules.marks)), np.int16)  # only the winner's are known
    marks[0, seat] = [told.circumstances.get(name, 0) for name in rules.marks]
    turned_up = parse_tiles(told.turned_up)
    if len(turned_up) > rules.turned_up_after_win:
        raise HandError(f"turned_up names {len(turned_up)} tiles; {rules.name} turns up {rules.turned_up_after_win}")
    turned_up += [NO_TILE] * (rules.turned_up_after_win - len(turned_up))  # those that were no longer in the wall
    said = {item.sets for item in rules.circumstances if told.circumstances.get(item.name)}
    shown = [kind for listed in melds for meld in listed for kind in meld.tiles]
    return Wins(
        counts=count_tiles(concealed)[None],
        winning_tile=_one(tile),
        source=_one(Source.of_word(told.source)),
        seat=_one(seat),
        from_seat=_one(-1 if told.from_seat is None else told.from_seat),
        dealer=_one(told.dealer),
        streak=_one(told.dealer_streak, np.int16),
        wild=_one(wild),
        num_melds=_one([len(listed) for listed in melds]),
        meld_type=meld_type,
        meld_kind=meld_kind,
        meld_from=meld_from,
        flowers=count_tiles(parse_tiles(told.flowers), NUM_ALL_KINDS)[None],
        kong_draws=_one(told.kong_draws),
        flower_draw=_one(told.flower_draw, np.bool_),
        last_tile=_one(told.last_tile, np.bool_),
        fourth_tile=_one("fourth_tile" in said or shown.count(tile) == 3, np.bool_),
        first_draw=_one(told.first_draw, np.bool_),
        opening=_one("opening" in said, np.bool_),
        marks=marks,
        round_wind=_one(_wind_number("round_wind", told.round_wind)),
        house_wind=_one(house),
        dice=_one(0),
        points=_one([0] * rules.seats if points is None else points, np.int32),
        floor=_one(points is not None, np.bool_),
        turned_up=_one(turned_up),
    )


def _one(value: Any, dtype: Any = np.int8) -> Any:
    """Return an array with one entry: [1, ...]."""
    return np.array([value], dtype)
