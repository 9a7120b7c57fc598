"""Tiles and tables as pictures: well-formed, the same at every call, and showing what one person may see."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import mahjong_env
from mahjong_env import MahjongError
from mahjong_env.basics.notation import MeldType
from mahjong_env.basics.tiles import NUM_ALL_KINDS
from mahjong_env.drawing.picture import HEADER, SIZE, table_svg
from mahjong_env.drawing.table import HIDDEN, read_table, seen_table
from mahjong_env.drawing.tiles import THEMES, text_svg, tile_name, tile_svg
from mahjong_env.viewer.story import examples_told
from support.marks import variants

SVG = "{http://www.w3.org/2000/svg}"


def engine_after(variant, steps, seed=3, **settings):
    """An engine of one game some random steps on."""
    engine, rng = mahjong_env.make_engine(variant, 1, seed=seed, **settings), np.random.default_rng(seed)
    for _ in range(steps):
        if engine.seat_to_act[0] < 0:
            break
        engine.step([rng.choice(np.flatnonzero(engine.action_mask[0]))])
    return engine


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("is_wild", [False, True])
def test_every_tile_has_a_face_of_its_own(theme, is_wild):
    faces = [tile_svg(kind, theme=theme, is_wild=is_wild) for kind in [*range(NUM_ALL_KINDS), None]]
    assert len(set(faces)) == NUM_ALL_KINDS + 1
    for face in faces:
        ET.fromstring(f"<svg>{face}</svg>")


def test_tiles_have_names_in_words():
    assert [tile_name(kind) for kind in (0, 13, 33, 41)] == ["1 of Characters", "5 of Dots", "Red Dragon", "Season 4"]
    assert len({tile_name(kind) for kind in range(NUM_ALL_KINDS)}) == NUM_ALL_KINDS


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(MahjongError, match="there is no tile 42; kinds are 0 to 41"):
        tile_svg(42)
    with pytest.raises(MahjongError, match="there is no theme 'sepia'; valid are light, dark"):
        tile_svg(3, theme="sepia")


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_what_pictures_say_is_drawn_without_question_marks(variant):
    rules, examples = mahjong_env.rules(variant), examples_told(mahjong_env.rules(variant)).values()
    said = [rules.title, rules.chinese, *rules.wild_words, *rules.deal_words(2, 7), *(row.name for row in rules.rows)]
    said += [text for one in examples for text, _ in (one["formula"], *one["shares"])]
    assert not {one for one in "".join(said) if text_svg(one, 0, 0, 9, "red") == text_svg("?", 0, 0, 9, "red")}


def test_a_name_cannot_break_a_picture():
    table = replace(read_table(engine_after("hebei", 3)), title="Rock & <Roll>")
    root = ET.fromstring(table_svg(table))
    assert root.findtext(f"{SVG}title") == "Rock & <Roll> mahjong, hand 1"


@pytest.mark.parametrize("variant", variants("hebei", "taiwan"))
@pytest.mark.parametrize("theme", THEMES)
def test_tables_are_drawn_at_every_moment(variant, theme):
    engine, rng = mahjong_env.make_engine(variant, 1, seed=5), np.random.default_rng(5)
    while engine.seat_to_act[0] >= 0:
        picture = table_svg(read_table(engine), theme=theme, event="an event")
        root = ET.fromstring(picture)
        used = {use.get("href")[1:] for use in root.iter(f"{SVG}use")}
        defined = {group.get("id") for group in root.iter(f"{SVG}g")} - {None}
        assert used == defined
        assert root.get("viewBox") == f"0 0 {SIZE} {SIZE + HEADER}"
        engine.step([rng.choice(np.flatnonzero(engine.action_mask[0]))])
    assert picture == table_svg(read_table(engine), theme=theme, event="an event") or engine.seat_to_act[0] < 0


@pytest.mark.parametrize("variant", mahjong_env.VARIANTS)
def test_a_table_holds_what_the_engine_holds(variant):
    for steps in (0, 15, 60):
        engine = engine_after(variant, steps)
        table, state = read_table(engine), engine.state
        discards, slots = engine.view(seats=0).discards, [0, 1, 3] if engine.num_seats == 3 else [0, 1, 2, 3]
        places = [place for place in table.places if place is not None]
        assert len(places) == engine.num_seats
        for seat, place in enumerate(places):
            held = np.bincount([*place.hand, *([] if place.drawn is None else [place.drawn])], minlength=34)
            assert held.tolist() == state.hand[0, seat].tolist()
            assert len(place.melds) == state.num_melds[0, seat]
            lying = [one.kind for one in place.river if not one.taken]
            assert lying == state.lying_discards(0, seat).tolist()
            assert np.bincount(lying, minlength=34).tolist() == discards[0, slots[seat]].tolist()
            assert len(place.river) == state.river_size[0, seat]
            assert place.points == engine.points[0, seat]
        assert [place.is_dealer for place in places] == [seat == engine.dealer[0] for seat in range(len(places))]


def test_others_tiles_are_face_down_for_a_person():
    engine = engine_after("hangzhou", 50)
    for person in range(4):
        table = seen_table(engine.view(seats=person))
        own, *others = table.places
        assert own.name == f"player_{person}"
        assert HIDDEN not in own.hand
        assert all(set(place.hand) <= {HIDDEN} and place.drawn in (None, HIDDEN) for place in others)
        picture = table_svg(table)
        assert picture.count('href="#light-back"') >= sum(len(place.hand) for place in others)


def test_melds_lie_as_they_were_made():
    deal = mahjong_env.Deal(hands=("1234m", "11m", "", "23m"), dealer=0)
    engine = mahjong_env.make_engine("wuhan", 1, seed=2)
    engine.reset(seed=2, deals=deal)
    engine.step([mahjong_env.action("discard 1m")])
    engine.step([mahjong_env.action("pung")])
    meld = read_table(engine).places[1].melds[0]
    assert (meld.type, meld.tiles, meld.giver, meld.claimed) == (MeldType.PUNG, (0, 0, 0), 3, 0)
    # The river of the giver keeps its shadow, and says who has it.
    assert read_table(engine).places[0].river == ((0, False, 1),)
    assert seen_table(engine.view(seats=1)).places[3].river == ((0, False, 1),)
    assert re.search(r'rotate\(-90\)"><use href="#light-1m"', table_svg(read_table(engine)))


def test_nobody_sits_across_at_a_table_for_three():
    table = read_table(engine_after("hebei", 30))
    assert table.places[2] is None
    assert [place.name for place in table.places if place] == ["player_0", "player_1", "player_2"]
    seen = seen_table(engine_after("hebei", 30).view(seats=2))
    assert [place.name for place in seen.places if place] == ["player_2", "player_0", "player_1"]
    rotating = read_table(engine_after("hebei", 5, rotation=True, num_hands=4))
    assert (rotating.sits_out, rotating.num_hands) == ((("player_3", 50),), 4)


def test_pictures_become_pixels():
    pytest.importorskip("resvg_py")
    from mahjong_env.drawing.picture import pixels, png_bytes

    picture = table_svg(read_table(engine_after("fuzhou", 20)))
    array = pixels(picture, width=250)
    assert (array.shape, array.dtype) == ((round((SIZE + HEADER) / 4), 250, 3), np.uint8)
    assert len(np.unique(array.reshape(-1, 3), axis=0)) > 100
    assert png_bytes(picture).startswith(b"\x89PNG")
