"""Writes an answer for the agent that reads it, and as data for the program around it.

Some clients show an agent the texts, others only the data: each of the two is complete.
"""

import json
from dataclasses import asdict, replace
from typing import Any, cast

from handrail.engine.guided.repairs import refusal_text
from handrail.engine.prompts.demands import json_block
from handrail.engine.text.byte_limits import MAX_FIX, cut
from handrail.engine.text.marked_values import ForeignValue, mark_values
from handrail.engine.text.untrusted_text import clean
from handrail.errors import HandrailError, StorageBusy, StorageFault
from handrail.operations.pull.answers import Answer, Blocker, Caution
from handrail.operations.pull.call_context import PullError
from handrail.operations.pull.recap import gap_lines, open_gaps
from handrail.operations.pull.rehydrate import ResumePoint
from handrail.serve.mcp.tool_result import Question, ToolResult

MAX_ERROR = 2048
"""The maximum number of bytes of an error message."""


def render_answer(answer: Answer) -> ToolResult:
    """Build the result of a call that starts, continues or looks again."""
    before = (item.text for item in answer.before)
    after = (item.text for item in answer.after)
    return ToolResult((*before, _text(answer), *after), document(answer), question=_question(answer))


def _question(answer: Answer) -> Question | None:
    state = answer.state
    if answer.working or state.status != "waiting" or state.reason != "approval" or answer.continue_token is None:
        return None
    said = cut(clean(state.message or "a person must approve"), MAX_ERROR)
    return Question(state.run, f"{state.run} asks you: {said}", answer.continue_token)


def make_sendable(result: ToolResult) -> ToolResult:
    """Return a result that every client can receive: no terminal control characters, no broken characters."""
    texts, data = tuple(clean(text) for text in result.texts), result.data
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        whole = json.loads(json.dumps(data, ensure_ascii=False).encode(errors="replace"))
        data = cast("dict[str, Any]", whole)
    return replace(result, texts=texts, data=data)


def document(answer: Answer) -> dict[str, Any]:
    """Convert an answer to data."""
    state = answer.state
    data: dict[str, Any] = {
        "kind": answer.kind,
        "isComplete": answer.is_complete,
        "status": state.status,
        "runId": state.run,
        "workflowId": state.workflow,
        "workflowHash": state.definition,
        "pending": _pending(answer),
        "continueToken": answer.continue_token,
        "checkpointToken": answer.checkpoint_token,
        "nextIntent": answer.intent,
        "nextCall": next_call(answer),
        "preferences": {"autonomy": state.autonomy, "riskPolicy": state.risk},
        "blockers": [blocker_data(each) for each in answer.blockers],
        "retryable": answer.retryable,
        "warnings": [{"code": each.code, "message": each.message, **each.data} for each in answer.warnings],
        "decisionTrace": [each.document() for each in answer.trace],
    }
    return {**data, **_optional_fields(answer)}


def _pending(answer: Answer) -> dict[str, Any] | None:
    step = answer.step
    if step is None:
        return None
    named = {"stepId": step.id, "address": step.address, "title": step.title, "prompt": step.prompt}
    role = {"agentRole": step.role} if step.role else {}
    return {**named, **role, "requireConfirmation": step.confirmation is not None}


def _optional_fields(answer: Answer) -> dict[str, Any]:
    """Return the optional fields of an answer."""
    gaps = open_gaps(answer.state) if answer.is_complete or answer.lifecycle == "rehydrate" else []
    references = next((item.data for item in answer.after if item.kind == "references"), None)
    found = {
        "working": answer.working,
        "stepContext": {"assessments": answer.assessed} if answer.assessed else None,
        "gaps": gaps,
        "supplements": [{"kind": item.kind, "text": item.text} for item in answer.before],
        "references": references,
        "recovery": answer.recovery,
    }
    return {name: value for name, value in found.items() if value}


def blocker_data(blocker: Blocker) -> dict[str, Any]:
    """Convert an obstacle to data."""
    given = asdict(blocker)
    named = {
        "code": given["code"],
        "message": given["message"],
        "pointer": given["about"],
        "suggestedFix": given["fix"],
    }
    more = {name: given[name] for name in ("schema", "example", "sent") if given[name] is not None}
    return {**named, **more}


def render_refusal(error: PullError) -> ToolResult:
    """Build the result of a call that cannot be answered."""
    retry = {"kind": "retryable_after_ms", "afterMs": 1000} if error.again else {"kind": "not_retryable"}
    return render_error(error.reason, error.message, error.next_step or "", retry)


def render_fault(error: HandrailError | OSError) -> ToolResult:
    """Build the result of a call that failed because of the machine or another process."""
    if isinstance(error, OSError):
        error = StorageFault(f"the machine reports: {error}", next_step="fix what is named here")
    fix = error.next_step or ""
    if isinstance(error, StorageFault) and not isinstance(error, StorageBusy):
        fix = f"this is for your user: {fix}. When that is done, repeat this exact call: no run is lost"
    retry = {"kind": "retryable_after_ms", "afterMs": 1000} if error.retryable else None
    return render_error(error.code.upper().replace("-", "_"), error.message, fix, retry)


def render_error(code: str, message: str, fix: str, retry: dict[str, Any] | None = None) -> ToolResult:
    """Build an error as text and data."""
    message, fix = cut(message, MAX_ERROR), cut(fix, MAX_FIX)
    data: dict[str, Any] = {
        "code": code,
        "message": message,
        "retry": retry or {"kind": "not_retryable"},
        "details": {"suggestedFix": fix},
    }
    return ToolResult((f"{code}: {message}\n\nNext: {fix}" if fix else f"{code}: {message}",), data, is_error=True)


def render_checkpoint(kept: ResumePoint) -> ToolResult:
    """Build the result of a call that saves a point."""
    params: dict[str, Any] = {"continueToken": kept.resume_token, "intent": "rehydrate"}
    call = {"tool": "continue_workflow", "params": params}
    data = {"runId": kept.run, "stepId": kept.address, "resumeToken": kept.resume_token, "nextCall": call}
    text = f"Saved: {kept.run}, before step {kept.address} is handed in. To return to this point later, call"
    return ToolResult((f"{text} `continue_workflow`:\n\n{json_block(params)}",), data)


def _text(answer: Answer) -> str:
    recap = [answer.recovery] if answer.recovery else []
    return "\n\n".join((*recap, *_render_position(answer), *_render_warnings(answer.warnings), *_call(answer)))


def _render_warnings(warnings: tuple[Caution, ...]) -> list[str]:
    return ["# Good to know\n\n" + "\n".join(f"- {each.message}." for each in warnings)] if warnings else []


def _render_position(answer: Answer) -> list[str]:
    state, step = answer.state, answer.step
    if answer.is_complete:
        return _render_end(answer)
    if answer.shortfalls and step is not None:
        return [refusal_text(answer.shortfalls), f"The step is still {step.title} ({step.address} of run {state.run})."]
    if step is not None:
        said = [f"# Not done yet\n\n{each.message}\n\nDo: {each.fix}" for each in answer.blockers]
        return [*said, f"# {step.title}\n\nStep {step.address} of run {state.run}.", step.prompt]
    if answer.working:
        return [f"Handrail is working on {_current(answer)} of run {state.run}. Check again in a few seconds."]
    return [_render_blocker(answer.blockers[0])] if answer.blockers else []


def _render_blocker(blocker: Blocker) -> str:
    """Describe what the run waits for; its message may quote an agent, and must not look like one of our headings."""
    heading = "The run is waiting for a person" if blocker.code == "USER_ONLY_DEPENDENCY" else "The run cannot continue"
    return f"# {heading}\n\n{_quote_message(blocker.message)}\n\n{blocker.fix}"


def _quote_message(message: str) -> str:
    return mark_values([ForeignValue("message", message)]).text.rstrip("\n")


def _render_end(answer: Answer) -> list[str]:
    state = answer.state
    heading = "The workflow is complete" if state.status == "succeeded" else f"The workflow has ended: {state.status}"
    said = f"\n\n{_quote_message(cut(state.message, MAX_ERROR))}" if state.message else ""
    texts = [f"# {heading}\n\nRun {state.run} {state.status}. There is nothing more to call.{said}"]
    gaps = gap_lines(state)
    if gaps:
        told = "The run continued although this was missing. Tell your user:"
        texts.append(f"# Gaps\n\n{told}\n\n" + "\n".join(gaps))
    return texts


def _current(answer: Answer) -> str:
    pending = answer.state.pending
    return "its next step" if pending is None else f"'{pending.address}'"


def _call(answer: Answer) -> list[str]:
    call = next_call(answer)
    if call is None:
        return []
    return [f"---\n{_call_introduction(answer)} `{call['tool']}`:\n\n{json_block(call['params'])}"]


def _call_introduction(answer: Answer) -> str:
    if answer.step is None:
        return "Then call"
    if answer.blockers:
        return "Hand it in again with"
    confirmed = answer.intent == "await_user_confirmation"
    return "When it is done and confirmed, call" if confirmed else "When it is done, call"


def next_call(answer: Answer) -> dict[str, Any] | None:
    """Return the next call to make, with its token and an example of the output filled in."""
    if answer.continue_token is None:
        return None
    params: dict[str, Any] = {"continueToken": answer.continue_token}
    if answer.step is None:
        intent = "advance" if answer.is_repairable else "rehydrate"
        return {"tool": "continue_workflow", "params": {**params, "intent": intent}}
    params |= {"intent": "advance", "output": answer.step.example}
    lacking = {each.about: each.example for each in answer.blockers if each.code == "MISSING_CONTEXT_KEY"}
    return {"tool": "continue_workflow", "params": {**params, "context": lacking} if lacking else params}
