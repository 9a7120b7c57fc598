"""Steered deals: a recipe says in a few words what the seats hold, what is drawn, and what the seats then prefer.

Seats of a recipe are letters, "a" "b" "c" "d" in the order of turns; tiles are in notation, and ``w`` is the wild tile,
``?`` any tile. Before a recipe is dealt its suits are exchanged and perhaps turned around (1 for 9), its seats
rotated, and what it does not name is shuffled; so the same recipe gives very many different deals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mahjong_env
from mahjong_env import Deal
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.engine.scene import Scenes

LETTERS = "abcd"
_TOKEN = re.compile(r"[1-9]+[mpsz]|[FS][1-4]|w|\?")


@dataclass(frozen=True)
class Recipe:
    """One kind of deal.

    Attributes:
        name: what it is meant to bring about.
        hands: tiles by seat; the dealer may name one more, his first draw.
        draws: the next tiles of the wall, or several such lists, one of which is taken.
        back: the replacement tiles, likewise.
        dealer: his seat.
        play: what each seat prefers, best first: names of actions or their beginnings; "keep" discards what was drawn.
            Seats not named pass and discard what they draw.
        wild: the wild kind; None: any that the deal allows.
        knobs: knobs that it needs.
        turns: whether suits may be exchanged and turned around.
        left: drawable tiles.
        streak: hands for which the dealer has kept the deal.
        points: running points by seat.
        winds: round wind, and house winds by seat.
        hands_played: hands of the match.
    """

    name: str
    hands: dict[str, str]
    draws: str | tuple[str, ...] = ""
    back: str | tuple[str, ...] = ""
    dealer: str = "a"
    play: dict[str, str] = field(default_factory=dict)
    wild: str | None = None
    knobs: dict[str, Any] = field(default_factory=dict)
    turns: bool = True
    left: int | tuple[int, ...] | None = None
    streak: int | tuple[int, ...] = 0
    points: dict[str, int] | None = None
    winds: tuple[str, str] | None = None
    hands_played: int = 1


@dataclass(frozen=True)
class Steered:
    """A recipe that has been made into a deal.

    Attributes:
        deal: how the hand begins.
        wishes: what each seat prefers.
    """

    deal: Deal
    wishes: dict[int, tuple[str, ...]]


def tokens(text: str) -> list[str]:
    """Single tiles of a text, ``w`` and ``?`` among them."""
    found = []
    for token in _TOKEN.findall(text):
        found += [rank + token[-1] for rank in token[:-1]] if token[-1] in "mpsz" else [token]
    return found


class Mapping:
    """Which tile stands for which in one deal."""

    def __init__(self, rng: np.random.Generator, *, turns: bool) -> None:
        suits = rng.permutation(list("mps")) if turns else list("mps")
        self.suits = dict(zip("mps", (str(suit) for suit in suits), strict=True))
        self.turned = turns and bool(rng.random() < 0.5)

    def tile(self, name: str) -> str:
        if name[-1] not in "mps":
            return name
        rank = 10 - int(name[0]) if self.turned else int(name[0])
        return f"{rank}{self.suits[name[-1]]}"

    def wish(self, text: str, wild: str | None) -> str:
        """An action of a recipe in the words of the deal."""
        verb, _, last = text.rpartition(" ")
        if last == "w":
            return f"{verb} {wild}"
        if self.turned and verb == "chow":
            return f"chow {({'low': 'high', 'high': 'low'}).get(last, last)}"
        return f"{verb} {self.tile(last)}" if re.fullmatch(r"[1-9][mps]", last) else text


def choose_one(value: Any, rng: np.random.Generator) -> Any:
    """One of a tuple, or the value itself."""
    return value[int(rng.integers(len(value)))] if isinstance(value, tuple) else value


def steer(recipe: Recipe, rules: mahjong_env.Rules, rng: np.random.Generator) -> Steered | None:
    """Make a recipe into a deal; None if the rules or chance do not allow it."""
    for _ in range(20):
        try:
            steered = _try(recipe, rules, rng)
            Scenes.check(steered.deal, rules, 1)
        except ValueError:
            continue
        return steered
    return None


def _try(recipe: Recipe, rules: mahjong_env.Rules, rng: np.random.Generator) -> Steered:
    mapping = Mapping(rng, turns=recipe.turns)
    seats, first = rules.seats, int(rng.integers(rules.seats))
    seat_of = {letter: (first + place) % seats for place, letter in enumerate(LETTERS[:seats])}
    wild = _wild(recipe, rules, mapping, rng)

    def tiles(text: str) -> list[str]:
        return [str(wild) if token == "w" else mapping.tile(token) for token in tokens(text)]

    hands = {seat_of[letter]: tiles(text) for letter, text in recipe.hands.items() if letter in seat_of}
    draws, back = tiles(choose_one(recipe.draws, rng)), tiles(choose_one(recipe.back, rng))
    if back and rules.uses_flowers:  # no flower that chance deals shall take the replacements that are named
        for seat in range(seats):
            dealt = hands.setdefault(seat, [])
            dealt += ["?"] * (rules.hand_size + (seat == seat_of[recipe.dealer]) - len(dealt))
    _fill_gaps(hands, [draws, back], wild, rules, rng)
    points, winds = recipe.points, recipe.winds
    wishes = {
        seat_of[letter]: tuple(mapping.wish(wish.strip(), wild) for wish in text.split(","))
        for letter, text in recipe.play.items()
        if letter in seat_of
    }
    deal = Deal(
        hands=[" ".join(hands.get(seat, [])) for seat in range(seats)],
        draws=" ".join(draws),
        replacements=" ".join(back),
        wild=wild if rules.turns_indicator else None,
        dealer=seat_of[recipe.dealer],
        dealer_streak=choose_one(recipe.streak, rng),
        round_wind=None if winds is None else winds[0],
        house_winds=None if winds is None else _rotated(winds[1], first),
        running_points=None if points is None else [points["abcd"[(p - first) % seats]] for p in range(rules.people)],
        tiles_left=choose_one(recipe.left, rng),
    )
    return Steered(deal, wishes)


def _rotated(winds: str, first: int) -> str:
    listed = tokens(winds)
    return " ".join(listed[(seat - first) % len(listed)] for seat in range(len(listed)))


def _wild(recipe: Recipe, rules: mahjong_env.Rules, mapping: Mapping, rng: np.random.Generator) -> str | None:
    if not rules.has_wild:
        return None
    if rules.fixed_wild is not None:
        return KIND_NAMES[rules.fixed_wild]
    if recipe.wild is not None:
        return mapping.tile(recipe.wild)
    texts = [*recipe.hands.values(), *_texts(recipe.draws), *_texts(recipe.back)]
    named = {mapping.tile(token) for text in texts for token in tokens(text) if token not in "w?"}
    kinds = [kind for kind in np.flatnonzero(~rules.flower_kinds[:34]) if KIND_NAMES[kind] not in named]
    return KIND_NAMES[int(rng.choice(kinds))]


def _texts(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _fill_gaps(
    hands: dict[int, list[str]],
    walls: list[list[str]],
    wild: str | None,
    rules: mahjong_env.Rules,
    rng: np.random.Generator,
) -> None:
    """Put any tile that is still there for each ``?``; never the wild one, nor a flower."""
    left = {name: int(count) for name, count in zip(KIND_NAMES, rules.deck, strict=True)}
    for place in [*hands.values(), *walls]:
        for tile in place:
            if tile != "?":
                left[tile] -= 1
    for place in [*hands.values(), *walls]:
        for index, tile in enumerate(place):
            if tile == "?":
                free = [n for k, n in enumerate(KIND_NAMES) if left[n] > 1 and n != wild and not rules.flower_kinds[k]]
                place[index] = str(rng.choice(free))
                left[place[index]] -= 1


def wished(engine: mahjong_env.Engine, game: int, wishes: dict[int, tuple[str, ...]], rng: np.random.Generator) -> int:
    """The action that the seat to act prefers; -1 if none of them is legal."""
    state = engine.state
    legal = [mahjong_env.ACTIONS[action] for action in np.flatnonzero(engine.action_mask[game])]
    drawn = int(state.drawn[game])
    keep = f"discard {KIND_NAMES[drawn]}" if drawn >= 0 else "-"
    seat = int(state.actor[game])
    for wish in (*wishes.get(seat, ()), "pass", "keep"):
        beginning = keep if wish == "keep" else wish
        fitting = [name for name in legal if name == beginning or name.startswith(f"{beginning} ")]
        if fitting:
            return mahjong_env.action(str(rng.choice(fitting)))
    return -1
