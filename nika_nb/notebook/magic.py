"""`%%nika` runs the workflow in its cell; `%nika` does what needs no workflow at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from nika_nb.board import tracepage
from nika_nb.errors import RunFailed, Source, UsageError
from nika_nb.notebook.options import CellOptions, cell_help, cell_options, split
from nika_nb.notebook.runs import Desk
from nika_nb.notebook.shown import show
from nika_nb.notebook.surface import Surface
from nika_nb.notebook.watch import Watch
from nika_nb.runs.answers import parse_answer
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.inputs import parse_variable
from nika_nb.runs.options import told
from nika_nb.runs.preflight import missing
from nika_nb.runs.request import Place, Request
from nika_nb.runs.run import Run, ready

_loaded: dict[int, NikaMagics] = {}
_MOST_FORMS = 20  # runs that an inbox draws


@magics_class
class NikaMagics(Magics):
    """The magics of one shell. Where traces lie is fixed when the extension loads."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._names: dict[str, Any] = shell.user_ns
        self.surface = Surface(shell)
        self.folder = Path.cwd()
        self._desk = Desk(self.folder)

    @no_var_expand
    @cell_magic
    def nika(self, line: str, cell: str) -> Run | None:
        """Check and run the workflow in this cell. `%%nika --help` lists the options."""
        options = cell_options(line)
        if options.help:
            print(cell_help())
            return None
        source = Source(cell, self.surface.cell_name, first_line=2)
        if options.check:
            self._check(source, options)
            return None
        return self._run(self._request(source, options), options)

    def _check(self, source: Source, options: CellOptions) -> None:
        from nika_nb.check import check

        report = check(source, model=options.model, base=self.folder)
        print(report.render())
        if report.workflow is not None:
            lacking = [lack.sentence for lack in missing(report.workflow, self._request(source, options))]
            for line in lacking:
                print(f"this version could not run it: {line}")

    def _request(self, source: Source, options: CellOptions) -> Request:
        return Request(
            source=source,
            place=Place(self.folder, self.folder, self.surface.notebook, self.surface.cell_id),
            variables=self._variables(options),
            origin="notebook",
            interactive=self.surface.interactive,
            door="%nika",
            **told(options),
        )

    def _variables(self, options: CellOptions) -> dict[str, Any]:
        """--vars names a dict of the notebook; --var goes over it."""
        found: dict[str, Any] = {}
        for name in options.vars:
            known = self._names.get(name)
            if not isinstance(known, dict):
                kind = "is not defined" if known is None else f"is {type(known).__name__}, not a dict"
                raise UsageError(f"--vars {name}: `{name}` {kind} in this notebook")
            found |= known
        return found | dict(parse_variable(text) for text in options.var)

    def _run(self, request: Request, options: CellOptions) -> Run:
        run = ready(request)
        watch = Watch(run, self.surface, quiet=options.quiet)
        if options.into:
            self._names[options.into] = run
        watch.block(run.begin)
        _raise_failure(run)
        return _drawn(run)

    @no_var_expand
    @line_magic("nika")  # type: ignore[arg-type]
    def nika_line(self, line: str) -> Any:
        """`%nika attach [TRACE]`, `%nika answer [RUN] ask=yes`, `%nika inbox`, `%nika runs`, …"""
        words = split(line, "%nika")
        commands = {
            "trace": self._show_trace,
            "attach": self._attach,
            "answer": self._answer,
            "traces": self._traces,
            "decline": self._decline,
            "runs": lambda words: print(self._desk.listed(words)),
            "inbox": self._inbox,
            "run": self._run_deployment,
            "deploy": lambda words: print(self._desk.deploy(words)),
            "help": self._help,
            "--help": self._help,
        }
        command = commands.get(words[0] if words else "help")
        if command is None:
            raise UsageError(f"%nika {words[0]}: not a command; there are {', '.join(commands)}")
        return command(words[1:])

    def _help(self, words: list[str]) -> None:
        print(_LINE_HELP, cell_help(), sep="\n\n")

    def _attach(self, words: list[str]) -> Run:
        """Draws a run from its trace alone; a paused one with its forms."""
        run = self._desk.attached(self._trace(words[0] if words else None, prefer_paused=True))
        Watch(run, self.surface).draw()
        return _drawn(run)

    def _inbox(self, words: list[str]) -> None:
        """Every run that waits for an answer, with its forms."""
        waiting = self._desk.waiting()
        shown = waiting[:_MOST_FORMS]
        runs = "1 run waits" if len(waiting) == 1 else f"{len(waiting)} runs wait"
        more = f"; the newest {len(shown)} are shown" if len(shown) < len(waiting) else ""
        print(f"{runs} for an answer{more}")
        for path in shown:
            Watch(self._desk.attached(path), self.surface).draw()

    def _run_deployment(self, words: list[str]) -> Run:
        run = self._desk.run(words, interactive=self.surface.interactive)
        Watch(run, self.surface).block(lambda: None)
        _raise_failure(run)
        return _drawn(run)

    def _show_trace(self, words: list[str]) -> None:
        """The journal itself, to look at and to download."""
        path = self._trace(words[0] if words else None)
        show(tracepage.mimebundle(path.name, path.read_bytes()), uuid4().hex)

    def _answer(self, words: list[str]) -> Run:
        name = words[0] if words and self._is_trace(words[0]) else None
        given = dict(parse_answer(word) for word in words[1 if name else 0 :])
        if not given or len(given) < len(words) - bool(name):
            raise UsageError(
                "%nika answer takes a trace or a run's id, if you like, and task=value: "
                "%nika answer ask=yes name='Ann Lee'"
            )
        run = self._desk.attached(self._trace(name, paused=True))
        Watch(run, self.surface).block(lambda: run.answer(given, wait=False))
        _raise_failure(run)
        return _drawn(run)

    def _decline(self, words: list[str]) -> Run:
        """Goes on without an answer: to the prompts that are named, or to every open one."""
        name = words[0] if words and self._is_trace(words[0]) else None
        run = self._desk.attached(self._trace(name, paused=True))
        declined = words[1 if name else 0 :]
        Watch(run, self.surface).block(lambda: run.decline(*declined, wait=False))
        _raise_failure(run)
        return _drawn(run)

    @property
    def _place(self) -> Place:
        return Place(self.folder, self.folder)

    def _trace(self, name: str | None, *, paused: bool = False, prefer_paused: bool = False) -> Path:
        """The trace that is meant: the one named, else the newest, of those that wait first."""
        folder = self._place.folder
        if name is not None:
            return self._desk.trace(name) if is_run_id(name) else folder.resolve(name)
        waiting = self._desk.waiting() if paused or prefer_paused else []
        if waiting:
            return waiting[0]
        entries = folder.list()
        if paused or not entries:
            what = "no paused run" if paused else "no trace"
            raise UsageError(f"there is {what} in {os.path.join('.nika', 'traces')}")
        return entries[0].path

    def _is_trace(self, word: str) -> bool:
        """Whether a word names a trace or a run rather than an answer."""
        stems = {entry.path.stem for entry in self._place.folder.list()}
        return word.endswith(".ndjson") or is_run_id(word) or word in stems

    def _traces(self, words: list[str]) -> None:
        for entry in self._place.folder.list():
            print(f"{entry.stamp}  {entry.state:<10}  {entry.workflow}  {entry.path.name}")


_LINE_HELP = """\
%nika attach [TRACE]              draw a run from its trace (the newest), a paused one with its forms
%nika answer [RUN] ask=yes        answer a paused run (the newest one that waits) and continue it
%nika decline [RUN] [TASK …]      go on without an answer: to these prompts, or to every open one
%nika inbox                       every run that waits for an answer, with its forms
%nika runs [OFFSET]               list the durable runs of this folder, the newest first
%nika deploy NAME FILE [in=…]     keep a workflow and its inputs as a new version of a deployment
%nika run NAME [in=…]             start a run of a deployment
%nika trace [TRACE]               the journal itself, to look at and to download
%nika traces                      list the traces of this folder
%%nika --help                     the options of a workflow cell"""


def _drawn(run: Run) -> Run:
    """The run as a cell's value: its panel stands right above, so it is not drawn again."""
    run.drawn = True
    return run


def _raise_failure(run: Run) -> None:
    """A failed workflow stops Run All with a short error; the panel has the details."""
    if run.state == "failed":
        try:
            _ = run.outputs
        except RunFailed as failure:
            raise failure from None


def load(shell: Any) -> None:
    """Registers the magics; loading twice changes nothing."""
    if id(shell) in _loaded:
        return
    _loaded[id(shell)] = NikaMagics(shell)
    shell.register_magics(_loaded[id(shell)])
