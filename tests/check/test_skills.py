"""Skill files: judged against the boundary first, then opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.judging import codes, judged

TEXT = (
    "nika: s\nmodel: mock/echo\npermits: {{ fs: {{ read: ['skills/**'] }} }}\n"
    "tasks:\n  t: {{ agent: {{ prompt: hi, skills: [{path}] }} }}\n"
)
SOUND = "---\nname: review\ndescription: reads\nlicense: any\n---\nBe kind.\n"


@pytest.mark.parametrize(
    ("content", "expected", "says"),
    [
        (SOUND, [], ""),
        (SOUND.replace("\n", "\r\n"), [], ""),
        (None, ["NIKA-AGENT-003"], "cannot be read"),
        ("Be kind.\n", ["NIKA-AGENT-004"], "it has no header"),
        ("---\nname: review\n", ["NIKA-AGENT-004"], "never ends"),
        ("---\n- a\n---\n", ["NIKA-AGENT-004"], "no mapping"),
        ("---\nname: review\n---\n", ["NIKA-AGENT-004"], "no `description`"),
        ("---\nname: ''\ndescription: x\n---\n", ["NIKA-AGENT-004"], "no `name`"),
    ],
)
def test_a_skill_exists_and_has_its_header(
    tmp_path: Path, content: str | None, expected: list[str], says: str
) -> None:
    """A skill inside the boundary is a file whose header names and describes it."""
    (tmp_path / "skills").mkdir()
    if content is not None:
        (tmp_path / "skills" / "SKILL.md").write_bytes(content.encode())
    report = judged(TEXT.format(path="skills/SKILL.md"), base=tmp_path)
    assert codes(report) == expected
    assert says in "".join(error.message for error in report.errors)


def test_a_skill_outside_the_boundary_is_never_opened(tmp_path: Path) -> None:
    """The refusal of a path does not tell whether the file exists."""
    (tmp_path / "there.md").write_text("no skill")
    found = [codes(judged(TEXT.format(path=path), base=tmp_path)) for path in ("there.md", "not-there.md")]
    assert found == [["NIKA-SEC-004"], ["NIKA-SEC-004"]]


def test_a_link_out_of_the_boundary_is_not_followed(tmp_path: Path) -> None:
    """A skill that only a symlink brings inside is left unread."""
    (tmp_path / "skills").mkdir()
    (tmp_path / "secret").write_text("no skill")
    (tmp_path / "skills" / "SKILL.md").symlink_to(tmp_path / "secret")
    assert "NIKA-AGENT-004" not in codes(judged(TEXT.format(path="skills/SKILL.md"), base=tmp_path))
