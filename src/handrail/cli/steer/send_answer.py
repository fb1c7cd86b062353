"""Sends a person's answer to a run and lets it continue."""

from handrail.cli.live.follow_run import continue_detached, continue_run, watch
from handrail.errors import UsageError
from handrail.model.history.events import Decision
from handrail.operations.runs.lifecycle import answer, answer_in_words
from handrail.operations.views.run_tree import find_run_awaiting_answer, find_run_awaiting_approval, root_of
from handrail.wiring.session import current_actor, open_run_session


def send_decision(words: str, decision: Decision, text: str, *, detach: bool, as_json: bool) -> int:
    """Answer the question of a run, or of the child run that it waits for."""
    with open_run_session() as session:
        run = session.find(words)
        asks = find_run_awaiting_approval(session.log, run)
        if asks is None:
            question = find_run_awaiting_answer(session.log, run)
            hint = f'handrail answer {question.run} "..."' if question is not None else f"handrail status {run}"
            raise UsageError(f"{run} is not waiting for approval", next_step=hint)
        watched = watch(session, root_of(session.log, run), f"handrail {decision}", as_json=as_json)
        answer(session.writer, asks.run, decision, str(current_actor()), text)
        code = continue_detached(watched) if detach else continue_run(watched)
        # A rejected run that failed did what it was asked to do.
        return 0 if decision == "reject" and code == 1 else code


def send_words(words: str, text: str, *, detach: bool, as_json: bool) -> int:
    """Answer the question of an agent of a run, or of one of its child runs, with text."""
    with open_run_session() as session:
        run = session.find(words)
        asks = find_run_awaiting_answer(session.log, run)
        approval = find_run_awaiting_approval(session.log, run)
        if approval is not None:
            hint = f"handrail approve {approval.run}, or revise -m TEXT, or reject"
            raise UsageError(f"{approval.run} is waiting for approval, not for a text answer", next_step=hint)
        if asks is None:
            raise UsageError(f"{run} has not asked a question", next_step=f"handrail status {run}")
        watched = watch(session, root_of(session.log, run), "handrail answer", as_json=as_json)
        answer_in_words(session.writer, asks.run, text, str(current_actor()))
        return continue_detached(watched) if detach else continue_run(watched)
