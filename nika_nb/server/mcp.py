"""Durable runs as an MCP server over standard input and output: the same operations, for an agent."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import Field

from nika_nb import __version__
from nika_nb.doors import standing_at
from nika_nb.errors import NikaError
from nika_nb.runs.inspecting import Inspection, Unrunnable
from nika_nb.runs.lack import RunBlocked
from nika_nb.runs.records import Status
from nika_nb.runs.request import Vouched
from nika_nb.runs.run import Run
from nika_nb.runs.service import Range, Runs
from nika_nb.runs.session import at_work
from nika_nb.runs.shelf import judge_range
from nika_nb.server.arguments import Shape, fitted, no_tool
from nika_nb.server.progress import Progress

_INSTRUCTIONS = """\
Durable runs of Nika workflows. `run_deployment` starts one and returns when it has stopped: `completed`,
`failed`, or `interrupted` by a question to a human. An interrupted run lists its `prompts`: ask the
human, then `resume_run` with the answers, or with the outcome `declined`. `blocked` and `unrunnable` say
what is missing and how to provide it. A failed run is not resumed. A run that nobody wants any more is
ended with `cancel_run`; giving up the call that started or resumed it ends it as well."""

_LOOK = 0.05  # seconds between looks at a run that is active
_ENDING = 30.0  # seconds that a run gets to end, its cleanups included

RunId = Annotated[str, Field(description="the id of a run, as list_runs and run_deployment give it")]
Start = Annotated[int | None, Field(description="with trace_limit: the first frame to return, from 0")]
Gc = Annotated[bool, Field(description="false: remove no old traces before the run")]
Limit = Annotated[
    int | None, Field(description="with trace_start: how many frames to return at most, more than 0")
]


def make_server(root: Path) -> MCPServer:
    """The server for the runs of one project. root: the folder whose `.nika` holds them."""
    server = _Server("nika-nb", instructions=_INSTRUCTIONS, version=__version__)
    tools = _Tools(Runs(root, "MCP", "python"))
    for tool in (
        tools.run_deployment,
        tools.list_runs,
        tools.inspect_run,
        tools.read_run_trace,
        tools.resume_run,
        tools.cancel_run,
    ):
        server.tool()(tool)
    return server


class _Server(MCPServer):
    """Says what is wrong with a call as the product says it."""

    async def call_tool(
        self, name: str, arguments: Shape, context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Raises ToolError for a tool that is not there, and for arguments that it does not take."""
        schemas = {tool.name: tool.input_schema for tool in await self.list_tools()}
        with _told():
            if name not in schemas:
                raise no_tool(name, schemas)
            arguments = fitted(name, schemas[name], arguments)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ToolError):  # the tool's own words, without a prefix
                raise error.__cause__ from None
            raise


class _Tools:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def run_deployment(
        self,
        deployment: Annotated[str, Field(description="the name of a deployment")],
        context: Context,
        inputs: Annotated[Shape | None, Field(description="values of the workflow's inputs, by name")] = None,
        version: Annotated[
            int | None, Field(description="this version instead of the newest, from 1")
        ] = None,
        gc: Gc = True,
        trace_start: Start = None,
        trace_limit: Limit = None,
    ) -> Shape:
        """Start a durable run of a deployment; returns when it has stopped.

        `unrunnable`: something is missing, and there is no run.
        """

        def launch() -> Run | Unrunnable:
            request = self._runs.deployed(deployment, inputs, version)
            if isinstance(request, Unrunnable):
                return request
            return self._runs.launch(replace(request, gc=gc))

        with _told():
            wanted = _range(trace_start, trace_limit)
            launched = await to_thread.run_sync(launch)
            if isinstance(launched, Unrunnable):
                return launched.to_json()
            return await self._attended(launched, context, wanted)

    async def list_runs(
        self,
        offset: Annotated[int, Field(description="how many of the newest to leave out, from 0")] = 0,
        limit: Annotated[int, Field(description="how many at most, from 1 to 1000")] = 50,
        status: Annotated[
            Status | None,
            Field(description="only these; null for all"),
        ] = None,
    ) -> Shape:
        """List the runs that have stopped, the newest first, in compact summaries.

        Those that run or broke off stand apart under `unfinished`.
        """
        with _told():
            found = await to_thread.run_sync(self._runs.list_runs, offset, limit, status)
            return found.to_json()

    async def inspect_run(self, run_id: RunId) -> Shape:
        """Look at one run: its status, whether it can be resumed, what it asks, its output or error."""
        with _told():
            found = await to_thread.run_sync(self._runs.inspect_run, run_id)
            return found.to_json()

    async def read_run_trace(
        self,
        run_id: RunId,
        start: Annotated[int, Field(description="the first frame, counted from 0")],
        limit: Annotated[int, Field(description="how many frames at most, more than 0")],
    ) -> Shape:
        """Read a bounded piece of a run's trace."""
        with _told():
            found = await to_thread.run_sync(self._runs.read_run_trace, run_id, start, limit)
            return found.to_json()

    async def resume_run(
        self,
        run_id: RunId,
        context: Context,
        answers: Annotated[
            Shape | list[str] | None,
            Field(description='by prompt key: {"ask": "yes"}; declined: the keys, or nothing for all'),
        ] = None,
        outcome: Annotated[
            Literal["submitted", "declined"],
            Field(description="declined: a confirmation settles false, any other prompt as a failure"),
        ] = "submitted",
        resume_compat: Annotated[
            str | None, Field(description="a human declares the recorded engine version compatible")
        ] = None,
        resume_unverified: Annotated[
            bool, Field(description="a human vouches for a trace whose chain is broken")
        ] = False,
        gc: Gc = True,
        trace_start: Start = None,
        trace_limit: Limit = None,
    ) -> Shape:
        """Answer what an interrupted run asks and go on with it; returns when it has stopped again.

        `blocked`: something is in the way, and the answers were not consumed.
        """
        vouched = Vouched(resume_compat, resume_unverified)

        def go_on() -> Run | Inspection:
            try:
                return self._runs.go_on(run_id, answers, outcome, vouched=vouched, gc=gc)
            except RunBlocked as blocked:
                return self._runs.blocked(run_id, blocked)

        with _told():
            wanted = _range(trace_start, trace_limit)
            found = await to_thread.run_sync(go_on)
            if isinstance(found, Inspection):
                return found.to_json()
            return await self._attended(found, context, wanted)

    async def cancel_run(self, run_id: RunId) -> Shape:
        """End a run that is at work, in whatever process of this machine, or that waits for an answer.

        Its cleanups still run. It is `failed` then, with the outcome `cancelled`, and asks nothing any more.
        `blocked`: its trace does not hold what its cleanups need, and nothing happened.
        """

        def end() -> Inspection:
            try:
                return self._runs.cancel(run_id)
            except RunBlocked as blocked:
                return self._runs.blocked(run_id, blocked)

        with _told():
            found = await to_thread.run_sync(end)
            return found.to_json()

    async def _attended(self, run: Run, context: Context, wanted: Range) -> Shape:
        """The run at its stop, told meanwhile how far it is; when the call is cancelled, so is the run."""
        progress = Progress(run)
        try:
            while run.running:
                if news := progress.news():
                    await context.report_progress(*news)
                await anyio.sleep(_LOOK)
        except anyio.get_cancelled_exc_class():
            run.stop()
            raise
        if news := progress.last():
            await context.report_progress(*news)
        found = await to_thread.run_sync(lambda: self._runs.attend(run, trace_range=wanted))
        return found.to_json()


@contextlib.contextmanager
def _told() -> Any:
    """What the runtime refuses, as the error of the tool."""
    try:
        with standing_at("MCP"):
            yield
    except NikaError as error:
        raise ToolError(str(error)) from None


def _range(start: int | None, limit: int | None) -> Range:
    """Raises UsageError for a range that is none, before anything happens."""
    if start is None and limit is None:
        return None
    wanted = (start or 0, limit if limit is not None else 50)
    judge_range(*wanted, ("trace_start", "trace_limit"))
    return wanted


def serve(root: Path) -> None:
    """Serves until the client goes away or the process is asked to end; what is at work is ended then."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    try:
        make_server(root).run("stdio")
    finally:
        _end_everything()


def _leave(number: int, _: Any) -> None:
    # At once: a thread still waits for the client's next word, and an orderly end would wait for it.
    _end_everything()
    os._exit(128 + number)


def _end_everything() -> None:
    sessions = at_work.copy()
    for session in sessions:
        session.cancel()
    for session in sessions:
        session.wait(_ENDING)
