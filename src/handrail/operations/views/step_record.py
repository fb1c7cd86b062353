"""What is stored about a step, in separate parts: its facts, its output, and what happened to it."""

import json
from typing import Any

from handrail.frozen import frozen
from handrail.operations.views.event_sentences import event_sentence
from handrail.operations.views.history import history, step_details
from handrail.operations.views.run_document import iso
from handrail.ports.log import Log

STREAMS = ("stdout", "stderr")


@frozen
class RecordPart:
    """One part of a record: where it is from, and its text."""

    about: str
    text: str


def step_record(log: Log, run: str, step: str) -> tuple[RecordPart, ...]:
    """Return what is stored about a step at each address where it ran, and what happened to it."""
    found = step_details(log, run, step)
    parts = [part for details in found for part in _parts_from_details(details)]
    events = history(log, run, step)
    lines = [
        f"{seq:>4}  {iso(event.at)}  {event.kind:<18}  {event_sentence(event) or ''}".rstrip()
        for seq, _, event in events
    ]
    return (*parts, RecordPart("what happened to the step", "\n".join(lines)))


def _parts_from_details(details: dict[str, Any]) -> list[RecordPart]:
    facts = {key: value for key, value in details.items() if key not in STREAMS and value not in (None, [], "")}
    said = [
        RecordPart(f"{name} of the step, or what its agent said", details[name])
        for name in STREAMS
        if details[name].strip()
    ]
    return [RecordPart("the step", json.dumps(facts, indent=2, ensure_ascii=False)), *said]
