"""What happens to worktrees, agents and composite steps, as sentences; the same wherever it is shown."""

from collections.abc import Callable
from pathlib import PurePath
from typing import Any, cast

from handrail.engine.fold.step_tools import progress_words, run_started_by
from handrail.engine.prompts.choose_agent import FALLBACK
from handrail.engine.state.agent_calls import call_of
from handrail.model.actors import actor_words
from handrail.model.history import events as ev
from handrail.model.history.run_state import git_changes_words
from handrail.model.history.spending import Spending
from handrail.model.workflow.values import JsonValue
from handrail.operations.views.money import duration, price_words

REASONS = {
    "clean": "nothing is left to fix",
    "declined": "the arbiter considers the rest not worth fixing",
    "oscillation": "the fixes keep undoing one another",
    "reseeded": "a fix reintroduced what another had fixed",
    "repeated": "the last fix changed nothing",
    "plateau": "new findings keep replacing the old ones",
    "met": "its end condition was met",
    "max": "the maximum number of rounds was reached",
    "no_answer": "the reviewer or arbiter gave no answer in the requested form",
}
"""Why a review loop ended."""
MAX_LEFT_OUT = 3
"""The number of files that are named of those without which an agent was started."""
Data = dict[str, JsonValue]


def _describe_step_passed_over(event: ev.StepPassedOver) -> str:
    if event.how == "answered":
        return f"its answer is used: {event.message}"
    how = "with a warning" if event.how == "warn" else "without it"
    return f"failed, and the run continues {how}" + (f": {event.message}" if event.message else "")


def address_of(event: ev.Event) -> str:
    """Return the address that an event is about: of an item `build[auth]`; empty if it is about the run."""
    address = str(getattr(event, "address", ""))
    return f"{address}[{event.key}]" if isinstance(event, ev.ItemStarted | ev.ItemEnded) else address


def event_sentence(event: ev.Event) -> str | None:
    """Describe what happened, for those events that have a sentence here."""
    say = _WORDS.get(event.kind)
    return None if say is None else say(event)


def spending_in(event: ev.Event) -> Spending | None:
    """Return the cost of an agent's call, if the event is the end of one."""
    if isinstance(event, ev.QuestionAsked | ev.ItemEnded):
        return Spending().plus(event.spent)
    found = event.details.get("spent") if isinstance(event, ev.StepEnded | ev.StepRefused) else None
    return Spending().plus(cast("dict[str, float]", found)) if isinstance(found, dict) else None


def agent_call_in(event: ev.StepBegan) -> Data | None:
    """Return the call of an agent that begins with an event; None if the step is not an agent's."""
    return call_of(event)


def fallback_in(call: Data) -> str:
    """Explain why an agent replaces another one; empty if it is the intended one."""
    why = str(call.get("chosen", ""))
    return why if why.startswith(FALLBACK) else ""


def proofs_in(event: ev.StepEnded) -> list[Data]:
    """Return the results of a step's proofs."""
    found = event.details.get("proofs")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def denials_in(event: ev.StepEnded) -> str:
    """Name the tools that an agent was denied in a call that succeeded; empty if none."""
    return str(event.details.get("denied") or "").removeprefix("denied: ")


def files_left_out_in(event: ev.StepEnded) -> str:
    """List the files of the repository without which an agent was started, since they are not trusted."""
    found = event.details.get("project_files")
    if not isinstance(found, dict) or found.get("used") or not isinstance(files := found.get("files"), list):
        return ""
    count = found.get("count")
    more = count - MAX_LEFT_OUT if isinstance(count, int) else 0
    return ", ".join(map(str, files[:MAX_LEFT_OUT])) + (f" and {more} more" if more > 0 else "")


def prompt_words(event: ev.Event, root: str = "") -> str:
    """Name the prompt file that an agent receives, with its version if it has one; empty for other events.

    The log records a file of the repository relative to it; `root` is the path of the repository.
    """
    call = (call_of(event) if isinstance(event, ev.StepBegan) else None) or {}
    file, version = call.get("prompt_file"), call.get("prompt_version")
    file = str(PurePath(root, str(file))) if file else file
    return f"{file} ({version})" if file and version else str(file or "")


def agent_words(spec: dict[str, JsonValue]) -> str:
    """Name who performs a step: `claude/sonnet`."""
    return "/".join(str(spec[name]) for name in ("agent", "model") if spec.get(name)) or "agent"


def work_words(output: JsonValue) -> str:
    """Describe the result of a composite step: a review, a merge, a fan-out, checks."""
    if isinstance(output, list):
        return _items(output)
    if not isinstance(output, dict):
        return ""
    if "stopped" in output:
        return _review(output)
    if "merged" in output:
        merged, left = cast("list[str]", output.get("merged") or []), cast("list[Data]", output["left"] or [])
        words = f"merged {', '.join(merged)}" if merged else "nothing was merged"
        return words + "".join(f"; left out {each['name']}: {each['why']}" for each in left)
    return {True: "checks passed", False: "checks failed"}.get(cast("bool", output.get("passed")), "")


def _review(output: Data) -> str:
    reason, rounds = str(output["stopped"]), output.get("rounds")
    names = {"fixed": "fixed", "open_findings": "open", "declined": "declined"}
    counts = {name: len(found) for name in names if isinstance(found := output.get(name), list)}
    rest = ", ".join(f"{count} {names[name]}" for name, count in counts.items() if count)
    after = f" after {rounds} round{'' if rounds == 1 else 's'}" if rounds else ""
    return f"review ended{after}: {REASONS.get(reason, reason)}" + (f"; {rest}" if rest else "")


def _items(output: list[JsonValue]) -> str:
    records = [each for each in output if isinstance(each, dict) and "key" in each]
    bad = [f"{each['key']}: {each.get('error') or 'failed'}" for each in records if each.get("status") != "succeeded"]
    words = f"{len(records) - len(bad)} of {len(records)} items succeeded" if records else ""
    return "; ".join([words, *bad])


def _describe_work_entered(event: ev.WorkEntered) -> str:
    keys, branches = event.data.get("keys"), event.data.get("branches")
    if isinstance(keys, list):
        return f"{len(keys)} items, {event.data.get('width')} at a time: {', '.join(map(str, keys))}"
    if isinstance(branches, list):
        names = [str(each["name"]) for each in branches if isinstance(each, dict)]
        return f"merges {', '.join(names) or 'nothing'}"
    return {"agent-loop": "review loop begins", "gate": "checks begin"}.get(event.action, f"{event.action} begins")


def _describe_work_left(event: ev.WorkLeft) -> str:
    said = work_words(event.output)
    if event.status == "succeeded":
        return said
    return f"failed: {event.error}" + (f" ({said})" if said and said not in event.error else "")


def _describe_item_ended(event: ev.ItemEnded) -> str:
    result, price = event.result, price_words(Spending().plus(event.spent))
    if result.get("status") != "succeeded":
        return f"failed: {result.get('error') or 'no reason was given'}"
    branch = f", on branch {result['branch']}" if result.get("branch") else ""
    return f"succeeded{branch}" + (f", {price}" if price else "")


def _describe_tool_called(event: ev.ToolCalled) -> str:
    if not event.success:
        return f"{event.tool} failed: {event.error}"
    if event.tool == "report_progress":
        return f"reports: {progress_words(event.arguments)}"
    if event.tool == "give_feedback":
        return f"tells {event.arguments.get('run')}: {event.arguments.get('message')}"
    if event.tool == "choose_tracker":
        return f"creates issues in {event.arguments.get('place')}"
    if event.tool == "create_issue":
        where = event.arguments.get("url") or f"{event.arguments.get('place')}#{event.arguments.get('id')}"
        return f"created issue {where}: {event.arguments.get('title')}"
    child = run_started_by(event)
    return f"starts {child}" if child else f"called {event.tool}"


def _describe_child_ended(event: ev.ChildEnded) -> str:
    price = price_words(Spending().plus(event.spent))
    said = f"{event.child} {event.status}" + (f": {event.message}" if event.message else "")
    return said + (f", {price}" if price else "")


_WORDS: dict[str, Callable[[Any], str]] = {
    "workspace_ready": lambda event: f"worktree ready at {event.tree.path} on branch {event.tree.branch}",
    "tree_restored": lambda event: f"worktree restored to snapshot {event.snapshot[:12]}",
    "work_entered": _describe_work_entered,
    "work_left": _describe_work_left,
    "item_started": lambda event: f"started as {event.child}",
    "item_ended": _describe_item_ended,
    "question_asked": lambda event: f"asks: {event.question}",
    "question_answered": lambda event: f"answered by {actor_words(event.by)}: {event.answer}",
    "step_refused": lambda event: f"not done yet: {'; '.join(each.message for each in event.shortfalls)}",
    "message_given": lambda event: f"{actor_words(event.by)} says: {event.text}",
    "step_passed_over": _describe_step_passed_over,
    "delegation_reported": lambda event: f"results of delegated work arrived: {', '.join(event.results)}",
    "preferences_set": lambda event: (
        f"{actor_words(event.by) if event.by else 'the configuration'} prefers"
        f" autonomy {event.autonomy}, risk {event.risk}"
    ),
    "files_compared": lambda event: f"compared files: {len(event.diff.splitlines())} lines of diff",
    "gap_recorded": lambda event: f"continues with a gap ({event.severity}): {event.message}",
    "tool_called": _describe_tool_called,
    "command_refused": lambda event: (
        f"{actor_words(event.by)} tried `handrail {event.command}{f' {event.about}' if event.about else ''}`:"
        " refused, only a person may do that"
    ),
    "person_notified": lambda event: (
        f"{event.to or 'the user'} could not be notified: {event.problem}"
        if event.problem
        else f"{event.to or 'the user'} was notified"
    ),
    "git_settings_changed": lambda event: (
        git_changes_words(event.changes) or "settings that make git start programs were undone or accepted"
    ),
    "clock_noted": lambda event: (
        f"the clock was set {'forward' if event.by > 0 else 'back'} by {duration(abs(event.by))}"
        if event.by
        else "the machine was restarted, or the run was moved to another one"
    ),
    "run_queued": lambda event: event.message,
    "run_admitted": lambda event: "its turn has come" if event.waited else "did not have to wait",
    "child_ended": _describe_child_ended,
    "capability_observed": lambda event: (
        f"the agent found {event.capability} {event.status}" + (f": {event.detail}" if event.detail else "")
    ),
}
