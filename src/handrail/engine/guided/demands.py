"""Checks what is submitted for a guided step against its contract, assessments, criteria and notes."""

from collections.abc import Mapping
from dataclasses import field

from handrail.engine.contracts.assessments import AssessmentResult, read_assessments
from handrail.engine.contracts.criteria import find_unmet_rules, requirements
from handrail.engine.contracts.example import minimal_example
from handrail.engine.contracts.schema import fits, issues
from handrail.engine.guided.loops import visible_context
from handrail.frozen import frozen
from handrail.model.history.events import Shortfall, ShortfallCode
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.guidance import Contract, GuidedAction
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue


@frozen(kw_only=True)
class Submission:
    """What a performer submits for a step."""

    by: str
    notes: str = ""
    artifacts: tuple[JsonValue, ...] = ()
    context: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@frozen
class Call:
    """One submission, with the state after the parts of it that are stored in any case."""

    plan: Plan
    state: RunState
    pending: Pending
    action: GuidedAction
    given: Submission
    now: float


def read_judgments(call: Call) -> AssessmentResult:
    """Read the judgments that the step asks for."""
    known = {each.id: each for each in call.plan.assessments}
    wanted = [known[name] for name in call.action.assessments if name in known]
    return read_assessments(wanted, call.given.artifacts)


def unmet_demands(call: Call, found: AssessmentResult) -> tuple[Shortfall, ...]:
    """List everything that falls short; no requirement hides another."""
    return (*_check_contract(call), *found.shortfalls, *_check_criteria(call), *_check_notes(call))


def _check_contract(call: Call) -> list[Shortfall]:
    """Require an artifact of the contract's kind; of several, one that matches is enough."""
    wanted = call.action.contract
    if wanted is None:
        return []
    given = [
        each for each in call.given.artifacts if isinstance(each, dict) and each.get("kind") == wanted.artifact_kind
    ]
    if any(fits(wanted.schema, each) for each in given):
        return []
    if not given:
        kinds: list[JsonValue] = [each.get("kind") if isinstance(each, dict) else None for each in call.given.artifacts]
        message = f"an artifact of kind {wanted.artifact_kind} is missing"
        return [_contract_shortfall(wanted, "missing_output", message, kinds)] if wanted.required else []
    wrong = "; ".join(issues(wanted.schema, given[-1]))
    message = f"the artifact {wanted.artifact_kind} is not valid: {wrong}"
    return [_contract_shortfall(wanted, "invalid_output", message, given[-1])]


def _contract_shortfall(wanted: Contract, code: ShortfallCode, message: str, sent: JsonValue) -> Shortfall:
    fix = f"send an artifact of kind {wanted.artifact_kind} that matches the schema, as in the example"
    return Shortfall(
        code, message, wanted.ref, fix, schema=wanted.schema, example=minimal_example(wanted.schema), sent=sent
    )


def _check_criteria(call: Call) -> list[Shortfall]:
    rules = call.action.validation
    # A step with a contract may come without notes, and then there is nothing to validate.
    if rules is None or (call.action.contract is not None and not call.given.notes.strip()):
        return []
    failed = find_unmet_rules(rules, call.given.notes, visible_context(call.plan, call.state))
    fix = "; ".join(requirements(rules))
    return [Shortfall("validation_failed", message, "notes", fix) for message in failed]


def _check_notes(call: Call) -> list[Shortfall]:
    action = call.action
    if action.notes_optional or action.contract is not None or call.given.notes.strip():
        return []
    fix = "describe in the notes what was done, what was found and decided, and what is open"
    return [
        Shortfall("missing_notes", "the step needs notes", "notes", fix, example="## Done\n…", sent=call.given.notes)
    ]
