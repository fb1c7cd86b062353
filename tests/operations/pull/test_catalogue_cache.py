import json
import os
import time
from dataclasses import replace

import pytest

from handrail.operations.pull.catalogue import Catalogue
from handrail.operations.pull.catalogue_cache import MAX_ENTRIES, keep_list
from handrail.sources.change_stamps import stamp_of
from support.pull.lists import NATIVE, listed, place_of, row, row_in, three_steps
from support.pull.room import Pull, definition, step


def settle(pull: Pull) -> None:
    """Make every file look as if it had been written long ago, so that it may be trusted to stay the same."""
    for path in pull.home.rglob("*"):
        os.utime(path, (time.time() - 60, time.time() - 60))


def test_what_did_not_change_is_compiled_once(pull: Pull) -> None:
    pull.add(three_steps())
    settle(pull)
    kept, place = Catalogue(), place_of(pull)
    first, _ = kept.look_up(place, "sample-flow")
    assert kept.look_up(place, "sample-flow")[0] is first


def test_a_change_elsewhere_keeps_what_was_compiled_and_a_change_of_its_own_does_not(pull: Pull) -> None:
    pull.add(three_steps())
    kept, place = Catalogue(), place_of(pull)
    first, _ = kept.look_up(place, "sample-flow")
    pull.add(NATIVE, "greet")
    assert kept.look_up(place, "sample-flow")[0] is first
    pull.add(three_steps("Do it otherwise."))
    assert kept.look_up(place, "sample-flow")[0].hash != first.hash


def test_a_change_of_the_same_size_at_the_same_moment_is_seen(pull: Pull) -> None:
    kept, place = Catalogue(), place_of(pull)
    seen: set[str | None] = set()
    for number in range(20):
        pull.add(three_steps(f"Do it {number:02}."))
        seen.add(kept.look_up(place, "sample-flow")[0].hash)
    assert len(seen) == 20


def test_a_prompt_beside_a_workflow_counts_as_part_of_it(pull: Pull) -> None:
    pull.add("name: NAME\nsteps:\n  - {name: a, prompt: prompts/a.md}\n", "greet")
    prompt = pull.home / "workflows" / "greet" / "prompts" / "a.md"
    prompt.parent.mkdir()
    prompt.write_text("Say hello.", "utf-8")
    settle(pull)
    before = row(pull, "greet")["workflowHash"]
    prompt.write_text("Say bye.", "utf-8")
    assert row(pull, "greet")["workflowHash"] != before


def test_a_workflow_that_another_one_calls_counts_for_both(pull: Pull) -> None:
    pull.add("name: NAME\nsteps:\n  - {name: a, prompt: Say hello}\n", "inner")
    pull.add("name: NAME\nsteps:\n  - {name: go, workflow: inner}\n", "outer")
    settle(pull)
    assert row(pull, "outer")["startable"]
    text = "name: NAME\ninput: {x: string}\nsteps:\n  - {name: a, prompt: 'Say ${x}'}\n"
    pull.add(text, "inner")
    assert [each["workflowId"] for each in listed(pull)["validationWarnings"]] == ["outer"]
    assert row(pull, "inner")["startable"]


def test_a_link_to_a_workflow_elsewhere_is_followed_when_it_changes(pull: Pull) -> None:
    elsewhere = pull.folder / "dotfiles"
    elsewhere.mkdir()
    (elsewhere / "linked.json").write_text(json.dumps(three_steps()), "utf-8")
    (pull.home / "workflows" / "linked.json").symlink_to(elsewhere / "linked.json")
    for path in elsewhere.iterdir():
        os.utime(path, (1, 1))
    before = row(pull, "sample-flow")["workflowHash"]
    (elsewhere / "linked.json").write_text(json.dumps(three_steps("Otherwise.")), "utf-8")
    assert row(pull, "sample-flow")["workflowHash"] != before


def test_the_projects_bindings_count(pull: Pull) -> None:
    slot = {"slotId": "how", "purpose": "How to do it.", "default": "wr.routine-ideation"}
    pull.add(definition(step("step-1", prompt="Use {{wr.bindings.how}}."), extensionPoints=[slot]))
    (pull.workspace / ".handrail").mkdir()
    before = row(pull, "sample-flow")["workflowHash"]
    (pull.workspace / ".handrail" / "bindings.json").write_text('{"how": "wr.routine-plan-analysis"}', "utf-8")
    assert row(pull, "sample-flow")["workflowHash"] != before


def test_a_server_that_was_just_started_knows_the_list_of_the_last_one(pull: Pull) -> None:
    pull.add(three_steps())
    (pull.home / "workflows" / "broken.json").write_text('{"id": "broken-one"}', "utf-8")
    settle(pull)
    first = pull.call("list_workflows", workspacePath=str(pull.workspace), includeSources=True)
    (kept,) = (pull.data / "lists").iterdir()
    written = kept.read_bytes()
    again = pull.again()
    try:
        assert again.call("list_workflows", workspacePath=str(pull.workspace), includeSources=True) == first
        assert again.calls.ctx.catalogue.view_from(place_of(pull)).made == {}, "nothing was compiled for it"
        pull.add(three_steps("Otherwise."))
        assert row(again, "sample-flow") != row_in(first.data, "sample-flow")
        for nonsense in (b"", b"{}", b"[1]", b'{"made_from": 5, "workflows": 7}', written[:-20]):
            kept.write_bytes(nonsense)
            again.calls.ctx.catalogue = Catalogue()
            assert row(again, "sample-flow")["startable"]
    finally:
        again.close()


def test_lists_of_many_places_are_not_kept_for_ever(pull: Pull) -> None:
    settle(pull)
    place = place_of(pull)
    for number in range(MAX_ENTRIES + 3):
        keep_list(replace(place, cwd=pull.workspace / str(number)), stamp_of(place), ())
    assert len(list((pull.data / "lists").iterdir())) == MAX_ENTRIES


@pytest.mark.parametrize("name", ["config.toml", "data/trust.json", "workflows/x.json", "workflows/x/prompts/a.md"])
def test_the_stamp_of_a_place_differs_after_a_change_of(name: str, pull: Pull) -> None:
    path = pull.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("one", "utf-8")
    settle(pull)
    before = stamp_of(place_of(pull))
    assert before is not None
    assert stamp_of(place_of(pull)) == before
    path.write_text("two", "utf-8")
    assert stamp_of(place_of(pull)) is None, "what was written this moment may be written again unseen"
    settle(pull)
    assert stamp_of(place_of(pull)) != before
