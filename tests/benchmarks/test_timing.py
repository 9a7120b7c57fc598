"""What is timed, what is not, and what comes out of several runs."""

import pytest

from mahjong_benchmarks import report_text
from mahjong_benchmarks.report import aligned, spread
from mahjong_benchmarks.timing import TURNS, Clock, Contender, measure


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

    slow, fast, faster = contender("slow", 0.5), contender("fast", 0.125, "slow", "absent"), contender("faster", 0.1)
    return measure([[slow, fast], [slow, faster]], 20, 3, lambda: now[0])


def test_the_agents_time_does_not_count(measured):
    assert [result.rates for result in measured[:2]] == [
        pytest.approx((2, 1, 2 / 3)),
        pytest.approx((8, 4, 8 / 3)),
    ]
    assert [result.rate for result in measured] == pytest.approx([1, 4, 5])
    assert measured[1].runs[0].agent == 0.5
    assert measured[1].runs[0].hands == 100
    assert Clock().seconds == 0


def test_ratios_are_of_the_same_run(measured):
    assert [result.times for result in measured] == [{}, {"slow": pytest.approx((4, 4, 4))}, {}]
    fast = report_text(measured).splitlines()[2].split()
    assert " ".join(fast) == "fast 4 [3, 8] 1 [1, 2] 100.0 25.0% 500000.00 4.0 [4.0, 4.0] x slow"


def test_whoever_watches_is_told_what_begins():
    now, told = [0.0], []
    contender = Contender("one", lambda seed: MadeUp(now, 1.0), 1)
    measure([[contender]], 1, 2, lambda: now[0], lambda *what: told.append(what))
    assert [number for number, _, _ in told] == list(range(1, 2 * TURNS + 1))
    assert (told[0], told[-1]) == ((1, 2 * TURNS, "run 1 of 2: one"), (2 * TURNS, 2 * TURNS, "run 2 of 2: one"))


def test_contenders_of_a_group_play_by_turns():
    now, order = [0.0], []

    class Noted(MadeUp):
        def play(self, decisions, meter):
            order.append(self.seconds_each)
            super().play(decisions, meter)

    one, other = (Contender(str(each), lambda seed, each=each: Noted(now, each), 1) for each in (1.0, 2.0))
    measure([[one, other]], 2 * TURNS, 1, lambda: now[0])
    assert order[-3 * TURNS :] == [1.0, 1.0, 2.0] * TURNS  # two seconds each in a turn
    assert len(order) - 3 * TURNS == 5  # and before that a quarter that does not count


def test_spread_and_columns():
    assert spread([3.0], ".1f") == "3.0"
    assert spread([3.0, 1.0, 2000.0], ",.0f") == "3 [1, 2,000]"
    assert aligned([("", "a", ""), ("long", "bcd", "x")]) == "        a\nlong  bcd  x"
