"""Converts names of the source to names of the format, and numbers the prompt files."""

import re

from handrail.authoring.native.parts import NAME_PATTERN, STEP_PATTERN

MAX_LENGTH = 64
_RESERVED = frozenset(
    {"input", "steps", "run", "issue", "previous_step", "current_step", "item", "round", "env", "loop"}
    | {"and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "null", "lambda", "for"}
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NOT_LISTED = ("versions",)
"""Names of folders that are skipped when workflows are looked up."""


def workflow_name(text: str) -> str:
    """Convert a text to the nearest valid workflow name."""
    clean = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:MAX_LENGTH].strip("-._")
    if clean in NOT_LISTED:
        return f"{clean}-workflow"
    return clean if re.fullmatch(NAME_PATTERN, clean) else "imported"


def step_name(text: str) -> str:
    """Convert a text to the nearest valid step name."""
    clean = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:MAX_LENGTH].strip("-_")
    clean = clean if not clean[:1].isdigit() else f"step-{clean}"[:MAX_LENGTH].strip("-_")
    return clean if re.fullmatch(STEP_PATTERN, clean) else "step"


def value_name(text: str) -> str:
    """Convert a text to a name that expressions can use for a value."""
    clean = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")[:MAX_LENGTH]
    clean = clean if not clean[:1].isdigit() else f"value_{clean}"[:MAX_LENGTH]
    clean = clean or "value"
    return f"{clean[: MAX_LENGTH - 7]}_result" if clean in _RESERVED else clean


def make_identifier(name: str) -> str:
    """Convert a step's name to its form in expressions."""
    return name.replace("-", "_")


def is_identifier(text: str) -> bool:
    """Whether an expression can use the text as a name."""
    return _IDENTIFIER.fullmatch(text) is not None and text not in _RESERVED - {"issue", "item", "round"}


class UniqueNames:
    """Names that are in use; a duplicate gets a number."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def take(self, wanted: str) -> str:
        """Return the name, or the next free variant of it."""
        name, number = wanted, 2
        while make_identifier(name).lower() in self._names:
            ending = f"-{number}" if "-" in wanted or "_" not in wanted else f"_{number}"
            name = wanted[: MAX_LENGTH - len(ending)] + ending
            number += 1
        self._names.add(make_identifier(name).lower())
        return name


class PromptFiles:
    """The prompt files of one workflow, numbered 10, 20, 30 in the order of their first use."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._known: dict[tuple[str, str], str] = {}
        self._taken = UniqueNames()

    def add(self, name: str, text: str) -> str:
        """Store a prompt and return its path; the same text under the same name is stored once."""
        known = self._known.get((name, text))
        if known is not None:
            return known
        order = (len(self.files) + 1) * 10
        path = f"prompts/{order}-{self._taken.take(name)}.md"
        self.files[path] = text if text.endswith("\n") else text + "\n"
        self._known[(name, text)] = path
        return path
