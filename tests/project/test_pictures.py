"""The pictures of the documentation are those that the code draws."""

from scripts.pictures import FOLDER, pictures


def test_pictures_are_up_to_date():
    drawn = pictures()
    kept = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.svg")}
    assert kept == drawn, "run `make pictures`"
