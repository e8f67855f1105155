"""The header corpora of the public suite, each file through `check` and `run` as its own driver does it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from nika_nb.cli.main import main
from tests.conftest import CONFORMANCE
from tests.corpus.headers import Header, Said
from tests.doors import newest, of

FAMILIES = ("dag", "envelope", "errors", "variables", "verbs", "composition", "redteam")

# The folders that the corpus writes into; its driver makes them.
SINKS = (
    *("cel", "competitor", "content", "ctrlflow", "data-validation", "errors"),
    *("fanout", "research", "security", "support"),
)

NO_PERMITS = "it starts programs without `permits:`, which chapter 10 refuses (NIKA-AUTH-006)"
DEAD_KEY = "`fail_fast:` at a task is dead (NIKA-PARSE-005); chapter 03 has it in `for_each:`"
COMPUTES = "a tool that only computes needs no grant (chapter 01)"

# Chapters 01 and 04 tell the two forms of a constant apart by a rule that they call normative: an object
# with both `type` and `value` is a typed constant, one that lacks either key is itself the value. So
# `{type, default}` is an object; it was the typed form of `vars:`, a block that is dead and has no alias, and
# the suite's own conventions measured that a `for_each` over one is NIKA-VAR-006 in the reference engine
# as well. To read it as its default would misread every literal object that holds these two keys.
LITERAL = "its constants are `{type, default}`, which chapters 01 and 04 call literal objects"


@dataclass(frozen=True)
class Contradiction:
    """Why a file cannot end as its header expects, and the change that lets it; none where there is none."""

    why: str
    repair: tuple[tuple[str, str], ...] = ()


def typed(name: str, kind: str, default: str, value: str) -> tuple[str, str]:
    """A constant as chapter 01 spells it, in the place of the dead form."""
    return f"{name}: {{ type: {kind}, default: {default} }}", f"{name}: {value}"


MAY_RUN = 'permits: {exec: ["/usr/bin/false", "/usr/bin/touch"]}\n'

# Files that contradict the chapters, which are what is followed. One that passes must leave.
AGAINST_THE_PROSE = {
    "dag/foreach-fail-fast-false.nika.yaml": Contradiction(
        NO_PERMITS,
        (
            typed("items", "array", '["a", "FAILHERE", "c", "d"]', '["a", "FAILHERE", "c", "d"]'),
            ("\ntasks:", f"\n{MAY_RUN}tasks:"),
        ),
    ),
    "dag/foreach-fail-fast-true.nika.yaml": Contradiction(
        NO_PERMITS,
        (
            typed("items", "array", '["a", "b", "FAILHERE", "d"]', '["a", "b", "FAILHERE", "d"]'),
            ("\ntasks:", f"\n{MAY_RUN}tasks:"),
        ),
    ),
    "verbs/timeout-per-iteration.nika.yaml": Contradiction(
        DEAD_KEY,
        (
            ("    fail_fast: false\n", ""),
            ("      items: ${{ const.items }}", "      items: ${{ const.items }}\n      fail_fast: false"),
        ),
    ),
    "envelope/permits-empty-default-deny.nika.yaml": Contradiction(COMPUTES),
    "dag/foreach-empty-skips.nika.yaml": Contradiction(
        LITERAL, (typed("empty_list", "array", "[]", "{ type: { array: string }, value: [] }"),)
    ),
    "dag/when-false-skips.nika.yaml": Contradiction(
        LITERAL, (typed("flag", "boolean", "false", "{ type: bool, value: false }"),)
    ),
    "variables/typed-vars-declarations.nika.yaml": Contradiction(
        LITERAL, (("    default:", "    value:"), ("type: boolean", "type: bool"))
    ),
}
IMPOSSIBLE = {name for name, found in AGAINST_THE_PROSE.items() if found.why in (NO_PERMITS, DEAD_KEY)}

# A file of the YAML profile whose YAML is sound, and whose workflow is not.
WITHOUT_PERMITS = {"valid/unicode-nfc.nika.yaml"}

PATHS = {
    f"{family}/{path.name}": path
    for family in FAMILIES
    for path in sorted((CONFORMANCE / family).glob("*.nika.yaml"))
}
RUNS = [name for name, path in PATHS.items() if not Header.of(path).static]
PROFILE = {
    f"{path.parent.name}/{path.name}": path
    for path in sorted((CONFORMANCE / "yaml-profile").rglob("*.nika.yaml"))
}

Say = Callable[..., Said]


def copied(folder: Path, *families: str) -> Path:
    """Corpora with the folders that their driver provides."""
    for family in families:
        shutil.copytree(CONFORMANCE / family, folder / family)
    for sink in SINKS:
        (folder / "out" / sink).mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def copy(conformance: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy of all of them: no file looks at what another one left."""
    return copied(tmp_path_factory.mktemp("corpus"), *FAMILIES)


@pytest.fixture
def corpus(copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The copy as the current folder, with the one secret that the driver provides."""
    monkeypatch.chdir(copy)
    monkeypatch.setenv("FAKE_API_KEY_FOR_TEST", "conformance-dummy-secret")
    return copy


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """A command in this process; what it says on both streams, put together."""

    def said(*words: str | Path) -> Said:
        capsys.readouterr()
        code = main([str(word) for word in words])
        done = capsys.readouterr()
        return Said(code, done.out + done.err)

    return said


@pytest.mark.usefixtures("conformance")
def test_every_file_is_here() -> None:
    """105 files, of which the check alone decides 14; 17 of the YAML profile."""
    assert (len(PATHS), len(PATHS) - len(RUNS), len(PROFILE)) == (105, 14, 17)


@pytest.mark.usefixtures("conformance")
def test_what_has_to_run() -> None:
    """58 files are said to end well or to fail at run: three can do neither, three mean another constant."""
    expected = [name for name, path in PATHS.items() if Header.of(path).runs]
    against = {name for name in expected if name in AGAINST_THE_PROSE}
    assert (len(expected), len(IMPOSSIBLE), len(against)) == (58, 3, 6)
    assert against >= IMPOSSIBLE
    assert {AGAINST_THE_PROSE[name].why for name in against - IMPOSSIBLE} == {LITERAL}


@pytest.mark.parametrize("name", PATHS)
def test_a_file_ends_as_its_header_expects(name: str, corpus: Path, say: Say) -> None:
    """Exit codes of check and run, and the wire code somewhere in what was said."""
    header = Header.of(PATHS[name])
    check = say("check", corpus / name)
    run = say("run", corpus / name) if not check.code and not header.static else None
    disagreement = header.disagreement(check, run)
    assert bool(disagreement) == (name in AGAINST_THE_PROSE), f"{disagreement}\n{run or check}"


@pytest.mark.parametrize("name", [name for name, found in AGAINST_THE_PROSE.items() if found.repair])
def test_only_the_contradiction_stands_in_the_way(name: str, corpus: Path, say: Say) -> None:
    """The same file, changed in that one place to what the chapters say, ends as its header expects."""
    text = PATHS[name].read_text("utf-8")
    for old, new in AGAINST_THE_PROSE[name].repair:
        assert old in text
        text = text.replace(old, new)
    repaired = corpus / name.replace(".nika.yaml", "-repaired.nika.yaml")
    repaired.write_text(text, encoding="utf-8")
    header, check = Header.of(repaired), say("check", repaired)
    run = say("run", repaired) if not check.code else None
    assert not header.disagreement(check, run), run or check


CONSTANTS = [name for name, found in AGAINST_THE_PROSE.items() if found.why == LITERAL]


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_without_a_value_is_an_object(name: str, corpus: Path, say: Say) -> None:
    """The check has nothing against it; where it is used as what it is not, the run says what it is."""
    assert say("check", corpus / name).code == 0
    run = say("run", corpus / name)
    assert run.code == 1
    assert "NIKA-VAR-006" in run.text
    assert "object" in run.text


# What a run has to leave behind, beyond its exit code: files by their number of lines, 0 for none.
LEFT = {
    "dag/failure-drains-inflight": {"ctrlflow/21_slow.json": 1, "ctrlflow/21_join.json": 0},
    "errors/on-error-on-codes-unmatched": {"ctrlflow/07_after.json": 0},
    "errors/on-error-recover-downstream": {"ctrlflow/05_down.json": 1},
    "errors/on-finally-both-paths": {"ctrlflow/18_finally_ok.json": 1, "ctrlflow/18_finally_fail.json": 1},
    "errors/retry-exhausted-then-recover": {"ctrlflow/04_attempts.log": 3, "ctrlflow/04_after.json": 1},
    "errors/retry-non-transient-single-attempt": {"ctrlflow/01_attempts.log": 1},
    "errors/retry-on-codes-forces": {"ctrlflow/02_attempts.log": 4},
    "errors/retry-on-codes-unmatched": {"ctrlflow/03_attempts.log": 1},
    "variables/foreach-non-array-either": {"ctrlflow/11_iter_0.json": 0},
}


@pytest.mark.parametrize("name", LEFT)
def test_a_run_leaves_what_its_header_says(name: str, folder: Path, say: Say) -> None:
    """A line per attempt, cleanups on both paths, nothing behind what was cancelled."""
    copied(folder, name.split("/")[0])
    say("run", f"{name}.nika.yaml")
    left = {place: lines(folder / "out" / place) for place in LEFT[name]}
    assert left == LEFT[name]


def lines(path: Path) -> int:
    return max(1, path.read_text("utf-8").count("\n")) if path.exists() else 0


def test_a_timeout_is_never_tried_again(corpus: Path, say: Say) -> None:
    """Not even where `on_codes` lists it: no frame of a retry."""
    say("run", corpus / "errors/timeout-never-retryable.nika.yaml")
    assert of(newest(corpus / "errors"), "task_failed")
    assert not of(newest(corpus / "errors"), "task_retrying")


@pytest.mark.parametrize("name", PROFILE)
@pytest.mark.usefixtures("folder")
def test_a_file_of_the_yaml_profile(name: str, say: Say) -> None:
    """What lies outside of the profile is refused by its code, in both doors; its border is inside."""
    header, path = Header.of(PROFILE[name]), shutil.copy(PROFILE[name], "w.nika.yaml")
    check, run = say("check", path), say("run", path)
    if header.code is not None:
        assert (check.code, run.code) == (2, 2)
        assert header.code in check.text
        assert header.code in run.text
        assert not Path(".nika").exists()
    elif name in WITHOUT_PERMITS:
        assert "NIKA-YAML" not in check.text
        assert check.code == 2
    else:
        assert (check.code, run.code) == (0, 0)
