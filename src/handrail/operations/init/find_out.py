"""Finds out about a repository, and what of it is not in its configuration yet."""

import re
import shutil
from dataclasses import replace
from pathlib import Path, PurePosixPath

from handrail.errors import InvalidWorkflow, UsageError, WorkspaceFault
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.workflow.settings import Project as Fixed
from handrail.operations.init.config_text import Settings, is_put_aside
from handrail.operations.runs.worktree_source import read_include_patterns
from handrail.operations.workflows.repository_config import CONFIG
from handrail.operations.workflows.trust import FileToTrust, TrustQuestion, examine
from handrail.ports.machine import Machine
from handrail.ports.repositories import Head, Repositories
from handrail.sources.config.config import RepositoryConfig, Worktrees, config_in
from handrail.sources.config.toml_file import parse_toml
from handrail.sources.foreign_files import NOT_THERE, Refusal, decode, is_inside, read_content, real
from handrail.sources.projects.detect import Project, detect
from handrail.sources.tiers import Location
from handrail.sources.trust.store import TrustStore, can_hold_secrets

SECRETS = (".env", ".env.*", ".envrc", ".dev.vars", "local.settings.json")
"""Ignored files that a project usually needs to run."""
BUILT = frozenset(("node_modules", ".venv", "venv", "target", "vendor", "dist", "build", ".tox", ".git", "__pycache__"))
PACKAGES = ("node_modules", "vendor")
"""Folders of packages that also work in another place, unlike a virtual environment of Python."""
WORKFLOW = "fix-bug"


@frozen
class ProjectSurvey:
    """Everything that was found; finding it changed nothing."""

    root: Path
    branch: str
    """The default branch."""
    head: Head
    uncommitted: tuple[str, ...]
    agents: tuple[str, ...]
    """The agents on PATH, as the configuration names them."""
    known: tuple[str, ...]
    """Every agent that comes with Handrail."""
    project: Project
    copy: tuple[str, ...]
    included: tuple[str, ...]
    """Patterns of further files to copy, from a trusted `.worktreeinclude`."""
    config: RepositoryConfig
    """What is already configured."""
    text: str | None = None
    """The configuration's text; None if there is no such file."""
    distrust: str = ""
    """Why the present configuration may not be used."""
    workflow: bool = False
    """Whether a workflow of that name already exists."""
    present: TrustQuestion | None = None
    """What was already there, would be read by a run, and is not trusted."""
    installed: tuple[str, ...] = ()
    """Ignored folders of the checkout that a package manager filled."""

    @property
    def files_to_trust(self) -> tuple[FileToTrust, ...]:
        """The untrusted files that were already there, except those that may hold secrets.

        People have an `.env` in their own repository, and it is copied only if that is requested.
        """
        files = () if self.present is None else self.present.files
        return tuple(each for each in files if not each.trusted and not can_hold_secrets(Path(each.path)))

    @property
    def head_name(self) -> str:
        """The branch or commit from which a run would start."""
        return self.head.branch or self.head.commit[:12]

    @property
    def pass_env(self) -> tuple[str, ...]:
        """Variables that a trusted configuration passes on."""
        return () if self.distrust else self.config.pass_env


def survey(machine: Machine, place: Location) -> ProjectSurvey:
    """Examine the repository in which a command was called."""
    repositories = machine.repositories
    root = _root(repositories, place)
    head = _head(repositories, root)
    config, text, distrust = _present(replace(place, repository=root), root)
    question = examine(machine.agents, place, str(place.repository)) if place.repository is not None else None
    folder = root / ".handrail" / "workflows"
    return ProjectSurvey(
        root=root,
        branch=repositories.default_branch(root),
        head=head,
        uncommitted=repositories.list_uncommitted(root),
        agents=tuple(each.default for each in machine.agents.profiles if shutil.which(each.program)),
        known=tuple(each.name for each in machine.agents.profiles),
        project=detect(root, repositories.filter_ignored_folders(root, [".venv"])),
        copy=_copies(repositories, root),
        included=read_include_patterns(place, root)[0],
        config=config,
        text=text,
        distrust=distrust,
        workflow=any(
            (folder / f"{WORKFLOW}{end}").is_symlink() or (folder / f"{WORKFLOW}{end}").exists() for end in _ENDS
        ),
        present=None if question is None or question.is_granted else question,
        installed=tuple(name for name in repositories.filter_ignored_folders(root, PACKAGES) if (root / name).is_dir()),
    )


def find_new_settings(found: ProjectSurvey) -> Settings:
    """Return what was found and is not in the configuration yet, except what a person commented out."""
    text, config = found.text or "", found.config
    taken = {command for _, command in config.checks} | {name for name, _ in config.checks}
    checks = tuple(
        (check.name, check.command)
        for check in found.project.checks
        if not {check.name, check.command} & taken and not is_put_aside(text, check.name)
    )
    trees = config.worktrees
    return Settings(
        agent=found.agents[0] if found.agents and not config.agent and not is_put_aside(text, "default") else "",
        checks=checks,
        setup=() if trees.setup or is_put_aside(text, "setup") else found.project.setup,
        copy=() if trees.copy or is_put_aside(text, "copy") else found.copy,
        project=_find_new_project_settings(found),
    )


def _find_new_project_settings(found: ProjectSurvey) -> Fixed:
    """Return what was found about the project and is not configured yet."""
    text, have, seen = found.text or "", found.config.project, found.project
    known = any(each.name == "test_one" for each in have.file_checks) or is_put_aside(text, "command")
    return Fixed(
        () if have.sources or is_put_aside(text, "sources") else seen.sources,
        "" if have.default_branch or is_put_aside(text, "default_branch") else found.branch,
        "" if have.outdated or is_put_aside(text, "outdated") else seen.outdated,
        "" if have.update or is_put_aside(text, "update") else seen.update,
        () if known or seen.one is None else (seen.one,),
    )


def merge_settings(found: ProjectSurvey, fresh: Settings) -> Settings:
    """Return the settings that would hold after writing; of an untrusted configuration only what is new."""
    config = found.config if not found.distrust else RepositoryConfig(found.root)
    trees: Worktrees = config.worktrees
    return Settings(
        agent=config.agent or fresh.agent,
        checks=(*config.checks, *fresh.checks),
        setup=trees.setup or fresh.setup,
        copy=trees.copy or fresh.copy,
        project=_merge_project_settings(config.project, fresh.project),
    )


def _merge_project_settings(present: Fixed, fresh: Fixed) -> Fixed:
    return Fixed(
        present.sources or fresh.sources,
        present.default_branch or fresh.default_branch,
        present.outdated or fresh.outdated,
        present.update or fresh.update,
        (*present.file_checks, *fresh.file_checks),
    )


def _root(repositories: Repositories, place: Location) -> Path:
    root = repositories.find_root(place.cwd or Path.cwd())
    if not repositories.is_repository(root):
        raise WorkspaceFault(f"{root} is not a git repository", next_step="run `git init` there, and commit")
    if root.is_relative_to(real(place.folders.data)):
        message = f"{root} is the worktree of a run, and is removed with it"
        raise UsageError(message, next_step="go to your own checkout of the repository")
    if place.repository is not None and real(place.repository) != root:
        message = f"{place.repository} has its own .handrail folder inside the repository {root}"
        raise UsageError(message, next_step="remove that folder, or move it to the root of the repository")
    if not is_inside(root / CONFIG, root):
        message = f"{CONFIG} leads outside the repository"
        raise UsageError(message, next_step="replace the link with a real folder and file")
    return root


def _head(repositories: Repositories, root: Path) -> Head:
    try:
        return repositories.head(root)
    except WorkspaceFault as error:
        # Any other fault has its own next step.
        if "no commit" not in error.message:
            raise
        step = 'git add -A && git commit --allow-empty -m "Start", then: handrail init'
        raise WorkspaceFault(error.message, next_step=step) from error


def _present(place: Location, root: Path) -> tuple[RepositoryConfig, str | None, str]:
    """Read the present configuration, its text, and why it may not be used."""
    path = root / CONFIG
    if not path.exists() and not path.is_symlink():
        return RepositoryConfig(root), None, ""
    report = Report()
    content = read_content(path, root)
    data = Refusal(NOT_THERE) if content is None else content.data
    text = data if isinstance(data, Refusal) else decode(data)
    config = config_in(parse_toml(data, place.display_path(path), report), root, report)
    if content is None or any(each.is_error for each in report) or isinstance(text, Refusal):
        message = f"{place.display_path(path)} already exists but cannot be used"
        raise InvalidWorkflow(message, tuple(report), next_step="fix it, then: handrail init")
    trust = TrustStore(place.folders).status_of([content])
    return config, text, "" if trust.is_granted else trust.reason


def _copies(repositories: Repositories, root: Path) -> tuple[str, ...]:
    """List the ignored files that a fresh copy lacks, by name; those of `.worktreeinclude` are copied anyway."""
    found = [PurePosixPath(path) for path in repositories.list_ignored_files(root, SECRETS)]
    own = [path.name for path in found if not BUILT & set(path.parts) and any(map(path.match, SECRETS))]
    # Names go into a file that git reads as patterns: only those that mean themselves.
    return tuple(sorted({name for name in own if re.fullmatch(r"[\w.-]+", name, re.ASCII)}))


_ENDS = ("", ".yaml", ".yml", ".json", ".py")
