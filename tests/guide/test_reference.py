"""The README's reference is what the code says today."""

from __future__ import annotations

import dataclasses

from nika_nb.settings import SETTINGS, Settings
from tests.guide.reference import README, renewed


def test_the_reference_is_current() -> None:
    """Renewing it changes nothing: `python -m tests.guide.reference` was run after the last change."""
    text = README.read_text(encoding="utf-8")
    assert renewed(text) == text


def test_every_setting_is_told_of() -> None:
    """What the environment may say is one table: no field of Settings stands outside it."""
    fields = {field.name for field in dataclasses.fields(Settings)} - {"troubles"}
    assert {one.field for one in SETTINGS} == fields
