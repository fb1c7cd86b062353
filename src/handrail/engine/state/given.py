"""What a run was given: large inputs are a blob of their own, to which its first event and its states only refer.

So a text of 100 KB is stored once, even if a run has many children, copies and checkpoints, and can be erased.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from handrail.errors import NotFound, StorageDamaged
from handrail.model.history.events import RunStarted
from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue
from handrail.ports.hash_chain import digest_of

LARGE = 1024
"""Characters of inputs and task, as JSON, from which on they are a blob of their own."""
START_AGAIN = "restore the data folder from a backup, or start the workflow again as a new run"

_Values = Mapping[str, JsonValue]
_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode


def take_out(started: RunStarted) -> tuple[RunStarted, tuple[bytes, ...]]:
    """Return the first event of a run as it is recorded, and the blob that it refers to, if any."""
    text = _dumps({"inputs": started.inputs, "task": started.task})
    if len(text) < LARGE:
        return started, ()
    content = text.encode()
    return replace(started, inputs={}, task="", given=digest_of(content)), (content,)


def put_back(started: RunStarted, blobs: Callable[[str], bytes]) -> RunStarted:
    """Return the first event of a run including what the run was given."""
    if not started.given:
        return started
    inputs, task = read_given(started.given, blobs)
    return replace(started, inputs=inputs, task=task)


def read_given(digest: str, blobs: Callable[[str], bytes]) -> tuple[dict[str, JsonValue], str]:
    """Read the inputs and the task of a run from a blob."""
    try:
        found = json.loads(blobs(digest))
        inputs, task = found["inputs"], found["task"]
    except NotFound as error:
        message = f"the inputs of the run are missing from the log ({digest[:12]}): they were erased"
        raise StorageDamaged(message, next_step=START_AGAIN) from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise _unreadable(digest) from error
    if not isinstance(inputs, dict) or not isinstance(task, str):
        raise _unreadable(digest)
    return cast("dict[str, JsonValue]", inputs), task


def names_given(inputs: _Values) -> dict[str, JsonValue]:
    """Return the names by which expressions read what a run was given."""
    return {make_identifier(name): value for name, value in inputs.items()}


def context_given(inputs: _Values, task: str) -> dict[str, JsonValue]:
    """Return the context that a run begins with: its inputs, and its task as `goal`."""
    return {**inputs, "goal": task} if task else dict(inputs)


def leave_out(values: _Values, given: _Values) -> tuple[dict[str, JsonValue], list[str]]:
    """Return values without those that are unchanged since they were given, and the names of the latter."""
    same = sorted(name for name, value in values.items() if name in given and _is_same(value, given[name]))
    return {name: value for name, value in values.items() if name not in same}, same


def _is_same(value: JsonValue, given: JsonValue) -> bool:
    """Whether two values have the same JSON; `1` and `true` are equal in Python, but not the same."""
    return value is given or _dumps(value) == _dumps(given)


def _unreadable(digest: str) -> StorageDamaged:
    return StorageDamaged(f"the inputs of the run cannot be read ({digest[:12]})", next_step=START_AGAIN)
