"""What each key of a turn does, played by the real process."""

import json
import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.authoring.scripts.schema import FAILURES
from handrail.ports.agents import AgentOutcome, Usage
from handrail.processes.process_table import find_marked
from support.agents.agent_room import AgentRoom


def test_an_empty_turn_does_nothing_and_ends_well(room: AgentRoom) -> None:
    played = room.play("[{}]")
    assert (played.outcome.status, played.outcome.text, played.outcome.has_output) == ("ok", "", False)
    assert list(room.workspace.iterdir()) == []


def test_what_it_says_is_shown_and_is_its_last_word(room: AgentRoom) -> None:
    played = room.play("[{say: I found it}]")
    assert (played.outcome.text, played.shown) == ("I found it", ("I found it",))


def test_the_lines_begin_with_the_session_and_end_with_the_result(room: AgentRoom) -> None:
    turn = "[{say: done, output: {a: 1}, usage: {input_tokens: 100, output_tokens: 20, cached_tokens: 7, cost: 0.01}}]"
    played = room.play(turn)
    assert list(played.lines) == snapshot(
        [
            {"type": "session", "session": "scripted-dd6e24ee24a8cbb7"},
            {"type": "text", "text": "done"},
            {
                "type": "result",
                "status": "ok",
                "text": "done",
                "output": {"a": 1},
                "usage": {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 7},
                "cost": 0.01,
                "session": "scripted-dd6e24ee24a8cbb7",
            },
        ]
    )
    assert played.outcome == snapshot(
        AgentOutcome(
            status="ok",
            text="done",
            output={"a": 1},
            has_output=True,
            session="scripted-dd6e24ee24a8cbb7",
            usage=Usage(input_tokens=100, output_tokens=20, cached_tokens=7),
            cost=0.01,
        )
    )


def test_files_are_written_linked_made_executable_and_deleted(room: AgentRoom) -> None:
    (room.workspace / "old.txt").write_text("old")
    (room.workspace / "folder" / "deep").mkdir(parents=True)
    room.play(
        """[{files: {a/b.txt: "hi\\n", old.txt: null, folder: null, absent: null, bin/run: {text: x, executable: true},
        link: {link: a/b.txt}, data.bin: {base64: AP8=}}}]"""
    )
    found = {path.relative_to(room.workspace).as_posix() for path in room.workspace.rglob("*") if not path.is_dir()}
    assert found == {"a/b.txt", "bin/run", "link", "data.bin"}
    assert (room.workspace / "link").readlink() == Path("a/b.txt")
    assert (room.workspace / "data.bin").read_bytes() == b"\0\xff"
    assert os.access(room.workspace / "bin/run", os.X_OK)
    assert not os.access(room.workspace / "a/b.txt", os.X_OK)


def test_a_file_keeps_its_mode_unless_the_script_says_otherwise(room: AgentRoom) -> None:
    program = room.workspace / "run"
    program.write_text("old")
    program.chmod(0o755)
    room.play("[{files: {run: new}}]")
    assert (program.read_text(), os.access(program, os.X_OK)) == ("new", True)
    room.play("[{files: {run: {text: newer, executable: false}}}]")
    assert (program.read_text(), os.access(program, os.X_OK)) == ("newer", False)


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(room: AgentRoom) -> None:
    victim = room.root / "victim"
    victim.write_text("mine")
    (room.workspace / "file").symlink_to(victim)
    room.play("[{files: {file: yours}}]")
    assert (victim.read_text(), (room.workspace / "file").read_text()) == ("mine", "yours")


def test_a_folder_that_leads_out_of_the_workspace_is_not_written_to(room: AgentRoom) -> None:
    (room.root / "outside").mkdir()
    (room.workspace / "out").symlink_to(room.root / "outside")
    played = room.play("[{files: {out/file: x}}]")
    assert (played.outcome.status, played.outcome.message) == ("denied", "out/file leads outside the workspace")
    assert list((room.root / "outside").iterdir()) == []


def test_a_file_that_cannot_be_written_fails_the_call_with_the_reason(room: AgentRoom) -> None:
    played = room.play("[{files: {a: x, a/b: y}}]")
    assert played.outcome.status == "api_error"
    assert "the turn cannot be played" in played.outcome.message


def test_a_turn_is_played_in_its_workspace_wherever_the_program_is_started(room: AgentRoom) -> None:
    elsewhere = room.root / "elsewhere"
    elsewhere.mkdir()
    room.script("work: {files: {a.txt: x}, run: pwd > where}")
    launch = room.agent.launch(room.call(), str(room.root / "call"))
    subprocess.run(launch.argv, cwd=elsewhere, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert list(elsewhere.iterdir()) == []
    assert (room.workspace / "where").read_text().strip() == str(room.workspace)


def test_modules_in_the_workspace_do_not_disturb_the_program(room: AgentRoom) -> None:
    (room.workspace / "json.py").write_text("raise SystemExit('hijacked')")
    assert room.play("[{say: hi}]").outcome.text == "hi"


def test_commands_run_in_order_and_a_failing_one_is_shown_and_not_fatal(room: AgentRoom) -> None:
    played = room.play('[{run: ["echo one > x", "echo oh no >&2; exit 3", "cat x"], say: done}]')
    assert played.outcome.status == "ok"
    assert played.shown == snapshot(
        (
            "Bash: echo one > x",
            """\
Bash: echo oh no >&2; exit 3 (exit code 3)
oh no\
""",
            "Bash: cat x",
            "done",
        )
    )
    told = [(line["type"], line.get("output")) for line in played.lines if line["type"] in ("doing", "tool")]
    assert told == [each for printed in ("", "oh no\n", "one\n") for each in (("doing", None), ("tool", printed))]


def test_a_glimpse_says_what_a_line_shows_the_agent_doing(room: AgentRoom) -> None:
    turn = "[{call_tool: {name: Read, input: {file: a.py}}, files: {b: x}, run: 'true', say: \"\\nI am\\ndone\"}]"
    played = room.play(turn)
    glimpses = [room.agent.describe_line(json.dumps(line).encode()) for line in played.lines]
    assert glimpses == snapshot([None, "Read a.py", "Write b", "Bash true", "Bash true", "I am", None])
    assert [room.agent.describe_line(line) for line in (b"", b"noise", b"[]", b'{"type": "tool"}', b"\xff")] == [
        None
    ] * 5


def test_a_command_that_leaves_something_running_does_not_hold_up_the_turn(room: AgentRoom) -> None:
    assert room.play('[{run: "sleep 600 &", say: done}]').outcome.text == "done"


def test_what_runs_in_the_background_outlives_the_agent_and_carries_its_mark(room: AgentRoom) -> None:
    room.script('work: {background: "echo $$ > pid; exec sleep 600", say: done}')
    launch = room.agent.launch(room.call(), str(room.root / "call"))
    env = {"PATH": os.environ["PATH"], "HANDRAIL_MARK": f"background@{room.root}"}
    subprocess.run(launch.argv, check=True, stdin=subprocess.DEVNULL, capture_output=True, env=env)
    room.until(room.workspace / "pid")
    left = find_marked("HANDRAIL_MARK", f"background@{room.root}")
    assert len(left) == 1
    for pid in left:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("status", [status for status in FAILURES if status != "crashed"])
def test_every_failure_of_the_port_can_be_played(room: AgentRoom, status: str) -> None:
    played = room.play(f"[{{fail: {status}}}]")
    assert (played.outcome.status, played.outcome.message) == (status, f"the script says so: {status}")


def test_a_failure_carries_its_message_and_when_to_try_again(room: AgentRoom) -> None:
    played = room.play("[{fail: {status: rate_limited, retry_after: 5, message: slow down}, usage: {cost: 0.5}}]")
    assert played.outcome == snapshot(
        AgentOutcome(
            status="rate_limited", session="scripted-dd6e24ee24a8cbb7", cost=0.5, message="slow down", retry_after=5
        )
    )


def test_a_failing_turn_leaves_what_it_did_before(room: AgentRoom) -> None:
    played = room.play("[{files: {half.txt: x}, say: working, fail: overloaded, output: 1}]")
    assert (played.outcome.status, played.outcome.text, played.outcome.has_output) == ("overloaded", "working", False)
    assert (room.workspace / "half.txt").exists()


def test_a_crash_is_a_real_one_without_a_result(room: AgentRoom) -> None:
    played = room.play("[{say: hm, fail: {status: crashed, message: out of memory}}]")
    assert "result" not in [line["type"] for line in played.lines]
    assert (played.outcome.status, played.outcome.message) == ("crashed", "out of memory")
    assert played.outcome.session is not None


def test_a_question_ends_the_call_and_names_the_conversation(room: AgentRoom) -> None:
    played = room.play("[{ask: Which database?}]")
    assert (played.outcome.status, played.outcome.question) == ("ok", "Which database?")
    assert played.outcome.session == played.lines[0]["session"]


def test_an_output_that_is_nothing_is_still_an_output(room: AgentRoom) -> None:
    played = room.play("[{output: null}]")
    assert (played.outcome.output, played.outcome.has_output) == (None, True)


def test_without_an_output_a_schema_is_left_to_whoever_asked(room: AgentRoom) -> None:
    played = room.play("[{say: no idea}]", schema={"type": "object"})
    assert (played.outcome.status, played.outcome.has_output) == ("ok", False)


def test_tools_are_told_with_their_input(room: AgentRoom) -> None:
    played = room.play("[{call_tool: [{name: Read, input: {path: x}}, {name: Think}]}]")
    assert played.shown == ("Read: x", "Think")


@pytest.mark.parametrize(
    ("turn", "changes", "message"),
    [
        ("{call_tool: {name: Web}}", {"disallowed_tools": ("Web",)}, "Web was denied: it is one of disallowed_tools"),
        ("{call_tool: {name: Web}}", {"allowed_tools": ("Read",)}, "Web was denied: it is not one of allowed_tools"),
        (
            "{call_tool: {name: mcp__tickets__create_comment}}",
            {"no_comment": True},
            "mcp__tickets__create_comment was denied: the step writes nothing to the tracker (no_comment)",
        ),
        ("{call_tool: {name: list_runs}}", {}, "list_runs was denied: it is not one of handrail_tools"),
        ("{call_tool: {name: Edit}}", {"access": "read"}, "Edit was denied: the step has access read"),
        ("{files: {made: x}}", {"access": "read"}, "Write was denied: the step has access read"),
        ("{run: touch made}", {"access": "read"}, "Bash was denied: the step has access read"),
        ("{background: touch made}", {"access": "read"}, "Bash was denied: the step has access read"),
        ("{run: touch made}", {"disallowed_tools": ("Bash",)}, "Bash was denied: it is one of disallowed_tools"),
    ],
)
def test_what_the_step_forbids_is_denied(room: AgentRoom, turn: str, changes: dict[str, object], message: str) -> None:
    played = room.play(f"[{turn}]", **changes)
    assert (played.outcome.status, played.outcome.message) == ("denied", f"the tool {message}")
    assert not (room.workspace / "made").exists()


def test_reading_is_allowed_with_access_read(room: AgentRoom) -> None:
    played = room.play("[{call_tool: {name: Read}, say: fine, output: [1]}]", access="read")
    assert (played.outcome.status, played.outcome.output) == ("ok", [1])


def test_parts_that_the_prompt_must_hold_are_looked_for(room: AgentRoom) -> None:
    turn = "[{expect_prompt: [two words, zwölf, absent], files: {made: x}}]"
    played = room.play(turn, prompt="here are two words\nand zwölf")
    assert (played.outcome.status, played.outcome.message) == ("api_error", "the prompt does not contain 'absent'")
    assert not (room.workspace / "made").exists()
    assert room.play("[{expect_prompt: two words}]", prompt="two words").outcome.status == "ok"


def test_a_line_of_megabytes_is_read(room: AgentRoom) -> None:
    text = "x" * 900_000
    assert room.play(f"[{{say: {text}}}]").outcome.text == text


def test_a_session_is_the_same_for_the_same_call_and_kept_when_it_goes_on(room: AgentRoom) -> None:
    room.script("default: {repeat: true}")
    calls = [room.call("a"), room.call("a"), room.call("a", turn=2), room.call("b")]
    first, again, second, other = [room.wait(room.start(call)).outcome.session for call in calls]
    assert first == again
    assert len({first, second, other}) == 3
    resumed = room.wait(room.start(replace(room.call("b"), session=first)))
    assert resumed.outcome.session == first


def test_an_interrupted_agent_says_that_it_was(room: AgentRoom) -> None:
    room.script("work: {files: {begun: x}, run: exec sleep 600, say: never}")
    spec = room.start(room.call())
    room.until(room.workspace / "begun")
    outcome = room.end(spec).outcome
    assert (outcome.status, outcome.text, outcome.message) == ("cancelled", "", "it was interrupted")


def test_a_call_that_was_killed_gives_the_same_end_when_it_is_made_again(room: AgentRoom) -> None:
    room.script('work: {files: {a: "1", b: {link: a}, c: null}, run: "test -e go || kill -9 $PPID", say: done}')
    (room.workspace / "c").write_text("old")
    first = room.wait(room.start(room.call())).outcome
    assert (first.status, first.message) == snapshot(
        ("crashed", "the agent was killed by SIGKILL before it returned a result")
    )
    (room.workspace / "a").write_text("torn")
    (room.workspace / "go").touch()
    again = room.wait(room.start(room.call())).outcome
    assert (again.status, again.text, again.session) == ("ok", "done", first.session)
    assert {path.name for path in room.workspace.iterdir()} == {"a", "b", "go"}
    assert (room.workspace / "a").read_text() == "1"
