"""``mahjong-env best-response``: train a policy against a single agent, and measure how much it wins.

The result is a lower bound of the agent's exploitability, as another learner or a longer run may win more. Results can
therefore be compared only at the same budget, which is reported with them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from mahjong_agents import make_agent
from mahjong_agents.policy.file import SHIPPED, PolicyFile
from mahjong_env import Rules, __version__
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import BestResponseConfig, TrainConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, plain_json
from mahjong_training.evaluation.lineups import one_against_copies
from mahjong_training.evaluation.matches import Contest, play_contests, sigma
from mahjong_training.evaluation.results import LineupResult, difference
from mahjong_training.evaluation.standing import Kept
from mahjong_training.learning import run as learning
from mahjong_training.learning.run_folder import RunFolder
from mahjong_training.runtime.console import resume_hint, saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, provenance
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import response_seed

FILE: Final = "best_response.json"


@dataclass(frozen=True)
class BestResponse:
    """What a best response wins, alone against copies of an agent, on held-out deals.

    Attributes:
        rules: the rules that were played.
        agent: the agent to beat.
        start: the agent that the response began as.
        points: the points a hand that the response wins.
        learned: how many more points that is than the response won as it began, on the same deals.
        sigma: the unit of strength, in points.
        hands: the budget: the number of hands learned from.
        decisions: the number of the response's decisions in these hands.
        seconds: the time spent learning, without measurements.
        deals: the number of deals in the test, each played from every seat.
    """

    rules: Rules
    agent: str
    start: str
    points: Estimate
    learned: Estimate
    sigma: float
    hands: int
    decisions: int
    seconds: int
    deals: int

    def __str__(self) -> str:
        won, more = (one.over(self.sigma).text(3, sign="+") for one in (self.points, self.learned))
        budget = f"{self.hands:,} hands, {self.decisions:,} decisions, {self.seconds} s of learning"
        return (
            f"{self.rules.title}: the response wins {won} sigma a hand from copies of {self.agent}, {more} more than "
            f"{self.start}, which it began as\n(95 %, {self.deals:,} other deals from every seat; budget: {budget})"
        )


def run(config: BestResponseConfig) -> BestResponse:
    """Learn to beat an agent, test the response, print what it wins, and write everything to the run folder.

    Raises:
        MahjongError: settings, agents or folders cannot be used; nothing has been learned then.
        InterruptedRunError: Ctrl-C or SIGTERM; what was learned has been saved.
    """
    check_settings(config)
    agent, start = make_agent(config.agent), config.start
    out = config.out or Path("runs") / f"{config.variant}-best-response"
    asked, folder = _settings(config, out), RunFolder(out)
    folder.check(asked)
    if config.resume:  # the test, too, is that of the run
        own = folder.resumed_config(asked)
        config = replace(config, knobs=own.knobs, seed=own.seed)
    elif start is not None:
        check_start(start)
    rules = read_rules(config.variant, config.knobs)
    if config.kept is not None and config.knobs:
        knobs = " ".join(config.knobs)
        raise TrainingError(f"--kept holds results of the variants' default rules, not those of --knobs {knobs}")
    if config.kept is not None:
        check_file(Kept.read(config.kept).path)  # what is wrong with the file is reported now, not after the learning
    check_file(out / FILE)
    if start is None and not config.resume:
        itself = [config.agent] if config.agent.startswith("policy:") and learning.small_network(config.agent) else []
        shipped = [f"policy:{rules.name}"] if (SHIPPED / f"{rules.name}.zip").is_file() else []
        start = learning.best_start(rules, config.agent, [*itself, *learning.TEACHERS, *shipped], config.seed)
    learning.run(replace(asked, teacher=start))
    trained = PolicyFile.read(folder.last).training
    response, began = _tested(rules, config, folder)
    found = BestResponse(
        rules,
        config.agent,
        str(trained["teacher"]),
        points=response.of(0).points,
        learned=difference(response, 0, began, 0),
        sigma=sigma(rules),
        **{name: int(trained[name]) for name in ("hands", "seconds")},
        decisions=int(trained["steps"]),
        deals=config.deals,
    )
    print(found)
    digests = agent_digests(config.agent, agent, rules)
    about = {
        "mahjong_env": __version__,
        "variant": rules.name,
        "variant_version": rules.version,
        "knobs": rules.knobs,
        "digests": digests,
        "seed": config.seed,
        "unit": "points a hand, 95 % intervals clustered by deal",
    }
    write_text(
        out / FILE, plain_json(about | {name: value for name, value in asdict(found).items() if name != "rules"})
    )
    print(f"written: {out / FILE}, {folder.best}")
    if config.kept is not None:
        kept = Kept.read(config.kept)
        budget = {name: getattr(found, name) for name in ("hands", "decisions", "seconds", "deals", "start")}
        how = provenance(rules, seed=config.seed, **budget)
        agent_kept = "policy" if config.agent == f"policy:{rules.name}" else config.agent
        of_response = {"response": found.points.over(found.sigma), "how_response": how}
        kept.add(rules.name, {agent_kept: digests}, {agent_kept: of_response})
        kept.write()
    return found


def check_start(start: str) -> None:
    """Check, before anything is played, that a learner can begin as the agent that ``--start`` names.

    Raises:
        MahjongError: it is no such agent, or there is no such policy.
    """
    network = learning.small_network(start) if start.startswith("policy:") else None
    if start not in learning.TEACHERS and (network is None or network.features is not None):
        named = ", ".join(learning.TEACHERS)
        raise TrainingError(f"--start is one of {named}, policy:NAME (of `train`, without --features), not {start!r}")


def _settings(config: BestResponseConfig, out: Path) -> TrainConfig:
    """Return the settings of the training run: the agent is the only opponent in play, measurements and gates."""
    return TrainConfig(
        **{name: getattr(config, name) for name in ("variant", "knobs", "hands", "seed", "resume")},
        **{name: getattr(config, name) for name in ("processes", "ray", "threads")},
        out=out,
        teacher=config.start,
        opponents=(config.agent,),
        opponent_share=1.0,
        evaluation_agents=(config.agent,),
        gate_against=config.agent,
    )


def _tested(rules: Rules, config: BestResponseConfig, folder: RunFolder) -> tuple[LineupResult, LineupResult]:
    """Return the test results of the response, and of the policy that it began as, among copies of the agent.

    If no gate has been passed, the two are the same policy, which is played only once.
    """
    policies = [f"policy:{path}" for path in (folder.best, folder.initial)[: 1 + folder.has_gained]]
    agents = {spec: make_agent(spec) for spec in (*policies, config.agent)}
    tests = [
        Contest.of(rules, agents, one_against_copies(policy, config.agent, rules.people), range(config.deals))
        for policy in policies
    ]
    kept = f"what was learned is kept in {folder.path}; resume with {resume_hint()}"
    with saying_what_is_kept(lambda: kept) as tell:
        tell(f"the test: {config.deals:,} deals")
        found = [one.result(parts) for one, parts in play_contests(tests, agents, config, response_seed(config.seed))]
    return found[0], found[-1]
