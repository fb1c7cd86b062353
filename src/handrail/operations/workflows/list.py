"""Lists the available workflows."""

from dataclasses import replace

from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Form, Scalar, Sequence
from handrail.operations.workflows.check import CheckedWorkflow, check
from handrail.operations.workflows.staleness import Staleness, is_shown, staleness, stamp_of
from handrail.sources.library import builtins
from handrail.sources.open_workflow import OpenedWorkflow, catalog_for, open_workflow
from handrail.sources.tiers import Location, Tier, WorkflowFile, discover


@frozen(kw_only=True)
class WorkflowEntry:
    """What a list says about one workflow."""

    name: str
    tier: Tier
    form: Form
    path: str
    description: str
    hash: str | None
    valid: bool
    wins: bool
    shadows: tuple[str, ...]
    shadowed_by: str | None
    staleness: Staleness | None
    steps: int | None
    """Top-level steps as they were written; None if they could not be read."""
    diagnostics: tuple[Diagnostic, ...]

    @property
    def is_routine(self) -> bool:
        """Whether it is meant to be used inside other workflows."""
        return is_routine(self.name)


def is_routine(name: str) -> bool:
    """Whether a workflow of this name is meant to be used inside other workflows."""
    return name.removeprefix("wr.").startswith("routine-")


@frozen
class WorkflowListing:
    """Workflows by name, and what is wrong with the places in which they were looked up."""

    workflows: tuple[WorkflowEntry, ...]
    diagnostics: tuple[Diagnostic, ...]


def list_workflows(
    place: Location, *, tier: str | None = None, pinned: bool = True, counted: bool = False
) -> WorkflowListing:
    """List all workflows, including hidden and invalid ones.

    Without `pinned`, hashes may be left out; with `counted`, also the descriptions of routines, since they are only
    counted.
    """
    report = Report()
    everything = discover(place, report)
    catalog = catalog_for(place)
    # Built-in workflows are tested before they are shipped: if nothing of the user's shadows them, they stay valid.
    own = any(each.shadows for each in everything if each.tier is Tier.USER)
    as_shipped = not pinned and catalog.bindings is None and not own
    listed = (
        _describe_built_in(place, each, read=not (counted and is_routine(each.name)))
        if as_shipped and each.tier is Tier.BUILT_IN
        else describe(place, check(place, each, catalog))
        for each in everything
        if tier is None or each.tier == tier
    )
    return WorkflowListing(tuple(listed), tuple(report))


def _describe_built_in(place: Location, found: WorkflowFile, *, read: bool) -> WorkflowEntry:
    opened = open_workflow(found, place) if read else OpenedWorkflow(found, None, None, Report())
    listed = describe(place, CheckedWorkflow(found, opened, None, tuple(opened.report)))
    return replace(listed, valid=opened.document is not None or not read)


def workflow_names(place: Location) -> tuple[str, ...]:
    """List the names of the workflows that can be used, without opening one."""
    return tuple(found.name for found in discover(place, Report()) if found.wins)


def repository_workflows(place: Location) -> tuple[str, ...]:
    """List the names of the repository's own workflows, without opening one."""
    found = discover(place, Report())
    return tuple(each.name for each in found if each.wins and each.tier is Tier.REPOSITORY)


def describe(place: Location, checked: CheckedWorkflow) -> WorkflowEntry:
    """Convert a checked workflow to its entry in a list."""
    found, root = checked.found, checked.opened.document.root if checked.opened.document is not None else None
    described = root.get("description") if root is not None else None
    node = root.get("steps") if root is not None else None
    return WorkflowEntry(
        name=found.name,
        tier=found.tier,
        form=found.form,
        path=place.display_path(found.main),
        description=str(described.value) if isinstance(described, Scalar) and described.value is not None else "",
        hash=checked.hash,
        valid=checked.ok,
        wins=found.wins,
        shadows=found.shadows,
        shadowed_by=found.shadowed_by,
        staleness=_staleness(place, checked),
        steps=len(node.items) if isinstance(node, Sequence) else None,
        diagnostics=() if checked.ok else checked.diagnostics,
    )


def _staleness(place: Location, checked: CheckedWorkflow) -> Staleness | None:
    document = checked.opened.document
    if document is None or not is_shown(place, checked.found):
        return None
    return staleness(stamp_of(document), builtins().spec_version)
