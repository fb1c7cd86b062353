"""`handrail show`."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import json_option, run_argument, step_argument
from handrail.cli.output import write_json
from handrail.cli.render.runs import moment_words, readable_lines, status_words, step_words
from handrail.cli.render.safe_text import escape_controls, escape_lines
from handrail.operations.workflows.condition_text import short_hash

if TYPE_CHECKING:
    from handrail.wiring.session import Session

TAIL = 40
"""The number of lines of a command's output that are shown."""


@click.command("show", epilog="Example: handrail show fix-bug-1 checks")
@run_argument
@step_argument
@click.option("--prompt", is_flag=True, help="Print the exact text that the step's agent was given.")
@click.option("--transcript", is_flag=True, help="Print what the step's agents said and did.")
@json_option
def command(*, run: str, step: str | None, prompt: bool, transcript: bool, as_json: bool) -> None:
    """Show a run's steps and outputs, or one step: tries, cost, proof, output and the last lines it printed."""
    from handrail.cli.render.runs import render_steps
    from handrail.operations.views.history import step_details
    from handrail.operations.views.run_document import run_document
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        if transcript:
            _write_transcript(session, found, step, as_json=as_json)
            return
        if prompt:
            text = _prompt(session, found, step)
            shown: Any = {"run": found, "step": step, "prompt": text}
        elif step is not None:
            details = step_details(session.log, found, step)
            shown = {"run": found, "steps": details}
            text = "\n\n".join(step_lines(each) for each in details)
        else:
            shown = {
                **run_document(session.log, found),
                "tmux_session": _tmux_session(session, found),
                "pull_requests": _pull_requests(session, found),
            }
            text = "\n".join([*_head(shown), render_steps(shown), *_outputs(shown["outputs"]), *_approval(shown)])
    if as_json:
        write_json(shown)
    else:
        click.echo(text)


def _tmux_session(session: "Session", run: str) -> str | None:
    from handrail.operations.views.attach import open_sessions
    from handrail.operations.views.run_tree import root_of

    root = root_of(session.log, run)
    return root if root in open_sessions(session.machine, session.system.folder / "runs") else None


def _pull_requests(session: "Session", run: str) -> list[dict[str, Any]]:
    from handrail.operations.views.pull_requests import (
        describe_pull_request,
        find_pull_requests,
        pull_request_data,
    )

    found = find_pull_requests(session.log, run)
    return [{**pull_request_data(each), "words": describe_pull_request(each)} for each in found]


def _prompt(session: "Session", run: str, step: str | None) -> str:
    from handrail.errors import UsageError
    from handrail.operations.views.history import prompt_of

    if step is None:
        raise UsageError("the prompt of which step?", next_step=f"handrail show {run} STEP --prompt")
    text = prompt_of(session.log, run, step)
    # On a terminal it must not move the cursor; a pipe gets it unchanged.
    return "\n".join(escape_lines(text)) if sys.stdout.isatty() else text


def _write_transcript(session: "Session", run: str, step: str | None, *, as_json: bool) -> None:
    from handrail.cli.render.transcript import transcript_lines
    from handrail.errors import UsageError
    from handrail.operations.views.transcript import transcript_data

    if step is None:
        raise UsageError("the transcript of which step?", next_step=f"handrail show {run} STEP --transcript")
    transcripts = session.transcripts
    calls = transcripts.calls(run, step)
    if as_json:
        write_json({"run": run, "step": step, "calls": [transcript_data(transcripts, each) for each in calls]})
        return
    for line in transcript_lines(transcripts, calls):
        click.echo(line)


def _head(document: dict[str, Any]) -> list[str]:
    status = status_words(document)
    pinned = short_hash(document["hash"])
    lines = [f"{document['run']}  {document['workflow']}, pinned {pinned}", f"status     {status}"]
    lines += [f"error      {document['error']}"] if document["error"] else []
    lines += [f"says       {document['message']}"] if document.get("message") else []
    lines += [f"started    {moment_words(document['started_at'])}"]
    lines += [f"ended      {moment_words(document['completed_at'])}"] if document["completed_at"] else []
    lines += [f"workspace  {document['workspace'] or 'none: it was imported'}"]
    lines += [f"cost       {_price(document)}"] if document["cost"] or document["unpriced"] else []
    said = document.get("preferences")
    lines += [f"prefers    autonomy {said['autonomy']}, risk {said['risk']}"] if said else []
    lines += [f"gap        {_gap(each)}" for each in document.get("gaps", ())]
    lines += [f"PR         {each['words']}" for each in document["pull_requests"]]
    lines += [f"git        {each}, not accepted" for each in document.get("git_changes", ())]
    shown = [escape_controls(line) for line in lines]
    return shown + [line for name, value in document["input"].items() for line in _value_lines("input", name, value)]


def _value_lines(title: str, name: str, value: object) -> list[str]:
    """Format a value under its name: a plain one on the same line, others below it."""
    lines = readable_lines(value)
    if len(lines) == 1 and _is_plain(value):
        return [escape_controls(f"{title:<10} {name} = {_json(value)}")]
    return [escape_controls(line) for line in (f"{title:<10} {name}", *(f"    {each}" for each in lines))]


def _is_plain(value: object) -> bool:
    return not isinstance(value, dict | list)


def _gap(gap: dict[str, Any]) -> str:
    where = f" (step {gap['address']})" if gap["address"] else ""
    return f"{gap['severity']}: {gap['message']}{where}{', resolved since' if gap.get('resolved') else ''}"


def _outputs(outputs: dict[str, Any]) -> list[str]:
    return [line for name, value in outputs.items() for line in _value_lines("output", name, value)]


def _approval(document: dict[str, Any]) -> list[str]:
    """Format what is to be approved, with the values that it shows."""
    asked = document.get("approval")
    if asked is None:
        return []
    lines = ["", f"? {asked['step']} needs you: {asked['message'] or 'approve?'}"]
    for name, value in asked["show"].items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        lines += [f"  {name}", *(f"    {line}" for line in text.rstrip("\n").splitlines())]
    lines += [f"  {each}: handrail {each} {asked['run']}" for each in asked["answers"]]
    return [row for line in lines for row in escape_lines(line)]


def step_lines(details: dict[str, Any]) -> str:
    """Format what is known about one step."""
    facts = {
        "for": details["description"],
        "status": step_words(details["status"]) + (f", try {details['attempts']}" if details["attempts"] else ""),
        "agent": _agent(details),
        "prompt": details["prompt"] and " ".join(filter(None, details["prompt"].values())),
        "session": details["session"],
        "denied": details["denied"],
        "left out": details["left_out"] and f"{details['left_out']}, which you have not trusted",
        "cost": _cost(details["cost"]),
        "exit code": details["exit_code"],
        "error": details["error"],
        "feedback": details["feedback"],
        "began": details["began_at"] and moment_words(details["began_at"]),
        "ended": details["ended_at"] and moment_words(details["ended_at"]),
    }
    lines = [details["address"], *(f"  {name:<10} {fact}" for name, fact in facts.items() if fact is not None)]
    proofs = [f"  {'proof':<10} {line}" for each in details["proofs"] for line in _proof(each)]
    shown = [*map(escape_controls, lines), *_output(details["output"]), *map(escape_controls, proofs)]
    for stream in ("stdout", "stderr"):
        written = escape_lines(details[stream].rstrip("\n"))[-TAIL:]
        if details[stream].strip():
            shown += [f"  {stream}", *(f"    {line}" for line in written)]
    return "\n".join(shown)


def _output(value: object) -> list[str]:
    if value is None:
        return []
    lines = readable_lines(value)
    if len(lines) == 1 and _is_plain(value):
        return [escape_controls(f"  {'output':<10} {_json(value)}")]
    return [escape_controls(line) for line in ("  output", *(f"    {each}" for each in lines))]


def _agent(details: dict[str, Any]) -> str | None:
    """Describe which agent performed the step, and why that one."""
    return f"{details['agent']} ({details['chosen']})" if details["chosen"] else details["agent"]


def _price(document: dict[str, Any]) -> str:
    from handrail.operations.views.overview import usd_words

    if document["cost"] is None:
        return "unknown"
    return ("~" if document["unpriced"] else "") + usd_words(document["cost"])


def _cost(cost: dict[str, Any] | None) -> str | None:
    if cost is None:
        return None
    price = _price({"cost": cost["usd"], "unpriced": cost["unpriced"] or cost["estimated"]})
    calls = f"{cost['agent_calls']} agent call" + ("" if cost["agent_calls"] == 1 else "s")
    return f"{price}, {cost['tokens']} tokens, {calls}"


def _proof(proof: dict[str, Any]) -> list[str]:
    told, _, skipped = proof["detail"].partition("\n")
    reason = "" if proof["ok"] else f": {told}"
    below = [f"  {skipped}"] if skipped and proof["kind"] == "files" else []
    line = f"{'✓' if proof['ok'] else '✗'} {proof['what']}{reason}"
    if proof["stale"]:
        line += f"  (stale: established on tree {proof['tree'][:12]}, the worktree is now {proof['now'][:12]})"
    return [line, *below]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
