"""Displays of a notebook without a notebook."""

from __future__ import annotations

from tests.notebook.conftest import shown as shown
