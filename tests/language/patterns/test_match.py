"""Patterns mean what `re` means by them, and cost the same for each character whatever they are."""

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.language.patterns.match import MAX_VISITS, BadPattern
from handrail.language.patterns.read import MAX_NODES, pattern_of

ATOMS = (
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    r"\w",
    r"\W",
    r"\s",
    r"\d",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\Z",
    "é",
    r"\.",
    "()",
)
REPEATS = ("", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{,2}", "{1,3}", "{0}")


@st.composite
def patterns(draw: st.DrawFn, depth: int = 2) -> str:
    branches = [
        "".join(draw(_piece(depth)) for _ in range(draw(st.integers(0, 4)))) for _ in range(draw(st.integers(1, 2)))
    ]
    return "|".join(branches)


@st.composite
def _piece(draw: st.DrawFn, depth: int) -> str:
    if depth and draw(st.integers(0, 2)) == 0:
        opens = draw(st.sampled_from(["(", "(?:", "(?P<n>"]))
        atom = f"{opens}{draw(patterns(depth - 1))})"
    else:
        atom = draw(st.sampled_from(ATOMS))
    return atom + draw(st.sampled_from(REPEATS))


@settings(deadline=None)
@given(patterns(), st.text("abAB. \né1", max_size=8), st.sampled_from(["", "i", "m", "s", "ims"]))
@example("$", "a\n", "")
@example("^b.c$", "a\nb\nc", "ms")
@example("a$", "a\n\n", "")
def test_a_pattern_finds_what_re_finds(pattern: str, text: str, flags: str) -> None:
    options = re.RegexFlag(0)
    for flag in flags:
        options |= {"i": re.I, "m": re.M, "s": re.S}[flag]
    try:
        wanted = re.search(pattern, text, options) is not None
    except re.error:
        with pytest.raises(BadPattern):
            pattern_of(pattern, flags)
        return
    # Of an empty text `\B` is true or not by the version of Python.
    if r"\B" not in pattern or text:
        assert pattern_of(pattern, flags).has_match(text) == wanted


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(?i)findings", "# FINDINGS", True),
        ("[]a]+", "x]", True),
        ("[^]a]", "]a", False),
        (r"\x41|B", "A", True),
        (r"C", "C", True),
        (r"a\{2\}", "a{2}", True),
        ("a{x}", "a{x}", True),
        ("a{2", "a{2", True),
        ("[a{2}]", "2", True),
        (r"\(x\)", "(x)", True),
        ("", "", True),
        ("a|", "b", True),
        ("^(?:yes|no)$", "no", True),
        ("^(?:yes|no)$", "nono", False),
        (r"## Findings[\s\S]*## Risks", "## Findings\n- x\n\n## Risks\n- y", True),
    ],
)
def test_forms_that_people_write(pattern: str, text: str, found: bool) -> None:
    assert (re.search(pattern, text) is not None) is found
    assert pattern_of(pattern).has_match(text) is found


@pytest.mark.parametrize(
    ("pattern", "char"),
    [
        ("a*a*a*b", "a"),
        ("(a*)*b", "a"),
        ("(a+)+$b", "a"),
        ("(a|a)*b", "a"),
        ("(a|aa)+$b", "a"),
        (".*x.*y.*z", "x"),
        ("(?:a?){50}a{50}b", "a"),
        ("(a|b)*a(a|b){60}c", "a"),
        ("a*" * 90 + "b", "a"),
    ],
)
def test_each_character_costs_at_most_the_size_of_the_pattern(pattern: str, char: str) -> None:
    made = pattern_of(pattern)
    short, long = made.walk(char * 500), made.walk(char * 10_000)
    assert not short.found
    assert not long.found
    assert short.visits <= 501 * made.size
    assert long.visits <= 10_001 * made.size
    assert long.visits <= 2 * short.visits, "what was walked once is not walked again"


@settings(deadline=None)
@given(patterns(), st.text("ab", max_size=200))
def test_no_pattern_costs_more_on_any_text(pattern: str, text: str) -> None:
    try:
        made = pattern_of(pattern)
    except BadPattern:
        return
    assert made.walk(text).visits <= (len(text) + 1) * made.size


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=a)", "a look-ahead"),
        ("(?!a)", "a look-ahead"),
        ("(?<=a)b", "a look-behind"),
        ("(?<!a)b", "a look-behind"),
        (r"(a)\1", "a back reference"),
        ("(?P<n>a)(?P=n)", "a back reference"),
        ("(?>a)", "an atomic group"),
        ("a*+", "a possessive repeat"),
        ("(?i:a)", "flags for a part of it"),
        ("(a)?(?(1)b|c)", "a condition"),
        ("(?x)a", "the flag 'x'"),
        ("(", "not a valid regular expression"),
        ("a" * 201, "201 characters"),
        ("(a{99}){99}", "has too many repeats"),
    ],
)
def test_what_cannot_be_matched_in_bounded_time_is_refused_by_name(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern, match=re.escape(why)):
        pattern_of(pattern)


def test_a_search_that_costs_too_much_is_given_up() -> None:
    chance = random.Random(1)
    text = "".join(chance.choice("ab") for _ in range(10_000))
    walked = pattern_of("[ab]*a[ab]{480}c").walk(text + "c")
    assert not walked.found
    assert walked.visits <= MAX_VISITS + pattern_of("[ab]*a[ab]{480}c").size


def test_what_people_write_stays_far_below_what_is_given_up() -> None:
    text = " ".join(f"{chr(33 + number % 90)}word{number}, line\n" for number in range(700))[:10_000]
    for pattern in (r"\bfoo\b", "^## Risks$", r"## Findings[\s\S]*## Risks", r"\d+\.\d+\.\d+", "(?:yes|no|maybe)\\s*:"):
        assert pattern_of(pattern, "im").walk(text).visits < MAX_VISITS / 10


def test_a_pattern_is_never_larger_than_its_limit() -> None:
    assert pattern_of("a{400}").size < MAX_NODES
