"""Keys that are allowed on every step but have no meaning on some types."""

from handrail.authoring.native.parts import AGENT_SETTINGS
from handrail.authoring.native.steps import STEPS
from handrail.authoring.shapes.conform import choose
from handrail.compiler.lint.context import LintContext
from handrail.compiler.lint.walk import Visit
from handrail.model.source import Mapping, Scalar

SETTINGS = frozenset(AGENT_SETTINGS)
ASSESS_KEYS = frozenset({"assess"})
MESSAGE_KEYS = frozenset({"message"})
RETURN_KEYS = frozenset({"returns"})
BUDGET_KEYS = frozenset({"budget"})
RETRY_KEYS = frozenset({"retry"})
PROOF_KEYS = frozenset({"done_when"})

NO_EFFECT: dict[str, frozenset[str]] = {
    "agent": MESSAGE_KEYS,
    "agent-loop": MESSAGE_KEYS | ASSESS_KEYS | {"session"},
    "review": MESSAGE_KEYS | ASSESS_KEYS | {"session"},
    "loop": MESSAGE_KEYS | ASSESS_KEYS | RETURN_KEYS | {"session"},
    "parallel-agents": MESSAGE_KEYS | ASSESS_KEYS | RETURN_KEYS | {"session"},
    "script": SETTINGS | ASSESS_KEYS | MESSAGE_KEYS,
    "gate": SETTINGS | ASSESS_KEYS | RETURN_KEYS,
    "approval": SETTINGS | ASSESS_KEYS | RETURN_KEYS | BUDGET_KEYS | RETRY_KEYS | PROOF_KEYS,
    "end": SETTINGS
    | ASSESS_KEYS
    | RETURN_KEYS
    | BUDGET_KEYS
    | RETRY_KEYS
    | PROOF_KEYS
    | {"output", "timeout", "on_fail"},
    "commit": SETTINGS | ASSESS_KEYS | RETURN_KEYS | BUDGET_KEYS,
    "create-issues": SETTINGS | ASSESS_KEYS | RETURN_KEYS | BUDGET_KEYS | MESSAGE_KEYS,
    "merge": SETTINGS | ASSESS_KEYS | RETURN_KEYS | MESSAGE_KEYS,
    "pull-request": SETTINGS | ASSESS_KEYS | RETURN_KEYS | MESSAGE_KEYS,
    "workflow": SETTINGS | ASSESS_KEYS | MESSAGE_KEYS,
    "use": SETTINGS | ASSESS_KEYS | MESSAGE_KEYS,
}
"""Common keys without a meaning, by type; what loops and fan-outs pass on to their body has one."""

SOLE_KEYS = frozenset({"assess", "returns"})
"""Keys of a fan-out with a lone `prompt` that apply to its single step."""

ASKS: dict[str, tuple[str, ...]] = {
    "gate": ("fix",),
    "merge": ("on_conflict",),
    "pull-request": ("body", "follow"),
}
"""The keys under which such a step asks an agent, and where settings belong."""

ALTERNATIVES: dict[str, str] = {
    "message": "it is shown only for gate, approval and end steps; for readers of the file use `description`",
    "assess": "it applies only to agent steps",
    "session": "only agent steps can continue a conversation",
    "returns": "leave it out; the type of its result is fixed",
    "budget": "leave it out; the step costs nothing",
    "done_when": "put it on the step whose work it proves",
}


def lint_keys_without_effect(context: LintContext) -> None:
    """Warn of keys that have no effect on a step of that type."""
    for visit in context.own if context.document.dialect == "native" else ():
        if visit.node is not None:
            _check(context, visit, visit.node)


def _check(context: LintContext, visit: Visit, node: Mapping) -> None:
    kind = choose(STEPS, node) or "agent"
    idle = NO_EFFECT.get(kind, frozenset())
    if kind == "parallel-agents" and "steps" not in node:
        idle -= SOLE_KEYS
    article = "an" if kind[0] in "aei" else "a"
    for entry in node:
        if entry.name in idle:
            message = f"`{entry.name}` has no effect on {article} {kind} step"
            context.report.warning("no-effect", message, entry, _hint(kind, entry.name, node))
    if "escalate_to" in node and not _escalates(visit, node):
        message = "`escalate_to` has no effect without `on_fail: escalate`"
        context.report.warning("no-effect", message, node.entries["escalate_to"], "add `on_fail: escalate`")


def _escalates(visit: Visit, node: Mapping) -> bool:
    on_max = node.get("on_max")
    return visit.step.on_fail == "escalate" or (isinstance(on_max, Scalar) and on_max.value == "escalate")


def _hint(kind: str, key: str, node: Mapping) -> str:
    asks = [name for name in ASKS.get(kind, ()) if name in node]
    if key in SETTINGS and asks:
        return f"write it inside `{asks[0]}`, where the agent is called"
    if key in SETTINGS and kind in ("workflow", "use"):
        return "set it in the other workflow"
    fallback = "remove it; no agent is called here" if key in SETTINGS else "remove it"
    return ALTERNATIVES.get(key, fallback)
