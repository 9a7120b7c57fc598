"""``mahjong-env leaderboard submit`` and ``check``: entries that newcomers play on unknown deals and anybody can check.

Everything that the maker of an entry chooses is digested first: the agent, what it is made of, the rules and the number
of deals. The seed follows from this commitment and from a beacon, a text that nobody could know beforehand. Nothing can
therefore have been made or chosen for the deals of an entry.

An entry holds the points of every deal and a digest of every block. Everybody can check the arithmetic, and everybody
who has the agent can play any block again.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from mahjong_agents import Agent, RandomAgent, make_agent, reference_agent
from mahjong_agents.control_variates import UNIT
from mahjong_env import AgentError, Rules, __version__
from mahjong_env.environments.agents import KIND
from mahjong_env.environments.isolated import PREFIX
from mahjong_env.ruleset.knobs import read_rules
from mahjong_training.config import CheckEntryConfig, PageConfig, SubmitConfig
from mahjong_training.errors import TrainingError
from mahjong_training.evaluation import standing
from mahjong_training.evaluation.estimates import Estimate, plain_json, ratio
from mahjong_training.evaluation.hand_statistics import Played
from mahjong_training.evaluation.leaderboard import mixed
from mahjong_training.evaluation.lineups import seated
from mahjong_training.evaluation.matches import Contest, play_contests, sigma
from mahjong_training.evaluation.standing import Kept, estimate
from mahjong_training.runtime.console import saying_what_is_kept
from mahjong_training.runtime.digests import agent_digests, named_digests, provenance, replaced
from mahjong_training.runtime.folders import alone_in, check_file, write_text
from mahjong_training.runtime.limits import check_settings
from mahjong_training.seeds import entry_seed

POOL: Final = ("reference", "folding?caution=2", "value", "policy")
"""The field of opponents: an entry meets copies of the first one, and mixed tables with three (or two) of them."""
LEAST: Final = 2000
"""The number of deals of each kind that an entry needs to be shown in the table."""
_FORMAT: Final = 3
_BLOCK: Final = 25
"""The number of deals in a block, the smallest unit that can be played again."""
_COMMITTED: Final = ("agent", "digests", "variant", "version", "knobs", "deals")
_NOT_WHOLE: Final = "it does not have all blocks of deals that are played for an entry, each once"
_DUEL, _MIXED = "copies of the reference agent", "mixed tables"


def submit(config: SubmitConfig) -> dict[str, Any]:
    """Commit to the agent and the settings, draw the seed, play, and write the entry."""
    check_settings(config)
    rules, out = read_rules(config.variant, config.knobs), config.out / f"{_file_name(config)}.json"
    if config.beacon is not None and not config.beacon.strip():
        raise TrainingError("--beacon is a text that somebody else chose, not an empty one; leave it out to draw one")
    if rules.seats < rules.people:
        raise TrainingError("entries are of tables at which everybody plays every hand")
    if not config.commit:
        check_file(out)
    if out.exists():
        raise TrainingError(f"{out}: there is an entry of this name; if the agent has changed, give it another --name")
    spec = sealed(config.agent)
    unknown = TrainingError(f"{config.agent}: its files cannot be read, so that nobody can check which agent played")
    if "" in named_digests(spec, rules):
        raise unknown
    agents = {one: make_agent(one) for one in (spec, *POOL)}
    digests = agent_digests(spec, agents[spec], rules)
    if not digests or "" in digests:
        raise unknown
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
    entry["commitment"] = commitment_of(entry)
    print(f"commitment: {entry['commitment']}", flush=True)
    if config.commit:
        print("hand it in before the beacon is known; then run this command with --beacon TEXT in place of --commit")
        return {name: entry[name] for name in ("commitment", *_COMMITTED)}
    entry["seed"] = seed_of(entry)
    contests = contests_of(rules, agents, spec, config.deals)
    with alone_in(config.out):
        kept = config.out / f".{_file_name(config)}" if config.beacon is not None else None
        said = f"finished parts are kept in {kept}: run the same command again to resume" if kept else ""
        with saying_what_is_kept(lambda: said) as progress:
            played = play_contests(contests, agents, config, entry["seed"], out=kept, progress=progress)
            entry["contests"] = [described(one, parts) for one, parts in played]
        entry |= strength(rules, entry["contests"])
        entry["digest"] = digest_of(entry)
        write_text(out, plain_json(entry) + "\n")
    print(f"{said_of(rules, entry)}\nwritten: {out}, digest {entry['digest']}")
    return entry


def check(config: CheckEntryConfig) -> dict[str, Any]:
    """Check an entry, play some of its blocks again if the agent is available, and print the result.

    A program that an entry names is run only if --agent names it as well, as the entry may be a stranger's.

    Raises:
        TrainingError: something in the entry is not as it says.
    """
    check_settings(config)
    rules, entry = read_entry(config.entry)
    print(f"{said_of(rules, entry)}\nits seed follows from its digest and its beacon, its numbers from its deals")
    if config.agent is None and any(KIND.is_command(name) for name in re.findall(r"([\w-]+):", entry["agent"])):
        print("its agent is a program, which is run only if --agent names it: nothing was played again")
        return entry
    spec = sealed(config.agent or entry["agent"])
    if not set(found := named_digests(spec, rules)) <= set(entry["digests"]):  # before any of its code runs
        raise _another(config, entry, found)
    try:
        agents = {one: make_agent(one) for one in (spec, *POOL)}
    except AgentError as error:
        if config.agent is not None:
            raise
        print(f"its agent is not at hand: nothing was played again\n{error}")
        return entry
    if (found := agent_digests(spec, agents[spec], rules)) != entry["digests"]:
        raise _another(config, entry, found)
    if former := replaced(entry["field"], field_of(agents, rules)):
        raise TrainingError(
            f"{config.entry}: {', '.join(former)} of its field is another agent here; check it with the "
            f"mahjong_env that wrote it ({entry['mahjong_env']}, {entry['date']})"
        )
    every = contests_of(rules, agents, spec, entry["deals"])
    if [len(one.blocks) for one in every] != [len(one["blocks"]) for one in entry["contests"]]:
        raise TrainingError(f"{config.entry}: {_NOT_WHOLE}")
    places = [(number, block) for number, one in enumerate(every) for block in range(len(one.blocks))]
    chosen = np.random.default_rng().permutation(len(places))[: config.sample]
    again = [
        every[number]._replace(blocks=(every[number].blocks[block],))
        for number, block in (places[at] for at in sorted(chosen))
    ]
    for at, (one, parts) in zip(sorted(chosen), play_contests(again, agents, config, entry["seed"]), strict=True):
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


def _another(config: CheckEntryConfig, entry: Mapping[str, Any], found: Sequence[str]) -> TrainingError:
    who = config.agent or entry["agent"]
    return TrainingError(f"{who} is not the agent of this entry: its digests are {', '.join(found)}")


def field_of(agents: Mapping[str, Agent], rules: Rules) -> dict[str, list[str]]:
    """Return the digests of every agent in the field; see `agent_digests`."""
    return {one: agent_digests(one, agents[one], rules) for one in POOL}


def read_entry(path: Path) -> tuple[Rules, dict[str, Any]]:
    """Read an entry, and check that its digest, seed and numbers follow from the rest of it.

    Returns:
        The rules, and everything in the entry.

    Raises:
        TrainingError: these do not follow, deals are missing or there twice, or the file is not an entry.
    """
    try:
        entry: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        _check_name(entry["name"])
        rules, deals = read_rules(entry["variant"], entry["knobs"]), entry["deals"]
        asked: dict[str, Any] = {"format": _FORMAT, "digest": digest_of(entry)}
        asked |= {"commitment": commitment_of(entry), "seed": seed_of(entry), "version": rules.version}
        is_whole = type(deals) is int and deals == sum(len(one["points"]) for one in entry["contests"][0]["blocks"])
        wrong = [name for name, value in asked.items() if entry[name] != value]
        if is_whole := is_whole and _is_whole(rules, entry["contests"], deals):
            found = strength(rules, entry["contests"])
            wrong += [name for name, one in found.items() if not _is_alike(estimate(entry[name]), Estimate(**one))]
        texts = [entry[name] for name in ("agent", "date", "mahjong_env", *(["beacon"] if entry["beacon"] else []))]
        texts += [*entry["digests"], *chain.from_iterable(entry["field"][one] for one in POOL)]
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise ValueError("a value that must be a line of text is something else")
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, ArithmeticError) as error:
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
    """Return whether these are the contests of an entry, with each of its deals once and in order."""
    anybody = RandomAgent()
    every = contests_of(rules, {"newcomer": anybody} | dict.fromkeys(POOL, anybody), "newcomer", deals)
    if [list(one.agents[1:]) for one in every] != [one["against"] for one in contests]:
        return False
    for one, kept in zip(every, contests, strict=True):
        first = one.blocks[0].first
        for block in kept["blocks"]:
            size = len(block["points"])
            if (block["first"], block["last"]) != (first, first + size) or len(block["with_luck"]) != size or not size:
                return False
            first += size
        if first != one.blocks[-1].last:
            return False
    return True


def write_page(config: PageConfig) -> None:
    """Rewrite the tables of the leaderboard page."""
    text = page(config)
    standing.write_page(config.page, text)
    standing.write_pictures(config.page.parent, Kept.read(config.kept).rows)
    print(f"written: {config.page}")


def page(config: PageConfig) -> str:
    """Return the tables of the kept standings, followed by the table of qualifying entries, the newest first.

    Raises:
        TrainingError: there are no standings, or an entry is not as it says; see `read_entry`.
    """
    if not config.kept.is_file():
        raise TrainingError(f"{config.kept}: there are no standings")
    parts = [standing.page(Kept.read(config.kept).rows)]
    rows = []
    for path in sorted(config.entries.glob("*.json")):
        rules, entry = read_entry(path)
        if not entry["beacon_was_given"] or entry["deals"] < LEAST:
            print(f"{path}: not shown; the table takes entries with a given beacon and {LEAST:,} deals or more of each")
            continue
        points, at_mixed = (standing.cell(estimate(entry[name])) for name in ("points", "mixed"))
        house = f" ({', '.join(entry['knobs'])})" if entry["knobs"] else ""
        who = [_in_a_cell(entry["date"]), f"{entry['name']}: `{_in_a_cell(entry['agent'])}`", rules.title + house]
        former = replaced(entry["field"], field_of({one: make_agent(one) for one in POOL}, rules))
        field = f"with another {', '.join(former)}" if former else "that of today"
        rows.append([*who, points, at_mixed, field, f"{entry['deals']:,}", f"`{entry['digest'][:16]}`"])
    head = ["date", "entry", "variant", f"against {_DUEL}", f"at {_MIXED}", "field", "deals of each", "digest"]
    if rows:
        parts.append("Entries from outside:\n\n" + standing.lines(head, sorted(rows, reverse=True)))
    return "\n\n".join(parts)


def _in_a_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


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
    copies = [POOL[0]] * (rules.people - 1)
    duel = Contest.of(rules, agents, [spec, *copies], range(deals), "turns", most=_BLOCK)
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


def strength(rules: Rules, contests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the newcomer's sigma a hand, against copies of the reference agent and at mixed tables."""
    found = {}
    for name, of in (("points", contests[:1]), ("mixed", contests[1:])):
        for key, what in ((name, "points"), (f"{name}_with_luck", "with_luck")):
            by_deal = np.array([points for one in of for block in one["blocks"] for points in block[what]], np.float64)
            found[key] = asdict(ratio(by_deal, np.ones(len(by_deal))).over(sigma(rules)))
    return found


def said_of(rules: Rules, entry: Mapping[str, Any]) -> str:
    """Return a summary of an entry for the terminal."""
    against, at_mixed = (estimate(entry[name]).text(3, sign="+") for name in ("points", "mixed"))
    luck = ", ".join(f"{entry[f'{name}_with_luck']['mean']:+.3f}" for name in ("points", "mixed"))
    who = "from outside" if entry["beacon_was_given"] else "drawn by this command"
    return (
        f"{entry['name']} ({entry['agent']}) in {rules.title}: {against} sigma a hand against {_DUEL} "
        f"({reference_agent(rules).name}), {at_mixed} at {_MIXED}\n({entry['deals']:,} deals each, 95 %; with "
        f"luck, where that was taken off, {luck}; beacon {who})"
    )


def _check_name(name: str) -> None:
    if not any(map(str.isalnum, name)) or not all(letter.isalnum() or letter in "-_." for letter in name):
        raise TrainingError(f"--name may have letters, digits and -_. only (and not -_. alone), not {name!r}")


def _file_name(config: SubmitConfig) -> str:
    _check_name(config.name)
    return f"{config.variant}-{config.name}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
