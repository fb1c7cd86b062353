"""The JSON reader: values, places, limits, and what it says about mistakes."""

import pytest
from inline_snapshot import snapshot

from handrail.authoring.readers.json_reader import read_json
from handrail.model.diagnostics import MAX_DIAGNOSTICS, Report
from handrail.model.source import Mapping, Node, Scalar, Sequence, SourceText, plain


def read(text: str) -> Node:
    report = Report()
    node = read_json(SourceText("workflow.json", text), report)
    assert node is not None
    assert list(report) == []
    return node


def complaints(text: str) -> list[str | None]:
    report = Report()
    read_json(SourceText("workflow.json", text), report)
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column}-{found.end_column} {found.code}", found.message, found.hint]
    return lines


def codes(text: str) -> list[str]:
    report = Report()
    read_json(SourceText("workflow.json", text), report)
    return [found.code for found in report]


def written(node: Node | None) -> str:
    assert node is not None
    return node.span.source.text[node.span.start : node.span.end]


VALUES: list[tuple[str, object]] = [
    ("null", None),
    ("true", True),
    ("false", False),
    ("0", 0),
    ("-0", 0),
    ("-12", -12),
    ("1.5", 1.5),
    ("-2.5e-3", -0.0025),
    ("1E5", 100000.0),
    ("9007199254740991", 2**53 - 1),
    ("-9007199254740991", -(2**53) + 1),
    ('""', ""),
    ('"a\\u00e9\\n\\/\\"\\\\"', 'aé\n/"\\'),
    ('"\\ud83d\\ude00"', "😀"),
    ("[]", []),
    ("{}", {}),
    (' [1 , {"a" : [ ] } ] \r\n', [1, {"a": []}]),
    ("\ufeff[1]", [1]),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_valid_json_is_read(text: str, value: object) -> None:
    found = plain(read(text))
    assert found == value
    assert type(found) is type(value)


def test_spans_hold_what_was_written() -> None:
    node = read('\ufeff{"😀": "x\\n", "b": [1, -2.5, {}], "c": null}')
    assert isinstance(node, Mapping)
    assert written(node) == '{"😀": "x\\n", "b": [1, -2.5, {}], "c": null}'
    assert written(node.entries["😀"].key) == '"😀"'
    assert written(node.get("😀")) == '"x\\n"'
    assert written(node.get("b")) == "[1, -2.5, {}]"
    inner = node.get("b")
    assert isinstance(inner, Sequence)
    assert [written(item) for item in inner] == ["1", "-2.5", "{}"]
    assert written(node.get("c")) == "null"


def test_every_scalar_has_the_json_style() -> None:
    node = read('["a", 1, true, null]')
    assert isinstance(node, Sequence)
    assert [item.style for item in node if isinstance(item, Scalar)] == ["json"] * 4


def test_a_duplicate_key_is_refused_with_both_lines_and_the_first_is_kept() -> None:
    text = '{"id": "a",\n "x": {"id": 1},\n "id": "b"}'
    assert complaints(text) == snapshot(
        [
            "3:2-6 duplicate-key",
            "duplicate key 'id', first at line 1",
            "remove one of them, or rename it",
        ]
    )
    node = read_json(SourceText("f", text), Report())
    assert node is not None
    assert plain(node) == {"id": "a", "x": {"id": 1}}


def test_a_trailing_comma_is_reported_and_reading_goes_on() -> None:
    text = '{"a": [1, 2,],\n "b": {"c": 3,},\n}'
    assert complaints(text) == snapshot(
        [
            "1:12-13 json-syntax",
            "a trailing comma is not allowed in JSON",
            "remove the comma before `]`",
            "2:14-15 json-syntax",
            "a trailing comma is not allowed in JSON",
            "remove the comma before `}`",
            "2:16-17 json-syntax",
            "a trailing comma is not allowed in JSON",
            "remove the comma before `}`",
        ]
    )
    node = read_json(SourceText("f", text), Report())
    assert node is not None
    assert plain(node) == {"a": [1, 2], "b": {"c": 3}}


@pytest.mark.parametrize("number", ["9007199254740992", "-9007199254740992", "1" * 5000, "1e999", "-1e999"])
def test_a_number_that_cannot_be_kept_is_refused_and_reading_goes_on(number: str) -> None:
    report = Report()
    node = read_json(SourceText("f", f'{{"a": {number}, "b": 1}}'), report)
    assert [found.code for found in report] == ["bad-value"]
    assert node is not None
    assert plain(node) == {"a": 0, "b": 1}


@pytest.mark.parametrize("text", ['"\\ud83d"', '"\\ude00\\ud83d"', '"a\ud800"'])
def test_half_a_character_is_refused_and_taken_out(text: str) -> None:
    report = Report()
    node = read_json(SourceText("f", text), report)
    assert [found.code for found in report] == ["json-syntax"]
    assert isinstance(node, Scalar)
    str(node.value).encode()


def test_depth_64_is_read_and_65_is_not() -> None:
    assert isinstance(read("[" * 64 + "]" * 64), Sequence)
    assert codes("[" * 65 + "]" * 65) == ["too-deep"]
    assert codes('{"a":' * 100_000) == ["too-deep"]


def test_a_file_over_the_size_limit_is_refused() -> None:
    assert codes('"' + "x" * (1024 * 1024) + '"') == ["file-too-large"]
    assert codes('"' + "😀" * (256 * 1024) + '"') == ["file-too-large"]
    assert codes('"' + "é" * (512 * 1024 - 1) + '"') == []


def test_too_many_values_are_refused() -> None:
    assert codes("[" + "1," * 200_000 + "1]") == ["too-many-nodes"]
    assert codes("[" + "1," * 199_998 + "1]") == []


def test_a_long_text_that_is_never_closed_is_refused_quickly() -> None:
    assert codes('["' + "\\n x" * 200_000) == ["json-syntax"]


def test_reading_ends_when_nothing_more_would_be_kept() -> None:
    report = Report()
    assert read_json(SourceText("f", "{" + '"a": 1, ' * 20_000 + "}"), report) is None
    assert (len(report.diagnostics), report.dropped) == (MAX_DIAGNOSTICS, 1)
