"""SVG as pixels. Needs the extra `render`: resvg draws without a screen, without fonts and without a browser."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.errors import MissingExtraError


def png_bytes(svg: str, width: int | None = None) -> bytes:
    """A picture as a PNG file.

    Args:
        svg: a whole SVG document.
        width: in pixels; None: as wide as the document says.

    Raises:
        MissingExtraError: resvg is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise _missing("resvg-py") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True))


def pixels(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """A picture as an array.

    Args:
        svg: a whole SVG document.
        width: in pixels; None: as wide as the document says.

    Returns:
        [height, width, 3] uint8, red, green and blue; a fresh array.

    Raises:
        MissingExtraError: resvg or Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise _missing("pillow") from None
    image: Any = Image.open(io.BytesIO(png_bytes(svg, width)))
    return np.array(image.convert("RGB"))


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(f"pictures need {package}: pip install 'mahjong-env[render]'")
