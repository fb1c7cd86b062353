"""A question that a run puts to the person at the terminal: what is shown, and what becomes of what is typed."""

import json
from dataclasses import dataclass

from handrail.cli.output import note
from handrail.cli.render.layout import flow, wrapped
from handrail.cli.render.safe_text import harmless, harmless_lines
from handrail.errors import HandrailError, UsageError
from handrail.model.history.events import Decision
from handrail.model.history.run_state import RunState
from handrail.operations.driving.resume import stop_family
from handrail.operations.runs.lifecycle import answer, resume, say
from handrail.operations.views.questions import Kind, approval_of, asked_at
from handrail.operations.views.run_tree import root_of
from handrail.wiring.session import Session, current_user

PROMPT = "> "
ANSWERS: dict[str, Decision] = {"a": "approve", "r": "revise", "j": "reject"}
MORE: dict[Decision | None, str] = {"revise": "  what should change: ", "reject": "  why (may be empty): "}
MOST_SHOWN = 20
"""Lines of a value that are shown with an approval."""


@dataclass(slots=True)
class Question:
    """What one run asks; lines are typed until it is answered."""

    session: Session
    asks: RunState
    kind: Kind
    prompt: str = PROMPT
    _decision: Decision | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Name the question for good."""
        return self.asks.run, asked_at(self.asks)

    @property
    def later(self) -> str:
        """Say how it can be answered at another time."""
        match self.kind:
            case "approval":
                return f"handrail approve {self.asks.run}"
            case "question":
                return f'handrail answer {self.asks.run} "..."'
            case "budget":
                return f"handrail resume {root_of(self.asks.run)}"

    def lines(self, columns: int, meanwhile: tuple[str, ...] = ()) -> list[str]:
        """Give what is shown above the prompt; `meanwhile` names the steps that go on."""
        said = [line for each in harmless_lines(self.asks.message or "approve?") for line in _indented(each, columns)]
        others = f"meanwhile {', '.join(map(harmless, meanwhile))} {'goes' if len(meanwhile) == 1 else 'go'} on"
        more = wrapped(others, columns, first="  ", later="  ") if meanwhile else []
        head = [f"? {self.asks.run}  needs you"] if self.kind == "budget" else []
        return [*head, *said, *self._shown(columns), *more, *self._choices(columns)]

    def take(self, typed: str) -> bool:
        """Take a line that was typed; whether that was the answer."""
        words = typed.strip()
        try:
            match self.kind:
                case "question":
                    say(self.session.writer, self.asks.run, words, current_user())
                    return True
                case "budget":
                    return self._decide_budget(words[:1].lower())
                case "approval":
                    return self._decide(words)
        except UsageError as error:
            note(f"  {harmless(error.message)}")
            self.prompt, self._decision = PROMPT, None
            return False

    def _decide(self, words: str) -> bool:
        decision, comment = self._decision, words
        if decision is None:
            letter, comment = words[:1].lower(), ""
            decision = ANSWERS.get(letter)
            if letter == "d":
                _show_diff(self.session, self.asks.run)
            if decision in MORE:
                self._decision, self.prompt = decision, MORE[decision]
                return False
        if decision is None or (decision == "revise" and not comment):
            return False
        answer(self.session.writer, self.asks.run, decision, current_user(), comment)
        return True

    def _decide_budget(self, letter: str) -> bool:
        if letter == "g":
            resume(self.session.writer, self.asks.run, current_user())
        elif letter == "s":
            stop_family(self.session.writer, root_of(self.asks.run), current_user())
        return letter in ("g", "s")

    def _choices(self, columns: int) -> list[str]:
        later = f" or later: {self.later}"
        match self.kind:
            case "question":
                return flow([f"  your answer,{later}"], columns)
            case "budget":
                return flow(["  [g]o on with the same amount once more", "[s]top for good", later], columns)
            case "approval":
                asked = approval_of(self.session.log, self.asks)
                revise = (
                    ["[r]evise with a comment"] if asked is not None and asked.revise and asked.revisions_left else []
                )
                look = ["[d]iff"] if self.asks.tree is not None else []
                return flow(["  [a]pprove", *revise, *look, "re[j]ect", later], columns)

    def _shown(self, columns: int) -> list[str]:
        """The values that an approval wants shown."""
        asked = approval_of(self.session.log, self.asks) if self.kind == "approval" else None
        found: list[str] = []
        for name, value in ({} if asked is None else asked.show).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
            told = harmless_lines(f"{name}: {text}".rstrip())
            found += [line for each in told[:MOST_SHOWN] for line in _indented(each, columns)]
            found += [f"    … {len(told) - MOST_SHOWN} more lines"] if len(told) > MOST_SHOWN else []
        return found


def _indented(text: str, columns: int) -> list[str]:
    return wrapped(text, columns, first="    ", later="    ")


def _show_diff(session: Session, run: str) -> None:
    from handrail.cli.render.diff import echo_patch

    try:
        found = session.differences.of(run, None, stat=False)
    except HandrailError as error:
        note(f"  {harmless(error.message)}")
        return
    echo_patch(found.text or "nothing changed\n", err=True)
