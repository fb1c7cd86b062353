"""Extension points: bound by the bindings of the workspace, and told when those changed since."""

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from support.pull.lists import trust_file
from support.pull.room import Json, Pull, Said, definition, step

SLOT: Json = {"slotId": "review", "purpose": "How to review", "default": "routine-plan-analysis"}
FLOW: Json = definition(step("one", prompt="Use {{wr.bindings.review}}."), step("two"), extensionPoints=[SLOT])


def bind(pull: Pull, value: Any, place: str = ".workrail") -> None:
    path = pull.workspace / place / "bindings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    trust_file(pull, path)


def drift(said: Said) -> list[Json]:
    return [each for each in said.data["warnings"] if each["code"] == "BINDING_DRIFT"]


@pytest.mark.parametrize("place", [".workrail", ".handrail"])
def test_the_bindings_of_the_workspace_count_wherever_the_server_was_started(pull: Pull, place: str) -> None:
    bind(pull, {"review": "routine-ideation"}, place)
    said = pull.start(FLOW)
    assert "Use routine-ideation." in said.text
    assert not drift(pull.rehydrate(said))


def test_without_bindings_the_default_of_the_workflow_counts(pull: Pull) -> None:
    said = pull.start(FLOW)
    assert "Use routine-plan-analysis." in said.text
    assert not drift(pull.rehydrate(said))


def test_a_binding_that_changed_is_told_on_return_and_the_run_keeps_its_own(pull: Pull) -> None:
    bind(pull, {"sample-flow": {"review": "routine-ideation"}})
    said = pull.start(FLOW)
    bind(pull, {"sample-flow": {"review": "routine-depth"}})
    again = pull.rehydrate(said)
    [told] = drift(again)
    assert (told["slotId"], told["pinnedValue"], told["currentValue"]) == (
        "review",
        "routine-ideation",
        "routine-depth",
    )
    assert told["message"].split("; ") == snapshot(
        [
            (
                "slot 'review': this run was pinned to 'routine-ideation', "
                "and since then the project has bound it to 'routine-depth'"
            ),
            "the run keeps its binding",
        ]
    )
    assert "Use routine-ideation." in again.text
    assert not pull.advance(said).data["warnings"]
    assert "Use routine-depth." in pull.start(FLOW).text


def test_a_binding_that_was_removed_is_told(pull: Pull) -> None:
    bind(pull, {"review": "routine-ideation"})
    said = pull.start(FLOW)
    (pull.workspace / ".workrail" / "bindings.json").unlink()
    [told] = drift(pull.rehydrate(said))
    assert (told["slotId"], told["pinnedValue"], told["currentValue"]) == ("review", "routine-ideation", None)


def test_a_binding_that_was_added_is_told(pull: Pull) -> None:
    said = pull.start(FLOW)
    bind(pull, {"review": "routine-ideation"})
    [told] = drift(pull.rehydrate(said))
    assert (told["pinnedValue"], told["currentValue"]) == ("routine-plan-analysis", "routine-ideation")


@pytest.mark.parametrize("broken", ["[]", "{", '{"review": 3}', '{"review": ""}'])
def test_a_bindings_file_that_broke_since_is_in_nobodys_way(pull: Pull, broken: str) -> None:
    bind(pull, {"review": "routine-ideation"})
    said = pull.start(FLOW)
    (pull.workspace / ".workrail" / "bindings.json").write_text(broken, "utf-8")
    assert pull.rehydrate(said).data["kind"] == "ok"


def test_a_workspace_that_is_gone_is_in_nobodys_way(pull: Pull) -> None:
    bind(pull, {"review": "routine-ideation"})
    said = pull.start(FLOW)
    pull.workspace.rename(pull.folder / "moved")
    assert [each["currentValue"] for each in drift(pull.rehydrate(said))] == [None]
