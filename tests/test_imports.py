"""What is loaded when: the package itself is light, and each command loads only what it is about."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nika_nb
from tests.doors import environment

HEAVY = frozenset(
    [
        "pandas",
        "numpy",
        "IPython",
        "ipywidgets",
        "nbformat",
        "yaml",
        "blake3",
        "rfc8785",
        "jsonschema_rs",
        "jaq",
        "asyncio",
    ]
)


A_RUN = """\
import nika_nb
nika_nb.run('nika: x\\ntasks: {t: {invoke: {tool: "nika:log", args: {message: m}}}}')
"""


def loaded(code: str, cwd: Path) -> set[str]:
    """The modules that a fresh process has after some lines of Python."""
    program = f"import sys\n{code}\nimport json\nprint()\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    """Neither a library nor a room of our own."""
    found = loaded("import nika_nb", tmp_path)
    assert not HEAVY & found
    assert {name for name in found if name.startswith("nika_nb")} == {"nika_nb"}


def test_a_run_loads_neither_tables_nor_notebook(tmp_path: Path) -> None:
    """pandas, IPython and widgets have no part in running a workflow."""
    found = loaded(A_RUN, tmp_path)
    assert not {"pandas", "numpy", "IPython", "ipywidgets", "nbformat", "jaq"} & found
    assert not {name for name in found if name.startswith(("nika_nb.notebook", "nika_nb.tables"))}


@pytest.mark.parametrize("command", ["trace verify", "trace ls", "trace show"])
def test_a_look_at_a_trace_reads_no_yaml(tmp_path: Path, command: str) -> None:
    """A journal is judged and drawn without the language."""
    loaded(A_RUN, tmp_path)
    (trace,) = (tmp_path / ".nika" / "traces").iterdir()
    words = [*command.split(), *([] if command.endswith("ls") else [str(trace)])]
    found = loaded(f"from nika_nb.cli.main import main\nassert main({words!r}) == 0", tmp_path)
    wanted = {"pandas", "IPython", "ipywidgets", "nbformat", "jaq"} | (
        {"yaml"} if "verify" in command else set()
    )
    assert not wanted & found


def test_all_says_what_there_is() -> None:
    """Every name of `__all__` is there, `dir` shows exactly them, and nothing else is public."""
    assert len(set(nika_nb.__all__)) == len(nika_nb.__all__)
    for name in nika_nb.__all__:
        assert getattr(nika_nb, name) is not None
    assert dir(nika_nb) == sorted(nika_nb.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nika_nb.nothing


def test_a_room_does_not_hide_a_function_of_its_name(tmp_path: Path) -> None:
    """`nika_nb.check(…)` is the function, also once the room `nika_nb.check` is imported."""
    known = "import nika_nb\nfrom nika_nb.check import Report\nassert isinstance(nika_nb.check(''), Report)"
    loaded(f"import nika_nb.check\n{known}", tmp_path)
    loaded("import nika_nb\nnika_nb.check('')\nimport nika_nb.check\nnika_nb.check('')", tmp_path)


def test_the_names_for_type_checkers_are_the_names_at_run_time() -> None:
    """What a type checker sees under TYPE_CHECKING is the table of lazy names, home by home."""
    import ast

    tree = ast.parse(Path(nika_nb.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        name.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert seen == nika_nb._HOMES
