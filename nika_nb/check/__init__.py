"""Static judgment: a text → a report, before anything runs."""

from nika_nb.check.inference import infer_permits
from nika_nb.check.judgments import judge
from nika_nb.check.report import Report, check

__all__ = ["Report", "check", "infer_permits", "judge"]
