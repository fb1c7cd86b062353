"""Which step comes next, written from the description of WorkRail's selection rules alone; it knows no engine.

It works on the raw JSON with the templates expanded. In one thing it follows Handrail on purpose: a `stop` is seen
only by the loop in whose body it was said, so that it can neither skip a loop that follows nor end two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from support.pull.reference_conditions import Json, holds

PREFIX = "wr.templates.routine."
LOOP_CONTROL = "wr.contracts.loop_control"


@dataclass(frozen=True)
class Lacks:
    """A loop that cannot be decided without a variable."""

    variable: str


@dataclass
class Around:
    """The loop that is being worked through."""

    loop: Json
    body: list[Json]
    iteration: int = 0
    index: int = 0


@dataclass
class ReferenceWalk:
    """One walk; `here` is the address of the step that is pending, None at the end."""

    raw: Json
    routines: Mapping[str, Json]
    context: Json
    done: set[str] = field(default_factory=set[str])
    around: Around | None = None
    stopped: bool = False
    here: str | Lacks | None = None

    def __post_init__(self) -> None:
        self.steps = list(expanded(self.raw["steps"], self.routines))
        self.bodies = {each["body"] for each in self.steps if isinstance(each.get("body"), str)}
        self.here = self._next()

    def merge(self, context: Mapping[str, Any]) -> None:
        """Take what was sent: shallow, and null removes a name."""
        for name, value in context.items():
            if value is None:
                self.context.pop(name, None)
            else:
                self.context[name] = value

    def complete(self, artifacts: list[Json]) -> None:
        """The pending step is done; go to the next one."""
        if self.around is not None:
            self.around.index += 1
            self.stopped = _newest_decision(artifacts) == "stop"
        else:
            self.done.add(str(self.here))
        self.here = self._next()

    def after(self, artifacts: list[Json]) -> "str | Lacks | None":
        """Say where the walk would stand if the pending step were completed now."""
        around = None if self.around is None else Around(**vars(self.around))
        copy = ReferenceWalk.__new__(ReferenceWalk)
        copy.__dict__.update({**self.__dict__, "done": set(self.done), "around": around, "context": dict(self.context)})
        copy.complete(artifacts)
        return copy.here

    def _next(self) -> "str | Lacks | None":
        for _ in range(10_000):
            if self.around is not None:
                found = self._in_loop(self.around)
                if found is not None:
                    return found
                continue
            step = self._eligible()
            if step is None:
                return None
            if step.get("type") != "loop":
                return str(step["id"])
            self.around, self.stopped = Around(step, self._body(step)), False
        raise AssertionError("it never ends")

    def _eligible(self) -> Json | None:
        """The first from the top that is not done, is no loop's body, and whose condition holds."""
        for step in self.steps:
            name = step["id"]
            if name not in self.done and name not in self.bodies and holds(step.get("runCondition"), self.context):
                return step
        return None

    def _body(self, loop: Json) -> list[Json]:
        if isinstance(loop["body"], str):
            return [each for each in self.steps if each["id"] == loop["body"]]
        return list(expanded(loop["body"], self.routines))

    def _in_loop(self, around: Around) -> "str | Lacks | None":
        """The kernel; None where it has moved on and is to be asked again."""
        enters = self._enters(around, around.iteration)
        if isinstance(enters, Lacks):
            return enters
        if not enters:
            return self._leave(around)
        seen = {**self.context, **self._names(around)}
        for index in range(around.index, len(around.body)):
            if holds(around.body[index].get("runCondition"), seen):
                around.index = index
                return f"{around.loop['id']}@{around.iteration + 1}/{around.body[index]['id']}"
        following = around.iteration + 1
        enters = following < around.loop["loop"]["maxIterations"] and self._enters(around, following)
        if isinstance(enters, Lacks):
            return enters
        if not enters:
            return self._leave(around)
        around.iteration, around.index = following, 0
        return None

    def _leave(self, around: Around) -> None:
        self.done.add(around.loop["id"])
        self.around, self.stopped = None, False

    def _enters(self, around: Around, iteration: int) -> "bool | Lacks":
        loop = around.loop["loop"]
        if loop["type"] == "for":
            count: Any = self.context.get(loop["count"]) if isinstance(loop["count"], str) else loop["count"]
            return iteration < count if type(count) in (int, float) else Lacks(loop["count"])
        if loop["type"] == "forEach":
            items: Any = self.context.get(loop["items"])
            return (
                self._has_item(around, cast("list[Any]", items), iteration)
                if isinstance(items, list)
                else Lacks(loop["items"])
            )
        if _decided_by_artifact(around):
            return not self.stopped
        condition = loop.get("conditionSource", {}).get("condition") or loop["condition"]
        seen = {**self.context, **self._names(around, iteration)}
        return holds(condition, seen) is (loop["type"] == "while")

    def _has_item(self, around: Around, items: list[Any], iteration: int) -> "bool | Lacks":
        loop = around.loop["loop"]
        wanted = "{{" + loop.get("itemVar", "currentItem") + "."
        reads = any(wanted in _prompt(each) for each in around.body)
        if iteration == 0 and items and reads and not isinstance(items[0], dict):
            return Lacks(loop["items"])
        return iteration < len(items)

    def _names(self, around: Around, iteration: int | None = None) -> Json:
        loop, at = around.loop["loop"], around.iteration if iteration is None else iteration
        names: Json = {loop.get("iterationVar", "currentIteration"): at + 1}
        items: Any = self.context.get(loop.get("items", ""))
        if loop["type"] == "forEach" and isinstance(items, list) and at < len(cast("list[Any]", items)):
            names[loop.get("itemVar", "currentItem")] = items[at]
            names[loop.get("indexVar", "currentIndex")] = at
        return names


def expanded(steps: list[Json], routines: Mapping[str, Json]) -> Iterator[Json]:
    """Put the steps of a routine in the place of the step that calls it."""
    for step in steps:
        called = step.get("templateCall")
        if called is None:
            yield step
            continue
        for each in routines[called["templateId"].removeprefix(PREFIX)]["steps"]:
            caller = {"runCondition": step["runCondition"]} if "runCondition" in step else {}
            yield {**caller, **each, "id": f"{step['id']}.{each['id']}"}


def _decided_by_artifact(around: Around) -> bool:
    source = around.loop["loop"].get("conditionSource")
    if source is not None:
        return source["kind"] == "artifact_contract"
    return any(each.get("outputContract", {}).get("contractRef") == LOOP_CONTROL for each in around.body)


def _newest_decision(artifacts: list[Json]) -> str:
    said = [each["decision"] for each in artifacts if each.get("kind") == "wr.loop_control"]
    return said[-1] if said else ""


def _prompt(step: Json) -> str:
    return str(step.get("prompt", "")) + str(step.get("promptBlocks", ""))
