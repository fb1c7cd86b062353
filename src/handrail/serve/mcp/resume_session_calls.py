"""Answers an agent that looks for a run it began earlier."""

from datetime import UTC, datetime
from typing import Any

from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.find_session import Candidate, SessionMatches, SessionQuery, find_runs
from handrail.serve.mcp.tool_result import ToolResult

Data = dict[str, Any]


def resume_session(ctx: CallContext, given: Data) -> ToolResult:
    """Find runs to resume."""
    search = SessionQuery(
        workspace=given.get("workspacePath") or "",
        query=given.get("query") or "",
        run=given.get("runId") or given.get("sessionId") or "",
        branch=given.get("gitBranch") or "",
        head=given.get("gitHeadSha") or "",
        same_workspace=bool(given.get("sameWorkspaceOnly")),
    )
    found = find_runs(ctx, search)
    data: Data = {
        "candidates": [_row(each) for each in found.candidates],
        "totalEligible": found.eligible,
        "drivenByEngine": [{"runId": run, "userMust": _take_command(run)} for run in found.of_engine],
    }
    return ToolResult((_text(search, found),), data)


def _row(each: Candidate) -> Data:
    return {
        "runId": each.run,
        "resumeToken": each.resume_token,
        "workflowId": each.workflow,
        "title": each.title,
        "snippet": each.snippet,
        "confidence": each.confidence,
        "whyMatched": list(each.why),
        "pendingStepId": each.pending,
        "isComplete": each.complete,
        "status": each.status,
        "lastActivity": datetime.fromtimestamp(each.active, UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "nextCall": {
            "tool": "continue_workflow",
            "params": {"continueToken": each.resume_token, "intent": "rehydrate"},
        },
    }


def _take_command(run: str) -> str:
    return f"handrail take {run}"


def _text(search: SessionQuery, found: SessionMatches) -> str:
    missing = search.run and search.run not in {*found.of_engine, *(each.run for each in found.candidates)}
    parts = [f"There is no run '{search.run}' that a connected agent holds or has finished."] if missing else []
    parts += [
        f"Handrail itself is running {run}. To take it over, ask your user to run: {_take_command(run)}; it prints "
        "the token to continue with."
        for run in found.of_engine
    ]
    if not found.candidates:
        return "\n\n".join([*parts, "There is nothing to resume; start_workflow starts a new run."])
    shown = f"{len(found.candidates)} of {found.eligible}"
    parts.append(f"{shown} run{'' if found.eligible == 1 else 's'}, the best match first. To resume one, call")
    parts[-1] += " continue_workflow with its resumeToken as continueToken and intent rehydrate."
    parts += [_describe_candidate(number, each) for number, each in enumerate(found.candidates, 1)]
    return "\n\n".join(parts)


def _describe_candidate(number: int, each: Candidate) -> str:
    stands = f"{each.status}" if each.complete else f"at {each.pending or 'its beginning'}"
    head = f"{number}. {each.run} ({each.workflow}, {stands}, {each.confidence} match by {', '.join(each.why)})"
    # Quoted: a note must not look like one of our lines, with a token of its own.
    body = "\n".join(f"   > {line}".rstrip() for line in each.snippet.splitlines())
    return f"{head}\n   resumeToken: {each.resume_token}\n{body}"
