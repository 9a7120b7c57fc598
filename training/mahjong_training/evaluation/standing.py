"""The standings file: what is known about each agent in each variant, and the tables that pages show of it.

All points are in sigma a hand. Sigma is a unit within one variant; no number here compares variants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_agents.greedy import reference_agent
from mahjong_agents.levels import LEVELS
from mahjong_env import VARIANTS
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation.estimates import Estimate, plain_json
from mahjong_training.evaluation.payoffs import THEMES, picture
from mahjong_training.runtime.folders import write_text

START: Final = "<!-- leaderboard -->"
END: Final = "<!-- end of leaderboard -->"
CEILINGS: Final = Path(__file__).with_name("ceilings.json")
"""The results of ``mahjong-env ceilings``, by variant and by agent with sight of all hands."""

Rows = dict[str, dict[str, dict[str, Any]]]
"""What is known, by variant and agent. Keys in the row of an agent, each an `Estimate` (or several) as plain data:

- "points": against copies of the agent named by "against".
- "mixed": at mixed tables.
- "places" and "mean_place": in whole matches.
- "response": what a best response wins from the agent.
- "duels": against copies of each level, by level; "nash_rating" and "nash_share" are computed from them.

"alpha_rank" is the share by alpha-rank, or None where OpenSpiel was not installed. "digests" identifies the agent that
was measured (see `agent_digests`), and keys that begin with "how" say how numbers were found.
"""
_OF_ALL_DUELS: Final = ("nash_rating", "nash_share", "alpha_rank")
_OF_MATRIX: Final = ("duels", *_OF_ALL_DUELS, "how_duels")
_ESTIMATES: Final = {"points", "mixed", "mean_place", "response", "nash_rating", "nash_share"}
_OF_REFERENCE: Final = ("points", "how", "against")
_OF_TABLES: Final = {"how_mixed": ("mixed",), "how_places": ("places", "mean_place")}
PICTURES: Final = {theme: f"payoffs-{theme}.svg" for theme in THEMES}
"""The picture files of the pay-off matrices, by colour scheme."""


def ceiling(variant: str, path: Path = CEILINGS) -> tuple[str, Estimate] | None:
    """Return the agent with sight of all hands that wins most from copies of the reference agent, and how much.

    "Most" is judged by the lower end of the interval, as the highest mean would often be the one with the widest
    interval. The best possible player with that sight wins at least as much, so that a share of this ceiling is too
    great rather than too small.

    Returns:
        The name of the agent and its sigma a hand. None if nothing was measured, if no agent wins clearly more with
        that sight than without, or if another agent wins clearly more than the one chosen (as in Wuhan, where the worth
        of one's own hand is what counts).
    """
    found = with_sight(variant, path)
    points = {agent: estimate(one["points"]) for agent, one in found.items()}
    gaining = [agent for agent, one in found.items() if estimate(one["more"]).low > 0]
    best = max(gaining, key=lambda agent: points[agent].low, default=None)
    if best is None or any(one.low > points[best].high for one in points.values()):
        return None
    return best, points[best]


def share_of_ceiling(points: Estimate, variant: str, against: str) -> float | None:
    """Return what an agent wins alone from copies of another, as a share of the `ceiling`.

    Args:
        points: its sigma a hand under the variant's default rules.
        variant: the variant.
        against: the other agent's name.

    Returns:
        None where there is no share: the other is not the reference agent, whom the ceiling is measured against; the
        variant has no ceiling; or the points are not clearly more than nothing.
    """
    best = _best_with_sight(variant, against)
    return points.mean / best[1].mean if best is not None and points.low > 0 else None


def with_sight(variant: str, path: Path = CEILINGS) -> dict[str, dict[str, Any]]:
    """Return what is kept of a variant's ceilings, by agent with sight of all hands."""
    return json.loads(path.read_text(encoding="utf-8")).get(variant, {}) if path.is_file() else {}


def estimate(plain: Mapping[str, float]) -> Estimate:
    """Return an estimate from plain data, in which infinite ends are None."""
    low, high = plain["low"], plain["high"]
    return Estimate(plain["mean"], -float("inf") if low is None else low, float("inf") if high is None else high)


@dataclass(frozen=True)
class Kept:
    """The standings in a file.

    Attributes:
        path: the file.
        rows: the standings.
    """

    path: Path
    rows: Rows

    @classmethod
    def read(cls, path: Path) -> Kept:
        """Read the standings; they are empty if there is no such file.

        Raises:
            TrainingError: the file is not one of standings.
        """
        try:
            rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            for row in (row for agents in rows.values() for row in agents.values()):
                if not isinstance(row, dict):
                    raise ValueError("rows of agents are objects")
                if "more" in row:
                    raise ValueError("these are ceilings")
                for name in _ESTIMATES & row.keys():
                    estimate(row[name])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise TrainingError(f"{path}: cannot be read as standings ({error})") from error
        return cls(path, rows)

    def add(self, variant: str, digests: Mapping[str, Sequence[str]], found: Mapping[str, Mapping[str, Any]]) -> bool:
        """Add new results of agents, which replace older ones of the same kinds; see also `make_room`.

        A pay-off matrix is not replaced by one that lacks some of its agents. Nash ratings refer to all agents of one
        matrix, and those from different matrices do not belong together.

        Args:
            variant: the name of the variant.
            digests: the digests of each agent, by its text; see `agent_digests`.
            found: the results of each agent, by its text; see `Rows`.

        Returns:
            Whether everything was added; False if the matrix stays as it was.
        """
        rows = {agent: self.make_room(variant, agent, digests[agent]) for agent in found}
        of_matrix = {agent: one["duels"].keys() for agent, one in self.rows[variant].items() if "duels" in one}
        has_matrix = any("duels" in one for one in found.values())
        is_smaller = has_matrix and not all(
            met <= found.get(agent, {}).get("duels", {}).keys() for agent, met in of_matrix.items()
        )
        for agent, one in found.items():
            added = {name: value for name, value in one.items() if not (is_smaller and name in _OF_MATRIX)}
            rows[agent].update(json.loads(plain_json(added)))
        return not is_smaller

    def make_room(self, variant: str, agent: str, digests: Sequence[str]) -> dict[str, Any]:
        """Return the row of an agent, after removing everything that belongs to an earlier agent of the same name.

        The results of others against the earlier agent, or at tables where it took part, are removed as well: a policy
        that is replaced leaves a matrix without itself and mixed tables that have to be played anew, and a reference
        agent the points against it, too. Rows that were found with another version of the rules are cleared for every
        agent.
        """
        rows, version = self.rows.setdefault(variant, {}), VARIANTS[variant].version
        for one in rows.values():
            hows = [how for name, how in one.items() if name.startswith("how")]
            if any(how.get("version", version) != version for how in hows):
                one.clear()
        known = rows.setdefault(agent, {})
        if known and known.get("digests") != [*digests]:
            known.clear()
            for other in rows.values():
                if other.get("duels", {}).pop(agent, None) is not None:
                    for name in _OF_ALL_DUELS:
                        other.pop(name, None)
                gone = [*_OF_REFERENCE] if other.get("against") == agent else []
                for how, names in _OF_TABLES.items():
                    pool = other.get(how, {}).get("pool", ())
                    if agent in pool or ("reference" in pool and _is_reference(agent, variant)):
                        gone += [how, *names]
                for name in gone:
                    other.pop(name, None)
        known["digests"] = [*digests]
        return known

    def write(self) -> None:
        """Write the standings to their file."""
        write_text(self.path, plain_json(self.rows) + "\n")


def page(rows: Rows) -> str:
    """Return the tables of all standings in Markdown, and the picture of the pay-off matrices."""
    variants = [name for name in sorted(VARIANTS) if name in rows]
    agents = sorted({agent for name in variants for agent in rows[name]}, key=_order)
    head = ["agent", *(VARIANTS[name].title for name in variants)]
    known = {agent: {name: rows[name].get(agent, {}) for name in variants} for agent in agents}
    marks = {name: next((one["against"] for one in rows[name].values() if "against" in one), "") for name in variants}
    parts = []
    for kind, (text, show) in _TABLES.items():
        at = [_pool(kind, found) for of_agent in known.values() for found in of_agent.values() if kind in found]
        pool = max(at, key=at.count, default=())  # cells with another pool name it themselves
        shown = [
            [
                titled(agent),
                *(
                    _of_pool(kind, found, pool, show(found, name)) if kind in found else ""
                    for name, found in of_agent.items()
                ),
            ]
            for agent, of_agent in known.items()
            if any(kind in found for found in of_agent.values())
        ]
        if kind == "against" and shown:
            hows = {name: [one.get("how", {}) for one in rows[name].values()] for name in variants}
            units = [next((how["sigma"] for how in hows[name] if "sigma" in how), None) for name in variants]
            best = [_best_with_sight(name, mark) for name, mark in marks.items()]
            sight = ["" if one is None else f"*{one[1].text(3, sign='+')} ({one[0]})*" for one in best]
            shown.insert(0, ["*the reference agent is*", *(f"*{mark}*" for mark in marks.values())])
            if any(units):
                shown.insert(1, ["*points in a sigma*", *("" if unit is None else f"*{unit:,.2f}*" for unit in units)])
            shown += [["*with sight of all hands*", *sight]] if any(sight) else []
        if shown:
            parts.append(f"{text.format(pool=_listed(pool))}:\n\n{lines(head, shown)}")
    sights = {name: with_sight(name) if _is_reference(mark, name) else {} for name, mark in marks.items()}
    if any(sights.values()):
        shown = [
            [agent, *(_sighted(agent, sights[name]) for name in variants)]
            for agent in dict.fromkeys(agent for known in sights.values() for agent in known)
        ]
        parts.append(f"{_SIGHT}:\n\n{lines(['with sight of all hands', *head[1:]], shown)}")
    return "\n\n".join([*parts, *([_PICTURE] if matrices(rows) else [])])


def card(of_variant: Mapping[str, Mapping[str, Any]], variant: str) -> str:
    """Return a table in Markdown of what is known about the shipped policy of a variant, given its rows.

    A policy that has just replaced another one has not played everything yet.
    """
    found, people = of_variant.get("policy", {}), VARIANTS[variant].people
    shown = []
    if "points" in found:
        shown += [[f"alone against copies of {found['against']} (share of the ceiling)", _against(found, variant)]]
    for other in sorted(found.get("duels", {}).keys() - {found.get("against")}, key=_order):
        shown += [[f"against copies of {other}", cell(estimate(found["duels"][other]))]]
    if "mixed" in found:
        shown += [["at mixed tables", _mixed(found, variant)]]
    if "mean_place" in found:
        shown += [[f"mean place in whole matches, of {people}", estimate(found["mean_place"]).text(2)]]
    if "response" in found:
        shown += [["what a best response wins from copies of it", _response(found, variant)]]
    return lines(["in the standings", "sigma a hand, 95 %"], shown)


def policies(rows: Rows) -> str:
    """Return a table in Markdown of the strengths of the shipped policies."""
    shown = [
        [
            VARIANTS[name].title,
            f"{_against(found, name)} over {found['against']}",
            _mixed(found, name),
            f"{estimate(found['mean_place']).text(2)} of {VARIANTS[name].people}",
        ]
        for name in sorted(VARIANTS)
        if {"points", "mixed", "mean_place"} <= (found := rows.get(name, {}).get("policy", {})).keys()
    ]
    return lines(
        ["policy of", "sigma a hand (share of the ceiling)", "at mixed tables", "mean place in matches"], shown
    )


def _pool(kind: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the pool of other players for a kind of result from mixed tables; empty for other kinds."""
    how = next((how for how, names in _OF_TABLES.items() if kind in names), "")
    return tuple(found.get(how, {}).get("pool", ()))


def _of_pool(kind: str, found: Mapping[str, Any], usual: Sequence[str], text: str) -> str:
    other = _pool(kind, found)
    return text if other == usual else f"{text} (with {_listed(other)})"


def _listed(pool: Sequence[str]) -> str:
    """Return the agents of a pool as a phrase, without their options."""
    named = ["the reference agent" if one == "reference" else one.partition("?")[0] for one in pool]
    return " and ".join([", ".join(named[:-1]), *named[-1:]] if len(named) > 1 else named)


def _is_reference(agent: str, variant: str) -> bool:
    return agent == reference_agent(VARIANTS[variant]).name


def _best_with_sight(variant: str, against: str) -> tuple[str, Estimate] | None:
    return ceiling(variant) if _is_reference(against, variant) else None


def _sighted(agent: str, known: Mapping[str, Any]) -> str:
    if agent not in known:
        return ""
    points, more = (estimate(known[agent][name]) for name in ("points", "more"))
    return cell(points) + ("" if agent.startswith("reference") else f" ({more.mean:+.3f})")


def _against(found: Mapping[str, Any], variant: str) -> str:
    if "points" not in found:  # the reference agent itself
        return "0"
    points = estimate(found["points"])
    share = share_of_ceiling(points, variant, found["against"])
    return cell(points) + ("" if share is None else f" ({100 * share:.0f} %)")


def _mixed(found: Mapping[str, Any], variant: str) -> str:
    return cell(estimate(found["mixed"]))


def _places(found: Mapping[str, Any], variant: str) -> str:
    shares = " ".join(f"{100 * one['mean']:.0f}" for one in found["places"])
    mean = estimate(found["mean_place"])
    if np.isfinite(mean.half_width):
        return f"{shares}; {mean.text(2)}"
    return f"{shares}; {mean.mean:.2f} ({found['how_places']['deals']} deals: too few for ±)"


def _nash(found: Mapping[str, Any], variant: str) -> str:
    share, rank = found["nash_share"]["mean"], found.get("alpha_rank")
    by_rank = "" if rank is None else f"; {100 * rank:.0f} %"
    return f"{estimate(found['nash_rating']).text(3, sign='+')} ({100 * share:.0f} %{by_rank})"


def _response(found: Mapping[str, Any], variant: str) -> str:
    how = found["how_response"]
    budget = f"{how['hands']:,} hands, {max(how['seconds'] / 60, 1):.0f} min"
    return f"{cell(estimate(found['response']))} ({budget}; from {how['start']})"


_SIGHT: Final = (
    "What agents win that see all hands, but not the order of the wall, alone against copies of the reference agent, "
    "in sigma a hand; in brackets how much more that is than the same agent without sight wins on the same deals (the "
    "reference agent then wins nothing)"
)
_TABLES: Final = {
    "against": (
        "Points a hand in sigma, alone against copies of the reference agent, each deal from every seat, ± 95 %; in "
        "brackets the share of what the best agent with sight of all hands wins there (last row), where both are clear "
        "of zero",
        _against,
    ),
    "mixed": (
        "At mixed tables, with others drawn from {pool}, points a hand in sigma",
        _mixed,
    ),
    "places": (
        "Whole matches at such tables, shares of places from the first on, in per cent, and the mean place",
        _places,
    ),
    "nash_rating": (
        "Nash rating: what they win from the equilibrium mixture of all who are compared, less what that wins from "
        "them, halved, in sigma a hand; in brackets how much of that mixture they are, and their share by alpha-rank",
        _nash,
    ),
    "response": (
        "What a best response wins from copies of them, in sigma a hand, a lower bound of their exploitability (in "
        "brackets its budget, the hands that it learned from and the minutes that this took, and whom it began as)",
        _response,
    ),
}
"""By the key that an agent's row needs: the heading of a table, and the function that makes its cells."""


def matrices(rows: Rows) -> dict[str, dict[tuple[str, str], Estimate]]:
    """Return, by the title of each variant, what agents that have all met win among copies of each other."""
    found = {}
    for name in sorted(VARIANTS):
        known = {agent: one["duels"] for agent, one in rows.get(name, {}).items() if "duels" in one}
        agents = list(known)
        while lacking := [one for one in agents if any(other not in known[one] for other in agents if other != one)]:
            agents.remove(lacking[-1])
        if len(agents) > 1:
            pairs = permutations(agents, 2)
            found[VARIANTS[name].title] = {(one, other): estimate(known[one][other]) for one, other in pairs}
    return found


def write_pictures(folder: Path, rows: Rows) -> None:
    """Draw the pay-off matrices into a folder, in both colour schemes; without matrices, write nothing."""
    if tables := matrices(rows):
        for theme, name in PICTURES.items():
            write_text(folder / name, picture(tables, theme))


_PICTURE: Final = f"""Who beats whom, ordered by Nash rating:

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="{PICTURES["dark"]}">
  <img src="{PICTURES["light"]}" alt="What each agent wins among copies of each other one, a matrix for each variant">
</picture>"""


def cell(points: Estimate) -> str:
    """Return points in sigma as text, bold if they are clear of zero and do not round to it."""
    text = points.text(3, sign="+")
    return f"**{text}**" if points.is_clear_of_zero and round(points.mean, 3) else text


def _order(agent: str) -> tuple[int, str]:
    return (LEVELS.index(agent), "") if agent in LEVELS else (len(LEVELS), agent)


def titled(agent: str) -> str:
    """Return an agent's text, with its number in front if it is a level."""
    return f"{LEVELS.index(agent)}: {agent}" if agent in LEVELS else agent


def lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown with this head and these rows."""
    first, *rest = (f"| {' | '.join(row)} |" for row in [head, *rows])
    return "\n".join([first, "|" + "---|" * len(head), *rest])


def write_page(page: Path, text: str) -> None:
    """Write a text between the lines `START` and `END` of a page.

    Raises:
        TrainingError: the page has no such lines.
    """
    before, after = around(page)
    write_text(page, f"{before}{START}\n{text}\n{END}{after}")


def around(page: Path) -> tuple[str, str]:
    """Return the parts of a page before and after the place of its table; a TrainingError if there is no such place."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not start or not end:
        raise TrainingError(f"{page}: nothing shows where the table goes; it needs the lines {START} and {END}")
    return before, after
