"""Games in the notation of Botzone, the platform of the competitions in Chinese Standard Mahjong (docs/botzone.md).

The platform's judge, its bots and the logs of its games name the same tiles and moves. They are read here into a
`Game`, which a deal and actions then replay on an engine. Two kinds of logs can be read: those of the judge, in JSON,
and the lines of text that the competitions hand out as training data.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from mahjong_env.basics.actions import (
    ACTIONS,
    ADDED_KONG,
    CHOW_LOW,
    CONCEALED_KONG,
    DISCARD,
    KONG,
    PASS,
    PUNG,
    WIN,
)
from mahjong_env.basics.errors import DealError, RecordError
from mahjong_env.basics.tiles import EAST, FLOWERS, KIND_NAMES, NO_TILE
from mahjong_env.engine.batch import Engine, make_engine
from mahjong_env.engine.scene import Deal
from mahjong_env.records.record import GameRecord
from mahjong_env.records.recorder import Recorder
from mahjong_env.ruleset import registry
from mahjong_env.ruleset.questions import Rules, with_knobs
from mahjong_env.state.arrays import NO_SEAT, Phase

PRESET: Final = "botzone"
"""The name of the platform's rules in `Rules.presets`."""
PLAYERS: Final = 4
TILES: Final = (
    *(f"{suit}{rank}" for suit in "WBT" for rank in range(1, 10)),  # characters, dots, bamboo
    *("F1", "F2", "F3", "F4", "J3", "J2", "J1"),  # winds; white, green, red
    *("H5", "H6", "H7", "H8", "H1", "H2", "H3", "H4"),  # flowers, seasons
)
"""[42] the platform's name of each kind."""
KINDS: Final[Mapping[str, int]] = {name: kind for kind, name in enumerate(TILES)}
_HAND: Final = 13
# Moves after which the same player draws a replacement.
_REPLACED: Final = ("GANG", "ANGANG", "BUGANG", "BUHUA")
_CLAIMS: Final = {"PENG": PUNG, "GANG": KONG, "HU": WIN, "PASS": PASS}
_TURNS: Final = {"PLAY": DISCARD, "GANG": CONCEALED_KONG, "BUGANG": ADDED_KONG}


class Move(NamedTuple):
    """One move of a player, in the platform's terms.

    Attributes:
        player: 0 to 3.
        what: DRAW, BUHUA (a flower), PLAY (a discard), CHI, PENG, GANG (of a discard), ANGANG (concealed), BUGANG
            (added), HU; the discard after CHI and PENG is a move of its own.
        kind: its tile, for CHI the middle one; -1 where the log does not say.
        also: what other players claimed at the same time, in vain: actions by player.
        place: where the move is in the log, for messages.
    """

    player: int
    what: str
    kind: int = NO_TILE
    also: Mapping[int, int] = {}
    place: str = ""

    def __str__(self) -> str:
        """Return the move as the platform writes it, with its place."""
        tile = "" if self.kind == NO_TILE else f" {TILES[self.kind]}"
        return f"{self.place}player {self.player} {self.what}{tile}"


@dataclass
class Game:
    """One hand as the platform plays it; player 0 deals, and player i sits at the i-th wind.

    Attributes:
        wind: the round wind, 0 East to 3 North; -1 where the log does not say.
        hands: the tiles that each player was dealt: 13, and any flowers that came with them.
        moves: the moves, in order.
        scores: what each player won; empty if the log does not say.
        name: the name of the game.
        agents: the names of the players.
        penalty: how the game broke off ("WH", a false win; "WA", an illegal answer; "TLE"), and the player to blame.
        place: where the game is in the log, for messages.
    """

    wind: int = -1
    hands: list[list[int]] = field(default_factory=lambda: [[] for _ in range(PLAYERS)])
    moves: list[Move] = field(default_factory=list)
    scores: tuple[int, ...] = ()
    name: str = ""
    agents: tuple[str, ...] = ()
    penalty: tuple[str, int] | None = None
    place: str = ""

    @property
    def has_flowers(self) -> bool:
        """Whether somebody has shown a flower."""
        dealt = any(kind >= FLOWERS for hand in self.hands for kind in hand)
        return dealt or any(move.what == "BUHUA" for move in self.moves)


def rules() -> Rules:
    """Return the rules of the platform: the variant that it plays, with the platform's knobs."""
    return registry.VARIANTS.preset(PRESET)


def tile(name: str) -> int:
    """Return the kind of a tile by its name on the platform: W1 to W9, B1, T1, F1 to F4, J1 to J3, H1 to H8.

    Raises:
        RecordError: there is no such tile.
    """
    kind = KINDS.get(name)
    if kind is None:
        raise RecordError(f"{name!r} is not a tile of Botzone: W1-W9, B1-B9, T1-T9, F1-F4, J1-J3, H1-H8")
    return kind


def chow(claimed: int, middle: int) -> int:
    """Return the action that claims a tile for a chow with the middle tile ``middle``; -1 if there is none."""
    return CHOW_LOW + 1 + claimed - middle if abs(claimed - middle) <= 1 else -1


def action_of(words: Sequence[str], claimed: int = NO_TILE) -> int:
    """Return the action of an answer: ``PLAY W1``, or ``CHI W2 T5`` about a claimed tile; -1 if there is none.

    The discard that the answers CHI and PENG also name is a separate action.
    """
    what, *tiles = words or ("",)
    kinds = [KINDS.get(name, NO_TILE) for name in tiles]
    if claimed == NO_TILE:
        if what == "HU" and not tiles:
            return WIN
        return _TURNS[what] + kinds[0] if what in _TURNS and len(kinds) == 1 and 0 <= kinds[0] < FLOWERS else -1
    if what == "CHI" and kinds:
        return chow(claimed, kinds[0]) if kinds[0] != NO_TILE else -1
    return _CLAIMS.get(what, -1)


# --- Playing a game here ----------------------------------------------------------------------------------------------


def rules_of(game: Game, played: Rules | None = None) -> Rules:
    """Return the rules by which a game was played; older games have flowers and one wall.

    Args:
        game: the game.
        played: the rules of games without flowers; None for `rules`.
    """
    played = played or rules()
    return with_knobs(played, {"private_walls": False, "flower_tiles": True}) if game.has_flowers else played


def deal_of(game: Game, played: Rules) -> Deal:
    """Return the deal from which a game's moves can be played; tiles that the game does not name are left to chance.

    Args:
        game: the game.
        played: its rules.
    """
    hands = [list(hand) for hand in game.hands]
    opening = next((at for at, move in enumerate(game.moves, 1) if move.what == "DRAW"), 0)
    hands[0] += [move.kind for move in game.moves[:opening]]  # the dealer's first draw is dealt here
    room = [_HAND + (player == 0) for player in range(PLAYERS)]
    back = [kind for hand, most in zip(hands, room, strict=True) for kind in hand[most:]]
    front: list[int] = []
    of_players: list[list[int]] = [[] for _ in range(PLAYERS)]
    for before, move in pairwise(game.moves[max(0, opening - 1) :]):
        if move.what in ("DRAW", "BUHUA"):
            (back if before.player == move.player and before.what in _REPLACED else front).append(move.kind)
            of_players[move.player].append(move.kind)
    if played.has_private_walls:
        back = []
    return Deal(
        hands=tuple(_text(hand[:most]) for hand, most in zip(hands, room, strict=True)),
        draws=tuple(map(_text, of_players)) if played.has_private_walls else _text(front),
        replacements=_text(back),
        dealer=0,
        round_wind=KIND_NAMES[EAST + game.wind],
    )


def _text(kinds: Sequence[int]) -> str:
    return " ".join(KIND_NAMES[kind] for kind in kinds)


def play(engine: Engine, moves: Sequence[Move], step: Callable[[list[int]], object] | None = None) -> None:
    """Play moves in a game that was dealt by `deal_of`; seats that are asked and did not claim pass.

    Args:
        engine: an engine of one game.
        moves: the moves of the game.
        step: plays an action instead of ``engine.step``, as `Recorder.step` does.

    Raises:
        RecordError: a move is not possible at its place; the message names it.
    """
    step = step or engine.step
    for previous, move in pairwise([Move(NO_SEAT, ""), *moves]):
        wanted = _wanted(move, previous)
        while not _is_there(engine, move, wanted):
            seat = int(engine.seat_to_act[0])
            if seat == NO_SEAT or not engine.action_mask[0, PASS]:
                raise RecordError(f"{move} is not possible here: {_position(engine)}")
            claim = move.also.get(seat, PASS)
            step([claim if engine.action_mask[0, claim] else PASS])
        if wanted >= 0:
            step([wanted])


def _wanted(move: Move, before: Move) -> int:
    """Return the action of a move; -1 for draws and flowers, which nobody decides, and for a chow that is none."""
    is_offered = before.what in ("PLAY", "BUGANG") and move.what in ("PENG", "GANG", "HU")
    if is_offered and move.kind not in (NO_TILE, before.kind):
        raise RecordError(f"{move} is not possible here: {TILES[before.kind]} is offered")
    if move.what == "CHI":
        return chow(before.kind, move.kind)
    if move.what == "ANGANG":
        return CONCEALED_KONG + move.kind
    if move.what in ("PLAY", "BUGANG"):
        return _TURNS[move.what] + move.kind
    return _CLAIMS.get(move.what, -1)


def _is_there(engine: Engine, move: Move, wanted: int) -> bool:
    """Whether a move can be played now, or has already happened."""
    has_drawn = engine.state.phase[0] == Phase.TURN and engine.seat_to_act[0] == move.player
    if move.what == "BUHUA":
        return True  # it becomes visible with the draw that follows
    if move.what == "DRAW":
        return has_drawn and (move.kind in (NO_TILE, int(engine.state.drawn[0])))
    return wanted >= 0 and engine.seat_to_act[0] == move.player and bool(engine.action_mask[0, wanted])


def _position(engine: Engine) -> str:
    seat = int(engine.seat_to_act[0])
    if seat == NO_SEAT:
        return "the hand is over"
    legal = ", ".join(ACTIONS[action] for action in engine.action_mask[0].nonzero()[0])
    return f"player {seat} is to act, and may: {legal}"


def record_of(game: Game) -> GameRecord:
    """Return a game as a record; a game that was broken off by a penalty is incomplete.

    Raises:
        RecordError: a move is not possible, or the game ends differently from what it says; the message says where and
            how.
    """

    def refused(why: object) -> RecordError:
        return RecordError(": ".join([*dict.fromkeys(filter(None, (game.place, game.name))), str(why)]))

    players = [move.player for move in game.moves] + ([] if game.penalty is None else [game.penalty[1]])
    if not 0 <= game.wind < 4 or len(game.hands) != PLAYERS or not all(0 <= one < PLAYERS for one in players):
        raise refused(f"not {PLAYERS} hands, no round wind, or a wind or a player that does not exist")
    dealt = [sum(kind < FLOWERS for kind in hand) for hand in game.hands]
    if dealt != [_HAND] * PLAYERS:
        raise refused(f"each player is dealt {_HAND} tiles that are no flowers; the log names {dealt}")
    is_complete = game.penalty is None
    played = rules_of(game)
    deal = deal_of(game, played)
    engine, ended = make_engine(played, 1, seed=0, start="first"), list[GameRecord]()
    recorder = Recorder(engine, lambda *records: ended.extend(records), agents=tuple(map(_whole, game.agents)))
    try:
        recorder.reset(seed=0, deals=deal)
    except DealError as error:
        raise refused(error) from None
    play(engine, game.moves, step=recorder.step)
    if is_complete:
        while engine.seat_to_act[0] != NO_SEAT and engine.action_mask[0, PASS]:
            recorder.step([PASS])
        if engine.seat_to_act[0] != NO_SEAT:
            raise refused(f"the log ends before the hand does: {_position(engine)}")
    (record,) = ended or recorder.so_far()
    if game.scores and game.penalty is None and record.points != game.scores:
        raise refused(f"the log ends with the scores {game.scores}, its replay with {record.points}")
    notes: dict[int, dict[str, Any]] = {0: {"match": _whole(game.name)}} if game.name else {}
    if game.penalty is not None:
        what, player = game.penalty
        notes.setdefault(len(record.actions), {}).update(penalty=what, player=player, scores=list(game.scores))
    return replace(record, is_complete=is_complete, notes=notes)


def _whole(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON can escape but no file of records can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


# --- Logs -------------------------------------------------------------------------------------------------------------


def _raise(error: RecordError) -> None:
    raise error


def read_games(path: str | os.PathLike[str], refused: Callable[[RecordError], object] = _raise) -> Iterator[Game]:
    """Read the games of a log: JSON of the judge (one game, a list of games, or one game a line), or lines of text.

    Args:
        path: the file.
        refused: called with the error of each game that cannot be read, or of a file that cannot; reading then
            continues with the next game. By default the first error is raised.

    Raises:
        RecordError: the file cannot be read, or a game in it is in neither format; the message says where.
    """
    place = os.fspath(path)
    try:
        with Path(path).open(encoding="utf-8-sig") as file:  # some editors put a byte order mark at the beginning
            first = file.read(1)
            while first.isspace():
                first = file.read(1)
            file.seek(0)
            is_json = first in ("[", "{")
            yield from _games_of_json(file.read(), place, refused) if is_json else _games_of_text(file, place, refused)
            return
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
    refused(RecordError(f"logs cannot be read from {place}: {reason}"))


def _games_of_json(text: str, place: str, refused: Callable[[RecordError], object]) -> Iterator[Game]:
    try:
        told = [(place, json.loads(text))]
    except (ValueError, RecursionError):
        lines = enumerate(text.splitlines(), 1)
        told = [_json(line, f"{place}, line {number}") for number, line in lines if line.strip()]
        if not any(isinstance(log, dict | list) for _, log in told):  # one log over many lines: report one error
            told = told[:1]
    for where, each in told:
        if isinstance(each, RecordError):
            refused(each)
            continue
        several = isinstance(each, list) and bool(each) and not (isinstance(each[0], dict) and "output" in each[0])
        for number, log in enumerate(each if several else [each], 1):
            try:
                game = _game_of_log(log, f"{where}, game {number}" if several else where)
            except RecordError as error:
                refused(error)
            else:
                yield game


def _json(line: str, place: str) -> tuple[str, Any]:
    """Return where a line is, and its content or the error."""
    try:
        return place, json.loads(line)
    except (ValueError, RecursionError) as error:
        return place, RecordError(f"{place}: not JSON: {error}")


def _game_of_log(told: Any, place: str) -> Game:
    """Make a game from what the judge wrote (``output``) and the answers to it, in turns."""
    if isinstance(told, dict):
        name, logs = str(told.get("_id", told.get("id", place))), told.get("logs", told.get("log"))
        players = told.get("players")
        agents = tuple(map(_agent, players)) if isinstance(players, list) else ()
    else:
        name, logs, agents = place, told, ()
    game = Game(name=name, agents=agents if len(agents) == PLAYERS else (), place=place)
    if not isinstance(logs, list) or not logs:
        raise RecordError(f"{place}: a log of the judge has its turns in 'logs'")
    for turn in range(0, len(logs), 2):
        answers = logs[turn - 1] if turn else {}
        try:
            _take_turn(game, logs[turn]["output"]["display"], answers, f"{place}, turn {turn}: ")
        except RecordError as error:
            raise RecordError(f"{place}, turn {turn}: {error}") from None
        except (KeyError, TypeError, IndexError, ValueError, OverflowError, AttributeError) as error:
            raise RecordError(f"{place}, turn {turn}: not what the judge writes: {error!r}") from None
    return game


def _agent(player: Any) -> str:
    if isinstance(player, dict):
        bot = player.get("bot")
        player = player.get("name") or (bot.get("name", "") if isinstance(bot, dict) else "")
    return str(player)


def _take_turn(game: Game, display: Mapping[str, Any], answers: Mapping[str, Any], place: str) -> None:
    """Add what the judge shows of a turn."""
    what = display["action"]
    if what == "INIT":
        game.wind = int(display["quan"])
        return
    if what == "DEAL":
        game.hands = [[tile(name) for name in hand] for hand in display["hand"]]
        return
    if what == "HUANG":
        game.scores = (0,) * PLAYERS
        return
    player = int(display["player"])
    before = game.moves[-1] if game.moves else Move(NO_SEAT, "")
    also: dict[int, int] = {}
    if before.what == "PLAY":
        said = {seat: str(answers.get(str(seat), {}).get("response", "")).split() for seat in range(PLAYERS)}
        also = {seat: action_of(words, before.kind) for seat, words in said.items() if seat != player}
        also = {seat: action for seat, action in also.items() if action not in (-1, PASS)}
    if what in ("DRAW", "BUHUA", "PLAY", "BUGANG"):
        game.moves.append(Move(player, what, tile(display["tile"]), also, place))
    elif what == "GANG" and before.what == "DRAW":
        kind = answers[str(player)]["response"].split()[1]
        game.moves.append(Move(player, "ANGANG", tile(kind), place=place))
    elif what == "GANG":
        game.moves.append(Move(player, what, before.kind, also, place))
    elif what in ("CHI", "PENG"):
        kind = tile(display["tileCHI"]) if what == "CHI" else before.kind
        game.moves.append(Move(player, what, kind, also, place))
        game.moves.append(Move(player, "PLAY", tile(display["tile"]), place=place))
    else:
        game.scores = _scores(display["score"])
        if what == "HU":
            game.moves.append(Move(player, what, before.kind, also, place))
        else:
            game.penalty = (str(what), player)


def _scores(told: Sequence[Any]) -> tuple[int, ...]:
    if len(told) != PLAYERS:
        raise RecordError(f"scores are {PLAYERS} numbers, one for each player, not {told!r}")
    return tuple(map(int, told))


def _games_of_text(lines: Iterable[str], place: str, refused: Callable[[RecordError], object]) -> Iterator[Game]:
    """Read the games of lines of text, each beginning with ``Match NAME``; after a fault, go on with the next game."""
    game: Game | None = None
    is_left_out = False  # whether the game of these lines is skipped
    for number, line in enumerate(lines, 1):
        words, at = line.split(), f"{place}, line {number}: "
        if not words:
            continue
        if words[0] == "Match":
            if game is not None:
                yield game
            game = Game(name=words[1] if len(words) > 1 else "", place=f"{place}, line {number}")
            is_left_out = False
        elif not is_left_out:
            try:
                if game is None:
                    raise RecordError(f"a log begins with 'Match', not with {line[:40].strip()!r}")
                _take_line(game, words, at)
                continue
            except RecordError as error:
                why = str(error)
            except (ValueError, IndexError):
                why = f"{line[:80].strip()!r} is not a line of a log"
            game, is_left_out = None, True
            refused(RecordError(f"{at}{why}"))
    if game is not None:
        yield game


def _take_line(game: Game, words: list[str], place: str) -> None:
    """Add what a line says: ``Player 1 Peng W5 Ignore Player 2 Chi W4``."""
    if words[0] == "Wind":
        game.wind = int(words[1])
    elif words[0] == "Score":
        game.scores = _scores(words[1:])
    elif words[0] == "Player":
        player, what, tiles = _player(words[1]), words[2].upper(), words[3:]
        if what == "DEAL":
            game.hands[player] = [tile(name) for name in tiles]
            return
        if what not in ("DRAW", "BUHUA", "PLAY", "CHI", "PENG", "GANG", "ANGANG", "BUGANG", "HU"):
            raise RecordError(f"{words[2]!r} is not a move")
        also = {}
        claimed = game.moves[-1].kind if game.moves and game.moves[-1].what == "PLAY" else NO_TILE
        for at in range(1, len(tiles), 5) if claimed != NO_TILE else ():
            _, _, other, said, *named = tiles[at : at + 5]
            also[_player(other)] = action_of([said.upper(), *named], claimed)
            if also[_player(other)] < 0:
                raise RecordError(f"{' '.join([said, *named])!r} is not a claim of {TILES[claimed]}")
        game.moves.append(Move(player, what, tile(tiles[0]), also, place))
    elif words[0] not in ("Fan", "Huang"):
        raise RecordError(f"{words[0]!r} does not begin a line of a log")


def _player(word: str) -> int:
    player = int(word)
    if not 0 <= player < PLAYERS:
        raise RecordError(f"there is no player {player}; players are 0 to {PLAYERS - 1}")
    return player
