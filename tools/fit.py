"""Fit the numbers that are shipped with agents, and write them where the agents read them (or to --out).

`python -m tools.fit value-model VARIANT` trains the network of the agent `value` in rounds of three steps. First it
plays hands with one agent in all seats: the reference agent (or --player) in the first round, the trained one later.
Then it trains on all hands so far. At last it plays the result against the reference agent, with several margins, on
deals that are used for nothing else. The best result is written, beside the networks of the other variants.

`python -m tools.fit folding VARIANT` fits the model of the agent `folding` on hands of the reference agent: the
probability that a hand is won, and who waits for what.

`python -m tools.fit opponent-hands [VARIANT ...]` counts how far hands of the reference agent are from a win, by
discards and melds, in the variants named or in all. `search` needs these counts to draw realistic worlds.

`python -m tools.fit critic VARIANT` trains a critic on hands of the shipped policy. `search` asks it at its horizon.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from mahjong_agents import Agent, make_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.greedy import reference_agent
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.critic import CRITICS_PATH, critic_scales
from mahjong_agents.policy.critic import Critic as NumpyCritic
from mahjong_agents.search.opponent_hands import COUNTS_PATH
from mahjong_agents.value.afterstates import Afterstates, actions_but_wins
from mahjong_agents.value.agent import MOST_BYTES, NUMBERS_PATH, OutcomeNetwork, ValueAgent
from mahjong_agents.value.folding import NUMBERS_PATH as FOLDING_PATH
from mahjong_agents.value.folding import FoldingModel, danger_facts, hand_facts
from mahjong_env import VARIANTS, Engine, Rules, View, make_engine, rules
from mahjong_env.basics.actions import CONCEALED_KONG, WIN
from mahjong_env.basics.files import read_arrays
from mahjong_env.engine.opponent_hands import distances_of_hands
from mahjong_env.environments.agents import play_to_end
from mahjong_env.observation.acceptance import Discards, look_ahead
from mahjong_training.evaluation.estimates import Estimate
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import in_sigma, measure, sigma
from mahjong_training.learning.ppo import Critic, advantages_and_returns
from mahjong_training.learning.self_play import play_hands
from mahjong_training.runtime.folders import check_file, write_bytes
from mahjong_training.seeds import curve_seed, training_seed

HIDDEN = (64, 32)
BATCH = 2048
LEARNING_RATE = 2e-3
LEAST_SPREAD = 0.05
HELD_OUT = 10  # one hand in ten is held out of training, to measure how good the numbers are
SEED_OF_TUNING = 5_000
DEAL_INS_COUNT = 2.0  # weight of the rare deal-ins in the loss
GAMES = 2048  # games that are played at once
SHARE = 0.5  # share of the decisions that are kept: those of one hand have much in common
SHARE_OF_PAIRS = 0.1  # share of the pairs of a discard and a seat that may wait for it
STEP_BACK = 0.25  # share of the explored decisions that may leave the hand farther from a win than necessary

Experience = dict[str, NDArray[Any]]
"""m decisions: ``numbers`` [m, F] float16 (`Afterstates.numbers`); ``win`` [m] bool whether the seat won the hand;
``points_of_win`` [m] float32 what its win brought in sigma, 0 without a win; ``deal_in`` [m] bool whether the discard
was won on at once; ``points`` [m] float32 points from the decision to the end of the hand in sigma; ``hand`` [m] the
number of the hand."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_subparsers(required=True)
    value = what.add_parser("value-model", help="the network of `value`")
    value.add_argument("variant", choices=sorted(VARIANTS))
    value.add_argument("--hands", type=int, default=60_000, help="hands of a round")
    value.add_argument("--rounds", type=int, default=2, help="with what was learned in all seats, but for the first")
    # No model learns the worth of a plan from hands in which no one follows it.
    value.add_argument("--player", help="who plays the first round; the reference agent if not given")
    value.add_argument("--epochs", type=int, default=3, help="passes over the decisions of all rounds")
    value.add_argument("--margins", type=float, nargs="+", default=[0.0, 0.02, 0.04], help="sigma to be promised more")
    value.add_argument("--deals", type=int, default=1500, help="on which rounds and margins are compared")
    value.set_defaults(fit=fit_value_model, out=NUMBERS_PATH)
    folding = what.add_parser("folding", help="the model of `folding`")
    folding.add_argument("variant", choices=sorted(VARIANTS))
    folding.add_argument("--hands", type=int, default=8192, help="hands that are looked into")
    folding.set_defaults(fit=fit_folding, out=FOLDING_PATH)
    hands = what.add_parser("opponent-hands", help="the counts of `search`")
    hands.add_argument("variants", nargs="*", help="those that are counted anew; all if none is named")
    hands.add_argument("--hands", type=int, default=4096, help="hands for each variant")
    hands.set_defaults(fit=count_opponent_hands, out=COUNTS_PATH)
    critic = what.add_parser("critic", help="the critic of `search`")
    critic.add_argument("variant", choices=sorted(VARIANTS))
    critic.add_argument("--hands", type=int, default=40_960, help="hands that it learns from")
    critic.add_argument("--epochs", type=int, default=3, help="passes over their decisions")
    critic.set_defaults(fit=fit_critic, out=CRITICS_PATH)
    for command in (value, folding, hands, critic):
        command.add_argument("--seed", type=int, default=0)
        command.add_argument("--out", type=Path)
    options = parser.parse_args()
    check_file(options.out)
    data = io.BytesIO()
    np.savez_compressed(data, **options.fit(options))
    write_bytes(options.out, data.getvalue())


# --- Values of afterstates --------------------------------------------------------------------------------------------


def fit_value_model(options: argparse.Namespace) -> dict[str, NDArray[Any]]:
    """Train, print the result of each round, and return the arrays of the best one with those of other variants."""
    rules = VARIANTS[options.variant]
    agent = reference_agent(rules) if options.player is None else make_agent(options.player)
    best, most = None, -np.inf
    known: list[Experience] = []
    for number in range(options.rounds):
        seed = 1_000_003 * (options.seed + 1) + 10_007 * number
        known += collect(rules, agent, hands=options.hands, seed=seed, explored=0.08 if number else 0.12)
        network = learn(joined(known), sigma(rules), epochs=options.epochs, seed=options.seed)
        for margin in options.margins:
            tried = OutcomeNetwork(network.weights, network.biases, network.sigma, margin)
            player, chosen = ValueAgent(numbers=tried), curve_seed(SEED_OF_TUNING + number)
            gain = strength(rules, player, deals=options.deals, seed=chosen)
            print(f"{rules.title}, round {number + 1}, margin {margin:g}: {gain.text(3, sign='+')} sigma")
            if gain.mean > most:
                best, most = tried, gain.mean
        agent = ValueAgent(numbers=best)
    return written(options.out, but=rules) | best.arrays(rules.name)


def written(path: Path, but: Rules | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file, without those of a variant; an empty dictionary if there is no such file."""
    found = read_arrays(path.read_bytes(), MOST_BYTES) if path.exists() else {}
    return {name: array for name, array in found.items() if but is None or not name.startswith(f"{but.name}_")}


def strength(rules: Rules, agent: Agent, *, deals: int, seed: int) -> Estimate:
    """Return the sigma per hand that an agent wins against the reference agent in all other seats."""
    agents = [agent, reference_agent(rules)]
    lineup, luck_off = one_against_copies(0, 1, rules.people), useful_weights(rules) is not None
    found = measure(rules, agents, lineup, deals=deals, seed=seed, control_variates=luck_off)
    return in_sigma(rules, found.of(0).points)


def fitting_seed(*numbers: int) -> int:
    """Return a seed for hands of a fit, which differ from all hands that `mahjong-env train` learns from."""
    return training_seed(int.from_bytes(b"fitted"), *numbers)


def joined(parts: list[Experience]) -> Experience:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def collect(rules: Rules, agent: Agent, *, hands: int, seed: int, explored: float) -> Iterator[Experience]:
    """Play hands with one agent in all seats, 2048 at a time, and keep half of its decisions.

    At a share of the decisions, `explored`, another action that leaves the hand near is played, so that the results of
    unusual actions are known as well.
    """
    for number in range(-(-hands // GAMES)):
        rng = np.random.default_rng([seed, number])
        yield play(rules, agent, rng, number * GAMES, explored, fitting_seed(seed, number))


def play(rules: Rules, agent: Agent, rng: np.random.Generator, first: int, explored: float, seed: int) -> Experience:
    engine, unit = make_engine(rules, GAMES, seed=seed), sigma(rules)
    points, won = np.zeros((2, GAMES, rules.people), np.int64)
    numbers: list[NDArray[np.float16]] = []
    kept = [np.zeros((3, 0), np.int64)]  # game, person, the person's points before the decision
    size, deal_ins = 0, [np.zeros(0, np.int64)]
    last_discard = np.full(GAMES, -1)  # the number of the kept decision that was each game's last discard, -1 for none

    def choose(live: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        nonlocal size
        view, person = engine.view(games=live), seats.astype(np.intp)
        actions = agent.act(view, rng)
        explore(view, actions, rng, explored)
        last_discard[live[actions < CONCEALED_KONG]] = -1
        asked = (view.action_mask.sum(axis=1) > 1) & (actions != WIN) & (rng.random(len(live)) < SHARE)
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
    deal_in[np.concatenate(deal_ins)] = True  # the last element is for discards that were not kept
    return {
        "numbers": np.concatenate(numbers),
        "win": won[game, person] > 0,
        "points_of_win": (won[game, person] / unit).astype(np.float32),
        "deal_in": deal_in[:-1],
        "points": ((points[game, person] - before) / unit).astype(np.float32),
        "hand": game + first,
    }


def explore(view: View, actions: NDArray[np.int64], rng: np.random.Generator, share: float) -> None:
    """Replace a share of the actions by others that leave the hand as near, or rarely by ones that leave it farther."""
    mask = view.action_mask
    rows = np.flatnonzero((rng.random(len(view)) < share) & ~mask[:, WIN] & (mask.sum(axis=1) > 1))
    if not rows.size:
        return
    left = actions_but_wins(view, rows)
    nearest = np.full(len(view), np.iinfo(np.int8).max, np.int8)
    np.minimum.at(nearest, left.row, left.distance)
    steps_back = (left.distance - nearest[left.row]) * (rng.random(len(view)) < 1 - STEP_BACK)[left.row]
    lot = rng.random(len(left.row)) - 2 * steps_back
    best = np.full(len(view), -np.inf)
    np.maximum.at(best, left.row, lot)
    at = np.flatnonzero(lot == best[left.row])
    actions[left.row[at]] = left.action[at]


def learn(experience: Experience, unit: float, *, epochs: int, seed: int) -> OutcomeNetwork:
    """Fit the network, and print how well it predicts held-out hands."""
    torch.manual_seed(seed)
    first = experience["numbers"][:200_000].astype(np.float32)
    middle, spread = first.mean(axis=0), np.maximum(first.std(axis=0), LEAST_SPREAD)
    sizes = (first.shape[1], *HIDDEN)
    layers = [part for size, after in pairwise(sizes) for part in (nn.Linear(size, after), nn.ReLU())]
    network = nn.Sequential(*layers, nn.Linear(sizes[-1], 5))
    goals, variances = goals_of(experience)
    held_out = experience["hand"] % HELD_OUT == 0
    learned, rng = np.flatnonzero(~held_out), np.random.default_rng(seed)
    steps = max(1, epochs * len(learned) // BATCH)
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps + 1, pct_start=0.1)
    order = np.concatenate([rng.permutation(learned) for _ in range(epochs)])
    for step in range(steps):
        which = order[step * BATCH : (step + 1) * BATCH]
        numbers = torch.from_numpy((experience["numbers"][which] - middle) / spread)
        loss = loss_of(network(numbers), torch.from_numpy(goals[which]), variances)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    # The first layer takes over the shift and the scale, so that the network takes unscaled numbers.
    parts = [part.detach().numpy().copy() for part in network.parameters()]
    weights, biases = parts[::2], parts[1::2]
    weights[0] = weights[0] / spread
    biases[0] = biases[0] - weights[0] @ middle
    found = OutcomeNetwork(tuple(weights), tuple(biases), unit, 0.0)
    report(found, {name: array[held_out] for name, array in experience.items()})
    return found


def goals_of(known: Experience) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the targets of the network, and variances.

    Returns:
        [m, 5] win, its points, deal-in, points from now on, and points that come neither from a win nor from a deal-in;
        and [3] the variances of the points of wins, of those after deal-ins, and of the rest, 1 if there are too few.
    """
    rest = np.where(known["deal_in"], 0, known["points"] - known["points_of_win"])
    columns = [known[name] for name in ("win", "points_of_win", "deal_in", "points")]
    goals = np.stack([*columns, rest], axis=1, dtype=np.float32, casting="unsafe")
    parts = (goals[known["win"], 1], goals[known["deal_in"], 3], goals[:, 4])
    variances = [part.var() if len(part) > 1 else 1.0 for part in parts]
    return goals, np.maximum(np.array(variances, np.float32), 1e-3)


def loss_of(found: Tensor, goals: Tensor, variances: NDArray[np.float32]) -> Tensor:
    """Return the loss: cross-entropy for probabilities, squared errors in units of their variance for points."""
    chance = functional.binary_cross_entropy_with_logits
    win, deal_in = goals[:, 0], goals[:, 2]
    of_win, of_deal_in, of_rest = ((found[:, column] - goals[:, column]) ** 2 for column in (1, 3, 4))
    of_wins, after_deal_ins, others = variances.tolist()
    return (
        chance(found[:, 0], win)
        + 0.5 * (of_win * win).mean() / of_wins
        + DEAL_INS_COUNT * chance(found[:, 2], deal_in)
        + DEAL_INS_COUNT * (of_deal_in * deal_in).mean() / after_deal_ins
        + 0.5 * of_rest.mean() / others
    )


def report(network: OutcomeNetwork, known: Experience) -> None:
    parts = np.array_split(known["numbers"], max(1, len(known["numbers"]) // 20_000))
    found = [network(part.astype(np.float32)) for part in parts]
    points, win = (np.concatenate([getattr(part, name) for part in found]) for name in ("points", "win"))
    explained = 1 - ((known["points"] - points) ** 2).mean() / known["points"].var()
    bins = np.quantile(win, np.linspace(0, 1, 6))
    place = np.clip(np.searchsorted(bins, win) - 1, 0, 4)
    shown = [f"{win[place == fifth].mean():.2f} ({known['win'][place == fifth].mean():.2f})" for fifth in range(5)]
    print(f"held out: {100 * explained:.1f} % of the variance of points; chances to win (and wins): {', '.join(shown)}")


# --- Critics ----------------------------------------------------------------------------------------------------------


def fit_critic(options: argparse.Namespace) -> dict[str, NDArray[Any]]:
    """Train, print how well the critic predicts held-out hands, and return the arrays of all variants."""
    rules, network = VARIANTS[options.variant], PolicyAgent(options.variant).network
    unit, luck, parts = sigma(rules), useful_weights(rules), max(1, options.hands // GAMES)

    def hands(part: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        seed = (options.seed, part, 0)
        played = play_hands(rules, network, [], tables=GAMES, share=0.0, seed=seed, luck_weights=luck)
        nothing = np.zeros(len(played), np.float32)
        _, rest = advantages_and_returns(played.trajectory, played.reward / unit, nothing, 1.0, 1.0)
        return played.critic_inputs, rest.astype(np.float32)

    shown, rest = (np.concatenate(arrays) for arrays in zip(*map(hands, range(parts)), strict=True))
    new, rest_of_new = hands(parts)
    torch.manual_seed(options.seed)
    critic = Critic(rules.people - 1)
    steps = options.epochs * -(-len(shown) // BATCH)
    optimiser = torch.optim.Adam(critic.parameters(), lr=LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=steps, pct_start=0.1)
    for _ in range(options.epochs):
        for some in torch.split(torch.randperm(len(shown)), BATCH):
            found = critic(torch.from_numpy(shown[some]))
            loss = ((found - torch.from_numpy(rest[some])) ** 2).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    layers = [layer for layer in critic.layers if isinstance(layer, nn.Linear)]
    weights, biases = ([getattr(layer, name).detach().numpy().T for layer in layers] for name in ("weight", "bias"))
    # The first layer takes unscaled inputs, and the last one gives points.
    weights[0] = weights[0] * critic_scales(rules.people - 1)[:, None]
    weights[-1], biases[-1] = weights[-1] * unit, biases[-1] * unit
    # The critic is measured as it is stored, in half precision.
    kept_weights, kept_biases = (
        [array.astype(np.float16).astype(np.float32) for array in arrays] for arrays in (weights, biases)
    )
    fitted = NumpyCritic(tuple(kept_weights), tuple(kept_biases))
    explained = 1 - ((rest_of_new - fitted(new) / unit) ** 2).mean() / rest_of_new.var()
    print(f"{rules.title}: of new hands {100 * explained:.1f} % of the variance of what is still to be paid")
    return written(options.out, but=rules) | {
        name: array.astype(np.float16) for name, array in fitted.arrays(rules.name).items()
    }


# --- Chances and dangers ----------------------------------------------------------------------------------------------


def fit_folding(options: argparse.Namespace) -> dict[str, NDArray[Any]]:
    """Fit, print how well the model predicts held-out hands, and return the arrays of all variants."""
    rules = VARIANTS[options.variant]
    parts = range(-(-options.hands // GAMES))
    known, points = zip(*(look_into_hands(rules, [options.seed, part]) for part in parts), strict=True)
    fitted, held_out = joined(list(known[:-1] or known)), known[-1]
    win = logistic(fitted["hand"], fitted["won"])
    waits = logistic(fitted["seat"], fitted["waits"])
    means = np.concatenate(points).reshape(-1, 3, 2).sum(axis=0)
    won, dealt_in, neither = (means[:, 0] / means[:, 1] / sigma(rules)).tolist()
    model = FoldingModel(win, waits, 1.0, won - neither, max(neither - dealt_in, 0.0))
    model = replace(model, scale=float(fitted["deal_in"].sum() / danger_of(fitted, model).sum()))
    print(f"{rules.title}: a win is worth {model.gain:.2f} sigma, a deal-in costs {model.loss:.2f}")
    chance, danger = of_facts(held_out["hand"], win), danger_of(held_out, model)
    waited = of_facts(held_out["seat"], waits)
    for name, found, label in (
        ("hands won", chance, held_out["won"]),
        ("waited for", waited, held_out["waits"]),
        ("discards won on", danger, held_out["deal_in"]),
    ):
        rate = label.mean()
        print(
            f"{name}: {100 * rate:.2f} % of {len(label):,}, foreseen {100 * found.mean():.2f} %; log loss "
            f"{log_loss(found, label):.4f}, that of the rate alone {log_loss(np.full(len(label), rate), label):.4f}"
        )
    return written(options.out, but=rules) | model.arrays(rules.name)


def of_facts(facts: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    return 1 / (1 + np.exp(-(facts.astype(np.float32) @ weights)))


def danger_of(known: Experience, model: FoldingModel) -> NDArray[Any]:
    """Return [m] the probabilities that the discards that were played are won on."""
    waits = of_facts(known["played"].reshape(-1, known["played"].shape[-1]), model.waits)
    return model.scale * (1 - np.prod(1 - waits.reshape(known["there"].shape) * known["there"], axis=1))


def log_loss(found: NDArray[Any], label: NDArray[Any]) -> float:
    found = np.clip(found, 1e-9, 1 - 1e-9)
    return float(-np.where(label, np.log(found), np.log1p(-found)).mean())


def logistic(facts: NDArray[Any], label: NDArray[Any], *, ridge: float = 1.0, steps: int = 12) -> NDArray[np.float32]:
    """Fit the weights of log odds by Newton's method."""
    weights = np.zeros(facts.shape[1])
    for _ in range(steps):
        slope, bend = -ridge * weights, ridge * np.eye(len(weights))
        for start in range(0, len(facts), 100_000):
            some = facts[start : start + 100_000].astype(np.float32)
            found = 1 / (1 + np.exp(-(some @ weights.astype(np.float32))))
            slope += some.T @ (label[start : start + 100_000] - found)
            bend += some.T @ (some * (found * (1 - found))[:, None])
        weights += np.linalg.solve(bend, slope)
    return weights.astype(np.float32)


def look_into_hands(rules: Rules, seed: list[int]) -> tuple[Experience, NDArray[Any]]:
    """Play `GAMES` hands of the reference agent, and record the hidden hands at some of its discards.

    Returns:
        For m discards: ``hand`` [2 m, W] the facts of the hand, with and without the acceptance; ``won`` [2 m] whether
        it was won in the end; ``played`` [m, 3, F] the facts of the other slots and the discard; ``there`` [m, 3]
        whether somebody sits there; ``deal_in`` [m]. For k pairs of a slot and a legal discard: ``seat`` [k, F] and
        ``waits`` [k]. And [3, 2] the sum of the points, and the number, of seats that have won, have dealt in, or
        neither.
    """
    rng, agent = np.random.default_rng(seed), reference_agent(rules)
    engine = make_engine(rules, GAMES, seed=fitting_seed(*seed))
    points, fate = np.zeros((2, GAMES, rules.people), np.int64)
    parts: list[Experience] = []
    whose: list[NDArray[np.int64]] = []  # game, person
    last_discard, deal_ins, size = np.full(GAMES, -1), [np.zeros(0, np.int64)], 0

    def choose(live: NDArray[np.intp], seats: NDArray[np.int8]) -> NDArray[np.int64]:
        nonlocal size
        whole = engine.view(games=live)
        actions = agent.act(whole, rng)
        last_discard[live[actions < CONCEALED_KONG]] = -1
        some = np.flatnonzero((actions < CONCEALED_KONG) & (whole.num_discards > 0) & (rng.random(len(live)) < SHARE))
        if some.size:
            view, hidden, played = (
                whole.take(some),
                engine.hidden(live[some], seats[some]),
                actions[some].astype(np.intp),
            )
            every = np.arange(len(some))
            discards = Discards.of(view, every)
            distance = discards.distance_by_kind()[every, played]
            help_ = look_ahead(view).help[every, played].astype(np.float32)
            row, kind = np.nonzero(view.action_mask[:, :34] & (rng.random((len(some), 34)) < SHARE_OF_PAIRS))
            slots = np.flatnonzero(view.house_wind[0, 1:] >= 0) + 1
            facts = [danger_facts(view, row, slot, kind) for slot in slots]
            parts.append(
                {
                    "hand": np.concatenate(
                        [hand_facts(view, every, distance, known) for known in (help_, np.full(len(some), np.nan))]
                    ),
                    "seat": np.concatenate(facts).astype(np.float16),
                    "waits": np.concatenate([hidden.waits[row, slot, kind] for slot in slots]),
                    "played": np.stack([danger_facts(view, every, slot, played) for slot in (1, 2, 3)], axis=1),
                    "there": view.house_wind[:, 1:] >= 0,
                }
            )
            whose.append(np.stack([live[some], seats[some]]))
            last_discard[live[some]] = size + every
            size += len(some)
        return actions

    for turn in play_to_end(engine, choose):
        points[turn.games] += turn.result.rewards
        ended = turn.result.outcome
        by = np.flatnonzero(ended.winner >= 0)
        fate[ended.game[by], ended.winner[by]] = 1
        thrown = np.flatnonzero(ended.source == "discard")
        fate[ended.game[thrown], ended.from_seat[thrown]] = 2
        deal_ins.append(last_discard[ended.game[thrown]])
    deal_in = np.zeros(size + 1, np.bool_)
    deal_in[np.concatenate(deal_ins)] = True
    known = joined(parts)
    won = [fate[tuple(one)] == 1 for one in whose]
    known["won"] = np.concatenate([np.tile(one, 2) for one in won])
    known["deal_in"] = deal_in[:-1]
    return known, np.array([[points[fate == of].sum(), (fate == of).sum()] for of in (1, 2, 0)])


# --- Opponents' hands -------------------------------------------------------------------------------------------------


def count_opponent_hands(options: argparse.Namespace) -> dict[str, NDArray[Any]]:
    chosen = [rules(name) for name in options.variants or VARIANTS]
    counts = {of.name: count(of, options.hands, options.seed) for of in chosen}
    for name, found in counts.items():
        print(f"{VARIANTS[name].title}: {found.sum():,} hands seen")
    return written(options.out) | counts


def count(rules: Rules, hands: int, seed: int) -> NDArray[np.uint32]:
    """Return [25, 6, 10] the number of opponents' hands at each turn, by discards, melds and tiles that they lack."""
    counts = np.zeros((25, 6, 10), np.uint32)
    for part in range(-(-hands // 1024)):
        engine = make_engine(rules, 1024, seed=fitting_seed(seed, part))
        for found in opponent_hands(engine, np.random.default_rng([seed, part])):
            np.add.at(counts, tuple(np.minimum(found, np.array(counts.shape) - 1).T), 1)
    return counts


def opponent_hands(engine: Engine, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return [n, 3] the opponents' discards, melds and lacking tiles, for each step of games of the reference agent."""
    rules, state, policy = engine.rules, engine.state, reference_agent(engine.rules)
    seen = []

    def choose(live: NDArray[np.intp], _: NDArray[np.int8]) -> NDArray[np.int64]:
        view = engine.view(games=live)
        games = live[view.action_mask[:, :34].any(axis=1) & (view.num_discards > 0)]
        game, seat = np.nonzero(state.turn[games][:, None] != np.arange(rules.seats))
        game = games[game]
        distances = distances_of_hands(state, rules, game, seat)
        seen.append(np.stack([state.river_size[game, seat], state.num_melds[game, seat], distances], axis=1))
        return policy.act(view, rng)

    for _ in play_to_end(engine, choose):
        pass
    return seen


if __name__ == "__main__":
    main()
