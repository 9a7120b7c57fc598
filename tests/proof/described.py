"""Described hands, drawn at random: what the package, the referee and, for MCR, PyMahjongGB make of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np

import mahjong_env
from mahjong_env import HandError
from mahjong_env.basics.tiles import KIND_NAMES
from oracle import referee
from oracle.referee.mcr import STRAIGHTS
from oracle.referee.situation import Meld, Situation, meld_from, situation_from_text
from oracle.referee.tiles import HONOURS, WINDS, in_order, tiles_from
from proof.batches import Played, ProofError, random_knobs
from proof.watch import same_score

try:
    from MahjongGB import MahjongFanCalculator
except ImportError:  # it is compiled from source, on Linux alone (extra dev)
    MahjongFanCalculator = None

SUITS = "mps"
# Kinds that a hand is made of: what rows about tiles ask for, and everything.
ALPHABETS = (
    *("123456789m123456789p123456789s1234567z",) * 6,
    *(f"123456789{suit}" for suit in SUITS),
    *(f"123456789{suit}1234567z" for suit in SUITS),
    *("123456789m123456789p", "123456789p123456789s1234567z", "2345678m2345678p2345678s", "1234567z"),
    *("19m19p19s1234567z", "19m19p19s", "2468m2468p2468s", "34567m34567p34567s", "1239m789p123s789s1234567z"),
    *("789m789p789s", "6789m6789p6789s", "456m456p456s", "123m123p123s", "1234m1234p1234s"),
    *("23468s6z", "23468s", "1234589p245689s5z", "123m789p22334455s34z6z", "19m1234567z", "2345s567z"),
)
# Sets that rows of several sets ask for, as types, ranks above a lowest one, and suits a, b, c in any order,
# or above 1z. A pair last, of ranks above the lowest or of that honour; ``*`` is any honour.
PATTERNS = (
    *("C0a C0a C0a C0a", "C0a C0a C0a", "C0a C1a C2a C3a", "C0a C2a C4a C6a", "C0a C1a C2a", "C0a C2a C4a"),
    *("C0a C3a C6a", "C0a C3b C6c", "C0a C0b C0c", "C0a C1b C2c", "C0a C0a C6a C6a =4a", "C0a C6a C0b C6b =4c"),
    *("C0a C3b C1b C4a", "C0a C6a", "C0a C0a C3a C3a", "C0a C0b C3a C3b", "C0a C0a C0b C0b"),
    *("P0a P1a P2a P3a", "P0a P1a P2a", "P0a P1b P2c", "P0a P0b P0c", "P0a P0b", "P0a P0b P1c P1a", "P0a P1b P2c P0c"),
    *("P0z P1z P2z P3z", "P0z P1z P2z", "P1z P2z P3z =1z", "P4z P5z P6z", "P4z P5z =7z", "P5z P6z", "P4z"),
    *("C0a C4b C2c P6a =*", "C0a C5b P3c C2c =*", "C0a C1b C4c C4b =*"),
)
Sets = list[tuple[str, str]]
"""Types ("C" for a chow, "P" for a pung) and lowest tiles."""


# --- Tiles -----------------------------------------------------------------------------------------------------------
def random_sets(rng: random.Random, number: int, allowed: set[str]) -> tuple[Sets, list[str]] | None:
    """So many sets, and a pair; None if there are not that many tiles."""
    kinds, is_pung = tiles_from(rng.choice(ALPHABETS)), rng.choice((0.0, 0.2, 0.5, 0.8, 1.0))
    sets: Sets = []
    pair = rng.choice(kinds)
    if rng.random() < 0.4:
        suits = dict(zip("abcz", [*rng.sample(SUITS, 3), "z"], strict=True))
        parts = rng.choice(PATTERNS).replace("*", rng.choice("1234567") + "z").split()
        low = 1 if "z" in parts[0] else rng.randint(1, 9 - max(int(part[1]) + 2 * (part[0] == "C") for part in parts))
        for type_, rank, suit in parts:
            tile = f"{low + int(rank)}{suits[suit]}"
            if type_ == "=":
                pair = rank + suit if suit == "z" else tile
            else:
                sets.append((type_, tile))
    while len(sets) < number:
        if sets and rng.random() < 0.4:  # beside a set that is there
            type_, tile = rng.choice(sets)
            suit = tile[1] if rng.random() < 0.5 or tile[1] == "z" else rng.choice(SUITS)
            tile = f"{(int(tile[0]) + rng.choice((-6, -3, -2, -1, 0, 0, 1, 2, 3, 6))) % 10}{suit}"
        else:
            type_, tile = "P" if rng.random() < is_pung else "C", rng.choice(kinds)
        if all(one in kinds for one in tiles_of(type_, tile)):
            sets.append((type_, tile))
        elif rng.random() < 0.05:
            return None
    is_allowed = all(tile in allowed for type_, low in [*sets[:number], ("P", pair)] for tile in tiles_of(type_, low))
    return (sets[:number], [pair, pair]) if is_allowed else None


def tiles_of(type_: str, tile: str) -> list[str]:
    """The tiles of a set."""
    if type_ == "P":
        return [tile] * 3
    return [f"{int(tile[0]) + step}{tile[1]}" for step in range(3)] if tile[1] != "z" else ["no chow"]


def other_shape(rng: random.Random, variant: str, allowed: set[str]) -> tuple[Sets, list[str]] | None:
    """A hand of thirteen tiles and one more that is read as something else than sets and a pair."""
    shapes, suit, low = ["pairs", "pairs", "pairs in a row", "orphans", "gates"], rng.choice(SUITS), rng.randint(1, 3)
    shape = rng.choice([*shapes, "straight", "straight", "knitted"] if variant == "mcr" else shapes)
    if shape == "straight":
        divided = random_sets(rng, 1, allowed)
        return divided and (divided[0], rng.choice(STRAIGHTS) + divided[1])
    honours = rng.randint(5, 7)
    return [], {
        "pairs": in_order(rng.choices(tiles_from(rng.choice(ALPHABETS)), k=7) * 2),
        "pairs in a row": [f"{rank}{suit}" for rank in range(low, low + 7)] * 2,
        "orphans": [*tiles_from("19m19p19s1234567z"), rng.choice(["1m", "9s", "3z"])],
        "gates": [*tiles_from("1112345678999" + suit), rng.choice("123456789") + suit],
        "knitted": rng.sample(HONOURS, honours) + rng.sample(rng.choice(STRAIGHTS), 14 - honours),
    }[shape]


def melds_and_rest(
    rng: random.Random, sets: Sets, owner: int, seats: int, wild: str | None
) -> tuple[list[str], list[str]]:
    """Some of the sets declared: the melds as texts, and the tiles that stay in hand."""
    is_open, is_kong = rng.choice((0.0, 0.0, 0.3, 0.7, 1.0)), rng.choice((0.0, 0.0, 0.3, 1.0))
    others = [seat for seat in range(seats) if seat != owner]
    favourite, melds, hand = rng.choice(others), [], []
    for type_, tile in sets:
        tiles, giver = tiles_of(type_, tile), favourite if rng.random() < 0.8 else rng.choice(others)
        ranks, suit = "".join(one[0] for one in tiles), tile[1]
        if wild in tiles:
            hand += tiles
        elif type_ == "P" and rng.random() < is_kong:
            melds.append(f"kong {ranks + ranks[0]}{suit}" + rng.choice(("", "", f"@{giver}", f"+@{giver}")))
        elif rng.random() < is_open:
            melds.append(f"chow {ranks}{suit}@{(owner - 1) % seats}" if type_ == "C" else f"pung {ranks}{suit}@{giver}")
        else:
            hand += tiles
    return melds, hand


# --- Wins ------------------------------------------------------------------------------------------------------------
def possible_win(rules: mahjong_env.Rules, seed: int) -> dict[str, Any]:
    """Arguments of `score`: a win that can exist, legal or not, with everything that may be true of it."""
    rng = random.Random(seed)
    wilds = [None] if rules.fixed_wild is None else [KIND_NAMES[rules.fixed_wild]]
    if rules.turns_indicator:
        kinds = np.flatnonzero(~rules.flower_kinds[:34]).astype(np.int8)
        wilds += [KIND_NAMES[kind] for kind in np.unique(rules.wild_kinds(kinds))] if rules.has_wild else []
    while True:
        told = _try_win(rules, rng, rng.choice(wilds))
        if told is not None:
            return told


def _try_win(rules: mahjong_env.Rules, rng: random.Random, wild: str | None) -> dict[str, Any] | None:
    allowed = {KIND_NAMES[kind] for kind in np.flatnonzero(~rules.never_melded[:34])}
    seats, seat = rules.seats, rng.randrange(rules.seats)
    if rules.hand_size == 16 or rng.random() < 0.8:
        made = random_sets(rng, rules.sets, allowed)
    else:
        made = other_shape(rng, rules.name, allowed)
    if made is None:
        return None
    melds, hand = melds_and_rest(rng, made[0], seat, seats, wild)
    hand += made[1]
    if wild is not None and rng.random() < 0.6:
        number = min(rng.choice((1, 1, 1, 2, 3, 4)), len(hand))
        for place in range(4) if number == 4 else rng.sample(range(len(hand)), number):
            hand[place] = wild
    if rng.random() < 1 / 20:
        hand[rng.randrange(len(hand))] = rng.choice(sorted(allowed))
    winning = hand.pop(rng.randrange(len(hand)))
    others = {}
    if rng.random() < 0.2:
        sets = [("P", rng.choice(KIND_NAMES[:34])) for _ in range(3)]
        (others[(seat + 1) % seats], _) = melds_and_rest(rng, sets, (seat + 1) % seats, seats, wild)
    own = [meld_from(text) for text in melds]
    tiles = [*hand, winning, *(tile for meld in own for tile in meld.tiles)]
    supply = Counter(tiles + [tile for texts in others.values() for text in texts for tile in meld_from(text).tiles])
    if max(supply.values()) > 4:
        return None
    told: dict[str, Any] = {"hand": "".join(in_order(hand)), "winning_tile": winning, "melds": melds, "seat": seat}
    told |= {"other_melds": others, "dealer": rng.randrange(seats), "dealer_streak": rng.randrange(5)}
    told |= {"round_wind": rng.choice(WINDS), "source": rng.choice(("draw", "draw", "discard", "kong"))}
    if told["source"] == "kong" and (supply[winning] > 1 or winning not in allowed or winning == wild):
        told["source"] = "draw"  # the robbed player has a pung of the three others
    told["last_tile"] = told["source"] != "kong" and rng.random() < 0.2
    if wild is not None:
        told["wild"] = wild
    if rules.uses_flowers:
        flowers = [KIND_NAMES[kind] for kind in np.flatnonzero(rules.flower_kinds) for _ in range(rules.deck[kind])]
        told["flowers"] = " ".join(rng.sample(flowers, rng.choice((0, 0, 1, 2, 5, 8))))
    if told["source"] != "draw":
        told["from_seat"] = rng.choice([other for other in range(seats) if other != seat])
    else:
        told["kong_draws"] = rng.randint(0, kongs_in_a_row(own))
        told["first_draw"] = not (melds or any(others.values())) and rng.random() < 0.3
        told["flower_draw"] = bool(told.get("flowers")) and rng.random() < 0.3
    return told | _circumstances(rules, rng, told, own, tiles)


def kongs_in_a_row(melds: list[Meld]) -> int:
    """How many of the melds can be kongs of the turn in which the hand was won: one of a discard can only begin it."""
    of_discards = sum(meld.type == "exposed kong" for meld in melds)
    return sum(meld.is_kong for meld in melds) - max(of_discards - 1, 0)


def _circumstances(
    rules: mahjong_env.Rules, rng: random.Random, told: dict[str, Any], melds: list[Meld], tiles: list[str]
) -> dict[str, Any]:
    """What only some variants ask about."""
    winning, by_draw, known = told["winning_tile"], told["source"] == "draw", {one.name for one in rules.circumstances}
    found: dict[str, Any] = {}
    if "gambits" in known and by_draw and "wild" in told:
        found["gambits"] = rng.choice((0, 0, 1, 2))
    if "red_discards" in known:
        found["red_discards"] = rng.choice((0, 0, 1, 2))
    if "discarded_wild" in known:
        found["discarded_wild"] = rng.random() < 0.2
    if "robbing_gold" in known and by_draw and winning == told.get("wild"):
        found |= {"robbing_gold": True, "first_draw": False, "kong_draws": 0, "flower_draw": False}
    if "fourth_tile" in known and told["source"] != "kong":
        shown = [tile for meld in melds if meld.is_open for tile in meld.tiles].count(winning)
        found["fourth_tile"] = shown == 3 or (tiles.count(winning) - 1 == shown and rng.random() < 0.2)
    if "points_floor" in rules.knobs and rng.random() < 0.5:
        found["running_points"] = [rng.randrange(-50, 500) for _ in range(rules.seats)]
    return found


# --- PyMahjongGB -----------------------------------------------------------------------------------------------------
NAMES = {
    "All Five": "All Fives",
    "Concealed Kong and Melded Kong": "Melded and Concealed Kongs",
    "Robbing The Kong": "Robbing the Kong",
    "Two Dragons Pungs": "Two Dragon Pungs",
}
"""Its names where they are not those of the rules."""


def in_its_words(tile: str) -> str:
    """A tile as PyMahjongGB calls it."""
    if tile[1] == "z":
        return ("F1", "F2", "F3", "F4", "J3", "J2", "J1")[int(tile[0]) - 1]
    return {"m": "W", "p": "B", "s": "T"}[tile[1]] + tile[0]


def ask_pymahjonggb(rules: Any, situation: Situation) -> list[tuple[str, int]] | None:
    """The rows that PyMahjongGB gives a hand, one entry for each time that one stands; None if it is no win."""
    packs = []
    for meld in situation.melds:
        word = "CHI" if meld.is_run else "GANG" if meld.is_kong else "PENG"
        packs.append((word, in_its_words(sorted(meld.tiles)[1]), int(meld.is_open)))
    try:
        found = MahjongFanCalculator(
            tuple(packs),
            tuple(in_its_words(tile) for tile in situation.hand),
            in_its_words(situation.winning_tile),
            len(situation.flowers),
            situation.self_drawn,
            situation.fourth_tile,
            situation.source == "kong" or (situation.kong_draws > 0 and not situation.flower_draw),
            situation.last_tile,
            (situation.seat - situation.dealer) % 4,
            WINDS.index(situation.round_wind),
            verbose=True,
        )
    except TypeError as error:
        if "NOT_WIN" in str(error):
            return None
        raise
    rows = [(NAMES.get(name, name), value) for value, times, _, name in found for _ in range(times)]
    turned = {"Melded and Concealed Kongs": rules.mixed_kongs, "Flower Tiles": rules.flower_points}
    return [(name, turned.get(name, value)) for name, value in rows]


# --- All of them -----------------------------------------------------------------------------------------------------
WINS = 500
"""Wins of a batch."""


def play_wins(variant: str, number: int, wins: int = WINS) -> Played:
    """Score a batch of wins, with knobs at random, by the package, the referee and, if it is MCR, PyMahjongGB.

    Returns:
        How often each row stood; hands that may not win are counted as "no complete hand" or "may not win".

    Raises:
        ProofError: they differ; the message has the arguments of `score`.
    """
    tally: Counter[str] = Counter()
    for win in range(wins):
        knobs = random_knobs(variant, np.random.default_rng([number, win]))
        rules = mahjong_env.rules(variant, **knobs)
        told = possible_win(rules, number * 1_000_000 + win)
        try:
            ours = mahjong_env.score(rules, **told)
        except HandError:
            continue  # it names more tiles than there are, or a wild tile that cannot be
        judge = referee.VARIANTS[variant](rules.knobs)
        situation = situation_from_text(judge, **told)
        verdict, outside, same = judge.score(situation), None, True
        if variant == "mcr" and MahjongFanCalculator is not None:
            outside = ask_pymahjonggb(rules, situation)
            if verdict.legal:
                same = outside is not None and sorted(outside) in [sorted(rows) for rows in verdict.tied_rows]
            else:
                worth = sum(value for name, value in outside or () if name != "Flower Tiles")
                same = worth < max(1, rules.minimum_points)
        if not (same and same_score(ours, verdict)):
            what = f"{told} {knobs}\n  package: {ours}\n  referee: {verdict}\n  PyMahjongGB: {outside}"
            raise ProofError("wins", variant, number, what)
        tally.update({name for name, _ in ours.rows} or {ours.reason})
        tally["several ways"] += len(verdict.tied_rows) > 1
    return Played(wins, tally)
