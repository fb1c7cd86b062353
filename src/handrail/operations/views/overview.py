"""All runs at a glance: what needs a person, what is paused, waits, runs and has ended, each with the next command.

Reads the summaries that runs leave beside their events and folds nothing: `handrail status` has to start fast, so
this imports no engine, no log and no store.
"""

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, cast

from handrail.model.history.run_lines import UNREADABLE, root_of

if TYPE_CHECKING:
    from handrail.ports.log import Holder

Section: TypeAlias = Literal["needs you", "paused", "waiting", "running", "ended"]
Document = dict[str, Any]
ORDER: tuple[Section, ...] = ("needs you", "paused", "waiting", "running", "ended")
OPEN = ("queued", "running", "waiting", "blocked")
NOTICED = 7 * 24 * 3600.0
"""Seconds for which lists tell what an agent tried."""


class Runs(Protocol):
    """Where the summaries are."""

    def documents(self, prefix: str = "") -> dict[str, Document]:
        """Give the summaries of the runs whose ids begin so, by id."""
        ...

    def holder(self, run: str) -> "Holder | None":
        """Say which process drives a run."""
        ...

    def content(self, digest: str) -> bytes | None:
        """Give a content by its digest."""
        ...


class Line(NamedTuple):
    """One run in a list: where it stands and what a person may do about it."""

    section: Section
    run: str
    step: str
    where: str
    """The step with how far it is: `checks, fix 1 of 3`."""
    words: str
    next_step: str
    started_at: float
    cost: str = ""
    failed: bool = False
    notice: str = ""
    """What an agent of the run tried in vain, or did to git's settings, a short while ago."""


def overview(runs: Runs) -> list[Line]:
    """Say of all runs that a person started where they stand, the newest first in each section."""
    known = runs.documents()
    children = _by_parent(known)
    lines = [_line(runs, run, known, children) for run, each in known.items() if _is_own(each, known)]
    return sorted(lines, key=lambda line: (ORDER.index(line.section), -line.started_at))


def _is_own(each: Document, known: dict[str, Document]) -> bool:
    """Whether a run has a line of its own: a person started it, or it goes on although the run around it is over."""
    if each.get("parent") is None:
        return True
    around = known.get(str(each["parent"]))
    return each.get("status") in OPEN and around is not None and around.get("status") not in OPEN


def one_line(runs: Runs, run: str) -> Line:
    """Say of one run where it stands."""
    known = runs.documents(run)
    return _line(runs, run, known, _by_parent(known))


def clock_words(seconds: object) -> str:
    """Give a time as people say it: `14:05`, with the day where it is not today."""
    at = time.localtime(float(str(seconds or 0)))
    today = at[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if today else "%d %b %H:%M", at)


def usd_words(usd: float) -> str:
    """Give an amount: `$0.31`, and `$0.0031` where two digits would show nothing."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def _by_parent(known: dict[str, Document]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for run, each in known.items():
        if each.get("parent") is not None and each.get("status") in OPEN:
            found.setdefault(str(each["parent"]), []).append(run)
    return found


def _line(runs: Runs, run: str, known: dict[str, Document], children: dict[str, list[str]]) -> Line:
    path = _acting(run, known, children)
    at = path[-1]
    queued = known[at].get("status") == "queued"
    section, words, next_step = _queued(runs, at) if queued else _said(runs, at, known[at])
    step = "" if section == "ended" else _address([str(known[each].get("current_step") or "") for each in path])
    where = "" if section == "ended" else _where(runs, step, known[at])
    if where and known[at].get("said"):
        where = f"{where}: {known[at]['said']}"
    own = known[run]
    started, failed = float(str(own.get("started_at") or 0)), own.get("status") == "failed"
    return Line(section, run, step, where, words, next_step, started, _cost(own), failed, _notice(run, known))


def _notice(run: str, known: dict[str, Document]) -> str:
    """Say what a person should know of a run and its children: commands for people, changed settings of git."""
    return "; ".join(part for part in (_changed_settings(run, known), _tried(run, known)) if part)


def _changed_settings(run: str, known: dict[str, Document]) -> str:
    ours = (each["git_changes"] for key, each in known.items() if each.get("git_changes") and root_of(key) == run)
    recent = [each for each in ours if float(each["at"]) >= time.time() - NOTICED]
    if not recent:
        return ""
    from handrail.model.history.run_state import git_changes_words  # noqa: PLC0415 - it happens rarely

    return git_changes_words(tuple(dict.fromkeys(str(change) for each in recent for change in each["changes"])))


def _tried(run: str, known: dict[str, Document]) -> str:
    """Say which command for people an agent called last."""
    ours = (each["tried"] for key, each in known.items() if each.get("tried") and root_of(key) == run)
    tried: Document | None = max(ours, key=lambda each: float(each["at"]), default=None)
    if tried is None or float(tried["at"]) < time.time() - NOTICED:
        return ""
    from handrail.model.actors import actor_words  # noqa: PLC0415 - it happens rarely

    return f"{actor_words(str(tried['by']))} tried `handrail {tried['command']}`, which is for people: refused"


def _acting(run: str, known: dict[str, Document], children: dict[str, list[str]]) -> list[str]:
    """The runs from this one down to the one that keeps it: itself, or a child."""
    if known[run].get("status") != "running" or run not in children:
        return [run]
    paths = [[run, *_acting(each, known, children)] for each in children[run]]
    return next((path for path in paths if _needs_somebody(known[path[-1]])), paths[-1])


def _needs_somebody(known: Document) -> bool:
    return known.get("status") == "blocked" or known.get("reason") in ("approval", "question", "pause")


def _address(steps: list[str]) -> str:
    """The address of the innermost step; an item knows those of the run around it, a called workflow does not.

    The run of a flow's call has its step at the very address of the call.
    """
    shown = ""
    for step in steps:
        own = not shown or step.startswith(f"{shown}[") or ("/" in shown and step.startswith(shown))
        shown = step if own else f"{shown}/{step}" if step else shown
    return shown


def _where(runs: Runs, step: str, known: Document) -> str:
    progress: Document | None = known.get("progress")
    if not progress:
        return step
    address, what, number = str(progress["address"]), str(progress["what"]), int(progress["number"])
    of = progress.get("of") or most(_plan(runs, known), address, what)
    if what == "items":
        return f"{step}, {number} of {of} items done"
    own = str(known.get("current_step") or "")
    around = step.removesuffix(own) + address if own.startswith(address) else step
    return f"{around}, {what} {number}" + (f" of {of}" if of else "")


def _plan(runs: Runs, known: Document) -> Document:
    content = runs.content(str(known.get("plan") or ""))
    try:
        found: object = {} if content is None else json.loads(content)
    except (ValueError, RecursionError):
        # A damaged plan has no numbers to show; whoever needs the plan says what is wrong with it.
        return {}
    return cast("Document", found) if isinstance(found, dict) else {}


def most(plan: Document, address: str, what: str) -> int | None:
    """Give how many fixes, rounds or tries a pinned plan allows the step at an address; None where it says nothing."""
    step = _step_at(plan, address)
    action = _inner(step, "action")
    match what:
        case "fix":
            found = _inner(action, "fix").get("max")
        case "round":
            found = action.get("max_iterations")
        case _:
            more = _inner(step, "retry").get("more")
            found = more + 1 if isinstance(more, int) else None
    return found if isinstance(found, int) else None


def _step_at(plan: Document, address: str) -> Document:
    """The step that an address names, rounds and keys left out."""
    around, found = plan, Document()
    for name in re.sub(r"@[0-9]+|\[[^\]]*\]", "", address).split("/"):
        steps: list[Document] = around.get("steps") or []
        found = next((each for each in steps if each.get("name") == name), Document())
        around = _inner(found, "action")
    return found


def _inner(document: Document, key: str) -> Document:
    found: Document | None = document.get(key)
    return found or {}


def _cost(known: Document) -> str:
    cost, unpriced = known.get("cost"), known.get("unpriced")
    if not cost:
        return "unknown cost" if unpriced else ""
    return ("~" if unpriced else "") + usd_words(float(cost))


def _said(runs: Runs, run: str, known: Document) -> tuple[Section, str, str]:
    message, root = str(known.get("message") or ""), root_of(run)
    if known.get(UNREADABLE):
        return "needs you", message, f"handrail doctor {run} --repair"
    match known.get("status"):
        case "succeeded":
            return "ended", f"succeeded{_with_gaps(known)}", f"handrail show {run}"
        case "failed":
            return "ended", f"failed: {message}", f"handrail resume {run}"
        case "cancelled":
            return "ended", message or "stopped", f"handrail why {run}"
        case "blocked":
            return "needs you", message, f"handrail resume {root}"
        case _ if known.get("held_by") and known.get("reason") not in ("approval", "question"):
            return "running", f"held by {_holder(known)}", f"handrail release {run}"
        case "waiting":
            return _waiting(run, known, message)
        case _:
            return _running(runs, run)


def _queued(runs: Runs, run: str) -> tuple[Section, str, str]:
    """Say what a run in the queue waits for, among all runs that there are."""
    from handrail.operations.views.queue import in_queue  # noqa: PLC0415 - few runs are queued

    return "waiting", in_queue(run, runs.documents()).words, f"handrail why {run}"


def _holder(known: Document) -> str:
    from handrail.model.actors import actor_words  # noqa: PLC0415 - few runs are held

    return actor_words(str(known["held_by"]))


def _with_gaps(known: Document) -> str:
    """Say how much was missing although the run went on."""
    gaps = int(known.get("gaps") or 0)
    return f", {gaps} gap{'' if gaps == 1 else 's'}" if gaps else ""


def _waiting(run: str, known: Document, message: str) -> tuple[Section, str, str]:
    reason, resume = known.get("reason"), f"handrail resume {root_of(run)}"
    if reason == "approval":
        return "needs you", message or "approval", f"handrail approve {run}"
    if reason == "question":
        return "needs you", f"asks: {message}", f'handrail answer {run} "..."'
    until = f"until {clock_words(known['until'])}" if known.get("until") else ""
    limit = "usage limit " if known.get("quota") or reason == "quota" else ""
    if reason == "pause":
        return "paused", f"{limit}{until}" or "paused", resume
    return "waiting", f"{limit}{until}", resume


def _running(runs: Runs, run: str) -> tuple[Section, str, str]:
    holder = runs.holder(run)
    if holder is None:
        return "paused", "interrupted: nobody drives it", f"handrail resume {root_of(run)}"
    return "running", f"in process {holder.pid}", f"handrail logs {run}"
