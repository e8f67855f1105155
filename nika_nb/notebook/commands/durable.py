"""`%nika runs|deploy|deployments|run|resume`: the durable runs of the notebook's folder."""

from __future__ import annotations

from nika_nb.notebook.acting import act_on
from nika_nb.notebook.commands import command
from nika_nb.notebook.options import cell_options
from nika_nb.notebook.request import of_document, of_trace
from nika_nb.notebook.session import Session
from nika_nb.runs.request import document, names_file
from nika_nb.runs.run import Run


@command("runs [OFFSET]", "list the durable runs of this folder, the newest first")
def runs(session: Session, words: list[str]) -> None:
    print(session.desk.listed(words))


@command(
    "deploy NAME FILE [in=…]",
    "keep a workflow and its inputs: a new version, unless nothing differs",
    free=True,
)
def deploy(session: Session, words: list[str]) -> None:
    """An input stands as it is, or behind --var. --model PROVIDER/NAME: the default model, instead of the
    workflow's. --max-cost-usd USD: the cap of each run.
    """
    print(session.desk.deploy(words))


@command("deployments", "list the deployments of this folder: what each needs, whether it could start now")
def deployments(session: Session, words: list[str]) -> None:
    print(session.desk.deployments())


@command(
    "run NAME|FILE …", "run a deployment (in=…), or a workflow's file with the options of a cell", free=True
)
def run(session: Session, words: list[str]) -> Run | None:
    """%nika run nightly topic=x · %nika run flow.nika.yaml --resume · %nika run book.ipynb::name

    A deployment that lies in another folder is folder/nightly. The options are those of `%%nika`.
    """
    if words and names_file(words[0]):
        begins = f"%nika run {words[0]}"
        options = cell_options(words[1:], begins)
        asked = of_document(session, document(session.folder / words[0]), options)
        return act_on(session, asked, options, begins)
    launched = session.desk.run(words, interactive=session.surface.interactive)
    return session.watch(launched, lambda: None)


@command(
    "resume [RUN] …",
    "run the text of a trace again and skip what it settled; options as of a cell",
    free=True,
)
def resume(session: Session, words: list[str]) -> Run | None:
    """RUN is a trace's file name, its path, or a run's id; without it the newest trace is taken.

    The text, the inputs and the model are the recorded ones; an edited cell is resumed with
    `%%nika --resume`. The options are those of `%%nika`.
    """
    name = words[0] if words and not words[0].startswith("--") else None
    options = cell_options(words[1 if name else 0 :], "%nika resume")
    trace = session.trace(name)
    return act_on(session, of_trace(session, trace, options), options, f"%nika resume {trace.name}")
