"""Learn what afterstates lead to, for the value agent.

Run as ``python -m mahjong_training.fitting.value_model --variant hebei``.

Rounds of three steps: play hands, all seats alike, at first the reference agent (or --player) and then what was learned
so far; learn from all hands up to now; try what was learned against the reference agent, with several margins, on deals
that are used for nothing else, and keep the best round. What is kept is written beside `mahjong_agents.value.model`, or
to another file.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import worthwhile_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.value.agent import ValueAgent
from mahjong_agents.value.model import MOST_BYTES, NUMBERS_PATH, OutcomeNetwork
from mahjong_env import Rules
from mahjong_env.basics.files import read_arrays
from mahjong_env.cli.terminal import as_long_as_read
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import in_sigma, measure, sigma
from mahjong_training.fitting.experience import Experience, collect
from mahjong_training.runtime.folders import check_file, write_bytes
from mahjong_training.runtime.interrupts import status_of
from mahjong_training.runtime.sizes import check_counts, check_seed
from mahjong_training.seeds import curve_seed

_HIDDEN: Final = (64, 32)
_BATCH: Final = 2048
_LEARNING_RATE: Final = 2e-3
_LEAST_SPREAD: Final = 0.05
_FOR_SPREAD: Final = 200_000
_HELD_OUT: Final = 10
"""One hand in so many is not learned from, but tells how good the numbers are."""
_SEED_OF_TUNING: Final = 5_000
_HEADS: Final = 5
_DEAL_INS_COUNT: Final = 2.0
"""Weight of the rare deal-ins among what is learned."""


@dataclass(frozen=True, kw_only=True)
class OutcomesConfig:
    """Learn the numbers of the agent `value`."""

    variant: str
    """The variant to learn, as its rules are by default."""
    hands: int = 60_000
    """Hands of a round."""
    rounds: int = 2
    """Rounds: the first with the reference agent in all seats, later ones with what was learned."""
    player: str | None = None
    """Who plays the first round's hands; not given: the reference agent. Nobody can learn what a plan is worth from
    hands in which no one follows it."""
    epochs: int = 3
    """Passes over the decisions of all rounds."""
    margins: tuple[float, ...] = (0.0, 0.02, 0.04)
    """Sigma that another action must promise more than the usual one: the best of these is kept."""
    deals: int = 1500
    """Deals on which rounds and margins are compared."""
    seed: int = 0
    """Of the hands that are learned from, and of the weights."""
    out: Path = NUMBERS_PATH
    """Where the numbers go; those of other variants in that file are kept."""


def run(config: OutcomesConfig) -> OutcomeNetwork:
    """Learn, print what each round came to, and write the best.

    Raises:
        MahjongError: settings that cannot be used.
    """
    check_counts(hands=config.hands, rounds=config.rounds, epochs=config.epochs, deals=config.deals)
    check_seed(config.seed)
    rules = read_rules(config.variant, ())
    check_file(config.out)
    _others(rules, config.out)  # before there is anything to write
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
    write(best, rules, config.out)
    return best


def strength(rules: Rules, agent: Agent, *, deals: int, seed: int) -> Estimate:
    """Return sigma a hand of an agent against the reference agent in all other seats."""
    agents = [agent, reference_agent(rules)]
    lineup, luck_off = one_against_copies(0, 1, rules.people), worthwhile_weights(rules) is not None
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
    network = _network(first.shape[1])
    goals, variances = _goals(experience), _variances(experience)
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


def _network(inputs: int) -> nn.Sequential:
    sizes = (inputs, *_HIDDEN)
    layers = [part for size, after in pairwise(sizes) for part in (nn.Linear(size, after), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], _HEADS))


def _goals(known: Experience) -> NDArray[np.float32]:
    """Return [m, 5] win, its points, deal-in, points from now on, points that are neither of a win nor of a deal-in."""
    rest = np.where(known.deal_in, 0, known.points - known.points_of_win)
    goals = (known.win, known.points_of_win, known.deal_in, known.points, rest)
    return np.stack(goals, axis=1, dtype=np.float32, casting="unsafe")


def _variances(known: Experience) -> NDArray[np.float32]:
    """Return the variances of the points of wins, after deal-ins, and of the rest; of all where there are too few."""
    goals = _goals(known)
    of_wins, after_deal_ins = goals[known.win, 1], goals[known.deal_in, 3]
    found = [part.var() if len(part) > 1 else 1.0 for part in (of_wins, after_deal_ins, goals[:, 4])]
    return np.maximum(np.array(found, np.float32), 1e-3)


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


def main() -> int:
    """Run the command line."""
    import tyro

    settings = partial(
        tyro.cli, OutcomesConfig, prog="python -m mahjong_training.fitting.value_model", description=__doc__
    )
    return as_long_as_read(lambda: status_of(lambda: run(settings())))


if __name__ == "__main__":
    sys.exit(main())
