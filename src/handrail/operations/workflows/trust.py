"""What a run reads and may execute of a repository, and the user's trust in it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

from handrail.errors import NotFound, UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import DynamicAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import Command
from handrail.operations.workflows.check import WorkflowClosure, check, reach
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.repository_config import CONFIG, read_configured
from handrail.ports.agent_definitions import AgentDefinition, LoadedDefinition
from handrail.ports.agents import AgentCatalog
from handrail.ports.repositories import WORKTREE_INCLUDE
from handrail.sources.config.agents_file import read_agents_file, read_user_agents
from handrail.sources.config.config import BINDINGS, RepositoryConfig
from handrail.sources.foreign_files import FileContent, Refusal, printable, read_content, real
from handrail.sources.open_workflow import UNTRUSTED, catalog_for
from handrail.sources.tiers import Location, Tier, WorkflowFile, discover
from handrail.sources.trust.store import State, TrustStore, can_hold_secrets
from handrail.sources.workflow_files import find_candidate

MAX_AGENT_FILES = 500
_DECIDES = "that decides what else runs"


@frozen
class FileToTrust:
    """A file that a run reads."""

    path: str
    size: int
    trusted: bool


@frozen
class PlannedCommand:
    """A command that may run, and what runs it: `fix-bug / test`, `set-up`, `check lint`."""

    place: str
    script: str


@frozen
class TrustQuestion:
    """Content to be trusted: what it is, its state, and how it differs from what was trusted."""

    name: str
    path: str
    digest: str
    state: State
    reason: str
    files: tuple[FileToTrust, ...]
    refused: tuple[tuple[str, str], ...]
    commands: tuple[PlannedCommand, ...]
    """The commands that will run once it is trusted, including those of what it uses and calls."""
    difference: str
    """The difference of only those files that are not trusted as they are."""
    contents: tuple[FileContent, ...]
    own: tuple[Path, ...] = ()
    """The files and folders that lose their trust when it is withdrawn."""
    problem: str = ""
    """Why it cannot be trusted whatever it holds: its main file cannot be used."""

    @property
    def is_granted(self) -> bool:
        """Whether it may already run."""
        return self.state in {"trusted", "repository"}


@frozen
class _TrustSubject:
    """What a question is about."""

    name: str
    main: Path
    contents: tuple[FileContent, ...]
    commands: tuple[PlannedCommand, ...]
    own: tuple[Path, ...]
    problem: str = ""


def examine(agents: AgentCatalog, place: Location, name_or_path: str) -> TrustQuestion:
    """Read everything that a run of a workflow reads, or a whole repository, once, and return its state."""
    return _question(place, _matter(agents, place, name_or_path))


def grant(place: Location, question: TrustQuestion) -> TrustQuestion:
    """Trust exactly the content that was examined, whatever the files hold by now."""
    store = TrustStore(place.folders)
    if question.problem:
        raise UsageError(f"{question.path} cannot be trusted: {question.problem}")
    store.trust(store.status_of(question.contents).missing)
    status = store.status_of(question.contents)
    files = tuple(replace(each, trusted=True) for each in question.files)
    return replace(question, state=status.state, reason=status.reason, difference="", files=files)


def forget(agents: AgentCatalog, place: Location, name_or_path: str) -> bool:
    """Withdraw trust in a workflow's own files, or in a whole repository; return whether there was any."""
    return TrustStore(place.folders).forget(_matter(agents, place, name_or_path).own)


def agent_files(agents: AgentCatalog, root: Path, described: Iterable[LoadedDefinition]) -> tuple[FileContent, ...]:
    """Read the files by which a repository configures agents: they are executable content too."""
    own = (each for each in described if isinstance(each, AgentDefinition))
    named = (name for each in (*agents.profiles, *own) for name in each.project_files)
    patterns = dict.fromkeys(f"{name}/*" if name.endswith("/**") else name for name in named)
    found = (path for pattern in patterns for path in root.glob(pattern) if path.is_file() or path.is_symlink())
    read = (read_content(path, root) for path in dict.fromkeys(islice(found, MAX_AGENT_FILES)))
    return tuple(each for each in read if each is not None)


def _matter(agents: AgentCatalog, place: Location, name_or_path: str) -> _TrustSubject:
    target = (place.cwd or Path.cwd()) / name_or_path
    root = place.repository
    if root is not None and target == root / CONFIG and target.is_file():
        return _configuration(place, root)
    if root is not None and _means_repository(name_or_path, target, root):
        return _repository(agents, place, root)
    return _workflow(agents, place, find_one_workflow(place, name_or_path))


def _means_repository(text: str, target: Path, root: Path) -> bool:
    """Return whether the whole repository is meant: its root, or a `.` in it that is not a workflow's folder."""
    if find_candidate(target) is not None:
        return False
    return real(target) == real(root) or text in (".", "./")


def _configuration(place: Location, root: Path) -> _TrustSubject:
    configured = read_configured(place)
    if configured is None:
        raise NotFound(f"there is no {CONFIG} here", next_step="handrail init")
    content = configured.content
    return _TrustSubject(
        CONFIG, root / CONFIG, (content,), tuple(_commands_of_config(configured.config)), (content.path,)
    )


def _workflow(agents: AgentCatalog, place: Location, found: WorkflowFile) -> _TrustSubject:
    if found.problem is not None:
        raise UsageError(f"'{found.name}' cannot be used: {found.problem}")
    catalog = catalog_for(place)
    reached = reach(place, check(place, found, catalog), catalog)
    around, configured = _read_repository_content(agents, place)
    # A file such as `.env` starts nothing on its own; `handrail trust .` covers it for the agents that read it.
    around = tuple(each for each in around if not can_hold_secrets(each.path))
    contents = tuple(dict.fromkeys((*reached.contents, *around)))
    commands = (*_commands_of_workflow(reached), *configured)
    snapshot = reached.opened[0].snapshot
    files = tuple(each.path for each in snapshot.contents) if snapshot is not None else ()
    own = (found.main.parent,) if found.folder else files
    problem = "" if snapshot is None else snapshot.refused.get(found.main.name, "")
    return _TrustSubject(found.name, found.main, contents, commands, own, problem)


def _repository(agents: AgentCatalog, place: Location, root: Path) -> _TrustSubject:
    """Collect everything of a repository that Handrail would read: every workflow, and what surrounds them."""
    catalog = catalog_for(place)
    every = [each for each in discover(place, Report()) if each.tier is Tier.REPOSITORY and each.problem is None]
    reached = [reach(place, check(place, each, catalog), catalog) for each in every]
    around, configured = _read_repository_content(agents, place)
    bindings = (read_content(root / name, root) for name in BINDINGS)
    own = (content for each in reached for content in each.contents if content.path.is_relative_to(real(root)))
    contents = dict.fromkeys((*own, *around, *(each for each in bindings if each is not None)))
    commands = dict.fromkeys((*(command for each in reached for command in _commands_of_workflow(each)), *configured))
    return _TrustSubject(root.name, root, tuple(contents), tuple(commands), (root,))


def _read_repository_content(
    agents: AgentCatalog, place: Location
) -> tuple[tuple[FileContent, ...], tuple[PlannedCommand, ...]]:
    """Collect what any run in a repository reads: its configuration, what is copied, the files of agents."""
    root = place.repository
    if root is None:
        return (), ()
    configured = read_configured(place)
    include = read_content(root / WORKTREE_INCLUDE, root)
    first = (*(() if configured is None else (configured.content,)), *(() if include is None else (include,)))
    commands = () if configured is None else tuple(_commands_of_config(configured.config))
    described = (
        *read_agents_file(agents.definitions, Report()),
        *read_user_agents(place.folders, Report()),
        *(() if configured is None else configured.config.agents),
    )
    return (*first, *agent_files(agents, root, described)), commands


def _question(place: Location, matter: _TrustSubject) -> TrustQuestion:
    store = TrustStore(place.folders)
    status = store.status_of(matter.contents)
    missing = set(status.missing)
    root = None if place.repository is None else real(place.repository)
    used = [each for each in matter.contents if not isinstance(each.data, Refusal)]
    refused = [
        (_display_path(each.path, root), str(each.data)) for each in matter.contents if isinstance(each.data, Refusal)
    ]
    lines = sorted(f"{_display_path(each.path, root)}\0{each.digest}\n" for each in matter.contents)
    return TrustQuestion(
        name=matter.name,
        path=place.display_path(matter.main),
        digest=sha256("".join(lines).encode("utf-8", "replace")).hexdigest(),
        state=status.state,
        reason=status.reason,
        files=tuple(
            FileToTrust(_display_path(each.path, root), len(each.data), each not in missing)
            for each in sorted(used, key=lambda each: each.path)
        ),
        refused=tuple(sorted(refused)),
        commands=matter.commands,
        difference=store.difference_of(status.missing, root),
        contents=matter.contents,
        own=matter.own,
        problem=matter.problem,
    )


def _display_path(path: Path, root: Path | None) -> str:
    return printable((path.relative_to(root) if root is not None and path.is_relative_to(root) else path).as_posix())


def _commands_of_workflow(reached: WorkflowClosure) -> Iterator[PlannedCommand]:
    for opened in reached.opened:
        if opened.note == UNTRUSTED:
            yield PlannedCommand(opened.found.name, f"{opened.found.main.name}, a program {_DECIDES}")
    for plan in reached.plans:
        yield from _commands_of_plan(plan)


def _commands_of_plan(plan: Plan) -> Iterator[PlannedCommand]:
    for address, step in walk_steps(plan.steps):
        place = f"{plan.name} / {address}"
        if isinstance(step.action, DynamicAction):
            yield PlannedCommand(place, f"{step.action.file}, a program {_DECIDES}")
        yield from (PlannedCommand(place, each.script) for each in parts(step, Command))


def _commands_of_config(config: RepositoryConfig) -> Iterator[PlannedCommand]:
    yield from (PlannedCommand("set-up", each) for each in config.worktrees.setup)
    yield from (PlannedCommand("tear-down", each) for each in config.worktrees.teardown)
    yield from (PlannedCommand(f"check {name}", command) for name, command in config.checks)
    for each in config.agents:
        words = each.command or (each.program,) if isinstance(each, AgentDefinition) else ()
        yield PlannedCommand(f"agent {each.name}", " ".join(words))
