"""What is sent to the nodes of a cluster: objects, with the code of those that no node could import."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path
from pickle import PicklingError
from types import ModuleType
from typing import Any

from mahjong_training.cluster.versions import OURS
from mahjong_training.errors import TrainingError


def packed(ray: Any, what: Any) -> bytes:
    """Return an object as bytes, for another process of the same cluster.

    Classes and functions of installed distributions and of Python itself are sent by name; those of a user's own
    files are sent as code, so that ``--agents mine.py:Cautious`` needs no file on the nodes.

    Raises:
        TrainingError: it holds something that cannot be sent, such as a lock or an open file.
    """
    try:
        with _as_code(ray, _own_modules()):
            data: bytes = ray.cloudpickle.dumps(what)
            return data
    except (PicklingError, TypeError, AttributeError, ValueError) as error:
        raise TrainingError(f"this cannot be sent to the nodes of a cluster: {error}") from error


def _own_modules() -> list[ModuleType]:
    """Return the loaded modules that belong to the user: in files, and in no distribution."""
    installed = {*packages_distributions(), *sys.stdlib_module_names, *OURS}
    apart = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or name.partition(".")[0] in installed or name == "__main__":
            continue  # what is in __main__ goes as code in any case
        if not any(Path(file).resolve().is_relative_to(folder) for folder in apart):
            found.append(module)
    return found


@contextmanager
def _as_code(ray: Any, modules: list[ModuleType]) -> Iterator[None]:
    registered = []
    try:
        for module in modules:
            if (
                module.__name__ in sys.modules
                and module.__name__ not in ray.cloudpickle.list_registry_pickle_by_value()
            ):
                ray.cloudpickle.register_pickle_by_value(module)
                registered.append(module)
        yield
    finally:
        for module in registered:
            ray.cloudpickle.unregister_pickle_by_value(module)
