"""The shipped tables are what the builder makes."""

import numpy as np
import pytest

from mahjong_env.hands.tables import PATH
from tools.hand_tables import build


@pytest.mark.thorough
def test_rebuilding_gives_the_shipped_tables():
    built = build()
    with np.load(PATH) as shipped:
        assert sorted(shipped.files) == sorted(built)
        for name, array in built.items():
            assert shipped[name].dtype == array.dtype, name
            assert shipped[name].shape == array.shape, name
            assert shipped[name].tobytes() == array.tobytes(), name
