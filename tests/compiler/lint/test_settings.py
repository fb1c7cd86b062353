import pytest
from inline_snapshot import snapshot

from support.compiler.native_case import lint_guided, lint_steps


def test_an_output_that_nothing_reads_is_found() -> None:
    found = lint_steps("""
        - {name: plan, prompt: Make a plan., output: plan}
        - {name: work, prompt: Do the work.}
    """)
    assert found == snapshot("workflow.yaml:4:48 unused-output nothing reads the output 'plan'")


@pytest.mark.parametrize(
    "reader",
    [
        "{name: next, prompt: 'Follow {{ plan }} now.'}",
        "{name: next, prompt: 'Say {% if steps.plan.output != none %} it {% endif %} now.'}",
        "{name: next, type: script, command: 'cat \"${plan}\"'}",
        "{name: next, type: approval, show: [plan]}",
        "{name: next, type: approval, message: 'Is ${plan} right?'}",
        "{name: next, type: end, when: plan == ''}",
        "{name: next, prompt: 'Follow {{ previous_step.output }} now.'}",
        "{name: next, type: commit, message: 'feat: ${plan}'}",
        "{name: next, type: script, command: make, env: {PLAN: '${plan}'}}",
        "{name: next, type: workflow, workflow: review-loop, input: {base: '${plan}'}}",
        "{name: next, type: loop, until: plan != '', max_iterations: 2, steps: [{name: a, type: script, command: ls}]}",
    ],
)
def test_an_output_that_something_reads_is_left_alone(reader: str) -> None:
    found = lint_steps(f"- {{name: plan, prompt: Make a plan., output: plan}}\n- {reader}")
    assert "unused-output" not in found


def test_the_result_of_a_workflow_and_of_an_item_is_left_alone() -> None:
    found = lint_steps("""
        - name: many
          type: parallel-agents
          for_each: [a, b]
          steps:
            - {name: one, prompt: Do part one., access: read, output: part}
        - {name: last, prompt: Sum it up., output: sum}
    """)
    assert found == ""


def test_a_budget_below_what_must_run_is_found() -> None:
    found = lint_steps(
        """
        - {name: one, prompt: Do one thing.}
        - {name: two, prompt: Do another thing., when: deep, budget: {agent_calls: 0, minutes: 0}}
        - {name: three, prompt: Do a third thing.}
        """,
        """
        input: {deep: bool}
        budget: {agent_calls: 1, usd: 0}
        """,
    )
    assert found == snapshot("""\
workflow.yaml:5:78 budget-too-small step 'two' needs at least 1 agent call, the budget allows 0
workflow.yaml:5:90 budget-too-small step 'two' needs at least 1 agent call, and `minutes: 0` allows none
workflow.yaml:9:23 budget-too-small the workflow needs at least 2 agent calls, the budget allows 1
workflow.yaml:9:31 budget-too-small the workflow needs at least 2 agent calls, and `usd: 0` allows none\
""")


def test_a_budget_among_the_defaults_is_found_there() -> None:
    found = lint_steps("- {name: one, prompt: Do one thing.}", "defaults: {budget: {usd: 0}}\n")
    assert found == snapshot(
        "workflow.yaml:5:26 budget-too-small step 'one' needs at least 1 agent call, and `usd: 0` allows none"
    )


def test_a_budget_that_suffices_is_left_alone() -> None:
    found = lint_steps(
        """
        - {name: one, prompt: Do one thing., budget: {agent_calls: 1}}
        - {name: two, type: gate, command: make, fix: Repair it., budget: {agent_calls: 0}}
        """,
        "budget: {agent_calls: 1, usd: 0.5}",
    )
    assert found == ""


def test_a_judgment_of_one_dimension_is_found() -> None:
    found = lint_steps("""
        - name: work
          prompt: Do the work.
          assess:
            dimensions: {evidence: is it proven}
    """)
    assert found == snapshot("workflow.yaml:7:20 single-dimension the assessment 'work' rates only 'evidence'")


def dimension(name: str) -> dict[str, object]:
    return {"id": name, "purpose": "is it good", "levels": ["low", "high"]}


def gate(name: str, *dimensions: str) -> dict[str, object]:
    return {"id": name, "purpose": "a judgment", "dimensions": [dimension(each) for each in dimensions]}


def test_guided_judgments_of_one_dimension_are_found_where_a_step_has_no_other() -> None:
    gates = [gate("one", "depth"), gate("two", "width"), gate("three", "proof")]
    steps = [{"assessmentRefs": ["one", "two"]}, {"assessmentRefs": ["three"]}]
    assert lint_guided(steps, assessments=gates) == snapshot(
        "workflow.json:40:17 single-dimension the assessment 'three' rates only 'proof'"
    )


def test_the_same_thing_judged_twice_is_found() -> None:
    gates = [gate("one", "scope", "evidence"), gate("two", "evidence_confidence", "width"), gate("three", "scope", "x")]
    assert lint_guided([{"assessmentRefs": ["one", "two", "three"]}], assessments=gates) == snapshot("""\
workflow.json:34:17 same-dimension 'evidence' and 'evidence_confidence' in 'one' and 'two' rate the same thing
workflow.json:56:17 same-dimension 'scope' is rated in 'one' and again in 'three'\
""")


def test_different_things_judged_are_left_alone() -> None:
    gates = [gate("one", "scope", "confidence"), gate("two", "evidence_quality", "evidence_coverage")]
    assert lint_guided([{"assessmentRefs": ["one", "two"]}], assessments=gates) == ""


def test_conditions_with_marks_are_shown_bare() -> None:
    found = lint_steps(
        """
        - {name: one, type: script, command: make, when: "${deep}"}
        - {name: two, type: script, command: make, when: "{{ .level }} == 'high' and ${deep}"}
        - name: each
          type: parallel-agents
          for_each: ${files}
          key: ${item.id}
          after: ${item.needs}
          prompt: Do this part.
        """,
        "input: {deep: bool, level: string, files: list}",
    )
    assert found == snapshot("""\
workflow.yaml:4:52 wrapped-condition `when` is already an expression and needs no `${...}`
workflow.yaml:5:52 wrapped-condition `when` is already an expression and needs no `${...}`
workflow.yaml:9:10 wrapped-condition `key` is already an expression and needs no `${...}`
workflow.yaml:10:12 wrapped-condition `after` is already an expression and needs no `${...}`\
""")


def test_bare_conditions_and_the_key_of_a_pull_request_are_left_alone() -> None:
    found = lint_steps(
        """
        - {name: one, type: script, command: make, when: "level == 'a{{b'"}
        - {name: pr, type: pull-request, title: All of it, key: "nightly-${level}"}
        """,
        "input: {level: string}",
    )
    assert found == ""


def test_keys_without_effect_are_found_by_type() -> None:
    found = lint_steps("""
        - {name: a, prompt: Do the work., message: Hello.}
        - {name: b, type: script, command: make, access: read, message: Hello.}
        - {name: c, type: gate, command: make, agent: claude/opus, returns: json, fix: Repair it please.}
        - {name: d, type: approval, session: a, retry: 2, returns: json}
        - {name: e, type: commit, message: All of it, model: opus}
        - {name: f, type: workflow, workflow: review-loop, access: read}
        - {name: g, type: pull-request, title: All of it, agent: codex, assess: wr.assessments.confidence}
        - {name: h, type: script, command: make, escalate_to: ops}
        - name: i
          type: parallel-agents
          for_each: [1, 2]
          returns: json
          steps:
            - {name: j, prompt: Do the work., access: read}
        - name: k
          type: agent-loop
          session: fresh
          reviewer: {prompt: Review the changes of this branch.}
        - {name: l, type: end, output: said, on_fail: block, timeout: 3m}
    """)
    assert found == snapshot("""\
workflow.yaml:4:37 no-effect `message` has no effect on an agent step
workflow.yaml:5:44 no-effect `access` has no effect on a script step
workflow.yaml:5:58 no-effect `message` has no effect on a script step
workflow.yaml:6:42 no-effect `agent` has no effect on a gate step
workflow.yaml:6:62 no-effect `returns` has no effect on a gate step
workflow.yaml:7:31 no-effect `session` has no effect on an approval step
workflow.yaml:7:43 no-effect `retry` has no effect on an approval step
workflow.yaml:7:53 no-effect `returns` has no effect on an approval step
workflow.yaml:8:49 no-effect `model` has no effect on a commit step
workflow.yaml:9:54 no-effect `access` has no effect on a workflow step
workflow.yaml:10:53 no-effect `agent` has no effect on a pull-request step
workflow.yaml:10:67 no-effect `assess` has no effect on a pull-request step
workflow.yaml:11:44 no-effect `escalate_to` has no effect without `on_fail: escalate`
workflow.yaml:15:5 no-effect `returns` has no effect on a parallel-agents step
workflow.yaml:20:5 no-effect `session` has no effect on an agent-loop step
workflow.yaml:22:26 no-effect `output` has no effect on an end step
workflow.yaml:22:40 no-effect `on_fail` has no effect on an end step
workflow.yaml:22:56 no-effect `timeout` has no effect on an end step\
""")


def test_keys_that_a_body_takes_over_have_an_effect() -> None:
    found = lint_steps("""
        - name: many
          type: parallel-agents
          for_each: [1, 2]
          prompt: Do this part.
          agent: codex
          access: read
          returns: {files: [path]}
          done_when: [{exists: a}]
        - name: again
          type: loop
          for: 2
          max_iterations: 2
          model: opus
          handoff: none
          allowed_tools: [Read]
          steps:
            - {name: inner, prompt: Do the work., session: fresh, retry: 1}
        - {name: told, type: script, command: make, on_fail: escalate, escalate_to: ops}
    """)
    assert found == ""
