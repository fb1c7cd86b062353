"""Laws of both readers: no text makes them raise, and what they read is what was written."""

import json
import re
from collections.abc import Callable
from typing import TypeAlias

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.readers.locate import span_at
from handrail.authoring.readers.yaml_events import events
from handrail.authoring.readers.yaml_reader import build_tree, read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node, Scalar, Sequence, SourceText, plain

Reader: TypeAlias = Callable[[SourceText, Report], Node | None]

WORKFLOW = """\
# .handrail/workflows/fix-bug/workflow.yaml
name: fix-bug
input:                                   # map form
  issue: issue
  base: string = main
defaults: {agent: claude/sonnet, access: edit, timeout: 30m}
budget: {usd: 6, minutes: 90}
steps:
  - name: reproduce
    prompt: reproduce
    returns: &shape
      test: path
      confidence: low | medium | high
    done_when:
      - fails: pytest -q "${repro.test}"
        exit: 1
      - unchanged: src/**
  - name: confirm
    when: repro.confidence != 'high' or 'ask-me' in issue.labels
    message: |
      Cause: ${repro.cause} (${repro.confidence})
      Failing test: ${repro.test}
    show: [diff]
    returns: *shape
  - name: pr
    title: "fix: ${issue.title}\\n"
    body: >-
      folded text
      of two lines
    quoted: 'it''s'
    follow: {on: [checks, changes_requested], fix: address-review, max: 3}
"""
DOCUMENT = json.dumps(
    {
        "id": "workflow",
        "steps": [{"id": "a", "prompt": 'say "hi"\n😀', "requireConfirmation": True, "n": -1.5e3, "x": None}] * 2,
    },
    indent=2,
)
HOSTILE = st.sampled_from(
    [
        "\t",
        "${a}",
        "{{ a }}",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "\\",
        "*a",
        "&a ",
        "!x ",
        "|",
        ">",
        "#",
        "\n",
        "\r",
        "\x85",
        "\u2028",
        "\ufeff",
        "\x00",
        "\ud800",
        "😀",
        "? ",
        "---",
        "<<: ",
        ",",
        "%",
        "@",
        "`",
        "0x",
        "1e9",
        "//",
    ]
)
ANY_TEXT = st.text(st.characters() | st.sampled_from("\n\t []{}:,-?&*!|>'\"%@`#$\\"), max_size=80)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 6))
        text = text[:at] + draw(st.just("") | HOSTILE | st.characters()) + text[at + cut :]
    return text


def check(read: Reader, text: str) -> None:
    source, report = SourceText("f", text), Report()
    node = read(source, report)
    assert node is not None or report.failed
    lines = text.split("\n")
    for found in report:
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1
        assert found.column < found.end_column
        assert found.message
    if node is not None:
        check_spans(node, len(text))


def check_spans(node: Node, length: int) -> None:
    assert 0 <= node.span.start <= node.span.end <= length
    match node:
        case Scalar():
            size = len(str(node.value))
            for at in range(min(size, 20)):
                span = span_at(node, at, at + 1)
                assert node.span.start <= span.start <= span.end <= node.span.end
        case Sequence():
            for item in node:
                check_spans(item, length)
        case Mapping():
            for entry in node:
                check_spans(entry.key, length)
                check_spans(entry.value, length)


def read_slowly(source: SourceText, report: Report) -> Node | None:
    return build_tree(source, report, events(source.text, pure=True))


def test_the_samples_are_read_without_a_complaint() -> None:
    report = Report()
    assert read_yaml(SourceText("f", WORKFLOW), report) is not None
    assert read_json(SourceText("f", DOCUMENT), report) is not None
    assert list(report) == []


@given(ANY_TEXT | st.lists(HOSTILE).map("".join))
@settings(deadline=None)
def test_no_text_makes_a_reader_raise(text: str) -> None:
    check(read_yaml, text)
    check(read_json, text)


@given(mutated(WORKFLOW))
@settings(deadline=None)
def test_no_broken_workflow_makes_the_yaml_reader_raise(text: str) -> None:
    check(read_yaml, text)


@given(mutated(WORKFLOW))
@settings(deadline=None)
def test_no_broken_workflow_makes_the_slow_parser_raise(text: str) -> None:
    check(read_slowly, text.removeprefix("\ufeff"))


@given(mutated(DOCUMENT))
@settings(deadline=None)
def test_no_broken_document_makes_the_json_reader_raise(text: str) -> None:
    check(read_json, text)


WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
REAL = st.floats(allow_nan=False, allow_infinity=False)


def data(texts: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    leaves: st.SearchStrategy[object] = st.none() | st.booleans() | WHOLE | REAL | texts
    return st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20)


@given(data(st.text(st.characters(exclude_categories=["Cs"]))), st.booleans(), st.none() | st.integers(0, 3))
@settings(deadline=None)
def test_valid_json_is_read_as_the_standard_library_reads_it(
    value: object, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    report = Report()
    node = read_json(SourceText("f", text), report)
    assert list(report) == []
    assert node is not None
    assert plain(node) == json.loads(text)


ONLY_1_2 = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|0o[0-7]+")
"""Texts that YAML 1.1, which PyYAML writes, leaves without quotes, and that are numbers in YAML 1.2."""

YAML_TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff\ufffe\uffff")
    | st.sampled_from("\n\t :#-'\"")
).filter(lambda text: not ONLY_1_2.fullmatch(text))


@given(data(YAML_TEXTS), st.booleans(), st.booleans())
@settings(deadline=None)
def test_valid_yaml_is_read_as_it_was_dumped(value: object, unicode: bool, flow: bool) -> None:
    text = yaml.safe_dump(value, allow_unicode=unicode, default_flow_style=flow)
    report = Report()
    node = read_yaml(SourceText("f", text), report)
    assert list(report) == []
    assert node is not None
    assert plain(node) == value
    check_spans(node, len(text))


@given(data(YAML_TEXTS))
@settings(max_examples=50, deadline=None)
def test_json_is_yaml(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    report = Report()
    node = read_yaml(SourceText("f", text), report)
    assert list(report) == []
    assert node is not None
    assert plain(node) == value
