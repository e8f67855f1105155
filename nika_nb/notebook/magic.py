"""`%%nika` runs the workflow in its cell; `%nika` does what needs no workflow at hand."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from nika_nb.board import forecast_still
from nika_nb.errors import Source, UsageError
from nika_nb.notebook import commands
from nika_nb.notebook.options import CellOptions, cell_help, cell_options, split
from nika_nb.notebook.session import Session
from nika_nb.notebook.shown import show
from nika_nb.runs.forecast import forecast
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.options import told
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Place, Request
from nika_nb.runs.run import Run, ready

_loaded: dict[int, NikaMagics] = {}


@magics_class
class NikaMagics(Magics):
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._session = Session(shell)

    @no_var_expand
    @cell_magic
    def nika(self, line: str, cell: str) -> Run | None:
        """Check and run the workflow in this cell. `%%nika --help` lists the options."""
        options = cell_options(line)
        if options.help:
            print(cell_help())
            return None
        source = Source(cell, self._session.surface.cell_name, first_line=2)
        if options.check:
            self._check(source, options)
            return None
        request = self._request(source, options)
        if options.plan:
            self._plan(request, options)
            return None
        return self._run(request, options)

    @no_var_expand
    @line_magic("nika")  # type: ignore[arg-type]
    def nika_line(self, line: str) -> Any:
        """`%nika attach [TRACE]`, `%nika answer [RUN] ask=yes`, `%nika inbox`, `%nika runs`, …"""
        return commands.act(self._session, split(line, "%nika"))

    # -- a cell --------------------------------------------------------------------------------

    def _check(self, source: Source, options: CellOptions) -> None:
        from nika_nb.check import check

        report = check(source, model=options.model, base=self._session.folder)
        print(report.render())
        if report.workflow is not None:
            lacking = [lack.sentence for lack in missing(report.workflow, self._request(source, options))]
            for line in lacking:
                print(f"this version could not run it: {line}")

    def _plan(self, request: Request, options: CellOptions) -> None:
        """What the run would do; nothing is run."""
        ahead = forecast(request)
        if options.quiet:
            print(forecast_still.summary(ahead))
        else:
            show(ahead._repr_mimebundle_(), uuid4().hex)

    def _request(self, source: Source, options: CellOptions) -> Request:
        folder, surface = self._session.folder, self._session.surface
        return Request(
            source=source,
            place=Place(folder, folder, surface.notebook, surface.cell_id),
            variables=self._variables(options),
            origin="notebook",
            interactive=surface.interactive,
            door="%nika",
            **told(options),
        )

    def _variables(self, options: CellOptions) -> dict[str, Any]:
        """--vars names a dict of the notebook; --var goes over it."""
        found: dict[str, Any] = {}
        for name in options.vars:
            known = self._session.names.get(name)
            if not isinstance(known, dict):
                kind = "is not defined" if known is None else f"is {type(known).__name__}, not a dict"
                raise UsageError(f"--vars {name}: `{name}` {kind} in this notebook")
            found |= known
        return found | dict(parse_variable(text) for text in options.var)

    def _run(self, request: Request, options: CellOptions) -> Run:
        run = ready(request)
        if options.into:
            self._session.names[options.into] = run
        return self._session.watch(run, run.begin, quiet=options.quiet)


def load(shell: Any) -> None:
    """Registers the magics; loading twice changes nothing."""
    if id(shell) in _loaded:
        return
    _loaded[id(shell)] = NikaMagics(shell)
    shell.register_magics(_loaded[id(shell)])
