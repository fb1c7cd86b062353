"""Every diagnostic code with its one sentence. Codes are stable: scripts and suppressions name them."""

CODES: dict[str, str] = {
    # reading
    "file-unreadable": "The file cannot be read as UTF-8 text.",
    "file-too-large": "A workflow file is larger than 1 MiB.",
    "too-deep": "The file nests deeper than 64 levels.",
    "too-many-nodes": "The file holds more values than can be checked in bounded time.",
    "yaml-syntax": "The file is not valid YAML.",
    "json-syntax": "The file is not valid JSON.",
    "duplicate-key": "A key stands twice in one mapping.",
    "key-not-text": "A mapping key is not text.",
    "tag-refused": "YAML tags are not part of the format.",
    "merge-key-refused": "YAML merge keys are not part of the format.",
    "alias-refused": "An alias is unknown, recursive, or expands to more than the limit.",
    "many-documents": "The file holds more than one YAML document.",
    "flow-placeholder": "`${...}` in flow style needs quotes.",
    # shape
    "unknown-key": "A key is not part of the format here.",
    "missing-key": "A required key is missing.",
    "wrong-type": "A value has the wrong type.",
    "bad-value": "A value is outside what is allowed here.",
    "conflicting-keys": "Keys that exclude each other stand together.",
}
"""Grouped by where they arise; each group is extended where its checks live."""
