"""The boundary at dispatch: every verdict becomes a witnessed permit, a refusal becomes a failure."""

from __future__ import annotations

from nika_nb.authority.permits import DENIED_CODE, Verdict
from nika_nb.engine.contract import Call, Permit
from nika_nb.errors import Fault


def report(call: Call, verdict: Verdict) -> None:
    """Witness a verdict. Raises Fault NIKA-SEC-004 when it is a refusal."""
    call.permit(Permit(verdict.plane, verdict.gate, verdict.allowed, verdict.why))
    if not verdict.allowed:
        details = {"plane": verdict.plane, "gate": verdict.gate, "why": verdict.why}
        raise Fault(DENIED_CODE, verdict.sentence, details=details)
