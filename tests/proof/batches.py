"""One batch of the proof: everything about it follows from the variant and its number."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import mahjong_env
from mahjong_agents import make_agent
from mahjong_env.engine import one_game
from mahjong_env.state.arrays import FEW_GAMES
from proof.steer import RECIPES, Recipe, Steered, steer, wished
from proof.watch import knob_values, tally_of
from support.duel import Chooser, DisagreementError, choose_random, choose_with, duel
from support.house_rules import with_needed

GAMES = 32
MOST_HANDS = 96
"""A batch of matches stops here, so that batches take about the same time."""
SAME = 8
"""Games of a steered batch that are dealt by the recipe whose turn it is; the others by any that suits its knobs."""
NOISE = 0.06
"""Decisions of steered games that are left to chance."""


@dataclass(frozen=True)
class Batch:
    """What is played: a style ("random", "greedy", "steered"), and if that is steered a deal for each game."""

    variant: str
    number: int
    style: str
    knobs: dict[str, Any]
    num_hands: int
    start: str
    steered: tuple[Steered | None, ...] = ()

    def __str__(self) -> str:
        return f"{self.variant}:{self.number} ({self.style}, {self.num_hands} hands, start {self.start}, {self.knobs})"


def make_batch(variant: str, number: int, games: int = GAMES) -> Batch:
    """The batch of this number."""
    rng = np.random.default_rng([number, *variant.encode()])
    style = ("steered", "random", "steered", "greedy")[number % 4]
    rules = mahjong_env.VARIANTS[variant]
    if style != "steered":
        knobs = random_knobs(variant, rng)
        num_hands = int(rng.integers(1, 9))
        return Batch(variant, number, style, knobs, num_hands, str(rng.choice(["first", "random"])))
    # Recipes of a batch share its knobs: one is chosen first, and those that its knobs do not suit are left out.
    recipes = RECIPES[variant]
    first = recipes[(number // 2) % len(recipes)]
    knobs = random_knobs(variant, rng) | first.knobs
    rules = mahjong_env.rules(variant, **knobs)
    suited = [recipe for recipe in recipes if all(knobs[name] == value for name, value in recipe.knobs.items())]
    chosen: list[Recipe] = [first if game < SAME else suited[int(rng.integers(len(suited)))] for game in range(games)]
    steered = tuple(steer(recipe, rules, rng) for recipe in chosen)
    num_hands = max(first.hands_played, 1 if rng.random() < 0.7 else 2)
    return Batch(variant, number, style, knobs, num_hands, "first", steered)


def random_knobs(variant: str, rng: np.random.Generator) -> dict[str, Any]:
    """Every knob at its default with probability one half, else drawn among its values."""
    rules = mahjong_env.VARIANTS[variant]
    knobs: dict[str, Any] = {}
    for name, default in rules.knobs.items():
        choices = knob_values(variant, name)
        knobs[name] = choices[int(rng.integers(len(choices)))] if rng.random() < 0.5 else default
    return with_needed(knobs)


@dataclass(frozen=True)
class Played:
    """What a batch has shown: hands compared, and how often each thing was met."""

    hands: int
    tally: Counter[str]

    @classmethod
    def nothing(cls) -> Played:
        return cls(0, Counter())

    def __add__(self, other: Played) -> Played:
        return Played(self.hands + other.hands, self.tally + other.tally)


class ProofError(AssertionError):
    """Engine and referee differ in a batch, or one of them failed.

    Attributes:
        batch: what ``--replay`` takes to play it again.
    """

    def __init__(self, kind: str, variant: str, number: int, what: str) -> None:
        super().__init__(kind, variant, number, what)
        self.batch, self.what = f"{kind}:{variant}:{number}", what

    def __str__(self) -> str:
        return f"batch {self.batch}\n\n{self.what}"


@contextmanager
def most_games(number: int) -> Iterator[None]:
    """Batches of up to so many games are played in plain Python (engine/one_game.py)."""
    before, one_game.MOST_GAMES = one_game.MOST_GAMES, number
    try:
        yield
    finally:
        one_game.MOST_GAMES = before


def play_batch(variant: str, number: int, games: int = GAMES, most_hands: int = MOST_HANDS) -> Played:
    """Play a batch through engine and referee; of every eight batches four as small batches are played, and as small.

    Raises:
        ProofError: they differ, or one of them failed; the message says how to play it again.
    """
    is_small = number % 8 >= 4
    games = min(games, FEW_GAMES) if is_small else games
    with most_games(games if is_small else 0):
        return _play(make_batch(variant, number, games), games, most_hands)


def _play(batch: Batch, games: int, most_hands: int | None) -> Played:
    watched = tally_of(batch.variant)
    deals = None
    if batch.steered:
        deals = [mahjong_env.Deal(dealer=None) if one is None else one.deal for one in batch.steered]
    try:
        hands = duel(
            batch.variant,
            games,
            seed=batch.number,
            choose=chooser(batch),
            num_hands=batch.num_hands,
            start=batch.start,
            deals=deals,
            referee=watched,
            most_hands=most_hands,
            **batch.knobs,
        )
    except Exception as error:
        what = str(error) if isinstance(error, DisagreementError) else traceback.format_exc()
        raise ProofError("hands", batch.variant, batch.number, f"{batch}\n\n{what}") from error
    tally = watched.tally
    for name, value in batch.knobs.items():
        tally[f"knob: {name}={value}"] += hands
    tally[f"style: {batch.style}"] += hands
    return Played(hands, tally)


def play_recipes(variant: str, times: int, seed: int = 0) -> Played:
    """Play every recipe of a variant in some deals that differ, with the default knobs but for those that it needs.

    Raises:
        ProofError: as `play_batch`.
        ValueError: a recipe cannot be dealt.
    """
    groups: dict[tuple[Any, ...], list[Recipe]] = {}
    for recipe in RECIPES[variant]:
        groups.setdefault((recipe.hands_played, *sorted(recipe.knobs.items())), []).append(recipe)
    played = Played.nothing()
    for number, ((num_hands, *knobs), recipes) in enumerate(groups.items()):
        rng = np.random.default_rng([seed, number])
        rules = mahjong_env.rules(variant, **dict(knobs))
        steered = tuple(steer(recipe, rules, rng) for recipe in recipes * times)
        if None in steered:
            raise ValueError(f"{variant}: {recipes[steered.index(None) % len(recipes)].name!r} cannot be dealt")
        batch = Batch(variant, seed + number, "recipes", dict(knobs), num_hands, "first", steered)
        played += _play(batch, len(steered), None)
    return played


def chooser(batch: Batch) -> Chooser:
    """Who plays it."""
    if batch.style == "random":
        return choose_random
    greedy = choose_with(make_agent("greedy"))
    if batch.style == "greedy":
        return greedy
    fallback = choose_random if batch.style == "recipes" or batch.number % 3 == 0 else greedy

    def choose(engine: mahjong_env.Engine, rng: np.random.Generator) -> Any:
        actions = fallback(engine, rng)
        for game, steered in enumerate(batch.steered):
            if steered is None or engine.state.actor[game] < 0 or engine.state.hand_in_match[game] > 0:
                continue
            if batch.style == "steered" and rng.random() < NOISE:
                continue
            action = wished(engine, game, steered.wishes, rng)
            if action >= 0:
                actions[game] = action
        return actions

    return choose
