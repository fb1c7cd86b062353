"""How diagnostics look on a terminal, also when the file is hostile."""

import click
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.cli.render.diagnostics import count, diagnostic_data, render_diagnostic, render_diagnostics
from handrail.model.diagnostics import Diagnostic, Severity, diagnose
from handrail.model.source import SourceText, Span

FILE = "workflows/fix-bug/workflow.yaml"


def mark(text: str, marked: str, message: str = "something is wrong", hint: str | None = None) -> Diagnostic:
    start = text.index(marked)
    at = Span(SourceText(FILE, text), start, start + len(marked))
    return diagnose(Severity.ERROR, "unknown-key", message, at, hint)


def shown(found: Diagnostic, line_width: int = 100) -> str:
    return click.unstyle(render_diagnostic(found, line_width))


def test_a_diagnostic_shows_place_line_mark_and_hint() -> None:
    text = "name: fix-bug\nsteps:\n  - name: plan\n    promt: plan.md\n"
    message = "unknown key 'promt' in an agent step, did you mean 'prompt'?"
    assert shown(mark(text, "promt", message, "write: prompt: plan.md")) == snapshot("""\
workflows/fix-bug/workflow.yaml:4:5: error: unknown key 'promt' in an agent step, did you mean 'prompt'? [unknown-key]
    4 |     promt: plan.md
      |     ^^^^^
      = write: prompt: plan.md\
""")


def test_a_hint_of_several_lines_stays_aligned() -> None:
    assert shown(mark("a: 1\n", "a", hint="write it so:\nname: fix-bug\nsteps: []")) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:1: error: something is wrong [unknown-key]
    1 | a: 1
      | ^
      = write it so:
        name: fix-bug
        steps: []\
""")


def test_without_a_source_line_only_the_place_and_the_words_are_shown() -> None:
    found = Diagnostic(Severity.WARNING, "file-unreadable", "it is not UTF-8 text", FILE, 1, 1, 2, "")
    assert shown(found) == snapshot(
        "workflows/fix-bug/workflow.yaml:1:1: warning: it is not UTF-8 text [file-unreadable]"
    )


def test_a_long_line_is_cropped_around_the_mark() -> None:
    text = "a: " + "x" * 300 + " HERE " + "y" * 300
    assert shown(mark(text, "HERE"), line_width=60) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:305: error: something is wrong [unknown-key]
    1 | …xxxxxxxxxxxxxxxxxxxxxxxxxxxxx HERE yyyyyyyyyyyyyyyyyyyyyyyyy…
      |                                ^^^^\
""")


def test_a_long_mark_is_cropped_at_the_end_of_the_line() -> None:
    text = "prompt: " + "x" * 300
    assert shown(mark(text, "x" * 300), line_width=40) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:9: error: something is wrong [unknown-key]
    1 | prompt: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\
""")


def test_a_mark_near_the_start_of_a_long_line_keeps_the_start() -> None:
    text = "  promt: " + "word " * 60
    assert shown(mark(text, "promt"), line_width=40) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:3: error: something is wrong [unknown-key]
    1 |   promt: word word word word word word w…
      |   ^^^^^\
""")


def test_wide_characters_tabs_and_combining_marks_keep_the_mark_in_its_place() -> None:
    assert shown(mark("name:\t日本語 cafe\u0301 promt", "promt")) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:17: error: something is wrong [unknown-key]
    1 | name:    日本語 café promt
      |                      ^^^^^\
""")


def test_escape_sequences_of_a_hostile_file_never_reach_the_terminal() -> None:
    text = "\x1b]0;owned\x07\x1b[2J \x9b31m \u202eevil promt"
    found = mark(text, "promt", "unknown key '\x1b[31mx'\nfake: error", "try \x1b[1m\u2066")
    assert shown(found) == snapshot("""\
workflows/fix-bug/workflow.yaml:1:27: error: unknown key '␛[31mx'␊fake: error [unknown-key]
    1 | ␛]0;owned␇␛[2J <U+009B>31m <U+202E>evil promt
      |                                         ^^^^^
      = try ␛[1m<U+2066>\
""")


@given(st.text(min_size=1, max_size=200), st.integers(0, 200), st.integers(0, 200), st.integers(20, 120))
def test_no_line_of_a_file_can_control_the_terminal_or_break_the_rendering(
    text: str, start: int, length: int, line_width: int
) -> None:
    source = SourceText(FILE, text)
    found = diagnose(Severity.ADVICE, "unknown-key", text, Span(source, start, start + length), text)
    for line in shown(found, line_width).split("\n"):
        assert all(
            character.isprintable() or character in "\u200c\u200d\xa0\u3000" or character.isspace()
            for character in line
        )
        assert not set(line) & {"\x1b", "\x9b", "\r", "\x07", "\x08", "\u202e", "\u2028"}


def test_only_the_word_of_severity_is_coloured() -> None:
    found = mark("a: 1", "a")
    assert render_diagnostics([found]).startswith(f"{FILE}:1:1: \x1b[31m\x1b[1merror\x1b[0m: something is wrong")
    assert render_diagnostics([found]).count("\x1b") == 3


def test_counts_are_said_in_words() -> None:
    error = mark("a: 1", "a")
    advice = Diagnostic(Severity.ADVICE, "unknown-key", "m", FILE, 1, 1, 2, "")
    assert count([error]) == "1 error"
    assert count([error, error, advice]) == "2 errors, 1 advice"
    assert count([]) == ""


def test_the_json_form_has_the_place_and_the_words_as_they_are() -> None:
    assert diagnostic_data(mark("a: 1", "a", "bad \x1b", "fix")) == snapshot(
        {
            "severity": "error",
            "code": "unknown-key",
            "file": "workflows/fix-bug/workflow.yaml",
            "line": 1,
            "column": 1,
            "message": "bad \x1b",
            "hint": "fix",
        }
    )
