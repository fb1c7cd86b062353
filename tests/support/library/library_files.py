"""Where the library's files are, and how the tests of them read them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator

from support.places import ROOT

LIBRARY = ROOT / "src" / "handrail" / "library"

JSON_FILES = sorted(LIBRARY.rglob("*.json"))
TEXT_FILES = sorted(path for path in LIBRARY.rglob("*") if path.suffix in {".md", ".yaml", ".json"})
PROMPTS = sorted([*LIBRARY.glob("prompts/*.md"), *LIBRARY.glob("workflows/*/prompts/*.md")])
WORKFLOWS = sorted(LIBRARY.glob("workflows/*/workflow.yaml"))
ROUTINES = sorted(LIBRARY.glob("routines/*.json"))
CONTRACTS = sorted(LIBRARY.glob("contracts/*.json"))
FEATURES = sorted(LIBRARY.glob("features/*.json"))


def name_of(path: Path) -> str:
    return path.relative_to(LIBRARY).as_posix()


def load(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def schema_errors(schema: object, value: object) -> list[str]:
    validator = cast("Any", Draft202012Validator)(schema)
    return [str(error.message) for error in validator.iter_errors(value)]


def nodes_of(value: object) -> Iterator[object]:
    """Every value inside a parsed file, the file itself first."""
    yield value
    if isinstance(value, dict):
        for inner in cast("dict[object, object]", value).values():
            yield from nodes_of(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from nodes_of(inner)


def maps_of(value: object) -> Iterator[dict[str, Any]]:
    return (cast("dict[str, Any]", node) for node in nodes_of(value) if isinstance(node, dict))
