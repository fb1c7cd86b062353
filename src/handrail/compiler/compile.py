"""Compiles any Document to a Plan: lowers it by dialect, then computes the fingerprint. Pure and deterministic.

A workflow arrives as a tree of positioned nodes, parsed but unchecked, in one of three forms: native (YAML, or a Python
file that has built the same tree), WorkRail-style JSON, or a dynamic Python flow, which becomes a single step because
its steps are known only when it runs. The front ends go through these stages:

1. Shape: `authoring.shapes.conform` checks the tree against the schema of its dialect. A workflow of the wrong shape
   goes no further, so the later stages may read keys without testing them again.
2. Passes (WorkRail only): templates, bindings, features, references and prompt blocks are rewritten from tree to tree.
   Their order is part of what a workflow means: features, for example, add references that the next pass resolves.
3. Lowering: each step becomes a step of the plan, from top to bottom. For native workflows a `Scope` holds the names in
   force, so a name that is unknown at that point, or has the wrong type, is found before anything runs.
4. Fingerprint: SHA-256 over the canonical form of the plan, without the parts that have no meaning for a run.

The result is either a plan or at least one error, never both: problems go to the `Report` with their position, and
lowering goes on with a harmless value, so that one compilation finds as many problems as possible. It is safe to
compile untrusted files: no stage executes anything or opens a file itself, names resolve only through the `Catalog`,
which records each lookup for the decision on trust, and the number of steps and the nesting of routines are limited.
The same document and catalog give the same plan on every machine, which is why a run can pin its fingerprint.
"""

from handrail.compiler.catalog import Catalog
from handrail.compiler.fingerprint import fingerprint
from handrail.compiler.outcome import CompileResult, StepPositions
from handrail.model.diagnostics import Report
from handrail.model.source import Document
from handrail.model.workflow.plan import Plan


def compile_document(document: Document, catalog: Catalog, report: Report | None = None) -> CompileResult:
    """Compile a workflow; every problem becomes a diagnostic, and with an error there is no plan."""
    report = Report() if report is None else report
    places, own = StepPositions(), catalog.fresh_copy().scope_to(document)
    plan = _lower(document, own, report, places)
    if plan is None or report.failed:
        return CompileResult(None, None, tuple(report), places, tuple(own.asked))
    return CompileResult(plan, fingerprint(plan), tuple(report), places, tuple(own.asked))


def _lower(document: Document, catalog: Catalog, report: Report, places: StepPositions) -> Plan | None:
    # Most projects write one dialect, and loading the other front end takes longer than compiling.
    if document.dialect == "workrail":
        from handrail.compiler.workrail.lower import lower_workrail  # noqa: PLC0415

        return lower_workrail(document, catalog, report, places)
    if document.dynamic:
        from handrail.compiler.dynamic import lower_dynamic  # noqa: PLC0415

        return lower_dynamic(document, catalog, report, places)
    from handrail.compiler.native.workflow import lower_native  # noqa: PLC0415

    return lower_native(document, catalog, report, places)
