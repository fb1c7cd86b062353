"""Translates Coven's steps to native ones, in order, so that each step knows the results of earlier ones."""

import re
from collections.abc import Callable
from collections.abc import Mapping as Lookup

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.coven.go_templates import TemplateContext, translate_template
from handrail.authoring.importers.coven.go_values import command, condition, duration, translate_text
from handrail.authoring.importers.coven.names import CovenNames, Producer
from handrail.authoring.importers.names import PromptFiles, UniqueNames, make_identifier, step_name, value_name
from handrail.authoring.importers.nodes import flag_of, int_of, line_of, map_of, maps_of, strays_of, text_of
from handrail.authoring.importers.result import Notes
from handrail.model.source import Entry, Mapping, Node
from handrail.model.workflow.values import JsonValue

STEP_KEYS: dict[str, frozenset[str]] = {
    "agent": frozenset({"name", "type", "timeout", "when", "spell", "input", "output"}),
    "script": frozenset({"name", "type", "timeout", "when", "command", "output", "on_fail", "on_success"}),
    "loop": frozenset({"name", "type", "timeout", "when", "steps", "max_iterations", "on_max_iterations"}),
    "merge": frozenset({"name", "type", "timeout", "when", "require_review"}),
}
"""Keys that are carried over, by type; all others are noted."""

ORDER = (
    *("name", "type", "when", "input", "while", "max_iterations", "on_max", "prompt", "command", "message", "show"),
    *("output", "returns", "on_success", "on_fail", "timeout", "steps"),
)
UNLIMITED = 100
MAX_ROUNDS = 1000
_CONTRACT = re.compile(r'```json.*"success"', re.DOTALL)


class CovenSteps:
    """Translates the steps of one file."""

    def __init__(self, path: str, spells: Lookup[str, tuple[str, str]], notes: Notes) -> None:
        self.names = CovenNames(lambda message: notes.add_changed(path, self._line, message))
        self.prompts = PromptFiles()
        self.used: set[str] = set()
        """The names of the spells that were read."""
        self._path = path
        self._spells = spells
        self._notes = notes
        self._taken = UniqueNames()
        self._line = 1

    def run(self, steps: Node | None) -> list[JsonValue]:
        """Translate all steps."""
        self._expect(steps)
        found = self._list(steps)
        for producer in self.names.producers():
            self._returns(producer)
        return [_order_keys(step) for step in found]

    def _expect(self, steps: Node | None) -> None:
        for step in maps_of(steps):
            for key in ("name", "output"):
                if name := text_of(step.get(key)):
                    self.names.expect(name)
            self._expect(step.get("steps"))

    def _list(self, steps: Node | None) -> list[dict[str, JsonValue]]:
        for stray in strays_of(steps):
            self._note_lost(stray, "an entry of `steps` is not a step and was left out")
        return [made for step in maps_of(steps) for made in self._step(step)]

    def _step(self, step: Mapping) -> list[dict[str, JsonValue]]:
        kind = text_of(step.get("type")) or ""
        self._line = line_of(step)
        builders: dict[str, Callable[[Mapping, dict[str, JsonValue]], list[dict[str, JsonValue]]]] = {
            "agent": self._agent,
            "script": self._script,
            "loop": self._loop,
            "merge": self._merge,
        }
        if kind not in builders:
            self._note_lost(step, f"a step of type '{kind}' is unknown to Coven and was left out")
            return []
        self._unknown_keys(step, STEP_KEYS[kind])
        data: dict[str, JsonValue] = {"name": self._name(step)}
        self._translate_when(step, data)
        self._timeout(step, data)
        made = builders[kind](step, data)
        self.names.previous = str(data["name"])
        return made

    def _name(self, step: Mapping) -> str:
        given = text_of(step.get("name")) or ""
        name = self._taken.take(step_name(given))
        if name != given:
            self._note_changed(step, f"the step '{given}' is now called '{name}'")
        return name

    def _unknown_keys(self, step: Mapping, known: frozenset[str]) -> None:
        for entry in step:
            if entry.name not in known:
                self._note_lost(entry, f"the key '{entry.name}' has no effect in such a step and was left out")

    def _translate_when(self, step: Mapping, data: dict[str, JsonValue]) -> None:
        node = step.get("when")
        text = text_of(node)
        if node is None or text == "":
            return
        if (flag := flag_of(node)) is not None:
            data["when"] = flag
            return
        try:
            data["when"] = condition(text or "", self.names)
        except Untranslatable as problem:
            data["when"] = False
            message = (
                f"the condition `{text}` cannot be translated ({problem}); the step never runs until you write `when`"
            )
            self._note_lost(node, message)
            return
        if self.names.loops:
            self._note_changed(node, "conditions also apply inside loops; Coven ignored them there")

    def _timeout(self, step: Mapping, data: dict[str, JsonValue]) -> None:
        node = step.get("timeout")
        if node is None:
            return
        given = text_of(node) or ""
        if (limit := duration(given)) is None:
            self._note_lost(node, f"the timeout '{given}' is not a duration and was left out")
            return
        data["timeout"] = limit
        if limit != given:
            self._notes.add_translated(self._path, line_of(node), f"the timeout {given} is now {limit}")

    def _agent(self, step: Mapping, data: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
        inputs = self._inputs(step)
        if inputs:
            data["input"] = inputs
        self.names.own = frozenset(inputs)
        data["prompt"] = self._prompt(step, str(data["name"]))
        self.names.own = frozenset()
        if self.names.loops:
            data["on_fail"] = "continue"
            self._note_changed(
                step, "an agent that fails inside a loop does not end it, as in Coven (`on_fail: continue`)"
            )
        self._produce(step, data, Producer(str(data["name"]), "agent", data))
        return [data]

    def _inputs(self, step: Mapping) -> dict[str, JsonValue]:
        found: dict[str, JsonValue] = {}
        for entry in map_of(step.get("input")) or ():
            text = text_of(entry.value)
            name = value_name(entry.name)
            try:
                found[name] = translate_text(text or "", self.names)
            except Untranslatable as problem:
                self._note_lost(
                    entry, f"the input '{entry.name}' (`{text}`) cannot be translated: {problem}; it is now empty"
                )
                found[name] = ""
        return found

    def _prompt(self, step: Mapping, name: str) -> str:
        node = step.get("spell")
        given = text_of(node) or ""
        at = node or step
        if "\n" in given:
            return self._template(given, self._path, line_of(at))
        found = self._spells.get(given)
        if found is None:
            target = f"prompts/{step_name(given or name)}.md"
            self._note_lost(at, f"the spell '{given}' is not among the files; create it as {target}")
            return target
        self.used.add(given)
        path, text = found
        return self.prompts.add(step_name(given), self._template(text, path, 0))

    def _template(self, text: str, path: str, first: int) -> str:
        if _CONTRACT.search(text):
            message = "the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields"
            self._notes.add_changed(path, max(first, 1), message)
        texts = {name: body for name, (_, body) in self._spells.items()}

        def note_lost(line: int, message: str) -> None:
            self._notes.add_lost(path, first + line, message)

        return translate_template(text, TemplateContext(self.names, texts, note_lost))

    def _script(self, step: Mapping, data: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
        node = step.get("command") or step
        given = text_of(step.get("command")) or ""
        try:
            data["command"] = command(given, self.names) or "true"
        except Untranslatable as problem:
            data["command"] = "echo 'this command could not be translated' >&2; exit 1"
            self._note_lost(
                node,
                f"the command `{given}` cannot be translated ({problem}); the step fails until you write the command",
            )
        self._on_fail(step, data)
        if text_of(step.get("on_success")) == "exit_loop" and self.names.loops:
            data["on_success"] = "exit_loop"
        elif "on_success" in step:
            self._note_lost(step.entries["on_success"], "`on_success` has an effect only inside a loop, as `exit_loop`")
        self._produce(step, data, Producer(str(data["name"]), "script", data))
        return [data]

    def _on_fail(self, step: Mapping, data: dict[str, JsonValue]) -> None:
        given = text_of(step.get("on_fail"))
        if given in ("continue", "block"):
            data["on_fail"] = given
        elif given:
            self._note_lost(step.entries["on_fail"], f"`on_fail: {given}` is unknown to Coven and was left out")
        elif self.names.loops:
            data["on_fail"] = "continue"
            self._note_changed(
                step, "a script that fails inside a loop does not end it, as in Coven (`on_fail: continue`)"
            )

    def _loop(self, step: Mapping, data: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
        data.update({"type": "loop", "while": True})
        self._rounds(step, data)
        name = str(data["name"])
        self.names.define(text_of(step.get("name")) or name, Producer(name, "loop", data))
        self.names.loops.append(name)
        body = self._list(step.get("steps"))
        self.names.loops.pop()
        if not body:
            self._note_lost(step, f"the loop '{name}' has no steps and was left out")
            return []
        data["steps"] = list(body)
        return [data]

    def _rounds(self, step: Mapping, data: dict[str, JsonValue]) -> None:
        most = int_of(step.get("max_iterations")) or 0
        explicit = most > 0
        data["max_iterations"] = min(most, MAX_ROUNDS) if explicit else UNLIMITED
        if not explicit:
            self._note_changed(
                step, f"without `max_iterations` Coven stops after {UNLIMITED} rounds; the limit is now explicit"
            )
        elif most > MAX_ROUNDS:
            self._note_changed(step, f"`max_iterations: {most}` is now {MAX_ROUNDS}, the maximum")
        given = text_of(step.get("on_max_iterations"))
        if given == "exit":
            self._notes.add_translated(
                self._path, line_of(step), "`on_max_iterations: exit` means failure; it is now `on_max: fail`"
            )
        elif given not in (None, "", "block", "continue"):
            self._note_lost(step.entries["on_max_iterations"], f"`on_max_iterations: {given}` is unknown to Coven")
        otherwise = "continue" if explicit else "fail"
        data["on_max"] = {"exit": "fail", "block": "block", "continue": "continue"}.get(given or "", otherwise)

    def _merge(self, step: Mapping, data: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
        name = str(data["name"])
        data.update({"type": "commit", "message": "Merge changes from worktree"})
        message = (
            "the changes stay on the run's branch as a commit; merge it with `handrail merge` or a pull-request step"
        )
        self._note_changed(step, message)
        if flag_of(step.get("require_review")) is False:
            return [data]
        review: dict[str, JsonValue] = {"name": self._taken.take(step_name(f"review-{name}")), "type": "approval"}
        if "when" in data:
            review["when"] = data["when"]
        review.update({"message": "Review the changes before they are committed.", "show": ["diff"]})
        self._note_changed(step, f"`require_review` is now the approval step '{review['name']}' before this one")
        return [review, data]

    def _produce(self, step: Mapping, data: dict[str, JsonValue], producer: Producer) -> None:
        output = text_of(step.get("output"))
        if output:
            name = value_name(make_identifier(output))
            data["output"] = name
            if name != output:
                self._note_changed(step, f"the output '{output}' is now called '{name}'")
            self.names.define(output, producer)
        self.names.define(text_of(step.get("name")) or producer.step, producer)

    def _returns(self, producer: Producer) -> None:
        returns = producer.returns()
        if producer.kind != "agent" or returns is None:
            return
        producer.data["returns"] = returns
        fields = ", ".join(producer.fields) or "any JSON"
        message = f"the result of '{producer.step}' is now checked: `returns` lists what later steps use ({fields})"
        self._notes.add_changed(self._path, 1, message)

    def _note_lost(self, at: Node | Entry, message: str) -> None:
        self._notes.add_lost(self._path, line_of(at), message)

    def _note_changed(self, at: Node | Entry, message: str) -> None:
        self._notes.add_changed(self._path, line_of(at), message)


def _order_keys(step: dict[str, JsonValue]) -> dict[str, JsonValue]:
    body = step.get("steps")
    if isinstance(body, list):
        step = {**step, "steps": [_order_keys(inner) if isinstance(inner, dict) else inner for inner in body]}
    return {key: step[key] for key in ORDER if key in step}
