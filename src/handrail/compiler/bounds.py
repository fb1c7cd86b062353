"""Lower and upper bounds on the agent calls of a plan, as long as nothing fails for good.

The bounds hold for a run that reaches its end: one that is rejected, blocked or out of budget may make fewer calls
than the lower bound.
"""

from handrail.compiler.catalog import Catalog
from handrail.compiler.compile import compile_document
from handrail.compiler.constant import constant_truth, constant_value
from handrail.frozen import frozen
from handrail.model.workflow.actions import (
    MAX_ASKS,
    MAX_REPAIRS,
    Action,
    AgentAction,
    AgentLoopAction,
    ApprovalAction,
    CallAction,
    DynamicAction,
    Each,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    MergeAction,
    ParallelAction,
    PullRequestAction,
    ScriptAction,
    Times,
    Until,
    While,
    body,
)
from handrail.model.workflow.guidance import DelegateAction, GuidedAction, GuidedLoopAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.settings import AgentTask, Budget
from handrail.model.workflow.values import Constant, Expression, ListOfValues, TextWithHoles, Value


@frozen
class Bound:
    """A lower and an upper bound on a number; an upper bound of None means that none is known."""

    least: int
    most: int | None

    def __add__(self, other: "Bound") -> "Bound":
        most = None if self.most is None or other.most is None else self.most + other.most
        return Bound(self.least + other.least, most)

    def multiply(self, least: int, most: int | None) -> "Bound":
        """Return the bound for repeating it; without calls it stays at zero, however often it is repeated."""
        if self.most == 0:
            return NOTHING
        return Bound(self.least * least, None if self.most is None or most is None else self.most * most)

    def make_optional(self) -> "Bound":
        """Return the bound for work that may be skipped."""
        return Bound(0, self.most)

    def limit_to(self, budget: Budget | None) -> "Bound":
        """Return the bound limited by a budget."""
        cap = budget.agent_calls if budget is not None else None
        if cap is None or (self.most is not None and self.most <= cap):
            return self
        return Bound(min(self.least, cap), cap)


NOTHING = Bound(0, 0)
ONE = Bound(1, 1)
UNKNOWN = Bound(0, None)


def count_agent_calls(plan: Plan, catalog: Catalog | None = None) -> Bound:
    """Count a plan's agent calls within its budget; the catalog resolves the workflows that it calls."""
    return Calls(catalog).count_in_steps(plan.steps).limit_to(plan.budget)


class Calls:
    """Counts agent calls; each called workflow is compiled once, and one that calls itself has no upper bound."""

    def __init__(self, catalog: Catalog | None = None) -> None:
        self._catalog = catalog
        self._called: dict[str, Bound] = {}

    def count_in_steps(self, steps: tuple[Step, ...]) -> Bound:
        """Count the calls of a sequence of steps."""
        total = NOTHING
        before: dict[str, Bound] = {}
        may_have_ended = False
        for step in steps:
            before[step.name] = total
            cost = (
                _revisions(step, before, total) if isinstance(step.action, ApprovalAction) else self.count_in_step(step)
            )
            total += cost.make_optional() if may_have_ended else cost
            if isinstance(step.action, EndAction) and constant_truth(step.when):
                break
            may_have_ended = may_have_ended or _can_end(step)
        return total

    def count_in_step(self, step: Step) -> Bound:
        """Count the calls of one step, including its retries, its condition and its own budget."""
        runs = constant_truth(step.when)
        if runs is False:
            return NOTHING
        bound = self.count_in_action(step.action).multiply(1, 1 + step.retry.more).limit_to(step.budget)
        return bound if runs else bound.make_optional()

    def count_in_action(self, action: Action) -> Bound:
        """Count the calls of one attempt of a step that does run."""
        match action:
            case AgentAction():
                return ONE
            case AgentLoopAction():
                return _review(action)
            case GuidedAction():
                return ONE
            case DelegateAction() | DynamicAction():
                return UNKNOWN
            case LoopAction() | ParallelAction() | GroupAction() | GuidedLoopAction():
                return self._body(action)
            case CallAction():
                return self._call(action.workflow)
            case _:
                return _delivery(action)

    def _body(self, action: LoopAction | ParallelAction | GroupAction | GuidedLoopAction) -> Bound:
        once = self.count_in_steps(action.steps)
        match action:
            case LoopAction():
                rounds = _rounds(action)
                return once.multiply(
                    min(1, rounds.least) if _can_leave_loop(action.steps) else rounds.least, rounds.most
                )
            case ParallelAction():
                count = _length(action.over)
                return once.multiply(count or 0, count)
            case GuidedLoopAction():
                return once.multiply(0, action.max_iterations)
            case GroupAction():
                return once

    def _call(self, name: str) -> Bound:
        if name not in self._called:
            # Stored before counting, so that a workflow that calls itself gets no bound instead of endless recursion.
            self._called[name] = UNKNOWN
            document = self._catalog.workflow(name) if self._catalog is not None else None
            if self._catalog is not None and document is not None:
                plan = compile_document(document, self._catalog).plan
                if plan is not None:
                    self._called[name] = self.count_in_steps(plan.steps).limit_to(plan.budget)
        return self._called[name]


def _revisions(step: Step, before: dict[str, Bound], total: Bound) -> Bound:
    """Count the calls that a person can cause to be repeated: everything from the revision target up to this step."""
    action = step.action
    if not isinstance(action, ApprovalAction) or action.revise not in before or constant_truth(step.when) is False:
        return NOTHING
    start = before[action.revise].most
    again = None if total.most is None or start is None else total.most - start
    return Bound(0, again).multiply(0, action.max_revisions)


def _review(action: AgentLoopAction) -> Bound:
    rounds = action.max_iterations
    looks = rounds * (2 if action.arbiter is not None else 1)
    fixes = 1 if action.checks is None else MAX_REPAIRS
    return Bound(1, looks * MAX_ASKS + (rounds - 1) * fixes)


def _delivery(action: Action) -> Bound:
    match action:
        case GateAction(fix=AgentTask() as fix):
            return Bound(0, fix.max)
        case MergeAction(on_conflict=AgentTask() as task):
            return Bound(0, task.max).multiply(0, _branches(action.branches))
        case PullRequestAction():
            writes = ONE if isinstance(action.body, AgentTask) else NOTHING
            return writes + Bound(0, action.follow.fix.max if action.follow is not None else 0)
        case _:
            return NOTHING


def _branches(value: Value) -> int | None:
    match value:
        case Constant(list() as items):
            return len(items)
        case Constant() | TextWithHoles():
            return 1
        case ListOfValues(items):
            return None if any(isinstance(item, Expression) for item in items) else len(items)
        case _:
            return None


def _rounds(action: LoopAction) -> Bound:
    most = action.max_iterations
    match action.over:
        case While(condition):
            holds = constant_truth(condition)
            return NOTHING if holds is False else Bound(1 if holds else 0, most)
        case Until(condition):
            return Bound(1, 1 if constant_truth(condition) else most)
        case Times(count):
            number = constant_value(count)
            if number is None or not isinstance(number[0], int):
                return Bound(0, most)
            return Bound(min(number[0], most), min(number[0], most))
        case Each():
            length = _length(action.over)
            return Bound(0, most) if length is None else Bound(min(length, most), min(length, most))


def _length(over: Each) -> int | None:
    items = over.items
    if isinstance(items, ListOfValues):
        return len(items.items)
    found = constant_value(items)
    return len(found[0]) if found is not None and isinstance(found[0], list | dict) else None


def _can_end(step: Step) -> bool:
    if constant_truth(step.when) is False:
        return False
    return isinstance(step.action, EndAction) or any(_can_end(inner) for inner in body(step.action))


def _can_leave_loop(steps: tuple[Step, ...]) -> bool:
    return any(isinstance(step.action, ScriptAction) and step.action.on_success is not None for step in steps)
