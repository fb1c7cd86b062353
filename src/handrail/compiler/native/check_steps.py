"""Lowers the steps that need no agent: script, gate, approval and end."""

import re
from typing import Literal, cast

from handrail.compiler.native.agent_tasks import REPEATED, lower_task
from handrail.compiler.native.context import Lowering, flag_of, int_of, text_of
from handrail.compiler.native.proofs import lower_checks
from handrail.compiler.native.texts import lower_command, lower_condition, lower_env, lower_expression, lower_optional
from handrail.compiler.record_types import OWN_FIELDS, STEP_FIELDS, record
from handrail.model.names import make_identifier
from handrail.model.source import Mapping, Scalar, Sequence
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.actions import ApprovalAction, Checks, EndAction, GateAction, NamedCommand, ScriptAction
from handrail.model.workflow.types import INT, STRING, Field, ListType, RecordType, Type
from handrail.model.workflow.values import Command, Expression

FAILURES: dict[str, Type] = {
    "failures": ListType(record(name=STRING, command=STRING, exit_code=INT, output=STRING)),
    "round": INT,
}
"""The names in a gate's fix beyond those of the step: which checks failed, and the number of the attempt."""

_PROJECT_COMMAND = re.compile(r"\$\{ *project\.(outdated|update) *\}")
AGENTS = frozenset({"agent", "agent-loop", "review"})
REVISABLE = frozenset({"agent", "agent-loop", "review", "parallel-agents", "loop", "workflow", "use", "gate", "script"})


def lower_script(work: Lowering, node: Mapping, _: Type | None) -> ScriptAction:
    """Lower a script; `${project.outdated}` alone stands for the command in the project's configuration."""
    command = node.entries["command"].value
    own = _PROJECT_COMMAND.fullmatch((text_of(command) or "").strip())
    return ScriptAction(
        lower_command(work, command) if own is None else Command(own[0]),
        lower_env(work, node.get("env")),
        flag_of(node.get("repeatable"), default=True),
        node.get("returns") is not None,
        "exit_loop" if "on_success" in node else None,
        None if own is None else cast("Literal['outdated', 'update']", own[1]),
    )


def lower_gate(work: Lowering, node: Mapping, _: Type | None) -> GateAction:
    """Lower a gate, whose fix can read the checks that failed."""
    checks = lower_checks(work, node.get("checks"))
    command = node.get("command")
    if command is not None:
        checks = Checks(commands=(NamedCommand(text_of(node.get("name")) or "command", lower_command(work, command)),))
    fix = node.get("fix")
    task = None
    # The fix runs after the gate has failed, so it may read the gate's own result.
    name = make_identifier(text_of(node.get("name")) or "")
    table = work.scope.steps.table
    table[name] = Field(name, RecordType((*OWN_FIELDS["gate"], *STEP_FIELDS)))
    if fix is not None:
        with work.scope.enter_body(FAILURES):
            task = lower_task(work, fix, None, REPEATED)
    warn_when = lower_condition(work, node.get("warn_when"))
    message = lower_optional(work, node.get("message"))
    del table[name]
    return GateAction(
        checks=checks or Checks(project=True),
        fix=task,
        env=lower_env(work, node.get("env")),
        warn_when=warn_when,
        message=message,
    )


def lower_approval(work: Lowering, node: Mapping, _: Type | None) -> ApprovalAction:
    """Lower an approval, and find the step to which a revision returns."""
    return ApprovalAction(
        message=lower_optional(work, node.get("message")),
        show=_lower_show(work, node),
        revise=_revise(work, node),
        max_revisions=int_of(node.get("max"), 3),
    )


def _lower_show(work: Lowering, node: Mapping) -> tuple[Expression, ...]:
    place = node.get("show")
    items = place.items if isinstance(place, Sequence) else (place,) if place is not None else ()
    with work.scope.enter_body({"diff": STRING}):
        return tuple(lower_expression(work, item)[0] for item in items if isinstance(item, Scalar))


def _revise(work: Lowering, node: Mapping) -> str | None:
    place = node.get("revise")
    wanted = text_of(place)
    if wanted is None or place is None:
        stop = text_of(node.get("on_reject")) == "stop"
        return None if stop else _nearest_agent(work)
    kind = work.earlier.get(wanted)
    if kind is None:
        guess = did_you_mean(wanted, work.earlier)
        hint = "steps before it in the same list: " + (", ".join(work.earlier) or "none")
        work.report.error("unknown-step", f"no earlier step is called '{wanted}'{guess}", place, hint)
    elif kind not in REVISABLE:
        work.report.error("unknown-step", f"step '{wanted}' of type {kind} cannot be revised", place)
    return wanted


def _nearest_agent(work: Lowering) -> str | None:
    for name in reversed(work.earlier):
        if work.earlier[name] in AGENTS:
            return name
    return None


def lower_end(work: Lowering, node: Mapping, _: Type | None) -> EndAction:
    """Lower a step that ends the run early."""
    failed = text_of(node.get("status")) == "failed"
    return EndAction(lower_optional(work, node.get("message")), "failed" if failed else "succeeded")
