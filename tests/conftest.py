"""What every test run shares."""

from pathlib import Path

import pytest
from hypothesis import settings

from support.architecture import size_report

# Shared machines are slow at times: a deadline would fail on the machine and not on the code.
settings.register_profile("default", deadline=None)
settings.load_profile("default")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reports file and function sizes, which fail only far out (test_architecture)."""
    terminalreporter.section("sizes")
    try:
        report = size_report(Path(__file__).parents[1])
    except SyntaxError as error:  # a file in mid-edit must not take the tests' result with it
        report = [f"not measured: {error}"]
    terminalreporter.write_line("\n".join(report))
