"""Simple players and deals, to take whole games through the referee."""

from .records import Start


def shuffled_start(referee, rng):
    """A Start from a shuffle of its own."""
    variant = referee.variant
    wall = list(variant.tiles)
    rng.shuffle(wall)
    dealer = referee.dealer_seat if referee.hands_played else rng.randrange(variant.seats)
    hands = []
    for seat in range(variant.seats):
        count = variant.dealt + (seat == dealer and variant.dealer_is_dealt_first_draw)
        hands.append([wall.pop() for _ in range(count)])
    indicators = []
    if variant.has_indicator:
        indicators.append(wall.pop())
        while indicators[-1] in variant.flower_kinds:
            indicators.append(wall.pop())
    return Start(
        hands=hands,
        wall=wall,
        indicators=indicators,
        dealer=dealer,
        house_dice=sum(rng.randint(1, 6) for _ in range(3)),
        lao_dice=rng.random() < 0.3,
    )


def any_action(referee, rng):
    return rng.choice(sorted(referee.legal()))


def worth_keeping(tile, hand, wild):
    """How much a tile is connected to the rest of a hand."""
    if tile == wild:
        return 99
    worth = 3 * (hand.count(tile) - 1)
    if tile[1] in "mps":
        for step, value in ((1, 2), (2, 1)):
            for near in (int(tile[0]) - step, int(tile[0]) + step):
                worth += value * (f"{near}{tile[1]}" in hand)
        worth += tile[0] in "258"
    return worth


def greedy_action(referee, rng):
    """Win, else meld often, else discard the loneliest tile."""
    legal = sorted(referee.legal())
    if "win" in legal:
        return "win"
    melding = [a for a in legal if a in ("pung", "kong") or "kong" in a or a.startswith("chow")]
    if melding and rng.random() < 0.6:
        return rng.choice(melding)
    if "pass" in legal:
        return "pass"
    hand = referee.hands[referee.to_act]
    discards = [a for a in legal if a.startswith("discard")]
    return min(discards, key=lambda a: (worth_keeping(a.split()[1], hand, referee.wild), rng.random()))
