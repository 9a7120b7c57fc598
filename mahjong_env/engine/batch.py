"""The vectorised engine: B games of one variant, stepped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from weakref import ref

import numpy as np

from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.errors import ActionError, RulesError, SnapshotError, ViewError
from mahjong_env.basics.lazy import lazy
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int32Array, Int64Array, Seeds
from mahjong_env.engine import hidden, one_game
from mahjong_env.engine.arguments import (
    MOST_HANDS,
    as_array,
    axes_of,
    check_buffer,
    check_count,
    check_room,
    check_step_buffers,
    checked_actions,
    game_numbers,
    new_seeds,
    who_looks,
)
from mahjong_env.engine.deal_prefetch import MOST_GAMES, DealPrefetch
from mahjong_env.engine.outcome import Outcome, StepResult, persons_at
from mahjong_env.engine.phases import deal, settle
from mahjong_env.engine.phases.context import Ended, StepContext
from mahjong_env.engine.scene import Deal, Scene, read_deals
from mahjong_env.engine.snapshot import Snapshot, describe_games
from mahjong_env.engine.step import take_step
from mahjong_env.engine.worlds import Origin
from mahjong_env.observation import one_seat
from mahjong_env.observation import planes as observation
from mahjong_env.observation import privileged as privileged_planes
from mahjong_env.observation.privileged import Hidden
from mahjong_env.observation.view import View
from mahjong_env.observation.visibility import VisibleState
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import rules
from mahjong_env.state.arrays import NO_SEAT, State

_MANY_VIEWS: Final = 64  # with more views than this being watched, those no longer in use are dropped

_NO_ACTIONS: Final = np.zeros(0, np.int64)
_NO_GAMES: Final = np.zeros(0, np.intp)


class Engine:
    """B games of one variant, as arrays whose first axis is B; made by `mahjong_env.make_engine`.

    Persons keep their number, 0 to P-1, through a match. Methods take and return seats as the number of the person
    who sits there, which differs from the seat's own number only where people change seats or take turns sitting out.

    Attributes:
        rules: the variant with its knobs.
        num_games: B.
        num_hands: hands of a match.
        auto_reset: whether a finished game is dealt anew within the same step.
        state: the arrays themselves, for study; if you write to them, nothing is checked.
    """

    def __init__(
        self,
        rules: Rules,
        num_games: int,
        *,
        seed: int | None = None,
        num_hands: int = 1,
        auto_reset: bool = False,
        start: str | None = None,
    ) -> None:
        """Deal B games; for the arguments see `mahjong_env.make_engine`."""
        check_count("num_games", num_games)
        check_count("num_hands", num_hands, MOST_HANDS)
        if not isinstance(auto_reset, bool | np.bool_):
            raise RulesError(f"auto_reset is True or False, not {auto_reset!r}")
        if not (start is None or (isinstance(start, str) and start in ("first", "random"))):
            raise RulesError(
                f"start={start!r} is not valid; valid are 'first', 'random' and None (random for single hands)"
            )
        num_games, num_hands = int(num_games), int(num_hands)
        check_room(rules, num_games)
        self.rules = rules
        self.num_games = num_games
        self.num_hands = num_hands
        self.auto_reset = bool(auto_reset)
        self.start = start or ("random" if num_hands == 1 and rules.ends_by_hands else "first")
        self._hold(State.allocate(axes_of(rules, num_games)))
        self.reset(seed=fold_seed(seed) if seed is None else seed)

    def _hold(self, state: State) -> None:
        """Take over these games."""
        self.state = state
        self._context = StepContext(state, self.rules, self.num_hands > 1 or not self.rules.ends_by_hands)
        self._all_games = np.arange(self.num_games)
        self._all_games.flags.writeable = False
        self._moves_of, self._moves_of_all = np.zeros(self.num_games, np.int64), 0
        self._views: list[ref[View]] = []

    def __repr__(self) -> str:
        live = int((self.state.actor != NO_SEAT).sum())
        return f"<{type(self).__name__} of {self.rules.name}: {self.num_games} games, {live} of them under way>"

    # --- What the games wait for -------------------------------------------------------------------------------
    @property
    def num_seats(self) -> int:
        """The number of players at the table (S)."""
        return self.rules.seats

    @property
    def num_people(self) -> int:
        """The number of persons who take part (P)."""
        return self.rules.people

    @property
    def seat_to_act(self) -> Int8Array:
        """The person who must act in each game: [B] int8, -1 where the game is over; a fresh array."""
        return persons_at(self.rules, self.state.person_at, self.state.actor)

    @property
    def dealer(self) -> Int8Array:
        """The person who deals in each game: [B] int8; a fresh array."""
        return persons_at(self.rules, self.state.person_at, self.state.dealer)

    @property
    def action_mask(self) -> BoolArray:
        """The legal actions of the seat to act: [B, 109] bool, all False where the game is over.

        The array is a fresh one: you may keep it, change it, or pass it to other libraries.
        """
        return self.state.mask.copy()

    @property
    def points(self) -> Int32Array:
        """The running points of each person: [B, P] int32; a fresh array."""
        return self.state.points.copy()

    @property
    def observation_shape(self) -> tuple[int, int]:
        """The shape of one observation: (C, T)."""
        return observation.SHAPE

    # --- Looking -------------------------------------------------------------------------------------------------
    def observe(
        self, games: Any = None, seats: Any = None, *, out: Int8Array | None = None, privileged: bool = False
    ) -> Int8Array:
        """Return the observations of seats, as planes.

        Args:
            games: [n] game numbers; None for all games.
            seats: [n] persons, or one for all games; None for the seats to act (seat 0 where a game is over).
            out: [n, C, 34] int8, an array to fill and return; None for a fresh one.
            privileged: whether to return what the seats may not see instead, for critics (see `hidden`).

        Returns:
            [n, C, 34] int8. `mahjong_env.OBSERVATION_PIECES` names the planes; with ``privileged``,
            `mahjong_env.PRIVILEGED_PIECES` does.

        Raises:
            ActionError: there are no such games or seats, or ``out`` is not such an array (writable, C-contiguous).
        """
        layout = privileged_planes.LAYOUT if privileged else observation.LAYOUT
        few = None if privileged else self._few_observations
        asked = None if few is None else few.read(games, seats)
        if few is not None and asked is not None:
            if out is not None:
                check_buffer("out", out, (len(asked), *layout.shape), np.int8)
            return few.observe(asked, out)
        seen = self._seen(games, seats)
        if out is not None:
            check_buffer("out", out, (len(seen), *layout.shape), np.int8)
        return layout.write(Hidden.of(seen) if privileged else seen, len(seen), out)

    def hidden(self, games: Any = None, seats: Any = None) -> Hidden:
        """Return what seats may not see, as named arrays: for critics, labels and studies, never for a playing agent.

        Args:
            games: see `observe`.
            seats: see `observe`.

        Raises:
            ActionError: there are no such games or seats.
        """
        return Hidden.of(self._seen(games, seats))

    def _seen(self, games: Any, seats: Any) -> VisibleState:
        g = self._game_numbers(games, repeats=True)
        table_seats, present = who_looks(self.state, self.rules, g, seats)
        return VisibleState(self.state, self.rules, g, table_seats, present, self.num_hands)

    @lazy
    def _few_observations(self) -> one_seat.FewObservations | None:
        """The small-batch path of `observe` in plain Python; None if there are too many games for it."""
        if self.num_games > one_seat.MOST_GAMES:
            return None
        return one_seat.FewObservations(self.state, self.rules, self.num_hands)

    def view(self, games: Any = None, seats: Any = None) -> View:
        """Return the views of seats, for agents: the observations, the action masks, and the same as named arrays.

        Args:
            games: see `observe`.
            seats: see `observe`.

        Raises:
            ActionError: there are no such games or seats.
        """
        seen = self._seen(games, seats)
        return View.of(seen, Origin(self, seen.games, seen.seat, seen.is_asked, self.moves(seen.games)))

    def moves(self, games: Any) -> Int64Array:
        """Return how often each of these games has been stepped, dealt or otherwise changed: [n] int64; a fresh array.

        Args:
            games: [n] game numbers, repeats allowed; None for all games.

        Raises:
            ActionError: there are no such games.
        """
        return self._moves_of[self._game_numbers(games, repeats=True)] + self._moves_of_all

    def games_of(self, view: View) -> tuple[Games, Int64Array]:
        """Return [n] the games that a view of this engine shows, and [n] their `moves` when it was taken.

        A view alone does not reveal its games: this method is for the code that runs them.

        Raises:
            ViewError: the view was taken of another engine, is a copy, or is not a view.
        """
        if not isinstance(view, View):
            raise ViewError(f"an engine knows the games of a View, not of {type(view).__name__}")
        return view.games_in(self)

    def watch(self, view: View) -> None:
        """Make a view store what it shows (`View.keep`) before its games move on, if it is still in use then."""
        if len(self._views) >= _MANY_VIEWS:
            self._views = [known for known in self._views if known() is not None]
        self._views.append(ref(view))

    def _keep_views(self) -> None:
        if not self._views:
            return
        for known in self._views:
            view = known()
            if view is not None:
                view.keep()
        self._views.clear()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the views and the small-batch helpers, which a copy or pickle makes for itself."""
        own = ("_few_games", "_few_observations", "_ahead")
        return {name: value for name, value in self.__dict__.items() if name not in own} | {"_views": []}

    def _note_moves(self, games: Any, numbers: Games) -> None:
        self._keep_views()
        if games is None:
            self._moves_of_all += 1
        else:
            self._moves_of[numbers] += 1

    # --- Playing -------------------------------------------------------------------------------------------------
    def step(self, actions: Any, games: Any = None, *, out: Mapping[str, Any] | None = None) -> StepResult:
        """Play one action in each game.

        A step also carries out everything that nobody has to decide. A discard that nobody can claim passes, and the
        next seat draws; a kong is paid and its replacement drawn; a win or an empty wall ends the hand, and the next
        hand is dealt. As soon as a seat has a choice, the game waits for it.

        The answers to one discard therefore come one at a time, each in a step of its own, in the order of
        `mahjong_env.engine.claim_rules`. A step that says "pung" only notes the claim while another seat may still
        say "win"; the tile moves in the step of the last answer that matters. Rewards are paid in the step in which
        they fall due: a kong that may be robbed pays after the last "pass".

        Args:
            actions: int [B], or [len(games)]; entries of finished games are ignored.
            games: the games to step; None for all games.
            out: arrays of n rows, one for each game stepped, to fill after the step: any of
                "observation" [n, C, 34] int8, "action_mask" [n, 109] bool, "rewards" [n, P] int32.

        Returns:
            What was paid, and which hands and matches ended, with one row for each game stepped.

        Raises:
            ActionError: wrong shape or type of ``actions``, ``games`` or ``out``; nothing has changed.
            IllegalActionError: an action is not legal; nothing in the batch has changed.
        """
        is_one = type(actions) is list and len(actions) == 1 == self.num_games and games is None and out is None
        if is_one and self._play_quietly(actions[0]):
            return self._uneventful(self._all_games, None)
        few = self._few_games
        plain = None if few is None else few.read(actions, games)
        g = self._game_numbers(games) if plain is None else self._all_games if games is None else games
        chosen = checked_actions(self.state, actions, g) if plain is None else _NO_ACTIONS
        if out is not None:
            check_step_buffers(out, len(g), self.num_people)
        self._note_moves(games, g)

        last = _NO_GAMES
        if few is not None and plain is not None:
            left, ends = few.play(plain)
            if not left and not ends:
                return self._uneventful(g, out)
            live, chosen = np.array(left, np.intp).reshape(-1, 2).T
            last = np.array(ends, np.intp)
        else:
            live = g if chosen.size == g.size else g[self.state.actor[g] != NO_SEAT]
        ended = take_step(self._context, live, chosen, last)
        outcome = Outcome.collect(ended, self.rules, self.state)
        hand_over, done, truncated = self._begin_next_hands(g, ended)
        rewards = self._context.rewards if games is None else self._context.rewards[g]
        if out is not None:
            self._fill(out, g, rewards)
        return StepResult(rewards, hand_over, done, truncated, outcome)

    def _play_quietly(self, action: int) -> bool:
        """Play an action in the only game if the fast path can and no hand ends; return whether it was played."""
        few = self._few_games
        if few is None or type(action) is not int:
            return False
        self._keep_views()
        if not few.play_one(action):
            return False
        self._moves_of_all += 1
        return True

    def _uneventful(self, games: Games, out: Mapping[str, Any] | None) -> StepResult:
        """Return the result of a step in which nothing was paid and no hand ended."""
        number = len(games)
        rewards = np.zeros((number, self.state.points.shape[1]), np.int32)
        if out is not None:
            self._fill(out, games, rewards)
        hand_over, done, truncated = np.zeros(number, np.bool_), np.zeros(number, np.bool_), np.zeros(number, np.bool_)
        return StepResult(rewards, hand_over, done, truncated, Outcome.empty(rewards.shape[1]))

    @lazy
    def _few_games(self) -> one_game.FewGames | None:
        """The small-batch path of `step` in plain Python; None with too many games or rules that it cannot play."""
        can_play = self.num_games <= one_game.MOST_GAMES and one_game.can_play(self.rules)
        return one_game.FewGames(self._context) if can_play else None

    @lazy
    def _ahead(self) -> DealPrefetch:
        return DealPrefetch(self._context, at_random=self.start == "random")

    def _fill(self, out: Mapping[str, Any], games: Games, rewards: Int32Array) -> None:
        if "observation" in out:
            self.observe(games, out=out["observation"])
        if "action_mask" in out:
            self.state.mask.take(games, axis=0, out=out["action_mask"], mode="clip")  # "raise" would copy it twice
        if "rewards" in out:
            out["rewards"][...] = rewards

    def _begin_next_hands(self, games: Games, ended: list[Ended]) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Close the matches that are over and deal the next hands; return [n] flags of the games stepped."""
        flags = np.zeros((3, self.num_games if ended else len(games)), np.bool_)
        if not ended:
            return flags[0], flags[1], flags[2]
        over_hands = np.concatenate([part.games for part in ended])
        winner = np.concatenate([part.winner for part in ended])
        over, cut = settle.next_hands(self._context, over_hands, winner, self.num_hands)
        flags[0, over_hands] = True
        flags[1, over_hands[over]] = True
        flags[2, over_hands[cut]] = True
        deal.deal_hands(self._context, np.sort(over_hands[~over]))
        if self.auto_reset:
            self._begin_matches(np.sort(over_hands[over]))
        return flags[0, games], flags[1, games], flags[2, games]

    def _begin_matches(self, games: Games, scenes: Sequence[Scene] = (), *, is_same_seed: bool = True) -> None:
        if not is_same_seed or scenes or self.num_games > MOST_GAMES:
            deal.begin_matches(self._context, games, at_random=self.start == "random")
            deal.deal_hands(self._context, games, scenes)
        elif games.size:
            self._ahead.begin(games)

    def reset(
        self,
        seed: Seeds = None,
        deals: Deal | Sequence[Deal] | None = None,
        games: Any = None,
    ) -> None:
        """Begin new matches.

        Args:
            seed: any integer from 0 begins a new seed for these games; None deals the next hands of the same seed.
                Alternatively a sequence with one of these for each game; a game with a seed of its own is dealt what
                an engine of one game of that seed is dealt.
            deals: how the first hand begins: one `Deal` for all games, or one for each.
            games: the games to deal anew; None for all games.

        Raises:
            DealError: a deal cannot be dealt; nothing has changed.
            MahjongError: a seed is not valid.
        """
        g = self._game_numbers(games)
        renewed, folded, stream = new_seeds(seed, g)
        scenes = [] if deals is None else read_deals(deals, self.rules, len(g))
        self._note_moves(games, g)
        state = self.state
        state.seed[renewed], state.stream[renewed], state.hands_dealt[renewed] = folded, stream, 0
        self._begin_matches(g, scenes, is_same_seed=seed is None)

    # --- Copies --------------------------------------------------------------------------------------------------
    def select(self, games: Any) -> Engine:
        """Return a new engine with copies of these games, in this order; repeats are allowed.

        Raises:
            ActionError: there are no such games.
            RulesError: the copies do not fit into free memory.
        """
        if games is not None:
            games = as_array("games", games)
            check_room(self.rules, games.size)
        g = self._game_numbers(games, repeats=True)
        twin = object.__new__(type(self))
        twin.rules, twin.num_games, twin.num_hands = self.rules, len(g), self.num_hands
        twin.auto_reset, twin.start = self.auto_reset, self.start
        twin._hold(self.state.rows(g))
        return twin

    def put(self, games: Any, other: Engine, rows: Any = None) -> None:
        """Write games of another engine into this one, in place.

        A tree search can thus keep all its nodes in one engine.

        Args:
            games: [n] games of this engine, none of them twice; None for all games.
            other: an engine with the same rules and number of hands; may be this engine itself.
            rows: [n] games of ``other``, repeats allowed; None for all games.

        Raises:
            ActionError: there are no such games, or the two numbers of games differ; nothing has changed.
            RulesError: ``other`` has other rules or another number of hands; nothing has changed.
        """
        if not isinstance(other, Engine):
            raise ActionError(f"games are copied from an engine, not from {type(other).__name__}")
        if describe_games(other.rules, 1, other.num_hands) != describe_games(self.rules, 1, self.num_hands):
            raise RulesError(
                f"games of {other!r} cannot be put into {self!r}: rules, knobs and number of hands must be the same"
            )
        g, theirs = self._game_numbers(games), other._game_numbers(rows, repeats=True)
        if g.size != theirs.size:
            raise ActionError(f"{theirs.size} games cannot be put in the place of {g.size}")
        self._note_moves(games, g)
        self.state.copy_games(g, other.state, theirs)

    def snapshot(self, games: Any = None) -> Snapshot:
        """Return a frozen copy of the full state of the games.

        Args:
            games: [n] some of the games, in this order, repeats allowed; None for all games.

        Raises:
            ActionError: there are no such games.
        """
        if games is None:
            return Snapshot.take(describe_games(self.rules, self.num_games, self.num_hands), self.state.arrays())
        g = self._game_numbers(games, repeats=True)
        return Snapshot.take(describe_games(self.rules, g.size, self.num_hands), self.state.rows(g).arrays())

    def restore(self, snapshot: Snapshot, games: Any = None) -> None:
        """Restore games from a snapshot.

        Args:
            snapshot: a snapshot of the same number of games.
            games: [n] the games to overwrite, none of them twice; None for all games.

        Raises:
            SnapshotError: it is of another variant, other knobs, another number of games or another version; nothing
                has changed.
            ActionError: there are no such games.
        """
        if not isinstance(snapshot, Snapshot):
            raise SnapshotError(f"games are restored from a Snapshot, not from {type(snapshot).__name__}")
        g = self._game_numbers(games)
        arrays = self.state.arrays()
        snapshot.check_fits(describe_games(self.rules, g.size, self.num_hands), arrays)
        self._note_moves(games, g)
        for name, array in arrays.items():
            array[g] = snapshot.arrays[name]

    def resample_hidden(self, seats: Any, rng: np.random.Generator, games: Any = None) -> None:
        """Redistribute, in place, everything that these seats have not seen: other hands, hidden kongs, the wall.

        The other seats' answers to a question that is still being asked are forgotten. The looking seat's own answer
        is kept if it is the best so far; the engine does not keep any other.

        Args:
            seats: [n] persons (or one for all games) whose knowledge is kept; a person who sits out knows no hand.
            rng: the source of randomness.
            games: [n] games, none of them twice; None for all games.

        Raises:
            ActionError: wrong ``seats``, ``games`` or ``rng``; nothing has changed.
        """
        if not isinstance(rng, np.random.Generator):
            raise ActionError(f"rng is a numpy.random.Generator, such as np.random.default_rng(5), not {rng!r}")
        g = self._game_numbers(games)
        table_seats, present = who_looks(self.state, self.rules, g, seats)
        self._note_moves(games, g)
        hidden.resample(self._context, g, table_seats, present, rng)

    def _game_numbers(self, games: Any, *, repeats: bool = False) -> Games:
        return self._all_games if games is None else game_numbers(games, self.num_games, repeats=repeats)


def make_engine(
    variant: str | Rules,
    num_games: int = 1,
    *,
    seed: int | None = None,
    num_hands: int = 1,
    auto_reset: bool = False,
    start: str | None = None,
    **knobs: Any,
) -> Engine:
    """Make an engine with its games dealt.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        num_games: games played at once (B); each takes about 5 kB.
        seed: any integer from 0; None draws one. The cards of game i depend only on (seed, i, number of its hand).
            Choose one below 2**32: commands measure and train on hands of larger ones.
        num_hands: hands of a match, with dealer, streak, winds and running points carried over.
        auto_reset: deal a new match within the step in which one ends, so that every game always waits for an action.
        start: "first" begins as a new match does; "random" draws streak and winds from the seed; None means random
            for single hands and "first" otherwise.
        **knobs: house rules of the variant.

    Raises:
        RulesError: the variant, a knob or a value is unknown (the message lists the valid ones), or the games do not
            fit into free memory.
    """
    return Engine(
        rules(variant, **knobs), num_games, seed=seed, num_hands=num_hands, auto_reset=auto_reset, start=start
    )
