"""Requests reviews from people and teams; one that cannot be asked does not keep the others from being asked."""

from handrail.trackers.github.answers import read_login
from handrail.trackers.github.api.client import GitHubClient, Json
from handrail.trackers.github.api.refusals import Refused
from handrail.trackers.github.api.repetition import write_again


async def request_reviews(client: GitHubClient, path: str, answer: Json, wanted: tuple[str, ...]) -> list[str]:
    """Ask for the reviews that are not asked for or given yet, and return a sentence for each that cannot be."""
    missing = await _list_missing(client, path, answer, wanted) if wanted else []
    if not missing:
        return []
    try:
        await _request(client, path, missing)
    except Refused as error:
        if error.status == 401:
            raise
        # GitHub refuses all of them because of one, and does not say which.
        return [sentence for each in missing if (sentence := await _try_one(client, path, each))]
    return []


async def _list_missing(client: GitHubClient, path: str, answer: Json, wanted: tuple[str, ...]) -> list[str]:
    asked = {read_login({"user": each}).lower() for each in answer.get("requested_reviewers") or ()}
    teams = {str(each.get("slug")).lower() for each in answer.get("requested_teams") or ()}
    given = {read_login(each).lower() for each in await client.list(f"{path}/reviews")}
    known = asked | given | {read_login(answer).lower()}
    named = (each.removeprefix("@") for each in wanted)
    return [each for each in dict.fromkeys(named) if each and not _is_known(each.lower(), known, teams)]


def _is_known(name: str, people: set[str], teams: set[str]) -> bool:
    return name.partition("/")[2] in teams if "/" in name else name in people


async def _request(client: GitHubClient, path: str, names: list[str]) -> None:
    people = [each for each in names if "/" not in each]
    teams = [each.partition("/")[2] for each in names if "/" in each]
    data: Json = {**({"reviewers": people} if people else {}), **({"team_reviewers": teams} if teams else {})}
    await write_again(client, "POST", f"{path}/requested_reviewers", data)


async def _try_one(client: GitHubClient, path: str, name: str) -> str:
    try:
        await _request(client, path, [name])
    except Refused as error:
        if error.status == 401:
            raise
        return f"no review could be requested from {name}: {error.message}"
    return ""
