"""The playing of line-ups: deals, blocks, `measure`, contests with kept blocks, and sigma, the unit of strength."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, GreedyAgent, make_agent
from mahjong_agents.base import games_at_once
from mahjong_agents.control_variates import Luck, useful_weights, weights_of
from mahjong_agents.shared_chance import SharedChance, deal_keys, decision_keys
from mahjong_env import VARIANTS, Engine, Rules, RulesError, make_engine
from mahjong_env.basics.chance import fold_seed
from mahjong_env.basics.errors import AnswerError
from mahjong_env.environments.agents import agent_name, ask, choose_actions, play_to_end
from mahjong_env.records import GameRecord, Recorder, deal_again
from mahjong_training.config import WorkersConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, mean
from mahjong_training.evaluation.hand_statistics import HandStatistics, Played
from mahjong_training.evaluation.lineups import Seatings, orders_of_a_deal, seated
from mahjong_training.evaluation.results import LineupResult, summarise
from mahjong_training.runtime.cache import Arrays, ResultCache, fill
from mahjong_training.runtime.digests import agent_digests, rules_identity
from mahjong_training.runtime.executors import Executor, LocalExecutor, new_executor
from mahjong_training.seeds import SIGMA_SEED, evaluation_seed

_SIGMA_DEALS: Final = 4000


def check_single_hands(rules: Rules) -> None:
    """Check that a game can consist of one hand, or of any number of hands that is asked for.

    Raises:
        TrainingError: by these house rules, a game goes on until somebody's points run out.
    """
    if not rules.ends_by_hands:
        raise TrainingError(
            f"by these house rules a game of {rules.title} is a match that ends by points, not after a hand: "
            "leave them out to learn or evaluate on single hands, or on matches of a number of hands"
        )


def deal(rules: Rules, deals: NDArray[np.int64], seed: int, hands: int = 1, start: str | None = None) -> Engine:
    """Return an engine with numbered deals of a seed; a deal does not depend on which others are dealt with it.

    Args:
        rules: the rules to play by.
        deals: [B] the numbers of the deals, which may be repeated.
        seed: the seed; a user's seed is moved to the range of evaluations (`mahjong_training.seeds`).
        hands: hands in each game. With more than one, the first begins a new match.
        start: see `mahjong_env.make_engine`.
    """
    numbers, places = np.unique(deals, return_inverse=True)
    engine = make_engine(rules, len(numbers), seed=0, num_hands=hands, start=start)
    deal_again(engine, fold_seed(evaluation_seed(seed)), numbers)
    return engine.select(places)  # fresh games in which nothing has been played yet


def play_out(
    engine: Engine,
    agents: Sequence[Agent],
    who: NDArray[np.intp],
    rng: np.random.Generator,
    deals: NDArray[np.uint64] | None = None,
    weights: NDArray[np.float64] | None = None,
    record: bool = False,
    thoughts: bool = False,
) -> Played:
    """Play all games of a freshly dealt engine to their end.

    Args:
        engine: the games, which must not deal themselves anew when they end.
        agents: the agents.
        who: [B, P] the number of the agent that plays for each person.
        rng: the source of the agents' randomness; with ``deals``, a `mahjong_agents.shared_chance.SharedChance`.
        deals: [B] keys of the deals. Games of the same deal then share as much randomness as possible.
        weights: [F] weights of the control variates (`mahjong_agents.control_variates`). ``counts["luck"]`` of the
            result is then the luck of each person.
        record: whether to record the games.
        thoughts: whether the records also hold what the agents thought of their choices.

    Returns:
        The outcome of the games.
    """
    found: list[GameRecord] = []
    recorder = None
    if record:
        recorder = Recorder(
            engine,
            lambda *ended: found.extend(ended),
            agents=lambda game: [agent_name(agents[number]) for number in who[game]],
            thoughts=thoughts,
        )
    told = recorder.thoughts if recorder else None
    statistics = HandStatistics(engine)
    points = np.zeros(who.shape, np.int64)
    hands, draws = np.zeros((2, len(who)), np.int64)
    decisions, failures = np.zeros((2, *who.shape), np.int64)
    luck = None if weights is None else Luck(engine, weights)

    def choose(games: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        playing = who[games, seats]
        if deals is None or not isinstance(rng, SharedChance):
            return choose_actions(engine, games, agents, playing, rng, told)
        keys = decision_keys(deals[games], seats, decisions[games, seats])
        decisions[games, seats] += 1
        actions = np.zeros(len(games), np.int64)
        for number, agent in enumerate(agents):
            rows = np.flatnonzero(playing == number)
            if rows.size:
                actions[rows] = ask(agent, engine, games[rows], rng.decide(keys[rows]), told)
                failures[games[rows], seats[rows]] += getattr(agent, "failed", False)
        return actions

    for turn in play_to_end(engine, choose, recorder.step if recorder else None):
        statistics.add(turn.games, turn.seats, turn.actions, turn.result)
        if luck is not None:
            luck.add(turn.games)
        points[turn.games] += turn.result.rewards
        ended = turn.result.outcome
        hands[ended.game] += 1
        draws[ended.game[ended.winner < 0]] += 1
    statistics.end()
    counts = statistics.counts
    if luck is not None:
        counts["luck"] = luck.by_person()
    if any(hasattr(agent, "failed") for agent in agents):
        counts["failures"] = failures
    wins, self_draws, deal_ins = (counts.pop(name) for name in ("wins", "self_draws", "deal_ins"))
    lines = np.frombuffer("".join(f"{one.to_json()}\n" for one in found).encode(), np.uint8)
    return Played(hands, points, wins, self_draws, deal_ins, draws, counts, statistics.rows, lines)


class Block(NamedTuple):
    """Some deals of a line-up that are played together, independently of all other blocks.

    Attributes:
        lineup: the agents' numbers, one for each person.
        number: the number of the block in its line-up.
        first: the first deal.
        last: one more than the last deal.
        seatings: see `measure`.
        control_variates: see `measure`.
        hands: hands in each game; with more than one, every game is a match.
    """

    lineup: tuple[int, ...]
    number: int
    first: int
    last: int
    seatings: Seatings = "all"
    control_variates: bool = False
    hands: int = 1

    @property
    def name(self) -> str:
        """The name of the block's file in a cache."""
        lineup = "-".join(map(str, self.lineup))
        how = self.seatings + "-luck" * self.control_variates + f"-{self.hands}hands" * (self.hands > 1)
        return f"{lineup}_{how}_{self.number}_{self.first}-{self.last}"


def block_cache(
    out: Path | None, rules: Rules, specs: Sequence[str], agents: Sequence[Agent], seed: int, *, recorded: str = ""
) -> ResultCache:
    """Return the cache for the blocks of an evaluation.

    Args:
        out: the folder; None keeps results in memory.
        rules: the rules to play by.
        specs: the texts that the agents are made from, which identify the agents together with their digests.
        agents: the agents.
        seed: the seed of the deals and of the agents' choices.
        recorded: a word for what the results hold of the games themselves; "" for nothing.
    """
    digests = [[spec, *agent_digests(spec, agent, rules)] for spec, agent in zip(specs, agents, strict=True)]
    depends_on = {"rules": rules_identity(rules), "agents": digests, "seed": seed, "recorded": recorded}
    return ResultCache(out, "parts", depends_on)


def blocks(
    lineup: Sequence[int],
    deals: int | range,
    seatings: Seatings = "all",
    agents: Sequence[Agent] = (),
    control_variates: bool = False,
    looks: Sequence[int] = (),
    *,
    hands: int = 1,
    most: int | None = None,
) -> list[Block]:
    """Return the blocks of a line-up; they do not depend on the number of workers that play them.

    Args:
        lineup: the agents' numbers, one for each person.
        deals: the number of deals, or a range of them.
        seatings: see `measure`.
        agents: the agents; slow ones get smaller blocks (`mahjong_agents.base.games_at_once`).
        control_variates: see `measure`.
        looks: numbers of deals at which a block has to end (`mahjong_training.evaluation.estimates.looks`).
        hands: hands in each game.
        most: the most deals in a block; None for no such limit.
    """
    at_once = games_at_once([agents[number] for number in set(lineup)] if agents else ()) // hands
    size = max(1, at_once // orders_of_a_deal(lineup, seatings))
    size = size if most is None else min(size, most)
    played = deals if isinstance(deals, range) else range(deals)
    found: list[Block] = []
    first = played.start
    for end in sorted({*looks, played.stop}):
        while first < end:
            last = min(first + size, end)
            found.append(Block(tuple(lineup), len(found), first, last, seatings, control_variates, hands))
            first = last
    return found


def play_block(
    rules: Rules,
    agents: Sequence[Agent] | Callable[[Engine], Sequence[Agent]],
    block: Block,
    seed: int,
    **recording: bool,
) -> Played:
    """Play every deal of a block in each of its orders of seats; the games of a deal are adjacent.

    Args:
        rules: the rules to play by.
        agents: the agents, or a function that makes them from the engine, for studies of agents that see everything.
        block: the block.
        seed: the seed of the deals and of the agents' choices.
        **recording: ``record`` and ``thoughts`` of `play_out`.

    Raises:
        AnswerError: an agent's answer cannot be played; the message names the deal and the agents.
    """
    deals = np.arange(block.first, block.last)
    of_game = np.repeat(deals, orders_of_a_deal(block.lineup, block.seatings))
    who = seated(block.lineup, deals, block.seatings)
    # The first block keeps the key of the time when a line-up had one stream of randomness, so that its results stay.
    key = (block.number,) if block.number else ()
    rng = SharedChance(np.random.SeedSequence([seed, *block.lineup], spawn_key=key))
    weights = weights_of(rules) if block.control_variates else None
    try:
        engine = deal(rules, of_game, seed, block.hands)
        playing = agents(engine) if callable(agents) else agents
        played = play_out(engine, playing, who, rng, deal_keys(seed, of_game), weights, **recording)
    except AnswerError as error:
        names = ", ".join(agent_name(playing[number]) for number in who[error.game])
        raise AnswerError(
            f"{error}. It is deal {of_game[error.game]} of seed {seed}, with {names} from player_0 on", error.game
        ) from error
    except Exception as error:  # an agent's own
        error.add_note(f"deals {block.first} to {block.last - 1} of seed {seed} were being played")
        raise
    if block.hands > 1:  # the other counters are for single hands
        failures = {name: counted for name, counted in played.counts.items() if name == "failures"}
        return replace(played, counts=failures, rows=np.zeros_like(played.rows))
    return played


def measure(
    rules: Rules,
    agents: Sequence[Agent],
    lineup: Sequence[int],
    *,
    deals: int,
    seed: int,
    seatings: Seatings = "all",
    control_variates: bool = False,
    hands: int = 1,
) -> LineupResult:
    """Play a line-up; return means and their intervals, clustered by deal.

    Every deal is played once in each order of seats: with the same tiles, but the agents in other seats. Since points
    sum to zero, an agent that has all seats gets a mean of exactly 0.

    Args:
        rules: the rules to play by.
        agents: the agents that the line-up refers to.
        lineup: the agents' numbers, one for each person.
        deals: number of deals; deal i is the same for every line-up with this seed.
        seed: seed of the deals and of the agents' choices.
        seatings: "all" plays every order of seats, "balanced" a choice of them, and "turns" a single one for each deal;
            see `mahjong_training.evaluation.lineups.orders_of`.
        control_variates: whether to subtract luck from the points. The mean stays the same in the long run and the
            intervals become narrower, but agents as fast as greedy take about three times as long. For single hands
            only; see `mahjong_agents.control_variates`.
        hands: hands in each game. With more than one, a game is a match, and the result includes places.

    Returns:
        The results of each agent in the line-up.
    """
    how = {"seatings": seatings, "control_variates": control_variates, "hands": hands}
    return begin_to_measure(LocalExecutor(), rules, agents, lineup, deals=deals, seed=seed, **how)()


def begin_to_measure(
    executor: Executor,
    rules: Rules,
    agents: Sequence[Agent | str],
    lineup: Sequence[int],
    *,
    deals: int | range,
    seed: int,
    **how: Any,
) -> Callable[[], LineupResult]:
    """Submit a line-up to an executor; return a function that waits for the result.

    Args:
        executor: where the line-up is played.
        rules: see `measure`.
        agents: the agents, or the texts that make them, which other processes need if the code of an agent is in a
            user's file.
        lineup: see `measure`.
        deals: the number of deals, or a range of them.
        seed: see `measure`.
        **how: further arguments of `measure`.

    Returns:
        A function without arguments that returns what `measure` would return.

    Raises:
        TrainingError: there are no deals, the line-up is not one of these agents at such a table, control variates are
            asked for in matches, or games do not end after a number of hands; see `check_single_hands`.
    """
    check_single_hands(rules)
    if (len(deals) if isinstance(deals, range) else deals) < 1:
        raise TrainingError("there are no deals to play: name at least one")
    if len(lineup) != rules.people or not set(lineup) <= set(range(len(agents))):
        raise TrainingError(
            f"a line-up gives each of {rules.people} persons the number of an agent, 0 to {len(agents) - 1}, not "
            f"{tuple(lineup)}"
        )
    hands = how.get("hands", 1)
    if hands < 1 or (hands > 1 and how.get("control_variates")):
        of_luck = " with control variates, which are for single hands" if hands > 1 else ""
        raise TrainingError(f"a game cannot have {hands} hands{of_luck}")
    every = blocks(lineup, deals, agents=[make_agent(agent) for agent in agents], **how)
    begun = executor.submit(_play_anywhere, (rules, agents, seed), every)
    return lambda: summarise(rules, lineup, executor.gather(begun), every[0].seatings, first=every[0].first)


def _play_anywhere(state: tuple[Rules, Sequence[Agent | str], int], block: Block) -> Played:
    rules, agents, seed = state
    return play_block(rules, [make_agent(agent) for agent in agents], block, seed)


# --- Contests ----------------------------------------------------------------------------------------------------


class Contest(NamedTuple):
    """A line-up of named agents with the deals that it plays.

    Attributes:
        rules: the rules to play by.
        agents: the texts of the agents; the numbers in a line-up are positions in this tuple.
        blocks: the blocks of the line-up, in order.
    """

    rules: Rules
    agents: tuple[str, ...]
    blocks: tuple[Block, ...]

    @classmethod
    def of(
        cls,
        rules: Rules,
        agents: Mapping[str, Agent],
        lineup: Sequence[str],
        deals: range,
        seatings: Seatings = "all",
        *,
        hands: int = 1,
        most: int | None = None,
    ) -> Contest:
        """Return the contest of a line-up of agents, given by their texts, on some deals.

        In single hands, luck is subtracted from the points where that is useful.

        Args:
            rules: the rules to play by.
            agents: agents by their texts.
            lineup: the text of the agent for each person.
            deals: the deals.
            seatings: see `measure`.
            hands: hands in each game; with more than one, every game is a match.
            most: the most deals in a block; None for as many as take some seconds.

        Raises:
            TrainingError: games do not end after a number of hands; see `check_single_hands`.
        """
        check_single_hands(rules)
        names = tuple(dict.fromkeys(lineup))
        numbers = [names.index(name) for name in lineup]
        luck_off = hands == 1 and useful_weights(rules) is not None
        playing = [agents[name] for name in names]
        every = blocks(numbers, deals, seatings, playing, luck_off, hands=hands, most=most)
        return cls(rules, names, tuple(every))

    def result(self, parts: Sequence[Played]) -> LineupResult:
        """Return means and intervals from the outcomes of the contest's blocks."""
        block = self.blocks[0]
        return summarise(self.rules, block.lineup, parts, block.seatings, first=block.first)

    def __str__(self) -> str:
        lineup = self.blocks[0].lineup
        return f"{self.rules.title}: " + ", ".join(
            f"{lineup.count(number)} x {name}" if lineup.count(number) > 1 else name
            for number, name in enumerate(self.agents)
        )


def play_contests(
    contests: Sequence[Contest],
    agents: Mapping[str, Agent],
    config: WorkersConfig,
    seed: int,
    *,
    out: Path | None = None,
    progress: Callable[[str], object] = str,
) -> Iterator[tuple[Contest, list[Played]]]:
    """Play all blocks that are not in the cache, then yield each contest with the outcomes of its blocks.

    Args:
        contests: the contests to play.
        agents: the agents of all contests, by their texts; other processes make them from the texts.
        config: where the work is done.
        seed: seed of the deals and of the agents' choices.
        out: the folder of the cache; None for a cache in memory.
        progress: called with a line that says what is being played.
    """
    kept = [block_cache(out, one.rules, one.agents, [agents[name] for name in one.agents], seed) for one in contests]
    pairs = list(zip(contests, kept, strict=True))
    tasks = [(there, block.name, one._replace(blocks=(block,))) for one, there in pairs for block in one.blocks]
    state, make = (agents, seed), partial(_state_of, tuple(agents), seed)
    with new_executor(config.processes, config.ray, config.threads) as executor:
        fill(executor, _play_part, state, tasks, make, progress=progress, describe=", {}".format)
    for one, there in pairs:
        yield one, [Played.of_arrays(there[block.name]) for block in one.blocks]


def _state_of(specs: Sequence[str], seed: int) -> tuple[Mapping[str, Agent], int]:
    return {spec: make_agent(spec) for spec in specs}, seed


def _play_part(state: tuple[Mapping[str, Agent], int], part: Contest) -> Arrays:
    (agents, seed), (rules, names, (block,)) = state, part
    return play_block(rules, [agents[name] for name in names], block, seed).arrays()


# --- Sigma -------------------------------------------------------------------------------------------------------


@cache
def sigma(rules: Rules) -> float:
    """Return sigma, in points: the standard deviation of what a seat wins in a hand when every seat plays greedy.

    A variant without house rules declares its own value (`Rules.sigma`), measured by `measured_sigma` on 200,000 deals.
    With house rules, and where a variant declares none, sigma is measured once in each process, always on the same 4000
    deals. The measurement is precise to two per cent in some variants, and to thirteen where few hands pay much (95 %).
    Under house rules by which nobody wins anything (a wall of dead tiles only), sigma is one point.
    """
    if VARIANTS.without_house_rules(rules):
        with suppress(RulesError):  # the variant declares no sigma
            return float(rules.sigma)
    return measured_sigma(rules).mean or 1.0


def measured_sigma(rules: Rules, deals: int = _SIGMA_DEALS) -> Estimate:
    """Measure `sigma` on deals that are used for nothing else; return it with its 95 % interval."""
    parts = (range(first, min(first + _SIGMA_DEALS, deals)) for first in range(0, deals, _SIGMA_DEALS))
    variance = mean(np.concatenate([_squares(rules, part) for part in parts]))
    return Estimate(*(float(np.sqrt(max(end, 0.0))) for end in (variance.mean, variance.low, variance.high)))


def _squares(rules: Rules, deals: range) -> NDArray[np.float64]:
    """Return [deals] the mean over seats of the squared points of one hand; their mean over seats is zero.

    The hand is taken from anywhere in a match. Games that would go on after it (`Rules.ends_by_hands`) are abandoned.
    """
    rng = np.random.default_rng(np.random.SeedSequence([SIGMA_SEED, deals.start]))
    engine, greedy = deal(rules, np.array(deals), SIGMA_SEED, start="random"), GreedyAgent()
    points = np.zeros((len(deals), rules.people), np.int64)
    playing = np.arange(len(deals))
    while playing.size:
        result = engine.step(greedy.act(engine.view(games=playing), rng), games=playing)
        points[playing] += result.rewards
        playing = np.setdiff1d(playing, result.outcome.game, assume_unique=True)
    return np.square(points, dtype=np.float64).sum(axis=1) / rules.seats


def in_sigma(rules: Rules, points: Estimate) -> Estimate:
    """Convert points a hand under some rules to sigma a hand."""
    return points.over(sigma(rules))
