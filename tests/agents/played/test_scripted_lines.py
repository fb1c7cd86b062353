"""What is read from the lines of the scripted agent, whatever they are."""

import json
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.played.scripted_lines import ScriptedLines
from handrail.ports.agents import AgentOutcome, Usage
from handrail.ports.processes import Ended, Gone

RESULT = {"type": "result", "status": "ok", "text": "done", "session": "s"}


def outcome(*lines: bytes, ended: Ended | Gone | None = None) -> AgentOutcome:
    reader = ScriptedLines()
    for line in lines:
        reader.feed(line)
    return reader.outcome(ended or Ended(0))


def line(**changes: object) -> bytes:
    return json.dumps(RESULT | changes).encode()


def test_lines_that_are_none_of_the_protocol_are_passed_over() -> None:
    garbage = [b"", b"\xff\xfe", b"warning: x", b"[1]", b"null", b'{"type": 5}', b"{" * 100_000, b"[" * 100_000]
    assert outcome(*garbage, line(), *garbage).text == "done"


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (Ended(0), "the agent ended with exit code 0 and returned no result"),
        (Ended(3), "the agent ended with exit code 3 and returned no result"),
        (Ended(None, signal.SIGKILL), "the agent was killed by SIGKILL before it returned a result"),
        (Ended(None, 200), "the agent was killed by signal 200 before it returned a result"),
        (Ended(127, reason="cannot run x: No such file or directory"), "cannot run x: No such file or directory"),
        (Gone(), "the agent was stopped from outside before it returned a result"),
    ],
)
def test_no_result_is_a_crash_that_keeps_the_conversation(ended: Ended | Gone, message: str) -> None:
    found = outcome(b'{"type": "session", "session": "s"}', b'{"type": "text", "text": "hm"}', ended=ended)
    assert found == AgentOutcome(status="crashed", session="s", message=message)


def test_a_result_counts_more_than_the_exit_status() -> None:
    assert outcome(line(), ended=Ended(1)).status == "ok"


def test_a_result_that_was_torn_is_none() -> None:
    assert outcome(line()[:-1]).status == "crashed"


@pytest.mark.parametrize("status", ["great", None, 5, ["ok"], {}])
def test_a_result_of_an_unknown_status_is_none(status: object) -> None:
    assert outcome(line(status=status)).status == "crashed"


def test_values_of_the_wrong_kind_are_as_if_they_were_not_there() -> None:
    found = outcome(line(text=5, usage=[1], cost="much", retry_after=True, question=None, message={}, session=1))
    assert found == AgentOutcome(status="ok")
    assert outcome(line(usage={"input_tokens": -5, "output_tokens": "x", "cached_tokens": 3})).usage == Usage(0, 0, 3)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 5000])
def test_numbers_that_nothing_can_keep_make_no_line(number: str) -> None:
    assert outcome(line()[:-1] + b', "cost": ' + number.encode() + b"}").status == "crashed"


def test_a_failure_without_words_and_amounts_below_nothing_are_told_as_such() -> None:
    found = outcome(line(status="quota", message=None, cost=-1, retry_after=-5))
    assert (found.status, found.message) == ("quota", "the script ends the call as quota")
    assert (found.cost, found.retry_after) == (None, None)


def test_half_of_a_character_makes_no_line() -> None:
    assert outcome(line(text="\ud800")).status == "crashed"
    assert outcome(line(text="\U0001f600")).text == "\U0001f600"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)
KEYS = ("type", "status", "text", "session", "usage", "cost", "name", "input", "exit_code", "output", "message")
LIKE_OURS = st.dictionaries(
    st.sampled_from(KEYS), JSON | st.sampled_from(["session", "text", "tool", "error", "result", "ok", "denied"])
)


@given(st.lists(st.binary() | LIKE_OURS.map(lambda each: json.dumps(each).encode()), max_size=6))
def test_no_bytes_break_the_reader(lines: list[bytes]) -> None:
    found = outcome(*lines)
    json.dumps(found.output).encode()
    assert found.status
    assert found.text.encode() is not None
