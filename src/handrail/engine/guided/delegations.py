"""Collects the results of work that a step delegates, one by one or together, until all have been reported.

1. What a step delegates is fixed as it begins: later values neither add to it nor change its numbers.
2. A result that was reported is stored, whatever else is wrong with the call that brought it.
3. Work that failed or was skipped is reported too: it is listed at the end, and never blocks the step.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from handrail.engine.contracts.schema import preview_value
from handrail.engine.guided.notes import truncate_notes
from handrail.engine.guided.texts import delegation_result
from handrail.frozen import frozen
from handrail.model.history.events import GapRecorded, Shortfall
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue

RESULT = "wr.delegation_result"
STATUSES = ("done", "failed", "skipped")
_KEYS = frozenset({"kind", "delegation", "status", "summary", "result"})


@frozen
class DelegatedWork:
    """The work that a step delegates, by number, and its results."""

    asked: tuple[str, ...] = ()
    """The workflow of each piece of work."""
    before: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    fresh: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Results that were reported earlier, and those of this call."""
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def results(self) -> dict[str, JsonValue]:
        """All results, in the order of the work."""
        known = {**self.before, **self.fresh}
        return {number: known[number] for number in self._numbers if number in known}

    @property
    def open(self) -> tuple[str, ...]:
        """Numbers of the work that has no result yet."""
        return tuple(number for number in self._numbers if number not in self.before and number not in self.fresh)

    @property
    def _numbers(self) -> tuple[str, ...]:
        return tuple(str(number) for number in range(1, len(self.asked) + 1))


def read_delegations(state: RunState, address: str, artifacts: Sequence[JsonValue]) -> DelegatedWork:
    """Read what the pending step delegates, with the results that artifacts report."""
    known = state.steps[address].output
    asked = known.get("asked") if isinstance(known, dict) else None
    if not isinstance(known, dict) or not isinstance(asked, list):
        return DelegatedWork()
    before = known.get("delegations")
    work = tuple(str(each) for each in asked)
    fresh: dict[str, JsonValue] = {}
    wrong: list[Shortfall] = []
    for each in artifacts:
        if not isinstance(each, dict) or each.get("kind") != RESULT:
            continue
        problem = _problem(work, each)
        if problem:
            fix = f"report on {_list_work(work, tuple(str(at) for at in range(1, len(work) + 1)))}, each by number"
            schema, example = schema_of(len(work)), delegation_result(1)
            wrong.append(
                Shortfall("invalid_delegation", problem, "delegations", fix, schema=schema, example=example, sent=each)
            )
        else:
            kept: dict[str, JsonValue] = {"status": each["status"], "summary": truncate_notes(str(each["summary"]))}
            fresh[_find_numbers(work, each["delegation"])[0]] = (
                {**kept, "result": each["result"]} if "result" in each else kept
            )
    return DelegatedWork(work, before if isinstance(before, dict) else {}, fresh, tuple(wrong))


def _find_numbers(work: tuple[str, ...], name: JsonValue) -> tuple[str, ...]:
    """List the numbers that a number or a workflow id may refer to."""
    if isinstance(name, int | float) and not isinstance(name, bool) and float(name).is_integer():
        name = str(int(name))
    numbers = {str(number): workflow for number, workflow in enumerate(work, 1)}
    if not isinstance(name, str):
        return ()
    return (name,) if name in numbers else tuple(number for number, workflow in numbers.items() if workflow == name)


def _problem(work: tuple[str, ...], given: dict[str, JsonValue]) -> str:
    name = given.get("delegation")
    meant = _find_numbers(work, name)
    if name is None:
        return "a result must name its work in 'delegation'"
    if not meant:
        return f"there is no work {preview_value(name)} to report on"
    if len(meant) > 1:
        return f"{preview_value(name)} could mean any of {', '.join(meant)}: use its number"
    if given.get("status") not in STATUSES:
        found = preview_value(given.get("status"))
        return f"the status of {preview_value(name)} must be one of {', '.join(STATUSES)}, got {found}"
    summary = given.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        return f"the result of {preview_value(name)} needs a summary: the outcome, or why there is none"
    unknown = sorted(given.keys() - _KEYS)
    return f"unknown key '{unknown[0]}' in a result; put it under 'result'" if unknown else ""


def find_unreported(handed: DelegatedWork) -> Iterator[Shortfall]:
    """Yield a shortfall for each result that is missing."""
    for number in handed.open:
        message = f"nothing was reported on {_list_work(handed.asked, (number,))}"
        fix = "have it done, then report it; if it cannot be done, report it as failed or skipped, with the reason"
        example, schema = delegation_result(int(number)), schema_of(len(handed.asked))
        yield Shortfall("missing_delegation", message, f"delegation {number}", fix, schema=schema, example=example)


def gaps_of_undone_work(handed: DelegatedWork, address: str, now: float) -> Iterator[GapRecorded]:
    """Yield a gap for each piece of work that failed or was skipped."""
    for number, result in handed.results.items():
        if not isinstance(result, dict) or result["status"] == "done":
            continue
        yield GapRecorded(
            category="unexpected",
            severity="warning" if result["status"] == "failed" else "info",
            message=f"{_list_work(handed.asked, (number,))} was {result['status']}: "
            f"{_first_line(str(result['summary']))}",
            address=address,
            about=f"delegation {number}",
            at=now,
        )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _list_work(work: tuple[str, ...], numbers: tuple[str, ...]) -> str:
    return ", ".join(f"{number} ({work[int(number) - 1]})" for number in numbers)


def schema_of(count: int) -> JsonValue:
    """Build the JSON Schema of a result."""
    return {
        "type": "object",
        "required": ["kind", "delegation", "status", "summary"],
        "properties": {
            "kind": {"const": RESULT},
            "delegation": {"enum": list(range(1, count + 1))},
            "status": {"enum": list(STATUSES)},
            "summary": {"type": "string", "minLength": 1},
            "result": {},
        },
        "additionalProperties": False,
    }
