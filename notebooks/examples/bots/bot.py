"""A bot in Python: it wins when it can, claims nothing else, and discards the tile that fits its hand least."""

import json
import sys


def worth(tile, hand):
    """How well a tile fits: pairs and triplets, then neighbours in its suit, then the middle of the suit."""
    rank, suit = int(tile[0]), tile[1]
    value = 12 * (hand.count(tile) - 1)
    if suit == "z":
        return value
    beside = sum(hand.count(f"{rank + step}{suit}") for step in (-1, 1))
    apart = sum(hand.count(f"{rank + step}{suit}") for step in (-2, 2))
    return value + 6 * min(beside, 2) + 3 * min(apart, 2) + 1 + (1 < rank < 9)


def choose(request):
    discards = [action[8:] for action in request["legal"] if action.startswith("discard ")]
    if "win" in request["legal"] or not discards:
        return "win" if "win" in request["legal"] else "pass"
    spare = [tile for tile in discards if tile != request["wild"]] or discards
    return "discard " + min(spare, key=lambda tile: worth(tile, request["hand"]))


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "name": "simple-python"}), flush=True)
    elif message["type"] == "request":
        answer = {"type": "answer", "table": message["table"], "action": choose(message)}
        print(json.dumps(answer), flush=message["more"] == 0)
