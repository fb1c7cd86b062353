"""Writes the comment that reports on a run: the same state always gives the same text.

Whatever agents, commands and workflows say is disarmed (`host_text`) and stands in code blocks or inline code that it
cannot close.
"""

from collections.abc import Iterator

from handrail.engine.text.host_text import MAX_BODY, clean_host_text
from handrail.engine.text.untrusted_text import code, cut_middle, fence_code, first_line
from handrail.frozen import frozen

MAX_STEPS = 60
"""The most steps that are listed: the newest."""
MAX_QUESTION = 8_000
MAX_RESULT = 12_000
_SIGNS = {
    "succeeded": "x",
    "skipped": "x",
    "passed_over": "x",
}
_WORDS = {
    "running": "running",
    "waiting": "waiting",
    "succeeded": "done",
    "failed": "failed",
    "skipped": "skipped",
    "passed_over": "passed over",
}


@frozen(kw_only=True)
class StepLine:
    """A step in the list."""

    address: str
    status: str
    attempts: int = 1
    said: str = ""
    """What its agent said last; empty if that must not be posted."""


@frozen(kw_only=True)
class OpenQuestion:
    """What a run waits for a person to decide."""

    kind: str
    """`approval`, `question`, or `blocked`."""
    step: str
    text: str
    answers: tuple[str, ...] = ()
    """The commands that a comment may contain, with placeholders."""
    command: str = ""
    """What to type on the machine of the run."""


@frozen(kw_only=True)
class RunProgress:
    """What the comment tells about a run."""

    run: str
    workflow: str
    status: str
    steps: tuple[StepLine, ...] = ()
    question: OpenQuestion | None = None
    cost: str = ""
    branch: str = ""
    pull_request: str = ""
    result: str = ""
    problem: str = ""
    notes: tuple[str, ...] = ()
    """Sentences of Handrail itself."""


_HEADS = {
    "queued": "waits for its turn",
    "running": "is running",
    "waiting": "is waiting",
    "blocked": "needs a person",
    "succeeded": "has finished",
    "failed": "has failed",
    "cancelled": "was stopped",
}


def write_progress(progress: RunProgress) -> str:
    """Write the whole comment."""
    return cut_middle("\n".join(_lines(progress)).rstrip() + "\n", MAX_BODY)


def _lines(progress: RunProgress) -> Iterator[str]:
    asks = progress.question is not None and progress.question.kind != "blocked"
    head = "needs an answer" if asks else _HEADS.get(progress.status, progress.status)
    yield f"**Handrail** run {inline(progress.run)} of the workflow {inline(progress.workflow)} {head}."
    yield ""
    if progress.question is not None:
        yield from _question(progress.question)
    yield from _block("Why it stopped:", progress.problem, MAX_QUESTION)
    yield from _block("Result:", progress.result, MAX_RESULT)
    if progress.pull_request:
        yield f"Pull request: {progress.pull_request}"
        yield ""
    yield from _steps(progress.steps)
    facts = [f"cost {progress.cost}" if progress.cost else "", f"branch {inline(progress.branch)}"]
    shown = [each for each in facts[: 2 if progress.branch else 1] if each]
    if shown:
        yield " · ".join(shown)
        yield ""
    for each in progress.notes:
        yield f"_{each}_"


def _question(question: OpenQuestion) -> Iterator[str]:
    what = {"approval": "Approval is needed", "question": "The agent asks", "blocked": "It is blocked"}[question.kind]
    yield f"{what} at step {inline(question.step)}:" if question.step else f"{what}:"
    yield ""
    yield fence_code(clean_host_text(cut_middle(question.text, MAX_QUESTION)), "text")
    yield ""
    if question.answers:
        yield "To answer, comment with one of these at the beginning of a line; it takes write permission:"
        yield ""
        yield from (f"- `{each}`" for each in question.answers)
        yield ""
    if question.command:
        yield f"On the machine of the run: {inline(question.command)}"
        yield ""


def _block(title: str, text: str, most: int) -> Iterator[str]:
    if text.strip():
        yield title
        yield ""
        yield fence_code(clean_host_text(cut_middle(text.strip(), most)), "text")
        yield ""


def _steps(steps: tuple[StepLine, ...]) -> Iterator[str]:
    left_out = len(steps) - MAX_STEPS
    if left_out > 0:
        yield f"({left_out} earlier steps are not shown)"
    for each in steps[-MAX_STEPS:]:
        tries = f", try {each.attempts}" if each.attempts > 1 else ""
        said = f": {inline(first_line(each.said, 100))}" if each.said else ""
        sign = _SIGNS.get(each.status, " ")
        yield f"- [{sign}] {inline(each.address)} {_WORDS.get(each.status, each.status)}{tries}{said}"
    if steps:
        yield ""


def inline(text: str) -> str:
    """Format a text of others on one line, as inline code."""
    line = " ".join(clean_host_text(text).split())
    return code(line) if line else ""
