"""The closed vocabularies agree with the public registries, entry by entry."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from nika_nb.catalog import grammar
from nika_nb.catalog.builtins import BUILTINS
from nika_nb.catalog.codes import CODES, RETIRED, category_of, title_of, transient_of
from nika_nb.catalog.providers import PROVIDERS, kind_of, split_model


def registry(conformance: Path, name: str) -> list[dict[str, Any]]:
    document = yaml.safe_load((conformance / "canon" / f"{name}.yaml").read_text())
    rows: list[dict[str, Any]] = document[name]
    return rows


def test_every_registered_code_is_known(conformance: Path) -> None:
    """No code of the public registry is missing, and no retired one is alive."""
    registered = {row["id"] for row in registry(conformance, "diagnostics")}
    assert registered - set(CODES) - RETIRED == set()
    assert not set(CODES) & RETIRED


def test_codes_are_well_formed_and_titled() -> None:
    """The canonical form of a code; a title of two to eight words."""
    shape = re.compile(r"NIKA-[A-Z]{2,9}(-[A-Z][A-Z0-9_]{1,15})?-[0-9]{3}")
    for code, entry in CODES.items():
        assert shape.fullmatch(code)
        assert 2 <= len(entry.title.split()) <= 8
        assert title_of(code) == entry.title


CATEGORIES = [
    ("NIKA-PARSE-001", "parse_error", False),
    ("NIKA-PARSE-003", "parse_error", False),
    ("NIKA-PARSE-005", "validation_error", False),
    ("NIKA-VAR-001", "variable_error", False),
    ("NIKA-VAR-005", "validation_error", False),
    ("NIKA-VAR-009", "validation_error", False),
    ("NIKA-INFER-001", "provider_error", True),
    ("NIKA-INFER-002", "validation_error", False),
    ("NIKA-EXEC-001", "process_error", False),
    ("NIKA-AGENT-001", "budget_error", False),
    ("NIKA-AGENT-003", "validation_error", False),
    ("NIKA-MCP-001", "tool_error", True),
    ("NIKA-MCP-002", "tool_error", False),
    ("NIKA-SEC-004", "security_error", False),
    ("NIKA-AUTH-011", "validation_error", False),
    ("NIKA-COMP-002", "security_error", False),
    ("NIKA-TIMEOUT-001", "timeout_error", False),
    ("NIKA-CANCEL-001", "cancelled", False),
    ("NIKA-BUILTIN-ASSERT-001", "tool_error", False),
    ("NIKA-BUILTIN-FETCH-001", "network_error", True),
    ("NIKA-BUILTIN-PROMPT-001", "validation_error", False),
    ("NIKA-BUILTIN-READ-001", "tool_error", False),
    ("NIKA-BUILTIN-IMAGE_GENERATE-005", "security_error", False),
    ("NIKA-BUILTIN-UNHEARD-001", "tool_error", False),
    ("NIKA-PROVIDER-042", "provider_error", True),
    ("NIKA-NOWHERE-001", "internal_error", False),
    ("odd", "internal_error", False),
]


@pytest.mark.parametrize(("code", "category", "transient"), CATEGORIES, ids=[case[0] for case in CATEGORIES])
def test_a_code_has_a_category(code: str, category: str, transient: bool) -> None:
    """Registered codes say it themselves, others by their namespace."""
    assert category_of(code) == category
    assert transient_of(code) is transient


def test_categories_agree_with_the_public_fixtures(conformance: Path) -> None:
    """Wherever a fixture names both a code and a category, ours is the same."""
    seen = 0
    for verdict in (conformance / "tests").rglob("expected.json"):
        for error in json.loads(verdict.read_text()).get("errors", []):
            # the error table, which owns the taxonomy, files this one elsewhere than the fixture does
            if "code" in error and "category" in error and error["code"] != "NIKA-VAR-003":
                seen += 1
                assert category_of(error["code"]) == error["category"], error
    assert seen > 50


def test_builtins_are_the_registered_ones(conformance: Path) -> None:
    """28 names, pure where the registry calls them pure, with its effect category elsewhere."""
    rows = {row["id"]: row["capability_classification"] for row in registry(conformance, "builtins")}
    assert rows.keys() == BUILTINS.keys()
    assert len(BUILTINS) == 28
    for name, row in rows.items():
        builtin = BUILTINS[name]
        assert builtin.pure is (row["class"] == "pure_internal"), name
        kinds = {target.effect.split(".")[0] for target in builtin.targets if not target.optional}
        assert kinds == set(row.get("requires", [])) - {"tools"}, name


def test_builtin_families_are_the_registered_ones(conformance: Path) -> None:
    """Core, file, data, decision, network, introspection, media."""
    rows = {row["id"]: row["category"] for row in registry(conformance, "builtins")}
    assert {name: builtin.family for name, builtin in BUILTINS.items()} == rows


def test_providers_are_the_registered_ones(conformance: Path) -> None:
    """17 prefixes, each local, cloud or for tests."""
    assert {row["id"]: row["kind"] for row in registry(conformance, "providers")} == PROVIDERS


def test_a_model_is_a_prefix_and_a_name() -> None:
    """Only the first part is the provider; names of gateways contain more slashes."""
    assert split_model("openrouter/meta/llama") == ("openrouter", "meta/llama")
    assert split_model("gpt-4o") == ("", "gpt-4o")
    assert kind_of("ollama/qwen3") == "local"
    assert kind_of("mock/echo") == "test"
    assert kind_of("acme/x") is None


def test_key_sets_agree_with_the_public_schema(conformance: Path) -> None:
    """Level by level the keys of the language are those of the published schema."""
    schema = json.loads((conformance / "schemas/workflow.schema.json").read_text())
    defs = schema["$defs"]
    task = defs["task"]["properties"]
    permits = schema["properties"]["permits"]["properties"]
    secret = schema["properties"]["secrets"]["additionalProperties"]["properties"]
    levels = {
        "ENVELOPE": schema["properties"],
        "TASK": task,
        "FOR_EACH": task["for_each"]["properties"],
        "RETRY": defs["retry"]["properties"],
        "ON_ERROR": defs["onError"]["properties"],
        "LIFT": task["lift"]["items"]["properties"],
        "INFER": defs["infer"]["properties"],
        "THINKING": defs["infer"]["properties"]["thinking"]["properties"],
        "VISION": defs["infer"]["properties"]["vision"]["items"]["properties"],
        "EXEC": defs["exec"]["properties"],
        "INVOKE": defs["invoke"]["properties"],
        "AGENT": defs["agent"]["properties"],
        "PERMITS": permits,
        "PERMITS_FS": permits["fs"]["properties"],
        "PERMITS_NET": permits["net"]["properties"],
        "RUN": schema["properties"]["run"]["properties"],
        "SECRET": secret,
        "EGRESS": secret["egress"]["items"]["properties"],
        "INPUT": schema["properties"]["inputs"]["additionalProperties"]["properties"],
        "OUTPUT": schema["properties"]["outputs"]["additionalProperties"]["anyOf"][1]["properties"],
    }
    for level, properties in levels.items():
        assert set(getattr(grammar, level)) == set(properties), level
