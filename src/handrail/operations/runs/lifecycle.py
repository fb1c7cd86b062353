"""What a user may do with runs: start, answer, stop, resume, rewind, fork, take and release."""

import time
from collections.abc import Callable
from dataclasses import field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias

from handrail.engine.state.codec import encode_state
from handrail.errors import NotFound, PersonOnly, UsageError, VersionConflict
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.actors import actor_words, is_agents
from handrail.model.codec import encode
from handrail.model.history.events import Admission, Decision, Event, RunForked, RunStarted
from handrail.model.history.run_lines import Filter, is_run
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import Tree, TreeSource
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.plan import fill_project_values
from handrail.model.workflow.settings import NO_POLICY, NO_PROJECT, AgentPolicy, Budget, Project
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.step_addresses import BEGINS
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import encode_plan, events_of, plan_of, put_calls, require_plan, state_before, state_of
from handrail.runtime.ports import PinnedWorkflow
from handrail.runtime.run_writer import RunClaim, RunWriter, require_recordable

if TYPE_CHECKING:
    from handrail.engine.decide import from_outside
    from handrail.engine.fold import imports
    from handrail.engine.state import admission
    from handrail.engine.state import fork as copies
    from handrail.operations.views import inner_steps
else:
    inner_steps = late_import("handrail.operations.views.inner_steps")
    admission = late_import("handrail.engine.state.admission")
    copies = late_import("handrail.engine.state.fork")
    from_outside = late_import("handrail.engine.decide.from_outside")
    imports = late_import("handrail.engine.fold.imports")


MAX_NEAR = 1_000
"""The number of newest runs among which one with a similar id is looked for."""


@frozen
class Request:
    """Everything that a new run is given."""

    pinned: PinnedWorkflow
    workspace: str
    inputs: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    checks: dict[str, str] = field(default_factory=dict[str, str])
    task: str = ""
    by: str = ""
    source: TreeSource | None = None
    """What the run's own worktree is created from; its branch is a template with `{run}` in it."""
    agent: str = ""
    script: bytes = b""
    tree: Tree | None = None
    """The checkout that the run borrows if it has no worktree of its own."""
    pass_env: tuple[str, ...] = ()
    agents: AgentPolicy = NO_POLICY
    observed: dict[str, str] = field(default_factory=dict[str, str])
    references: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    once: str = ""
    """What distinguishes this start from every other one: repeated, it is refused with a `VersionConflict`."""
    project: Project = NO_PROJECT
    admission: Admission | None = None
    """The repository in which its key counts, and how many runs may run at once."""
    env: dict[str, str] = field(default_factory=dict[str, str])
    """Environment variables that its expressions read."""
    allowance: dict[str, float] = field(default_factory=dict[str, float])
    """What it may spend whatever its workflow allows, and what happens at that limit."""
    around: Budget | None = None
    issue: str = ""
    """The name of the issue that it works on."""
    run: str = ""
    """Its id, if that is already assigned: taken, it is refused with a `VersionConflict`."""


Then: TypeAlias = Callable[[RunStarted], tuple[Event, ...]]
"""Returns what is recorded with the first event of a run."""


def add_no_events(_: RunStarted) -> tuple[Event, ...]:
    """Record nothing with the first event of a run."""
    return ()


def start(
    writer: RunWriter,
    request: Request,
    then: Then = add_no_events,
    claim: RunClaim | None = None,
) -> str:
    """Create a run, pinned to its plan, and return its id, such as `fix-bug-1`.

    `then` returns what is recorded with its first event, in the same append. With a `claim`, the run belongs to this
    process before that append: a running background driver never takes it.
    """
    log = writer.log
    data = _plan_bytes(request)
    plan = log.put_blob(data)
    calls = put_calls(log, request.pinned.calls)
    number = next_number(log, request.pinned.plan.name)
    script = log.put_blob(request.script) if request.script else ""
    inputs = fill_project_values(request.pinned.plan.inputs, request.inputs, request.project)
    source = request.source
    while True:
        run = request.run or (idempotent_run_id(request) if request.once else f"{request.pinned.plan.name}-{number}")
        leases = () if claim is None else claim.begin(run)
        if leases is None and not request.once and not request.run:
            # Another process is about to start a run of this name.
            number += 1
            continue
        started = RunStarted(
            run=run,
            workflow=request.pinned.plan.name,
            definition=request.pinned.definition,
            plan=plan,
            inputs=inputs,
            workspace=request.workspace if source is None else "",
            checks=request.checks,
            project=request.project,
            env=request.env,
            allowance=request.allowance,
            around=request.around,
            task=request.task,
            by=request.by,
            source=None if source is None else replace(source, branch=source.branch.replace("{run}", run)),
            tree=request.tree,
            agent=request.agent,
            agents=request.agents,
            script=script,
            pass_env=request.pass_env,
            observed=request.observed,
            references=request.references,
            calls=calls,
            timeout=request.pinned.plan.timeout,
            issue=request.issue,
            at=time.time(),
        )
        if request.admission is not None or request.pinned.plan.concurrency is not None:
            started = admission.add_admission(request.pinned.plan, started, request.admission)
        try:
            writer.begin(run, started, *then(started), leases=leases or ())
        except VersionConflict:
            if claim is not None:
                claim.free()
            if request.once or request.run:
                raise
            number += 1
        else:
            return run


def _plan_bytes(request: Request) -> bytes:
    """Return the serialized plan of a new run, after checking that everything the run is given can be read back."""
    require_recordable("the project of the run", encode(request.project))
    for name in ("inputs", "checks", "task", "by", "agent", "references", "env"):
        require_recordable(f"the {name} of the run", getattr(request, name))
    try:
        data = request.pinned.written or encode_plan(request.pinned.plan)
    except (ValueError, TypeError, RecursionError) as error:
        name = request.pinned.plan.name
        raise UsageError(f"the workflow {name!r} cannot be recorded: {error}") from error
    require_plan(data, request.pinned.plan)
    return data


def idempotent_run_id(request: Request) -> str:
    """Return the id of a run that is started only once, however often that is requested."""
    return f"{request.pinned.plan.name}-r{sha256(request.once.encode()).hexdigest()[:12]}"


def next_number(log: Log, name: str) -> int:
    """Return the number of a workflow's next run."""
    numbers = [key.removeprefix(f"{name}-") for key in log.keys(Filter(prefix=f"{name}-", top=True))]
    return 1 + max((int(number) for number in numbers if number.isdigit()), default=0)


def find(log: Log, words: str) -> str:
    """Find a run by its id, a unique prefix of it, or `@last`; a child is meant only if its id is begun."""
    if words == "@last":
        newest = log.keys(Filter(top=True, order="started", limit=1))
        if not newest:
            raise NotFound("there are no runs yet", next_step="handrail run WORKFLOW")
        return newest[0]
    # A run that has lost its row in lists is still found by its whole id.
    if is_run(words) and log.last(words).seq:
        return words
    begun = Filter(prefix=words)
    found = (log.keys(begun._replace(top=True)) or log.keys(begun)) if words else ()
    if len(found) == 1:
        return found[0]
    if found:
        next_step = f"type more of the id, such as {min(found)}"
        message = f"'{words}' matches {len(found)} runs: {', '.join(sorted(found)[:5])}"
        raise UsageError(message, next_step=next_step)
    near = did_you_mean(words, log.keys(Filter(top=True, order="started", limit=MAX_NEAR)))
    raise NotFound(f"there is no run '{words}'{near}", next_step="handrail status")


def _require_person(run: str, by: str) -> None:
    """Refuse the decision of an agent where a person is asked."""
    if is_agents(by):
        hint = f"ask a person to look at it: handrail status {run}"
        raise PersonOnly(f"{run} is waiting for a person, and {actor_words(by)} is not one", next_step=hint)


def answer(writer: RunWriter, run: str, decision: Decision, by: str, feedback: str = "") -> None:
    """Answer the approval for which a run waits; the answer is accepted once."""
    _require_person(run, by)
    log = writer.log
    state = state_of(log, run)
    pending = state.pending
    if pending is None or pending.kind != "approval":
        raise UsageError(f"{run} is not waiting for approval", next_step=f"handrail status {run}")
    for what, given in (("the answer", decision), ("what is said about it", feedback)):
        require_recordable(what, given)
    # An answer that is not possible is refused here: once sent, it would use up the question.
    from_outside.decide_approval(
        plan_of(log, state.plan), state, from_outside.Answer(decision, by, feedback), time.time()
    )
    key = f"answer:{event_key(log, run, pending.seq)}"
    if not writer.send(run, key, "answer", decision=decision, by=by, feedback=feedback, asked=pending.seq):
        way = "resume" if log.inbox(run, limit=1) else "status"
        raise UsageError(
            f"the question of '{pending.address}' has already been answered", next_step=f"handrail {way} {run}"
        )


def answer_in_words(writer: RunWriter, run: str, text: str, by: str) -> None:
    """Answer the question of a run's agent with text; the answer is accepted once."""
    _require_person(run, by)
    pending = state_of(writer.log, run).pending
    if pending is None or pending.kind != "question":
        raise UsageError(f"{run} has not asked a question", next_step=f"handrail status {run}")
    if not text.strip():
        raise UsageError("the answer is empty", next_step=f'handrail answer {run} "what you want to say"')
    if not writer.send(
        run, f"say:{event_key(writer.log, run, pending.seq)}", "say", asked=pending.seq, answer=text, by=by
    ):
        raise UsageError(
            f"the question of '{pending.address}' has already been answered", next_step=f"handrail resume {run}"
        )


def stop(writer: RunWriter, run: str, by: str, why: str = "") -> None:
    """Stop a run for good, and end what it started."""
    state = state_of(writer.log, run)
    if state.status in ("succeeded", "cancelled"):
        raise UsageError(f"{run} has already ended ({state.status})")
    writer.send(run, f"stop:{event_key(writer.log, run, state.seq)}", "stop", by=by, why=why)


def resume(writer: RunWriter, run: str, by: str) -> RunState:
    """Let a blocked, failed or paused run continue; what is done is not repeated."""
    state = state_of(writer.log, run)
    if state.is_over:
        raise UsageError(f"{run} has already ended ({state.status})", next_step=inner_steps.suggest_way_back(state))
    writer.send(run, f"resume:{event_key(writer.log, run, state.seq)}", "resume", by=by)
    return state


def rewind(writer: RunWriter, run: str, step: str, by: str) -> int:
    """Let a run go back to before a step; return the event to which it goes back."""
    log = writer.log
    if state_of(log, run).status == "cancelled":
        raise UsageError(f"{run} was stopped for good", next_step=f"handrail fork {run} {step}")
    seq = _find_own_step(log, run, step, "rewind")
    before = log.put_blob(encode_state(state_before(log, run, seq)))
    state = state_of(log, run)
    crossed = list(irreversible_effects(state, seq))
    key = f"rewind:{event_key(log, run, state.seq)}:{seq}"
    writer.send(run, key, "rewind", to=step, seq=seq, state=before, crossed=crossed, by=by)
    return seq


def irreversible_effects(state: RunState, seq: int) -> tuple[str, ...]:
    """List the effects since an event that cannot be undone."""
    return tuple(dict.fromkeys(what for at, what in state.crossed if at >= seq))


def fork(writer: RunWriter, run: str, step: str | None, by: str) -> str:
    """Fork a run as it was before a step, or as it is; the original is untouched."""
    log = writer.log
    source = state_of(log, run)
    seq = copies.fork_point(source) if step is None else _find_own_step(log, run, step, "fork")
    since = (decode_event(stored) for stored in log.read(run, after=seq - 1, limit=source.seq - seq + 1))
    later = copies.carry_over_events(source, since) if step is None else ()
    number = next_number(log, source.workflow)
    while True:
        copy = f"{source.workflow}-{number}"
        try:
            writer.begin(copy, copy_at(log, source, seq, copy, by), *later)
        except VersionConflict:
            number += 1
        else:
            return copy


def copy_at(log: Log, source: RunState, seq: int, copy: str, by: str) -> RunForked:
    """Build the first event of a fork of a run as it was before an event."""
    before = state_before(log, source.run, seq)
    if seq <= source.imported:
        before = imports.carry_over_places(before, source)
    state = log.put_blob(encode_state(before))
    tree = _tree_of_copy(source, before, copy)
    return RunForked(run=copy, source=source.run, seq=seq, state=state, by=by, source_tree=tree, at=time.time())


def _tree_of_copy(source: RunState, before: RunState, copy: str) -> TreeSource | None:
    """Return what the fork's own worktree is created from, as it was at that point; only a borrowed one is shared."""
    tree = source.tree
    if before.source is not None:
        return replace(before.source, branch=f"work/{copy}")
    if tree is None or not tree.owned:
        return None
    pinned = source.pinned or TreeSource(repository=tree.repository, base=tree.base, commit=tree.commit, branch="")
    changes = before.snapshot
    return replace(pinned, commit=tree.commit, branch=f"work/{copy}", changes=changes, merge=())


def _find_own_step(log: Log, run: str, step: str, command: Literal["rewind", "fork"]) -> int:
    try:
        return find_step_start(log, run, step)
    except NotFound:
        refused = inner_steps.refusal(log, run, step, command)
        if refused is None:
            raise
        raise refused from None


def find_step_start(log: Log, run: str, step: str) -> int:
    """Return the event that began a step: `STEP`, `STEP@2` for its second beginning, `LOOP[key]/STEP`."""
    name, _, nth = step.rpartition("@") if step.rpartition("@")[2].isdigit() else (step, "", "")
    begun = [(seq, str(getattr(event, "address", ""))) for seq, event in events_of(log, run) if event.kind in BEGINS]
    exact = [seq for seq, address in begun if address == step]
    if exact:
        return exact[-1]
    named = [seq for seq, address in begun if address == name]
    if named and nth and 1 <= int(nth) <= len(named):
        return named[int(nth) - 1]
    known = tuple(dict.fromkeys(address for _, address in begun))
    message = f"{run} never started a step '{step}'{did_you_mean(step, known)}"
    raise NotFound(message, next_step=f"steps it started: {', '.join(known) or 'none'}")


def take(writer: RunWriter, run: str, by: str, asked_by: str = "") -> None:
    """Hand a run to an outside performer, for the agent steps; the engine performs the others.

    If a connected agent holds it, it is taken over only when a person asks for that.
    """
    state = state_of(writer.log, run)
    taken_over = asked_by and not is_agents(asked_by) and state.held_by.startswith("connected:") and not state.foreign
    if state.held_by and not taken_over:
        raise UsageError(f"{run} is held by {actor_words(state.held_by)}", next_step=f"handrail release {run}")
    if state.is_over:
        raise UsageError(f"{run} has already ended ({state.status})", next_step=inner_steps.suggest_way_back(state))
    writer.send(
        run, f"take:{event_key(writer.log, run, state.seq)}", "take", by=by, hands="agents", held_by=state.held_by
    )


def release(writer: RunWriter, run: str, by: str) -> None:
    """Give a run back to the engine."""
    state = state_of(writer.log, run)
    if not state.held_by:
        raise UsageError(f"{run} is not held by anyone", next_step=f"handrail status {run}")
    if state.foreign:
        raise UsageError(
            f"{run} was imported and does not have a folder to work in yet", next_step=f"handrail release {run}"
        )
    writer.send(run, f"release:{event_key(writer.log, run, state.seq)}", "release", by=by)


def event_key(log: Log, run: str, seq: int) -> str:
    """Return a permanent name of an event: after a repair another one may get its number, but not its hash."""
    return f"{seq}:{log.read(run, after=seq - 1, limit=1)[0].hash[:16]}"
