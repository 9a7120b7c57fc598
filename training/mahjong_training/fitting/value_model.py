"""``mahjong-env fit-value-model``: learn the network of the agent `value`.

Rounds of three steps: play hands with one player in all seats, first the reference agent (or --player) and then the
learned one; learn from all hands up to now; try the result against the reference agent, with several margins, on deals
that are used for nothing else. The best round is written beside `mahjong_agents.value.agent`, or to another file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.value.afterstates import Afterstates, actions_but_wins
from mahjong_agents.value.agent import MOST_BYTES, NUMBERS_PATH, OutcomeNetwork, ValueAgent
from mahjong_env import Rules, View, make_engine
from mahjong_env.basics.actions import CONCEALED_KONG, WIN
from mahjong_env.basics.files import read_arrays
from mahjong_env.environments.agents import play_to_end
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import ValueModelConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import in_sigma, measure, sigma
from mahjong_training.runtime.folders import check_file, write_bytes
from mahjong_training.runtime.limits import check_counts, check_seed
from mahjong_training.seeds import curve_seed, training_seed

_HIDDEN: Final = (64, 32)
_BATCH: Final = 2048
_LEARNING_RATE: Final = 2e-3
_LEAST_SPREAD: Final = 0.05
_FOR_SPREAD: Final = 200_000
_HELD_OUT: Final = 10
"""One hand in ten is held out of learning, to measure how good the numbers are."""
_SEED_OF_TUNING: Final = 5_000
_HEADS: Final = 5
_DEAL_INS_COUNT: Final = 2.0
"""Weight of the rare deal-ins among what is learned."""
_GAMES: Final = 2048
"""Games that are played at once, so that memory stays small."""
_SHARE: Final = 0.5
"""Of the decisions that are kept: those of one hand have much in common."""
_STEP_BACK: Final = 0.25
"""Of the explored decisions, those that may leave the hand farther from a win than it could be."""


def run(config: ValueModelConfig) -> OutcomeNetwork:
    """Learn, print what each round came to, and write the best.

    Raises:
        MahjongError: settings that cannot be used.
    """
    check_counts(hands=config.hands, rounds=config.rounds, epochs=config.epochs, deals=config.deals)
    check_seed(config.seed)
    rules, out = read_rules(config.variant, ()), config.out or NUMBERS_PATH
    check_file(out)
    _others(rules, out)  # before there is anything to write
    agent = reference_agent(rules) if config.player is None else make_agent(config.player)
    best, most = None, -np.inf
    known: list[Experience] = []
    for number in range(config.rounds):
        seed = 1_000_003 * (config.seed + 1) + 10_007 * number
        known += collect(rules, agent, hands=config.hands, seed=seed, explored=0.08 if number else 0.12)
        network = learn(Experience.joined(known), sigma(rules), epochs=config.epochs, seed=config.seed)
        for margin in config.margins:
            tried = OutcomeNetwork(network.weights, network.biases, network.sigma, margin)
            gain = strength(rules, ValueAgent.of(tried), deals=config.deals, seed=curve_seed(_SEED_OF_TUNING + number))
            print(f"{rules.title}, round {number + 1}, margin {margin:g}: {gain.text(3, sign='+')} sigma")
            if gain.mean > most:
                best, most = tried, gain.mean
        assert best is not None
        agent = ValueAgent.of(best)
    assert best is not None
    write(best, rules, out)
    return best


def strength(rules: Rules, agent: Agent, *, deals: int, seed: int) -> Estimate:
    """Return sigma a hand of an agent against the reference agent in all other seats."""
    agents = [agent, reference_agent(rules)]
    lineup, luck_off = one_against_copies(0, 1, rules.people), useful_weights(rules) is not None
    return in_sigma(
        rules, measure(rules, agents, lineup, deals=deals, seed=seed, control_variates=luck_off).of(0).points
    )


def write(network: OutcomeNetwork, rules: Rules, path: Path) -> None:
    """Put the numbers of a variant into a file, beside those of other variants.

    Raises:
        TrainingError: it cannot be written, or is no file of numbers.
    """
    data = io.BytesIO()
    np.savez_compressed(data, **_others(rules, path), **network.arrays(rules.name))  # type: ignore[arg-type]
    write_bytes(path, data.getvalue())


def _others(rules: Rules, path: Path) -> dict[str, NDArray[Any]]:
    """Return the numbers of other variants in a file; none if it is not there."""
    try:
        arrays = read_arrays(path.read_bytes(), MOST_BYTES)
    except FileNotFoundError:
        return {}
    except Exception as error:  # zipfile, zlib and numpy have a dozen kinds of their own
        raise TrainingError(f"{path}: no file of numbers; it is left as it is ({error})") from error
    return {name: array for name, array in arrays.items() if not name.startswith(f"{rules.name}_")}


def learn(experience: Experience, unit: float, *, epochs: int, seed: int) -> OutcomeNetwork:
    """Fit the network, and print how well it foresees hands that it has not learned from."""
    torch.manual_seed(seed)
    first = experience.numbers[:_FOR_SPREAD].astype(np.float32)
    middle, spread = first.mean(axis=0), np.maximum(first.std(axis=0), _LEAST_SPREAD)
    sizes = (first.shape[1], *_HIDDEN)
    layers = [part for size, after in pairwise(sizes) for part in (nn.Linear(size, after), nn.ReLU())]
    network = nn.Sequential(*layers, nn.Linear(sizes[-1], _HEADS))
    goals, variances = _goals(experience)
    held_out = experience.hand % _HELD_OUT == 0
    learned, rng = np.flatnonzero(~held_out), np.random.default_rng(seed)
    steps = max(1, epochs * len(learned) // _BATCH)
    optimiser = torch.optim.Adam(network.parameters(), lr=_LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _LEARNING_RATE, total_steps=steps + 1, pct_start=0.1)
    order = np.concatenate([rng.permutation(learned) for _ in range(epochs)])
    for step in range(steps):
        which = order[step * _BATCH : (step + 1) * _BATCH]
        numbers = torch.from_numpy((experience.numbers[which] - middle) / spread)
        loss = _loss(network(numbers), torch.from_numpy(goals[which]), variances)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    found = _as_arrays(network, middle, spread, unit)
    _report(found, experience, np.flatnonzero(held_out))
    return found


def _goals(known: Experience) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return [m, 5] win, its points, deal-in, points from now on, points that are neither of a win nor of a deal-in.

    And [3] the variances of the points of wins, after deal-ins, and of the rest; 1 where there are too few.
    """
    rest = np.where(known.deal_in, 0, known.points - known.points_of_win)
    columns = (known.win, known.points_of_win, known.deal_in, known.points, rest)
    goals = np.stack(columns, axis=1, dtype=np.float32, casting="unsafe")
    parts = (goals[known.win, 1], goals[known.deal_in, 3], goals[:, 4])
    variances = [part.var() if len(part) > 1 else 1.0 for part in parts]
    return goals, np.maximum(np.array(variances, np.float32), 1e-3)


def _loss(found: Tensor, goals: Tensor, variances: NDArray[np.float32]) -> Tensor:
    """Return how far predictions are off: chances by cross-entropy, points by squares in units of their variance."""
    chance = functional.binary_cross_entropy_with_logits
    win, deal_in = goals[:, 0], goals[:, 2]
    of_win, of_deal_in, of_rest = ((found[:, column] - goals[:, column]) ** 2 for column in (1, 3, 4))
    of_wins, after_deal_ins, others = variances.tolist()
    return (
        chance(found[:, 0], win)
        + 0.5 * (of_win * win).mean() / of_wins
        + _DEAL_INS_COUNT * chance(found[:, 2], deal_in)
        + _DEAL_INS_COUNT * (of_deal_in * deal_in).mean() / after_deal_ins
        + 0.5 * of_rest.mean() / others
    )


def _as_arrays(
    network: nn.Sequential, middle: NDArray[np.float32], spread: NDArray[np.float32], unit: float
) -> OutcomeNetwork:
    """Return the network for numbers as they are: the first layer shifts and scales them."""
    parts = [part.detach().numpy().copy() for part in network.parameters()]
    weights, biases = parts[::2], parts[1::2]
    weights[0] = weights[0] / spread
    biases[0] = biases[0] - weights[0] @ middle
    return OutcomeNetwork(tuple(weights), tuple(biases), unit, 0.0)


def _report(network: OutcomeNetwork, known: Experience, which: NDArray[np.intp]) -> None:
    parts = np.array_split(which, max(1, len(which) // 20_000))
    found = [network(known.numbers[part].astype(np.float32)) for part in parts]
    points, win = (np.concatenate([getattr(part, name) for part in found]) for name in ("points", "win"))
    explained = 1 - ((known.points[which] - points) ** 2).mean() / known.points[which].var()
    bins = np.quantile(win, np.linspace(0, 1, 6))
    place = np.clip(np.searchsorted(bins, win) - 1, 0, 4)
    shown = [f"{win[place == fifth].mean():.2f} ({known.win[which][place == fifth].mean():.2f})" for fifth in range(5)]
    print(f"held out: {100 * explained:.1f} % of the variance of points; chances to win (and wins): {', '.join(shown)}")


# --- Experience -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Experience:
    """m decisions.

    Attributes:
        numbers: [m, F] float16, see `mahjong_agents.value.afterstates.Afterstates.numbers`.
        win: [m] bool the seat won the hand.
        points_of_win: [m] float32 sigma that its win brought, 0 without one.
        deal_in: [m] bool the discard was won on at once.
        points: [m] float32 sigma from there to the end of the hand.
        hand: [m] int64 number of the hand.
    """

    numbers: NDArray[np.float16]
    win: NDArray[np.bool_]
    points_of_win: NDArray[np.float32]
    deal_in: NDArray[np.bool_]
    points: NDArray[np.float32]
    hand: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Experience]) -> Experience:
        """Return several as one."""
        return cls(*(np.concatenate([getattr(part, item.name) for part in parts]) for item in fields(cls)))


def collect(rules: Rules, agent: Agent, *, hands: int, seed: int, explored: float) -> Iterator[Experience]:
    """Play hands with one agent in all seats, and keep half of its decisions.

    Args:
        rules: what is played.
        agent: who plays.
        hands: how many hands, at least.
        seed: of the deals and all choices.
        explored: share of the decisions at which some other near action is played, so that what is usually not done
            is known too.

    Yields:
        The decisions of 2048 hands at a time.
    """
    unit = sigma(rules)
    for number in range(-(-hands // _GAMES)):
        yield _play(rules, agent, np.random.default_rng([seed, number]), number * _GAMES, unit, explored, seed + number)


def _play(
    rules: Rules, agent: Agent, rng: np.random.Generator, first: int, unit: float, explored: float, seed: int
) -> Experience:
    engine = make_engine(rules, _GAMES, seed=training_seed(seed))
    points, won = np.zeros((2, _GAMES, rules.people), np.int64)
    numbers: list[NDArray[np.float16]] = []
    kept = [np.zeros((3, 0), np.int64)]  # game, person, the person's points before the decision
    size, deal_ins = 0, [np.zeros(0, np.int64)]
    last_discard = np.full(_GAMES, -1)  # the kept decision that each game's last discard was, -1 for none

    def choose(live: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        nonlocal size
        view, person = engine.view(games=live), seats.astype(np.intp)
        actions = agent.act(view, rng)
        _explore(view, actions, rng, explored)
        last_discard[live[actions < CONCEALED_KONG]] = -1
        asked = (view.action_mask.sum(axis=1) > 1) & (actions != WIN) & (rng.random(len(live)) < _SHARE)
        some = np.flatnonzero(asked)
        if some.size:
            left = Afterstates(view, some, actions[some])
            numbers.append(left.numbers().astype(np.float16))
            kept.append(np.stack([live[some], person[some], points[live[some], person[some]]]))
            discards = np.flatnonzero(left.type == 0)
            last_discard[live[some[discards]]] = size + discards
            size += len(some)
        return actions

    for turn in play_to_end(engine, choose):
        points[turn.games] += turn.result.rewards
        ended = turn.result.outcome
        by = np.flatnonzero(ended.winner >= 0)
        won[ended.game[by], ended.winner[by]] = ended.payments[by, ended.winner[by]]
        deal_ins.append(last_discard[ended.game[ended.source == "discard"]])
    game, person, before = np.concatenate(kept, axis=1)
    deal_in = np.zeros(size + 1, np.bool_)
    deal_in[np.concatenate(deal_ins)] = True  # the last place is for discards that were not kept
    gained, of_win = points[game, person] - before, won[game, person]
    return Experience(
        np.concatenate(numbers),
        of_win > 0,
        (of_win / unit).astype(np.float32),
        deal_in[:-1],
        (gained / unit).astype(np.float32),
        game + first,
    )


def _explore(view: View, actions: NDArray[np.int64], rng: np.random.Generator, share: float) -> None:
    """Replace a share of the actions by others that leave the hand as near, seldom by those that leave it farther."""
    mask = view.action_mask
    rows = np.flatnonzero((rng.random(len(view)) < share) & ~mask[:, WIN] & (mask.sum(axis=1) > 1))
    if not rows.size:
        return
    left = actions_but_wins(view, rows)
    nearest = np.full(len(view), np.iinfo(np.int8).max, np.int8)
    np.minimum.at(nearest, left.row, left.distance)
    steps_back = (left.distance - nearest[left.row]) * (rng.random(len(view)) < 1 - _STEP_BACK)[left.row]
    lot = rng.random(len(left.row)) - 2 * steps_back
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, left.row, lot)
    at = np.flatnonzero(lot == best[left.row])
    actions[left.row[at]] = left.action[at]
