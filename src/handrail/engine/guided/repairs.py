"""Helps an agent to submit a step: an example of its output and, after a refusal, what to fix."""

from collections.abc import Iterator, Sequence
from typing import cast

from handrail.engine.contracts.example import minimal_example
from handrail.engine.guided.texts import PERSON, Spec, confirmation_example, delegation_result, schema_text
from handrail.engine.prompts.demands import json_block
from handrail.engine.text.byte_limits import MAX_FIX, MAX_MESSAGE, MAX_SHORTFALLS, cut, cut_value
from handrail.model.history.events import Shortfall
from handrail.model.workflow.values import JsonValue

NOTES = "<what you did, decided, found and left open>"
_STILL_YOURS = (
    "What you submitted does not complete the step, which is still yours. Fix what is listed here and submit"
    " everything again: notes and artifacts of a refused try are not kept."
)


def example_output(spec: Spec) -> dict[str, JsonValue]:
    """Build the smallest output that has everything a step asks for; the notes are still to be written."""
    output: dict[str, JsonValue] = {"notesMarkdown": NOTES}
    artifacts = list(_artifacts(spec))
    if artifacts:
        output["artifacts"] = artifacts
    if spec.get("schema") is not None:
        output["result"] = minimal_example(spec["schema"])
    return output


def _artifacts(spec: Spec) -> Iterator[JsonValue]:
    contract = spec.get("contract")
    if isinstance(contract, dict) and contract.get("required", True):
        yield contract.get("example")
    for each in _dicts(spec.get("assessments")):
        yield each.get("example")
    for each in _dicts(spec.get("capabilities")):
        if each.get("level") == "required":
            yield each.get("example")
    reported = spec.get("reported")
    done = reported if isinstance(reported, dict) else {}
    for number, _ in enumerate(_dicts(spec.get("delegations")), 1):
        if str(number) not in done:
            yield delegation_result(number)
    if spec.get("confirmation") not in (None, "", PERSON):
        yield confirmation_example()


def _dicts(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [cast("dict[str, JsonValue]", each) for each in value] if isinstance(value, list) else []


def refusal_text(shortfalls: Sequence[Shortfall]) -> str:
    """Write what is missing, what it must look like, what was sent, and what to do."""
    parts = ["# Not done yet", _STILL_YOURS]
    told: list[str] = []
    for number, each in enumerate(shortfalls[:MAX_SHORTFALLS], 1):
        line = f"{number}. {cut(each.message, MAX_MESSAGE)}" + (f" ({each.about})" if each.about else "")
        parts.append(f"{line}\n   Do: {cut(each.fix, MAX_FIX)}" if each.fix else line)
        # Several faults of one artifact come with the same schema, which is shown once.
        new = [text for text in _shortfall_details(each) if text not in told]
        parts += new
        told += new
    left = len(shortfalls) - MAX_SHORTFALLS
    return "\n\n".join([*parts, f"And {left} more, which are listed once these are fixed."] if left > 0 else parts)


def _shortfall_details(each: Shortfall) -> Iterator[str]:
    if each.schema is not None:
        yield f"It must match this JSON Schema:\n\n{schema_text(each.schema)}"
    if each.example is not None:
        yield f"A minimal valid example:\n\n{json_block(each.example)}"
    if each.sent is not None:
        yield f"You sent:\n\n{json_block(cut_value(each.sent))}"
