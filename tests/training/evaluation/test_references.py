"""References of trained policies: who comes with them, and what is said of them, only what is true."""

from __future__ import annotations

import numpy as np
import pytest

import mahjong_env
from mahjong_agents.policy.file import PolicyFile
from mahjong_agents.policy.network import ARCHITECTURE, prior, shapes
from mahjong_training.evaluation.references import with_references


def write(path, *, steps, **training):
    """Write a small policy with a header of a run."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(4).items()} | {"prior": prior(claims=True)}
    header = {"steps": steps, "teacher": "greedy", "teachers": ["greedy", "closed-greedy"]} | training
    rules = mahjong_env.rules("hebei")
    path.parent.mkdir(exist_ok=True)
    PolicyFile(
        rules.name, rules.version, {"width": 4}, weights, rules.knobs, training=header, architecture=ARCHITECTURE
    ).write(path)
    return f"policy:{path}"


def roles(spec, rules=None):
    return [entrant.role for entrant in with_references([spec], rules)]


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("ppo", ("having begun as", "plays like", "what it began as", "not what it began as")),
        (None, ("after imitating", "imitates", "teacher, imitated", "teacher, not imitated")),
    ],
)
def test_a_policy_comes_with_what_it_was_and_its_teachers(method, words, tmp_path):
    """A policy of the fast path has imitated nobody."""
    after, plays, teacher, other = words
    clone = write(tmp_path / "initial.zip", steps=0, method=method)
    best = write(tmp_path / "best.zip", steps=64, method=method)
    assert roles(best) == [
        f"learned from 64 decisions, {after} greedy",
        f"the same before learning: it {plays} greedy",
        teacher,
        other,
    ]
    assert [one.spec for one in with_references([best])] == [best, clone, "greedy", "closed-greedy"]
    assert roles(clone)[0].startswith(f"{plays} greedy; what the policies of its run were")
    on_the_way = write(tmp_path / "policies" / "64.zip", steps=64, method=method)
    assert with_references([on_the_way])[0].clone == clone


def test_agents_that_are_named_are_not_named_twice(tmp_path):
    clone, best = write(tmp_path / "initial.zip", steps=0), write(tmp_path / "best.zip", steps=64)
    specs = ["greedy", best, clone, "greedy"]
    entrants = with_references(specs)
    assert [entrant.spec for entrant in entrants] == [*specs, "closed-greedy"]
    assert entrants[1].clone == clone
    assert [entrant.role for entrant in entrants][0::3] == ["teacher, imitated"] * 2
    assert [entrant.role for entrant in with_references(["random", "greedy"])] == ["", ""]
    alone = with_references(["random", clone])
    assert [entrant.spec for entrant in alone] == ["random", clone, "greedy", "closed-greedy"]


@pytest.mark.parametrize("method", ["ppo", None])
def test_where_learning_brought_nothing_better_the_last_policy_stands_beside(method, tmp_path):
    last = write(tmp_path / "last.zip", steps=64, method=method)
    best = write(tmp_path / "best.zip", steps=0, method=method)
    own, later, *_ = with_references([best])
    words = "plays like" if method else "imitates"
    assert own.role == f"{words} greedy; nothing that was learned later measured better"
    assert later == (last, "the same after learning from 64 decisions", best)


def test_policies_without_a_teacher_come_alone(tmp_path):
    assert roles(write(tmp_path / "best.zip", steps=64, teacher="")) == [""]


def test_the_shipped_policies_did_not_imitate():
    for name in mahjong_env.VARIANTS:
        assert not any("imitat" in role for role in roles(f"policy:{name}"))


def test_other_house_rules_than_it_was_trained_with_are_said():
    asked = mahjong_env.rules("hebei", players=4, cap=8)
    first = roles("policy:hebei", asked)[0]
    assert first.endswith("; trained with other house rules: players=3, cap=None")
    assert "house rules" not in roles("policy:hebei", mahjong_env.rules("hebei"))[0]
    assert "house rules" not in roles("policy:hebei?any_variant=true", mahjong_env.rules("wuhan"))[0]
