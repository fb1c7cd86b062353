"""Converts Cyrus's workflow folders, with `workflow.ts`, prompts and versions, to native folders."""

import re
from collections.abc import Mapping as Lookup

from handrail.authoring.importers.cyrus.steps import CyrusSteps, prompt_place
from handrail.authoring.importers.cyrus.typescript import Declarations, read_declarations
from handrail.authoring.importers.finish import write_workflow
from handrail.authoring.importers.names import UniqueNames, workflow_name
from handrail.authoring.importers.nodes import line_of, map_of, maps_of, text_of, texts_of
from handrail.authoring.importers.paths import ending_of, file_name, folder_of, stem_of
from handrail.authoring.importers.result import Notes
from handrail.model.source import Mapping, SourceText
from handrail.model.workflow.values import JsonValue

CARRIED = frozenset({"name", "description", "subroutines", "labels", "classifications"})
MAIN = frozenset({"workflow.ts", "workflow.mts", "workflow.js", "workflow.mjs"})
_NUMBERED = re.compile(r"\d+-.+\.md")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")


def is_cyrus(files: Lookup[str, str]) -> bool:
    """Whether the files are a workflow folder in the style of Cyrus."""
    return bool(_folders(files))


def import_cyrus(files: Lookup[str, str], notes: Notes) -> dict[str, str]:
    """Translate every workflow folder among the files."""
    made: dict[str, str] = {}
    taken = UniqueNames()
    used: set[str] = set()
    for folder in _folders(files):
        inside = {path[len(folder) :]: text for path, text in files.items() if path.startswith(folder)}
        main = next((name for name in sorted(MAIN, reverse=True) if name in inside), None)
        found = _Folder(folder, inside, main, notes)
        used.update(folder + path for path in (*found.files_to_copy(), *([main] if main else [])))
        made.update(found.run(taken))
    for path in files:
        if path not in used:
            notes.add_lost(path, 1, "the file was not imported: it is neither a prompt nor a version of one")
    return made


class _Folder:
    def __init__(self, folder: str, files: Lookup[str, str], main: str | None, notes: Notes) -> None:
        self._files = files
        self._main = main
        self._path = folder + (main or "prompts")
        self._folder = folder
        self._notes = notes

    def files_to_copy(self) -> dict[str, str]:
        """Return the files that are copied unchanged."""
        folders, names = ("prompts/", "versions/"), ("versions.json",)
        return {
            path: text
            for path, text in self._files.items()
            if path.startswith(folders) or file_name(path) in names or ending_of(path) == "md"
        }

    def run(self, taken: UniqueNames) -> dict[str, str]:
        procedure = self._procedure()
        given = text_of(procedure.get("name")) if procedure else None
        fallback = self._folder.rstrip("/").rpartition("/")[2] or "imported"
        name = taken.take(workflow_name(given or fallback))
        if given and name != given:
            self._notes.add_changed(self._path, 1, f"the workflow '{given}' is now called '{name}'")
        data: dict[str, JsonValue] = {"name": name}
        steps = CyrusSteps(self._path, self._files, self._notes)
        body = steps.run(procedure) if procedure else steps.translate_prompts(self._prompts())
        if procedure:
            self._translate_head(procedure, data)
        if not body:
            self._notes.add_lost(self._path, 1, "neither subroutines nor prompts were found; the folder was left out")
            return {}
        if steps.needs_issue:
            data["input"] = {"issue": "issue"}
        data["steps"] = body
        self._templates()
        files = {f"{name}/{prompt_place(path)}": text for path, text in self.files_to_copy().items()}
        return {f"{name}/workflow.yaml": write_workflow(data, self._path, self._notes), **files}

    def _translate_head(self, procedure: Mapping, data: dict[str, JsonValue]) -> None:
        if description := text_of(procedure.get("description")):
            data["description"] = description
        for key in ("labels", "classifications"):
            if found := texts_of(procedure.get(key)):
                data[key] = list(dict.fromkeys(found))
        for entry in procedure:
            if entry.name not in CARRIED:
                self._notes.add_lost(self._path, line_of(entry), f"the key '{entry.name}' has no counterpart")

    def _procedure(self) -> Mapping | None:
        if self._main is None:
            self._notes.add_changed(self._path, 1, "there is no workflow.ts; the steps are the prompts in order")
            return None
        source = SourceText(self._path, self._files[self._main])
        declared = read_declarations(source)
        self._problems(source, declared)
        found = _find_procedure(declared)
        if found is None:
            message = "no list of subroutines could be read; the steps are the prompts in order"
            self._notes.add_lost(self._path, 1, message)
        return found

    def _problems(self, source: SourceText, declared: Declarations) -> None:
        for problem in declared.problems:
            message = f"a declaration is not plain data and was left out: {problem.message}"
            self._notes.add_lost(self._path, source.position(problem.at).line, message)
        if declared.resolve_at is not None:
            line = source.position(declared.resolve_at).line
            message = (
                "resolve() does more than return a constant, and its logic was left out; "
                "write it as `def resolve(context)` in workflow.py"
            )
            self._notes.add_lost(self._path, line, message)

    def _prompts(self) -> list[str]:
        found = (path for path in self._files if path.startswith("prompts/") and ending_of(path) == "md")
        return sorted(found, key=_order)

    def _templates(self) -> None:
        for path, text in self.files_to_copy().items():
            found = _TEMPLATE.search(text) if prompt_place(path).startswith("prompts/") else None
            if found:
                line = text.count("\n", 0, found.start()) + 1
                message = f"`{found[0]}` starts a template here; put `<!-- template: off -->` first if it is plain text"
                self._notes.add_changed(self._folder + path, line, message)


def _folders(files: Lookup[str, str]) -> list[str]:
    mains = {folder_of(path) for path in files if file_name(path) in MAIN}
    if mains:
        return sorted(mains)
    prompts = (path for path in files if _NUMBERED.fullmatch(file_name(path)))
    return sorted({folder_of(path)[: -len("prompts/")] for path in prompts if folder_of(path).endswith("prompts/")})


def _find_procedure(declared: Declarations) -> Mapping | None:
    candidates = [declared.resolved, *reversed(declared.constants.values())]
    for candidate in candidates:
        found = map_of(candidate)
        if found is not None and maps_of(found.get("subroutines")):
            return found
    return None


def _order(path: str) -> tuple[int, str]:
    number = re.match(r"\d{1,9}", stem_of(path))
    return (int(number[0]) if number else 10**9, path)
