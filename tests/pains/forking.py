"""Commands in copies of one process that has loaded everything: real processes that start at once.

Started as a program of its own. Requests come in on standard input, one JSON object a line: {cwd, words,
out} starts a command whose two streams go into a file and answers {pid}; {wait} answers {code}, the
exit status as `subprocess` has it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import nika_nb
from nika_nb.cli import check, run  # noqa: F401 - what the command would load while it is timed
from nika_nb.cli.main import main
from nika_nb.providers.base import ChatReply, ChatRequest, Say, ToolCall
from nika_nb.providers.registry import MAKERS
from tests.asking import Asked


class Slow:
    """A model that calls its first tool once and then thinks for ever."""

    async def chat(self, request: ChatRequest, say: Say) -> ChatReply:
        if any(message.calls for message in request.messages):
            say("thinking")
            await asyncio.sleep(3600)
        return ChatReply("", 1, 1, calls=(ToolCall("c1", request.tools[0].name, {"message": "m"}),))


def _command(request: dict[str, Any], ready: int) -> None:
    code = 1
    try:
        _move(request)
        os.close(ready)
        code = main(request["words"])
    except KeyboardInterrupt:  # before the command could begin
        code = 130
    except BaseException as error:  # noqa: BLE001 - told to whoever reads the file
        traceback.print_exception(error)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _move(request: dict[str, Any]) -> None:
    """Into a session and a folder of its own, its streams to a file."""
    os.setsid()
    os.chdir(request["cwd"])
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, descriptor in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(stream, descriptor)


def _begun(request: dict[str, Any]) -> int:
    """The process of a command, once it is there: a signal right behind a fork is forgotten by Python."""
    there, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        _command(request, ready)
    os.close(ready)
    os.read(there, 1)
    os.close(there)
    return pid


def _serve() -> None:
    MAKERS["xai"] = Slow
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            said = {"code": os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])}
        else:
            said = {"pid": _begun(request)}
        print(json.dumps(said), flush=True)


_WARMING = """\
nika: warm
model: xai/slow
permits: {exec: ["true"]}
tasks:
  a: {exec: {command: ["true"]}}
  b: {invoke: {tool: "nika:jq", args: {input: 1, expression: "."}}, extract: {x: "[.] | length"}}
  c: {agent: {prompt: p, tools: ["nika:log"]}, timeout: 50ms, on_error: {recover: x}}
"""


def _warm() -> None:
    """One run before the first fork, so that every copy finds its modules loaded."""
    MAKERS["xai"] = Slow
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        nika_nb.run(_WARMING)


class Forking(Asked):
    """The asking side."""

    def __init__(self) -> None:
        super().__init__("tests.pains.forking")

    def start(self, *words: str, cwd: Path, out: Path) -> int:
        """The process id of a command that was started."""
        return int(self.ask({"cwd": str(cwd), "words": list(words), "out": str(out)})["pid"])

    def wait(self, pid: int) -> int:
        return int(self.ask({"wait": pid})["code"])


if __name__ == "__main__":
    _warm()
    _serve()
