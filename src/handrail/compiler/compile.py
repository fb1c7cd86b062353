"""From Document to Plan, whatever the form: lowers by dialect, then fingerprints. Pure and deterministic."""

from handrail.compiler.catalog import Catalog
from handrail.compiler.fingerprint import fingerprint
from handrail.compiler.outcome import Compiled, Places
from handrail.model.diagnostics import Report
from handrail.model.source import Document
from handrail.model.workflow.plan import Plan


def compile_document(document: Document, catalog: Catalog, report: Report | None = None) -> Compiled:
    """Compile a workflow; every problem is a diagnostic, and an error means there is no plan."""
    report = Report() if report is None else report
    places, own = Places(), catalog.afresh().inside(document)
    plan = _lower(document, own, report, places)
    if plan is None or report.failed:
        return Compiled(None, None, tuple(report), places, tuple(own.asked))
    return Compiled(plan, fingerprint(plan), tuple(report), places, tuple(own.asked))


def _lower(document: Document, catalog: Catalog, report: Report, places: Places) -> Plan | None:
    # Most projects write one dialect, and loading the other front end takes longer than compiling.
    if document.dialect == "workrail":
        from handrail.compiler.workrail.lower import lower_workrail  # noqa: PLC0415

        return lower_workrail(document, catalog, report, places)
    if document.dynamic:
        from handrail.compiler.dynamic import lower_dynamic  # noqa: PLC0415

        return lower_dynamic(document, catalog, report, places)
    from handrail.compiler.native.workflow import lower_native  # noqa: PLC0415

    return lower_native(document, catalog, report, places)
