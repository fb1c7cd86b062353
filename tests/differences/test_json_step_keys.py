"""The keys of WorkRail-style steps."""

from typing import Any

import pytest

from support.differences.performers import Play
from support.differences.proofs import Benches, Json, guided, proves, step

LATER = step("later")
SETS = step("first")
CONTROL: Json = {"contractRef": "wr.contracts.loop_control"}
STOP: Json = {"kind": "wr.loop_control", "decision": "stop"}
GO_ON: Json = {"kind": "wr.loop_control", "decision": "continue"}


def addresses(run: Benches, *steps: Json, plays: Any = None) -> list[str]:
    """Give the steps that agents were called for."""
    return run(guided(*steps), plays=plays or {}).addresses


@proves("json: every step.id", "json: every step.title", "json: step.type", "json: step.prompt", "json: workflow.steps")
def test_id_title_and_prompt_are_what_a_step_is_known_by(both: Benches) -> None:
    one, other = both(guided(step())), both(guided({"id": "oil-it", "title": "Oil the hinge", "prompt": "Use oil."}))
    assert (one.addresses, other.addresses) == (["look"], ["oil-it"])
    told = [each.prompt + each.told for each in (one, other)]
    assert ["Oil the hinge" in each for each in told] == [False, True]
    assert ("Use oil." in one.prompt, "Use oil." in other.prompt) == (False, True)
    assert both(guided(step(type="step"))).addresses == ["look"]


@proves("json: every step.runCondition", "json: condition.var")
@proves("json: condition.equals", "json: condition.not_equals", "json: condition.gt", "json: condition.gte")
@proves("json: condition.lt", "json: condition.lte", "json: condition.contains", "json: condition.startsWith")
@proves("json: condition.endsWith", "json: condition.matches", "json: condition.in", "json: condition.and")
@proves("json: condition.or", "json: condition.not")
@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        ({"var": "size"}, {"var": "nothing"}),
        ({"var": "size", "equals": "Large "}, {"var": "size", "equals": "small"}),
        ({"var": "size", "not_equals": "small"}, {"var": "size", "not_equals": "large"}),
        ({"var": "files", "gt": 2}, {"var": "files", "gt": 3}),
        ({"var": "files", "gte": 3}, {"var": "files", "gte": 4}),
        ({"var": "files", "lt": 4}, {"var": "files", "lt": 3}),
        ({"var": "files", "lte": 3}, {"var": "files", "lte": 2}),
        ({"var": "size", "contains": "ARG"}, {"var": "size", "contains": "tiny"}),
        ({"var": "size", "startsWith": "la"}, {"var": "size", "startsWith": "ge"}),
        ({"var": "size", "endsWith": "ge"}, {"var": "size", "endsWith": "la"}),
        ({"var": "size", "matches": "^l.*e$"}, {"var": "size", "matches": "^x"}),
        ({"var": "size", "in": ["large", "huge"]}, {"var": "size", "in": ["small"]}),
        ({"and": [{"var": "size"}, {"var": "files"}]}, {"and": [{"var": "size"}, {"var": "nothing"}]}),
        ({"or": [{"var": "nothing"}, {"var": "files"}]}, {"or": [{"var": "nothing"}, {"var": "none"}]}),
        ({"not": {"var": "nothing"}}, {"not": {"var": "size"}}),
    ],
)
def test_a_condition_decides_whether_a_step_runs(both: Benches, holds: Json, fails: Json) -> None:
    plays = {"first": Play(context={"size": "large", "files": 3})}
    assert addresses(both, SETS, step("later", runCondition=holds), plays=plays) == ["first", "later"]
    assert addresses(both, SETS, step("later", runCondition=fails), plays=plays) == ["first"]


@proves("json: every step.notesOptional")
def test_notes_are_demanded_unless_they_are_optional(both: Benches) -> None:
    silent = {"look": Play(say="")}
    assert both(guided(step()), plays=silent).status != "succeeded"
    assert both(guided(step(notesOptional=True)), plays=silent).status == "succeeded"


@proves("json: every step.requireConfirmation", "json: confirmation.kind", "json: confirmation.condition")
def test_a_confirmation_waits_for_a_person(both: Benches) -> None:
    def goes_on(wanted: Any = None) -> bool:
        more = {} if wanted is None else {"requireConfirmation": wanted}
        plays = {"first": Play(context={"risk": "high"})}
        return "later" in both(guided(SETS, step("look", **more), LATER), plays=plays).addresses

    assert goes_on()
    assert not goes_on(wanted=True)
    assert not goes_on({"kind": "human_approval"})
    high, low = ({"var": "risk", "equals": level} for level in ("high", "low"))
    assert (goes_on(high), goes_on(low)) == (False, True)
    assert not goes_on({"kind": "human_approval", "condition": high})
    assert goes_on({"kind": "human_approval", "condition": low})


@proves("json: step.agentRole", "json: step.guidance", "json: audit.prompt", "json: audit.rubric", "json: step.audit")
@proves("json: step.askForFiles", "json: step.verification", "json: verification.prompt")
@pytest.mark.parametrize(
    "more",
    [
        {"agentRole": "Read every caller."},
        {"guidance": ["Read every caller."]},
        {"audit": {"prompt": "Read every caller."}},
        {"audit": {"prompt": "Is it right?", "rubric": ["Read every caller."]}},
        {"verification": {"prompt": "Read every caller."}},
    ],
)
def test_advice_of_a_step_is_told(both: Benches, more: Json) -> None:
    assert "Read every caller." not in both(guided(step())).prompt
    assert "Read every caller." in both(guided(step(**more))).prompt


@proves("json: step.askForFiles")
def test_the_agent_is_told_to_ask_for_files(both: Benches) -> None:
    plain, asks = both(guided(step())).prompt, both(guided(step(askForFiles=True))).prompt
    assert len(asks) > len(plain)
    assert "file" in asks.replace(plain, "")


@proves("json: step.promptBlocks", "json: prompt blocks.goal", "json: prompt blocks.constraints")
@proves("json: prompt blocks.procedure", "json: prompt blocks.outputRequired", "json: prompt blocks.verify")
@proves("json: prompt part.kind", "json: prompt part.text", "json: prompt part.refId")
@pytest.mark.parametrize(
    "more",
    [
        {"goal": "Read every caller."},
        {"constraints": ["Read every caller."]},
        {"procedure": ["Read every caller."]},
        {"outputRequired": {"callers": "Read every caller."}},
        {"verify": ["Read every caller."]},
        {"constraints": [[{"kind": "text", "text": "Read every caller."}]]},
    ],
)
def test_blocks_become_the_prompt(both: Benches, more: Json) -> None:
    goal = {"goal": "A plan."}
    assert "Read every caller." not in both(guided(step(promptBlocks=goal))).prompt
    assert "Read every caller." in both(guided(step(promptBlocks={**goal, **more}))).prompt


@proves("json: prompt part.refId", "json: prompt part.kind")
def test_a_ref_brings_a_text_of_the_library(both: Benches) -> None:
    part = [{"kind": "ref", "refId": "wr.refs.memory_usage"}]
    plain = both(guided(step(promptBlocks={"goal": "A plan."}))).prompt
    assert len(both(guided(step(promptBlocks={"goal": "A plan.", "constraints": [part]}))).prompt) > len(plain) + 100


@proves("json: step.promptFragments", "json: prompt fragment.id", "json: prompt fragment.when")
@proves("json: prompt fragment.text")
def test_fragments_are_added_where_their_condition_holds(both: Benches) -> None:
    def told(**more: Any) -> bool:
        fragment = {"id": "closing", "text": "Name a line for each.", **more}
        plays = {"first": Play(context={"deep": True})}
        return "Name a line for each." in both(guided(SETS, step(promptFragments=[fragment])), plays=plays).prompt

    assert told()
    assert told(when={"var": "deep"})
    assert not told(when={"var": "nothing"})


@proves("json: step.outputContract", "json: output contract.contractRef", "json: output contract.required")
def test_a_contract_demands_its_artifact(both: Benches) -> None:
    held, optional = step(outputContract=CONTROL), step(outputContract={**CONTROL, "required": False})
    assert both(guided(step())).status == both(guided(optional)).status == "succeeded"
    assert both(guided(held)).status != "succeeded"
    assert both(guided(held), plays={"look": Play(artifacts=(STOP,))}).status == "succeeded"


@proves("json: step.validationCriteria", "json: validation rule.type", "json: validation rule.message")
@proves("json: validation rule.value", "json: validation rule.pattern", "json: validation rule.flags")
@proves("json: validation rule.min", "json: validation rule.max", "json: validation rule.schema")
@proves("json: validation rule.condition", "json: validation rule.and", "json: validation rule.or")
@proves("json: validation rule.not")
@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        ({"type": "contains", "value": "Done"}, {"type": "contains", "value": "tests"}),
        ({"type": "regex", "pattern": "^Done"}, {"type": "regex", "pattern": "^done"}),
        ({"type": "regex", "pattern": "^done", "flags": "i"}, {"type": "regex", "pattern": "^done"}),
        ({"type": "length", "min": 2}, {"type": "length", "min": 200}),
        ({"type": "length", "max": 200}, {"type": "length", "max": 2}),
    ],
)
def test_rules_hold_for_what_a_step_gives_back(both: Benches, holds: Json, fails: Json) -> None:
    message = {"message": "say what was tested"}
    good, bad = {**holds, **message}, {**fails, **message}
    for rule in (good, {"and": [good, good]}, {"or": [bad, good]}, {"not": bad}, {**bad, "condition": {"var": "no"}}):
        assert both(guided(step(validationCriteria=rule))).status == "succeeded"
    refused = both(guided(step(validationCriteria=bad)))
    assert refused.status != "succeeded"
    assert "say what was tested" in refused.prompts[-1]


@proves("json: validation rule.schema", "json: validation rule.type")
def test_a_schema_holds_for_what_a_step_gives_back(both: Benches) -> None:
    rule = {"type": "schema", "schema": {"type": "object", "required": ["tests"]}, "message": "name the tests"}
    wrong, right = ({"look": Play(say=text)} for text in ('{"other": 1}', '{"tests": 1}'))
    assert both(guided(step(validationCriteria=rule)), plays=wrong).status != "succeeded"
    assert both(guided(step(validationCriteria=rule)), plays=right).status == "succeeded"


@proves("json: loop step.type", "json: loop step.loop", "json: loop step.body", "json: loop.type", "json: loop.count")
@proves("json: loop.maxIterations", "json: loop.iterationVar", "json: loop.items", "json: loop.itemVar")
@proves("json: loop.indexVar")
def test_a_loop_repeats_its_body(both: Benches) -> None:
    def prompts(settings: Json, text: str = "Again.", **more: Any) -> str:
        loop = {"id": "again", "title": "Again", "type": "loop", "loop": {"maxIterations": 5, **settings}}
        found = both(
            guided(SETS, {**loop, "body": [step("inner", prompt=text)], **more}),
            plays={"first": Play(context={"files": ["a.py", "b.py"], "number": 2})},
        )
        return found.prompt

    assert [prompts({"type": "for", "count": each}).count("\nAgain.\n") for each in (1, 3)] == [1, 3]
    assert prompts({"type": "for", "count": "number"}).count("\nAgain.\n") == 2
    assert prompts({"type": "for", "count": 3, "maxIterations": 2}).count("\nAgain.\n") == 2
    assert "Round 2" in prompts({"type": "for", "count": 2}, "Round {{currentIteration}}")
    assert "Round 2" in prompts({"type": "for", "count": 2, "iterationVar": "turn"}, "Round {{turn}}")
    each = {"type": "forEach", "items": "files"}
    assert "b.py" in prompts(each, "Read {{currentItem}}")
    assert "b.py" in prompts({**each, "itemVar": "file"}, "Read {{file}}")
    assert "Number 1" in prompts(each, "Number {{currentIndex}}")
    assert "Number 1" in prompts({**each, "indexVar": "at"}, "Number {{at}}")


@proves("json: loop.condition", "json: loop.conditionSource", "json: condition source.kind")
@proves("json: condition source.condition", "json: condition source.contractRef", "json: loop.type")
def test_a_condition_or_an_artifact_ends_a_loop(both: Benches) -> None:
    def rounds(settings: Json, play: Play, **more: Any) -> int:
        loop = {"id": "again", "title": "Again", "type": "loop", "loop": {"maxIterations": 3, **settings}}
        plays = {f"again@{number}/inner": play for number in (1, 2, 3)}
        found = both(guided({**loop, "body": [step("inner", **more)]}), plays={**plays, "inner": play})
        return found.prompt.count("\nDo inner.\n")

    green = {"var": "green"}
    assert rounds({"type": "until", "condition": green}, Play(context={"green": True})) == 1
    assert rounds({"type": "until", "condition": green}, Play()) == 3
    assert rounds({"type": "while", "condition": {"not": green}}, Play(context={"green": True})) == 1
    outright = {"kind": "context_variable", "condition": green}
    assert rounds({"type": "until", "conditionSource": outright}, Play(context={"green": True})) == 1
    by_artifact = {"kind": "artifact_contract", **CONTROL}
    decided = {"type": "while", "conditionSource": by_artifact}
    assert rounds(decided, Play(artifacts=(STOP,)), outputContract=CONTROL) == 1
    assert rounds(decided, Play(artifacts=(GO_ON,)), outputContract=CONTROL) == 3


@proves("json: step.templateCall", "json: template call.templateId", "json: template call.args")
@proves("json: template_call step.type", "json: template_call step.templateId", "json: template_call step.args")
def test_a_template_is_replaced_by_the_steps_of_its_routine(both: Benches) -> None:
    review = {"templateId": "wr.templates.routine.design-review", "args": {"deliverableName": "fence-review.md"}}
    plain = both(guided(step()))
    short = both(guided(step(templateCall=review)))
    own = both(guided({"id": "call", "type": "template_call", **review}))
    assert len(plain.addresses) == 1
    assert len(short.addresses) == len(own.addresses) > 2
    for found in (short, own):
        assert "fence-review.md" in found.prompt


@proves("json: parallel step.type", "json: parallel step.parallelDelegations", "json: delegation.workflowId")
@proves("json: delegation.goal", "json: delegation.runCondition", "json: delegation.contextMapping")
@proves("json: delegation.args", "json: delegation.modelTier", "json: delegation.allowedTools")
@proves("json: parallel step.synthesis", "json: synthesis.prompt")
@pytest.mark.parametrize(
    ("delegation", "more", "told"),
    [
        ({"workflowId": "routine-ideation"}, {}, "routine-ideation"),
        ({"goal": "Find the mistakes."}, {}, "Find the mistakes."),
        ({"contextMapping": {"size": "extent"}}, {}, "extent"),
        ({"args": {"mission": "correctness"}}, {}, "correctness"),
        ({"modelTier": "heavy"}, {}, "heavy"),
        ({"allowedTools": ["Grep"]}, {}, "Grep"),
        ({}, {"synthesis": {"prompt": "Say where they disagree."}}, "Say where they disagree."),
    ],
)
def test_what_is_delegated_is_told(both: Benches, delegation: Json, more: Json, told: str) -> None:
    def prompt(one: Json, **keys: Any) -> str:
        views = step("views", type="parallel", parallelDelegations=[{"workflowId": "child", **one}], **keys)
        return both(guided(views), workflows={"child": guided(step(), id="child")}).prompt

    assert told not in prompt({})
    assert told in prompt(delegation, **more)


@proves("json: delegation.runCondition")
def test_a_delegation_may_have_a_condition(both: Benches) -> None:
    def prompt(**more: Any) -> str:
        one: Json = {"workflowId": "child", "goal": "Find the mistakes.", **more}
        other: Json = {"workflowId": "child", "goal": "Find the risks."}
        views = step("views", type="parallel", parallelDelegations=[one, other])
        return both(guided(views), workflows={"child": guided(step(), id="child")}).prompt

    assert "Find the mistakes." in prompt()
    assert "Find the mistakes." not in prompt(runCondition={"var": "nothing"})


@proves("json: synthesis.outputContract")
def test_a_synthesis_may_demand_an_artifact(both: Benches) -> None:
    def ended(**more: Any) -> str:
        views = step("views", type="parallel", parallelDelegations=[{"workflowId": "child"}], **more)
        return both(guided(views), workflows={"child": guided(step(), id="child")}).prompt

    assert "loop_control" not in ended()
    assert "loop_control" in ended(synthesis={"prompt": "Decide.", "outputContract": CONTROL})


@proves("json: verification.command")
def test_a_command_that_verifies_a_step_is_executed_and_must_pass(both: Benches) -> None:
    checked = guided(step(verification={"command": "test -e a.txt"}))
    assert both(guided(step())).commands == []
    red, green = both(checked), both(checked, files={"a.txt": ""})
    assert green.commands == ["test -e a.txt"]
    assert (red.status == "succeeded", green.status == "succeeded") == (False, True)
    assert "test -e a.txt" in red.told
