"""``mahjong-env psro``: train policies against a growing pool whose pay-off matrix sets the odds of the opponents.

These are policy-space response oracles (Lanctot et al., 2017). In each round, the matrix of the pool has an equilibrium
mixture (`payoffs.nash_mixture`). A policy learns to beat that mixture and joins the pool, and the next round begins. A
mixture that no further round beats is hard to exploit for this learner at this budget. Best responses to the agent at
the beginning and to the policy added last, at the same budget, show whether it has become harder to exploit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import make_agent
from mahjong_env import Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import BestResponseConfig, PsroConfig, TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import plain_json
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Contest, check_single_hands, play_contests, sigma
from mahjong_training.evaluation.payoffs import Payoffs
from mahjong_training.evaluation.standing import lines
from mahjong_training.learning import best_response
from mahjong_training.learning import run as learning
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.console import kept_in, resumed_with, saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, replaced
from mahjong_training.runtime.executors import set_threads
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_settings

FILE: Final = "psro.json"
_SETTINGS: Final = "settings.json"
_DIGESTS: Final = "digests"
_SEEDS: Final = "seeds of rounds"
"""A key of the settings; without it, the run is of a version in which runs of neighbouring seeds shared deals."""
_LEAST_SHARE: Final = 0.01
"""Opponents with a smaller share of the mixture are left out."""


@dataclass(frozen=True)
class Round:
    """One round: the pool at its beginning, the pay-off matrix, and what was learned against it.

    Attributes:
        pool: the k agents.
        matrix: [k][k] sigma a hand of the row's agent alone among copies of the column's agent.
        intervals: [k][k] the interval of each, as (low, high).
        mixture: [k] the equilibrium: the probability with which each agent is drawn as an opponent.
        nash_ratings: [k] half the difference between what each agent wins from the mixture and what the mixture wins
            from it, in sigma, with its interval as (mean, low, high). None is above 0, as the mixture is the best one
            on these very deals.
        added: the policy that passed a gate against the mixture and joined the pool; None if there is none.
    """

    pool: tuple[str, ...]
    matrix: list[list[float]]
    intervals: list[list[tuple[float, float]]]
    mixture: list[float]
    nash_ratings: list[tuple[float, float, float]]
    added: str | None


def run(config: PsroConfig) -> list[Round]:
    """Carry out the rounds that have not been finished yet; print and write the results.

    Raises:
        MahjongError: settings, agents or folders cannot be used.
        InterruptedRunError: Ctrl-C or SIGTERM; the same command resumes the run.
    """
    check_settings(config, zero=("judge_hands",))
    pool = tuple(dict.fromkeys(config.pool))
    if len(pool) < 2:
        raise TrainingError("--pool must name at least two agents")
    rules = read_rules(config.variant, config.knobs)
    check_single_hands(rules)
    digests = {spec: agent_digests(spec, make_agent(spec), rules) for spec in (*pool, config.start)}
    best_response.check_start(config.start)
    out = config.out or Path("runs") / f"{config.variant}-psro"
    learning.PpoRun.check(_settings_of_round(config, out, pool, np.eye(len(pool))[0], []))  # of any mixture
    check_file(out / FILE)
    set_threads(config.threads)
    rounds: list[Round] = []
    with alone_in(out), resumed_with("the same command"):
        _keep_settings(config, digests, out)
        while True:
            payoffs = _payoffs(rules, pool, config, out)
            unit, summary = sigma(rules), payoffs.summary()
            mixture = np.array([summary[spec]["nash_share"].mean for spec in pool])
            ratings = [summary[spec]["nash_rating"].over(unit) for spec in pool]
            added = None
            if len(rounds) < config.rounds:
                _say(rounds, pool, payoffs.matrix / unit, mixture)
                added = _response(config, out, pool, mixture, rounds)
            matrix, intervals = ((of / unit).round(4).tolist() for of in (payoffs.matrix, payoffs.intervals()))
            shown = [(one.mean, one.low, one.high) for one in ratings]
            rounds.append(Round(pool, matrix, intervals, mixture.round(4).tolist(), shown, added))
            about = {"mahjong_env": __version__, "variant": rules.name, "deals": config.deals, "seed": config.seed}
            data = about | {"unit": "sigma a hand", "rounds": [asdict(one) for one in rounds]}
            write_text(out / FILE, plain_json(data) + "\n")
            if added is None:
                break
            pool = (*pool, added)
        _say(rounds[:-1], pool, payoffs.matrix / unit, mixture)
        if config.judge_hands:
            write_text(out / FILE, plain_json(data | {"exploitability": _judged(config, rounds, out)}) + "\n")
        print(f"written: {out / FILE}")
    return rounds


def _keep_settings(config: PsroConfig, digests: Mapping[str, Sequence[str]], out: Path) -> None:
    """Write the settings and agents to the folder, or check that they agree with those of the run in it.

    Before its first round has begun, a run gives way to another, as one of its agents may have failed.
    """
    free = {"rounds", "judge_hands", "processes", "ray", "threads", "out"}
    settings = json.loads(json.dumps({name: value for name, value in asdict(config).items() if name not in free}))
    path = out / _SETTINGS
    if path.exists():
        try:
            kept = dict(json.loads(path.read_text(encoding="utf-8")))
            known = dict(kept.get(_DIGESTS, {}))
        except (OSError, ValueError, TypeError) as error:
            raise TrainingError(f"{path}: the settings of this run cannot be read ({error})") from error
        if _SEEDS not in kept:
            raise TrainingError(f"{out}: an older version began this run, with other seeds; choose another --out")
        if RunFolder(_round_folder(out, 1)).config.exists():
            for agent in replaced(known, digests):
                raise TrainingError(f"{out}: {agent} has changed since the run began; choose another --out")
            for name in settings:
                if settings[name] != kept.get(name):
                    was = f"the run began with another --{name}: {kept.get(name)!r}"
                    raise TrainingError(f"{out}: {was}; choose another --out")
    write_text(path, plain_json(settings | {_DIGESTS: digests, _SEEDS: "hashed"}) + "\n")


def _payoffs(rules: Rules, pool: tuple[str, ...], config: PsroConfig, out: Path) -> Payoffs:
    """Return the pay-off matrix; pairs that have not been played yet are played, all on the same deals."""
    agents = {spec: make_agent(spec) for spec in pool}
    pairs = list(permutations(pool, 2))
    contests = [
        Contest.of(rules, agents, one_against_copies(one, other, rules.people), range(config.deals))
        for one, other in pairs
    ]
    with saying_what_is_kept(lambda: kept_in(out)) as progress:
        played = play_contests(contests, agents, config, config.seed, out=out, progress=progress)
        results = [contest.result(parts) for contest, parts in played]
    return Payoffs.of(pool, dict(zip(pairs, results, strict=True)))


def _response(
    config: PsroConfig, out: Path, pool: tuple[str, ...], mixture: NDArray[np.float64], rounds: list[Round]
) -> str | None:
    """Learn to beat a mixture; return the text of the policy, or None if no gate was passed."""
    found = learning.run(_settings_of_round(config, out, pool, mixture, rounds))
    return f"policy:{found.best}" if found.has_gained else None


def _settings_of_round(
    config: PsroConfig, out: Path, pool: tuple[str, ...], mixture: NDArray[np.float64], rounds: list[Round]
) -> TrainConfig:
    """Return the settings of the round after ``rounds``, which learns to beat a mixture."""
    folder = _round_folder(out, len(rounds) + 1)
    shares = mixture.round(4)  # a run resumed on another processor, with other last bits, keeps its odds
    kept = np.where(shares >= _LEAST_SHARE, shares, 0)
    drawn = [(spec, float(share)) for spec, share in zip(pool, kept / kept.sum(), strict=True) if share]
    latest = [one.added for one in rounds if one.added is not None]
    return TrainConfig(
        **{name: getattr(config, name) for name in ("variant", "knobs", "hands", "kl_coef", "learning_rate")},
        **{name: getattr(config, name) for name in ("processes", "ray", "threads", "evaluations", "gate_deals")},
        seed=_seed(config, len(rounds) + 1, is_judge=False),
        out=folder,
        resume=RunFolder(folder).config.exists(),
        teacher=latest[-1] if latest else config.start,
        opponents=tuple(spec for spec, _ in drawn),
        opponent_odds=tuple(share for _, share in drawn),
        opponent_share=config.opponent_share,
        evaluation_agents=(max(drawn, key=lambda one: one[1])[0],),
        evaluation_deals=config.evaluation_deals,
    )


def _round_folder(out: Path, number: int) -> Path:
    return out / f"round_{number}"


def _seed(config: PsroConfig, number: int, *, is_judge: bool) -> int:
    """Return the seed of a round, or of the judge of what it added (with number 0, of what the first began as).

    It is a hash, so that no two of these, in this run or one of another seed, learn from the same deals.
    """
    return int(np.random.SeedSequence((config.seed, number, is_judge)).generate_state(1)[0])


def _judged(config: PsroConfig, rounds: list[Round], out: Path) -> dict[str, dict[str, object]]:
    """Return what best responses win from the agent at the first round's start, and from the policy added last."""
    added = [(number, one.added) for number, one in enumerate(rounds, 1) if one.added is not None]
    responses = {}
    for number, agent in [(0, config.start), *added[-1:]]:
        judged = f"round_{number}" if number else "start"
        folder = out / f"response_to_{judged}"
        found = best_response.run(
            BestResponseConfig(
                **{name: getattr(config, name) for name in ("variant", "knobs", "processes", "ray", "threads")},
                seed=_seed(config, number, is_judge=True),
                agent=agent,
                hands=config.judge_hands,
                out=folder,
                resume=RunFolder(folder).config.exists(),
            )
        )
        response = asdict(found.points.over(found.sigma))
        responses[judged] = {"agent": found.agent, "began_as": found.start, "hands": found.hands, "response": response}
    return responses


def _say(rounds: list[Round], pool: tuple[str, ...], matrix: NDArray[np.float64], mixture: NDArray[np.float64]) -> None:
    head = ["sigma a hand of one, among copies of", *(str(number) for number in range(len(pool))), "share"]
    rows = [
        [f"{number}: {spec}", *(f"{points:+.3f}" for points in matrix[number]), f"{mixture[number]:.2f}"]
        for number, spec in enumerate(pool)
    ]
    print(f"after {len(rounds)} {'round' if len(rounds) == 1 else 'rounds'}\n{lines(head, rows)}", flush=True)
