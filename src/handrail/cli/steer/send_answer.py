"""Sends a person's answer to a run and lets it continue."""

from handrail.cli.live.follow_run import continue_detached, continue_run, watch
from handrail.model.history.events import Decision
from handrail.operations.driving.answer_family import answer_family, decide_family
from handrail.operations.views.run_tree import root_of
from handrail.wiring.session import current_actor, open_run_session


def send_decision(words: str, decision: Decision, text: str, *, detach: bool, as_json: bool) -> int:
    """Answer the question of a run, or of the child run that it waits for."""
    with open_run_session() as session:
        run = session.find(words)
        watched = watch(session, root_of(session.log, run), f"handrail {decision}", as_json=as_json)
        decide_family(session.writer, run, decision, str(current_actor()), text)
        code = continue_detached(watched) if detach else continue_run(watched)
        # A rejected run that failed did what it was asked to do.
        return 0 if decision == "reject" and code == 1 else code


def send_words(words: str, text: str, *, detach: bool, as_json: bool) -> int:
    """Answer the question of an agent of a run, or of one of its child runs, with text."""
    with open_run_session() as session:
        run = session.find(words)
        watched = watch(session, root_of(session.log, run), "handrail answer", as_json=as_json)
        answer_family(session.writer, run, text, str(current_actor()))
        return continue_detached(watched) if detach else continue_run(watched)
