"""Differences that expressions read: looked at when one is named, and recorded, so that a replay reads the same."""

from contextlib import suppress
from dataclasses import replace

from handrail.engine.state.scope import DiffWanted, evaluated
from handrail.errors import WorkspaceFault
from handrail.language.problems import EvaluationError, LanguageError
from handrail.model.history.events import FilesCompared
from handrail.model.history.run_state import RunState
from handrail.model.parts import parts
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import Expression, JsonValue
from handrail.runtime.handlers.trees import TreeHandler, in_thread

MOST_LINES = 1000
MOST_BYTES = 60_000
"""What fits into one variable of a command's environment, of which the kernel takes 131,072 bytes at most."""


async def compare(trees: TreeHandler, wanted: DiffWanted, run: str) -> FilesCompared:
    """Look at what differs between two snapshots; of a large difference the beginning is kept."""
    try:
        text = await in_thread(trees.workspaces.readable_diff, wanted.tree, wanted.since, wanted.until)
    except (WorkspaceFault, OSError) as error:
        text = f"(the difference cannot be read: {error})\n"
    command = f"handrail diff {run} {wanted.step}".rstrip()
    return FilesCompared(since=wanted.since, until=wanted.until, diff=with_limit(text, command), at=trees.clock())


def with_limit(text: str, command: str) -> str:
    """Give the beginning of a difference that is too large to be kept whole, and the command that shows the rest."""
    lines = text.splitlines(keepends=True)
    room, kept = MOST_BYTES, 0
    for line in lines[:MOST_LINES]:
        room -= len(line.encode(errors="replace"))
        if room < 0:
            break
        kept += 1
    if kept == len(lines):
        return text
    return f"{''.join(lines[:kept])}... {len(lines) - kept} more lines: {command}\n"


async def with_diffs(trees: TreeHandler, state: RunState, step: Step, names: dict[str, JsonValue]) -> RunState:
    """Give a state that knows the differences which a step's proofs read; their results are what is recorded."""
    for expression in parts(step.done_when, Expression):
        with suppress(LanguageError, EvaluationError):
            state = await _with_diffs_of(trees, expression, state, names)
    return state


async def _with_diffs_of(
    trees: TreeHandler, expression: Expression, state: RunState, names: dict[str, JsonValue]
) -> RunState:
    while True:
        try:
            evaluated(expression, state, names)
        except DiffWanted as wanted:
            found = await compare(trees, wanted, state.run)
            state = replace(state, diffs=state.diffs.insert(f"{wanted.since}..{wanted.until}", found.diff))
        else:
            return state
