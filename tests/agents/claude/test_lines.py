"""What is read from the lines of Claude Code, recorded from the real one against a scripted model."""

import json
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.agents.claude.limits import is_limit_message, limit_end
from handrail.agents.claude.lines import ClaudeLines, describe_line
from handrail.ports.agents import AgentOutcome, Usage
from handrail.ports.processes import Ended, Gone
from support.places import RECORDED

CLAUDE = RECORDED / "claude"
NOW = 1_800_000_000.0
"""2027-01-15 08:00 UTC, a Friday; what the recordings say was said then."""
SESSION = "5e551011-0000-4000-8000-000000000001"
INIT = json.dumps({"type": "system", "subtype": "init", "session_id": SESSION}).encode()


def lines_of(name: str) -> list[bytes]:
    return (CLAUDE / f"{name}.jsonl").read_bytes().splitlines()


def read(*lines: bytes, ended: Ended | Gone | None = None, now: float = NOW) -> AgentOutcome:
    reader = ClaudeLines(lambda: now)
    for line in lines:
        reader.feed(line)
    return reader.outcome(ended or Ended(1))


def result(**changes: object) -> bytes:
    said = {"type": "result", "subtype": "success", "is_error": False, "result": "ok", "session_id": SESSION}
    return json.dumps(said | changes).encode()


def failed(words: str, status: int | None = None, **changes: object) -> AgentOutcome:
    return read(result(is_error=True, terminal_reason="api_error", api_error_status=status, result=words, **changes))


def test_each_recorded_end_has_its_outcome() -> None:
    ends = {each.stem: read(*each.read_bytes().splitlines()) for each in sorted(CLAUDE.glob("*.jsonl"))}
    assert {name: (each.status, each.retry_after, each.message[:60]) for name, each in ends.items()} == snapshot(
        {
            "401": ("auth", None, "Invalid API key · Fix external API key"),
            "403": ("auth", None, "Failed to authenticate. API Error: 403 no access to it"),
            "429": ("rate_limited", 7.0, "API Error: Request rejected (429) · slow down"),
            "429_far": ("rate_limited", None, "API Error: Request rejected (429) · slow down"),
            "500": ("api_error", None, "API Error: 500 the scripted model refuses. This is a server-"),
            "529": ("overloaded", None, "API Error: Repeated 529 Overloaded errors. The API is at cap"),
            "budget": ("limit", None, "Reached maximum budget ($0.001)"),
            "cut": ("network", None, "API Error: API returned an empty or malformed response (HTTP"),
            "denied": ("ok", None, "denied: Write /srv/tree/a.txt; Bash echo hi > a.txt"),
            "interrupted": ("cancelled", None, "it was stopped while it was working"),
            "not_logged_in": ("auth", None, "Not logged in · Please run /login"),
            "one_turn": ("ok", None, ""),
            "refused": ("network", None, "API Error: Connection refused — a firewall or proxy may be b"),
            "schema": ("ok", None, ""),
            "schema_missing": ("ok", None, ""),
            "told": ("ok", None, ""),
            "tools": ("ok", None, ""),
            "unknown_session": ("api_error", None, "No conversation found with session ID: 5e551011-0000-4000-80"),
            "usage_limit": ("quota", 3600.0, "API Error: Request rejected (429) · Claude AI usage limit re"),
        }
    )


def test_what_it_took_up_meanwhile_is_told_and_all_its_results_are_counted() -> None:
    outcome = read(*lines_of("told"), ended=Ended(0))
    assert [mark[-1] for mark in outcome.heard if mark.startswith("0a0a")] == ["1", "2"]
    assert (outcome.status, outcome.text) == ("ok", "Second.")
    assert (outcome.usage, outcome.cost) == (Usage(3000, 300, 0), pytest.approx(0.018))


def test_an_answer_is_no_result_any_more_when_something_was_taken_up_after_it() -> None:
    lines = lines_of("told")
    again = next(place for place, line in enumerate(lines) if b'"be brief"' in line)
    assert (read(*lines[:again]).status, read(*lines[:again]).text) == ("ok", "First.")
    outcome = read(*lines[: again + 1], ended=Ended(1))
    assert (outcome.status, outcome.session, outcome.usage.tokens) == ("crashed", SESSION, 2200)


def test_a_call_that_went_well_tells_its_words_its_conversation_and_what_it_took() -> None:
    assert read(*lines_of("tools"), ended=Ended(0)) == snapshot(
        AgentOutcome(
            status="ok",
            text="""\
Done.
More.\
""",
            session="5e551011-0000-4000-8000-000000000001",
            usage=Usage(input_tokens=3000, output_tokens=300),
            cost=0.018000000000000002,
        )
    )


def test_a_result_in_its_shape_is_there_and_a_missing_one_is_not() -> None:
    found, missing = read(*lines_of("schema")), read(*lines_of("schema_missing"))
    assert (found.output, found.has_output) == ({"n": 5}, True)
    assert (missing.status, missing.output, missing.has_output) == ("ok", None, False)


def test_what_was_denied_is_named_and_shown() -> None:
    reader = ClaudeLines()
    assert [said[:80] for line in lines_of("denied") if (said := reader.feed(line))] == snapshot(
        [
            "Write a.txt",
            "failed: this step may only read (`access: read`), and Write can do more",
            "Bash echo hi > a.txt",
            "failed: PreToolUse:Bash hook error: this step may only read (`access: read`): us",
            "I was not allowed to.",
        ]
    )
    assert reader.outcome(Ended(0)).message == snapshot("denied: Write /srv/tree/a.txt; Bash echo hi > a.txt")


def test_many_denials_are_not_all_named() -> None:
    many = [{"tool_name": "Edit", "tool_input": {"file_path": f"{each}.py"}} for each in range(7)]
    assert read(result(permission_denials=many)).message == snapshot(
        "denied: Edit 0.py; Edit 1.py; Edit 2.py; Edit 3.py; Edit 4.py; and 2 more"
    )


def test_a_conversation_that_is_not_known_is_none_to_go_on_with() -> None:
    found = read(*lines_of("unknown_session"))
    assert (found.status, found.session) == ("api_error", None)


def test_several_results_are_one_call_that_took_their_sum() -> None:
    one = {"a": {"inputTokens": 10, "cacheCreationInputTokens": 5, "outputTokens": 2, "costUSD": 0.25}}
    two = {"a": {"inputTokens": 1, "cacheReadInputTokens": 7, "costUSD": 0.5}, "b": {"outputTokens": 3, "costUSD": 1}}
    first = result(result="first", model_usage_since_last_result=one, total_cost_usd=100)
    found = read(INIT, first, INIT, result(result="second", model_usage_since_last_result=two, total_cost_usd=200))
    assert (found.text, found.usage, found.cost) == ("second", Usage(16, 5, 7), 1.75)


def test_without_a_delta_the_usage_of_the_result_counts_and_the_cost_is_unknown() -> None:
    usage = {"input_tokens": 3, "output_tokens": 2, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 4}
    found = read(result(usage=usage, total_cost_usd=9))
    assert (found.usage, found.cost) == (Usage(7, 2, 1), None)


@pytest.mark.parametrize(
    ("ended", "message"),
    [
        (Ended(1), "the agent ended with exit code 1 and returned no result"),
        (Ended(None, signal.SIGKILL), "the agent was killed by SIGKILL before it returned a result"),
        (Gone(), "the agent was stopped from outside before it returned a result"),
    ],
)
def test_no_result_is_a_crash_that_keeps_the_conversation_and_what_it_took(ended: Ended | Gone, message: str) -> None:
    found = read(*lines_of("tools")[:-1], ended=ended)
    usage = Usage(3000, 3, 0)
    assert found == AgentOutcome(status="crashed", text="Done.\nMore.", session=SESSION, message=message, usage=usage)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"api_error_status": 401, "api_error_type": "authentication_error"}, "authentication_error"),
        ({"api_error_status": 500}, "status 500"),
        ({}, "an error"),
        ({"stop_reason": ["odd"]}, "an error"),
    ],
)
def test_an_error_without_words_has_some(more: dict[str, object], said: str) -> None:
    found = read(result(is_error=True, terminal_reason="api_error", **{"result": None, **more}))
    assert found.status != "ok"
    assert found.message == f"the service answered with {said} and no message"


def test_a_stop_is_a_stop_with_a_result_and_without_one() -> None:
    told = result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools", errors=["x"])
    assert read(*lines_of("interrupted"), ended=Ended(0)).status == "cancelled"
    assert read(INIT, told, ended=Ended(0)).status == "cancelled"


def test_all_turns_are_a_limit_unless_one_was_asked_for() -> None:
    ends = [result(subtype="error_max_turns", errors=[f"Reached maximum number of turns ({each})"]) for each in (1, 9)]
    assert [read(each).status for each in ends] == ["ok", "limit"]


@pytest.mark.parametrize(
    ("status", "words", "expected"),
    [
        (400, "prompt is too long", "api_error"),
        (402, "pay", "auth"),
        (404, "model: nope", "api_error"),
        (503, "unavailable", "api_error"),
        (400, "Credit balance is too low", "auth"),
        (None, "API Error: Connection error.", "network"),
        (None, "Please run /login", "auth"),
        (429, "You've hit your session limit · resets 9:30am (UTC)", "quota"),
        (None, "Context limit reached · start a new conversation", "api_error"),
        (400, "Context limit reached", "api_error"),
        (429, "This request would exceed your account's rate limit", "rate_limited"),
    ],
)
def test_an_error_is_classed_by_its_status_and_its_words(status: int | None, words: str, expected: str) -> None:
    assert failed(words, status).status == expected


@pytest.mark.parametrize("reason", ["refusal", "max_tokens"])
def test_a_model_that_gives_up_is_no_trouble_of_the_network(reason: str) -> None:
    assert failed("API Error: it would not", stop_reason=reason).status == "api_error"


def test_a_rejection_event_names_the_end_of_a_limit() -> None:
    info = {"status": "rejected", "resetsAt": int(NOW) + 90}
    event = json.dumps({"type": "rate_limit_event", "rate_limit_info": info}).encode()
    found = read(event, result(is_error=True, api_error_status=429, result="no more"))
    assert (found.status, found.retry_after) == ("quota", 90.0)


def test_a_limit_that_has_passed_meanwhile_is_not_waited_for() -> None:
    assert read(*lines_of("usage_limit"), now=NOW + 9_999).retry_after == 0.0


@pytest.mark.parametrize(
    ("words", "hours"),
    [
        ("Claude AI usage limit reached|1800003600", 1),
        ("5-hour limit reached ∙ resets 3pm (Europe/Berlin)", 6),
        ("Claude usage limit reached. Your limit will reset at 9am (UTC).", 1),
        ("You've hit your limit · resets 8am (UTC)", 24),
        ("You've hit your limit · resets 12am (UTC)", 16),
        ("You've hit your weekly limit · resets Jan 18, 5:30pm (UTC)", 81.5),
        ("weekly limit reached ∙ resets Jan 18 at 8am (UTC)", 72),
        ("spend limit reached · resets Feb 1 (UTC)", 400),
        ("limit reached · resets Jan 2, 2028, 8am (UTC)", 352 * 24),
        ("limit reached · resets 13:15 (UTC)", 5.25),
    ],
)
def test_the_end_of_a_limit_is_read_from_its_words(words: str, hours: float) -> None:
    assert is_limit_message(words)
    assert limit_end(words, NOW) == NOW + hours * 3600


@pytest.mark.parametrize("words", ["resets soon", "limit reached", "resets Feb 31, 5pm (UTC)", "resets 99pm (UTC)"])
def test_words_without_a_time_name_none(words: str) -> None:
    assert limit_end(words, NOW) is None


def test_an_unknown_zone_is_read_as_the_zone_of_the_machine() -> None:
    assert limit_end("resets 3pm (Nowhere/Land)", NOW) == limit_end("resets 3pm", NOW)


def test_a_glimpse_shows_the_tool_or_the_first_words() -> None:
    assert [said for line in lines_of("tools") if (said := describe_line(line))] == snapshot(
        ["Bash npx --no vitest run login || true", "Edit src/login.py", "Done."]
    )


def test_what_a_sub_agent_says_is_not_what_the_agent_says() -> None:
    words = {"content": [{"type": "text", "text": "inner"}]}
    inner = json.dumps({"type": "assistant", "parent_tool_use_id": "t", "message": words}).encode()
    assert read(INIT, inner).text == ""


@given(st.lists(st.binary() | st.sampled_from([line for name in ("tools", "cut") for line in lines_of(name)])))
def test_no_lines_break_the_reader(lines: list[bytes]) -> None:
    read(*lines, *(line[:-1] for line in lines))
    assert all(isinstance(describe_line(line), str | None) for line in lines)


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_values_of_the_wrong_kind_are_as_if_they_were_not_there(value: object) -> None:
    names = ("message", "errors", "permission_denials", "model_usage_since_last_result", "usage", "api_error_status")
    strange = dict.fromkeys(names, value)
    lines = json.dumps({"type": "assistant", **strange}).encode(), result(**strange), result(is_error=True, **strange)
    assert read(*lines).status != "ok"
