"""The names that every step knows mean something when a workflow runs: the same in prompts, commands and conditions."""

import json
from typing import Any

import pytest

from handrail.model.history.events import RunBlocked
from handrail.model.workflow.values import JsonValue
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

BUG: dict[str, JsonValue] = {"id": "AB-1", "number": 0, "title": "Totals are wrong", "body": "By one.", "labels": []}


def case(*steps: str, head: str = "") -> str:
    return f"name: case\ndescription: a case\n{head}steps:\n" + "".join(f"  - {each}\n" for each in steps)


def test_a_step_knows_its_own_name_everywhere(shop: StepsRoom) -> None:
    text = case(
        "{name: look-up, prompt: 'You are {{ current_step.name }}.', when: current_step.name == 'look-up',"
        " done_when: [{expect: current_step.name == 'look-up'}]}",
        "{name: never, command: 'true', when: current_step.name == 'look-up'}",
        "{name: say, command: 'echo ${current_step.name}', output: said}",
        "{name: turns, type: loop, until: current_step.name == 'turns', max_iterations: 3,"
        " steps: [{name: turn, command: 'echo ${current_step.name} ${round}', output: turned}]}",
    )
    state = shop.run(text, {"look-up": {}})
    assert state.status == "succeeded", state.message
    assert "You are look-up." in shop.prompts(state.run, "look-up")[0]
    assert (state.steps["never"].status, state.names["said"], state.names["turned"]) == ("skipped", "say", "turn 1")


def test_the_fix_of_a_gate_and_a_role_of_a_review_go_by_the_name_of_their_step(shop: StepsRoom) -> None:
    text = case(
        "{name: strict, type: gate, checks: {types: test -e good},"
        " fix: 'Fix {{ current_step.name }}, which fails in {{ steps.strict.failed }}.'}",
        "{name: review, type: agent-loop, prompt: 'Review for {{ current_step.name }}.', converge: off}",
    )
    script: dict[str, Any] = {"strict/fix": {"files": {"good": "x\n"}}, "review/reviewer": {"output": {"findings": []}}}
    state = shop.run(text, script)
    assert state.status == "succeeded", state.message
    fix = shop.prompts(state.run, "strict/fix")[0]
    assert 'Fix strict, which fails in `["types"]`.' in fix
    assert "strict: failed, and the run continued" not in fix
    assert "Review for review." in shop.prompts(state.run, "review@1/reviewer")[0]


@pytest.mark.parametrize(
    ("head", "inputs", "said"),
    [
        ("input: {bug: issue}\n", {"bug": BUG}, "Totals are wrong AB-1"),
        ("input: {issue: issue}\n", {"issue": BUG}, "Totals are wrong AB-1"),
        ("input: {issue: issue}\n", {"issue": {**BUG, "id": "", "number": 7}}, "Totals are wrong 7"),
    ],
)
def test_the_issue_of_a_run_is_known_by_its_name_and_to_the_run(
    shop: StepsRoom, head: str, inputs: dict[str, JsonValue], said: str
) -> None:
    state = shop.run(
        case("{name: say, command: 'echo ${issue.title} ${run.issue}', output: said}", head=head), {}, **inputs
    )
    assert (state.status, state.names["said"]) == ("succeeded", said)


FIELDS = ("status", "output", "summary", "exit_code", "stdout", "stderr", "attempts", "feedback", "cost", "duration")


def test_every_field_of_a_step_has_its_value(shop: StepsRoom) -> None:
    text = case(
        "{name: make, prompt: Make it., retry: 1, done_when: [{exists: made.txt}], returns: {number: int}}",
        "{name: look, type: approval, revise: make}",
        "{name: run-it, command: 'echo out; echo err >&2; exit 3', on_fail: continue}",
        "{name: keep, type: commit, message: 'Make it'}",
        "{name: tell, prompt: 'Made: {{ steps.make | json }}\\n\\nRan: {{ steps.run_it | json }}\\n\\nKept:"
        " {{ steps.keep.commit }} on {{ steps.keep.branch }}', handoff: none}",
    )
    made: dict[str, Any] = {
        "say": "Made it.",
        "output": {"number": 2},
        "usage": {"cost": 0.25},
        "files": {"made.txt": "made\n"},
    }
    script: dict[str, Any] = {
        "make": [{"say": "Not yet.", "output": {"number": 1}}, made, {**made, "files": {"made.txt": "better\n"}}],
        "tell": {},
    }
    run = shop.run(text, script).run
    assert shop.state(run).status == "waiting", shop.state(run).message
    shop.answer(run, "revise", "make it better")
    state = shop.answer(run, "approve")
    assert state.status == "succeeded", state.message
    told = shop.prompts(run, "tell")[0]
    made_of, ran_of = (_json_after(told, word) for word in ("Made:", "Ran:"))
    assert (made_of["status"], made_of["output"], made_of["summary"]) == ("succeeded", {"number": 2}, "Made it.")
    assert (made_of["attempts"], made_of["feedback"], made_of["cost"]) == (1, "make it better", 0.5)
    assert "-made\n+better" in made_of["diff"]
    assert (made_of["branch"], len(made_of["commit"])) == ("work/case-1", 40)
    assert (ran_of["status"], ran_of["exit_code"], ran_of["stdout"], ran_of["stderr"]) == (
        "failed",
        3,
        "out\n",
        "err\n",
    )
    assert isinstance(ran_of["duration"], int | float)
    assert set(FIELDS) <= made_of.keys()
    commit = shop.state(run).steps["keep"].commit
    assert f"`{commit}` on `work/case-1`" in told
    assert commit != made_of["commit"]


def _json_after(text: str, word: str) -> Any:
    return json.JSONDecoder().raw_decode(text[text.index("{", text.index(word)) :])[0]


GATE = "{{name: strict, type: gate, checks: {{types: 'false', tests: {tests}}}, {keys}}}"
ONE = "steps.strict.failed | length == 1 and 'types' in steps.strict.failed"


def test_a_failure_that_a_gate_calls_a_warning_is_passed_over(shop: StepsRoom) -> None:
    keys = f'warn_when: "{ONE}", message: "Red: ${{steps.strict.failed | join(\', \')}}."'
    after = "{name: after, prompt: 'Go on.'}"
    plain = shop.run(case(GATE.format(tests="'true'", keys="on_fail: block"), after), {})
    assert (plain.status, plain.message) == ("blocked", "step 'strict' failed: types: exit 1")
    worse = shop.run(case(GATE.format(tests="'false'", keys=keys), after), {})
    assert worse.status == "blocked"
    assert worse.message == "step 'strict' failed: Red: tests, types. (tests: exit 1; types: exit 1)"
    warned = shop.run(case(GATE.format(tests="'true'", keys=keys), after), {"after": {}})
    assert (warned.status, warned.steps["strict"].status) == ("succeeded", "passed_over")
    assert "strict: failed and passed over - Red: types. (types: exit 1)" in shop.prompts(warned.run, "after")[0]


def test_what_a_gate_says_of_its_failure_ends_the_run_with_it(shop: StepsRoom) -> None:
    ended = shop.run(case(GATE.format(tests="'true'", keys="on_fail: fail, message: Look at the types.")), {})
    assert (ended.status, ended.message) == ("failed", "step 'strict' failed: Look at the types. (types: exit 1)")


AROUND = """\
## Previous Step: {{.previous_step.name}}
Result: {{.previous_step.output}}

## Your Task
{{.current_step.prompt}}
"""


def test_a_handoff_template_stands_around_the_prompt_in_the_place_of_the_usual_handoff(shop: StepsRoom) -> None:
    shop.prompt_files = {"around": AROUND}
    steps = "{name: first, command: echo 42, output: number}", "{name: use, prompt: 'Use {{ number }}.', KEYS}"
    with_it = shop.run(case(*steps).replace("KEYS", "handoff: prompts/around.md"), {"use": {}})
    without = shop.run(case(*steps).replace("KEYS", "retry: 0"), {"use": {}})
    prompt = shop.prompts(with_it.run, "use")[0]
    assert prompt.startswith("## Previous Step: `first`\nResult: `42`\n\n## Your Task\nUse `42`.\n")
    assert "# The run so far" not in prompt
    assert "# Rules" in prompt
    assert shop.prompts(without.run, "use")[0].startswith("# The run so far")


LISTED = "{name: all, type: parallel-agents, for_each: [1, 2], steps: [{name: one, command: 'false'}], KEYS}"
LOOPED = "{name: all, type: loop, until: 1 == 2, max_iterations: 1, steps: [{name: one, command: 'true'}], KEYS}"
REVIEWED = "{name: all, type: agent-loop, prompt: Review it., max_iterations: 1, KEYS}"
GATED = "{name: all, type: gate, command: 'false', KEYS}"
BAD = {"file": "a.py", "line": 1, "rule": "names", "severity": "high", "message": "it is bad"}


@pytest.mark.parametrize(
    ("step", "keys", "others"),
    [
        (GATED, "on_fail: escalate", "on_fail: block"),
        (LISTED, "on_fail: escalate", "on_fail: block"),
        (LOOPED, "on_max: escalate", "on_max: block"),
        (REVIEWED, "on_max: escalate", "on_max: block"),
    ],
)
def test_what_is_escalated_says_to_whom(shop: StepsRoom, step: str, keys: str, others: str) -> None:
    script: dict[str, Any] = {"all/reviewer": {"output": {"findings": [BAD]}}, "all/fixer": {"files": {"x": "x\n"}}}
    told = shop.run(case(step.replace("KEYS", f'{keys}, escalate_to: "#dev"')), script)
    assert (told.status, told.message.endswith("; escalated to #dev")) == ("blocked", True), told.message
    assert [each.escalate_to for each in of_kind(shop.log, told.run, RunBlocked)] == ["#dev"]
    plain = shop.run(case(step.replace("KEYS", others)), script)
    assert (plain.status, "escalated" in plain.message) == ("blocked", False)
    assert [each.escalate_to for each in of_kind(shop.log, plain.run, RunBlocked)] == [""]
