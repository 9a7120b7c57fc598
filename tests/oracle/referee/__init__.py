"""The referee: a second implementation of the variants, slow, obvious and scalar.

It is written from the rule pages alone (docs/rules), in plain Python, shares nothing with the engine (not its tables,
not its predicates) and is replayed beside it over whole games. Comments cite headings of the pages: "hebei.md#ping-hu".

    ref = Referee("hebei", knobs={"players": 4}, num_hands=2)
    ref.deal(Start(hands=..., wall=...))
    while not ref.match_over:
        if ref.wants_deal:
            ref.deal(Start(...))
        else:
            rewards = ref.apply(choose(ref.to_act, ref.legal()))
"""

from .fuzhou import Fuzhou
from .hangzhou import Hangzhou
from .hebei import Hebei
from .mcr import Mcr
from .records import Result, Start
from .situation import Verdict, situation_from_text
from .table import Referee
from .taiwan import Taiwan
from .wuhan import Wuhan

VARIANTS = {variant.name: variant for variant in (Wuhan, Hangzhou, Hebei, Taiwan, Fuzhou, Mcr)}


def score(variant, **arguments):
    """The Verdict on a described hand; it unpacks as (legal, rows, points, payments).

    The arguments are those of the public `score`; what is no fact of the situation is a knob of the variant.
    """
    chosen = VARIANTS[variant]
    knobs = {name: arguments.pop(name) for name in list(arguments) if name in chosen.knob_defaults}
    rules = chosen(knobs)
    return rules.score(situation_from_text(rules, **arguments))


__all__ = ["VARIANTS", "Referee", "Result", "Start", "Verdict", "score"]
