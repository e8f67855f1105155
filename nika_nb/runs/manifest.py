"""The first frames of a journal: the contract the run booted under, and the exact text it ran."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

from nika_nb import __version__
from nika_nb.authority.masking import Masker
from nika_nb.catalog import SPEC_PIN
from nika_nb.catalog.frames import ENGINE_VERSION, TRACE_FORMAT
from nika_nb.language.model import Workflow
from nika_nb.plan.meaning import semantic_hash
from nika_nb.runs.inputs import origins
from nika_nb.runs.pricing import pricing
from nika_nb.runs.request import Request
from nika_nb.trace.paging import pages
from nika_nb.values import dumps

# What is of this machine or this moment is not told where two journals are to be the same.
_OF_THE_MOMENT = ("platform", "package_version", "notebook", "cell", "base", "door", "pid", "reproduces")


def manifest(
    request: Request,
    workflow: Workflow,
    inputs: Mapping[str, Any],
    resumed: Mapping[str, Any],
    masker: Masker,
) -> dict[str, Any]:
    """The fields of `workflow_started`. `resumed` holds what is to be said of the trace resumed from.

    An input that gives a secret away is named, and its value left out.
    """
    text = request.source.text
    withheld = [name for name, value in inputs.items() if masker.reveals(value)]
    told = {name: value for name, value in inputs.items() if name not in withheld}
    deterministic = workflow.run.entropy != "ambient"
    fields: dict[str, Any] = {
        "workflow": workflow.id,
        "permits": permits_banner(workflow),
        "workflow_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "semantic_hash": semantic_hash(workflow),
        "permits_json": dumps(masker.mask(workflow.permits.raw)) if workflow.permits else None,
        "sandbox": "noop",
        "inputs": dumps(_origins(request, workflow)) if workflow.inputs else None,
        "input_values": dumps(told) if told else None,
        "inputs_withheld": dumps(withheld) if withheld else None,
        **resumed,
        "trace_format": TRACE_FORMAT,
        "engine_version": ENGINE_VERSION,
        "platform": f"{sys.platform}/{platform.machine()}",
        "spec_pin": SPEC_PIN,
        "stamper_kind": "deterministic" if deterministic else "system",
        "clock": "virtual" if deterministic else workflow.run.clock,
        "seed": (workflow.run.seed or 0) if deterministic else None,
        "pricing": pricing(),
        "budget": _budget(request),
        "model_override": request.model,
        "reproduces": request.reproduces,
        "package_version": __version__,
        "source_name": source_name(request, workflow),
        "notebook": request.place.notebook,
        "cell": request.place.cell,
        "base": _base(request),
        "door": request.door,
        **_deployment(request),
        "pid": os.getpid(),
    }
    if deterministic:
        fields |= dict.fromkeys(_OF_THE_MOMENT)
    return {name: value for name, value in fields.items() if value is not None}


def _origins(request: Request, workflow: Workflow) -> dict[str, str]:
    """Where each input came from: a continuation and a run of a deployment have known it before."""
    found = origins(workflow, request.variables, request.origin)
    return found | {name: origin for name, origin in request.origins.items() if name in found}


def _base(request: Request) -> str | None:
    """The way from where the journal lies to where relative paths start, where it is not the same."""
    way = os.path.relpath(request.place.base, request.place.root)
    return None if way == "." else way


def _deployment(request: Request) -> dict[str, Any]:
    if request.deployment is None:
        return {}
    deployed = request.deployment
    return {
        "deployment": deployed.name,
        "deployment_version": deployed.version,
        "deployment_digest": deployed.digest,
    }


def source_name(request: Request, workflow: Workflow) -> str:
    """What the text is called; the number of a cell is of the moment, and left out where a run is not."""
    counted = request.origin == "notebook" or request.place.notebook is not None
    return "cell" if counted and workflow.run.entropy != "ambient" else request.source.name


def _budget(request: Request) -> str | None:
    """The cap as JSON text, with what earlier invocations of the run have used of it; None without a cap."""
    if request.max_cost_usd is None:
        return None
    spent = {"spent_usd": request.spent_usd} if request.spent_usd else {}
    return dumps({"max_cost_usd": request.max_cost_usd, **spent})


def permits_banner(workflow: Workflow) -> str:
    if workflow.permits is None:
        return "zero authority · no permits declared"
    return "declared boundary · default-deny"


def source_pages(name: str, text: str, masker: Masker) -> list[tuple[str, dict[str, Any]]]:
    """The `nb_source_page` frames of one text. `masked` where it is not the exact one: it held a secret."""
    masked = {"masked": True} if masker.reveals(text) else {}
    texts = pages(masker.mask_text(text) if masked else text)
    return [
        ("nb_source_page", {"name": name, "page": number, "pages": len(texts), "text": page, **masked})
        for number, page in enumerate(texts)
    ]
