"""Chance that rows of a view share: games that are compared with each other throw the same dice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class RowChance(np.random.Generator):
    """A generator whose uniform numbers, where there is one for each row of a view, are those of the row's game."""

    def __init__(self, bits: np.random.BitGenerator, rows: NDArray[np.intp], number: int) -> None:
        """Give each row a number.

        Args:
            bits: where chance comes from.
            rows: [n] for each row of a view the number of its game; rows of the same number get the same chance.
            number: how many such numbers there are.
        """
        super().__init__(bits)
        self._rows, self._number = rows, number

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw as `numpy.random.Generator.random` does; arrays [n, ...] are drawn for all games and shared out."""
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size or ())
        if out is not None or not shape or shape[0] != len(self._rows):
            return super().random(size, dtype, out)
        return super().random((self._number, *shape[1:]), dtype).take(self._rows, axis=0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles draw the same numbers."""
        return RowChance, (self.bit_generator, self._rows, self._number)
