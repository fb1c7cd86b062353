"""What the lines of Claude Code are, recorded from the real one against a scripted model."""

import json

from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.claude.transcript import ClaudeTranscript
from handrail.ports.agents import TranscriptPart
from support.places import RECORDED


def parts(*lines: bytes) -> list[TranscriptPart]:
    reader = ClaudeTranscript()
    return [part for line in lines for part in reader.feed(line)]


def recorded(name: str) -> list[TranscriptPart]:
    return parts(*(RECORDED / "claude" / f"{name}.jsonl").read_bytes().splitlines())


def test_words_calls_and_answers_of_tools_are_told_apart() -> None:
    first, second, third, fourth, last = recorded("tools")
    assert first == ("tool_call", "Bash npx --no vitest run login || true")
    assert second == ("tool_result", "3 passed")
    assert third == ("tool_call", "Edit src/login.py")
    assert fourth.kind == "tool_result"
    assert fourth.text.startswith("failed: ")
    assert last == ("said", "Done.\nMore.")


def test_what_the_service_refuses_is_a_notice() -> None:
    assert [each.kind for each in recorded("529")] == ["notice"]


def test_a_thought_is_told_apart_from_words_of_the_same_message() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": "Yes."},
    ]
    line = json.dumps({"type": "assistant", "message": {"content": content}}).encode()
    assert parts(line) == [("thought", "Hm."), ("said", "Yes.")]


def test_an_answer_in_several_texts_is_one() -> None:
    content = [{"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]
    assert parts(json.dumps({"type": "user", "message": {"content": content}}).encode()) == [("tool_result", "a\nb")]


@given(st.binary())
def test_no_line_is_too_odd(line: bytes) -> None:
    assert isinstance(ClaudeTranscript().feed(line), tuple)
