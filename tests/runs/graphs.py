"""Random workflows: every gate, every way to end, values that flow; as they were drawn, and as text.

Draws through a `random.Random`, so that hypothesis can steer (and shrink) it and a seed can repeat it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.doors import program

AFTER = ("success", "failure", "skipped", "terminal")
READ = ("output", "status", "error")

# What one unit does. `flaky` fails the first time ever, `stubborn` every time of three; both are retried.
DOES = ("ok", "ok", "ok", "fail", "fail", "flaky", "stubborn", "hang")

HEAD = """\
nika: drawn
permits: {exec: ["./work"], tools: ["nika:prompt"]}
inputs: {yes: {type: bool, default: true}, no: {type: bool, default: false}}
"""

# Marks that it ran, complains of a producer without a record, does as told, says what it was given.
WORK = """\
echo "$1" >> marks
journal=.nika/traces/$(ls -t .nika/traces | head -1)
ends='"kind":"task_\\(completed\\|cache_hit\\|failed\\|skipped\\|cancelled\\)"'
for producer in $4; do
  grep -q '"fields":\\[{"key":"task","value":"'"$producer"'"}.*'"$ends" "$journal" || echo "$1" >> early
done
[ "$3" = 0 ] || sleep "$3"
case "$2" in
fail|stubborn) exit 1 ;;
flaky) [ -e "tried-$1" ] || { : > "tried-$1"; exit 1; } ;;
hang) exec sleep 600 ;;
esac
printf %s "$1<$5>"
"""


@dataclass(frozen=True)
class Node:
    """One task. It `does` what its program is told, or asks a human.

    gates: (producer, what it is asked for: a word of AFTER or READ, or `fold`). when: `yes`, `no`, or the
    producer whose success it wants. items: what each element of a fan-out does, or the producer
    that gives the collection. handler: recover, skip, `elsewhere` (recovers from a timeout alone), or
    the task whose output stands in. nap: seconds that a unit takes. unwinds: the tasks that it cleans up
    after; of these it may read without waiting for them.
    """

    name: str
    gates: tuple[tuple[str, str], ...] = ()
    when: str = ""
    does: str = "ok"
    items: tuple[str, ...] | str | None = None
    fail_fast: bool = True
    handler: str = ""
    member: bool = False
    nap: float = 0
    unwinds: tuple[str, ...] = ()

    @property
    def awaits(self) -> tuple[tuple[str, str], ...]:
        """The gates that have to admit it."""
        return tuple(gate for gate in self.gates if gate[0] not in self.unwinds)

    @property
    def reads(self) -> list[tuple[str, str]]:
        """The gates whose values reach the body, in their order."""
        return [gate for gate in self.gates if gate[1] in READ]


@dataclass(frozen=True)
class Graph:
    """A workflow whose tasks stand producers first."""

    nodes: tuple[Node, ...] = field(default=())

    def __getitem__(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    @property
    def text(self) -> str:
        tasks = "".join(f"  {node.name}:\n{_task(node)}" for node in self.nodes)
        outputs = "".join(f'  {node.name}: "${{{{ tasks.{node.name}.output }}}}"\n' for node in self.nodes)
        return f"{HEAD}tasks:\n{tasks}outputs:\n{outputs}"


def stage(folder: Path, graph: Graph) -> Path:
    """A folder with the workflow's file, which is returned, and with its program."""
    folder.mkdir(parents=True, exist_ok=True)
    program(folder, "work", WORK)
    workflow = folder / "drawn.nika.yaml"
    workflow.write_text(graph.text, encoding="utf-8")
    return workflow


# -- as text -----------------------------------------------------------------------------------


def _task(node: Node) -> str:
    return "".join(f"    {line}\n" for line in _lines(node))


def _lines(node: Node) -> Iterator[str]:
    bindings = [f'{how}_{of}: "${{{{ tasks.{of}.{how} }}}}"' for of, how in node.reads]
    if any(how == "fold" for _, how in node.gates):
        bindings.append('all: "${{ group.g }}"')
    if bindings:
        yield f"with: {{{', '.join(bindings)}}}"
    after = [f"{of}: unwind" for of in node.unwinds]
    if after := [*after, *(f"{of}: {how}" for of, how in node.gates if how in AFTER)]:
        yield f"after: {{{', '.join(after)}}}"
    if node.member:
        yield "group: g"
    if node.when:
        yield f"when: ${{{{ {_condition(node.when)} }}}}"
    if node.items is not None:
        items = f"[{', '.join(node.items)}]" if isinstance(node.items, tuple) else _collection(node.items)
        yield f"for_each: {{items: {items}, max_parallel: 3, fail_fast: {str(node.fail_fast).lower()}}}"
    if node.does in ("flaky", "stubborn"):
        yield "retry: {max_attempts: 3, backoff_ms: 1, jitter: false, on_codes: [NIKA-EXEC-001]}"
    if node.does == "hang":
        yield 'timeout: "40ms"'
    if node.handler:
        yield f"on_error: {{{_handler(node.handler)}}}"
    if node.does == "ask":
        question = f"{_mark(node)}<{_readings(node)}>"
        yield f'invoke: {{tool: "nika:prompt", args: {{message: "{question}", mode: input}}}}'
    else:
        yield f"exec: {{command: [{', '.join(_argv(node))}]}}"


def _condition(when: str) -> str:
    return f"inputs.{when} == true" if when in ("yes", "no") else f"with.status_{when} == 'success'"


def _collection(producer: str) -> str:
    return f'"${{{{ with.output_{producer} }}}}"'


def _handler(handler: str) -> str:
    known = {"skip": "skip: true", "recover": "recover: instead"}
    known["elsewhere"] = "recover: instead, on_codes: [NIKA-TIMEOUT-001]"
    return known.get(handler, f'recover: "${{{{ tasks.{handler}.output }}}}"')


def _argv(node: Node) -> Iterator[str]:
    yield '"./work"'
    yield f'"{_mark(node)}"'
    yield '"${{ item }}"' if isinstance(node.items, tuple) else node.does
    yield f'"{node.nap:g}"'
    yield f'"{" ".join(dict.fromkeys(of for of, _ in node.awaits))}"'
    yield f'"{_readings(node)}"'


def _mark(node: Node) -> str:
    return node.name if node.items is None else f"{node.name}/${{{{ index }}}}"


def _readings(node: Node) -> str:
    return " ".join(_given(of, how) for of, how in node.reads)


def _given(of: str, how: str) -> str:
    return f"${{{{ with.error_{of} == null }}}}" if how == "error" else f"${{{{ with.{how}_{of} }}}}"


# -- drawn -------------------------------------------------------------------------------------


def drawn(chance: random.Random, most: int = 7, longest: float = 0, asks: bool = False) -> Graph:
    """Any graph of at most so many tasks. longest: seconds that a unit may take. asks: humans take part."""
    nodes: list[Node] = []
    for number in range(chance.randint(2, most)):
        nodes.append(_node(chance, f"t{number}", nodes, longest))
    if len(nodes) > 2 and chance.random() < 0.3:
        nodes = _folding(chance, nodes)
    if asks:
        nodes = [replace(node, does="ask") if chance.random() < 0.4 else node for node in nodes]
    graph = Graph(tuple(nodes))
    nodes = [_handled(chance, node, graph) for node in nodes]
    for number in range(chance.choice((0, 1, 2))):
        nodes.append(_cleanup(chance, f"c{number}", nodes))
    return Graph(tuple(nodes))


def _node(chance: random.Random, name: str, above: list[Node], longest: float) -> Node:
    gates = {}
    for producer in chance.sample(above, chance.randint(0, min(3, len(above)))):
        how = chance.choice(AFTER + READ + READ)
        gates[producer.name, how] = None
    node = Node(name, tuple(gates), nap=round(chance.uniform(0, longest), 3) if longest else 0)
    return _ending(chance, _conditioned(chance, node))


def _conditioned(chance: random.Random, node: Node) -> Node:
    observed = [of for of, how in node.gates if how == "status"]
    when = chance.choice(["", "", "", "yes", "no", *observed])
    return replace(node, when=when)


def _ending(chance: random.Random, node: Node) -> Node:
    """What it does: once, or for each of a collection of its own or of a producer's."""
    given = [of for of, how in node.gates if how == "output"]
    match chance.choice(("once", "once", "once", "each", "given")):
        case "each":
            items = tuple(chance.choice(("ok", "ok", "fail")) for _ in range(chance.randint(0, 4)))
            return replace(node, items=items, fail_fast=chance.random() < 0.5)
        case "given" if given:
            return replace(node, items=chance.choice(given))
    return replace(node, does=chance.choice(DOES))


def _folding(chance: random.Random, nodes: list[Node]) -> list[Node]:
    """The last task folds a group of others."""
    members = {node.name for node in chance.sample(nodes[:-1], 2)}
    last = replace(nodes[-1], gates=(*nodes[-1].gates, *((name, "fold") for name in sorted(members))))
    return [replace(node, member=node.name in members) for node in nodes[:-1]] + [last]


def _cleanup(chance: random.Random, name: str, above: list[Node]) -> Node:
    """Follows some tasks and cleanups, reads of them, and may wait for other tasks besides."""
    follows = [node.name for node in chance.sample(above, chance.randint(1, min(3, len(above))))]
    chained = [node.name for node in above if node.unwinds and node.name not in follows]
    follows += chained if chance.random() < 0.5 else []
    reads = [(of, chance.choice(READ)) for of in follows if chance.random() < 0.5]
    others = [node.name for node in above if not node.unwinds and node.name not in follows]
    waits = [(of, chance.choice(AFTER)) for of in others if chance.random() < 0.2]
    does = chance.choice(("ok", "ok", "fail", "flaky"))
    handler = chance.choice(["", "recover", "skip", *(of for of in follows if of.startswith("t"))])
    return Node(name, (*reads, *waits), does=does, handler=handler, unwinds=tuple(follows))


def _handled(chance: random.Random, node: Node, graph: Graph) -> Node:
    """What becomes of an error. Only a task further up is borrowed from, so that nothing waits in a ring."""
    others = [other.name for other in graph.nodes[: graph.nodes.index(node)]]
    return replace(node, handler=chance.choice(["", "", "recover", "skip", "elsewhere", *others[-1:]]))
