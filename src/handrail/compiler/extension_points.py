"""Slots that a project may fill: what a workflow declares, what the project binds, and whether that binding is valid.

A slot is bound to the id of a routine or of a workflow. The id must exist and be of a kind that the slot accepts:
otherwise an agent would be sent to something that does not exist.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from handrail.authoring.readers.json_reader import read_json
from handrail.compiler.catalog import Catalog
from handrail.compiler.workrail.message_names import list_names, quote_name
from handrail.compiler.workrail.routines import routine_name
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, SourceText
from handrail.model.suggest import did_you_mean, suggest
from handrail.model.workflow.guidance import Slot

MAX_ID_LENGTH = 128
ROUTINE_IDS = ("routine-", "wr.routine-")


@frozen
class ExtensionPoint:
    """A slot as its workflow declares it."""

    id: str
    default: str
    place: Node
    """The node of its id."""
    default_place: Node
    purpose: str = ""
    accepts: tuple[str, ...] = ()
    """The kinds that may be bound; empty for any kind."""


@dataclass(slots=True)
class Overrides:
    """What a project's bindings file sets for one workflow."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    for_all: bool = False
    """Whether the file applies to every workflow, so that it may name slots of other workflows."""


def fill_slots(points: Iterable[ExtensionPoint], workflow: str, catalog: Catalog, report: Report) -> dict[str, Slot]:
    """Bind every slot of a workflow to the project's choice, or else to the workflow's default."""
    declared = tuple(points)
    overrides = Overrides()
    if declared and catalog.bindings is not None:
        overrides = _overrides(catalog.bindings, workflow, report)
    slots: dict[str, Slot] = {}
    for point in declared:
        if point.id in slots:
            report.error("duplicate-slot", f"slot '{point.id}' is declared twice", point.place, "rename one of them")
        slots[point.id] = _slot(point, overrides, catalog, report)
    _refuse_unknown(overrides, slots, report)
    return slots


def _slot(point: ExtensionPoint, overrides: Overrides, catalog: Catalog, report: Report) -> Slot:
    entry = overrides.entries.get(point.id)
    bound, place = (point.default, point.default_place) if entry is None else (_binding_target(entry), entry.value)
    slot = Slot(point.id, point.purpose, bound, overridden=entry is not None, accepts=tuple(sorted(point.accepts)))
    if 1 <= len(bound) <= MAX_ID_LENGTH:
        _check_target(slot, place, catalog, report)
    return slot


def _check_target(slot: Slot, place: Node, catalog: Catalog, report: Report) -> None:
    kind = _kind_of(slot.bound_to, catalog)
    if kind is None:
        found = catalog.index.obstacle(catalog.asker, slot.bound_to)
        if found is not None:
            report.error(found.code, found.message, place, found.hint)
            return
        known = (*catalog.names(), *(f"routine-{name}" for name in catalog.builtins.routine_names()))
        message = (
            f"slot {quote_name(slot.id)} is bound to {quote_name(slot.bound_to)}, but there is no routine or workflow"
        )
        hint = "bind it to the name of a workflow, or to a routine, such as routine-design-review"
        report.error("unknown-binding", f"{message} of that name{did_you_mean(slot.bound_to, known)}", place, hint)
    elif slot.accepts and kind not in slot.accepts:
        message = f"slot {quote_name(slot.id)} is bound to {quote_name(slot.bound_to)}, which is a {kind}"
        report.error("binding-kind", message, place, f"it accepts: {', '.join(slot.accepts)}")


def _kind_of(target: str, catalog: Catalog) -> str | None:
    """Return the kind of a target; None where nothing has that name."""
    name = routine_name(target)
    prefix = next((each for each in ROUTINE_IDS if target.startswith(each)), None)
    name = target.removeprefix(prefix) if name is None and prefix is not None else name
    if name is not None:
        own = (f"{each}{name}" for each in ROUTINE_IDS)
        built_in = any(catalog.builtins.routine(each) is not None for each in (name, f"audit-{name}"))
        return "routine" if built_in or any(catalog.workflow(each) is not None for each in own) else None
    if catalog.workflow(target) is not None:
        return "workflow"
    return "routine" if catalog.builtins.routine(target) is not None else None


def _binding_target(entry: Entry) -> str:
    value = entry.value.value if isinstance(entry.value, Scalar) else None
    return value if isinstance(value, str) else ""


def overrides_in(source: SourceText, workflow: str) -> dict[str, str]:
    """Read the slots that a bindings file sets for a workflow, ignoring entries that are invalid."""
    return {name: _binding_target(entry) for name, entry in _overrides(source, workflow, Report()).entries.items()}


def _overrides(source: SourceText, workflow: str, report: Report) -> Overrides:
    root = read_json(source, report)
    if root is None:
        return Overrides()
    if not isinstance(root, Mapping):
        hint = 'write {"slot": "id"}, or {"workflow id": {"slot": "id"}}'
        report.error("bad-bindings", "the bindings file must contain a map", root, hint)
        return Overrides()
    if all(_is_text(entry) for entry in root):
        return replace(_section(root, report), for_all=True)
    for entry in root:
        if not isinstance(entry.value, Mapping):
            hint = 'give each workflow a section, {"workflow id": {"slot": "id"}}, or list slots only'
            report.error("bad-bindings", f"{quote_name(entry.name)} must contain a map of slots", entry.value, hint)
    section = root.get(workflow)
    return _section(section, report) if isinstance(section, Mapping) else Overrides()


def _section(section: Mapping, report: Report) -> Overrides:
    for entry in section:
        if not 1 <= len(_binding_target(entry)) <= MAX_ID_LENGTH:
            message = f"slot {quote_name(entry.name)} must be bound to an id of 1 to {MAX_ID_LENGTH} characters"
            report.error("bad-bindings", message, entry.value)
    return Overrides({entry.name: entry for entry in section if _is_text(entry)})


def _is_text(entry: Entry) -> bool:
    return isinstance(entry.value, Scalar) and isinstance(entry.value.value, str)


def _refuse_unknown(overrides: Overrides, slots: dict[str, Slot], report: Report) -> None:
    for name, entry in overrides.entries.items():
        if name in slots:
            continue
        message = f"the workflow has no slot {quote_name(name)}{did_you_mean(name, slots)}"
        hint = "its slots: " + list_names(slots)
        if not overrides.for_all:
            report.error("unknown-slot", message, entry, hint)
        elif suggest(name, slots) is not None:
            # A file for all workflows may name slots of others, so only a name that looks like a typo is reported.
            report.warning("unknown-slot", message, entry, hint)
