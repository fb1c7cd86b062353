"""Every next step that the source can print is typed by a test, which holds it to what it says."""

import ast
from functools import cache
from pathlib import Path

import pytest

from support.next_steps.templates import collect_templates, list_commands

TESTS = Path(__file__).parents[1]
MENTIONED = {
    "for example: claude mcp add --transport http handrail {} {}": "a line for Claude Code; `handrail` is a name in it",
    "the changes stay on the run's branch as a commit; merge it with `handrail merge` or a pull-request step": (
        "an importer says what became of a key; there is no run yet"
    ),
    "`handrail stamp` writes a new one": "an importer says who writes a key",
    "the authoring spec it was last checked against; written by `handrail stamp`": "the description of a key",
    "the key is 'prompt'; `handrail import` translates whole files": "the description of a key of another format",
    "`handrail run` did not reach the step at which it is killed": "what failed in the demo",
    "The same as `handrail {}`.\n\n{}": "the help of an alias",
    "Topics, for example: handrail help runs": "the title of a table of topics",
    "handrail attach needs a terminal": "what failed; the next step follows it",
    "# left out by handrail init": "a comment in a configuration file",
    "handrail issues comment": "a command that is denied to the agent of a step",
    "handrail issues create": "a command that is denied to the agent of a step",
    "`handrail {}` is reserved for people ({}), but was called {}": "what an agent was refused",
    "{} tried `handrail {}{}`: refused, only a person may do that": "what an agent was refused",
    "{} tried `handrail {}`, which only people may do: refused": "what an agent was refused",
    "handrail mcp: {}": "the name of a program before its message",
    "handrail run": "the beginning of a line that names the workflow too",
    "handrail {}": "a title, and the line of usage",
}
"""Texts that name a command and tell nobody to type it, with the reason."""
AGENTS_ARE_TOLD = "Then continue until an answer says that the workflow is complete:"
"""What a prompt begins with that names commands which an agent must never call."""
NOT_YET: frozenset[str] = frozenset()
"""Texts whose commands no test types yet; the list may only become shorter."""
Followed = frozenset[tuple[str, int]]


@cache
def followed() -> Followed:
    """Find the commands of templates that tests follow, by the calls in their text."""
    found: set[tuple[str, int]] = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text("utf-8")
        if "support.next_steps.follow" in text:
            calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
            found |= {each for call in calls if (each := _followed_by(call)) is not None}
    return frozenset(found)


def _followed_by(call: ast.Call) -> tuple[str, int] | None:
    if not isinstance(call.func, ast.Name) or call.func.id != "follow":
        return None
    template = ast.literal_eval(call.args[2])
    at = next((ast.literal_eval(word.value) for word in call.keywords if word.arg == "at"), 0)
    return template, at


def is_mentioned(text: str) -> bool:
    return text in MENTIONED or text.startswith(AGENTS_ARE_TOLD)


def test_no_printed_command_is_left_untried() -> None:
    wanted = {
        (each, at)
        for each in collect_templates()
        if not is_mentioned(each) and each not in NOT_YET
        for at in range(len(list_commands(each)))
    }
    places = collect_templates()
    assert [f"{places[each][0]}: {each!r}, command {at}" for each, at in sorted(wanted - followed())] == []


def test_what_tests_follow_is_what_the_source_prints() -> None:
    assert sorted(each for each, _ in followed() if each not in collect_templates()) == []


@pytest.mark.parametrize("text", MENTIONED)
def test_what_is_only_mentioned_is_still_there(text: str) -> None:
    assert text in collect_templates()


def test_what_is_not_typed_yet_is_printed_and_really_is_not() -> None:
    left = {each for each in NOT_YET if any((each, at) not in followed() for at in range(len(list_commands(each))))}
    assert left == NOT_YET & collect_templates().keys() == NOT_YET
