"""Events as the log keeps them, and back."""

import ast
from pathlib import Path

from support.places import ROOT

SOURCE = ROOT / "src" / "handrail"
MEANING = ("cli", "serve", "operations", "runtime")
"""The layers that know what an event means."""
READERS = {
    "runtime/event_records.py": "from_log, the only way from a stored payload to an event",
    "operations/delivery/export_import.py": "exports the bytes as they are",
    "runtime/inbox_events.py": "messages of the inbox, which are no events",
    "runtime/recorder.py": "letters to other runs, which are no events",
    "operations/pull/continue_workflow.py": "messages of the inbox, which are no events",
}


def reads_payloads(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return any(isinstance(node, ast.Attribute) and node.attr == "payload" for node in nodes)


def test_nothing_but_from_log_reads_the_payload_of_an_event() -> None:
    files = [file for layer in MEANING for file in (SOURCE / layer).rglob("*.py")]
    assert {str(file.relative_to(SOURCE)) for file in files if reads_payloads(file)} == READERS.keys()
