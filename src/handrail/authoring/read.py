"""Parses the main file of a bundle to a Document, by its file extension."""

from typing import TYPE_CHECKING

from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, Mapping

if TYPE_CHECKING:
    from handrail.authoring.readers import json_reader, yaml_reader
else:
    json_reader = late_import("handrail.authoring.readers.json_reader")
    yaml_reader = late_import("handrail.authoring.readers.yaml_reader")


def read_bundle(bundle: Bundle, report: Report) -> Document | None:
    """Parse a YAML or JSON workflow; None where nothing usable was found, with the reason reported."""
    source = bundle.source
    as_json = bundle.main.endswith(".json")
    root = json_reader.read_json(source, report) if as_json else yaml_reader.read_yaml(source, report)
    if root is None:
        return None
    if not isinstance(root, Mapping):
        report.error("wrong-type", "a workflow file must be a map of keys", root)
        return None
    return Document("json", "workrail", root, bundle) if as_json else Document("yaml", "native", root, bundle)
