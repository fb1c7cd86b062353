"""Compiles a call of a flow: a workflow of one step, which knows the flow's inputs and the values of the call."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from handrail.compiler.catalog import Catalog, EmptyWorkflowIndex
from handrail.compiler.compile import compile_document
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, SourceText, Span
from handrail.model.source import Mapping as Node
from handrail.model.workflow.actions import DynamicAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins

_ITSELF = "this-call"
"""The temporary name of a step that continues a conversation with the same name as the step."""


class RefusedCall(Exception):
    """A call of a dynamic flow cannot be performed as written."""


@frozen
class Conversation:
    """An earlier call of an agent, whose conversation a later call may continue."""

    name: str
    agent: JsonValue = None
    model: JsonValue = None


class _AnyWorkflow(EmptyWorkflowIndex):
    """Accepts every workflow name: what it means is found out, and its trust is checked, when its run is started."""

    def find(self, asker: str, name: str) -> Document | None:  # noqa: ARG002 (the protocol's parameters)
        """Find a workflow about which nothing is known, so that nothing of it is checked."""
        nowhere = SourceText(name, "")
        return Document("json", "workrail", Node({}, Span(nowhere, 0, 0)), Bundle(name, {name: nowhere}))


def compile_call(
    flow: Plan,
    asked: Mapping[str, JsonValue],
    names: Mapping[str, JsonValue],
    builtins: "Callable[[], Builtins]",
    talks: Sequence[Conversation],
) -> Plan:
    """Compile the plan of the one step that a flow asks for; raises RefusedCall with what is wrong with it."""
    from handrail.authoring.python.objects import Workflow, build_document  # noqa: PLC0415 (few runs are dynamic)

    report = Report()
    name = str(asked.get("name", ""))
    earlier = _earlier(talks) if asked.get("session") else []
    known_as = _ITSELF if any(each["name"] == name for each in earlier) else name
    declared = {each: "issue" if each == "issue" else "json" for each in names}
    workflow = Workflow("call", input=declared, steps=[*earlier, {**asked, "name": known_as}])
    document = build_document(workflow, _bundle(flow), report)
    index = _AnyWorkflow() if asked.get("type") == "workflow" else EmptyWorkflowIndex()
    plan = None if document is None else compile_document(document, Catalog(builtins(), index=index), report).plan
    if plan is None:
        raise RefusedCall("; ".join(_words(each.message, each.hint) for each in report if each.is_error))
    return replace(plan, steps=(replace(plan.steps[-1], name=name),))


def _bundle(flow: Plan) -> Bundle:
    """Return the files of a flow as they were pinned with it."""
    action = next(each.action for each in flow.steps if isinstance(each.action, DynamicAction))
    files = {each.path: SourceText(each.path, each.text) for each in action.files}
    return Bundle(action.file, {**files, action.file: SourceText(action.file, action.source)})


def _earlier(talks: Sequence[Conversation]) -> list[dict[str, JsonValue]]:
    """Convert earlier agent calls to steps that a session may name; of a name that was called twice, the last."""
    last: dict[str, Conversation] = {}
    for talk in talks:
        last.pop(talk.name, None)
        last[talk.name] = talk
    said = ({"name": each.name, "agent": each.agent, "model": each.model} for each in last.values())
    return [
        {"type": "agent", "prompt": "An earlier call.", **{key: value for key, value in each.items() if value}}
        for each in said
    ]


def _words(message: str, hint: str | None) -> str:
    return f"{message}: {hint}" if hint else message
