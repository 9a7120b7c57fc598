"""Agents in a process of their own, in which there is no table to read: `isolated:AGENT`.

No attribute of a view leads to its table, but Python hides nothing in a process from code that looks for it (closures,
frames, the garbage collector). Agents whose code nobody has read can therefore be asked in another process. That
process receives one world of each position (`View.worlds`), in which everything that the seat has not seen has been
drawn anew. The views of that world are those of the table, and so are the worlds drawn from it, because they depend
only on what the seat has seen; anything else that an agent digs up there is made up. The answers come back as JSON,
which, unlike a pickle, executes nothing here.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from mahjong_env.basics.errors import AgentError
from mahjong_env.environments.agents import find_agent
from mahjong_env.observation.view import View

PREFIX: Final = "isolated:"
_LONGEST: Final = 2**28  # bytes of an answer


class IsolatedAgent:
    """An agent that is made and asked in a process of its own, which ends with this object or the calling process.

    Attributes:
        name: ``isolated:`` and the name of the agent.
        games_at_once: that of the agent, if it has one; see `mahjong_agents.base.games_at_once`.
        kind: the module and the name of its class.
        file: the file of that module, "" if there is none.
    """

    def __init__(self, agent: str) -> None:
        """Start the process, which makes the agent from the text that describes it.

        Raises:
            AgentError: the agent cannot be made.
        """
        self._agent = agent
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(agent, theirs), daemon=True)
        self._process.start()
        theirs.close()
        made = self._reply()
        self.name, self.file = f"{PREFIX}{made.get('name')}", str(made.get("file"))
        self.kind = (str(made.get("module")), str(made.get("class")))
        if type(made.get("games_at_once")) is int:
            self.games_at_once: int = made["games_at_once"]

    def act(self, view: View, rng: np.random.Generator) -> Any:
        """Let the agent choose [n] actions; ``rng`` is sent along, and comes back as the agent has left it."""
        table = view.worlds(1, np.random.default_rng(0))
        try:
            self._pipe.send((table, _unseeded(rng)))
            answer = self._reply()
        except OSError:
            raise self._ended() from None
        except BaseException:  # a late answer would be taken for the answer to another question
            self._process.kill()
            raise
        try:
            rng.bit_generator.state = answer["chance"]
            return np.asarray(answer["actions"])
        except Exception as error:  # other generators and numpy raise different errors for what they cannot read
            raise AgentError(
                f"the agent {self._agent!r}, in a process of its own, sent something that is not an answer"
            ) from error

    def _reply(self) -> dict[str, Any]:
        try:
            answer = json.loads(self._pipe.recv_bytes(_LONGEST))
        except (EOFError, OSError):
            raise self._ended() from None
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            answer = {"error": "it sent something that is not an answer"}
        if "error" in answer:
            raise AgentError(f"the agent {self._agent!r}, in a process of its own: {answer['error']}")
        return answer

    def _ended(self) -> AgentError:
        self._process.join(5)
        return AgentError(f"the process of the agent {self._agent!r} has ended (exit code {self._process.exitcode})")

    def __reduce__(self) -> tuple[Any, ...]:
        """Make a copy with a process of its own."""
        return IsolatedAgent, (self._agent,)


def _unseeded(rng: np.random.Generator) -> np.random.Generator:
    """Return the same generator without the seed that it comes from, which may also have dealt the tables."""
    if type(rng) is not np.random.Generator:
        return rng  # this project's own generators decide for themselves what is sent
    seed = rng.bit_generator.seed_seq
    bits = type(rng.bit_generator)(np.random.SeedSequence(seed.generate_state(4).tolist()))
    bits.state = rng.bit_generator.state
    return np.random.Generator(bits)


# --- In the other process -----------------------------------------------------------------------------------------


def _serve(spec: str, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks; this one ends with it
    del sys.argv[1:]  # a command line may contain the seed of the deals
    try:
        agent: Any = find_agent(spec)
        kind = type(agent)
        made = {
            "name": agent.name,
            "games_at_once": getattr(agent, "games_at_once", None),
            "module": kind.__module__,
            "class": kind.__qualname__,
            "file": getattr(sys.modules.get(kind.__module__), "__file__", None) or "",
        }
        _tell(pipe, made)
    except Exception as error:
        _tell(pipe, {"error": str(error)})
        return
    while True:
        try:
            table, rng = pipe.recv()
        except EOFError:
            return
        try:
            actions = np.asarray(agent.act(table.view(), rng))
            _tell(pipe, {"actions": actions.tolist(), "chance": rng.bit_generator.state})
        except Exception as error:  # other people's code may raise anything
            where = traceback.extract_tb(error.__traceback__)[:2][-1]  # the first line below this function
            _tell(pipe, {"error": f"{type(error).__name__}: {error} ({where.filename}, line {where.lineno})"})


def _tell(pipe: Connection, answer: dict[str, Any]) -> None:
    pipe.send_bytes(json.dumps(answer, default=lambda array: array.tolist()).encode())
