"""Lets an imported run continue: lists what it will execute, and lets a person decide where it works."""

import json
from dataclasses import replace
from pathlib import Path

from handrail.engine.state.admission import admission_here
from handrail.errors import UsageError, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.codec import encode
from handrail.model.history.events import Admission
from handrail.model.history.run_state import RunState
from handrail.model.history.trees import TreeSource
from handrail.model.workflow.settings import AgentPolicy
from handrail.operations.agents.configured_agents import ConfiguredAgents, policy_of
from handrail.operations.runs.lifecycle import event_key
from handrail.operations.runs.prepare import limits_here
from handrail.operations.runs.worktree_source import WorktreeOrigin, ground_of
from handrail.operations.views.inner_steps import suggest_copy
from handrail.operations.views.run_tree import family, root_of
from handrail.operations.workflows.outline import ListedCommand, commands_of
from handrail.operations.workflows.repository_config import read_configured
from handrail.ports.log import Log
from handrail.ports.machine import Machine
from handrail.ports.repositories import Repositories
from handrail.runtime.history import decode_pinned_plans, plan_of, state_of
from handrail.runtime.run_writer import RunWriter
from handrail.sources.tiers import Location


@frozen(kw_only=True)
class ReleaseQuestion:
    """What a person allows by releasing an imported run, and where it would work."""

    run: str
    original: str
    workflow: str
    commands: tuple[ListedCommand, ...]
    source: TreeSource | None
    """What its worktree is created from."""
    workspace: str
    """The folder in which it works if there is no repository."""
    pass_env: tuple[str, ...]
    agents: AgentPolicy
    admission: Admission | None = None
    """What it waits for before it goes on."""


def is_imported(log: Log, run: str) -> bool:
    """Return whether a run was imported from a file and waits to be released."""
    return state_of(log, run).foreign


def examine_release(log: Log, machine: Machine, place: Location, run: str) -> ReleaseQuestion:
    """Find out what an imported run would execute, and where; raise what is missing if it cannot continue."""
    state = state_of(log, run)
    if state.parent is not None:
        raise UsageError(
            f"{run} continues together with the run that started it", next_step=f"handrail release {root_of(log, run)}"
        )
    if state.is_over:
        raise UsageError(f"{run} has already ended ({state.status})", next_step=suggest_copy(state))
    original, configured = _original(log, state), read_configured(place)
    known = ConfiguredAgents(machine.agents, place.folders, place.repository)
    origin = ground_of(machine.repositories, place, configured, None)
    source = _source(machine.repositories, origin, state, original)
    return ReleaseQuestion(
        run=run,
        original=original,
        workflow=state.workflow,
        commands=_commands(log, run, source),
        source=source,
        workspace="" if source is not None else str(place.cwd or Path.cwd()),
        pass_env=() if origin is None else origin.pass_env,
        agents=policy_of(configured, () if state.agent else known.list_installed()),
        admission=_admission(log, machine, place, state),
    )


def release_imported(writer: RunWriter, question: ReleaseQuestion, by: str) -> None:
    """Let an imported run continue in the place that the question names."""
    state = state_of(writer.log, question.run)
    writer.send(
        question.run,
        f"release:{event_key(writer.log, question.run, state.seq)}",
        "release_import",
        by=by,
        source=None if question.source is None else encode(question.source),
        tree=None,
        workspace=question.workspace,
        pass_env=list(question.pass_env),
        agents=encode(question.agents),
        admission=None if question.admission is None else encode(question.admission),
    )


def _admission(log: Log, machine: Machine, place: Location, state: RunState) -> Admission | None:
    """Say what the run waits for here, as one that is started here does."""
    called = decode_pinned_plans(log.get_blob(state.calls)).values() if state.calls else ()
    plan = plan_of(log, state.plan)
    limits = limits_here(machine, place, read_configured(place), (plan, *called))
    return admission_here(plan, state, limits)


def _commands(log: Log, run: str, source: TreeSource | None) -> tuple[ListedCommand, ...]:
    """List the commands of a new worktree, of the run, of the workflows that it is in and of those that it may call."""
    found = [ListedCommand("set-up", "command", text) for text in ((*source.setup, *source.teardown) if source else ())]
    for each in family(log, run):
        state = state_of(log, each)
        if each == run or not state.is_over:
            called = decode_pinned_plans(log.get_blob(state.calls)).values() if state.calls else ()
            for plan in (plan_of(log, state.plan), *called):
                found += commands_of(plan, state.checks)
            found += [ListedCommand("scripted agent", "script", _text(log, state.script))] if state.script else []
    return tuple(dict.fromkeys(found))


def _text(log: Log, digest: str) -> str:
    return log.get_blob(digest).decode(errors="replace")


def _original(log: Log, state: RunState) -> str:
    """Return the id under which the snapshots of the run were stored where it comes from."""
    if state.forked_from is not None:
        return _original(log, state_of(log, state.forked_from[0]))
    stored = log.read(state.run, after=state.imported - 1, limit=1)[0]
    return str(json.loads(stored.payload).get("original") or state.run)


def _source(
    repositories: Repositories, origin: WorktreeOrigin | None, state: RunState, original: str
) -> TreeSource | None:
    """Return what the run's own worktree is created from; the repository is the one in which the person is."""
    described = state.pinned
    if origin is None and described is not None:
        message = f"{state.run} worked in a git repository, but the current folder is not in one"
        raise WorkspaceFault(message, next_step=f"go to a checkout of it, then: handrail release {state.run}")
    if origin is None:
        return None
    here = replace(origin.source, branch=origin.source.branch.replace("{run}", state.run))
    if described is None:
        return here
    root = Path(here.repository)
    _require_objects(repositories, root, described, original)
    base = described.base if repositories.branch_commit(root, described.base) else here.base
    return replace(here, base=base, commit=described.commit, changes=described.changes)


def _require_objects(repositories: Repositories, root: Path, described: TreeSource, original: str) -> None:
    if not described.commit:
        message = "the file does not say which commit the run's worktree was created from"
        raise WorkspaceFault(message, next_step="export the run again after its worktree has been created")
    named = {"the commit that it started from": described.commit, "the snapshot of its files": described.changes}
    wanted = [(what, commit) for what, commit in named.items() if commit]
    missing = [f"{what}, {commit[:12]}" for what, commit in wanted if not _has_commit(repositories, root, commit)]
    if missing:
        message = f"{root} lacks what the run continues from: {'; '.join(missing)}"
        step = f"fetch it from the original repository: git fetch REPOSITORY refs/handrail/{original}"
        raise WorkspaceFault(message, next_step=step)


def _has_commit(repositories: Repositories, root: Path, commit: str) -> bool:
    try:
        return repositories.commit_of(root, commit) == commit
    except WorkspaceFault:
        return False
