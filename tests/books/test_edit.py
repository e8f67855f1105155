"""Out of a cell into a file, out of a file into a cell; what is not meant keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from nika_nb import books
from nika_nb.books import edit
from nika_nb.errors import CheckRefused, UsageError
from tests.books.shelves import BYE, HELLO, OLD, book, code, magic, story
from tests.doors import Terminal

EDITED = HELLO.replace("hello ${{", "grüß dich 🦋 ${{")

Layout = Callable[[Any], str]


def layout(**options: Any) -> Layout:
    return lambda shape: json.dumps(shape, **options)


LAYOUTS: dict[str, Layout] = {
    "jupyter": lambda shape: layout(indent=1, ensure_ascii=False, sort_keys=True)(shape) + "\n",
    "two blanks": layout(indent=2, ensure_ascii=False),
    "tabs": layout(indent="\t", ensure_ascii=False),
    "one line": layout(ensure_ascii=False),
    "no blanks": layout(ensure_ascii=False, separators=(",", ":")),
    "escaped": layout(indent=1),
    "colab": lambda shape: layout(indent=2)(shape).replace("<", "\\u003c"),
    "crlf": lambda shape: layout(indent=1, ensure_ascii=False)(shape).replace("\n", "\r\n"),
    "odd": lambda shape: layout(indent=1, ensure_ascii=False)(shape).replace('": ', '" :   ') + "\n\n",
}


def written(path: Path, text: Layout) -> bytes:
    """A notebook with prose, a workflow, numbers and outputs, in some writer's layout."""
    lines = [line + "\n" for line in f"%%nika --quiet\n{HELLO}".splitlines()]
    lines[-1] = lines[-1].removesuffix("\n")
    output = {"output_type": "stream", "name": "stdout", "text": ["<b>ö</b>\n", "\\u0041 🦋\n"]}
    common = {"cell_type": "code", "execution_count": 3, "outputs": [output]}
    cells = [
        {"cell_type": "markdown", "metadata": {"n": 1e22, "f": 1.50}, "source": "# Ü <b>", "id": "prose"},
        {**common, "metadata": {}, "source": lines, "id": "flow"},
        {**common, "metadata": {"tags": []}, "source": [], "id": "rest"},
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    raw = text({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}).encode("utf-8")
    path.write_bytes(raw)
    return raw


def alike(one: bytes, two: bytes) -> int:
    """How many bytes two texts have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))


def shape_of(path: Path) -> Any:
    shape = json.loads(path.read_bytes())
    nbformat.validate(shape)
    return shape


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_replaced_cell_leaves_every_other_byte_alone(tmp_path: Path, name: str) -> None:
    """In whatever layout the file is; put back, the file is what it was."""
    path = tmp_path / "b.ipynb"
    raw = written(path, LAYOUTS[name])
    before = shape_of(path)
    made = books.embed(path, EDITED)
    assert (made.name, made.number, made.replaced, made.changed) == ("hello", 2, True, True)
    after, new = path.read_bytes(), shape_of(path)
    assert alike(raw, after) + alike(raw[::-1], after[::-1]) >= len(raw) - len("hello ${{")
    assert "".join(new["cells"][1].pop("source")) == f"%%nika --quiet\n{EDITED}".removesuffix("\n")
    del before["cells"][1]["source"]
    assert new == before
    books.embed(path, HELLO)
    assert path.read_bytes() == raw or name == "odd"


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_new_cell_stands_behind_all_others(tmp_path: Path, name: str) -> None:
    """Everything before it keeps its bytes, and so does what follows the cells."""
    path = tmp_path / "b.ipynb"
    raw = written(path, LAYOUTS[name])
    before = shape_of(path)
    made = books.embed(path, BYE, options="--resume")
    assert (made.number, made.replaced) == (4, False)
    after, new = path.read_bytes(), shape_of(path)
    assert alike(raw, after) > raw.rindex(b"rest")
    cell = new["cells"].pop()
    assert new == before
    assert "".join(cell["source"]) == f"%%nika --resume\n{BYE}".removesuffix("\n")
    assert cell["id"] not in {"prose", "flow", "rest"}
    assert books.workflows(path)[1].text == BYE


def test_a_cell_of_a_format_without_ids_gets_none(tmp_path: Path) -> None:
    """An id there would make the notebook invalid."""
    path = story(tmp_path / "b.ipynb", magic(HELLO))
    shape = json.loads(path.read_text(encoding="utf-8"))
    shape["nbformat_minor"] = 4
    for cell in shape["cells"]:
        del cell["id"]
    path.write_text(json.dumps(shape), encoding="utf-8")
    books.embed(path, BYE)
    assert "id" not in shape_of(path)["cells"][-1]


def test_the_first_line_stays_unless_another_is_given(tmp_path: Path) -> None:
    """It belongs to the notebook, not to the workflow's file."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, "--var name='Ann Lee'"))
    books.embed(path, EDITED)
    assert books.workflows(path)[0].options == "--var name='Ann Lee'"
    books.embed(path, EDITED, options="")
    assert books.workflows(path)[0].options == ""
    assert not books.embed(path, EDITED).changed


def test_another_cell_can_be_meant(tmp_path: Path) -> None:
    """To rename a workflow, and where its name stands twice."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, cell_id="one"), magic(HELLO, "--resume", "two"))
    with pytest.raises(UsageError, match="stands in 2 cells"):
        books.embed(path, EDITED)
    books.embed(path, BYE, cell="two")
    assert [(cell.name, cell.options) for cell in books.workflows(path)] == [
        ("hello", ""),
        ("bye", "--resume"),
    ]


def test_a_notebook_is_made_where_there_is_none(tmp_path: Path) -> None:
    """With the cell that loads the extension; and it is said where a notebook has none."""
    path = tmp_path / "new" / "b.ipynb"
    made = books.embed(path, HELLO)
    assert (made.number, made.loads) == (2, True)
    assert shape_of(path)["cells"][0]["source"] == ["%load_ext nika_nb"]
    assert not books.embed(book(tmp_path / "bare.ipynb"), HELLO).loads


@pytest.mark.parametrize(
    "text", ["nika: x\ntasks: [\n", "tasks: {}\n", "just\nprose\n"], ids=["broken", "nameless", "prose"]
)
def test_what_is_no_workflow_is_not_put_in(tmp_path: Path, text: str) -> None:
    """Nothing is written, and no notebook is made."""
    path = story(tmp_path / "b.ipynb", magic(HELLO))
    raw = path.read_bytes()
    for target in (path, tmp_path / "new.ipynb"):
        with pytest.raises(CheckRefused):
            books.embed(target, text)
    assert path.read_bytes() == raw
    assert not (tmp_path / "new.ipynb").exists()


def test_a_notebook_that_is_not_valid_is_not_written_to(tmp_path: Path) -> None:
    """It would be no more valid afterwards; an old format is not turned into a new one either."""
    invalid = json.loads(book(tmp_path / "v.ipynb", magic(HELLO)).read_text(encoding="utf-8")) | {
        "metadata": 7
    }
    for shape, why in ((invalid, "no valid notebook"), (OLD, "saved in format 3")):
        path = tmp_path / "b.ipynb"
        path.write_text(json.dumps(shape), encoding="utf-8")
        raw = path.read_bytes()
        with pytest.raises(UsageError, match=why):
            books.embed(path, BYE)
        assert path.read_bytes() == raw


def test_a_change_in_the_meantime_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody saves the notebook between the reading and the writing."""
    path = story(tmp_path / "b.ipynb", magic(HELLO))
    judge = edit._judge

    def saved(*args: Any) -> None:
        judge(*args)
        story(path, magic(BYE))

    monkeypatch.setattr(edit, "_judge", saved)
    with pytest.raises(UsageError, match="was changed by somebody else in the meantime"):
        books.embed(path, EDITED)
    assert [cell.name for cell in books.workflows(path)] == ["bye"]


def test_a_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """It is replaced as a whole; a link goes on leading to it, and nothing else is left."""
    path = story(tmp_path / "b.ipynb", magic(HELLO))
    path.chmod(0o640)
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    books.embed(link, EDITED)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert books.workflows(path)[0].text == EDITED
    assert sorted(found.name for found in tmp_path.iterdir()) == ["b.ipynb", "link.ipynb"]


# -- out ---------------------------------------------------------------------------------------


def test_workflows_are_written_into_files(tmp_path: Path) -> None:
    """Beside the notebook, under their names, exactly as they stand; once more changes nothing."""
    path = story(tmp_path / "b.ipynb", magic(HELLO, "--var name=Ann"), magic(BYE, cell_id="two"))
    first, second = books.extract(path)
    assert (first.path, first.options, first.written) == (
        tmp_path / "hello.nika.yaml",
        "--var name=Ann",
        True,
    )
    assert first.path.read_text(encoding="utf-8") == HELLO
    assert second.path.read_text(encoding="utf-8") == BYE
    assert not any(found.written for found in books.extract(path))


def test_a_file_that_holds_something_else_is_kept(tmp_path: Path) -> None:
    """And then nothing else is written either, unless it is forced."""
    path = story(tmp_path / "b.ipynb", magic(HELLO), magic(BYE, cell_id="two"))
    mine = tmp_path / "bye.nika.yaml"
    mine.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"bye\.nika\.yaml holds something else"):
        books.extract(path)
    assert mine.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "hello.nika.yaml").exists()
    books.extract(path, force=True)
    assert mine.read_text(encoding="utf-8") == BYE


def test_one_workflow_into_another_folder(tmp_path: Path) -> None:
    """Two of one name are told apart by their cells; one without a name has no file."""
    path = story(
        tmp_path / "b.ipynb",
        magic(HELLO, cell_id="one"),
        magic(EDITED, cell_id="two"),
        code("%%nika\nx: 1", "no"),
    )
    with pytest.raises(UsageError, match="stands in 2 cells"):
        books.extract(path)
    (found,) = books.extract(path, ["two"], tmp_path / "a" / "b")
    assert found.path.read_text(encoding="utf-8") == EDITED
    with pytest.raises(UsageError, match=r"cell 5 \(no\) of b.ipynb names no workflow"):
        books.extract(path, ["no"])
    with pytest.raises(UsageError, match="holds no workflow"):
        books.extract(story(tmp_path / "none.ipynb"))


@pytest.mark.parametrize("name", ["../../hello", "/hello", ".hello", '"a\\e[31mb"'])
def test_a_name_that_is_none_for_a_file_makes_none(tmp_path: Path, name: str) -> None:
    """A workflow may call itself what it likes."""
    path = story(tmp_path / "b.ipynb", magic(HELLO.replace("nika: hello", f"nika: {name}")))
    with pytest.raises(UsageError, match="no name for its file"):
        books.extract(path)


def test_there_and_back_changes_nothing(tmp_path: Path) -> None:
    """What was extracted and is embedded again leaves the notebook as it was."""
    path = story(tmp_path / "b.ipynb", magic(HELLO.removesuffix("\n"), "--quiet"))
    raw = path.read_bytes()
    (found,) = books.extract(path)
    assert not books.embed(path, found.path).changed
    assert path.read_bytes() == raw


def test_the_terminal_has_the_same_words(folder: Path, terminal: Terminal) -> None:
    """extract says what a file cannot hold, embed what it did."""
    story(folder / "b.ipynb", magic(HELLO, "--var name=Ann"))
    out = terminal("book", "extract", "b.ipynb::hello", "--to", "flows")
    assert (out.code, out.out) == (0, b"flows/hello.nika.yaml\n")
    assert "the cell of `hello` says --var name=Ann" in out.err
    put = terminal("book", "embed", "new.ipynb", "flows/hello.nika.yaml", "--options=--quiet")
    assert (put.code, put.out.decode()) == (0, "new.ipynb::hello · cell 2 · added\n")
    again = terminal("book", "embed", "new.ipynb::hello", "flows/hello.nika.yaml")
    assert again.out.decode() == "new.ipynb::hello · cell 2 · unchanged\n"
    assert terminal("book", "extract", "flows/hello.nika.yaml").code == 3
    assert terminal("book", "embed", "new.ipynb", "flows/none.nika.yaml").code == 3
