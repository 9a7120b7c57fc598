"""Properties that are worked out when they are first asked for."""

from __future__ import annotations

import copy

from mahjong_env.basics.lazy import lazy


class Counting:
    asked = 0

    @lazy
    def answer(self) -> int:
        """Forty-two."""
        self.asked += 1
        return 42


def test_it_is_worked_out_once_for_each_instance():
    one, other = Counting(), Counting()
    assert one.answer == one.answer == 42
    assert one.asked == 1
    assert other.asked == 0
    twin = copy.copy(one)
    assert twin.answer == 42
    assert twin.asked == 1


def test_it_is_documented():
    assert Counting.answer.__doc__ == "Forty-two."
