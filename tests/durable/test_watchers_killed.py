"""Whoever watches a run and is killed leaves nothing behind, and the run goes on as if nobody had looked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from nika_nb import runs
from tests.doors import PATIENCE, alive, environment, frames, launch, newest, of, program, started, wait_for
from tests.durable.project import Project
from tests.kernels import Page

SLOW = """\
nika: slow
permits: {exec: ["./slow"]}
tasks:
  slow: {exec: {command: ["./slow"]}}
outputs: {said: "${{ tasks.slow.output }}"}
"""
FOLLOW = """\
import sys
from nika_nb import runs
for frame in runs.follow(sys.argv[1]):
    print(frame.kind, flush=True)
"""


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def holders(path: Path) -> set[int]:
    """The processes that have a lock on a file."""
    inode = str(path.stat().st_ino)
    rows = [row.split() for row in Path("/proc/locks").read_text("ascii").splitlines()]
    return {int(row[4]) for row in rows if row[1] == "FLOCK" and row[5].rpartition(":")[2] == inode}


def test_killed_watchers_leave_nothing_behind(here: Project) -> None:
    """From Python, at a terminal, in a notebook: no file and no lock; the run goes on."""
    program(here.root, "slow", "while ! test -e go; do sleep 0.02; done\nprintf done")
    (here.root / "slow.nika.yaml").write_text(SLOW, encoding="utf-8")
    engine = launch("run", "slow.nika.yaml", cwd=here.root)
    trace = wait_for(started(here.root, "slow"), "the slow program")
    run_id = frames(trace)[0]["correlation"]
    outs = [here.root / "python.out", here.root / "terminal.out"]
    with outs[0].open("wb") as out:
        python = subprocess.Popen([sys.executable, "-c", FOLLOW, run_id], stdout=out, env=environment())
    terminal = launch("runs", "follow", run_id, cwd=here.root, out=outs[1])
    for out in outs:
        wait_for(lambda out=out: b"verb_invoked" in out.read_bytes(), "the frames so far")
    before = files(here.root)
    page = Page(here.root)
    page.run("%load_ext nika_nb")
    cell = page.start(f"%nika attach {trace.name}")
    page.until(lambda: "slow" in cell.text)
    for pid in (python.pid, terminal.pid, page.pid):
        os.kill(pid, signal.SIGKILL)
    for watcher in (python, terminal):
        assert watcher.wait(PATIENCE) == -signal.SIGKILL
    page.close()
    assert files(here.root) == before
    assert holders(trace) == {engine.pid}
    (here.root / "go").touch()
    assert engine.wait(PATIENCE) == 0
    assert frames(trace)[-1]["kind"] == "workflow_completed"
    assert holders(trace) == set()


def test_a_server_that_is_killed_while_it_tells_of_progress(here: Project) -> None:
    """Its run broke off, its program is gone, nothing is held: the run is resumed by whoever comes next."""
    program(here.root, "slow", "while ! test -e go; do sleep 0.02; done\nprintf done")
    here.deployed("slow", SLOW)
    pid_file = here.root / "server.pid"
    code = f"import os; open({str(pid_file)!r}, 'w').write(str(os.getpid())); "
    code += "from nika_nb.cli.main import main; main(['mcp'])"

    async def session() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-c", code], env=environment(), cwd=here.root
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            await client.initialize()
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "run_deployment", {"deployment": "slow"})
                await anyio.to_thread.run_sync(
                    lambda: wait_for(started(here.root, "slow"), "the slow program")
                )
                os.kill(int(pid_file.read_text("ascii")), signal.SIGKILL)
                group.cancel_scope.cancel()

    anyio.run(session)
    trace = newest(here.root)
    pgid = of(trace, "verb_invoked")[0]["pgid"]
    wait_for(lambda: not alive(pgid), "the end of the program")
    found = runs.inspect_run(frames(trace)[0]["correlation"])
    assert (found.status, found.state, found.in_flight) == (None, "incomplete", ("slow",))
    assert holders(trace) == set()
    assert {path.name for path in trace.parent.iterdir()} == {trace.name}
