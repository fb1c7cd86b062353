"""Check runs, check suites, commit statuses, and the runs, jobs and logs of Actions."""

from typing import Any

from support.github.calls import Answer, Call, Refusal, Routes, paged
from support.github.json_values import Json
from support.github.represent import show_account, show_repository
from support.github.routes.code import find_commit, show_commit
from support.github.state import Account, Repository, World, stamp

REPOSITORY = "/repos/{owner}/{repo}"
ACTIONS: Json = {
    "id": 15368, "slug": "github-actions", "name": "GitHub Actions", "owner": {"login": "github", "id": 9919},
    "client_id": "Iv1.0", "permissions": {}, "events": [],
}  # fmt: skip


def add_check(
    world: World, repository: Repository, commit: str, name: str, conclusion: str | None = None, **output: str
) -> Json:
    """Add a check run of Actions, with its job: both have one id. Without a conclusion it is queued."""
    number = world.new_id()
    suite = next((each["check_suite"]["id"] for each in repository.checks if each["head_sha"] == commit), None)
    place = f"{world.base}/{repository.full_name}/actions/runs/{suite or number + 1}/job/{number}"
    url = f"{world.base}/api/v3/repos/{repository.full_name}/check-runs/{number}"
    check: Json = {
        "id": number, "node_id": f"CR_kwDO{number}", "name": name, "head_sha": commit, "external_id": "",
        "details_url": place, "html_url": place, "check_suite": {"id": suite or world.new_id()}, "pull_requests": [],
        "app": ACTIONS, "started_at": stamp(world.now()), "completed_at": None, "status": "queued", "conclusion": None,
        "url": url,
        "output": {"title": None, "summary": None, "text": None, "annotations_count": 0,
                   "annotations_url": f"{url}/annotations"},
    }  # fmt: skip
    repository.checks.append(check)
    finish_check(world, repository, check, conclusion, **output)
    return check


def finish_check(world: World, repository: Repository, check: Json, conclusion: str | None, **output: str) -> None:
    """Set the state of a check run: `in_progress`, or how it ended."""
    if conclusion in ("queued", "in_progress"):
        check["status"] = conclusion
    elif conclusion is not None:
        check.update(status="completed", conclusion=conclusion, completed_at=stamp(world.now()))
    if "log" in output:
        repository.logs[check["id"]] = output.pop("log")
    check["output"] = {**check["output"], **output}


def add_status(world: World, repository: Repository, by: Account, commit: str, fields: dict[str, Any]) -> Json:
    """Add a commit status."""
    number = world.new_id()
    status: Json = {
        "id": number, "node_id": f"SC_{number}", "state": fields["state"],
        "context": fields.get("context") or "default",
        "description": fields.get("description"), "target_url": fields.get("target_url"), "sha": commit,
        "url": f"{world.base}/api/v3/repos/{repository.full_name}/statuses/{commit}", "avatar_url": None,
        "created_at": stamp(world.now()), "updated_at": stamp(world.now()), "creator": show_account(by),
    }  # fmt: skip
    repository.statuses.append(status)
    return status


def _checks(call: Call, commit: str) -> list[Json]:
    found = [each for each in reversed(call.repository.checks) if each["head_sha"] == commit]
    if call.query.get("filter", "latest") == "latest":
        names: dict[str, Json] = {}
        for each in found:
            names.setdefault(each["name"], each)
        found = list(names.values())
    wanted = {key: call.query[key] for key in ("status",) if key in call.query}
    if "check_name" in call.query:
        wanted["name"] = call.query["check_name"]
    return [each for each in found if wanted.items() <= each.items()]


def list_checks(call: Call) -> Answer:
    """List the newest check run of each name for a commit."""
    return paged(_checks(call, find_commit(call, call.params["ref"])), "check_runs")


def _find_check(call: Call, key: str = "check_run_id") -> Json:
    for each in call.repository.checks:
        if str(each["id"]) == call.params[key]:
            return each
    raise Refusal(404, "Not Found")


def create_check(call: Call) -> Answer:
    """Refuse: only apps may write checks, and no token of the double is one."""
    call.require("write")
    raise Refusal(403, "You must authenticate via a GitHub App.")


def _show_suite(call: Call, number: int, checks: list[Json]) -> Json:
    commit = checks[0]["head_sha"]
    return {
        "id": number, "node_id": f"CS_{number}", "head_sha": commit, "head_branch": _branch_of(call, commit),
        **_summarize(checks), "url": f"{call.api}/repos/{call.repository.full_name}/check-suites/{number}",
        "before": None,
        "after": commit, "pull_requests": [], "app": ACTIONS, "repository": show_repository(call, call.repository),
        "created_at": checks[0]["started_at"], "updated_at": checks[-1]["completed_at"] or checks[-1]["started_at"],
        "head_commit": _head_commit(call, commit), "latest_check_runs_count": len(checks),
        "check_runs_url": f"{call.api}/repos/{call.repository.full_name}/check-suites/{number}/check-runs",
    }  # fmt: skip


def _summarize(checks: list[Json]) -> Json:
    if any(each["status"] != "completed" for each in checks):
        return {"status": "in_progress", "conclusion": None}
    conclusions = {each["conclusion"] for each in checks}
    bad = [each for each in ("action_required", "failure", "timed_out", "cancelled") if each in conclusions]
    return {"status": "completed", "conclusion": bad[0] if bad else "success"}


def _branch_of(call: Call, commit: str) -> str | None:
    return next((name for name, sha in call.repository.git.branches.items() if sha == commit), None)


def _head_commit(call: Call, sha: str) -> Json:
    commit = show_commit(call, call.repository, sha)["commit"]
    people = {key: {"name": commit[key]["name"], "email": commit[key]["email"]} for key in ("author", "committer")}
    return {"id": sha, "tree_id": commit["tree"]["sha"], "message": commit["message"],
            "timestamp": commit["author"]["date"], **people}  # fmt: skip


def _suites(call: Call) -> dict[int, list[Json]]:
    suites: dict[int, list[Json]] = {}
    for each in call.repository.checks:
        suites.setdefault(each["check_suite"]["id"], []).append(each)
    return suites


def list_suites(call: Call) -> Answer:
    """List the check suites of a commit."""
    commit = find_commit(call, call.params["ref"])
    found = [
        _show_suite(call, number, checks) for number, checks in _suites(call).items() if checks[0]["head_sha"] == commit
    ]
    return paged(found, "check_suites")


def get_suite(call: Call) -> Answer:
    """Read a check suite."""
    return Answer(_show_suite(call, *_find_suite(call, "check_suite_id")))


def list_suite_checks(call: Call) -> Answer:
    """List the check runs of a suite."""
    return paged(_find_suite(call, "check_suite_id")[1], "check_runs")


def create_status(call: Call) -> Answer:
    """Report a commit status."""
    by = call.require("write")
    return Answer(add_status(call.world, call.repository, by, find_commit(call, call.params["sha"]), call.fields), 201)


def _statuses(call: Call) -> list[Json]:
    commit = find_commit(call, call.params["ref"])
    return [each for each in reversed(call.repository.statuses) if each["sha"] == commit]


def list_statuses(call: Call) -> Answer:
    """List all statuses of a commit, the newest first."""
    return paged([_without_sha(each) for each in _statuses(call)])


def _without_sha(status: Json) -> Json:
    return {key: value for key, value in status.items() if key != "sha"}


def combine_statuses(call: Call) -> Answer:
    """Say what the newest statuses of a commit add up to; without any it is pending."""
    newest: dict[str, Json] = {}
    for each in _statuses(call):
        newest.setdefault(
            each["context"], {key: value for key, value in _without_sha(each).items() if key != "creator"}
        )
    states = {each["state"] for each in newest.values()}
    state = "failure" if states & {"failure", "error"} else "success" if states == {"success"} else "pending"
    commit = find_commit(call, call.params["ref"])
    return Answer({"state": state, "statuses": list(newest.values()), "sha": commit, "total_count": len(newest),
                   "repository": show_repository(call, call.repository)})  # fmt: skip


def _show_run(call: Call, number: int, checks: list[Json]) -> Json:
    commit, place = checks[0]["head_sha"], f"{call.world.base}/{call.repository.full_name}/actions/runs/{number}"
    return {
        "id": number, "name": "CI", "node_id": f"WFR_{number}", "head_branch": _branch_of(call, commit),
        "head_sha": commit,
        "path": ".github/workflows/ci.yml", "display_title": "CI", "run_number": 1,
        "event": "push", **_summarize(checks),
        "workflow_id": 1, "html_url": place, "url": place, "pull_requests": [], "created_at": checks[0]["started_at"],
        "updated_at": checks[0]["started_at"],
        "jobs_url": f"{call.api}/repos/{call.repository.full_name}/actions/runs/{number}/jobs",
        "head_commit": _head_commit(call, commit), "repository": show_repository(call, call.repository),
        "head_repository": show_repository(call, call.repository),
    }  # fmt: skip


def list_runs(call: Call) -> Answer:
    """List the workflow runs."""
    shown = [_show_run(call, number, checks) for number, checks in reversed(_suites(call).items())]
    keys = {"head_sha": "head_sha", "branch": "head_branch", "event": "event", "status": "status"}
    wanted = {name: call.query[key] for key, name in keys.items() if key in call.query}
    return paged([each for each in shown if wanted.items() <= each.items()], "workflow_runs")


def get_run(call: Call) -> Answer:
    """Read one."""
    number, checks = _find_suite(call, "run_id")
    return Answer(_show_run(call, number, checks))


def _find_suite(call: Call, key: str) -> tuple[int, list[Json]]:
    number = int(call.params[key])
    if number not in _suites(call):
        raise Refusal(404, "Not Found")
    return number, _suites(call)[number]


def _show_job(call: Call, check: Json) -> Json:
    keys = ("id", "node_id", "name", "head_sha", "status", "conclusion", "started_at", "completed_at", "html_url")
    url = f"{call.api}/repos/{call.repository.full_name}"
    return {
        **{key: check[key] for key in keys}, "run_id": check["check_suite"]["id"], "created_at": check["started_at"],
        "run_url": f"{url}/actions/runs/{check['check_suite']['id']}", "url": f"{url}/actions/jobs/{check['id']}",
        "check_run_url": f"{url}/check-runs/{check['id']}", "workflow_name": "CI", "steps": [],
        "head_branch": _branch_of(call, check["head_sha"]),
    }  # fmt: skip


def list_jobs(call: Call) -> Answer:
    """List the jobs of a run."""
    return paged([_show_job(call, each) for each in _find_suite(call, "run_id")[1]], "jobs")


def get_log(call: Call) -> Answer:
    """Point to the log of a job, which lies on another host and wants no token."""
    call.require("read")
    check = _find_check(call, "job_id")
    if check["id"] not in call.repository.logs:
        raise Refusal(404, "Not Found")
    place = f"{call.world.base}/job-logs/{call.repository.full_name}/{check['id']}"
    return Answer(status=302, headers={"Location": place})


ROUTES: Routes = {
    f"GET {REPOSITORY}/commits/{{ref}}/check-runs": list_checks,
    f"GET {REPOSITORY}/commits/{{ref}}/check-suites": list_suites,
    f"GET {REPOSITORY}/commits/{{ref}}/status": combine_statuses,
    f"GET {REPOSITORY}/commits/{{ref}}/statuses": list_statuses,
    f"POST {REPOSITORY}/statuses/{{sha}}": create_status,
    f"GET {REPOSITORY}/check-runs/{{check_run_id}}": lambda call: Answer(_find_check(call)),
    f"POST {REPOSITORY}/check-runs": create_check,
    f"GET {REPOSITORY}/check-runs/{{check_run_id}}/annotations": lambda _: paged([]),
    f"GET {REPOSITORY}/check-suites/{{check_suite_id}}": get_suite,
    f"GET {REPOSITORY}/check-suites/{{check_suite_id}}/check-runs": list_suite_checks,
    f"GET {REPOSITORY}/actions/runs": list_runs,
    f"GET {REPOSITORY}/actions/runs/{{run_id}}": get_run,
    f"GET {REPOSITORY}/actions/runs/{{run_id}}/jobs": list_jobs,
    f"GET {REPOSITORY}/actions/jobs/{{job_id}}": lambda call: Answer(_show_job(call, _find_check(call, "job_id"))),
    f"GET {REPOSITORY}/actions/jobs/{{job_id}}/logs": get_log,
}
