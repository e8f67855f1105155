"""The gallery in Binder's environment: every notebook runs, tells the truth, and can be handed on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import tomllib
from pathlib import Path

import nbformat
import pytest

import nika_nb
from tests.doors import hits, traces
from tests.gallery import binder
from tests.gallery.carried import TRACE, with_its_log
from tests.gallery.execute import BOOKS, ROOT, WIDGET, cleaned, environment, executed, gallery, jupyter, read
from tests.gallery.telling import drawn, said, told

pytestmark = pytest.mark.timeout(900)  # an environment is made, and all of the notebooks run

NAMES = [book.stem for book in gallery()]
LARGEST = 300_000  # bytes of a committed notebook
SECRET = "canary-4f1d0c"

FACTS = {
    "01-quickstart": [
        "resumed · 4 skipped (cache hit) · 0 ran live",
        "resumed · 3 skipped (cache hit) · 1 ran live",
        "hash_notes definition changed: exec.command",
        "18 total",
        "mock(echo) · A title for: one flag, one task",
        "◇ paused · 1 open question",
        "to answer: %nika answer",
    ],
    "02-resume": [
        "ended by signal 9",
        "task_completed 2",
        "◐ pack_assets exec · gzip · was running",
        "▸ run pack_assets not recorded: was running",
        "resumed · 2 skipped (cache hit) · 2 ran live",
        "archive ok · tonight",
        "hash_notes definition changed: exec.command",
        "manifest input changed: with.label, inputs.label",
        "1 ran · 3 skipped (cache hit)",
    ],
    "03-human-in-the-loop": [
        "◇ paused · 2 open questions",
        "`newsletter` waits for an answer to `audience`, `headline`",
        "takes one of its choices (colleagues · customers · everyone), not 'martians'; it still waits",
        "◆ send · Send “Nothing runs twice” to colleagues? → answered on",
        "# Nothing runs twice",
        "↷ publish when: gate closed",
        "{'sent': False}",
        "1 run waits for an answer",
    ],
    "04-traces-as-dataframes": [
        "NIKA-EXEC-001",
        "<Figure size",
        "changed inputs.level: 1 → 9",
        "3 ran · 1 skipped (cache hit)",
        "ledger · 11 invocations",
        "replay of pack · 6 steps",
    ],
    "05-model-over-a-table": [
        "of 400 rows are in the journal",
        "the prices of mock/echo are made up: NIKA_NB_MOCK gives them",
        "403/403 · 399 cached",
        "spent $0.1375",
    ],
    "06-carries-its-run": [
        "resumed · 4 skipped (cache hit) · 0 ran live",
        "── 4/4 done · $0.00",
        "{'percent': 2.019, 'report': 'mock(echo) · A friendly sentence about errors in 2.019 percent of",
        "log.ndjson: OK",
        "report input changed: with.tone, inputs.tone",
    ],
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment made from `binder/`."""
    folder = tmp_path_factory.mktemp("binder")
    return binder.built(binder.clone(folder / "clone"), folder / "venv")


@pytest.fixture(scope="module")
def books(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Every notebook, executed there in a folder with blanks and an umlaut in its name, and rendered."""
    folder = tmp_path_factory.mktemp("ein Büch mit Leerzeichen")
    found = executed(gallery(), folder, python, API_KEY=SECRET)
    jupyter(python, "nbconvert", "--to", "html", *map(str, found.values()), folder=folder)
    return found


def page(book: Path) -> str:
    return book.with_suffix(".html").read_text(encoding="utf-8")


def has_rows(panel: str, trace: Path) -> bool:
    """Whether a panel has a row for each task of a run, with its final state."""
    rows = nika_nb.attach(trace).board.rows.values()
    ends = [rf"(&nbsp;|\xa0){row.state}\b[^<]*</td><td[^>]*>{row.id}<" for row in rows]
    return all(re.search(end, panel) for end in ends)


# -- Binder ----------------------------------------------------------------------------------------


def test_the_environment_holds_the_package_itself(python: str) -> None:
    """Installed there, not found in this folder; the commands stand beside its interpreter."""
    code = "import nika_nb; print(nika_nb.__file__)"
    found = subprocess.run(
        [python, "-c", code], cwd="/", env=environment(python), capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith(str(Path(python).parents[1]))
    assert (Path(python).parent / "nika-nb").exists()


def test_what_is_installed_first_is_the_extra() -> None:
    """`requirements.txt` repeats the extra `lab`, so that its layer is kept; the two say the same."""
    lines = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [line for line in lines if not line.startswith("#")] == extras["optional-dependencies"]["lab"]


def test_binder_can_start_it() -> None:
    """The build step may be executed, and the version of Python is one that the package takes."""
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)
    version = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    assert re.fullmatch(r"python-3\.1[1-3]", version)


# -- what stands in them ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_notebook_tells_its_story(books: dict[str, Path], name: str) -> None:
    """Executed from a clean folder, it shows what its text says that it shows."""
    outputs = said(read(books[name]))
    assert [fact for fact in FACTS[name] if fact not in outputs] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_is_committed_is_what_comes_out(books: dict[str, Path], name: str) -> None:
    """Times and ids aside, in text as in what is drawn. `python -m tests.gallery.execute` renews it."""
    committed, comes_out = read(BOOKS / f"{name}.ipynb"), cleaned(read(books[name]))
    assert told(committed) == told(comes_out)
    assert drawn(committed) == drawn(comes_out)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_without_a_kernel_shows_the_final_state_of_every_task(
    books: dict[str, Path], name: str
) -> None:
    """In nbconvert's HTML each run that is shown has one panel with a row for each task and how it ended."""
    panels = page(books[name]).split("tex2jax_ignore")
    folder = books[name].parent
    shown = [path for path in traces(folder) if any(f"traces/{path.name}" in panel for panel in panels)]
    assert shown
    for path in shown:
        assert any(f"traces/{path.name}" in panel and has_rows(panel, path) for panel in panels), path.name


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_handed_on(books: dict[str, Path], name: str) -> None:
    """No absolute path, no machine, no secret: not in the file, the page or the journals."""
    folder = books[name].parent
    written = [books[name], books[name].with_suffix(".html"), *traces(folder), BOOKS / f"{name}.ipynb"]
    for path in written:
        text = path.read_text(encoding="utf-8")
        assert str(folder) not in text, path.name
        assert str(Path.home()) + "/" not in text, path.name
        assert SECRET not in text, path.name
    outputs = "\n".join(told(read(BOOKS / f"{name}.ipynb")))
    assert not re.search(r"(?<![\w.])/(home|root|tmp|Users|private|var|opt|work)/", outputs)
    assert len(platform.node()) < 6 or platform.node() not in outputs


@pytest.mark.parametrize("name", NAMES)
def test_a_committed_notebook_is_small_and_at_rest(name: str) -> None:
    """Valid, executed from top to bottom, without widgets that nobody answers behind and without times."""
    path = BOOKS / f"{name}.ipynb"
    notebook = read(path)
    nbformat.validate(notebook)
    assert path.stat().st_size < LARGEST
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert nbformat.writes(cleaned(read(path))) == nbformat.writes(notebook)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_alive_has_a_still_twin(books: dict[str, Path], name: str) -> None:
    """What needs a kernel stands beside text and HTML that need none."""
    outputs = [output for cell in read(books[name]).cells for output in cell.get("outputs", [])]
    for data in (output.get("data", {}) for output in outputs):
        assert WIDGET not in data or {"text/plain", "text/html"} <= set(data)


def test_executed_with_nobody_there_nothing_waits_for_a_click(books: dict[str, Path]) -> None:
    """Panels of runs that stopped are plain; the quickstart's open question says how to answer it."""
    cells = read(books["01-quickstart"]).cells
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    assert not any(WIDGET in data for data in shown)
    assert any("%nika answer" in data.get("text/plain", "") for data in shown)


# -- the carried run -------------------------------------------------------------------------------


def test_a_reader_of_the_carried_run_needs_nothing(books: dict[str, Path]) -> None:
    """Without the log and without a key: all hits, and the outputs of the record."""
    folder = books["06-carries-its-run"].parent
    assert not (folder / "server.log").exists()
    assert hits(traces(folder)[0]) == {"lines", "errors", "share", "report"}
    recorded = nika_nb.attach(BOOKS / TRACE)
    assert nika_nb.attach(traces(folder)[0]).outputs == recorded.outputs
    assert recorded.state == "completed"


def test_the_carried_run_comes_out_the_same(tmp_path: Path) -> None:
    """With the log at hand its record is reproduced, task by task: it is a run, and no fiction."""
    found = nika_nb.reproduce(BOOKS / TRACE, effects=True, folder=with_its_log(tmp_path))
    assert {task.task: task.verdict for task in found.tasks} == dict.fromkeys(
        ("lines", "errors", "share", "report"), "reproduced"
    )
