"""Which workflows exist: three tiers, the first that has the name wins, and nothing that is broken disappears."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.source import Form, SourceText, Span
from handrail.sources.folders import Folders, repository_root, user_folders

if TYPE_CHECKING:
    from handrail.model import suggest
    from handrail.sources import foreign_files, library, workflow_files
    from handrail.sources.config import config as repository_config
else:
    # A command about issues needs its place, and no workflow.
    suggest = late_import("handrail.model.suggest")
    foreign_files = late_import("handrail.sources.foreign_files")
    library = late_import("handrail.sources.library")
    workflow_files = late_import("handrail.sources.workflow_files")
    repository_config = late_import("handrail.sources.config.config")

ENDINGS = (".yaml", ".yml", ".json", ".py")
DEVELOPING = ("HANDRAIL_DEV", "WORKRAIL_DEV")
"""Variables that, set to 1, show what is useful to maintainers of the catalogue."""


class Tier(StrEnum):
    """Where a workflow was found, the strongest first; a file given by its path counts as the repository's."""

    USER = "user"
    REPOSITORY = "repository"
    BUILT_IN = "built-in"


@frozen
class WorkflowFile:
    """One workflow file and its rank among those of the same name."""

    name: str
    tier: Tier
    form: Form
    main: Path
    folder: bool
    """Whether it has a folder of its own."""
    wins: bool = True
    shadows: tuple[str, ...] = ()
    """What it hides: tiers, and files inside its own tier."""
    shadowed_by: str | None = None
    problem: str | None = None
    """Why it cannot be used whatever it contains, as the end of a sentence about it."""


_TIERS = frozenset(Tier)
ORDER = {tier: number for number, tier in enumerate(Tier)}


@frozen
class Location:
    """Where a command was called: the user's folders and the repository, if any."""

    folders: Folders
    repository: Path | None
    cwd: Path | None = None
    developing: bool = False
    """Whether the user maintains the catalogue, and wants to see what is of no use to others."""

    def display_path(self, path: Path) -> str:
        """Format a path for people: relative to the current folder when it is inside it."""
        base = self.cwd or Path.cwd()
        return foreign_files.printable(str(path.relative_to(base) if path.is_relative_to(base) else path))

    def config(self, report: Report) -> "repository_config.RepositoryConfig | None":
        """Read the repository's configuration."""
        if self.repository is None:
            return None
        shown = self.display_path(self.repository / ".handrail" / "config.toml")
        return repository_config.read_repository_config(self.repository, report, shown)


def here(cwd: Path, environ: Mapping[str, str]) -> Location:
    """Return the place of a command that is called in a folder."""
    developing = any(environ.get(name, "0") not in ("", "0") for name in DEVELOPING)
    return Location(user_folders(environ), repository_root(cwd), cwd.absolute(), developing)


def discover(place: Location, report: Report) -> tuple[WorkflowFile, ...]:
    """List every workflow of the three tiers, by name and then by tier; searches the tiers' folders only."""
    found = [
        WorkflowFile(each.name, tier, each.form, each.main, each.folder, problem=each.problem or _strays(each, root))
        for tier, folder, root in _tier_folders(place, report)
        for each in _candidates(tier, folder, place, report)
    ]
    ranks = {id(each): number for number, each in enumerate(found)}
    found.sort(key=lambda each: (normalize_name(each.name), ORDER[each.tier], ranks[id(each)]))
    return tuple(
        each for _, group in groupby(found, lambda each: normalize_name(each.name)) for each in _rank_group(group)
    )


def find(place: Location, name_or_path: str, report: Report) -> WorkflowFile:
    """Find a workflow by path or by name; raise NotFound with similar names and the places that were searched."""
    if "/" in name_or_path or name_or_path.endswith(ENDINGS):
        return _find_by_path(place, name_or_path)
    every = discover(place, report)
    found = resolve_name(every, "", name_or_path)
    if found is not None:
        return found
    near = suggest.did_you_mean(name_or_path, (found.name for found in every))
    beside = workflow_files.find_candidate((place.cwd or Path.cwd()) / name_or_path) is not None
    hint = f"for the folder here, write ./{name_or_path}; " if beside else ""
    hint += f"handrail list shows all workflows; searched: {', '.join(_list_searched(place))}"
    raise NotFound(f"there is no workflow '{foreign_files.printable(name_or_path)}'{near}", next_step=hint)


def resolve_name(every: Iterable[WorkflowFile], asker: str, name: str) -> WorkflowFile | None:
    """Find the workflow that a name means for an asker; `TIER:NAME` means the one of a tier, whoever asks."""
    tier, _, bare = name.partition(":")
    if tier in _TIERS:
        seen, wanted = (each for each in every if each.tier == tier), normalize_name(bare)
    else:
        seen, wanted = visible_to(asker, every), normalize_name(name)
    return next((each for each in seen if normalize_name(each.name) == wanted), None)


def visible_to(asker: str, every: Iterable[WorkflowFile]) -> Iterator[WorkflowFile]:
    """Return the workflows that a document of some origin sees by their plain names, the strongest of each name first.

    A person who starts one, and a workflow of the repository, see all three tiers. Any other workflow does not see the
    repository's: else the author of a repository could put commands into workflows that need no trust.
    """
    return (each for each in every if asker in ("", Tier.REPOSITORY) or each.tier is not Tier.REPOSITORY)


def origin_of(found: WorkflowFile, place: Location) -> str:
    """Return whose a workflow is; one that was given by its path may be in another repository, or in none."""
    if found.tier is not Tier.REPOSITORY:
        return str(found.tier)
    root = repository_root(found.main.parent)
    here = (
        place.repository is not None
        and root is not None
        and foreign_files.real(root) == foreign_files.real(place.repository)
    )
    return str(Tier.REPOSITORY) if here else "elsewhere"


def normalize_name(name: str) -> str:
    """Normalize a name for comparison: a routine is the same with and without `wr.`."""
    return name.removeprefix("wr.") if name.startswith("wr.routine-") else name


def _find_by_path(place: Location, text: str) -> WorkflowFile:
    path = (place.cwd or Path.cwd()) / text
    candidate = workflow_files.find_candidate(path)
    if candidate is None:
        hint = "name a workflow file, or a folder with workflow.yaml, workflow.json or workflow.py"
        raise NotFound(f"there is no workflow at {foreign_files.printable(text)}", next_step=hint)
    tier = _tier_of(candidate.main, place)
    return WorkflowFile(
        candidate.name, tier, candidate.form, candidate.main, candidate.folder, problem=candidate.problem
    )


def _tier_of(main: Path, place: Location) -> Tier:
    if foreign_files.is_inside(main, place.folders.workflows):
        return Tier.USER
    return Tier.BUILT_IN if foreign_files.is_inside(main, library.library_root()) else Tier.REPOSITORY


def folders_of(place: Location) -> tuple[Path, ...]:
    """List the folders that are searched for workflows."""
    return tuple(folder for _, folder, _ in _tier_folders(place, Report()))


def _tier_folders(place: Location, report: Report) -> Iterable[tuple[Tier, Path, Path | None]]:
    """Return tier, folder and the folder that nothing may leave; a folder that serves two tiers counts once."""
    listed: list[tuple[Tier, Path, Path | None]] = [(Tier.USER, place.folders.workflows, None)]
    config = place.config(report)
    if config is not None:
        own = config.root / ".handrail" / "workflows"
        listed += [(Tier.REPOSITORY, folder, config.root) for folder in (own, *config.workflow_folders)]
    built_in = library.library_root()
    listed += [(Tier.BUILT_IN, built_in / "workflows", None), (Tier.BUILT_IN, built_in / "routines", None)]
    unique = {foreign_files.real(folder): (tier, folder, root) for tier, folder, root in reversed(listed)}
    return reversed(unique.values())


def _candidates(tier: Tier, folder: Path, place: Location, report: Report) -> "list[workflow_files.WorkflowCandidate]":
    if (
        tier is Tier.REPOSITORY
        and place.repository is not None
        and not foreign_files.is_inside(folder, place.repository)
    ):
        _report_folder(place.display_path(folder), "it leads outside the repository", report)
        return []
    try:
        only_routines = tier is Tier.BUILT_IN and folder.name == "routines"
        return workflow_files.routines_in(folder) if only_routines else workflow_files.workflows_in(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        _report_folder(place.display_path(folder), foreign_files.reason(error), report)
        return []


def _report_folder(shown: str, why: str, report: Report) -> None:
    report.error("folder-unreadable", f"the workflow folder is not used: {why}", Span(SourceText(shown, ""), 0, 0))


def _strays(candidate: "workflow_files.WorkflowCandidate", root: Path | None) -> str | None:
    return None if root is None or foreign_files.is_inside(candidate.main, root) else "it leads outside the repository"


def _rank_group(group: Iterable[WorkflowFile]) -> list[WorkflowFile]:
    """Mark which of the workflows with one name wins and what it hides."""
    first, *others = group
    if not others:
        return [first]
    losers = [replace(each, wins=False, shadowed_by=_describe_tier(first, each)) for each in others]
    return [replace(first, shadows=tuple(dict.fromkeys(_describe_tier(each, first) for each in others))), *losers]


def _describe_tier(each: WorkflowFile, seen_from: WorkflowFile) -> str:
    """Describe a workflow by its tier, and inside one tier by its file."""
    if each.tier is not seen_from.tier:
        return str(each.tier)
    return f"{each.tier}: {foreign_files.printable('/'.join(each.main.parts[-2:]))}"


def _list_searched(place: Location) -> list[str]:
    repository = place.display_path(place.repository / ".handrail" / "workflows") if place.repository else "none here"
    return [f"user ({place.display_path(place.folders.workflows)})", f"repository ({repository})", "built-in"]
