"""What can be done with a match that has been played: the commands that show and review its record."""

from __future__ import annotations


def show_command(file: str, match: int = 1) -> str:
    """The command that writes a match of a file as a page."""
    return f"python -m mahjong_env show {_quoted(file)}{_which(match)} --html page.html"


def review_command(file: str, match: int, person: int) -> str:
    """The command that says what every choice of a person was worth."""
    return f"mahjong-env review --record {_quoted(file)}{_which(match)} --review --seat {person} --out review"


def _which(match: int) -> str:
    return f" --match {match}" if match != 1 else ""


def _quoted(file: str) -> str:
    # Double quotes mean the same to the shells of all systems.
    return f'"{file}"' if set(file) & set(" &()';") else file
