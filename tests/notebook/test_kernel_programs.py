"""In a kernel `python` is the kernel's own; from a terminal it is what the PATH says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors import ROOT, environment, newest, of, program
from tests.kernels import Page, kernel

WHO = """nika: who
permits: { exec: ["python", "python3"] }
tasks:
  who: { exec: { command: ["python", "-c", "import sys; print(sys.prefix)"] } }
outputs: { who: "${{ tasks.who.output }}" }
"""


@pytest.fixture(scope="module")
def folder_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "bin").mkdir()
    program(folder / "bin", "python", "echo the one on the PATH")
    (folder / "who.nika.yaml").write_text(WHO)
    return folder


@pytest.fixture(scope="module")
def page(folder_: Path) -> Iterator[Page]:
    """A kernel of an environment that is not activated."""
    with kernel(folder_, PATH=f"{folder_ / 'bin'}{os.pathsep}{os.environ['PATH']}") as found:
        yield found


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="the tests run in no environment of their own")
def test_a_kernels_python_is_its_own(page: Page) -> None:
    """Though another one comes first on the PATH; the journal says why."""
    cell = page.run(f"%%nika --into run\n{WHO}")
    assert page.run("print(run.outputs['who'])").text.strip() == sys.prefix, cell.text
    (env,) = of(newest(page.folder), "permit_checked", plane="env")
    assert env["why"].endswith("its PATH begins with this kernel's own programs")


def test_a_terminals_is_the_one_on_its_path(folder_: Path) -> None:
    """Outside of a kernel the PATH stands as it is."""
    path = f"{folder_ / 'bin'}{os.pathsep}{os.environ['PATH']}"
    nika = shutil.which("nika-nb", path=os.path.dirname(sys.executable)) or "nika-nb"
    ended = subprocess.run(
        [nika, "run", "who.nika.yaml"],
        cwd=folder_, env=environment(PATH=path, PYTHONPATH=str(ROOT)), capture_output=True, check=True,
    )  # fmt: skip
    assert b"the one on the PATH" in ended.stdout
    (env,) = of(newest(folder_), "permit_checked", plane="env")
    assert "kernel" not in env["why"]


def test_a_path_that_a_task_gives_itself_stands(page: Page) -> None:
    """A kernel's own programs are put in front of no PATH that an author wrote."""
    own = WHO.replace("} }\noutputs", f', env: {{ PATH: "{page.folder / "bin"}" }} }} }}\noutputs')
    page.run(f"%%nika --into run\n{own}")
    assert page.run("print(run.outputs['who'])").text.strip() == "the one on the PATH"


def test_a_seeded_journal_does_not_tell(page: Page) -> None:
    """It is the same on every machine and through every door."""
    seeded = WHO.replace("permits:", "run: { entropy: { seeded: 4 }, clock: virtual }\npermits:")
    page.run(f"%%nika\n{seeded.replace('who', 'seeded')}")
    trace = next(path for path in newest(page.folder).parent.iterdir() if path.name.startswith("2026-01-01"))
    (env,) = of(trace, "permit_checked", plane="env")
    assert "kernel" not in env["why"]


def test_a_module_that_is_missing_names_the_interpreter(page: Page) -> None:
    """So that it is installed for the one that ran."""
    cell = page.run(f"%%nika\n{WHO.replace('import sys; print(sys.prefix)', 'import no_such_module')}")
    wanted = f"No module named 'no_such_module' (`python` was {os.path.dirname(sys.executable)}/python"
    assert wanted in cell.text
