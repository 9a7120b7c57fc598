"""The variants as games of OpenSpiel; importing this registers them: ``pyspiel.load_game("mahjong_<variant>")``.

A game is one hand. Four chance nodes of 256 outcomes each draw its deal: they are the digits of a seed of
`make_engine`. Everything after that is a function of the actions, so histories can be replayed. The parameters of a
game are the knobs of the variant, with -1 for None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.errors import IllegalActionError, MahjongError, MissingExtraError, RulesError
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.table import person_name
from mahjong_env.drawing.text import legal_text, seat_text, table_text
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.phases.settle import most_actions
from mahjong_env.observation.events import COLUMNS
from mahjong_env.observation.planes import SHAPE
from mahjong_env.ruleset.questions import MOST_POINTS, Rules
from mahjong_env.ruleset.registry import VARIANTS, rules


def _open_spiel() -> Any:
    try:
        import pyspiel
    except ImportError:
        raise MissingExtraError("games of OpenSpiel need it: pip install 'mahjong-env[openspiel]'") from None
    return pyspiel


pyspiel = _open_spiel()

_DIGITS, _OUTCOMES = 4, 256
_CHANCE: Final = [(outcome, 1 / _OUTCOMES) for outcome in range(_OUTCOMES)]
_NONE: Final = -1


def game_name(variant: str) -> str:
    """Return the name by which OpenSpiel knows a variant."""
    return f"mahjong_{variant}"


class MahjongGame(pyspiel.Game):  # type: ignore[name-defined, misc]  # pyspiel is looked up when this runs
    """One hand of a variant.

    Attributes:
        rules: the rules played.
        variant: the name of the variant; the subclass of each variant sets it.
        game_type: OpenSpiel's description of the game; the subclass of each variant sets it.
    """

    variant: str
    game_type: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return pyspiel.load_game, (str(self),)

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Read the knobs; raise `RulesError` if a value is not valid, or if matches do not end by hands."""
        default = VARIANTS[self.variant]
        given = {name: value for name, value in (params or {}).items() if value != _parameters(default)[name]}
        knobs = {name: None if _is_none(default, name, value) else value for name, value in given.items()}
        self.rules = rules(self.variant, **knobs)
        if not self.rules.ends_by_hands:
            raise RulesError("a game of OpenSpiel is one hand: matches that end by points are not played")
        info = pyspiel.GameInfo(
            num_distinct_actions=NUM_ACTIONS,
            max_chance_outcomes=_OUTCOMES,
            num_players=self.rules.people,
            min_utility=float(-MOST_POINTS),
            max_utility=float(MOST_POINTS),
            utility_sum=0.0,
            max_game_length=most_actions(self.rules),
        )
        super().__init__(self.game_type, info, given)

    def new_initial_state(self, text: str | None = None) -> MahjongState:
        """Return a state before the deal."""
        if text is not None:
            raise RulesError("states are not read from text; deserialize_state reads serialized ones")
        return MahjongState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the number of chance nodes that draw the deal."""
        return _DIGITS

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> SeatObserver:
        """Return an observer of what a seat may see, with or without perfect recall; there are no other kinds."""
        wanted = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        is_own = wanted.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        if params or not (is_own and wanted.public_info):
            raise RulesError("observations are of one player, with all that is public, and take no parameters")
        return SeatObserver(self.rules, wanted.perfect_recall)


class MahjongState(pyspiel.State):  # type: ignore[name-defined, misc]
    """A hand: first the chance nodes of its deal, then one game of an engine.

    Attributes:
        engine: the game; None before the deal.
        choices: the questions and answers of each player: the kind drawn, the kind offered (-1 for none), the action.
    """

    def __init__(self, game: MahjongGame) -> None:
        """Begin before the deal."""
        super().__init__(game)
        self.engine: Engine | None = None
        self.choices: list[list[tuple[int, int, int]]] = [[] for _ in range(game.rules.people)]
        self._digits: list[int] = []

    def current_player(self) -> int:
        """Return the player who is asked, or OpenSpiel's id for chance or for the end of the game."""
        if self.engine is None:
            return int(pyspiel.PlayerId.CHANCE)
        person = int(self.engine.seat_to_act[0])
        return person if person >= 0 else int(pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        assert self.engine is not None
        return np.flatnonzero(self.engine.action_mask[0]).tolist()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of one digit of the deal, all equally likely."""
        return _CHANCE

    def _apply_action(self, action: int) -> None:
        if self.engine is None:
            if not 0 <= action < _OUTCOMES:
                raise IllegalActionError(f"a digit of the deal is an integer from 0 to {_OUTCOMES - 1}, not {action}")
            self._digits.append(action)
            if len(self._digits) == _DIGITS:
                self.engine = Engine(self.get_game().rules, 1, seed=int.from_bytes(self._digits, "big"))
            return
        view = self.engine.view()
        self.engine.step([action])  # first, as it refuses illegal actions
        self.choices[int(view.own_person[0])].append((int(view.drawn[0]), int(view.offered[0]), action))

    def _action_to_string(self, player: int, action: int) -> str:
        return ACTIONS[action] if player >= 0 else f"deal {action}"

    def is_terminal(self) -> bool:
        """Return whether the hand has ended."""
        return self.current_player() == pyspiel.PlayerId.TERMINAL

    def returns(self) -> list[float]:
        """Return the points that each player has won or lost, kongs included; zeros before the hand has ended."""
        if self.engine is None or not self.is_terminal():
            return [0.0] * self.num_players()
        won: list[float] = (self.engine.points[0] - self.engine.rules.starting_points).astype(float).tolist()
        return won

    def resample_from_infostate(self, player_id: int, sampler: Callable[[], float]) -> MahjongState:
        """Return a state that this player cannot distinguish from this one, with everything unseen drawn anew.

        Its history is empty, because its deal is no longer the one in the history, and so are the other players'
        choices. Tiles are drawn uniformly: what the other players' answers reveal about them is not taken into account.

        Raises:
            MahjongError: nothing has been dealt.
        """
        if self.engine is None:
            raise MahjongError("nothing has been dealt yet, so nothing can be drawn anew")
        other: MahjongState = self.get_game().new_initial_state()
        other.engine = self.engine.select([0])
        other.engine.resample_hidden(player_id, np.random.default_rng(int(sampler() * 2**53)))
        other.choices[player_id] = list(self.choices[player_id])
        return other

    def __str__(self) -> str:
        """Return the table as text, with all hands open."""
        return f"dealt {self._digits}" if self.engine is None else table_text(self.engine)


class SeatObserver:
    """What a seat sees, as planes and text; with perfect recall also the hand's events and the seat's own choices.

    Attributes:
        tensor: all numbers, flat, float32.
        dict: the parts of the tensor: "observation" [C, 34], "events" [E, 5] (`View.events`), "choices" [D, 3]
            (`MahjongState.choices`); the rows behind the last event or choice are 0.
    """

    def __init__(self, played: Rules, recalls: bool) -> None:
        """Lay out the parts of the tensor."""
        tiles, melds = int(played.deck.sum()), played.seats * played.sets
        shapes: dict[str, tuple[int, int]] = {"observation": SHAPE}
        if recalls:  # each tile is drawn once, and discarded or laid open once
            shapes["events"] = 2 * (tiles + melds) + 2, len(COLUMNS)
            shapes["choices"] = most_actions(played) // played.seats, 3
        self._recalls = recalls
        self.tensor = np.zeros(sum(rows * width for rows, width in shapes.values()), np.float32)
        parts = np.split(self.tensor, np.cumsum([rows * width for rows, width in shapes.values()])[:-1])
        self.dict = {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}

    def set_from(self, state: MahjongState, player: int) -> None:
        """Write what a player sees in a state into the tensor."""
        self.tensor[:] = 0
        if state.engine is None:
            return
        self.dict["observation"][:] = state.engine.observe(seats=player)[0]
        if self._recalls:
            events = state.engine.view(seats=player).events[0]
            events = events[events[:, 0] > 0]
            self.dict["events"][: len(events)] = events
            if choices := state.choices[player]:
                self.dict["choices"][: len(choices)] = choices

    def string_from(self, state: MahjongState, player: int) -> str:
        """Return what a player sees in a state, as text."""
        if state.engine is None:
            return f"{person_name(player)}: nothing has been dealt"
        view = state.engine.view(seats=player)
        legal = legal_text(np.flatnonzero(view.action_mask[0]))
        lines = [person_name(player), seat_text(view), *([f"you may {legal}"] if legal else [])]
        if self._recalls:
            lines.append(f"your choices: {'; '.join(map(_choice_text, state.choices[player])) or '-'}")
        return "\n".join(lines)


def _choice_text(choice: tuple[int, int, int]) -> str:
    drawn, offered, action = choice
    asked = f"drew {KIND_NAMES[drawn]}, " if drawn >= 0 else f"{KIND_NAMES[offered]} offered, " if offered >= 0 else ""
    return f"{asked}{ACTIONS[action]}"


def _is_none(played: Rules, name: str, value: Any) -> bool:
    """Whether a parameter stands for None: it is -1, and the knob accepts None."""
    about = next(item.metadata for item in fields(played) if item.name == name)
    return value == _NONE and (about["none"] or None in (about["choices"] or ()))


def _parameters(played: Rules) -> dict[str, Any]:
    """Return the knobs as OpenSpiel's parameters, which have no None."""
    return {name: _NONE if value is None else value for name, value in played.knobs.items()}


def _register(variant: str) -> None:
    game_type = pyspiel.GameType(
        short_name=game_name(variant),
        long_name=VARIANTS[variant].title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,  # OpenSpiel's search supports no other
        max_num_players=4,
        min_num_players=3,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_parameters(VARIANTS[variant]),
    )
    # A class, because OpenSpiel releases it after Python has ended, which nothing but a class survives.
    own = {"variant": variant, "game_type": game_type}
    pyspiel.register_game(game_type, type(f"Mahjong{variant.capitalize()}", (MahjongGame,), own))


for _variant in VARIANTS:
    _register(_variant)
