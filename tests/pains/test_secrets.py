"""No byte of a secret in anything that the engine says or writes, whoever echoes it and however."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import nika_nb
from nika_nb.errors import RunFailed
from nika_nb.providers.base import ChatReply, ChatRequest
from nika_nb.providers.registry import MAKERS
from nika_nb.runs.inspecting import Inspection
from tests.cli.terminals import Sitting
from tests.doors import Terminal, frames, newest, of, reasons, traces
from tests.pains.leaking import Hostile, forms, install
from tests.providers.scripted import Line, Scripted, calls, says
from tests.tools.server import Handler, serving

PEM = (
    "-----BEGIN KEY-----\n"
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    "  MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n"
    "-----END KEY-----"
)
HOSTILE = Hostile(
    {
        "odd": 'pä\\ss"w/ö+rd·π<&>  77',
        "long": "LongToken-" + "abcdEFGH0123~_" * 9,
        "pem": PEM,
        "short": "zQ§",
    },
    short=frozenset({"short"}),
)
VARIABLES = {"odd": "K_ODD", "long": "K_LONG", "short": "K_SHORT"}

EVERYWHERE = [
    {"to": sink} for sink in ("exec", "infer", "agent", "nika:log", "nika:prompt", "nika:assert", "nika:jq")
]

HEAD = """\
nika: leaks
model: mock/echo
permits: {exec: ["./tell"], env: [K_ODD, K_LONG, K_SHORT], tools: ["nika:*"]}
"""

# TELL(how, streams, code, more) stands for a command that is given the secret in its environment.
TASKS = """\
  out_N: {exec: TELL(forms, out, "0")}
  both_N: {exec: TELL(forms, both, "0", capture: structured)}
  fails_N: {exec: TELL(forms, err, "3")}
  rescued_N: {on_error: {recover: x}, exec: TELL(json, both, "3")}
  dropped_N: {on_error: {skip: true}, exec: TELL(keys, both, "3")}
  keys_N: {exec: TELL(keys, out, "0", decode: json)}
  json_N: {exec: TELL(json, out, "0", decode: json)}
  no_json_N: {exec: TELL(forms, out, "0", decode: json)}
  padded_N: {exec: TELL(padded, err, "3")}
  endless_N: {exec: TELL(long, out, "0")}
  retried_N:
    retry: {max_attempts: 2, backoff_ms: 1, on_codes: [NIKA-EXEC-001]}
    exec: TELL(forms, both, "1")
  each_N:
    for_each: {items: ["${{ secrets.N }}", b], fail_fast: false}
    exec: {command: ["./tell", forms, err, "2"], env: {V: "${{ item }}"}}
  word_N: {exec: {command: ["./tell", "${{ secrets.N }}"], env: {V: x}}}
  folder_N: {exec: {command: ["./tell", forms, out, "0"], cwd: "${{ secrets.N }}", env: {V: x}}}
  log_N: {invoke: {tool: "nika:log", args: {message: "m ${{ secrets.N }}", data: {k: ["${{ secrets.N }}"]}}}}
  said_N: {invoke: {tool: "nika:assert", args: {condition: false, message: "no ${{ secrets.N }}"}}}
  jq_N: {invoke: {tool: "nika:jq", args: {input: "${{ secrets.N }}", expression: ".nothing"}}}
  infer_N: {infer: {prompt: "say ${{ secrets.N }}"}}
  agent_N:
    agent: {prompt: "say ${{ secrets.N }}", system: "${{ secrets.N }}", tools: ["nika:log"], max_turns: 5}
  chosen_N:
    invoke:
      tool: "nika:prompt"
      args: {mode: choice, message: "is it ${{ secrets.N }}?", choices: ["${{ secrets.N }}!", b], default: b}
  down_N:
    with: {x: "${{ tasks.out_N.output }}"}
    exec: {command: ["./tell", keys, out, "0"], env: {V: "${{ with.x }}"}}
"""


def told(text: str) -> str:
    """The tasks with their commands written out."""
    command = r'{command: ["./tell", \1, \2, \3]\4, env: {V: "${{ secrets.N }}"}}'
    return re.sub(r'TELL\((\w+), (\w+), ("\d")(.*?)\)', command, text)


def declared() -> str:
    names = "".join(
        f"  {name}: {{source: env, key: {key}, egress: {json.dumps(EVERYWHERE)}}}\n"
        for name, key in VARIABLES.items()
    )
    return f"secrets:\n{names}  pem: {{source: file, path: secret.pem, egress: {json.dumps(EVERYWHERE)}}}\n"


WORKFLOW = f"{HEAD}{declared()}tasks:\n" + "".join(
    told(TASKS).replace("_N", f"_{name}").replace("secrets.N", f"secrets.{name}") for name in HOSTILE.values
)


@pytest.fixture
def leaky(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the secrets, a program that tells them, and the workflow that uses it."""
    install(folder, sys.executable)
    for name, key in VARIABLES.items():
        monkeypatch.setenv(key, HOSTILE.values[name])
    (folder / "secret.pem").write_text(f"{PEM}\n", encoding="utf-8")
    (folder / "w.nika.yaml").write_text(WORKFLOW, encoding="utf-8")
    return folder


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder that was not there before, as text."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("secret.pem", "tell", "saying.py"):
            yield path.name, path.read_bytes().decode("utf-8", "surrogateescape")


def test_the_search_finds_what_is_there() -> None:
    """Else the other tests would prove nothing."""
    for name, value in HOSTILE.values.items():
        for form in ("raw", "JSON", "JSON in JSON"):
            if "\n" not in value or form != "raw":
                assert HOSTILE.leaks(forms(value)[form]), (name, form)
    assert HOSTILE.leaks(f"x {HOSTILE.values['long'][20:40]} x")


def test_on_a_terminal_and_in_the_journal(leaky: Path, terminal: Terminal) -> None:
    """The console, the journal, the run drawn from it, its tables; also of the resume that follows."""
    said = terminal("run", "w.nika.yaml")
    assert said.code == 1
    again = terminal("run", "w.nika.yaml", "--resume", "--json")
    assert again.out == newest(leaky).read_bytes()
    shown = [said.err, said.out.decode(), again.err]
    for trace in traces(leaky):
        run, tables = nika_nb.attach(trace), nika_nb.read_trace(trace)
        page = run._repr_mimebundle_()["text/html"]
        shown += [repr(run), page, repr(run.tasks), repr(run.prompts)]
        shown += [tables.tasks.to_csv(), tables.events.to_csv(), repr(tables.tasks), tables.tasks.to_html()]
        with pytest.raises(RunFailed) as failed:
            _ = run.outputs
        shown.append(str(failed.value))
    texts = [*shown, *(text for _, text in written(leaky))]
    assert [leak for text in texts for leak in HOSTILE.leaks(text)] == []
    assert "out_odd" in said.err


def test_from_python(leaky: Path) -> None:
    """What a `Run` shows, its task results included, and what it raises."""
    run = nika_nb.run(leaky / "w.nika.yaml")
    with pytest.raises(RunFailed) as failed:
        _ = run.outputs
    shown = [repr(run), run._repr_mimebundle_()["text/html"], repr(run.tasks), str(failed.value)]
    assert [leak for text in shown for leak in HOSTILE.leaks(text)] == []
    states = {name.rpartition("_")[0]: task.state for name, task in run.tasks.items()}
    assert (states["out"], states["fails"], states["keys"], states["agent"]) == (
        "success",
        "failure",
        "success",
        "success",
    )


def test_in_one_line_of_json(leaky: Path, terminal: Terminal) -> None:
    """The error that stands in the place of the outputs."""
    done = terminal("run", "w.nika.yaml", "--output", "json")
    assert HOSTILE.leaks(done.out.decode() + done.err) == []
    assert "••••••" in done.outputs["error"]["message"]


def test_while_it_runs(leaky: Path) -> None:
    """A terminal that shows the last lines of what goes on."""
    few = WORKFLOW.replace('"0"]', '"0"], stdin: null').split("  out_long")[0]
    (leaky / "few.nika.yaml").write_text(few, encoding="utf-8")
    sitting = Sitting("run", "few.nika.yaml", cwd=leaky, columns=200, rows=60)
    sitting.end()
    assert "out_odd" in sitting.said
    assert HOSTILE.leaks(sitting.said) == []


def test_in_a_saved_notebook(leaky: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Executed without a front-end: panels, values of cells, tables, errors, and the file as a whole."""
    from nbclient import NotebookClient

    few = WORKFLOW.split("  out_pem")[0]
    cells = [
        "%load_ext nika_nb",
        f"%%nika --into run\n{few}",
        "import nika_nb\nrun",
        "run.tasks",
        "nika_nb.read_trace(run.trace).tasks",
        "run.outputs",
        f"%%nika --resume\n{few}",
    ]
    book: Any = new_notebook(cells=[new_code_cell(cell) for cell in cells])  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(leaky)}}
    NotebookClient(book, timeout=120, allow_errors=True, resources=place).execute()
    nbformat.write(book, leaky / "saved.ipynb")  # type: ignore[no-untyped-call]
    saved = (leaky / "saved.ipynb").read_text(encoding="utf-8")
    assert "out_odd" in saved
    assert "RunFailed" in saved
    texts = [("the saved file", saved), *written(leaky)]
    texts += [("its cells", "".join(str(cell.get("outputs", "")) for cell in book.cells))]
    assert [(name, leak) for name, text in texts for leak in HOSTILE.leaks(text)] == []


ASKS = """\
nika: asks
permits: {exec: ["./tell"]}
DECLARED
tasks:
  beside: {exec: {command: ["./tell", forms, both, "0"], env: {V: "${{ secrets.odd }}"}}}
  ask:
    invoke:
      tool: "nika:prompt"
      args: {message: "Use ${{ secrets.odd }}?", mode: choice, choices: ["no ${{ secrets.odd }}", b]}
outputs: {chosen: "${{ tasks.ask.status }}"}
"""


def test_in_a_question(leaky: Path, terminal: Terminal) -> None:
    """Shown without the secret, in message and choices; the choice that is taken is the whole one."""
    (leaky / "asks.nika.yaml").write_text(ASKS.replace("DECLARED", declared()), encoding="utf-8")
    paused = terminal("run", "asks.nika.yaml")
    assert paused.code == 4
    one = terminal("run", "asks.nika.yaml", "--output", "json")
    run = nika_nb.attach(newest(leaky))
    (prompt,) = run.prompts
    assert (prompt.message, prompt.choices) == ("Use ••••••?", ("no ••••••", "b"))
    shown = [paused.err, one.out.decode(), one.err, repr(run), run._repr_mimebundle_()["text/html"]]
    live = nika_nb.run(leaky / "asks.nika.yaml")
    live.answer(ask="no ••••••")
    assert live.state == "completed"
    assert live._session is not None
    assert live._session.verdict is not None
    assert live._session.verdict.tasks["ask"].value == f"no {HOSTILE.values['odd']}"
    texts = [*shown, repr(live.tasks), *(text for _, text in written(leaky))]
    assert [leak for text in texts for leak in HOSTILE.leaks(text)] == []


LEAVING = """\
nika: leaving
model: mock/echo
secrets:
  kept: {source: env, key: K_ODD, egress: [{to: infer}]}
  free: {source: env, key: K_LONG, egress: [{to: infer}, {to: outputs}]}
tasks:
  kept: {infer: {prompt: "${{ secrets.kept }}"}}
  free: {infer: {prompt: "${{ secrets.free }}"}}
outputs:
  kept: "${{ tasks.kept.output }}"
  free: "${{ tasks.free.output }}"
"""


def test_in_the_outputs(leaky: Path, terminal: Terminal) -> None:
    """Only what its owner let go with the outputs leaves with them; in a journal stands neither."""
    (leaky / "w.nika.yaml").write_text(LEAVING, encoding="utf-8")
    done = terminal("run", "w.nika.yaml")
    let_go = f"mock(echo) · {HOSTILE.values['long']}"
    assert done.outputs == {"kept": "mock(echo) · ••••••", "free": let_go}
    assert nika_nb.run(leaky / "w.nika.yaml").outputs == done.outputs
    for trace in traces(leaky):
        assert HOSTILE.leaks(trace.read_text(encoding="utf-8")) == []
        with pytest.raises(RunFailed, match="a secret stands in them"):
            _ = nika_nb.attach(trace).outputs


CARRIED = """\
nika: carried
permits: {exec: ["./tell"]}
DECLARED
tasks:
  tells: {exec: {command: ["./tell", keys, out, "0"], decode: json, env: {V: "${{ secrets.short }}"}}}
  fine: {exec: {command: ["./tell", forms, out, "0"], env: {V: "fine"}}}
  reads:
    with: {x: "${{ tasks.tells.output }}", y: "${{ tasks.fine.output }}"}
    exec: {command: ["./tell", forms, out, "0"], env: {V: "nothing of it"}}
  each:
    with: {x: "${{ tasks.tells.output.list[0] }}"}
    for_each: {items: ["${{ with.x }}", "b"], max_parallel: 1}
    exec: {command: ["./tell", forms, out, "0"], env: {V: "${{ index }}"}}
"""


def test_no_hash_is_made_of_a_secret(leaky: Path) -> None:
    """Neither of an output that holds one nor of the input of whoever reads it: hashes can be guessed."""
    text = CARRIED.replace("DECLARED", declared())
    run = nika_nb.run(text)
    trace, keys = newest(leaky), {"def_hash", "input_hash", "input_parts", "output"}
    found = {frame["task"]: keys & set(frame) for frame in of(trace, "task_completed")}
    assert found == {"tells": set(), "fine": keys, "reads": set(), "each": set()}
    (first, second) = sorted(of(trace, "nb_item_completed"), key=lambda frame: frame["item"])
    assert not keys & set(first)
    assert keys & set(second) == keys
    again = nika_nb.run(text, resume=run.trace)
    assert {task: why[0] for task, why in reasons(newest(leaky)).items()} == dict.fromkeys(
        ("tells", "reads", "each"), "not-resumable"
    )
    assert again.state == "completed"


GIVEN = """\
nika: given
permits: {exec: ["./tell"]}
inputs:
  word: {type: string}
  plain: {type: string, default: p}
secrets:
  odd: {source: env, key: K_ODD}
tasks:
  ask: {invoke: {tool: "nika:prompt", args: {message: "Go on?"}}}
  use:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./tell", forms, out, "0"], env: {V: "${{ inputs.word }}"}}
outputs: {said: "${{ tasks.use.status }}"}
"""


def test_in_an_input(leaky: Path, terminal: Terminal) -> None:
    """Its value is in no journal, so an answer from elsewhere is refused with what to do; here it goes on."""
    (leaky / "g.nika.yaml").write_text(GIVEN, encoding="utf-8")
    value = f"x{HOSTILE.values['odd']}x"
    run = nika_nb.run(leaky / "g.nika.yaml", vars={"word": value})
    trace = newest(leaky)
    first = frames(trace)[0]
    assert json.loads(first["input_values"]) == {"plain": "p"}
    assert json.loads(first["inputs_withheld"]) == ["word"]
    with pytest.raises(nika_nb.NikaError, match=r'vars=\{"word": …\}, answer='):
        nika_nb.attach(trace).answer(True)
    refused = terminal("answer", trace, "yes")
    assert (refused.code, traces(leaky)) == (3, [trace])
    assert run.answer(True).outputs == {"said": "success"}
    terminal("run", "g.nika.yaml", "--var", f"word={value}")
    again = terminal("run", "g.nika.yaml", "--resume", "--var", f"word={value}", "--answer", "yes")
    assert again.outputs == {"said": "success"}, again.err
    assert [leak for _, text in written(leaky) for leak in HOSTILE.leaks(text)] == []


HOOK = """\
nika: hook
secrets: {hook: {source: env, key: K_HOOK, egress: [{to: "nika:fetch", host_from_self: true}]}}
permits: {net: {http: ["localhost"]}, tools: ["nika:fetch"]}
tasks:
  post: {invoke: {tool: "nika:fetch", args: {url: "${{ secrets.hook }}", mode: raw}}}
"""


def test_in_an_address(leaky: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that is an address is taken apart to be asked: neither we nor a server tell a piece."""

    def echo(handler: Handler) -> None:
        handler.say(404, f"nothing at {handler.path}".encode(), {})

    with serving() as server:
        server.routes["/services/T0AB12CD3/XXtokenXX"] = echo
        monkeypatch.setenv(
            "K_HOOK", f"http://LocalHost:{server.port}/services/T0AB12CD3/XXtokenXX?sig=q1w2e3r4t5"
        )
        run = nika_nb.run(HOOK)
    assert "404" in repr(run.tasks["post"].error)
    shown = repr(run.tasks) + repr(run) + run._repr_mimebundle_()["text/html"] + newest(leaky).read_text()
    assert [piece for piece in ("T0AB", "XXtoken", "q1w2e3") if piece in shown] == []


def test_in_what_is_refused_before_a_run(leaky: Path) -> None:
    """An input that does not fit is shown, and was a secret; also where half of it would be cut off."""
    (leaky / "g.nika.yaml").write_text(GIVEN.replace("{type: string}", "{type: integer}"), encoding="utf-8")
    for value in (HOSTILE.values["odd"], "y" * 50 + HOSTILE.values["odd"], {HOSTILE.values["odd"]: 1}):
        with pytest.raises(nika_nb.NikaError, match="does not fit") as refused:
            nika_nb.run(leaky / "g.nika.yaml", vars={"word": value})
        assert HOSTILE.leaks(str(refused.value)) == []
    with pytest.raises(nika_nb.NikaError, match="is not an input") as refused:
        nika_nb.run(leaky / "g.nika.yaml", vars={HOSTILE.values["odd"]: 1})
    assert HOSTILE.leaks(str(refused.value)) == []


def test_in_an_answer_that_is_refused(leaky: Path) -> None:
    """The wrong variable was given: what it holds is told to nobody."""
    text = ASKS.replace("DECLARED", declared()).replace("${{ secrets.odd }}?", "it?")
    run = nika_nb.run(text, interactive=False)
    for value in (HOSTILE.values["odd"], "y" * 50 + HOSTILE.values["long"]):
        with pytest.raises(nika_nb.NikaError, match="takes one of its choices") as refused:
            run.answer(ask=value)
        assert HOSTILE.leaks(str(refused.value)) == []


def test_in_a_deployment(leaky: Path) -> None:
    """Its file, its listing and its digest hold what it is bound to: a secret is given with each start."""
    (leaky / "g.nika.yaml").write_text(GIVEN, encoding="utf-8")
    secret = {"word": f"x{HOSTILE.values['odd']}x"}
    with pytest.raises(nika_nb.NikaError, match=r"`word` would be kept as it is, and is a secret.*inputs="):
        nika_nb.runs.deploy("given", "g.nika.yaml", secret)
    assert not (leaky / ".nika").exists()
    nika_nb.runs.deploy("given", "g.nika.yaml", {"plain": "q"})
    assert isinstance(nika_nb.runs.run_deployment("given", secret), Inspection)
    assert [leak for _, text in written(leaky) for leak in HOSTILE.leaks(text)] == []


def test_what_a_short_secret_is_like_by_chance(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text that runs and the inputs stay as they are: without them nobody could answer."""
    monkeypatch.setenv("K_USER", "a")
    text = GIVEN.replace("K_ODD", "K_USER").replace("./tell", "echo")
    monkeypatch.setenv("K_USER", "u")  # stands in the name of what waits and in what it may do
    nika_nb.run(text, vars={"word": "uuh"})
    assert nika_nb.attach(newest(folder)).answer(True).outputs == {"said": "success"}
    monkeypatch.setenv("K_USER", "a")
    nika_nb.run(text, vars={"word": "papaya"})
    answered = nika_nb.attach(newest(folder)).answer(True)
    assert answered.outputs == {"said": "success"}
    assert nika_nb.attach(newest(folder)).state == "completed"


AGENTS = """\
nika: agents
model: xai/scripted
permits: {fs: {read: ["secret.pem"]}, tools: ["nika:read"]}
DECLARED
tasks:
  reads: {agent: {prompt: look, tools: ["nika:read", "nika:log", "nika:assert"]}}
  strays: {agent: {prompt: look, tools: ["nika:read"]}}
  misfits: {infer: {prompt: shape, schema: {type: integer}}}
"""


def test_in_what_a_model_says_and_is_told(leaky: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool's result, a tool's arguments, a tool's name, a final answer, a reply that fits no schema."""

    def answer(request: ChatRequest) -> ChatReply:
        if request.schema is not None:
            return says("y" * 1990 + value)  # cut at 2000 characters in the frame of the failure
        if len(request.tools) == 1:
            return calls(f"mcp:x/{value}", f"calling {value}")
        turns: list[Line] = [
            calls("nika:read", path="secret.pem"),
            calls("nika:log", message=f"log {value}", data={value: forms(value)}),
            calls("nika:assert", condition=False, message=f"no {value}"),
            says("\n".join(forms(value).values())),
        ]
        turn = turns[sum(1 for message in request.messages if message.calls)]
        assert isinstance(turn, ChatReply)
        return turn

    value = PEM
    model = Scripted(answer)
    monkeypatch.setitem(MAKERS, "xai", lambda: model)
    run = nika_nb.run(AGENTS.replace("DECLARED", declared()))
    codes = {name: (task.error or {}).get("code") for name, task in run.tasks.items()}
    assert codes == {"reads": None, "strays": "NIKA-SEC-002", "misfits": "NIKA-INFER-002"}
    invoked = [frame for frame in of(newest(leaky), "tool_invoked") if frame["task"] == "reads"]
    assert [frame.get("nb_arguments") for frame in invoked] == ['{"path":"secret.pem"}', None, None]
    told = [message.text for request in model.requests for message in request.messages]
    assert any(PEM in text for text in told), "the model itself is told what its tools found"
    shown = [repr(run), run._repr_mimebundle_()["text/html"], repr(run.tasks), journal_of(leaky)]
    assert [leak for text in shown for leak in HOSTILE.leaks(text)] == []


def journal_of(folder: Path) -> str:
    return newest(folder).read_text(encoding="utf-8")
