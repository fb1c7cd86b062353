"""Lowers the steps that run another workflow: as a child run (workflow), or with its steps inlined (use)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.conform import conform
from handrail.compiler.native.context import GUIDING, Lowering, text_of, with_own_words
from handrail.compiler.native.inputs import lower_declared_inputs
from handrail.compiler.native.texts import find_own_names
from handrail.compiler.outcome import StepPositions
from handrail.compiler.scope import Scope
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.names import make_identifier
from handrail.model.source import Bundle, Document, Entry, Mapping, Node, Scalar, Sequence, Span
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import CallAction, GroupAction
from handrail.model.workflow.plan import Input, Step
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import Constant, Expression, NamedValue

if TYPE_CHECKING:
    from handrail.compiler.native import guidance
    from handrail.compiler.workrail import lower as workrail
else:
    guidance = late_import("handrail.compiler.native.guidance")
    workrail = late_import("handrail.compiler.workrail.lower")

MAX_DEEP = 8
MAX_STEPS = 10_000
LowerBody = Callable[[Lowering, Sequence, str], tuple[Step, ...]]


def lower_call(work: Lowering, node: Mapping, _: Type | None) -> CallAction:
    """Lower a call, checking the inputs of a native workflow against its declaration."""
    place = node.entries["workflow"].value
    name = text_of(place) or ""
    document = _find(work, place, name)
    if document is not None and document.dialect == "native":
        _check_inputs(work, node, place, read_inputs(work, document))
    return CallAction(work.catalog.index.qualify(work.catalog.asker, name))


def _find(work: Lowering, place: Node, name: str) -> Document | None:
    document = work.catalog.workflow(name)
    if document is not None:
        return document
    found = work.catalog.index.obstacle(work.catalog.asker, name)
    if found is not None:
        work.report.error(found.code, found.message, place, found.hint)
    else:
        hint = "it is looked up by name in the user's, the repository's and the built-in workflows"
        guess = did_you_mean(name, work.catalog.names())
        work.report.error("unknown-workflow", f"there is no workflow '{name}'{guess}", place, hint)
    return None


def read_inputs(work: Lowering, document: Document) -> tuple[Input, ...]:
    """Read another workflow's inputs, without reporting the problems of that workflow here."""
    aside = Lowering(document, work.catalog.scope_to(document), Report(), StepPositions(), Scope(()))
    if not document.dynamic:
        conform(WORKFLOW, document.root, aside.report)
    return () if aside.report.failed else lower_declared_inputs(aside, document.root.get("input"))


def _check_inputs(work: Lowering, node: Mapping, place: Node, declared: tuple[Input, ...]) -> None:
    given = node.get("input")
    entries = {make_identifier(e.name): e for e in given} if isinstance(given, Mapping) else {}
    known = {make_identifier(each.name): each for each in declared}
    called = f"the workflow '{text_of(place)}'"
    for name, entry in entries.items():
        if name not in known:
            guess = did_you_mean(entry.name, known)
            hint = "its inputs: " + (", ".join(known) or "nothing")
            work.report.error("unknown-input", f"{called} has no input '{entry.name}'{guess}", entry, hint)
    missing = [name for name, each in known.items() if each.required and name not in entries and name != "issue"]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        work.report.error("missing-input", f"{called} requires the input {names}", place, "pass it under 'input'")


def lower_use(work: Lowering, node: Mapping, inputs: tuple[NamedValue, ...], lower_body: LowerBody) -> GroupAction:
    """Inline a routine's steps with its inputs bound by this step; they see nothing else of the caller."""
    place = node.entries["use"].value
    name = text_of(place) or ""
    meant = work.catalog.index.qualify(work.catalog.asker, name)
    if meant in work.using or len(work.using) >= MAX_DEEP:
        chain = " -> ".join((*work.using, meant))
        wrong = "the routine uses itself" if meant in work.using else f"routines nest deeper than {MAX_DEEP}"
        work.report.error("endless-use", f"{wrong}: {chain}", place)
        return GroupAction(name, inputs, ())
    if work.count.steps > MAX_STEPS:
        message = f"the workflow has more than {MAX_STEPS} steps, including those of the routines it uses"
        work.report.error("too-many-steps", message, place, "split it into several workflows, called with `workflow`")
        return GroupAction(name, inputs, ())
    if name.startswith("wr.templates."):
        return GroupAction(name, inputs, _expand_guided(work, node, name))
    document = _find(work, place, name)
    if document is None:
        return GroupAction(name, inputs, ())
    if document.dialect == "workrail":
        template = "wr.templates.routine." + name.rpartition(":")[2].removeprefix("wr.").removeprefix("routine-")
        return GroupAction(name, inputs, _expand_guided(work, node, template, document))
    steps = _expand_native(work, node, document, inputs, lower_body)
    return GroupAction(name, (*inputs, *_default_inputs(inputs, read_inputs(work, document))), steps)


def _default_inputs(given: tuple[NamedValue, ...], declared: tuple[Input, ...]) -> Iterator[NamedValue]:
    """List the inputs that a step does not set for a routine, with their defaults."""
    filled = {make_identifier(each.name) for each in given}
    for each in declared:
        if not each.required and make_identifier(each.name) not in filled:
            yield NamedValue(each.name, Expression(each.default_from) if each.default_from else Constant(each.default))


def _expand_native(
    work: Lowering, node: Mapping, document: Document, inputs: tuple[NamedValue, ...], lower_body: LowerBody
) -> tuple[Step, ...]:
    place = node.entries["use"].value
    aside = Report()
    conform(WORKFLOW, document.root, aside)
    document = with_own_words(document, aside)
    body = document.root.get("steps")
    if aside.failed or not isinstance(body, Sequence):
        name = text_of(place)
        hint = f"handrail validate {name}"
        work.report.error("invalid-routine", f"the workflow '{name}' is itself invalid", place, hint)
        return ()
    declared = read_inputs(work, document)
    _check_inputs(work, node, place, declared)
    defaults = document.root.get("defaults")
    using = (*work.using, work.catalog.index.qualify(work.catalog.asker, text_of(place) or ""))
    scope = Scope(declared, _find_own_inputs(work, inputs, declared))
    catalog = work.catalog.scope_to(document)
    inner = Lowering(document, catalog, aside, StepPositions(), scope, using=using, count=work.count)
    inner.defaults = {**work.defaults, **({e.name: e.value for e in defaults} if isinstance(defaults, Mapping) else {})}
    inner.assessments, inner.guides = work.assessments, work.guides
    if GUIDING & document.root.entries.keys():
        guidance.lower_guides(inner)
    steps = lower_body(inner, body, "")
    for found in aside:
        if found.is_error:
            work.report.add(found)
    return steps


def _find_own_inputs(work: Lowering, given: tuple[NamedValue, ...], declared: tuple[Input, ...]) -> frozenset[str]:
    """List the inputs of a routine that hold the workflows' own values: constants and defaults."""
    filled = {make_identifier(each.name) for each in given}
    defaults = (make_identifier(each.name) for each in declared if not each.required)
    return find_own_names(work, given) | {name for name in defaults if name not in filled}


def _expand_guided(work: Lowering, node: Mapping, template: str, routine: Document | None = None) -> tuple[Step, ...]:
    """Expand a WorkRail routine with the WorkRail front end, through a workflow that consists of one template call."""
    made = node.entries["use"].value.span

    def entry(name: str, value: Node) -> tuple[str, Entry]:
        return name, Entry(Scalar(name, made, "made"), value)

    def text(value: str) -> Scalar:
        return Scalar(value, made, "made")

    given = node.get("input")
    args = given if isinstance(given, Mapping) else Mapping({}, made)
    name = text_of(node.get("name")) or "use"
    call = Mapping(dict([entry("templateId", text(template)), entry("args", args)]), made)
    step = Mapping(
        dict(
            [
                entry("id", text(make_identifier(name).replace("_", "-"))),
                entry("title", text(name)),
                entry("templateCall", call),
            ]
        ),
        made,
    )
    fields = [("id", "use-of-a-routine"), ("name", "use"), ("description", "one call"), ("version", "1.0.0")]
    root = dict(entry(key, text(value)) for key, value in fields)
    root.update([entry("steps", Sequence((step,), made))])
    bundle = Bundle("use.json", {"use.json": made.source})
    document = Document("json", "workrail", Mapping(root, Span(made.source, made.start, made.end)), bundle)
    plan = workrail.lower_workrail(document, replace(work.catalog, routine=routine), work.report, StepPositions())
    return () if plan is None else plan.steps
