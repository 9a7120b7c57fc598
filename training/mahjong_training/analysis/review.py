"""``mahjong-env review``: estimate what each action is worth, in one position or in all decisions of a player."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mahjong_env import Deal, Engine, Rules, action, make_engine
from mahjong_env.basics.errors import MahjongError
from mahjong_env.cli.arguments import check_distinct
from mahjong_env.play.match import play_on_command
from mahjong_env.records import GameRecord, Recorder, Replay, nth_record
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.analysis import review_report as report
from mahjong_training.analysis.action_values import ActionValues, evaluate_actions, join
from mahjong_training.analysis.review_report import html_text
from mahjong_training.analysis.study import Arrays, Study, csv_text
from mahjong_training.config import DRAWN, ReviewConfig
from mahjong_training.errors import TrainingError
from mahjong_training.runtime.limits import check_settings

_AT_ONCE: Final = 4
"""The number of decisions that are played and kept together. Results depend on it, so it must not change."""


def run(config: ReviewConfig) -> None:
    """Run the review; see `Study.run`."""
    Review(config).run()


class Review(Study):
    """A review of decisions of one match, in parts of four decisions."""

    kind = "review"

    def __init__(self, config: ReviewConfig, record: GameRecord | None = None) -> None:
        """Find the decisions to review.

        Args:
            config: the settings.
            record: the match; None for what the settings name.

        Raises:
            MahjongError: settings, records, deals or agents cannot be used.
        """
        check_settings(config, zero=("seat",))
        self.positions = find_positions(config) if record is None else _recorded(record, config)
        super().__init__(config, self.positions.record.rules)
        self.tasks = range(-(-len(self.positions.decision) // _AT_ONCE))
        self.about = self.positions.record.to_json()
        self.files = self.in_folder("review.json", "review.csv", "review.html")
        written = {f"{file.name} of --out": file for file in self.files}
        check_distinct({"--record": config.record, **written, "--notes": config.notes})
        self.files += [] if config.notes is None else [config.notes]

    def play(self, task: int) -> Arrays:
        """Evaluate the decisions of one part."""
        config, taken = self.config, self.positions.taken
        some = np.arange(len(self.positions.decision))[task * _AT_ONCE : (task + 1) * _AT_ONCE]
        return evaluate_actions(
            self.positions.engine,
            some,
            worlds=config.worlds,
            agents=self.agents,
            taken=None if taken is None else taken[some],
            hindsight=config.hindsight,
            width=config.width,
            milliseconds=config.milliseconds,
            seed=int(np.random.SeedSequence([config.seed, task]).generate_state(1)[0]),
        ).arrays()

    def findings(self, played: list[Arrays]) -> report.Findings:
        """Combine the results of all parts."""
        config = self.config
        values = join([ActionValues(self.rules, **arrays) for arrays in played])
        settings = {
            "agents": [agent.name for agent in self.agents],
            "seed": config.seed,
            "hindsight": config.hindsight,
            "most_worlds": config.worlds,
            "width": config.width,
            "milliseconds": config.milliseconds,
        }
        return report.findings(self.positions, values, settings)

    def report(self, played: list[Arrays]) -> list[str]:
        """Print the findings; return JSON, CSV, the page and the annotated record, as far as they are asked for."""
        found, contents, config = self.findings(played), [], self.config
        report.print_findings(found)
        if config.out is not None:
            command = "" if config.record is None else play_on_command(str(config.record), config.match)
            contents += [self.json_text(report.as_json(found)), csv_text(report.as_lines(found))]
            contents += [html_text(found, command=command)]
        return contents if config.notes is None else [*contents, report.annotated(found).to_json() + "\n"]


def review_match(record: GameRecord, person: int, tell: Callable[[int, int], object], play_on: str = "") -> str:
    """Review all choices of one person with the default settings; this is the entry point of `mahjong_env.play.games`.

    Args:
        record: the match.
        person: the person whose choices are reviewed.
        tell: called with the number of choices done and the number in all; an exception from it ends the review.
        play_on: see `html_text`.

    Returns:
        The page, as HTML.

    Raises:
        MahjongError: the person had nothing to decide, or a package that the review needs is not installed.
    """
    study, played = Review(ReviewConfig(review=True, seat=person), record), list[Arrays]()
    choices = len(study.positions.decision)
    for task in study.tasks:
        tell(task * _AT_ONCE, choices)
        played.append(study.play(task))
    return html_text(study.findings(played), play_on=play_on)


# --- Positions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Positions:
    """Decisions of one match.

    Attributes:
        record: the match, as far as it is known.
        decision: [n] the numbers of the decisions, counted from 0 over all actions of the match, as in its notes.
        engine: n games, each at its decision.
        taken: [n] the actions that were played there; None if nothing was played.
    """

    record: GameRecord
    decision: NDArray[np.int64]
    engine: Engine
    taken: NDArray[np.int64] | None


def find_positions(config: ReviewConfig) -> Positions:
    """Return the decisions that the settings name; a `MahjongError` if there are none or they do not exist."""
    if config.record is not None:
        if config.variant is not None or config.knobs or config.actions or config.deal != DRAWN:
            raise TrainingError(
                "a recorded game has its own rules and cards: leave out --variant, --knobs, --deal and --actions"
            )
        return _recorded(nth_record(config.record, config.match), config)
    if config.variant is None:
        raise TrainingError("name a recorded game (--record FILE), or a variant to deal (--variant)")
    if config.decisions or config.review or config.seat is not None or config.match != 1:
        raise TrainingError("--decisions, --review, --seat and --match are about a recorded game (--record)")
    deal, named = None, config.deal
    if named != DRAWN:
        deal = replace(named, dealer=named.dealer or 0, dealer_streak=named.dealer_streak or 0)
    return _dealt(read_rules(config.variant, config.knobs), deal, config.actions, config.seed)


def _recorded(record: GameRecord, config: ReviewConfig) -> Positions:
    """Return decisions of a recorded match: those named, or all choices (more than one legal action) of a person."""
    seat, chosen = config.seat, set(config.decisions)
    last, people = len(record.actions) - 1, record.rules.people
    if last < 0:
        raise record.refused("nothing was decided in this match: it has no actions")
    if config.review and chosen:
        raise TrainingError("--review looks at all decisions: leave out --decisions")
    if not config.review and seat is not None:
        raise TrainingError("--seat says whose decisions --review looks at; --decisions names them by number")
    if not config.review and not chosen:
        raise TrainingError(f"name decisions of the match (--decisions, 0 to {last}), or look at all (--review)")
    if seat is not None and not 0 <= seat < people:
        raise TrainingError(f"--seat is a person from 0 to {people - 1}, not {seat}")
    for number in chosen:
        if not 0 <= number <= last:
            raise TrainingError(f"the match has the decisions 0 to {last}, not {number}")
    replay, found = Replay(record), []
    engine = replay.engine.select(np.zeros(last + 1, np.intp))
    for number in range(max(chosen, default=last) + 1):
        is_choice = replay.engine.action_mask[0].sum() > 1 and seat in (None, int(replay.engine.seat_to_act[0]))
        if number in chosen or (config.review and is_choice):
            engine.put([number], replay.engine)
            found.append(number)
        replay.step()
    for _ in replay:  # a record that does not end as it says is refused before anything is played
        pass
    if not found:
        who = "nobody had anything" if seat is None else f"person {seat} had nothing"
        raise TrainingError(f"{who} to decide in this match")
    numbers = np.array(found)
    return Positions(record, numbers, engine.select(numbers), np.array(record.actions, np.int64)[numbers])


def _dealt(rules: Rules, deal: Deal | None, actions: Sequence[str], seed: int) -> Positions:
    """Return the position reached by named actions from a deal, or from the seed's own deal if there is none."""
    engine = make_engine(rules, 1, seed=seed)
    recorder = Recorder(engine, lambda *records: None)
    if deal is not None:
        recorder.reset(deals=deal)
    for number, name in enumerate(actions):
        try:
            recorder.step([action(name)])
        except MahjongError as error:
            raise TrainingError(f"action {number + 1} of --actions, {name!r}: {error}") from None
    if engine.seat_to_act[0] < 0:
        raise TrainingError("--actions lead to the end of the hand: there is nothing left to decide")
    return Positions(recorder.so_far()[0], np.array([len(actions)]), engine, None)
