"""Deployments: a workflow with everything it is bound to, as versions that never change."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nika_nb import __version__
from nika_nb.catalog.frames import ENGINE_VERSION
from nika_nb.doors import command
from nika_nb.doors import deployment as started
from nika_nb.errors import Source, UsageError
from nika_nb.files import no_folder
from nika_nb.language.load import load
from nika_nb.runs.below import projects
from nika_nb.runs.lack import Lack
from nika_nb.runs.readiness import lacks_at_start
from nika_nb.runs.records import moment
from nika_nb.runs.request import Deployed
from nika_nb.runs.snapshots import Snapshot
from nika_nb.values import loads, nearest

FORMAT = 1
NAME_PATTERN = re.compile(r"[a-z][a-z0-9-]{0,47}")
BROKEN_CODE = "NIKA-NB-002"
_TOLD = 3  # places that a sentence names
_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_REMOVED = ".removed"


@dataclass(frozen=True, slots=True, repr=False)
class Deployment:
    """One version of a deployment. created: unix nanoseconds. root: the folder whose `.nika` holds it."""

    name: str
    version: int
    created: int
    snapshot: Snapshot
    root: Path

    def __repr__(self) -> str:
        return (
            f"{self.name} · version {self.version} · {self.snapshot.workflow} · {moment(self.created)[:19]}Z"
        )

    @property
    def deployed(self) -> Deployed:
        return Deployed(self.name, self.version, self.snapshot.digest)

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs that a start has to be given."""
        workflow = load(Source(self.snapshot.text)).workflow
        declared = workflow.inputs.values() if workflow is not None else ()
        return tuple(one.name for one in declared if one.required and one.name not in self.snapshot.inputs)

    @property
    def lacks(self) -> tuple[Lack, ...]:
        """What a start would be `unrunnable` for right now, its inputs aside."""
        return lacks_at_start(self.snapshot.request(self.root, {}))

    def to_json(self) -> dict[str, Any]:
        """As it is listed: without the texts, with what a start needs and lacks right now."""
        texts = {"children": list(self.snapshot.children), "skills": list(self.snapshot.skills)}
        shape = asdict(self.snapshot) | texts
        del shape["text"]
        return {
            "name": self.name,
            "version": self.version,
            "created_at": moment(self.created),
            "digest": self.snapshot.digest,
            "root": str(self.root),
            "required_inputs": list(self.required),
            **readiness_of(self.lacks),
            **shape,
        }


def readiness_of(lacks: tuple[Lack, ...]) -> dict[str, Any]:
    """As a start would say it."""
    readiness = "unrunnable" if lacks else "ready"
    return {"readiness": readiness, "diagnostics": [lack.to_json() for lack in lacks]}


class Broken(UsageError):
    """A version that lies there and cannot be run. lack: what is wrong with it."""

    def __init__(self, name: str, version: int, why: str) -> None:
        self.name, self.version = name, version
        what = f"version {version} of the deployment `{name}` {why}"
        self.lack = Lack(BROKEN_CODE, what, "deploy it anew")
        super().__init__(self.lack.sentence)


class DeploymentList(list[Deployment]):
    """The newest version of every deployment of a project, by name; prints as a table.

    broken: those whose newest version cannot be run.
    """

    def __init__(self, found: Iterable[Deployment], broken: Iterable[Broken] = ()) -> None:
        super().__init__(found)
        self.broken = tuple(broken)

    def __repr__(self) -> str:
        from nika_nb.runs.lines import deployment_lines  # which draws what is declared here

        return "\n".join(deployment_lines(self))

    def to_json(self) -> list[dict[str, Any]]:
        """A deployment each, by name."""
        broken = [
            {"name": one.name, "version": one.version, **readiness_of((one.lack,))} for one in self.broken
        ]
        return sorted([*(one.to_json() for one in self), *broken], key=lambda shape: str(shape["name"]))


class Deployments:
    """The deployments of one project: `.nika/deployments/<name>/<version>.json`.

    Where one was removed a `<version>.removed` stays: its number is never given to another text.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / ".nika" / "deployments"

    def add(self, name: str, snapshot: Snapshot) -> Deployment:
        """A new version; the newest one itself where nothing differs from it."""
        _judge(name)
        newest = self._newest(name)
        if newest is not None:
            with suppress(Broken):
                known = self.get(name, newest)
                if known.snapshot.digest == snapshot.digest:
                    return known
        return self._write(name, snapshot, max([*self._versions(name), *self._removed(name)], default=0) + 1)

    def get(self, name: str, version: int | None = None) -> Deployment:
        """Raises UsageError where there is none, Broken for one that is not as it was written."""
        _judge(name, version)
        found = version if version is not None else self._newest(name)
        if found is None or not self._file(name, found).is_file():
            raise UsageError(self._absent(name, version))
        return _read(self._file(name, found), name, found, self.root)

    def all(self) -> DeploymentList:
        """The newest version of each, by name. Raises UsageError where none can be looked up."""
        if (why := no_folder(self.path)) is not None:
            raise UsageError(f"no deployments can be looked up: {why}")
        found, broken = list[Deployment](), list[Broken]()
        for name in sorted(self._names()):
            try:
                found.append(self.get(name))
            except Broken as one:
                broken.append(one)
            except UsageError:  # removed meanwhile
                continue
        return DeploymentList(found, broken)

    def remove(self, name: str, version: int | None = None) -> int:
        """How many versions went: one, or all. Runs that were started from them keep all they need."""
        _judge(name, version)
        versions = [version] if version is not None else self._versions(name)
        gone = 0
        for number in versions:
            gone += self._take_away(name, number)
        if not gone:
            raise UsageError(self._absent(name, version))
        return gone

    def _take_away(self, name: str, version: int) -> bool:
        """Whether it was there. First its number is kept, then it goes."""
        path = self._file(name, version)
        if not path.is_file():
            return False
        try:
            path.with_suffix(_REMOVED).write_text(f"{moment(time.time_ns())}\n", encoding="utf-8")
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{path} cannot be removed: {error.strerror}") from None
        return True

    def _write(self, name: str, snapshot: Snapshot, version: int) -> Deployment:
        """Whole or not at all; of two at once each gets a version of its own."""
        folder = self.path / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = no_folder(folder, 2) or f"{folder} cannot be made: {error.strerror}"
            raise UsageError(f"nothing was deployed: {why}") from None
        created = time.time_ns()
        while True:
            made = Deployment(name, version, created, snapshot, self.root)
            path = self._file(name, version)
            if _link(folder, path, _document(made)):
                if not path.with_suffix(_REMOVED).exists():
                    return made
                path.unlink(missing_ok=True)  # somebody had it, and removed it just now
            version += 1

    def _file(self, name: str, version: int) -> Path:
        return self.path / name / f"{version}.json"

    def _names(self) -> Iterator[str]:
        with suppress(OSError):
            names = (path.name for path in self.path.iterdir() if NAME_PATTERN.fullmatch(path.name))
            yield from (name for name in names if self._versions(name))

    def _versions(self, name: str) -> list[int]:
        return self._numbers(name, ".json")

    def _removed(self, name: str) -> list[int]:
        return self._numbers(name, _REMOVED)

    def _numbers(self, name: str, suffix: str) -> list[int]:
        try:
            found = [path.stem for path in (self.path / name).iterdir() if path.suffix == suffix]
        except OSError:
            return []
        return sorted(int(stem) for stem in found if _VERSION.fullmatch(stem))

    def _newest(self, name: str) -> int | None:
        return max(self._versions(name), default=None)

    def _absent(self, name: str, version: int | None) -> str:
        if (why := no_folder(self.path)) is not None:
            return f"no deployments can be looked up: {why}"
        versions = self._versions(name)
        if version in self._removed(name):
            return f"version {version} of the deployment `{name}` was removed"
        if versions and version is not None:
            listing = ", ".join(map(str, versions))
            return f"the deployment `{name}` has no version {version} (it has {listing})"
        found = projects(self.root, f"deployments/{name}").roots
        there = [root for root in found if root != self.root and Deployments(root)._versions(name)]
        ways = [f"`{started(name, os.path.relpath(root, self.root))}`" for root in there]
        known = list(self._names())
        hint = f"it lies elsewhere: {', '.join(ways[:_TOLD])}" if ways else nearest(name, known)
        shown = (
            f"`{command('deployments')}` shows what is" if known else f"make one with `{command('deploy')}`"
        )
        hint = hint or shown
        return f"there is no deployment `{name}` in {self.path}; {hint}"


def _judge(name: str, version: int | None = None) -> None:
    if version is not None and (isinstance(version, bool) or not isinstance(version, int) or version < 1):
        raise UsageError(f"a version is a whole number from 1 on, not {version!r}")
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        rule = "lower-case letters, digits and `-`, at most 48, a letter first"
        raise UsageError(f"a deployment cannot be called {name!r}: {rule}")


def _document(made: Deployment) -> bytes:
    shape = {
        "format": FORMAT,
        "name": made.name,
        "version": made.version,
        "created_at": made.created,
        "engine_version": ENGINE_VERSION,
        "package_version": __version__,
        "digest": made.snapshot.digest,
        "snapshot": asdict(made.snapshot),
    }
    return (json.dumps(shape, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _link(folder: Path, target: Path, content: bytes) -> bool:
    """Whether the file is now there with this content; False where another one had the name."""
    temporary = folder / f".{secrets.token_hex(8)}.tmp"
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, target)  # unlike a rename it never replaces
    except FileExistsError:
        return False
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
    return True


def _read(path: Path, name: str, version: int, root: Path) -> Deployment:
    try:
        shape = loads(path.read_bytes())
        made = Deployment(name, version, int(shape["created_at"]), Snapshot(**shape["snapshot"]), root)
        same = made.snapshot.digest == shape["digest"]
    except OSError as error:
        raise Broken(name, version, f"cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Broken(name, version, "is no deployment that this version of nika_nb can read") from None
    if not same:
        raise Broken(name, version, "was changed after it was deployed")
    return made
