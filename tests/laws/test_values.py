"""Hostile values through real runs, in every context that is allowed: none is executed, none is altered."""

import json
from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from support.compiler.native_case import compile_text
from support.runtime.room import Room

HOSTILE = [
    *("$(touch pwned)", "`touch pwned`", "; touch pwned #", "&& touch pwned", "| touch pwned", "\ntouch pwned\n"),
    *("' ; touch pwned ; '", '" ; touch pwned ; "', "'\"'\"'; touch pwned; '\"'\"'", "a[$(touch pwned)]", "$((1/0))"),
    *("${x}", "$x", "$HOME", "${HOME:-$(touch pwned)}", "$'\\x41'", "$$", "$?", "$0", "$@", "!!", "{{ x }}", "${v0}"),
    *("*", "?", "[a-z]*", "~", "~root", "{a,b}", "-n", "-e", "--help", "--", "-", "=", "#", "# comment", "%s%n%d"),
    *("\\", "\\\\", "\\n", "\\0", "trailing\\", "a\\\nb", " leading", "trailing ", "a  b\t\tc", "\t", "\r\n", "\n"),
    *("'", '"', "''", '""', "`", "<<EOF\ntouch pwned\nEOF", "EOF", "END\ntouch pwned", "> pwned", "<(touch pwned)"),
    *("é", "日本語", "😀", "\u2028", "\u200b", "\ufeff", "\u0081", "\x01\x1b[31m", "\x7f", "a\u0301", "null", "true"),
    *("", "x" * 50_000, "$(touch pwned)\n" * 500, "() { :; }; touch pwned", "HR_1=x", "PATH=/nowhere", "1e309"),
]
NAMES = [f"v{number}" for number in range(len(HOSTILE))]
CONTEXTS: dict[str, Callable[[str], str]] = {
    "unquoted": lambda name: f"printf '%s\\0' ${{{name}}}",
    "in double quotes": lambda name: f"printf '%s\\0' \"${{{name}}}\"",
    "in double quotes with text": lambda name: f"printf '%s\\0' \"<${{{name}}}>\"",
    "in single quotes": lambda name: f"printf '%s\\0' '${{{name}}}'",
    "in a heredoc": lambda name: f"cat <<END\n<${{{name}}}>\nEND\nprintf '\\0'",
    "in a substitution": lambda name: f"printf '%s\\0' \"$(printf '%s.' ${{{name}}})\"",
    "as a file": lambda name: f"cat ${{{name} | file}}; printf '\\0'",
    "as the name of a variable's value": lambda name: f"w=${{{name}}}; printf '%s\\0' \"$w\"",
}
EXPECTED = {
    "in double quotes with text": "<{}>",
    "in a heredoc": "<{}>\n",
    "in a substitution": "{}.",
}


def _workflow(command: str, head: str = "", env: dict[str, str] | None = None) -> str:
    step = {"name": "x", "command": f"{{\n{command}\n}} > out"} | ({"env": env} if env else {})
    inputs = dict.fromkeys(NAMES, "string")
    return f"name: values\ninput: {json.dumps(inputs)}\n{head}steps: {json.dumps([step])}\n"


def _written(room: Room) -> list[str]:
    assert sorted(path.name for path in room.workspace.iterdir()) == ["out"], "something was executed"
    return (room.workspace / "out").read_bytes().decode().split("\0")[:-1]


@pytest.mark.parametrize("context", list(CONTEXTS))
def test_hostile_values_arrive_as_they_are(room: Room, context: str) -> None:
    assert len(set(HOSTILE)) >= 40
    command = "\n".join(CONTEXTS[context](name) for name in NAMES)
    state = room.run(_workflow(command), **dict(zip(NAMES, HOSTILE, strict=True)))
    assert state.status == "succeeded", state.message
    assert _written(room) == [EXPECTED.get(context, "{}").replace("{}", value) for value in HOSTILE]


def test_hostile_values_arrive_as_they_are_in_variables_of_the_environment(room: Room) -> None:
    command = "\n".join(f'printf "%s\\0" "$E_{name}"' for name in NAMES)
    env = {f"E_{name}": f"${{{name}}}" for name in NAMES}
    state = room.run(_workflow(command, env=env), **dict(zip(NAMES, HOSTILE, strict=True)))
    assert state.status == "succeeded", state.message
    assert _written(room) == HOSTILE


def test_hostile_values_that_a_step_printed_arrive_as_they_are_in_the_next_one(room: Room) -> None:
    (room.workspace.parent / "values.json").write_text(json.dumps(HOSTILE), "utf-8")
    commands = "\n".join(f"printf '%s\\0' \"${{made[{number}]}}\"" for number in range(len(HOSTILE)))
    steps = [
        {"name": "make", "command": "cat ../values.json", "returns": "json", "output": "made"},
        {"name": "use", "command": f"{{\n{commands}\n}} > out"},
    ]
    state = room.run(f"name: values\nsteps: {json.dumps(steps)}\n")
    assert state.status == "succeeded", state.message
    assert state.names["made"] == HOSTILE
    assert _written(room) == HOSTILE


def test_hostile_values_come_through_a_loop_and_back_as_outputs(room: Room) -> None:
    values = [value for value in HOSTILE if not value.endswith(("\n", "\r"))][:12]
    text = (
        "name: values\ninput: {all: {type: list}}\nsteps:\n  - name: l\n    type: loop\n    for_each: ${all}\n"
        "    max_iterations: 50\n    steps:\n      - {name: say, command: \"printf '%s' ${item}\", output: said}\n"
    )
    state = room.run(text, all=list(values))
    assert state.status == "succeeded", state.message
    said = [state.steps[f"l[{number}]/say"].output for number in range(len(values))]
    assert said == values
    assert list(room.workspace.iterdir()) == []


@pytest.mark.parametrize("value", ["a\0b", "x" * 100_001], ids=["a NUL", "too long"])
def test_what_no_variable_can_hold_fails_before_anything_is_spawned_and_goes_as_a_file(room: Room, value: str) -> None:
    text = "name: x\ninput: {v: string}\nsteps:\n  - {name: x, command: 'touch ran; echo ${v}', on_fail: block}\n"
    state = room.run(text, v=value)
    assert (state.status, state.reason) == ("blocked", "step")
    assert "${v | file}" in state.message
    assert list(room.workspace.iterdir()) == []
    command = "cat ${v | file} > out; printf '\\\\0' >> out"
    state = room.run(f'name: x\ninput: {{v: string}}\nsteps:\n  - {{name: x, command: "{command}"}}\n', v=value)
    assert state.status == "succeeded", state.message
    assert (room.workspace / "out").read_bytes() == value.encode() + b"\0"


REFUSED = {
    "arithmetic": "echo $(( ${x} + 1 ))",
    "arithmetic command": "(( ${x} ))",
    "double brackets": "[[ ${x} -eq 1 ]]",
    "subscript": "a[${x}]=1",
    "quoted heredoc": "cat <<'END'\n${x}\nEND",
    "eval": "eval ${x}",
    "sh -c": 'sh -c "echo ${x}"',
    "bash -c in single quotes": "bash -c 'echo ${x}'",
    "python -c": 'python3 -c "print(${x})"',
    "the command itself": "${x} --help",
}


def _refusal(command: str) -> tuple[str, str]:
    step = json.dumps([{"name": "s", "command": command}])
    compiled, _, _ = compile_text(f"name: x\ninput: {{x: string}}\nsteps: {step}\n")
    assert compiled.plan is None, f"{command} was not refused"
    found = compiled.diagnostics[0]
    assert found.line
    return found.message, found.hint or ""


def _refusals() -> dict[str, tuple[str, str]]:
    return {name: _refusal(command) for name, command in REFUSED.items()}


def test_every_context_that_could_execute_a_value_is_refused_when_compiling_with_the_safe_form() -> None:
    lines = [f"{name}: {message}\n    {hint}" for name, (message, hint) in _refusals().items()]
    assert "\n".join(lines) == snapshot("""\
arithmetic: `${x}` cannot be used in arithmetic
    bash would run commands found in it; calculate in the placeholder: `${x + 1}`
arithmetic command: `${x}` cannot be used in arithmetic
    bash would run commands found in it; calculate in the placeholder: `${x + 1}`
double brackets: `${x}` cannot be used in `[[ ]]`
    write `[ ${x} = ... ]`, or assign it to a variable and test that: `[ "$v" = ... ]`
subscript: `${x}` cannot be used in an array subscript
    bash would run commands found in it; compare by value instead: case "${x}" in ... esac
quoted heredoc: `${x}` cannot be used in a quoted here-document
    write `<<END` without quotes, and the shell's own `$` as `\\$`
eval: a value is part of what `eval` runs as code
    leave out `eval`: `echo ${x}` does not need it
sh -c: a value is part of the code passed to `sh`
    pass it as an argument: `sh -c 'echo "$1"' sh ${x}`
bash -c in single quotes: a value is part of the code passed to `bash`
    pass it as an argument: `sh -c 'echo "$1"' sh ${x}`
python -c: a value is part of the code passed to `python3`
    pass it as an argument: `python -c 'import sys; print(sys.argv[1])' ${x}`
the command itself: `${x}` would determine the program
    write the program's name literally and pass the value as an argument: `program ${x}`\
""")
