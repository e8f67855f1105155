"""A question between two steps that leave marks: what waits, what is asked again, what runs behind it."""

from __future__ import annotations

GATE = """\
nika: gate
permits: {exec: ["./step"]}
inputs: {who: {type: string, default: "ann"}}
tasks:
  prep: {exec: {command: ["./step", "prep"]}}
  ask: {after: {prep: success}, invoke: {tool: "nika:prompt", args: {message: "Ship it?"}}}
  ship:
    with: {go: "${{ tasks.ask.output }}"}
    when: ${{ with.go == true }}
    exec: {command: ["./step", "ship", "${{ inputs.who }}"]}
"""
