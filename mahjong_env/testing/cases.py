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

A case that begins with ``[[scene]]`` is played on the engine: ``deal`` (the arguments of `mahjong_env.Deal`),
``knobs``, ``num_hands``, ``start`` and ``seed`` say how it begins, and ``play`` is its script, see `SceneRunner`.

Run one with `check_hand` or `check_scene`, and everything in a file, with its completeness, with `check_cases`::

    from mahjong_env.testing.cases import check_cases
    check_cases("guangdong", "cases/guangdong.toml")
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS, PASS, action
from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import format_counts, parse_tiles
from mahjong_env.drawing.text import table_text
from mahjong_env.engine.batch import make_engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.scoring.described import HandScore, score
from mahjong_env.state.arrays import Phase
from mahjong_env.testing.play import ConformanceError

Case = Mapping[str, Any]
"""One case as it stands in its file."""

_EXPECTED: Final = ("rows", "points", "payments", "illegal", "error")
_COMMENT: Final = ("name", "why")
_SCENE: Final = (*_COMMENT, "deal", "knobs", "num_hands", "start", "seed", "play")
_LONG: Final = 1000  # more actions than any hand has


# --- Files ---------------------------------------------------------------------------------------------------------


def read_hands(path: str | Path) -> list[dict[str, Any]]:
    """The described hands of a file."""
    return list(_read(path).get("case", []))


def read_scenes(path: str | Path) -> list[dict[str, Any]]:
    """The scenes of a file."""
    return list(_read(path).get("scene", []))


def _read(path: str | Path) -> dict[str, Any]:
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def check_cases(variant: str | Rules, *paths: str | Path) -> int:
    """Check every case in some files, and that together they are complete (`check_complete`).

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        *paths: TOML files.

    Returns:
        How many cases were checked.

    Raises:
        ConformanceError: some cases fail; the message lists all of them.
    """
    hands = [hand for path in paths for hand in read_hands(path)]
    scenes = [scene for path in paths for scene in read_scenes(path)]
    failed = []
    checks: list[tuple[Callable[..., None], Case]] = [(check_hand, hand) for hand in hands]
    for check, case in checks + [(check_scene, scene) for scene in scenes]:
        try:
            check(variant, case)
        except ConformanceError as error:
            failed.append(f"{case.get('name')}: {error}")
    try:
        check_complete(variant, hands, scenes)
    except ConformanceError as error:
        failed.append(str(error))
    if failed:
        raise ConformanceError("\n".join(failed))
    return len(hands) + len(scenes)


def check_complete(variant: str | Rules, hands: Iterable[Case], scenes: Iterable[Case] = ()) -> None:
    """Check that cases bear names of their own and say why, and that each row and each reason has one.

    Raises:
        ConformanceError: something is missing; the message lists all of it.
    """
    played, every = rules(variant), [*hands, *scenes]
    names = [str(case.get("name")) for case in every]
    lacking = [f"{name!r} names several cases" for name in dict.fromkeys(names) if names.count(name) > 1]
    lacking += [f"{case.get('name')!r} does not say why" for case in every if not case.get("why")]
    shown = {row.rpartition(" ")[0] for case in every for row in case.get("rows", ())}
    lacking += [f"no case shows the row {row.name!r}" for row in played.rows if row.name not in shown]
    refused = [case["illegal"].lower() for case in every if "illegal" in case]
    lacking += [
        f"no case is refused because {reason}"
        for reason in played.reasons[1:]
        if not any(words in reason.lower() for words in refused)
    ]
    _require(not lacking, "\n".join(lacking))


# --- Hands ---------------------------------------------------------------------------------------------------------


def check_hand(variant: str | Rules, case: Case, score: Callable[..., Any] = score) -> None:
    """Compare one described hand with what ``score`` says.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        case: the hand and what is expected.
        score: `mahjong_env.score`, or something else that answers like it.

    Raises:
        ConformanceError: something else came out.
    """
    expected = {key: case[key] for key in _EXPECTED if key in case}
    arguments = _with_none({key: value for key, value in case.items() if key not in (*_EXPECTED, *_COMMENT)})
    if "other_melds" in arguments:
        arguments["other_melds"] = {int(seat): melds for seat, melds in arguments["other_melds"].items()}
    try:
        scored = score(variant, **arguments)
    except ValueError as error:
        words = expected.get("error")
        _require(words is not None and words.lower() in str(error).lower(), f"{type(error).__name__}: {error}")
        return
    _require("error" not in expected, f"no error that mentions {expected.get('error')!r}, but {scored}")
    if "illegal" in expected:
        _check_refused(scored, expected["illegal"])
    else:
        _check_scored(scored, expected)


def _check_refused(scored: HandScore, words: str) -> None:
    _require(not scored.legal, f"may win: {scored}")
    _require(scored.points == 0 and not any(scored.payments), f"may not win, and yet is paid: {scored}")
    _require(words.lower() in scored.reason.lower(), f"the reason {scored.reason!r} should mention {words!r}")


def _check_scored(scored: HandScore, expected: Mapping[str, Any]) -> None:
    _require(scored.legal, f"may not win: {scored.reason}")
    rows = sorted(f"{name} {value}" for name, value in scored.rows)
    _require(rows == sorted(expected["rows"]), f"the rows are {rows}, not {sorted(expected['rows'])}")
    points, payments = expected.get("points", scored.points), list(expected["payments"])
    _require(scored.points == points, f"it is worth {scored.points} points, not {points}")
    _require(list(scored.payments) == payments, f"the payments are {list(scored.payments)}, not {payments}")


def _with_none(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """TOML has no None: cases write "none"."""
    return {key: None if value == "none" else value for key, value in arguments.items()}


def _require(condition: object, message: str) -> None:
    if not condition:
        raise ConformanceError(message)


# --- Scenes --------------------------------------------------------------------------------------------------------


def check_scene(variant: str | Rules, scene: Case) -> None:
    """Play one scene.

    Raises:
        ConformanceError: a line of the script does not hold.
    """
    SceneRunner(variant, scene).run(scene["play"])


class SceneRunner:
    """Plays the script of a scene on the engine, line by line; ``#`` begins a comment.

    ==========================  =====================================================================================
    ``0 discard 9p``            seat 0 is to act, and does this (any of `mahjong_env.ACTIONS`)
    ``0 may pung, pass``        seat 0 is to act, and these are among its legal actions
    ``0 may only pung, pass``   these are its legal actions
    ``0 may not pung``          these are not among them
    ``rewards 3 -1 -1 -1``      what the last action paid
    ``wins 0``, ``draw``        how the last hand ended
    ``rows Ping Hu 1, ...``     what its winner scored
    ``points 50 50 50 50``      running points
    ``dealer 1``, ``streak 2``  who deals, and how often the deal was kept
    ``left 83``                 tiles that can still be drawn
    ``wild 5z``                 the wild kind
    ``hand 0 123m 44z``         the concealed tiles of seat 0
    ``flowers 0 F1 S2``         its exposed flowers
    ``over``, ``not over``      whether the match is over
    ``pass until 2``            goes on without claims until seat 2 is to draw or discard
    ``play until over``         goes on without claims to the end of the hand
    ==========================  =====================================================================================

    Attributes:
        engine: the one game that is played.
        rewards: what the last action paid, by person.
        outcome: the last hand that ended, None before.
    """

    def __init__(self, variant: str | Rules, scene: Case) -> None:
        """Deal the scene.

        Raises:
            ConformanceError: a key that scenes do not have.
        """
        unknown = sorted(set(scene) - set(_SCENE))
        _require(not unknown, f"a scene has no {', '.join(unknown)}; its keys are {', '.join(_SCENE)}")
        options = {key: scene[key] for key in ("num_hands", "start") if key in scene}
        knobs = _with_none(scene.get("knobs", {}))
        self.engine = make_engine(variant, 1, seed=scene.get("seed", 7), **options, **knobs)
        self.engine.reset(deals=Deal(**scene.get("deal", {})))
        self.rewards: list[int] = []
        self.outcome: Any = None
        self._looks: dict[str, Callable[[str], None]] = {
            "rewards": lambda rest: self._same("the rewards", self.rewards, [int(word) for word in rest.split()]),
            "wins": lambda rest: self._same("the winner", self._ended("winner"), int(rest)),
            "draw": lambda _: self._same("the winner", self._ended("winner"), -1),
            "rows": self._look_at_rows,
            "dealer": lambda rest: self._same("the dealer", int(self.engine.dealer[0]), int(rest)),
            "streak": lambda rest: self._same("the streak", int(self.engine.state.streak[0]), int(rest)),
            "points": lambda rest: self._same(
                "the points", self.engine.points[0].tolist(), [int(word) for word in rest.split()]
            ),
            "left": lambda rest: self._same("left are", int(self.engine.state.left(np.array([0]))[0]), int(rest)),
            "wild": lambda rest: self._same("the wild kind", [int(self.engine.state.wild[0])], parse_tiles(rest)),
            "hand": lambda rest: self._look_at_tiles("the hand", self.engine.state.hand[0], rest),
            "flowers": lambda rest: self._look_at_tiles("the flowers", self.engine.state.flowers[0], rest),
        }

    def run(self, script: str) -> None:
        """Play a script.

        Raises:
            ConformanceError: a line does not hold; the message shows the line and the table.
        """
        for number, line in enumerate(script.splitlines(), start=1):
            text = line.partition("#")[0].strip()
            if not text:
                continue
            try:
                self._do(text)
            except (ConformanceError, ValueError) as error:
                raise ConformanceError(f"line {number}: {text}\n{error}\n{table_text(self.engine)}") from error

    # --- lines -----------------------------------------------------------------------------------------------
    def _do(self, text: str) -> None:
        head, _, rest = text.partition(" ")
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
        elif head in self._looks:
            self._looks[head](rest)
        else:
            raise MahjongError(f"there is no such line; lines begin with a seat, {', '.join(self._looks)}")

    def _look_at_legal(self, rest: str) -> None:
        legal = {ACTIONS[number] for number in np.flatnonzero(self.engine.action_mask[0])}
        word, _, names = rest.partition(" ")
        listed = {name.strip() for name in (names if word in ("only", "not") else rest).split(",")}
        _require(listed <= set(ACTIONS), f"there are no such actions: {', '.join(sorted(listed - set(ACTIONS)))}")
        holds = {"only": legal == listed, "not": not legal & listed}.get(word, listed <= legal)
        _require(holds, f"legal are {', '.join(sorted(legal))}")

    def _look_at_rows(self, rest: str) -> None:
        rows = sorted(f"{name} {value}" for name, value in self._ended("rows"))
        self._same("the rows", rows, sorted(row.strip() for row in rest.split(",")))

    def _look_at_tiles(self, what: str, counts: Any, rest: str) -> None:
        seat, _, tiles = rest.partition(" ")
        held = format_counts(counts[int(seat)])
        _require(sorted(parse_tiles(held)) == sorted(parse_tiles(tiles)), f"{what}: {held}, not {tiles}")

    def _same(self, what: str, found: Any, wanted: Any) -> None:
        _require(found == wanted, f"{what}: {found}, not {wanted}")

    # --- the game --------------------------------------------------------------------------------------------
    @property
    def seat(self) -> int:
        """The person who is to act, -1 once the match is over."""
        return int(self.engine.seat_to_act[0])

    def act(self, name: str) -> StepResult:
        """Play one of `mahjong_env.ACTIONS`."""
        result = self.engine.step([action(name)])
        self.rewards = result.rewards[0].tolist()
        if result.hand_over[0]:
            self.outcome = result.outcome
        return result

    def _ended(self, name: str) -> Any:
        """Something about the last hand that ended."""
        _require(self.outcome is not None, "no hand has ended")
        return getattr(self.outcome, name)[0]

    def _in_turn(self) -> bool:
        return bool(self.engine.state.phase[0] == Phase.TURN)

    def _go_on(self, is_there: Callable[[], bool]) -> None:
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
