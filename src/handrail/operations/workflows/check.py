"""Opens and compiles one workflow and collects all diagnostics about it."""

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from handrail.errors import InvalidWorkflow, Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.parts import walk_steps
from handrail.model.source import Document
from handrail.model.workflow.actions import CallAction
from handrail.sources.foreign_files import FileContent
from handrail.sources.open_workflow import LocationWorkflows, OpenedWorkflow, bindings_content, open_workflow
from handrail.sources.tiers import Location, WorkflowFile

if TYPE_CHECKING:
    from handrail.compiler.catalog import Catalog
    from handrail.compiler.outcome import CompileResult
    from handrail.model.workflow.plan import Plan


@frozen
class CheckedWorkflow:
    """A workflow as far as it could be understood."""

    found: WorkflowFile
    opened: OpenedWorkflow
    compiled: "CompileResult | None"
    diagnostics: tuple[Diagnostic, ...]
    drawn: tuple[OpenedWorkflow, ...] = ()
    """The other workflows that compiling used, in the bytes that it read."""

    @property
    def plan(self) -> "Plan | None":
        """The compiled workflow; None if it is invalid."""
        return self.compiled.plan if self.compiled is not None else None

    @property
    def hash(self) -> str | None:
        """The pinned version."""
        return self.compiled.hash if self.compiled is not None else None

    @property
    def ok(self) -> bool:
        """Whether it can be used."""
        return self.plan is not None


@frozen
class ValidWorkflow:
    """A workflow that can be used."""

    document: Document
    plan: "Plan"
    hash: str


@frozen
class WorkflowClosure:
    """Everything from which a run of a workflow is made: what it uses, and what it and those may call."""

    checked: CheckedWorkflow
    calls: "dict[str, CheckedWorkflow]"
    """Every workflow that may be called, by its name in the plan."""
    opened: tuple[OpenedWorkflow, ...]
    """Everything that was read for it, each once; the workflow itself is the first."""
    bindings: FileContent | None = None
    """The bindings file, if a plan has slots."""

    @property
    def contents(self) -> tuple[FileContent, ...]:
        """Every file with exactly the bytes that were compiled."""
        snapshots = (each.snapshot for each in self.opened)
        files = (content for each in snapshots if each is not None for content in each.contents)
        return tuple(dict.fromkeys((*files, *(() if self.bindings is None else (self.bindings,)))))

    @property
    def plans(self) -> "tuple[Plan, ...]":
        """The plans that could be compiled, its own first."""
        return tuple(each.plan for each in (self.checked, *self.calls.values()) if each.plan is not None)


def reach(place: Location, checked: CheckedWorkflow, catalog: "Catalog") -> WorkflowClosure:
    """Follow a workflow to everything it uses and calls, in the bytes that the catalog read."""
    index = cast("LocationWorkflows", catalog.index)
    calls: dict[str, CheckedWorkflow] = {}
    drawn: dict[int, OpenedWorkflow] = {id(checked.opened): checked.opened}
    waiting = [checked]
    while waiting:
        each = waiting.pop(0)
        drawn.update((id(opened), opened) for opened in each.drawn)
        for name in () if each.plan is None else list_called_workflows(each.plan):
            opened = index.open("", name) if name not in calls else None
            if opened is not None:
                calls[name] = _compile_opened(opened, catalog)
                drawn.setdefault(id(opened), opened)
                waiting.append(calls[name])
    reached = WorkflowClosure(checked, calls, tuple(drawn.values()))
    slots = any(plan.guided is not None and plan.guided.slots for plan in reached.plans)
    return replace(reached, bindings=bindings_content(place, catalog.bindings) if slots else None)


def list_called_workflows(plan: "Plan") -> tuple[str, ...]:
    """List the workflows that the steps of a plan call."""
    actions = (step.action for _, step in walk_steps(plan.steps))
    return tuple(dict.fromkeys(action.workflow for action in actions if isinstance(action, CallAction)))


def _compile_opened(opened: OpenedWorkflow, catalog: "Catalog") -> CheckedWorkflow:
    """Compile a workflow that is called; errors in it are not errors of the caller."""
    from handrail.compiler.compile import compile_document  # noqa: PLC0415 (not all that is listed is compiled)

    if opened.document is None:
        return CheckedWorkflow(opened.found, opened, None, tuple(opened.report))
    compiled = compile_document(opened.document, catalog)
    return CheckedWorkflow(opened.found, opened, compiled, compiled.diagnostics, _open_dependencies(compiled, catalog))


def _open_dependencies(compiled: "CompileResult", catalog: "Catalog") -> tuple[OpenedWorkflow, ...]:
    index = cast("LocationWorkflows", catalog.index)
    found = (index.open(asker, name) for asker, name in compiled.asked if name)
    return tuple(opened for opened in found if opened is not None)


def check(
    place: Location, found: WorkflowFile, catalog: "Catalog", *, advise: Literal["all", "plain", "nothing"] = "nothing"
) -> CheckedWorkflow:
    """Read and compile a workflow; with `advise`, also report surprises for its author, or all that could be better."""
    opened = open_workflow(found, place)
    if opened.document is None:
        return CheckedWorkflow(found, opened, None, _sort_diagnostics(tuple(opened.report)))
    from handrail.compiler.compile import compile_document  # noqa: PLC0415 (not all that is listed is compiled)

    compiled = compile_document(opened.document, catalog, opened.report)
    said = compiled.diagnostics
    if advise != "nothing":
        from handrail.compiler.lint import LINTS, PLAIN, lint  # noqa: PLC0415 (most commands do not lint)

        only = PLAIN if advise == "plain" else tuple(LINTS)
        said = _drop_duplicates((*said, *lint(compiled, opened.document, catalog, only)))
    return CheckedWorkflow(found, opened, compiled, _sort_diagnostics(said), _open_dependencies(compiled, catalog))


def require_valid(place: Location, checked: CheckedWorkflow) -> ValidWorkflow:
    """Return the result of a checked workflow, or raise what is wrong with it."""
    document, plan, hash_ = checked.opened.document, checked.plan, checked.hash
    if document is not None and plan is not None and hash_ is not None:
        return ValidWorkflow(document, plan, hash_)
    path = place.display_path(checked.found.main)
    typed = shlex.quote(path)
    if any(each.code == Untrusted.code for each in checked.diagnostics):
        raise Untrusted(f"the workflow {path} has not been trusted", next_step=f"read it, then: handrail trust {typed}")
    next_step = f"handrail validate {typed}"
    raise InvalidWorkflow(f"the workflow {path} is invalid", checked.diagnostics, next_step=next_step)


def _drop_duplicates(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    report = Report()
    for each in diagnostics:
        report.add(each)
    return tuple(report)


def _sort_diagnostics(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Sort diagnostics by file, in the order of first mention; within a file from top to bottom."""
    files = {name: number for number, name in enumerate(dict.fromkeys(each.file for each in diagnostics))}
    return tuple(sorted(diagnostics, key=lambda each: (files[each.file], each.line, each.column)))
