"""Lowers a Python file whose `run` function calls steps to a plan with one step, which carries the file's text."""

from handrail.authoring.native.parts import BUDGET
from handrail.authoring.shapes.conform import conform
from handrail.compiler.catalog import Catalog
from handrail.compiler.native.agent_tasks import lower_budget
from handrail.compiler.native.context import Lowering, text_of
from handrail.compiler.native.inputs import lower_declared_inputs
from handrail.compiler.outcome import StepPositions
from handrail.compiler.scope import Scope
from handrail.model.diagnostics import Report
from handrail.model.source import Document
from handrail.model.workflow.actions import DynamicAction, FlowFile
from handrail.model.workflow.plan import Plan, Step

FLOW = "flow"
"""The name of the only step of such a plan."""


def lower_dynamic(document: Document, catalog: Catalog, report: Report, places: StepPositions) -> Plan:
    """Lower a dynamic flow; which steps it calls is known only when it runs."""
    root, bundle = document.root, document.bundle
    work = Lowering(document, catalog, report, places, Scope(()))
    places.remember(FLOW, root)
    budget = root.get("budget")
    if budget is not None:
        conform(BUDGET, budget, report)
    prompts = sorted((path, text.text) for path, text in bundle.files.items() if path != bundle.main)
    files = tuple(FlowFile(path, text) for path, text in prompts)
    action = DynamicAction(bundle.source.text, bundle.main, files, document.origin)
    return Plan(
        name=text_of(root.get("name")) or "",
        description=(text_of(root.get("description")) or "").strip(),
        inputs=lower_declared_inputs(work, root.get("input")),
        steps=(Step(name=FLOW, action=action, output=FLOW, on_fail="fail"),),
        budget=lower_budget(budget),
    )
