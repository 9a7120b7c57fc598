"""What the steered deals of each variant are made from: a table each, tests/proof/recipes/<variant>.toml.

A row is a recipe (`proof.steer.Recipe`); seat "a" is the one whose hand is steered. Its first column is a pattern, with
the recipe's name as value:

* ``deal``: nothing but the columns of a `Recipe`;
* ``fed``, ``waiting``, ``dealt``, ``robbed``: the arguments of the function of that name, then columns of a `Recipe`;
* ``several_robbers``, ``everywhere`` (`plays_of_all`): the value is the number of tiles in a hand.

Above the rows may stand what holds for all of them: ``seats`` and ``knobs``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from proof.steer import LETTERS, Recipe, tokens

CLAIMS = "win, concealed kong, added kong, kong, pung, chow"


def fed(
    name: str, hand: str, feeds: str, junk: str, wait: str, *, giver: str = "d", seats: int = 4, **more: Any
) -> Recipe:
    """Seat a claims what another discards turn after turn, discarding junk, and then waits.

    Args:
        name: what it is meant to bring about.
        hand: a's tiles.
        feeds: what the giver discards, in order.
        junk: what a discards after each claim.
        wait: the tile that a then waits for: drawn by a, or by another who discards it.
        giver: the seat that discards; he is the dealer. The one before a also feeds chows.
        seats: at the table.
        **more: other fields of the recipe, and ``left_after``: tiles left after a's self-draw.
    """
    check_size(name, hand)
    between = LETTERS.index(giver)
    before = between * (len(tokens(feeds)) - 1)
    after = seats - 1
    draws = tuple(f"{'?' * (before + gap)} {wait}" for gap in range(after + 1))
    left_after = more.pop("left_after", None)
    if left_after is not None:
        draws, more["left"] = draws[-1:], before + after + 1 + left_after
    play = {
        "a": ", ".join([more.pop("first", CLAIMS), *(f"discard {tile}" for tile in tokens(junk)), "keep"]),
        giver: ", ".join(f"discard {tile}" for tile in tokens(feeds)),
    } | more.pop("play", {})
    hands = {"a": hand, giver: feeds} | more.pop("hands", {})
    return Recipe(name, hands, draws=more.pop("draws", draws), dealer=giver, play=play, **more)


def waiting(name: str, hand: str, wait: str, *, seats: int = 4, **more: Any) -> Recipe:
    """Seat a waits from the start; the tile comes by his own draw or from another's discard."""
    check_size(name, hand)
    draws = tuple(f"{'?' * gap} {wait}" for gap in range(seats))
    play = {"a": f"{more.pop('first', 'win')}, keep"} | more.pop("play", {})
    dealer = more.pop("dealer", LETTERS[seats - 1])
    hands = {"a": hand} | more.pop("hands", {})
    return Recipe(name, hands, draws=more.pop("draws", draws), dealer=dealer, play=play, **more)


def dealt(name: str, hand: str, **more: Any) -> Recipe:
    """Seat a is the dealer; his hand is named with his first draw, which is its last tile."""
    check_size(name, hand, extra=1)
    return Recipe(name, {"a": hand} | more.pop("hands", {}), play={"a": "win, keep"} | more.pop("play", {}), **more)


def robbed(name: str, hand: str, feed: str, junk: str, rob: str, *, seats: int = 4, **more: Any) -> Recipe:
    """Seat a claims one tile and then robs the kong of the seat across (of b at a table for three).

    Args:
        name: what it is meant to bring about.
        hand: a's tiles.
        feed: what the dealer, who sits before a, discards for him; "" for none.
        junk: what a discards after his claim.
        rob: the kind that is konged: the dealer discards it first.
        seats: at the table.
        **more: other fields of the recipe.
    """
    check_size(name, hand)
    dealer, konger = LETTERS[seats - 1], LETTERS[seats - 2]
    feeds = f"{rob} {feed}"
    # The dealer's discard is claimed by the seat before him, who discards; the dealer draws, and discards again.
    until_konger = "?" * (seats - 2) if feed else "?" * (1 + seats - 2)
    return Recipe(
        name,
        {"a": hand, dealer: feeds, konger: f"{rob} {rob} 4z"} | more.pop("hands", {}),
        draws=more.pop("draws", f"? {until_konger[:-1]} {rob}"),
        dealer=dealer,
        play={
            "a": ", ".join(["win, pung, kong", *(f"discard {tile}" for tile in tokens(junk)), "keep"]),
            dealer: ", ".join(f"discard {tile}" for tile in tokens(feeds)),
            konger: "added kong, pung, discard 4z",
        },
        **more,
    )


def several_robbers(size: int, seats: int = 4, **more: Any) -> Recipe:
    """Two seats wait for the tile that a third adds to his pung; the nearer one lets the farther one rob it."""
    rest = "" if size == 13 else "789s"
    dealer, konger = LETTERS[seats - 1], LETTERS[seats - 2]
    nearer, farther = ("a", "b") if seats == 4 else (dealer, "a")
    # They draw 5m only when 4m has been discarded and punged: else they would win on that discard.
    hands = {nearer: f"3m678p345s88p123s9p{rest}", farther: f"3m345p678s22p123p9s{rest}", konger: "44m4p"}
    hands[dealer] = hands.get(dealer, "") + "4m"
    return Recipe(
        "several could rob a kong",
        hands,
        draws="?" * (seats - 3) + "5m5m4m",
        dealer=dealer,
        play={dealer: "discard 4m"}
        | {nearer: "discard 4m, discard 9p, pass, keep"}
        | {farther: "win, discard 9s, keep", konger: "added kong, pung, discard 4p"},
        **more,
    )


def check_size(name: str, hand: str, extra: int = 0) -> None:
    """Hands of recipes are whole: 13 or 16 tiles."""
    if len(tokens(hand)) - extra not in (13, 16):
        raise ValueError(f"recipe {name!r}: {len(tokens(hand))} tiles in {hand!r}")


def plays_of_all(size: int, seats: int = 4) -> tuple[Recipe, ...]:
    """Rules of play that every variant shares: the end of the wall, claims of several seats, kongs."""
    more = "" if size == 13 else "678s"
    last = LETTERS[seats - 1]
    waits = f"123p456p789p46m11s{more}"
    late = (0, 2, 3)  # of the dealer: from some time on more wins are allowed
    return (
        Recipe("the last discard is not claimed", {"a": "2m", "b": "55m 46m"}, draws="5m", dealer=last, left=1),
        Recipe("no kong without a replacement", {"a": "333m 579s"}, draws="3m", dealer=last, left=1),
        Recipe(
            "no added kong without a replacement",
            {"a": "33m 19s", last: "3m"},
            draws="?" * (seats - 1) + "3m",
            dealer=last,
            left=seats,
            play={"a": "added kong, pung, discard 1s", last: "discard 3m"},
        ),
        Recipe(
            "no kong right after a claim",
            {"a": "33m 8888s 19p", last: "3m"},
            dealer=last,
            play={"a": "pung, discard 1p, concealed kong, keep", last: "discard 3m"},
        ),
        Recipe(
            "several kongs in one turn",
            {"a": "3333m 8888s 1p"},
            play={"a": "win, concealed kong, keep"},
            back=("? ?", "2222p"),
        ),
        Recipe(
            "kongs of all kinds",
            {"a": "333m 55s 9999p 1z", last: "3m 5s"},
            dealer=last,
            draws="?" * (seats - 1) + "?" + "?" * (seats - 1) + "5s",
            play={"a": "kong, pung, concealed kong, added kong, discard 1z, keep", last: "discard 3m, discard 5s"},
        ),
        Recipe(
            "pung before chow",
            {"a": "46m", "b": "55m", last: "5m"},
            dealer=last,
            play={"a": "chow", "b": "pung", last: "discard 5m"},
        ),
        Recipe(
            "a win before a pung",
            {"a": "55m", "b": waits, last: "5m"},
            dealer=last,
            streak=late,
            play={"a": "pung", "b": "win", last: "discard 5m"},
        ),
        Recipe(
            "several could win",
            {"a": waits, "b": f"123s456s789s46m22s{more.replace('s', 'p')}", last: "5m"},
            dealer=last,
            streak=late,
            play={"a": "win", "b": "win", last: "discard 5m"},
        ),
        Recipe(
            "the nearer one lets the farther one win",
            {"a": waits, "b": f"123s456s789s46m22s{more.replace('s', 'p')}", last: "5m"},
            dealer=last,
            streak=late,
            play={"a": "pass", "b": "win", last: "discard 5m"},
        ),
        Recipe(
            "a chow is outranked by a pung",
            {"a": waits, "b": "55m", last: "5m"},
            dealer=last,
            streak=late,
            play={"a": "chow", "b": "pung", last: "discard 5m"},
        ),
        Recipe(
            "kong before chow",
            {"a": "46m", "b": "555m", last: "5m"},
            dealer=last,
            play={"a": "chow", "b": "kong", last: "discard 5m"},
        ),
        Recipe("a kong takes the last tile", {"a": "3333m"}, left=1, play={"a": "concealed kong"}),
        Recipe(
            "a win is passed",
            {"a": waits, last: "5m"},
            dealer=last,
            streak=late,
            play={"a": "pass", last: "discard 5m"},
        ),
        Recipe(
            "the last discard is won on",
            {"b": waits},
            draws="?" * (seats - 1) + "5m",
            dealer=last,
            streak=late,
            left=seats,
            play={"b": "win, keep"},
        ),
        Recipe(
            "no win right after a claim",
            {"a": f"55m123p456p789p11s{more}", last: "5m"},
            dealer=last,
            play={"a": "pung", last: "discard 5m"},
        ),
        Recipe(
            "a kong without payment in the end",
            {"a": "333m"},
            draws="3m",
            dealer=last,
            left=3,
            play={"a": "concealed kong"},
        ),
    )


def _read(path: Path) -> Iterator[Recipe]:
    """The recipes of a table."""
    told = tomllib.loads(path.read_text(encoding="utf-8"))
    for row in told["recipes"]:
        pattern, *columns = ((name, _plain(value)) for name, value in row.items())
        more = dict(columns)
        more |= {"seats": more.get("seats", told.get("seats", 4))} if pattern[0] not in ("deal", "dealt") else {}
        for recipe in _made(*pattern, **more):
            yield replace(recipe, knobs=told.get("knobs", {}) | recipe.knobs)


def _made(pattern: str, value: Any, **more: Any) -> tuple[Recipe, ...]:
    if pattern == "everywhere":
        honours = more.pop("honours", True)
        found = plays_of_all(value, **more)
        return found if honours else tuple(one for one in found if "z" not in "".join(one.hands.values()))
    make = {"deal": Recipe, "fed": fed, "waiting": waiting, "dealt": dealt, "robbed": robbed}
    return ((make | {"several_robbers": several_robbers})[pattern](value, **more),)


def _plain(value: Any) -> Any:
    """A value of a row: lists are tuples, "none" is None."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    return tuple(value) if isinstance(value, list) else None if value == "none" else value


RECIPES: dict[str, tuple[Recipe, ...]] = {
    path.stem: tuple(_read(path)) for path in sorted(Path(__file__).parent.glob("*.toml"))
}
