"""What every test run shares."""

from pathlib import Path

import pytest
from hypothesis import settings

from architecture import size_report

# Shared machines are slow at times: a deadline would fail on the machine and not on the code.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports file and function sizes, which fail only far out (test_architecture)."""
    terminalreporter.section("sizes")
    terminalreporter.write_line("\n".join(size_report(Path(__file__).parents[1])))
