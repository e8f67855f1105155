"""`nika-nb trace gc|rm|sweep|doctor|key`: what keeps a folder of traces small, sound and sealed."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Collection
from functools import partial
from pathlib import Path

from nika_nb.cli.console import say
from nika_nb.cli.meant import folder as named_folder
from nika_nb.cli.streams import print_lines
from nika_nb.errors import UsageError
from nika_nb.runs.ids import is_run_id
from nika_nb.runs.kin import answered_by
from nika_nb.runs.shelf import Shelf
from nika_nb.runs.traced import trace_of, traces_in
from nika_nb.settings import Settings
from nika_nb.trace.folder import Entry, TraceFolder, look
from nika_nb.trace.kinship import Elsewhere, Kinship
from nika_nb.trace.lock import busy, holder
from nika_nb.trace.reader import read
from nika_nb.trace.retention import Limits, collect, remove
from nika_nb.values import duration_seconds


def collect_command(options: argparse.Namespace) -> int:
    """One line; under --dry-run a line for every trace that would go as well."""
    settings = Settings.read()
    say(*(f"nika-nb: {trouble}" for trouble in settings.troubles))
    folder = TraceFolder(named_folder(options.folder))
    Shelf(folder.path).judge()
    elsewhere = partial(answered_by, folder=folder.path)
    found = collect(folder, Limits.of(settings), dry_run=options.dry_run, elsewhere=elsewhere)
    if options.dry_run:
        for removal in found.removed:
            print_lines(f"{removal.entry.path.name}  {found.limits.words(removal.reason)}")
    print(found.sentence)
    return 0


def remove_command(options: argparse.Namespace) -> int:
    """Removes the traces named, all or none, or those of an age; what a run needs only under --force."""
    if bool(options.traces) + bool(options.older_than) + options.all != 1:
        raise UsageError("say which traces: name them, or --older-than 30d, or --all")
    for entry in _named_ones(options) if options.traces else _of_age(options):
        if not remove(entry):
            raise UsageError(
                f"{entry.path.name} was not removed: somebody reads it, or it may not be written"
            )
        print_lines(f"removed {entry.path.name}")
    return 0


def _named_ones(options: argparse.Namespace) -> list[Entry]:
    entries = [_entry(_named(name)) for name in options.traces]
    for entry in entries:
        if entry.state == "running":
            raise UsageError(busy(entry.path, holder(entry.path)[1]))
        needed = "" if options.force else _needed(Kinship(_beside(entry), _elsewhere(entry)), entry)
        if needed:
            raise UsageError(
                f"{entry.path.name} was not removed: {needed}. Remove it all the same with --force"
            )
    return entries


def _of_age(options: argparse.Namespace) -> list[Entry]:
    """Those of this folder, a question before its answer; of what stays is said why."""
    found = TraceFolder(Path(".")).list()
    before = time.time_ns() - (_age(options.older_than) if options.older_than else 0)
    going = [entry for entry in reversed(found) if entry.mtime < before and entry.state != "running"]
    kin = Kinship(found, _elsewhere(found[0])) if found and not options.force else None
    gone: list[Entry] = []
    for entry in going:
        needed = _needed(kin, entry, gone) if kin is not None else ""
        if needed:
            say(f"nika-nb: {entry.path.name} stays: {needed} (--force removes it)")
        else:
            gone.append(entry)
    return gone


def _age(text: str) -> int:
    """Nanoseconds of `30d`, or of a duration as a workflow writes it. Raises UsageError."""
    days = re.fullmatch(r"([0-9]{1,6})d", text)
    seconds = int(days[1]) * 86_400 if days else duration_seconds(text)
    if seconds is None:
        raise UsageError(f"--older-than {text}: write an age, 30d or 12h")
    return int(seconds * 10**9)


def _elsewhere(entry: Entry) -> Elsewhere:
    return partial(answered_by, folder=entry.path.resolve().parent)


def _named(name: str) -> Path:
    """Raises UsageError for a run of several traces: which of them are to go is said one by one."""
    path = trace_of(name)
    several = [head.name for head in Shelf(path.parent).heads(name)] if is_run_id(name) else []
    if len(several) > 1:
        raise UsageError(f"{name} has {len(several)} traces: name those that are to go, {', '.join(several)}")
    return path


def _entry(path: Path) -> Entry:
    found = look(path)
    if found is None:
        raise UsageError(f"{path} is no journal: nothing was removed")
    return found


def _needed(kin: Kinship, entry: Entry, gone: Collection[Entry] = ()) -> str:
    """Why a trace is needed: a question would be lost, or would wait a second time; empty where it is not.

    gone: what goes before it.
    """
    if entry.state == "blocked":  # a note holds neither
        return ""
    if kin.asked_by(entry):
        asked = [prompt.key for found in kin.open(entry) for prompt in read(found.path).prompts]
        tasks = ", ".join(f"`{key}`" for key in dict.fromkeys(asked))
        what = f"waits for an answer to {tasks}" if tasks else "went on behind a question and has no end"
        return f"its run {what}, and what it has done stands there"
    answered = [found for found in kin.answers(entry) if found not in gone]
    names = ", ".join(found.path.name for found in answered)
    return f"it holds what was answered to {names}, which would ask again" if answered else ""


def _beside(entry: Entry) -> tuple[Entry, ...]:
    """The traces of the folder that one lies in, newest first; it alone where that is no folder of traces."""
    folder = entry.path.resolve().parent
    found = TraceFolder(folder.parent.parent)
    if found.path != folder:
        return (entry,)
    return tuple(entry if entry.path.samefile(other.path) else other for other in found.list())


def sweep_command(options: argparse.Namespace) -> int:
    """A line for every process group that was ended."""
    from nika_nb.runs.orphans import swept

    print_lines(swept(TraceFolder(named_folder(options.folder)).path))
    return 0


def doctor_command(options: argparse.Namespace) -> int:
    """A report on every trace there is; 0 where all is sound, 1 with findings, 3 where one is no journal."""
    from nika_nb.runs.care import checkup, setting_troubles
    from nika_nb.trace.repair import repair

    paths = _patients(Path(options.path))
    if options.repair is not None and Path(options.path).is_dir():
        raise UsageError("--repair writes a copy of one trace: name the trace")
    troubles = list(setting_troubles())
    found = [checkup(path) for path in paths]
    for examination in found:
        print_lines(*examination.report())
    for trouble in troubles:
        print_lines(f"settings · {trouble}")
    if not found:
        print_lines(f"no traces in {options.path}")
    if options.repair is not None:
        print_lines(*repair(paths[0], Path(options.repair)).report())
    return max([1 if troubles else 0, *(examination.exit_code for examination in found)])


def _patients(path: Path) -> list[Path]:
    """The trace that is meant; every trace of a project, or of a folder of traces."""
    if not path.is_dir():
        return [trace_of(path)]
    return traces_in(path)


def key_command(options: argparse.Namespace) -> int:
    """Makes a pair of key files and says what each is for; nothing of a key is printed."""
    from nika_nb.trace.keys import new_key

    path = Path(options.path)
    key, public = new_key(path)
    print(f"{path}: the signing key, for you alone; NIKA_NB_SIGN_KEY={path} seals every journal")
    print(f"{public}: the public key; nika-nb trace verify --public-key {public} TRACE")
    print(f"id {key.public.id}")
    return 0
