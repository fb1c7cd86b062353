"""What the YAML reader says about mistakes: the place, plain words, and the fix."""

import pytest
from inline_snapshot import snapshot

from handrail.authoring.readers.yaml_events import events
from handrail.authoring.readers.yaml_reader import build_tree, read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText


def complaints(text: str) -> list[str | None]:
    report = Report()
    read_yaml(SourceText("workflow.yaml", text), report)
    return told(report)


def told(report: Report) -> list[str | None]:
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column}-{found.end_column} {found.code}", found.message, found.hint]
    return lines


@pytest.mark.parametrize(
    ("text", "column", "placeholder", "hint"),
    [
        ("{base: ${base}}", 8, "${base}", 'write {base: "${base}"}'),
        ("[${a}]", 2, "${a}", 'write ["${a}"]'),
        ("{a: ${x}, b: 1}", 5, "${x}", 'write {a: "${x}", b: 1}'),
        (
            "input: {a: ${x}, b: '${y}', c: ${z}}  # note",
            12,
            "${x}",
            'write input: {a: "${x}", b: \'${y}\', c: "${z}"}',
        ),
        ("- [a, fix ${x.y | z} now]", 11, "${x.y | z}", 'write - [a, "fix ${x.y | z} now"]'),
        ('{a: ${x["k"]}}', 5, '${x["k"]}', "write {a: '${x[\"k\"]}'}"),
        ("{${a}: 1}", 2, "${a}", 'write {"${a}": 1}'),
        ('["x" ${a}]', 6, "${a}", 'write ["x" "${a}"]'),
        ("{a: ${b", 5, "${b", "write {a: ${b"),
    ],
)
def test_a_placeholder_in_flow_style_needs_quotes(text: str, column: int, placeholder: str, hint: str) -> None:
    report = Report()
    assert read_yaml(SourceText("f", text), report) is None
    (found,) = report
    assert (found.code, found.column) == ("flow-placeholder", column)
    assert found.message == f"`{placeholder}` in flow style needs quotes"
    assert found.hint == hint


def test_a_placeholder_on_a_later_line_of_a_flow_mapping_is_found() -> None:
    assert complaints("x: {\n  a: 1,\n  b: ${c}\n}\n") == snapshot(
        ["3:6-10 flow-placeholder", "`${c}` in flow style needs quotes", 'write b: "${c}"']
    )


def test_a_template_without_quotes_is_named() -> None:
    assert [complaints(text) for text in ("x: {{ a.b }}", "x: {{ a }} and more", "[{{ a }}]")] == snapshot(
        [
            ["1:4-13 flow-placeholder", "`{{ a.b }}` at the start of a value needs quotes", 'write x: "${a.b}"'],
            [
                "1:4-11 flow-placeholder",
                "`{{ a }}` at the start of a value needs quotes",
                'write x: "${a} and more"',
            ],
            ["1:2-9 flow-placeholder", "`{{ a }}` at the start of a value needs quotes", 'write "${a}"'],
        ]
    )


MISTAKES = {
    "a second colon": "title: fix: the bug\n",
    "deeper key": "a: 1\n  b: 2\n",
    "no colon": "name\nsteps: []\n",
    "tab": "a:\n\tb: 1\n",
    "tab in text": "a: |\n\tx\n",
    "open double quote": 'a: 1\nb: "x\nc: d\n',
    "open single quote": "a: 'it's\n",
    "quote closed too late": 'a: "x\nb: "y"\nc: d\n',
    "text after quote": 'a: "b" c\n',
    "open list": "a: [1, 2\nb: 3\n",
    "open map": "a: {b: 1\n",
    "wrong bracket": "a: [x}\n",
    "bracket too many": "a: }\n",
    "missing item": "a: [,]\n",
    "at sign": "a: @me # who\n",
    "backtick": "a: `x`\n",
    "percent": "a: [%x, y]\n",
    "glob": "paths: *.py\n",
    "globs": "paths: [*.py, b]\n",
    "star name": "paths: *src/x\n",
    "ampersand": "a: & b\n",
    "escape": 'a: "\\d+"\n',
    "half character": 'a: "\\ud800"\n',
    "short escape": 'a: "\\x1"\n',
    "block header": "a: >x\n",
    "list on line": "a: - b\n",
    "indentation": "a:\n  - b\n c: d\n",
    "list and map": "- a\nb: c\n",
    "after document": "{a: 1}}\n",
    "directive": "%x\n",
    "control character": "a: b\x07\n",
    "lone surrogate": "a: \ud800\n",
    "byte order mark inside": "a: b\ufeff\n",
    "key over lines": '"a\nb": c\n',
    "unended simple key": "a: b\nc\n",
}


def test_mistakes_are_told_in_plain_words() -> None:
    assert {name: complaints(text) for name, text in MISTAKES.items()} == snapshot(
        {
            "a second colon": [
                "1:11-12 yaml-syntax",
                "a second `:` in one value",
                'a value that contains `: ` needs quotes: title: "fix: the bug"',
            ],
            "deeper key": [
                "2:4-5 yaml-syntax",
                "this line continues the text of line 1, so it cannot contain a key",
                "align the key with its siblings; line 1 lacks a `:`, or already has a value",
            ],
            "no colon": [
                "2:6-7 yaml-syntax",
                "this line continues the text of line 1, so it cannot contain a key",
                "align the key with its siblings; line 1 lacks a `:`, or already has a value",
            ],
            "tab": ["2:1-2 yaml-syntax", "found a tab where YAML requires spaces", "indent with spaces only"],
            "tab in text": ["2:1-2 yaml-syntax", "found a tab where YAML requires spaces", "indent with spaces only"],
            "open double quote": [
                "2:4-5 yaml-syntax",
                'the quote " is never closed',
                'add the closing " at the end of the text',
            ],
            "open single quote": [
                "1:8-9 yaml-syntax",
                "text after the closing quote",
                "put the whole value in quotes, or none of it; inside single quotes an apostrophe is written twice",
            ],
            "quote closed too late": [
                "1:4-6 yaml-syntax",
                'the quote " opened here is closed only on line 2',
                "close it on line 1",
            ],
            "text after quote": [
                "1:8-9 yaml-syntax",
                "text after the closing quote",
                "put the whole value in quotes, or none of it",
            ],
            "open list": ["1:4-5 yaml-syntax", "the `[` is never closed", "add the missing `]`"],
            "open map": ["1:4-5 yaml-syntax", "the `{` is never closed", "add the missing `}`"],
            "wrong bracket": [
                "1:6-7 yaml-syntax",
                "expected `,` or `]` here",
                "add the missing `]`, or quote the text",
            ],
            "bracket too many": [
                "1:4-5 yaml-syntax",
                "`}` closes nothing",
                "remove it, or quote the text that contains it; no `{` is open here",
            ],
            "missing item": [
                "1:5-6 yaml-syntax",
                "a value is missing here",
                "write a value, or quote the text here",
            ],
            "at sign": ["1:4-5 yaml-syntax", "a value cannot start with `@`", 'put it in quotes: "@me"'],
            "backtick": ["1:4-5 yaml-syntax", "a value cannot start with a backtick", 'put it in quotes: "`x`"'],
            "percent": ["1:5-6 yaml-syntax", "a value cannot start with `%`", 'put it in quotes: "%x"'],
            "glob": [
                "1:8-9 yaml-syntax",
                "a value that starts with `*` is read as a YAML alias",
                'text that starts with `*` needs quotes: "*.py"',
            ],
            "globs": [
                "1:9-10 yaml-syntax",
                "a value that starts with `*` is read as a YAML alias",
                'text that starts with `*` needs quotes: "*.py"',
            ],
            "star name": [
                "1:8-9 yaml-syntax",
                "a value that starts with `*` is read as a YAML alias",
                'text that starts with `*` needs quotes: "*src/x"',
            ],
            "ampersand": [
                "1:4-5 yaml-syntax",
                "a value that starts with `&` is read as a YAML anchor",
                'text that starts with `&` needs quotes: "& b"',
            ],
            "escape": [
                "1:5-7 yaml-syntax",
                "`\\d` is not a valid YAML escape",
                "in double quotes write `\\\\` for a backslash, or use single quotes",
            ],
            "half character": [
                "1:5-11 yaml-syntax",
                "`\\ud800` is not a valid character code",
                'write the character itself, or its code with 8 digits, such as "\\U0001f600"',
            ],
            "short escape": [
                "1:5-7 yaml-syntax",
                "`\\x` is not a valid YAML escape",
                "in double quotes write `\\\\` for a backslash, or use single quotes",
            ],
            "block header": [
                "1:5-6 yaml-syntax",
                "unexpected text after `>`",
                "start the text on the next line, indented; text that starts with `>` needs quotes",
            ],
            "list on line": [
                "1:4-5 yaml-syntax",
                "`-` cannot start a value on this line",
                "put lists and mappings on the next line; text that starts with `-` needs quotes",
            ],
            "indentation": [
                "3:2-3 yaml-syntax",
                "unexpected indentation",
                "keys of one mapping, and the `-` of one list, start in the same column",
            ],
            "list and map": [
                "2:1-2 yaml-syntax",
                "unexpected indentation",
                "keys of one mapping, and the `-` of one list, start in the same column",
            ],
            "after document": [
                "1:7-8 yaml-syntax",
                "text after the end of the document",
                "the whole file must be one mapping",
            ],
            "directive": [
                "1:1-2 yaml-syntax",
                "a line that starts with `%` is a YAML directive",
                "remove it or quote it",
            ],
            "control character": [
                "1:5-6 yaml-syntax",
                "the character U+0007 is not allowed in YAML",
                'remove it, or write it as an escape in double quotes, such as "\\u001b"',
            ],
            "lone surrogate": [
                "1:4-5 yaml-syntax",
                "the character U+D800 is not allowed in YAML",
                'remove it, or write it as an escape in double quotes, such as "\\u001b"',
            ],
            "byte order mark inside": [
                "1:5-6 yaml-syntax",
                "the character U+FEFF is not allowed in YAML",
                'remove it, or write it as an escape in double quotes, such as "\\u001b"',
            ],
            "key over lines": [
                "2:3-4 yaml-syntax",
                "this line continues the text of line 1, so it cannot contain a key",
                "align the key with its siblings; line 1 lacks a `:`, or already has a value",
            ],
            "unended simple key": [
                "2:1-2 yaml-syntax",
                "a key without a `:`",
                "write `key: value`; text of several lines needs `|` after its key",
            ],
        }
    )


@pytest.mark.parametrize(
    "name",
    sorted(
        set(MISTAKES) - {"control character", "lone surrogate", "byte order mark inside", "directive", "half character"}
    ),
)
def test_the_slow_parser_leads_to_the_same_words(name: str) -> None:
    text, report = MISTAKES[name], Report()
    build_tree(SourceText("workflow.yaml", text), report, events(text, pure=True))
    assert told(report) == complaints(text)
