"""A process that runs workflows in copies of itself, killed with SIGKILL after so many lines or so much time.

Started as a program of its own: requests come in on standard input, one JSON object a line
({cwd, workflow, lines, after, resume, answer, vars}), and for each the exit status and the outputs go out.
The fork spares the time to import; the copies are real processes and their death is a real SIGKILL.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any, Literal

from tests.asking import Asked


def _die_after(lines: int) -> None:
    """From now on the process ends, without any farewell, once its journal has so many lines."""
    from nika_nb.trace.writer import Journal

    append, written = Journal._append, [0]

    def counted(self: Journal, line: bytes) -> None:
        append(self, line)
        written[0] += 1
        if written[0] == lines:
            os.kill(os.getpid(), signal.SIGKILL)

    Journal._append = counted  # type: ignore[method-assign]


def _work(request: dict[str, Any], pipe: int) -> None:
    import nika_nb

    os.chdir(request["cwd"])
    if request["lines"]:
        _die_after(request["lines"])
    if request["answer"]:
        run = nika_nb.attach(Path(request["resume"])).answer(request["answer"])
    else:
        run = nika_nb.run(Path(request["workflow"]), resume=request["resume"], vars=request["vars"])
    said = {"state": run.state, "outputs": run.outputs if run.state == "completed" else None}
    os.write(pipe, json.dumps(said | {"trace": str(run.trace)}).encode())


def _serve(request: dict[str, Any]) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            _work(request, write)
            code = 0
        except BaseException as error:  # noqa: BLE001 - told to whoever asked
            os.write(write, json.dumps({"error": f"{type(error).__name__}: {error}"}).encode())
        finally:
            os._exit(code)
    os.close(write)
    if request["after"] is not None and not select.select([read], [], [], request["after"])[0]:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(read, "rb") as stream:
        said = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"status": status} | (json.loads(said) if said else {})


class Crasher(Asked):
    """The asking side."""

    def __init__(self) -> None:
        super().__init__("tests.runs.crashing")

    def run(
        self,
        workflow: Path,
        *,
        lines: int = 0,
        after: float | None = None,
        resume: Path | Literal[True] | None = None,
        answer: dict[str, Any] | None = None,
        **variables: Any,
    ) -> dict[str, Any]:
        """{status, state, outputs, trace}; status is -9 where the run was killed.

        lines, after: what its journal holds then, or the seconds that it had. resume: True for the newest
        trace there is. answer: continues the paused trace `resume` instead of running the workflow's file.
        """
        return self.ask(
            {
                "cwd": str(workflow.parent),
                "workflow": str(workflow),
                "lines": lines,
                "after": after,
                "resume": str(resume) if isinstance(resume, Path) else resume,
                "answer": answer,
                "vars": variables,
            }
        )


_WARMING = """\
nika: warm
tasks:
  w: {invoke: {tool: "nika:log", args: {message: "hello"}}, extract: {none: "."}}
"""


def _warm() -> None:
    """One run before the first fork, so that every copy finds its modules loaded."""
    import nika_nb

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        assert nika_nb.run(_WARMING).state == "completed"


if __name__ == "__main__":
    _warm()
    for asked in sys.stdin:
        print(json.dumps(_serve(json.loads(asked))), flush=True)
