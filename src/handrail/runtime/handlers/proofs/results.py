"""The results of a step's proofs: for the log, and for the agent that has to continue."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

MAX_DETAIL = 4096
MAX_FEEDBACK = 8192
"""The longest feedback to an agent, in bytes."""
MAX_LINE = 300
KILLED = (128 + 2, 128 + 9, 128 + 15)
"""Exit codes of commands that were ended from outside: INT, KILL, TERM."""
ProofKind: TypeAlias = Literal["command", "check", "files", "exists", "expect", "report"]


@frozen
class ProofResult:
    """The result of one proof."""

    kind: ProofKind
    what: str
    """What had to hold, in one line."""
    ok: bool
    detail: str
    """Why it does not hold, followed by the end of a command's output."""
    tree: str
    """The content of the worktree on which it was tried; it is not valid for any other."""
    exit_code: int | None = None


def record(result: ProofResult) -> dict[str, JsonValue]:
    """Convert a result to the form in which the log stores it."""
    return {
        "kind": result.kind,
        "what": result.what,
        "ok": result.ok,
        "detail": result.detail,
        "tree": result.tree,
        "exit_code": result.exit_code,
    }


def describe_result(reason: str, code: int | None, stdout: str, stderr: str) -> str:
    """Explain why a command is not a proof, followed by the end of its output; for a proof only its exit code."""
    if not reason:
        return f"exit {code}"
    room = MAX_DETAIL - len(reason.encode()) - 2
    complaint = take_tail(stderr, room // 2 if stdout.strip() else room)
    output = take_tail(stdout, room - len(complaint.encode()) - 1)
    return "\n".join(filter(None, (reason, output, complaint)))


def collapse_lines(text: str) -> str:
    """Format a text as one printable line."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def take_tail(text: str, most: int) -> str:
    """Return the end of a text within a number of bytes, in whole lines where possible."""
    data = text.rstrip().encode("utf-8", "replace")
    if len(data) <= most:
        return data.decode()
    room = max(most - len("…\n".encode()), 0)
    kept = data[len(data) - room :].decode("utf-8", "ignore")
    _, newline, rest = kept.partition("\n")
    return "…\n" + (rest if newline and rest else kept)


def feedback(results: Iterable[ProofResult]) -> str:
    """Write the feedback to an agent when proofs do not hold; empty when all do."""
    known = tuple(results)
    bad = [each for each in known if not each.ok]
    if not bad:
        return ""
    head = f"The step is not done: {len(bad)} of its {len(known)} checks {'does' if len(bad) == 1 else 'do'} not hold."
    foot = "All of them must hold for the files as they are now. Continue from there."
    room = MAX_FEEDBACK - len(head.encode()) - len(foot.encode()) - 64
    told: list[str] = []
    for number, each in enumerate(bad):
        entry = _entry(number + 1, each, room // (len(bad) - number))
        if len(entry.encode()) + 2 > room:
            told.append(f"and {len(bad) - number} more")
            break
        told.append(entry)
        room -= len(entry.encode()) + 2
    return "\n\n".join((head, *told, foot))


def _entry(number: int, result: ProofResult, room: int) -> str:
    reason, _, output = result.detail.partition("\n")
    head = f"{number}. wanted: {result.what}\n   found: {reason}"
    left = room - len(head.encode()) - 16
    if not output.strip() or left < 40:
        return head
    # Indenting makes every line longer, so the text is cut once more.
    indented = "\n".join("   " + line for line in take_tail(output, left).splitlines())
    return f"{head}\n{take_tail(indented, left)}"
