"""Questions in a real kernel: what a person goes through between a pause and the end of the run."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from nbconvert import HTMLExporter

from tests.board.test_hostile import ALLOWED, NASTY, UNSEEN, Judge
from tests.doors import frames, marks, newest, nika, program, traces
from tests.kernels import Cell, Page, kernel

ASK = """nika: ask
permits: {exec: ["./say"], fs: {write: ["./out/*"]}, tools: ["nika:prompt", "nika:write"]}
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Go on?" } } }
  act:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}
    exec: { command: ["./say", "acted"] }
  keep:
    with: { acted: "${{ tasks.act.output }}" }
    after: { act: success }
    invoke: { tool: "nika:write", args: { path: "./out/x", content: "${{ with.acted }}" } }
"""

TEXT = """nika: text
tasks:
  note: { invoke: { tool: "nika:prompt", args: { message: "What for?", mode: input } } }
outputs: { note: "${{ tasks.note.output }}" }
"""

INNER = """nika: inner
permits: {tools: ["nika:prompt"]}
inputs: { what: { type: string, required: true } }
tasks:
  ask: { invoke: { tool: "nika:prompt", args: { message: "Take ${{ inputs.what }}?" } } }
outputs: { took: "${{ tasks.ask.output }}" }
"""

OUTER = """nika: outer
permits: {tools: ["nika:prompt"], fs: {read: ["./*"]}}
tasks:
  each:
    for_each: { items: [salt, sugar] }
    invoke:
      tool: "nika:prompt"
      args: { message: "How much ${{ item }}?", mode: choice, choices: [some, none] }
  call: { invoke: { workflow: "./inner.nika.yaml", args: { what: bread } } }
outputs: { each: "${{ tasks.each.output }}", took: "${{ tasks.call.output.took }}" }
"""


def furnished(folder: Path) -> Path:
    """A folder with what the workflows need."""
    program(folder, "say", 'echo "$1" >> marks\nprintf %s "$1"')
    (folder / "out").mkdir()
    (folder / "inner.nika.yaml").write_text(INNER, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with kernel(furnished(tmp_path_factory.mktemp("notebook"))) as found:
        yield found


@pytest.fixture
def page(shared: Page) -> Iterator[Page]:
    """A notebook without cells, in a folder without traces, and a clock that is right."""
    shared.cells.clear()
    yield shared
    shutil.rmtree(shared.folder / ".nika", ignore_errors=True)
    (shared.folder / "marks").unlink(missing_ok=True)
    shared.run("import nika_nb.runs.ticket as t, time; t.now = time.time")


REFUSED = "── 1 ok · 1 skipped · 1 blocked ·"  # what becomes of ASK after a no


def over(cell: Cell, tasks: str) -> bool:
    """Whether the still of a run that ended stands there, and no form."""
    return cell.at_rest and (f"{tasks} done" in cell.text or REFUSED in cell.text)


def open_again(page: Page, cell: Cell, label: str = "Submit") -> bool:
    """Whether a form that was clicked has come to rest and can be clicked again."""
    return not page.widgets[page.button(cell, label)]["disabled"]


# -- what is asked ---------------------------------------------------------------------------------


def test_a_form_tells_what_a_yes_sets_going(page: Page) -> None:
    """The tasks that wait, each with its gate; programs, files, tools of all of them; the exact line."""
    cell = page.run(f"%%nika\n{ASK}")
    for fact in (
        "waiting for it: act (when with.go == true) · keep",
        "they may: run ./say acted · use nika:write · write ./out/x",
        f"to answer: %nika answer {newest(page.folder).name} ask=yes",
    ):
        assert fact in cell.text


def test_questions_of_items_and_of_a_called_workflow(page: Page) -> None:
    """Each has its form and its line; answering some leaves the others; a bare line answers each."""
    cell = page.run(f"%%nika --into run\n{OUTER}")
    assert "3 questions wait for an answer" in cell.text
    first, second = page.shown(cell, "RadioButtons")
    page.put(second, index=1)
    page.click(page.button(cell, "Submit", 1))
    page.until(lambda: "◆ each[1] · How much sugar?  → answered: none" in cell.text)
    page.until(lambda: page.shown(cell, "RadioButtons") == [first] and open_again(page, cell))
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: "◆ call/ask · Take bread?  → answered: yes" in cell.text)
    page.until(lambda: f"%nika answer {newest(page.folder).name} each[0]=some" in cell.text)
    answered = page.run(f"%nika answer {newest(page.folder).name} each[0]=some")
    assert answered.error == ""
    page.until(lambda: over(cell, "2/2"))
    assert page.run("run.outputs").text == "{'each': ['some', 'none'], 'took': True}"


@pytest.mark.parametrize("line", ["%nika answer ask=yes", "run.answer(True)", "run.decline()"])
def test_a_cell_that_answers_leaves_no_open_form_behind(page: Page, line: str) -> None:
    """When it ends, the question above tells the answer and the run its end: a saved notebook has both."""
    asked = page.run(f"%%nika --into run\n{ASK}")
    assert page.run(line).error == ""
    assert asked.at_rest
    what, came = (
        ("declined", "1 ok · 1 skipped · 1 blocked") if "decline" in line else ("answered", "3/3 done")
    )
    assert came in asked.text
    assert f"◆ ask · Go on?  → {what} on 20" in asked.text


CANCEL = ["%nika cancel", "run.cancel()", "import nika_nb; nika_nb.runs.cancel(run.id).status"]


@pytest.mark.parametrize("line", CANCEL)
def test_a_cancelled_run_leaves_no_open_form_behind(page: Page, line: str) -> None:
    """Whichever door ends it: the form closes, the text above says so, and it takes no answer any more."""
    asked = page.run(f"%%nika --into run\n{ASK}")
    assert page.run(line).error == ""
    page.until(lambda: "◆ ask · Go on?  → not asked any more: the run was cancelled since" in asked.text)
    assert "⊘ cancelled" in asked.text
    assert asked.at_rest
    page.until(lambda: page.run("run.state").text == "'cancelled'")
    assert "is cancelled: only an interrupted run is resumed" in page.run("run.answer(True)").error


# -- drafts ----------------------------------------------------------------------------------------


def test_a_draft_goes_from_form_to_form(page: Page) -> None:
    """Begun in the cell, gone on with in the inbox, sent from a redrawn run; and the others close."""
    first = page.run(f"%%nika --into run\n{TEXT}")
    page.put(page.shown(first, "Textarea")[0], value="for the")
    inbox = page.run("%nika inbox")
    assert page.widgets[page.shown(inbox, "Textarea")[0]]["value"] == "for the"
    page.put(page.shown(inbox, "Textarea")[0], value="for the record")
    third = page.run("%nika attach")
    assert page.widgets[page.shown(third, "Textarea")[0]]["value"] == "for the record"
    page.click(page.button(third, "Submit"))
    page.until(lambda: over(third, "1/1"))
    for cell in (first, inbox):
        page.until(lambda cell=cell: "already answered elsewhere" in cell.text and over(cell, "1/1"))
    assert page.run("run.outputs").text == "{'note': 'for the record'}"


def test_a_click_that_overtook_the_last_words_waits_for_them(page: Page) -> None:
    """While a cell runs, a page keeps back what is typed and sends the click: the answer is whole."""
    cell = page.run(f"%%nika --into run\n{TEXT}")
    field = page.shown(cell, "Textarea")[0]
    page.start("import time; time.sleep(0.3)")
    page.put(field, value="not for the re")
    page.withheld.append((field, {"value": "not for the record"}))
    page.click(page.button(cell, "Submit"))
    page.until(lambda: over(cell, "1/1"))
    assert page.run("run.outputs").text == "{'note': 'not for the record'}"


# -- time ------------------------------------------------------------------------------------------

MOVE = "import nika_nb.runs.ticket as t; real = t.now; t.now = lambda: real() + {seconds}"


def test_an_answer_on_the_next_day_is_confirmed_once(page: Page) -> None:
    """The question has stood there over night: one visible confirmation, then it counts as ever."""
    cell = page.run(f"%%nika\n{ASK}")
    page.run(MOVE.format(seconds=86_400))
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: "more than 15 minutes" in page.told(cell))
    assert len(traces(page.folder)) == 1
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: over(cell, "3/3"))
    assert marks(page.folder / "marks") == {"acted": 1}


def test_a_form_that_is_drawn_on_the_next_day_is_fresh(page: Page) -> None:
    """A pause never expires; the time runs from when the question is shown."""
    page.run(f"%%nika\n{ASK}")
    page.run(MOVE.format(seconds=86_400))
    cell = page.run("%nika inbox")
    page.click(page.button(cell, "No"))
    page.until(lambda: over(cell, "3/3"))
    assert "more than 15 minutes" not in page.told(cell)


# -- dead kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["%nika inbox", "%nika attach"])
def test_a_killed_kernel_loses_no_question(folder: Path, line: str) -> None:
    """Another kernel brings the form back from the file; what goes on is the text that was asked about."""
    here = furnished(folder)
    (here / "flow.nika.yaml").write_text(ASK, encoding="utf-8")
    with kernel(here) as first:
        first.run("import nika_nb\nrun = nika_nb.run('flow.nika.yaml')")
        first.kill()
    (here / "flow.nika.yaml").write_text(ASK.replace("acted", "something else"), encoding="utf-8")
    with kernel(here) as second:
        cell = second.run(line)
        second.click(second.button(cell, "Yes, continue"))
        second.until(lambda: over(cell, "3/3"))
    assert marks(here / "marks") == {"acted": 1}
    old, new = traces(here)
    assert frames(old)[0]["correlation"] == frames(new)[0]["correlation"]
    assert frames(new)[0]["door"] == "a form"


# -- others ----------------------------------------------------------------------------------------


def test_a_form_closes_while_nobody_touches_the_page(page: Page) -> None:
    """Answered in a terminal: the page hears of it by itself, and afterwards nothing watches any more."""
    cell = page.run(f"%%nika --into run\n{ASK}")
    assert page.run("import threading; 'nika-lookout' in str(threading.enumerate())").text == "True"
    assert nika("answer", str(newest(page.folder)), "no", cwd=page.folder).code == 0
    page.until(lambda: "already answered elsewhere: on 20" in cell.text and over(cell, "3/3"))
    assert "with nika-nb" in cell.text
    page.until(lambda: page.run("'nika-lookout' in str(threading.enumerate())").text == "False")
    assert page.run("run.state, run.tasks['act'].state").text == "('completed', 'skipped')"


def test_a_notebook_without_questions_is_not_watched(page: Page) -> None:
    """No thread, no look."""
    look = "import threading; 'nika-lookout' in str(threading.enumerate())"
    page.until(lambda: page.run(look).text == "False")  # those of other tests have gone
    page.run("%%nika\nnika: x\nmodel: mock/echo\ntasks: { a: { infer: { prompt: p } } }\n")
    assert page.run(look).text == "False"


# -- the saved notebook ----------------------------------------------------------------------------


def converted(page: Page) -> str:
    """The notebook as nbconvert makes a page of it, without a kernel."""
    html, _ = HTMLExporter().from_filename(str(page.saved(page.folder / "book.ipynb")))
    return str(html)


def read(html: str) -> str:
    """What a reader sees of a page."""
    body = html.partition("<body")[2]
    return " ".join(unescape(re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", body, flags=re.S)).split())


def test_a_saved_notebook_tells_the_question_and_then_the_answer(page: Page) -> None:
    """Paused: what is asked, what hangs on it, the line to type. Answered: the answer and the end."""
    cell = page.run(f"%%nika\n{ASK}")
    line = f"%nika answer {newest(page.folder).name} ask=yes"
    said = read(converted(page))
    for fact in (
        "◇ paused",
        "Go on?",
        "act (when with.go == true) · keep",
        "run ./say acted · use nika:write · write ./out/x",
        line,
    ):
        assert fact in said
    page.click(page.button(cell, "Yes, continue"))
    page.until(lambda: over(cell, "3/3"))
    said = read(converted(page))
    for fact in ("✔ completed", "◆ ask · Go on? → answered: yes"):
        assert fact in said
    assert line not in said
    assert "◇" not in said
    assert "already answered" in page.run(line).error


# -- hostile text ----------------------------------------------------------------------------------

HOSTILE = """%%nika --vars given --into run
nika: hostile
inputs:
  text: { type: string, required: true }
  choices: { type: { array: string }, required: true }
tasks:
  ask:
    with: { text: "${{ inputs.text }}" }
    invoke:
      tool: "nika:prompt"
      args: { message: "${{ with.text }}", mode: choice, choices: "${{ inputs.choices }}", default: b }
  say:
    with: { text: "${{ inputs.text }}" }
    invoke: { tool: "nika:prompt", args: { message: m, mode: input, default: "${{ with.text }}" } }
outputs: { got: "${{ tasks.ask.output }}" }
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with kernel(tmp_path_factory.mktemp("hostile")) as found:
        found.run("import json")
        yield found


def asked(page: Page, text: str) -> tuple[Cell, Cell, Counter[str]]:
    """(a cell that asks with this text, an inbox, the tags of the converted page that are not ours)."""
    page.cells.clear()
    shutil.rmtree(page.folder / ".nika", ignore_errors=True)
    (page.folder / "given.json").write_text(json.dumps({"text": text, "choices": [text[:4000], "b"]}))
    page.run("given = json.load(open('given.json'))")
    cell = page.run(HOSTILE)
    assert cell.error == ""
    inbox = page.run("%nika inbox")
    judged = Judge(converted(page))
    assert not {name for name in judged.attributes if name.startswith("on")}
    return cell, inbox, Counter(tag for tag in judged.tags if tag not in ALLOWED)


@pytest.fixture(scope="module")
def harmless(hostile: Page) -> Counter[str]:
    """The frame that nbconvert puts around any notebook."""
    return asked(hostile, "harmless")[2]


OURS = re.compile(r"<style>[^<>]*\.nika-(?:live|asks|run)[^<>]*</style>")


@pytest.mark.parametrize("name", [name for name in NASTY if name != "surrogate"])  # which no input may be
def test_a_hostile_question_is_text_wherever_it_is_shown(
    hostile: Page, harmless: Counter[str], name: str
) -> None:
    """Cell, form, inbox and converted page hold our tags only; the answer is what was meant, untouched."""
    cell, inbox, frame = asked(hostile, NASTY[name])
    assert frame == harmless
    for one in (cell, inbox):
        assert {*Judge(one.page).tags, *Judge(OURS.sub("", hostile.told(one))).tags} <= ALLOWED
        assert not UNSEEN.search(one.page + one.text + hostile.told(one))
        assert len(one.page) < 200_000
    labels = [hostile.widgets[one]["_options_labels"] for one in hostile.shown(cell, "RadioButtons")]
    assert all(len(label) <= 200 and not UNSEEN.search(label) for some in labels for label in some)
    hostile.put(hostile.shown(cell, "RadioButtons")[0], index=0)
    hostile.click(hostile.button(cell, "Submit"))
    hostile.until(lambda: "◆ ask" in cell.text)
    hostile.until(lambda: hostile.run("run.state").text == "'paused'")
    assert hostile.run("run.tasks['ask'].output == given['choices'][0]").text == "True"
