"""Names spliced as other languages do it: told where an expression could read them, and nowhere else."""

from __future__ import annotations

import pytest

from tests.check.judging import judged, marked

TEXT = """nika: m
model: mock/echo
inputs: { n: { type: string } }
const: { c: 1 }
permits: { exec: true, tools: ["nika:*"] }
tasks:
  a:
    infer: { prompt: hi }
  b:
    with: { x: "${{ tasks.a.output }}" }
    for_each: { items: [1] }
"""
PROMPT = "    infer: {{ prompt: 'say {} twice' }}\n"
ARGV = '    exec: {{ command: ["echo", "{}"] }}\n'
SHELL = "    exec: {{ shell: 'echo {} | cat' }}\n"
INLINE = '    exec: {{ command: ["bash", "-c", "echo {}"] }}\n'
JQ = '    invoke: {{ tool: "nika:jq", args: {{ input: 1, expression: ". as $x | {}" }} }}\n'

TOLD = [
    (PROMPT, "{{ with.x }}", "with.x"),
    (PROMPT, "{{with.x.name}}", "with.x.name"),
    (PROMPT, "{{ x }}", "with.x"),
    (PROMPT, "{{ x[0] }}", "with.x[0]"),
    (PROMPT, "${with.x}", "with.x"),
    (PROMPT, "${x}", "with.x"),
    (PROMPT, "$x", "with.x"),
    (PROMPT, "{x}", "with.x"),
    (PROMPT, "{with.x}", "with.x"),
    (PROMPT, "{{ inputs.n }}", "inputs.n"),
    (PROMPT, "{{ const.c }}", "const.c"),
    (PROMPT, "{{ tasks.a.output }}", "tasks.a.output"),
    (PROMPT, "{{ item }}", "item"),
    (ARGV, "$x", "with.x"),
    (ARGV, "${x}", "with.x"),
    (SHELL, "{{ with.x }}", "with.x"),
    (SHELL, "${with.x}", "with.x"),
    (INLINE, "{{ x }}", "with.x"),
]


@pytest.mark.parametrize(("verb", "token", "path"), TOLD)
def test_a_name_that_an_expression_could_read_is_a_slip(verb: str, token: str, path: str) -> None:
    """A warning under the token alone, with the expression that was meant; the workflow may run."""
    text, [place] = marked(TEXT + verb.format(f"«{token}»"))
    report = judged(text)
    [warning] = report.warnings
    assert report.ok
    assert warning.span == place
    assert warning.hint == f"write `${{{{ {path} }}}}`"
    assert token in warning.message


SILENT = [
    (PROMPT, "{{ y }}"),
    (PROMPT, "$5 and {}"),
    (PROMPT, "\\${{ with.x }}"),
    (PROMPT, "${{ with.x }}"),
    (SHELL, "$x"),
    (SHELL, "${x}"),
    (INLINE, "$x"),
    (JQ, "{x: $x}"),
    (JQ, "{x}"),
]


@pytest.mark.parametrize(("verb", "token"), SILENT)
def test_what_means_something_else_is_left_alone(verb: str, token: str) -> None:
    """A name that is not bound, an escape, a variable of the shell or of jq."""
    assert not judged(TEXT + verb.format(token)).warnings


def test_a_comment_is_no_text() -> None:
    """Only what the workflow says is looked at."""
    text = "    infer:\n      # {{ with.x }} would not do\n      prompt: hi\n"
    assert not judged(TEXT + text).warnings


def test_an_output_is_looked_at_as_well() -> None:
    """A whole output that is plain text is a slip wherever it stands."""
    [warning] = judged(f'{TEXT}{PROMPT.format("hi")}outputs: {{ o: "{{{{ tasks.a.output }}}}" }}\n').warnings
    assert warning.hint == "write `${{ tasks.a.output }}`"
