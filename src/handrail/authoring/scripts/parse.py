"""Parses and checks the script of the scripted agent, and finds the turn for a call."""

import re
from base64 import b64decode
from typing import cast

from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.scripts.address_patterns import EXAMPLES, find_key, is_address
from handrail.authoring.scripts.schema import DEFAULT, MORE, SCRIPT
from handrail.authoring.scripts.turn import FileForm, Turn
from handrail.authoring.shapes.conform import conform
from handrail.authoring.shapes.misfits import short
from handrail.errors import InvalidWorkflow
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Entry, Mapping, Node, Scalar, Sequence, SourceText, Span, plain
from handrail.model.suggest import did_you_mean

_BLANK = re.compile(r"\ufeff?(?:\s*(?:#[^\n]*)?\n)*\s*(?:#[^\n]*)?")

_WHAT_IT_IS = "write step addresses with their turns, such as `reproduce: [{say: done}]`"


@frozen
class Turns:
    """The turns of one key, in the order of the calls."""

    turns: tuple[Turn, ...]
    repeats: bool
    """Whether the last turn also plays for all further calls."""


@frozen
class Script:
    """A checked script: step addresses, as written, with their turns."""

    path: str
    steps: dict[str, Turns]

    def plays(self, address: str, number: int, number_in_round: int = 1) -> tuple[str, int] | None:
        """Find the key for a call and the number of the call under it, from 1; None where no key matches."""
        found = find_key(address, (key for key in self.steps if key != DEFAULT))
        if found is not None:
            return found.key, number_in_round if found.of_round else number
        return (DEFAULT, number) if DEFAULT in self.steps else None

    def turn(self, address: str, number: int, number_in_round: int = 1) -> Turn:
        """Return the turn for a call; where the script has none, a failure that says so."""
        found = self.plays(address, number, number_in_round)
        if found is not None:
            return self._play(*found)
        known = ", ".join(self.steps)
        guess = did_you_mean(address, self.steps)
        return failure(f"the script has no turns for '{address}', only for {known}{guess}")

    def _play(self, key: str, number: int) -> Turn:
        found = self.steps[key]
        if number <= len(found.turns):
            return found.turns[number - 1]
        if found.repeats:
            return found.turns[-1]
        count = f"{len(found.turns)} turn{'s' * (len(found.turns) != 1)}"
        hint = f"add a turn, or `- {MORE}` to repeat the last one"
        return failure(f"the script has {count} for '{key}', and this is call {number}; {hint}")


def failure(message: str) -> Turn:
    """Build the failing turn of a call for which the script has nothing usable."""
    return {"fail": {"status": "api_error", "message": message}}


def require_script(path: str, data: bytes) -> Script:
    """Parse the bytes of a script file, raising an error with the positions of all problems."""
    report = Report()
    try:
        source = SourceText(path, data.decode("utf-8"))
    except ValueError:
        raise InvalidWorkflow(f"the script {path} is not UTF-8 text") from None
    script = parse_script(source, report)
    if script is None:
        next_step = "fix it; docs/scripted-agent.md lists every key"
        raise InvalidWorkflow(f"the script {path} cannot be used", tuple(report), next_step=next_step)
    return script


def parse_script(source: SourceText, report: Report) -> Script | None:
    """Parse a script from text; None when something is wrong, which is then reported."""
    if _BLANK.fullmatch(source.text):
        report.error("yaml-syntax", "the script is empty", Span(source, 0, 0), _WHAT_IT_IS)
        return None
    root = read_yaml(source, report)
    if root is not None and not isinstance(root, Mapping):
        report.error("wrong-type", "a script must be a map of step addresses", root, _WHAT_IT_IS)
    if not isinstance(root, Mapping) or not conform(SCRIPT, root, report) or report.failed:
        return None
    return script_of(root, report)


def script_of(root: Mapping, report: Report) -> Script | None:
    """Build the script from a tree of the right shape; None when something is wrong, which is then reported."""
    for entry in root:
        _check(entry, report)
    steps = None if report.failed else {entry.name: _turns(entry.value) for entry in root}
    return None if steps is None else Script(root.span.source.path, steps)


def _check(entry: Entry, report: Report) -> None:
    """Report what the shape cannot express: invalid addresses, misplaced repetition and invalid paths."""
    if not is_address(entry.name):
        hint = f"for example {EXAMPLES}"
        report.error("bad-value", f"'{short(entry.name)}' is not a valid step address", entry, hint)
    items = _items(entry.value)
    for item in items[:-1]:
        _report_not_last(item, report)
    if isinstance(items[-1], Scalar) and len(items) == 1:
        report.error("bad-value", f"'{MORE}' repeats the turn before it, but there is none", items[0])
    for item in items:
        if isinstance(item, Mapping) and isinstance(files := item.get("files"), Mapping):
            for file in files:
                check_file(file, report)


def _items(value: Node) -> tuple[Node, ...]:
    return value.items if isinstance(value, Sequence) else (value,)


def _report_not_last(item: Node, report: Report) -> None:
    if isinstance(item, Scalar):
        report.error("bad-value", f"'{MORE}' must be the last turn", item, "remove it, or what follows it")
    elif isinstance(item, Mapping) and _is_repeating(item):
        report.error("bad-value", "only the last turn can repeat", item.entries["repeat"], "move it to the last turn")


def _is_repeating(item: Node) -> bool:
    match item:
        case Scalar():
            return True
        case Mapping():
            flag = item.get("repeat")
            return isinstance(flag, Scalar) and flag.value is True
        case Sequence():
            return False


def check_file(file: Entry, report: Report) -> None:
    """Report a path that leaves the workspace, and invalid base64."""
    parts = file.name.split("/")
    if not file.name or "\0" in file.name or any(part in ("", ".", "..") for part in parts):
        hint = "write it relative to the workspace, such as src/app.py"
        report.error("bad-value", f"'{short(file.name)}' is not a path inside the workspace", file, hint)
    elif parts[0] == ".git":
        report.error("bad-value", "a turn cannot write to .git", file, 'use git itself: `run: "git ..."`')
    data = file.value.get("base64") if isinstance(file.value, Mapping) else None
    if isinstance(data, Scalar) and not _is_base64(str(data.value)):
        report.error("bad-value", f"'{short(str(data.value))}' is not valid base64", data, "for example aGVsbG8=")


def _is_base64(text: str) -> bool:
    try:
        b64decode("".join(text.split()), validate=True)
    except ValueError:
        return False
    return True


def _turns(value: Node) -> Turns:
    items = _items(value)
    turns = tuple(_turn(item) for item in items if isinstance(item, Mapping))
    return Turns(turns, _is_repeating(items[-1]))


def _turn(item: Mapping) -> Turn:
    """Convert a turn, whose shape has been checked, to its long form."""
    turn = cast("dict[str, object]", plain(item))
    for name in ("run", "background", "expect_prompt", "call_tool"):
        if name in turn and not isinstance(turn[name], list):
            turn[name] = [turn[name]]
    for call in cast("list[dict[str, object]]", turn.get("call_tool", [])):
        if isinstance(call.get("expect"), str):
            call["expect"] = [call["expect"]]
    if isinstance(turn.get("fail"), str):
        turn["fail"] = {"status": turn["fail"]}
    if "files" in turn:
        files = cast("dict[str, str | FileForm | None]", turn["files"])
        turn["files"] = {path: {"text": form} if isinstance(form, str) else form for path, form in files.items()}
    return cast("Turn", turn)
