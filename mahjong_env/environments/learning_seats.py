"""Games in which one person learns and agents play the others: the common core of all environments with a learner.

The Gymnasium environment, the vector environment and the tables of training are shells around `LearningSeats`, which
alone defines what an episode is and what its learner is paid:

* A learner is paid every point that changes hands at its table, from the deal to the end of the match. Whatever is paid
  before its first decision (for another seat's kong, say) is part of the first reward. The rewards of an episode
  therefore sum to the points that its person has won or lost.
* A match that ends before its learner is asked once is not an episode: the game is dealt anew, and nobody is paid for
  it.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.errors import ActionError, DealError, MahjongError, RulesError
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array, Seeds, is_integer
from mahjong_env.engine.arguments import MOST_HANDS, as_array, check_count, check_room
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import Outcome, StepResult, hand_info
from mahjong_env.engine.phases.settle import most_hands
from mahjong_env.engine.scene import Deal, read_deals
from mahjong_env.environments.agents import (
    Opponent,
    OpponentPool,
    RandomAgent,
    Seating,
    agent_name,
    ask,
    choose_actions,
)
from mahjong_env.environments.arguments import (
    OBSERVATIONS,
    argument_names,
    check_choice,
    check_illegal_reward,
    read_arguments,
)
from mahjong_env.environments.held_engine import HeldEngine
from mahjong_env.environments.render import check_render_mode
from mahjong_env.observation.view import View
from mahjong_env.ruleset.questions import Rules
from mahjong_env.scoring.receipt import Receipt

ON_ILLEGAL: Final = ("end", "raise")
"""The responses to an illegal action: the episode ends, or `IllegalActionError` is raised."""

ILLEGAL_REWARD: Final = -3.0
"""In sigma, for each hand that is left. Random legal play among greedy players loses 0.2 to 0.8, house rules included,
so breaking the rules never pays."""

ROTATE: Final = "rotate"
"""For ``seat``: the learning person is drawn for the first episode, and each later episode takes the next person."""

# How often matches are dealt anew at most because they ended before the learning person was asked.
_MOST_ATTEMPTS: Final = 10_000
_MOST_ATTEMPTS_OF_A_DEAL: Final = 100
_FEW: Final = 8  # finished tables wait for their next deal until at most one table in eight is still playing
_THE_GAME: Final = np.zeros(1, np.intp)

OnEnd = Callable[[Games], None]


class LearningSeats:
    """B games, in each of which one person decides from outside; agents play all others, in batches.

    Every game either waits for its learning person or is over.

    Attributes:
        engine: the games.
        seat: the learning person; None: drawn for each episode; `ROTATE`: the next one in each episode.
        on_illegal: see `ON_ILLEGAL`.
        learner: [B] int8 the learning person of each game.
        earned: [B] int64 what the last step has paid: the points that the learning person has received since its
            previous decision, or since the deal if this was its first one.
        ended: [B] bool, whether the episode ended in the last step.
        truncated: [B] bool, whether it ended because its match was cut short.
        illegal: [B] bool, whether it ended with an illegal action; nothing was played there.
        forfeited: [B] float64 the reward of that illegal action, in points.
        has_begun: whether all games have begun an episode once.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        *,
        opponents: Any = "random",
        seat: int | str | None = None,
        num_hands: int = 1,
        start: str | None = None,
        on_illegal: str = "end",
        illegal_reward: float = ILLEGAL_REWARD,
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        """Set up the tables; `begin` deals.

        Args:
            rules: the rules played.
            num_games: B.
            opponents: who plays the other seats: one agent for all, a list of one for each (the next one first), or an
                `OpponentPool`. An agent is an object with ``act(view, rng)`` or a text such as "random", "greedy",
                "file.py:Class"; see `mahjong_env.environments.agents.find_agent`.
            seat: the learning person; None: drawn for each episode; "rotate": the next one in each episode.
            num_hands: hands of a match.
            start: see `mahjong_env.make_engine`.
            on_illegal: "end": an illegal action ends the episode; "raise": it raises an error.
            illegal_reward: the reward of an illegal action with "end", in sigma for each hand of the match that is not
                played to its end, the current one included. Sigma is roughly what a hand moves among good players
                (`Rules.sigma`, stakes included). The default is several times what random legal play loses, so
                breaking the rules never pays; with -1 or above it may. A match that ends by points counts as the 200
                hands after which it would be cut short.
            record: a file to which the record of every match is appended (`mahjong_env.records`).

        Raises:
            MahjongError: a value is not valid; the message lists the valid ones.
        """
        check_choice("on_illegal", on_illegal, ON_ILLEGAL)
        self._forfeit_a_hand = check_illegal_reward(illegal_reward) * (rules.sigma if on_illegal == "end" else 0.0)
        check_count("num_games", num_games)
        check_count("num_hands", num_hands, MOST_HANDS)
        check_room(rules, num_games)
        # In a match of one hand, a person who sits out that hand would never be asked.
        self._candidates = rules.seats if num_hands == 1 and rules.ends_by_hands else rules.people
        self.seat = _checked_seat(seat, self._candidates)
        self.on_illegal = on_illegal
        self._seating = Seating(opponents, num_games, rules.people)
        self.engine = HeldEngine(rules, num_games, num_hands=num_hands, start=start)
        self.learner: Int8Array = np.zeros(num_games, np.int8)
        self.earned: Int64Array = np.zeros(num_games, np.int64)
        self.ended: BoolArray = np.zeros(num_games, np.bool_)
        self.truncated: BoolArray = np.zeros(num_games, np.bool_)
        self.illegal: BoolArray = np.zeros(num_games, np.bool_)
        self.forfeited: NDArray[np.float64] = np.zeros(num_games)
        self._owed: Int64Array = np.zeros(num_games, np.int64)  # received, but not yet paid out with a step
        self._was_asked: BoolArray = np.zeros(num_games, np.bool_)  # in this episode
        self._was_cut: BoolArray = np.zeros(num_games, np.bool_)
        self._last_hands: dict[int, tuple[Outcome, int] | dict[str, Any]] = {}
        self.has_begun = False
        self._is_interrupted = False
        self.engine.tell = self.catch_up
        if record is not None:
            self.engine.record_to(record, self.names)

    # --- Who plays --------------------------------------------------------------------------------------------
    @property
    def opponents(self) -> tuple[Opponent, ...] | OpponentPool:
        """The opponents: one agent for each other seat, the next person's first, or the pool they are drawn from.

        New opponents take over at once and play the next decision, also in hands that are under way. If a pool
        replaces a pool of the same size, each agent takes over the seats of its counterpart; otherwise all seats are
        drawn anew.
        """
        return self._seating.opponents

    @opponents.setter
    def opponents(self, opponents: Any) -> None:
        self._seating.replace(opponents)

    def names(self, game: int) -> tuple[str, ...]:
        """Return the players of a game, by person: "learner", and the names of the others."""
        learner = int(self.learner[game])
        agents, who = self._seating.seated, self._seating.who[game].tolist()
        return tuple(
            "learner" if person == learner else agent_name(agents[number]) for person, number in enumerate(who)
        )

    # --- What is seen -----------------------------------------------------------------------------------------
    def observe(self, games: Games, *, privileged: bool = False) -> Int8Array:
        """Return what the learning persons see, or may not see (see `Engine.observe`): [n, C, 34] int8; fresh."""
        if self.engine.num_games == 1:
            return self.engine.observe(seats=self.learner.item(), privileged=privileged)
        return self.engine.observe(games, self.learner[games], privileged=privileged)

    def action_masks(self, games: Games) -> Int8Array:
        """Return the legal actions of the learning persons: [n, 109] int8, all 0 where the game is over; fresh."""
        return self.engine.state.mask.take(games, axis=0).view(np.int8)

    def last_hand(self, game: int) -> dict[str, Any] | None:
        """Return the last hand that has ended in a game since its learner decided (see `hand_info`), if any."""
        hand = self._last_hands.get(game)
        return hand_info(*hand) if isinstance(hand, tuple) else hand

    def last_receipt(self, game: int) -> Receipt | None:
        """Return how the points of `last_hand` add up; None after a draw, without such a hand, or after pickling."""
        hand = self._last_hands.get(game)
        return hand[0].receipts[hand[1]] if isinstance(hand, tuple) else None

    def last_hands(self) -> dict[int, dict[str, Any] | None]:
        """Return the `last_hand` of all games that have one."""
        return {game: self.last_hand(game) for game in self._last_hands}

    # --- Playing ----------------------------------------------------------------------------------------------
    def check_start(self, seed: int | None, deal: Deal | None) -> None:
        """Check a seed and a deal before anything changes; raise `MahjongError` if one of them is not valid."""
        if seed is not None:
            fold_seed(seed)
        if deal is not None:
            read_deals(deal, self.engine.rules, 1)

    def begin(self, games: Games, rng: np.random.Generator, *, seed: Seeds = None, deal: Deal | None = None) -> None:
        """Begin episodes in [n] games: deal, seat the learning persons, and play until they are asked.

        Raises:
            DealError: the deal is impossible (nothing has changed), or it always ends before the learning person is
                asked.
            AgentError: an agent's answer cannot be played.
        """
        if len(games) < self.engine.num_games:
            self._check_uninterrupted()
        self.engine.deal_anew(seed=seed, deals=deal, games=games)
        self._forget(games)
        self._sit_down(games, rng, is_first=seed is not None or not self.has_begun)
        self._play_on(games, rng, deal=deal)
        self.has_begun = True

    def step(
        self,
        games: Games,
        actions: Any,
        rng: np.random.Generator,
        *,
        on_end: OnEnd | None = None,
        beginning: Games | None = None,
    ) -> None:
        """Play the learning persons' actions, and then on until they are asked again or their matches are over.

        The results are in `earned`, `ended`, `truncated`, `illegal` and `last_hand` afterwards.

        Args:
            games: [n] the games to step; none of them is over.
            actions: [n] integers.
            rng: the source of the agents' randomness.
            on_end: called with the games whose episodes have ended, while their last state can still be read; then new
                episodes begin in these games. None: games that are over stay so.
            beginning: other games, which begin a new episode in the same step instead of playing an action.

        Raises:
            ActionError: wrong shape or type.
            IllegalActionError: an action is illegal, with ``on_illegal="raise"``; nothing has changed.
            AgentError: an agent's answer cannot be played. The step is left half done: all games have to begin anew.
        """
        self._check_uninterrupted()
        if self.engine.num_games == 1 and on_end is None and self._step_alone(actions, rng):
            return
        playing, chosen, illegal = self._legal_part(games, actions)
        result = self.engine.play(chosen, playing) if playing.size else None
        everywhere = games if beginning is None else np.sort(np.concatenate([games, beginning]))
        self._forget(everywhere)
        self._was_asked[games] = True
        self.illegal[games] = illegal
        if result is not None:
            self._note(playing, result)
        if playing is not games:
            broken = games[illegal]
            self.ended[broken] = True
            left = most_hands(self.engine.rules, self.engine.num_hands) - self.engine.state.hand_in_match[broken]
            self.forfeited[broken] = self._forfeit_a_hand * left
            if on_end is not None:
                self._renew(broken, rng, on_end)
                playing = games
        if beginning is not None:
            self.engine.deal_anew(games=beginning)
            self._sit_down(beginning, rng)
            playing = np.sort(np.concatenate([playing, beginning]))
        self._play_on(playing, rng, on_end)

    def _step_alone(self, actions: Any, rng: np.random.Generator) -> bool:
        """Step a single table without numpy, whose calls take longer than the work; return whether it was stepped."""
        action = actions.item() if isinstance(actions, np.ndarray) and actions.size == 1 else None
        if type(action) is not int or not 0 <= action < NUM_ACTIONS or not self.engine.state.mask[0, action]:
            return False
        result = self.engine.play_one(action)
        self.earned[0] = 0
        self._was_asked[0] = True
        self.ended[0] = self.truncated[0] = self.illegal[0] = False
        self._last_hands = {}
        if result is not None:
            self._note(_THE_GAME, result)
        self._is_interrupted = True
        self._seating.settle(self.learner, rng)
        self._let_others_play_alone(rng)
        if self._owed[0]:
            self.earned[0], self._owed[0] = self._owed[0], 0
        if self.engine.state.actor[0] < 0:
            self.ended[0], self.truncated[0] = True, self._was_cut[0]
        self._is_interrupted = False
        return True

    def catch_up(self) -> None:
        """Make the persons to act the learners after other code has changed the games; episodes count from here."""
        person = self.engine.seat_to_act
        self.learner = np.where(person >= 0, person, self.learner).astype(np.int8)
        self._forget(np.arange(self.engine.num_games))
        self._owed[:] = 0
        self._was_asked[:] = person < 0
        self._is_interrupted = False
        self._seating.follow(self.learner)

    def _legal_part(self, games: Games, actions: Any) -> tuple[Games, Int64Array, BoolArray]:
        """Return the games whose action is legal, those actions, and [n] where it is not."""
        chosen = as_array("actions", actions)
        if chosen.shape != games.shape or not np.issubdtype(chosen.dtype, np.integer):
            raise ActionError(
                f"actions are {len(games)} integers (one for each game), not {chosen.dtype} of shape {chosen.shape}"
            )
        inside = (chosen >= 0) & (chosen < NUM_ACTIONS)
        illegal = ~(inside & self.engine.state.mask[games, np.where(inside, chosen, 0)])
        if self.on_illegal == "end" and illegal.any():
            return games[~illegal], chosen[~illegal], illegal
        return games, chosen, illegal

    def _play_on(
        self, games: Games, rng: np.random.Generator, on_end: OnEnd | None = None, deal: Deal | None = None
    ) -> None:
        """Let the others play until every game waits for its learner or its episode is over; pay what is owed."""
        self._is_interrupted = True
        self._seating.settle(self.learner, rng)
        attempts, most = 0, _MOST_ATTEMPTS if deal is None else _MOST_ATTEMPTS_OF_A_DEAL
        while True:
            if self.engine.num_games == 1:
                self._let_others_play_alone(rng)
            person = self.engine.seat_to_act[games]
            others = np.flatnonzero((person >= 0) & (person != self.learner[games]))
            # Hands end one by one, but ending an episode and dealing cost about as much for one table as for many. So
            # finished tables wait for each other, and are dealt while the last few others are still playing.
            if others.size * _FEW <= len(games):
                over = games[person < 0]
                over = over if on_end is not None else over[~self._was_asked[over]]
                if over.size:
                    attempts += 1
                    if attempts > most and not self._was_asked[over].any():
                        raise DealError(f"in {most} attempts the match ended before the learning person had a decision")
                    self._renew(over, rng, on_end, deal)
                    continue
                if not others.size:
                    break
            acting = games[others]
            who = self._seating.who[acting, person[others]]
            actions = choose_actions(self.engine, acting, self._seating.agents, who, rng)
            self._note(acting, self.engine.play(actions, acting))
        self._pay(games[self._was_asked[games]], person[self._was_asked[games]] < 0)
        self._is_interrupted = False

    def _let_others_play_alone(self, rng: np.random.Generator) -> None:
        """Play until the learner of a single table is asked, without numpy, whose calls take longer than the work."""
        engine, learner, state = self.engine, int(self.learner[0]), self.engine.state
        who, agents = self._seating.who[0].tolist(), self._seating.agents
        person_at = state.person_at[0].tolist()
        while (seat := state.actor.item()) >= 0:
            person = person_at[seat]
            if person == learner:
                return
            agent = agents[who[person]]
            if type(agent) is RandomAgent:
                legal = state.mask[0].nonzero()[0]  # the same choice as that of `choose_at_random`
                action = legal.item(int(rng.random() * len(legal)))
            else:
                action = ask(agent, engine, _THE_GAME, rng).item()
            result = engine.play_one(action)
            if result is not None:
                self._note(_THE_GAME, result)
                person_at = state.person_at[0].tolist()

    def _renew(self, games: Games, rng: np.random.Generator, on_end: OnEnd | None, deal: Deal | None = None) -> None:
        """End the episodes of games in which one has taken place, and deal the games anew."""
        was_asked = self._was_asked[games]
        episodes = games[was_asked]
        if episodes.size and on_end is not None:
            self._pay(episodes, np.ones(episodes.size, np.bool_))
            on_end(episodes)
        self.engine.deal_anew(deals=deal, games=games)
        self._sit_down(games, rng, is_next=was_asked)

    def _sit_down(
        self, games: Games, rng: np.random.Generator, *, is_first: bool = False, is_next: BoolArray | bool = True
    ) -> None:
        """Begin to count for new episodes: who learns, and who plays the others.

        Args:
            games: [n] the games.
            rng: the source of randomness.
            is_first: whether these are the first episodes of their seed.
            is_next: [n] whether an episode has ended in the game, after which the next person learns.
        """
        if isinstance(self.seat, int):
            self.learner[games] = self.seat
        elif self.seat is None or is_first:
            self.learner[games] = rng.integers(self._candidates, size=len(games))
        else:
            self.learner[games] = (self.learner[games] + is_next) % self._candidates
        self._seating.sit_down(games, self.learner[games], rng)
        self._was_asked[games] = False
        self._was_cut[games] = False
        self._owed[games] = 0
        self._forget_hands(games)

    # --- What came of it --------------------------------------------------------------------------------------
    def _note(self, games: Games, result: StepResult) -> None:
        if np.count_nonzero(result.rewards):
            self._owed[games] += result.rewards[np.arange(len(games)), self.learner[games]]
        if len(result.outcome):
            self._was_cut[games] |= result.truncated
            for row, game in enumerate(result.outcome.game.tolist()):
                self._last_hands[game] = result.outcome, row

    def _pay(self, games: Games, ended: BoolArray) -> None:
        """Pay out what is owed to learners who have been asked; ``ended`` [n]: whether their episodes are over."""
        self.earned[games] = self._owed[games]
        self._owed[games] = 0
        self.ended[games] |= ended
        self.truncated[games] = self._was_cut[games] & ended & ~self.illegal[games]

    def _forget(self, games: Games) -> None:
        """Begin a step: nothing has been paid and nothing has ended in it."""
        self.earned[games] = 0
        self.ended[games] = False
        self.truncated[games] = False
        self.illegal[games] = False
        self._forget_hands(games)

    def _forget_hands(self, games: Games) -> None:
        if not self._last_hands:
            return
        if len(games) == self.engine.num_games:
            self._last_hands = {}
            return
        for game in games.tolist():
            self._last_hands.pop(game, None)

    def _check_uninterrupted(self) -> None:
        if self._is_interrupted:
            raise MahjongError("the last step was broken off, as by an agent that failed: reset all tables first")

    # --- Copies -----------------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        # Hands are kept as plain values, because their scores hold objects of the variant.
        return self.__dict__ | {"_last_hands": self.last_hands()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        self.engine.tell = self.catch_up


class LearnersEnv:
    """What environments around `LearningSeats` share: arguments, opponents, the engine and its views."""

    metadata: Any
    _seats: LearningSeats

    def _sit_down(
        self,
        variant: str | Rules,
        num_games: int,
        observation: str,
        privileged: bool,
        render_mode: str | None,
        arguments: dict[str, Any],
    ) -> None:
        """Set up the tables; ``arguments`` are those of `LearningSeats`, and house rules."""
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._form = check_choice("observation", observation, OBSERVATIONS)
        if not isinstance(privileged, bool):
            raise RulesError(f"privileged is True or False, not {privileged!r}")
        self._privileged = privileged
        settings = {name: arguments.pop(name) for name in _ARGUMENTS & arguments.keys()}
        self._seats = LearningSeats(
            read_arguments(argument_names(type(self)), variant, arguments), num_games, **settings
        )

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Add the arguments of `LearningSeats` to the signature of an environment."""
        super().__init_subclass__(**kwargs)
        _, *every = inspect.signature(getattr(cls, "__init__")).parameters.values()  # noqa: B009 unknown to mypy
        own = [each for each in every if each.kind is not each.VAR_KEYWORD]
        if len(own) < len(every):
            core = inspect.signature(LearningSeats).parameters
            knobs = inspect.Parameter("knobs", inspect.Parameter.VAR_KEYWORD, annotation="Any")
            own += [*(core[name] for name in core if name in _ARGUMENTS - {each.name for each in own}), knobs]
        setattr(cls, "__signature__", inspect.Signature(own))  # noqa: B010 unknown to mypy

    @property
    def engine(self) -> Engine:
        """The games, as an engine. If you restore a snapshot in it, the environment continues from there."""
        return self._seats.engine

    @property
    def opponents(self) -> Any:
        """The agents on the other seats; you may replace them at any time, see `LearningSeats.opponents`."""
        return self._seats.opponents

    @opponents.setter
    def opponents(self, opponents: Any) -> None:
        self._seats.opponents = opponents

    def view(self) -> View:
        """Return the learning seats' view, a row for each table, for your own inputs and rewards; fresh arrays."""
        return self.engine.view(seats=self._seats.learner)


_ARGUMENTS: Final = inspect.signature(LearningSeats).parameters.keys() - {"rules", "num_games"}


def _checked_seat(seat: Any, candidates: int) -> int | str | None:
    if seat is None or (isinstance(seat, str) and seat == ROTATE):
        return seat
    if not is_integer(seat) or not 0 <= seat < candidates:
        raise RulesError(
            f"seat={seat!r} is not valid; valid are 0 to {candidates - 1}, None (drawn for each episode) and "
            f"{ROTATE!r} (the next one in each episode)"
        )
    return int(seat)
