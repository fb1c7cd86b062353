"""Finds the variables and fields that an expression reads, for checks that look at several steps at once."""

from handrail.frozen import frozen
from handrail.language.expressions.syntax import Attribute, Expression, Item, Literal, Name, Test, children


@frozen
class Ref:
    """A variable with the fields that are read from it, as in `steps.run_tests.exit_code`."""

    parts: tuple[str, ...]
    start: int
    end: int
    is_tested: bool = False
    """Whether only its existence is tested, as in `steps.fix is defined`."""

    @property
    def path(self) -> str:
        """The parts joined by dots."""
        return ".".join(self.parts)


def refs(expression: Expression) -> tuple[Ref, ...]:
    """List every path that is read, from left to right, each as long as it is known."""
    found: list[Ref] = []
    _collect(expression, found)
    return tuple(found)


def path_of(expression: Expression) -> tuple[str, ...] | None:
    """Return the parts of a path such as `a.b['c']`, or None if it is not one."""
    match expression:
        case Name(name):
            return (name,)
        case Attribute(subject, name) | Item(subject, Literal(str() as name)):
            before = path_of(subject)
            return None if before is None else (*before, name)
        case _:
            return None


def _collect(expression: Expression, found: list[Ref]) -> None:
    path = path_of(expression)
    if path is not None:
        found.append(Ref(path, expression.start, expression.end))
        return
    if isinstance(expression, Test) and expression.name in ("defined", "undefined"):
        path = path_of(expression.subject)
        if path is not None:
            found.append(Ref(path, expression.subject.start, expression.subject.end, is_tested=True))
            return
    for child in children(expression):
        _collect(child, found)
