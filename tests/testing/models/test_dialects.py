"""The scripted model in the dialects of Gemini and of OpenAI's chat, as their agents ask it."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from handrail.testing.models.anthropic import Anthropic
from handrail.testing.models.chat import Chat
from handrail.testing.models.gemini import Gemini
from handrail.testing.models.responses import Responses
from handrail.testing.models.scripts import Action, Call, Cut, Data, Dialect, Fail, Mcp, Say, Shell, Structured, filled
from handrail.testing.models.server import ModelServer

GEMINI = "/v1beta/models/any:streamGenerateContent?alt=sse"
CHAT = "/v1/chat/completions"


def asked(path: str, action: Action, history: list[tuple[str, str]]) -> list[Any]:
    """Ask for an answer after a history of (speaker, text), and give the documents of the stream."""
    if path == GEMINI:
        body = {
            "contents": [
                {"role": "model" if who == "model" else "user", "parts": [{"text": text}]} for who, text in history
            ]
        }
    else:
        body = {
            "messages": [{"role": "assistant" if who == "model" else "user", "content": text} for who, text in history]
        }
    with ModelServer({"one": [Say("unused"), action]}) as model:
        request = urllib.request.Request(model.url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            lines = answer.read().decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


HISTORY = [("person", "[[s:one]] go"), ("model", "unused")]


def gemini(action: Action) -> list[Any]:
    return asked(GEMINI, action, HISTORY)


def chat(action: Action) -> list[Any]:
    return asked(CHAT, action, HISTORY)


def part(documents: list[Any]) -> Any:
    return documents[0]["candidates"][0]["content"]["parts"][0]


def test_gemini_says_words_calls_tools_and_ends_with_its_tokens() -> None:
    said = gemini(Say("hi"))
    assert part(said) == {"text": "hi"}
    assert said[-1]["candidates"][0]["finishReason"] == "STOP"
    assert said[-1]["usageMetadata"]["totalTokenCount"] == 1100
    assert part(gemini(Shell("ls")))["functionCall"]["name"] == "run_shell_command"
    assert part(gemini(Call("glob", {"pattern": "*"}))) == {"functionCall": {"name": "glob", "args": {"pattern": "*"}}}
    assert part(gemini(Structured({"a": 1}))) == {"text": '{"a": 1}'}


def test_chat_says_words_calls_tools_and_ends_with_its_tokens() -> None:
    said = chat(Say("hi"))
    assert said[1]["choices"][0]["delta"] == {"content": "hi"}
    assert said[2]["choices"][0]["finish_reason"] == "stop"
    assert said[-1]["usage"]["total_tokens"] == 1100
    called = chat(Shell("ls"))[1]["choices"][0]["delta"]["tool_calls"][0]["function"]
    assert (called["name"], json.loads(called["arguments"])["command"]) == ("bash", "ls")
    assert chat(Call("glob", {}))[2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chat(Structured([1]))[1]["choices"][0]["delta"] == {"content": "[1]"}


def test_an_answer_that_breaks_off_has_no_end() -> None:
    assert all("finishReason" not in each["candidates"][0] for each in gemini(Cut()))
    assert all(each["choices"][0]["finish_reason"] is None for each in chat(Cut()))


@pytest.mark.parametrize("path", [GEMINI, CHAT])
def test_a_refusal_has_its_status_and_message(path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        asked(path, Fail(429, "slow down"), HISTORY)
    with caught.value as answer:
        assert (answer.code, json.loads(answer.read())["error"]["message"]) == (429, "slow down")


def test_a_tool_of_an_mcp_server_is_called_by_the_name_that_the_agent_gives_it() -> None:
    action = Mcp("handrail", "start_workflow", {"goal": "go"})
    assert part(gemini(action))["functionCall"]["name"] == "mcp_handrail_start_workflow"
    (call,) = chat(action)[1]["choices"][0]["delta"]["tool_calls"]
    assert call["function"]["name"] == "handrail_start_workflow"


@pytest.mark.parametrize(
    ("dialect", "request_"),
    [
        (Anthropic(), {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": "ct_1"}]}]}),
        (Chat(), {"messages": [{"role": "tool", "content": "ct_1"}]}),
        (Gemini(), {"contents": [{"role": "user", "parts": [{"functionResponse": {"output": "ct_1"}}]}]}),
        (Responses(), {"input": [{"type": "function_call_output", "output": "ct_1"}]}),
    ],
    ids=["anthropic", "chat", "gemini", "responses"],
)
def test_a_value_is_taken_out_of_what_a_tool_gave(dialect: Dialect, request_: Data) -> None:
    action = Mcp("handrail", "continue_workflow", {"token": "{{token}}", "other": "{{name}}"}, {"token": r"ct_\w+"})
    called = filled(action, [*dialect.results(request_)])
    assert isinstance(called, Mcp)
    assert called.input == {"token": "ct_1", "other": "{{name}}"}


def test_the_newest_result_counts_and_a_group_of_the_pattern_is_the_value() -> None:
    action = Mcp("s", "t", {"a": "<{{x}}>"}, {"x": r'"id": (".*?")'})
    called = filled(action, ['{"id": "old"}', '{"id": "new"}', "nothing"])
    assert isinstance(called, Mcp)
    assert called.input == {"a": '<"new">'}
