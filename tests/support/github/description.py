"""GitHub's OpenAPI description: which calls there are, what they take, and how their answers look.

The description hardly ever forbids unknown fields, and GitHub ignores them silently: a caller that sends one believes
in something that does not happen. So they are refused here.
"""

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from support.github.descriptions import OPENAPI
from support.github.json_values import Json, is_array, is_object

MISSING = object()
"""Stands for a value that the double says nothing about."""
_WITH_SLASHES = {"ref", "branch", "path", "basehead"}
_ROOT = "http://github.invalid/description"
_EXAMPLES: dict[str, Any] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}, "null": None,
}  # fmt: skip
_FORMATS = {"date-time": "2026-01-01T00:00:00Z", "uri": "http://127.0.0.1/", "email": "nobody@example.com"}


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the description."""

    template: str
    """Such as `GET /repos/{owner}/{repo}/issues`."""
    details: Json
    params: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(slots=True)
class Description:
    """The calls of GitHub, with checks of requests and answers."""

    paths: dict[str, dict[str, Json]]
    schemas: dict[str, Json]
    _routes: list[tuple[re.Pattern[str], str]] = field(default_factory=list[tuple[re.Pattern[str], str]])
    _registry: Any = None
    _validators: dict[str, Draft7Validator] = field(default_factory=dict[str, Draft7Validator])
    _valid: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def __post_init__(self) -> None:
        self._routes = sorted(((_pattern(path), path) for path in self.paths), key=lambda each: _generality(each[1]))
        contents = {"components": {"schemas": _as_json_schema(self.schemas)}}
        resource: Resource[Any] = Resource(contents=contents, specification=DRAFT7)
        self._registry = Registry[Any]().with_resource(_ROOT, resource)

    def find(self, method: str, path: str) -> Operation | None:
        """Find the operation that a request asks for."""
        for pattern, template in self._routes:
            found = pattern.fullmatch(path)
            if found and method.lower() in self.paths[template]:
                params = {name: unquote(value) for name, value in found.groupdict().items()}
                return Operation(f"{method} {template}", self.paths[template][method.lower()], params)
        return None

    def check_request(self, operation: Operation, query: dict[str, str], body: Any) -> list[str]:
        """Return what is wrong with a request; unknown fields and parameters are."""
        problems = [f"{name}: unknown query parameter" for name in query if name not in operation.details["query"]]
        schema = operation.details.get("body")
        if schema is None:
            return [*problems, "this call takes no body"] if body else problems
        if body is None:
            return [*problems, "a body is required"] if operation.details["body_required"] else problems
        problems += [f"{name}: unknown field" for name in self._unknown_fields(schema, body)]
        return problems + self._validate(f"{operation.template} body", schema, body)

    def fill_answer(self, operation: Operation, status: int, body: Any) -> Any:
        """Complete an answer with everything that the description requires."""
        schema = operation.details["answers"].get(str(status))
        return body if schema is None or body is None else self.fill(schema, body)

    def check_answer(self, operation: Operation, status: int, body: Any) -> list[str]:
        """Return what is wrong with an answer of the double."""
        answers = operation.details["answers"]
        if str(status) not in answers:
            return [f"{operation.template} never answers {status}"]
        schema = answers[str(status)]
        if schema is None:
            return []
        name = f"{operation.template} {status}"
        if schema.get("type") == "array" and is_array(body):
            return [text for each in body for text in self._validate(f"{name} item", schema["items"], each)]
        return self._validate(name, schema, body)

    def fill(self, schema: Json, value: Any = MISSING) -> Any:
        """Lay a value over the skeleton of a schema."""
        schema = self._resolve(schema, value)
        if value is MISSING:
            return self._example(schema)
        if is_array(value):
            return [self.fill(schema.get("items", {}), each) for each in value]
        if not is_object(value):
            return value
        properties: Json = schema.get("properties", {})
        filled = {name: self.fill(properties.get(name, {}), each) for name, each in value.items()}
        for name in schema.get("required", ()):
            if name not in filled:
                filled[name] = self.fill(properties.get(name, {}))
        return filled

    def _example(self, schema: Json) -> Any:
        if schema.get("nullable"):
            return None
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if kind == "object":
            return self.fill(schema, {})
        return _FORMATS.get(schema.get("format", ""), _EXAMPLES[kind])

    def _resolve(self, schema: Json, value: Any) -> Json:
        while True:
            if "$ref" in schema:
                schema = self.schemas[schema["$ref"].rsplit("/", 1)[1]]
            elif "allOf" in schema:
                schema = self._merge([self._resolve(each, value) for each in schema["allOf"]])
            elif "oneOf" in schema or "anyOf" in schema:
                if value is MISSING and schema.get("nullable"):
                    return {"nullable": True}
                schema = self._choose(schema.get("oneOf") or schema["anyOf"], value)
            else:
                return schema

    def _choose(self, branches: list[Json], value: Any) -> Json:
        if value is MISSING:
            return branches[0]
        resolved = [self._resolve(each, value) for each in branches]
        return max(resolved, key=lambda each: _likeness(each, value))

    @staticmethod
    def _merge(schemas: list[Json]) -> Json:
        merged: Json = {"type": "object", "properties": {}, "required": []}
        for each in schemas:
            merged["properties"] |= each.get("properties", {})
            merged["required"] += each.get("required", [])
        return merged

    def _unknown_fields(self, schema: Json, body: Any) -> list[str]:
        schema = self._resolve(schema, body)
        if not is_object(body) or "properties" not in schema or schema.get("additionalProperties"):
            return []
        known: Json = schema["properties"]
        unknown = [name for name in body if name not in known]
        for name, value in body.items():
            if name in known:
                unknown += [f"{name}/{each}" for each in self._unknown_fields_within(known[name], value)]
        return unknown

    def _unknown_fields_within(self, schema: Json, value: Any) -> list[str]:
        if is_array(value):
            item_schema = self._resolve(schema, value).get("items", {})
            return [name for each in value for name in self._unknown_fields(item_schema, each)]
        return self._unknown_fields(schema, value)

    def _validate(self, name: str, schema: Json, value: Any) -> list[str]:
        # Most answers repeat what was validated before, such as the issues of a list.
        text = json.dumps(value, sort_keys=True)
        if (name, text) in self._valid:
            return []
        if name not in self._validators:
            self._validators[name] = Draft7Validator(_as_json_schema(schema), registry=self._registry)
        found = [
            f"{'/'.join(map(str, each.absolute_path)) or 'body'}: {each.message[:300]}"
            for each in self._validators[name].iter_errors(value)  # pyright: ignore[reportUnknownMemberType]
        ]
        if not found:
            self._valid.add((name, text))
        return found


@cache
def load_description() -> Description:
    """Read the extract that is checked in."""
    with gzip.open(OPENAPI) as file:
        found = json.load(file)
    return Description(found["paths"], found["components"]["schemas"])


def _pattern(template: str) -> re.Pattern[str]:
    def group(found: re.Match[str]) -> str:
        if found[1] == "path":
            # The contents of a repository's root have no path.
            return "(?P<path>.*?)"
        return f"(?P<{found[1]}>{'.+?' if found[1] in _WITH_SLASHES else '[^/]+'})"

    return re.compile(re.sub(r"\\{(\w+)\\}", group, re.escape(template)))


def _generality(template: str) -> tuple[int, int]:
    names = re.findall(r"\{(\w+)\}", template)
    return len(_WITH_SLASHES.intersection(names)), -len(re.sub(r"\{\w+\}", "", template))


def _likeness(schema: Json, value: Any) -> int:
    kinds = {"dict": "object", "list": "array", "str": "string", "bool": "boolean", "int": "integer", "float": "number"}
    if schema.get("type", "object") != kinds.get(type(value).__name__):
        return -1
    if not is_object(value):
        return 1
    names: set[str] = set(schema.get("properties", ()))
    return 2 * len(names.intersection(value)) - len(names.symmetric_difference(value)) // 4


def _as_json_schema(node: Any) -> Any:
    if is_array(node):
        return [_as_json_schema(each) for each in node]
    if not is_object(node):
        return node
    plain = {
        # The branches of the description overlap, such as the payloads of events: one of them is enough.
        "anyOf" if key == "oneOf" else key: _ROOT + value if key == "$ref" else _as_json_schema(value)
        for key, value in node.items()
        if key not in ("nullable", "discriminator")
    }
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") is True else plain
