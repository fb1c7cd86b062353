"""Names the owner of each line: the step of a run with its agent and cost, a run alone, a person, or nobody yet."""

from pathlib import Path
from shlex import quote
from typing import Literal, TypeAlias

from handrail.engine.state.agent_calls import call_of
from handrail.errors import HandrailError, UsageError
from handrail.frozen import frozen
from handrail.model.history.events import StepBegan
from handrail.model.history.spending import Spending
from handrail.model.secrets.redaction import Redactor
from handrail.operations.blame.run_work import StepWork
from handrail.operations.blame.trace import CommitOrigin, Trace, TracedLines
from handrail.operations.views.event_sentences import spending_in
from handrail.ports.line_history import BlamedLine, LineHistory
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import state_of


@frozen(kw_only=True)
class StepOwner:
    """A step of a run wrote the line."""

    run: str
    step: str
    workflow: str
    version: str
    """The pinned version of the workflow."""
    prompt: str = ""
    """The file of the prompt."""
    prompt_version: str = ""
    agent: str = ""
    """Empty if a command wrote it."""
    model: str = ""
    spent: Spending = Spending()
    at: float
    commit: str
    """The snapshot or the commit of the step."""
    kind: Literal["step"] = "step"


@frozen(kw_only=True)
class RunOwner:
    """A run wrote the line, but which step did is unknown."""

    run: str
    why: str
    commit: str
    at: float
    kind: Literal["run"] = "run"


@frozen(kw_only=True)
class PersonOwner:
    """A person wrote the line."""

    author: str
    commit: str
    subject: str
    at: float
    remark: str = ""
    """How it came to be among the work of runs."""
    kind: Literal["person"] = "person"


@frozen(kw_only=True)
class UnknownOwner:
    """Nothing is known about the line."""

    why: str
    commit: str = ""
    kind: Literal["unknown"] = "unknown"


Owner: TypeAlias = StepOwner | RunOwner | PersonOwner | UnknownOwner


@frozen
class OwnedLine:
    """A line and its owner."""

    number: int
    text: str
    owner: Owner


@frozen
class BlameAnswer:
    """The lines of a file."""

    path: str
    revision: str
    lines: tuple[OwnedLine, ...]


@frozen(kw_only=True)
class BlameRequest:
    """Which lines are asked about."""

    file: Path
    revision: str = ""
    first: int = 1
    last: int = 0


def find_owners(history: LineHistory, log: Log | None, redactor: Redactor, asked: BlameRequest) -> BlameAnswer:
    """Find the owner of each line of a file; without a log, as far as the commits themselves say."""
    file = history.find_file(asked.file, asked.revision)
    # The whole file is examined, since one line alone may look as if it came from elsewhere.
    traced = Trace(history, log, file).follow()
    chosen = _choose(traced.lines, asked)
    names = _Names(log, redactor, traced)
    owned = tuple(OwnedLine(each.number, redactor.text(each.text), names.owner(each)) for each in chosen)
    return BlameAnswer(file.path, file.revision, owned)


def _choose(lines: tuple[BlamedLine, ...], asked: BlameRequest) -> tuple[BlamedLine, ...]:
    count = len(lines)
    if asked.first > max(count, 1):
        message = f"{asked.file} has {count} line{'' if count == 1 else 's'}, so there is no line {asked.first}"
        raise UsageError(message, next_step=f"handrail blame {quote(str(asked.file))}")
    return lines[asked.first - 1 : asked.last or None]


class _Names:
    """Turns commits into owners, each once."""

    def __init__(self, log: Log | None, redactor: Redactor, traced: TracedLines) -> None:
        self._log = log
        self._redactor = redactor
        self._origins = traced.origins
        self._known: dict[str, Owner] = {"": UnknownOwner(why="not committed yet")}

    def owner(self, line: BlamedLine) -> Owner:
        if line.commit not in self._known:
            self._known[line.commit] = self._name(self._origins[line.commit])
        return self._known[line.commit]

    def _name(self, origin: CommitOrigin) -> Owner:
        facts, work = origin.facts, origin.work
        if work is not None and work.address and self._log is not None:
            return _describe_step(self._log, work, facts.commit)
        if facts.snapshot_of and not origin.lost:
            return self._person(origin, f"in the files of {facts.snapshot_of} before its first step")
        if facts.cut_off:
            why = "this is a shallow clone, which ends here: git fetch --unshallow"
            return UnknownOwner(why=why, commit=facts.commit)
        if origin.lost:
            return RunOwner(
                run=origin.lost[0], why=self._explain_lost(origin), commit=facts.commit, at=facts.committed_at
            )
        if not origin.brings:
            return self._person(origin)
        if origin.certain:
            return self._person(origin, f"in the commit that brought in {', '.join(origin.brings)}")
        why = "the commit names the run, but none of its lines are in the snapshots of the run"
        return RunOwner(run=origin.brings[0], why=why, commit=facts.commit, at=facts.committed_at)

    def _explain_lost(self, origin: CommitOrigin) -> str:
        by = f"; committed by its step {origin.trailer_step}" if origin.trailer_step else ""
        if self._log is None:
            return f"there is no log of runs here{by}"
        return f"neither its log nor its snapshots are here{by}"

    def _person(self, origin: CommitOrigin, remark: str = "") -> PersonOwner:
        facts, clean = origin.facts, self._redactor.text
        return PersonOwner(
            author=clean(facts.author),
            commit=facts.commit,
            subject=clean(facts.subject),
            at=facts.authored_at,
            remark=remark,
        )


def _describe_step(log: Log, work: StepWork, commit: str) -> StepOwner:
    state = state_of(log, work.run)
    call = _call(log, work)
    return StepOwner(
        run=work.run,
        step=work.address,
        workflow=state.workflow,
        version=state.definition,
        prompt=str(call.get("prompt_file") or ""),
        prompt_version=str(call.get("prompt_version") or ""),
        agent=str(call.get("agent") or ""),
        model=str(call.get("model") or ""),
        spent=_spent(log, work),
        at=work.ended_at,
        commit=commit,
    )


def _call(log: Log, work: StepWork) -> dict[str, object]:
    stored = log.read(work.run, work.began - 1, 1)
    event = decode_event(stored[0]) if stored else None
    return {**((call_of(event) if isinstance(event, StepBegan) else None) or {})}


def _spent(log: Log, work: StepWork) -> Spending:
    try:
        stored = log.read(work.run, work.ended - 1, 1)
        return spending_in(decode_event(stored[0])) or Spending()
    except (HandrailError, IndexError):
        return Spending()
