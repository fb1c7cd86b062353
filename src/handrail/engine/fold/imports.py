"""Folds the import of a run: its history is retained, but what it names outside of itself is not trusted."""

import re
from dataclasses import replace
from typing import Any, cast

from rpds import HashTrieMap

from handrail.engine.fold import dynamic as flows
from handrail.model.history import events as ev
from handrail.model.history.run_state import Frame, Pending, RunState, StepState
from handrail.model.history.trees import TreeSource
from handrail.model.workflow.values import JsonValue

_OBJECT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?", re.ASCII)
_INSIDE = re.compile(r"(\.[A-Za-z0-9_-]+)+", re.ASCII)
"""The suffix that the id of a called run has after its caller's id, as an import assigns it."""


def hold_imported_run(state: RunState, event: ev.RunImported) -> RunState:
    """Hold a run that was imported from a file."""
    held = {"held_by": event.by, "hands": "all"}
    return replace(strip_places(state), foreign=True, imported=state.seq + 1, born=event.at, **held)


def place_imported_run(state: RunState, event: ev.RunReleased) -> RunState:
    """Place an imported run where the person who releases it says."""
    place: dict[str, Any] = {
        "source": event.source,
        "tree": event.tree,
        "workspace": event.workspace,
        "pass_env": event.pass_env,
    }
    # If it continues in its caller's worktree, that is inspected before the next step.
    seen = "" if event.tree is not None else state.snapshot
    place |= {"agents": event.agents or state.agents, "admission": event.admission}
    return replace(state, foreign=False, snapshot=seen, **place)


def strip_places(state: RunState) -> RunState:
    """Return a foreign state without what it names outside its history: folders, branches, processes, runs.

    All that remains of its worktree is a description in `pinned`, from which a person who releases the run may have one
    created. What was in progress began elsewhere and starts over.
    """
    anew = flows.restart_flow(state)
    pending = anew.pending if anew.pending is not None and _can_go_on(anew, anew.pending) else None
    described = _describe_tree(state)
    steps = HashTrieMap({address: _strip_session(step) for address, step in state.steps.items()})
    children = HashTrieMap({run: took for run, took in state.children.items() if _is_own(state, run)})
    return replace(
        anew,
        pending=pending,
        stack=tuple(_strip_running_items(frame) for frame in anew.stack),
        steps=steps,
        children=children,
        tree=None,
        source=None,
        pinned=described,
        snapshot=_git_object_id(state.snapshot) if described is not None else "",
        restore="",
        workspace="",
        pass_env=(),
        observed={},
        git_changes=(),
        forked_from=None,
        admission=None,
        queued=0,
        admitted=False,
        status="running" if anew.status == "queued" else anew.status,
    )


def carry_over_places(before: RunState, now: RunState) -> RunState:
    """Return a state of an imported run from before its import, with the places that the run has now."""
    clean = strip_places(replace(before, run=now.run))
    source = now.source
    if source is not None and clean.snapshot:
        source = replace(source, changes=clean.snapshot)
    return replace(
        clean,
        source=source,
        pinned=now.pinned if now.tree is not None else clean.pinned,
        workspace=now.workspace,
        pass_env=now.pass_env,
        held_by=now.held_by,
        hands=now.hands,
        foreign=now.foreign,
        imported=now.imported,
        born=now.born,
        admission=now.admission,
    )


def _can_go_on(state: RunState, pending: Pending) -> bool:
    """Whether something pending survives an import: a question does, and so does a run imported with its caller."""
    return pending.kind in ("approval", "question") or (pending.kind == "child" and _is_own(state, pending.child))


def _is_own(state: RunState, run: str) -> bool:
    return run.startswith(state.run) and _INSIDE.fullmatch(run.removeprefix(state.run)) is not None


def _strip_session(step: StepState) -> StepState:
    """Drop the session of a step: agents here do not know it, and its name could match an unrelated conversation."""
    names = ("before", "files", "commit", "since", "after", "head")
    return step._replace(session="", **{name: _git_object_id(getattr(step, name)) for name in names})


def _strip_running_items(frame: Frame) -> Frame:
    """Drop the items of a fan-out that were in progress; finished items retain their results."""
    work = frame.work
    if work is None or not isinstance(work.data.get("started"), dict):
        return frame
    results = cast("dict[str, JsonValue]", work.data.get("results") or {})
    started = cast("dict[str, JsonValue]", work.data["started"])
    done: dict[str, JsonValue] = {key: child for key, child in started.items() if key in results}
    return replace(frame, work=replace(work, data={**work.data, "started": done}))


def _describe_tree(state: RunState) -> TreeSource | None:
    """Describe how to recreate the run's worktree, without saying where it was."""
    if state.tree is not None and state.tree.owned:
        base, commit, changes = state.tree.base, state.tree.commit, state.snapshot
    elif state.source is not None:
        base, commit, changes = state.source.base, state.source.commit, state.source.changes
    elif state.foreign and state.pinned is not None:
        base, commit, changes = state.pinned.base, state.pinned.commit, state.snapshot or state.pinned.changes
    else:
        return None
    return TreeSource(
        repository="", base=base, commit=_git_object_id(commit), branch="", changes=_git_object_id(changes)
    )


def _git_object_id(name: str) -> str:
    """Return a text if it is the id of a git object, else nothing: git could read it as a ref name or an option."""
    return name if _OBJECT.fullmatch(name) else ""
