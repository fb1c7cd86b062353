"""What a code host would act on is taken out of the texts that others wrote."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.text import host_text
from handrail.engine.text.host_text import MAX_TITLE, clean_host_text, clean_title

CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b[\s:]*(?:[\w.-]+/[\w.-]+)?(?:#\d|https?://\S+/(?:issues|pull)/\d)",
    re.IGNORECASE,
)
"""What a host takes for a promise to close an issue."""


@pytest.mark.parametrize(
    "word", ["close", "Closes", "CLOSED", "fix", "fixes", "Fixed", "resolve", "resolves", "Resolved"]
)
@pytest.mark.parametrize(
    "reference",
    ["#12", "acme/shop#12", "https://github.com/acme/shop/issues/12", "GH-12", "https://github.com/acme/shop/pull/12"],
)
@pytest.mark.parametrize(
    "between", [" ", ": ", " **", "\n", "\n\n> ", " [", " <b></b>", " `", "\u200b ", " \u202e", ":\t\\"]
)
def test_a_closing_keyword_is_kept_from_its_reference(word: str, between: str, reference: str) -> None:
    cleaned = clean_host_text(f"Then {word}{between}{reference} and go on.")
    assert CLOSING.search(cleaned.replace("**", "").replace("`", "")) is None
    assert f"{word}, see " in cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Fixes #12", "Fixes, see #12"),
        ("then close #1164.", "then close, see #1164."),
        ("Fi\u200bxes #12", "Fixes, see #12"),
        ("Fixes &#35;12", "Fixes, see #12"),
        ("Fixes &num;1", "Fixes, see #1"),
        ("Fi&#120;es #12", "Fixes, see #12"),
        ("Fixes&nbsp;#12", "Fixes, see #12"),
        ("Fixes [#12](https://example.org)", "Fixes, see [#12](https://example.org)"),
        ("Fixes [it](https://github.com/a/b/issues/1)", "Fixes, see https://github.com/a/b/issues/1)"),
        ('Fixes <a href="https://github.com/a/b/issues/1">', 'Fixes, see <a href="https://github.com/a/b/issues/1">'),
        ("This fixes the bug of #12.", "This fixes the bug of #12."),
        ("It is fixed. #12 is next.", "It is fixed. #12 is next."),
        ("Refs #12", "Refs #12"),
        ("List<String> && a &lt; b &amp; c", "List<String> && a &lt; b &amp; c"),
        ("<!-- handrail progress fix-1 -->", "&lt;!-- handrail progress fix-1 -->"),
        ("<!\u200b-- mark -->", "&lt;!-- mark -->"),
        ("thanks @ann and @acme/team", "thanks @\u200bann and @\u200bacme/team"),
        ("&#64;ann", "@\u200bann"),
        ("mail ann@example.org", "mail ann@example.org"),
        ("a\x1b[31mred\x07", "a[31mred"),
        ("\u202egnisrever\u202c", "gnisrever"),
    ],
)
def test_nothing_is_left_that_a_host_acts_on(text: str, cleaned: str) -> None:
    assert clean_host_text(text) == cleaned


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("```python\nx = 1", "\n```"),
        ("~~~~\n```\n~~~", "\n~~~~"),
        ("```\nx\n```", "```"),
        ("<details><summary>More</summary>", "\n</details>"),
    ],
)
def test_what_was_left_open_is_closed(text: str, end: str) -> None:
    assert clean_host_text(text).endswith(end)


def test_a_long_text_is_cut_in_the_middle() -> None:
    cleaned = clean_host_text("a" * 1_000_000 + "the end", 1000)
    assert len(cleaned) <= 1000
    assert "characters left out" in cleaned
    assert cleaned.endswith("the end")


def test_a_title_is_one_line_of_bounded_length() -> None:
    assert clean_title("Fix\n  the\tbug <!-- x -->, fixes #1") == "Fix the bug &lt;!-- x -->, fixes, see #1"
    assert len(clean_title("word " * 1000)) <= MAX_TITLE


@given(st.text(alphabet=" \n:#*_`[]()<>/@&;\\123fixescloGH-ab\u200b\u202e", max_size=60))
def test_no_text_closes_or_marks_anything_and_cleaning_again_changes_nothing_of_that(text: str) -> None:
    cleaned = clean_host_text(f"fixes {text}#12")
    assert CLOSING.search(cleaned) is None
    assert "<!--" not in cleaned


class Counted:
    """A pattern that counts how often it is tried, and on how long a text."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.tries = 0
        self.longest = 0

    def match(self, text: str, at: int) -> "re.Match[str] | None":
        self.tries += 1
        self.longest = max(self.longest, len(text))
        return self.pattern.match(text, at)

    def search(self, text: str) -> "re.Match[str] | None":
        return self.pattern.search(text)


@pytest.mark.parametrize("part", ["fixes <", "fixes [", "fixes -", "fixes<>", "fixes []", "fix ", "fixes a/b/"])
def test_each_keyword_of_a_hostile_text_is_followed_for_a_bounded_distance(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    counted = Counted(host_text._REFERENCE)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(host_text, "_REFERENCE", counted)
    for text, keywords in ((part * 300, 300), (part + "-" * 50_000, 1), ((part + "-" * 500) * 20, 20)):
        counted.tries = 0
        clean_host_text(text)
        assert 0 < counted.tries <= keywords * host_text._MAX_BETWEEN  # pyright: ignore[reportPrivateUsage]


def test_only_the_ends_of_a_long_text_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(host_text._REFERENCE)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(host_text, "_REFERENCE", counted)
    cleaned = clean_host_text("fixes #1 " + "x" * 1_000_000 + " fixes #2", 1000)
    assert cleaned.startswith("fixes, see #1")
    assert cleaned.endswith("fixes, see #2")
    assert re.search(r"\[9990\d\d characters left out\]", cleaned)
    assert counted.longest <= 5000


def test_a_name_that_no_host_allows_is_no_reference() -> None:
    far = "a" * 101
    assert clean_host_text(f"fixes {far}/b#1") == f"fixes {far}/b#1"
    assert clean_host_text(f"fixes {far[:100]}/b#1") == f"fixes, see {far[:100]}/b#1"
