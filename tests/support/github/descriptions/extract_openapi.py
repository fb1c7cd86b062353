"""Make the extract of GitHub's OpenAPI description that the double checks calls against.

    python tests/support/github/descriptions/extract_openapi.py path/to/api.github.com.json

The file is `generated/api.github.com.json` of the npm package that SOURCES.md names. Only the paths of `PATHS` stay,
with the components that they reach and without texts for people.
"""

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from support.github.json_values import is_array, is_object

EXTRACT = Path(__file__).with_name("openapi.json.gz")
PATHS = re.compile(
    r"/rate_limit|/user|/users/\{username\}|/search/issues|/repos/\{owner\}/\{repo\}"
    r"(/assignees.*|/collaborators/\{username\}(/permission)?|/labels.*|/contents/\{path\}"
    r"|/actions/(runs|runs/\{run_id\}(/jobs)?|jobs/\{job_id\}(/logs)?)"
    r"|/branches(/\{branch\})?|/check-(runs|suites)(/\{[a-z_]+\}(/check-runs|/annotations)?)?"
    r"|/commits(/\{ref\}(/(check-runs|check-suites|status|statuses))?|/\{commit_sha\}/pulls)?|/compare/\{basehead\}"
    r"|/git/(ref/\{ref\}|refs(/\{ref\})?|matching-refs/\{ref\})|/hooks|/hooks/\{hook_id\}/deliveries|/events"
    r"|/issues(/(comments|\{issue_number\})(?!.*(field|suggestion|/pin|priority)).*|/events)?"
    r"|/pulls(/comments.*|/\{pull_number\}(?!/(codespaces|merge-async|update-branch)).*)?|/statuses/\{sha\})?"
)
DROPPED = {
    "description",
    "summary",
    "example",
    "examples",
    "externalDocs",
    "tags",
    "deprecated",
    "operationId",
    "title",
}
METHODS = ("get", "post", "put", "patch", "delete")


def strip_texts(node: Any, *, names: bool = False) -> Any:
    """Drop the texts for people from a schema; below `properties` keys are names of fields and stay."""
    if is_array(node):
        return [strip_texts(each) for each in node]
    if not is_object(node):
        return node
    kept = {key: value for key, value in node.items() if names or not (key in DROPPED or key.startswith("x-"))}
    return {
        key: value if key in ("enum", "default", "required") and not names else
        strip_texts(value, names=key == "properties" and not names)
        for key, value in kept.items()
    }  # fmt: skip


def read_operation(operation: dict[str, Any], resolve: Any) -> dict[str, Any]:
    """Reduce an operation to its parameters, its JSON body and its JSON answers."""
    parameters = [resolve(each) for each in operation.get("parameters", ())]
    found: dict[str, Any] = {
        "query": {each["name"]: strip_texts(each["schema"]) for each in parameters if each["in"] == "query"},
        "answers": {},
    }
    if "requestBody" in operation:
        found["body"] = strip_texts(operation["requestBody"]["content"].get("application/json", {}).get("schema"))
        found["body_required"] = operation["requestBody"].get("required", False)
    for status, answer in operation["responses"].items():
        if status.startswith(("2", "3")):
            found["answers"][status] = strip_texts(_find_answer(resolve(answer)))
    return found


def _find_answer(answer: dict[str, Any]) -> dict[str, Any] | None:
    return answer.get("content", {}).get("application/json", {}).get("schema")


def extract(description: dict[str, Any]) -> dict[str, Any]:
    """Take the wanted paths out of the whole description, with every schema that they reach."""

    def resolve(node: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in node:
            target: Any = description
            for key in node["$ref"].removeprefix("#/").split("/"):
                target = target[key]
            node = target
        return node

    paths = {
        path: {method: read_operation(operations[method], resolve) for method in METHODS if method in operations}
        for path, operations in description["paths"].items()
        if PATHS.fullmatch(path)
    }
    schemas: dict[str, Any] = {}
    waiting = _references(paths)
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = strip_texts(description["components"]["schemas"][name])
            waiting |= _references(schemas[name])
    return {"paths": paths, "components": {"schemas": schemas}}


def _references(node: Any) -> set[str]:
    return set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(node)))


def main() -> None:
    """Write the extract beside this file."""
    with Path(sys.argv[1]).open(encoding="utf-8") as file:
        text = json.dumps(extract(json.load(file)), separators=(",", ":"), sort_keys=True)
    EXTRACT.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
