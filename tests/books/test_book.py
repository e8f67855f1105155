"""What a notebook holds, and the one workflow that is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nika_nb import books
from nika_nb.books import file
from nika_nb.errors import UsageError
from nika_nb.openers import Opened
from tests.books.shelves import BYE, HELLO, OLD, book, code, magic, story


def test_a_notebook_lists_its_workflows(tmp_path: Path) -> None:
    """In the order of the cells, each with its name, its place, its options and its text."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, "--var name=Ann", "one"), magic(BYE, cell_id="two"))
    first, second = books.workflows(path)
    assert (first.name, first.number, first.id, first.line) == ("hello", 3, "one", 2)
    assert (first.options, first.text) == ("--var name=Ann", HELLO)
    assert (second.name, second.number, second.options) == ("bye", 4, "")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (f"%%nika\n{HELLO}", 2),
        (f"\n  \n%%nika --quiet\n{HELLO}", 4),
        ("".join(f"    {line}\n" for line in f"%%nika\n{HELLO}".splitlines()), 2),
        (f"%%nika   \n{HELLO}", 2),
    ],
)
def test_a_magic_is_one_where_ipython_sees_one(tmp_path: Path, source: str, line: int) -> None:
    """Blank lines above it and a common indentation do not hide it."""
    (found,) = books.workflows(book(tmp_path / "b.ipynb", code(source, "c")))
    assert (found.name, found.line, found.text) == ("hello", line, HELLO)


@pytest.mark.parametrize(
    "source",
    [
        "text = '''\n%%nika\nnika: told\n'''",
        "print('%%nika')",
        "# a comment\n%%nika\nnika: lost",
        "%%nikaesque\nnika: other",
        "%%nika\t--quiet\nnika: tabbed",
        "%%time\n%%nika\nnika: timed",
    ],
)
def test_other_cells_are_no_workflows(tmp_path: Path, source: str) -> None:
    """Python that speaks of the magic, other magics, and a magic that is not on the first line."""
    assert books.workflows(book(tmp_path / "b.ipynb", code(source, "c"))) == ()


def test_a_magic_that_nobody_sees_is_pointed_at(tmp_path: Path) -> None:
    """With its cell and line; not where it stands in a text of a Python cell."""
    path = story(
        tmp_path / "b.ipynb",
        code("# my flow\n%%nika\nnika: lost", "a"),
        code("text = '''\n%%nika\n'''", "b"),
        magic(HELLO),
    )
    with pytest.raises(UsageError) as refused:
        books.opened(path, "lost")
    assert str(refused.value).splitlines() == [
        "there is no workflow `lost` in b.ipynb; it has hello",
        "  cell 3, line 2: %%nika has to be the cell's first line",
    ]


def opened(path: Path, name: str | None) -> str:
    """The text that is found, or why none is."""
    try:
        found: Opened = books.opened(path, name)
    except UsageError as refused:
        return str(refused)
    return found.source.text


def test_a_workflow_is_found_by_its_name_its_cells_id_and_its_cells_number(tmp_path: Path) -> None:
    """A name goes first; the only workflow of a notebook needs none."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, cell_id="one"), magic(BYE, cell_id="hello"))
    assert opened(path, "hello") == HELLO
    assert opened(path, "one") == opened(path, "3") == HELLO
    assert opened(path, "bye") == opened(path, "4") == BYE
    assert opened(story(tmp_path / "single.ipynb", magic(BYE)), None) == BYE


def test_what_is_not_found_says_what_there_is(tmp_path: Path) -> None:
    """A near miss, several without a name, two of one name, none at all."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, cell_id="one"), magic(BYE, cell_id="two"))
    twice = story(tmp_path / "t.ipynb", magic(HELLO, cell_id="one"), magic(HELLO, "--resume", "two"))
    assert opened(path, "helo") == "there is no workflow `helo` in b.ipynb; did you mean `hello`?"
    assert opened(path, "nothing") == "there is no workflow `nothing` in b.ipynb; it has hello, bye"
    assert opened(path, None).splitlines() == [
        "b.ipynb holds 2 workflows; say which one:",
        f"  {path}::hello",
        f"  {path}::bye",
    ]
    assert opened(twice, "hello").splitlines() == [
        "`hello` stands in 2 cells of t.ipynb; name the one that is meant:",
        f"  {twice}::one  cell 3",
        f"  {twice}::two  cell 4",
    ]
    assert opened(twice, "two") == HELLO
    assert opened(story(tmp_path / "n.ipynb"), "hello") == (
        "n.ipynb holds no workflow: no code cell begins with %%nika"
    )


def test_a_text_that_is_broken_keeps_its_name(tmp_path: Path) -> None:
    """So that it can be named and its diagnostics told; without a name it has its cell's id."""
    path = book(
        tmp_path / "b.ipynb",
        magic("nika: broken\ntasks: [", cell_id="a"),
        magic("tasks: {}", cell_id="b"),
        magic("{nika: flow-style, tasks: {a: {exec: {command: [ls]}}}}", cell_id="c"),
        magic("nika: 'quoted' # so\ntasks: {", cell_id="d"),
        code("%%nika", "e"),
    )
    assert [cell.name for cell in books.workflows(path)] == ["broken", "", "flow-style", "quoted", ""]
    assert opened(path, "b") == "tasks: {}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("{", "line 1, column 2: Expecting property name enclosed in double quotes"),
        ("[]", "it holds no object"),
        ("{}", "it names no `nbformat`"),
        ('{"nbformat": 5}', "its format is 5, and 4 is the newest that is known here"),
        ('{"nbformat": 4}', "it has no list of `cells`"),
        ('{"nbformat": 4, "cells": [1]}', "cell 1 says no `cell_type`"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', "cell 1 has no text as its `source`"),
        ('{"nbformat": 3, "worksheets": 7}', "its old format cannot be read"),
        (
            "{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n}",
            "a merge conflict stands in it: resolve it first",
        ),
        ("[" * 200_000, "it nests too deep"),
    ],
)
def test_what_is_no_notebook_is_refused_in_one_sentence(tmp_path: Path, text: str, why: str) -> None:
    """The file, and what is wrong with it."""
    path = tmp_path / "b.ipynb"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read as a notebook: ") as refused:
        books.workflows(path)
    assert why in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absent, a folder, no UTF-8, and larger than a notebook may be."""
    (tmp_path / "bytes.ipynb").write_bytes(b'{"nbformat": "\xff"}')
    assert "No such file" in opened(tmp_path / "none.ipynb", None)
    assert "is a folder, not a notebook" in opened(tmp_path, None)
    assert "the byte 0xff does not belong to UTF-8 text" in opened(tmp_path / "bytes.ipynb", None)
    monkeypatch.setattr(file, "BOUND", 100)
    assert "clear the outputs that you do not need" in opened(book(tmp_path / "b.ipynb", magic(HELLO)), None)


@pytest.mark.parametrize(
    ("metadata", "fits"),
    [
        ({}, True),
        ({"language_info": {"name": "python"}}, True),
        ({"kernelspec": {"name": "sagemath", "display_name": "Sage", "language": "sage"}}, True),
        ({"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}, False),
        ({"language_info": {"name": "julia"}}, False),
    ],
)
def test_only_a_python_kernel_knows_the_magic(
    tmp_path: Path, metadata: dict[str, object], fits: bool
) -> None:
    """In the notebook of another language no cell is a workflow, whatever it looks like."""
    path = book(tmp_path / "b.ipynb", magic(HELLO), metadata=metadata)
    assert (opened(path, "hello") == HELLO) is fits
    assert fits or "%%nika is a magic of Python kernels" in opened(path, "hello")


def test_notebooks_of_older_formats_are_read(tmp_path: Path) -> None:
    """Format 3 keeps its cells in worksheets; before 4.5 cells have no ids, and have their numbers."""
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(OLD), encoding="utf-8")
    assert opened(path, "hello") == HELLO
    lines = ["%%nika\n", *HELLO.splitlines(keepends=True)]
    bare = {"cell_type": "code", "source": lines, "outputs": [], "metadata": {}, "execution_count": None}
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [bare, bare]}),
        encoding="utf-8",
    )
    assert opened(path, "2") == HELLO
    assert f"{path}::2  cell 2" in opened(path, "hello")
