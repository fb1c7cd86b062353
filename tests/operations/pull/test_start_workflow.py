"""What cannot be started or gone on with says why, and records nothing."""

from support.pull.room import Json, Pull, chain, definition, loop, step


def test_a_token_of_a_run_that_waits_for_a_person_says_so_as_often_as_it_is_used(pull: Pull) -> None:
    said = pull.start(chain(2))
    for _ in range(10):
        said = pull.advance(said, notes=None)
    assert said.codes == ["RUN_BLOCKED"]
    size = pull.size()
    again = pull.advance(said)
    assert again.codes == ["RUN_BLOCKED"]
    assert again.data["blockers"] == said.data["blockers"]
    assert pull.size() == size


def test_a_workflow_that_begins_with_a_loop_without_its_list_is_not_started(pull: Pull) -> None:
    flow = definition(loop("each", step("item"), type="forEach", items="parts"), step("last"))
    refused = pull.start(flow)
    assert refused.code == "PRECONDITION_FAILED"
    assert '{"parts": ["first", "second"]}' in refused.text
    assert not pull.size()
    assert pull.start("sample-flow", parts=[1, 2]).address == "each@1/item"


def test_a_context_that_is_too_large_or_reserved_starts_nothing_and_a_great_number_is_kept(pull: Pull) -> None:
    pull.add(definition(step("tell", prompt="x is {{x}}.")))
    contexts: list[Json] = [{"x": "y" * 270_000}, {"constructor": 1}]
    for context in contexts:
        assert pull.start("sample-flow", **context).code == "CONTEXT_BUDGET_EXCEEDED"
    assert not pull.size()
    assert "x is 9007199254740993." in pull.start("sample-flow", x=2**53 + 1).text


def test_a_start_that_is_made_again_with_its_request_id_gives_the_same_run(pull: Pull) -> None:
    name = pull.add(chain(3))
    wanted: Json = {"workflowId": name, "workspacePath": str(pull.workspace), "goal": "Go.", "requestId": "mine-1"}
    first = pull.call("start_workflow", **wanted)
    size = pull.size()
    other = pull.again()
    assert other.call("start_workflow", **wanted).data == first.data
    assert pull.call("start_workflow", **{**wanted, "goal": "Go on."}).code == "VALIDATION_ERROR"
    assert pull.size() == size
    second = pull.advance(first)
    late = pull.call("start_workflow", **wanted)
    assert (late.run, late.address, late.token) == (first.run, "step-2", second.token)
    runs = {pull.call("start_workflow", **{**wanted, "requestId": each}).run for each in ("mine-2", "mine-3")}
    assert len(runs | {first.run, pull.start(name).run}) == 4
    pull.assert_sound()
    other.close()


def test_the_first_answer_says_that_the_agent_works_in_the_users_own_folder(pull: Pull) -> None:
    for workflow in (pull.add(chain(1)), pull.add("name: NAME\nsteps:\n  - {name: a, prompt: Do it.}\n", "native")):
        first = pull.start(workflow)
        assert first.warnings == ["WORKS_IN_PLACE"]
        assert f"you work in your user's own folder, {pull.workspace}" in first.text
        assert pull.rehydrate(first).warnings == []


def test_a_connected_agent_begins_with_a_large_context_and_is_given_it(pull: Pull) -> None:
    text = "the total is wrong. " * 200
    pull.add(definition(step("tell", prompt="Read: {{x}}"), step("more", prompt="Again: {{x}}")))
    first = pull.start("sample-flow", x=text)
    assert text in first.text
    assert text in pull.advance(first).text
    pull.assert_sound()
