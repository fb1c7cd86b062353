"""The variables of a Coven workflow: what produces them, and their names in the format."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal as Word

from handrail.authoring.importers.coven.go_syntax import Reference, Untranslatable
from handrail.authoring.importers.guessed_types import type_like
from handrail.authoring.importers.names import is_identifier, make_identifier, value_name
from handrail.language.expressions.syntax import (
    Attribute,
    Binary,
    Compare,
    Expression,
    ListDisplay,
    Literal,
    Name,
    Test,
)
from handrail.model.workflow.values import JsonValue

_ISSUE = frozenset({"id", "title", "body", "labels"})
_FALSE = ListDisplay((Literal(""), Literal("false"), Literal("0")))


@dataclass(slots=True)
class Producer:
    """A step whose result others use, with the fields they use."""

    step: str
    kind: Word["agent", "script", "loop"]
    data: dict[str, JsonValue]
    fields: dict[str, str] = field(default_factory=dict[str, str])
    whole: bool = False

    def output(self) -> str:
        """Return the name of the result, choosing one if it has none."""
        name = self.data.setdefault("output", value_name(make_identifier(self.step)))
        return str(name)

    def returns(self) -> JsonValue:
        """Return the type of the result, as far as its uses reveal it."""
        if self.fields:
            return dict(self.fields.items())
        return "json" if self.whole else None


class CovenNames:
    """The variables in force while the steps are walked from top to bottom."""

    def __init__(self, changed: Callable[[str], None]) -> None:
        self.inputs: dict[str, JsonValue] = {}
        self.previous: str | None = None
        self.loops: list[str] = []
        self.own: frozenset[str] = frozenset()
        """Names that the current step itself provides."""
        self._known: dict[str, Producer] = {}
        self._later: set[str] = set()
        self._changed = changed

    def expect(self, name: str) -> None:
        """Register a name that a later step will produce."""
        self._later.add(make_identifier(name))

    def define(self, name: str, producer: Producer) -> None:
        """Make a result known to the steps after it."""
        self._known[make_identifier(name)] = producer

    def producers(self) -> tuple[Producer, ...]:
        """Return every producer once."""
        return tuple({id(each): each for each in self._known.values()}.values())

    def value(self, reference: Reference, like: object = None) -> Expression:
        """Return the value of a variable."""
        path = tuple(make_identifier(name) for name in reference.path)
        if reference.start not in ("", "$") or not path:
            raise Untranslatable("all variables at once")
        if bad := next((name for name in path if not is_identifier(name)), None):
            raise Untranslatable(f"`{bad}` cannot be a name in an expression")
        first, rest = path[0], path[1:]
        if first in self.own:
            return _fields(Name(first), rest)
        if first == "bead":
            return self._issue(rest)
        if first == "previous":
            return self._previous(rest)
        if first in self._known:
            return self._result(self._known[first], rest, like)
        return self._input(first, rest, like)

    def condition(self, reference: Reference) -> Expression:
        """Return a boolean for a variable in a condition."""
        like = True if not self.own.intersection(reference.path[:1]) else None
        found = self.value(reference, like)
        if isinstance(found, Compare) or self._is_flag(reference, found):
            return found
        if like is None or isinstance(found, Attribute):
            return Test(found, "empty", negated=True)
        return Compare("not in", found, _FALSE)

    def _is_flag(self, reference: Reference, found: Expression) -> bool:
        first = make_identifier(reference.path[0])
        if isinstance(found, Name):
            return self.inputs.get(found.name) == "bool"
        producer = self._known.get(first)
        return producer is not None and isinstance(found, Attribute) and producer.fields.get(found.name) == "bool"

    def _issue(self, rest: tuple[str, ...]) -> Expression:
        name = rest[0] if rest else ""
        if name in _ISSUE:
            self.inputs.setdefault("issue", "issue")
            return _fields(Name("issue"), rest)
        if name not in ("type", "priority"):
            raise Untranslatable(f"`.bead.{name}`" if name else "the whole bead at once")
        given = f"issue_{name}"
        if given not in self.inputs:
            self.inputs[given] = {"type": "string", "default": ""}
            self._changed(
                f"issues have no {name} in Handrail; `.bead.{name}` is now the input '{given}', empty by default"
            )
        return Name(given)

    def _previous(self, rest: tuple[str, ...]) -> Expression:
        if rest == ("output",):
            return Attribute(Name("previous_step"), "output")
        if rest in (("success",), ("failed",)) and self.previous is not None:
            return _status(self.previous, "succeeded" if rest == ("success",) else "failed")
        raise Untranslatable(f"`.previous.{'.'.join(rest)}`")

    def _result(self, producer: Producer, rest: tuple[str, ...], like: object) -> Expression:
        if producer.kind == "loop":
            return self._loop(producer, rest)
        common = _step_field(producer.step, rest)
        if common is not None:
            return common
        if producer.kind == "script":
            if rest in ((), ("output",)):
                self._changed(
                    f"the output of '{producer.step}' is its standard output only; Coven included standard error"
                )
            return _script_field(producer, rest)
        return _agent_field(producer, rest, like)

    def _loop(self, producer: Producer, rest: tuple[str, ...]) -> Expression:
        if rest != ("iteration",):
            raise Untranslatable(f"a loop has no `{'.'.join(rest)}`")
        if not self.loops or self.loops[-1] != producer.step:
            raise Untranslatable("the round of a loop is available only directly inside it")
        return Binary("-", Name("round"), Literal(1))

    def _input(self, first: str, rest: tuple[str, ...], like: object) -> Expression:
        if first in self._later:
            raise Untranslatable(f"`{first}` is produced by a later step")
        name = value_name(first)
        if name not in self.inputs:
            kind = "json" if rest else type_like(like)
            if kind == "json" and not rest:
                kind = "path" if name.endswith("path") else "string"
            self.inputs[name] = kind
            self._changed(f"nothing produces `{first}`; it is now the required input '{name}' of type {kind}")
        return _fields(Name(name), rest)


def _step_field(step: str, rest: tuple[str, ...]) -> Expression | None:
    match rest:
        case ("status",) | ("summary",) | ("exit_code",):
            return _fields(Name("steps"), (make_identifier(step), rest[0]))
        case ("success",):
            return _status(step, "succeeded")
        case ("failed",):
            return _status(step, "failed")
        case _:
            return None


def _script_field(producer: Producer, rest: tuple[str, ...]) -> Expression:
    if not rest and "output" in producer.data:
        return Name(producer.output())
    if rest in ((), ("output",), ("stdout",)):
        return _fields(Name("steps"), (make_identifier(producer.step), "stdout"))
    if rest == ("stderr",):
        return _fields(Name("steps"), (make_identifier(producer.step), "stderr"))
    raise Untranslatable(f"a script's result has no `{'.'.join(rest)}`")


def _agent_field(producer: Producer, rest: tuple[str, ...], like: object) -> Expression:
    if rest == ("error",):
        return _fields(Name("steps"), (make_identifier(producer.step), "feedback"))
    if rest in ((), ("output",)):
        return Name(producer.output())
    inner = rest[1:] if rest[0] == "outputs" else rest
    if not inner:
        producer.whole = True
        return Name(producer.output())
    known = producer.fields.get(inner[0], "json")
    guessed = type_like(like) if len(inner) == 1 else "json"
    producer.fields[inner[0]] = guessed if known == "json" else known
    return _fields(Name(producer.output()), inner)


def _status(step: str, status: str) -> Expression:
    return Compare("==", _fields(Name("steps"), (make_identifier(step), "status")), Literal(status))


def _fields(subject: Expression, path: tuple[str, ...]) -> Expression:
    for name in path:
        subject = Attribute(subject, name)
    return subject
