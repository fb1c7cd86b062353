"""What the results of commands mean for their step."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from handrail.model.events import StepEnded
from handrail.model.run import Pending
from handrail.model.values import JsonValue

MOST_GATE_TEXT = 64 * 1024
DEEPEST = 100
"""Levels of lists and maps in a value that a command prints."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one command ended; without a code it never ran, or was ended by us."""

    name: str
    code: int | None
    stdout: str = ""
    """The end of what it wrote."""
    stderr: str = ""
    error: str = ""
    output: str = ""
    """All that it wrote, where that fits a value."""
    cut: str = ""
    """The file that holds all of it, where it does not."""


def outcome(pending: Pending, spec: dict[str, Any], results: list[Result], now: float) -> StepEnded:
    """Give the outcome of a step whose commands have ended."""
    bad = [each for each in results if each.code != 0]
    worst = bad[0] if bad else results[-1] if results else Result("", 0)
    value, problem = (None, "") if bad else _value(spec, worst)
    if pending.action == "gate":
        value = _gate(results, bad)
    return StepEnded(
        address=pending.address,
        began=pending.seq,
        status="failed" if bad or problem else "succeeded",
        output=value,
        exit_code=worst.code,
        stdout=worst.stdout,
        stderr=worst.stderr,
        error=problem or "; ".join(f"{each.name}: {each.error or f'exit {each.code}'}" for each in bad),
        at=now,
        details={"exit_loop": not bad and not problem and bool(spec.get("exit_loop"))},
    )


def _value(spec: dict[str, Any], result: Result) -> tuple[JsonValue, str]:
    if not spec.get("json"):
        said = f"[the beginning is cut; all of it is in {result.cut}]\n" if result.cut else ""
        return said + result.output.rstrip("\r\n"), ""
    if result.cut:
        return None, f"its output is too long for a value: let it write a file and print its path (see {result.cut})"
    try:
        value: JsonValue = json.loads(result.output, parse_constant=_no_number)
        _require_plain(value)
    except (ValueError, RecursionError) as error:
        return None, f"its output is no JSON: {error}"
    return value, ""


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number of JSON")


def _require_plain(value: JsonValue, depth: int = 0) -> None:
    """Refuse what later steps could not read: texts that are no text, values that never end."""
    if depth > DEEPEST:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, list):
        for item in value:
            _require_plain(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode()
            _require_plain(item, depth + 1)


def _gate(results: list[Result], bad: list[Result]) -> JsonValue:
    said = "\n".join(each.stdout + each.stderr for each in results)
    return {
        "passed": not bad,
        "failed": [each.name for each in bad],
        "exit_code": bad[0].code if bad else 0,
        "output": said[-MOST_GATE_TEXT:],
    }
