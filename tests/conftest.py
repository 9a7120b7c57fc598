"""What every test run shares."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import settings

# Shared machines are slow at times: a deadline would fail on the machine and not on the code.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


# --- What was left out --------------------------------------------------------------------------------------------

LEFT_OUT = pytest.StashKey[Counter[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Makes place for the count of tests that a run leaves out."""
    config.stash[LEFT_OUT] = Counter()


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Counts the tests of each marker that is left out."""
    for item in items:
        for name in ("slow", "thorough"):
            item.config.stash[LEFT_OUT][name] += item.get_closest_marker(name) is not None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker process: sends the count to the process that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Receives it; every worker has left out the same tests."""
    left_out: Counter[str] = node.config.stash[LEFT_OUT]
    left_out |= Counter(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what was left out."""
    if left_out := +terminalreporter.config.stash[LEFT_OUT]:
        numbers = ", ".join(f"{number} {name}" for name, number in sorted(left_out.items()))
        terminalreporter.write_line(f"left out: {numbers} (make test-all runs everything)")
