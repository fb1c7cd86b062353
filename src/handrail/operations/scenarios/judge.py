"""Compares what happened with what a test expects: first whether it could be played at all, then each expectation."""

import json
from collections.abc import Callable, Iterator
from typing import cast

from handrail.model.source import Entry, Mapping, Node, Scalar, plain
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.addresses import is_same_step, is_within_step
from handrail.operations.scenarios.paths import difference, is_expected_path
from handrail.operations.scenarios.playable import find_obstacles, find_unused
from handrail.operations.scenarios.problems import NOT_THERE, Evidence, Problem, find_mismatches, problem
from handrail.operations.scenarios.read import list_items
from handrail.operations.scenarios.texts import judge_files, part_problems
from handrail.operations.scenarios.trace import Call, Visit

Check = Callable[[Evidence, Entry], Iterator[Problem]]
"""Compares one key of `expect` with what happened."""


def judge(evidence: Evidence) -> tuple[Problem, ...]:
    """List every problem; if the scenario could not be played to its end, only that, since the rest follows from it."""
    if first := tuple(find_obstacles(evidence)):
        return first
    expect = evidence.scenario.expect
    found = list(_judge_status(evidence))
    for entry in expect:
        if entry.name in _CHECKS:
            found += _CHECKS[entry.name](evidence, entry)
    # What was not used follows from a run that took another path.
    return tuple(found or find_unused(evidence))


def _judge_status(evidence: Evidence) -> Iterator[Problem]:
    expect = evidence.scenario.expect
    wanted, reason = _text(expect.get("status")) or "succeeded", _text(expect.get("reason"))
    at = expect.entries.get("status") or expect.entries.get("reason") or evidence.scenario.node.entries["expect"]
    if wanted != evidence.status or (reason and reason != evidence.reason):
        expected = f"{wanted} ({reason})" if reason else wanted
        stands = f"{evidence.status} ({evidence.reason})" if evidence.reason else evidence.status
        happened = f"{stands}: {evidence.message}" if evidence.message else stands
        yield problem("the run ended differently", at.key.span, expected, happened)


def _judge_message(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    yield from part_problems("the run's message", entry.value, evidence.message)


def _judge_path(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    expected = [str(each) for each in cast("list[str]", plain(entry.value))]
    walked = evidence.trace.path
    if not is_expected_path(expected, walked):
        yield problem("the run took a different path", entry.key.span, difference=tuple(difference(expected, walked)))


def _judge_not_run(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    for item in list_items(entry.value):
        key = _text(item)
        ran = next((address for address in evidence.trace.path if is_within_step(key, address)), None)
        if ran is not None:
            yield problem(f"'{ran}' ran but should not have", item.span)


def _judge_tries(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    for each in cast("Mapping", entry.value):
        yield from _judge_tries_of_step(evidence, each.name, each.value)


def _judge_tries_of_step(evidence: Evidence, key: str, node: Node) -> Iterator[Problem]:
    began = sum(visit.tries for visit in evidence.trace.visits if visit.has_run and is_same_step(key, visit.address))
    if plain(node) != began:
        yield problem(f"'{key}' started a different number of times", node.span, str(plain(node)), str(began))


def _judge_prompts(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    for each in cast("Mapping", entry.value):
        calls = _calls(evidence, each.name)
        if not calls:
            yield problem(f"no agent was called for '{each.name}'", each.key.span)
        else:
            yield from part_problems(f"the prompt of '{each.name}'", each.value, *(call.prompt for call in calls))


def _calls(evidence: Evidence, key: str) -> list[Call]:
    """List the calls of a step; `STEP@2` is the second one if the step has no rounds."""
    calls = evidence.trace.calls
    found = [call for call in calls if is_same_step(key, call.address) or is_same_step(key, call.own)]
    name, _, number = key.rpartition("@")
    if found or not name or not number.isdigit():
        return found
    return [call for call in calls if is_same_step(name, call.address)][int(number) - 1 : int(number)]


def _judge_steps(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    visits = (*evidence.trace.visits, *evidence.trace.whole)
    for each in cast("Mapping", entry.value):
        visit = next((visit for visit in reversed(visits) if is_same_step(each.name, visit.address)), None)
        if visit is None:
            yield problem(f"'{each.name}' was never reached", each.key.span)
        else:
            yield from _judge_step(evidence, visit, each.name, cast("Mapping", each.value))


def _judge_step(evidence: Evidence, visit: Visit, key: str, node: Mapping) -> Iterator[Problem]:
    for entry in node:
        match entry.name:
            case "status" if plain(entry.value) != visit.status:
                happened = f"{visit.status}: {visit.words}" if visit.words else visit.status
                yield problem(f"'{key}' ended differently", entry.key.span, str(plain(entry.value)), happened)
            case "error":
                yield from part_problems(f"the error of '{key}'", entry.value, visit.words)
            case "output":
                yield from _judge_values(f"the output of '{key}'", entry.value, visit.output)
            case "tries":
                yield from _judge_tries_of_step(evidence, key, entry.value)
            case _:
                pass


def _judge_outputs(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    for each in cast("Mapping", entry.value):
        if each.name not in evidence.outputs:
            known = ", ".join(evidence.outputs) or "none"
            yield problem(f"there is no output '{each.name}'", each.key.span, happened=f"known outputs: {known}")
        else:
            yield from _judge_values(each.name, each.value, evidence.outputs[each.name])


def _judge_values(name: str, node: Node, found: JsonValue) -> Iterator[Problem]:
    for at, wanted, got in find_mismatches(cast("JsonValue", plain(node)), found):
        yield problem(f"{name}{at} has a different value", node.span, _json(wanted), _json(got))


def _json(value: object) -> str:
    return repr(value) if value is NOT_THERE else json.dumps(value, ensure_ascii=False)


def _judge_cost(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    yield from _judge_bounds("the agents cost a different amount", entry, round(evidence.state.spent.usd, 6))


def _judge_agent_calls(evidence: Evidence, entry: Entry) -> Iterator[Problem]:
    yield from _judge_bounds("agents were called a different number of times", entry, evidence.state.spent.agent_calls)


def _judge_bounds(what: str, entry: Entry, found: float) -> Iterator[Problem]:
    wanted = plain(entry.value)
    bounds = cast("dict[str, float]", wanted) if isinstance(wanted, dict) else {"least": wanted, "most": wanted}
    if found < cast("float", bounds.get("least", found)) or found > cast("float", bounds.get("most", found)):
        words = " and ".join(f"at {name} {value}" for name, value in bounds.items())
        yield problem(what, entry.key.span, words if isinstance(wanted, dict) else str(wanted), str(found))


def _text(node: Node | None) -> str:
    return str(node.value) if isinstance(node, Scalar) else ""


_CHECKS: dict[str, Check] = {
    "message": _judge_message,
    "path": _judge_path,
    "not_run": _judge_not_run,
    "tries": _judge_tries,
    "prompts": _judge_prompts,
    "steps": _judge_steps,
    "outputs": _judge_outputs,
    "files": judge_files,
    "cost": _judge_cost,
    "agent_calls": _judge_agent_calls,
}
