"""The table in words for a language model, and the lenient reading of its answers.

All that the model is told follows from the seat's own `View`. Reasons for a refusal are found in a world of that view,
in which everything that the seat has not seen is drawn anew.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS, ADDED_KONG, CHOW_LOW, CHOW_STEPS, CONCEALED_KONG, KONG, PUNG
from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import LEGEND, parse_kind, parse_tiles
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import seen_table
from mahjong_env.drawing.text import Reader, offer_text, seat_text
from mahjong_env.observation.view import View
from mahjong_env.play.hints import why_not
from mahjong_env.rulebook.page import rules_in_short
from mahjong_env.ruleset.questions import Rules

HOW_TO_ANSWER: Final = "End your answer with a line that holds the number or the name of one of these actions alone."

# Other words for tiles and actions, in the order in which they are replaced.
_RANKS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_CHINESE_RANKS: Final = "一二三四五六七八九"
_SUITS: Final = {
    "m": r"(?:characters?|cracks?|craks?|wan|man)\b|[万萬]",
    "p": r"(?:dots?|circles?|pins?|tong)\b|[筒饼餅]",
    "s": r"(?:bamboos?|bams?|sticks?|sou|tiao)\b|[条條索]",
}
_HONOURS: Final = {
    "1z": r"\beast(?: wind)?\b|东风?|東風?",
    "2z": r"\bsouth(?: wind)?\b|南[风風]?",
    "3z": r"\bwest(?: wind)?\b|西[风風]?",
    "4z": r"\bnorth(?: wind)?\b|北[风風]?",
    "5z": r"\bwhite(?: dragon)?s?\b|白板?",
    "6z": r"\bgreen(?: dragon)?s?\b|发财?|發財?",
    "7z": r"\bred(?: dragon)?s?\b|[红紅]?中",
}
_WORDS: Final = (
    *((rf"\b({'|'.join(_RANKS)}|[1-9])[\s-]*(?:of\s+)?(?:{names})", suit) for suit, names in _SUITS.items()),
    *((rf"([{_CHINESE_RANKS}1-9])\s*(?:{names})", suit) for suit, names in _SUITS.items()),
    (r"\b([1-9])\s([mps])\b", ""),
    *((names, f" {tile} ") for tile, names in _HONOURS.items()),
    ("暗[杠槓]", " concealed kong "),
    ("[加补補][杠槓]", " added kong "),
    (r"明?[杠槓]|\b(?:gang|kan)\b", " kong "),
    (r"碰|\b(?:pong|peng|pon)\b", " pung "),
    (r"吃|\b(?:chi|chii|chee)\b", " chow "),
    (r"胡牌?|和[牌了]|自摸|[荣榮]和?|\b(?:hu|mahjong|tsumo|ron)\b", " win "),
    (r"过牌?|過牌?|不要|跳过|\bskip\b", " pass "),
    (r"打出?|[出弃棄切丢]|\b(?:discard|throw|drop|cut|play)(?:s|ing)?\b(?: (?:away|out|the|my|an?)\b)*", " discard "),
)
CHINESE: Final = "".join(sorted(set(re.findall(r"[^\x00-\x7f]", "".join(pattern for pattern, _ in _WORDS)))))
"""The Chinese characters that answers may contain."""
_TILE: Final = r"(?:[1-9][mps]|[1-7]z)\b"
_ACTION: Final = re.compile(
    rf"\bdiscard[\s:]*(?P<tiles>{_TILE}(?:\s*(?:or|/)\s*(?:the\s+)?{_TILE})*)"
    rf"|\b(?P<kind_of_kong>concealed|added|exposed)?\s*kong\b(?:[\s:]|of\b|with\b|the\b|my\b)*(?P<kong>{_TILE})?"
    r"|\bchow\b\s*(?:(?P<place>low|middle|high)\b|(?P<run>(?:\W|with\b|and\b|your\b|my\b|the\b|[1-9]+[mps]\b)*))"
    r"|\b(?P<word>pung|win|pass)\b"
)
_NUMBER: Final = re.compile(r"(?:(?:option|action|number|choice|choose|i)\b\W*)*#?\(?(\d{1,3})\)?(?:[.:!)]+\s*(.*))?")
_NOT_MEANT: Final = re.compile(
    r"(?:\b(?:not|never|no|cannot|without|instead of|rather than)|n't|[不别別])\s*"
    r"(?:(?:want|going|worth|claim|declare|to|a|my|the) )*$"
)
_MARKER: Final = re.compile(r"\b(?:answer|action|choice|move|decision)\s?(?:is\b|[:=])")


class UnclearAnswerError(MahjongError):
    """An answer in words that names no action, more than one, or one that is not legal; the message says why."""


# --- Telling ---------------------------------------------------------------------------------------------------------


def aim(rules: Rules) -> list[str]:
    """Return the aim of the game, in lines of text."""
    sets = {4: "four", 5: "five"}.get(rules.sets, rules.sets)
    shapes: tuple[Any, ...] = getattr(rules, "shapes", ())
    others = "".join(f", or {shape.name}" for shape in shapes[1:])
    return [
        f"draw a tile and discard one until your hand is complete: {sets} sets and a pair{others}",
        "a set is three alike (a pung; with the fourth tile a kong) or three in a row of one suit (a chow)",
        f"the first complete hand may win; which hands may, and what they pay: rules --variant {rules.name}",
    ]


@lru_cache(maxsize=32)
def instructions(rules: Rules) -> str:
    """Return what a language model must know before it plays: the task, the notation of tiles, and the rules."""
    lines = (
        f"You play {rules.title} with others, as well as you can: what counts is the points that you win or lose.",
        "Each time that you are asked, you are told what you see of the table and what you may do.",
        *aim(rules)[:2],
        "a chow is claimed from the player before, everything else from anybody; a win comes before a kong or pung,",
        "and these before a chow; nothing has to be claimed. Players are shown in the order of turns, yourself first",
        LEGEND,
    )
    return "\n".join(lines) + f"\n\n{rules_in_short(rules)}\n"


def prompt(view: View, row: int = 0) -> str:
    """Return what one seat of a view sees, and the actions that it may choose from, by number and name."""
    legal = np.flatnonzero(view.action_mask[row]).tolist()
    if not legal:
        return seat_text(view, row)
    drawn, offered = int(view.drawn[row]), int(view.offered[row])
    asked = offer_text(seen_table(view, row), Reader(int(view.own_person[row])))
    if drawn >= 0:
        asked = f"you have drawn {KIND_NAMES[drawn]}; "
    listed = (f"{number}: {_explained(action, offered)}" for number, action in enumerate(legal, 1))
    return "\n".join([seat_text(view, row), f"{asked}you may", *listed, HOW_TO_ANSWER])


def _explained(action: int, offered: int) -> str:
    """Return the name of an action, for a chow with the tiles that it takes from the hand."""
    if not CHOW_LOW <= action < PUNG:
        return ACTIONS[action]
    return f"{ACTIONS[action]} (with {' and '.join(KIND_NAMES[kind] for kind in _taken(action, offered))})"


def _taken(action: int, offered: int) -> list[int]:
    """Return the kinds that a chow takes from the hand."""
    return [offered + step for step in CHOW_STEPS[action - CHOW_LOW]]


# --- Reading ---------------------------------------------------------------------------------------------------------


def matching(text: str, legal: Sequence[str]) -> list[str]:
    """Return the legal actions that a text may mean: a name, a tile to discard, or the beginning of names."""
    for meant in (text, f"discard {text}"):
        if meant in legal:
            return [meant]
    return [name for name in legal if text and name.startswith(text)]


def read_answer(answer: str, view: View, row: int = 0) -> int:
    """Return the legal action that an answer to `prompt` names.

    It may be a number of the list, the name of an action, or words for it, in English or Chinese ("I discard the 5 of
    dots", "Pung!", "打五筒"). It is looked for in a JSON object (``{"action": ...}``), behind "Action:" or "Answer:",
    in the last line, and then in the whole answer. If several actions are named and only one of them is legal, that one
    is taken. A tile or a number in a sentence of the last line is not taken against an action that other lines name.

    Raises:
        UnclearAnswerError: it names no action, no legal one, or several; the message is written for the one who
            answered.
    """
    legal = np.flatnonzero(view.action_mask[row]).tolist()
    for part, whole in _parts(answer):
        meant = list(_mentioned(part, whole, legal, int(view.offered[row])))
        possible = sorted(set(meant) & set(legal))
        if len(possible) == 1:
            return possible[0]
        if possible:
            named = " and ".join(repr(ACTIONS[action]) for action in possible)
            raise UnclearAnswerError(f"{part!r} could mean {named}: name one action")
        if meant:
            reason = why_not(view.take([row]).worlds(1, np.random.default_rng(0)), meant[0])
            raise UnclearAnswerError(f"{ACTIONS[meant[0]]!r} is not legal: {reason}")
    raise UnclearAnswerError(f"{answer.strip()!r} names no action; name one of the list, or its number")


def _parts(answer: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of an answer that may name the action, the likeliest first, in lower case and without marks.

    With each comes what else has to agree with it, where the part is only a line of the whole.
    """
    plain = unicodedata.normalize("NFKC", answer).lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for found in reversed(re.findall(r"\{[^{}]*\}", plain)):
        try:
            yield str(json.loads(found)["action"]).strip(), ""
            break
        except (ValueError, KeyError, RecursionError):
            continue
    plain = re.sub(r"[*`_\"“”]", "", plain).strip()
    if marked := [*_MARKER.finditer(plain)]:
        yield plain[marked[-1].end() :].strip().partition("\n")[0], ""
    lines = [line.strip() for line in plain.splitlines() if re.search(r"\w", line)]
    whole = " ".join(lines)
    if lines:
        yield lines[-1], whole
    yield whole, ""


def _mentioned(part: str, whole: str, legal: Sequence[int], offered: int) -> Iterator[int]:
    """Yield the actions that some words may stand for; if they name none outright, also those that ``whole`` names."""
    rest = part
    if number := _NUMBER.fullmatch(part):
        if 1 <= int(number[1]) <= len(legal):
            yield legal[int(number[1]) - 1]
        elif not number[2]:
            raise UnclearAnswerError(f"there is no number {number[1]} in the list, which ends with {len(legal)}")
        rest = number[2] or ""
    bare = rest.strip(" .!?,;:")
    if fits := matching(bare, [ACTIONS[action] for action in legal]) or matching(bare, ACTIONS):
        yield from map(ACTIONS.index, fits)
        return
    rest = _with_notation(rest)
    if named := list(_named(rest, legal, offered)):
        yield from named
        return
    tiles, numbers = re.findall(rf"\b{_TILE}", rest), {int(number) for number in re.findall(r"\b\d{1,3}\b", rest)}
    yield from {parse_kind(tile) for tile in tiles}
    if not tiles and len(numbers) == 1 and 1 <= (only := min(numbers)) <= len(legal):
        yield legal[only - 1]
    is_alone = number is not None or re.fullmatch(rf"\W*{_TILE}\W*", rest)
    if not is_alone:  # it may be named in passing: "Discard 1z.\nThis keeps 5p."
        with suppress(UnclearAnswerError):  # such as a chow that the hand has already
            yield from _named(_with_notation(whole), legal, offered)


def _with_notation(text: str) -> str:
    """Return a text with the notation of tiles, and the names of actions, for other words."""
    for pattern, word in _WORDS:
        text = re.sub(pattern, partial(_in_notation, word), text)
    return text


def _named(text: str, legal: Sequence[int], offered: int) -> Iterator[int]:
    """Yield the actions that a text names by their verbs."""
    for one in _ACTION.finditer(text):
        if not _NOT_MEANT.search(text[max(one.start() - 50, 0) : one.start()]):
            yield from _meant(one, legal, offered)


def _in_notation(word: str, found: re.Match[str]) -> str:
    """Return the notation of a tile, or the name of an action, for other words that were found."""
    if not found.groups():
        return word
    rank = found[1]
    number = _RANKS.index(rank) + 1 if rank in _RANKS else _CHINESE_RANKS.find(rank) + 1 or int(rank)
    return f" {number}{word or found[2]} "


def _meant(found: re.Match[str], legal: Sequence[int], offered: int) -> Iterator[int]:
    """Yield the actions that a match of `_ACTION` may stand for."""
    kong = found["kong"]
    if found["tiles"]:
        yield from map(parse_kind, re.findall(_TILE, found["tiles"]))
    elif found["word"]:
        yield ACTIONS.index(found["word"])
    elif found["place"]:
        yield ACTIONS.index(f"chow {found['place']}")
    elif found["run"] is not None:
        named = set(parse_tiles("".join(re.findall("[1-9]+[mps]", found["run"])))) - {offered}
        fits = [chow for chow in range(CHOW_LOW, PUNG) if not named or named == set(_taken(chow, offered))]
        if not fits:
            raise UnclearAnswerError(f"{found[0].strip()!r} is not a run with the tile that is offered")
        yield from [chow for chow in fits if chow in legal] or fits[:1]
    else:
        first = {"concealed": [CONCEALED_KONG], "added": [ADDED_KONG], "exposed": []}
        starts = first.get(found["kind_of_kong"] or "", [CONCEALED_KONG, ADDED_KONG])
        claims = [KONG] if found["kind_of_kong"] in (None, "exposed") else []
        if kong:
            claims = claims if parse_kind(kong) == offered else []
            yield from [*claims, *(start + parse_kind(kong) for start in starts)] or [KONG]
        else:
            every = [*claims, *(start + kind for start in starts for kind in range(CONCEALED_KONG))]
            yield from [action for action in every if action in legal] or [KONG]
