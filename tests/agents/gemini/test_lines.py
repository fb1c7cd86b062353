"""What is read from the lines of Gemini CLI, as it printed them."""

import json
from pathlib import Path

import pytest

from handrail.agents.gemini.adapter import GeminiAgent
from handrail.agents.gemini.lines import GeminiLines, describe_line
from handrail.errors import NotFound, UsageError
from handrail.ports.agents import AgentCall, AgentOutcome, Usage
from handrail.ports.processes import Ended, Gone
from support.places import RECORDED

GEMINI = RECORDED / "gemini"


WELL = Ended(0)


def read(name: str, ended: Ended | Gone = WELL) -> tuple[AgentOutcome, list[str]]:
    reader = GeminiLines()
    shown = [reader.feed(line) for line in (GEMINI / f"{name}.jsonl").read_bytes().splitlines()]
    return reader.outcome(ended), [each for each in shown if each]


def call(workspace: Path, **changes: object) -> AgentCall:
    asked = {"run": "r", "address": "one", "turn": 1, "prompt": "do it", "workspace": str(workspace), **changes}
    return AgentCall(**asked)  # pyright: ignore[reportArgumentType] - the values of a test


@pytest.fixture
def gemini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GeminiAgent:
    program = tmp_path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return GeminiAgent(system=tmp_path / "etc")


def test_an_edit_is_read_with_its_words_session_and_tokens() -> None:
    outcome, shown = read("edit")
    assert (outcome.status, outcome.text, outcome.message) == ("ok", "done it", "")
    assert outcome.session == "6934a52f-a770-433c-be25-1f6030e0e84c"
    assert outcome.usage == Usage(2000, 200, 0)
    assert outcome.cost is None
    assert shown == ["run_shell_command echo hi > a.txt", "done it"]


def test_a_conversation_that_goes_on_counts_what_this_call_took() -> None:
    outcome, _ = read("again")
    assert (outcome.text, outcome.usage) == ("second", Usage(1000, 100, 0))


def test_a_denied_tool_is_named() -> None:
    outcome, _ = read("read")
    assert (outcome.status, outcome.message) == ("ok", "denied: write_file")


def test_errors_of_the_service_are_told_apart() -> None:
    refused, _ = read("e400", Ended(144))
    assert (refused.status, refused.message) == ("api_error", "bad thing")
    login, _ = read("e401", Ended(145))
    assert (login.status, login.message) == ("auth", "no key")


def test_a_limit_is_known_by_the_exit_code_and_not_by_the_advice_after_it() -> None:
    outcome, _ = read("e429", Ended(173))
    assert (outcome.status, outcome.message) == ("rate_limited", "slow down")


def test_what_it_breaks_off_or_what_comes_to_nothing_is_no_success() -> None:
    outcome, _ = read("loop")
    assert (outcome.status, outcome.message) == ("limit", "Loop detected, stopping execution")
    reader = GeminiLines()
    reader.feed(b'{"type": "result", "status": "success"}')
    assert reader.outcome(Ended(0)).status == "no_output"


def test_a_stream_that_breaks_off_is_the_network() -> None:
    outcome, _ = read("cut")
    assert (outcome.status, outcome.message) == ("network", "Model stream ended without a finish reason.")


def test_a_call_without_a_result_crashed_whatever_the_exit_code_says() -> None:
    outcome, _ = read("hang", Ended(0))
    assert (outcome.status, outcome.message) == ("crashed", "the agent ended with exit code 0 and returned no result")
    assert outcome.session == "4d347ef7-79f3-4652-9495-6f6a8947f7fd"
    assert read("hang", Gone())[0].status == "crashed"


@pytest.mark.parametrize(("code", "status"), [(41, "auth"), (42, "api_error"), (53, "limit"), (130, "cancelled")])
def test_an_end_without_a_word_is_read_from_the_exit_code(code: int, status: str) -> None:
    assert GeminiLines().outcome(Ended(code)).status == status


def test_a_quota_says_when_it_is_over() -> None:
    body = {"error": {"code": 429, "message": "You exceeded your current quota", "details": [{"retryDelay": "34s"}]}}
    said = {"type": "result", "status": "error", "error": {"message": f"[API Error: {json.dumps(body)}]"}}
    reader = GeminiLines()
    reader.feed(json.dumps(said).encode())
    outcome = reader.outcome(Ended(173))
    assert (outcome.status, outcome.retry_after) == ("quota", 34.0)


def test_a_glimpse_shows_the_tool_or_the_words() -> None:
    lines = (GEMINI / "edit.jsonl").read_bytes().splitlines()
    assert [describe_line(each) for each in lines] == [
        None,
        None,
        "run_shell_command echo hi > a.txt",
        None,
        "done it",
        None,
    ]
    assert describe_line(b"no json") is None


def test_access_read_is_a_policy_that_counts_most(gemini: GeminiAgent, tmp_path: Path) -> None:
    launch = gemini.launch(call(tmp_path, access="read", model="gemini-3-pro", session="s1"), str(tmp_path / "call"))
    assert launch.argv[1:] == (
        "--output-format=stream-json",
        "--approval-mode=yolo",
        "--skip-trust",
        "--model=gemini-3-pro",
        "--resume=s1",
        f"--admin-policy={tmp_path / 'call' / 'policy.toml'}",
    )
    assert launch.stdin == b"do it"
    policy = (tmp_path / "call" / "policy.toml").read_text()
    assert "write_file" not in policy
    assert 'toolName = ["*"]\ndecision = "deny"' in policy


def test_lists_of_tools_take_common_names_and_its_own(gemini: GeminiAgent, tmp_path: Path) -> None:
    asked = call(tmp_path, access="full", disallowed_tools=("Bash", "web_fetch"))
    gemini.launch(asked, str(tmp_path / "call"))
    assert (tmp_path / "call" / "policy.toml").read_text() == (
        '[[rule]]\ntoolName = ["run_shell_command", "web_fetch"]\ndecision = "deny"\npriority = 999\n'
    )
    gemini.launch(call(tmp_path, access="full", no_comment=True), str(tmp_path / "call"))
    assert '"mcp_linear_create_comment"' in (tmp_path / "call" / "policy.toml").read_text()
    with pytest.raises(UsageError, match="gemini has no tool 'Bsh', did you mean 'Bash'"):
        gemini.launch(call(tmp_path, disallowed_tools=("Bsh",)), str(tmp_path / "call"))


def test_edit_needs_no_policy_and_those_of_the_machine_make_others_impossible(
    gemini: GeminiAgent, tmp_path: Path
) -> None:
    (tmp_path / "etc" / "policies").mkdir(parents=True)
    (tmp_path / "etc" / "policies" / "ours.toml").write_text("")
    assert not any("--admin" in word for word in gemini.launch(call(tmp_path), str(tmp_path / "call")).argv)
    with pytest.raises(UsageError, match="override those of a single call"):
        gemini.launch(call(tmp_path, access="read"), str(tmp_path / "call"))


def test_a_missing_program_is_said_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotFound, match="there is no `gemini` on the PATH") as caught:
        GeminiAgent().launch(call(tmp_path), str(tmp_path))
    assert "npm install -g @google/gemini-cli" in (caught.value.next_step or "")
