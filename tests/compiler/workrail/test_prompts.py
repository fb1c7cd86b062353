from typing import Any

import pytest
from inline_snapshot import snapshot

from handrail.model.workflow.values import Prompt
from support.compiler.workrail_building import builtins, compiled, marked, step


def prompt(**blocks: Any) -> str:
    return compiled(step(promptBlocks=blocks)).action().prompt.text


def test_a_plain_prompt_keeps_its_text_and_its_own_syntax() -> None:
    result = compiled(step(prompt="Look at {{goal}}."))
    assert result.action().prompt == Prompt("Look at {{goal}}.", "workrail")


def test_all_sections_stand_in_their_order_whatever_order_they_were_written_in() -> None:
    text = prompt(
        verify=["v1", "v2"],
        outputRequired={"zeta": "last letter", "alpha": "first letter"},
        procedure=["p1", "p2"],
        constraints=["c1", "c2"],
        goal="the goal",
    )
    assert text == snapshot("""\
## Goal
the goal

## Constraints
- c1
- c2

## Procedure
1. p1
2. p2

## Output Required
- **zeta**: last letter
- **alpha**: first letter

## Verify
- v1
- v2\
""")


def test_empty_sections_are_left_out() -> None:
    assert prompt(goal="g", constraints=[], procedure=[], outputRequired={}, verify=[]) == "## Goal\ng"


def test_parts_are_joined_without_anything_between() -> None:
    parts = [{"kind": "text", "text": "a"}, {"kind": "text", "text": "b "}, {"kind": "text", "text": "c"}]
    assert prompt(goal=parts) == "## Goal\nab c"


def test_a_reference_is_replaced_by_the_librarys_text() -> None:
    text = prompt(constraints=[[{"kind": "text", "text": "Note: "}, {"kind": "ref", "refId": "wr.refs.memory_usage"}]])
    assert text == f"## Constraints\n- Note: {builtins().ref('wr.refs.memory_usage')}"


@pytest.mark.parametrize("ref_id", builtins().ref_ids())
def test_every_reference_of_the_library_can_be_used(ref_id: str) -> None:
    assert len(prompt(goal=[{"kind": "ref", "refId": ref_id}])) > 40


@pytest.mark.parametrize("ref_id", ["wr.refs.memory_usag", "memory_usage", "wr.refs.../../x"])
def test_an_unknown_reference_is_refused_with_the_known_ones(ref_id: str) -> None:
    result = compiled(step(promptBlocks={"goal": [{"kind": "ref", "refId": ref_id}]}))
    assert result.codes == ["unknown-ref"]
    assert "wr.refs.memory_usage" in (result.only.hint or "")
    assert marked(result.only) == f'"{ref_id}"'


def test_blocks_that_say_nothing_are_refused() -> None:
    result = compiled(step(promptBlocks={"constraints": []}))
    assert result.codes == ["empty-prompt"]
    assert marked(result.only) == '"promptBlocks"'


def test_a_prompt_and_blocks_exclude_each_other() -> None:
    result = compiled(step(prompt="x", promptBlocks={"goal": "g"}))
    assert result.codes == ["conflicting-keys"]


def test_a_step_needs_something_to_say() -> None:
    result = compiled({"id": "first-step", "title": "t"})
    assert (result.only.code, result.only.message) == (
        "missing-key",
        "a step needs prompt, promptBlocks or templateCall",
    )


@pytest.mark.parametrize("token", ["{{wr.refs.memory_usage}}", "{{wr.bindings.}}", "{{wr.unfinished"])
def test_a_token_that_nothing_resolves_is_refused_where_it_stands(token: str) -> None:
    result = compiled(step(prompt=f"First\nsee {token}"))
    assert result.codes == ["unresolved-token"]
    assert marked(result.only) == token


def test_a_token_in_rendered_blocks_is_refused_at_the_blocks() -> None:
    result = compiled(step(promptBlocks={"goal": "see {{wr.x}}"}))
    assert (result.codes, marked(result.only)) == (["unresolved-token"], '"promptBlocks"')


def test_a_token_is_not_reported_twice() -> None:
    assert compiled(step(prompt="{{wr.bindings.nowhere}}")).codes == ["unknown-slot"]


@pytest.mark.parametrize("variable", ["{{(done / all * 100).toFixed(1)}}", "{{index + 1}}", "{{ name }}", "{{}}"])
def test_an_odd_variable_is_only_advice_and_stays_as_it_is(variable: str) -> None:
    result = compiled(step(prompt=f"See {variable}."))
    assert result.codes == ["odd-variable"]
    assert marked(result.only) == variable
    assert result.action().prompt.text == f"See {variable}."


@pytest.mark.parametrize("variable", ["{{name}}", "{{a.b.c}}", "{{_x1.y2}}"])
def test_plain_variables_pass_without_a_word(variable: str) -> None:
    assert compiled(step(prompt=variable, title=variable)).codes == []
