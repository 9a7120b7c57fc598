"""What a bot of Botzone has been told and has answered in a hand, made of what a seat of a view sees.

Its judge asks all players in every turn; here that is one request for every event that it would have told, in order,
and what the seat answered to each of them, which follows from what happened next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from mahjong_env import View
from mahjong_env.basics.tiles import NO_TILE
from mahjong_env.records.botzone import TILES
from mahjong_env.state.arrays import Event

_NOTHING: Final = [Event.NOTHING, -1, NO_TILE, NO_TILE, NO_TILE]
_NOW: Final = 10**6  # what is still in the hand is used then


class Seen(NamedTuple):
    """What was said at a table.

    Attributes:
        requests: what the seat was told; the last one is to be answered.
        responses: what it answered to all of them but the last.
        has_claimed: its answer was a chow or a pung, which it was given; what it owes is the discard named with it.
        draws: how often it has drawn a tile that was not a flower.
    """

    requests: list[str]
    responses: list[str]
    has_claimed: bool
    draws: int


def seen_by(view: View, row: int, drawn: Mapping[int, int]) -> Seen:
    """What was said at the table of a row.

    Args:
        view: the views of seats that are to act.
        row: the seat.
        drawn: by number of the draw, what the seat drew, as far as that is known; other draws are made up.
    """
    events = [event for event in view.events[row].tolist() if event[0]]
    at_deal = next((at for at, event in enumerate(events) if event[0] != Event.FLOWER), len(events))
    flowers: list[list[int]] = [[], [], [], []]
    players = view.house_wind[row].tolist()
    for _, slot, kind, *_ in events[:at_deal]:
        flowers[players[slot]].append(kind)
    # The dealer's first tile, which it has from the deal, is a draw there; a flower is told instead of its draw.
    events = [[Event.DRAW, int(view.dealer[row]), NO_TILE, NO_TILE, NO_TILE], *events[at_deal:]]
    following = [*events[1:], _NOTHING]
    events = [
        event
        for event, after in zip(events, following, strict=True)
        if not (event[0] == Event.DRAW and after[0] == Event.FLOWER)
    ]
    dealt, draws = _own_tiles(view, row, events, drawn)
    names = [TILES[kind] for kind in (*dealt, *(kind for own in flowers for kind in own))]
    told = " ".join(["1", *(str(len(own)) for own in flowers), *names])
    requests, responses = [f"0 {players[0]} {int(view.round_wind[row])}", told], ["PASS", "PASS"]
    own_draws = iter(draws)
    for at, (event, slot, kind, *_) in enumerate(events):
        after = [*events[at + 1 : at + 3], _NOTHING, _NOTHING]
        claims, who = event in (Event.CHOW, Event.PUNG), f"3 {players[slot]}"
        if claims and after[0] is _NOTHING:
            return Seen(requests, responses[: len(requests) - 1], True, len(draws))
        if event == Event.DRAW:
            requests.append(f"2 {TILES[next(own_draws)]}" if slot == 0 else f"{who} DRAW")
            responses.append(_turn(after[0]) if slot == 0 else "PASS")
        elif claims:
            requests.append(f"{who} CHI {TILES[kind + 1]}" if event == Event.CHOW else f"{who} PENG")
        elif event == Event.DISCARD:
            if at and events[at - 1][0] in (Event.CHOW, Event.PUNG):  # it is told with the claim
                requests[-1] += f" {TILES[kind]}"
            else:
                requests.append(f"{who} PLAY {TILES[kind]}")
            responses.append(_claim(*after[:2]))
        else:
            word = {Event.FLOWER: "BUHUA", Event.ADDED_KONG: "BUGANG"}.get(event)
            requests.append(f"{who} GANG" if word is None else f"{who} {word} {TILES[kind]}")
            responses.append("PASS")
    return Seen(requests, responses[: len(requests) - 1], False, len(draws))


def _turn(after: list[int]) -> str:
    """What the seat did with a tile that it drew."""
    verb = {Event.DISCARD: "PLAY", Event.CONCEALED_KONG: "GANG", Event.ADDED_KONG: "BUGANG"}.get(after[0], "PASS")
    return verb if verb == "PASS" else f"{verb} {TILES[after[2]]}"


def _claim(after: list[int], thrown: list[int]) -> str:
    """What the seat answered to a discard."""
    event, slot, kind, *_ = after
    if slot != 0 or event not in (Event.CHOW, Event.PUNG, Event.EXPOSED_KONG):
        return "PASS"
    if event == Event.EXPOSED_KONG:
        return "GANG"
    verb = f"CHI {TILES[kind + 1]}" if event == Event.CHOW else "PENG"
    return verb if thrown is _NOTHING else f"{verb} {TILES[thrown[2]]}"


def _own_tiles(view: View, row: int, events: list[list[int]], drawn: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """The tiles that the seat was dealt, and what it has drawn since, in order.

    What it has held is known, but not what of it was drawn when: `drawn` says so, or its discard, if that is seen to be
    what it had just drawn. Of other draws it is only sure that the tile was not used before; the latest used is taken.
    """
    uses = [(_NOW, kind) for kind, count in enumerate(view.hand[row].tolist()) for _ in range(count)]
    draws: list[int | None] = []
    for at, (event, slot, kind, detail, _) in enumerate(events):
        if slot != 0:
            continue
        if event == Event.DRAW:
            _, owner, thrown, was_drawn, _ = [*events[at + 1 : at + 2], _NOTHING][0]
            is_seen = owner == 0 and was_drawn == 1 and events[at + 1][0] == Event.DISCARD
            draws.append(drawn.get(len(draws), thrown if is_seen else None))
            continue
        number = {Event.DISCARD: 1, Event.ADDED_KONG: 1, Event.PUNG: 2, Event.EXPOSED_KONG: 3, Event.CONCEALED_KONG: 4}
        used = [kind + step for step in range(3) if kind + step != detail] if event == Event.CHOW else []
        uses += [(at, each) for each in used or [kind] * number.get(event, 0)]
    uses.sort()
    for known in draws:
        if known is not None:
            uses.pop(max(at for at, (_, used) in enumerate(uses) if used == known))
    made_up = [uses.pop()[1] for known in draws if known is None]  # the latest draw was used last
    return [kind for _, kind in uses], [made_up.pop() if known is None else known for known in draws]
