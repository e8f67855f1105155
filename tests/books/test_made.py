"""The traces that a saved notebook knows of: out of the stills in its outputs, with nothing beside them."""

from __future__ import annotations

import gzip
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_output

import nika_nb
from nika_nb import books
from nika_nb.board import mimebundle, tracepage, unfinished
from nika_nb.books import made as made_module
from nika_nb.books.made import restored
from nika_nb.errors import UsageError
from nika_nb.runs.run import Run
from tests.books.shelves import HELLO, code, magic, story
from tests.doors import Terminal, newest


def display(data: dict[str, str]) -> Any:
    return new_output("display_data", data=data)  # type: ignore[no-untyped-call]


def printed(text: str) -> Any:
    return new_output("stream", name="stdout", text=text)  # type: ignore[no-untyped-call]


def still(run: Run) -> dict[str, str]:
    """What a finished panel leaves in a saved notebook."""
    assert run.trace is not None
    run.board.trace_data = tracepage.packed(run.trace.read_bytes())
    return mimebundle(run.board)


def shelf(folder: Path, *outputs: Any, cell: Any = None) -> Path:
    found = cell if cell is not None else magic(HELLO, cell_id="one")
    found.outputs = list(outputs)
    return story(folder / "b.ipynb", found)


def test_a_still_tells_its_trace(folder: Path) -> None:
    """Its path, its events, its head, and the journal itself."""
    run = nika_nb.run(HELLO)
    assert run.trace is not None
    (found,) = books.traces(shelf(folder, display(still(run))))
    assert (found.cell, found.path) == (3, f".nika/traces/{run.trace.name}")
    assert (found.events, found.head) == (run.board.trace_events, run.board.trace_head)
    assert restored(found) == run.trace.read_bytes()


def test_whatever_shows_a_run_counts(folder: Path) -> None:
    """A cell that attaches, a panel that a killed kernel left, text that a shell printed; each trace once."""
    one, two = nika_nb.run(HELLO), nika_nb.run(HELLO)
    assert one.trace is not None
    assert two.trace is not None
    outputs = [printed(f"noise\n{two}\n"), display(unfinished(one.board)), display(still(one))]
    path = shelf(folder, *outputs, display(still(one)), cell=code("%nika attach", "other"))
    assert [(found.name, bool(found.carried)) for found in books.traces(path)] == [
        (two.trace.name, False),
        (one.trace.name, False),
        (one.trace.name, True),
    ]


def test_they_are_shown_in_a_line_each(folder: Path) -> None:
    """What a trace carries is no text for people; a workflow is told by its name."""
    run = nika_nb.run(HELLO)
    path = shelf(folder, display(still(run)))
    [made] = books.traces(path)
    assert repr(made) == f"cell 3 · {made.path} · {made.events} events · carried"
    assert [repr(cell) for cell in books.workflows(path)] == [f"hello · {books.workflows(path)[0].shown}"]


@pytest.mark.parametrize(
    "text",
    [
        "trace: x.ndjson",
        "    trace: x.txt · 3 events",
        f"said: '    trace: x.ndjson · 3 events · chain {'0' * 64}'",
        "    trace: x.ndjson · chain 123",
    ],
)
def test_what_only_looks_like_one_is_none(folder: Path, text: str) -> None:
    """A still has a line of its own for it."""
    assert books.traces(shelf(folder, printed(text))) == ()


def test_strange_outputs_tell_nothing(folder: Path) -> None:
    """A notebook may come from anywhere."""
    cell = magic(HELLO)
    path = story(folder / "b.ipynb", cell)
    text = path.read_text(encoding="utf-8")
    for outputs in ("7", '[1, {"data": 3}, {"text": [5]}, {"data": {"text/plain": null}}]', "null"):
        path.write_text(text.replace('"outputs": []', f'"outputs": {outputs}'), encoding="utf-8")
        assert books.traces(path) == ()


def test_the_listing_says_where_a_trace_is(folder: Path, terminal: Terminal) -> None:
    """Here, in the notebook alone, or nowhere any more."""
    small, large = nika_nb.run(HELLO), nika_nb.run(HELLO)
    assert small.trace is not None
    assert large.trace is not None
    shelf(folder, display(still(small)), display(mimebundle(large.board)))
    listed = terminal("book", "ls", "b.ipynb").out.decode().splitlines()
    assert listed[0] == "hello  cell 3 (one)"
    assert [line.rpartition(" · ")[2] for line in listed[1:]] == ["here", "here"]
    for trace in (small.trace, large.trace):
        trace.unlink()
    shapes = terminal("book", "ls", "b.ipynb", "--json").outputs
    assert [shape["where"] for shape in shapes[0]["traces"]] == ["in the notebook", "gone"]


def test_a_notebook_alone_gets_its_trace_back(folder: Path, terminal: Terminal) -> None:
    """Out of the cell's output, to where it had been; then the cell resumes it."""
    run = nika_nb.run(HELLO)
    assert run.trace is not None
    content = run.trace.read_bytes()
    path = shelf(folder, display(still(run)))
    run.trace.unlink()
    done = terminal("book", "carry", "b.ipynb")
    assert done.code == 0, done.err
    assert f"{run.trace.name} was gone, and was put back out of the output of cell 3" in done.err
    assert run.trace.read_bytes() == content == (folder / "traces" / "hello.ndjson").read_bytes()
    assert run.trace.stat().st_mode & 0o777 == 0o600
    assert nika_nb.run(f"{path}::hello").board.hits == 1


def test_an_output_that_was_tampered_with_gives_nothing_back(folder: Path, terminal: Terminal) -> None:
    """The journal it carries has to be the one whose head it shows."""
    one, two = nika_nb.run(HELLO), nika_nb.run(HELLO, vars={"name": "other"})
    assert one.trace is not None
    assert two.trace is not None
    shown, other = still(one), still(two)
    swapped = other["text/html"].replace(two.trace.name, one.trace.name)
    shelf(folder, display(shown | {"text/html": swapped}))
    one.trace.unlink()
    two.trace.unlink()
    done = terminal("book", "carry", "b.ipynb")
    assert (done.code, "is not the one it names" in done.err) == (3, True)
    assert not one.trace.exists()


@pytest.mark.parametrize(
    "data", ["%%%", b64encode(b"no gzip").decode(), b64encode(gzip.compress(b"", mtime=0))[:9].decode()]
)
def test_what_cannot_be_unpacked_is_no_journal(data: str) -> None:
    """Neither broken text nor broken bytes raise anything strange."""
    made = books.MadeTrace(3, "x.ndjson", None, None, f"application/gzip,{data}")
    with pytest.raises(UsageError, match=r"cell 3 carries no journal of x\.ndjson"):
        restored(made)


def test_a_small_output_never_becomes_a_huge_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What unpacks to more than a journal may be is none."""
    monkeypatch.setattr(made_module, "MOST", 1000)
    data = b64encode(gzip.compress(b"x" * 1001)).decode()
    with pytest.raises(UsageError, match="carries no journal"):
        restored(books.MadeTrace(3, "x.ndjson", None, None, f"application/gzip,{data}"))


def test_a_downloadable_trace_counts_as_carried(folder: Path) -> None:
    """`%nika trace` shows the journal itself."""
    run = nika_nb.run(HELLO)
    assert run.trace is not None
    page = tracepage.mimebundle(newest(folder).name, run.trace.read_bytes())
    both = {"text/html": page["text/html"], "text/plain": str(run)}
    (found,) = books.traces(shelf(folder, display(both)))
    assert restored(found) == run.trace.read_bytes()
