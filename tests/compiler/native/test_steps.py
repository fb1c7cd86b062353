"""What each kind of native step compiles to, and which names its texts may use."""

import pytest
from inline_snapshot import snapshot

from handrail.compiler.scope import names_at
from handrail.model.codec import encode
from handrail.model.workflow.actions import (
    AgentLoopAction,
    ApprovalAction,
    GroupAction,
    LoopAction,
    ParallelAction,
    ScriptAction,
    Times,
    Until,
    While,
)
from handrail.model.workflow.guidance import GuidedAction
from handrail.model.workflow.values import Constant, Expression
from support.compiler.native_case import compile_text, shown
from support.compiler.native_plans import errors_of, flow, plan_of

ROUTINE = """\
name: routine
input:
  what: string
  count: int = 1
steps:
  - {name: look, prompt: "look at {{ what }}", output: seen}
  - {name: tell, command: 'echo "${seen}" "${count}"'}
"""


def test_a_type_may_be_left_out_where_a_key_decides() -> None:
    plan = plan_of(
        flow("  - {name: a, prompt: do it}\n  - {name: b, command: 'true'}\n  - {name: c, checks: project}\n")
    )
    assert [step.action.kind for step in plan.steps] == ["agent", "script", "gate"]


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("while: steps.t.exit_code != 0", "steps.t.exit_code != 0"),
        ("while: ${steps.t.exit_code} != 0", "steps.t.exit_code != 0"),
        ("while: '{{.steps.t.exit_code}} != 0'", "steps.t.exit_code != 0"),
    ],
)
def test_a_while_condition_sees_what_its_body_produces(line: str, source: str) -> None:
    plan = plan_of(
        flow(f"  - name: l\n    type: loop\n    {line}\n    max_iterations: 3\n    steps: [{{name: t, command: x}}]\n")
    )
    action = plan.steps[0].action
    assert isinstance(action, LoopAction)
    assert action.over == While(Expression(source))


def test_loops_may_count_and_nest() -> None:
    plan = plan_of(
        flow(
            "  - name: outer\n    type: loop\n    for: width + 1\n    max_iterations: 9\n    on_max: fail\n    steps:\n"
            "      - name: inner\n        type: loop\n        until: done == 'yes'\n        max_iterations: 2\n"
            "        steps:\n          - {name: t, command: 'echo ${round}', output: done}\n",
            "input: {width: int = 3}\n",
        )
    )
    outer = plan.steps[0].action
    assert isinstance(outer, LoopAction)
    assert (outer.over, outer.on_max) == (Times(Expression("width + 1")), "fail")
    inner = outer.steps[0].action
    assert isinstance(inner, LoopAction)
    assert inner.over == Until(Expression("done == 'yes'"))


def test_a_map_gives_items_of_key_and_value() -> None:
    plan = plan_of(
        flow(
            "  - {name: o, command: x, returns: json, output: found}\n"
            "  - name: l\n    type: loop\n    for_each: ${found}\n    as: dep\n    max_iterations: 2\n"
            "    steps:\n      - {name: t, command: 'echo \"${dep.key}@${dep.value.wanted}\"'}\n"
        )
    )
    script = plan.steps[0].action
    assert isinstance(script, ScriptAction)
    assert script.parse_json


def test_what_a_parallel_body_defines_is_not_known_outside_it() -> None:
    steps = (
        "  - name: p\n    type: parallel-agents\n    for_each: [a]\n    steps:\n"
        "      - {name: i, prompt: do it, output: inner}\n      - {name: j, command: 'echo \"${inner}\"'}\n"
        "  - {name: after, command: 'echo \"${inner}\"'}\n"
    )
    assert "workflow.yaml:9:35 unknown-name 'inner' is available only inside step 'p'" in errors_of(flow(steps))


def test_what_a_loop_body_defines_is_known_after_it() -> None:
    steps = (
        "  - name: l\n    type: loop\n    for: 2\n    max_iterations: 2\n    steps:\n"
        "      - {name: i, command: x, output: inner}\n"
        '  - {name: after, command: \'echo "${inner}" "${steps.i.exit_code}" "${steps.l.rounds}"\'}\n'
    )
    assert errors_of(flow(steps)) == ""


def test_a_name_of_a_later_step_is_said_to_come_too_early() -> None:
    found = errors_of(
        flow("  - {name: a, command: 'echo \"${b}\"', when: later == 'x'}\n  - {name: z, command: x, output: later}\n")
    )
    assert "'later' is used before it is produced by step 'z'" in found


def test_on_max_words_of_other_formats_keep_their_meaning() -> None:
    loop = (
        "  - name: l\n    type: loop\n    for: 2\n    max_iterations: 2\n    {}\n    steps: [{{name: t, command: x}}]\n"
    )

    def on_max(line: str) -> tuple[str, bool, str]:
        compiled, _, _ = compile_text(flow(loop.format(line)))
        assert compiled.plan is not None, shown(compiled.diagnostics)
        action = compiled.plan.steps[0].action
        assert isinstance(action, LoopAction)
        return action.on_max, action.escalate, shown(compiled.diagnostics)

    assert on_max("on_max: exit") == ("continue", False, "workflow.yaml:7:13 old-word 'exit' is read as 'continue'")
    assert on_max("on_max: escalate") == ("block", True, "")
    coven = "workflow.yaml:7:5 other-word 'on_max_iterations' is Coven's word for 'on_max'"
    assert on_max("on_max_iterations: exit") == ("fail", False, coven)
    assert on_max("on_max_iterations: block") == ("block", False, coven)


def test_an_approval_goes_back_to_the_nearest_agent_unless_told_otherwise() -> None:
    steps = "  - {name: a, prompt: do it}\n  - {name: b, command: x}\n  - {name: ok, type: approval%s}\n"

    def revise(extra: str) -> str | None:
        action = plan_of(flow(steps % extra)).steps[2].action
        assert isinstance(action, ApprovalAction)
        return action.revise

    assert revise("") == "a"
    assert revise(", on_reject: revise") == "a"
    assert revise(", on_reject: stop") is None
    assert revise(", revise: b") == "b"
    assert "no earlier step is called 'zz'" in errors_of(flow(steps % ", revise: zz"))


def test_review_is_the_agent_loop_with_the_library_s_prompts() -> None:
    plan = plan_of(
        flow(
            "  - {name: r, type: review, output: verdict}\n"
            "  - {name: s, command: x, when: verdict.decision == 'approve'}\n"
        )
    )
    action = plan.steps[0].action
    assert isinstance(action, AgentLoopAction)
    assert (action.decides, action.max_iterations) == (True, 3)
    assert action.arbiter is not None
    assert action.fixer is not None


def test_convergence_is_on_unless_it_is_off() -> None:
    def converge(line: str) -> object:
        action = plan_of(flow(f"  - {{name: r, type: agent-loop, prompt: review it{line}}}\n")).steps[0].action
        assert isinstance(action, AgentLoopAction)
        return action.converge and (action.converge.severity, action.converge.plateau)

    assert converge("") == (Constant("low"), 2)
    assert converge(", converge: off") is None
    assert converge(", converge: false") is None
    assert converge(", converge: {severity: high, plateau: 4}") == (Constant("high"), 4)


def test_a_called_workflow_gets_the_inputs_it_declares() -> None:
    def found(call: str) -> str:
        compiled, _, _ = compile_text(flow(call), workflows={"routine": ROUTINE})
        return shown(compiled.diagnostics)

    assert found("  - {name: c, type: workflow, workflow: routine, input: {what: x}}\n") == ""
    assert "the workflow 'routine' requires the input 'what'" in found("  - {name: c, workflow: routine}\n")
    assert "the workflow 'routine' has no input 'wat', did you mean 'what'?" in found(
        "  - {name: c, workflow: routine, input: {wat: x}}\n"
    )
    assert "there is no workflow 'rutine'" in found("  - {name: c, workflow: rutine}\n")


def test_use_puts_a_routine_s_steps_in_place_with_their_provenance() -> None:
    compiled, _, _ = compile_text(
        flow(
            "  - {name: u, use: routine, input: {what: x}}\n  - {name: after, command: 'echo \"${steps.u.status}\"'}\n"
        ),
        workflows={"routine": ROUTINE},
    )
    assert compiled.plan is not None, shown(compiled.diagnostics)
    action = compiled.plan.steps[0].action
    assert isinstance(action, GroupAction)
    assert [(step.name, encode(step.injected)) for step in action.steps] == snapshot(
        [
            ("look", {"by": "routine", "at": "u", "why": "step 'u' uses it"}),
            ("tell", {"by": "routine", "at": "u", "why": "step 'u' uses it"}),
        ]
    )


def test_a_routine_sees_nothing_of_its_caller() -> None:
    leaky = ROUTINE.replace("look at {{ what }}", "look at {{ outer }}")
    compiled, _, _ = compile_text(
        flow("  - {name: o, command: x, output: outer}\n  - {name: u, use: routine, input: {what: x}}\n"),
        workflows={"routine": leaky},
    )
    assert "unknown variable 'outer'" in shown(compiled.diagnostics)


def test_a_routine_that_uses_itself_is_refused() -> None:
    text = "name: me\nsteps:\n  - {name: u, use: me}\n"
    compiled, _, _ = compile_text(text, workflows={"me": text})
    assert "the routine uses itself: me -> me" in shown(compiled.diagnostics)


def test_use_takes_a_guided_routine_of_the_library() -> None:
    plan = plan_of(flow("  - {name: audit, use: wr.templates.audit.depth}\n"))
    action = plan.steps[0].action
    assert isinstance(action, GroupAction)
    assert all(isinstance(step.action, GuidedAction) for step in action.steps)
    assert action.steps[0].injected is not None


def test_an_assessment_sends_a_step_back_on_the_levels_it_names() -> None:
    plan = plan_of(
        flow(
            "  - name: r\n    prompt: do it\n    assess:\n      dimensions:\n        evidence: is it grounded?\n"
            "        coverage: {purpose: is it whole?, levels: [partial, full]}\n      follow_up_when: [low, partial]\n"
            "      guidance: Look again.\n  - {name: s, prompt: do it, assess: wr.assessments.confidence}\n"
        )
    )
    assert encode(plan.assessments[0]) == snapshot(
        {
            "id": "r",
            "purpose": "judgment of step r",
            "dimensions": [
                {"id": "coverage", "purpose": "is it whole?", "levels": ["partial", "full"]},
                {"id": "evidence", "purpose": "is it grounded?", "levels": ["low", "medium", "high"]},
            ],
        }
    )
    assert encode(plan.steps[0].follow_ups) == snapshot(
        [
            {"any_equals_level": "low", "guidance": "Look again."},
            {"any_equals_level": "partial", "guidance": "Look again."},
        ]
    )
    assert [each.id for each in plan.assessments] == ["r", "wr.assessments.confidence"]


def test_inspect_can_list_the_names_at_each_step() -> None:
    plan = plan_of(
        flow(
            "  - {name: a, prompt: do it, output: x, returns: {ok: bool}}\n"
            "  - name: l\n    type: loop\n    for_each: [1]\n    as: dep\n    max_iterations: 2\n"
            "    steps: [{name: t, command: x}]\n",
            "input: {base: string = main}\n",
        )
    )
    names = names_at(plan)
    assert list(names) == ["a", "l", "l/t"]
    assert "x" not in names["a"]
    assert names["l"]["x"] == "record {ok}"
    assert {"dep", "round"} <= set(names["l/t"])


def test_a_fan_out_over_constants_has_no_placeholder() -> None:
    action = plan_of(flow("  - {name: p, type: parallel-agents, for_each: [a, b], prompt: do it}\n")).steps[0].action
    assert isinstance(action, ParallelAction)
    assert action.over.items == Constant(["a", "b"])


def fan_out(items: str, rest: str = "    after: item.after\n") -> str:
    return flow(f"  - name: build\n    type: parallel-agents\n    for_each: {items}\n{rest}    prompt: Do it now.\n")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("[{id: a, after: [b]}, {id: b, after: [a]}]", "circular dependency: a → b → a"),
        ("[{id: a}, {id: b, after: b}]", "circular dependency: b → b"),
        ("[{id: x, after: [a]}, {id: a, after: [b]}, {id: b, after: [a]}]", "circular dependency: a → b → a"),
        ("[{id: a, after: [nope]}]", "item 'a' depends on 'nope', which does not exist"),
        ("[{id: a}, {id: a}]", "two items have the key 'a'"),
    ],
)
def test_an_order_of_items_that_cannot_hold_is_found_before_anything_runs(items: str, message: str) -> None:
    assert message in errors_of(fan_out(items))


@pytest.mark.parametrize(
    "text",
    [
        fan_out("[{id: a}, {id: b, after: [a]}, {id: c, after: [a, b]}]"),
        fan_out("[{id: a}, {id: b, after: a}]"),
        fan_out("[x, y]", ""),
        fan_out("[{n: 1}, {n: 2}]", "    key: item.n\n"),
    ],
)
def test_an_order_that_holds_is_no_error(text: str) -> None:
    assert errors_of(text) == ""


REPEATS = {
    "loop": "{name: a, type: loop, for: 2, MAX: 3, steps: [{name: b, command: 'true'}]}",
    "agent-loop": "{name: a, type: agent-loop, prompt: do it, MAX: 3}",
    "review": "{name: a, type: review, MAX: 2}",
    "retry": "{name: a, command: 'true', retry: {MAX: 2, backoff: 1s}}",
    "fix": "{name: a, command: 'true', type: gate, fix: {prompt: do it, MAX: 2}}",
    "approval": "{name: a, type: approval, MAX: 2}",
    "routine": "{name: a, type: loop, for: 2, max_iterations: 3, steps: [{name: b, command: x, retry: {MAX: 2}}]}",
}
OWN_WORD: dict[str, str] = dict.fromkeys(("loop", "agent-loop", "review"), "max_iterations")
WORDS = ("max", "max_iterations", "max_cycles")


@pytest.mark.parametrize("place", REPEATS)
def test_each_word_for_a_limit_means_the_same_with_advice_to_write_its_own(place: str) -> None:
    own = OWN_WORD.get(place, "max")
    plans: dict[str, object] = {}
    for word in WORDS:
        compiled, _, _ = compile_text(flow(f"  - {REPEATS[place].replace('MAX', word)}\n"))
        plans[word] = compiled.plan
        said = [(each.code, each.message, each.hint) for each in compiled.diagnostics]
        message, hint = f"'{word}' is read as '{own}'", f"write `{own}` instead of `{word}`"
        assert said == ([] if word == own else [("other-word", message, hint)])
    assert plans["max"] == plans["max_iterations"] == plans["max_cycles"] is not None


@pytest.mark.parametrize("place", REPEATS)
@pytest.mark.parametrize("words", [("max", "max_iterations"), ("max_cycles", "max_iterations"), ("max", "max_cycles")])
def test_two_words_for_one_limit_are_refused(place: str, words: tuple[str, str]) -> None:
    text = flow(f"  - {REPEATS[place].replace('MAX: ', f'{words[0]}: 1, {words[1]}: ')}\n")
    assert f"conflicting-keys '{words[0]}' and '{words[1]}' exclude each other" in errors_of(text)


def test_other_words_for_labels_thoughts_and_approvals_mean_the_same() -> None:
    steps = "  - {name: a, prompt: do it, require_confirmation: true, suppress_thought_posting: true}\n"
    own = "  - {name: a, prompt: do it, requires_approval: true, suppress_thoughts: true}\n"
    other, _, _ = compile_text("tags: [fast]\n" + flow(steps))
    usual, _, _ = compile_text("labels: [fast]\n" + flow(own))
    assert other.plan == usual.plan is not None
    assert [each.message for each in other.diagnostics] == [
        "'tags' is read as 'labels'",
        "'require_confirmation' is read as 'requires_approval'",
        "'suppress_thought_posting' is read as 'suppress_thoughts'",
    ]


def test_a_routine_may_use_other_words() -> None:
    routine = flow(f"  - {REPEATS['routine'].replace('MAX', 'max_cycles')}\n").replace("name: case", "name: again")
    compiled, _, _ = compile_text(flow("  - {name: r, use: again}\n"), workflows={"again": routine})
    assert compiled.plan is not None, shown(compiled.diagnostics)
    inner = compiled.plan.steps[0].action
    assert isinstance(inner, GroupAction)
    loop = inner.steps[0].action
    assert isinstance(loop, LoopAction)
    assert loop.steps[0].retry.more == 2


def test_a_step_that_does_not_repeat_has_no_limit_of_rounds() -> None:
    compiled, _, _ = compile_text(flow("  - {name: a, command: 'true', max: 3}\n"))
    found = next(each for each in compiled.diagnostics if each.code == "unknown-key")
    assert found.hint is not None
    assert "only steps that repeat have it" in found.hint
