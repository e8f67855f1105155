"""The boundary: what is allowed, what is refused, and what the refusal says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nika_nb.authority import paths
from nika_nb.authority.effects import Effect, effects
from nika_nb.authority.permits import (
    Verdict,
    judge_host,
    judge_path,
    judge_program,
    judge_target,
    judge_tool,
)
from nika_nb.errors import Source
from nika_nb.language import load
from nika_nb.language.model import Permits
from tests.verbs.calls import permits

BASE = "/project"


@dataclass
class Case:
    name: str
    block: Permits | None
    value: Any
    allowed: bool
    code: str = "NIKA-SEC-004"


PROGRAMS = [
    Case("no block grants nothing", None, "echo", False, "NIKA-AUTH-006"),
    Case("an empty block grants nothing", permits(), "echo", False),
    Case("false grants nothing", permits(exec=False), "echo", False),
    Case("an empty list grants nothing", permits(exec=[]), "echo", False),
    Case("true grants any program", permits(exec=True), "./anything", True),
    Case("true grants a shell line", permits(exec=True), None, True),
    Case("a listed program", permits(exec=["git", "echo"]), "echo", True),
    Case("a program that is not listed", permits(exec=["git"]), "echo", False),
    Case("a shell line under a list", permits(exec=["sh"]), None, False),
    Case("a path is not its base name", permits(exec=["deploy.sh"]), "./deploy.sh", False),
    Case("a path as it is written", permits(exec=["./deploy.sh"]), "./deploy.sh", True),
    Case("a list holds names, not patterns", permits(exec=["*"]), "echo", False),
]


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)
def test_programs(case: Case) -> None:
    """A program is granted by its name exactly as written; a shell line only by `exec: true`."""
    _expect(judge_program(case.block, case.value), case)


TOOLS = [
    Case("no block grants no effect", None, "nika:read", False, "NIKA-AUTH-006"),
    Case("no block lets a tool compute", None, "nika:jq", True),
    Case("an empty block lets a tool compute", permits(), "nika:jq", True),
    Case("asking a human needs no grant", permits(), "nika:prompt", True),
    Case("a listed tool", permits(tools=["nika:read"]), "nika:read", True),
    Case("another tool", permits(tools=["nika:read"]), "nika:write", False),
    Case("every builtin", permits(tools=["nika:*"]), "nika:write", True),
    Case("a star stays in its namespace", permits(tools=["nika:*"]), "mcp:db/query", False),
    Case("a bare star names no namespace", permits(tools=["*"]), "nika:write", False),
    Case("every tool of a server", permits(tools=["mcp:browser/*"]), "mcp:browser/open", True),
    Case("a star stays in its segment", permits(tools=["mcp:browser/*"]), "mcp:browser/tab/open", False),
    Case("two stars cross segments", permits(tools=["mcp:browser/**"]), "mcp:browser/tab/open", True),
    Case("a later entry takes back", permits(tools=["nika:*", "!nika:write"]), "nika:write", False),
    Case("and only what it names", permits(tools=["nika:*", "!nika:write"]), "nika:read", True),
    Case("a later entry grants again", permits(tools=["!nika:write", "nika:*"]), "nika:write", True),
    Case("an unknown builtin needs a grant", permits(), "nika:nonsense", False),
]


@pytest.mark.parametrize("case", TOOLS, ids=lambda case: case.name)
def test_tools(case: Case) -> None:
    """Tools are granted by globs in which order matters; what only computes needs no grant."""
    _expect(judge_tool(case.block, case.value), case)


READS = [
    Case("no block", None, "data/a.csv", False, "NIKA-AUTH-006"),
    Case("nothing declared", permits(), "data/a.csv", False),
    Case("write is not read", permits(write=["data/**"]), "data/a.csv", False),
    Case("a file by name", permits(read=["./data/a.csv"]), "data/a.csv", True),
    Case("the same in other words", permits(read=["data/a.csv"]), "./data/../data/a.csv", True),
    Case("a file below", permits(read=["data/**"]), "data/deep/er/a.csv", True),
    Case("the folder itself", permits(read=["data/**"]), "data", True),
    Case("a neighbour with the same beginning", permits(read=["data/**"]), "database/a.csv", False),
    Case("a parent", permits(read=["data/**"]), "data/../secret", False),
    Case("out of the project", permits(read=["./**"]), "../../etc/passwd", False),
    Case("out and back in", permits(read=["./**"]), "../project/a.csv", True),
    Case("a star within a segment", permits(read=["data/*.csv"]), "data/a.csv", True),
    Case("a star does not cross segments", permits(read=["data/*.csv"]), "data/sub/key.csv", False),
    Case("a star in the middle", permits(read=["data/*/raw/*.csv"]), "data/x/raw/a.csv", True),
    Case("two stars in the middle, none needed", permits(read=["data/**/a.csv"]), "data/a.csv", True),
    Case("two stars in the middle", permits(read=["data/**/a.csv"]), "data/x/y/a.csv", True),
    Case("a bare pattern counts from the base", permits(read=["*.csv"]), "sub/a.csv", False),
    Case("two stars cover the project", permits(read=["**"]), "any/where", True),
    Case("and only the project", permits(read=["**"]), "/etc/passwd", False),
    Case("an absolute grant", permits(read=["/var/log/*.log"]), "/var/log/x.log", True),
    Case("an absolute path in the base", permits(read=["data/**"]), "/project/data/a", True),
    Case("the whole disk", permits(read=["/**"]), "/etc/passwd", True),
    Case("brackets in a file's own name", permits(read=["out/[1].md"]), "out/[1].md", True),
    Case("a class of characters", permits(read=["out/[a-c].md"]), "out/b.md", True),
    Case("a class of characters leaves others", permits(read=["out/[!a-c].md"]), "out/b.md", False),
    Case("a range that runs backwards", permits(read=["out/[z-a].md"]), "out/b.md", False),
    Case("and what is not in it", permits(read=["out/[!z-a].md"]), "out/b.md", True),
    Case("signs in a class", permits(read=["out/[a&&b--^]].md"]), "out/&].md", True),
    Case("a dash in a class", permits(read=["out/[-a].md"]), "out/-.md", True),
    Case("a later entry takes back", permits(read=["data/**", "!data/secret/**"]), "data/secret/k", False),
    Case("one elsewhere between two here", permits(read=["a", "!/**", "b"]), "a", False),
    Case("and what stands behind it", permits(read=["a", "!/**", "b"]), "b", True),
    Case("and what stands there", permits(read=["./**", "/etc/**", "!/etc/x"]), "/etc/y", True),
    Case("a NUL", permits(read=["/**"]), "a\0b", False),
]


@pytest.mark.parametrize("case", READS, ids=lambda case: case.name)
def test_paths(case: Case) -> None:
    """Path globs count from the base folder and are matched against the normalized path."""
    _expect(judge_path(case.block, "read", case.value, BASE), case)


def test_a_base_folder_with_glob_characters_is_itself() -> None:
    """The name of the base folder is never read as a pattern."""
    assert judge_path(permits(read=["data/*"]), "read", "data/a", "/my [1] * project").allowed


JOURNALS = [
    ("everything is not the journals", ["./**"], ".nika/traces/a.ndjson", False),
    ("nor in a folder below", ["./out/**"], "out/.nika/traces/a.ndjson", False),
    ("nor on a disk that knows no case", ["./**"], ".NIKA/traces/a.ndjson", False),
    ("nor by an absolute grant", ["/**"], ".nika/traces/a.ndjson", False),
    ("what names them grants them", ["./.nika/**"], ".nika/notes.md", True),
    ("and is taken back by everything", ["./.nika/**", "!./**"], ".nika/notes.md", False),
    ("a name that only begins like it", ["./**"], ".nikanor/a", True),
]


@pytest.mark.parametrize(
    ("grants", "path", "allowed"), [case[1:] for case in JOURNALS], ids=[case[0] for case in JOURNALS]
)
def test_no_wide_grant_lets_a_workflow_write_journals(grants: list[str], path: str, allowed: bool) -> None:
    """A planted journal answers the questions of other workflows: a grant has to name the place."""
    block = permits(write=grants)
    assert judge_path(block, "write", path, BASE).allowed == allowed
    assert judge_target(block, "write", path, BASE, paths.effective(path, BASE)).allowed == allowed
    assert judge_path(permits(read=["/**"]), "read", path, BASE).allowed


HOSTS = [
    Case("no block", None, "api.example.com", False, "NIKA-AUTH-006"),
    Case("a listed host", permits(http=["api.example.com"]), "api.example.com", True),
    Case("another host", permits(http=["api.example.com"]), "evil.example.com", False),
    Case("case does not matter", permits(http=["API.Example.com"]), "api.example.COM.", True),
    Case("a port does not matter", permits(http=["api.example.com"]), "api.example.com:8443", True),
    Case("a name in its own script", permits(http=["bücher.example"]), "xn--bcher-kva.example", True),
    Case("a star alone is every host", permits(http=["*"]), "any.where", True),
    Case("a star in a name is no pattern", permits(http=["*.example.com"]), "api.example.com", False),
    Case("an address in brackets", permits(http=["::1"]), "[::1]:80", True),
]


@pytest.mark.parametrize("case", HOSTS, ids=lambda case: case.name)
def test_hosts(case: Case) -> None:
    """Hosts are exact names in canonical form, or the bare star."""
    _expect(judge_host(case.block, case.value), case)


def _expect(verdict: Verdict, case: Case) -> None:
    assert verdict.allowed == case.allowed, verdict
    assert verdict.code == ("" if case.allowed else case.code)
    assert verdict.why
    if not case.allowed:
        assert verdict.gate in verdict.sentence


def test_a_refusal_says_what_to_write() -> None:
    """The sentence of a refusal ends in the line that would allow it."""
    assert judge_program(permits(exec=["git"]), "make").sentence == (
        'program `make` is refused: permits.exec lists only git; add "make" to permits.exec'
    )
    assert 'permits: { tools: ["nika:read"] }' in judge_tool(None, "nika:read").sentence


def test_what_is_nearly_permitted_is_asked_about_before_a_boundary_is_widened() -> None:
    """A name that is one letter off; a builtin that exists is meant as it stands."""
    assert judge_program(permits(exec=["echo"]), "echoo").fix == (
        'did you mean `echo`? otherwise add "echoo" to permits.exec'
    )
    assert judge_tool(permits(tools=["nika:read"]), "nika:write").fix == 'add "nika:write" to permits.tools'


def test_a_symlink_opens_nothing_outside(tmp_path: Path) -> None:
    """What counts is where a path leads: a link out of a granted folder is refused."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inside").write_text("x")
    (tmp_path / "secret").write_text("x")
    (tmp_path / "data" / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "data" / "in").symlink_to(tmp_path / "data" / "inside")
    block = permits(read=["data/**"])
    assert _target(block, "data/inside", tmp_path).allowed
    assert _target(block, "data/in", tmp_path).allowed
    refused = _target(block, "data/out", tmp_path)
    assert not refused.allowed
    assert str(tmp_path / "secret") in refused.sentence
    both = permits(read=["data/**", str(tmp_path / "secret")])
    assert _target(both, "data/out", tmp_path).allowed


def test_a_link_planted_at_the_granted_folder_is_refused(tmp_path: Path) -> None:
    """A grant below the base names that folder, not wherever someone makes it point."""
    base, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    base.mkdir()
    elsewhere.mkdir()
    (base / "out").symlink_to(elsewhere)
    assert not _target(permits(write=["out/**"]), "out/new.txt", base, "write").allowed
    assert not _target(permits(write=[f"{base}/out/**"]), "out/new.txt", base, "write").allowed


def test_dots_after_a_link_are_walked_as_the_system_walks(tmp_path: Path) -> None:
    """`link/..` is the parent of the link's target; the text alone would hide that."""
    (tmp_path / "data").mkdir()
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "far" / "key").write_text("x")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "far" / "away")
    assert not _target(permits(read=["data/**"]), "data/link/../key", tmp_path).allowed


def test_a_base_behind_a_link_is_the_base(tmp_path: Path) -> None:
    """A project that is itself reached through a link works as any other."""
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    base = tmp_path / "linked"
    assert _target(permits(write=["out/**"]), "out/new/file.txt", base, "write").allowed
    assert _target(permits(write=[f"{base}/out/**"]), f"{base}/out/x", base, "write").allowed


def test_an_absolute_grant_follows_the_systems_own_links(tmp_path: Path) -> None:
    """A folder outside of the base is named by the author, links and all (as /tmp on macOS)."""
    base, real = tmp_path / "project", tmp_path / "private"
    base.mkdir()
    real.mkdir()
    (tmp_path / "tmp").symlink_to(real)
    block = permits(write=[f"{tmp_path}/tmp/*.txt"])
    assert _target(block, f"{tmp_path}/tmp/a.txt", base, "write").allowed
    assert not _target(block, f"{tmp_path}/tmp/sub/a.txt", base, "write").allowed


def _target(block: Permits, path: str, base: Path, mode: Any = "read") -> Verdict:
    return judge_target(block, mode, path, str(base), paths.effective(path, str(base)))


def test_the_published_examples_keep_within_their_permits(conformance: Path) -> None:
    """Every literal effect of every published example and template fits its own permits."""
    refused = []
    files = sorted([*conformance.glob("examples/*.nika.yaml"), *conformance.glob("templates/*.nika.yaml")])
    assert len(files) > 50
    for file in files:
        workflow = load(Source(file.read_text(encoding="utf-8"))).workflow
        assert workflow is not None
        for task in workflow.tasks.values():
            verdicts = [_judged(workflow.permits, effect) for effect in effects(task.action)]
            refused += [(file.name, task.id, found) for found in verdicts if found and not found.allowed]
    assert refused == []


ESCAPES = [
    "permits-agent-tool-outside-whitelist",
    "permits-exec-absent",
    "permits-fs-read-escape",
    "permits-fs-write-escape-absolute",
    "permits-net-absent",
    "permits-tool-not-listed",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_the_published_escapes_are_seen(name: str, conformance: Path) -> None:
    """Every published workflow that reaches beyond its permits has an effect that is refused."""
    text = (conformance / "envelope" / f"{name}.nika.yaml").read_text(encoding="utf-8")
    workflow = load(Source(text)).workflow
    assert workflow is not None
    found = [effect for task in workflow.tasks.values() for effect in effects(task.action)]
    assert any(verdict and not verdict.allowed for verdict in (_judged(workflow.permits, e) for e in found))


def _judged(block: Permits | None, effect: Effect) -> Verdict | None:
    if effect.target is None or effect.dynamic or effect.kind == "workflow":
        return None
    if effect.kind in ("exec", "shell"):
        return judge_program(block, effect.target.split()[0] if effect.kind == "exec" else None)
    if effect.kind in ("read", "write"):
        return judge_path(block, effect.kind, effect.target, BASE)
    return judge_tool(block, effect.target) if effect.kind == "tool" else judge_host(block, effect.target)
