"""The pictures of the documentation are those that the code draws, and small."""

import pytest

from tools.pictures import FOLDER, LOGO, fingerprint, fingerprint_of, logo, pictures


@pytest.mark.thorough
def test_pictures_are_up_to_date():
    drawn = pictures()
    kept = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.svg")}
    assert kept == drawn, "run `make pictures`"
    assert LOGO.read_text(encoding="utf-8") == logo(), "run `make pictures`"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_moving_picture_shows_what_is_drawn_now(theme):
    pytest.importorskip("PIL")
    path = FOLDER / f"game-{theme}.gif"
    assert fingerprint_of(path) == fingerprint(theme), "run `make pictures`"
    assert path.stat().st_size < 1_000_000
