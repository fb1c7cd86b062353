"""The scripted model in the dialects of Gemini and of OpenAI's chat, as their agents ask it."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from handrail.testing.models.scripts import Action, Call, Cut, Fail, Say, Shell, Structured
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
        with urllib.request.urlopen(request, timeout=20) as answer:
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
