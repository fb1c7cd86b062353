"""The YAML reader: values, places, limits, and what it says about mistakes."""

import pytest
from inline_snapshot import snapshot

from handrail.authoring.readers.yaml_events import events
from handrail.authoring.readers.yaml_reader import build_tree, read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping, Node, Scalar, SourceText, plain


def read(text: str) -> Node:
    report = Report()
    node = read_yaml(SourceText("workflow.yaml", text), report)
    assert node is not None
    assert list(report) == []
    return node


def complaints(text: str) -> list[str | None]:
    report = Report()
    read_yaml(SourceText("workflow.yaml", text), report)
    return told(report)


def told(report: Report) -> list[str | None]:
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column}-{found.end_column} {found.code}", found.message, found.hint]
    return lines


def codes(text: str) -> list[str]:
    report = Report()
    read_yaml(SourceText("workflow.yaml", text), report)
    return [found.code for found in report]


def mapping(node: Node | None) -> Mapping:
    assert isinstance(node, Mapping)
    return node


def written(node: Node | None) -> str:
    assert node is not None
    return node.span.source.text[node.span.start : node.span.end]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("nul", "nul"),
        ("0", 0),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("0o17", 15),
        ("0xFf", 255),
        ("007", "007"),
        ("1_000", "1_000"),
        ("0b1", "0b1"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-1.", -1.0),
        ("1e3", 1000.0),
        ("1.2.3", "1.2.3"),
        ("12:30:45", "12:30:45"),
        ("2026-11-15", "2026-11-15"),
        ("2026-11-15T10:00:00Z", "2026-11-15T10:00:00Z"),
        ("9007199254740991", 2**53 - 1),
        ("'12'", "12"),
        ('"true"', "true"),
        ("${base}", "${base}"),
        ("=", "="),
    ],
)
def test_a_scalar_means_what_yaml_1_2_says(text: str, value: object) -> None:
    found = plain(read(f"a: {text}\n"))
    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)  # pyright: ignore[reportUnknownArgumentType] (a plain dict has no types)


@pytest.mark.parametrize(
    "number",
    ["9007199254740992", "-9007199254740992", "0xffffffffffffffff", "1" * 5000, "1e999", ".inf", "-.INF", ".nan"],
)
def test_a_number_that_cannot_be_kept_is_refused_and_reading_goes_on(number: str) -> None:
    report = Report()
    node = read_yaml(SourceText("f", f"a: {number}\nb: 1\n"), report)
    assert [found.code for found in report] == ["bad-value"]
    assert node is not None
    assert plain(node) == {"a": 0, "b": 1}


def test_words_that_yaml_1_1_took_for_booleans_are_keys() -> None:
    assert plain(read("on: 1\noff: 2\nyes: 3\nno: 4\ny: 5\nn: 6\n")) == {
        "on": 1,
        "off": 2,
        "yes": 3,
        "no": 4,
        "y": 5,
        "n": 6,
    }


def test_every_style_of_scalar_is_named() -> None:
    node = read("a: x\nb: 'x'\nc: \"x\"\nd: |\n  x\ne: >\n  x\n")
    assert isinstance(node, Mapping)
    styles = [entry.value.style for entry in node if isinstance(entry.value, Scalar)]
    assert styles == ["plain", "single", "double", "literal", "folded"]


def test_spans_hold_what_was_written() -> None:
    node = mapping(read("a:\n  b: [1, {c: 2}]  # note\n\n  d:\n    - 'x'\n    - y z\n\n# end\ne:\n"))
    inner = mapping(node.get("a"))
    assert written(inner.get("b")) == "[1, {c: 2}]"
    assert written(inner.get("d")) == "- 'x'\n    - y z"
    assert written(inner) == "b: [1, {c: 2}]  # note\n\n  d:\n    - 'x'\n    - y z"
    assert written(inner.entries["d"].key) == "d"
    assert written(node.get("e")) == ""


def test_spans_are_right_after_a_byte_order_mark_and_wide_characters() -> None:
    node = mapping(read('\ufeffa: 😀 é\r\nb: "😀"\r\n'))
    assert written(node.get("a")) == "😀 é"
    assert written(node.get("b")) == '"😀"'
    assert node.entries["b"].key.span.source.position(node.entries["b"].key.span.start) == (2, 1)


def test_an_anchor_is_no_part_of_a_span() -> None:
    node = mapping(read("a: &x # note\n  text\nb: &y [1]\nc: &z\n  - 1\nd: *x\n"))
    assert written(node.get("a")) == "text"
    assert written(node.get("b")) == "[1]"
    assert written(node.get("c")) == "- 1"
    assert node.get("d") is node.get("a")


def test_an_alias_uses_the_latest_anchor_of_its_name() -> None:
    assert plain(read("- &a 1\n- *a\n- &a 2\n- *a\n- &a [&a 3, *a]\n- *a\n")) == [1, 1, 2, 2, [3, 3], 3]


def test_a_duplicate_key_is_refused_with_both_lines() -> None:
    assert complaints("name: a\nsteps: []\nname: b\n") == snapshot(
        [
            "3:1-5 duplicate-key",
            "duplicate key 'name', first at line 1",
            "remove one of them, or rename it",
        ]
    )


def test_the_first_of_two_keys_is_kept() -> None:
    assert plain_of("a: 1\na: [2, 3]\nb: 4\n") == {"a": 1, "b": 4}


def plain_of(text: str) -> object:
    node = read_yaml(SourceText("f", text), Report())
    return plain(node) if node is not None else None


def test_keys_that_are_no_text_are_refused() -> None:
    assert [
        complaints(text) for text in ("true: 1", "3: 1", "~: 1", "1.5: 1", "? [a]\n: b", "? {a: b}\n: c", ": x")
    ] == (
        snapshot(
            [
                ["1:1-5 key-not-text", "a key must be text, not true or false", 'put it in quotes: "true"'],
                ["1:1-2 key-not-text", "a key must be text, not a number", 'put it in quotes: "3"'],
                ["1:1-2 key-not-text", "a key must be text, not null", 'put it in quotes: "~"'],
                ["1:1-4 key-not-text", "a key must be text, not a number", 'put it in quotes: "1.5"'],
                ["1:3-6 key-not-text", "a key must be text, not a list", "write a plain name as the key"],
                ["1:3-9 key-not-text", "a key must be text, not a mapping", "write a plain name as the key"],
                ["1:1-2 yaml-syntax", "a key is missing before the `:`", "write a name before it"],
            ]
        )
    )


def test_tags_are_refused() -> None:
    found = [
        complaints(text)
        for text in (
            "a: !x y",
            "a: !!str 1",
            "a: !!python/object/apply:os.system [x]",
            "a: &b !c d",
            "a: !x!y z",
            "!<x> a",
        )
    ]
    assert found == snapshot(
        [
            [
                "1:4-6 tag-refused",
                "the tag `!x` is not supported",
                "remove it; quotes make a value text, and text that starts with `!` needs them",
            ],
            [
                "1:4-9 tag-refused",
                "the tag `!!str` is not supported",
                "remove it; quotes make a value text, and text that starts with `!` needs them",
            ],
            [
                "1:4-35 tag-refused",
                "the tag `!!python/object/apply:os.system` is not supported",
                "remove it; quotes make a value text, and text that starts with `!` needs them",
            ],
            [
                "1:7-9 tag-refused",
                "the tag `!c` is not supported",
                "remove it; quotes make a value text, and text that starts with `!` needs them",
            ],
            [
                "1:4-5 tag-refused",
                "YAML tags are not part of the format",
                'remove it; text that starts with `!` needs quotes: "!x!y z"',
            ],
            [
                "1:1-5 tag-refused",
                "the tag `!<x>` is not supported",
                "remove it; quotes make a value text, and text that starts with `!` needs them",
            ],
        ]
    )


def test_merge_keys_are_refused_unless_quoted() -> None:
    assert complaints("a: &a {x: 1}\nb:\n  <<: *a\n") == snapshot(
        [
            "3:3-5 merge-key-refused",
            "merge keys (`<<`) are not supported",
            "write the keys out, or use `defaults:`",
        ]
    )
    assert plain(read('"<<": 1')) == {"<<": 1}


def test_a_second_document_is_refused() -> None:
    assert complaints("---\na: 1\n---\nb: 1\n") == snapshot(
        [
            "3:1-4 many-documents",
            "the file contains more than one YAML document",
            "keep one workflow per file and remove the `---` line",
        ]
    )
    assert plain(read("%YAML 1.2\n---\na: 1\n...\n")) == {"a": 1}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a note\n", "---\n", "\ufeff"])
def test_an_empty_file_says_so(text: str) -> None:
    report = Report()
    assert read_yaml(SourceText("f", text), report) is None
    assert [(found.code, found.message) for found in report] == [("yaml-syntax", "the file is empty")]


def test_the_slow_parser_lets_no_bad_escape_through() -> None:
    for text in ('a: "\\U00110000"', 'a: "\\ud800"', "%YAML 1." + "1" * 5000 + "\n---\na: 1"):
        report = Report()
        node = build_tree(SourceText("f", text), report, events(text, pure=True))
        assert report.failed
        assert node is None or plain(node) == {"a": "\ufffd"}


def test_the_slow_parser_gives_the_same_tree() -> None:
    text = "a: &x [1, 'b', \"c\"]\nd:\n  - *x\n  - |\n    text\ne: >-\n  f\n  g\n"
    report = Report()
    assert build_tree(SourceText("f", text), report, events(text, pure=True)) is not None
    slow = build_tree(SourceText("f", text), report, events(text, pure=True))
    assert slow is not None
    assert plain(slow) == plain(read(text))
