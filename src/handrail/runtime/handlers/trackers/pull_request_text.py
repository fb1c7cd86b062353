"""Writes the text of a pull request: what was asked, what was done, and what proves it.

Everything that comes from an agent, an issue or a workflow is cleaned (`engine.text.host_text`); only what is written
here makes a host close an issue. The text ends with an invisible mark: what people write after it stays when the text
is written again.
"""

import re
from collections.abc import Iterator
from typing import cast

from handrail.engine.state.scope import issue_of
from handrail.engine.text.host_text import clean_host_text, clean_template
from handrail.frozen import frozen
from handrail.model.history.events import StepEnded
from handrail.model.history.run_state import RunState
from handrail.model.history.spending import Spending
from handrail.model.issues import RepositoryRef, parse_issue_ref
from handrail.model.workflow.values import JsonValue
from handrail.ports.log import Streams
from handrail.runtime.event_records import decode_event

END = "<!-- handrail end -->"
_COMMENT = re.compile(r"<!--\s*/?\s*handrail.*?-->\n?", re.DOTALL | re.IGNORECASE)
MAX_TEXT = 40_000
_MAX_ASKED = 1_500
_MAX_TEMPLATE = 8_000
_MAX_LINES = 40
_MAX_LINE = 300


@frozen(kw_only=True)
class Evidence:
    """What Handrail itself knows about the work of a run."""

    proofs: tuple[tuple[str, bool], ...] = ()
    """What had to hold for steps to be done, and whether it did."""
    checks: tuple[tuple[str, bool], ...] = ()
    declined: tuple[tuple[str, str], ...] = ()
    """Findings of a review that were declined, each with the reason."""
    spent: Spending = Spending()
    run: str = ""


@frozen(kw_only=True)
class IssueLink:
    """The issue that a run is for."""

    title: str
    url: str = ""
    place: str = ""
    number: int = 0

    def refer_from(self, repository: RepositoryRef) -> str:
        """Return how a text in a repository refers to it; empty if its host does not have it."""
        if not self.number or self.place.partition("/")[0] != repository.host:
            return ""
        here = self.place == str(repository)
        return f"#{self.number}" if here else f"{self.place.partition('/')[2]}#{self.number}"


def find_issue(state: RunState) -> IssueLink | None:
    """Return the issue that a run is for: the tracker's if it was started for one, else only a title."""
    found = issue_of(state)
    known = found if isinstance(found, dict) else {}
    title = " ".join(str(known.get("title") or "").split())
    ref = parse_issue_ref(state.issue)
    if ref is None:
        return IssueLink(title=title) if title else None
    number = int(ref.id) if ref.id.isascii() and ref.id.isdecimal() and ref.is_hosted else 0
    url = f"https://{ref.place}/issues/{number}" if number else ""
    return IssueLink(title=title or str(ref), url=url, place=ref.place, number=number)


def collect_evidence(log: Streams, state: RunState) -> Evidence:
    """Collect what a run has proven, checked, declined and spent."""
    proofs: dict[tuple[str, str], bool] = {}
    for stored in log.read(state.run):
        if stored.kind == "step_ended" and b'"proofs"' in stored.payload:
            ended = cast("StepEnded", decode_event(stored))
            for each in cast("list[dict[str, JsonValue]]", ended.details.get("proofs") or []):
                proofs[ended.address, str(each.get("what"))] = bool(each.get("ok"))
    outputs = [(address, step.output) for address, step in sorted(state.steps.items(), key=lambda item: item[1].began)]
    results = [(address, output) for address, output in outputs if isinstance(output, dict)]
    return Evidence(
        proofs=tuple((what, ok) for (_, what), ok in proofs.items()),
        checks=tuple((name, output["passed"] is True) for name, output in results if "passed" in output),
        declined=tuple(pair for _, output in results for pair in _declined(output.get("declined"))),
        spent=state.spent,
        run=state.run,
    )


def _declined(found: JsonValue) -> Iterator[tuple[str, str]]:
    for each in found if isinstance(found, list) else []:
        if isinstance(each, dict):
            where = f"{each.get('file') or ''}:{each.get('line') or ''}".strip(":")
            yield f"{where} {each.get('message') or each.get('rule') or ''}".strip(), str(each.get("reason") or "")


@frozen(kw_only=True)
class TextParts:
    """What a text is made of."""

    text: str
    """What the workflow or its agent wrote."""
    issue: IssueLink | None
    task: str
    closes: str
    """The reference that the host closes on merging; empty if it must not."""
    refers: str
    evidence: Evidence


def write_body(parts: TextParts) -> str:
    """Write our part of the text of a pull request."""
    sections = (
        clean_host_text(parts.text.strip(), MAX_TEXT),
        _asked(parts),
        _list_items("Proof", _marked(parts.evidence.proofs)),
        _list_items("Checks", _marked(parts.evidence.checks)),
        _list_items("Declined in review", [f"{what}: {why}" if why else what for what, why in parts.evidence.declined]),
        _cost(parts.evidence),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def join_template(body: str, template: str, before: str) -> str:
    """Add the repository's template to our part, or what people made of it since the text was written last."""
    rest = before.partition(END)[2] if END in before else f"\n\n{clean_template(template.strip())[:_MAX_TEMPLATE]}"
    return f"{body.rstrip()}\n\n{END}{_COMMENT.sub('', rest).rstrip()}".rstrip() + "\n"


def _asked(parts: TextParts) -> str:
    issue = parts.issue
    lines: list[str] = []
    if parts.closes:
        lines.append(f"Closes {parts.closes}")
    elif parts.refers:
        lines.append(f"Refs {parts.refers}")
    elif issue is not None and issue.url:
        lines.append(f"Issue: {issue.url}")
    asked = parts.task.strip() or (issue.title if issue is not None else "")
    if asked:
        lines += ["", *(f"> {line}".rstrip() for line in clean_host_text(asked, _MAX_ASKED).splitlines())]
    return "\n".join(["### What was asked", "", *lines]) if lines else ""


def _marked(results: tuple[tuple[str, bool], ...]) -> list[str]:
    return [f"{'✅' if ok else '❌'} {what}" for what, ok in results]


def _list_items(title: str, items: list[str]) -> str:
    if not items:
        return ""
    lines = [f"- {_one_line(each)}" for each in items[:_MAX_LINES]]
    more = [f"- and {len(items) - _MAX_LINES} more"] if len(items) > _MAX_LINES else []
    return "\n".join([f"### {title}", "", *lines, *more])


def _one_line(text: str) -> str:
    line = " ".join(clean_host_text(text).split())
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"


def _cost(evidence: Evidence) -> str:
    spent = evidence.spent
    calls = f"{spent.agent_calls} agent call{'' if spent.agent_calls == 1 else 's'}"
    price = f"${spent.usd:.2f}" if spent.usd or not spent.unpriced else "price unknown"
    about = f"~{price}" if spent.usd and (spent.unpriced or spent.estimated) else price
    return f"Handrail run `{evidence.run}`: {calls}, {about}" if spent.agent_calls else f"Handrail run `{evidence.run}`"
