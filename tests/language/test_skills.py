"""Skill files: what one is, and the one section in which a model sees them."""

from __future__ import annotations

import pytest

from nika_nb.language.skills import NotASkill, read_skill, with_skills

SOUND = "---\nname: review\ndescription: Reads a diff.\nlicense: any\n---\n\nBe kind.\n\n"


def test_a_skill() -> None:
    """A header that names and describes, a body without the blank lines around it, and the text as it was."""
    skill = read_skill(SOUND)
    assert (skill.name, skill.description, skill.body) == ("review", "Reads a diff.", "Be kind.")
    assert skill.text == SOUND


@pytest.mark.parametrize(
    "text", [SOUND.replace("\n", "\r\n"), "\ufeff" + SOUND, SOUND.replace("---\n\n", "---  \n")]
)
def test_line_ends_and_blanks_do_not_matter(text: str) -> None:
    """A file saved on another system is the same skill."""
    skill = read_skill(text)
    assert (skill.name, skill.description, skill.body) == ("review", "Reads a diff.", "Be kind.")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it has no header"),
        ("Be kind.\n", "it has no header"),
        ("---\nname: review\n", "its header never ends"),
        ("---\n- a\n---\n", "its header is no mapping"),
        ("---\n---\n", "its header is no mapping"),
        ("---\nname: review\n---\n", "its header has no `description`"),
        ("---\nname: '  '\ndescription: x\n---\n", "its header has no `name`"),
        ("---\nname: 7\ndescription: x\n---\n", "its header has no `name`"),
    ],
)
def test_what_is_no_skill(text: str, says: str) -> None:
    """The sentence says what is missing."""
    with pytest.raises(NotASkill, match=says):
        read_skill(text)


def test_the_section() -> None:
    """Appended after the authored text, one block a skill, in their order; the same bytes every time."""
    one, two = read_skill(SOUND), read_skill("---\nname: bare\ndescription: d\n---\n")
    section = "## Skills\n\n### review\n\nReads a diff.\n\nBe kind.\n\n### bare\n\nd"
    assert with_skills("Authored.", [one, two]) == f"Authored.\n\n{section}"
    assert with_skills(None, [one, two]) == section
    assert with_skills("", [one, two]) == section


def test_without_skills_nothing_is_added() -> None:
    """The authored text stays as it is, also where there is none."""
    assert with_skills("Authored.", []) == "Authored."
    assert with_skills(None, []) is None
