"""What became of a step's proofs: for the log, and for the agent that has to go on."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

MOST_DETAIL = 4096
MOST_FEEDBACK = 8192
"""Bytes that an agent is told at once."""
MOST_LINE = 300
KILLED = (128 + 2, 128 + 9, 128 + 15)
"""Exit codes of commands that were ended from outside: INT, KILL, TERM."""
ProofKind: TypeAlias = Literal["command", "check", "files", "exists", "expect", "report"]


@frozen
class ProofResult:
    """How one proof went."""

    kind: ProofKind
    what: str
    """What had to hold, in one line."""
    ok: bool
    detail: str
    """Why it does not hold, and below that the end of what a command wrote."""
    tree: str
    """The work tree on which it was established; it says nothing of another one."""
    exit_code: int | None = None


def record(result: ProofResult) -> dict[str, JsonValue]:
    """Give a result as the log keeps it."""
    return {
        "kind": result.kind,
        "what": result.what,
        "ok": result.ok,
        "detail": result.detail,
        "tree": result.tree,
        "exit_code": result.exit_code,
    }


def told(reason: str, code: int | None, stdout: str, stderr: str) -> str:
    """Say why a command is no proof, and below that the end of what it wrote; of a proof only its exit code."""
    if not reason:
        return f"exit {code}"
    room = MOST_DETAIL - len(reason.encode()) - 2
    complaint = ending(stderr, room // 2 if stdout.strip() else room)
    output = ending(stdout, room - len(complaint.encode()) - 1)
    return "\n".join(filter(None, (reason, output, complaint)))


def one_line(text: str) -> str:
    """Bring a text onto one line that can be shown."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= MOST_LINE else line[: MOST_LINE - 1] + "…"


def ending(text: str, most: int) -> str:
    """Give the end of a text, in whole lines where there are some, within a number of bytes."""
    data = text.rstrip().encode("utf-8", "replace")
    if len(data) <= most:
        return data.decode()
    room = max(most - len("…\n".encode()), 0)
    kept = data[len(data) - room :].decode("utf-8", "ignore")
    _, newline, rest = kept.partition("\n")
    return "…\n" + (rest if newline and rest else kept)


def feedback(results: Iterable[ProofResult]) -> str:
    """Write what an agent is told when proofs do not hold; nothing when all do."""
    known = tuple(results)
    bad = [each for each in known if not each.ok]
    if not bad:
        return ""
    head = f"The step is not done: {len(bad)} of its {len(known)} checks {'does' if len(bad) == 1 else 'do'} not hold."
    foot = "All of them must hold on the files as they are. Go on from there."
    room = MOST_FEEDBACK - len(head.encode()) - len(foot.encode()) - 64
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
    # Indenting adds to every line, so the end is cut once more after it.
    indented = "\n".join("   " + line for line in ending(output, left).splitlines())
    return f"{head}\n{ending(indented, left)}"
