"""Laws of commands: any text compiles or is explained."""

from hypothesis import given
from hypothesis import strategies as st

from handrail.language.shell.scan import compile_command
from support.language.shell_told import KNOWN, problems, script

PIECES = [
    "${x}",
    "'",
    '"',
    "$(",
    ")",
    "`",
    "\\",
    "${",
    "}",
    "$((",
    "))",
    "<<E",
    "\nE\n",
    "[[",
    "]]",
    "case ",
    " in ",
    "esac",
    ";",
    "|",
    "&&",
    "#",
    " ",
    "a[",
    "]",
    "=",
    "(",
    "$${",
    "${{",
    "${f}",
    "sh -c ",
    "eval ",
    ">&",
    "$'",
]


@given(st.text() | st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_any_text_compiles_or_is_explained(text: str) -> None:
    assert problems(text) or bool(script(text)) == bool(text)


@given(
    st.lists(st.sampled_from([piece for piece in PIECES if "{" not in piece] + ["${HOME}"]), max_size=14).map("".join)
)
def test_a_command_without_values_of_ours_stays_as_it_is(text: str) -> None:
    compiled = compile_command(text, KNOWN.__contains__)
    assert compiled.problems or compiled.script == text
