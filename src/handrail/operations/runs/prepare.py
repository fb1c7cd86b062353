"""Everything before a run: find and compile the workflow, check trust, bind the inputs, pin the project's checks."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from handrail.compiler.bounds import Bound, count_agent_calls
from handrail.compiler.catalog import Catalog
from handrail.engine.prompts.choose_agent import AgentContext
from handrail.errors import NotConfigured, NotFound, Untrusted, UsageError
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.history.events import Admission
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import Checks, CreateIssuesAction, PullRequestAction, describe_preparation
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.proofs import CheckProof
from handrail.model.workflow.settings import NO_PROJECT, Project
from handrail.model.workflow.values import Expression, JsonValue, Prompt
from handrail.operations.agents.configured_agents import ConfiguredAgents, override_of, policy_of
from handrail.operations.agents.require_agents import require_agents, require_wrappings
from handrail.operations.runs.lifecycle import Request
from handrail.operations.runs.secrets import SecretChecker
from handrail.operations.runs.worktree_source import find_checkout, ground_of
from handrail.operations.workflows.check import CheckedWorkflow, WorkflowClosure, check, reach, require_valid
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.inputs import bind
from handrail.operations.workflows.repository_config import CONFIG, RepositorySettings, read_configured
from handrail.ports.agents import CASSETTE, SCRIPTED, AgentCatalog
from handrail.ports.machine import Machine
from handrail.runtime.ports import PinnedWorkflow, Workflows
from handrail.sources.config.config import read_user_config
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location, here
from handrail.sources.trust.store import TrustStore

if TYPE_CHECKING:
    from handrail.operations.runs import issue_tracker, project_settings, references, start_values
    from handrail.operations.workflows import list as workflow_list
    from handrail.operations.workflows import notify_channels, trust
else:
    notify_channels = late_import("handrail.operations.workflows.notify_channels")
    issue_tracker = late_import("handrail.operations.runs.issue_tracker")
    references = late_import("handrail.operations.runs.references")
    project_settings = late_import("handrail.operations.runs.project_settings")
    start_values = late_import("handrail.operations.runs.start_values")
    workflow_list = late_import("handrail.operations.workflows.list")
    trust = late_import("handrail.operations.workflows.trust")

_NO_WORKTREE = "a run in a repository gets its own worktree; here it would change your files in place"
_NAME_THE_FOLDER = "start in a repository (git init, and a first commit), or work on this folder in place: --in ."

LookUp: TypeAlias = Callable[[Location, str], tuple[CheckedWorkflow, Catalog]]
"""Returns a workflow by name or path with the result of compiling it, and the catalog that it may use."""


@frozen
class RunOptions:
    """What a person asked to be run."""

    workflow: str
    task: str = ""
    inputs: tuple[str, ...] = ()
    folder: str | None = None
    by: str = ""
    agent: str = ""
    model: str = ""
    script: str | None = None
    base: str | None = None
    with_changes: bool = False
    tmux: bool = False
    """Whether a person wants to watch its agents in tmux."""
    strict: bool = False
    """Whether a call of a cassette fails if its prompt differs from the recorded one."""
    connected: bool = False
    """Whether a connected agent performs the plain agent steps."""
    issue: dict[str, JsonValue] | None = None
    """The record of the issue that it works on."""


@frozen
class PreparedRun:
    """A run that can be started, and what to say about it."""

    request: Request
    bound: Bound
    diagnostics: tuple[Diagnostic, ...]
    left_out: tuple[str, ...] = ()
    """Uncommitted files of the checkout, which are not part of the run."""
    notices: tuple[str, ...] = ()
    """What of the repository is not used, and why."""
    pull_requests: tuple[str, ...] = ()
    """The steps that open pull requests."""


def look_up_workflow(place: Location, words: str) -> tuple[CheckedWorkflow, Catalog]:
    """Find and compile a workflow; return it with the catalog that it may use."""
    catalog = catalog_for(place)
    return check(place, find_one_workflow(place, words), catalog), catalog


def prepare(machine: Machine, place: Location, wanted: RunOptions, look_up: LookUp = look_up_workflow) -> PreparedRun:
    """Prepare a run; raises errors that a person can act on, and starts nothing."""
    pinned, bound, diagnostics = _pin_with_bound(place, wanted.workflow, look_up)
    secrecy = SecretChecker(machine.redactor())
    inputs = secrecy.inputs(bind(pinned.plan.inputs, wanted.inputs, wanted.task, wanted.issue))
    called = tuple(each.plan for each in pinned.calls.values())
    for plan in (pinned.plan, *called):
        secrecy.require_none_in(plan)
    if any(step.escalate_to for plan in (pinned.plan, *called) for _, step in walk_steps(plan.steps)):
        notify_channels.require_channels(place, (pinned.plan, *called))
    configured = read_configured(place)
    checks = project_checks(configured, needed=any(map(_needs_checks, (pinned.plan, *called))))
    project = _project(machine, place, configured, (pinned.plan, *called))
    folder = _folder(place, wanted.folder)
    repositories, catalog = machine.repositories, machine.agents
    origin = ground_of(repositories, place, configured, wanted.base) if wanted.folder is None else None
    if origin is None and wanted.folder is None and not wanted.connected:
        raise UsageError(f"{folder} is not in a git repository: {_NO_WORKTREE}", next_step=_NAME_THE_FOLDER)
    known = ConfiguredAgents(catalog, place.folders, place.repository)
    said = wanted.agent or ("" if wanted.script is None else SCRIPTED)
    # If one agent performs every step, nobody needs to know which ones are installed.
    script, policy = _script(place, wanted, catalog), policy_of(configured, () if said else known.list_installed())
    agent = override_of(said, wanted.model, catalog.names)
    pulled = pinned.plan if wanted.connected else None
    agents = require_agents((pinned.plan, *called), AgentContext(agent, policy, inputs, wanted.task), known, pulled)
    require_wrappings(machine, (pinned.plan, *called), policy, tmux=wanted.tmux)
    if wanted.script is None and (agent == SCRIPTED or SCRIPTED in agents):
        raise UsageError("the scripted agent plays a script", next_step="--agent scripted --script FILE")
    request = Request(
        pinned,
        str(folder),
        inputs,
        checks,
        secrecy.task(wanted.task),
        wanted.by,
        None if origin is None else origin.source,
        agent,
        secrecy.script(script),
        None if wanted.folder is None else find_checkout(repositories, folder),
        () if origin is None else origin.pass_env,
        policy,
        project=project,
        admission=limits_here(machine, place, configured, (pinned.plan, *called)),
    )
    request = _add_start_values(machine, place, configured, request, called)
    if wanted.with_changes and origin is None:
        where = f"--in {wanted.folder} works on the folder in place"
        raise UsageError(f"--with-changes has no effect: {where}", next_step="omit it")
    refused = ("[notify] in .handrail/config.toml is not used: it has an effect only in your own config.toml",)
    repository_notes = () if configured is None or not configured.config.has_notify else refused
    prepares = (
        *repository_notes,
        *_preparations(
            (pinned.plan, *called), lambda: issue_tracker.describe_tracker(machine.repositories, place, configured)
        ),
    )
    if pinned.plan.guided is not None and pinned.plan.guided.references:
        found = references.look_for(pinned.plan, place)
        request = replace(request, references=found)
        prepares = (*prepares, *references.warn_of_missing(pinned.plan, found))
    opening = tuple(_opening_steps((pinned.plan, *called)))
    if origin is None:
        return PreparedRun(request, bound, diagnostics, notices=prepares, pull_requests=opening)
    return PreparedRun(request, bound, diagnostics, origin.uncommitted, (*origin.notices, *prepares), opening)


def limits_here(
    machine: Machine, place: Location, configured: RepositorySettings | None, plans: tuple[Plan, ...]
) -> Admission | None:
    """Return how many runs may run at once, and in which repository keys count; None if nothing limits the run."""
    own = read_user_config(place.folders, Report()).max_instances
    theirs = None if configured is None else configured.config.max_instances
    if own is None and theirs is None and all(plan.concurrency is None for plan in plans):
        return None
    root = place.repository or place.cwd or Path.cwd()
    shared = Path(machine.repositories.observe(root).get("repository") or root)
    # All worktrees of a repository are one scope, which is named after its main checkout.
    scope = str(shared.parent if shared.name == ".git" else shared)
    limits = [*([("", own)] if own is not None else []), *([(scope, theirs)] if theirs is not None else [])]
    return Admission(scope, places=tuple(limits))


def _add_start_values(
    machine: Machine, place: Location, configured: RepositorySettings | None, request: Request, called: tuple[Plan, ...]
) -> Request:
    """Return a request with the environment variables that its workflows read, and the configured spending limits."""
    if any(map(_needs_environment, plans := (request.pinned.plan, *called))):
        start_values.require_issue(plans, request.task)
        request = start_values.add_environment(request, plans, configured, machine.environment, machine.redactor())
    usual = read_user_config(place.folders, Report()).budget
    own = None if configured is None else configured.config.budget
    if own is not None and configured is not None and configured.distrust:
        own = replace(own, at_limit=None, unknown_price=None)
    return request if usual is None and own is None else start_values.add_budget(request, (usual, own))


def _needs_environment(plan: Plan) -> bool:
    """Return whether a plan may read environment variables or an issue, without working out which."""
    steps = [step for _, step in walk_steps(plan.steps)]
    texts = [each.source for step in steps for each in parts(step, Expression)]
    texts += [each.text for step in steps for each in parts(step, Prompt) if "{" in each.text]
    names = {"env", "issue."} - {f"{each.name}." for each in plan.inputs}
    return any(name in text for name in names for text in texts)


def _opening_steps(plans: Iterable[Plan]) -> Iterator[str]:
    """List the steps that open pull requests."""
    for plan in plans:
        yield from (name for name, step in walk_steps(plan.steps) if isinstance(step.action, PullRequestAction))


def _preparations(plans: Iterable[Plan], where: Callable[[], str]) -> Iterator[str]:
    """List what the run will leave to a person, and where it creates issues."""
    for plan in plans:
        for address, step in walk_steps(plan.steps):
            said = describe_preparation(step.action)
            if isinstance(step.action, CreateIssuesAction):
                yield f"step '{address}' {said} {where()}"
            elif said is not None:
                yield f"step '{address}' {said}"
            if isinstance(step.action, PullRequestAction) and step.action.follow is not None:
                yield f"step '{address}' opens the pull request and does not follow it: the run ends when it is open"


def _script(place: Location, wanted: RunOptions, catalog: AgentCatalog) -> bytes:
    """Read and check what the scripted agent or a cassette plays."""
    recorded = wanted.agent == CASSETTE
    if wanted.script is None:
        if recorded:
            raise UsageError("the cassette agent plays a cassette", next_step="--agent cassette --script FILE")
        return b""
    path = (place.cwd or Path.cwd()) / wanted.script
    return catalog.read_played(CASSETTE if recorded else SCRIPTED, str(path), strict=wanted.strict)


def pin(place: Location, words: str, look_up: LookUp = look_up_workflow) -> PinnedWorkflow:
    """Find and compile a workflow, and check that it is trusted."""
    return _pin_with_bound(place, words, look_up)[0]


def workflows_seen_from(environ: Mapping[str, str], fallback: Location) -> Workflows:
    """Return a function that finds the workflows that steps call: from the run's workspace, or else from `fallback`."""

    def find(name: str, workspace: str) -> PinnedWorkflow:
        try:
            return pin(here(Path(workspace), environ), name)
        except NotFound:
            return pin(fallback, name)

    return find


def project_checks(configured: RepositorySettings | None, *, needed: bool) -> dict[str, str]:
    """Return the checks of the repository's configuration; if they are needed, they must exist and be trusted."""
    if configured is None or not configured.config.checks:
        if needed:
            message = f"this workflow runs the project's checks, but {CONFIG} has none; nothing was started"
            hint = f"handrail init finds them for most projects; or write into {CONFIG}:"
            raise NotConfigured(message, ("[checks]", 'test = "COMMAND"'), next_step=hint)
        return {}
    if needed:
        configured.require("the checks")
    return {} if configured.distrust else dict(configured.config.checks)


def _project(
    machine: Machine, place: Location, configured: RepositorySettings | None, plans: tuple[Plan, ...]
) -> Project:
    """Return the project settings of the repository's configuration; what some plan needs must be there."""
    if any(map(_needs_project, plans)):
        root = place.repository or place.cwd or Path.cwd()
        needs = project_settings.needs_of(plans)
        return project_settings.project_for(needs, configured, lambda: machine.repositories.default_branch(root))
    return NO_PROJECT if configured is None or configured.distrust else configured.config.project


def _needs_project(plan: Plan) -> bool:
    """Return whether a plan may need the project's settings, without working out which."""
    steps = [step for _, step in walk_steps(plan.steps)]
    named = any(each.default_from for each in plan.inputs) or any(
        getattr(step.action, "project", None) for step in steps
    )
    texts = (each.source for step in steps for each in parts(step, Expression))
    prompts = (each.text for step in steps for each in parts(step, Prompt))
    proofs = any(True for step in steps for _ in parts(step.done_when, CheckProof))
    told = any("project.sources" in text or "project.default_branch" in text for text in prompts)
    return named or proofs or told or any("project" in text for text in texts)


def make_unknown_workflow_error(place: Location, words: str) -> UsageError:
    """Build the error for a task without a workflow, with what can be run."""
    names = [name for name in workflow_list.workflow_names(place) if "routine-" not in name]
    known = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    message = f"'{words}' is not a workflow; which one should do it?" if words else "which workflow?"
    likely = "fix-bug" if "fix-bug" in names else names[0] if names else "WORKFLOW"
    line = f"handrail run {likely} {shlex.quote(words or 'what to do')}"
    return UsageError(f"{message} Known here: {known or 'none'}", next_step=f"for example: {line}")


def _pin_with_bound(
    place: Location, words: str, look_up: LookUp
) -> tuple[PinnedWorkflow, Bound, tuple[Diagnostic, ...]]:
    if not words or (len(words.split()) > 1 and not ((place.cwd or Path.cwd()) / words).exists()):
        raise make_unknown_workflow_error(place, words)
    checked, catalog = look_up(place, words)
    made, reached = require_valid(place, checked), reach(place, checked, catalog)
    _require_trust(place, reached)
    calls = {
        name: PinnedWorkflow(each.plan, each.hash) for name, each in reached.calls.items() if each.plan and each.hash
    }
    return PinnedWorkflow(made.plan, made.hash, calls=calls), count_agent_calls(made.plan, catalog), checked.diagnostics


def _require_trust(place: Location, reached: WorkflowClosure) -> None:
    """Refuse a workflow as long as one of the files from which it is made is not trusted as it was read."""
    trust = TrustStore(place.folders).status_of(reached.contents)
    if trust.is_granted and reached.checked.opened.snapshot is not None:
        return
    path = place.display_path(reached.checked.found.main)
    own = {each.path for each in reached.opened[0].snapshot.contents} if reached.opened[0].snapshot else set[Path]()
    others = sorted(place.display_path(each.path) for each in trust.missing if each.path not in own)
    why = trust.reason if len(others) < len(trust.missing) else f"of what it uses, {', '.join(others)} is not trusted"
    next_step = f"read it, then: handrail trust {shlex.quote(path)}"
    raise Untrusted(f"the workflow {path} needs your trust before it runs: {why}", next_step=next_step)


def _needs_checks(plan: Plan) -> bool:
    steps = (step.action for _, step in walk_steps(plan.steps))
    asked = (getattr(action, "checks", None) for action in steps)
    return any(isinstance(checks, Checks) and checks.project for checks in asked)


def _folder(place: Location, given: str | None) -> Path:
    base = place.cwd or Path.cwd()
    if given is None:
        return base
    folder = base / given
    if not folder.is_dir():
        raise UsageError(f"--in {given}: the folder does not exist", next_step="name a folder that exists")
    return folder.resolve()


def find_missing_trust(machine: Machine, place: Location, words: str) -> "trust.TrustQuestion | None":
    """Return what a run of this workflow reads from the repository, if any of it is not trusted."""
    asked = trust.examine(machine.agents, place, words)
    return None if asked.is_granted else asked
