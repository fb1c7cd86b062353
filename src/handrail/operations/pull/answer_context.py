"""What stands around an answer for an agent that begins or comes back: supplements, references, warnings, a recap."""

from dataclasses import replace

from handrail.operations.pull.answers import Answer
from handrail.operations.pull.binding_drift import binding_drift
from handrail.operations.pull.decision_trace import newest_trace
from handrail.operations.pull.desk import Desk
from handrail.operations.pull.recap import recovery_text
from handrail.operations.pull.references import reference_cautions, references_item, references_of
from handrail.operations.pull.supplements import supplements_for
from handrail.runtime.history import plan_of


def at_start(desk: Desk, answer: Answer) -> Answer:
    """Give the answer to a start with all that goes with it."""
    found = references_of(desk, answer.state)
    return replace(
        answer,
        before=supplements_for("start"),
        after=references_item(found, "start"),
        warnings=(*answer.warnings, *reference_cautions(found)),
        trace=newest_trace(desk, answer.state),
    )


def at_return(desk: Desk, answer: Answer) -> Answer:
    """Give the answer to an agent that comes back with all that goes with it."""
    state = answer.state
    return replace(
        answer,
        before=supplements_for("rehydrate"),
        after=references_item(references_of(desk, state), "rehydrate"),
        warnings=(*answer.warnings, *binding_drift(desk, state)),
        trace=newest_trace(desk, state),
        recovery=recovery_text(plan_of(desk.log, state.plan), state),
    )
