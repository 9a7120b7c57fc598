"""Replays games of the engine in the referee, and compares them after every action."""

from __future__ import annotations

from typing import Any

import numpy as np

import mahjong_env
from mahjong_env.notation import MeldType
from mahjong_env.tiles import KIND_NAMES
from referee import Referee, Start

MELD_WORDS = {kind: kind.name.lower().replace("_", " ") for kind in MeldType}
WINDS = ("1z", "2z", "3z", "4z")


class DisagreementError(AssertionError):
    """Engine and referee differ; the message is a reproducible scene."""


def names(kinds: Any) -> list[str]:
    """Tile names of kinds."""
    return [KIND_NAMES[int(kind)] for kind in kinds]


class Duel:
    """One match of the engine and the same match of the referee."""

    def __init__(self, engine: mahjong_env.Engine, game: int, num_hands: int) -> None:
        self.engine, self.game = engine, game
        rules = engine.rules
        self.referee = Referee(rules.name, knobs=rules.knobs, num_hands=num_hands)
        self.played: list[str] = []
        self.deal()

    # --- what the engine's state says, in the referee's words ---------------------------------------------------
    def start(self) -> Start:
        """The chance of the hand that has just been dealt, read off the wall."""
        state, game, rules = self.engine.state, self.game, self.engine.rules
        wall = names(state.wall[game])
        size, seats, dealer = rules.hand_size, rules.seats, int(state.dealer[game])
        hands = [wall[seat * size : (seat + 1) * size] for seat in range(seats)]
        place = seats * size
        if not rules.dealer_draws_last:
            hands[dealer].append(wall[place])
            place += 1
        indicators: list[str] = []
        if rules.turns_indicator:
            assert not rules.dealer_draws_last
            flowers = {KIND_NAMES[kind] for kind in np.flatnonzero(rules.flower_kinds)}
            while not indicators or indicators[-1] in flowers:
                indicators.append(wall[place])
                place += 1
        return Start(
            hands=hands,
            wall=wall[place:],
            indicators=indicators,
            lao_dice=bool(state.dice[game]),
            dealer=dealer,
            dealer_streak=int(state.streak[game]),
            round_wind=WINDS[int(state.round_wind[game])],
            house_winds=[WINDS[int(wind)] for wind in state.house_wind[game]],
            running_points=self.points_at_deal(),
        )

    def points_at_deal(self) -> list[int] | None:
        return None

    def deal(self) -> None:
        self.played = [f"-- deal {self.referee.hands_played}"]
        first = self.referee.hands_played == 0
        start = self.start()
        if not first:
            # The dice of later hands show in the house winds alone.
            east = start.house_winds.index("1z")
            start.house_dice = (east - start.dealer) % self.engine.num_seats + 1
        self.referee.deal(start)

    # --- playing ----------------------------------------------------------------------------------------------
    @property
    def over(self) -> bool:
        return bool(self.engine.seat_to_act[self.game] == -1)

    def check(self, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            raise DisagreementError(f"{what}\n  engine:  {ours}\n  referee: {theirs}\n{self.scene()}")

    def before(self) -> None:
        """Compare what is to be decided, and everything that lies on the table."""
        state, game, ref = self.engine.state, self.game, self.referee
        self.check("seat to act", int(self.engine.seat_to_act[game]), -1 if ref.to_act is None else ref.to_act)
        legal = {mahjong_env.ACTIONS[action] for action in np.flatnonzero(self.engine.action_mask[game])}
        self.check("legal actions", sorted(legal), sorted(ref.legal()))
        self.check("left", max(0, int(state.left(np.array([game]))[0])), ref.left)
        self.check("dealer", int(self.engine.dealer[game]), ref.dealer)
        self.check("streak", int(state.streak[game]), ref.streak)
        self.check("points", self.engine.points[game].tolist(), list(ref.points))
        self.check("round wind", WINDS[int(state.round_wind[game])], ref.round_wind)
        wild = int(state.wild[game])
        self.check("wild", KIND_NAMES[wild] if wild >= 0 else None, ref.wild)
        for seat in range(self.engine.num_seats):
            self.compare_seat(seat)

    def compare_seat(self, seat: int) -> None:
        state, game, ref = self.engine.state, self.game, self.referee
        persons = state.person_at[game]
        person = int(persons[seat])
        hand = names(np.repeat(np.arange(34), state.hand[game, seat]))
        self.check(f"hand of person {person}", hand, sorted(ref.hands[person], key=KIND_NAMES.index))
        flowers = names(np.repeat(np.arange(42), state.flowers[game, seat]))
        self.check(f"flowers of person {person}", flowers, sorted(ref.flowers[person], key=KIND_NAMES.index))
        melds = []
        for place in range(state.num_melds[game, seat]):
            meld = MeldType(state.meld_type[game, seat, place])
            kind, giver = int(state.meld_kind[game, seat, place]), int(state.meld_from[game, seat, place])
            steps = (0, 1, 2) if meld is MeldType.CHOW else (0,) * (3 if meld is MeldType.PUNG else 4)
            origin = None if giver < 0 else int(persons[giver])
            melds.append((MELD_WORDS[meld], names(kind + step for step in steps), origin))
        self.check(f"melds of person {person}", melds, [(m, sorted(t), g) for m, t, g in ref.melds[person]])
        river = names(kind for kind in state.river[game, seat] if kind >= 0)
        self.check(f"discards of person {person}", river, ref.discards[person])

    def after(self, action: int, result: Any, row: int) -> None:
        """Play the action in the referee, and compare what it paid and how the hand ended."""
        name = mahjong_env.ACTIONS[action]
        self.played.append(f"{self.referee.to_act} {name}")
        rewards = self.referee.apply(name)
        self.check("rewards", result.rewards[row].tolist(), list(rewards))
        self.check("hand over", bool(result.hand_over[row]), bool(self.referee.hand_over))
        if result.hand_over[row]:
            self.compare_end(result.outcome)
            self.check("match over", self.over, self.referee.match_over)
            if self.referee.wants_deal:
                self.deal()

    def compare_end(self, outcome: Any) -> None:
        place = int(np.flatnonzero(outcome.game == self.game)[0])
        ref = self.referee.result
        self.check("winner", int(outcome.winner[place]), -1 if ref.winner is None else ref.winner)
        self.check("source", str(outcome.source[place]), ref.source or "")
        self.check("value", int(outcome.value[place]), ref.points)
        self.check("payments", outcome.payments[place].tolist(), list(ref.payments))
        rows = sorted(outcome.rows[place])
        tied = [sorted((name, value) for name, value in tie) for tie in ref.tied_rows]
        if rows not in tied:
            self.check("rows", rows, tied)

    def scene(self) -> str:
        """How to get here."""
        engine = self.engine
        state, game = engine.state, self.game
        where = f"{engine.rules.name} {engine.rules.knobs} seed {state.seed[game]} game {state.stream[game]}"
        melds = [
            f"  person {person}: {self.referee.hands[person]} {self.referee.melds[person]}"
            for person in range(engine.num_people)
        ]
        return "\n".join(
            [
                where,
                f"wild {self.referee.wild}",
                *melds,
                " | ".join(self.played[-40:]),
                f"wall {names(state.wall[game])}",
            ]
        )


def duel(
    variant: str,
    games: int,
    *,
    seed: int,
    choose: Any,
    num_hands: int = 1,
    deals: Any = None,
    on_end: Any = None,
    **knobs: Any,
) -> int:
    """Play a batch to its end, each game beside a referee.

    Args:
        variant: its name.
        games: how many.
        seed: of cards and play.
        choose: ``choose(engine, rng)`` gives an action for each game.
        num_hands: hands of a match.
        deals: how the first hands begin.
        on_end: called with each step's outcome.
        **knobs: house rules.

    Returns:
        The number of hands compared.
    """
    engine = mahjong_env.make_engine(variant, games, seed=seed, num_hands=num_hands, start="first", **knobs)
    if deals is not None:
        engine.reset(deals=deals)
    duels = [Duel(engine, game, num_hands) for game in range(games)]
    rng = np.random.default_rng(seed)
    hands = 0
    for one in duels:
        one.before()
    while (engine.seat_to_act >= 0).any():
        live = np.flatnonzero(engine.seat_to_act >= 0)
        actions = choose(engine, rng)
        result = engine.step(actions)
        for game in live:
            duels[game].after(int(actions[game]), result, game)
            if not duels[game].over:
                duels[game].before()
        hands += len(result.outcome)
        if on_end is not None and len(result.outcome):
            on_end(engine, result)
    return hands


def choose_random(engine: mahjong_env.Engine, rng: np.random.Generator) -> Any:
    """Uniformly random legal actions, except that wins are taken."""
    mask = engine.action_mask
    return (
        rng.random(mask.shape) * mask + 2.0 * (mask & (np.arange(109) == 107) & (rng.random(len(mask)) < 0.9)[:, None])
    ).argmax(1)


def choose_with(agent: Any) -> Any:
    """Actions of an agent that mostly plays well and sometimes at random, so that odd positions are reached too."""

    def choose(engine: mahjong_env.Engine, rng: np.random.Generator) -> Any:
        actions = choose_random(engine, rng)
        live = np.flatnonzero((engine.seat_to_act >= 0) & (rng.random(engine.num_games) < 0.95))
        actions[live] = agent.act(engine.view(live), rng)
        return actions

    return choose
