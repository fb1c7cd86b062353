"""Places inside a value lead back to the places in the file where they were written."""

import json
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.readers.locate import span_at
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Scalar, Sequence, SourceText, Span


def scalar_of(text: str, *, is_json: bool = False) -> Scalar:
    report = Report()
    node = (read_json if is_json else read_yaml)(SourceText("f", text), report)
    assert list(report) == []
    while not isinstance(node, Scalar):
        assert isinstance(node, Mapping | Sequence)
        node = next(iter(node.entries.values())).value if isinstance(node, Mapping) else node.items[0]
    return node


def pieces(scalar: Scalar) -> list[str]:
    """Give what is written for each character of the value."""
    value = scalar.value
    assert isinstance(value, str)
    spans = [span_at(scalar, at, at + 1) for at in range(len(value))]
    return [span.source.text[span.start : span.end] for span in spans]


def found(text: str, part: str, *, is_json: bool = False) -> tuple[int, int]:
    """Give line and column of a part of the value."""
    scalar = scalar_of(text, is_json=is_json)
    at = str(scalar.value).index(part)
    span = span_at(scalar, at, at + len(part))
    return span.source.position(span.start)


@pytest.mark.parametrize(
    ("text", "part", "place"),
    [
        ("a: one two\n", "two", (1, 8)),
        ("a: &x one two\n", "two", (1, 11)),
        ("a: one\n   two\n\n   three\n", "three", (4, 4)),
        ("a: 'it''s two'\n", "two", (1, 11)),
        ("a: 'one\n  two'\n", "two", (2, 3)),
        ('a: "\\u00e9 two"\n', "two", (1, 12)),
        ('a: "one\\\n   two"\n', "two", (2, 4)),
        ('a: "one\n\n  two"\n', "two", (3, 3)),
        ("a: |\n  one\n  two\n", "two", (3, 3)),
        ("a: |-\n  one\n\n  two", "two", (4, 3)),
        ("a: |  # note\n  one\n    two\n", "two", (3, 5)),
        ("- - a: |2\n        one\n      two\n", "two", (3, 7)),
        ("- - a: |2\n        one\n      two\n", "one", (2, 9)),
        ("a: >\n  one\n  two\n\n\n  three\n", "two", (3, 3)),
        ("a: >\n  one\n  two\n\n\n  three\n", "three", (6, 3)),
        ("a: >+\n  one\n    two\n  three\n\n", "three", (4, 3)),
        ("a: |\n\n\n  one\n", "one", (4, 3)),
        ("a: |\r\n  one\r\n  two\r\n", "two", (3, 3)),
        ("\ufeffa: |\n  one\n", "one", (2, 3)),
        ("a: >\n  😀 one\n  two\n", "two", (3, 3)),
    ],
)
def test_a_part_of_a_yaml_value_is_found(text: str, part: str, place: tuple[int, int]) -> None:
    assert found(text, part) == place


@pytest.mark.parametrize(
    ("text", "part", "column"),
    [('"one two"', "two", 6), ('"\\ud83d\\ude00\\n two"', "two", 17), ('"\\"\\u0041 two"', "two", 11)],
)
def test_a_part_of_a_json_text_is_found(text: str, part: str, column: int) -> None:
    assert found(text, part, is_json=True) == (1, column)


def test_one_character_covers_all_that_it_is_written_with() -> None:
    assert pieces(scalar_of('"\\ud83d\\ude00\\na"', is_json=True)) == ["\\ud83d\\ude00", "\\n", "a"]
    assert pieces(scalar_of("'a''b'")) == ["a", "''", "b"]
    assert pieces(scalar_of('"\\x41\\U0001F600\\e"')) == ["\\x41", "\\U0001F600", "\\e"]
    assert pieces(scalar_of("a: b  \n  c")) == ["b", "\n", "c"]


def test_an_empty_stretch_and_the_end_have_a_place() -> None:
    scalar = scalar_of('a: "b\\nc"')
    assert span_at(scalar, 1, 1)[1:] == (5, 5)
    assert span_at(scalar, 3, 3)[1:] == (8, 8)
    assert span_at(scalar, 90, 99)[1:] == (8, 8)
    assert span_at(scalar, -5, 1)[1:] == (4, 5)
    assert span_at(scalar_of("a: ''"), 0, 0)[1:] == (4, 4)


def test_a_made_scalar_and_a_number_give_their_own_span() -> None:
    span = Span(SourceText("f", "abcdef"), 1, 3)
    assert span_at(Scalar("long text", span, "made"), 5, 7) == span
    assert span_at(Scalar(42, span), 0, 1) == span


def test_a_value_that_is_not_what_was_written_gives_the_whole_scalar() -> None:
    span = Span(SourceText("f", "'a''b' |\n x"), 0, 6)
    assert span_at(Scalar("other text", span, "single"), 2, 3) == span
    block = Span(span.source, 7, 11)
    assert span_at(Scalar("     other\n", block, "literal"), 2, 3) == block


CHARACTERS = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff\u2028\u2029\x85", max_codepoint=0x1FFFF
)
WORDS = st.text(CHARACTERS | st.sampled_from("'\"\\ :#"), max_size=12)
TEXTS = st.lists(WORDS, max_size=5).map("\n".join)
INDENTS = st.integers(1, 6)


def check(scalar: Scalar, value: str, escapes: dict[str, str]) -> None:
    """Each character stands where the map says, as itself, as its escape, or as a folded line break."""
    assert scalar.value == value
    spans = [span_at(scalar, at, at + 1) for at in range(len(value))]
    for char, span in zip(value, spans, strict=True):
        written = scalar.span.source.text[span.start : span.end]
        assert written in {char, escapes.get(char, char), "\n"}
        assert written != "\n" or char in " \n"
    assert all(before.end <= after.start for before, after in pairwise(spans))


@given(TEXTS)
@settings(deadline=None)
def test_each_character_of_a_json_text_maps_to_its_place(value: str) -> None:
    for is_ascii in (True, False):
        text = json.dumps([value], ensure_ascii=is_ascii)
        escapes = {char: json.dumps(char, ensure_ascii=is_ascii)[1:-1] for char in value}
        check(scalar_of(text, is_json=True), value, escapes)


@given(TEXTS)
@settings(deadline=None)
def test_each_character_in_double_quotes_maps_to_its_place(value: str) -> None:
    escapes = {"\n": "\\n", '"': '\\"', "\\": "\\\\", "é": "\\xe9"}
    written = "".join(escapes.get(char, char) for char in value)
    check(scalar_of(f'a: "{written}"'), value, escapes)


@given(st.lists(WORDS.map(str.strip).filter(bool), min_size=1, max_size=4), INDENTS, st.integers(0, 2))
@settings(deadline=None)
def test_each_character_in_single_quotes_over_lines_maps_to_its_place(
    words: list[str], indent: int, blank: int
) -> None:
    assume(all(word == word.strip(" \t") for word in words))
    written = ("\n" * (blank + 1) + " " * indent).join(word.replace("'", "''") for word in words)
    value = ("\n" * blank or " ").join(words)
    check(scalar_of(f"a: '{written}'"), value, {"'": "''"})


@given(st.lists(st.text(st.sampled_from("abc${}é😀"), min_size=1), min_size=1, max_size=4), INDENTS, st.integers(0, 2))
@settings(deadline=None)
def test_each_character_of_plain_text_over_lines_maps_to_its_place(words: list[str], indent: int, blank: int) -> None:
    value = ("\n" * blank or " ").join(["x" + word for word in words])
    written = ("\n" * (blank + 1) + " " * indent).join(["x" + word for word in words])
    check(scalar_of(f"a: {written}"), value, {})


@given(TEXTS, INDENTS, st.sampled_from(["", "-", "+"]), st.booleans())
@settings(deadline=None)
def test_each_character_of_a_literal_block_maps_to_its_place(text: str, indent: int, chomp: str, named: bool) -> None:
    lines = ["x" + text, *text.split("\n"), "end"]
    if named:
        lines.insert(0, "   deeper")
    header = f"|{indent if named else ''}{chomp}"
    written = "\n".join(" " * indent + line if line else "" for line in "\n".join(lines).split("\n"))
    value = "\n".join(lines) + ("" if chomp == "-" else "\n")
    check(scalar_of(f"a: {header}\n{written}\n"), value, {})


@given(st.lists(WORDS, max_size=6), INDENTS)
@settings(deadline=None)
def test_each_character_of_a_folded_block_maps_to_its_place(lines: list[str], indent: int) -> None:
    written = "\n".join(" " * indent + line if line else "" for line in ["x", *lines, "end"])
    scalar = scalar_of(f"a: >\n{written}\n")
    check(scalar, str(scalar.value), {})
    assert pieces(scalar)[0] == "x"
