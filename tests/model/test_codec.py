"""Plans become JSON and come back the same; what is stored wrongly is refused by name."""

import json
import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.model.codec import CodecError, decode, encode
from handrail.model.workflow import actions, guidance, plan, proofs, values
from handrail.model.workflow import settings as agent_settings
from handrail.model.workflow import types as model_types
from handrail.model.workflow.actions import EndAction, ScriptAction
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.proofs import CommandProof
from handrail.model.workflow.values import Command, Constant, Prompt

TEXT = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
NAMES: dict[str, Any] = {}
for module in (model_types, values, agent_settings, guidance, proofs, actions, plan):
    NAMES.update(vars(module))


def any_of(wanted: Any, depth: int) -> st.SearchStrategy[Any]:
    """Give values of a model type, shallow enough to end."""
    origin, args = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (Union, types.UnionType):
        return _union(args, depth)
    if origin is tuple:
        return _tuple(args, depth)
    if isinstance(wanted, type) and is_dataclass(wanted):
        return st.deferred(lambda: record(wanted, depth - 1))
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: TEXT,
        int: st.integers(0, 99),
        float: st.floats(0, 99),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return plain.get(wanted, JSON)


def _union(args: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if any(arg in (dict, list) or get_origin(arg) in (dict, list) for arg in args):
        return JSON
    shallow = [arg for arg in args if not is_dataclass(arg)] if depth <= 0 else []
    return st.one_of(*(any_of(arg, depth) for arg in shallow or args))


def _tuple(args: tuple[Any, ...], depth: int) -> st.SearchStrategy[Any]:
    if args[-1] is Ellipsis:
        most = 0 if depth <= 0 else 2
        return st.lists(any_of(args[0], depth), max_size=most).map(tuple)
    return st.tuples(*(any_of(arg, depth) for arg in args))


def record(cls: type, depth: int) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls, localns=NAMES)
    given_fields = [field for field in fields(cls) if field.name != "kind" or cls is model_types.ScalarType]
    return st.fixed_dictionaries({field.name: any_of(hints[field.name], depth) for field in given_fields}).map(
        lambda chosen: cls(**chosen)
    )


@settings(deadline=None)
@given(record(Plan, 6))
def test_a_plan_survives_being_stored(made: Plan) -> None:
    stored = json.loads(json.dumps(encode(made)))
    assert decode(Plan, stored) == made


def test_fields_at_their_default_are_left_out() -> None:
    step = Step(name="a", action=EndAction())
    assert encode(step) == {"name": "a", "action": {"kind": "end"}}


def test_the_format_is_always_written() -> None:
    assert cast("dict[str, Any]", encode(Plan(name="a", steps=())))["format"] == plan.FORMAT


def test_where_something_came_from_is_stored_but_not_hashed() -> None:
    prompt = Prompt("x", file="prompts/10-a.md", version="v1")
    assert encode(prompt) == {"text": "x", "file": "prompts/10-a.md", "version": "v1"}
    assert encode(prompt, hashed_only=True) == {"text": "x"}


def test_constants_are_not_confused_with_records() -> None:
    value = Constant({"kind": "expression", "source": "x"})
    assert decode(Constant, encode(value)) == value


@pytest.mark.parametrize(
    ("wanted", "data", "message"),
    [
        (Command, {"script": 3}, "expected str, got 3"),
        (Command, {}, "missing ['script']"),
        (Command, {"script": "x", "extra": 1}, "unknown ['extra']"),
        (CommandProof, {"command": {"script": "x"}, "expect": "maybe", "kind": "command"}, "got 'maybe'"),
        (ScriptAction, [], "expected ScriptAction"),
        (Step, {"name": "a", "action": {"kind": "nothing"}}, "no variant matches"),
    ],
)
def test_data_of_another_shape_is_refused(wanted: type, data: Any, message: str) -> None:
    with pytest.raises(CodecError) as caught:
        decode(wanted, data)
    assert message in str(caught.value)


def test_a_value_outside_the_model_cannot_be_stored() -> None:
    with pytest.raises(CodecError):
        encode(object())
