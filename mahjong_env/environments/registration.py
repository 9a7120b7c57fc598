"""Puts the environments into Gymnasium's and PettingZoo's registries; importing `mahjong_env` calls it."""

from __future__ import annotations

import re
from pkgutil import iter_modules
from typing import Final

import gymnasium
import pettingzoo

import mahjong_env
from mahjong_env.ruleset.registry import VARIANTS

_ENTRY = re.compile(r"(?P<variant>.+)_v(?P<version>\d+)")


def entry_modules() -> dict[str, tuple[str, int]]:
    """The modules that users import, such as "x_v0", each with its variant and version."""
    matches = (_ENTRY.fullmatch(module.name) for module in iter_modules(mahjong_env.__path__))
    return {
        match[0]: (match["variant"], int(match["version"]))
        for match in matches
        if match is not None and match["variant"] in VARIANTS
    }


ENTRY_MODULES: Final = entry_modules()


def gymnasium_id(variant: str, version: int = 0) -> str:
    """The id for `gymnasium.make` and `make_vec`, such as "mahjong_env/X-v0"."""
    return f"mahjong_env/{variant.capitalize()}-v{version}"


def pettingzoo_id(variant: str, version: int = 0) -> str:
    """The id for `pettingzoo.make`, such as "mahjong_env/x-v0"."""
    return f"mahjong_env/{variant}-v{version}"


def register_all() -> None:
    """Register every variant under its id, without loading it; what is registered already stays.

    The ids of variants that come from other distributions bear the version in their entry point's name. One whose
    registration is faulty has its id as well: making the environment says what is wrong.
    """
    shipped = dict(ENTRY_MODULES.values())
    for variant, version in (shipped | VARIANTS.outside).items():
        if gymnasium_id(variant, version) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(variant, version),
                entry_point="mahjong_env.environments.single_seat:SingleSeatEnv",
                vector_entry_point="mahjong_env.environments.vector_env:MahjongVectorEnv",
                kwargs={"variant": variant},
            )
        # PettingZoo has a registry from 1.27 on.
        if hasattr(pettingzoo, "register") and pettingzoo_id(variant, version) not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec",
                pettingzoo_id(variant, version),
                entry_point="mahjong_env.environments.aec:make_env",
                kwargs={"variant": variant},
            )
