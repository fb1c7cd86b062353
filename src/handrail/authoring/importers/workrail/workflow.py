"""Converts WorkRail-style JSON to native folders."""

from collections.abc import Mapping as Lookup

from handrail.authoring.importers.coven.go_templates import literal
from handrail.authoring.importers.finish import write_workflow
from handrail.authoring.importers.names import UniqueNames, workflow_name
from handrail.authoring.importers.nodes import line_of, map_of, maps_of, text_of, texts_of
from handrail.authoring.importers.paths import ending_of, stem_of
from handrail.authoring.importers.result import Notes
from handrail.authoring.importers.workrail.declarations import Declarations, slot_names
from handrail.authoring.importers.workrail.steps import WorkrailSteps
from handrail.authoring.readers.json_reader import read_json
from handrail.authoring.shapes.conform import conform
from handrail.authoring.workrail.schema import WORKFLOW
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, SourceText
from handrail.model.workflow.values import JsonValue

CARRIED = frozenset(
    {
        *("id", "name", "description", "version", "about", "examples", "steps", "metaGuidance", "preconditions"),
        *("clarificationPrompts", "agentRole", "assessments", "functionDefinitions", "references", "features"),
        *("capabilities", "extensionPoints"),
    }
)
"""Top-level keys that are carried over; all others are noted."""

NOTED = {
    "recommendedPreferences": "use `access` and approval steps to limit what an agent does on its own",
    "validatedAgainstSpecVersion": "`handrail stamp` writes a new one",
    "tags": "`labels` choose workflows for issues and mean something else",
    "modelTier": "choose a model with `defaults: {agent: NAME/MODEL}`",
    "metricsProfile": "metrics are kept for every run",
}
DETAILS = {"functionDefinitions": ("parameters", "scope")}
_ONCE = (
    ("translated", "the JSON file also runs unchanged; import it only to continue in the native format"),
    ("changed", "equality is exact; WorkRail ignores case and spaces, and converts text to numbers and booleans"),
    ("changed", "steps run once, in order; WorkRail starts over from the top and may run a skipped step later"),
    (
        "changed",
        "a variable has the value from the step that sets it first, or that ends a loop; WorkRail lets any step set it",
    ),
    ("changed", "an invalid result stops a step that has no `retry`; WorkRail asks for the result again"),
    ("changed", "the goal of the run is the input 'goal', and every prompt begins with it"),
    (
        "changed",
        "each agent step continues the conversation before it (`session: continue`), since WorkRail uses one agent",
    ),
)


def is_workrail(files: Lookup[str, str]) -> bool:
    """Whether one of the files is a WorkRail-style workflow."""
    return any(_root(path, text, Report()) is not None for path, text in files.items())


def import_workrail(files: Lookup[str, str], notes: Notes) -> dict[str, str]:
    """Translate every workflow among the files."""
    made: dict[str, str] = {}
    taken = UniqueNames()
    for path, text in files.items():
        report = Report()
        root = _root(path, text, report)
        for found in report:
            notes.add_lost(path, found.line, f"the file cannot be read: {found.message}")
        if root is None:
            notes.add_lost(path, 1, "the file was not imported: it is not a workflow in JSON")
        else:
            made.update(_Workflow(path, root, notes).run(taken))
    return made


def _root(path: str, text: str, report: Report) -> Mapping | None:
    if ending_of(path) != "json":
        return None
    root = map_of(read_json(SourceText(path, text), report))
    if root is None:
        return None
    steps = maps_of(root.get("steps"))
    return root if any("id" in step for step in steps) else None


class _Workflow:
    def __init__(self, path: str, root: Mapping, notes: Notes) -> None:
        self._path = path
        self._root = root
        self._notes = notes

    def run(self, taken: UniqueNames) -> dict[str, str]:
        given = text_of(self._root.get("id")) or stem_of(self._path)
        name = taken.take(workflow_name(given))
        if name != given:
            self._notes.add_changed(self._path, 1, f"the workflow '{given}' is now called '{name}'")
        self._once()
        declared = Declarations(self._root, self._note).run()
        steps = WorkrailSteps(self._root, self._path, self._notes, slot_names(declared))
        rules = self._ground_rules()
        system = steps.prompts.add("ground-rules", rules) if rules else None
        body = steps.run()
        self._departures()
        if not body:
            self._notes.add_lost(self._path, 1, "none of the steps can be translated; the file was left out")
            return {}
        data: dict[str, JsonValue] = {"name": name, "description": self._description()}
        data["input"] = {key: _short(value) for key, value in steps.context.inputs.items()}
        defaults = {"role": text_of(self._root.get("agentRole")), "system_prompt": system}
        if any(defaults.values()):
            data["defaults"] = {key: value for key, value in defaults.items() if value}
        data.update(declared)
        if named := steps.assessments.definitions():
            data["assessments"] = named
        data["steps"] = body
        files = {f"{name}/{path}": text for path, text in steps.prompts.files.items()}
        readme = self._readme()
        extra = {f"{name}/README.md": readme} if readme else {}
        return {f"{name}/workflow.yaml": write_workflow(data, self._path, self._notes), **files, **extra}

    def _departures(self) -> None:
        """Note what WorkRail itself would refuse, and details that have no counterpart here."""
        report = Report()
        conform(WORKFLOW, self._root, report)
        told = {note.line for note in self._notes if note.severity == "lost"}
        for found in report:
            if found.code != "unknown-key" or found.line not in told:
                self._notes.add_lost(self._path, found.line, f"not valid in WorkRail either: {found.message}")
        for key, details in DETAILS.items():
            for each in maps_of(self._root.get(key)):
                for entry in each:
                    if entry.name in details:
                        self._notes.add_lost(self._path, line_of(entry), f"'{entry.name}' in '{key}' was left out")

    def _once(self) -> None:
        for fate, message in _ONCE:
            add = self._notes.add_translated if fate == "translated" else self._notes.add_changed
            add(self._path, 1, message)
        for entry in self._root:
            if entry.name not in CARRIED:
                hint = NOTED.get(entry.name, "it has no counterpart")
                self._notes.add_lost(self._path, line_of(entry), f"the key '{entry.name}' was left out: {hint}")

    def _description(self) -> str:
        title, text = text_of(self._root.get("name")) or "", text_of(self._root.get("description")) or ""
        return f"{title}: {text}" if title and text else title or text

    def _ground_rules(self) -> str:
        parts: list[str] = []
        for key, heading in (
            ("preconditions", "What must be true before the work starts"),
            ("clarificationPrompts", "Questions to ask first, if the answers are not known"),
        ):
            if found := texts_of(self._root.get(key)):
                parts.append(f"## {heading}\n\n" + "\n".join(f"- {literal(text)}" for text in found))
        return "\n\n".join(parts)

    def _note(self, fate: str, at: Node | Entry, message: str) -> None:
        add = self._notes.add_lost if fate == "lost" else self._notes.add_changed
        add(self._path, line_of(at), message)

    def _readme(self) -> str:
        title = text_of(self._root.get("name")) or ""
        parts = [f"# {title}" if title else "", text_of(self._root.get("about")) or ""]
        if version := text_of(self._root.get("version")):
            parts.append(f"Translated from version {version}.")
            message = "'version' is now a line in README.md; Handrail keeps versions per prompt"
            self._notes.add_changed(self._path, line_of(self._root.entries["version"]), message)
        if examples := texts_of(self._root.get("examples")):
            parts.append("Example goals:\n\n" + "\n".join(f"- {text}" for text in examples))
        text = "\n\n".join(part for part in parts if part)
        return text + "\n" if text else ""


def _short(value: dict[str, JsonValue]) -> JsonValue:
    return str(value["type"]) if set(value) == {"type"} else dict(value.items())
