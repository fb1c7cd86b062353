import json
from pathlib import Path

from inline_snapshot import snapshot

from handrail.operations.workflows.trust import examine, grant
from handrail.wiring.machine import this_machine
from support.pull.lists import NATIVE, listed, place_of, row, three_steps
from support.pull.room import Pull, definition, step


def repository_workflow(pull: Pull, name: str, text: str) -> Path:
    path = pull.workspace / ".handrail" / "workflows" / name / "workflow.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("NAME", name), "utf-8")
    return path


def test_both_forms_are_listed_with_everything_that_helps_to_choose(pull: Pull) -> None:
    pull.add(definition(step("step-1"), tags=["sampling"], validatedAgainstSpecVersion=1))
    pull.add(NATIVE, "greet")
    sample, greet = row(pull, "sample-flow"), row(pull, "greet")
    assert sample.pop("workflowHash").startswith("sha256:")
    assert greet.pop("workflowHash").startswith("sha256:")
    assert sample == snapshot(
        {
            "workflowId": "sample-flow",
            "name": "Sample",
            "description": "A sample.",
            "version": "1.0.0",
            "kind": "workflow",
            "form": "json",
            "tier": "user",
            "tags": ["sampling"],
            "startable": True,
            "staleness": {"level": "none", "reason": "it was reviewed against the current authoring spec"},
        }
    )
    assert greet == snapshot(
        {
            "workflowId": "greet",
            "name": "greet",
            "description": "Greets.",
            "version": None,
            "kind": "workflow",
            "form": "yaml",
            "tier": "user",
            "tags": ["friendly"],
            "startable": True,
            "staleness": {
                "level": "possible",
                "reason": "it does not say against which version of the authoring spec it was reviewed",
            },
        }
    )


def test_built_in_workflows_are_there_and_their_routines_only_by_their_tag(pull: Pull) -> None:
    names = {each["workflowId"]: each for each in listed(pull)["workflows"]}
    assert names["fix-bug"]["tier"] == "built-in"
    assert not any("routine" in name for name in names)
    routines = listed(pull, tags=["routines"])["workflows"]
    assert {each["kind"] for each in routines} == {"routine"}
    counted = {each["id"]: each["count"] for each in listed(pull)["tagSummary"]}
    assert counted["routines"] == len(routines) > 0


def test_staleness_of_built_in_workflows_is_for_developers(pull: Pull) -> None:
    assert "staleness" not in row(pull, "fix-bug")
    pull.variables["HANDRAIL_DEV"] = "1"
    assert row(pull, "fix-bug")["staleness"]["level"] in ("none", "likely", "possible")
    inspected = pull.call("inspect_workflow", workflowId="fix-bug", workspacePath=str(pull.workspace), mode="metadata")
    assert "staleness" in inspected.data
    pull.variables.clear()
    assert "staleness" not in row(pull, "fix-bug")


def test_an_edit_of_the_third_step_changes_the_hash(pull: Pull) -> None:
    pull.add(three_steps())
    before = row(pull, "sample-flow")["workflowHash"]
    pull.add(three_steps("Do it otherwise."))
    assert row(pull, "sample-flow")["workflowHash"] != before


def test_the_listed_hash_is_the_one_that_a_run_is_pinned_to(pull: Pull) -> None:
    pull.add(three_steps())
    assert pull.start("sample-flow").data["workflowHash"] == row(pull, "sample-flow")["workflowHash"]


def test_the_order_of_keys_and_white_space_do_not_change_the_hash(pull: Pull) -> None:
    name = pull.add(three_steps())
    before = row(pull, name)["workflowHash"]
    turned = dict(reversed(list(three_steps().items())))
    (pull.home / "workflows" / f"{name}.json").write_text(json.dumps(turned, indent=4), "utf-8")
    assert row(pull, name)["workflowHash"] == before


def test_tags_choose_and_are_counted(pull: Pull) -> None:
    pull.add(definition(step("step-1"), name="first-one", tags=["sampling", "coding"]))
    pull.add(definition(step("step-1"), name="second-one", metricsProfile="coding"))
    pull.add(definition(step("step-1"), name="acme.third"))
    found = listed(pull, tags=["Coding"])
    assert [each["workflowId"] for each in found["workflows"]] == ["first-one", "second-one"]
    counted = {each["id"]: (each["count"], each["examples"]) for each in found["tagSummary"]}
    assert counted["coding"] == (2, ["first-one", "second-one"])
    assert counted["acme"] == (1, ["acme.third"])
    assert listed(pull, tags=["no-such-tag"])["workflows"] == []


def test_a_broken_file_is_told_with_its_line_and_the_reason(pull: Pull) -> None:
    (pull.home / "workflows" / "broken.json").write_text('{\n  "id": "broken-one",\n  "name": 5\n}', "utf-8")
    said = pull.call("list_workflows", workspacePath=str(pull.workspace))
    told = said.data["validationWarnings"]
    assert "broken-one" not in {each["workflowId"] for each in said.data["workflows"]}
    assert {each["workflowId"] for each in told} == {"broken-one"}
    assert {Path(each["file"]).name for each in told} == {"broken.json"}
    assert 3 in {each["line"] for each in told}
    assert "broken.json:3: " in said.text


def test_starting_a_broken_workflow_tells_what_is_wrong_with_it(pull: Pull) -> None:
    (pull.home / "workflows" / "broken.yaml").write_text("name: broken\nsteps:\n  - 5\n", "utf-8")
    said = pull.start("broken")
    assert said.code == "INVALID_WORKFLOW"
    assert "broken.yaml:3: " in said.text


def test_a_broken_file_that_hides_a_sound_one_is_told_too(pull: Pull) -> None:
    (pull.home / "workflows" / "fix-bug.yaml").write_text("name: fix-bug\nsteps: 5\n", "utf-8")
    assert [each["workflowId"] for each in listed(pull)["validationWarnings"]][:1] == ["fix-bug"]


def test_an_untrusted_workflow_is_listed_with_what_the_user_must_do(pull: Pull) -> None:
    repository_workflow(pull, "theirs", NATIVE)
    said = pull.call("list_workflows", workspacePath=str(pull.workspace))
    found = row(pull, "theirs")
    path = ".handrail/workflows/theirs/workflow.yaml"
    assert (found["startable"], found["tier"]) == (False, "repository")
    assert found["userMust"] == f"ask your user to read it, then: handrail trust {path}"
    assert f"handrail trust {path}" in said.text
    grant(place_of(pull), examine(this_machine().agents, place_of(pull), "theirs"))
    assert row(pull, "theirs")["startable"]


def test_untrusted_python_is_listed_too_and_not_run(pull: Pull) -> None:
    path = repository_workflow(pull, "theirs", NATIVE)
    path.unlink()
    path.with_suffix(".py").write_text("raise SystemExit('this ran')\n", "utf-8")
    found = row(pull, "theirs")
    assert (found["startable"], found["form"], found["workflowHash"]) == (False, "python", None)
    assert "handrail trust" in found["userMust"]
    assert pull.start("theirs").code == "UNTRUSTED"


def test_trust_is_asked_at_every_start_whatever_is_kept(pull: Pull) -> None:
    path = repository_workflow(pull, "theirs", NATIVE)
    grant(place_of(pull), examine(this_machine().agents, place_of(pull), "theirs"))
    assert row(pull, "theirs")["startable"]
    path.write_text(path.read_text("utf-8").replace("hello", "bye-bye"), "utf-8")
    said = pull.start("theirs")
    assert (said.is_error, said.code) == (True, "UNTRUSTED")


def test_sources_are_told_when_asked_for(pull: Pull) -> None:
    pull.add(definition(step("step-1")))
    assert "sources" not in listed(pull)
    assert str(pull.home / "workflows") in listed(pull, includeSources=True)["sources"]
    assert row(pull, "sample-flow", includeSources=True)["path"].endswith("workflows/sample-flow.json")


def test_a_folder_that_does_not_exist_is_refused(pull: Pull) -> None:
    for path in ("relative", str(pull.workspace / "nowhere"), "/" + "x" * 4000):
        assert pull.call("list_workflows", workspacePath=path).code == "VALIDATION_ERROR"


def test_the_text_names_each_workflow(pull: Pull) -> None:
    pull.add(definition(step("step-1"), description="Does much. " * 40))
    text = pull.call("list_workflows", workspacePath=str(pull.workspace)).text
    line = next(line for line in text.splitlines() if line.startswith("- sample-flow"))
    assert line.endswith("…")
    assert len(line) < 260
