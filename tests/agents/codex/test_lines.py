"""What is read from the lines that Codex prints: most were recorded from the real one."""

import json
from collections.abc import Mapping
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.codex.errors import kind_of, seconds_left
from handrail.agents.codex.lines import CodexLines, describe_line
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import AgentOutcome, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone
from support.places import RECORDED

CODEX = RECORDED / "codex"
THREAD: dict[str, JsonValue] = {"type": "thread.started", "thread_id": "01a1e2d1"}
WELL, BADLY = Ended(0), Ended(1)
HIGH_DEMAND = "We’re currently experiencing high demand, which may cause temporary errors."
USAGE_LIMIT = (
    "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at "
)
URL = "url: http://127.0.0.1:39851/v1/responses"


def read(*lines: Mapping[str, JsonValue] | bytes, ended: Ended | Gone = WELL) -> AgentOutcome:
    reader = CodexLines()
    for line in lines:
        reader.feed(line if isinstance(line, bytes) else json.dumps(line).encode())
    return reader.outcome(ended)


def recorded(name: str) -> list[bytes]:
    return (CODEX / f"{name}.jsonl").read_bytes().splitlines()


def message(words: str) -> dict[str, JsonValue]:
    return {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": words}}


def command(code: int) -> dict[str, JsonValue]:
    item: JsonValue = {"type": "command_execution", "command": "/bin/bash -lc 'npm test'", "exit_code": code}
    return {"type": "item.completed", "item": item}


def completed(read_: int = 1000, cached: int = 0, written: int = 100) -> dict[str, JsonValue]:
    usage: JsonValue = {"input_tokens": read_, "cached_input_tokens": cached, "output_tokens": written}
    return {"type": "turn.completed", "usage": usage}


def failed(words: str) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    return {"type": "error", "message": words}, {"type": "turn.failed", "error": {"message": words}}


def test_a_completed_turn_gives_the_last_message_the_conversation_and_the_tokens() -> None:
    outcome = read(*recorded("patch"))
    assert outcome.status == "ok"
    assert outcome.text == "I added p.txt.\nThat is all."
    assert outcome.session == "01a1e2da-3743-7f11-9327-027216b8c9c5"
    assert outcome.usage == outcome.total == Usage(3000, 300, 0)
    assert outcome.cost is None


def test_what_came_from_the_cache_is_counted_once() -> None:
    outcome = read(THREAD, message("done"), completed(1000, 900, 10))
    assert outcome.usage == Usage(100, 10, 900)
    assert outcome.usage.tokens == 1010


def test_what_it_does_is_shown_with_the_failures_of_its_commands() -> None:
    reader = CodexLines()
    shown = [text for line in recorded("patch") if (text := reader.feed(line))]
    assert shown == ["edits p.txt", "$ exit 3 (exit code 3)", "I added p.txt.\nThat is all."]


def test_notices_of_new_tries_do_not_end_the_call() -> None:
    outcome = read(*recorded("retries"), ended=BADLY)
    assert (outcome.status, outcome.message) == ("overloaded", HIGH_DEMAND)
    reconnecting = {"type": "error", "message": "Reconnecting... 1/5 (Connection failed)"}
    assert read(THREAD, reconnecting, message("done"), completed()).status == "ok"


def test_a_warning_about_the_model_is_no_work() -> None:
    warning: dict[str, JsonValue] = {"type": "item.completed", "item": {"type": "error", "message": "no metadata"}}
    assert read(THREAD, warning, completed()).status == "no_output"
    assert read(THREAD, warning, message(""), completed()).status == "ok"


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (Ended(1), "the agent ended with exit code 1 and returned no result"),
        (Ended(None, 9), "the agent was killed by SIGKILL before it returned a result"),
        (Gone(), "the agent was stopped from outside before it returned a result"),
    ],
)
def test_without_the_end_of_a_turn_the_call_crashed(ended: Ended | Gone, told: str) -> None:
    outcome = read(THREAD, {"type": "turn.started"}, message("I begin"), ended=ended)
    assert (outcome.status, outcome.message, outcome.session) == ("crashed", told, "01a1e2d1")
    assert outcome.text == "I begin"


def test_a_call_that_is_ended_while_it_tries_to_reach_its_service_failed_for_that() -> None:
    words = "Reconnecting... waiting for network (Connection failed: error sending request)"
    trouble: dict[str, JsonValue] = {"type": "error", "message": words}
    outcome = read(THREAD, trouble, ended=Ended(None, 15))
    assert (outcome.status, outcome.message) == ("network", words)
    assert describe_line(json.dumps(trouble).encode()) == words
    assert read(*recorded("retries")[:-2]).status == "overloaded"
    assert read(THREAD, trouble, message("I am back"), ended=Ended(None, 15)).status == "crashed"


def test_the_last_trouble_says_why_a_call_crashed() -> None:
    outcome = read(THREAD, {"type": "error", "message": "no room on the disk"}, ended=BADLY)
    assert (outcome.status, outcome.message) == ("crashed", "no room on the disk")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (f"unexpected status 401 Unauthorized: no, {URL}", "auth"),
        (f"unexpected status 403 Forbidden: no, {URL}", "auth"),
        ("Missing environment variable: `OPENAI_API_KEY`.", "auth"),
        ("Your access token could not be refreshed. Please log out and sign in again.", "auth"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limited"),
        ("stream disconnected before completion: Rate limit reached for gpt-5.5", "rate_limited"),
        (HIGH_DEMAND, "overloaded"),
        ("Selected model is at capacity. Please try a different model.", "overloaded"),
        (f"unexpected status 503 Service Unavailable: no, {URL}", "overloaded"),
        (f"unexpected status 529 <unknown status code>: no, {URL}", "overloaded"),
        (f"unexpected status 502 Bad Gateway: no, {URL}", "api_error"),
        (f"unexpected status 404 Not Found: no, {URL}", "api_error"),
        ('{"error": {"message": "Invalid schema", "code": "400"}}', "api_error"),
        ("stream disconnected before completion: stream closed before response.completed", "network"),
        ("Connection failed: error sending request", "network"),
        ("Codex ran out of room in the model's context window. Start a new thread.", "limit"),
        (f"{USAGE_LIMIT}6:28 AM.", "quota"),
        ("Quota exceeded. Check your plan and billing details.", "quota"),
    ],
)
def test_the_words_of_a_failed_turn_tell_its_kind(words: str, status: OutcomeStatus) -> None:
    outcome = read(THREAD, *failed(words), ended=BADLY)
    assert (outcome.status, outcome.message) == (status, words)
    assert kind_of(words) == status


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (f"{USAGE_LIMIT}6:28 AM.", 3540),
        (f"{USAGE_LIMIT}Nov 17th, 2026 6:28 AM.", 86400 + 3540),
        (f"{USAGE_LIMIT}5:00 AM.", 0),
        (f"{USAGE_LIMIT}5:99 AM.", None),
        ("You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.", 3 * 86400 + 4 * 3600 + 300),
        ("You've hit your usage limit. Try again later.", None),
        ("Rate limit reached. Please try again in 1.5s.", 1.5),
        ("Rate limit reached. Please try again in 620ms.", 0.62),
    ],
)
def test_the_time_until_another_try_is_read_from_the_words(words: str, seconds: float | None) -> None:
    now = datetime(2026, 11, 16, 5, 30)  # noqa: DTZ001 - Codex tells local times
    assert seconds_left(words, now) == seconds


def test_a_limit_carries_the_time_until_it_ends() -> None:
    later = read(THREAD, *failed("You've hit your usage limit. Try again in 2 hours."), ended=BADLY)
    assert (later.status, later.retry_after) == ("quota", 7200)
    unknown = read(THREAD, *failed("exceeded retry limit, last status: 429 Too Many Requests"), ended=BADLY)
    assert unknown.retry_after is None


def test_a_sandbox_that_does_not_work_is_no_success() -> None:
    tried = {"type": "handrail.sandbox", "exit_code": 101}
    outcome = read(tried, THREAD, command(8), message("done"), completed())
    assert outcome.status == "denied"
    assert "sandbox does not work on this machine" in outcome.message
    assert outcome.usage.tokens == 1100


def test_a_command_that_ran_proves_the_sandbox() -> None:
    tried = {"type": "handrail.sandbox", "exit_code": 1}
    assert read(tried, THREAD, command(0), message("done"), completed()).status == "ok"


@pytest.mark.parametrize(
    ("item", "seen"),
    [
        ({"type": "command_execution", "command": "/bin/bash -lc 'npm test'"}, "$ npm test"),
        ({"type": "command_execution", "command": "echo 'open"}, "$ echo 'open"),
        ({"type": "file_change", "changes": [{"path": "/srv/a.py"}, {"path": "/srv/b.py"}]}, "edits a.py, b.py"),
        ({"type": "mcp_tool_call", "server": "docs", "tool": "find"}, "docs: find"),
        ({"type": "web_search", "query": "codex exec"}, "searches codex exec"),
        ({"type": "agent_message", "text": "\n I look\nat it"}, "I look"),
        ({"type": "todo_list", "items": []}, None),
        ({}, None),
    ],
)
def test_a_glimpse_says_what_it_does(item: dict[str, JsonValue], seen: str | None) -> None:
    assert describe_line(json.dumps({"type": "item.started", "item": item}).encode()) == seen
    assert describe_line(json.dumps({"type": "turn.started", "item": item}).encode()) is None


@given(st.lists(st.binary() | st.from_regex(rb'\{"type":"(item\.completed|turn\.failed|error)","\w+":[^\n]*\}')))
def test_no_line_breaks_the_reader(lines: list[bytes]) -> None:
    outcome = read(THREAD, *lines, message("the end"), completed())
    assert outcome.text == "the end"
    for line in lines:
        assert describe_line(line) != ""


def test_a_line_of_megabytes_is_read() -> None:
    words = "x" * 2_000_000
    assert read(THREAD, message(words), completed()).text == words
