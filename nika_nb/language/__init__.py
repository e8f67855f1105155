"""Text → `Workflow`: the YAML profile, the grammar, types, templates, expressions."""

from nika_nb.language.load import Loaded, load, load_bytes
from nika_nb.language.types import TypeExpr

__all__ = ["Loaded", "TypeExpr", "load", "load_bytes"]
