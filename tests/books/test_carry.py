"""A notebook that carries its run: a reader without key, programs or files gets all of it for nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

import nika_nb
from nika_nb import books
from nika_nb.errors import UsageError
from nika_nb.providers.registry import MAKERS
from tests.books.shelves import BYE, HELLO, code, magic, story
from tests.doors import Terminal, environment, hits, newest, nika, program, ran, traces
from tests.providers.scripted import Scripted

FLOW = """\
nika: flow
model: mock/echo
inputs:
  topic: { type: string, required: true }
  rows: { type: { array: string }, default: [a, b, c] }
secrets:
  key: { source: env, key: THE_KEY, egress: [{ to: exec }] }
permits:
  fs: { read: ["./data/**"], write: ["./out/**"] }
  exec: ["./say"]
  tools: ["nika:read", "nika:write", "nika:prompt"]
tasks:
  read: { invoke: { tool: "nika:read", args: { path: "./data/a.txt" } } }
  keyed: { exec: { command: ["./say", "shh"], env: { K: "${{ secrets.key }}" } } }
  each:
    for_each: { items: "${{ inputs.rows }}" }
    infer: { prompt: "title ${{ item }} ${{ inputs.topic }}" }
  gate: { invoke: { tool: "nika:prompt", args: { message: "Go on?", default: true } } }
  call: { after: { gate: success }, invoke: { workflow: "./child.nika.yaml", args: { w: "who" } } }
  write:
    with: { t: "${{ tasks.each.output }}" }
    invoke: { tool: "nika:write", args: { path: "./out/x.txt", content: "${{ with.t[0] }}" } }
outputs:
  titles: "${{ tasks.each.output }}"
  called: "${{ tasks.call.output }}"
  read: "${{ tasks.read.output }}"
"""

CHILD = """\
nika: child
permits: { exec: ["./say"] }
inputs: { w: { type: string } }
tasks: { say: { exec: { command: ["./say", "${{ inputs.w }}"] } } }
outputs: { said: "${{ tasks.say.output }}" }
"""

TASKS = {"read", "keyed", "each", "gate", "call", "write"}


def desk(folder: Path) -> Path:
    """What the author of a notebook has beside it; the notebook."""
    program(folder, "say", 'printf "%s says" "$1"')
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").write_text("there", encoding="utf-8")
    (folder / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    shown = code("import json\nprint(json.dumps(run.outputs))", "shown")
    return story(folder / "b.ipynb", magic(FLOW, "--var topic=x --into run"), shown)


def executed(path: Path, **env: str) -> Any:
    """The notebook after a real kernel has run it, saved in place."""
    command = [sys.executable, "-m", "jupyter", "execute", path.name, "--inplace", "--timeout=120"]
    done = subprocess.run(
        command,
        cwd=path.parent,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return nbformat.read(str(path), as_version=4)  # type: ignore[no-untyped-call]


def said(notebook: Any, cell: str) -> str:
    """The plain text of a cell's outputs."""
    (found,) = [one for one in notebook.cells if one.id == cell]
    return "\n".join(str(out.get("text") or out.get("data", {}).get("text/plain")) for out in found.outputs)


def clone(path: Path, folder: Path) -> Path:
    """What somebody has who got the notebook out of a repository: what is committed, and nothing else."""
    folder.mkdir(parents=True)
    for name in ("b.ipynb", "child.nika.yaml"):
        shutil.copy(path.with_name(name), folder)
    shutil.copytree(path.with_name("traces"), folder / "traces")
    for trace in (folder / "traces").iterdir():
        trace.chmod(0o444)
    return folder / "b.ipynb"


def test_a_moved_clone_gets_everything_for_nothing(tmp_path: Path) -> None:
    """Without the key, the programs and the files, elsewhere, from a file that nobody may write."""
    path = desk(tmp_path / "the author's")
    first = executed(path, THE_KEY="a-very-secret-value")
    done = nika("book", "carry", "b.ipynb::flow", cwd=path.parent)
    assert done.code == 0, done.err
    assert "6 of 6 tasks need nothing of a reader" in done.out.decode()
    assert "commit b.ipynb traces/flow.ndjson child.nika.yaml" in done.out.decode()
    moved = clone(path, tmp_path / "ein Büch" / "с пробелами 🦋")
    shutil.rmtree(path.parent)
    again = executed(moved, HOME=str(tmp_path), PATH="/usr/bin:/bin")
    assert "resumed · 6 skipped (cache hit) · 0 ran live" in said(again, "flow")
    assert "$0.00" in said(again, "flow")
    assert said(again, "shown") == said(first, "shown")
    assert json.loads(said(again, "shown"))["called"] == {"said": "who says"}
    assert hits(newest(moved.parent)) == TASKS
    assert not (moved.parent / "out").exists()
    saved = moved.read_text(encoding="utf-8")
    assert str(tmp_path) not in saved
    assert "a-very-secret-value" not in saved + (moved.parent / "traces" / "flow.ndjson").read_text("utf-8")
    (made,) = books.traces(moved)
    assert (made.cell, made.name) == (3, newest(moved.parent).name)


def test_a_cell_puts_its_trace_back_out_of_its_own_output(tmp_path: Path) -> None:
    """Only the notebook was mailed, and the workflow that it calls."""
    path = desk(tmp_path / "a")
    executed(path, THE_KEY="a-very-secret-value")
    assert nika("book", "carry", "b.ipynb::flow", cwd=path.parent).code == 0
    moved = clone(path, tmp_path / "b")
    shutil.rmtree(moved.parent / "traces")
    again = executed(moved, HOME=str(tmp_path), PATH="/usr/bin:/bin")
    assert "traces/flow.ndjson was gone, and was put back out of its cell's saved output" in said(
        again, "flow"
    )
    assert hits(newest(moved.parent)) == TASKS
    back = moved.parent / "traces" / "flow.ndjson"
    assert back.read_bytes() == (path.parent / "traces" / "flow.ndjson").read_bytes()
    assert [one.name for one in back.parent.iterdir()] == ["flow.ndjson"]


def test_every_door_to_the_cell_puts_its_trace_back(tmp_path: Path) -> None:
    """A terminal in another folder, a look ahead, Python; named by the cell or on the line."""
    path = desk(tmp_path / "a")
    executed(path, THE_KEY="a-very-secret-value")
    assert nika("book", "carry", "b.ipynb::flow", cwd=path.parent).code == 0
    moved = clone(path, tmp_path / "b")
    back = moved.parent / "traces" / "flow.ndjson"
    whole = back.read_bytes()
    address = "b/b.ipynb::flow"
    for words in ([], ["--plan"], ["--resume", "traces/flow.ndjson"]):
        shutil.rmtree(back.parent)
        done = nika("run", address, *words, cwd=tmp_path)
        assert done.code == 0, done.err
        assert "put back out of its cell's saved output" in done.err + done.out.decode()
        assert back.read_bytes() == whole
    assert hits(newest(moved.parent)) == TASKS
    shutil.rmtree(back.parent)
    run = nika_nb.run(f"{moved}::flow")
    assert (run.state, run.board.hits) == ("completed", len(TASKS))


def test_an_output_that_was_tampered_with_puts_nothing_back(tmp_path: Path) -> None:
    """A head that is not the journal's own is enough: no trace, and no file beside it."""
    path = desk(tmp_path / "a")
    executed(path, THE_KEY="a-very-secret-value")
    assert nika("book", "carry", "b.ipynb::flow", cwd=path.parent).code == 0
    shutil.rmtree(path.parent / "traces")
    (made,) = books.traces(path)
    assert made.head is not None
    path.write_text(path.read_text("utf-8").replace(made.head, "0" * 64), "utf-8")
    with pytest.raises(AssertionError, match=r"there is no trace traces/flow\.ndjson"):
        executed(path)
    assert list((path.parent / "traces").iterdir()) == []


def test_another_journal_of_the_same_name_is_not_carried(tmp_path: Path) -> None:
    """The output says where its journal's chain ends: what ends elsewhere is listed as gone, and stays."""
    path = desk(tmp_path / "a")
    executed(path, THE_KEY="a-very-secret-value")
    (made,) = books.traces(path)
    here = path.parent / made.path
    lines = here.read_bytes().splitlines(keepends=True)
    here.write_bytes(b"".join(lines[:-1]))
    saved = path.read_bytes()
    assert "in the notebook" in nika("book", "ls", "b.ipynb", cwd=path.parent).out.decode()
    done = nika("book", "carry", "b.ipynb::flow", cwd=path.parent)
    assert (done.code, f"{made.name} is not the journal that the saved output tells of" in done.err) == (
        3,
        True,
    )
    assert (path.read_bytes(), here.read_bytes()) == (saved, b"".join(lines[:-1]))
    here.unlink()
    assert nika("book", "carry", "b.ipynb::flow", cwd=path.parent).code == 0
    assert here.read_bytes() == b"".join(lines)


def test_an_edit_in_the_clone_runs_what_it_touches(tmp_path: Path) -> None:
    """And only that: the rest stands, and needs nothing still."""
    path = desk(tmp_path / "a")
    assert nika("run", "b.ipynb::flow", cwd=path.parent, THE_KEY="a-very-secret-value").code == 0
    assert nika("book", "carry", "b.ipynb", cwd=path.parent).code == 0
    moved = clone(path, tmp_path / "b")
    books.embed(moved, FLOW.replace("title ${{", "name ${{"), options=books.workflows(moved)[0].options)
    done = nika("run", "b.ipynb::flow", cwd=moved.parent)
    assert (done.code, ran(newest(moved.parent))) == (0, {"each", "write"})


def test_a_model_of_another_version_is_not_needed_for_what_is_recorded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its provider may be gone, in a called workflow as well; what has to run says what it lacks."""
    (folder / "child.nika.yaml").write_text(HELLO.replace("mock/echo", "xai/below"), encoding="utf-8")
    text = """\
nika: asks
model: xai/grok
permits: {}
inputs: { topic: { type: string, default: x } }
tasks:
  a: { infer: { prompt: "about ${{ inputs.topic }}" } }
  b: { invoke: { workflow: "./child.nika.yaml" } }
"""
    provider = Scripted("one", "two")
    with monkeypatch.context() as here:
        here.setitem(MAKERS, "xai", lambda: provider)
        trace = nika_nb.run(text).trace
    assert trace is not None
    assert nika_nb.run(text, resume=trace).board.hits == 2
    assert nika_nb.plan_resume(text, trace).count("skip") == 2
    for changed in (
        text.replace("about", "of"),
        text.replace("  b:", "  new: { infer: { prompt: x } }\n  b:"),
    ):
        with pytest.raises(UsageError, match="xai/grok` is not part of this version"):
            nika_nb.run(changed, resume=trace)
    live = nika_nb.run(text, resume=trace, vars={"topic": "y"})
    assert (live.state, live.tasks["b"].state) == ("failed", "cached")
    assert len(traces(folder)) == 3


# -- the first line ----------------------------------------------------------------------------


@pytest.fixture
def ready(folder: Path) -> Path:
    """A notebook whose workflow has run to its end once."""
    path = story(folder / "b.ipynb", magic(HELLO, cell_id="one"))
    nika_nb.run(f"{path}::hello")
    return path


def carried(terminal: Terminal, *words: str) -> str:
    """What the terminal says of a carried notebook."""
    done = terminal("book", "carry", *words)
    assert done.code == 0, done.err
    return done.out.decode() + done.err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("--into run --quiet", "--into run --quiet "),
        ("--resume", ""),
        ("--resume --into run", "--into run "),
        ("--resume old.ndjson --from greet --into run", "--into run "),
        ("--resume=old.ndjson --ask-in-flight --no-gc", "--no-gc "),
        ("--resume --answer ask=yes --resume-compat x --resume-unverified", ""),
        ("--var name='you' --into 'run'", "--var name='you' --into 'run' "),
        ("""--resume 'my old.ndjson' --var name="y\\"u $who" """, """--var name="y\\"u $who" """),
        ("--var name=$who --vars more --from greet", "--var name=$who --vars more "),
    ],
)
def test_the_cell_resumes_the_trace_and_nothing_else(
    ready: Path, terminal: Terminal, before: str, after: str
) -> None:
    """What belonged to another resume goes; everything else on the line stays."""
    story(ready, magic(HELLO, before, "one"))
    carried(terminal, "b.ipynb::hello")
    (cell,) = books.workflows(ready)
    assert cell.options == f"{after}--resume traces/hello.ndjson"
    assert cell.text == HELLO
    assert (ready.parent / "traces" / "hello.ndjson").read_bytes() == newest(ready.parent).read_bytes()
    assert nika_nb.run(f"{ready}::hello", vars={"name": "you"}).board.hits == 1


def test_what_the_recorded_run_was_given_besides_stands_on_the_line(ready: Path, terminal: Terminal) -> None:
    """Model and inputs, quoted as they have to be; else nothing would be recognised."""
    nika_nb.run(f"{ready}::hello", vars={"name": "12"}, model="mock/echo")
    carried(terminal, "b.ipynb")
    assert books.workflows(ready)[0].options == (
        """--model mock/echo --var 'name="12"' --resume traces/hello.ndjson"""
    )
    assert nika_nb.run(f"{ready}::hello").board.hits == 1
    nika_nb.run(f"{ready}::hello", vars={"name": "long " * 200}, resume=False)
    done = terminal("book", "carry", "b.ipynb")
    assert done.code == 3
    assert "`name`, which is too long for a cell's first line" in done.err


def test_inputs_out_of_the_notebooks_memory_stay_there(ready: Path, terminal: Terminal) -> None:
    """Its own kernel makes them again."""
    story(ready, magic(HELLO, "--vars people", "one"))
    nika_nb.run(f"{ready}::hello", vars={"name": "long " * 200})
    carried(terminal, "b.ipynb")
    assert books.workflows(ready)[0].options == "--vars people --resume traces/hello.ndjson"


def test_carried_again_it_is_the_newest_run(ready: Path, terminal: Terminal) -> None:
    """After another run the trace is that one's; twice over nothing changes any more."""
    carried(terminal, "b.ipynb")
    saved = ready.read_bytes()
    nika_nb.run(f"{ready}::hello", resume=False)
    carried(terminal, "b.ipynb")
    assert (ready.parent / "traces" / "hello.ndjson").read_bytes() == newest(ready.parent).read_bytes()
    assert ready.read_bytes() == saved


def test_two_cells_of_one_name_have_a_trace_each(ready: Path, terminal: Terminal) -> None:
    """Named after their cells as well; and the trace can be told."""
    story(ready, magic(HELLO, cell_id="one"), magic(HELLO, "--var name=Bo", "two"))
    first = newest(ready.parent)
    nika_nb.run(f"{ready}::two")
    told = carried(terminal, "b.ipynb::one", "--trace", first.name)
    assert "1 of 1 task needs nothing of a reader" in told
    carried(terminal, "b.ipynb::two")
    assert [cell.options for cell in books.workflows(ready)] == [
        "--resume traces/hello-one.ndjson",
        "--var name=Bo --resume traces/hello-two.ndjson",
    ]


def test_what_readers_will_run_is_told(
    folder: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task of whose output a secret keeps the record, one that failed, one whose text is another today."""
    monkeypatch.setenv("THE_KEY", "a-very-secret-value")
    text = """\
nika: partly
secrets: { key: { source: env, key: THE_KEY, egress: [{ to: exec }] } }
permits: { exec: ["echo", "false"] }
tasks:
  says: { exec: { command: [echo, "${{ secrets.key }}"] } }
  fails: { exec: { command: ["false"] } }
  fine: { after: { fails: failure }, exec: { command: [echo, fine] } }
  edited: { exec: { command: [echo, one] } }
  kept: { exec: { command: [echo, kept] } }
"""
    path = story(folder / "b.ipynb", magic(text))
    nika_nb.run(f"{path}::partly")
    books.embed(path, text.replace("one]", "two]"))
    told = carried(terminal, "b.ipynb", "--trace", newest(folder).name)
    assert "1 of 5 tasks need nothing of a reader" in told
    for line in (
        "says runs for every reader",
        "fails runs for every reader",
        "fine may run",
        "edited runs for every reader",
    ):
        assert line in told
    assert "definition changed: exec.command" in told


def test_nothing_is_carried_that_would_not_hold(ready: Path, terminal: Terminal) -> None:
    """No run that completed, a trace that was changed, a cell that is refused: nothing is written."""
    broken = newest(ready.parent)
    saved = ready.read_bytes()
    lines = broken.read_bytes().splitlines(keepends=True)
    (ready.parent / "cut.ndjson").write_bytes(b"".join(lines[:2] + lines[3:]))
    done = terminal("book", "carry", "b.ipynb", "--trace", "cut.ndjson")
    assert (done.code, "cannot be trusted" in done.err) == (2, True)
    assert terminal("book", "carry", "b.ipynb", "--trace", "none").code == 3
    for text, code_ in ((BYE, 3), (HELLO.replace("prompt", "promt"), 2)):
        story(ready, magic(text, cell_id="one"))
        saved = ready.read_bytes()
        assert terminal("book", "carry", "b.ipynb").code == code_
        assert ready.read_bytes() == saved
    assert not (ready.parent / "traces").exists()


def test_a_carried_trace_is_reproduced_beside_its_notebook(
    ready: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From anywhere, and held against the cell of today."""
    carried(terminal, "b.ipynb")
    moved = ready.parent / "moved"
    (moved / "traces").mkdir(parents=True)
    shutil.copy(ready, moved)
    shutil.copy(ready.parent / "traces" / "hello.ndjson", moved / "traces")
    (ready.parent / "else").mkdir()
    monkeypatch.chdir(ready.parent / "else")
    found = nika_nb.reproduce(moved / "traces" / "hello.ndjson", workflow=moved / "b.ipynb")
    assert found.ok
    assert len(list((moved / ".nika" / "reproductions").iterdir())) == 1
    assert list((ready.parent / "else").iterdir()) == []
    books.embed(moved / "b.ipynb", HELLO.replace("hello ${{", "hi ${{"))
    done = terminal(
        "trace", "reproduce", moved / "traces" / "hello.ndjson", "--file", f"{moved}/b.ipynb::hello"
    )
    assert (done.code, "today's text differs: infer.prompt" in done.out.decode()) == (1, True)
