"""Adds what a run needs but a grimoire leaves implicit: that a result is a list, and that parallel work is merged."""

import re
from collections.abc import Iterator
from typing import cast

from handrail.model.names import make_identifier
from handrail.model.workflow.values import JsonValue

Data = dict[str, JsonValue]
_NAME = re.compile(r"\$\{\s*([A-Za-z_][\w-]*)\s*\}|\{\{\s*\.?([A-Za-z_][\w-]*)\s*\}\}|([A-Za-z_][\w-]*)")
_MAKERS = (None, "agent", "script")


def repair(workflow: Data) -> Iterator[str]:
    """Add what is missing to a workflow, in place; yields a message for each addition."""
    listed = workflow.get("steps")
    steps = cast("list[Data]", listed) if isinstance(listed, list) else []
    for index, step in enumerate(steps):
        yield from _return_list(steps[:index], step)
    for step in [each for each in steps if each.get("type") == "parallel-agents"]:
        yield from _merge(steps, step)


def _return_list(earlier: list[Data], step: Data) -> Iterator[str]:
    found = _NAME.fullmatch(str(step.get("for_each", "")).strip())
    name = make_identifier(next((each for each in found.groups() if each), "")) if found else ""
    for maker in earlier:
        is_maker = make_identifier(str(maker.get("output", ""))) == name != "" and maker.get("type") in _MAKERS
        if is_maker and "returns" not in maker:
            maker["returns"] = "list"
            yield (
                f"`for_each` of step '{step.get('name')}' needs a list: "
                f"step '{maker.get('name')}' now has `returns: list`"
            )


def _merge(steps: list[Data], fan_out: Data) -> Iterator[str]:
    """Merge the branches of a fan-out before the next step, unless another step already does."""
    index = next(at for at, each in enumerate(steps) if each is fan_out)
    later = steps[index + 1 :]
    if not later or any(each.get("type") == "merge" for each in later):
        return
    name = str(fan_out.get("output") or f"steps.{make_identifier(str(fan_out.get('name')))}.output")
    taken = {str(each.get("name")) for each in steps}
    own = next(
        each for each in ("combine", *(f"combine-{number}" for number in range(2, len(steps) + 3))) if each not in taken
    )
    steps.insert(index + 1, {"name": own, "type": "merge", "from": f"${{{make_identifier(name)}}}"})
    yield (
        f"the changes of step '{fan_out.get('name')}' stay on separate branches: the added step '{own}' merges them,"
        " so that later steps see them"
    )
