"""Converts Coven's workflow files and their spells to native folders."""

from collections.abc import Mapping as Lookup

from handrail.authoring.importers.coven.go_values import duration
from handrail.authoring.importers.coven.repairs import repair
from handrail.authoring.importers.coven.steps import CovenSteps
from handrail.authoring.importers.finish import check_native, write_workflow
from handrail.authoring.importers.names import UniqueNames, workflow_name
from handrail.authoring.importers.nodes import data_of, line_of, map_of, maps_of, strays_of, text_of
from handrail.authoring.importers.paths import ending_of, file_name, folder_of, stem_of
from handrail.authoring.importers.result import Notes
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Sequence, SourceText
from handrail.model.workflow.values import JsonValue

CARRIED = frozenset({"name", "description", "timeout", "steps"})
_NATIVE_TYPES = frozenset({"agent-loop", "parallel-agents", "gate"})
_PROMPT_KEYS = ("prompt", "arbiter_prompt")
_SETTINGS = {
    "config.json": "agent, polling and concurrency belong in Handrail's config.toml",
    "grimoire-mapping.json": "write the issue types as `classifications`, or the labels as `labels`, of a workflow",
    "grimoire-matchers.yaml": "write the tags as `labels` of a workflow",
}


def is_coven(files: Lookup[str, str]) -> bool:
    """Whether the files are Coven's."""
    return any(_is_workflow(path, text) for path, text in files.items())


def import_coven(files: Lookup[str, str], notes: Notes) -> dict[str, str]:
    """Translate every workflow among the files."""
    spells = {stem_of(path): (path, text) for path, text in files.items() if _has_prompts(path)}
    used: set[str] = set()
    taken = UniqueNames()
    made: dict[str, str] = {}
    for path, text in files.items():
        if _is_workflow(path, text):
            used.add(path)
            made.update(_Source(path, text, spells, notes).run(taken, used))
    for path in files:
        if path not in used:
            reason = _SETTINGS.get(file_name(path), "no workflow uses it")
            notes.add_lost(path, 1, f"the file was not imported: {reason}")
    return made


class _Source:
    def __init__(self, path: str, text: str, spells: Lookup[str, tuple[str, str]], notes: Notes) -> None:
        self._path = path
        self._text = text
        self._spells = spells
        self._notes = notes

    def run(self, taken: UniqueNames, used: set[str]) -> dict[str, str]:
        report = Report()
        root = map_of(read_yaml(SourceText(self._path, self._text), report))
        for found in report:
            self._notes.add_lost(self._path, found.line, f"the file cannot be read: {found.message}")
        if root is None or not maps_of(root.get("steps")):
            self._notes.add_lost(self._path, 1, "the file has no steps and was left out")
            return {}
        given = text_of(root.get("name")) or stem_of(self._path)
        name = taken.take(workflow_name(given))
        if _is_native(root):
            return self._copy_native(root, name, used)
        if name != given:
            self._notes.add_changed(self._path, 1, f"the workflow '{given}' is now called '{name}'")
        return self._translate(root, name, used)

    def _copy_native(self, root: Mapping, name: str, used: set[str]) -> dict[str, str]:
        made = {f"{name}/workflow.yaml": self._repair_native(root)}
        for prompt in _prompt_names(root):
            if prompt in self._spells:
                path, text = self._spells[prompt]
                used.add(path)
                made[f"{name}/prompts/{prompt}.md"] = text
        return made

    def _repair_native(self, root: Mapping) -> str:
        """Return a native file unchanged or, where a run needs more than it contains, with additions."""
        data = data_of(root)
        added = list(repair(data)) if isinstance(data, dict) and _has_only_steps(root) else []
        if not added or not isinstance(data, dict):
            self._notes.add_translated(
                self._path, 1, "the file is already in the native format and was copied unchanged"
            )
            check_native(self._text, self._path, self._notes)
            return self._text
        for message in added:
            self._notes.add_changed(self._path, 1, message)
        if "#" in self._text:
            self._notes.add_lost(self._path, 1, "comments in the file were lost, since it was rewritten")
        return write_workflow(data, self._path, self._notes)

    def _translate(self, root: Mapping, name: str, used: set[str]) -> dict[str, str]:
        steps = CovenSteps(self._path, self._spells, self._notes)
        body = steps.run(root.get("steps"))
        if not body:
            self._notes.add_lost(self._path, 1, "none of the steps can be translated; the file was left out")
            return {}
        data: dict[str, JsonValue] = {"name": name}
        if description := text_of(root.get("description")):
            data["description"] = description
        self._timeout(root, data)
        if steps.names.inputs:
            data["input"] = dict(steps.names.inputs)
        data["steps"] = body
        for entry in root:
            if entry.name not in CARRIED:
                self._note_lost(entry, f"the key '{entry.name}' is unknown to Coven and was left out")
        self._limits(root)
        used.update(self._spells[spell][0] for spell in _collect_includes(steps.used, self._spells))
        files = {f"{name}/{path}": text for path, text in steps.prompts.files.items()}
        return {f"{name}/workflow.yaml": write_workflow(data, self._path, self._notes), **files}

    def _timeout(self, root: Mapping, data: dict[str, JsonValue]) -> None:
        entry = root.entries.get("timeout")
        if entry is None:
            return
        given = text_of(entry.value) or ""
        if (limit := duration(given)) is None:
            self._note_lost(entry, f"the timeout '{given}' is not a duration and was left out")
            return
        data["timeout"] = limit
        self._notes.add_changed(self._path, line_of(entry), f"the timeout {given} is now enforced; Coven ignored it")

    def _limits(self, root: Mapping) -> None:
        if any("timeout" not in step for step in maps_of(root.get("steps"))):
            message = (
                "Coven's own time limits (15m for agents, 5m for others) are not written; set `timeout` where needed"
            )
            self._notes.add_changed(self._path, 1, message)
        message = "an agent that fails at the top level blocks for a person; Coven failed the run (`on_fail: fail`)"
        self._notes.add_changed(self._path, 1, message)

    def _note_lost(self, at: Node | Entry, message: str) -> None:
        self._notes.add_lost(self._path, line_of(at), message)


def _is_workflow(path: str, text: str) -> bool:
    if ending_of(path) not in ("yaml", "yml"):
        return False
    if folder_of(path).endswith("grimoires/"):
        return True
    return file_name(path) not in _SETTINGS and "steps:" in text and ("spell:" in text or "require_review:" in text)


def _has_prompts(path: str) -> bool:
    return ending_of(path) == "md" and folder_of(path).endswith(("spells/", "prompts/"))


def _is_native(root: Mapping) -> bool:
    steps = maps_of(root.get("steps"))
    if any("spell" in step for step in steps):
        return False
    types = {text_of(step.get("type")) for step in steps}
    return bool(types & _NATIVE_TYPES) or any("prompt" in step for step in steps) or "trigger" in root


def _has_only_steps(root: Mapping) -> bool:
    steps = root.get("steps")
    return isinstance(steps, Sequence) and not strays_of(steps)


def _prompt_names(root: Mapping) -> list[str]:
    found = (text_of(step.get(key)) for step in maps_of(root.get("steps")) for key in _PROMPT_KEYS)
    return [name for name in found if name]


def _collect_includes(used: set[str], spells: Lookup[str, tuple[str, str]]) -> set[str]:
    everything = set(used)
    todo = list(used)
    while todo:
        text = spells[todo.pop()][1]
        more = {name for name in spells if f'include "{name}"' in text} - everything
        everything |= more
        todo.extend(more)
    return everything
