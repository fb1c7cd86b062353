"""Events as the log keeps them: compact JSON in ASCII that holds whatever a command may have printed."""

import ast
from pathlib import Path

import pytest

from handrail.errors import UsageError
from handrail.model.history.events import PassedBy, StepChosen, StepEnded, Why
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import StoredEvent
from handrail.runtime.event_records import decode_event, encode_event
from support.places import ROOT

SOURCE = ROOT / "src" / "handrail"
MEANING = ("cli", "serve", "operations", "runtime")
"""The layers that know what an event means."""
READERS = {
    "runtime/event_records.py": "from_log, the only way from a stored payload to an event",
    "operations/delivery/export_import.py": "exports the bytes as they are",
    "operations/delivery/release.py": "reads only under which name a run came in",
    "runtime/inbox_events.py": "messages of the inbox, which are no events",
    "operations/pull/continue_workflow.py": "messages of the inbox, which are no events",
    "runtime/handlers/trackers/create_issues.py": "messages of the inbox, which are no events",
    "runtime/handlers/trackers/pull_request_text.py": "looks for a word in the bytes before it decodes an event",
    "operations/delivery/pull_request.py": "looks for a word in the bytes before it decodes an event",
    "runtime/work_stream.py": "facts of the work on an issue, which are no events of a run",
    "runtime/pull_request_log.py": "facts of a pull request, which are no events of a run",
}


def reads_payloads(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return any(isinstance(node, ast.Attribute) and node.attr == "payload" for node in nodes)


def test_nothing_but_from_log_reads_the_payload_of_an_event() -> None:
    files = [file for layer in MEANING for file in (SOURCE / layer).rglob("*.py")]
    assert {str(file.relative_to(SOURCE)) for file in files if reads_payloads(file)} == READERS.keys()


def ended(output: JsonValue) -> StepEnded:
    return StepEnded(address="build", began=3, status="succeeded", output=output, at=1.5)


def test_an_event_is_kept_without_spaces() -> None:
    chosen = StepChosen(address="a", place=1, passed_by=(), at=1.5)
    assert encode_event(chosen).payload == b'{"address":"a","place":1,"passed_by":[],"at":1.5,"kind":"step_chosen"}'


def test_records_within_an_event_are_kept_in_the_same_way() -> None:
    chosen = StepChosen(address="a", place=1, passed_by=(PassedBy("b", Why("x > 1", {"x": 0})),), at=1.0)
    assert _read_again(chosen) == chosen


@pytest.mark.parametrize("output", ["é", "\ud800 half a pair", "\x00", 10**40, -1.5e300, {"deep": [None, True]}])
def test_every_value_of_json_is_kept_in_ascii_and_read_again(output: JsonValue) -> None:
    assert encode_event(ended(output)).payload.isascii()
    assert _read_again(ended(output)) == ended(output)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_of_json_is_refused(number: float) -> None:
    with pytest.raises(UsageError, match="not JSON compliant"):
        encode_event(ended(number))


def test_what_is_nested_too_deep_to_be_read_everywhere_is_refused() -> None:
    value: JsonValue = "x"
    for _ in range(250):
        value = [value]
    assert _read_again(ended(value)) == ended(value)
    for _ in range(250):
        value = [value]
    with pytest.raises(UsageError, match="nested more than"):
        encode_event(ended(value))
    wide: JsonValue = [["[{"] for _ in range(2000)]
    assert _read_again(ended(wide)) == ended(wide)


def _read_again(event: StepEnded | StepChosen) -> object:
    written = encode_event(event)
    return decode_event(StoredEvent("fix-1", 1, 1, written.kind, written.version, written.payload, ""))
