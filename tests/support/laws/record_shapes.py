"""The shape of records as they are written to disk: what their fields are called, may hold, and default to.

Classes are named by their `kind`, or by the field in which they are first met: their own names are never written, and
may change.
"""

from collections import deque
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from handrail.model.history import events, spending, trees
from handrail.model.history import run_state as run
from handrail.model.workflow import actions, guidance, plan, proofs, settings, types, values

MODULES = (types, values, settings, guidance, proofs, actions, plan, trees, spending, events, run)
# The maps of the state cannot be subscripted at run time; they are written as these.
PERSISTENT = {"HashTrieMap": dict, "Queue": list}


def record_shapes(roots: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Describe every record that can be reached from some types, by names that do not depend on its class."""
    return _Walk().walk(roots)


class _Walk:
    def __init__(self) -> None:
        self._names: dict[type, str] = {}
        self._waiting: deque[type] = deque()
        self._known = {name: value for module in MODULES for name, value in vars(module).items()} | PERSISTENT

    def walk(self, roots: dict[str, Any]) -> dict[str, dict[str, str]]:
        for name, root in roots.items():
            self._told(root, name)
        found: dict[str, dict[str, str]] = {}
        while self._waiting:
            record = self._waiting.popleft()
            found[self._names[record]] = self._fields(record)
        return dict(sorted(found.items()))

    def _fields(self, record: type) -> dict[str, str]:
        hints, owner = get_type_hints(record, localns=self._known), self._names[record]
        if hasattr(record, "_fields"):
            # A named tuple is written as a row: the place of a field counts, not its name.
            defaults = cast("Any", record)._field_defaults
            rows = enumerate(cast("Any", record)._fields)
            return {
                f"{place:02} {name}": self._field(hints[name], f"{owner}.{name}", defaults.get(name, MISSING))
                for place, name in rows
            }
        told = {
            each.name: self._field(hints[each.name], f"{owner}.{each.name}", _default(each))
            for each in fields(cast("Any", record))
        }
        return dict(sorted(told.items()))

    def _field(self, hint: Any, name: str, default: object) -> str:
        told = self._told(hint, name)
        return told if default is MISSING else f"{told} = {self._value(default)}"

    def _value(self, value: object) -> str:
        if not is_dataclass(value):
            return repr(value)
        held = {each.name: getattr(value, each.name) for each in fields(value) if _default(each) is MISSING}
        return f"{self._named(type(value), '?')}{held or ''}"

    def _told(self, hint: Any, name: str) -> str:
        origin, args = get_origin(hint), get_args(hint)
        if origin is Literal:
            return " | ".join(sorted(map(repr, args)))
        if {bool, int, float, str}.issubset(args):
            return "JSON"
        if origin in (Union, UnionType):
            return " | ".join(sorted(self._told(each, name) for each in args))
        if origin is not None:
            inner = ", ".join("..." if each is Ellipsis else self._told(each, name) for each in args)
            return f"{origin.__name__}[{inner}]"
        if _is_record(hint):
            return self._named(hint, name)
        return "None" if hint is NoneType else str(getattr(hint, "__name__", hint))

    def _named(self, record: type, name: str) -> str:
        if record not in self._names:
            kind = get_type_hints(record, localns=self._known).get("kind")
            kinds = "|".join(get_args(kind)) if get_origin(kind) is Literal else ""
            self._names[record] = f"<{kinds}>" if kinds else f"<{name}>"
            self._waiting.append(record)
        return self._names[record]


def _default(each: "Field[Any]") -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and (hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields"))
