"""What the lines of Codex are; most were recorded from the real one."""

import json

from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.codex.transcript import CodexTranscript
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import TranscriptPart
from support.places import RECORDED


def parts(*lines: bytes) -> list[TranscriptPart]:
    reader = CodexTranscript()
    return [part for line in lines for part in reader.feed(line)]


def recorded(name: str) -> list[TranscriptPart]:
    return parts(*(RECORDED / "codex" / f"{name}.jsonl").read_bytes().splitlines())


def item(when: str, **fields: JsonValue) -> bytes:
    return json.dumps({"type": f"item.{when}", "item": fields}).encode()


def test_words_calls_and_answers_of_tools_are_told_apart() -> None:
    assert recorded("patch") == [
        ("tool_call", "edits p.txt"),
        ("tool_call", "$ exit 3"),
        ("tool_result", "exit code 3\n"),
        ("said", "I added p.txt.\nThat is all."),
    ]


def test_notices_of_the_program_are_notices() -> None:
    assert {each.kind for each in recorded("retries")} == {"notice"}


def test_a_thought_is_one_and_a_command_is_called_once() -> None:
    command: dict[str, JsonValue] = {"id": "1", "type": "command_execution", "command": "ls"}
    found = parts(
        item("completed", id="0", type="reasoning", text="Look first."),
        item("started", **command),
        item("completed", **command, exit_code=0, aggregated_output="a.txt"),
    )
    assert found == [("thought", "Look first."), ("tool_call", "$ ls"), ("tool_result", "a.txt")]


@given(st.binary())
def test_no_line_is_too_odd(line: bytes) -> None:
    assert isinstance(CodexTranscript().feed(line), tuple)
