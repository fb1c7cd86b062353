"""Checks whether workflows are valid, and what could be better about them."""

from collections.abc import Sequence

from handrail.errors import InvalidWorkflow, UsageError
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic, Report, Severity
from handrail.operations.workflows.check import CheckedWorkflow, check
from handrail.operations.workflows.find_targets import find_workflows
from handrail.operations.workflows.notify_channels import channel_problems
from handrail.operations.workflows.staleness import Staleness, is_shown, staleness, stamp_of
from handrail.sources.library import builtins
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location, Tier, WorkflowFile, discover


@frozen
class CheckedFile:
    """The verdict on one workflow file."""

    path: str
    ok: bool
    hash: str | None
    diagnostics: tuple[Diagnostic, ...]
    dropped: int = 0
    """The number of further diagnostics that were dropped."""
    staleness: Staleness | None = None
    """Whether it was reviewed against another authoring spec, or never; None for an invalid one."""


@frozen
class Validation:
    """The verdict on several files, and on the configuration by which they were found."""

    files: tuple[CheckedFile, ...]
    configuration: tuple[Diagnostic, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything that was found."""
        return (*self.configuration, *(each for file in self.files for each in file.diagnostics))

    def files_by_staleness(self, level: Staleness) -> tuple[str, ...]:
        """List the files with this staleness."""
        return tuple(file.path for file in self.files if file.staleness == level)

    @property
    def ok(self) -> bool:
        """Whether all files are valid."""
        return all(file.ok for file in self.files) and not any(each.is_error for each in self.configuration)

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 0, or 4 if something is invalid (or, if strict, has a warning)."""
        warned = strict and any(each.severity is Severity.WARNING for each in self.diagnostics)
        return InvalidWorkflow.exit_code if warned or not self.ok else 0


def validate(place: Location, targets: Sequence[str], *, library: bool = False, advise: bool = False) -> Validation:
    """Check what is named, the library, or, if nothing is named, every workflow of the repository."""
    report = Report()
    found = _choose_workflows(place, targets, report, library=library)
    catalog = catalog_for(place)
    files: list[CheckedFile] = []
    for each in found:
        checked = check(place, each, catalog, advise="all" if advise else "plain")
        unreached = _find_channel_problems(place, checked)
        said = tuple(one for one in checked.diagnostics if advise or one.severity is not Severity.ADVICE)
        ok = checked.ok and not unreached
        dropped = checked.opened.report.dropped
        shown, stale = place.display_path(each.main), _staleness(place, checked)
        files.append(CheckedFile(shown, ok, checked.hash, (*said, *unreached), dropped, stale))
    return Validation(tuple(files), tuple(report))


def _staleness(place: Location, checked: CheckedWorkflow) -> Staleness | None:
    document = checked.opened.document
    if document is None or not checked.ok or not is_shown(place, checked.found):
        return None
    return staleness(stamp_of(document), builtins().spec_version)


def _find_channel_problems(place: Location, checked: CheckedWorkflow) -> tuple[Diagnostic, ...]:
    if checked.plan is None or checked.opened.document is None:
        return ()
    return channel_problems(place, checked.opened.document, checked.plan)


def _choose_workflows(place: Location, targets: Sequence[str], report: Report, *, library: bool) -> list[WorkflowFile]:
    found = [each for target in targets for each in find_workflows(place, target, report)]
    if library:
        found += _tier(place, Tier.BUILT_IN, Report())
    elif not targets:
        found = _tier(place, Tier.REPOSITORY, report)
        if not found:
            raise _make_no_target_error(place)
    return list({each.main: each for each in found}.values())


def _tier(place: Location, tier: Tier, report: Report) -> list[WorkflowFile]:
    return [each for each in discover(place, report) if each.tier is tier]


def _make_no_target_error(place: Location) -> UsageError:
    if place.repository is None:
        message = "this folder is not in a repository, so name what to check"
    else:
        folder = place.display_path(place.repository / ".handrail" / "workflows")
        message = f"{folder} contains no workflow, so name what to check"
    return UsageError(message, next_step="handrail validate NAME|PATH, or --library for the built-in workflows")
