"""What is known about an expression before a run: which names it reads, and its value where it reads none."""

from functools import lru_cache

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.language.expressions.refs import Ref, refs
from handrail.language.problems import EvaluationError, LanguageError
from handrail.model.workflow.values import Always, Condition, Constant, Expression, JsonValue, Value


@lru_cache(maxsize=4096)
def find_refs(source: str) -> tuple[Ref, ...] | None:
    """List the paths that an expression reads; None where it cannot be parsed."""
    try:
        return refs(parse(source))
    except LanguageError:
        return None


@lru_cache(maxsize=1024)
def _evaluate_constant(source: str) -> tuple[object] | None:
    if find_refs(source) != ():
        return None
    try:
        return (evaluate(parse(source), {}),)
    except EvaluationError:
        return None


def constant_value(value: Value | None) -> tuple[JsonValue] | None:
    """Return a value that is the same in every run, as a tuple of one; None where it may differ."""
    match value:
        case Constant():
            return (value.value,)
        case Expression():
            return _evaluate_constant(value.source)  # pyright: ignore[reportReturnType]  # the language's values are JSON's
        case _:
            return None


def constant_truth(condition: Condition | None) -> bool | None:
    """Decide whether a condition always or never holds; None where that depends on the run."""
    match condition:
        case None | Always():
            return True
        case Expression():
            found = constant_value(condition)
            return found[0] if found is not None and isinstance(found[0], bool) else None
        case _:
            return None
