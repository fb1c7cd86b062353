"""Merges several branches, one after the other, checking each; a branch that does not fit is backed out and named.

1. Branches are merged in dependency order.
2. A conflict goes to an agent if the step has one, up to its limit of calls; otherwise the branch is left out.
3. The checks run after each merge; if they fail, that merge is backed out. Earlier merges stay.
4. A branch that could not be merged blocks the run at the end: nothing is lost, all branches still exist.
"""

from typing import cast

from handrail.engine.composite.command_spec import checks_of, gate_spec
from handrail.engine.composite.context import CompositeContext
from handrail.engine.prompts.agent_call import AgentRequest
from handrail.engine.state.budgets import ReachedLimit
from handrail.engine.state.scope import value_of
from handrail.model.history.events import Event, StepBegan, StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import MergeAction
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]


def initial_data(state: RunState, action: MergeAction) -> Data:
    """Return the initial data of the step, before its first branch."""
    return {
        "phase": "merge",
        "branches": cast("JsonValue", _branches(value_of(action.branches, state))),
        "at": 0,
        "asked": 0,
        "most": action.on_conflict.max if action.on_conflict is not None else 0,
        "checked": action.checks is not None,
        "files": [],
        "why": "",
        "merged": [],
        "left": [],
        "error": "",
    }


def _branches(value: JsonValue) -> list[dict[str, JsonValue]]:
    """List the branches to merge, in dependency order: plain names, or the items of a fan-out that succeeded."""
    listed = value if isinstance(value, list) else [value]
    records = [each for each in listed if isinstance(each, dict)]
    good = {str(each.get("key")): each for each in records if each.get("status") == "succeeded"}
    ordered: dict[str, dict[str, JsonValue]] = {}

    def add(key: str) -> None:
        if key in good and key not in ordered:
            after = good[key].get("after")
            for other in after if isinstance(after, list) else []:
                add(str(other))
            ordered[key] = {"name": key, "commit": good[key].get("commit") or good[key].get("branch")}

    for key in good:
        add(key)
    plain: list[dict[str, JsonValue]] = [{"name": each, "commit": each} for each in listed if isinstance(each, str)]
    return [*ordered.values(), *plain]


def decide_next_effort(ctx: CompositeContext, action: MergeAction) -> Event:
    """Decide what the merge does next."""
    data = ctx.data
    branches, at = cast("list[Data]", data["branches"]), cast("int", data["at"])
    if data["error"]:
        return ctx.fail(str(data["error"]))
    if at >= len(branches):
        return _finish(ctx)
    branch = branches[at]
    address = f"{ctx.work.address}/{branch['name']}"
    match data["phase"]:
        case "resolve" if action.on_conflict is not None:
            event = ctx.call(_resolve(ctx, action, address))
            return _merge(ctx, branch, "abandon", address) if isinstance(event, ReachedLimit) else event
        case "check":
            checks = checks_of(ctx.state, action.checks) if action.checks is not None else ()
            spec = gate_spec(ctx.state, ctx.step, checks, ctx.own)
            return StepBegan(address=f"{address}/checks", action="gate", attempt=1, spec=spec, at=ctx.now)
        case phase:
            return _merge(ctx, branch, str(phase), address)


def _merge(ctx: CompositeContext, branch: Data, how: str, address: str) -> StepBegan:
    # Only the merge itself is recorded at the branch's own address, so its `before` is the tree to go back to.
    back_to = ctx.state.steps[address].before if how == "abandon" else ""
    named: Data = {"how": how, "name": branch["name"], "commit": branch["commit"]}
    spec: Data = {**named, "markers": ctx.data["most"] != 0, "back_to": back_to}
    own = address if how == "merge" else f"{address}/{how}"
    return StepBegan(address=own, action="merge", attempt=1, spec=spec, at=ctx.now)


def _resolve(ctx: CompositeContext, action: MergeAction, address: str) -> AgentRequest:
    data = ctx.data
    asked = cast("int", data["asked"])
    conflict: Data = {"branch": address.rpartition("/")[2], "files": data["files"], "message": data["why"]}
    task = action.on_conflict
    if task is None:
        raise AssertionError("a conflict is only resolved if the step has `on_conflict`")
    return AgentRequest(
        task=task,
        address=f"{address}/resolve",
        names={**ctx.own, "conflict": conflict, "round": asked + 1},
        attempt=asked + 1,
        attempts=task.max,
        failed=f"merging '{conflict['branch']}': {data['why']}",
        timeout=ctx.step.timeout,
        counted=tuple(f"{ctx.work.address}/{each['name']}/resolve" for each in cast("list[Data]", data["branches"])),
    )


def _finish(ctx: CompositeContext) -> Event:
    data = ctx.data
    left = cast("list[Data]", data["left"])
    result: Data = {"merged": data["merged"], "left": data["left"]}
    if not left:
        return ctx.succeed(result)
    named = "; ".join(f"{each['name']}: {each['why']}" for each in left)
    return ctx.fail(f"not merged: {named}", result, blocks_budget=bool(data.get("unpaid")))


def record_outcome(data: Data, event: StepEnded) -> Data:
    """Record the outcome of a merge, a conflict resolution or the checks."""
    output = event.output if isinstance(event.output, dict) else {}
    match data["phase"]:
        case "resolve" if event.address.endswith("/abandon"):
            # No agent could be called within the budget, so the conflicting merge was backed out instead.
            data = {**data, "why": f"{data['why']}, and the budget is used up", "unpaid": True}
            return (
                _advance_to_next_branch(data, merged=False)
                if event.status == "succeeded"
                else {**data, "error": event.error}
            )
        case "resolve":
            asked = cast("int", data["asked"]) + 1
            return {**data, "phase": "conclude", "asked": asked}
        case "check":
            if event.status == "succeeded":
                return _advance_to_next_branch(data, merged=True)
            return {**data, "phase": "abandon", "why": f"its checks fail: {event.error}"}
        case "abandon":
            return (
                _advance_to_next_branch(data, merged=False)
                if event.status == "succeeded"
                else {**data, "error": event.error}
            )
        case _ if event.status == "failed":
            return {**data, "error": event.error}
        case _ if output.get("conflict"):
            return _record_conflict(data, output)
        case _:
            return {**data, "phase": "check"} if data["checked"] else _advance_to_next_branch(data, merged=True)


def _record_conflict(data: Data, output: Data) -> Data:
    files = output.get("conflict")
    listed = ", ".join(str(each) for each in files) if isinstance(files, list) else str(files)
    data = {**data, "files": files, "why": f"conflict in {listed}"}
    if cast("int", data["asked"]) < cast("int", data["most"]):
        return {**data, "phase": "resolve"}
    return {**data, "phase": "abandon"} if data["most"] else _advance_to_next_branch(data, merged=False)


def _advance_to_next_branch(data: Data, *, merged: bool) -> Data:
    branch = cast("list[Data]", data["branches"])[cast("int", data["at"])]
    kept = cast("list[JsonValue]", data["merged"])
    left = cast("list[JsonValue]", data["left"])
    return {
        **data,
        "phase": "merge",
        "at": cast("int", data["at"]) + 1,
        "asked": 0,
        "why": "",
        "files": [],
        "merged": [*kept, branch["name"]] if merged else kept,
        "left": left if merged else [*left, {"name": branch["name"], "why": data["why"]}],
    }
