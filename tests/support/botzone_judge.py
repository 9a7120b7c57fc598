"""A judge of Botzone's game, written after its wiki and the behaviour of its public judge; PyMahjongGB counts the fan.

It asks four players turn by turn, and keeps the log that the platform would keep.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from MahjongGB import MahjongFanCalculator

ALL = [f"{suit}{rank}" for suit in "WBT" for rank in range(1, 10)] + ["F1", "F2", "F3", "F4", "J1", "J2", "J3"]


def walls_of(seed: int) -> list[list[str]]:
    """Return four walls of 34 tiles, which are drawn from their ends."""
    tiles = ALL * 4
    random.Random(seed).shuffle(tiles)
    return [tiles[34 * player : 34 * player + 34] for player in range(4)]


class PenaltyError(Exception):
    """A player's answer ends the game."""


class Judge:
    """One game.

    Attributes:
        logs: the judge's output and the answers, in turns.
        text: the same as lines of text, in the format of the competitions' training data.
        scores: the scores at the end.
    """

    def __init__(self, players: list[Callable[[str], str]], walls: list[list[str]], quan: int) -> None:
        self.players, self.walls, self.quan = players, [list(wall) for wall in walls], quan
        self.hands: list[list[str]] = [[] for _ in range(4)]
        self.packs: list[list[tuple[str, str, int]]] = [[] for _ in range(4)]
        self.shown: Counter[str] = Counter()
        self.logs: list[dict] = []
        self.text = ["Match made-here", f"Wind {quan}"]
        self.scores: list[int] = []
        self.about_kong = False

    def play(self) -> list[int]:
        """Play the game to its end."""
        try:
            self._ask(
                [f"0 {player} {self.quan}" for player in range(4)], action="INIT", quan=self.quan, only_pass=range(4)
            )
            self.hands = [[self.walls[player].pop() for _ in range(13)] for player in range(4)]
            for player, hand in enumerate(self.hands):
                self._write(player, "Deal", *hand)
            told = ["1 0 0 0 0 " + " ".join(hand) for hand in self.hands]
            self._ask(told, action="DEAL", hand=[list(hand) for hand in self.hands], only_pass=range(4))
            player = 0
            while not self.scores:
                player = self._turn(player)
        except PenaltyError as error:
            player, what = error.args
            self._end(what, player, [10 - 40 * (other == player) for other in range(4)])
        return self.scores

    def _ask(self, requests, only_pass=(), **display):
        """Send all four players their requests, and return their answers."""
        self.logs.append({"output": {"command": "request", "content": dict(enumerate(requests)), "display": display}})
        said = [answer(request) for answer, request in zip(self.players, requests, strict=True)]
        self.logs.append({str(player): {"verdict": "OK", "response": one} for player, one in enumerate(said)})
        for player in only_pass:
            if said[player] != "PASS":
                raise PenaltyError(player, "WA")
        return [one.split() for one in said]

    def _write(self, player, *words):
        self.text.append(" ".join(["Player", str(player), *words]))

    def _end(self, action, player, scores, **display):
        self.scores = scores
        shown = {"action": action, "player": player, "score": scores, **display}
        self.logs.append({"output": {"command": "finish", "content": dict(enumerate(scores)), "display": shown}})
        if action == "HUANG":
            self.text.append("Huang")
        elif action == "HU":
            self.text.append(f"Fan {display['fanCnt']} " + "+".join(f"{f['name']}*{f['cnt']}" for f in display["fan"]))
        self.text.append("Score " + " ".join(map(str, scores)))

    def _is_last(self, player):
        return not self.walls[(player + 1) % 4]

    def _take(self, player, *tiles):
        for tile in tiles:
            if tile not in self.hands[player]:
                raise PenaltyError(player, "WA")
            self.hands[player].remove(tile)

    def _turn(self, player):
        """Let a player draw and act; return who draws next."""
        if not self.walls[player]:
            self._end("HUANG", player, [0, 0, 0, 0])
            return player
        tile, about_kong, self.about_kong = self.walls[player].pop(), self.about_kong, False
        self._write(player, "Draw", tile)
        told = [f"2 {tile}" if other == player else f"3 {player} DRAW" for other in range(4)]
        others = [other for other in range(4) if other != player]
        answer = self._ask(told, action="DRAW", player=player, tile=tile, only_pass=others)[player]
        match answer:
            case ["HU"]:
                self._win(player, player, tile, about_kong)
                return player
            case ["PLAY", thrown]:
                self.hands[player].append(tile)
                self._take(player, thrown)
                return self._discarded(player, thrown, f"3 {player} PLAY {thrown}", action="PLAY")
            case ["GANG", kind] if self.walls[player] and not self._is_last(player):
                self.hands[player].append(tile)
                self._take(player, *[kind] * 4)
                self.packs[player].append(("GANG", kind, 0))
                self._write(player, "AnGang", kind)
                self.about_kong = True
                self._ask([f"3 {player} GANG"] * 4, action="GANG", player=player, tile=kind, only_pass=range(4))
                return player
            case ["BUGANG", kind] if self.walls[player] and not self._is_last(player):
                self.hands[player].append(tile)
                self._take(player, kind)
                pung = next((pack for pack in self.packs[player] if pack[:2] == ("PENG", kind)), None)
                if pung is None:
                    raise PenaltyError(player, "WA")
                self.packs[player][self.packs[player].index(pung)] = ("GANG", kind, pung[2])
                self._write(player, "BuGang", kind)
                self.shown[kind] = 4
                self.about_kong = True
                said = self._ask([f"3 {player} BUGANG {kind}"] * 4, action="BUGANG", player=player, tile=kind)
                for step in (1, 2, 3):
                    other = (player + step) % 4
                    if said[other] == ["HU"]:
                        self._win(other, player, kind, True)
                        return player
                    if said[other] != ["PASS"]:
                        raise PenaltyError(other, "WA")
                return player
        raise PenaltyError(player, "WA")

    def _discarded(self, player, tile, told, **display):
        """Let the others claim a discard; return who draws next."""
        if display["action"] == "PLAY" or display["action"] in ("CHI", "PENG"):
            self._write(player, "Play", tile)
        said = self._ask([told] * 4, player=player, tile=tile, only_pass=[player], **display)
        others = [(player + step) % 4 for step in (1, 2, 3)]
        for other in others:
            if said[other] == ["HU"]:
                self._win(other, player, tile, False, self._in_vain(said, other, tile))
                return player
        for other in others:
            match said[other]:
                case ["GANG"] if not self._is_last(player) and self.walls[other]:
                    self._take(other, *[tile] * 3)
                    self.packs[other].append(("GANG", tile, (other - player) % 4))
                    self.shown[tile] = 4
                    self._write(other, "Gang", tile, *self._in_vain(said, other, tile))
                    self.about_kong = True
                    self._ask([f"3 {other} GANG"] * 4, action="GANG", player=other, tile=tile, only_pass=range(4))
                    return other
                case ["PENG", thrown] if not self._is_last(player):
                    self._take(other, tile, tile, thrown)
                    self.packs[other].append(("PENG", tile, (other - player) % 4))
                    self.shown[tile] += 3
                    self._write(other, "Peng", tile, *self._in_vain(said, other, tile))
                    return self._discarded(other, thrown, f"3 {other} PENG {thrown}", action="PENG")
        match said[others[0]]:
            case ["CHI", middle, thrown] if not self._is_last(player) and tile[0] in "WBT":
                other, suit, rank = others[0], middle[0], int(middle[1])
                run = [f"{suit}{rank + step}" for step in (-1, 0, 1)]
                if tile not in run:
                    raise PenaltyError(other, "WA")
                self.hands[other].append(tile)
                self._take(other, *run, thrown)
                self.packs[other].append(("CHI", middle, int(tile[1]) - rank + 2))
                self.shown.update(run)
                self._write(other, "Chi", middle)
                return self._discarded(other, thrown, f"3 {other} CHI {middle} {thrown}", action="CHI", tileCHI=middle)
        for other in others:
            if said[other] != ["PASS"]:
                raise PenaltyError(other, "WA")
        self.shown[tile] += 1
        return others[0]

    def _in_vain(self, said, granted, tile):
        """Return the claims of others that were not granted, as the end of a line."""
        words = []
        for player, one in enumerate(said):
            if player != granted and one != ["PASS"]:
                words += ["Ignore", "Player", str(player), one[0].capitalize(), one[1] if one[0] == "CHI" else tile]
        return words

    def _win(self, player, giver, tile, about_kong, in_vain=()):
        self._write(player, "Hu", tile, *in_vain)
        try:
            found = MahjongFanCalculator(
                pack=tuple(self.packs[player]),
                hand=tuple(self.hands[player]),
                winTile=tile,
                flowerCount=0,
                isSelfDrawn=player == giver,
                is4thTile=self.shown[tile] == 3,
                isAboutKong=about_kong,
                isWallLast=self._is_last(giver),
                seatWind=player,
                prevalentWind=self.quan,
                verbose=True,
            )
        except TypeError:  # the hand is not complete
            raise PenaltyError(player, "WH") from None
        points = sum(value * count for value, count, *_ in found)
        if points < 8:
            raise PenaltyError(player, "WH")
        scores = [-8 - points * (giver in (player, other)) for other in range(4)]
        scores[player] = -sum(score for other, score in enumerate(scores) if other != player)
        fan = [{"name": chinese, "cnt": count, "value": value} for value, count, chinese, _ in found]
        self._end("HU", player, scores, fan=fan, fanCnt=points)
