"""Finds a run that a connected agent began earlier, from the list of runs alone: none of them is folded."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from handrail.engine.text.byte_limits import DOTS, cut
from handrail.frozen import frozen
from handrail.model.history.run_lines import Filter, Row
from handrail.model.workflow.values import JsonValue
from handrail.operations.pull.call_context import CallContext, holder_in
from handrail.operations.pull.rank_sessions import (
    Confidence,
    Match,
    SessionHints,
    SessionRecord,
    query_words,
    rank_runs,
    words_in,
)

MAX_SEARCHED = 500
"""The number of newest runs of the engine that are searched."""
MAX_CANDIDATES = 5
MAX_SNIPPET = 2_048
"""The number of bytes that a candidate shows of itself."""
_OVER = ("succeeded", "failed", "cancelled")


@frozen(kw_only=True)
class SessionQuery:
    """What an agent remembers."""

    workspace: str = ""
    query: str = ""
    run: str = ""
    branch: str = ""
    head: str = ""
    same_workspace: bool = False


@frozen(kw_only=True)
class Candidate:
    """A run that may be the right one, with the token that resumes it."""

    run: str
    resume_token: str
    workflow: str
    title: str
    snippet: str
    confidence: Confidence
    why: tuple[str, ...]
    pending: str | None
    complete: bool
    status: str
    active: float


@frozen
class SessionMatches:
    """The best candidates, the total number, and runs that only a person can hand over."""

    candidates: tuple[Candidate, ...]
    eligible: int
    of_engine: tuple[str, ...] = ()
    """Matching runs that the engine drives: a connected agent gets them with `handrail take`."""


def find_runs(ctx: CallContext, search: SessionQuery) -> SessionMatches:
    """Search the runs that a connected agent holds or has finished; the best match comes first."""
    here = _observe_workspace(ctx, search.workspace) if search.workspace else {}
    holding = ctx.log.summaries(Filter(top=True, holding=("held_by",)))
    held = {row.key: row for row in holding if holder_in(_text(row.document, "held_by"))}
    newest = ctx.log.summaries(Filter(top=True, order="started", limit=MAX_SEARCHED))
    eligible = {key: row for key, row in held.items() if _is_here(row, search, here)}
    remembered = _complete_query(search, here)
    best = rank_runs(remembered, map(_read_session, eligible.values()))[:MAX_CANDIDATES]
    candidates = tuple(_candidate(ctx, match, eligible[match.kept.run]) for match in best)
    others = [row for row in newest if row.key not in held]
    return SessionMatches(candidates, len(eligible), _find_engine_runs(remembered, others))


def _complete_query(search: SessionQuery, here: Mapping[str, str]) -> SessionHints:
    """Fill in what the agent does not say from the folder in which it is."""
    return SessionHints(
        run=search.run,
        words=query_words(search.query),
        query=search.query.strip(),
        branch=search.branch or here.get("branch", ""),
        head=search.head or here.get("head", ""),
        repository=here.get("repository", ""),
    )


def _is_here(row: Row, search: SessionQuery, here: Mapping[str, str]) -> bool:
    if not search.same_workspace:
        return True
    seen = _row_observation(row)
    if here.get("root") and seen.get("root"):
        return here["root"] == seen["root"]
    return bool(search.workspace) and _text(row.document, "workspace").rstrip("/") == search.workspace.rstrip("/")


def _read_session(row: Row) -> SessionRecord:
    document, seen = row.document, _row_observation(row)
    at = document.get("active_at") or document.get("started_at") or 0
    return SessionRecord(
        run=row.key,
        workflow=_text(document, "workflow"),
        words=frozenset(words_in(f"{_text(document, 'goal')} {_text(document, 'recap')}")),
        branch=seen.get("branch", ""),
        head=seen.get("head", ""),
        repository=seen.get("repository", ""),
        complete=document.get("status") in _OVER,
        active=float(at) if isinstance(at, int | float) else 0.0,
        position=row.position,
    )


def _candidate(ctx: CallContext, match: Match, row: Row) -> Candidate:
    document = row.document
    goal, recap = _text(document, "goal"), _text(document, "recap")
    pending = document.get("current_step")
    return Candidate(
        run=row.key,
        resume_token=ctx.mint("resume", row.key, 0, holder_in(_text(document, "held_by"))),
        workflow=_text(document, "workflow"),
        title=goal.partition("\n")[0] or _text(document, "workflow"),
        snippet=cut("\n\n".join(part for part in (goal, recap) if part), MAX_SNIPPET, DOTS),
        confidence=match.confidence,
        why=match.why,
        pending=None if match.kept.complete or pending is None else str(pending),
        complete=match.kept.complete,
        status=_text(document, "status"),
        active=match.kept.active,
    )


def _find_engine_runs(remembered: SessionHints, rows: list[Row]) -> tuple[str, ...]:
    """List runs of the engine that were surely meant: by their id, or by all words of the query."""
    found = [
        row.key
        for row in rows
        if row.key in (remembered.run, remembered.query)
        or (remembered.words and _searchable_words(row.document).issuperset(remembered.words))
    ]
    return tuple(found[:MAX_CANDIDATES])


def _searchable_words(document: Mapping[str, JsonValue]) -> frozenset[str]:
    return frozenset(words_in(f"{_text(document, 'workflow')} {_text(document, 'about')}"))


def _row_observation(row: Row) -> Mapping[str, str]:
    return cast("Mapping[str, str]", row.document.get("observed") or {})


def _text(document: Mapping[str, JsonValue], name: str) -> str:
    return str(document.get(name) or "")


def _observe_workspace(ctx: CallContext, workspace: str) -> dict[str, str]:
    return ctx.machine.repositories.observe(ctx.place_of(workspace).cwd or Path(workspace))
