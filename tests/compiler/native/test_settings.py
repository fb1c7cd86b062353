"""Inputs, defaults, agent settings, sessions and prompts of native workflows."""

from typing import cast

import pytest

from handrail.model.workflow.actions import AgentAction, GateAction, ParallelAction
from handrail.model.workflow.plan import Input, Step
from handrail.model.workflow.settings import AgentPolicy, AgentTask, Budget, Retry, confinement
from handrail.model.workflow.types import ANY, ChoiceType, ListType, ScalarType
from support.compiler.native_plans import errors_of, flow, plan_of


def task_of(step: Step) -> AgentTask:
    assert isinstance(step.action, AgentAction)
    return step.action.task


def test_inputs_as_a_map_have_types_and_defaults() -> None:
    plan = plan_of(
        flow(
            "  - {name: x, command: 'true'}\n",
            "input:\n  issue: issue\n  base: string = main\n  width: int = 3\n  fast: bool = false\n"
            "  level: low | medium | high = medium\n  tags: list = []\n  data: json\n  ratio: number = 0.5\n",
        )
    )
    found = {each.name: (each.type, each.required, each.default) for each in plan.inputs if each.name != "issue"}
    assert found == {
        "base": (ScalarType("string"), False, "main"),
        "width": (ScalarType("int"), False, 3),
        "fast": (ScalarType("bool"), False, False),
        "level": (ChoiceType(("low", "medium", "high")), False, "medium"),
        "tags": (ListType(ANY), False, []),
        "data": (ANY, True, None),
        "ratio": (ScalarType("number"), False, 0.5),
    }


def test_inputs_as_a_list_mean_the_same() -> None:
    as_list = "input:\n  - name: base\n    type: string\n    default: main\n  - {name: spec, type: path}\n  - note\n"
    as_map = "input:\n  base: string = main\n  spec: path\n  note: string\n"
    step = "  - {name: x, command: 'true'}\n"
    assert plan_of(flow(step, as_list)).inputs == plan_of(flow(step, as_map)).inputs


def test_an_input_may_be_optional_without_a_default() -> None:
    plan = plan_of(flow("  - {name: x, command: 'true'}\n", "input:\n  - {name: n, required: false}\n"))
    assert plan.inputs == (Input("n", ScalarType("string"), required=False),)


def test_defaults_reach_every_agent_and_a_step_overrides_them() -> None:
    plan = plan_of(
        flow(
            "  - {name: x, prompt: do it}\n  - {name: y, prompt: do it, agent: codex, model: gpt-5, access: read}\n",
            "defaults: {agent: claude/sonnet, access: full, timeout: 1h30m, retry: 1, handoff: full}\n",
        )
    )
    one, two = (task_of(step) for step in plan.steps)
    assert (one.agent, one.model, one.access, one.handoff) == ("claude", "sonnet", "full", "full")
    assert (two.agent, two.model, two.access) == ("codex", "gpt-5", "read")
    assert [step.timeout for step in plan.steps] == [5400, 5400]
    assert plan.steps[0].retry == Retry(1)


def test_settings_of_a_step_with_a_body_are_defaults_inside_it() -> None:
    plan = plan_of(
        flow(
            "  - name: p\n    type: parallel-agents\n    for_each: [1, 2]\n    agent: codex\n    access: read\n"
            "    steps:\n      - {name: i, prompt: do it}\n      - {name: j, prompt: do it, agent: claude}\n"
        )
    )
    action = plan.steps[0].action
    assert isinstance(action, ParallelAction)
    assert [(task_of(step).agent, task_of(step).access) for step in action.steps] == [
        ("codex", "read"),
        ("claude", "read"),
    ]


def test_a_model_said_twice_in_different_words_is_refused() -> None:
    found = errors_of(flow("  - {name: x, prompt: do it, agent: claude/sonnet, model: opus}\n"))
    assert "'agent' specifies the model 'sonnet', but 'model' specifies 'opus'" in found


def test_a_session_names_an_earlier_step_of_the_same_agent() -> None:
    steps = "  - {name: a, prompt: do it, agent: claude}\n  - {name: b, prompt: do it, agent: claude, session: a}\n"
    assert task_of(plan_of(flow(steps)).steps[1]).session == "a"
    assert "a conversation cannot move" not in errors_of(flow(steps))
    other = errors_of(flow(steps.replace("agent: claude, session", "agent: codex, session")))
    assert "step 'a' uses claude, but this one uses codex" in other
    assert "no earlier agent step is called 'c'" in errors_of(flow(steps.replace("session: a", "session: c")))


def test_a_summary_of_an_earlier_step_may_go_to_another_agent() -> None:
    steps = (
        "  - {name: a, prompt: do it, agent: claude}\n"
        "  - {name: b, prompt: do it, agent: codex, session: {from: a, carry: summary}}\n"
    )
    task = task_of(plan_of(flow(steps)).steps[1])
    assert (task.session, task.carry) == ("a", "summary")
    assert "no earlier agent step is called 'c'" in errors_of(flow(steps.replace("from: a", "from: c")))
    assert "step 'a' uses claude" in errors_of(flow(steps.replace("carry: summary", "carry: conversation")))
    assert "'all' is not allowed here" in errors_of(flow(steps.replace("carry: summary", "carry: all")))
    assert "carry" in errors_of(flow(steps.replace(", carry: summary", "")))


def test_continue_is_the_nearest_earlier_step_of_the_same_agent() -> None:
    steps = (
        "  - {name: a, prompt: do it, agent: claude}\n  - {name: b, prompt: do it, agent: codex}\n"
        "  - {name: c, prompt: do it, agent: claude, session: continue}\n"
    )
    assert task_of(plan_of(flow(steps)).steps[2]).session == "a"


def test_an_arbiter_never_goes_on_in_a_conversation() -> None:
    found = errors_of(
        flow(
            "  - {name: a, prompt: do it}\n  - name: r\n    type: agent-loop\n    prompt: review it\n"
            "    arbiter: {prompt: judge it, session: a}\n"
        )
    )
    assert "the arbiter always starts fresh" in found


def test_a_prompt_with_a_space_is_text_and_a_name_is_found_whatever_its_order() -> None:
    files = {"prompts/35-plan.md": "Plan it.\n", "prompts/70-plan.md": "Later.\n", "notes/x.md": "Path."}
    plan = plan_of(
        flow(
            "  - {name: a, prompt: plan the work}\n  - {name: b, prompt: plan}\n"
            "  - {name: c, prompt: notes/x.md}\n  - {name: d, prompt: fix-checks}\n"
        ),
        files,
    )
    texts = [task_of(step).prompt for step in plan.steps]
    assert [text.text for text in texts[:3]] == ["plan the work", "Plan it.\n", "Path."]
    assert texts[3].file is not None
    assert texts[3].version == "v1"


def test_a_prompt_header_is_read_and_not_sent() -> None:
    files = {"prompts/10-p.md": "<!-- Version: v3 -->\n<!-- Description: Better errors -->\n\n# Title\n<!-- kept -->\n"}
    prompt = task_of(plan_of(flow("  - {name: a, prompt: p}\n"), files).steps[0]).prompt
    assert (prompt.version, prompt.description) == ("v3", "Better errors")
    assert prompt.text == "# Title\n<!-- kept -->\n"


def test_a_prompt_can_turn_templates_off() -> None:
    files = {"prompts/10-p.md": "<!-- template: off -->\nUse {{ anything }} and {% raw stuff\n"}
    prompt = task_of(plan_of(flow("  - {name: a, prompt: p}\n"), files).steps[0]).prompt
    assert (prompt.syntax, prompt.text) == ("plain", "Use {{ anything }} and {% raw stuff\n")


@pytest.mark.parametrize("path", ["../x.md", "/etc/x.md", "prompts/../../x.md", "~/x.md", "C:/x.md", "a\\\\b.md"])
def test_a_prompt_path_that_leaves_the_folder_is_refused(path: str) -> None:
    assert "path-escape" in errors_of(flow(f'  - {{name: a, prompt: "{path}"}}\n'))


def test_the_fix_of_a_gate_sees_what_failed() -> None:
    plan = plan_of(
        flow(
            "  - name: g\n    type: gate\n    checks: {test: npm test, lint: npm run lint}\n    fix:\n"
            "      prompt: |\n"
            "        {% for one in failures %}{{ one.name }}: {{ one.output }}{% endfor %} {{ round }}\n"
            "        {{ steps.g.attempts }}\n      budget: {usd: 1}\n"
        )
    )
    action = plan.steps[0].action
    assert isinstance(action, GateAction)
    assert [check.name for check in action.checks.commands] == ["lint", "test"]
    assert action.fix is not None
    assert (action.fix.max, action.fix.budget) == (3, Budget(usd=1))


def test_a_budget_has_all_its_keys() -> None:
    top = "budget: {usd: 6.5, tokens: 1000, minutes: 90, agent_calls: 5, at_limit: finish, unknown_price: block}\n"
    plan = plan_of(flow("  - {name: x, command: 'true'}\n", top))
    assert plan.budget == Budget(6.5, 1000, 90, 5, "finish", "block")


def test_retry_counts_further_tries_and_may_pause() -> None:
    plan = plan_of(
        flow(
            "  - {name: x, command: 'true', retry: 2}\n  - {name: y, command: 'true', retry: {max: 3, backoff: 10s}}\n"
        )
    )
    assert [step.retry for step in plan.steps] == [Retry(2), Retry(3, 10)]


def test_a_sandbox_is_a_word_or_a_map_and_a_step_that_names_none_has_none() -> None:
    steps = "  - {name: x, prompt: Do it now.}\n  - {name: y, prompt: Do it now., sandbox: none}\n"
    steps += "  - {name: z, prompt: Do it now., sandbox: {kind: bwrap, network: false}}\n"
    said = [task_of(step) for step in plan_of(flow(steps)).steps]
    assert [(task.sandbox, task.network) for task in said] == [(None, True), ("none", True), ("bwrap", False)]
    configured = AgentPolicy(sandbox="bwrap")
    assert [confinement(task, configured)[0] for task in said] == ["bwrap", "none", "bwrap"]


def test_the_flags_of_an_agent_step_are_kept() -> None:
    step = plan_of(
        flow(
            "  - {name: x, prompt: do it, single_turn: true, suppress_thoughts: true, requires_approval: true,"
            " no_comment: true,"
            " disallowed_tools: [Write, Bash], tmux: true, sandbox: bwrap}\n"
        )
    ).steps[0]
    task = task_of(step)
    assert cast("AgentAction", step.action).requires_approval
    assert (task.single_turn, task.suppress_thoughts, task.tmux, task.sandbox) == (True, True, True, "bwrap")
    assert task.no_comment
    assert task.disallowed_tools == ("Bash", "Write")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("languages: [string]", Input("languages", ListType(ScalarType("string")))),
        ("languages: {type: [string]}", Input("languages", ListType(ScalarType("string")))),
        (
            'languages: "[string] = [de, fr]"',
            Input("languages", ListType(ScalarType("string")), required=False, default=["de", "fr"]),
        ),
        (
            "languages: {type: [string], default: [de, fr]}",
            Input("languages", ListType(ScalarType("string")), required=False, default=["de", "fr"]),
        ),
        ("counts: '[int] = [1, 2]'", Input("counts", ListType(ScalarType("int")), required=False, default=[1, 2])),
        ("any: list = [a, 1]", Input("any", ListType(ANY), required=False, default=["a", 1])),
        (
            "levels: '[low | high] = [low]'",
            Input("levels", ListType(ChoiceType(("low", "high"))), required=False, default=["low"]),
        ),
    ],
)
def test_a_list_input_may_be_written_in_every_natural_way(written: str, expected: Input) -> None:
    plan = plan_of(flow("  - {name: x, command: 'true'}\n", f"input:\n  {written}\n"))
    assert plan.inputs == (expected,)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("n: '[string] = [1]'", "the default '1' is not text"),
        ("n: '[int] = [de]'", "the default 'de' is not a whole number"),
        ("n: '[string] = de'", "the default 'de' is not a list"),
        ("n: {type: [a | b], default: [c]}", "the default 'c' is not one of a, b"),
    ],
)
def test_the_items_of_a_default_list_are_held_to_their_type(written: str, message: str) -> None:
    assert message in errors_of(flow("  - {name: x, command: 'true'}\n", f"input:\n  {written}\n"))
