"""The settings of `review` and `rule-values`; see `mahjong_training.config`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mahjong_env import Deal
from mahjong_training.config import WorkersConfig

DRAWN: Final = Deal(dealer=None, dealer_streak=None)
"""A hand of which nothing is named."""


@dataclass(frozen=True, kw_only=True)
class ReviewConfig(WorkersConfig):
    """Play every legal action of a position on the same hidden worlds, and say what each of them is worth and why."""

    record: Path | None = None
    """A file of recorded games (.jsonl); else a hand is dealt."""
    match: int = 1
    """Which match of the file, from 1."""
    decisions: tuple[int, ...] = ()
    """Which decisions of the match: numbers of actions, counted from 0."""
    review: bool = False
    """Look at all decisions of the match, or of one person (--seat), ranked by what they cost."""
    seat: int | None = None
    """The person whose decisions are reviewed, from 0."""
    variant: str | None = None
    """The variant, where a hand is dealt."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE; `python -m mahjong_env rules --variant VARIANT` lists them."""
    deal: Deal = DRAWN
    """How the hand begins; what is not named is shuffled from --seed, and of a hand of which something is named seat 0
    is the dealer."""
    actions: tuple[str, ...] = ()
    """The actions that lead from the deal to the position, such as "discard 5m" pass."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays on afterwards: one for all seats, or one for each person."""
    worlds: int = 400
    """Worlds for each decision; with --width or --milliseconds the most."""
    width: float | None = None
    """Stop once no interval against the action taken reaches further than this many points to either side."""
    milliseconds: float | None = None
    """Time for each decision; what is found then depends on the machine."""
    hindsight: bool = False
    """Keep the true hidden tiles, to learn from hindsight; what varies is then the agents' chance alone."""
    seed: int = 0
    """Of the deal, the worlds and the agents' chance."""
    out: Path | None = None
    """Folder for review.json, .csv and .html; an interrupted review goes on with the same command."""
    notes: Path | None = None
    """File for the match with all this in its notes: `python -m mahjong_env show FILE --html PAGE` shows them."""


@dataclass(frozen=True, kw_only=True)
class RuleValuesConfig(WorkersConfig):
    """Say what a knob, a row, the dealer's seat or a house rule is worth: the same deals by other rules."""

    variant: str
    """The variant to play."""
    knobs: tuple[str, ...] = ()
    """The knobs to be turned, each by itself: NAME=VALUE, such as cap=none; a knob may be named with several values."""
    rows: tuple[str, ...] = ()
    """The scoring rows to be struck out, each by itself, such as "Closed Hand"."""
    all_knobs: bool = False
    """Turn every knob to each of its other values, or to half and twice its number."""
    all_rows: bool = False
    """Strike out every row."""
    together: bool = False
    """Make one change of all that is named, instead of one of each."""
    house: tuple[str, ...] = ()
    """House rules of the table that all this is compared with, as NAME=VALUE."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays: one for all seats, or one for each person."""
    deals: int = 4000
    """Deals, each of them played by each set of rules."""
    hands: int = 1
    """Hands of each deal. Knobs about matches, such as who deals next, make a difference over several hands only."""
    seed: int = 40_000
    """Of the deals and all choices."""
    out: Path | None = None
    """Folder for rules.json and .csv; an interrupted study goes on with the same command."""
