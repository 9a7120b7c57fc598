"""The frames of a recorded match for the viewer, and the reasons why somebody pays or is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any, Final

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.notation import parse_kind
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import Discard, Place, Table, read_table
from mahjong_env.drawing.text import chinese_names, standings
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.records import GameRecord, Replay
from mahjong_env.rulebook.drawing import LANGUAGES, situation_of
from mahjong_env.rulebook.page import meanings, row_examples
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.receipt import Receipt
from mahjong_env.state.arrays import Phase

Reason = tuple[str, bool]
"""A key of `REASONS`, and whether the share differs because this person is the dealer; ("", False) for no reason."""

NOTHING: Reason = ("", False)
REASONS: Final[Mapping[str, tuple[str, str]]] = {
    "winner": ("won the hand", "胡牌"),
    "draw": ("everybody pays for a self-draw", "自摸 各家都付"),
    "flowers": ("everybody pays for a win by flowers", "花胡 各家都付"),
    "gave": ("gave the winning tile", "点炮"),
    "robbed": ("the winning tile was robbed from this player's kong", "被抢杠"),
    "everyone": ("everybody pays a share", "各家都付"),
    "responsible": ("is responsible for the win: the others pay nothing", "包牌 其他家不付"),
    "kong": ("made the kong", "开杠"),
    "for kong": ("pays for the kong", "付杠钱"),
    "gave kong": ("gave the fourth tile", "放杠"),
}
DEALERS_SHARE: Final = ("; the dealer's share differs", " (庄家的份不同)")


def reason_in_words(reason: Reason, language: int = 0) -> str:
    """Return a reason in English (0) or Chinese (1)."""
    word, is_dealers = reason
    return f"{REASONS[word][language]}{DEALERS_SHARE[language] if is_dealers else ''}" if word else ""


def reasons_of_a_win(
    payments: Sequence[int],
    winner: int,
    source: str,
    giver: int,
    dealer: int,
    held: Mapping[int, int],
    for_others: Sequence[bool] = (),
) -> list[Reason]:
    """Return the reason why each person pays for a win, or is paid.

    Args:
        payments: [P] the points that each person receives or, below 0, pays.
        winner: the person who won; -1 after a drawn hand.
        source: "draw", "discard", "kong" (robbed) or "flowers".
        giver: the person who gave the winning tile, -1 for nobody.
        dealer: the person who dealt.
        held: the points of the people at the table before the win.
        for_others: [P] whether each person owes more than a share of their own (`Receipt.for_others`). Where this is
            not known, it is inferred from who pays and who had points.

    Returns:
        [P] reasons, each of them "winner", "draw", "flowers", "gave", "robbed", "everyone", "responsible" or none.
    """
    if winner < 0:
        return [NOTHING] * len(payments)
    payers = [person for person in held if person != winner and payments[person] < 0]
    # Under rules by which points may not fall below zero, some may have had nothing to pay with.
    could_pay = [person for person, points in held.items() if person != winner and (points or not any(held.values()))]
    everybody_pays = source in ("draw", "flowers")
    somebody_is_spared = any(person not in payers for person in could_pay)
    is_responsible = somebody_is_spared and (everybody_pays or len(payers) == 1)
    by_giver = "robbed" if source == "kong" else "gave"
    everyone = source if everybody_pays else "everyone"
    responsible = for_others or [is_responsible] * len(payments)
    words = {
        person: by_giver if person == giver else "responsible" if responsible[person] else everyone for person in payers
    }

    def reason(person: int) -> Reason:
        if person == winner and payments[person]:
            return "winner", False
        if person not in payers:
            return NOTHING
        # Only those who pay for the same reason are compared: in MCR, for one, the giver's share differs from the rest.
        shares = {payments[other] for other, word in words.items() if word == words[person]}
        return words[person], person == dealer and len(shares) > 1

    return [reason(person) for person in range(len(payments))]


def reasons_of_a_kong(payments: Sequence[int], event: Mapping[str, Any]) -> list[Reason]:
    """Return the reason why each person pays or is paid for a kong: "kong", "for kong", "gave kong" or none.

    Args:
        payments: [P] the points that each person receives or, below 0, pays at once.
        event: the event that has just happened.
    """
    is_claimed = event.get("type") in ("kong", "claimed kong")
    payers = sum(paid < 0 for paid in payments)

    def reason(paid: int) -> Reason:
        if not paid:
            return NOTHING
        return ("kong" if paid > 0 else "gave kong" if is_claimed and payers == 1 else "for kong"), False

    return [reason(paid) for paid in payments]


Frame = dict[str, Any]
"""One moment of a match.

It has ``table`` (`Table` as a dictionary, all hands open), ``event`` and ``points`` by person. If points have changed,
it has ``paid`` by person. If the record has a note on the next choice, it has ``note`` and the action that was
``chosen``. If the person who acts next is asked out of turn, ``in_turn`` is the person whose turn it is for all
others."""


def frames_of(record: GameRecord) -> Iterator[Frame]:
    """Play a record and yield its frames.

    Raises:
        RecordError: it cannot be played, or does not end as it says.
    """
    replay = Replay(record)
    engine = replay.engine
    yield _frame(replay, {"type": "start"})
    for number, action in enumerate(record.actions):
        person, before = int(engine.seat_to_act[0]), read_table(engine)
        offered = before.offered[0]
        result = replay.step()
        event = event_of(person, action, offered)
        rewards = result.rewards[0].tolist()
        if not result.hand_over[0]:
            yield _frame(replay, event, rewards)
            continue
        yield end_of_hand(result, before, engine.rules, event)
        if number + 1 < len(record.actions):
            yield _frame(replay, {"type": "start"})
    for _ in replay:  # nothing is left to play; this checks the end
        pass


def _frame(replay: Replay, event: dict[str, Any], rewards: list[int] | None = None) -> Frame:
    frame: Frame = {
        "table": asdict(read_table(replay.engine)),
        "event": event,
        "points": replay.engine.points[0].tolist(),
        "to_act": int(replay.engine.seat_to_act[0]),
    }
    in_turn = _in_turn(replay.engine)
    if in_turn != frame["to_act"]:
        frame["in_turn"] = in_turn
    if rewards is not None and any(rewards):
        frame["paid"] = rewards
        frame["reasons"] = reasons_of_a_kong(rewards, event)
    note = replay.record.notes.get(replay.position)
    if note:
        actions = replay.record.actions
        frame["note"] = dict(note)
        frame["chosen"] = ACTIONS[actions[replay.position]] if replay.position < len(actions) else ""
    return frame


def _in_turn(engine: Engine) -> int:
    """Return the person whose turn it is in the eyes of those who are not asked (`View.turn`); -1 after the match."""
    state = engine.state
    if state.phase[0] == Phase.OVER:
        return -1
    is_claim = state.phase[0] == Phase.CLAIM
    seat = (int(state.offered_by[0]) + 1) % engine.num_seats if is_claim else int(state.turn[0])
    return int(state.person_at[0, seat])


def event_of(person: int, action: int, offered: int) -> dict[str, Any]:
    """Return the event of an action: its verb, and the tile that it is about.

    Args:
        person: the person who has chosen the action.
        action: the number of the action.
        offered: the kind that was offered, -1 for none.
    """
    verb, _, last = ACTIONS[action].rpartition(" ")
    if last in KIND_NAMES:
        return {"type": verb, "person": person, "tile": KIND_NAMES.index(last)}
    about = {"tile": offered} if offered >= 0 else {}
    return {"type": ACTIONS[action], "person": person, **about}


def receipt_told(receipt: Receipt | None, rules: Rules) -> dict[str, Any]:
    """Return how a win adds up, as plain values for pages; only empty ``rows`` after a drawn hand.

    Returns:
        ``rows`` (name, Chinese name, value of one entry, number of entries), ``formula`` and ``shares`` in English and
        Chinese, and ``groups`` of the hand: (kinds, place of the winning tile or -1, whether the group is melded).
    """
    if receipt is None:
        return {"rows": []}
    chinese = chinese_names(rules)
    return asdict(receipt) | {
        "rows": [[name, chinese.get(name, ""), value, times] for name, value, times in receipt.rows],
        "groups": [[group.kinds, group.winning, group.melded] for group in receipt.groups],
    }


@cache
def examples_told(rules: Rules) -> dict[str, dict[str, Any]]:
    """Return, for each scoring row, its meaning and an example with its receipt, as plain values for pages."""
    when = meanings(rules)
    return {
        name: {
            **receipt_told(scored.receipt, rules),
            "meaning": when[name],
            "situation": [situation_of(rules, arguments, language) for language in LANGUAGES],
            "value": scored.points,
            "wild": parse_kind(arguments["wild"]) if "wild" in arguments else -1,
        }
        for name, (arguments, scored) in row_examples(rules).items()
    }


def _discarded(place: Place, discard: Mapping[str, Any], rules: Rules) -> Place:
    """Return a place after a discard; it is unchanged if another person discarded."""
    if place.person != discard["person"]:
        return place
    kind, held = discard["tile"], [*place.hand, *([] if place.drawn is None else [place.drawn])]
    held.remove(kind)
    thrown = Discard(kind, rules.shows_drawn and kind == place.drawn, 0)
    return replace(place, hand=tuple(sorted(held)), drawn=None, river=(*place.river, thrown))


def end_of_hand(result: StepResult, before: Table, rules: Rules, last: dict[str, Any] | None = None) -> Frame:
    """Return the frame of the end of a hand: its rows, and who pays what and why.

    Args:
        result: the result of the step in which the hand ended.
        before: the table before that step, all hands open; the next hand may have been dealt since then.
        rules: the rules by which it was played.
        last: the event of that step; None to leave it out.
    """
    outcome = result.outcome
    payments, winner, giver = outcome.payments[0].tolist(), int(outcome.winner[0]), int(outcome.from_seat[0])
    if last is not None and last["type"] == "discard":  # nobody could claim it, so that the table does not show it yet
        thrown = tuple(place and _discarded(place, last, rules) for place in before.places)
        before = replace(before, places=thrown)
    places = [place for place in before.places if place is not None]
    dealer = next((place.person for place in places if place.is_dealer), -1)
    held = {place.person: place.points for place in places}
    receipt = outcome.receipts[0]
    for_others = () if receipt is None else receipt.for_others
    event = {
        "type": "end",
        "last": last,
        "winner": winner,
        "source": str(outcome.source[0]),
        "from": giver,
        "tile": int(outcome.tile[0]),
        "value": int(outcome.value[0]),
        **receipt_told(receipt, rules),
        "payments": payments,
        "reasons": reasons_of_a_win(payments, winner, str(outcome.source[0]), giver, dealer, held, for_others),
    }
    points, table = outcome.points[0].tolist(), asdict(before)
    for place in filter(None, table["places"]):
        place["points"] = points[place["person"]]
    persons = [place and place["person"] for place in table["places"]]
    table["turn"] = persons.index(winner) if winner >= 0 else None
    if result.done[0]:
        event["standings"] = standings(points)
    return {"table": table, "event": event, "points": points, "paid": result.rewards[0].tolist()}
