"""Random workflows drawn from the shapes of the format: right in form, wild in what they say."""

import re
from functools import cache

from hypothesis import strategies as st

from handrail.authoring.shapes import shapes
from handrail.authoring.shapes.shapes import Record, Shape
from handrail.model.workflow.values import JsonValue

DEEPEST = 7
NAMES = ["a", "b", "build", "run-tests", "run_tests", "item", "issue", "steps", "round", "tasks", "x.y", "Ünï", "é"]
TEXTS = [
    *NAMES,
    "string",
    "int = 3",
    "list = [1",
    "low | high = low",
    "schemas/x.json",
    "project",
    "claude/sonnet",
    "30m",
    "99999999999999999999d",
    "step-one",
    "phase-1-plan",
    "team.example",
    "1.0.0",
    "reviewDiff()",
    "currentItem",
    "* * * * *",
    "Europe/Berlin",
    "review-loop",
    "fix-checks",
    "prompts/10-fix.md",
    "wr.templates.routine.design-review",
    "wr.refs.memory_usage",
    "wr.contracts.loop_control",
    "continue",
    "fresh",
    "${a}",
    "${steps.build.output}",
    "${item.id | default('x')}",
    "${a + b * (c",
    "steps.run_tests.exit_code == 0 and 'x' in issue.labels",
    "a == b",
    "not a | length > 1",
    "Say {{ item.name | upper }} and {% for x in tasks %}{{ x }}{% endfor %}.",
    "Say {{ broken | } and {% if %}.",
    "Use {{wr.bindings.x}} and {{wr.refs.y}}.",
    'echo "${a}" && rm -rf ${b} $(cat <<EOF\n${item}\nEOF\n)',
    "for f in *; do eval ${f}; done",
    "(((",
    "",
    " ",
    "\n",
    "\u2028",
]
FREE: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2000) | st.floats(allow_nan=False) | st.sampled_from(TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def shaped(draw: st.DrawFn, shape: Shape) -> JsonValue:
    """A value of a shape; now and then any other value in its place."""
    return _value(draw, shape, 0)


def _value(draw: st.DrawFn, shape: Shape, depth: int) -> JsonValue:
    if draw(st.integers(0, 300)) == 300:
        return draw(FREE)
    match shape:
        case shapes.Ref():
            return _value(draw, shape.shape(), depth)
        case shapes.Either():
            return _value(draw, draw(st.sampled_from(list(shape.forms.values()))), depth)
        case shapes.Record():
            return _record(draw, shape, depth)
        case shapes.Tagged():
            tag = draw(st.sampled_from(list(shape.records)))
            made = _record(draw, shape.records[tag], depth)
            return {**made, shape.tag: tag} if draw(st.integers(0, 9)) or not shape.implied else made
        case shapes.ListOf():
            most = max(shape.least, min(shape.most or 3, 3 if depth < DEEPEST else 1))
            count = draw(st.integers(shape.least, most))
            return [_value(draw, shape.item, depth + 1) for _ in range(count)]
        case shapes.MapOf():
            known = [name for name in NAMES if re.fullmatch(shape.key_pattern or ".*", name)] or ["a"]
            names = draw(st.lists(st.sampled_from(known), min_size=shape.least, max_size=3, unique=True))
            return {name: _value(draw, shape.value, depth + 1) for name in names}
        case _:
            return _leaf(draw, shape)


def _record(draw: st.DrawFn, shape: Record, depth: int) -> dict[str, JsonValue]:
    """Every key that must stand there, one of each group, and a few others."""
    chosen = [*shape.mandatory_keys, *(draw(st.sampled_from(group)) for group in shape.one_of)]
    excluded = {name for group in shape.one_of for name in group}
    excluded |= {name for group in shape.at_most_one for name in group[1:]}
    others = [name for name in shape.keys if name not in chosen and name not in excluded]
    more = draw(st.lists(st.sampled_from(others), max_size=4 if depth < DEEPEST else 0)) if others else []
    return {name: _value(draw, shape.keys[name].shape, depth + 1) for name in dict.fromkeys([*chosen, *more])}


@cache
def _fitting(shape: shapes.Text) -> list[str]:
    """The texts that a shape allows; where there is none, its example or a long enough one."""
    pattern = re.compile(shape.pattern or ".*", re.DOTALL)
    most = shape.most if shape.most is not None else 1_000
    found = [text for text in TEXTS if shape.least <= len(text) <= most and pattern.fullmatch(text)]
    return found or [shape.example or "x" * shape.least]


def _leaf(draw: st.DrawFn, shape: Shape) -> JsonValue:
    match shape:
        case shapes.Choice():
            return draw(st.sampled_from((*shape.values, *shape.also, "${a}")))
        case shapes.Flag():
            return draw(st.booleans())
        case shapes.Number():
            least, most = int(shape.least or 0), int(shape.most or 1000)
            return draw(st.integers(least, most))
        case shapes.Text():
            return draw(st.sampled_from(_fitting(shape)))
        case _:
            return draw(FREE)
