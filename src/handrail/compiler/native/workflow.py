"""Lowers a whole native workflow."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.conform import conform
from handrail.compiler.catalog import Catalog
from handrail.compiler.native.agent_tasks import lower_budget
from handrail.compiler.native.context import (
    GUIDING,
    Lowering,
    OutputProducer,
    int_of,
    seconds,
    text_of,
    texts_of,
    with_own_words,
)
from handrail.compiler.native.inputs import lower_declared_inputs
from handrail.compiler.native.steps import lower_steps
from handrail.compiler.native.texts import lower_value
from handrail.compiler.outcome import StepPositions
from handrail.compiler.scope import Scope
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.names import make_identifier
from handrail.model.source import Document, Mapping, Node, Sequence
from handrail.model.workflow.plan import Concurrency, Plan

if TYPE_CHECKING:
    from handrail.compiler.native import guidance, triggers
else:
    guidance = late_import("handrail.compiler.native.guidance")
    triggers = late_import("handrail.compiler.native.triggers")


def lower_native(document: Document, catalog: Catalog, report: Report, places: StepPositions) -> Plan | None:
    """Lower a native workflow to a plan; None where its shape is wrong."""
    if not conform(WORKFLOW, document.root, report):
        return None
    document = with_own_words(document, report)
    root = document.root
    work = Lowering(document, catalog, report, places, Scope(()))
    inputs = lower_declared_inputs(work, root.get("input"))
    work.scope = Scope(inputs)
    defaults = root.get("defaults")
    work.defaults = {entry.name: entry.value for entry in defaults} if isinstance(defaults, Mapping) else {}
    if GUIDING & root.entries.keys():
        guidance.lower_guides(work)
    body = root.entries["steps"].value
    work.later = dict(_outputs(body))
    steps = lower_steps(work, body, "") if isinstance(body, Sequence) else ()
    stamp = int_of(root.get("validated_against_spec"), 0)
    return Plan(
        name=text_of(root.get("name")) or "",
        description=(text_of(root.get("description")) or "").strip(),
        steps=steps,
        inputs=inputs,
        triggers=triggers.lower_triggers(work, root.get("trigger")) if "trigger" in root else (),
        concurrency=_concurrency(work, root.get("concurrency")),
        budget=lower_budget(root.get("budget")),
        timeout=seconds(root.get("timeout")),
        labels=tuple(sorted(texts_of(root.get("labels")))),
        classifications=tuple(sorted(texts_of(root.get("classifications")))),
        guided=work.guides.workflow(),
        assessments=tuple(work.assessments[key] for key in sorted(work.assessments)),
        validated_against=stamp or None,
    )


def _outputs(node: Node, fan_out: str | None = None) -> Iterator[tuple[str, OutputProducer]]:
    """List every output with the step that produces it, at any depth."""
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            output, name = text_of(item.get("output")), text_of(item.get("name"))
            if output is not None and name is not None:
                yield make_identifier(output), OutputProducer(name, fan_out)
            inner = item.get("steps")
            if inner is not None:
                parallel = text_of(item.get("type")) == "parallel-agents"
                yield from _outputs(inner, fan_out or (name if parallel else None))


def _concurrency(work: Lowering, node: Node | None) -> Concurrency | None:
    if not isinstance(node, Mapping):
        return None
    word = text_of(node.get("if_running")) or "queue"
    return Concurrency(lower_value(work, node.entries["key"].value), cast("Literal['skip', 'queue', 'stop_old']", word))
