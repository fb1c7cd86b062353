"""Checks of a commit: check runs and commit statuses, of the current head alone.

A check that was never reported is not known to pass, and one that waits for a person's approval is neither pending nor
failed.
"""

from handrail.model.pull_requests import Check, CheckVerdict
from handrail.trackers.github.answers import inner
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.job_log import read_log_tail

CONCLUSIONS: dict[str, CheckVerdict] = {
    "success": "passed",
    "neutral": "passed",
    "skipped": "passed",
    "failure": "failed",
    "timed_out": "failed",
    "cancelled": "failed",
    "startup_failure": "failed",
    "stale": "failed",
    "action_required": "needs_person",
}
STATES: dict[str, CheckVerdict] = {"success": "passed", "failure": "failed", "error": "failed", "pending": "pending"}
MOST_LOGS = 3
"""The most failed jobs whose log is read."""
_LONGEST = 4_000


async def read_checks(client: GitHubClient, repository: str, commit: str) -> tuple[Check, ...]:
    """Read all checks of a commit, with the end of what failed jobs printed."""
    runs = await _list(client, f"{repository}/commits/{commit}/check-runs?filter=latest", "check_runs")
    statuses = await _list(client, f"{repository}/commits/{commit}/status", "statuses")
    logs = await _read_logs(client, repository, runs)
    found = (*(_read_run(each, logs) for each in runs), *(_read_status(each) for each in statuses))
    return found or await _find_waiting(client, repository, commit)


async def _list(client: GitHubClient, path: str, key: str) -> list[Json]:
    """Read a list of checks; a token without that permission sees none, which is not known to pass."""
    try:
        return await client.list(path, key)
    except Refused as error:
        if error.status in (403, 404):
            return []
        raise


async def _find_waiting(client: GitHubClient, repository: str, commit: str) -> tuple[Check, ...]:
    """Find workflows that have not begun because a person has to allow them: they have no check runs yet."""
    suites = await _list(client, f"{repository}/commits/{commit}/check-suites", "check_suites")
    return tuple(
        Check(
            name=str(inner(each, "app").get("name") or "workflow"),
            verdict="needs_person",
            conclusion="action_required",
            summary="a person has to allow its workflows to run",
        )
        for each in suites
        if each.get("conclusion") == "action_required"
    )


async def _read_logs(client: GitHubClient, repository: str, runs: list[Json]) -> dict[str, str]:
    failed = [each for each in runs if _run_verdict(each) == "failed"]
    jobs = [each for each in failed if inner(each, "app").get("slug") == "github-actions"][:MOST_LOGS]
    return {str(each["id"]): await read_log_tail(client, repository, str(each["id"])) for each in jobs}


def _run_verdict(answer: Json) -> CheckVerdict:
    if answer.get("status") != "completed":
        return "pending"
    return CONCLUSIONS.get(str(answer.get("conclusion")), "unknown")


def _read_run(answer: Json, logs: dict[str, str]) -> Check:
    output = inner(answer, "output")
    printed = (str(output.get(key) or "") for key in ("title", "summary", "text"))
    summary = logs.get(str(answer.get("id"))) or "\n".join(each for each in printed if each)
    return Check(
        name=str(answer.get("name") or ""),
        verdict=_run_verdict(answer),
        conclusion=str(answer.get("conclusion") or answer.get("status") or ""),
        url=str(answer.get("html_url") or answer.get("details_url") or ""),
        summary=summary[-_LONGEST:],
    )


def _read_status(answer: Json) -> Check:
    state = str(answer.get("state") or "")
    return Check(
        name=str(answer.get("context") or "default"),
        verdict=STATES.get(state, "unknown"),
        conclusion=state,
        url=str(answer.get("target_url") or ""),
        summary=str(answer.get("description") or "")[-_LONGEST:],
    )
