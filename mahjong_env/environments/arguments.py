"""Arguments of the environments, options of ``reset``, and the forms of an observation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium.spaces import Box, Dict, Space

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import DealError, OptionError, RulesError, did_you_mean
from mahjong_env.basics.types import Games, Int8Array
from mahjong_env.engine.scene import Deal
from mahjong_env.observation.planes import SHAPE
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules

FLAT, PLANES, DICT = "flat", "planes", "dict"
OBSERVATIONS: Final = (FLAT, PLANES, DICT)
"""The forms of an observation: [C * 34]; [C, 34]; a dictionary of the planes ("observation") and "action_mask"."""


def argument_names(environment: type) -> list[str]:
    """Return the names of an environment's keyword arguments, knobs left out."""
    parameters = inspect.signature(environment).parameters.values()
    return [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]


def read_arguments(arguments: Sequence[str], variant: str | Rules, knobs: Mapping[str, Any]) -> Rules:
    """Return the rules with the knobs that were given beside the other ``arguments`` of an environment.

    Raises:
        RulesError: an unknown argument (the message lists arguments and knobs), or a value that a knob does not have.
    """
    played = rules(variant)
    valid = played.knob_help()
    unknown = [name for name in knobs if name not in valid]
    if unknown:
        close = did_you_mean(unknown[0], [*arguments, *valid])
        listed = "; ".join(f"{name} ({values})" for name, (_, values, _) in valid.items()) or "none"
        raise RulesError(
            f"{played.name} has neither an argument nor a knob {unknown[0]!r}{close or '.'} "
            f"Its arguments are: {', '.join(arguments)}. Its knobs are: {listed}"
        )
    return rules(played, **knobs)


def check_choice(name: str, value: Any, valid: Sequence[str]) -> str:
    """Check an argument that must be one of some words; raise `RulesError` if it is not."""
    if not (isinstance(value, str) and value in valid):
        raise RulesError(f"{name}={value!r} is not valid; valid are {', '.join(map(repr, valid))}")
    return value


def check_illegal_reward(value: Any) -> float:
    """Return ``illegal_reward`` as a number; raise `RulesError` if it is not a finite one."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise RulesError(f"illegal_reward is a finite number, not {value!r}")
    return float(value)


def read_options(options: Any, valid: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read the options of a ``reset``.

    Args:
        options: what the user gave, or None.
        valid: the valid options with their meanings; None to ignore all options except "deal".

    Raises:
        OptionError: the options are not a dictionary, or one of them does not exist.
        DealError: "deal" is not a `Deal`.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise OptionError(f"options are a dictionary, such as {{'deal': Deal(...)}}, not {options!r}")
    unknown = [name for name in options if valid is not None and name not in valid]
    if unknown and valid is not None:
        listed = ", ".join(f"{known!r} ({what})" for known, what in valid.items())
        raise OptionError(f"reset has no option {unknown[0]!r}; its options are {listed}")
    deal = options.get("deal")
    if deal is not None and not isinstance(deal, Deal):
        raise DealError(f"the option 'deal' is a mahjong_env.Deal, not {deal!r}")
    return dict(options)


def read_reset_mask(mask: Any, num_envs: int) -> Games:
    """Return [n] the tables that a mask names; None names all of them.

    Raises:
        OptionError: the mask is not an array of ``num_envs`` booleans, or names no table.
    """
    if mask is None:
        return np.arange(num_envs)
    named = np.asarray(mask) if isinstance(mask, np.ndarray | list | tuple) else np.zeros(())
    is_masked = isinstance(mask, np.ma.MaskedArray)
    if named.shape != (num_envs,) or named.dtype != np.bool_ or is_masked:
        shown = f"{named.dtype} of shape {named.shape}" if isinstance(mask, np.ndarray) else repr(mask)
        given = "a masked one" if is_masked else shown
        raise OptionError(f"the option 'reset_mask' is an array of {num_envs} booleans, not {given}")
    if not named.any():
        raise OptionError("the option 'reset_mask' names no table: at least one of its booleans must be True")
    return np.flatnonzero(named)


# --- Observations ----------------------------------------------------------------------------------------------------


def observation_space(form: str) -> Space[Any]:
    """Return the space of one observation in a form."""
    if form == FLAT:
        return Box(-128, 127, (SHAPE[0] * SHAPE[1],), np.int8)
    planes = Box(-128, 127, SHAPE, np.int8)
    return (
        planes if form == PLANES else Dict({"observation": planes, "action_mask": Box(0, 1, (NUM_ACTIONS,), np.int8)})
    )


def in_form(form: str, planes: Int8Array, masks: Int8Array) -> Any:
    """Return [n] observations in a form, from [n, C, 34] planes and [n, 109] legal actions."""
    if form == FLAT:
        return planes.reshape(len(planes), -1)
    return planes if form == PLANES else {"observation": planes, "action_mask": masks}


def row_of(form: str, batch: Any, row: int) -> Any:
    """Return one observation of a batch."""
    return {name: part[row] for name, part in batch.items()} if form == DICT else batch[row]
