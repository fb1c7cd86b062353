"""Lowers a workflow's declared inputs, written as a list or as a map."""

import re

from handrail.compiler.native.context import Lowering, text_of
from handrail.compiler.native.types import check_default, read_default, read_type, type_from_text
from handrail.compiler.record_types import ISSUE
from handrail.compiler.scope import RESERVED
from handrail.model.names import make_identifier
from handrail.model.source import Mapping, Node, Scalar, Sequence, plain
from handrail.model.workflow.plan import Input
from handrail.model.workflow.types import STRING, ListType, Type
from handrail.model.workflow.values import JsonValue


def lower_declared_inputs(work: Lowering, node: Node | None) -> tuple[Input, ...]:
    """Lower the top-level `input`, refusing names that expressions cannot distinguish."""
    found: dict[str, Input] = {}
    for name, value in _pairs(node):
        text = str(name.value)
        declared = _input(work, text, value)
        if make_identifier(text) in found:
            other = found[make_identifier(text)].name
            message = (
                f"the inputs '{other}' and '{text}' differ only in - and _"
                if other != text
                else f"input '{text}' appears twice"
            )
            hint = "expressions write - as _, so the two could not be distinguished" if other != text else None
            work.report.error("ambiguous-name", message, name, hint)
        if make_identifier(text) in RESERVED and not (text == "issue" and declared.type == ISSUE):
            work.report.error("reserved-name", f"'{text}' is reserved by Handrail", name, "choose another name")
        found[make_identifier(text)] = declared
    return tuple(sorted(found.values(), key=lambda each: each.name))


def _pairs(node: Node | None) -> list[tuple[Scalar, Node | None]]:
    pairs: list[tuple[Scalar, Node | None]] = []
    if isinstance(node, Mapping):
        pairs = [(entry.key, entry.value) for entry in node]
    elif isinstance(node, Sequence):
        for item in node.items:
            name = item.get("name") if isinstance(item, Mapping) else item
            if isinstance(name, Scalar):
                pairs.append((name, item if isinstance(item, Mapping) else None))
    return pairs


def _input(work: Lowering, name: str, node: Node | None) -> Input:
    if isinstance(node, Scalar) and isinstance(node.value, str):
        type_text, equals, default_text = node.value.partition("=")
        type_ = type_from_text(work, node, type_text)
        if not equals:
            return Input(name, type_)
        if (source := _project_value(work, node, type_, default_text)) is not None:
            return Input(name, type_, required=False, default=_EMPTY[source], default_from=f"project.{source}")
        return Input(name, type_, required=False, default=read_default(work, node, type_, default_text))
    if isinstance(node, Mapping):
        return _long_form(work, name, node)
    if isinstance(node, Sequence):
        return Input(name, read_type(work, node))
    return Input(name, STRING)


def _project_value(work: Lowering, node: Node, type_: Type, text: str) -> str | None:
    """Return the name after `project.` where a default has that form, such as `${project.default_branch}`."""
    found = _PROJECT.fullmatch(text.strip())
    if found is None:
        return None
    if found[1] not in _EMPTY:
        hint = "available: " + ", ".join(f"${{project.{each}}}" for each in _EMPTY)
        work.report.error("bad-default", f"there is no '{found[1]}' in project", node, hint)
        return next(iter(_EMPTY))
    fits = isinstance(type_, ListType) if found[1] == "sources" else type_ == STRING
    if not fits:
        wanted = "list" if found[1] == "sources" else "string"
        work.report.error("bad-default", f"the default '{text.strip()}' needs an input of type {wanted}", node)
    return found[1]


_PROJECT = re.compile(r"\$\{ *project\.(\w+) *\}")
_EMPTY: dict[str, JsonValue] = {"default_branch": "", "sources": []}
"""The project settings that an input may default to, with the value used where the configuration sets none."""


def _long_form(work: Lowering, name: str, node: Mapping) -> Input:
    place = node.get("type")
    type_: Type = read_type(work, place) if place is not None else STRING
    required = node.get("required")
    has_default = "default" in node
    default: JsonValue = None
    text = text_of(node.get("default"))
    if text is not None and (source := _project_value(work, node.entries["default"].value, type_, text)) is not None:
        about = text_of(node.get("description")) or ""
        return Input(
            name, type_, required=False, default=_EMPTY[source], description=about, default_from=f"project.{source}"
        )
    if has_default:
        value = node.entries["default"].value
        default = plain(value)  # pyright: ignore[reportAssignmentType]  # a tree without positions is JSON
        if default is not None:
            check_default(work, value, type_, default)
    must = required.value is True if isinstance(required, Scalar) else not has_default
    return Input(name, type_, must, default, text_of(node.get("description")) or "")
