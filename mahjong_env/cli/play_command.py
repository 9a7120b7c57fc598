"""``play``: Play against agents yourself, on the terminal or in a browser."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Lock
from typing import Any

import numpy as np

from mahjong_env.basics.actions import ACTIONS
from mahjong_env.basics.errors import MahjongError
from mahjong_env.basics.notation import LEGEND
from mahjong_env.basics.tiles import NUM_KINDS
from mahjong_env.cli.arguments import (
    add_game,
    add_rules,
    check_left_out,
    check_record,
    read_agents,
    read_rules,
    read_seed,
)
from mahjong_env.cli.terminal import say, width
from mahjong_env.drawing.table import WINDS, person_name
from mahjong_env.drawing.text import (
    WIDTH,
    Deed,
    Reader,
    counted,
    deeds,
    has_colour,
    kong_text,
    legal_text,
    outcome_text,
    standings_text,
    table_text,
)
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult, hand_info
from mahjong_env.environments.agents import Opponent, agent_names, find_agent
from mahjong_env.observation.view import View
from mahjong_env.play.games import reviewer
from mahjong_env.play.hints import why_not
from mahjong_env.play.lobby import Lobby, person_at
from mahjong_env.play.match import PersonsMatch, review_command, show_command
from mahjong_env.play.server import PlayServer
from mahjong_env.play.words import aim, matching
from mahjong_env.records import GameRecord, RecordWriter, count_records, nth_record
from mahjong_env.ruleset.questions import Rules
from mahjong_env.ruleset.registry import VARIANTS

HELP = """\
write a tile to discard it (5m), or an action (pung, chow low, kong, added kong 5m, win, pass);
the beginning of a word is enough. hint: what an agent would do; ?: this, and what the table means; q: leave"""
_HINTS = "greedy"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_rules(parser, required=False)
    add_game(parser, "agents that play the other seats")
    parser.set_defaults(agents=None)  # a match that goes on has its own
    parser.add_argument("--seat", type=int, default=0, help="which player you are, counted from 0 (default: 0)")
    parser.add_argument("--hints", metavar="AGENT", help=f"agent that you ask for hints (default: {_HINTS})")
    browser = parser.add_argument_group("in a browser")
    about = "play on a page in this machine's browser; without --variant you choose the game there"
    browser.add_argument("--browser", action="store_true", help=about)
    about = "continue a recorded match (.jsonl) on a page, against the same agents unless --agents names others"
    browser.add_argument("--from", dest="file", metavar="RECORD", help=about)
    browser.add_argument("--match", type=int, default=1, help="which match of that file, counted from 1 (default: 1)")
    browser.add_argument("--at", type=int, default=0, help="number of actions after which you take over (default: 0)")
    browser.add_argument("--port", type=int, default=0, help="port of the page's server (default: any free one)")
    browser.add_argument("--no-open", action="store_true", help="only print the page's address, and do not open it")


def run(chosen: argparse.Namespace) -> int:
    """Play one match, or those that a browser asks for."""
    seed, begun = read_seed(chosen), None
    if chosen.file is not None:
        if not chosen.browser:
            raise MahjongError("--from needs --browser: a match goes on in a page")
        check_left_out(chosen, "a match has its own rules and hands", variant=None, knob=[], num_hands=1)
        begun = nth_record(chosen.file, chosen.match), chosen.at
    elif chosen.variant is None and (not chosen.browser or chosen.knob):
        raise MahjongError(
            f"--variant names what is played: {', '.join(sorted(VARIANTS))}; --browser alone lets you choose"
        )
    elif chosen.variant is None:
        check_left_out(chosen, "without --variant you choose these on the page", agents=None, seat=0, num_hands=1)
    if begun is None:
        check_left_out(chosen, "only a recorded match (--from) is taken over", match=1, at=0)
    if not chosen.browser:
        check_left_out(chosen, "only --browser has a page", port=0, no_open=False)
    rules = begun[0].rules if begun is not None else None if chosen.variant is None else read_rules(chosen)
    if rules is not None and not 0 <= chosen.seat < rules.people:
        raise MahjongError(f"--seat is a person from 0 to {rules.people - 1}, not {chosen.seat}")
    if not 0 <= chosen.port < 2**16:
        raise MahjongError(f"--port is an integer from 0 to {2**16 - 1}, not {chosen.port}")
    check_record(chosen)
    hints = _OneAtATime(find_agent(chosen.hints or (_HINTS if _HINTS in agent_names() else "random")))
    if chosen.agents is None:
        chosen.agents = ["random"] if begun is None else _those_of(begun[0], chosen.seat)
    # Wrong names are found before anything is done.
    agents = [] if rules is None else _seated(chosen.agents, chosen.seat, rules)
    kept = None if chosen.record is None else _Kept(chosen.record)
    try:
        if chosen.browser:
            _serve(chosen, rules, seed, kept, hints, begun)
        elif rules is not None:
            say(f"seed {seed}; you are {person_name(chosen.seat)}", HELP, LEGEND, "")
            settings: dict[str, Any] = {"hints": hints, "write": kept, "thoughts": chosen.thoughts}
            begin = partial(PersonsMatch, rules, agents, seed=seed, num_hands=chosen.num_hands, **settings)
            play(begin, Reader(chosen.seat, chosen.unicode), colour=has_colour())
    finally:  # Ctrl-C leaves the table, too
        print("add --record FILE to watch a match again and review it" if kept is None else kept.told())
    return 0


def _seated(names: Sequence[str], person: int, rules: Rules) -> list[Opponent | None]:
    """The agents by person, None for the person at the table."""
    others = read_agents(names, rules.people - 1)
    return [*others[:person], None, *others[person:]]


def _those_of(record: GameRecord, person: int) -> list[str]:
    """The names of a recorded match's agents without the person's; ["random"] if it names none.

    An address or a command line in a record is not followed: the file would choose what runs on this machine.
    """
    names = [name for number, name in enumerate(record.agents) if number != person]
    unknown = sorted(set(names) - set(agent_names()))
    if unknown:
        raise MahjongError(
            f"this match was played by {', '.join(map(repr, unknown))}, which cannot be seated by name: "
            "name the agents of the other seats with --agents"
        )
    return names or ["random"]


def _can_play(name: str) -> bool:
    """Whether an agent can be made from its name alone; some need a file."""
    try:
        find_agent(name)
    except MahjongError:
        return False
    return True


class _OneAtATime:
    """An agent that several matches share, which answers one at a time; each page has a thread of its own."""

    def __init__(self, agent: Opponent) -> None:
        self._agent, self._lock = agent, Lock()
        if hasattr(agent, "explain"):
            self.explain = self._explain

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def act(self, view: View, rng: np.random.Generator) -> Any:
        with self._lock:
            return self._agent.act(view, rng)

    def _explain(self, view: View, rng: np.random.Generator) -> Any:
        with self._lock:
            return getattr(self._agent, "explain")(view, rng)  # noqa: B009  not every agent has it


class _Kept:
    """Appends records to a file, whole lines at a time, and returns the number of the last match in it, from 1."""

    def __init__(self, path: str) -> None:
        self._path, self._person, self._lock = path, 0, Lock()
        self._first, self._match = 0, 0

    def __call__(self, *records: GameRecord) -> int | None:
        with self._lock:  # matches of several pages may end at the same time
            if records:
                with RecordWriter(self._path) as writer:
                    writer.write(*records)
                self._match, self._person = count_records(self._path), records[-1].agents.index("you")
                self._first = self._first or self._match
            return self._match or None

    def told(self) -> str:
        """Say which matches of the file have been played, and which commands show and review the last one."""
        if not self._match:
            return f"nothing was played, and nothing was added to {self._path}"
        several = f"matches {self._first} to {self._match} of {self._path}; to watch the last one again"
        one = f"match {self._match} of {self._path}; to watch it again"
        return (
            f"{one if self._first == self._match else several}, and to review your choices:\n"
            f"{show_command(self._path, self._match)}\n{review_command(self._path, self._match, self._person)}"
        )


def _serve(
    chosen: argparse.Namespace,
    rules: Rules | None,
    seed: int,
    kept: _Kept | None,
    hints: Opponent,
    begun: tuple[GameRecord, int] | None,
) -> None:
    """Answer a browser until Ctrl-C; every match has the next seed and agents of its own, or goes on from ``begun``."""
    seeds = count(seed)

    def begin(rules: Rules, names: Sequence[str], person: int, num_hands: int, seed: int) -> PersonsMatch:
        settings: dict[str, Any] = {"num_hands": num_hands, "hints": hints, "thoughts": chosen.thoughts}
        agents, file = _seated(names, person, rules), chosen.record or ""
        return PersonsMatch(rules, agents, seed=seed, **settings, write=kept, file=file, begun=begun)

    def chosen_in_lobby(rules: Rules, name: str, seat: int, num_hands: int) -> PersonsMatch:
        seed = next(seeds)
        return begin(rules, [name], person_at(rules, seed, seat), num_hands, seed)

    new_match: Callable[[], PersonsMatch] | Lobby
    if rules is None:
        names = tuple(name for name in agent_names() if _can_play(name))
        new_match = Lobby(names, chosen_in_lobby, hints)
        new_match.offer  # noqa: B018  (made before anybody waits for it)
    else:

        def deal() -> PersonsMatch:
            return begin(rules, chosen.agents, chosen.seat, chosen.num_hands, next(seeds))

        # The first match is dealt before anybody waits for it: tables are computed when they are first needed.
        dealt = [deal()]
        if dealt[0].waits_for == "answer":
            dealt[0].hint(0)

        def new_match() -> PersonsMatch:
            with suppress(IndexError):
                return dealt.pop()
            return deal()

    with PlayServer(new_match, port=chosen.port, reviewer=reviewer()) as server:
        print(f"seed {seed}; play at {server.url}\nCtrl-C ends the program", flush=True)
        if not chosen.no_open:
            webbrowser.open(server.url)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
        print()


def play(
    begin: Callable[..., PersonsMatch], you: Reader, *, colour: bool = False, read: Callable[[str], str] = input
) -> None:
    """Play a match at the terminal.

    Args:
        begin: begins the match, given a function ``tell`` that describes what happens in it.
        you: the person at the terminal.
        colour: write in colour.
        read: reads a line, given a prompt.
    """
    say_in_colour = partial(say, colour=colour)
    has_begun = False

    def show(engine: Engine, person: int | None) -> None:
        print(table_text(engine, person=person, unicode=you.unicode, colour=colour, width=width(WIDTH)))

    def tell(engine: Engine, what: Deed | list[int] | StepResult | None) -> None:
        nonlocal has_begun
        if isinstance(what, StepResult):
            ended, receipt = hand_info(what.outcome, 0), what.outcome.receipts[0]
            say_in_colour(outcome_text(ended, you, engine.rules, receipt))
            return
        if isinstance(what, list):
            say_in_colour(kong_text(what, you))
            return
        if what is None and not has_begun:
            say_in_colour(situation_text(engine, you), "")
        if what is None and you.person not in engine.state.person_at[0]:  # who sits out will not be asked
            show(engine, you.person)
        has_begun = True
        done = deeds(engine.view(seats=you.person)) if what is None else [what]
        say_in_colour(*(f"{you.name(deed[1])} {you.deed(*deed)}" for deed in done))

    match = begin(tell=tell)
    try:
        while match.waits_for != "over":
            if match.waits_for == "next":
                match.next_hand(match.position)
                continue
            show(match.engine, you.person)
            answer = ask_person(match, read, you, say_in_colour)
            if answer is None:
                say_in_colour("you have left the table")
                return
            match.answer(match.position, answer)
    finally:
        match.leave()
        if match.waits_for == "over":  # also where its record cannot be written
            say_in_colour(standings_text(match.points_by_hand[-1], you), "all hands:")
            show(match.engine, None)


def situation_text(engine: Engine, reader: Reader) -> str:
    """The aim of a hand, and what its headline means: the order of turns, the winds, the streak, the wild tile."""
    state, rules = engine.state, engine.rules
    persons = state.person_at[0].tolist()
    order = " -> ".join(reader.name(person) for person in persons)
    dealer = reader.name(persons[int(state.dealer[0])])
    wind = WINDS[int(state.round_wind[0])]
    lines = [
        *aim(rules),
        f"turns go {order} and round again",
        "a chow is claimed from the player before, everything else from anybody",
        f"{wind} round: {wind} is the round wind; each seat's own wind stands beside its name",
    ]
    streak = int(state.streak[0])
    times = {0: "has just got the deal", 1: "has kept it once", 2: "has kept it twice"}
    kept = times.get(streak, f"has kept it {streak} times")
    is_you = persons[int(state.dealer[0])] == reader.person
    kept = kept.replace("has", "have", int(is_you))
    lines.append(f"{dealer} deal{'' if is_you else 's'} and {kept}: the dealer's streak is {streak}")
    if state.wild[0] >= 0:
        turned = f", because {reader.tiles([state.indicator[0]])} was turned up" if state.indicator[0] >= 0 else ""
        lines.append(f"{reader.tiles([state.wild[0]])} is wild{turned}: it stands for any tile of a set or pair")
    if rules.uses_flowers:
        others = np.flatnonzero(rules.flower_kinds[:NUM_KINDS]).tolist()
        which = f"flowers, seasons and {reader.tiles(others)}" if others else "flowers and seasons"
        lines.append(f"{which} are laid open and replaced from the end of the wall")
    return "\n".join(lines)


def ask_person(
    match: PersonsMatch, read: Callable[[str], str], you: Reader, tell: Callable[..., None] = print
) -> str | None:
    """Read one legal action; return None when the person leaves."""
    legal = match.legal()
    while True:
        try:
            text = read("> ")
        except EOFError:
            return None
        except UnicodeDecodeError as error:  # such as half a Chinese character, where the other half has been deleted
            text = error.object.decode(error.encoding, "replace")
        text = " ".join(text.lower().split())
        if text in ("q", "quit"):
            return None
        if text in ("", "?", "help"):
            tell(HELP, LEGEND, situation_text(match.engine, you))
            text = ""
        elif text in ("h", "hint"):
            tell(_hint(match.hint(match.position)))
            continue
        fits = matching(text, legal)
        if len(fits) == 1:
            return fits[0]
        if not fits and text:
            tell(_refusal(match.engine, text))
        tell(f"you may {legal_text(map(ACTIONS.index, fits or legal), you.unicode)}")


def _refusal(engine: Engine, text: str) -> str:
    """The reason why the written action is refused."""
    meant = matching(text, ACTIONS)
    if not meant:
        return f"{text!r} is neither a tile nor an action; type ? to see what you can enter"
    return f"no {text} is possible now" if len(meant) > 1 else why_not(engine, ACTIONS.index(meant[0]))


def _hint(told: dict[str, Any]) -> str:
    """What `PersonsMatch.hint` tells, in one line."""
    action = told["advice"]
    verb, _, rest = action.partition(" ")
    words = {"chow": f"claim a chow ({action})", "concealed": f"declare a {action}", "added": f"declare an {action}"}
    would = words.get(verb, f"claim the {verb}" if verb in ("pung", "kong") else f"{verb} {rest}".strip())
    after = next((one for one in told["prospects"] if one["action"] == action), None)
    if after is None:
        return f"{told['agent']} would {would}"
    helps = f"{counted(after['tiles'], 'unseen tile')} {'helps' if after['tiles'] == 1 else 'help'}"
    return f"{told['agent']} would {would}: then {after['distance']} from a win, {helps}"
