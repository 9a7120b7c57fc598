"""Scenes: how a hand is to begin, for tests, puzzles and experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mahjong_env.basics.errors import DealError
from mahjong_env.basics.notation import check_supply, parse_tiles
from mahjong_env.basics.tiles import EAST, KIND_NAMES, NO_TILE, NORTH
from mahjong_env.basics.types import Int8Array, is_integer
from mahjong_env.ruleset.questions import MOST_POINTS, Rules, are_points

if TYPE_CHECKING:
    from mahjong_env.state.arrays import State


@dataclass(frozen=True, kw_only=True)
class Deal:
    """The start of a hand; whatever it does not name is shuffled from the seed.

    Attributes:
        hands: the tiles of each seat, in text; partial hands are filled at random. The dealer may name one tile more
            than the others: the last one is then the dealer's first draw. Flowers named in a hand are replaced as
            in play.
        draws: the next tiles of the wall, in order, after the dealer's first draw. Where seats have private walls,
            either a text for each seat, with the next tiles of its wall (replacements included), or one text with a
            tile for each seat in turn.
        replacements: the tiles drawn as replacements, in order.
        indicator: the tile turned up; where flowers cause several to be turned up, all of them in order.
        wild: the wild kind, instead of the indicator that leads to it.
        dealer: seat of the dealer; None for the seat that names one tile more, or otherwise one drawn from the seed.
        dealer_streak: hands for which the dealer has already kept the deal; None: as the match begins.
        round_wind: "1z" to "4z"; None: as the match begins.
        house_winds: the wind of each seat, such as "1z 2z 3z 4z"; None: as the variant seats them.
        running_points: points of each person before the hand.
        tiles_left: drawable tiles at the first decision; None for all of them. With private walls, each wall keeps
            the share that would be drawn from it in turn.
    """

    hands: Sequence[str] = ()
    draws: str | Sequence[str] = ""
    replacements: str = ""
    indicator: str | None = None
    wild: str | None = None
    dealer: int | None = 0
    dealer_streak: int | None = 0
    round_wind: str | None = None
    house_winds: str | None = None
    running_points: Sequence[int] | None = None
    tiles_left: int | None = None

    def __post_init__(self) -> None:
        """Turn numpy's integers into Python's: small and unsigned ones overflow in sums, and records are JSON."""
        for name in ("dealer", "dealer_streak", "running_points", "tiles_left"):
            object.__setattr__(self, name, _plain(getattr(self, name)))


def _plain(value: Any) -> Any:
    """Return a value, or the values of a list, without numpy's types; what is no integer is refused later."""
    if isinstance(value, list | tuple):
        listed = [_plain(each) for each in value]
        return tuple(listed) if isinstance(value, tuple) else listed
    return value.tolist() if isinstance(value, np.ndarray | np.integer) else value


@dataclass(frozen=True)
class Scene:
    """A deal that has been read and is possible in a variant."""

    rules: Rules
    deal: Deal
    hands: list[list[int]]
    draws: list[int]  # NO_TILE where no tile is named
    replacements: list[int]
    indicators: list[int]
    round_wind: int | None
    house_winds: list[int] | None

    def set_match(self, state: State, game: int) -> None:
        """Set the dealer, streak, round wind and points that the deal names."""
        deal = self.deal
        if deal.dealer is not None:
            state.dealer[game] = deal.dealer
        if deal.dealer_streak is not None:
            state.streak[game] = deal.dealer_streak
        if self.round_wind is not None:
            state.round_wind[game] = self.round_wind
            state.turnover[game] = self.round_wind * self.rules.seats
        if deal.running_points is not None:
            state.points[game] = deal.running_points
            state.floored[game] = True

    def set_winds(self, state: State, game: int) -> None:
        """Set the house winds, if the deal names them."""
        if self.house_winds is not None:
            state.house_wind[game] = self.house_winds

    def shorten(self, state: State, game: int) -> None:
        """Reduce the drawable tiles to the number that the deal asks for."""
        if self.deal.tiles_left is not None:
            left = int(state.left(np.array([game]))[0])
            state.reserve[game] += max(left - self.deal.tiles_left, 0)

    def arrange(self, shuffled: Int8Array) -> Int8Array:
        """Reorder a shuffled wall [W] so that every named tile lies where it will be drawn."""
        rules = self.rules
        size, seats, length = rules.hand_size, rules.seats, len(shuffled)
        wall = np.full(length, NO_TILE, np.int8)
        for seat, hand in enumerate(self.hands):
            wall[seat * size : seat * size + min(len(hand), size)] = hand[:size]
            if len(hand) > size:
                wall[seats * size] = hand[size]
        turned = seats * size + 1 + len(self.indicators)
        wall[seats * size + 1 : turned] = self.indicators
        place = turned + self.turns_up_more
        wall[place : place + len(self.draws)] = self.draws
        wall[length - len(self.replacements) :] = self.replacements[::-1]
        # The tiles that were not named take the free places, in their shuffled order.
        named = Counter(wall[wall != NO_TILE].tolist())
        rest = []
        for kind in shuffled.tolist():
            if named[kind] > 0:
                named[kind] -= 1
            else:
                rest.append(kind)
        free = np.flatnonzero(wall == NO_TILE)
        wall[free] = rest
        # An indicator that a scene leaves to chance is never a flower: that would shift the draws that the scene names.
        if self.turns_up_more and rules.flower_kinds[wall[turned]]:
            others = free[~rules.flower_kinds[wall[free]]]
            other = others[np.argsort(others < turned, kind="stable")][0]  # a later one if there is one
            wall[[turned, other]] = wall[[other, turned]]
        return wall

    @property
    def turns_up_more(self) -> bool:
        """Whether a tile that the deal does not name is turned up after those that it names."""
        rules, named = self.rules, self.indicators
        return rules.turns_indicator and (not named or bool(rules.flower_kinds[named[-1]]))


def read_deals(deals: Deal | Sequence[Deal], rules: Rules, games: int) -> list[Scene]:
    """Read deals for a number of games; raise `DealError` if one of them is impossible."""
    if isinstance(deals, Deal):
        return [_read(deals, rules)] * games
    listed = list(deals) if isinstance(deals, Sequence) else []
    if len(listed) != games or not all(isinstance(one, Deal) for one in listed):
        raise DealError(f"deals are one Deal, or a list of {games} (one for each game dealt), not {deals!r}")
    return [_read(one, rules) for one in listed]


def _read(deal: Deal, rules: Rules) -> Scene:
    for name, value, high in (
        ("dealer", deal.dealer, rules.seats - 1),
        ("dealer_streak", deal.dealer_streak, 1000),
        ("tiles_left", deal.tiles_left, rules.drawable),
    ):
        if value is not None and not (is_integer(value) and 0 <= value <= high):
            raise DealError(f"{name} is an integer from 0 to {high} or None, not {value!r}")
    points = deal.running_points
    if points is not None and not are_points(points, rules.people):
        raise DealError(
            f"running_points are {rules.people} integers, one for each person, from {-MOST_POINTS} to {MOST_POINTS}, "
            f"not {points!r}"
        )
    if not isinstance(deal.hands, Sequence):
        raise DealError(f"hands are a list of texts, one for each seat, not {deal.hands!r}")
    hands = [parse_tiles(text) for text in ([deal.hands] if isinstance(deal.hands, str) else deal.hands)]
    if len(hands) > rules.seats:
        raise DealError(f"a deal names at most {rules.seats} hands (one for each seat), not {len(hands)}")
    size = rules.hand_size
    for seat, hand in enumerate(hands):
        limit = size + (deal.dealer in (None, seat))
        if len(hand) > limit:
            whose = "the dealer" if limit > size else f"seat {seat}"
            raise DealError(f"seat {seat} names {len(hand)} tiles; {whose} may name at most {limit}")
    full = [seat for seat, hand in enumerate(hands) if len(hand) > size]
    if len(full) > 1:
        raise DealError(f"two seats name {size + 1} tiles; only the dealer has one more")
    if full:
        deal = replace(deal, dealer=full[0])
    round_wind = None
    if deal.round_wind is not None:
        kinds = parse_tiles(deal.round_wind)
        if len(kinds) != 1 or not EAST <= kinds[0] <= NORTH:
            raise DealError(f"a wind is '1z', '2z', '3z' or '4z', not {deal.round_wind!r}")
        round_wind = kinds[0] - EAST
    house_winds = None
    if deal.house_winds is not None:
        house_winds = [kind - EAST for kind in parse_tiles(deal.house_winds)]
        if sorted(house_winds) != list(range(rules.seats)):
            raise DealError(
                f"house_winds names each of {rules.seats} winds once, such as '1z 2z 3z 4z', not {deal.house_winds!r}"
            )
    if rules.has_private_walls and deal.replacements:
        raise DealError("replacements are drawn from private walls: name them among the draws of their seats")
    scene = Scene(
        rules,
        deal,
        hands,
        _draws(deal, rules),
        parse_tiles(deal.replacements),
        _indicators(deal, rules),
        round_wind,
        house_winds,
    )
    everything = [kind for hand in hands for kind in hand] + scene.replacements + scene.indicators
    everything += [kind for kind in scene.draws if kind != NO_TILE]
    check_supply(everything, rules.deck, "the deal", DealError)
    unnamed = int(rules.deck[~rules.flower_kinds].sum()) - sum(not rules.flower_kinds[kind] for kind in everything)
    if scene.turns_up_more and not unnamed:
        raise DealError("the deal leaves no tile to be turned up: name the indicator, or fewer other tiles")
    # Flowers turned up before the indicator also lie in the wall (`Scene.arrange`).
    room = int(rules.deck.sum()) - rules.seats * size - 1 - len(scene.indicators) - scene.turns_up_more
    if len(scene.draws) + len(scene.replacements) > room:
        raise DealError(
            f"{len(scene.draws)} draws and {len(scene.replacements)} replacements: the wall has {room} tiles"
        )
    return scene


def _draws(deal: Deal, rules: Rules) -> list[int]:
    """Return the next tiles of the wall; private walls lie in turns (`State.private_draws`)."""
    if isinstance(deal.draws, str):
        return parse_tiles(deal.draws)
    if not rules.has_private_walls:
        raise DealError(f"draws are one text, not {deal.draws!r}: at this table all draw from one wall")
    if not isinstance(deal.draws, Sequence) or len(deal.draws) > rules.seats:
        raise DealError(f"draws are one text, or one for each of {rules.seats} seats, not {deal.draws!r}")
    if deal.dealer is None:
        raise DealError("draws of each seat need a dealer: name one")
    of_seats = [parse_tiles(text) for text in deal.draws]
    room = rules.drawable // rules.seats
    draws = [NO_TILE] * rules.drawable
    for seat, kinds in enumerate(of_seats):
        first = (seat - deal.dealer - 1) % rules.seats
        if len(kinds) > len(draws[first :: rules.seats]):
            number = room + (first < rules.drawable % rules.seats)
            raise DealError(f"seat {seat} draws {len(kinds)} tiles: its wall has {number}")
        draws[first : first + rules.seats * len(kinds) : rules.seats] = kinds
    return draws


def _indicators(deal: Deal, rules: Rules) -> list[int]:
    if deal.indicator is None and deal.wild is None:
        return []
    if not rules.turns_indicator:
        raise DealError(f"{rules.name} turns up no tile: neither indicator nor wild can be named")
    if deal.indicator is not None and deal.wild is not None:
        raise DealError("name either the indicator or the wild kind, not both")
    if deal.indicator is not None:
        turned = parse_tiles(deal.indicator)
        if not turned or not all(rules.flower_kinds[kind] for kind in turned[:-1]):
            raise DealError(
                f"indicator={deal.indicator!r}: name one tile, preceded at most by flowers that are turned up before it"
            )
        return turned
    wanted = parse_tiles(str(deal.wild))
    kinds = np.flatnonzero(~rules.flower_kinds[:34]).astype(np.int8)
    leads = kinds[rules.wild_kinds(kinds) == wanted[0]] if len(wanted) == 1 else kinds[:0]
    if not leads.size:
        valid = ", ".join(KIND_NAMES[kind] for kind in np.unique(rules.wild_kinds(kinds)))
        raise DealError(f"wild={deal.wild!r} cannot be the wild kind; valid are {valid}")
    return [int(leads[0])]
