"""Finds what a run made that an agent can look at: branches, commits, paths, addresses, issues."""

from collections import deque
from collections.abc import Iterator

from handrail.engine.text.untrusted_text import one_line
from handrail.model.history.run_state import RunState, StepState
from handrail.model.workflow.values import JsonValue

MOST = 40
"""Artifacts that are listed, the newest."""
_MOST_LOOKED_AT = 2_000
"""Values of one output in which artifacts are looked for."""
_MOST_TEXT = 120

_KINDS = {
    "branch": "branch",
    "commit": "commit",
    "path": "path",
    "paths": "path",
    "file": "path",
    "files": "path",
    "url": "url",
    "issue": "issue",
    "issues": "issue",
}
"""Keys of outputs that name an artifact, with its kind; `test_path` is one like `path`."""


def artifacts(state: RunState, steps: tuple[tuple[str, StepState], ...]) -> list[str]:
    """List artifacts, the oldest first, each once."""
    found: dict[str, None] = {}
    for line in _newest_first(state, steps):
        found.setdefault(one_line(line, _MOST_TEXT))
        if len(found) == MOST:
            break
    return list(reversed(found))


def _newest_first(state: RunState, steps: tuple[tuple[str, StepState], ...]) -> Iterator[str]:
    for address, step in reversed(steps):
        if step.commit:
            yield f"commit: {step.commit} ({address})"
        if step.branch:
            yield f"branch: {step.branch} ({address})"
        yield from _named(step.output)
    if state.tree is not None:
        yield f"branch: {state.tree.branch}, from {state.tree.base}, checked out here"


def _named(output: JsonValue) -> Iterator[str]:
    waiting: deque[tuple[str, JsonValue]] = deque([("", output)])
    for _ in range(_MOST_LOOKED_AT):
        if not waiting:
            return
        key, value = waiting.popleft()
        kind = _KINDS.get(key.rpartition("_")[2])
        if isinstance(value, dict):
            waiting.extend(list(value.items())[:_MOST_LOOKED_AT])
        elif isinstance(value, list):
            waiting.extend((key, each) for each in value[:_MOST_LOOKED_AT])
        elif kind is not None and _is_named(kind, value):
            yield f"{kind}: {value}"


def _is_named(kind: str, value: JsonValue) -> bool:
    if kind == "issue" and isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, str) and value != "" and "\n" not in value
