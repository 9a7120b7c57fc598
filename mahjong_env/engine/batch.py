"""The vectorised engine: B games of one variant, all stepped at once."""

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

_MANY_VIEWS: Final = 64  # views that are watched before those no longer in use are forgotten

_NO_ACTIONS: Final = np.zeros(0, np.int64)
_NO_GAMES: Final = np.zeros(0, np.intp)


class Engine:
    """B games of one variant as arrays with B first; made by `mahjong_env.make_engine`.

    Persons are numbered 0 to P-1 through a match, and seats are asked for and reported by the person who sits
    there (the same number, except where people change seats or take turns in sitting out).

    Attributes:
        rules: the variant with its knobs.
        num_games: B.
        num_hands: hands of a match.
        auto_reset: whether a finished game is dealt anew within the same step.
        state: the arrays themselves, for those who study them; writing to them is at your own risk.
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
        """Deal B games; the arguments are those of `mahjong_env.make_engine`."""
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
        """Begin to hold these games."""
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
        """Players at the table (S)."""
        return self.rules.seats

    @property
    def num_people(self) -> int:
        """Persons who take part (P)."""
        return self.rules.people

    @property
    def seat_to_act(self) -> Int8Array:
        """[B] int8 the person who must act, -1 where the game is over; a fresh array."""
        return persons_at(self.rules, self.state.person_at, self.state.actor)

    @property
    def dealer(self) -> Int8Array:
        """[B] int8 the person who deals; a fresh array."""
        return persons_at(self.rules, self.state.person_at, self.state.dealer)

    @property
    def action_mask(self) -> BoolArray:
        """[B, 109] bool legal actions of the seat to act, all False where the game is over.

        A fresh array: it may be kept, changed, and handed to other libraries.
        """
        return self.state.mask.copy()

    @property
    def points(self) -> Int32Array:
        """[B, P] int32 running points; a fresh array."""
        return self.state.points.copy()

    @property
    def observation_shape(self) -> tuple[int, int]:
        """(C, T): the shape of one observation."""
        return observation.SHAPE

    # --- Looking -------------------------------------------------------------------------------------------------
    def observe(
        self, games: Any = None, seats: Any = None, *, out: Int8Array | None = None, privileged: bool = False
    ) -> Int8Array:
        """The observations of seats, as planes.

        Args:
            games: [n] game numbers; None: all.
            seats: [n] persons, or one for all; None: the seats to act (seat 0 where a game is over).
            out: [n, C, 34] int8 an array to be filled and given back; None: a fresh one.
            privileged: the planes of what the seats may not see instead, for critics (see `hidden`).

        Returns:
            [n, C, 34] int8; `mahjong_env.OBSERVATION_PIECES` names the planes, `mahjong_env.PRIVILEGED_PIECES` those
            of what may not be seen.

        Raises:
            ActionError: there are no such games or seats, or ``out`` is another kind of array.
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
        """What seats may not see, as named arrays: for critics, labels and studies, never for an agent that plays.

        Args:
            games: as of `observe`.
            seats: as of `observe`.

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
        """The games as plain Python observes them; None: there are too many."""
        if self.num_games > one_seat.MOST_GAMES:
            return None
        return one_seat.FewObservations(self.state, self.rules, self.num_hands)

    def view(self, games: Any = None, seats: Any = None) -> View:
        """The same as `observe`, with the action mask and the same facts as named arrays, for agents."""
        seen = self._seen(games, seats)
        return View.of(seen, Origin(self, seen.games, seen.seat, seen.is_asked, self.moves(seen.games)))

    def moves(self, games: Any) -> Int64Array:
        """[n] int64 how often each of these games has been stepped, dealt or set anew; a fresh array.

        Args:
            games: [n] game numbers, repeats allowed; None: all.

        Raises:
            ActionError: there are no such games.
        """
        return self._moves_of[self._game_numbers(games, repeats=True)] + self._moves_of_all

    def games_of(self, view: View) -> tuple[Games, Int64Array]:
        """[n] the games that a view of this engine shows, and [n] their `moves` when it was taken.

        Views themselves do not tell: this is for the code that deals the games.

        Raises:
            ViewError: the view was taken of another engine, is a copy, or is no view.
        """
        if not isinstance(view, View):
            raise ViewError(f"an engine knows the games of a View, not of {type(view).__name__}")
        return view.games_in(self)

    def watch(self, view: View) -> None:
        """Have a view keep what it shows (`View.keep`) before the games move on, if it is still in use then."""
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
        """Copies and pickles have no views, and play, observe and deal for themselves."""
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

        Within the step happens all that nobody has to decide: a discard that nobody can claim passes, and the next
        seat draws; a kong is paid and replaced; a win or an empty wall ends the hand, and the next one is dealt. As
        soon as somebody has a choice the game waits for that seat. So the answers to one discard come one in each
        step, in the order of `mahjong_env.engine.claim_rules`: a step that says "pung" only notes it while another
        seat may still say "win", and the tile moves in the step of the last answer that matters. Rewards are paid in
        the step in which they are owed: a kong that may be robbed pays after the last "pass".

        Args:
            actions: int [B], or [len(games)]; entries of finished games are ignored.
            games: the games to step; None: all.
            out: arrays of n rows, one for each game stepped, to be filled with what is there after the step: any of
                "observation" [n, C, 34] int8, "action_mask" [n, 109] bool, "rewards" [n, P] int32.

        Returns:
            What was paid, and which hands and matches ended, one row for each game stepped.

        Raises:
            ActionError: wrong shape or type of ``actions``, ``games`` or ``out``; nothing has been changed.
            IllegalActionError: an action that is not legal; nothing in the batch has been changed.
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
        """Whether an action was played in the only game, so that nothing was paid and no hand ended; else: `step`."""
        few = self._few_games
        if few is None or type(action) is not int:
            return False
        self._keep_views()
        if not few.play_one(action):
            return False
        self._moves_of_all += 1
        return True

    def _uneventful(self, games: Games, out: Mapping[str, Any] | None) -> StepResult:
        """What comes of a step in which nothing was paid and no hand ended."""
        number = len(games)
        rewards = np.zeros((number, self.state.points.shape[1]), np.int32)
        if out is not None:
            self._fill(out, games, rewards)
        hand_over, done, truncated = np.zeros(number, np.bool_), np.zeros(number, np.bool_), np.zeros(number, np.bool_)
        return StepResult(rewards, hand_over, done, truncated, Outcome.empty(rewards.shape[1]))

    @lazy
    def _few_games(self) -> one_game.FewGames | None:
        """The games as plain Python plays them; None: there are too many, or the variant has its own way."""
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
        """Close the matches that are over and deal the next hands; [n] flags of the games stepped."""
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
            seed: a new seed, any integer from 0; None: the next hands of the same seed. Or one, or None, for each of
                these games, which is then dealt what an engine of one game of that seed is dealt.
            deals: how the first hand begins: one `Deal` for all games, or one for each.
            games: the games to deal anew; None: all.

        Raises:
            DealError: a deal that cannot be dealt; nothing has been changed.
            MahjongError: a seed that is not one.
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
        """A new engine with copies of these games, in this order; repeats are allowed.

        Raises:
            ActionError: there are no such games.
            RulesError: the copies cannot fit into the memory that is free.
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
        """Write games of another engine into this one, in place: a tree search keeps all its nodes in one engine.

        Args:
            games: [n] games of this engine, none of them twice; None: all.
            other: an engine of the same rules and number of hands; this one as well.
            rows: [n] its games, repeats allowed; None: all.

        Raises:
            ActionError: there are no such games, or not as many of the one as of the other; nothing has been changed.
            RulesError: ``other`` plays by other rules or another number of hands; nothing has been changed.
        """
        if not isinstance(other, Engine):
            raise ActionError(f"games are put from an engine, not from {type(other).__name__}")
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
        """Everything about the games, frozen.

        Args:
            games: [n] some of the games, in this order, repeats allowed; None: all.

        Raises:
            ActionError: there are no such games.
        """
        if games is None:
            return Snapshot.take(describe_games(self.rules, self.num_games, self.num_hands), self.state.arrays())
        g = self._game_numbers(games, repeats=True)
        return Snapshot.take(describe_games(self.rules, g.size, self.num_hands), self.state.rows(g).arrays())

    def restore(self, snapshot: Snapshot, games: Any = None) -> None:
        """Go back to a snapshot.

        Args:
            snapshot: of as many games.
            games: [n] the games that become those of the snapshot, none of them twice; None: all.

        Raises:
            SnapshotError: it is of another variant, other knobs, another number of games or another version; nothing
                has been changed.
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
        """Redistribute, in place, all that these seats have not seen: other hands, hidden kongs, the wall.

        What others have answered to an open question is forgotten. The seat's own answer is kept if it is the best so
        far: another one is kept by no engine.

        Args:
            seats: [n] persons (or one for all) whose knowledge is kept; who sits out knows no hand.
            rng: where chance comes from.
            games: [n] games, none of them twice; None: all.

        Raises:
            ActionError: wrong ``seats``, ``games`` or ``rng``; nothing has been changed.
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
    """An engine with its games dealt.

    Args:
        variant: a name in `mahjong_env.VARIANTS`, or rules.
        num_games: games played at once (B); about 5 kB each.
        seed: any integer from 0; None draws one. Game i's cards depend on (seed, i, number of its hand) alone.
        num_hands: hands of a match, with dealer, streak, winds and running points carried over.
        auto_reset: deal a new match within the step in which one ends, so that every game always waits for an action.
        start: "first": as a new match begins; "random": streak and winds drawn from the seed; None: random for
            single hands.
        **knobs: house rules of the variant.

    Raises:
        RulesError: unknown variant, knob or value, and the message lists the valid ones; or more games than fit into
            the memory that is free.
    """
    return Engine(
        rules(variant, **knobs), num_games, seed=seed, num_hands=num_hands, auto_reset=auto_reset, start=start
    )
