"""Skill files are judged before they are opened, and read from the folder of their workflow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nika_nb.authority.skills import LARGEST, open_skill, skills_of
from nika_nb.errors import Fault, Source
from nika_nb.language import load
from tests.verbs.calls import permits

SOUND = "---\nname: review\ndescription: d\n---\nBe kind.\n"
BLOCK = permits(read=["skills/**"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "SKILL.md").write_text(SOUND)
    (tmp_path / "outside.md").write_text(SOUND)
    return tmp_path


def code(folder: Path, path: str, block: object = BLOCK) -> str:
    with pytest.raises(Fault) as caught:
        open_skill(block, path, str(folder))  # type: ignore[arg-type]
    return caught.value.code


def test_a_skill_inside_the_boundary(folder: Path) -> None:
    """Its text is the file's own."""
    assert open_skill(BLOCK, "skills/SKILL.md", str(folder)).text == SOUND
    assert open_skill(BLOCK, "./skills/../skills/SKILL.md", str(folder)).name == "review"


def test_outside_the_boundary_nothing_is_opened(folder: Path) -> None:
    """The refusal is the same for a file that is there and for one that is not."""
    (folder / "skills" / "link.md").symlink_to(folder / "outside.md")
    for path in ("outside.md", "gone.md", "skills/../outside.md", "skills/link.md", "/etc/hosts"):
        assert code(folder, path) == "NIKA-SEC-004"
    assert code(folder, "skills/SKILL.md", None) == "NIKA-AUTH-006"
    assert code(folder, "skills/SKILL.md", permits()) == "NIKA-SEC-004"


def test_what_cannot_be_read(folder: Path) -> None:
    """Missing, no plain file, no text, too large: NIKA-AGENT-003; no header: NIKA-AGENT-004."""
    (folder / "skills" / "bytes.md").write_bytes(b"---\nname: \xff\n---\n")
    (folder / "skills" / "large.md").write_text(SOUND + "x" * LARGEST)
    (folder / "skills" / "plain.md").write_text("Be kind.")
    os.mkfifo(folder / "skills" / "pipe.md")
    for name in ("gone.md", "bytes.md", "large.md", "pipe.md", "."):
        assert code(folder, f"skills/{name}") == "NIKA-AGENT-003"
    assert code(folder, "skills/plain.md") == "NIKA-AGENT-004"


def test_the_skills_of_a_workflow(folder: Path) -> None:
    """Every path that an agent names, once."""
    text = (
        "nika: s\nmodel: mock/echo\npermits: { fs: { read: ['skills/**'] } }\ntasks:\n"
        "  a: { agent: { prompt: hi, skills: [skills/SKILL.md] } }\n"
        "  b: { agent: { prompt: hi, skills: [skills/SKILL.md] } }\n"
        "  c: { infer: { prompt: hi } }\n"
    )
    workflow = load(Source(text)).workflow
    assert workflow is not None
    assert list(skills_of(workflow, str(folder))) == ["skills/SKILL.md"]
    (folder / "skills" / "SKILL.md").unlink()
    with pytest.raises(Fault, match="NIKA-AGENT-003"):
        skills_of(workflow, str(folder))
