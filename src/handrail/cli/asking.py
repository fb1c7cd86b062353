"""Asks a person at the terminal what a run waits for: an approval, or an answer in words."""

import click

from handrail.cli.output import note
from handrail.cli.safe_text import harmless
from handrail.cli.session import Session, me
from handrail.errors import HandrailError, UsageError
from handrail.model.events import Decision
from handrail.model.run import RunState
from handrail.operations.families import asking, questioning
from handrail.operations.runs import answer, say

ANSWERS: dict[str, Decision] = {"a": "approve", "r": "revise", "j": "reject"}


def asked_by(session: Session, run: str) -> RunState | None:
    """Give the run of the family that waits for a person's answer."""
    return asking(session.log, run) or questioning(session.log, run)


def answer_in_place(session: Session, asks: RunState) -> bool:
    """Ask, and give the answer to the run; False when the person would rather not now."""
    words = asks.reason == "question"
    try:
        if words:
            say(session.log, asks.run, _words(asks), me())
        else:
            decision, feedback = _decision(session, asks)
            answer(session.log, asks.run, decision, me(), feedback)
    except click.Abort:
        later = f'handrail answer {asks.run} "..."' if words else f"handrail approve {asks.run}"
        note(f"\n{asks.run} waits for your answer: {later}")
        return False
    except UsageError as error:
        note(harmless(error.message))
    return True


def _words(asks: RunState) -> str:
    note(harmless(f"  {asks.message}"))
    return click.prompt("  your answer", prompt_suffix="\n> ", err=True)


def _decision(session: Session, asks: RunState) -> tuple[Decision, str]:
    look = "[d]iff  " if asks.tree is not None else ""
    while True:
        typed = click.prompt(f"  [a]pprove  [r]evise with a comment  {look}re[j]ect", prompt_suffix="\n> ", err=True)
        letter = typed.strip().lower()[:1]
        if letter == "d":
            _show_diff(session, asks.run)
        decision = ANSWERS.get(letter)
        if decision == "revise":
            return decision, click.prompt("  what should change", err=True)
        if decision == "reject":
            return decision, click.prompt("  why (may be empty)", default="", show_default=False, err=True)
        if decision is not None:
            return decision, ""


def _show_diff(session: Session, run: str) -> None:
    from handrail.cli.render_diff import echo_patch
    from handrail.operations.diffs import difference

    try:
        found = difference(session.log, session.system.workspaces, run, None, stat=False)
    except HandrailError as error:
        note(harmless(error.message))
        return
    echo_patch(found.text or "nothing changed\n", err=True)
