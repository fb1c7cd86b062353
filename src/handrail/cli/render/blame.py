"""The owners of lines: a table of the lines, and below it what is known of each owner."""

from datetime import datetime

from handrail.cli.render.layout import render_table
from handrail.cli.render.safe_text import escape_controls
from handrail.model.workflow.values import JsonValue
from handrail.operations.blame.owners import (
    BlameAnswer,
    OwnedLine,
    Owner,
    PersonOwner,
    RunOwner,
    StepOwner,
)
from handrail.operations.views.money import price_words, spending_data
from handrail.operations.views.run_document import iso

_SHORT = 12


def render_blame(answer: BlameAnswer) -> str:
    """Render the lines with their owners, and each owner once."""
    owners = dict.fromkeys(each.owner for each in answer.lines)
    table = render_table([_row(each) for each in answer.lines], right=(0,))
    return "\n".join((table, "", *(escape_controls(_describe(owner)) for owner in owners)))


def blame_data(answer: BlameAnswer) -> dict[str, JsonValue]:
    """Convert the answer to JSON data."""
    lines: list[JsonValue] = [
        {"line": each.number, "text": each.text, **_owner_data(each.owner)} for each in answer.lines
    ]
    return {"file": answer.path, "revision": answer.revision or None, "lines": lines}


def _row(line: OwnedLine) -> tuple[str, ...]:
    return str(line.number), _name(line.owner), _day(line.owner), line.text


def _name(owner: Owner) -> str:
    match owner:
        case StepOwner():
            return f"{owner.run} {owner.step}"
        case RunOwner():
            return f"{owner.run} (step unknown)"
        case PersonOwner():
            return f"a person: {owner.author}"
        case _:
            return "not committed" if not owner.commit else "unknown"


def _describe(owner: Owner) -> str:
    match owner:
        case StepOwner():
            facts = (_performer(owner), _prompt(owner), f"workflow {owner.workflow} ({owner.version[:_SHORT]})")
            known = ", ".join(each for each in (*facts, price_words(owner.spent), _day(owner)) if each)
            return f"{_name(owner)}: {known}. More: handrail show {owner.run} {owner.step}"
        case RunOwner():
            return f"{owner.run}: run known, step unknown: {owner.why} (commit {owner.commit[:_SHORT]})"
        case PersonOwner():
            remark = f", {owner.remark}" if owner.remark else ""
            return f"{_name(owner)}: {owner.subject} (commit {owner.commit[:_SHORT]}, {_day(owner)}){remark}"
        case _:
            place = f" (commit {owner.commit[:_SHORT]})" if owner.commit else ""
            return f"{_name(owner)}: {owner.why}{place}"


def _performer(owner: StepOwner) -> str:
    return "/".join(each for each in (owner.agent, owner.model) if each) or "a command"


def _prompt(owner: StepOwner) -> str:
    version = f" ({owner.prompt_version})" if owner.prompt_version else ""
    return f"prompt {owner.prompt}{version}" if owner.prompt else ""


def _day(owner: Owner) -> str:
    at = getattr(owner, "at", None)
    return "" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")


def _owner_data(owner: Owner) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"owner": owner.kind, "commit": owner.commit or None}
    match owner:
        case StepOwner():
            prompt: JsonValue = (
                {"file": owner.prompt, "version": owner.prompt_version or None} if owner.prompt else None
            )
            more: dict[str, JsonValue] = {
                "run": owner.run,
                "step": owner.step,
                "workflow": {"name": owner.workflow, "version": owner.version},
                "prompt": prompt,
                "agent": owner.agent or None,
                "model": owner.model or None,
                "cost": spending_data(owner.spent),
                "date": iso(owner.at),
            }
        case RunOwner():
            more = {"run": owner.run, "step": None, "reason": owner.why, "date": iso(owner.at)}
        case PersonOwner():
            more = {"author": owner.author, "subject": owner.subject, "date": iso(owner.at)}
            more |= {"remark": owner.remark} if owner.remark else {}
        case _:
            more = {"reason": owner.why}
    return {**found, **more}
