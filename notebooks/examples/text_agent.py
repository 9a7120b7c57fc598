"""A seat that is played in words: `python notebooks/examples/text_agent.py`.

`answer` is where a language model goes: it is told the rules and the table, and says what it does. Here it is a script,
so the example needs no network and no key. It wins when it may, claims nothing, and discards tiles that have no
neighbours.

    mahjong-env evaluate --variant hebei --agents text:notebooks/examples/text_agent.py:answer random --deals 20
"""

from __future__ import annotations

import re

import gymnasium

import mahjong_env  # noqa: F401 registers the environments

# With the client of a language model, answer would be:
#
#     def answer(prompt: str) -> str:
#         reply = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": prompt}])
#         return reply.choices[0].message.content


def answer(prompt: str) -> str:
    """Choose one of the numbered actions at the end of a prompt."""
    table = prompt.rpartition("you may\n")
    actions = re.findall(r"^\d+: ([a-z]+(?: kong| low| middle| high)?)(?: (\w\w))?", table[2], re.MULTILINE)
    verbs = [verb for verb, _ in actions]
    for wanted in ("win", "pass"):
        if wanted in verbs:
            return f"I {wanted}!"
    held = [name for found in re.findall(r"> you +hand +(.*)", table[0])[-1:] for name in in_single_tiles(found)]
    tiles = [tile for verb, tile in actions if verb == "discard"]
    return f"It has no friends.\n**Discard {min(tiles, key=lambda tile: friends(tile, held))}**"


def in_single_tiles(notation: str) -> list[str]:
    """Return the tiles of a text such as "123m 5p", one by one."""
    return [rank + suit for ranks, suit in re.findall(r"([1-9]+)([mpsz])", notation) for rank in ranks]


def friends(tile: str, held: list[str]) -> int:
    """Count the tiles of the hand that are near this one, equal ones twice."""
    near = (abs(int(other[0]) - int(tile[0])) for other in held if other[1] == tile[1])
    return sum(2 if distance == 0 else distance <= 2 and tile[1] != "z" for distance in near)


def main(hands: int = 3) -> list[float]:
    """Play hands against random players, show one prompt, and return the points of each hand."""
    env = gymnasium.make("mahjong_env/Hebei-text-v0", opponents="random", seat=0)
    points = []
    for seed in range(hands):
        prompt, info = env.reset(seed=seed)
        if not seed:
            print(info["instructions"], prompt, sep="\n")
        over, earned = False, 0.0
        while not over:
            prompt, reward, terminated, truncated, info = env.step(answer(prompt))
            over, earned = terminated or truncated, earned + reward
        points.append(earned)
        print(prompt.splitlines()[0])
    return points


if __name__ == "__main__":
    print(f"points: {main()}")
