"""Everything before a run: find, compile, trust, bind the inputs, pin the project's checks."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from handrail.agents.script_format import read_script
from handrail.compiler.bounds import Bound, agent_calls
from handrail.errors import InvalidWorkflow, NotFound, Untrusted, UsageError
from handrail.model.actions import CallAction, Checks
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.plan import Plan
from handrail.operations.checking import check, valid
from handrail.operations.grounds import CONFIG, borrowed, ground_of
from handrail.operations.listing import workflow_names
from handrail.operations.outline import every_step
from handrail.operations.run_inputs import bind
from handrail.operations.runs import Request
from handrail.operations.targets import one
from handrail.operations.trusting import TrustQuestion, examine
from handrail.runtime.ports import Pinned, Workflows
from handrail.sources.opening import catalog_for
from handrail.sources.snapshot import take
from handrail.sources.tiers import Place, here
from handrail.sources.trust import TrustStore


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked to be run."""

    workflow: str
    task: str = ""
    inputs: tuple[str, ...] = ()
    folder: str | None = None
    by: str = ""
    agent: str = ""
    script: str | None = None
    base: str | None = None
    with_changes: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can be started, and what to say about it."""

    request: Request
    bound: Bound
    diagnostics: tuple[Diagnostic, ...]
    left_out: tuple[str, ...] = ()
    """Uncommitted files of the checkout, which are no part of the run."""


def prepare(place: Place, wanted: Wanted) -> Prepared:
    """Get a run ready; raises what a person can act on, and starts nothing."""
    pinned, bound, diagnostics = _pinned(place, wanted.workflow)
    inputs = bind(pinned.plan.inputs, wanted.inputs, wanted.task)
    called = tuple(_called(place, pinned.plan, {pinned.plan.name}))
    checks = project_checks(place, needed=any(map(_asks_for_checks, (pinned.plan, *called))))
    folder = _folder(place, wanted.folder)
    agent, script = _performer(place, wanted)
    ground = ground_of(place, wanted.folder, wanted.base)
    request = Request(
        pinned,
        str(folder),
        inputs,
        checks,
        wanted.task,
        wanted.by,
        None if ground is None else ground.source,
        agent,
        script,
        None if wanted.folder is None else borrowed(folder),
        () if ground is None else ground.pass_env,
    )
    if wanted.with_changes and ground is None:
        where = f"--in {wanted.folder} works on the folder as it is" if wanted.folder else "there is no repository here"
        raise UsageError(f"--with-changes has nothing to take along: {where}", next_step="leave it out")
    left_out = () if ground is None else ground.uncommitted
    return Prepared(request, bound, diagnostics, left_out)


def _performer(place: Place, wanted: Wanted) -> tuple[str, bytes]:
    """The agent that performs every step, and the script that it plays, read and checked."""
    if wanted.script is None:
        if wanted.agent == "scripted":
            raise UsageError("the scripted agent plays a script", next_step="--agent scripted --script FILE")
        return wanted.agent, b""
    path = (place.cwd or Path.cwd()) / wanted.script
    read_script(str(path))
    return wanted.agent or "scripted", path.read_bytes()


def pin(place: Place, words: str) -> Pinned:
    """Find, compile and check the trust of a workflow."""
    return _pinned(place, words)[0]


def workflows_seen_from(environ: Mapping[str, str], fallback: Place) -> Workflows:
    """Find the workflows that steps call: from the run's workspace, else from where the command was called."""

    def find(name: str, workspace: str) -> Pinned:
        try:
            return pin(here(Path(workspace), environ), name)
        except NotFound:
            return pin(fallback, name)

    return find


def project_checks(place: Place, *, needed: bool) -> dict[str, str]:
    """Give the checks of the repository's configuration; where they are needed they must be trusted."""
    if place.repository is None or not (place.repository / CONFIG).is_file():
        return {}
    report = Report()
    before = take(place.repository / CONFIG)
    config = place.config(report)
    checks = dict(config.checks) if config is not None else {}
    if not checks:
        return {}
    same = take(place.repository / CONFIG).fingerprint == before.fingerprint
    trust = TrustStore(place.folders).status_of(before)
    if same and trust.granted:
        return checks
    if not needed:
        return {}
    path = place.shown(place.repository / CONFIG)
    reason = trust.reason if same else "it changed while it was read"
    raise Untrusted(f"the checks in {path} need your trust: {reason}", next_step=f"handrail trust {shlex.quote(path)}")


def names_for(place: Place, words: str) -> UsageError:
    """Say what can be run where a person gave a task without a workflow."""
    names = [name for name in workflow_names(place) if "routine-" not in name]
    known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    message = f"'{words}' is no workflow; which one shall do it?" if words else "which workflow?"
    return UsageError(f"{message} Known here: {known or 'none'}", next_step='handrail run WORKFLOW "what to do"')


def _pinned(place: Place, words: str) -> tuple[Pinned, Bound, tuple[Diagnostic, ...]]:
    if not words or (len(words.split()) > 1 and not ((place.cwd or Path.cwd()) / words).exists()):
        raise names_for(place, words)
    catalog = catalog_for(place)
    checked = check(place, one(place, words), catalog)
    made = valid(place, checked)
    snapshot = checked.opened.snapshot
    trust = TrustStore(place.folders).status_of(snapshot) if snapshot is not None else None
    if trust is None or not trust.granted:
        path = place.shown(checked.found.main)
        why = trust.reason if trust is not None else "it could not be read"
        next_step = f"read it, then: handrail trust {shlex.quote(path)}"
        raise Untrusted(f"the workflow {path} needs your trust before it runs: {why}", next_step=next_step)
    return Pinned(made.plan, made.hash), agent_calls(made.plan, catalog), checked.diagnostics


def _called(place: Place, plan: Plan, seen: set[str]) -> Iterator[Plan]:
    """The workflows that it calls, theirs included; one that is not there is the step's own failure."""
    for _, step in every_step(plan.steps):
        name = step.action.workflow if isinstance(step.action, CallAction) else None
        if name is None or name in seen:
            continue
        seen.add(name)
        try:
            inner = pin(place, name).plan
        except (NotFound, InvalidWorkflow):
            continue
        yield inner
        yield from _called(place, inner, seen)


def _asks_for_checks(plan: Plan) -> bool:
    steps = (step.action for _, step in every_step(plan.steps))
    asked = (getattr(action, "checks", None) for action in steps)
    return any(isinstance(checks, Checks) and checks.project for checks in asked)


def _folder(place: Place, given: str | None) -> Path:
    base = place.cwd or Path.cwd()
    if given is None:
        return base
    folder = base / given
    if not folder.is_dir():
        raise UsageError(f"--in {given}: there is no such folder", next_step="name a folder that exists")
    return folder.resolve()


def missing_trust(place: Place, words: str) -> TrustQuestion | None:
    """Find the first content that a run of this workflow needs and that is not trusted."""
    asked = examine(place, words)
    if not asked.granted:
        return asked
    plan = valid(place, check(place, one(place, words), catalog_for(place))).plan
    for name in (step.action.workflow for _, step in every_step(plan.steps) if isinstance(step.action, CallAction)):
        asked = examine(place, name)
        if not asked.granted:
            return asked
    config = place.repository / CONFIG if place.repository is not None else None
    asked = examine(place, str(config)) if config is not None and config.is_file() else None
    return asked if asked is not None and not asked.granted else None
