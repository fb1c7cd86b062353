"""Folds what happens to a run as a whole: it begins, waits, blocks, continues, rewinds, changes its holder, ends."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from rpds import HashTrieMap

from handrail.engine.fold import dynamic as flows
from handrail.engine.fold import guided
from handrail.engine.fold.steps import RUNNING
from handrail.engine.prompts import person_messages as messages
from handrail.engine.state.agent_calls import OF_AGENTS, uncount_call
from handrail.engine.state.codec import decode_state
from handrail.engine.state.given import names_given, put_back
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.history import events as ev
from handrail.model.history.run_state import Frame, Pending, RunState, StepState, step_of, update_state
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.engine.composite import fan_out as fan_outs
    from handrail.engine.fold import clocks, imports
else:
    clocks = late_import("handrail.engine.fold.clocks")
    fan_outs = late_import("handrail.engine.composite.fan_out")
    imports = late_import("handrail.engine.fold.imports")

Blobs = Callable[[str], bytes]
"""Returns the content of a blob by its digest."""
MAX_TRIED = 20
"""The most refused commands of agents that a run remembers."""


def begin_run(event: ev.Event, blobs: Blobs) -> RunState:
    """Return the first state of a run."""
    if isinstance(event, ev.RunForked):
        return _fork_state(event, decode_state(blobs(event.state), blobs))
    started = put_back(cast("ev.RunStarted", event), blobs)
    around = _read_scope(blobs(started.scope)) if started.scope else _AROUND
    return RunState(
        run=started.run,
        status="running" if started.admission is None else "queued",
        plan=started.plan,
        definition=started.definition,
        workflow=started.workflow,
        inputs=started.inputs,
        workspace=started.workspace,
        started_at=started.at,
        checks=started.checks,
        task=started.task,
        parent=started.parent,
        root=started.root,
        generation=started.generation,
        stack=(Frame(started.prefix),),
        names=around.names.update(names_given(started.inputs)),
        steps=around.steps,
        latest=around.latest,
        turns=around.turns,
        previous=around.previous,
        context=guided.initial_context(started),
        source=started.source,
        tree=started.tree,
        agent=started.agent,
        agents=started.agents,
        script=started.script,
        pass_env=started.pass_env,
        allowance=started.allowance,
        around=started.around,
        observed=started.observed,
        calls=started.calls,
        boot=started.boot,
        ahead=started.ahead,
        project=started.project,
        admission=started.admission,
        queued=0 if started.admission is None else 1,
        timeout=started.timeout,
        counts_from=started.at if started.timeout is not None and started.admission is None else None,
        env=started.env,
        given=started.given,
        issue=started.issue,
        unresolved=tuple(name for name, found in started.references.items() if _is_missing(found)),
    )


@frozen
class _SurroundingRun:
    """The part of the surrounding run that a body can see."""

    names: "HashTrieMap[str, JsonValue]"
    steps: "HashTrieMap[str, StepState]"
    latest: "HashTrieMap[str, str]"
    turns: "HashTrieMap[str, int]"
    previous: str = ""


_AROUND = _SurroundingRun(HashTrieMap(), HashTrieMap(), HashTrieMap(), HashTrieMap())


def _read_scope(data: bytes) -> _SurroundingRun:
    seen = json.loads(data)
    steps = {address: step_of(row) for address, row in seen["steps"].items()}
    turns = HashTrieMap(cast("dict[str, int]", seen.get("turns", {})))
    return _SurroundingRun(
        HashTrieMap(seen["names"]), HashTrieMap(steps), HashTrieMap(seen["latest"]), turns, seen["previous"]
    )


def _fork_state(event: ev.RunForked, source: RunState) -> RunState:
    """Copy a run's state, except for its holder, its caller and a pause, which concern the source alone."""
    copy = flows.restart_flow(source)
    # What the source had begun is in the source's log, so the copy starts that step over.
    kept = copy.pending if copy.pending is not None and copy.pending.kind in ("approval", "question") else None
    origin = (event.source, event.seq)
    # Copying an import that nobody has released must not be a way around the release.
    holder = source.held_by if source.foreign else ""
    copy = replace(
        copy, run=event.run, parent=None, held_by=holder, hands="all", forked_from=origin, pending=kept, restore=""
    )
    copy = replace(copy, root="", generation=0)
    copy = replace(copy, born=event.at, imported=1 if source.imported else 0, tried=(), git_changes=())
    copy = replace(copy, messages=messages.messages_of_copy(copy), children=HashTrieMap(), said=(0, ""))
    copy = replace(clocks.align_with_clock(copy, event.boot, event.ahead) if event.boot else copy, set_by=0.0)
    if event.source_tree is not None:
        copy = replace(copy, source=event.source_tree, tree=None)
    copy = replace(copy, admitted=False, queued=0, counted=0.0, counts_from=None)
    copy = _continue_run(copy, kept) if copy.reason == "pause" or copy.status == "queued" else copy
    counts = copy.timeout is not None and clocks.is_counting(copy)
    return replace(copy, counts_from=event.at) if counts else copy


def fold_command_refused(state: RunState, event: ev.CommandRefused) -> RunState:
    """Record a command that an agent tried, so that the person is informed."""
    tried = (state.seq + 1, event.at, event.by, " ".join(part for part in (event.command, event.about) if part))
    return replace(state, tried=(*state.tried, tried)[-MAX_TRIED:])


def fold_person_notified(state: RunState, _: ev.PersonNotified) -> RunState:
    """Leave the run as it is: notifying a person does not change what the run needs."""
    return state


def fold_git_settings_changed(state: RunState, event: ev.GitSettingsChanged) -> RunState:
    """Record what differs, so that a person is informed wherever the run asks for one."""
    return replace(state, git_changes=event.changes, git_changed_at=event.at)


def _is_missing(found: JsonValue) -> bool:
    return isinstance(found, dict) and bool(found.get("problem"))


def fold_clock_noted(state: RunState, event: ev.ClockNoted) -> RunState:
    """Shift the times that still count if the clock was set."""
    return clocks.shift_times(state, event.boot, event.ahead, event.by)


def fold_run_waits(state: RunState, event: ev.RunWaits) -> RunState:
    """Wait for the outside."""
    return replace(state, status="waiting", reason=event.reason, message=event.message, until=event.until, queued=0)


def fold_run_blocked(state: RunState, event: ev.RunBlocked) -> RunState:
    """Wait until a person removes what blocks the run."""
    said = {"reason": event.reason, "message": event.message, "next_step": event.next_step}
    return update_state(state, status="blocked", blocked_at=event.address, queued=0, **said)


def fold_run_resumed(state: RunState, event: ev.RunResumed) -> RunState:
    """Continue as a person requested."""
    if flows.is_asleep(state):
        return flows.wake(state, event.at)
    if state.reason == "budget":
        state = replace(state, granted=state.granted + 1)
    frame = state.stack[-1]
    if frame.work is not None and frame.work.action == "parallel-agents":
        work = replace(frame.work, data=fan_outs.reset_failed_items(frame.work.data))
        state = replace(state, stack=(*state.stack[:-1], replace(frame, work=work)))
    kept = state.pending
    # After a fault of the machine the step itself is unchanged: what it did is looked for, not done again.
    # Where a capability or a login was missing it is unchanged too: its performer continues, and no attempt is used up.
    if kept is not None and kept.kind == "step" and state.reason not in ("fault", "capability", "login"):
        kept = None
    return _continue_run(state, flows.pending_after_interruption(state, kept))


def _continue_run(state: RunState, kept: Pending | None) -> RunState:
    """Continue a run; a pause leaves the attempts and the rest of a wait as they were.

    A call that was ended because the budget was used up continues in its conversation.
    """
    cut_short = state.reason == "budget" and state.failure is not None and state.failure.hindrance == "budget"
    failure = state.failure if state.reason == "pause" or cut_short else None
    until = None if failure is None else failure.retry_at or None
    asked = kept.kind if kept is not None and kept.kind in ("approval", "question") else None
    reason = "timer" if until is not None else asked
    status = "running" if reason is None else "waiting"
    # A question that is still open is asked again with the same text.
    message = kept.question if kept is not None and asked is not None else ""
    cleared = replace(state, reason=reason, message=message, next_step="", until=until, ended_at=None)
    return replace(cleared, status=status, failure=failure, pending=kept)


def fold_run_rewound(state: RunState, event: ev.RunRewound, blobs: Blobs) -> RunState:
    """Return to the state of the run before a step."""
    before = decode_state(blobs(event.state), blobs)
    if event.seq <= state.imported:
        before = imports.carry_over_places(before, state)
    rewound = replace(
        before, run=state.run, held_by=state.held_by, hands=state.hands, crossed=state.crossed, parent=state.parent
    )
    rewound = replace(rewound, root=state.root, generation=state.generation)
    # Spent amounts stay spent, and the files follow; a borrowed worktree is never overwritten by a restore.
    rewound = replace(
        rewound, spent=state.spent, granted=state.granted, messages=messages.merge_messages(before, state)
    )
    rewound = replace(rewound, autonomy=state.autonomy, risk=state.risk, children=state.children, tried=state.tried)
    rewound = replace(rewound, git_changes=state.git_changes, git_changed_at=state.git_changed_at)
    if (rewound.boot, rewound.ahead) != (state.boot, state.ahead):
        rewound = clocks.align_with_clock(rewound, state.boot, state.ahead)
    rewound = replace(rewound, set_by=state.set_by, admitted=state.admitted)
    if state.tree is None:
        return rewound
    kept = {"tree": state.tree, "workspace": state.workspace, "pinned": state.pinned, "source": None}
    if not state.tree.owned:
        # The worktree is inspected again, so that the next step begins on the files as they are.
        return replace(rewound, restore="", snapshot="", **kept)
    return replace(rewound, restore=before.snapshot, snapshot=before.snapshot or state.snapshot, **kept)


def fold_run_taken(state: RunState, event: ev.RunTaken) -> RunState:
    """Let an outside performer drive the run."""
    held = replace(state, held_by=event.by, hands=event.hands)
    return replace(held, next_step="", **RUNNING) if guided.can_go_on(state) else held


def fold_run_imported(state: RunState, event: ev.RunImported) -> RunState:
    """Hold a run imported from a file, and forget every place outside the log that its history names."""
    return imports.hold_imported_run(state, event)


def fold_run_released(state: RunState, event: ev.RunReleased) -> RunState:
    """Let the engine drive the run."""
    pending = state.pending
    freed = replace(state, held_by="", hands="all")
    if state.foreign:
        freed = imports.place_imported_run(freed, event)
    is_theirs = pending is not None and pending.kind == "step" and pending.action in OF_AGENTS and not pending.reported
    if pending is None or not is_theirs or state.status != "running":
        return freed
    # The engine calls an agent of its own for the step, so the step starts over.
    turns = uncount_call(freed.turns, pending.address) if pending.action == "agent" else freed.turns
    return replace(freed, pending=None, turns=turns)


def fold_run_ended(state: RunState, event: ev.RunEnded) -> RunState:
    """End the run."""
    ended = {"status": event.status, "message": event.message, "ended_at": event.at, "reason": event.reason}
    return update_state(state, until=None, admitted=False, queued=0, **ended)


def fold_run_queued(state: RunState, event: ev.RunQueued) -> RunState:
    """Queue the run; a run that is already queued retains its place."""
    return update_state(state, status="queued", queued=state.queued or state.seq + 1, message=event.message)


def fold_run_admitted(state: RunState, _: ev.RunAdmitted) -> RunState:
    """Continue, holding the concurrency key."""
    return update_state(state, status="running", queued=0, admitted=True, message="")
