"""`book.ipynb::name` through every door that takes a workflow file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import nika_nb
from nika_nb import runs
from nika_nb.errors import CheckRefused, UsageError
from tests.books.shelves import BYE, HELLO, magic, story
from tests.doors import Terminal, frames, newest, of, program, traces

READS = """\
nika: reads
permits: { fs: { read: ["./data/**"] }, exec: ["./say"], tools: ["nika:read"] }
tasks:
  read: { invoke: { tool: "nika:read", args: { path: "./data/a.txt" } } }
  say: { exec: { command: ["./say", "hi"] } }
  call: { invoke: { workflow: "./child.nika.yaml" } }
outputs: { read: "${{ tasks.read.output }}", said: "${{ tasks.say.output }}" }
"""

CHILD = "nika: child\npermits: {}\ntasks: { log: { invoke: { tool: 'nika:log', args: { message: m } } } }\n"

REFUSED = HELLO.replace("prompt:", "promt:")


@pytest.fixture
def shelf(folder: Path) -> Path:
    """A notebook two folders below, with what its workflows need beside it."""
    below = folder / "my notes" / "für"
    program(below, "say", 'echo "$1"')
    (below / "data").mkdir()
    (below / "data" / "a.txt").write_text("there", encoding="utf-8")
    (below / "child.nika.yaml").write_text(CHILD, encoding="utf-8")
    return story(
        below / "b.ipynb",
        magic(HELLO, "--var name=Ann --into r", "one"),
        magic(READS, cell_id="two"),
        magic(REFUSED.replace("nika: hello", "nika: refused"), cell_id="three"),
    )


def test_a_cell_runs_from_the_terminal_in_its_notebooks_folder(shelf: Path, terminal: Terminal) -> None:
    """Programs, files and called workflows are found beside the notebook; there lies the journal too."""
    done = terminal("run", f"{shelf.relative_to(Path.cwd())}::reads")
    assert (done.code, done.outputs) == (0, {"read": "there", "said": "hi"}), done.err
    first = frames(newest(shelf.parent))[0]
    place = (first["notebook"], first["cell"], first["source_name"])
    assert place == ("b.ipynb", "two", "b.ipynb::reads (cell 4)")
    assert not (Path.cwd() / ".nika").exists()


def test_the_first_line_of_the_cell_is_followed(shelf: Path, terminal: Terminal) -> None:
    """Its inputs count as the notebook's; what concerns the notebook alone is said."""
    done = terminal("run", f"{shelf}::hello")
    assert done.outputs == {"said": "mock(echo) · hello Ann"}
    assert "of the cell's first line, `--into r` concerns the notebook and is not followed here" in done.err
    assert frames(newest(shelf.parent))[0]["inputs"] == '{"name":"notebook"}'
    again = terminal("run", f"{shelf}::hello", "--var", "name=Bo")
    assert again.outputs == {"said": "mock(echo) · hello Bo"}


def test_a_diagnostic_names_the_cell_and_its_line(shelf: Path, terminal: Terminal) -> None:
    """Counted in the cell, where the magic is line 1; check and run alike."""
    place = "b.ipynb::refused (cell 5), line 6, column 21"
    for word in ("run", "check"):
        done = terminal(word, f"{shelf}::refused")
        assert done.code == 2
        assert place in done.err
    report = terminal("check", f"{shelf}::refused", "--json").outputs
    assert report["conformance"][0]["line"] == 6


def test_without_a_name_the_only_workflow_is_meant(shelf: Path, terminal: Terminal) -> None:
    """Of several the names are told, and nothing runs."""
    several = terminal("run", shelf)
    assert (several.code, several.out) == (3, b"")
    assert f"{shelf}::reads" in several.err
    single = story(shelf.with_name("single.ipynb"), magic(BYE))
    assert terminal("run", single).outputs == {"said": "mock(echo) · bye you"}
    assert terminal("check", single).code == 0


def test_python_takes_the_same_address(shelf: Path) -> None:
    """`run`, `check` and the durable doors."""
    run = nika_nb.run(f"{shelf}::hello")
    assert run.outputs == {"said": "mock(echo) · hello Ann"}
    assert run.notices == [
        "of the cell's first line, `--into r` concerns the notebook and is not followed here"
    ]
    assert nika_nb.run(f"{shelf}::hello", vars={"name": "Bo"}).outputs["said"].endswith("Bo")
    assert nika_nb.run(Path(f"{shelf}::hello")).state == "completed"
    assert nika_nb.check(f"{shelf}::reads").ok
    assert not nika_nb.check(f"{shelf}::refused").ok
    assert runs.start(f"{shelf}::reads").output == {"read": "there", "said": "hi"}
    with pytest.raises(CheckRefused, match=r"cell 5"):
        nika_nb.run(f"{shelf}::refused")


def test_a_cell_is_deployed(shelf: Path, terminal: Terminal) -> None:
    """With the inputs of its first line; what is about one run is no part of it, and is said."""
    story(shelf, magic(HELLO, "--var name=Ann --resume"))
    done = terminal("runs", "deploy", "greeting", f"{shelf}::hello")
    assert done.code == 0
    assert "a deployment starts afresh each time: `--resume` is no part of it" in done.err
    shelf.unlink()
    os.chdir(shelf.parent)
    assert runs.run_deployment("greeting").output == {"said": "mock(echo) · hello Ann"}


def test_resume_finds_the_notebooks_traces(shelf: Path, terminal: Terminal) -> None:
    """Bare, by a path from where the caller is, and as the cell says; `--no-resume` is none in any case."""
    address = f"{shelf}::reads"
    terminal("run", address)
    first = newest(shelf.parent)
    story(shelf, magic(READS, f"--resume .nika/traces/{first.name}"))
    for words, hits in (([], 3), (["--resume"], 3), (["--resume", first.relative_to(Path.cwd())], 3)):
        assert terminal("run", address, *words).code == 0
        assert len(of(newest(shelf.parent), "task_cache_hit")) == hits
    terminal("run", address, "--no-resume")
    assert not of(newest(shelf.parent), "task_cache_hit")
    assert nika_nb.run(address, resume=False).board.hits == 0
    assert nika_nb.run(address).board.hits == 3
    assert len(traces(shelf.parent)) == 7


def test_variables_of_the_notebook_have_to_be_given(shelf: Path, terminal: Terminal) -> None:
    """A `$name` is never taken for the text itself; behind another option it cannot be followed at all."""
    story(shelf, magic(HELLO, "--var name=$who"))
    done = terminal("run", f"{shelf}::hello")
    assert done.code == 3
    assert "the cell takes its inputs from `$who` of the running notebook, which is not known" in done.err
    assert terminal("run", f"{shelf}::hello", "--var", "name=Ann").code == 0
    story(shelf, magic(HELLO, "--model $model"))
    assert "$model is a variable of the running notebook" in terminal("run", f"{shelf}::hello").err


def test_inputs_out_of_the_notebooks_memory_have_to_be_given(shelf: Path, terminal: Terminal) -> None:
    """A cell that takes a dict does not silently run with something else."""
    story(shelf, magic(HELLO, "--vars people"))
    done = terminal("run", f"{shelf}::hello")
    assert done.code == 3
    assert "the cell takes its inputs from `people` of the running notebook (--vars)" in done.err
    assert not (shelf.parent / ".nika").exists()
    given = terminal("run", f"{shelf}::hello", "--var", "name=Bo")
    assert given.outputs["said"].endswith("Bo")
    assert "`--vars people` concerns the notebook" in given.err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("--var", "b.ipynb::hello (cell 3), first line: argument --var: expected one argument"),
        ("--var 'x", "b.ipynb::hello (cell 3), first line: %%nika --var 'x: No closing quotation"),
        ("--max-cost-usd much", "first line: argument --max-cost-usd: invalid float value"),
        ("--from greet", "says where a resume starts to run live"),
    ],
)
def test_a_first_line_that_cannot_be_read_is_refused(shelf: Path, line: str, why: str) -> None:
    """It names the cell, and nothing runs."""
    story(shelf, magic(HELLO, line))
    with pytest.raises(UsageError) as refused:
        nika_nb.run(f"{shelf}::hello")
    assert why in str(refused.value)


def test_the_callers_options_go_over_the_cells(shelf: Path) -> None:
    """Model, cap and answers each by itself."""
    story(shelf, magic(HELLO, "--model mock/echo --max-cost-usd 1 --no-gc"))
    address = f"{shelf}::hello"
    cell = nika_nb.run(address).request
    assert (cell.model, cell.max_cost_usd, cell.gc) == ("mock/echo", 1.0, False)
    own = nika_nb.run(address, model="mock/mock-json", max_cost_usd=0).request
    assert (own.model, own.max_cost_usd) == ("mock/mock-json", 0)


def test_a_file_that_is_called_like_an_address_is_a_file(folder: Path) -> None:
    """And a text that only ends so is a text."""
    (folder / "x.ipynb::flow.nika.yaml").write_text(BYE, encoding="utf-8")
    assert nika_nb.check("x.ipynb::flow.nika.yaml").ok
    assert not nika_nb.check("nika: x\n# see book.ipynb").ok


def test_the_same_cell_writes_the_same_bytes_under_a_seed(shelf: Path) -> None:
    """Neither the notebook nor the place of the cell in it stands in a reproducible journal."""
    seeded = HELLO.replace("model:", "run: { entropy: { seeded: 7 } }\nmodel:")
    story(shelf, magic(seeded))
    one = nika_nb.run(f"{shelf}::hello").trace
    story(shelf.with_name("other.ipynb"), magic(BYE), magic(seeded, cell_id="elsewhere"))
    two = nika_nb.run(f"{shelf.with_name('other.ipynb')}::hello").trace
    assert one is not None
    assert two is not None
    assert one.read_bytes() == two.read_bytes()


def test_a_paused_cell_is_answered_from_anywhere(folder: Path, terminal: Terminal) -> None:
    """Its trace lies beside the notebook, and knows where it belongs; the notebook may be gone."""
    text = READS.replace(
        "outputs:", '  ask: { invoke: { tool: "nika:prompt", args: { message: "Go?" } } }\noutputs:'
    )
    text = text.replace('tools: ["nika:read"]', 'tools: ["nika:read", "nika:prompt"]').replace(
        "  call: ", "  # "
    )
    below = folder / "below"
    program(below, "say", 'echo "$1"')
    (below / "data").mkdir()
    (below / "data" / "a.txt").write_text("there", encoding="utf-8")
    path = story(below / "b.ipynb", magic(text))
    assert terminal("run", f"{path}::reads").code == 4
    path.unlink()
    (folder / "elsewhere").mkdir()
    os.chdir(folder / "elsewhere")
    done = terminal("answer", newest(below), "ask=yes")
    assert (done.code, done.outputs) == (0, {"read": "there", "said": "hi"})
    assert frames(newest(below))[0]["notebook"] == "b.ipynb"
    assert list((folder / "elsewhere").iterdir()) == []


def test_a_foreign_notebook_steers_no_terminal(folder: Path, terminal: Terminal) -> None:
    """Names, ids, options and paths of traces are text, whatever stands in them."""
    cell = magic('nika: "a\\e[31mb"\ntasks: {}', "--into \x1b[31m", "odd")
    path = story(folder / "b.ipynb", cell)
    path.write_text(path.read_text(encoding="utf-8").replace('"odd"', '"\\u001b[31m"'), encoding="utf-8")
    for words in (("book", "ls"), ("run",), ("check",), ("book", "extract"), ("book", "carry")):
        done = terminal(*words, path)
        assert b"\x1b" not in done.out
        assert "\x1b" not in done.err
