"""The workflows seen from a folder, each compiled once, and again only when its inputs have changed."""

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.compiler.catalog import Catalog
from handrail.errors import NotFound
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic, Report
from handrail.operations.pull.workflow_offer import WorkflowOffer
from handrail.operations.workflows.check import CheckedWorkflow, check
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.runtime.history import encode_plan
from handrail.runtime.ports import PinnedWorkflow
from handrail.sources.change_stamps import Stamp, stamp_of
from handrail.sources.open_workflow import catalog_for, files_of
from handrail.sources.tiers import Location, WorkflowFile, discover, resolve_name

MAX_PLACES = 8
MAX_WRITTEN = 32
MAX_WORKFLOWS = 1_000
"""The number of compiled workflows that are cached for one place."""


@frozen
class _CatalogueEntry:
    """A compiled workflow, and everything from which it was made."""

    checked: CheckedWorkflow
    contents: tuple[tuple[tuple[str, str], str | None], ...]
    """Itself and the workflows that it looked up, by asker and name, with the digest of their files."""
    names: tuple[str, ...] | None
    bindings: str | None


@dataclass(slots=True)
class PlaceSnapshot:
    """What is seen from one place, as long as nothing changes there."""

    place: Location
    stamp: Stamp | None
    every: tuple[WorkflowFile, ...]
    diagnostics: tuple[Diagnostic, ...]
    catalog: Catalog
    offered: dict[bool, tuple[WorkflowOffer, ...]] = field(default_factory=dict[bool, tuple[WorkflowOffer, ...]])
    """What lists say about them, once a list was requested."""
    made: dict[Path, _CatalogueEntry] = field(default_factory=dict[Path, _CatalogueEntry])
    before: dict[Path, _CatalogueEntry] = field(default_factory=dict[Path, _CatalogueEntry])
    """What was known before something changed: still valid where the contents are the same."""
    digests: dict[Path, str | None] = field(default_factory=dict[Path, str | None])

    def winner(self, name: str) -> WorkflowFile | None:
        """Return the workflow that a name means."""
        return resolve_name(self.every, "", name)

    def find(self, words: str) -> WorkflowFile:
        """Find a workflow by name or path."""
        try:
            return self.winner(words) or find_one_workflow(self.place, words)
        except NotFound as error:
            raise NotFound(error.message, next_step="call list_workflows to see all workflows") from error

    def check_workflow(self, found: WorkflowFile) -> CheckedWorkflow:
        """Return a workflow with the result of compiling it."""
        if found.form == "python" or found not in self.every:
            # The result of a Python workflow may depend on anything, and a file elsewhere is not watched.
            return check(self.place, found, self.catalog)
        made = self.made.get(found.main)
        if made is None or made.checked.found != found:
            made = self._find_earlier_check(found) or self._compile_workflow(found)
            if len(self.made) < MAX_WORKFLOWS:
                self.made[found.main] = made
        return made.checked

    def _find_earlier_check(self, found: WorkflowFile) -> _CatalogueEntry | None:
        made = self.before.get(found.main)
        if made is None or made.checked.found != found or made.bindings != _text(self.catalog):
            return None
        same = all(self._digest(asked, found) == digest for asked, digest in made.contents)
        return made if same and made.names in (None, self._names()) else None

    def _compile_workflow(self, found: WorkflowFile) -> _CatalogueEntry:
        checked = check(self.place, found, self.catalog)
        snapshot = checked.opened.snapshot
        own = (("", ""), snapshot.fingerprint if snapshot is not None else None)
        asked = () if checked.compiled is None else checked.compiled.asked
        contents = (own, *((each, self._digest(each, found)) for each in sorted(asked) if each[1]))
        names = self._names() if any(not name for _, name in asked) else None
        return _CatalogueEntry(checked, contents, names, _text(self.catalog))

    def _names(self) -> tuple[str, ...]:
        return tuple(f"{each.tier}:{each.name}" for each in self.every)

    def _digest(self, asked: tuple[str, str], own: WorkflowFile) -> str | None:
        """Return the digest of a workflow's files; without a name, of `own`."""
        asker, name = asked
        found = resolve_name(self.every, asker, name) if name else own
        if found is None:
            return None
        if found.main not in self.digests:
            self.digests[found.main] = files_of(found).fingerprint if found.problem is None else None
        return self.digests[found.main]


@dataclass(slots=True)
class Catalogue:
    """Caches what was seen from the places that were used last."""

    _places: OrderedDict[Location, PlaceSnapshot] = field(default_factory=OrderedDict[Location, PlaceSnapshot])
    _written: OrderedDict[str, PinnedWorkflow] = field(default_factory=OrderedDict[str, PinnedWorkflow])

    def view_from(self, place: Location) -> PlaceSnapshot:
        """Return what is seen from a place now."""
        stamp = stamp_of(place)
        kept = self._places.get(place)
        if kept is None or stamp is None or kept.stamp != stamp:
            report = Report()
            every = discover(place, report)
            before = {} if kept is None else {**kept.before, **kept.made}
            kept = PlaceSnapshot(
                place,
                stamp,
                every,
                tuple(report),
                catalog_for(place),
                before={each.main: before[each.main] for each in every if each.main in before},
            )
            self._places[place] = kept
        self._places.move_to_end(place)
        if len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)
        return kept

    def attach_written_plan(self, pinned: PinnedWorkflow) -> PinnedWorkflow:
        """Return a workflow with its serialized plan, which is written only once."""
        kept = self._written.pop(pinned.definition, None)
        known = kept is not None and kept.plan is pinned.plan
        made = replace(pinned, written=kept.written if kept is not None and known else encode_plan(pinned.plan))
        self._written[pinned.definition] = made
        if len(self._written) > MAX_WRITTEN:
            self._written.popitem(last=False)
        return made

    def look_up(self, place: Location, words: str) -> tuple[CheckedWorkflow, Catalog]:
        """Return a workflow by name or path with the result of compiling it, and the catalog that it may use."""
        seen = self.view_from(place)
        return seen.check_workflow(seen.find(words)), seen.catalog


def _text(catalog: Catalog) -> str | None:
    return catalog.bindings.text if catalog.bindings is not None else None
