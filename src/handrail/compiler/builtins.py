"""The built-in features, references, contract packs, assessments, routines and prompts, read from the library's files.

Each file is read on first use, because most commands need only a few of them.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from handrail.frozen import frozen
from handrail.model.source import SourceText

if TYPE_CHECKING:
    from handrail.model.workflow.guidance import Assessment
    from handrail.model.workflow.values import JsonValue


@frozen
class Feature:
    """A feature's texts for each section of a prompt, and the schema of its configuration."""

    id: str
    summary: str
    config: "JsonValue"
    constraints: "tuple[JsonValue, ...]"
    procedure: "tuple[JsonValue, ...]"
    verify: "tuple[JsonValue, ...]"


@frozen
class ContractPack:
    """The schema of an artifact with the id of its contract and a minimal example."""

    id: str
    kind: str
    summary: str
    schema: "JsonValue"
    example: "JsonValue"


class Builtins:
    """Looks up library items by id; built from a map of paths inside the library to their texts."""

    def __init__(self, files: Mapping[str, SourceText]) -> None:
        self._files = files
        self._read: dict[str, dict[str, Any]] = {}

    @property
    def spec_version(self) -> int:
        """The version of the authoring spec."""
        return int(self._json("authoring-spec.json").get("version", 0))

    def prompt(self, name: str) -> SourceText | None:
        """Find a library prompt by its name."""
        return self._files.get(f"prompts/{name}.md")

    def prompt_names(self) -> tuple[str, ...]:
        """List the names of the library's prompts."""
        return self._names("prompts", ".md")

    def ref(self, ref_id: str) -> str | None:
        """Find the text of a reference such as `wr.refs.memory_usage`."""
        source = self._files.get(f"refs/{ref_id.removeprefix('wr.refs.')}.md")
        return source.text.strip() if source is not None else None

    def ref_ids(self) -> tuple[str, ...]:
        """List the ids of all references."""
        return tuple(f"wr.refs.{name}" for name in self._names("refs", ".md"))

    def feature(self, feature_id: str) -> Feature | None:
        """Find a feature by its id."""
        data = self._load_by_id("features").get(feature_id)
        if data is None:
            return None
        sections = (tuple(data.get(name, ())) for name in ("constraints", "procedure", "verify"))
        return Feature(data["id"], data["summary"], data.get("config"), *sections)

    def feature_ids(self) -> tuple[str, ...]:
        """List the ids of all features."""
        return tuple(self._load_by_id("features"))

    def contract(self, contract_id: str) -> ContractPack | None:
        """Find a contract pack by its id."""
        data = self._load_by_id("contracts").get(contract_id)
        if data is None:
            return None
        return ContractPack(data["id"], data["kind"], data["summary"], data["schema"], data["example"])

    def contract_ids(self) -> tuple[str, ...]:
        """List the ids of all contract packs."""
        return tuple(self._load_by_id("contracts"))

    def assessment(self, assessment_id: str) -> "Assessment | None":
        """Find a ready-made assessment by its id."""
        from handrail.model.workflow.guidance import Assessment, Dimension  # noqa: PLC0415 (few workflows use one)

        data = self._load_by_id("assessments").get(assessment_id)
        if data is None:
            return None
        dimensions = tuple(
            Dimension(each["id"], each["purpose"], tuple(each["levels"]), bool(each.get("required", True)))
            for each in data["dimensions"]
        )
        return Assessment(data["id"], data["purpose"], dimensions)

    def assessment_ids(self) -> tuple[str, ...]:
        """List the ids of the ready-made assessments."""
        return tuple(self._load_by_id("assessments"))

    def routine(self, name: str) -> SourceText | None:
        """Find a routine's file by its name without prefix, such as `design-review`."""
        return self._files.get(f"routines/{name}.json")

    def routine_names(self) -> tuple[str, ...]:
        """List the names of all routines."""
        return self._names("routines", ".json")

    def _names(self, folder: str, ending: str) -> tuple[str, ...]:
        inside = (path for path in self._files if path.startswith(f"{folder}/") and path.endswith(ending))
        return tuple(sorted(path[len(folder) + 1 : -len(ending)] for path in inside))

    def _load_by_id(self, folder: str) -> dict[str, Any]:
        if folder not in self._read:
            found = [self._json(f"{folder}/{name}.json") for name in self._names(folder, ".json")]
            self._read[folder] = {str(each["id"]): each for each in found}
        return self._read[folder]

    def _json(self, path: str) -> dict[str, Any]:
        source = self._files.get(path)
        return cast("dict[str, Any]", json.loads(source.text)) if source is not None else {}
