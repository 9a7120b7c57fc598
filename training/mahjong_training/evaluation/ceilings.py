"""``mahjong-env ceilings``: how much an agent gains from seeing all hands.

What the best player with that sight would win is a ceiling for every honest agent, whose strength is given as a share
of what is measured of it here.

Agents that see the hands of the others, but not the order of the wall, play alone against copies of the reference
agent. They play the same deals without that sight, too. The best possible player with that sight is at least as strong
as the agents measured here, and at least as strong as every player without it. The result is therefore a lower bound of
the ceiling; it does not show where the ceiling is. (Seeing the order of the wall is worth several times as much, all of
it luck.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mahjong_agents import Agent, look_ahead, make_agent, reference_agent
from mahjong_agents.control_variates import useful_weights
from mahjong_agents.search.agent import SearchAgent
from mahjong_env import VARIANTS, Engine, Rules, View, ViewError
from mahjong_env import rules as rules_of
from mahjong_env.basics.actions import CONCEALED_KONG
from mahjong_training.config import CeilingsConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import plain_json
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.lineups import Seatings, one_against_copies
from mahjong_training.evaluation.matches import Block, block_cache, blocks, play_block, sigma
from mahjong_training.evaluation.results import difference, summarise
from mahjong_training.evaluation.standing import estimate
from mahjong_training.runtime.cache import Arrays, ResultCache, fill
from mahjong_training.runtime.console import saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, provenance
from mahjong_training.runtime.executors import new_executor
from mahjong_training.runtime.folders import check_file, write_text
from mahjong_training.runtime.limits import check_settings

NEVER, NEAR = "never deals in", "never deals in where that costs no distance"
SEARCHING = ", searching"
"""The suffix of a name for a search over that agent."""


class NeverDealsIn:
    """Plays like another agent, but never discards a tile that somebody waits for if another discard will do.

    Attributes:
        name: the name of the other agent, followed by "that sees".
        tables: the engines whose views it may be shown.
    """

    def __init__(self, base: Agent, table: Engine, *, as_near: bool = False) -> None:
        """Wrap an agent at a table; with ``as_near``, only discards that keep the hand as near to a win will do."""
        self.name, self.tables, self._base, self._as_near = f"{base.name} that sees", [table], base, as_near

    def act(self, view: View, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return [n] the base's actions; replace a discard that deals in by the base's favourite one that does not."""
        actions = np.array(self._base.act(view, rng), np.int64)
        rows = np.flatnonzero(actions < CONCEALED_KONG)
        waited = waits_of_others(self.tables, view)[rows]
        at_risk = waited[np.arange(len(rows)), actions[rows]]
        rows, waited = rows[at_risk], waited[at_risk]
        if not rows.size:
            return actions
        seen = view.take(rows)
        ahead, liked = look_ahead(seen), self.scores(seen)
        distance = ahead.distance[:, :CONCEALED_KONG].astype(np.intp)
        will_do = seen.action_mask[:, :CONCEALED_KONG] & ~waited
        if self._as_near:
            will_do &= distance == distance.min(axis=1, keepdims=True)
        order = ahead.help[:, :CONCEALED_KONG] - 1000 * distance if liked is None else liked[:, :CONCEALED_KONG]
        best = np.where(will_do, order, -np.inf).argmax(axis=1)
        some = np.flatnonzero(will_do.any(axis=1))
        actions[rows[some]] = best[some]
        return actions

    def scores(self, view: View) -> Any:
        """Return [n, 109] the base's score of each action if it is a policy, and None for other agents."""
        scores = getattr(self._base, "scores", None)
        return None if scores is None else scores(view)


class SightedSearch(SearchAgent):
    """A search that plays on copies of the real table with all hands as they are; only the wall is shuffled."""

    def __init__(self, base: NeverDealsIn, table: Engine, *, rollouts: int, actions: int) -> None:
        """Set up a search over an agent that never deals in and that also plays on in the copies."""
        super().__init__(
            rollouts=rollouts,
            actions=actions,
            plans=3,
            likely=0.0,
            base=base,
            others="reference",
            luck=False,
            horizon=0,
        )
        self._table, self._sighted = table, base

    def copies(self, view: View, worlds: int, world: NDArray[np.intp], rng: np.random.Generator) -> Engine:
        """Return [m] copies of the games that a view shows; copies in the same world have the same wall."""
        games, _ = self._table.games_of(view)
        drawn = self._table.select(np.repeat(games, worlds))
        drawn.auto_reset = False
        shuffle_walls(drawn, rng)
        copies = drawn.select(world)
        self._sighted.tables = [self._table, copies]
        return copies


def shuffle_walls(engine: Engine, rng: np.random.Generator) -> None:
    """Shuffle the undrawn tiles of each game's wall."""
    state = engine.state
    is_left = state.undrawn(np.arange(len(state.wall)))
    lots = np.where(is_left, rng.random(state.wall.shape), 2)
    shuffled = np.take_along_axis(state.wall, lots.argsort(axis=1), axis=1)
    number = is_left.sum(axis=1, keepdims=True)
    state.wall[is_left] = shuffled[np.arange(state.wall.shape[1]) < number]


def waits_of_others(tables: Sequence[Engine], view: View) -> NDArray[np.bool_]:
    """Return [n, 34] the kinds that complete another seat's hand; the view must be of one of the tables."""
    for table in tables:
        try:
            games, _ = table.games_of(view)
        except ViewError:
            continue
        return np.asarray(table.hidden(games, view.own_person).waits[:, 1:].any(axis=1))
    raise ViewError("this view is not of any of the tables")


# --- The command -------------------------------------------------------------------------------------------------


def run(config: CeilingsConfig) -> dict[str, dict[str, Any]]:
    """Measure the ceilings, print them, and add them to the file.

    The file's results for other agents and variants stay. Results for an earlier agent of the same name, such as a
    policy that has been replaced, are removed.
    """
    check_settings(config, zero=("deals", "search_deals"))
    if not config.deals and not config.search_deals:
        raise TrainingError("--deals and --search-deals are both 0, which measures nothing: give one of them more")
    if config.search_near and not config.search_deals:
        raise TrainingError("--search-near is about the search, which --search-deals 0 leaves out")
    check_file(config.out)
    known = _known(config.out)
    variants = [rules_of(name) for name in config.variants or sorted(VARIANTS)]
    agents = [make_agent(base) for base in config.bases]
    caches = [block_cache(config.out.parent, rules, config.bases, agents, config.seed) for rules in variants]
    for rules, kept in zip(variants, caches, strict=True):
        found = measured(rules, config, kept)
        known = _known(config.out)  # others may have added to it
        known[rules.name] = _still_true(known.get(rules.name, {}), found, rules) | found
        write_text(config.out, plain_json(known) + "\n")
        for agent, one in found.items():
            points, more = (one[name].text(3, sign="+") for name in ("points", "more"))
            print(f"{rules.title}: {agent}: {points} sigma a hand, {more} more than without sight", flush=True)
    for kept in caches:
        kept.remove()
    return known


def _known(path: Path) -> dict[str, Any]:
    try:
        known = dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
        for one in (one for agents in known.values() for one in agents.values()):
            for name in ("points", "more"):  # without which this is another file, and adding to it would spoil it
                estimate(one[name])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TrainingError(f"{path}: cannot be read as ceilings ({error})") from error
    return known


def _still_true(known: Mapping[str, Any], found: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Return the known results, without those of other rules or of earlier agents that share a name with ``found``."""
    digests = {name.partition(", ")[0]: one["digests"] for name, one in found.items()}
    return {
        name: one
        for name, one in known.items()
        if one.get("version", rules.version) == rules.version
        and one.get("digests") == digests.get(name.partition(", ")[0], one.get("digests"))  # old files have no digests
    }


def measured(rules: Rules, config: CeilingsConfig, kept: ResultCache) -> dict[str, dict[str, Any]]:
    """Return, by the name of each agent with sight, what it wins and how much more that is than without sight.

    Finished blocks are kept in the cache, so that the same command resumes after an interruption.
    """
    luck_off = useful_weights(rules) is not None
    unit, lineup = sigma(rules), one_against_copies(0, 1, rules.people)
    plans: list[tuple[str, str, int, Seatings, list[Block]]] = []
    search = (NEAR if config.search_near else NEVER) + SEARCHING
    for base, way in product(config.bases, (NEVER, NEAR, search)):
        deals, most = (config.search_deals, config.search_block) if way == search else (config.deals, None)
        seatings: Seatings = "turns" if way == search else "all"
        if deals:
            plans.append((base, way, deals, seatings, blocks(lineup, deals, seatings, (), luck_off, most=most)))
    ways = ((base, who, every) for base, way, *_, every in plans for who in (way, ""))  # "": without sight
    todo = dict.fromkeys((base, who, one) for base, who, every in ways for one in every)

    def name_of(task: tuple[str, str, Block]) -> str:
        base, who, block = task
        return f"{config.bases.index(base)}_{who}_{config.rollouts}-{config.actions}_{block.name}"

    tasks = [(kept, name_of(task), task) for task in todo]
    with (
        saying_what_is_kept(lambda: kept.how_far(len(tasks))) as progress,
        new_executor(config.processes, config.ray, config.threads) as executor,
    ):
        fill(executor, _play, (rules, config), tasks, progress=lambda line: progress(f"{rules.title}: {line}"))

    found = {}
    for base, way, deals, seatings, every in plans:
        sighted, blind = (
            summarise(rules, lineup, [Played.of_arrays(kept[name_of((base, who, one))]) for one in every], seatings)
            for who in (way, "")
        )
        name = f"{base}, {way}"
        found[name] = {
            "points": sighted.of(0).points.over(unit),
            "more": difference(sighted, 0, blind, 0).over(unit),
            "deal_ins": sighted.of(0).deal_ins,
            "hands": sighted.hands,
            "deals": deals,
            "seatings": seatings,
            "digests": agent_digests(base, make_agent(base), rules),
            "seed": config.seed,
            "luck_off": luck_off,
            **provenance(rules),
        }
        if way == search:
            found[name] |= {"rollouts": config.rollouts, "actions": config.actions}
    return found


def _play(state: tuple[Rules, CeilingsConfig], task: tuple[str, str, Block]) -> Arrays:
    (rules, config), (base, way, block) = state, task
    return play_block(rules, partial(_seated, config, base, way), block, config.seed).arrays()


def _seated(config: CeilingsConfig, base: str, way: str, table: Engine) -> list[Agent]:
    """Return the two agents of a table: the base, with sight in this way (without sight for ""), and the reference."""
    plain, reference = make_agent(base), reference_agent(table.rules)
    if not way:
        return [plain, reference]
    sighted = NeverDealsIn(plain, table, as_near=way.startswith(NEAR))
    if not way.endswith(SEARCHING):
        return [sighted, reference]
    return [SightedSearch(sighted, table, rollouts=config.rollouts, actions=config.actions), reference]
