"""Checks the order of a fan-out's items before anything runs, where the workflow itself lists the items."""

from handrail.compiler.constant import constant_value, find_refs
from handrail.compiler.native.context import Lowering
from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.language.problems import EvaluationError, UndefinedError
from handrail.model.names import make_identifier
from handrail.model.source import Mapping
from handrail.model.workflow.actions import Each, ParallelAction, describe_order_fault
from handrail.model.workflow.values import Expression, JsonValue


def check_item_order(work: Lowering, node: Mapping, action: ParallelAction) -> None:
    """Report duplicate keys, and an `after` that names no item or forms a cycle."""
    found = constant_value(action.over.items)
    if found is None or not isinstance(found[0], list):
        return
    keys = [_key(action.over, item, index) for index, item in enumerate(found[0])]
    if None in keys:
        return
    known = [str(key) for key in keys]
    twice = sorted({key for key in known if known.count(key) > 1})
    if twice:
        at = node.get("key") or node.entries["for_each"].value
        work.report.error("duplicate-item-key", f"two items have the key '{twice[0]}'", at, "keys must be unique")
        return
    _check_after(work, node, action, dict(zip(known, found[0], strict=True)))


def _check_after(work: Lowering, node: Mapping, action: ParallelAction, items: dict[str, JsonValue]) -> None:
    after: dict[str, list[str]] = {}
    for key, item in items.items():
        named = _predecessors(action, item)
        if named is None:
            return
        after[key] = named
    fault = describe_order_fault(after)
    at = node.get("after")
    if fault is not None and at is not None:
        work.report.error("bad-order", fault, at, f"the keys of the items are {', '.join(items)}")


def _key(over: Each, item: JsonValue, index: int) -> str | None:
    if over.key is not None:
        value = _evaluate_item(over, over.key, item)
        return None if value is None else str(value[0])
    if isinstance(item, dict):
        return str(item.get("id", item.get("key", index)))
    return str(index)


def _predecessors(action: ParallelAction, item: JsonValue) -> list[str] | None:
    if action.after is None:
        return []
    value = _evaluate_item(action.over, action.after, item)
    if value is None:
        return None
    listed = value[0] if isinstance(value[0], list) else [] if value[0] is None else [value[0]]
    return [str(each) for each in listed]


def _evaluate_item(over: Each, expression: Expression, item: JsonValue) -> tuple[JsonValue] | None:
    """Evaluate an expression that reads only the item; None where it depends on the run or fails for another reason."""
    read = find_refs(expression.source)
    if read is None or any(ref.parts[0] != make_identifier(over.item) for ref in read):
        return None
    try:
        return (evaluate(parse(expression.source), {make_identifier(over.item): item}),)  # pyright: ignore[reportReturnType]
    except UndefinedError:
        # A field that only some of the items have.
        return (None,)
    except EvaluationError:
        return None
