# ruff: noqa: E501 - messages are recorded in one piece
"""Values where a shell would read them as code: each is refused with the safe form."""

import pytest
from inline_snapshot import snapshot

from support.language.shell_told import problems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "echo $((${x} + 1))",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot be used in arithmetic | bash would run commands found in it; calculate in the placeholder: `${x + 1}`"
                ]
            ),
        ),
        (
            "(( ${x} > 1 ))",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot be used in arithmetic | bash would run commands found in it; calculate in the placeholder: `${x + 1}`"
                ]
            ),
        ),
        (
            "let n=${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `let` runs as code | calculate in the placeholder: `n=${x + 1}`"
                ]
            ),
        ),
        (
            "[[ ${x} -eq 1 ]]",
            snapshot(
                [
                    '${x} shell-unsafe: `${x}` cannot be used in `[[ ]]` | write `[ ${x} = ... ]`, or assign it to a variable and test that: `[ "$v" = ... ]`'
                ]
            ),
        ),
        (
            "a[${x}]=1",
            snapshot(
                [
                    '${x} shell-unsafe: `${x}` cannot be used in an array subscript | bash would run commands found in it; compare by value instead: case "${x}" in ... esac'
                ]
            ),
        ),
        (
            "echo ${v[${x}]}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot be used in the shell's own `${...}` | assign it to a variable first: `v=${...}`"
                ]
            ),
        ),
        (
            "echo ${HOME:-${x}}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot be used in the shell's own `${...}` | assign it to a variable first: `v=${...}`"
                ]
            ),
        ),
        (
            "cat <<'EOF'\n${x}\nEOF",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` cannot be used in a quoted here-document | write `<<EOF` without quotes, and the shell's own `$` as `\\$`"
                ]
            ),
        ),
        (
            "sh -c 'echo ${x}'",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `sh` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            'bash -lc "echo ${x}"',
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `bash` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "eval echo ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `eval` runs as code | leave out `eval`: `echo ${x}` does not need it"
                ]
            ),
        ),
        (
            "python -c 'print(\"${x}\")'",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `python` | pass it as an argument: `python -c 'import sys; print(sys.argv[1])' ${x}`"
                ]
            ),
        ),
        (
            'node -e "f(${x})"',
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `node` | pass it as an argument: `node -e 'console.log(process.argv[1])' ${x}`"
                ]
            ),
        ),
        (
            "perl -pe 's/a/${x}/' f",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `perl` | pass it as an argument: `perl -e 'print $ARGV[0]' ${x}`"
                ]
            ),
        ),
        (
            'ssh -p 22 host "ls ${x}"',
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `ssh` runs as code | send it as input: `printf '%s' ${x} | ssh host 'cat > file'`"
                ]
            ),
        ),
        (
            "xargs sh -c 'echo ${x}'",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `sh` | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "awk '{ print \"${x}\" }'",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of the code passed to `awk` | pass it in the environment: `V=${x} awk '{ print ENVIRON[\"V\"] }'`"
                ]
            ),
        ),
        (
            "bash <<EOF\necho ${x}\nEOF",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `bash` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "echo ${x} | sh",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `sh` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "bash <<< ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `bash` reads as code | pass it as an argument: `sh -c 'echo \"$1\"' sh ${x}`"
                ]
            ),
        ),
        (
            "${x} --flag",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` would determine the program | write the program's name literally and pass the value as an argument: `program ${x}`"
                ]
            ),
        ),
        (
            "timeout 5 ${x}",
            snapshot(
                [
                    "${x} shell-unsafe: `${x}` would determine the program | write the program's name literally and pass the value as an argument: `program ${x}`"
                ]
            ),
        ),
        (
            "A${x}=1",
            snapshot(
                ["${x} shell-unsafe: a value would name a variable | write the variable's name literally: `name=${x}`"]
            ),
        ),
        (
            "export ${x}=1",
            snapshot(
                [
                    "${x} shell-unsafe: a value would name a variable, or be evaluated, in `export` | write the variable's name literally: `name=${x}`"
                ]
            ),
        ),
        (
            "declare -i n=${x}",
            snapshot(
                [
                    "${x} shell-unsafe: a value would name a variable, or be evaluated, in `declare` | write the variable's name literally: `name=${x}`"
                ]
            ),
        ),
        (
            "unset ${x}",
            snapshot(
                ["${x} shell-unsafe: a value would name a variable | write the variable's name literally: `name=${x}`"]
            ),
        ),
        (
            "printf -v ${x} a",
            snapshot(
                ["${x} shell-unsafe: a value would name a variable | write the variable's name literally: `name=${x}`"]
            ),
        ),
        (
            "[ -v ${x} ]",
            snapshot(
                [
                    "${x} shell-unsafe: a value would be taken as the name of a variable | `-v` runs commands found in such a value; write the operator literally"
                ]
            ),
        ),
        (
            "for ${x} in a; do :; done",
            snapshot(
                ["${x} shell-unsafe: a value would name a variable | write the variable's name literally: `name=${x}`"]
            ),
        ),
        (
            "echo a >&${x}",
            snapshot(["${x} shell-unsafe: `>&${x}` would let a value choose a file descriptor | write `> ${x}`"]),
        ),
        (
            "n=${x}; echo $((n + 1))",
            snapshot(
                [
                    "n + 1 shell-unsafe: 'n' contains `${x}`, and bash runs commands in such a value | calculate in the placeholder instead, as in `${x + 1}`"
                ]
            ),
        ),
        (
            "trap 'rm ${x}' EXIT",
            snapshot(
                [
                    "${x} shell-unsafe: a value is part of what `trap` runs as code | pass it as an argument, or with `env:` as an environment variable, and read it there"
                ]
            ),
        ),
        (
            'echo `echo \\"${x}\\"`',
            snapshot(
                [
                    '`echo \\"${x}\\"` shell-unsafe: backticks contain both backslashes and a value | write `$(...)` instead of backticks'
                ]
            ),
        ),
    ],
)
def test_where_a_value_would_be_read_as_code_the_safe_form_is_shown(text: str, expected: list[str]) -> None:
    assert problems(text) == expected


def test_a_variable_that_may_be_empty_does_not_hide_what_follows() -> None:
    assert "quote the variable before it" in problems("$EDITOR ${x}")[0]
    assert "leave out `eval`" in problems("$PREFIX eval ${x}")[0]
    assert "part of the code" in problems("sh -c $CODE ${x}")[0]
    assert problems('"$EDITOR" ${x}') == []
    assert problems("echo $FLAGS ${x}") == []
