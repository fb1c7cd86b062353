"""Sends the answers of a person to the run of a family that waits for them: the run itself, or one that it started."""

from handrail.errors import UsageError
from handrail.model.history.events import Decision
from handrail.operations.runs.lifecycle import answer, answer_in_words
from handrail.operations.views.run_tree import find_run_awaiting_answer, find_run_awaiting_approval
from handrail.runtime.run_writer import RunWriter


def decide_family(writer: RunWriter, run: str, decision: Decision, by: str, text: str = "") -> None:
    """Decide on the approval for which a run, or one that it started, waits."""
    asks = find_run_awaiting_approval(writer.log, run)
    if asks is None:
        question = find_run_awaiting_answer(writer.log, run)
        hint = f'handrail answer {question.run} "..."' if question is not None else f"handrail status {run}"
        raise UsageError(f"{run} is not waiting for approval", next_step=hint)
    answer(writer, asks.run, decision, by, text)


def answer_family(writer: RunWriter, run: str, text: str, by: str) -> None:
    """Answer the question of an agent of a run, or of one that it started, with text."""
    approval = find_run_awaiting_approval(writer.log, run)
    if approval is not None:
        hint = f"handrail approve {approval.run}, or revise -m TEXT, or reject"
        raise UsageError(f"{approval.run} is waiting for approval, not for a text answer", next_step=hint)
    asks = find_run_awaiting_answer(writer.log, run)
    if asks is None:
        raise UsageError(f"{run} has not asked a question", next_step=f"handrail status {run}")
    answer_in_words(writer, asks.run, text, by)
