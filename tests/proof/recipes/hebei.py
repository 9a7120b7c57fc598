"""Hebei (docs/rules/hebei.md): a table for three, where the seat before a is c."""

from proof.recipes.common import dealt, fed, plays_of_all, robbed, several_robbers, waiting
from proof.steer import Recipe

THREE, FOUR = {"players": 3}, {"players": 4, "rotation": False}


def _three(recipe: Recipe) -> Recipe:
    """Recipes are written for three seats, unless they say otherwise."""
    return Recipe(**{**vars(recipe), "knobs": THREE | recipe.knobs})


HEBEI: tuple[Recipe, ...] = tuple(
    _three(recipe)
    for recipe in (
        *plays_of_all(13, 3),
        fed("Ping Hu", "22m345p678s55s79p1z", "2m", "1z", "8p", giver="c", seats=3, draws="??8p"),
        dealt("Dealer Win", "123m456p789s11z46m5m"),
        Recipe(
            "Dealer Win, drawn later",
            {"a": "22m345p678s55s79p1z", "c": "2m"},
            draws=("??8p", "?8p", "8p"),
            play={"a": "win, pung, discard 1z, keep", "c": "discard 2m"},
            hands_played=3,
        ),
        fed("All Pungs", "22m444p666s88s11z9m", "2m", "9m", "8s", giver="c", seats=3),
        waiting("Closed Hand", "123m456p789s11z46m", "5m", seats=3),
        waiting(
            "Closed Hand over matches", "123m456p789s11z46m", "5m", seats=3, hands_played=4, knobs={"rotation": True}
        ),
        waiting(
            "Closed Hand refused on a discard",
            "123m456p789p11s46m",
            "5m",
            seats=3,
            knobs={"closed_hand_on_discard": False},
        ),
        fed(
            "Ping Hu refused on a discard",
            "22m345p678s55s79p1z",
            "2m",
            "1z",
            "8p",
            giver="c",
            seats=3,
            draws=("8p", "?8p"),
        ),
        robbed("Robbing a Kong", "22s35m678p345s88p1z", "2s", "1z", "4m", seats=3),
        robbed(
            "Robbing a Kong, all pay discards",
            "22s35m678p345s88p1z",
            "2s",
            "1z",
            "4m",
            seats=3,
            knobs={"discard_payers": "all"},
        ),
        several_robbers(13, 3),
        several_robbers(13, 4, knobs=FOUR),
        robbed("Robbing a Kong of four", "22s35m678p345s88p1z", "2s", "1z", "4m", knobs=FOUR),
        waiting("Closed Hand at a table of four", "123m456p789s11z46m", "5m", knobs=FOUR),
        Recipe("kongs at a table of four", {"a": "3333m8888s1p"}, play={"a": "concealed kong, keep"}, knobs=FOUR),
        Recipe("the deal passes after a draw", {}, left=1, knobs={"dealer_on_draw": "next"}, hands_played=2),
        Recipe(
            "the winning dealer sits out",
            {"a": "123m456p789s11z46m"},
            draws=("??5m", "?5m"),
            play={"a": "win, keep"},
            knobs={"rotation": True},
            hands_played=3,
        ),
        robbed("Robbing a Kong, closed", "35m678p345s88p123s", "", "", "4m", seats=3),
        fed("Kong-Drawn Win", "22m345p678s55s79m1z", "2m", "1z", "2m", draws="??2m", back="8m", giver="c", seats=3),
        fed("Kong-Drawn Win by an exposed kong", "222m345p678s55s79p", "2m", "", "8p", back="8p", giver="c", seats=3),
        waiting(
            "Kong-Drawn Win by a concealed kong",
            "3333p123m678s5s79m",
            "3p",
            seats=3,
            draws="5s",
            back="8m",
            first="win, concealed kong",
        ),
        fed("Single Hanging Tile", "22m44p66s99s5p1z3z4z6z", "2m4p6s9s", "1z3z4z6z", "5p", giver="c", seats=3),
        fed(
            "Single Hanging Tile, any wait",
            "22m345p678s456s8s1z",
            "2m",
            "1z",
            "8s",
            giver="c",
            seats=3,
            knobs={"single_hanging": "any_single_wait"},
        ),
        waiting(
            "any single wait with four in hand",
            "1111m456p789s2m55z",
            "3m",
            seats=3,
            knobs={"single_hanging": "any_single_wait"},
        ),
        waiting(
            "any single wait of seven pairs",
            "1122m3344p5566s7z",
            "7z",
            seats=3,
            knobs={"single_hanging": "any_single_wait"},
        ),
        waiting("Pure One Suit", "1112345678999m", "5m", seats=3),
        fed("Pure One Suit, open", "22m345m678m55m79m1z", "2m", "1z", "8m", giver="c", seats=3),
        waiting("Mixed One Suit", "123m456m11z22z789m", "2z", seats=3),
        waiting("One Dragon", "123m456m789m11z46p", "5p", seats=3),
        waiting("One Dragon or other runs", "123m456m79m22s345p", "8m", seats=3),
        waiting("Flower Dragon", "123m456p79s11z678p", "8s", seats=3),
        fed("Flower Dragon, open", "13m456p79s11z678p9m", "2m", "9m", "8s", giver="c", seats=3),
        waiting("Seven Pairs", "1122m3344p5566s7z", "7z", seats=3),
        waiting("Seven Pairs or two runs twice", "112233m445566p7s", "7s", seats=3),
        waiting("Mixed Seven Pairs", "112244m1122336z", "6z", seats=3),
        waiting("Pure Seven Pairs", "112244668899m5m", "5m", seats=3),
        waiting("Luxurious Seven Pairs", "1111m3344p5566s7z", "7z", seats=3),
        waiting("Luxurious and pure", "1111m3344m5588m7m", "7m", seats=3),
        waiting("Luxurious and mixed", "1111m3344m1122z7z", "7z", seats=3),
        waiting("Double Luxurious Seven Pairs", "1111m3333p5566s7z", "7z", seats=3),
        waiting("Double Luxurious by the winning tile", "1111m5566s333p22z", "3p", seats=3),
        waiting("Triple Luxurious Seven Pairs", "1111m3333p5555s7z", "7z", seats=3),
        waiting("Thirteen Orphans", "19m19p19s1234567z", "1z", seats=3),
        waiting("Thirteen Orphans, one kind missing", "119m19p19s123456z", "7z", seats=3),
        waiting("cap", "1111m3333p5555s7z", "7z", seats=3, knobs={"cap": 8}),
        waiting("honours only", "11223344556z6z7z", "7z", seats=3),
        Recipe("kong without a win", {"a": "3333m"}, left=2, play={"a": "concealed kong"}),
    )
)
