"""Review loops as the kernel drives them, with scripted reviewers and arbiters."""

import json
from collections.abc import Callable, Sequence

from handrail.engine.review import convergence
from handrail.engine.review.answers import Finding, Judgement, read_findings
from handrail.model.workflow.values import JsonValue

Reviewer = Callable[[int], Sequence[Finding]]
Arbiter = Callable[[int, Sequence[Finding]], Judgement]
MAX = 8


def found(name: str, severity: str = "medium", **fields: JsonValue) -> Finding:
    given: JsonValue = [{"file": "a.py", "rule": name, "severity": severity, "message": f"{name} is wrong", **fields}]
    return read_findings(given, "")[0]


A, B, C, D = (found(name) for name in "abcd")
LOW = found("nit", "low")


def begun(*, severity: str = "low", plateau: int = 2, enabled: bool = True) -> JsonValue:
    return convergence.begin(severity, plateau, enabled)


START = begun()


def loop(reviewer: Reviewer, arbiter: Arbiter | None = None, ledger: JsonValue = START) -> tuple[str, JsonValue]:
    """The loop as the kernel drives it; the ledger goes through JSON at each stop, as it does in a run's state."""
    for number in range(1, MAX + 1):
        ledger = kept(convergence.record_review(ledger, reviewer(number)))
        stopped = convergence.verdict(ledger)
        if stopped is None and arbiter is not None:
            ledger = kept(convergence.record_judgement(ledger, arbiter(number, convergence.open_findings(ledger))))
            stopped = convergence.verdict(ledger)
        if stopped is not None:
            return stopped, ledger
        ledger = kept(convergence.record_fix(ledger))
    return "max", ledger


def kept(ledger: JsonValue) -> JsonValue:
    return json.loads(json.dumps(ledger))


def ending(reviewer: Reviewer, arbiter: Arbiter | None = None, ledger: JsonValue = START) -> tuple[str, int]:
    stopped, ledger = loop(reviewer, arbiter, ledger)
    return stopped, len(convergence.read(ledger).rounds)


def script(*rounds: Sequence[Finding]) -> Reviewer:
    return lambda number: rounds[min(number, len(rounds)) - 1]


def accept_all(_: int, findings: Sequence[Finding]) -> Judgement:
    return Judgement(actionable=True, accepted=tuple(each.id for each in findings))


def decline(name: str, reason: str) -> Arbiter:
    def judge(_: int, findings: Sequence[Finding]) -> Judgement:
        declined = tuple((each.id, reason) for each in findings if each.rule == name)
        accepted = tuple(each.id for each in findings if each.rule != name)
        return Judgement(actionable=bool(accepted), accepted=accepted, declined=declined)

    return judge


def records(value: JsonValue) -> list[dict[str, JsonValue]]:
    assert isinstance(value, list)
    return [each for each in value if isinstance(each, dict)]
