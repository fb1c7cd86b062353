"""Large inputs are a content of their own; a state is the same with and without them in its first event."""

import json
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rpds import HashTrieMap

from handrail.engine.fold.apply import apply
from handrail.engine.state.codec import decode_state, encode_state
from handrail.engine.state.given import LARGE, take_out
from handrail.errors import NotFound, StorageDamaged
from handrail.model.history.events import GroupEntered, RunStarted
from handrail.model.history.run_state import RunState
from handrail.model.workflow.values import JsonValue
from handrail.ports.hash_chain import digest_of

TEXT = "the whole issue. " * 200
PLAIN = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5)
VALUES = st.dictionaries(st.text(min_size=1, max_size=5), PLAIN | st.just(TEXT), max_size=4)


def started(inputs: dict[str, JsonValue], task: str = "") -> RunStarted:
    return RunStarted(
        run="r-1", workflow="w", definition="", plan="p", inputs=inputs, task=task, workspace="/w", at=1.0
    )


def fold_apart(first: RunStarted) -> tuple[RunState, dict[str, bytes]]:
    """The first state of a run whose inputs are a content of their own, and that content."""
    recorded, contents = take_out(first)
    blobs = {digest_of(each): each for each in contents}
    return apply(None, recorded, 1, blobs.__getitem__), blobs


def no_blobs(digest: str) -> bytes:
    raise NotFound(digest)


def test_small_inputs_stay_in_the_event() -> None:
    first = started({"n": 1, "text": "x"}, "do it")
    assert take_out(first) == (first, ())


def test_large_inputs_leave_the_event_and_come_back_with_the_state() -> None:
    first = started({"issue": {"title": "a", "body": TEXT}}, TEXT)
    recorded, (content,) = take_out(first)
    assert (recorded.inputs, recorded.task, recorded.given) == ({}, "", digest_of(content))
    state, _ = fold_apart(first)
    assert replace(state, given="") == apply(None, first, 1, no_blobs)


@settings(max_examples=100, deadline=None)
@given(VALUES, st.sampled_from(["", "short", TEXT]), VALUES, VALUES)
def test_a_kept_state_is_read_back_whatever_became_of_the_names(
    inputs: dict[str, JsonValue], task: str, names: dict[str, JsonValue], context: dict[str, JsonValue]
) -> None:
    state, blobs = fold_apart(started({**inputs, "big": TEXT}, task))
    state = replace(state, names=state.names.update(names), context=state.context.update(context))
    state = apply(state, GroupEntered(address="g", inputs={"x": 1}, at=2.0), 2, no_blobs)
    state = replace(state, names=state.names.update(names))
    again = decode_state(encode_state(state), blobs.__getitem__)
    assert again == state
    assert encode_state(again) == encode_state(state)


def test_a_kept_state_does_not_hold_what_the_run_was_given() -> None:
    state, _ = fold_apart(started({"issue": TEXT}, TEXT))
    state = apply(state, GroupEntered(address="g", inputs={}, at=2.0), 2, no_blobs)
    assert len(encode_state(state)) < LARGE


@pytest.mark.parametrize("other", [True, 1.0, [1], "1"])
def test_a_value_that_is_only_equal_to_the_given_one_is_kept(other: JsonValue) -> None:
    state, blobs = fold_apart(started({"n": 1, "text": TEXT}))
    state = replace(state, names=state.names.insert("n", other), context=HashTrieMap({"n": other}))
    again = decode_state(encode_state(state), blobs.__getitem__)
    assert (type(again.names["n"]), again.names["n"]) == (type(other), other)
    assert [*again.context] == ["n"]


def test_a_name_that_is_gone_stays_gone() -> None:
    state, blobs = fold_apart(started({"n": 1, "text": TEXT}))
    state = replace(state, names=state.names.remove("text"))
    assert [*decode_state(encode_state(state), blobs.__getitem__).names] == ["n"]


def test_inputs_that_were_erased_say_so() -> None:
    recorded, _ = take_out(started({"text": TEXT}))
    with pytest.raises(StorageDamaged, match=r"the inputs of the run are missing from the log .*: they were erased"):
        apply(None, recorded, 1, no_blobs)


@pytest.mark.parametrize(
    "content", ["no JSON", [], {"inputs": {}}, {"inputs": [], "task": ""}, {"inputs": {}, "task": 1}]
)
def test_a_content_that_holds_no_inputs_says_so(content: JsonValue) -> None:
    recorded, _ = take_out(started({"text": TEXT}))
    data = cast("str", content).encode() if content == "no JSON" else json.dumps(content).encode()
    with pytest.raises(StorageDamaged, match="the inputs of the run cannot be read"):
        apply(None, recorded, 1, lambda _: data)
