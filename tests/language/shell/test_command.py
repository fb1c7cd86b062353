# ruff: noqa: E501 - messages are recorded in one piece
"""Commands with values in them: what they become, and what is not understood."""

import pytest
from inline_snapshot import snapshot

from handrail.language.expressions.parser import parse
from handrail.language.shell.scan import compile_command
from support.language.shell_told import KNOWN, problems, script


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo ${x}", 'echo "$HR_1"'),
        ("echo ${x}.txt", 'echo "$HR_1".txt'),
        ('echo "a ${x} b"', 'echo "a ${HR_1} b"'),
        ("echo 'a ${x} b'", "echo 'a '\"${HR_1}\"' b'"),
        ("echo $'a\\n${x}'", "echo $'a\\n'\"${HR_1}\"$''"),
        ("echo ${x} ${y} ${ x }", 'echo "$HR_1" "$HR_2" "$HR_1"'),
        ('npm install "${dep.key}@${dep.value.wanted}"', 'npm install "${HR_1}@${HR_2}"'),
        ('cat <<EOF\n"${x}" $HOME\nEOF\n', 'cat <<EOF\n"${HR_1}" $HOME\nEOF\n'),
        ("cat <<-EOF\n\t${x}\n\tEOF\necho ${y}", 'cat <<-EOF\n\t${HR_1}\n\tEOF\necho "$HR_2"'),
        ("cat <<'EOF'\n${v:-1} $x\nEOF", "cat <<'EOF'\n${v:-1} $x\nEOF"),
        ("cat <<A <<B\n${x}\nA\n${y}\nB\n", "cat <<A <<B\n${HR_1}\nA\n${HR_2}\nB\n"),
        ("echo `ls ${x}`", 'echo `ls "$HR_1"`'),
        ('echo "$(ls ${x} "${y}")"', 'echo "$(ls "$HR_1" "${HR_2}")"'),
        ("diff <(cat ${x}) <(cat ${y})", 'diff <(cat "$HR_1") <(cat "$HR_2")'),
        ("A=${x} cmd > ${y} 2>&1", 'A="$HR_1" cmd > "$HR_2" 2>&1'),
        ("a=(${x} b)", 'a=("$HR_1" b)'),
        ("export A=${x}", 'export A="$HR_1"'),
        ("case ${x} in a|b) echo ${y};; *) :;; esac", 'case "$HR_1" in a|b) echo "$HR_2";; *) :;; esac'),
        ("echo $(case q in q) echo ${x};; esac)", 'echo $(case q in q) echo "$HR_1";; esac)'),
        ("f() { echo ${x}; }; f", 'f() { echo "$HR_1"; }; f'),
        ("(cd ${x} && ls)", '(cd "$HR_1" && ls)'),
        ("[ ${x} = ${y} ] && test -n ${x}", '[ "$HR_1" = "$HR_2" ] && test -n "$HR_1"'),
        ("for f in ${x}; do echo $f; done", 'for f in "$HR_1"; do echo $f; done'),
        ("echo a \\\n  ${x} # ${y}", 'echo a \\\n  "$HR_1" # ${y}'),
        ("sh -c 'echo \"$1\"' sh ${x}", 'sh -c \'echo "$1"\' sh "$HR_1"'),
        ("python3 -c 'import sys' ${x}", "python3 -c 'import sys' \"$HR_1\""),
        ("echo $((1 + 2)) $$ $? $1 ${1} ${@}", "echo $((1 + 2)) $$ $? $1 ${1} ${@}"),
        ("echo \\${x} $x $f", "echo \\${x} $x $f"),
        ("echo $${f} \"$${f}\" '$${f}'", "echo ${f} \"${f}\" '${f}'"),
        ("echo ${HOME} ${PATH}", "echo ${HOME} ${PATH}"),
        ("echo ${v:-1} ${v%.*} ${#v} ${!v} ${v//a/b} ${v[@]} ${v[0]}", None),
        ("xargs -I {} cp {} ${x}", 'xargs -I {} cp {} "$HR_1"'),
        ("sudo -u ${x} ls", 'sudo -u "$HR_1" ls'),
        ("awk -v v=1 '{ print }' ${x}", "awk -v v=1 '{ print }' \"$HR_1\""),
        ("grep -e ${x} file | sort | head -1", 'grep -e "$HR_1" file | sort | head -1'),
        ("[[ -f a && ( b < c ) ]] && echo ${x}", '[[ -f a && ( b < c ) ]] && echo "$HR_1"'),
        ("ssh ${x} uptime", 'ssh "$HR_1" uptime'),
    ],
)
def test_values_become_quoted_variables_and_the_rest_stays(text: str, expected: str | None) -> None:
    assert script(text) == (text if expected is None else expected)


def test_bindings_name_each_expression_once() -> None:
    compiled = compile_command(
        "echo ${x} ${x | upper} ${x|upper} ${x | file} ${x == 1} ${x == true}", KNOWN.__contains__
    )
    shown = [(binding.variable, binding.expr, binding.as_file) for binding in compiled.bindings]
    assert shown == [
        ("HR_1", parse("x"), False),
        ("HR_2", parse("x | upper"), False),
        ("HR_3", parse("x"), True),
        ("HR_4", parse("x == 1"), False),
        ("HR_5", parse("x == true"), False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "for f in *; do echo ${f}; done",
            snapshot(
                [
                    "${f} unknown-shell-name: unknown variable 'f' | if it is a shell variable, write `$f` or `$${f}`: `for f in *; do echo $f; done`"
                ]
            ),
        ),
        (
            "ls\necho ${f}x\nls",
            snapshot(
                [
                    "${f} unknown-shell-name: unknown variable 'f' | if it is a shell variable, write `$f` or `$${f}`: `echo $${f}x`"
                ]
            ),
        ),
        ("echo ${dpe.key}", snapshot(["${dpe.key} unknown-shell-name: unknown variable 'dpe' | None"])),
        (
            "echo ${x:-y}",
            snapshot(
                [
                    "${x:-y} shell-syntax: 'x' is a value of the workflow; the shell's `${x:-y}` cannot use it | write `${x | default('y')}`"
                ]
            ),
        ),
        (
            "echo ${#x}",
            snapshot(
                [
                    "${#x} shell-syntax: 'x' is a value of the workflow; the shell's `${#x}` cannot use it | write `${x | length}`"
                ]
            ),
        ),
        (
            "echo ${x%.*}",
            snapshot(
                [
                    "${x%.*} shell-syntax: 'x' is a value of the workflow; the shell's `${x%.*}` cannot use it | use a filter, or assign it to a shell variable first: `v=${x}`"
                ]
            ),
        ),
        (
            "echo ${x y}",
            snapshot(["y expression-syntax: unexpected `y` | if it is text, put it in quotes: 'x y ...'"]),
        ),
        ("echo 'it", snapshot(["'i shell-syntax: `'` is never closed | None"])),
        ('echo "a', snapshot(['"a shell-syntax: `"` is never closed | None'])),
        ("echo $(ls", snapshot(["$( shell-syntax: `$(` is never closed | None"])),
        ("cat <<EOF\n${x}", snapshot(["${ shell-syntax: the here-document has no line `EOF` at its end | None"])),
        ("echo ${HOME", snapshot(["${ shell-syntax: `${` is never closed | None"])),
    ],
)
def test_what_is_not_understood_is_explained(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


def test_actions_syntax_is_left_alone_with_a_warning() -> None:
    compiled = compile_command("echo ${{ github.sha }} '${{ a }}'", KNOWN.__contains__)
    assert compiled.script == "echo ${{ github.sha }} '${{ a }}'"
    assert [one.code for one in compiled.warnings] == ["actions-placeholder"] * 2


def test_a_value_in_a_sed_script_is_warned_about() -> None:
    compiled = compile_command("sed 's/a/${x}/' file", KNOWN.__contains__)
    assert [one.message for one in compiled.warnings] == snapshot(
        ["a value is part of a `sed` script; `/`, `&` and newlines in it change the script"]
    )


def test_deep_nesting_is_refused() -> None:
    assert "deeper than 40" in problems("$(" * 20_000)[0]
    assert "deeper than 40" in problems('"$(' * 20_000)[0]
    assert "the maximum is 100000" in problems("a" * 200_000)[0]
