"""What GitHub refuses, as errors that a person can act on."""

from collections.abc import Mapping
from typing import Any

from handrail.errors import TrackerFault
from handrail.frozen import frozen


class Unanswered(TrackerFault):
    """GitHub did not answer, or not properly: whether a write took effect is not known."""

    code = "tracker-unanswered"


class Refused(TrackerFault):
    """GitHub refused a call; trying again does not help."""

    code = "tracker-refused"
    retryable = False

    def __init__(self, message: str, *, status: int, next_step: str | None = None) -> None:
        super().__init__(message, next_step=next_step)
        self.status = status

    @property
    def is_missing(self) -> bool:
        """Whether there is no such thing, or the host does not have this part of the API."""
        return self.status in (404, 410)


@frozen
class RefusedCall:
    """A call, and who made it."""

    call: str
    host: str
    source: str
    """Where the token comes from."""


def explain_refusal(status: int, message: str, headers: Mapping[str, str], call: RefusedCall) -> Refused:
    """Build the error for a refused call, with the permission that is missing as far as GitHub says."""
    host, source = call.host, call.source
    if status == 401:
        text = f"{host} does not accept the token from {source}: {message}"
        return Refused(text, status=status, next_step=f"log in again: gh auth login --hostname {host}")
    if 300 <= status < 400:
        text = f"{host} says that the repository has moved: {call.call} was not repeated at its new address"
        return Refused(
            text, status=status, next_step="point the remote to the new address: git remote set-url origin URL"
        )
    needed = _missing_permission(headers) if status in (403, 404) else ""
    # GraphQL says 200 for what it refuses, too.
    text = f"{host} refuses {call.call}{f' ({status})' if status >= 400 else ''}: {message}"
    next_step = f"{needed}; the token comes from {source}" if needed else None
    return Refused(text, status=status, next_step=next_step)


def _missing_permission(headers: Mapping[str, str]) -> str:
    """Describe what a token lacks, by the headers in which GitHub says so."""
    sso = headers.get("x-github-sso", "")
    if "url=" in sso:
        return f"authorize the token for the organization: {sso.partition('url=')[2]}"
    fine = headers.get("x-accepted-github-permissions", "")
    if fine:
        return f"the token needs the permission {' or '.join(fine.split(';'))}"
    wanted = _words(headers.get("x-accepted-oauth-scopes", ""))
    has = _words(headers.get("x-oauth-scopes", ""))
    if wanted and not set(wanted) & set(has):
        return f"the token needs the scope {' or '.join(wanted)}; it has {', '.join(has) or 'none'}"
    return ""


def _words(text: str) -> list[str]:
    return [word for word in (each.strip() for each in text.split(",")) if word]


def describe_errors(data: object, fallback: str) -> str:
    """Return what the answer to a refused call says, in one line."""
    if not isinstance(data, dict):
        return fallback
    answer: dict[str, Any] = data  # pyright: ignore[reportUnknownVariableType]
    listed = answer.get("errors")
    details = [_detail(each) for each in listed] if isinstance(listed, list) else [str(listed or "")]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return "; ".join(each for each in (str(answer.get("message") or fallback), *details) if each)


def _detail(each: object) -> str:
    if not isinstance(each, dict):
        return str(each)
    error: dict[str, Any] = each  # pyright: ignore[reportUnknownVariableType]
    return str(error.get("message") or " ".join(str(error[key]) for key in ("field", "code") if error.get(key)))
