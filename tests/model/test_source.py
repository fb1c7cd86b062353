"""Lines and columns, the collector of diagnostics, suggestions."""

from hypothesis import given
from hypothesis import strategies as st

from handrail.model.diagnostics import MAX_DIAGNOSTICS, Report, Severity, diagnose
from handrail.model.source import Bundle, Entry, Mapping, Scalar, Sequence, SourceText, Span, plain
from handrail.model.suggest import did_you_mean, suggest

TEXT = "one\ntwo: 2\n\nlast"


def at(start: int, end: int) -> Span:
    return Span(SourceText("f.yaml", TEXT), start, end)


@given(st.text(alphabet="ab\n\r\u00e9\U0001f600"), st.integers(0, 50))
def test_offset_and_position_are_inverse(text: str, offset: int) -> None:
    source = SourceText("f", text)
    offset = min(offset, len(text))
    place = source.position(offset)
    assert source.offset(place.line, place.column) == offset
    assert "\n" not in source.line(place.line)


def test_a_diagnostic_marks_its_span_on_one_line() -> None:
    found = diagnose(Severity.ERROR, "bad-value", "no", at(4, 7))
    assert (found.line, found.column, found.end_column, found.text) == (2, 1, 4, "two: 2")


def test_a_span_over_lines_is_marked_to_the_end_of_the_first() -> None:
    found = diagnose(Severity.ERROR, "bad-value", "no", at(4, 16))
    assert (found.line, found.column, found.end_column) == (2, 1, 7)


def test_a_span_at_the_end_still_has_a_caret() -> None:
    found = diagnose(Severity.ERROR, "bad-value", "no", at(len(TEXT), len(TEXT)))
    assert (found.line, found.column, found.end_column) == (4, 5, 6)


def test_the_same_finding_is_reported_once_and_floods_are_cut() -> None:
    report = Report()
    for _ in range(2):
        report.error("bad-value", "no", at(0, 1))
    assert len(report.diagnostics) == 1
    for number in range(MAX_DIAGNOSTICS + 5):
        report.warning("bad-value", f"no {number}", at(0, 1))
    assert len(report.diagnostics) == MAX_DIAGNOSTICS
    assert report.dropped == 6
    assert report.failed


def test_an_error_is_never_lost_among_warnings() -> None:
    report = Report()
    for number in range(MAX_DIAGNOSTICS):
        report.warning("bad-value", f"no {number}", at(0, 1))
    assert not report.failed
    report.error("path-escape", "it leaves", at(0, 1))
    assert report.failed
    assert len(report.diagnostics) == MAX_DIAGNOSTICS
    assert report.diagnostics[-1].code == "path-escape"


def test_many_findings_on_one_line_share_its_text() -> None:
    source = SourceText("f", "x" * 1000)
    first, second = (diagnose(Severity.ERROR, "bad-value", "no", Span(source, n, n)) for n in (1, 2))
    assert first.text is second.text


def test_advice_is_no_error() -> None:
    report = Report()
    report.advice("bad-value", "no", at(0, 1))
    assert not report.failed


def test_a_tree_gives_plain_data() -> None:
    key = Scalar("a", at(0, 1))
    tree = Mapping({"a": Entry(key, Sequence((Scalar(1, at(0, 1)), Scalar(None, at(0, 1))), at(0, 1)))}, at(0, 1))
    assert plain(tree) == {"a": [1, None]}
    assert "a" in tree
    assert tree.get("b") is None


def test_a_bundle_knows_its_main_file() -> None:
    source = SourceText("w.yaml", "x")
    assert Bundle("w.yaml", {"w.yaml": source}).source is source


def test_a_suggestion_is_the_near_word_or_the_other_spelling() -> None:
    assert suggest("promt", ["prompt", "command"]) == "prompt"
    assert suggest("for-each", ["for_each", "for"]) == "for_each"
    assert suggest("zzz", ["prompt"]) is None
    assert suggest("x" * 200, ["x" * 200]) is None
    assert did_you_mean("bead", ["beads"]) == ", did you mean 'beads'?"
