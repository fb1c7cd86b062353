"""Exports shapes as a JSON Schema, so that an editor can complete and check what `conform` checks."""

from typing import Any, cast

from handrail.authoring.shapes import shapes
from handrail.authoring.shapes.shapes import Shape

PLACEHOLDER = {"type": "string", "pattern": r"^\$\{[\s\S]+\}$"}


class SchemaWriter:
    """Writes one schema; recursive shapes become definitions."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._named: dict[int, str] = {}

    def write(self, shape: Shape) -> dict[str, Any]:
        """Return the schema of a shape; a record is defined once under its name and referenced."""
        if isinstance(shape, shapes.Record):
            return self.define(shape.what, shape)
        return cast("dict[str, Any]", _WRITERS[type(shape)](self, shape))

    def define(self, what: str, shape: Shape) -> dict[str, Any]:
        """Define a shape once under a name, and return a reference to it."""
        name = self._named.get(id(shape))
        if name is None:
            name = self._free(what)
            self._named[id(shape)] = name
            self.definitions[name] = {}
            self.definitions[name] = cast("dict[str, Any]", _WRITERS[type(shape)](self, shape))
        return {"$ref": f"#/$defs/{name}"}

    def _free(self, what: str) -> str:
        name = what.removeprefix("an ").removeprefix("a ").replace(" ", "-")
        number = 2
        while name in self.definitions:
            name, number = f"{name.rstrip('0123456789-')}-{number}", number + 1
        return name


def json_schema(shape: Shape, title: str) -> dict[str, Any]:
    """Build the JSON Schema (2020-12) of a shape."""
    writer = SchemaWriter()
    body = writer.write(shape)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **body}
    if writer.definitions:
        schema["$defs"] = dict(sorted(writer.definitions.items()))
    return schema


def _write_text(_: SchemaWriter, shape: shapes.Text) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if shape.least:
        schema["minLength"] = shape.least
    if shape.most is not None:
        schema["maxLength"] = shape.most
    if shape.pattern is not None:
        schema["pattern"] = f"^(?:{shape.pattern})$"
    if shape.example is not None:
        schema["examples"] = [shape.example]
    return schema


def _open(schema: dict[str, Any], *, placeholder: bool) -> dict[str, Any]:
    return {"anyOf": [schema, PLACEHOLDER]} if placeholder else schema


def _write_choice(_: SchemaWriter, shape: shapes.Choice) -> dict[str, Any]:
    return _open({"enum": [*shape.values, *shape.also]}, placeholder=shape.placeholder)


def _write_flag(_: SchemaWriter, shape: shapes.Flag) -> dict[str, Any]:
    return _open({"type": "boolean"}, placeholder=shape.placeholder)


def _write_number(_: SchemaWriter, shape: shapes.Number) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer" if shape.whole else "number"}
    if shape.least is not None:
        schema["minimum"] = shape.least
    if shape.most is not None:
        schema["maximum"] = shape.most
    return _open(schema, placeholder=shape.placeholder)


def _write_list(writer: SchemaWriter, shape: shapes.ListOf) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "items": writer.write(shape.item)}
    if shape.least:
        schema["minItems"] = shape.least
    if shape.most is not None:
        schema["maxItems"] = shape.most
    if shape.unique:
        schema["uniqueItems"] = True
    return schema


def _write_map(writer: SchemaWriter, shape: shapes.MapOf) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "additionalProperties": writer.write(shape.value)}
    if shape.key_pattern is not None:
        schema["propertyNames"] = {"pattern": f"^(?:{shape.key_pattern})$"}
    if shape.least:
        schema["minProperties"] = shape.least
    return schema


def _write_record(writer: SchemaWriter, shape: shapes.Record) -> dict[str, Any]:
    properties = {name: {**writer.write(key.shape), "description": key.doc} for name, key in shape.keys.items()}
    for alias, name in shape.aliases.items():
        also = {"description": f"another name for {name}", "deprecated": True}
        properties[alias] = {**writer.write(shape.keys[name].shape), **also}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    plain = [name for name in shape.mandatory_keys if not shape.keys[name].aliases]
    if plain:
        schema["required"] = plain
    words = {name: (name, *key.aliases) for name, key in shape.keys.items() if key.aliases}
    one_of = (*shape.one_of, *(words[name] for name in shape.mandatory_keys if name in words))
    rules: list[dict[str, Any]] = [{"oneOf": [{"required": [name]} for name in group]} for group in one_of]
    for group in (*shape.at_most_one, *(words[name] for name in words if name not in shape.mandatory_keys)):
        pairs = [{"required": [a, b]} for i, a in enumerate(group) for b in group[i + 1 :]]
        rules.append({"not": {"anyOf": pairs}})
    if rules:
        schema["allOf"] = rules
    return schema


def _write_either(writer: SchemaWriter, shape: shapes.Either) -> dict[str, Any]:
    return {"anyOf": [writer.write(form) for form in shape.forms.values()]}


def _write_ref(writer: SchemaWriter, shape: shapes.Ref) -> dict[str, Any]:
    return writer.define(shape.name, shape.shape())


def _write_tagged(writer: SchemaWriter, shape: shapes.Tagged) -> dict[str, Any]:
    """Build a chain of if/then/else, so that an editor's message refers only to the intended record."""
    rest: Any = writer.write(shape.records[shape.otherwise]) if shape.otherwise else False
    for key, name in reversed(shape.implied.items()):
        test = {"required": [key], "not": {"required": [shape.tag]}}
        rest = {"if": test, "then": writer.write(shape.records[name]), "else": rest}
    for name, record in reversed(shape.records.items()):
        test = {"properties": {shape.tag: {"const": name}}, "required": [shape.tag]}
        rest = {"if": test, "then": writer.write(record), "else": rest}
    return cast("dict[str, Any]", rest)


_WRITERS: dict[type, Any] = {
    shapes.Text: _write_text,
    shapes.Choice: _write_choice,
    shapes.Flag: _write_flag,
    shapes.Number: _write_number,
    shapes.Nothing: lambda *_: {"type": "null"},  # pyright: ignore[reportUnknownLambdaType]
    shapes.Anything: lambda *_: {},  # pyright: ignore[reportUnknownLambdaType]
    shapes.ListOf: _write_list,
    shapes.MapOf: _write_map,
    shapes.Record: _write_record,
    shapes.Either: _write_either,
    shapes.Ref: _write_ref,
    shapes.Tagged: _write_tagged,
}
