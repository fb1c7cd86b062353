"""What is wrong with an expression, a template or a command, at offsets into the given text."""

from handrail.frozen import frozen


@frozen
class Problem:
    """One finding; callers map its offsets to a file, a line and a column."""

    code: str
    message: str
    start: int
    end: int
    hint: str | None = None


class _ProblemError(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class LanguageError(_ProblemError):
    """The text cannot be parsed."""


class EvaluationError(_ProblemError):
    """The text can be parsed, but has no value with this data or within the limits."""


class UndefinedError(EvaluationError):
    """A name, field or item does not exist; `is defined` and `default` handle exactly this."""
