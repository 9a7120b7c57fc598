"""Random wins of MCR, of every kind: what the package, the referee and PyMahjongGB make of them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import MahjongGB
import numpy as np

import mahjong_env
from mahjong_env.basics.notation import MeldType
from mahjong_env.scoring.wins import Source, Wins
from mahjong_env.state.arrays import MAX_MELDS
from oracle.referee.mcr import Mcr
from oracle.referee.situation import Situation, meld_from, situation_from_text
from oracle.referee.tiles import EVERY_KIND, KINDS, ORDER, WINDS, tiles_from
from proof.batches import Batch, Played, ProofError

SUITS = "mps"
STRAIGHT_SUITS = ("mps", "msp", "pms", "psm", "smp", "spm")
# Kinds that a hand is made of: what fan of tiles ask for, and everything.
ALPHABETS = (
    *("123456789m123456789p123456789s1234567z",) * 6,
    *(f"123456789{suit}" for suit in SUITS),
    *(f"123456789{suit}1234567z" for suit in SUITS),
    *("123456789m123456789p", "123456789p123456789s1234567z", "2345678m2345678p2345678s", "1234567z"),
    *("19m19p19s1234567z", "19m19p19s", "2468m2468p2468s", "34567m34567p34567s", "1239m789p123s789s1234567z"),
    *("789m789p789s", "6789m6789p6789s", "456m456p456s", "123m123p123s", "1234m1234p1234s"),
    *("23468s6z", "23468s", "1234589p245689s5z", "123m789p22334455s34z6z", "19m1234567z"),
)
# Sets that fan of several sets ask for, as types, ranks above a lowest one, and suits a, b, c in any order,
# or above 1z. A pair last, of ranks above the lowest or of that honour; ``*`` is any honour.
PATTERNS = (
    *("C0a C0a C0a C0a", "C0a C0a C0a", "C0a C1a C2a C3a", "C0a C2a C4a C6a", "C0a C1a C2a", "C0a C2a C4a"),
    *("C0a C3a C6a", "C0a C3b C6c", "C0a C0b C0c", "C0a C1b C2c", "C0a C0a C6a C6a =4a", "C0a C6a C0b C6b =4c"),
    *("C0a C3b C1b C4a", "C0a C6a", "C0a C0a C3a C3a", "C0a C0b C3a C3b", "C0a C0a C0b C0b"),
    *("P0a P1a P2a P3a", "P0a P1a P2a", "P0a P1b P2c", "P0a P0b P0c", "P0a P0b", "P0a P0b P1c P1a", "P0a P1b P2c P0c"),
    *("P0z P1z P2z P3z", "P0z P1z P2z", "P1z P2z P3z =1z", "P4z P5z P6z", "P4z P5z =7z", "P5z P6z", "P4z"),
    *("C0a C4b C2c P6a =*", "C0a C5b P3c C2c =*", "C0a C1b C4c C4b =*"),
)


def random_sets(rng: random.Random) -> tuple[list[tuple[str, str]], str] | None:
    """Four sets, as type and lowest tile, and the kind of the pair; None if there are not that many tiles."""
    kinds, is_pung = tiles_from(rng.choice(ALPHABETS)), rng.choice((0.0, 0.2, 0.5, 0.8, 1.0))
    sets: list[tuple[str, str]] = []
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
    while len(sets) < 4:
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
    return sets, pair


def tiles_of(type_: str, tile: str) -> list[str]:
    if type_ == "P":
        return [tile] * 3
    return [f"{int(tile[0]) + step}{tile[1]}" for step in range(3)] if tile[1] != "z" else ["no chow"]


def with_melds(rng: random.Random, sets: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Some of the sets declared: the melds as texts, and the tiles that stay in hand."""
    is_open, is_kong = rng.choice((0.0, 0.0, 0.3, 0.7, 1.0)), rng.choice((0.0, 0.0, 0.3, 1.0))
    melds, hand = [], []
    for type_, tile in sets:
        tiles, seat = tiles_of(type_, tile), rng.randint(1, 3)
        if type_ == "P" and rng.random() < is_kong:
            melds.append("kong " + tile[0] * 4 + tile[1] + rng.choice(("", "", f"@{seat}", f"+@{seat}")))
        elif rng.random() < is_open:
            ranks = "".join(one[0] for one in tiles)
            melds.append(f"chow {ranks}{tile[1]}@3" if type_ == "C" else f"pung {ranks}{tile[1]}@{seat}")
        else:
            hand += tiles
    return melds, hand


def random_tiles(rng: random.Random) -> tuple[list[str], list[str], str | None] | None:
    """Melds, concealed tiles with the winning tile, and the winning tile if it has to be a certain one."""
    shape = rng.random()
    if shape < 0.78:
        divided = random_sets(rng)
        if divided is None:
            return None
        melds, hand = with_melds(rng, divided[0])
        return melds, [*hand, divided[1], divided[1]], None
    straight = [f"{rank}{suit}" for low, suit in enumerate(rng.choice(STRAIGHT_SUITS), 1) for rank in range(low, 10, 3)]
    if shape < 0.86:
        divided = random_sets(rng)
        if divided is None:
            return None
        melds, hand = with_melds(rng, divided[0][:1])
        return melds, [*straight, *hand, divided[1], divided[1]], None
    if shape < 0.90:
        honours = rng.randint(5, 7)
        return [], rng.sample(KINDS[27:], honours) + rng.sample(straight, 14 - honours), None
    if shape < 0.92:
        orphans = tiles_from("19m19p19s1234567z")
        return [], [*orphans, rng.choice(orphans)], None
    suit = rng.choice(SUITS)
    if shape < 0.93:
        last = rng.choice("123456789") + suit
        return [], [*tiles_from("1112345678999" + suit), last], last
    if shape < 0.95:
        low = rng.randint(1, 3)
        return [], [f"{rank}{suit}" for rank in range(low, low + 7)] * 2, None
    kinds = tiles_from(rng.choice(ALPHABETS))
    return [], rng.choices(kinds, k=7) * 2, None


def random_win(rng: random.Random) -> dict[str, Any]:
    """Arguments of `score`: a complete hand with everything that may be true of it; one in thirty lacks a tile."""
    while True:
        made = random_tiles(rng)
        if made is None:
            continue
        melds, tiles, winning = made
        declared = [meld_from(meld) for meld in melds]
        in_melds = [tile for meld in declared for tile in meld.tiles]
        if max(map([*tiles, *in_melds].count, {*tiles, *in_melds})) <= 4:
            break
    winning = winning or rng.choice(tiles)
    tiles.remove(winning)
    if rng.random() < 1 / 30:
        others = [tile for tile in KINDS if [*tiles, *in_melds].count(tile) < 4]
        winning = rng.choice(others)
    held = [*tiles, *in_melds].count(winning)
    shown = [tile for meld in declared if meld.is_open for tile in meld.tiles].count(winning)
    told: dict[str, Any] = {"hand": "".join(sorted(tiles, key=EVERY_KIND.index)), "melds": melds}
    told |= {"winning_tile": winning, "round_wind": rng.choice(WINDS), "dealer": rng.randint(0, 3)}
    flowers = rng.sample(EVERY_KIND[34:], rng.choice((0, 0, 0, 1, 2, 8)))
    told["source"] = rng.choice(("draw", "discard", "discard", "kong" if held == 0 else "draw"))
    if told["source"] != "draw":
        told["from_seat"] = rng.randint(1, 3)
    elif any(meld.is_kong for meld in declared) and rng.random() < 0.3:
        told |= {"kong_draws": 1, "flower_draw": bool(flowers) and rng.random() < 0.3}
    may_be_last = told["source"] != "kong"
    told["last_tile"] = may_be_last and rng.random() < 0.1
    told["fourth_tile"] = may_be_last and (shown == 3 or (held == shown and rng.random() < 0.2))
    return told | {"flowers": " ".join(flowers)}


# --- PyMahjongGB ----------------------------------------------------------------------------------------------------

NAMES = {
    "All Five": "All Fives",
    "Concealed Kong and Melded Kong": "Melded and Concealed Kongs",
    "Robbing The Kong": "Robbing the Kong",
    "Two Dragons Pungs": "Two Dragon Pungs",
}
"""Its names where they are not those of the rules."""


def in_its_words(tile: str) -> str:
    if tile[1] == "z":
        return ("F1", "F2", "F3", "F4", "J3", "J2", "J1")[int(tile[0]) - 1]
    return {"m": "W", "p": "B", "s": "T"}[tile[1]] + tile[0]


def ask_pymahjonggb(situation: Situation) -> list[tuple[str, int]] | None:
    """The rows that PyMahjongGB gives a hand, one entry for each time that one stands; None if it is no win."""
    packs = []
    for meld in situation.melds:
        word = "CHI" if meld.is_run else "GANG" if meld.is_kong else "PENG"
        packs.append((word, in_its_words(sorted(meld.tiles)[1]), int(meld.is_open)))
    try:
        found = MahjongGB.MahjongFanCalculator(
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
    return [(NAMES.get(name, name), value) for value, times, _, name in found for _ in range(times)]


# --- The package ----------------------------------------------------------------------------------------------------


def wins_of(situations: list[Situation]) -> Wins:
    """Many situations as the package scores them, together; `mahjong_env.score` reads one at a time."""
    n = len(situations)
    melds = np.full((3, n, 4, MAX_MELDS), -1, np.int8)
    melds[0] = MeldType.NONE
    for row, situation in enumerate(situations):
        for place, meld in enumerate(situation.melds):
            meld_type = MeldType[meld.type.upper().replace(" ", "_")]
            origin = -1 if meld.from_seat is None else meld.from_seat
            melds[:, row, situation.seat, place] = meld_type, ORDER[min(meld.tiles)], origin

    def of_each(value: Callable[[Situation], Any], dtype: Any = np.int8) -> Any:
        return np.array([value(situation) for situation in situations], dtype)

    def tallies(tiles: Callable[[Situation], list[str]], size: int) -> Any:
        return of_each(lambda situation: np.bincount([ORDER[tile] for tile in tiles(situation)], minlength=size))

    nothing = np.zeros(n, np.int8)
    return Wins(
        counts=tallies(lambda s: s.concealed, 34),
        winning_tile=of_each(lambda s: ORDER[s.winning_tile]),
        source=of_each(lambda s: Source.of_word(s.source)),
        seat=of_each(lambda s: s.seat),
        from_seat=of_each(lambda s: -1 if s.from_seat is None else s.from_seat),
        dealer=of_each(lambda s: s.dealer),
        streak=np.zeros(n, np.int16),
        wild=nothing - 1,
        num_melds=(melds[0] != MeldType.NONE).sum(axis=2, dtype=np.int8),
        meld_type=melds[0],
        meld_kind=melds[1],
        meld_from=melds[2],
        flowers=tallies(lambda s: s.flowers, 42),
        kong_draws=of_each(lambda s: s.kong_draws),
        flower_draw=of_each(lambda s: s.flower_draw, np.bool_),
        last_tile=of_each(lambda s: s.last_tile, np.bool_),
        fourth_tile=of_each(lambda s: s.fourth_tile, np.bool_),
        first_draw=nothing > 0,
        opening=nothing > 0,
        marks=np.zeros((n, 4, 0), np.int16),
        round_wind=of_each(lambda s: WINDS.index(s.round_wind)),
        house_wind=of_each(lambda s: (s.seat - s.dealer) % 4),
        dice=nothing,
        points=np.zeros((n, 4), np.int32),
        floor=nothing > 0,
        turned_up=np.zeros((n, 0), np.int8),
    )


# --- All three ------------------------------------------------------------------------------------------------------

WINS = 2000
"""Wins of a batch."""


def play_wins(number: int, wins: int = WINS) -> Played:
    """Score a batch of wins by the package, the referee and PyMahjongGB.

    In every fourth batch a win needs its 8 points. The tally counts the wins in which each fan stood.

    Raises:
        ProofError: they differ; the message has the arguments of `score`.
    """
    minimum = 8 if number % 4 == 0 else 0
    rules, referee, tally = (
        mahjong_env.rules("mcr", minimum_points=minimum),
        Mcr({"minimum_points": minimum}),
        Counter(),
    )
    told = [random_win(random.Random(f"{number} {win}")) for win in range(wins)]
    situations = [situation_from_text(referee, **one) for one in told]
    scores = rules.score(wins_of(situations))
    for win, situation in enumerate(situations):
        verdict, outside = referee.score(situation), ask_pymahjonggb(situation)
        ours = scores.rows_of(win, rules.rows)
        tied = [sorted(rows) for rows in verdict.tied_rows]
        same = bool(scores.legal[win]) == verdict.legal and int(scores.points[win]) == verdict.points
        same &= sorted(ours) in tied and scores.payments[win].tolist() == list(verdict.payments)
        if verdict.legal:
            same &= outside is not None and sorted(outside) in tied
        else:
            same &= outside is None or sum(value for name, value in outside if name != "Flower Tiles") < minimum
        if not same:
            batch = Batch("mcr-wins", number, "wins", dict(rules.knobs), 0, "first")
            ours = f"package: {ours} {scores.points[win]} {scores.payments[win]}"
            raise ProofError(batch, f"{told[win]}\n  {ours}\n  referee: {verdict}\n  PyMahjongGB: {outside}")
        tally.update({name for name, _ in ours} or {"may not win" if outside else "no complete hand"})
    return Played(wins, tally)
