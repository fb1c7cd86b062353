# ruff: noqa: E501 - messages are recorded in one piece
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.language.parser import parse
from handrail.language.shell import compile_command
from handrail.model.codes import CODES

KNOWN = {"x", "y", "dep", "steps"}


def script(text: str) -> str:
    compiled = compile_command(text, KNOWN.__contains__)
    assert compiled.problems == ()
    return compiled.script


def problems(text: str) -> list[str]:
    compiled = compile_command(text, KNOWN.__contains__, sorted(KNOWN))
    assert {one.code for one in compiled.problems} <= set(CODES)
    assert all(0 <= one.start <= one.end <= len(text) for one in compiled.problems)
    return [f"{text[one.start : one.end]} {one.code}: {one.message} | {one.hint}" for one in compiled.problems]


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
                    "${f} unknown-shell-name: unknown variable 'f' | if it is the shell's own, write `$f` or `$${f}`: `for f in *; do echo $f; done`"
                ]
            ),
        ),
        (
            "ls\necho ${f}x\nls",
            snapshot(
                [
                    "${f} unknown-shell-name: unknown variable 'f' | if it is the shell's own, write `$f` or `$${f}`: `echo $${f}x`"
                ]
            ),
        ),
        ("echo ${dpe.key}", snapshot(["${dpe.key} unknown-shell-name: unknown variable 'dpe' | None"])),
        (
            "echo ${x:-y}",
            snapshot(
                [
                    "${x:-y} shell-syntax: 'x' is a value of the workflow; the shell's `${x:-y}` cannot work on it | write `${x | default('y')}`"
                ]
            ),
        ),
        (
            "echo ${#x}",
            snapshot(
                [
                    "${#x} shell-syntax: 'x' is a value of the workflow; the shell's `${#x}` cannot work on it | write `${x | length}`"
                ]
            ),
        ),
        (
            "echo ${x%.*}",
            snapshot(
                [
                    "${x%.*} shell-syntax: 'x' is a value of the workflow; the shell's `${x%.*}` cannot work on it | use a filter, or take it into a variable first: `v=${x}`"
                ]
            ),
        ),
        (
            "echo ${x y}",
            snapshot(["y expression-syntax: unexpected `y` | if it is one text, put it in quotes: 'x y ...'"]),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "echo $((${x} + 1))",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot stand in arithmetic | bash would run commands found in it; calculate in the placeholder: `${x + 1}`"
                ]
            ),
        ),
        (
            "(( ${x} > 1 ))",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot stand in arithmetic | bash would run commands found in it; calculate in the placeholder: `${x + 1}`"
                ]
            ),
        ),
        (
            "let n=${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `let` runs as code | calculate in the placeholder: `n=${x + 1}`"
                ]
            ),
        ),
        (
            "[[ ${x} -eq 1 ]]",
            snapshot(
                [
                    '${x} shell-unsafe: `${x}` cannot stand in `[[ ]]` | write `[ ${x} = ... ]`, or take it into a variable that a plain `[ "$v" = ... ]` tests'
                ]
            ),
        ),
        (
            "a[${x}]=1",
            snapshot(
                [
                    '${x} shell-unsafe: `${x}` cannot stand in an array subscript | bash would run commands found in it; compare or pick by value: case "${x}" in ... esac'
                ]
            ),
        ),
        (
            "echo ${v[${x}]}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot stand in the shell's own `${...}` | take it into a variable first: `v=${...}`"
                ]
            ),
        ),
        (
            "echo ${HOME:-${x}}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot stand in the shell's own `${...}` | take it into a variable first: `v=${...}`"
                ]
            ),
        ),
        (
            "cat <<'EOF'\n${x}\nEOF",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot stand in a quoted here-document | write `<<EOF` without quotes, then `$` of the shell's own as `\\$`"
                ]
            ),
        ),
        (
            "sh -c 'echo ${x}'",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `sh` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            'bash -lc "echo ${x}"',
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `bash` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "eval echo ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `eval` runs as code | leave `eval` out: `echo ${x}` needs none"
                ]
            ),
        ),
        (
            "python -c 'print(\"${x}\")'",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `python` | pass it as an argument: `python -c 'import sys; print(sys.argv[1])' ${x}`"
                ]
            ),
        ),
        (
            'node -e "f(${x})"',
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `node` | pass it as an argument: `node -e 'console.log(process.argv[1])' ${x}`"
                ]
            ),
        ),
        (
            "perl -pe 's/a/${x}/' f",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `perl` | pass it as an argument: `perl -e 'print $ARGV[0]' ${x}`"
                ]
            ),
        ),
        (
            'ssh -p 22 host "ls ${x}"',
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `ssh` runs as code | send it as input: `printf '%s' ${x} | ssh host 'cat > file'`"
                ]
            ),
        ),
        (
            "xargs sh -c 'echo ${x}'",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `sh` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "awk '{ print \"${x}\" }'",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands inside the code given to `awk` | pass it in the environment: `V=${x} awk '{ print ENVIRON[\"V\"] }'`"
                ]
            ),
        ),
        (
            "bash <<EOF\necho ${x}\nEOF",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `bash` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "echo ${x} | sh",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `sh` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "bash <<< ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `bash` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "${x} --flag",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` would choose the program | write the program's name out and pass the value as an argument: `program ${x}`"
                ]
            ),
        ),
        (
            "timeout 5 ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` would choose the program | write the program's name out and pass the value as an argument: `program ${x}`"
                ]
            ),
        ),
        (
            "A${x}=1",
            snapshot(["${x} shell-unsafe: a value would name a variable | write the variable's name out: `name=${x}`"]),
        ),
        (
            "export ${x}=1",
            snapshot(
                [
                    "${x} shell-unsafe: a value would name a variable, or be calculated, in `export` | write the variable's name out: `name=${x}`"
                ]
            ),
        ),
        (
            "declare -i n=${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value would name a variable, or be calculated, in `declare` | write the variable's name out: `name=${x}`"
                ]
            ),
        ),
        (
            "unset ${x}",
            snapshot(["${x} shell-unsafe: a value would name a variable | write the variable's name out: `name=${x}`"]),
        ),
        (
            "printf -v ${x} a",
            snapshot(["${x} shell-unsafe: a value would name a variable | write the variable's name out: `name=${x}`"]),
        ),
        (
            "[ -v ${x} ]",
            snapshot(
                [
                    "${x} shell-unsafe: a value would be taken for the name of a variable | `-v` runs commands found in such a value; an operator must be written out"
                ]
            ),
        ),
        (
            "for ${x} in a; do :; done",
            snapshot(["${x} shell-unsafe: a value would name a variable | write the variable's name out: `name=${x}`"]),
        ),
        (
            "echo a >&${x}",
            snapshot(["${x} shell-unsafe: `>&${x}` would let a value choose a file descriptor | write `> ${x}`"]),
        ),
        (
            "n=${x}; echo $((n + 1))",
            snapshot(
                [
                    "n + 1 shell-unsafe: 'n' holds `${x}`, and bash runs commands found in such a value | calculate in the placeholder instead, as in `${x + 1}`"
                ]
            ),
        ),
        (
            "trap 'rm ${x}' EXIT",
            snapshot(
                [
                    "${x} shell-unsafe: a value stands in what `trap` runs as code | pass it as an argument, or with `env:` as an environment variable, and read it there"
                ]
            ),
        ),
        (
            'echo `echo \\"${x}\\"`',
            snapshot(
                [
                    '`echo \\"${x}\\"` shell-unsafe: backslashes and a value stand in backticks | write `$(...)` instead of backticks'
                ]
            ),
        ),
    ],
)
def test_where_a_value_would_be_read_as_code_the_safe_form_is_shown(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


def test_a_variable_that_may_be_empty_does_not_hide_what_follows() -> None:
    assert "put the variable before it in quotes" in problems("$EDITOR ${x}")[0]
    assert "leave `eval` out" in problems("$PREFIX eval ${x}")[0]
    assert "inside the code" in problems("sh -c $CODE ${x}")[0]
    assert problems('"$EDITOR" ${x}') == []
    assert problems("echo $FLAGS ${x}") == []


def test_actions_syntax_is_left_alone_with_a_warning() -> None:
    compiled = compile_command("echo ${{ github.sha }} '${{ a }}'", KNOWN.__contains__)
    assert compiled.script == "echo ${{ github.sha }} '${{ a }}'"
    assert [one.code for one in compiled.warnings] == ["actions-placeholder"] * 2


def test_a_value_in_a_sed_script_is_warned_about() -> None:
    compiled = compile_command("sed 's/a/${x}/' file", KNOWN.__contains__)
    assert [one.message for one in compiled.warnings] == snapshot(
        ["a value stands inside a `sed` script; `/`, `&` and newlines in it change the script"]
    )


def test_deep_nesting_is_refused() -> None:
    assert "deeper than 40" in problems("$(" * 20_000)[0]
    assert "deeper than 40" in problems('"$(' * 20_000)[0]
    assert "more than 100000" in problems("a" * 200_000)[0]


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
    problems(text)


@given(
    st.lists(st.sampled_from([piece for piece in PIECES if "{" not in piece] + ["${HOME}"]), max_size=14).map("".join)
)
def test_a_command_without_values_of_ours_stays_as_it_is(text: str) -> None:
    compiled = compile_command(text, KNOWN.__contains__)
    assert compiled.problems or compiled.script == text
