"""``mahjong-env leaderboard submit`` and ``check``: entries that newcomers play on unknown deals and anybody can check.

Everything that the maker of an entry chooses is digested first: the agent, what it is made of, the rules and the number
of deals. The seed follows from this commitment and from a beacon, a text that nobody could know beforehand. Nothing can
therefore have been made or chosen for the deals of an entry.

An entry holds the points of every deal and a digest of every block. Everybody can check the arithmetic, and everybody
who has the agent can play any block again.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_agents import Agent, RandomAgent, make_agent, reference_agent
from mahjong_agents.control_variates import UNIT
from mahjong_agents.levels import LEVELS
from mahjong_agents.policy.file import SHIPPED
from mahjong_env import VARIANTS, Rules, __version__
from mahjong_env.basics.types import is_integer
from mahjong_env.environments.isolated import PREFIX
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import CheckEntryConfig, PageConfig, SubmitConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import standing
from mahjong_training.evaluation.estimates import Estimate, mean, plain_json
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.leaderboard import mixed
from mahjong_training.evaluation.lineups import one_against_copies, seated
from mahjong_training.evaluation.matches import Contest, play_contests, sigma
from mahjong_training.evaluation.standing import Kept, estimate
from mahjong_training.runtime.console import kept_in, saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, named_digests, provenance, replaced
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import entry_seed

POOL: Final = ("reference", "folding?caution=2", "value", "policy")
"""The field of opponents: an entry meets copies of the first one, and mixed tables with three (or two) of them."""
LEAST: Final = 2000
"""The number of deals of each kind that an entry needs to be shown in the table."""
_FORMAT: Final = 4
_BLOCK: Final = 25
"""The number of deals in a block, the smallest unit that can be played again."""
_COMMITTED: Final = ("agent", "digests", "variant", "version", "knobs", "deals")
_NOT_WHOLE: Final = "it does not have all blocks of deals that are played for an entry, each once"
_DUEL, _MIXED = "copies of the reference agent", "mixed tables"
_OURS: Final = frozenset(
    ["reference", *(level.partition("?")[0] for level in LEVELS)]
    + [f"policy:{file.stem}" for file in SHIPPED.glob("*.zip")]
)
"""Agents of this package that read nothing but its own files, if their options are plain numbers."""
_PLAIN_OPTIONS: Final = re.compile(r"((?!numbers=)\w+=(-?[\d.]+|true|false|none)(&|$))*")  # numbers= of value is a file
_MOST_POINTS: Final = 1e9


def submit(config: SubmitConfig) -> dict[str, Any]:
    """Commit to the agent and the settings, draw the seed, play, and write the entry."""
    check_settings(config)
    rules, out = read_rules(config.variant, config.knobs), config.out / f"{_file_name(config)}.json"
    if config.beacon is not None and not config.beacon.strip():
        raise TrainingError("--beacon is a text that somebody else chose, not an empty one; leave it out to draw one")
    _check_rules(rules)
    if not config.commit:
        check_file(out)
    if out.exists():
        raise TrainingError(f"{out}: there is an entry of this name; if the agent has changed, give it another --name")
    spec = sealed(config.agent)
    if "" in named_digests(spec, rules):
        raise _unreadable(config.agent)
    agents = {one: make_agent(one) for one in (spec, *POOL)}
    digests = agent_digests(spec, agents[spec], rules)
    if not digests or "" in digests:
        raise _unreadable(config.agent)
    beacon = secrets.token_hex(16) if config.beacon is None else config.beacon
    entry: dict[str, Any] = {
        "format": _FORMAT,
        "name": config.name,
        "agent": config.agent,
        "digests": digests,
        "field": field_of(agents, rules),
        "variant": rules.name,
        "knobs": list(config.knobs),
        **provenance(rules),
        "beacon": beacon,
        "beacon_was_given": config.beacon is not None,
        "deals": config.deals,
    }
    _check_values(entry)
    entry["commitment"] = commitment_of(entry)
    print(f"commitment: {entry['commitment']}", flush=True)
    if config.commit:
        print("hand it in before the beacon is known; then run this command with --beacon TEXT in place of --commit")
        return {name: entry[name] for name in ("commitment", *_COMMITTED)}
    entry["seed"] = seed_of(entry)
    contests = contests_of(rules, agents, spec, config.deals)
    with alone_in(config.out):
        kept = config.out / f".{_file_name(config)}" if config.beacon is not None else None
        with saying_what_is_kept(lambda: kept_in(kept) if kept else "", in_log=True) as progress:
            played = play_contests(contests, agents, config, entry["seed"], out=kept, progress=progress)
            entry["contests"] = [described(one, parts) for one, parts in played]
        entry |= strength(entry["contests"])
        entry["digest"] = digest_of(entry)
        write_text(out, plain_json(entry) + "\n")
    print(f"{said_of(rules, entry)}\nwritten: {out}, digest {entry['digest']}")
    return entry


def check(config: CheckEntryConfig) -> dict[str, Any]:
    """Check an entry, play some of its blocks again, and print the result.

    An entry may be a stranger's. Unless --agent names its agent, only agents of this package are played; see `is_ours`.

    Raises:
        TrainingError: something in the entry is not as it says, or --agent names another agent.
    """
    check_settings(config)
    rules, entry = read_entry(config.entry)
    print(f"{said_of(rules, entry)}\nits seed follows from its commitment and its beacon, its numbers from its deals")
    agent = entry["agent"] if config.agent is None else config.agent
    if config.agent is None and not is_ours(agent):
        print(
            "its agent was not played again: it would run code of its maker; if you trust it, name it with "
            f"--agent {shlex.quote(agent)}"
        )
        return entry
    spec = sealed(agent)
    if "" in (found := named_digests(spec, rules)):
        raise _unreadable(agent)
    if not set(found) <= set(entry["digests"]):  # before any of its code runs
        raise _another(agent, found)
    agents = {one: make_agent(one) for one in (spec, *POOL)}
    if (found := agent_digests(spec, agents[spec], rules)) != entry["digests"]:
        raise _another(agent, found)
    if changes := _changes(rules, entry, field_of(agents, rules)):
        raise TrainingError(
            f"{config.entry}: it was made with {', '.join(changes)}; check it with the mahjong_env that wrote it "
            f"({entry['mahjong_env']}, {entry['date']})"
        )
    every = contests_of(rules, agents, spec, entry["deals"])
    if [[block.last for block in one.blocks] for one in every] != [
        [block["last"] for block in one["blocks"]] for one in entry["contests"]
    ]:
        raise TrainingError(f"{config.entry}: {_NOT_WHOLE}")
    places = [(number, block) for number, one in enumerate(every) for block in range(len(one.blocks))]
    chosen = np.random.default_rng().permutation(len(places))[: config.sample]
    again = [
        every[number]._replace(blocks=(every[number].blocks[block],))
        for number, block in (places[at] for at in sorted(chosen))
    ]
    with saying_what_is_kept(lambda: "", in_log=True) as progress:
        played = list(play_contests(again, agents, config, entry["seed"], progress=progress))
    for at, (one, parts) in zip(sorted(chosen), played, strict=True):
        number, block = places[at]
        (there,), kept = described(one, parts)["blocks"], entry["contests"][number]["blocks"][block]
        if there["digest"] != kept["digest"] or not all(
            np.allclose(there[name], kept[name], atol=1e-6) for name in ("points", "with_luck")
        ):
            raise TrainingError(
                f"{config.entry}: {one}, deals {kept['first']} to {kept['last'] - 1}, was played again with another "
                f"result; the entry is by mahjong_env {entry['mahjong_env']}, this is {__version__}"
            )
    print(f"{len(again)} of {len(places)} blocks were played again, and came out the same")
    return entry


def _check_rules(rules: Rules) -> None:
    if rules.seats < rules.people:
        raise TrainingError("entries are of tables at which everybody plays every hand")


def _another(agent: str, found: Sequence[str]) -> TrainingError:
    return TrainingError(f"{agent} is not the agent of this entry: its digests are {', '.join(found)}")


def _unreadable(agent: str) -> TrainingError:
    return TrainingError(
        f"{agent}: its files cannot all be read, so that nobody can check which agent played; name a class as "
        "file.py:Class, and a program as ./bot, or with its file right after the interpreter, as python bot.py"
    )


def is_ours(agent: str) -> bool:
    """Return whether a text names an agent of this package, and nothing that would be loaded from anywhere else."""
    address, _, options = agent.removeprefix(PREFIX).partition("?")
    return address in _OURS and bool(_PLAIN_OPTIONS.fullmatch(options))


def _changes(rules: Rules, entry: Mapping[str, Any], field: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what has changed since an entry was made: the version of its rules, and agents of its field."""
    version = [f"version {entry['version']} of the rules"] if entry["version"] != rules.version else []
    return [*version, *(f"another {one}" for one in replaced(entry["field"], field))]


def field_of(agents: Mapping[str, Agent], rules: Rules) -> dict[str, list[str]]:
    """Return the digests of every agent in the field; see `agent_digests`."""
    return {one: agent_digests(one, agents[one], rules) for one in POOL}


def read_entry(path: Path) -> tuple[Rules, dict[str, Any]]:
    """Read an entry, and check that its digest, seed and numbers follow from the rest of it.

    Returns:
        The rules, and everything in the entry.

    Raises:
        TrainingError: these do not follow, a value cannot be, deals are missing or there twice, or the file is not an
            entry.
    """
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (written := entry.get("format")) != _FORMAT:
            raise TrainingError(f"an entry of format {written!r}; this version reads format {_FORMAT}")
        if missing := [name for name in (*_VALUES, "commitment", "digest") if name not in entry]:
            raise TrainingError(f"it has no {', '.join(missing)}")
        _check_values(entry)
        rules, deals = read_rules(entry["variant"], entry["knobs"]), entry["deals"]
        _check_rules(rules)
        asked = {"digest": digest_of(entry), "commitment": commitment_of(entry), "seed": seed_of(entry)}
        is_whole = deals == sum(len(one["points"]) for one in entry["contests"][0]["blocks"])
        wrong = [name for name, value in asked.items() if entry[name] != value]
        if is_whole := is_whole and _is_whole(rules, entry["contests"], deals):
            found = strength(entry["contests"])
            wrong += [name for name, one in found.items() if not _is_alike(estimate(entry[name]), Estimate(**one))]
    except TrainingError as error:
        raise TrainingError(f"{path}: {error}") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise TrainingError(f"{path}: cannot be read as an entry ({error!r})") from error
    if wrong:
        raise TrainingError(f"{path}: not what follows from the rest of the entry: {', '.join(wrong)}")
    if not is_whole:
        raise TrainingError(f"{path}: {_NOT_WHOLE}")
    return rules, entry


def _is_alike(one: Estimate, other: Estimate) -> bool:
    """Return whether two estimates agree except for their last bits, which depend on the processor and on scipy."""
    return bool(np.allclose(astuple(one), astuple(other), rtol=1e-9, atol=1e-12))


def _is_whole(rules: Rules, contests: Sequence[Mapping[str, Any]], deals: int) -> bool:
    """Return whether these are the contests of an entry, with each of its deals once, in order, and in equal blocks.

    Raises:
        TrainingError: what was found for a deal or a block is of another kind.
    """
    anybody = RandomAgent()
    every = contests_of(rules, {"newcomer": anybody} | dict.fromkeys(POOL, anybody), "newcomer", deals)
    if [list(one.agents[1:]) for one in every] != [one["against"] for one in contests]:
        return False
    for one, kept in zip(every, contests, strict=True):
        first, last, blocks = one.blocks[0].first, one.blocks[-1].last, kept["blocks"]
        size = min(len(blocks[0]["points"]), _BLOCK) or 1  # slow agents have smaller ones
        grid = [(start, min(start + size, last)) for start in range(first, last, size)]
        if [(block["first"], block["last"]) for block in blocks] != grid:
            return False
        for (start, end), block in zip(grid, blocks, strict=True):
            if not len(block["points"]) == len(block["with_luck"]) == end - start:
                return False
            if not all(map(_is_number, (*block["points"], *block["with_luck"]))):
                raise TrainingError("the points of a deal must be a number, from -1e9 to 1e9")
            if not _is_line(block["digest"]):
                raise TrainingError("the digest of a block must be a line of text")
    return True


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(value.strip())


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_MOST_POINTS <= value <= _MOST_POINTS


def _are_lines(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_line, value))


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


_NAME: Final = "letters, digits and -_. only (and not -_. alone)"
_VALUES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "name": (lambda value: isinstance(value, str) and _is_name(value), _NAME),
    "agent": (_is_line, "a line of text"),
    "digests": (lambda value: _are_lines(value) and value != [], "a list of digests, at least one"),
    "field": (
        lambda value: isinstance(value, dict) and all(_are_lines(value.get(one)) for one in POOL),
        "a list of digests for each opponent",
    ),
    "variant": (_is_line, "a line of text"),
    "knobs": (_are_lines, "a list of lines of text"),
    "date": (lambda value: isinstance(value, str) and _is_date(value), "a date such as 2026-01-31"),
    "mahjong_env": (_is_line, "a line of text"),
    "version": (is_integer, "an integer"),
    "beacon": (_is_line, "a line of text"),
    "beacon_was_given": (lambda value: isinstance(value, bool), "true or false"),
    "deals": (is_integer, "an integer"),
    "seed": (is_integer, "an integer"),
    "contests": (lambda value: isinstance(value, list) and value != [], "a list of contests"),
}
"""For each value of an entry that is not computed from the others, whether it can be what it says, and in words."""


def _check_values(entry: Mapping[str, Any]) -> None:
    """Check the values of an entry, as far as it has them; a TrainingError names the first one that cannot be."""
    for name, (is_valid, valid) in _VALUES.items():
        if name in entry and not is_valid(entry[name]):
            raise TrainingError(f"{name} must be {valid}, not {entry[name]!r}")


def write_page(config: PageConfig) -> None:
    """Rewrite the tables of the leaderboard page."""
    text = page(config)
    standing.write_page(config.page, text)
    standing.write_pictures(config.page.parent, Kept.read(config.kept).rows)
    print(f"written: {config.page}")


def page(config: PageConfig) -> str:
    """Return the tables of the kept standings, followed by the table of qualifying entries, the newest first.

    Raises:
        TrainingError: there are no standings, an entry is not as it says (see `read_entry`), or two entries have the
            same commitment, the same agent under the same rules, or the same name in a variant.
    """
    if not config.kept.is_file():
        raise TrainingError(f"{config.kept}: there are no standings")
    standings = Kept.read(config.kept).rows
    ceilings = {variant: standing.with_sight(variant) for variant in standings}
    for file, kept in ((config.kept, standings), (standing.CEILINGS, ceilings)):
        for line in _former(kept):
            print(f"{file}: {line}")
    parts = [standing.page(standings)]
    rows, known = [], dict[Any, Path]()
    for path in sorted(config.entries.glob("*.json")):
        rules, entry = read_entry(path)
        knobs = {name: str(value) for name, value in rules.knobs.items()}  # however the entry writes them
        whole = json.dumps([entry["agent"], entry["digests"], rules.name, entry["version"], knobs])
        same = {"commitment": entry["commitment"], "agent and rules": whole, "name": (rules.name, entry["name"])}
        for what, one in same.items():
            if (other := known.setdefault(one, path)) != path:
                raise TrainingError(f"{path}: it has the {what} of {other}, but one version of an agent is one entry")
        if not entry["beacon_was_given"] or entry["deals"] < LEAST:
            print(f"{path}: not shown; the table takes entries with a given beacon and {LEAST:,} deals or more of each")
            continue
        unit = sigma(rules)
        points, at_mixed = (standing.cell(estimate(entry[name]).over(unit)) for name in ("points", "mixed"))
        house = f" ({_in_a_cell(', '.join(entry['knobs']))})" if entry["knobs"] else ""
        who = [entry["date"], f"{entry['name']}: `{_in_a_cell(entry['agent'])}`", rules.title + house]
        changes = _changes(rules, entry, field_of({one: make_agent(one) for one in POOL}, rules))
        field = f"with {', '.join(changes)}" if changes else "that of today"
        rows.append([*who, points, at_mixed, field, f"{entry['deals']:,}", f"`{entry['digest'][:16]}`"])
    head = ["date", "entry", "variant", f"against {_DUEL}", f"at {_MIXED}", "field", "deals of each", "digest"]
    if rows:
        parts.append("Entries from outside:\n\n" + standing.lines(head, sorted(rows, reverse=True)))
    return "\n\n".join(parts)


def _former(rows: standing.Rows) -> Iterator[str]:
    """Yield what is to be said of rows that were found with another agent of their name, or by other rules.

    Agents of others are not looked at, as that would load their code.
    """
    for variant, of_variant in rows.items():
        if (rules := VARIANTS.get(variant)) is None:
            if of_variant:
                yield f"{variant} is not shown: there is no such variant here"
            continue
        for name, row in of_variant.items():
            agent = name.partition(", ")[0]  # a ceiling's name goes on with its sight
            hows = [row, *(how for key, how in row.items() if key.startswith("how"))]
            versions = sorted({how.get("version", rules.version) for how in hows} - {rules.version})
            if versions:
                yield f"{name} in {rules.title}: found by version {versions[0]} of the rules; play it again"
            elif is_ours(agent) and row.get("digests") not in (None, agent_digests(agent, make_agent(agent), rules)):
                yield f"{name} in {rules.title}: found with another agent of this name; play it again"


def _in_a_cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("`", "'")


def sealed(agent: str) -> str:
    """Return the text that makes an agent run in a process of its own, as external programs already do."""
    return agent if agent.startswith((PREFIX, "command:")) else f"{PREFIX}{agent}"


def commitment_of(entry: Mapping[str, Any]) -> str:
    """Return the digest of all that an entry's maker chooses, which is handed in before the beacon is known."""
    return _sha256(json.dumps({name: entry[name] for name in _COMMITTED}, sort_keys=True).encode())


def seed_of(entry: Mapping[str, Any]) -> int:
    """Return the seed of an entry, which follows from its commitment and its beacon alone."""
    return entry_seed(_sha256(json.dumps([commitment_of(entry), entry["beacon"]]).encode()))


def digest_of(entry: Mapping[str, Any]) -> str:
    """Return the digest of an entry, taken over everything in it except the digest itself."""
    rest = {name: value for name, value in entry.items() if name != "digest"}
    return _sha256(json.dumps(json.loads(plain_json(rest)), sort_keys=True).encode())


def contests_of(rules: Rules, agents: Mapping[str, Agent], spec: str, deals: int) -> list[Contest]:
    """Return the contests of a newcomer; it plays each deal once, so that it cannot remember it from another seat."""
    lineup = one_against_copies(spec, POOL[0], rules.people)
    duel = Contest.of(rules, agents, lineup, range(deals), "turns", most=_BLOCK)
    return [duel, *mixed(rules, agents, spec, POOL, range(deals, 2 * deals), seatings="turns", most=_BLOCK)]


def described(contest: Contest, parts: Sequence[Played]) -> dict[str, Any]:
    """Return a contest's part of an entry: for each block, the newcomer's points by deal and a digest of all points."""
    blocks = []
    for block, part in zip(contest.blocks, parts, strict=True):
        who = seated(block.lineup, np.arange(block.first, block.last), block.seatings)
        points = (part.points * (who == 0)).sum(axis=1)
        luck = part.counts.get("luck")
        found = {"first": block.first, "last": block.last, "digest": _sha256(part.points.astype("<i8").tobytes())}
        without = points if luck is None else points - (luck * (who == 0)).sum(axis=1) / UNIT
        blocks.append(found | {"points": np.round(without, 6).tolist(), "with_luck": points.tolist()})
    return {"against": list(contest.agents[1:]), "blocks": blocks}


def strength(contests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the newcomer's points a hand, against copies of the reference agent and at mixed tables."""
    found = {}
    for name, of in (("points", contests[:1]), ("mixed", contests[1:])):
        for key, what in ((name, "points"), (f"{name}_with_luck", "with_luck")):
            by_deal = np.array([points for one in of for block in one["blocks"] for points in block[what]], np.float64)
            found[key] = asdict(mean(by_deal))
    return found


def said_of(rules: Rules, entry: Mapping[str, Any]) -> str:
    """Return a summary of an entry for the terminal."""
    unit = sigma(rules)
    against, at_mixed = (estimate(entry[name]).text(3, unit, "+") for name in ("points", "mixed"))
    luck = ", ".join(f"{entry[f'{name}_with_luck']['mean'] / unit:+.3f}" for name in ("points", "mixed"))
    who = "from outside" if entry["beacon_was_given"] else "drawn by this command"
    return (
        f"{entry['name']} ({entry['agent']}) in {rules.title}: {against} sigma a hand against {_DUEL} "
        f"({reference_agent(rules).name}), {at_mixed} at {_MIXED}\n({entry['deals']:,} deals each, 95 %; with "
        f"luck, where that was taken off, {luck}; beacon {who})"
    )


def _is_name(name: str) -> bool:
    return any(map(str.isalnum, name)) and all(letter.isalnum() or letter in "-_." for letter in name)


def _file_name(config: SubmitConfig) -> str:
    if not _is_name(config.name):
        raise TrainingError(f"--name may have {_NAME}, not {config.name!r}")
    return f"{config.variant}-{config.name}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
