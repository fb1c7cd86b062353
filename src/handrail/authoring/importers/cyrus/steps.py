"""Translates Cyrus's subroutines to agent steps."""

from collections.abc import Mapping as Lookup

from handrail.authoring.importers.names import UniqueNames, step_name
from handrail.authoring.importers.nodes import flag_of, line_of, maps_of, strays_of, text_of, texts_of
from handrail.authoring.importers.paths import ending_of, stem_of
from handrail.authoring.importers.result import Notes
from handrail.model.source import Entry, Mapping, Node
from handrail.model.workflow.values import JsonValue

FLAGS = {
    "singleTurn": "single_turn",
    "requiresApproval": "requires_approval",
    "suppressThoughtPosting": "suppress_thoughts",
}
TOOLS = {"disallowedTools": "disallowed_tools", "allowedTools": "allowed_tools"}
CARRIED = frozenset({"name", "promptPath", "description", *FLAGS, *TOOLS})
NOTED = {
    "skipLinearPost": "posting is configured in the tracker; `suppress_thoughts: true` leaves out thoughts",
    "usesValidationLoop": "write the checks as a step of `type: gate` with `checks: project` and `fix:`",
}
PRIMARY = "{{ issue.title }}\n\n{{ issue.body }}\n"


def prompt_place(path: str) -> str:
    """Return the path of a prompt file in a native folder: below `prompts/`, or beside the workflow."""
    is_apart = "/" in path and ending_of(path) == "md" and not path.startswith(("prompts/", "versions/"))
    return f"prompts/{path}" if is_apart else path


class CyrusSteps:
    """Translates the subroutines of one workflow."""

    def __init__(self, path: str, files: Lookup[str, str], notes: Notes) -> None:
        self.needs_issue = False
        self._path = path
        self._files = files
        self._notes = notes
        self._taken = UniqueNames()
        self._made = 0

    def run(self, procedure: Mapping) -> list[JsonValue]:
        """Translate the subroutines in order."""
        for stray in strays_of(procedure.get("subroutines")):
            self._note_lost(stray, "an entry of 'subroutines' is not a subroutine and was left out")
        return [self._step(each) for each in maps_of(procedure.get("subroutines"))]

    def translate_prompts(self, prompts: list[str]) -> list[JsonValue]:
        """Build a step from each prompt file."""
        made: list[JsonValue] = []
        for path in prompts:
            name = stem_of(path).lstrip("0123456789").lstrip("-")
            made.append({"name": self._taken.take(step_name(name)), "prompt": path, **self._session(None)})
        return made

    def _step(self, subroutine: Mapping) -> dict[str, JsonValue]:
        given = text_of(subroutine.get("name")) or stem_of(text_of(subroutine.get("promptPath")) or "step")
        data: dict[str, JsonValue] = {"name": self._taken.take(step_name(given))}
        if data["name"] != given:
            self._note_changed(subroutine, f"the subroutine '{given}' is now the step '{data['name']}'")
        if description := text_of(subroutine.get("description")):
            data["description"] = description
        data["prompt"] = self._prompt(subroutine, str(data["name"]))
        data.update(self._session(subroutine))
        for theirs, ours in FLAGS.items():
            if flag_of(subroutine.get(theirs)):
                data[ours] = True
        for theirs, ours in TOOLS.items():
            if theirs in subroutine:
                data[ours] = list(dict.fromkeys(texts_of(subroutine.get(theirs))))
        self._translate_other_keys(subroutine, data)
        return data

    def _session(self, at: Node | None) -> dict[str, JsonValue]:
        self._made += 1
        if self._made == 1:
            return {}
        if self._made == 2:
            line = line_of(at) if at is not None else 1
            message = "each step continues the conversation of the step before it, as in Cyrus (`session: continue`)"
            self._notes.add_translated(self._path, line, message)
        return {"session": "continue"}

    def _prompt(self, subroutine: Mapping, name: str) -> str:
        node = subroutine.get("promptPath")
        path = (text_of(node) or "").removeprefix("./")
        at = node or subroutine
        if path == "primary":
            self.needs_issue = True
            message = (
                "the prompt 'primary' is chosen by labels in Cyrus; here it is the issue's text, "
                "and labels choose the workflow (`labels:`)"
            )
            self._note_changed(at, message)
            return PRIMARY
        if not path:
            self._note_lost(at, f"the subroutine has no promptPath; create prompts/{name}.md")
            return f"prompts/{name}.md"
        if path not in self._files:
            self._note_lost(at, f"the prompt file {path} is not among the files; the workflow needs it")
        given = path if path.endswith(".md") else f"{path}.md"
        if (moved := prompt_place(given)) != given:
            self._note_changed(at, f"the prompt {given} is now {moved}: prompts must be in that folder")
        return moved

    def _translate_other_keys(self, subroutine: Mapping, data: dict[str, JsonValue]) -> None:
        for entry in subroutine:
            if entry.name in CARRIED:
                continue
            if entry.name == "disallowAllTools" and flag_of(entry.value):
                data.update({"access": "read", "allowed_tools": []})
                self._note_changed(
                    entry, "'disallowAllTools' is now `access: read` with an empty list of allowed tools"
                )
            elif flag_of(entry.value) is False:
                self._notes.add_translated(
                    self._path, line_of(entry), f"'{entry.name}' is false, which is the default here"
                )
            else:
                hint = NOTED.get(entry.name, "it has no counterpart")
                self._note_lost(entry, f"the key '{entry.name}' was left out: {hint}")

    def _note_lost(self, at: Node | Entry, message: str) -> None:
        self._notes.add_lost(self._path, line_of(at), message)

    def _note_changed(self, at: Node | Entry, message: str) -> None:
        self._notes.add_changed(self._path, line_of(at), message)
