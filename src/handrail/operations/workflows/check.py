"""Opens and compiles one workflow and keeps all that is to be said about it."""

import shlex
from typing import TYPE_CHECKING

from handrail.errors import InvalidWorkflow, Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic, Report
from handrail.model.source import Document
from handrail.sources.open_workflow import Opened, open_workflow
from handrail.sources.tiers import Found, Place

if TYPE_CHECKING:
    from handrail.compiler.catalog import Catalog
    from handrail.compiler.outcome import Compiled
    from handrail.model.workflow.plan import Plan


@frozen
class Checked:
    """A workflow as far as it could be understood."""

    found: Found
    opened: Opened
    compiled: "Compiled | None"
    diagnostics: tuple[Diagnostic, ...]

    @property
    def plan(self) -> "Plan | None":
        """The compiled workflow; None when it is invalid."""
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
class Valid:
    """A workflow that can be used."""

    document: Document
    plan: "Plan"
    hash: str


def check(place: Place, found: Found, catalog: "Catalog", *, advise: bool = False) -> Checked:
    """Read and compile a workflow; with `advise`, also say what could be better."""
    opened = open_workflow(found, place)
    if opened.document is None:
        return Checked(found, opened, None, _in_order(tuple(opened.report)))
    from handrail.compiler.compile import compile_document  # noqa: PLC0415 (not all that is listed is compiled)

    compiled = compile_document(opened.document, catalog, opened.report)
    said = compiled.diagnostics
    if advise:
        from handrail.compiler.lint import lint  # noqa: PLC0415 (most commands do not lint)

        said = _once((*said, *lint(compiled, opened.document, catalog)))
    return Checked(found, opened, compiled, _in_order(said))


def valid(place: Place, checked: Checked) -> Valid:
    """Give what a checked workflow came to, or raise with what is wrong with it."""
    document, plan, hash_ = checked.opened.document, checked.plan, checked.hash
    if document is not None and plan is not None and hash_ is not None:
        return Valid(document, plan, hash_)
    path = place.shown(checked.found.main)
    typed = shlex.quote(path)
    if any(each.code == Untrusted.code for each in checked.diagnostics):
        raise Untrusted(f"the workflow {path} has not been trusted", next_step=f"read it, then: handrail trust {typed}")
    next_step = f"handrail validate {typed}"
    raise InvalidWorkflow(f"the workflow {path} is invalid", checked.diagnostics, next_step=next_step)


def _once(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    report = Report()
    for each in diagnostics:
        report.add(each)
    return tuple(report)


def _in_order(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """File by file, the one that was first spoken of first; inside a file from top to bottom."""
    files = {name: number for number, name in enumerate(dict.fromkeys(each.file for each in diagnostics))}
    return tuple(sorted(diagnostics, key=lambda each: (files[each.file], each.line, each.column)))
