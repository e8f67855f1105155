"""Skill files: a header that names and describes, a body that instructs, and how both reach a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nika_nb.errors import Source
from nika_nb.language import yaml
from nika_nb.language.findings import Findings
from nika_nb.language.nodes import Map, Scalar

_FENCE = "---"
_SECTION = "## Skills"


class NotASkill(ValueError):
    """What keeps a text from being a skill, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. text: the file's own text, byte for byte, which is what an identity sees."""

    name: str
    description: str
    body: str
    text: str


def read_skill(text: str) -> Skill:
    """The skill of a file's text. Raises NotASkill. Header keys beyond the two are its author's own."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise NotASkill("it has no header")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        raise NotASkill("its header never ends")
    header = "\n".join(lines[1:end])
    root = yaml.read(header, Findings(Source(header)))
    if not isinstance(root, Map):
        raise NotASkill("its header is no mapping")
    body = "\n".join(lines[end + 1 :]).strip()
    return Skill(_text(root, "name"), _text(root, "description"), body, text)


def _text(root: Map, name: str) -> str:
    node = root.get(name)
    if not (isinstance(node, Scalar) and isinstance(node.value, str) and node.value.strip()):
        raise NotASkill(f"its header has no `{name}`")
    return node.value.strip()


def with_skills(system: str | None, skills: Sequence[Skill]) -> str | None:
    """The system text with one section that holds every skill, in the order given."""
    if not skills:
        return system
    parts = [system] if system else []
    parts.append(_SECTION)
    for skill in skills:
        parts += [f"### {skill.name}", skill.description, *([skill.body] if skill.body else [])]
    return "\n\n".join(parts)
