"""Reads types in the notation of the format: `string`, `a | b`, `[path]`, maps of fields, and JSON Schema files."""

import json
import re
from typing import TYPE_CHECKING

import rfc8785

from handrail.compiler.builtins import ContractPack
from handrail.compiler.native.context import Lowering, text_of
from handrail.compiler.native.prompts import find_bundled_file
from handrail.compiler.record_types import ISSUE
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.names import make_identifier
from handrail.model.source import Mapping, Node, Scalar, Sequence, SourceText, Span, plain
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.types import ANY, ChoiceType, Field, ListType, RecordType, ScalarType, SchemaType, Type
from handrail.model.workflow.values import JsonValue

if TYPE_CHECKING:
    from handrail.authoring.readers import json_reader, locate, yaml_reader
else:
    json_reader = late_import("handrail.authoring.readers.json_reader")
    locate = late_import("handrail.authoring.readers.locate")
    yaml_reader = late_import("handrail.authoring.readers.yaml_reader")

NAMED: dict[str, Type] = {
    "string": ScalarType("string"),
    "int": ScalarType("int"),
    "number": ScalarType("number"),
    "bool": ScalarType("bool"),
    "path": ScalarType("path"),
    "slug": ScalarType("slug"),
    "glob": ScalarType("glob"),
    "json": ANY,
    "list": ListType(ANY),
    "issue": ISSUE,
}
ELSEWHERE = {
    "str": "string",
    "text": "string",
    "integer": "int",
    "float": "number",
    "boolean": "bool",
    "file": "path",
    "array": "list",
    "object": "json",
    "any": "json",
}
"""The names of types in other systems, with Handrail's."""
CONTRACTS = "wr.contracts."
WORD = re.compile(r"[A-Za-z0-9_.-]+")


def read_type(work: Lowering, node: Node) -> Type:
    """Read a type written as data."""
    match node:
        case Sequence(items=(item,)):
            return ListType(read_type(work, item))
        case Mapping():
            return RecordType(tuple(sorted((_field(work, e.name, e.value) for e in node), key=lambda each: each.name)))
        case Scalar(value=str(text)) if text.endswith(".json"):
            source = find_bundled_file(work, node, text, "schema")
            return ANY if source is None else _read_schema(work, node, text, source)
        case Scalar(value=str(text)) if text.strip().startswith(CONTRACTS):
            return _contract(work, node, text.strip())
        case Scalar(value=str(text)):
            return type_from_text(work, node, text)
        case _:
            return ANY


def _field(work: Lowering, name: str, node: Node) -> Field:
    optional = name.endswith("?")
    return Field(make_identifier(name.removesuffix("?")), read_type(work, node), optional)


def type_from_text(work: Lowering, node: Node, text: str) -> Type:
    """Read a type written as text: a name, alternatives, or a list in brackets."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return ListType(type_from_text(work, node, text[1:-1]))
    if "|" in text:
        words = tuple(word.strip() for word in text.split("|"))
        bad = [word for word in words if not WORD.fullmatch(word)]
        if bad or len(set(words)) != len(words):
            work.report.error(
                "bad-type", f"'{text}' is not a valid list of alternatives", node, "for example low | medium | high"
            )
            return ANY
        return ChoiceType(words)
    if text in NAMED:
        return NAMED[text]
    guess = did_you_mean(ELSEWHERE.get(text.lower(), text), NAMED)
    hint = "the types are " + ", ".join(NAMED) + ", alternatives such as a | b, and lists such as [string]"
    work.report.error("bad-type", f"unknown type '{text}'{guess}", node, hint)
    return ANY


def _contract(work: Lowering, node: Scalar, ref: str) -> Type:
    """Look up a contract pack, whose schema becomes the type."""
    pack = work.catalog.builtins.contract(ref)
    if pack is not None:
        return SchemaType(rfc8785.dumps(_add_example(pack)).decode())
    known = work.catalog.builtins.contract_ids()
    guess = did_you_mean(ref.removeprefix(CONTRACTS), [each.removeprefix(CONTRACTS) for each in known])
    hint = "known contracts: " + ", ".join(known)
    work.report.error("unknown-contract", f"there is no contract '{ref}'{guess}", node, hint)
    return ANY


def _add_example(pack: ContractPack) -> JsonValue:
    return {**pack.schema, "examples": [pack.example]} if isinstance(pack.schema, dict) else pack.schema


def _read_schema(work: Lowering, node: Scalar, path: str, source: SourceText) -> Type:
    aside = Report()
    root = json_reader.read_json(source, aside)
    for found in aside:
        work.report.add(found)
    if root is None or aside.failed:
        return ANY
    if not isinstance(root, Mapping):
        hint = 'a schema is a map, such as {"type": "object"}'
        work.report.error("bad-schema", f"'{path}' is not a JSON Schema", node, hint)
        return ANY
    schema: JsonValue = plain(root)  # pyright: ignore[reportAssignmentType]  # a tree without positions is JSON
    return SchemaType(rfc8785.dumps(schema).decode())


def read_default(work: Lowering, node: Node, type_: Type, text: str) -> JsonValue:
    """Read the default after `=` in an input's type."""
    text = text.strip()
    value: JsonValue = text
    match type_:
        case ScalarType(kind="int" | "number" | "bool"):
            value = _json_value(text)
        case ListType():
            value = _list_value(text)
        case _:
            if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
                value = text[1:-1]
    written = text_of(node) or ""
    start = written.rfind(text)
    at = locate.span_at(node, start, start + len(text)) if isinstance(node, Scalar) else node
    check_default(work, at, type_, value)
    return value


def _json_value(text: str) -> JsonValue:
    """Parse a text as JSON; return the text itself where that fails or would lose precision."""
    node = json_reader.read_json(SourceText("", text), aside := Report())
    if node is None or aside.failed:
        return text
    return plain(node)  # pyright: ignore[reportReturnType]  # a tree without positions is JSON


def _list_value(text: str) -> JsonValue:
    """Parse a list in YAML's one-line form, such as `[de, fr]`; return the text itself where it is not one."""
    node = yaml_reader.read_yaml(SourceText("", text), aside := Report())
    if node is None or aside.failed:
        return text
    return plain(node)  # pyright: ignore[reportReturnType]  # a tree without positions is JSON


def check_default(work: Lowering, at: Node | Span, type_: Type, value: JsonValue) -> None:
    """Report a default that does not have its input's type."""
    fits = {"int": int, "number": (int, float), "bool": bool}
    wanted: str | None = None
    match type_:
        case ChoiceType() if value not in type_.values:
            wanted = "one of " + ", ".join(type_.values)
        case ScalarType() if type_.kind in fits:
            # In Python true and false are integers too.
            good = isinstance(value, fits[type_.kind]) and (type_.kind == "bool" or not isinstance(value, bool))
            wanted = (
                None if good else {"int": "a whole number", "number": "a number", "bool": "true or false"}[type_.kind]
            )
        case ScalarType() if not isinstance(value, str):
            wanted = "text"
        case ListType() if isinstance(value, list):
            for item in value:
                check_default(work, at, type_.item, item)
        case ListType():
            wanted = "a list"
        case _:
            pass
    if wanted is not None:
        shown = value if isinstance(value, str) else json.dumps(value)
        work.report.error("bad-default", f"the default '{shown}' is not {wanted}", at)
