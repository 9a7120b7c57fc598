"""Variants by name: shipped or registered by another distribution, loaded when asked for, faults named."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import mahjong_env
from mahjong_env import VARIANTS, RulesError, rules
from mahjong_env.ruleset.registry import VariantRegistry

MODULE = """
    from dataclasses import dataclass
    from mahjong_env import Rules

    @dataclass(frozen=True, kw_only=True)
    class Tiny(Rules):
        name = {name!r}
        title = "Tiny"
        version = {version}

    RULES = Tiny()
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a distribution that registers variants where Python finds it: its metadata, and modules if given."""

    def write(distribution, entries, **modules):
        place = tmp_path / distribution
        info = place / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text("\n".join(["[mahjong_env.variants]", *lines, ""]), encoding="utf-8")
        for name, text in modules.items():
            (place / f"{name}.py").write_text(dedent(text), encoding="utf-8")
        monkeypatch.syspath_prepend(str(place))
        return place

    yield write
    for name in [name for name, module in sys.modules.items() if str(tmp_path) in str(getattr(module, "__file__", ""))]:
        del sys.modules[name]


def tiny(name, version=0):
    return MODULE.format(name=name, version=version)


def test_the_shipped_ones_are_known_by_their_modules():
    shipped = ["fuzhou", "hangzhou", "hebei", "mcr", "taiwan", "wuhan"]
    assert list(VariantRegistry("nobody.registers.here")) == shipped
    assert "bridge" not in mahjong_env.VARIANTS
    assert "hebei" in repr(mahjong_env.VARIANTS)
    assert [rules.name for rules in map(mahjong_env.VARIANTS.__getitem__, shipped)] == shipped
    assert {**mahjong_env.VARIANTS}.keys() >= {*shipped}


def test_importing_loads_no_variant():
    code = "import sys, mahjong_env; list(mahjong_env.VARIANTS); 'wuhan' in mahjong_env.VARIANTS;"
    code += "sys.exit(any(name.startswith('mahjong_env.variants.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_one_from_outside_is_loaded_when_asked_for(install):
    install("tiny-mahjong", {"tiny": "tiny_rules:RULES"}, tiny_rules=tiny("tiny"))
    variants = VariantRegistry()
    assert "tiny" in variants
    assert "tiny" in list(variants)
    assert variants.outside["tiny"] == 0
    assert "tiny_rules" not in sys.modules
    assert variants["tiny"].title == "Tiny"
    assert variants["tiny"] is variants["tiny"]


def test_the_version_stands_in_the_name(install):
    install("tiny-mahjong", {"tiny_v2": "tiny_rules:RULES"}, tiny_rules=tiny("tiny", 2))
    variants = VariantRegistry()
    assert variants.outside["tiny"] == 2
    assert variants["tiny"].version == 2


def test_a_name_taken_twice_is_an_error_with_both(install):
    install("tiny-mahjong", {"tiny": "tiny_rules:RULES"}, tiny_rules=tiny("tiny"))
    install("other-mahjong", {"tiny_v1": "other_rules:RULES"}, other_rules=tiny("tiny", 1))
    with pytest.raises(RulesError, match=r"'tiny' .* by tiny-mahjong 1.2 .* and by other-mahjong 1.2"):
        VariantRegistry()["tiny"]
    assert VariantRegistry()["hebei"].name == "hebei"


def test_the_name_of_a_shipped_one_cannot_be_taken(install):
    install("tiny-mahjong", {"hebei": "tiny_rules:RULES"}, tiny_rules=tiny("hebei"))
    with pytest.raises(RulesError, match=r"'hebei' .* by mahjong_env itself and by tiny-mahjong 1.2"):
        VariantRegistry()["hebei"]
    assert "hebei" not in VariantRegistry().outside
    assert VariantRegistry()["wuhan"].name == "wuhan"


@pytest.mark.parametrize(
    ("name", "value", "text", "message"),
    [
        ("tiny", "nowhere:RULES", "", r"'tiny', registered by tiny-mahjong 1.2, cannot be loaded: .*No module named"),
        ("tiny", "tiny_rules:RULES", "RULE = 1", "cannot be loaded: tiny_rules:RULES raises AttributeError"),
        ("tiny", "tiny_rules:RULES", "1 / 0", "cannot be loaded: tiny_rules:RULES raises ZeroDivisionError"),
        ("tiny", "tiny_rules:RULES", "RULES = dict", "'tiny' of tiny-mahjong .* must be a Rules object, not <class"),
        ("tiny", "tiny_rules:RULES", tiny("small"), "registers 'tiny', but .* call themselves 'small', version 0"),
        ("tiny", "tiny_rules:RULES", tiny("tiny", 1), "version 1: their entry point is 'tiny_v1'"),
        ("Tiny Game", "tiny_rules:RULES", tiny("tiny"), "as 'Tiny Game'; a variant's name begins with a lower-case"),
    ],
)
def test_a_faulty_registration_is_an_error_of_its_own_variant(install, name, value, text, message):
    install("tiny-mahjong", {name: value}, tiny_rules=text)
    variants = VariantRegistry()
    assert name in variants
    assert variants["hebei"].name == "hebei"
    with pytest.raises(RulesError, match=message):
        variants[name]


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_nobody_can_write_to_what_all_engines_read(variant):
    played = rules(variant)
    for name in dir(played):
        value = getattr(played, name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable or not np.shares_memory(value, getattr(played, name)), name


def test_rules_are_those_of_a_variant_whatever_of_the_game_is_seen():
    class Elsewhere(type(VARIANTS["hebei"])):
        name = "elsewhere"

    assert VARIANTS.without_house_rules(rules("hebei"))
    assert VARIANTS.without_house_rules(rules("hebei", shows_drawn=False))
    assert not VARIANTS.without_house_rules(rules("hebei", players=4))
    assert not VARIANTS.without_house_rules(Elsewhere())
