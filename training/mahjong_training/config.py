"""The settings of training and evaluation; the command line is made from these classes and their comments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from mahjong_env import Deal
from mahjong_training.evaluation.lineups import Kind, Seatings
from mahjong_training.evaluation.standing import CEILINGS

DRAWN: Final = Deal(dealer=None, dealer_streak=None)
"""A hand of which nothing is named."""
_HANDS: Final = 320_000
_STEPS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True)
class VariantConfig:
    """What is played."""

    variant: str
    """The variant."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE, such as players=4 cap=none; `python -m mahjong_env rules --variant VARIANT` lists
    them. --knob is the same, and either may be given several times."""


@dataclass(frozen=True, kw_only=True)
class WorkersConfig:
    """Where work is done: the result is the same everywhere."""

    processes: int = 1
    """Processes that play at the same time."""
    ray: str | None = None
    """Play on a Ray cluster: local (one on this machine, with --processes workers or one for each core), auto (the one
    that this node belongs to) or HOST:PORT. See docs/cluster.md."""
    threads: int = 1
    """Threads of torch in each process."""


@dataclass(frozen=True, kw_only=True)
class RunConfig(VariantConfig):
    """What all runs of learning have."""

    folder_suffix: ClassVar[str]
    """Behind the variant in the name of the run folder, so that each way to learn has its own."""

    out: Path | None = None
    """The run folder. If not given: runs/<variant> for train, runs/<variant>-sb3 for train-sb3."""
    resume: bool = False
    """Go on with the run in the folder, up to what is to be learned from in all."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    reward: str = "points"
    """Reward: points (in sigma), sigma, clipped?limit=2, ranked, distance?weight=0.1 (0.3 is good without a warm
    start), place (of matches, which `train --match-hands` plays), or FILE.py:NAME of your own; see
    docs/rewards_and_features.md."""
    device: str = "auto"
    """Where torch learns: auto (a GPU if there is one), cpu or cuda. On the CPU the same run again gives the same
    policy; a GPU adds in an order of its own."""
    evaluations: int
    """How often the learner is measured (and saved) on the way."""
    evaluation_deals: int
    """Deals of each of these measurements, played from every seat against each of --evaluation-agents."""
    evaluation_agents: tuple[str, ...]
    """Agents that it is measured against, one at a time, in all other seats."""


@dataclass(frozen=True, kw_only=True)
class PpoSettings:
    """What PPO is set by, whichever way it learns; the defaults differ."""

    learning_rate: float
    """At the beginning; it falls linearly to a tenth."""
    batch_size: int
    """Decisions in a minibatch."""
    n_epochs: int
    """Passes over the decisions of an update."""
    gamma: float = 1.0
    """Discount of a reward for each further decision of the same seat; also of potentials that shape rewards."""
    gae_lambda: float
    """Lambda of generalised advantage estimation: how far ahead advantages look."""
    clip_range: float = 0.2
    """How far an update may move the probability of an action."""
    ent_coef: float
    """Weight of the entropy bonus."""


@dataclass(frozen=True, kw_only=True)
class TrainSb3Config(PpoSettings, RunConfig):
    """Learn to play a variant: a warm start from a teacher, then PPO."""

    folder_suffix: ClassVar[str] = "-sb3"

    total_steps: int | None = None
    """Decisions that PPO learns from at most, in whole updates of --tables times --n-steps; those
    of the warm start are not counted. Not given: 1,000,000, or what a run that is resumed was to learn from."""
    tables: int = 512
    """Tables that are played at once."""
    opponents: tuple[str, ...] = ("greedy", "random")
    """Who sits at the other seats, drawn anew for every hand; "self" is the learner as it is at the time."""
    warm_start_steps: int = 100_000
    """Decisions of the teacher to imitate before PPO begins; 0: PPO from random weights."""
    dataset: tuple[str, ...] = ()
    """Folders of recorded games (`mahjong-env record`): the warm start imitates the decisions there instead of
    watching the teacher."""
    warm_start_epochs: int = 3
    """Passes over them."""
    warm_start_learning_rate: float = 1e-3
    """Learning rate of the imitation."""
    teacher: str | None = None
    """Who is imitated. Not given: the reference agent of the rules, greedy or closed-greedy; of a dataset, the first
    of the agents that were recorded."""
    width: int = 256
    """Units of each hidden layer."""
    layers: int = 2
    """Hidden layers."""
    evaluations: int = 10
    evaluation_deals: int = 300
    evaluation_agents: tuple[str, ...] = ("random", "greedy")
    """Agents that it is measured against, one at a time, in all other seats; best.zip has the highest mean over
    them."""
    record: str | None = None
    """A file to which the record of every game is appended (JSON lines; docs/records.md)."""
    threads: int = 1
    """Threads of torch."""
    learning_rate: float = 5e-4
    n_steps: int = 16
    """Decisions at each table between two updates."""
    batch_size: int = 2048
    n_epochs: int = 4
    gae_lambda: float = 0.95
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    """Weight of the value loss."""

    @property
    def goal(self) -> int:
        """Decisions that are to be learned from in all."""
        return _STEPS if self.total_steps is None else self.total_steps


@dataclass(frozen=True, kw_only=True)
class TrainConfig(PpoSettings, WorkersConfig, RunConfig):
    """Learn to play a variant by self-play: a small network over strong inputs, PPO in one file (learning/ppo.py)."""

    folder_suffix: ClassVar[str] = ""

    hands: int | None = None
    """Hands that are learned from in all, those of --critic-hands among them; a hand is 50 to 70 decisions. Not given:
    320,000, or what a run that is resumed was to learn from."""
    tables: int = 4096
    """Hands that are played between two updates at first, at most: --hands are shared out evenly. Later an update is up
    to an eighth of the hands that have been learned from, a thirty-second of --hands, and twice this number; those of
    the critic are up to twice this number."""
    parts: int | None = None
    """Parts that the hands of an update are played in, which processes share. Another number is another run. Not given:
    2, or the number of --processes (of the workers of --ray) when the run begins; half of that with --ahead, as two
    updates are played at the same time; 1 for a --network on a GPU, which this process asks for all tables at once."""
    match_hands: int = 1
    """Hands of a match: with more than one, whole matches are played instead of single hands, and gates are passed by
    the mean place, which the learning curve shows too. What the standing is reaches the small network by the inputs
    that --reward place adds, or --features of your own."""
    opponents: tuple[str, ...] = ("greedy", "closed-greedy")
    """Agents that play against the learner at a share of the tables; "snapshot" is the learner as it was at its last
    measurements."""
    opponent_odds: tuple[float, ...] = ()
    """For each of --opponents how likely it is drawn, and how much of the gates is played against it. Not given: all
    are equally likely, and the gates are played against --gate-against."""
    opponent_share: float = 0.6
    """Share of the tables, from 0 to 1, at which one of them has all seats but one, drawn anew for each of the --parts
    of an update; at the rest the learner has all. The greater, the less time a hand takes."""
    teacher: str | None = None
    """Agent that the learner plays like when it begins: greedy, closed-greedy, or a policy of this kind (policy:hebei,
    policy:FILE) of any variant. Not given: the one of the first two that wins from the other."""
    critic_hands: int | None = None
    """Hands at the beginning that only the critic learns from. Not given: 12288, but no more than a quarter of
    --hands."""
    width: int | None = None
    """Units of each layer of the small network that plays; of no other --network. Not given: as many as the policy
    has that --teacher names, 64 for others."""
    features: str | None = None
    """Inputs that are added to the small network's: FILE.py:CLASS of your own; see docs/rewards_and_features.md."""
    network: str | None = None
    """A network of your own that plays instead: FILE.py:CLASS?option=value, a torch module; see
    docs/rewards_and_features.md. It begins as its class leaves it, or as --teacher policy:FILE of the same class."""
    learning_rate: float = 2e-2
    batch_size: int = 32768
    n_epochs: int = 3
    gae_lambda: float = 0.8
    ent_coef: float = 0.0
    kl_coef: float = 0.0
    """Weight of the divergence (KL) from the learner as it began, or as it was when it last passed a gate."""
    reward_limit: float = 10.0
    """Limit of what a reward between two decisions counts: of points in sigma, of other rewards in their own unit."""
    control_variates: bool = True
    """Take the luck of the draws off points, if these are the reward: the same mean, and less noise to learn from. It
    is left out where luck explains less than a third of the spread of points (Wuhan)."""
    ema_decay: float = 0.5
    """Decay of the exponential moving average of the weights, which is what is measured and saved (a plain mean of the
    first updates); 0: the last weights alone."""
    evaluations: int = 5
    evaluation_deals: int = 500
    """Deals of each of these measurements, played from every seat against each of --evaluation-agents. Of matches as
    many as hold that number of hands, at least 30."""
    evaluation_agents: tuple[str, ...] = ("greedy", "closed-greedy")
    gate_deals: int = 4000
    """Deals of each gate at most: other deals every time, on which the learner must win more from --gate-against than
    what best.zip is; a quarter or a half of them decide if that is clear by then, or if it does not win more. Of
    matches as many as hold that number of hands, at least 30."""
    gate_against: str | None = None
    """Agent that has all other seats at the gates. Not given: the reference agent of the rules."""
    ahead: bool = False
    """Play the hands of two updates at the same time: the learner then learns from hands that were played with weights
    one update old, and nobody waits. A --network on a GPU plays by turns all the same."""
    threads: int = 1
    """Threads of torch, which learns while the processes wait: they share out what moves the policy and what fits the
    critic, and the result is that of 1. Of a --network of your own half of them do the one, half the other."""

    @property
    def goal(self) -> int:
        """Hands that are to be learned from in all."""
        return _HANDS if self.hands is None else self.hands


@dataclass(frozen=True, kw_only=True)
class BestResponseConfig(WorkersConfig, VariantConfig):
    """Learn to beat one agent and nothing else, and say what could be won from it: its exploitability."""

    agent: str
    """The agent that is to be beaten: greedy, value, policy:NAME_OR_PATH, ..."""
    hands: int | None = None
    """Hands to learn from, all of them against it: the budget that the result belongs to. Not given: 320,000, or what
    a run that is resumed was to learn from."""
    deals: int = 5000
    """Deals of the test, which nothing was learned from or selected on, played from every seat."""
    start: str | None = None
    """As whom the response begins: greedy, closed-greedy or a policy. Not given: the one of the agent itself, these two
    and the policy that is shipped for the variant that wins most from the agent."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    out: Path | None = None
    """The run folder, with best_response.json. If not given: runs/<variant>-best-response."""
    kept: Path | None = None
    """A file of standings to which the result is added; see docs/leaderboard.md."""
    resume: bool = False
    """Go on with the run in the folder, up to --hands in all, and test it anew."""


@dataclass(frozen=True, kw_only=True)
class PsroConfig(WorkersConfig, VariantConfig):
    """Learn against a pool of agents, drawn by the equilibrium of their pay-offs, and add what was learned (PSRO).

    The same command goes on with what was interrupted; with more --rounds it goes further.
    """

    pool: tuple[str, ...] = ("greedy", "closed-greedy", "value", "policy")
    """The agents that the pool begins with."""
    rounds: int = 3
    """Rounds: in each a policy learns against the mixture. They end before that if no gate is passed any more."""
    hands: int = 320_000
    """Hands that a round learns from."""
    deals: int = 1000
    """Deals of each pair of the matrix, played from every seat."""
    start: str = "greedy"
    """As whom the first round begins: greedy, closed-greedy or a policy of `train`; later ones begin as what the round
    before has added."""
    opponent_share: float = 0.5
    """Share of the tables at which an agent of the pool has all seats but one; at the rest the learner has all."""
    kl_coef: float = 0.05
    """Weight of the divergence (KL) from the learner as the round began, or as it was when it last passed a gate."""
    learning_rate: float = TrainConfig.learning_rate
    """At the beginning of a round; it falls linearly to a tenth."""
    evaluations: int = TrainConfig.evaluations
    """How often the learner is measured, and tries a gate, in a round."""
    evaluation_deals: int = TrainConfig.evaluation_deals
    """Deals of each of these measurements, played from every seat against the most likely opponent."""
    gate_deals: int = TrainConfig.gate_deals
    """Deals of each gate, shared out among the opponents by how likely they are drawn; at least 30 against each."""
    judge_hands: int = 0
    """Hands that a best response learns from in the end, one to --start and one to what was last added: has it become
    harder to exploit? 0: nobody judges."""
    seed: int = 0
    """Of the deals, the weights and all choices."""
    out: Path | None = None
    """The folder. If not given: runs/<variant>-psro."""


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig(WorkersConfig, VariantConfig):
    """Let agents play the same deals from every seat, and say how sure the result is."""

    agents: tuple[str, ...] = ("greedy", "random")
    """The agents: random, greedy, policy:FILE_OR_FOLDER, ..."""
    lineups: Kind = "duels"
    """Who sits together: "duels", every agent against copies of every other one (and all together if there are as
    many as persons); "pairs", two against two; "league", every agent with every other ones, however many there are."""
    seatings: Seatings = "all"
    """The orders of seats that every deal is played in: "all", or "balanced", a few in which every agent sits in every
    seat and behind every other agent equally often (with four different agents these are 24 and 4); or "turns", one of
    all orders, the next deal in the next one: for slow agents, whose hands are better spent on more deals."""
    control_variates: bool = False
    """Take the luck of the draws off the points: the same means in the long run, and narrower intervals; worth its time
    (greedy players take about three times as long) for every agent that is slower than greedy."""
    deals: int = 1000
    """Deals, each of them played in these orders; with --until and --until-clear the most that are played."""
    until: float | None = None
    """Stop once all points (of a league: of every agent over all tables) are known to this many sigma to either side.
    One looks at most nine times, and the intervals are so much wider that they hold wherever one stops."""
    until_clear: bool = False
    """Stop once all these intervals are clear of zero; with --until, once both is so."""
    seed: int = 20_000
    """Of the deals and all choices; the same seed gives the same result."""
    blind: int | None = None
    """Instead of --seed, the number of a blind test: deals that nothing else is played on. blind_tests.jsonl in the
    current folder records who has played which, and the same agents may play each of them once."""
    blind_again: bool = False
    """Play a blind test again that these agents have played; the record says so."""
    teachers: bool = True
    """Also play the teachers of trained policies, and what these were before they learned."""
    details: bool = False
    """Also print how the agents play: turns and worth of wins, costs of deal-ins, melds."""
    record: Path | None = None
    """A file to which the record of every game is appended (JSON lines; docs/records.md)."""
    thoughts: bool = False
    """Also record what agents thought of their choices: the probabilities of policies, what each action promises to
    value and search; the viewer shows it."""
    out: Path | None = None
    """Folder for evaluation.json, .csv and .html; nothing is written if not given."""


@dataclass(frozen=True, kw_only=True)
class RecordConfig(WorkersConfig, VariantConfig):
    """Let agents play, and keep every game as records and as arrays; see docs/datasets.md.

    The same command goes on with a dataset that was interrupted; more --hands make it longer.
    """

    out: Path
    """The folder of the dataset."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays. Of several agents one is drawn for each seat of each game, all equally likely."""
    hands: int = 100_000
    """Hands in all."""
    num_hands: int = 1
    """Hands of a game; --hands must be a multiple."""
    seed: int = 10_000
    """Of the deals and all choices: the same seed gives the same bytes."""
    shard_games: int | None = None
    """Games in a shard, which are played at once: 16384 if not given, 4096 with --observations or --parquet; fewer for
    slow ones."""
    observations: bool = False
    """Also keep what the seats saw (1.3 kB a decision); without it observations are rebuilt when they are read."""
    records: bool = True
    """Also write records (JSON lines), which the viewer shows."""
    parquet: tuple[str, ...] | None = None
    """Also write the decisions as Parquet, for Hugging Face's datasets, with any of these columns beside those of the
    tables: observation, events (the hand as a sequence), hidden (what the seat could not see)."""


@dataclass(frozen=True, kw_only=True)
class ReviewConfig(WorkersConfig):
    """Play every legal action of a position on the same hidden worlds, and say what each of them is worth and why."""

    record: Path | None = None
    """A file of recorded games (.jsonl); else a hand is dealt."""
    match: int = 1
    """Which match of the file, from 1."""
    decisions: tuple[int, ...] = ()
    """Which decisions of the match: numbers of actions, counted from 0."""
    review: bool = False
    """Look at all decisions of the match, or of one person (--seat), ranked by what they cost."""
    seat: int | None = None
    """The person whose decisions are reviewed, from 0."""
    variant: str | None = None
    """The variant, where a hand is dealt."""
    knobs: tuple[str, ...] = ()
    """House rules as NAME=VALUE; `python -m mahjong_env rules --variant VARIANT` lists them."""
    deal: Deal = DRAWN
    """How the hand begins; what is not named is shuffled from --seed, and of a hand of which something is named seat 0
    is the dealer."""
    actions: tuple[str, ...] = ()
    """The actions that lead from the deal to the position, such as "discard 5m" pass."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays on afterwards: one for all seats, or one for each person."""
    worlds: int = 400
    """Worlds for each decision; with --width or --milliseconds the most."""
    width: float | None = None
    """Stop once no interval against the action taken reaches further than this many points to either side."""
    milliseconds: float | None = None
    """Time for each decision; what is found then depends on the machine."""
    hindsight: bool = False
    """Keep the true hidden tiles, to learn from hindsight; what varies is then the agents' chance alone."""
    seed: int = 0
    """Of the deal, the worlds and the agents' chance."""
    out: Path | None = None
    """Folder for review.json, .csv and .html; an interrupted review goes on with the same command."""
    notes: Path | None = None
    """File for the match with all this in its notes: `python -m mahjong_env show FILE --html PAGE` shows them."""


@dataclass(frozen=True, kw_only=True)
class RuleValuesConfig(WorkersConfig):
    """Say what a knob, a row, the dealer's seat or a house rule is worth: the same deals by other rules."""

    variant: str
    """The variant to play."""
    knobs: tuple[str, ...] = ()
    """The knobs to be turned, each by itself: NAME=VALUE, such as cap=none; a knob may be named with several values."""
    rows: tuple[str, ...] = ()
    """The scoring rows to be struck out, each by itself, such as "Closed Hand"."""
    all_knobs: bool = False
    """Turn every knob to each of its other values, or to half and twice its number."""
    all_rows: bool = False
    """Strike out every row."""
    together: bool = False
    """Make one change of all that is named, instead of one of each."""
    house: tuple[str, ...] = ()
    """House rules of the table that all this is compared with, as NAME=VALUE."""
    agents: tuple[str, ...] = ("greedy",)
    """Who plays: one for all seats, or one for each person."""
    deals: int = 4000
    """Deals, each of them played by each set of rules."""
    hands: int = 1
    """Hands of each deal. Knobs about matches, such as who deals next, make a difference over several hands only."""
    seed: int = 40_000
    """Of the deals and all choices."""
    out: Path | None = None
    """Folder for rules.json and .csv; an interrupted study goes on with the same command."""


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """Write a policy as an ONNX model, for runtimes of every language; `onnx:FILE` plays it here."""

    policy: str
    """A shipped policy by its variant, a policy file, or a run folder."""
    out: Path
    """The model; whatever stood there is replaced."""


@dataclass(frozen=True, kw_only=True)
class LeaderboardConfig(WorkersConfig):
    """Write the leaderboard: every level, and agents of your own, alone against copies of every level.

    `leaderboard submit` plays a newcomer, `leaderboard check` checks an entry, and `leaderboard page` writes the tables
    of the page; each has a --help of its own.
    """

    variants: tuple[str, ...] = ()
    """The variants; all that are shipped if not given."""
    agents: tuple[str, ...] = ()
    """Agents of your own, which get a row beside the levels."""
    levels: tuple[int, ...] = ()
    """The levels, by number; all if not given. `agents/mahjong_agents/levels.py` lists them; those that search take
    hours."""
    deals: int = 5000
    """Deals of each pair, played from every seat; 0: none."""
    mixed_deals: int = 1000
    """Deals at mixed tables, where the others are drawn from --pool, played from every seat; 0: none."""
    matches: int = 100
    """Deals from which whole matches are played at such tables, from every seat; what counts there is the place."""
    match_hands: int = 16
    """Hands of such a match."""
    pool: tuple[str, ...] = ("reference", "folding?caution=2", "value", "policy")
    """Who sits at mixed tables, no two of them the same."""
    seed: int = 50_000
    """Of the deals and all choices. Rows can be compared if seed and number of deals are the same."""
    out: Path = Path("runs/leaderboard")
    """Folder for leaderboard.json and .md, and for what has been played: the same command, or one with more agents,
    goes on with it."""
    kept: Path | None = None
    """A file of standings to which what was found is added, and all of which the table then shows; see
    docs/leaderboard.md. If not given, the table shows this run alone."""
    readme: Path | None = None
    """A file in which the table takes the place of what stands between <!-- leaderboard --> and
    <!-- end of leaderboard -->."""


@dataclass(frozen=True, kw_only=True)
class SubmitConfig(WorkersConfig, VariantConfig):
    """Play a newcomer against the field on deals that it cannot know, and write an entry; see docs/leaderboard.md."""

    agent: str
    """The newcomer: file.py:Class, command:PROGRAM, policy:FILE, ... It plays in a process of its own."""
    name: str
    """What the entry is called."""
    deals: int = 2000
    """Deals against copies of the reference agent, and as many others at mixed tables; each is played once."""
    beacon: str | None = None
    """A text that nobody could know when the agent was handed in, from somebody else: drawn by the keeper of the
    table, or published at a time that was agreed. If not given, one is drawn here, and the entry says so."""
    commit: bool = False
    """Only print the commitment, a digest of the agent, its files, the rules and the number of deals: it is handed in
    before the beacon is known."""
    out: Path = Path("entries")
    """The folder of entries."""


@dataclass(frozen=True, kw_only=True)
class CheckEntryConfig(WorkersConfig):
    """Check an entry: that its seed and its numbers follow from what it says, and that its deals come out the same."""

    entry: Path
    """The file."""
    agent: str | None = None
    """The agent, if it is not where the entry says."""
    sample: int = 4
    """Blocks of 25 deals that are played again, drawn anew every time."""


@dataclass(frozen=True, kw_only=True)
class PageConfig:
    """Write the tables of a page anew from kept standings and entries; nothing is played."""

    kept: Path = Path("docs/standings.json")
    """The file of standings, as --kept of `leaderboard` writes it."""
    entries: Path = Path("docs/entries")
    """The folder of entries."""
    page: Path = Path("docs/leaderboard.md")
    """The page, in which the tables take the place of what stands between its marks."""


@dataclass(frozen=True, kw_only=True)
class CeilingsConfig(WorkersConfig):
    """Measure what sight of all hands is worth: ceilings of which the standings give shares."""

    variants: tuple[str, ...] = ()
    """The variants; all that are shipped if not given."""
    bases: tuple[str, ...] = ("reference", "policy")
    """Agents that are given sight."""
    deals: int = 4000
    """Deals of those that never deal in, from every seat; 0: none."""
    search_deals: int = 0
    """Deals of a search over the one that never deals in, from one seat each, in turns: a second of processor and more
    each; an interval that says something takes 1000. 0: no search."""
    search_near: bool = False
    """Search over the one that never deals in where that costs no distance instead."""
    rollouts: int = 24
    """Worlds of each of its decisions."""
    actions: int = 6
    """Actions that it tries."""
    search_block: int = 40
    """Deals that it plays at once."""
    seed: int = 60_000
    """Of the deals and all choices."""
    out: Path = CEILINGS
    """The file of ceilings, to which what is found is added; the one that is shipped if not given."""


@dataclass(frozen=True, kw_only=True)
class ControlVariatesConfig:
    """Fit the weights of the control variates of a variant on greedy hands, and write them down."""

    variant: str
    """The variant; its own rules, without knobs."""
    hands: int = 20_000
    """Hands that are played for it, from a seed that nothing else uses."""
    out: Path | None = None
    """The file of weights, which keeps those of the other variants; the one that is shipped if not given."""
