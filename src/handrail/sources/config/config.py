"""The settings: a repository's `.handrail/config.toml` and the user's `config.toml`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import NO_PROJECT, NO_PULL, Budget, Limits, Project, PullSetting, Sandbox
from handrail.ports.agent_definitions import LoadedDefinition
from handrail.sources.config.toml_file import TomlFile, read_toml
from handrail.sources.folders import Folders
from handrail.sources.foreign_files import is_contained, is_inside

if TYPE_CHECKING:
    from handrail.sources.config import agents_file, budget, project_file, pull
else:
    budget = late_import("handrail.sources.config.budget")
    agents_file = late_import("handrail.sources.config.agents_file")
    project_file = late_import("handrail.sources.config.project_file")
    pull = late_import("handrail.sources.config.pull")

REPOSITORY_TABLES = (
    "workflows",
    "project",
    "checks",
    "agent",
    "agents",
    "worktrees",
    "budget",
    "pull",
    "cleanup",
    "resources",
    "issues",
)
USER_TABLES = ("trust", "notify", "github", *REPOSITORY_TABLES)
BINDINGS = (".handrail/bindings.json", ".workrail/bindings.json")
KNOWN = ("kind", "network")
KEYS = {
    "workflows": ("folders",),
    "agent": ("default", "pass_env", "fallback", "limits", "idle_timeout", "sandbox"),
    "worktrees": ("setup", "teardown", "copy", "timeout", "teardown_timeout", "branch", "base"),
    "cleanup": ("keep_snapshots", "keep_blame"),
    "resources": ("max_concurrent_instances",),
    "trust": ("repositories",),
}
"""The keys of the tables that are read here."""
CONFIG = ".handrail/config.toml"
KEEP_SNAPSHOTS = 30
"""Default number of days for which `clean` keeps what was put aside of a run whose work has arrived."""
KEEP_BLAME = 365
"""Default number of days for which `clean` keeps the snapshots of its steps, which `blame` reads."""
_FOR_EVER = 36_500


@frozen
class Worktrees:
    """How worktrees are made."""

    setup: tuple[str, ...] = ()
    """Commands that prepare a new one."""
    teardown: tuple[str, ...] = ()
    """Commands that run in one before it is removed."""
    copy: tuple[str, ...] = ()
    """Ignored files that a new one gets, such as `.env`."""
    timeout: int = 600
    """Timeout for all set-up commands together, in seconds."""
    teardown_timeout: int = 120
    """Timeout for all tear-down commands together, in seconds."""
    branch: str = ""
    """Name of a run's branch, which contains `{run}`."""
    base: str = ""


@frozen
class RepositoryConfig:
    """What a repository configures; nothing in it can grant trust."""

    root: Path
    workflow_folders: tuple[Path, ...] = ()
    """Additional folders of workflows, all inside the repository."""
    checks: tuple[tuple[str, str], ...] = ()
    """Name and command of each project check, in the order written."""
    bindings: Path | None = None
    worktrees: Worktrees = Worktrees()
    agent: str = ""
    """The agent for steps that name none."""
    pass_env: tuple[str, ...] = ()
    """Variables that everything run in a worktree sees, in addition to the usual ones."""
    fallback: tuple[str, ...] = ()
    """The agents to use when one is missing or stays overloaded."""
    limits: Limits = "shared"
    """What a run does at a usage limit."""
    agents: tuple[LoadedDefinition, ...] = ()
    """Agents that it describes by data, each as `[agents.NAME]`."""
    idle_timeout: int = 0
    """Seconds for which an agent may print nothing; 0 means the default."""
    sandbox: tuple[Sandbox, bool] = ("none", True)
    """The sandbox of agents whose steps name none, and whether they have network access in it."""
    pull: PullSetting = NO_PULL
    keep_snapshots: int | None = None
    """Days for which `clean` keeps what was put aside of a run whose work has arrived."""
    keep_blame: int | None = None
    """Days for which `clean` keeps the snapshots of its steps."""
    project: Project = NO_PROJECT
    max_instances: int | None = None
    """How many runs of the repository may run at once."""
    has_notify: bool = False
    """Whether it says whom to notify, which only the user may do."""
    budget: Budget | None = None
    """What any run in it may spend."""


@frozen
class UserConfig:
    """What the user configures for all repositories."""

    trusted_repositories: tuple[Path, ...] = ()
    pull: PullSetting = NO_PULL
    keep_snapshots: int | None = None
    keep_blame: int | None = None
    max_instances: int | None = None
    """How many runs may run at once, in all repositories together."""
    budget: Budget | None = None


def read_repository_config(root: Path, report: Report, shown: str | None = None) -> RepositoryConfig:
    """Read `.handrail/config.toml`; every problem is reported and the valid rest is used."""
    return config_in(read_toml(root / CONFIG, root, report, shown), root, report)


def config_in(file: TomlFile, root: Path, report: Report) -> RepositoryConfig:
    """Interpret a configuration that was read."""
    _check_tables(file, REPOSITORY_TABLES, report)
    folders = _workflow_folders(file, root, report)
    agent = file.table("agent", report)
    _check_keys(file, "agent", agent, report)
    return RepositoryConfig(
        root,
        folders,
        _checks(file, report),
        bindings_in(root),
        _worktrees(file, report),
        _text(file, "agent", "default", agent, report),
        tuple(_texts(file, "agent", "pass_env", agent, report)),
        tuple(_texts(file, "agent", "fallback", agent, report)),
        _limits(file, agent, report),
        agents_file.definitions_in(file, report) if "agents" in file.tables else (),
        _seconds(file, ("agent", "idle_timeout"), agent, 600, report) if "idle_timeout" in agent else 0,
        read_sandbox(file, agent, report),
        pull.read_pull(file, report) if "pull" in file.tables else NO_PULL,
        _days(file, "keep_snapshots", KEEP_SNAPSHOTS, report),
        _days(file, "keep_blame", KEEP_BLAME, report),
        project_file.read_project(file, report) if _has_project(file) else NO_PROJECT,
        _max_instances(file, report),
        "notify" in file.tables,
        budget.read_budget(file, report) if "budget" in file.tables else None,
    )


def _has_project(file: TomlFile) -> bool:
    checks = file.tables.get("checks")
    nested = cast("dict[str, object]", checks).values() if isinstance(checks, dict) else ()
    return "project" in file.tables or any(isinstance(each, dict) for each in nested)


def _days(file: TomlFile, key: str, usual: int, report: Report) -> int | None:
    """Read how many days `clean` keeps something."""
    table = file.table("cleanup", report)
    if key == KEYS["cleanup"][0]:
        _check_keys(file, "cleanup", table, report)
    value = table.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return None if value is None else min(value, _FOR_EVER)
    report.error("config-value", f"'{key}' must be a number of days", file.place("cleanup", key), f"{key} = {usual}")
    # A value that cannot be understood removes nothing.
    return _FOR_EVER


def _max_instances(file: TomlFile, report: Report) -> int | None:
    table = file.table("resources", report)
    _check_keys(file, "resources", table, report)
    value = table.get("max_concurrent_instances")
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    message = "'max_concurrent_instances' must be a number of runs, at least 1"
    place = file.place("resources", "max_concurrent_instances")
    report.error("config-value", message, place, "max_concurrent_instances = 3")
    # A value that cannot be understood means the lowest limit.
    return 1


def _limits(file: TomlFile, table: dict[str, Any], report: Report) -> Limits:
    said = _text(file, "agent", "limits", table, report) or "shared"
    if said not in get_args(Limits):
        hint = 'write limits = "shared" (wait with the other runs), "own" (wait alone) or "ask" (a person is asked)'
        message = f"'limits' must be one of {', '.join(get_args(Limits))}{did_you_mean(said, get_args(Limits))}"
        report.error("config-value", message, file.place("agent", "limits"), hint)
        return "shared"
    return cast("Limits", said)


def _worktrees(file: TomlFile, report: Report) -> Worktrees:
    table = file.table("worktrees", report)
    _check_keys(file, "worktrees", table, report)
    for name in ("setup", "teardown", "copy"):
        if isinstance(table.get(name), str):
            table = {**table, name: [table[name]]}
    branch = _text(file, "worktrees", "branch", table, report)
    if branch and "{run}" not in branch:
        hint = 'write branch = "work/{run}"'
        report.error("config-value", "'branch' must contain {run}", file.place("worktrees", "branch"), hint)
        branch = ""
    return Worktrees(
        tuple(_texts(file, "worktrees", "setup", table, report)),
        tuple(_texts(file, "worktrees", "teardown", table, report)),
        tuple(_texts(file, "worktrees", "copy", table, report)),
        _seconds(file, ("worktrees", "timeout"), table, 600, report),
        _seconds(file, ("worktrees", "teardown_timeout"), table, 120, report),
        branch,
        _text(file, "worktrees", "base", table, report),
    )


def _seconds(file: TomlFile, place: tuple[str, str], table: dict[str, Any], usual: int, report: Report) -> int:
    key = place[1]
    value = table.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        report.error("config-value", f"'{key}' must be a number of seconds", file.place(*place), f"{key} = {usual}")
        return usual
    return value


def _text(file: TomlFile, name: str, key: str, table: dict[str, Any], report: Report) -> str:
    value = table.get(key, "")
    if isinstance(value, str):
        return value
    report.error("config-value", f"'{key}' must be a text", file.place(name, key), f'write {key} = "..."')
    return ""


def read_user_config(folders: Folders, report: Report) -> UserConfig:
    """Read the user's `config.toml`."""
    path = folders.config / "config.toml"
    file = read_toml(path, Path(path.anchor), report)
    _check_tables(file, USER_TABLES, report)
    table = file.table("trust", report)
    _check_keys(file, "trust", table, report)
    listed = _texts(file, "trust", "repositories", table, report)
    trusted = tuple(path for text in listed if (path := _absolute(file, text, report)) is not None)
    return UserConfig(
        trusted,
        pull.read_pull(file, report) if "pull" in file.tables else NO_PULL,
        _days(file, "keep_snapshots", KEEP_SNAPSHOTS, report),
        _days(file, "keep_blame", KEEP_BLAME, report),
        _max_instances(file, report),
        budget.read_budget(file, report) if "budget" in file.tables else None,
    )


def _check_tables(file: TomlFile, known: tuple[str, ...], report: Report) -> None:
    for name in file.tables:
        if name == "trust" and name not in known:
            hint = "put [trust] into your own config.toml; a repository cannot vouch for itself"
            report.warning(
                "config-key", "[trust] in a repository's configuration has no effect", file.place(name), hint
            )
        elif name == "notify" and name not in known:
            hint = (
                "put [notify] into your own config.toml; a repository cannot send notifications or run commands with it"
            )
            report.error("config-key", "[notify] in a repository's configuration is refused", file.place(name), hint)
        elif name == "github" and name not in known:
            hint = "put [github] into your own config.toml; a repository cannot say where your token is sent"
            report.error("config-key", "[github] in a repository's configuration is refused", file.place(name), hint)
        elif name == "routing":
            hint = "remove it; name the workflow when you start a run: handrail run WORKFLOW"
            report.error(
                "config-key",
                "[routing] is not supported: Handrail does not choose workflows automatically",
                file.place(name),
                hint,
            )
        elif name not in known:
            message = f"unknown table '{name}'{did_you_mean(name, known)}"
            report.warning("config-key", message, file.place(name), f"known tables: {', '.join(known)}")


def _check_keys(file: TomlFile, name: str, table: dict[str, Any], report: Report) -> None:
    known = KEYS[name]
    for key in table:
        if key not in known:
            message = f"unknown key '{key}' in [{name}]{did_you_mean(key, known)}"
            report.warning("config-key", message, file.place(name, key), f"known keys: {', '.join(known)}")


def _texts(file: TomlFile, name: str, key: str, table: dict[str, Any], report: Report) -> list[str]:
    value = table.get(key, [])
    listed: list[object] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    texts = [text for text in listed if isinstance(text, str)]
    if not isinstance(value, list) or len(texts) != len(listed):
        hint = f'write {key} = ["first", "second"]'
        report.error("config-value", f"'{key}' must be a list of texts", file.place(name, key), hint)
    return texts


def _workflow_folders(file: TomlFile, root: Path, report: Report) -> tuple[Path, ...]:
    table = file.table("workflows", report)
    _check_keys(file, "workflows", table, report)
    found: list[Path] = []
    for text in _texts(file, "workflows", "folders", table, report):
        folder = root / text
        if not is_contained(text) or not is_inside(folder, root):
            message = f"the folder '{text}' leads outside the repository"
            hint = "name a folder by its path from the repository's root"
            report.error("config-value", message, file.place("workflows", "folders"), hint)
        elif not folder.is_dir():
            report.warning("config-value", f"there is no folder '{text}'", file.place("workflows", "folders"))
        elif folder not in found:
            found.append(folder)
    return tuple(found)


def _checks(file: TomlFile, report: Report) -> tuple[tuple[str, str], ...]:
    table = file.table("checks", report)
    for name, command in table.items():
        if isinstance(command, dict):
            continue
        if not isinstance(command, str) or not command.strip():
            message = f"the check '{name}' is not a command"
            report.error("config-value", message, file.place("checks", name), f'write {name} = "make {name}"')
    return tuple((name, text) for name, text in table.items() if isinstance(text, str) and text.strip())


def bindings_in(root: Path) -> Path | None:
    """Find the bindings file of a folder."""
    return next((path for name in BINDINGS if (path := root / name).is_file() and is_inside(path, root)), None)


def _absolute(file: TomlFile, text: str, report: Report) -> Path | None:
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        path = Path(text)
    if path.is_absolute():
        return path
    message = f"the repository '{text}' is not an absolute path"
    report.error(
        "config-value", message, file.place("trust", "repositories"), "write an absolute path that starts with / or ~"
    )
    return None


def read_sandbox(file: TomlFile, agent: dict[str, Any], report: Report) -> tuple[Sandbox, bool]:
    """Read the sandbox and whether agents have network access in it; an unreadable value means the strictest one."""
    said = agent.get("sandbox", "none")
    table = cast("dict[str, Any]", said) if isinstance(said, dict) else {"kind": said}
    kind, network = table.get("kind"), table.get("network", True)
    if kind in get_args(Sandbox) and isinstance(network, bool) and not set(table) - set(KNOWN):
        return cast("Sandbox", kind), network
    message = "'sandbox' must be none, bwrap, or a table of kind and network"
    hint = 'write sandbox = "bwrap", or sandbox = {kind = "bwrap", network = false}'
    report.error("config-value", message, file.place("agent", "sandbox"), hint)
    return "bwrap", False
