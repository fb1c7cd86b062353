"""What a scenario's run did that its test does not expect, with the position in the test file."""

from pathlib import Path
from typing import cast

from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.source import Span
from handrail.model.workflow.values import JsonValue
from handrail.operations.scenarios.play import PlayResult
from handrail.operations.scenarios.read import Scenario, line_of
from handrail.operations.scenarios.replacements import StepReplacements
from handrail.operations.scenarios.trace import Trace
from handrail.operations.views.run_document import outputs_of

STATUS_WORDS = {"cancelled": "stopped", "blocked": "needs you", "waiting": "needs you"}


@frozen
class Problem:
    """One thing that is not as the test expects."""

    what: str
    file: str
    line: int
    expected: str = ""
    happened: str = ""
    difference: tuple[tuple[str, str], ...] = ()
    """Lines of both, each with its mark: `-` only expected, `+` only happened."""
    hint: str = ""
    add: str = ""
    """Lines to add to the test file."""

    def data(self) -> dict[str, JsonValue]:
        """Convert the problem to JSON data."""
        named: dict[str, JsonValue] = {"message": self.what, "file": self.file, "line": self.line}
        more = {"expected": self.expected, "happened": self.happened, "hint": self.hint, "add": self.add}
        named.update({name: text for name, text in more.items() if text})
        if self.difference:
            named["difference"] = [f"{mark} {text}" for mark, text in self.difference]
        return named


def problem(
    what: str, at: Span, expected: str = "", happened: str = "", difference: tuple[tuple[str, str], ...] = ()
) -> Problem:
    """Create a problem at a position."""
    return Problem(what, at.source.path, line_of(at), expected, happened, difference)


@frozen
class Evidence:
    """Everything that a test may check after its run."""

    scenario: Scenario
    ended: PlayResult
    trace: Trace
    answers: StepReplacements
    results: StepReplacements

    @property
    def state(self) -> RunState:
        """The state of the run."""
        return self.ended.state

    @property
    def status(self) -> str:
        """The status of the run, in the words of tests."""
        status = self.ended.acting.status if self.state.status == "running" else self.state.status
        return STATUS_WORDS.get(status, status)

    @property
    def reason(self) -> str:
        """What a person is needed for."""
        return str(self.ended.acting.reason or "") if self.status == "needs you" else ""

    @property
    def message(self) -> str:
        """The run's last message."""
        return self.ended.acting.message

    @property
    def outputs(self) -> dict[str, JsonValue]:
        """The named outputs of its steps."""
        return outputs_of(self.state)

    @property
    def workspace(self) -> Path:
        """The folder of its files."""
        tree = self.state.tree
        return Path(tree.path if tree is not None else self.state.workspace)


def find_mismatches(expected: JsonValue, found: JsonValue, at: str = "") -> list[tuple[str, JsonValue, JsonValue]]:
    """List every place at which a value differs from what is expected; only maps may hold more."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            missing
            for name, value in expected.items()
            for missing in (
                find_mismatches(value, found[name], f"{at}.{name}")
                if name in found
                else [(f"{at}.{name}", value, cast("JsonValue", NOT_THERE))]
            )
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [missing for number, pair in pairs for missing in find_mismatches(*pair, f"{at}[{number}]")]
    same = expected == found and isinstance(expected, bool) == isinstance(found, bool)
    return [] if same else [(at, expected, found)]


class _MissingValue:
    """Stands for a value that is missing."""

    def __repr__(self) -> str:
        return "nothing"


NOT_THERE = _MissingValue()
