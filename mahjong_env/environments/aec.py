"""One game as a PettingZoo environment (agent environment cycle), the same for every variant."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import MahjongError, RecordError
from mahjong_env.basics.types import Int8Array
from mahjong_env.drawing.table import person_name
from mahjong_env.engine.outcome import StepResult, hand_info
from mahjong_env.environments.arguments import (
    argument_names,
    check_choice,
    observation_space,
    read_arguments,
    read_options,
)
from mahjong_env.environments.held_engine import HeldEngine
from mahjong_env.environments.learning_seats import ILLEGAL_REWARD, ON_ILLEGAL
from mahjong_env.environments.render import RENDER_FPS, RENDER_MODES, check_render_mode, game_svg, render_game
from mahjong_env.observation.planes import SHAPE
from mahjong_env.observation.privileged import LAYOUT as PRIVILEGED
from mahjong_env.observation.privileged import Hidden
from mahjong_env.observation.view import View
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.receipt import Receipt

Observation = dict[str, Int8Array]


class MahjongAEC(AECEnv[str, Any, Any]):
    """One game; `<variant>_v0.raw_env` makes it, and `<variant>_v0.env` adds PettingZoo's wrappers around it.

    **Agents**: "player_0", "player_1", ...: one for each person, the same one through a match. A person who sits
    out stays in ``agents``, is never asked and is paid nothing.

    **Observation**: ``{"observation": int8 [C, 34], "action_mask": int8 [109]}``: the planes of
    `mahjong_env.OBSERVATION_PIECES`, and the legal actions (all 0 for an agent that is not to act).

    **Action**: one of `mahjong_env.ACTIONS`. An illegal one raises `mahjong_env.IllegalActionError` and changes
    nothing.

    **Rewards**: the points paid in the step, by person; they sum to zero.

    **End**: after ``num_hands`` hands, or as the variant ends its matches (``truncations`` if a match was cut short).

    **Infos**: a person who has not acted since a hand ended finds that hand in ``infos[agent]["outcome"]``; see
    `mahjong_env.engine.outcome.hand_info`.

    **Copies**: you can copy (`copy.deepcopy`) and pickle an environment in the middle of a game; the copy continues as
    the original does. ``env.unwrapped.engine.snapshot()`` and ``restore()`` are a cheaper way to go back. After a
    restore the game is where it was, but agents are not told again what they had been paid since they last acted, nor
    how the last hand ended.

    Attributes:
        engine: the game, as an engine of one game. If other code changes it, the environment continues from there.
        state_space: the space of `state`.
    """

    def __init__(
        self,
        variant: str | Rules,
        *,
        render_mode: str | None = None,
        num_hands: int = 1,
        start: str | None = None,
        record: str | os.PathLike[str] | None = None,
        **knobs: Any,
    ) -> None:
        """Set up a table.

        Args:
            variant: a name in `mahjong_env.VARIANTS`, or rules.
            render_mode: None, "ansi" (text), "rgb_array" (a picture as pixels) or "human" (text, shown on the
                terminal; not in vector environments).
            num_hands: hands of a match.
            start: see `mahjong_env.make_engine`.
            record: a file to which the record of every match is appended (`mahjong_env.records`).
            **knobs: house rules of the variant.

        Raises:
            MahjongError: a value is not valid; the message lists the valid ones.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        played = read_arguments(argument_names(MahjongAEC), variant, knobs)
        self.metadata = {
            "name": f"{played.name}_v{played.version}",
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.engine = HeldEngine(played, 1, num_hands=num_hands, start=start)
        self.engine.tell = self._begin
        if record is not None:
            self.engine.record_to(record)
        self.possible_agents = [person_name(person) for person in range(played.people)]
        self.agents = list(self.possible_agents)
        self._person = {agent: person for person, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space("dict") for agent in self.possible_agents}
        self.action_spaces = {agent: Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        planes = SHAPE[0] + PRIVILEGED.shape[0]
        self.state_space = Box(-128, 127, (played.people, planes, SHAPE[1]), np.int8)
        self._to_act = -1
        self._last_hand: dict[str, Any] | None = None
        self._last_receipt: Receipt | None = None

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's observations, the same object each time."""
        return self.observation_spaces[self.possible_agents[self._person_of(agent)]]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of an agent's actions, the same object each time."""
        return self.action_spaces[self.possible_agents[self._person_of(agent)]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match.

        Args:
            seed: any integer from 0; None for the next hands of the same seed.
            options: "deal" may hold a `mahjong_env.Deal`, the start of the first hand; other keys are ignored. A deal
                that cannot be dealt raises `DealError` and changes nothing.
        """
        self.engine.deal_anew(seed=seed, deals=read_options(options).get("deal"))
        self._begin()

    def _begin(self) -> None:
        """Take over the game as the engine has it now: nothing has been paid, and earlier events are forgotten."""
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        is_over = bool(self.engine.state.actor[0] < 0)  # if other code has set the engine to such a moment
        self.terminations = dict.fromkeys(self.agents, is_over)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._last_hand = None
        self._wait()

    def step(self, action: int | None) -> None:
        """Play the action of ``agent_selection``; pass None for an agent whose match is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            result = self.engine.play_one(action)
        except RecordError:  # the action has been played all the same
            self._begin()
            raise
        self._cumulative_rewards[agent] = 0
        self.infos[agent] = {}
        self._last_hand = None
        if result is None:
            self.rewards = dict.fromkeys(self.possible_agents, 0)
        else:
            self._pay(result)
        self._wait()

    def _pay(self, result: StepResult) -> None:
        """Tell the agents what they were paid, how the hand ended if it did, and whether the match ended."""
        rewards = result.rewards[0].tolist()
        self.rewards = dict(zip(self.possible_agents, rewards, strict=True))
        if any(rewards):
            self._accumulate_rewards()
        if result.hand_over[0]:
            self._last_hand = hand_info(result.outcome, 0)
            self._last_receipt = result.outcome.receipts[0] if self.render_mode in ("ansi", "human") else None
            self.infos = {agent: {"outcome": dict(self._last_hand)} for agent in self.agents}
        if result.done[0]:
            cut = bool(result.truncated[0])
            self.terminations = dict.fromkeys(self.agents, not cut)
            self.truncations = dict.fromkeys(self.agents, cut)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.engine.tell = self._begin

    def _wait(self) -> None:
        """Select the agent that the game waits for, or the first one if the match is over."""
        state = self.engine.state
        seat = int(state.actor[0])
        self._to_act = int(state.person_at[0, seat]) if seat >= 0 else -1
        self.agent_selection = self.possible_agents[max(self._to_act, 0)]
        if self._to_act < 0:
            self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return the observation of an agent, in fresh arrays."""
        person = self._person_of(agent)
        if person == self._to_act and not self.terminations.get(agent, True):
            return {"observation": self.engine.observe()[0], "action_mask": self.engine.state.mask[0].astype(np.int8)}
        return {"observation": self.engine.observe(seats=person)[0], "action_mask": np.zeros(NUM_ACTIONS, np.int8)}

    def view(self, agent: str) -> View:
        """Return the view of an agent, as fresh named arrays of one row: for your own inputs, agents and search."""
        return self.engine.view(seats=self._person_of(agent))

    def hidden(self, agent: str) -> Hidden:
        """Return what an agent may not see, as named arrays of one row, for critics; see `Engine.hidden`."""
        return self.engine.hidden(seats=self._person_of(agent))

    def _person_of(self, agent: str) -> int:
        person = self._person.get(agent) if isinstance(agent, str) else None
        if person is None:
            raise MahjongError(f"there is no agent {agent!r}; the agents are {', '.join(self.possible_agents)}")
        return person

    def state(self) -> Int8Array:
        """Return the full state, for central critics, which may see what players may not.

        Returns:
            [P, C + C', 34] int8: for each person, in the order of ``possible_agents``, the planes that it sees,
            followed by those that it may not see (`mahjong_env.PRIVILEGED_PIECES`). A critic that estimates the value
            for one agent takes that agent's row, in which all seats are relative to it.
        """
        games, people = np.zeros(self.engine.num_people, np.intp), np.arange(self.engine.num_people)
        both = [self.engine.observe(games, people, privileged=privileged) for privileged in (False, True)]
        return np.concatenate(both, axis=1)

    def render(self) -> Any:
        """Render the table, all hands open, by render mode: as text, [804, 750, 3] uint8 pixels, or on the terminal."""
        return render_game(self.engine, 0, self.render_mode, self._last_hand, self._last_receipt)

    def __repr__(self) -> str:
        waits = "to be reset" if self._to_act < 0 else f"{self.agent_selection} to act"
        return f"<{self.metadata['name']}: {waits}>"

    def _repr_html_(self) -> str:
        return game_svg(self.engine, 0, self._last_hand)

    def close(self) -> None:
        """Close the file of records, if there is one; an unfinished match is appended as it stands."""
        self.engine.close_record()


class Guarded(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's two standard wrappers, which refuse actions out of bounds and calls out of order.

    The original wrappers look every attribute up through each other, which slows down a game of small steps. Here
    attributes, `last` and `step` go straight to the environment wherever there is nothing to refuse.
    """

    def __init__(self, bare: AECEnv[str, Any, Any]) -> None:
        """Put the wrappers around an environment."""
        super().__init__(AssertOutOfBoundsWrapper(bare))
        self._bare = bare

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not self.__dict__.get("_has_reset"):
            return super().__getattr__(name)
        return getattr(self._bare, name)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """See `AECEnv.last`."""
        return self._bare.last(observe) if self._has_reset else super().last(observe)

    def step(self, action: Any) -> None:
        """See `MahjongAEC.step`."""
        bare = self._bare
        in_bounds = isinstance(action, int | np.integer) and 0 <= action < NUM_ACTIONS
        if not (in_bounds and self._has_reset and bare.agents):
            super().step(action)
            return
        self._has_updated = True
        bare.step(action)

    def __str__(self) -> str:
        return str(self.env)

    def __repr__(self) -> str:
        return repr(self.env.unwrapped)

    def _repr_html_(self) -> str:
        bare = self.env.unwrapped
        assert isinstance(bare, MahjongAEC)
        return bare._repr_html_()


class _EndingIfIllegal(TerminateIllegalWrapper[str, Any, Any]):
    """PettingZoo's wrapper, which looks at the legal actions anew: ``engine.restore`` may have changed them."""

    def step(self, action: Any) -> None:
        """See `MahjongAEC.step`."""
        self._prev_obs = None
        if isinstance(action, bool):
            self.env.step(action)  # refuses it; as an index of the mask it would be something else
        else:
            super().step(action)


def make_env(variant: str | Rules, *, on_illegal: str = "raise", **arguments: Any) -> Guarded:
    """Make a wrapped environment of one game of a variant.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        on_illegal: "raise": an illegal action raises an error and changes nothing. "end": it ends the game for all, as
            in PettingZoo's own board games; the player who chose it is paid -3 sigma, which the others do not gain.
        **arguments: those of `MahjongAEC`.

    Raises:
        RulesError: ``on_illegal`` is neither.
    """
    check_choice("on_illegal", on_illegal, ON_ILLEGAL)
    names = argument_names(MahjongAEC)
    knobs = {name: arguments.pop(name) for name in list(arguments) if name not in names}
    bare = MahjongAEC(read_arguments([*names, "on_illegal"], variant, knobs), **arguments)
    if on_illegal == "raise":
        return Guarded(bare)
    return Guarded(_EndingIfIllegal(bare, illegal_reward=ILLEGAL_REWARD * bare.engine.rules.sigma))


def no_attribute(name: str) -> Any:
    """Raise `AttributeError` for a name that a module `<variant>_v0` does not have (its ``__getattr__``)."""
    parallel = "; players act in turns here: pettingzoo.utils.conversions.turn_based_aec_to_parallel(env())"
    raise AttributeError(f"there is no attribute {name!r}{parallel if name == 'parallel_env' else ''}")


def environments(variant: str | Rules) -> tuple[Callable[..., MahjongAEC], Callable[..., Guarded]]:
    """Return the two functions that a module `<variant>_v0` offers: ``raw_env`` and ``env``.

    ``env`` adds PettingZoo's wrappers. Both take the arguments of `MahjongAEC` except for the variant.
    """

    def raw_env(**arguments: Any) -> MahjongAEC:
        """Make one game as a bare PettingZoo environment; for the arguments see `MahjongAEC`."""
        return MahjongAEC(variant, **arguments)

    def env(**arguments: Any) -> Guarded:
        """Make one game in PettingZoo's wrappers: no actions out of bounds, no calls out of order; see `make_env`."""
        return make_env(variant, **arguments)

    signature = inspect.signature(MahjongAEC)
    parameters = [each for name, each in signature.parameters.items() if name != "variant"]
    on_illegal = inspect.signature(make_env).parameters["on_illegal"]
    knobs = [each for each in parameters if each.kind is each.VAR_KEYWORD]
    for_env = [*parameters[: len(parameters) - len(knobs)], on_illegal, *knobs]
    for function, its in ((raw_env, parameters), (env, for_env)):
        setattr(function, "__signature__", signature.replace(parameters=its))  # noqa: B010 unknown to mypy
    return raw_env, env
