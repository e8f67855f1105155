"""`%%nika` runs the workflow in its cell; `%nika` does what needs no workflow at hand."""

from __future__ import annotations

from typing import Any

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from nika_nb.doors import standing_at
from nika_nb.errors import Source
from nika_nb.notebook import commands
from nika_nb.notebook.acting import act_on, held_by_no_older
from nika_nb.notebook.completion import install
from nika_nb.notebook.lookout import lookout
from nika_nb.notebook.options import cell_help, cell_options, words_of
from nika_nb.notebook.replay import players
from nika_nb.notebook.request import of_cell
from nika_nb.notebook.session import Session
from nika_nb.runs.matters import open_matters
from nika_nb.runs.run import Run

_loaded: dict[int, NikaMagics] = {}


@magics_class
class NikaMagics(Magics):
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.session = Session(shell)

    @no_var_expand
    @cell_magic
    def nika(self, line: str, cell: str) -> Run | None:
        """Check and run the workflow in this cell. `%nika help` lists the options."""
        with standing_at("%nika"):
            return self._act_on_cell(line, cell)

    def _act_on_cell(self, line: str, cell: str) -> Run | None:
        options = cell_options(words_of(line, "%%nika", self.session.dollar))
        if options.help:
            print(cell_help())
            return None
        source = Source(cell, self.session.surface.cell_name, first_line=2)
        with held_by_no_older(self.session, options):
            request = of_cell(self.session, source, options)
        return act_on(self.session, request, options)

    @no_var_expand
    @line_magic("nika")  # type: ignore[arg-type]
    def nika_line(self, line: str) -> Any:
        """`%nika attach [TRACE]`, `%nika answer [RUN] ask=yes`, `%nika inbox`, `%nika runs`, …"""
        with standing_at("%nika"):
            return commands.act(self.session, words_of(line, "%nika", self.session.dollar))

    def tell_open_matters(self) -> None:
        """What is open in this folder, a line each. Whatever is wrong with it, the magics are there."""
        try:
            for line in open_matters(self.session.place.folder):
                print(f"nika · {line}")
        except Exception as error:  # noqa: BLE001 - to come in has to be possible
            print(f"nika · what is open here could not be looked up: {type(error).__name__}: {error}")


def load(shell: Any) -> None:
    """Registers the magics and tells what is open here; loading twice changes nothing."""
    if id(shell) not in _loaded:
        magics = _loaded[id(shell)] = NikaMagics(shell)
        shell.register_magics(magics)
        install(shell, magics.session)
        players(shell)
        shell.events.register("post_run_cell", lambda result: lookout.glance())
    _loaded[id(shell)].tell_open_matters()
