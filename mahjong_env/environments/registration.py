"""Registers the environments with Gymnasium and PettingZoo; importing `mahjong_env` calls it."""

from __future__ import annotations

import re
from pkgutil import iter_modules
from typing import Final

import mahjong_env
from mahjong_env.ruleset.registry import VARIANTS

_ENTRY = re.compile(r"(?P<variant>.+)_v(?P<version>\d+)")
_MATCHES = (_ENTRY.fullmatch(module.name) for module in iter_modules(mahjong_env.__path__))
ENTRY_MODULES: Final = {
    match[0]: (match["variant"], int(match["version"])) for match in _MATCHES if match and match["variant"] in VARIANTS
}
"""The modules that users import, such as "x_v0", each with its variant and version."""


def gymnasium_id(variant: str, version: int = 0) -> str:
    """Return the id for `gymnasium.make` and `make_vec`, such as "mahjong_env/X-v0"."""
    return f"mahjong_env/{variant.capitalize()}-v{version}"


def pettingzoo_id(variant: str, version: int = 0) -> str:
    """Return the id for `pettingzoo.make`, such as "mahjong_env/x-v0"."""
    return f"mahjong_env/{variant}-v{version}"


def text_id(variant: str, version: int = 0) -> str:
    """Return the id of the text environment for `gymnasium.make`, such as "mahjong_env/X-text-v0"."""
    return f"mahjong_env/{variant.capitalize()}-text-v{version}"


def register_all() -> None:
    """Register every variant under its ids without loading it; existing registrations stay as they are.

    The id of a variant from another distribution bears the version in the name of its entry point. A variant whose
    registration is faulty gets its id as well; making the environment then says what is wrong. Where gymnasium and
    pettingzoo are missing, as in a browser's tab, there is no registry, and everything else works.
    """
    try:
        import gymnasium
        import pettingzoo
    except ModuleNotFoundError:
        return
    for variant, version in (dict(ENTRY_MODULES.values()) | VARIANTS.outside).items():
        kwargs = {"variant": variant}
        if (name := gymnasium_id(variant, version)) not in gymnasium.registry:
            single = "mahjong_env.environments.single_seat:SingleSeatEnv"
            vector = "mahjong_env.environments.vector_env:MahjongVectorEnv"
            gymnasium.register(name, entry_point=single, vector_entry_point=vector, kwargs=kwargs)
        if (name := text_id(variant, version)) not in gymnasium.registry:
            gymnasium.register(name, entry_point="mahjong_env.play.text_seat:TextSeatEnv", kwargs=kwargs)
        # PettingZoo has had a registry since 1.27.
        if hasattr(pettingzoo, "register") and (name := pettingzoo_id(variant, version)) not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name, entry_point="mahjong_env.environments.aec:make_env", kwargs=kwargs)
