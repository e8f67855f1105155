"""The fields of a run's receipt (`receipt_format: 1`), each with the sentence that renders it."""

RECEIPT_FORMAT = 1

ARTIFACT_BOUND = 1 << 20  # bytes of a whole receipt
DEPTH_BOUND = 32  # levels of its JSON
NAME_BOUND = 256  # bytes of one identifier

# `[]` stands for every element of a list; `{}` is the value.
PROJECTIONS: dict[str, str] = {
    "receipt_format": "the shape of this receipt is number {}",
    "certificate.task_attempts": "at most {} attempts over all tasks",
    "certificate.span_attempts": "at most {} attempts one after the other",
    "certificate.llm_calls": "at most {} calls of models",
    "certificate.effect_calls": "at most {} effects outside the run",
    "certificate.usd_micros": "at most {} millionths of a US dollar",
    "certificate.effects.boundary_declared": "the file declares its boundary: {}",
    "certificate.effects.escapes": "{} effects lie outside the boundary",
    "certificate.effects.needed": "it needs {}",
    "certificate.derivation[].task": "the task is `{}`",
    "certificate.derivation[].attempts": "at most {} attempts for each of its items",
    "certificate.derivation[].deps": "it waits for {}",
    "certificate.derivation[].fanout": "it stands for {} items",
    "certificate.derivation[].main_llm": "{} calls of models in its body",
    "certificate.derivation[].main_effect": "{} effects in its body",
    "certificate.derivation[].main_spend_micros": "{} millionths of a US dollar in its body",
    "certificate.derivation[].finally_llm": "{} calls of models in its cleanups",
    "certificate.derivation[].finally_effect": "{} effects in its cleanups",
    "certificate.derivation[].finally_spend_micros": "{} millionths of a US dollar in its cleanups",
    "trace_verdict.chain": "the chain of the journal was {}",
    "trace_verdict.events": "the journal held {} events",
    "trace_verdict.head": "the hash of the journal's last line was {}",
    "trace_verdict.outcome": "the run ended as {}",
    "trace_verdict.sealed": "the journal was sealed: {}",
    "assertions": "what was asserted, with the level it was judged at: {}",
    "lock_digest": "the lock file that the run resolved under: {}",
    "proves": "it speaks of the workflow whose semantic hash is {}",
    "digest": "the digest over this receipt, as written: {}",
}

# Objects of names that nobody can list: they are rendered whole.
WHOLE = frozenset({"certificate.effects.needed", "assertions"})
