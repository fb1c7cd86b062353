"""What the JSON reader says about mistakes: the place, plain words, and the fix."""

import pytest
from inline_snapshot import snapshot

from handrail.authoring.readers.json_reader import read_json
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText


def complaints(text: str) -> list[str | None]:
    report = Report()
    read_json(SourceText("workflow.json", text), report)
    lines: list[str | None] = []
    for found in report:
        lines += [f"{found.line}:{found.column}-{found.end_column} {found.code}", found.message, found.hint]
    return lines


MISTAKES = {
    "empty": "",
    "blank": " \n",
    "line comment": '{\n  // note\n  "a": 1}',
    "block comment": '{"a": /* note */ 1}',
    "hash comment": "[1] # note",
    "nan": '{"a": NaN}',
    "infinity": "[-Infinity]",
    "leading zero": "[01]",
    "plus": "[+1]",
    "bare point": "[.5]",
    "open point": "[1.]",
    "minus": "[-]",
    "python words": "[True]",
    "bare key": "{name: 1}",
    "bare text": '{"a": hello}',
    "single quotes": "{'a': 1}",
    "number as key": "{1: 2}",
    "no colon": '{"a" 1}',
    "two colons": '{"a":: 1}',
    "no comma": '{"a": 1 "b": 2}',
    "no comma in list": "[1 2]",
    "two commas": "[1,, 2]",
    "only a comma": "[,]",
    "no value": '{"a": }',
    "wrong close": '{"a": [1}',
    "close too many": '{"a": 1}}',
    "two values": "1 2",
    "words at the end": "true false",
    "open object": '{"a": {"b": 1}',
    "open list": "[1, 2",
    "open text": '["a',
    "text over lines": '["a\nb"]',
    "tab in text": '["a\tb"]',
    "bad escape": '["\\d"]',
    "short escape": '["\\u12"]',
    "control character": "\x00",
    "full-width digit": "[１]",
}


def test_mistakes_are_told_in_plain_words() -> None:
    assert {name: complaints(text) for name, text in MISTAKES.items()} == snapshot(
        {
            "empty": ["1:1-2 json-syntax", "the file is empty", 'a workflow starts with `{` and has "steps"'],
            "blank": ["1:1-2 json-syntax", "the file is empty", 'a workflow starts with `{` and has "steps"'],
            "line comment": [
                "2:3-5 json-syntax",
                "comments are not allowed in JSON",
                "remove it; a workflow in YAML may contain comments",
            ],
            "block comment": [
                "1:7-9 json-syntax",
                "comments are not allowed in JSON",
                "remove it; a workflow in YAML may contain comments",
            ],
            "hash comment": [
                "1:5-6 json-syntax",
                "comments are not allowed in JSON",
                "remove it; a workflow in YAML may contain comments",
            ],
            "nan": ["1:7-10 json-syntax", "`NaN` is not a JSON number", "write a finite number, or null"],
            "infinity": ["1:2-11 json-syntax", "`-Infinity` is not a JSON number", "write a finite number, or null"],
            "leading zero": [
                "1:2-4 json-syntax",
                "`01` is not a JSON number",
                "write it like 1, -0.5 or 2e3, without leading `+` or zeros",
            ],
            "plus": [
                "1:2-4 json-syntax",
                "`+1` is not a JSON number",
                "write it like 1, -0.5 or 2e3, without leading `+` or zeros",
            ],
            "bare point": [
                "1:2-4 json-syntax",
                "`.5` is not a JSON number",
                "write it like 1, -0.5 or 2e3, without leading `+` or zeros",
            ],
            "open point": [
                "1:2-4 json-syntax",
                "`1.` is not a JSON number",
                "write it like 1, -0.5 or 2e3, without leading `+` or zeros",
            ],
            "minus": [
                "1:2-3 json-syntax",
                "`-` is not a JSON number",
                "write it like 1, -0.5 or 2e3, without leading `+` or zeros",
            ],
            "python words": ["1:2-6 json-syntax", "`True` is not a JSON keyword", "write true"],
            "bare key": ["1:2-6 json-syntax", "`name` needs double quotes", 'write "name"'],
            "bare text": ["1:7-12 json-syntax", "`hello` needs double quotes", 'write "hello"'],
            "single quotes": ["1:2-3 json-syntax", "JSON text needs double quotes", "write \" instead of '"],
            "number as key": [
                "1:2-3 json-syntax",
                "expected a key in double quotes, found `1`",
                'write a key, such as "name"',
            ],
            "no colon": ["1:6-7 json-syntax", "expected `:`, found `1`", "put `:` between a key and its value"],
            "two colons": ["1:6-7 json-syntax", "expected a value, found `:`", "write a value here"],
            "no comma": ["1:9-10 json-syntax", 'expected `,` or `}`, found `"`', "put a comma between two values"],
            "no comma in list": [
                "1:4-5 json-syntax",
                "expected `,` or `]`, found `2`",
                "put a comma between two values",
            ],
            "two commas": ["1:4-5 json-syntax", "expected a value, found `,`", "remove the comma"],
            "only a comma": ["1:2-3 json-syntax", "expected a value, found `,`", "remove the comma"],
            "no value": ["1:7-8 json-syntax", "expected a value, found `}`", "write a value here"],
            "wrong close": ["1:9-10 json-syntax", "expected `,` or `]`, found `}`", "close with `]` first"],
            "close too many": [
                "1:9-10 json-syntax",
                "expected the end of the file, found `}`",
                "the whole file must be one value; remove what follows it",
            ],
            "two values": [
                "1:3-4 json-syntax",
                "expected the end of the file, found `2`",
                "the whole file must be one value; remove what follows it",
            ],
            "words at the end": [
                "1:6-7 json-syntax",
                "expected the end of the file, found `f`",
                "the whole file must be one value; remove what follows it",
            ],
            "open object": ["1:1-2 json-syntax", "the `{` is never closed", "add the missing `}`"],
            "open list": ["1:1-2 json-syntax", "the `[` is never closed", "add the missing `]`"],
            "open text": [
                "1:2-3 json-syntax",
                'the quote " is not closed on its line',
                'add the closing "; a line break inside text is written as \\n',
            ],
            "text over lines": [
                "1:2-3 json-syntax",
                'the quote " is not closed on its line',
                'add the closing "; a line break inside text is written as \\n',
            ],
            "tab in text": [
                "1:4-5 json-syntax",
                "the character U+0009 is not allowed in text",
                "write it as an escape, such as \\t",
            ],
            "bad escape": [
                "1:3-5 json-syntax",
                "`\\d` is not a valid JSON escape",
                "write `\\\\` for a backslash; `\\u` needs 4 digits",
            ],
            "short escape": [
                "1:3-5 json-syntax",
                "`\\u` is not a valid JSON escape",
                "write `\\\\` for a backslash; `\\u` needs 4 digits",
            ],
            "control character": [
                "1:1-2 json-syntax",
                "expected a value, found `\\x00`",
                "write a value here",
            ],
            "full-width digit": [
                "1:2-3 json-syntax",
                "expected a value, found `１`",
                "write a value here",
            ],
        }
    )


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_nothing_is_given_for_a_broken_file(name: str) -> None:
    report = Report()
    assert read_json(SourceText("f", MISTAKES[name]), report) is None
    assert report.failed
