"""Cuts lists into pages and says where the others are."""

from urllib.parse import urlencode

from support.github.calls import Answer, Call

LARGEST = 100
USUAL = 30


def cut_page(answer: Answer, call: Call, path: str) -> None:
    """Keep the page that the call asks for, and add the `Link` header."""
    size = max(1, min(LARGEST, _number(call.query.get("per_page"), USUAL)))
    page = max(1, _number(call.query.get("page"), 1))
    items = answer.body
    last = max(1, -(-len(items) // size))
    answer.body = items[(page - 1) * size : page * size]
    if answer.list_key:
        answer.body = {"total_count": len(items), answer.list_key: answer.body}
        if answer.list_key == "items":
            answer.body["incomplete_results"] = False
    wanted = {"prev": page - 1, "next": page + 1, "last": last, "first": 1}
    if page >= last:
        del wanted["next"], wanted["last"]
    if page <= 1:
        del wanted["prev"], wanted["first"]
    links = [
        f'<{call.api}{path}?{urlencode({**call.query, "page": number})}>; rel="{rel}"' for rel, number in wanted.items()
    ]
    if links:
        answer.headers["Link"] = ", ".join(links)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() else otherwise
