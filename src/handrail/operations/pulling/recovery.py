"""What was done so far, for an agent that comes back knowing nothing: within its bytes, the newest notes first to stay.

Made from the folded state alone: what it costs does not depend on how long the history is.
"""

from collections.abc import Iterator

from handrail.engine.guided_texts import definitions
from handrail.engine.sizes import MOST_MESSAGE, cut
from handrail.model.codec import encode
from handrail.model.plan import Plan
from handrail.model.run import RunState, StepState
from handrail.model.values import JsonValue

MOST = 24_576
"""Bytes of what is recalled."""
MOST_GOAL = 2048
MOST_NOTES_EACH = 4160
"""Bytes of the notes of one step: those of a guided step always fit."""
MOST_GAPS = 10
_SEVERITY = ("critical", "warning", "info")
_BREAK = "\n\n"


def recovery_text(plan: Plan, state: RunState) -> str:
    """Give goal, position, gaps and notes of a run; definitions are the first to be left out, then the oldest notes."""
    head = ["# What was done so far", *_goal(state), *_position(state), *_gaps(state)]
    room = MOST - _size(head)
    notes = _notes(state, room)
    # Whoever has no room for all notes has none for definitions.
    room = 0 if _left_out(state) in notes else room - _size(notes)
    known = [text for text in _definitions(plan, state) if _size([text]) <= room]
    if len(head) == 1 and not notes and not known:
        return ""
    return _BREAK.join((*head, *(notes or ["No step is done yet."]), *known))


def _size(texts: list[str]) -> int:
    return sum(len(text.encode(errors="replace")) + len(_BREAK) for text in texts)


def _goal(state: RunState) -> Iterator[str]:
    if state.task:
        yield f"Goal: {cut(state.task, MOST_GOAL)}"


def _position(state: RunState) -> Iterator[str]:
    """Say in which passes of which loops the run stands, from the outermost in."""
    passes = [f"pass {frame.loop.round} of {frame.loop.address}" for frame in state.stack if frame.loop is not None]
    if passes:
        yield f"You are in {cut(', '.join(passes), MOST_MESSAGE)}."


def _gaps(state: RunState) -> Iterator[str]:
    lines = gap_lines(state)
    if lines:
        yield "Open gaps, which you should know of:\n\n" + "\n".join(lines)


def open_gaps(state: RunState) -> list[dict[str, JsonValue]]:
    """Give what is still missing, the most severe first."""
    found = (gap for gap in state.gaps if not gap.get("resolved"))
    return sorted(found, key=lambda gap: _SEVERITY.index(str(gap.get("severity"))))


def gap_lines(state: RunState) -> list[str]:
    """Give a line for each gap that is open, the most severe first, as far as there is room."""
    ranked = open_gaps(state)
    lines: list[str] = []
    for gap in ranked[:MOST_GAPS]:
        where = f" (step {gap['address']})" if gap.get("address") else ""
        lines.append(f"- {gap.get('severity')}: {cut(str(gap.get('message')), MOST_MESSAGE)}{where}")
    left = len(ranked) - MOST_GAPS
    return [*lines, f"- and {left} more: handrail show {state.run}"] if left > 0 else lines


def _notes(state: RunState, room: int) -> list[str]:
    done = sorted((step.began, address, step) for address, step in state.steps.items() if _has_notes(step))
    room -= _size([_left_out(state)])
    kept: list[str] = []
    for _, address, step in reversed(done):
        piece = f"## {address}\n\n{cut(step.stdout.strip() or step.summary.strip(), MOST_NOTES_EACH)}"
        room -= _size([piece])
        if room < 0:
            kept.append(_left_out(state))
            break
        kept.append(piece)
    return kept[::-1]


def _left_out(state: RunState) -> str:
    return f"[Older notes are left out; `handrail show {state.run}` has them all.]"


def _has_notes(step: StepState) -> bool:
    return step.status == "succeeded" and bool(step.stdout.strip() or step.summary.strip())


def _definitions(plan: Plan, state: RunState) -> Iterator[str]:
    """A guided step brings the definitions in its own text."""
    if plan.guided is not None and (state.pending is None or state.pending.action != "guided"):
        yield from definitions([encode(each) for each in plan.guided.functions])
