"""The refusals of rooms further down that whoever calls the package may catch by name."""

from __future__ import annotations

from nika_nb.tools.prompt import WrongAnswer as WrongAnswer
from nika_nb.trace.lines import TraceUnreadable as TraceUnreadable
from nika_nb.trace.trust import Untrusted as Untrusted
