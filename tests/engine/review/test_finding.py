"""What makes two findings one, whatever the round and the wording."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from handrail.engine.review.answers import Finding, read_findings
from handrail.model.workflow.values import JsonValue

UNCHECKED = "the index from the header is not checked before use in `read_block`"


def found(message: str, **fields: JsonValue) -> Finding:
    given: JsonValue = [{"file": "src/a.py", "rule": "unchecked-index", "message": message, **fields}]
    return read_findings(given, "")[0]


@pytest.mark.parametrize(
    "again",
    [
        "The index from the header is NOT checked before use in read_block.",
        "Still: the index from the header is not checked before use in `read_block`!",
        "the index from the header is still not checked (line 48) before use in `read_block`",
        "  the index\n  from the *header* is not checked before use in `read_block` at line 7",
        "2. [F2] the index from the header is not checked before use in `read_block`, as reported in round 1",
        "Not fixed: the index from the header is, again, not checked before use in `read_block` (lines 3-9)",
        "The index from the “header” is not checked before use in read_block #L12-L14",
    ],
)
def test_a_finding_said_again_is_the_same(again: str) -> None:
    assert found(again, line=99, severity="low").id == found(UNCHECKED, line=1).id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the answer 404 is not handled", "the answer 500 is not handled"),
        ("use `==` here", "use `!=` here"),
        ("returns -1", "returns 1"),
        ("`load` ignores the error", "`save` ignores the error"),
        ("the first pass drops the token", "the second pass drops the token"),
        ("the L1 cache is cold", "the L2 cache is cold"),
        ("404: no page", "500: no page"),
    ],
)
def test_different_findings_of_one_file_stay_apart(one: str, other: str) -> None:
    assert found(one).id != found(other).id


WORDS = st.lists(
    st.text(alphabet="bcdfghjkmpqrstvwxz_0123456789", min_size=2, max_size=9), min_size=2, max_size=12
).map(lambda words: ["word", *words, "end"])


EDITS: list[Callable[[str], str]] = [str.upper, str.capitalize, "`{}`".format, "**{}**".format, str]


@settings(deadline=None)
@given(words=WORDS, data=st.data())
def test_cosmetic_edits_never_change_the_identity(words: list[str], data: st.DataObject) -> None:
    edits = st.sampled_from(EDITS)
    gaps = st.sampled_from([" ", "  ", "\n", ", ", " - ", " still ", " (line 12) "])
    said = "".join(data.draw(edits)(word) + data.draw(gaps) for word in words)
    start = data.draw(st.sampled_from(["", "Still, ", "3) ", "Again: ", "Round 2: ", "- "]))
    assert found(start + said + data.draw(st.sampled_from(["", ".", "!"]))).id == found(" ".join(words)).id


NAMES = st.text(alphabet="abc/._-", min_size=1, max_size=8).map(lambda name: f"x{name}y")


@settings(deadline=None)
@given(one=st.tuples(NAMES, NAMES), other=st.tuples(NAMES, NAMES))
@example(one=("xay", "xby"), other=("xby", "xay"))
def test_another_file_or_rule_is_another_finding(one: tuple[str, str], other: tuple[str, str]) -> None:
    mine, theirs = (found(UNCHECKED, file=file, rule=rule) for file, rule in (one, other))
    assert (mine.id == theirs.id) == ((mine.file, mine.rule) == (theirs.file, theirs.rule))
