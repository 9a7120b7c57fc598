"""Faults planted on purpose: does an everyday test find each of them?

    make mutants                      every fault, against the tests that should find it
    make mutants FAULTS=gate-sign     one of them; several with spaces between
    make mutants FLAGS=--all          against all everyday tests, which takes hours

A fault replaces one short piece of text in one file, in a copy of the tree: the checkout is never touched. A fault
that no test finds is printed as SURVIVED, and the exit status is 1: write the test that finds it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTEST = ("-x", "-v", "--no-summary", "-p", "no:cacheprovider", "-m", "not slow and not thorough")
LONGEST_S = 1200  # a fault may make a loop endless: that is found, too
LEFT_BEHIND = shutil.ignore_patterns(".git", ".*_cache", ".hypothesis", ".venv*", "__pycache__", "build", "runs")


@dataclass(frozen=True)
class Fault:
    """One planted fault.

    Attributes:
        file: the file that it is in, from the root of the repository.
        tests: the file of tests of which one should find it.
        name: what the table calls it.
        old: a piece of the file's text that occurs exactly once.
        new: what takes its place.
        which: words in the names of the tests that should find it.
    """

    file: str
    tests: str
    name: str
    old: str
    new: str
    which: str


def faults(file: str, tests: str, *rows: tuple[str, str, str, str]) -> list[Fault]:
    """Return faults in one file; rows are name, old text, new text, and which tests of tests/``tests`` find it."""
    return [Fault(file, f"tests/{tests}", *row) for row in rows]


# The pieces are short, so that the code around them may change.
FAULTS = (
    # PPO: its loss, what is better than expected, what is kept of the weights.
    *faults(
        "training/mahjong_training/analysis/action_values.py",
        "training/analysis/test_action_values.py",
        ("gain-same-worlds", "in (halves, halves[::-1])", "in ((half, half) for half in halves)", "better_choices"),
    ),
    *faults(
        "training/mahjong_training/learning/ppo.py",
        "training/learning/test_ppo.py",
        ("ppo-loss-sign", "loss = -torch.min(", "loss = torch.min(", "the_loss_is"),
        ("ppo-clip-ignored", "ratio.clamp(1 - config.clip_range, 1 + config.clip_range)", "ratio", "the_loss_is"),
        ("ppo-entropy-sign", "loss - config.ent_coef *", "loss + config.ent_coef *", "the_loss_is"),
        ("ppo-reference-sign", "loss + config.kl_coef *", "loss - config.kl_coef *", "the_loss_is"),
        ("advantage-without-value", "+ gamma * next_values - ordered_values", "", "TestAdvantages"),
        ("advantage-undiscounted", "+ gamma * next_values", "+ next_values", "TestAdvantages"),
        ("advantage-without-lambda", "gamma * gae_lambda * advantage", "gamma * advantage", "TestAdvantages"),
        ("return-undiscounted", "+ gamma * rest[", "+ rest[", "TestAdvantages"),
        ("advantage-over-the-end", "next_values[last] = 0", "pass", "TestAdvantages"),
        ("critic-target-without-value", "advantages + values", "advantages", "the_critic_learns"),
        ("microbatches-forgotten", "parameter.grad.add_(gradient)", "gradient.clone()", "gradients_of_microbatches"),
        ("critic-never-fitted", "self.critic_optimiser.step()", "pass", "the_critic_learns"),
        ("average-turned-round", "mean.lerp_(now, 1 - decay)", "mean.lerp_(now, decay)", "the_average_follows"),
        (
            "reference-never-moved",
            "self.reference.load_state_dict(self.average.state_dict())",
            "self.reference.load_state_dict(self.reference.state_dict())",
            "the_reference_is",
        ),
    ),
    # What PPO learns from.
    *faults(
        "training/mahjong_training/learning/self_play.py",
        "training/learning/test_ppo.py",
        ("luck-added-in-learning", "paid -= luck.by_person()", "paid += luck.by_person()", "luck_is_taken_off"),
        ("luck-of-another-part", "luck.noted()[numbers]", "luck.noted()", "parts_beside"),
        (
            "reward-of-another-seat",
            "here * rules.people + person, points",
            "here * rules.people + (person + 1) % rules.people, points",
            "trajectories_are",
        ),
        (
            "reward-of-the-decision-before",
            "before[order], -1, axis=0)",
            "before[order], 1, axis=0)",
            "rewards_of_a_trajectory",
        ),
        (
            "opponents-count-as-the-learner",
            "np.repeat(who == LEARNER",
            "np.repeat(who >= LEARNER",
            "others_have_all_seats",
        ),
        (
            "potential-sign",
            "potential_after - potential_before",
            "potential_after + potential_before",
            "potentials_are",
        ),
        ("potential-undiscounted", "+= gamma * potential_after", "+= potential_after", "potentials_are"),
    ),
    # Critics, and search that asks them.
    *faults(
        "agents/mahjong_agents/policy/critic.py",
        "agents/test_critic.py",
        ("critic-told-of-other-seats", "seats[:, None] + self", "seats[:, None] - self", "what_others_knew"),
        ("critic-remembers-the-last-hand", "self._of_seat[games] = 0", "pass", "what_others_knew"),
    ),
    *faults(
        "agents/mahjong_agents/search/agent.py",
        "agents/test_search.py",
        ("horizon-of-all-seats", "decisions[live] += own", "decisions[live] += 1", "as_many_decisions"),
        ("horizon-too-far", "decisions[live] > horizon", "decisions[live] > horizon + 1", "as_many_decisions"),
    ),
    # A run of PPO.
    *faults(
        "training/mahjong_training/learning/run.py",
        "training/learning/test_run.py",
        (
            "gate-turned-round",
            "one.points_per_hand(0) - other.points_per_hand(0)",
            "other.points_per_hand(0) - one.points_per_hand(0)",
            "wins_more",
        ),
        ("gate-on-the-deals-of-the-run", "seed=gate_seed(seed, number + _MOST_GATES * place)", "seed=seed", "own_gate"),
        ("gate-that-never-stops", "if found.mean <= 0 or found.low > 0:", "if False:", "ends_once"),
        ("gate-passed-by-the-worse", "is_best = gain.low > 0", "is_best = gain.high < 0", "clear_of_zero"),
        ("resume-skips-an-update", 'int(state["updates"])', 'int(state["updates"]) + 1', "what_is_saved"),
    ),
    *faults(
        "training/mahjong_training/learning/run.py",
        "training/learning/test_places.py",
        (
            "gate-of-places-turned-round",
            "other.places_by_deal(0) - one.places_by_deal(0)",
            "one.places_by_deal(0) - other.places_by_deal(0)",
            "lets_the_better_pass",
        ),
    ),
    # MaskablePPO, its tables and its warm start.
    *faults(
        "training/mahjong_training/sb3/networks.py",
        "training/sb3/test_learning.py",
        ("gamma-is-lambda", "gamma=config.gamma", "gamma=config.gae_lambda", "settings_reach"),
    ),
    *faults(
        "training/mahjong_training/sb3/warm_start.py",
        "training/sb3/test_learning.py",
        ("imitation-without-masks", 'logits.masked_fill(~batch["mask"], _MASKED)', "logits", "illegal"),
        ("returns-over-the-end", "np.where(dones[step], np.float32(0), later)", "later", "returns_run"),
    ),
    *faults(
        "training/mahjong_training/sb3/vec_env.py",
        "training/sb3/test_vec_env.py",
        ("mask-ignored-by-tables", "return self._mask", "return np.ones_like(self._mask)", "masks_are_offered"),
    ),
    *faults(
        "training/mahjong_training/sb3/vec_env.py",
        "training/learning/test_rewards.py",
        ("potential-over-the-end", "np.where(dones, np.float32(0), self._potential)", "self._potential", "potential"),
    ),
    *faults(
        "training/mahjong_training/learning/rewards.py",
        "training/learning/test_rewards.py",
        ("last-place-is-first", "self.totals > own", "self.totals < own", "what_was_paid"),
    ),
    # Evaluation.
    *faults(
        "training/mahjong_training/evaluation/lineups.py",
        "training/evaluation/test_matches.py",
        ("seats-not-rotated", "sorted(set(permutations(lineup)))", "[tuple(lineup)]", "TestOrders"),
    ),
    *faults(
        "training/mahjong_training/evaluation/estimates.py",
        "training/evaluation/test_estimates.py",
        ("intervals-not-clustered", "counts.mean()", "counts.mean() ** 1.5", "not_taken_for_independent"),
    ),
    *faults(
        "training/mahjong_training/evaluation/results.py",
        "training/evaluation/test_control_variates.py",
        ("luck-added-in-evaluation", 'points - of_agent.pop("luck")', 'points + of_agent.pop("luck")', "narrows"),
    ),
    *faults(
        "agents/mahjong_agents/control_variates.py",
        "training/evaluation/test_control_variates.py",
        ("luck-of-another-person", "luck, self._person_at, ", "luck, self._person_at[:, ::-1], ", "narrows"),
    ),
    *faults(
        "training/mahjong_training/evaluation/matches.py",
        "training/evaluation/test_matches.py",
        ("deals-not-paired", "select(places)", "select(np.arange(len(places)) % len(numbers))", "all_orders_play"),
    ),
    *faults(
        "training/mahjong_training/evaluation/matches.py",
        "agents/test_shared_chance.py",
        ("lots-not-paired", "deal_keys(seed, of_game)", "deal_keys(seed, np.arange(len(of_game)))", "two_names"),
    ),
    *faults(
        "training/mahjong_training/evaluation/results.py",
        "training/evaluation/test_results.py",
        (
            "difference-turned-round",
            "more = one.points_by_deal(agent) - ",
            "more = -one.points_by_deal(agent) + ",
            "TestDifference",
        ),
    ),
    *faults(
        "training/mahjong_training/evaluation/estimates.py",
        "training/evaluation/test_estimates.py",
        ("looks-cost-nothing", "_inside(planned, bound)", "_inside(planned[-1:], bound)", "TestLooks"),
    ),
    *faults(
        "training/mahjong_training/evaluation/hand_statistics.py",
        "training/evaluation/test_matches.py",
        ("winners-deal-in", 'counts["deal_ins"][at, giver]', 'counts["deal_ins"][game, winner]', "what_is_counted"),
    ),
    *faults(
        "training/mahjong_training/evaluation/holdout.py",
        "training/evaluation/test_holdout.py",
        ("blind-test-not-recorded", "self._write(self._line(FINISHED))", "pass", "once"),
    ),
    # What is recorded.
    *faults(
        "training/mahjong_training/datasets/recording.py",
        "training/datasets/test_datasets.py",
        ("return-of-another-seat", '= final[hand, rows["seat"]]', '= final[hand, rows["seat"] - 1]', "rows_are"),
        ("reward-until-the-end", '"reward"] = rows["return"] - ', '"reward"] = rows["return"] - 0 * ', "sum_to"),
    ),
    # Agents.
    *faults(
        "agents/mahjong_agents/policy/torch_network.py",
        "agents/test_policy.py",
        ("mask-ignored-by-networks", "nonzero(view.action_mask)", "nonzero(view.action_mask | True)", "most_probable"),
    ),
    *faults(
        "agents/mahjong_agents/policy/agent.py",
        "agents/test_policy.py",
        (
            "the-least-likely-is-played",
            "else greatest_of_rows(scores, ",
            "else greatest_of_rows(-scores, ",
            "likes_best",
        ),
    ),
    *faults(
        "agents/mahjong_agents/bot_messages.py",
        "agents/test_bots.py",
        ("bots-lose-tables", "held[drew, view.drawn[drew]] -= 1", "held[drew, view.drawn[drew]] -= 0", "seat_sees"),
        (
            "bots-hear-the-giver",
            "event, seat, kind, detail, giver = np",
            "event, giver, kind, detail, seat = np",
            "seat_sees",
        ),
    ),
    *faults(
        "agents/mahjong_agents/botzone.py",
        "agents/test_botzone.py",
        (
            "botzone-mixes-up-seats",
            "players = view.house_wind[row].tolist()",
            "players = list(range(4))",
            "behind_the_protocol",
        ),
    ),
    *faults(
        "mahjong_env/records/botzone.py",
        "records/test_botzone.py",
        ("botzone-takes-white-for-red", '"F4", "J3", "J2", "J1"', '"F4", "J1", "J2", "J3"', "tiles_and_answers"),
    ),
    *faults(
        "agents/mahjong_agents/search/agent.py",
        "agents/test_search.py",
        (
            "search-takes-the-worst",
            "np.where(is_better, tries.mean(), 0.0)",
            "np.where(is_better, -tries.mean(), 0.0)",
            "clearly_better",
        ),
    ),
    *faults(
        "mahjong_env/engine/worlds.py",
        "agents/test_search.py",
        ("search-sees-hidden-tiles", "hidden.resample(", "(lambda *_: None)(", "hidden_tiles"),
    ),
    # Few games, in plain Python.
    *faults(
        "mahjong_env/engine/one_game.py",
        "engine/test_one_game.py",
        ("few-chow-at-the-wrong-place", "(0, 1, MAY_CHOW_HIGH)", "(0, 1, MAY_CHOW_LOW)", "both_ways"),
        ("few-passes-forgotten", "lines.options[base + seat] = 0\n", "pass\n", "both_ways"),
        ("few-claims-by-the-wrong-slot", "slots[(claimer - giver)", "slots[(giver - claimer)", "both_ways"),
        ("few-flowers-not-replaced", "if self._is_flower[drawn]:", "if False:", "both_ways"),
        ("few-codes-not-kept", "lines.code[code + _SUIT[part]] -= _POWER[part]", "pass", "both_ways"),
        ("few-kongs-of-two-tiles", "if held[kind]:", "if held[kind] > 1:", "both_ways"),
        (
            "few-claims-of-wild-tiles",
            "if kind != wild and not self._dead[kind]:",
            "if not self._dead[kind]:",
            "both_ways",
        ),
        ("few-marks-forgotten", "lines.marks[place] = after(lines.marks[place], kind, wild)", "pass", "both_ways"),
        (
            "few-replacements-without-end",
            "if left <= 0:\n                    return -1",
            "if False:\n                    return -1",
            "both_ways",
        ),
    ),
    *faults(
        "mahjong_env/observation/one_seat.py",
        "observation/test_one_seat.py",
        ("few-see-another-hand", 'places("hand")[g, me]', 'places("hand")[g, 0]', "numpy_writes"),
        ("few-see-what-others-drew", "if drawn >= 0 and is_asked:", "if drawn >= 0:", "numpy_writes"),
        ("few-see-flowers-too-early", "(me != actor and lines.flower_draw[g])", "False", "numpy_writes"),
        ("few-see-the-wall-too-early", "if phase == _TURN and not is_asked:", "if False:", "numpy_writes"),
        ("few-see-points-of-before", ', ("points", "points"))', ")", "numpy_writes"),
        (
            "few-see-the-turn-of-another",
            "slots[(giver + 1 - me) % seats] + 1",
            "slots[(giver - me) % seats] + 1",
            "numpy_writes",
        ),
    ),
    # Environments.
    *faults(
        "mahjong_env/environments/learning_seats.py",
        "environments/test_shells.py",
        (
            "another-seat-is-paid",
            "len(games)), self.learner[games]]",
            "len(games)), self.learner[games] - 1]",
            "returns_are",
        ),
        (
            "another-seat-is-seen",
            "observe(seats=self.learner.item(), privileged",
            "observe(seats=0, privileged",
            "returns_are",
        ),
    ),
    *faults(
        "mahjong_env/environments/learning_seats.py",
        "environments/test_learning_seats.py",
        (
            "another-seat-is-seen-in-a-batch",
            "observe(games, self.learner[games], privileged",
            "observe(games, self.learner[games] * 0, privileged",
            "each_learner_sees",
        ),
    ),
    *faults(
        "mahjong_env/environments/aec.py",
        "environments/test_shells.py",
        (
            "the-next-person-is-paid",
            "dict(zip(self.possible_agents, rewards",
            "dict(zip(self.possible_agents, rewards[::-1]",
            "engine_s_game",
        ),
    ),
    *faults(
        "mahjong_env/environments/open_spiel.py",
        "environments/test_open_spiel.py",
        ("open-spiel-players", "return won", "return won[::-1]", "same_deal"),
    ),
)


# --- Trying them --------------------------------------------------------------------------------------------------
def planted(fault: Fault, root: Path = ROOT) -> str:
    """Return the text of the file with the fault in it.

    Raises:
        ValueError: the text that it replaces is not there exactly once.
    """
    text = (root / fault.file).read_text(encoding="utf-8")
    if (times := text.count(fault.old)) != 1:
        raise ValueError(f"{fault.name}: {fault.old!r} occurs {times} times in {fault.file}, not once")
    return text.replace(fault.old, fault.new)


def found_by(fault: Fault | None, words: Sequence[str], root: Path = ROOT) -> str | None:
    """Run everyday tests in a copy of the tree with a fault in it, until one fails.

    Args:
        fault: what is planted; None: nothing.
        words: which tests pytest is told to run.
        root: the tree that is copied.

    Returns:
        The test that failed; None: all of them passed.

    Raises:
        ValueError: no test was run.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(root, tree, ignore=LEFT_BEHIND)
        if fault is not None:
            (tree / fault.file).write_text(planted(fault, root), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", *PYTEST, *words]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tree), str(tree / "tests")])}
        try:
            done = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return f"no end within {LONGEST_S} s"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(tests/.+?) (?:FAILED|ERROR)\b", done.stdout, re.MULTILINE)
    if done.returncode != 1 or failed is None:
        raise ValueError(f"no test was run by {' '.join(command)}:\n{done.stdout}{done.stderr}")
    return failed[1]


def main(words: Sequence[str] | None = None, faults: Iterable[Fault] = FAULTS, root: Path = ROOT) -> int:
    """Print which test finds each fault; return 1 if one survives."""
    parser = argparse.ArgumentParser(prog="mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="faults to try; all of them if none is named")
    parser.add_argument("--all", action="store_true", help="run all everyday tests, not only those that are named")
    parser.add_argument("--jobs", type=int, default=2, help="faults that are tried at once (default: 2)")
    chosen = parser.parse_args(words)
    known = {fault.name: fault for fault in faults}
    if unknown := set(chosen.names) - set(known):
        parser.error(f"no fault is called {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    asked = [known[name] for name in chosen.names] or list(known.values())
    survived = 0
    try:
        for fault in asked:
            planted(fault, root)
        files, which = ({getattr(fault, name) for fault in asked} for name in ("tests", "which"))
        if failed := found_by(None, [*sorted(files), "-k", " or ".join(sorted(which))], root):
            raise ValueError(f"without a fault {failed} fails already")
        with ThreadPoolExecutor(chosen.jobs) as pool:
            tests = [() if chosen.all else (fault.tests, "-k", fault.which) for fault in asked]
            tries = pool.map(found_by, asked, tests, [root] * len(asked))
            for fault, test in zip(asked, tries, strict=True):
                survived += test is None
                print(f"{fault.name:34} {fault.file:46} {test or 'SURVIVED'}", flush=True)
    except ValueError as error:
        print(f"error: {error}")
        return 1
    print(f"{len(asked) - survived} of {len(asked)} planted faults were found")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
