"""How `bd` is found and called: other programs of that name, errors, odd answers, words from outside."""

import json
from pathlib import Path

import pytest

from handrail.errors import NotFound, TrackerFault, UsageError
from handrail.ports.programs import AskProgram, ProgramAnswer, ProgramCall
from handrail.processes import machine_tools
from handrail.processes.machine_tools import ask_program
from handrail.trackers.beads.program import Bd, clean_line, clean_text, error_in, find_bd, quote_labels, require_id
from support.beads.install import add_beads, ask_double, install_bd, install_program


def answering(output: str, code: int = 0, errors: str = "", problem: str = "") -> AskProgram:
    return lambda _: ProgramAnswer(exit_code=code, output=output, errors=errors, problem=problem)


@pytest.mark.parametrize(
    "output",
    [
        '{"version": "1.3.0", "build": "dev", "schema_version": 1}',
        '{"schema_version": 1, "data": {"version": "0.49.1", "build": "abc", "commit": "1f2e"}}',
    ],
)
def test_bd_is_known_by_its_answer(tmp_path: Path, output: str) -> None:
    found = find_bd(answering(output), str(add_beads(tmp_path)))
    assert isinstance(found, Bd)
    assert found.version in output


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("beads 1.1: detect beads on gel images\n", 0),
        ('{"version": "2.0"}', 0),
        ('{"version": 2, "build": "dev"}', 0),
        ('["1.3.0"]', 0),
        ("", 0),
        ('{"version": "1.3.0", "build": "dev"}', 1),
        ("[" * 100_000, 0),
    ],
)
def test_another_program_of_that_name_is_not_taken_for_it(tmp_path: Path, output: str, code: int) -> None:
    found = find_bd(answering(output, code), str(add_beads(tmp_path)))
    assert found == "the program bd on the PATH is not that of beads"


def test_without_its_folder_or_its_program_beads_is_not_used(tmp_path: Path) -> None:
    assert find_bd(ask_double, str(tmp_path)) == ""
    assert find_bd(ask_double, "") == ""
    assert find_bd(lambda _: None, str(add_beads(tmp_path))) == "bd is not installed"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ProgramAnswer(exit_code=1, output="", errors='{"error": "on stderr", "schema_version": 1}'), "on stderr"),
        (ProgramAnswer(exit_code=1, output='{"error": "on stdout"}', errors="warning"), "on stdout"),
        (ProgramAnswer(exit_code=1, output="", errors='{"schema_version": 1, "data": {"error": "inside"}}'), "inside"),
        (ProgramAnswer(exit_code=1, output="", errors="Error: plain\nUsage: bd\n"), "Error: plain"),
        (ProgramAnswer(exit_code=1, output="", errors="\x1b[31mred\x07\n"), "[31mred"),
    ],
)
def test_an_error_is_read_from_either_stream_and_form(answer: ProgramAnswer, message: str) -> None:
    assert error_in(answer) == message


def test_what_an_older_version_cannot_do_is_refused_with_its_version(tmp_path: Path) -> None:
    old = Bd(answering("", 1, "Error: unknown flag: --set-metadata\n"), str(tmp_path), "0.20.1")
    with pytest.raises(TrackerFault, match=r"bd 0\.20\.1 cannot do this .*--set-metadata"):
        old.call("update", "shop-1")


def test_what_is_no_answer_is_a_fault_and_never_a_guess(tmp_path: Path) -> None:
    def ask_nobody(_: ProgramCall) -> None:
        return None

    for ask in (answering("Tip: use bd!\n"), answering("", problem="it did not answer"), ask_nobody):
        with pytest.raises(TrackerFault):
            Bd(ask, str(tmp_path), "1.3.0").call("list")
    with pytest.raises(NotFound):
        Bd(answering('{"error": "issue x not found"}', 1), str(tmp_path), "1.3.0").call("show", "x")
    assert Bd(answering(" \n"), str(tmp_path), "1.3.0").call_for_records("list") == []


@pytest.mark.parametrize("issue", ["--help", "-x", "", "a b", "a\0b", "../x", "x" * 300])
def test_what_cannot_be_an_id_never_reaches_bd(issue: str) -> None:
    with pytest.raises(NotFound):
        require_id(issue)


def test_control_characters_are_removed_and_labels_are_quoted() -> None:
    assert clean_text("a\0b\x1b[2J\tc\nd\x7f") == "ab[2J\tc\nd"
    assert clean_line(" a\r\nb\tc\0 ") == "a  b c"
    assert quote_labels(["a,b", 'say "hi"']) == '"a,b","say ""hi"""'


def test_a_word_that_no_argument_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--design is too long"):
        Bd(ask_double, str(tmp_path), "1.3.0").call("create", f"--design={'x' * 100_001}")


def test_programs_are_called_without_a_shell_in_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "shop"
    repository.mkdir()
    add_beads(repository)
    monkeypatch.setenv("PATH", install_bd(tmp_path / "bin")["PATH"])
    monkeypatch.delenv("BD_JSON_ENVELOPE", raising=False)
    found = find_bd(ask_program, str(repository))
    assert isinstance(found, Bd)
    title = "--help; $(touch evil) `id` 'x' \"y\""
    (made,) = found.call_for_records("create", f"--title={title}", "--body-file=-", text="-d\n$(id)", actor="ann")
    assert (made["title"], made["description"], made["created_by"]) == (title, "-d\n$(id)", "ann")
    calls = [json.loads(line) for line in (repository / ".beads" / "calls.jsonl").read_text().splitlines()]
    assert calls[-1] == ["create", f"--title={title}", "--body-file=-", "--json", "--actor=ann"]
    assert not (repository / "evil").exists()


def test_a_program_that_hangs_prints_too_much_or_cannot_start_gives_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ProgramCall(name="bd", words=(), folder=str(tmp_path), timeout=0.2)
    monkeypatch.setenv("PATH", install_program(tmp_path / "slow", "exec sleep 300")["PATH"])
    slow = ask_program(call)
    assert slow is not None
    assert "did not answer" in slow.problem
    monkeypatch.setattr(machine_tools, "MAX_OUTPUT", 10)
    monkeypatch.setenv("PATH", install_program(tmp_path / "loud", "echo much more than that")["PATH"])
    loud = ask_program(ProgramCall(name="bd", words=(), folder=str(tmp_path)))
    assert loud is not None
    assert "printed more than" in loud.problem
    gone = ask_program(ProgramCall(name="bd", words=(), folder=str(tmp_path / "gone")))
    assert gone is not None
    assert "could not be started" in gone.problem
    assert ask_program(ProgramCall(name="no-such-bd", words=(), folder=str(tmp_path))) is None
