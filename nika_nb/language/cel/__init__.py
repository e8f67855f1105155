"""`cel-subset/0.1`: what stands inside `${{ }}`."""

from nika_nb.language.cel import slips
from nika_nb.language.cel.evaluate import Scope, evaluate
from nika_nb.language.cel.parse import parse
from nika_nb.language.cel.syntax import Expr, Reference, references

__all__ = ["Expr", "Reference", "Scope", "evaluate", "parse", "references", "slips"]
