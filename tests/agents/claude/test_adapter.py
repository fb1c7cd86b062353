"""How Claude Code is started: what stands in its arguments, its environment and its files."""

import json
import os
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.agents.claude.adapter import ClaudeAgent
from handrail.errors import NotFound
from handrail.ports.agents import AgentCall, Launch

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentCall:
    """A call on a machine with a program of the right name."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to("/bin/true")
    (tmp_path / "tree").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return AgentCall(run="r-1", address="a", turn=1, prompt="Do SECRET things.", workspace=str(tmp_path / "tree"))


def launch(call: AgentCall, **changes: Any) -> Launch:
    folder = Path(call.workspace).parent / "call"
    return ClaudeAgent().launch(replace(call, **changes), str(folder))


def words(call: AgentCall, **changes: Any) -> list[str]:
    root = str(Path(call.workspace).parent)
    return [each.replace(root, "ROOT") for each in launch(call, **changes).argv]


def test_a_plain_call(call: AgentCall) -> None:
    assert words(call) == snapshot(
        [
            "ROOT/bin/claude",
            "-p",
            "--output-format=stream-json",
            "--verbose",
            "--settings=ROOT/call/settings.json",
            "--permission-mode=dontAsk",
            "--disallowedTools=EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup,Monitor",
        ]
    )
    assert dict(launch(call).env) == snapshot(
        {
            "CLAUDE_CODE_MAX_RETRIES": "2",
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
    )


def test_the_prompt_is_told_on_the_input_and_stands_in_no_argument(call: AgentCall) -> None:
    made = launch(call)
    assert made.stdin == b"Do SECRET things."
    assert not any("SECRET" in each for each in made.argv)


def test_a_prompt_is_never_a_command_to_claude_code_itself(call: AgentCall) -> None:
    assert launch(call, prompt="/clear all").stdin == b"\n/clear all"


def test_a_call_that_listens_reads_lines_until_its_result(call: AgentCall) -> None:
    made = launch(call, listens=True, prompt="/cost is a word.\nSo is \udce4.")
    assert made.argv[-2:] == ("--input-format=stream-json", "--replay-user-messages")
    assert made.until == '"type":"result"'
    told = json.loads(made.stdin)
    assert (made.stdin.count(b"\n"), told["message"]["content"]) == (1, "\n/cost is a word.\nSo is ?.")
    assert "uuid" not in told
    assert json.loads(ClaudeAgent().encode_message("use tabs", "m-1"))["uuid"] == "m-1"


def test_everything_a_step_asks_is_said(call: AgentCall) -> None:
    asked = {
        "model": "opus",
        "session": "--5e55",
        "single_turn": True,
        "schema": OBJECT,
        "allowed_tools": ("Read", "Bash(npm test:*)", "mcp__db__query"),
        "system_prompt": "x" * 300_000,
        "access": "read",
    }
    assert words(call, **asked) == snapshot(
        [
            "ROOT/bin/claude",
            "-p",
            "--output-format=stream-json",
            "--verbose",
            "--settings=ROOT/call/settings.json",
            "--append-system-prompt-file=ROOT/call/system.md",
            "--setting-sources=user",
            "--permission-mode=dontAsk",
            "--model=opus",
            "--resume=--5e55",
            "--max-turns=1",
            '--json-schema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}',
            "--disallowedTools=EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup,Monitor",
            "--tools=Bash,Read",
            "--allowedTools=Bash(npm test:*)",
        ]
    )
    assert (Path(call.workspace).parent / "call" / "system.md").stat().st_size == 300_000
    assert words(call, disallowed_tools=("WebFetch", "Bash(rm *)"))[-1].endswith(",Monitor,WebFetch,Bash(rm *)")
    quiet = words(call, no_comment=True)[-1].partition("=")[2].split(",")
    assert {"mcp__linear__create_comment", "mcp__github__add_issue_comment", "Bash(gh issue comment:*)"} <= set(quiet)


@pytest.mark.parametrize("schema", [None, True, [], {"type": "array"}, {"enum": [1]}, "x"])
def test_a_shape_that_is_no_map_is_left_to_asking_again(call: AgentCall, schema: Any) -> None:
    assert not any(each.startswith("--json-schema") for each in launch(call, schema=schema).argv)


def test_only_full_access_bypasses_the_checks(call: AgentCall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "IS_SANDBOX" in dict(launch(call, access="full").env)
    assert "--permission-mode=bypassPermissions" in words(call, access="full")
    for changes in ({"access": "read"}, {"access": "edit"}, {"access": "full", "allowed_tools": ("Read",)}):
        assert "IS_SANDBOX" not in dict(launch(call, **changes).env)
        assert "--permission-mode=dontAsk" in words(call, **changes)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "IS_SANDBOX" not in dict(launch(call, access="full").env)


def test_a_private_folder_is_used_where_it_is_asked_for(call: AgentCall) -> None:
    assert "CLAUDE_CONFIG_DIR" not in dict(launch(call).env)
    assert dict(launch(call, options={"home": "/private"}).env)["CLAUDE_CONFIG_DIR"] == "/private"


def test_what_the_repository_tells_is_told_to_who_may_only_read(call: AgentCall) -> None:
    told = Path(call.workspace).parent / "call" / "system.md"
    (Path(call.workspace) / "CLAUDE.md").write_text("Be brief.")
    launch(call, access="edit")
    assert not told.exists()
    launch(call, access="read", system_prompt="Look.")
    assert told.read_text() == "Look.\n\nThe repository's CLAUDE.md says:\n\nBe brief."


def test_a_missing_program_is_named_with_how_to_install_it(call: AgentCall, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/no/such/folder")
    with pytest.raises(NotFound, match="'claude' is not installed") as caught:
        launch(call)
    assert "npm install -g @anthropic-ai/claude-code" in (caught.value.next_step or "")


def passed(name: str, **environ: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in ClaudeAgent().variables_in(environ))


def test_its_vendors_variables_are_passed_and_the_marks_of_an_outer_session_are_not() -> None:
    ours = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "HTTPS_PROXY")
    assert [name for name in ours if not passed(name)] == []
    marks = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "IS_SANDBOX")
    assert [name for name in (*marks, "CLAUDE_PROJECT_DIR", "OPENAI_API_KEY") if passed(name)] == []


@pytest.mark.parametrize(
    ("switch", "name"),
    [
        ("CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY"),
        ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_APPLICATION_CREDENTIALS"),
    ],
)
def test_a_clouds_variables_are_passed_where_the_runs_own_environment_says_that_it_is_used(
    switch: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(switch, "1")
    assert not any(passed(name, **{switch: off}) for off in ("", "0", "false"))
    assert passed(name, **{switch: "1"})
