"""Replays games of the engine in the referee, and compares them after every action.

The engine's arrays are read once per step for all games (`Sight`), and compared with the referee's players as plain
numbers; texts are made only for a difference. A difference raises `DisagreementError`, whose message is the scene.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mahjong_env
from mahjong_env.basics.notation import MeldType, format_counts
from mahjong_env.basics.tiles import KIND_NAMES
from mahjong_env.drawing.text import table_text
from oracle.referee import Referee, Start

WINDS = ("1z", "2z", "3z", "4z")
WIN = mahjong_env.action("win")
NUMBER = {name: kind for kind, name in enumerate(KIND_NAMES)}
MELD_NUMBERS = {kind.name.lower().replace("_", " "): int(kind) for kind in MeldType}
MELD_WORDS = {number: words for words, number in MELD_NUMBERS.items()}

Chooser = Callable[[mahjong_env.Engine, np.random.Generator], Any]


class DisagreementError(AssertionError):
    """Engine and referee differ; the message is a reproducible scene."""


def names(kinds: Any) -> list[str]:
    """Return the names of kinds."""
    return [KIND_NAMES[int(kind)] for kind in kinds]


def tally_kinds(tiles: Sequence[str], size: int) -> list[int]:
    """Return the number of tiles of each kind."""
    counts = [0] * size
    for tile in tiles:
        counts[NUMBER[tile]] += 1
    return counts


class Sight:
    """The tables of games that are not over, as lists; ``row`` is the place of each game in them."""

    _ARRAYS = (
        *("hand", "flowers", "num_melds", "meld_type", "meld_kind", "meld_from", "person_at"),
        *("streak", "points", "round_wind", "wild"),
    )

    def __init__(self, engine: mahjong_env.Engine) -> None:
        state = engine.state
        self.to_act = engine.seat_to_act.tolist()
        live = np.flatnonzero(engine.seat_to_act >= 0)
        self.row = {game: row for row, game in enumerate(live.tolist())}
        for name in self._ARRAYS:
            setattr(self, name, getattr(state, name)[live].tolist())
        seats = range(engine.num_seats)
        self.river = [[state.lying_discards(game, seat).tolist() for seat in seats] for game in live.tolist()]
        self.dealer = engine.dealer[live].tolist()
        self.left = np.maximum(state.left(live), 0).tolist()
        self.left_to = state.left_to(state.seats(live[:, None], np.arange(engine.num_seats))).tolist()
        self.legal: list[set[str]] = [set() for _ in self.row]
        for row, action in zip(*(part.tolist() for part in np.nonzero(engine.action_mask[live])), strict=True):
            self.legal[row].add(mahjong_env.ACTIONS[action])


class Duel:
    """One match of the engine and the same match of the referee."""

    def __init__(
        self, engine: mahjong_env.Engine, game: int, num_hands: int, referee: Callable[..., Referee] = Referee
    ) -> None:
        self.engine, self.game = engine, game
        rules = engine.rules
        self.referee = referee(rules.name, knobs=rules.knobs, num_hands=num_hands)
        self.own_reserve = self.referee.variant.reserve
        self.played: list[str] = []
        self.deal()

    # --- what the engine's state says, in the referee's words ---------------------------------------------------
    def start(self) -> Start:
        """Return what chance has decided of the hand that has just been dealt, read from the wall."""
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
        rest: Any = wall[place:]
        if rules.has_private_walls:  # dealt out in turns, from the seat after the dealer on; a scene may shorten them
            drawable = rest[: len(rest) - int(state.reserve[game])]
            rest = [drawable[(seat - dealer - 1) % seats :: seats] for seat in range(seats)]
        return Start(
            hands=hands,
            wall=rest,
            indicators=indicators,
            lao_dice=bool(state.dice[game]),
            dealer=dealer,
            dealer_streak=int(state.streak[game]),
            round_wind=WINDS[int(state.round_wind[game])],
            house_winds=[WINDS[int(wind)] for wind in state.house_wind[game]],
            running_points=state.points[game].tolist() if state.floored[game] else None,
        )

    def deal(self) -> None:
        """Deal the hand that the engine has dealt."""
        state, game, ref = self.engine.state, self.game, self.referee
        self.played = [f"-- hand {ref.hands_played}"]
        start = self.start()
        # A scene may shorten the wall; apart from that, the referee knows by itself how many tiles are never drawn.
        shortened = int(state.reserve[game]) - self.engine.rules.reserve
        ref.variant.reserve = lambda: self.own_reserve() + shortened
        if ref.hands_played == 0:
            ref.dealer_passes = int(state.turnover[game])
        else:
            # The dice of later hands show only in the house winds.
            east = start.house_winds.index("1z")
            start.house_dice = (east - start.dealer) % self.engine.num_seats + 1
        ref.deal(start)

    # --- playing ----------------------------------------------------------------------------------------------
    @property
    def over(self) -> bool:
        return bool(self.engine.seat_to_act[self.game] == -1)

    def check(self, what: str, ours: Any, theirs: Any) -> None:
        if ours != theirs:
            raise DisagreementError(f"{what}\n  engine:  {ours}\n  referee: {theirs}\n\n{self.scene()}")

    def before(self, sight: Sight | None = None) -> None:
        """Compare the decision to be made, and everything that lies on the table."""
        sight, ref = sight or Sight(self.engine), self.referee
        self.check("seat to act", sight.to_act[self.game], -1 if ref.to_act is None else ref.to_act)
        row = sight.row[self.game]
        if sight.legal[row] != ref.options:
            self.check("legal actions", sorted(sight.legal[row]), sorted(ref.legal()))
        self.check("left", sight.left[row], ref.left)
        if ref.variant.private_walls:
            self.check("left to the seats", sight.left_to[row], [ref.left_to(seat) for seat in range(4)])
        self.check("dealer", sight.dealer[row], ref.dealer)
        self.check("streak", sight.streak[row], ref.streak)
        self.check("points", sight.points[row], ref.points)
        self.check("round wind", WINDS[sight.round_wind[row]], ref.round_wind)
        wild = sight.wild[row]
        self.check("wild", KIND_NAMES[wild] if wild >= 0 else None, ref.wild)
        self.check("persons by seat", sight.person_at[row], ref.person_of)
        for seat in range(self.engine.num_seats):
            self.compare_seat(sight, row, seat)

    def compare_seat(self, sight: Sight, row: int, seat: int) -> None:
        """Compare the hand, flowers, melds and discards of one seat."""
        player = self.referee.players[seat]
        hand = tally_kinds(player.hand, 34)
        if sight.hand[row][seat] != hand:
            self.check(f"hand of seat {seat}", format_counts(sight.hand[row][seat]), format_counts(hand))
        flowers = tally_kinds(player.flowers, 42)
        if sight.flowers[row][seat] != flowers:
            self.check(f"flowers of seat {seat}", format_counts(sight.flowers[row][seat]), format_counts(flowers))
        ours = [
            (MELD_WORDS[sight.meld_type[row][seat][place]], KIND_NAMES[sight.meld_kind[row][seat][place]], origin)
            for place, origin in enumerate(sight.meld_from[row][seat][: sight.num_melds[row][seat]])
        ]
        theirs = [
            (meld.type, min(meld.tiles), -1 if meld.from_seat is None else meld.from_seat) for meld in player.melds
        ]
        self.check(f"melds of seat {seat}", ours, theirs)
        river = sight.river[row][seat]
        if river != [NUMBER[tile] for tile in player.discards]:
            self.check(f"discards of seat {seat}", names(river), player.discards)

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
        """Compare how a hand ended."""
        place = int(np.flatnonzero(outcome.game == self.game)[0])
        ref = self.referee.result
        self.check("winner", int(outcome.winner[place]), -1 if ref.winner is None else ref.winner)
        self.check("source", str(outcome.source[place]), ref.source or "")
        self.check("from seat", int(outcome.from_seat[place]), -1 if ref.from_seat is None else ref.from_seat)
        self.check("value", int(outcome.value[place]), ref.points)
        self.check("payments", outcome.payments[place].tolist(), list(ref.payments))
        rows = sorted(outcome.rows[place])
        tied = [sorted((name, value) for name, value in tie) for tie in ref.tied_rows]
        if rows not in tied:
            self.check("rows", rows, tied)

    # --- what is printed for a difference -----------------------------------------------------------------------
    def scene(self) -> str:
        """Return how to reproduce the position, and both tables."""
        engine, state, game, ref = self.engine, self.engine.state, self.game, self.referee
        theirs = [
            f"to act {ref.to_act}, may {sorted(ref.options)}, left {ref.left}, wild {ref.wild}, dealer {ref.dealer}"
            f" streak {ref.streak}, points {ref.points}",
            *(
                f"  seat {seat}: {' '.join(sorted(player.hand, key=NUMBER.__getitem__))}"
                f" | melds {[(meld.type, meld.tiles, meld.from_seat) for meld in player.melds]}"
                f" | flowers {' '.join(player.flowers)} | discards {' '.join(player.discards)}"
                for seat, player in enumerate(ref.players)
            ),
        ]
        return "\n".join(
            [
                f"variant: {engine.rules.name}",
                f"knobs: {engine.rules.knobs}",
                f"hands in the match: {engine.num_hands}",
                f"folded seed {state.seed[game]}, game {state.stream[game]}, hands dealt {state.hands_dealt[game]}",
                f"wall as dealt (seat after seat, dealer's extra tile, turned up, draws ... replacements from the end):"
                f" {' '.join(names(state.wall[game]))}",
                f"actions of this hand: {' | '.join(self.played)}",
                "",
                "the engine's table:",
                table_text(engine, game),
                "",
                "the referee's table:",
                *theirs,
            ]
        )


def duel(
    variant: str,
    games: int,
    *,
    seed: int,
    choose: Chooser,
    num_hands: int = 1,
    deals: Any = None,
    start: str = "first",
    referee: Callable[..., Referee] = Referee,
    on_end: Any = None,
    most_hands: int | None = None,
    **knobs: Any,
) -> int:
    """Play a batch to its end, each game beside a referee.

    Args:
        variant: the name of the variant.
        games: the number of games.
        seed: the seed of tiles and play.
        choose: ``choose(engine, rng)`` returns an action for each game.
        num_hands: the number of hands of a match.
        deals: the deals of the first hands.
        start: as in `mahjong_env.make_engine`.
        referee: makes the referee of each game.
        on_end: is called with the engine and the result of each step in which hands end.
        most_hands: stop after this many hands, even in the middle of matches.
        **knobs: house rules.

    Returns:
        The number of hands compared.
    """
    engine = mahjong_env.make_engine(variant, games, seed=seed, num_hands=num_hands, start=start, **knobs)
    if deals is not None:
        engine.reset(deals=deals)
    duels = [Duel(engine, game, num_hands, referee) for game in range(games)]
    rng = np.random.default_rng(seed)
    hands = 0
    sight = Sight(engine)
    for one in duels:
        one.before(sight)
    while (engine.seat_to_act >= 0).any() and (most_hands is None or hands < most_hands):
        live = np.flatnonzero(engine.seat_to_act >= 0)
        actions = choose(engine, rng)
        result = engine.step(actions)
        sight = Sight(engine)
        for game in live.tolist():
            duels[game].after(int(actions[game]), result, game)
            if sight.to_act[game] >= 0:
                duels[game].before(sight)
        hands += len(result.outcome)
        if on_end is not None and len(result.outcome):
            on_end(engine, result)
    return hands


def choose_random(engine: mahjong_env.Engine, rng: np.random.Generator) -> Any:
    """Return uniformly random legal actions, except that most wins are taken."""
    mask = engine.action_mask
    actions = (rng.random(mask.shape) * mask).argmax(axis=1)
    wins = mask[:, WIN] & (rng.random(len(mask)) < 0.9)
    actions[wins] = WIN
    return actions


def choose_with(agent: Any, share: float = 0.95) -> Chooser:
    """Return a chooser that mostly follows an agent and sometimes plays at random, to reach odd positions as well."""

    def choose(engine: mahjong_env.Engine, rng: np.random.Generator) -> Any:
        actions = choose_random(engine, rng)
        live = np.flatnonzero((engine.seat_to_act >= 0) & (rng.random(engine.num_games) < share))
        if live.size:
            actions[live] = agent.act(engine.view(live), rng)
        return actions

    return choose
