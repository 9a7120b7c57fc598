"""The referee and the written cases: every described hand, and every scene beside the engine.

What the referee is worth rests on this and on the duel (tests/engine/test_duel.py, `make proof`): the cases are worked
out by hand from the pages of rules.
"""

from __future__ import annotations

import pytest

from mahjong_env.testing import cases
from mahjong_env.testing.cases import SceneRunner, check_hand
from oracle import referee
from support.case_files import hand_cases, scenes
from support.duel import Duel

VARIANTS = sorted(referee.VARIANTS)


IN_OTHER_WORDS = "a reason in the referee's own words"


def with_a_reason_in_other_words(variant, **arguments):
    verdict = referee.score(variant, **arguments)
    verdict.reason = verdict.reason and IN_OTHER_WORDS
    return verdict


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_written_hand(variant, monkeypatch):
    monkeypatch.setattr(cases, "score", with_a_reason_in_other_words)
    checked = 0
    for case in hand_cases(variant):
        if "error" in case:
            continue  # what cannot be described is refused by the package
        if "illegal" in case:
            case["illegal"] = IN_OTHER_WORDS
        check_hand(variant, case)
        checked += 1
    assert checked > 100


class SceneBesideTheReferee(SceneRunner):
    """Plays a scene in the engine and in the referee."""

    def __init__(self, variant, scene):
        super().__init__(variant, scene)
        self.duel, self.step = Duel(self.engine, 0, scene.get("num_hands", 1)), self.engine.step
        self.duel.before()
        self.engine.step = self.compared

    def compared(self, actions):
        result = self.step(actions)
        self.duel.after(int(actions[0]), result, 0)
        if not self.duel.over:
            self.duel.before()
        return result


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_written_scene(variant):
    for scene in scenes(variant):
        SceneBesideTheReferee(variant, scene).run(scene["play"])


def test_a_refused_action_changes_nothing():
    runner = SceneBesideTheReferee("hebei", scenes("hebei")[0])
    judge = runner.duel.referee
    before = judge.left, judge.legal(), [list(player.hand) for player in judge.players]
    with pytest.raises(ValueError, match="may not"):
        judge.apply("pass")
    assert (judge.left, judge.legal(), [player.hand for player in judge.players]) == before
