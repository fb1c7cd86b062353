"""Reads a bundle's main file into a Document, by its ending."""

from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import Report
from handrail.model.document import Document
from handrail.model.source import Bundle, Mapping


def read_bundle(bundle: Bundle, report: Report) -> Document | None:
    """Read a YAML or JSON workflow; None where nothing usable was found, with the reason reported."""
    source = bundle.source
    as_json = bundle.main.endswith(".json")
    root = (read_json if as_json else read_yaml)(source, report)
    if root is None:
        return None
    if not isinstance(root, Mapping):
        report.error("wrong-type", "a workflow file holds a map of keys", root)
        return None
    return Document("json", "workrail", root, bundle) if as_json else Document("yaml", "native", root, bundle)
