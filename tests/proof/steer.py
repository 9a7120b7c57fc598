"""Steered deals: a recipe says in a few words what the seats hold, what is drawn, and what the seats then prefer.

Seats of a recipe are letters, "a" "b" "c" "d" in the order of turns; tiles are in notation, and ``w`` is the wild tile,
``?`` any tile. Before a recipe is dealt its suits are exchanged and perhaps turned around (1 for 9), its seats
rotated, and what it does not name is shuffled; so the same recipe gives very many different deals.

Recipes are rows of tables, recipes/<variant>.toml, and of recipes/everywhere.toml for all variants. The first column of
a row is a pattern, with the recipe's name as value: ``deal`` has the columns of a `Recipe` and nothing else; ``fed``,
``waiting``, ``dealt`` and ``robbed`` have the arguments of the function of that name, then columns of a `Recipe`. Above
the rows may stand ``knobs`` that hold for all of them. In the texts ``$last`` is the seat before a, ``$round`` as many
``?`` as other seats draw before a does again, ``$set`` and ``$run`` three tiles that 16-tile hands have more.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

import mahjong_env
from mahjong_env import Deal
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.engine.scene import read_deals
from oracle.referee import VARIANTS

LETTERS = "abcd"
CLAIMS = "win, concealed kong, added kong, kong, pung, chow"
Texts = str | list[str]
"""A text, or several of which one is taken."""


@dataclass(frozen=True)
class Recipe:
    """One kind of deal.

    Attributes:
        name: what it is meant to bring about.
        hands: tiles by seat; the dealer may name one more, his first draw.
        draws: the next tiles of the wall.
        back: the replacement tiles.
        dealer: his seat.
        play: what each seat prefers, best first: names of actions or their beginnings; "keep" discards what was drawn.
            Seats not named pass and discard what they draw.
        wild: the wild kind; None: any that the deal allows.
        knobs: knobs that it needs.
        left: drawable tiles.
        streak: hands for which the dealer has kept the deal.
        points: running points by seat.
        winds: round wind, and house winds by seat.
        hands_played: hands of the match.
        as_written: its suits are not exchanged, nor turned around: rows that name kinds depend on them.
    """

    name: str
    hands: dict[str, str]
    draws: Texts = ""
    back: Texts = ""
    dealer: str = "a"
    play: dict[str, str] = field(default_factory=dict)
    wild: str | None = None
    knobs: dict[str, Any] = field(default_factory=dict)
    left: int | list[int] | None = None
    streak: int | list[int] = 0
    points: dict[str, int] | None = None
    winds: tuple[str, str] | None = None
    hands_played: int = 1
    as_written: bool = False


@dataclass(frozen=True)
class Steered:
    """A recipe that has been made into a deal, and the actions that each seat prefers."""

    deal: Deal
    wishes: dict[int, tuple[str, ...]]


def tokens(text: str) -> list[str]:
    """Single tiles of a text, ``w`` and ``?`` among them."""
    found = re.findall(r"[1-9]+[mpsz]|[FS][1-4]|w|\?", text)
    return [tile for one in found for tile in ([r + one[-1] for r in one[:-1]] if one[-1] in "mpsz" else [one])]


# --- Patterns --------------------------------------------------------------------------------------------------------
def fed(name: str, hand: str, feeds: str, junk: str, wait: str, *, seats: int, giver: str = "d", **more: Any) -> Recipe:
    """Seat a claims what the giver, who deals, discards turn after turn, discards junk, and then waits for a tile.

    The tile is drawn by a, or by another who discards it; ``left_after`` is the number of tiles left after a's draw.
    """
    before = LETTERS.index(giver) * (len(tokens(feeds)) - 1)
    draws = [f"{'?' * (before + gap)} {wait}" for gap in range(seats)]
    left_after = more.pop("left_after", None)
    if left_after is not None:
        draws, more["left"] = draws[-1:], before + seats + left_after
    discards = [", ".join(f"discard {tile}" for tile in tokens(tiles)) for tiles in (junk, feeds)]
    play = {"a": f"{more.pop('first', CLAIMS)}, {discards[0]}, keep", giver: discards[1]}
    return _recipe(name, {"a": hand, giver: feeds}, play, {"draws": draws, "dealer": giver} | more)


def waiting(name: str, hand: str, wait: str, *, seats: int, **more: Any) -> Recipe:
    """Seat a waits from the start; the tile comes by his own draw or from another's discard."""
    draws = [f"{'?' * gap} {wait}" for gap in range(seats)]
    play = {"a": f"{more.pop('first', 'win')}, keep"}
    return _recipe(name, {"a": hand}, play, {"draws": draws, "dealer": LETTERS[seats - 1]} | more)


def dealt(name: str, hand: str, *, seats: int, **more: Any) -> Recipe:
    """Seat a is the dealer; his hand is named with his first draw, which is its last tile."""
    return _recipe(name, {"a": hand}, {"a": "win, keep"}, more)


def robbed(name: str, hand: str, feed: str, junk: str, rob: str, *, seats: int, **more: Any) -> Recipe:
    """Seat a robs the kong of the seat across (of b at a table for three).

    Before that a claims what the dealer, who sits before a, feeds him, and discards junk; ``feed`` may be empty. The
    dealer first discards a tile of the kind that is robbed; it is claimed by the seat before him.
    """
    dealer, konger = LETTERS[seats - 1], LETTERS[seats - 2]
    feeds = f"{rob} {feed}"
    discards = [", ".join(f"discard {tile}" for tile in tokens(tiles)) for tiles in (junk, feeds)]
    play = {"a": f"win, pung, kong, {discards[0]}, keep", dealer: discards[1]}
    play[konger] = "added kong, pung, discard 4z"
    draws = f"? {'?' * (seats - 3 + (not feed))} {rob}"
    hands = {"a": hand, dealer: feeds, konger: f"{rob} {rob} 4z"}
    return _recipe(name, hands, play, {"draws": draws, "dealer": dealer} | more)


def deal(name: str, hands: dict[str, str], *, seats: int, **more: Any) -> Recipe:
    """Nothing but the columns of a recipe."""
    return Recipe(name, hands, **more)


def _recipe(name: str, hands: dict[str, str], play: dict[str, str], more: dict[str, Any]) -> Recipe:
    hands, play = hands | more.pop("hands", {}), play | more.pop("play", {})
    return Recipe(name, hands, play=play, **more)


def _read(variant: str) -> Iterator[Recipe]:
    """The recipes of a variant."""
    rules, folder = mahjong_env.VARIANTS[variant], Path(__file__).parent / "recipes"
    more = ("678s", "678p") if rules.hand_size == 16 else ("", "")
    words = {"set": more[0], "run": more[1], "last": LETTERS[rules.seats - 1], "round": "?" * (rules.seats - 1)}
    texts = [(folder / f"{name}.toml").read_text(encoding="utf-8") for name in ("everywhere", variant)]
    tables = [tomllib.loads(Template(text).substitute(words, seats=rules.seats)) for text in texts]
    patterns = {make.__name__: make for make in (deal, fed, waiting, dealt, robbed)}
    for row in (row for table in tables for row in table["recipes"]):
        (pattern, name), *columns = row.items()
        recipe = patterns[pattern](name, **{"seats": rules.seats, **dict(columns)})
        knobs = {key: None if value == "none" else value for key, value in recipe.knobs.items()}
        yield replace(recipe, knobs=tables[1].get("knobs", {}) | knobs)


RECIPES = {variant: tuple(_read(variant)) for variant in sorted(VARIANTS)}


# --- Deals -----------------------------------------------------------------------------------------------------------
class Mapping:
    """Which tile stands for which in one deal: suits are exchanged, and perhaps turned around."""

    def __init__(self, recipe: Recipe, rng: np.random.Generator) -> None:
        suits, self.turned = rng.permutation(list("mps")), bool(rng.random() < 0.5)
        self.wild: str | None = None
        if recipe.as_written:
            suits, self.turned = "mps", False
        self.suits = dict(zip("mps", map(str, suits), strict=True))

    def tile(self, name: str) -> str:
        if name == "w":
            return str(self.wild)
        if name[-1] not in "mps":
            return name
        return f"{10 - int(name[0]) if self.turned else name[0]}{self.suits[name[-1]]}"

    def wish(self, text: str) -> str:
        """An action of a recipe in the words of the deal."""
        verb, _, last = text.strip().rpartition(" ")
        if verb == "chow" and self.turned:
            last = {"low": "high", "high": "low"}.get(last, last)
        return f"{verb} {self.tile(last)}" if re.fullmatch(r"[1-9][mpsz]|w", last) else f"{verb} {last}".strip()


def steer(recipe: Recipe, rules: mahjong_env.Rules, rng: np.random.Generator) -> Steered | None:
    """Make a recipe into a deal; None if the rules or chance do not allow it."""
    for _ in range(20):
        try:
            steered = _try(recipe, rules, rng)
            read_deals(steered.deal, rules, 1)
        except ValueError:
            continue
        return steered
    return None


def _one(value: Any, rng: np.random.Generator) -> Any:
    return value[int(rng.integers(len(value)))] if isinstance(value, list) else value


def _try(recipe: Recipe, rules: mahjong_env.Rules, rng: np.random.Generator) -> Steered:
    seats, first = rules.seats, int(rng.integers(rules.seats))
    seat_of = {letter: (first + place) % seats for place, letter in enumerate(LETTERS[:seats])}
    mapping = Mapping(recipe, rng)
    draws, back = tokens(_one(recipe.draws, rng)), tokens(_one(recipe.back, rng))
    hands = {seat_of[letter]: tokens(text) for letter, text in recipe.hands.items() if letter in seat_of}
    if back and rules.uses_flowers:  # no flower that chance deals shall take the replacements that are named
        for seat in range(seats):
            size = rules.hand_size + (seat == seat_of[recipe.dealer])
            hands[seat] = [*hands.get(seat, []), *"?" * (size - len(hands.get(seat, [])))]
    places = [*hands.values(), draws, back]
    if rules.has_wild:
        mapping.wild = _wild(
            recipe, rules, {mapping.tile(tile) for place in places for tile in place if tile != "w"}, rng
        )
        if recipe.wild is not None and rules.fixed_wild is None:
            mapping.wild = mapping.tile(recipe.wild)
    _fill(places, rules, mapping, rng)
    points, winds = recipe.points, recipe.winds
    return Steered(
        Deal(
            hands=[" ".join(hands.get(seat, [])) for seat in range(seats)],
            draws=" ".join(draws),
            replacements=" ".join(back),
            wild=mapping.wild if rules.turns_indicator else None,
            dealer=seat_of[recipe.dealer],
            dealer_streak=_one(recipe.streak, rng),
            round_wind=None if winds is None else winds[0],
            house_winds=None if winds is None else " ".join(np.roll(tokens(winds[1]), first)),
            running_points=points and [points[LETTERS[(person - first) % seats]] for person in range(rules.people)],
            tiles_left=_one(recipe.left, rng),
        ),
        {
            seat_of[letter]: tuple(mapping.wish(wish) for wish in text.split(","))
            for letter, text in recipe.play.items()
            if letter in seat_of
        },
    )


def _wild(recipe: Recipe, rules: mahjong_env.Rules, named: set[str], rng: np.random.Generator) -> str:
    """Any kind that the recipe does not name."""
    if rules.fixed_wild is not None:
        return KIND_NAMES[rules.fixed_wild]
    free = [KIND_NAMES[kind] for kind in np.flatnonzero(~rules.flower_kinds[:34])]
    return str(rng.choice([name for name in free if name not in named]))


def _fill(places: list[list[str]], rules: mahjong_env.Rules, mapping: Mapping, rng: np.random.Generator) -> None:
    """Write the tiles of the deal; for each ``?`` one that is still there, never the wild one, nor a flower."""
    for place in places:
        place[:] = [mapping.tile(tile) for tile in place]
    left = {name: int(count) for name, count in zip(KIND_NAMES, rules.deck, strict=True)}
    for tile in (tile for place in places for tile in place if tile != "?"):
        left[tile] -= 1
    for place in places:
        for index in [index for index, tile in enumerate(place) if tile == "?"]:
            free = [
                name
                for kind, name in enumerate(KIND_NAMES)
                if left[name] > 1 and name != mapping.wild and not rules.flower_kinds[kind]
            ]
            place[index] = str(rng.choice(free))
            left[place[index]] -= 1


def wished(engine: mahjong_env.Engine, game: int, wishes: dict[int, tuple[str, ...]], rng: np.random.Generator) -> int:
    """The action that the seat to act prefers; -1 if none of them is legal."""
    state = engine.state
    legal = [mahjong_env.ACTIONS[action] for action in np.flatnonzero(engine.action_mask[game])]
    drawn = int(state.drawn[game])
    keep = f"discard {KIND_NAMES[drawn]}" if drawn >= 0 else "-"
    for wish in (*wishes.get(int(state.actor[game]), ()), "pass", "keep"):
        beginning = keep if wish == "keep" else wish
        fitting = [name for name in legal if name == beginning or name.startswith(f"{beginning} ")]
        if fitting:
            return mahjong_env.action(str(rng.choice(fitting)))
    return -1
