"""Fuzhou (docs/rules/fuzhou.md). The gold is ``w``; where it is named, the tile turned up is known."""

from proof.recipes.common import dealt, fed, plays_of_all, robbed, several_robbers, waiting
from proof.steer import Recipe

STREAK = (0, 0, 1, 3)
RUNS = "123m456p789s234s11p"
MIXED = "123m456p789s222s11p"

FUZHOU: tuple[Recipe, ...] = (
    *(recipe for recipe in plays_of_all(16) if "z" not in "".join(recipe.hands.values())),
    waiting("All Sequences", f"{RUNS}56m", "7m", streak=STREAK),
    waiting("plain", f"{MIXED}57m", "6m", streak=STREAK),
    dealt("Blessing of Heaven", f"{MIXED}57m6m", streak=STREAK),
    dealt("Blessing of Heaven passed, then taken", f"{MIXED}57m6m", play={"a": "pass, win"}),
    dealt("Blessing of Heaven passed for good", f"{MIXED}57m6m", play={"a": "pass, keep"}),
    waiting("Blessing of Earth", f"{MIXED}57m", "6m", draws="6m"),
    waiting("Blessing of Earth lost to a flower", f"{MIXED}57m", "6m", draws="F1", back="6m"),
    Recipe(
        "Blessing of Earth after opening flowers",
        {"b": "F1F2123m456p789s222s11p"},
        back="57m",
        draws="6m",
        play={"b": "win"},
    ),
    waiting("Robbing the Gold", f"{MIXED}57m", "?", wild="6m"),
    waiting("Robbing the Gold passed", f"{MIXED}57m", "?", wild="6m", play={"a": "pass, win, keep"}),
    waiting("Robbing the Gold with golds", "123m456p789s22s11pww7m", "?", wild="6m"),
    Recipe(
        "several could rob the gold",
        {"b": f"{MIXED}57m", "c": "123p456p789p444s33s57m"},
        wild="6m",
        play={"b": "pass", "c": "win"},
    ),
    Recipe("the dealer's swap", {"a": f"{MIXED}57m9s"}, wild="6m", play={"a": "win"}, streak=STREAK),
    Recipe("the dealer's swap passed", {"a": f"{MIXED}57m9s"}, wild="6m", play={"a": "pass, keep"}),
    Recipe("the dealer's swap with a gold", {"a": "123m456p789s222s1p57m9sw"}, wild="6m", play={"a": "win"}),
    Recipe("the dealer's best swap", {"a": "123m456p789s234s11p57m8m"}, wild="6m", play={"a": "pass, win"}),
    Recipe("the dealer's best swap, taken", {"a": "123m456p789s234s111p5m7m"}, wild="6m", play={"a": "win"}),
    Recipe("Heaven before a robber", {"a": f"{RUNS}56m7m", "b": "123p456p789p444s33s"}, play={"a": "win"}),
    fed("Golden Pair", "22m456p789s222s46mww1p", "2m", "1p", "5m", draws="5m", streak=STREAK, first="pung, win"),
    fed("Golden Dragon", "22m456p789s222s4mwww1p", "2m", "1p", "4m", draws="4m", streak=STREAK, first="pung, win"),
    fed(
        "Three Gold Knockdown",
        "22m456p789s22s3m8mwww1p",
        "2m",
        "1p",
        "9m",
        draws="9m",
        streak=STREAK,
        first="pung, win",
    ),
    waiting(
        "everybody pays for a discard", f"{MIXED}57m", "6m", draws=("?6m", "??6m"), knobs={"discard_payers": "all"}
    ),
    waiting("Golden Pair or a sum", "123m456p789s234s45mww", "6m", streak=STREAK),
    waiting("Three Gold Knockdown", "123m456p789s22s11pwww", "?", streak=STREAK),
    waiting("Golden Dragon", "123m456p789s222s4mwww", "4m", streak=STREAK),
    waiting("Golden Dragon or a sum", "123m456p789s234s4mwww", "4m", streak=STREAK),
    waiting("the single best special", "123m456p789s234s4mwww", "4m", knobs={"specials": "highest"}),
    waiting("the single best of others", f"{RUNS}56m", "7m", draws="7m", knobs={"specials": "highest"}),
    waiting("one gold", "123m456p789s222s11p5mw", "6m"),
    fed("Open Kong, exposed", "222m345p678s55s123s79m", "2m", "", "8m", back=("?", "8m")),
    fed(
        "Open Kong, added", "22m345p678s55s123s79m1p", "2m", "1p", "2m", draws=("???2m", "???2m???8m"), back=("?", "8m")
    ),
    waiting(
        "Concealed Kong",
        "3333p123m456m789s5s79m",
        "5s",
        draws="5s",
        back=("8m", "?"),
        first="win, concealed kong",
        streak=STREAK,
    ),
    robbed("robbing a kong", "22s35m678p345s88p123s1p", "2s", "1p", "4m", knobs={"rob_kong": True}),
    robbed("a kong cannot be robbed", "22s35m678p345s88p123s1p", "2s", "1p", "4m", knobs={"rob_kong": False}),
    robbed(
        "robbing a kong, all pay",
        "22s35m678p345s88p123s1p",
        "2s",
        "1p",
        "4m",
        knobs={"rob_kong": True, "discard_payers": "all"},
    ),
    several_robbers(16, knobs={"rob_kong": True}),
    Recipe("the dealer stays after a draw", {}, left=1, knobs={"dealer_on_draw": "stay"}, hands_played=2),
    Recipe(
        "Full Bloom of flowers",
        {"a": "F1F2F3F4123m456p789s222s"},
        back="11p57m",
        draws=("???6m", "6m"),
        play={"a": "win, keep"},
        streak=STREAK,
    ),
    Recipe(
        "Full Bloom of seasons",
        {"b": "S1S2S3S4123m456p789s222s"},
        back="11p57m",
        draws=("6m", "????6m"),
        play={"b": "win, keep"},
    ),
    Recipe(
        "Full Bloom of honours",
        {"a": "1111z123m456p789s222s"},
        back="11p57m",
        draws=("???6m", "6m"),
        play={"a": "win, keep"},
        knobs={"full_bloom": "on_top"},
    ),
    Recipe(
        "Full Bloom in all",
        {"a": "5555z123m456p789s222s"},
        back="11p57m",
        draws=("???6m", "6m"),
        play={"a": "win, keep"},
        knobs={"full_bloom": "total"},
    ),
    Recipe(
        "One Flower",
        {"a": "7z123m456p789s222s11p5m"},
        back="7m",
        draws=("???6m", "6m"),
        play={"a": "win, keep"},
        streak=STREAK,
    ),
    Recipe(
        "One Flower and All Sequences",
        {"b": "F3123m456p789s234s11p5m"},
        back="7m",
        draws=("????6m", "?6m"),
        play={"b": "win, keep"},
    ),
    Recipe(
        "a gold discarded, self-draw only",
        {"a": f"{MIXED}57mw"},
        draws="6m?6m6m",
        play={"a": "pass, discard w, win, keep"},
    ),
    Recipe(
        "a gold discarded, no robbing",
        {"a": "35m678p345s88p123s456sw", "d": "4m", "c": "44m4p"},
        draws="??? ????? 4m",
        knobs={"rob_kong": True},
        play={"a": "discard w, win, keep", "d": "discard 4m", "c": "pung, discard 4p, added kong"},
    ),
    waiting("a discarded gold", f"{MIXED}57m", "w", draws=("?w", "??w"), play={"b": "discard w", "c": "discard w"}),
    Recipe("no claim of a gold", {"a": "ww", "b": "w"}, dealer="b", play={"b": "discard w"}),
    Recipe(
        "no chow with a gold", {"a": "3mw", "d": "5m"}, wild="4m", dealer="d", play={"a": "chow", "d": "discard 5m"}
    ),
    Recipe("no kong of golds", {"a": "www"}, play={"a": "keep"}),
    *(
        Recipe(
            f"too few tiles after a concealed kong, {left} left",
            {"a": "3333m", "b": "55p"},
            left=left,
            back="5p",
            play={"a": "concealed kong, discard 5p"},
        )
        for left in (1, 2, 4, 5, 6, 7)
    ),
    Recipe("two kongs at the end", {"a": "3333m5555p"}, left=(4, 5, 6), play={"a": "concealed kong, keep"}),
    Recipe(
        "a win on the last discard after a kong",
        {"a": "9999p", "b": f"{MIXED}57m"},
        left=4,
        back="6m",
        play={"a": "concealed kong, discard 6m", "b": "win"},
    ),
    Recipe("a flower that cannot be replaced", {"a": "1m"}, draws="F1", dealer="d", left=1),
    Recipe(
        "a flower for a kong that cannot be replaced", {"a": "3333m"}, left=1, back="F1", play={"a": "concealed kong"}
    ),
    Recipe("the dealer over matches", {"a": f"{MIXED}57m"}, draws="????6m", play={"a": "win, keep"}, hands_played=4),
)
