"""Static checks: every name, field, filter and comparison that can be judged before a value exists.

Values about which nothing is known are not reported; remaining problems are found when the expression is evaluated.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from handrail.frozen import frozen
from handrail.language.expressions.lookup import find_key
from handrail.language.expressions.refs import Ref, refs
from handrail.language.expressions.syntax import (
    Attribute,
    Binary,
    Compare,
    Conditional,
    Expression,
    Filter,
    Item,
    ListDisplay,
    Literal,
    Logic,
    MapDisplay,
    Name,
    Test,
    Unary,
    children,
)
from handrail.language.expressions.typing_rules import (
    SPOKEN_FLAGS,
    a_kind,
    condition_hint,
    field_hint,
    find_field,
    join_types,
    kind_of_type,
)
from handrail.language.expressions.unparse import unparse
from handrail.language.problems import Problem
from handrail.late_import import late_import
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.types import (
    ANY,
    BOOL,
    INT,
    NULL,
    NUMBER,
    STRING,
    ChoiceType,
    Field,
    ListType,
    MapType,
    RecordType,
    Type,
)

if TYPE_CHECKING:
    from handrail.language.expressions import check_filters, hyphens
else:
    check_filters = late_import("handrail.language.expressions.check_filters")
    hyphens = late_import("handrail.language.expressions.hyphens")

__all__ = ["CheckResult", "Ref", "check", "refs"]


@frozen
class CheckResult:
    """What is known about an expression: its type, its problems, the variables it reads."""

    type: Type
    problems: tuple[Problem, ...]
    names: frozenset[str]


def check(expression: Expression, scope: Mapping[str, Type], *, boolean: bool = False) -> CheckResult:
    """Check an expression against the names in scope; a condition must be `boolean`."""
    checker = Checker(scope)
    type_ = checker.condition(expression) if boolean else checker.infer(expression)
    return CheckResult(type_, tuple(checker.problems), frozenset(checker.names))


class Checker:
    """Walks one expression, collecting problems and names."""

    def __init__(self, scope: Mapping[str, Type]) -> None:
        self.scope = scope
        self.problems: list[Problem] = []
        self.names: set[str] = set()

    def report(self, code: str, message: str, at: Expression, hint: str | None = None) -> None:
        """Record a problem at the place of a node."""
        self.problems.append(Problem(code, message, at.start, at.end, hint))

    def condition(self, expression: Expression) -> Type:
        """Check something that must be true or false."""
        before = len(self.problems)
        type_ = self.infer(expression)
        kind = kind_of_type(type_)
        if kind is not None and kind != "boolean" and len(self.problems) == before:
            text = unparse(expression)
            message = f"a condition must be true or false, but `{text}` is {a_kind(type_)}"
            self.report("not-boolean", message, expression, condition_hint(text, type_))
            return BOOL
        return type_

    def infer(self, expression: Expression) -> Type:
        """Infer the type of an expression."""
        match expression:
            case Literal(value):
                return NULL if value is None else _LITERALS[type(value)]
            case Name():
                return self._name(expression)
            case Attribute():
                subject = self.infer(expression.subject)
                return self.field(subject, expression.name, expression, unparse(expression.subject))
            case Item():
                return self._item(expression)
            case Filter():
                return check_filters.infer(self, expression)
            case ListDisplay(items):
                return ListType(join_types([self.infer(item) for item in items]))
            case MapDisplay(entries):
                return RecordType(tuple(Field(key, self.infer(value)) for key, value in entries))
            case _:
                return self._operation(expression)

    def _operation(self, expression: Unary | Binary | Compare | Logic | Conditional | Test) -> Type:
        match expression:
            case Unary(operator, operand) if operator != "not":
                return self._number(operand)
            case Binary():
                return self._binary(expression)
            case Conditional(then, condition, otherwise):
                self.condition(condition)
                return join_types([self.infer(then), self.infer(otherwise)])
            case Compare():
                self._compare(expression)
            case Test(subject):
                self.infer(subject)
            case Unary() | Logic():
                for operand in children(expression):
                    self.condition(operand)
        return BOOL

    def _name(self, expression: Name) -> Type:
        key = find_key(self.scope, expression.name)
        if key is None:
            message = f"unknown variable '{expression.name}'{did_you_mean(expression.name, self._names())}"
            self.report("unknown-name", message, expression, SPOKEN_FLAGS.get(expression.name, self._names_hint()))
            return ANY
        self.names.add(key)
        return self.scope[key]

    def _names(self) -> list[str]:
        return sorted(name.replace("-", "_") for name in self.scope)

    def _names_hint(self) -> str | None:
        names = self._names()
        return f"available here: {', '.join(names)}" if 0 < len(names) <= 12 else None

    def field(self, subject: Type, name: str, at: Expression, owner: str) -> Type:
        """Return the type of a field, reporting one that cannot exist."""
        if isinstance(subject, RecordType):
            return self._record_field(subject, name, at, owner)
        if isinstance(subject, MapType):
            return subject.value
        if kind_of_type(subject) not in (None, "none"):
            hint = f"`{owner} | length` counts" if name in ("length", "size") else None
            if isinstance(subject, ListType) and hint is None:
                hint = f"one item is `{owner}[0].{name}`, all of them `{owner} | map('{name}')`"
            self.report("unknown-field", f"'{owner}' is {a_kind(subject)} and has no field '{name}'", at, hint)
        return ANY

    def _record_field(self, subject: RecordType, name: str, at: Expression, owner: str) -> Type:
        found = find_field(subject, name)
        if found is None and not subject.open:
            known = [name.replace("-", "_") for name in subject.names()]
            message = f"unknown field '{name}' of '{owner}'{did_you_mean(name, known)}"
            hint = field_hint(subject, name, owner)
            self.problems.append(Problem("unknown-field", message, at.end - len(name), at.end, hint))
        return found.type if found else ANY

    def _item(self, expression: Item) -> Type:
        subject, index = self.infer(expression.subject), self.infer(expression.index)
        owner = unparse(expression.subject)
        match subject, kind_of_type(index):
            case ListType(item), "number" | None:
                return item
            case MapType(value), "text" | None:
                return value
            case RecordType(), "text" if isinstance(expression.index, Literal):
                return self._key(subject, str(expression.index.value), expression)
            case (RecordType(), "text" | None) | (_, None):
                return ANY
            case _:
                if kind_of_type(subject) is not None:
                    message = f"'{owner}' is {a_kind(subject)} and cannot be indexed with {a_kind(index)}"
                    self.report("type-mismatch", message, expression)
                return ANY

    def _key(self, subject: RecordType, key: str, expression: Item) -> Type:
        found = subject.field(key)
        if found is None and not subject.open:
            known = subject.names()
            message = f"unknown field '{key}' of '{unparse(expression.subject)}'{did_you_mean(key, known)}"
            self.report("unknown-field", message, expression.index, f"the fields are {', '.join(known)}")
        return found.type if found else ANY

    def _binary(self, expression: Binary) -> Type:
        meant = hyphens.rejoin_name(expression)
        if meant is not None and self._exists(meant.name):
            message = f"`-` is a minus sign here: `{unparse(expression)}`"
            self.report("hyphen-in-name", message, expression, f"write `{unparse(meant.expression)}`")
            return Checker(self.scope).infer(meant.expression)
        if expression.operator == "~":
            self.infer(expression.left)
            self.infer(expression.right)
            return STRING
        left, right = self._number(expression.left), self._number(expression.right)
        return INT if left == right == INT and expression.operator != "/" else NUMBER

    def _exists(self, name: Name | Attribute) -> bool:
        if isinstance(name, Name):
            return find_key(self.scope, name.name) is not None
        record = Checker(self.scope).infer(name.subject)
        return isinstance(record, RecordType) and find_field(record, name.name) is not None

    def _number(self, expression: Expression) -> Type:
        type_ = self.infer(expression)
        kind = kind_of_type(type_)
        if kind not in (None, "number"):
            hint = "join text with `~`" if kind == "text" else None
            self.report("type-mismatch", f"`{unparse(expression)}` is {a_kind(type_)}, not a number", expression, hint)
            return NUMBER
        return type_ if type_ in (INT, NUMBER) else NUMBER

    def _compare(self, expression: Compare) -> None:
        left = self.infer(expression.left)
        if isinstance(left, ChoiceType) and self._is_bare(expression.right, left):
            return
        right = self.infer(expression.right)
        if expression.operator in ("in", "not in"):
            self._membership(expression, left, right)
        elif expression.operator in ("==", "!="):
            self._equality(expression, left, right)
        else:
            self._order(expression, left, right)

    def _is_bare(self, value: Expression, choice: ChoiceType) -> bool:
        """Report a value of a choice that is written without quotes."""
        if not isinstance(value, Name) or value.name not in choice.values or find_key(self.scope, value.name):
            return False
        name = value.name
        self.report("unknown-name", f"unknown variable '{name}'", value, f"put text in quotes: '{name}'")
        return True

    def _equality(self, expression: Compare, left: Type, right: Type) -> None:
        one, other = kind_of_type(left), kind_of_type(right)
        if one and other and one != other and "none" not in (one, other):
            message = (
                f"`{unparse(expression.left)}` is {a_kind(left)} and "
                f"`{unparse(expression.right)}` is {a_kind(right)}: they are never equal"
            )
            self.report("type-mismatch", message, expression)
        self._choice(expression.left, left, expression.right)
        self._choice(expression.right, right, expression.left)

    def _choice(self, subject: Expression, type_: Type, value: Expression) -> None:
        if not isinstance(type_, ChoiceType) or not isinstance(value, Literal) or not isinstance(value.value, str):
            return
        if value.value not in type_.values:
            message = f"`{unparse(subject)}` is never '{value.value}'{did_you_mean(value.value, type_.values)}"
            self.report("type-mismatch", message, value, f"it is one of {', '.join(type_.values)}")

    def _order(self, expression: Compare, left: Type, right: Type) -> None:
        one, other = kind_of_type(left), kind_of_type(right)
        wrong = [kind for kind in (one, other) if kind not in (None, "number", "text")]
        if wrong or (one and other and one != other):
            shown = f"{a_kind(left)} and {a_kind(right)}"
            self.report("type-mismatch", f"`{expression.operator}` cannot compare {shown}", expression)

    def _membership(self, expression: Compare, left: Type, right: Type) -> None:
        container = kind_of_type(right)
        if container in ("number", "boolean", "none"):
            message = f"`{unparse(expression.right)}` is {a_kind(right)}; `in` searches lists, maps and text"
            self.report("type-mismatch", message, expression.right)
        if isinstance(expression.right, ListDisplay):
            for item in expression.right.items:
                self._choice(expression.left, left, item)
        elif isinstance(right, ListType):
            self._choice(expression.right, right.item, expression.left)


_LITERALS: dict[type, Type] = {bool: BOOL, int: INT, float: NUMBER, str: STRING}
