"""A run at a glance: whether it needs a person, is paused, waits, runs or has ended, with the next command.

Reads the summaries that runs leave beside their events and folds nothing: `handrail status` has to start fast, so
this imports no engine, no log and no store.
"""

import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from handrail.model.history.run_lines import UNREADABLE, Facts, Filter, Row, fill_defaults, is_updated_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from handrail.ports.log import Holder
    from handrail.ports.run_list import RunList

Section: TypeAlias = Literal["needs you", "paused", "waiting", "running", "ended"]
Document = dict[str, Any]
ORDER: tuple[Section, ...] = ("needs you", "paused", "waiting", "running", "ended")
OPEN = ("queued", "running", "waiting", "blocked")
ENDED = ("succeeded", "failed", "cancelled")
NOTICES = ("tried", "git_changes")
"""The fields of a summary that a person should know about."""
NOTICED = 7 * 24 * 3600.0
"""Seconds for which lists show what an agent tried."""
_REQUESTS = Filter(prefix="pr:", runs_only=False, order="made")
_NOTICED = Filter(holding=NOTICES, order="made")


class RunRow(NamedTuple):
    """One run in a list: its state and what a person may do about it."""

    section: Section
    run: str
    step: str
    where: str
    """The step with its progress: `checks, fix 1 of 3`."""
    words: str
    next_step: str
    started_at: float
    cost: str = ""
    status: str = ""
    """Its own status, as it is recorded."""
    notice: str = ""
    """What an agent of the run tried in vain, or did to git's settings, a short while ago."""
    repository: str = ""


class RunSummaries:
    """The summaries from which a list is built: the listed runs, and their open child runs."""

    def __init__(self, runs: "RunList", rows: "Iterable[Row]") -> None:
        self.runs = runs
        self.lines: dict[str, Document] = {}
        self.facts: dict[str, Facts] = {}
        self.children: dict[str, list[str]] = {}
        """Open runs by the run that started them."""
        self._open: tuple[Row, ...] | None = None
        self._shared: tuple[Row, ...] | None = None
        self._found: dict[Filter, dict[str, list[Mapping[str, Any]]]] = {}
        for row in rows:
            self.lines[row.key] = fill_defaults(row.document)
            self.facts[row.key] = row.facts
            if row.facts.parent is not None and row.document.get("status") in OPEN:
                self.children.setdefault(row.facts.parent, []).append(row.key)

    def root_of(self, run: str) -> str:
        """Return the root of a run: the run that a person started, or itself."""
        return self.facts[run].root or run

    def open_rows(self) -> "tuple[Row, ...]":
        """Return the summaries of all open runs, for those that wait for others."""
        if self._open is None:
            self._open = self.runs.rows(Filter(statuses=OPEN))
        return self._open

    def list_below(self, run: str, wanted: Filter) -> "list[Mapping[str, Any]]":
        """List the wanted summaries of which a run is the root; those of all runs of the list are read at once."""
        if wanted not in self._found:
            found = self._found.setdefault(wanted, {})
            for row in self.runs.rows(wanted._replace(roots=tuple(self.lines))):
                found.setdefault(row.facts.root or row.key, []).append(row.document)
        return self._found[wanted].get(run, [])

    def list_pull_requests(self, run: str) -> "list[Mapping[str, Any]]":
        """List the pull requests that a run opened, and then those of other runs that it updated."""
        if self._shared is None:
            self._shared = self.runs.rows(_REQUESTS._replace(holding=("others",)))
        shared = [row.document for row in self._shared if is_updated_by(row.document, run)]
        return [*self.list_below(run, _REQUESTS), *shared]


def line_for_run(runs: "RunList", run: str) -> RunRow:
    """Describe the state of one run."""
    rows = runs.rows(Filter(key=run))
    root = rows[0].facts.root if rows else run
    return line_of(RunSummaries(runs, (*runs.rows(Filter(root=root, statuses=OPEN, inner=True)), *rows)), run)


def clock_words(seconds: object) -> str:
    """Format a time for people: `14:05`, with the day if that is not today."""
    at = time.localtime(float(str(seconds or 0)))
    today = at[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if today else "%d %b %H:%M", at)


def usd_words(usd: float) -> str:
    """Format an amount: `$0.31`, and `$0.0031` if two digits would show nothing."""
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def line_of(known: RunSummaries, run: str) -> RunRow:
    """Describe the state of one of the known runs."""
    path = _find_acting_path(run, known)
    at = path[-1]
    own, acting = known.lines[run], known.lines[at]
    section, words, next_step = (
        _describe_queue(known, at) if acting.get("status") == "queued" else _describe_status(known, at)
    )
    step = "" if section == "ended" else _address([str(known.lines[each].get("current_step") or "") for each in path])
    where = "" if section == "ended" else _describe_position(known.runs, step, acting)
    if where and acting.get("said"):
        where = f"{where}: {acting['said']}"
    facts = known.facts[run]
    words = ", ".join(part for part in (words, _pull_requests(known, run)) if part)
    standing = (section, run, step, where, words, next_step, facts.started, _cost(own))
    return RunRow(*standing, str(own.get("status")), _notice(known, run), facts.repository or "")


def _pull_requests(known: RunSummaries, run: str) -> str:
    """Name the pull requests of a run, each with what a person should know about it."""
    return ", ".join(map(_describe_pull_request, known.list_pull_requests(run)))


def _describe_pull_request(known: "Mapping[str, Any]") -> str:
    status = str(known.get("status") or "")
    checks = str(known.get("checks") or "")
    said = f" {status}" if status != "open" else " checks failed" if checks == "failed" else ""
    return f"PR #{known.get('number')}{said}"


def _notice(known: RunSummaries, run: str) -> str:
    """Describe what a person should know about a run and its children: commands for people, changed settings of git."""
    noticed = known.list_below(run, _NOTICED)
    return (
        "; ".join(part for part in (_describe_settings_changes(noticed), _describe_refused_command(noticed)) if part)
        if noticed
        else ""
    )


def _describe_settings_changes(noticed: "list[Any]") -> str:
    ours = (each["git_changes"] for each in noticed if each.get("git_changes"))
    recent = [each for each in ours if float(each["at"]) >= time.time() - NOTICED]
    if not recent:
        return ""
    from handrail.model.history.run_state import git_changes_words  # noqa: PLC0415 - it happens rarely

    return git_changes_words(tuple(dict.fromkeys(str(change) for each in recent for change in each["changes"])))


def _describe_refused_command(noticed: "list[Any]") -> str:
    """Describe which command for people an agent called last."""
    ours = (each["tried"] for each in noticed if each.get("tried"))
    tried: Document | None = max(ours, key=lambda each: float(each["at"]), default=None)
    if tried is None or float(tried["at"]) < time.time() - NOTICED:
        return ""
    from handrail.model.actors import actor_words  # noqa: PLC0415 - it happens rarely

    return f"{actor_words(str(tried['by']))} tried `handrail {tried['command']}`, which only people may do: refused"


def _find_acting_path(run: str, known: RunSummaries) -> list[str]:
    """Return the path of runs from this one down to the one that it waits for: itself, or a child."""
    if known.lines[run].get("status") != "running" or run not in known.children:
        return [run]
    paths = [[run, *_find_acting_path(each, known)] for each in known.children[run]]
    return next((path for path in paths if _needs_somebody(known.lines[path[-1]])), paths[-1])


def _needs_somebody(known: Document) -> bool:
    return known.get("status") == "blocked" or known.get("reason") in ("approval", "question", "pause")


def _address(steps: list[str]) -> str:
    """Return the address of the innermost step; an item includes that of the run around it, a called workflow does not.

    The run of a flow's call has its step at exactly the address of the call.
    """
    shown = ""
    for step in steps:
        own = not shown or step.startswith(f"{shown}[") or ("/" in shown and step.startswith(shown))
        shown = step if own else f"{shown}/{step}" if step else shown
    return shown


def _describe_position(runs: "RunList", step: str, known: Document) -> str:
    progress: Document | None = known.get("progress")
    if not progress:
        return step
    address, what, number = str(progress["address"]), str(progress["what"]), int(progress["number"])
    of = progress.get("of") or find_limit(_plan(runs, known), address, what)
    if what == "items":
        return f"{step}, {number} of {of} items done"
    own = str(known.get("current_step") or "")
    around = step.removesuffix(own) + address if own.startswith(address) else step
    return f"{around}, {what} {number}" + (f" of {of}" if of else "")


def _plan(runs: "RunList", known: Document) -> Document:
    content = runs.content(str(known.get("plan") or ""))
    try:
        found: object = {} if content is None else json.loads(content)
    except (ValueError, RecursionError):
        # A damaged plan has no numbers to show; whoever needs the plan reports what is wrong with it.
        return {}
    return cast("Document", found) if isinstance(found, dict) else {}


def find_limit(plan: Document, address: str, what: str) -> int | None:
    """Return how many fixes, rounds or tries a pinned plan allows the step at an address; None if it says nothing."""
    step = _step_at(plan, address)
    action = _get_document(step, "action")
    match what:
        case "fix":
            found = _get_document(action, "fix").get("max")
        case "round":
            found = action.get("max_iterations")
        case _:
            more = _get_document(step, "retry").get("more")
            found = more + 1 if isinstance(more, int) else None
    return found if isinstance(found, int) else None


def _step_at(plan: Document, address: str) -> Document:
    """Find the step that an address names, ignoring rounds and keys."""
    around, found = plan, Document()
    for name in re.sub(r"@[0-9]+|\[[^\]]*\]", "", address).split("/"):
        steps: list[Document] = around.get("steps") or []
        found = next((each for each in steps if each.get("name") == name), Document())
        around = _get_document(found, "action")
    return found


def _get_document(document: Document, key: str) -> Document:
    found: Document | None = document.get(key)
    return found or {}


def _cost(known: Document) -> str:
    cost, unpriced = known.get("cost"), known.get("unpriced")
    if not cost:
        return "unknown cost" if unpriced else ""
    return ("~" if unpriced else "") + usd_words(float(cost))


def _describe_status(listed: RunSummaries, run: str) -> tuple[Section, str, str]:
    known, root = listed.lines[run], listed.root_of(run)
    message = str(known.get("message") or "")
    if known.get(UNREADABLE):
        return "needs you", message, f"handrail doctor {run} --repair"
    match known.get("status"):
        case "succeeded":
            return "ended", f"succeeded{_describe_gaps(known)}", f"handrail show {run}"
        case "failed":
            return "ended", f"failed: {message}", f"handrail resume {run}"
        case "cancelled":
            return "ended", message or "stopped", f"handrail why {run}"
        case "blocked":
            return "needs you", message, f"handrail resume {root}"
        case _ if known.get("held_by") and known.get("reason") not in ("approval", "question"):
            return "running", f"held by {_holder(known)}", f"handrail release {run}"
        case "waiting":
            return _describe_waiting(run, known, message, f"handrail resume {root}")
        case _:
            return _describe_running(listed.runs.holder(run), run, f"handrail resume {root}")


def _describe_queue(known: RunSummaries, run: str) -> tuple[Section, str, str]:
    """Describe what a queued run waits for, among all runs that there are."""
    from handrail.operations.views.queue import find_queue_reason  # noqa: PLC0415 - few runs are queued

    return "waiting", find_queue_reason(run, known.open_rows()).words, f"handrail why {run}"


def _holder(known: Document) -> str:
    from handrail.model.actors import actor_words  # noqa: PLC0415 - few runs are held

    return actor_words(str(known["held_by"]))


def _describe_gaps(known: Document) -> str:
    """Format how much was missing although the run continued."""
    gaps = int(known.get("gaps") or 0)
    return f", {gaps} gap{'' if gaps == 1 else 's'}" if gaps else ""


def _describe_waiting(run: str, known: Document, message: str, resume: str) -> tuple[Section, str, str]:
    reason = known.get("reason")
    if reason == "approval":
        return "needs you", message or "approval", f"handrail approve {run}"
    if reason == "question":
        return "needs you", f"asks: {message}", f'handrail answer {run} "..."'
    until = f"until {clock_words(known['until'])}" if known.get("until") else ""
    limit = "usage limit " if known.get("quota") or reason == "quota" else ""
    if reason == "pause":
        return "paused", f"{limit}{until}" or "paused", resume
    return "waiting", f"{limit}{until}", resume


def _describe_running(holder: "Holder | None", run: str, resume: str) -> tuple[Section, str, str]:
    if holder is None:
        return "paused", "interrupted: no process is running it", resume
    return "running", f"in process {holder.pid}", f"handrail logs {run}"
