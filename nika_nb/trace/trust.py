"""Whether a trace may be resumed from: what is refused, what is said, what the new run has to declare."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.catalog.receipt import NAME_BOUND
from nika_nb.doors import command, option
from nika_nb.errors import ResumeRefused
from nika_nb.trace.ends import standing
from nika_nb.trace.lines import TraceUnreadable
from nika_nb.trace.lock import busy
from nika_nb.trace.reader import read_run
from nika_nb.trace.trace import Trace
from nika_nb.trace.verdict import Verdict
from nika_nb.trace.verify import verify

UNRECORDED = "unrecorded"  # the version of a trace that names none


class Untrusted(ResumeRefused):
    """A trace that nothing is taken from unless the caller vouches for it.

    what: why. how: what to look at, and how to say that it is to be trusted.
    """

    def __init__(self, what: str, how: str, exit_code: int, instead: str = "") -> None:
        self.what, self.how = what, how
        said = instead + how
        super().__init__(f"{what}. Nothing was run. {said[0].upper()}{said[1:]}", exit_code)


@dataclass(frozen=True, slots=True)
class Trust:
    """A trace that may be resumed from, and what has to be said about it.

    usable: false where the file is no journal and everything runs live; trace is None then.
    notices: sentences for people. fields: what the new run's first frame has to carry.
    """

    usable: bool
    verdict: Verdict
    trace: Trace | None = None
    notices: tuple[str, ...] = ()
    fields: dict[str, str] = field(default_factory=dict)


def judge(
    path: Path,
    *,
    unverified: bool = False,
    compat: str | None = None,
    engine_version: str = ENGINE_VERSION,
) -> Trust:
    """Judges a trace before anything is taken from it; hold no lock on it yet.

    unverified: the caller vouches for a broken chain. compat: the recorded engine version that the
    caller declares compatible, exactly as recorded, or `unrecorded`.

    Raises UsageError where there is no such file, or it is a note and no run's; ResumeRefused with
    exit code 2 for a broken chain, 3 for another engine's trace and for one that somebody is at work on.
    """
    stand = standing(path)  # before the look: what was written last is then seen
    if stand is not None and stand.running:
        raise ResumeRefused(busy(path, stand.pid))
    return weigh(path, unverified=unverified, compat=compat, engine_version=engine_version)


def weigh(
    path: Path,
    *,
    unverified: bool = False,
    compat: str | None = None,
    engine_version: str = ENGINE_VERSION,
) -> Trust:
    """As `judge`, of a trace that nobody writes to. Raises Untrusted."""
    verdict = verify(path)
    try:
        trace = read_run(path)
    except TraceUnreadable as error:
        return Trust(False, verdict, notices=(f"{error}. Nothing is taken from it: everything runs live",))
    notices, fields = _chain(path, verdict, unverified)
    more, crossed = _version(trace, compat, engine_version)
    return Trust(True, verdict, trace, (*notices, *more, *_tear(trace)), fields | crossed)


Said = tuple[tuple[str, ...], dict[str, str]]  # notices, fields


def _chain(path: Path, verdict: Verdict, unverified: bool) -> Said:
    if verdict.intact:
        return (), {}
    if verdict.verdict == "unchained":
        notice = f"{path.name} carries no chain: its records are trusted WITHOUT verification"
        return (notice,), {"resume_unverified": "unchained"}
    if not unverified:
        raise Untrusted(
            f"{path.name} cannot be trusted: {verdict.sentence}",
            f"look at it with `{command('verify', str(path))}`; if you changed the file yourself, "
            f"resume it with `{option('resume-unverified')}`",
            exit_code=2,
        )
    notice = f"{path.name} is resumed UNVERIFIED, as you declared: {verdict.sentence}"
    return (notice,), {"resume_unverified": "declared", "resume_unverified_finding": verdict.sentence}


def _version(trace: Trace, compat: str | None, here: str) -> Said:
    recorded = trace.engine_version or UNRECORDED
    if recorded == here:
        return (), {}
    shown = recorded if recorded.isprintable() and len(recorded) <= NAME_BOUND else "(no version)"
    written = f"{trace.path.name} was written by engine {shown}, this engine is {here}"
    if compat is None:
        raise Untrusted(
            f"{written}: what one recorded is not taken for granted by the other",
            f"declare them compatible with `{option('resume-compat', shown)}`",
            exit_code=3,
            instead=f"run without `{option('resume')}`, or ",
        )
    if compat != recorded:
        raise ResumeRefused(
            f"`{option('resume-compat', compat)}` names the wrong version: {written}. Nothing was run. "
            f"The declaration has to be exact: `{option('resume-compat', shown)}`"
        )
    notice = f"{written}: resumed because you declared them compatible"
    return (notice,), {"resumed_from_engine": recorded, "resume_compat": "declared"}


def _tear(trace: Trace) -> tuple[str, ...]:
    used = f"used up to there ({len(trace.frames)} events)"
    if trace.torn:
        return (f"{trace.path.name}: line {trace.lines} is torn, as a crash leaves it; the trace is {used}",)
    if trace.damage:
        return (f"{trace.path.name}: line {trace.damage.line} cannot be read; the trace is {used}",)
    return ()
