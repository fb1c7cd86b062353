"""Types of the values that Handrail itself provides: issues, runs, findings and the records of steps."""

from handrail.model.workflow.plan import Step
from handrail.model.workflow.types import (
    ANY,
    BOOL,
    INT,
    NUMBER,
    STRING,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    ScalarType,
    Type,
)

SEVERITY = ChoiceType(("critical", "high", "medium", "low"))


def record(**fields: Type) -> RecordType:
    """Build a record type."""
    return RecordType(tuple(Field(name, type_) for name, type_ in fields.items()))


ISSUE = record(
    id=STRING,
    number=INT,
    title=STRING,
    body=STRING,
    description=STRING,
    labels=ListType(STRING),
    author=STRING,
    url=STRING,
    state=STRING,
    branch=STRING,
    comments=ListType(ANY),
    assignees=ListType(STRING),
    attachments=ListType(ANY),
    tracker=STRING,
    repository=STRING,
)
RUN = record(
    id=STRING,
    workflow=STRING,
    hash=STRING,
    task=STRING,
    issue=STRING,
    branch=STRING,
    base=STRING,
    workspace=ScalarType("path"),
    cost=NUMBER,
    agent_calls=INT,
    started_at=STRING,
)
PROJECT = record(sources=ListType(ScalarType("glob")), default_branch=STRING)
"""The project's configuration; an input or output of the same name takes precedence."""
FINDING = RecordType(
    (
        Field("id", STRING),
        Field("file", ScalarType("path")),
        Field("line", INT),
        Field("rule", STRING),
        Field("severity", SEVERITY),
        Field("message", STRING),
        Field("suggestion", STRING),
        Field("reason", STRING),
    ),
    open=True,
)
OPEN = record(critical=INT, high=INT, medium=INT, low=INT)
REVIEW = record(
    stopped=ChoiceType(
        ("clean", "met", "declined", "repeated", "oscillation", "plateau", "reseeded", "max", "no_answer")
    ),
    rounds=INT,
    fixed=ListType(FINDING),
    declined=ListType(FINDING),
    open_findings=ListType(FINDING),
    actionable=BOOL,
    score=NUMBER,
    confidence=NUMBER,
    decision=ChoiceType(("approve", "reject", "needs_clarification")),
)
REVIEW_ROUND: dict[str, Type] = {
    "round": INT,
    "findings": ListType(FINDING),
    "open": OPEN,
    "actionable": BOOL,
    "cost": NUMBER,
}
ROLE_NAMES: dict[str, Type] = {**REVIEW_ROUND, "changes": ANY}
"""The names in prompts of a review loop; `changes` is what to review, unless the step's `input` sets it."""
LOOP_RESULT = record(rounds=INT, done=ListType(ANY), undone=ListType(ANY), failed=ListType(ANY), left=ListType(ANY))

STEP_FIELDS = record(
    status=STRING,
    summary=STRING,
    exit_code=INT,
    stdout=STRING,
    stderr=STRING,
    diff=STRING,
    branch=STRING,
    commit=STRING,
    attempts=INT,
    feedback=STRING,
    cost=NUMBER,
    duration=NUMBER,
).fields
"""The fields of `steps.NAME` for every step, beside `output`."""

ITEM_RESULT = record(
    key=STRING, item=ANY, status=STRING, branch=STRING, commit=STRING, output=ANY, error=STRING, cost=NUMBER
)

RESULTS: dict[str, Type] = {
    "agent": STRING,
    "script": STRING,
    "agent-loop": REVIEW,
    "loop": LOOP_RESULT,
    "parallel-agents": ListType(ITEM_RESULT),
    "approval": record(decision=STRING, feedback=STRING, by=STRING),
    "gate": record(passed=BOOL, failed=ListType(STRING), exit_code=INT, output=STRING),
    "pull-request": record(
        number=INT, url=STRING, branch=STRING, commit=STRING, draft=BOOL, state=STRING, command=STRING
    ),
    "create-issues": ListType(ISSUE),
    "workflow": MapType(ANY),
    "use": MapType(ANY),
}
"""Types of results by kind of action, used where the step declares none with `returns`."""

OWN_FIELDS: dict[str, tuple[Field, ...]] = {
    "loop": LOOP_RESULT.fields,
    "parallel-agents": record(ok=ListType(ITEM_RESULT), failed=ListType(ITEM_RESULT)).fields,
    "pull-request": record(number=INT, url=STRING, draft=BOOL, state=STRING).fields,
    "approval": record(decision=STRING, by=STRING).fields,
    "agent-loop": REVIEW.fields,
    "gate": record(failed=ListType(STRING)).fields,
}
"""The additional fields of `steps.NAME`, by kind of action."""


def result_type(step: Step) -> Type:
    """Return the type of a step's result, to which its `output` gives a name."""
    return step.returns if step.returns is not None else RESULTS.get(step.action.kind, ANY)


def step_type(step: Step) -> RecordType:
    """Return the type of `steps.NAME`."""
    own = OWN_FIELDS.get(step.action.kind, ())
    return RecordType((*own, Field("output", result_type(step)), *STEP_FIELDS))
