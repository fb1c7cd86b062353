"""The law of shell commands, proved with real shells: a value arrives as it is, and nothing else runs."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.language.shell.scan import compile_command

HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned #",
    "' ; touch pwned ; '",
    '" ; touch pwned ; "',
    "a[$(touch pwned)]",
    "-n",
    "--help",
    "*",
    "~",
    "a  b\n\nc ",
    "\\",
    "\\n$HOME${HOME}",
    "é😀\u2028",
    "${x}",
    "EOF\ntouch pwned",
    "%s%n",
    "",
    "{a,b}",
    "!!",
    "\r\n\t",
]
CONTEXTS = {
    "bare": "printf '%s' ${x}",
    "double": "printf '%s' \"${x}\"",
    "single": "printf '%s' '${x}'",
    "substitution": "printf '%s' \"$(printf '%s.' ${x})\"",
    "substitution in quotes": "printf '%s' \"$(printf '%s.' \"${x}\")\"",
    "backticks": "printf '%s' \"`printf '%s.' ${x}`\"",
    "function": "f() { printf '%s' \"$1\"; }; f ${x}",
    "assignment": "v=${x}; printf '%s' \"$v\"",
    "prefix assignment": 'V=${x} sh -c \'printf "%s" "$V"\'',
    "argument of a nested shell": 'sh -c \'printf "%s" "$1"\' sh ${x}',
    "loop": "for f in ${x}; do printf '%s' \"$f\"; done",
    "case": "case a in a) printf '%s' ${x};; esac",
    "subshell": "(printf '%s' ${x})",
    "heredoc": "cat <<END\n${x}\nEND\n",
    "heredoc with tabs": "cat <<-END\n${x}\n\tEND\n",
    "pipe": "printf '%s' ${x} | cat",
    "condition": "if [ ${x} = ${x} ]; then printf '%s' ${x}; fi",
}
ENDINGS = {
    "substitution": ".",
    "substitution in quotes": ".",
    "backticks": ".",
    "heredoc": "\n",
    "heredoc with tabs": "\n",
}
BASH_CONTEXTS = {
    "ansi": "printf '%s' $'${x}'",
    "array": "a=(${x}); printf '%s' \"${a[0]}\"",
    "here-string": "cat <<< ${x}",
}


def run(shell: str, text: str, value: str, folder: Path) -> str:
    compiled = compile_command(text, {"x"}.__contains__)
    assert compiled.problems == ()
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    environment |= {binding.variable: value for binding in compiled.bindings}
    result = subprocess.run(
        [shell, "-c", compiled.script], env=environment, cwd=folder, capture_output=True, check=False, timeout=60
    )
    assert list(folder.iterdir()) == []
    assert result.stderr == b""
    return result.stdout.decode()


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("context", sorted(CONTEXTS))
def test_hostile_values_arrive_as_they_are(shell: str, context: str, tmp_path: Path) -> None:
    for value in HOSTILE:
        assert run(shell, CONTEXTS[context], value, tmp_path) == value + ENDINGS.get(context, ""), value


@pytest.mark.parametrize("context", sorted(BASH_CONTEXTS))
def test_hostile_values_arrive_as_they_are_in_what_only_bash_has(context: str, tmp_path: Path) -> None:
    ending = "\n" if context == "here-string" else ""
    for value in HOSTILE:
        assert run("bash", BASH_CONTEXTS[context], value, tmp_path) == value + ending, value


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")), st.sampled_from(sorted(CONTEXTS)))
def test_any_text_arrives_as_one_argument_in_every_context(tmp_path: Path, value: str, context: str) -> None:
    for shell in ("sh", "bash"):
        assert run(shell, CONTEXTS[context], value, tmp_path) == value + ENDINGS.get(context, "")


TEMPLATES = st.lists(
    st.sampled_from(
        ["${x}", '"', "'", " ", "a", "\\", "$(printf ", ")", "`", "\n", ";", "|", "${x}${x}", "#", "$", "="]
    ),
    min_size=1,
    max_size=8,
).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEMPLATES)
def test_whatever_compiles_runs_nothing_of_a_hostile_value(tmp_path: Path, text: str) -> None:
    compiled = compile_command(f": {text}", {"x"}.__contains__)
    if compiled.problems:
        return
    environment = {"PATH": os.environ["PATH"], "HR_1": "x'\"`touch pwned`$(touch pwned);touch pwned\ntouch pwned #"}
    subprocess.run(["sh", "-c", compiled.script], env=environment, cwd=tmp_path, capture_output=True, check=False)
    assert list(tmp_path.iterdir()) == []
