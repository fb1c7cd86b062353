"""The next steps of runs that end with gaps, denials or an interruption, and of what was cut off, typed as printed."""

import os
import signal
import sqlite3
import sys
from typing import Any

import pytest

from handrail.cli.main import cli
from handrail.engine.fold.guided import block_abandoned_step
from handrail.errors import EnvironmentFault, LogConflict, UsageError, WorkspaceFault
from handrail.model.actors import Actor
from handrail.model.history.run_state import Pending, update_state
from handrail.operations.driving.handover import HandoverResult
from handrail.operations.runs.lease import acquire_lease
from handrail.operations.runs.refusals import RefusedCommand, record_attempt
from handrail.operations.views.attach import attach
from handrail.ports.agents import Project
from handrail.ports.hash_chain import link
from handrail.ports.log import Head, NewEvent
from handrail.runtime.handlers.agents.project_files import Verdict, refusal
from handrail.runtime.history import state_of
from handrail.serve.mcp.step_tool_calls import open_call_handler
from handrail.wiring.session import open_session
from handrail.workspace.git.data_places import DataLayout
from handrail.workspace.worktrees.records import require_own
from support.cli.running import ASKING, SLOW, Runs, until
from support.cli.shop import GOOD
from support.cli.team import Team
from support.cli.terminals import shown_on_terminal
from support.next_steps.follow import Shell, follow, in_a_shell, in_process
from support.runtime.guided_flows import flow, notes, step

pytestmark = pytest.mark.system  # takes long: many processes of its own

PLAIN = "name: NAME\nsteps:\n  - {name: one, command: 'echo one'}\n"
EDITS = "name: NAME\nsteps:\n  - {name: edit, command: 'echo changed > app.txt; echo new > new.txt'}\n"
LONG = """\
name: NAME
steps:
  - {name: many, command: seq 99, output: many}
  - {name: ok, type: approval, show: [many]}
"""
REVIEWS = """\
name: NAME
steps:
  - {name: ok, type: approval, message: Go?}
  - {name: review, type: agent-loop, reviewer: review-changes, fixer: apply-findings, max_iterations: 2}
"""
WAITS = SLOW.replace("test -e go || exec sleep 300", "until test -e go; do sleep 0.1; done")


def guided(team: Team, text: str, script: dict[str, Any]) -> None:
    team.runs.shop.write(".handrail/workflows/flow.json", text)
    assert team.runs.call("trust", "flow", "--yes").exit_code == 0
    team.script("flow", script)


def test_a_workflow_that_was_reviewed_against_another_spec_is_checked_and_stamped(runs: Runs) -> None:
    runs.add("old", GOOD.replace("input:", "validated_against_spec: 99\ninput:"))
    said = runs.text("list")
    follow(in_process(runs), said, "handrail lint {}, then handrail stamp {}", shows="old")
    follow(in_process(runs), said, "handrail lint {}, then handrail stamp {}", at=1, shows="old")
    assert "reviewed against another" not in runs.text("list")


def test_a_list_of_files_that_is_not_trusted_is_shown_by_trust(team: Team) -> None:
    team.add("plain", PLAIN)
    team.write(".worktreeinclude", "*.env\n")
    team.git("add", "-A")
    team.git("commit", "-qm", "Name files")
    said = team.run("plain")
    follow(
        in_process(team.runs),
        said,
        "{} is not used: {}; handrail trust . shows it",
        code=3,
        shows=".worktreeinclude",
    )


def test_what_a_run_went_on_without_is_shown(team: Team) -> None:
    steps = (step("plan", requireConfirmation=True), step("end", requireConfirmation=True))
    guided(team, flow(*steps), {"plan": [notes()], "end": [notes()]})
    team.run("flow", code=3)
    team.text("prefer", "flow-1", "--autonomy", "full_auto_never_stop")
    said = team.text("approve", "flow-1")
    follow(in_process(team.runs), said, "{} gap{}: see handrail show {}", shows="gap")


def test_a_capability_that_an_agent_lacks_is_given_to_it(team: Team) -> None:
    seen = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "method": "probe"}
    lacks = {**seen, "status": "unavailable", "evidence": "tried it"}
    has = {**seen, "status": "available", "evidence": "tried it"}
    turns = {"plan": [notes(artifacts=[lacks]), notes(artifacts=[has])]}
    guided(team, flow(step("plan"), capabilities={"web_browsing": "required"}), turns)
    said = team.run("flow", code=3)
    follow(
        in_process(team.runs),
        said,
        "choose an agent that has {}, or grant it access, then handrail resume {}",
        shows="flow-1 succeeded",
    )


def test_a_step_that_its_performer_left_is_taken_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.add("reviews", REVIEWS)
    team.run("reviews", code=3)
    monkeypatch.setenv("HANDRAIL_HOME", str(team.runs.shop.home))
    with open_session() as session:
        # Older versions handed such steps out too.
        pending = Pending(9, "review", "step", "agent-loop")
        state = update_state(state_of(session.log, "reviews-1"), status="running", pending=pending)
        blocked = block_abandoned_step(state, 0.0)
    assert blocked is not None
    follow(
        in_process(team.runs),
        blocked.next_step,
        "take the run, then complete the step yourself: handrail take {}",
        shows="continueToken",
    )


def test_a_run_that_was_cut_off_goes_on_or_is_stopped_before_its_work_is_taken(team: Team) -> None:
    team.add("slow", WAITS)
    for number in (1, 2):
        process = team.runs.process("run", "slow")
        until(lambda run=f"slow-{number}": "wait" in team.runs.call("show", run).output)
        process.kill()
        process.communicate()
    said = team.text("merge", "slow-1", code=2)
    for tree in (team.runs.shop.home / "data").glob("worktrees/*/slow-1"):
        (tree / "go").touch()
    follow(in_process(team.runs), said, "handrail resume {}, or handrail stop {}", shows="slow-1")
    said = team.text("merge", "slow-2", code=2)
    follow(in_process(team.runs), said, "handrail resume {}, or handrail stop {}", at=1, shows="slow-2 stopped by ann")


def test_a_run_that_is_driven_is_taken_from_its_driver(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.add("slow", WAITS)
    process = team.runs.process("run", "slow")
    until(lambda: "wait" in team.runs.call("show", "slow-1").output)
    monkeypatch.setenv("HANDRAIL_HOME", str(team.runs.shop.home))
    with open_session() as session, pytest.raises(LogConflict) as refused:
        acquire_lease(session.log, "slow-1", "connected agent x")
    follow(
        in_process(team.runs), str(refused.value.next_step), "handrail take {}, then try again", shows="continueToken"
    )
    team.text("stop", "slow-1")
    process.communicate(timeout=60)


def test_an_attempt_of_an_agent_leads_to_why(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    monkeypatch.setenv("HANDRAIL_HOME", str(runs.shop.home))
    with open_session() as session:
        record_attempt(session.writer, RefusedCommand(Actor("agent", "ask-1/draft"), "approve", "ask-1"))
    follow(in_process(runs), runs.text("status"), "! {}  handrail why {}", shows="approve ask-1")


def test_the_rest_of_a_long_value_is_shown(team: Team) -> None:
    team.add("long", LONG)
    said = shown_on_terminal(team.runs, "run", "long", typed=b"approve\n").text.replace("\x1b[K", "")
    follow(in_process(team.runs), said, ": handrail show {}", shows="many")


def test_an_event_that_cannot_be_read_is_cut_off_by_the_doctor(runs: Runs) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    connection = sqlite3.connect(runs.shop.home / "data" / "handrail.db")
    seq, kind, version = connection.execute("SELECT seq, kind, version FROM events ORDER BY seq DESC").fetchone()
    (before,) = connection.execute("SELECT hash FROM events WHERE seq = ?", (seq - 1,)).fetchone()
    head = link("ask-1", Head(seq - 1, before), NewEvent(kind, version, b"{}"))
    connection.execute("UPDATE events SET payload = x'7b7d', hash = ? WHERE seq = ?", (head.hash, seq))
    connection.execute("UPDATE streams SET hash = ?", (head.hash,))
    connection.execute("DELETE FROM checkpoints")
    connection.commit()
    connection.close()
    follow(
        in_process(runs),
        runs.call("show", "ask-1").output,
        "`handrail doctor {} --repair` cuts the run back to what can be read, and keeps a copy of the rest",
        shows="1 set aside",
    )


def test_an_issue_that_cannot_be_read_is_cut_back_by_the_doctor(runs: Runs) -> None:
    issue = runs.json("issues", "create", "It crashes")["id"]
    runs.text("issues", "comment", issue, "me too")
    connection = sqlite3.connect(runs.shop.home / "data" / "handrail.db")
    stream = f"issue:local#{issue}"
    rows = connection.execute("SELECT seq, kind, version, hash FROM events WHERE stream = ? ORDER BY seq", (stream,))
    *_, (_, _, _, before), (seq, kind, version, _) = rows.fetchall()
    head = link(stream, Head(seq - 1, before), NewEvent(kind, version, b"{}"))
    connection.execute(
        "UPDATE events SET payload = x'7b7d', hash = ? WHERE stream = ? AND seq = ?", (head.hash, stream, seq)
    )
    connection.execute("UPDATE streams SET hash = ? WHERE name = ?", (head.hash, stream))
    connection.commit()
    connection.close()
    follow(
        in_process(runs),
        runs.call("issues", "show", issue).output,
        "let the doctor cut the issue back to what can be read: handrail doctor --repair",
        shows=issue,
    )
    assert "It crashes" in runs.text("issues", "show", issue)


def applied_half(team: Team) -> None:
    """Apply the run, and be killed in the middle of it."""
    child = os.fork()
    if child == 0:
        left = [2]

        def count(event: str, words: tuple[object, ...]) -> None:
            if event == "os.rename" and any("handrail-apply" in str(each) for each in words):
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            os.environ["HANDRAIL_HOME"] = str(team.runs.shop.home)
            cli(["apply", "edits-1"])
        finally:
            os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_an_apply_that_was_cut_off_is_finished_or_taken_back(team: Team) -> None:
    team.add("edits", EDITS)
    team.run("edits")
    applied_half(team)
    said = team.runs.call("doctor").output
    follow(
        in_process(team.runs),
        said,
        "handrail apply {} finishes it, handrail apply {} --undo reverts it",
        shows="Applied",
    )
    assert (team.read("app.txt"), team.read("new.txt")) == ("changed\n", "new\n")
    follow(
        in_process(team.runs),
        said,
        "handrail apply {} finishes it, handrail apply {} --undo reverts it",
        at=1,
        shows="Undid the changes",
    )
    assert team.read("app.txt") == "one\ntwo\n"


def test_the_worktree_of_another_run_goes_with_that_run(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.add("edits", EDITS)
    team.run("edits")
    monkeypatch.setenv("HANDRAIL_HOME", str(team.runs.shop.home))
    (path,) = (team.runs.shop.home / "data").glob("worktrees/*/edits-1")
    with open_session() as session, pytest.raises(WorkspaceFault) as refused:
        require_own(DataLayout(session.system.folder), path, "edits-2")
    said = str(refused.value.next_step)
    follow(in_process(team.runs), said, "it is removed with its run: handrail discard {}", shows="edits-1")
    assert not path.exists()


def test_the_files_that_configure_an_agent_are_looked_at_with_trust(team: Team) -> None:
    team.write(".mcp.json", "{}")
    verdict = Verdict(Project(), (), (".mcp.json",))
    hint = refusal("opencode", verdict, str(team.root)).hint
    follow(in_process(team.runs), hint, "review them, then: handrail trust {}", code=3, shows=".mcp.json")


def test_a_background_driver_that_does_not_start_leaves_the_run_to_resume(team: Team) -> None:
    team.add("plain", PLAIN)
    said = team.runs.call("run", "plain", "--detach", HANDRAIL_DRIVER_IDLE="soon").output
    follow(in_process(team.runs), said, "see {}, or: handrail resume", shows="plain-1 succeeded")


def test_a_server_for_the_agent_of_a_step_is_not_for_others(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAIL_HOME", str(team.runs.shop.home))
    with open_session() as session, pytest.raises(UsageError) as refused:
        open_call_handler(session.system, session.place)
    said = str(refused.value.next_step)
    # A client that closes its end at once.
    follow(
        with_closed_stdin(in_a_shell(team.runs)),
        said,
        "this is started by agents whose step has `handrail_tools`; to connect your own agent: handrail mcp",
        shows="",
    )


def with_closed_stdin(shell: Shell) -> Shell:
    return lambda line: shell(f"{line} </dev/null")


TMUX = """\
#!/bin/sh
case "$*" in *-V*) echo tmux 3.4 ;; esac
"""


def test_a_window_that_tmux_does_not_open_leads_to_the_status(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = team.root.parent / "bin"
    folder.mkdir()
    (folder / "tmux").write_text(TMUX)
    (folder / "tmux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HANDRAIL_HOME", str(team.runs.shop.home))
    wait = {"run": ["until test -e go; do sleep 0.1; done"], "say": "done"}
    team.add("agent", "name: NAME\nsteps:\n  - {name: work, prompt: Do the work.}\n", work=[wait])
    process = team.runs.process(
        "run", "agent", "--agent", "scripted", "--script", str(team.root.parent / "agent.script.yaml")
    )
    until(lambda: any((team.runs.shop.home / "data" / "runs").glob("agent-1/*/agent.0/process.json")))
    with open_session() as session:
        with pytest.raises(EnvironmentFault) as refused:
            attach(session.log, session.machine, session.system.folder / "runs", "agent-1", None)
        for tree in (team.runs.shop.home / "data").glob("worktrees/*/agent-1"):
            (tree / "go").touch()
        process.communicate(timeout=60)
        with pytest.raises(UsageError) as over:
            attach(session.log, session.machine, session.system.folder / "runs", "agent-1", None)
    follow(in_process(team.runs), str(refused.value.next_step), "handrail status {}; tmux -L {} ls", shows="agent-1")
    said = str(over.value.next_step)
    follow(in_process(team.runs), said, "handrail status {}; handrail logs {}", shows="agent-1")
    follow(in_process(team.runs), said, "handrail status {}; handrail logs {}", at=1, shows="work")


def test_a_driver_that_takes_no_environment_leaves_that_to_resume(team: Team) -> None:
    team.add("ask", ASKING)
    team.run("ask", code=3)
    said = HandoverResult(1, "gone", "ask-1").warning
    follow(
        in_process(team.runs),
        said,
        "the background driver did not take your environment: agents get its own,"
        " without the logins in your variables; to pass yours to the run: handrail resume {}",
        code=3,
        shows="needs you",
    )
