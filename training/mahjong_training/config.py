"""The settings of training and evaluation; the command line is made from these classes and their comments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from mahjong_env import Deal
from mahjong_training.evaluation.lineups import Kind, Seatings
from mahjong_training.evaluation.standing import CEILINGS

DRAWN: Final = Deal(dealer=None, dealer_streak=None)
"""A deal that names nothing, so that all of it is drawn from the seed."""
_HANDS: Final = 320_000
_STEPS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class VariantConfig:
    """The game that is played: a variant and its house rules."""

    variant: str
    """The variant to play (fuzhou, hangzhou, hebei, mcr, taiwan, wuhan, or one that another package adds)."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE, such as players=4 cap=none. By default the variant's own rules apply.
    `python -m mahjong_env rules --variant VARIANT` lists all house rules.
    --knob is an alias, and either option may be given several times."""


@dataclass(frozen=True, kw_only=True)
class WorkersConfig:
    """Where the work is done. The result is the same everywhere (in learning, for the same --parts of `train`)."""

    processes: int = 1
    """Number of processes that play in parallel. Raise it to use more processor cores.
    The result is the same with any number (in learning, for the same --parts of `train`)."""
    ray: str | None = None
    """Play on a Ray cluster (see docs/cluster.md). By default Ray is not used.
    With local, a cluster is started on this machine, with --processes workers, or one for each core if that is 1.
    With auto, the cluster that this machine belongs to is used; with HOST:PORT, the one whose head listens there.
    These two have workers of their own, and take no --processes."""
    threads: int = 1
    """Number of torch threads in each process. Raise it if there are more cores than processes."""


@dataclass(frozen=True, kw_only=True)
class RunConfig(VariantConfig):
    """The settings that every training run has."""

    folder_suffix: ClassVar[str]
    """Appended to the variant in the name of the run folder, so that each training command has a folder of its own."""

    out: Path | None = None
    """The run folder. By default runs/<variant> for train, and runs/<variant>-sb3 for train-sb3."""
    resume: bool = False
    """Resume the run in the run folder, with its own settings. Without this option a folder that has a run is refused.
    To go beyond the run's total, give a greater --hands (of train-sb3, --total-steps)."""
    seed: int = 0
    """Seed of the deals, the initial weights and all random choices. Another seed makes an independent run."""
    reward: str = "points"
    """What the learner is paid for. The default is points, in sigma, from which `train` takes the luck of the draws.
    Others are sigma (points in sigma, luck and all), clipped?limit=2 and ranked (the place by points in a hand).
    With distance?weight=0.1, coming nearer to a win pays as well (0.3 is good without a warm start).
    With place, the place in a match pays; `train --match-hands` plays matches.
    FILE.py:NAME is a reward of your own. See docs/rewards_and_features.md."""
    device: str = "auto"
    """Device on which torch learns, one of auto (a GPU if there is one), cpu and cuda.
    On the CPU the same run gives the same policy again. On a GPU it does not, as sums are added in varying order."""
    evaluations: int
    """Number of times that the learner is measured and saved on the way. More of them make a finer learning curve."""
    evaluation_deals: int
    """Number of deals in each measurement on the way, played from every seat against each of --evaluation-agents."""
    evaluation_agents: tuple[str, ...]
    """Agents that the learner is measured against, one at a time, each in all other seats."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """The hyperparameters of PPO that both training commands have, with different defaults."""

    learning_rate: float
    """Learning rate at the beginning. It falls linearly to a tenth of that."""
    batch_size: int
    """Number of decisions in a minibatch."""
    n_epochs: int
    """Number of passes over the decisions of an update."""
    gamma: float = 1.0
    """Discount, at most 1, of a reward for each further decision of the same seat. With 1, nothing is discounted.
    Potentials that shape a reward are discounted by it, too."""
    gae_lambda: float
    """Lambda of generalised advantage estimation, at most 1. The greater it is, the further ahead advantages look."""
    clip_range: float = 0.2
    """How far an update may move the probability of an action, as a share of that probability."""
    ent_coef: float
    """Weight of the entropy bonus. A greater one keeps the policy more random; 0 turns the bonus off."""


@dataclass(frozen=True, kw_only=True)
class TrainSb3Config(PpoSettings, RunConfig):
    """Train a policy with the MaskablePPO of sb3-contrib, after a warm start that imitates a teacher."""

    folder_suffix: ClassVar[str] = "-sb3"

    total_steps: int | None = None
    """Most decisions that PPO learns from, in whole updates of --tables times --n-steps.
    Those of the warm start do not count.
    If omitted, 1,000,000, or the total that a resumed run already has."""
    tables: int = 512
    """Number of tables that are played at once."""
    opponents: tuple[str, ...] = ("greedy", "random")
    """Agents that sit at the other seats, drawn anew for every hand. "self" is the learner as it is at the time."""
    warm_start_steps: int = 100_000
    """Number of the teacher's decisions to imitate before PPO begins. With 0, PPO starts from random weights."""
    dataset: tuple[str, ...] = ()
    """Folders of recorded games (`mahjong-env record`). The warm start then imitates --teacher's decisions in them.
    The games must have the rules of the run, and --reward and --gamma must keep their defaults.
    By default it watches the teacher play instead."""
    warm_start_epochs: int = 3
    """Number of passes over the decisions that the warm start imitates."""
    warm_start_learning_rate: float = 1e-3
    """Learning rate of the warm start."""
    teacher: str | None = None
    """Agent that the warm start imitates. If omitted, the reference agent of the rules (greedy or closed-greedy).
    With --dataset, it is one of the agents that were recorded, by default the first."""
    width: int = 256
    """Number of units in each hidden layer."""
    layers: int = 2
    """Number of hidden layers."""
    evaluations: int = 10
    evaluation_deals: int = 300
    evaluation_agents: tuple[str, ...] = ("random", "greedy")
    """Agents that the learner is measured against, one at a time, each in all other seats.
    The policy with the highest mean over them is kept as best.zip."""
    record: str | None = None
    """File to which the record of every game that PPO plays is appended (JSON lines; see docs/records.md)."""
    threads: int = 1
    """Number of torch threads."""
    learning_rate: float = 5e-4
    n_steps: int = 16
    """Number of decisions at each table between two updates."""
    batch_size: int = 2048
    n_epochs: int = 4
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    """Weight of the value loss, in PPO and in the warm start."""

    @property
    def goal(self) -> int:
        """Number of decisions to learn from in all."""
        return _STEPS if self.total_steps is None else self.total_steps


@dataclass(frozen=True, kw_only=True)
class TrainConfig(PpoSettings, WorkersConfig, RunConfig):
    """Train a policy by self-play: PPO in one file (learning/ppo.py), a small network over strong inputs."""

    folder_suffix: ClassVar[str] = ""

    hands: int | None = None
    """Number of hands to learn from in all, including --critic-hands. A hand has 50 to 70 decisions.
    If omitted, 320,000, or the total that a resumed run already has."""
    tables: int = 4096
    """Most hands in an update at first. The hands of the run are shared out evenly among its updates.
    Later the limit grows to an eighth of the hands that have been learned from.
    It never exceeds twice this number, nor grows beyond a thirty-second of --hands.
    While only the critic learns, it is twice this number."""
    parts: int | None = None
    """Number of parts in which the hands of an update are played, for processes to share. It affects the result.
    If omitted, 2, or the number of --processes (of the workers of --ray) if that is greater when the run begins.
    With --ahead it is half of that, as two updates are played at the same time.
    A --network on a GPU has 1, as a single process then asks it for all tables at once."""
    match_hands: int = 1
    """Number of hands in a match. With more than 1, whole matches are played instead of single hands.
    Gates then compare mean places, which the learning curve shows as well.
    The small network sees the standing through the inputs that --reward place adds, or --features of your own."""
    opponents: tuple[str, ...] = ("greedy", "closed-greedy")
    """Agents that play against the learner at a share of the tables (--opponent-share).
    "snapshot" is the learner as it was at its last measurements."""
    opponent_odds: tuple[float, ...] = ()
    """Probability of each of --opponents, which also is its share of the gates, in place of --gate-against.
    They sum to 1, and "snapshot" may not be among the opponents.
    If omitted, all opponents are equally likely, and gates are played against --gate-against."""
    opponent_share: float = 0.6
    """Share of the tables, from 0 to 1, at which one opponent has all seats but one. At the rest the learner has all.
    The opponent is drawn anew for each of the --parts of an update.
    The greater the share, the less time a hand takes; 0 is self-play alone."""
    teacher: str | None = None
    """Agent that the learner plays like at the beginning.
    Give greedy, closed-greedy, or a policy of `train` (policy:hebei, policy:FILE), even one for another variant.
    If omitted, whichever of greedy and closed-greedy wins from the other."""
    critic_hands: int | None = None
    """Number of hands at the beginning from which only the critic learns.
    If omitted, 12,288, but no more than a quarter of --hands."""
    width: int | None = None
    """Number of units in each layer of the small network that plays. A --network of your own ignores it.
    If omitted, as many as the policy has that --teacher names, or else 64."""
    features: str | None = None
    """Inputs of your own, which are added to those of the small network.
    Name a class as FILE.py:CLASS; see docs/rewards_and_features.md."""
    network: str | None = None
    """A torch module of your own that plays instead of the small network.
    Name its class as FILE.py:CLASS?option=value; see docs/rewards_and_features.md.
    It begins as its class leaves it, or as --teacher policy:FILE of the same class."""
    learning_rate: float = 2e-2
    batch_size: int = 32768
    n_epochs: int = 3
    gae_lambda: float = 0.8
    ent_coef: float = 0.0
    kl_coef: float = 0.0
    """Weight of the divergence (KL) from the learner as it began, or as it was when it last passed a gate.
    A greater one holds the learner closer to that policy; 0 turns it off."""
    reward_limit: float = 10.0
    """Limit, in either direction, to which the reward between two decisions is cut.
    It is in sigma for points, and in the reward's own unit for other rewards."""
    control_variates: bool = True
    """Take the luck of the draws off the reward, if that is points and single hands are played.
    It is then taken off the points of measurements and gates, too. Means stay the same, with less noise.
    Luck is left in where it explains less than a third of the variance of points (Wuhan)."""
    ema_decay: float = 0.5
    """Decay, from 0 to 1, of the exponential moving average of the weights, which is what is measured and saved.
    Over the first updates this is a plain mean. With 0, the last weights alone count."""
    evaluations: int = 5
    evaluation_deals: int = 500
    """Number of deals in each measurement on the way, played from every seat against each of --evaluation-agents.
    With --match-hands, as many matches as hold that number of hands, at least 30."""
    evaluation_agents: tuple[str, ...] = ("greedy", "closed-greedy")
    gate_deals: int = 4000
    """Most deals in a gate, other ones every time, against --gate-against.
    The learner replaces best.zip if it wins clearly more on them than best.zip does.
    A gate ends after a quarter or a half of them if that is clear by then, or if the learner does not win more.
    With --match-hands, as many matches as hold that number of hands, at least 30."""
    gate_against: str | None = None
    """Agent that has all other seats in gates.
    If omitted, the reference agent of the rules (greedy or closed-greedy)."""
    ahead: bool = False
    """Play the hands of two updates at the same time, so that neither playing nor learning waits.
    The learner then learns from hands that were played with weights one update old.
    With a --network on a GPU, playing and learning still take turns."""
    threads: int = 1
    """Number of torch threads, which learn while the processes wait. The result is the same as with one thread.
    They share the work on the policy and on the critic; with a --network of your own, half of them do each."""

    @property
    def goal(self) -> int:
        """Number of hands to learn from in all."""
        return _HANDS if self.hands is None else self.hands


@dataclass(frozen=True, kw_only=True)
class BestResponseConfig(WorkersConfig, VariantConfig):
    """Train a best response to one agent, and measure what it wins: a lower bound of the agent's exploitability."""

    agent: str
    """The agent to beat.
    Any agent will do, such as greedy, value or policy:NAME_OR_PATH."""
    hands: int | None = None
    """Number of hands to learn from, all of them against the agent. Compare results only at the same number.
    If omitted, 320,000, or the total that a resumed run already has."""
    deals: int = 5000
    """Number of deals in the final test, played from every seat. Nothing is learned from them or selected on them."""
    start: str | None = None
    """Agent that the response starts from (greedy, closed-greedy or a policy of `train`).
    If omitted, the one that wins most from --agent.
    The candidates are greedy, closed-greedy, the policy shipped for the variant, and --agent if `train` made it."""
    seed: int = 0
    """Seed of the deals, the initial weights and all random choices. Another seed makes an independent run."""
    out: Path | None = None
    """The run folder, in which best_response.json is written, too. By default runs/<variant>-best-response."""
    kept: Path | None = None
    """File of standings to which the result is added, such as docs/standings.json; see docs/leaderboard.md.
    It holds results of the default rules, so that --knobs must be left out."""
    resume: bool = False
    """Resume the run in the run folder, up to --hands in all, and test it again."""


@dataclass(frozen=True, kw_only=True)
class PsroConfig(WorkersConfig, VariantConfig):
    """Train policies that join a pool of agents, against opponents drawn by the equilibrium of its pay-offs (PSRO).

    An interrupted run resumes with the same command; a greater --rounds takes it further.
    """

    pool: tuple[str, ...] = ("greedy", "closed-greedy", "value", "policy")
    """Agents that are in the pool at the beginning, at least two."""
    rounds: int = 3
    """Most rounds. In each, a policy learns against the mixture of the pool, and joins the pool if it passes a gate.
    The run ends with the first round that passes none."""
    hands: int = 320_000
    """Number of hands to learn from in each round."""
    deals: int = 1000
    """Number of deals for each pair in the pay-off matrix, played from every seat."""
    start: str = "greedy"
    """Agent that the first round starts from (greedy, closed-greedy or a policy of `train`).
    Later rounds start from the policy that was added last."""
    opponent_share: float = 0.5
    """Share of the tables, from 0 to 1, at which an agent of the pool has all seats but one.
    At the rest the learner has all."""
    kl_coef: float = 0.05
    """Weight of the divergence (KL) from the learner as the round began, or as it was when it last passed a gate.
    A greater one holds the learner closer to that policy; 0 turns it off."""
    learning_rate: float = TrainConfig.learning_rate
    """Learning rate at the beginning of a round. It falls linearly to a tenth of that."""
    evaluations: int = TrainConfig.evaluations
    """Number of times that the learner is measured, and tries a gate, in each round."""
    evaluation_deals: int = TrainConfig.evaluation_deals
    """Number of deals in each of these measurements, played from every seat against the most likely opponent."""
    gate_deals: int = TrainConfig.gate_deals
    """Most deals in a gate, shared out among the opponents by their probabilities, with at least 30 for each."""
    judge_hands: int = 0
    """Number of hands that a best response learns from at the end, one to --start and one to the policy added last.
    The two show whether it has become harder to exploit. With 0, this is left out."""
    seed: int = 0
    """Seed of the deals, the initial weights and all random choices. Another seed makes an independent run."""
    out: Path | None = None
    """The folder of the run. By default runs/<variant>-psro."""


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig(WorkersConfig, VariantConfig):
    """Compare agents on the same deals, played from every seat, and say how sure the result is."""

    agents: tuple[str, ...] = ("greedy", "random")
    """The agents to compare.
    Name any that docs/agents.md lists, such as random, greedy, policy:FILE_OR_FOLDER or FILE.py:CLASS."""
    lineups: Kind = "duels"
    """Who sits together at a table.
    In "duels", every agent plays alone against copies of every other one.
    All of them also play together in "duels" if there are as many agents as players.
    In "pairs", two play against two, at tables of four. In a "league", any number of agents all meet one another."""
    seatings: Seatings = "all"
    """The orders of seats in which every deal is played.
    "all" plays every order, 24 for four different agents.
    "balanced" plays a few (4 there) in which every agent has every seat, and sits behind every other, equally often.
    "turns" plays each deal in one order, the next deal in the next.
    It is for slow agents, whose hands are better spent on more deals."""
    control_variates: bool = False
    """Take the luck of the draws off the points. In the long run means stay the same, and intervals are narrower.
    Greedy players take about three times as long. For every slower agent it is worth its time, except in Wuhan."""
    deals: int = 1000
    """Number of deals, each played in all orders of --seatings. With --until or --until-clear, the most.
    An interval half as wide takes four times as many."""
    until: float | None = None
    """Stop once all points are known to within this many sigma (in a league, those of each agent over all tables).
    Results are looked at nine times at most, and intervals are widened so that they hold wherever this stops."""
    until_clear: bool = False
    """Stop once all intervals are clear of zero. With --until, stop once both conditions hold."""
    seed: int = 20_000
    """Seed of the deals and all random choices. The same seed gives the same result."""
    blind: int | None = None
    """Number of a blind test, whose deals nothing else is played on. It takes the place of --seed.
    The file blind_tests.jsonl in the current folder records who has played which test.
    The same agents may play each of them once."""
    blind_again: bool = False
    """Play a blind test again that these agents have already played. The record says so."""
    teachers: bool = True
    """Also play the teachers of trained policies, and these policies as they were before they learned."""
    details: bool = False
    """Also print how the agents play (turns and values of wins, costs of deal-ins, melds)."""
    record: Path | None = None
    """File to which the record of every game is appended (JSON lines; see docs/records.md)."""
    thoughts: bool = False
    """Also record what the agents thought of their choices, which the viewer shows.
    Policies give the probability of each action, value and search what each action promises."""
    out: Path | None = None
    """Folder for evaluation.json, .csv and .html. By default nothing is written.
    With a folder, the same command resumes an interrupted evaluation."""


@dataclass(frozen=True, kw_only=True)
class RecordConfig(WorkersConfig, VariantConfig):
    """Let agents play, and record every game as JSON lines and as arrays; see docs/datasets.md.

    An interrupted recording resumes with the same command; a greater --hands makes the dataset longer.
    """

    out: Path
    """The folder of the dataset."""
    agents: tuple[str, ...] = ("greedy",)
    """Agents that play. If there are several, one is drawn for each seat of each game, all equally likely."""
    hands: int = 100_000
    """Number of hands in all."""
    num_hands: int = 1
    """Number of hands in a game. --hands must be a multiple of it."""
    seed: int = 10_000
    """Seed of the deals and all random choices. The same seed gives the same bytes."""
    shard_games: int | None = None
    """Number of games in a shard, which are played at once. An interruption loses unfinished shards.
    If omitted, 16,384, or 4,096 with --observations or --parquet, and fewer for slow agents."""
    observations: bool = False
    """Also store what the seats saw, 1.3 kB a decision. Otherwise observations are rebuilt when they are read."""
    records: bool = True
    """Also write records (JSON lines), which the viewer shows."""
    parquet: tuple[str, ...] | None = None
    """Also write the decisions as Parquet, for the library datasets of Hugging Face.
    Columns that can be added are observation, events (the hand as a sequence) and hidden (what the seat could not see).
    Without any, it has the columns of the decisions alone. By default no Parquet is written."""


@dataclass(frozen=True, kw_only=True)
class ReviewConfig(WorkersConfig):
    """Play out every legal action of a position on the same hidden worlds: what is each worth, and why?"""

    record: Path | None = None
    """File of recorded games (.jsonl) to review. By default a hand is dealt instead."""
    match: int = 1
    """Which match of the file to review, counted from 1."""
    decisions: tuple[int, ...] = ()
    """Which decisions of the match to review, as numbers of its actions, counted from 0."""
    review: bool = False
    """Review every decision between several actions in the match, or those of one player (--seat).
    They are ranked by what they cost."""
    seat: int | None = None
    """The player whose decisions --review looks at, counted from 0. By default those of all players."""
    variant: str | None = None
    """The variant to deal a hand of, where no recorded game is named."""
    knobs: tuple[str, ...] = ()
    """House rules of the hand that is dealt, as NAME=VALUE. By default the variant's own rules apply.
    `python -m mahjong_env rules --variant VARIANT` lists all house rules."""
    deal: Deal = DRAWN
    """How the hand begins. What is not named is shuffled from --seed.
    If anything is named, seat 0 is the dealer unless you name another."""
    actions: tuple[str, ...] = ()
    """The actions that lead from the deal to the position, such as "discard 5m" pass."""
    agents: tuple[str, ...] = ("greedy",)
    """Agents that play on after each action, one for all seats or one for each player."""
    worlds: int = 400
    """Number of hidden worlds for each decision. With --width or --milliseconds, the most that are played.
    More worlds give narrower intervals."""
    width: float | None = None
    """Stop once no interval against the action taken reaches further than this many points to either side."""
    milliseconds: float | None = None
    """Time for each decision, in milliseconds, after which no further worlds are begun.
    What is found then depends on the machine."""
    hindsight: bool = False
    """Keep the true hidden tiles instead of drawing them anew, to learn from hindsight.
    Only the agents' random choices then vary."""
    seed: int = 0
    """Seed of the deal, the worlds and the agents' random choices."""
    out: Path | None = None
    """Folder for review.json, .csv and .html. By default nothing is written.
    With a folder, the same command resumes an interrupted review."""
    notes: Path | None = None
    """File for a copy of the match that has these findings in its notes.
    `python -m mahjong_env show FILE --html PAGE` shows them."""


@dataclass(frozen=True, kw_only=True)
class RuleValuesConfig(WorkersConfig):
    """Measure what a knob, a scoring row or the dealer's seat is worth, by playing the same deals under other rules."""

    variant: str
    """The variant to play."""
    knobs: tuple[str, ...] = ()
    """Knobs to change, each by itself, as NAME=VALUE, such as cap=none. A knob may be named with several values."""
    rows: tuple[str, ...] = ()
    """Scoring rows to strike out, each by itself, such as "Closed Hand"."""
    all_knobs: bool = False
    """Change every knob, each by itself, to each of its other values (a number to its half and its double)."""
    all_rows: bool = False
    """Strike out every scoring row, each by itself."""
    together: bool = False
    """Make one change of all knobs and rows that are named, instead of one change of each."""
    house: tuple[str, ...] = ()
    """House rules, as NAME=VALUE, of the table that every change is compared with. By default there are none."""
    agents: tuple[str, ...] = ("greedy",)
    """Agents that play, one for all seats or one for each player."""
    deals: int = 4000
    """Number of deals, each played under each set of rules. More deals give narrower intervals."""
    hands: int = 1
    """Number of hands in each deal. Raise it for knobs about matches, such as who deals next.
    These make a difference over several hands only."""
    seed: int = 40_000
    """Seed of the deals and all random choices."""
    out: Path | None = None
    """Folder for rules.json and .csv. By default nothing is written.
    With a folder, the same command resumes an interrupted study."""


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """Export a policy of `train` as an ONNX model, for runtimes of any language; `onnx:FILE` plays it here."""

    policy: str
    """The policy, named by a variant (for the one that is shipped), a policy file or a run folder."""
    out: Path
    """The file of the model. An existing file is replaced."""


@dataclass(frozen=True, kw_only=True)
class LeaderboardConfig(WorkersConfig):
    """Make the leaderboard: every level, and agents of your own, alone against copies of every level.

    `leaderboard submit` plays a newcomer, `leaderboard check` checks an entry, and `leaderboard page` writes the tables
    of the page; each has a --help of its own.
    """

    variants: tuple[str, ...] = ()
    """The variants to play. By default all of them."""
    agents: tuple[str, ...] = ()
    """Agents of your own, which get rows beside the levels."""
    levels: tuple[int, ...] = ()
    """Numbers of the levels to play, which `agents/mahjong_agents/levels.py` lists. By default all of them.
    Levels that search take hours."""
    deals: int = 5000
    """Number of deals for each pair, played from every seat. With 0, pairs are left out."""
    mixed_deals: int = 1000
    """Number of deals at mixed tables, where the others are drawn from --pool, played from every seat.
    With 0, these are left out."""
    matches: int = 100
    """Number of deals from which whole matches are played at mixed tables, from every seat. What counts is the place.
    With 0, these are left out."""
    match_hands: int = 16
    """Number of hands in a match at mixed tables."""
    pool: tuple[str, ...] = ("reference", "folding?caution=2", "value", "policy")
    """Agents from which the others at mixed tables are drawn, no two of them the same."""
    seed: int = 50_000
    """Seed of the deals and all random choices. You can compare rows only if they have the same seed and deals."""
    out: Path = Path("runs/leaderboard")
    """Folder for leaderboard.json and .md, and for what has been played.
    The same command, or one with more agents, goes on from there."""
    kept: Path | None = None
    """File of standings to which the results are added. The table then shows all of it; see docs/leaderboard.md.
    By default the table shows this run alone."""
    readme: Path | None = None
    """File in which the table replaces the text between <!-- leaderboard --> and <!-- end of leaderboard -->."""


@dataclass(frozen=True, kw_only=True)
class SubmitConfig(WorkersConfig, VariantConfig):
    """Play a newcomer against the field on deals that it cannot know, and write an entry; see docs/leaderboard.md."""

    agent: str
    """The newcomer, which plays in a process of its own.
    Name it as file.py:Class, command:PROGRAM, policy:FILE, ..."""
    name: str
    """Name of the entry, of letters, digits and -_. only. Another version of an agent needs another name."""
    deals: int = 2000
    """Number of deals against copies of the reference agent, with as many others at mixed tables. Each is played once.
    The table of the leaderboard takes entries with 2000 or more."""
    beacon: str | None = None
    """A text of somebody else's that nobody could know when the agent was handed in.
    The keeper of the table draws it, or it is published at a time that was agreed.
    If omitted, one is drawn here, and the entry says so. The table of the leaderboard does not take it then."""
    commit: bool = False
    """Only print the commitment, which you hand in before the beacon is known.
    It is a digest of the agent, its files, the rules and the number of deals."""
    out: Path = Path("entries")
    """The folder of entries."""


@dataclass(frozen=True, kw_only=True)
class CheckEntryConfig(WorkersConfig):
    """Check that the seed and numbers of an entry follow from what it says, and that its deals come out the same."""

    entry: Path
    """The file of the entry."""
    agent: str | None = None
    """The agent, if it is not where the entry says. A program is run only if you name it here."""
    sample: int = 4
    """Number of blocks of 25 deals to play again, drawn anew every time. More of them make the check stricter."""


@dataclass(frozen=True, kw_only=True)
class PageConfig:
    """Write the tables of a page anew from kept standings and entries; nothing is played."""

    kept: Path = Path("docs/standings.json")
    """The file of standings, as `leaderboard --kept` writes it."""
    entries: Path = Path("docs/entries")
    """The folder of entries."""
    page: Path = Path("docs/leaderboard.md")
    """The page, in which the tables replace the text between its markers."""


@dataclass(frozen=True, kw_only=True)
class CeilingsConfig(WorkersConfig):
    """Measure what sight of all hands is worth: ceilings, of which the standings give each agent's share.

    An interrupted measurement resumes with the same command.
    """

    variants: tuple[str, ...] = ()
    """The variants to measure. By default all of them."""
    bases: tuple[str, ...] = ("reference", "policy")
    """Agents that are given sight of all hands."""
    deals: int = 4000
    """Number of deals for the agents that never deal in, played from every seat. With 0, these are left out."""
    search_deals: int = 0
    """Number of deals for a search over the agent that never deals in. With 0, there is no search.
    Each is played from a single seat, the seats in turn, and takes a second of processor time or more.
    Fewer than 1000 give an interval too wide to say much."""
    search_near: bool = False
    """Search instead over the agent that avoids dealing in only where that costs no distance."""
    rollouts: int = 24
    """Number of worlds for each decision of the search."""
    actions: int = 6
    """Most actions that the search tries at a decision, the agent's own included."""
    search_block: int = 40
    """Number of deals that the search plays at once."""
    seed: int = 60_000
    """Seed of the deals and all random choices."""
    out: Path = CEILINGS
    """File of ceilings to which the results are added. By default the one that is shipped."""


@dataclass(frozen=True, kw_only=True)
class ControlVariatesConfig:
    """Fit the weights of a variant's control variates on hands of greedy players, and write them to a file."""

    variant: str
    """The variant, which is played by its own rules, without knobs."""
    hands: int = 20_000
    """Number of hands to play for the fit, from a seed that nothing else uses."""
    out: Path | None = None
    """File of weights, in which those of other variants stay. By default the one that is shipped."""
