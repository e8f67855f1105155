"""What a caller asks for: the text, where it runs, its inputs, and what it resumes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nika_nb.errors import Diagnostic, Source, UsageError
from nika_nb.runs.rows import variables_of
from nika_nb.trace.folder import TraceFolder

Origin = Literal["cli-operator", "ci-context", "env", "file", "notebook", "python"]
Door = Literal["Python", "%nika", "a form", "nika-nb", "MCP"]  # where somebody stood who started or answered

NEWEST = True  # `--resume` without a path: the newest trace of this workflow


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens, fixed before it starts.

    base: the folder that its relative paths start from. root: the folder whose `.nika/traces`
    holds its journal. notebook, cell: the document it was started from, for the journal.
    """

    base: Path
    root: Path
    notebook: str | None = None
    cell: str | None = None

    @property
    def folder(self) -> TraceFolder:
        """The traces that lie here."""
        return TraceFolder(self.root)

    @classmethod
    def here(cls, root: Path | None = None) -> Place:
        """The current folder; `root` where the workflow file lies elsewhere."""
        try:
            base = Path.cwd()
        except FileNotFoundError:
            raise UsageError("the current folder is gone: change to one that exists") from None
        return cls(base, base if root is None else root.resolve())


@dataclass(frozen=True, slots=True)
class Deployed:
    """A version of a deployment. digest: of everything that stands in it."""

    name: str
    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class Request:
    """One run to be started.

    variables: values for declared inputs, by name, DataFrames as their rows; origin says which door
    they came through.
    resume: a trace's path, NEWEST, or None. forced: tasks that run live whatever is recorded.
    answers: values for prompts, by task or by `task[item]`; a bare answer stands under "".
    interactive: whether a human can answer; None lets NIKA_NB_INTERACTIVE or the surface decide.
    children: the texts of the workflows that it calls, by their names in a journal; None has them
    read from their files. max_cost_usd: the run's cap, in US dollars; spent_usd: what its earlier
    invocations have cost. continues: it goes on with a paused run, from its pinned text. declined: the
    prompts that somebody refused to answer, by key. durable: everything it needs is looked up first.
    gc: old traces make room first.
    ask_in_flight: what was running at a crash is asked about before it is run again.
    deployment: the snapshot that it is a run of. origins: of the variables that did not come through
    this door.
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
    durable: bool = False
    deployment: Deployed | None = None
    ask_in_flight: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", variables_of(self.variables))
        if self.ask_in_flight and self.resume is None:
            raise UsageError("--ask-in-flight asks about what a trace left running: give --resume as well")
        if self.forced and self.resume is None:
            raise UsageError("--from says where a resume starts to run live: give --resume as well")
        cap = self.max_cost_usd
        if cap is not None and not 0 <= cap < float("inf"):
            raise UsageError(f"--max-cost-usd is an amount of US dollars from 0 on, not {cap}")


@dataclass(frozen=True, slots=True)
class Document:
    """A workflow's text as it was given.

    folder: where its file lies, None for a text. diagnostics: what makes the bytes of a file
    unreadable as text; then the source is only what could be made of them.
    """

    source: Source
    folder: Path | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def document(text_or_path: str | Path) -> Document:
    """The text to check or run.

    A `Path`, or a one-line string that ends in .yaml or .yml, is read as a file; any other string
    is the workflow itself. Raises UsageError for a file that cannot be read.
    """
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        return Document(Source(text_or_path))
    path = Path(text_or_path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return from_bytes(raw, path.name, path.resolve().parent)


def from_bytes(raw: bytes, name: str, folder: Path | None = None) -> Document:
    """The text of a file's bytes."""
    from nika_nb.language import load_bytes

    source, loaded = load_bytes(raw, name)
    broken = loaded.diagnostics if source.text.encode("utf-8") != raw else ()
    return Document(source, folder, broken)


def _is_path(text: str) -> bool:
    return "\n" not in text and text.endswith((".yaml", ".yml"))
