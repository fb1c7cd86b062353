from dataclasses import replace
from typing import Any

import pytest

from handrail.model.workflow.guidance import Audit, Contract, Delegation, Fragment, Verification
from handrail.model.workflow.values import Compare, Prompt
from support.compiler.named_workflows import NamedWorkflows
from support.compiler.workrail_building import builtins, catalog, compiled, marked, step, workflow


def test_a_step_has_its_id_title_and_condition() -> None:
    made = compiled(step(runCondition={"var": "v"})).step()
    assert (made.name, made.description, made.when) == (
        "first-step",
        "Title of first-step",
        Compare("v", "truthy"),
    )


def test_small_settings_of_a_step_are_kept() -> None:
    action = compiled(
        step(askForFiles=True, notesOptional=True, guidance=["a", "b"], agentRole="A calm tester.")
    ).action()
    assert (action.ask_for_files, action.notes_optional) == (True, True)
    assert (action.guidance, action.agent_role) == (("a", "b"), "A calm tester.")


def test_a_key_of_old_files_changes_nothing() -> None:
    assert compiled(step(hasValidation=True)).plan == compiled(step()).plan


def test_an_ordinary_step_may_say_that_it_is_one() -> None:
    assert compiled(step(type="step")).plan == compiled(step()).plan


def test_an_audit_stays_on_its_step() -> None:
    result = compiled(step(audit={"prompt": "Look again.", "rubric": ["depth"]}))
    assert result.action().audit == Audit("Look again.", ("depth",))
    assert len(result.made.steps) == 1


def test_a_verification_stays_on_its_step() -> None:
    result = compiled(step(verification={"command": "make test", "prompt": "Is it so?"}))
    assert result.action().verification == Verification("make test", "Is it so?")


def test_an_empty_verification_is_refused() -> None:
    assert compiled(step(verification={})).codes == ["missing-key"]


@pytest.mark.parametrize("ref", builtins().contract_ids())
def test_every_contract_of_the_library_is_written_out_in_the_plan(ref: str) -> None:
    pack = builtins().contract(ref)
    assert pack is not None
    contract = compiled(step(outputContract={"contractRef": ref})).action().contract
    assert contract == Contract(ref, pack.kind, pack.schema)


def test_a_contract_may_be_optional() -> None:
    contract = (
        compiled(step(outputContract={"contractRef": "wr.contracts.loop_control", "required": False})).action().contract
    )
    assert contract is not None
    assert contract.required is False


def test_an_unknown_contract_is_refused_with_the_known_ones() -> None:
    result = compiled(step(outputContract={"contractRef": "wr.contracts.loop_controll"}))
    assert result.only.message == (
        "unknown contract 'wr.contracts.loop_controll', did you mean 'wr.contracts.loop_control'?"
    )
    assert "wr.contracts.gate_verdict" in (result.only.hint or "")
    assert marked(result.only) == '"wr.contracts.loop_controll"'


def test_fragments_are_kept_in_their_order() -> None:
    fragments = [{"id": "one", "text": "Always {{name}}."}, {"id": "two", "text": "Sometimes.", "when": {"var": "v"}}]
    assert compiled(step(promptFragments=fragments)).action().fragments == (
        Fragment("one", "Always {{name}}."),
        Fragment("two", "Sometimes.", Compare("v", "truthy")),
    )


def test_a_fragment_that_stands_twice_is_refused() -> None:
    fragment = {"id": "one", "text": "x"}
    assert compiled(step(promptFragments=[fragment, fragment])).codes == ["duplicate-fragment"]


def test_a_fragment_cannot_hold_a_token() -> None:
    result = compiled(step(promptFragments=[{"id": "one", "text": "see {{wr.bindings.x}}"}]))
    assert (result.codes, marked(result.only)) == (["unresolved-token"], '"see {{wr.bindings.x}}"')


def parallel(*delegations: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "id": "fan-out",
        "type": "parallel",
        "title": "Fan out",
        "parallelDelegations": list(delegations or ({"workflowId": "other-flow"},)),
        **keys,
    }


def test_delegations_are_kept_with_their_maps_sorted() -> None:
    delegation = {
        "workflowId": "other-flow",
        "goal": "Look.",
        "runCondition": {"var": "v"},
        "contextMapping": {"z": "y", "a": "b"},
        "args": {"q": "1", "c": "2"},
        "modelTier": "heavy",
        "allowedTools": ["read", "grep"],
    }
    assert compiled(parallel(delegation)).delegate().delegations == (
        Delegation(
            "other-flow",
            "Look.",
            Compare("v", "truthy"),
            (("a", "b"), ("z", "y")),
            (("c", "2"), ("q", "1")),
            "heavy",
            ("read", "grep"),
        ),
    )


def test_a_delegation_to_an_unknown_workflow_is_a_warning_with_the_one_that_was_meant() -> None:
    using = replace(catalog(), index=NamedWorkflows(lambda _: None, ("fix-bug", "team-review")))
    result = compiled(parallel({"workflowId": "team-reviw"}), using=using)
    assert (result.only.is_error, marked(result.only)) == (False, '"team-reviw"')
    assert result.only.message == "unknown workflow 'team-reviw', did you mean 'team-review'?"


def test_a_misspelt_routine_of_a_delegation_is_told_apart_from_the_others() -> None:
    found = compiled(parallel({"workflowId": "routine-ideaton"}, {"workflowId": "wr.routine-desing-review"}))
    assert [each.message for each in found.report] == [
        "unknown workflow 'routine-ideaton', did you mean 'routine-ideation'?",
        "unknown workflow 'wr.routine-desing-review', did you mean 'routine-design-review'?",
    ]


@pytest.mark.parametrize("name", ["routine-ideation", "wr.routine-ideation", "own-flow", "closed-python"])
def test_a_delegation_to_a_known_workflow_is_left_alone(name: str) -> None:
    own = catalog({"own-flow": workflow()})
    using = replace(own, index=NamedWorkflows(own.workflow, ("closed-python",)))
    assert compiled(parallel({"workflowId": name}), using=using).codes == []


def test_no_tools_and_any_tools_are_not_the_same() -> None:
    none: dict[str, Any] = {"workflowId": "other-flow", "allowedTools": []}
    made = compiled(parallel(none, {"workflowId": "other-flow"})).delegate().delegations
    assert [each.allowed_tools for each in made] == [(), None]


def test_a_synthesis_stays_on_its_step() -> None:
    contract = {"contractRef": "wr.contracts.review_verdict"}
    result = compiled(parallel(synthesis={"prompt": "Bring together.", "outputContract": contract}))
    action = result.delegate()
    assert action.synthesis == Prompt("Bring together.", "workrail")
    assert action.synthesis_contract is not None
    assert action.synthesis_contract.artifact_kind == "wr.review_verdict"
    assert len(result.made.steps) == 1


def test_a_parallel_step_may_have_a_condition_and_a_confirmation() -> None:
    result = compiled(parallel(runCondition={"var": "v"}, requireConfirmation=True, notesOptional=True))
    assert result.step().when == Compare("v", "truthy")
    assert result.delegate().confirmation is not None
    assert result.delegate().notes_optional


def test_a_parallel_step_may_stand_in_a_loop() -> None:
    config = {"type": "for", "count": 2, "maxIterations": 2}
    body = {"id": "the-loop", "type": "loop", "title": "Again", "loop": config, "body": [parallel()]}
    assert [each.name for each in compiled(body).loop().steps] == ["fan-out"]
