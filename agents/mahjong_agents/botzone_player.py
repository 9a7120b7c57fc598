"""An agent that plays through Botzone's protocol: what a player is told there becomes a view here (docs/botzone.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import numpy as np

from mahjong_agents.base import make_agent
from mahjong_env import AgentError, RecordError
from mahjong_env.basics.actions import ADDED_KONG, CHOW_LOW, CONCEALED_KONG, KONG, PASS, PUNG, WIN
from mahjong_env.basics.tiles import FLOWERS, NO_TILE
from mahjong_env.engine.batch import Engine, make_engine
from mahjong_env.records import botzone
from mahjong_env.records.botzone import PLAYERS, TILES, Game, Move, tile
from mahjong_env.ruleset.questions import Rules
from mahjong_env.state.arrays import Phase

_HAND: Final = 13
_ASKED: Final = (Phase.CLAIM, Phase.ROB)


class BotzonePlayer:
    """Answers the requests of Botzone's judge with the choices of an agent.

    A player is not told what the others hold. The class makes up hands that they may have, plays the game so far again
    with them, and shows the agent the resulting view.

    Attributes:
        agent: the agent that decides.
        rules: the rules of the platform.
    """

    def __init__(self, agent: Any, *, rules: Rules | None = None, seed: int = 0) -> None:
        """Take the agent that plays.

        Args:
            agent: the agent, or its name.
            rules: the rules of games in which no flower is seen; None for those of the platform.
            seed: the seed of the agent's random numbers.
        """
        self.agent, self.rules = make_agent(agent), rules or botzone.rules()
        self._seed, self._engines = seed, dict[Rules, Engine]()

    def answer(self, requests: Sequence[str], responses: Sequence[str]) -> str:
        """Answer the last request of a game.

        Args:
            requests: what the judge has said so far, from the first turn on.
            responses: the answers so far, one fewer than the requests.

        Raises:
            AgentError: the requests are not what a judge says.
        """
        last = requests[-1].split() if requests else []
        is_asked = last[:1] == ["2"] or (last[2:3] != ["DRAW"] and last[2:3] != ["BUHUA"] and last[:1] == ["3"])
        if len(requests) < 3 or not is_asked:
            return "PASS"
        try:
            game, me = game_seen(requests, responses)
            if last[0] == "3" and int(last[1]) == me:
                return "PASS"
            engine = self._engine(botzone.rules_of(game, self.rules))
            engine.reset(seed=0, deals=botzone.deal_of(game, engine.rules))
            botzone.play(engine, game.moves)
        except (RecordError, ValueError, IndexError, KeyError) as error:
            raise AgentError(f"request {len(requests) - 1}, {requests[-1]!r}: {error}") from None
        _pass_before(engine, me)
        if last[0] == "3" and engine.state.phase[0] not in _ASKED:
            return "PASS"
        return self._decide(engine, me, np.random.default_rng([self._seed, me, len(requests)]))

    def _engine(self, rules: Rules) -> Engine:
        """Return an engine of one table under the given rules."""
        if rules not in self._engines:
            self._engines[rules] = make_engine(rules, 1, seed=0, start="first")
        return self._engines[rules]

    def _decide(self, engine: Engine, me: int, rng: np.random.Generator) -> str:
        """Return the agent's answer; for a chow or a pung it includes the discard."""
        offered = int(engine.state.offered[0])
        action = int(self.agent.act(engine.view(), rng)[0])
        if action in (WIN, PASS, KONG):
            return {WIN: "HU", PASS: "PASS", KONG: "GANG"}[action]
        if action < CHOW_LOW:
            verb, first = next(
                (verb, first)
                for verb, first in (("BUGANG", ADDED_KONG), ("GANG", CONCEALED_KONG), ("PLAY", 0))
                if action >= first
            )
            return f"{verb} {TILES[action - first]}"
        engine.step([action])
        _pass_before(engine, me)
        thrown = TILES[int(self.agent.act(engine.view(), rng)[0])]
        if action == PUNG:
            return f"PENG {thrown}"
        return f"CHI {TILES[offered - (action - CHOW_LOW - 1)]} {thrown}"


def _pass_before(engine: Engine, me: int) -> None:
    """Let the others who are asked about a tile before player ``me`` pass."""
    while engine.state.phase[0] in _ASKED and engine.seat_to_act[0] != me:
        engine.step([PASS])


def game_seen(requests: Sequence[str], responses: Sequence[str]) -> tuple[Game, int]:
    """Return the game that a player has been told of, with made-up hands of the others, and the player's number.

    Raises:
        RecordError: a request is not one of the protocol.
    """
    _, me, wind = map(int, requests[0].split())
    game = Game(wind=wind)
    words = requests[1].split()[1:]
    flowers = iter(words[PLAYERS + _HAND :])
    for player in range(PLAYERS):
        game.hands[player] = [tile(next(flowers)) for _ in range(int(words[player]))]
    game.hands[me] += [tile(name) for name in words[PLAYERS : PLAYERS + _HAND]]
    for number in range(2, len(requests)):
        _hear(game.moves, me, requests[number].split(), responses[number - 1].split())
    _make_up(game, me)
    return game, me


def _hear(moves: list[Move], me: int, words: list[str], answered: list[str]) -> None:
    """Add the moves that a request tells of; ``answered`` is the player's answer to the request before."""
    if words[0] == "2":
        moves.append(Move(me, "DRAW", tile(words[1])))
        return
    player, what, kinds = int(words[1]), words[2], [tile(name) for name in words[3:]]
    before = moves[-1] if moves else Move(-1, "")
    if what == "GANG" and before.what == "DRAW":
        kind = tile(answered[1]) if player == me else NO_TILE
        moves.append(Move(player, "ANGANG", kind))
    elif what in ("PENG", "CHI", "GANG"):
        moves.append(Move(player, what, kinds[0] if what == "CHI" else before.kind))
        moves += [Move(player, "PLAY", kind) for kind in kinds[-1:]]
    elif what in ("DRAW", "BUHUA", "PLAY", "BUGANG"):
        moves.append(Move(player, what, kinds[0] if kinds else NO_TILE))
    else:
        raise RecordError(f"{' '.join(words)!r} is not a request")


def _make_up(game: Game, me: int) -> None:
    """Give the others tiles with which they can have made their moves; mostly they discarded what they had drawn."""
    moves = game.moves
    before = Move(-1, "")
    for number, move in enumerate(moves):
        if move.player != me:
            if move.what in ("PLAY", "BUGANG") and before.what == "DRAW":
                moves[number - 1] = before._replace(kind=move.kind)
            else:
                game.hands[move.player] += _taken(move, before)
        before = moves[number]
    left = Counter(dict.fromkeys(range(FLOWERS), 4))
    left.subtract(kind for hand in game.hands for kind in hand)
    left.subtract(move.kind for move in moves if move.what == "DRAW" and move.kind != NO_TILE)
    for number, move in enumerate(moves):
        if move.what == "ANGANG" and move.kind == NO_TILE:
            kind = next(kind for kind in range(FLOWERS) if left[kind] == 4)
            left[kind] = 0
            moves[number], moves[number - 1] = move._replace(kind=kind), moves[number - 1]._replace(kind=kind)
            game.hands[move.player] += [kind] * 3
    rest = [kind for kind in range(FLOWERS) for _ in range(left[kind])]
    Random(len(rest)).shuffle(rest)  # random hands, which hardly ever want a tile
    for hand in game.hands:
        while sum(kind < FLOWERS for kind in hand) < _HAND:
            hand.append(rest.pop())
    for number, move in enumerate(moves):
        if move.what == "DRAW" and move.kind == NO_TILE:  # the latest draw, with which nothing has been done yet
            moves[number] = move._replace(kind=rest.pop())


def _taken(move: Move, before: Move) -> list[int]:
    """Return the tiles that another player must have been dealt to make a move that is not a draw."""
    if move.what == "CHI":
        return [kind for kind in range(move.kind - 1, move.kind + 2) if kind != before.kind]
    return [move.kind] * {"PENG": 2, "GANG": 3, "PLAY": 1}.get(move.what, 0)
