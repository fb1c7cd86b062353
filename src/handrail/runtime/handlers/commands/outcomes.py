"""Turns the results of commands into the outcome of their step."""

from typing import Any

from handrail.engine.text.plain_json import read_plain
from handrail.frozen import frozen
from handrail.model.history.events import StepEnded
from handrail.model.history.run_state import Pending
from handrail.model.workflow.values import JsonValue

MAX_GATE_TEXT = 64 * 1024
MAX_FAILURE = 8 * 1024
"""How much of a failed check's output a fix sees, in bytes."""


@frozen
class Result:
    """How one command ended; without a code it never ran, or we ended it."""

    name: str
    code: int | None
    stdout: str = ""
    """The end of its output."""
    stderr: str = ""
    error: str = ""
    output: str = ""
    """Its whole output, where that is short enough for a value."""
    cut: str = ""
    """The file with the whole output, where it is too long."""


def outcome(pending: Pending, spec: dict[str, Any], results: list[Result], now: float) -> StepEnded:
    """Build the outcome of a step whose commands have ended."""
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
        details={
            "exit_loop": not bad and not problem and bool(spec.get("exit_loop")),
            **({"failures": _failures(spec, bad)} if pending.action == "gate" and bad else {}),
        },
    )


def _value(spec: dict[str, Any], result: Result) -> tuple[JsonValue, str]:
    if not spec.get("json"):
        said = f"[the beginning was cut; the whole output is in {result.cut}]\n" if result.cut else ""
        return said + result.output.rstrip("\r\n"), ""
    if result.cut:
        return None, f"its output is too long for a value: write it to a file and print the path (see {result.cut})"
    try:
        return read_plain(result.output), ""
    except ValueError as error:
        return None, f"its output is not valid JSON: {error}"


def _failures(spec: dict[str, Any], bad: list[Result]) -> JsonValue:
    """Describe the failed checks for whoever fixes them."""
    scripts = {each["name"]: each["script"] for each in spec["commands"]}
    return [
        {
            "name": each.name,
            "command": scripts.get(each.name, ""),
            "exit_code": each.code,
            "output": (each.stdout + each.stderr + each.error)[-MAX_FAILURE:],
        }
        for each in bad
    ]


def _gate(results: list[Result], bad: list[Result]) -> JsonValue:
    said = "\n".join(each.stdout + each.stderr for each in results)
    return {
        "passed": not bad,
        "failed": [each.name for each in bad],
        "exit_code": bad[0].code if bad else 0,
        "output": said[-MAX_GATE_TEXT:],
    }
