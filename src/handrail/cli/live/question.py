"""A question of a run to the person at the terminal: what is shown, and how typed lines are interpreted.

Only an offered letter or the whole word decides. Anything else, and a line without its end, asks again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from handrail.cli.output import note
from handrail.cli.render.layout import flow, wrap_text
from handrail.cli.render.safe_text import escape_controls, escape_lines
from handrail.errors import HandrailError, UsageError
from handrail.model.history.events import Decision
from handrail.model.history.run_state import RunState
from handrail.operations.driving.resume import stop_family
from handrail.operations.runs.lifecycle import answer, answer_in_words, resume
from handrail.operations.views.questions import Kind, question_seq
from handrail.operations.views.run_document import approval_of
from handrail.wiring.session import Session, current_actor

PROMPT = "> "
Choice: TypeAlias = Literal["approve", "revise", "reject", "diff", "go on", "stop"]
LETTERS: dict[Choice, str] = {"approve": "a", "revise": "r", "diff": "d", "reject": "j", "go on": "g", "stop": "s"}
"""The letter that stands for each choice; the whole word counts as well."""
MORE: Mapping[Choice, str] = {"revise": "  what should change: ", "reject": "  why (optional): "}
_SHOWN: dict[Choice, str] = {
    "approve": "[a]pprove",
    "revise": "[r]evise with a comment",
    "diff": "[d]iff",
    "reject": "re[j]ect",
    "go on": "[g]o on with the same amount once more",
    "stop": "[s]top for good",
}
MAX_SHOWN = 20
"""The number of lines of a value that are shown with an approval."""


@dataclass(slots=True)
class Question:
    """The question of one run; lines are typed until it is answered."""

    session: Session
    asks: RunState
    kind: Kind
    prompt: str = PROMPT
    _decision: Decision | None = None
    _looked: bool = False
    """Whether something long was shown since the question was asked."""

    @property
    def key(self) -> tuple[str, int]:
        """The permanent identity of the question."""
        return self.asks.run, question_seq(self.asks)

    @property
    def later(self) -> str:
        """Return the command that answers the question later."""
        match self.kind:
            case "approval":
                return f"handrail approve {self.asks.run}"
            case "question":
                return f'handrail answer {self.asks.run} "..."'
            case "budget":
                return f"handrail resume {self.asks.family}"

    def lines(self, columns: int, meanwhile: tuple[str, ...] = ()) -> list[str]:
        """Return the lines shown above the prompt; `meanwhile` names the steps that continue."""
        said = [line for each in escape_lines(self.asks.message or "approve?") for line in _indent(each, columns)]
        verb = "continues" if len(meanwhile) == 1 else "continue"
        others = f"meanwhile {', '.join(map(escape_controls, meanwhile))} {verb}"
        more = wrap_text(others, columns, first="  ", later="  ") if meanwhile else []
        head = [f"? {self.asks.run}  needs you"] if self.kind == "budget" else []
        return [*head, *said, *self._value_lines(columns), *more, *self._choices(columns)]

    def repeat_lines(self, columns: int) -> list[str]:
        """Return the lines above the prompt after a line that was not the answer: the choices, if a diff was shown."""
        looked, self._looked = self._looked, False
        return self._choices(columns) if looked else []

    def take(self, typed: str) -> bool:
        """Process a typed line, and return whether it was the answer."""
        if not typed.endswith("\n"):
            # Ctrl-D passes on what is in the line without ending it.
            return False
        words = typed.strip()
        try:
            match self.kind:
                case "question":
                    answer_in_words(self.session.writer, self.asks.run, words, str(current_actor()))
                    return True
                case "budget":
                    return self._decide_budget(self._choose(typed))
                case "approval":
                    return self._decide(typed) if self._decision is None else self._comment(self._decision, words)
        except UsageError as error:
            note(f"  {escape_controls(error.message)}")
            self.prompt, self._decision = PROMPT, None
            return False

    def _decide(self, typed: str) -> bool:
        choice = self._choose(typed)
        if choice == "diff":
            _show_diff(self.session, self.asks.run)
            self._looked = True
        elif choice in ("revise", "reject"):
            self._decision, self.prompt = choice, MORE[choice]
        elif choice == "approve":
            return self._answer("approve", "")
        return False

    def _comment(self, decision: Decision, words: str) -> bool:
        return self._answer(decision, words) if words or decision != "revise" else False

    def _answer(self, decision: Decision, comment: str) -> bool:
        answer(self.session.writer, self.asks.run, decision, str(current_actor()), comment)
        return True

    def _decide_budget(self, choice: Choice | None) -> bool:
        if choice == "go on":
            resume(self.session.writer, self.asks.run, str(current_actor()))
        elif choice == "stop":
            stop_family(self.session.writer, self.asks.family, str(current_actor()))
        return choice is not None

    def _choose(self, typed: str) -> Choice | None:
        """Return the choice that was typed; if it is not a choice, print what can be typed."""
        offered = self._list_choices()
        choice = choose(typed, offered)
        if choice is None and typed.strip():
            note(f"  type {', '.join(f'{LETTERS[each]} ({each})' for each in offered)}")
        return choice

    def _list_choices(self) -> tuple[Choice, ...]:
        if self.kind == "budget":
            return ("go on", "stop")
        asked = approval_of(self.session.log, self.asks)
        revise: tuple[Choice, ...] = ("revise",) if asked is not None and asked.revise and asked.revisions_left else ()
        look: tuple[Choice, ...] = ("diff",) if self.asks.tree is not None else ()
        return ("approve", *revise, *look, "reject")

    def _choices(self, columns: int) -> list[str]:
        later = f" or later: {self.later}"
        match self.kind:
            case "question":
                return flow([f"  your answer,{later}"], columns)
            case "budget":
                return flow([f"  {_SHOWN['go on']}", _SHOWN["stop"], later], columns)
            case "approval":
                first, *others = (_SHOWN[each] for each in self._list_choices())
                return flow([f"  {first}", *others, later], columns)

    def _value_lines(self, columns: int) -> list[str]:
        """Format the values that an approval shows."""
        asked = approval_of(self.session.log, self.asks) if self.kind == "approval" else None
        found: list[str] = []
        for name, value in ({} if asked is None else asked.show).items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
            told = escape_lines((f"{name}:\n{text}" if "\n" in text.rstrip() else f"{name}: {text}").rstrip())
            found += [line for each in told[:MAX_SHOWN] for line in _indent(each, columns)]
            rest = " ([d]iff shows all)" if name == "diff" else f": handrail show {self.asks.run}"
            found += [f"    … {len(told) - MAX_SHOWN} more lines{rest}"] if len(told) > MAX_SHOWN else []
        return found


def choose(typed: str, offered: Iterable[Choice]) -> Choice | None:
    """Return the offered choice that a typed line names, by letter or whole word, or None for anything else."""
    word = " ".join(typed.split()).lower()
    return next((each for each in offered if word in (LETTERS[each], each)), None)


def _indent(text: str, columns: int) -> list[str]:
    return wrap_text(text, columns, first="    ", later="    ")


def _show_diff(session: Session, run: str) -> None:
    from handrail.cli.render.diff import echo_patch

    try:
        found = session.differences.compare(run, None, stat=False)
    except HandrailError as error:
        note(f"  {escape_controls(error.message)}")
        return
    echo_patch(found.text or "nothing changed\n", err=True)
