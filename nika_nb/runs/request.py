"""What a caller asks for: the text, where it runs, its inputs, and what it resumes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from nika_nb.doors import Door as Door
from nika_nb.doors import option
from nika_nb.errors import CheckRefused, Diagnostic, Source, UsageError
from nika_nb.files import at_home, here, plain_bytes
from nika_nb.language.encoding import DOCUMENT_CAP
from nika_nb.openers import held, open_held
from nika_nb.runs.first_line import FirstLine, first_line
from nika_nb.runs.inputs import looked_up
from nika_nb.runs.rows import variables_of
from nika_nb.trace.folder import TRACES, TraceFolder
from nika_nb.values import nearest

Origin = Literal["cli-operator", "ci-context", "env", "file", "notebook", "python"]

_SIBLINGS = 1000  # files in a folder that are looked through for a hint
NEWEST: Final = True  # `--resume` without a path: the newest trace of this workflow


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens, fixed before it starts.

    base: the folder that its relative paths start from. root: the folder whose `.nika/traces`
    holds its journal. notebook, cell: the document it was started from, for the journal. shelf: the
    folder in `.nika`, where it is not that of the traces.
    """

    base: Path
    root: Path
    notebook: str | None = None
    cell: str | None = None
    shelf: str = TRACES

    @property
    def folder(self) -> TraceFolder:
        """The traces that lie here."""
        return TraceFolder(self.root, self.shelf)

    @classmethod
    def here(cls, root: Path | None = None) -> Place:
        """The current folder; `root` where the workflow file lies elsewhere."""
        base = here()
        return cls(base, base if root is None else root.resolve())


@dataclass(frozen=True, slots=True)
class Deployed:
    """A version of a deployment. digest: of everything that stands in it."""

    name: str
    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class Vouched:
    """What a caller declares of a trace that is not trusted without. As in `Request`."""

    compat: str | None = None
    unverified: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The same as `run.answer` takes it."""
        return {"resume_compat": self.compat, "resume_unverified": self.unverified}


NOT_VOUCHED = Vouched()


@dataclass(frozen=True, slots=True)
class Request:
    """One run to be started.

    variables: values for declared inputs, by name, DataFrames as their rows; origin says which door
    they came through.
    resume: a trace's path or name, a run's id, NEWEST, or None. forced: tasks and items (`rows[3]`) that
    run live whatever is recorded.
    answers: values for prompts, by task or by `task[item]`; a bare answer stands under "".
    interactive: whether a human can answer; None lets NIKA_NB_INTERACTIVE or the surface decide.
    children: the texts of the workflows that it calls and of its skills, by their names in a journal; None
    has them read from their files. max_cost_usd: the run's cap, in US dollars; spent_usd: what its earlier
    invocations have cost. continues: it goes on with a paused run, from its pinned text. declined: the
    prompts that somebody refused to answer, by key. called_off: it goes on only to be ended.
    durable: everything it needs is looked up first.
    gc: old traces make room first.
    ask_in_flight: what was running at a crash is asked about before it is run again.
    deployment: the snapshot that it is a run of. origins: of the variables that did not come through
    this door. notices: what people are told of the request itself. reproduces: the head of the record
    that it is compared with; what is missing then shows in what becomes of its tasks.
    """

    source: Source
    place: Place
    variables: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = "python"
    model: str | None = None
    resume: str | Path | Literal[True] | None = None
    forced: tuple[str, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    compat: str | None = None
    unverified: bool = False
    interactive: bool | None = None
    continues: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)
    children: Mapping[str, str] | None = None
    max_cost_usd: float | None = None
    spent_usd: float = 0.0
    gc: bool = True
    door: Door = "Python"
    declined: tuple[str, ...] = ()
    called_off: bool = False
    durable: bool = False
    deployment: Deployed | None = None
    ask_in_flight: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    reproduces: str | None = None

    def __post_init__(self) -> None:
        values, looked = looked_up(self.variables)
        object.__setattr__(self, "variables", variables_of(values))
        object.__setattr__(self, "origins", {**self.origins, **looked})
        if self.ask_in_flight and self.resume is None:
            what = f"{option('ask-in-flight')} asks about what a trace left running"
            raise UsageError(f"{what}: give {option('resume')} as well")
        if self.forced and self.resume is None:
            what = f"{option('from', self.forced[0])} says where a resume starts to run live"
            raise UsageError(f"{what}: give {option('resume')} as well")
        cap = self.max_cost_usd
        if cap is not None and not 0 <= cap < float("inf"):
            raise UsageError(f"{option('max-cost-usd')} is an amount of US dollars from 0 on, not {cap}")


@dataclass(frozen=True, slots=True)
class Document:
    """A workflow's text as it was given.

    folder: where its file lies, None for a text. diagnostics: what makes the bytes of a file
    unreadable as text; then the source is only what could be made of them. notebook, cell, line: of a
    text that stands in a notebook, the file's name, the cell's id and what its first line says.
    """

    source: Source
    folder: Path | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    notebook: str | None = None
    cell: str | None = None
    line: FirstLine = field(default_factory=FirstLine)

    def place(self, root: Path | None = None) -> Place:
        """Where it runs: a cell in its notebook's folder, anything else here. root: of the journal."""
        if self.notebook is None or self.folder is None:
            return Place.here(self.folder if root is None else root)
        return Place(self.folder, self.folder if root is None else root.resolve(), self.notebook, self.cell)

    def model(self, given: str | None) -> str | None:
        """The model that the caller sets for the whole run, or else its cell."""
        return given or self.line.told.get("model")

    def request(self, root: Path | None = None, **own: Any) -> Request:
        """A run of it. own: fields of the request, which go over what the cell's first line says.

        Raises CheckRefused for bytes that are no text, UsageError where the line cannot be followed.
        """
        if self.diagnostics:
            raise CheckRefused(self.diagnostics, self.source)
        given = own.pop("variables", None) or {}
        return Request(
            source=self.source,
            place=self.place(root),
            variables=self.line.inputs(given),
            origins={name: "notebook" for name in self.line.variables if name not in given},
            notices=self.line.notices,
            **_over(own, self.line.told),
        )


def _over(own: dict[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    """The caller's own fields over what a cell tells; a resume of False stands for none in any case."""
    fields = {name: value for name, value in own.items() if not _silent(value)}
    if own.get("resume") is False:
        told = {name: value for name, value in told.items() if name not in _ABOUT_RESUMING}
    if "resume" in fields and fields["resume"] is not NEWEST:
        path = at_home(fields["resume"])  # it counts from where the caller is
        fields["resume"] = path.resolve() if os.path.isfile(path) else fields["resume"]
    return {**told, **fields, "gc": own.get("gc", True) and told.get("gc", True)}


def _silent(value: Any) -> bool:
    """Whether a field says nothing."""
    return value is None or value is False or (isinstance(value, (tuple, dict)) and not value)


_ABOUT_RESUMING = ("resume", "forced", "ask_in_flight")


def document(text_or_path: str | Path) -> Document:
    """The text to check or run.

    A `Path`, or a one-line string that ends in .yaml, .yml or .ipynb, is read as a file;
    `book.ipynb::name` is a workflow of a notebook; any other string is the workflow itself. Raises
    UsageError for a file that cannot be read.
    """
    within = held(text_or_path)
    if within is not None:
        return _held(*within)
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        return Document(Source(text_or_path))
    path = Path(text_or_path)
    try:
        raw = plain_bytes(path, DOCUMENT_CAP, passed=True)
    except OSError as error:
        what = f"{path} cannot be read: {error.strerror}"
        hint = _meant(path) if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"{what}; {hint}" if hint else what) from None
    return from_bytes(raw, path.name, path.resolve().parent)


def _meant(path: Path) -> str:
    """The file beside it that may be meant."""
    with suppress(OSError):
        return nearest(path.name, sorted(one.name for one in path.parent.iterdir())[:_SIBLINGS])
    return ""


def _held(path: Path, name: str | None) -> Document:
    found = open_held(path, name)
    return Document(
        found.source,
        found.path.resolve().parent,
        notebook=found.path.name,
        cell=found.cell,
        line=first_line(found.options, found.source.name),
    )


def from_bytes(raw: bytes, name: str, folder: Path | None = None) -> Document:
    """The text of a file's bytes."""
    from nika_nb.language import load_bytes

    source, loaded = load_bytes(raw, name)
    broken = loaded.diagnostics if source.text.encode("utf-8") != raw else ()
    return Document(source, folder, broken)


def names_file(text: str) -> bool:
    """Whether a text is the path of a workflow's file, or the address of one in a notebook."""
    return held(text) is not None or _is_path(text)


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith((".yaml", ".yml"))
