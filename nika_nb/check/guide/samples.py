"""Small workflows, one for each thing that is easier shown than told. Every one of them passes the check."""

from __future__ import annotations

SCRIPT = """\
nika: clean
inputs:
  file: { type: path, default: "./sales.csv" }
permits: { exec: ["python"], fs: { read: ["./sales.csv"] } }
tasks:
  clean:
    exec: { command: ["python", "clean.py", "${{ inputs.file }}"], decode: json }   # it prints JSON
    returns: { object: { rows: integer, total: number } }                           # and is held to this
  report:
    with: { found: "${{ tasks.clean.output }}" }
    when: ${{ with.found.rows > 0 }}
    invoke: { tool: "nika:log", args: { message: "total ${{ with.found.total }}" } }
"""

AGENT = """\
nika: research
model: mock/echo
permits: { tools: ["nika:read"], fs: { read: ["./notes/*"] } }
tasks:
  look:
    agent:
      prompt: "What do the notes say about prices?"
      system: "Read what you need, then answer in one sentence."
      tools: ["nika:read", "nika:done"]      # and only as far as permits lets it
      max_turns: 6
      schema: { type: object, properties: { answer: { type: string } }, required: [answer] }
"""

INFER = """\
nika: title
model: mock/echo
inputs: { topic: { type: string, required: true } }
tasks:
  title:
    infer: { prompt: "A title about ${{ inputs.topic }}", temperature: 0.2, max_tokens: 40 }
    returns: { object: { title: { string: { max_len: 80 } } } }   # a model is held to it, too
"""

PROMPT = """\
nika: publish
permits: { tools: ["nika:prompt", "nika:write"], fs: { write: ["./out/*"] } }
tasks:
  ask:
    invoke: { tool: "nika:prompt", args: { message: "Publish?", mode: confirm } }
  publish:
    with: { go: "${{ tasks.ask.output }}" }
    when: ${{ with.go == true }}             # a refusal triggers nothing, and neither does a skipped question
    invoke: { tool: "nika:write", args: { path: "./out/brief.md", content: "ready" } }
"""

FAN_OUT = """\
nika: sizes
permits: { exec: ["wc"], fs: { read: ["./notes/*"] } }
inputs: { files: { type: { array: path }, default: ["./notes/a.md", "./notes/b.md"] } }
tasks:
  size:
    for_each: { items: "${{ inputs.files }}", max_parallel: 4, fail_fast: false }
    exec: { command: ["wc", "-c", "${{ item }}"] }    # index: the number of the item, from 0
outputs:
  sizes: ${{ tasks.size.output }}                     # a list, in the order of the items
"""

FAILURES = """\
nika: careful
permits: { fs: { read: ["./today.md"] }, tools: ["nika:read"] }
tasks:
  load:
    invoke: { tool: "nika:read", args: { path: "./today.md" } }
    retry: { max_attempts: 3, backoff_ms: 500 }       # only what may pass by itself is tried again
    timeout: "30s"
    on_error: { recover: "nothing yet", on_codes: [NIKA-BUILTIN-READ-001] }
  tidy:
    after: { load: unwind }                           # runs behind it whatever became of it
    invoke: { tool: "nika:log", args: { message: "done" } }
"""

SKIPS = """\
nika: gated
permits: { exec: ["echo"] }
inputs: { total: { type: integer, default: 10 } }
tasks:
  discount:
    when: ${{ inputs.total > 1000 }}                  # else skipped: its output is null
    exec: { command: ["echo", "10 percent"] }
  mail:
    after: { discount: success }                      # so: nothing is mailed without a discount
    with: { text: "${{ tasks.discount.output }}" }
    exec: { command: ["echo", "${{ with.text }}"] }
"""

GROUP = """\
nika: checks
permits: { exec: ["true", "echo"] }
tasks:
  lint: { group: checks, exec: { command: ["true"] } }
  types: { group: checks, exec: { command: ["true"] } }
  tell:
    with: { all: "${{ group.checks }}" }              # waits for both
    exec: { command: ["echo", "${{ size(with.all) }} checks"] }
"""

LIFT = """\
nika: listing
inputs: { flag: { type: string, default: "-l" } }
permits: { exec: ["ls"] }
tasks:
  list:
    lift: [{ law: taint, from: inputs.flag, because: "whoever starts this is its author" }]
    exec: { command: ["ls", "${{ inputs.flag }}"] }
"""

SECRET = """\
nika: forecast
secrets:
  key: { source: env, key: API_KEY, egress: [{ to: "nika:fetch", host: "api.example.com" }] }
permits: { tools: ["nika:fetch"], net: { http: ["api.example.com"] } }
tasks:
  ask:
    invoke:
      tool: "nika:fetch"
      args:
        url: "https://api.example.com/today"
        headers: { authorization: "Bearer ${{ secrets.key }}" }
        mode: jq
        jq: ".forecast[0]"
"""

CALL = """\
nika: nightly
tasks:
  audit:
    invoke: { workflow: "./audit.nika.yaml", args: { folder: "./notes" } }
outputs:
  found: ${{ tasks.audit.output }}
"""

EXACT = """\
nika: twice-alike
run: { entropy: { seeded: 42 }, clock: virtual }
permits: { tools: ["nika:wait"] }
tasks:
  rest: { invoke: { tool: "nika:wait", args: { duration: "1h" } } }   # takes no time
"""

# What a page of the guide shows, by its name.
SAMPLES: dict[str, tuple[str, ...]] = {
    "exec": (SCRIPT,), "agent": (AGENT,), "infer": (INFER,), "nika:prompt": (PROMPT,), "for_each": (FAN_OUT,),
    "retry": (FAILURES,), "on_error": (FAILURES,), "when": (SKIPS,), "after": (SKIPS,), "group": (GROUP,),
    "lift": (LIFT,), "secrets": (SECRET,), "secret": (SECRET,), "invoke": (CALL,), "nika:fetch": (SECRET,),
    "run": (EXACT,), "decode": (SCRIPT,), "returns": (SCRIPT,), "python": (SCRIPT,), "skipped": (SKIPS,),
}  # fmt: skip
