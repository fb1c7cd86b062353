"""What is only looked through is read by a faster parser, and as it would have been read by the other."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents import json_lines
from handrail.agents.claude.lines import ClaudeLines
from handrail.agents.json_lines import Line, number, read_line
from handrail.agents.played.scripted_lines import ScriptedLines
from handrail.model.workflow.values import JsonValue
from handrail.ports.processes import Ended

VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
BROKEN = [
    b"",
    b"null",
    b"[1]",
    b'"x"',
    b'{"a":1}x',
    b' {"a": 1} \r',
    b'{"a":"\\ud800"}',
    b'{"a":"\xff"}',
    b'{"a":"\x01"}',
    b'\xef\xbb\xbf{"a":1}',
    b'{"a":01}',
    b'{"a":1,"a":2}',
    b'{"a":' + b"9" * 400 + b"}",
    b'{"a":' * 150 + b"1" + b"}" * 150,
    b'{"a":' * 400 + b"1" + b"}" * 400,
    b'{"a":' * 5000,
]


@pytest.fixture
def skim(monkeypatch: pytest.MonkeyPatch) -> json_lines.LenientJsonParser:
    monkeypatch.setattr(json_lines, "FAST_PARSER_FROM", 0)
    found = json_lines.LenientJsonParser()
    found(b"{}")
    return found


def test_much_is_read_by_the_faster_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "FAST_PARSER_FROM", 10)
    skim = json_lines.LenientJsonParser()
    # The faster one takes what Python's own refuses here, so one can tell which of them reads.
    assert ["a" in skim(b'{"a":NaN}') for _ in range(3)] == [False, False, True]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_read_the_same(skim: json_lines.LenientJsonParser, line: bytes) -> None:
    assert skim(line) == read_line(line)


@given(VALUES, st.booleans(), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_every_value_is_read_the_same(value: JsonValue, ascii_only: bool, separators: tuple[str, str]) -> None:
    skim = json_lines.LenientJsonParser()
    skim.use_fast_parser()
    text = json.dumps({"type": value}, ensure_ascii=ascii_only, separators=separators)
    line = text.encode("utf-8", "surrogatepass")
    assert _told(skim(line)) == _told(read_line(line))


@given(st.binary(max_size=60))
def test_any_bytes_are_read_the_same(data: bytes) -> None:
    skim = json_lines.LenientJsonParser()
    skim.use_fast_parser()
    for line in (data, b"{" + data + b"}", b'{"a":"' + data + b'"}'):
        assert _told(skim(line)) == _told(read_line(line))


def _told(line: Line) -> str:
    # Numbers without an end are all that may differ: one parser refuses their line.
    told = json.dumps(line)
    return "{}" if "Infinity" in told or "NaN" in told else told


def test_a_number_without_an_end_is_none() -> None:
    given: list[JsonValue] = [math.inf, -math.inf, math.nan, 1.5, 10**400, True]
    assert [number(each) for each in given] == [None, None, None, 1.5, 10**400, None]


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_numbers_that_are_none_are_passed_over_by_whoever_looks_through(
    skim: json_lines.LenientJsonParser, word: bytes
) -> None:
    assert number(skim(b'{"cost":' + word + b"}").get("cost")) is None
    assert read_line(b'{"cost":' + word + b"}") == {}


def test_a_result_that_nobody_can_keep_is_none(
    skim: json_lines.LenientJsonParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.agents.claude.lines.skim", skim)
    monkeypatch.setattr("handrail.agents.played.scripted_lines.skim", skim)
    claude, scripted = ClaudeLines(), ScriptedLines()
    claude.feed(b'{"type":"result","subtype":"success","result":"","structured_output":{"n":1e999}}')
    scripted.feed(b'{"type":"result","status":"ok","output":{"n":1e999}}')
    assert [claude.outcome(Ended(0)).has_output, scripted.outcome(Ended(0)).has_output] == [False, False]
