from typing import Any

import pytest

from handrail.model.workflow.plan import Injected
from handrail.model.workflow.values import Compare
from support.compiler.workrail_building import Result, catalog, compiled, loop, marked, routine, step, workflow

OWN = "wr.templates.routine.own"


def call(args: dict[str, Any] | None = None, template: str = OWN, **keys: Any) -> dict[str, Any]:
    holder: dict[str, Any] = {"templateId": template}
    if args is not None:
        holder["args"] = args
    return step("call-it", templateCall=holder, **keys)


def with_routine(caller: dict[str, Any], *steps: dict[str, Any], **keys: Any) -> Result:
    return compiled(caller, using=catalog({"routine-own": routine("own", *steps, **keys)}))


def test_a_call_is_replaced_by_the_steps_of_the_routine() -> None:
    result = with_routine(call(), step("one-step"), step("two-step"))
    assert [each.name for each in result.made.steps] == ["call-it.one-step", "call-it.two-step"]


def test_expanded_steps_say_what_put_them_there() -> None:
    result = with_routine(call(), step("one-step"))
    assert result.step().injected == Injected(OWN, "call-it", "called by step 'call-it'")


def test_steps_that_were_written_by_hand_have_no_provenance() -> None:
    assert compiled(step()).step().injected is None


def test_arguments_are_filled_into_title_and_prompt() -> None:
    inner = step("one-step", title="Write {file}", prompt="Write {file} {n} times, {draft}.")
    result = with_routine(call({"file": "a.md", "n": 3, "draft": True}), inner)
    assert result.action().title == "Write a.md"
    assert result.action().prompt.text == "Write a.md 3 times, true."
    assert result.step().description == "Write a.md"


def test_a_number_without_a_fraction_is_written_without_one() -> None:
    assert with_routine(call({"n": 2.0}), step("one-step", prompt="{n}")).action().prompt.text == "2"


def test_a_value_that_looks_like_a_place_is_not_filled_again() -> None:
    result = with_routine(call({"a": "{b}", "b": "no"}), step("one-step", prompt="{a} {b}"))
    assert result.action().prompt.text == "{b} no"


def test_double_braces_are_variables_and_no_places() -> None:
    result = with_routine(call({}), step("one-step", prompt="See {{name}}."))
    assert result.action().prompt.text == "See {{name}}."


def test_a_missing_argument_is_named_at_the_arguments() -> None:
    result = with_routine(call({}), step("one-step", prompt="Write {file}."))
    assert result.only.code == "missing-template-arg"
    assert result.only.message == f"template '{OWN}' requires the argument 'file'"
    assert result.only.hint == 'add "file": "..." to its arguments'
    assert marked(result.only) == '"args"'


def test_a_missing_argument_without_any_arguments_is_named_at_the_template() -> None:
    result = with_routine(call(), step("one-step", prompt="Write {file}."))
    assert marked(result.only) == f'"{OWN}"'


@pytest.mark.parametrize("value", [None, ["a"], {"a": 1}])
def test_an_argument_that_is_no_plain_value_is_refused(value: object) -> None:
    result = with_routine(call({"file": value}), step("one-step", prompt="Write {file}."))
    assert result.codes == ["template-arg-type"]
    assert "argument 'file'" in result.only.message


def test_an_argument_that_the_routine_does_not_use_is_a_warning_with_the_one_that_is_missing() -> None:
    result = with_routine(call({"flie": "x"}), step("one-step", prompt="Write {file}."))
    assert result.codes == ["missing-template-arg", "unused-template-arg"]
    assert result.report.diagnostics[1].message == "the template has no argument 'flie', did you mean 'file'?"
    assert marked(result.report.diagnostics[1]) == '"flie"'


def test_the_meta_guidance_of_the_routine_follows_the_guidance_of_each_step() -> None:
    result = with_routine(call(), step("one-step", guidance=["own"]), step("two-step"), metaGuidance=["all"])
    assert [result.action(index).guidance for index in (0, 1)] == [("own", "all"), ("all",)]


def test_the_callers_condition_holds_for_each_step_without_its_own() -> None:
    own = {"var": "b", "equals": 2}
    result = with_routine(
        call(runCondition={"var": "a", "equals": 1}), step("one-step"), step("two-step", runCondition=own)
    )
    assert [each.when for each in result.made.steps] == [Compare("a", "equals", 1), Compare("b", "equals", 2)]


def test_other_keys_of_the_caller_are_dropped_with_a_warning() -> None:
    result = with_routine(call(requireConfirmation=True, guidance=["x"]), step("one-step"))
    assert result.codes == ["no-effect", "no-effect"]
    assert result.action().confirmation is None
    assert {marked(found) for found in result.report} == {'"requireConfirmation"', '"guidance"'}


def test_a_routine_that_calls_a_template_is_refused() -> None:
    nested = step("one-step", templateCall={"templateId": "wr.templates.routine.ideation"})
    result = with_routine(call(), nested)
    assert result.codes == ["nested-template"]


def test_a_routine_step_without_a_prompt_is_refused() -> None:
    result = with_routine(call(), step("one-step", promptBlocks={"goal": "x"}))
    assert result.codes == ["broken-routine"]
    assert "has no 'prompt'" in result.only.message


def test_an_error_in_the_routines_file_is_told_at_the_call_with_its_place() -> None:
    result = with_routine(call(), {"id": "one-step", "prompt": "x"})
    assert result.codes == ["broken-routine"]
    assert "needs 'title' (routine-own.json:" in result.only.message
    assert marked(result.only) == f'"{OWN}"'


def test_an_unknown_template_is_refused_with_the_one_that_was_meant() -> None:
    result = compiled(call(template="wr.templates.routine.design-revew"))
    assert result.codes == ["unknown-template"]
    assert "did you mean 'wr.templates.routine.design-review'?" in result.only.message
    assert "wr.templates.capability_probe" in (result.only.hint or "")


def test_a_binding_in_a_template_id_has_its_own_message() -> None:
    result = compiled(call(template="wr.templates.routine.{{wr.bindings.x}}"))
    assert result.codes == ["template-binding"]


def test_a_template_call_by_type_means_the_same() -> None:
    own = catalog({"routine-own": routine("own", step("one-step", prompt="Write {file}."))})
    typed = {"id": "call-it", "type": "template_call", "templateId": OWN, "args": {"file": "x"}}
    assert compiled(typed, using=own).plan == compiled(call({"file": "x"}), using=own).plan


@pytest.mark.parametrize("prefix", ["routine-", "wr.routine-"])
def test_a_routine_of_the_project_wins_over_the_librarys(prefix: str) -> None:
    own = {**workflow(step("mine-only")), "id": f"{prefix}design-review"}
    result = compiled(call({}, "wr.templates.routine.design-review"), using=catalog({f"{prefix}design-review": own}))
    assert [each.name for each in result.made.steps] == ["call-it.mine-only"]


def test_a_routine_of_the_library_is_found() -> None:
    result = compiled(call({"deliverableName": "out.md"}, "wr.templates.routine.tension-driven-design"))
    assert len(result.made.steps) > 1
    assert all(each.name.startswith("call-it.") for each in result.made.steps)


@pytest.mark.parametrize("template", ["wr.templates.audit.depth", "wr.templates.capability_probe"])
def test_audits_and_the_capability_probe_have_templates_of_their_own(template: str) -> None:
    result = compiled(call({}, template))
    assert "unknown-template" not in result.codes


def test_calls_in_loop_bodies_are_expanded_too() -> None:
    own = catalog({"routine-own": routine("own", step("one-step"), step("two-step"))})
    result = compiled(
        loop(body=[call(), loop("deeper", [{**call(), "id": "call-two"}], condition={})], condition={}), using=own
    )
    names = [each.name for each in result.loop().steps]
    assert names == ["call-it.one-step", "call-it.two-step", "deeper"]


def test_two_calls_of_one_routine_do_not_collide() -> None:
    own = catalog({"routine-own": routine("own", step("one-step"))})
    result = compiled(call(), {**call(), "id": "call-again"}, using=own)
    assert [each.name for each in result.made.steps] == ["call-it.one-step", "call-again.one-step"]


def test_a_routine_with_one_id_twice_is_refused_after_expansion() -> None:
    result = with_routine(call(), step("one-step"), step("one-step"))
    assert result.codes == ["duplicate-step"]
    assert "'call-it.one-step'" in result.only.message


def test_what_is_wrong_in_an_expanded_step_is_told_at_the_call() -> None:
    result = with_routine(call(), step("one-step", assessmentRefs=["nowhere"]))
    assert result.codes == ["unknown-assessment"]
    assert (result.only.file, marked(result.only)) == ("workflow.json", f'"{OWN}"')
