"""Values in commands, through real shells: what arrives is what was there, and nothing of it is run."""

import stat
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import EnvironmentFault
from handrail.language.expressions.unparse import unparse
from handrail.language.shell.scan import compile_command
from handrail.model.workflow.values import Command, Expression, ShellBinding
from handrail.ports.processes import ProcessSpec
from handrail.processes.shell_command import PreparedCommand, RefusedCommand, prepare
from support.workspace.process_room import Room

HOSTILE = [
    *("$(touch pwned)", "`touch pwned`", "; touch pwned #", "&& touch pwned", "| touch pwned", "\ntouch pwned\n"),
    *("' ; touch pwned ; '", '" ; touch pwned ; "', "'\"'\"'; touch pwned; '\"'\"'", "a[$(touch pwned)]", "$((touch))"),
    *("${x}", "$x", "$HOME", "${HOME:-$(touch pwned)}", "$'\\x41'", "$$", "$?", "$0", "$@", "!!", "!touch"),
    *(
        "*",
        "?",
        "[a-z]*",
        "~",
        "~root",
        "{a,b}",
        "-n",
        "-e",
        "--help",
        "--",
        "-",
        "=",
        "#",
        "# comment",
        "%s%n%d",
        "\\c",
    ),
    *(
        "\\",
        "\\\\",
        "\\n",
        "\\0",
        "trailing\\",
        "a\\\nb",
        " leading",
        "trailing ",
        "a  b\t\tc",
        "\t",
        "\r\n",
        "\n",
        "\n\n\n",
    ),
    *(
        "'",
        '"',
        "''",
        '""',
        "`",
        "<<EOF\ntouch pwned\nEOF",
        "> pwned",
        "<(touch pwned)",
        ">(touch pwned)",
        "2>&1 > pwned",
    ),
    *("é", "日本語", "😀", "\u2028", "\u200b", "\ufeff", "\u0081\u0082\u0088", "\x01\x02\x1b[31m", "\x7f", "a\u0301"),
    *("", "x" * 99_999, "$(touch pwned)\n" * 6000, "() { :; }; touch pwned", "HR_1=x", "PATH=/nowhere"),
]
PLACES = {
    "bare": "printf '%s.' ${v}",
    "double quotes": "printf '%s.' \"${v}\"",
    "single quotes": "printf '%s.' '${v}'",
    "assigned": "w=${v}; printf '%s.' \"$w\"",
    "commit text": 'set -- -m "${v}"; printf \'%s.\' "$2"',
}


def _command(text: str) -> Command:
    compiled = compile_command(text, {"v", "w"}.__contains__)
    assert compiled.problems == ()
    bindings = [ShellBinding(each.variable, Expression(unparse(each.expr)), each.as_file) for each in compiled.bindings]
    return Command(compiled.script, tuple(bindings))


def _prepared(room: Room, text: str, value: object) -> ProcessSpec:
    spec = room.spec("")
    prepared = prepare(_command(text), {"v": value}, spec.folder)
    assert isinstance(prepared, PreparedCommand), prepared
    return ProcessSpec(spec.key, prepared.argv, spec.cwd, spec.env + prepared.env, spec.folder)


def _printed(room: Room, text: str, value: object) -> str:
    spec = _prepared(room, text, value)
    ended = room.run(spec)
    assert (ended.exit_code, ended.stderr_size) == (0, 0)
    return room.processes.read_output(spec.folder, "stdout", 1 << 24, tail=False).decode()


def _names(room: Room) -> set[str]:
    return {path.name for path in room.root.iterdir() if not path.name.startswith("process-")}


def test_there_are_hostile_values_enough() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) >= 70


def _printed_in_one_go(room: Room, place: str, values: list[str]) -> list[str]:
    """Let one shell print every value, with NUL between them."""
    lines = [place.replace("${v", f"${{v[{number}]") for number in range(len(values))]
    return _printed(room, "; printf '\\0'\n".join(lines), values).split("\0")


@pytest.mark.parametrize("place", PLACES.values(), ids=list(PLACES))
def test_no_hostile_value_is_run_or_altered(room: Room, place: str) -> None:
    assert _printed_in_one_go(room, place, HOSTILE) == [f"{value}." for value in HOSTILE]
    assert _names(room) == set()


def test_no_hostile_value_is_run_or_altered_on_its_way_through_a_file(room: Room) -> None:
    place = "cat ${v | file}; printf ."
    values = [*HOSTILE, "x" * 200_000, "$(touch pwned)" * 50_000]
    assert _printed_in_one_go(room, place, values) == [f"{value}." for value in values]
    assert _printed(room, place, "a\0$(touch pwned)\0") == "a\0$(touch pwned)\0."
    assert _names(room) == set()


@pytest.mark.parametrize("value", ["$(touch pwned)", "-n", "a\nb ", "\\"])
def test_a_hostile_value_alone_in_a_command_is_only_text(room: Room, value: str) -> None:
    for place in PLACES.values():
        assert _printed(room, place, value) == f"{value}."
    assert _names(room) == set()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (2.5, "2.5"),
        (True, "true"),
        (False, "false"),
        (None, "none"),
        (["a b", "$(x)"], '["a b", "$(x)"]'),
        ({"key": 'it\'s "so"'}, '{"key": "it\'s \\"so\\""}'),
        ([], "[]"),
    ],
)
def test_what_is_no_text_is_rendered_as_in_prompts(room: Room, value: object, text: str) -> None:
    assert _printed(room, PLACES["bare"], value) == f"{text}."
    assert _printed(room, "cat ${v | file}; printf .", value) == f"{text}."


def test_a_command_goes_on_after_a_failing_line_as_shells_do(room: Room) -> None:
    assert _printed(room, "false; printf %s ${v}", "on") == "on"


def _refused(text: str, values: dict[str, object], folder: Path) -> list[tuple[str, str, str]]:
    refused = prepare(_command(text), values, str(folder))
    assert isinstance(refused, RefusedCommand)
    assert not folder.exists(), "nothing is written"
    return [(each.expression, each.message, each.hint) for each in refused.refusals]


def test_a_value_with_nul_is_refused_and_the_file_form_shown(tmp_path: Path) -> None:
    assert _refused("echo ${v}", {"v": "a\0b"}, tmp_path / "f") == snapshot(
        [
            (
                "v",
                "the value contains a NUL character, which an environment variable cannot",
                "pass it as the path of a file: ${v | file}",
            )
        ]
    )


def test_a_value_over_the_limit_is_refused_and_the_file_form_shown(tmp_path: Path) -> None:
    assert _refused("echo ${v.text}", {"v": {"text": "é" * 50_001}}, tmp_path / "f") == snapshot(
        [
            (
                "v.text",
                "the value has 100002 bytes; an environment variable can hold at most 100000",
                "pass it as the path of a file: ${v.text | file}",
            )
        ]
    )


def test_every_value_that_cannot_be_passed_is_named_and_no_file_written(tmp_path: Path) -> None:
    values: dict[str, object] = {"v": {"big": "x" * 200_000, "good": "fine"}}
    found = _refused("echo ${v.big} ${v.none} ${w} ${v.good | file}", values, tmp_path / "f")
    assert [(expression, message) for expression, message, _ in found] == snapshot(
        [
            ("v.big", "the value has 200000 bytes; an environment variable can hold at most 100000"),
            ("v.none", "field 'none' does not exist"),
            ("w", "'w' is not defined"),
        ]
    )


def test_values_that_are_too_many_together_are_refused(tmp_path: Path) -> None:
    words = " ".join(f"${{v[{number}]}}" for number in range(7))
    assert _refused(f"echo {words}", {"v": ["x" * 99_000] * 7}, tmp_path / "f") == snapshot(
        [
            (
                "",
                "the values of the command have 693000 bytes in total, more than 600000",
                "pass the largest of them as files: ${x | file}",
            )
        ]
    )


def test_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    assert _refused("echo ${v}", {"v": "a\ud800"}, tmp_path / "f") == snapshot(
        [("v", "the value is not valid text: it contains half of a surrogate pair", "fix it where it is created")]
    )


def test_a_script_that_no_shell_can_be_given_is_refused(tmp_path: Path) -> None:
    refused = prepare(Command("echo " + "é" * 90_000), {}, str(tmp_path))
    assert isinstance(refused, RefusedCommand)
    assert [each.message for each in refused.refusals] == snapshot(
        ["the command contains a NUL character or is longer than 120000 bytes"]
    )


def test_a_value_in_a_file_is_for_the_owner_only(tmp_path: Path) -> None:
    prepared = prepare(_command("cat ${v | file}"), {"v": "secret"}, str(tmp_path / "made"))
    assert isinstance(prepared, PreparedCommand)
    path = Path(prepared.env[0][1])
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("secret", 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_link_in_place_of_a_value_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "HR_1.value").symlink_to(tmp_path / "victim")
    with pytest.raises(EnvironmentFault, match="a value cannot be written"):
        prepare(_command("cat ${v | file}"), {"v": "x"}, str(tmp_path))
    assert not (tmp_path / "victim").exists()


def test_preparing_again_gives_the_same(tmp_path: Path) -> None:
    command = _command("cat ${v | file} ${v}")
    assert prepare(command, {"v": "x"}, str(tmp_path)) == prepare(command, {"v": "x"}, str(tmp_path))
