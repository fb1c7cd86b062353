"""What a snapshot says, and how its commit says it."""

import json
from dataclasses import fields
from typing import cast

from handrail.frozen import frozen
from handrail.workspace.git.data_places import plain

REFS = "refs/handrail/"
_TITLE = "Snapshot of a work tree by Handrail"


@frozen(kw_only=True)
class State:
    """Everything that a snapshot says."""

    run: str
    head: str
    ref: str
    """The branch that HEAD names, in full; empty when it is detached."""
    home: str
    """The run's own branch, by name."""
    branch: str
    """The commit of it."""
    merge: tuple[str, ...]
    """The commits that a merge in progress brings in."""
    index: str
    work: str
    unmerged: str
    """The blob that lists the entries of a conflicted index."""
    owned: bool
    omitted: tuple[str, ...]


def run_ref(run: str) -> str:
    """Give the ref of a run's snapshots."""
    return f"{REFS}{plain(run)}"


def message_of(state: State) -> bytes:
    """Give the message of a snapshot's commit."""
    named = {each.name: getattr(state, each.name) for each in fields(State)}
    return f"{_TITLE}\n\n{json.dumps(named)}\n".encode()


def parsed(message: str) -> State | None:
    """Read the message of a commit; None where it is no snapshot's."""
    title, _, body = message.partition("\n\n")
    if title != _TITLE:
        return None
    data = cast("dict[str, object]", json.loads(body))
    data |= {name: tuple(cast("list[str]", data[name])) for name in ("merge", "omitted")}
    return State(**cast("dict[str, str]", data))  # pyright: ignore[reportArgumentType] - written by `message_of`
