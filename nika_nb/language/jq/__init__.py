"""`jq-subset/0.1`, the one data language: the gate, and evaluation in a process that can be killed."""

from nika_nb.language.jq.gate import parse
from nika_nb.language.jq.process import Limits
from nika_nb.language.jq.worker import JqWorker

__all__ = ["JqWorker", "Limits", "parse"]
