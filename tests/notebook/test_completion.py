"""Tab and Shift+Tab as a kernel answers them: in workflow cells, on their first lines, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter

from nika_nb import runs
from nika_nb.catalog.providers import MOCKS
from nika_nb.notebook.completion import completions
from nika_nb.notebook.magic import _loaded
from tests.doors import of
from tests.kernels import Page
from tests.notebook.shells import Notebook
from tests.notebook.test_magic import ASK, HELLO, traces

CELL = """%%nika {line}
nika: brief
inputs:
  topic: {{ type: string }}
tasks:
  load:
    invoke: {{ tool: nika:read, args: {{ path: ./a }} }}
  ask:
    invoke: {{ tool: nika:prompt, args: {{ message: "Go?" }} }}
{below}"""


def cell(line: str = "", below: str = "") -> str:
    return CELL.format(line=line, below=below)


def test_a_kernel_completes_in_a_workflow_cell(page: Page) -> None:
    """What it offers, and which letters they take the place of, with kinds for the page's icons."""
    marked = cell(below="  new:\n    invoke: { tool: nika:pr¦")
    reply = page.complete(marked)
    assert reply["matches"] == ["nika:prompt"]
    assert marked[reply["cursor_start"] : reply["cursor_end"]] == "nika:pr"
    assert reply["metadata"]["_jupyter_types_experimental"][0]["type"] == "value"
    assert page.complete(cell(below='  new:\n    with: { a: "${{ tasks.¦'))["matches"] == ["load", "ask"]


def test_letters_beyond_the_first_plane_do_not_shift_it(page: Page) -> None:
    """A cursor counts characters, whatever they are made of."""
    marked = cell(below="  # 🦋 ünï\n  new:\n    ex¦")
    reply = page.complete(marked)
    assert set(reply["matches"]) == {"exec:", "extract:"}
    assert marked[reply["cursor_start"] : reply["cursor_end"]] == "ex"


def test_where_nothing_is_known_nothing_of_python_is_offered(page: Page) -> None:
    """A prompt is a text: the notebook's names do not belong there."""
    page.run("prompting = 1")
    assert page.complete(cell(below="  new:\n    infer: { prompt: promp¦"))["matches"] == []


def test_other_cells_get_the_answers_they_always_got(page: Page) -> None:
    """Python's names and Python's help, also with a magic of ours elsewhere."""
    page.run("import pathlib")
    assert "Path" in " ".join(page.complete("x = pathlib.Pa¦")["matches"])
    assert "PurePath" in str(page.inspect("pathlib.Path¦")["data"])
    assert "print" in page.complete("# %%nika\nprin¦")["matches"]
    assert "print" in page.complete("%nika inbox\nprin¦")["matches"]


def test_a_kernel_explains_a_word_of_a_workflow(page: Page) -> None:
    """As text and as HTML; of a text of the author's own there is nothing to say."""
    found = page.inspect(cell(below="  new:\n    for_ea¦ch: { items: [1] }"))
    assert found["found"]
    assert found["data"]["text/plain"].startswith("for_each\nOnce per item")
    assert "keys: items, max_parallel, fail_fast" in found["data"]["text/html"]
    assert not page.inspect(cell(below="  new:\n    infer: { prompt: he¦llo }"))["found"]


def run_id(folder: Path, workflow: str) -> str:
    """Of the one run of a workflow."""
    [found] = [one for path in traces(folder) for one in of(path, "workflow_started", workflow=workflow)]
    return str(found["correlation"])


LINES = [
    ("an option", "--res¦", ["--resume", "--resume-compat", "--resume-unverified"]),
    ("not one that is there", "--resume --res¦", ["--resume-compat", "--resume-unverified"]),
    ("one that may stand twice", "--var a=1 --va¦", ["--var", "--vars"]),
    ("a model", "--model moc¦", [*MOCKS]),
    ("a task", "--from lo¦", ["load"]),
    ("a prompt", "--answer ¦", ["ask="]),
    ("an input", "--var to¦", ["topic="]),
    ("a dict, or an input", "--vars ¦", ["facts", "topic="]),
    ("a variable", "--var topic=$fa¦", ["topic=$facts"]),
    ("no variable behind a doubled sign", "--var topic=$$fa¦", []),
    ("a name of the author's", "--into ¦x", []),
]


@pytest.fixture
def session(notebook: Notebook) -> Any:
    notebook.python("facts = {'topic': 'tea'}")
    return _loaded[id(notebook.shell)].session


@pytest.mark.parametrize(("name", "line", "offered"), LINES, ids=[line[0] for line in LINES])
def test_the_first_line(session: Any, name: str, line: str, offered: list[str]) -> None:
    """Options, and what each of them takes out of the cell below and the notebook around."""
    marked = cell(line)
    found = completions(marked.replace("¦", ""), marked.index("¦"), session)
    assert found is not None
    assert [item.text for item in found.items] == offered


def test_lines_of_our_own(session: Any, notebook: Notebook, folder: Path) -> None:
    """Commands by their names, traces, settings."""
    notebook.run(HELLO)
    notebook.run(ASK)

    def offered(marked: str) -> list[str]:
        found = completions(marked.replace("¦", ""), marked.index("¦"), session)
        return [item.text for item in found.items] if found else []

    assert offered("%nika at¦") == ["attach"]
    assert offered("x = 1\n%nika in¦") == ["inbox"]
    assert sorted(offered("%nika show ¦")) == [path.name for path in traces(folder)]
    assert offered("%nika show hel¦") == [run_id(folder, "hello")]
    assert offered("%nika answer hel¦") == []
    runs.deploy("nightly", HELLO)
    assert offered("%nika run ni¦") == ["nightly"]
    assert offered("%nika config max¦") == ["max_parallel="]
    assert offered("%nika resume --fr¦") == ["--from"]
    assert offered("%nika attach x ¦") == []
    assert offered("%nika help nika:re¦") == ["nika:read"]
    assert completions("%nikab in", 9, session) is None
    assert completions("%%nik", 5, session) is None


def test_ipython_in_a_terminal_completes_as_well(notebook: Notebook) -> None:
    """Without a kernel the shell's own completer asks."""
    code = "%%nika\nnika: x\ntasks:\n  a:\n    inf"
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(code, len(code)))
    assert [one.text for one in found] == ["infer:"]


def test_behind_answer_stands_what_can_be_answered(session: Any, notebook: Notebook, folder: Path) -> None:
    """Neither what is over nor what was answered; a cancel is offered what it can end, a look at it all."""
    notebook.run(HELLO)
    notebook.run(ASK)
    [asking] = [trace for trace in traces(folder) if "workflow_paused" in trace.read_text()]

    def offered(line: str) -> list[str]:
        found = completions(f"%nika {line} ", len(f"%nika {line} "), session)
        assert found is not None
        return [item.text for item in found.items]

    for word in ("answer", "decline", "cancel"):
        assert offered(word) == [asking.name]
    assert set(offered("show")) == {trace.name for trace in traces(folder)}
    assert len(offered("show")) == 2
    notebook.python("%nika answer ask=yes")
    for word in ("answer", "decline", "cancel"):
        assert offered(word) == []
