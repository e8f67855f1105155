"""Nika workflows in a notebook: checked, run, journaled, resumed from the journal."""

__version__ = "0.1.0"
