"""Colours of pictures, for light and for dark surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from mahjong_env.basics.errors import MahjongError


@dataclass(frozen=True)
class Theme:
    """The colours of one look; each is an SVG colour."""

    cloth: str
    """The table."""
    panel: str
    """The middle of the table."""
    text: str
    faint: str
    """Text that matters less."""
    accent: str
    """Whose turn it is."""
    face: str
    """The front of a tile."""
    edge: str
    back: str
    """The back of a tile."""
    wild: str
    """Border and tint of wild tiles."""
    black: str
    red: str
    green: str
    blue: str


THEMES: Final[Mapping[str, Theme]] = MappingProxyType(
    {
        "light": Theme(
            cloth="#e4efe6",
            panel="#f7fbf7",
            text="#1d2b22",
            faint="#5c6f63",
            accent="#c77700",
            face="#fffdf6",
            edge="#b9b29c",
            back="#5b8f6f",
            wild="#d81b36",
            black="#23262b",
            red="#c4142b",
            green="#1c7a3c",
            blue="#1b4f9c",
        ),
        "dark": Theme(
            cloth="#17261d",
            panel="#20352a",
            text="#eef5ef",
            faint="#9db5a5",
            accent="#ffb545",
            face="#f3efe2",
            edge="#8b8570",
            back="#3d7a57",
            wild="#ff4058",
            black="#23262b",
            red="#bd1028",
            green="#166a33",
            blue="#17468c",
        ),
    }
)


def theme_named(name: str) -> Theme:
    """The theme of a name.

    Raises:
        MahjongError: there is none; the message lists them.
    """
    if name not in THEMES:
        raise MahjongError(f"there is no theme {name!r}; valid are {', '.join(THEMES)}")
    return THEMES[name]
