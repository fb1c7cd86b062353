"""Drafts a first test of a workflow: its inputs, a turn for each agent step, an answer for each approval."""

import json
from collections.abc import Iterator

from handrail.compiler.record_types import ISSUE
from handrail.errors import UsageError
from handrail.model.workflow.actions import AgentAction, ApprovalAction, Checks
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.types import ChoiceType, ListType, RecordType, ScalarType, Type
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.discover import tests_of
from handrail.operations.workflows.check import check, require_valid
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.outline import walk_steps
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location

EXAMPLES: dict[str, JsonValue] = {"int": 1, "number": 1.5, "bool": True, "path": "README.md", "list": [], "json": {}}
FILE = "first.yaml"


def write_first(place: Location, words: str) -> str:
    """Write a first test beside a workflow and return its path; an existing one is never overwritten."""
    found = find_one_workflow(place, words)
    plan = require_valid(place, check(place, found, catalog_for(place))).plan
    path = tests_of(found.main, folder=found.folder) / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(draft(plan))
    except FileExistsError:
        hint = f"handrail test {words}"
        raise UsageError(f"{place.display_path(path)} already exists", next_step=hint) from None
    return place.display_path(path)


def draft(plan: Plan) -> str:
    """Write the text of a first test."""
    steps = list(walk_steps(plan.steps))
    lines = [f"name: {plan.name} goes the usual way", *_inputs(plan)]
    if any(_needs_project_checks(step) for _, step in steps):
        lines += ["checks:", '  test: "true"']
    turns = [line for address, step in steps for line in _turn(address, step)]
    asked = [address for address, step in steps if isinstance(step.action, ApprovalAction)]
    lines += ["turns:", *turns] if turns else []
    lines += ["answers:", *(f"  {address}: approve" for address in asked)] if asked else []
    return "\n".join([*lines, "expect:", "  status: succeeded", ""])


def _inputs(plan: Plan) -> Iterator[str]:
    needed = [each for each in plan.inputs if each.required]
    if any(each.type == ISSUE for each in needed):
        yield "task: what is wrong"
    others = [each for each in needed if each.type != ISSUE]
    if others:
        yield "input:"
        yield from (f"  {each.name}: {_dump_json(_example(each.type))}" for each in others)


def _turn(address: str, step: Step) -> Iterator[str]:
    if not isinstance(step.action, AgentAction):
        return
    yield f"  {address}:"
    yield "    say: done"
    if step.returns is not None:
        yield f"    output: {_dump_json(_example(step.returns))}"


def _needs_project_checks(step: Step) -> bool:
    checks = getattr(step.action, "checks", None)
    return isinstance(checks, Checks) and checks.project


def _example(type_: Type) -> JsonValue:
    match type_:
        case ChoiceType():
            return type_.values[0]
        case ListType():
            return [_example(type_.item)]
        case RecordType():
            return {field.name: _example(field.type) for field in type_.fields if not field.optional}
        case ScalarType():
            return EXAMPLES.get(type_.kind, "text")
        case _:
            return {}


def _dump_json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
