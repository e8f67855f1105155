"""The `run:` block: which randomness and which clock a run declares, and what breaks its promise."""

from __future__ import annotations

from typing import cast, get_args

from nika_nb.catalog import grammar
from nika_nb.catalog.builtins import UUID
from nika_nb.language.findings import Findings
from nika_nb.language.model import Clock, Entropy, Retry, RunSpec, Workflow
from nika_nb.language.nodes import Map
from nika_nb.language.shape import Shape

_SEED_CAP = 1 << 64


def read_run(root: Map, shape: Shape) -> RunSpec:
    """The declared entropy and clock; a deterministic entropy implies the virtual clock."""
    node = root.get("run")
    found = shape.mapping(node, "`run:`")
    if found is None:
        return RunSpec()
    shape.closed(found, grammar.RUN, "`run:`")
    entropy, seed = _entropy(found, shape)
    clock = shape.one_of(found.get("clock"), "`clock`", get_args(Clock))
    _contradiction(found, entropy, clock, shape)
    implied = "system" if entropy in (None, "ambient") else "virtual"
    return RunSpec(entropy or "ambient", cast(Clock, clock or implied), seed, found.span)


def _entropy(found: Map, shape: Shape) -> tuple[Entropy | None, int | None]:
    node = found.get("entropy")
    if node is None:
        return None, None
    if isinstance(node, Map):
        shape.closed(node, ("seeded",), "`entropy`")
        seeded = node.get("seeded")
        seed = shape.whole(seeded, "`seeded`")
        if seed is not None and seed < _SEED_CAP:
            return "seeded", seed
        if seed is not None or (seeded is None and not shape.told(node, "seeded")):
            shape.refuse("`seeded` holds a whole number of at most 64 bits", node, "write `{ seeded: 42 }`")
        return None, None
    word = shape.one_of(node, "`entropy`", ("none", "ambient"), ("{ seeded: 42 }",))
    return cast("Entropy | None", word), None


def _contradiction(found: Map, entropy: str | None, clock: str | None, shape: Shape) -> None:
    if entropy == "ambient" and clock == "virtual":
        shape.findings.error(
            "NIKA-PARSE-026",
            "`entropy: ambient` with `clock: virtual`: a run cannot be live and reproducible at once",
            found.span,
            "declare `entropy: {seeded: N}`, or leave the clock to the system",
        )
    if entropy in ("none", "seeded") and clock == "system":
        shape.findings.error(
            "NIKA-PARSE-027",
            f"`entropy: {entropy}` with `clock: system`: a reproducible run cannot read the wall clock",
            found.span,
            "write `clock: virtual`",
        )


def find_randomness(workflow: Workflow, findings: Findings) -> None:
    """`entropy: none` promises that nothing random is used."""
    if workflow.run.entropy != "none":
        return
    for task in workflow.tasks.values():
        findings.task = task.id
        jitter = _jitters(task.retry)
        if jitter or task.action.get("tool") == UUID:
            what = "waits a random time between attempts" if jitter else "makes a random id"
            findings.error(
                "NIKA-PARSE-028",
                f"`entropy: none`, and this task {what}",
                task.spans.get("retry", task.span) if jitter else task.action.span,
                "write `jitter: false`" if jitter else "declare `entropy: {seeded: N}`",
            )
    findings.task = None


def _jitters(retry: Retry | None) -> bool:
    if retry is None or retry.max_attempts == 1 or retry.backoff_ms == 0:
        return False
    return retry.jitter is not False
