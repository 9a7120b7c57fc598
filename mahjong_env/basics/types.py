"""Names for the array types that signatures use, and a test for integers.

Docstrings give the shapes, as in ``[B, S, 34]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

BoolArray: TypeAlias = NDArray[np.bool_]
Float64Array: TypeAlias = NDArray[np.float64]
Int8Array: TypeAlias = NDArray[np.int8]
Int16Array: TypeAlias = NDArray[np.int16]
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
UInt32Array: TypeAlias = NDArray[np.uint32]
UInt64Array: TypeAlias = NDArray[np.uint64]
IntArray: TypeAlias = NDArray[np.signedinteger[Any]]
"""Any signed integers; arrays of game numbers and seats are ``np.intp``."""
Games: TypeAlias = NDArray[np.intp]
"""[n] numbers of games in the batch, each at most once."""
Seeds: TypeAlias = int | Sequence[int | None] | None
"""One seed for all games, one (or None) for each, or None: the next hands of the same seed."""


def is_integer(value: Any) -> TypeGuard[int]:
    """Return whether this is an integer of Python or numpy; truth values are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
