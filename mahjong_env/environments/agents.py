"""Agents: what they are, how they are found by name or address, and how they are seated, asked and checked.

A distribution registers an agent in the entry-point group `mahjong_env.agents`, under the name that users write::

    [project.entry-points."mahjong_env.agents"]
    cautious = "cautious_mahjong:CautiousAgent"

This is the only place that knows names: environments, command lines, training and `mahjong_agents.make_agent` all ask
here. Your own networks, rewards and added inputs are also found here, by address (``module:Name``, ``file.py:Name``).
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Protocol, Union, get_args, get_origin, runtime_checkable

import numpy as np

from mahjong_env.basics import plugins
from mahjong_env.basics.actions import ACTIONS, NUM_ACTIONS
from mahjong_env.basics.errors import ActionError, AgentError, AnswerError, MahjongError, did_you_mean
from mahjong_env.basics.types import BoolArray, Games, Int8Array, Int64Array
from mahjong_env.engine.batch import Engine
from mahjong_env.engine.outcome import StepResult
from mahjong_env.observation.view import View

Annotation = Mapping[str, Any]
"""An agent's reasons for one choice: "probabilities", "values" and "value" of `GameRecord.notes`."""


@runtime_checkable
class Opponent(Protocol):
    """Anything that can sit at a table; an attribute ``name`` is what messages and tables call it."""

    def act(self, view: View, rng: np.random.Generator) -> Any:
        """Choose [n] legal actions for the n seats of a view."""
        ...


@runtime_checkable
class ExplainingAgent(Opponent, Protocol):
    """An opponent that can also explain its choices."""

    def explain(self, view: View, rng: np.random.Generator) -> tuple[Any, Sequence[Annotation | None]]:
        """Choose [n] actions as `act` does, with the same randomness, and for each a note for its record, or None."""
        ...


class RandomAgent:
    """Plays any legal action with equal probability, wins and passes included."""

    name = "random"

    def act(self, view: View, rng: np.random.Generator) -> Int64Array:
        """Choose [n] actions."""
        return choose_at_random(view.action_mask, rng)


def choose_at_random(mask: BoolArray, rng: np.random.Generator) -> Int64Array:
    """Draw one True of every row of a mask [n, A], all equally likely: [n] int64; takes n random numbers.

    Raises:
        ActionError: a row has no True.
    """
    n, width = mask.shape
    legal = np.flatnonzero(mask)
    count = np.bincount(legal // width, minlength=n)
    check_asked(count)
    first = count.cumsum() - count
    chosen: Int64Array = legal[first + (rng.random(n) * count).astype(np.int64)] % width
    return chosen


def check_asked(legal: Int64Array) -> None:
    """Check that every row of a mask allows an action, given how many it allows: [n].

    Raises:
        ActionError: a row allows none.
    """
    if not legal.all():
        raise ActionError(f"row {int(legal.argmin())} of the mask allows no action: nobody is to act there")


def agent_name(agent: Any) -> str:
    """Return the name of an agent for messages: its ``name``, or that of its class."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) else type(agent).__name__


# --- Asking ----------------------------------------------------------------------------------------------------------


def choose_actions(
    engine: Engine,
    games: Games,
    agents: Sequence[Opponent],
    who: Games,
    rng: np.random.Generator,
    thoughts: MutableMapping[int, Annotation] | None = None,
) -> Int64Array:
    """Return [n] the legal actions that agents choose for the seats to act in [n] games, in one call for each agent.

    Args:
        engine: the tables.
        games: [n] games that wait for an action.
        agents: the agents that play.
        who: [n] the number of the agent that plays in each game.
        rng: the source of randomness.
        thoughts: a mapping to be filled, by number of the game, with the annotations of agents that explain
            (`ExplainingAgent`).

    Raises:
        AnswerError: an answer has another shape or type, or is not legal.
    """
    if len(agents) == 1:
        return ask(agents[0], engine, games, rng, thoughts)
    actions = np.zeros(len(games), np.int64)
    for number, agent in enumerate(agents):
        rows = np.flatnonzero(who == number)
        if rows.size:
            # Each agent gets a view of its own games: a view of all games would have to be copied in parts.
            actions[rows] = ask(agent, engine, games[rows], rng, thoughts)
    return actions


def ask(
    agent: Opponent,
    engine: Engine,
    games: Games,
    rng: np.random.Generator,
    thoughts: MutableMapping[int, Annotation] | None = None,
) -> Int64Array:
    """Return [n] the legal actions that one agent chooses for the seats to act; see `choose_actions`."""
    if type(agent) is RandomAgent:  # it needs no view
        return choose_at_random(engine.state.mask.take(games, axis=0), rng)
    try:
        if thoughts is not None and isinstance(agent, ExplainingAgent):
            answers, notes = agent.explain(engine.view(games), rng)
            thoughts.update((game, note) for game, note in zip(games.tolist(), notes, strict=True) if note)
        else:
            answers = agent.act(engine.view(games), rng)
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        first = f"game {games[0]}, seat {engine.seat_to_act[games[0]]}"
        asked = f"the agent {agent_name(agent)!r} was asked for {len(games)} seats, the first of them in {first}"
        if isinstance(error, SystemExit):  # the command would end as if it were done
            raise AgentError(f"{asked}, and called sys.exit({error.code!r}) instead of answering") from error
        error.add_note(asked)
        raise
    actions = _whole_numbers(agent, answers, engine, games)
    inside = (actions >= 0) & (actions < NUM_ACTIONS)
    legal = inside & engine.state.mask[games, np.where(inside, actions, 0)]
    if not legal.all():
        row = int(legal.argmin())
        game, number = int(games[row]), int(actions[row])
        called = f"{ACTIONS[number]!r} ({number})" if inside[row] else str(number)
        valid = ", ".join(repr(ACTIONS[legal]) for legal in np.flatnonzero(engine.action_mask[game]))
        raise AnswerError(
            f"the agent {agent_name(agent)!r} answered {called} in game {game}, seat {engine.seat_to_act[game]}, "
            f"which is not legal there; legal are {valid}",
            game,
        )
    return actions


def ask_alone(
    agent: Opponent, engine: Engine, rng: np.random.Generator, thoughts: MutableMapping[int, Annotation] | None = None
) -> int:
    """Return the legal action that an agent chooses in an engine of one game; see `choose_actions`."""
    return int(ask(agent, engine, np.zeros(1, np.intp), rng, thoughts)[0])


def _whole_numbers(agent: Any, answers: Any, engine: Engine, games: Games) -> Int64Array:
    """Return an agent's answers for the seats to act in [n] games as [n] integers, or raise `AnswerError`."""
    try:
        actions = np.asarray(answers)
    except ValueError:  # lists of unequal lengths
        actions = np.asarray(None)
    is_masked = isinstance(answers, np.ma.MaskedArray)  # its hidden values would be played
    if actions.shape == (len(games),) and actions.dtype.kind in "iu" and not is_masked:
        return actions.astype(np.int64, copy=False)
    form = "a masked array of " if is_masked else ""
    row, what = 0, f"{form}{actions.dtype} of shape {actions.shape} for {len(games)} seats, the first of them"
    if actions.shape == (len(games),) and actions.dtype.kind == "f":
        is_whole = np.isfinite(actions) & (actions == np.rint(actions))
        if not is_whole.all():
            row = int(is_whole.argmin())
            what = f"{actions[row]}"
    game = int(games[row])
    raise AnswerError(
        f"the agent {agent_name(agent)!r} answered {what} in game {game}, seat {engine.seat_to_act[game]}; "
        "act(view, rng) answers one integer action for each seat",
        game,
    )


class Turn(NamedTuple):
    """One step of several games: [n] games, int8 seats that acted, their actions, and the result."""

    games: Games
    seats: Int8Array
    actions: Int64Array
    result: StepResult


def play_to_end(
    engine: Engine,
    choose: Callable[[Games, Int8Array], Int64Array],
    step: Callable[..., StepResult] | None = None,
) -> Iterator[Turn]:
    """Play all games of an engine to their end, and yield every step; the engine must not deal finished games anew.

    Args:
        engine: the games.
        choose: returns [n] legal actions for games [n] and the seats [n] that are to act there (`choose_actions`).
        step: steps the games instead of ``engine.step``, such as that of a recorder.
    """
    step = step or engine.step
    while (games := np.flatnonzero(engine.seat_to_act >= 0)).size:
        seats = engine.seat_to_act[games]
        actions = choose(games, seats)
        yield Turn(games, seats, actions, step(actions, games=games))


# --- Addresses -------------------------------------------------------------------------------------------------------

_IN_A_FILE = re.compile(r"(?P<place>.+\.py):(?P<path>[^:]+)")
_IN_A_MODULE = re.compile(r"(?P<place>[A-Za-z_][\w.]*):(?P<path>[A-Za-z_][\w.]*)")

Maker = Callable[..., Any]


@dataclass(frozen=True)
class Kind:
    """A kind of object that users name by its address: agents, networks, rewards, added inputs.

    Attributes:
        word: what messages call it, such as "agent".
        article: the word with its article, such as "an agent".
        error: the class of its errors.
        method: the name of a method that classes of this kind have.
        is_made: whether an object already is of this kind, rather than something that makes one.
        valid: returns the valid texts, for messages.
        is_command: whether a name belongs to an object whose address is a command line (its class's ``is_command``).
    """

    word: str
    article: str
    error: type[MahjongError]
    method: str
    is_made: Callable[[Any], bool]
    valid: Callable[[], str]
    is_command: Callable[[str], bool] = lambda name: False

    def wrong(self, text: str, what: str) -> MahjongError:
        """Return the error that something is wrong with what a text names."""
        return self.error(f"{self.word} {text!r}{what}")


def parse_address(kind: Kind, text: str) -> tuple[str, dict[str, str]]:
    """Read ``ADDRESS?option=value&option=value``: the address, and the options as written.

    In a command line (`Kind.is_command`) the last question mark begins the options, so that it may contain others.
    """
    address, mark, query = text.partition("?")
    if mark and kind.is_command(address.partition(":")[0].strip()):
        address, _, query = text.rpartition("?")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not equals or not key.isidentifier():
            raise kind.wrong(text, f": options are written ?option=value&option=value, not {part!r}")
        if key in options:
            raise kind.wrong(text, f": the option {key!r} is given twice")
        options[key] = value
    return address.strip(), options


def find_maker(kind: Kind, text: str, address: str) -> Maker | None:
    """Return the class or function that an address names; None if it is not the address of a module or a file.

    Raises:
        MahjongError: there is no such module, file or name, or it cannot be loaded.
    """
    if match := _IN_A_FILE.fullmatch(address):
        module = _load_file(kind, text, match["place"])
    elif match := _IN_A_MODULE.fullmatch(address):
        module = _load_module(kind, text, match["place"])
    elif (place := address.removesuffix(":")).endswith(".py"):
        offered = _offered(kind, _load_file(kind, text, place))
        raise kind.wrong(text, f": a class is missing: write {place}:NAME; it offers {offered}")
    else:
        return None
    found: Any = module
    for name in match["path"].strip().split("."):
        if not hasattr(found, name):
            raise kind.wrong(text, f": {module.__name__} has no {name!r}; it offers {_offered(kind, module)}")
        found = getattr(found, name)
    if kind.is_made(found):
        return lambda: found
    if not callable(found):
        raise kind.wrong(text, f": {match['path']} is {found!r}, not a class or a function that makes {kind.article}")
    maker: Maker = found
    return maker


def _load_module(kind: Kind, text: str, place: str) -> ModuleType:
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        if isinstance(error, ModuleNotFoundError) and place.startswith(error.name or "?"):
            what = f"no {kind.word} is called {text!r}, and there is no module {place}; valid are {kind.valid()}"
            raise kind.error(what) from None
        raise kind.wrong(text, f": {place} cannot be imported: {type(error).__name__}: {error}") from error


def _load_file(kind: Kind, text: str, place: str) -> ModuleType:
    path = Path(place).expanduser().resolve()
    if not path.is_file():
        raise kind.wrong(text, f": there is no file {place}")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    # The module is loaded under its own name if that leads to this file, so that other processes can import an agent
    # that is sent to them. If another module bears that name, it is loaded under a name of its own.
    name = f"found_in_{re.sub(r'[^0-9A-Za-z]', '_', str(path))}"
    try:
        found = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
        if found is not None and found.origin is not None and Path(found.origin).resolve() == path:
            return importlib.import_module(path.stem)
        if name not in sys.modules:
            spec = spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise ImportError("it is not a Python file")
            sys.modules[name] = module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        sys.modules.pop(name, None)
        raise kind.wrong(text, f": {place} cannot be run: {type(error).__name__}: {error}") from error


def _offered(kind: Kind, module: ModuleType) -> str:
    """Return the names in a module that make objects of a kind, for messages."""
    own = {name: each for name, each in vars(module).items() if getattr(each, "__module__", None) == module.__name__}
    fitting = (name for name, each in own.items() if hasattr(each, kind.method) or inspect.isfunction(each))
    return ", ".join(name for name in fitting if not name.startswith("_")) or "none"


def make(kind: Kind, text: str, maker: Maker, argument: str | None, options: Mapping[str, str]) -> Any:
    """Call a maker with the argument and the options behind its name, converted to the types that it asks for.

    Raises:
        MahjongError: the maker does not take them, or fails; its own errors of this class are passed on.
    """
    try:
        parameters = list(_signature(maker).parameters.values())
    except (TypeError, ValueError) as error:  # raised for some makers written in C
        raise kind.wrong(text, f" cannot be made: {error}") from error
    positional = [each for each in parameters if each.kind <= inspect.Parameter.VAR_POSITIONAL]
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    types = {each.name: each.annotation for each in parameters if each.kind in by_name}
    needed = {each.name for each in parameters if each.default is inspect.Parameter.empty} & types.keys()
    arguments = []
    if argument is not None:
        if not positional:
            raise kind.wrong(text, f": it takes nothing after the colon, not {argument!r}")
        name, wanted = positional[0].name, positional[0].annotation
        if name in options:
            raise kind.wrong(text, f": {name!r} is given twice")
        is_typed = wanted is not inspect.Parameter.empty
        arguments.append(_value(kind, text, name, argument, wanted) if is_typed else argument)
        needed -= {name}
    unknown = [name for name in options if name not in types]
    if unknown and not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        raise kind.wrong(text, f" has no option {unknown[0]!r}; its options are: {', '.join(types) or 'none'}")
    for name in types:
        if name in needed - options.keys():
            written = f":{name.upper()}" if positional and positional[0].name == name else f"?{name}=..."
            raise kind.wrong(text, f": it needs {name!r}, as in {text.partition('?')[0]}{written}")
    keywords = {
        name: _value(kind, text, name, value, types.get(name, inspect.Parameter.empty))
        for name, value in options.items()
    }
    try:
        return maker(*arguments, **keywords)
    except MahjongError:
        raise
    except (Exception, SystemExit) as error:  # other people's code may raise anything
        raise kind.wrong(text, f" cannot be made: {type(error).__name__}: {error}") from error


def _signature(maker: Maker) -> inspect.Signature:
    """Return the signature of a maker; types that are imported only for the type checker are left out."""
    try:
        return inspect.signature(maker, eval_str=True)
    except NameError:
        found, empty = inspect.signature(maker), inspect.Parameter.empty
        parameters = found.parameters.values()
        return found.replace(
            parameters=[one.replace(annotation=empty) if isinstance(one.annotation, str) else one for one in parameters]
        )


_IN_WORDS: Final[Mapping[Any, str]] = {bool: "true or false", int: "an integer", float: "a number", NoneType: "none"}


def _value(kind: Kind, text: str, name: str, written: str, wanted: Any) -> Any:
    """Return an option's value as the wanted type; types that are not known here check their values themselves."""
    types = get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)
    value = read_value(written)
    valid = []
    for each in sorted(types, key=lambda each: each in (str, Path)):  # these last, as they accept any text
        if each in (str, Path):
            return each(written)
        if get_origin(each) is Literal:
            for choice in get_args(each):
                if str(choice) == written or (choice is None and value is None):
                    return choice
            valid.append(" or ".join(map(str, get_args(each))))
        elif each is float and type(value) is int:
            return float(value)
        elif each not in _IN_WORDS or type(value) is each:
            return value
        else:
            valid.append(_IN_WORDS[each])
    raise kind.wrong(text, f": {name!r} is {' or '.join(valid)}, not {written!r}")


def read_value(text: str) -> Any:
    """Return a value that is written as text: None, true, false, a number, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


# --- Agents by name --------------------------------------------------------------------------------------------------

ENTRY_POINTS: Final = "mahjong_env.agents"
"""The entry-point group in which distributions register agents."""


def agent_names() -> tuple[str, ...]:
    """Return the names that `find_agent` knows, sorted; nothing is loaded."""
    return tuple(sorted({RandomAgent.name, *plugins.installed(ENTRY_POINTS)}))


def find_agent(agent: Any) -> Opponent:
    """Return the agent that a text describes, or the object itself.

    Args:
        agent: an object with ``act(view, rng)``, or one of these texts, any of them with ``?option=value&option=value``
            behind it:

            * ``NAME`` or ``NAME:ARGUMENT``, as in "random", "search?rollouts=64" or "policy:runs/x/best.zip";
            * ``module:Class``, a class (or a function) that makes an agent, in a module that can be imported;
            * ``file.py:Class``, the same in a file. The file's folder is put at the end of ``sys.path``, so that it
              can import its neighbours;
            * ``isolated:AGENT``, any of these in a process of its own, which receives only what a seat may see
              (`mahjong_env.environments.isolated`).

            If a registered name is also that of a module, the registered name is used. Options are checked against
            the types in the signature.

    Raises:
        AgentError: there is no such agent, it cannot be loaded, or it does not take what is behind its name; the
            message lists what is valid. An agent's own errors (`MahjongError`) are passed on.
    """
    if isinstance(agent, type):
        raise AgentError(f"{agent.__name__} is a class; give an agent, such as {agent.__name__}()")
    if not isinstance(agent, str):
        if not isinstance(agent, Opponent):
            raise AgentError(f"{agent!r} is not an agent; valid are {_valid()}")
        return agent
    if agent.strip().startswith("isolated:"):
        from mahjong_env.environments.isolated import PREFIX, IsolatedAgent  # loads multiprocessing only if needed

        return IsolatedAgent(agent.strip().removeprefix(PREFIX))
    address, options = parse_address(KIND, agent)
    made = make(KIND, agent, *_maker(agent, address), options)
    if not _is_agent(made):
        raise AgentError(f"agent {agent!r}: {made!r} is not an agent: it has no act(view, rng)")
    if not isinstance(getattr(made, "name", None), str):  # tables and plots need one
        try:
            setattr(made, "name", agent_name(made))  # noqa: B010 not part of the protocol
        except Exception as error:  # slots, frozen dataclasses, properties: their errors have no common parent
            raise AgentError(f"agent {agent!r}: give its class a `name`, a text; none can be set ({error})") from error
    found: Opponent = made
    return found


def _maker(text: str, address: str) -> tuple[Maker, str | None]:
    """Return the maker of an agent, and the argument behind its name, if there is one."""
    name, colon, argument = address.partition(":")
    own = [None] if name == RandomAgent.name else []
    entries = [*own, *plugins.installed(ENTRY_POINTS).get(name, [])]
    if not entries:
        maker = find_maker(KIND, text, address)
        if maker is None:
            raise AgentError(f"no agent is called {text!r}; valid are {_valid()}{did_you_mean(name, agent_names())}")
        return maker, None
    entry = plugins.only(f"agent {name!r}", entries, AgentError)
    maker = RandomAgent if entry is None else plugins.load(entry, AgentError)
    if not callable(maker):
        owner = plugins.source(entry)
        raise AgentError(f"the agent {name!r} of {owner} is made by calling {maker!r}, which cannot be called")
    return maker, argument if colon else None


def _valid() -> str:
    texts = ", ".join((*agent_names(), "module:Class", "file.py:Class", "isolated:AGENT"))
    return f"{texts}, and in Python objects with act(view, rng)"


def _is_agent(one: Any) -> bool:
    return isinstance(one, Opponent) and not isinstance(one, type)


def _is_command(name: str) -> bool:
    entries = plugins.installed(ENTRY_POINTS).get(name, [])
    return len(entries) == 1 and bool(getattr(plugins.load(entries[0], AgentError), "is_command", False))


KIND: Final = Kind("agent", "an agent", AgentError, "act", _is_agent, _valid, _is_command)
"""Agents, as messages call them."""


# --- Opponents -------------------------------------------------------------------------------------------------------


class OpponentPool:
    """A pool of agents: for each other seat one is drawn, anew for every episode, all equally likely.

    Attributes:
        agents: the agents; the same one may be named several times.
    """

    def __init__(self, agents: Iterable[Any]) -> None:
        """Look the agents up with `find_agent`; raise `AgentError` if there are none."""
        if isinstance(agents, str) or not isinstance(agents, Iterable):
            raise AgentError(f"a pool is made of a list of agents, not of {agents!r}")
        self.agents: tuple[Opponent, ...] = tuple(_find_all(agents))
        if not self.agents:
            raise AgentError("a pool of opponents has at least one agent")

    def __repr__(self) -> str:
        return f"OpponentPool([{', '.join(map(agent_name, self.agents))}])"


def _find_all(agents: Iterable[Any]) -> Iterator[Opponent]:
    """Find agents; a name that occurs twice gives one agent, which then answers for both seats at once."""
    named: dict[str, Opponent] = {}
    for agent in agents:
        found = named.get(agent) if isinstance(agent, str) else None
        found = find_agent(agent) if found is None else found
        if isinstance(agent, str):
            named[agent] = found
        yield found


class Seating:
    """Which agent plays for which person at B tables of P persons, one of whom is the learner.

    Attributes:
        opponents: one agent for each other seat, the next person's first; or a pool.
        agents: the different agents.
        who: [B, P] the number in ``seated`` of the agent that plays for each person; meaningless for the learner.
        seated: the agents that play: ``agents``, once the seats have been drawn anew for them.
    """

    def __init__(self, opponents: Any, num_games: int, people: int) -> None:
        """Take the opponents (see `replace`); `settle` and `sit_down` seat them."""
        self._people = people
        self.who: Games = np.zeros((num_games, people), np.intp)
        self.opponents: tuple[Opponent, ...] | OpponentPool = ()
        self._is_settled = False
        self.replace(opponents)
        self.seated = self.agents

    def replace(self, opponents: Any) -> None:
        """Take other opponents, from the next decision on; if seats have to be drawn anew, `settle` draws them.

        Args:
            opponents: one agent for all seats (see `find_agent`), a list of one for each, or a pool.

        Raises:
            AgentError: an agent is unknown, or the list has another length; nothing has changed.
        """
        before, number = self.opponents, self._people - 1
        if isinstance(opponents, OpponentPool):
            self.opponents, self.agents = opponents, opponents.agents
        else:
            if not isinstance(opponents, Sequence) or isinstance(opponents, str):
                opponents = [find_agent(opponents)] * number
            elif len(opponents) != number:
                valid = f"one agent, or a list of {number} (one for each other seat)"
                raise AgentError(f"opponents are {valid}, not {opponents!r}")
            self.opponents = tuple(_find_all(opponents))
            self.agents = tuple({id(agent): agent for agent in self.opponents}.values())
        are_pools = isinstance(before, OpponentPool) and isinstance(opponents, OpponentPool)
        if self._is_settled and are_pools and len(before.agents) == len(self.agents):  # type: ignore[union-attr]
            self.seated = self.agents
        else:
            self._is_settled = False

    def settle(self, learner: Int8Array, rng: np.random.Generator) -> None:
        """Seat opponents who have not been seated yet; ``learner`` is [B]."""
        if not self._is_settled:
            self.sit_down(np.arange(len(self.who)), learner, rng)

    def sit_down(self, games: Games, learner: Int8Array, rng: np.random.Generator) -> None:
        """Seat the opponents at [n] tables with learners [n] ``learner``, drawing from the pool if it is one."""
        if len(self.agents) == 1:
            self.who[games] = 0
        elif isinstance(self.opponents, OpponentPool):
            self.who[games] = rng.integers(len(self.agents), size=(len(games), self._people))
        else:
            self._seat_in_order(games, learner, self.opponents)
        if len(games) == len(self.who):
            self.seated, self._is_settled = self.agents, True

    def follow(self, learner: Int8Array) -> None:
        """Adjust the seats to new learners ([B]); agents from a pool keep their seats."""
        if not isinstance(self.opponents, OpponentPool):
            self._seat_in_order(np.arange(len(self.who)), learner, self.opponents)
            self.seated, self._is_settled = self.agents, True

    def _seat_in_order(self, games: Games, learner: Int8Array, opponents: Sequence[Opponent]) -> None:
        numbers = {id(agent): number for number, agent in enumerate(self.agents)}
        # By the distance from the learner, who comes last and is not played by an agent.
        at_distance = np.array([*(numbers[id(agent)] for agent in opponents), 0], np.intp)
        distance = (np.arange(self._people) - learner[:, None] - 1) % self._people
        self.who[games] = at_distance[distance]
