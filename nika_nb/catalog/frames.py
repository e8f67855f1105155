"""The kinds of journal frames (`trace_format: 2`), and which of them end what."""

from nika_nb.catalog import prices

TRACE_FORMAT = 2
GENESIS = "nika-trace-v1"
ENGINE_EPOCH = 1
ENGINE_VERSION = f"nika-nb/{ENGINE_EPOCH}"

SEALED = "run_sealed"  # the signed last line of a sealed journal

RESUME_BLOCKED = "nb_resume_blocked"  # the only line of a note: what kept a run from going on

RUN_STOPS = frozenset({"workflow_completed", "workflow_failed", "workflow_cancelled", "workflow_paused"})

# A journal that reached none of these has no known end: it is `incomplete`.
RUN_ENDS = RUN_STOPS | {SEALED, RESUME_BLOCKED}

TASK_SUCCESSES = frozenset({"task_completed", "task_cache_hit"})

TASK_ENDS = TASK_SUCCESSES | {"task_failed", "task_skipped", "task_cancelled"}

# Events that are shown while a run goes on and never written: the journal holds what settled.
LIVE_ONLY = frozenset({"live_output", "live_progress"})

LINE_BOUND = 1 << 20  # bytes of one line, its newline not counted
FILE_BOUND = 256 << 20  # bytes of one journal
PAGE_BOUND = 64 << 10  # bytes of JSON text in one page of paged evidence

# The pricing tables by which a recorded cost can be judged again.
PRICING_PINS = frozenset({"nika/model-pricing@1.3", prices.SCHEMA})
