"""What an error of a model's service means: by the HTTP status, or by its text where there is none."""

import re

from handrail.ports.agents import OutcomeStatus

_NUMBERS: dict[int, OutcomeStatus] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "network",
    413: "limit",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}
_QUOTA = re.compile(r"quota|usage limit|out of credits|insufficient.{0,20}(?:balance|credit|funds)", re.IGNORECASE)
_WORDS: tuple[tuple[str, OutcomeStatus], ...] = (
    (r"context (?:window|length)|too many tokens|prompt is too long", "limit"),
    (r"overloaded|high demand|at capacity", "overloaded"),
    (r"rate limit|too many requests", "rate_limited"),
    (r"api key|not logged in|unauthorized|unauthenticated|credential|access token|environment variable", "auth"),
    (r"stream (?:ended|closed|disconnected)|connect|network|socket|fetch failed|timed? ?out|dns|econn", "network"),
)


def status_of(number: int | None, message: str) -> OutcomeStatus:
    """Determine the kind of an error; an unknown one counts as an error of the service."""
    if number is not None:
        kind = _NUMBERS.get(number, "api_error")
        return "quota" if kind == "rate_limited" and _QUOTA.search(message) else kind
    if _QUOTA.search(message):
        return "quota"
    for pattern, kind in _WORDS:
        if re.search(pattern, message, re.IGNORECASE):
            return kind
    return "api_error"
