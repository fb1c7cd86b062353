"""Lowers a list of native steps: dispatches by type, then lowers what all steps have in common."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from handrail.authoring.native.steps import STEPS
from handrail.authoring.shapes.conform import choose
from handrail.compiler.native.agent_tasks import lower_budget
from handrail.compiler.native.agents import lower_agent, lower_agent_loop, lower_review
from handrail.compiler.native.check_steps import lower_approval, lower_end, lower_gate, lower_script
from handrail.compiler.native.context import Conversation, Lowering, int_of, seconds, text_of
from handrail.compiler.native.proofs import lower_assess, lower_proofs
from handrail.compiler.native.texts import find_own_names, lower_condition, lower_inputs, value_type
from handrail.compiler.native.types import read_type
from handrail.compiler.record_types import RESULTS
from handrail.compiler.scope import RESERVED
from handrail.late_import import late_import
from handrail.model.names import make_identifier
from handrail.model.source import Entry, Mapping, Node, Sequence
from handrail.model.workflow.actions import Action, AgentAction, ApprovalAction, GroupAction
from handrail.model.workflow.plan import Injected, Step
from handrail.model.workflow.proofs import Proof
from handrail.model.workflow.settings import NO_RETRY, OnFail, Retry
from handrail.model.workflow.types import ANY, RecordType, Type
from handrail.model.workflow.values import Expression, TextWithHoles

if TYPE_CHECKING:
    from handrail.compiler.native import calls, delivery, loops
else:
    delivery = late_import("handrail.compiler.native.delivery")
    calls = late_import("handrail.compiler.native.calls")
    loops = late_import("handrail.compiler.native.loops")

LowerAction = Callable[[Lowering, Mapping, Type | None], Action]

ACTIONS: dict[str, LowerAction] = {
    "agent": lower_agent,
    "agent-loop": lower_agent_loop,
    "review": lower_review,
    "script": lower_script,
    "gate": lower_gate,
    "approval": lower_approval,
    "end": lower_end,
}

APPROVAL = "-approval"
"""The suffix that names the approval step of an agent step with `requires_approval`."""

WITH_BODY = frozenset({"loop", "parallel-agents", "use"})
AGENT_FAMILY = frozenset({"agent", "agent-loop", "review"})

FAILS: dict[str, OnFail] = {"script": "fail", "end": "fail"}
"""What a step without `on_fail` does when it has failed for good; all other types block."""

ALLOWED_ON_FAIL: dict[str, frozenset[str]] = {
    "gate": frozenset({"block", "fail", "continue", "warn", "retry", "escalate"}),
    "parallel-agents": frozenset({"block", "continue", "fail", "undo", "escalate"}),
    "loop": frozenset({"block", "continue", "fail", "undo", "escalate"}),
    "agent": frozenset({"block", "fail", "continue", "warn", "escalate", "undo"}),
    "script": frozenset({"block", "fail", "continue", "warn", "escalate", "undo"}),
}
ON_FAIL_ELSEWHERE = frozenset({"block", "fail", "continue", "warn", "escalate"})


def lower_steps(work: Lowering, node: Sequence, prefix: str) -> tuple[Step, ...]:
    """Lower a list of steps in order; each makes its names known to the steps after it."""
    found: list[Step] = []
    made: list[str] = []
    seen: dict[str, Node] = {}
    for item in node.items:
        if work.report.dropped and work.report.failed:
            # There will be no plan, and further problems are not shown; suggesting names in a huge file is expensive.
            break
        if isinstance(item, Mapping):
            _check_name(work, item, seen)
            step = lower_step(work, item, prefix)
            found.append(step)
            work.scope.define(step)
            work.earlier[step.name] = choose(STEPS, item) or step.action.kind
            if isinstance(step.action, AgentAction):
                work.talks.append(Conversation(step.name, step.action.task.agent))
                if step.action.requires_approval:
                    found.append(_build_approval(work, step))
                    made.append(found[-1].name)
    for name in made:
        _check_made(work, name, seen)
    return tuple(found)


def _build_approval(work: Lowering, step: Step) -> Step:
    """Build the step in which a person approves an agent's work or sends it back."""
    record = f"steps.{make_identifier(step.name)}"
    approval = Step(
        name=step.name + APPROVAL,
        action=ApprovalAction(
            message=TextWithHoles((f"Step '{step.name}' is done: ", Expression(f"{record}.summary"))),
            show=(Expression("diff"),),
            revise=step.name,
        ),
        description=f"step '{step.name}' requires approval",
        when=Expression(f"{record}.status == 'succeeded'"),
    )
    work.scope.define(approval)
    work.earlier[approval.name] = approval.action.kind
    return approval


def _check_made(work: Lowering, name: str, seen: dict[str, Node]) -> None:
    """Report a step of the author's that has the name of a generated approval step."""
    place = seen.get(make_identifier(name))
    if place is not None:
        message = f"'{name}' is the name of the step that approves '{name.removesuffix(APPROVAL)}'"
        work.report.error("duplicate-step", message, place, "rename this step, or remove `requires_approval`")


def _check_name(work: Lowering, node: Mapping, seen: dict[str, Node]) -> None:
    place = node.entries["name"].value
    name = text_of(place) or ""
    first = seen.setdefault(make_identifier(name), place)
    other = text_of(first)
    if first is place:
        return
    if other == name:
        line = first.span.source.position(first.span.start).line
        message = f"there are two steps called '{name}', the first at line {line}"
        work.report.error("duplicate-step", message, place, "rename one of them")
    else:
        hint = "expressions write - as _, so the two could not be distinguished"
        work.report.error("ambiguous-name", f"the steps '{other}' and '{name}' differ only in - and _", place, hint)


def lower_step(work: Lowering, node: Mapping, prefix: str) -> Step:
    """Lower one step."""
    work.count.steps += 1
    kind = choose(STEPS, node) or "agent"
    name = text_of(node.get("name")) or ""
    address = prefix + name
    work.places.remember(address, node)
    whole_node = node
    if kind == "parallel-agents" and "prompt" in node:
        node = loops.drop_lone_keys(node)
    when = lower_condition(work, node.get("when"))
    inputs = lower_inputs(work, node.get("input"))
    returns_node = node.get("returns")
    returns = read_type(work, returns_node) if returns_node is not None else None
    own: dict[str, Type] = {make_identifier(e.name): value_type(work, e.value) for e in _entries(node.get("input"))}
    # The steps of a body do not see the input of the step around them.
    given = frozenset[str]() if kind in WITH_BODY else find_own_names(work, inputs)
    with work.scope.enter_body(own, own=given):
        action = _action(work, kind, whole_node, address, returns)
    assess, follow_ups = lower_assess(work, node.get("assess"), address)
    _output(work, node)
    step = Step(
        name=name,
        action=action,
        description=text_of(node.get("description")) or "",
        when=when,
        input=() if isinstance(action, GroupAction) else inputs,
        output=text_of(node.get("output")),
        returns=returns,
        done_when=_proofs(work, kind, node, returns),
        timeout=seconds(_setting(work, node, kind, "timeout")),
        retry=_retry(_setting(work, node, kind, "retry")),
        on_fail=FAILS.get(kind, "block"),
        escalate_to=text_of(node.get("escalate_to")),
        budget=lower_budget(_setting(work, node, kind, "budget")),
        assess=assess,
        follow_ups=follow_ups,
    )
    return _on_fail(work, node, kind, step)


def _proofs(work: Lowering, kind: str, node: Mapping, returns: Type | None) -> tuple[Proof, ...]:
    """Lower the step's proofs, which may refer to its output."""
    output = text_of(node.get("output"))
    type_ = returns if returns is not None else RESULTS.get(kind, ANY)
    with work.scope.enter_body({} if output is None else {make_identifier(output): type_}):
        return lower_proofs(work, node.get("done_when"), "" if output is None else make_identifier(output))


def _setting(work: Lowering, node: Mapping, kind: str, key: str) -> Node | None:
    """Return a step's value for a key; the workflow's defaults apply only to steps that ask agents."""
    return work.setting(node, key) if kind in AGENT_FAMILY else node.get(key)


def _entries(node: Node | None) -> list[Entry]:
    return list(node) if isinstance(node, Mapping) else []


def _action(work: Lowering, kind: str, node: Mapping, address: str, returns: Type | None) -> Action:
    match kind:
        case "loop":
            return loops.lower_loop(work, node, address, lower_steps)
        case "parallel-agents":
            return loops.lower_parallel(work, node, address, lower_steps)
        case "use":
            group = calls.lower_use(work, node, lower_inputs(work, node.get("input")), lower_steps)
            mark = Injected(group.routine, address, f"step '{address}' uses it")
            return replace(group, steps=tuple(_mark(step, mark) for step in group.steps))
        case "workflow":
            return calls.lower_call(work, node, returns)
        case "commit" | "merge" | "pull-request" | "create-issues":
            return delivery.LOWER[kind](work, node, returns)
        case _:
            return ACTIONS[kind](work, node, returns)


def _mark(step: Step, injected: Injected) -> Step:
    return step if step.injected is not None else replace(step, injected=injected)


def _output(work: Lowering, node: Mapping) -> None:
    place = node.get("output")
    name = text_of(place)
    if (
        name is not None
        and place is not None
        and (make_identifier(name) in RESERVED or make_identifier(name) in _input_names(work))
    ):
        owner = "an input of the workflow" if make_identifier(name) in _input_names(work) else "reserved by Handrail"
        work.report.error("reserved-name", f"'{name}' is {owner}", place, "choose another name for the output")


def _input_names(work: Lowering) -> tuple[str, ...]:
    declared = work.scope.names["input"]
    return declared.names() if isinstance(declared, RecordType) else ()


def _retry(node: Node | None) -> Retry:
    if isinstance(node, Mapping):
        return Retry(int_of(node.get("max"), 0), seconds(node.get("backoff")) or 0)
    more = int_of(node, 0)
    return Retry(more) if more else NO_RETRY


def _on_fail(work: Lowering, node: Mapping, kind: str, step: Step) -> Step:
    place = node.get("on_fail")
    word = text_of(place)
    if word is None or place is None:
        return step
    allowed = ALLOWED_ON_FAIL.get(kind, ON_FAIL_ELSEWHERE)
    if word not in allowed:
        hint = "use " + ", ".join(sorted(allowed))
        work.report.error("bad-value", f"`on_fail: {word}` is not supported on a step of type {kind}", place, hint)
        return step
    if word == "retry":
        return _gate_retry(work, node, place, step)
    return replace(step, on_fail=cast("OnFail", word))


def _gate_retry(work: Lowering, node: Mapping, place: Node, step: Step) -> Step:
    if "fix" in node:
        hint = "`fix` already retries; state what happens after the last try, for example `on_fail: block`"
        work.report.warning("no-effect", "`on_fail: retry` has no effect together with `fix`", place, hint)
        return step
    return step if step.retry.more else replace(step, retry=Retry(3))
