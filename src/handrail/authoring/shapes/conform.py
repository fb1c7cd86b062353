"""Checks a positioned tree against a shape and reports everything that does not match."""

import re
from dataclasses import replace
from functools import cache
from typing import Any, cast

from handrail.authoring.shapes import shapes
from handrail.authoring.shapes.misfits import (
    NAMES,
    correct_slip,
    either,
    head_of,
    kind_of,
    mismatch,
    short,
    source_excerpt,
    unknown_key,
    unknown_tag,
    untagged,
)
from handrail.authoring.shapes.shapes import PLACEHOLDER, Shape
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence
from handrail.model.suggest import did_you_mean, suggest

MAX_NAMED = 12
"""The largest number of keys that a hint lists in full."""


def conform(shape: Shape, node: Node, report: Report) -> bool:
    """Report every deviation of a tree from its shape; returns whether there was none."""
    aside = Report()
    _fit(shape, node, aside)
    # The reader puts a substitute in place of a value that it refused, and has reported it already.
    refused = {(found.file, found.line, found.column) for found in report if found.is_error}
    for found in aside:
        if (found.file, found.line, found.column) not in refused:
            report.add(found)
    report.dropped += aside.dropped
    return not aside.failed


def _fit(shape: Shape, node: Node, report: Report) -> None:
    _CHECKS[type(shape)](shape, node, report)


def choose(shape: shapes.Tagged, node: Mapping) -> str | None:
    """Return which record of a tagged shape a mapping is, or None when nothing decides."""
    tag = node.get(shape.tag)
    if isinstance(tag, Scalar) and isinstance(tag.value, str):
        return tag.value
    for key, name in shape.implied.items():
        if key in node:
            return name
    return shape.otherwise


def _is_placeholder(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, str) and PLACEHOLDER.match(node.value) is not None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _check_text(shape: shapes.Text, node: Node, report: Report) -> None:
    value = node.value if isinstance(node, Scalar) else None
    if not isinstance(value, str):
        _report_not_text(shape, node, report)
        return
    if len(value) < shape.least:
        wanted = "must not be empty" if shape.least == 1 else f"must have at least {shape.least} characters"
        report.error("bad-value", f"{shape.what} {wanted}", node)
    elif shape.most is not None and len(value) > shape.most:
        report.error("bad-value", f"{shape.what} has {len(value)} characters, the maximum is {shape.most}", node)
    elif shape.pattern is not None and not _compile(shape.pattern).fullmatch(value):
        hint = f"for example {shape.example}" if shape.example else f"it must match {shape.pattern}"
        report.error("bad-value", f"'{short(value)}' is not a valid {shape.what}", node, hint)


def _report_not_text(shape: shapes.Text, node: Node, report: Report) -> None:
    """Report a value that is not text, with what the text is for where adding quotes would not fix it."""
    text = source_excerpt(node) if isinstance(node, Scalar) else ""
    if shape.example is None or shape.pattern is None or _compile(shape.pattern).fullmatch(text):
        mismatch("text", node, report)
    else:
        message = f"expected text ({shape.what}), got {NAMES[kind_of(node)]}"
        report.error("wrong-type", message, node, f"for example {shape.example}")


def _check_choice(shape: shapes.Choice, node: Node, report: Report) -> None:
    if shape.placeholder and _is_placeholder(node):
        return
    value = node.value if isinstance(node, Scalar) else None
    if not isinstance(value, str):
        mismatch("text", node, report)
    elif value not in shape.values and value not in shape.also:
        guess = did_you_mean(value, shape.values)
        report.error("bad-value", f"'{short(value)}' is not allowed here{guess}", node, "use " + either(shape.values))


def _check_flag(shape: shapes.Flag, node: Node, report: Report) -> None:
    if shape.placeholder and _is_placeholder(node):
        return
    if kind_of(node) != "flag":
        mismatch("true or false", node, report)


def _check_number(shape: shapes.Number, node: Node, report: Report) -> None:
    if shape.placeholder and _is_placeholder(node):
        return
    value = node.value if isinstance(node, Scalar) else None
    wanted = "a whole number" if shape.whole else "a number"
    if isinstance(value, bool) or not isinstance(value, int | float):
        mismatch(wanted, node, report)
    elif shape.whole and not isinstance(value, int):
        report.error("wrong-type", f"expected a whole number, got {value}", node)
    elif shape.least is not None and value < shape.least:
        report.error("bad-value", f"{value} is too small, the minimum is {shape.least:g}", node)
    elif shape.most is not None and value > shape.most:
        report.error("bad-value", f"{value} is too large, the maximum is {shape.most:g}", node)


def _check_nothing(_: shapes.Nothing, node: Node, report: Report) -> None:
    if kind_of(node) != "nothing":
        mismatch("nothing", node, report)


def _accept_anything(_: shapes.Anything, node: Node, report: Report) -> None:
    del node, report


def _check_list(shape: shapes.ListOf, node: Node, report: Report) -> None:
    if not isinstance(node, Sequence):
        mismatch("a list", node, report)
        return
    if len(node.items) < shape.least:
        report.error("bad-value", f"the list needs at least {shape.least} item{'s' * (shape.least > 1)}", node)
    if shape.most is not None and len(node.items) > shape.most:
        message = f"the list has {len(node.items)} items, the maximum is {shape.most}"
        report.error("bad-value", message, node.items[shape.most])
    for item in node.items:
        _fit(shape.item, item, report)
    if shape.unique:
        _unique(node, report)


def _unique(node: Sequence, report: Report) -> None:
    seen: set[object] = set()
    for item in node.items:
        if isinstance(item, Scalar):
            if item.value in seen:
                report.error("bad-value", f"'{item.value}' appears twice in the list", item)
            seen.add(item.value)


def _check_map(shape: shapes.MapOf, node: Node, report: Report) -> None:
    if not isinstance(node, Mapping):
        mismatch("a map", node, report)
        return
    if len(node.entries) < shape.least:
        report.error("bad-value", "the map must not be empty", node)
    for entry in node:
        if shape.key_pattern is not None and not _compile(shape.key_pattern).fullmatch(entry.name):
            hint = f"it must match {shape.key_pattern}"
            report.error("bad-value", f"'{short(entry.name)}' is not a valid {shape.key_what}", entry, hint)
        _fit(shape.value, entry.value, report)


def _check_record(shape: shapes.Record, node: Node, report: Report) -> None:
    if not isinstance(node, Mapping):
        few = 0 < len(shape.keys) <= MAX_NAMED
        keys = f"its keys are {', '.join(shape.keys)}" if few else None
        mismatch("a map", node, report, correct_slip(shape.slips, node) or keys)
        return
    keys = shape.keys
    for name, entry in node.entries.items():
        key = keys.get(name)
        if key is not None:
            _value(key, entry.value, report)
        elif name in shape.aliases:
            _other_word(shape, entry, node, report)
        else:
            unknown_key(shape, entry, report)
    meant = {shape.aliases.get(name) or suggest(name, keys) for name in node.entries if name not in keys}
    for name in shape.mandatory_keys:
        if name not in node.entries and name not in meant:
            report.error("missing-key", f"{shape.what} needs '{name}'", head_of(node), keys[name].doc)
    _exclusive(shape, node, meant, report)


def _other_word(shape: shapes.Record, entry: Entry, node: Mapping, report: Report) -> None:
    """Accept another word for a key, unless its own word, or a third one, stands beside it."""
    name = shape.aliases[entry.name]
    written = [each for each in node.entries if each == name or shape.aliases.get(each) == name]
    if len(written) > 1:
        _conflict(written[:2], node, report)
        return
    _value(shape.keys[name], entry.value, report)
    hint = f"write `{name}` instead of `{entry.name}`"
    report.advice("other-word", f"'{entry.name}' is read as '{name}'", entry.key, hint)


def _value(key: shapes.Key, node: Node, report: Report) -> None:
    hint = correct_slip(key.slips, node)
    if hint is None:
        _fit(key.shape, node, report)
        return
    aside = Report()
    _fit(key.shape, node, aside)
    for found in aside:
        report.add(replace(found, hint=hint))


def _exclusive(shape: shapes.Record, node: Mapping, meant: set[str | None], report: Report) -> None:
    for group in shape.one_of:
        present = [name for name in group if name in node.entries]
        if not present and meant.isdisjoint(group):
            report.error("missing-key", f"{shape.what} needs {either(group)}", head_of(node))
        elif len(present) > 1:
            _conflict(present, node, report)
    for group in shape.at_most_one:
        present = [name for name in group if name in node.entries]
        if len(present) > 1:
            _conflict(present, node, report)


def _conflict(present: list[str], node: Mapping, report: Report) -> None:
    written = [name for name in node.entries if name in present]
    names = " and ".join(f"'{name}'" for name in written)
    report.error("conflicting-keys", f"{names} exclude each other", node.entries[written[1]], "keep one of them")


def _check_either(shape: shapes.Either, node: Node, report: Report) -> None:
    form = shape.forms.get(kind_of(node))
    if form is None:
        wanted = either(tuple(NAMES[kind] for kind in shape.forms))
        mismatch(wanted if shape.what.endswith(" list") else f"{wanted} for {shape.what}", node, report)
    else:
        _fit(form, node, report)


def _check_ref(shape: shapes.Ref, node: Node, report: Report) -> None:
    _fit(shape.shape(), node, report)


def _check_tagged(shape: shapes.Tagged, node: Node, report: Report) -> None:
    if not isinstance(node, Mapping):
        mismatch("a map", node, report, correct_slip(shape.slips, node))
        return
    tag = choose(shape, node)
    record = shape.records.get(tag) if tag is not None else None
    if record is not None:
        _fit(record, node, report)
    elif shape.tag in node.entries:
        unknown_tag(shape, tag, node.entries[shape.tag].value, report)
    else:
        untagged(shape, node, report)


_CHECKS: dict[type, Any] = cast(
    "dict[type, Any]",
    {
        shapes.Text: _check_text,
        shapes.Choice: _check_choice,
        shapes.Flag: _check_flag,
        shapes.Number: _check_number,
        shapes.Nothing: _check_nothing,
        shapes.Anything: _accept_anything,
        shapes.ListOf: _check_list,
        shapes.MapOf: _check_map,
        shapes.Record: _check_record,
        shapes.Either: _check_either,
        shapes.Ref: _check_ref,
        shapes.Tagged: _check_tagged,
    },
)
