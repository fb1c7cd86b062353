"""Resolves the values that a run's expressions read: only named ones are collected, however long the history."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.language.expressions.refs import Ref, refs
from handrail.language.expressions.syntax import Expression as Syntax
from handrail.language.expressions.syntax import Literal
from handrail.language.values import Budget, Limits, text_of
from handrail.model.history.events import Why
from handrail.model.history.run_state import RunState, StepState, run_diff_base, update_state
from handrail.model.history.trees import Tree
from handrail.model.names import make_identifier
from handrail.model.workflow.plan import is_issue, issue_from
from handrail.model.workflow.values import (
    Constant,
    Expression,
    JsonValue,
    ListOfValues,
    MapOfValues,
    TextWithHoles,
    Value,
)


class MissingDiff(Exception):
    """An expression reads a difference that has not been computed yet.

    Whoever drives the run computes it, records it, and decides again.
    """

    def __init__(self, tree: Tree, since: str, until: str, step: str) -> None:
        super().__init__(since, until)
        self.tree = tree
        self.since = since
        self.until = until
        self.step = step
        """The step whose difference it is; empty for everything that the run changed."""


@lru_cache(maxsize=4096)
def parse_expression(source: str) -> tuple[Syntax, tuple[Ref, ...]]:
    """Parse an expression of a plan, once."""
    tree = parse(source)
    return tree, refs(tree)


def evaluate_expression(
    expression: Expression, state: RunState, extra: Mapping[str, JsonValue] | None = None
) -> JsonValue:
    """Evaluate an expression with a run's values."""
    tree, wanted = parse_expression(expression.source)
    return evaluate(tree, scope_for(state, wanted, extra))  # pyright: ignore[reportReturnType]  # values are JSON


def evaluate_condition(expression: Expression, state: RunState, extra: Mapping[str, JsonValue] | None = None) -> Why:
    """Evaluate a condition and record the values that decided it."""
    tree, wanted = parse_expression(expression.source)
    scope = scope_for(state, wanted, extra)
    result = evaluate(tree, scope)
    read: dict[str, JsonValue] = {}
    for ref in wanted:
        read[ref.path] = _follow(scope, ref.parts)
    return Why(expression.source, read, bool(result) if isinstance(result, bool) else None)


def _follow(scope: Mapping[str, JsonValue], parts: tuple[str, ...]) -> JsonValue:
    here: JsonValue = dict(scope)
    for part in parts:
        if not isinstance(here, dict) or part not in here:
            return None
        here = here[part]
    return here


def value_of(value: Value, state: RunState, extra: Mapping[str, JsonValue] | None = None) -> JsonValue:
    """Evaluate any value of a plan."""
    match value:
        case Constant():
            return value.value
        case Expression():
            return evaluate_expression(value, state, extra)
        case TextWithHoles():
            return "".join(
                part if isinstance(part, str) else render_value(evaluate_expression(part, state, extra))
                for part in value.parts
            )
        case ListOfValues():
            return [value_of(item, state, extra) for item in value.items]
        case MapOfValues():
            return {entry.name: value_of(entry.value, state, extra) for entry in value.entries}


def render_value(value: JsonValue) -> str:
    """Render a value as it appears in text."""
    return text_of(value, Budget(Limits(), Literal(None)))  # pyright: ignore[reportArgumentType]  # a dict is a Value


def scope_for(
    state: RunState, wanted: tuple[Ref, ...], extra: Mapping[str, JsonValue] | None = None
) -> dict[str, JsonValue]:
    """Collect the names that are wanted."""
    scope: dict[str, JsonValue] = {}
    for ref in wanted:
        root = ref.parts[0]
        if extra is not None and root in extra:
            scope[root] = extra[root]
        elif root == "steps":
            steps = scope.setdefault("steps", {})
            if isinstance(steps, dict):
                _add_steps(steps, state, ref)
        elif root in _OWN:
            scope[root] = _OWN[root](state)
        else:
            _add_name(scope, state, root)
    return scope


def _add_name(scope: dict[str, JsonValue], state: RunState, root: str) -> None:
    found = _loop_names(state)
    if root in found:
        scope[root] = found[root]
    elif root in state.names:
        scope[root] = state.names[root]
    elif root == "project":
        scope[root] = {"sources": list(state.project.sources), "default_branch": state.project.default_branch}
    elif root == "issue":
        scope[root] = issue_of(state)


def _add_steps(steps: dict[str, JsonValue], state: RunState, ref: Ref) -> None:
    names = [ref.parts[1]] if len(ref.parts) > 1 else list(state.latest)
    for name in names:
        address = state.latest.get(name)
        if address is not None:
            record = step_record(state.steps[address])
            record |= _file_record(state, address, ref)
            steps[name] = record


def _file_record(state: RunState, address: str, ref: Ref) -> dict[str, JsonValue]:
    """Return what a step left of files, branch and commit; the difference only if it is read."""
    step = state.steps[address]
    record: dict[str, JsonValue] = {}
    if step.after and state.tree is not None:
        record["branch"] = step.branch or state.tree.branch
    if step.commit or step.head:
        record["commit"] = step.commit or step.head
    if _reads_difference(ref):
        record["diff"] = _difference(state, step.since, step.after, address)
    return record


def _reads_difference(ref: Ref) -> bool:
    """Whether a path names the difference, or a whole record that contains it."""
    return not ref.is_tested and ref.parts[2:3] in ((), ("diff",))


def run_difference(state: RunState) -> str:
    """Return what the run changed since it began."""
    return _difference(state, run_diff_base(state), state.snapshot, "")


def _difference(state: RunState, since: str, until: str, step: str) -> str:
    if not since or not until or since == until:
        return ""
    known = state.diffs.get(f"{since}..{until}")
    if known is None and state.tree is not None:
        raise MissingDiff(state.tree, since, until, step)
    return known or ""


def expose_own_result(state: RunState, name: str, address: str) -> RunState:
    """Let a failed step read its own result, which only later steps know by its name."""
    return update_state(state, latest=state.latest.insert(make_identifier(name), address))


def step_record(step: StepState) -> dict[str, JsonValue]:
    """Build the record that `steps.NAME` refers to."""
    duration = None if step.ended_at is None else max(0.0, round(step.ended_at - step.began_at, 3))
    record: dict[str, JsonValue] = {
        "status": step.status,
        "output": step.output,
        "summary": summary_of(step),
        "exit_code": step.exit_code,
        "stdout": step.stdout,
        "stderr": step.stderr,
        "diff": "",
        "branch": step.branch,
        "commit": step.commit,
        "attempts": step.attempts,
        "feedback": step.feedback,
        "cost": step.cost,
        "duration": duration,
    }
    if isinstance(step.output, dict):
        record = {**step.output, **record}
    if isinstance(step.output, list):
        record = {**_group_by_status(step.output), **record}
    return record


def summary_of(step: StepState) -> str:
    """Summarize the result of a step in a few words."""
    return (step.summary or step.stdout)[:500]


def _group_by_status(results: list[JsonValue]) -> dict[str, JsonValue]:
    """Group the results of a fan-out by how they ended."""
    records = [each for each in results if isinstance(each, dict) and "status" in each and "key" in each]
    good: list[JsonValue] = [each for each in records if each["status"] == "succeeded"]
    return {"ok": good, "failed": [each for each in records if each["status"] != "succeeded"]}


def _loop_names(state: RunState) -> dict[str, JsonValue]:
    """Collect items and rounds of the loops around the current step; the innermost wins, and a routine hides them."""
    found: dict[str, JsonValue] = {}
    for frame in state.stack:
        if frame.group is not None:
            found = {}
        if frame.loop is not None and frame.loop.round > 0:
            found["round"] = frame.loop.round
            if frame.loop.items is not None:
                found[make_identifier(frame.loop.item)] = frame.loop.items[frame.loop.round - 1]
    return found


def names_inside(state: RunState, more: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Collect all names that a body sees, including those of the loops around it and its own item."""
    own = {make_identifier(name): value for name, value in more.items()}
    return {**dict(state.names.items()), **_loop_names(state), **own}


def _run(state: RunState) -> JsonValue:
    issue = issue_of(state)
    known = (issue.get("id") or issue.get("number")) if isinstance(issue, dict) else None
    return {
        "id": state.run,
        "workflow": state.workflow,
        "hash": state.definition,
        "task": state.task,
        "issue": str(known or ""),
        "branch": "" if state.tree is None else state.tree.branch,
        "base": "" if state.tree is None else state.tree.base,
        "workspace": state.workspace,
        "cost": state.spent.usd,
        "agent_calls": state.spent.agent_calls,
        "started_at": state.started_at,
    }


def _previous(state: RunState) -> JsonValue:
    step = state.steps.get(state.previous)
    if step is None:
        return {"name": "", "output": None, "summary": "", "status": ""}
    name = state.previous.rpartition("/")[2]
    return {"name": name, "output": step.output, "summary": summary_of(step), "status": step.status}


def issue_of(state: RunState) -> JsonValue:
    """Return the issue that a run is for: the one it was given, else its task as one; None if it has neither."""
    given = next((each for each in state.inputs.values() if is_issue(each)), None)
    return given if given is not None or not state.task else issue_from(state.task)


def current_step(state: RunState) -> dict[str, JsonValue]:
    """Return the step that is being decided; once it is in progress, the step that it is a part of."""
    frame = state.stack[-1] if state.stack else None
    part = None if frame is None else frame.work or (frame.loop if state.pending is None else None)
    address = state.deciding or (part.address if part is not None else "")
    address = address or ("" if state.pending is None else state.pending.address)
    return {"name": address.rpartition("/")[2]}


def _env(state: RunState) -> JsonValue:
    return dict(state.env)


def _input(state: RunState) -> JsonValue:
    return {make_identifier(name): value for name, value in state.inputs.items()}


_OWN: dict[str, Callable[[RunState], JsonValue]] = {
    "input": _input,
    "run": _run,
    "previous_step": _previous,
    "current_step": current_step,
    "env": _env,
}
