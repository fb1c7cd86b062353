"""The command line itself: help, version, exit codes, errors, and what it costs to start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from handrail import __version__
from handrail.cli.command_table import WORKFLOWS
from handrail.cli.failures import show
from handrail.cli.main import cli
from handrail.errors import EnvironmentFault, HandrailError, InvalidWorkflow, NotFound, Untrusted, UsageError
from handrail.model.diagnostics import Diagnostic, Severity

HANDRAIL = Path(sys.executable).parent / "handrail"
CLEAN = {"PATH": os.environ["PATH"], "COLUMNS": "100"}


def handrail(*args: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(HANDRAIL), *args], cwd=cwd, env={**CLEAN, **environ}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [(), ("list",), ("workflow",), ("workflow", "list"), ("run",)])
def test_the_short_option_for_help_does_the_same_everywhere(words: tuple[str, ...]) -> None:
    short = handrail(*words, "-h")
    assert (short.returncode, short.stdout) == (0, handrail(*words, "--help").stdout)
    assert "-h, --help" in short.stdout or not words


def test_the_bare_group_shows_its_help() -> None:
    assert handrail("workflow").stdout.startswith("Usage: handrail workflow")


def test_help_and_version_import_no_command_and_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from handrail.cli.main import main\n"
        "sys.argv = ['handrail', sys.argv[1]]\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print(*sorted(n for n in sys.modules if n.split('.')[0] in ('handrail', 'yaml', 'platformdirs', 'rfc8785')))\n"
    )
    for argument in ("--version", "--help"):
        ran = subprocess.run([sys.executable, "-c", program, argument], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1].split() == [
            "handrail",
            "handrail.cli",
            "handrail.cli.command_table",
            "handrail.cli.lazy_group",
            "handrail.cli.main",
        ]


def test_the_version_is_one_line() -> None:
    ran = handrail("--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"handrail {__version__}\n", "")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_has_help_at_the_top_and_in_its_group(name: str) -> None:
    top, grouped = (CliRunner().invoke(cli, [*path, name, "--help"]) for path in ([], ["workflow"]))
    assert top.exit_code == grouped.exit_code == 0
    assert "--json" in top.stdout
    assert top.stdout.split() == grouped.stdout.replace("handrail workflow ", "handrail ").split()


def test_an_unknown_command_is_a_usage_error_with_a_suggestion() -> None:
    ran = handrail("validat")
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr == snapshot("""\
error: there is no command 'validat', did you mean 'validate'?
next: handrail --help
""")


def test_a_usage_error_in_json_is_one_document_on_stdout() -> None:
    ran = handrail("list", "--json", "--bogus")
    assert ran.returncode == 2
    assert json.loads(ran.stdout) == snapshot(
        {"error": {"code": "usage", "message": "no such option '--bogus'", "next": "handrail list --help"}}
    )
    assert ran.stderr == ""


def test_commands_complete_without_being_loaded() -> None:
    ran = handrail(COMP_WORDS="handrail i", COMP_CWORD="1", _HANDRAIL_COMPLETE="bash_complete")
    assert ran.stdout.split() == [
        "plain,init",
        "plain,inbox",
        "plain,import-run",
        "plain,inspect",
        "plain,import",
        "plain,issues",
    ]


FOUND = Diagnostic(Severity.ERROR, "unknown-key", "unknown key 'x'", "w.yaml", 1, 1, 2, "x: 1")
ERRORS: list[tuple[HandrailError, int]] = [
    (UsageError("wrong"), 2),
    (NotFound("no workflow 'x'", next_step="handrail list"), 2),
    (Untrusted("not trusted"), 3),
    (InvalidWorkflow("invalid", [FOUND]), 4),
    (EnvironmentFault("disk full"), 1),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
def test_each_error_has_its_exit_code_and_says_what_to_do_next(
    error: HandrailError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(error, as_json=False) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert f"error: {error.message}\n" in click.unstyle(said.err)
    assert ("next: " in said.err) == (error.next_step is not None)


@pytest.mark.parametrize(("error", "code"), ERRORS)
def test_each_error_is_a_document_in_json_mode(
    error: HandrailError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show(error, as_json=True) == code
    said = capsys.readouterr()
    assert said.err == ""
    told = json.loads(said.out)["error"]
    assert (told["code"], told["message"], told["next"]) == (error.code, error.message, error.next_step)


def test_an_invalid_workflow_shows_its_diagnostics_first(capsys: pytest.CaptureFixture[str]) -> None:
    show(InvalidWorkflow("'w.yaml' is invalid", [FOUND], next_step="handrail validate w.yaml"), as_json=False)
    assert click.unstyle(capsys.readouterr().err) == snapshot("""\
w.yaml:1:1: error: unknown key 'x' [unknown-key]
    1 | x: 1
      | ^
error: 'w.yaml' is invalid
next: handrail validate w.yaml
""")


def test_an_internal_error_says_where_it_can_be_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HANDRAIL_DEBUG", raising=False)
    assert show(KeyError("x"), as_json=False) == 1
    assert click.unstyle(capsys.readouterr().err) == snapshot("""\
error: internal error: KeyError: 'x'
next: this is a bug in Handrail; run it again with HANDRAIL_DEBUG=1 and report the output to its issue tracker
""")


def test_the_traceback_of_an_internal_error_is_shown_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_DEBUG", "1")
    try:
        raise KeyError("x")
    except KeyError as error:
        show(error, as_json=True)
    said = capsys.readouterr()
    assert "Traceback" in said.err
    assert json.loads(said.out)["error"]["code"] == "internal"


def test_a_refusal_of_the_machine_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert show(PermissionError(13, "Permission denied", "/x/\x1b[31m"), as_json=False) == 1
    assert click.unstyle(capsys.readouterr().err) == "error: /x/␛[31m: permission denied\n"


def test_a_folder_that_was_removed_is_said_so(tmp_path: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && "{HANDRAIL}" list'
    ran = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=CLEAN, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "error: the current folder no longer exists\n" in ran.stderr


def test_an_interruption_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    assert show(click.Abort(), as_json=False) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    script = f'"{HANDRAIL}" schema | head -c 1 >/dev/null; echo "${{PIPESTATUS[0]}}"'
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=CLEAN)
    assert ran.stdout in {"0\n", "1\n"}
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr


def test_a_terminal_without_unicode_still_gets_its_text() -> None:
    ran = handrail("schema", PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
