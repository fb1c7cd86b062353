"""Which agent performs a step, and why."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.agents.profiles import agent_names
from handrail.engine.prompts.choose_agent import AgentContext, Choice, choose_agent
from handrail.model.workflow.settings import AgentPolicy, AgentTask
from handrail.model.workflow.values import JsonValue, Prompt

NAMES = agent_names()
USUAL = AgentPolicy("claude/opus", "the default of .handrail/config.toml")


def task(agent: str | None = None, model: str | None = None) -> AgentTask:
    return AgentTask(prompt=Prompt("Do it."), agent=agent, model=model)


def issue(text: str = "", *labels: JsonValue, title: str = "") -> dict[str, JsonValue]:
    return {"issue": {"title": title, "description": text, "labels": list(labels)}}


def pick(step: AgentTask | None = None, **known: Any) -> tuple[str | None, str | None, str]:
    choice = choose_agent(step or task(), AgentContext(**known, names=NAMES))
    return choice.agent, choice.model, choice.why


def test_where_nothing_names_an_agent_none_is_chosen() -> None:
    assert pick() == (None, None, "")


def test_the_default_counts_with_its_model_for_steps_that_name_none() -> None:
    assert pick(policy=USUAL) == ("claude", "opus", "the default of .handrail/config.toml")


def test_what_is_nearer_to_the_step_counts_more() -> None:
    text, label = "Mend it. [agent=codex]", "gemini"
    everything: dict[str, Any] = {"policy": USUAL, "inputs": issue(text, label)}
    assert pick(task("opencode"), **everything, override="scripted") == ("scripted", None, "--agent")
    assert pick(task("opencode"), **everything) == ("opencode", None, "the step names it")
    assert pick(**everything) == ("codex", None, "tag [agent=codex] in the issue")
    everything["inputs"] = issue("Mend it.", label)
    assert pick(**everything) == ("gemini", None, "label 'gemini' of the issue")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[agent=codex]", ("codex", None)),
        ("[AGENT=Codex]", ("codex", None)),
        (r"\[agent=codex\]", ("codex", None)),
        ("[agent=openai]", ("codex", None)),
        ("[agent=claude/opus]", ("claude", "opus")),
        ("[agent=opus]", ("claude", "opus")),
        ("[model=opus]", ("claude", "opus")),
        ("[model=gpt-5.5-codex]", ("codex", "gpt-5.5-codex")),
        ("[agent=codex] [model=gpt-5.5]", ("codex", "gpt-5.5")),
        ("[model=gpt-5.5] [agent=codex]", ("codex", "gpt-5.5")),
        ("[agent=codex] [model=opus]", ("codex", None)),
        ("[agent=codex] and later [agent=claude]", ("codex", None)),
        ("[agent=opencode] [model=openrouter/kimi:free]", ("opencode", "openrouter/kimi:free")),
        ("[agent=] [agent=a b] [agent=-c] agent=codex (agent=codex)", (None, None)),
    ],
)
def test_tags_in_the_issue_are_read(text: str, expected: tuple[str | None, str | None]) -> None:
    assert pick(inputs=issue(f"The page is blank.\n\n{text}\n"))[:2] == expected
    assert pick(inputs=issue(title=text))[:2] == expected
    assert pick(task=text)[:2] == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("codex", ("codex", None)),
        ("Codex", ("codex", None)),
        ("OpenAI", ("codex", None)),
        ("sonnet", ("claude", "sonnet")),
        ("gpt-5.5-codex", ("codex", "gpt-5.5-codex")),
        ("gemini-2.5-pro", ("gemini", "gemini-2.5-pro")),
        ("agent:mine", ("mine", None)),
        ("agent: claude/haiku", ("claude", "haiku")),
        ("model=opus", ("claude", "opus")),
        ("bug", (None, None)),
        ("claude is slow", (None, None)),
    ],
)
def test_labels_of_the_issue_are_read(label: str, expected: tuple[str | None, str | None]) -> None:
    assert pick(inputs=issue("It is slow.", "bug", label))[:2] == expected
    assert pick(inputs=issue("It is slow.", {"name": label}))[:2] == expected


def test_a_model_fills_in_for_the_agent_that_it_is_meant_for() -> None:
    assert pick(task("claude"), inputs=issue("[model=sonnet]"))[:2] == ("claude", "sonnet")
    assert pick(task("codex"), inputs=issue("[model=sonnet]"))[:2] == ("codex", None)
    assert pick(task("claude"), policy=USUAL)[:2] == ("claude", "opus")
    assert pick(task("codex"), policy=USUAL)[:2] == ("codex", None)
    assert pick(inputs=issue("[model=mine]"), policy=AgentPolicy("codex", "usual"))[:2] == ("codex", "mine")


def test_a_model_alone_says_where_both_came_from() -> None:
    said = pick(task("claude"), inputs=issue("[model=sonnet]"))
    assert said[2] == "the step names it, model: tag [model=sonnet] in the issue"


def test_a_step_that_names_a_model_alone_means_the_agent_that_has_it() -> None:
    assert pick(task(model="opus"), policy=AgentPolicy("codex", "usual"))[:2] == ("claude", "opus")
    assert pick(task("opus"))[:2] == ("claude", "opus")
    assert pick(task(model="mine"), policy=AgentPolicy("codex", "usual"))[:2] == ("codex", "mine")


def test_what_the_command_line_says_counts_for_every_step() -> None:
    assert pick(task("claude", "opus"), override="codex/gpt-5.5") == ("codex", "gpt-5.5", "--agent")
    assert pick(task("claude", "opus"), override="codex")[:2] == ("codex", None)
    assert pick(task("codex"), override="/opus")[:2] == ("claude", "opus")
    assert pick(task("codex", "gpt-5.5"), override="/mine")[:2] == ("codex", "mine")


def test_fallbacks_follow_one_another_and_the_last_is_kept() -> None:
    given_ = AgentContext(
        policy=AgentPolicy("claude/opus", "usual", ("claude/sonnet", "claude/opus", "codex")), names=NAMES
    )
    choices = [choose_agent(task(), given_, falls) for falls in range(4)]
    assert [(each.agent, each.model) for each in choices] == [
        ("claude", "opus"),
        ("claude", "sonnet"),
        ("codex", None),
        ("codex", None),
    ]
    assert [each.instead for each in choices] == [("claude/sonnet", "codex"), ("codex",), (), ()]
    assert choices[2].why == "fallback 2 of 2, since claude/opus could not do it"


def test_an_agent_that_was_asked_for_has_no_fallback() -> None:
    given_ = AgentContext("claude", AgentPolicy("codex", "usual", ("codex",)), names=NAMES)
    assert choose_agent(task(), given_, 1) == Choice("claude", None, "--agent")


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=4), st.text(max_size=20))
def test_no_text_breaks_the_choice_and_a_step_that_names_its_agent_keeps_it(
    text: str, labels: list[str], override: str
) -> None:
    known = AgentContext(policy=USUAL, inputs=issue(text, *labels), task=override, names=NAMES)
    assert choose_agent(task("mine"), known).agent == "mine"
    assert choose_agent(task(), known).agent is not None
    choose_agent(task(), AgentContext(override, names=NAMES))


def test_where_no_names_are_known_every_name_stands_for_itself() -> None:
    labels = issue("It is slow. [model=opus]", "codex", "agent:mine")
    assert choose_agent(task("openai/o3"), AgentContext(inputs=labels)).agent == "openai"
    choice = choose_agent(task(), AgentContext(inputs=labels))
    assert (choice.agent, choice.model) == ("mine", "opus")
