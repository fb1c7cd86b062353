"""How the answers of reviewers and arbiters are read, and what makes two findings one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.engine.review.answers import (
    JUDGE_SCHEMA,
    MAX_FINDINGS,
    REVIEW_SCHEMA,
    Finding,
    read_findings,
    read_judgement,
)
from handrail.model.workflow.values import JsonValue

UNCHECKED = "the index from the header is not checked before use in `read_block`"


def found(message: str, **fields: JsonValue) -> Finding:
    given: JsonValue = [
        {"file": "src/a.py", "rule": "unchecked-index", "severity": "high", "message": message, **fields}
    ]
    return read_findings(given, "")[0]


def brief(findings: tuple[Finding, ...]) -> list[tuple[str, str, int | None, str, str]]:
    return [(each.severity, each.file, each.line, each.rule, each.text) for each in findings]


def test_a_record_has_the_fields_that_expressions_may_name() -> None:
    one = found(UNCHECKED, line=12, suggestion="check it")
    assert one.record() == snapshot(
        {
            "id": "1a9f9b4531e5",
            "file": "src/a.py",
            "line": 12,
            "rule": "unchecked-index",
            "severity": "high",
            "message": "the index from the header is not checked before use in `read_block`",
            "suggestion": "check it",
        }
    )


@pytest.mark.parametrize("key", ["findings", "issues", "problems"])
def test_a_list_is_read_bare_or_under_its_usual_names(key: str) -> None:
    items: JsonValue = [{"file": "a.py", "message": "m"}]
    assert read_findings({key: items}, "") == read_findings(items, "") == read_findings({"outputs": {key: items}}, "")


def test_data_in_the_words_of_a_reviewer_is_read_as_data() -> None:
    data = {"findings": [{"file": "a.py", "line": "3-5", "severity": "Blocker", "message": "boom"}]}
    fenced = f"I looked at it.\n```json\n{json.dumps(data)}\n```\nThat is all."
    expected = [("critical", "a.py", 3, "", "boom")]
    assert brief(read_findings(None, fenced)) == expected
    assert brief(read_findings(json.dumps(data), "")) == expected


def test_words_that_only_look_like_data_are_read_as_words() -> None:
    assert [each.file for each in read_findings(None, "[src/a.py:3] crashes on an empty file")] == ["src/a.py"]
    assert len(read_findings(None, "[" * 200_000)) == 1


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("CRITICAL", "critical"),
        ("blocker", "critical"),
        ("P0", "critical"),
        ("Major", "high"),
        ("error", "high"),
        ("moderate", "medium"),
        ("warning", "medium"),
        ("nit", "low"),
        ("Minor issue", "low"),
        ("info", "low"),
        ("", "medium"),
        ("purple", "medium"),
    ],
)
def test_words_for_severity_are_mapped_to_four(word: str, severity: str) -> None:
    assert found("m", severity=word).severity == severity


def test_places_are_read_from_the_file_where_the_line_stands_there() -> None:
    items: JsonValue = [
        {"file": "./src/a.py:7", "message": "one"},
        {"path": "src\\b.py", "line_number": 9, "message": "two"},
        {"location": "src/c.py#L44", "message": "three"},
    ]
    assert [(each.file, each.line) for each in read_findings(items, "")] == [
        ("src/a.py", 7),
        ("src/b.py", 9),
        ("src/c.py", 44),
    ]


def test_what_a_reviewer_lists_as_repaired_is_no_finding() -> None:
    items: JsonValue = [{"message": "a", "status": "fixed"}, {"message": "b", "resolved": True}, {"message": "c"}]
    assert [each.text for each in read_findings(items, "")] == ["c"]


def test_items_without_words_are_passed_over() -> None:
    assert read_findings([None, 3, {"file": "a.py"}, "", [], "no issues"], "") == ()


def test_the_same_thing_said_twice_in_a_round_is_one_finding() -> None:
    items: JsonValue = [
        {"file": "a.py", "line": 3, "message": "Boom."},
        {"file": "./a.py", "line": 3, "message": "boom"},
    ]
    assert len(read_findings(items, "")) == 1


def test_the_same_thing_said_of_two_lines_is_two_findings_counted_from_the_top() -> None:
    items: JsonValue = [{"file": "a.py", "line": line, "message": "not checked"} for line in (40, 3)]
    first, second = read_findings(items, "")
    assert (first.line, second.line) == (3, 40)
    assert second.id == f"{first.id}-2"


def test_an_answer_is_bounded_and_the_worst_is_kept() -> None:
    items: list[JsonValue] = [{"message": f"low {at} " + "x" * 9_000, "severity": "low"} for at in range(500)]
    read = read_findings([*items, {"message": "worst", "severity": "critical"}], "")
    assert len(read) == MAX_FINDINGS
    assert read[0].text == "worst"
    assert max(len(each.text) for each in read) <= 2_000


MARKDOWN = """# Review of the branch

- I read every hunk

## High
- `src/a.py:12` — the index is not checked. Suggestion: check it
  against the length
- src/b.py:3: [missing-test] nothing tests `render`

## Nits
1. typo in docs/guide.md

## Other
* [critical] lib/x.c#L44 buffer overflow
- lib/y.c:9 (minor) odd name
- the memory use is high
"""


def test_list_items_that_name_a_place_or_a_severity_are_findings() -> None:
    assert brief(read_findings(None, MARKDOWN)) == snapshot(
        [
            ("critical", "lib/x.c", 44, "", "buffer overflow"),
            ("high", "src/a.py", 12, "", "the index is not checked."),
            ("high", "src/b.py", 3, "missing-test", "nothing tests `render`"),
            ("low", "docs/guide.md", None, "", "typo in docs/guide.md"),
            ("low", "lib/y.c", 9, "", "odd name"),
        ]
    )


def test_lines_that_begin_with_a_place_are_findings_too() -> None:
    text = "Two things:\n\nsrc/a.py:3: high: crashes on an empty file\n`src/b.py:9` odd name\n"
    assert brief(read_findings(None, text)) == [
        ("high", "src/a.py", 3, "", "crashes on an empty file"),
        ("medium", "src/b.py", 9, "", "odd name"),
    ]


def test_a_suggestion_in_an_item_is_told_from_the_finding() -> None:
    one = next(each for each in read_findings(None, MARKDOWN) if each.file == "src/a.py")
    assert one.suggestion == "check it\nagainst the length"


@pytest.mark.parametrize(
    "text",
    [
        "No findings.",
        "LGTM",
        "LGTM! No issues found.",
        "Looks good to me.",
        "I reviewed the diff. No further findings.",
        "Nothing to report.",
        "# Review\n\nNone.",
        "## High\nNone\n## Low\n- None\n",
        "All checks pass; nothing left to fix.",
        "I found no critical or high severity issues.",
        "**Approved**",
    ],
)
def test_an_honest_nothing_gives_none(text: str) -> None:
    assert read_findings(None, text) == ()
    assert read_findings(text, "") == ()


@pytest.mark.parametrize(
    "text",
    [
        "No findings, but the migration deletes the table.",
        "The naming looks good. The parser crashes on empty input.",
        "There are no tests for issues in this module.",
        "I checked the cache and it never expires. No other findings.",
        "No other problem than the deleted table.",
        "The cache never expires, which will fill the disk.",
    ],
)
def test_prose_that_is_no_list_is_one_finding_of_medium_severity(text: str) -> None:
    assert brief(read_findings(None, text)) == [("medium", "", None, "", text)]


def test_a_reviewer_that_says_nothing_at_all_has_not_reviewed() -> None:
    assert brief(read_findings(None, " ")) == [("high", "", None, "not-reviewable", "the reviewer gave no answer")]


def test_an_empty_list_counts_whatever_the_words_around_it() -> None:
    assert read_findings([], "src/a.py:3 high: boom") == ()
    assert read_findings({"approved": True}, "") == ()


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["findings", "file", "line", "message", "severity", "id", "decisions"]), inner
        )
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(output=DATA, text=st.text(max_size=200) | st.lists(st.sampled_from(MARKDOWN.splitlines())).map("\n".join))
def test_no_answer_breaks_the_readers(output: JsonValue, text: str) -> None:
    findings = read_findings(output, text)
    assert len({each.id for each in findings}) == len(findings)
    judgement = read_judgement(output, text, findings)
    ids = [*judgement.accepted, *(id_ for id_, _ in judgement.declined)]
    assert sorted(ids) == sorted(each.id for each in findings)


@settings(deadline=None)
@given(order=st.permutations(range(6)))
def test_the_order_of_a_report_means_nothing(order: list[int]) -> None:
    items: list[JsonValue] = [{"file": "a.py", "line": at % 3, "message": f"m{at % 2}"} for at in order]
    expected: list[JsonValue] = [{"file": "a.py", "line": at % 3, "message": f"m{at % 2}"} for at in range(6)]
    assert read_findings(items, "") == read_findings(expected, "")


def test_long_answers_of_one_kind_of_character_are_read_quickly() -> None:
    for character in "-a/.(`*#0 ":
        assert len(read_findings(None, f"- {character * 90_000}")) <= 1


def test_the_schemas_ask_for_what_the_readers_understand() -> None:
    assert REVIEW_SCHEMA["required"] == ["findings"]
    assert JUDGE_SCHEMA["required"] == ["decisions", "actionable"]
    json.dumps([REVIEW_SCHEMA, JUDGE_SCHEMA])
