"""Where a task may be read, which of its fields, and how far into them."""

from __future__ import annotations

import pytest

from tests.check.judging import Case, assert_found

HEAD = """\
nika: doors
model: mock/echo
permits: { exec: [echo] }
tasks:
  get:
    infer: { prompt: hi }
    returns:
      object: { title: string, rows: { array: { object: { id: integer } } }, note: { optional: string } }
    extract: { first: ".rows[0]" }
  raw:
    infer:
      prompt: hi
      schema: { type: object, properties: { a: { type: object }, b: { type: string } } }
  many:
    for_each: { items: [1, 2] }
    infer: { prompt: hi }
    returns: { object: { ok: bool } }
  free: { group: legs, exec: { command: [echo] } }
"""


def using(binding: str, more: str = "") -> str:
    return f"{HEAD}  use:\n    with: {{ x: '${{{{ {binding} }}}}' }}\n    infer: {{ prompt: hi }}\n{more}"


def body(text: str, more: str = "") -> str:
    return f"{HEAD}  use:\n    infer: {{ prompt: '{text}' }}\n{more}"


CASES = [
    Case(
        "every field of a record",
        using("[tasks.get.output, tasks.get.status, tasks.get.cause, tasks.get.first]"),
    ),
    Case("the whole namespace", using("«tasks»"), ("VAR-020",), "write `tasks.<id>.output`"),
    Case("the whole record", using("«tasks.get»"), ("VAR-020",), "write `tasks.get.output`"),
    Case("a record inside a condition", using("«tasks.get» != null"), ("VAR-020",)),
    Case("a task that does not exist", using("tasks.«gett».output"), ("DAG-002",), "did you mean `get`?"),
    Case("a field that does not exist", using("tasks.get.«outptu»"), ("VAR-001",), "did you mean `output`?"),
    Case(
        "a field of the output read too early",
        using("tasks.free.«title»"),
        ("VAR-001",),
        "tasks.free.output.title",
    ),
    Case("a declared path", using("tasks.get.output.rows[0].id")),
    Case("a phantom field", using("tasks.get.output.«titel»"), ("VAR-003",), "did you mean `title`?"),
    Case(
        "a phantom field deep inside",
        using("tasks.get.output.rows[0].«name»"),
        ("VAR-003",),
        "its fields are `id`",
    ),
    Case(
        "a field of a list",
        using("tasks.get.output.rows.«id»"),
        ("VAR-003",),
        says="`tasks.get.output.rows` is a list",
    ),
    Case("an optional field", using("tasks.get.output.note")),
    Case("a field of a status", using("tasks.get.status.«text»"), ("VAR-003",)),
    Case("anything below an error", using("tasks.get.error.details.anything")),
    Case("a declared property", using("tasks.raw.output.a.anything")),
    Case(
        "a sibling of declared properties",
        using("tasks.raw.output.«c»"),
        ("VAR-003",),
        "its fields are `a`, `b`",
    ),
    Case("one element of a fan-out", using("tasks.many.output[0].ok")),
    Case("a field of a whole fan-out", using("tasks.many.output.«ok»"), ("VAR-003",), says="is a list"),
    Case("anything below an untyped output", using("tasks.free.output.a[0].b")),
    Case(
        "a path through a binding",
        HEAD + "  use:\n    with: { g: '${{ tasks.get.output }}' }\n    infer: { prompt: "
        "'${{ with.g.«titel» }}' }\n",
        ("VAR-003",),
    ),
    Case(
        "a path through the element of a binding",
        HEAD + "  use:\n    with: { g: '${{ tasks.get.output }}' }\n    for_each: { items: "
        "'${{ with.g.rows }}' }\n"
        "    infer: { prompt: '${{ item.«name» }}' }\n",
        ("VAR-003",),
    ),
    Case(
        "a task in the body",
        body("${{ «tasks.get.output» }}"),
        ("VAR-021",),
        'add `with: { get: "${{ tasks.get.output }}" }` to the task and read `with.get` here',
    ),
    Case("a field in the body", body("${{ «tasks.get.output.title» }}"), ("VAR-021",), "with.get_title"),
    Case(
        "a task in the body that is bound already",
        body("${{ «tasks.get.output» }}", "    with: { page: '${{ tasks.get.output }}' }\n"),
        ("VAR-021",),
        "it is bound already: read `with.page`",
    ),
    Case(
        "a task in the body while its name is taken",
        body("${{ «tasks.get.output» }}", "    with: { get: 1 }\n"),
        ("VAR-021",),
        "read `with.get_2` here",
    ),
    Case("itself in the body", body("${{ «tasks.use.output» }}"), ("VAR-021",), "a task cannot read itself"),
    Case(
        "a task in a condition",
        body("hi", "    when: ${{ «tasks.get.status» == 'success' }}\n"),
        ("VAR-021",),
    ),
    Case(
        "a task in a collection",
        body("hi", "    for_each: { items: '${{ «tasks.get.output.rows» }}' }\n"),
        ("VAR-021",),
    ),
    Case("a task as a fallback", body("hi", "    on_error: { recover: '${{ tasks.get.output }}' }\n")),
    Case(
        "no such task as a fallback",
        body("hi", "    on_error: { recover: '${{ tasks.«gett».output }}' }\n"),
        ("VAR-001",),
    ),
    Case("a task in the outputs", HEAD + "outputs: { x: '${{ tasks.get.output.title }}' }\n"),
    Case(
        "no such task in the outputs", HEAD + "outputs: { x: '${{ tasks.«ghost».output }}' }\n", ("VAR-001",)
    ),
    Case("a fold", using("group.legs")),
    Case("a field of a folded record", using("group.legs[0].output")),
    Case("a fold of nobody", using("group.«leg»"), ("DAG-008",), "did you mean `legs`?"),
    Case("a fold like no group", using("group.«zzz»"), ("DAG-008",), "write `group: zzz` in each"),
    Case("a fold without a name", using("«group»"), ("DAG-008",), "write `group.legs`"),
    Case(
        "a fold in a condition",
        body("hi", "    when: ${{ size(«group.legs») > 0 }}\n"),
        ("VAR-021",),
        "group.legs }}",
    ),
    Case("a fold in the outputs", HEAD + "outputs: { x: '${{ «group.legs» }}' }\n", ("VAR-021",)),
    Case(
        "a cleanup reads its producer",
        HEAD
        + "  end:\n    after: { free: unwind }\n    exec: { command: [echo, '${{ tasks.free.status }}'] }\n",
    ),
    Case(
        "a cleanup reads another task",
        HEAD
        + "  end:\n    after: { free: unwind }\n    exec: { command: [echo, '${{ «tasks.get.output» }}'] }\n",
        ("VAR-021",),
        "read `free` here",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_task_is_read_at_the_boundary_only(case: Case) -> None:
    """Only the doors read tasks, one field at a time, as far as its contract goes."""
    assert_found(case)
