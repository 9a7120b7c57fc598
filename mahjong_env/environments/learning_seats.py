"""Games in which one person learns and agents play the others: what the Gymnasium environments have in common."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mahjong_env.basics.actions import NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, DealError, RulesError
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array
from mahjong_env.engine.batch import Engine, as_array, check_count
from mahjong_env.engine.outcome import StepResult
from mahjong_env.engine.scene import Deal
from mahjong_env.environments.hand_info import hand_info
from mahjong_env.environments.opponents import Opponent, find_opponents
from mahjong_env.environments.players import ask
from mahjong_env.ruleset.questions import Rules

ON_ILLEGAL: Final = ("end", "raise")
"""What may happen on an illegal action: the episode ends, or `IllegalActionError` is raised."""

MOST_ATTEMPTS: Final = 10_000
MOST_ATTEMPTS_OF_A_DEAL: Final = 100
"""How often matches are dealt anew because they ended before the learning person was asked."""


class LearningSeats:
    """B games, in each of which one person decides from outside; all others are played by agents, in batches.

    Every game either waits for its learning person or is over. Matches that end before that person is asked once are
    dealt anew: they are no episodes.

    Attributes:
        engine: the games.
        learner: [B] int8 the learning person of each game.
        earned: [B] int64 points that the learning person has received since its last decision; those from before its
            first one are added to the first.
        truncated: [B] bool matches that were cut short.
        last_hand: for games in which a hand has ended since the last decision: that hand, see `hand_info`.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        *,
        opponents: Any = "random",
        seat: int | None = None,
        num_hands: int = 1,
        start: str | None = None,
        on_illegal: str = "end",
    ) -> None:
        """Set the tables up; `begin` deals.

        Args:
            rules: what is played.
            num_games: B.
            opponents: see `mahjong_env.environments.opponents.find_opponents`.
            seat: the learning person; None: drawn for each episode.
            num_hands: hands of a match.
            start: see `mahjong_env.make_engine`.
            on_illegal: see `ON_ILLEGAL`.

        Raises:
            MahjongError: a value that is not valid; the message lists those that are.
        """
        if not (isinstance(on_illegal, str) and on_illegal in ON_ILLEGAL):
            raise RulesError(f"on_illegal={on_illegal!r} is not valid; valid are {', '.join(map(repr, ON_ILLEGAL))}")
        check_count("num_hands", num_hands)
        # A person who sits out the first hand of a match of one hand is never asked.
        self._candidates = rules.seats if num_hands == 1 and rules.ends_by_hands else rules.people
        if seat is not None and not (isinstance(seat, int | np.integer) and 0 <= seat < self._candidates):
            raise RulesError(
                f"seat={seat!r} is not valid; valid are 0 to {self._candidates - 1} and None (drawn for each episode)"
            )
        self.opponents: list[Opponent] = find_opponents(opponents, rules.people - 1)
        self.engine = Engine(rules, num_games, num_hands=num_hands, start=start)
        self.seat = seat
        self.on_illegal = on_illegal
        self.learner: Int8Array = np.zeros(num_games, np.int8)
        self.earned: Int64Array = np.zeros(num_games, np.int64)
        self.truncated: BoolArray = np.zeros(num_games, np.bool_)
        self._was_asked: BoolArray = np.zeros(num_games, np.bool_)
        self.last_hand: dict[int, dict[str, Any]] = {}

    def observe(self, games: Games) -> Int8Array:
        """[n, C * 34] int8 what the learning persons see, flat; a fresh array."""
        return self.engine.observe(games, self.learner[games]).reshape(len(games), -1)

    def action_masks(self, games: Games) -> Int8Array:
        """[n, 109] int8 legal actions of the learning persons, all 0 where the game is over; a fresh array."""
        return self.engine.action_mask[games].view(np.int8)

    def begin(
        self, games: Games, rng: np.random.Generator, *, seed: int | None = None, deal: Deal | None = None
    ) -> None:
        """Begin episodes: deal, draw the learning persons, and play until they are asked.

        Args:
            games: [n] which games.
            rng: feeds the choice of persons, and the agents.
            seed: of the cards; None: the next hands of the same seed.
            deal: how the first hands begin.

        Raises:
            DealError: the deal is impossible (nothing has changed), or always ends before the learning person is asked.
        """
        if deal is not None and not isinstance(deal, Deal):
            raise DealError(f"the option 'deal' is a mahjong_env.Deal, not {deal!r}")
        attempts = MOST_ATTEMPTS if deal is None else MOST_ATTEMPTS_OF_A_DEAL
        for _ in range(attempts):
            self.engine.reset(seed=seed, deals=deal, games=games)
            seed = None
            self.learner[games] = rng.integers(self._candidates, size=len(games)) if self.seat is None else self.seat
            self._forget(games)
            self._was_asked[games] = False
            self.earned[games] = 0
            self._let_others_play(games, rng)
            games = games[self.engine.seat_to_act[games] < 0]
            if not games.size:
                return
        raise DealError(f"in {attempts} attempts the match ended before the learning person was asked once")

    def step(self, games: Games, actions: Any, rng: np.random.Generator) -> BoolArray:
        """Play the learning persons' actions, and then on until they are asked again or their games are over.

        Points are in `earned` afterwards, ended hands in `last_hand`.

        Args:
            games: [n] which games.
            actions: [n] integers.
            rng: feeds the agents.

        Returns:
            [n] bool games in which the action was illegal; nothing was played there (``on_illegal="end"`` only).

        Raises:
            ActionError: wrong shape or type.
            IllegalActionError: an illegal action, with ``on_illegal="raise"``; nothing has changed.
        """
        chosen = as_array("actions", actions)
        if chosen.shape != games.shape or not np.issubdtype(chosen.dtype, np.integer):
            raise ActionError(
                f"actions are {len(games)} integers (one for each game), not {chosen.dtype} of shape {chosen.shape}"
            )
        inside = (chosen >= 0) & (chosen < NUM_ACTIONS)
        illegal = ~(inside & self.engine.action_mask[games, np.where(inside, chosen, 0)])
        playing = games
        if self.on_illegal == "end" and illegal.any():
            playing, chosen = games[~illegal], chosen[~illegal]
        result = self.engine.step(chosen, playing) if playing.size else None
        self._forget(games)
        self._was_asked[games] = True
        if result is not None:
            self._note(playing, result)
        self._let_others_play(playing, rng)
        return illegal

    def _forget(self, games: Games) -> None:
        """Begin to count anew for the next decision."""
        self.earned[games] *= ~self._was_asked[games]
        self.truncated[games] = False
        if self.last_hand:
            for game in games.tolist():
                self.last_hand.pop(game, None)

    def _note(self, games: Games, result: StepResult) -> None:
        self.earned[games] += result.rewards[np.arange(len(games)), self.learner[games]]
        if len(result.outcome):
            self.truncated[games] |= result.truncated
            for place, game in enumerate(result.outcome.game.tolist()):
                self.last_hand[game] = hand_info(result.outcome, place)

    def _let_others_play(self, games: Games, rng: np.random.Generator) -> None:
        engine = self.engine
        while True:
            person = engine.seat_to_act[games]
            goes_on = (person >= 0) & (person != self.learner[games])
            games, person = games[goes_on], person[goes_on]
            if not games.size:
                return
            self._note(games, self.engine.step(self._answers(games, person, rng), games))

    def _answers(self, games: Games, person: Int8Array, rng: np.random.Generator) -> Int64Array:
        """The agents' actions for the persons who are to act, one call for each different agent."""
        first = self.opponents[0]
        if all(agent is first for agent in self.opponents):
            return ask(first, self.engine, games, rng)
        offset = (person - self.learner[games] - 1) % self.engine.num_people
        actions = np.zeros(len(games), np.int64)
        for agent in {id(agent): agent for agent in self.opponents}.values():
            sits_at = [place for place, other in enumerate(self.opponents) if other is agent]
            asked = np.isin(offset, sits_at)
            if asked.any():
                actions[asked] = ask(agent, self.engine, games[asked], rng)
        return actions
