"""`%nika runs|inbox|run|deploy|deployments`: the durable runs of the notebook's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nika_nb.errors import UsageError
from nika_nb.notebook.options import deploy_options
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.inspecting import Unrunnable
from nika_nb.runs.lines import deployed_line, lines_of
from nika_nb.runs.records import Summary
from nika_nb.runs.run import Run, attach
from nika_nb.runs.service import Runs, request_of
from nika_nb.runs.shelf import LONGEST_PAGE
from nika_nb.runs.snapshots import left_out
from nika_nb.runs.words import told_pair


class Desk:
    """What the magics do with durable runs; drawing is theirs."""

    def __init__(self, folder: Path) -> None:
        self._runs = Runs(folder, "%nika", "notebook")

    def listed(self, words: list[str]) -> str:
        """A page of the runs as text: the newest, or from the offset that is given."""
        if len(words) > 1 or not all(word.isdecimal() for word in words):
            raise UsageError("%nika runs takes at most how many of the newest to leave out: %nika runs 50")
        return "\n".join(lines_of(self._runs.list_runs(int(words[0]) if words else 0)))

    def waiting(self) -> list[Path]:
        """The newest traces of the runs that can be answered, the newest run first."""
        found = self._runs.list_runs(0, LONGEST_PAGE, "interrupted")
        return [self._trace(summary) for summary in found.runs if summary.answered_by is None]

    def attached(self, path: Path) -> Run:
        """A run of this notebook's folder, to be answered in it."""
        run = attach(path)
        run.request = replace(run.request, door="%nika", origin="notebook")
        return run

    def run(self, words: list[str], *, interactive: bool) -> Run:
        """A run of a deployment, at work. Raises UsageError where something is missing."""
        if not words:
            raise UsageError("%nika run takes a deployment's name, then inputs: %nika run nightly topic=x")
        gc, words = "--no-gc" not in words, [word for word in words if word != "--no-gc"]
        if options := [word for word in words[1:] if word.startswith("--")]:
            what = f"a deployment is run with inputs only, not with {options[0]}"
            raise UsageError(f"%nika run {words[0]}: {what}: %nika run {words[0]} topic=x")
        where, _, name = words[0].rpartition("/")
        runs = Runs(self._runs.root / where, "%nika", "notebook")
        request = runs.deployed(name, dict(told_pair(word, parse_variable) for word in words[1:]))
        if not isinstance(request, Unrunnable):
            request = replace(request, interactive=interactive, gc=gc)
        launched = request if isinstance(request, Unrunnable) else runs.launch(request)
        if isinstance(launched, Unrunnable):
            lines = (f"  {lack.sentence}" for lack in launched.diagnostics)
            raise UsageError("\n".join([f"{words[0]} · unrunnable: something is missing", *lines]))
        return launched

    def deploy(self, words: list[str]) -> str:
        """A new version of a deployment, beside the workflow's file; says which, and where it lies."""
        if len(words) < 2:
            raise UsageError("%nika deploy takes a name and a file: %nika deploy nightly flow.nika.yaml")
        given = deploy_options(words)
        request = request_of(
            self._runs.root / given.file,
            vars=dict(told_pair(word, parse_variable) for word in given.inputs),
            model=given.model,
            max_cost_usd=given.max_cost_usd,
        )
        made = Runs(request.place.root).deploy(given.name, request)
        return "\n".join([*left_out(request), deployed_line(made, self._runs.root)])

    def deployments(self) -> str:
        """The deployments of the folder, a line each."""
        return str(self._runs.deployments.all())

    def _trace(self, summary: Summary) -> Path:
        return self._runs.folder.path / summary.traces[-1]
