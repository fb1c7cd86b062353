"""Lowers the steps with a body: loop and parallel-agents."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from handrail.compiler.native.agents import lower_on_max
from handrail.compiler.native.context import Lowering, int_of, text_of
from handrail.compiler.native.texts import (
    is_own_value,
    lower_condition,
    lower_expression,
    lower_optional,
    lower_value,
)
from handrail.compiler.record_types import record
from handrail.compiler.scope import RESERVED
from handrail.late_import import late_import
from handrail.model.names import make_identifier
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.workflow.actions import Each, LoopAction, ParallelAction, Times, Until, While
from handrail.model.workflow.plan import Step
from handrail.model.workflow.types import ANY, INT, STRING, ListType, MapType, RecordType, ScalarType, Type, describe
from handrail.model.workflow.values import Value

if TYPE_CHECKING:
    from handrail.compiler.native import item_order
else:
    item_order = late_import("handrail.compiler.native.item_order")

LowerBody = Callable[[Lowering, Sequence, str], tuple[Step, ...]]


def lower_loop(work: Lowering, node: Mapping, address: str, lower_body: LowerBody) -> LoopAction:
    """Lower a loop; the outputs of its body are known in its condition and after the loop."""
    on_max, escalate = lower_on_max(work, node)
    over, names = _lower_rounds(work, node)
    body = node.entries["steps"].value
    with work.enter_body(node, names, leaks=True, own=_find_own_item(work, over, node)):
        steps = lower_body(work, body, f"{address}/") if isinstance(body, Sequence) else ()
        late = _lower_loop_condition(work, node)
    return LoopAction(
        over=late or over,
        max_iterations=int_of(node.get("max_iterations"), 1),
        steps=steps,
        on_max=on_max,
        escalate=escalate,
    )


def _lower_rounds(work: Lowering, node: Mapping) -> tuple[While | Until | Times | Each, dict[str, Type]]:
    names: dict[str, Type] = {"round": INT}
    if "for_each" in node:
        each, item = lower_each(work, node)
        return each, {**names, make_identifier(each.item): item}
    count = node.get("for")
    if count is not None:
        return Times(_count(work, count)), names
    # A condition is tested with the body's outputs in force, so it is lowered after the body and replaces this.
    return Times(lower_value(work, Scalar(0, node.span, "made"))), names


def _find_own_item(work: Lowering, over: While | Until | Times | Each, node: Mapping) -> tuple[str, ...]:
    """Return the item's name where every item is the workflow's own and no step of the body overwrites it."""
    if not isinstance(over, Each) or not is_own_value(work, over.items):
        return ()
    name = make_identifier(over.item)
    return () if name in _outputs(node.get("steps")) else (name,)


def _outputs(node: Node | None) -> set[str]:
    found: set[str] = set()
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            found |= {make_identifier(text_of(item.get("output")) or ""), *_outputs(item.get("steps"))}
    return found


def _count(work: Lowering, node: Node) -> Value:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        expression, type_ = lower_expression(work, node)
        if isinstance(type_, ScalarType) and type_.kind not in ("int", "number"):
            message = f"'for' must be a number of rounds, got {describe(type_)}"
            work.report.error("type-mismatch", message, node)
        return expression
    return lower_value(work, node)


def _lower_loop_condition(work: Lowering, node: Mapping) -> While | Until | None:
    condition = lower_condition(work, node.get("while"))
    if condition is not None:
        return While(condition)
    condition = lower_condition(work, node.get("until"))
    return None if condition is None else Until(condition)


def lower_each(work: Lowering, node: Mapping) -> tuple[Each, Type]:
    """Lower `for_each`, `as` and `key`, and return the type of an item with them."""
    entry = node.entries["for_each"]
    name = text_of(node.get("as")) or "item"
    if name != "item" and name in RESERVED:
        work.report.error("reserved-name", f"'{name}' is reserved by Handrail", node.entries["as"].value)
    if isinstance(entry.value, Sequence):
        items, type_ = lower_value(work, entry.value), ListType(ANY)
    else:
        items, type_ = lower_expression(work, entry.value)
    item = _item_type(work, entry, type_)
    key = None
    if "key" in node:
        with work.scope.enter_body({make_identifier(name): item}):
            key = lower_condition(work, node.get("key"), boolean=False)
    return Each(items, name, key), item


def _item_type(work: Lowering, entry: Entry, type_: Type) -> Type:
    match type_:
        case ListType():
            return type_.item
        case MapType():
            return record(key=STRING, value=type_.value)
        case RecordType():
            return record(key=STRING, value=ANY)
        case ScalarType():
            hint = "give the step that produces it `returns: [...]`, or convert it with | lines or | split(',')"
            work.report.error(
                "type-mismatch", f"'for_each' must be a list or a map, got {describe(type_)}", entry.value, hint
            )
        case _:
            pass
    return ANY


def lower_parallel(work: Lowering, node: Mapping, address: str, lower_body: LowerBody) -> ParallelAction:
    """Lower a fan-out; what its body defines is known only inside."""
    each, item = lower_each(work, node)
    width = lower_optional(work, node.get("max_concurrent"))
    with work.enter_body(node, {make_identifier(each.item): item}, leaks=False, own=_find_own_item(work, each, node)):
        after = lower_condition(work, node.get("after"), boolean=False)
        body = node.get("steps")
        if not isinstance(body, Sequence):
            kept = {name: entry for name, entry in node.entries.items() if name == "name" or name in LONE_KEYS}
            body = Sequence((Mapping(kept, node.span),), node.span)
        steps = lower_body(work, body, f"{address}/")
    action = ParallelAction(over=each, steps=steps, after=after, max_concurrent=width)
    item_order.check_item_order(work, node, action)
    return action


LONE_KEYS = frozenset({"prompt", "input", "returns", "timeout", "retry", "done_when", "assess", "budget"})
"""Keys beside a lone `prompt` that belong to the step for which it is short."""


def drop_lone_keys(node: Mapping) -> Mapping:
    """Return the keys that remain for the fan-out itself beside a lone `prompt`."""
    return Mapping({name: entry for name, entry in node.entries.items() if name not in LONE_KEYS}, node.span)
