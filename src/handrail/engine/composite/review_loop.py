"""The review loop: review, judge, fix, check, repeat. It ends with a verdict that can be explained, not just a limit.

1. A round begins with a review by a fresh reviewer, who sees no earlier conversation.
2. The verdict is computed after the review and after the judgement; see `convergence` for what each verdict means.
3. The last round ends with its review: nothing is fixed that nobody will review.
4. After a fix the checks must pass before the next review; the fixer gets what failed, up to three times in a round.
5. If an answer of the reviewer or arbiter does not match the requested form, it is asked for once more, in the same
   conversation. After that the loop ends as `no_answer`: what nobody reviewed is neither clean nor a finding.
6. `on_max` says what follows whenever the loop ends with relevant findings still open, or without an answer.
"""

from typing import cast

from handrail.engine.composite.command_spec import checks_of, gate_spec
from handrail.engine.composite.context import CompositeContext
from handrail.engine.prompts.agent_call import AgentRequest
from handrail.engine.review import convergence
from handrail.engine.review.answers import (
    JUDGE_SCHEMA,
    REVIEW_SCHEMA,
    judgement_problem,
    read_findings,
    read_judgement,
    review_problem,
)
from handrail.engine.state.budgets import ReachedLimit, spending_at
from handrail.engine.state.scope import evaluate_condition, value_of
from handrail.model.history.events import Event, RunEnded, StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import MAX_ASKS, MAX_REPAIRS, AgentLoopAction
from handrail.model.workflow.settings import AgentTask
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]
SETTLED = ("clean", "met", "declined")
"""The verdicts with which a loop has reached its goal."""


def initial_data(state: RunState, action: AgentLoopAction) -> Data:
    """Return the initial data of the loop, before its first round."""
    on = action.converge is not None
    severity = str(value_of(action.converge.severity, state)) if action.converge is not None else "low"
    ledger = convergence.begin(severity, action.converge.plateau if action.converge is not None else 2, enabled=on)
    after = "judge" if action.arbiter is not None else "fix"
    return {
        "phase": "review",
        "round": 1,
        "after": after,
        "checked": action.checks is not None,
        "ledger": ledger,
        "repairs": 0,
        "failed": "",
        "error": "",
        "asked": 0,
        "misfit": "",
        "silent": "",
    }


def decide_next_effort(ctx: CompositeContext, action: AgentLoopAction) -> Event:
    """Decide what the loop does next."""
    data = ctx.data
    if data["error"]:
        return ctx.fail(str(data["error"]))
    if data.get("silent"):
        return _end_unsettled(ctx, action, "no_answer")
    match data["phase"]:
        case "review":
            return _call_agent(ctx, _ask(ctx, action.reviewer, "reviewer", REVIEW_SCHEMA))
        case "check":
            return _check(ctx, action)
        case _:
            return _decide_end(ctx, action) or _call_next_role(ctx, action)


def _call_next_role(ctx: CompositeContext, action: AgentLoopAction) -> Event:
    if ctx.data["phase"] == "judge" and action.arbiter is not None:
        return _call_agent(ctx, _ask(ctx, action.arbiter, "arbiter", JUDGE_SCHEMA))
    return _call_agent(ctx, _ask(ctx, action.fixer or action.reviewer, "fixer", None))


def _call_agent(ctx: CompositeContext, ask: AgentRequest) -> Event:
    event = ctx.call(ask)
    return ctx.fail(event.message, blocks_budget=True) if isinstance(event, ReachedLimit) else event


def _decide_end(ctx: CompositeContext, action: AgentLoopAction) -> Event | None:
    """Return the event that ends the loop if there is a reason to end it now."""
    data = ctx.data
    ledger, fixing = data["ledger"], data["phase"] == "fix"
    if data["repairs"]:
        return None
    verdict = convergence.verdict(ledger)
    if verdict not in ("clean", "declined") and _is_exit_condition_met(ctx, action):
        verdict = "met"
    if verdict in SETTLED:
        return ctx.succeed(convergence.result(ledger, verdict, decides=action.decides))
    if verdict is None and fixing and cast("int", data["round"]) >= action.max_iterations:
        verdict = "max"
    return None if verdict is None else _end_unsettled(ctx, action, verdict)


def _is_exit_condition_met(ctx: CompositeContext, action: AgentLoopAction) -> bool:
    names = _names(ctx)
    return action.exit_when is not None and evaluate_condition(action.exit_when, ctx.state, names).result is True


def _end_unsettled(ctx: CompositeContext, action: AgentLoopAction, stopped: str) -> Event:
    """End the loop with findings open or without an answer, as `on_max` says."""
    result = convergence.result(ctx.data["ledger"], stopped, decides=action.decides)
    if action.on_max == "continue":
        return ctx.succeed(result)
    message = _describe_unsettled_end(ctx, action, stopped)
    if action.on_max == "fail":
        return RunEnded(status="failed", message=message, at=ctx.now)
    return ctx.fail(message, result)


def _describe_unsettled_end(ctx: CompositeContext, action: AgentLoopAction, stopped: str) -> str:
    loop = f"review loop '{ctx.work.address}'"
    match stopped:
        case "no_answer":
            role, misfit = ctx.data["silent"], ctx.data["misfit"]
            return f"the {role} of {loop} gave no valid answer, even when asked again: {misfit}"
        case "max":
            return f"{loop} still has open findings after its last round ({action.max_iterations})"
        case _:
            count = len(convergence.open_findings(ctx.data["ledger"]))
            found = "1 finding" if count == 1 else f"{count} findings"
            return f"{loop} stopped as '{stopped}' in round {ctx.data['round']} with {found} open"


def _check(ctx: CompositeContext, action: AgentLoopAction) -> Event:
    checks = checks_of(ctx.state, action.checks) if action.checks is not None else ()
    spec = gate_spec(ctx.state, ctx.step, checks, ctx.own)
    repairs = cast("int", ctx.data["repairs"])
    return StepBegan(address=_address(ctx, "checks"), action="gate", attempt=repairs + 1, spec=spec, at=ctx.now)


def _address(ctx: CompositeContext, role: str) -> str:
    return f"{ctx.work.address}@{ctx.data['round']}/{role}"


def _ask(ctx: CompositeContext, task: AgentTask, role: str, schema: JsonValue) -> AgentRequest:
    fixes = role == "fixer"
    before = cast("int", ctx.data.get("repairs" if fixes else "asked", 0))
    this = cast("int", ctx.data["round"])
    names = _names(ctx)
    return AgentRequest(
        task=task,
        address=_address(ctx, role),
        names={**names, **ctx.own},
        findings=None if role == "reviewer" else names["findings"],
        schema=schema,
        attempt=before + 1,
        attempts=MAX_REPAIRS if fixes else MAX_ASKS,
        failed=str(ctx.data["failed" if fixes else "misfit"]) if before else "",
        timeout=ctx.step.timeout,
        counted=tuple(f"{ctx.work.address}@{number}/{role}" for number in range(1, this + 1)),
    )


def _names(ctx: CompositeContext) -> Data:
    tree = ctx.state.tree
    since = f"what changed since commit {tree.commit[:12]} (`git diff {tree.commit[:12]}`)" if tree is not None else ""
    known = convergence.names(ctx.data["ledger"])
    spent = spending_at(ctx.state, ctx.work.address).usd
    return {**known, "round": ctx.data["round"], "changes": since, "cost": spent}


def record_outcome(data: Data, event: StepEnded) -> Data:
    """Record the outcome of a review, a judgement, a fix or the checks."""
    phase, failed = data["phase"], event.status == "failed"
    if phase == "check":
        return _record_checks(data, event)
    if failed:
        return {**data, "error": f"the {event.address.rpartition('/')[2]} failed: {event.error}"}
    if phase not in ("review", "judge"):
        return {**data, "phase": "check"} if data["checked"] else _next_round(data)
    said = str(event.details.get("summary") or event.stdout or "")
    # Loops recorded before answers were validated lack this field, and are read as they were then.
    misfit = _misfit(data, event.output, said) if "asked" in data else ""
    return _ask_again(data, misfit) if misfit else _record_answer(data, event.output, said)


def _misfit(data: Data, output: JsonValue, said: str) -> str:
    if data["phase"] == "review":
        return review_problem(output, said)
    return judgement_problem(output, said, convergence.open_findings(data["ledger"]))


def _ask_again(data: Data, misfit: str) -> Data:
    asked = cast("int", data["asked"]) + 1
    silent = "" if asked < MAX_ASKS else "reviewer" if data["phase"] == "review" else "arbiter"
    return {**data, "asked": asked, "misfit": f"the answer does not have the required form: {misfit}", "silent": silent}


def _record_answer(data: Data, output: JsonValue, said: str) -> Data:
    settled = {**data, "asked": 0, "misfit": ""} if "asked" in data else data
    if data["phase"] == "review":
        ledger = convergence.record_review(data["ledger"], read_findings(output, said))
        return {**settled, "phase": data["after"], "ledger": ledger}
    judgement = read_judgement(output, said, convergence.open_findings(data["ledger"]))
    return {**settled, "phase": "fix", "ledger": convergence.record_judgement(data["ledger"], judgement)}


def _record_checks(data: Data, event: StepEnded) -> Data:
    if event.status == "succeeded":
        return _next_round(data)
    repairs = cast("int", data["repairs"]) + 1
    output = event.output.get("output") if isinstance(event.output, dict) else ""
    if repairs >= MAX_REPAIRS:
        return {**data, "error": f"the checks still fail after {repairs} fixes: {event.error}"}
    return {**data, "phase": "fix", "repairs": repairs, "failed": str(output or event.error)}


def _next_round(data: Data) -> Data:
    ledger = convergence.record_fix(data["ledger"])
    number = cast("int", data["round"]) + 1
    return {**data, "phase": "review", "round": number, "ledger": ledger, "repairs": 0, "failed": ""}
