"""From Document to Plan, whatever the form: lowers by dialect, then fingerprints. Pure and deterministic."""

from handrail.compiler.catalog import Catalog
from handrail.compiler.fingerprint import fingerprint
from handrail.compiler.native.workflow import lower_native
from handrail.compiler.outcome import Compiled, Places
from handrail.compiler.workrail.lower import lower_workrail
from handrail.model.diagnostics import Report
from handrail.model.document import Document


def compile_document(document: Document, catalog: Catalog, report: Report | None = None) -> Compiled:
    """Compile a workflow; every problem is a diagnostic, and an error means there is no plan."""
    report = Report() if report is None else report
    places = Places()
    lower = lower_workrail if document.dialect == "workrail" else lower_native
    plan = lower(document, catalog, report, places)
    if plan is None or report.failed:
        return Compiled(None, None, tuple(report), places)
    return Compiled(plan, fingerprint(plan), tuple(report), places)
