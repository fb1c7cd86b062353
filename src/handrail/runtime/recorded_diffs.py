"""Differences that the proofs of a step read: computed before the proofs are tried."""

from contextlib import suppress
from dataclasses import replace

from handrail.engine.state.scope import MissingDiff, evaluate_expression
from handrail.language.problems import EvaluationError, LanguageError
from handrail.model.history.run_state import RunState
from handrail.model.parts import parts
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import Expression, JsonValue
from handrail.runtime.handlers.steps import compare
from handrail.runtime.handlers.trees import TreeHandler


async def load_diffs(trees: TreeHandler, state: RunState, step: Step, names: dict[str, JsonValue]) -> RunState:
    """Add to a state the differences that a step's proofs read; only the results of the proofs are recorded."""
    for expression in parts(step.done_when, Expression):
        with suppress(LanguageError, EvaluationError):
            state = await _load_expression_diffs(trees, expression, state, names)
    return state


async def _load_expression_diffs(
    trees: TreeHandler, expression: Expression, state: RunState, names: dict[str, JsonValue]
) -> RunState:
    while True:
        try:
            evaluate_expression(expression, state, names)
        except MissingDiff as wanted:
            found = await compare(trees, wanted, state.run)
            state = replace(state, diffs=state.diffs.insert(f"{wanted.since}..{wanted.until}", found.diff))
        else:
            return state
