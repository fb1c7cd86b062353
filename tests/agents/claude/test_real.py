"""Runs whose steps the real Claude Code performs, against a scripted model on loopback."""

import json
import os
import signal
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from handrail.cli.render.run_end import final_lines
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_document import run_document
from handrail.testing.models.scripts import Action, Call, Cut, Fail, Hang, Say, Shell, Structured
from handrail.wiring.session import open_run_session
from support.agents.claude_steps import step, write
from support.agents.opened_rooms import Open, opened, real_agents
from support.agents.real_agents import hide
from support.agents.real_room import NOW, RealRoom
from support.moved_time import MovedTime

__all__ = ["opened", "real_agents"]
pytestmark = pytest.mark.system("claude", "codex")
BIG = 2_000_000
KILLED = "the agent was killed by SIGKILL before it returned a result"


def denied(room: RealRoom, run: str) -> list[str]:
    """The tools that were denied, each with its target, as the transcript's last result has it."""
    result = json.loads(room.transcript(run)[-1])
    return [f"{each['tool_name']} {each['tool_input']['file_path']}" for each in result["permission_denials"]]


def said(room: RealRoom, *words: str) -> str:
    """What a command says about the runs of a room."""
    return CliRunner().invoke(cli, words, env={"HANDRAIL_HOME": str(room.root), "COLUMNS": "400"}).output


def last_words(room: RealRoom, run: str) -> list[str]:
    """What is said of a run when it is over."""
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("HANDRAIL_HOME", str(room.root))
        with open_run_session() as session:
            return final_lines(session, run, run_document(session.log, run))


def files(room: RealRoom, run: str) -> list[str]:
    return sorted(each.name for each in room.tree(run).iterdir())


def test_a_file_is_edited_in_the_work_tree_and_the_call_is_priced(opened: Open) -> None:
    room = opened(a=[write("a.txt", "hello\n"), Shell("wc -l a.txt > b.txt"), Say("All done.")])
    state = room.run(step("a", "model: sonnet, system_prompt: Be PRECISE-ABOVE-ALL., output: said"))
    assert (state.status, state.names["said"]) == ("succeeded", "All done.")
    assert (room.tree(state.run) / "a.txt").read_text() == "hello\n"
    assert (room.tree(state.run) / "b.txt").read_text() == "1 a.txt\n"
    assert not (room.repo / "a.txt").exists()
    asked = room.model.asked("a")
    assert len(asked) == 3
    assert "PRECISE-ABOVE-ALL" in json.dumps(asked[0]["system"])
    assert "sonnet" in str(asked[0]["model"])
    spent = room.spent(state.run)
    assert (spent["tokens"], spent["estimated"], spent["unpriced"]) == (3300, 0.0, 0)
    assert spent["usd"] > 0


def test_a_result_is_given_in_its_shape_and_a_missing_one_is_asked_for_again(opened: Open) -> None:
    room = opened(a=[Structured({"count": 5})], b=[Say("five")])
    good = room.start(step("a", "returns: {count: int}, output: found"))
    bad = room.start(step("b", "returns: {count: int}, output: found"))
    room.drive()
    assert (room.state(good).status, room.state(good).names["found"]) == ("succeeded", {"count": 5})
    assert room.state(bad).status == "blocked"
    assert "does not have the required form" in room.ending(bad).error


def test_who_may_only_read_cannot_write_by_any_tool(opened: Open) -> None:
    script = [
        write("a.txt"),
        Shell("echo x > b.txt"),
        Shell("git diff --output=c.txt"),
        Call("Task", {"description": "d", "prompt": "[[s:sub]]", "subagent_type": "general-purpose"}),
        Shell("git status --short"),
        Say("done"),
    ]
    room = opened(a=script, sub=[write("d.txt"), Say("sub")])
    planted = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch planted"}]}]}}
    room.commit(".claude/settings.json", json.dumps({"disableAllHooks": True, **planted}))
    room.commit("CLAUDE.md", "Mind the SEMICOLONS.\n")
    state = room.run(step("a", "access: read"))
    assert state.status == "succeeded"
    assert files(room, state.run) == [".claude", ".git", "CLAUDE.md"]
    assert "Mind the SEMICOLONS." in json.dumps(room.model.asked("a")[0]["system"])
    assert room.ending(state.run).details["denied"] == (
        f"denied: Write {room.tree(state.run)}/a.txt; Bash echo x > b.txt; Bash git diff --output=c.txt"
    )
    assert "may only read" in json.dumps(room.model.asked("a")[1]["messages"])
    kept = f"Write {room.tree(state.run)}/a.txt; Bash echo x > b.txt; Bash git diff --output=c.txt"
    assert f"  denied     {kept}\n" in said(room, "show", state.run, "one")
    assert f"succeeded, though it was denied {kept}\n" in said(room, "why", state.run, "one")
    assert f"  denied: one ({kept})" in last_words(room, state.run)


def test_who_may_edit_cannot_write_files_outside_and_a_denied_tool_is_denied(opened: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    script = [write(str(outside)), write("in.txt"), Call("WebSearch", {"query": "x"}), Shell("touch sh"), Say("done")]
    room = opened(a=script)
    state = room.run(step("a", "disallowed_tools: [WebSearch, Bash]"))
    assert state.status == "succeeded"
    assert not outside.exists()
    assert files(room, state.run) == [".git", "in.txt"]
    offered = {each["name"] for each in cast("list[dict[str, str]]", room.model.asked("a")[0]["tools"])}
    assert "Write" in offered
    assert not {"WebSearch", "Bash"} & offered
    assert denied(room, state.run) == [f"Write {outside}"]


def test_settings_of_the_repository_cannot_switch_the_rules_off(opened: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    room = opened(a=[write(str(outside)), write("in.txt"), Say("done")])
    settings = {"disableAllHooks": True, "permissions": {"allow": ["Write(//**)"], "defaultMode": "bypassPermissions"}}
    room.commit(".claude/settings.json", json.dumps(settings))
    state = room.run("{name: one, agent: claude, prompt: '/help [[s:a]]'}")
    assert (state.status, len(room.model.asked("a"))) == ("succeeded", 3)
    assert not outside.exists()
    assert denied(room, state.run) == [f"Write {outside}"]


def test_an_agent_that_is_not_installed_needs_a_person(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    room = opened()
    hide("claude", room.home.root / "others", monkeypatch)
    state = room.run(step("a"))
    assert (state.status, "is not installed" in state.message) == ("blocked", True)


def test_one_turn_is_one_request_and_its_text_is_the_answer(opened: Open) -> None:
    room = opened(a=[Shell("touch ran"), Say("never said")], b=[Say("only words")])
    tools, words = room.start(step("a", "single_turn: true")), room.start(step("b", "single_turn: true, output: said"))
    room.drive()
    assert (room.state(tools).status, len(room.model.asked("a"))) == ("succeeded", 1)
    assert room.state(words).names["said"] == "only words"


def test_a_conversation_goes_on_and_is_charged_only_for_what_is_new(opened: Open) -> None:
    room = opened(a=[Say("It is 42.")], b=[Say("As I said.")])
    state = room.run(step("a"), step("b", "session: one", name="two"))
    assert state.status == "succeeded"
    assert "It is 42." in json.dumps(room.model.asked("b")[0]["messages"])
    first, second = room.spent(state.run), room.spent(state.run, "two")
    assert (first["tokens"], second["tokens"]) == (1100, 1100)
    assert first["usd"] == pytest.approx(second["usd"])
    result: dict[str, Any] = json.loads(room.transcript(state.run)[-1])
    assert result["total_cost_usd"] == pytest.approx(2 * first["usd"])


def test_what_the_service_refuses_ends_the_step_as_what_it_is(opened: Open) -> None:
    wait = (("retry-after", "2"),)
    room = opened(
        e401=[Fail(401, "invalid x-api-key")] * 3,
        e429=[Fail(429, "slow down", wait)] * 3,
        e500=[Fail(500, "broken")] * 3,
        e529=[Fail(529, "overloaded")] * 3,
        cut=[Cut()] * 3,
        limit=[Fail(429, f"Claude AI usage limit reached|{NOW + 600:.0f}")] * 3,
    )
    started = {name: room.start(step(name)) for name in room.model.scripts}
    room.drive()
    found = {name: (room.state(run), room.ending(run).details) for name, run in started.items()}
    assert {name: (state.status, told["agent_status"]) for name, (state, told) in found.items()} == {
        "e401": ("blocked", "auth"),
        "e429": ("waiting", "rate_limited"),
        "e500": ("blocked", "api_error"),
        "e529": ("waiting", "overloaded"),
        "cut": ("waiting", "network"),
        "limit": ("waiting", "quota"),
    }
    assert found["e429"][0].until == NOW + 2
    assert found["limit"][0].reason == "quota"


def test_after_a_usage_limit_the_conversation_goes_on_where_it_was(opened: Open) -> None:
    script: list[Action] = [Shell("echo half of it"), Fail(429, "Claude AI usage limit reached|1800000600")]
    room = opened(a=script)
    state = room.run(step("a"))
    assert (state.status, state.reason) == ("waiting", "quota")
    met = room.ending(state.run).details["session"]
    script[1] = Say("The other half.")
    room.now = (state.until or 0) + 1
    room.drive()
    state = room.state(state.run)
    assert (state.status, state.steps["one"].summary, state.steps["one"].session) == (
        "succeeded",
        "The other half.",
        met,
    )
    assert "half of it" in json.dumps(room.model.asked("a")[-1]["messages"])


def test_an_agent_that_hangs_is_ended_when_its_time_is_up(opened: Open, moved_time: MovedTime) -> None:
    room = opened(a=[Hang()])
    run = room.start(step("a", "timeout: 1h"))
    room.during(lambda: moved_time.move(3601), lambda: bool(room.model.asked("a")))
    assert room.state(run).status == "blocked"
    assert room.ending(run).details["agent_status"] == "timeout"
    assert room.marked(run) == {}


def test_a_line_of_megabytes_is_kept_and_read(opened: Open) -> None:
    room = opened(a=[write("big.txt", "x" * BIG), Say("written")])
    state = room.run(step("a", "output: said"))
    assert (state.status, state.names["said"]) == ("succeeded", "written")
    assert (room.tree(state.run) / "big.txt").stat().st_size == BIG
    assert max(map(len, room.transcript(state.run))) > BIG


def test_an_agent_that_is_killed_has_crashed(opened: Open) -> None:
    room = opened(a=[Hang()])
    run = room.start(step("a"))

    def kill() -> None:
        os.kill(next(pid for pid, program in room.marked(run).items() if program == "claude"), signal.SIGKILL)

    room.during(kill, lambda: bool(room.model.asked("a")))
    assert room.state(run).status == "blocked"
    assert room.ending(run).error == "the agent crashed: " + KILLED


def test_a_stop_leaves_no_process_also_none_that_escaped(opened: Open) -> None:
    room = opened(a=[Shell("setsid sleep 1000 >/dev/null 2>&1 & echo"), Hang()])
    run = room.start(step("a"))

    def stop() -> None:
        assert "sleep" in room.marked(run).values()
        runs.stop(room.writer, run, "me")

    room.during(stop, lambda: len(room.model.asked("a")) == 2)
    assert room.state(run).status == "cancelled"
    assert room.marked(run) == {}
