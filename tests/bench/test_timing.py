"""What is timed, what is not, and what comes out of several runs."""

import pytest

from mahjong_env.bench import ratios, report_text
from mahjong_env.bench.report import aligned, spread
from mahjong_env.bench.timing import Clock, Contender, measure


class MadeUp:
    """A player whose environment takes a known time for a decision, on a clock of its own."""

    def __init__(self, now, seconds_each):
        self.now, self.seconds_each = now, seconds_each

    def play(self, decisions, meter):
        with meter.agent:
            self.now[0] += 5
        with meter.environment:
            self.now[0] += decisions * self.seconds_each
        meter.decisions += decisions
        meter.hands += 1

    def dealing_share(self, meter):
        return 0.25


@pytest.fixture
def measured():
    now = [0.0]

    def contender(name, seconds_each, *peers):
        # A run's number is its seed: each is slower than the one before.
        return Contender(name, lambda seed: MadeUp(now, seconds_each * (seed + 1)), 10, peers)

    return measure([contender("slow", 0.5), contender("fast", 0.125, "slow", "absent")], 20, 3, lambda: now[0])


def test_the_agents_time_does_not_count(measured):
    assert [result.rates for result in measured] == [(2.0, 1.0, 2 / 3), (8.0, 4.0, 8 / 3)]
    assert [result.rate for result in measured] == [1.0, 4.0]
    assert measured[1].runs[0].agent == 0.5
    assert measured[1].runs[0].hands == 100
    assert Clock().seconds == 0


def test_ratios_are_of_the_same_run(measured):
    assert ratios(measured) == {"slow": {}, "fast": {"slow": [4.0, 4.0, 4.0]}}
    fast = report_text(measured).splitlines()[-1].split()
    assert " ".join(fast) == "fast 4 [3, 8] 100.0 25.0% 500000.00 4.0 [4.0, 4.0] x slow"


def test_whoever_watches_is_told_what_begins():
    now, told = [0.0], []
    contender = Contender("one", lambda seed: MadeUp(now, 1.0), 1)
    measure([contender], 1, 2, lambda: now[0], lambda *what: told.append(what))
    assert told == [(1, 2, "run 1 of 2: one"), (2, 2, "run 2 of 2: one")]


def test_spread_and_columns():
    assert spread([3.0], ".1f") == "3.0"
    assert spread([3.0, 1.0, 2000.0], ",.0f") == "3 [1, 2,000]"
    assert aligned([("", "a", ""), ("long", "bcd", "x")]) == "        a\nlong  bcd  x"
