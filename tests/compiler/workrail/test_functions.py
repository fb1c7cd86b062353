from typing import Any

import pytest

from handrail.model.workflow.guidance import FunctionDefinition, FunctionParameter, GuidedAction
from support.compiler.workrail_building import compiled, loop, marked, step


def function(name: str, text: str = "It does.", **keys: Any) -> dict[str, Any]:
    return {"name": name, "definition": text, **keys}


def names(action: GuidedAction) -> list[str]:
    return [each.name for each in action.functions]


def test_a_definition_is_kept_with_its_parameters() -> None:
    parameter = {"name": "depth", "type": "number", "required": True, "description": "d", "enum": [1, 2], "default": 1}
    result = compiled(functionDefinitions=[function("look", parameters=[parameter])])
    meant = FunctionParameter("depth", "number", required=True, description="d", enum=(1, 2), default=1)
    assert result.guided.functions == (FunctionDefinition("look", "It does.", (meant,)),)


def test_a_reference_with_brackets_finds_the_definition_without() -> None:
    result = compiled(step(functionReferences=["look()"]), functionDefinitions=[function("look")])
    assert result.codes == []
    assert names(result.action()) == ["look"]


def test_the_functions_a_step_names_come_first() -> None:
    definitions = [function("first"), function("second"), function("third")]
    result = compiled(step(functionReferences=["third()", "second()"]), functionDefinitions=definitions)
    assert names(result.action()) == ["third", "second", "first"]


def test_calls_name_functions_too() -> None:
    called = step(functionCalls=[{"name": "second", "args": {"b": 1, "a": [2]}}])
    result = compiled(called, functionDefinitions=[function("first"), function("second")])
    assert names(result.action()) == ["second", "first"]


def test_the_nearest_definition_of_a_name_counts() -> None:
    inner = step("inner-step", functionDefinitions=[function("look", "step")])
    other = step("other-step")
    holder = {**loop(body=[inner, other], condition={}), "functionDefinitions": [function("look", "loop")]}
    result = compiled(holder, step("outer-step"), functionDefinitions=[function("look", "workflow")])
    inside = [each.action for each in result.loop().steps]
    found = [
        [(each.definition, each.scope) for each in action.functions]
        for action in (*inside, result.action(1))
        if isinstance(action, GuidedAction)
    ]
    assert found == [[("step", "step")], [("loop", "loop")], [("workflow", "workflow")]]


def test_a_written_scope_is_kept() -> None:
    assert compiled(functionDefinitions=[function("look", scope="loop")]).guided.functions[0].scope == "loop"


UNKNOWN: list[dict[str, Any]] = [{"functionReferences": ["lok()"]}, {"functionCalls": [{"name": "lok", "args": {}}]}]


@pytest.mark.parametrize("keys", UNKNOWN)
def test_an_unknown_function_is_a_warning(keys: dict[str, Any]) -> None:
    result = compiled(step(**keys), functionDefinitions=[function("look")])
    assert result.plan is not None
    assert (result.only.code, result.only.message) == (
        "unknown-function",
        "function 'lok' is not defined, did you mean 'look'?",
    )
    assert "lok" in marked(result.only)


def test_a_function_defined_twice_in_one_place_is_refused() -> None:
    assert compiled(functionDefinitions=[function("look"), function("look")]).codes == ["duplicate-function"]
