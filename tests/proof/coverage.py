"""What the proof must have met: every row, refusal, payment rule, rule of play and knob value of a variant."""

from __future__ import annotations

from collections import Counter

import mahjong_env
from proof.batches import knob_values
from proof.payments import RULES

# Reasons that hands in play are never refused for: the table does not ask, which is counted as a rule of play.
NOT_JUDGED = {
    "during his own Fortune Gambit a player wins by self-draw only",
    "while another player's Fortune Gambit lasts, hands are won by self-draw only",
    "a win by flowers needs all eight flowers and seasons exposed",
}

EVERYWHERE = (
    *("won by draw", "won by discard", "drawn, no tile left", "dealer stays", "deal passes on", "a win is passed"),
    *("exposed kong", "added kong", "concealed kong", "several kongs in one turn", "no kong right after a claim"),
    *("no kong without a replacement", "no win right after a claim", "the last discard may only be won on"),
    *("the last discard is won on", "several could win", "win before pung", "pung before chow"),
    *("discard not added to a pung", "kong before chow", "a kong takes the last tile"),
    *("an answer is outranked by a later one", "who could not outrank is not asked"),
    "the nearer one lets the farther one win",
)
OF_VARIANT: dict[str, tuple[str, ...]] = {
    "wuhan": (
        *("won by kong", "a kong could be robbed", "Wild Card Kong", "four alike that may be no kong"),
        *("no claim of a wild tile", "no claim of a Red Dragon", "no chow with a wild tile in hand"),
        *("round wind changes", "a Red Dragon is turned up", "the successor goes round", "several could rob a kong"),
        *("dealer stays after a draw", "deal passes after a draw"),
        "deal passes to the winner, not to the next seat",
    ),
    "hangzhou": (
        *("won by kong", "a kong could be robbed", "no claim of a wild tile", "no chow with a wild tile in hand"),
        *("gambiter's turn", "no claim by the gambiter", "no claim during a gambit", "no added kong in a gambit"),
        *("concealed kong in a gambit", "no win on a discard by the gambiter", "no win on a discard during a gambit"),
        *("no robbing during a gambit", "dice made it 3 Lao", "match ended by points", "several could rob a kong"),
        *("several gambits at once", "the discard that ends a gambit may be claimed", "dealer stays after a draw"),
        "deal passes to the winner, not to the next seat",
        "somebody is out, the dealer's win lets the match go on",
    ),
    "hebei": (
        *("won by kong", "a kong could be robbed", "several could rob a kong", "a person sits out"),
        *("nobody sits out after a draw", "the winning dealer sits out, his seat deals again", "four at the table"),
        *("dealer stays after a draw", "deal passes after a draw"),
    ),
    "taiwan": (
        *("won by kong", "won by flowers", "a kong could be robbed", "asked for Eight Flowers"),
        *("Eight Flowers passed", "drawn, a flower could not be replaced", "discard added to a pung"),
        *("tiles worth more than Eight Flowers", "a first draw after a claim or kong is no Earth"),
        *("round wind changes", "several could rob a kong", "dealer stays after a draw"),
    ),
    "fuzhou": (
        *("won by kong", "a kong could be robbed", "asked before the first turn", "no claim of a wild tile"),
        *("no chow with a wild tile in hand", "drawn, a flower could not be replaced"),
        *("drawn, too few tiles after a kong", "several could rob a kong", "several could rob the gold"),
        *("a flower is turned up before the gold", "the dealer is asked for Heaven and for the swap"),
        *("a first draw after a claim or kong is no Earth", "dealer stays after a draw", "deal passes after a draw"),
    ),
}
EXTRA_PAYMENTS: dict[str, tuple[str, ...]] = {
    "hebei": ("concealed kong at once", "exposed kong at once", "added kong at once", "kong of a drawn hand"),
}


def required(variant: str) -> list[str]:
    """The names in a tally that may not stand at zero, in the order of the summary."""
    rules = mahjong_env.VARIANTS[variant]
    return [
        *(f"row: {row.name}" for row in rules.rows),
        *(f"refused: {reason}" for reason in rules.reasons[2:] if reason not in NOT_JUDGED),
        *(f"paid: {name}" for name in (*RULES[variant], *EXTRA_PAYMENTS.get(variant, ()))),
        *(f"play: {name}" for name in (*EVERYWHERE, *OF_VARIANT[variant])),
        *(f"knob: {name}={value}" for name in rules.knobs for value in knob_values(variant, name)),
        *(f"style: {style}" for style in ("random", "greedy", "steered")),
    ]


def missing(variant: str, tally: Counter[str]) -> list[str]:
    """What stands at zero."""
    return [name for name in required(variant) if not tally[name]]


def report(variant: str, hands: int, tally: Counter[str]) -> str:
    """The summary of a variant, as text."""
    lines = [f"{variant}: {hands} hands compared"]
    known = required(variant)
    names = known + sorted(set(tally) - set(known))
    for beginning, title in TITLES.items():
        listed = [name for name in names if name.startswith(beginning)]
        lines.append(f"  {title}")
        lines += [f"    {tally[name]:>9}  {name[len(beginning) :]}" for name in listed]
    zeros = missing(variant, tally)
    lines.append(f"  at zero: {'; '.join(zeros) if zeros else 'nothing'}")
    return "\n".join(lines)


TITLES = {
    "row: ": "rows scored (entries)",
    "refused: ": "complete hands that may not win, by reason (times judged)",
    "paid: ": "rules of payment (wins)",
    "play: ": "rules of play (times met)",
    "knob: ": "knob values (hands)",
    "style: ": "how it was played (hands)",
}
