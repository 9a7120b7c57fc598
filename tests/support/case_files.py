"""Reads and plays the written cases (tests/cases/*.toml): described hands, and scenes with a script.

The keys of a hand are the arguments of `mahjong_env.score`; the lines of a script are described at `SceneRunner`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mahjong_env
from mahjong_env.basics.notation import format_counts, parse_tiles

CASES = Path(__file__).parents[1] / "cases"


def hand_cases(variant: str) -> list[dict[str, Any]]:
    """The described hands of a variant."""
    return tomllib.loads((CASES / f"{variant}.toml").read_text(encoding="utf-8"))["case"]


def scenes(variant: str) -> list[dict[str, Any]]:
    """The scenes of a variant."""
    return tomllib.loads((CASES / f"{variant}_play.toml").read_text(encoding="utf-8"))["scene"]


def check_hand(variant: str, case: dict[str, Any], score: Any) -> None:
    """Compare one described hand with what ``score`` says."""
    expected = {key: case[key] for key in ("rows", "points", "payments", "illegal", "error") if key in case}
    arguments = {key: value for key, value in case.items() if key not in expected and key not in ("name", "why")}
    arguments = _with_none(arguments)
    if "other_melds" in arguments:
        arguments["other_melds"] = {int(seat): melds for seat, melds in arguments["other_melds"].items()}
    if "error" in expected:
        with pytest.raises(ValueError, match=f"(?i){re.escape(expected['error'])}"):
            score(variant, **arguments)
        return
    result = score(variant, **arguments)
    if "illegal" in expected:
        assert not result.legal, f"may win: {result}"
        assert result.points == 0
        assert not any(result.payments)
        assert expected["illegal"].lower() in result.reason.lower(), (
            f"{result.reason!r} should mention {expected['illegal']!r}"
        )
        return
    assert result.legal, f"may not win: {result.reason}"
    rows = sorted(f"{name} {value}" for name, value in result.rows)
    assert rows == sorted(expected["rows"]), f"rows {rows}"
    if "points" in expected:
        assert result.points == expected["points"]
    assert list(result.payments) == expected["payments"]


def _with_none(arguments: dict[str, Any]) -> dict[str, Any]:
    """TOML has no None: the cases write "none"."""
    return {key: None if value == "none" else value for key, value in arguments.items()}


class SceneRunner:
    """Plays the script of one scene on the engine, line by line.

    ``<seat> <action>`` asserts that this seat is to act and plays it; ``<seat> may [only|not] a, b`` looks at its legal
    actions; ``rewards``, ``wins``, ``draw``, ``rows``, ``dealer``, ``streak``, ``points``, ``left``, ``wild``,
    ``hand``, ``flowers``, ``over`` and ``not over`` look at the table; ``pass until <seat>`` and ``play until
    over`` go on without claims.
    """

    def __init__(self, variant: str, scene: dict[str, Any]) -> None:
        options = {key: scene[key] for key in ("num_hands", "start") if key in scene}
        self.engine = mahjong_env.make_engine(
            variant, 1, seed=scene.get("seed", 7), **options, **_with_none(scene.get("knobs", {}))
        )
        self.engine.reset(deals=mahjong_env.Deal(**scene.get("deal", {})))
        self.rewards: list[int] = []
        self.outcome: Any = None

    def run(self, script: str) -> None:
        for number, line in enumerate(script.splitlines(), start=1):
            text = line.split("#")[0].strip()
            if not text:
                continue
            try:
                self._do(text)
            except (AssertionError, ValueError) as error:
                raise AssertionError(f"line {number}: {text}\n{error}\n{self.table()}") from error

    # --- lines -----------------------------------------------------------------------------------------------
    def _do(self, text: str) -> None:
        head, _, rest = text.partition(" ")
        if head.isdigit():
            if rest.startswith("may "):
                self._check_legal(int(head), rest[4:])
            else:
                assert self.seat == int(head), f"seat {self.seat} is to act"
                self._act(rest)
            return
        if text in ("over", "not over"):
            assert (self.seat == -1) == (text == "over"), f"seat {self.seat} is to act"
        elif text.startswith("pass until "):
            self._go_on(lambda: self.seat == int(text.split()[-1]) and self._in_turn())
        elif text == "play until over":
            self.outcome = None
            self._go_on(lambda: self.outcome is not None)
        else:
            getattr(self, f"_see_{head}")(rest)

    def _check_legal(self, seat: int, rest: str) -> None:
        assert self.seat == seat, f"seat {self.seat} is to act"
        legal = {mahjong_env.ACTIONS[number] for number in np.flatnonzero(self.engine.action_mask[0])}
        word, _, names = rest.partition(" ")
        listed = {name.strip() for name in (names if word in ("only", "not") else rest).split(",")}
        assert listed <= set(mahjong_env.ACTIONS), f"no such actions: {listed - set(mahjong_env.ACTIONS)}"
        if word == "only":
            assert legal == listed, f"legal: {sorted(legal)}"
        elif word == "not":
            assert not legal & listed, f"legal: {sorted(legal)}"
        else:
            assert listed <= legal, f"legal: {sorted(legal)}"

    def _see_rewards(self, rest: str) -> None:
        assert self.rewards == [int(word) for word in rest.split()], f"rewards {self.rewards}"

    def _see_wins(self, rest: str) -> None:
        assert self.outcome is not None, "no hand has ended"
        assert int(self.outcome.winner[0]) == int(rest), f"winner {self.outcome.winner[0]}"

    def _see_draw(self, rest: str) -> None:
        self._see_wins("-1")

    def _see_rows(self, rest: str) -> None:
        rows = sorted(f"{name} {value}" for name, value in self.outcome.rows[0])
        assert rows == sorted(row.strip() for row in rest.split(",")), f"rows {rows}"

    def _see_dealer(self, rest: str) -> None:
        assert int(self.engine.dealer[0]) == int(rest), f"dealer {self.engine.dealer[0]}"

    def _see_streak(self, rest: str) -> None:
        assert int(self.state.streak[0]) == int(rest), f"streak {self.state.streak[0]}"

    def _see_points(self, rest: str) -> None:
        assert self.engine.points[0].tolist() == [int(word) for word in rest.split()], f"points {self.engine.points[0]}"

    def _see_left(self, rest: str) -> None:
        left = int(self.state.left(np.array([0]))[0])
        assert left == int(rest), f"left {left}"

    def _see_wild(self, rest: str) -> None:
        wild = int(self.state.wild[0])
        assert [wild] == parse_tiles(rest), f"wild {wild}"

    def _see_hand(self, rest: str) -> None:
        seat, _, tiles = rest.partition(" ")
        held = format_counts(self.state.hand[0, int(seat)])
        assert sorted(parse_tiles(held)) == sorted(parse_tiles(tiles)), f"hand {held}"

    def _see_flowers(self, rest: str) -> None:
        seat, _, tiles = rest.partition(" ")
        exposed = format_counts(self.state.flowers[0, int(seat)])
        assert sorted(parse_tiles(exposed)) == sorted(parse_tiles(tiles)), f"flowers {exposed}"

    # --- the table -------------------------------------------------------------------------------------------
    @property
    def state(self) -> Any:
        return self.engine.state

    @property
    def seat(self) -> int:
        return int(self.engine.seat_to_act[0])

    def _in_turn(self) -> bool:
        return int(self.state.phase[0]) == 1

    def _act(self, name: str) -> None:
        result = self.engine.step([mahjong_env.action(name)])
        self.rewards = result.rewards[0].tolist()
        if result.hand_over[0]:
            self.outcome = result.outcome

    def _go_on(self, is_there: Any) -> None:
        for _ in range(1000):
            if is_there():
                return
            assert self.seat >= 0, "the match is over"
            if not self._in_turn():
                self._act("pass")
                continue
            legal = np.flatnonzero(self.engine.action_mask[0, :34])
            drawn = int(self.state.drawn[0])
            self._act(mahjong_env.ACTIONS[drawn if drawn in legal else int(legal[-1])])
        raise AssertionError("still not there after 1000 actions")

    def table(self) -> str:
        """The whole table, for failures."""
        state = self.state
        lines = [
            f"to act {self.seat}, offered {state.offered[0]}, left {state.left(np.array([0]))[0]}, wild {state.wild[0]}"
        ]
        for seat in range(self.engine.num_seats):
            melds = list(zip(state.meld_type[0, seat], state.meld_kind[0, seat], state.meld_from[0, seat], strict=True))
            melds = [tuple(int(x) for x in meld) for meld in melds[: state.num_melds[0, seat]]]
            flowers = format_counts(state.flowers[0, seat])
            lines.append(f"seat {seat}: {format_counts(state.hand[0, seat])} melds {melds} flowers {flowers}")
        return "\n".join(lines)
