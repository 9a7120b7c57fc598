"""Written cases: hands and scenes in TOML files that a player can read, compared with what the rules say.

A case that begins with ``[[case]]`` is a described hand. Its keys are the arguments of `mahjong_env.score` ("none" is
None), and what is expected: ``rows``, ``points`` and ``payments``; or ``illegal``, words from the reason why it may not
win; or ``error``, words from the error. ``name`` says what the case shows, ``why`` where that is written::

    [[case]]
    name = "Seven pairs, self-drawn: 2 from each"
    why = "docs/rules/hebei.md, Seven Pairs"
    hand = "1133m 5577p 2288s 4z"
    winning_tile = "4z"
    source = "draw"
    rows = ["Seven Pairs 2"]
    points = 2
    payments = [4, -2, -2]

For large numbers of hands, ``[[group]]`` holds one hand in each of its ``lines``: concealed tiles + winning tile,
melds, how it is won, its rows (or why it may not win), and what it shows. The other keys of a group, apart from
``name`` and ``why``, are arguments of `mahjong_env.score` for all of its hands::

    [[group]]
    name = "Dragon Pung"
    why = "mcr.md#dragon-pung"
    lines = '''
    44p 222s 55z + 5z | pung 333m@1, pung 555m@2 | from 2, own S, F1 | All Pungs 6, Dragon Pung 2, Flower Tiles 1 = 9 |
    55z 567m 23p + 4p | kong 2222s@1, pung 888p@3 | drawn, last tile | no: not a complete hand | the pair is no pung
    '''

A hand is won ``drawn``, ``from 2`` or ``robbed from 2``. ``last tile``, ``fourth tile``, ``after a kong`` and ``after a
flower`` may follow, as may the winds ``round S`` and ``own W``, and flowers. ``Tile Hog 2 x 2`` is a row that counts
twice; the sum of the rows comes after them.

A case that begins with ``[[scene]]`` is played on the engine: ``deal`` (the arguments of `mahjong_env.Deal`),
``knobs``, ``num_hands``, ``start`` and ``seed`` say how it begins, and ``play`` is its script, see `SceneRunner`.

Run one with `check_hand` or `check_scene`, and everything in a file, with its completeness, with `check_cases`::

    from mahjong_env.testing.cases import check_cases
    check_cases("guangdong", "cases/guangdong.toml")
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS, PASS, action
from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import format_counts, parse_tiles
from mahjong_env.drawing.text import table_text
from mahjong_env.engine.batch import make_engine
from mahjong_env.engine.scene import Deal
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.scoring.described import score
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.play import ConformanceError

Case = Mapping[str, Any]
"""One case as read from its file."""

_TABLES: Final = ("case", "group", "scene")
_COMMENT: Final = ("name", "why")
_EXPECTED: Final = ("rows", "points", "payments", "illegal", "error")
_NEEDED: Final = ("hand", "source")
_SCENE: Final = (*_COMMENT, "deal", "knobs", "num_hands", "start", "seed", "play")
_DEAL: Final = tuple(item.name for item in fields(Deal))
_LONG: Final = 1000  # more actions than any hand has


def _require(condition: object, message: str) -> None:
    if not condition:
        raise ConformanceError(message)


def _is_list(value: Any, kind: type) -> bool:
    """Whether this is a list of objects of a kind."""
    return isinstance(value, list | tuple) and all(isinstance(each, kind) for each in value)


def _is_number(text: str) -> bool:
    """Whether this is a number from 0 on, in digits."""
    return text.isdecimal() and text.isascii()


def _with_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Replace "none", which cases write because TOML has no None."""
    return {key: None if value == "none" else value for key, value in arguments.items()}


# --- Files -----------------------------------------------------------------------------------------------------------


def _read(path: str | Path) -> dict[str, list[dict[str, Any]]]:
    """Return the tables of a file by their names."""
    try:
        file = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # it is not there, not text, or not TOML
        raise ConformanceError(f"{path} cannot be read: {error}") from error
    for name, tables in file.items():
        _require(name in _TABLES, f"{path}: a file has no {name}; its tables are [[{']], [['.join(_TABLES)}]]")
        is_list = isinstance(tables, list) and all(isinstance(table, dict) for table in tables)
        _require(is_list, f"{path}: a {name} begins with [[{name}]]")
    return file


def read_hands(path: str | Path) -> list[dict[str, Any]]:
    """Return the described hands of a file, those in groups last.

    Raises:
        ConformanceError: the file cannot be read, or a group is written in another form.
    """
    file = _read(path)
    hands = list(file.get("case", []))
    for group in file.get("group", []):
        has_texts = all(isinstance(group.get(key), str) for key in ("name", "lines"))
        _require(has_texts, f"{path}: a group has a name and lines, both text, not only {', '.join(group)}")
        lines = [line for line in group["lines"].splitlines() if line and not line.startswith("#")]
        hands += [_hand_of_line(group, number, line) for number, line in enumerate(lines, start=1)]
    return hands


_WINDS: Final = ("E", "S", "W", "N")
_SAID: Final[dict[str, dict[str, Any]]] = {
    "drawn": {"source": "draw"},
    "last tile": {"last_tile": True},
    "fourth tile": {"fourth_tile": True},
    "after a kong": {"kong_draws": 1},
    "after a flower": {"flower_draw": True},
}


def _hand_of_line(group: Case, number: int, line: str) -> dict[str, Any]:
    """Return the case that a line of a group stands for."""
    columns, name = [part.strip() for part in line.split("|")], f"{group['name']} {number}"
    is_right = len(columns) == 5 and columns[0].count(" + ") == 1
    _require(is_right, f"{name}: tiles + winning tile | melds | how | rows | what it shows, not {line!r}")
    tiles, melds, told, expected, shows = columns
    case = {key: value for key, value in group.items() if key != "lines"}
    case["name"] = f"{name}: {shows}" if shows else name
    case["hand"], case["winning_tile"] = tiles.split(" + ")
    case["melds"] = [meld.strip() for meld in melds.split(",") if meld]
    for words in told.split(", "):
        verb, _, last = words.rpartition(" ")
        if words in _SAID:
            case |= _SAID[words]
        elif verb in ("from", "robbed from") and _is_number(last):
            case |= {"source": "discard" if verb == "from" else "kong", "from_seat": int(last)}
        elif verb in ("round", "own") and last in _WINDS:
            case["round_wind" if verb == "round" else "house_wind"] = f"{_WINDS.index(last) + 1}z"
        else:
            case["flowers"] = words
    if expected.startswith("no: "):
        return case | {"illegal": expected.removeprefix("no: ")}
    rows, _, points = expected.partition(" = ")
    stand = [row.partition(" x ") for row in rows.split(", ")]
    is_sum = _is_number(points) and all(_is_number(times or "1") for _, _, times in stand)
    _require(is_sum, f"{name}: rows and their sum, as in All Pungs 6, Tile Hog 2 x 2 = 10, not {expected!r}")
    return case | {"rows": [row for row, _, times in stand for _ in range(int(times or 1))], "points": int(points)}


def read_scenes(path: str | Path) -> list[dict[str, Any]]:
    """Return the scenes of a file; raise `ConformanceError` if it cannot be read."""
    return list(_read(path).get("scene", []))


def check_cases(variant: str | Rules, *paths: str | Path) -> int:
    """Check every case in some files, and that together they are complete (`check_complete`).

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        *paths: TOML files.

    Returns:
        The number of cases checked.

    Raises:
        ConformanceError: some cases fail; the message lists all of them.
    """
    hands = [hand for path in paths for hand in read_hands(path)]
    scenes = [scene for path in paths for scene in read_scenes(path)]
    checks: list[tuple[Callable[..., None], Case]] = [(check_hand, hand) for hand in hands]
    failed = []
    for check, case in checks + [(check_scene, scene) for scene in scenes]:
        try:
            check(variant, case)
        except ConformanceError as error:
            failed.append(f"{case.get('name')}: {error}")
    failed += _incomplete(variant, hands, scenes)
    _require(not failed, "\n".join(failed))
    return len(hands) + len(scenes)


def check_complete(variant: str | Rules, hands: Iterable[Case], scenes: Iterable[Case] = ()) -> None:
    """Check that each case has its own name and says why, and that each row and each reason has a case.

    Raises:
        ConformanceError: something is missing; the message lists everything that is.
    """
    lacking = _incomplete(variant, hands, scenes)
    _require(not lacking, "\n".join(lacking))


def _incomplete(variant: str | Rules, hands: Iterable[Case], scenes: Iterable[Case]) -> list[str]:
    played, every = rules(variant), [*hands, *scenes]
    names = [str(case.get("name")) for case in every]
    lacking = [f"{name!r} names several cases" for name in dict.fromkeys(names) if names.count(name) > 1]
    lacking += [f"{case.get('name')!r} does not say why" for case in every if not case.get("why")]
    rows = [case["rows"] for case in every if _is_list(case.get("rows"), str)]
    shown = {row.rpartition(" ")[0] for of_case in rows for row in of_case}
    lacking += [f"no case shows the row {row.name!r}" for row in played.rows if row.name not in shown]
    refused = [str(case["illegal"]).lower() for case in every if case.get("illegal")]
    for reason in played.reasons[1:]:
        if not any(words in reason.lower() for words in refused):
            lacking.append(f"no case is refused because {reason}")
    return lacking


# --- Hands -----------------------------------------------------------------------------------------------------------


def check_hand(variant: str | Rules, case: Case) -> None:
    """Compare one described hand with the result of `mahjong_env.score`.

    Raises:
        ConformanceError: the result is different, or the case is written in another form.
    """
    missing = [key for key in _NEEDED if key not in case]
    _require(not missing, f"a hand has no {' and no '.join(missing)}")
    which = [key for key in ("rows", "illegal", "error") if key in case]
    _require(len(which) < 2, f"only one of {' and '.join(which)} can be expected")
    for key in which[:1]:
        is_text = isinstance(case[key], str) and bool(case[key]) if key != "rows" else _is_list(case[key], str)
        _require(is_text, f"{key} is {'a list of texts' if key == 'rows' else 'text'}, not {case[key]!r}")
    arguments = _with_none({key: value for key, value in case.items() if key not in (*_EXPECTED, *_COMMENT)})
    if "other_melds" in arguments:
        others = arguments["other_melds"]
        is_by_seat = isinstance(others, Mapping) and all(_is_number(str(seat)) for seat in others)
        _require(is_by_seat, f"other_melds are lists by the number of the seat, not {others!r}")
        arguments["other_melds"] = {int(seat): melds for seat, melds in others.items()}
    try:
        scored = score(variant, **arguments)
    except ValueError as error:
        words = case.get("error")
        _require(words is not None and words.lower() in str(error).lower(), f"{type(error).__name__}: {error}")
        return
    _require("error" not in case, f"no error that mentions {case.get('error')!r}, but {scored}")
    payments = list(scored.payments)
    if "illegal" in case:
        _require(not scored.legal, f"may win: {scored}")
        _require(scored.points == 0 and not any(payments), f"may not win, and yet is paid: {scored}")
        mentioned = case["illegal"].lower() in scored.reason.lower()
        _require(mentioned, f"the reason {scored.reason!r} should mention {case['illegal']!r}")
        return
    _require(scored.legal, f"may not win: {scored.reason}")
    _require("rows" in case, f"a hand that may win has rows: {scored.rows}")
    rows, points = sorted(f"{name} {value}" for name, value in scored.rows), case.get("points", scored.points)
    _require(rows == sorted(case["rows"]), f"the rows are {rows}, not {sorted(case['rows'])}")
    _require(scored.points == points, f"it is worth {scored.points} points, not {points}")
    paid = case.get("payments", payments)
    _require(_is_list(paid, int), f"payments are a list of integers, not {paid!r}")
    _require(payments == list(paid), f"the payments are {payments}, not {paid}")


# --- Scenes ----------------------------------------------------------------------------------------------------------


def check_scene(variant: str | Rules, scene: Case) -> None:
    """Play one scene.

    Raises:
        ConformanceError: a line of the script does not hold, or the scene cannot be dealt.
    """
    _require(isinstance(scene.get("play"), str), "a scene has a script, play, which is text")
    SceneRunner(variant, scene).run(scene["play"])


class SceneRunner:
    """Plays the script of a scene on the engine, line by line; ``#`` begins a comment.

    ==========================  =====================================================================================
    ``0 discard 9p``            seat 0 is to act, and does this (any of `mahjong_env.ACTIONS`)
    ``0 may pung, pass``        seat 0 is to act, and these are among its legal actions
    ``0 may only pung, pass``   these are its only legal actions
    ``0 may not pung``          these are not among its legal actions
    ``rewards 3 -1 -1 -1``      what the last action paid
    ``wins 0``, ``draw``        how the last hand ended
    ``rows Ping Hu 1, ...``     what its winner scored
    ``points 50 50 50 50``      running points
    ``dealer 1``, ``streak 2``  who deals, and how often the deal was kept
    ``left 83``                 tiles that can still be drawn
    ``walls 20 21 21 21``       tiles that each seat can still draw from its private wall
    ``wild 5z``                 the wild kind
    ``hand 0 123m 44z``         the concealed tiles of seat 0
    ``flowers 0 F1 S2``         the exposed flowers of seat 0
    ``over``, ``not over``      whether the match is over
    ``pass until 2``            play on without claims until seat 2 is to draw or discard
    ``play until over``         play on without claims to the end of the hand
    ==========================  =====================================================================================

    Attributes:
        engine: the engine, with one game.
        rewards: what the last action paid, by person.
        outcome: the last hand that ended, None before the first.
    """

    def __init__(self, variant: str | Rules, scene: Case) -> None:
        """Deal the scene.

        Raises:
            ConformanceError: the scene has a key that scenes do not have, or cannot be dealt.
        """
        deal, knobs = scene.get("deal", {}), scene.get("knobs", {})
        _require(isinstance(deal, Mapping) and isinstance(knobs, Mapping), "deal and knobs are tables of settings")
        for what, given, known in (("scene", scene, _SCENE), ("deal", deal, _DEAL)):
            unknown = sorted(set(given) - set(known))
            _require(not unknown, f"a {what} has no {', '.join(unknown)}; its keys are {', '.join(known)}")
        options = {key: scene[key] for key in ("num_hands", "start") if key in scene}
        try:
            self.engine = make_engine(variant, 1, seed=scene.get("seed", 7), **options, **_with_none(knobs))
            self.engine.reset(deals=Deal(**deal))
        except MahjongError as error:
            raise ConformanceError(f"{type(error).__name__}: {error}") from error
        self.rewards: list[int] = []
        self.outcome: Any = None

    def run(self, script: str) -> None:
        """Play a script.

        Raises:
            ConformanceError: a line does not hold; the message shows the line and the table.
        """
        for number, line in enumerate(script.splitlines(), start=1):
            if text := line.partition("#")[0].strip():
                try:
                    self._do(text)
                except (ConformanceError, ValueError) as error:
                    raise ConformanceError(f"line {number}: {text}\n{error}\n{table_text(self.engine)}") from error

    @property
    def seat(self) -> int:
        """The person who is to act, -1 once the match is over."""
        return int(self.engine.seat_to_act[0])

    def act(self, name: str) -> None:
        """Play one of `mahjong_env.ACTIONS`."""
        result = self.engine.step([action(name)])
        self.rewards = result.rewards[0].tolist()
        if result.hand_over[0]:
            self.outcome = result.outcome

    def _do(self, text: str) -> None:
        """Carry out one line: play it, or compare it with the game."""
        head, _, rest = text.partition(" ")
        state = self.engine.state
        if head.isdigit():
            self._same("the seat to act", self.seat, int(head))
            if rest.startswith("may "):
                self._look_at_legal(rest.removeprefix("may "))
            else:
                self.act(rest)
        elif text in ("over", "not over"):
            _require((self.seat < 0) == (text == "over"), f"the seat to act is {self.seat}")
        elif text.startswith("pass until "):
            seat = int(text.split()[-1])
            self._go_on(lambda: self.seat == seat and self._in_turn())
        elif text == "play until over":
            self.outcome = None
            self._go_on(lambda: self.outcome is not None)
        elif head in ("wins", "draw"):
            self._same("the winner", self._ended("winner"), int(rest) if head == "wins" else -1)
        elif head == "rows":
            rows = sorted(f"{name} {value}" for name, value in self._ended("rows"))
            self._same("the rows", rows, sorted(row.strip() for row in rest.split(",")))
        elif head in ("rewards", "points"):
            found = self.rewards if head == "rewards" else self.engine.points[0].tolist()
            self._same(f"the {head}", found, [int(word) for word in rest.split()])
        elif head in ("dealer", "streak", "left"):
            numbers = {"dealer": self.engine.dealer[0], "streak": state.streak[0], "left": state.left(np.array([0]))[0]}
            self._same("left are" if head == "left" else f"the {head}", int(numbers[head]), int(rest))
        elif head == "walls":
            seats = state.seats(np.zeros((1, 1), np.intp), np.arange(self.engine.num_seats))
            self._same("the walls", state.left_to(seats)[0].tolist(), [int(word) for word in rest.split()])
        elif head == "wild":
            self._same("the wild kind", [int(state.wild[0])], parse_tiles(rest))
        elif head in ("hand", "flowers"):
            number, _, tiles = rest.partition(" ")
            last = self.engine.num_seats - 1
            _require(_is_number(number) and int(number) <= last, f"seats are 0 to {last}, not {number!r}")
            held = format_counts(getattr(state, head)[0, int(number)])
            _require(sorted(parse_tiles(held)) == sorted(parse_tiles(tiles)), f"the {head}: {held}, not {tiles}")
        else:
            valid = (
                "rewards, wins, draw, rows, points, dealer, streak, left, walls, wild, hand, flowers, [not] over, "
                "pass until"
            )
            raise MahjongError(f"there is no such line; lines begin with a seat, {valid}, play until over")

    def _same(self, what: str, found: Any, wanted: Any) -> None:
        _require(found == wanted, f"{what}: {found}, not {wanted}")

    def _look_at_legal(self, rest: str) -> None:
        legal = {ACTIONS[number] for number in np.flatnonzero(self.engine.action_mask[0])}
        word, _, names = rest.partition(" ")
        listed = {name.strip() for name in (names if word in ("only", "not") else rest).split(",")}
        _require(listed <= set(ACTIONS), f"there are no such actions: {', '.join(sorted(listed - set(ACTIONS)))}")
        holds = {"only": legal == listed, "not": not legal & listed}.get(word, listed <= legal)
        _require(holds, f"legal are {', '.join(sorted(legal))}")

    def _ended(self, name: str) -> Any:
        """Return something about the last hand that ended."""
        _require(self.outcome is not None, "no hand has ended")
        return getattr(self.outcome, name)[0]

    def _in_turn(self) -> bool:
        return bool(self.engine.state.phase[0] == Phase.TURN)

    def _go_on(self, is_there: Callable[[], bool]) -> None:
        """Play on by passing, and by discarding what was drawn, until a condition holds."""
        for _ in range(_LONG):
            if is_there():
                return
            _require(self.seat >= 0, "the match is over")
            if not self._in_turn():
                self.act(ACTIONS[PASS])
                continue
            legal = np.flatnonzero(self.engine.action_mask[0, :34])
            drawn = int(self.engine.state.drawn[0])
            self.act(ACTIONS[drawn if drawn in legal else int(legal[-1])])
        raise ConformanceError(f"still not there after {_LONG} actions")
