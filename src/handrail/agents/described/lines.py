"""Reads the output of a program: text, one JSON document, or JSON lines, as its definition says."""

from handrail.agents.json_lines import Line, amount, count, explain_no_result, read_line
from handrail.model.workflow.values import JsonValue
from handrail.ports.agent_definitions import AgentDefinition, JsonPath, ValueMapping, Where
from handrail.ports.agents import AgentOutcome, CallProgress, OutcomeStatus, Usage
from handrail.ports.processes import Ended, Gone

TOKENS = ("input_tokens", "output_tokens", "cached_tokens")


class CommandLines:
    """The reader of one call."""

    def __init__(self, definition: AgentDefinition) -> None:
        self._definition = definition
        self._lines: list[bytes] = []
        self._found: dict[str, JsonValue] = {}
        self._complete = definition.final is None

    def feed(self, line: bytes) -> str:
        """Read one line; return what to show of it on the screen, or an empty text."""
        if self._definition.output == "jsonl":
            said = read_line(line)
            self._take(said)
            self._complete = self._complete or (bool(said) and is_match(said, self._definition.final or ()))
        else:
            self._lines.append(line)
        return display_text(self._definition, line)

    def outcome(self, ended: Ended | Gone) -> AgentOutcome:
        """Return how the call ended, from the answer first, then from the exit status."""
        if self._definition.output == "json":
            self._take(_document(self._lines))
        status, message = self._status(ended)
        return AgentOutcome(
            status=status,
            text=self._text(),
            output=self._found.get("output"),
            has_output="output" in self._found,
            session=_plain(self._found.get("session")) or None,
            usage=self.read_progress().usage,
            cost=self.read_progress().cost,
            message=message,
        )

    def read_progress(self) -> CallProgress:
        """Return the tokens and the cost in the lines so far."""
        usage = Usage(*(count(self._found.get(name)) for name in TOKENS))
        return CallProgress(usage, amount(self._found.get("cost")))

    def _text(self) -> str:
        if self._definition.output == "text":
            return b"\n".join(self._lines).decode(errors="replace").strip()
        return _plain(self._found.get("text"))

    def _take(self, said: Line) -> None:
        for each in self._definition.mapped:
            value = read_value(said, each)
            if value is not None:
                self._found[each.name] = _add_values(self._found.get(each.name), value) if each.add else value

    def _status(self, ended: Ended | Gone) -> tuple[OutcomeStatus, str]:
        trouble = _trouble(self._found.get("error"))
        code = ended.code if isinstance(ended, Ended) else None
        if code is not None and code in (codes := dict(self._definition.exit_codes)):
            return codes[code], trouble or ("" if codes[code] == "ok" else f"it ended with exit code {code}")
        if trouble:
            return "api_error", trouble
        if code != 0 or not self._complete:
            return "crashed", explain_no_result(ended)
        if self._definition.output == "text":
            return ("ok", "") if self._text() else ("no_output", "the agent ended without an error but printed nothing")
        if not {"text", "output"} & self._found.keys():
            return "no_output", "the agent ended without an error, but its output has nothing at the paths of `answer`"
        return "ok", ""


def display_text(definition: AgentDefinition, line: bytes) -> str:
    """Return what a line says to a person."""
    match definition.output:
        case "text":
            return line.decode(errors="replace")
        case "json":
            return ""
        case "jsonl":
            said = read_line(line)
            texts = (read_value(said, each) for each in definition.mapped if each.name == "text")
            return "".join(_plain(value) for value in texts)


def read_value(said: Line, mapped: ValueMapping) -> JsonValue:
    """Return the value at the place that a definition names; None where there is none."""
    return follow_path(said, mapped.path) if said and is_match(said, mapped.where) else None


def is_match(said: Line, where: Where) -> bool:
    """Whether a line is of a kind."""
    return all(follow_path(said, path) == text for path, text in where)


def follow_path(value: JsonValue, path: JsonPath) -> JsonValue:
    """Follow a path; None where it leads nowhere."""
    for key in path:
        if isinstance(key, str) and isinstance(value, dict):
            value = value.get(key)
        elif isinstance(key, int) and isinstance(value, list) and -len(value) <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _document(lines: list[bytes]) -> Line:
    """Parse the one document; output before it is ignored."""
    begin = next((place for place, line in enumerate(lines) if line.lstrip().startswith(b"{")), 0)
    return read_line(b"\n".join(lines[begin:]))


def _add_values(before: JsonValue, value: JsonValue) -> JsonValue:
    match before, value:
        case (str(), str()):
            return before + value
        case (int() | float(), int() | float()):
            return before + value
        case _:
            return value


def _trouble(value: JsonValue) -> str:
    """Return what went wrong, if anything: `false` and an empty text mean that nothing did."""
    if isinstance(value, dict):
        return _plain(value.get("message")) or str(value)
    if value is True:
        return "the agent reported a failure"
    return _plain(value)


def _plain(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
