"""What is wrong with an expression, a template or a command, at offsets into the text that was given."""

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
    """The text cannot be read."""


class EvaluationError(_ProblemError):
    """The text can be read, but has no value on this data or within the limits."""


class UndefinedError(EvaluationError):
    """A name, field or item is not there; `is defined` and `default` ask for exactly this."""
