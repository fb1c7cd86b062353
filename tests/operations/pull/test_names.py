"""A connected agent reads the same names as one that Handrail launches, and is told the same about a failed gate."""

import pytest

from support.pull.room import Pull

NAMED = """\
name: NAME
steps:
  - {name: look-up, prompt: 'You are {{ current_step.name }} for {{ issue.title }}; home {{ env.HOME }}.'}
  - {name: strict, type: gate, checks: {types: 'false', tests: 'true'}, message: Look at the types., KEYS}
  - {name: last, prompt: 'Failed: {{ steps.strict.failed }}, after {{ previous_step.name }}.'}
"""
WARNS = "warn_when: \"'types' in steps.strict.failed and steps.strict.failed | length == 1\""


def test_a_walk_fills_in_the_step_the_issue_and_the_environment(pull: Pull, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    pull.add(NAMED.replace("KEYS", WARNS), "named")
    first = pull.start("named", goal="Repair the totals.")
    assert "You are look-up for `Repair the totals.`; home `/home/ann`." in first.pending["prompt"]
    last = pull.advance(first)
    assert last.address == "last"
    assert 'Failed: `["types"]`, after `strict`.' in last.pending["prompt"]
    assert "strict: failed and passed over - Look at the types. (types: exit 1)" in last.pending["prompt"]


def test_a_walk_is_told_what_a_gate_says_of_its_failure(pull: Pull) -> None:
    pull.add(NAMED.replace("KEYS", "on_fail: block"), "named")
    blocked = pull.advance(pull.start("named"))
    assert "step 'strict' failed: Look at the types. (types: exit 1)" in blocked.text


def test_a_handoff_template_stands_around_the_prompt_of_a_connected_agent_too(pull: Pull) -> None:
    steps = "{name: first, command: 'echo 42', output: number}", "{name: use, prompt: 'Use {{ number }}.', KEYS}"
    text = "name: NAME\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)
    pull.add(text.replace("KEYS", "handoff: around.md"), "shaped")
    (pull.home / "workflows" / "shaped" / "around.md").write_text(
        "Before: {{ previous_step.output }}\n\n{{ current_step.prompt }}\n"
    )
    pull.add(text.replace("KEYS", "retry: 0"), "usual")
    assert pull.start("shaped").pending["prompt"].startswith("Before: `42`\n\nUse `42`.")
    assert pull.start("usual").pending["prompt"].startswith("# The run so far")
